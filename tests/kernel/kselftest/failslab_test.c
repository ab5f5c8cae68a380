// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation that the kernel makes for the module fails once, one at a time, and
 * then all of them: in probe, open, each ioctl, a deal, autosuspend, resume, reset,
 * disconnect, and when the computer sleeps and wakes. The call ends with the errno of
 * docs/userspace-api/dealbox.rst, the kernel is well, and the machine deals as before.
 * tests/infra/vm/run looks for leaks at the end.
 *
 * Needs a kernel with FAILSLAB, FAIL_PAGE_ALLOC and FAULT_INJECTION_STACKTRACE_FILTER, as
 * the debug kernel is: /proc/thread-self/fail-nth counts allocations of either kind, and
 * those with the module in their call chain only. This includes what the USB core and the host
 * controller driver allocate for a transfer: dummy_hcd does so for each one, as xhci_hcd does.
 * (So does vhci_hcd, but a transfer that it has no memory for never ends, not even when it is
 * killed: 6.12, vhci_tx_urb().)
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "program.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(10 * PATIENCE / 1000)

/* A machine, and the action on it. */
struct subject {
	struct machine machine;
	struct kernel kernel;
	int nth;		/* fail-nth of this thread */
	int fd;			/* O_RDWR, with the claim; -1 = closed */
	__u32 insertion;
	__u32 attestations;	/* before the last deal */
	const struct depth *depth;	/* of the computer's sleep */
};

/* --- what fails ---------------------------------------------------------------------- */

#define SLAB	"/sys/kernel/debug/failslab"
#define PAGES	"/sys/kernel/debug/fail_page_alloc"

static bool set(const char *name, const char *text)
{
	return write_file(SLAB, name, text) && write_file(PAGES, name, text);
}

/* The address range of a module's functions, in pages. */
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
	char first[32], last[32];

	if (!module_text(module, &begin, &end))
		return false;
	snprintf(first, sizeof(first), "%#lx", begin);
	snprintf(last, sizeof(last), "%#lx", end);
	return set(begin_name, first) && set(end_name, last);
}

/* Lets nothing fail yet. Allocations of the emulated machine's own driver will never fail. */
static bool set_up_faults(void)
{
	return set("probability", "0") && set("verbose", "0") && set("space", "0") &&
	       set("ignore-gfp-wait", "N") && write_file(SLAB, "cache-filter", "N") &&
	       write_file(PAGES, "ignore-gfp-highmem", "N") &&
	       write_file(PAGES, "min-order", "0") && set("stacktrace-depth", "32") &&
	       set_range("\t[dealbox]", "require-start", "require-end") &&
	       set_range("\t[raw_gadget]", "reject-start", "reject-end");
}

/* The nth allocation of this thread from now on fails; 0: none does. */
static bool arm(struct subject *s, unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	return pwrite(s->nth, text, length, 0) == length;
}

/* Returns true if the allocation has failed. */
static bool disarm(struct subject *s)
{
	char text[16] = "";

	return pread(s->nth, text, sizeof(text) - 1, 0) > 0 && arm(s, 0) && !atoi(text);
}

/* Makes the next allocations of any caller fail: that many, or "-1" for all. */
static bool starve(const char *times)
{
	return set("times", times) && set("probability", "100");
}

static bool feed(void)
{
	return set("probability", "0");
}

/* Returns how many allocations are still to fail. */
static int left_in(const char *folder)
{
	char text[16];

	return read_file(folder, "times", text, sizeof(text)) ? atoi(text) : -1;
}

static int left(void)
{
	return left_in(SLAB);
}

#define ENDLESS	"1000000"

/* The nth page allocation from now on, and all after it, fail for any caller. */
static bool run_out(struct subject *s, unsigned int nth)
{
	char space[16];

	snprintf(space, sizeof(space), "%u", nth);
	return write_file(PAGES, "space", space) && write_file(PAGES, "times", ENDLESS) &&
	       write_file(PAGES, "probability", "100");
}

