// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flooding machines: each transfer is answered at once, and wrongly. The driver must submit few of
 * them, log little, and hardly use the processor. For a virtual machine with one processor whose
 * clock counts instructions (tests/infra/vm/run -i): the judgement is then the same on every
 * computer, busy or not.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "emulated.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(5 * PATIENCE / 1000)

#define FLOOD_MS	4000
#define PAUSE_MS	13	/* the shortest pause between bad transfers; none after the first */
#define MESSAGES_MAX	20	/* lines in the log of the kernel */
#define IDLE_PERCENT	90	/* of the time, with the emulator, the test and all else */

/* One event in hex: a card read by position 0 in insertion 1 */
#define HEX_READ(card)	"12000000" "00000000" "00000000" "01000000" "00" card "ff62" \
			"00000000" "0000000000000000"
/* DEAL_STARTED of insertion 1, plan 4711 */
#define HEX_STARTED	"11000000" "00000000" "00000000" "01000000" "ffffffff" \
			"67120000" "0000000000000000"
/*
 * Complete frames of the serial dialect: card 99h is read; a key; an unsolicited answer; kind 83h
 */
#define HEX_FRAME_READ	"db820020" HEX_READ("99") "c17c7267"
#define HEX_FRAME_KEY	"db820020" "07000000" "00000000" "00000000" "00000000" "ffffffff" \
			"09000000" "0100000000000000" "654dd857"
#define HEX_ANSWER	"db810001" "00" "37b020d4"
#define HEX_KIND_83	"db830001" "00" "b693476b"
#define TWICE(x)	x x
#define HEX_8(x)	TWICE(TWICE(TWICE(x)))

FIXTURE(flood) {
	struct machine machine;
	struct kernel kernel;
	char trace[64];
	int log;
	int fd;
};

FIXTURE_VARIANT(flood) {
	const char *dialect;	/* NULL = native */
	const char *kind;	/* NULL = stored */
	const char *rules[3];
	const char *bad;	/* such a transfer in the trace */
};

FIXTURE_VARIANT_ADD(flood, half_events) {
	.rules = { "on transfer always: bytes 0400" }, .bad = " done 0 0400" };
FIXTURE_VARIANT_ADD(flood, empty) {
	.rules = { "on transfer always: bytes" }, .bad = " done 0 \n" };
FIXTURE_VARIANT_ADD(flood, impossible_cards) {
	.rules = { "on transfer always: bytes " HEX_READ("99") }, .bad = " done 0 1200" };
FIXTURE_VARIANT_ADD(flood, errors) {
	.rules = { "on transfer always: status EPROTO" }, .bad = " done -71" };
FIXTURE_VARIANT_ADD(flood, babble) {
	.rules = { "on transfer always: status EOVERFLOW" }, .bad = " done -75" };
FIXTURE_VARIANT_ADD(flood, stalls) {
	.rules = { "on transfer always: stall" }, .bad = " done -32" };
FIXTURE_VARIANT_ADD(flood, every_second) {
	.rules = { "on transfer always: bytes " HEX_READ("00"),
		   "on transfer every 2: bytes 0400" }, .bad = " done 0 0400" };
/* gate commands that stall do not cut the pauses short */
FIXTURE_VARIANT_ADD(flood, gates) {
	.kind = "routed", .rules = { "on transfer always: bytes " HEX_STARTED HEX_READ("00"),
				     "on transfer every 2: bytes 0400",
				     "on route always: stall" }, .bad = " done 0 0400" };

FIXTURE_VARIANT_ADD(flood, serial_no_end) {
	.dialect = "serial", .rules = { "on transfer always: bytes db82002007" },
	.bad = " done 0 db82" };
FIXTURE_VARIANT_ADD(flood, serial_empty) {
	.dialect = "serial", .rules = { "on transfer always: short 0" }, .bad = " done 0 \n" };
FIXTURE_VARIANT_ADD(flood, serial_impossible_cards) {
	.dialect = "serial", .rules = { "on transfer always: bytes " HEX_FRAME_READ },
	.bad = " done 0 db82" };
FIXTURE_VARIANT_ADD(flood, serial_unasked) {
	.dialect = "serial", .rules = { "on transfer always: bytes " HEX_8(HEX_ANSWER) },
	.bad = " done 0 db81" };
