// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plugs in one faulty machine after another, and uses each in the normal way. Runs in the
 * virtual machine; see README.md.
 *
 * A case is a scenario of dealbox-emulator, with comments that are for this program:
 *
 *	# options: --kind stored	options of the emulator
 *	# tour				the program goes through all phases, in order
 *	# at PHASE: RULE		a rule from that phase on; PHASE is one of phase_names
 *
 * It comes from a file, or is made from a number; the same number makes the same case.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/dealbox.h>

#include "chance.h"
#include "frame.h"
#include "machine_wire.h"
#include "emulated.h"

#define JOBS_MAX	6	/* ports for high speed that one vhci_hcd has: 8 */
/* in ms: */
#define HANGS		120000	/* counts as a hang; the time limits of USB core are long, too */
#define ENUMERATION	20000	/* limit for a machine to be found, */
#define USE		5000	/* and to be used, before its cable is pulled; */
#define TOUR		15000	/* the same on a tour, */
#define WHOLE_TOUR	180000	/* and for both if only the cable is at fault */
#define MESSAGES_MAX	60	/* lines of the driver in one case */
#define CASE_MAX	16384

static const char *out = ".";	/* folder for failed cases */

/* All that a machine can do by default, and attest deals */
#define CAPABILITIES	" --capabilities exit-sensors,face-sensor,double-feed-sensor,test-deal," \
			"keys,by-card,by-position,capture,attest"

/* The machines, by the options that make them. */
static const char *const kinds[] = {
	"--kind stored", "--kind routed", "--dialect serial --kind stored",
	"--dialect serial --kind routed",
};

#define KINDS	(sizeof(kinds) / sizeof(*kinds))

/* The phases of a program's tour. PROBE precedes it. */
enum phase { PROBE, SLEEP, OPEN, QUESTIONS, PLAN, DEAL, ATTEST, RESET, CLOSE, UNBIND, PHASES };

static const char *const phase_names[PHASES] = {
	"probe", "sleep", "open", "questions", "plan", "deal", "attest", "reset", "close", "unbind",
};

/* Data shared by the jobs. */
static struct board {
	_Atomic bool failed;
	_Atomic unsigned int next;			/* index of the next case */
	_Atomic unsigned int cases, found, events, protocol_errors, done, errors;
	_Atomic unsigned int transfers[KINDS][PHASES];	/* of a tour without faults */
	_Atomic unsigned int pulls[KINDS][PHASES];	/* planned pulls of the cable */
	_Atomic unsigned int pulled[KINDS][PHASES];	/* pulls that the emulator confirms */
	char now[JOBS_MAX][CASE_MAX];
} *board;

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return hash;
}

/* --- a case from a number ---------------------------------------------------------------- */

struct text {
	char *at;
	size_t room;
};

__attribute__((format(printf, 2, 3)))
static void say(struct text *t, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(t->at, t->room, format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= t->room)
		return;
	t->at += length;
	t->room -= length;
}

static const char *one_of(uint64_t *state, const char *const *words)
{
	uint32_t n = 0;

	while (words[n])
		n++;
	return words[below(state, n)];
}

/* A value at which something may break. */
static uint32_t edge(uint64_t *state, unsigned int bits)
{
	static const uint32_t edges[] = { 0, 1, 2, 7, 8, 9, 0x7f, 0x80, 0xff, 0x7fff, 0xffff,
					  0x7fffffff, 0x80000000, 0xffffffff };
	uint32_t value = below(state, 3) ? edges[below(state, sizeof(edges) / sizeof(*edges))] :
			 chance(state);

	return bits < 32 ? value & ((1u << bits) - 1) : value;
}

static void hex(struct text *t, uint64_t *state, unsigned int length)
{
	while (length--)
		say(t, "%02x", edge(state, 8));
}

static void say_bytes(struct text *t, const uint8_t *bytes, size_t length)
{
	while (length--)
		say(t, "%02x", *bytes++);
}

/* Makes a valid or nearly valid event of WIRE_EVENT_SIZE bytes. */
static void make_event(uint8_t *bytes, uint64_t *state)
{
	static const uint8_t types[] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08, 0x10, 0x11, 0x12, 0x12, 0x12, 0x13,
		0x14, 0x15, 0x16, 0x17, 0x18, 0x1a, 0x20, 0x22, 0x28, 0x2c, 0x2e, 0x00, 0x7e, 0xff,
	};
	struct wire_event event = {
		.type = types[below(state, sizeof(types))],
		.flags = below(state, 4),
		.number = below(state, 4) ? below(state, 40) : edge(state, 32),
		.clock_us = edge(state, 32),
		.insertion = below(state, 4) ? 1 + below(state, 2) : edge(state, 32),
		.position = below(state, 5) ? below(state, 64) : edge(state, 8),
		.card = below(state, 5) ? below(state, 52) : edge(state, 8),
		.pocket = below(state, 5) ? 255 : edge(state, 8),
		.quality = below(state, 5) ? 98 : edge(state, 8),
		.code = edge(state, 32),
		.arg = { edge(state, 32), edge(state, 32) },
	};

	wire_event_put(bytes, &event);
	bytes[2] = below(state, 2);	/* reserved */
}

/* Makes a valid or nearly valid frame. Returns its size. */
static size_t make_frame(uint8_t *bytes, uint64_t *state)
{
	static const uint8_t sizes[] = { 0, 1, 16, 17, 24, 25, 31, 32, 33, 64, 65, 127, 128 };
	bool event = below(state, 2);
	uint8_t kind = event ? FRAME_EVENT : below(state, 4) ? FRAME_ANSWER : edge(state, 8);
	size_t size = event && below(state, 4) ? WIRE_EVENT_SIZE :
		      sizes[below(state, sizeof(sizes))], i;

	for (i = 0; i < size; i++)
		bytes[FRAME_HEADER + i] = below(state, 3) ? 0 : edge(state, 8);
	if (event && size == WIRE_EVENT_SIZE)
		make_event(bytes + FRAME_HEADER, state);
	/* the tags of the first answers are 1, 2, 3 ... */
	size = dealbox_frame_seal(bytes, kind, event ? 0 : below(state, 12), size);
	if (below(state, 8) == 0)
		bytes[below(state, size)] ^= 1 << below(state, 8);
	return size;
}