/* Returns true if there was such an allocation. */
static bool restock(struct subject *s)
{
	return write_file(PAGES, "probability", "0") && write_file(PAGES, "space", "0") &&
	       left_in(PAGES) < atoi(ENDLESS);
}

/* Ways to be short of memory. */
struct shortage {
	const char *name;
	bool (*begin)(struct subject *s, unsigned int nth);
	bool (*end)(struct subject *s);		/* whether any has failed */
};

/*
 * fail-nth counts both kinds. But the kernel gets around a single failed page allocation:
 * __vmalloc() asks for many pages at once, then one by one. So the second way lets all later
 * page allocations fail, too.
 */
static const struct shortage one_fails = { "allocations", arm, disarm };
static const struct shortage no_more_pages = { "pages", run_out, restock };

/* --- what programs do ---------------------------------------------------------------- */

/* Writes to the driver's bind or unbind. */
static int bind_driver(struct subject *s, const char *verb)
{
	const char *interface = strrchr(s->machine.interface, '/') + 1;
	char path[64];
	int fd, error = 0;

	snprintf(path, sizeof(path), "/sys/bus/usb/drivers/dealbox/%s", verb);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, interface, strlen(interface)) < 0)
		error = -errno;
	close(fd);
	return error;
}

static bool is_bound(struct subject *s)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/driver", s->machine.interface);
	return !access(path, F_OK);
}

static int shut(struct subject *s)
{
	int error = s->fd >= 0 && close(s->fd) ? -errno : 0;

	s->fd = -1;
	return error;
}

