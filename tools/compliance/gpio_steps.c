// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpio_steps.h"

#define MS_MAX		30000u	/* dealbox-compliance waits a minute for a step */
#define LINE_MAX_	500u

static bool wrong(struct gpio_wiring *w, const char *format, const char *word)
{
	snprintf(w->error, sizeof(w->error), format, word);
	return false;
}

/* Copy a word. Returns false if it is too long. */
static bool keep(char *to, const char *word)
{
	return snprintf(to, GPIO_NAME_MAX, "%s", word) < (int)GPIO_NAME_MAX;
}

/* power = gpiochip0 17 active-low on */
static bool read_line(struct gpio_wiring *w, const char *key, char *value)
{
	struct gpio_line *line = &w->lines[w->line_count];
	char *state = NULL, *chip = strtok_r(value, " \t", &state),
	     *name = strtok_r(NULL, " \t", &state);
	char *word;
	unsigned int i;

	if (w->line_count == GPIO_LINES_MAX)
		return wrong(w, "there are too many lines: %s", key);
	if (!name)
		return wrong(w, "%s: the chip and the line are needed", key);
	for (i = 0; i < w->line_count; i++)
		if (!strcmp(w->lines[i].key, key))
			return wrong(w, "the line %s is there twice", key);
	*line = (struct gpio_line){ 0 };
	if (!keep(line->key, key) || !keep(line->chip, chip) || !keep(line->name, name))
		return wrong(w, "%s: the name is too long", key);
	while ((word = strtok_r(NULL, " \t", &state))) {
		if (!strcmp(word, "active-low"))
			line->active_low = true;
		else if (!strcmp(word, "input"))
			line->input = true;
		else if (!strcmp(word, "on"))
			line->on_at_start = true;
		else
			return wrong(w, "\"%s\" is none of active-low, input and on", word);
	}
	if (line->input && line->on_at_start)
		return wrong(w, "%s is an input: nobody switches it on", key);
	w->line_count++;
	return true;
}

static bool read_ms(const char *word, unsigned int *ms)
{
	char *end;
	unsigned long value;

	if (!word || *word < '0' || *word > '9')
		return false;
	value = strtoul(word, &end, 10);
	*ms = (unsigned int)value;
	return !*end && value <= MS_MAX;
}

/* "wait 500", "power off", "until closed on 3000" */
static bool read_action(struct gpio_wiring *w, struct gpio_action *action, const char *text)
{
	char copy[LINE_MAX_], *words[5], *state = NULL;
	unsigned int count = 0, at;

	snprintf(copy, sizeof(copy), "%s", text);
	for (words[0] = strtok_r(copy, " \t", &state); count < 4 && words[count]; count++)
		words[count + 1] = strtok_r(NULL, " \t", &state);
	if (count == 2 && !strcmp(words[0], "wait")) {
		action->kind = GPIO_WAIT;
		return read_ms(words[1], &action->ms) ||
			wrong(w, "\"%s\": a time in ms is needed, up to 30000", text);
	}
	action->kind = count == 4 && !strcmp(words[0], "until") ? GPIO_UNTIL : GPIO_SET;
	at = action->kind == GPIO_UNTIL;
	if (count != (at ? 4 : 2) || (strcmp(words[at + 1], "on") && strcmp(words[at + 1], "off")))
		return wrong(w, "\"%s\" is none of \"LINE on\", \"LINE off\", \"wait MS\" and "
				"\"until LINE on|off MS\"",
			     text);
	action->on = !strcmp(words[at + 1], "on");
	if (at && !read_ms(words[3], &action->ms))
		return wrong(w, "\"%s\": a time in ms is needed, up to 30000", text);
	for (action->line = 0; action->line < w->line_count; action->line++)
		if (!strcmp(w->lines[action->line].key, words[at]))
			break;
	if (action->line == w->line_count)
		return wrong(w, "\"%s\" is no line of [lines] before it", words[at]);
	if (w->lines[action->line].input != (action->kind == GPIO_UNTIL))
		return wrong(w, action->kind == GPIO_UNTIL ? "%s is no input" : "%s is an input",
			     words[at]);
	return true;
}

/* cover open = cover on, until open on 3000 */
static bool read_step(struct gpio_wiring *w, const char *words, char *value)
{
	struct gpio_step *step = &w->steps[w->step_count];
	char *state = NULL, *action;
	unsigned int ms = 0;

	if (w->step_count == GPIO_STEPS_MAX)
		return wrong(w, "there are too many steps: %s", words);
	if (gpio_step_of(w, words))
		return wrong(w, "the step \"%s\" is there twice", words);
	*step = (struct gpio_step){ 0 };
	if (!keep(step->words, words))
		return wrong(w, "the step \"%s\" is too long", words);
	for (action = strtok_r(value, ",", &state); action; action = strtok_r(NULL, ",", &state)) {
		if (step->count == GPIO_ACTIONS_MAX)
			return wrong(w, "the step \"%s\" is too long", words);
		if (!read_action(w, &step->actions[step->count], action))
			return false;
		ms += step->actions[step->count++].ms;
	}
	if (!step->count)
		return wrong(w, "the step \"%s\" does nothing", words);
	if (ms > MS_MAX)
		return wrong(w, "the step \"%s\" takes more than 30 s", words);
	w->step_count++;
	return true;
}

static int take(void *context, const char *section, const char *name, const char *value)
{
	struct gpio_wiring *w = context;
	char copy[LINE_MAX_];

	if (*w->error)
		return 0;
	if (snprintf(copy, sizeof(copy), "%s", value) >= (int)sizeof(copy))
		return wrong(w, "%s: the line is too long", name);
	if (!strcmp(section, "lines"))
		return read_line(w, name, copy);
	if (!strcmp(section, "steps"))
		return read_step(w, name, copy);
	return wrong(w, "[%s] is neither [lines] nor [steps]", section);
}

int gpio_wiring_read(struct gpio_wiring *w, const char *text)
{
	int line;

	memset(w, 0, sizeof(*w));
	line = ini_parse_string(text, take, w);
	if (line && !*w->error)
		wrong(w, "this is neither a section nor %s", "NAME = VALUE");
	if (!line && !w->step_count) {
		wrong(w, "%s has no step", "[steps]");
		line = 1;
	}
	return line < 0 ? 1 : line;
}

const struct gpio_step *gpio_step_of(const struct gpio_wiring *w, const char *words)
{
	unsigned int i;

	for (i = 0; i < w->step_count; i++)
		if (!strcmp(w->steps[i].words, words))
			return &w->steps[i];
	return NULL;
}
