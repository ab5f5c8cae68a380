// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The mechanics of tools/machine on lines that are variables, in virtual time: what becomes of a
 * card that stays between the card sensor and the exits, and what keeps a card from being fed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <gpiod.h>

#include "bytes.h"
#include "card_strip.h"
#include "codes.h"
#include "gpio.h"
#include "mechanics.h"
#include "unit.h"

#define MS	1000000ull
#define STEP	(MS / 4)
#define CARDS	52
#define PLAN	7
#define NOWHERE	255
#define FREE	-1

/* A card's way, in ms that the release runs */
#define LEAVES	10
#define GATES	25

static const char head[] =
	"[machine]\ncapacity = 13\nhopper = 60\n"
	"[outputs]\nfeed = m 0 most=1500\nrelease = m 1 most=1200\nheartbeat = m 2\n"
	"lock = m 15 most=4000\n"
	"[gates]\na = m 3 most=1100\nb = m 4 most=1100\nc = m 5 most=1100\n"
	"[pockets]\n0 = a\n1 = b\n2 = c\n3 = none\n"
	"[inputs]\nreader = m 6\ncard = m 7\nhopper = m 8\nboard = m 9\n";
static const char others[] = "cover = m 10\ndouble = m 16\nkey-stop = m 17\n";
static const char exits[] = "[exits]\n0 = m 11\n1 = m 12\n2 = m 13\n3 = m 14\n";
static const char times[] = "[times]\nsettle = 20\nfall = 100\n";

enum { FEED, RELEASE, BEAT, GATE_A, READER = 6, CARD, HOPPER, BOARD, COVER, EXIT, LOCK = 15, DOUBLE,
       STOP };

/* -- lines and time -- */

struct gpiod_edge_event { bool rises; uint64_t at; unsigned long number; };
struct gpiod_edge_event_buffer { struct gpiod_edge_event events[64]; };
struct gpiod_line_request {
	int fd;
	bool active;
	unsigned int count;
	unsigned long number;
	struct gpiod_edge_event queue[64];
};

static struct gpiod_line_request lines[20];
static uint64_t now;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *before);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){ (time_t)(now / (1000 * MS)), (long)(now % (1000 * MS)) };
	return 0;
}

/* Every step calls mechanics_handle(). */
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *before)
{
	(void)fd;
	(void)flags;
	(void)when;
	(void)before;
	return 0;
}

struct gpiod_line_request *gpio_request(const struct wiring_setting *set,
					enum gpio_direction direction, unsigned int events,
					unsigned int *offset, char *error, size_t size)
{
	struct gpiod_line_request *line;

	(void)events;
	(void)error;
	(void)size;
	*offset = (unsigned int)atoi(set->name);
	line = &lines[*offset];
	line->fd = eventfd(0, EFD_NONBLOCK);
	line->number = line->count = 0;
	if (direction == GPIO_OUTPUT)
		line->active = false;
	return line;
}

int gpiod_line_request_set_value(struct gpiod_line_request *line, unsigned int offset,
				 enum gpiod_line_value value)
{
	(void)offset;
	line->active = value == GPIOD_LINE_VALUE_ACTIVE;
	return 0;
}

enum gpiod_line_value gpiod_line_request_get_value(struct gpiod_line_request *line,
						   unsigned int offset)
{
	(void)offset;
	return line->active ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE;
}

int gpiod_line_request_get_fd(struct gpiod_line_request *line)
{
	return line->fd;
}

void gpiod_line_request_release(struct gpiod_line_request *line)
{
	if (line)
		close(line->fd);
}

int gpiod_line_request_wait_edge_events(struct gpiod_line_request *line, int64_t timeout)
{
	(void)timeout;
	return line->count > 0;
}

int gpiod_line_request_read_edge_events(struct gpiod_line_request *line,
					struct gpiod_edge_event_buffer *buffer, size_t most)
{
	const int count = (int)line->count;
	eventfd_t value;