static const char *const requests[] = {
	"GET_INFO", "GET_STATUS", "GET_STATUS", "GET_STATUS", "GET_RESULT", "GET_COUNTERS",
	"GET_PARAM", "SET_PARAM", "LOAD", "LOAD", "START", "START", "PAUSE", "RESUME", "REREAD",
	"ABORT", "CLEAR_FAULT", "LOCATE", "TEST_DEAL", "GET_IDENTITY", "ATTEST", "ATTEST",
	"GET_STATEMENT", "GET_SIGNATURE", "", NULL
};
static const char *const standards[] = {
	"CLEAR_FEATURE", "CLEAR_FEATURE", "GET_STATUS", "SET_FEATURE", "SET_CONFIGURATION",
	"SET_INTERFACE", "", NULL
};
static const char *const events[] = {
	"STATE_LOST", "BOARD_INSERTED", "PLAN_LOADED", "DEAL_STARTED", "CARD_READ", "CARD_ROUTED",
	"CARD_LANDED", "DEAL_DONE", "PAUSED", "ATTESTED", "", "", NULL
};
static const char *const statuses[] = {
	"EPROTO", "EILSEQ", "ETIME", "EOVERFLOW", "EPIPE", "ECOMM", "ENOSR", "EREMOTEIO", NULL
};

static void say_when(struct text *t, uint64_t *state)
{
	switch (below(state, 6)) {
	case 0:
		say(t, " always");
		break;
	case 1:
		say(t, " every %u", 2 + below(state, 6));
		break;
	case 2:
		say(t, " nth %u times %u", 1 + below(state, 10), 2 + below(state, 30));
		break;
	default:
		say(t, " nth %u", 1 + below(state, below(state, 3) ? 4 : 60));
	}
}

/* Chooses a fault for an answer of this size. */
static void say_answer(struct text *t, uint64_t *state, unsigned int size)
{
	switch (below(state, 11)) {
	case 0:
		say(t, ": short %u\n", below(state, size));
		break;
	case 1:
		say(t, ": long %u\n", size + 1 + below(state, 300));
		break;
	case 2:
		say(t, ": bytes ");
		hex(t, state, below(state, size + 4));
		say(t, "\n");
		break;
	case 3:
		say(t, ": status %s\n", one_of(state, statuses));
		break;
	case 4:
		say(t, ": stall\n");
		break;
	case 5:
		say(t, below(state, 3) ? ": no-answer\n" : ": ignore\n");
		break;
	case 6:
		say(t, ": delay %u\n", 1 + below(state, below(state, 2) ? 30 : 700));
		break;
	default:
		say(t, ": set %u ", below(state, size));
		hex(t, state, 1 + below(state, 4));
		say(t, "\n");
	}
}

/* Inserts unsolicited frames, whole or in pieces. */
static void say_stream(struct text *t, uint64_t *state)
{
	unsigned int n = 1 + below(state, below(state, 4) ? 2 : 6);
	uint8_t bytes[FRAME_MAX];
	size_t size;

	say(t, ": bytes ");
	while (n--) {
		if (below(state, 4) == 0)
			hex(t, state, below(state, 6));
		size = make_frame(bytes, state);
		if (below(state, 4) == 0)
			size = below(state, size);
		say_bytes(t, bytes, size);
	}
	say(t, "\n");
}

/* Chooses a fault of a frame, or of the transfers that carry it. */
static void say_serial(struct text *t, uint64_t *state)
{
	static const char *const names[] = { "ANSWER", "ANSWER", "EVENT", "", NULL };
	static const char *const fates[] = {
		"bad-sum", "bad-sum", "drop", "duplicate", "swap", NULL
	};
	static const char *const ends[] = {
		"stall", "ignore", "no-answer", "status EPROTO", "status EILSEQ", "delay 30", NULL
	};

	switch (below(state, 8)) {
	case 0:		/* split over transfers, or merged into one */
		say(t, "on transfer");
		say_when(t, state);
		say(t, ": short %u\n", below(state, below(state, 2) ? 9 : 50));
		break;
	case 1:
		say(t, "on transfer");
		say_when(t, state);
		say_stream(t, state);
		break;
	case 2:
		say(t, "on stream");
		say_when(t, state);
		say(t, ": %s\n", one_of(state, ends));
		break;
	case 3:
		say(t, "on frame %s", one_of(state, names));
		say_when(t, state);
		say(t, ": short %u\n", below(state, 41));
		break;
	case 4:
		say(t, "on frame %s", one_of(state, names));
		say_when(t, state);
		if (below(state, 2))
			say_stream(t, state);
		else
			say(t, ": long %u\n", 8 + below(state, 400));
		break;
	case 5:		/* wrong kind, tag, length or payload, with a valid checksum */
		say(t, "on frame %s", one_of(state, names));
		say_when(t, state);
		say(t, ": set %u ", below(state, 2) ? 1 + below(state, 4) : below(state, 40));
		hex(t, state, 1 + below(state, 2));
		say(t, "\n");
		break;
	default:
		say(t, "on frame %s", one_of(state, names));
		say_when(t, state);
		say(t, ": %s\n", one_of(state, fates));
	}
}

static void say_world(struct text *t, uint64_t *state)
{
	static const char *const things[] = {
		"unplug", "unplug", "unplug 20", "reset", "power-cycle 30", "pull", "cover open",
		"key stop", "key 9", "hardware 7", "freeze", NULL
	};

	say(t, ": %s\n", one_of(state, things));
}

static void say_rule(struct text *t, uint64_t *state)
{
	static const char *const mishaps[] = {
		"misread", "unreadable", "quality 0", "feed-timeout", "double-feed", "repeat",
		"jam gate", "wrong-pocket", "missing", NULL
	};
	static const char *const spoilt[] = {
		"drop", "duplicate", "unknown", "flood 40", "flood 300", "delay 20", NULL
	};
	uint8_t event[WIRE_EVENT_SIZE];
	unsigned int i, n;

	switch (below(state, 20)) {
	case 0:		/* interface, machine descriptor, endpoints */
	case 1:
		say(t, "on descriptor config always: set %u ", 9 + below(state, 54));
		hex(t, state, 1 + below(state, 2));
		say(t, "\n");
		break;
	case 2:
		say(t, "on descriptor %s", below(state, 3) ? "config" : "device");
		say_when(t, state);
		say_answer(t, state, 63);
		break;
	case 3:
		say(t, "on descriptor string");
		say_when(t, state);
		say_answer(t, state, 40);
		break;
	case 4:
		say(t, "on standard %s", one_of(state, standards));
		say_when(t, state);
		say_answer(t, state, 2);
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		say(t, "on request %s", one_of(state, requests));
		say_when(t, state);
		if (below(state, 8))
			say_answer(t, state, 64);
		else
			say(t, ": refuse %u %u\n", 1 + below(state, 30), below(state, 300));
		break;
	case 9:
	case 10:
		say(t, "on transfer");
		say_when(t, state);
		say_answer(t, state, 33);
		break;
	case 11:
	case 12:
		say(t, "on transfer");
		say_when(t, state);
		say(t, ": bytes ");
		n = 1 + below(state, below(state, 4) ? 2 : 9);
		for (i = 0; i < n; i++) {
			make_event(event, state);
			say_bytes(t, event, sizeof(event));
		}
		say(t, "\n");
		break;
	case 13:
	case 14:
		say(t, "on event %s", one_of(state, events));
		say_when(t, state);
		if (below(state, 2)) {
			say(t, ": %s\n", one_of(state, spoilt));
		} else {
			say(t, ": set %u ", below(state, 31));
			hex(t, state, 1);
			say(t, "\n");
		}
		break;
	case 15:
	case 16:
		say(t, "on %s", below(state, 2) ? "plan" : "route");
		say_when(t, state);
		say(t, below(state, 2) ? ": stall\n" : below(state, 2) ? ": no-answer\n" :
		    below(state, 2) ? ": ignore\n" : ": status EPROTO\n");
		break;
	case 17:
		say(t, "position %u: %s\n", below(state, 52), one_of(state, mishaps));
		break;
	case 18:
		say(t, "on event %s nth %u", one_of(state, events), 1 + below(state, 20));
		say_world(t, state);
		break;
	default:
		say(t, "on submit nth %u", 1 + below(state, 150));
		say_world(t, state);
	}
}

