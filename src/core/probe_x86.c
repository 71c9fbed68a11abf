/*-------------------------------------------------------------------------
 *
 * probe_x86.c
 *	  Kernels for x86-64: AVX-512 (eight positions at a time) and AVX2 (four).
 *
 * Compiled with attributes of their own, so that the rest runs anywhere.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/probe_one.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")))
#define AVX2 __attribute__((target("avx2,bmi,bmi2")))
#define AVX512_INLINE static inline __attribute__((always_inline)) AVX512
#define AVX2_INLINE static inline __attribute__((always_inline)) AVX2

/* The bytes from eight before text[pos] to seven behind it, as far as any. */
static inline __attribute__((always_inline)) __m128i
around(const unsigned char *text, size_t len, size_t pos)
{
	uint64_t	before;
	uint64_t	behind = 0;
	size_t		rest = len - pos;

	if (pos == 0)
		return _mm_slli_si128(_mm_loadl_epi64((const __m128i *) (const void *) text), 8);
	if (rest >= 8)
		return _mm_loadu_si128((const __m128i *) (const void *) (text + pos - 8));
	before = acdat_load8(text + pos - 8);
	if (rest > 0)
		behind = acdat_load8(text + len - 8) >> (64 - 8 * rest);
	return _mm_set_epi64x((long long) behind, (long long) before);
}

/* ------------------------------------------------------------- AVX-512 */

/* What a vector of last8 has for an answer: a bit each, 0 if not wanted. */
AVX512_INLINE __mmask8
ask8(const acdat_probe *p, acdat_filter_kind kind, __m512i last8,
	 __mmask8 wanted)
{
	const __m512i multiplier = _mm512_set1_epi64((long long) ACDAT_FILTER_MULTIPLIER);
	const __m512i words = _mm512_set1_epi64((1LL << p->log2_words) - 1);
	__m512i		key;
	__m512i		hash;
	__m512i		index;
	__m512i		word;

	last8 = _mm512_or_si512(last8, _mm512_set1_epi64((long long) p->fold));
	key = _mm512_srl_epi64(last8, _mm_cvtsi32_si128((int) p->gram_shift));
	hash = _mm512_mullo_epi64(key, multiplier);
	index = hash;
	if (kind == ACDAT_FILTER_SPLIT)
		index = _mm512_mullo_epi64(_mm512_srl_epi64(last8, _mm_cvtsi32_si128((int) p->word_shift)),
								   multiplier);
	index = _mm512_and_si512(_mm512_srli_epi64(index, 64 - ACDAT_FILTER_MAX_LOG2_WORDS), words);
	word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), wanted, index,
										(const void *) p->table, 8);

	/* rotation takes the count modulo 64 */
	if (kind == ACDAT_FILTER_SPLIT)
		word = _mm512_and_si512(_mm512_rorv_epi64(word, _mm512_srli_epi64(hash, 58)),
								_mm512_rorv_epi64(word, _mm512_srli_epi64(hash, 52)));
	else
		word = _mm512_and_si512(_mm512_rorv_epi64(word, _mm512_srli_epi64(hash, 43)),
								_mm512_and_si512(_mm512_rorv_epi64(word, _mm512_srli_epi64(hash, 31)),
												 _mm512_rorv_epi64(word, _mm512_srli_epi64(hash, 37))));
	return _mm512_test_epi64_mask(word, _mm512_set1_epi64(1));
}

/* The eight last8 of positions that follow one another. */
AVX512_INLINE __m512i
spread8(__m128i bytes)
{
	const __m512i pick = _mm512_set_epi64(
		0x0e0d0c0b0a090807, 0x0d0c0b0a09080706, 0x0c0b0a0908070605, 0x0b0a090807060504,
		0x0a09080706050403, 0x0908070605040302, 0x0807060504030201, 0x0706050403020100);

	return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytes), pick);
}

