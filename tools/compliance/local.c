// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/unaligned.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "local.h"

/* A machine that is plugged in anew has its node a little later. */
#define OPEN_TRIES	100
#define OPEN_PAUSE_US	50000

struct local {
	struct access access;
	int fd;
	char node[256];
	bool asked;
	uint64_t from;		/* seqno of the first event that counts */
};

int local_file(const struct local *local)
{
	return local->fd;
}

const char *local_node(const struct local *local)
{
	return local->node;
}

void local_await_gone(const struct local *local, unsigned int ms)
{
	struct pollfd wait = { .fd = local->fd };

	poll(&wait, 1, (int)ms);
}

void local_claim(const struct local *local)
{
	ioctl(local->fd, DEALBOX_IOC_CLAIM);
}

/* --- raw access, which there is none ---------------------------------------------------------- */

static int no_control(struct access *access, const uint8_t setup[8], void *data, unsigned int ms)
{
	(void)access, (void)setup, (void)data, (void)ms;
	return -EOPNOTSUPP;
}

static int no_out(struct access *access, uint8_t endpoint, const void *data, size_t length,
		  unsigned int ms)
{
	(void)access, (void)endpoint, (void)data, (void)length, (void)ms;
	return -EOPNOTSUPP;
}

static int no_bus(struct access *access)
{
	(void)access;
	return -EOPNOTSUPP;
}

static int no_wakeup(struct access *access, unsigned int ms)
{
	(void)access, (void)ms;
	return -EOPNOTSUPP;
}

/* --- events ----------------------------------------------------------------------------------- */

static void encode_event(uint8_t *data, const struct dealbox_event *e)
{
	memset(data, 0, WIRE_EVENT_SIZE);
	data[0] = (uint8_t)e->type;
	data[1] = (uint8_t)e->flags;
	put_unaligned_le32(e->machine_seq, data + 4);
	put_unaligned_le32(e->machine_time_us, data + 8);
	put_unaligned_le32(e->insertion, data + 12);
	data[16] = e->position;
	data[17] = e->card;
	data[18] = e->pocket;
	data[19] = e->quality;
	put_unaligned_le32(e->code, data + 20);
	if (e->type == DEALBOX_EV_DEAL_DONE) {
		memcpy(data + 24, e->counts, sizeof(e->counts));
	} else {
		put_unaligned_le32(e->arg[0], data + 24);
		put_unaligned_le32(e->arg[1], data + 28);
	}
}

