// SPDX-License-Identifier: LGPL-2.1-or-later
#include "measure.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "gpio.h"
#include "mechanics.h"

#define MS		1000000ll	/* ns */
#define BEAT		(10 * MS)
#define EVENTS		64
#define READER_EVENTS	1024
#define ROUNDS		2u		/* cards for each pocket and time */
#define REST		(100 * MS)	/* until a card that was fed lies still */
#define FALL		1000		/* ms; the core calls more a jam */
#define CARDS_MAX	64

enum step { STEP_FEED, STEP_CODE, STEP_CARD, STEP_LEAVE, STEP_FALL, STEPS };

static const char *const steps[STEPS] = {
	[STEP_FEED] = "from feed to the code",
	[STEP_CODE] = "the code",
	[STEP_CARD] = "from the code to the card sensor",
	[STEP_LEAVE] = "from release until the card sensor is free",
	[STEP_FALL] = "from there to the exit sensor",
};

/* Result of one card */
enum end { END_RIGHT, END_WRONG, END_NO_CARD, END_NO_EXIT };

struct measured {
	const struct wiring *wiring;
	int signals;
	FILE *out;
	struct gpiod_line_request *requests[WIRING_LINES];
	unsigned int offsets[WIRING_LINES];
	struct gpiod_edge_event_buffer *buffer;
	int64_t beat_at;
	bool beat;
	bool stopped; /* an output failed, or a person may be reaching in: no more beats */
	int64_t rose[WIRING_LINES], fell[WIRING_LINES];	/* the last times, of this card */
	int64_t code_at;				/* the first edge of the reader */
	int64_t times[STEPS][CARDS_MAX];
	unsigned int count;				/* of times */
};

static int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * (1000 * MS) + now.tv_nsec;
}

static void switch_line(struct measured *m, enum wiring_line line, bool on)
{
	if (m->requests[line] && !(on && m->stopped) &&
	    gpiod_line_request_set_value(m->requests[line], m->offsets[line],
					 on ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE))
		m->stopped = true;
}

static void set_gates(struct measured *m, uint8_t gates)
{
	for (unsigned int n = 0; n < WIRING_GATES; n++)
		switch_line(m, WIRING_GATE + n, gates >> n & 1);
}

static void rest(struct measured *m)
{
	switch_line(m, WIRING_FEED, false);
	switch_line(m, WIRING_RELEASE, false);
	set_gates(m, 0);
}

static bool is_active(const struct measured *m, enum wiring_line line)
{
	return gpiod_line_request_get_value(m->requests[line], m->offsets[line]) ==
	       GPIOD_LINE_VALUE_ACTIVE;
}

static bool is_in_danger(const struct measured *m)
{
	return (m->requests[WIRING_COVER] && is_active(m, WIRING_COVER)) ||
	       (m->requests[WIRING_KEY_STOP] && is_active(m, WIRING_KEY_STOP));
}

static void take(struct measured *m, enum wiring_line line)
{
	const int count = gpiod_line_request_read_edge_events(m->requests[line], m->buffer, EVENTS);

	for (int n = 0; n < count; n++) {
		struct gpiod_edge_event *event =
			gpiod_edge_event_buffer_get_event(m->buffer, (unsigned long)n);
		const int64_t at = (int64_t)gpiod_edge_event_get_timestamp_ns(event);

		if (gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE)
			m->rose[line] = at;
		else
			m->fell[line] = at;
		if (line == WIRING_READER && !m->code_at)
			m->code_at = at;
	}
}

