/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  The portable kernel, and the choice of a kernel.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/probe_one.h"

static uint64_t
full_chunk(const acdat_probe *p, const unsigned char *text, size_t len,
		   size_t base)
{
	return acdat_probe_one_by_one(p, ACDAT_FILTER_FULL, text, len, base);
}

static uint64_t
split_chunk(const acdat_probe *p, const unsigned char *text, size_t len,
			size_t base)
{
	return acdat_probe_one_by_one(p, ACDAT_FILTER_SPLIT, text, len, base);
}

static uint64_t
full_strided(const acdat_probe *p, const unsigned char *text, size_t pos,
			 unsigned n)
{
	const unsigned char *last8 = text + pos - 8 - (size_t) n * p->stride;
	size_t		stride = p->stride;
	uint64_t	result = 0;
	unsigned	k;

	for (k = n; k > 0; k--)
	{
		last8 += stride;
		result = result << 1 | acdat_probe_maybe(p, ACDAT_FILTER_FULL, acdat_load8(last8));
	}
	return result;
}

static const acdat_probe_kernel portable = {
	"portable", full_chunk, split_chunk, full_strided, acdat_tails_portable
};

#ifdef ACDAT_TAILS_NEON
/* Probes gain nothing without gathering loads. */
static const acdat_probe_kernel neon = {
	"NEON", full_chunk, split_chunk, full_strided, acdat_tails_neon
};
#endif

const acdat_probe_kernel *
acdat_probe_kernel_number(unsigned number)
{
	unsigned	own = 0;

	while (acdat_probe_x86_kernel(own) != NULL)
	{
		if (own == number)
			return acdat_probe_x86_kernel(own);
		own++;
	}
#ifdef ACDAT_TAILS_NEON
	if (number == own++)
		return &neon;
#endif
	return number == own ? &portable : NULL;
}
