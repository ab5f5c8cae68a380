// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a program is doing, and whatever happens to the machine meanwhile: the
 * call ends, with the errno of docs/kernel-abi.md, and the kernel is well.
 *
 * Each variant is one thing that happens; each test one thing that is being done.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(3 * PATIENCE / 1000)

FIXTURE(lifecycle) {
	struct machine machine;
	struct kernel kernel;
	int fd;
};

FIXTURE_VARIANT(lifecycle) {
	const char *kind;
	bool (*happen)(struct machine *m);
	int error;		/* that the calls end with */
	bool gone;		/* the machine has gone afterwards */
	bool storm;		/* signals all the time */
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

#define VARIANTS(kind_)									\
FIXTURE_VARIANT_ADD(lifecycle, kind_##_unplug) {					\
	.kind = #kind_, .happen = unplug, .error = -ENODEV, .gone = true };		\
FIXTURE_VARIANT_ADD(lifecycle, kind_##_unplug_storm) {					\
	.kind = #kind_, .happen = unplug, .error = -ENODEV, .gone = true, .storm = true }; \
FIXTURE_VARIANT_ADD(lifecycle, kind_##_unbind) {					\
	.kind = #kind_, .happen = unbind, .error = -ENODEV, .gone = true };		\
FIXTURE_VARIANT_ADD(lifecycle, kind_##_deauthorize) {					\
	.kind = #kind_, .happen = deauthorize, .error = -ENODEV, .gone = true };	\
FIXTURE_VARIANT_ADD(lifecycle, kind_##_reset) {						\
	.kind = #kind_, .happen = reset, .error = -EIO };				\
FIXTURE_VARIANT_ADD(lifecycle, kind_##_reset_storm) {					\
	.kind = #kind_, .happen = reset, .error = -EIO, .storm = true };		\
FIXTURE_VARIANT_ADD(lifecycle, kind_##_unload) {					\
	.kind = #kind_, .happen = unload, .error = 0 };					\
FIXTURE_VARIANT_ADD(lifecycle, kind_##_sleep) {						\
	.kind = #kind_, .happen = allow_sleep, .error = 0 }

VARIANTS(stored);
VARIANTS(routed);

static void nothing(int signal)
{
	(void)signal;
}

static void block_alarm(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

/* A thousand signals a second, to whatever thread does not block them. */
static void storm(bool on)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	block_alarm(SIG_BLOCK);
	setitimer(ITIMER_REAL, on ? &often : &never, NULL);
}

FIXTURE_SETUP(lifecycle)
{
	const char *const options[] = {
		"--kind", variant->kind, "--manual", "--speed", "0",
		"--gate-deadline", "10000000", NULL
	};
	time_t end = time(NULL) + PATIENCE / 1000;

	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	/* STATE_LOST and HOPPER_LOADED */
	while (status_of(self->fd).seqno != 2)
		ASSERT_GE(end, time(NULL));
	ASSERT_EQ(0, drain(self->fd));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	if (variant->storm)
		storm(true);
}

FIXTURE_TEARDOWN(lifecycle)
{
	storm(false);
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

/* --- something that is being done, in a thread ------------------------------------- */

static int do_epoll(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int n, epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		return -errno;
	do {
		n = epoll_wait(epoll, &event, 1, -1);
	} while (n < 0 && errno == EINTR);
	close(epoll);
	return n < 0 ? -errno : (int)event.events;
}

static int do_locate(int fd)
{
	struct dealbox_control c = { .op = DEALBOX_OP_LOCATE, .arg = 1 };

	return control(fd, &c);
}

/* What does not touch the machine goes on until it says something. */
static bool nudge(struct machine *m)
{
	return machine_tell(m, "key start press");
}

/* --- the tests ---------------------------------------------------------------------- */

TEST_F(lifecycle, blocked_read)
{
	struct doing d;

	ASSERT_TRUE(begin(&d, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(variant->happen(&self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? -ENODEV :
		  variant->error ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_KEY, end(&d));
}

TEST_F(lifecycle, two_readers)
{
	int other = open(self->machine.node, O_RDONLY | O_CLOEXEC);
	struct doing d, e;

	ASSERT_LE(0, other);
	ASSERT_TRUE(begin(&d, self->fd, do_read, "dealbox_read"));
	ASSERT_TRUE(begin(&e, other, do_read, "dealbox_read"));
	ASSERT_TRUE(variant->happen(&self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? -ENODEV :
		  variant->error ? DEALBOX_EV_STATE_LOST : DEALBOX_EV_KEY, end(&d));
	EXPECT_EQ(d.error, end(&e));
	close(other);
}

TEST_F(lifecycle, nonblocking_read)
{
	char event[64];

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, read(self->fd, event, sizeof(event)));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_TRUE(variant->happen(&self->machine));
	if (variant->gone) {
		EXPECT_EQ(-1, read(self->fd, event, sizeof(event)));
		EXPECT_EQ(ENODEV, errno);
	} else {
		if (!variant->error)
			ASSERT_TRUE(nudge(&self->machine));
		EXPECT_EQ(POLLIN, do_poll(self->fd));
		EXPECT_EQ(sizeof(event), read(self->fd, event, sizeof(event)));
	}
}

TEST_F(lifecycle, poll)
{
	struct doing d;

	ASSERT_TRUE(begin(&d, self->fd, do_poll, "poll"));
	ASSERT_TRUE(variant->happen(&self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? POLLHUP | POLLERR : POLLIN, end(&d));
}

TEST_F(lifecycle, epoll)
{
	struct doing d;

	ASSERT_TRUE(begin(&d, self->fd, do_epoll, "epoll"));
	ASSERT_TRUE(variant->happen(&self->machine));
	if (!variant->error)
		ASSERT_TRUE(nudge(&self->machine));
	EXPECT_EQ(variant->gone ? EPOLLHUP | EPOLLERR : EPOLLIN, end(&d));
}

/* The machine never says that it has the plan. */
TEST_F(lifecycle, plan_in_flight)
{
	bool routed = !strcmp(variant->kind, "routed");
	struct doing d;

	/* a host-routed machine is asked for its state instead */
	ASSERT_TRUE(machine_tell(&self->machine, routed ?
				 "inject on request GET_STATUS: no-answer" :
				 "inject on event PLAN_LOADED: drop"));
	ASSERT_TRUE(begin(&d, self->fd, load, routed ? "transfer" : "dealbox_set_plan"));
	ASSERT_TRUE(variant->happen(&self->machine));
	EXPECT_EQ(variant->error ?: -ETIMEDOUT, end(&d));
}

/* Neither the command is answered, nor the question what became of it. */
TEST_F(lifecycle, control_in_flight)
{
	struct doing d;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on request times 2: ignore"));
	ASSERT_TRUE(begin(&d, self->fd, do_locate, "transfer"));
	ASSERT_TRUE(variant->happen(&self->machine));
	EXPECT_EQ(variant->error ?: -ETIMEDOUT, end(&d));
}

TEST_F(lifecycle, mid_deal)
{
	struct dealbox_control c = { .op = DEALBOX_OP_START, .plan_id = PLAN };
	struct dealbox_status status;

	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(machine_tell(&self->machine, "insert 3"));
	c.insertion = status_of(self->fd).insertion;
	ASSERT_TRUE(machine_tell(&self->machine, "inject on read position 20: freeze"));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CONTROL, &c));
	ASSERT_TRUE(machine_tell(&self->machine, "wait frozen"));
	ASSERT_TRUE(variant->happen(&self->machine));
	if (variant->gone) {
		EXPECT_EQ(-ENODEV, drain(self->fd));
		EXPECT_EQ(-ENODEV, call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
		return;
	}
	EXPECT_EQ(0, drain(self->fd));
	status = status_of(self->fd);
	EXPECT_EQ(variant->error ? DEALBOX_STATE_IDLE : DEALBOX_STATE_DEALING, status.state);
	EXPECT_EQ(variant->error ? DEALBOX_PLAN_NONE : PLAN, status.plan_id);
	EXPECT_EQ(2, status.claimed);
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
}

/* --- a race without end ------------------------------------------------------------- */

static volatile bool racing;

/* Opens, asks, reads, closes whatever node is there. */
static void *race(void *arg)
{
	unsigned int *opened = arg;
	struct dealbox_status status;
	struct dealbox_info info;
	char path[32], event[64];
	int fd, i = 0;

	while (racing) {
		snprintf(path, sizeof(path), "/dev/dealbox%d", i++ % 2);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		++*opened;
		ioctl(fd, DEALBOX_IOC_GET_INFO, &info);
		if (!ioctl(fd, DEALBOX_IOC_CLAIM))
			load(fd);
		ioctl(fd, DEALBOX_IOC_GET_STATUS, &status);
		while (read(fd, event, sizeof(event)) > 0)
			;
		close(fd);
	}
	return NULL;
}

FIXTURE(races) {
	struct kernel kernel;
};

FIXTURE_SETUP(races)
{
	ASSERT_TRUE(kernel_begin(&self->kernel));
}

FIXTURE_TEARDOWN(races)
{
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

/* Four threads that open and close, while the machine comes and goes. */
TEST_F_TIMEOUT(races, open_close_unplug, 10 * PATIENCE / 1000)
{
	const char *const options[] = { "--manual", "--speed", "0", NULL };
	unsigned int opened[4] = { 0 };
	pthread_t threads[4];
	struct machine machine;
	int i;

	racing = true;
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, race, &opened[i]));
	for (i = 0; i < 15; i++) {
		EXPECT_TRUE(machine_plug(&machine, options));
		if (i % 3 == 1)
			EXPECT_TRUE(unbind(&machine));
		if (i % 3 == 2)
			EXPECT_TRUE(machine_usb_reset(&machine));
		EXPECT_TRUE(machine_unplug(&machine));
	}
	racing = false;
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_LT(0, opened[i]);
	}
}

TEST_HARNESS_MAIN
