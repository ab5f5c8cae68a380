// SPDX-License-Identifier: LGPL-2.1-or-later
/* usb: the backend that uses libusb, for machines without the kernel module. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libusb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

struct endpoints {
	uint8_t bulk_out;
	uint8_t in;		/* events: interrupt, or bulk */
	uint8_t gate;		/* gate commands: interrupt, or bulk; 0 = none */
	uint16_t in_size;
	bool bulk;		/* these two are bulk */
};

struct gate {
	struct usb *usb;
	struct libusb_transfer *transfer;
	bool in_flight;
	uint8_t data[DEALBOX_GATE_MAX];
};

struct usb {
	struct host *host;
	libusb_context *context;
	libusb_device_handle *handle;
	int node_fd;
	int interface;
	bool claimed;
	bool gone;
	struct endpoints ep;
	struct libusb_transfer *control;
	int control_ended;
	uint8_t control_data[LIBUSB_CONTROL_SETUP_SIZE + WIRE_DATA_MAX];
	struct libusb_transfer *in;
	bool in_flight;
	bool in_halted;
	bool in_reset;		/* reset the machine before the retry */
	int retry_fd;		/* timer: expires when the transfer is to be retried */
	struct gate gates[DEALBOX_GATES];
	bool gate_halted;	/* retry_run() or the next bulk transfer clears it */
};

static int usb_errno(int error)
{
	static const struct {
		int usb;
		int error;
	} table[] = {
		{ LIBUSB_ERROR_ACCESS, -EACCES },
		{ LIBUSB_ERROR_NO_DEVICE, -ENODEV },
		{ LIBUSB_ERROR_NOT_FOUND, -ENODEV },
		{ LIBUSB_ERROR_BUSY, -EBUSY },
		{ LIBUSB_ERROR_TIMEOUT, -ETIMEDOUT },
		{ LIBUSB_ERROR_OVERFLOW, -EOVERFLOW },
		{ LIBUSB_ERROR_PIPE, -EPIPE },
		{ LIBUSB_ERROR_INTERRUPTED, -EINTR },
		{ LIBUSB_ERROR_NO_MEM, -ENOMEM },
	};
	size_t n;

	for (n = 0; n < sizeof(table) / sizeof(*table); n++)
		if (table[n].usb == error)
			return table[n].error;
	return -EIO;
}

/* With 0 ms, retry at once, but after the callback. */
static void retry_arm(struct usb *usb, uint32_t ms)
{
	const struct itimerspec timer = { .it_value = { .tv_nsec = ms ? ms * 1000000L : 1 } };

	timerfd_settime(usb->retry_fd, 0, &timer, NULL);
}

static void in_submit(struct usb *usb)
{
	int ret;

	host_try_receive(usb->host);
	ret = libusb_submit_transfer(usb->in);
	usb->in_flight = !ret;
	if (ret == LIBUSB_ERROR_NO_DEVICE)
		usb->gone = true;
	else if (ret)
		retry_arm(usb, host_receive_failed(usb->host, &usb->in_reset));
}

static void in_submit_after(struct usb *usb, uint32_t pause)
{
	if (pause || usb->in_halted)
		retry_arm(usb, pause);
	else
		in_submit(usb);
}

static void LIBUSB_CALL in_done(struct libusb_transfer *transfer)
{
	struct usb *usb = transfer->user_data;

	usb->in_flight = false;
	switch (transfer->status) {
	case LIBUSB_TRANSFER_COMPLETED:
		in_submit_after(usb, host_receive(usb->host, transfer->buffer,
						  (size_t)transfer->actual_length));
		break;
	case LIBUSB_TRANSFER_CANCELLED:
		break;
	case LIBUSB_TRANSFER_NO_DEVICE:
		usb->gone = true;
		break;
	default:	/* a bad cable, or the first sign of an unplug */
		usb->in_halted = transfer->status == LIBUSB_TRANSFER_STALL;
		in_submit_after(usb, host_receive_failed(usb->host, &usb->in_reset));
		break;
	}
}

