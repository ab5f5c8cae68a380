// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cases on one of the library's connections to a machine.
 *
 * usage: test_conformance_ways emu|usb|local [JOBS]
 *
 * A case takes as long as the host waits, so JOBS processes share the cases, each with an emulator
 * of its own. EMULATOR in the environment is its path.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/machine.h>

#include "cases.h"
#include "frame.h"
#include "wire.h"

#define PATIENCE_MS	60000	/* time limit of each wait */
#define SETTLE_MS	20	/* interval at which the machine is looked for */

static const char *const kind_names[] = { [STORED] = "stored", [ROUTED] = "routed" };

struct way {
	const char *name;	/* emu, usb, local */
	unsigned int kind;
	bool serial;
	char folder[64];
	char uri[128];
	char number[32];	/* serial number */
	pid_t emulator;
	int control;
	FILE *trace;		/* the emulator's: transfers of the host */
};

/* -- the emulator ------------------------------------------------------------- */

static void start_emulator(struct way *way, unsigned int job)
{
	char control[128], socket_path[128], trace[128], port[12];
	int out[2];
	char text[4096] = "";
	size_t length = 0;
	ssize_t got;

	snprintf(way->number, sizeof(way->number), "C%s%s%u", kind_names[way->kind],
		 way->serial ? "serial" : "", job);
	snprintf(control, sizeof(control), "%s/c", way->folder);
	snprintf(socket_path, sizeof(socket_path), "%s/m", way->folder);
	snprintf(trace, sizeof(trace), "%s/t", way->folder);
	snprintf(port, sizeof(port), "%u", job);	/* two jobs might find the same port free */
	if (pipe(out))
		err(3, "pipe");
	way->emulator = fork();
	if (way->emulator < 0)
		err(3, "fork");
	if (!way->emulator) {
		const char *args[] = { "dealbox-emulator", "--control", control, "--serial",
			way->number, "--kind", kind_names[way->kind], "--dialect",
			way->serial ? "serial" : "native", "--manual", "--trace", trace,
			/* one kind has no machine descriptor among its USB descriptors */
			"--descriptor", way->kind == ROUTED ? "request" : "usb",
			"--capabilities", "exit-sensors,keys,by-card,by-position,attest",
			NULL, NULL, NULL, NULL };
		const char **way_args = args + 16;

		if (!strcmp(way->name, "emu")) {
			way_args[0] = "--socket";
			way_args[1] = socket_path;
		} else {
			way_args[0] = "--usbip";
			way_args[1] = "--port";
			way_args[2] = port;
		}
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		execvp(getenv("EMULATOR") ? getenv("EMULATOR") : args[0], (char *const *)args);
		_exit(127);
	}
	close(out[1]);
	while (!strstr(text, "is ready") && length < sizeof(text) - 1) {
		got = read(out[0], text + length, sizeof(text) - 1 - length);
		if (got <= 0)
			errx(3, "the emulator ended: %s", text);
		length += (size_t)got;
		text[length] = '\0';
	}
	/* out[0] stays open, or the emulator would die of SIGPIPE */
	way->trace = fopen(trace, "r");
	if (!way->trace)
		err(3, "%s", trace);
}

static void connect_control(struct way *way)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/c", way->folder);
	way->control = socket(AF_UNIX, SOCK_STREAM, 0);
	if (way->control < 0 || connect(way->control, (struct sockaddr *)&address, sizeof(address)))
		err(3, "%s", address.sun_path);
}

static void tell(struct way *way, const char *format, const char *what, int length)
{
	struct pollfd pollfd = { .fd = way->control, .events = POLLIN };
	char line[1000];
	size_t got = 0;
	ssize_t size;
	int n = snprintf(line, sizeof(line), format, length, what);

	if (write(way->control, line, (size_t)n) != n)
		err(3, "control");
	do {
		if (poll(&pollfd, 1, PATIENCE_MS) != 1)
			errx(3, "the emulator does not answer");
		size = read(way->control, line + got, sizeof(line) - 1 - got);
		if (size <= 0)
			errx(3, "the emulator has gone");
		got += (size_t)size;
		line[got] = '\0';
	} while (!strchr(line, '\n'));
	if (strncmp(line, "ok", 2))
		errx(3, "the emulator says: %s", line);
}

static void inject(struct way *way, const char *rules)
{
	const char *end;

	for (; rules && *rules; rules = *end ? end + 1 : end) {
		end = strchrnul(rules, '\n');
		tell(way, "inject %.*s\n", rules, (int)(end - rules));
	}
}

/* -- the machine -------------------------------------------------------------- */

static bool has_serial(const char *node, const char *number)
{
	char path[300], text[100] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/dealbox/%.200s/serial", node);
	file = fopen(path, "r");
	if (file && fgets(text, sizeof(text), file))
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return !strcmp(text, number);
}

