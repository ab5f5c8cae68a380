// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The worked deals of docs/protocol.md must agree with the encoder and the router.
 *
 * usage: test_protocol_page docs/protocol.md     compares
 *        test_protocol_page --print              prints what the page must contain
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "attest.h"
#include "router.h"
#include "machine_wire.h"

#define VERSION		0x0100	/* nothing in these deals differs in 1.1 */
#define PLAN		7
#define INSERTION	1001
#define CLOCK		1000000		/* µs; the machine's clock at the beginning */

/* --- the story: text that grows ------------------------------------------------- */

struct story {
	FILE *out;
	bool routed;
	u32 event;		/* number of the last event */
	u32 clock;
	u32 sequence;		/* of the last command */
	u32 insertion;		/* 0 = no board */
	struct router router;
	struct attest_deal *attested;	/* NULL, or what the machine keeps of the deal */
};

static void say(const struct story *s, const char *text)
{
	fprintf(s->out, "; %s\n", text);
}

/* Writes hex, 16 bytes a line; later lines are indented under the first. */
static void transfer(const struct story *s, const char *direction, const char *pipe,
		     const u8 *bytes, size_t size)
{
	fprintf(s->out, "%s %-7s", direction, pipe);
	for (size_t i = 0; i < size; i++)
		fprintf(s->out, "%s%02x", i && i % 16 == 0 ? "\n           " : " ", bytes[i]);
	fputc('\n', s->out);
}

static void setup(struct story *s, u8 type, u8 request, u16 value, u16 length)
{
	u8 packet[8] = { type, request, value & 0xff, value >> 8, 0, 0, length & 0xff,
			 length >> 8 };

	transfer(s, ">", "setup", packet, sizeof(packet));
}

static void query(struct story *s, u8 request, const u8 *answer, u16 length)
{
	setup(s, WIRE_REQ_IN, request, 0, length);
	transfer(s, "<", "data", answer, length);
}

static void command(struct story *s, u8 request, u32 a, u32 b, u32 c, bool refused)
{
	struct wire_command command = { .sequence = ++s->sequence, .a = a, .b = b, .c = c };
	u8 bytes[WIRE_COMMAND_SIZE];

	dealbox_encode_command(bytes, &command);
	setup(s, WIRE_REQ_OUT, request, 0, WIRE_COMMAND_SIZE);
	transfer(s, ">", "data", bytes, sizeof(bytes));
	fprintf(s->out, "< %s\n", refused ? "stall" : "done");
}

static struct wire_event event(u8 type)
{
	return (struct wire_event) {
		.type = type, .position = DEALBOX_NONE, .card = DEALBOX_NONE,
		.pocket = DEALBOX_NONE, .quality = DEALBOX_NONE,
	};
}

/* Writes an event of the machine; on a host-routed machine, with the answer of the host. */
static void send_event(struct story *s, struct wire_event e, u32 after_us)
{
	u8 bytes[WIRE_EVENT_SIZE], answer[WIRE_GATE_SIZE];
	struct wire_gate gate;

	s->clock += after_us;
	e.number = ++s->event;
	e.clock_us = s->clock;
	e.insertion = s->insertion;
	wire_event_put(bytes, &e);
	transfer(s, "<", "int in", bytes, sizeof(bytes));
	if (s->attested)
		attest_event(s->attested, bytes);
	if (s->routed && dealbox_router_event(&s->router, &e, &gate)) {
		dealbox_encode_gate(answer, &gate);
		transfer(s, ">", "int out", answer, sizeof(answer));
	}
}

static void send_card(struct story *s, u8 type, u8 position, u8 card, u8 pocket)
{
	struct wire_event e = event(type);

	e.position = position;
	e.card = card;
	if (type == DEALBOX_EV_CARD_READ || type == DEALBOX_EV_NOT_IN_PLAN) {
		e.quality = 98;
		e.code = 0x5100 + card;
	} else {
		e.pocket = pocket;
	}
	send_event(s, e, 30000);
}

static void status(struct story *s, u8 state, u32 plan_id, u8 flags, u8 total, u8 done)
{
	struct wire_status status = {
		.state = state, .flags = flags, .cards_total = total, .plan_id = plan_id,
		.insertion = s->insertion, .board = s->insertion ? 3 : 0, .cards_done = done,
		.next_event = s->event + 1, .clock_us = s->clock,
	};
	u8 bytes[WIRE_STATUS_SIZE];

	for (int i = 0; i < 4; i++)
		status.counts[i] = done / 4;
	wire_status_put(bytes, &status);
	query(s, WIRE_GET_STATUS, bytes, sizeof(bytes));
}

static struct wire_plan four_cards(void)
{
	struct wire_plan plan = { .plan_id = PLAN, .mode = DEALBOX_PLAN_BY_CARD, .entries = 4,
				  .pocket = { 0, 1, 2, 3 } };