static int open_node(struct subject *s)
{
	s->fd = open(s->machine.node, O_RDWR | O_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

static int use(struct subject *s)
{
	struct dealbox_status status;
	int error = is_bound(s) ? 0 : bind_driver(s, "bind");

	if (!error)
		error = open_node(s);
	if (!error)
		error = call(s->fd, DEALBOX_IOC_GET_STATUS, &status);
	return error ?: call(s->fd, DEALBOX_IOC_CLAIM, NULL);
}

/* Returns true if the event of a key press arrives. */
static bool tells(struct subject *s)
{
	return !drain(s->fd) && machine_tell(&s->machine, "key start press") &&
	       await_event(s->fd, DEALBOX_EV_KEY).type &&
	       machine_tell(&s->machine, "key start let-go") &&
	       await_event(s->fd, DEALBOX_EV_KEY).type;
}

/* Binds, wakes, opens and claims the machine; true if it answers and sends events. */
static bool works(struct subject *s)
{
	int error;

	shut(s);
	error = use(s);
	if (error)
		fprintf(stderr, "# the machine cannot be used: %s\n", strerror(-error));
	return !error && tells(s);
}

/* Aborts a running deal, and takes the board out. */
static bool board_out(struct subject *s)
{
	struct dealbox_status status = status_of(s->fd);

	if (status.state == DEALBOX_STATE_PAUSED &&
	    (do_op(s->fd, DEALBOX_OP_ABORT) || !await_event(s->fd, DEALBOX_EV_ABORTED).type))
		return false;
	return (!status.insertion || machine_tell(&s->machine, "remove")) &&
	       machine_tell(&s->machine, "empty");
}

/* After works(): inserts a board that waits for START. */
static bool board_in(struct subject *s)
{
	char reply[64];

	if (!board_out(s) || load(s->fd) ||
	    !machine_ask(&s->machine, reply, sizeof(reply), "insert 3") ||
	    sscanf(reply, "insertion %u", &s->insertion) != 1)
		return false;
	return await_event(s->fd, DEALBOX_EV_BOARD_INSERTED).insertion == s->insertion;
}

/* Deals from START to the end; rereads a card that was held. */
static bool is_dealt(struct subject *s)
{
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_event event;

	do {
		event = next_event(s->fd);
		if (event.type == DEALBOX_EV_GATE_LATE && do_op(s->fd, DEALBOX_OP_REREAD))
			return false;
	} while (event.type && event.type != DEALBOX_EV_DEAL_DONE);
	return event.position == CARDS && board_is(&s->machine, plan.pocket);
}

static bool deals(struct subject *s)
{
	bool ok = board_in(s) && !start(s->fd, s->insertion) && is_dealt(s);

	if (!ok)
		fprintf(stderr, "# no board can be dealt\n");
	return ok;
}

/* --- the walk ------------------------------------------------------------------------ */

struct entry {
	const char *name;
	/* from the state after works() to the one before do_it(); NULL: nothing to do */
	bool (*prepare)(struct subject *s);
	int (*do_it)(struct subject *s);
	int error;		/* that do_it() may return when one allocation fails */
	/* a check after do_it() and before works(); NULL: none */
	bool (*then)(struct subject *s, int error);
	int starved;		/* what do_it() returns when all allocations fail */
	bool allocates;
};

/* The result of letting each allocation fail once. */
struct walked {
	int allocations;	/* their number; -1: a check failed */
	int refused;		/* how many of them the call cannot do without */
};

static struct walked walk_by(const struct shortage *shortage, struct subject *s,
			     const struct entry *entry)
{
	struct walked walked = { 0 };
	bool failed = true;

	while (failed) {
		int error;

		if ((entry->prepare && !entry->prepare(s)) ||
		    !shortage->begin(s, walked.allocations + 1))
			goto bad;
		error = entry->do_it(s);
		failed = shortage->end(s);
		if (error && (!failed || error != entry->error)) {
			fprintf(stderr, "# %s: %s\n", entry->name, strerror(-error));
			goto bad;
		}
		if ((entry->then && !entry->then(s, error)) || !works(s) ||
		    !kernel_follow_transfers(&s->kernel))
			goto bad;
		walked.allocations += failed;
		walked.refused += !!error;
	}
	fprintf(stderr, "# %s: %d %s; without %d of them it is refused\n", entry->name,
		walked.allocations, shortage->name, walked.refused);
	return walked;
bad:
	fprintf(stderr, "# %s: bad at %d of its %s\n", entry->name, walked.allocations + 1,
		shortage->name);
	return (struct walked){ -1, -1 };
}

static struct walked walk(struct subject *s, const struct entry *entry)
{
	return walk_by(&one_fails, s, entry);
}

/* Returns the result of do_it() when every allocation fails; 1 if a check failed. */
static int starved(struct subject *s, const struct entry *entry)
{
	int error;

	if ((entry->prepare && !entry->prepare(s)) || !starve("-1"))
		return 1;
	error = entry->do_it(s);
	fprintf(stderr, "# %s, without memory: %s\n", entry->name, strerror(-error));
	return feed() && works(s) ? error : 1;
}

static bool begin_subject(struct subject *s, const char *kind)
{
	const char *const options[] = {
		"--kind", kind, "--manual", "--packs", "1", "--speed", "0",
		"--gate-deadline", "10000000", "--capabilities",
		"exit-sensors,face-sensor,double-feed-sensor,test-deal,keys,by-card,by-position,"
		"capture,attest", NULL
	};

	s->fd = -1;
	s->nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return kernel_begin(&s->kernel) && set_up_faults() && s->nth >= 0 &&
	       machine_plug_gadget(&s->machine, options) && works(s);
}

/* Checks that a board can still be dealt. */
static bool end_subject(struct subject *s)
{
	bool ok = arm(s, 0) && feed() && works(s) && deals(s);

	close(s->nth);
	shut(s);
	ok = machine_unplug(&s->machine) && ok;
	return kernel_is_well(&s->kernel) && ok;
}

FIXTURE(failslab) {
	struct subject s;
};

FIXTURE_VARIANT(failslab) {
	const char *kind;
};

FIXTURE_VARIANT_ADD(failslab, stored) { .kind = "stored" };
FIXTURE_VARIANT_ADD(failslab, routed) { .kind = "routed" };

FIXTURE_SETUP(failslab)
{
	ASSERT_TRUE(begin_subject(&self->s, variant->kind));
}

FIXTURE_TEARDOWN(failslab)
{
	EXPECT_TRUE(end_subject(&self->s));
}

/* For tests that are the same on both kinds of machine. */
FIXTURE(failslab_any) {
	struct subject s;
};

FIXTURE_SETUP(failslab_any)
{
	ASSERT_TRUE(begin_subject(&self->s, "routed"));
}

FIXTURE_TEARDOWN(failslab_any)
{
	EXPECT_TRUE(end_subject(&self->s));
}

static bool unbound(struct subject *s)
{
	shut(s);
	return !bind_driver(s, "unbind");
}

static int probe(struct subject *s)
{
	return bind_driver(s, "bind");
}

static int disconnect(struct subject *s)
{
	return bind_driver(s, "unbind");
}

/* The struct of a machine alone needs fourteen buffers and URBs. */
TEST_F(failslab, probe)
{
	static const struct entry entry = { "probe", unbound, probe, -ENOMEM,
					      .starved = -ENOMEM };

	EXPECT_LT(14, walk(&self->s, &entry).refused);
	EXPECT_LE(0, walk_by(&no_more_pages, &self->s, &entry).allocations);
	EXPECT_EQ(entry.starved, starved(&self->s, &entry));
}

TEST_F(failslab_any, disconnect)
{
	static const struct entry entry = { "disconnect", NULL, disconnect };

	EXPECT_LT(0, walk(&self->s, &entry).allocations);
	EXPECT_EQ(entry.starved, starved(&self->s, &entry));
}

static bool closed(struct subject *s)
{
	return !shut(s);
}

TEST_F(failslab_any, open)
{
	static const struct entry entry = { "open", closed, open_node, -ENOMEM,
					      .starved = -ENOMEM };

	EXPECT_LT(0, walk(&self->s, &entry).refused);
	/* its allocations need pages */
	EXPECT_LT(0, walk_by(&no_more_pages, &self->s, &entry).refused);
	EXPECT_EQ(entry.starved, starved(&self->s, &entry));
}

/* --- calls --- */

static bool unclaimed(struct subject *s)
{
	return !call(s->fd, DEALBOX_IOC_RELEASE, NULL);
}

static int get_info(struct subject *s)
{
	struct dealbox_info info;

	return call(s->fd, DEALBOX_IOC_GET_INFO, &info);
}

static int get_status(struct subject *s)
{
	struct dealbox_status status;

	return call(s->fd, DEALBOX_IOC_GET_STATUS, &status);
}

static int claim(struct subject *s)
{
	return call(s->fd, DEALBOX_IOC_CLAIM, NULL);
}

static int release(struct subject *s)
{
	return call(s->fd, DEALBOX_IOC_RELEASE, NULL);
}

static int set_plan(struct subject *s)
{
	return load(s->fd);
}

static int locate(struct subject *s)
{
	struct dealbox_control c = { .op = DEALBOX_OP_LOCATE, .arg = 1 };

	return control(s->fd, &c);
}

static int get_param(struct subject *s)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED };

	return call(s->fd, DEALBOX_IOC_GET_PARAM, &param);
}

