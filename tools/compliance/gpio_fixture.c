// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox-fixture-gpio: does the steps of dealbox-compliance with relays and actuators on GPIO
 * lines, as an INI file says. It holds the lines as long as it runs, so that a relay stays as it is
 * between two steps, and puts them back to their state at the start when it ends.
 */
#include <errno.h>
#include <gpiod.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpio_steps.h"

#define STATUS_USAGE	2
#define STATUS_CHIP	3
#define FILE_MAX	65536u
#define STEP_MAX	200u

static struct gpio_wiring wiring;
static struct gpiod_line_request *requests[GPIO_LINES_MAX];
static unsigned int offsets[GPIO_LINES_MAX];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list args;

	fputs("dealbox-fixture-gpio: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* --- lines ---------------------------------------------------------------------------------- */

static struct gpiod_chip *open_chip(const struct gpio_line *line)
{
	char path[GPIO_NAME_MAX + 8];
	struct gpiod_chip *chip;

	snprintf(path, sizeof(path), "%s%s", *line->chip == '/' ? "" : "/dev/", line->chip);
	chip = gpiod_chip_open(path);
	if (!chip)
		say("%s: %s: %s; `gpiodetect` lists the chips", line->key, path, strerror(errno));
	return chip;
}

static bool find_line(struct gpiod_chip *chip, const struct gpio_line *line, unsigned int *offset)
{
	int found = gpiod_chip_get_line_offset_from_name(chip, line->name);
	char *end;

	if (found < 0) {
		found = (int)strtoul(line->name, &end, 10);
		if (*line->name < '0' || *line->name > '9' || *end) {
			say("%s: the chip %s has no line \"%s\"; `gpioinfo` lists them", line->key,
			    line->chip, line->name);
			return false;
		}
	}
	*offset = (unsigned int)found;
	return true;
}

static enum gpiod_line_value value_of(bool on)
{
	return on ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE;
}

static struct gpiod_line_request *request_line(struct gpiod_chip *chip,
					       const struct gpio_line *line, unsigned int offset)
{
	struct gpiod_line_settings *settings = gpiod_line_settings_new();
	struct gpiod_request_config *request = gpiod_request_config_new();
	struct gpiod_line_config *config = gpiod_line_config_new();
	struct gpiod_line_request *made = NULL;

	if (settings && request && config) {
		gpiod_request_config_set_consumer(request, "dealbox-fixture-gpio");
		gpiod_line_settings_set_active_low(settings, line->active_low);
		gpiod_line_settings_set_direction(settings, line->input ?
						  GPIOD_LINE_DIRECTION_INPUT :
						  GPIOD_LINE_DIRECTION_OUTPUT);
		if (line->input)
			gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
		else
			gpiod_line_settings_set_output_value(settings, value_of(line->on_at_start));
		if (!gpiod_line_config_add_line_settings(config, &offset, 1, settings))
			made = gpiod_chip_request_lines(chip, request, config);
	}
	if (!made)
		say("%s: line \"%s\" of %s: %s", line->key, line->name, line->chip,
		    strerror(errno));
	gpiod_line_settings_free(settings);
	gpiod_request_config_free(request);
	gpiod_line_config_free(config);
	return made;
}

static bool open_lines(void)
{
	unsigned int i;

	for (i = 0; i < wiring.line_count; i++) {
		struct gpiod_chip *chip = open_chip(&wiring.lines[i]);

		if (!chip)
			return false;
		if (find_line(chip, &wiring.lines[i], &offsets[i]))
			requests[i] = request_line(chip, &wiring.lines[i], offsets[i]);
		gpiod_chip_close(chip);
		if (!requests[i])
			return false;
	}
	return true;
}

static void close_lines(void)
{
	unsigned int i;

	for (i = 0; i < wiring.line_count && requests[i]; i++) {
		if (!wiring.lines[i].input)
			gpiod_line_request_set_value(requests[i], offsets[i],
						     value_of(wiring.lines[i].on_at_start));
		gpiod_line_request_release(requests[i]);
	}
}

/* --- steps ------------------------------------------------------------------------------------ */

static unsigned int now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned int)now.tv_sec * 1000 + (unsigned int)(now.tv_nsec / 1000000);
}

/* Wait until a line is on or off. Each edge is a reason to look. */
static bool until(const struct gpio_action *action)
{
	struct gpiod_line_request *request = requests[action->line];
	struct gpiod_edge_event_buffer *buffer = gpiod_edge_event_buffer_new(16);
	struct pollfd wait = { .fd = gpiod_line_request_get_fd(request), .events = POLLIN };
	unsigned int began = now_ms(), passed = 0;
	enum gpiod_line_value is;

	while ((is = gpiod_line_request_get_value(request, offsets[action->line])) !=
	       value_of(action->on)) {
		passed = now_ms() - began;
		if (is == GPIOD_LINE_VALUE_ERROR || passed >= action->ms || !buffer)
			break;
		if (poll(&wait, 1, (int)(action->ms - passed)) > 0)
			gpiod_line_request_read_edge_events(request, buffer, 16);
	}
	gpiod_edge_event_buffer_free(buffer);
	return is == value_of(action->on);
}

static bool act(const struct gpio_action *action)
{
	const struct gpio_line *line = &wiring.lines[action->line];
	const char *state = action->on ? "on" : "off";

	switch (action->kind) {
	case GPIO_WAIT:
		poll(NULL, 0, (int)action->ms);
		return true;
	case GPIO_SET:
		if (!gpiod_line_request_set_value(requests[action->line], offsets[action->line],
						  value_of(action->on)))
			return true;
		printf("error: %s cannot be switched %s: %s\n", line->key, state, strerror(errno));
		return false;
	case GPIO_UNTIL:
		if (until(action))
			return true;
		printf("error: %s did not become %s within %u ms\n", line->key, state, action->ms);
		return false;
	}
	return false;
}

static void do_step(const char *words)
{
	const struct gpio_step *step = gpio_step_of(&wiring, words);
	unsigned int i;

	if (!strcmp(words, "begin")) {
		puts("ok");
	} else if (!step) {
		puts("ask");
	} else {
		for (i = 0; i < step->count; i++)
			if (!act(&step->actions[i]))
				break;
		if (i == step->count)
			puts("ok");
	}
	fflush(stdout);
}

static bool read_wiring(const char *path)
{
	static char text[FILE_MAX];
	FILE *file = fopen(path, "re");
	size_t size;
	int line;

	if (!file) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	line = gpio_wiring_read(&wiring, text);
	if (line)
		say("%s:%d: %s", path, line, wiring.error);
	return !line;
}

int main(int argc, char **argv)
{
	char words[STEP_MAX];
	int status = 0;

	if (argc != 2 || !strcmp(argv[1], "--help")) {
		fputs("usage: dealbox-fixture-gpio WIRING\n"
		      "A fixture for dealbox-compliance --fixture. See dealbox-fixture-gpio(1).\n",
		      argc == 2 ? stdout : stderr);
		return argc == 2 ? 0 : STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("dealbox-fixture-gpio " COMPLIANCE_VERSION);
		return 0;
	}
	if (!read_wiring(argv[1]))
		return STATUS_USAGE;
	if (open_lines()) {
		while (fgets(words, sizeof(words), stdin)) {
			words[strcspn(words, "\n")] = '\0';
			do_step(words);
		}
	} else {
		status = STATUS_CHIP;
	}
	close_lines();
	return status;
}
