/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dealing at random: every deal possible, each equally likely, none computable from the
 * others ("the same wholly random expectations", Law 6E4).
 *
 * The source is ChaCha20 (libsodium) under a key from the kernel's getrandom(2). Never a
 * clock, never a seed that somebody chose; there is no filter by shape or strength. Each deal
 * takes at least 96 fresh bits, and numbers beyond the last deal are drawn again. The key is
 * replaced by output of the stream each 8 KiB and what was used is erased, so
 * that whoever reads the memory learns no deal that was made before.
 */
#ifndef DEALBOX_RANDOM_H
#define DEALBOX_RANDOM_H

#include <dealbox/deal.h>
#include <dealbox/pack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A source of random bits. For one thread, and not to be used in a child after fork(2). */
struct dealbox_random;

/*
 * A new source with a fresh key; waits until the kernel's generator is ready, as it is
 * once the machine has started. Free it with dealbox_random_free(). -ENOMEM; -ENOTSUP:
 * libsodium does not start; or what getrandom(2) said. Without a source there is no safe
 * way to deal on this machine, and nothing may be used in its place.
 */
DEALBOX_API int dealbox_random_new(struct dealbox_random **random);

/* Wipes and frees it. NULL is allowed. */
DEALBOX_API void dealbox_random_free(struct dealbox_random *random);

/* Fills size bytes. */
DEALBOX_API void dealbox_random_bytes(struct dealbox_random *random, void *bytes,
				      size_t size);

/*
 * A deal of that pack (NULL = bridge). fixed = NULL: any deal, each equally likely.
 * Otherwise the hands hold the cards that they have in fixed, and the other cards are uniform
 * over all ways to complete it; such a deal is restricted and no deal in the sense
 * of Law 6: mark the set that it goes into (DEALBOX_MARK_RESTRICTED). -EINVAL: fixed has a
 * card twice, one that is not in the pack, or more than fit into a hand.
 */
DEALBOX_API int dealbox_random_deal(struct dealbox_random *random,
				    const struct dealbox_pack *pack,
				    const struct dealbox_deal *fixed,
				    struct dealbox_deal *deal);

#ifdef __cplusplus
}
#endif
#endif
