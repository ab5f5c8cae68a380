// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/law.h>

#include "config.h"
#include "log.h"
#include "pool/folder.h"

static int set_ledger(struct config *config, const char *value)
{
	return snprintf(config->ledger, sizeof(config->ledger), "%s", value) <
	       (int)sizeof(config->ledger);
}

static int add_emulator(struct config *config, const char *value)
{
	if (config->emulator_count == EMULATORS_MAX)
		return 0;
	config->emulators[config->emulator_count] = strdup(value);
	return !!config->emulators[config->emulator_count++];
}

static int set_new(struct config *config, const char *value)
{
	config->accept = !strcmp(value, "accept");
	return config->accept || !strcmp(value, "ask");
}

static int set_language(struct config *config, const char *value)
{
	const char *language;
	size_t n;

	for (n = 0; (language = dealbox_law_language(n)) && strcmp(language, value); n++)
		;
	if (!language)
		return 0;
	snprintf(config->language, sizeof(config->language), "%s", language);
	return 1;
}

static int set_event(struct config *config, const char *value)
{
	return snprintf(config->event, sizeof(config->event), "%s", value) <
	       (int)sizeof(config->event);
}

static int set_folder(struct config *config, const char *value)
{
	return snprintf(config->folder, sizeof(config->folder), "%s", value) <
	       (int)sizeof(config->folder);
}

static int set_chip(struct config *config, const char *value)
{
	return snprintf(config->chip, sizeof(config->chip), "%s", value) <
	       (int)sizeof(config->chip);
}

static int set_machine(struct config *config, const char *value)
{
	return snprintf(config->machine, sizeof(config->machine), "%s", value) <
	       (int)sizeof(config->machine);
}

static int set_line(struct config *config, const char *name, const char *value)
{
	enum panel_line line;

	for (line = 0; line < PANEL_LINES; line++)
		if (!strcmp(name, panel_rows[line].key))
			return !*config->panel[line].name &&
			       !panel_setting_read(&config->panel[line], line, value);
	return 0;
}

/* All settings except the lines of the panel. */
static const struct {
	const char *section, *name;
	int (*set)(struct config *config, const char *value);
} keys[] = {
	{ "ledger", "file", set_ledger },
	{ "machines", "emulator", add_emulator },
	{ "machines", "new", set_new },
	{ "event", "database", set_event },
	{ "event", "folder", set_folder },
	{ "operators", "language", set_language },
	{ "panel", "chip", set_chip },
	{ "panel", "machine", set_machine },
};

static int handle(void *context, const char *section, const char *name, const char *value)
{
	struct config *config = context;
	size_t n;

	for (n = 0; n < sizeof(keys) / sizeof(keys[0]); n++)
		if (!strcmp(section, keys[n].section) && !strcmp(name, keys[n].name) && *value)
			return keys[n].set(config, value);
	return !strcmp(section, "panel") && set_line(config, name, value);
}

static bool has_lines(const struct config *config)
{
	enum panel_line line;

	for (line = 0; line < PANEL_LINES; line++)
		if (*config->panel[line].name)
			return true;
	return false;
}

int config_read(struct config *config, const char *path)
{
	int line;

	memset(config, 0, sizeof(*config));
	set_ledger(config, "/var/lib/dealbox/ledger");
	set_folder(config, POOL_FOLDER);
	line = ini_parse(path, handle, config);
	/* Without a file, the defaults suit machines on USB. */
	if (line == -1 && errno == ENOENT)
		return 0;
	if (!line && !*config->chip == !has_lines(config))
		return 0;
	if (!line)
		log_message(MESSAGE_CONFIG, NULL, NULL,
			    "%s: [panel] needs chip and at least one line; "
			    "dealboxd.conf(5) lists them", path);
	else if (line > 0)
		log_message(MESSAGE_CONFIG, NULL, NULL, "%s:%d: unknown setting or invalid value; "
			    "dealboxd.conf(5) lists the settings", path, line);
	else
		log_message(MESSAGE_CONFIG, NULL, NULL, "%s: cannot be read: %s", path,
			    line == -1 ? strerror(errno) : "no memory");
	config_free(config);
	return -EINVAL;
}

void config_free(struct config *config)
{
	while (config->emulator_count)
		free(config->emulators[--config->emulator_count]);
}