	(void)most;
	memcpy(buffer->events, line->queue, sizeof(buffer->events));
	line->count = 0;
	eventfd_read(line->fd, &value);
	return count;
}

struct gpiod_edge_event_buffer *gpiod_edge_event_buffer_new(size_t size)
{
	(void)size;
	return calloc(1, sizeof(struct gpiod_edge_event_buffer));
}

void gpiod_edge_event_buffer_free(struct gpiod_edge_event_buffer *buffer)
{
	free(buffer);
}

struct gpiod_edge_event *gpiod_edge_event_buffer_get_event(struct gpiod_edge_event_buffer *buffer,
							    unsigned long index)
{
	return &buffer->events[index];
}

enum gpiod_edge_event_type gpiod_edge_event_get_event_type(struct gpiod_edge_event *event)
{
	return event->rises ? GPIOD_EDGE_EVENT_RISING_EDGE : GPIOD_EDGE_EVENT_FALLING_EDGE;
}

unsigned long gpiod_edge_event_get_line_seqno(struct gpiod_edge_event *event)
{
	return event->number;
}

uint64_t gpiod_edge_event_get_timestamp_ns(struct gpiod_edge_event *event)
{
	return event->at;
}

static void edge_at(unsigned int number, bool active, uint64_t at)
{
	struct gpiod_line_request *line = &lines[number];

	if (line->active == active)
		return;
	line->active = active;
	line->queue[line->count++] = (struct gpiod_edge_event){ active, at, ++line->number };
	eventfd_write(line->fd, 1);
}

/* More edges came than the kernel keeps; the last one left the line as it was. */
static void edges_were_lost(unsigned int number)
{
	lines[number].number += 64;
	lines[number].active = !lines[number].active;
	edge_at(number, !lines[number].active, now);
}

static void sensor(unsigned int number, bool active)
{
	edge_at(number, active, now);
}

/* -- cards -- */

static struct card { int card; uint64_t ran, falls_at; bool gone,
		     stuck; unsigned int pocket; } path[4];
static int deck[CARDS], fed;
static unsigned int left, gone;
static uint64_t fed_for, travel;	/* travel: to the reader */
static uint8_t lies[CARDS];
static bool has_exits;

static unsigned int open_pocket(void)
{
	for (unsigned int n = 0; n < 3; n++)
		if (lines[GATE_A + n].active)
			return n;
	return 3;
}

static void add_card(int card)
{
	for (unsigned int n = 0; n < 4; n++)
		if (path[n].card == FREE) {
			path[n] = (struct card){ .card = card };
			return;
		}
	fail_msg("the path is full");
}

static void feed_cards(void)
{
	struct strip strip;

	if (!lines[FEED].active)
		return;
	if (fed == FREE && left && !lines[CARD].active) {
		fed = deck[--left];
		fed_for = 0;
		if (!left)
			sensor(HOPPER, false);
	}
	if (fed == FREE)
		return;
	if (fed_for == travel) {
		strip = strip_of(code_of((uint8_t)fed));
		for (unsigned int n = 0; n < strip.count; n++)
			edge_at(READER, n % 2 == 0, now + (uint64_t)(strip.edges[n] * 1.5 * MS));
	}
	if ((fed_for += STEP) > travel + 20 * MS) {
		add_card(fed);
		fed = FREE;
		sensor(CARD, true);
	}
}

static void move(struct card *card)
{
	if (card->card == FREE || card->stuck)
		return;
	if (card->falls_at) {
		if (now < card->falls_at)
			return;
		if (has_exits) {
			sensor(EXIT + card->pocket, true);
			sensor(EXIT + card->pocket, false);
		}
		card->card = FREE;
	} else if (lines[RELEASE].active) {
		card->ran += STEP;
		if (!card->gone && card->ran >= LEAVES * MS) {
			card->gone = true;
			gone++;
			sensor(CARD, false);
		}
		if (card->ran >= GATES * MS) {
			card->pocket = open_pocket();
			card->falls_at = now + 15 * MS;
			lies[card->card] = (uint8_t)card->pocket;
		}
	}
}

