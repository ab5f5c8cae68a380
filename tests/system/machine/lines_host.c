// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * lines_host WIRING SEED PLAN [pause]: the core of tools/machine with mechanics on GPIO lines, and
 * a host in one process. It deals the board that comes, writes into PLAN where each card belongs,
 * and ends with the verdict of the library as its last line: "exact", "not exact", or the name of
 * the stop. Prints "ready" when the lines are open. pause: after each card that falls, so that the
 * next one rests at the reader. When the start key is pressed, the machine blinks for a second.
 *
 * lines_host WIRING SEED PLAN stored|routed BOARDS: an evening. A board that is void, or not exact,
 * is dealt again; PLAN.N is of the insertion N, of which a line says what became of it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/event.h>
#include <dealbox/verify.h>

#include "bytes.h"
#include "lines.h"
#include "mechanics.h"

#define PLAN_ID		7u
#define LATE_US 600000u /* after DEAL_DONE: a second card would have fallen by then */

enum { LOAD = 0x11, START = 0x12, PAUSE = 0x13, RESUME = 0x14, REREAD = 0x15,
       CLEAR_FAULT = 0x17, RELEASE_BOARD = 0x18, LOCATE = 0x1a };

static struct wiring wiring;
static struct core core;
static struct core_config config = {
	.capabilities = CORE_STORED_PLAN | CORE_BY_CARD, .firmware = 0x01000000,
};
static struct dealbox_plan plan;
static struct dealbox_trace *trace;
static uint32_t sequence, done_at;
static unsigned int rereads;
static const char *end;			/* why the deal ended without a verdict */
static bool done, pauses;

/* an evening */
static unsigned int boards, dealt;		/* 0 boards: it is none */
static unsigned long seed;
static const char *plan_path;
static uint32_t reread_at;
static bool rereads_later, routed;

/*
 * Allocations are counted: none while a card moves. The sanitizers bring a malloc of their own.
 */
static unsigned long allocations, allocations_at_start;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
extern void *__libc_malloc(size_t size);
__attribute__((visibility("default"))) void *malloc(size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}
#endif

static bool store(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	(void)slot;
	(void)bytes;
	return true;
}

static void command_with(uint8_t request, uint32_t a, uint32_t b, uint32_t c)
{
	const uint8_t setup[8] = { 0x41, request, 0, 0, 0, 0, 16 };
	uint8_t data[16] = { 0 }, answer[CORE_ANSWER_BYTES];

	put_u32(data, ++sequence);
	put_u32(data + 4, a);
	put_u32(data + 8, b);
	put_u32(data + 12, c);
	core_clock(&core, mechanics_clock());
	if (core_control(&core, setup, data, sizeof(data), answer) < 0) {
		printf("request %#x was refused\n", request);
		exit(1);
	}
}

static void command(uint8_t request, uint32_t a, uint32_t b)
{
	command_with(request, a, b, 0);
}

/* The block of docs/protocol.md, 3 */
static void load(void)
{
	uint8_t block[36 + LINES_CARDS] = "DBXP";

	block[5] = 1;
	block[6] = 1;
	put_u32(block + 8, PLAN_ID);
	block[12] = block[13] = LINES_CARDS;
	memcpy(block + 32, plan.pocket, LINES_CARDS);
	for (int card = 0; card < LINES_CARDS; card++)
		block[16 + plan.pocket[card]]++;
	put_u32(block + 32 + LINES_CARDS, record_crc(block, 32 + LINES_CARDS));
	command(LOAD, PLAN_ID, sizeof(block));
	core_bulk(&core, block, sizeof(block));
}

