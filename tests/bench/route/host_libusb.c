// SPDX-License-Identifier: LGPL-2.1-or-later
#include <err.h>
#include <libusb.h>
#include <sched.h>
#include <sys/mman.h>

#include "device.h"
#include "route_host.h"
#include "router.h"

#define IN_FLIGHT	8
#define GATES		4
#define EVENTS_SIZE	256
#define LIMIT_MS	1000

struct gate {
	struct libusb_transfer *transfer;
	bool busy;
	uint8_t bytes[WIRE_GATE_SIZE];
};

struct host {
	libusb_device_handle *handle;
	struct router router;
	struct libusb_transfer *in[IN_FLIGHT];
	uint8_t in_bytes[IN_FLIGHT][EVENTS_SIZE];
	uint8_t in_endpoint, out_endpoint;
	struct gate gates[GATES];
	struct libusb_transfer *command;
	uint8_t command_bytes[LIBUSB_CONTROL_SETUP_SIZE + WIRE_COMMAND_SIZE];
	uint32_t sequence, started;
	unsigned int deals, under_way;
	int done;
};

static void need(int result, const char *what)
{
	if (result < 0)
		errx(3, "%s: %s", what, libusb_strerror(result));
}

/* --- answers: no allocation, no waiting ------------------------------------------ */

static void LIBUSB_CALL gate_done(struct libusb_transfer *transfer)
{
	struct gate *gate = transfer->user_data;

	gate->busy = false;
	if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
		errx(3, "a gate command failed: %d", transfer->status);
}

static void send_gate(struct host *host, const struct wire_gate *answer)
{
	struct gate *gate = host->gates;

	while (gate->busy)
		if (++gate == host->gates + GATES)
			errx(3, "no gate command is free");
	dealbox_encode_gate(gate->bytes, answer);
	gate->busy = true;
	need(libusb_submit_transfer(gate->transfer), "gate command");
}

/* --- deals ------------------------------------------------------------------------- */

static void LIBUSB_CALL command_done(struct libusb_transfer *transfer)
{
	if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
		errx(3, "START: %d", transfer->status);
}

static void start(struct host *host, uint32_t insertion)
{
	const struct wire_command command = {
		.sequence = ++host->sequence ? host->sequence : ++host->sequence,
		.a = PLAN_ID, .b = insertion, .c = PLAN_CARDS,
	};

	host->started = insertion;
	libusb_fill_control_setup(host->command_bytes, WIRE_REQ_OUT, DEALBOX_OP_START, 0, 0,
				  WIRE_COMMAND_SIZE);
	dealbox_encode_command(host->command_bytes + LIBUSB_CONTROL_SETUP_SIZE, &command);
	libusb_fill_control_transfer(host->command, host->handle, host->command_bytes,
				     command_done, host, LIMIT_MS);
	need(libusb_submit_transfer(host->command), "START");
}

static void follow(struct host *host, const struct wire_event *event)
{
	if (event->type >= 0x20)
		errx(3, "the machine stopped: %#x", event->type);
	if (event->type == DEALBOX_EV_DEAL_DONE && !--host->deals)
		host->done = 1;
	else if (event->type == DEALBOX_EV_BOARD_INSERTED && host->deals &&
		 event->insertion > host->started)
		start(host, event->insertion);
}

static void LIBUSB_CALL in_done(struct libusb_transfer *transfer)
{
	struct host *host = transfer->user_data;
	struct wire_event event;
	struct wire_gate gate;
	int at;

	if (transfer->status != LIBUSB_TRANSFER_COMPLETED) {
		host->under_way--;
		if (transfer->status != LIBUSB_TRANSFER_CANCELLED)
			errx(3, "events: %d", transfer->status);
		return;
	}
	for (at = 0; at + WIRE_EVENT_SIZE <= transfer->actual_length; at += WIRE_EVENT_SIZE) {
		dealbox_decode_event(transfer->buffer + at, &event);
		if (dealbox_router_event(&host->router, &event, &gate))
			send_gate(host, &gate);
		else
			follow(host, &event);
	}
	if (host->done)
		host->under_way--;
	else
		need(libusb_submit_transfer(transfer), "events");
}

/* --- before and after ---------------------------------------------------------------- */

