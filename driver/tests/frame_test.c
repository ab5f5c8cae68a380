// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* frame.c: frames that are complete, in pieces, damaged, and after noise. */
#include <kunit/test.h>

#include "frame.h"

static struct frame_reader reader;
static u8 stream[4096];
static size_t length;

static int empty(struct kunit *test)
{
	memset(&reader, 0, sizeof(reader));
	length = 0;
	return 0;
}

/* Append a frame to the stream; its payload counts up from tag. */
static void add_frame(u8 kind, u8 tag, size_t size)
{
	u8 *at = stream + length;
	size_t i;

	for (i = 0; i < size; i++)
		at[FRAME_HEADER + i] = tag + i;
	length += dealbox_frame_seal(at, kind, tag, size);
}

static void add_byte(u8 byte)
{
	stream[length++] = byte;
}

static size_t at;

static bool next_frame(size_t piece, struct frame *frame)
{
	while (at < length) {
		const u8 *bytes = stream + at;
		size_t rest = length - at, left = piece, given;
		bool came;

		if (rest < piece)
			left = rest;
		given = left;
		came = dealbox_frame_read(&reader, &bytes, &left, frame);
		at += given - left;
		if (came)
			return true;
	}
	/* frames still in the reader */
	return dealbox_frame_read(&reader, &(const u8 *){ stream }, &(size_t){ 0 }, frame);
}

static void assert_frame(struct kunit *test, size_t piece, u8 kind, u8 tag, size_t size)
{
	struct frame frame;
	size_t i;

	KUNIT_ASSERT_TRUE(test, next_frame(piece, &frame));
	KUNIT_ASSERT_EQ(test, frame.kind, kind);
	KUNIT_ASSERT_EQ(test, frame.tag, tag);
	KUNIT_ASSERT_EQ(test, frame.length, size);
	for (i = 0; i < size; i++)
		KUNIT_ASSERT_EQ(test, frame.payload[i], (u8)(tag + i));
}

static void assert_end(struct kunit *test, size_t piece, u32 dropped)
{
	struct frame frame;

	KUNIT_ASSERT_FALSE(test, next_frame(piece, &frame));
	KUNIT_ASSERT_EQ(test, reader.dropped, dropped);
}

/* the example in docs/protocol-serial.md */
static void test_example(struct kunit *test)
{
	static const u8 request[] = { 0xdb, 0x01, 0x07, 0x03, 0x03, 0x00, 0x00,
				      0x9d, 0x50, 0x60, 0x98 };
	static const u8 sum[] = { 0xb5, 0x61, 0x80, 0x8d };
	u8 buf[FRAME_MAX] = { 0 };

	buf[FRAME_HEADER] = WIRE_GET_RESULT;
	KUNIT_ASSERT_EQ(test, dealbox_frame_seal(buf, FRAME_REQUEST, 7, FRAME_REQUEST_HEADER),
			sizeof(request));
	KUNIT_ASSERT_MEMEQ(test, buf, request, sizeof(request));

	memset(buf, 0, sizeof(buf));
	KUNIT_ASSERT_EQ(test, dealbox_frame_seal(buf, FRAME_ANSWER, 7, 17), FRAME_BYTES(17));
	KUNIT_ASSERT_MEMEQ(test, buf + FRAME_HEADER + 17, sum, sizeof(sum));
}

/*
 * Frames of every length, in pieces of every size, arrive once each, in order.
 */
static void test_pieces(struct kunit *test)
{
	static const u8 sizes[] = { 0, 1, 16, 32, FRAME_PAYLOAD_MAX - 1, FRAME_PAYLOAD_MAX };
	size_t piece, i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		add_frame(FRAME_EVENT, 0xd0 + i, sizes[i]);
	for (piece = 1; piece <= length; piece++) {
		memset(&reader, 0, sizeof(reader));
		at = 0;
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			assert_frame(test, piece, FRAME_EVENT, 0xd0 + i, sizes[i]);
		assert_end(test, piece, 0);
	}
}

/*
 * Noise of every length before a frame, including bytes that look like its
 * start.
 */
static void test_noise(struct kunit *test)
{
	static const u8 noise[] = { 0x00, FRAME_START, 0x55 };
	size_t kind, count, i, piece;

	for (kind = 0; kind < ARRAY_SIZE(noise); kind++) {
		for (count = 0; count < 2 * FRAME_MAX; count += 7) {
			for (piece = 1; piece <= 512; piece *= 8) {
				empty(test);
				for (i = 0; i < count; i++)
					add_byte(noise[kind]);
				add_frame(FRAME_ANSWER, 9, 20);
				add_frame(FRAME_EVENT, 0, 32);
				/*
				 * enough frames to complete any length in the
				 * noise
				 */
				for (i = 0; i < 4; i++)
					add_frame(FRAME_EVENT, 0, FRAME_PAYLOAD_MAX);
				at = 0;
				assert_frame(test, piece, FRAME_ANSWER, 9, 20);
				assert_frame(test, piece, FRAME_EVENT, 0, 32);
				KUNIT_ASSERT_EQ(test, reader.dropped, count);
			}
		}
	}
}

/* A wrong byte loses its own frame only, and creates no false one. */
static void test_one_byte_wrong(struct kunit *test)
{
	size_t wrong, size = FRAME_BYTES(32), i;

	for (wrong = 0; wrong < size; wrong++) {
		empty(test);
		add_frame(FRAME_EVENT, 1, 32);
		for (i = 0; i < 5; i++)
			add_frame(FRAME_EVENT, 0x40 + i, 32);
		stream[wrong] ^= 0x80;
		at = 0;
		for (i = 0; i < 5; i++)
			assert_frame(test, 64, FRAME_EVENT, 0x40 + i, 32);
		assert_end(test, 64, size);
	}
}

/* A truncated frame is lost, the next one is not. */
static void test_cut_off(struct kunit *test)
{
	size_t cut;

	for (cut = 1; cut < FRAME_BYTES(32); cut++) {
		empty(test);
		add_frame(FRAME_EVENT, 1, 32);
		length = cut;
		add_frame(FRAME_EVENT, 0x40, 32);
		add_frame(FRAME_EVENT, 0x41, 32);
		at = 0;
		assert_frame(test, 40, FRAME_EVENT, 0x40, 32);
		assert_frame(test, 40, FRAME_EVENT, 0x41, 32);
		assert_end(test, 40, cut);
	}
}

static struct kunit_case frame_cases[] = {
	KUNIT_CASE(test_example),
	KUNIT_CASE(test_pieces),
	KUNIT_CASE(test_noise),
	KUNIT_CASE(test_one_byte_wrong),
	KUNIT_CASE(test_cut_off),
	{ }
};

static struct kunit_suite frame_suite = {
	.name = "dealbox_frame",
	.init = empty,
	.test_cases = frame_cases,
};

kunit_test_suite(frame_suite);