static void act(const struct dealbox_event *event)
{
	switch (event->type) {
	case DEALBOX_EV_BOARD_INSERTED:
		trace = dealbox_trace_new(event->insertion);
		load();
		command(START, PLAN_ID, event->insertion);
		break;
	case DEALBOX_EV_DEAL_STARTED:
		allocations_at_start = allocations;
		break;
	case DEALBOX_EV_CARD_LANDED:
		if (pauses && event->position < LINES_CARDS - 1)
			command(PAUSE, 0, 0);
		break;
	case DEALBOX_EV_PAUSED:
		command(RESUME, 0, 0);
		break;
	case DEALBOX_EV_KEY:
		if (event->code == DEALBOX_KEY_START && event->arg[0])
			command(LOCATE, 1, 0);
		break;
	case DEALBOX_EV_DEAL_DONE:
		done = true;
		done_at = mechanics_clock();
		break;
	case DEALBOX_EV_CARD_UNREADABLE:
		/* the card lies as it did, so it does not become readable */
		if (!rereads++) {
			command(REREAD, 0, 0);
			break;
		}
		end = dealbox_event_name(event->type);
		break;
	default:
		if (DEALBOX_EV_IS_STOP(event->type))
			end = dealbox_event_name(event->type);
	}
}

/* Returns true if the library calls the board exact. */
static bool is_exact(void)
{
	struct dealbox_verdict *verdict = NULL;
	const bool exact =
		!dealbox_verify_machine(&plan, NULL, config.capabilities, trace, &verdict) &&
		dealbox_verdict_exact(verdict);

	dealbox_verdict_free(verdict);
	return exact;
}

/* -- an evening -- */

/* The next board that is not dealt yet */
static void begin(uint32_t insertion)
{
	char path[200];

	dealbox_trace_free(trace);
	trace = dealbox_trace_new(insertion);
	lines_pockets(seed + dealt, plan.pocket);
	snprintf(path, sizeof(path), "%s.%u", plan_path, insertion);
	lines_write(path, plan.pocket);
	if (!routed)
		load();
	command_with(START, PLAN_ID, insertion, routed ? LINES_CARDS : 0);
}

static void route(const struct dealbox_event *event)
{
	uint8_t gate[16] = { 1, plan.pocket[event->card], 0, event->position };

	for (size_t n = 0; n < dealbox_trace_count(trace); n++) {
		const struct dealbox_event *before = dealbox_trace_get(trace, n);

		if (before->type == DEALBOX_EV_CARD_ROUTED && before->card == event->card) {
			gate[1] = DEALBOX_NONE;
			gate[2] = DEALBOX_EV_REPEATED_CARD;
		}
	}
	put_u32(gate + 4, event->machine_seq);
	put_u32(gate + 8, event->insertion);
	core_gate(&core, gate, sizeof(gate));
}

static void give_back(uint32_t insertion, const char *what)
{
	printf("%s %u\n", what, insertion);
	command(RELEASE_BOARD, 0, 0);
}

static void act_in_evening(const struct dealbox_event *event)
{
	switch (event->type) {
	case DEALBOX_EV_BOARD_INSERTED:
		begin(event->insertion);
		break;
	case DEALBOX_EV_CARD_READ:
		if (routed)
			route(event);
		break;
	case DEALBOX_EV_DEAL_DONE:
		done = true;
		done_at = mechanics_clock();
		break;
	case DEALBOX_EV_BOARD_REMOVED:
		if (core.state == CORE_FAULT)
			command(CLEAR_FAULT, 0, 0);
		break;
	default:
		if (!DEALBOX_EV_IS_STOP(event->type))
			break;
		done = false;
		rereads_later = event->type < DEALBOX_EV_REPEATED_CARD;
		reread_at = mechanics_clock() + 1000000;
		if (!rereads_later)
			give_back(event->insertion, dealbox_event_name(event->type));
	}
}

static void evening_goes_on(void)
{
	bool exact;

	if (rereads_later && (int32_t)(mechanics_clock() - reread_at) >= 0) {
		rereads_later = false;
		command(REREAD, 0, 0);
	}
	if (!done || mechanics_clock() - done_at <= LATE_US)
		return;
	done = false;
	exact = is_exact();
	dealt += exact;
	give_back(dealbox_trace_insertion(trace), exact ? "exact" : "not exact");
	if (dealt == boards)
		end = "the evening is over";
}

