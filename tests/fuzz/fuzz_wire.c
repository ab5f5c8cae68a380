// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Arbitrary bytes of a machine or a host: no decoder reads outside its input, and accepted input
 * is encoded to the same bytes again.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/crc32.h>

#include "fuzz.h"
#include "machine_wire.h"

static const struct wire_descriptor machine = {
	.version = WIRE_VERSION, .reader = DEALBOX_READER_BARCODE,
	.pockets = 5, .pocket_capacity = 20, .hopper = 110, .plan_entries = 64,
	.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD |
			DEALBOX_CAP_BY_POSITION | DEALBOX_CAP_CAPTURE,
};

static void descriptor(const uint8_t *data, size_t size)
{
	struct wire_descriptor desc;
	uint8_t again[WIRE_DESC_SIZE];

	if (!dealbox_decode_descriptor(data, size, &desc))
		return;
	CHECK(desc.pockets >= 1 && desc.pockets <= DEALBOX_MAX_POCKETS);
	CHECK(desc.plan_entries >= 1 && desc.plan_entries <= DEALBOX_MAX_ENTRIES);
	wire_descriptor_put(again, &desc);
	/* the length may be that of a later version; the reserved end may hold anything */
	CHECK(!memcmp(again + 1, data + 1, 19));
}

static void plan(const uint8_t *data, size_t size)
{
	uint8_t block[WIRE_PLAN_MAX + 8], again[WIRE_PLAN_MAX];
	struct wire_plan plan;
	uint32_t crc, id, detail;

	if (size < 12 || size > sizeof(block))
		return;
	/* with the right checksum, to reach the checks after it */
	memcpy(block, data, size);
	crc = ~crc32c(~0, block, size - 4);
	for (int i = 0; i < 4; i++)
		block[size - 4 + i] = crc >> 8 * i;
	id = block[8] | block[9] << 8 | block[10] << 16 | (uint32_t)block[11] << 24;

	switch (dealbox_decode_plan(block, size, &machine, id, &plan, &detail)) {
	case DEALBOX_ERR_OK:
		CHECK(plan.entries >= 1 && plan.entries <= DEALBOX_MAX_ENTRIES);
		CHECK(WIRE_PLAN_SIZE(plan.entries) == size);
		CHECK(dealbox_encode_plan(again, &plan) == size);
		/* a later minor version counts as ours; the checksum covers it */
		again[4] = block[4];
		CHECK(!memcmp(again, block, size - 4));
		break;
	case DEALBOX_ERR_PLAN:
		/* offset 12 is that of the length itself */
		CHECK(detail < size || detail == 12);
		break;
	default:
		abort();
	}
}

static void gate(const uint8_t *data, size_t size)
{
	struct wire_gate gate, again;
	uint8_t buf[WIRE_GATE_SIZE];

	if (!wire_gate_get(data, size, &gate))
		return;
	CHECK(size == WIRE_GATE_SIZE);
	dealbox_encode_gate(buf, &gate);
	CHECK(wire_gate_get(buf, sizeof(buf), &again));
	CHECK(again.pocket == gate.pocket && again.position == gate.position &&
	      again.number == gate.number && again.insertion == gate.insertion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a heap block of the exact size, so that ASan sees a read beyond the end */
	uint8_t *copy = memdup(data, size);
	struct dealbox_counters counters;
	struct wire_result result;
	struct wire_status status;
	struct wire_param param;
	struct wire_info info;

	descriptor(copy, size);
	plan(copy, size);
	gate(copy, size);
	if (size == WIRE_STATUS_SIZE && dealbox_decode_status(copy, &status))
		CHECK(status.state <= DEALBOX_STATE_DONE);
	if (size == WIRE_INFO_SIZE) {
		dealbox_decode_info(copy, &info);
		CHECK(memchr(info.name, 0, sizeof(info.name)));
		dealbox_decode_counters(copy, &counters);
	}
	if (size == WIRE_RESULT_SIZE) {
		dealbox_decode_result(copy, &result);
		dealbox_decode_param(copy, &param);
	}
	free(copy);
	return 0;
}
