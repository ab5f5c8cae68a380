// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sign.h"

#include <string.h>

#define PURPOSE		"dealing machine attestation\n"
#define PURPOSE_BYTES	(sizeof(PURPOSE) - 1)

/* the first byte of what a digest is made of */
enum digest { OF_PLAN = 1, OF_EVENTS = 2 };

/* offsets in a statement */
#define AT_KEY_ID	8
#define KEY_ID_BYTES	8
#define AT_PLAN		32
#define AT_EVENTS	64

void signer_make(struct signer *signer, const uint8_t seed[SIGNER_SEED_BYTES])
{
	uint8_t hash[32];

	memset(signer, 0, sizeof(*signer));
	crypto_sign_seed_keypair(signer->key + KEY_ID_BYTES, signer->secret, seed);
	crypto_generichash(hash, sizeof(hash), signer->key + KEY_ID_BYTES,
			   CORE_KEY_BYTES - KEY_ID_BYTES, NULL, 0);
	memcpy(signer->key, hash, KEY_ID_BYTES);
}

void signer_wipe(struct signer *signer)
{
	sodium_memzero(signer, sizeof(*signer));
}

static void forget(void *context)
{
	struct signer *signer = context;

	signer->stored = false;
	sodium_memzero(signer->plan, sizeof(signer->plan));
	sodium_memzero(&signer->events, sizeof(signer->events));
}

static void begin(void *context, const uint8_t *plan, uint32_t length)
{
	struct signer *signer = context;

	forget(context);
	signer->stored = plan;
	if (plan)
		crypto_generichash(signer->plan, sizeof(signer->plan), plan, length, NULL, 0);
	crypto_generichash_init(&signer->events, NULL, 0, 32);
}

/* Reserved fields and flags of an event are zero in the core: R-5.3-4 asks for no more. */
static void add_event(void *context, const uint8_t event[CORE_EVENT_BYTES])
{
	struct signer *signer = context;

	crypto_generichash_update(&signer->events, event, CORE_EVENT_BYTES);
}

static void take_nonce(void *context, const uint8_t *nonce)
{
	struct signer *signer = context;

	sodium_memzero(signer->nonce, sizeof(signer->nonce));
	sodium_memzero(signer->statement, sizeof(signer->statement));
	sodium_memzero(signer->signature, sizeof(signer->signature));
	if (nonce)
		memcpy(signer->nonce, nonce, sizeof(signer->nonce));
}

static void put_digest(uint8_t *at, enum digest of, const uint8_t hash[32],
		       const uint8_t nonce[CORE_NONCE_BYTES])
{
	uint8_t text[1 + 32] = { of };

	memcpy(text + 1, hash, 32);
	crypto_generichash(at, 32, text, sizeof(text), nonce, CORE_NONCE_BYTES);
	sodium_memzero(text, sizeof(text));
}

static bool sign(void *context, const uint8_t statement[CORE_STATEMENT_BYTES])
{
	struct signer *signer = context;
	uint8_t text[PURPOSE_BYTES + CORE_STATEMENT_BYTES], *at = text + PURPOSE_BYTES, hash[32];
	/* the deal stays attestable: keep the hash for another statement */
	crypto_generichash_state events = signer->events;
	int failed;

	memcpy(text, PURPOSE, PURPOSE_BYTES);
	memcpy(at, statement, CORE_STATEMENT_BYTES);
	memcpy(at + AT_KEY_ID, signer->key, KEY_ID_BYTES);
	if (signer->stored)
		put_digest(at + AT_PLAN, OF_PLAN, signer->plan, signer->nonce);
	crypto_generichash_final(&events, hash, sizeof(hash));
	put_digest(at + AT_EVENTS, OF_EVENTS, hash, signer->nonce);
	failed = crypto_sign_detached(signer->signature, NULL, text, sizeof(text), signer->secret);
	memcpy(signer->statement, at, CORE_STATEMENT_BYTES);
	sodium_memzero(signer->nonce, sizeof(signer->nonce));
	sodium_memzero(&events, sizeof(events));
	sodium_memzero(hash, sizeof(hash));
	return !failed;
}

static const uint8_t *show(void *context, enum core_shown what)
{
	const struct signer *signer = context;
	const uint8_t *const shown[] = {
		[CORE_KEY] = signer->key,
		[CORE_STATEMENT] = signer->statement,
		[CORE_SIGNATURE] = signer->signature,
	};

	return shown[what];
}

struct core_attest signer_attest(struct signer *signer)
{
	return (struct core_attest){ signer, begin, add_event, forget, take_nonce, sign, show };
}