static void fetch(void)
{
	uint8_t bytes[CORE_EVENT_BYTES];

	while (core_event(&core, bytes)) {
		struct dealbox_event event = {
			.type = bytes[0], .flags = bytes[1], .machine_seq = get_u32(bytes + 4),
			.machine_time_us = get_u32(bytes + 8), .insertion = get_u32(bytes + 12),
			.position = bytes[16], .card = bytes[17], .pocket = bytes[18],
			.quality = bytes[19],
			.code = get_u32(bytes + 20),
			.arg = { get_u32(bytes + 24), get_u32(bytes + 28) },
		};

		event.seqno = event.machine_seq;
		fprintf(stderr, "%10u %-20s position %3u card %3u pocket %3u quality %3u code %u\n",
			event.machine_time_us, dealbox_event_name(event.type), event.position,
			event.card, event.pocket, event.quality, event.code);
		/* the insertion of a board begins a trace, and is in it */
		if (boards)
			act_in_evening(&event);
		else
			act(&event);
		if (trace)
			dealbox_trace_add(trace, &event);
	}
}

static void judge(void)
{
	const bool exact = is_exact();

	puts(end && !exact ? end : exact ? "exact" : "not exact");
	/* the trace has grown; nothing else has */
	if (done && allocations - allocations_at_start > 8)
		printf("%lu allocations while cards moved\n", allocations - allocations_at_start);
}

static bool start(const char *path, struct mechanics **m, struct core_orders *orders)
{
	static uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	struct core_sensors sensors;
	char text[8192], error[300];
	unsigned int line;
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	line = wiring_read(&wiring, text);
	if (line) {
		printf("%s:%u: %s\n", path, line, wiring.error);
		return false;
	}
	*m = mechanics_open(&wiring, error, sizeof(error));
	if (!*m) {
		printf("%s: %s\n", path, error);
		return false;
	}
	wiring_config(&wiring, &config);
	*orders = mechanics_orders(*m, store, NULL);
	mechanics_sensors(*m, &sensors);
	core_start(&core, &config, orders, *m, mechanics_clock(), &sensors, slots);
	core_configure(&core);
	if (mechanics_real_time(error, sizeof(error)))
		printf("%s\n", error);
	return true;
}

int main(int argc, char **argv)
{
	struct core_orders orders;
	struct mechanics *m;
	struct pollfd wait;

	setvbuf(stdout, NULL, _IOLBF, 0);
	pauses = argc == 5;
	routed = argc == 6 && *argv[4] == 'r';
	if (routed) {
		config.capabilities = CORE_HOST_ROUTED | CORE_BY_CARD;
		config.gate_deadline = 400000;
	}
	if (argc == 6)
		boards = (unsigned int)strtoul(argv[5], NULL, 10);
	if (argc < 4 || !start(argv[1], &m, &orders))
		return 2;
	plan.plan_id = PLAN_ID;
	plan.mode = DEALBOX_PLAN_BY_CARD;
	plan.entries = LINES_CARDS;
	seed = strtoul(argv[2], NULL, 10);
	plan_path = argv[3];
	lines_pockets(seed, plan.pocket);
	lines_write(plan_path, plan.pocket);
	puts("ready");
	wait = (struct pollfd){ .fd = mechanics_fd(m), .events = POLLIN };
	while (!end && (boards || !done || mechanics_clock() - done_at <= LATE_US)) {
		if (poll(&wait, 1, -1) < 0 && errno != EINTR)
			return 1;
		if (mechanics_handle(m, &core)) {
			end = "lines lost";
			break;
		}
		fetch();
		if (boards)
			evening_goes_on();
	}
	mechanics_close(m);
	if (!boards)
		judge();
	dealbox_trace_free(trace);
	return 0;
}
