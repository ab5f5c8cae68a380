// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that try everything: they get only documented errors, and well-behaved programs are
 * served afterwards. Random choices follow from HOSTILE_SEED in the environment (1).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "chance.h"
#include "emulated.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(5 * PATIENCE / 1000)

/* --- programs that try everything ------------------------------------------------------ */

static unsigned int seed(void)
{
	const char *text = getenv("HOSTILE_SEED");

	return text ? strtoul(text, NULL, 0) : 1;
}

FIXTURE(hostile) {
	struct machine machine;
	struct kernel kernel;
	int fd;
};

FIXTURE_VARIANT(hostile) {
	const char *dialect, *kind;
};

FIXTURE_VARIANT_ADD(hostile, stored) { .dialect = "native", .kind = "stored" };
FIXTURE_VARIANT_ADD(hostile, routed) { .dialect = "native", .kind = "routed" };
FIXTURE_VARIANT_ADD(hostile, serial_routed) { .dialect = "serial", .kind = "routed" };

FIXTURE_SETUP(hostile)
{
	const char *const options[] = {
		"--dialect", variant->dialect, "--kind", variant->kind, "--manual", "--speed", "0",
		"--gate-deadline", "10000000", "--pocket-capacity", "20", "--capabilities",
		"exit-sensors,face-sensor,double-feed-sensor,test-deal,keys,by-card,by-position,"
		"capture,attest", NULL
	};

	TH_LOG("HOSTILE_SEED=%u", seed());
	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(machine_tell(&self->machine, "insert 3"));
}

FIXTURE_TEARDOWN(hostile)
{
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

static const struct {
	unsigned long request;
	size_t size;
} calls[] = {
	{ DEALBOX_IOC_GET_INFO, sizeof(struct dealbox_info) },
	{ DEALBOX_IOC_GET_STATUS, sizeof(struct dealbox_status) },
	{ DEALBOX_IOC_CLAIM, 0 },
	{ DEALBOX_IOC_RELEASE, 0 },
	{ DEALBOX_IOC_SET_PLAN, sizeof(struct dealbox_plan) },
	{ DEALBOX_IOC_CONTROL, sizeof(struct dealbox_control) },
	{ DEALBOX_IOC_GET_PARAM, sizeof(struct dealbox_param) },
	{ DEALBOX_IOC_SET_PARAM, sizeof(struct dealbox_param) },
	{ DEALBOX_IOC_GET_COUNTERS, sizeof(struct dealbox_counters) },
	{ DEALBOX_IOC_ATTEST, sizeof(struct dealbox_attest) },
	{ DEALBOX_IOC_GET_ATTESTATION, sizeof(struct dealbox_attestation) },
	{ DEALBOX_IOC_GET_IDENTITY, sizeof(struct dealbox_identity) },
};

/* The column "ioctl" of the table of errors in docs/userspace-api/dealbox.rst. */
static bool documented(int error)
{
	static const int errors[] = {
		0, EAGAIN, EBADF, EBUSY, EFAULT, EINTR, EINVAL, EIO, ENODATA, ENODEV, ENOMEM,
		ENOTTY, EOPNOTSUPP, EPERM, EPROTO, EREMOTEIO, ETIMEDOUT,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (error == -errors[i])
			return true;
	return false;
}

/* Fills arg with a valid structure, one with an error, or noise. */
static void fill(uint64_t *state, unsigned long request, __u8 *arg, size_t size)
{
	struct dealbox_control control = {
		.op = DEALBOX_OP_START + below(state, 9),
	};
	struct dealbox_param param = {
		.id = 1 + below(state, 4), .value = below(state, 2) ? 600 : 1,
	};
	struct dealbox_attest attest = { .insertion = 1 + below(state, 3), .nonce = { 1 } };
	struct dealbox_plan plan = bridge_plan();
	size_t i, changes = below(state, 4);

	if (control.op == DEALBOX_OP_START)
		control.plan_id = PLAN;
	if (control.op == DEALBOX_OP_START || control.op == DEALBOX_OP_TEST_DEAL)
		control.insertion = 1 + below(state, 3);
	if (control.op == DEALBOX_OP_TEST_DEAL)
		control.arg = below(state, 60);
	for (i = 0; i < size; i++)
		arg[i] = chance(state);
	if (below(state, 8) == 0)
		return;
	if (request == DEALBOX_IOC_SET_PLAN)
		memcpy(arg, &plan, size);
	else if (request == DEALBOX_IOC_CONTROL)
		memcpy(arg, &control, size);
	else if (request == DEALBOX_IOC_ATTEST)
		memcpy(arg, &attest, size);
	else if (size == sizeof(param))
		memcpy(arg, &param, size);
	for (i = 1; i < changes && size; i++)
		arg[below(state, size)] = below(state, 3) ? 1u << below(state, 8) : 0xff;
}

#define PAGE	4096

/* Maps three pages: a writable one, a read-only one, and one without access. */
static __u8 *arena(void)
{
	__u8 *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_READ) ||
	    mprotect(pages + 2 * PAGE, PAGE, PROT_NONE))
		return NULL;
	return pages;
}