static const char *const packets[] = { "32", "64", "64", "256", "1024", NULL };
/* packet sizes; on a stream they cut frames at every byte, or not at all */
static const char *const pieces[] = { "33", "37", "64", "101", "512", NULL };

static void make_case(char *text, uint64_t state)
{
	struct text t = { text, CASE_MAX };
	unsigned int rules = 1 + below(&state, 5), kind = below(&state, KINDS);
	bool serial = kind >= 2, tour = below(&state, 4) == 0;

	say(&t, "# options: %s" CAPABILITIES " --packet %s", kinds[kind],
	    one_of(&state, serial ? pieces : packets));
	say(&t, " --gate-deadline %u\n", below(&state, 4) ? 5000000 : 1 + below(&state, 5000));
	if (tour)
		say(&t, "# tour\n");
	while (rules--) {
		if (tour && below(&state, 2))
			say(&t, "# at %s: ", phase_names[1 + below(&state, PHASES - 1)]);
		if (serial && below(&state, 2))
			say_serial(&t, &state);
		else
			say_rule(&t, &state);
	}
}

static bool is_tour(const char *text)
{
	return strstr(text, "\n# tour\n");
}

/* Returns true if a rule pulls the cable permanently. */
static bool is_pull(const char *text)
{
	return strstr(text, ": unplug\n");
}

/*
 * vhci_hcd has one flag for all its ports that one of them is resuming, and reading the status of
 * any port clears it (GetPortStatus in its vhci_hub_control()): a machine fails to resume when
 * another is plugged in, unplugged or reset. So a machine is suspended only on a tour that need
 * not reach a later phase, and such tours of the corpus and of the pulls run alone.
 */
static bool sleeps(const char *text)
{
	return is_tour(text) && (!strstr(text, "# at ") || strstr(text, "# at sleep: ") ||
				 strstr(text, "# at open: "));
}

static void make_tour(char *text, unsigned int kind)
{
	snprintf(text, CASE_MAX, "# options: %s" CAPABILITIES "\n# tour\n", kinds[kind]);
}

/* Makes a tour whose cable is pulled at the nth transfer of a phase. */
static void make_pull(char *text, unsigned int kind, enum phase phase, unsigned int nth)
{
	char at[32] = "";

	if (phase != PROBE)
		snprintf(at, sizeof(at), "# at %s: ", phase_names[phase]);
	snprintf(text, CASE_MAX,
		 "# options: %s" CAPABILITIES "\n# tour\n%son submit nth %u: unplug\n", kinds[kind],
		 at, nth);
}

/* Reads a case; text is empty if the file cannot be read. */
static void load_case(char *text, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, CASE_MAX - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
}

/* --- the program that uses the machine ------------------------------------------------------ */

struct user {
	const char *node;
	const char *text;	/* the case */
	struct machine *machine;
	unsigned int kind;	/* index for the counts of transfers; KINDS: not counted */
	bool patient;		/* the machine has no fault, except for a pulled cable */
	uint64_t state;
	long long end;
	uint32_t insertion;	/* of its last deal */
	uint64_t seqno;
	uint64_t timestamp;
	bool begun;
};

__attribute__((format(printf, 1, 2), noreturn))
static void wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# ", stdout);
	vfprintf(stdout, format, args);
	fputc('\n', stdout);
	fflush(stdout);
	_exit(1);
}

/* The errors that a correct program may get, by the table in docs/userspace-api/dealbox.rst. */
static void check_errno(const char *what, int error)
{
	static const int errors[] = {
		0, EAGAIN, EBUSY, EINTR, EIO, ENODEV, ENOMEM, EOPNOTSUPP, EPERM, EPROTO, EREMOTEIO,
		ETIMEDOUT,
		EINVAL,		/* the machine may have fewer pockets than the plan */
	};
	size_t i;

	if (error == ENODATA && !strcmp(what, "GET_ATTESTATION"))
		return;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (error == errors[i])
			return;
	wrong("%s: errno %d is not documented", what, error);
}

static int ask(int fd, const char *what, unsigned long request, void *arg)
{
	int error = ioctl(fd, request, arg) ? errno : 0;

	check_errno(what, error);
	if (error)
		board->errors++;
	return error;
}
#define ASK(fd, name, arg)	ask(fd, #name, DEALBOX_IOC_##name, arg)

static bool zero(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size--)
		if (*bytes++)
			return false;
	return true;
}

static bool within(uint8_t value, uint8_t max)
{
	return value <= max || value == DEALBOX_NONE;
}

