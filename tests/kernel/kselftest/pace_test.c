// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's back-off when the event pipe fails, and the reset if that does not help, as usbmon
 * sees them. Needs counted time, which tests/kernel/kselftest/run provides.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/dealbox.h>
#include <linux/usb/ch9.h>

#include "kselftest_harness.h"
#include "program.h"
#include "usbmon.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(3 * PATIENCE / 1000)

/*
 * The lateness of a kernel timer with HZ 250, and a margin. With checkers, a kernel worker waits
 * up to 10 ms for the only processor.
 */
#define LATE_MS		(getenv("CHECKERS") ? 30 : 12)

FIXTURE(pace) {
	struct machine machine;
	struct kernel kernel;
	int usb;
	int fd;
};

FIXTURE_SETUP(pace)
{
	const char *const options[] = { "--manual", "--speed", "0", NULL };

	ASSERT_NE(NULL, getenv("COUNTED_TIME"));
	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
	self->usb = usbmon_open();
	ASSERT_LE(0, self->usb);
}

FIXTURE_TEARDOWN(pace)
{
	close(self->usb);
	close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

static double ms_of(const struct mon_packet *packet)
{
	return packet->seconds * 1e3 + packet->us / 1e3;
}

/* Waits for the next packet on the machine's pipes; type 0 if none comes. */
static struct mon_packet next_packet(int usb)
{
	struct pollfd pollfd = { .fd = usb, .events = POLLIN };
	struct mon_packet packet;

	while (poll(&pollfd, 1, PATIENCE) == 1 && usbmon_next(usb, &packet) > 0)
		if (packet.device != MON_ROOT_HUB)
			return packet;
	return (struct mon_packet){ 0 };
}

/* The clock of usbmon; "tai" is the same, since nobody has told the kernel of leap seconds. */
static bool trace_transfers(void)
{
	/* a change of the clock empties the trace */
	return write_file("/sys/kernel/tracing", "trace_clock", "tai") &&
	       write_file("/sys/kernel/tracing", "events/dealbox/dealbox_transfer/enable", "1");
}

/* Returns when the driver was given its first transfer with this status, 0 if never. */
static double handled_ms(int status)
{
	FILE *trace = fopen("/sys/kernel/tracing/trace", "re");
	double seconds, handled = 0;
	char line[512];
	int its_status;

	while (trace && !handled && fgets(line, sizeof(line), trace))
		if (sscanf(line, " %*s [%*d] %*s %lf: dealbox_transfer: dealbox%*d status=%d",
			   &seconds, &its_status) == 2 && its_status == status)
			handled = seconds * 1e3;
	if (trace)
		fclose(trace);
	return handled;
}

static bool is_setup(const struct mon_packet *packet, __u8 request)
{
	return packet->type == 'S' && !packet->flag_setup && !packet->setup[0] &&
	       packet->setup[1] == request;
}

static bool is_in(const struct mon_packet *packet, char type)
{
	return packet->type == type && packet->transfer == MON_INTERRUPT &&
	       packet->endpoint & USB_DIR_IN;
}

static bool is_clear_halt(const struct mon_packet *packet)
{
	return packet->type == 'S' && !packet->flag_setup &&
	       packet->setup[0] == USB_RECIP_ENDPOINT &&
	       packet->setup[1] == USB_REQ_CLEAR_FEATURE;
}

/*
 * The retries are those of usbhid: at once, after 13, 26, 52, 104 ms, then every 104 ms.
 * The first reset comes after one second, the next after two more. The bus needs some
 * 200 ms for a reset.
 *
 * "At once" is in the completion handler, with interrupts off. Between the time that usbmon notes
 * and the handler, vhci_hcd's thread may lose the only processor: to interrupts, to RCU, and to
 * this program, which usbmon wakes. So that pause begins in the handler.
 */
TEST_F(pace, errors)
{
	static const int pauses[] = { 0, 13, 26, 52, 104, 104, 104, 104 };
	double first = 0, failed = 0, handled, pause, since;
	struct mon_packet packets[1000], *packet;
	int count = 0, retries = 0, resets = 0;

	ASSERT_TRUE(trace_transfers());
	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer always: status EPROTO"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	/* all first, because what is printed takes time of the only processor */
	while (resets < 2) {
		ASSERT_GT(ARRAY_SIZE(packets), count);
		packet = &packets[count++];
		*packet = next_packet(self->usb);
		ASSERT_NE(0, packet->type);
		resets += is_setup(packet, USB_REQ_SET_ADDRESS);
	}
	EXPECT_TRUE(write_file("/sys/kernel/tracing", "events/dealbox/dealbox_transfer/enable",
			       "0"));

	resets = 0;
	for (packet = packets; packet < packets + count; packet++) {
		if (is_in(packet, 'C') && packet->status == -EPROTO) {
			failed = ms_of(packet);
			first = first ?: failed;
		} else if (is_in(packet, 'S') && first && retries < ARRAY_SIZE(pauses)) {
			if (!retries) {
				handled = handled_ms(-EPROTO);
				TH_LOG("handled after %.1f ms", handled - failed);
				EXPECT_LE(failed, handled);
				failed = handled;
			}
			pause = ms_of(packet) - failed;
			TH_LOG("try again after %.1f ms", pause);
			/* the kernel's clock may have ticked just before */
			EXPECT_LE(pauses[retries] ? pauses[retries] - 1 : 0, pause);
			EXPECT_GE(pauses[retries] ? pauses[retries] + LATE_MS : 1, pause);
			retries++;
		} else if (is_setup(packet, USB_REQ_SET_ADDRESS)) {
			since = ms_of(packet) - first;
			TH_LOG("reset after %.1f ms", since);
			EXPECT_LE(++resets == 1 ? 1000 : 3000, since);
			EXPECT_GE(resets == 1 ? 1500 : 3700, since);
		}
	}
	EXPECT_EQ(ARRAY_SIZE(pauses), retries);
}

static bool is_bulk_out(const struct mon_packet *packet)
{
	return packet->type == 'S' && packet->transfer == MON_BULK &&
	       !(packet->endpoint & USB_DIR_IN);
}

/* A plan that is being sent delays no retry, of which the first shall be one of many. */
TEST_F(pace, errors_while_a_plan_is_sent)
{
	static const int pauses[] = { 0, 13, 26, 52 };
	struct mon_packet packet;
	double failed = 0, pause;
	int retries = 0;
	struct doing d;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on plan: ignore"));
	ASSERT_TRUE(begin(&d, self->fd, load, "_exchange"));
	do {
		packet = next_packet(self->usb);
		ASSERT_NE(0, packet.type);
	} while (!is_bulk_out(&packet));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer times 4: status EPROTO"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	while (retries < ARRAY_SIZE(pauses)) {
		packet = next_packet(self->usb);
		ASSERT_NE(0, packet.type);
		if (is_in(&packet, 'C') && packet.status == -EPROTO) {
			failed = ms_of(&packet);
		} else if (is_in(&packet, 'S') && failed) {
			pause = ms_of(&packet) - failed;
			TH_LOG("try again after %.1f ms", pause);
			EXPECT_GE(pauses[retries] + LATE_MS, pause);
			retries++;
		}
	}
	EXPECT_EQ(-ETIMEDOUT, end(&d));
}