/* The kernel's; a 32-bit program of a 64-bit kernel has nothing there. */
#define KERNEL_BASE	(sizeof(long) == 8 ? (unsigned long)0xffff888000000000ULL : 0xc0000000UL)

/* Returns an address for size bytes. *good is true if they can be read and written there. */
static void *address(uint64_t *state, __u8 *pages, size_t size, bool *good)
{
	size_t part = size ? below(state, size) : 0;

	*good = false;
	switch (below(state, 10)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(unsigned long)below(state, PAGE);
	case 2:
		return (void *)(KERNEL_BASE + below(state, 1 << 29));
	case 3:		/* nobody's; or the last bytes would be at the first address */
		if (sizeof(long) == 8 && below(state, 2))
			return (void *)(KERNEL_BASE | (unsigned long)chance(state));
		return (void *)(-1UL - part);
	case 4:
		return pages + PAGE + below(state, PAGE - size);
	case 5:
		return pages + 2 * PAGE + below(state, PAGE - size);
	case 6:		/* the last bytes cannot be written */
		return pages + PAGE - part;
	case 7:		/* the last bytes are not there */
		return pages + 2 * PAGE - part;
	default:
		*good = true;
		return pages + below(state, PAGE - size);
	}
}

static bool is_address_good(void *at, __u8 *pages, size_t size, bool good)
{
	return good || (unsigned long)at - (unsigned long)pages <= PAGE - size;
}

/* Random ioctls with random arguments, while the machine goes through all its states. */
TEST_F(hostile, ioctls)
{
	__u8 *pages = arena();
	uint64_t state = seed();
	int i, error, tries;

	ASSERT_TRUE(pages != NULL);
	for (i = 0; i < 6000; i++) {
		size_t n = below(&state, ARRAY_SIZE(calls)), size = calls[n].size;
		unsigned long request = calls[n].request;
		bool good, query, unknown = below(&state, 10) == 0;
		void *at = address(&state, pages, size, &good);

		if (i % 50 == 0 || request == DEALBOX_IOC_RELEASE)
			EXPECT_TRUE(documented(call(self->fd, DEALBOX_IOC_CLAIM, NULL)));
		if (unknown) {
			/* a bit of it is wrong, or all but the magic */
			request = below(&state, 2) ? request ^ 1UL << below(&state, 32) :
				(__u32)chance(&state);
			request = (request & ~0xff00UL) | DEALBOX_IOC_MAGIC << 8;
			for (n = 0; n < ARRAY_SIZE(calls); n++)
				if (request == calls[n].request)
					unknown = false;
		}
		good = is_address_good(at, pages, size, good);
		if (good)
			fill(&state, request, at, size);
		error = call(self->fd, request, at);
		EXPECT_TRUE(unknown ? error == -ENOTTY : documented(error)) {
			TH_LOG("request %#lx: %d", request, error);
		}
		/* a query that the machine answers cannot succeed with a bad address */
		query = !unknown && !good && size && _IOC_DIR(request) == _IOC_READ;
		/* on a busy computer the machine may answer too late: ask again */
		for (tries = 0; query && error == -ETIMEDOUT && tries < 10; tries++)
			error = call(self->fd, request, at);
		if (query && error != -ENODATA)
			EXPECT_EQ(-EFAULT, error) {
				TH_LOG("request %#lx at %p", request, at);
			}
		if (i % 500 == 499)
			EXPECT_TRUE(machine_tell(&self->machine, "key start") &&
				    kernel_follow_transfers(&self->kernel));
	}
	munmap(pages, 3 * PAGE);
}

