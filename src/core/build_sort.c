/*-------------------------------------------------------------------------
 *
 * build_sort.c
 *	  Sorting patterns by their reversed bytes.
 *
 * Heap sort would touch memory at random and the C library's qsort() can
 * neither be cancelled nor told where to allocate, so this is a quicksort
 * with median of three, an explicit stack, and insertion sort for short
 * runs.  Comparisons look at an 8-byte key first, so that most need no
 * access to the strings.  A depth limit hands degenerate inputs to heap sort.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"

#include <string.h>

#define SHORT_RUN 12

/* Each level at least halves the smaller side, which is done first. */
#define STACK_SIZE 64

typedef struct run
{
	size_t		low;
	size_t		high;			/* one past the last */
	unsigned	depth;			/* levels left before heap sort */
} run;

static int
compare_tails(const acdat_builder *builder, const build_pattern *a,
			  const build_pattern *b)
{
	uint32_t	shorter = a->len < b->len ? a->len : b->len;
	int			order = 0;

	if (shorter > 8)
		order = memcmp(build_bytes(builder, a) + 8,
					   build_bytes(builder, b) + 8, shorter - 8);
	if (order != 0)
		return order;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->allow != b->allow)
		return a->allow < b->allow ? -1 : 1;
	return a->ordinal < b->ordinal ? -1 : (a->ordinal > b->ordinal);
}

static inline bool
before(const acdat_builder *builder, const build_pattern *a,
	   const build_pattern *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return compare_tails(builder, a, b) < 0;
}

static inline void
swap(build_pattern *a, build_pattern *b)
{
	build_pattern saved = *a;

	*a = *b;
	*b = saved;
}

static void
insertion_sort(const acdat_builder *builder, build_pattern *p, size_t count)
{
	size_t		i;
	size_t		j;

	for (i = 1; i < count; i++)
	{
		build_pattern moved = p[i];

		for (j = i; j > 0 && before(builder, &moved, &p[j - 1]); j--)
			p[j] = p[j - 1];
		p[j] = moved;
	}
}

static void
sift_down(const acdat_builder *builder, build_pattern *p, size_t root,
		  size_t count)
{
	for (;;)
	{
		size_t		child = 2 * root + 1;

		if (child >= count)
			return;
		if (child + 1 < count && before(builder, &p[child], &p[child + 1]))
			child++;
		if (!before(builder, &p[root], &p[child]))
			return;
		swap(&p[root], &p[child]);
		root = child;
	}
}

static void
heap_sort(const acdat_builder *builder, build_pattern *p, size_t count)
{
	size_t		i;

	for (i = count / 2; i > 0; i--)
		sift_down(builder, p, i - 1, count);
	for (i = count; i > 1; i--)
	{
		swap(&p[0], &p[i - 1]);
		sift_down(builder, p, 0, i - 1);
	}
}

/*
 * Split p[0, count) by its median of three; returns the place of the pivot:
 * nothing before it sorts behind it and the other way round.
 */
static size_t
partition(const acdat_builder *builder, build_pattern *p, size_t count)
{
	size_t		middle = count / 2;
	size_t		left = 1;
	size_t		right = count - 1;

	/* the median to p[0] */
	if (before(builder, &p[middle], &p[0]))
		swap(&p[middle], &p[0]);
	if (before(builder, &p[count - 1], &p[middle]))
	{
		swap(&p[count - 1], &p[middle]);
		if (before(builder, &p[middle], &p[0]))
			swap(&p[middle], &p[0]);
	}
	swap(&p[0], &p[middle]);
	for (;;)
	{
		while (left <= right && before(builder, &p[left], &p[0]))
			left++;
		while (right >= left && before(builder, &p[0], &p[right]))
			right--;
		if (left >= right)
			break;
		swap(&p[left++], &p[right--]);
	}
	swap(&p[0], &p[right]);
	return right;
}

acdat_status
build_sort(acdat_builder *builder)
{
	run			stack[STACK_SIZE];
	size_t		top = 0;
	unsigned	depth = 2;
	size_t		n;

	for (n = builder->count; n > 1; n /= 2)
		depth += 2;
	stack[top++] = (run) {0, builder->count, depth};
	while (top > 0)
	{
		run			r = stack[--top];
		size_t		count = r.high - r.low;
		size_t		pivot;
		run			left;
		run			right;

		if (count < 2)
			continue;
		if (build_work(builder, count))
			return ACDAT_CANCELLED;
		if (count <= SHORT_RUN)
		{
			insertion_sort(builder, builder->patterns + r.low, count);
			continue;
		}
		if (r.depth == 0)
		{
			heap_sort(builder, builder->patterns + r.low, count);
			continue;
		}
		pivot = r.low + partition(builder, builder->patterns + r.low, count);
		left = (run) {r.low, pivot, r.depth - 1};
		right = (run) {pivot + 1, r.high, r.depth - 1};

		/* the larger side waits, so the stack stays logarithmic */
		if (left.high - left.low > right.high - right.low)
		{
			stack[top++] = left;
			stack[top++] = right;
		}
		else
		{
			stack[top++] = right;
			stack[top++] = left;
		}
	}
	return ACDAT_OK;
}
