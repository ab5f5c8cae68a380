// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary edges of a photo sensor: the parts of a reading agree, and it does not depend on when
 * the card came. Bytes: direction and time of the first edge, then a byte and a step of time for
 * each edge.
 */
#include <string.h>

#include "fuzz.h"
#include "reader.h"

static struct reading read_from(const uint8_t *data, size_t size, uint32_t start)
{
	struct reader reader;
	struct reading reading;
	uint32_t time = start;

	reader_start(&reader, data[0] & 1);
	for (size_t at = 1; at + 3 <= size; at += 3) {
		time += (uint32_t)(data[at + 1] | data[at + 2] << 8) << (data[at] >> 2 & 15);
		/* mostly in turn, as a sensor does */
		if (data[at] >> 6 == 3)
			reader_edge(&reader, time, data[at] & 1);
		else
			reader_edge(&reader, time, !reader.dark);
		reader_is_over(&reader, time);
	}
	reader_read(&reader, &reading);
	return reading;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading reading, later;
	bool near = false;

	if (!size)
		return 0;
	reading = read_from(data, size, 0);
	later = read_from(data, size, 0xfffff000);
	CHECK(!memcmp(&reading, &later, sizeof(reading)));
	CHECK((reading.result == READER_CARD) == (reading.why == READER_WHY_NONE));
	CHECK((reading.result == READER_CARD) == (reading.card < CODES));
	CHECK((reading.result == READER_CARD) == (reading.quality >= READER_QUALITY));
	CHECK(reading.quality <= 100 && reading.near_count <= CODE_NEAR_MAX);
	if (reading.result == READER_CARD)
		CHECK(code_of(reading.card) == reading.code && !reading.near_count);
	if (reading.result == READER_NOTHING)
		CHECK(!reading.code && !reading.near_count && !reading.quality);
	for (unsigned int i = 0; i < reading.near_count; i++) {
		const unsigned int differ = code_of(reading.near[i]) ^ reading.code;

		CHECK(!(differ & (differ - 1)));
		near |= reading.near[i] == code_card(reading.code);
	}
	/*
	 * a code that a card has is in doubt for its edges only, and names the card as one that may
	 * be
	 */
	CHECK(reading.result != READER_DOUBT || near == (code_card(reading.code) != CODE_NO_CARD));
	return 0;
}
