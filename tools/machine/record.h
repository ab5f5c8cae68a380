/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record that survives power cuts, in two slots that are written in turn. A write that is cut
 * off spoils one slot at most; the other still holds the previous record.
 */
#ifndef MACHINE_RECORD_H
#define MACHINE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define RECORD_BYTES	88
#define RECORD_SLOTS	2
#define COUNTERS	16

struct record {
	uint32_t generation;		/* one more for each write, wrapping */
	uint32_t insertion;		/* the last number that was given, 0 = none yet */
	uint32_t attestations;		/* the last number of a statement, 0 = none yet */
	bool dealing;			/* a deal has started, and not ended */
	uint32_t counters[COUNTERS];	/* GET_COUNTERS of docs/protocol.md */
};

/* Where the record is; RECORD_NEW and RECORD_BROKEN are no slots. */
#define RECORD_NEW	-1		/* nothing was ever written whole: the machine is new */
#define RECORD_BROKEN -2 /* both slots are damaged: no number is known to be unused */

/* Return the CRC-32C of `length` bytes (docs/protocol.md, 3). */
uint32_t record_crc(const uint8_t *bytes, uint32_t length);

/* Write a record as the bytes of a slot. */
void record_encode(const struct record *record, uint8_t slot[RECORD_BYTES]);

/*
 * Find the newest whole record of both slots. Returns its slot, 0 or 1, and stores it in `record`,
 * or RECORD_NEW or RECORD_BROKEN, with a record of zeros. Erased slots read as 00 or as ff.
 */
int record_choose(const uint8_t slots[RECORD_SLOTS][RECORD_BYTES], struct record *record);

/* Return the slot for the next write; `slot` is that of the newest record, or RECORD_NEW. */
int record_next(int slot);

#endif
