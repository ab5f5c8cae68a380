// SPDX-License-Identifier: LGPL-2.1-or-later
#include "functionfs.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/usb/ch9.h>
#include <linux/usb/functionfs.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transfer.h"

#define SUBCLASS	0x44
#define NATIVE		0x01
#define SERIAL		0x02
#define DESCRIBE	0x00

#define PACKET_MOST	512
/* the longest data stage that the kernel's gadgets take */
#define DATA_MOST	4096
#define STACK		(256u << 10)	/* bytes; of the thread that answers requests */

#define U16(value)	htole16(value)
#define U32(value)	htole32(value)

enum endpoint_index { OUT, IN, GATES, ENDPOINTS };

struct descriptors {
	struct usb_functionfs_descs_head_v2 head;
	__le32 full_count, high_count;
	struct speed {
		struct usb_interface_descriptor interface;
		struct usb_endpoint_descriptor_no_audio endpoints[ENDPOINTS];
	} __attribute__((packed)) speeds[2];
} __attribute__((packed));

/* An endpoint, with one transfer at a time */
struct endpoint {
	int fd;				/* -1 = the machine does not have it */
	uint16_t packet;		/* wMaxPacketSize at the speed of the bus */
	struct transfer transfer;
	struct iocb iocb;
	uint8_t data[PACKET_MOST];
};

struct functionfs {
	const struct core_config *config;
	struct core *core;
	struct serial *serial;
	int control, wake, quit; /* endpoint 0; eventfds, for the caller and for the thread */
	int pending;			/* endpoint 0 again, to ask without waiting */
	aio_context_t aio;
	bool enabled;
	struct endpoint endpoints[ENDPOINTS];

	/* The thread of endpoint 0 sets `asked` and waits; the core's thread posts `answered`. */
	pthread_t thread;
	bool has_thread;
	sem_t answered;
	atomic_bool asked;
	/*
	 * The thread is taking an event from the kernel, which may say that the machine was
	 * configured, or is in the middle of a control transfer, during which nobody can ask for
	 * events.
	 */
	atomic_bool event_due;
	/*
	 * The data of a command are on their way: set before the host can end its transfer. So what
	 * it sends to other endpoints afterwards is not taken before the command.
	 */
	atomic_bool data_due;
	atomic_int failed;		/* errno */
	struct usb_functionfs_event event;
	int length;			/* of the data that came; then of the answer, CORE_STALL */
	uint8_t data[DATA_MOST];
};

/* -- descriptors -- */

static struct usb_endpoint_descriptor_no_audio endpoint(uint8_t address, uint8_t kind,
							uint16_t packet, uint8_t interval)
{
	return (struct usb_endpoint_descriptor_no_audio){
		.bLength = USB_DT_ENDPOINT_SIZE, .bDescriptorType = USB_DT_ENDPOINT,
		.bEndpointAddress = address, .bmAttributes = kind, .wMaxPacketSize = U16(packet),
		.bInterval = interval,
	};
}

static int endpoint_count(const struct functionfs *f)
{
	return f->serial || !(f->config->capabilities & CORE_HOST_ROUTED) ? 2 : 3;
}

/* bulk: the packets of a bulk endpoint; interval: that of 1 ms */
static struct speed speed_of(const struct functionfs *f, uint16_t bulk, uint8_t interval)
{
	return (struct speed){
		.interface = {
			.bLength = USB_DT_INTERFACE_SIZE, .bDescriptorType = USB_DT_INTERFACE,
			.bNumEndpoints = (uint8_t)endpoint_count(f),
			.bInterfaceClass = USB_CLASS_VENDOR_SPEC, .bInterfaceSubClass = SUBCLASS,
			.bInterfaceProtocol = f->serial ? SERIAL : NATIVE,
		},
		.endpoints = {
			[OUT] = endpoint(USB_DIR_OUT | 1, USB_ENDPOINT_XFER_BULK, bulk, 0),
			[IN] = f->serial ?
			       endpoint(USB_DIR_IN | 2, USB_ENDPOINT_XFER_BULK, bulk, 0) :
			       endpoint(USB_DIR_IN | 2, USB_ENDPOINT_XFER_INT,
					2 * CORE_EVENT_BYTES, interval),
			/* more than a command, so that what is longer than one is known */
			[GATES] = endpoint(USB_DIR_OUT | 3, USB_ENDPOINT_XFER_INT, 64, interval),
		},
	};
}