FIXTURE_VARIANT_ADD(flood, serial_unasked_among_keys) {
	.dialect = "serial", .rules = { "on transfer always: bytes " HEX_FRAME_KEY HEX_ANSWER },
	.bad = " done 0 db82" };
FIXTURE_VARIANT_ADD(flood, serial_unknown) {
	.dialect = "serial", .rules = { "on transfer always: bytes " HEX_8(HEX_KIND_83) },
	.bad = " done 0 db83" };
/* three of every six bytes may begin a frame of full length, each with a checksum to compute */
FIXTURE_VARIANT_ADD(flood, serial_many_sums) {
	.dialect = "serial",
	.rules = { "on transfer always: bytes " HEX_8(HEX_8("dbdbdb808080")) },
	.bad = " done 0 dbdb" };
FIXTURE_VARIANT_ADD(flood, serial_errors) {
	.dialect = "serial", .rules = { "on transfer always: status EPROTO" },
	.bad = " done -71" };
FIXTURE_VARIANT_ADD(flood, serial_stalls) {
	.dialect = "serial", .rules = { "on transfer always: stall" }, .bad = " done -32" };

FIXTURE_SETUP(flood)
{
	const char *const options[] = {
		"--kind", variant->kind ?: "stored", "--dialect", variant->dialect ?: "native",
		"--packet", "512", "--manual", "--speed", "0", "--gate-deadline", "10000000",
		"--trace", self->trace, NULL
	};

	snprintf(self->trace, sizeof(self->trace), "/tmp/trace-%d", getpid());
	ASSERT_TRUE(kernel_begin(&self->kernel));
	self->log = kernel_log_open();
	ASSERT_LE(0, self->log);
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
}

FIXTURE_TEARDOWN(flood)
{
	close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
	close(self->log);
	unlink(self->trace);
}

struct ticks {
	unsigned long long all, idle;
};

static struct ticks ticks(void)
{
	FILE *file = fopen("/proc/stat", "re");
	unsigned long long tick[8] = { 0 };
	struct ticks ticks = { 0 };
	char line[200] = "";
	size_t i;

	if (file && fgets(line, sizeof(line), file))
		/* user nice system idle iowait irq softirq steal */
		sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &tick[0], &tick[1],
		       &tick[2], &tick[3], &tick[4], &tick[5], &tick[6], &tick[7]);
	if (file)
		fclose(file);
	for (i = 0; i < ARRAY_SIZE(tick); i++)
		ticks.all += tick[i];
	ticks.idle = tick[3] + tick[4];
	return ticks;
}

/* Reads, as some program always does. */
static void read_until(int fd, long long end)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct dealbox_event events[64];
	long long left;

	while ((left = end - now_ms()) > 0)
		if (poll(&pollfd, 1, left) == 1 && read(fd, events, sizeof(events)) < 0)
			break;
}

/*
 * The number of transfers follows from the pauses; the time to handle a transfer and submit
 * the next is small beside them.
 */
TEST_F(flood, owns_no_processor)
{
	struct ticks before, after;
	long long begin, ms;
	size_t i;
	int count, messages;

	ASSERT_EQ(0, load(self->fd));
	for (i = 0; i < ARRAY_SIZE(variant->rules) && variant->rules[i]; i++)
		ASSERT_TRUE(machine_tell(&self->machine, "inject %s", variant->rules[i]));
	begin = now_ms();
	before = ticks();
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	read_until(self->fd, begin + FLOOD_MS);
	after = ticks();
	ms = now_ms() - begin;
	count = machine_traced(self->trace, variant->bad);
	messages = kernel_log_count(self->log, ";dealbox ");
	after.all -= before.all;
	after.idle -= before.idle;
	TH_LOG("%d such transfers in %lld ms, %d messages, idle %llu of %llu ticks", count, ms,
	       messages, after.idle, after.all);
	EXPECT_LT(3, count);
	EXPECT_GE(ms / PAUSE_MS + 3, count);
	EXPECT_GE(MESSAGES_MAX, messages);
	ASSERT_LE(FLOOD_MS / 10 / 2, (long long)after.all);
	/* only a kernel without checkers shows what a transfer costs */
	if (!getenv("CHECKERS"))
		EXPECT_LE(IDLE_PERCENT * after.all, 100 * after.idle);
}

TEST_HARNESS_MAIN
