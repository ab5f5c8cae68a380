// SPDX-License-Identifier: GPL-2.0-only
/*
 * The computer sleeps and wakes during various activities of a program.
 *
 * The machine is outside of the virtual machine, behind an emulated EHCI or xHCI: a process
 * inside would be frozen before the drivers are suspended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(3 * PATIENCE / 1000)

#define POWER	"/sys/power"

/* All devices are suspended and resumed, and the machine keeps its power. */
static bool sleep_light(void)
{
	return write_file("/sys/module/suspend/parameters", "pm_test_delay", "0") &&
	       write_file(POWER, "pm_test", "devices") && write_file(POWER, "state", "freeze");
}

/*
 * Suspend to RAM, as when a lid is closed. The RTC wakes the computer; it must be asleep by then,
 * or it sleeps for ever. A plan in flight alone takes three seconds, and the checkers are slow.
 */
static bool sleep_to_ram(void)
{
	return write_file("/sys/class/rtc/rtc0", "wakealarm", "0") &&
	       write_file("/sys/class/rtc/rtc0", "wakealarm", "+20") &&
	       write_file(POWER, "pm_test", "none") &&
	       write_file(POWER, "mem_sleep", "deep") && write_file(POWER, "state", "mem");
}

/*
 * QEMU's q35 wakes with a reset LPC bridge, and its firmware does not restore the address of the
 * ACPI registers (PMBASE and ACPI_CNTL of ICH9). The next suspend would return at once, without
 * sleeping. So restore both registers.
 */
static bool sleep_deep(void)
{
	int bridge = open("/sys/bus/pci/devices/0000:00:1f.0/config", O_RDWR | O_CLOEXEC);
	const off_t pmbase = 0x40;
	char registers[8];
	bool good;

	/* the other kind of virtual machine has no such bridge */
	if (bridge < 0)
		return sleep_to_ram();
	good = pread(bridge, registers, sizeof(registers), pmbase) == sizeof(registers) &&
	       sleep_to_ram() &&
	       pwrite(bridge, registers, sizeof(registers), pmbase) == sizeof(registers);
	close(bridge);
	return good;
}

static int slept(void)
{
	char text[32];

	return read_file(POWER, "suspend_stats/success", text, sizeof(text)) ? atoi(text) : -1;
}

FIXTURE(power) {
	struct machine machine;
	struct kernel kernel;
	int fd;
	int slept;		/* how often the computer had slept before */
	__u32 insertion;
	__u64 seqno;		/* of the last event that was read */
};

FIXTURE_VARIANT(power) {
	bool (*sleep)(void);
	const char *quirks;	/* of usbcore */
	bool lost;		/* the bus is reset, so the machine loses its state */
};

FIXTURE_VARIANT_ADD(power, resume) { .sleep = sleep_light, .quirks = "" };
/* a serial machine; quirk b: the device must be reset on resume */
FIXTURE_VARIANT_ADD(power, serial_reset_resume) {
	.sleep = sleep_light, .quirks = "1209:0001:b", .lost = true };
/* the host controller loses its power, and with it the bus */
FIXTURE_VARIANT_ADD(power, suspend_to_ram) { .sleep = sleep_deep, .quirks = "", .lost = true };

FIXTURE_SETUP(power)
{
	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(usb_quirks(variant->quirks));
	ASSERT_TRUE(machine_plug_outside(&self->machine));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
	self->seqno = status_of(self->fd).seqno - 1;
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	self->slept = slept();
}