static bool write_whole(int fd, const void *data, size_t length)
{
	const ssize_t written = write(fd, data, length);

	if (written >= 0 && (size_t)written != length)
		errno = EIO;
	return written == (ssize_t)length;
}

/* Endpoint descriptors that the machine does not have are left out: they are the last. */
static bool write_descriptors(const struct functionfs *f)
{
	const struct usb_functionfs_strings_head strings = {
		.magic = U32(FUNCTIONFS_STRINGS_MAGIC), .length = U32(sizeof(strings)),
	};
	const size_t count = (size_t)endpoint_count(f);
	const size_t speed = sizeof(struct usb_interface_descriptor) +
			     count * sizeof(struct usb_endpoint_descriptor_no_audio);
	const struct speed full = speed_of(f, 64, 1), high = speed_of(f, 512, 4);
	struct descriptors all = {
		.head = {
			.magic = U32(FUNCTIONFS_DESCRIPTORS_MAGIC_V2),
			.length = U32((uint32_t)(offsetof(struct descriptors, speeds) + 2 * speed)),
			.flags = U32(FUNCTIONFS_HAS_FS_DESC | FUNCTIONFS_HAS_HS_DESC),
		},
		.full_count = U32((uint32_t)(1 + count)), .high_count = U32((uint32_t)(1 + count)),
	};

	memcpy(all.speeds, &full, speed);
	memcpy((uint8_t *)all.speeds + speed, &high, speed);
	return write_whole(f->control, &all, le32toh(all.head.length)) &&
	       write_whole(f->control, &strings, sizeof(strings));
}

/* -- endpoint 0, in a thread -- */

/* Returns when the core has answered. */
static void ask(struct functionfs *f)
{
	atomic_store(&f->asked, true);
	eventfd_write(f->wake, 1);
	while (sem_wait(&f->answered))
		;
}

static bool goes_in(const struct usb_ctrlrequest *setup)
{
	return setup->bRequestType & USB_DIR_IN;
}

/* FunctionFS stalls when the data go in the other direction than the request says. */
static void stall(struct functionfs *f, const struct usb_ctrlrequest *setup)
{
	if (goes_in(setup))
		(void)!read(f->control, f->data, 0);
	else
		(void)!write(f->control, f->data, 0);
}

/* The host has given up the transfer if a call fails; its next request is an event of its own. */
static void take_setup(struct functionfs *f)
{
	const struct usb_ctrlrequest setup = f->event.u.setup;
	const uint16_t length = le16toh(setup.wLength);

	f->length = 0;
	if (!goes_in(&setup) && length) {
		/* Only commands have data: once those are read, nothing can be stalled any more. */
		if (f->serial || setup.bRequestType != (USB_TYPE_VENDOR | USB_RECIP_INTERFACE) ||
		    length > DATA_MOST) {
			stall(f, &setup);
			return;
		}
		atomic_store(&f->data_due, true);
		f->length = (int)read(f->control, f->data, length);
		if (f->length >= 0) {
			ask(f);
			return;
		}
		atomic_store(&f->data_due, false);
		return;
	}
	ask(f);
	if (f->length == CORE_STALL)
		stall(f, &setup);
	else if (goes_in(&setup))
		(void)!write(f->control, f->data, (size_t)f->length);
	else
		(void)!read(f->control, f->data, 0);
}

