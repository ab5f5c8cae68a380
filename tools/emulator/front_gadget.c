/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Front for a USB device controller, with the kernel's raw_gadget: this computer is the machine.
 * The controller may be that of a small board, whose cable goes to the host, or dummy_udc.
 *
 * FunctionFS refuses descriptors of the type of the machine descriptor, and gadgetfs refuses a
 * configuration with remote wakeup.
 *
 * All calls of raw_gadget block, so each endpoint has a thread that makes one call at a time. All
 * decisions are made in the main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/usb/ch9.h>
#include <linux/usb/raw_gadget.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "front_common.h"

#define RETRY_US	10000	/* minimum interval of attempts at a failing endpoint */
#define REPLUG_US	100000

/* Types of events. Those after CONTROL are missing in headers before Linux 6.8. */
enum { EVENT_CONTROL = 2, EVENT_SUSPEND, EVENT_RESUME, EVENT_RESET, EVENT_DISCONNECT };

enum line_index { LINE_EVENTS, LINE_CONTROL, LINE_BULK_OUT, LINE_INT_IN, LINE_INT_OUT, LINES };

#define TAG_LINE	0x7	/* low bits of a tag: the line; high bits: number of the setup */
#define TAG_SETUP_SHIFT	3

/* Arguments and results of a call, followed by its data */
union io {
	struct usb_raw_ep_io transfer;
	struct usb_raw_event event;
	uint8_t room[sizeof(struct usb_raw_ep_io) + DEVICE_DATA_MAX];
};

/* A thread with its current call, and the result */
struct line {
	struct gadget_front *f;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool busy, quit;
	bool interrupted;	/* a signal is to end the call */
	bool done;		/* the result is to be collected */
	int result;
	unsigned long request;	/* ioctl */
	union io io;
};

struct gadget_front {
	struct front front;
	char udc[UDC_NAME_LENGTH_MAX], driver[UDC_NAME_LENGTH_MAX];
	int fd;				/* -1 = not plugged in */
	int ended;			/* eventfd: a call has ended */
	struct line lines[LINES];
	int endpoint[LINES];		/* raw_gadget's number, -1 = not enabled */
	uint64_t plug_at;
	uint8_t setup[8];		/* current control transfer */
	uint64_t setups;		/* its number */
	bool data_due;			/* its data are still with the thread */
	bool asked;			/* it is pending in the device, or its data are due */
	bool configured, suspended;
	bool int_in;			/* a transfer of events is pending in the device */
	uint64_t int_in_at;
};

static const uint8_t addresses[LINES] = {
	[LINE_BULK_OUT] = DEVICE_EP_BULK_OUT, [LINE_INT_IN] = DEVICE_EP_INT_IN,
	[LINE_INT_OUT] = DEVICE_EP_INT_OUT,
};

/* --- threads -------------------------------------------------------------------------- */

static void nothing(int signal)
{
	(void)signal;
}

static void *work(void *context)
{
	struct line *line = context;
	int result;

	pthread_mutex_lock(&line->lock);
	while (!line->quit) {
		if (!line->busy) {
			pthread_cond_wait(&line->change, &line->lock);
			continue;
		}
		pthread_mutex_unlock(&line->lock);
		result = ioctl(line->f->fd, line->request, &line->io);
		if (result < 0)
			result = -errno;
		pthread_mutex_lock(&line->lock);
		/* not our signal, but a stop of the process or a suspend */
		if (result == -EINTR && !line->interrupted)
			continue;
		line->result = result;
		line->done = true;
		line->busy = false;
		pthread_cond_broadcast(&line->change);
		eventfd_write(line->f->ended, 1);
	}
	pthread_mutex_unlock(&line->lock);
	return NULL;
}

/* Wait for the thread: the next request may arrive before it has returned from its last call. */
static void lock_idle(struct line *line)
{
	pthread_mutex_lock(&line->lock);
	while (line->busy)
		pthread_cond_wait(&line->change, &line->lock);
}

static void give(struct gadget_front *f, enum line_index index, unsigned long request,
		 const uint8_t *data, uint32_t length)
{
	struct line *line = &f->lines[index];

	lock_idle(line);
	line->request = request;
	line->done = false;
	if (index == LINE_EVENTS) {
		line->io.event = (struct usb_raw_event){
			.length = sizeof(struct usb_ctrlrequest),
		};
	} else {
		line->io.transfer = (struct usb_raw_ep_io){
			.ep = index == LINE_CONTROL ? 0 : f->endpoint[index], .length = length,
		};
		if (data)
			memcpy(line->io.transfer.data, data, length);
	}
	line->busy = true;
	pthread_cond_broadcast(&line->change);
	pthread_mutex_unlock(&line->lock);
}

