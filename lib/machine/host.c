// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A host in user space. Section numbers are those of docs/protocol.md.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "queue.h"
#include "router.h"

struct host {
	const struct host_bus *ops;
	void *bus;
	struct wire_descriptor machine;
	struct wire_info info;
	char serial[64];
	struct event_source source;
	struct router router;
	uint32_t sequence;	/* of the last command */
	bool observe;		/* opened to watch only */
	bool claimed;
	bool gone;
	bool reading;		/* what comes now is read at once */
	bool awake;		/* wake_fd is readable */
	int wake_fd;		/* readable while the queue has events */
	int epoll_fd;
	/* the plan that waits for its PLAN_LOADED, DEALBOX_PLAN_NONE if none */
	uint32_t loading;
	int load_error;		/* -errno: PLAN_LOADED will not come */
	uint32_t load_result;
	uint32_t load_detail;
	struct event_queue queue;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool host_routed(const struct host *host)
{
	return host->machine.capabilities & DEALBOX_CAP_HOST_ROUTED;
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

struct host *host_new(const struct host_bus *ops, void *bus, const struct wire_descriptor *machine,
		      const char *serial, bool observe)
{
	struct host *host = calloc(1, sizeof(*host));

	if (!host)
		return NULL;
	host->ops = ops;
	host->bus = bus;
	host->observe = observe;
	host->machine = *machine;
	host->source.pockets = machine->pockets;
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

/* wake_fd is readable exactly while the queue has events, or the machine is gone. */
static void wake_update(struct host *host)
{
	bool awake = host->queue.count || host->gone;
	uint64_t count = 1;

	/* two system calls for each event would be a third of all that a service makes */
	if (host->reading || awake == host->awake)
		return;
	host->awake = awake;
	if (awake)
		(void)!write(host->wake_fd, &count, sizeof(count));
	else
		(void)!read(host->wake_fd, &count, sizeof(count));
}

/* An errno of the bus on its way to the caller. */
static int bus_error(struct host *host, int error)
{
	if (error == -ENODEV || error == -ESHUTDOWN) {
		host->gone = true;
		wake_update(host);
		return -ENODEV;
	}
	return error;
}

static void gate_send(struct host *host, const struct wire_gate *gate)
{
	uint8_t data[WIRE_GATE_SIZE];

	dealbox_encode_gate(data, gate);
	/* if it does not arrive, the machine holds the card and says GATE_LATE */
	bus_error(host, host->ops->gate_out(host->bus, data, sizeof(data)));
}

static void receive_one(struct host *host, const uint8_t *data, uint64_t now)
{
	struct dealbox_event event;
	struct wire_event in;
	struct wire_gate gate;
	bool usable;

	dealbox_decode_event(data, &in);
	usable = dealbox_abi_event(&host->source, &in, now, &event);
	/* first of all the gate: the card waits */
	if (usable && host_routed(host) && dealbox_router_event(&host->router, &in, &gate))
		gate_send(host, &gate);
	if (usable && in.type == DEALBOX_EV_STATE_LOST && host->loading != DEALBOX_PLAN_NONE) {
		host->loading = DEALBOX_PLAN_NONE;
		host->load_error = -EIO;
	}
	if (usable && in.type == DEALBOX_EV_PLAN_LOADED && in.code == host->loading) {
		host->loading = DEALBOX_PLAN_NONE;
		host->load_result = in.arg[0];
		host->load_detail = in.arg[1];
	}
	dealbox_queue_push(&host->queue, &event);
}

void host_receive(struct host *host, const void *data, size_t length)
{
	uint64_t now = now_ns();
	struct dealbox_event event;
	size_t offset;

	if (!length || length % WIRE_EVENT_SIZE) {
		dealbox_abi_protocol_error(&host->source, DEALBOX_PROTO_EVENT_SIZE,
					   (uint32_t)length, now, &event);
		dealbox_queue_push(&host->queue, &event);
	} else {
		for (offset = 0; offset < length; offset += WIRE_EVENT_SIZE)
			receive_one(host, (const uint8_t *)data + offset, now);
	}
	wake_update(host);
}

static int query(struct host *host, uint8_t request, uint16_t value, uint8_t *data, uint16_t size)
{
	int ret;

	if (host->gone)
		return -ENODEV;
	ret = host->ops->control(host->bus, WIRE_REQ_IN, request, value, data, size);
	if (ret < 0)
		return bus_error(host, ret);
	return ret == size ? 0 : -EPROTO;
}

/* A query that every machine must answer. */
static int must_query(struct host *host, uint8_t request, uint8_t *data, uint16_t size)
{
	int ret = query(host, request, 0, data, size);

	return ret == -EPIPE ? -EPROTO : ret;
}

static int query_result(struct host *host, struct wire_result *result)
{
	uint8_t data[WIRE_RESULT_SIZE];
	int ret = must_query(host, WIRE_GET_RESULT, data, sizeof(data));

	if (!ret)
		dealbox_decode_result(data, result);
	return ret;
}

/*
 * Sends a command (section 2.2). When the transfer fails, the machine is asked
 * what became of it, and the command is repeated once, with the same number, if
 * it never arrived. 0; -EREMOTEIO with *result and *detail; or -errno.
 */
static int command(struct host *host, uint8_t request, struct wire_command *cmd, uint32_t *result,
		   uint32_t *detail)
{
	struct wire_result last;
	uint8_t data[WIRE_COMMAND_SIZE];
	int ret, asked, tries;

	*result = DEALBOX_ERR_OK;
	*detail = 0;
	if (host->gone)
		return -ENODEV;
	if (!++host->sequence)
		host->sequence = 1;
	cmd->sequence = host->sequence;
	dealbox_encode_command(data, cmd);
	for (tries = 0; tries < 2; tries++) {
		ret = host->ops->control(host->bus, WIRE_REQ_OUT, request, 0, data, sizeof(data));
		if (ret == sizeof(data))
			return 0;
		ret = ret < 0 ? bus_error(host, ret) : -EPROTO;
		if (ret == -ENODEV)
			return ret;
		asked = query_result(host, &last);
		if (asked)
			return asked == -ENODEV || ret == -EPIPE ? asked : ret;
		if (last.sequence == host->sequence && last.request == request) {
			*result = last.error;
			*detail = last.detail;
			if (last.error != DEALBOX_ERR_OK)
				return -EREMOTEIO;
			/* stalled, and yet carried out */
			return ret == -EPIPE ? -EPROTO : 0;
		}
		if (ret == -EPIPE)
			return -EPROTO;
	}
	return ret;
}

int host_start(struct host *host)
{
	uint8_t data[WIRE_INFO_SIZE];
	struct wire_result last;
	int ret;

	ret = must_query(host, WIRE_GET_INFO, data, sizeof(data));
	if (ret)
		return ret;
	dealbox_decode_info(data, &host->info);
	/* the machine may remember the last command of another host */
	ret = query_result(host, &last);
	if (!ret)
		host->sequence = last.sequence;
	return ret;
}

static int get_info(struct host *host, void *arg)
{
	dealbox_abi_info(&host->machine, &host->info, host->serial, QUEUE_EVENTS, arg);
	return 0;
}

static int get_status(struct host *host, void *arg)
{
	struct dealbox_status *out = arg;
	uint8_t data[WIRE_STATUS_SIZE];
	struct wire_status status;
	uint64_t seqno = host->source.seqno;	/* what came before it is in the answer */
	int ret;

	ret = must_query(host, WIRE_GET_STATUS, data, sizeof(data));
	if (ret)
		return ret;
	if (!dealbox_decode_status(data, &status))
		return -EPROTO;
	dealbox_abi_status(&status, out);
	if (host_routed(host))
		out->plan_id = host->router.plan.plan_id;
	out->seqno = seqno;
	out->lost = host->queue.lost;
	out->claimed = host->claimed ? 2 : 0;
	out->owner_pid = host->claimed ? (uint32_t)getpid() : 0;
	return 0;
}

static int claim(struct host *host, void *arg)
{
	(void)arg;
	host->claimed = true;
	return 0;
}

/* What the end of a claim does to a deal that runs. */
static void pause_deal(struct host *host)
{
	struct wire_command cmd = { 0 };
	struct dealbox_status status;
	uint32_t result, detail;

	/* what does not say how it stands may deal; else it refuses, and that does no harm */
	if (get_status(host, &status) || status.state == DEALBOX_STATE_DEALING)
		command(host, DEALBOX_OP_PAUSE, &cmd, &result, &detail);
}

static int release(struct host *host, void *arg)
{
	(void)arg;
	host->claimed = false;
	pause_deal(host);
	return 0;
}

static int wait_loaded(struct host *host)
{
	uint64_t end = now_ns() + WIRE_PLAN_HOST_MS * 1000000ull;
	uint64_t now;
	int ret;

	while (host->loading != DEALBOX_PLAN_NONE) {
		now = now_ns();
		if (now >= end)
			return -ETIMEDOUT;
		ret = bus_error(host, host->ops->pump(host->bus, (int)((end - now) / 1000000) + 1));
		if (ret)
			return ret;
	}
	return host->load_error;
}

/* Gives the plan to the machine (section 3). */
static int plan_load(struct host *host, const struct wire_plan *plan, struct dealbox_plan *arg)
{
	uint8_t block[WIRE_PLAN_MAX];
	struct wire_command cmd = { .a = plan->plan_id };
	size_t size;
	int ret;

	if (!plan->entries)
		return command(host, WIRE_LOAD, &cmd, &arg->result, &arg->detail);
	size = dealbox_encode_plan(block, plan);
	cmd.b = (uint32_t)size;
	ret = command(host, WIRE_LOAD, &cmd, &arg->result, &arg->detail);
	if (!ret) {
		/* only now: what an earlier LOAD led to is not the answer to this one */
		host->loading = plan->plan_id;
		host->load_error = 0;
		ret = bus_error(host, host->ops->bulk_out(host->bus, block, size));
	}
	explicit_bzero(block, sizeof(block));
	if (ret == -EPIPE)
		ret = -EPROTO;
	if (!ret)
		ret = wait_loaded(host);
	host->loading = DEALBOX_PLAN_NONE;
	if (ret)
		return ret;
	arg->result = host->load_result;
	arg->detail = host->load_detail;
	return arg->result == DEALBOX_ERR_OK ? 0 : -EREMOTEIO;
}

/* A host-routed machine holds no plan; the same rules for when one may come. */
static int plan_keep(struct host *host, const struct wire_plan *plan, struct dealbox_plan *arg)
{
	struct dealbox_status status;
	int ret = get_status(host, &status);

	if (ret)
		return ret;
	if (status.state != DEALBOX_STATE_IDLE && status.state != DEALBOX_STATE_DONE) {
		arg->result = DEALBOX_ERR_STATE;
		arg->detail = status.state;
		return -EREMOTEIO;
	}
	dealbox_router_load(&host->router, plan->entries ? plan : NULL);
	return 0;
}

static int set_plan(struct host *host, void *arg)
{
	struct dealbox_plan *in = arg;
	struct wire_plan plan;
	int ret;

	in->result = DEALBOX_ERR_OK;
	in->detail = 0;
	ret = dealbox_abi_plan(in, &host->machine, &plan);
	if (!ret)
		ret = host_routed(host) ? plan_keep(host, &plan, in) : plan_load(host, &plan, in);
	explicit_bzero(&plan, sizeof(plan));
	return ret;
}

static int control(struct host *host, void *arg)
{
	struct dealbox_control *in = arg;
	const struct wire_plan *plan = NULL;
	struct wire_command cmd;
	int ret;

	if (host_routed(host) && in->op == DEALBOX_OP_START)
		plan = &host->router.plan;
	ret = dealbox_abi_control(in, &host->machine, plan, &cmd);
	if (ret)
		return ret;
	if (plan && plan->plan_id != in->plan_id) {
		in->result = plan->entries ? DEALBOX_ERR_WRONG_PLAN : DEALBOX_ERR_NO_PLAN;
		in->detail = plan->plan_id;
		return -EREMOTEIO;
	}
	return command(host, (uint8_t)in->op, &cmd, &in->result, &in->detail);
}

static int get_param(struct host *host, void *arg)
{
	struct dealbox_param *out = arg;
	uint8_t data[WIRE_PARAM_SIZE];
	struct wire_param param;
	int ret = dealbox_abi_param(out, false);

	out->result = DEALBOX_ERR_OK;
	out->detail = 0;
	if (ret)
		return ret;
	/* a number that does not fit into wValue is a parameter that nobody has */
	ret = out->id > UINT16_MAX ? -EPIPE :
	      query(host, WIRE_GET_PARAM, (uint16_t)out->id, data, sizeof(data));
	if (ret == -EPIPE) {
		out->result = DEALBOX_ERR_BAD_VALUE;
		out->detail = 4;	/* wValue */
		return -EREMOTEIO;
	}
	if (ret)
		return ret;
	dealbox_decode_param(data, &param);
	if (param.id != out->id)
		return -EPROTO;
	out->value = param.value;
	out->min = param.min;
	out->max = param.max;
	return 0;
}

static int set_param(struct host *host, void *arg)
{
	struct dealbox_param *in = arg;
	struct wire_command cmd = { .a = in->id, .b = in->value };
	int ret = dealbox_abi_param(in, true);

	in->result = DEALBOX_ERR_OK;
	in->detail = 0;
	if (ret)
		return ret;
	return command(host, WIRE_SET_PARAM, &cmd, &in->result, &in->detail);
}

static int get_counters(struct host *host, void *arg)
{
	uint8_t data[WIRE_COUNTERS_SIZE];
	int ret = must_query(host, WIRE_GET_COUNTERS, data, sizeof(data));

	if (!ret)
		dealbox_decode_counters(data, arg);
	return ret;
}

static const struct {
	unsigned long request;
	bool owner;		/* only who holds the claim may */
	int (*answer)(struct host *host, void *arg);
} calls[] = {
	{ DEALBOX_IOC_GET_INFO, false, get_info },
	{ DEALBOX_IOC_GET_STATUS, false, get_status },
	{ DEALBOX_IOC_CLAIM, true, claim },
	{ DEALBOX_IOC_RELEASE, true, release },
	{ DEALBOX_IOC_SET_PLAN, true, set_plan },
	{ DEALBOX_IOC_CONTROL, true, control },
	{ DEALBOX_IOC_GET_PARAM, false, get_param },
	{ DEALBOX_IOC_SET_PARAM, true, set_param },
	{ DEALBOX_IOC_GET_COUNTERS, false, get_counters },
};

/* The order of the checks is the module's. */
int host_call(void *self, unsigned long request, void *arg)
{
	struct host *host = self;
	size_t n;

	for (n = 0; n < sizeof(calls) / sizeof(*calls); n++) {
		if (calls[n].request != request)
			continue;
		if (calls[n].owner && host->observe)
			return -EBADF;
		if (host->gone)
			return -ENODEV;
		if (calls[n].owner && !host->claimed && request != DEALBOX_IOC_CLAIM)
			return -EPERM;
		return calls[n].answer(host, arg);
	}
	return -ENOTTY;
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
