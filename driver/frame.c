// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Frames of the serial dialect, docs/protocol-serial.md. */
#include <linux/crc32.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "frame.h"

size_t dealbox_frame_seal(u8 *buf, u8 kind, u8 tag, size_t length)
{
	u8 *end = buf + FRAME_HEADER + length;

	buf[0] = FRAME_START;
	buf[1] = kind;
	buf[2] = tag;
	buf[3] = length;
	put_unaligned_le32(~crc32c(~0, buf + 1, end - buf - 1), end);
	return FRAME_BYTES(length);
}

static void discard_bytes(struct frame_reader *reader, size_t count)
{
	reader->have -= count;
	memmove(reader->buf, reader->buf + count, reader->have);
}

/* Drop bytes up to the next one after the first that could start a frame. */
static void resume_search(struct frame_reader *reader)
{
	size_t i = 1;

	while (i < reader->have && reader->buf[i] != FRAME_START)
		i++;
	reader->dropped += i;
	discard_bytes(reader, i);
}

/* Return true if a complete frame is at the start of the buffer. */
static bool find_frame(struct frame_reader *reader, struct frame *frame)
{
	const u8 *buf = reader->buf;
	size_t length;

	while (reader->have) {
		length = reader->have > 3 ? buf[3] : 0;
		if (buf[0] == FRAME_START && length <= FRAME_PAYLOAD_MAX) {
			if (reader->have < FRAME_BYTES(length))
				return false;
			if (~crc32c(~0, buf + 1, FRAME_HEADER - 1 + length) ==
			    get_unaligned_le32(buf + FRAME_HEADER + length)) {
				*frame = (struct frame){
					.kind = buf[1],
					.tag = buf[2],
					.length = length,
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

bool dealbox_frame_read(struct frame_reader *reader, const u8 **bytes,
			size_t *length, struct frame *frame)
{
	size_t room;

	discard_bytes(reader, reader->taken);
	reader->taken = 0;
	/* The buffer may still hold frames that followed a bad one. */
	while (!find_frame(reader, frame)) {
		if (!*length)
			return false;
		room = min(sizeof(reader->buf) - reader->have, *length);
		memcpy(reader->buf + reader->have, *bytes, room);
		reader->have += room;
		*bytes += room;
		*length -= room;
	}
	return true;
}