	dealbox_count_plan(&plan);
	return plan;
}

/* --- the common part of both kinds ------------------------------------------------- */

static void begin(struct story *s)
{
	struct wire_descriptor machine = {
		.reader = DEALBOX_READER_BARCODE, .version = VERSION, .pockets = 4,
		.pocket_capacity = 20, .hopper = 60, .plan_entries = 54,
		.capabilities = DEALBOX_CAP_EXIT_SENSORS | DEALBOX_CAP_BOARD_READER |
				DEALBOX_CAP_KEYS | DEALBOX_CAP_BY_CARD | DEALBOX_CAP_BY_POSITION |
				(s->routed ? DEALBOX_CAP_HOST_ROUTED : DEALBOX_CAP_STORED_PLAN),
		.gate_deadline_us = s->routed ? 20000 : 0,
	};
	struct wire_info info = { .version = VERSION, .firmware = 0x01020003, .hardware = 2,
				  .name = "Example" };
	struct wire_result none = { 0 };
	struct wire_event e;
	u8 bytes[64];

	say(s, "the machine descriptor, as the host finds it behind the interface descriptor");
	wire_descriptor_put(bytes, &machine);
	transfer(s, "<", "class", bytes, WIRE_DESC_SIZE);
	say(s, "configured: STATE_LOST, first after power-on; cards are in the hopper");
	e = event(DEALBOX_EV_STATE_LOST);
	e.code = DEALBOX_LOST_POWER_ON;
	send_event(s, e, 0);
	send_event(s, event(DEALBOX_EV_HOPPER_LOADED), 0);
	say(s, "GET_INFO");
	wire_info_put(bytes, &info);
	query(s, WIRE_GET_INFO, bytes, WIRE_INFO_SIZE);
	say(s, "GET_RESULT: no command yet, so the host may begin with any sequence number");
	wire_result_put(bytes, &none);
	query(s, WIRE_GET_RESULT, bytes, WIRE_RESULT_SIZE);
	say(s, "board number 3 is put in; it becomes insertion 1001");
	s->insertion = INSERTION;
	e = event(DEALBOX_EV_BOARD_INSERTED);
	e.arg[0] = 3;
	send_event(s, e, 4000000);
}

static void started(struct story *s)
{
	struct wire_event e = event(DEALBOX_EV_DEAL_STARTED);

	e.code = PLAN;
	e.arg[0] = 4;
	send_event(s, e, 1000);
}

static void done(struct story *s)
{
	struct wire_event e = event(DEALBOX_EV_DEAL_DONE);

	say(s, "DEAL_DONE: four cards, one in each pocket");
	e.code = PLAN;
	e.position = 4;
	e.arg[0] = 0x01010101;
	send_event(s, e, 1000);
}

/* --- the deals --------------------------------------------------------------- */

/* To the end of the deal. deal is NULL, or is set to what the machine keeps of it. */
static void stored_to_done(struct story *s, struct attest_deal *deal)
{
	struct wire_plan plan = four_cards();
	u8 block[WIRE_PLAN_MAX], hash[WIRE_HASH_SIZE];
	struct wire_event e;
	size_t size;

	begin(s);
	say(s, "LOAD: plan 7, 40 bytes; then the block, in one bulk transfer");
	size = dealbox_encode_plan(block, &plan);
	command(s, WIRE_LOAD, PLAN, size, 0, false);
	transfer(s, ">", "bulk", block, size);
	say(s, "PLAN_LOADED, accepted");
	e = event(DEALBOX_EV_PLAN_LOADED);
	e.code = PLAN;
	send_event(s, e, 2000);
	say(s, "START: plan 7, insertion 1001");
	command(s, DEALBOX_OP_START, PLAN, INSERTION, 0, false);
	if (deal) {
		attest_plan(hash, block, size);
		attest_begin(deal, INSERTION, hash);
	}
	s->attested = deal;
	started(s);
	say(s, "spade queen, then spade ace: the ace is read before the queen has landed");
	send_card(s, DEALBOX_EV_CARD_READ, 0, 2, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 0, 2, 2);
	send_card(s, DEALBOX_EV_CARD_READ, 1, 0, 0);
	send_card(s, DEALBOX_EV_CARD_LANDED, 0, 2, 2);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 1, 0, 0);
	send_card(s, DEALBOX_EV_CARD_LANDED, 1, 0, 0);
	say(s, "PAUSE, and RESUME");
	command(s, DEALBOX_OP_PAUSE, 0, 0, 0, false);
	e = event(DEALBOX_EV_PAUSED);
	e.position = 2;
	e.code = DEALBOX_PAUSED_BY_HOST;
	send_event(s, e, 1000);
	command(s, DEALBOX_OP_RESUME, 0, 0, 0, false);
	e = event(DEALBOX_EV_RESUMED);
	e.position = 2;
	send_event(s, e, 1000);
	say(s, "spade jack and spade king");
	send_card(s, DEALBOX_EV_CARD_READ, 2, 3, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 2, 3, 3);
	send_card(s, DEALBOX_EV_CARD_LANDED, 2, 3, 3);
	send_card(s, DEALBOX_EV_CARD_READ, 3, 1, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 3, 1, 1);
	send_card(s, DEALBOX_EV_CARD_LANDED, 3, 1, 1);
	done(s);
	s->attested = NULL;
}

