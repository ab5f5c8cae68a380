// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An attested deal whose statement, signature, nonce, plan and events are changed by the input.
 * Only the deal that the machine signed is proven.
 */
#include <errno.h>

#include <dealbox/attestation.h>
#include <dealbox/trace.h>

#include "attest.h"
#include "fuzz.h"
#include "machine_wire.h"

#define INSERTION	3
#define PLAN_ID		7
#define CARDS		4
#define EVENTS		(3 + 3 * CARDS)

struct deal {
	struct dealbox_event event[EVENTS];
	struct dealbox_plan plan;
	struct dealbox_attestation attestation;
	uint8_t nonce[DEALBOX_NONCE_SIZE];
};

static void emit(struct deal *deal, size_t at, uint32_t type, uint8_t position, uint8_t card,
		 uint8_t pocket, uint32_t code)
{
	deal->event[at] = (struct dealbox_event) {
		.seqno = at, .machine_seq = (uint32_t)at + 1,
		.machine_time_us = (uint32_t)at * 1000,
		.type = type, .insertion = INSERTION, .position = position, .card = card,
		.pocket = pocket, .quality = 90, .code = code,
	};
}

static void wire_of(const struct dealbox_event *event, uint8_t buf[WIRE_EVENT_SIZE])
{
	struct wire_event wire = {
		.type = (uint8_t)event->type, .flags = event->flags & 3,
		.number = event->machine_seq, .clock_us = event->machine_time_us,
		.insertion = event->insertion, .position = event->position, .card = event->card,
		.pocket = event->pocket, .quality = event->quality, .code = event->code,
	};

	memcpy(wire.arg, event->arg, sizeof(wire.arg));
	wire_event_put(buf, &wire);
}

static void deal_make(struct deal *deal, const struct attest_key *key)
{
	uint8_t block[WIRE_PLAN_MAX], hash[WIRE_HASH_SIZE], buf[WIRE_EVENT_SIZE];
	struct wire_plan wire = { .plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_CARD,
				  .entries = CARDS };
	struct attest_deal attest = { 0 };
	struct attestation made;
	size_t at = 0;

	memset(deal, 0, sizeof(*deal));
	memset(deal->nonce, 0x77, sizeof(deal->nonce));
	deal->plan = (struct dealbox_plan){ .plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_CARD,
					    .entries = CARDS };
	emit(deal, at++, DEALBOX_EV_BOARD_INSERTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE, 0);
	emit(deal, at++, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE,
	     PLAN_ID);
	for (uint8_t card = 0; card < CARDS; card++) {
		deal->plan.pocket[card] = card;
		wire.pocket[card] = card;
		emit(deal, at++, DEALBOX_EV_CARD_READ, card, card, DEALBOX_NONE, 0);
		emit(deal, at++, DEALBOX_EV_CARD_ROUTED, card, card, card, 0);
		emit(deal, at++, DEALBOX_EV_CARD_LANDED, card, card, card, 0);
	}
	emit(deal, at++, DEALBOX_EV_DEAL_DONE, CARDS, DEALBOX_NONE, DEALBOX_NONE, PLAN_ID);
	dealbox_count_plan(&wire);
	attest_plan(hash, block, dealbox_encode_plan(block, &wire));
	attest_begin(&attest, INSERTION, hash);
	for (size_t i = 1; i < at; i++) {
		wire_of(&deal->event[i], buf);
		attest_event(&attest, buf);
	}
	attest_make(&made, &attest, key, 5, deal->nonce);
	memcpy(deal->attestation.statement, made.statement, sizeof(made.statement));
	memcpy(deal->attestation.signature, made.signature, sizeof(made.signature));
}

/* Returns true if the bytes that the machine signed are those that it was given and sent. */
static bool same(const struct deal *a, const struct deal *b)
{
	uint8_t left[WIRE_EVENT_SIZE], right[WIRE_EVENT_SIZE];

	for (size_t i = 1; i < EVENTS; i++) {
		wire_of(&a->event[i], left);
		wire_of(&b->event[i], right);
		if (memcmp(left, right, sizeof(left)) || a->event[i].type != b->event[i].type)
			return false;
	}
	return a->plan.plan_id == b->plan.plan_id && a->plan.mode == b->plan.mode &&
	       a->plan.entries == b->plan.entries &&
	       !memcmp(a->plan.pocket, b->plan.pocket, CARDS) &&
	       !memcmp(a->nonce, b->nonce, sizeof(a->nonce)) &&
	       !memcmp(a->attestation.statement, b->attestation.statement,
		       sizeof(a->attestation.statement)) &&
	       !memcmp(a->attestation.signature, b->attestation.signature,
		       sizeof(a->attestation.signature));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t seed[crypto_sign_SEEDBYTES] = { 1 };
	struct dealbox_trace *trace = dealbox_trace_new(INSERTION);
	struct dealbox_statement statement;
	struct dealbox_error reason = { 0 };
	enum dealbox_attested result;
	struct deal deal, changed;
	struct attest_key key;

	CHECK(trace && sodium_init() >= 0);
	attest_key_make(&key, seed);
	deal_make(&deal, &key);
	changed = deal;
	/* two bytes of a place, and what is changed there */
	for (size_t i = 0; i + 3 <= size && i < 30; i += 3)
		((uint8_t *)&changed)[(data[i] | data[i + 1] << 8) % sizeof(changed)] ^=
			data[i + 2];
	for (size_t i = 0; i < EVENTS; i++)
		dealbox_trace_add(trace, &changed.event[i]);
	if (!dealbox_attestation_read(&changed.attestation, &statement))
		CHECK(!memcmp(changed.attestation.statement, "DBXA", 4));
	result = dealbox_attestation_verify(&changed.attestation, key.public, changed.nonce,
					    &changed.plan, trace, &reason);
	CHECK((result == DEALBOX_ATTESTED_PROVEN) == !reason.what[0]);
	if (result == DEALBOX_ATTESTED_PROVEN)
		CHECK(same(&deal, &changed));
	if (!memcmp(&deal, &changed, sizeof(deal)))
		CHECK(result == DEALBOX_ATTESTED_PROVEN);
	dealbox_trace_free(trace);
	return 0;
}