/* Returns false if the machine is not there yet. */
static bool find_machine(struct way *way)
{
	struct dirent *entry;
	DIR *class;

	if (!strcmp(way->name, "emu")) {
		snprintf(way->uri, sizeof(way->uri), "emu:%s/m", way->folder);
		return true;
	}
	if (!strcmp(way->name, "usb")) {
		snprintf(way->uri, sizeof(way->uri), "usb:%s", way->number);
		return true;
	}
	*way->uri = '\0';
	class = opendir("/sys/class/dealbox");
	while (class && (entry = readdir(class)))
		if (has_serial(entry->d_name, way->number))
			snprintf(way->uri, sizeof(way->uri), "local:/dev/%.100s", entry->d_name);
	if (class)
		closedir(class);
	return *way->uri;
}

static struct dealbox_machine *open_machine(struct way *way)
{
	static const struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000L };
	struct dealbox_machine *machine;
	struct dealbox_error reason = { .what = "it is not there" };
	int tries;

	for (tries = 0; tries < PATIENCE_MS / SETTLE_MS; tries++) {
		if (find_machine(way) &&
		    !dealbox_machine_open(way->uri, 0, &machine, &reason))
			return machine;
		nanosleep(&settle, NULL);
	}
	errx(3, "%s: %s", way->uri, reason.what);
}

/* -- requests of the host ------------------------------------------------------- */

/*
 * Parses a line of the trace. Returns true if the host sent a request or a plan; *request is the
 * request, or -1 for a plan.
 */
static bool is_sent(const struct way *way, const char *line, int *request)
{
	unsigned int bytes[5] = { 0 }, endpoint = 0;
	char label[16];
	int count = sscanf(line, "%*u %15s %u %2x%2x%2x%2x%2x", label, &endpoint, &bytes[0],
			   &bytes[1], &bytes[2], &bytes[3], &bytes[4]) - 2;

	/* emu: has the setup packet before the data */
	if (!strcmp(label, strcmp(way->name, "emu") ? "setup" : "submit") && !endpoint) {
		*request = (int)bytes[1];
		return count > 1 && (bytes[0] == WIRE_REQ_OUT || bytes[0] == WIRE_REQ_IN);
	}
	if (strcmp(label, "submit") || endpoint != 1)
		return false;
	*request = way->serial && bytes[1] == FRAME_REQUEST ? (int)bytes[4] : -1;
	return true;
}

/* Lists what was sent since the last call, in the form of conformance_case.sent. */
static void read_sent(struct way *way, char *sent, size_t size)
{
	char line[4096];
	size_t used = 0;
	int request;

	*sent = '\0';
	clearerr(way->trace);
	while (fgets(line, sizeof(line), way->trace) && used < size)
		if (is_sent(way, line, &request))
			used += (size_t)snprintf(sent + used, size - used,
						 request < 0 ? "%s*" : "%s%02x", used ? " " : "",
						 (unsigned int)request);
}

/* -- events --------------------------------------------------------------------- */

/*
 * Lists the types of all events up to a key press, in the form of conformance_case.events. Returns
 * the machine's number of the key.
 */
static uint32_t read_events(struct way *way, struct dealbox_machine *machine, char *seen,
			    size_t size)
{
	struct pollfd pollfd = { .fd = dealbox_machine_fd(machine), .events = POLLIN };
	struct dealbox_event event;
	size_t used = 0;
	ssize_t count;

	*seen = '\0';
	tell(way, "key %.*s press\n", "99", 2);
	for (;;) {
		count = dealbox_machine_read(machine, &event, 1);
		if (count == -EAGAIN) {
			if (poll(&pollfd, 1, PATIENCE_MS) != 1)
				errx(3, "%s: the key is not pressed", way->uri);
			continue;
		}
		if (count != 1)
			errx(3, "%s: cannot read: %d", way->uri, (int)count);
		if (event.type == DEALBOX_EV_KEY && event.code == CONFORMANCE_KEY)
			return event.machine_seq;
		if (used < size)
			used += (size_t)snprintf(seen + used, size - used, "%s%02x",
						 used ? " " : "", event.type);
	}
}

/* -- a case ------------------------------------------------------------------- */

static int make_call(struct dealbox_machine *machine, const struct conformance_case *c,
		     struct dealbox_status *status)
{
	/* another plan for each case, because a late verdict may come during the next one */
	const uint32_t plan_id = CONFORMANCE_PLAN + 256 * (uint32_t)(c - conformance_cases);
	struct dealbox_plan plan = { .plan_id = plan_id, .entries = 52,
				     .mode = DEALBOX_PLAN_BY_CARD };
	struct dealbox_param param;
	struct dealbox_attestation attestation;
	struct dealbox_counters counters;
	struct dealbox_identity identity;
	int card;

	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	switch (c->call) {
	case ASK_STATUS:
		return dealbox_machine_get_status(machine, status);
	case ASK_COUNTERS:
		return dealbox_machine_get_counters(machine, &counters);
	case ASK_PARAM:
		return dealbox_machine_get_param(machine, DEALBOX_PARAM_SPEED, &param);
	case SET_PARAM:
		return dealbox_machine_set_param(machine, DEALBOX_PARAM_SPEED, 600);
	case LOCATE:
		return dealbox_machine_locate(machine, 1);
	case ASK_IDENTITY:
		return dealbox_machine_get_identity(machine, &identity);
	case ASK_ATTESTATION:
		return dealbox_machine_get_attestation(machine, &attestation);
	case ATTEST:
		return dealbox_machine_attest(machine, 1, (const uint8_t[DEALBOX_NONCE_SIZE]){ 1 });
	default:
		return dealbox_machine_set_plan(machine, &plan);
	}
}