static void *serve_control(void *context)
{
	struct functionfs *f = context;
	int error = 0;

	while (!error) {
		struct pollfd fds[] = { { f->control, POLLIN, 0 }, { f->quit, POLLIN, 0 } };
		ssize_t got;

		/* The read is not to be interrupted: poll first. */
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			return NULL;
		atomic_store(&f->event_due, true);
		got = read(f->control, &f->event, sizeof(f->event));
		if (got < 0)
			error = errno == EINTR || errno == EIDRM || errno == EAGAIN ? 0 : errno;
		else if (f->event.type != FUNCTIONFS_SETUP)
			ask(f);
		else
			take_setup(f);
		atomic_store(&f->event_due, false);
		/* functionfs_flush() may have waited for this */
		eventfd_write(f->wake, 1);
	}
	atomic_store(&f->failed, error);
	eventfd_write(f->wake, 1);
	return NULL;
}

/* -- the other endpoints -- */

/* An event waits in the kernel. */
static bool is_queued(const struct functionfs *f)
{
	struct pollfd fd = { .fd = f->pending, .events = POLLIN };

	return poll(&fd, 1, 0);
}

/*
 * An event waits, or a request that is not finished: the endpoints may have been enabled anew,
 * which the core does not know yet. The thread tells the end of both.
 */
static bool is_pending(const struct functionfs *f)
{
	return atomic_load(&f->event_due) || is_queued(f);
}

/* Give a transfer to the kernel: an event of its completion arrives at f->wake. */
static void submit(struct functionfs *f, struct endpoint *e, uint16_t opcode, uint16_t length)
{
	struct iocb *iocb = &e->iocb;
	bool taken;

	*iocb = (struct iocb){
		.aio_data = (uint64_t)(uintptr_t)e, .aio_lio_opcode = opcode,
		.aio_fildes = (uint32_t)e->fd, .aio_buf = (uint64_t)(uintptr_t)e->data,
		.aio_nbytes = length, .aio_flags = IOCB_FLAG_RESFD, .aio_resfd = (uint32_t)f->wake,
	};
	taken = syscall(SYS_io_submit, f->aio, 1L, &iocb) == 1;
	transfer_begin(&e->transfer, taken, is_pending(f));
}

static void listen_out(struct functionfs *f, struct endpoint *e)
{
	const struct transfer *t = &e->transfer;

	if (e->fd >= 0 && !t->busy && !t->has_data && !t->rests)
		submit(f, e, IOCB_CMD_PREAD, e->packet);
}

static void collect(struct functionfs *f)
{
	struct io_event done[ENDPOINTS];
	struct timespec at_once = { 0, 0 };
	const long count = syscall(SYS_io_getevents, f->aio, 0L, (long)ENDPOINTS, done, &at_once);

	for (long i = 0; i < count; i++) {
		struct endpoint *e = (struct endpoint *)(uintptr_t)done[i].data;

		transfer_end(&e->transfer, e->iocb.aio_lio_opcode == IOCB_CMD_PWRITE,
			     (uint16_t)e->iocb.aio_nbytes, done[i].res);
	}
}

/* Returns true if the endpoint has data for the core, which has to take them at once. */
static bool take(const struct functionfs *f, struct endpoint *e)
{
	if (!e->transfer.has_data || !transfer_is_due(&e->transfer, is_pending(f)))
		return false;
	e->transfer.has_data = false;
	return true;
}

static void take_data(struct functionfs *f)
{
	struct endpoint *out = &f->endpoints[OUT], *gates = &f->endpoints[GATES];

	const uint16_t length = out->transfer.length;

	if (take(f, gates))
		core_gate(f->core, gates->data, gates->transfer.length);
	if (!take(f, out))
		return;
	if (f->serial)
		serial_take(f->serial, f->core, out->data, length);
	else if (length && !core_bulk(f->core, out->data, length))
		/* written to in the wrong direction, an endpoint is halted */
		(void)!write(out->fd, out->data, 1);
}

