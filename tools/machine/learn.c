// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Inputs are found: the person moves a part there and back, and the line that changes twice is the
 * one. Only lines that the person has named are watched: watching makes a line an input, which a
 * board's SD card or network may need for something else. Outputs are named one by one, and tried
 * for a moment.
 */
#include "learn.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpio.h"

#define LINES_MAX	256u
#define TEXT_MAX	16384u
#define ANSWER_MAX	120u
#define EVENTS		16
#define DEBOUNCE_US	5000u
#define TRIAL_MS	200
#define BEAT_MS		10
#define QUIET_MS	2000	/* in which nobody moves anything */

/* A line that may be an input */
struct free_line {
	char chip[WIRING_NAME], name[WIRING_NAME];
	struct gpiod_line_request *request;
	bool taken;			/* known, or it changes by itself */
};

struct learn {
	FILE *in, *out;
	char answer[ANSWER_MAX];
	struct wiring_setting heartbeat;	/* when it is known */
	struct gpiod_edge_event_buffer *buffer;
	struct free_line lines[LINES_MAX];
	unsigned int count;
	char text[TEXT_MAX];
	size_t length;
	bool full;			/* text is too short */
};

static const struct part {
	const char *section, *key, *what, *options;
	bool optional;
} inputs[] = {
	{ "inputs", "reader", "hold something black before the reader, and take it away", "",
	  false },
	{ "inputs", "card", "push a card to its place behind the reader, and take it away",
	  " debounce=2", false },
	{ "inputs", "hopper", "put cards into the hopper, and take them out", " debounce=20",
	  false },
	{ "inputs", "board", "insert a board, and take it out", " debounce=50", false },
	{ "inputs", "cover", "open the cover, and close it", " debounce=10", true },
	{ "inputs", "double", "put two cards into the sensor for double feeds, and take them out",
	  "", true },
	{ "inputs", "key-start", "press the start key, and let it go", " debounce=20", true },
	{ "inputs", "key-stop", "press the stop key, and let it go", " debounce=20", true },
	{ "inputs", "key-release", "press the key that releases the board, and let it go",
	  " debounce=20", true },
	{ "exits", "0", "drop a card into pocket 0", " debounce=2", true },
	{ "exits", "1", "drop a card into pocket 1", " debounce=2", true },
	{ "exits", "2", "drop a card into pocket 2", " debounce=2", true },
	{ "exits", "3", "drop a card into pocket 3", " debounce=2", true },
	{ "exits", "4", "drop a card into pocket 4", " debounce=2", true },
	{ "exits", "5", "drop a card into pocket 5", " debounce=2", true },
	{ "exits", "6", "drop a card into pocket 6", " debounce=2", true },
	{ "exits", "7", "drop a card into pocket 7", " debounce=2", true },
}, outputs[] = {
	{ "outputs", "heartbeat", "the watchdog's input", "", false },
	{ "outputs", "feed", "the motor from the hopper to the reader", " most=3000", false },
	{ "outputs", "release", "the motor from the reader to the pockets", " most=1200", false },
	{ "outputs", "lock", "the lock of the board", " most=1800000", true },
	{ "outputs", "lamp", "the lamp", " most=60000", true },
	{ "outputs", "buzzer", "the buzzer", " most=2000", true },
	{ "gates", "a", "gate a, the first one", " most=1500", true },
	{ "gates", "b", "gate b", " most=1500", true },
	{ "gates", "c", "gate c", " most=1500", true },
	{ "gates", "d", "gate d", " most=1500", true },
	{ "gates", "e", "gate e", " most=1500", true },
	{ "gates", "f", "gate f", " most=1500", true },
	{ "gates", "g", "gate g", " most=1500", true },
	{ "gates", "h", "gate h", " most=1500", true },
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static void say(struct learn *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct learn *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(l->out, format, args);
	va_end(args);
	fputc('\n', l->out);
	fflush(l->out);
}

static void put(struct learn *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct learn *l, const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(l->text + l->length, TEXT_MAX - l->length, format, args);
	va_end(args);
	l->full |= size < 0 || (size_t)size >= TEXT_MAX - l->length;
	l->length += l->full ? 0 : (size_t)size;
}

/* Read an answer. Returns false if the person stops. */
static bool hear(struct learn *l)
{
	if (!fgets(l->answer, sizeof(l->answer), l->in))
		return false;
	l->answer[strcspn(l->answer, "\n")] = 0;
	return strcmp(l->answer, "stop");
}

static void sleep_ms(int ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

/* -- lines that may be inputs -- */

static void add_line(struct learn *l, struct gpiod_chip *chip, const char *called,
		     unsigned int offset)
{
	const struct wiring_setting set = { .debounce_us = DEBOUNCE_US };
	struct gpiod_line_info *info = gpiod_chip_get_line_info(chip, offset);
	struct free_line *line = &l->lines[l->count];
	const char *name = info ? gpiod_line_info_get_name(info) : NULL;

	if (info && l->count < LINES_MAX && !gpiod_line_info_is_used(info)) {
		snprintf(line->chip, sizeof(line->chip), "%s", called);
		/* a name that is the only one on its chip, and a word */
		if (name && *name && strlen(name) < WIRING_NAME && !strpbrk(name, " \t;#=") &&
		    gpiod_chip_get_line_offset_from_name(chip, name) == (int)offset)
			strcpy(line->name, name);
		else
			snprintf(line->name, sizeof(line->name), "%u", offset);
		line->request = gpio_request_at(chip, &set, GPIO_INPUT, EVENTS, offset);
		l->count += !!line->request;
	}
	gpiod_line_info_free(info);
}

/* The label of a chip, which stays when chips are numbered in another order, or else its name */
static const char *call(struct gpiod_chip_info *info)
{
	const char *label = gpiod_chip_info_get_label(info);
	struct gpiod_chip *chip;
	char error[200];

	if (!*label || *label == '/' || strlen(label) >= WIRING_NAME || strpbrk(label, " \t;"))
		return gpiod_chip_info_get_name(info);
	chip = gpio_open(label, error, sizeof(error));
	if (!chip)
		return gpiod_chip_info_get_name(info);
	gpiod_chip_close(chip);
	return label;
}

/* "gpiochip0 4-27", "gpiochip0 4" */
static void watch_lines(struct learn *l)
{
	struct gpiod_chip_info *info;
	struct gpiod_chip *chip;
	char name[WIRING_NAME], error[200], behind;
	unsigned int first, last;
	int words;

	words = sscanf(l->answer, "%63s %u-%u%c", name, &first, &last, &behind);
	if (words == 2 && sscanf(l->answer, "%63s %u%c", name, &first, &behind) == 2)
		last = first;
	else if (words != 3)
		return;
	chip = gpio_open(name, error, sizeof(error));
	info = chip ? gpiod_chip_get_info(chip) : NULL;
	if (!info)
		say(l, "%s", chip ? strerror(errno) : error);
	else if (first > last || last >= gpiod_chip_info_get_num_lines(info))
		say(l, "%s has the lines 0 to %zu", name, gpiod_chip_info_get_num_lines(info) - 1);
	else
		for (; first <= last; first++)
			add_line(l, chip, call(info), first);
	gpiod_chip_info_free(info);
	gpiod_chip_close(chip);
}

/* Returns false if the person stops. */
static bool find_lines(struct learn *l)
{
	for (;;) {
		if (l->count)
			say(l, "%u lines are watched. Enter if these are all", l->count);
		else
			say(l, "Which lines lead to the machine, as \"gpiochip0 4-27\"? "
			       "No others are touched");
		if (!hear(l))
			return false;
		if (!*l->answer && l->count)
			return true;
		watch_lines(l);
	}
}

static void release_lines(struct learn *l)
{
	while (l->count)
		gpiod_line_request_release(l->lines[--l->count].request);
}

/* Read the edges of a line. Returns how many came; *rises: the first one. */
static int read_line(struct learn *l, struct free_line *line, bool *rises)
{
	int count = gpiod_line_request_wait_edge_events(line->request, 0);
	struct gpiod_edge_event *first;

	if (count <= 0)
		return 0;
	count = gpiod_line_request_read_edge_events(line->request, l->buffer, EVENTS);
	if (count > 0) {
		first = gpiod_edge_event_buffer_get_event(l->buffer, 0);
		*rises = gpiod_edge_event_get_event_type(first) == GPIOD_EDGE_EVENT_RISING_EDGE;
	}
	return count;
}

/* Lines that change while nobody moves anything float. Nothing is connected to them. */
static void leave_out_noise(struct learn *l)
{
	bool rises;

	sleep_ms(QUIET_MS);
	for (unsigned int n = 0; n < l->count; n++) {
		if (!read_line(l, &l->lines[n], &rises))
			continue;
		l->lines[n].taken = true;
		say(l, "%s line %s changes by itself: left out. A sensor there needs a resistor",
		    l->lines[n].chip, l->lines[n].name);
	}
}

/*
 * Wait for the answer, or for an edge. Returns 1 for an edge, 0 for an answer, -1 if nothing comes.
 */
static int wait_for_any(struct learn *l)
{
	struct pollfd waits[LINES_MAX + 1];

	waits[0] = (struct pollfd){ .fd = fileno(l->in), .events = POLLIN };
	for (unsigned int n = 0; n < l->count; n++)
		waits[n + 1] = (struct pollfd){
			.fd = gpiod_line_request_get_fd(l->lines[n].request), .events = POLLIN
		};
	while (poll(waits, l->count + 1, -1) < 0)
		if (errno != EINTR)
			return -1;
	return !waits[0].revents;
}

/*
 * Wait until one line has changed there and back. Returns it, or NULL: the person has answered
 * "none", or stopped, which *stopped tells.
 */
static struct free_line *find_input(struct learn *l, const struct part *part, bool *active_low,
				    bool *stopped)
{
	struct free_line *seen = NULL;
	bool rises = false;
	int what;

	while ((what = wait_for_any(l)) >= 0) {
		if (!what) {
			*stopped = !hear(l);
			if (*stopped || (part->optional && !strcmp(l->answer, "none")))
				return NULL;
			say(l, part->optional ? "\"none\" leaves it out, \"stop\" ends" :
			    "it is needed; \"stop\" ends");
			continue;
		}
		for (unsigned int n = 0; n < l->count; n++) {
			struct free_line *line = &l->lines[n];
			const int edges = read_line(l, line, &rises);

			if (!edges || line->taken)
				continue;
			if (seen && seen != line) {
				say(l, "%s line %s and line %s have both changed: "
				    "once more, and nothing else",
				    line->chip, seen->name, line->name);
				seen = NULL;
				continue;
			}
			if (!seen) {
				seen = line;
				*active_low = !rises;
				say(l, "seen on %s line %s", line->chip, line->name);
				if (edges == 1)
					continue;
			}
			line->taken = true;
			return line;
		}
	}
	*stopped = true;
	return NULL;
}

static bool learn_inputs(struct learn *l)
{
	const char *section = "";
	bool active_low, stopped = false, exits = true;

	for (size_t n = 0; n < COUNT(inputs); n++) {
		const struct part *part = &inputs[n];
		const struct free_line *line;
		const bool exit = !strcmp(part->section, "exits");

		if (exit && !exits)
			break;
		say(l, "%s%s", part->what, part->optional ? " (or type \"none\")" : "");
		line = find_input(l, part, &active_low, &stopped);
		if (stopped)
			return false;
		exits = !exit || line;
		if (!line)
			continue;
		if (strcmp(section, part->section))
			put(l, "[%s]\n", part->section);
		section = part->section;
		put(l, "%s = %s %s%s%s\n", part->key, line->chip, line->name,
		    active_low ? " active-low" : "", part->options);
	}
	return true;
}

/* -- outputs -- */

/*
 * Measure what the chip does with an output that was on when its line is released. That it goes
 * off, now and on this chip, does not make pull-downs and watchdog unnecessary: a hang releases
 * nothing.
 */
static void measure_release(struct learn *l, const struct wiring_setting *set)
{
	struct gpiod_line_request *request;
	unsigned int offset;
	char error[200];
	int value;

	request = gpio_request(set, GPIO_OUTPUT, 0, &offset, error, sizeof(error));
	if (request)
		gpiod_line_request_set_value(request, offset, GPIOD_LINE_VALUE_ACTIVE);
	gpiod_line_request_release(request);
	request = request ? gpio_request(set, GPIO_LOOK, 0, &offset, error, sizeof(error)) : NULL;
	value = request ? gpiod_line_request_get_value(request, offset) : GPIOD_LINE_VALUE_ERROR;
	gpiod_line_request_release(request);
	if (value == GPIOD_LINE_VALUE_ERROR)
		say(l, "what %s does with a line that is released could not be measured",
		    set->chip);
	else
		say(l, "an output of %s %s when its line is released. A hang releases nothing: the "
		       "watchdog circuit is needed in any case", set->chip,
		    value == GPIOD_LINE_VALUE_ACTIVE ? "stays on" : "goes off");
	put(l, "# measured: after release, an output of %s %s\n", set->chip,
	    value == GPIOD_LINE_VALUE_ACTIVE ? "stays on" :
	    value == GPIOD_LINE_VALUE_INACTIVE ? "goes off" : "is unknown");
}

/* Change the heartbeat every 10 ms, without which the watchdog circuit gives no power. */
static void beat_for(struct learn *l, int ms)
{
	struct gpiod_line_request *request = NULL;
	unsigned int offset;
	char error[200];

	if (*l->heartbeat.chip)
		request =
			gpio_request(&l->heartbeat, GPIO_OUTPUT, 0, &offset, error, sizeof(error));
	for (int n = 0; n < ms / BEAT_MS; n++) {
		if (request)
			gpiod_line_request_set_value(request, offset, n % 2 ?
						     GPIOD_LINE_VALUE_INACTIVE :
						     GPIOD_LINE_VALUE_ACTIVE);
		sleep_ms(BEAT_MS);
	}
	gpiod_line_request_release(request);
}

/* Switch it on for a moment. Returns false if it cannot be. */
static bool try_output(struct learn *l, const struct wiring_setting *set)
{
	struct gpiod_line_request *request;
	unsigned int offset;
	char error[200];

	request = gpio_request(set, GPIO_OUTPUT, 0, &offset, error, sizeof(error));
	if (!request) {
		say(l, "%s", error);
		return false;
	}
	gpiod_line_request_set_value(request, offset, GPIOD_LINE_VALUE_ACTIVE);
	beat_for(l, TRIAL_MS);
	gpiod_line_request_set_value(request, offset, GPIOD_LINE_VALUE_INACTIVE);
	gpiod_line_request_release(request);
	return true;
}

/* Returns 1 if it is known now, 0 if there is none, -1 if the person has stopped. */
static int learn_output(struct learn *l, const struct part *part)
{
	struct wiring_setting set;
	char low[16];

	for (;;) {
		int words;

		say(l, "%s: its line, as \"gpiochip0 17\" or \"gpiochip0 17 active-low\"%s",
		    part->what, part->optional ? " (or \"none\")" : "");
		if (!hear(l))
			return -1;
		if (part->optional && !strcmp(l->answer, "none"))
			return 0;
		set = (struct wiring_setting){ 0 };
		words = sscanf(l->answer, "%63s %63s %15s", set.chip, set.name, low);
		if (words < 2 || (words == 3 && strcmp(low, "active-low")))
			continue;
		set.active_low = words == 3;
		say(l, "Enter switches it on for %d ms: hands off. \"no\" names another line",
		    TRIAL_MS);
		if (!hear(l))
			return -1;
		if (*l->answer || !try_output(l, &set))
			continue;
		say(l, "did %s move, and nothing else? \"yes\" or \"no\"", part->what);
		if (!hear(l))
			return -1;
		if (!strcmp(l->answer, "yes"))
			break;
	}
	put(l, "%s = %s %s%s%s\n", part->key, set.chip, set.name,
	    set.active_low ? " active-low" : "", part->options);
	if (!strcmp(part->key, "heartbeat")) {
		measure_release(l, &set);
		l->heartbeat = set;
	}
	return 1;
}

static bool learn_outputs(struct learn *l)
{
	const char *section = "";

	for (size_t n = 0; n < COUNT(outputs); n++) {
		const struct part *part = &outputs[n];
		int known;

		if (strcmp(section, part->section))
			put(l, "[%s]\n", part->section);
		section = part->section;
		known = learn_output(l, part);
		if (known < 0)
			return false;
		if (!known && !strcmp(part->section, "gates"))
			break;
	}
	return true;
}

/* -- numbers -- */

static bool ask_number(struct learn *l, const char *key, int most, const char *what)
{
	do {
		say(l, "%s", what);
		if (!hear(l))
			return false;
	} while (strspn(l->answer, "0123456789") != strlen(l->answer) || atoi(l->answer) < 1 ||
		 atoi(l->answer) > most);
	put(l, "%s = %s\n", key, l->answer);
	return true;
}

static bool learn_pockets(struct learn *l)
{
	put(l, "[pockets]\n");
	for (unsigned int pocket = 0; pocket < CORE_POCKETS; pocket++) {
		say(l, "pocket %u: the gates that are on when a card falls into it, "
		       "as \"a\", \"a c\" or \"none\"; Enter if there is no such pocket", pocket);
		if (!hear(l))
			return false;
		if (!*l->answer)
			break;
		put(l, "%u = %s\n", pocket, l->answer);
	}
	return true;
}

/* -- the file -- */

/* Write it beside, and move it there when it is on the disk. link() replaces nothing. */
static int write_whole(const char *path, const char *text, size_t length)
{
	char beside[4096], folder[4096];
	int fd, error = 0;

	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	fchmod(fd, 0644);
	errno = EIO;
	if (write(fd, text, length) != (ssize_t)length || fsync(fd) || link(beside, path))
		error = -errno;
	close(fd);
	unlink(beside);
	if (error)
		return error;
	snprintf(folder, sizeof(folder), "%s", path);
	fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	return 0;
}

/* Nobody is to answer all questions for a file that cannot be written in the end. */
static int try_place(struct learn *l, const char *path)
{
	const int error = write_whole(path, "", 0);

	if (!error)
		unlink(path);
	else if (error == -EEXIST)
		say(l, "%s exists: move it away", path);
	else
		say(l, "%s: %s", path, strerror(-error));
	return error;
}

static int finish(struct learn *l, const char *path)
{
	static struct wiring wiring;
	unsigned int line;
	int error;

	line = l->full ? 1 : wiring_read(&wiring, l->text);
	if (line) {
		say(l, "%s", l->text);
		say(l, "line %u of this is wrong: %s. Nothing was written", line,
		    l->full ? "it is too long" : wiring.error);
		return -EINVAL;
	}
	error = write_whole(path, l->text, l->length);
	if (error)
		say(l, "%s: %s. Nothing was written", path, strerror(-error));
	else
		say(l, "%s is written. The times in it are guesses: docs/build-a-machine.md says "
		       "how to measure them", path);
	return error;
}

static bool ask_all(struct learn *l)
{
	bool good;

	put(l, "# written by dealbox-machine --learn\n[machine]\n");
	if (!ask_number(l, "capacity", 64, "how many cards does a pocket hold?") ||
	    !ask_number(l, "hopper", 65535, "how many cards does the hopper hold?"))
		return false;
	say(l,
	    "Take out the board and all cards, close the cover, switch off the power of motors, "
	    "gates and lock, and touch nothing. Then press Enter");
	if (!hear(l))
		return false;
	good = find_lines(l);
	if (good) {
		leave_out_noise(l);
		good = learn_inputs(l);
	}
	release_lines(l);
	if (!good)
		return false;
	say(l, "Switch the power on again.");
	if (!learn_outputs(l) || !learn_pockets(l))
		return false;
	put(l, "[times]\nsettle = 100\nfall = 500\n");
	return true;
}

int learn(const char *path, FILE *in, FILE *out)
{
	struct learn *l = calloc(1, sizeof(*l));
	int error = -ENOMEM;

	if (l)
		l->buffer = gpiod_edge_event_buffer_new(EVENTS);
	if (l && l->buffer) {
		l->in = in;
		l->out = out;
		/* poll() does not see what stdio has read ahead */
		setvbuf(in, NULL, _IONBF, 0);
		error = try_place(l, path);
		if (!error && !ask_all(l)) {
			error = -ECANCELED;
			say(l, "stopped. Nothing was written");
		}
		error = error ? error : finish(l, path);
		gpiod_edge_event_buffer_free(l->buffer);
	}
	free(l);
	return error;
}
