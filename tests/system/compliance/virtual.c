// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox-compliance and the emulator in one process, in virtual time: the clock advances to the
 * next thing that happens, and while the suite waits. So what a test finds does not depend on how
 * busy the computer is, and a wait costs nothing.
 *
 * usage: compliance-virtual [--hands MS] EMULATOR-OPTION... -- COMPLIANCE-OPTION...
 *
 * The address of the machine is emu:. --emulator (with any path) are hands that can make faults.
 * --hands MS are those of a person, who can not, and takes MS for each step.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "clock.h"
#include "compliance.h"
#include "emulated.h"
#include "fixture.h"

#define TRANSFER_US	125	/* a microframe */
#define OPEN_MS		2000
#define STEP_MS		60000
#define ARGUMENTS_MAX	100

static struct emulated machine;
static uint64_t now, last_tag, person_ms;
static bool has_person;

/* --- the clock ------------------------------------------------------------------------------ */

uint64_t now_us(void)
{
	return now;
}

bool clock_watch(void)
{
	return true;
}

void uncertainty_begin(void)
{
}

double uncertainty_us(void)
{
	return 2 * TRANSFER_US;
}

/* --- the machine on the bus ----------------------------------------------------------------- */

struct bus {
	struct access access;
	bool unplugged, suspended;
};

static struct machine_view view(void)
{
	return machine_view(machine.machine);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Run everything that is due. */
static void run(void)
{
	do
		machine_run(machine.machine, now);
	while (operator_run(&machine.operator, now) || machine_next(machine.machine) <= now);
}

/*
 * Let time pass until something happens, or until then. Returns false at that time. transfers: a
 * transfer may end at a time of its own.
 */
static bool pass(uint64_t until, bool transfers)
{
	uint64_t next = earlier(machine_next(machine.machine), operator_next(&machine.operator));

	if (transfers)
		next = earlier(next, device_next(machine.device));
	if (next > until) {
		now = until;
		run();
		return false;
	}
	/* never stand still: what is due and does not happen must not hang the test */
	now = next > now ? next : now + 1;
	run();
	return true;
}

/* The machine was unplugged, switched off or reset itself: nothing is attached any more. */
static bool is_gone(struct bus *b)
{
	if (!view().plugged || (device_configured(machine.device) && !view().configured)) {
		device_detach(machine.device);
		b->unplugged = true;
	}
	return b->unplugged;
}

/* Submit a transfer, and wait for its end. Returns its status, or what was transferred in done. */
static int transfer(struct bus *b, struct transfer *t, unsigned int ms, struct completion *done)
{
	uint64_t end = now + ms * 1000ULL;
	bool more = true;

	now += TRANSFER_US;
	run();
	if (is_gone(b))
		return -ENODEV;
	t->tag = ++last_tag;
	device_submit(machine.device, now, t);
	for (;;) {
		run();
		if (is_gone(b))
			return -ENODEV;
		while (!b->suspended && device_reap(machine.device, now, done)) {
			/* space in the event queue may let the mechanics continue */
			machine_run(machine.machine, now);
			if (done->tag == t->tag)
				return done->status;
		}
		if (!more)
			break;
		more = pass(end, !b->suspended);
	}
	device_cancel(machine.device, t->tag);
	return -ETIMEDOUT;
}

static int bus_control(struct access *access, const uint8_t setup[8], void *data, unsigned int ms)
{
	struct transfer t = { .length = setup[6] | setup[7] << 8 };
	bool in = setup[0] & 0x80;
	struct completion done;
	int ret;

	memcpy(t.setup, setup, sizeof(t.setup));
	if (!in && t.length)
		memcpy(t.data, data, t.length);
	ret = transfer((struct bus *)access, &t, ms, &done);
	if (ret || !in)
		return ret ? ret : (int)t.length;
	done.length = done.length < t.length ? done.length : t.length;
	if (done.length)
		memcpy(data, done.data, done.length);
	return (int)done.length;
}

static int bus_out(struct access *access, uint8_t endpoint, const void *data, size_t length,
		   unsigned int ms)
{
	struct transfer t = { .endpoint = endpoint, .length = (uint32_t)length };
	struct completion done;
	int ret;

	if (length)
		memcpy(t.data, data, length);
	ret = transfer((struct bus *)access, &t, ms, &done);
	return ret ? ret : (int)length;
}

static int bus_in(struct access *access, uint8_t endpoint, void *data, size_t size,
		  unsigned int ms)
{
	struct transfer t = { .endpoint = DEVICE_EP_INT_IN, .length = (uint32_t)size };
	struct completion done;
	int ret = transfer((struct bus *)access, &t, ms, &done);

	(void)endpoint;
	if (ret)
		return ret;
	if (done.length > size)
		return -EOVERFLOW;
	memcpy(data, done.data, done.length);
	return (int)done.length;
}

static int bus_reset(struct access *access)
{
	(void)access;
	device_detach(machine.device);
	run();
	return 0;
}

static int bus_suspend(struct access *access)
{
	((struct bus *)access)->suspended = true;
	device_suspend(machine.device);
	return 0;
}

static int bus_wakeup(struct access *access, unsigned int ms)
{
	uint64_t end = now + ms * 1000ULL;

	(void)access;
	while (!device_wakes(machine.device))
		if (!pass(end, false))
			return -ETIMEDOUT;
	return 0;
}

static int bus_resume(struct access *access)
{
	((struct bus *)access)->suspended = false;
	return 0;
}

static void bus_close(struct access *access)
{
	device_detach(machine.device);
	run();
	free(access);
}

static const struct access_ops ops = {
	.control = bus_control, .out = bus_out, .in = bus_in, .reset = bus_reset,
	.suspend = bus_suspend, .wakeup = bus_wakeup, .resume = bus_resume, .close = bus_close,
};

struct access *access_open(const char *address, char *error, size_t size)
{
	uint64_t end = now + OPEN_MS * 1000ULL;
	struct bus *b = calloc(1, sizeof(*b));

