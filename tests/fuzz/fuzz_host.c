// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary answers and events of a machine on a bus: the host in user space returns documented
 * errors only, passes on well-formed events without an unmarked gap, and sends no invalid gate
 * command.
 *
 * The input is a list of calls, and of the outcome of each transfer.
 */
#include <errno.h>

#include "fuzz.h"
#include "machine/host.h"
#include "machine_wire.h"

#define POCKETS	4

struct bus {
	const uint8_t *data;
	size_t size;
	struct host *host;
	bool routed;
	unsigned int gates;	/* in flight */
};

static uint8_t next(struct bus *bus)
{
	if (!bus->size)
		return 0;
	bus->size--;
	return *bus->data++;
}

/* Fills an answer with the rest of the input, then with zeros. */
static void fill(struct bus *bus, void *data, size_t length)
{
	size_t there = length < bus->size ? length : bus->size;

	memset(data, 0, length);
	memcpy(data, bus->data, there);
	bus->data += there;
	bus->size -= there;
}

/* Returns the outcome of a transfer of length bytes: bytes moved, or an error. */
static int fate(struct bus *bus, int length)
{
	static const int errors[] = { -EPIPE, -ETIMEDOUT, -EIO, -EPROTO, -EOVERFLOW, -ENODEV };
	uint8_t choice = next(bus);

	if (choice < 200)
		return length;
	if (choice < 220)
		return length ? next(bus) % length : 0;
	return errors[choice % (sizeof(errors) / sizeof(*errors))];
}

static int control(void *context, uint8_t type, uint8_t request, uint16_t value, void *data,
		   uint16_t length)
{
	struct bus *bus = context;
	int moved = fate(bus, length);

	(void)request;
	(void)value;
	if (type == WIRE_REQ_IN && moved > 0)
		fill(bus, data, moved);
	return moved;
}

static int bulk_out(void *context, const void *data, size_t length, unsigned int ms)
{
	int error = fate(context, 0);

	CHECK(length <= WIRE_PLAN_MAX && data && ms);
	return error < 0 ? error : 0;
}

static int gate_out(void *context, const void *data, size_t length)
{
	struct bus *bus = context;
	struct wire_gate gate;
	int error = fate(bus, 0);

	CHECK(bus->routed && length == WIRE_GATE_SIZE);
	CHECK(wire_gate_get(data, length, &gate));
	CHECK(gate.pocket == DEALBOX_NONE || gate.pocket < POCKETS);
	if (error < 0)
		return error;
	CHECK(++bus->gates <= DEALBOX_GATES);
	return 0;
}

/* Ends some of the gate commands in flight, one in four by a halt. */
static void end_gates(struct bus *bus)
{
	bool halted = false;

	while (bus->gates && next(bus) & 3) {
		bus->gates--;
		halted |= host_gate_done(bus->host, next(bus) & 3 ? 0 : -EPIPE);
	}
	if (halted)
		host_allow_gates(bus->host);
}

static void receive(struct bus *bus)
{
	uint8_t events[8 * WIRE_EVENT_SIZE];
	size_t length = next(bus) % (sizeof(events) + 1);

	end_gates(bus);

	if (length & 1)
		length -= length % WIRE_EVENT_SIZE;
	fill(bus, events, length);
	host_receive(bus->host, events, length);
}

/* Never waits: at the end of the input the machine is gone. */
static int pump(void *context, int timeout_ms)
{
	struct bus *bus = context;

	CHECK(timeout_ms >= 0);
	if (!bus->size)
		return -ENODEV;
	receive(bus);
	return 0;
}

static void close_bus(void *context)
{
	(void)context;
}

/* The column "ioctl" of docs/userspace-api/dealbox.rst */
static void check_error(int error)
{
	static const int errors[] = {
		0, EBUSY, EINVAL, EIO, ENODATA, ENODEV, EOPNOTSUPP, EPERM, EPROTO, EREMOTEIO,
		ETIMEDOUT,
		/* only from libusb: babble */
		EOVERFLOW, ENOTTY,
	};
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (error == -errors[i])
			return;
	fprintf(stderr, "error %d\n", error);
	abort();
}

static void check_status(const struct dealbox_status *status)
{
	CHECK(status->state <= DEALBOX_STATE_DONE);
}

