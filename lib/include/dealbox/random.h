/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random deals: every deal is possible and equally likely, and none can be computed from the others
 * ("the same wholly random expectations", Law 6E4).
 *
 * The source is ChaCha20 (libsodium) under a key from the kernel's getrandom(2). It uses no clock
 * and no chosen seed, and there is no filter by shape or strength. Each deal takes at least 96
 * fresh bits, and numbers beyond the last deal are drawn again. The key is replaced by output of
 * the stream every 8 KiB and used output is erased, so that reading the memory reveals no earlier
 * deal.
 */
#ifndef DEALBOX_RANDOM_H
#define DEALBOX_RANDOM_H

#include <dealbox/deal.h>
#include <dealbox/pack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A source of random bits. For one thread; do not use it in a child after fork(2). */
struct dealbox_random;

/*
 * Makes a source with a fresh key. Waits until the kernel's generator is ready, as it is after
 * boot. Free it with dealbox_random_free(). -ENOMEM; -ENOTSUP: libsodium cannot be initialised; or
 * the error of getrandom(2). Without a source there is no safe way to deal on this computer; do not
 * use a substitute.
 */
DEALBOX_API int dealbox_random_new(struct dealbox_random **random);

/* Wipes and frees the source. NULL is allowed. */
DEALBOX_API void dealbox_random_free(struct dealbox_random *random);

/* Fills size bytes with random bits. */
DEALBOX_API void dealbox_random_bytes(struct dealbox_random *random, void *bytes,
				      size_t size);

/*
 * Makes a deal of that pack (NULL = bridge). If fixed is NULL, every deal is equally likely.
 * Otherwise the hands hold their cards in fixed, and the other cards are uniform over all ways to
 * complete the deal. Such a deal is restricted, and not dealt by Law 6: mark its set
 * (DEALBOX_MARK_RESTRICTED). -EINVAL: fixed has a card twice, a card that is not in the pack, or
 * too many cards in a hand.
 */
DEALBOX_API int dealbox_random_deal(struct dealbox_random *random,
				    const struct dealbox_pack *pack,
				    const struct dealbox_deal *fixed,
				    struct dealbox_deal *deal);

/*
 * Makes count deals of bridge, the same as count calls of dealbox_random_deal(random, NULL, NULL,
 * ...), but faster. threads is the number of threads, at most 64, including the caller's; the
 * others end before the function returns. If the system cannot create them, it uses fewer. The
 * number of threads affects neither the deals nor their order.
 */
DEALBOX_API void dealbox_random_deals(struct dealbox_random *random, struct dealbox_deal *deals,
				      size_t count, unsigned int threads);

#ifdef __cplusplus
}
#endif
#endif