static void check_event(struct user *u, const struct dealbox_event *e)
{
	const uint32_t flags = DEALBOX_EVF_FACE_UP | DEALBOX_EVF_AT_POWER_ON | DEALBOX_EVF_GAP |
			       DEALBOX_EVF_MACHINE_GAP;

	board->events++;
	board->protocol_errors += e->type == DEALBOX_EV_PROTOCOL_ERROR;
	board->done += e->type == DEALBOX_EV_DEAL_DONE;
	if (!zero(e->reserved, sizeof(e->reserved)))
		wrong("event %llu: reserved bytes are not zero", (unsigned long long)e->seqno);
	if (e->flags & ~flags)
		wrong("event %llu: flags %#x", (unsigned long long)e->seqno, e->flags);
	if (DEALBOX_EV_IS_DRIVER(e->type) && e->type != DEALBOX_EV_PROTOCOL_ERROR)
		wrong("event %llu: type %#x", (unsigned long long)e->seqno, e->type);
	if (u->begun && (e->seqno <= u->seqno || e->timestamp_ns < u->timestamp))
		wrong("event %llu comes behind %llu", (unsigned long long)e->seqno,
		      (unsigned long long)u->seqno);
	if (u->begun && (e->seqno != u->seqno + 1) != !!(e->flags & DEALBOX_EVF_GAP))
		wrong("event %llu comes behind %llu, flags %#x", (unsigned long long)e->seqno,
		      (unsigned long long)u->seqno, e->flags);
	if ((dealbox_wire_known(e->type) || e->type == DEALBOX_EV_PROTOCOL_ERROR) &&
	    !(within(e->position, DEALBOX_MAX_ENTRIES) && within(e->pocket, 7) &&
	      within(e->card, DEALBOX_MAX_CARDS - 1) && within(e->quality, 100)))
		wrong("event %llu: type %#x, a field cannot be", (unsigned long long)e->seqno,
		      e->type);
	if (e->type == DEALBOX_EV_PROTOCOL_ERROR &&
	    (!within(e->card, 0) || !within(e->pocket, 0) || e->arg[1] ||
	     (e->code != DEALBOX_PROTO_EVENT_SIZE && e->code != DEALBOX_PROTO_EVENT_FIELD)))
		wrong("event %llu: PROTOCOL_ERROR code %u tells something of the machine's",
		      (unsigned long long)e->seqno, e->code);
	u->begun = true;
	u->seqno = e->seqno;
	u->timestamp = e->timestamp_ns;
}

#define SOME	0x10000		/* no type of an event */

/*
 * Waits up to ms for events, and reads some. Returns the type of the first for which stop() is
 * true, SOME if there is none, 0 if no event came, -ENODEV at the end.
 */
static int take_events(struct user *u, int fd, int ms, bool (*stop)(uint32_t type))
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct dealbox_event got[8];
	ssize_t length;
	size_t i;

	memset(got, 0xa5, sizeof(got));
	if (ms >= 0 && poll(&pollfd, 1, ms) != 1)
		return 0;
	length = read(fd, got, sizeof(got));
	if (length < 0 && errno != ENODEV && errno != EAGAIN && errno != EINTR)
		wrong("read: errno %d is not documented", errno);
	if (length < 0)
		return errno == ENODEV ? -ENODEV : 0;
	if (!length || length % sizeof(*got))
		wrong("read gave %zd bytes", length);
	for (i = 0; i < length / sizeof(*got); i++)
		check_event(u, &got[i]);
	for (i = 0; stop && i < length / sizeof(*got); i++)
		if (stop(got[i].type))
			return got[i].type;
	return SOME;
}

/* Blocks in read() until the machine is gone. */
static void *watch(void *arg)
{
	struct user *u = arg;
	int fd = open(u->node, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && take_events(u, fd, -1, NULL) >= 0)
		;
	if (fd >= 0)
		close(fd);
	return NULL;
}

static bool is_stop(uint32_t type)
{
	return type == DEALBOX_EV_DEAL_DONE || type == DEALBOX_EV_PAUSED ||
	       type == DEALBOX_EV_ABORTED || type == DEALBOX_EV_STATE_LOST ||
	       DEALBOX_EV_IS_STOP(type);
}

static int command(int fd, uint32_t op, uint32_t plan, uint32_t insertion, uint32_t arg)
{
	struct dealbox_control c = { .op = op, .plan_id = plan, .insertion = insertion,
				     .arg = arg };

	return ASK(fd, CONTROL, &c);
}

static void look_around(int fd)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED };
	struct dealbox_counters counters;
	struct dealbox_identity identity;
	struct dealbox_status status;
	struct dealbox_info info;

	memset(&info, 0xa5, sizeof(info));
	memset(&status, 0xa5, sizeof(status));
	memset(&counters, 0xa5, sizeof(counters));
	memset(&identity, 0xa5, sizeof(identity));
	if (!ASK(fd, GET_INFO, &info) &&
	    (!zero(info.reserved, sizeof(info.reserved)) || info.reserved1 || !info.pockets ||
	     info.pockets > 8 || !memchr(info.model, 0, sizeof(info.model)) ||
	     !memchr(info.serial, 0, sizeof(info.serial)) || !info.plan_entries ||
	     info.plan_entries > DEALBOX_MAX_ENTRIES))
		wrong("GET_INFO gives what cannot be");
	if (!ASK(fd, GET_STATUS, &status) &&
	    (!zero(status.reserved, sizeof(status.reserved)) || status.reserved1 ||
	     status.state > DEALBOX_STATE_DONE))
		wrong("GET_STATUS gives what cannot be");
	if (!ASK(fd, GET_COUNTERS, &counters) && counters.reserved)
		wrong("GET_COUNTERS: reserved is not zero");
	if (!ASK(fd, GET_IDENTITY, &identity) &&
	    !zero(identity.reserved, sizeof(identity.reserved)))
		wrong("GET_IDENTITY: reserved is not zero");
	ASK(fd, GET_PARAM, &param);
	memset(&param, 0, sizeof(param));
	param.id = DEALBOX_PARAM_SPEED;
	param.value = 600;
	ASK(fd, SET_PARAM, &param);
}

/* Loads a plan. Returns its number. */
static uint32_t load(struct user *u, int fd)
{
	struct dealbox_plan plan = { .plan_id = 1 + below(&u->state, 9),
				     .mode = DEALBOX_PLAN_BY_CARD, .entries = 52 };
	int i;

	for (i = 0; i < 52; i++)
		plan.pocket[i] = i % 4;
	/* wait for the machine's verdict, because the plan is to be dealt */
	fcntl(fd, F_SETFL, 0);
	if (ASK(fd, SET_PLAN, &plan) && plan.entries != 52)
		wrong("SET_PLAN has changed the plan");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return plan.plan_id;
}

/* Returns 0 if a deal has begun, or an errno. */
static int start(struct user *u, int fd, uint32_t plan)
{
	struct dealbox_status status = { 0 };
	int tries = 0;

	while (!status.insertion && tries++ < 20) {
		if (ASK(fd, GET_STATUS, &status) == ENODEV)
			return ENODEV;
		if (!status.insertion)
			take_events(u, fd, 20, NULL);
	}
	/* drop an early STATE_LOST, which does not end this deal */
	while (take_events(u, fd, 0, NULL) > 0)
		;
	u->insertion = status.insertion ?: 1;
	return command(fd, DEALBOX_OP_START, plan, u->insertion, 0);
}

