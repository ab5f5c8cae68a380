// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arbitrary dealboxd.conf: refused with a message, or every setting is within its range. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config.h"
#include "fuzz.h"
#include "log.h"

static unsigned int messages;

void log_message(enum message message, const char *machine, const struct copy *copy,
		 const char *format, ...)
{
	char text[1024];
	va_list args;

	CHECK(message == MESSAGE_CONFIG && !machine && !copy);
	va_start(args, format);
	CHECK(vsnprintf(text, sizeof(text), format, args) > 0);
	va_end(args);
	messages++;
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, 0, size);
}

static void check(const struct config *config)
{
	enum panel_line line;
	bool any = false;
	size_t i;

	CHECK(ends(config->ledger, sizeof(config->ledger)) && *config->ledger);
	CHECK(ends(config->chip, sizeof(config->chip)));
	CHECK(ends(config->machine, sizeof(config->machine)));
	for (i = 0; i < config->emulator_count; i++)
		CHECK(*config->emulators[i]);
	CHECK(!config->emulators[config->emulator_count]);
	for (line = 0; line < PANEL_LINES; line++) {
		const struct panel_setting *setting = &config->panel[line];

		CHECK(ends(setting->name, sizeof(setting->name)));
		CHECK(setting->debounce_us <= 1000000 && setting->bias <= PANEL_PULL_DOWN);
		CHECK(!panel_rows[line].output || (!setting->bias && !setting->debounce_us));
		any = any || *setting->name;
	}
	CHECK(any == !!*config->chip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("config", MFD_CLOEXEC);
	struct config config;
	char path[40];
	int error;

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	messages = 0;
	error = config_read(&config, path);
	CHECK(error == 0 || error == -EINVAL);
	CHECK(messages == !!error);
	if (!error) {
		check(&config);
		config_free(&config);
	}
	close(fd);
	return 0;
}