FIXTURE_TEARDOWN(power)
{
	char status[512];

	if (self->fd >= 0)
		close(self->fd);
	if (machine_ask(&self->machine, status, sizeof(status), "status") &&
	    !strstr(status, "insertion 0 "))
		EXPECT_TRUE(machine_tell(&self->machine, "remove force"));
	EXPECT_TRUE(machine_tell(&self->machine, "empty"));
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

static bool sleep_and_wake(FIXTURE_DATA(power) *self, const FIXTURE_VARIANT(power) *variant)
{
	return variant->sleep() && slept() == self->slept + 1;
}

/*
 * Waits for an event after the first @seqno, which is STATE_LOST if the bus was reset: a plan that
 * is sent before it ends with EIO.
 */
static bool told_after(int fd, __u64 seqno)
{
	time_t limit = time(NULL) + PATIENCE / 1000;

	while (status_of(fd).seqno == seqno) {
		if (time(NULL) > limit)
			return false;
		a_moment();
	}
	return true;
}

/* The next event; type 0 if there is none, or if one is missing before it. */
static struct dealbox_event next(FIXTURE_DATA(power) *self)
{
	struct dealbox_event event = next_event(self->fd);

	if (event.seqno != ++self->seqno ||
	    event.flags & (DEALBOX_EVF_GAP | DEALBOX_EVF_MACHINE_GAP))
		event.type = 0;
	return event;
}

static bool insert(FIXTURE_DATA(power) *self)
{
	struct dealbox_event event;
	char reply[64];

	if (!machine_ask(&self->machine, reply, sizeof(reply), "insert 3") ||
	    sscanf(reply, "insertion %u", &self->insertion) != 1)
		return false;
	/* the hopper and board after STATE_LOST are reported, too */
	do {
		event = await_event(self->fd, DEALBOX_EV_BOARD_INSERTED);
	} while (event.type && event.insertion != self->insertion);
	return event.type;
}

/* A deal on a new board, from the plan to the last card. */
static bool deals(FIXTURE_DATA(power) *self)
{
	struct dealbox_plan plan = bridge_plan();

	return !load(self->fd) && insert(self) && !start(self->fd, self->insertion) &&
	       await_event(self->fd, DEALBOX_EV_DEAL_DONE).position == CARDS &&
	       board_is(&self->machine, plan.pocket);
}

/* After STATE_LOST there is no plan. */
static int start_without_plan(FIXTURE_DATA(power) *self)
{
	struct dealbox_control c = {
		.op = DEALBOX_OP_START, .plan_id = PLAN, .insertion = self->insertion,
	};

	return control(self->fd, &c) == -EREMOTEIO ? (int)c.result : -1;
}

TEST_F(power, closed)
{
	struct dealbox_status status;
	__u64 seqno;

	ASSERT_EQ(0, load(self->fd));
	seqno = status_of(self->fd).seqno;
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	ASSERT_TRUE(sleep_and_wake(self, variant));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	if (variant->lost)
		ASSERT_TRUE(told_after(self->fd, seqno));
	status = status_of(self->fd);
	EXPECT_EQ(DEALBOX_STATE_IDLE, status.state);
	EXPECT_EQ(variant->lost ? DEALBOX_PLAN_NONE : PLAN, status.plan_id);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_TRUE(deals(self));
}

TEST_F(power, open_and_idle)
{
	struct pollfd pollfd;
	struct dealbox_event event;

	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(insert(self));
	ASSERT_EQ(0, drain(self->fd));
	self->seqno = status_of(self->fd).seqno - 1;
	ASSERT_TRUE(sleep_and_wake(self, variant));
	if (variant->lost) {
		event = next(self);
		EXPECT_EQ(DEALBOX_EV_STATE_LOST, event.type);
		EXPECT_EQ(DEALBOX_LOST_RESET, event.code);
		EXPECT_EQ(DEALBOX_PLAN_NONE, status_of(self->fd).plan_id);
		EXPECT_EQ(DEALBOX_ERR_NO_PLAN, start_without_plan(self));
		ASSERT_EQ(0, load(self->fd));
	} else {
		pollfd = (struct pollfd){ .fd = self->fd, .events = POLLIN };
		EXPECT_EQ(0, poll(&pollfd, 1, 0));
		EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
	}
	EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status_of(self->fd).claimed);
	/* a board that was not dealt is as good as before */
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
}

