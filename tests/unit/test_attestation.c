// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attestations, by the emulator's machine on the bench and the library: only the plan and the
 * events that the machine had are proven. Section numbers are those of docs/protocol.md.
 */
#include "emulator_fixture.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>

#include <dealbox/attestation.h>
#include <dealbox/verify.h>

#include "abi.h"
#include "attest.h"
#include "machine_wire.h"

#define STORED		DEALBOX_CAP_STORED_PLAN
#define ROUTED		DEALBOX_CAP_HOST_ROUTED
#define BY_CARD		DEALBOX_PLAN_BY_CARD
#define BY_POSITION	DEALBOX_PLAN_BY_POSITION
#define CAPTURE		DEALBOX_PLAN_CAPTURE
#define PROVEN		DEALBOX_ATTESTED_PROVEN
#define DIFFERENT	DEALBOX_ATTESTED_DIFFERENT
#define INCOMPARABLE	DEALBOX_ATTESTED_INCOMPARABLE

static const uint8_t nonce[DEALBOX_NONCE_SIZE] = "a secret of thirty-one letters.";

/* --- the bench ---------------------------------------------------------------------- */

static struct fixture *bench_config(uint32_t kind, const char *rules)
{
	struct machine_config config = fixture_config(kind);
	struct fixture *fixture;

	config.desc.capabilities |= DEALBOX_CAP_ATTEST;
	memset(config.key, 0x5a, sizeof(config.key));
	fixture = fixture_new_config(config);
	fixture_rule(fixture, rules);
	fixture->route = kind == ROUTED;
	return fixture;
}

/* A deal into a new board has just been accepted. */
static void bench_deal(struct fixture *fixture, uint8_t mode)
{
	pile_move_all(machine_table(fixture->m), machine_hopper(fixture->m));
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	if (!fixture->route)
		fixture_load_mode(fixture, mode);
	assert_int_equal(fixture_start(fixture, mode), DEALBOX_ERR_OK);
}

static struct fixture *bench(uint32_t kind, uint8_t mode, const char *rules)
{
	struct fixture *fixture = bench_config(kind, rules);

	bench_deal(fixture, mode);
	return fixture;
}

static struct fixture *bench_done(uint32_t kind, uint8_t mode, const char *rules)
{
	struct fixture *fixture = bench(kind, mode, rules);

	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	return fixture;
}

/* ATTEST; the error code. */
static uint8_t ask_with(struct fixture *fixture, uint32_t insertion, const uint8_t *secret,
			uint32_t *detail)
{
	struct wire_command cmd = { .sequence = ++fixture->sequence, .b = insertion };
	uint8_t buf[WIRE_ATTEST_SIZE];

	dealbox_encode_command(buf, &cmd);
	memcpy(buf + WIRE_COMMAND_SIZE, secret, DEALBOX_NONCE_SIZE);
	machine_command(fixture->m, WIRE_ATTEST, 0, buf, sizeof(buf));
	if (detail)
		*detail = fixture_result(fixture).detail;
	return fixture_result(fixture).error;
}

static uint8_t ask(struct fixture *fixture, uint32_t insertion)
{
	return ask_with(fixture, insertion, nonce, NULL);
}

static bool fetch(struct fixture *fixture, struct dealbox_attestation *out)
{
	memset(out, 0, sizeof(*out));
	return machine_query(fixture->m, WIRE_GET_STATEMENT, 0, out->statement) ==
		       DEALBOX_STATEMENT_SIZE &&
	       machine_query(fixture->m, WIRE_GET_SIGNATURE, 0, out->signature) ==
		       DEALBOX_SIGNATURE_SIZE;
}

static struct dealbox_identity identity(struct fixture *fixture)
{
	struct dealbox_identity out;
	uint8_t buf[WIRE_IDENTITY_SIZE];

	assert_int_equal(machine_query(fixture->m, WIRE_GET_IDENTITY, 0, buf), sizeof(buf));
	dealbox_decode_identity(buf, &out);
	return out;
}

static struct dealbox_attestation attested(struct fixture *fixture, uint32_t insertion)
{
	struct dealbox_attestation out;
	const struct wire_event *event;

	assert_int_equal(ask(fixture, insertion), DEALBOX_ERR_OK);
	event = fixture_until(fixture, DEALBOX_EV_ATTESTED);
	assert_int_equal(event->arg[0], DEALBOX_ERR_OK);
	assert_int_equal(event->arg[1], insertion);
	assert_true(fetch(fixture, &out));
	return out;
}

static struct dealbox_plan plan_of(uint8_t mode)
{
	struct wire_plan wire = fixture_plan(mode, mode == CAPTURE ? 1 : 52);
	struct dealbox_plan plan = { .plan_id = wire.plan_id,
				     .mode = mode,
				     .entries = wire.entries };

	memcpy(plan.pocket, wire.pocket, sizeof(plan.pocket));
	return plan;
}

/* The bytes that the library wiped, and its failures; see meson.build. */
static size_t wiped;
static bool sodium_fails;
static bool verifying;
static char why[512];		/* of the last verdict */

void __real_sodium_memzero(void *data, size_t size);
void __wrap_sodium_memzero(void *data, size_t size);
void __wrap_sodium_memzero(void *data, size_t size)
{
	wiped += size;
	__real_sodium_memzero(data, size);
	if (verifying)
		memset(data, 0xa5, size);	/* garbage is as good */
}

int __real_sodium_init(void);
int __wrap_sodium_init(void);
int __wrap_sodium_init(void)
{
	return sodium_fails ? -1 : __real_sodium_init();
}

/* Nothing may rest upon what lies on the stack. */
static __attribute__((noinline)) void litter_stack(void)
{
	uint8_t stack[1 << 15];

	memset(stack, 0xa5, sizeof(stack));
	__asm__ volatile("" : : "r"(stack) : "memory");
}

/* A trace of all events that came, without those from lost on, count of them. */
static struct dealbox_trace *trace_without(struct fixture *fixture, uint32_t insertion,
					   unsigned int lost, unsigned int count)
{
	struct dealbox_trace *trace = dealbox_trace_new(insertion);
	struct event_source source = { .pockets = 4 };
	struct dealbox_event event;

	assert_non_null(trace);
	fixture_collect(fixture);
	for (unsigned int i = 0; i < fixture->count; i++) {
		if (i >= lost && i < lost + count)
			continue;
		dealbox_abi_event(&source, &fixture->events[i], i, &event);
		assert_true(dealbox_trace_add(trace, &event) >= 0);
	}
	return trace;
}