static bool busy(struct gadget_front *f, enum line_index index)
{
	bool is;

	pthread_mutex_lock(&f->lines[index].lock);
	is = f->lines[index].busy;
	pthread_mutex_unlock(&f->lines[index].lock);
	return is;
}

/* Collect the result of a call once, with the data in io. Returns false if there is none. */
static bool collect_result(struct gadget_front *f, enum line_index index, int *result)
{
	struct line *line = &f->lines[index];
	bool done;

	pthread_mutex_lock(&line->lock);
	done = line->done;
	line->done = false;
	*result = line->result;
	pthread_mutex_unlock(&line->lock);
	return done;
}

/* Interrupt the current call of the thread and discard its result. */
static void interrupt_call(struct gadget_front *f, enum line_index index)
{
	struct line *line = &f->lines[index];

	pthread_mutex_lock(&line->lock);
	line->interrupted = true;
	while (line->busy) {
		struct timespec soon;

		/* Repeat it, since the thread may not have entered the call yet. */
		pthread_kill(line->thread, SIGUSR1);
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += 5000000;
		if (soon.tv_nsec >= 1000000000) {
			soon.tv_sec++;
			soon.tv_nsec -= 1000000000;
		}
		pthread_cond_timedwait(&line->change, &line->lock, &soon);
	}
	line->interrupted = false;
	line->done = false;
	pthread_mutex_unlock(&line->lock);
}

/* --- endpoints ------------------------------------------------------------------------ */

static void stall_control(struct gadget_front *f)
{
	lock_idle(&f->lines[LINE_CONTROL]);
	ioctl(f->fd, USB_RAW_IOCTL_EP0_STALL, 0);
	pthread_mutex_unlock(&f->lines[LINE_CONTROL].lock);
}

static void stop_endpoints(struct gadget_front *f)
{
	int i;

	for (i = LINE_BULK_OUT; i < LINES; i++) {
		interrupt_call(f, i);
		if (f->endpoint[i] >= 0)
			ioctl(f->fd, USB_RAW_IOCTL_EP_DISABLE, f->endpoint[i]);
		f->endpoint[i] = -1;
	}
	if (f->int_in)
		device_cancel(f->front.device, LINE_INT_IN);
	f->int_in = false;
	f->configured = false;
}

static void listen_out(struct gadget_front *f, enum line_index index)
{
	/* Read single packets: the machine detects the end of a plan. */
	give(f, index, USB_RAW_IOCTL_EP_READ, NULL, index == LINE_BULK_OUT ? 512 : 16);
}

/* Returns false if the controller lacks an endpoint. */
static bool start_endpoints(struct gadget_front *f)
{
	uint16_t int_out = device_int_out_size(f->front.device);
	const uint16_t sizes[LINES] = {
		[LINE_BULK_OUT] = 512, [LINE_INT_OUT] = int_out,
		[LINE_INT_IN] = device_config(f->front.device)->int_in_size,
	};
	int i;

	for (i = LINE_BULK_OUT; i < LINES; i++) {
		struct usb_endpoint_descriptor descriptor = {
			.bLength = USB_DT_ENDPOINT_SIZE, .bDescriptorType = USB_DT_ENDPOINT,
			.bEndpointAddress = addresses[i],
			.bmAttributes = i == LINE_BULK_OUT ? USB_ENDPOINT_XFER_BULK :
							     USB_ENDPOINT_XFER_INT,
			.wMaxPacketSize = sizes[i], .bInterval = i != LINE_BULK_OUT,
		};

		if (!sizes[i])
			continue;
		f->endpoint[i] = ioctl(f->fd, USB_RAW_IOCTL_EP_ENABLE, &descriptor);
		if (f->endpoint[i] < 0) {
			fprintf(stderr,
				"dealbox-emulator: --gadget: %s has no endpoint for address "
				"%02x: %s\n",
				f->udc, addresses[i], strerror(errno));
			return false;
		}
		if (i != LINE_INT_IN)
			listen_out(f, i);
	}
	ioctl(f->fd, USB_RAW_IOCTL_CONFIGURE, 0);
	f->configured = true;
	return true;
}

