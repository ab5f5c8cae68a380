/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The deals that the program Big Deal makes from the same input, bit for bit. They reproduce every
 * tournament that used it, alone or through Square Deal.
 */
#ifndef DEALBOX_BIGDEAL_H
#define DEALBOX_BIGDEAL_H

#include <dealbox/deal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_BIGDEAL_HASH	20	/* bytes of a RIPEMD-160 hash */

/* A sequence of deals. For one thread. */
struct dealbox_bigdeal;

/*
 * Makes the sequence of an owner string ("owner" in Big Deal's init file, or -W) and of all
 * collected entropy in order (its -e strings one after the other). Both are hashed and not kept.
 * Free it with dealbox_bigdeal_free(). -ENOMEM.
 */
DEALBOX_API int dealbox_bigdeal_new(const void *owner, size_t owner_size,
				    const void *entropy, size_t entropy_size,
				    struct dealbox_bigdeal **bigdeal);

/* The same from the hash of the entropy, as in Big Deal's log of seeds and its -h. */
DEALBOX_API int dealbox_bigdeal_new_hashed(const void *owner, size_t owner_size,
					   const uint8_t entropy[DEALBOX_BIGDEAL_HASH],
					   struct dealbox_bigdeal **bigdeal);

/* Wipes and frees the sequence. NULL is allowed. */
DEALBOX_API void dealbox_bigdeal_free(struct dealbox_bigdeal *bigdeal);

/* Gets the next deal. -EOVERFLOW: the sequence has ended, after some 2.9 thousand million deals. */
DEALBOX_API int dealbox_bigdeal_deal(struct dealbox_bigdeal *bigdeal,
				     struct dealbox_deal *deal);

/*
 * Makes the next count deals, the same as count calls of dealbox_bigdeal_deal(). threads is as in
 * dealbox_random_deals(). Returns 0. -EOVERFLOW: the sequence ended before.
 */
DEALBOX_API int dealbox_bigdeal_deals(struct dealbox_bigdeal *bigdeal, struct dealbox_deal *deals,
				      size_t count, unsigned int threads);

#ifdef __cplusplus
}
#endif
#endif
