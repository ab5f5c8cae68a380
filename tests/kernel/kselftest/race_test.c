// SPDX-License-Identifier: GPL-2.0-only
/*
 * Four threads look at, open, use and close whatever machine is there, while it is unplugged,
 * unbound and reset, and its driver is unloaded. Any result of a single call is accepted, but
 * all calls must end, and the kernel must be well afterwards. Not for Debian's kernels, whose
 * vhci_hcd has bugs that this finds (docs/testing.md).
 *
 * usage: race_test [SECONDS]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/dealbox.h>

#include "kselftest.h"
#include "emulated.h"

#define THREADS	4
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static volatile bool racing = true;

struct racer {
	pthread_t thread;
	unsigned int seed;
	unsigned int opened;
};

static void load(int fd)
{
	struct dealbox_plan plan = { .plan_id = 1, .mode = DEALBOX_PLAN_BY_CARD, .entries = 52 };
	int i;

	for (i = 0; i < 52; i++)
		plan.pocket[i] = i % 4;
	ioctl(fd, DEALBOX_IOC_SET_PLAN, &plan);
}

static void use(int fd, unsigned int how)
{
	struct dealbox_control locate = { .op = DEALBOX_OP_LOCATE, .arg = 1 };
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct dealbox_event events[8];
	struct dealbox_status status;

	switch (how % 5) {
	case 0:
		ioctl(fd, DEALBOX_IOC_GET_STATUS, &status);
		break;
	case 1:
		ioctl(fd, DEALBOX_IOC_CLAIM);
		load(fd);
		break;
	case 2:
		ioctl(fd, DEALBOX_IOC_CLAIM);
		ioctl(fd, DEALBOX_IOC_CONTROL, &locate);
		ioctl(fd, DEALBOX_IOC_RELEASE);
		break;
	case 3:
		poll(&pollfd, 1, 10);
		break;
	case 4:
		/* an unplug, which comes in every lap, ends a read that blocks */
		if (read(fd, events, sizeof(events)) < 0)
			break;
	}
}

