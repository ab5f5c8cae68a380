// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every activity of a program, combined with every disturbance of the machine: the call ends
 * within a second with the errno of docs/userspace-api/dealbox.rst, and the kernel is well.
 *
 * A variant is a disturbance; a test is an activity.
 *
 * With SERIAL defined (serial_test.c), the machines speak the serial dialect. With STORM defined
 * (storm_test.c), the calling thread gets a thousand signals a second: restartable calls are
 * restarted, others end with EINTR and are repeated, and the final result is the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(3 * PATIENCE / 1000)

#define KEYS	50

/* The longest time for a call to end, in ms, where time is counted. */
#define PROMPT	1000

FIXTURE(lifecycle) {
	struct machine machine;
	struct kernel kernel;
	int fd;
};

FIXTURE_VARIANT(lifecycle) {
	const char *kind;	/* stored or routed */
	bool (*happen)(struct machine *m);
	int error;		/* of the calls */
	bool gone;		/* the machine has gone afterwards */
	enum storm storm;
};

static bool unplug(struct machine *m)
{
	return machine_tell(m, "unplug") && machine_await(m, "remove");
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

static bool reset(struct machine *m)
{
	return machine_usb_reset(m);
}

static bool unload(struct machine *m)
{
	(void)m;
	/* refused: somebody has it open */
	return syscall(SYS_delete_module, "dealbox", O_NONBLOCK) == -1 && errno == EWOULDBLOCK;
}

static bool allow_sleep(struct machine *m)
{
	return write_file(m->device, "power/autosuspend_delay_ms", "0") &&
	       write_file(m->device, "power/control", "auto");
}

#define VARIANTS(name, kind_, storm_)							\
FIXTURE_VARIANT_ADD(lifecycle, name##_unplug) {						\
	.kind = kind_, .storm = storm_, .happen = unplug, .error = -ENODEV, .gone = true };	\
FIXTURE_VARIANT_ADD(lifecycle, name##_unbind) {						\
	.kind = kind_, .storm = storm_, .happen = unbind, .error = -ENODEV, .gone = true };	\
FIXTURE_VARIANT_ADD(lifecycle, name##_deauthorize) {					\
	.kind = kind_, .storm = storm_, .happen = deauthorize, .error = -ENODEV, .gone = true }; \
FIXTURE_VARIANT_ADD(lifecycle, name##_reset) {						\
	.kind = kind_, .storm = storm_, .happen = reset, .error = -EIO };		\
FIXTURE_VARIANT_ADD(lifecycle, name##_unload) {						\
	.kind = kind_, .storm = storm_, .happen = unload, .error = 0 };			\
FIXTURE_VARIANT_ADD(lifecycle, name##_sleep) {						\
	.kind = kind_, .storm = storm_, .happen = allow_sleep, .error = 0 }

#ifdef STORM
VARIANTS(stored_restarted, "stored", RESTARTED);
VARIANTS(stored_interrupted, "stored", INTERRUPTED);
VARIANTS(routed_interrupted, "routed", INTERRUPTED);
#else
VARIANTS(stored, "stored", CALM);
VARIANTS(routed, "routed", CALM);
#endif

#ifdef SERIAL
#define DIALECT	"serial"
#else
#define DIALECT	"native"
#endif

FIXTURE_SETUP(lifecycle)
{
	const char *const options[] = {
		"--kind", variant->kind, "--dialect", DIALECT, "--manual", "--speed", "0",
		"--gate-deadline", "10000000", "--capabilities",
		"exit-sensors,face-sensor,double-feed-sensor,test-deal,keys,by-card,by-position,"
		"capture,attest", NULL
	};

	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
}

FIXTURE_TEARDOWN(lifecycle)
{
	/* transfers must have ended while the cable is still plugged in */
	if (variant->gone)
		EXPECT_TRUE(kernel_has_no_transfer(&self->kernel));
	machine_keep_awake(&self->machine);
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

/* --- activities, in a thread ------------------------------------------------------- */

static unsigned int followed;		/* seqno of the event that follow() read last */

/*
 * Reads until STATE_LOST, DEAL_DONE or COVER_OPEN. No event may be lost or truncated,
 * whatever interrupts the calls.
 */
static int follow(int fd)
{
	struct dealbox_event events[3];
	ssize_t got;
	int i;

	for (;;) {
		got = read(fd, events, sizeof(events));
		if (got < 0)
			return -errno;
		if (!got || got % sizeof(events[0]))
			return -EBADMSG;
		for (i = 0; i < got / (ssize_t)sizeof(events[0]); i++) {
			if (followed && events[i].seqno != followed + 1)
				return -EBADMSG;
			followed = events[i].seqno;
			switch (events[i].type) {
			case DEALBOX_EV_STATE_LOST:
			case DEALBOX_EV_DEAL_DONE:
			case DEALBOX_EV_COVER_OPEN:
				return events[i].type;
			}
		}
	}
}

static int do_epoll(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int error = 0, epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		return -errno;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) || epoll_wait(epoll, &event, 1, -1) < 0)
		error = -errno;
	close(epoll);
	return error ?: (int)event.events;
}

