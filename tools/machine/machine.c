// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox-machine: the program of a machine's board. Options, files, and the event loop. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "functionfs.h"
#include "learn.h"
#include "measure.h"
#include "mechanics.h"
#include "sign.h"
#include "signals.h"
#include "store.h"
#include "wiring.h"

#define EXIT_USAGE	2	/* the command line, the wiring, or the ids */
#define EXIT_MACHINE	3	/* a file, a line or the USB device failed */

#define TEST_VENDOR	0x1209
#define TEST_PRODUCT	0x0001

/* core_clock() is called at least so often while a deal runs */
#define TICK_US		10000
#define WIRING_MOST	65536

struct options {
	const char *wiring, *gadget, *functionfs, *state, *learn;
	uint32_t gate_deadline;		/* µs; 0: a stored-plan machine */
	bool serial, test, measure;
};

static struct machine {
	struct wiring wiring;
	struct core_config config;
	struct core_orders orders;
	struct core_attest attest;
	struct core core;
	struct serial serial;
	struct signer signer;
	struct mechanics *mechanics;
	struct functionfs *functionfs;
	int record;
} machine;

static const char usage[] =
	"usage: dealbox-machine [OPTION]...\n"
	"\n"
	"Be a dealing machine: move cards by the lines of GPIO chips, and speak to the\n"
	"host by a USB device controller. See dealbox-machine(8).\n"
	"\n"
	"  --wiring FILE        lines and times (/etc/dealbox/machine.conf)\n"
	"  --gate-deadline MS   the host routes each card, within so many ms, 1 to 400;\n"
	"                       without it, the machine stores plans\n"
	"  --dialect DIALECT    native or serial\n"
	"  --gadget FOLDER      of configfs (/sys/kernel/config/usb_gadget/dealbox)\n"
	"  --functionfs FOLDER  where it is mounted (/run/dealbox-machine/usb)\n"
	"  --state FOLDER       where numbers are kept (/var/lib/dealbox-machine)\n"
	"  --test               start with the ids 1209:0001, which are for tests\n"
	"  --learn FILE         no machine: find out the wiring, and write this file\n"
	"  --measure            no machine: let cards pass, and print how long they take\n"
	"  --help               print this text\n"
	"  --version            print the version\n";

__attribute__((format(printf, 2, 3), noreturn))
static void die(int status, const char *format, ...)
{
	va_list args;

	fputs("dealbox-machine: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

/* -- options -- */

static uint32_t milliseconds(const char *text)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < 1 || value > 400)
		die(EXIT_USAGE, "--gate-deadline %s: a number from 1 to 400 is needed", text);
	return (uint32_t)value * 1000;
}

static bool is_serial(const char *text)
{
	if (strcmp(text, "native") && strcmp(text, "serial"))
		die(EXIT_USAGE, "--dialect %s: native or serial is needed", text);
	return *text == 's';
}

static struct options parse(int argc, char **argv)
{
	static const struct option names[] = {
		{ "wiring", required_argument, NULL, 'w' },
		{ "gate-deadline", required_argument, NULL, 'r' },
		{ "dialect", required_argument, NULL, 'd' },
		{ "gadget", required_argument, NULL, 'g' },
		{ "functionfs", required_argument, NULL, 'f' },
		{ "state", required_argument, NULL, 's' },
		{ "test", no_argument, NULL, 't' },
		{ "learn", required_argument, NULL, 'l' },
		{ "measure", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 },
	};
	struct options o = {
		.wiring = "/etc/dealbox/machine.conf",
		.gadget = "/sys/kernel/config/usb_gadget/dealbox",
		.functionfs = "/run/dealbox-machine/usb",
		.state = "/var/lib/dealbox-machine",
	};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (option) {
		case 'w':
			o.wiring = optarg;
			break;
		case 'r':
			o.gate_deadline = milliseconds(optarg);
			break;
		case 'd':
			o.serial = is_serial(optarg);
			break;
		case 'g':
			o.gadget = optarg;
			break;
		case 'f':
			o.functionfs = optarg;
			break;
		case 's':
			o.state = optarg;
			break;
		case 't':
			o.test = true;
			break;
		case 'l':
			o.learn = optarg;
			break;
		case 'm':
			o.measure = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'v':
			puts("dealbox-machine " MACHINE_VERSION);
			exit(0);
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "%s: an option is needed; see --help", argv[optind]);
	return o;
}