static int local_in(struct access *access, uint8_t endpoint, void *data, size_t size,
		    unsigned int ms)
{
	struct local *local = (struct local *)access;
	struct pollfd wait = { .fd = local->fd, .events = POLLIN };
	uint64_t end = now_us() + ms * 1000ULL, now = now_us();
	struct dealbox_event event;
	ssize_t ret;

	(void)endpoint, (void)size;
	do {
		do
			ret = poll(&wait, 1, now < end ? (int)((end - now + 999) / 1000) : 0);
		while (ret < 0 && errno == EINTR);
		now = now_us();
		if (ret <= 0)
			return -ETIMEDOUT;
		ret = read(local->fd, &event, sizeof(event));
		if (ret < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
	} while (event.seqno < local->from);
	if (event.type == DEALBOX_EV_PROTOCOL_ERROR)
		return -EPROTO;
	if (event.flags & DEALBOX_EVF_GAP)
		return -EOVERFLOW;
	encode_event(data, &event);
	return WIRE_EVENT_SIZE;
}

/* --- queries and commands --------------------------------------------------------------------- */

static int call(const struct local *local, unsigned long request, void *arg)
{
	int ret;

	/* SET_PLAN may be interrupted, and be sent again. */
	do
		ret = ioctl(local->fd, request, arg);
	while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

/* Result of a call that the machine answers by an error code */
static int refusal(int ret, uint32_t result, uint32_t told, uint32_t *detail)
{
	*detail = told;
	return ret == -EREMOTEIO ? (int)result : ret;
}

static int encode_status(struct local *local, uint8_t *data)
{
	struct dealbox_status s;
	int ret = call(local, DEALBOX_IOC_GET_STATUS, &s);

	if (ret)
		return ret;
	memset(data, 0, WIRE_STATUS_SIZE);
	data[0] = s.state;
	data[1] = s.fault;
	data[2] = s.flags;
	data[3] = s.cards_total;
	put_unaligned_le32(s.plan_id, data + 4);
	put_unaligned_le32(s.insertion, data + 8);
	put_unaligned_le16(s.board, data + 12);
	data[14] = s.cards_done;
	put_unaligned_le32(s.machine_seq, data + 16);
	memcpy(data + 24, s.counts, sizeof(s.counts));
	/* The first snapshot tells what no event will. The first event may have the number 0. */
	if (!local->asked)
		local->from = s.seqno;
	local->asked = true;
	return WIRE_STATUS_SIZE;
}

static int encode_info(const struct local *local, uint8_t *data)
{
	struct dealbox_info info;
	int ret = call(local, DEALBOX_IOC_GET_INFO, &info);

	if (ret)
		return ret;
	memset(data, 0, WIRE_INFO_SIZE);
	put_unaligned_le16((uint16_t)info.protocol, data);
	put_unaligned_le32(info.firmware, data + 4);
	put_unaligned_le32(info.hardware, data + 8);
	memcpy(data + 16, info.model, WIRE_NAME_SIZE);
	return WIRE_INFO_SIZE;
}

static int encode_counters(const struct local *local, uint8_t *data)
{
	struct dealbox_counters counters;
	uint32_t numbers[WIRE_COUNTERS_SIZE / 4];
	int ret = call(local, DEALBOX_IOC_GET_COUNTERS, &counters);
	size_t i;

	if (ret)
		return ret;
	memcpy(numbers, &counters, sizeof(numbers));
	for (i = 0; i < WIRE_COUNTERS_SIZE / 4; i++)
		put_unaligned_le32(numbers[i], data + 4 * i);
	return WIRE_COUNTERS_SIZE;
}

static int encode_param(const struct local *local, uint16_t number, uint8_t *data)
{
	struct dealbox_param param = { .id = number };
	int ret = call(local, DEALBOX_IOC_GET_PARAM, &param);

	if (ret)
		return ret == -EREMOTEIO || ret == -EINVAL ? -EPIPE : ret;
	put_unaligned_le32(param.id, data);
	put_unaligned_le32(param.value, data + 4);
	put_unaligned_le32(param.min, data + 8);
	put_unaligned_le32(param.max, data + 12);
	return WIRE_PARAM_SIZE;
}

static int encode_identity(const struct local *local, uint8_t *data)
{
	struct dealbox_identity identity;
	int ret = call(local, DEALBOX_IOC_GET_IDENTITY, &identity);

	if (ret)
		return ret == -EOPNOTSUPP ? -EPIPE : ret;
	put_unaligned_le32(identity.flags, data);
	put_unaligned_le32(identity.counter, data + 4);
	memcpy(data + 8, identity.key_id, sizeof(identity.key_id));
	memcpy(data + 16, identity.public_key, sizeof(identity.public_key));
	return WIRE_IDENTITY_SIZE;
}

static int encode_attestation(const struct local *local, uint8_t request, uint8_t *data)
{
	struct dealbox_attestation made;
	int ret = call(local, DEALBOX_IOC_GET_ATTESTATION, &made);

	if (ret)
		return ret == -EOPNOTSUPP || ret == -ENODATA ? -EPIPE : ret;
	if (request == WIRE_GET_SIGNATURE) {
		memcpy(data, made.signature, sizeof(made.signature));
		return sizeof(made.signature);
	}
	memcpy(data, made.statement, sizeof(made.statement));
	return sizeof(made.statement);
}

int local_query(struct local *local, uint8_t request, uint16_t value, uint8_t *data)
{
	if (request == WIRE_GET_PARAM)
		return encode_param(local, value, data);
	if (value)
		return -EOPNOTSUPP;
	switch (request) {
	case WIRE_GET_INFO:
		return encode_info(local, data);
	case WIRE_GET_STATUS:
		return encode_status(local, data);
	case WIRE_GET_COUNTERS:
		return encode_counters(local, data);
	case WIRE_GET_IDENTITY:
		return encode_identity(local, data);
	case WIRE_GET_STATEMENT:
	case WIRE_GET_SIGNATURE:
		return encode_attestation(local, request, data);
	default:
		return -EOPNOTSUPP;
	}
}

static int control_of(struct local *local, uint8_t request, const struct wire_command *c,
		      uint32_t *detail)
{
	struct dealbox_control control = { .op = request };
	int ret;

	switch (request) {
	case DEALBOX_OP_START:		/* the module knows c by the plan */
		control.plan_id = c->a;
		control.insertion = c->b;
		break;
	case DEALBOX_OP_TEST_DEAL:
		control.insertion = c->b;
		control.arg = c->c;
		break;
	case DEALBOX_OP_LOCATE:
		control.arg = c->a;
		break;
	default:
		if (c->a)
			return -EOPNOTSUPP;
		break;
	}
	ret = call(local, DEALBOX_IOC_CONTROL, &control);
	if (ret == -EOPNOTSUPP) {
		*detail = 0;
		return DEALBOX_ERR_UNSUPPORTED;
	}
	return refusal(ret, control.result, control.detail, detail);
}

int local_command(struct local *local, uint8_t request, const struct wire_command *c,
		  uint32_t *detail)
{
	struct dealbox_param param = { .id = c->a, .value = c->b };
	struct dealbox_attest attest = { .insertion = c->b };
	struct dealbox_plan none = { 0 };
	int ret;

	switch (request) {
	case WIRE_SET_PARAM:
		ret = call(local, DEALBOX_IOC_SET_PARAM, &param);
		return refusal(ret, param.result, param.detail, detail);
	case WIRE_LOAD:
		if (c->b)
			return -EOPNOTSUPP;
		ret = call(local, DEALBOX_IOC_SET_PLAN, &none);
		return refusal(ret, none.result, none.detail, detail);
	case WIRE_ATTEST:
		memset(attest.nonce, 0xa5, sizeof(attest.nonce));
		ret = call(local, DEALBOX_IOC_ATTEST, &attest);
		if (ret == -EOPNOTSUPP)
			return DEALBOX_ERR_UNSUPPORTED;
		return refusal(ret, attest.result, attest.detail, detail);
	default:
		return control_of(local, request, c, detail);
	}
}

int local_load(struct local *local, const struct wire_plan *plan, uint32_t *detail)
{
	struct dealbox_plan out = { .plan_id = plan->plan_id, .mode = plan->mode,
				    .entries = plan->entries };
	int ret;

	memcpy(out.pocket, plan->pocket, plan->entries);
	ret = call(local, DEALBOX_IOC_SET_PLAN, &out);
	return refusal(ret, out.result, out.detail, detail);
}

/* --- open and close --------------------------------------------------------------------------- */

bool local_describe(const struct local *local, struct wire_descriptor *out, char *serial,
		    char *product, size_t size, int *error)
{
	struct dealbox_info info = { 0 };
	char path[400], protocol[8] = "";
	FILE *file;

	*error = call(local, DEALBOX_IOC_GET_INFO, &info);
	*out = (struct wire_descriptor){
		.reader = info.reader, .version = (uint16_t)info.protocol, .pockets = info.pockets,
		.pocket_capacity = info.pocket_capacity, .hopper = info.hopper,
		.plan_entries = info.plan_entries, .capabilities = info.capabilities,
		.gate_deadline_us = info.gate_deadline_us,
	};
	snprintf(serial, size, "%s", info.serial);
	snprintf(product, size, "%s", info.model);
	snprintf(path, sizeof(path), "/sys/class/dealbox/%s/device/bInterfaceProtocol",
		 strrchr(local->node, '/') ? strrchr(local->node, '/') + 1 : local->node);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(protocol, sizeof(protocol), file))
			*protocol = '\0';
		fclose(file);
	}
	return !strncmp(protocol, "02", 2);
}