/* -- what the thread asks -- */

static void configure_transfers(struct functionfs *f, bool enabled)
{
	struct endpoint *in = &f->endpoints[IN];
	struct io_event unused;

	/* The core has forgotten the events in this transfer, so the host must not get them. */
	if (in->transfer.busy)
		syscall(SYS_io_cancel, f->aio, &in->iocb, &unused);
	f->enabled = enabled;
	for (int i = 0; i < ENDPOINTS; i++)
		transfer_configure(&f->endpoints[i].transfer, enabled);
	if (f->serial)
		serial_reset(f->serial);
}

static void disable(struct functionfs *f)
{
	configure_transfers(f, false);
	core_deconfigure(f->core);
}

/*
 * FunctionFS tells the same of SET_CONFIGURATION, in which its "disabled" is lost, and of
 * SET_INTERFACE. A machine that took the first for the second would keep a plan that it must
 * forget.
 */
static void enable(struct functionfs *f)
{
	struct usb_endpoint_descriptor descriptor;

	configure_transfers(f, true);
	for (int i = 0; i < ENDPOINTS; i++) {
		struct endpoint *e = &f->endpoints[i];

		if (e->fd < 0)
			continue;
		e->transfer.rests = ioctl(e->fd, FUNCTIONFS_ENDPOINT_DESC, &descriptor);
		if (!e->transfer.rests)
			e->packet = le16toh(descriptor.wMaxPacketSize) & 0x7ff;
		if (e->packet > PACKET_MOST)
			e->packet = PACKET_MOST;
	}
	core_configure(f->core);
}

static void control(struct functionfs *f)
{
	const struct usb_ctrlrequest *setup = &f->event.u.setup;
	uint8_t bytes[8], answer[CORE_ANSWER_BYTES];

	/* The serial dialect has one request here (R-S1-6). */
	if (f->serial && setup->bRequest != DESCRIBE) {
		f->length = CORE_STALL;
		return;
	}
	memcpy(bytes, setup, sizeof(bytes));
	f->length = core_control(f->core, bytes, f->data, (uint16_t)f->length, answer);
	if (f->length > 0)
		memcpy(f->data, answer, (size_t)f->length);
}

static void settle_transfers(struct functionfs *f)
{
	for (int i = 0; i < ENDPOINTS; i++)
		transfer_settle(&f->endpoints[i].transfer);
}

static void answer_thread(struct functionfs *f)
{
	if (!atomic_load(&f->asked))
		return;
	switch (f->event.type) {
	case FUNCTIONFS_ENABLE:
		enable(f);
		break;
	case FUNCTIONFS_DISABLE:
	case FUNCTIONFS_UNBIND:
		disable(f);
		break;
	case FUNCTIONFS_SETUP:
		settle_transfers(f);
		control(f);
		break;
	default:	/* suspended or not: nothing is lost, and no host is woken */
		/*
		 * The kernel keeps this event before a configuration, which may have enabled the
		 * endpoints.
		 */
		if (!is_queued(f))
			settle_transfers(f);
		break;
	}
	/* before the thread may go on, and ask again */
	atomic_store(&f->data_due, false);
	atomic_store(&f->asked, false);
	sem_post(&f->answered);
}

/* -- the interface -- */

int functionfs_serve(struct functionfs *f)
{
	eventfd_t count;

	eventfd_read(f->wake, &count);
	/* In this order: a command whose data are due then came before what is collected. */
	collect(f);
	if (!atomic_load(&f->data_due))
		take_data(f);
	answer_thread(f);
	if (!atomic_load(&f->data_due))
		take_data(f);
	return -atomic_load(&f->failed);
}