static int set_param(struct subject *s)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED, .value = 600 };

	return call(s->fd, DEALBOX_IOC_SET_PARAM, &param);
}

static int get_counters(struct subject *s)
{
	struct dealbox_counters counters;

	return call(s->fd, DEALBOX_IOC_GET_COUNTERS, &counters);
}

static int get_identity(struct subject *s)
{
	struct dealbox_identity identity;

	return call(s->fd, DEALBOX_IOC_GET_IDENTITY, &identity);
}

/* Returns how many deals the machine has attested; ~0 if it does not say. */
static __u32 attestations(struct subject *s)
{
	struct dealbox_identity identity;

	return call(s->fd, DEALBOX_IOC_GET_IDENTITY, &identity) ? ~0U : identity.counter;
}

/* A board that was dealt and can be attested. */
static bool dealt(struct subject *s)
{
	s->attestations = attestations(s);
	return deals(s) && !drain(s->fd);
}

static int attest(struct subject *s)
{
	struct dealbox_attest a = { .insertion = s->insertion, .nonce = { 7 } };

	return call(s->fd, DEALBOX_IOC_ATTEST, &a);
}

/* A command that is sent again is executed once: one statement, and one event. */
static bool attested_once(struct subject *s, int error)
{
	struct dealbox_event event = await_event(s->fd, DEALBOX_EV_ATTESTED);

	return !event.arg[0] && event.code == s->attestations + 1 && attestations(s) == event.code;
}

