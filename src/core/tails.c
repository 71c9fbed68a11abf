/*-------------------------------------------------------------------------
 *
 * tails.c
 *	  Kernels that rule out positions by the last bytes; see tails.h.
 *
 * A kernel reads whole vectors where all the bytes are in the text; for the
 * chunks at both ends they are copied between zeroes first, or masked.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/tails.h"

#include <string.h>

/* Bits of the positions of a chunk that are not beyond the end. */
static inline uint64_t
bits_to(size_t len, size_t base)
{
	size_t		n = len + 1 - base;

	return n < ACDAT_TAILS_CHUNK ? ((uint64_t) 1 << n) - 1 : UINT64_MAX;
}

uint64_t
acdat_tails_portable(const acdat_tail *tails, unsigned count,
					 const unsigned char *text, size_t len, size_t *base,
					 size_t low)
{
	size_t		end = len - *base < ACDAT_TAILS_CHUNK ? len : *base + ACDAT_TAILS_CHUNK - 1;
	uint64_t	result = 0;

	for (;;)
	{
		size_t		pos;

		for (pos = end; pos >= *base && pos >= count; pos--)
		{
			const unsigned char *last = text + pos - 1;
			unsigned	buckets = tails[0].low[*last & 15] & tails[0].high[*last >> 4];
			unsigned	k;

			for (k = 1; k < count && buckets != 0; k++)
			{
				last--;
				buckets &= tails[k].low[*last & 15] & tails[k].high[*last >> 4];
			}
			result |= (uint64_t) (buckets != 0) << (pos - *base);
		}
		if (result != 0 || *base <= low)
			return result;
		end = *base - 1;
		*base -= ACDAT_TAILS_CHUNK;
	}
}

#if defined(ACDAT_TAILS_X86) || defined(ACDAT_TAILS_NEON)

/* Room for a chunk and the bytes before it. */
typedef struct edge
{
	unsigned char bytes[ACDAT_TAILS_MAX_BYTES + ACDAT_TAILS_CHUNK];
} edge;

/*
 * Where the bytes before the positions of a chunk are, so that they can be
 * read whole: in the text, or else copied.
 */
static inline const unsigned char *
chunk_bytes(const unsigned char *text, size_t len, size_t base, edge *copy)
{
	size_t		before = base < ACDAT_TAILS_MAX_BYTES ? base : ACDAT_TAILS_MAX_BYTES;
	size_t		n = len - base < ACDAT_TAILS_CHUNK - 1 ? len - base : ACDAT_TAILS_CHUNK - 1;

	if (before == ACDAT_TAILS_MAX_BYTES && n == ACDAT_TAILS_CHUNK - 1)
		return text + base;
	memset(copy->bytes, 0, sizeof(copy->bytes));
	memcpy(copy->bytes + ACDAT_TAILS_MAX_BYTES - before, text + base - before,
		   before + n);
	return copy->bytes + ACDAT_TAILS_MAX_BYTES;
}

#endif

#ifdef ACDAT_TAILS_X86

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")))
#define AVX2 __attribute__((target("avx2,bmi,bmi2")))
#define AVX512_INLINE static inline __attribute__((always_inline)) AVX512
#define AVX2_INLINE static inline __attribute__((always_inline)) AVX2

/* The buckets that admit each of 64 bytes. */
AVX512_INLINE __m512i
admitted512(const acdat_tail *tail, __m512i bytes)
{
	const __m512i halves = _mm512_set1_epi8(15);
	__m512i		low = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) (const void *) tail->low));
	__m512i		high = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) (const void *) tail->high));

	low = _mm512_shuffle_epi8(low, _mm512_and_si512(bytes, halves));
	high = _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), halves));
	return _mm512_and_si512(low, high);
}

/* The 64 bytes back bytes before those from text[base] on, as far as any. */
AVX512_INLINE __m512i
masked512(const unsigned char *text, size_t len, size_t base, unsigned back)
{
	uint64_t	there = bits_to(len, base);

	if (base < back)
		there = there >> (back - base) << (back - base);
	return _mm512_maskz_loadu_epi8((__mmask64) there, (const void *)
								   ((uintptr_t) text + base - back));
}

/* The chunks at both ends of the text. */
AVX512_INLINE uint64_t
edge512(const acdat_tail *tails, unsigned count, const unsigned char *text,
		size_t len, size_t base)
{
	__m512i		buckets = admitted512(&tails[0], masked512(text, len, base, 1));
	unsigned	k;

	if (_mm512_test_epi8_mask(buckets, buckets) == 0)
		return 0;
	for (k = 1; k < count; k++)
		buckets = _mm512_and_si512(buckets, admitted512(&tails[k], masked512(text, len, base, k + 1)));
	return _mm512_test_epi8_mask(buckets, buckets) & bits_to(len, base);
}

/* Go down by four chunks while the last byte rules out all of them. */
AVX512_INLINE size_t
skip512(const acdat_tail *tails, const unsigned char *text, size_t len,
		size_t at, size_t low)
{
	while (at >= low + 4 * ACDAT_TAILS_CHUNK && len - at >= ACDAT_TAILS_CHUNK - 1)
	{
		const unsigned char *bytes = text + at - 1;
		__m512i		a = admitted512(&tails[0], _mm512_loadu_si512(bytes));
		__m512i		b = admitted512(&tails[0], _mm512_loadu_si512(bytes - 64));
		__m512i		c = admitted512(&tails[0], _mm512_loadu_si512(bytes - 128));
		__m512i		d = admitted512(&tails[0], _mm512_loadu_si512(bytes - 192));
		__m512i		any = _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d));

		if (_mm512_test_epi8_mask(any, any) != 0)
			break;
		at -= 4 * ACDAT_TAILS_CHUNK;
	}
	return at;
}

