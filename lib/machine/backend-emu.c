// SPDX-License-Identifier: LGPL-2.1-or-later
/* emu: the backend for dealbox-emulator, reached through a Unix socket (emu.h). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"
#include "host.h"

#define ATTACH_MS	3000
/* Limit of late packets, more than a socket holds: a machine may never stop sending. */
#define TURN_PACKETS	512

/* A gate command in flight; id 0 = none */
struct gate {
	uint32_t id;
	int64_t end_ms;		/* give it up then */
};

struct emu {
	int fd;
	struct host *host;
	const struct dealbox_dialect *dialect;
	uint32_t id;		/* id of the last frame sent */
	struct gate gates[DEALBOX_GATES];
	bool gate_halted;	/* gates_clear() clears it */
	bool in_halted;		/* halts_clear() clears it */
};

struct packet {
	struct emu_frame frame;
	uint8_t data[EMU_DATA_MAX];
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int send_packet(struct emu *emu, enum emu_kind kind, uint32_t id, const void *head,
		       size_t head_length, const void *data, size_t length)
{
	struct emu_frame frame = { .kind = kind, .id = id,
				   .length = (uint32_t)(head_length + length) };
	struct iovec parts[] = {
		{ &frame, sizeof(frame) },
		{ (void *)head, head_length },
		{ (void *)data, length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };

	if (sendmsg(emu->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	/* the machine does not empty its socket */
	if (errno == EAGAIN)
		return -ETIMEDOUT;
	return errno == EPIPE || errno == ECONNRESET ? -ENODEV : -errno;
}

/*
 * If the peer closes its socket with unread packets, recv(2) fails once with ECONNRESET. The
 * packets that it sent before can still be read.
 */
static ssize_t receive_now(struct emu *emu, struct packet *packet)
{
	ssize_t size = recv(emu->fd, packet, sizeof(*packet), MSG_DONTWAIT);

	if (size < 0 && errno == ECONNRESET)
		size = recv(emu->fd, packet, sizeof(*packet), MSG_DONTWAIT);
	return size;
}

/* Receive a packet within timeout_ms. Returns 0, -EAGAIN, -EPROTO or -ENODEV. */
static int receive(struct emu *emu, struct packet *packet, int64_t timeout_ms)
{
	struct pollfd wait = { .fd = emu->fd, .events = POLLIN };
	ssize_t size;

	size = receive_now(emu, packet);
	if (size < 0 && errno == EAGAIN && timeout_ms > 0) {
		if (poll(&wait, 1, (int)timeout_ms) <= 0)
			return -EAGAIN;
		size = receive_now(emu, packet);
	}
	if (size < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ENODEV;
	if (!size)
		return -ENODEV;
	if ((size_t)size < sizeof(packet->frame) ||
	    packet->frame.length != (size_t)size - sizeof(packet->frame))
		return -EPROTO;
	return 0;
}

static void gate_ended(struct emu *emu, struct gate *gate, int status)
{
	gate->id = 0;
	emu->gate_halted |= host_gate_done(emu->host, status);
}

/* Give up gate commands that were not completed in time. */
static void gates_expire(struct emu *emu)
{
	size_t n;

	for (n = 0; n < DEALBOX_GATES; n++)
		if (emu->gates[n].id && now_ms() >= emu->gates[n].end_ms)
			gate_ended(emu, &emu->gates[n], -ETIMEDOUT);
}

/*
 * Process what nobody waits for: events, and completions of gate commands. The emulator submits
 * transfers of events by itself, with a pause after a failure.
 */
static void take_packet(struct emu *emu, const struct packet *packet)
{
	size_t n;

	switch (packet->frame.kind) {
	case EMU_INT_IN:
		gates_expire(emu);
		if (!packet->frame.status)
			host_receive(emu->host, packet->data, packet->frame.length);
		else
			emu->in_halted |= packet->frame.status == -EPIPE;
		break;
	case EMU_BULK_DONE:
	case EMU_INT_DONE:
		for (n = 0; n < DEALBOX_GATES; n++)
			if (emu->gates[n].id && emu->gates[n].id == packet->frame.id)
				gate_ended(emu, &emu->gates[n], packet->frame.status);
		break;
	}
}

/*
 * Wait for the answer to frame id and pass events to the host meanwhile. Returns the status in the
 * answer, or -errno.
 */
static int answer_wait(struct emu *emu, enum emu_kind kind, uint32_t id, struct packet *packet,
		       int timeout_ms)
{
	int64_t end = now_ms() + timeout_ms;
	int ret, late;

	/* Accept packets that arrived in time, even if this process is late to read them. */
	for (late = 0; late < TURN_PACKETS; late += now_ms() >= end) {
		ret = receive(emu, packet, end - now_ms());
		if (ret == -EAGAIN && now_ms() >= end)
			break;
		if (ret == -EAGAIN)
			continue;
		if (ret)
			return ret;
		if (packet->frame.kind == kind && packet->frame.id == id)
			return packet->frame.status;
		take_packet(emu, packet);
	}
	return -ETIMEDOUT;
}

static int transfer_control(struct emu *emu, uint8_t type, uint8_t request, uint16_t value,
			    uint8_t index, void *data, uint16_t length)
{
	/* setup packet, USB 2.0, 9.3 */
	const uint8_t setup[8] = { type, request, value & 0xff, (uint8_t)(value >> 8), index, 0,
				   length & 0xff, (uint8_t)(length >> 8) };
	bool in = type & 0x80;
	struct packet packet;
	uint32_t id = ++emu->id;
	int ret;

	ret = send_packet(emu, EMU_CONTROL, id, setup, sizeof(setup), data, in ? 0 : length);
	if (!ret)
		ret = answer_wait(emu, EMU_CONTROL_DONE, id, &packet, WIRE_CONTROL_HOST_MS);
	if (ret)
		return ret < 0 ? ret : -EPROTO;
	if (!in)
		return length;
	if (packet.frame.length < length)
		length = (uint16_t)packet.frame.length;
	memcpy(data, packet.data, length);
	return length;
}

static int emu_control(void *bus, uint8_t type, uint8_t request, uint16_t value, void *data,
		       uint16_t length)
{
	/* the interface number is 0 */
	return transfer_control(bus, type, request, value, 0, data, length);
}

/* CLEAR_FEATURE(ENDPOINT_HALT), USB 2.0, 9.4.1. No gate command may be in flight then. */
static void out_clear(struct emu *emu, uint8_t endpoint)
{
	size_t n;

	host_hold_gates(emu->host);
	for (n = 0; n < DEALBOX_GATES; n++)
		if (emu->gates[n].id)
			gate_ended(emu, &emu->gates[n], -ECANCELED);
	emu->gate_halted = false;
	transfer_control(emu, 0x02, 1, 0, endpoint, NULL, 0);
	host_allow_gates(emu->host);
}

static void gates_clear(struct emu *emu)
{
	if (emu->gate_halted)
		out_clear(emu, emu->dialect->bulk ? EMU_EP_BULK_OUT : EMU_EP_INT_OUT);
}

static void halts_clear(struct emu *emu)
{
	gates_clear(emu);
	if (emu->in_halted) {
		emu->in_halted = false;
		transfer_control(emu, 0x02, 1, 0, EMU_EP_INT_IN, NULL, 0);
	}
}

static int emu_bulk_out(void *bus, const void *data, size_t length, unsigned int ms)
{
	struct emu *emu = bus;
	struct packet packet;
	uint32_t id;
	int ret;

	/* A halt by a gate command would fail this transfer where they share the endpoint. */
	gates_clear(emu);
	id = ++emu->id;
	ret = send_packet(emu, EMU_BULK_OUT, id, NULL, 0, data, length);
	if (!ret)
		ret = answer_wait(emu, EMU_BULK_DONE, id, &packet, (int)ms);
	if (ret == -EPIPE)
		out_clear(emu, EMU_EP_BULK_OUT);
	return ret > 0 ? -EPROTO : ret;
}

static int emu_gate_out(void *bus, const void *data, size_t length)
{
	struct emu *emu = bus;
	struct gate *gate = emu->gates;
	int ret;

	while (gate->id)		/* one is free */
		gate++;
	ret = send_packet(emu, emu->dialect->bulk ? EMU_BULK_OUT : EMU_INT_OUT, ++emu->id, NULL, 0,
			  data, length);
	if (!ret)
		*gate = (struct gate){ emu->id, now_ms() + DEALBOX_GATE_MS };
	return ret;
}

static int emu_pump(void *bus, int timeout_ms)
{
	struct emu *emu = bus;
	struct packet packet;
	int ret, n;

	for (n = 0; n < TURN_PACKETS; n++, timeout_ms = 0) {
		ret = receive(emu, &packet, timeout_ms);
		if (ret == -EAGAIN)
			break;
		if (ret)
			return -ENODEV;
		take_packet(emu, &packet);
	}
	halts_clear(emu);
	return 0;
}

static void emu_close(void *bus)
{
	struct emu *emu = bus;

	close(emu->fd);
	free(emu);
}

static const struct host_bus emu_bus = {
	.control = emu_control,
	.bulk_out = emu_bulk_out,
	.gate_out = emu_gate_out,
	.pump = emu_pump,
	.close = emu_close,
};

static int refuse_descriptor(struct dealbox_error *reason, const char *path)
{
	return error_set(reason, -EPROTO, 0, NULL,
			 "emu:%s: the machine's descriptor does not match protocol %u.%u",
			 path, WIRE_VERSION >> 8, WIRE_VERSION & 0xff);
}

static int attach(struct dealbox_machine *machine, struct emu *emu, const char *path,
		  struct emu_attached *attached, struct host_kind *kind)
{
	struct dealbox_error *reason = &machine->reason;
	struct packet packet = { 0 };
	char name[64];
	int ret;

	ret = send_packet(emu, EMU_ATTACH, EMU_VERSION, NULL, 0, NULL, 0);
	/* A machine in use answers and closes the socket before it reads ATTACH. */
	if (!ret || ret == -ENODEV)
		ret = receive(emu, &packet, ATTACH_MS);
	if (!ret && packet.frame.kind != EMU_ATTACHED)
		ret = -EPROTO;
	if (!ret)
		ret = packet.frame.status;
	if (ret == -EBUSY)
		return error_set(reason, ret, 0, "wait until it has finished, or end it",
				 "emu:%s: the machine is in use by %s", path,
				 process_name(packet.frame.id, name, sizeof(name)));
	if (ret == -ENODEV)
		return error_set(reason, ret, 0,
				 "plug it in (`plug` on the emulator's control socket)",
				 "emu:%s: the machine is unplugged", path);
	if (!ret && packet.frame.length != sizeof(*attached))
		ret = -EPROTO;
	if (ret == -EAGAIN || ret == -ETIMEDOUT)
		return error_set(reason, -ETIMEDOUT, 0, "check whether its process is stopped",
				 "emu:%s: the machine does not answer", path);
	if (!ret) {
		memcpy(attached, packet.data, sizeof(*attached));
		emu->dialect = usb_dialect((uint8_t)attached->protocol);
	}
	if (!emu->dialect)
		return error_set(reason, ret < 0 ? ret : -EPROTO, 0,
				 "the socket must be that of dealbox-emulator, in the same version",
				 "emu:%s: the program at this socket does not answer as a machine",
				 path);
	attached->serial[sizeof(attached->serial) - 1] = '\0';
	kind->transfer_size = attached->int_in_size;
	kind->dialect = emu->dialect;
	if (emu->dialect->described)
		return 0;
	ret = dealbox_read_descriptor(attached->machine_descriptor,
				      sizeof(attached->machine_descriptor), &kind->machine);
	return ret && ret != -ENOENT ? refuse_descriptor(reason, path) : 0;
}

static int connect_to(struct dealbox_machine *machine, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct dealbox_error *reason = &machine->reason;
	int fd, error;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return error_set(reason, -EINVAL, 0, "use a path of 1 to 107 bytes",
				 "'%s' is too long or too short for the path of a socket", path);
	strcpy(address.sun_path, path);
	/* Non-blocking, so that a stopped process cannot block this one. */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set(reason, -errno, 0, NULL, "cannot create a socket: %m");
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = -errno;
	close(fd);
	if (error == -EAGAIN)
		return error_set(reason, -ETIMEDOUT, 0, "check whether its process is stopped",
				 "emu:%s: the machine does not answer", path);
	if (error == -EACCES)
		return reason_permission(reason, path, "start the emulator as the user that deals");
	return error_set(reason, error == -ENOENT || error == -ECONNREFUSED ? -ENODEV : error, 0,
			 "start it with `dealbox-emulator --socket PATH`",
			 "no emulated machine listens at %s", path);
}

static int emu_open(struct dealbox_machine *machine, const char *place, bool observe)
{
	struct host_kind kind = { 0 };
	struct emu_attached attached;
	struct emu *emu;
	int ret, fd;

	fd = connect_to(machine, place);
	if (fd < 0)
		return fd;
	emu = calloc(1, sizeof(*emu));
	if (!emu) {
		close(fd);
		return error_set(&machine->reason, -ENOMEM, 0, NULL, "out of memory");
	}
	emu->fd = fd;
	ret = attach(machine, emu, place, &attached, &kind);
	if (ret)
		goto close_bus;
	emu->host = host_new(&emu_bus, emu, &kind, attached.serial, observe);
	if (!emu->host) {
		ret = error_set(&machine->reason, -ENOMEM, 0, NULL, "out of memory");
		goto close_bus;
	}
	if (!emu->dialect->described && !kind.machine.pockets &&
	    host_describe(emu->host, &kind.machine)) {
		ret = refuse_descriptor(&machine->reason, place);
		host_close(emu->host);
		return ret;
	}
	ret = host_watch(emu->host, fd, EPOLLIN);
	if (!ret)
		ret = host_start(emu->host);
	if (ret) {
		error_fill(&machine->reason, ret, 0,
			   "the socket must be that of dealbox-emulator, in the same version",
			   "emu:%s: the machine does not answer: %s", place, strerror(-ret));
		host_close(emu->host);
		return ret;
	}
	machine->self = emu->host;
	machine->fd = host_fd(emu->host);
	snprintf(machine->uri, sizeof(machine->uri), "emu:%s", place);
	return 0;

close_bus:
	emu_close(emu);
	return ret;
}

const struct backend backend_emu = {
	.scheme = "emu",
	.open = emu_open,
	.call = host_call,
	.read = host_read,
	.close = host_close,
};
