// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation that the kernel makes for the module fails once, one at a time:
 * in probe, open, each ioctl and disconnect. The call ends with
 * the errno of docs/kernel-abi.md, the kernel is well, and the machine can be used
 * as before. Whether anything has leaked, tests/vm/run asks at the end.
 *
 * Needs a kernel with FAILSLAB and FAULT_INJECTION_STACKTRACE_FILTER, as the debug
 * kernel is: /proc/thread-self/fail-nth counts allocations, and those with the
 * module in their call chain only.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "machine.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(10 * PATIENCE / 1000)

#define FAILSLAB	"/sys/kernel/debug/failslab"
#define PLAN	4711
#define CARDS	52

FIXTURE(failslab) {
	struct machine machine;
	struct kernel kernel;
	int nth;		/* fail-nth of this thread */
	int fd;			/* O_RDWR, with the claim; -1 = closed */
};

FIXTURE_VARIANT(failslab) {
	const char *kind;
};

FIXTURE_VARIANT_ADD(failslab, stored) { .kind = "stored" };
FIXTURE_VARIANT_ADD(failslab, routed) { .kind = "routed" };

/* Where a module's functions are, from one page to another. */
static bool module_text(const char *module, unsigned long *begin, unsigned long *end)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	unsigned long address;
	char line[512], type;

	*begin = ~0UL;
	*end = 0;
	while (symbols && fgets(line, sizeof(line), symbols)) {
		if (!strstr(line, module) || sscanf(line, "%lx %c", &address, &type) != 2 ||
		    (type != 't' && type != 'T'))
			continue;
		if (address < *begin)
			*begin = address;
		if (address > *end)
			*end = address;
	}
	if (symbols)
		fclose(symbols);
	*begin &= ~4095UL;
	*end = (*end + 4096) & ~4095UL;
	return *begin < *end;
}

static bool set_range(const char *module, const char *begin_name, const char *end_name)
{
	unsigned long begin, end;
	char text[32];

	if (!module_text(module, &begin, &end))
		return false;
	snprintf(text, sizeof(text), "%#lx", begin);
	if (!write_file(FAILSLAB, begin_name, text))
		return false;
	snprintf(text, sizeof(text), "%#lx", end);
	return write_file(FAILSLAB, end_name, text);
}

/*
 * What vhci_hcd allocates is left alone: it never gives back a transfer that it had no
 * memory for, not even when it is killed (6.12; vhci_tx_urb(), vhci_urb_dequeue()).
 */
static bool set_up_failslab(void)
{
	return write_file(FAILSLAB, "ignore-gfp-wait", "N") &&
	       write_file(FAILSLAB, "cache-filter", "N") &&
	       write_file(FAILSLAB, "verbose", "0") &&
	       write_file(FAILSLAB, "stacktrace-depth", "32") &&
	       set_range("\t[dealbox]", "require-start", "require-end") &&
	       set_range("\t[vhci_hcd]", "reject-start", "reject-end");
}

/* The nth allocation from now on fails; 0: none does. */
static bool arm(FIXTURE_DATA(failslab) *self, unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	return pwrite(self->nth, text, length, 0) == length;
}

/* Whether it has failed. */
static bool disarm(FIXTURE_DATA(failslab) *self)
{
	char text[16] = "";

	return pread(self->nth, text, sizeof(text) - 1, 0) > 0 && arm(self, 0) && !atoi(text);
}

/* --- what programs do -------------------------------------------------------------- */

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

/* To the driver's bind or unbind. */
static int bind_driver(FIXTURE_DATA(failslab) *self, const char *verb)
{
	const char *interface = strrchr(self->machine.interface, '/') + 1;
	char path[64];
	int fd, error = 0;

	snprintf(path, sizeof(path), "/sys/bus/usb/drivers/dealbox/%s", verb);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, interface, strlen(interface)) < 0)
		error = -errno;
	close(fd);
	return error;
}

static bool is_bound(FIXTURE_DATA(failslab) *self)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/driver", self->machine.interface);
	return !access(path, F_OK);
}

static void shut(FIXTURE_DATA(failslab) *self)
{
	if (self->fd >= 0)
		close(self->fd);
	self->fd = -1;
}

static int open_node(FIXTURE_DATA(failslab) *self)
{
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	return self->fd < 0 ? -errno : 0;
}

static int use(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_status status;
	int error = is_bound(self) ? 0 : bind_driver(self, "bind");

	if (!error)
		error = open_node(self);
	if (!error)
		error = call(self->fd, DEALBOX_IOC_GET_STATUS, &status);
	return error ?: call(self->fd, DEALBOX_IOC_CLAIM, NULL);
}

/* Bound, awake, open, claimed, and it answers. */
static bool works(FIXTURE_DATA(failslab) *self)
{
	int error;

	shut(self);
	error = use(self);
	if (error)
		fprintf(stderr, "# the machine cannot be used: %s\n", strerror(-error));
	return !error;
}

