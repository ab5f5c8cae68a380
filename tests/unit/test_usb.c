// SPDX-License-Identifier: LGPL-2.1-or-later
/* The connection through libusb, with a fake libusb. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <libusb.h>
#include <poll.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/machine.h>

#include "machine/backend.h"
#include "frame.h"
#include "machine_wire.h"

#define EP_BULK_OUT	0x02
#define EP_INT_IN	0x83
#define EP_INT_OUT	0x04

static struct {
	struct usb_place place;
	struct wire_descriptor descriptor;
	uint8_t extra[WIRE_DESC_SIZE];
	int extra_length;
	struct libusb_endpoint_descriptor endpoints[3];
	struct libusb_interface_descriptor setting;
	struct libusb_interface interface;
	struct libusb_config_descriptor config;

	bool serial;			/* requests come in frames on the bulk pipe */
	int init_end, claim_end, control_end, bulk_end, submit_end;
	uint8_t control_type, control_request;
	unsigned int controls;
	uint16_t control_index;
	int control_refused;		/* when it is submitted */
	int events_end;
	struct libusb_transfer *control;	/* in flight */
	const uint8_t *control_buffer;	/* of the last one */
	int control_size;
	uint8_t nonce[DEALBOX_NONCE_SIZE];
	struct wire_result result;
	int pipe[2];			/* readable when the bus has an event for poll(2) */

	struct libusb_transfer *in, *out, *out2;	/* in flight; out2 after out */
	unsigned int submitted_in, submitted_out;
	/* the next completion of the event endpoint */
	bool completes;
	enum libusb_transfer_status status;
	uint8_t data[FRAME_MAX];
	size_t left;			/* bytes to come in further transfers */
	int length;

	int halts[4];
	unsigned int halt_count;
	long timers[64];		/* ms */
	unsigned int timer_count;
	uint64_t clock_ns;
	int reset_end;
	unsigned int resets;
	bool signals_kept;		/* signals are blocked in libusb's threads */
	/* open objects */
	int contexts, handles, claims, configs;
} bus;

/* ---- libusb --------------------------------------------------------------- */

#define OPAQUE	((void *)&bus)

int __wrap_usb_place_find(const char *place, struct usb_place *out, struct dealbox_error *reason);
int __wrap_libusb_init(libusb_context **context);
void __wrap_libusb_exit(libusb_context *context);
int __wrap_libusb_wrap_sys_device(libusb_context *context, intptr_t fd,
				  libusb_device_handle **handle);
void __wrap_libusb_close(libusb_device_handle *handle);
libusb_device *__wrap_libusb_get_device(libusb_device_handle *handle);
int __wrap_libusb_claim_interface(libusb_device_handle *handle, int interface);
int __wrap_libusb_release_interface(libusb_device_handle *handle, int interface);
int __wrap_libusb_get_active_config_descriptor(libusb_device *device,
					       struct libusb_config_descriptor **config);
void __wrap_libusb_free_config_descriptor(struct libusb_config_descriptor *config);
int __wrap_libusb_bulk_transfer(libusb_device_handle *handle, unsigned char endpoint,
				unsigned char *data, int length, int *done, unsigned int timeout);
int __wrap_libusb_clear_halt(libusb_device_handle *handle, unsigned char endpoint);
int __wrap_libusb_submit_transfer(struct libusb_transfer *transfer);
int __wrap_libusb_cancel_transfer(struct libusb_transfer *transfer);
int __wrap_libusb_handle_events_timeout_completed(libusb_context *context, struct timeval *wait,
						  int *completed);
const struct libusb_pollfd **__wrap_libusb_get_pollfds(libusb_context *context);
void __wrap_libusb_free_pollfds(const struct libusb_pollfd **list);
void __wrap_libusb_set_pollfd_notifiers(libusb_context *context, libusb_pollfd_added_cb added,
					libusb_pollfd_removed_cb removed, void *data);
int __wrap_libusb_reset_device(libusb_device_handle *handle);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old);

int __wrap_usb_place_find(const char *place, struct usb_place *out, struct dealbox_error *reason)
{
	(void)reason;
	assert_string_equal(place, "A17");
	*out = bus.place;
	return 0;
}

int __wrap_libusb_init(libusb_context **context)
{
	sigset_t blocked;

	/* a thread that libusb starts here inherits these */
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	bus.signals_kept = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM) &&
			   sigismember(&blocked, SIGHUP);
	if (bus.init_end)
		return bus.init_end;
	bus.contexts++;
	*context = OPAQUE;
	return 0;
}

void __wrap_libusb_exit(libusb_context *context)
{
	assert_ptr_equal(context, OPAQUE);
	bus.contexts--;
}

int __wrap_libusb_wrap_sys_device(libusb_context *context, intptr_t fd,
				  libusb_device_handle **handle)
{
	assert_ptr_equal(context, OPAQUE);
	assert_true(fd >= 0);
	bus.handles++;
	*handle = OPAQUE;
	return 0;
}

void __wrap_libusb_close(libusb_device_handle *handle)
{
	assert_ptr_equal(handle, OPAQUE);
	assert_null(bus.in);
	assert_null(bus.out);
	assert_null(bus.out2);
	assert_int_equal(bus.claims, 0);
	bus.handles--;
}

libusb_device *__wrap_libusb_get_device(libusb_device_handle *handle)
{
	assert_ptr_equal(handle, OPAQUE);
	return OPAQUE;
}

