// SPDX-License-Identifier: LGPL-2.1-or-later
/* The connection to an emulated machine, with a socket that never runs dry, and a fake clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/machine.h>

#include "machine/emu.h"
#include "machine_wire.h"

#define FOR_EVER	1000000		/* packets, more than one call reads */

static struct {
	struct sockaddr_un address;
	int listener;
	uint64_t time_ns;
	bool deaf;			/* does not answer */
	uint32_t flood;			/* events to come now, one in a packet, */
	bool behind;			/* ... before the answer */
	uint64_t packet_ns;		/* time to read one */
	uint32_t number;		/* of the next event */
	uint32_t read;			/* packets since the last call */
	struct {
		struct emu_frame frame;
		uint8_t data[sizeof(struct emu_attached)];
	} answer;
	bool answered;			/* the answer can be read */
} peer;

/* ---- the machine ------------------------------------------------------------ */

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	assert_int_equal(id, CLOCK_MONOTONIC);
	now->tv_sec = (time_t)(peer.time_ns / 1000000000);
	now->tv_nsec = (long)(peer.time_ns % 1000000000);
	return 0;
}

static void describe(struct emu_attached *attached)
{
	const struct wire_descriptor descriptor = {
		.reader = DEALBOX_READER_BARCODE, .version = WIRE_VERSION, .pockets = 4,
		.pocket_capacity = 20, .hopper = 200, .plan_entries = 64,
		.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD,
	};

	wire_descriptor_put(attached->machine_descriptor, &descriptor);
	strcpy(attached->serial, "A17");
	attached->protocol = WIRE_PROTOCOL;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	const struct emu_frame *frame = message->msg_iov[0].iov_base;
	const uint8_t *setup = message->msg_iov[1].iov_base;

	(void)fd;
	assert_int_equal(flags, MSG_NOSIGNAL | MSG_DONTWAIT);
	memset(&peer.answer, 0, sizeof(peer.answer));
	peer.answer.frame.kind = frame->kind | 0x80;
	peer.answer.frame.id = frame->id;
	if (frame->kind == EMU_ATTACH) {
		peer.answer.frame.length = sizeof(struct emu_attached);
		describe((struct emu_attached *)peer.answer.data);
	} else if (frame->kind == EMU_CONTROL && setup[0] & 0x80) {
		peer.answer.frame.length = setup[6];
	}
	peer.answered = !peer.deaf;
	return (ssize_t)(sizeof(*frame) + frame->length);
}

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
	struct wire_event event = { .type = DEALBOX_EV_COVER_OPEN, .position = DEALBOX_NONE,
				    .card = DEALBOX_NONE, .pocket = DEALBOX_NONE,
				    .quality = DEALBOX_NONE };
	struct emu_frame frame = { .kind = EMU_INT_IN, .length = WIRE_EVENT_SIZE };
	size_t length;

	(void)fd;
	assert_int_equal(flags, MSG_DONTWAIT);
	if (peer.answered && !(peer.behind && peer.flood)) {
		peer.answered = false;
		length = sizeof(frame) + peer.answer.frame.length;
		assert_in_range(length, 1, size);
		memcpy(data, &peer.answer, length);
		return (ssize_t)length;
	}
	if (!peer.flood) {
		errno = EAGAIN;
		return -1;
	}
	peer.flood--;
	peer.time_ns += peer.packet_ns;
	assert_in_range(++peer.read, 1, FOR_EVER - 1);
	event.number = ++peer.number;
	memcpy(data, &frame, sizeof(frame));
	wire_event_put((uint8_t *)data + sizeof(frame), &event);
	return sizeof(frame) + WIRE_EVENT_SIZE;
}

static void expect(uint32_t packets)
{
	peer.flood = packets;
	peer.read = 0;
}

/* ---- set up ------------------------------------------------------------------- */