static bool attested(struct subject *s)
{
	return dealt(s) && !attest(s) && await_event(s->fd, DEALBOX_EV_ATTESTED).type;
}

static int get_attestation(struct subject *s)
{
	struct dealbox_attestation attestation;

	return call(s->fd, DEALBOX_IOC_GET_ATTESTATION, &attestation);
}

/* A call in which a transfer fails once with ENOMEM retries and succeeds. */
static const struct entry calls[] = {
	{ "GET_INFO", NULL, get_info },
	{ "GET_STATUS", NULL, get_status, .starved = -ENOMEM, .allocates = true },
	{ "CLAIM", unclaimed, claim },
	/* the claim is dropped all the same */
	{ "RELEASE", NULL, release, .allocates = true },
	{ "SET_PLAN", NULL, set_plan, .starved = -ENOMEM, .allocates = true },
	{ "CONTROL", NULL, locate, .starved = -ENOMEM, .allocates = true },
	{ "GET_PARAM", NULL, get_param, .starved = -ENOMEM, .allocates = true },
	{ "SET_PARAM", NULL, set_param, .starved = -ENOMEM, .allocates = true },
	{ "GET_COUNTERS", NULL, get_counters, .starved = -ENOMEM, .allocates = true },
	{ "GET_IDENTITY", NULL, get_identity, .starved = -ENOMEM, .allocates = true },
	{ "ATTEST", dealt, attest, .then = attested_once, .starved = -ENOMEM, .allocates = true },
	{ "GET_ATTESTATION", attested, get_attestation, .starved = -ENOMEM, .allocates = true },
};

/* The module and the USB core allocate everything that a call needs at probe. */
TEST_F(failslab, calls_allocate_nothing)
{
	size_t i;

	ASSERT_TRUE(set_range("\t[dummy_hcd]", "reject-start", "reject-end"));
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		EXPECT_EQ(0, walk(&self->s, &calls[i]).allocations);
}

/* The host controller driver allocates during calls. */
TEST_F(failslab, calls)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		int allocations = walk(&self->s, &calls[i]).allocations;

		EXPECT_LE(0, allocations);
		EXPECT_EQ(calls[i].allocates, allocations > 0);
		EXPECT_EQ(calls[i].starved, starved(&self->s, &calls[i]));
	}
}

/* --- in mid-deal --- */

/* Between the card at position 4 and the next. */
static bool mid_deal(struct subject *s)
{
	return board_in(s) && machine_tell(&s->machine, "inject on feed position 5: freeze") &&
	       !start(s->fd, s->insertion) && machine_tell(&s->machine, "wait frozen");
}

static bool is_paused(struct subject *s, int error)
{
	return machine_tell(&s->machine, "thaw") && machine_tell(&s->machine, "wait state PAUSED");
}