int __wrap_libusb_claim_interface(libusb_device_handle *handle, int interface)
{
	assert_ptr_equal(handle, OPAQUE);
	assert_int_equal(interface, 1);
	if (!bus.claim_end)
		bus.claims++;
	return bus.claim_end;
}

int __wrap_libusb_release_interface(libusb_device_handle *handle, int interface)
{
	assert_ptr_equal(handle, OPAQUE);
	assert_int_equal(interface, 1);
	bus.claims--;
	return 0;
}

int __wrap_libusb_get_active_config_descriptor(libusb_device *device,
					       struct libusb_config_descriptor **config)
{
	assert_ptr_equal(device, OPAQUE);
	bus.configs++;
	*config = &bus.config;
	return 0;
}

void __wrap_libusb_free_config_descriptor(struct libusb_config_descriptor *config)
{
	assert_ptr_equal(config, &bus.config);
	bus.configs--;
}

/* Answer a request. Returns the number of bytes, or an error of libusb. */
static int answer_control(const struct libusb_control_setup *setup, uint8_t *data)
{
	struct wire_status status = { 0 };
	struct wire_info info = { .version = WIRE_VERSION, .name = "Tables" };
	uint8_t type = setup->bmRequestType;
	int length = le16toh(setup->wLength);

	bus.control_type = type;
	bus.control_request = setup->bRequest;
	bus.control_index = le16toh(setup->wIndex);
	bus.controls++;
	switch (setup->bRequest) {
	case WIRE_DESCRIBE:
		/* the device may not be a machine, so nothing may have been written to it before */
		assert_int_equal(type, WIRE_REQ_IN);
		assert_int_equal(bus.controls, 1);
		assert_int_equal(bus.submitted_in, 0);
		assert_int_equal(bus.halt_count, 0);
		if (bus.control_end)
			return bus.control_end;
		wire_descriptor_put(data, &bus.descriptor);
		return length;
	case WIRE_GET_INFO:
		wire_info_put(data, &info);
		return length;
	case WIRE_GET_RESULT:
		wire_result_put(data, &bus.result);
		return length;
	case WIRE_GET_STATUS:
		wire_status_put(data, &status);
		return length;
	case WIRE_ATTEST:
		assert_int_equal(length, WIRE_ATTEST_SIZE);
		memcpy(bus.nonce, data + WIRE_COMMAND_SIZE, sizeof(bus.nonce));
		break;
	}
	return bus.control_end ? bus.control_end : length;
}

/* The data stay where they were sent from, unless the program wipes them. */
static int submit_control(struct libusb_transfer *transfer)
{
	static const struct {
		int end;
		enum libusb_transfer_status status;
	} ends[] = {
		{ LIBUSB_ERROR_TIMEOUT, LIBUSB_TRANSFER_TIMED_OUT },
		{ LIBUSB_ERROR_OVERFLOW, LIBUSB_TRANSFER_OVERFLOW },
		{ LIBUSB_ERROR_PIPE, LIBUSB_TRANSFER_STALL },
		{ LIBUSB_ERROR_NO_DEVICE, LIBUSB_TRANSFER_NO_DEVICE },
	};
	size_t n;
	int end;

	assert_null(bus.control);
	assert_int_equal(transfer->timeout, 1000);
	end = answer_control(libusb_control_transfer_get_setup(transfer),
			     libusb_control_transfer_get_data(transfer));
	bus.control = transfer;
	bus.control_buffer = transfer->buffer;
	bus.control_size = transfer->length;
	transfer->status = end < 0 ? LIBUSB_TRANSFER_ERROR : LIBUSB_TRANSFER_COMPLETED;
	transfer->actual_length = end < 0 ? 0 : end;
	for (n = 0; n < sizeof(ends) / sizeof(*ends); n++)
		if (end == ends[n].end)
			transfer->status = ends[n].status;
	return 0;
}

/* Answer a request of the serial dialect. */
static void answer_frame(const uint8_t *data, size_t length)
{
	struct wire_result result = { 0 };
	struct wire_status status = { 0 };
	struct wire_info info = { .version = WIRE_VERSION, .name = "Tables" };
	struct frame_reader reader = { 0 };
	uint8_t *payload = bus.data + FRAME_HEADER;
	struct frame frame;
	size_t size = 0;

	assert_true(dealbox_frame_read(&reader, &data, &length, &frame));
	assert_int_equal(frame.kind, FRAME_REQUEST);
	payload[0] = FRAME_DONE;
	switch (frame.payload[0]) {
	case WIRE_DESCRIBE:
		wire_descriptor_put(payload + FRAME_ANSWER_HEADER, &bus.descriptor);
		size = WIRE_DESC_SIZE;
		break;
	case WIRE_GET_INFO:
		wire_info_put(payload + FRAME_ANSWER_HEADER, &info);
		size = WIRE_INFO_SIZE;
		break;
	case WIRE_GET_RESULT:
		wire_result_put(payload + FRAME_ANSWER_HEADER, &result);
		size = WIRE_RESULT_SIZE;
		break;
	case WIRE_GET_STATUS:
		wire_status_put(payload + FRAME_ANSWER_HEADER, &status);
		size = WIRE_STATUS_SIZE;
		break;
	}
	bus.length = (int)dealbox_frame_seal(bus.data, FRAME_ANSWER, frame.tag,
					     FRAME_ANSWER_HEADER + size);
	bus.left = (size_t)bus.length;
	bus.completes = true;
	bus.status = LIBUSB_TRANSFER_COMPLETED;
	assert_int_equal(write(bus.pipe[1], "", 1), 1);
}