static struct dealbox_trace *trace_of(struct fixture *fixture, uint32_t insertion)
{
	return trace_without(fixture, insertion, 0, 0);
}

static enum dealbox_attested verify_with(struct fixture *fixture,
					 const struct dealbox_attestation *attestation,
					 const uint8_t *secret, const struct dealbox_plan *plan,
					 const struct dealbox_trace *trace)
{
	struct dealbox_identity key = identity(fixture);
	struct dealbox_error reason = { .line = 7 };
	enum dealbox_attested result;

	litter_stack();
	verifying = true;
	result = dealbox_attestation_verify(attestation, key.public_key, secret, plan, trace,
					    &reason);
	verifying = false;
	assert_int_equal(!!reason.what[0], result != PROVEN);
	assert_int_equal(reason.line, result == PROVEN ? 7 : 0);
	assert_int_equal(reason.code, result == PROVEN ? 0 :
				      result == DIFFERENT ? -EBADMSG : -ENODATA);
	strcpy(why, reason.what);
	return result;
}

static enum dealbox_attested verify(struct fixture *fixture,
				    const struct dealbox_attestation *attestation, uint8_t mode,
				    const struct dealbox_trace *trace)
{
	struct dealbox_plan plan = plan_of(mode);

	return verify_with(fixture, attestation, nonce, &plan, trace);
}

/* Attests the deal that was done, and compares it with the events that came. */
static enum dealbox_attested verify_all(struct fixture *fixture, uint8_t mode)
{
	uint32_t insertion = machine_view(fixture->m).board->insertion;
	struct dealbox_attestation attestation = attested(fixture, insertion);
	struct dealbox_trace *trace = trace_of(fixture, insertion);
	enum dealbox_attested result = verify(fixture, &attestation, mode, trace);

	dealbox_trace_free(trace);
	return result;
}

/* Signs a changed statement as the machine would. */
static void sign_again(struct dealbox_attestation *attestation)
{
	uint8_t seed[MACHINE_KEY_SIZE], text[28 + DEALBOX_STATEMENT_SIZE];
	struct attest_key key;

	memset(seed, 0x5a, sizeof(seed));
	attest_key_make(&key, seed);
	memcpy(text, "dealing machine attestation\n", 28);
	memcpy(text + 28, attestation->statement, DEALBOX_STATEMENT_SIZE);
	crypto_sign_detached(attestation->signature, NULL, text, sizeof(text), key.secret);
}

/*
 * The digest that the machine would sign about the events that came from the first DEAL_STARTED on,
 * so many of them.
 */
static struct dealbox_attestation sign_events(struct fixture *fixture, unsigned int count)
{
	struct wire_plan plan = fixture_plan(BY_CARD, 52);
	uint8_t seed[MACHINE_KEY_SIZE], bytes[WIRE_EVENT_SIZE], block[WIRE_PLAN_MAX];
	struct dealbox_attestation out = { 0 };
	struct attest_deal deal = { 0 };
	uint8_t hash[WIRE_HASH_SIZE];
	struct attestation made;
	struct attest_key key;
	unsigned int i = 0;

	memset(seed, 0x5a, sizeof(seed));
	attest_key_make(&key, seed);
	dealbox_count_plan(&plan);
	attest_plan(hash, block, dealbox_encode_plan(block, &plan));
	attest_begin(&deal, 1, hash);
	while (fixture->events[i].type != DEALBOX_EV_DEAL_STARTED)
		i++;
	while (count--) {
		wire_event_put(bytes, &fixture->events[i++]);
		attest_event(&deal, bytes);
	}
	attest_make(&made, &deal, &key, 1, nonce);
	memcpy(out.statement, made.statement, sizeof(out.statement));
	memcpy(out.signature, made.signature, sizeof(out.signature));
	return out;
}

/* The number of events from the first to the last of the deal. */
static unsigned int events_of_deal(struct fixture *fixture)
{
	unsigned int first = 0, last;

	while (fixture->events[first].type != DEALBOX_EV_DEAL_STARTED)
		first++;
	for (last = first; fixture->events[last].type != DEALBOX_EV_DEAL_DONE; last++)
		;
	return last - first + 1;
}

/* --- what is proven ------------------------------------------------------------------- */

static void deals_of_every_mode_and_kind_are_proven(void **state)
{
	static const uint8_t modes[] = { BY_CARD, BY_POSITION, CAPTURE };
	static const uint32_t kinds[] = { STORED, ROUTED };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct fixture *fixture = bench_done(kinds[i / 3], modes[i % 3], "");
		struct dealbox_attestation attestation;
		struct dealbox_statement statement;

		assert_int_equal(verify_all(fixture, modes[i % 3]), PROVEN);
		assert_true(fetch(fixture, &attestation));
		memset(&statement, 0xff, sizeof(statement));
		assert_int_equal(dealbox_attestation_read(&attestation, &statement), 0);
		for (unsigned int n = 0; n < 4; n++)
			assert_int_equal(statement.reserved[n], 0);
		assert_int_equal(statement.insertion, 1);
		assert_int_equal(statement.counter, 1);
		assert_int_equal(statement.events, events_of_deal(fixture));
		assert_int_equal(statement.planned, kinds[i / 3] == STORED);
		assert_true(statement.emulated);
		assert_memory_equal(statement.key_id, identity(fixture).key_id, 8);
		fixture_free(fixture);
	}
}

/* A stop in mid-deal that the operator mended, keys and pauses are events like others. */
static void a_deal_with_stops_and_pauses_is_proven(void **state)
{
	struct fixture *fixture = bench(STORED, BY_CARD, "on read position 7 nth 1: unreadable");

	(void)state;
	fixture_until(fixture, DEALBOX_EV_CARD_UNREADABLE);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_CARD_LANDED);
	machine_key(fixture->m, DEALBOX_KEY_STOP, true);
	fixture_until(fixture, DEALBOX_EV_PAUSED);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RESUME), DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(verify_all(fixture, BY_CARD), PROVEN);
	fixture_free(fixture);
}