/* A machine without an owner is paused even when allocations fail. */
TEST_F(failslab, dropped_in_mid_deal)
{
	static const struct entry entries[] = {
		{ "RELEASE in mid-deal", mid_deal, release, .then = is_paused },
		{ "close in mid-deal", mid_deal, shut, .then = is_paused },
		{ "unbind in mid-deal", mid_deal, disconnect, .then = is_paused },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++)
		EXPECT_LT(0, walk(&self->s, &entries[i]).allocations);
}

/* No caller waits for events and gate commands, but they continue. */
TEST_F(failslab, deal)
{
	ASSERT_TRUE(mid_deal(&self->s));
	ASSERT_TRUE(starve("3"));
	ASSERT_TRUE(machine_tell(&self->s.machine, "thaw"));
	EXPECT_TRUE(is_dealt(&self->s));
	EXPECT_EQ(0, left());
}

/* --- sleep --- */

static bool await_starved(int until)
{
	time_t limit = time(NULL) + PATIENCE / 1000;

	while (left() > until && time(NULL) < limit)
		sched_yield();
	return left() <= until;
}

/*
 * Allows autosuspend of the machine, but not of the hub: the USB core does not survive a failed
 * allocation in the hub's resume.
 */
static bool may_sleep(struct subject *s)
{
	char hub[300];

	snprintf(hub, sizeof(hub), "%s/..", s->machine.device);
	return write_file(hub, "power/control", "on") &&
	       write_file(s->machine.device, "power/autosuspend_delay_ms", "50") &&
	       write_file(s->machine.device, "power/control", "auto") && !shut(s);
}

/* A machine that cannot be asked whether a deal runs is not suspended. */
TEST_F(failslab_any, autosuspend)
{
	ASSERT_TRUE(starve("1000"));
	ASSERT_TRUE(may_sleep(&self->s));
	EXPECT_TRUE(await_starved(980));
	ASSERT_TRUE(feed());
	EXPECT_TRUE(await_power(&self->s.machine, "suspended"));
	EXPECT_TRUE(works(&self->s));
}

static bool asleep(struct subject *s)
{
	return may_sleep(s) && await_power(&s->machine, "suspended");
}

/* The USB core disconnects a device that does not resume, and enumerates it again. */
static bool found_anew(struct subject *s, int error)
{
	return !error || (machine_await(&s->machine, "remove") &&
			  machine_await(&s->machine, "add"));
}

/* A failed resume is EIO, or ENODEV after the disconnect. ENOMEM comes from open() itself. */
static int wake(struct subject *s)
{
	int error = open_node(s);

	if (error == -ENOMEM)
		return open_node(s);
	return error == -ENODEV ? -EIO : error;
}

/* Resume, and reset_resume if the USB core could not read the device's status. */
TEST_F(failslab_any, wake)
{
	static const struct entry entry = { "wake", asleep, wake, -EIO, found_anew };

	EXPECT_LT(0, walk(&self->s, &entry).refused);
}

static int reset(struct subject *s)
{
	return machine_usb_reset(&s->machine) ? 0 : -EIO;
}

TEST_F(failslab_any, reset)
{
	static const struct entry entry = { "reset", NULL, reset };

	EXPECT_LT(0, walk(&self->s, &entry).allocations);
	EXPECT_EQ(entry.starved, starved(&self->s, &entry));
}

/* --- the computer sleeps --- */

#define POWER	"/sys/power"

/* A machine on a cable is not frozen with the processes of the computer (awake.c). */
static bool stays_awake(struct machine *m)
{
	char process[16];
	int status;

	snprintf(process, sizeof(process), "%d", m->pid);
	return !kill(m->pid, SIGSTOP) && waitpid(m->pid, &status, WUNTRACED) == m->pid &&
	       WIFSTOPPED(status) &&
	       write_file("/sys/module/awake/parameters", "process", process) &&
	       !kill(m->pid, SIGCONT);
}

