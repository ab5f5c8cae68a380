/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Front for the library's emu: backend. lib/machine/emu.h defines the frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/emu.h"
#include "front_local.h"

struct frame {
	struct emu_frame head;
	uint8_t data[EMU_DATA_MAX];
};

struct socket_front {
	struct local_front local;
	bool attached;
	bool raw;		/* attached by ATTACH_RAW */
	bool suspended;		/* raw */
	bool woken;		/* raw: WAKEUP was sent in this suspend */
	bool blocked;		/* out is still to be sent */
	struct frame out;
};

static void hang_up(struct socket_front *f)
{
	if (f->attached)
		device_detach(f->local.front.device);
	if (f->local.host >= 0)
		close(f->local.host);
	f->local.host = -1;
	f->attached = false;
	f->raw = false;
	f->suspended = false;
	f->blocked = false;
	f->local.int_in = false;
}

static void transmit(struct socket_front *f)
{
	ssize_t sent = send(f->local.host, &f->out, sizeof(f->out.head) + f->out.head.length,
			    MSG_DONTWAIT | MSG_NOSIGNAL);

	f->blocked = sent < 0 && (errno == EAGAIN || errno == ENOBUFS);
	if (sent < 0 && !f->blocked)
		hang_up(f);
}

static void answer_attach(int fd, uint32_t id, int32_t status, const struct emu_attached *attached)
{
	struct frame frame = {
		.head = { .kind = EMU_ATTACHED, .id = id, .status = status,
			  .length = attached ? sizeof(*attached) : 0 },
	};

	if (attached)
		memcpy(frame.data, attached, sizeof(*attached));
	if (send(fd, &frame, sizeof(frame.head) + frame.head.length, MSG_DONTWAIT | MSG_NOSIGNAL) <
	    0)
		return;	/* the host is gone, which the next poll notices */
}

#define MACHINE_DESCRIPTOR	18	/* offset: after those of configuration and interface */

/* Get the machine descriptor as over USB, so that a scenario can corrupt it. */
static void get_machine_descriptor(struct socket_front *f, uint64_t now, uint8_t *buf, size_t size)
{
	static const struct transfer get = { .setup = { 0x80, 6, 0, 2, 0, 0, 0, 1 },
					     .length = 256 };
	struct completion done;

	device_submit(f->local.front.device, now, &get);
	if (!device_reap(f->local.front.device, now, &done)) {
		device_cancel(f->local.front.device, get.tag);	/* do not wait for it */
		return;
	}
	if (done.length <= MACHINE_DESCRIPTOR)
		return;
	done.length -= MACHINE_DESCRIPTOR;
	if (done.length > done.data[MACHINE_DESCRIPTOR])
		done.length = done.data[MACHINE_DESCRIPTOR];
	memcpy(buf, done.data + MACHINE_DESCRIPTOR, done.length < size ? done.length : size);
}

static void attach(struct socket_front *f, uint32_t version, bool raw, uint64_t now)
{
	const struct device_config *config = device_config(f->local.front.device);
	struct emu_attached attached = {
		.int_in_size = config->int_in_size,
		.int_out_size = device_int_out_size(f->local.front.device),
		.protocol = config->protocol,
	};
	/* SET_CONFIGURATION, which a host's USB core sends at once */
	static const struct transfer configure = { .setup = { 0, 9, 1 } };
	struct completion completion;

	if (version != EMU_VERSION) {
		answer_attach(f->local.host, EMU_VERSION, -EPROTO, NULL);
		hang_up(f);
		return;
	}
	memcpy(attached.serial, config->serial, sizeof(attached.serial) - 1);
	memcpy(attached.product, config->product, sizeof(attached.product) - 1);
	/* none, if the host has to ask for it */
	get_machine_descriptor(f, now, attached.machine_descriptor,
			       sizeof(attached.machine_descriptor));
	answer_attach(f->local.host, EMU_VERSION, 0, &attached);
	f->attached = true;
	f->raw = raw;
	f->local.int_in_at = now;
	if (raw)
		return;
	device_submit(f->local.front.device, now, &configure);
	device_reap(f->local.front.device, now, &completion);
}