/*
 * Halt the endpoint in the controller, which does not report when the host clears the halt.
 */
static void halt(struct gadget_front *f, enum line_index index, uint64_t now)
{
	const struct transfer clear = { .setup = { 2, 1, 0, 0, addresses[index] } };
	struct completion done;

	ioctl(f->fd, USB_RAW_IOCTL_EP_SET_HALT, f->endpoint[index]);
	device_submit(f->front.device, now, &clear);
	device_reap(f->front.device, now, &done);
}

/* --- plugging in ---------------------------------------------------------------------- */

static int plug(struct gadget_front *f)
{
	struct usb_raw_init init = { .speed = USB_SPEED_HIGH };
	int i, error = 0;

	strcpy((char *)init.driver_name, f->driver);
	strcpy((char *)init.device_name, f->udc);
	f->fd = open("/dev/raw-gadget", O_RDWR | O_CLOEXEC);
	if (f->fd < 0)
		return -errno;
	if (ioctl(f->fd, USB_RAW_IOCTL_INIT, &init) || ioctl(f->fd, USB_RAW_IOCTL_RUN, 0)) {
		error = -errno;
		close(f->fd);
		f->fd = -1;
		return error;
	}
	for (i = 0; i < LINES; i++) {
		f->endpoint[i] = -1;
		f->lines[i].quit = f->lines[i].busy = f->lines[i].done = false;
		if (pthread_create(&f->lines[i].thread, NULL, work, &f->lines[i]))
			abort();
	}
	f->asked = f->data_due = f->suspended = false;
	give(f, LINE_EVENTS, USB_RAW_IOCTL_EVENT_FETCH, NULL, 0);
	return 0;
}

static void unplug(struct gadget_front *f)
{
	int i;

	if (f->fd < 0)
		return;
	stop_endpoints(f);
	interrupt_call(f, LINE_EVENTS);
	interrupt_call(f, LINE_CONTROL);
	for (i = 0; i < LINES; i++) {
		pthread_mutex_lock(&f->lines[i].lock);
		f->lines[i].quit = true;
		pthread_cond_broadcast(&f->lines[i].change);
		pthread_mutex_unlock(&f->lines[i].lock);
		pthread_join(f->lines[i].thread, NULL);
	}
	close(f->fd);
	f->fd = -1;
	device_detach(f->front.device);
}

/* Wake the host if it has enabled remote wakeup. */
static void wake(const struct gadget_front *f)
{
	char path[UDC_NAME_LENGTH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "/sys/class/udc/%s/srp", f->udc);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) != 1)
		perror("dealbox-emulator: --gadget: the host cannot be woken");
	close(fd);
}

/* --- the host ------------------------------------------------------------------------- */

static void submit(struct gadget_front *f, enum line_index index, const uint8_t *data,
		   uint32_t length, uint64_t now)
{
	struct transfer transfer = {
		.tag = index | f->setups << TAG_SETUP_SHIFT,
		.endpoint = addresses[index],
		.length = length,
	};

	if (index == LINE_CONTROL) {
		memcpy(transfer.setup, f->setup, sizeof(transfer.setup));
		front_trace(f->front.trace, now, "setup", 0, f->setup, 8);
	}
	if (data)
		memcpy(transfer.data, data, length);
	if (index != LINE_INT_IN)
		front_trace(f->front.trace, now, "submit", transfer.endpoint, transfer.data,
			    data ? length : 0);
	device_submit(f->front.device, now, &transfer);
}

static void forget(struct gadget_front *f)
{
	interrupt_call(f, LINE_CONTROL);
	/*
	 * raw_gadget admits no request before the last one has ended. One that was answered during
	 * a port reset never ends by itself.
	 */
	if (f->asked || f->lines[LINE_CONTROL].result == -ESHUTDOWN)
		stall_control(f);
	f->lines[LINE_CONTROL].result = 0;
	stop_endpoints(f);
	f->asked = f->data_due = f->suspended = false;
	device_detach(f->front.device);
}

/*
 * Execute a command, whose data have arrived. raw_gadget has already acknowledged it to the host.
 */
static void receive_data(struct gadget_front *f, uint64_t now)
{
	int result;

	if (!f->data_due || !collect_result(f, LINE_CONTROL, &result))
		return;
	f->data_due = false;
	if (result >= 0)
		submit(f, LINE_CONTROL, f->lines[LINE_CONTROL].io.transfer.data, result, now);
	else
		f->asked = false;
}

