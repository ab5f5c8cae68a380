/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Front for a virtual machine: QEMU's usb-redir, with the protocol of libusbredirparser on a Unix
 * socket. The guest sees the machine behind an ordinary host controller, and can suspend and resume
 * while this program continues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <usbredirparser.h>

#include "front_local.h"

/* A pending answer. Ids are the host's numbers of packets. */
struct asked {
	uint64_t id;
	uint8_t endpoint;
	struct usb_redir_control_packet_header control;
	bool bulk;
	bool used;
};

struct redir_front {
	struct local_front local;
	struct usbredirparser *parser;	/* while a host is connected */
	bool greeted, connected;
	bool receiving;			/* the host wants events */
	uint64_t events;		/* transfers of events so far */
	bool broken;			/* the connection must be closed */
	uint64_t now;			/* time, for callbacks of the parser */
	struct asked asked[DEVICE_PENDING_MAX];
};

static void hang_up(struct redir_front *f)
{
	if (f->connected)
		device_detach(f->local.front.device);
	if (f->parser)
		usbredirparser_destroy(f->parser);
	if (f->local.host >= 0)
		close(f->local.host);
	f->parser = NULL;
	f->local.host = -1;
	f->local.int_in = false;
	f->greeted = f->connected = f->receiving = f->broken = false;
	memset(f->asked, 0, sizeof(f->asked));
}

/* --- callbacks for the parser --------------------------------------------------------- */

static void on_log(void *context, int level, const char *text)
{
	(void)context;
	if (level == usbredirparser_error)
		fprintf(stderr, "dealbox-emulator: --usbredir: %s\n", text);
}

static int on_read(void *context, uint8_t *data, int length)
{
	struct redir_front *f = context;
	ssize_t got = recv(f->local.host, data, length, MSG_DONTWAIT);

	if (got > 0)
		return got;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	f->broken = true;
	return -1;
}

static int on_write(void *context, uint8_t *data, int length)
{
	struct redir_front *f = context;
	ssize_t sent = send(f->local.host, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent >= 0)
		return sent;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	f->broken = true;
	return -1;
}

/* --- transfers ------------------------------------------------------------------------ */

static struct asked *ask(struct redir_front *f, uint64_t id, uint8_t endpoint)
{
	size_t i;

	for (i = 0; i < DEVICE_PENDING_MAX; i++) {
		if (!f->asked[i].used) {
			f->asked[i] =
				(struct asked){ .id = id, .endpoint = endpoint, .used = true };
			return &f->asked[i];
		}
	}
	f->broken = true;	/* too many: no host does that */
	return NULL;
}

static struct asked *find(struct redir_front *f, uint64_t id)
{
	size_t i;

	for (i = 0; i < DEVICE_PENDING_MAX; i++)
		if (f->asked[i].used && f->asked[i].id == id)
			return &f->asked[i];
	return NULL;
}

static void submit(struct redir_front *f, struct transfer *transfer, const uint8_t *data)
{
	bool out = transfer->endpoint ? !(transfer->endpoint & 0x80) : !(transfer->setup[0] & 0x80);

	if (transfer->length > DEVICE_DATA_MAX)
		transfer->length = DEVICE_DATA_MAX;
	if (out && data)
		memcpy(transfer->data, data, transfer->length);
	if (transfer->endpoint != DEVICE_EP_INT_IN) {
		if (!transfer->endpoint)
			front_trace(f->local.front.trace, f->now, "setup", 0, transfer->setup, 8);
		front_trace(f->local.front.trace, f->now, "submit", transfer->endpoint,
			    transfer->data, out ? transfer->length : 0);
	}
	device_submit(f->local.front.device, f->now, transfer);
}

static void on_control(void *context, uint64_t id, struct usb_redir_control_packet_header *header,
		       uint8_t *data, int length)
{
	struct redir_front *f = context;
	struct transfer transfer = {
		.tag = id,
		.length = header->length,
		.setup = { header->requesttype, header->request, header->value & 0xff,
			   header->value >> 8, header->index & 0xff, header->index >> 8,
			   header->length & 0xff, header->length >> 8 },
	};
	struct asked *asked = ask(f, id, 0);

	if (asked) {
		asked->control = *header;
		if (!(header->requesttype & 0x80))
			transfer.length = length;
		submit(f, &transfer, data);
	}
	usbredirparser_free_packet_data(f->parser, data);
}

