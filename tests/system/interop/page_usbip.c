// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plugs the machine into vhci_hcd. USB/IP's numbers are big-endian; its header has 48 bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "page_machine.h"

#define MAX_URBS	16

static uint32_t waiting[MAX_URBS];	/* of the interrupt endpoint, oldest first */
static int waiting_count;

static uint32_t big(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static void put_big(uint8_t *p, uint32_t v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

static void transfer(int fd, void *buf, size_t length, int out)
{
	char *p = buf;
	ssize_t n;

	for (; length; length -= n, p += n) {
		n = out ? write(fd, p, length) : read(fd, p, length);
		if (n <= 0)
			exit(n < 0);	/* unplugged */
	}
}

static void answer(int fd, int type, uint32_t sequence, int status, const uint8_t *data, int length,
		   int actual)
{
	uint8_t packet[48 + 1024] = { 0 };

	put_big(packet, type);
	put_big(packet + 4, sequence);
	put_big(packet + 20, status);
	put_big(packet + 24, actual);
	if (length)
		memcpy(packet + 48, data, length);
	transfer(fd, packet, 48 + length, 1);
}

static void unlink_urb(int fd, uint32_t sequence, uint32_t victim)
{
	int i;

	for (i = 0; i < waiting_count && waiting[i] != victim; i++)
		;
	if (i < waiting_count)
		memmove(waiting + i, waiting + i + 1, (--waiting_count - i) * sizeof(*waiting));
	else
		i = -1;
	answer(fd, 4, sequence, i < 0 ? 0 : -ECONNRESET, NULL, 0, 0);
}

void usbip_serve(int fd)
{
	uint8_t h[48], data[1024] = { 0 };
	uint32_t sequence, in, endpoint, length;
	int got = -1;

	transfer(fd, h, sizeof(h), 0);
	sequence = big(h + 4);
	in = big(h + 12);
	endpoint = big(h + 16);
	length = big(h + 24);
	if (big(h) == 2) {
		unlink_urb(fd, sequence, big(h + 20));
		return;
	}
	if (!in) {
		if (length > sizeof(data))
			exit(1);
		transfer(fd, data, length, 0);
	}
	switch (endpoint) {
	case 0:
		got = control(h + 40, data);
		break;
	case 2:
		got = bulk(data, length) ? 0 : -1;
		break;
	case 3:
		if (waiting_count == MAX_URBS)
			exit(1);
		waiting[waiting_count++] = sequence;
		return;
	case 4:
		gate(data, length);
		got = 0;
		break;
	}
	answer(fd, 3, sequence, got < 0 ? -EPIPE : 0, data, in && got > 0 ? got : 0,
	       got < 0 ? 0 : in ? got : (int)length);
}

int usbip_attach(void)
{
	FILE *f = fopen("/sys/devices/platform/vhci_hcd.0/attach", "w");
	int fd[2];

	if (!f || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -1;
	/* port, socket, bus 1 device 1, high speed */
	fprintf(f, "%d %d %d 3", m.routed, fd[1], 0x10001);
	if (fclose(f)) {
		close(fd[0]);
		fd[0] = -1;
	}
	close(fd[1]);
	return fd[0];
}

int usbip_waits(void)
{
	return waiting_count;
}

void usbip_give(int fd, const uint8_t *events, int length)
{
	answer(fd, 3, waiting[0], 0, events, length, length);
	memmove(waiting, waiting + 1, --waiting_count * sizeof(*waiting));
}

void usbip_detach(int fd)
{
	close(fd);
	waiting_count = 0;
}
