// SPDX-License-Identifier: LGPL-2.1-or-later
/* A host in user space: transfers, time and event queue for driver/core.c. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "queue.h"

struct host {
	struct dealbox_core core;
	const struct host_bus *ops;
	void *bus;
	char serial[64];
	bool observe;		/* opened read-only, cannot claim */
	bool claimed;
	bool gone;
	bool reading;		/* events are read as soon as they arrive */
	bool awake;		/* wake_fd is readable */
	int wake_fd;		/* readable while the queue has events */
	int epoll_fd;
	/* buffers of the current call */
	uint8_t data[WIRE_DATA_MAX];
	uint8_t bytes[FRAME_MAX];
	struct event_queue queue;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int host_watch(struct host *host, int fd, uint32_t epoll_events)
{
	struct epoll_event event = { .events = epoll_events };

	return epoll_ctl(host->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void host_unwatch(struct host *host, int fd)
{
	epoll_ctl(host->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

int host_fd(const struct host *host)
{
	return host->epoll_fd;
}

static int send_gate(struct dealbox_core *core, const struct wire_gate *gate);
static void queue_event(struct dealbox_core *core, const struct dealbox_event *event);

static const struct dealbox_core_ops core_ops = {
	.send_gate = send_gate,
	.event = queue_event,
};

struct host *host_new(const struct host_bus *ops, void *bus, const struct host_kind *kind,
		      const char *serial, bool observe)
{
	struct host *host = calloc(1, sizeof(*host));

	if (!host)
		return NULL;
	host->ops = ops;
	host->bus = bus;
	host->observe = observe;
	host->core.ops = &core_ops;
	host->core.dialect = kind->dialect;
	host->core.machine = kind->machine;
	host->core.transfer_size = kind->transfer_size;
	if (serial)
		memcpy(host->serial, serial, strnlen(serial, sizeof(host->serial) - 1));
	host->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	host->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (host->epoll_fd < 0 || host->wake_fd < 0 || host_watch(host, host->wake_fd, EPOLLIN)) {
		if (host->epoll_fd >= 0)
			close(host->epoll_fd);
		if (host->wake_fd >= 0)
			close(host->wake_fd);
		free(host);
		return NULL;
	}
	return host;
}

/* Keep wake_fd readable while the queue has events or the machine is gone. */
static void wake_update(struct host *host)
{
	bool awake = host->queue.count || host->gone;
	uint64_t count = 1;

	/* Save two system calls per event, which were a third of all that a service makes. */
	if (host->reading || awake == host->awake)
		return;
	host->awake = awake;
	if (awake)
		(void)!write(host->wake_fd, &count, sizeof(count));
	else
		(void)!read(host->wake_fd, &count, sizeof(count));
}

/* Note if the error means that the machine is gone. Returns the error for the caller. */
static int bus_error(struct host *host, int error)
{
	if (error == -ENODEV || error == -ESHUTDOWN) {
		host->gone = true;
		wake_update(host);
		return -ENODEV;
	}
	return error;
}

static struct host *host_of(struct dealbox_core *core)
{
	return (struct host *)((char *)core - offsetof(struct host, core));
}

static int send_gate(struct dealbox_core *core, const struct wire_gate *gate)
{
	struct host *host = host_of(core);
	uint8_t data[DEALBOX_GATE_MAX];

	/* If it is lost, the machine holds the card and reports GATE_LATE. */
	return bus_error(host, host->ops->gate_out(host->bus, data,
						   core->dialect->encode_gate(data, gate)));
}

static void queue_event(struct dealbox_core *core, const struct dealbox_event *event)
{
	dealbox_queue_push(&host_of(core)->queue, event);
}

uint32_t host_receive(struct host *host, const void *data, size_t length)
{
	uint32_t pause = dealbox_core_receive(&host->core, data, length, now_ns());

	wake_update(host);
	return pause;
}

void host_try_receive(struct host *host)
{
	dealbox_retry_begins(&host->core.pace, now_ns());
}

uint32_t host_receive_failed(struct host *host, bool *reset)
{
	return dealbox_core_failed(&host->core, now_ns(), reset);
}

bool host_gate_done(struct host *host, int status)
{
	return dealbox_core_gate_done(&host->core, status);
}

void host_hold_gates(struct host *host)
{
	dealbox_core_hold_gates(&host->core);
}

void host_allow_gates(struct host *host)
{
	dealbox_core_allow_gates(&host->core);
}

void host_was_reset(struct host *host)
{
	dealbox_core_fail_call(&host->core, -EIO);
	dealbox_core_restart(&host->core);
}

/* Receive until core.awaited has ended, at most ms. */
static int await(struct host *host, unsigned int ms)
{
	uint64_t now = now_ns(), end = now + ms * 1000000ull;
	int error;

	while (host->core.awaited != DEALBOX_AWAIT_NOTHING) {
		if (now >= end)
			return -ETIMEDOUT;
		error = host->ops->pump(host->bus, (int)((end - now) / 1000000) + 1);
		if (error)
			return error;
		now = now_ns();
	}
	return 0;
}

/* Run all steps of a call. Returns 0 or -errno. */
static int run_call(struct host *host, struct dealbox_call *call)
{
	enum dealbox_action action;
	int result = 0;

	if (host->gone)
		return -ENODEV;
	call->data = host->data;
	call->bytes = host->bytes;
	do {
		action = dealbox_call_next(&host->core, call, result, now_ns());
		switch (action) {
		case DEALBOX_CONTROL:
			result = host->ops->control(host->bus, call->type, call->request,
						    call->value, call->data, call->length);
			break;
		case DEALBOX_SEND:
			result = host->ops->bulk_out(host->bus, call->bytes, call->size, call->ms);
			explicit_bzero(host->bytes, sizeof(host->bytes));
			break;
		case DEALBOX_AWAIT:
			result = await(host, call->ms);
			break;
		case DEALBOX_DONE:
			break;
		}
		result = bus_error(host, result);
	} while (action != DEALBOX_DONE);
	return call->error;
}

int host_describe(struct host *host, struct wire_descriptor *machine)
{
	struct dealbox_call call = { 0 };
	int error;

	dealbox_call_describe(&call);
	error = run_call(host, &call);
	*machine = host->core.machine;
	return error;
}

int host_start(struct host *host)
{
	struct dealbox_call call = { 0 };

	dealbox_call_greet(&call);
	return run_call(host, &call);
}

/* A claim has ended: pause the machine, so that no deal runs unattended. */
static void pause_deal(struct host *host)
{
	struct dealbox_call call = { 0 };

	dealbox_call_pause(&call);
	run_call(host, &call);
}

/* Fill in the fields of the status that the machine does not know. */
static void add_claim(const struct host *host, struct dealbox_status *out)
{
	out->lost = host->queue.lost;
	out->claimed = host->claimed ? DEALBOX_CLAIMED_BY_THIS : DEALBOX_CLAIMED_NOT;
	out->owner_pid = host->claimed ? (uint32_t)getpid() : 0;
}

static int make_call(struct host *host, unsigned int cmd, void *arg)
{
	struct dealbox_call call = { .patient = true };
	int error;

	switch (cmd) {
	case DEALBOX_IOC_GET_INFO:
		dealbox_abi_info(&host->core.machine, &host->core.info, host->serial, QUEUE_EVENTS,
				 arg);
		return 0;
	case DEALBOX_IOC_CLAIM:
		host->claimed = true;
		return 0;
	case DEALBOX_IOC_RELEASE:
		host->claimed = false;
		pause_deal(host);
		return 0;
	}
	dealbox_call_ioctl(&call, cmd, arg);
	error = run_call(host, &call);
	if (!error && cmd == DEALBOX_IOC_GET_STATUS)
		add_claim(host, arg);
	return error;
}

/* The checks have the same order as in driver/chardev.c. */
int host_call(void *self, unsigned long request, void *arg)
{
	const struct dealbox_ioctl *ioctl = dealbox_ioctl_find((unsigned int)request);
	struct host *host = self;

	if (!ioctl)
		return -ENOTTY;
	if (ioctl->owner && host->observe)
		return -EBADF;
	if (host->gone)
		return -ENODEV;
	if (ioctl->owner && !host->claimed && request != DEALBOX_IOC_CLAIM)
		return -EPERM;
	return make_call(host, ioctl->cmd, arg);
}

ssize_t host_read(void *self, struct dealbox_event *events, size_t max)
{
	struct host *host = self;
	size_t count = 0;

	host->reading = true;
	if (!host->gone)
		bus_error(host, host->ops->pump(host->bus, 0));
	while (count < max && dealbox_queue_pop(&host->queue, &events[count]))
		count++;
	host->reading = false;
	wake_update(host);
	if (count)
		return (ssize_t)count;
	return host->gone ? -ENODEV : -EAGAIN;
}

void host_close(void *self)
{
	struct host *host = self;

	if (host->claimed && !host->gone)
		pause_deal(host);
	host->ops->close(host->bus);
	close(host->wake_fd);
	close(host->epoll_fd);
	explicit_bzero(host, sizeof(*host));
	free(host);
}
