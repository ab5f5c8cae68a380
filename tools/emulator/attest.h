/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a machine attests a deal: docs/protocol.md, section 5.3. Pure. */
#ifndef EMULATOR_ATTEST_H
#define EMULATOR_ATTEST_H

#include <sodium.h>

#include "wire.h"

/* A machine's key. secret is what Ed25519 signs with; it never leaves the machine. */
struct attest_key {
	uint8_t secret[crypto_sign_SECRETKEYBYTES];
	uint8_t public[DEALBOX_PUBLIC_KEY_SIZE];
};

/* The hashes of a deal */
struct attest_deal {
	uint32_t insertion;	/* 0 = there is no deal */
	bool stored;		/* there is a plan hash */
	uint32_t events;	/* number of events in the hash */
	uint8_t plan[WIRE_HASH_SIZE];
	crypto_generichash_state hash;	/* of the events so far */
};

struct attestation {
	uint8_t statement[DEALBOX_STATEMENT_SIZE];
	uint8_t signature[DEALBOX_SIGNATURE_SIZE];
};

/* The key that a seed (RFC 8032: the private key) makes. */
void attest_key_make(struct attest_key *key, const uint8_t seed[crypto_sign_SEEDBYTES]);

/* Write WIRE_IDENTITY_SIZE bytes. counter is that of the last attestation. */
void attest_identity(uint8_t *buf, const struct attest_key *key, uint32_t counter);

/* The plan hash of a plan block as it was received. */
void attest_plan(uint8_t hash[WIRE_HASH_SIZE], const uint8_t *block, size_t size);
/* Begin a deal. plan is the plan hash, NULL if the host holds the plan. */
void attest_begin(struct attest_deal *deal, uint32_t insertion, const uint8_t *plan);
/* Add the next event, WIRE_EVENT_SIZE bytes. */
void attest_event(struct attest_deal *deal, const uint8_t *event);
void attest_forget(struct attest_deal *deal);

/* Attest a deal that has ended. */
void attest_make(struct attestation *out, const struct attest_deal *deal,
		 const struct attest_key *key, uint32_t counter,
		 const uint8_t nonce[DEALBOX_NONCE_SIZE]);

#endif