static void gates_cancel(struct usb *usb)
{
	size_t n;

	for (n = 0; n < DEALBOX_GATES; n++)
		if (usb->gates[n].in_flight)
			libusb_cancel_transfer(usb->gates[n].transfer);
}

static bool gates_in_flight(const struct usb *usb)
{
	bool any = false;
	size_t n;

	for (n = 0; n < DEALBOX_GATES; n++)
		any |= usb->gates[n].in_flight;
	return any;
}

/* Clear the halt of an OUT endpoint. No gate command may be in flight there meanwhile. */
static void out_clear(struct usb *usb, uint8_t endpoint)
{
	struct timeval second = { .tv_sec = 1 };

	host_hold_gates(usb->host);
	gates_cancel(usb);
	while (gates_in_flight(usb))
		if (libusb_handle_events_timeout_completed(usb->context, &second, NULL))
			break;
	libusb_clear_halt(usb->handle, endpoint);
	usb->gate_halted = false;
	host_allow_gates(usb->host);
}

/* Reset the machine, clear halts and resubmit, none of which a callback may do. */
static void retry_run(struct usb *usb)
{
	uint64_t count;
	int ret;

	if (usb->gone || read(usb->retry_fd, &count, sizeof(count)) != sizeof(count))
		return;
	if (usb->gate_halted)
		out_clear(usb, usb->ep.gate);
	if (usb->in_flight)
		return;
	if (usb->in_reset) {
		/* The machine reports the loss of its deal (STATE_LOST). */
		ret = libusb_reset_device(usb->handle);
		usb->gone = ret == LIBUSB_ERROR_NOT_FOUND || ret == LIBUSB_ERROR_NO_DEVICE;
		if (usb->gone)
			return;
		host_was_reset(usb->host);
	} else if (usb->in_halted) {
		libusb_clear_halt(usb->handle, usb->ep.in);
	}
	usb->in_reset = false;
	usb->in_halted = false;
	in_submit(usb);
}

static int usb_pump(void *bus, int timeout_ms)
{
	struct usb *usb = bus;
	struct timeval wait;

	if (!usb->in_flight && timeout_ms > RETRY_FIRST_MS)
		timeout_ms = RETRY_FIRST_MS;	/* a retry may become due */
	wait.tv_sec = timeout_ms / 1000;
	wait.tv_usec = timeout_ms % 1000 * 1000;
	libusb_handle_events_timeout_completed(usb->context, &wait, NULL);
	retry_run(usb);
	return usb->gone ? -ENODEV : 0;
}

static void LIBUSB_CALL control_done(struct libusb_transfer *transfer)
{
	struct usb *usb = transfer->user_data;

	usb->control_ended = 1;
}

/* Submit usb->control and wait for its end. Returns the number of bytes, or -errno. */
static int control_run(struct usb *usb)
{
	static const int errors[] = {
		[LIBUSB_TRANSFER_ERROR] = -EIO, [LIBUSB_TRANSFER_TIMED_OUT] = -ETIMEDOUT,
		[LIBUSB_TRANSFER_CANCELLED] = -EIO, [LIBUSB_TRANSFER_STALL] = -EPIPE,
		[LIBUSB_TRANSFER_NO_DEVICE] = -ENODEV, [LIBUSB_TRANSFER_OVERFLOW] = -EOVERFLOW,
	};
	struct timeval second = { .tv_sec = 1 };
	int ret;

	usb->control_ended = 0;
	ret = libusb_submit_transfer(usb->control);
	if (ret)
		return usb_errno(ret);
	while (!usb->control_ended) {
		ret = libusb_handle_events_timeout_completed(usb->context, &second,
							     &usb->control_ended);
		if (ret && ret != LIBUSB_ERROR_INTERRUPTED)
			libusb_cancel_transfer(usb->control);
	}
	return usb->control->status == LIBUSB_TRANSFER_COMPLETED ? usb->control->actual_length :
	       errors[usb->control->status];
}