/*
 * The depth of the sleep: until all devices are suspended, or until the last processor stops. In
 * the latter case the bus loses its power (awake.c). The firmware is left out, because nothing here
 * would wake it.
 */
struct depth {
	const char *pm_test, *state;
};

static const struct depth light = { "devices", "freeze" };
static const struct depth deep = { "core", "mem" };

/* Suspends all devices one after the other, in this task, whose allocations fail. */
static bool lies_down(struct subject *s, const struct depth *depth)
{
	s->depth = depth;
	return write_file(POWER, "pm_async", "0") && write_file(POWER, "mem_sleep", "deep") &&
	       write_file(POWER, "pm_test", depth->pm_test) &&
	       write_file("/sys/module/suspend/parameters", "pm_test_delay", "0");
}

/* Returns 0: the driver neither can nor need prevent system suspend. */
static int sleep_and_wake(struct subject *s)
{
	int error = 0, fd = open(POWER "/state", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, s->depth->state, strlen(s->depth->state)) < 0)
		error = -errno;
	close(fd);
	return error;
}

static bool planned(struct subject *s)
{
	return board_out(s) && !load(s->fd) && !drain(s->fd);
}

static bool kept_its_plan(struct subject *s, int error)
{
	struct dealbox_status status = status_of(s->fd);

	return status.state == DEALBOX_STATE_IDLE && status.plan_id == PLAN &&
	       status.claimed == DEALBOX_CLAIMED_BY_THIS;
}

static bool lost_its_plan(struct subject *s, int error)
{
	struct dealbox_status status;

	if (await_event(s->fd, DEALBOX_EV_STATE_LOST).code != DEALBOX_LOST_RESET)
		return false;
	status = status_of(s->fd);
	return status.state == DEALBOX_STATE_IDLE && status.plan_id == DEALBOX_PLAN_NONE &&
	       status.claimed == DEALBOX_CLAIMED_BY_THIS;
}

/* Freezes the machine between two cards, until it gets PAUSE. */
static bool pausing(struct subject *s)
{
	return machine_tell(&s->machine, "inject on request PAUSE: thaw") && mid_deal(s);
}

static bool goes_on(struct subject *s, int error)
{
	struct dealbox_status status;

	if (!await_event(s->fd, DEALBOX_EV_PAUSED).type)
		return false;
	status = status_of(s->fd);
	return status.state == DEALBOX_STATE_PAUSED && status.plan_id == PLAN &&
	       status.claimed == DEALBOX_CLAIMED_BY_THIS &&
	       !do_op(s->fd, DEALBOX_OP_RESUME) && is_dealt(s);
}

/* The reset may have lost the event PAUSED. */
static bool board_is_spent(struct subject *s, int error)
{
	return lost_its_plan(s, error) && status_of(s->fd).flags & DEALBOX_STATUS_SPENT;
}

FIXTURE(failslab_sleep) {
	struct subject s;
};

FIXTURE_VARIANT(failslab_sleep) {
	const char *kind;
	const struct depth *depth;
	const char *quirks;	/* of usbcore */
	bool (*idle)(struct subject *s, int error);
	bool (*dealing)(struct subject *s, int error);
};

FIXTURE_VARIANT_ADD(failslab_sleep, stored) {
	.kind = "stored", .depth = &light, .quirks = "",
	.idle = kept_its_plan, .dealing = goes_on };
FIXTURE_VARIANT_ADD(failslab_sleep, routed) {
	.kind = "routed", .depth = &light, .quirks = "",
	.idle = kept_its_plan, .dealing = goes_on };
/* b: a device that must be reset on resume */
FIXTURE_VARIANT_ADD(failslab_sleep, stored_and_reset) {
	.kind = "stored", .depth = &light, .quirks = "1209:0001:b",
	.idle = lost_its_plan, .dealing = board_is_spent };