static int do_locate(int fd)
{
	struct dealbox_control c = { .op = DEALBOX_OP_LOCATE, .arg = 1 };

	return control(fd, &c);
}

static struct timespec happened;

static bool happen(bool (*what)(struct machine *m), struct machine *m)
{
	clock_gettime(CLOCK_MONOTONIC, &happened);
	return what(m);
}

/* Ends the call; one that takes longer than PROMPT counts as hanging. */
static int ending(struct doing *d)
{
	int error = end(d);

	return took_at_most(PROMPT, &happened, "ended") ? error : -ETIME;
}

/* The type of the next event; after ATTESTED its error code */
static int await_attested(int fd)
{
	struct dealbox_event event;

	if (read(fd, &event, sizeof(event)) < 0)
		return -errno;
	return event.type == DEALBOX_EV_ATTESTED ? (int)event.arg[0] : (int)event.type;
}

/* Calls that do not use the machine wait until it sends something. */
static bool nudge(struct machine *m)
{
	return machine_tell(m, "key start press");
}

/* --- the tests ---------------------------------------------------------------------- */

TEST_F(lifecycle, blocked_read)
{
	struct doing d;

	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(stormed(&d));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? -ENODEV :
		  variant->error ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_KEY, ending(&d));
	/* EINTR only without SA_RESTART */
	EXPECT_EQ(variant->storm == INTERRUPTED, d.interrupted > 0);
}

/* Key events arrive in order and complete, until the disturbance. */
TEST_F(lifecycle, reading)
{
	struct doing d;
	int i;

	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, follow, "dealbox_read"));
	for (i = 0; i < KEYS; i++)
		ASSERT_TRUE(machine_tell(&self->machine, "key 5 press"));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(machine_tell(&self->machine, "cover open"));
	EXPECT_EQ(variant->gone ? -ENODEV :
		  variant->error ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_COVER_OPEN, ending(&d));
	/* otherwise the disturbance may have come before the last keys */
	if (!variant->error)
		EXPECT_EQ(1 + KEYS + 1, followed);
}

TEST_F(lifecycle, two_readers)
{
	int other = open(self->machine.node, O_RDONLY | O_CLOEXEC);
	struct doing d, e;

	ASSERT_LE(0, other);
	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(begin_in(&e, variant->storm, other, do_read, "dealbox_read"));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? -ENODEV :
		  variant->error ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_KEY, ending(&d));
	EXPECT_EQ(d.error, ending(&e));
	close(other);
}

#ifndef STORM
TEST_F(lifecycle, nonblocking_read)
{
	char event[64];

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, read(self->fd, event, sizeof(event)));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (variant->gone) {
		EXPECT_EQ(-1, read(self->fd, event, sizeof(event)));
		EXPECT_EQ(ENODEV, errno);
	} else {
		if (!variant->error)
			ASSERT_TRUE(nudge(&self->machine));
		EXPECT_EQ(POLLIN, do_poll(self->fd));
		EXPECT_EQ(sizeof(event), read(self->fd, event, sizeof(event)));
	}
	EXPECT_TRUE(took_at_most(PROMPT, &happened, "ended"));
}
#endif

TEST_F(lifecycle, poll)
{
	struct doing d;

	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, do_poll, "poll"));
	ASSERT_TRUE(stormed(&d));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? POLLHUP | POLLERR : POLLIN, ending(&d));
}

TEST_F(lifecycle, epoll)
{
	struct doing d;

	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, do_epoll, "epoll"));
	ASSERT_TRUE(stormed(&d));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? EPOLLHUP | EPOLLERR : EPOLLIN, ending(&d));
}

/* The machine never confirms the plan. */
TEST_F(lifecycle, plan_in_flight)
{
	bool routed = !strcmp(variant->kind, "routed");
	struct doing d;

	/* a host-routed machine is asked for its state instead */
	ASSERT_TRUE(machine_tell(&self->machine, routed ?
				 "inject on request GET_STATUS: no-answer" :
				 "inject on event PLAN_LOADED always: drop"));
	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, load, "_exchange"));
	/* a call in progress on a routed machine cannot be interrupted */
	ASSERT_TRUE(routed || stormed(&d));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(unplug(&self->machine));	/* it still waits */
	EXPECT_EQ(variant->error ?: -ENODEV, ending(&d));
	/* only the wait for the machine's verdict is interrupted, not the upload before it */
	EXPECT_EQ(!routed && variant->storm, d.interrupted > 0);
}