static uint16_t give_events(struct functionfs *f, struct endpoint *e)
{
	uint16_t length = 0;

	/* less than a packet, so that the host sees the end of each transfer */
	if (f->serial)
		return (uint16_t)serial_give(f->serial, f->core, e->data, e->packet - 1u);
	while (length + CORE_EVENT_BYTES <= e->packet && core_event(f->core, e->data + length))
		length = (uint16_t)(length + CORE_EVENT_BYTES);
	return length;
}

void functionfs_flush(struct functionfs *f)
{
	struct endpoint *in = &f->endpoints[IN];
	uint16_t length;

	/* Nothing of before a configuration may go to the host. */
	if (!f->enabled || is_pending(f))
		return;
	listen_out(f, &f->endpoints[OUT]);
	listen_out(f, &f->endpoints[GATES]);
	if (in->transfer.busy || in->transfer.rests || is_pending(f))
		return;
	length = in->transfer.again ? in->transfer.again : give_events(f, in);
	in->transfer.again = 0;
	if (length)
		submit(f, in, IOCB_CMD_PWRITE, length);
}

int functionfs_fd(const struct functionfs *f)
{
	return f->wake;
}

static bool open_file(const char *folder, const char *name, int flags, int *fd)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	*fd = open(path, O_RDWR | O_CLOEXEC | flags);
	return *fd >= 0;
}

static bool open_all(struct functionfs *f, const char *folder)
{
	static const char *const names[ENDPOINTS] = { "ep1", "ep2", "ep3" };
	pthread_attr_t thread;

	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->quit = eventfd(0, EFD_CLOEXEC);
	if (f->wake < 0 || f->quit < 0 || syscall(SYS_io_setup, (long)ENDPOINTS, &f->aio) ||
	    !open_file(folder, "ep0", 0, &f->control) ||
	    !open_file(folder, "ep0", O_NONBLOCK, &f->pending) || !write_descriptors(f))
		return false;
	for (int i = 0; i < endpoint_count(f); i++)
		/* an endpoint that is not enabled must not be waited for */
		if (!open_file(folder, names[i], O_NONBLOCK, &f->endpoints[i].fd))
			return false;
	pthread_attr_init(&thread);
	/* all of it is locked in memory, of which a service may have a limit */
	pthread_attr_setstacksize(&thread, STACK);
	errno = pthread_create(&f->thread, &thread, serve_control, f);
	pthread_attr_destroy(&thread);
	f->has_thread = !errno;
	return f->has_thread;
}

struct functionfs *functionfs_open(const char *folder, const struct core_config *config,
				   struct core *core, struct serial *serial)
{
	const bool refuses = config->capabilities & CORE_REFUSES_BY_RESULT;
	struct functionfs *f;
	int error;

	if (refuses == !!serial || config->interface) {
		errno = EINVAL;
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->config = config;
	f->core = core;
	f->serial = serial;
	f->control = f->pending = f->wake = f->quit = -1;
	for (int i = 0; i < ENDPOINTS; i++)
		f->endpoints[i].fd = -1;
	sem_init(&f->answered, 0, 0);
	if (serial)
		serial_reset(serial);
	if (open_all(f, folder))
		return f;
	error = errno;
	functionfs_close(f);
	errno = error;
	return NULL;
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

void functionfs_close(struct functionfs *f)
{
	if (!f)
		return;
	if (f->has_thread) {
		/* in this order: what it asks has no answer any more */
		eventfd_write(f->quit, 1);
		f->length = CORE_STALL;
		sem_post(&f->answered);
		pthread_join(f->thread, NULL);
	}
	if (f->aio)
		syscall(SYS_io_destroy, f->aio);
	for (int i = 0; i < ENDPOINTS; i++)
		close_file(f->endpoints[i].fd);
	close_file(f->pending);
	close_file(f->control);
	close_file(f->wake);
	close_file(f->quit);
	sem_destroy(&f->answered);
	/* it held plans and events */
	explicit_bzero(f, sizeof(*f));
	free(f);
}
