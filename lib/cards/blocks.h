/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deals that several threads make together. Their numbers come in blocks, each of which can be made
 * by itself; the deals of a block lie behind those of the block before it, whoever made it, so
 * that the number of threads changes nothing. Not exported.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "number-internal.h"

#define BLOCK_DRAWS 680 /* numbers that are drawn for a block; some are beyond the last deal */
#define BLOCK_STATE	40	/* bytes that a block is made from */

struct block_source {
	/* Copies the source of the next block to state; one thread at a time, in order. */
	void (*next)(void *source, void *state);
	/* Gets the numbers of that block that are deals. Returns how many. */
	size_t (*numbers)(const void *source, const void *state,
			  struct dealbox_number numbers[BLOCK_DRAWS]);
	/* Makes the deals with these numbers, and may overwrite the numbers. */
	void (*deals)(struct dealbox_number *numbers, size_t count, struct dealbox_deal *deals);
};

/*
 * Makes so many blocks, the caller's thread included in the number of threads. Fewer threads
 * do it where no more can be had. What the threads kept of it is wiped. Returns how many
 * deals that were, at most BLOCK_DRAWS for each block.
 */
size_t blocks_make(const struct block_source *source, void *context, size_t blocks,
		   unsigned int threads, struct dealbox_deal *deals);

#endif
