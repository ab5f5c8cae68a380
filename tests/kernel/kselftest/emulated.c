// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/usbdevice_fs.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "emulated.h"
#include "port.h"
#include "usbmon.h"

#define TAINT_OURS	(1u << 12 | 1u << 13)	/* out of tree, unsigned */

static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return false;
}

long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void a_moment(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	nanosleep(&moment, NULL);
}

bool write_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (!ok)
		fail("cannot write %s to %s: %s", text, path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

bool usb_quirks(const char *quirks)
{
	char line[64];

	/* a write of 0 bytes would not reach the kernel, so end with a newline */
	snprintf(line, sizeof(line), "%s\n", quirks);
	return write_file("/sys/module/usbcore/parameters", "quirks", line);
}

bool read_file(const char *folder, const char *name, char *text, size_t size)
{
	char path[512];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, size - 1);
		close(fd);
	}
	if (got < 0)
		return fail("cannot read %s: %s", path, strerror(errno));
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* --- uevents -------------------------------------------------------------------- */

static int open_uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		fail("no uevents: %s", strerror(errno));
		return -1;
	}
	return fd;
}

const char *uevent_value(const char *message, size_t length, const char *key)
{
	size_t key_length = strlen(key);
	const char *end = message + length;

	for (; message < end; message += strlen(message) + 1)
		if (!strncmp(message, key, key_length) && message[key_length] == '=')
			return message + key_length + 1;
	return "";
}

/* Returns the stack of a kernel or user task, "" if it is gone. */
static void stack_of(const char *pid, char *stack, size_t size)
{
	char path[300];
	FILE *file;

	stack[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%s/stack", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	stack[fread(stack, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* Print where USB's own tasks wait, which may be why a device does not come or go. */
static void tell_usb(void)
{
	static const char *const where[] = { "usb", "hub_", "vhci", "usbip", "rpm_", "dealbox" };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char stack[4096];
	size_t i;

	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		stack_of(entry->d_name, stack, sizeof(stack));
		for (i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
			if (strstr(stack, where[i])) {
				fail("task %s is in:\n%s", entry->d_name, stack);
				break;
			}
		}
	}
	if (proc)
		closedir(proc);
}

/* The same, with the power state of the machine and its bus. */
static void tell_machine(const struct machine *m)
{
	char asleep[32] = "gone", hub[300], bus[32] = "gone";

	snprintf(hub, sizeof(hub), "%s/..", m->device);
	if (m->device[0] && !access(m->device, F_OK)) {
		read_file(m->device, "power/runtime_status", asleep, sizeof(asleep));
		read_file(hub, "power/runtime_status", bus, sizeof(bus));
	}
	fail("the machine is %s, its bus %s", asleep, bus);
	tell_usb();
}

/* Folders above the node: dealbox0, dealbox, 1-1:1.0, 1-1 */
static void learn_paths(struct machine *m, const char *devpath)
{
	char *end;

	snprintf(m->sysfs, sizeof(m->sysfs), "/sys%s", devpath);
	snprintf(m->interface, sizeof(m->interface), "%s", m->sysfs);
	end = strstr(m->interface, "/dealbox/");
	if (end)
		*end = '\0';
	snprintf(m->device, sizeof(m->device), "%s", m->interface);
	end = strrchr(m->device, '/');
	if (end)
		*end = '\0';
}

bool machine_await(struct machine *m, const char *action)
{
	struct pollfd pollfd = { .fd = m->uevents, .events = POLLIN };
	char message[4096], serial[64], folder[300];

	while (poll(&pollfd, 1, PATIENCE) == 1) {
		ssize_t length = recv(m->uevents, message, sizeof(message) - 1, 0);
		const char *path;

		if (length <= 0)
			continue;
		message[length] = '\0';
		path = uevent_value(message, length, "DEVPATH");
		if (strcmp(uevent_value(message, length, "SUBSYSTEM"), "dealbox") ||
		    strcmp(uevent_value(message, length, "ACTION"), action))
			continue;
		snprintf(folder, sizeof(folder), "/sys%s", path);
		if (!strcmp(action, "remove")) {
			if (!strcmp(folder, m->sysfs))
				return true;
			continue;
		}
		if (!read_file(folder, "serial", serial, sizeof(serial)) ||
		    strcmp(serial, m->serial))
			continue;
		learn_paths(m, path);
		snprintf(m->node, sizeof(m->node), "/dev/%s",
			 uevent_value(message, length, "DEVNAME"));
		return true;
	}
	tell_machine(m);
	return fail("no uevent %s of machine %s", action, m->serial);
}

/* --- the emulator ---------------------------------------------------------------- */

static void control_path(const struct machine *m, struct sockaddr_un *address)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), "/tmp/%s", m->serial);
}

