/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The front that makes this computer the machine: the kernel's raw_gadget on a USB device
 * controller, one of a small board (its cable goes to the host), or dummy_udc.
 *
 * FunctionFS would not do: it refuses descriptors of the type of the machine descriptor.
 * gadgetfs would not either: it refuses a configuration with remote wakeup.
 *
 * raw_gadget knows only calls that block. So each endpoint has a thread that does one of
 * them at a time, and all that is decided is decided by who calls the front.
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

#include "front.h"

#define RETRY_US	10000	/* a broken endpoint is not asked more often */
#define REPLUG_US	100000

/* Types of events; those after CONTROL came with Linux 6.8, and are not in older headers. */
enum { EVENT_CONTROL = 2, EVENT_SUSPEND, EVENT_RESUME, EVENT_RESET, EVENT_DISCONNECT };

enum line_index { LINE_EVENTS, LINE_CONTROL, LINE_BULK_OUT, LINE_INT_IN, LINE_INT_OUT, LINES };

#define TAG_LINE	0x7	/* a transfer's tag: its line, and above that the number of the setup */
#define TAG_SETUP_SHIFT	3

/* The arguments and results of a call; its data follow. */
union io {
	struct usb_raw_ep_io transfer;
	struct usb_raw_event event;
	uint8_t room[sizeof(struct usb_raw_ep_io) + DEVICE_DATA_MAX];
};

/* A thread, the one call that it is to do, and then how it ended. */
struct line {
	struct gadget_front *f;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool busy, quit;
	bool interrupted;	/* the call is to end, by a signal */
	bool done;		/* ... and result is not taken yet */
	int result;
	unsigned long request;	/* ioctl */
	union io io;
};

struct gadget_front {
	struct front front;
	char udc[UDC_NAME_LENGTH_MAX], driver[UDC_NAME_LENGTH_MAX];
	int fd;				/* -1 = not plugged in */
	int ended;			/* eventfd: a thread is out of its call */
	struct line lines[LINES];
	int endpoint[LINES];		/* raw_gadget's number, -1 = not enabled */
	uint64_t plug_at;
	uint8_t setup[8];		/* of the control transfer that is under way */
	uint64_t setups;		/* ... and which one that is */
	bool data_due;			/* ... its data have not been taken from the thread yet */
	bool asked;			/* ... it is with the device, or its data are due */
	bool configured, suspended;
	bool int_in;			/* a transfer for events is with the device */
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
		/* not our signal, but that of who stopped us, or let the computer sleep */
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

/* The host may ask anew before the thread is out of the call that has answered it. */
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

/* True once for each call that has ended: it came to *result, and the data are in io. */
static bool take_result(struct gadget_front *f, enum line_index index, int *result)
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

/* Ends the call that the thread is in, and forgets what came of it. */
static void interrupt(struct gadget_front *f, enum line_index index)
{
	struct line *line = &f->lines[index];

	pthread_mutex_lock(&line->lock);
	line->interrupted = true;
	while (line->busy) {
		struct timespec soon;

		/* again and again: it may just be on its way into the call */
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
		interrupt(f, i);
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
	/* a packet at a time: where a plan ends, the machine knows */
	give(f, index, USB_RAW_IOCTL_EP_READ, NULL, index == LINE_BULK_OUT ? 512 : 16);
}

/* False: the controller has no such endpoint. */
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
			fprintf(stderr, "dealbox-emulator: --gadget: %s has no endpoint for address %02x: %s\n",
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
 * The device says that the endpoint is halted. From now on the controller knows, and
 * does not tell us when the host clears it.
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
	interrupt(f, LINE_EVENTS);
	interrupt(f, LINE_CONTROL);
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

/* Wakes the host, if it has allowed that. */
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

/* --- what the host does --------------------------------------------------------------- */

static void submit(struct gadget_front *f, enum line_index index, const uint8_t *data,
		   uint32_t length, uint64_t now)
{
	struct transfer transfer = {
		.tag = index | f->setups << TAG_SETUP_SHIFT, .endpoint = addresses[index], .length = length,
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
	interrupt(f, LINE_CONTROL);
	/*
	 * raw_gadget lets no request in before the last one has its end, and what was answered
	 * while the port was in reset has none
	 */
	if (f->asked || f->lines[LINE_CONTROL].result == -ESHUTDOWN)
		stall_control(f);
	f->lines[LINE_CONTROL].result = 0;
	stop_endpoints(f);
	f->asked = f->data_due = f->suspended = false;
	device_detach(f->front.device);
}

/*
 * The data of a command have come: the device carries it out. That the host was told so
 * before is raw_gadget's doing.
 */
static void take_data(struct gadget_front *f, uint64_t now)
{
	int result;

	if (!f->data_due || !take_result(f, LINE_CONTROL, &result))
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

	/* raw_gadget lets no second one in before the first is over: this does not wait long */
	lock_idle(&f->lines[LINE_CONTROL]);
	pthread_mutex_unlock(&f->lines[LINE_CONTROL].lock);
	take_data(f, now);
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

	if (!take_result(f, LINE_EVENTS, &result) || result)
		return;
	switch (event->type) {
	case EVENT_CONTROL:
		take_setup(f, event->data, now);
		break;
	case EVENT_SUSPEND:
		f->suspended = true;
		/* an event that the host has not fetched any more */
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
 * A plan may be here before the LOAD that the host sent first: each came to a thread of its
 * own. So it waits for a command whose data are due.
 */
static void take_out(struct gadget_front *f, enum line_index index, uint64_t now)
{
	int result;

	if (!f->data_due && take_result(f, index, &result) && result >= 0)
		submit(f, index, f->lines[index].io.transfer.data, result, now);
}

/* The device has answered a control transfer. */
static void answer(struct gadget_front *f, const struct completion *done)
{
	bool given_up = done->tag >> TAG_SETUP_SHIFT != f->setups;
	bool in = f->setup[0] & 0x80;
	bool data = f->setup[6] | f->setup[7];
	bool good = !done->status;

	if (given_up)
		return;		/* the host asks for something else already */
	f->asked = false;
	if (!in && data)
		return;		/* its end went with the data, before the machine saw them */
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
		/* errors of a bus cannot be made here; the events are in the queue still */
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
	take_data(f, now);
	take_out(f, LINE_BULK_OUT, now);
	take_out(f, LINE_INT_OUT, now);
	take_event(f, now);
	/* what waited for data that the event brought to an end */
	take_out(f, LINE_BULK_OUT, now);
	take_out(f, LINE_INT_OUT, now);
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
		/* room in the queue may let the mechanics go on */
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

/* The name of the controller's driver, which raw_gadget wants to know, too. */
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
		fputs("dealbox-emulator: --gadget: raw_gadget is not there: modprobe raw_gadget; where the kernel has none, see docs/emulator.md\n",
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
	struct sigaction action = { .sa_handler = nothing };	/* ends a call, no SA_RESTART */
	struct gadget_front *f = calloc(1, sizeof(*f));
	int i, error;

	if (!f)
		return NULL;
	f->front = (struct front){ &gadget_ops, device, machine, trace };
	if (!find_driver(f, udc)) {
		fprintf(stderr, "dealbox-emulator: --gadget %s: no such USB device controller; /sys/class/udc has their names\n",
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