AVX512_INLINE uint64_t
characters512(const unsigned char *text, size_t len, size_t base)
{
	size_t		n = len - base;
	__mmask64	there = n < ACDAT_PROBE_CHUNK ? ((uint64_t) 1 << n) - 1 : UINT64_MAX;
	__mmask64	end = n < ACDAT_PROBE_CHUNK ? (uint64_t) 1 << n : 0;
	__m512i		bytes = _mm512_maskz_loadu_epi8(there, text + base);

	/* continuation bytes are the smallest signed ones */
	return _mm512_mask_cmpgt_epi8_mask(there, bytes, _mm512_set1_epi8(-65)) | end;
}

AVX512_INLINE uint64_t
chunk512(const acdat_probe *p, acdat_filter_kind kind,
		 const unsigned char *text, size_t len, size_t base)
{
	uint64_t	wanted = p->characters ? characters512(text, len, base) :
		acdat_probe_all_bits(len, base);
	uint64_t	result = 0;
	unsigned	i;

	for (i = 0; i < ACDAT_PROBE_CHUNK && base + i <= len; i += 8)
		result |= (uint64_t) ask8(p, kind, spread8(around(text, len, base + i)),
								  (__mmask8) (wanted >> i)) << i;
	return result;
}

AVX512 static uint64_t
full_chunk512(const acdat_probe *p, const unsigned char *text, size_t len,
			  size_t base)
{
	return chunk512(p, ACDAT_FILTER_FULL, text, len, base);
}

AVX512 static uint64_t
split_chunk512(const acdat_probe *p, const unsigned char *text, size_t len,
			   size_t base)
{
	return chunk512(p, ACDAT_FILTER_SPLIT, text, len, base);
}

AVX512 static uint64_t
full_strided512(const acdat_probe *p, const unsigned char *text, size_t pos,
				unsigned n)
{
	const long long stride = p->stride;
	const __m512i offsets = _mm512_set_epi64(-7 * stride, -6 * stride, -5 * stride, -4 * stride,
											 -3 * stride, -2 * stride, -stride, 0);
	uint64_t	result = 0;
	unsigned	k;

	for (k = 0; k < n; k += 8)
	{
		const unsigned char *from = text + pos - 8 - (size_t) k * p->stride;
		__mmask8	there = (__mmask8) (n - k < 8 ? (1u << (n - k)) - 1 : 0xff);
		__m512i		last8 = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), there, offsets,
														(const void *) from, 1);

		result |= (uint64_t) ask8(p, ACDAT_FILTER_FULL, last8, there) << k;
	}
	return result;
}

/* ---------------------------------------------------------------- AVX2 */

/* The low halves of products of 64 bits. */
AVX2_INLINE __m256i
multiply4(__m256i a)
{
	const __m256i low = _mm256_set1_epi64x((long long) (ACDAT_FILTER_MULTIPLIER & 0xffffffff));
	const __m256i high = _mm256_set1_epi64x((long long) (ACDAT_FILTER_MULTIPLIER >> 32));
	__m256i		cross = _mm256_add_epi64(_mm256_mul_epu32(a, high),
										 _mm256_mul_epu32(_mm256_srli_epi64(a, 32), low));

	return _mm256_add_epi64(_mm256_mul_epu32(a, low), _mm256_slli_epi64(cross, 32));
}

AVX2_INLINE unsigned
ask4(const acdat_probe *p, acdat_filter_kind kind, __m256i last8)
{
	const __m256i words = _mm256_set1_epi64x((1LL << p->log2_words) - 1);
	const __m256i six_bits = _mm256_set1_epi64x(63);
	__m256i		hash;
	__m256i		index;
	__m256i		word;

	last8 = _mm256_or_si256(last8, _mm256_set1_epi64x((long long) p->fold));
	hash = multiply4(_mm256_srl_epi64(last8, _mm_cvtsi32_si128((int) p->gram_shift)));
	index = hash;
	if (kind == ACDAT_FILTER_SPLIT)
		index = multiply4(_mm256_srl_epi64(last8, _mm_cvtsi32_si128((int) p->word_shift)));
	index = _mm256_and_si256(_mm256_srli_epi64(index, 64 - ACDAT_FILTER_MAX_LOG2_WORDS), words);
	word = _mm256_i64gather_epi64((const long long *) (const void *) p->table, index, 8);
	if (kind == ACDAT_FILTER_SPLIT)
		word = _mm256_and_si256(
			_mm256_srlv_epi64(word, _mm256_srli_epi64(hash, 58)),
			_mm256_srlv_epi64(word, _mm256_and_si256(_mm256_srli_epi64(hash, 52), six_bits)));
	else
		word = _mm256_and_si256(
			_mm256_srlv_epi64(word, _mm256_and_si256(_mm256_srli_epi64(hash, 43), six_bits)),
			_mm256_and_si256(
				_mm256_srlv_epi64(word, _mm256_and_si256(_mm256_srli_epi64(hash, 31), six_bits)),
				_mm256_srlv_epi64(word, _mm256_and_si256(_mm256_srli_epi64(hash, 37), six_bits))));
	return (unsigned) _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(word, 63)));
}