static void one_call(struct bus *bus)
{
	union {
		struct dealbox_info info;
		struct dealbox_status status;
		struct dealbox_plan plan;
		struct dealbox_control control;
		struct dealbox_param param;
		struct dealbox_counters counters;
		struct dealbox_attest attest;
		struct dealbox_attestation attestation;
		struct dealbox_identity identity;
	} arg = { 0 };
	int error;

	switch (next(bus) % 12) {
	case 0:
		error = host_call(bus->host, DEALBOX_IOC_CLAIM, NULL);
		break;
	case 1:
		error = host_call(bus->host, DEALBOX_IOC_RELEASE, NULL);
		break;
	case 2:
		error = host_call(bus->host, DEALBOX_IOC_GET_INFO, &arg);
		CHECK(memchr(arg.info.model, 0, sizeof(arg.info.model)));
		break;
	case 3:
		error = host_call(bus->host, DEALBOX_IOC_GET_STATUS, &arg);
		if (!error)
			check_status(&arg.status);
		break;
	case 4:
		arg.plan = (struct dealbox_plan){ .plan_id = 1 + next(bus) % 4, .entries = 52 };
		for (int i = 0; i < 52; i++)
			arg.plan.pocket[i] = i % POCKETS;
		error = host_call(bus->host, DEALBOX_IOC_SET_PLAN, &arg);
		break;
	case 5:
		arg.control = (struct dealbox_control){ .op = DEALBOX_OP_START + next(bus) % 9 };
		if (arg.control.op == DEALBOX_OP_START) {
			arg.control.plan_id = 1 + next(bus) % 4;
			arg.control.insertion = 1 + next(bus) % 2;
		}
		error = host_call(bus->host, DEALBOX_IOC_CONTROL, &arg);
		break;
	case 6:
		arg.param.id = 1 + next(bus) % 4;
		error = host_call(bus->host, DEALBOX_IOC_GET_PARAM, &arg);
		break;
	case 7:
		error = host_call(bus->host, DEALBOX_IOC_GET_COUNTERS, &arg);
		break;
	case 8:
		arg.attest = (struct dealbox_attest){ .insertion = 1, .nonce = { 1 } };
		error = host_call(bus->host, DEALBOX_IOC_ATTEST, &arg);
		break;
	case 9:
		error = host_call(bus->host, DEALBOX_IOC_GET_ATTESTATION, &arg);
		if (!error)
			CHECK(!arg.attestation.reserved[0] && !arg.attestation.reserved[3]);
		break;
	case 10:
		error = host_call(bus->host, DEALBOX_IOC_GET_IDENTITY, &arg);
		if (!error)
			CHECK(!(arg.identity.flags & ~DEALBOX_IDENTITY_EMULATED) &&
			      !arg.identity.reserved[0] && !arg.identity.reserved[3]);
		break;
	default:
		receive(bus);
		return;
	}
	check_error(error);
}

static void read_events(struct bus *bus, uint64_t *seqno, bool *begun)
{
	struct dealbox_event events[4];
	ssize_t count;
	ssize_t i;

	while ((count = host_read(bus->host, events, 4)) > 0) {
		for (i = 0; i < count; i++) {
			const struct dealbox_event *e = &events[i];

			if (*begun)
				CHECK((e->seqno != *seqno + 1) == !!(e->flags & DEALBOX_EVF_GAP));
			CHECK(e->seqno > *seqno || !*begun);
			*seqno = e->seqno;
			*begun = true;
		}
	}
	CHECK(count == 0 || count == -EAGAIN || count == -ENODEV);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct host_bus ops = { control, bulk_out, gate_out, pump, close_bus };
	struct host_kind kind = { .dialect = &dealbox_native, .transfer_size = 1024, .machine = {
		.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION, .pockets = POCKETS,
		.pocket_capacity = 64, .hopper = 220, .plan_entries = 64,
		.capabilities = DEALBOX_CAP_BY_CARD | DEALBOX_CAP_TEST_DEAL | DEALBOX_CAP_ATTEST,
	} };
	struct bus bus = { .data = data, .size = size };
	uint64_t seqno = 0;
	bool begun = false;

	bus.routed = next(&bus) & 1;
	kind.machine.capabilities |= bus.routed ? DEALBOX_CAP_HOST_ROUTED : DEALBOX_CAP_STORED_PLAN;
	kind.machine.gate_deadline_us = bus.routed ? 1000 : 0;
	bus.host = host_new(&ops, &bus, &kind, "1", false);
	CHECK(bus.host);
	if (!host_start(bus.host)) {
		host_call(bus.host, DEALBOX_IOC_CLAIM, NULL);
		while (bus.size) {
			one_call(&bus);
			read_events(&bus, &seqno, &begun);
		}
	}
	host_close(bus.host);
	return 0;
}