/* -- files -- */

/*
 * Return whether there is a file of at most `size` - 1 bytes, and store it with a zero behind it.
 */
static bool read_file(const char *folder, const char *name, char *text, size_t size)
{
	char path[4096];
	size_t got;
	FILE *file;

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", folder, *name ? "/" : "", name) >=
	    sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fread(text, 1, size - 1, file);
	text[got] = '\0';
	errno = ferror(file) ? EIO : fgetc(file) != EOF ? EFBIG : 0;
	fclose(file);
	return !errno;
}

static unsigned long read_id(const struct options *o, const char *name)
{
	char text[32];

	if (!read_file(o->gadget, name, text, sizeof(text)))
		die(EXIT_MACHINE, "%s/%s: %s; dealbox-machine-usb create makes the gadget",
		    o->gadget, name, strerror(errno));
	return strtoul(text, NULL, 16);
}

/* Every test answers to these ids: a host would take one machine for another. */
static void check_ids(const struct options *o)
{
	const unsigned long vendor = read_id(o, "idVendor"), product = read_id(o, "idProduct");

	if (vendor == TEST_VENDOR && product == TEST_PRODUCT && !o->test)
		die(EXIT_USAGE,
		    "1209:0001 is for tests; a machine needs ids of its own: see "
		    "docs/build-a-machine.md, or --test");
}

static void read_wiring(const struct options *o)
{
	static char text[WIRING_MOST];
	unsigned int line;

	if (!read_file(o->wiring, "", text, sizeof(text)))
		die(EXIT_USAGE, "%s: %s", o->wiring, strerror(errno));
	line = wiring_read(&machine.wiring, text);
	if (line)
		die(EXIT_USAGE, "%s:%u: %s", o->wiring, line, machine.wiring.error);
}

/* A machine whose folder has a file `key` of 32 bytes signs with it what it saw of a deal. */
static void read_key(const struct options *o)
{
	uint8_t seed[SIGNER_SEED_BYTES];
	char path[4096];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/key", o->state);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return;
	got = fd < 0 ? -1 : read(fd, seed, sizeof(seed));
	if (got != (ssize_t)sizeof(seed) || sodium_init() < 0)
		die(EXIT_MACHINE, "%s: %s", path, got < 0 ? strerror(errno) : "no key of 32 bytes");
	close(fd);
	signer_make(&machine.signer, seed);
	explicit_bzero(seed, sizeof(seed));
	machine.attest = signer_attest(&machine.signer);
	machine.orders.attest = &machine.attest;
}

static bool store(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	return store_write(*(const int *)context, slot, bytes);
}

static void open_record(const struct options *o, uint8_t slots[RECORD_SLOTS][RECORD_BYTES])
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/record", o->state);
	machine.record = store_open(path, slots);
	if (machine.record >= 0)
		return;
	if (errno == EWOULDBLOCK)
		die(EXIT_MACHINE, "%s is in use: dealbox-machine runs already", path);
	if (errno == EUCLEAN)
		die(EXIT_MACHINE,
		    "%s is damaged: numbers of insertions could be given twice, so the machine "
		    "does not start", path);
	die(EXIT_MACHINE, "%s: %s", path, strerror(errno));
}

/* -- the machine -- */

static void configure(const struct options *o)
{
	wiring_config(&machine.wiring, &machine.config);
	machine.config.firmware = MACHINE_FIRMWARE;
	/* no statement of a test may pass for that of a machine */
	machine.config.emulated = o->test;
	machine.config.gate_deadline = o->gate_deadline;
	machine.config.capabilities |= CORE_BY_CARD | CORE_BY_POSITION | CORE_CAPTURE |
				       (o->gate_deadline ? CORE_HOST_ROUTED : CORE_STORED_PLAN) |
				       (o->serial ? 0 : CORE_REFUSES_BY_RESULT);
	if (machine.orders.attest)
		machine.config.capabilities |= CORE_ATTEST;
	if (!core_config_is_valid(&machine.config))
		die(EXIT_USAGE, "%s: no machine can be like this", o->wiring);
}