/* A halt is cleared before the next try, and no event is lost. */
TEST_F(pace, halt)
{
	double halted = 0, asked = 0, cleared = 0, again;
	struct mon_packet packet;
	uint64_t clear = 0;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer: stall"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	do {
		packet = next_packet(self->usb);
		ASSERT_NE(0, packet.type);
		EXPECT_FALSE(is_setup(&packet, USB_REQ_SET_ADDRESS));
		if (is_in(&packet, 'C') && packet.status == -EPIPE) {
			halted = ms_of(&packet);
		} else if (is_clear_halt(&packet)) {
			clear = packet.id;
			asked = ms_of(&packet);
		} else if (packet.type == 'C' && packet.id == clear) {
			cleared = cleared ?: ms_of(&packet);
		}
	} while (!halted || !is_in(&packet, 'S'));
	ASSERT_NE(0, cleared);
	again = ms_of(&packet);
	TH_LOG("cleared after %.1f ms, in %.1f, and tried again after %.1f", asked - halted,
	       cleared - asked, again - cleared);
	EXPECT_GE(LATE_MS, again - halted);
	EXPECT_EQ(DEALBOX_EV_KEY, next_event(self->fd).type);
}

/* The endpoint halts again after each clear: back-off, and a reset after a second. */
TEST_F(pace, halts)
{
	struct mon_packet packet;
	double first = 0, since = 0;
	int clears = 0;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer always: stall"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	while (!since) {
		packet = next_packet(self->usb);
		ASSERT_NE(0, packet.type);
		if (is_in(&packet, 'C') && packet.status == -EPIPE)
			first = first ?: ms_of(&packet);
		else if (is_clear_halt(&packet))
			clears++;
		else if (is_setup(&packet, USB_REQ_SET_ADDRESS))
			since = ms_of(&packet) - first;
	}
	TH_LOG("reset after %.1f ms, and %d halts", since, clears);
	EXPECT_LE(1000, since);
	EXPECT_GE(1500, since);
	EXPECT_LE(10, clears);
	EXPECT_GE(15, clears);
}