AVX512 uint64_t
acdat_tails_avx512(const acdat_tail *tails, unsigned count,
				   const unsigned char *text, size_t len, size_t *base,
				   size_t low)
{
	size_t		at = *base;
	bool		quiet = true;
	uint64_t	result = 0;

	for (;;)
	{
		if (quiet)
			at = skip512(tails, text, len, at, low);
		if (at == 0 || len - at < ACDAT_TAILS_CHUNK - 1)
			result = edge512(tails, count, text, len, at);
		else
		{
			const unsigned char *bytes = text + at;
			__m512i		buckets = admitted512(&tails[0], _mm512_loadu_si512(bytes - 1));

			result = _mm512_test_epi8_mask(buckets, buckets);
			quiet = (result == 0);
			if (!quiet && count > 1)
			{
				unsigned	k;

				for (k = 1; k < count; k++)
					buckets = _mm512_and_si512(buckets, admitted512(&tails[k], _mm512_loadu_si512(bytes - k - 1)));
				result = _mm512_test_epi8_mask(buckets, buckets);
			}
		}
		if (result != 0 || at <= low)
			break;
		at -= ACDAT_TAILS_CHUNK;
	}
	*base = at;
	return result;
}

AVX2_INLINE __m256i
admitted256(const acdat_tail *tail, __m256i bytes)
{
	const __m256i halves = _mm256_set1_epi8(15);
	__m256i		low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (const void *) tail->low));
	__m256i		high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (const void *) tail->high));

	low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, halves));
	high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), halves));
	return _mm256_and_si256(low, high);
}

AVX2_INLINE __m256i
load256(const unsigned char *bytes)
{
	return _mm256_loadu_si256((const __m256i *) (const void *) bytes);
}

/* A bit for every byte that is not zero. */
AVX2_INLINE uint64_t
bits256(__m256i first, __m256i second)
{
	const __m256i zero = _mm256_setzero_si256();
	uint32_t	low = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(first, zero));
	uint32_t	high = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(second, zero));

	return ~((uint64_t) high << 32 | low);
}

AVX2 uint64_t
acdat_tails_avx2(const acdat_tail *tails, unsigned count,
				 const unsigned char *text, size_t len, size_t *base,
				 size_t low)
{
	size_t		at = *base;
	uint64_t	result;
	edge		copy;

	for (;;)
	{
		const unsigned char *bytes = chunk_bytes(text, len, at, &copy);
		__m256i		first = admitted256(&tails[0], load256(bytes - 1));
		__m256i		second = admitted256(&tails[0], load256(bytes + 31));
		unsigned	k;

		result = bits256(first, second);
		for (k = 1; k < count && result != 0; k++)
		{
			first = _mm256_and_si256(first, admitted256(&tails[k], load256(bytes - k - 1)));
			second = _mm256_and_si256(second, admitted256(&tails[k], load256(bytes + 31 - k)));
			result = bits256(first, second);
		}
		result &= bits_to(len, at);
		if (result != 0 || at <= low)
			break;
		at -= ACDAT_TAILS_CHUNK;
	}
	*base = at;
	return result;
}

#endif							/* ACDAT_TAILS_X86 */

#ifdef ACDAT_TAILS_NEON

#include <arm_neon.h>

static inline uint8x16_t
admitted_neon(const acdat_tail *tail, uint8x16_t bytes)
{
	uint8x16_t	low = vqtbl1q_u8(vld1q_u8(tail->low), vandq_u8(bytes, vdupq_n_u8(15)));
	uint8x16_t	high = vqtbl1q_u8(vld1q_u8(tail->high), vshrq_n_u8(bytes, 4));

	return vandq_u8(low, high);
}

/* A bit for every byte that is not zero. */
static inline uint64_t
bits_neon(const uint8x16_t v[4])
{
	static const unsigned char weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t	weight = vld1q_u8(weights);
	uint8x16_t	ab = vpaddq_u8(vandq_u8(vtstq_u8(v[0], v[0]), weight), vandq_u8(vtstq_u8(v[1], v[1]), weight));
	uint8x16_t	cd = vpaddq_u8(vandq_u8(vtstq_u8(v[2], v[2]), weight), vandq_u8(vtstq_u8(v[3], v[3]), weight));
	uint8x16_t	all = vpaddq_u8(ab, cd);

	all = vpaddq_u8(all, all);
	return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}

uint64_t
acdat_tails_neon(const acdat_tail *tails, unsigned count,
				 const unsigned char *text, size_t len, size_t *base,
				 size_t low)
{
	size_t		at = *base;
	uint64_t	result;
	edge		copy;

	for (;;)
	{
		const unsigned char *bytes = chunk_bytes(text, len, at, &copy);
		uint8x16_t	v[4];
		unsigned	k;
		int			i;

		for (i = 0; i < 4; i++)
			v[i] = admitted_neon(&tails[0], vld1q_u8(bytes - 1 + 16 * i));
		result = bits_neon(v);
		for (k = 1; k < count && result != 0; k++)
		{
			for (i = 0; i < 4; i++)
				v[i] = vandq_u8(v[i], admitted_neon(&tails[k], vld1q_u8(bytes - k - 1 + 16 * i)));
			result = bits_neon(v);
		}
		result &= bits_to(len, at);
		if (result != 0 || at <= low)
			break;
		at -= ACDAT_TAILS_CHUNK;
	}
	*base = at;
	return result;
}

#endif							/* ACDAT_TAILS_NEON */