/* Take edges until a time, or until *what is no longer 0. The heartbeat goes on. */
static bool until(struct measured *m, int64_t end, const int64_t *what)
{
	enum wiring_line lines[WIRING_LINES];
	struct pollfd waits[WIRING_LINES + 1];
	unsigned int count = 0;

	for (enum wiring_line line = WIRING_INPUTS; line < WIRING_LINES; line++)
		if (m->requests[line]) {
			lines[count] = line;
			waits[count++] = (struct pollfd){
				.fd = gpiod_line_request_get_fd(m->requests[line]),
				.events = POLLIN
			};
		}
	waits[count] = (struct pollfd){ .fd = m->signals, .events = POLLIN };
	for (int64_t now = clock_now(); now < end && !(what && *what) && !m->stopped;
	     now = clock_now()) {
		const int64_t next = end < m->beat_at ? end : m->beat_at;
		const int64_t left = next > now ? next - now : 0;
		const struct timespec time = { .tv_sec = left / (1000 * MS),
					       .tv_nsec = left % (1000 * MS) };

		ppoll(waits, count + 1, &time, NULL);
		for (unsigned int n = 0; n < count; n++)
			if (waits[n].revents & POLLIN)
				take(m, lines[n]);
		if (waits[count].revents || is_in_danger(m)) {
			m->stopped = true;
			rest(m);
		}
		if (!m->stopped && clock_now() >= m->beat_at) {
			m->beat = !m->beat;
			switch_line(m, WIRING_HEARTBEAT, m->beat);
			m->beat_at = clock_now() + BEAT;
		}
	}
	return what && *what;
}

/* The exit that has seen the card, or pockets: none */
static uint8_t exit_of(const struct measured *m)
{
	uint8_t pocket = 0;

	while (pocket < m->wiring->pockets && !m->rose[WIRING_EXIT + pocket])
		pocket++;
	return pocket;
}

static enum end pass(struct measured *m, uint8_t pocket, int64_t settle, bool keep)
{
	const int64_t feed_most = m->wiring->lines[WIRING_FEED].most_ms * MS;
	const int64_t release_most = m->wiring->lines[WIRING_RELEASE].most_ms * MS;
	int64_t fed, released, end;

	for (unsigned int n = 0; n < WIRING_LINES; n++)
		m->rose[n] = m->fell[n] = 0;
	m->code_at = 0;
	switch_line(m, WIRING_FEED, true);
	fed = clock_now();
	if (!is_active(m, WIRING_CARD) && !until(m, fed + feed_most, &m->rose[WIRING_CARD]))
		return END_NO_CARD;
	switch_line(m, WIRING_FEED, false);
	until(m, clock_now() + REST, NULL);
	set_gates(m, m->wiring->gates[pocket]);
	until(m, clock_now() + settle, NULL);
	m->fell[WIRING_CARD] = 0;
	switch_line(m, WIRING_RELEASE, true);
	released = clock_now();
	end = released + (release_most < FALL * MS ? release_most : FALL * MS);
	if (!until(m, end, &m->fell[WIRING_CARD]))
		return END_NO_EXIT;
	while (exit_of(m) == m->wiring->pockets && clock_now() < end && !m->stopped)
		until(m, clock_now() + 1 * MS, NULL);
	rest(m);
	until(m, clock_now() + REST, NULL);
	if (exit_of(m) == m->wiring->pockets)
		return END_NO_EXIT;
	if (keep && m->count < CARDS_MAX && m->code_at) {
		const int64_t last = m->fell[WIRING_READER] > m->rose[WIRING_READER] ?
				     m->fell[WIRING_READER] : m->rose[WIRING_READER];
		const int64_t taken[STEPS] = {
			[STEP_FEED] = m->code_at - fed, [STEP_CODE] = last - m->code_at,
			[STEP_CARD] = m->rose[WIRING_CARD] - last,
			[STEP_LEAVE] = m->fell[WIRING_CARD] - released,
			[STEP_FALL] = m->rose[WIRING_EXIT + exit_of(m)] - m->fell[WIRING_CARD],
		};

		for (unsigned int n = 0; n < STEPS; n++)
			m->times[n][m->count] = taken[n];
		m->count++;
	}
	return exit_of(m) == pocket ? END_RIGHT : END_WRONG;
}