int __wrap_libusb_bulk_transfer(libusb_device_handle *handle, unsigned char endpoint,
				unsigned char *data, int length, int *done, unsigned int timeout)
{
	assert_ptr_equal(handle, OPAQUE);
	assert_int_equal(endpoint, EP_BULK_OUT);
	if (bus.serial && !bus.bulk_end)
		answer_frame(data, (size_t)length);
	else if (!bus.serial)
		assert_int_equal(timeout, 2000);
	*done = length;
	return bus.bulk_end;
}

int __wrap_libusb_clear_halt(libusb_device_handle *handle, unsigned char endpoint)
{
	assert_ptr_equal(handle, OPAQUE);
	assert_in_range(bus.halt_count, 0, 3);
	/* no transfer may be in flight when a halt is cleared: EHCI and xHCI refuse that */
	if (endpoint != EP_INT_IN) {
		assert_null(bus.out);
		assert_null(bus.out2);
	}
	bus.halts[bus.halt_count++] = endpoint;
	return 0;
}

int __wrap_libusb_submit_transfer(struct libusb_transfer *transfer)
{
	if (transfer->type == LIBUSB_TRANSFER_TYPE_CONTROL)
		return bus.control_refused ? bus.control_refused : submit_control(transfer);
	if (bus.submit_end)
		return bus.submit_end;
	if (transfer->endpoint == EP_INT_IN) {
		assert_null(bus.in);
		assert_int_equal(transfer->length, 64);
		bus.in = transfer;
		bus.submitted_in++;
	} else {
		assert_int_equal(transfer->endpoint, bus.serial ? EP_BULK_OUT : EP_INT_OUT);
		assert_null(bus.out2);
		*(bus.out ? &bus.out2 : &bus.out) = transfer;
		transfer->status = LIBUSB_TRANSFER_COMPLETED;
		bus.submitted_out++;
	}
	return 0;
}

static void complete(struct libusb_transfer **flight, enum libusb_transfer_status status)
{
	struct libusb_transfer *transfer = *flight;

	*flight = NULL;
	transfer->status = status;
	transfer->callback(transfer);
}

int __wrap_libusb_cancel_transfer(struct libusb_transfer *transfer)
{
	/* the callback comes with the next events, as in libusb */
	transfer->status = LIBUSB_TRANSFER_CANCELLED;
	return 0;
}

int __wrap_libusb_handle_events_timeout_completed(libusb_context *context, struct timeval *wait,
						  int *completed)
{
	char byte;
	int end;

	(void)wait;
	assert_ptr_equal(context, OPAQUE);
	if (completed) {
		/* a signal or an error may come first */
		end = bus.events_end;
		bus.events_end = 0;
		if (end)
			return end;
		complete(&bus.control, bus.control->status);
		return 0;
	}
	if (bus.completes && bus.in) {
		assert_int_equal(read(bus.pipe[0], &byte, 1), 1);
		bus.completes = false;
		if (bus.length > bus.in->length)
			bus.length = bus.in->length;
		memcpy(bus.in->buffer, bus.data, (size_t)bus.length);
		bus.in->actual_length = bus.length;
		complete(&bus.in, bus.status);
		bus.left -= bus.left < (size_t)bus.length ? bus.left : (size_t)bus.length;
		if (bus.left) {
			memmove(bus.data, bus.data + bus.length, bus.left);
			bus.length = (int)bus.left;
			bus.completes = true;
			assert_int_equal(write(bus.pipe[1], "", 1), 1);
		}
	} else if (bus.in && bus.in->status == LIBUSB_TRANSFER_CANCELLED) {
		complete(&bus.in, LIBUSB_TRANSFER_CANCELLED);
	} else if (bus.out && bus.out->status == LIBUSB_TRANSFER_CANCELLED) {
		complete(&bus.out, LIBUSB_TRANSFER_CANCELLED);
	} else if (bus.out2 && bus.out2->status == LIBUSB_TRANSFER_CANCELLED) {
		complete(&bus.out2, LIBUSB_TRANSFER_CANCELLED);
	}
	return 0;
}

const struct libusb_pollfd **__wrap_libusb_get_pollfds(libusb_context *context)
{
	static struct libusb_pollfd one;
	static const struct libusb_pollfd *list[2] = { &one };

	assert_ptr_equal(context, OPAQUE);
	one = (struct libusb_pollfd){ .fd = bus.pipe[0], .events = POLLIN };
	return list;
}

void __wrap_libusb_free_pollfds(const struct libusb_pollfd **list)
{
	assert_non_null(list);
}

void __wrap_libusb_set_pollfd_notifiers(libusb_context *context, libusb_pollfd_added_cb added,
					libusb_pollfd_removed_cb removed, void *data)
{
	(void)added;
	(void)removed;
	(void)data;
	assert_ptr_equal(context, OPAQUE);
}

int __wrap_libusb_reset_device(libusb_device_handle *handle)
{
	assert_ptr_equal(handle, OPAQUE);
	assert_null(bus.in);
	bus.resets++;
	return bus.reset_end;
}

/* Time advances by the timers, and by what a test lets pass. */
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	assert_int_equal(id, CLOCK_MONOTONIC);
	*now = (struct timespec){ .tv_sec = (time_t)(bus.clock_ns / 1000000000),
				  .tv_nsec = (long)(bus.clock_ns % 1000000000) };
	return 0;
}

