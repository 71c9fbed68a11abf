/*-------------------------------------------------------------------------
 *
 * run_x86.c
 *	  The automaton in many lanes at once, for processors with AVX-512.
 *
 * See scan_run.c for lanes.  Here a vector holds sixteen of them and two
 * vectors take turns, so that many waits for memory overlap and the
 * instructions of a step are shared.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/run.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi,bmi2")))
#define AVX512_INLINE static inline __attribute__((always_inline)) AVX512

#define VECTOR_LANES 16

/* A step reads four bytes that end where the lane is. */
#define FRONT 4

/* Sixteen lanes. */
typedef struct vector
{
	__m512i		state;
	__m512i		pos;			/* in the window; the byte before is next */
	__m512i		from;			/* the lane ends there */
	__m512i		record;			/* starts below are noted */
	scan_start *top[VECTOR_LANES];
} vector;

/* The labels of bytes, as four vectors of 64. */
typedef struct labels
{
	__m512i		part[4];
} labels;

AVX512_INLINE __m512i
label_of(const labels *l, __m512i bytes)
{
	__m512i		low = _mm512_permutex2var_epi8(l->part[0], bytes, l->part[1]);
	__m512i		high = _mm512_permutex2var_epi8(l->part[2], bytes, l->part[3]);
	__m512i		label = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);

	return _mm512_and_si512(label, _mm512_set1_epi32(0xff));
}

/* Note the starts that some lanes found. */
AVX512_INLINE void
note_starts(vector *v, __mmask16 found, __m512i out_label)
{
	uint32_t	pos[VECTOR_LANES];
	uint32_t	out[VECTOR_LANES];
	unsigned	mask = found;

	_mm512_storeu_si512(pos, v->pos);
	_mm512_storeu_si512(out, out_label);
	for (; mask != 0; mask &= mask - 1)
	{
		unsigned	k = (unsigned) __builtin_ctz(mask);

		v->top[k]->pos = pos[k];
		v->top[k]->node = (out[k] >> ACDAT_LABEL_BITS) - 1;
		v->top[k]++;
	}
}

/* One step of the lanes that are not at their ends; those, a bit each. */
AVX512_INLINE __mmask16
step(vector *v, const acdat_state *states, const labels *l,
	 const unsigned char *window)
{
	const void *first = states;
	const __m512i zero = _mm512_setzero_si512();
	__mmask16	active = _mm512_cmpgt_epu32_mask(v->pos, v->from);
	__m512i		bytes = _mm512_mask_i32gather_epi32(zero, active, v->pos, (const void *) (window - FRONT), 1);
	__m512i		label = label_of(l, _mm512_srli_epi32(bytes, 24));
	__m512i		at = _mm512_add_epi32(v->state, _mm512_add_epi32(v->state, v->state));
	__m512i		base = _mm512_mask_i32gather_epi32(zero, active, at, first, 4);
	__m512i		child = _mm512_xor_si512(base, label);
	__m512i		child_at = _mm512_add_epi32(child, _mm512_add_epi32(child, child));
	__m512i		out_label = _mm512_mask_i32gather_epi32(zero, active, child_at, (const void *) &states[0].out_label, 4);
	__mmask16	foreign = _mm512_mask_cmpeq_epi32_mask(active, label, zero);
	__mmask16	hit = _mm512_mask_cmpeq_epi32_mask(active & ~foreign, label,
												   _mm512_and_si512(out_label, _mm512_set1_epi32(ACDAT_LABEL_MASK)));
	__mmask16	root = _mm512_mask_cmpeq_epi32_mask(active, v->state, zero);
	__mmask16	follow = active & ~hit & ~foreign & ~root;
	__mmask16	found;

	v->state = _mm512_mask_i32gather_epi32(v->state, follow, at, (const void *) &states[0].fail, 4);
	v->state = _mm512_mask_mov_epi32(v->state, hit, child);
	v->state = _mm512_mask_mov_epi32(v->state, foreign, zero);
	v->pos = _mm512_mask_sub_epi32(v->pos, active & ~follow, v->pos, _mm512_set1_epi32(1));
	found = _mm512_mask_cmpgt_epu32_mask(hit, out_label, _mm512_set1_epi32(ACDAT_LABEL_MASK));
	found = _mm512_mask_cmplt_epu32_mask(found, v->pos, v->record);
	if (found != 0)
		note_starts(v, found, out_label);
	return active;
}

AVX512_INLINE void
load_vector(vector *v, const scan_lane *lanes)
{
	uint32_t	pos[VECTOR_LANES];
	uint32_t	from[VECTOR_LANES];
	uint32_t	end[VECTOR_LANES];
	int			k;

	for (k = 0; k < VECTOR_LANES; k++)
	{
		pos[k] = lanes[k].pos;
		from[k] = lanes[k].from < FRONT ? FRONT : lanes[k].from;
		end[k] = lanes[k].end;
		v->top[k] = lanes[k].top;
	}
	v->state = _mm512_setzero_si512();
	v->pos = _mm512_loadu_si512(pos);
	v->from = _mm512_loadu_si512(from);
	v->record = _mm512_loadu_si512(end);
}

AVX512_INLINE void
store_vector(const vector *v, scan_lane *lanes)
{
	uint32_t	pos[VECTOR_LANES];
	uint32_t	state[VECTOR_LANES];
	int			k;

	_mm512_storeu_si512(pos, v->pos);
	_mm512_storeu_si512(state, v->state);
	for (k = 0; k < VECTOR_LANES; k++)
	{
		lanes[k].pos = pos[k];
		lanes[k].state = state[k];
		lanes[k].top = v->top[k];
	}
}

/* Stops when a quarter of the lanes is left. */
AVX512 static void
run_lanes512(const acdat_scan *scan, scan_lane *lanes)
{
	const unsigned char *window = scan->window;
	const acdat_state *states = scan->states;
	labels		l;
	vector		a;
	vector		b;
	int			k;

	for (k = 0; k < 4; k++)
		l.part[k] = _mm512_loadu_si512(scan->label_bytes + 64 * k);
	load_vector(&a, lanes);
	load_vector(&b, lanes + VECTOR_LANES);
	for (;;)
	{
		unsigned	active = step(&a, states, &l, window);

		active |= (unsigned) step(&b, states, &l, window) << VECTOR_LANES;
		if (__builtin_popcount(active) <= SCAN_VECTOR_LANES / 4)
			break;
	}
	store_vector(&a, lanes);
	store_vector(&b, lanes + VECTOR_LANES);
}

scan_run_lanes
acdat_x86_run_lanes(void)
{
	bool		has_avx512 = __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx512vbmi");

	return has_avx512 ? run_lanes512 : NULL;
}

#else

scan_run_lanes
acdat_x86_run_lanes(void)
{
	return NULL;
}

#endif							/* __x86_64__ */
