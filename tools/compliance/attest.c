// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attestations (§5.3). */
#include <errno.h>
#include <linux/unaligned.h>
#include <sodium.h>
#include <string.h>

#include "run.h"

#define PURPOSE		"dealing machine attestation\n"

static void hash_of(uint8_t out[32], const void *data, size_t size)
{
	crypto_generichash(out, 32, data, size, NULL, 0);
}

static void identity(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 }, id[32], again[DATA_MAX] = { 0 };

	check(r, "R-5.3-3", query(r, WIRE_GET_IDENTITY, 0, data, 48) == 48,
	      "GET_IDENTITY is not answered by 48 bytes");
	check(r, "R-0-2", !(get_unaligned_le32(data) & ~1u), "GET_IDENTITY has the flags %08x",
	      get_unaligned_le32(data));
	hash_of(id, data + 16, 32);
	check(r, "R-5.3-3", !memcmp(id, data + 8, 8), "the key id is not that of the public key");
	query(r, WIRE_GET_IDENTITY, 0, again, 48);
	check(r, "R-5.3-3", !memcmp(data, again, 48), "GET_IDENTITY differs the second time");
}

/* Attest the deal that ended; returns the code of ATTESTED. */
static uint32_t attest(struct run *r, const char *requirement)
{
	const struct event *event;
	uint8_t error = command(r, WIRE_ATTEST, 0, r->observer.insertion, 0, NULL);

	if (!check(r, requirement, !error, "ATTEST is refused with error %u", error))
		end_test(r);
	event = await(r, DEALBOX_EV_ATTESTED, 6000, "R-5.3-7");
	check(r, "R-5.3-7", !event->e.arg[0] && event->e.arg[1] == r->observer.insertion,
	      "ATTESTED has the error %u, insertion %u", event->e.arg[0], event->e.arg[1]);
	return event->e.code;
}

/* BLAKE2b of the events from the last DEAL_STARTED to DEAL_DONE (R-5.3-4) */
static uint32_t events_hash(const struct run *r, uint8_t hash[32])
{
	crypto_generichash_state state;
	size_t from = 0, to = 0, i;

	for (i = 0; i < r->event_count; i++) {
		if (r->events[i].e.type == DEALBOX_EV_DEAL_STARTED)
			from = i;
		if (r->events[i].e.type == DEALBOX_EV_DEAL_DONE)
			to = i;
	}
	crypto_generichash_init(&state, NULL, 0, 32);
	for (i = from; i <= to; i++) {
		uint8_t bytes[32];

		memcpy(bytes, r->events[i].bytes, 32);
		bytes[1] &= 3;
		bytes[2] = bytes[3] = 0;
		crypto_generichash_update(&state, bytes, 32);
	}
	crypto_generichash_final(&state, hash, 32);
	return (uint32_t)(to - from + 1);
}

static void digest_of(uint8_t out[32], uint8_t of, const uint8_t hash[32], const uint8_t nonce[32])
{
	uint8_t text[33] = { of };

	memcpy(text + 1, hash, 32);
	crypto_generichash(out, 32, text, 33, nonce, 32);
}