/* A transfer on a pipe: data for the machine, or a request for length bytes. */
static void on_bulk(void *context, uint64_t id, struct usb_redir_bulk_packet_header *header,
		    uint8_t *data, int length)
{
	struct redir_front *f = context;
	struct transfer transfer = { .tag = id, .endpoint = header->endpoint, .length = length };
	struct asked *asked = ask(f, id, header->endpoint);

	if (header->endpoint & 0x80)
		transfer.length = (uint32_t)header->length_high << 16 | header->length;
	if (asked) {
		asked->bulk = true;
		submit(f, &transfer, data);
	}
	usbredirparser_free_packet_data(f->parser, data);
}

static void on_interrupt(void *context, uint64_t id,
			 struct usb_redir_interrupt_packet_header *header, uint8_t *data,
			 int length)
{
	struct redir_front *f = context;
	struct transfer transfer = { .tag = id, .endpoint = header->endpoint, .length = length };

	if (ask(f, id, header->endpoint))
		submit(f, &transfer, data);
	usbredirparser_free_packet_data(f->parser, data);
}

/* Convert the kernel's status of a transfer to that of the protocol. */
static uint8_t redir_status(int32_t status)
{
	switch (-status) {
	case 0:
		return usb_redir_success;
	case EPIPE:
		return usb_redir_stall;
	case EOVERFLOW:
		return usb_redir_babble;
	case ETIME:
		return usb_redir_timeout;
	case ECONNRESET:
		return usb_redir_cancelled;
	default:
		return usb_redir_ioerror;
	}
}

static void answer(struct redir_front *f, struct asked *asked, int32_t status, uint32_t length,
		   uint8_t *data)
{
	struct usb_redir_bulk_packet_header bulk = {
		.endpoint = asked->endpoint, .status = redir_status(status),
		.length = length & 0xffff, .length_high = length >> 16,
	};
	struct usb_redir_interrupt_packet_header interrupt = {
		.endpoint = asked->endpoint, .status = redir_status(status), .length = length,
	};
	bool in = (asked->endpoint ? asked->endpoint : asked->control.requesttype) & 0x80;
	uint8_t *sent = in ? data : NULL;
	int sent_length = sent ? length : 0;

	asked->used = false;
	if (asked->bulk) {
		usbredirparser_send_bulk_packet(f->parser, asked->id, &bulk, sent,
						sent_length);
	} else if (asked->endpoint) {
		usbredirparser_send_interrupt_packet(f->parser, asked->id, &interrupt, NULL, 0);
	} else {
		asked->control.status = redir_status(status);
		asked->control.length = length;
		usbredirparser_send_control_packet(f->parser, asked->id, &asked->control,
						   sent, sent_length);
	}
}

static void on_cancel(void *context, uint64_t id)
{
	struct redir_front *f = context;
	struct asked *asked = find(f, id);

	if (asked && device_cancel(f->local.front.device, id))
		answer(f, asked, -ECONNRESET, 0, NULL);
}

static void stop_receiving(struct redir_front *f)
{
	if (f->local.int_in)
		device_cancel(f->local.front.device, INT_IN_TAG);
	f->local.int_in = false;
	f->receiving = false;
}

static void on_start_interrupt(void *context, uint64_t id,
			       struct usb_redir_start_interrupt_receiving_header *header)
{
	struct redir_front *f = context;
	struct usb_redir_interrupt_receiving_status_header status = {
		.status = usb_redir_success, .endpoint = header->endpoint,
	};

	if (header->endpoint == DEVICE_EP_INT_IN) {
		f->receiving = true;
		f->local.int_in_at = f->now;
	} else {
		status.status = usb_redir_inval;
	}
	usbredirparser_send_interrupt_receiving_status(f->parser, id, &status);
}

static void on_stop_interrupt(void *context, uint64_t id,
			      struct usb_redir_stop_interrupt_receiving_header *header)
{
	struct redir_front *f = context;
	struct usb_redir_interrupt_receiving_status_header status = {
		.status = usb_redir_success, .endpoint = header->endpoint,
	};

	stop_receiving(f);
	usbredirparser_send_interrupt_receiving_status(f->parser, id, &status);
}

/* --- the device ----------------------------------------------------------------------- */