/* libusb_control_transfer() would leave a copy of the data behind, which may be a nonce. */
static int usb_control(void *bus, uint8_t type, uint8_t request, uint16_t value, void *data,
		       uint16_t length)
{
	struct usb *usb = bus;
	uint8_t *payload = usb->control_data + LIBUSB_CONTROL_SETUP_SIZE;
	int ret;

	libusb_fill_control_setup(usb->control_data, type, request, value, (uint16_t)usb->interface,
				  length);
	libusb_fill_control_transfer(usb->control, usb->handle, usb->control_data, control_done,
				     usb, WIRE_CONTROL_HOST_MS);
	if (!(type & LIBUSB_ENDPOINT_IN))
		memcpy(payload, data, length);
	ret = control_run(usb);
	if (ret > 0 && type & LIBUSB_ENDPOINT_IN)
		memcpy(data, payload, (size_t)ret);
	explicit_bzero(usb->control_data, sizeof(usb->control_data));
	return ret;
}

static int usb_bulk_out(void *bus, const void *data, size_t length, unsigned int ms)
{
	struct usb *usb = bus;
	int done = 0;
	int ret;

	/* A halt by a gate command would fail this transfer where they share the endpoint. */
	if (usb->gate_halted)
		out_clear(usb, usb->ep.gate);
	ret = libusb_bulk_transfer(usb->handle, usb->ep.bulk_out, (unsigned char *)data,
				   (int)length, &done, ms);
	if (ret == LIBUSB_ERROR_PIPE)
		out_clear(usb, usb->ep.bulk_out);
	if (ret)
		return usb_errno(ret);
	return (size_t)done == length ? 0 : -EIO;
}

static int gate_status(enum libusb_transfer_status status)
{
	switch (status) {
	case LIBUSB_TRANSFER_COMPLETED:
		return 0;
	case LIBUSB_TRANSFER_STALL:
		return -EPIPE;
	default:
		return -EIO;
	}
}

static void LIBUSB_CALL gate_done(struct libusb_transfer *transfer)
{
	struct gate *gate = transfer->user_data;
	struct usb *usb = gate->usb;

	gate->in_flight = false;
	if (!host_gate_done(usb->host, gate_status(transfer->status)))
		return;
	/* The command is lost. A pending retry of the event pipe clears this halt too. */
	usb->gate_halted = true;
	if (usb->in_flight)
		retry_arm(usb, RETRY_FIRST_MS);
}

static int usb_gate_out(void *bus, const void *data, size_t length)
{
	struct usb *usb = bus;
	struct gate *gate = usb->gates;
	int ret;

	if (!usb->ep.gate)
		return -ENXIO;
	while (gate->in_flight)		/* one is free */
		gate++;
	memcpy(gate->data, data, length);
	libusb_fill_interrupt_transfer(gate->transfer, usb->handle, usb->ep.gate, gate->data,
				       (int)length, gate_done, gate, DEALBOX_GATE_MS);
	if (usb->ep.bulk)
		gate->transfer->type = LIBUSB_TRANSFER_TYPE_BULK;
	ret = libusb_submit_transfer(gate->transfer);
	gate->in_flight = !ret;
	return ret ? usb_errno(ret) : 0;
}

static void LIBUSB_CALL pollfd_added(int fd, short events, void *user_data)
{
	struct usb *usb = user_data;

	/* poll(2) and epoll(7) have the same event bits. */
	host_watch(usb->host, fd, (uint32_t)events);
}

static void LIBUSB_CALL pollfd_removed(int fd, void *user_data)
{
	struct usb *usb = user_data;

	host_unwatch(usb->host, fd);
}

static int pollfds_watch(struct usb *usb)
{
	const struct libusb_pollfd **list = libusb_get_pollfds(usb->context);
	const struct libusb_pollfd **one;
	int ret = list ? 0 : -ENOMEM;

	for (one = list; !ret && *one; one++)
		ret = host_watch(usb->host, (*one)->fd, (uint32_t)(*one)->events);
	libusb_free_pollfds(list);
	if (!ret)
		ret = host_watch(usb->host, usb->retry_fd, EPOLLIN);
	if (!ret)
		libusb_set_pollfd_notifiers(usb->context, pollfd_added, pollfd_removed, usb);
	return ret;
}

