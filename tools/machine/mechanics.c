// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each line has a request of its own, so that a lost edge is noticed for its line alone. Nothing is
 * allocated once the lines are open.
 *
 * A card's way: the feed brings it past the reader until the card sensor sees it; the gates are
 * set; the release moves it on. It has landed when an exit sensor has seen it and the card sensor
 * does so no longer: a second card would still be there.
 */
#include "mechanics.h"

#include <errno.h>
#include <gpiod.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "gpio.h"
#include "reader.h"

#define MS		1000000ull	/* ns */
#define NEVER		UINT64_MAX
#define BEAT		(10 * MS)
#define BEATS 4 /* until the watchdog circuit has surely given power again */
#define BLINK		(250 * MS)
#define EVENTS		64		/* edges that are read at once */
#define HANG		(40 * MS)	/* without a pulse of the heartbeat, which is every 20 ms */
#define PURGE (1000 * MS) /* of the release; for a card that falls, the core waits as long */
#define CALM (100 * MS) /* the last card may still pass an exit sensor, or the reader */
/* Nobody takes a board out, empties it and puts it in again in less: it is the same board. */
#define AWAY		(300 * MS)
#define READER_EVENTS	1024		/* kept by the kernel; its limit for one line */
#define TAIL		2		/* edges of a card that leaves the reader */
#define PRIORITY 40 /* below the kernel's threads for interrupts, which have 50 */
#define STACK		65536

enum doing { DOING_NOTHING, DOING_READ, DOING_PURGE, DOING_FEED, DOING_GATE, DOING_FALL };

/*
 * Content of the path between card sensor and exits. A card that stayed there would land as the
 * first one of the next deal, and each card of that deal one place too late.
 */
enum path { PATH_EMPTY, PATH_DOUBT, PATH_CARD };

/* Codes of core_jam() */
enum jam { JAM_NONE, JAM_READER = 2, JAM_GATE };

struct mechanics {
	struct wiring wiring;
	struct gpiod_line_request *requests[WIRING_LINES];
	unsigned int offsets[WIRING_LINES];
	unsigned long seqno[WIRING_LINES];	/* of the last edge */
	bool level[WIRING_LINES];		/* as switched, or as seen */
	uint64_t off_at[WIRING_LINES];		/* guard times */
	struct gpiod_edge_event_buffer *buffer;
	int epoll, timer;
	int error;				/* a line did not answer */

	bool (*store)(void *context, int slot, const uint8_t bytes[RECORD_BYTES]);
	void *store_context;

	enum doing doing;
	uint64_t due; /* end of DOING_GATE, DOING_PURGE; of DOING_FALL without exits */
	uint64_t fall_end;		/* a halt after that is no longer in mid-fall */
	enum path path;
	enum jam jam;			/* as told */
	enum wiring_line blocked; /* the input that keeps cards from being fed, WIRING_LINES */
	uint64_t gone_at;		/* the board switch opened */
	uint64_t fell_at; /* a card that nobody let go fell, and no board was in */
	bool old_board; /* it may have a card of before, and none was out for long enough since */
	bool fresh;			/* nothing was fed since the last halt */
	bool locked;			/* as ordered */
	struct reader reader;
	bool kept;			/* reading is that of the card at the card sensor */
	struct core_reading reading;
	unsigned int passed;		/* edges that the reader saw while no card was fed */
	uint64_t passed_at;		/* the last of them */
	bool interrupted; /* a code has passed in part: the next card is not to be read */
	bool halted;
	bool left;			/* the card that falls has left the card sensor */
	uint8_t landed;			/* its pocket, CORE_NONE */