/* Make a standard request without OUT data. Returns the length of the answer, or -1. */
static int standard(struct redir_front *f, const uint8_t *setup, uint8_t *data)
{
	struct transfer transfer = { .tag = INT_IN_TAG - 1, .length = setup[6] | setup[7] << 8 };
	struct completion done;

	memcpy(transfer.setup, setup, sizeof(transfer.setup));
	device_submit(f->local.front.device, f->now, &transfer);
	if (!device_reap(f->local.front.device, f->now, &done)) {
		device_cancel(f->local.front.device, transfer.tag);
		return -1;
	}
	if (done.status)
		return -1;
	memcpy(data, done.data, done.length);
	return done.length;
}

/* Describe interface and endpoints, which must precede the announcement of the device. */
static void describe(struct redir_front *f)
{
	static const uint8_t get_config[] = { 0x80, 6, 0, 2, 0, 0, 0, 1 };
	struct usb_redir_interface_info_header interfaces = { 0 };
	struct usb_redir_ep_info_header endpoints = { 0 };
	uint8_t data[DEVICE_DATA_MAX];
	int length, at, i;

	memset(endpoints.type, usb_redir_type_invalid, sizeof(endpoints.type));
	endpoints.type[0] = endpoints.type[16] = usb_redir_type_control;
	endpoints.max_packet_size[0] = endpoints.max_packet_size[16] = 64;
	length = standard(f, get_config, data);
	for (at = 0; at + 1 < length && data[at]; at += data[at]) {
		if (data[at + 1] == 4 && at + 9 <= length && interfaces.interface_count < 32) {
			i = interfaces.interface_count++;
			interfaces.interface[i] = data[at + 2];
			interfaces.interface_class[i] = data[at + 5];
			interfaces.interface_subclass[i] = data[at + 6];
			interfaces.interface_protocol[i] = data[at + 7];
		} else if (data[at + 1] == 5 && at + 7 <= length) {
			i = (data[at + 2] & 0x80) >> 3 | (data[at + 2] & 0x0f);
			endpoints.type[i] = data[at + 3] & 3;
			endpoints.max_packet_size[i] = data[at + 4] | data[at + 5] << 8;
			endpoints.interval[i] = data[at + 6];
		}
	}
	usbredirparser_send_interface_info(f->parser, &interfaces);
	usbredirparser_send_ep_info(f->parser, &endpoints);
}

static void connect_device(struct redir_front *f)
{
	static const uint8_t get_device[] = { 0x80, 6, 0, 1, 0, 0, 18, 0 };
	struct usb_redir_device_connect_header header = { .speed = usb_redir_speed_high };
	uint8_t data[DEVICE_DATA_MAX] = { 0 };

	if (standard(f, get_device, data) >= 18) {
		header.vendor_id = data[8] | data[9] << 8;
		header.product_id = data[10] | data[11] << 8;
		header.device_version_bcd = data[12] | data[13] << 8;
	}
	describe(f);
	usbredirparser_send_device_connect(f->parser, &header);
	f->connected = true;
}

static void disconnect_device(struct redir_front *f)
{
	stop_receiving(f);
	device_detach(f->local.front.device);
	memset(f->asked, 0, sizeof(f->asked));
	usbredirparser_send_device_disconnect(f->parser);
	f->connected = false;
}

static void on_hello(void *context, struct usb_redir_hello_header *header)
{
	struct redir_front *f = context;

	(void)header;
	f->greeted = true;
}

/* Bus reset: drop pending transfers. SET_CONFIGURATION follows. */
static void on_reset(void *context)
{
	struct redir_front *f = context;
	size_t i;

	stop_receiving(f);
	device_detach(f->local.front.device);
	for (i = 0; i < DEVICE_PENDING_MAX; i++)
		if (f->asked[i].used)
			answer(f, &f->asked[i], -EPROTO, 0, NULL);
}

static void on_set_configuration(void *context, uint64_t id,
				 struct usb_redir_set_configuration_header *header)
{
	const uint8_t set[] = { 0, 9, header->configuration, 0, 0, 0, 0, 0 };
	struct redir_front *f = context;
	struct usb_redir_configuration_status_header status = {
		.configuration = header->configuration,
	};
	uint8_t data[DEVICE_DATA_MAX];

	stop_receiving(f);
	status.status = standard(f, set, data) < 0 ? usb_redir_stall : usb_redir_success;
	describe(f);
	usbredirparser_send_configuration_status(f->parser, id, &status);
}