static void the_last_of_several_captures_is_proven(void **state)
{
	struct fixture *fixture = bench_done(STORED, CAPTURE, "");

	(void)state;
	fixture_cards(fixture, 3);
	assert_int_equal(fixture_start(fixture, CAPTURE), DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(verify_all(fixture, CAPTURE), PROVEN);
	fixture_free(fixture);
}

/* The board may be out, and another one in, before the host asks. */
static void a_board_that_was_taken_out_is_proven(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation;
	struct dealbox_trace *trace;

	(void)state;
	assert_int_equal(machine_remove(fixture->m, true), 0);
	fixture_insert(fixture);
	attestation = attested(fixture, 1);
	trace = trace_of(fixture, 1);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* --- what is not --------------------------------------------------------------------------- */

/* Every bit of statement and signature counts. */
static void a_changed_attestation_is_not_proven(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation good = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);

	(void)state;
	for (size_t bit = 0; bit < 8 * (sizeof(good.statement) + sizeof(good.signature)); bit++) {
		struct dealbox_attestation bad = good;
		uint8_t *byte = bit / 8 < sizeof(bad.statement) ? &bad.statement[bit / 8] :
				&bad.signature[bit / 8 - sizeof(bad.statement)];

		*byte ^= 1 << bit % 8;
		assert_int_equal(verify(fixture, &bad, BY_CARD, trace), DIFFERENT);
	}
	assert_int_equal(verify(fixture, &good, BY_CARD, trace), PROVEN);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/*
 * Without a trace, the plan alone is compared, and every bit of the attestation counts all the
 * same.
 */
static enum dealbox_attested verify_plan(struct fixture *fixture,
					 const struct dealbox_attestation *attestation,
					 const uint8_t *secret, uint32_t insertion, uint8_t mode)
{
	struct dealbox_identity key = identity(fixture);
	struct dealbox_plan plan = plan_of(mode);
	struct dealbox_error reason = { 0 };
	enum dealbox_attested result;

	litter_stack();
	result = dealbox_attestation_verify_plan(attestation, key.public_key, secret, insertion,
						 &plan, &reason);
	assert_int_equal(!!reason.what[0], result != PROVEN);
	strcpy(why, reason.what);
	return result;
}

static void the_plan_alone_is_compared(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation good = attested(fixture, 1), later;
	struct dealbox_plan empty = { 0 };
	struct dealbox_error reason = { 0 };
	struct dealbox_identity key = identity(fixture);
	uint8_t other[DEALBOX_NONCE_SIZE];

	(void)state;
	for (size_t bit = 0; bit < 8 * (sizeof(good.statement) + sizeof(good.signature)); bit++) {
		struct dealbox_attestation bad = good;
		uint8_t *byte = bit / 8 < sizeof(bad.statement) ? &bad.statement[bit / 8] :
				&bad.signature[bit / 8 - sizeof(bad.statement)];

		*byte ^= 1 << bit % 8;
		assert_int_equal(verify_plan(fixture, &bad, nonce, 1, BY_CARD), DIFFERENT);
	}
	assert_int_equal(verify_plan(fixture, &good, nonce, 1, BY_CARD), PROVEN);
	assert_int_equal(verify_plan(fixture, &good, nonce, 2, BY_CARD), DIFFERENT);
	assert_non_null(strstr(why, "another insertion"));
	assert_int_equal(verify_plan(fixture, &good, nonce, 1, BY_POSITION), DIFFERENT);
	assert_non_null(strstr(why, "another plan"));
	memcpy(other, nonce, sizeof(other));
	other[0] ^= 1;
	assert_int_equal(verify_plan(fixture, &good, other, 1, BY_CARD), DIFFERENT);
	assert_int_equal(dealbox_attestation_verify_plan(&good, key.public_key, nonce, 1, &empty,
							 NULL), DIFFERENT);
	/* a plan is told as empty if it is, or is longer than any can be */
	for (empty.entries = 0; empty.entries <= DEALBOX_MAX_ENTRIES + 1;
	     empty.entries += DEALBOX_MAX_ENTRIES) {
		assert_int_equal(dealbox_attestation_verify_plan(&good, key.public_key, nonce, 1,
								 &empty, &reason), DIFFERENT);
		assert_non_null(strstr(reason.what, empty.entries ?
				       "another plan" : "the plan is empty"));
	}
	assert_int_equal(dealbox_attestation_verify_plan(&good, key.public_key, nonce, 1, &empty,
							 &reason), DIFFERENT);
	assert_non_null(strstr(reason.what, "the plan is empty"));
	later = good;
	later.statement[5] = 2;
	sign_again(&later);
	assert_int_equal(verify_plan(fixture, &later, nonce, 1, BY_CARD), INCOMPARABLE);
	assert_non_null(strstr(why, "later version"));
	assert_true(dealbox_attestation_signed(&good, key.public_key));
	sodium_fails = true;
	assert_false(dealbox_attestation_signed(&good, key.public_key));
	assert_int_equal(verify_plan(fixture, &good, nonce, 1, BY_CARD), INCOMPARABLE);
	sodium_fails = false;
	fixture_free(fixture);
}

static void a_routed_deal_has_no_plan_to_compare(void **state)
{
	struct fixture *fixture = bench_done(ROUTED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);

	(void)state;
	assert_int_equal(verify_plan(fixture, &attestation, nonce, 1, BY_CARD), INCOMPARABLE);
	assert_non_null(strstr(why, "held no plan"));
	fixture_free(fixture);
}

/*
 * A host that changes what it says of any byte of any event. Numbers and types cannot be compared.
 */
static void a_changed_event_is_not_proven(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	unsigned int changed = 0;

	(void)state;
	for (size_t i = 0; i < dealbox_trace_count(trace); i++) {
		struct dealbox_event *event = (struct dealbox_event *)dealbox_trace_get(trace, i);
		struct dealbox_event before = *event;

		if (event->type != DEALBOX_EV_DEAL_STARTED && !changed)
			continue;
		/* from flags to the last byte of arg, but bits of flags that no machine sends */
		for (size_t at = offsetof(struct dealbox_event, flags);
		     at < offsetof(struct dealbox_event, reserved); at++) {
			if (at > offsetof(struct dealbox_event, flags) &&
			    at < offsetof(struct dealbox_event, machine_seq))
				continue;
			((uint8_t *)event)[at] ^= 1;
			assert_int_not_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
			*event = before;
			changed++;
		}
		if (event->type == DEALBOX_EV_DEAL_DONE)
			break;
	}
	assert_true(changed > 150 * 25);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

static void another_plan_key_or_nonce_differs(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	struct dealbox_plan plan = plan_of(BY_CARD);
	struct dealbox_identity key = identity(fixture);
	uint8_t other[DEALBOX_NONCE_SIZE];

	(void)state;
	/* two cards in each other's pocket */
	plan.pocket[0] = 1;
	plan.pocket[1] = 0;
	assert_int_equal(verify_with(fixture, &attestation, nonce, &plan, trace), DIFFERENT);
	plan = plan_of(BY_CARD);
	plan.mode = BY_POSITION;
	assert_int_equal(verify_with(fixture, &attestation, nonce, &plan, trace), DIFFERENT);
	plan = plan_of(BY_CARD);
	plan.entries = 255;
	assert_int_equal(verify_with(fixture, &attestation, nonce, &plan, trace), DIFFERENT);
	assert_string_equal(why, "the plan is empty");
	plan.entries = 0;
	assert_int_equal(verify_with(fixture, &attestation, nonce, &plan, trace), DIFFERENT);
	assert_string_equal(why, "the plan is empty");
	plan.entries = DEALBOX_MAX_ENTRIES;
	assert_int_equal(verify_with(fixture, &attestation, nonce, &plan, trace), DIFFERENT);
	assert_string_equal(why, "the machine had another plan, or another nonce");
	plan = plan_of(BY_CARD);
	memcpy(other, nonce, sizeof(other));
	other[31] ^= 1;
	assert_int_equal(verify_with(fixture, &attestation, other, &plan, trace), DIFFERENT);
	key.public_key[0] ^= 1;
	assert_int_equal(dealbox_attestation_verify(&attestation, key.public_key, nonce, &plan,
						    trace, NULL), DIFFERENT);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* A host-routed machine does not know the plan; the number in its events is that of the plan. */
static void another_plan_of_a_routed_deal_differs(void **state)
{
	struct fixture *fixture = bench_done(ROUTED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	struct dealbox_plan plan = plan_of(BY_CARD);

	(void)state;
	assert_int_equal(verify_with(fixture, &attestation, nonce, &plan, trace), PROVEN);
	plan.plan_id++;
	assert_int_equal(verify_with(fixture, &attestation, nonce, &plan, trace), DIFFERENT);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* The first board's attestation is shown for the second, which had the same plan and cards. */
static void an_old_attestation_is_not_proven(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation first = attested(fixture, 1), second;
	struct dealbox_trace *trace, *renamed;
	struct dealbox_event event;

	(void)state;
	machine_remove(fixture->m, true);
	bench_deal(fixture, BY_CARD);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	/* the same nonce again, which a host must not do: no digest is the same */
	second = attested(fixture, 2);
	trace = trace_of(fixture, 2);
	assert_int_equal(verify(fixture, &second, BY_CARD, trace), PROVEN);
	assert_int_equal(verify(fixture, &first, BY_CARD, trace), DIFFERENT);
	assert_memory_not_equal(first.statement + 64, second.statement + 64, 32);
	/* the host calls its trace that of the first board */
	renamed = dealbox_trace_new(1);
	for (size_t i = 0; i < dealbox_trace_count(trace); i++) {
		event = *dealbox_trace_get(trace, i);
		if (event.insertion != 2)
			continue;
		event.insertion = 1;
		dealbox_trace_add(renamed, &event);
	}
	assert_int_equal(verify(fixture, &first, BY_CARD, renamed), DIFFERENT);
	dealbox_trace_free(renamed);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* Whichever event of the deal is lost, and whoever lost it. */
static void a_lost_event_cannot_be_compared(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	unsigned int first = 0;

	(void)state;
	while (fixture->events[first].type != DEALBOX_EV_DEAL_STARTED)
		first++;
	for (unsigned int i = first; i < fixture->count; i++) {
		struct dealbox_trace *trace = trace_without(fixture, 1, i, 1);

		/* the last one is ATTESTED, behind the deal */
		assert_int_equal(verify(fixture, &attestation, BY_CARD, trace),
				 i == fixture->count - 1 ? PROVEN : INCOMPARABLE);
		dealbox_trace_free(trace);
	}
	fixture_free(fixture);
}

/* As in a file of events that was cut. */
static void a_trace_without_the_whole_deal_cannot_be_compared(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace;
	unsigned int first = 0, last, i;
	struct wire_event event;

	(void)state;
	while (fixture->events[first].type != DEALBOX_EV_DEAL_STARTED)
		first++;
	last = first + events_of_deal(fixture) - 1;
	for (i = 0; i < 2; i++) {
		trace = trace_without(fixture, 1, i ? last : first, i ? 100 : 1);
		assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
		assert_string_equal(why, "the trace has no deal that ended");
		dealbox_trace_free(trace);
	}
	/* a key of another board is no part of the trace */
	for (i = first + 1; i < last; i++) {
		event = fixture->events[i];
		fixture->events[i].type = DEALBOX_EV_KEY;
		fixture->events[i].insertion = 9;
		trace = trace_of(fixture, 1);
		assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
		assert_string_equal(why, "an event of the deal is missing in the trace");
		dealbox_trace_free(trace);
		fixture->events[i] = event;
	}
	/* what came before the deal does not matter */
	trace = trace_without(fixture, 1, 0, first);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* Wipe everything that was hashed: it shows cards. */
static void what_was_hashed_is_wiped(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	const size_t digest = 1 + WIRE_HASH_SIZE;

	(void)state;
	wiped = 0;
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
	assert_int_equal(wiped, 2 * (digest + WIRE_HASH_SIZE) + WIRE_EVENT_SIZE +
					sizeof(crypto_generichash_state) + WIRE_PLAN_MAX +
					sizeof(struct wire_plan));
	sodium_fails = true;
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
	assert_string_equal(why, "libsodium cannot be used");
	sodium_fails = false;
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

static void what_the_machine_sends_amiss_cannot_be_compared(void **state)
{
	static const char *const rules[] = {
		"on event CARD_ROUTED position 9: unknown",
		"on event CARD_ROUTED position 9: drop",
		"on event CARD_ROUTED position 9: duplicate",
		/* fields that the host rejects */
		"on event CARD_ROUTED position 9: set 17 c8",
		"on event CARD_ROUTED position 9: set 18 07",
		/* an event of the deal names another insertion */
		"on event CARD_ROUTED position 9: set 12 63",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct fixture *fixture = bench_done(STORED, BY_CARD, rules[i]);

		assert_int_equal(verify_all(fixture, BY_CARD), INCOMPARABLE);
		fixture_free(fixture);
	}
}

/* An event that was changed on its way, into another one that could be. */
static void an_event_changed_on_its_way_differs(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD,
					     "on event CARD_ROUTED position 9: set 18 02");

	(void)state;
	assert_int_equal(verify_all(fixture, BY_CARD), DIFFERENT);
	fixture_free(fixture);
}

/* Reserved bytes and unknown flags are not part of the digest. */
static void reserved_bytes_of_events_do_not_matter(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD,
					     "on event CARD_ROUTED position 9: set 1 fcffff");

	(void)state;
	assert_int_equal(verify_all(fixture, BY_CARD), PROVEN);
	fixture_free(fixture);
}

/* The host has the attestation already when the stop comes. */
static void a_stop_behind_the_deal_cannot_be_compared(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace;

	(void)state;
	machine_break(fixture->m, 3, false);
	trace = trace_of(fixture, 1);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
	dealbox_trace_free(trace);
	/* the machine signs nothing any more */
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_STATE);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), DEALBOX_ERR_OK);
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_WRONG_INSERTION);
	fixture_free(fixture);
}

/* A capture that runs behind the one that ended may put another card in. */
static void a_deal_behind_the_deal_cannot_be_compared(void **state)
{
	struct fixture *fixture = bench_done(STORED, CAPTURE, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace;

	(void)state;
	fixture_cards(fixture, 3);
	assert_int_equal(fixture_start(fixture, CAPTURE), DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_DEAL_STARTED);
	trace = trace_of(fixture, 1);
	assert_int_equal(verify(fixture, &attestation, CAPTURE, trace), INCOMPARABLE);
	dealbox_trace_free(trace);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	trace = trace_of(fixture, 1);
	assert_int_equal(verify(fixture, &attestation, CAPTURE, trace), DIFFERENT);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* A machine that signs before its deal is done has signed something else. */
static void a_machine_that_signs_too_early_is_not_proven(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	unsigned int count = events_of_deal(fixture);
	struct dealbox_attestation early = sign_events(fixture, count - 1);
	struct dealbox_attestation right = sign_events(fixture, count);
	struct dealbox_trace *trace = trace_of(fixture, 1);

	(void)state;
	assert_int_equal(verify(fixture, &early, BY_CARD, trace), DIFFERENT);
	assert_int_equal(verify(fixture, &right, BY_CARD, trace), PROVEN);
	dealbox_trace_free(trace);
	/* before the end, the trace has no deal to compare */
	trace = trace_without(fixture, 1, fixture->count - 1, 1);
	assert_int_equal(verify(fixture, &early, BY_CARD, trace), INCOMPARABLE);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* A machine that was given this plan, and says in its events that it dealt another. */
static void a_machine_that_dealt_another_plan_differs(void **state)
{
	static const uint8_t types[] = { DEALBOX_EV_DEAL_STARTED, DEALBOX_EV_DEAL_DONE };

	(void)state;
	for (size_t n = 0; n < sizeof(types); n++) {
		struct fixture *fixture = bench_done(STORED, BY_CARD, "");
		struct dealbox_attestation attestation;
		struct dealbox_trace *trace;
		unsigned int i = 0;

		while (fixture->events[i].type != types[n])
			i++;
		fixture->events[i].code++;
		attestation = sign_events(fixture, events_of_deal(fixture));
		trace = trace_of(fixture, 1);
		assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), DIFFERENT);
		dealbox_trace_free(trace);
		fixture_free(fixture);
	}
}

/* A well signed statement with another magic, key id, insertion or number of events. */
static void a_statement_that_says_something_else_differs(void **state)
{
	static const size_t places[] = { 0, 8, 20, 24 };
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct dealbox_attestation other = attestation;

		other.statement[places[i]] ^= 0x40;
		sign_again(&other);
		assert_int_equal(verify(fixture, &other, BY_CARD, trace), DIFFERENT);
	}
	/* the counter is for those who have all attestations */
	attestation.statement[16]++;
	sign_again(&attestation);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
	dealbox_trace_free(trace);
	/* of another insertion, it differs also where events are missing */
	trace = trace_without(fixture, 1, fixture->count - 20, 1);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
	attestation.statement[20]++;
	sign_again(&attestation);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), DIFFERENT);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* The deal is that of the last end in the trace, whoever put it there. */
static void a_second_end_cannot_be_compared(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	struct dealbox_event end;
	size_t i;

	(void)state;
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
	for (i = 0; dealbox_trace_get(trace, i)->type != DEALBOX_EV_DEAL_DONE; i++)
		;
	end = *dealbox_trace_get(trace, i);
	i = dealbox_trace_count(trace) - 1;
	end.seqno = dealbox_trace_get(trace, i)->seqno + 1;
	end.machine_seq = dealbox_trace_get(trace, i)->machine_seq + 1;
	end.counts[0]++;
	assert_int_equal(dealbox_trace_add(trace, &end), 1);
	/* ATTESTED lies within it */
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* An event that the host does not know may have been a stop. */
static void what_comes_behind_the_deal_cannot_be_compared(void **state)
{
	struct fixture *fixture;
	struct dealbox_attestation attestation;
	struct dealbox_trace *trace;
	unsigned int n;

	(void)state;
	for (n = 0; n < 5; n++) {
		fixture = bench_done(STORED, BY_CARD, "");
		attestation = attested(fixture, 1);
		if (n == 3) {
			/* the machine begins anew, with the board in it */
			machine_configure(fixture->m);
		} else {
			machine_break(fixture->m, 3, false);
			machine_remove(fixture->m, true);
		}
		fixture_collect(fixture);
		if (n == 1)
			fixture->events[fixture->count - 2].type = 0x1b; /* of a later version */
		if (n == 2)
			fixture->events[fixture->count - 2].card = 200;	/* rejected */
		if (n == 4)
			fixture->events[fixture->count - 2].type = DEALBOX_EV_ABORTED;
		trace = trace_without(fixture, 1, fixture->count - 2, n == 0);
		assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
		if (n == 4)
			assert_string_equal(why, "the machine stopped, or dealt on, behind the end "
						 "of the deal");
		dealbox_trace_free(trace);
		fixture_free(fixture);
	}
	/* when the board is out, the deal is not concerned any more */
	fixture = bench_done(STORED, BY_CARD, "");
	attestation = attested(fixture, 1);
	machine_remove(fixture->m, true);
	machine_break(fixture->m, 3, false);
	fixture_collect(fixture);
	machine_configure(fixture->m);
	trace = trace_of(fixture, 1);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), PROVEN);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* Bytes without a meaning are zero in the hash, whatever was sent. */
static void a_hash_ignores_what_has_no_meaning(void **state)
{
	uint8_t plain[WIRE_EVENT_SIZE] = { DEALBOX_EV_CARD_READ, 1 }, full[WIRE_EVENT_SIZE];
	uint8_t seed[MACHINE_KEY_SIZE] = { 1 };
	struct attest_deal deal = { 0 };
	struct attestation a, b;
	struct attest_key key;

	(void)state;
	memcpy(full, plain, sizeof(full));
	full[1] |= 0xfc;
	full[2] = 0xff;
	full[3] = 0xff;
	attest_key_make(&key, seed);
	attest_begin(&deal, 1, NULL);
	attest_event(&deal, plain);
	attest_make(&a, &deal, &key, 1, nonce);
	attest_begin(&deal, 1, NULL);
	attest_event(&deal, full);
	attest_make(&b, &deal, &key, 1, nonce);
	assert_memory_equal(&a, &b, sizeof(a));
}

/* ATTESTED in mid-deal, which §5.3 forbids. */
static void an_attestation_within_a_deal_cannot_be_compared(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	unsigned int i;
	struct dealbox_trace *trace;

	(void)state;
	for (i = 0; fixture->events[i].type != DEALBOX_EV_CARD_READ; i++)
		;
	fixture->events[i].type = DEALBOX_EV_ATTESTED;
	trace = trace_of(fixture, 1);
	assert_int_equal(verify(fixture, &attestation, BY_CARD, trace), INCOMPARABLE);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* A statement of a later version is signed well, and says something that we do not know. */
static void a_later_version_cannot_be_compared(void **state)
{
	static const size_t places[] = { 5, 6, 7, 28, 31 };
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	struct dealbox_statement statement;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct dealbox_attestation later = attestation;

		later.statement[places[i]] |= 0x80;
		sign_again(&later);
		assert_int_equal(verify(fixture, &later, BY_CARD, trace), INCOMPARABLE);
		assert_int_equal(dealbox_attestation_read(&later, &statement), -EINVAL);
	}
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* Something else that was signed with the same key. */
static void what_is_no_statement_is_not_read(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation other = attested(fixture, 1);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	struct dealbox_statement statement;

	(void)state;
	other.statement[0] ^= 1;
	sign_again(&other);
	assert_int_equal(dealbox_attestation_read(&other, &statement), -EINVAL);
	assert_int_equal(verify(fixture, &other, BY_CARD, trace), DIFFERENT);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* Whoever only counts statements must know that the machine has made them. */
static void a_statement_is_signed_by_one_key_only(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	const struct dealbox_attestation good = attested(fixture, 1);
	struct dealbox_identity key = identity(fixture);
	struct dealbox_attestation other = good;

	(void)state;
	assert_true(dealbox_attestation_signed(&good, key.public_key));
	other.signature[40] ^= 1;
	assert_false(dealbox_attestation_signed(&other, key.public_key));
	other = good;
	other.statement[16] ^= 1;
	assert_false(dealbox_attestation_signed(&other, key.public_key));
	sign_again(&other);
	assert_true(dealbox_attestation_signed(&other, key.public_key));
	for (size_t place = 0; place < 16; place++) {
		/* magic, version, flags, reserved byte, key id */
		const bool said = place >= 4 && place < 8;

		other = good;
		other.statement[place] ^= 0x80;
		sign_again(&other);
		assert_int_equal(dealbox_attestation_signed(&other, key.public_key), said);
	}
	key.public_key[3] ^= 1;
	assert_false(dealbox_attestation_signed(&good, key.public_key));
	fixture_free(fixture);
}

/* The digests tell nothing without the nonce: they are not those of an unkeyed or guessed one. */
static void digests_tell_nothing_without_the_nonce(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation first = attested(fixture, 1), second;
	struct dealbox_plan plan = plan_of(BY_CARD);
	struct dealbox_trace *trace = trace_of(fixture, 1);
	uint8_t other[DEALBOX_NONCE_SIZE] = { 1 }, none[DEALBOX_NONCE_SIZE] = { 0 };

	(void)state;
	assert_int_equal(verify_with(fixture, &first, none, &plan, trace), DIFFERENT);
	assert_int_equal(ask_with(fixture, 1, other, NULL), DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_ATTESTED);
	assert_true(fetch(fixture, &second));
	/* the same plan, the same events: nothing is equal */
	assert_memory_not_equal(first.statement + 32, second.statement + 32, 32);
	assert_memory_not_equal(first.statement + 64, second.statement + 64, 32);
	assert_int_equal(verify_with(fixture, &second, other, &plan, trace), PROVEN);
	assert_int_equal(verify_with(fixture, &second, nonce, &plan, trace), DIFFERENT);
	dealbox_trace_free(trace);
	fixture_free(fixture);
}

/* --- what the machine refuses ---------------------------------------------------------------- */

static void attest_is_refused_as_the_page_says(void **state)
{
	static const uint8_t none[DEALBOX_NONCE_SIZE];
	struct fixture *fixture = bench_config(STORED, "");
	struct dealbox_attestation attestation;
	uint8_t buf[WIRE_ATTEST_SIZE] = { 0 };
	struct wire_command cmd = { .sequence = 5000, .b = 1 };
	uint32_t detail;

	(void)state;
	/* no deal yet; then in mid-deal */
	assert_int_equal(ask_with(fixture, 1, nonce, &detail), DEALBOX_ERR_WRONG_INSERTION);
	assert_int_equal(detail, 0);
	assert_false(fetch(fixture, &attestation));
	bench_deal(fixture, BY_CARD);
	assert_int_equal(ask_with(fixture, 1, nonce, &detail), DEALBOX_ERR_STATE);
	assert_int_equal(detail, DEALBOX_STATE_DEALING);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(ask_with(fixture, 2, nonce, &detail), DEALBOX_ERR_WRONG_INSERTION);
	assert_int_equal(detail, 1);
	/* fields */
	assert_int_equal(ask_with(fixture, 0, nonce, &detail), DEALBOX_ERR_BAD_VALUE);
	assert_int_equal(detail, 2);
	assert_int_equal(ask_with(fixture, 1, none, &detail), DEALBOX_ERR_BAD_VALUE);
	assert_int_equal(detail, 5);
	/* a data stage of 16 bytes, or a byte too few or too many */
	dealbox_encode_command(buf, &cmd);
	memcpy(buf + WIRE_COMMAND_SIZE, nonce, sizeof(nonce));
	for (size_t size = WIRE_COMMAND_SIZE; size < sizeof(buf); size += 31) {
		buf[0]++;
		assert_false(machine_command(fixture->m, WIRE_ATTEST, 0, buf, size));
		assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_LENGTH);
		assert_int_equal(fixture_result(fixture).detail, size);
	}
	/* other commands do not become longer */
	buf[0]++;
	assert_false(machine_command(fixture->m, DEALBOX_OP_PAUSE, 0, buf, sizeof(buf)));
	assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_LENGTH);
	fixture_free(fixture);
}

static void a_machine_without_a_key_has_none_of_it(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	uint8_t buf[MACHINE_ANSWER_MAX];

	(void)state;
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_UNSUPPORTED);
	for (uint8_t request = WIRE_GET_IDENTITY; request <= WIRE_GET_SIGNATURE; request++)
		assert_int_equal(machine_query(fixture->m, request, 0, buf), 0);
	fixture_free(fixture);
}

/* ATTESTED comes when no stop of the deal can come any more; no deal begins in between. */
static void a_machine_waits_until_no_stop_can_come(void **state)
{
	struct fixture *fixture = bench_done(STORED, CAPTURE, "");
	uint64_t done_at = fixture->now;
	struct dealbox_attestation attestation;

	(void)state;
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_OK);
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_STATE);
	fixture_cards(fixture, 3);
	assert_int_equal(fixture_start(fixture, CAPTURE), DEALBOX_ERR_STATE);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_TEST_DEAL, 0, 1, 3, NULL),
			 DEALBOX_ERR_STATE);
	assert_false(fetch(fixture, &attestation));
	fixture_until(fixture, DEALBOX_EV_ATTESTED);
	assert_true(fixture->now >= done_at + 300000);
	assert_true(fixture->now <= done_at + 5000000);
	assert_int_equal(fixture_start(fixture, CAPTURE), DEALBOX_ERR_OK);
	/* the attestation stays; the deal that runs cannot be attested */
	assert_true(fetch(fixture, &attestation));
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_true(fetch(fixture, &attestation));
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_OK);
	assert_false(fetch(fixture, &attestation));
	fixture_free(fixture);
}

