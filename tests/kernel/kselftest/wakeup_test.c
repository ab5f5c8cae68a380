// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine is suspended when nobody uses it, and wakes the bus by itself. On dummy_hcd, which
 * supports remote wakeup, and is a second bus to deal on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(3 * PATIENCE / 1000)

FIXTURE(wakeup) {
	struct machine machine;
	struct kernel kernel;
	int fd;
	__u32 insertion;
};

FIXTURE_VARIANT(wakeup) {
	const char *kind;
};

FIXTURE_VARIANT_ADD(wakeup, stored) { .kind = "stored" };
FIXTURE_VARIANT_ADD(wakeup, routed) { .kind = "routed" };

FIXTURE_SETUP(wakeup)
{
	const char *const options[] = {
		"--kind", variant->kind, "--manual", "--speed", "5", "--gate-deadline", "10000000",
		NULL
	};

	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug_gadget(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
	/* as udev/70-dealbox.rules has it */
	ASSERT_TRUE(write_file(self->machine.device, "power/autosuspend_delay_ms", "1000"));
	ASSERT_TRUE(write_file(self->machine.device, "power/control", "auto"));
}

FIXTURE_TEARDOWN(wakeup)
{
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

static bool ready(FIXTURE_DATA(wakeup) *self)
{
	char reply[64];

	return !call(self->fd, DEALBOX_IOC_CLAIM, NULL) && !load(self->fd) &&
	       machine_ask(&self->machine, reply, sizeof(reply), "insert 3") &&
	       sscanf(reply, "insertion %u", &self->insertion) == 1 &&
	       await_event(self->fd, DEALBOX_EV_BOARD_INSERTED).insertion == self->insertion;
}

static bool fall_asleep(FIXTURE_DATA(wakeup) *self)
{
	int error = close(self->fd);

	self->fd = -1;
	return !error && await_power(&self->machine, "suspended");
}

TEST_F(wakeup, closed_and_idle)
{
	struct timespec closed;

	clock_gettime(CLOCK_MONOTONIC, &closed);
	ASSERT_TRUE(fall_asleep(self));
	EXPECT_TRUE(took_at_most(2000, &closed, "asleep"));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	EXPECT_TRUE(await_power(&self->machine, "active"));
	/* the machine kept its power: no STATE_LOST, no new events */
	EXPECT_EQ(2, status_of(self->fd).seqno);
}

/* A key wakes the machine: the driver reads the event, and the machine is suspended again. */
TEST_F(wakeup, key_press)
{
	struct dealbox_event event;
	struct timespec pressed;

	ASSERT_TRUE(fall_asleep(self));
	clock_gettime(CLOCK_MONOTONIC, &pressed);
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	EXPECT_TRUE(await_power(&self->machine, "active"));
	ASSERT_TRUE(machine_tell(&self->machine, "wait fetched"));
	EXPECT_TRUE(took_at_most(1000, &pressed, "awake, and the key told,"));
	EXPECT_TRUE(await_power(&self->machine, "suspended"));
	/* no file was open: the event had no reader, but is counted */
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(3, status_of(self->fd).seqno);
	ASSERT_TRUE(machine_tell(&self->machine, "key start let-go"));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_KEY, event.type);
	EXPECT_EQ(3, event.seqno);
	EXPECT_FALSE(event.flags & (DEALBOX_EVF_GAP | DEALBOX_EVF_MACHINE_GAP));
}

/* A paused deal without an owner keeps the machine awake until the board is taken out. */
TEST_F(wakeup, paused_deal)
{
	struct dealbox_event event;

	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	do {
		event = next_event(self->fd);
		ASSERT_NE(0, event.type);
	} while (event.type != DEALBOX_EV_CARD_READ || event.position < 5);
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	ASSERT_TRUE(machine_tell(&self->machine, "wait state PAUSED"));
	/* the driver asks before it lets the machine sleep */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: freeze"));
	ASSERT_TRUE(machine_tell(&self->machine, "wait frozen"));
	EXPECT_TRUE(await_power(&self->machine, "active"));
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	ASSERT_TRUE(machine_tell(&self->machine, "remove"));
	EXPECT_TRUE(await_power(&self->machine, "suspended"));
}

/* A deal on dummy_hcd, also after a suspend. */
TEST_F(wakeup, deal)
{
	struct dealbox_plan plan = bridge_plan();

	ASSERT_TRUE(fall_asleep(self));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

/* The controller holds the halt, not the emulator: the driver must clear it. */
TEST_F(wakeup, halted_endpoint)
{
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer: stall"));
		ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
		EXPECT_EQ(DEALBOX_EV_KEY, next_event(self->fd).type);
		ASSERT_TRUE(machine_tell(&self->machine, "key start let-go"));
		EXPECT_EQ(DEALBOX_EV_KEY, next_event(self->fd).type);
	}
}

/* Interrupts every system call that the emulator waits in, as after a sleep of its computer. */
TEST_F(wakeup, stopped_and_continued)
{
	struct dealbox_plan plan = bridge_plan();
	int status;

	ASSERT_EQ(0, kill(self->machine.pid, SIGSTOP));
	ASSERT_EQ(self->machine.pid, waitpid(self->machine.pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, kill(self->machine.pid, SIGCONT));
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

TEST_F(wakeup, reset)
{
	struct dealbox_event event;

	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, drain(self->fd));
	ASSERT_TRUE(machine_usb_reset(&self->machine));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_STATE_LOST, event.type);
	EXPECT_EQ(DEALBOX_LOST_RESET, event.code);
	EXPECT_EQ(DEALBOX_PLAN_NONE, status_of(self->fd).plan_id);
	ASSERT_EQ(0, load(self->fd));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
}

TEST_HARNESS_MAIN
