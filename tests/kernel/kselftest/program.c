// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

int control(int fd, struct dealbox_control *c)
{
	return call(fd, DEALBOX_IOC_CONTROL, c);
}

int do_op(int fd, __u32 op)
{
	struct dealbox_control c = { .op = op };

	return control(fd, &c);
}

struct dealbox_plan bridge_plan(void)
{
	struct dealbox_plan plan = {
		.plan_id = PLAN, .mode = DEALBOX_PLAN_BY_CARD, .entries = CARDS,
	};
	int i;

	for (i = 0; i < CARDS; i++)
		plan.pocket[i] = (i * 7 + i / 13) % 4;
	return plan;
}

int load(int fd)
{
	struct dealbox_plan plan = bridge_plan();

	return call(fd, DEALBOX_IOC_SET_PLAN, &plan);
}

int start(int fd, __u32 insertion)
{
	struct dealbox_control c = {
		.op = DEALBOX_OP_START, .plan_id = PLAN, .insertion = insertion,
	};

	return control(fd, &c);
}

struct dealbox_status status_of(int fd)
{
	struct dealbox_status status;

	memset(&status, 0xff, sizeof(status));
	if (ioctl(fd, DEALBOX_IOC_GET_STATUS, &status))
		memset(&status, 0xff, sizeof(status));
	return status;
}

/* Reads STATE_LOST and HOPPER_LOADED, unless they came before the file was open. */
bool greeted(int fd)
{
	time_t limit = time(NULL) + PATIENCE / 1000;

	while (status_of(fd).seqno != 2) {
		if (time(NULL) > limit)
			return false;
		a_moment();
	}
	return !drain(fd);
}

int drain(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct dealbox_event events[64];

	while (poll(&pollfd, 1, 0) == 1)
		if (read(fd, events, sizeof(events)) < 0)
			return -errno;
	return 0;
}

bool key_came(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct dealbox_event event;
	bool came = false;

	while (poll(&pollfd, 1, 0) == 1 && read(fd, &event, sizeof(event)) == sizeof(event))
		came = came || event.type == DEALBOX_EV_KEY;
	return came;
}

struct dealbox_event next_event(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct dealbox_event event = { 0 };

	if (poll(&pollfd, 1, PATIENCE) != 1 ||
	    read(fd, &event, sizeof(event)) != sizeof(event))
		memset(&event, 0, sizeof(event));
	return event;
}

struct dealbox_event await_event(int fd, __u32 type)
{
	struct dealbox_event event;

	do {
		event = next_event(fd);
	} while (event.type && event.type != type);
	return event;
}

bool board_is(struct machine *m, const __u8 *pocket_of)
{
	char account[8192], *at;
	int pocket, count = 0;

	if (!machine_ask(m, account, sizeof(account), "account"))
		return false;
	at = strstr(account, "\"pockets\":[");
	if (!at)
		return false;
	at += strlen("\"pockets\":[");
	for (pocket = 0; pocket < DEALBOX_MAX_POCKETS && *at == '['; pocket++) {
		at++;
		while (*at != ']') {
			if (pocket_of[strtol(at, &at, 10)] != pocket)
				return false;
			count++;
			if (*at == ',')
				at++;
		}
		at += at[1] == ',' ? 2 : 1;
	}
	return count == CARDS;
}

bool await_power(const struct machine *m, const char *state)
{
	time_t limit = time(NULL) + PATIENCE / 1000;
	char now[32] = "";

	while (strcmp(now, state) && time(NULL) < limit) {
		if (!read_file(m->device, "power/runtime_status", now, sizeof(now)))
			return false;
		a_moment();
	}
	if (strcmp(now, state))
		fprintf(stderr, "# the machine is %s, not %s\n", now, state);
	return !strcmp(now, state);
}

int do_read(int fd)
{
	struct dealbox_event event;

	return read(fd, &event, sizeof(event)) < 0 ? -errno : (int)event.type;
}

int do_poll(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int n;

	do {
		n = poll(&pollfd, 1, -1);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : pollfd.revents;
}

int do_status(int fd)
{
	struct dealbox_status status;

	return call(fd, DEALBOX_IOC_GET_STATUS, &status);
}

static __thread struct doing *mine;

static void hear(int signal)
{
	(void)signal;
	__atomic_add_fetch(&mine->heard, 1, __ATOMIC_RELAXED);
}

static bool heard(struct doing *d, unsigned int how_often)
{
	time_t limit = time(NULL) + PATIENCE / 1000;

	while (__atomic_load_n(&d->heard, __ATOMIC_RELAXED) < how_often && time(NULL) < limit)
		a_moment();
	return time(NULL) < limit;
}

bool stormed(struct doing *d)
{
	return !d->storm || heard(d, __atomic_load_n(&d->heard, __ATOMIC_RELAXED) + 10);
}

/* Starts the timer that sends signals to the calling thread. */
static bool begin_storm(struct doing *d, timer_t *timer)
{
	struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigaction action = {
		.sa_handler = hear, .sa_flags = d->storm == RESTARTED ? SA_RESTART : 0,
	};
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };

	event._sigev_un._tid = d->tid;
	return !sigaction(SIGUSR1, &action, NULL) &&
	       !timer_create(CLOCK_MONOTONIC, &event, timer) &&
	       !timer_settime(*timer, 0, &often, NULL) && heard(d, 1);
}

static void *run(void *arg)
{
	struct doing *d = arg;
	timer_t timer;

	mine = d;
	__atomic_store_n(&d->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (d->storm && !begin_storm(d, &timer)) {
		d->error = -ENOTSUP;
		return NULL;
	}
	while ((d->error = d->what(d->fd)) == -EINTR && d->storm)
		d->interrupted++;
	if (d->storm)
		timer_delete(timer);
	return NULL;
}

bool begin(struct doing *d, int fd, int (*what)(int fd), const char *where)
{
	return begin_in(d, CALM, fd, what, where);
}

bool begin_in(struct doing *d, enum storm storm, int fd, int (*what)(int fd), const char *where)
{
	time_t limit = time(NULL) + PATIENCE / 1000;
	char path[64], stack[4096] = "";
	FILE *file;

	memset(d, 0, sizeof(*d));
	d->fd = fd;
	d->what = what;
	d->storm = storm;
	if (pthread_create(&d->thread, NULL, run, d))
		return false;
	while (!__atomic_load_n(&d->tid, __ATOMIC_ACQUIRE))
		a_moment();
	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", d->tid);
	while (!strstr(stack, where) && time(NULL) < limit) {
		a_moment();
		file = fopen(path, "re");
		if (!file)
			return false;
		stack[fread(stack, 1, sizeof(stack) - 1, file)] = '\0';
		fclose(file);
	}
	return time(NULL) < limit;
}

int end(struct doing *d)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += PATIENCE / 1000;
	return pthread_timedjoin_np(d->thread, NULL, &limit) ? -ETIME : d->error;
}