static void take_setup(struct gadget_front *f, const uint8_t *setup, uint64_t now)
{
	uint32_t length = setup[6] | setup[7] << 8;

	/* This does not wait long: raw_gadget admits only one request at a time. */
	lock_idle(&f->lines[LINE_CONTROL]);
	pthread_mutex_unlock(&f->lines[LINE_CONTROL].lock);
	receive_data(f, now);
	memcpy(f->setup, setup, sizeof(f->setup));
	f->setups++;
	f->asked = true;
	f->data_due = !(setup[0] & 0x80) && length;
	if (f->data_due)
		give(f, LINE_CONTROL, USB_RAW_IOCTL_EP0_READ, NULL,
		     length < DEVICE_DATA_MAX ? length : DEVICE_DATA_MAX);
	else
		submit(f, LINE_CONTROL, NULL, length, now);
}

static void take_event(struct gadget_front *f, uint64_t now)
{
	const struct usb_raw_event *event = &f->lines[LINE_EVENTS].io.event;
	int result;

	if (!collect_result(f, LINE_EVENTS, &result) || result)
		return;
	switch (event->type) {
	case EVENT_CONTROL:
		take_setup(f, event->data, now);
		break;
	case EVENT_SUSPEND:
		f->suspended = true;
		/* An event is waiting that the host has not fetched. */
		if (f->configured && busy(f, LINE_INT_IN))
			wake(f);
		break;
	case EVENT_RESUME:
		f->suspended = false;
		break;
	case EVENT_RESET:
	case EVENT_DISCONNECT:
		forget(f);
		break;
	}
	give(f, LINE_EVENTS, USB_RAW_IOCTL_EVENT_FETCH, NULL, 0);
}

/*
 * Process OUT data, but not before a command whose data are due. Different threads receive LOAD and
 * the plan, so the plan may arrive first.
 */
static void receive_out(struct gadget_front *f, enum line_index index, uint64_t now)
{
	int result;

	if (!f->data_due && collect_result(f, index, &result) && result >= 0)
		submit(f, index, f->lines[index].io.transfer.data, result, now);
}

/* Return the device's answer to a control transfer. */
static void answer(struct gadget_front *f, const struct completion *done)
{
	bool given_up = done->tag >> TAG_SETUP_SHIFT != f->setups;
	bool in = f->setup[0] & 0x80;
	bool data = f->setup[6] | f->setup[7];
	bool good = !done->status;

	if (given_up)
		return;		/* the host has sent another request meanwhile */
	f->asked = false;
	if (!in && data)
		return;		/* raw_gadget acknowledged it with the data */
	if (good && !in && f->setup[1] == 9 && !(f->setup[0] & 0x60)) {
		stop_endpoints(f);
		if (f->setup[2])
			good = start_endpoints(f);
	}
	if (!good)
		stall_control(f);
	else if (in && data)
		give(f, LINE_CONTROL, USB_RAW_IOCTL_EP0_WRITE, done->data, done->length);
	else
		give(f, LINE_CONTROL, USB_RAW_IOCTL_EP0_READ, NULL, 0);
}

static void complete(struct gadget_front *f, const struct completion *done, uint64_t now)
{
	enum line_index index = done->tag & TAG_LINE;

	front_trace(f->front.trace, now, "done", done->status, done->data,
		    done->in ? done->length : 0);
	if (index == LINE_CONTROL) {
		answer(f, done);
		return;
	}
	if (done->status == -EPIPE)
		halt(f, index, now);
	if (index != LINE_INT_IN) {
		listen_out(f, index);
		return;
	}
	f->int_in = false;
	if (done->status) {
		/* Bus errors cannot be emulated here. The events are still queued. */
		f->int_in_at = now + RETRY_US;
		return;
	}
	give(f, LINE_INT_IN, USB_RAW_IOCTL_EP_WRITE, done->data, done->length);
	if (f->suspended)
		wake(f);
}

/* --- the front ------------------------------------------------------------------------ */

static unsigned int gadget_poll(struct front *front, struct pollfd *fds)
{
	struct gadget_front *f = (struct gadget_front *)front;

	fds[0] = (struct pollfd){ .fd = f->ended, .events = POLLIN };
	return 1;
}