	uint64_t beat_at, pulse_at;	/* the next heartbeat; the last one that the circuit saw */
	uint64_t blink_at, blink_until;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

uint32_t mechanics_clock(void)
{
	return (uint32_t)(now_ns() / 1000);
}

/* -- outputs -- */

static void lose(struct mechanics *m)
{
	if (!m->error)
		m->error = errno ? -errno : -EIO;
}

/* Switch an output; while it is on, its guard time runs, and is not prolonged. */
static void switch_line(struct mechanics *m, enum wiring_line line, bool on)
{
	if (!m->requests[line] || m->level[line] == on)
		return;
	if (gpiod_line_request_set_value(m->requests[line], m->offsets[line],
					 on ? GPIOD_LINE_VALUE_ACTIVE :
					      GPIOD_LINE_VALUE_INACTIVE)) {
		lose(m);
		return;
	}
	m->level[line] = on;
	m->off_at[line] = on && line != WIRING_HEARTBEAT ?
		now_ns() + m->wiring.lines[line].most_ms * MS : NEVER;
}

static void set_gates(struct mechanics *m, uint8_t gates)
{
	for (unsigned int n = 0; n < WIRING_GATES; n++)
		switch_line(m, WIRING_GATE + n, gates >> n & 1);
}

static void all_off(struct mechanics *m)
{
	for (enum wiring_line line = 0; line < WIRING_INPUTS; line++)
		switch_line(m, line, false);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Set the timer for what is due next; also the heartbeat is, always. */
static void arm(struct mechanics *m)
{
	uint64_t next = sooner(m->beat_at, m->blink_at);
	struct itimerspec when = { 0 };

	for (enum wiring_line line = 0; line < WIRING_INPUTS; line++)
		next = sooner(next, m->off_at[line]);
	if (m->doing != DOING_NOTHING && m->doing != DOING_FEED)
		next = sooner(next, m->due);
	if (m->halted)
		next = 1;
	when.it_value.tv_sec = (time_t)(next / (1000 * MS));
	when.it_value.tv_nsec = (long)(next % (1000 * MS));
	timerfd_settime(m->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* -- orders of the core -- */

static bool has_exits(const struct mechanics *m)
{
	return wiring_has(&m->wiring, WIRING_EXIT);
}

/* Begin to feed. What the reader cannot have seen from its beginning is not to be read. */
static void feed(struct mechanics *m)
{
	const bool passes = m->passed > TAIL && now_ns() - m->passed_at < CALM;

	m->doing = DOING_FEED;
	m->fresh = m->kept = false;
	m->passed = 0;
	reader_start(&m->reader, m->wiring.lines[WIRING_READER].reversed);
	if (m->interrupted || passes ||
	    gpiod_line_request_get_value(m->requests[WIRING_READER], m->offsets[WIRING_READER]) !=
	    GPIOD_LINE_VALUE_INACTIVE)
		reader_lost(&m->reader);
	switch_line(m, WIRING_FEED, true);
}

/* Keep the board locked while cards move: its guard time begins again with each of them. */
static void keep_locked(struct mechanics *m)
{
	if (!m->locked)
		return;
	switch_line(m, WIRING_LOCK, true);
	if (m->level[WIRING_LOCK])
		m->off_at[WIRING_LOCK] = now_ns() + m->wiring.lines[WIRING_LOCK].most_ms * MS;
}

/* Let begin_to_read() report obstacles, for an order must not call back into the core. */
static void read_order(void *context)
{
	struct mechanics *m = context;

	keep_locked(m);
	set_gates(m, 0);
	m->doing = DOING_READ;
	m->due = 1;
	arm(m);
}

static void gate_order(void *context, uint8_t pocket)
{
	struct mechanics *m = context;

	keep_locked(m);
	set_gates(m, m->wiring.gates[pocket]);
	m->doing = DOING_GATE;
	m->due = now_ns() + m->wiring.settle_ms * MS;
	arm(m);
}

static void let_go_order(void *context)
{
	struct mechanics *m = context;

	m->doing = DOING_FALL;
	m->path = PATH_CARD;
	m->fall_end = now_ns() + PURGE - CALM;
	m->due = NEVER;
	m->left = false;
	m->landed = CORE_NONE;
	switch_line(m, WIRING_RELEASE, true);
	arm(m);
}

/* A person may be reaching in, or nothing is known of the lines any more. */
static bool is_dangerous(const struct mechanics *m)
{
	return m->error || m->level[WIRING_COVER] || m->level[WIRING_KEY_STOP];
}

static void halt_order(void *context)
{
	struct mechanics *m = context;

	switch_line(m, WIRING_FEED, false);
	if (m->doing == DOING_FEED && (m->reader.count || m->reader.lost))
		m->interrupted = true;
	/*
	 * Two cards may have been fed as one, and the second be where the release has stopped. Each
	 * card then pushes the one before out, so no edge is missing until the hopper is empty.
	 */
	if (m->path == PATH_EMPTY && has_exits(m) && !m->level[WIRING_CARD] &&
	    m->doing != DOING_FEED)
		m->path = PATH_DOUBT;
	/*
	 * A card that falls shall land: the release stays on for as long as a fall may last, at
	 * most for its guard time, and the gates stay as they are.
	 */
	if (m->doing != DOING_FALL || is_dangerous(m) || now_ns() >= m->fall_end)
		switch_line(m, WIRING_RELEASE, false);
	if (m->doing != DOING_FALL) {
		set_gates(m, 0);
		m->doing = DOING_NOTHING;
	} else if (!m->level[WIRING_RELEASE]) {
		m->due = NEVER;		/* without exits: it does not land */
	}
	m->halted = m->fresh = true;
	arm(m);
}

static void lock_order(void *context, bool locked)
{
	struct mechanics *m = context;

	m->locked = locked;
	switch_line(m, WIRING_LOCK, locked);
	keep_locked(m);
	arm(m);
}

static void locate_order(void *context, uint8_t seconds)
{
	struct mechanics *m = context;

	m->blink_at = now_ns();
	m->blink_until = m->blink_at + seconds * 1000 * MS;
	arm(m);
}

static bool store_order(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	struct mechanics *m = context;

	return m->store(m->store_context, slot, bytes);
}

struct core_orders mechanics_orders(struct mechanics *m,
				    bool (*store)(void *context, int slot,
						  const uint8_t bytes[RECORD_BYTES]),
				    void *store_context)
{
	m->store = store;
	m->store_context = store_context;
	return (struct core_orders){ read_order, gate_order, let_go_order, halt_order, lock_order,
				     locate_order, store_order, NULL };
}

void mechanics_sensors(const struct mechanics *m, struct core_sensors *sensors)
{
	*sensors = (struct core_sensors){
		.board = m->level[WIRING_BOARD], .cover_open = m->level[WIRING_COVER],
		.hopper = m->level[WIRING_HOPPER], .reader = m->level[WIRING_CARD],
	};
}

/* -- what the sensors see -- */

static void tell_reading(struct mechanics *m, struct core *core)
{
	static const struct core_reading none = { .card = CORE_NONE };

	m->doing = DOING_NOTHING;
	core_card(core, m->kept ? &m->reading : &none);
}

static void tell_jam(struct mechanics *m, struct core *core, enum jam jam)
{
	if (m->jam == jam)
		return;
	m->jam = jam;
	core_jam(core, (uint8_t)jam);
}

/* The path is as it was said to be. A jam is told while a card is in it. */
static void set_path(struct mechanics *m, struct core *core, enum path path)
{
	m->path = path;
	if (m->jam != JAM_READER)
		tell_jam(m, core, path == PATH_CARD ? JAM_GATE : JAM_NONE);
}

/*
 * A person had access. With exit sensors, a purge finds out what that person left; without them
 * nothing else does, so an opened cover counts more than a board that was taken out.
 */
static void person_was_there(struct mechanics *m, struct core *core, bool looked)
{
	/* as long as the release is on, the card may land */
	if (m->path != PATH_CARD || m->level[WIRING_RELEASE])
		return;
	if (has_exits(m))
		set_path(m, core, PATH_DOUBT);
	else if (looked)
		set_path(m, core, PATH_EMPTY);
	else
		return;
	if (m->doing == DOING_FALL)
		m->doing = DOING_NOTHING;
}

/* Returns the input that forbids to feed, WIRING_LINES. A card may still pass an exit in a deal. */
static enum wiring_line blocking(const struct mechanics *m)
{
	if (m->level[WIRING_DOUBLE])
		return WIRING_DOUBLE;
	for (enum wiring_line line = WIRING_EXIT; m->fresh && line < WIRING_LINES; line++)
		if (m->level[line])
			return line;
	return WIRING_LINES;
}

/* See that nothing is in the way, then purge, feed, or take the card that is there. */
static void begin_to_read(struct mechanics *m, struct core *core, uint64_t now)
{
	const enum wiring_line line = blocking(m);
	const uint64_t most = m->wiring.lines[WIRING_RELEASE].most_ms * MS;

	if (line >= WIRING_EXIT && line < WIRING_LINES && m->due == 1) {
		m->due = now + CALM;
	} else if (line >= WIRING_EXIT && line < WIRING_LINES && m->due > now) {
		return;
	} else if (line < WIRING_LINES) {
		m->doing = DOING_NOTHING;
		m->blocked = line;
		core_trouble(core, MECHANICS_BLOCKED + (line - WIRING_INPUTS));
	} else if (m->level[WIRING_KEY_STOP]) {
		/* as if it were pressed now: the core pauses when no card comes */
		m->doing = DOING_NOTHING;
		core_key(core, WIRING_KEY_STOP - WIRING_KEY_START + 1, true);
	} else if (m->path != PATH_EMPTY && m->level[WIRING_CARD]) {
		/* the release would move it, too */
		m->doing = DOING_NOTHING;
		tell_jam(m, core, JAM_READER);
	} else if (m->path != PATH_EMPTY) {
		m->doing = DOING_PURGE;
		m->due = now + (most < PURGE ? most : PURGE);
		core_feeds_in(core, (uint32_t)((m->due - now) / 1000));
		switch_line(m, WIRING_RELEASE, true);
	} else if (m->level[WIRING_CARD]) {
		tell_reading(m, core);
	} else {
		feed(m);
	}
}

static void card_has_come(struct mechanics *m, struct core *core)
{
	struct reading seen;

	if (m->doing != DOING_FEED) {
		/* by hand, or it has gone back */
		m->kept = false;
		core_reader(core, true);
		return;
	}
	switch_line(m, WIRING_FEED, false);
	reader_read(&m->reader, &seen);
	m->reading = (struct core_reading){ .card = seen.card,
					    .quality = seen.quality,
					    .code = seen.code };
	m->kept = true;
	m->interrupted = false;
	m->passed = 0;
	core_reader(core, true);
	tell_reading(m, core);
}

static void finish_fall(struct mechanics *m, struct core *core)
{
	m->doing = DOING_NOTHING;
	switch_line(m, WIRING_RELEASE, false);
	set_gates(m, 0);
	/* a card that the card sensor still sees may be halfway */
	set_path(m, core, m->left ? PATH_EMPTY : PATH_DOUBT);
	core_landed(core, m->landed);
}

static void card_has_left(struct mechanics *m, struct core *core)
{
	m->kept = false;
	core_reader(core, false);
	if (m->jam == JAM_READER)
		tell_jam(m, core, m->path == PATH_CARD ? JAM_GATE : JAM_NONE);
	if (m->doing != DOING_FALL) {
		/* into a hand, or into the path */
		if (m->path == PATH_EMPTY && has_exits(m))
			m->path = PATH_DOUBT;
		return;
	}
	m->left = true;
	if (m->landed != CORE_NONE)
		finish_fall(m, core);
	else if (!has_exits(m) && m->level[WIRING_RELEASE])
		m->due = now_ns() + m->wiring.fall_ms * MS;
}

static void card_falls(struct mechanics *m, struct core *core, uint8_t pocket)
{
	if (m->doing == DOING_FALL && m->landed == CORE_NONE) {
		m->landed = pocket;
		if (m->left)
			finish_fall(m, core);
		return;
	}
	/* One more than was let go. The first is counted first. */
	if (m->doing == DOING_FALL)
		finish_fall(m, core);
	/* where one was, there may be more: the next deal is purged too */
	set_path(m, core, PATH_DOUBT);
	core_landed(core, pocket);
	/* before a deal, the core counts it for none, and no purge will find it any more */
	m->old_board |= m->level[WIRING_BOARD];
	if (!m->level[WIRING_BOARD])
		m->fell_at = now_ns();
	if (m->old_board)
		core_trouble(core, MECHANICS_OLD_BOARD);
}

static void trouble_is_over(const struct mechanics *m, struct core *core)
{
	core_trouble(core, m->blocked < WIRING_LINES ?
				   MECHANICS_BLOCKED + (m->blocked - WIRING_INPUTS) :
			   m->old_board ? MECHANICS_OLD_BOARD : 0);
}

/*
 * A contact that opens for a moment would make a new insertion of a board that has its cards. A
 * card that still falls may fall into the new board, and one that fell just before its contact
 * closed may lie in it: deal nothing until one has surely been taken out.
 */
static void board_switch(struct mechanics *m, struct core *core, bool active, uint64_t at)
{
	if (!active)
		m->gone_at = at;
	else
		/* its edge may be older than the moment when the fall was noticed */
		m->old_board |= m->doing == DOING_FALL || (m->gone_at && at - m->gone_at < AWAY) ||
				(m->fell_at && at < m->fell_at + AWAY);
	/* halt_order() leaves the path as it is if it stops a card on its way to the card sensor */
	if (active && m->path == PATH_EMPTY && has_exits(m) && !m->level[WIRING_CARD])
		m->path = PATH_DOUBT;
	core_board(core, active, 0);
	if (!active)
		person_was_there(m, core, !wiring_has(&m->wiring, WIRING_COVER));
	else if (m->old_board)
		core_trouble(core, MECHANICS_OLD_BOARD);
}

static void input(struct mechanics *m, struct core *core, enum wiring_line line, bool active,
		  uint64_t at)
{
	const bool same = m->level[line] == active;

	m->level[line] = active;
	if (line == m->blocked && !active) {
		m->blocked = WIRING_LINES;
		trouble_is_over(m, core);
	}
	if (line >= WIRING_EXIT) {
		if (active)
			card_falls(m, core, (uint8_t)(line - WIRING_EXIT));
		return;
	}
	if (same)
		return;
	switch (line) {
	case WIRING_CARD:
		if (active)
			card_has_come(m, core);
		else
			card_has_left(m, core);
		break;
	case WIRING_HOPPER:
		core_hopper(core, active);
		break;
	case WIRING_BOARD:
		board_switch(m, core, active, at);
		break;
	case WIRING_COVER:
		if (active)
			switch_line(m, WIRING_RELEASE, false);
		core_cover(core, active);
		if (!active)
			person_was_there(m, core, true);
		break;
	case WIRING_DOUBLE:
		if (active)
			core_double_feed(core);
		break;
	default:
		core_key(core, (uint8_t)(line - WIRING_KEY_START + 1), active);
		break;
	}
}

/*
 * Edges were lost: nobody knows how many cards have fallen, whether another card is at the card
 * sensor, or another board is in.
 */
static void lost_edges(struct mechanics *m, struct core *core, enum wiring_line line)
{
	if (line == WIRING_READER) {
		reader_lost(&m->reader);
		m->interrupted |= m->doing != DOING_FEED;
		return;
	}
	if (line == WIRING_CARD) {
		m->kept = false;
		if (m->path == PATH_EMPTY && has_exits(m))
			m->path = PATH_DOUBT;
	}
	m->old_board |= line == WIRING_BOARD;
	core_trouble(core, MECHANICS_LOST_EDGES);
	trouble_is_over(m, core);
}

static void edge(struct mechanics *m, struct core *core, enum wiring_line line,
		 struct gpiod_edge_event *event)
{
	const bool active = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
	const unsigned long seqno = gpiod_edge_event_get_line_seqno(event);

	if (seqno != m->seqno[line] + 1)
		lost_edges(m, core, line);
	m->seqno[line] = seqno;
	if (line != WIRING_READER) {
		input(m, core, line, active, gpiod_edge_event_get_timestamp_ns(event));
		return;
	}
	if (m->doing == DOING_FEED) {
		/* about a µs; the product of time and speed is what counts */
		reader_edge(&m->reader, (uint32_t)(gpiod_edge_event_get_timestamp_ns(event) >> 10),
			    active);
	} else {
		m->passed += m->passed <= TAIL;
		m->passed_at = now_ns();
	}
}

static void read_edges(struct mechanics *m, struct core *core, enum wiring_line line)
{
	struct gpiod_line_request *request = m->requests[line];
	int count, n;

	while (request && !m->error && (count = gpiod_line_request_wait_edge_events(request, 0))) {
		if (count > 0)
			count = gpiod_line_request_read_edge_events(request, m->buffer, EVENTS);
		if (count < 0)
			lose(m);
		for (n = 0; n < count; n++)
			edge(m, core, line,
			     gpiod_edge_event_buffer_get_event(m->buffer, (unsigned long)n));
		if (count < EVENTS)
			break;
	}
}

/* -- time -- */

static void blink(struct mechanics *m, uint64_t now)
{
	const bool on = now < m->blink_until && !m->level[WIRING_LAMP] && !m->level[WIRING_BUZZER];

	if (now < m->blink_at)
		return;
	switch_line(m, WIRING_LAMP, on);
	switch_line(m, WIRING_BUZZER, on);
	m->blink_at = now < m->blink_until ? now + BLINK : NEVER;
}

static void time_passes(struct mechanics *m, struct core *core, uint64_t now)
{
	for (enum wiring_line line = 0; line < WIRING_INPUTS; line++)
		if (m->off_at[line] <= now)
			switch_line(m, line, false);
	if (m->path == PATH_CARD && has_exits(m) && !m->level[WIRING_BOARD])
		person_was_there(m, core, false);
	if (m->old_board && !m->level[WIRING_BOARD] && now - m->gone_at >= AWAY) {
		m->old_board = false;
		trouble_is_over(m, core);
	}
	blink(m, now);
	if (m->doing == DOING_GATE && m->due <= now) {
		m->doing = DOING_NOTHING;
		core_gate_set(core);
	} else if (m->doing == DOING_FALL && m->due <= now) {
		finish_fall(m, core);
	} else if (m->doing == DOING_PURGE && m->due <= now) {
		switch_line(m, WIRING_RELEASE, false);
		set_path(m, core, m->level[WIRING_CARD] ? PATH_DOUBT : PATH_EMPTY);
		begin_to_read(m, core, now);
	} else if (m->doing == DOING_READ) {
		begin_to_read(m, core, now);
	}
	if (m->halted) {
		/* a card that was let go, and did not go */
		m->halted = false;
		core_reader(core, m->level[WIRING_CARD]);
		set_path(m, core, m->path);
	}
	if (m->beat_at <= now) {
		switch_line(m, WIRING_HEARTBEAT, !m->level[WIRING_HEARTBEAT]);
		m->beat_at = now + BEAT;
		/* the circuit of docs/build-a-machine.md sees rising edges */
		if (m->level[WIRING_HEARTBEAT] != m->wiring.lines[WIRING_HEARTBEAT].active_low)
			m->pulse_at = now;
	}
}

/*
 * The watchdog circuit may have taken the power of motors and gates. It gives it back after some
 * beats. Called before the edges are read, which may tell that a card has fallen: nobody knows
 * through what.
 */
static void after_hang(struct mechanics *m, struct core *core, uint64_t now)
{
	if (!wiring_has(&m->wiring, WIRING_HEARTBEAT) || !m->pulse_at || now - m->pulse_at <= HANG)
		return;
	if (m->doing == DOING_GATE) {
		m->due = now + BEATS * BEAT + m->wiring.settle_ms * MS;
	} else if (m->doing == DOING_PURGE) {
		switch_line(m, WIRING_RELEASE, false);
		m->doing = DOING_READ;
		m->due = 1;
	} else if (m->doing == DOING_FALL) {
		core_trouble(core, MECHANICS_HUNG);
		trouble_is_over(m, core);
	}
}

int mechanics_fd(const struct mechanics *m)
{
	return m->epoll;
}

int mechanics_handle(struct mechanics *m, struct core *core)
{
	struct epoll_event ready[WIRING_LINES];
	uint64_t times;
	int count;

	core_clock(core, mechanics_clock());
	if (m->error)
		return m->error;
	/*
	 * The timer counts until it is read. It was set again for a moment that may not have come.
	 */
	if (read(m->timer, &times, sizeof(times)) < 0 && errno != EAGAIN)
		lose(m);
	after_hang(m, core, now_ns());
	count = epoll_wait(m->epoll, ready, WIRING_LINES, 0);
	/* The code of a card has passed before the card sensor sees the card. */
	read_edges(m, core, WIRING_READER);
	for (int n = 0; n < count; n++)
		if (ready[n].data.u32 < WIRING_LINES && ready[n].data.u32 != WIRING_READER)
			read_edges(m, core, ready[n].data.u32);
	time_passes(m, core, now_ns());
	if (m->error) {
		all_off(m);
		core_trouble(core, MECHANICS_LOST_LINES);
		return m->error;
	}
	arm(m);
	return 0;
}

int mechanics_real_time(char *warning, size_t size)
{
	const struct sched_param param = { .sched_priority = PRIORITY };
	volatile char stack[STACK];
	int error = 0;

	*warning = 0;
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		error = -errno;
		snprintf(warning, size, "SCHED_FIFO is refused (%s): other programs may delay a "
					"gate. Run the program as a service with LimitRTPRIO=%d, "
					"or as root", strerror(errno), PRIORITY);
	} else if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		error = -errno;
		snprintf(warning, size,
			 "locking memory is refused (%s): reading a page from the disk may "
			 "delay a gate. Run the program as a service with LimitMEMLOCK=infinity, "
			 "or as root", strerror(errno));
	}
	/* have the pages of the stack before a card moves */
	for (size_t n = 0; n < sizeof(stack); n += 1024)
		stack[n] = 0;
	return error;
}

/* -- lines -- */

static bool cannot(char *error, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool cannot(char *error, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, size, format, args);
	va_end(args);
	return false;
}

static bool watch(struct mechanics *m, int fd, uint32_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = data };

	return fd >= 0 && !epoll_ctl(m->epoll, EPOLL_CTL_ADD, fd, &event);
}

static bool open_line(struct mechanics *m, enum wiring_line line, char *error, size_t size)
{
	const struct wiring_setting *set = &m->wiring.lines[line];
	const bool output = line < WIRING_INPUTS;
	char why[160], called[WIRING_NAME];
	int value;

	wiring_name(line, called);
	m->requests[line] = gpio_request(set, output ? GPIO_OUTPUT : GPIO_INPUT,
					 line == WIRING_READER ? READER_EVENTS : EVENTS,
					 &m->offsets[line], why, sizeof(why));
	if (!m->requests[line])
		return cannot(error, size, "line %u: %s: %s", set->at, called, why);
	if (output)
		return true;
	value = gpiod_line_request_get_value(m->requests[line], m->offsets[line]);
	m->level[line] = value == GPIOD_LINE_VALUE_ACTIVE;
	if (value >= 0 && watch(m, gpiod_line_request_get_fd(m->requests[line]), line))
		return true;
	return cannot(error, size, "line %u: %s cannot be watched: %s", set->at, called,
		      strerror(errno));
}

struct mechanics *mechanics_open(const struct wiring *wiring, char *error, size_t size)
{
	struct mechanics *m = calloc(1, sizeof(*m));
	bool good;