/* The machine answers neither the command nor the query for its result. */
TEST_F(lifecycle, control_in_flight)
{
	struct doing d;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on request times 2: ignore"));
	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, do_locate, "_exchange"));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(unplug(&self->machine));	/* it still waits */
	EXPECT_EQ(variant->error ?: -ENODEV, ending(&d));
	/* a command that was sent is not interrupted */
	EXPECT_EQ(0, d.interrupted);
}

/* A caller that waits for its turn is not blocked by the current one. */
TEST_F(lifecycle, in_line)
{
	struct doing d, e;
	int error;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on request: ignore"));
	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, do_locate, "_exchange"));
	ASSERT_TRUE(begin_in(&e, variant->storm, self->fd, do_status, "dealbox_ioctl"));
	ASSERT_TRUE(stormed(&e));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(unplug(&self->machine));
	EXPECT_EQ(variant->error ?: -ENODEV, ending(&d));
	error = ending(&e);
	/* a reset may be over when its turn comes */
	if (variant->error != -EIO || error)
		EXPECT_EQ(variant->error ?: -ENODEV, error);
	EXPECT_EQ(variant->storm == INTERRUPTED, e.interrupted > 0);
}

/* The machine answers nothing any more, not even the PAUSE of an unbind. */
TEST_F(lifecycle, silent)
{
	struct doing d;

	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request always: ignore"));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? -ENODEV :
		  variant->error ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_KEY, ending(&d));
}

TEST_F(lifecycle, mid_deal)
{
	struct dealbox_control c = { .op = DEALBOX_OP_START, .plan_id = PLAN };
	struct dealbox_status status;
	struct doing d;

	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, follow, "dealbox_read"));
	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(machine_tell(&self->machine, "insert 3"));
	c.insertion = status_of(self->fd).insertion;
	ASSERT_TRUE(machine_tell(&self->machine, "inject on read position 20: freeze"));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CONTROL, &c));
	ASSERT_TRUE(machine_tell(&self->machine, "wait frozen"));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (variant->gone) {
		EXPECT_EQ(-ENODEV, ending(&d));
		EXPECT_EQ(-ENODEV, call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
		return;
	}
	status = status_of(self->fd);
	EXPECT_EQ(variant->error ? DEALBOX_STATE_IDLE : DEALBOX_STATE_DEALING, status.state);
	EXPECT_EQ(variant->error ? DEALBOX_PLAN_NONE : PLAN, status.plan_id);
	EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status.claimed);
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(variant->error ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_DEAL_DONE, ending(&d));
}

/* The machine has accepted ATTEST, and signs nothing before the disturbance. */
TEST_F(lifecycle, attesting)
{
	/* a short deal */
	struct dealbox_plan plan = {
		.plan_id = PLAN, .mode = DEALBOX_PLAN_BY_POSITION, .entries = 4,
		.pocket = { 0, 1, 2, 3 },
	};
	struct dealbox_attest attest = { .nonce = { 7 } };
	struct dealbox_attestation attestation;
	struct doing d;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan));
	ASSERT_TRUE(machine_tell(&self->machine, "insert 3"));
	attest.insertion = status_of(self->fd).insertion;
	ASSERT_EQ(0, start(self->fd, attest.insertion));
	ASSERT_EQ(4, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	ASSERT_TRUE(machine_tell(&self->machine, "freeze"));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_ATTEST, &attest));
	ASSERT_TRUE(begin_in(&d, variant->storm, self->fd, await_attested, "dealbox_read"));
	ASSERT_TRUE(happen(variant->happen, &self->machine));
	if (!variant->gone) {
		/* there is nothing to fetch yet, or ever */
		EXPECT_EQ(-ENODATA, call(self->fd, DEALBOX_IOC_GET_ATTESTATION, &attestation));
		EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status_of(self->fd).claimed);
		ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	}
	EXPECT_EQ(variant->gone ? -ENODEV : variant->error ? DEALBOX_EV_STATE_LOST : 0, ending(&d));
	EXPECT_EQ(variant->gone ? -ENODEV : variant->error ? -ENODATA : 0,
		  call(self->fd, DEALBOX_IOC_GET_ATTESTATION, &attestation));
}

TEST_HARNESS_MAIN
