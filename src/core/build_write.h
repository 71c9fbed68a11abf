/*-------------------------------------------------------------------------
 *
 * build_write.h
 *	  What the parts that write an image share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_BUILD_WRITE_H
#define ACDAT_BUILD_WRITE_H

#include "src/core/build.h"

/* The image being written, with its own view for reading back. */
typedef struct build_writer
{
	const acdat_builder *builder;
	unsigned char *image;
	const acdat_image_header *h;
	acdat_machine machine;
	unsigned char *forward;		/* a pattern's bytes in text order */
	uint64_t	work;			/* since the last tick */
} build_writer;

/* Count work; true if the caller must stop. */
static inline bool
build_write_work(build_writer *w, uint64_t amount)
{
	w->work += amount;
	if (w->work < ACDAT_TICK_BYTES)
		return false;
	w->work = 0;
	return acdat_tick(&w->builder->hooks);
}

static inline uint32_t *
build_u32_section(const build_writer *w, uint64_t offset)
{
	return (uint32_t *) (void *) (w->image + offset);
}

/* The header's ends_vary; does the image need node_chain? */
extern uint32_t acdat_build_varying(const acdat_builder *builder);
extern bool acdat_build_needs_chain(const acdat_builder *builder);

/* Set max_chain: the nodes on the longest chain, each a prefix of the next. */
extern acdat_status acdat_build_max_chain(acdat_builder *builder,
										  acdat_image_header *h);

/* All sections of nodes but node_first, which must be there. */
extern acdat_status acdat_build_write_nodes(build_writer *w);

#endif							/* ACDAT_BUILD_WRITE_H */