static void a_frozen_machine_attests_nothing(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");

	(void)state;
	machine_freeze(fixture->m, true);
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_OK);
	fixture_pass(fixture, 6000000);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_ATTESTED), 0);
	machine_freeze(fixture->m, false);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_ATTESTED)->arg[0], DEALBOX_ERR_OK);
	fixture_free(fixture);
}

static void a_stop_while_it_signs_ends_without_a_statement(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation;
	const struct wire_event *event;

	(void)state;
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_OK);
	machine_break(fixture->m, 3, false);
	event = fixture_until(fixture, DEALBOX_EV_ATTESTED);
	assert_int_equal(event->code, 0);
	assert_int_equal(event->arg[0], DEALBOX_ERR_STATE);
	assert_int_equal(event->arg[1], 1);
	assert_false(fetch(fixture, &attestation));
	fixture_pass(fixture, 6000000);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_ATTESTED), 1);
	assert_int_equal(identity(fixture).counter, 0);
	fixture_free(fixture);
}

/* No attestation of a deal that was aborted, stopped, or without a plan. */
static void only_deals_that_ended_are_attested(void **state)
{
	static const char *const rules[] = {
		"on feed position 9: double-feed", "on gate position 9: wrong-pocket",
		"on gate position 9: jam gate",
	};
	struct fixture *fixture;

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		fixture = bench(STORED, BY_CARD, rules[i]);
		fixture_pass(fixture, 20000000);
		assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_FAULT);
		assert_int_equal(ask(fixture, 1), DEALBOX_ERR_STATE);
		machine_clear_path(fixture->m);
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), DEALBOX_ERR_OK);
		assert_int_equal(ask(fixture, 1), DEALBOX_ERR_WRONG_INSERTION);
		fixture_free(fixture);
	}
	fixture = bench(STORED, BY_CARD, "");
	fixture_until(fixture, DEALBOX_EV_CARD_LANDED);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_ABORT), DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_ABORTED);
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_WRONG_INSERTION);
	machine_remove(fixture->m, true);
	fixture_insert(fixture);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_TEST_DEAL, 0, 2, 3, NULL),
			 DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(ask(fixture, 2), DEALBOX_ERR_WRONG_INSERTION);
	fixture_free(fixture);
}

