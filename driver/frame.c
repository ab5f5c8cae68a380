// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Frames of the serial dialect: see frame.h, and docs/protocol-serial.md. */
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "frame.h"

static u32 sum_at(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

size_t frame_seal(u8 *buf, u8 kind, u8 tag, size_t length)
{
	u8 *end = buf + FRAME_HEADER + length;
	u32 sum;
	int i;

	buf[0] = FRAME_START;
	buf[1] = kind;
	buf[2] = tag;
	buf[3] = length;
	sum = wire_crc32c(buf + 1, end - buf - 1);
	for (i = 0; i < 4; i++)
		end[i] = sum >> 8 * i & 0xff;
	return FRAME_BYTES(length);
}

static void drop(struct frame_reader *reader, size_t count)
{
	reader->have -= count;
	memmove(reader->buf, reader->buf + count, reader->have);
}

/* To the next byte behind the first with which a frame could begin. */
static void resume_search(struct frame_reader *reader)
{
	size_t i = 1;

	while (i < reader->have && reader->buf[i] != FRAME_START)
		i++;
	reader->dropped += i;
	drop(reader, i);
}

/* True: a whole frame is at the beginning of the buffer. */
static bool whole(struct frame_reader *reader, struct frame *frame)
{
	const u8 *buf = reader->buf;
	size_t length;

	while (reader->have) {
		length = reader->have > 3 ? buf[3] : 0;
		if (buf[0] == FRAME_START && length <= FRAME_PAYLOAD_MAX) {
			if (reader->have <= 3 || reader->have < FRAME_BYTES(length))
				return false;
			if (wire_crc32c(buf + 1, FRAME_HEADER - 1 + length) ==
			    sum_at(buf + FRAME_HEADER + length)) {
				*frame = (struct frame){
					.kind = buf[1], .tag = buf[2], .length = length,
					.payload = buf + FRAME_HEADER,
				};
				reader->taken = FRAME_BYTES(length);
				return true;
			}
		}
		resume_search(reader);
	}
	return false;
}

bool frame_read(struct frame_reader *reader, const u8 **bytes, size_t *length,
		struct frame *frame)
{
	size_t room;

	drop(reader, reader->taken);
	reader->taken = 0;
	/* what lies here was searched in vain, but for what a broken frame hid */
	while (!whole(reader, frame)) {
		if (!*length)
			return false;
		room = sizeof(reader->buf) - reader->have;
		if (room > *length)
			room = *length;
		memcpy(reader->buf + reader->have, *bytes, room);
		reader->have += room;
		*bytes += room;
		*length -= room;
	}
	return true;
}