static void usb_close(void *bus)
{
	struct timeval second = { .tv_sec = 1 };
	struct usb *usb = bus;
	size_t n;

	if (usb->in_flight)
		libusb_cancel_transfer(usb->in);
	gates_cancel(usb);
	while (usb->in_flight || gates_in_flight(usb))
		if (libusb_handle_events_timeout_completed(usb->context, &second, NULL))
			break;
	if (usb->context)
		libusb_set_pollfd_notifiers(usb->context, NULL, NULL, NULL);
	if (usb->claimed)
		libusb_release_interface(usb->handle, usb->interface);
	if (usb->in && usb->in->buffer) {
		explicit_bzero(usb->in->buffer, usb->ep.in_size);	/* events name cards */
		free(usb->in->buffer);
	}
	libusb_free_transfer(usb->in);
	libusb_free_transfer(usb->control);
	for (n = 0; n < DEALBOX_GATES; n++)
		libusb_free_transfer(usb->gates[n].transfer);
	if (usb->handle)
		libusb_close(usb->handle);
	if (usb->context)
		libusb_exit(usb->context);
	if (usb->retry_fd >= 0)
		close(usb->retry_fd);
	if (usb->node_fd >= 0)
		close(usb->node_fd);
	explicit_bzero(usb, sizeof(*usb));
	free(usb);
}

static const struct host_bus usb_bus = {
	.control = usb_control,
	.bulk_out = usb_bulk_out,
	.gate_out = usb_gate_out,
	.pump = usb_pump,
	.close = usb_close,
};

/*
 * Return the process that has the node open, 0 if none. Finds only processes that this user may
 * inspect.
 */
