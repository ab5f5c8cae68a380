/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The frames of the serial dialect (docs/protocol-serial.md): encode, and find in
 * a stream of bytes. Pure; for the driver and the emulator.
 */
#ifndef DEALBOX_FRAME_H
#define DEALBOX_FRAME_H

#include "wire.h"

#define FRAME_PROTOCOL		0x02	/* bInterfaceProtocol */
#define FRAME_START		0xdb
#define FRAME_HEADER		4
#define FRAME_PAYLOAD_MAX	128
#define FRAME_BYTES(n)		(FRAME_HEADER + (n) + 4)
#define FRAME_MAX		FRAME_BYTES(FRAME_PAYLOAD_MAX)

/* kinds; the upper bit says: from the machine */
#define FRAME_REQUEST		0x01
#define FRAME_PLAN		0x02
#define FRAME_GATE		0x03
#define FRAME_ANSWER		0x81
#define FRAME_EVENT		0x82

/* FRAME_REQUEST: request, wValue, then what a command says */
#define FRAME_REQUEST_HEADER	3
#define FRAME_DESCRIBE		0x00	/* the request that only this dialect has */
/* FRAME_ANSWER: a status, then the data */
#define FRAME_ANSWER_HEADER	1
#define FRAME_DONE		0x00
#define FRAME_STALL		0x01

/**
 * struct frame - one frame
 * @kind: FRAME_*
 * @tag: the host's number of a request, and of its answer; else 0
 * @length: bytes of the payload, 0..FRAME_PAYLOAD_MAX
 * @payload: in the buffer that was read, until the next call
 */
struct frame {
	u8 kind;
	u8 tag;
	u8 length;
	const u8 *payload;
};

/**
 * struct frame_reader - what has come of a frame; zeroed memory is a new one
 * @have: bytes in @buf
 * @taken: how many of these were given away as the last frame
 * @dropped: bytes that belonged to no frame, since somebody set it to 0
 * @buf: from the byte on with which the next frame may begin
 */
struct frame_reader {
	u16 have;
	u16 taken;
	u32 dropped;
	u8 buf[FRAME_MAX];
};

/*
 * Writes a frame with the payload that lies at buf + FRAME_HEADER already, of
 * length 0..FRAME_PAYLOAD_MAX. Returns its size.
 */
size_t dealbox_frame_seal(u8 *buf, u8 kind, u8 tag, size_t length);

/*
 * Takes bytes from *bytes, *length until a frame is whole; false when there are no
 * more bytes. After a byte that is wrong it looks for the next frame behind the
 * start byte that misled it, so that a broken frame costs itself alone.
 */
bool dealbox_frame_read(struct frame_reader *reader, const u8 **bytes, size_t *length,
			struct frame *frame);

#endif
