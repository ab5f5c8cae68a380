/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line of a GPIO chip, by libgpiod: each has a request of its own. */
#ifndef MACHINE_GPIO_H
#define MACHINE_GPIO_H

#include <gpiod.h>
#include <stddef.h>

#include "wiring.h"

enum gpio_direction {
	GPIO_OUTPUT,		/* off at first */
	GPIO_INPUT,		/* with edges */
	GPIO_LOOK,		/* as it is: to read what a line does that nobody drives */
};

/*
 * Open the chip with this path, name or label. Returns NULL if there is none, or more than one:
 * error then has a sentence. Close with gpiod_chip_close().
 */
struct gpiod_chip *gpio_open(const char *name, char *error, size_t size);

/*
 * Request the line of a setting, and store its number on the chip. events: how many edges the
 * kernel keeps, 0: its default. Returns NULL if that is impossible: error then has a sentence.
 * Release with gpiod_line_request_release().
 */
struct gpiod_line_request *gpio_request(const struct wiring_setting *set,
					enum gpio_direction direction, unsigned int events,
					unsigned int *offset, char *error, size_t size);

/* The same for a line of an open chip. Returns NULL and sets errno if it is refused. */
struct gpiod_line_request *gpio_request_at(struct gpiod_chip *chip,
					   const struct wiring_setting *set,
					   enum gpio_direction direction, unsigned int events,
					   unsigned int offset);

#endif