/* Timers expire at once; their durations are recorded. */
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	struct itimerspec soon = { .it_value = { .tv_nsec = 1 } };

	assert_in_range(bus.timer_count, 0, 63);
	bus.clock_ns += (uint64_t)new->it_value.tv_sec * 1000000000 +
			(uint64_t)new->it_value.tv_nsec;
	bus.timers[bus.timer_count++] =
		new->it_value.tv_sec * 1000 + new->it_value.tv_nsec / 1000000;
	return __real_timerfd_settime(fd, flags, &soon, old);
}

/* ---- set up --------------------------------------------------------------- */

static int make(uint32_t kind)
{
	memset(&bus, 0, sizeof(bus));
	bus.clock_ns = 77000000000;
	strcpy(bus.place.node, "/dev/null");
	strcpy(bus.place.serial, "A17");
	strcpy(bus.place.port, "1-2");
	bus.place.interface = 1;
	bus.descriptor = (struct wire_descriptor){
		.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION, .pockets = 4,
		.pocket_capacity = 20, .hopper = 200, .plan_entries = 64,
		.capabilities = kind | DEALBOX_CAP_BY_CARD,
		.gate_deadline_us = kind == DEALBOX_CAP_HOST_ROUTED ? 50000 : 0,
	};
	wire_descriptor_put(bus.extra, &bus.descriptor);
	bus.endpoints[0] = (struct libusb_endpoint_descriptor){
		.bEndpointAddress = EP_BULK_OUT, .bmAttributes = LIBUSB_TRANSFER_TYPE_BULK,
		.wMaxPacketSize = 64 };
	bus.endpoints[1] = (struct libusb_endpoint_descriptor){
		.bEndpointAddress = EP_INT_IN, .bmAttributes = LIBUSB_TRANSFER_TYPE_INTERRUPT,
		.wMaxPacketSize = 64 };
	bus.endpoints[2] = (struct libusb_endpoint_descriptor){
		.bEndpointAddress = EP_INT_OUT, .bmAttributes = LIBUSB_TRANSFER_TYPE_INTERRUPT,
		.wMaxPacketSize = 16 };
	bus.setting = (struct libusb_interface_descriptor){
		.bInterfaceNumber = 1, .bNumEndpoints = 3, .bInterfaceClass = WIRE_CLASS,
		.bInterfaceSubClass = WIRE_SUBCLASS, .bInterfaceProtocol = WIRE_PROTOCOL,
		.endpoint = bus.endpoints, .extra = bus.extra, .extra_length = sizeof(bus.extra) };
	bus.interface =
		(struct libusb_interface){ .altsetting = &bus.setting, .num_altsetting = 1 };
	bus.config = (struct libusb_config_descriptor){ .bNumInterfaces = 1,
							.interface = &bus.interface };
	assert_int_equal(pipe(bus.pipe), 0);
	return 0;
}

static int stored(void **state)
{
	(void)state;
	return make(DEALBOX_CAP_STORED_PLAN);
}

static int routed(void **state)
{
	(void)state;
	return make(DEALBOX_CAP_HOST_ROUTED);
}

/* Check that everything was released. */
static int unmake(void **state)
{
	(void)state;
	assert_int_equal(bus.contexts, 0);
	assert_int_equal(bus.handles, 0);
	assert_int_equal(bus.claims, 0);
	assert_int_equal(bus.configs, 0);
	assert_null(bus.in);
	assert_null(bus.out);
	close(bus.pipe[0]);
	close(bus.pipe[1]);
	return 0;
}

static struct dealbox_machine *open_it(void)
{
	struct dealbox_machine *machine;
	struct dealbox_error reason;

	assert_int_equal(dealbox_machine_open("usb:A17", 0, &machine, &reason), 0);
	return machine;
}

static void fails(int error, const char *what, const char *next)
{
	struct dealbox_machine *machine;
	struct dealbox_error reason;

	assert_int_equal(dealbox_machine_open("usb:A17", 0, &machine, &reason), error);
	assert_null(machine);
	assert_int_equal(reason.code, error);
	assert_non_null(strstr(reason.what, what));
	assert_non_null(strstr(reason.next, next));
}

/* Complete a transfer of events, or let it fail. */
static void arrives(enum libusb_transfer_status status, int length)
{
	bus.completes = true;
	bus.status = status;
	bus.length = length;
	assert_int_equal(write(bus.pipe[1], "", 1), 1);
}

static void event_arrives(uint32_t number)
{
	struct wire_event event = { .type = DEALBOX_EV_KEY, .number = number,
		.position = DEALBOX_NONE, .card = DEALBOX_NONE, .pocket = DEALBOX_NONE,
		.quality = DEALBOX_NONE };

	wire_event_put(bus.data, &event);
	arrives(LIBUSB_TRANSFER_COMPLETED, WIRE_EVENT_SIZE);
}

/* Wait by poll(2), then read. */
static ssize_t wait_read(struct dealbox_machine *machine, struct dealbox_event *events, size_t max)
{
	struct pollfd wait = { .fd = dealbox_machine_fd(machine), .events = POLLIN };

	assert_int_equal(poll(&wait, 1, 10000), 1);
	return dealbox_machine_read(machine, events, max);
}

/* ---- tests ---------------------------------------------------------------- */

static void a_machine_is_opened(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_info info;

	(void)state;
	assert_int_equal(dealbox_machine_get_info(machine, &info), 0);
	assert_string_equal(info.model, "Tables");
	assert_string_equal(info.serial, "A17");
	assert_string_equal(dealbox_machine_uri(machine), "usb:1-2");
	assert_int_equal(bus.control_type, WIRE_REQ_IN);
	assert_int_equal(bus.control_index, 1);
	assert_non_null(bus.in);
	dealbox_machine_close(machine);
}

