// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wiring.h"

#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX	200u	/* libinih's lines are not longer */
#define FALL_MOST	1000u	/* after which the core calls it a jam */
#define DEBOUNCE	5u
#define DEBOUNCE_MOST	100u

/*
 * count: lines with a letter or a digit each, instead of a key. most: the longest guard time, in ms
 */
static const struct row {
	enum wiring_line line;
	const char *section, *key;
	unsigned int count;
	bool needed;
	uint32_t most;
} rows[] = {
	{ WIRING_FEED, "outputs", "feed", 1, true, 5000 },
	{ WIRING_RELEASE, "outputs", "release", 1, true, 2000 },
	{ WIRING_LOCK, "outputs", "lock", 1, false, 3600000 },
	{ WIRING_LAMP, "outputs", "lamp", 1, false, 60000 },
	{ WIRING_BUZZER, "outputs", "buzzer", 1, false, 5000 },
	{ WIRING_HEARTBEAT, "outputs", "heartbeat", 1, true, 0 },
	{ WIRING_GATE, "gates", "a", WIRING_GATES, false, 5000 },
	{ WIRING_READER, "inputs", "reader", 1, true, 0 },
	{ WIRING_CARD, "inputs", "card", 1, true, 0 },
	{ WIRING_HOPPER, "inputs", "hopper", 1, true, 0 },
	{ WIRING_BOARD, "inputs", "board", 1, true, 0 },
	{ WIRING_COVER, "inputs", "cover", 1, false, 0 },
	{ WIRING_DOUBLE, "inputs", "double", 1, false, 0 },
	{ WIRING_KEY_START, "inputs", "key-start", 1, false, 0 },
	{ WIRING_KEY_STOP, "inputs", "key-stop", 1, false, 0 },
	{ WIRING_KEY_RELEASE, "inputs", "key-release", 1, false, 0 },
	{ WIRING_EXIT, "exits", "0", CORE_POCKETS, false, 0 },
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

/* State of the parser */
struct reading_of {
	struct wiring *wiring;
	const char *text;
	unsigned int line, wrong;
	bool settle, fall, hopper, capacity;
};

static int wrong(struct reading_of *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Keep the first error. Returns 0, which is failure for libinih. */
static int wrong(struct reading_of *r, const char *format, ...)
{
	va_list args;

	if (r->wrong)
		return 0;
	r->wrong = r->line ? r->line : 1;
	va_start(args, format);
	vsnprintf(r->wiring->error, sizeof(r->wiring->error), format, args);
	va_end(args);
	return 0;
}

static const struct row *row_of(enum wiring_line line)
{
	size_t n;

	for (n = 0; line < rows[n].line || line >= rows[n].line + rows[n].count; n++)
		;
	return &rows[n];
}

void wiring_name(enum wiring_line line, char name[WIRING_NAME])
{
	const struct row *row = row_of(line);

	if (row->count == 1)
		snprintf(name, WIRING_NAME, "[%s] %s", row->section, row->key);
	else
		snprintf(name, WIRING_NAME, "[%s] %c", row->section,
			 (int)(*row->key + line - row->line));
}

/* Read a number from least to most. Returns false if it is none. */
static bool read_number(const char *word, uint32_t least, uint32_t most, uint32_t *number)
{
	unsigned long value = 0;
	char *end;

	if (*word < '0' || *word > '9' || strlen(word) > 9)
		return false;
	value = strtoul(word, &end, 10);
	*number = (uint32_t)value;
	return !*end && value >= least && value <= most;
}

/* Returns the text behind a prefix, or NULL */
static const char *behind(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) ? NULL : word + strlen(prefix);
}

static int read_debounce(struct reading_of *r, enum wiring_line line, struct wiring_setting *set,
			 const char *ms)
{
	uint32_t number;

	if (line == WIRING_READER)
		return wrong(r,
			     "the reader must not be debounced: "
			     "the times of its edges are the code");
	if (!read_number(ms, 0, DEBOUNCE_MOST, &number))
		return wrong(r, "debounce=%s is no time from 0 to %u ms", ms, DEBOUNCE_MOST);
	set->debounce_us = number * 1000;
	return 1;
}

static int read_option(struct reading_of *r, enum wiring_line line, struct wiring_setting *set,
		       const char *word)
{
	const bool input = line >= WIRING_INPUTS;
	const struct row *row = row_of(line);
	const char *number;

	if (!strcmp(word, "active-low")) {
		set->active_low = true;
		return 1;
	}
	if (input && !strcmp(word, "pull-up")) {
		set->bias = WIRING_PULL_UP;
		return 1;
	}
	if (input && !strcmp(word, "pull-down")) {
		set->bias = WIRING_PULL_DOWN;
		return 1;
	}
	if (line == WIRING_READER && !strcmp(word, "reversed")) {
		set->reversed = true;
		return 1;
	}
	number = behind(word, "debounce=");
	if (input && number)
		return read_debounce(r, line, set, number);
	number = behind(word, "most=");
	if (row->most && number) {
		if (read_number(number, 1, row->most, &set->most_ms))
			return 1;
		return wrong(r, "most=%s is no time from 1 to %u ms", number, row->most);
	}
	return wrong(r, "\"%s\" is no option of an %s such as this", word,
		     input ? "input" : "output");
}

/* "gpiochip0 17 active-low most=500" */
static int read_line(struct reading_of *r, enum wiring_line line, char *value)
{
	struct wiring_setting *set = &r->wiring->lines[line], *other;
	char *state = NULL, *chip = strtok_r(value, " \t", &state),
	     *name = strtok_r(NULL, " \t", &state);
	char *word, called[WIRING_NAME];
	unsigned int n;

	if (set->at)
		return wrong(r, "this is set in line %u, too", set->at);
	if (!name)
		return wrong(r, "the chip and the line are needed, as in \"gpiochip0 17\"");
	if (strlen(chip) >= WIRING_NAME || strlen(name) >= WIRING_NAME)
		return wrong(r, "the name of chip or line is too long");
	strcpy(set->chip, chip);
	strcpy(set->name, name);
	if (line > WIRING_READER)
		set->debounce_us = DEBOUNCE * 1000;
	while ((word = strtok_r(NULL, " \t", &state)))
		if (!read_option(r, line, set, word))
			return 0;
	if (row_of(line)->most && !set->most_ms)
		return wrong(r, "most=MS is needed: the longest time that this may be on");
	for (n = 0; n < WIRING_LINES; n++) {
		other = &r->wiring->lines[n];
		if (!other->at || strcmp(other->chip, chip) || strcmp(other->name, name))
			continue;
		wiring_name(n, called);
		return wrong(r, "line %s of %s is %s already", name, chip, called);
	}
	set->at = r->line;
	return 1;
}

/* "a c", "none" */
static int read_pocket(struct reading_of *r, const char *key, char *value)
{
	struct wiring *w = r->wiring;
	char *state = NULL, *word;
	uint32_t number;
	uint8_t gates = 0;

	if (!read_number(key, 0, CORE_POCKETS - 1, &number))
		return wrong(r, "\"%s\" is no pocket from 0 to %u", key, CORE_POCKETS - 1);
	if (number != w->pockets)
		return wrong(r, "pocket %u is next: pockets are numbered from 0", w->pockets);
	if (!*value)
		return wrong(r, "gates are needed, or \"none\"");
	for (word = strtok_r(value, " \t", &state); word; word = strtok_r(NULL, " \t", &state)) {
		if (!gates && !strcmp(word, "none") && !strtok_r(NULL, " \t", &state))
			break;
		if (*word < 'a' || *word >= 'a' + WIRING_GATES || word[1] ||
		    !wiring_has(w, WIRING_GATE + (enum wiring_line)(*word - 'a')))
			return wrong(r, "\"%s\" is no gate of [gates] above", word);
		gates |= (uint8_t)(1 << (*word - 'a'));
	}
	for (number = 0; number < w->pockets; number++)
		if (w->gates[number] == gates)
			return wrong(r, "pocket %u has the same gates", number);
	w->gates[w->pockets++] = gates;
	return 1;
}

static int read_once(struct reading_of *r, bool *known, const char *value, uint32_t least,
		     uint32_t most, uint32_t *number)
{
	if (*known)
		return wrong(r, "this is set twice");
	*known = read_number(value, least, most, number);
	return *known || wrong(r, "\"%s\" is no number from %u to %u", value, least, most);
}

static int read_model(struct reading_of *r, const char *value)
{
	if (*r->wiring->model)
		return wrong(r, "this is set twice");
	if (!*value || strlen(value) >= sizeof(r->wiring->model))
		return wrong(r, "the model needs a name of at most %zu bytes",
			     sizeof(r->wiring->model) - 1);
	strcpy(r->wiring->model, value);
	return 1;
}

static int read_other(struct reading_of *r, const char *section, const char *key, const char *value)
{
	struct wiring *w = r->wiring;
	uint32_t number = 0;
	int good;

	if (!strcmp(section, "machine") && !strcmp(key, "model"))
		return read_model(r, value);
	if (!strcmp(section, "machine") && !strcmp(key, "capacity")) {
		good = read_once(r, &r->capacity, value, 1, CORE_PLAN_CARDS, &number);
		w->capacity = (uint8_t)number;
		return good;
	}
	if (!strcmp(section, "machine") && !strcmp(key, "hopper")) {
		good = read_once(r, &r->hopper, value, 1, UINT16_MAX, &number);
		w->hopper = (uint16_t)number;
		return good;
	}
	if (!strcmp(section, "times") && !strcmp(key, "settle"))
		return read_once(r, &r->settle, value, 1, WIRING_SETTLE_MOST, &w->settle_ms);
	if (!strcmp(section, "times") && !strcmp(key, "fall"))
		return read_once(r, &r->fall, value, 1, FALL_MOST - 100, &w->fall_ms);
	return wrong(r, "[%s] has no setting \"%s\"", section, key);
}

static int take(void *context, const char *section, const char *key, const char *value)
{
	struct reading_of *r = context;
	char copy[VALUE_MAX];
	size_t n;

	if (r->wrong)
		return 0;
	snprintf(copy, sizeof(copy), "%s", value);
	if (!strcmp(section, "pockets"))
		return read_pocket(r, key, copy);
	for (n = 0; n < ROWS; n++) {
		const unsigned int which = rows[n].count == 1 ?
					   0 : (unsigned char)*key - *rows[n].key;

		if (strcmp(section, rows[n].section) || which >= rows[n].count)
			continue;
		if (rows[n].count == 1 ? !strcmp(key, rows[n].key) : !key[1])
			return read_line(r, rows[n].line + which, copy);
	}
	return read_other(r, section, key, copy);
}

/* The next line, for libinih, which would split a line that is too long */
static char *next_line(char *buf, int size, void *context)
{
	struct reading_of *r = context;
	const size_t length = strcspn(r->text, "\n");

	if (!*r->text || r->wrong)
		return NULL;
	r->line++;
	if (length + 2 > (size_t)size || length >= VALUE_MAX) {
		wrong(r, "the line is too long");
		return NULL;
	}
	memcpy(buf, r->text, length);
	buf[length] = 0;
	r->text += length + (r->text[length] == '\n');
	return buf;
}

/* Check that required settings are there, and that settings agree with each other. */
static int check(struct reading_of *r)
{
	struct wiring *w = r->wiring;
	unsigned int n, pocket, exits = 0, used = 0;
	char called[WIRING_NAME];
	uint32_t gate_most;

	for (n = 0; n < ROWS; n++)
		if (rows[n].needed && !wiring_has(w, rows[n].line))
			return wrong(r, "[%s] %s is missing%s", rows[n].section, rows[n].key,
				     rows[n].line == WIRING_HEARTBEAT ?
				     ": without it, nothing stops the motors "
				     "of a computer that hangs" : "");
	if (!r->capacity || !r->hopper)
		return wrong(r, "[machine] %s is missing", r->capacity ? "hopper" : "capacity");
	if (w->pockets < 2)
		return wrong(r, "[pockets] needs at least 2 pockets");
	if (!r->settle)
		return wrong(r, "[times] settle is missing");
	for (pocket = 0; pocket < CORE_POCKETS; pocket++) {
		used |= pocket < w->pockets ? w->gates[pocket] : 0;
		exits += wiring_has(w, WIRING_EXIT + pocket);
		if (wiring_has(w, WIRING_EXIT + pocket) && pocket >= w->pockets)
			return wrong(r, "[exits] %u: there is no such pocket", pocket);
	}
	if (exits && exits != w->pockets)
		return wrong(r, "[exits] needs a sensor for each pocket, or none");
	if (!exits && !r->fall)
		return wrong(r, "[times] fall is missing: it is needed without [exits]");
	/* the gate stays until the core calls it a jam */
	gate_most = w->settle_ms + FALL_MOST;
	for (n = 0; n < WIRING_GATES; n++) {
		if (!wiring_has(w, WIRING_GATE + n))
			continue;
		wiring_name(WIRING_GATE + n, called);
		if (!(used >> n & 1))
			return wrong(r, "%s is the gate of no pocket", called);
		if (w->lines[WIRING_GATE + n].most_ms < gate_most)
			return wrong(r, "%s needs most=%u or more: settle, and a fall of %u ms",
				     called, gate_most, FALL_MOST);
	}
	return 1;
}

unsigned int wiring_read(struct wiring *w, const char *text)
{
	struct reading_of r = { .wiring = w, .text = text };
	int error;

	memset(w, 0, sizeof(*w));
	error = ini_parse_stream(next_line, &r, take, &r);
	/*
	 * libinih goes on behind a line that is neither section nor setting, and tells its number
	 */
	if (error < 0 || (error && (!r.wrong || (unsigned int)error < r.wrong))) {
		r.line = error > 0 ? (unsigned int)error : r.line;
		r.wrong = 0;
		wrong(&r, error > 0 ? "this is neither a section nor NAME = VALUE" : "no memory");
	}
	if (!r.wrong && check(&r) && !*w->model)
		strcpy(w->model, "dealbox-machine");
	return r.wrong;
}

void wiring_config(const struct wiring *w, struct core_config *config)
{
	config->reader = 1;
	config->pockets = w->pockets;
	config->capacity = w->capacity;
	config->hopper = w->hopper;
	config->plan_cards = CORE_PLAN_CARDS;
	memcpy(config->model, w->model, sizeof(config->model));
	if (wiring_has(w, WIRING_EXIT))
		config->capabilities |= CORE_EXIT_SENSORS;
	if (wiring_has(w, WIRING_LOCK))
		config->capabilities |= CORE_BOARD_LOCK;
	if (wiring_has(w, WIRING_DOUBLE))
		config->capabilities |= CORE_DOUBLE_FEED_SENSOR;
	if (wiring_has(w, WIRING_KEY_START) || wiring_has(w, WIRING_KEY_STOP) ||
	    wiring_has(w, WIRING_KEY_RELEASE))
		config->capabilities |= CORE_KEYS;
}
