// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * stream SECONDS FILE: the cost of reading a machine's events, and the highest rate.
 *
 * The module, libusb and hidraw read the same packets. FILE gets one line for each: its name, the
 * processor time of the reader and of the kernel's threads in ns per event at COMPARED_RATE, and
 * the highest rate in events per second without a gap. Each try takes SECONDS.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libusb.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "stream_machine.h"
#include "wire.h"

#define COMPARED_RATE	1000	/* events a second */
#define SLOWEST_RATE	1000
#define FASTEST_RATE	1000000
#define STEPS		12	/* of a binary search on a logarithmic scale */
#define IN_FLIGHT	8
#define QUIET_MS	200	/* silence after which no more packets are expected */
#define PATIENCE_MS	60000

/* The events of one order that a reader got. */
struct tally {
	uint32_t read, last;	/* count of events; number of the last */
	uint64_t first_ns, last_ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void tally_event(struct tally *tally, uint32_t number)
{
	if (number <= tally->last)
		errx(3, "event %u comes behind event %u", number, tally->last);
	tally->last = number;
	tally->read++;
}

static void tally_time(struct tally *tally)
{
	tally->last_ns = now_ns();
	if (!tally->first_ns)
		tally->first_ns = tally->last_ns;
}

static void tally_packet(struct tally *tally, const uint8_t *bytes, size_t length)
{
	struct wire_event event;

	for (; length >= WIRE_EVENT_SIZE; length -= WIRE_EVENT_SIZE, bytes += WIRE_EVENT_SIZE) {
		dealbox_decode_event(bytes, &event);
		tally_event(tally, event.number);
	}
	tally_time(tally);
}

/* --- readers: each reads until the machine has reported and no more events come ---------- */

/* Reads the machine's report, if there is one. */
static bool take_report(const struct stream_machine *machine, struct stream_report *report)
{
	return recv(machine->orders, report, sizeof(*report), MSG_DONTWAIT) == sizeof(*report);
}

static void read_node(int fd, const struct stream_machine *machine, struct tally *tally,
		      struct stream_report *report, void (*take)(struct tally *, int))
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN }, { .fd = machine->orders, .events = POLLIN },
	};
	int ready;

	for (;;) {
		ready = poll(fds, 2, fds[1].fd < 0 ? QUIET_MS : PATIENCE_MS);
		if (!ready && fds[1].fd < 0)
			return;
		if (ready <= 0)
			errx(3, "no events come");
		if (fds[0].revents)
			take(tally, fd);
		if (fds[1].revents && take_report(machine, report))
			fds[1].fd = -1;
	}
}

static void take_records(struct tally *tally, int fd)
{
	struct dealbox_event events[64];
	ssize_t i, got = read(fd, events, sizeof(events));

	if (got < 0)
		err(3, "read");
	for (i = 0; i < got / (ssize_t)sizeof(*events); i++)
		tally_event(tally, events[i].machine_seq);
	tally_time(tally);
}

static void take_hid_report(struct tally *tally, int fd)
{
	uint8_t bytes[STREAM_PACKET];
	ssize_t got = read(fd, bytes, sizeof(bytes));

	if (got < 0)
		err(3, "read");
	tally_packet(tally, bytes, got);
}

static void by_module(int fd, const struct stream_machine *machine, struct tally *tally,
		      struct stream_report *report)
{
	read_node(fd, machine, tally, report, take_records);
}

static void by_hidraw(int fd, const struct stream_machine *machine, struct tally *tally,
		      struct stream_report *report)
{
	read_node(fd, machine, tally, report, take_hid_report);
}

static struct usb {
	libusb_device_handle *handle;
	struct libusb_transfer *transfers[IN_FLIGHT];
	uint8_t bytes[IN_FLIGHT][STREAM_PACKET];
	struct tally *tally;
} usb;

static void need(int result, const char *what)
{
	if (result < 0)
		errx(3, "%s: %s", what, libusb_strerror(result));
}

static void LIBUSB_CALL packet_came(struct libusb_transfer *transfer)
{
	if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
		errx(3, "events: %d", transfer->status);
	if (usb.tally)
		tally_packet(usb.tally, transfer->buffer, transfer->actual_length);
	need(libusb_submit_transfer(transfer), "events");
}

static int usb_open(void)
{
	int i;

	need(libusb_init(NULL), "libusb");
	usb.handle = libusb_open_device_with_vid_pid(NULL, DEVICE_VENDOR, DEVICE_PRODUCT);
	if (!usb.handle)
		errx(3, "libusb finds no machine");
	need(libusb_set_auto_detach_kernel_driver(usb.handle, 1), "libusb");
	need(libusb_claim_interface(usb.handle, 0), "libusb");
	for (i = 0; i < IN_FLIGHT; i++) {
		usb.transfers[i] = libusb_alloc_transfer(0);
		libusb_fill_interrupt_transfer(usb.transfers[i], usb.handle, 0x82, usb.bytes[i],
					       STREAM_PACKET, packet_came, NULL, 0);
		need(libusb_submit_transfer(usb.transfers[i]), "events");
	}
	return -1;
}

static void by_libusb(int fd, const struct stream_machine *machine, struct tally *tally,
		      struct stream_report *report)
{
	struct timeval quiet = { .tv_usec = QUIET_MS * 1000 };
	bool reported = false;
	uint32_t before;

