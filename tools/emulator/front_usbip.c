/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The front that plugs the machine into this computer: USB/IP with the kernel's vhci_hcd. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front.h"
#include "usbip.h"

#define VHCI		"/sys/devices/platform/vhci_hcd.0/"
#define PORT_FREE	4	/* VDEV_ST_NULL */
#define SPEED_HIGH	3
#define DEVID		0x00010002
#define RETRY_US	100000	/* a port needs a moment to become free */
#define OUT_MAX		(2 * (USBIP_HEADER + DEVICE_DATA_MAX))

struct usbip_front {
	struct front front;
	int wanted_port;	/* -1 = any */
	int fd;			/* -1 = not plugged in */
	uint64_t plug_at;	/* when the next attempt is made */
	uint8_t in[USBIP_MESSAGE_MAX];
	size_t in_length;
	uint8_t out[OUT_MAX];
	size_t out_length;
};

/* The first free high-speed port, -1 if there is none, -2 if vhci_hcd is not there. */
static int free_port(void)
{
	char path[80] = VHCI "status", line[200];
	unsigned int controller = 0;
	int found = -2;
	FILE *file;

	while (found < 0 && (file = fopen(path, "re"))) {
		found = -1;
		while (fgets(line, sizeof(line), file)) {
			unsigned int port, state;

			if (sscanf(line, "hs %u %u", &port, &state) == 2 && state == PORT_FREE) {
				found = port;
				break;
			}
		}
		fclose(file);
		snprintf(path, sizeof(path), VHCI "status.%u", ++controller);
	}
	return found;
}

/* 0, or a negative errno: what the kernel said */
static int attach(int port, int socket)
{
	char text[80];
	int length = snprintf(text, sizeof(text), "%d %d %u %d", port, socket, DEVID, SPEED_HIGH);
	int fd = open(VHCI "attach", O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) < 0)
		error = -errno;
	close(fd);
	return error;
}

/* 0, or a negative errno; -ENODEV vhci_hcd is not there, -EBUSY no port is free */
static int plug(struct usbip_front *f)
{
	int pair[2], error, port = f->wanted_port;

	if (port < 0)
		port = free_port();
	if (port < 0)
		return port == -2 ? -ENODEV : -EBUSY;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	error = attach(port, pair[0]);
	close(pair[0]);
	if (error) {
		close(pair[1]);
		return error;
	}
	f->fd = pair[1];
	f->in_length = 0;
	f->out_length = 0;
	return 0;
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

/* The computer let the machine go: as if somebody had pulled the cable. */
static void lost(struct usbip_front *f)
{
	unplug(f);
	machine_unplug(f->front.machine, MACHINE_NEVER);
	fputs("dealbox-emulator: the computer has detached the machine; the command \"plug\" plugs it in again\n",
	      stderr);
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
	struct transfer transfer = {
		.tag = message->seqnum,
		.endpoint = message->endpoint | (message->in && message->endpoint ? 0x80 : 0),
		.length = message->length < DEVICE_DATA_MAX ? message->length : DEVICE_DATA_MAX,
	};

	memcpy(transfer.setup, message->setup, sizeof(transfer.setup));
	if (message->data)
		memcpy(transfer.data, message->data, transfer.length);
	if (transfer.endpoint != DEVICE_EP_INT_IN) {
		if (!transfer.endpoint)
			front_trace(f->front.trace, now, "setup", 0, transfer.setup, 8);
		front_trace(f->front.trace, now, "submit", transfer.endpoint, transfer.data,
			    message->data ? transfer.length : 0);
	}
	device_submit(f->front.device, now, &transfer);
}

static void unlink_transfer(struct usbip_front *f, const struct usbip_message *message)
{
	int32_t status = device_cancel(f->front.device, message->unlink) ? -ECONNRESET : 0;

	usbip_ret_unlink(f->out + f->out_length, message->seqnum, status);
	f->out_length += USBIP_HEADER;
}

/* Takes messages while there is room for an answer. */
static void take_messages(struct usbip_front *f, uint64_t now)
{
	struct usbip_message message;
	size_t used = 0;
	int size = 0;

	while (f->fd >= 0 && f->out_length + USBIP_HEADER <= sizeof(f->out)) {
		size = usbip_decode(f->in + used, f->in_length - used, &message);
		if (size <= 0)
			break;
		used += size;
		if (message.command == USBIP_CMD_UNLINK)
			unlink_transfer(f, &message);
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
	return 1;
}

static void usbip_serve(struct front *front, const struct pollfd *fds, uint64_t now)
{
	struct usbip_front *f = (struct usbip_front *)front;
	ssize_t got;

	if (f->fd < 0 || fds[0].fd != f->fd || !fds[0].revents)
		return;
	got = recv(f->fd, f->in + f->in_length, sizeof(f->in) - f->in_length, MSG_DONTWAIT);
	if (got > 0) {
		f->in_length += got;
		take_messages(f, now);
	} else if (got == 0 || errno != EAGAIN) {
		lost(f);
	}
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

static void usbip_flush(struct front *front, uint64_t now)
{
	struct usbip_front *f = (struct usbip_front *)front;
	bool plugged = machine_view(front->machine).plugged;
	struct completion done;

	if (!plugged)
		unplug(f);
	else if (f->fd < 0 && now >= f->plug_at && plug(f))
		f->plug_at = now + RETRY_US;
	while (f->fd >= 0 && f->out_length + USBIP_HEADER + DEVICE_DATA_MAX <= sizeof(f->out) &&
	       device_reap(front->device, now, &done)) {
		send_completion(f, now, &done);
		/* room in the queue may let the mechanics go on */
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
		return machine_view(front->machine).plugged ? f->plug_at : MACHINE_NEVER;
	return f->out_length ? MACHINE_NEVER : device_next(front->device);
}

static void usbip_close(struct front *front)
{
	struct usbip_front *f = (struct usbip_front *)front;

	unplug(f);
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
		fputs("dealbox-emulator: --usbip: vhci_hcd is not there: modprobe vhci-hcd\n", stderr);
		break;
	case EACCES:
	case EPERM:
		fputs("dealbox-emulator: --usbip: only root may plug a machine in: use sudo, or --socket\n",
		      stderr);
		break;
	case EBUSY:
		fputs("dealbox-emulator: --usbip: no port of vhci_hcd is free, or the one of --port is not\n",
		      stderr);
		break;
	default:
		fprintf(stderr, "dealbox-emulator: --usbip: %s\n", strerror(-error));
	}
}

struct front *front_usbip_open(int port, struct device *device, struct machine *machine,
			       FILE *trace)
{
	struct usbip_front *f = calloc(1, sizeof(*f));
	int error;

	if (!f)
		return NULL;
	f->front = (struct front){ &usbip_ops, device, machine, trace };
	f->wanted_port = port;
	f->fd = -1;
	error = plug(f);
	if (error) {
		explain(error);
		free(f);
		return NULL;
	}
	return &f->front;
}
