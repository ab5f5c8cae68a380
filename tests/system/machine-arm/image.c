// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Core and reader with mechanics that do nothing, to see how large they are: each function that a
 * firmware calls is called.
 */
#include <stddef.h>

#include "core.h"
#include "reader.h"
#include "serial.h"

static volatile struct {
	uint32_t clock, sensors;
} hardware;

static void nothing(void *context)
{
	(void)context;
}

static void pocket(void *context, uint8_t number)
{
	(void)context;
	hardware.sensors = number;
}

static void lock(void *context, bool locked)
{
	(void)context;
	hardware.sensors = locked;
}

static bool store(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	hardware.sensors = slot + bytes[0];
	return true;
}

static const struct core_orders orders = { nothing, pocket, nothing, nothing, lock, pocket, store,
					   NULL };

static const struct core_config config = {
	.reader = 1, .pockets = 4, .capacity = 20, .hopper = 60, .plan_cards = 64,
	.capabilities = CORE_STORED_PLAN | CORE_EXIT_SENSORS | CORE_BY_CARD | CORE_BY_POSITION,
	.model = "Size",
};

static struct core core;
static struct reader reader;
static struct serial serial;

int main(void)
{
	static const uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	static const struct core_sensors sensors;
	static uint8_t packet[CORE_ANSWER_BYTES];
	struct reading reading;
	struct core_reading card;

	if (!core_config_is_valid(&config))
		return 1;
	core_start(&core, &config, &orders, NULL, hardware.clock, &sensors, slots);
	core_configure(&core);
	serial_reset(&serial);
	while (hardware.sensors) {
		core_clock(&core, hardware.clock);
		core_control(&core, packet, packet, 16, packet);
		core_bulk(&core, packet, 64);
		core_gate(&core, packet, 16);
		core_event(&core, packet);
		serial_discard(&serial);
		serial_take(&serial, &core, packet, sizeof(packet));
		if (serial_is_ready(&serial, &core))
			serial_give(&serial, &core, packet, sizeof(packet));
		core_board(&core, packet[0], 0);
		core_cover(&core, packet[1]);
		core_hopper(&core, packet[2]);
		core_reader(&core, packet[3]);
		core_key(&core, packet[4], true);
		core_gate_set(&core);
		core_landed(&core, packet[5]);
		core_double_feed(&core);
		core_jam(&core, packet[6]);
		core_trouble(&core, packet[7]);
		reader_start(&reader, false);
		reader_edge(&reader, hardware.clock, true);
		reader_lost(&reader);
		if (!reader_is_over(&reader, hardware.clock))
			continue;
		reader_read(&reader, &reading);
		card = (struct core_reading){ reading.card, reading.quality, false, reading.code };
		core_card(&core, &card);
	}
	core_deconfigure(&core);
	return 0;
}