static void local_close(struct access *access)
{
	struct local *local = (struct local *)access;

	if (local->fd >= 0)
		close(local->fd);
	free(local);
}

static const struct access_ops local_ops = {
	.control = no_control, .out = no_out, .in = local_in, .reset = no_bus, .suspend = no_bus,
	.wakeup = no_wakeup, .resume = no_bus, .close = local_close,
};

struct access *access_open_local(const char *node, char *error, size_t size)
{
	struct local *local = calloc(1, sizeof(*local));
	struct dealbox_status status;
	int tries;

	if (!local) {
		snprintf(error, size, "no memory");
		return NULL;
	}
	local->access.ops = &local_ops;
	local->access.local = local;
	snprintf(local->node, sizeof(local->node), "%s", node);
	for (tries = 0; ; tries++) {
		local->fd = open(node, O_RDWR | O_CLOEXEC);
		if (local->fd >= 0 || tries == OPEN_TRIES ||
		    (errno != ENOENT && errno != ENODEV && errno != ENXIO))
			break;
		usleep(OPEN_PAUSE_US);
	}
	if (local->fd < 0) {
		snprintf(error, size, "local:%s: %s; `dealbox machines` lists the machines", node,
			 strerror(errno));
	} else if (ioctl(local->fd, DEALBOX_IOC_GET_STATUS, &status)) {
		snprintf(error, size, "local:%s: %s", node, errno == ENOTTY ?
			 "this is no dealing machine" : strerror(errno));
	} else if (ioctl(local->fd, DEALBOX_IOC_CLAIM)) {
		snprintf(error, size, "local:%s: process %u has claimed it; end that process", node,
			 status.owner_pid);
	} else {
		return &local->access;
	}
	local_close(&local->access);
	return NULL;
}