TEST_F(power, blocked_read)
{
	struct doing d;

	ASSERT_TRUE(begin(&d, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(sleep_and_wake(self, variant));
	if (!variant->lost)
		ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	EXPECT_EQ(variant->lost ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_KEY, end(&d));
	EXPECT_EQ(0, load(self->fd));
}

TEST_F(power, blocked_poll)
{
	struct doing d;

	ASSERT_TRUE(begin(&d, self->fd, do_poll, "poll"));
	ASSERT_TRUE(sleep_and_wake(self, variant));
	if (!variant->lost)
		ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	EXPECT_EQ(POLLIN, end(&d));
	EXPECT_EQ(variant->lost ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_KEY, next(self).type);
}

/* The deal is paused first. Then it either continues, or the board is void. */
TEST_F(power, mid_deal)
{
	struct dealbox_plan plan = bridge_plan();
	struct pollfd pollfd = { .fd = self->fd, .events = POLLIN };
	struct dealbox_event event = { 0 };
	struct dealbox_status status;
	unsigned int landed = 0;

	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(insert(self));
	ASSERT_EQ(0, drain(self->fd));
	self->seqno = status_of(self->fd).seqno - 1;
	ASSERT_EQ(0, start(self->fd, self->insertion));
	while (event.type != DEALBOX_EV_CARD_READ || event.position < 5) {
		event = next(self);
		ASSERT_NE(0, event.type);
		landed += event.type == DEALBOX_EV_CARD_LANDED;
	}
	ASSERT_TRUE(sleep_and_wake(self, variant));

	do {
		event = next(self);
		ASSERT_NE(0, event.type);
		ASSERT_NE(DEALBOX_EV_STATE_LOST, event.type);
		landed += event.type == DEALBOX_EV_CARD_LANDED;
	} while (event.type != DEALBOX_EV_PAUSED);
	EXPECT_GT(CARDS / 2, landed);
	if (!variant->lost) {
		EXPECT_EQ(0, poll(&pollfd, 1, 0));
		status = status_of(self->fd);
		EXPECT_EQ(DEALBOX_STATE_PAUSED, status.state);
		EXPECT_EQ(PLAN, status.plan_id);
		EXPECT_EQ(landed, status.cards_done);
		EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status.claimed);
		ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_RESUME));
		EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
		EXPECT_TRUE(board_is(&self->machine, plan.pocket));
		return;
	}
	event = next(self);
	EXPECT_EQ(DEALBOX_EV_STATE_LOST, event.type);
	EXPECT_EQ(DEALBOX_LOST_RESET, event.code);
	status = status_of(self->fd);
	EXPECT_EQ(DEALBOX_STATE_IDLE, status.state);
	EXPECT_EQ(DEALBOX_PLAN_NONE, status.plan_id);
	EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status.claimed);
	EXPECT_EQ(DEALBOX_ERR_NO_PLAN, start_without_plan(self));
	ASSERT_EQ(0, load(self->fd));
	EXPECT_EQ(-EREMOTEIO, start(self->fd, self->insertion));
	ASSERT_TRUE(machine_tell(&self->machine, "remove"));
	ASSERT_TRUE(machine_tell(&self->machine, "empty"));
	EXPECT_TRUE(deals(self));
}

/* A machine that does not answer cannot be paused, but does not prevent sleep either. */
TEST_F(power, silent_machine)
{
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: no-answer"));
	ASSERT_TRUE(sleep_and_wake(self, variant));
	if (variant->lost)
		EXPECT_EQ(DEALBOX_EV_STATE_LOST, next(self).type);
	EXPECT_EQ(0, load(self->fd));
}

/*
 * A machine that keeps dealing and answers late: the driver gives up after 2 s, not after a number
 * of answers. Each takes 400 ms, and at the twelfth a key is pressed.
 */
TEST_F(power, slow_machine)
{
	int i;

	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(insert(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on read position 5: freeze"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	ASSERT_TRUE(machine_tell(&self->machine, "wait frozen"));
	ASSERT_TRUE(machine_tell(&self->machine,
				 "inject on request GET_STATUS times 12: delay 400"));
	ASSERT_TRUE(machine_tell(&self->machine,
				 "inject on request GET_STATUS nth 12: key start"));
	ASSERT_TRUE(sleep_and_wake(self, variant));
	EXPECT_FALSE(key_came(self->fd));
	/* use up the injected fault, for the next test */
	for (i = 0; i < 12; i++)
		status_of(self->fd);
	EXPECT_TRUE(machine_tell(&self->machine, "thaw"));
}

/* SET_PLAN in flight: the call is restarted when the computer wakes. */
TEST_F(power, plan_in_flight)
{
	__u64 seqno = status_of(self->fd).seqno;
	struct doing d;
	int error;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on event PLAN_LOADED: drop"));
	ASSERT_TRUE(begin(&d, self->fd, load, "_exchange"));
	ASSERT_TRUE(sleep_and_wake(self, variant));
	error = end(&d);
	/* the restarted call may come before STATE_LOST */
	if (!variant->lost || error != -EIO)
		EXPECT_EQ(0, error);
	if (variant->lost)
		ASSERT_TRUE(told_after(self->fd, seqno));
	EXPECT_EQ(0, load(self->fd));
}

/* The cable is pulled when the computer is about to sleep, and plugged in afterwards. */
TEST_F(power, gone_while_asleep)
{
	struct doing d;

	ASSERT_TRUE(begin(&d, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: unplug"));
	ASSERT_TRUE(sleep_and_wake(self, variant));
	EXPECT_EQ(-ENODEV, end(&d));
	EXPECT_EQ(-ENODEV, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	close(self->fd);
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	ASSERT_TRUE(machine_tell(&self->machine, "plug"));
	ASSERT_TRUE(machine_await(&self->machine, "add"));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(0, load(self->fd));
}

/* A machine that is replugged while the computer sleeps is taken for the same one. */
TEST_F(power, replugged_while_asleep)
{
	struct doing d;

	ASSERT_TRUE(begin(&d, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: unplug 10"));
	ASSERT_TRUE(sleep_and_wake(self, variant));
	EXPECT_EQ(DEALBOX_EV_STATE_LOST, end(&d));
	EXPECT_EQ(0, load(self->fd));
}

TEST_HARNESS_MAIN
