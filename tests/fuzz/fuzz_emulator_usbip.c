// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary transfers to the emulated device, in either dialect: the decoder stays within the
 * input, and no answer exceeds its buffer.
 */
#include "fuzz_machine.h"
#include "usbip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct completion done;
	struct usbip_message message;
	struct transfer transfer;
	struct fuzz_machine f;
	uint64_t now = NOW;

	if (!size)
		return 0;
	f = fuzz_machine_new(data[0]);
	data++;
	size--;
	for (;;) {
		uint8_t *copy = memdup(data, size);
		int used = usbip_decode(copy, size, &message);

		CHECK(used <= (int)size);
		if (used > 0 && message.command == USBIP_CMD_UNLINK) {
			device_cancel(f.device, message.unlink);
		} else if (used > 0) {
			usbip_transfer(&message, &transfer);
			device_submit(f.device, now, &transfer);
		}
		free(copy);
		if (used <= 0)
			break;
		data += used;
		size -= used;
		now += 700;
		machine_run(f.m, now);
		while (device_reap(f.device, now, &done))
			CHECK(done.length <= DEVICE_DATA_MAX && done.status <= 0);
	}
	fuzz_machine_free(&f);
	return 0;
}