static void find_endpoints(struct host *host)
{
	struct libusb_config_descriptor *config;
	const struct libusb_interface_descriptor *interface;
	int i;

	need(libusb_get_active_config_descriptor(libusb_get_device(host->handle), &config),
	     "descriptors");
	interface = &config->interface[0].altsetting[0];
	for (i = 0; i < interface->bNumEndpoints; i++) {
		const struct libusb_endpoint_descriptor *endpoint = &interface->endpoint[i];

		if ((endpoint->bmAttributes & LIBUSB_TRANSFER_TYPE_MASK) !=
		    LIBUSB_TRANSFER_TYPE_INTERRUPT)
			continue;
		if (endpoint->bEndpointAddress & LIBUSB_ENDPOINT_IN)
			host->in_endpoint = endpoint->bEndpointAddress;
		else
			host->out_endpoint = endpoint->bEndpointAddress;
	}
	libusb_free_config_descriptor(config);
}

static void *transfer_or_end(struct libusb_transfer *transfer)
{
	if (!transfer)
		errx(3, "no memory");
	return transfer;
}

static void prepare(struct host *host)
{
	int i;

	for (i = 0; i < IN_FLIGHT; i++) {
		host->in[i] = transfer_or_end(libusb_alloc_transfer(0));
		libusb_fill_interrupt_transfer(host->in[i], host->handle, host->in_endpoint,
					       host->in_bytes[i], EVENTS_SIZE, in_done, host, 0);
	}
	for (i = 0; i < GATES; i++) {
		struct gate *gate = &host->gates[i];

		gate->transfer = transfer_or_end(libusb_alloc_transfer(0));
		/* no time limit, which would cost a timer for each card */
		libusb_fill_interrupt_transfer(gate->transfer, host->handle, host->out_endpoint,
					       gate->bytes, WIRE_GATE_SIZE, gate_done, gate, 0);
	}
	host->command = transfer_or_end(libusb_alloc_transfer(0));
}

static void query(struct host *host, uint8_t request, uint8_t *bytes, uint16_t size)
{
	int got = libusb_control_transfer(host->handle, WIRE_REQ_IN, request, 0, 0, bytes, size,
					  LIMIT_MS * 10);

	need(got, "query");
	if (got != size)
		errx(3, "query %u: %d bytes", request, got);
}

static void begin(struct host *host)
{
	uint8_t bytes[WIRE_STATUS_SIZE];
	struct wire_result result;
	struct wire_status status;

	query(host, WIRE_GET_RESULT, bytes, WIRE_RESULT_SIZE);
	dealbox_decode_result(bytes, &result);
	host->sequence = result.sequence;
	query(host, WIRE_GET_STATUS, bytes, WIRE_STATUS_SIZE);
	if (!dealbox_decode_status(bytes, &status))
		errx(3, "status");
	for (host->under_way = 0; host->under_way < IN_FLIGHT; host->under_way++)
		need(libusb_submit_transfer(host->in[host->under_way]), "events");
	if (status.insertion && !(status.flags & DEALBOX_STATUS_SPENT))
		start(host, status.insertion);
}

void host_libusb(unsigned int deals, bool fifo)
{
	static struct host host;
	struct wire_plan plan;
	int i;

	host_plan(&plan);
	dealbox_router_load(&host.router, &plan);
	host.deals = deals;
	need(libusb_init(NULL), "libusb");
	host.handle = libusb_open_device_with_vid_pid(NULL, DEVICE_VENDOR, DEVICE_PRODUCT);
	if (!host.handle)
		errx(3, "libusb finds no machine");
	need(libusb_set_auto_detach_kernel_driver(host.handle, 1), "libusb");
	need(libusb_claim_interface(host.handle, 0), "libusb");
	find_endpoints(&host);
	prepare(&host);
	if (fifo) {
		const struct sched_param priority = { .sched_priority = 50 };

		if (mlockall(MCL_CURRENT | MCL_FUTURE) ||
		    sched_setscheduler(0, SCHED_FIFO, &priority))
			err(3, "real-time priority");
	}
	begin(&host);
	while (!host.done)
		need(libusb_handle_events_completed(NULL, &host.done), "libusb");
	for (i = 0; i < IN_FLIGHT; i++)
		libusb_cancel_transfer(host.in[i]);
	while (host.under_way)
		need(libusb_handle_events(NULL), "libusb");
	need(libusb_release_interface(host.handle, 0), "libusb");
	libusb_close(host.handle);
	libusb_exit(NULL);
}