/* Deals to the end, if possible. Returns the last result of take_events(). */
static int deal_on(struct user *u, int fd)
{
	struct dealbox_status status;
	int type = 0, tries = 0;

	while ((u->patient || tries < 12) && now_ms() < u->end) {
		type = take_events(u, fd, 100, is_stop);
		if (type < 0 || type == DEALBOX_EV_DEAL_DONE ||
		    (type == DEALBOX_EV_STATE_LOST && !u->patient))
			break;
		if (type == SOME)
			continue;
		tries++;
		if (type == DEALBOX_EV_PAUSED)
			command(fd, DEALBOX_OP_RESUME, 0, 0, 0);
		else if (DEALBOX_EV_IS_HELD(type))
			command(fd, DEALBOX_OP_REREAD, 0, 0, 0);
		else if (DEALBOX_EV_IS_VOID(type))
			command(fd, DEALBOX_OP_CLEAR_FAULT, 0, 0, 0);
		else if (ASK(fd, GET_STATUS, &status) == ENODEV)
			break;
	}
	return type;
}

static bool is_attested(uint32_t type)
{
	return type == DEALBOX_EV_ATTESTED || type == DEALBOX_EV_STATE_LOST;
}

/* Lets the machine attest the deal that has ended. Returns true if it has. */
static bool attest(struct user *u, int fd)
{
	struct dealbox_attest a = { .insertion = u->insertion };
	struct dealbox_attestation attestation;
	int type = SOME, tries = 0, error;

	memset(a.nonce, 1 + below(&u->state, 255), sizeof(a.nonce));
	if (ASK(fd, ATTEST, &a) == ENODEV)
		return false;
	while (type >= 0 && !is_attested(type) && (u->patient || tries < 5) && now_ms() < u->end) {
		type = take_events(u, fd, 100, is_attested);
		tries += !type;
	}
	memset(&attestation, 0xa5, sizeof(attestation));
	error = ASK(fd, GET_ATTESTATION, &attestation);
	if (!error && !zero(attestation.reserved, sizeof(attestation.reserved)))
		wrong("GET_ATTESTATION: reserved is not zero");
	return type == DEALBOX_EV_ATTESTED && !error;
}

/* Deals one board. */
static void deal(struct user *u, int fd)
{
	if (start(u, fd, load(u, fd)) == ENODEV)
		return;
	if (below(&u->state, 2))
		command(fd, DEALBOX_OP_PAUSE, 0, 0, 0);
	if (deal_on(u, fd) == DEALBOX_EV_DEAL_DONE)
		attest(u, fd);
}

static void read_attributes(const char *node)
{
	char path[320], text[256];
	struct dirent *entry;
	DIR *folder;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/dealbox/%s", strrchr(node, '/') + 1);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		if (entry->d_type != DT_REG || !strcmp(entry->d_name, "uevent"))
			continue;
		snprintf(path, sizeof(path), "/sys/class/dealbox/%s/%s", strrchr(node, '/') + 1,
			 entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file) && strpbrk(text, "\033\r\t\b"))
			wrong("%s has control characters", path);
		fclose(file);
	}
	if (folder)
		closedir(folder);
}

static void suspend_when_idle(const struct machine *m)
{
	write_file(m->device, "power/autosuspend_delay_ms", "0");
	write_file(m->device, "power/control", "auto");
}

static void unbind(const struct machine *m)
{
	char interface[64];

	snprintf(interface, sizeof(interface), "%s:1.0", strrchr(m->device, '/') + 1);
	write_file("/sys/bus/usb/drivers/dealbox", "unbind", interface);
}

static int open_node(const char *node)
{
	int fd = open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno != ENODEV && errno != ENXIO && errno != ENOENT && errno != EIO)
		wrong("open: errno %d is not documented", errno);
	if (fd >= 0)
		ASK(fd, CLAIM, NULL);
	return fd;
}

/* Random actions of any program. */
static void wander(struct user *u)
{
	int fd = open_node(u->node);

	if (fd < 0)
		return;
	look_around(fd);
	deal(u, fd);
	if (below(&u->state, 8) == 0)
		machine_usb_reset(u->machine);
	command(fd, DEALBOX_OP_LOCATE, 0, 0, 1);
	command(fd, DEALBOX_OP_ABORT, 0, 0, 0);
	if (below(&u->state, 2))
		deal(u, fd);
	if (below(&u->state, 8) == 0)
		unbind(u->machine);
	if (ASK(fd, RELEASE, NULL) == EINVAL)
		wrong("RELEASE: EINVAL");
	close(fd);
}

/* Begins a phase: counts the transfers of the last, and sets the emulator's rules of this one. */
static void enter(struct user *u, enum phase phase)
{
	static unsigned int before;
	char reply[512] = "", name[16];
	const char *line, *count;
	int length;

	if (machine_ask(u->machine, reply, sizeof(reply), "status") && u->kind < KINDS) {
		count = strstr(reply, "transfers ");
		if (!count)
			wrong("the emulator does not count transfers: %s", reply);
		length = atoi(count + strlen("transfers "));
		board->transfers[u->kind][phase - 1] = length - before;
		before = length;
	}
	for (line = u->text; line && phase < PHASES; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "# at %15[a-z]: %n", name, &length) != 1 ||
		    strcmp(name, phase_names[phase]))
			continue;
		line += length;
		length = strcspn(line, "\n");
		/* the emulator may have ended, but must not refuse the rule */
		if (!machine_tell(u->machine, "inject %.*s", length, line) &&
		    machine_tell(u->machine, "status"))
			wrong("the emulator does not take the rule: %.*s", length, line);
	}
}

/* Returns false if the machine is not suspended in time, or is gone. */
static bool await_sleep(const struct user *u)
{
	long long end = u->patient ? u->end : now_ms() + USE;
	char status[16] = "";

	while (now_ms() < end && strcmp(status, "suspended") &&
	       read_file(u->machine->device, "power/runtime_status", status, sizeof(status)))
		poll(NULL, 0, 20);
	return !strcmp(status, "suspended");
}

/* Retries, because the next board may take a moment. Returns 0 if a deal has begun, or an errno. */
static int start_again(struct user *u, int fd)
{
	int error, tries = 0;

	while ((error = start(u, fd, load(u, fd))) && error != ENODEV && now_ms() < u->end &&
	       (u->patient || tries++ < 20))
		take_events(u, fd, 50, NULL);
	return error;
}

/*
 * Goes through all phases, always in the same order. Starts the watcher once the node is open.
 * Returns false if it could not be opened.
 */
