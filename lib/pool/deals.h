/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event's database holds its deals as hashes and sealed sets only. Both are made with the key of
 * the event, which the database never has in the clear. The database's administrator can therefore
 * neither read a set nor replace one. Pure but for random numbers.
 */
#ifndef POOL_DEALS_H
#define POOL_DEALS_H

#include <stddef.h>
#include <stdint.h>

#include <dealbox/deal.h>
#include <dealbox/set.h>

#include "pool/lease.h"

#define POOL_KEY	32	/* bytes of every key */
#define POOL_PRINT	25	/* size of a fingerprint as text: "0123-4567-89ab-cdef-0123" */
#define POOL_SEALED_KEY	(POOL_KEY + 48)

/* The public value that tells the key of an event from others. */
void pool_key_check(const uint8_t key[POOL_KEY], uint8_t check[POOL_KEY]);

/* The fingerprint of a public key or of that value, which people compare. */
void pool_print(const uint8_t value[POOL_KEY], char print[POOL_PRINT]);

/* The hash of a deal as a UUID. A deal that was turned has the same. */
void pool_hash(const uint8_t key[POOL_KEY], const struct dealbox_deal *deal, char hash[LEASE_ID]);

/* Makes a pair of keys of a PC. */
void pool_keys(uint8_t public_key[POOL_KEY], uint8_t secret_key[POOL_KEY]);

/* Proves to the director that he has admitted a PC of this name with this public key. */
void pool_admission(const uint8_t key[POOL_KEY], const char *name,
		    const uint8_t public_key[POOL_KEY], uint8_t admission[POOL_KEY]);

/*
 * Seal the key of the event for a PC, and open it. -EINVAL: nothing can be sealed for this public
 * key, which no PC has made; -EBADMSG: it is not for this PC.
 */
int pool_seal_key(const uint8_t public_key[POOL_KEY], const uint8_t key[POOL_KEY],
		  uint8_t sealed[POOL_SEALED_KEY]);
int pool_open_key(const uint8_t public_key[POOL_KEY], const uint8_t secret_key[POOL_KEY],
		  const uint8_t sealed[POOL_SEALED_KEY], uint8_t key[POOL_KEY]);

/*
 * Seals the set of a job for a PC: *sealed is *size bytes; free it. -ENOMEM; -EINVAL: a board
 * has no number.
 */
int pool_seal_set(const uint8_t key[POOL_KEY], const uint8_t public_key[POOL_KEY],
		  uint32_t job, const char *session, const struct dealbox_set *set,
		  uint8_t **sealed, size_t *size);

/*
 * Opens it; free the set with dealbox_set_free(). -EBADMSG: it is not for this PC, job and session,
 * or nobody who has the key of the event has made it; -ENOMEM.
 */
int pool_open_set(const uint8_t key[POOL_KEY], const uint8_t public_key[POOL_KEY],
		  const uint8_t secret_key[POOL_KEY], uint32_t job, const char *session,
		  const uint8_t *sealed, size_t size, struct dealbox_set **set);

#endif