/* read() with every kind of count and address. */
TEST_F(hostile, reads)
{
	static const size_t counts[] = {
		0, 1, 31, 63, 64, 65, 127, 128, 1000, 2 * PAGE, 1UL << 30, (size_t)-1 >> 1,
		(size_t)-1,
	};
	struct dealbox_event kept[4];
	__u8 *pages = arena();
	uint64_t state = seed();
	int i;

	ASSERT_TRUE(pages != NULL);
	for (i = 0; i < 2000; i++) {
		size_t count = counts[below(&state, ARRAY_SIZE(counts))];
		struct iovec iov[2] = { { kept, below(&state, 200) }, { kept + 1, 64 } };
		bool good;
		void *at = address(&state, pages, 64, &good);
		ssize_t got;

		if (i % 4 == 0)
			ASSERT_TRUE(machine_tell(&self->machine, "key start"));
		got = i % 16 ? read(self->fd, at, count) : readv(self->fd, iov, 2);
		if (got < 0) {
			EXPECT_TRUE(errno == EINVAL || errno == EFAULT || errno == EAGAIN) {
				TH_LOG("count %zu: %d", count, errno);
			}
		} else {
			EXPECT_LT(0, got);
			EXPECT_EQ(0, got % 64);
			EXPECT_GE(count > 264 ? count : 264, (size_t)got);
		}
	}
	munmap(pages, 3 * PAGE);
}

/* System calls that the device does not support. */
TEST_F(hostile, other_calls)
{
	char bytes[64] = { 0 };
	int observer = open(self->machine.node, O_RDONLY | O_CLOEXEC);
	int blind = open(self->machine.node, O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, observer);
	ASSERT_LE(0, blind);
#define FAILS(error, what) do {				\
	EXPECT_EQ(-1, (long)(what));			\
	EXPECT_EQ(error, errno) {			\
		TH_LOG("%s", #what);			\
	}						\
} while (0)
	FAILS(EINVAL, write(self->fd, bytes, 64));
	FAILS(EBADF, write(observer, bytes, 64));
	FAILS(EBADF, read(blind, bytes, 64));
	FAILS(ESPIPE, pread(self->fd, bytes, 64, 0));
	FAILS(ESPIPE, lseek(self->fd, 0, SEEK_CUR));
	FAILS(ENODEV, (long)mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, 0));
	FAILS(EINVAL, fsync(self->fd));
	FAILS(EINVAL, ftruncate(self->fd, 0));
	FAILS(ENOTDIR, openat(self->fd, "x", O_RDONLY));