/* -- the host -- */

static struct wiring wiring;
static struct core core;
static struct core_config config;
static struct core_orders orders;
static struct mechanics *m;
static uint32_t sequence, stop_code;
static uint8_t stop, slots[RECORD_SLOTS][RECORD_BYTES];
static bool done, paused;

static bool store(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	memcpy(slots[slot], bytes, RECORD_BYTES);
	return true;
}

static void step(void)
{
	uint8_t event[CORE_EVENT_BYTES];

	now += STEP;
	feed_cards();
	for (unsigned int n = 0; n < 4; n++)
		move(&path[n]);
	assert_int_equal(mechanics_handle(m, &core), 0);
	while (core_event(&core, event)) {
		done |= event[0] == 0x15;
		paused |= event[0] == 0x16;
		if (event[0] >= 0x20 && event[0] <= 0x2e) {
			stop = event[0];
			stop_code = get_u32(event + 20);
		}
	}
}

static void run(unsigned int ms)
{
	for (unsigned int n = 0; n < ms * 4; n++)
		step();
}

static uint8_t command(uint8_t request, uint32_t a, uint32_t b)
{
	const uint8_t setup[8] = { 0x41, request, 0, 0, 0, 0, 16 };
	uint8_t data[16] = { 0 }, answer[CORE_ANSWER_BYTES];

	put_u32(data, ++sequence);
	put_u32(data + 4, a);
	put_u32(data + 8, b);
	core_clock(&core, mechanics_clock());
	core_control(&core, setup, data, sizeof(data), answer);
	return core.error;
}

#define IN_FAULT 6
#define UNABLE	18

enum { LOAD = 0x11, START, PAUSE, RESUME, REREAD, ABORT, CLEAR };
enum { UNREADABLE = 0x20, DECK_SHORT = 0x24, DOUBLE_FEED = 0x29, JAM, BOARD_PULLED = 0x2c,
       COVER_OPENED, HARDWARE };

static void power_on(void)
{
	struct core_sensors sensors;
	char error[200];

	m = mechanics_open(&wiring, error, sizeof(error));
	assert_non_null(m);
	wiring_config(&wiring, &config);
	config.capabilities |= CORE_STORED_PLAN | CORE_BY_CARD;
	orders = mechanics_orders(m, store, NULL);
	mechanics_sensors(m, &sensors);
	core_start(&core, &config, &orders, m, mechanics_clock(), &sensors, slots);
	core_configure(&core);
}

static void begin(const char *inputs, const char *outs)
{
	char text[2000];

	snprintf(text, sizeof(text), "%s%s%s%s", head, inputs, outs, times);
	assert_int_equal(wiring_read(&wiring, text), 0);
	memset(lines, 0, sizeof(lines));
	memset(slots, 0, sizeof(slots));
	memset(&config, 0, sizeof(config));
	for (unsigned int n = 0; n < 4; n++)
		path[n].card = FREE;
	fed = FREE;
	has_exits = *outs;
	now = 1000 * MS;
	power_on();
	run(30);
}

/* Insert an empty board, and a whole deck. Card n belongs into pocket n % 4. */
static uint8_t begin_deal(int first)
{
	uint8_t block[36 + CARDS] = "DBXP";

	for (int n = 0; n < CARDS; n++)
		deck[n] = (first + n * 5) % CARDS;
	left = CARDS;
	gone = 0;
	memset(lies, NOWHERE, sizeof(lies));
	sensor(HOPPER, true);
	/* a person needs some time for another board */
	if (!lines[BOARD].active)
		run(300);
	sensor(BOARD, true);
	run(30);
	done = paused = false;
	stop = 0;
	stop_code = 0;
	block[5] = block[6] = 1;
	put_u32(block + 8, PLAN);
	block[12] = block[13] = CARDS;
	memset(block + 16, CARDS / 4, 4);
	for (int n = 0; n < CARDS; n++)
		block[32 + n] = (uint8_t)(n % 4);
	put_u32(block + 32 + CARDS, record_crc(block, 32 + CARDS));
	command(LOAD, PLAN, sizeof(block));
	core_bulk(&core, block, sizeof(block));
	return command(START, PLAN, core.insertion);
}