static void gadget_serve(struct front *front, const struct pollfd *fds, uint64_t now)
{
	struct gadget_front *f = (struct gadget_front *)front;
	eventfd_t count;

	(void)fds;
	if (eventfd_read(f->ended, &count) || f->fd < 0)
		return;
	receive_data(f, now);
	receive_out(f, LINE_BULK_OUT, now);
	receive_out(f, LINE_INT_OUT, now);
	take_event(f, now);
	/* OUT data may have waited for the command that the event completed. */
	receive_out(f, LINE_BULK_OUT, now);
	receive_out(f, LINE_INT_OUT, now);
}

static void gadget_flush(struct front *front, uint64_t now)
{
	struct gadget_front *f = (struct gadget_front *)front;
	bool plugged = machine_view(front->machine).plugged;
	struct completion done;

	if (!plugged)
		unplug(f);
	else if (f->fd < 0 && now >= f->plug_at && plug(f))
		f->plug_at = now + REPLUG_US;
	while (f->fd >= 0) {
		if (f->configured && !f->int_in && now >= f->int_in_at && !busy(f, LINE_INT_IN)) {
			submit(f, LINE_INT_IN, NULL, device_config(front->device)->int_in_size,
			       now);
			f->int_in = true;
		}
		if (!device_reap(front->device, now, &done))
			break;
		complete(f, &done, now);
		/* Space in the event queue may let the mechanics continue. */
		machine_run(front->machine, now);
	}
}

static uint64_t gadget_next(const struct front *front)
{
	const struct gadget_front *f = (const struct gadget_front *)front;
	uint64_t next;

	if (f->fd < 0)
		return machine_view(front->machine).plugged ? f->plug_at : MACHINE_NEVER;
	next = device_next(front->device);
	return f->configured && !f->int_in && f->int_in_at < next &&
	       !busy((struct gadget_front *)f, LINE_INT_IN) ? f->int_in_at : next;
}

static void gadget_close(struct front *front)
{
	struct gadget_front *f = (struct gadget_front *)front;

	unplug(f);
	close(f->ended);
	free(f);
}

static const struct front_ops gadget_ops = {
	.poll = gadget_poll, .serve = gadget_serve, .flush = gadget_flush, .next = gadget_next,
	.close = gadget_close,
};

/* Find the driver of the controller, which raw_gadget requires too. */
static bool find_driver(struct gadget_front *f, const char *udc)
{
	char path[UDC_NAME_LENGTH_MAX + 32], line[200];
	bool found = false;
	FILE *file;

	if (strlen(udc) >= sizeof(f->udc))
		return false;
	strcpy(f->udc, udc);
	snprintf(path, sizeof(path), "/sys/class/udc/%s/uevent", udc);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "USB_UDC_NAME=%127s", f->driver) == 1;
	if (file)
		fclose(file);
	return found;
}

static void explain(const char *udc, int error)
{
	if (error == -ENOENT)
		fputs("dealbox-emulator: --gadget: raw_gadget is not there: modprobe raw_gadget; "
		      "where the kernel has none, see docs/emulator.md\n",
		      stderr);
	else if (error == -EACCES)
		fputs("dealbox-emulator: --gadget: only root may: use sudo\n", stderr);
	else if (error == -EBUSY)
		fprintf(stderr, "dealbox-emulator: --gadget: %s is in use\n", udc);
	else
		fprintf(stderr, "dealbox-emulator: --gadget %s: %s\n", udc, strerror(-error));
}

struct front *front_gadget_open(const char *udc, struct device *device, struct machine *machine,
				FILE *trace)
{
	struct sigaction action = { .sa_handler = nothing };	/* no SA_RESTART: ends calls */
	struct gadget_front *f = calloc(1, sizeof(*f));
	int i, error;

	if (!f)
		return NULL;
	f->front = (struct front){ &gadget_ops, device, machine, trace };
	if (!find_driver(f, udc)) {
		fprintf(stderr,
			"dealbox-emulator: --gadget %s: no such USB device controller; "
			"/sys/class/udc has their names\n",
			udc);
		free(f);
		return NULL;
	}
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < LINES; i++) {
		f->lines[i].f = f;
		pthread_mutex_init(&f->lines[i].lock, NULL);
		pthread_cond_init(&f->lines[i].change, NULL);
	}
	f->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->ended < 0) {
		perror("dealbox-emulator: --gadget");
		free(f);
		return NULL;
	}
	error = plug(f);
	if (error) {
		explain(udc, error);
		close(f->ended);
		free(f);
		return NULL;
	}
	return &f->front;
}
