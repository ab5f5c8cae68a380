/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Implements the core's struct core_attest with libsodium, for machines that are Linux computers:
 * statements about a deal (docs/protocol.md, 5.3). No I/O: the caller reads the seed from the key's
 * file.
 */
#ifndef MACHINE_SIGN_H
#define MACHINE_SIGN_H

#include <sodium.h>

#include "core.h"

#define SIGNER_SEED_BYTES	crypto_sign_SEEDBYTES

/* The caller reads no field of it, and keeps it where no other program can read it. */
struct signer {
	uint8_t secret[crypto_sign_SECRETKEYBYTES];
	uint8_t key[CORE_KEY_BYTES];	/* key id, public key */
	bool stored;			/* plan is the hash of a plan */
	uint8_t plan[32];
	crypto_generichash_state events;
	uint8_t nonce[CORE_NONCE_BYTES];
	uint8_t statement[CORE_STATEMENT_BYTES], signature[CORE_SIGNATURE_BYTES];
};

/*
 * Make a signer with the private key of a seed (RFC 8032). The caller has called sodium_init() and
 * overwrites the seed. signer_wipe() ends its use.
 */
void signer_make(struct signer *signer, const uint8_t seed[SIGNER_SEED_BYTES]);
void signer_wipe(struct signer *signer);

/* Return what the core's orders need, to attest with this signer, which stays where it is. */
struct core_attest signer_attest(struct signer *signer);

#endif