static void deal_ends(void)
{
	for (unsigned int n = 0; n < 4 * 60000 && !done && !stop; n++)
		step();
	run(400);
}

static void deal_is_exact(void)
{
	deal_ends();
	assert_int_equal(stop, 0);
	assert_true(done);
	for (unsigned int n = 0; n < CARDS; n++)
		assert_int_equal(lies[n], n % 4);
}

/* Deal until a card is between the card sensor and the gate. */
static struct card *card_in_path(void)
{
	assert_int_equal(begin_deal(0), 0);
	for (;;) {
		step();
		assert_int_equal(stop, 0);
		for (unsigned int n = 0; n < 4; n++)
			if (gone > 10 && path[n].card != FREE && path[n].gone &&
			    path[n].ran >= 20 * MS && !path[n].falls_at)
				return &path[n];
	}
}

static void end(void)
{
	mechanics_close(m);
}

/* The card comes out before the first one of the next deal is fed. */
static void next_deal_is_voided(void)
{
	assert_int_equal(begin_deal(3), 0);
	deal_ends();
	assert_int_equal(stop, DOUBLE_FEED);
	assert_int_equal(left, CARDS);
	sensor(BOARD, false);
	run(30);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	assert_int_equal(begin_deal(3), 0);
	deal_is_exact();
	end();
}

static void a_board_is_dealt(void **state)
{
	(void)state;
	begin(others, exits);
	assert_int_equal(begin_deal(0), 0);
	deal_is_exact();
	end();
}

static void a_card_stays_when_the_cover_is_opened(void **state)
{
	(void)state;
	begin(others, exits);
	card_in_path();
	sensor(COVER, true);
	run(300);
	assert_int_equal(stop, COVER_OPENED);
	assert_false(lines[RELEASE].active);
	sensor(BOARD, false);
	sensor(COVER, false);
	run(100);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	next_deal_is_voided();
}

static void a_card_stays_in_a_jam(void **state)
{
	struct card *card;

	(void)state;
	begin(others, exits);
	card = card_in_path();
	card->stuck = true;
	run(1500);
	assert_int_equal(stop, JAM);
	assert_false(lines[RELEASE].active);
	assert_int_not_equal(command(CLEAR, 0, 0), 0);
	sensor(BOARD, false);
	run(30);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	card->stuck = false;
	next_deal_is_voided();
}

static void a_card_stays_at_a_power_cut(void **state)
{
	(void)state;
	begin(others, exits);
	card_in_path();
	mechanics_close(m);
	sensor(BOARD, false);
	power_on();
	run(30);
	next_deal_is_voided();
}

/*
 * Two cards are fed as one, and the release stops when the first has landed. From then on, each
 * card that is let go pushes the one before out, which is what the exit sensor sees.
 */
static void a_card_stays_after_a_double_feed(void **state)
{
	int second;

	(void)state;
	begin(others, exits);
	assert_int_equal(begin_deal(0), 0);
	while (gone < 10 || core.phase != CORE_READING || fed != FREE)
		step();
	second = deck[--left];
	add_card(second);
	path[0].gone = true;
	path[0].ran = 20 * MS;
	deal_ends();
	assert_int_equal(stop, DECK_SHORT);
	assert_int_equal(command(ABORT, 0, 0), 0);
	sensor(BOARD, false);
	run(30);
	next_deal_is_voided();
}