static void on_get_configuration(void *context, uint64_t id)
{
	static const uint8_t get[] = { 0x80, 8, 0, 0, 0, 0, 1, 0 };
	struct usb_redir_configuration_status_header status = { .status = usb_redir_success };
	uint8_t data[DEVICE_DATA_MAX];
	struct redir_front *f = context;

	if (standard(f, get, data) == 1)
		status.configuration = data[0];
	usbredirparser_send_configuration_status(f->parser, id, &status);
}

static void on_set_alt(void *context, uint64_t id, struct usb_redir_set_alt_setting_header *header)
{
	const uint8_t set[] = { 1, 11, header->alt, 0, header->interface, 0, 0, 0 };
	struct redir_front *f = context;
	struct usb_redir_alt_setting_status_header status = {
		.interface = header->interface, .alt = header->alt,
	};
	uint8_t data[DEVICE_DATA_MAX];

	status.status = standard(f, set, data) < 0 ? usb_redir_stall : usb_redir_success;
	usbredirparser_send_alt_setting_status(f->parser, id, &status);
}

static void on_get_alt(void *context, uint64_t id, struct usb_redir_get_alt_setting_header *header)
{
	struct redir_front *f = context;
	struct usb_redir_alt_setting_status_header status = {
		.status = usb_redir_success, .interface = header->interface,
	};

	usbredirparser_send_alt_setting_status(f->parser, id, &status);
}

/* --- unsupported transfers: the parser requires callbacks for them ----------------------- */

static void refuse_iso(struct redir_front *f, uint64_t id, uint8_t endpoint)
{
	struct usb_redir_iso_stream_status_header status = {
		.status = usb_redir_inval, .endpoint = endpoint,
	};

	usbredirparser_send_iso_stream_status(f->parser, id, &status);
}

static void on_start_iso(void *context, uint64_t id,
			 struct usb_redir_start_iso_stream_header *header)
{
	refuse_iso(context, id, header->endpoint);
}

static void on_stop_iso(void *context, uint64_t id, struct usb_redir_stop_iso_stream_header *header)
{
	refuse_iso(context, id, header->endpoint);
}

static void refuse_streams(struct redir_front *f, uint64_t id, uint32_t endpoints)
{
	struct usb_redir_bulk_streams_status_header status = {
		.endpoints = endpoints, .status = usb_redir_inval,
	};

	usbredirparser_send_bulk_streams_status(f->parser, id, &status);
}

static void on_alloc_streams(void *context, uint64_t id,
			     struct usb_redir_alloc_bulk_streams_header *header)
{
	refuse_streams(context, id, header->endpoints);
}

static void on_free_streams(void *context, uint64_t id,
			    struct usb_redir_free_bulk_streams_header *header)
{
	refuse_streams(context, id, header->endpoints);
}

static void on_iso(void *context, uint64_t id, struct usb_redir_iso_packet_header *header,
		   uint8_t *data, int length)
{
	struct redir_front *f = context;

	(void)id;
	(void)header;
	(void)length;
	usbredirparser_free_packet_data(f->parser, data);
}

static void on_filter_reject(void *context)
{
	(void)context;
}

static void on_filter(void *context, struct usbredirfilter_rule *rules, int count)
{
	(void)context;
	(void)count;
	free(rules);
}

static bool welcome(struct redir_front *f)
{
	uint32_t caps[USB_REDIR_CAPS_SIZE] = { 0 };
	struct usbredirparser *p = usbredirparser_create();

	if (!p)
		return false;
	p->priv = f;
	p->log_func = on_log;
	p->read_func = on_read;
	p->write_func = on_write;
	p->hello_func = on_hello;
	p->reset_func = on_reset;
	p->set_configuration_func = on_set_configuration;
	p->get_configuration_func = on_get_configuration;
	p->set_alt_setting_func = on_set_alt;
	p->get_alt_setting_func = on_get_alt;
	p->start_interrupt_receiving_func = on_start_interrupt;
	p->stop_interrupt_receiving_func = on_stop_interrupt;
	p->cancel_data_packet_func = on_cancel;
	p->control_packet_func = on_control;
	p->bulk_packet_func = on_bulk;
	p->interrupt_packet_func = on_interrupt;
	p->start_iso_stream_func = on_start_iso;
	p->stop_iso_stream_func = on_stop_iso;
	p->iso_packet_func = on_iso;
	p->alloc_bulk_streams_func = on_alloc_streams;
	p->free_bulk_streams_func = on_free_streams;
	p->filter_reject_func = on_filter_reject;
	p->filter_filter_func = on_filter;
	usbredirparser_caps_set_cap(caps, usb_redir_cap_connect_device_version);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_ep_info_max_packet_size);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_64bits_ids);
	/* Not needed, but QEMU refuses devices without it behind xHCI. */
	usbredirparser_caps_set_cap(caps, usb_redir_cap_32bits_bulk_length);
	usbredirparser_init(p, "dealbox-emulator", caps, USB_REDIR_CAPS_SIZE,
			    usbredirparser_fl_usb_host);
	f->parser = p;
	return true;
}