/* Returns 0, or 1 after printing the reason. */
static int check(struct way *way, struct dealbox_machine *machine, const struct conformance_case *c)
{
	static const struct conformance_case afterwards = { .call = ASK_STATUS };
	int expected = way->serial ? c->serial : c->native;
	const char *events = way->serial && c->serial_events ? c->serial_events : c->events;
	uint32_t detail = 0;
	uint32_t result = 0, key;
	struct dealbox_status status;
	char sent[200], seen[200];
	int error, after;

	inject(way, c->rules);
	read_sent(way, sent, sizeof(sent));
	error = make_call(machine, c, &status);
	if (error == -EREMOTEIO)
		result = dealbox_machine_result(machine, &detail);
	read_sent(way, sent, sizeof(sent));
	after = make_call(machine, &afterwards, &status);
	key = read_events(way, machine, seen, sizeof(seen));
	/* the key is pressed behind the snapshot */
	if (!after && (!status.machine_seq || (int32_t)(key - status.machine_seq) < 0))
		after = -ERANGE;
	if (!events)
		events = "";
	if (error == expected && result == c->result && detail == c->detail && !after &&
	    !strcmp(sent, c->sent) && !strcmp(seen, events))
		return 0;
	printf("# %s, %s %s: %d (%u, %u), not %d (%u, %u); sent %s, "
	       "not %s; events %s, not %s; then %d\n",
	       c->name, kind_names[way->kind], way->serial ? "serial" : "native", error, result,
	       detail, expected, c->result, c->detail, sent, c->sent, seen, events, after);
	return 1;
}

/* Runs the share of a job. Returns the number of failed cases. */
static int check_some(struct way *way, unsigned int job, unsigned int jobs)
{
	char template[] = "/tmp/conformance-XXXXXX";
	struct dealbox_machine *machine;
	static const char files[] = "cmt";
	const char *file;
	int failed = 0;
	char path[128];
	size_t n;

	if (!mkdtemp(template))
		err(3, "mkdtemp");
	strcpy(way->folder, template);
	start_emulator(way, job);
	connect_control(way);
	machine = open_machine(way);
	if (dealbox_machine_claim(machine))
		errx(3, "%s: cannot be claimed", way->uri);
	read_events(way, machine, path, sizeof(path));
	for (n = job; n < conformance_count; n += jobs)
		if (conformance_cases[n].kinds & way->kind)
			failed += check(way, machine, &conformance_cases[n]);
	dealbox_machine_close(machine);
	kill(way->emulator, SIGTERM);
	waitpid(way->emulator, NULL, 0);
	fclose(way->trace);
	for (file = files; *file; file++) {
		snprintf(path, sizeof(path), "%s/%c", template, *file);
		unlink(path);
	}
	rmdir(template);
	fflush(stdout);
	return failed;
}

static bool check_all(const char *name, unsigned int kind, bool serial, unsigned int jobs)
{
	struct way way = { .name = name, .kind = kind, .serial = serial };
	bool good = true;
	unsigned int job;
	int status;
	pid_t pid;

	for (job = 0; job < jobs; job++) {
		pid = fork();
		if (pid < 0)
			err(3, "fork");
		if (!pid)
			_exit(check_some(&way, job, jobs) ? 1 : 0);
	}
	while (wait(&status) > 0)
		good &= WIFEXITED(status) && !WEXITSTATUS(status);
	return good;
}

int main(int argc, char **argv)
{
	unsigned int jobs = argc > 2 ? (unsigned int)atoi(argv[2]) : 16;
	unsigned int kind, serial, count = 0;
	bool good = true, one;

	if (argc < 2 || !jobs)
		errx(2, "usage: test_conformance_ways emu|usb|local [JOBS]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..4\n");
	for (kind = STORED; kind <= ROUTED; kind++) {
		for (serial = 0; serial <= 1; serial++) {
			one = check_all(argv[1], kind, serial, jobs);
			printf("%sok %u - %s: %s, %s\n", one ? "" : "not ", ++count, argv[1],
			       kind_names[kind], serial ? "serial" : "native");
			good &= one;
		}
	}
	return good ? 0 : 1;
}