static int make(void **state)
{
	struct dealbox_machine *machine;
	char uri[128];

	memset(&peer, 0, sizeof(peer));
	peer.packet_ns = 20000;
	peer.address.sun_family = AF_UNIX;
	snprintf(peer.address.sun_path, sizeof(peer.address.sun_path), "/tmp/test_emu.%d",
		 (int)getpid());
	peer.listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(bind(peer.listener, (struct sockaddr *)&peer.address,
			      sizeof(peer.address)), 0);
	assert_int_equal(listen(peer.listener, 1), 0);
	snprintf(uri, sizeof(uri), "emu:%s", peer.address.sun_path);
	assert_int_equal(dealbox_machine_open(uri, 0, &machine, NULL), 0);
	*state = machine;
	return 0;
}

static int unmake(void **state)
{
	expect(0);
	dealbox_machine_close(*state);
	close(peer.listener);
	unlink(peer.address.sun_path);
	return 0;
}

/* ---- tests -------------------------------------------------------------------- */

static void what_was_sent_is_read(void **state)
{
	struct dealbox_event events[32];
	uint64_t last = 0;
	unsigned int got = 0;
	ssize_t count, n;

	expect(1000);
	while ((count = dealbox_machine_read(*state, events, 32)) > 0) {
		for (n = 0; n < count; n++) {
			assert_int_equal(events[n].type, DEALBOX_EV_COVER_OPEN);
			assert_int_equal(events[n].flags, 0);
			assert_true(!last || events[n].seqno == last + 1);
			last = events[n].seqno;
		}
		got += (unsigned int)count;
	}
	assert_int_equal(count, -EAGAIN);
	assert_int_equal(got, 1000);
}

static void reading_ends_though_the_machine_never_stops(void **state)
{
	struct dealbox_event event;
	unsigned int n;

	for (n = 0; n < 3; n++) {
		expect(FOR_EVER);
		assert_int_equal(dealbox_machine_read(*state, &event, 1), 1);
	}
}

static void a_question_ends_though_the_machine_never_stops(void **state)
{
	struct dealbox_status status;
	uint64_t before;

	expect(FOR_EVER);
	assert_int_equal(dealbox_machine_get_status(*state, &status), 0);
	peer.deaf = true;
	before = peer.time_ns;
	expect(FOR_EVER);
	assert_int_equal(dealbox_machine_get_status(*state, &status), -ETIMEDOUT);
	assert_in_range((peer.time_ns - before) / 1000000, WIRE_CONTROL_HOST_MS,
			WIRE_CONTROL_HOST_MS + 100);
}

/* The computer was busy, or the program was stopped meanwhile. */
static void an_answer_that_came_in_time_may_be_read_late(void **state)
{
	struct dealbox_status status;

	peer.behind = true;
	peer.packet_ns = WIRE_CONTROL_HOST_MS * 1000000ull;
	expect(100);
	assert_int_equal(dealbox_machine_get_status(*state, &status), 0);
	assert_int_equal(peer.read, 100);
}

/* The verdict is an event, which does not come. */
static void loading_ends_though_the_machine_never_stops(void **state)
{
	struct dealbox_plan plan = { .plan_id = 5, .mode = DEALBOX_PLAN_BY_CARD, .entries = 52 };
	uint64_t before = peer.time_ns;
	int card;

	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	assert_int_equal(dealbox_machine_claim(*state), 0);
	expect(FOR_EVER);
	assert_int_equal(dealbox_machine_set_plan(*state, &plan), -ETIMEDOUT);
	assert_in_range((peer.time_ns - before) / 1000000, WIRE_PLAN_HOST_MS,
			WIRE_PLAN_HOST_MS + 100);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_sent_is_read),
		TEST(reading_ends_though_the_machine_never_stops),
		TEST(a_question_ends_though_the_machine_never_stops),
		TEST(an_answer_that_came_in_time_may_be_read_late),
		TEST(loading_ends_though_the_machine_never_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
