// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whatever a host sends to the emulated device: the decoder stays within the bytes, every transfer
 * ends within its room.
 */
#include "device.h"
#include "fuzz.h"
#include "usbip.h"

#define NOW	1000000

static void submit(struct device *device, const struct usbip_message *message, uint64_t now)
{
	struct transfer transfer = {
		.tag = message->seqnum,
		.endpoint = message->endpoint | (message->in && message->endpoint ? 0x80 : 0),
		.length = message->length < DEVICE_DATA_MAX ? message->length : DEVICE_DATA_MAX,
	};

	memcpy(transfer.setup, message->setup, sizeof(transfer.setup));
	if (message->data)
		memcpy(transfer.data, message->data, transfer.length);
	device_submit(device, now, &transfer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct device_config names = { .serial = "1", .product = "1",
						    .int_in_size = 64 };
	struct machine_config config = {
		.desc = {
			.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION, .pockets = 4,
			.pocket_capacity = 64, .hopper = 220, .plan_entries = 64,
			.capabilities = DEALBOX_CAP_BY_CARD | DEALBOX_CAP_TEST_DEAL,
			.gate_deadline_us = 1000,
		},
	};
	struct completion done;
	struct usbip_message message;
	struct machine *m;
	struct device *device;
	uint64_t now = NOW;
	unsigned int i;

	if (!size)
		return 0;
	config.desc.capabilities |= data[0] & 1 ? DEALBOX_CAP_HOST_ROUTED : DEALBOX_CAP_STORED_PLAN;
	m = machine_new(&config, NULL, now);
	device = device_new(m, &names);
	CHECK(m && device);
	for (i = 0; i < 60; i++)
		pile_put_bottom(machine_hopper(m), (struct card){ .number = i % 52 });
	machine_hopper_changed(m);
	machine_insert(m, 1);
	data++;
	size--;
	for (;;) {
		uint8_t *copy = memdup(data, size);
		int used = usbip_decode(copy, size, &message);

		CHECK(used <= (int)size);
		if (used > 0 && message.command == USBIP_CMD_UNLINK)
			device_cancel(device, message.unlink);
		else if (used > 0)
			submit(device, &message, now);
		free(copy);
		if (used <= 0)
			break;
		data += used;
		size -= used;
		now += 700;
		machine_run(m, now);
		while (device_reap(device, now, &done))
			CHECK(done.length <= DEVICE_DATA_MAX && done.status <= 0);
	}
	device_free(device);
	machine_free(m);
	return 0;
}