/* The same, and the deal stops while the next card is on its way to the reader. */
static void a_card_stays_when_a_feed_is_stopped(void **state)
{
	(void)state;
	begin(others, exits);
	assert_int_equal(begin_deal(0), 0);
	while (gone < 10 || core.phase != CORE_READING || fed != FREE)
		step();
	travel = 30 * MS;
	add_card(deck[--left]);
	path[0].gone = true;
	path[0].ran = 20 * MS;
	while (fed == FREE)
		step();
	run(5);
	assert_int_equal(stop, 0);
	sensor(BOARD, false);
	run(310);
	assert_int_equal(stop, BOARD_PULLED);
	/* the person takes it back to the others */
	fed = FREE;
	travel = 0;
	assert_int_equal(command(CLEAR, 0, 0), 0);
	next_deal_is_voided();
}

static void a_card_lands_when_the_cable_is_pulled(void **state)
{
	struct card *card;

	(void)state;
	begin(others, exits);
	card = card_in_path();
	core_deconfigure(&core);
	run(300);
	assert_int_equal(card->card, FREE);
	assert_false(lines[RELEASE].active);
	sensor(BOARD, false);
	core_configure(&core);
	run(30);
	assert_int_equal(begin_deal(3), 0);
	deal_is_exact();
	end();
}

/* Without exit sensors, the machine cannot see that its path is free: a person must clear it. */
static void without_exits_a_person_clears(void **state)
{
	(void)state;
	begin(others, "");
	assert_int_equal(begin_deal(0), UNABLE);
	sensor(COVER, true);
	run(30);
	sensor(COVER, false);
	sensor(BOARD, false);
	run(30);
	card_in_path();
	core_deconfigure(&core);
	run(300);
	core_configure(&core);
	sensor(BOARD, false);
	run(30);
	/* the stop key is pressed, and the cable is pulled */
	card_in_path();
	sensor(STOP, true);
	step();
	core_deconfigure(&core);
	run(300);
	assert_false(lines[RELEASE].active);
	core_configure(&core);
	sensor(STOP, false);
	sensor(BOARD, false);
	run(30);
	assert_int_not_equal(begin_deal(3), 0);
	sensor(BOARD, false);
	sensor(COVER, true);
	run(300);
	for (unsigned int n = 0; n < 4; n++)
		path[n].card = FREE;
	sensor(COVER, false);
	run(30);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	assert_int_equal(begin_deal(3), 0);
	deal_is_exact();
	end();
}

static void nothing_is_fed_while_an_input_forbids_it(void **state)
{
	static const struct { unsigned int line; enum wiring_line wire; } wires[] = {
		{ DOUBLE, WIRING_DOUBLE }, { EXIT + 2, WIRING_EXIT + 2 },
	};

	(void)state;
	for (unsigned int n = 0; n < 2; n++) {
		begin(others, exits);
		sensor(wires[n].line, true);
		run(30);
		assert_int_equal(begin_deal(0), 0);
		deal_ends();
		assert_int_equal(stop, HARDWARE);
		assert_int_equal(stop_code, MECHANICS_BLOCKED + (wires[n].wire - WIRING_INPUTS));
		assert_int_equal(left, CARDS);
		assert_int_not_equal(command(CLEAR, 0, 0), 0);
		sensor(wires[n].line, false);
		sensor(BOARD, false);
		run(30);
		assert_int_equal(command(CLEAR, 0, 0), 0);
		assert_int_equal(begin_deal(0), 0);
		deal_is_exact();
		end();
	}
}

static void a_stop_key_that_stays_pressed_pauses(void **state)
{
	(void)state;
	begin(others, exits);
	sensor(STOP, true);
	run(30);
	for (unsigned int n = 0; n < 2; n++) {
		paused = false;
		assert_int_equal(n ? command(RESUME, 0, 0) : begin_deal(0), 0);
		run(2000);
		assert_true(paused);
		assert_int_equal(left, CARDS);
	}
	sensor(STOP, false);
	run(30);
	assert_int_equal(command(RESUME, 0, 0), 0);
	deal_is_exact();
	end();
}