/* Waits until the driver wants to clear a halt. */
static bool await_clear_halt(int usb)
{
	struct mon_packet packet;

	do {
		packet = next_packet(usb);
	} while (packet.type && !is_clear_halt(&packet));
	return packet.type;
}

/* An unanswered CLEAR_FEATURE does not delay an unbind; usb_clear_halt() would, for 5 s. */
TEST_F(pace, halt_stays)
{
	struct timespec since;

	ASSERT_TRUE(machine_tell(&self->machine,
				 "inject on standard CLEAR_FEATURE always: ignore"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer: stall"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	ASSERT_TRUE(await_clear_halt(self->usb));
	clock_gettime(CLOCK_MONOTONIC, &since);
	ASSERT_TRUE(write_file("/sys/bus/usb/drivers/dealbox", "unbind",
			       strrchr(self->machine.interface, '/') + 1));
	EXPECT_TRUE(took_at_most(1000, &since, "unbound"));
}

TEST_F(pace, halt_of_plan_stays)
{
	struct timespec since;
	struct doing d;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(machine_tell(&self->machine,
				 "inject on standard CLEAR_FEATURE always: ignore"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on plan: stall"));
	ASSERT_TRUE(begin(&d, self->fd, load, "_exchange"));
	ASSERT_TRUE(await_clear_halt(self->usb));
	clock_gettime(CLOCK_MONOTONIC, &since);
	ASSERT_TRUE(machine_tell(&self->machine, "unplug"));
	EXPECT_EQ(-ENODEV, end(&d));
	EXPECT_TRUE(took_at_most(1000, &since, "ended"));
}

/* The time limit of a query also holds if a serial machine does not fetch the query. */
TEST(question_is_not_taken)
{
	static const char *const options[] = {
		"--dialect", "serial", "--manual", "--speed", "0", NULL
	};
	struct dealbox_counters counters;
	struct machine machine;
	struct timespec since;
	struct kernel kernel;
	int fd;

	ASSERT_TRUE(kernel_begin(&kernel));
	ASSERT_TRUE(machine_plug(&machine, options));
	fd = open(machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_TRUE(greeted(fd));
	ASSERT_TRUE(machine_tell(&machine, "inject on stream always: ignore"));
	clock_gettime(CLOCK_MONOTONIC, &since);
	EXPECT_EQ(-ETIMEDOUT, call(fd, DEALBOX_IOC_GET_COUNTERS, &counters));
	EXPECT_TRUE(took_at_most(1200, &since, "not answered"));
	close(fd);
	EXPECT_TRUE(machine_unplug(&machine));
	EXPECT_TRUE(kernel_is_well(&kernel));
}

FIXTURE(command) {
	struct machine machine;
	struct kernel kernel;
	int fd;
};

FIXTURE_VARIANT(command) {
	const char *dialect;
};

FIXTURE_VARIANT_ADD(command, native) { .dialect = "native" };
FIXTURE_VARIANT_ADD(command, serial) { .dialect = "serial" };

FIXTURE_SETUP(command)
{
	const char *const options[] = {
		"--dialect", variant->dialect, "--manual", "--speed", "0", NULL
	};

	ASSERT_NE(NULL, getenv("COUNTED_TIME"));
	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
}

FIXTURE_TEARDOWN(command)
{
	close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

static volatile sig_atomic_t signals;

static void heard(int signal)
{
	(void)signal;
	signals++;
}

/*
 * A signal cannot end a command that was sent, because its outcome would stay unknown; so the
 * driver must. The worst case: the command is lost, the machine answers late that it never
 * came, and then answers nothing any more.
 */
TEST_F(command, ends_by_itself)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = heard };
	struct timespec since;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on request LOCATE always: ignore"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_RESULT nth 1: delay 800"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_RESULT nth 2: ignore"));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	clock_gettime(CLOCK_MONOTONIC, &since);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(-ETIMEDOUT, do_op(self->fd, DEALBOX_OP_LOCATE));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_TRUE(took_at_most(4000 + LATE_MS, &since, "not answered"));
	EXPECT_LT(0, signals);
}

TEST_HARNESS_MAIN