/* Reads the machine's files in sysfs and debugfs, whoever has it open. */
static void look(int number)
{
	static const char *const files[] = {
		"/sys/class/dealbox/dealbox%d/serial", "/sys/kernel/debug/usb/dealbox%d/state",
	};
	char path[64], text[1024];
	size_t i;
	int fd;

	for (i = 0; i < COUNT(files); i++) {
		snprintf(path, sizeof(path), files[i], number);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
}

static void *race(void *arg)
{
	struct racer *r = arg;
	int fd, uses, number;
	char path[32];

	while (racing) {
		number = rand_r(&r->seed) % 2;
		look(number);
		snprintf(path, sizeof(path), "/dev/dealbox%d", number);
		fd = open(path, O_RDWR | O_CLOEXEC | (rand_r(&r->seed) % 16 ? O_NONBLOCK : 0));
		if (fd < 0) {
			/* leave the emulator some processor time */
			a_moment();
			continue;
		}
		r->opened++;
		for (uses = rand_r(&r->seed) % 4; uses; uses--)
			use(fd, rand_r(&r->seed));
		close(fd);
	}
	return NULL;
}

/* --- what happens meanwhile ------------------------------------------------------- */

/* Disturbances after which the node exists again. */

static bool rebind(struct machine *m)
{
	const char *interface = strrchr(m->interface, '/') + 1;

	return write_file("/sys/bus/usb/drivers/dealbox", "unbind", interface) &&
	       write_file("/sys/bus/usb/drivers/dealbox", "bind", interface) &&
	       machine_await(m, "add");
}

static bool reauthorize(struct machine *m)
{
	return write_file(m->device, "authorized", "0") &&
	       write_file(m->device, "authorized", "1") && machine_await(m, "add");
}

/* The kernel refuses to unload the module while a file is open. */
static bool reload(struct machine *m)
{
	int fd, error;

	if (syscall(SYS_delete_module, "dealbox", O_NONBLOCK))
		return errno == EWOULDBLOCK;
	fd = open("dealbox.ko", O_RDONLY | O_CLOEXEC);
	error = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return !error && machine_await(m, "add");
}

static bool reset(struct machine *m)
{
	return machine_usb_reset(m);
}

/* Disturbances after which the node is gone. */

static bool unplug(struct machine *m)
{
	return machine_tell(m, "unplug");
}

static bool cut(struct machine *m)
{
	return !kill(m->pid, SIGKILL);
}

static bool unbind(struct machine *m)
{
	return write_file("/sys/bus/usb/drivers/dealbox", "unbind",
			  strrchr(m->interface, '/') + 1);
}

static bool deauthorize(struct machine *m)
{
	return write_file(m->device, "authorized", "0");
}

static bool (*const trials[])(struct machine *m) = { rebind, reauthorize, reload, reset };
static bool (*const ends[])(struct machine *m) = { unplug, cut, unbind, deauthorize };

static bool (*const plugs[])(struct machine *m, const char *const *options) = {
	machine_plug, machine_plug_gadget
};

static bool lap(struct kernel *kernel, unsigned int *seed)
{
	const char *const options[] = {
		"--kind", rand_r(seed) % 2 ? "stored" : "routed", "--manual", "--speed", "0", NULL
	};
	struct machine machine;
	bool ok;
	int i;

	ok = plugs[rand_r(seed) % COUNT(plugs)](&machine, options);
	for (i = 0; ok && i < 4; i++)
		ok = trials[rand_r(seed) % COUNT(trials)](&machine);
	ok = ok && ends[rand_r(seed) % COUNT(ends)](&machine);
	return machine_unplug(&machine) && kernel_has_no_transfer(kernel) && ok;
}

/* Returns true if the module can be unloaded. */
static bool unloads(void)
{
	char count[16];

	if (!read_file("/sys/module/dealbox", "refcnt", count, sizeof(count)))
		return false;
	if (!strcmp(count, "0") && !syscall(SYS_delete_module, "dealbox", O_NONBLOCK))
		return true;
	ksft_print_msg("the module is used %s times: %s\n", count, strerror(errno));
	return false;
}

/* Returns true if a machine that is plugged in now works. */
static bool is_found_again(void)
{
	static const char *const options[] = { "--manual", NULL };
	struct machine machine;
	struct kernel kernel;
	bool ok;

	if (!kernel_begin(&kernel))
		return false;
	ok = machine_plug_gadget(&machine, options);
	ok = machine_unplug(&machine) && ok;
	return kernel_is_well(&kernel) && ok;
}

static bool join(struct racer *racers)
{
	struct timespec limit;
	bool ok = true;
	int i;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += PATIENCE / 1000;
	for (i = 0; i < THREADS; i++) {
		if (pthread_timedjoin_np(racers[i].thread, NULL, &limit))
			ok = false;
		ksft_print_msg("thread %d opened machines %u times\n", i, racers[i].opened);
		if (!racers[i].opened)
			ok = false;
	}
	return ok;
}

int main(int argc, char **argv)
{
	time_t start = time(NULL), end = start + (argc > 1 ? atoi(argv[1]) : 20);
	struct racer racers[THREADS] = { 0 };
	unsigned int laps = 0, seed = 0;
	struct kernel kernel;
	bool ok = true;
	int i;

	ksft_print_header();
	ksft_set_plan(5);
	if (!kernel_begin(&kernel))
		ksft_exit_fail();
	for (i = 0; i < THREADS; i++) {
		racers[i].seed = i + 1;
		if (pthread_create(&racers[i].thread, NULL, race, &racers[i]))
			ksft_exit_fail_msg("no thread\n");
	}
	/* at least six laps, however slow the computer is */
	while (ok && (laps < 6 || time(NULL) < end)) {
		ok = lap(&kernel, &seed);
		laps++;
	}
	ksft_print_msg("%u laps in %ld s\n", laps, time(NULL) - start);
	ksft_test_result(ok, "whatever happens, it ends\n");
	racing = false;
	ksft_test_result(join(racers), "every call ends\n");
	ksft_test_result(kernel_is_well(&kernel), "the kernel is well\n");
	ksft_test_result(is_found_again(), "a machine is found, and has the first number\n");
	ksft_test_result(unloads(), "the module can be unloaded\n");
	ksft_finished();
}
