// SPDX-License-Identifier: LGPL-2.1-or-later
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "stream_machine.h"
#include "usbip.h"
#include "vhci.h"
#include "machine_wire.h"

#define SETUP(type, request)	((type) << 8 | (request))
#define PENDING_MAX	64

struct machine {
	enum stream_kind kind;
	int usb, orders;
	uint8_t in[2 * USBIP_MESSAGE_MAX];
	size_t in_length;
	uint32_t pending[PENDING_MAX];	/* transfers that wait for a packet, oldest first */
	unsigned int pending_count;
	struct stream_order order;
	uint64_t due_ns;
	uint32_t next;		/* number of the next event */
	unsigned int queued;	/* packets */
	bool busy;		/* an order is being carried out */
	struct stream_report report;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void send_all(int fd, const void *data, size_t length)
{
	if (send(fd, data, length, MSG_NOSIGNAL) != (ssize_t)length)
		_exit(0);	/* the cable was pulled */
}

/* --- descriptors and requests ------------------------------------------------------- */

static const uint8_t hid_report[] = {
	0x06, 0x00, 0xff,	/* usage page: the vendor's */
	0x09, 0x01, 0xa1, 0x01,	/* collection */
	0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 0x08, 0x95, STREAM_PACKET,
	0x09, 0x01, 0x81, 0x02,	/* STREAM_PACKET bytes of input */
	0xc0,
};

static size_t descriptors(enum stream_kind kind, uint8_t *buf)
{
	static const uint8_t config[] = { 9, 2, 0, 0, 1, 1, 0, 0xc0, 50 };
	static const uint8_t dealing[] = {
		9, 4, 0, 0, 2, WIRE_CLASS, WIRE_SUBCLASS, WIRE_PROTOCOL, 0
	};
	static const uint8_t hid[] = {
		9, 4, 0, 0, 1, 3, 0, 0, 0,
		9, 0x21, 0x11, 0x01, 0, 1, 0x22, sizeof(hid_report), 0,
	};
	/* 125 µs */
	static const uint8_t in[] = { 7, 5, 0x82, 3, STREAM_PACKET, 0, 1 };
	static const uint8_t out[] = { 7, 5, 0x01, 2, 0, 2, 0 };
	static const struct wire_descriptor machine = {
		.version = WIRE_VERSION, .pockets = 4, .pocket_capacity = 64, .hopper = 52,
		.plan_entries = 52,
		.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_POSITION |
				DEALBOX_CAP_KEYS,
	};
	uint8_t *end = mempcpy(buf, config, sizeof(config));

	if (kind == STREAM_DEALING) {
		end = mempcpy(end, dealing, sizeof(dealing));
		wire_descriptor_put(end, &machine);
		end = mempcpy(end + WIRE_DESC_SIZE, out, sizeof(out));
	} else {
		end = mempcpy(end, hid, sizeof(hid));
	}
	end = mempcpy(end, in, sizeof(in));
	buf[2] = end - buf;
	return end - buf;
}

/* Returns the length of the answer, or -EPIPE. */
static int request(enum stream_kind kind, const uint8_t *setup, uint8_t *buf)
{
	static const uint8_t device[] = {
		18, 1, 0x00, 0x02, 0, 0, 0, 64, DEVICE_VENDOR & 0xff, DEVICE_VENDOR >> 8,
		DEVICE_PRODUCT & 0xff, DEVICE_PRODUCT >> 8, 0, 1, 0, 0, 0, 1,
	};
	static const struct wire_info info = { .version = WIRE_VERSION, .name = "stream" };

	switch (SETUP(setup[0], setup[1])) {
	case SETUP(0x80, 6):
		if (setup[3] == 1) {
			memcpy(buf, device, sizeof(device));
			return sizeof(device);
		}
		return setup[3] == 2 ? (int)descriptors(kind, buf) : -EPIPE;
	case SETUP(0x81, 6):
		memcpy(buf, hid_report, sizeof(hid_report));
		return kind == STREAM_HID ? (int)sizeof(hid_report) : -EPIPE;
	case SETUP(0x80, 0):
		memset(buf, 0, 2);
		return 2;
	case SETUP(0x00, 9):
	case SETUP(0x01, 11):
	case SETUP(0x02, 1):
	case SETUP(0x21, 10):	/* SET_IDLE */
		return 0;
	case SETUP(WIRE_REQ_IN, WIRE_GET_INFO):
		wire_info_put(buf, &info);
		return WIRE_INFO_SIZE;
	case SETUP(WIRE_REQ_IN, WIRE_GET_RESULT):
		wire_result_put(buf, &(struct wire_result){ 0 });
		return WIRE_RESULT_SIZE;
	case SETUP(WIRE_REQ_IN, WIRE_GET_STATUS):
		wire_status_put(buf, &(struct wire_status){ 0 });
		return WIRE_STATUS_SIZE;
	default:
		return -EPIPE;
	}
}

static void control(struct machine *m, const struct usbip_message *message)
{
	uint8_t buf[USBIP_HEADER + 512];
	int length = request(m->kind, message->setup, buf + USBIP_HEADER);
	uint32_t actual = length < 0 ? 0 : length;

	if (message->in && actual > message->length)
		actual = message->length;
	usbip_ret_submit(buf, message->seqnum, length < 0 ? length : 0,
			 message->in ? actual : message->length);
	send_all(m->usb, buf, USBIP_HEADER + (message->in ? actual : 0));
}

/* --- packets ----------------------------------------------------------------------------- */

static void produce(struct machine *m)
{
	m->order.packets--;
	m->queued++;
	if (m->queued > STREAM_QUEUE_PACKETS) {
		/* the host is too slow: drop the oldest packet */
		m->queued--;
		m->next += STREAM_EVENTS;
	}
}

static void send_packet(struct machine *m)
{
	struct wire_event event = {
		.type = DEALBOX_EV_KEY, .position = DEALBOX_NONE, .card = DEALBOX_NONE,
		.pocket = DEALBOX_NONE, .quality = DEALBOX_NONE, .code = DEALBOX_KEY_START,
	};
	uint8_t buf[USBIP_HEADER + STREAM_PACKET];
	int i;

	usbip_ret_submit(buf, m->pending[0], 0, STREAM_PACKET);
	m->pending_count--;
	memmove(m->pending, m->pending + 1, m->pending_count * sizeof(*m->pending));
	for (i = 0; i < STREAM_EVENTS; i++) {
		event.number = m->next++;
		event.arg[0] = i;
		wire_event_put(buf + USBIP_HEADER + i * WIRE_EVENT_SIZE, &event);
	}
	m->queued--;
	send_all(m->usb, buf, sizeof(buf));
}

/* Sends packets at the ordered rate; does not catch up after a time in which it could not run. */
static void run(struct machine *m, uint64_t now)
{
	if (m->order.packets && now >= m->due_ns) {
		produce(m);
		m->due_ns += m->order.period_ns;
		if (m->due_ns < now)
			m->due_ns = now + m->order.period_ns;
	}
	while (m->queued && m->pending_count)
		send_packet(m);
	if (m->busy && !m->order.packets && !m->queued) {
		m->busy = false;
		m->report.end = m->next;
		send_all(m->orders, &m->report, sizeof(m->report));
	}
}

/* --- messages of the kernel ------------------------------------------------------------------- */

static void cancel(struct machine *m, const struct usbip_message *message)
{
	uint8_t buf[USBIP_HEADER];
	int32_t status = 0;
	unsigned int i;

	for (i = 0; i < m->pending_count; i++) {
		if (m->pending[i] != message->unlink)
			continue;
		status = -ECONNRESET;
		m->pending_count--;
		memmove(m->pending + i, m->pending + i + 1,
			(m->pending_count - i) * sizeof(*m->pending));
		break;
	}
	usbip_ret_unlink(buf, message->seqnum, status);
	send_all(m->usb, buf, sizeof(buf));
}

static void take_messages(struct machine *m)
{
	struct usbip_message message;
	ssize_t got = recv(m->usb, m->in + m->in_length, sizeof(m->in) - m->in_length,
			   MSG_DONTWAIT);
	size_t used = 0;
	int size;

	if (got == 0 || (got < 0 && errno != EAGAIN))
		_exit(0);
	m->in_length += got > 0 ? got : 0;
	while ((size = usbip_decode(m->in + used, m->in_length - used, &message)) > 0) {
		used += size;
		if (message.command == USBIP_CMD_UNLINK)
			cancel(m, &message);
		else if (!message.endpoint)
			control(m, &message);
		else if (m->pending_count < PENDING_MAX)
			m->pending[m->pending_count++] = message.seqnum;
	}
	m->in_length -= used;
	memmove(m->in, m->in + used, m->in_length);
}

static void take_order(struct machine *m)
{
	if (recv(m->orders, &m->order, sizeof(m->order), 0) != sizeof(m->order))
		_exit(0);
	m->busy = true;
	m->report.first = m->next;
	m->due_ns = now_ns();
}

static void serve(struct machine *m)
{
	struct pollfd fds[] = {
		{ .fd = m->usb, .events = POLLIN }, { .fd = m->orders, .events = POLLIN },
	};

	/* timers may be late by this many ns; the default is 50 µs */
	prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		uint64_t now = now_ns(), wait = m->due_ns > now ? m->due_ns - now : 0;
		struct timespec time = { wait / 1000000000, wait % 1000000000 };

		if (ppoll(fds, 2, m->order.packets ? &time : NULL, NULL) < 0)
			_exit(3);
		if (fds[0].revents)
			take_messages(m);
		if (fds[1].revents)
			take_order(m);
		run(m, now_ns());
	}
}

void stream_plug(struct stream_machine *machine, enum stream_kind kind)
{
	static struct machine m;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		err(3, "socketpair");
	machine->pid = fork();
	if (machine->pid < 0)
		err(3, "fork");
	if (!machine->pid) {
		close(pair[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		m.kind = kind;
		m.orders = pair[1];
		m.next = 1;
		m.usb = vhci_plug(-1);
		if (m.usb < 0) {
			errno = -m.usb;
			err(3, "vhci_hcd");
		}
		serve(&m);
	}
	close(pair[1]);
	machine->orders = pair[0];
}

void stream_go(const struct stream_machine *machine, const struct stream_order *order)
{
	if (send(machine->orders, order, sizeof(*order), MSG_NOSIGNAL) != sizeof(*order))
		errx(3, "the machine has gone");
}

void stream_unplug(struct stream_machine *machine)
{
	kill(machine->pid, SIGKILL);
	waitpid(machine->pid, NULL, 0);
	close(machine->orders);
}