static void stored(struct story *s)
{
	struct wire_result result;
	u8 bytes[WIRE_RESULT_SIZE];

	stored_to_done(s, NULL);
	say(s, "GET_STATUS: state DONE, four of four cards");
	status(s, DEALBOX_STATE_DONE, PLAN,
	       DEALBOX_STATUS_BOARD | DEALBOX_STATUS_HOPPER | DEALBOX_STATUS_SPENT, 4, 4);
	say(s, "START again is refused; GET_RESULT says SPENT, insertion 1001");
	command(s, DEALBOX_OP_START, PLAN, INSERTION, 0, true);
	result =
		(struct wire_result){ s->sequence, DEALBOX_OP_START, DEALBOX_ERR_SPENT, INSERTION };
	wire_result_put(bytes, &result);
	query(s, WIRE_GET_RESULT, bytes, sizeof(bytes));
	say(s, "the board is taken out");
	send_event(s, event(DEALBOX_EV_BOARD_REMOVED), 3000000);
}

static void routed(struct story *s)
{
	struct wire_plan plan = four_cards();

	s->routed = true;
	begin(s);
	/* not earlier, because STATE_LOST makes the host drop it */
	dealbox_router_load(&s->router, &plan);
	say(s, "the host keeps the plan. START: plan 7, insertion 1001, four cards to feed");
	command(s, DEALBOX_OP_START, PLAN, INSERTION, plan.feed, false);
	started(s);
	say(s, "spade queen: the host answers pocket 2");
	send_card(s, DEALBOX_EV_CARD_READ, 0, 2, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 0, 2, 2);
	send_card(s, DEALBOX_EV_CARD_LANDED, 0, 2, 2);
	say(s, "a joker: the host holds it, the machine says so and is HELD");
	send_card(s, DEALBOX_EV_CARD_READ, 1, 52, 0);
	send_card(s, DEALBOX_EV_NOT_IN_PLAN, 1, 52, 0);
	say(s, "the operator takes it out; REREAD feeds the next card to the same position");
	command(s, DEALBOX_OP_REREAD, 0, 0, 0, false);
	send_card(s, DEALBOX_EV_CARD_READ, 1, 0, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 1, 0, 0);
	send_card(s, DEALBOX_EV_CARD_LANDED, 1, 0, 0);
	say(s, "spade jack and spade king");
	send_card(s, DEALBOX_EV_CARD_READ, 2, 3, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 2, 3, 3);
	send_card(s, DEALBOX_EV_CARD_LANDED, 2, 3, 3);
	send_card(s, DEALBOX_EV_CARD_READ, 3, 1, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 3, 1, 1);
	send_card(s, DEALBOX_EV_CARD_LANDED, 3, 1, 1);
	done(s);
	say(s, "the board is taken out, and put in again: another insertion, number 1002");
	send_event(s, event(DEALBOX_EV_BOARD_REMOVED), 3000000);
	s->insertion = INSERTION + 1;
	send_event(s, event(DEALBOX_EV_BOARD_INSERTED), 1000000);
	command(s, DEALBOX_OP_START, PLAN, INSERTION + 1, plan.feed, false);
	started(s);
	say(s, "spade ace; and spade ace once more: the host holds it, naming position 0");
	send_card(s, DEALBOX_EV_CARD_READ, 0, 0, 0);
	send_card(s, DEALBOX_EV_CARD_ROUTED, 0, 0, 0);
	send_card(s, DEALBOX_EV_CARD_LANDED, 0, 0, 0);
	send_card(s, DEALBOX_EV_CARD_READ, 1, 0, 0);
	say(s, "REPEATED_CARD: state FAULT, the board is void");
	struct wire_event e = event(DEALBOX_EV_REPEATED_CARD);

	e.position = 1;
	e.card = 0;
	e.quality = 98;
	e.code = 0x5100;
	send_event(s, e, 1000);
}

