/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The wiring of a fixture of relays and actuators: lines of GPIO chips, and what each step does
 * with them. Pure.
 */
#ifndef COMPLIANCE_GPIO_STEPS_H
#define COMPLIANCE_GPIO_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#define GPIO_LINES_MAX		32u
#define GPIO_STEPS_MAX		32u
#define GPIO_ACTIONS_MAX	16u
#define GPIO_NAME_MAX		64u

struct gpio_line {
	char key[GPIO_NAME_MAX];	/* as the steps call it */
	char chip[GPIO_NAME_MAX];	/* path, or name in /dev */
	char name[GPIO_NAME_MAX];	/* of the line, or its number */
	bool active_low;
	bool input;			/* a switch that steps wait for */
	bool on_at_start;		/* also when the fixture ends; off otherwise */
};

enum gpio_action_kind {
	GPIO_SET,	/* switch the line */
	GPIO_WAIT,	/* wait ms */
	GPIO_UNTIL,	/* wait until the line is so, for at most ms */
};

struct gpio_action {
	enum gpio_action_kind kind;
	unsigned int line;	/* index; not of GPIO_WAIT */
	bool on;
	unsigned int ms;
};

struct gpio_step {
	char words[GPIO_NAME_MAX];	/* "cover open" */
	struct gpio_action actions[GPIO_ACTIONS_MAX];
	unsigned int count;
};

struct gpio_wiring {
	struct gpio_line lines[GPIO_LINES_MAX];
	unsigned int line_count;
	struct gpio_step steps[GPIO_STEPS_MAX];
	unsigned int step_count;
	char error[200];
};

/*
 * Read the text of an INI file. Returns 0, or the number of the line that is wrong, 1 if the file
 * as a whole is; wiring->error says why.
 */
int gpio_wiring_read(struct gpio_wiring *wiring, const char *text);
/* Return what a step does, NULL if the fixture does not do it. */
const struct gpio_step *gpio_step_of(const struct gpio_wiring *wiring, const char *words);

#endif