static void start(const struct options *o)
{
	uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	struct core_sensors sensors = { 0 };
	char text[300];

	check_ids(o);
	read_wiring(o);
	open_record(o, slots);
	machine.mechanics = mechanics_open(&machine.wiring, text, sizeof(text));
	if (!machine.mechanics)
		die(EXIT_MACHINE, "%s", text);
	machine.orders = mechanics_orders(machine.mechanics, store, &machine.record);
	read_key(o);
	configure(o);
	mechanics_sensors(machine.mechanics, &sensors);
	core_start(&machine.core, &machine.config, &machine.orders, machine.mechanics,
		   mechanics_clock(), &sensors, slots);
	/* before the thread of the USB device starts: the other one waits for it */
	if (mechanics_real_time(text, sizeof(text)))
		fprintf(stderr, "dealbox-machine: %s\n", text);
	machine.functionfs = functionfs_open(o->functionfs, &machine.config, &machine.core,
					     o->serial ? &machine.serial : NULL);
	if (!machine.functionfs)
		die(EXIT_MACHINE, "%s: %s; dealbox-machine-usb create mounts it", o->functionfs,
		    strerror(errno));
}

/* Returns the exit status. Nothing is allocated here. */
static int run(int signals)
{
	struct pollfd fds[] = {
		{ .fd = mechanics_fd(machine.mechanics), .events = POLLIN },
		{ .fd = functionfs_fd(machine.functionfs), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	int error;

	for (;;) {
		const uint32_t next = core_next(&machine.core);
		const struct timespec time = {
			.tv_nsec = (next < TICK_US ? next : TICK_US) * 1000L
		};

		if (ppoll(fds, sizeof(fds) / sizeof(*fds), &time, NULL) < 0 && errno != EINTR)
			break;
		core_clock(&machine.core, mechanics_clock());
		error = mechanics_handle(machine.mechanics, &machine.core);
		if (error) {
			fprintf(stderr, "dealbox-machine: GPIO: %s\n", strerror(-error));
			return EXIT_MACHINE;
		}
		error = functionfs_serve(machine.functionfs);
		if (error) {
			fprintf(stderr, "dealbox-machine: FunctionFS: %s\n", strerror(-error));
			return EXIT_MACHINE;
		}
		functionfs_flush(machine.functionfs);
		if (fds[2].revents)
			return 0;
	}
	perror("dealbox-machine: poll");
	return EXIT_MACHINE;
}

/* A deal that runs ends, and is counted as void; then the lines and the device go. */
static void stop(void)
{
	core_clock(&machine.core, mechanics_clock());
	core_deconfigure(&machine.core);
	mechanics_close(machine.mechanics);
	functionfs_close(machine.functionfs);
	close(machine.record);
	signer_wipe(&machine.signer);
	explicit_bzero(&machine.core, sizeof(machine.core));
}

int main(int argc, char **argv)
{
	const struct options options = parse(argc, argv);
	int signals, status;

	if (options.learn)
		return learn(options.learn, stdin, stdout) ? EXIT_MACHINE : 0;
	signals = signals_open();
	if (signals < 0)
		die(EXIT_MACHINE, "signalfd: %s", strerror(errno));
	if (options.measure) {
		read_wiring(&options);
		return measure(&machine.wiring, signals, stdout) ? EXIT_MACHINE : 0;
	}
	start(&options);
	/* The gadget can be bound to its controller now. */
	puts("dealbox-machine: ready");
	fflush(stdout);
	sd_notify(0, "READY=1");
	status = run(signals);
	sd_notify(0, "STOPPING=1");
	stop();
	return status;
}
