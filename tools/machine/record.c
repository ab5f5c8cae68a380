// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encoding of the record that survives power cuts. */
#include "record.h"

#include <string.h>

#include "bytes.h"

/* magic, generation, insertion, flags, attestations, counters, CRC-32C */
#define MAGIC		0x4d584244
#define DEALING		1
#define COUNTERS_AT	20
#define CRC_AT		(RECORD_BYTES - 4)

uint32_t record_crc(const uint8_t *bytes, uint32_t length)
{
	uint32_t crc = 0xffffffff;

	/* bit by bit: a table would be larger than all of this file */
	while (length--) {
		crc ^= *bytes++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

void record_encode(const struct record *record, uint8_t slot[RECORD_BYTES])
{
	put_u32(slot, MAGIC);
	put_u32(slot + 4, record->generation);
	put_u32(slot + 8, record->insertion);
	put_u32(slot + 12, record->dealing ? DEALING : 0);
	put_u32(slot + 16, record->attestations);
	for (int i = 0; i < COUNTERS; i++)
		put_u32(slot + COUNTERS_AT + 4 * i, record->counters[i]);
	put_u32(slot + CRC_AT, record_crc(slot, CRC_AT));
}

static bool decode(const uint8_t slot[RECORD_BYTES], struct record *record)
{
	if (get_u32(slot) != MAGIC || get_u32(slot + CRC_AT) != record_crc(slot, CRC_AT))
		return false;
	record->generation = get_u32(slot + 4);
	record->insertion = get_u32(slot + 8);
	record->dealing = get_u32(slot + 12) & DEALING;
	record->attestations = get_u32(slot + 16);
	for (int i = 0; i < COUNTERS; i++)
		record->counters[i] = get_u32(slot + COUNTERS_AT + 4 * i);
	return true;
}

static bool is_erased(const uint8_t slot[RECORD_BYTES])
{
	if (slot[0] != 0 && slot[0] != 0xff)
		return false;
	for (int i = 1; i < RECORD_BYTES; i++)
		if (slot[i] != slot[0])
			return false;
	return true;
}

int record_choose(const uint8_t slots[RECORD_SLOTS][RECORD_BYTES], struct record *record)
{
	struct record second;
	bool first_whole, second_whole;

	memset(record, 0, sizeof(*record));
	first_whole = decode(slots[0], record);
	second_whole = decode(slots[1], &second);
	if (second_whole &&
	    (!first_whole || (int32_t)(second.generation - record->generation) > 0)) {
		*record = second;
		return 1;
	}
	if (first_whole)
		return 0;
	/*
	 * Slot 0 is written first, when the machine is first switched on, and slot 1 before any
	 * number is given. So if slot 1 is untouched, no number was given.
	 */
	return is_erased(slots[1]) ? RECORD_NEW : RECORD_BROKEN;
}

int record_next(int slot)
{
	return slot == 0;
}