#undef FAILS
	/* O_WRONLY may control */
	EXPECT_EQ(0, call(blind, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(-EBADF, call(observer, DEALBOX_IOC_CLAIM, NULL));
	close(blind);
	close(observer);
}

/* --- all at once ----------------------------------------------------------------------- */

#define FILES	6
#define FIRST	100	/* the files of the race are 100, 101, ... */
#define ROUNDS	400

struct racer {
	pthread_t thread;
	const char *node;
	uint64_t state;
	int bad;		/* an undocumented errno */
};

static void one_call(struct racer *r, int fd)
{
	size_t n = below(&r->state, ARRAY_SIZE(calls));
	__u8 arg[sizeof(struct dealbox_attestation)];	/* the longest argument */
	int error;

	fill(&r->state, calls[n].request, arg, calls[n].size);
	error = call(fd, calls[n].request, arg);
	if (!documented(error))
		r->bad = error;
}

static void one_child(struct racer *r, int fd)
{
	pid_t pid = fork();

	if (!pid) {
		one_call(r, fd);
		close(fd);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void *race(void *arg)
{
	struct racer *r = arg;
	struct dealbox_event events[3];
	struct pollfd pollfd = { .events = POLLIN };
	int i, opened;

	for (i = 0; i < ROUNDS; i++) {
		int fd = FIRST + below(&r->state, FILES);
		int other = FIRST + below(&r->state, FILES);

		switch (below(&r->state, 12)) {
		case 0:
			opened = open(r->node, O_RDWR | O_NONBLOCK | O_CLOEXEC);
			if (opened >= 0) {
				dup3(opened, fd, O_CLOEXEC);
				close(opened);
			}
			break;
		case 1:
			if (fd != other)
				dup3(other, fd, O_CLOEXEC);
			break;
		case 2:
			close(fd);
			break;
		case 3:
			if (read(fd, events, sizeof(events)) < 0 && errno != EAGAIN &&
			    errno != EBADF && errno != EINTR)
				r->bad = -errno;
			break;
		case 4:
			pollfd.fd = fd;
			poll(&pollfd, 1, below(&r->state, 3));
			break;
		case 5:
			if (below(&r->state, 8) == 0)
				one_child(r, fd);
			break;
		default:
			one_call(r, fd);
		}
	}
	return NULL;
}

static int race_in_threads(const char *node, uint64_t start)
{
	struct racer racers[3] = { 0 };
	int i, bad = 0;

	for (i = 0; i < 3; i++) {
		racers[i].node = node;
		racers[i].state = start + i;
		if (pthread_create(&racers[i].thread, NULL, race, &racers[i]))
			return -errno;
	}
	for (i = 0; i < 3; i++) {
		pthread_join(racers[i].thread, NULL);
		if (racers[i].bad)
			bad = racers[i].bad;
	}
	for (i = 0; i < FILES; i++)
		close(FIRST + i);
	return bad;
}

/* Brings the machine to a state in which a deal can begin, whatever was done to it. */
static bool recover(FIXTURE_DATA(hostile) *self)
{
	static const __u32 way_out[] = {
		[DEALBOX_STATE_DEALING] = DEALBOX_OP_ABORT,
		[DEALBOX_STATE_PAUSED] = DEALBOX_OP_ABORT,
		[DEALBOX_STATE_HELD] = DEALBOX_OP_ABORT,
		[DEALBOX_STATE_FAULT] = DEALBOX_OP_CLEAR_FAULT,
	};
	struct dealbox_control control = { 0 };
	struct dealbox_status status;
	struct dealbox_event events[64];
	long long end = now_ms() + PATIENCE;

	do {
		if (call(self->fd, DEALBOX_IOC_GET_STATUS, &status) || now_ms() > end)
			return false;
		control.op = status.state <= DEALBOX_STATE_FAULT ? way_out[status.state] : 0;
		if (control.op)
			call(self->fd, DEALBOX_IOC_CONTROL, &control);
	} while (control.op);
	if (status.flags & DEALBOX_STATUS_BOARD &&
	    !machine_tell(&self->machine, "remove force"))
		return false;
	if (!machine_tell(&self->machine, "hopper fill") ||
	    !machine_tell(&self->machine, "empty"))
		return false;
	while (read(self->fd, events, sizeof(events)) > 0)
		;
	return true;
}

/* Deals one board in the normal way, and compares it with the plan. */
static bool deals(FIXTURE_DATA(hostile) *self)
{
	struct dealbox_control start = { .op = DEALBOX_OP_START, .plan_id = PLAN };
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_event event;
	char reply[64];
	int landed = 0;

	/* the plan must have been accepted */
	if (fcntl(self->fd, F_SETFL, 0))
		return false;
	if (!machine_ask(&self->machine, reply, sizeof(reply), "insert 4") ||
	    sscanf(reply, "insertion %u", &start.insertion) != 1 || load(self->fd) ||
	    call(self->fd, DEALBOX_IOC_CONTROL, &start))
		return false;
	do {
		event = next_event(self->fd);
		if (event.type == DEALBOX_EV_CARD_LANDED)
			landed += event.card < CARDS && plan.pocket[event.card] == event.pocket;
	} while (event.type && event.type != DEALBOX_EV_DEAL_DONE);
	return landed == CARDS;
}

/*
 * Threads of several processes open, share, use and close files at random during a deal.
 * The machine can deal afterwards.
 */
TEST_F(hostile, everybody_at_once)
{
	uint64_t state = seed();
	pid_t pids[3];
	int i, status;

	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i]) {
			close(self->fd);
			_exit(-race_in_threads(self->machine.node, state + 100 * i));
		}
	}
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_EQ(0, status) {
			TH_LOG("process %d: status %#x", i, status);
		}
	}
	/* no open file is left */
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(recover(self));
	EXPECT_TRUE(deals(self));
}

/* After random calls, too. */
TEST_F(hostile, deals_afterwards)
{
	struct racer r = { .state = seed() ^ 0x5555 };
	int i;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	for (i = 0; i < 1000; i++)
		one_call(&r, self->fd);
	EXPECT_EQ(0, r.bad);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(recover(self));
	EXPECT_TRUE(deals(self));
}

TEST_HARNESS_MAIN
