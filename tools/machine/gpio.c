// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpio.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static bool is_called(struct gpiod_chip *chip, const char *name)
{
	struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
	const bool called = info && (!strcmp(gpiod_chip_info_get_label(info), name) ||
				     !strcmp(gpiod_chip_info_get_name(info), name));

	gpiod_chip_info_free(info);
	return called;
}

/*
 * Raspberry Pi OS has a second name for a chip that was renumbered, and the chip is not there
 * twice.
 */
static bool is_link(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && S_ISLNK(status.st_mode);
}

struct gpiod_chip *gpio_open(const char *name, char *error, size_t size)
{
	struct gpiod_chip *found = NULL, *chip;
	unsigned int count = 0;
	glob_t paths = { 0 };

	glob(*name == '/' ? name : "/dev/gpiochip*", *name == '/' ? GLOB_NOCHECK : 0, NULL, &paths);
	errno = ENOENT;
	for (size_t n = 0; n < paths.gl_pathc; n++) {
		if (*name != '/' && is_link(paths.gl_pathv[n]))
			continue;
		chip = gpiod_chip_open(paths.gl_pathv[n]);
		if (chip && (*name == '/' || is_called(chip, name)) && !count++)
			found = chip;
		else
			gpiod_chip_close(chip);
	}
	globfree(&paths);
	if (count == 1)
		return found;
	if (!count && *name == '/')
		cannot(error, size, "%s: %s", name, strerror(errno));
	else if (!count)
		cannot(error, size,
		       "there is no GPIO chip \"%s\" that may be opened; `gpiodetect` lists them",
		       name);
	else
		cannot(error, size, "%u chips are called \"%s\"; use a path", count, name);
	gpiod_chip_close(found);
	return NULL;
}

static bool find_line(struct gpiod_chip *chip, const char *name, unsigned int *offset)
{
	const int found = gpiod_chip_get_line_offset_from_name(chip, name);
	char *end;

	*offset = found >= 0 ? (unsigned int)found : (unsigned int)strtoul(name, &end, 10);
	return found >= 0 || (*name >= '0' && *name <= '9' && !*end);
}

static void set_up(struct gpiod_line_settings *settings, const struct wiring_setting *set,
		   enum gpio_direction direction)
{
	static const enum gpiod_line_bias biases[] = {
		[WIRING_AS_IS] = GPIOD_LINE_BIAS_AS_IS, [WIRING_PULL_UP] = GPIOD_LINE_BIAS_PULL_UP,
		[WIRING_PULL_DOWN] = GPIOD_LINE_BIAS_PULL_DOWN,
	};

	gpiod_line_settings_set_active_low(settings, set->active_low);
	switch (direction) {
	case GPIO_OUTPUT:
		gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
		gpiod_line_settings_set_output_value(settings, GPIOD_LINE_VALUE_INACTIVE);
		break;
	case GPIO_INPUT:
		gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
		gpiod_line_settings_set_bias(settings, biases[set->bias]);
		gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
		gpiod_line_settings_set_debounce_period_us(settings, set->debounce_us);
		break;
	case GPIO_LOOK:
		gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_AS_IS);
		break;
	}
}

struct gpiod_line_request *gpio_request_at(struct gpiod_chip *chip,
					   const struct wiring_setting *set,
					   enum gpio_direction direction, unsigned int events,
					   unsigned int offset)
{
	struct gpiod_line_settings *settings = gpiod_line_settings_new();
	struct gpiod_request_config *request = gpiod_request_config_new();
	struct gpiod_line_config *config = gpiod_line_config_new();
	struct gpiod_line_request *made = NULL;

	if (settings && request && config) {
		set_up(settings, set, direction);
		gpiod_request_config_set_consumer(request, "dealbox-machine");
		gpiod_request_config_set_event_buffer_size(request, events);
		if (!gpiod_line_config_add_line_settings(config, &offset, 1, settings))
			made = gpiod_chip_request_lines(chip, request, config);
	}
	gpiod_line_settings_free(settings);
	gpiod_request_config_free(request);
	gpiod_line_config_free(config);
	return made;
}

struct gpiod_line_request *gpio_request(const struct wiring_setting *set,
					enum gpio_direction direction, unsigned int events,
					unsigned int *offset, char *error, size_t size)
{
	struct gpiod_chip *chip = gpio_open(set->chip, error, size);
	struct gpiod_line_request *made = NULL;

	if (!chip)
		return NULL;
	if (!find_line(chip, set->name, offset)) {
		cannot(error, size, "the chip %s has no line \"%s\"; `gpioinfo` lists them",
		       set->chip, set->name);
	} else {
		made = gpio_request_at(chip, set, direction, events, *offset);
		if (!made)
			cannot(error, size, "line %s of %s is refused: %s", set->name, set->chip,
			       strerror(errno));
	}
	gpiod_chip_close(chip);
	return made;
}
