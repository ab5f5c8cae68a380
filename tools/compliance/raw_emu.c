// SPDX-License-Identifier: LGPL-2.1-or-later
/* Raw access to dealbox-emulator: lib/machine/emu.h, as a host that tests. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "access.h"
#include "machine/emu.h"

#define ATTACH_MS	3000
#define BUS_MS		3000
/* After a plug is pulled, the emulator listens on. */
#define OPEN_TRIES	100
#define OPEN_PAUSE_MS	20

struct emu {
	struct access access;
	int fd;
	uint32_t id;
	bool woken;
};

struct packet {
	struct emu_frame frame;
	uint8_t data[EMU_DATA_MAX];
};

static int emu_send(struct emu *emu, uint32_t kind, uint32_t id, int32_t status, const void *head,
		    size_t head_length, const void *data, size_t length)
{
	struct emu_frame frame = { .kind = kind, .id = id, .status = status,
				   .length = (uint32_t)(head_length + length) };
	struct iovec parts[] = {
		{ &frame, sizeof(frame) }, { (void *)head, head_length }, { (void *)data, length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };

	return sendmsg(emu->fd, &message, MSG_NOSIGNAL) < 0 ? -ENODEV : 0;
}

/* Wait for an answer with this id. Returns its kind, -ETIMEDOUT or -ENODEV. */
static int emu_wait(struct emu *emu, uint32_t id, struct packet *packet, unsigned int ms)
{
	struct pollfd wait = { .fd = emu->fd, .events = POLLIN };
	uint64_t end = now_us() + ms * 1000ULL;

	for (;;) {
		uint64_t now = now_us();
		ssize_t size;

		if (poll(&wait, 1, now < end ? (int)((end - now + 999) / 1000) : 0) <= 0) {
			if (now_us() >= end)
				return -ETIMEDOUT;
			continue;
		}
		size = recv(emu->fd, packet, sizeof(*packet), 0);
		if (size < (ssize_t)sizeof(packet->frame) ||
		    packet->frame.length != (size_t)size - sizeof(packet->frame))
			return -ENODEV;
		if (packet->frame.kind == EMU_WAKEUP)
			emu->woken = true;
		else if (packet->frame.id == id)
			return (int)packet->frame.kind;
		if (!id && emu->woken)
			return EMU_WAKEUP;
	}
}

static int emu_done(const struct packet *packet, size_t otherwise)
{
	return packet->frame.status ? packet->frame.status : (int)otherwise;
}

static int emu_control(struct access *access, const uint8_t setup[8], void *data, unsigned int ms)
{
	struct emu *emu = (struct emu *)access;
	size_t length = setup[6] | setup[7] << 8;
	bool in = setup[0] & 0x80;
	struct packet packet;
	uint32_t id = ++emu->id;
	int ret;

	if (!in && length > EMU_DATA_MAX - 8)
		return -EOPNOTSUPP;
	ret = emu_send(emu, EMU_CONTROL, id, 0, setup, 8, data, in ? 0 : length);
	if (!ret)
		ret = emu_wait(emu, id, &packet, ms);
	if (ret < 0)
		return ret;
	if (in && !packet.frame.status) {
		if (packet.frame.length < length)
			length = packet.frame.length;
		memcpy(data, packet.data, length);
	}
	return emu_done(&packet, length);
}

static int emu_out(struct access *access, uint8_t endpoint, const void *data, size_t length,
		   unsigned int ms)
{
	struct emu *emu = (struct emu *)access;
	struct packet packet;
	uint32_t id = ++emu->id;
	int ret;

	ret = emu_send(emu, endpoint == EMU_EP_INT_OUT ? EMU_INT_OUT : EMU_BULK_OUT, id, 0, NULL,
		       0, data, length);
	if (!ret)
		ret = emu_wait(emu, id, &packet, ms);
	if (ret < 0)
		return ret;
	return emu_done(&packet, length);
}

static int emu_in(struct access *access, uint8_t endpoint, void *data, size_t size,
		  unsigned int ms)
{
	struct emu *emu = (struct emu *)access;
	uint32_t id = ++emu->id, room = (uint32_t)size;
	struct packet packet;
	int ret;

	(void)endpoint;		/* there is one */
	ret = emu_send(emu, EMU_INT_GET, id, 0, NULL, 0, &room, sizeof(room));
	if (!ret)
		ret = emu_wait(emu, id, &packet, ms);
	if (ret == -ETIMEDOUT) {
		emu_send(emu, EMU_CANCEL, id, 0, NULL, 0, NULL, 0);
		ret = emu_wait(emu, id, &packet, BUS_MS);
	}
	if (ret < 0)
		return ret == -ETIMEDOUT ? -ENODEV : ret;
	if (ret == EMU_CANCELLED)
		return -ETIMEDOUT;
	if (packet.frame.length > size)
		return -EOVERFLOW;
	memcpy(data, packet.data, packet.frame.length);
	return emu_done(&packet, packet.frame.length);
}

static int emu_bus(struct access *access, enum emu_bus what)
{
	struct emu *emu = (struct emu *)access;
	uint32_t id = ++emu->id;
	struct packet packet;
	int ret;

	ret = emu_send(emu, EMU_BUS, id, what, NULL, 0, NULL, 0);
	if (!ret)
		ret = emu_wait(emu, id, &packet, BUS_MS);
	return ret < 0 ? ret : 0;
}

static int emu_reset(struct access *access)
{
	return emu_bus(access, EMU_BUS_RESET);
}

static int emu_suspend(struct access *access)
{
	struct emu *emu = (struct emu *)access;

	emu->woken = false;
	return emu_bus(access, EMU_BUS_SUSPEND);
}

static int emu_wakeup(struct access *access, unsigned int ms)
{
	struct emu *emu = (struct emu *)access;
	struct packet packet;
	int ret = emu->woken ? 0 : emu_wait(emu, 0, &packet, ms);

	return ret < 0 ? ret : 0;
}

static int emu_resume(struct access *access)
{
	return emu_bus(access, EMU_BUS_RESUME);
}

static void emu_close(struct access *access)
{
	struct emu *emu = (struct emu *)access;

	close(emu->fd);
	free(emu);
}

static const struct access_ops emu_ops = {
	.control = emu_control, .out = emu_out, .in = emu_in, .reset = emu_reset,
	.suspend = emu_suspend, .wakeup = emu_wakeup, .resume = emu_resume, .close = emu_close,
};

static int emu_attach(struct emu *emu, const struct sockaddr_un *address)
{
	struct packet packet;
	int ret;

	emu->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (emu->fd < 0)
		return -errno;
	ret = connect(emu->fd, (const struct sockaddr *)address, sizeof(*address)) ? -errno : 0;
	if (!ret)
		ret = emu_send(emu, EMU_ATTACH_RAW, EMU_VERSION, 0, NULL, 0, NULL, 0);
	/* A machine in use answers with another id and closes the socket. */
	if (!ret) {
		ret = emu_wait(emu, EMU_VERSION, &packet, ATTACH_MS);
		ret = ret < 0 ? ret : packet.frame.status;
	}
	if (ret)
		close(emu->fd);
	return ret;
}

struct access *access_open_emu(const char *path, char *error, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct emu *emu = calloc(1, sizeof(*emu));
	int ret = -ENOMEM, tries;

	if (emu && strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
		emu->access.ops = &emu_ops;
		/* The machine may be unplugged at this moment, and be plugged in again soon. */
		for (tries = 0; tries < OPEN_TRIES; tries++) {
			ret = emu_attach(emu, &address);
			if (ret != -ENODEV)
				break;
			poll(NULL, 0, OPEN_PAUSE_MS);
		}
		if (!ret)
			return &emu->access;
	}
	snprintf(error, size,
		 "emu:%s: %s; start the machine with `dealbox-emulator --socket %s`, "
		 "of the same version",
		 path, strerror(-ret), path);
	free(emu);
	return NULL;
}