static void run_emulator(const struct machine *m, const char *const front[],
			 const char *const options[])
{
	const char *argv[40] = { "dealbox-emulator", "--serial", m->serial, "--control" };
	struct sockaddr_un address;
	size_t n = 4;
	int null;

	control_path(m, &address);
	argv[n++] = address.sun_path;
	while (*front)
		argv[n++] = *front++;
	while (*options && n < sizeof(argv) / sizeof(argv[0]) - 1)
		argv[n++] = *options++;
	/* a test that was killed leaves no machine behind */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

bool machine_connect(struct machine *m)
{
	struct sockaddr_un address;

	control_path(m, &address);
	m->control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (m->control >= 0 && connect(m->control, (struct sockaddr *)&address, sizeof(address))) {
		close(m->control);
		m->control = -1;
	}
	return m->control >= 0;
}

bool machine_start(struct machine *m, const char *const front[], const char *const options[])
{
	static unsigned int number;

	memset(m, 0, sizeof(*m));
	m->control = -1;
	snprintf(m->serial, sizeof(m->serial), "T%d-%u", getpid(), ++number);
	m->uevents = open_uevents();
	if (m->uevents < 0)
		return false;
	m->pid = fork();
	if (m->pid < 0)
		return fail("fork: %s", strerror(errno));
	if (!m->pid)
		run_emulator(m, front, options);
	return true;
}

void machine_close(struct machine *m)
{
	struct sockaddr_un address;

	if (m->control >= 0)
		close(m->control);
	if (m->uevents >= 0)
		close(m->uevents);
	control_path(m, &address);
	unlink(address.sun_path);
	m->pid = 0;
}

static bool a_machine_is_there(void)
{
	DIR *class = opendir("/sys/class/dealbox");
	struct dirent *entry;
	bool found = false;

	while (class && (entry = readdir(class)))
		found = found || entry->d_name[0] != '.';
	if (class)
		closedir(class);
	return found;
}

static bool no_machine_is_left(void)
{
	time_t end = time(NULL) + PATIENCE / 1000;

	while (a_machine_is_there()) {
		if (time(NULL) > end)
			return fail("a machine does not go");
		a_moment();
	}
	return true;
}

/* The next machine must get the first number, because none existed when the test began. */
static bool first_number;

static bool has_its_number(const struct machine *m)
{
	bool first = first_number;

	first_number = false;
	return !first || !strcmp(m->node, "/dev/dealbox0") ||
	       fail("the only machine is %s", m->node);
}

static bool plug(struct machine *m, const char *const front[], const char *const options[])
{
	if (!machine_start(m, front, options) || !machine_await(m, "add") || !has_its_number(m))
		return false;
	return machine_connect(m) || fail("machine %s cannot be told anything", m->serial);
}

bool machine_plug(struct machine *m, const char *const options[])
{
	static const char *const front[] = { "--usbip", NULL };

	return plug(m, front, options);
}

bool machine_plug_gadget(struct machine *m, const char *const options[])
{
	static const char *const front[] = { "--gadget", "dummy_udc.0", NULL };

	return plug(m, front, options);
}

bool machine_plug_outside(struct machine *m)
{
	struct termios line;

	memset(m, 0, sizeof(*m));
	m->outside = true;
	snprintf(m->serial, sizeof(m->serial), "OUTSIDE");
	m->uevents = open_uevents();
	m->control = open("/dev/ttyS3", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (m->uevents < 0 || m->control < 0 || tcgetattr(m->control, &line))
		return fail("/dev/ttyS3: %s", strerror(errno));
	cfmakeraw(&line);
	if (tcsetattr(m->control, TCSAFLUSH, &line))
		return fail("/dev/ttyS3: %s", strerror(errno));
	/* a test that failed has left it plugged in */
	if (!machine_tell(m, "unplug") || !no_machine_is_left())
		return false;
	return machine_tell(m, "plug") && machine_await(m, "add") && has_its_number(m);
}

void machine_keep_awake(const struct machine *m)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/power/control", m->device);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	/* the device may just be going away */
	if (fd < 0 || write(fd, "on", 2) < 0)
		printf("# nobody is kept awake\n");
	if (fd >= 0)
		close(fd);
}

bool machine_unplug(struct machine *m)
{
	bool there = m->node[0] && !access(m->node, F_OK);
	bool ok = true;

	if (m->outside)
		ok = machine_tell(m, "unplug");
	if (m->pid > 0) {
		kill(m->pid, SIGTERM);
		waitpid(m->pid, NULL, 0);
	}
	if (there)
		ok = machine_await(m, "remove") && ok;
	machine_close(m);
	return ok;
}

bool machine_ask(struct machine *m, char *reply, size_t size, const char *format, ...)
{
	struct pollfd pollfd = { .fd = m->control, .events = POLLIN };
	char line[9000], answer[20000];
	size_t length = 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n >= (int)sizeof(line) - 1)
		return fail("too long for the emulator: %.60s...", line);
	line[n] = '\n';
	if (write(m->control, line, n + 1) != n + 1)
		return fail("the emulator does not listen to: %.*s", n, line);
	while (length < sizeof(answer) - 1 && poll(&pollfd, 1, PATIENCE) == 1) {
		ssize_t got = read(m->control, answer + length, sizeof(answer) - 1 - length);

		if (got <= 0)
			break;
		length += got;
		if (answer[length - 1] == '\n')
			break;
	}
	answer[length] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	if (strncmp(answer, "ok", 2))
		return fail("%.*s: %s", n, line, length ? answer : "no answer");
	if (reply)
		snprintf(reply, size, "%s", answer[2] ? answer + 3 : "");
	return true;
}

