// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * usage: campaign [-s SEED] [-b BOARD] [-n BOARDS] [-t SECONDS] [-a] [-x KIND]... [-o KIND]... [-v]
 * PROGRAM LOCKSTEP campaign ... -u ADDRESS PROGRAM      the machine is plugged into vhci_hcd
 * campaign ... -d FOLDER PROGRAM SERVICE     the service deals, by FOLDER/dealboxd.conf, on the
 * machine at FOLDER/machine
 *
 * Deals boards with PROGRAM (dealbox) on a machine that tracks every real card, while faults
 * occur. See README.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/ledger.h>

#include "campaign.h"
#include "machine/emu.h"
#include "lockstep.h"

#define STEP_US		5000		/* step of the machine */
#define PEOPLE_US	400000		/* interval at which people look */
#define BUS_STEP_US	2000		/* step of the machine in real time */
#define SERVICE_STEP_US	1000		/* step of the machine with the service */
#define SERVICE_STEPS	4		/* steps at once with the service */
#define SERVICE_PEOPLE_US	100000
#define JOB_US		3600000000ull	/* time limit of a job */
#define SERVICE_JOB_US	120000000
#define RUNS		6		/* limit of starts of a job */
#define ACTS		150
#define PATIENCE_US	30000000	/* time for a program to exit */

static uint64_t seed = 1;
static const char *program, *lockstep;
static const char *uri;		/* machine on a real bus; NULL = on the socket */
static const char *service;	/* the service; NULL = the program deals */
static bool real_time;		/* all parts run in real time: on a bus, or with the service */
static uint64_t people_us = PEOPLE_US;
static char folder[64];
bool verbose;

/* Errors of a job */
enum wrong { RIGHT, NOT_EXACT, AGAIN, TWICE, UNDEALT, UNSOUND, DIED, CLEARED, WRONGS };

static const char *const rules[WRONGS] = {
	[NOT_EXACT] = "a board that is called exact is, but where no host can tell",
	[AGAIN] = "no board is dealt into that has cards in it",
	[TWICE] = "no board of a job is called exact twice",
	[UNDEALT] = "no board is called exact that was not dealt",
	[UNSOUND] = "where nothing goes wrong all boards are exact at once",
	[DIED] = "the program does not die",
	[CLEARED] = "no fault is cleared before people did something",
};

/* -- counters ------------------------------------------------------------------ */

static struct {
	int jobs, deals, exact, voids, unseen, given_up, wrong;
	int struck[FAULTS], unseen_by[FAULTS], wrong_by[FAULTS], broken[WRONGS];
} total;

/* -- one job ----------------------------------------------------------- */

static struct {
	int number;
	pockets_t plans[BOARDS];
	/* the program's board of each insertion */
	struct { uint32_t insertion; struct board *board; } deals[256];
	int deal_count;
	struct {
		uint32_t insertion;
		int number;
		int begun;
		bool judged;
		struct board *board;
	} claims[32];
	int claim_count, voids, runs;
	int deeds;		/* acts of people at the time of the last fault */
	int begun;		/* number of starts, without resumes */
	int service_before;	/* the service's newest job before this one */
	bool service_done;	/* the service has finished, even if nobody watched */
	bool keeps;		/* the machine keeps power and state without the program */
	enum wrong wrong;	/* first error */
	char finding[256];
	/* the program */
	pid_t pid;
	uint64_t begin_us;
	int lockstep, out, err, in, listener, host;
	bool sent, ended, attached, killed, anew, unplugged;
	uint64_t now_us, plug_us;
	char line[65536];
	size_t line_length;
	/* events in flight */
	uint32_t shift;		/* offset of their numbers */
	uint8_t late[32];
	int late_for;
	bool late_quietly;
	uint8_t plan_before[sizeof(m.plan)];
} job;

