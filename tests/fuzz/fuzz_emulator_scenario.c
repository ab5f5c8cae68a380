// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary scenario files: refused with file and line, or accepted. A machine that deals under
 * the rules neither crashes nor loses a card.
 */
#include "fuzz.h"
#include "emulated_machine.h"

#define NOW	1000000

static void deal(struct scenario *scenario)
{
	struct machine_config config = {
		.speed = 1, .scenario = scenario,
		.desc = {
			.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION, .pockets = 4,
			.pocket_capacity = 64, .hopper = 220, .plan_entries = 64,
			.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_TEST_DEAL |
				DEALBOX_CAP_BY_POSITION | DEALBOX_CAP_EXIT_SENSORS |
				DEALBOX_CAP_KEYS,
		},
	};
	struct wire_command cmd = { .sequence = 1, .b = 1, .c = 8 };
	struct machine *m = machine_new(&config, NULL, NOW);
	uint8_t buf[1024];
	uint64_t now = NOW;
	unsigned int i;

	CHECK(m);
	machine_configure(m);
	for (i = 0; i < 20; i++)
		pile_put_bottom(machine_hopper(m), (struct card){ .number = i });
	machine_hopper_changed(m);
	machine_insert(m, 1);
	dealbox_encode_command(buf, &cmd);
	machine_command(m, DEALBOX_OP_TEST_DEAL, 0, buf, WIRE_COMMAND_SIZE);
	for (i = 0; i < 500 && now < 60000000; i++) {
		uint64_t next = machine_next(m);

		if (next > now)
			now = next;
		if (now == MACHINE_NEVER)
			break;
		machine_run(m, now);
		CHECK(machine_fetch(m, buf, sizeof(buf)) % WIRE_EVENT_SIZE == 0);
	}
	machine_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario *scenario = scenario_new();
	uint8_t *copy = memdup(data, size);
	char error[200] = "";

	CHECK(scenario);
	if (scenario_parse(scenario, "file", (const char *)copy, size, error, sizeof(error)))
		deal(scenario);
	else
		CHECK(!strncmp(error, "file:", 5) && error[5] >= '1' && error[5] <= '9');
	free(copy);
	scenario_free(scenario);
	return 0;
}