	while (b && !view().plugged && pass(end, false))
		;
	if (b && view().plugged) {
		b->access.ops = &ops;
		return &b->access;
	}
	snprintf(error, size, "%s: %s", address, strerror(ENODEV));
	free(b);
	return NULL;
}

/* --- hands ------------------------------------------------------------------------------------ */

struct fixture {
	int unused;
};

static struct fixture hands;

struct fixture *fixture_start(const char *command, char *error, size_t size)
{
	snprintf(error, size, "%s: not in virtual time", command);
	return NULL;
}

struct fixture *fixture_connect(const char *path, char *error, size_t size)
{
	(void)path;
	(void)error;
	(void)size;
	return &hands;
}

static bool is_of_person(const char *step)
{
	static const char *const of_emulator[] = {
		"inject", "thaw", "wait", "speed", "break", "repair", "reset", "hopper top",
		"insert "
	};
	size_t i;

	for (i = 0; i < sizeof(of_emulator) / sizeof(*of_emulator); i++)
		if (!strncmp(step, of_emulator[i], strlen(of_emulator[i])))
			return false;
	return true;
}

bool fixture_ask(struct fixture *fixture, const char *step, char *reply, size_t size)
{
	uint64_t end = now + STEP_MS * 1000ULL, act = now + person_ms * 1000;

	(void)fixture;
	if (has_person && !is_of_person(step)) {
		snprintf(reply, size, "error: no person can do that");
		return true;
	}
	while (has_person && now < act)
		pass(act, false);
	run();
	while (!control_line(&machine.control, step, reply, size))
		if (!pass(end, false))
			return false;
	run();
	if (has_person && !strcmp(step, "begin"))
		snprintf(reply, size, "ok");
	return true;
}

void fixture_close(struct fixture *fixture)
{
	(void)fixture;
}

/* --- the program ------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
	char *of_emulator[ARGUMENTS_MAX + 3] = { argv[0], (char *)"--socket", (char *)"none" };
	struct options options;
	int i = 1, count = 3, status;

	if (argc > 2 && !strcmp(argv[1], "--hands")) {
		has_person = true;
		person_ms = strtoull(argv[2], NULL, 10);
		i = 3;
	}
	for (; i < argc && strcmp(argv[i], "--") && count < ARGUMENTS_MAX; i++)
		of_emulator[count++] = argv[i];
	if (i == argc) {
		fputs("usage: compliance-virtual [--hands MS] EMULATOR-OPTION... -- "
		      "COMPLIANCE-OPTION...\n", stderr);
		return 2;
	}
	options_parse(&options, count, of_emulator);
	now = 1000000;
	emulated_open(&machine, &options, 0, NULL, now, NULL, NULL, NULL);
	run();
	optind = 0;	/* getopt begins anew */
	argv[i] = argv[0];
	status = compliance(argc - i, argv + i);
	emulated_close(&machine);
	options_free(&options);
	return status;
}