struct entry {
	/* from what works() leaves to where do_it begins; NULL: nothing to do */
	bool (*prepare)(FIXTURE_DATA(failslab) *self);
	int (*do_it)(FIXTURE_DATA(failslab) *self);
	int error;		/* that it may end with */
};

/* How many allocations there are, each of which has failed once; -1: not well. */
static int walk(FIXTURE_DATA(failslab) *self, const struct entry *entry)
{
	int nth, refused = 0;

	for (nth = 1; ; nth++) {
		bool failed;
		int error;

		if ((entry->prepare && !entry->prepare(self)) || !arm(self, nth))
			return -1;
		error = entry->do_it(self);
		failed = disarm(self);
		if (error && (!failed || error != entry->error)) {
			fprintf(stderr, "# allocation %d: %s\n", nth, strerror(-error));
			return -1;
		}
		if (!works(self))
			return -1;
		if (!failed)
			break;
		refused += !!error;
	}
	fprintf(stderr, "# %d allocations; without %d of them it is refused\n", nth - 1, refused);
	return nth - 1;
}

FIXTURE_SETUP(failslab)
{
	const char *const options[] = {
		"--kind", variant->kind, "--manual", "--speed", "0",
		"--gate-deadline", "10000000", NULL
	};

	self->fd = -1;
	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(set_up_failslab());
	self->nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->nth);
	ASSERT_TRUE(machine_plug(&self->machine, options));
	ASSERT_TRUE(works(self));
}

FIXTURE_TEARDOWN(failslab)
{
	arm(self, 0);
	close(self->nth);
	shut(self);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

/* --- the entries -------------------------------------------------------------------- */

static bool unbound(FIXTURE_DATA(failslab) *self)
{
	shut(self);
	return !bind_driver(self, "unbind");
}

static int probe(FIXTURE_DATA(failslab) *self)
{
	return bind_driver(self, "bind");
}

static int disconnect(FIXTURE_DATA(failslab) *self)
{
	return bind_driver(self, "unbind");
}

static bool closed(FIXTURE_DATA(failslab) *self)
{
	shut(self);
	return true;
}

static bool unclaimed(FIXTURE_DATA(failslab) *self)
{
	return !call(self->fd, DEALBOX_IOC_RELEASE, NULL);
}

static int get_info(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_info info;

	return call(self->fd, DEALBOX_IOC_GET_INFO, &info);
}

static int get_status(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_status status;

	return call(self->fd, DEALBOX_IOC_GET_STATUS, &status);
}

static int claim(FIXTURE_DATA(failslab) *self)
{
	return call(self->fd, DEALBOX_IOC_CLAIM, NULL);
}

static int release(FIXTURE_DATA(failslab) *self)
{
	return call(self->fd, DEALBOX_IOC_RELEASE, NULL);
}

static int set_plan(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_plan plan = {
		.plan_id = PLAN, .mode = DEALBOX_PLAN_BY_CARD, .entries = CARDS,
	};
	int i;

	for (i = 0; i < CARDS; i++)
		plan.pocket[i] = i % 4;
	return call(self->fd, DEALBOX_IOC_SET_PLAN, &plan);
}

static int control(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_control c = { .op = DEALBOX_OP_LOCATE, .arg = 1 };

	return call(self->fd, DEALBOX_IOC_CONTROL, &c);
}

static int get_param(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED };

	return call(self->fd, DEALBOX_IOC_GET_PARAM, &param);
}

static int set_param(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED, .value = 600 };

	return call(self->fd, DEALBOX_IOC_SET_PARAM, &param);
}

static int get_counters(FIXTURE_DATA(failslab) *self)
{
	struct dealbox_counters counters;

	return call(self->fd, DEALBOX_IOC_GET_COUNTERS, &counters);
}

/* The machine alone has fourteen buffers and URBs. */
TEST_F(failslab, probe)
{
	EXPECT_LT(14, walk(self, &(struct entry){ unbound, probe, -ENOMEM }));
}

TEST_F(failslab, disconnect)
{
	EXPECT_LT(0, walk(self, &(struct entry){ NULL, disconnect, 0 }));
}

/* Its 64 KiB come from the page allocator, which failslab leaves alone. */
TEST_F(failslab, open)
{
	EXPECT_LE(0, walk(self, &(struct entry){ closed, open_node, -ENOMEM }));
}

/* Everything is allocated beforehand: no want of memory stops a deal. */
TEST_F(failslab, no_allocation)
{
	static const struct entry entries[] = {
		{ NULL, get_info }, { NULL, release }, { unclaimed, claim },
		{ NULL, get_status }, { NULL, get_param }, { NULL, set_param },
		{ NULL, get_counters }, { NULL, control }, { NULL, set_plan },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++)
		EXPECT_EQ(0, walk(self, &entries[i])) {
			TH_LOG("entry %zu", i);
		}
}

TEST_HARNESS_MAIN