/* The time in which the program did not run, and the watchdog took the power of the gates */
static void a_hang_makes_gates_settle_anew(void **state)
{
	uint64_t hung_until;

	(void)state;
	begin(others, exits);
	assert_int_equal(begin_deal(0), 0);
	while (core.phase != CORE_GATE)
		step();
	now += 200 * MS;
	hung_until = now;
	while (core.phase == CORE_GATE)
		step();
	assert_true(now - hung_until >= 20 * MS);
	deal_is_exact();
	end();
}

static void a_hang_while_a_card_falls_stops(void **state)
{
	(void)state;
	begin(others, exits);
	card_in_path();
	now += 60 * MS;
	step();
	assert_int_equal(stop, HARDWARE);
	assert_int_equal(stop_code, MECHANICS_HUNG);
	end();
}

/* The watchdog circuit sees rising edges alone: two pauses together may be too long for it. */
static void two_short_hangs_are_one(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 2; n++) {
		begin(others, exits);
		card_in_path();
		while (lines[BEAT].active != n)
			step();
		for (unsigned int hang = 0; hang < 2; hang++) {
			now += 30 * MS;
			step();
		}
		assert_int_equal(stop, HARDWARE);
		assert_int_equal(stop_code, MECHANICS_HUNG);
		end();
	}
}

static void the_lock_stays_while_cards_move(void **state)
{
	(void)state;
	begin(others, exits);
	sensor(BOARD, true);
	run(3900);
	assert_true(lines[LOCK].active);
	assert_int_equal(begin_deal(0), 0);
	while (!done) {
		step();
		assert_true(lines[LOCK].active);
		assert_int_equal(stop, 0);
	}
	run(5000);
	assert_false(lines[LOCK].active);
	end();
}

/* If the contact flickers, the new insertion is the old board, with its cards. */
static void a_board_switch_flickers(void **state)
{
	(void)state;
	begin(others, exits);
	assert_int_equal(begin_deal(0), 0);
	deal_is_exact();
	sensor(BOARD, false);
	run(299);
	sensor(BOARD, true);
	run(30);
	assert_int_equal(stop, HARDWARE);
	assert_int_equal(stop_code, MECHANICS_OLD_BOARD);
	assert_int_equal(command(CLEAR, 0, 0), IN_FAULT);
	/* again, and for as long as another board takes */
	sensor(BOARD, false);
	run(299);
	assert_int_equal(command(CLEAR, 0, 0), IN_FAULT);
	sensor(BOARD, true);
	run(400);
	assert_int_equal(command(CLEAR, 0, 0), IN_FAULT);
	sensor(BOARD, false);
	run(301);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	assert_int_equal(begin_deal(3), 0);
	deal_is_exact();
	end();
}

/* A board that may have a card of before is dealt into only after one was surely out. */
static void only_another_board_is_good(void)
{
	assert_int_equal(stop, HARDWARE);
	assert_int_equal(command(CLEAR, 0, 0), IN_FAULT);
	sensor(BOARD, false);
	run(301);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	assert_int_equal(begin_deal(3), 0);
	deal_is_exact();
	end();
}

/* The purge at the beginning of a deal cannot find a card that has come out by itself before. */
static void a_card_falls_into_a_board_that_waits(void **state)
{
	struct card *card;

	(void)state;
	begin(others, exits);
	card = card_in_path();
	mechanics_close(m);
	sensor(BOARD, false);
	power_on();
	run(300);
	sensor(BOARD, true);
	run(30);
	card->falls_at = now;
	run(30);
	assert_int_equal(card->card, FREE);
	assert_int_equal(stop_code, MECHANICS_OLD_BOARD);
	only_another_board_is_good();
}