/* The deal of stored() again, without its text, and then its attestation. */
static void attested(struct story *s)
{
	u8 seed[crypto_sign_SEEDBYTES], bytes[WIRE_ATTEST_SIZE], *nonce = bytes + WIRE_COMMAND_SIZE;
	u8 hash[WIRE_HASH_SIZE], identity[WIRE_IDENTITY_SIZE];
	FILE *out = s->out, *nothing = fopen("/dev/null", "w");
	struct attest_deal deal;
	struct wire_command attest;
	struct attestation made;
	struct attest_key key;
	struct wire_event e;

	if (!nothing)
		abort();
	s->out = nothing;
	stored_to_done(s, &deal);
	fclose(nothing);
	s->out = out;

	for (size_t i = 0; i < sizeof(seed); i++)
		seed[i] = i;
	for (size_t i = 0; i < DEALBOX_NONCE_SIZE; i++)
		nonce[i] = 0x80 + i;
	attest_key_make(&key, seed);
	say(s, "GET_IDENTITY: EMULATED, counter 41, key id, public key");
	attest_identity(identity, &key, 41);
	query(s, WIRE_GET_IDENTITY, identity, sizeof(identity));
	say(s, "the plan hash, of the 40 bytes of the block in 9.1");
	transfer(s, " ", "hash", deal.plan, sizeof(deal.plan));
	say(s, "the event hash, of the 512 bytes of the events 05 to 14 in 9.1");
	crypto_generichash_state state = deal.hash;

	crypto_generichash_final(&state, hash, sizeof(hash));
	transfer(s, " ", "hash", hash, sizeof(hash));
	say(s, "ATTEST: insertion 1001, and the nonce");
	attest = (struct wire_command){ .sequence = ++s->sequence, .b = INSERTION };
	dealbox_encode_command(bytes, &attest);
	setup(s, WIRE_REQ_OUT, WIRE_ATTEST, 0, sizeof(bytes));
	transfer(s, ">", "data", bytes, sizeof(bytes));
	fprintf(s->out, "< done\n");
	attest_make(&made, &deal, &key, 42, nonce);
	say(s, "ATTESTED: counter 42, insertion 1001");
	e = event(DEALBOX_EV_ATTESTED);
	e.code = 42;
	e.arg[1] = INSERTION;
	send_event(s, e, 300000);
	say(s,
	    "GET_STATEMENT: magic, version, flags; key id; counter, "
	    "insertion, events; two digests");
	query(s, WIRE_GET_STATEMENT, made.statement, sizeof(made.statement));
	say(s, "GET_SIGNATURE");
	query(s, WIRE_GET_SIGNATURE, made.signature, sizeof(made.signature));
}

static char *tell(void (*deal)(struct story *s))
{
	struct story s = { .clock = CLOCK };
	size_t size;
	char *text;

	s.out = open_memstream(&text, &size);
	if (!s.out)
		abort();
	deal(&s);
	fclose(s.out);
	return text;
}

/* --- the page ---------------------------------------------------------------------- */

static const char *page_path;

#define PAGE_MAX	(1 << 20)

static char *read_page(void)
{
	FILE *file = fopen(page_path, "r");
	char *text = calloc(1, PAGE_MAX);

	if (!file || !text)
		fail_msg("%s: %s", page_path, strerror(errno));
	if (!fread(text, 1, PAGE_MAX - 1, file))
		fail_msg("%s is empty", page_path);
	fclose(file);
	return text;
}

/* The page must contain the story between ```name and ```. */
static void check_block(const char *name, void (*deal)(struct story *s))
{
	char *page = read_page(), *expected = tell(deal), fence[64], *block, *end;
	size_t line = 1;

	snprintf(fence, sizeof(fence), "\n```%s\n", name);
	block = strstr(page, fence);
	if (!block)
		fail_msg("%s has no block %s", page_path, name);
	block += strlen(fence);
	end = strstr(block, "```\n");
	if (!end)
		fail_msg("%s: the block %s does not end", page_path, name);
	*end = '\0';
	for (size_t i = 0; block[i] == expected[i] && block[i]; i++)
		line += block[i] == '\n';
	if (strcmp(block, expected))
		fail_msg("%s: the block %s is not what the encoder makes, from its line %zu on",
			 page_path, name, line);
	free(page);
	free(expected);
}

static void test_stored(void **state)
{
	(void)state;
	check_block("stored", stored);
}

static void test_routed(void **state)
{
	(void)state;
	check_block("routed", routed);
}

static void test_attested(void **state)
{
	(void)state;
	check_block("attest", attested);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stored),
		cmocka_unit_test(test_routed),
		cmocka_unit_test(test_attested),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s docs/protocol.md | --print\n", argv[0]);
		return 2;
	}
	if (!strcmp(argv[1], "--print")) {
		char *a = tell(stored), *b = tell(routed), *c = tell(attested);

		printf("```stored\n%s```\n---\n```routed\n%s```\n---\n```attest\n%s```\n", a, b, c);
		free(a);
		free(b);
		free(c);
		return 0;
	}
	page_path = argv[1];
	return cmocka_run_group_tests_name("protocol_page", tests, NULL, NULL);
}