/* to RAM */
FIXTURE_VARIANT_ADD(failslab_sleep, routed_and_power_lost) {
	.kind = "routed", .depth = &deep, .quirks = "",
	.idle = lost_its_plan, .dealing = board_is_spent };

FIXTURE_SETUP(failslab_sleep)
{
	ASSERT_TRUE(usb_quirks(variant->quirks));
	ASSERT_TRUE(begin_subject(&self->s, variant->kind));
	ASSERT_TRUE(stays_awake(&self->s.machine));
	ASSERT_TRUE(lies_down(&self->s, variant->depth));
}

FIXTURE_TEARDOWN(failslab_sleep)
{
	EXPECT_TRUE(usb_quirks(""));
	EXPECT_TRUE(end_subject(&self->s));
}

/* A query before the suspend; the event pipe is started on resume. */
TEST_F(failslab_sleep, idle)
{
	const struct entry entry = { "sleep", planned, sleep_and_wake, .then = variant->idle };

	EXPECT_LT(1, walk(&self->s, &entry).allocations);
	EXPECT_EQ(entry.starved, starved(&self->s, &entry));
}

/* A deal is paused before the computer sleeps, whichever allocation fails. */
TEST_F(failslab_sleep, in_mid_deal)
{
	const struct entry entry = {
		"sleep in mid-deal", pausing, sleep_and_wake, .then = variant->dealing
	};

	EXPECT_LT(3, walk(&self->s, &entry).allocations);
}

/* A reset bus drops the plan that the driver holds, even if no STATE_LOST comes. */
TEST_F(failslab_sleep, untold)
{
	if (variant->idle != lost_its_plan)
		return;		/* nothing is lost */
	ASSERT_TRUE(planned(&self->s));
	/* this transfer ends with the next reset */
	ASSERT_TRUE(machine_tell(&self->s.machine, "inject on transfer: ignore"));
	ASSERT_EQ(0, sleep_and_wake(&self->s));
	EXPECT_EQ(DEALBOX_PLAN_NONE, status_of(self->s.fd).plan_id);
	ASSERT_EQ(0, reset(&self->s));
	EXPECT_EQ(DEALBOX_EV_STATE_LOST,
		  await_event(self->s.fd, DEALBOX_EV_STATE_LOST).type);
}

/*
 * A machine that keeps dealing and answers at once cannot prevent sleep: the driver gives up after
 * 2 s, in which it asks a hundred times. At twice that number a key is pressed, and the machine
 * pauses at last, so that the test ends in any case.
 */
TEST_F(failslab_any, sleep_of_a_stuck_machine)
{
	struct machine *machine = &self->s.machine;
	int i;

	ASSERT_TRUE(stays_awake(machine));
	ASSERT_TRUE(lies_down(&self->s, &light));
	ASSERT_TRUE(mid_deal(&self->s));
	ASSERT_TRUE(machine_tell(machine, "inject on request GET_STATUS nth 200: key start"));
	ASSERT_TRUE(machine_tell(machine, "inject on request GET_STATUS nth 200: thaw"));
	EXPECT_EQ(0, sleep_and_wake(&self->s));
	EXPECT_FALSE(key_came(self->s.fd));
	/* use up the rules */
	for (i = 0; i < 200; i++)
		status_of(self->s.fd);
	EXPECT_TRUE(machine_tell(machine, "wait state PAUSED"));
}

/* A suspended machine is resumed first, because its wakeup setting must change. */
TEST_F(failslab_any, sleep_of_both)
{
	static const struct entry entry = { "sleep when asleep", asleep, sleep_and_wake };

	ASSERT_TRUE(stays_awake(&self->s.machine));
	ASSERT_TRUE(lies_down(&self->s, &light));
	EXPECT_LT(1, walk(&self->s, &entry).allocations);
	EXPECT_EQ(entry.starved, starved(&self->s, &entry));
}

TEST_HARNESS_MAIN