void note(const char *format, ...)
{
	va_list list;

	if (!verbose)
		return;
	printf("# %9.3f ", (double)(job.now_us - LOCKSTEP_BEGIN) / 1e6);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

static void found(enum wrong wrong, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void found(enum wrong wrong, const char *format, ...)
{
	va_list list;

	if (job.wrong && (job.wrong == NOT_EXACT || wrong != NOT_EXACT))
		return;
	job.wrong = wrong;
	va_start(list, format);
	vsnprintf(job.finding, sizeof(job.finding), format, list);
	va_end(list);
	note("WRONG: %s", job.finding);
}

static bool any_struck(void)
{
	int i;

	for (i = 0; i < fault_count; i++)
		if (faults[i].struck)
			return true;
	return false;
}

/* -- the judge ----------------------------------------------------------- */

static bool same(const pockets_t a, const pockets_t b)
{
	return !memcmp(a, b, sizeof(pockets_t));
}

/*
 * Returns 0 if the board is exact; the fault (F_NONE + 1..) that explains why no host can see that
 * it is not; or FAULTS if the claim is wrong.
 */
static enum fault_id board_judge(const struct board *board, int number)
{
	const uint8_t (*plan)[54] = (const uint8_t (*)[54])job.plans[number - 1];
	pockets_t told;
	int pocket, card;

	if (same(board->cards, plan))
		return F_NONE;
	if (!fault_unseen())
		return FAULTS;
	/* A misread card is noticed, unless the deck has wrong cards and enough of them. */
	if (same(board->told, plan))
		return fault_unseen() == F_MISREAD && board->ran_short ? FAULTS : fault_unseen();
	/* A short deck would have been noticed. */
	for (pocket = 0; pocket < POCKETS; pocket++)
		for (card = 0; card < 54; card++)
			told[pocket][card] = board->told[pocket][card] - board->under[pocket][card];
	return !board->ran_short && same(told, plan) ? F_DOUBLE_UNSEEN : FAULTS;
}

void claims_judge(const struct board *only)
{
	char text[2][80 * POCKETS];
	enum fault_id id;
	int i, j;

	for (i = 0; i < job.claim_count; i++) {
		const struct board *board = job.claims[i].board;
		int number = job.claims[i].number;

		if (job.claims[i].judged || (only && board != only))
			continue;
		job.claims[i].judged = true;
		for (j = 0; j < i; j++)
			if (job.claims[j].number == number &&
			    job.claims[j].begun == job.claims[i].begun)
				found(TWICE, "board %d was called exact twice", number);
		id = board_judge(board, number);
		total.exact += id == F_NONE;
		if (id == FAULTS) {
			found(NOT_EXACT, "board %d, insertion %u, is not what was called exact",
			      number, job.claims[i].insertion);
			pockets_text(board->cards, text[0]);
			pockets_text(job.plans[number - 1], text[1]);
			note("lies there: %s", text[0]);
			note("planned:    %s", text[1]);
		} else if (id != F_NONE) {
			total.unseen++;
			total.unseen_by[id]++;
		}
	}
}

static void claim(uint32_t insertion, int number)
{
	int i;

	for (i = 0; i < job.claim_count; i++)
		if (job.claims[i].insertion == insertion && job.claims[i].number == number &&
		    job.claims[i].begun == job.begun)
			return;
	for (i = job.deal_count - 1; i >= 0 && job.deals[i].insertion != insertion; i--)
		;
	if (i < 0 || number < 1 || number > BOARDS) {
		found(UNDEALT, "board %d is called exact, and insertion %u was never dealt", number,
		      insertion);
		return;
	}
	note("board %d, insertion %u, is called exact", number, insertion);
	job.claims[job.claim_count].insertion = insertion;
	job.claims[job.claim_count].number = number;
	job.claims[job.claim_count].begun = job.begun;
	job.claims[job.claim_count++].board = job.deals[i].board;
	people.exact[board_index(job.deals[i].board)] = true;
}

/* Withdraw the claim of an exact board, because the machine stopped after the end of the deal. */
static void claim_taken_back(uint32_t insertion)
{
	int i;

	for (i = 0; i < job.claim_count; i++)
		if (job.claims[i].insertion == insertion && !job.claims[i].judged) {
			people.exact[board_index(job.claims[i].board)] = false;
			job.claims[i] = job.claims[--job.claim_count];
			return;
		}
}

/* -- requests of the machine --------------------------------------------------------- */

static const enum fault_id by_strike[STRIKES] = {
	[STRIKE_MISREAD] = F_MISREAD, [STRIKE_UNREADABLE] = F_UNREADABLE,
	[STRIKE_FACE_UP] = F_FACE_UP, [STRIKE_FAINT] = F_FAINT, [STRIKE_DOUBLE] = F_DOUBLE,
	[STRIKE_DOUBLE_UNSEEN] = F_DOUBLE_UNSEEN, [STRIKE_TIMEOUT] = F_TIMEOUT,
	[STRIKE_JAM] = F_JAM, [STRIKE_HARDWARE] = F_HARDWARE,
	[STRIKE_WRONG_POCKET] = F_WRONG_POCKET, [STRIKE_WRONG_POCKET_LATE] = F_WRONG_POCKET_LATE,
	[STRIKE_WRONG_POCKET_UNSEEN] = F_WRONG_POCKET_UNSEEN,
};

int strikes(enum strike strike)
{
	struct fault *fault = fault_due(SITE_STRIKE, by_strike[strike]);

	if (!fault)
		return -1;
	switch (strike) {
	case STRIKE_MISREAD:
		return (m.reader[0] + 1 + (int)(fault->arg % 51)) % 52;
	case STRIKE_FAINT:
		return 1;
	case STRIKE_JAM:
		return 1 + (int)(fault->arg % 4);
	case STRIKE_WRONG_POCKET:
	case STRIKE_WRONG_POCKET_LATE:
	case STRIKE_WRONG_POCKET_UNSEEN:
		return (m.pocket + 1 + (int)(fault->arg % 3)) % POCKETS;
	default:
		return 0;
	}
}

void deal_begins(void)
{
	struct fault *fault;
	pockets_t none = { { 0 } };

	total.deals++;
	note("machine: deal %d into insertion %u, board %d", m.deals, m.insertion, m.board->number);
	/* The service does not report the start of a deal. */
	if (service)
		people_told("");
	if (!same(m.board->told, none))
		found(AGAIN, "insertion %u is dealt into, and there are cards in the board",
		      m.insertion);
	if (job.deal_count < 256) {
		job.deals[job.deal_count].insertion = m.insertion;
		job.deals[job.deal_count++].board = m.board;
	}
	fault = fault_due(SITE_BEGIN, F_OLD_PLAN);
	if (fault && m.deals > 1 && !m.routed)
		memcpy(m.plan, job.plan_before, sizeof(m.plan));
	memcpy(job.plan_before, m.plan, sizeof(m.plan));
	m.late_us = chance(200000);
	m.swapped_quality = 98;
	fault = fault_due(SITE_BEGIN, F_SWAPPED_FAINT);
	if (fault)
		m.swapped_quality = 1;
	else
		fault = fault_due(SITE_BEGIN, F_SWAPPED_CLEAR);
	if (fault) {
		m.swapped[0] = (int)(fault->arg % 52);
		m.swapped[1] = (m.swapped[0] + 1 + (int)(fault->arg / 52 % 51)) % 52;
	}
}

void deal_ends(int done)
{
	note("machine: the deal is %s", done ? "done" : "void");
	job.deeds = people.deeds;
}

/* -- to the program ----------------------------------------------------------- */

static uint32_t get32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static void hang_up(void)
{
	if (job.host >= 0 && uri) {
		usbip_detach(job.host);
		m.configured = 0;
	} else if (job.host >= 0) {
		close(job.host);
	}
	job.host = -1;
	job.attached = false;
	job.sent = true;
}

static void frame_send(uint32_t kind, uint32_t id, int status, const void *data, size_t length)
{
	struct { struct emu_frame head; uint8_t data[EMU_DATA_MAX]; } frame = {
		.head = { .kind = kind, .id = id, .status = status, .length = (uint32_t)length },
	};

	memcpy(frame.data, data, length);
	if (send(job.host, &frame, sizeof(frame.head) + length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		hang_up();
	job.sent = true;
}

/* -- events, and faults of the firmware --------------------------------------- */

static uint8_t passing[16][32];
static int passing_count;

static void pass(const uint8_t *event)
{
	memcpy(passing[passing_count++], event, 32);
}

static void event_alter(uint8_t *event, uint32_t arg)
{
	if (event[0] >= CARD_READ && event[0] <= CARD_LANDED) {
		if (arg % 2)
			event[17] = (uint8_t)(arg / 2 % 52);
		else
			event[18] = (uint8_t)(arg / 2 % POCKETS);
	} else {
		event[24] ^= (uint8_t)(1 + arg % 7);
	}
}

static void event_strange(uint8_t *event, uint32_t arg)
{
	static const uint8_t types[] = {
		0x01, 0x03, 0x04, 0x05, 0x06, 0x08, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
		0x17, 0x18, 0x19, 0x20, 0x23, 0x24, 0x28, 0x29, 0x2b, 0x2e, 0x3f, 0x40, 0x77, 0xf0,
	};

	event[0] = types[arg % sizeof(types)];
	event[16] = (uint8_t)m.position;
	event[17] = (uint8_t)(arg / 32 % 52);
	event[18] = (uint8_t)(arg / 2048 % POCKETS);
}

static void event_pass(uint8_t *event)
{
	struct fault *fault = fault_due(SITE_EVENT, F_NONE);
	uint32_t number = get32(event + 4) + job.shift;
	uint8_t other[32];

	put32(event + 4, number);
	switch (fault ? fault->id : F_NONE) {
	case F_LOST:
		break;
	case F_LOST_QUIETLY:
		job.shift--;
		break;
	case F_DOUBLED:
		pass(event);
		pass(event);
		break;
	case F_DOUBLED_QUIETLY:
		pass(event);
		put32(event + 4, number + 1);
		job.shift++;
		pass(event);
		break;
	case F_LATE:
	case F_LATE_QUIETLY:
		memcpy(job.late, event, 32);
		job.late_for = 1 + (int)(fault->arg % 4);
		job.late_quietly = fault->id == F_LATE_QUIETLY;
		job.shift -= job.late_quietly;
		return;
	case F_ALTERED:
		event[fault->arg % 32] ^= (uint8_t)(1 << fault->arg / 32 % 8);
		pass(event);
		break;
	case F_CARD_ALTERED:
		event_alter(event, fault->arg);
		pass(event);
		break;
	case F_STRANGE:
		memcpy(other, event, 32);
		event_strange(other, fault->arg);
		pass(other);
		put32(event + 4, number + 1);
		job.shift++;
		pass(event);
		break;
	default:
		pass(event);
	}
	if (job.late_for && !--job.late_for) {
		if (job.late_quietly) {
			job.shift++;
			put32(job.late + 4, get32(event + 4) + 1);
		}
		pass(job.late);
	}
}

/* status: 0, or an errno for the transfer; on a real bus the transfer is lost instead. */
static void transfer_give(const uint8_t *events, int length, int status)
{
	if (!uri)
		frame_send(EMU_INT_IN, 0, status, events, (size_t)(status ? 0 : length));
	else if (!status && usbip_waits())
		usbip_give(job.host, events, length);
}

static void events_give(void)
{
	uint8_t events[2 * 32];
	struct fault *fault;
	int count, i;

	while (m.queued && job.attached && (!uri || usbip_waits())) {
		count = fetch(events, PACKET / 32);
		passing_count = 0;
		for (i = 0; i < count; i++)
			event_pass(events + i * 32);
		for (i = 0; i < passing_count && job.attached; i += 2) {
			int length = passing_count - i > 1 ? 64 : 32, status = 0;

			fault = fault_due(SITE_PACKET, F_NONE);
			if (fault && fault->id == F_EVENTS_FAILED)
				status = fault->arg % 2 ? -EPROTO : -EPIPE;
			else if (fault)
				length = (int)(fault->arg % 32);
			transfer_give(passing[i], length, status);
		}
	}
}

/* -- from the program ----------------------------------------------------------- */

static void attach(void)
{
	struct emu_attached attached = { .serial = "CAMPAIGN", .product = "campaign",
					 .int_in_size = PACKET, .int_out_size = m.routed ? 16 : 0,
					 .protocol = 1 };

	memcpy(attached.machine_descriptor, machine_descriptor, 24);
	frame_send(EMU_ATTACHED, EMU_VERSION, 0, &attached, sizeof(attached));
	if (!m.configured || !job.keeps) {
		job.shift = 0;
		job.late_for = 0;
		configure();
	}
	job.attached = true;
}

/* CLEAR_FAULT is only right if somebody has removed the cause. */
static void clear_judge(const uint8_t *setup)
{
	if (setup[0] == 0x41 && setup[1] == 0x17 && m.state == FAULT &&
	    people.deeds == job.deeds)
		found(CLEARED, "fault %02x is cleared, and nobody did anything", m.fault);
}

static void control_transfer(uint32_t id, const uint8_t *frame, uint32_t length)
{
	uint8_t data[256] = { 0 };
	struct fault *fault = fault_due(SITE_CONTROL, F_NONE);
	bool acts = !fault || fault->id == F_UNANSWERED ||
		    (fault->id == F_STALLED && fault->arg % 2);
	int got = -1;

	if (!(frame[0] & 0x80))
		memcpy(data, frame + 8, length - 8 < 256 ? length - 8 : 256);
	if (acts)
		clear_judge(frame);
	if (acts)
		got = control(frame, data);
	if (frame[0] == 0xc1 && frame[1] == 2 && got == 32)
		put32(data + 16, get32(data + 16) + job.shift);
	if (fault && fault->id != F_STALLED)
		return;
	if (fault)
		got = -1;
	frame_send(EMU_CONTROL_DONE, id, got < 0 ? -EPIPE : 0, data,
		   got > 0 && frame[0] & 0x80 ? (size_t)got : 0);
}

static void gate_transfer(uint8_t *data, uint32_t length)
{
	struct fault *fault = fault_due(SITE_GATE, F_NONE);

	if (length == 16)
		put32(data + 4, get32(data + 4) - job.shift);
	if (!fault || fault->id != F_GATE_LOST)
		gate(data, length);
	if (fault && fault->id == F_GATE_TWICE)
		gate(data, length);
}

static void frame_take(const struct emu_frame *head, uint8_t *data)
{
	int good;

	switch (head->kind) {
	case EMU_ATTACH:
		attach();
		break;
	case EMU_CONTROL:
		if (head->length >= 8)
			control_transfer(head->id, data, head->length);
		break;
	case EMU_BULK_OUT:
		good = !fault_due(SITE_BULK, F_NONE) && bulk(data, head->length);
		m.halted = 0;	/* the host clears it */
		frame_send(EMU_BULK_DONE, head->id, good ? 0 : -EPIPE, data, 0);
		break;
	case EMU_INT_OUT:
		gate_transfer(data, head->length);
		break;
	}
}

static void frames_take(void)
{
	struct { struct emu_frame head; uint8_t data[EMU_DATA_MAX]; } frame;
	ssize_t length;

	if (job.host < 0) {
		job.host = accept4(job.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (job.host >= 0 && job.unplugged) {
			/* The cable is back at the next attempt. */
			job.unplugged = false;
		}
	}
	while (job.host >= 0) {
		length = recv(job.host, &frame, sizeof(frame), MSG_DONTWAIT);
		if (length < 0 && errno == EAGAIN)
			return;
		if (length < (ssize_t)sizeof(frame.head)) {
			hang_up();
			return;
		}
		frame_take(&frame.head, frame.data);
	}
}

/* -- output of the program -------------------------------------------------- */

static const char *text_of(struct json_object *object, const char *name)
{
	struct json_object *member;

	return json_object_object_get_ex(object, name, &member) ?
		json_object_get_string(member) : "";
}

static int number_of(struct json_object *object, const char *name)
{
	struct json_object *member;

	return json_object_object_get_ex(object, name, &member) ? json_object_get_int(member) : 0;
}

/* A state of the machine, in the words that the simulated people understand. */
static const char *state_text(const char *state)
{
	static const struct { const char *state, *text; } texts[] = {
		{ "confirm-empty", "press start if it is empty" },
		{ "insert-board", "put in an empty board" },
		{ "insert-any", "put in an empty board" },
		{ "take-out", "put in an empty board" },
		{ "number-other", "put in an empty board" },
		{ "press-start", "press start now" }, { "machine-refuses", "press start now" },
		{ "ledger", "press start now" }, { "hopper-empty", "the hopper" },
		/* The machine reports these as well. */
		{ "card-unreadable", "" }, { "card-face-up", "" }, { "card-not-in-plan", "" },
		{ "feed-timeout", "" }, { "gate-late", "" }, { "paused", "" }, { "slow", "" },
		{ "machine-absent", "" }, { "machine-silent", "" }, { "cover-open", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strcmp(texts[i].state, state))
			return texts[i].text;
	return "void: empty it, and put it in again";
}

static void line_take(const char *line)
{
	struct json_object *object = json_tokener_parse(line);
	const char *kind;

	if (!object)
		return;
	kind = text_of(object, "kind");
	if (!strcmp(kind, "operator")) {
		note("told: board %d: %s", number_of(object, "board"), text_of(object, "text"));
		people_told(state_text(text_of(object, "state")));
		people.wanted = number_of(object, "board");
	} else if (!strcmp(kind, "board")) {
		note("says: board %d, insertion %d: %s", number_of(object, "board"),
		     number_of(object, "insertion"), text_of(object, "text"));
		if (!strcmp(text_of(object, "verdict"), "exact")) {
			claim((uint32_t)number_of(object, "insertion"), number_of(object, "board"));
		} else {
			job.voids++;
			claim_taken_back((uint32_t)number_of(object, "insertion"));
		}
	}
	json_object_put(object);
}

static void lines_take(void)
{
	ssize_t got;
	char *end, text[1024];

	while ((got = read(job.out, job.line + job.line_length,
			   sizeof(job.line) - 1 - job.line_length)) > 0) {
		job.line_length += (size_t)got;
		job.line[job.line_length] = '\0';
		while ((end = strchr(job.line, '\n'))) {
			*end = '\0';
			line_take(job.line);
			job.line_length -= (size_t)(end + 1 - job.line);
			memmove(job.line, end + 1, job.line_length + 1);
		}
	}
	while ((got = read(job.err, text, sizeof(text) - 1)) > 0) {
		text[got] = '\0';
		note("stderr: %s", text);
	}
}

/* -- its ledger ----------------------------------------------------------- */

static void ledger_remove(void)
{
	static const char *const suffixes[] = {
		"", "-wal", "-shm", ".key", ".heads", ".new", ".key.new"
	};
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(path, sizeof(path), "%s/dealbox/ledger%s", folder, suffixes[i]);
		unlink(path);
	}
}

struct looked {
	struct dealbox_ledger *ledger;
	uint64_t job;			/* the last */
	bool open;
	uint32_t exact[BOARDS + 1];	/* insertion of each board */
};

static int look_at_job(const struct dealbox_ledger_job *one, void *context)
{
	struct looked *looked = context;

	looked->job = one->job;
	looked->open = one->state == DEALBOX_LEDGER_JOB_OPEN ||
		       one->state == DEALBOX_LEDGER_JOB_PAUSED;
	return 0;
}

static int look_at_insertion(const struct dealbox_ledger_insertion *one, void *context)
{
	struct looked *looked = context;

	if (one->outcome == DEALBOX_LEDGER_EXACT && one->board <= BOARDS)
		looked->exact[one->board] = one->number;
	return 0;
}

/* Judge the record of one copy. A board whose exact copy was revoked is not recorded any more. */
static int look_at_copy(const struct dealbox_ledger_copy *one, void *context)
{
	struct looked *looked = context;

	if (one->state == DEALBOX_LEDGER_COPY_RECORDED && one->board <= BOARDS &&
	    looked->exact[one->board])
		claim(looked->exact[one->board], (int)one->board);
	return 0;
}

/*
 * Check what the ledger records as exact, announced or not. Returns true if a job can be resumed.
 */
static bool ledger_look(void)
{
	struct looked looked = { .ledger = dealbox_ledger_new() };
	char path[128];

	snprintf(path, sizeof(path), "%s/dealbox/ledger", folder);
	if (!dealbox_ledger_open(looked.ledger, path, 0) &&
	    (dealbox_ledger_jobs(looked.ledger, 0, look_at_job, &looked) ||
	     (looked.job &&
	      (dealbox_ledger_insertions(looked.ledger, looked.job, false, look_at_insertion,
					 &looked) ||
	       dealbox_ledger_copies(looked.ledger, looked.job, look_at_copy, &looked)))))
		found(DIED, "the ledger cannot be read: %s",
		      dealbox_ledger_error(looked.ledger)->what);
	dealbox_ledger_free(looked.ledger);
	return looked.open;
}

/* -- time ----------------------------------------------------------- */

static uint64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return LOCKSTEP_BEGIN + (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void press_enter(void)
{
	note("people: Enter");
	if (write(job.in, "\n", 1) == 1)
		job.sent = true;
}

static pid_t service_pid;

static void send_signal(int sig)
{
	siginfo_t info;

	note("signal %d", sig);
	job.sent = true;
	/* A program that only watches may be killed. */
	if (service && sig == SIGKILL) {
		if (service_pid) {
			kill(service_pid, SIGKILL);
			/* else it would still count as running when it is to be started */
			waitpid(service_pid, NULL, 0);
		}
		service_pid = 0;
		return;
	}
	kill(job.pid, sig);
	if (sig != SIGKILL)
		return;
	job.killed = true;
	if (uri)
		return;		/* it ends once its transfers have been returned */
	waitid(P_PID, (id_t)job.pid, &info, WEXITED | WNOWAIT);
	hang_up();
}

static void moment(const struct fault *fault)
{
	struct board *before = m.board;
	int i;

	switch (fault->id) {
	case F_RENUMBERED:
		if (m.insertion)
			m.insertion = m.insertions += 1 + fault->arg % 3;
		break;
	case F_UNSPENT:
		m.spent = 0;
		break;
	case F_RESTARTED:
	case F_RESET:
		job.shift = 0;
		configure();
		if (fault->id == F_RESTARTED && m.queued)
			m.queue[0][20] = 3;
		break;
	case F_POWER:
	case F_DOUBT_FORGOTTEN:
		job.shift = 0;
		power_cycle();
		m.doubt = fault->id == F_POWER;
		break;
	case F_UNPLUGGED:
		hang_up();
		m.configured = 0;
		job.unplugged = true;
		break;
	case F_KILLED_ANEW:
		job.anew = true;
		/* fall through */
	case F_KILLED:
		send_signal(SIGKILL);
		break;
	case F_INTERRUPTED:
		send_signal(SIGINT);
		break;
	case F_TERMINATED:
		send_signal(SIGTERM);
		break;
	default:
		if (people_moment(fault->id) == 'e')
			press_enter();
	}
	/* After an exchange, the label goes to the other board. */
	if (fault->id == F_EXCHANGED)
		for (i = 0; i < job.deal_count; i++)
			if (job.deals[i].board == before)
				job.deals[i].board = m.board;
}

static void people_look(void)
{
	if (people.acts > ACTS) {
		send_signal(people.acts++ > ACTS + 1 ? SIGKILL : SIGINT);
		people.next_us += PATIENCE_US;
		return;
	}
	switch (people_act()) {
	case 'e':
		press_enter();
		break;
	case 'i':
		send_signal(SIGINT);
	}
}

/* Advances the machine by one step. */
static void step(void)
{
	struct fault *fault;

	job.now_us = real_time ? clock_us() : job.now_us + STEP_US;
	m.clock = (uint32_t)job.now_us;
	/* Without a bus, it loses power, or keeps its state. */
	if (job.attached || (job.keeps && m.configured))
		tick();
	fault = job.killed ? NULL : fault_due(SITE_MOMENT, F_NONE);
	if (fault)
		moment(fault);
	/* Events may be some steps old when the host fetches them. */
	if (m.queued > 1 || !chance(3))
		events_give();
}

/* Run one step of the machine, and let the people look if nothing moves. */
static void turn(void)
{
	bool moves = m.state == DEALING || m.queued;

	step();
	if (moves)
		people.next_us = job.now_us + people_us;
	if (job.now_us >= people.next_us && job.attached && !job.killed) {
		people.next_us = job.now_us + people_us;
		people_look();
	}
}

/* Let time pass while the program waits, at most timeout_ms. */
static void wait_for(int32_t timeout_ms)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : job.now_us + (uint64_t)timeout_ms * 1000;

	job.sent = false;
	frames_take();
	lines_take();
	people.next_us = job.now_us + PEOPLE_US;
	while (!job.sent && !job.killed && job.now_us < end)
		turn();
}

/* Run the program from wait to wait, until it ends. */
static void go_in_turns(void)
{
	struct lockstep_answer answer;
	int32_t timeout_ms;

	while (read(job.lockstep, &timeout_ms, sizeof(timeout_ms)) == sizeof(timeout_ms)) {
		wait_for(timeout_ms);
		if (job.now_us > LOCKSTEP_BEGIN + JOB_US)
			send_signal(SIGKILL);
		answer.now_us = job.now_us;
		if (send(job.lockstep, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	frames_take();
}

/* -- real time ---------------------------------------------------------------- */

/* Run for 1 ms, or until a request of the host. */
static void bus_serve(void)
{
	struct pollfd wait = { .fd = job.host, .events = POLLIN };

	/* The port becomes free some time after the unplug. */
	if (job.host < 0 && clock_us() > job.plug_us) {
		job.host = usbip_attach();
		job.plug_us = clock_us() + PEOPLE_US;
	}
	job.attached = job.host >= 0;
	wait.fd = job.host;
	if (poll(&wait, 1, 1) > 0)
		usbip_serve(job.host);
}

/* The same on the socket. */
static void socket_serve(void)
{
	struct pollfd wait = { .fd = job.host < 0 ? job.listener : job.host, .events = POLLIN };
	const struct timespec step = { .tv_nsec = SERVICE_STEP_US * 1000 / 2 };

	ppoll(&wait, 1, &step, NULL);
	frames_take();
}

static bool bus_ready(void)
{
	bool module = !strncmp(uri, "local:", 6);

	return m.configured && (!module || !access(uri + 6, F_OK));
}

/* Plug in another machine. */
static void bus_plug(void)
{
	hang_up();
	while (!strncmp(uri, "local:", 6) && !access(uri + 6, F_OK))
		usleep(1000);
}

static void go_on_the_bus(void)
{
	siginfo_t info = { 0 };
	uint64_t next_us = 0;
	int n;

	while (!info.si_pid) {
		if (uri)
			bus_serve();
		else
			socket_serve();
		if (job.now_us >= next_us) {
			for (n = 0; n < (uri ? 1 : SERVICE_STEPS); n++)
				turn();
			next_us = job.now_us + (uri ? BUS_STEP_US : SERVICE_STEP_US);
		}
		job.now_us = clock_us();
		if (service && job.now_us > job.begin_us + SERVICE_JOB_US)
			kill(job.pid, SIGKILL);
		lines_take();
		waitid(P_PID, (id_t)job.pid, &info, WEXITED | WNOWAIT | WNOHANG);
	}
}

/* -- the service ----------------------------------------------------------- */

/* Run the machine without people. */
static void machine_alone(void)
{
	socket_serve();
	job.now_us = clock_us();
	m.clock = (uint32_t)job.now_us;
	tick();
	events_give();
}

/* Run the program, and the machine, which the service may query. Returns exit status and output. */
static int ask(char *text, size_t size, const char *word, const char *word2, const char *word3)
{
	const char *argv[] = { program, word, word2, word3, NULL };
	siginfo_t info = { 0 };
	size_t length = 0;
	ssize_t got;
	int out[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		exit(2);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDERR_FILENO);
		execv(program, (char *const *)argv);
		_exit(98);
	}
	close(out[1]);
	while (!info.si_pid) {
		machine_alone();
		while ((got = read(out[0], text + length, size - 1 - length)) > 0)
			length += (size_t)got;
		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG);
	}
	while ((got = read(out[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(out[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void service_start(void)
{
	char config[128];
	int status;

	if (service_pid && !waitpid(service_pid, &status, WNOHANG))
		return;
	if (service_pid)
		note("the service has ended");
	snprintf(config, sizeof(config), "%s/dealboxd.conf", folder);
	service_pid = fork();
	if (!service_pid) {
		dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDOUT_FILENO);
		execl(service, service, "--config", config, NULL);
		_exit(98);
	}
}

/* Dealing needs the service, and a connected machine. */
static void service_wait(void)
{
	char text[4096];

	service_start();
	while (!job.attached || ask(text, sizeof(text), "status", NULL, NULL) ||
	       !strstr(text, "CAMPAIGN") || strstr(text, "machine-absent")) {
		machine_alone();
		if (waitpid(service_pid, NULL, WNOHANG)) {
			fprintf(stderr, "campaign: the service does not start\n");
			exit(2);
		}
	}
}

static void service_end(void)
{
	if (!service_pid)
		return;
	kill(service_pid, SIGKILL);
	waitpid(service_pid, NULL, 0);
}

/*
 * Check the last result of each board in the ledger, announced or not. Returns true if a job can be
 * resumed.
 */
static bool service_look(bool last)
{
	static char text[1 << 20];
	char number[16], *line, *rest;
	uint32_t exact[BOARDS + 1] = { 0 };
	struct json_object *object;
	int newest = 0, board;

	service_wait();
	ask(text, sizeof(text), "jobs", "--json", NULL);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		object = json_tokener_parse(line);
		if (number_of(object, "job") > newest)
			newest = number_of(object, "job");
		json_object_put(object);
	}
	if (newest == job.service_before)
		return false;
	snprintf(number, sizeof(number), "%d", newest);
	/* It may continue while nobody watches. */
	ask(text, sizeof(text), "pause", number, NULL);
	ask(text, sizeof(text), "jobs", "--json", number);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		object = json_tokener_parse(line);
		job.service_done |= !strcmp(text_of(object, "state"), "done");
		board = number_of(object, "board");
		if (board >= 1 && board <= BOARDS && !strcmp(text_of(object, "outcome"), "exact"))
			exact[board] = (uint32_t)number_of(object, "insertion");
		json_object_put(object);
	}
	for (board = 1; board <= BOARDS; board++)
		if (exact[board])
			claim(exact[board], board);
	if (last) {
		ask(text, sizeof(text), "cancel", "--yes", number);
		job.service_before = newest;
	}
	return true;
}

/* -- the program ----------------------------------------------------------- */

static void program_start(bool resume, int pair[2], int in[2], int out[2], int err[2])
{
	char place[128], set[128], value[32];
	/* A new start abandons the old job. */
	const char *argv[] = { program, "deal", "--json", "--yes", "--machine", place,
			       resume ? "--resume" : set, NULL };

	const char *asked[] = { program, "deal", "--json", "--yes", "--session", value,
				resume ? "--resume" : set, NULL };
	const char *again[] = { program, "deal", "--json", "--resume", NULL };

	snprintf(place, sizeof(place), "emu:%s/machine", folder);
	if (uri)
		snprintf(place, sizeof(place), "%s", uri);
	snprintf(set, sizeof(set), "%s/set.pbn", folder);
	snprintf(value, sizeof(value), "%u", (unsigned int)(job.number * RUNS + job.runs));
	setenv(LOCKSTEP_SEED, value, 1);
	setenv("XDG_STATE_HOME", folder, 1);
	if (lockstep)
		setenv("LD_PRELOAD", lockstep, 1);
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	dup2(err[1], STDERR_FILENO);
	dup2(pair[1], LOCKSTEP_FD);
	fcntl(LOCKSTEP_FD, F_SETFD, 0);
	execv(program, (char *const *)(!service ? argv : resume ? again : asked));
	_exit(98);
}

/* Run the program to its end. Returns its exit status, or -1 if it was killed */
static int program_run(bool resume)
{
	int pair[2], in[2], out[2], err[2], status;

	while (uri && !bus_ready())
		bus_serve();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) || pipe2(in, O_CLOEXEC) ||
	    pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
		perror("campaign");
		exit(2);
	}
	note("run %d%s", job.runs, resume ? ", resumed" : "");
	job.pid = fork();
	if (!job.pid)
		program_start(resume, pair, in, out, err);
	close(pair[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	job.lockstep = pair[0];
	job.in = in[1];
	job.out = out[0];
	job.err = err[0];
	fcntl(job.out, F_SETFL, O_NONBLOCK);
	fcntl(job.err, F_SETFL, O_NONBLOCK);
	job.killed = false;
	job.line_length = 0;
	if (real_time)
		go_on_the_bus();
	else
		go_in_turns();
	lines_take();
	if (!real_time)
		hang_up();
	waitpid(job.pid, &status, 0);
	close(job.lockstep);
	close(job.in);
	close(job.out);
	close(job.err);
	note("it ends: %s %d", WIFEXITED(status) ? "status" : "signal",
	     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		found(DIED, "the program died of signal %d", WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* -- a job ----------------------------------------------------------- */

static void set_make(void)
{
	char path[128], text[80 * POCKETS];
	uint8_t cards[52];
	FILE *f;
	int board, i;

	snprintf(path, sizeof(path), "%s/set.pbn", folder);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(2);
	}
	for (board = 0; board < BOARDS; board++) {
		memset(job.plans[board], 0, sizeof(job.plans[board]));
		pack_shuffled(cards, chance);
		for (i = 0; i < 52; i++)
			job.plans[board][i % 4][cards[i]] = 1;
		pockets_text(job.plans[board], text);
		fprintf(f, "[Event \"campaign\"]\n[Board \"%d\"]\n[Deal \"%s\"]\n\n", board + 1,
			text);
	}
	fclose(f);
}

static void machine_make(void)
{
	static const struct machine fresh = { .insertions = 1000, .swapped = { -1, -1 },
					      .late_position = -1 };
	uint32_t insertions = m.insertions;

	m = fresh;
	/* For the service, it is the same machine. */
	if (service && insertions)
		m.insertions = insertions;
	m.routed = (int)chance(2);
	m.capabilities = BY_CARD | BY_POSITION | (m.routed ? HOST_ROUTED : STORED_PLAN);
	m.capabilities |= chance(8) ? EXIT_SENSORS : 0;
	m.capabilities |= chance(2) ? BOARD_READER : 0;
	m.capabilities |= chance(4) ? 0 : BOARD_LOCK;
	m.capabilities |= chance(2) ? FACE_SENSOR : 0;
	m.capabilities |= chance(2) ? DOUBLE_FEED_SENSOR : 0;
	m.capabilities |= chance(4) ? KEYS : 0;
	describe();
	job.keeps = chance(2) || real_time;
}

static void job_count(int status)
{
	int i;

	total.jobs++;
	total.voids += job.voids;
	total.given_up += status != 0;
	if (!any_struck() && (status || job.voids))
		found(UNSOUND, "nothing went wrong, and yet not all boards are exact");
	for (i = 0; i < fault_count; i++) {
		total.struck[faults[i].id] += faults[i].struck;
		total.wrong_by[faults[i].id] += faults[i].struck && job.wrong;
	}
	total.broken[job.wrong]++;
	if (!job.wrong && !status)
		return;
	total.wrong += job.wrong != RIGHT;
	printf("# board %d: %s;", (job.number - 1) * BOARDS + 1,
	       job.wrong ? job.finding : "the job was not finished");
	for (i = 0; i < fault_count; i++)
		if (faults[i].struck)
			printf(" %s", kinds[faults[i].id].name);
	printf("; %s%s\n#   again: -s %llu -b %d -n %d -v, and -a, -x, -o as here\n",
	       m.routed ? "routed" : "stored", job.keeps ? ", keeps its state" : "",
	       (unsigned long long)seed, (job.number - 1) * BOARDS + 1, BOARDS);
	fflush(stdout);
}

static void job_run(int number)
{
	int listener = job.listener, host = job.host, before = job.service_before, status = 1;
	bool resume = false;

	memset(&job, 0, sizeof(job));
	job.listener = listener;
	job.host = host;
	job.service_before = before;
	job.number = number;
	job.now_us = job.begin_us = real_time ? clock_us() : LOCKSTEP_BEGIN;
	chance_seed(seed, (uint64_t)number);
	people_begin();
	if (uri)
		bus_plug();
	machine_make();
	set_make();
	ledger_remove();
	faults_choose();
	note("job %d: %s%s, capabilities %x", number, m.routed ? "routed" : "stored",
	     job.keeps ? ", keeps its state" : "", m.capabilities);
	if (service) {
		hang_up();
		service_wait();
	}
	if (!real_time)
		alarm(120);
	for (job.runs = 0; job.runs < RUNS && status; job.runs++) {
		status = program_run(resume);
		resume = (service ? service_look(false) : ledger_look()) && !job.anew;
		job.begun += !resume;
		if (job.service_done)
			status = 0;
		if (status)
			people_alone();
		job.anew = false;
		people.acts = 0;
		*people.text = '\0';
	}
	if (service)
		service_look(true);
	claims_judge(NULL);
	job_count(status);
}

static int listen_at(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/machine", folder);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 4)) {
		perror(address.sun_path);
		exit(2);
	}
	return fd;
}

static void folder_make(void)
{
	if (*folder)
		return;
	snprintf(folder, sizeof(folder), "%s/campaign-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(folder)) {
		perror(folder);
		exit(2);
	}
}

/* LD_PRELOAD does not support spaces in paths; the folder's path has none. */
static void lockstep_link(const char *library)
{
	static char link[sizeof(folder) + sizeof("/lockstep.so")];
	char path[PATH_MAX];

	snprintf(link, sizeof(link), "%s/lockstep.so", folder);
	if (!realpath(library, path) || symlink(path, link)) {
		perror(library);
		exit(2);
	}
	lockstep = link;
}

static void folder_remove(void)
{
	static const char *const names[] = { "lockstep.so", "machine", "set.pbn", "dealbox", "" };
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
}

static int result_say(int first, int last)
{
	int id, wrong;

	for (id = F_NONE + 1; id < FAULTS; id++)
		if (total.struck[id])
			printf("# %-26s struck in %5d jobs, %3d of them wrong; %4d boards called "
			       "exact that no host can tell\n",
			       kinds[id].name, total.struck[id], total.wrong_by[id],
			       total.unseen_by[id]);
	printf("1..%d\n", WRONGS - 1);
	for (wrong = RIGHT + 1; wrong < WRONGS; wrong++)
		printf("%sok %d - %s\n", total.broken[wrong] ? "not " : "", wrong, rules[wrong]);
	printf("# seed %llu, boards %d to %d: %d deals; %d boards exact, %d called so that no host "
	       "can tell, %d void; %d jobs not finished, %d wrong\n",
	       (unsigned long long)seed, first, last, total.deals, total.exact, total.unseen,
	       total.voids, total.given_up, total.wrong);
	return total.wrong != 0;
}

static int usage(void)
{
	fputs("usage: campaign [-s SEED] [-b BOARD] [-n BOARDS] [-t SECONDS] [-a] [-x KIND]... [-o "
	      "KIND]... [-v] PROGRAM LOCKSTEP\n"
	      "       campaign ... -u ADDRESS PROGRAM\n"
	      "       campaign ... -d FOLDER PROGRAM SERVICE\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	int first = 1, boards = 200, seconds = 0, option, number, last, ret;
	time_t begin = time(NULL);
	bool only = false;
	enum fault_id id;

	for (id = F_NONE + 1; id < FAULTS; id++)
		kind_off[id] = kinds[id].open;

	while ((option = getopt(argc, argv, "s:b:n:t:ax:o:u:d:v")) > 0) {
		switch (option) {
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'b':
			first = atoi(optarg);
			break;
		case 'n':
			boards = atoi(optarg);
			break;
		case 't':
			seconds = atoi(optarg);
			break;
		case 'a':
			memset(kind_off, false, sizeof(kind_off));
			break;
		case 'x':
		case 'o':
			id = kind_find(optarg);
			if (!id) {
				fprintf(stderr, "campaign: there is no fault '%s'\n", optarg);
				return 2;
			}
			if (option == 'o' && !only)
				memset(kind_off, true, sizeof(kind_off));
			only |= option == 'o';
			kind_off[id] = option == 'x';
			break;
		case 'u':
			uri = optarg;
			break;
		case 'd':
			snprintf(folder, sizeof(folder), "%s", optarg);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return usage();
		}
	}
	if (argc - optind != (uri ? 1 : 2) || first < 1 || boards < 1)
		return usage();
	program = argv[optind];
	if (*folder) {
		service = argv[optind + 1];
		people_us = SERVICE_PEOPLE_US;
		/* The service has no jobs that can be started anew. */
		kind_off[F_KILLED_ANEW] = true;
	}
	real_time = uri || service;
	signal(SIGPIPE, SIG_IGN);
	folder_make();
	if (!real_time)
		lockstep_link(argv[optind + 1]);
	job.listener = listen_at();
	job.host = -1;
	first = (first - 1) / BOARDS * BOARDS + 1;
	last = first + boards - 1;
	for (number = (first - 1) / BOARDS + 1; (number - 1) * BOARDS + 1 <= last; number++) {
		job_run(number);
		if (seconds && time(NULL) - begin >= seconds)
			last = number * BOARDS;
	}
	ret = result_say(first, (number - 1) * BOARDS);
	service_end();
	hang_up();
	close(job.listener);
	if (!service)
		folder_remove();
	return ret;
}