/* After a reset there is neither a deal nor an attestation, and none comes. */
static void configuration_forgets_deal_and_attestation(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");
	struct dealbox_attestation attestation = attested(fixture, 1);

	(void)state;
	machine_configure(fixture->m);
	assert_false(fetch(fixture, &attestation));
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_WRONG_INSERTION);
	machine_remove(fixture->m, true);
	bench_deal(fixture, BY_CARD);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(ask(fixture, 2), DEALBOX_ERR_OK);
	machine_reset_firmware(fixture->m);
	fixture_pass(fixture, 6000000);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_ATTESTED), 1);
	assert_int_equal(identity(fixture).counter, 1);
	fixture_free(fixture);
}

/* The counter goes on over the machine's life, and is stored before the statement is there. */
static uint32_t counter_saved;
static struct fixture *counter_of;

static void save_counter(void *context, const struct machine_memory *memory)
{
	struct dealbox_attestation attestation;

	(void)context;
	counter_saved = memory->attestations;
	if (counter_of && counter_saved)
		assert_false(fetch(counter_of, &attestation));
}

static void the_counter_counts_over_a_life(void **state)
{
	struct machine_config config = fixture_config(STORED);
	struct machine_memory memory = { .insertion = 7, .attestations = UINT32_MAX - 1 };
	struct fixture fixture = { .now = 1 };
	uint8_t other[DEALBOX_NONCE_SIZE] = { 9 };
	struct dealbox_attestation attestation;
	struct dealbox_statement statement;

	(void)state;
	config.desc.capabilities |= DEALBOX_CAP_ATTEST;
	config.save = save_counter;
	config.context = &fixture;
	fixture.m = machine_new(&config, &memory, fixture.now);
	counter_of = &fixture;
	machine_configure(fixture.m);
	assert_int_equal(identity(&fixture).counter, UINT32_MAX - 1);
	bench_deal(&fixture, BY_CARD);
	fixture_until(&fixture, DEALBOX_EV_DEAL_DONE);
	attestation = attested(&fixture, 8);
	counter_of = NULL;
	assert_int_equal(counter_saved, UINT32_MAX);
	assert_int_equal(dealbox_attestation_read(&attestation, &statement), 0);
	assert_int_equal(statement.counter, UINT32_MAX);
	/* it does not wrap */
	assert_int_equal(ask_with(&fixture, 8, other, NULL), DEALBOX_ERR_HARDWARE);
	machine_free(fixture.m);
}