static bool tour(struct user *u, pthread_t *thread, struct user *watcher)
{
	bool counted = u->kind < KINDS;
	struct machine *m = u->machine;
	int fd, end;

	enter(u, SLEEP);
	if (sleeps(u->text)) {
		suspend_when_idle(m);
		if (!await_sleep(u) && counted)
			wrong("the machine does not fall asleep");
	}
	enter(u, OPEN);
	fd = open_node(u->node);
	if (fd < 0 && counted)
		wrong("the machine does not wake: %s", strerror(errno));
	if (fd < 0)
		return false;
	if (pthread_create(thread, NULL, watch, watcher))
		wrong("no thread");
	read_attributes(u->node);
	enter(u, QUESTIONS);
	look_around(fd);
	enter(u, PLAN);
	load(u, fd);
	enter(u, DEAL);
	start_again(u, fd);
	end = deal_on(u, fd);
	if (end != DEALBOX_EV_DEAL_DONE && counted)
		wrong("the deal ends with %#x", end);
	enter(u, ATTEST);
	if (!attest(u, fd) && counted)
		wrong("the deal is not attested");
	enter(u, RESET);
	machine_usb_reset(m);
	/* the close comes in mid-deal */
	machine_tell(m, "inject position 5: freeze");
	if (!start_again(u, fd))
		machine_tell(m, "wait frozen");
	else if (counted)
		wrong("no second deal");
	enter(u, CLOSE);
	close(fd);
	fd = open_node(u->node);
	if (fd < 0)
		return true;
	command(fd, DEALBOX_OP_RESUME, 0, 0, 0);
	enter(u, UNBIND);
	unbind(m);
	close(fd);
	enter(u, PHASES);
	return true;
}

/* Never returns. Writes to done at its end. kind, patient: see struct user. */
static void use(struct machine *m, const char *text, unsigned int kind, bool patient,
		long long end, int done)
{
	struct user u = { .node = m->node, .text = text, .machine = m, .kind = kind,
			  .patient = patient, .state = hash_of(text), .end = end };
	struct user watcher = { .node = m->node };
	bool watched = true;
	pthread_t thread;

	/* complaints about a machine that is gone are expected; errors go to stdout */
	if (kind == KINDS && !freopen("/dev/null", "w", stderr))
		wrong("/dev/null: %s", strerror(errno));
	/* a connection of its own: the job's waits for the cable to be pulled */
	m->control = -1;
	if (is_tour(text) && machine_connect(m)) {
		watched = tour(&u, &thread, &watcher);
	} else {
		if (below(&u.state, 8) == 0)
			suspend_when_idle(m);
		if (pthread_create(&thread, NULL, watch, &watcher))
			wrong("no thread");
		read_attributes(u.node);
		wander(&u);
	}
	/* now the cable is pulled, and the watcher comes back */
	if (write(done, "", 1) != 1)
		wrong("nobody waits");
	if (watched)
		pthread_join(thread, NULL);
	_exit(0);
}

/* --- one case ------------------------------------------------------------------------ */

struct job {
	unsigned int port;
	int log;
	struct machine machine;
	int emulator;		/* pidfd */
	bool pulled;		/* a rule has pulled the cable, or the emulator has ended */
	char bus_id[16];	/* 1-3 */
	const char *name;
};

static bool fail(struct job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct job *j, const char *format, ...)
{
	char path[512];
	va_list args;
	FILE *file;

	va_start(args, format);
	printf("# %s: ", j->name);
	vprintf(format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s.scenario", out, j->name);
	file = fopen(path, "we");
	if (file) {
		fputs(board->now[j->port], file);
		fclose(file);
	}
	printf("\n# the case is:\n");
	for (const char *line = board->now[j->port]; *line; ) {
		size_t length = strcspn(line, "\n");

		printf("#   %.*s\n", (int)length, line);
		line += length + !!line[length];
	}
	fflush(stdout);
	board->failed = true;
	return false;
}

static bool start_emulator(struct job *j, const char *scenario)
{
	char port[16], options[256] = "", *state = NULL, *word;
	const char *const front[] = { "--usbip", "--port", port, NULL };
	const char *argv[32] = { "--speed", "0", "--scenario", scenario };
	unsigned int n = 4;

	snprintf(port, sizeof(port), "%u", j->port);
	sscanf(board->now[j->port], "# options: %255[^\n]", options);
	for (word = strtok_r(options, " ", &state); word && n < 31;
	     word = strtok_r(NULL, " ", &state))
		argv[n++] = word;
	return machine_start(&j->machine, front, argv);
}

/* Handles one uevent. Returns true once it is known whether our port has a node. */
static bool take_uevent(struct job *j)
{
	struct machine *m = &j->machine;
	char message[4096], *at, part[24];
	ssize_t length = recv(m->uevents, message, sizeof(message) - 1, MSG_DONTWAIT);
	const char *path, *action;

	if (length <= 0)
		return false;
	message[length] = '\0';
	path = uevent_value(message, length, "DEVPATH");
	action = uevent_value(message, length, "ACTION");
	snprintf(part, sizeof(part), "/%s", j->bus_id);
	at = strstr(path, part);
	if (!at || (at[strlen(part)] && at[strlen(part)] != '/'))
		return false;
	if (!strcmp(uevent_value(message, length, "DEVTYPE"), "usb_device")) {
		snprintf(m->device, sizeof(m->device), "/sys%s", path);
		/* interfaces are bound before their device is */
		return !strcmp(action, "bind");
	}
	if (strcmp(uevent_value(message, length, "SUBSYSTEM"), "dealbox") || strcmp(action, "add"))
		return false;
	snprintf(m->device, sizeof(m->device), "/sys%.*s", (int)(at - path + strlen(part)), path);
	snprintf(m->node, sizeof(m->node), "/dev/%s", uevent_value(message, length, "DEVNAME"));
	return true;
}

/* Returns the timeout for poll(): ms until then, 0 if it has passed. */
static int ms_until(long long end)
{
	long long now = now_ms();

	return end > now ? end - now : 0;
}

/*
 * Waits until fd is readable (true), or until the time end or the end of the machine (false): its
 * emulator has ended, or a rule has pulled the cable for good. Before the device exists, only the
 * emulator can tell that. A machine whose cable is plugged in again may still be found.
 */
static bool await(struct job *j, int fd, long long end)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = j->emulator, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	static const char line[] = "wait unplugged\n";
	bool pull = is_pull(board->now[j->port]);
	int ms;

	while (!j->pulled && !fds[0].revents && (ms = ms_until(end))) {
		if (pull && j->machine.control < 0 && machine_connect(&j->machine) &&
		    send(j->machine.control, line, strlen(line), MSG_NOSIGNAL) < 0)
			j->pulled = true;
		fds[2].fd = j->machine.control;
		/* the emulator may not listen yet */
		poll(fds, 3, pull && fds[2].fd < 0 && ms > 100 ? 100 : ms);
		if (fds[1].revents || fds[2].revents)
			j->pulled = true;
	}
	return fds[0].revents;
}

