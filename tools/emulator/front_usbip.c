/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Front for USB/IP: attaches the machine to this computer with the kernel's vhci_hcd, or waits for
 * another computer to do so with `usbip attach`.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front_common.h"
#include "usbip.h"
#include "vhci.h"

#define RETRY_US	100000	/* a port takes a moment to become free */
#define OUT_MAX		(2 * (USBIP_HEADER + DEVICE_DATA_MAX))

struct usbip_front {
	struct front front;
	int wanted_port;	/* -1 = any */
	int listener;		/* -1 = this computer's vhci_hcd */
	int fd;			/* -1 = not plugged in */
	bool greeted;		/* the other computer has imported the device */
	uint64_t plug_at;	/* time of the next attempt */
	uint8_t in[USBIP_MESSAGE_MAX];
	size_t in_length;
	uint8_t out[OUT_MAX];
	size_t out_length;
};

static void connected(struct usbip_front *f, int fd, bool greeted)
{
	f->fd = fd;
	f->greeted = greeted;
	f->in_length = 0;
	f->out_length = 0;
}

/* Returns 0, or the error of vhci_plug(). */
static int plug(struct usbip_front *f)
{
	int fd = vhci_plug(f->wanted_port);

	if (fd >= 0)
		connected(f, fd, true);
	return fd < 0 ? fd : 0;
}

static void unplug(struct usbip_front *f)
{
	if (f->fd < 0)
		return;
	shutdown(f->fd, SHUT_RDWR);
	close(f->fd);
	f->fd = -1;
	device_detach(f->front.device);
}

/*
 * The computer has detached the machine, as if the cable had been unplugged. Another computer
 * attaches it with a new import.
 */
static void lost(struct usbip_front *f)
{
	unplug(f);
	if (f->listener >= 0) {
		machine_unplug(f->front.machine, 0);
		return;
	}
	machine_unplug(f->front.machine, MACHINE_NEVER);
	fputs("dealbox-emulator: the computer has detached the machine; "
	      "the command \"plug\" plugs it in again\n", stderr);
}

static void transmit(struct usbip_front *f)
{
	ssize_t sent;

	if (!f->out_length)
		return;
	sent = send(f->fd, f->out, f->out_length, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0 && errno != EAGAIN) {
		lost(f);
	} else if (sent > 0) {
		f->out_length -= sent;
		memmove(f->out, f->out + sent, f->out_length);
	}
}

static void submit(struct usbip_front *f, const struct usbip_message *message, uint64_t now)
{
	struct transfer transfer;

	usbip_transfer(message, &transfer);
	if (transfer.endpoint != DEVICE_EP_INT_IN) {
		if (!transfer.endpoint)
			front_trace(f->front.trace, now, "setup", 0, transfer.setup, 8);
		front_trace(f->front.trace, now, "submit", transfer.endpoint, transfer.data,
			    message->data ? transfer.length : 0);
	}
	device_submit(f->front.device, now, &transfer);
}

/* Return true if there is space for the result of a transfer and behind more bytes. */
static bool has_room(const struct usbip_front *f, size_t behind)
{
	return f->out_length + USBIP_HEADER + DEVICE_DATA_MAX + behind <= sizeof(f->out);
}

static void send_completion(struct usbip_front *f, uint64_t now, const struct completion *done)
{
	usbip_ret_submit(f->out + f->out_length, done->tag, done->status, done->length);
	f->out_length += USBIP_HEADER;
	if (done->in) {
		memcpy(f->out + f->out_length, done->data, done->length);
		f->out_length += done->length;
	}
	front_trace(f->front.trace, now, "done", done->status, done->data,
		    done->in ? done->length : 0);
}

/* Send completed transfers, perhaps including this one, before the answer. */
static void unlink_transfer(struct usbip_front *f, const struct usbip_message *message,
			    uint64_t now)
{
	struct device *device = f->front.device;
	struct completion done;
	int32_t status;

	device_before_cancel(device, message->unlink);
	while (has_room(f, USBIP_HEADER) && device_reap(device, now, &done))
		send_completion(f, now, &done);
	status = device_cancel(device, message->unlink) ? -ECONNRESET : 0;
	usbip_ret_unlink(f->out + f->out_length, message->seqnum, status);
	f->out_length += USBIP_HEADER;
}

/* Answer `usbip attach`. After that, the protocol is that of vhci_hcd. */
static bool greet(struct usbip_front *f)
{
	bool granted = usbip_is_import(f->in);

	f->out_length = usbip_rep_import(f->out, granted, DEVICE_VENDOR, DEVICE_PRODUCT);
	f->greeted = true;
	transmit(f);
	return granted && f->fd >= 0;
}

/* Receive messages while there is space for an answer. */
static void receive_messages(struct usbip_front *f, uint64_t now)
{
	struct usbip_message message;
	size_t used = 0;
	int size = 0;

	if (!f->greeted) {
		if (f->in_length < USBIP_IMPORT)
			return;
		used = USBIP_IMPORT;
		if (!greet(f))
			size = -1;
	}

	while (size >= 0 && f->fd >= 0 && has_room(f, USBIP_HEADER)) {
		size = usbip_decode(f->in + used, f->in_length - used, &message);
		if (size <= 0)
			break;
		used += size;
		if (message.command == USBIP_CMD_UNLINK)
			unlink_transfer(f, &message, now);
		else
			submit(f, &message, now);
	}
	f->in_length -= used;
	memmove(f->in, f->in + used, f->in_length);
	if (size < 0)
		lost(f);
}

