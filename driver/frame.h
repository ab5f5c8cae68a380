/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Frames of the serial dialect (docs/protocol-serial.md): encoding, and
 * detection in a stream of bytes. No I/O. The emulator uses these functions
 * too.
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

/* kinds; the top bit is set in frames of the machine */
#define FRAME_REQUEST		0x01
#define FRAME_PLAN		0x02
#define FRAME_GATE		0x03
#define FRAME_ANSWER		0x81
#define FRAME_EVENT		0x82

/* FRAME_REQUEST: request, wValue, then the data of a command */
#define FRAME_REQUEST_HEADER	3
/* FRAME_ANSWER: a status, then the data */
#define FRAME_ANSWER_HEADER	1
#define FRAME_DONE		0x00
#define FRAME_STALL		0x01

/**
 * struct frame - one frame
 * @kind: FRAME_*
 * @tag: the host's number of a request, repeated in its answer; else 0
 * @length: bytes in @payload, 0..FRAME_PAYLOAD_MAX
 * @payload: points into the reader, valid until the next dealbox_frame_read()
 */
struct frame {
	u8 kind;
	u8 tag;
	u8 length;
	const u8 *payload;
};

/**
 * struct frame_reader - partly received frame; initialised with zeroes
 * @have: bytes in @buf
 * @taken: bytes of the last frame, still at the start of @buf
 * @dropped: number of bytes that belonged to no frame; the caller may reset it
 * @buf: received bytes; the first one may start a frame
 */
struct frame_reader {
	u16 have;
	u16 taken;
	u32 dropped;
	u8 buf[FRAME_MAX];
};

/**
 * dealbox_frame_seal() - add header and checksum to a payload
 * @buf: room for FRAME_BYTES(@length) bytes, with the payload at FRAME_HEADER
 * @kind: FRAME_*
 * @tag: tag of a request or answer, else 0
 * @length: size of the payload, 0..FRAME_PAYLOAD_MAX
 *
 * Return: the size of the frame in bytes.
 */
size_t dealbox_frame_seal(u8 *buf, u8 kind, u8 tag, size_t length);

/**
 * dealbox_frame_read() - find the next frame in a stream
 * @reader: the partly received frame
 * @bytes: input, advanced past the bytes read
 * @length: bytes left at *@bytes
 * @frame: the frame
 *
 * If a frame is bad, the search continues right after its start byte, so that
 * the frames behind it are not lost.
 *
 * Return: false if the input ended before a frame was complete.
 */
bool dealbox_frame_read(struct frame_reader *reader, const u8 **bytes,
			size_t *length, struct frame *frame);

#endif