static void events_come_and_the_next_are_asked_for(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_event events[4];

	(void)state;
	event_arrives(1);
	assert_int_equal(wait_read(machine, events, 4), 1);
	assert_int_equal(events[0].type, DEALBOX_EV_KEY);
	event_arrives(2);
	assert_int_equal(wait_read(machine, events, 4), 1);
	assert_int_equal(events[0].flags, 0);
	assert_int_equal(bus.submitted_in, 3);
	assert_int_equal(dealbox_machine_read(machine, events, 4), -EAGAIN);
	dealbox_machine_close(machine);
}

static void a_halt_is_cleared(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_event events[4];

	(void)state;
	arrives(LIBUSB_TRANSFER_STALL, 0);
	wait_read(machine, events, 4);
	if (!bus.in)
		wait_read(machine, events, 4);
	assert_int_equal(bus.halt_count, 1);
	assert_int_equal(bus.halts[0], EP_INT_IN);
	event_arrives(1);
	assert_int_equal(wait_read(machine, events, 4), 1);
	dealbox_machine_close(machine);
}

static void errors_are_tried_again_with_growing_pauses(void **state)
{
	static const long pauses[] = { 13, 26, 52, 104, 104 };
	struct dealbox_machine *machine = open_it();
	struct dealbox_event events[4];
	unsigned int n;

	(void)state;
	/* a single failure causes no pause */
	arrives(LIBUSB_TRANSFER_ERROR, 0);
	assert_int_equal(wait_read(machine, events, 4), -EAGAIN);
	assert_int_equal(bus.submitted_in, 2);
	assert_int_equal(bus.timer_count, 0);
	for (n = 0; n < 5; n++) {
		arrives(LIBUSB_TRANSFER_ERROR, 0);
		while (bus.submitted_in < n + 3)
			assert_int_equal(wait_read(machine, events, 4), -EAGAIN);
		assert_int_equal(bus.timers[n], pauses[n]);
	}
	/* after half a second without a failure, a good transfer resets the back-off */
	event_arrives(1);
	assert_int_equal(wait_read(machine, events, 4), 1);
	bus.clock_ns += 500000000;
	arrives(LIBUSB_TRANSFER_ERROR, 0);
	assert_int_equal(wait_read(machine, events, 4), -EAGAIN);
	assert_int_equal(bus.timer_count, 5);
	assert_int_equal(bus.halt_count, 0);
	assert_int_equal(bus.resets, 0);
	dealbox_machine_close(machine);
}

/* Let that many transfers in a row fail. */
static void fail_often(struct dealbox_machine *machine, unsigned int times)
{
	struct dealbox_event events[4];
	unsigned int n, submitted;

	for (n = 0; n < times; n++) {
		submitted = bus.submitted_in;
		arrives(LIBUSB_TRANSFER_ERROR, 0);
		while (bus.submitted_in == submitted)
			assert_int_equal(wait_read(machine, events, 4), -EAGAIN);
	}
}

/* As in the module: a machine that is present is reset, not given up. */
static void after_a_second_of_errors_it_is_reset(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_event events[4];

	(void)state;
	fail_often(machine, 13);
	assert_int_equal(bus.resets, 0);
	fail_often(machine, 1);
	assert_int_equal(bus.resets, 1);
	/* without success it is reset again after two more seconds */
	fail_often(machine, 19);
	assert_int_equal(bus.resets, 1);
	fail_often(machine, 1);
	assert_int_equal(bus.resets, 2);
	event_arrives(1);
	assert_int_equal(wait_read(machine, events, 4), 1);
	dealbox_machine_close(machine);
}

static void a_reset_that_finds_nothing(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_event events[4];

	(void)state;
	fail_often(machine, 13);
	bus.reset_end = LIBUSB_ERROR_NOT_FOUND;
	arrives(LIBUSB_TRANSFER_ERROR, 0);
	while (bus.resets < 1)
		if (wait_read(machine, events, 4) == -ENODEV)
			break;
	assert_int_equal(bus.resets, 1);
	assert_int_equal(wait_read(machine, events, 4), -ENODEV);
	dealbox_machine_close(machine);
}

/* As in the module: a flood of bad transfers is slowed down, and causes no reset. */
static void transfers_that_cannot_be_are_slowed_down(void **state)
{
	static const long pauses[] = { 13, 26, 52, 104 };
	struct dealbox_machine *machine = open_it();
	struct dealbox_event events[4];
	unsigned int n;

	(void)state;
	for (n = 0; n < 5; n++) {
		arrives(LIBUSB_TRANSFER_COMPLETED, 31);
		assert_int_equal(wait_read(machine, events, 4), 1);
		assert_int_equal(events[0].type, DEALBOX_EV_PROTOCOL_ERROR);
		while (bus.submitted_in < n + 2)
			wait_read(machine, events, 4);
	}
	assert_int_equal(bus.timer_count, 4);
	for (n = 0; n < 4; n++)
		assert_int_equal(bus.timers[n], pauses[n]);
	assert_int_equal(bus.resets, 0);
	dealbox_machine_close(machine);
}

/* A signal in a thread of libusb would end the program without pausing the machine. */
static void signals_are_the_programs(void **state)
{
	struct dealbox_machine *machine = open_it();
	sigset_t blocked;

	(void)state;
	assert_true(bus.signals_kept);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	assert_false(sigismember(&blocked, SIGINT));
	assert_false(sigismember(&blocked, SIGTERM));
	dealbox_machine_close(machine);
}