static void statement(struct run *r)
{
	uint8_t s[DATA_MAX] = { 0 }, signature[DATA_MAX] = { 0 }, id[DATA_MAX] = { 0 };
	uint8_t text[28 + 96], hash[32], digest[32], nonce[32], block[WIRE_PLAN_MAX];
	uint32_t counter, events;

	reach(r, DEALBOX_STATE_DONE);
	memset(nonce, 0xa5, sizeof(nonce));	/* that of command() */
	query(r, WIRE_GET_IDENTITY, 0, id, 48);
	counter = attest(r, "R-5.3-6");
	check(r, "R-5.3-10", counter == get_unaligned_le32(id + 4) + 1,
	      "the counter is %u behind %u", counter, get_unaligned_le32(id + 4));
	check(r, "R-5.3-12", query(r, WIRE_GET_STATEMENT, 0, s, 96) == 96,
	      "GET_STATEMENT is not answered");
	check(r, "R-5.3-12", query(r, WIRE_GET_SIGNATURE, 0, signature, 64) == 64,
	      "GET_SIGNATURE is not answered");
	check(r, "R-5.3-14", !memcmp(s, "DBXA", 4) && get_unaligned_le16(s + 4) == 0x100,
	      "magic or version of the statement");
	check(r, "R-5.3-14", (s[6] & 1) == (id[0] & 1) && !(s[6] & 0xfc), "the flags are %02x",
	      s[6]);
	check(r, "R-0-2", !s[7] && !get_unaligned_le32(s + 28),
	      "a reserved field of the statement is not 0");
	check(r, "R-5.3-14", !memcmp(s + 8, id + 8, 8), "the key id is not that of GET_IDENTITY");
	check(r, "R-5.3-14", get_unaligned_le32(s + 16) == counter,
	      "the counter is not that of ATTESTED");
	check(r, "R-5.3-14", get_unaligned_le32(s + 20) == r->observer.insertion,
	      "the insertion is %u", get_unaligned_le32(s + 20));
	events = events_hash(r, hash);
	check(r, "R-5.3-4", get_unaligned_le32(s + 24) == events, "%u events, and the deal has %u",
	      get_unaligned_le32(s + 24), events);
	digest_of(digest, 2, hash, nonce);
	check(r, "R-5.3-4", !memcmp(digest, s + 64, 32),
	      "the event digest is not that of the events");
	if (ROUTED(r)) {
		check(r, "R-5.3-15", !(s[6] & 2) && sodium_is_zero(s + 32, 32),
		      "a host-routed machine has a plan digest");
	} else {
		hash_of(hash, block, dealbox_encode_plan(block, &r->plan));
		digest_of(digest, 1, hash, nonce);
		check(r, "R-5.3-15", s[6] & 2, "a stored-plan machine has no plan digest");
		check(r, "R-5.3-4", !memcmp(digest, s + 32, 32),
		      "the plan digest is not that of the plan");
	}
	memcpy(text, PURPOSE, 28);
	memcpy(text + 28, s, 96);
	check(r, "R-5.3-16", !crypto_sign_verify_detached(signature, text, sizeof(text), id + 16),
	      "the signature is not valid");
	check(r, "R-5.3-10", attest(r, "R-5.3-5") == counter + 1, "the counter does not go on");
	status(r);
}

static void expect_none(struct run *r, const char *when)
{
	uint8_t data[DATA_MAX];

	check(r, "R-5.3-12", query(r, WIRE_GET_STATEMENT, 0, data, 96) == -EPIPE,
	      "GET_STATEMENT is answered %s", when);
	check(r, "R-5.3-12", query(r, WIRE_GET_SIGNATURE, 0, data, 64) == -EPIPE,
	      "GET_SIGNATURE is answered %s", when);
}

static void refused(struct run *r)
{
	uint32_t insertion, detail;
	uint8_t error;

	reach(r, DEALBOX_STATE_DONE);
	insertion = r->observer.insertion;
	error = command(r, WIRE_ATTEST, 0, insertion + 1, 0, &detail);
	check(r, "R-5.3-6", error == DEALBOX_ERR_WRONG_INSERTION && detail == insertion,
	      "ATTEST for another insertion: error %u, detail %u", error, detail);
	error = command(r, WIRE_ATTEST, 0, insertion, 0, NULL);
	check(r, "R-5.3-6", !error, "ATTEST is refused with error %u", error);
	if (!error && has_faults(r)) {
		/* meanwhile: no second ATTEST, no deal */
		error = command(r, WIRE_ATTEST, 0, insertion, 0, NULL);
		check(r, "R-5.3-9", error == DEALBOX_ERR_STATE || r->observer.next > 0,
		      "a second ATTEST: error %u", error);
	}
	await(r, DEALBOX_EV_ATTESTED, 6000, "R-5.3-7");
	/* behind the removal of the board it is attestable still */
	take_out(r);
	status(r);
	error = command(r, WIRE_ATTEST, 0, insertion, 0, NULL);
	check(r, "R-5.3-5", !error, "ATTEST behind BOARD_REMOVED is refused with error %u", error);
	await(r, DEALBOX_EV_ATTESTED, 6000, "R-5.3-7");
	/* the next START ends it */
	do_step(r, "hopper fill");
	do_step(r, "insert");
	reach(r, DEALBOX_STATE_DEALING);
	settle(r);
	error = command(r, WIRE_ATTEST, 0, insertion, 0, &detail);
	check(r, "R-5.3-5", error == DEALBOX_ERR_WRONG_INSERTION && !detail,
	      "ATTEST behind the next START: error %u, detail %u", error, detail);
	configure(r, DEALBOX_LOST_RESET);
	expect_none(r, "behind SET_CONFIGURATION");
}