static uint32_t node_holder(const char *node)
{
	char path[64], target[sizeof(((struct usb_place *)0)->node) + 1];
	DIR *procs = opendir("/proc");
	struct dirent *proc, *link;
	uint32_t holder = 0;
	ssize_t length;
	DIR *fds;

	while (procs && !holder && (proc = readdir(procs))) {
		if (proc->d_name[0] < '1' || proc->d_name[0] > '9' ||
		    strtoul(proc->d_name, NULL, 10) == (unsigned long)getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/fd", proc->d_name);
		fds = opendir(path);
		while (fds && !holder && (link = readdir(fds))) {
			length = readlinkat(dirfd(fds), link->d_name, target, sizeof(target) - 1);
			target[length > 0 ? length : 0] = '\0';
			if (!strcmp(target, node))
				holder = (uint32_t)strtoul(proc->d_name, NULL, 10);
		}
		if (fds)
			closedir(fds);
	}
	if (procs)
		closedir(procs);
	return holder;
}

static int reason_claim(struct dealbox_error *reason, const struct usb_place *place, int error)
{
	char name[64];

	if (error != LIBUSB_ERROR_BUSY)
		return error_set(reason, usb_errno(error), 0,
				 "plug it in again, or try another port",
				 "usb:%s: cannot claim the machine: %s", place->port,
				 libusb_strerror(error));
	if (!strcmp(place->driver, "dealbox"))
		return error_set(reason, -EBUSY, 0,
				 "use its local: address; `dealbox machines` shows it",
				 "usb:%s: the kernel module drives this machine", place->port);
	return error_set(reason, -EBUSY, 0, "wait until it has finished, or end it",
			 "usb:%s: the machine is in use by %s", place->port,
			 process_name(node_holder(place->node), name, sizeof(name)));
}

static uint8_t endpoint_find(const struct libusb_interface_descriptor *interface, uint8_t type,
			     uint8_t direction, uint16_t *size)
{
	const struct libusb_endpoint_descriptor *e;
	int n;

	for (n = 0; n < interface->bNumEndpoints; n++) {
		e = &interface->endpoint[n];
		if ((e->bmAttributes & LIBUSB_TRANSFER_TYPE_MASK) == type &&
		    (e->bEndpointAddress & LIBUSB_ENDPOINT_DIR_MASK) == direction) {
			*size = e->wMaxPacketSize & 0x7ff;
			return e->bEndpointAddress;
		}
	}
	return 0;
}

/* Events and gate commands have interrupt pipes. */
static bool interrupt_pipes(struct endpoints *ep,
			    const struct libusb_interface_descriptor *interface)
{
	uint16_t unused;

	ep->bulk_out = endpoint_find(interface, LIBUSB_TRANSFER_TYPE_BULK, LIBUSB_ENDPOINT_OUT,
				     &unused);
	ep->in = endpoint_find(interface, LIBUSB_TRANSFER_TYPE_INTERRUPT, LIBUSB_ENDPOINT_IN,
			       &ep->in_size);
	ep->gate = endpoint_find(interface, LIBUSB_TRANSFER_TYPE_INTERRUPT, LIBUSB_ENDPOINT_OUT,
				 &unused);
	return ep->bulk_out && ep->in && ep->in_size >= WIRE_INT_IN_MIN;
}

/* All messages use one pair of bulk pipes. */
static bool bulk_pipes(struct endpoints *ep, const struct libusb_interface_descriptor *interface)
{
	uint16_t out_size = 0;

	ep->bulk_out = endpoint_find(interface, LIBUSB_TRANSFER_TYPE_BULK, LIBUSB_ENDPOINT_OUT,
				     &out_size);
	ep->in = endpoint_find(interface, LIBUSB_TRANSFER_TYPE_BULK, LIBUSB_ENDPOINT_IN,
			       &ep->in_size);
	ep->gate = ep->bulk_out;
	ep->bulk = true;
	return ep->bulk_out && ep->in && out_size >= 8 && ep->in_size >= 8;
}

static bool interface_describe(struct usb *usb, const struct libusb_interface_descriptor *alt,
			       struct host_kind *kind)
{
	int error;

	if (alt->bInterfaceNumber != usb->interface || alt->bInterfaceClass != WIRE_CLASS ||
	    alt->bInterfaceSubClass != WIRE_SUBCLASS)
		return false;
	kind->dialect = usb_dialect(alt->bInterfaceProtocol);
	if (!kind->dialect)
		return false;
	/* The others are queried later, and so is who has no descriptor: docs/protocol.md, 1.1. */
	if (!kind->dialect->described) {
		error = dealbox_read_descriptor(alt->extra, (size_t)alt->extra_length,
						&kind->machine);
		if (error && error != -ENOENT)
			return false;
	}
	return kind->dialect->bulk ? bulk_pipes(&usb->ep, alt) : interrupt_pipes(&usb->ep, alt);
}

/* Return false if the descriptors are not those of a machine. Sets *kind. */
static bool machine_describe(struct usb *usb, struct host_kind *kind)
{
	struct libusb_config_descriptor *config;
	bool good = false;
	int n;

	if (libusb_get_active_config_descriptor(libusb_get_device(usb->handle), &config))
		return false;
	for (n = 0; n < config->bNumInterfaces && !good; n++)
		good = config->interface[n].num_altsetting &&
		       interface_describe(usb, &config->interface[n].altsetting[0], kind);
	libusb_free_config_descriptor(config);
	kind->transfer_size = usb->ep.in_size;
	return good;
}

/*
 * Block all signals in the threads of libusb: the program must handle them, for instance to pause
 * the machine before it exits.
 */
static int libusb_init_without_signals(libusb_context **context)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = libusb_init(context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static int node_open(struct usb *usb, const struct usb_place *place, struct dealbox_error *reason)
{
	int ret;

	usb->node_fd = open(place->node, O_RDWR | O_CLOEXEC);
	if (usb->node_fd < 0) {
		if (errno == EACCES || errno == EPERM)
			return reason_permission(reason, place->node, NO_RULE);
		return error_set(reason, -errno, 0, "plug it in again", "cannot open %s: %m",
				 place->node);
	}
	ret = libusb_init_without_signals(&usb->context);
	if (!ret)
		ret = libusb_wrap_sys_device(usb->context, usb->node_fd, &usb->handle);
	if (ret)
		return error_set(reason, usb_errno(ret), 0, NULL,
				 "usb:%s: cannot use the device: %s", place->port,
				 libusb_strerror(ret));
	ret = libusb_claim_interface(usb->handle, place->interface);
	if (ret)
		return reason_claim(reason, place, ret);
	usb->claimed = true;
	usb->interface = place->interface;
	return 0;
}

static int in_prepare(struct usb *usb)
{
	uint8_t *buffer = malloc(usb->ep.in_size);
	bool gates = true;
	size_t n;

	usb->in = libusb_alloc_transfer(0);
	usb->control = libusb_alloc_transfer(0);
	for (n = 0; n < DEALBOX_GATES; n++) {
		usb->gates[n].usb = usb;
		usb->gates[n].transfer = libusb_alloc_transfer(0);
		gates &= usb->gates[n].transfer != NULL;
	}
	usb->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!buffer || !usb->in || !usb->control || !gates || usb->retry_fd < 0) {
		free(buffer);
		return -ENOMEM;
	}
	libusb_fill_interrupt_transfer(usb->in, usb->handle, usb->ep.in, buffer,
				       usb->ep.in_size, in_done, usb, 0);
	if (usb->ep.bulk)
		usb->in->type = LIBUSB_TRANSFER_TYPE_BULK;
	return 0;
}

/*
 * Ask for a descriptor that is not among those of USB, before anything is sent. Returns false if
 * the device is not a machine.
 */
static bool machine_complete(struct usb *usb, struct host_kind *kind)
{
	if (!kind->machine.pockets && !kind->dialect->described &&
	    host_describe(usb->host, &kind->machine))
		return false;
	return usb->ep.gate || !(kind->machine.capabilities & DEALBOX_CAP_HOST_ROUTED);
}

static int refuse_descriptor(struct dealbox_error *reason, const struct usb_place *place)
{
	return error_set(reason, -EPROTO, 0, "its firmware may be too new or broken",
			 "usb:%s: the machine's descriptors are not those of protocol %u.%u",
			 place->port, WIRE_VERSION >> 8, WIRE_VERSION & 0xff);
}

static int usb_open(struct dealbox_machine *machine, const char *where, bool observe)
{
	struct dealbox_error *reason = &machine->reason;
	struct host_kind kind = { 0 };
	struct usb_place place = { 0 };
	struct usb *usb;
	int ret;

	ret = usb_place_find(where, &place, reason);
	if (ret)
		return ret;
	usb = calloc(1, sizeof(*usb));
	if (!usb)
		return error_set(reason, -ENOMEM, 0, NULL, "out of memory");
	usb->node_fd = -1;
	usb->retry_fd = -1;
	ret = node_open(usb, &place, reason);
	if (ret)
		goto close_bus;
	if (!machine_describe(usb, &kind)) {
		ret = refuse_descriptor(reason, &place);
		goto close_bus;
	}
	ret = in_prepare(usb);
	if (!ret) {
		usb->host = host_new(&usb_bus, usb, &kind, place.serial, observe);
		if (!usb->host)
			ret = -ENOMEM;
	}
	if (ret) {
		error_fill(reason, ret, 0, NULL, "out of memory");
		goto close_bus;
	}
	if (!machine_complete(usb, &kind)) {
		ret = refuse_descriptor(reason, &place);
		host_close(usb->host);
		return ret;
	}
	ret = pollfds_watch(usb);
	if (!ret) {
		in_submit(usb);
		ret = host_start(usb->host);
	}
	if (ret) {
		error_fill(reason, ret, 0, "switch the machine off and on",
			   "usb:%s: the machine does not answer: %s", place.port, strerror(-ret));
		host_close(usb->host);
		return ret;
	}
	machine->self = usb->host;
	machine->fd = host_fd(usb->host);
	snprintf(machine->uri, sizeof(machine->uri), "usb:%s", place.port);
	return 0;

close_bus:
	usb_close(usb);
	return ret;
}

const struct backend backend_usb = {
	.scheme = "usb",
	.open = usb_open,
	.call = host_call,
	.read = host_read,
	.close = host_close,
};
