// SPDX-License-Identifier: GPL-2.0-only
/*
 * A halted gate endpoint, behind a host controller that checks how the halt is cleared: EHCI
 * warns when an endpoint with transfers is reset. The machine is outside of the virtual machine,
 * and speaks the serial dialect, because QEMU does not report a stalled interrupt OUT transfer.
 */
#include <errno.h>
#include <fcntl.h>
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

FIXTURE(halt) {
	struct machine machine;
	struct kernel kernel;
	int fd;
	__u32 insertion;
};

FIXTURE_VARIANT(halt) {
	const char *transfer;	/* the emulator's name for transfers with gate commands */
};

FIXTURE_VARIANT_ADD(halt, serial_routed) { .transfer = "stream" };

FIXTURE_SETUP(halt)
{
	char reply[64];

	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug_outside(&self->machine));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(machine_ask(&self->machine, reply, sizeof(reply), "insert 3"));
	ASSERT_EQ(1, sscanf(reply, "insertion %u", &self->insertion));
	ASSERT_EQ(self->insertion, await_event(self->fd, DEALBOX_EV_BOARD_INSERTED).insertion);
	ASSERT_TRUE(machine_tell(&self->machine, "inject on read position 5: freeze"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	ASSERT_TRUE(machine_tell(&self->machine, "wait frozen"));
}

FIXTURE_TEARDOWN(halt)
{
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_TRUE(machine_tell(&self->machine, "remove force"));
	EXPECT_TRUE(machine_tell(&self->machine, "empty"));
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

/* The deal completes, with REREAD after each lost gate command. */
static bool goes_on(FIXTURE_DATA(halt) *self)
{
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_event event;

	do {
		event = next_event(self->fd);
		if (event.type == DEALBOX_EV_GATE_LATE && do_op(self->fd, DEALBOX_OP_REREAD))
			return false;
	} while (event.type && event.type != DEALBOX_EV_DEAL_DONE);
	return event.type && board_is(&self->machine, plan.pocket);
}

/*
 * A card is reported twice: the first gate command is stalled, the second accepted late. QEMU
 * cancels the second when it sees the stall, and sends it again.
 */
TEST_F(halt, second_gate_waits)
{
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event CARD_READ: duplicate"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on %s: status EPIPE", variant->transfer));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on %s nth 2 times 2: delay 300",
				 variant->transfer));
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_TRUE(goes_on(self));
}

TEST_HARNESS_MAIN
