/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emulated.h"
#include "memory.h"

static void read_rules(struct scenario *scenario, const char *name, const char *rules,
		       size_t length)
{
	char error[400];

	if (rules && !scenario_parse(scenario, name, rules, length, error, sizeof(error)))
		die(EXIT_USAGE, "%s", error);
}

void emulated_open(struct emulated *e, const struct options *o, unsigned int index,
		   const char *state, uint64_t now, void *context,
		   void (*save)(void *context, const struct machine_memory *memory),
		   void (*account)(void *context, const struct machine_board *board))
{
	struct machine_config config = o->machine;
	struct device_config device = o->device;
	struct machine_memory memory = { 0 };
	char error[400];

	e->scenario = scenario_new();
	if (!e->scenario)
		die(EXIT_MACHINE, "no memory");
	read_rules(e->scenario, o->scenario_name, o->scenario, o->scenario_length);
	if (o->mutant && o->mutant->scenario)
		read_rules(e->scenario, o->mutant->name, o->mutant->scenario,
			   strlen(o->mutant->scenario));
	if (state && memory_load(state, &memory, error, sizeof(error)))
		die(EXIT_USAGE, "%s", error);
	if (config.desc.capabilities & DEALBOX_CAP_ATTEST && memory_key(state, &memory, config.key))
		die(EXIT_USAGE, "%s.key: %s", state ? state : "", errno == EINVAL ?
		    "this is not the key of a machine" : strerror(errno));
	config.seed += index;
	config.scenario = e->scenario;
	config.context = context;
	config.save = save;
	config.account = account;
	e->machine = machine_new(&config, &memory, now);
	explicit_bzero(config.key, sizeof(config.key));
	if (o->machines > 1)
		sprintf(device.serial + strlen(device.serial), "-%u", index + 1);
	e->device = e->machine ? device_new(e->machine, &device) : NULL;
	if (!e->device)
		die(EXIT_MACHINE, "no memory");
	operator_init(&e->operator, e->machine, config.seed);
	e->operator.absent = o->manual;
	e->operator.board_count = o->board_count;
	memcpy(e->operator.boards, o->boards, sizeof(o->boards));
	if (o->order)
		operator_fill_order(&e->operator, o->order, o->order_count);
	else
		operator_fill(&e->operator, o->cards, o->packs);
	e->control = (struct control){ e->machine, &e->operator, e->scenario, e->device };
}

void emulated_close(struct emulated *e)
{
	device_free(e->device);
	machine_free(e->machine);
	scenario_free(e->scenario);
}