static void unplugged(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_event events[4];

	(void)state;
	event_arrives(1);
	assert_int_equal(wait_read(machine, events, 4), 1);
	arrives(LIBUSB_TRANSFER_NO_DEVICE, 0);
	assert_int_equal(wait_read(machine, events, 4), -ENODEV);
	assert_non_null(strstr(dealbox_machine_error(machine)->what, "unplugged"));
	dealbox_machine_close(machine);
}

static void how_commands_fail(void **state)
{
	static const struct {
		int usb;
		int error;
	} ends[] = {
		{ LIBUSB_ERROR_TIMEOUT, -ETIMEDOUT },
		{ LIBUSB_ERROR_IO, -EIO },
		{ LIBUSB_ERROR_OVERFLOW, -EPROTO },
		{ LIBUSB_ERROR_PIPE, -EPROTO },		/* without a result that gives the reason */
	};
	struct dealbox_machine *machine = open_it();
	size_t n;

	(void)state;
	assert_int_equal(dealbox_machine_claim(machine), 0);
	for (n = 0; n < sizeof(ends) / sizeof(*ends); n++) {
		bus.control_end = ends[n].usb;
		assert_int_equal(dealbox_machine_pause(machine), ends[n].error);
	}
	bus.control_end = LIBUSB_ERROR_NO_DEVICE;
	assert_int_equal(dealbox_machine_pause(machine), -ENODEV);
	dealbox_machine_close(machine);
}

static void waiting_for_an_answer_is_disturbed(void **state)
{
	static const struct {
		int refused, disturbed, error;
	} ends[] = {
		{ LIBUSB_ERROR_NO_MEM, 0, -ENOMEM },
		{ 0, LIBUSB_ERROR_INTERRUPTED, 0 },
		{ 0, LIBUSB_ERROR_IO, 0 },		/* sent again */
		{ 0, 0, 0 },
	};
	struct dealbox_machine *machine = open_it();
	size_t n;

	(void)state;
	assert_int_equal(dealbox_machine_claim(machine), 0);
	for (n = 0; n < sizeof(ends) / sizeof(*ends); n++) {
		bus.control_refused = ends[n].refused;
		bus.events_end = ends[n].disturbed;
		assert_int_equal(dealbox_machine_pause(machine), ends[n].error);
		assert_null(bus.control);
	}
	dealbox_machine_close(machine);
}

/* Neither the machine's answer nor a lost one leaves the nonce in the memory of the process. */
static void a_nonce_is_wiped(void **state)
{
	static const int ends[] = { 0, LIBUSB_ERROR_TIMEOUT, LIBUSB_ERROR_PIPE };
	struct dealbox_machine *machine;
	uint8_t nonce[DEALBOX_NONCE_SIZE];
	size_t n;

	(void)state;
	bus.descriptor.capabilities |= DEALBOX_CAP_ATTEST;
	wire_descriptor_put(bus.extra, &bus.descriptor);
	machine = open_it();
	assert_int_equal(dealbox_machine_claim(machine), 0);
	for (n = 0; n < sizeof(ends) / sizeof(*ends); n++) {
		memset(nonce, 0xa1 + (int)n, sizeof(nonce));
		bus.control_end = ends[n];
		assert_int_equal(!dealbox_machine_attest(machine, 1, nonce), !ends[n]);
		assert_memory_equal(bus.nonce, nonce, sizeof(nonce));
		assert_null(memmem(bus.control_buffer, (size_t)bus.control_size, nonce,
				   sizeof(nonce)));
	}
	dealbox_machine_close(machine);
}

static struct dealbox_plan by_card(void)
{
	struct dealbox_plan plan = { .plan_id = 5, .mode = DEALBOX_PLAN_BY_CARD, .entries = 52 };

	return plan;
}

static void wire_arrives(struct wire_event event)
{
	wire_event_put(bus.data, &event);
	arrives(LIBUSB_TRANSFER_COMPLETED, WIRE_EVENT_SIZE);
}

static void a_refused_block_leaves_no_halt(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_plan plan = by_card();
	int card;

	(void)state;
	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	assert_int_equal(dealbox_machine_claim(machine), 0);
	bus.bulk_end = LIBUSB_ERROR_PIPE;
	wire_arrives((struct wire_event){ .type = DEALBOX_EV_PLAN_LOADED, .number = 1, .code = 5,
		.position = DEALBOX_NONE, .card = DEALBOX_NONE, .pocket = DEALBOX_NONE,
		.quality = DEALBOX_NONE, .arg = { DEALBOX_ERR_INCOMPLETE } });
	assert_int_equal(dealbox_machine_set_plan(machine, &plan), -EREMOTEIO);
	assert_non_null(strstr(dealbox_machine_error(machine)->what,
			       "the plan did not arrive in time"));
	assert_int_equal(bus.halt_count, 1);
	assert_int_equal(bus.halts[0], EP_BULK_OUT);
	dealbox_machine_close(machine);
}

