// SPDX-License-Identifier: LGPL-2.1-or-later
#include <linux/unaligned.h>
#include <string.h>

#include "attest.h"

#define FLAG_EMULATED	1u
#define FLAG_PLAN	2u

/* first byte of what a digest is made of */
#define OF_PLAN		1
#define OF_EVENTS	2

#define PURPOSE		"dealing machine attestation\n"
#define PURPOSE_SIZE	(sizeof(PURPOSE) - 1)

void attest_key_make(struct attest_key *key, const uint8_t seed[crypto_sign_SEEDBYTES])
{
	crypto_sign_seed_keypair(key->public, key->secret, seed);
}

static void key_id(uint8_t id[DEALBOX_KEY_ID_SIZE], const struct attest_key *key)
{
	uint8_t hash[WIRE_HASH_SIZE];

	crypto_generichash(hash, sizeof(hash), key->public, sizeof(key->public), NULL, 0);
	memcpy(id, hash, DEALBOX_KEY_ID_SIZE);
}

void attest_identity(uint8_t *buf, const struct attest_key *key, uint32_t counter)
{
	put_unaligned_le32(FLAG_EMULATED, buf);
	put_unaligned_le32(counter, buf + 4);
	key_id(buf + 8, key);
	memcpy(buf + 16, key->public, DEALBOX_PUBLIC_KEY_SIZE);
}

void attest_plan(uint8_t hash[WIRE_HASH_SIZE], const uint8_t *block, size_t size)
{
	crypto_generichash(hash, WIRE_HASH_SIZE, block, size, NULL, 0);
}

void attest_begin(struct attest_deal *deal, uint32_t insertion, const uint8_t *plan)
{
	attest_forget(deal);
	deal->insertion = insertion;
	deal->stored = plan;
	if (plan)
		memcpy(deal->plan, plan, sizeof(deal->plan));
	crypto_generichash_init(&deal->hash, NULL, 0, WIRE_HASH_SIZE);
}

void attest_event(struct attest_deal *deal, const uint8_t *event)
{
	uint8_t bytes[WIRE_EVENT_SIZE];

	memcpy(bytes, event, sizeof(bytes));
	bytes[1] &= DEALBOX_EVF_FACE_UP | DEALBOX_EVF_AT_POWER_ON;
	bytes[2] = 0;
	bytes[3] = 0;
	crypto_generichash_update(&deal->hash, bytes, sizeof(bytes));
	deal->events++;
	sodium_memzero(bytes, sizeof(bytes));
}

void attest_forget(struct attest_deal *deal)
{
	sodium_memzero(deal, sizeof(*deal));
}

static void digest(uint8_t out[WIRE_HASH_SIZE], uint8_t of, const uint8_t hash[WIRE_HASH_SIZE],
		   const uint8_t nonce[DEALBOX_NONCE_SIZE])
{
	uint8_t text[1 + WIRE_HASH_SIZE] = { of };

	memcpy(text + 1, hash, WIRE_HASH_SIZE);
	crypto_generichash(out, WIRE_HASH_SIZE, text, sizeof(text), nonce, DEALBOX_NONCE_SIZE);
	sodium_memzero(text, sizeof(text));
}

void attest_make(struct attestation *out, const struct attest_deal *deal,
		 const struct attest_key *key, uint32_t counter,
		 const uint8_t nonce[DEALBOX_NONCE_SIZE])
{
	uint8_t text[PURPOSE_SIZE + DEALBOX_STATEMENT_SIZE], *statement = out->statement;
	crypto_generichash_state state = deal->hash;
	uint8_t hash[WIRE_HASH_SIZE];

	memset(statement, 0, DEALBOX_STATEMENT_SIZE);
	put_unaligned_le32(WIRE_STATEMENT_MAGIC, statement);
	put_unaligned_le16(WIRE_STATEMENT_VERSION, statement + 4);
	statement[6] = FLAG_EMULATED | (deal->stored ? FLAG_PLAN : 0);
	key_id(statement + 8, key);
	put_unaligned_le32(counter, statement + 16);
	put_unaligned_le32(deal->insertion, statement + 20);
	put_unaligned_le32(deal->events, statement + 24);
	if (deal->stored)
		digest(statement + 32, OF_PLAN, deal->plan, nonce);
	crypto_generichash_final(&state, hash, sizeof(hash));
	digest(statement + 64, OF_EVENTS, hash, nonce);

	memcpy(text, PURPOSE, PURPOSE_SIZE);
	memcpy(text + PURPOSE_SIZE, statement, DEALBOX_STATEMENT_SIZE);
	crypto_sign_detached(out->signature, NULL, text, sizeof(text), key->secret);
	sodium_memzero(&state, sizeof(state));
	sodium_memzero(hash, sizeof(hash));
}
