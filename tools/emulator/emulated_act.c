// SPDX-License-Identifier: LGPL-2.1-or-later
/* Actions of a scenario, on any machine that implements emulated_machine.h. */
#include "emulated_machine.h"

static uint64_t ms(uint32_t value)
{
	return value == EFFECT_NONE ? MACHINE_NEVER : value * 1000ULL;
}

void machine_act(struct machine *m, enum action action, const uint32_t *value)
{
	switch (action) {
	case ACTION_PULL:
		machine_remove(m, true);
		break;
	case ACTION_COVER:
		machine_cover(m, value[0]);
		break;
	case ACTION_KEY:
		machine_key(m, value[0], true);
		machine_key(m, value[0], false);
		break;
	case ACTION_HARDWARE:
		machine_break(m, value[0], value[1] != EFFECT_NONE);
		break;
	case ACTION_RESET:
		machine_reset_firmware(m);
		break;
	case ACTION_UNPLUG:
		machine_unplug(m, ms(value[0]));
		break;
	case ACTION_POWER_CYCLE:
		machine_power_cycle(m, value[0] == EFFECT_NONE ? 1000000 : ms(value[0]));
		break;
	case ACTION_FREEZE:
		machine_freeze(m, true);
		break;
	case ACTION_THAW:
		machine_freeze(m, false);
		break;
	default:
		break;
	}
}