	if (!m) {
		cannot(error, size, "no memory");
		return NULL;
	}
	m->wiring = *wiring;
	m->blink_at = NEVER;
	m->blocked = WIRING_LINES;
	m->fresh = true;
	/* nobody knows how the last program ended; without exit sensors, a person has to look */
	m->path = has_exits(m) ? PATH_DOUBT : PATH_CARD;
	m->halted = true;
	for (unsigned int n = 0; n < WIRING_LINES; n++)
		m->off_at[n] = NEVER;
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	m->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	m->buffer = gpiod_edge_event_buffer_new(EVENTS);
	good = m->buffer && watch(m, m->timer, WIRING_LINES);
	if (!good)
		cannot(error, size, "no timer or no memory: %s", strerror(errno));
	for (enum wiring_line line = 0; good && line < WIRING_LINES; line++)
		if (wiring_has(wiring, line))
			good = open_line(m, line, error, size);
	if (!good) {
		mechanics_close(m);
		return NULL;
	}
	arm(m);
	return m;
}

void mechanics_close(struct mechanics *m)
{
	if (!m)
		return;
	all_off(m);
	for (unsigned int n = 0; n < WIRING_LINES; n++)
		gpiod_line_request_release(m->requests[n]);
	gpiod_edge_event_buffer_free(m->buffer);
	if (m->timer >= 0)
		close(m->timer);
	if (m->epoll >= 0)
		close(m->epoll);
	free(m);
}