static void cards_are_answered(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_plan plan = by_card();
	struct wire_event read = { .type = DEALBOX_EV_CARD_READ, .insertion = 9, .number = 2,
		.card = 17, .pocket = DEALBOX_NONE, .quality = 100 };
	struct dealbox_event events[4];
	struct wire_gate gate;
	int card;

	(void)state;
	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	assert_int_equal(dealbox_machine_claim(machine), 0);
	assert_int_equal(dealbox_machine_set_plan(machine, &plan), 0);
	wire_arrives((struct wire_event){ .type = DEALBOX_EV_DEAL_STARTED, .number = 1, .code = 5,
		.insertion = 9, .position = DEALBOX_NONE, .card = DEALBOX_NONE,
		.pocket = DEALBOX_NONE, .quality = DEALBOX_NONE });
	assert_int_equal(wait_read(machine, events, 4), 1);
	wire_arrives(read);
	assert_int_equal(wait_read(machine, events, 4), 1);
	assert_int_equal(bus.submitted_out, 1);
	assert_true(wire_gate_get(bus.out->buffer, (size_t)bus.out->length, &gate));
	assert_int_equal(gate.pocket, 1);
	assert_int_equal(gate.number, 2);

	/* the gate command is still in flight; the card is read again, but not a third time */
	for (read.number = 3; read.number <= 4; read.number++) {
		wire_arrives(read);
		assert_int_equal(wait_read(machine, events, 4), 1);
		assert_int_equal(bus.submitted_out, 2);
	}
	complete(&bus.out, LIBUSB_TRANSFER_COMPLETED);
	complete(&bus.out2, LIBUSB_TRANSFER_COMPLETED);
	for (read.number = 5; read.number <= 6; read.number++) {
		wire_arrives(read);
		assert_int_equal(wait_read(machine, events, 4), 1);
	}
	assert_int_equal(bus.submitted_out, 4);

	/* a halt is cleared once no transfer is in flight; then the next card is answered */
	complete(&bus.out, LIBUSB_TRANSFER_STALL);
	read.number = 7;
	wire_arrives(read);
	assert_int_equal(wait_read(machine, events, 4), 1);
	assert_int_equal(bus.submitted_out, 4);
	while (!bus.halt_count)
		assert_int_equal(wait_read(machine, events, 4), -EAGAIN);
	assert_int_equal(bus.halts[0], EP_INT_OUT);
	read.number = 8;
	wire_arrives(read);
	assert_int_equal(wait_read(machine, events, 4), 1);
	assert_int_equal(bus.submitted_out, 5);
	dealbox_machine_close(machine);
}

/* A reset drops the plan in machine and host: START with the lost plan is refused. */
static void a_reset_forgets_the_plan(void **state)
{
	struct dealbox_machine *machine = open_it();
	struct dealbox_plan plan = by_card();
	int card;

	(void)state;
	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	assert_int_equal(dealbox_machine_claim(machine), 0);
	assert_int_equal(dealbox_machine_set_plan(machine, &plan), 0);
	assert_int_equal(dealbox_machine_start(machine, 5, 9), 0);
	fail_often(machine, 14);
	assert_int_equal(bus.resets, 1);
	assert_int_equal(dealbox_machine_start(machine, 5, 9), -EREMOTEIO);
	assert_int_equal(dealbox_machine_result(machine, NULL), DEALBOX_ERR_NO_PLAN);
	dealbox_machine_close(machine);
}

static void in_use(void **state)
{
	(void)state;
	bus.claim_end = LIBUSB_ERROR_BUSY;
	strcpy(bus.place.driver, "dealbox");
	fails(-EBUSY, "the kernel module drives this machine", "local:");
	strcpy(bus.place.driver, "usbfs");
	fails(-EBUSY, "the machine is in use by", "wait until it has finished");
}

static void no_permission(void **state)
{
	(void)state;
	strcpy(bus.place.node, "/nowhere/at/all");
	fails(-ENOENT, "cannot open /nowhere/at/all: No such file", "plug it in again");
}

static void libusb_does_not_begin(void **state)
{
	(void)state;
	bus.init_end = LIBUSB_ERROR_OTHER;
	fails(-EIO, "cannot use the device", "");
}

static struct dealbox_machine *open_serial(void)
{
	bus.serial = true;
	bus.setting.bInterfaceProtocol = 2;
	bus.setting.bNumEndpoints = 2;
	bus.setting.extra_length = 0;
	bus.endpoints[1].bmAttributes = LIBUSB_TRANSFER_TYPE_BULK;
	return open_it();
}

/* The serial dialect: the host asks for the descriptor, in frames over two bulk pipes. */
static void a_machine_of_the_serial_dialect(void **state)
{
	struct dealbox_machine *machine = open_serial();
	struct dealbox_info info;

	(void)state;
	assert_int_equal(dealbox_machine_get_info(machine, &info), 0);
	assert_string_equal(info.model, "Tables");
	assert_int_equal(info.pockets, 4);
	assert_int_equal(bus.in->type, LIBUSB_TRANSFER_TYPE_BULK);
	assert_int_equal(bus.control_request, 0);	/* none on endpoint 0 */
	dealbox_machine_close(machine);
}

static void frame_arrives(struct wire_event event)
{
	wire_event_put(bus.data + FRAME_HEADER, &event);
	bus.left = dealbox_frame_seal(bus.data, FRAME_EVENT, 0, WIRE_EVENT_SIZE);
	arrives(LIBUSB_TRANSFER_COMPLETED, (int)bus.left);
}