int machine_traced(const char *trace, const char *what)
{
	FILE *file = fopen(trace, "re");
	char line[4096];
	int count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += !!strstr(line, what);
	if (file)
		fclose(file);
	return count;
}

bool machine_usb_reset(const struct machine *m)
{
	char bus[16], device[16], path[64];
	bool ok;
	int fd;

	if (!read_file(m->device, "busnum", bus, sizeof(bus)) ||
	    !read_file(m->device, "devnum", device, sizeof(device)))
		return false;
	snprintf(path, sizeof(path), "/dev/bus/usb/%03d/%03d", atoi(bus), atoi(device));
	fd = open(path, O_RDWR | O_CLOEXEC);
	ok = fd >= 0 && !ioctl(fd, USBDEVFS_RESET);
	if (!ok)
		fail("%s: cannot be reset: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

/* --- the kernel -------------------------------------------------------------------- */

int kernel_log_open(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log < 0 || lseek(log, 0, SEEK_END) < 0) {
		fail("/dev/kmsg: %s", strerror(errno));
		return -1;
	}
	return log;
}

bool kernel_begin(struct kernel *k)
{
	memset(k, 0, sizeof(*k));
	k->log = kernel_log_open();
	if (k->log < 0)
		return false;
	k->usb = usbmon_open();
	if (k->usb < 0)
		return fail("/dev/usbmon0: %s", strerror(errno));
	first_number = !a_machine_is_there();
	return true;
}

const char *kernel_report(const char *record)
{
	static char word[64];
	FILE *reports = fopen("/etc/kernel-reports", "re");
	bool found = false;

	if (!reports)
		return "/etc/kernel-reports is missing";
	while (!found && fgets(word, sizeof(word), reports)) {
		word[strcspn(word, "\n")] = '\0';
		found = strstr(record, word);
	}
	fclose(reports);
	return found ? word : NULL;
}

/* Returns the length of the next record, 0 if there is none now, -1 if some were lost. */
static int next_record(int log, char *record, size_t size)
{
	ssize_t length = read(log, record, size - 1);

	if (length < 0)
		return errno == EPIPE ? -1 : 0;
	record[length] = '\0';
	return length;
}

bool kernel_log_is_clean(int log)
{
	char record[8192];
	bool clean = true;
	int got;

	while ((got = next_record(log, record, sizeof(record)))) {
		if (got < 0)
			clean = fail("the kernel log ran over");
		else if (kernel_report(record))
			clean = fail("kernel log: %.*s", (int)strcspn(record, "\n"), record);
	}
	return clean;
}

unsigned int kernel_log_count(int log, const char *what)
{
	unsigned int count = 0;
	char record[8192];
	int got;

	while ((got = next_record(log, record, sizeof(record))))
		count += got > 0 && strstr(record, what);
	return count;
}

static bool note_transfer(struct kernel *k, const struct mon_packet *packet)
{
	size_t i;

	if (packet->device == MON_ROOT_HUB)
		return true;
	if (packet->type == 'S') {
		if (k->count == sizeof(k->transfers) / sizeof(k->transfers[0]))
			return fail("too many transfers are under way");
		k->transfers[k->count++] = packet->id;
		return true;
	}
	for (i = 0; i < k->count; i++)
		if (k->transfers[i] == packet->id)
			k->transfers[i] = k->transfers[--k->count];
	return true;
}

bool kernel_follow_transfers(struct kernel *k)
{
	struct mon_packet packet;
	int got;

	while ((got = usbmon_next(k->usb, &packet)) > 0)
		if (!note_transfer(k, &packet))
			return false;
	return !got || fail("usbmon: %s", strerror(errno));
}

bool kernel_has_no_transfer(struct kernel *k)
{
	struct pollfd pollfd = { .fd = k->usb, .events = POLLIN };

	do {
		if (!kernel_follow_transfers(k))
			return false;
	} while (k->count && poll(&pollfd, 1, PATIENCE) == 1);
	return !k->count || fail("%zu transfers do not end", k->count);
}

/* Returns a task that is in the module or in a disconnect now, with its stack, or 0. */
static int who_is_there(char *stack, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int pid = 0;

	while (proc && !pid && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		stack_of(entry->d_name, stack, size);
		if (strstr(stack, "disconnect") || strstr(stack, "[dealbox]"))
			pid = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return pid;
}

static bool nobody_hangs(void)
{
	time_t end = time(NULL) + PATIENCE / 1000;
	char stack[4096];
	int pid;

	/* a task that is just leaving does not hang */
	while ((pid = who_is_there(stack, sizeof(stack)))) {
		if (time(NULL) > end)
			return fail("task %d hangs:\n%s", pid, stack);
		a_moment();
	}
	return true;
}

/* Returns true if the hubs' worker is free: it enumerates a device on another port. */
static bool another_port_works(void)
{
	int uevents = open_uevents(), plug;
	struct timespec begin;
	const char *wrong;
	bool ok = true;

	if (uevents < 0)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	wrong = port_plug(uevents, &plug);
	if (!wrong) {
		ok = took_at_most(2000, &begin, "the device at another port was found");
		wrong = port_unplug(uevents, plug);
	}
	close(uevents);
	if (!wrong)
		return ok;
	tell_usb();
	return fail("another port: %s", wrong);
}

bool kernel_is_well(struct kernel *k)
{
	bool ok = no_machine_is_left();
	char text[32];

	/* first, because nobody_hangs() gives a blocked worker the time to end */
	ok = another_port_works() && ok;
	ok = nobody_hangs() && ok;
	ok = kernel_has_no_transfer(k) && ok;
	if (!read_file("/sys/module/dealbox", "refcnt", text, sizeof(text)) ||
	    strcmp(text, "0"))
		ok = fail("the module is in use: %s", text);
	if (!read_file("/proc/sys/kernel", "tainted", text, sizeof(text)) ||
	    strtoul(text, NULL, 10) & ~TAINT_OURS)
		ok = fail("the kernel is tainted: %s", text);
	ok = kernel_log_is_clean(k->log) && ok;
	close(k->log);
	close(k->usb);
	return ok;
}

bool took_at_most(unsigned int ms, const struct timespec *since, const char *what)
{
	struct timespec now;
	long took;

	clock_gettime(CLOCK_MONOTONIC, &now);
	took = (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
	printf("# %s after %ld ms\n", what, took);
	return !getenv("COUNTED_TIME") || took <= ms ||
	       fail("%s after %ld ms, which is more than %u", what, took, ms);
}