	(void)fd;
	usb.tally = tally;
	do {
		before = tally->read;
		need(libusb_handle_events_timeout_completed(NULL, &quiet, NULL), "libusb");
		if (before == tally->read && !reported)
			reported = take_report(machine, report);
		else if (before == tally->read)
			break;
	} while (true);
	usb.tally = NULL;
}

static int node_open(const char *path)
{
	uint64_t limit = now_ns() + PATIENCE_MS * 1000000ULL;
	const struct timespec moment = { .tv_nsec = 10000000 };
	int fd;

	while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
		if (now_ns() > limit)
			err(3, "%s", path);
		nanosleep(&moment, NULL);
	}
	return fd;
}

static int module_open(void)
{
	return node_open("/dev/dealbox0");
}

static int hidraw_open(void)
{
	return node_open("/dev/hidraw0");
}

static const struct reader {
	const char *name;
	enum stream_kind kind;
	int (*open)(void);
	void (*run)(int fd, const struct stream_machine *machine, struct tally *tally,
		    struct stream_report *report);
} readers[] = {
	{ "module", STREAM_DEALING, module_open, by_module },
	{ "libusb", STREAM_DEALING, usb_open, by_libusb },
	{ "hidraw", STREAM_HID, hidraw_open, by_hidraw },
};

/* --- processor time --------------------------------------------------------------------------- */

static uint64_t run_ns(const char *process)
{
	uint64_t ns = 0;
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/schedstat", process);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%" SCNu64, &ns) != 1)
		errx(3, "%s cannot be read", path);
	fclose(file);
	return ns;
}

/* The threads of vhci_hcd do the work of interrupts on a real port. */
static uint64_t kernel_ns(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t ns = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], name[32] = "";
		FILE *file;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && !strncmp(name, "vhci_", 5))
			ns += run_ns(entry->d_name);
		fclose(file);
	}
	if (proc)
		closedir(proc);
	return ns;
}

/* --- figures ----------------------------------------------------------------------- */

struct figures {
	uint32_t lost;
	double reader_ns, kernel_ns;	/* per event */
	double rate;			/* events a second, measured */
};

static struct figures try(const struct reader *reader, int fd, const struct stream_machine *machine,
			  double rate, double seconds)
{
	const struct stream_order order = {
		.packets = rate * seconds / STREAM_EVENTS + 1,
		.period_ns = 1e9 * STREAM_EVENTS / rate,
	};
	struct tally tally = { 0 };
	struct stream_report report;
	uint64_t kernel = kernel_ns(), mine = run_ns("self");

	stream_go(machine, &order);
	reader->run(fd, machine, &tally, &report);
	mine = run_ns("self") - mine;
	kernel = kernel_ns() - kernel;
	if (tally.read < 2)
		errx(3, "%s: no events come", reader->name);
	return (struct figures){
		.lost = report.end - report.first - tally.read,
		.reader_ns = (double)mine / tally.read,
		.kernel_ns = (double)kernel / tally.read,
		.rate = (tally.read - 1) * 1e9 / (tally.last_ns - tally.first_ns),
	};
}

static void progress(const struct reader *reader, double rate)
{
	if (!isatty(1))
		return;
	printf("\r\033[Kreading by %s: %.0f events a second", reader->name, rate);
	fflush(stdout);
}

/* Returns the highest rate without a gap, in events per second. */
static double most(const struct reader *reader, int fd, const struct stream_machine *machine,
		   double seconds)
{
	double low = SLOWEST_RATE, high = FASTEST_RATE, best = 0;
	struct figures figures;
	int step;

	for (step = 0; step < STEPS; step++) {
		double rate = sqrt(low * high);

		progress(reader, rate);
		figures = try(reader, fd, machine, rate, seconds);
		if (figures.lost) {
			high = rate;
		} else {
			low = rate;
			if (figures.rate > best)
				best = figures.rate;
		}
	}
	return best;
}

int main(int argc, char **argv)
{
	struct stream_machine machine;
	struct figures figures;
	double seconds, rate;
	FILE *file;
	size_t i;
	int fd;

	if (argc != 3 || (seconds = atof(argv[1])) <= 0)
		errx(2, "usage: stream SECONDS FILE");
	file = fopen(argv[2], "we");
	if (!file)
		err(3, "%s", argv[2]);
	for (i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
		const struct reader *reader = &readers[i];

		if (!i || reader->kind != readers[i - 1].kind) {
			if (i)
				stream_unplug(&machine);
			stream_plug(&machine, reader->kind);
		}
		fd = reader->open();
		progress(reader, COMPARED_RATE);
		figures = try(reader, fd, &machine, COMPARED_RATE, seconds);
		if (figures.lost)
			errx(3, "%s loses events already at %d a second", reader->name,
			     COMPARED_RATE);
		rate = most(reader, fd, &machine, seconds);
		fprintf(file, "%s %.0f %.0f %.0f\n", reader->name, figures.reader_ns,
			figures.kernel_ns, rate);
		if (fd >= 0)
			close(fd);
	}
	stream_unplug(&machine);
	if (isatty(1))
		fputs("\r\033[K", stdout);
	return fclose(file) ? 3 : 0;
}
