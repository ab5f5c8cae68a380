/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An emulated machine on USB, with a board and cards, for the targets that talk to one. */
#ifndef DEALBOX_FUZZ_MACHINE_H
#define DEALBOX_FUZZ_MACHINE_H

#include "device.h"
#include "frame.h"
#include "fuzz.h"

#define NOW	1000000

/* Bits of the first byte: host-routed, serial dialect. No member is NULL. */
struct fuzz_machine {
	struct scenario *scenario;
	struct machine *m;
	struct device *device;
};

static inline struct fuzz_machine fuzz_machine_new(uint8_t choice)
{
	struct device_config names = {
		.serial = "1", .product = "1", .int_in_size = 64, 
		.protocol = choice & 2 ? FRAME_PROTOCOL : WIRE_PROTOCOL,
	};
	struct machine_config config = {
		.desc = {
			.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION, .pockets = 4,
			.pocket_capacity = 64, .hopper = 220, .plan_entries = 64,
			.capabilities = DEALBOX_CAP_BY_CARD | DEALBOX_CAP_TEST_DEAL |
					DEALBOX_CAP_KEYS,
			.gate_deadline_us = 1000,
		},
	};
	struct fuzz_machine f = { .scenario = scenario_new() };
	unsigned int i;

	config.desc.capabilities |= choice & 1 ? DEALBOX_CAP_HOST_ROUTED : DEALBOX_CAP_STORED_PLAN;
	config.scenario = f.scenario;
	f.m = machine_new(&config, NULL, NOW);
	f.device = device_new(f.m, &names);
	CHECK(f.scenario && f.m && f.device);
	for (i = 0; i < 60; i++)
		pile_put_bottom(machine_hopper(f.m), (struct card){ .number = i % 52 });
	machine_hopper_changed(f.m);
	machine_insert(f.m, 1);
	return f;
}

static inline void fuzz_machine_free(struct fuzz_machine *f)
{
	device_free(f->device);
	machine_free(f->m);
	scenario_free(f->scenario);
}

#endif