static int by_size(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

static void print_times(struct measured *m)
{
	fprintf(m->out, "%-44s %8s %8s %8s ms\n", "", "least", "median", "most");
	for (unsigned int n = 0; n < STEPS && m->count; n++) {
		int64_t *times = m->times[n];
		const size_t middle = m->count / 2;

		qsort(times, m->count, sizeof(*times), by_size);
		fprintf(m->out, "%-44s %8.1f %8.1f %8.1f\n", steps[n],
			(double)times[0] / (double)MS, (double)times[middle] / (double)MS,
			(double)times[m->count - 1] / (double)MS);
	}
	fflush(m->out);
}

/* Each pocket comes after each other one, so that gates move. Returns the worst end. */
static enum end round_of(struct measured *m, uint32_t settle_ms, bool keep)
{
	enum end worst = END_RIGHT;
	unsigned int wrong = 0;

	for (unsigned int n = 0; n < ROUNDS * m->wiring->pockets; n++) {
		const uint8_t pocket =
			(uint8_t)(n * (n / m->wiring->pockets % 2 ? m->wiring->pockets - 1 : 1) %
				  m->wiring->pockets);
		const enum end end = pass(m, pocket, settle_ms * MS, keep);

		rest(m);
		worst = end > worst ? end : worst;
		wrong += end == END_WRONG;
		if (end > END_WRONG)
			return end;
	}
	fprintf(m->out, "settle = %u: %u of %u cards into a wrong pocket\n", settle_ms, wrong,
		ROUNDS * m->wiring->pockets);
	fflush(m->out);
	return worst;
}

static int measure_all(struct measured *m)
{
	static const char *const ends[] = {
		[END_NO_CARD] = "no card came: is the hopper empty?",
		[END_NO_EXIT] = "a card was released, and no exit sensor saw it: look for it",
	};
	uint32_t settle = m->wiring->settle_ms, good = 0;
	enum end end = round_of(m, settle, true);

	print_times(m);
	while (end == END_RIGHT) {
		good = settle;
		settle /= 2;
		if (!settle)
			break;
		end = round_of(m, settle, false);
	}
	if (m->stopped)
		fputs("stopped: by a signal, the cover, the stop key, or an output that failed\n",
		      m->out);
	else if (end > END_WRONG)
		fprintf(m->out, "%s\n", ends[end]);
	if (good && 2 * good <= WIRING_SETTLE_MOST)
		fprintf(m->out,
			"settle = %u is twice the shortest time without a card in a wrong pocket\n",
			2 * good);
	else if (good)
		fprintf(m->out,
			"settle = %u, the longest, is less than twice the shortest time without a "
			"card in a wrong pocket, %u: let the gates move faster\n",
			WIRING_SETTLE_MOST, good);
	else
		fprintf(m->out, "settle = %u is too short\n", m->wiring->settle_ms);
	fflush(m->out);
	return m->stopped || (end > END_WRONG && !good) ? -EIO : 0;
}

static bool open_lines(struct measured *m)
{
	char error[200], called[WIRING_NAME];

	for (enum wiring_line line = 0; line < WIRING_LINES; line++) {
		if (!wiring_has(m->wiring, line))
			continue;
		m->requests[line] = gpio_request(&m->wiring->lines[line],
						 line < WIRING_INPUTS ? GPIO_OUTPUT : GPIO_INPUT,
						 line == WIRING_READER ? READER_EVENTS : EVENTS,
						 &m->offsets[line], error, sizeof(error));
		if (m->requests[line])
			continue;
		wiring_name(line, called);
		fprintf(m->out, "line %u: %s: %s\n", m->wiring->lines[line].at, called, error);
		return false;
	}
	return true;
}

int measure(const struct wiring *wiring, int signals, FILE *out)
{
	struct measured *m;
	char warning[300];
	int error = -ENOMEM;

	if (!wiring_has(wiring, WIRING_EXIT)) {
		fputs("without [exits], nothing sees where a card falls\n", out);
		return -EINVAL;
	}
	m = calloc(1, sizeof(*m));
	if (m)
		m->buffer = gpiod_edge_event_buffer_new(EVENTS);
	if (m && m->buffer) {
		m->wiring = wiring;
		m->signals = signals;
		m->out = out;
		if (mechanics_real_time(warning, sizeof(warning)))
			fprintf(out, "%s\n", warning);
		error = open_lines(m) ? measure_all(m) : -ENODEV;
		rest(m);
		for (unsigned int n = 0; n < WIRING_LINES; n++)
			gpiod_line_request_release(m->requests[n]);
		gpiod_edge_event_buffer_free(m->buffer);
	}
	free(m);
	return error;
}