static unsigned int usbip_poll(struct front *front, struct pollfd *fds)
{
	struct usbip_front *f = (struct usbip_front *)front;

	fds[0] = (struct pollfd){ .fd = f->fd, .events = POLLIN | (f->out_length ? POLLOUT : 0) };
	/* Let clients wait while the cable is unplugged or the machine is in use. */
	fds[1] = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (f->fd < 0 && machine_view(front->machine).plugged)
		fds[1].fd = f->listener;
	return 2;
}

static void take_host(struct usbip_front *f)
{
	int fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC), on = 1;

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	connected(f, fd, false);
}

static void usbip_serve(struct front *front, const struct pollfd *fds, uint64_t now)
{
	struct usbip_front *f = (struct usbip_front *)front;
	ssize_t got;

	if (f->fd < 0 && fds[1].fd >= 0 && fds[1].revents)
		take_host(f);
	if (f->fd < 0 || fds[0].fd != f->fd || !fds[0].revents)
		return;
	got = recv(f->fd, f->in + f->in_length, sizeof(f->in) - f->in_length, MSG_DONTWAIT);
	if (got > 0) {
		f->in_length += got;
		receive_messages(f, now);
	} else if (got == 0 || errno != EAGAIN) {
		lost(f);
	}
}

static void usbip_flush(struct front *front, uint64_t now)
{
	struct usbip_front *f = (struct usbip_front *)front;
	bool plugged = machine_view(front->machine).plugged;
	struct completion done;

	if (!plugged)
		unplug(f);
	else if (f->fd < 0 && f->listener < 0 && now >= f->plug_at && plug(f))
		f->plug_at = now + RETRY_US;
	while (f->fd >= 0 && has_room(f, 0) && device_reap(front->device, now, &done)) {
		send_completion(f, now, &done);
		/* Space in the event queue may let the mechanics continue. */
		machine_run(front->machine, now);
		transmit(f);
	}
	if (f->fd >= 0)
		transmit(f);
}

static uint64_t usbip_next(const struct front *front)
{
	const struct usbip_front *f = (const struct usbip_front *)front;

	if (f->fd < 0)
		return f->listener < 0 && machine_view(front->machine).plugged ? f->plug_at :
		       MACHINE_NEVER;
	return f->out_length ? MACHINE_NEVER : device_next(front->device);
}

static void usbip_close(struct front *front)
{
	struct usbip_front *f = (struct usbip_front *)front;

	unplug(f);
	if (f->listener >= 0)
		close(f->listener);
	free(f);
}

static const struct front_ops usbip_ops = {
	.poll = usbip_poll, .serve = usbip_serve, .flush = usbip_flush, .next = usbip_next,
	.close = usbip_close,
};

static void explain(int error)
{
	switch (-error) {
	case ENODEV:
	case ENOENT:
		fputs("dealbox-emulator: --usbip: vhci_hcd is not there: modprobe vhci-hcd\n",
		      stderr);
		break;
	case EACCES:
	case EPERM:
		fputs("dealbox-emulator: --usbip: only root may plug a machine in: "
		      "use sudo, or --socket\n", stderr);
		break;
	case EBUSY:
		fputs("dealbox-emulator: --usbip: no port of vhci_hcd is free, "
		      "or the one of --port is not\n", stderr);
		break;
	default:
		fprintf(stderr, "dealbox-emulator: --usbip: %s\n", strerror(-error));
	}
}

static struct usbip_front *front_new(struct device *device, struct machine *machine, FILE *trace)
{
	struct usbip_front *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->front = (struct front){ &usbip_ops, device, machine, trace };
	f->listener = -1;
	f->fd = -1;
	return f;
}

struct front *front_usbip_open(int port, struct device *device, struct machine *machine,
			       FILE *trace)
{
	struct usbip_front *f = front_new(device, machine, trace);
	int error;

	if (!f)
		return NULL;
	f->wanted_port = port;
	error = plug(f);
	if (error) {
		explain(error);
		free(f);
		return NULL;
	}
	return &f->front;
}

struct front *front_usbip_serve(unsigned int port, struct device *device, struct machine *machine,
				FILE *trace)
{
	struct usbip_front *f = front_new(device, machine, trace);
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int on = 1;

	if (!f)
		return NULL;
	f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(f->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(f->listener, (struct sockaddr *)&address, size) || listen(f->listener, 8) ||
	    getsockname(f->listener, (struct sockaddr *)&address, &size)) {
		fprintf(stderr, "dealbox-emulator: --serve %u: %s\n", port, strerror(errno));
		usbip_close(&f->front);
		return NULL;
	}
	printf("dealbox-emulator: usbip --tcp-port %u attach -r 127.0.0.1 -b " USBIP_BUSID "\n",
	       ntohs(address.sin_port));
	return &f->front;
}