static void a_card_falls_into_the_next_board(void **state)
{
	struct card *card;

	(void)state;
	begin(others, exits);
	card = card_in_path();
	card->stuck = true;
	sensor(BOARD, false);
	run(310);
	assert_int_equal(stop, BOARD_PULLED);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	sensor(BOARD, true);
	run(30);
	assert_true(lines[RELEASE].active);
	card->stuck = false;
	run(100);
	assert_int_equal(card->card, FREE);
	assert_int_equal(stop_code, MECHANICS_OLD_BOARD);
	only_another_board_is_good();
}

/* The contact of a board that is pushed in closes when it is under the exits already. */
static void a_card_falls_into_a_board_that_comes(void **state)
{
	struct card *card;

	(void)state;
	begin(others, exits);
	card = card_in_path();
	card->stuck = true;
	sensor(BOARD, false);
	run(2000);
	assert_int_equal(stop, BOARD_PULLED);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	stop = 0;
	card->stuck = false;
	card->falls_at = now;
	run(20);
	assert_int_equal(card->card, FREE);
	/* the kernel saw it before we noticed the fall */
	edge_at(BOARD, true, now - 20 * MS);
	run(30);
	assert_int_equal(stop_code, MECHANICS_OLD_BOARD);
	only_another_board_is_good();
}

/* Nobody knows which card lies at the card sensor now, or which board is in. */
static void after_lost_edges_nothing_is_known(void **state)
{
	(void)state;
	begin(others, exits);
	assert_int_equal(begin_deal(0), 0);
	while (core.phase != CORE_GATE)
		step();
	assert_int_equal(command(ABORT, 0, 0), 0);
	sensor(BOARD, false);
	run(30);
	edges_were_lost(CARD);
	run(30);
	assert_int_equal(stop, HARDWARE);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	assert_int_equal(begin_deal(0), 0);
	deal_ends();
	/* with what may lie in the path, no card is fed */
	assert_int_equal(stop, JAM);
	sensor(CARD, false);
	sensor(BOARD, false);
	path[0].card = FREE;
	run(300);
	assert_int_equal(command(CLEAR, 0, 0), 0);
	sensor(BOARD, true);
	run(30);
	edges_were_lost(BOARD);
	run(30);
	only_another_board_is_good();
}

/* Stray edges of long ago do not spoil the next card. */
static void a_card_is_read_after_stray_edges(void **state)
{
	(void)state;
	begin(others, exits);
	for (unsigned int n = 0; n < 10; n++) {
		sensor(READER, n % 2 == 0);
		step();
	}
	assert_int_equal(begin_deal(0), 0);
	deal_is_exact();
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_board_is_dealt),
		cmocka_unit_test(a_card_stays_when_the_cover_is_opened),
		cmocka_unit_test(a_card_stays_in_a_jam),
		cmocka_unit_test(a_card_stays_at_a_power_cut),
		cmocka_unit_test(a_card_stays_after_a_double_feed),
		cmocka_unit_test(a_card_stays_when_a_feed_is_stopped),
		cmocka_unit_test(a_card_lands_when_the_cable_is_pulled),
		cmocka_unit_test(without_exits_a_person_clears),
		cmocka_unit_test(nothing_is_fed_while_an_input_forbids_it),
		cmocka_unit_test(a_stop_key_that_stays_pressed_pauses),
		cmocka_unit_test(a_hang_makes_gates_settle_anew),
		cmocka_unit_test(a_hang_while_a_card_falls_stops),
		cmocka_unit_test(two_short_hangs_are_one),
		cmocka_unit_test(a_board_switch_flickers),
		cmocka_unit_test(a_card_falls_into_a_board_that_waits),
		cmocka_unit_test(a_card_falls_into_the_next_board),
		cmocka_unit_test(a_card_falls_into_a_board_that_comes),
		cmocka_unit_test(after_lost_edges_nothing_is_known),
		cmocka_unit_test(the_lock_stays_while_cards_move),
		cmocka_unit_test(a_card_is_read_after_stray_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
