// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Arbitrary bytes on the pipe of a serial machine: the result does not depend on how transfers
 * split them, every frame is exact to the byte, and nothing is counted twice.
 */
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "fuzz.h"

/* Appends the frames of the stream to out. Returns the number of bytes in frames. */
static size_t read_all(struct frame_reader *reader, const uint8_t *data, size_t size,
		       uint8_t *out)
{
	struct frame frame;
	size_t length = 0;

	while (dealbox_frame_read(reader, &data, &size, &frame)) {
		CHECK(frame.length <= FRAME_PAYLOAD_MAX);
		memcpy(out + length + FRAME_HEADER, frame.payload, frame.length);
		length += dealbox_frame_seal(out + length, frame.kind, frame.tag, frame.length);
	}
	CHECK(!size);
	return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_reader whole = { 0 }, cut = { 0 };
	uint8_t *a, *b;
	size_t in_frames, in_pieces = 0, piece, at;

	if (!size)
		return 0;
	/* the first byte: the size of the pieces */
	piece = data[0] + 1;
	data++;
	size--;
	a = malloc(size + FRAME_MAX);
	b = malloc(size + FRAME_MAX);
	if (!a || !b)
		abort();

	in_frames = read_all(&whole, data, size, a);
	CHECK(in_frames + whole.dropped + whole.have == size);
	for (at = 0; at < size; at += piece)
		in_pieces += read_all(&cut, data + at, size - at < piece ? size - at : piece,
				      b + in_pieces);
	CHECK(in_pieces == in_frames && !memcmp(a, b, in_frames));
	CHECK(cut.dropped == whole.dropped && cut.have == whole.have);

	free(a);
	free(b);
	return 0;
}