/* Send a frame without data to a raw host. */
static void say(struct socket_front *f, enum emu_kind kind, uint32_t id)
{
	struct emu_frame frame = { .kind = kind, .id = id };

	if (send(f->local.host, &frame, sizeof(frame), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;	/* the host is gone, which the next poll notices */
}

static void bus(struct socket_front *f, const struct frame *in)
{
	f->suspended = in->head.status == EMU_BUS_SUSPEND;
	f->woken = false;
	if (f->suspended)
		device_suspend(f->local.front.device);
	if (in->head.status == EMU_BUS_RESET)
		device_detach(f->local.front.device);
	say(f, EMU_BUS_DONE, in->head.id);
}

/* Returns false if the frame is none of those of a raw host. */
static bool serve_raw(struct socket_front *f, const struct frame *in)
{
	switch (in->head.kind) {
	case EMU_BUS:
		bus(f, in);
		return true;
	case EMU_CANCEL:
		if (device_cancel(f->local.front.device,
				  (uint64_t)EMU_INT_GET << 32 | in->head.id))
			say(f, EMU_CANCELLED, in->head.id);
		return true;
	default:
		return false;
	}
}

static void submit(struct socket_front *f, const struct frame *in, uint64_t now)
{
	struct transfer transfer = {
		.tag = (uint64_t)in->head.kind << 32 | in->head.id, .length = in->head.length,
	};
	const uint8_t *data = in->data;

	switch (in->head.kind) {
	case EMU_CONTROL:
		if (in->head.length < sizeof(transfer.setup)) {
			hang_up(f);
			return;
		}
		memcpy(transfer.setup, data, sizeof(transfer.setup));
		data += sizeof(transfer.setup);
		transfer.length -= sizeof(transfer.setup);
		if (transfer.setup[0] & 0x80)
			transfer.length = transfer.setup[6] | transfer.setup[7] << 8;
		else
			memcpy(transfer.data, data, transfer.length);
		break;
	case EMU_BULK_OUT:
		transfer.endpoint = DEVICE_EP_BULK_OUT;
		memcpy(transfer.data, data, transfer.length);
		break;
	case EMU_INT_OUT:
		transfer.endpoint = DEVICE_EP_INT_OUT;
		memcpy(transfer.data, data, transfer.length);
		break;
	case EMU_INT_GET:
		if (!f->raw || in->head.length != sizeof(transfer.length)) {
			hang_up(f);
			return;
		}
		transfer.endpoint = DEVICE_EP_INT_IN;
		memcpy(&transfer.length, data, sizeof(transfer.length));
		break;
	default:
		hang_up(f);
		return;
	}
	front_trace(f->local.front.trace, now, "submit", transfer.endpoint, in->data,
		    in->head.length);
	device_submit(f->local.front.device, now, &transfer);
}

static void receive(struct socket_front *f, uint64_t now)
{
	struct frame in;
	ssize_t length = recv(f->local.host, &in, sizeof(in), MSG_DONTWAIT | MSG_TRUNC);

	if (length < 0 && errno == EAGAIN)
		return;
	/* An incomplete frame is a protocol error. */
	if (length < (ssize_t)sizeof(in.head) || length > (ssize_t)sizeof(in) ||
	    in.head.length != length - sizeof(in.head)) {
		hang_up(f);
		return;
	}
	if (!f->attached && (in.head.kind == EMU_ATTACH || in.head.kind == EMU_ATTACH_RAW))
		attach(f, in.head.id, in.head.kind == EMU_ATTACH_RAW, now);
	else if (f->raw && serve_raw(f, &in))
		return;
	else if (f->attached)
		submit(f, &in, now);
	else
		hang_up(f);
}

/* Return the process id of the peer, 0 if it is unknown. */
static uint32_t socket_peer(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}

static void welcome(struct socket_front *f)
{
	int fd = accept4(f->local.listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (f->local.host < 0 && machine_view(f->local.front.machine).plugged) {
		f->local.host = fd;
		return;
	}
	if (f->local.host >= 0)
		answer_attach(fd, socket_peer(f->local.host), -EBUSY, NULL);
	else
		answer_attach(fd, EMU_VERSION, -ENODEV, NULL);
	close(fd);
}

static unsigned int socket_poll(struct front *front, struct pollfd *fds)
{
	struct socket_front *f = (struct socket_front *)front;

	fds[0] = (struct pollfd){ .fd = f->local.listener, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = f->local.host, .events = f->blocked ? POLLOUT : POLLIN };
	return 2;
}

static void socket_serve(struct front *front, const struct pollfd *fds, uint64_t now)
{
	struct socket_front *f = (struct socket_front *)front;

	if (fds[1].fd >= 0 && fds[1].fd == f->local.host) {
		if (f->blocked && fds[1].revents)
			transmit(f);
		else if (fds[1].revents)
			receive(f, now);
	}
	if (fds[0].revents)
		welcome(f);
}

static void send_completion(struct socket_front *f, uint64_t now, const struct completion *done)
{
	struct emu_frame *head = &f->out.head;

	head->id = done->tag;
	head->status = done->status;
	head->length = done->in ? done->length : 0;
	if (done->tag == INT_IN_TAG) {
		head->kind = EMU_INT_IN;
		head->id = 0;
		local_front_took(&f->local, now, done);
	} else {
		head->kind = done->tag >> 32 | 0x80;
	}
	memcpy(f->out.data, done->data, head->length);
	front_trace(f->local.front.trace, now, "done", done->status, f->out.data, head->length);
	transmit(f);
}

static void socket_flush(struct front *front, uint64_t now)
{
	struct socket_front *f = (struct socket_front *)front;
	struct completion done;

	/* The cable may be plugged in again already: detect that it was unplugged. */
	if (f->local.host >= 0 && (!machine_view(front->machine).plugged ||
			     (f->attached && (!f->raw || device_configured(front->device)) &&
			      !machine_view(front->machine).configured)))
		hang_up(f);
	if (f->suspended && !f->woken && device_wakes(front->device)) {
		f->woken = true;
		say(f, EMU_WAKEUP, 0);
	}
	while (f->attached && !f->blocked && !f->suspended) {
		if (!f->raw)
			local_front_give(&f->local, now);
		if (!device_reap(front->device, now, &done))
			break;
		send_completion(f, now, &done);
		/* Space in the event queue may let the mechanics continue. */
		machine_run(front->machine, now);
	}
}

static uint64_t socket_next(const struct front *front)
{
	const struct socket_front *f = (const struct socket_front *)front;

	if (!f->attached || f->blocked || f->suspended)
		return MACHINE_NEVER;
	return f->raw ? device_next(f->local.front.device) : local_front_next(&f->local);
}

static void socket_close(struct front *front)
{
	struct socket_front *f = (struct socket_front *)front;

	hang_up(f);
	local_front_close(&f->local);
}

static const struct front_ops socket_ops = {
	.poll = socket_poll, .serve = socket_serve, .flush = socket_flush, .next = socket_next,
	.close = socket_close,
};

struct front *front_socket_open(const char *path, struct device *device,
				struct machine *machine, FILE *trace)
{
	struct local_front *f = local_front_open(sizeof(struct socket_front), &socket_ops, path,
						 SOCK_SEQPACKET, device, machine, trace);

	return f ? &f->front : NULL;
}