/* A request halts the endpoint that it shares with a gate command, which must be cancelled. */
static void a_halt_where_a_gate_command_waits(void **state)
{
	struct dealbox_machine *machine = open_serial();
	struct wire_event event = { .type = DEALBOX_EV_DEAL_STARTED, .number = 1, .code = 5,
		.insertion = 9, .position = DEALBOX_NONE, .card = DEALBOX_NONE,
		.pocket = DEALBOX_NONE, .quality = DEALBOX_NONE };
	struct dealbox_plan plan = by_card();
	struct dealbox_counters counters;
	struct dealbox_event events[4];
	int card;

	(void)state;
	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	assert_int_equal(dealbox_machine_claim(machine), 0);
	assert_int_equal(dealbox_machine_set_plan(machine, &plan), 0);
	frame_arrives(event);
	assert_int_equal(wait_read(machine, events, 4), 1);
	event = (struct wire_event){ .type = DEALBOX_EV_CARD_READ, .insertion = 9, .number = 2,
		.card = 17, .pocket = DEALBOX_NONE, .quality = 100 };
	frame_arrives(event);
	assert_int_equal(wait_read(machine, events, 4), 1);
	assert_non_null(bus.out);
	assert_int_equal(bus.out->type, LIBUSB_TRANSFER_TYPE_BULK);
	bus.bulk_end = LIBUSB_ERROR_PIPE;
	assert_int_equal(dealbox_machine_get_counters(machine, &counters), -EPROTO);
	assert_null(bus.out);
	assert_int_equal(bus.halt_count, 1);
	assert_int_equal(bus.halts[0], EP_BULK_OUT);
	/* a halt by a gate command is cleared before the next request */
	bus.bulk_end = 0;
	event.number = 3;
	frame_arrives(event);
	assert_int_equal(wait_read(machine, events, 4), 1);
	complete(&bus.out, LIBUSB_TRANSFER_STALL);
	dealbox_machine_get_counters(machine, &counters);
	assert_int_equal(bus.halt_count, 2);
	dealbox_machine_close(machine);
}

static void descriptors_of_no_machine(void **state)
{
	(void)state;
	bus.extra[5] = 2;	/* protocol 2.0 */
	fails(-EPROTO, "descriptors are not those of protocol 1.1", "firmware");
	bus.extra[5] = 1;
	bus.setting.extra_length = 12;
	fails(-EPROTO, "descriptors", "");
	bus.setting.extra_length = sizeof(bus.extra);
	bus.setting.bInterfaceProtocol = 2;
	fails(-EPROTO, "descriptors", "");
	bus.setting.bInterfaceProtocol = 1;
	bus.endpoints[1].wMaxPacketSize = 16;
	fails(-EPROTO, "descriptors", "");
	bus.endpoints[1].wMaxPacketSize = 64;
	bus.setting.bNumEndpoints = 1;
	fails(-EPROTO, "descriptors", "");
	bus.interface.num_altsetting = 0;
	fails(-EPROTO, "descriptors", "");
}

/* A machine without a machine descriptor among its USB descriptors gives it by request. */
static void a_machine_is_asked_for_its_descriptor(void **state)
{
	struct dealbox_machine *machine;
	struct dealbox_info info;

	(void)state;
	bus.setting.extra_length = 0;
	machine = open_it();
	assert_int_equal(dealbox_machine_get_info(machine, &info), 0);
	assert_int_equal(info.pockets, 4);
	assert_int_equal(info.plan_entries, 64);
	dealbox_machine_close(machine);
}

static void a_device_that_does_not_answer_is_left_alone(void **state)
{
	static const int ends[] = { LIBUSB_ERROR_PIPE, LIBUSB_ERROR_TIMEOUT, 7 };
	size_t n;

	(void)state;
	bus.setting.extra_length = 0;
	for (n = 0; n < sizeof(ends) / sizeof(*ends); n++) {
		bus.controls = 0;
		bus.control_end = ends[n];
		fails(-EPROTO, "descriptors", "");
		assert_int_equal(bus.controls, 1);
		assert_int_equal(bus.submitted_in, 0);
		assert_int_equal(bus.halt_count, 0);
	}
}

static void a_host_routed_machine_without_a_way_to_answer(void **state)
{
	(void)state;
	bus.setting.bNumEndpoints = 2;
	fails(-EPROTO, "descriptors", "");
	bus.controls = 0;
	bus.setting.extra_length = 0;
	fails(-EPROTO, "descriptors", "");
}

#define STORED(f)	cmocka_unit_test_setup_teardown(f, stored, unmake)
#define ROUTED(f)	cmocka_unit_test_setup_teardown(f, routed, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORED(a_machine_is_opened),
		STORED(events_come_and_the_next_are_asked_for),
		STORED(a_halt_is_cleared),
		STORED(errors_are_tried_again_with_growing_pauses),
		STORED(after_a_second_of_errors_it_is_reset),
		STORED(a_reset_that_finds_nothing),
		STORED(transfers_that_cannot_be_are_slowed_down),
		STORED(signals_are_the_programs),
		STORED(unplugged),
		STORED(how_commands_fail),
		STORED(waiting_for_an_answer_is_disturbed),
		STORED(a_nonce_is_wiped),
		STORED(a_refused_block_leaves_no_halt),
		ROUTED(cards_are_answered),
		ROUTED(a_reset_forgets_the_plan),
		STORED(in_use),
		STORED(no_permission),
		STORED(libusb_does_not_begin),
		STORED(a_machine_of_the_serial_dialect),
		ROUTED(a_halt_where_a_gate_command_waits),
		STORED(descriptors_of_no_machine),
		ROUTED(a_machine_is_asked_for_its_descriptor),
		STORED(a_device_that_does_not_answer_is_left_alone),
		ROUTED(a_host_routed_machine_without_a_way_to_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