/* A stop behind DEAL_DONE, while the machine waits (R-5.3-8) */
static void stopped(struct run *r)
{
	const struct event *event;
	uint8_t error;

	do_step(r, "speed 1");
	reach(r, DEALBOX_STATE_DONE);
	error = command(r, WIRE_ATTEST, 0, r->observer.insertion, 0, NULL);
	check(r, "R-5.3-6", !error, "ATTEST is refused with error %u", error);
	error = command(r, WIRE_ATTEST, 0, r->observer.insertion, 0, NULL);
	check(r, "R-5.3-9", error == DEALBOX_ERR_STATE, "a second ATTEST: error %u", error);
	expect_none(r, "before ATTESTED");
	do_step(r, "break 5");
	event = await(r, DEALBOX_EV_ATTESTED, 6000, "R-5.3-8");
	check(r, "R-5.3-8", !event->e.code && event->e.arg[0] == DEALBOX_ERR_STATE,
	      "ATTESTED behind a stop has the counter %u, error %u", event->e.code,
	      event->e.arg[0]);
	expect_none(r, "behind a stop");
	do_step(r, "speed 1000");
	settle(r);
}

static void nonce(struct run *r)
{
	uint8_t data[WIRE_ATTEST_SIZE] = { 0 };
	struct wire_command wire = { ++r->sequence, 0, 1, 0 };
	struct wire_result result;

	dealbox_encode_command(data, &wire);
	command_raw(r, WIRE_ATTEST, 0, data, sizeof(data));
	result = get_result(r);
	check(r, "R-2.3-5", result.error == DEALBOX_ERR_BAD_VALUE && result.detail == 5,
	      "a nonce of zeros: error %u, detail %u", result.error, result.detail);
	wire = (struct wire_command){ ++r->sequence, 0, 0, 0 };
	dealbox_encode_command(data, &wire);
	command_raw(r, WIRE_ATTEST, 0, data, sizeof(data));
	result = get_result(r);
	check(r, "R-2.3-2", result.error == DEALBOX_ERR_BAD_VALUE && result.detail == 2,
	      "b and the nonce are wrong: error %u, detail %u", result.error, result.detail);
}

#define ATTEST	DEALBOX_CAP_ATTEST

const struct test_row attest_tests[] = {
	{ "attest", "identity", "R-5.3-3", "GET_IDENTITY", 0, ATTEST, identity },
	{ "attest", "nonce", "R-2.3-2 R-2.3-5", "a nonce of zeros", 0, ATTEST, nonce },
	{ "attest", "statement",
	  "R-5.3-4 R-5.3-5 R-5.3-7 R-5.3-10 R-5.3-12 R-5.3-14 R-5.3-15 R-5.3-16",
	  "statement and signature", NEED_BOARD, ATTEST, statement },
	{ "attest", "refused", "R-5.3-5 R-5.3-6 R-5.3-9 R-5.3-12", "what cannot be attested",
	  NEED_HANDS | NEED_BOARD, ATTEST, refused },
	{ "attest", "stopped", "R-5.3-8 R-5.3-9 R-5.3-12", "a stop while the machine waits",
	  NEED_FAULTS | NEED_BOARD, ATTEST, stopped },
	{ 0 }
};