/* --- the front ------------------------------------------------------------------------ */

static unsigned int redir_poll(struct front *front, struct pollfd *fds)
{
	struct redir_front *f = (struct redir_front *)front;
	bool more = f->parser && usbredirparser_has_data_to_write(f->parser);

	fds[0] = (struct pollfd){ .fd = f->local.listener, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = f->local.host, .events = POLLIN | (more ? POLLOUT : 0) };
	return 2;
}

static void redir_serve(struct front *front, const struct pollfd *fds, uint64_t now)
{
	struct redir_front *f = (struct redir_front *)front;

	f->now = now;
	if (fds[1].fd >= 0 && fds[1].fd == f->local.host && fds[1].revents) {
		usbredirparser_do_read(f->parser);
		if (f->broken)
			hang_up(f);
	}
	if (fds[0].revents) {
		int fd = accept4(f->local.listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0 && (f->local.host >= 0 || !welcome(f)))
			close(fd);
		else if (fd >= 0)
			f->local.host = fd;
	}
}

static void complete(struct redir_front *f, uint64_t now, struct completion *done)
{
	struct usb_redir_interrupt_packet_header header = {
		.endpoint = DEVICE_EP_INT_IN, .status = redir_status(done->status),
		.length = done->length,
	};
	struct asked *asked = find(f, done->tag);

	front_trace(f->local.front.trace, now, "done", done->status, done->data,
		    done->in ? done->length : 0);
	if (asked) {
		answer(f, asked, done->status, done->length, done->data);
	} else if (done->tag == INT_IN_TAG) {
		local_front_took(&f->local, now, done);
		usbredirparser_send_interrupt_packet(f->parser, f->events++, &header, done->data,
						     done->length);
	}
}

static void redir_flush(struct front *front, uint64_t now)
{
	struct redir_front *f = (struct redir_front *)front;
	bool plugged = machine_view(front->machine).plugged;
	struct completion done;

	f->now = now;
	if (!f->greeted) {
		if (f->parser)
			usbredirparser_do_write(f->parser);
		return;
	}
	if (plugged && !f->connected)
		connect_device(f);
	else if (!plugged && f->connected)
		disconnect_device(f);
	/* Send no more before the host has read all. */
	while (f->connected && !f->broken && !usbredirparser_has_data_to_write(f->parser)) {
		if (f->receiving)
			local_front_give(&f->local, now);
		if (!device_reap(front->device, now, &done))
			break;
		complete(f, now, &done);
		/* Space in the event queue may let the mechanics continue. */
		machine_run(front->machine, now);
		usbredirparser_do_write(f->parser);
	}
	if (usbredirparser_has_data_to_write(f->parser))
		usbredirparser_do_write(f->parser);
	if (f->broken)
		hang_up(f);
}

static uint64_t redir_next(const struct front *front)
{
	const struct redir_front *f = (const struct redir_front *)front;

	if (!f->connected || usbredirparser_has_data_to_write(f->parser))
		return MACHINE_NEVER;
	return f->receiving ? local_front_next(&f->local) : device_next(front->device);
}

static void redir_close(struct front *front)
{
	struct redir_front *f = (struct redir_front *)front;

	hang_up(f);
	local_front_close(&f->local);
}

static const struct front_ops redir_ops = {
	.poll = redir_poll, .serve = redir_serve, .flush = redir_flush, .next = redir_next,
	.close = redir_close,
};

struct front *front_usbredir_open(const char *path, struct device *device,
				  struct machine *machine, FILE *trace)
{
	struct local_front *f = local_front_open(sizeof(struct redir_front), &redir_ops, path,
						 SOCK_STREAM, device, machine, trace);

	return f ? &f->front : NULL;
}