AVX2_INLINE uint64_t
chunk256(const acdat_probe *p, acdat_filter_kind kind,
		 const unsigned char *text, size_t len, size_t base)
{
	const __m256i low = _mm256_set_epi64x(0x0a09080706050403, 0x0908070605040302,
										  0x0807060504030201, 0x0706050403020100);
	const __m256i high = _mm256_set_epi64x(0x0e0d0c0b0a090807, 0x0d0c0b0a09080706,
										   0x0c0b0a0908070605, 0x0b0a090807060504);
	uint64_t	result = 0;
	unsigned	i;

	/* of three positions two would be asked about for nothing */
	if (p->characters && text[base < len ? base : len - 1] >= 0x80)
		return acdat_probe_one_by_one(p, kind, text, len, base);
	for (i = 0; i < ACDAT_PROBE_CHUNK && base + i <= len; i += 8)
	{
		__m256i		bytes = _mm256_broadcastsi128_si256(around(text, len, base + i));

		result |= (uint64_t) (ask4(p, kind, _mm256_shuffle_epi8(bytes, low)) |
							  ask4(p, kind, _mm256_shuffle_epi8(bytes, high)) << 4) << i;
	}
	return result & (p->characters ? acdat_character_mask(text, len, base) :
					 acdat_probe_all_bits(len, base));
}

AVX2 static uint64_t
full_chunk256(const acdat_probe *p, const unsigned char *text, size_t len,
			  size_t base)
{
	return chunk256(p, ACDAT_FILTER_FULL, text, len, base);
}

AVX2 static uint64_t
split_chunk256(const acdat_probe *p, const unsigned char *text, size_t len,
			   size_t base)
{
	return chunk256(p, ACDAT_FILTER_SPLIT, text, len, base);
}

AVX2 static uint64_t
full_strided256(const acdat_probe *p, const unsigned char *text, size_t pos,
				unsigned n)
{
	const long long stride = p->stride;
	const __m256i offsets = _mm256_set_epi64x(-3 * stride, -2 * stride, -stride, 0);
	uint64_t	result = 0;
	unsigned	k;

	for (k = 0; k < n; k += 4)
	{
		const unsigned char *from = text + pos - 8 - (size_t) k * p->stride;
		unsigned	there = n - k < 4 ? (1u << (n - k)) - 1 : 15;
		__m256i		mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long) (n - k)),
											  _mm256_set_epi64x(3, 2, 1, 0));
		__m256i		last8 = _mm256_mask_i64gather_epi64(_mm256_setzero_si256(),
														(const long long *) (const void *) from,
														offsets, mask, 1);

		result |= (uint64_t) (ask4(p, ACDAT_FILTER_FULL, last8) & there) << k;
	}
	return result;
}

/* ---------------------------------------------------------------- choice */

static const acdat_probe_kernel avx512 = {
	"AVX-512", full_chunk512, split_chunk512, full_strided512,
	acdat_tails_avx512
};

static const acdat_probe_kernel avx2 = {
	"AVX2", full_chunk256, split_chunk256, full_strided256, acdat_tails_avx2
};

const acdat_probe_kernel *
acdat_probe_x86_kernel(unsigned number)
{
	bool		has_avx512 = __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl");

	if (has_avx512 && number-- == 0)
		return &avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
		number == 0)
		return &avx2;
	return NULL;
}

#else

const acdat_probe_kernel *
acdat_probe_x86_kernel(unsigned number)
{
	(void) number;
	return NULL;
}

#endif							/* __x86_64__ */