/* Asks the emulator whether the cable is pulled, which the kernel may not have noticed yet. */
static bool is_unplugged(const struct job *j)
{
	struct machine asked = j->machine;
	char reply[512] = "";

	/* a connection of its own: that of await() waits for an answer */
	if (!machine_connect(&asked))
		return false;
	machine_ask(&asked, reply, sizeof(reply), "status");
	close(asked.control);
	return strstr(reply, " plugged 0 ");
}

static void await_machine(struct job *j, bool patient)
{
	long long end = now_ms() + (patient ? WHOLE_TOUR : ENUMERATION);

	while (await(j, j->machine.uevents, end))
		if (take_uevent(j))
			return;
}

/* Returns true if the device is gone and its port is free. */
static bool is_clean(struct job *j)
{
	char path[64], line[200];
	unsigned int port, status = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/usb/devices/%s", j->bus_id);
	if (!access(path, F_OK))
		return false;
	file = fopen("/sys/devices/platform/vhci_hcd.0/status", "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "hs %u %u", &port, &status) == 2 && port == j->port)
			break;
	if (file)
		fclose(file);
	return status == 4;	/* VDEV_ST_NULL */
}

static void tell_stack(pid_t pid)
{
	char path[64], line[200];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		printf("# stack of %d: %s", pid, line);
	if (file)
		fclose(file);
}

/* Waits until the process has closed done and ended. Returns false if it has not. */
static bool await_exit(pid_t pid, int done, int *status, long long end)
{
	struct pollfd pollfd = { .fd = done, .events = POLLIN };
	char byte;

	do {
		if (poll(&pollfd, 1, ms_until(end)) != 1)
			return false;
	} while (read(done, &byte, 1) == 1);
	return waitpid(pid, status, 0) == pid;
}

/* Waits for a uevent, or 50 ms, because not every change has one. */
static void await_change(struct job *j)
{
	struct pollfd pollfd = { .fd = j->machine.uevents, .events = POLLIN };
	char message[4096];

	poll(&pollfd, 1, 50);
	while (recv(j->machine.uevents, message, sizeof(message), MSG_DONTWAIT) > 0)
		;
}

/* Runs the case in board->now[port]. kind, patient: see struct user. */
static bool run_case(struct job *j, unsigned int kind, bool patient)
{
	const char *text = board->now[j->port];
	char scenario[64], mark[40];
	pid_t user = 0;
	unsigned int messages;
	int status = 0, done[2];
	bool ok = true;
	long long end;
	FILE *file;

	snprintf(scenario, sizeof(scenario), "/tmp/case-%u", j->port);
	file = fopen(scenario, "we");
	if (!file || fputs(text, file) < 0 || fclose(file))
		return fail(j, "%s: %s", scenario, strerror(errno));
	if (pipe2(done, O_CLOEXEC))
		return fail(j, "pipe: %s", strerror(errno));
	j->pulled = false;
	if (!start_emulator(j, scenario))
		return fail(j, "no emulator");
	j->emulator = pidfd_open(j->machine.pid, 0);
	if (j->emulator < 0)
		return fail(j, "pidfd: %s", strerror(errno));
	await_machine(j, patient);
	if (j->machine.node[0]) {
		board->found++;
		end = now_ms() + (patient ? WHOLE_TOUR : is_tour(text) ? TOUR : USE);
		user = fork();
		if (!user)
			use(&j->machine, text, kind, patient, end, done[1]);
		close(done[1]);
		await(j, done[0], end);
	} else {
		close(done[1]);
	}
	j->pulled = is_pull(text) && is_unplugged(j);
	kill(j->machine.pid, SIGKILL);
	waitpid(j->machine.pid, &status, 0);
	if (WIFEXITED(status))
		ok = fail(j, "the emulator does not take the scenario: status %d",
			  WEXITSTATUS(status));
	else if (WTERMSIG(status) != SIGKILL)
		ok = fail(j, "the emulator crashed: signal %d", WTERMSIG(status));
	end = now_ms() + HANGS;
	if (user > 0 && !await_exit(user, done[0], &status, end)) {
		tell_stack(user);
		ok = fail(j, "the program does not end after an unplug");
	} else if (user > 0 && status) {
		ok = fail(j, "the program ended with status %#x", status);
	}
	while (ok && !is_clean(j)) {
		if (now_ms() > end)
			ok = fail(j, "the machine was unplugged, and does not go");
		await_change(j);
	}
	close(done[0]);
	close(j->emulator);
	machine_close(&j->machine);
	snprintf(mark, sizeof(mark), ";dealbox %s:", j->bus_id);
	messages = kernel_log_count(j->log, mark);
	if (messages > MESSAGES_MAX)
		ok = fail(j, "%u messages of the driver", messages);
	board->cases++;
	return ok;
}

/* --- all cases ----------------------------------------------------------------------- */

struct work {
	unsigned int jobs;
	bool alone;		/* tours and cases that suspend, one at a time; or all others: */
	char *const *files;	/* these files, */
	unsigned int file_count;
	unsigned int pulls;	/* then a pulled cable at this many transfers of each phase, */
	uint64_t seed;
	unsigned int cases;	/* then this many random cases, */
	long long end;		/* or random cases until this time */
};

/* A tour without faults, or one with the cable pulled at the nth transfer of a phase. */
struct trip {
	unsigned int kind;	/* KINDS: neither */
	enum phase phase;
	unsigned int nth;	/* 0: the cable is not pulled */
	bool alone;
};

/* Finds the pull of this index; those of a phase are spread over it. False if there are fewer. */
static bool pull_of(const struct work *w, unsigned int index, struct trip *pull)
{
	uint64_t state = w->seed + index, first;

	for (pull->kind = 0; pull->kind < KINDS; pull->kind++) {
		for (pull->phase = PROBE; pull->phase < PHASES; pull->phase++) {
			unsigned int all = board->transfers[pull->kind][pull->phase];
			unsigned int count = w->pulls < all ? w->pulls : all;

			if (index < count) {
				first = (uint64_t)index * all / count;
				pull->nth = 1 + first +
					    below(&state, (index + 1ULL) * all / count - first);
				return true;
			}
			index -= count;
		}
	}
	return false;
}

/* Makes the case of this index, and its name. Returns false if there are no more. */
static bool take_case(const struct work *w, unsigned int index, char *text, char *name,
		      size_t name_size, struct trip *trip)
{
	unsigned int tours = w->pulls ? KINDS : 0, i;
	struct trip other;

	*trip = (struct trip){ .kind = KINDS };
	if (index < tours) {
		trip->kind = index;
		trip->alone = true;
		snprintf(name, name_size, "tour-%u", index);
		make_tour(text, index);
		return true;
	}
	index -= tours;
	if (index < w->file_count) {
		const char *slash = strrchr(w->files[index], '/');

		snprintf(name, name_size, "%.100s", slash ? slash + 1 : w->files[index]);
		load_case(text, w->files[index]);
		trip->alone = sleeps(text);
		return true;
	}
	index -= w->file_count;
	/* the tours have counted the transfers before */
	if (pull_of(w, index, trip)) {
		snprintf(name, name_size, "pull-%u-%s-%u", trip->kind, phase_names[trip->phase],
			 trip->nth);
		make_pull(text, trip->kind, trip->phase, trip->nth);
		trip->alone = trip->phase != PROBE && sleeps(text);
		return true;
	}
	if (w->alone)
		return false;
	*trip = (struct trip){ .kind = KINDS };
	for (i = 0; pull_of(w, i, &other); i++)
		index--;
	snprintf(name, name_size, "seed-%llu-case-%u", (unsigned long long)w->seed, index);
	make_case(text, w->seed * 1000003 + index);
	return w->end ? now_ms() < w->end : index < w->cases;
}

/* Never returns. */
static void run_job(const struct work *w, unsigned int port)
{
	struct job j = { .port = port };
	struct trip trip;
	char name[128];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	j.name = name;
	snprintf(j.bus_id, sizeof(j.bus_id), "1-%u", port + 1);
	j.log = kernel_log_open();
	if (j.log < 0)
		_exit(!fail(&j, "no kernel log"));

	while (!board->failed && take_case(w, board->next++, board->now[port], name, sizeof(name),
					   &trip)) {
		if (trip.alone != w->alone)
			continue;
		if (!board->now[port][0])
			_exit(!fail(&j, "cannot be read"));
		if (!run_case(&j, trip.nth ? KINDS : trip.kind, trip.kind < KINDS))
			_exit(1);
		if (trip.nth) {
			board->pulls[trip.kind][trip.phase]++;
			board->pulled[trip.kind][trip.phase] += j.pulled;
		}
	}
	_exit(0);
}

/* Runs all cases of w, and checks the kernel log. */
static void run_jobs(const struct work *w, int log)
{
	unsigned int i, left;

	fflush(stdout);
	board->next = 0;
	for (i = 0; i < w->jobs; i++) {
		pid_t pid = fork();

		if (!pid)
			run_job(w, i);
	}
	for (left = w->jobs; left; ) {
		int status;

		if (waitpid(-1, &status, WNOHANG) > 0) {
			left--;
			if (status)
				board->failed = true;
			continue;
		}
		if (!board->failed && !kernel_log_is_clean(log)) {
			board->failed = true;
			for (i = 0; i < w->jobs; i++) {
				struct job j = { .port = i };
				char name[32];

				snprintf(name, sizeof(name), "running-%u", i);
				j.name = name;
				fail(&j, "ran when the kernel complained, or shortly before");
			}
		}
		poll(NULL, 0, 50);
	}
}

/* Prints the number of transfers, of planned pulls, and of pulls that took effect. */
static bool tell_pulls(void)
{
	unsigned int kind, all = 0, pulls = 0, pulled = 0;
	enum phase phase;
	bool whole = true;

	for (kind = 0; kind < KINDS; kind++) {
		printf("# transfers, pulls, came: %s:", kinds[kind]);
		for (phase = PROBE; phase < PHASES; phase++) {
			printf(" %s %u, %u, %u;", phase_names[phase], board->transfers[kind][phase],
			       board->pulls[kind][phase], board->pulled[kind][phase]);
			whole = whole && board->transfers[kind][phase];
			all += board->transfers[kind][phase];
			pulls += board->pulls[kind][phase];
			pulled += board->pulled[kind][phase];
		}
		putchar('\n');
	}
	printf("# transfers: %u; pulls: %u; %u of them came\n", all, pulls, pulled);
	if (!whole)
		puts("# a tour lacks a phase");
	/* the number of events in one transfer depends on timing */
	if (pulled * 4 < pulls * 3)
		puts("# too many pulls did not come");
	return whole && pulled * 4 >= pulls * 3;
}

static void usage(void)
{
	fputs("usage: fuzz_usb [-j JOBS] [-o FOLDER] [-u PULLS | -u all] [-s SEED] [-n CASES | -t "
	      "SECONDS] [SCENARIO...]\n"
	      "       fuzz_usb -s SEED -p CASE    prints that case\n", stderr);
	exit(2);
}

int main(int argc, char *argv[])
{
	struct work w = { .jobs = 4, .seed = 1 }, alone;
	long long print = -1, begin = now_ms();
	int option, log;
	bool ok = true;

	while ((option = getopt(argc, argv, "j:n:o:p:s:t:u:")) != -1) {
		switch (option) {
		case 'j':
			w.jobs = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			w.cases = strtoul(optarg, NULL, 0);
			break;
		case 'o':
			out = optarg;
			break;
		case 'p':
			print = strtoll(optarg, NULL, 0);
			break;
		case 's':
			w.seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			w.end = begin + 1000 * strtoll(optarg, NULL, 0);
			break;
		case 'u':
			w.pulls = strcmp(optarg, "all") ? strtoul(optarg, NULL, 0) : UINT_MAX;
			break;
		default:
			usage();
		}
	}
	w.files = argv + optind;
	w.file_count = argc - optind;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (board == MAP_FAILED || !w.jobs || w.jobs > JOBS_MAX)
		usage();
	if (print >= 0) {
		make_case(board->now[0], w.seed * 1000003 + print);
		fputs(board->now[0], stdout);
		return 0;
	}

	log = kernel_log_open();
	if (log < 0)
		return 2;
	printf("# seed %llu\n", (unsigned long long)w.seed);
	alone = w;
	alone.alone = true;
	alone.jobs = 1;		/* so that the tours' counts do not depend on each other, either */
	run_jobs(&alone, log);
	if (!board->failed)
		run_jobs(&w, log);
	if (w.pulls)
		ok = tell_pulls();
	ok = kernel_log_is_clean(log) && !board->failed && ok;
	printf("# %u cases, %u with a node, %u events: %u PROTOCOL_ERROR, %u DEAL_DONE; "
	       "%u calls failed, %lld s\n",
	       board->cases, board->found, board->events, board->protocol_errors, board->done,
	       board->errors, (now_ms() - begin) / 1000);
	/* if machines are hardly ever found, or never deal, this tests USB core instead */
	if (board->found < board->cases / 8 || (board->cases >= 50 && !board->done)) {
		puts("# too few machines were found or dealt");
		ok = false;
	}
	return ok ? 0 : 1;
}