/* The same command again asks for nothing new. */
static void a_repeated_command_attests_once(void **state)
{
	struct fixture *fixture = bench_done(STORED, BY_CARD, "");

	(void)state;
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_OK);
	fixture->sequence--;
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_OK);
	fixture_until(fixture, DEALBOX_EV_ATTESTED);
	fixture->sequence--;
	assert_int_equal(ask(fixture, 1), DEALBOX_ERR_OK);
	fixture_pass(fixture, 6000000);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_ATTESTED), 1);
	assert_int_equal(identity(fixture).counter, 1);
	fixture_free(fixture);
}

static void results_have_names(void **state)
{
	(void)state;
	assert_string_equal(dealbox_attested_name(PROVEN), "proven");
	assert_string_equal(dealbox_attested_name(DIFFERENT), "differs");
	assert_string_equal(dealbox_attested_name(INCOMPARABLE), "cannot compare");
	assert_string_equal(dealbox_attested_name(3), "?");
	/* a variable that nobody has set proves nothing */
	assert_int_equal(INCOMPARABLE, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deals_of_every_mode_and_kind_are_proven),
		cmocka_unit_test(a_deal_with_stops_and_pauses_is_proven),
		cmocka_unit_test(the_last_of_several_captures_is_proven),
		cmocka_unit_test(a_board_that_was_taken_out_is_proven),
		cmocka_unit_test(a_changed_attestation_is_not_proven),
		cmocka_unit_test(the_plan_alone_is_compared),
		cmocka_unit_test(a_routed_deal_has_no_plan_to_compare),
		cmocka_unit_test(a_changed_event_is_not_proven),
		cmocka_unit_test(another_plan_key_or_nonce_differs),
		cmocka_unit_test(another_plan_of_a_routed_deal_differs),
		cmocka_unit_test(an_old_attestation_is_not_proven),
		cmocka_unit_test(a_lost_event_cannot_be_compared),
		cmocka_unit_test(a_trace_without_the_whole_deal_cannot_be_compared),
		cmocka_unit_test(what_was_hashed_is_wiped),
		cmocka_unit_test(what_the_machine_sends_amiss_cannot_be_compared),
		cmocka_unit_test(an_event_changed_on_its_way_differs),
		cmocka_unit_test(reserved_bytes_of_events_do_not_matter),
		cmocka_unit_test(a_stop_behind_the_deal_cannot_be_compared),
		cmocka_unit_test(a_deal_behind_the_deal_cannot_be_compared),
		cmocka_unit_test(a_machine_that_signs_too_early_is_not_proven),
		cmocka_unit_test(a_machine_that_dealt_another_plan_differs),
		cmocka_unit_test(a_statement_that_says_something_else_differs),
		cmocka_unit_test(a_second_end_cannot_be_compared),
		cmocka_unit_test(what_comes_behind_the_deal_cannot_be_compared),
		cmocka_unit_test(a_hash_ignores_what_has_no_meaning),
		cmocka_unit_test(an_attestation_within_a_deal_cannot_be_compared),
		cmocka_unit_test(a_later_version_cannot_be_compared),
		cmocka_unit_test(what_is_no_statement_is_not_read),
		cmocka_unit_test(a_statement_is_signed_by_one_key_only),
		cmocka_unit_test(digests_tell_nothing_without_the_nonce),
		cmocka_unit_test(attest_is_refused_as_the_page_says),
		cmocka_unit_test(a_machine_without_a_key_has_none_of_it),
		cmocka_unit_test(a_machine_waits_until_no_stop_can_come),
		cmocka_unit_test(a_frozen_machine_attests_nothing),
		cmocka_unit_test(a_stop_while_it_signs_ends_without_a_statement),
		cmocka_unit_test(only_deals_that_ended_are_attested),
		cmocka_unit_test(configuration_forgets_deal_and_attestation),
		cmocka_unit_test(the_counter_counts_over_a_life),
		cmocka_unit_test(a_repeated_command_attests_once),
		cmocka_unit_test(results_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
