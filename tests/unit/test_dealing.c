// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One machine at work: the actions for each step of the engine, and the handling of the machine's
 * events. The machine is a fake; the ledger is a real one, which can be made to fail.
 */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/law.h>
#include <dealbox/verify.h>

#include "dealing/dealing-internal.h"
#include "dealing/job-ledger.h"

#include "freed_memory.h"
#include "insertion.h"
#include "ledger/job-options.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WRITE (DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE)

/* ---- the machine ---- */

#define EVENTS 3000

static struct {
	struct dealbox_status status;
	struct dealbox_event events[EVENTS];
	size_t count, at, now;			/* of events: all, already read, available */
	bool endless;
	bool by_hand;
	int read_error, status_error, error;	/* of the next call */
	bool nothing;				/* the next read gets neither event nor error */
	struct dealbox_error what;
	struct dealbox_plan plan;		/* the last SET_PLAN */
	uint8_t nonce[DEALBOX_NONCE_SIZE];	/* the last ATTEST */
	int attestation_error, identity_error;
	const char *uri;
	unsigned int asked;			/* number of GET_STATUS */
	unsigned int polls;			/* number of waits for events */
	size_t more;				/* events that become available at each wait */
	uint64_t time_us;
	char calls[1024];
} machine;

static void called(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void called(const char *format, ...)
{
	size_t length = strlen(machine.calls);
	va_list list;

	va_start(list, format);
	vsnprintf(machine.calls + length, sizeof(machine.calls) - length, format, list);
	va_end(list);
}

#define COMMAND(name) \
	int __wrap_dealbox_machine_##name(struct dealbox_machine *m); \
	int __wrap_dealbox_machine_##name(struct dealbox_machine *m) \
	{ \
		(void)m; \
		called(#name ";"); \
		return machine.error; \
	}

COMMAND(pause)
COMMAND(resume)
COMMAND(reread)
COMMAND(abort)
COMMAND(clear_fault)
COMMAND(release_board)

int __wrap_dealbox_machine_fd(const struct dealbox_machine *m);
ssize_t __wrap_dealbox_machine_read(struct dealbox_machine *m, struct dealbox_event *events,
				    size_t count);
int __wrap_dealbox_machine_get_status(struct dealbox_machine *m, struct dealbox_status *status);
int __wrap_dealbox_machine_set_plan(struct dealbox_machine *m, struct dealbox_plan *plan);
int __wrap_dealbox_machine_start(struct dealbox_machine *m, uint32_t plan, uint32_t insertion);
void __wrap_dealbox_machine_close(struct dealbox_machine *m);
int __wrap_dealbox_machine_get_prompt(struct dealbox_machine *m, struct dealbox_prompt *hand);
int __wrap_dealbox_machine_count_from(struct dealbox_machine *m, uint32_t insertion);
const struct dealbox_error *__wrap_dealbox_machine_error(const struct dealbox_machine *m);
const char *__wrap_dealbox_machine_uri(const struct dealbox_machine *m);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_dealbox_machine_attest(struct dealbox_machine *m, uint32_t insertion,
				  const uint8_t nonce[DEALBOX_NONCE_SIZE]);
int __wrap_dealbox_machine_get_attestation(struct dealbox_machine *m,
					   struct dealbox_attestation *out);
int __wrap_dealbox_machine_get_identity(struct dealbox_machine *m, struct dealbox_identity *out);

int __wrap_dealbox_machine_attest(struct dealbox_machine *m, uint32_t insertion,
				  const uint8_t nonce[DEALBOX_NONCE_SIZE])
{
	(void)m;
	called("attest %u;", (unsigned int)insertion);
	memcpy(machine.nonce, nonce, sizeof(machine.nonce));
	return machine.error;
}

int __wrap_dealbox_machine_get_attestation(struct dealbox_machine *m,
					   struct dealbox_attestation *out)
{
	(void)m;
	called("attestation;");
	memset(out->statement, 2, sizeof(out->statement));
	memset(out->signature, 3, sizeof(out->signature));
	return machine.attestation_error;
}

int __wrap_dealbox_machine_get_identity(struct dealbox_machine *m, struct dealbox_identity *out)
{
	(void)m;
	called("identity;");
	memset(out, 0, sizeof(*out));
	memset(out->public_key, 1, sizeof(out->public_key));
	return machine.identity_error;
}

int __wrap_dealbox_machine_fd(const struct dealbox_machine *m)
{
	(void)m;
	return 77;
}

ssize_t __wrap_dealbox_machine_read(struct dealbox_machine *m, struct dealbox_event *events,
				    size_t count)
{
	size_t n;

	(void)m;
	if (machine.endless) {
		memset(events, 0, count * sizeof(*events));
		called("read;");
		return (ssize_t)count;
	}
	if (machine.at == machine.now && machine.nothing)
		return 0;
	if (machine.at == machine.now)
		return machine.read_error ? machine.read_error : -EAGAIN;
	for (n = 0; n < count && machine.at < machine.now; n++)
		events[n] = machine.events[machine.at++];
	return (ssize_t)n;
}

int __wrap_dealbox_machine_get_status(struct dealbox_machine *m, struct dealbox_status *status)
{
	(void)m;
	called("status;");
	machine.asked++;
	*status = machine.status;
	return machine.status_error;
}

int __wrap_dealbox_machine_set_plan(struct dealbox_machine *m, struct dealbox_plan *plan)
{
	(void)m;
	machine.plan = *plan;
	called("plan;");
	return machine.error;
}

int __wrap_dealbox_machine_start(struct dealbox_machine *m, uint32_t plan, uint32_t insertion)
{
	(void)m;
	called("start %u %u;", (unsigned int)plan, (unsigned int)insertion);
	return machine.error;
}

int __wrap_dealbox_machine_get_prompt(struct dealbox_machine *m, struct dealbox_prompt *hand)
{
	(void)m;
	*hand = (struct dealbox_prompt){ 0 };
	return machine.by_hand ? 0 : -EOPNOTSUPP;
}

int __wrap_dealbox_machine_count_from(struct dealbox_machine *m, uint32_t insertion)
{
	(void)m;
	called("count from %u;", (unsigned int)insertion);
	return 0;
}

void __wrap_dealbox_machine_close(struct dealbox_machine *m)
{
	called(m ? "close;" : "close none;");
}

const char *__wrap_dealbox_machine_uri(const struct dealbox_machine *m)
{
	(void)m;
	return machine.uri;
}

const struct dealbox_error *__wrap_dealbox_machine_error(const struct dealbox_machine *m)
{
	(void)m;
	return &machine.what;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	assert_int_equal(count, 1);
	assert_int_equal(fds[0].fd, 77);
	assert_int_equal(fds[0].events, POLLIN);
	assert_true(timeout > 0);
	machine.polls++;
	if (machine.now < machine.count)
		machine.now += machine.more;
	return 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	assert_int_equal(id, CLOCK_MONOTONIC);
	now->tv_sec = machine.time_us / 1000000;
	now->tv_nsec = machine.time_us % 1000000 * 1000;
	return 0;
}

/* Add an event with the next number; it is available at once. */
static struct dealbox_event *event(uint32_t type, uint32_t insertion)
{
	struct dealbox_event *e = &machine.events[machine.count++];

	assert_in_range(machine.count, 1, EVENTS);
	*e = (struct dealbox_event){
		.type = type, .insertion = insertion, .seqno = machine.count,
		.machine_seq = machine.count,
		.timestamp_ns = machine.count * 1000, .position = DEALBOX_NONE,
		.card = DEALBOX_NONE,
		.pocket = DEALBOX_NONE, .quality = DEALBOX_NONE,
	};
	machine.now = machine.count;
	return e;
}

/* ---- the ledger ---- */

static uint64_t the_job;	/* its number in the ledger */

static struct {
	/* errors of the next call */
	int add_act, add_emulation, begin, end, get_deal, jobs, boards, machines, copies, counts,
		insertions;
	int last, restored;
	int verify, capture_pocket;		/* errors of the library */
	bool lacks_card;			/* the next deal lacks a card */
	unsigned int after;			/* this many calls of end succeed first */
	uint64_t restored_at;			/* number of a record; 0 = the real one */
} fails;

/* Memory wiped since the last call of was_wiped(): plans, deals, and other sizes in bytes. */
static struct {
	unsigned int plans, deals;
	const void *plan;
	size_t sizes[256];
	unsigned int count;
} wiped;

static int taken(int *error)
{
	int err = *error;

	*error = 0;
	return err;
}

int __real_dealbox_ledger_add_act(struct dealbox_ledger *l, const struct dealbox_ledger_act *act);
int __wrap_dealbox_ledger_add_act(struct dealbox_ledger *l, const struct dealbox_ledger_act *act);
int __real_dealbox_ledger_begin(struct dealbox_ledger *l,
				struct dealbox_ledger_insertion *insertion);
int __wrap_dealbox_ledger_begin(struct dealbox_ledger *l,
				struct dealbox_ledger_insertion *insertion);
int __real_dealbox_ledger_end(struct dealbox_ledger *l,
			      const struct dealbox_ledger_insertion *insertion,
			      const struct dealbox_event *events, size_t count);
int __wrap_dealbox_ledger_end(struct dealbox_ledger *l,
			      const struct dealbox_ledger_insertion *insertion,
			      const struct dealbox_event *events, size_t count);
int __real_dealbox_ledger_get_deal(struct dealbox_ledger *l, uint64_t set, unsigned int number,
				   struct dealbox_deal *deal);
int __wrap_dealbox_ledger_get_deal(struct dealbox_ledger *l, uint64_t set, unsigned int number,
				   struct dealbox_deal *deal);

int __real_dealbox_ledger_add_emulation(struct dealbox_ledger *l, uint64_t insertion);
int __wrap_dealbox_ledger_add_emulation(struct dealbox_ledger *l, uint64_t insertion);
int __wrap_dealbox_ledger_add_emulation(struct dealbox_ledger *l, uint64_t insertion)
{
	int err = taken(&fails.add_emulation);

	called("emulation;");
	return err ? err : __real_dealbox_ledger_add_emulation(l, insertion);
}

int __wrap_dealbox_ledger_add_act(struct dealbox_ledger *l, const struct dealbox_ledger_act *act)
{
	int err = taken(&fails.add_act);

	called("act %u user %u job %u %u.%u %s;", act->act, (unsigned int)act->uid,
	       (unsigned int)(act->job - the_job + 1), act->board, act->copy, act->machine);
	return err ? err : __real_dealbox_ledger_add_act(l, act);
}

int __wrap_dealbox_ledger_begin(struct dealbox_ledger *l,
				struct dealbox_ledger_insertion *insertion)
{
	int err = taken(&fails.begin);

	called("begin %u %u.%u %s %u %u;", (unsigned int)(insertion->job - the_job + 1),
	       insertion->board, insertion->copy, insertion->machine,
	       (unsigned int)insertion->number, (unsigned int)insertion->plan);
	return err ? err : __real_dealbox_ledger_begin(l, insertion);
}

int __wrap_dealbox_ledger_end(struct dealbox_ledger *l,
			      const struct dealbox_ledger_insertion *insertion,
			      const struct dealbox_event *events, size_t count)
{
	int err = fails.after ? 0 : taken(&fails.end);

	fails.after -= fails.after > 0;
	called("end %d 0x%x %u %zu;", insertion->outcome, insertion->reason,
	       insertion->differences, count);
	return err ? err : __real_dealbox_ledger_end(l, insertion, events, count);
}

int __wrap_dealbox_ledger_get_deal(struct dealbox_ledger *l, uint64_t set, unsigned int number,
				   struct dealbox_deal *deal)
{
	int err = taken(&fails.get_deal);

	if (!err)
		err = __real_dealbox_ledger_get_deal(l, set, number, deal);
	if (fails.lacks_card)
		deal->hand[0] &= deal->hand[0] - 1;
	fails.lacks_card = false;
	return err;
}

#define READS(name, value, each) \
	int __real_dealbox_ledger_##name(struct dealbox_ledger *l, uint64_t of, each, \
					 void *context); \
	int __wrap_dealbox_ledger_##name(struct dealbox_ledger *l, uint64_t of, each, \
					 void *context); \
	int __wrap_dealbox_ledger_##name(struct dealbox_ledger *l, uint64_t of, each, \
					 void *context) \
	{ \
		int err = taken(&fails.name); \
		\
		return err ? err : __real_dealbox_ledger_##name(l, of, value, context); \
	}

READS(jobs, f, int (*f)(const struct dealbox_ledger_job *, void *))
READS(boards, f, int (*f)(unsigned int, void *))
READS(machines, f, int (*f)(const char *, void *))
READS(copies, f, int (*f)(const struct dealbox_ledger_copy *, void *))

typedef int each_insertion(const struct dealbox_ledger_insertion *insertion, void *context);

int __real_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open,
				     each_insertion *each, void *context);
int __wrap_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open,
				     each_insertion *each, void *context);
int __real_dealbox_ledger_counts(struct dealbox_ledger *l,
				 const struct dealbox_ledger_insertion *insertion);
int __wrap_dealbox_ledger_counts(struct dealbox_ledger *l,
				 const struct dealbox_ledger_insertion *insertion);
int __real_dealbox_ledger_last(struct dealbox_ledger *l, const char *id,
			       struct dealbox_ledger_insertion *last);
int __wrap_dealbox_ledger_last(struct dealbox_ledger *l, const char *id,
			       struct dealbox_ledger_insertion *last);
int __real_dealbox_ledger_restored(struct dealbox_ledger *l, uint64_t *record);
int __wrap_dealbox_ledger_restored(struct dealbox_ledger *l, uint64_t *record);
int __real_dealbox_verify_machine(const struct dealbox_plan *plan, const uint8_t *deck,
				  uint32_t capabilities, const struct dealbox_trace *trace,
				  struct dealbox_verdict **out);
int __wrap_dealbox_verify_machine(const struct dealbox_plan *plan, const uint8_t *deck,
				  uint32_t capabilities, const struct dealbox_trace *trace,
				  struct dealbox_verdict **out);
int __real_dealbox_law_capture_pocket(const struct dealbox_trace *capture, dealbox_cards *out);
int __wrap_dealbox_law_capture_pocket(const struct dealbox_trace *capture, dealbox_cards *out);
void __real_dealbox_plan_wipe(struct dealbox_plan *plan);
void __wrap_dealbox_plan_wipe(struct dealbox_plan *plan);
void __real_dealbox_deal_wipe(struct dealbox_deal *deal);
void __wrap_dealbox_deal_wipe(struct dealbox_deal *deal);
void __real_sodium_memzero(void *start, size_t size);
/* the library calls it as well, which the linker does not keep apart */
void __wrap_sodium_memzero(void *start, size_t size) __attribute__((visibility("default")));

int __wrap_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open,
				     each_insertion *each, void *context)
{
	int err = taken(&fails.insertions);

	return err ? err : __real_dealbox_ledger_insertions(l, job, open, each, context);
}

int __wrap_dealbox_ledger_counts(struct dealbox_ledger *l,
				 const struct dealbox_ledger_insertion *insertion)
{
	int err = taken(&fails.counts);

	return err ? err : __real_dealbox_ledger_counts(l, insertion);
}

int __wrap_dealbox_ledger_last(struct dealbox_ledger *l, const char *id,
			       struct dealbox_ledger_insertion *last)
{
	int err = taken(&fails.last);

	return err ? err : __real_dealbox_ledger_last(l, id, last);
}

int __wrap_dealbox_ledger_restored(struct dealbox_ledger *l, uint64_t *record)
{
	int err = taken(&fails.restored);

	if (!err)
		err = __real_dealbox_ledger_restored(l, record);
	if (fails.restored_at)
		*record = fails.restored_at;
	return err;
}

int __wrap_dealbox_verify_machine(const struct dealbox_plan *plan, const uint8_t *deck,
				  uint32_t capabilities, const struct dealbox_trace *trace,
				  struct dealbox_verdict **out)
{
	int err = taken(&fails.verify);

	*out = NULL;
	return err ? err : __real_dealbox_verify_machine(plan, deck, capabilities, trace, out);
}

int __wrap_dealbox_law_capture_pocket(const struct dealbox_trace *capture, dealbox_cards *out)
{
	int err = taken(&fails.capture_pocket);

	return err ? err : __real_dealbox_law_capture_pocket(capture, out);
}

void __wrap_dealbox_plan_wipe(struct dealbox_plan *plan)
{
	wiped.plans++;
	wiped.plan = plan;
	__real_dealbox_plan_wipe(plan);
}

void __wrap_dealbox_deal_wipe(struct dealbox_deal *deal)
{
	wiped.deals++;
	__real_dealbox_deal_wipe(deal);
}

void __wrap_sodium_memzero(void *start, size_t size)
{
	if (wiped.count < COUNT(wiped.sizes))
		wiped.sizes[wiped.count++] = size;
	__real_sodium_memzero(start, size);
}

/* Return true if a block of this size was wiped since the last call. */
static bool was_wiped(size_t size)
{
	bool was = false;

	while (wiped.count)
		was |= wiped.sizes[--wiped.count] == size;
	return was;
}

/* ---- a world of one machine and one job ---- */

struct world {
	char folder[64];
	struct dealbox_ledger *ledger;
	struct jobs jobs;
	struct job *job;
	struct dealing d;
	char said[2048];
};

static void on_say(struct dealing *d, enum dealing_message message, const struct copy *copy,
		   const char *text)
{
	static const char *const kinds[DEALING_MESSAGES] = {
		"recorded", "void", "refused", "ledger", "doubt"
	};
	struct world *w = d->context;
	size_t length = strlen(w->said);

	snprintf(w->said + length, sizeof(w->said) - length, "%s %u.%u: %s|", kinds[message],
		 copy ? copy->board : 0, copy ? copy->copy : 0, text);
}

static void on_judged(struct dealing *d, const struct copy *copy, uint32_t insertion, bool exact,
		      const struct dealbox_operator_verdict *verdict)
{
	struct world *w = d->context;
	size_t length = strlen(w->said);
	char text[256];

	dealbox_operator_verdict_text(verdict, NULL, text, sizeof(text));
	snprintf(w->said + length, sizeof(w->said) - length, "judged %u.%u #%u %d: %s|",
		 copy->board, copy->copy, (unsigned int)insertion, exact, text);
}

static const struct dealing_listener listener = { .say = on_say, .judged = on_judged };

/* Return the messages since the last call. */
static const char *said(struct world *w)
{
	static char text[2048];

	strcpy(text, w->said);
	*w->said = '\0';
	return text;
}

static const char *calls(void)
{
	static char text[1024];

	strcpy(text, machine.calls);
	*machine.calls = '\0';
	return text;
}

/* Board 1: North has the spades, and so on. Board 2: another deal. Board 3: one of preferans. */
static void make_deal(struct dealbox_deal *deal, unsigned int board)
{
	unsigned int card;

	*deal = (struct dealbox_deal){ 0 };
	for (card = 0; card < DEALBOX_CARDS; card++)
		deal->hand[(board == 2 ? card % 4 : card / 13)] |= (dealbox_cards)1 << card;
}

static const struct dealbox_info info = {
	.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD, .serial = "SN1",
	.reader = DEALBOX_READER_BARCODE,
};

static void world_begin(struct world *w, unsigned int options)
{
	static const unsigned int numbers[] = { 1, 2 };
	struct dealbox_ledger_board boards[2] = { { .number = 1 }, { .number = 2 } };
	uint64_t set = 0;

	memset(w, 0, sizeof(*w));
	memset(&machine, 0, sizeof(machine));
	machine.time_us = 5000000;
	machine.uri = "usb:1-2";
	machine.status.flags = DEALBOX_STATUS_HOPPER;
	snprintf(machine.what.what, sizeof(machine.what.what), "it will not");
	memset(&fails, 0, sizeof(fails));
	/* in memory, to avoid waiting for a disk */
	strcpy(w->folder,
	       access("/dev/shm", W_OK) ? "/tmp/dealbox-XXXXXX" : "/dev/shm/dealbox-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	strcat(w->folder, "/ledger");
	w->ledger = dealbox_ledger_new();
	assert_int_equal(dealbox_ledger_open(w->ledger, w->folder, WRITE), 0);
	make_deal(&boards[0].deal, 1);
	make_deal(&boards[1].deal, 2);
	if (!(options & (DEALBOX_JOB_CAPTURE | JOB_LAWS)))
		assert_int_equal(dealbox_ledger_add_set(w->ledger, "monday", boards, 2, &set,
							NULL), 0);
	assert_int_equal(dealbox_ledger_add_job(w->ledger, &(struct dealbox_ledger_new_job){
		.set = set, .boards = numbers, .count = 2,
		.copies = options & DEALBOX_JOB_CAPTURE ? 4 : 1,
		.options = options & ~JOB_LAWS, .law = JOB_LAW(options),
		.dealer = JOB_DEALER(options),
	}, &the_job, NULL), 0);
	assert_int_equal(job_load(w->ledger, &w->jobs, the_job, &w->job), 0);
	w->d.listener = &listener;
	w->d.context = w;
	dealing_init(&w->d, "SN1", w->ledger, &w->jobs, NULL);
	dealing_attach(&w->d, (struct dealbox_machine *)w, &info);
}

static void world_end(struct world *w)
{
	static const uint8_t zeros[DEALBOX_NONCE_SIZE];
	char command[128];

	dealing_end(&w->d);
	assert_memory_equal(w->d.nonce, zeros, sizeof(zeros));
	/* no trace of cards is left */
	assert_int_equal(w->d.plan.entries, 0);
	assert_int_equal(*w->d.revealed, 0);
	jobs_free(&w->jobs);
	dealbox_ledger_free(w->ledger);
	*strrchr(w->folder, '/') = '\0';
	snprintf(command, sizeof(command), "rm -rf %s", w->folder);
	assert_int_equal(system(command), 0);
}

static struct step step_of(enum step_kind kind)
{
	return (struct step){ .kind = kind, .copy = { the_job, 1, 1 }, .insertion = 1 };
}

static enum did does(struct world *w, enum step_kind kind)
{
	struct step step = step_of(kind);

	return dealing_do(&w->d, &step);
}

/* Do everything up to the record that board 1 is about to be dealt. */
static void begun(struct world *w)
{
	struct dealbox_event *e;

	event(DEALBOX_EV_BOARD_INSERTED, 1);
	assert_int_equal(dealing_read(&w->d, NULL), 1);
	w->d.engine.copy = (struct copy){ the_job, 1, 1 };
	w->d.engine.dealt = 1;
	w->d.plan_id = 6;
	assert_int_equal(does(w, STEP_PLAN), DID_OK);
	assert_int_equal(does(w, STEP_BEGIN), DID_OK);
	assert_int_equal(does(w, STEP_START), DID_OK);
	w->d.engine.phase = PHASE_RUNNING;
	e = event(DEALBOX_EV_DEAL_STARTED, 1);
	e->code = 7;
	e->arg[0] = 52;
}

/* Add the events of a card that is read, routed and lands. */
static void card(unsigned int position, unsigned int face, unsigned int pocket)
{
	static const uint32_t types[] = { DEALBOX_EV_CARD_READ, DEALBOX_EV_CARD_ROUTED,
					  DEALBOX_EV_CARD_LANDED };
	size_t n;

	for (n = 0; n < COUNT(types); n++) {
		struct dealbox_event *e = event(types[n], 1);

		e->position = position;
		e->card = face;
		e->pocket = n ? pocket : DEALBOX_NONE;
		e->quality = n ? DEALBOX_NONE : 90;
	}
}

/* Add all cards as planned, except that position wrong goes to pocket. */
static void cards(unsigned int wrong, unsigned int pocket)
{
	unsigned int n;

	for (n = 0; n < DEALBOX_CARDS; n++)
		card(n, n, n == wrong ? pocket : n / 13);
}

static void done(const unsigned int counts[4])
{
	struct dealbox_event *e = event(DEALBOX_EV_DEAL_DONE, 1);
	unsigned int n;

	e->position = 0;
	for (n = 0; n < 4; n++) {
		e->counts[n] = counts[n];
		e->position += counts[n];
	}
	e->code = 7;
}

/* ---- steps ---- */

/* Each step sends the right command, and handles every answer of the machine. */
static void test_commands(void **state)
{
	static const struct {
		enum step_kind kind;
		const char *call;
		bool moves;		/* cards must move from then on */
	} rows[] = {
		{ STEP_START, "start 9 1;", true },
		{ STEP_PAUSE, "pause;", false },
		{ STEP_RESUME, "resume;", true },
		{ STEP_REREAD, "reread;", true },
		{ STEP_ABORT, "abort;", false },
		{ STEP_CLEAR, "clear_fault;", false },
		{ STEP_RELEASE, "release_board;", false },
	};
	static const struct {
		int error;
		enum did did;
		bool suspect;
	} answers[] = {
		{ 0, DID_OK, false },
		{ -EREMOTEIO, DID_REFUSED, false },
		{ -EOPNOTSUPP, DID_REFUSED, false },
		{ -EINVAL, DID_REFUSED, false },
		{ -EIO, DID_NO_ANSWER, false },
		{ -ENODEV, DID_NO_ANSWER, false },
		{ -ETIMEDOUT, DID_NO_ANSWER, true },
	};
	struct world w;
	size_t n, k;

	(void)state;
	world_begin(&w, 0);
	w.d.plan_id = 9;
	w.d.engine.copy = (struct copy){ the_job, 2, 1 };
	for (n = 0; n < COUNT(rows); n++) {
		for (k = 0; k < COUNT(answers); k++) {
			machine.error = answers[k].error;
			w.d.heard = 1;
			machine.time_us = 7000001;
			w.d.suspect = !answers[k].suspect;
			assert_int_equal(does(&w, rows[n].kind), answers[k].did);
			assert_string_equal(calls(), rows[n].call);
			assert_int_equal(w.d.suspect, answers[k].suspect);
			assert_int_equal(w.d.heard, rows[n].moves ? 7000001 : 1);
			assert_string_equal(said(&w),
					    answers[k].error ? "refused 2.1: it will not|" : "");
		}
	}
	/* a deal that starts has no stop yet */
	machine.error = 0;
	w.d.cards = w.d.stopped_at = w.d.seat = w.d.depth = 3;
	w.d.place = w.d.code = 5;
	w.d.coded = true;
	does(&w, STEP_START);
	assert_int_equal(w.d.cards, 0);
	assert_int_equal(w.d.stopped_at, 0);
	assert_int_equal(w.d.seat, 0);
	assert_int_equal(w.d.depth, 0);
	assert_int_equal(w.d.place, 0);
	assert_int_equal(w.d.code, 0);
	assert_false(w.d.coded);
	world_end(&w);
}

/* A status counts together with all events before it. */
static void test_status(void **state)
{
	struct world w;
	unsigned int n;

	(void)state;
	world_begin(&w, 0);
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_string_equal(calls(), "status;");
	/* events that have come are read first */
	event(DEALBOX_EV_BOARD_INSERTED, 4);
	machine.status.insertion = 4;
	machine.status.flags |= DEALBOX_STATUS_BOARD;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_string_equal(calls(), "status;status;");
	assert_int_equal(machine.polls, 0);
	assert_int_equal(w.d.engine.insertion, 4);
	assert_true(w.d.engine.seen);
	assert_false(w.d.engine.stale);

	/* events of what only the status tells are waited for: then the insertion was seen */
	event(DEALBOX_EV_BOARD_REMOVED, 4);
	event(DEALBOX_EV_BOARD_INSERTED, 5);
	machine.now -= 2;
	machine.more = 1;
	machine.status.insertion = 5;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_int_equal(machine.polls, 2);
	assert_int_equal(w.d.engine.insertion, 5);
	assert_true(w.d.engine.seen);

	/* .. but only for a second: then the insertion was not seen */
	machine.polls = machine.more = 0;
	machine.status.insertion = 6;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_int_equal(machine.polls, 20);
	assert_int_equal(w.d.engine.insertion, 6);
	assert_false(w.d.engine.seen);

	/* an event that the status counts is awaited, too .. */
	event(DEALBOX_EV_KEY, 5)->machine_seq = 9;
	machine.now--;
	machine.more = 1;
	machine.status.machine_seq = 10;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_int_equal(machine.polls, 21);
	assert_int_equal(machine.at, machine.count);
	/* .. and counts as lost after a second, which is reported once */
	machine.polls = machine.more = 0;
	machine.status.machine_seq = 11;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_int_equal(machine.polls, 20);
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_int_equal(machine.polls, 20);
	/* one that comes late, though not the last: the second begins anew */
	event(DEALBOX_EV_KEY, 5)->machine_seq = 11;
	machine.now--;
	machine.more = 1;
	machine.polls = 0;
	machine.status.machine_seq = 20;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_int_equal(machine.polls, 21);
	/* another event at each wait: the status is dropped, and asked for again later */
	machine.polls = 20;
	for (n = 0; n < 39; n++)
		event(DEALBOX_EV_KEY, 5)->machine_seq = 20 + n;
	machine.now -= n;
	machine.more = 1;
	machine.status.machine_seq = 99;
	machine.status.insertion = 8;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_int_equal(machine.polls, 40);
	assert_int_equal(w.d.engine.insertion, 6);
	machine.at = machine.now = machine.count;
	machine.more = 0;
	machine.status.machine_seq = 0;

	/* with endless events the status is dropped, and asked for again later */
	calls();
	machine.endless = true;
	machine.asked = 0;
	machine.status.insertion = 7;
	w.d.engine.stale = true;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_false(w.d.engine.stale);
	assert_int_equal(w.d.engine.insertion, 6);
	assert_int_equal(machine.asked, 40);
	machine.endless = false;

	/* the machine does not answer; or its events cannot be read */
	machine.status_error = -ETIMEDOUT;
	w.d.engine.stale = true;
	assert_int_equal(does(&w, STEP_STATUS), DID_NO_ANSWER);
	assert_true(w.d.suspect);
	machine.status_error = 0;
	machine.read_error = -EIO;
	assert_int_equal(does(&w, STEP_STATUS), DID_NO_ANSWER);
	assert_true(w.d.engine.stale);
	assert_int_equal(w.d.engine.insertion, 6);
	machine.read_error = 0;
	assert_int_equal(does(&w, STEP_STATUS), DID_OK);
	assert_false(w.d.suspect);
	for (n = 0; n < 3; n++)
		said(&w);
	world_end(&w);
}

/* All available events are read, up to a limit, so that other machines get their turn. */
static void test_read(void **state)
{
	struct world w;
	bool news = false;
	unsigned int n;

	(void)state;
	world_begin(&w, 0);
	w.d.heard = 3;
	assert_int_equal(dealing_read(&w.d, &news), 0);
	assert_int_equal(w.d.heard, 3);
	for (n = 0; n < 130; n++)
		event(DEALBOX_EV_CARD_READ, 1);
	assert_int_equal(dealing_read(&w.d, &news), 130);
	assert_false(news);
	assert_int_equal(w.d.heard, machine.time_us);
	was_wiped(0);
	w.d.heard = 3;
	event(DEALBOX_EV_COVER_OPEN, 1);
	assert_int_equal(dealing_read(&w.d, &news), 1);
	assert_true(news);
	assert_int_equal(w.d.heard, machine.time_us);
	assert_true(was_wiped(64 * sizeof(struct dealbox_event)));
	for (n = 0; n < 65; n++)
		event(DEALBOX_EV_CARD_READ, 1);
	assert_int_equal(dealing_read(&w.d, NULL), 65);
	machine.nothing = true;
	for (n = 0; n < 64; n++)
		event(DEALBOX_EV_CARD_READ, 1);
	assert_int_equal(dealing_read(&w.d, NULL), 64);
	w.d.heard = 3;
	assert_int_equal(dealing_read(&w.d, NULL), 0);
	assert_int_equal(w.d.heard, 3);
	machine.nothing = false;
	event(DEALBOX_EV_COVER_CLOSED, 1);
	assert_int_equal(dealing_read(&w.d, NULL), 1);
	calls();
	machine.endless = true;
	assert_int_equal(dealing_read(&w.d, &news), 20 * 64);
	machine.endless = false;
	calls();
	machine.read_error = -ENODEV;
	assert_int_equal(dealing_read(&w.d, &news), -ENODEV);
	/* events before an error are kept; the error comes with the next call */
	event(DEALBOX_EV_COVER_OPEN, 1);
	assert_int_equal(dealing_read(&w.d, &news), 1);
	world_end(&w);
}

static void test_plan(void **state)
{
	struct dealbox_plan expected;
	struct dealbox_deal deal;
	struct step step;
	struct world w;

	(void)state;
	world_begin(&w, 0);
	step = step_of(STEP_PLAN);
	memset(&wiped, 0, sizeof(wiped));
	w.d.plan_id = 41;
	assert_int_equal(dealing_do(&w.d, &step), DID_OK);
	make_deal(&deal, 1);
	assert_int_equal(dealbox_plan_by_card(&expected, 42, &deal, dealbox_pack_bridge(), NULL),
			 0);
	assert_memory_equal(&machine.plan, &expected, sizeof(expected));
	assert_memory_equal(&w.d.plan, &expected, sizeof(expected));
	assert_int_equal(wiped.plans, 1);
	assert_ptr_not_equal(wiped.plan, &w.d.plan);
	assert_int_equal(wiped.deals, 1);
	assert_int_equal(w.d.engine.cards, 52);
	/* never 0, and never the number of a test deal */
	w.d.plan_id = 0x7fffffff;
	assert_int_equal(dealing_do(&w.d, &step), DID_OK);
	assert_int_equal(machine.plan.plan_id, 1);
	w.d.plan_id = 0x7ffffffe;
	assert_int_equal(dealing_do(&w.d, &step), DID_OK);
	assert_int_equal(machine.plan.plan_id, 0x7fffffff);
	machine.error = -EINVAL;
	assert_int_equal(dealing_do(&w.d, &step), DID_REFUSED);
	assert_string_equal(said(&w), "refused 0.0: it will not|");
	machine.error = 0;
	/* a board that the set does not have, and one that cannot be planned */
	step.copy.board = 3;
	calls();
	assert_int_equal(dealing_do(&w.d, &step), DID_LEDGER);
	assert_non_null(strstr(said(&w), "ledger 3.1: "));
	step.copy.board = 1;
	fails.get_deal = -EINVAL;
	assert_int_equal(dealing_do(&w.d, &step), DID_LEDGER);
	said(&w);
	fails.lacks_card = true;
	assert_int_equal(dealing_do(&w.d, &step), DID_REFUSED);
	assert_string_equal(said(&w), "refused 1.1: board 1 cannot be planned|");
	assert_string_equal(calls(), "");
	world_end(&w);

	world_begin(&w, DEALBOX_JOB_CAPTURE);
	step = step_of(STEP_PLAN);
	step.copy.copy = 3;
	assert_int_equal(dealing_do(&w.d, &step), DID_OK);
	assert_int_equal(machine.plan.mode, DEALBOX_PLAN_CAPTURE);
	assert_int_equal(machine.plan.pocket[0], 2);
	assert_int_equal(w.d.engine.cards, 0);
	calls();
	said(&w);
	step.copy.copy = 99;
	assert_int_equal(dealing_do(&w.d, &step), DID_REFUSED);
	assert_string_equal(said(&w), "refused 1.99: board 1 cannot be planned|");
	assert_string_equal(calls(), "");
	world_end(&w);
}

static void test_begin(void **state)
{
	static const struct {
		int error;
		enum did did;
	} rows[] = {
		{ -EALREADY, DID_USED }, { -EEXIST, DID_REPEAT }, { -EINPROGRESS, DID_TAKEN },
		{ -ECANCELED, DID_TAKEN }, { -ENOENT, DID_TAKEN }, { -EIO, DID_LEDGER },
		{ -ENOSPC, DID_LEDGER },
	};
	struct dealbox_ledger_insertion last;
	struct dealbox_event *e;
	struct step step;
	struct world w;
	size_t n;

	(void)state;
	world_begin(&w, 0);
	step = step_of(STEP_BEGIN);
	w.d.plan_id = 6;
	w.d.starter = 1000;
	for (n = 0; n < COUNT(rows); n++) {
		fails.begin = rows[n].error;
		assert_int_equal(does(&w, STEP_BEGIN), rows[n].did);
		assert_string_equal(calls(), "begin 1 1.1 SN1 1 6;");
		assert_non_null(strstr(said(&w), "refused 1.1: "));
		assert_int_equal(w.d.starter, DEALBOX_UID_NONE);
	}
	/* the copy is no longer open in the ledger, so it is not a deal of another session */
	assert_int_equal(job_set_state(w.job, 1, 1, DEALBOX_LEDGER_COPY_RECORDED), 0);
	fails.begin = -EEXIST;
	assert_int_equal(does(&w, STEP_BEGIN), DID_TAKEN);
	calls();
	/* the same if the ledger does not know */
	job_set_state(w.job, 1, 1, DEALBOX_LEDGER_COPY_OPEN);
	fails.begin = -EEXIST;
	fails.jobs = -EIO;
	assert_int_equal(does(&w, STEP_BEGIN), DID_TAKEN);
	calls();
	/* the job is gone */
	step.copy.job = the_job + 9;
	fails.begin = -EEXIST;
	assert_int_equal(dealing_do(&w.d, &step), DID_TAKEN);
	calls();
	said(&w);
	job_set_state(w.job, 1, 1, DEALBOX_LEDGER_COPY_OPEN);

	/* starting a board in doubt confirms that it is empty, which is recorded first */
	w.d.engine.confirm = true;
	w.d.starter = 1000;
	fails.add_act = -EIO;
	assert_int_equal(does(&w, STEP_BEGIN), DID_LEDGER);
	assert_string_equal(calls(), "act 7 user 1000 job 1 1.1 SN1;");
	said(&w);
	w.d.starter = 1000;
	assert_int_equal(does(&w, STEP_BEGIN), DID_OK);
	assert_string_equal(calls(), "act 7 user 1000 job 1 1.1 SN1;begin 1 1.1 SN1 1 6;");
	assert_string_equal(said(&w), "");
	assert_int_equal(dealbox_ledger_last(w.ledger, "SN1", &last), 0);
	assert_int_equal(last.id, w.d.insertion);
	assert_int_equal(last.plan, 6);
	assert_int_equal(w.d.starter, DEALBOX_UID_NONE);

	/* a program had pressed start for something else, and now somebody presses the key */
	w.d.starter = 1000;
	e = event(DEALBOX_EV_KEY, 0);
	e->code = DEALBOX_KEY_STOP;
	e->arg[0] = 1;
	event(DEALBOX_EV_KEY, 0)->code = DEALBOX_KEY_START;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.starter, 1000);
	e = event(DEALBOX_EV_KEY, 0);
	e->code = DEALBOX_KEY_START;
	e->arg[0] = 1;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.starter, DEALBOX_UID_NONE);
	world_end(&w);

	/* a machine that a program plays: that is on record before anything starts */
	world_begin(&w, 0);
	w.d.plan_id = 6;
	assert_int_equal(does(&w, STEP_BEGIN), DID_OK);
	assert_string_equal(calls(), "begin 1 1.1 SN1 1 6;");
	assert_int_equal(dealbox_ledger_emulated(w.ledger, w.d.insertion), 0);
	assert_false(w.d.engine.emulated);
	dealing_detach(&w.d);
	machine.uri = "emu:/run/table";
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	assert_true(w.d.engine.emulated);
	world_end(&w);
	world_begin(&w, 0);
	w.d.engine.emulated = true;
	w.d.plan_id = 6;
	assert_int_equal(does(&w, STEP_BEGIN), DID_OK);
	assert_string_equal(calls(), "begin 1 1.1 SN1 1 6;emulation;");
	assert_int_equal(dealbox_ledger_emulated(w.ledger, w.d.insertion), 1);
	world_end(&w);
	world_begin(&w, 0);
	w.d.engine.emulated = true;
	w.d.plan_id = 6;
	fails.add_emulation = -EIO;
	assert_int_equal(does(&w, STEP_BEGIN), DID_LEDGER);
	assert_non_null(strstr(said(&w), "refused 1.1: "));
	/* an insertion that was refused is no emulation */
	fails.begin = -EIO;
	calls();
	assert_int_equal(does(&w, STEP_BEGIN), DID_LEDGER);
	assert_string_equal(calls(), "begin 1 1.1 SN1 1 6;");
	world_end(&w);

	/* an original is not empty */
	world_begin(&w, DEALBOX_JOB_CAPTURE);
	w.d.engine.confirm = w.d.engine.capture = true;
	w.d.plan_id = 6;
	assert_int_equal(does(&w, STEP_BEGIN), DID_OK);
	assert_string_equal(calls(), "begin 1 1.1 SN1 1 6;");
	world_end(&w);
}

/* The record and the message of a board that was dealt. */
static void test_judge(void **state)
{
	static const unsigned int counts[] = { 13, 13, 13, 13 }, differ[] = { 13, 12, 14, 13 };
	struct dealbox_ledger_insertion last;
	struct dealbox_event *events;
	struct world w;
	size_t count;

	(void)state;
	world_begin(&w, 0);
	begun(&w);
	calls();
	cards(DEALBOX_NONE, 0);
	done(counts);
	dealing_read(&w.d, NULL);
	memory_seen.unwiped = 0;
	fails.end = -EIO;
	assert_int_equal(does(&w, STEP_JUDGE), DID_LEDGER);
	assert_non_null(strstr(said(&w), "ledger 1.1: "));
	assert_int_equal(memory_seen.unwiped, 0);
	calls();
	memory_seen.fails_at = 1;
	assert_int_equal(does(&w, STEP_JUDGE), DID_LEDGER);
	memory_seen.fails_at = 0;
	assert_string_equal(calls(), "");
	said(&w);
	/* the trace was kept, and is now recorded with the verdict */
	assert_int_equal(does(&w, STEP_JUDGE), DID_EXACT);
	assert_int_equal(memory_seen.unwiped, 0);
	assert_string_equal(calls(), "end 1 0x0 0 159;");
	assert_string_equal(said(&w),
			    "recorded 1.1: board 1, copy 1: exact duplicate (by exit sensors), "
			    "recorded|judged 1.1 #1 1: exact duplicate (by exit sensors)|");
	assert_int_equal(w.d.plan.entries, 0);
	assert_int_equal(w.job->voided, 0);
	assert_int_equal(dealbox_ledger_last(w.ledger, "SN1", &last), 0);
	assert_int_equal(last.outcome, DEALBOX_LEDGER_EXACT);
	assert_int_equal(dealbox_ledger_get_trace(w.ledger, last.id, &events, &count), 0);
	assert_int_equal(count, 159);
	assert_int_equal(events[0].type, DEALBOX_EV_BOARD_INSERTED);
	assert_int_equal(events[158].type, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(events[4].card, machine.events[4].card);
	free(events);
	world_end(&w);

	/* a card lies elsewhere */
	world_begin(&w, 0);
	begun(&w);
	calls();
	cards(20, 2);
	done(differ);
	dealing_read(&w.d, NULL);
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_non_null(strstr(calls(), "end 2 0x0 "));
	assert_non_null(strstr(said(&w), "judged 1.1 #1 0: not an exact duplicate: "));
	assert_int_equal(w.job->voided, 1);
	world_end(&w);

	/* one card came face up: the only difference */
	world_begin(&w, 0);
	begun(&w);
	cards(DEALBOX_NONE, 0);
	done(counts);
	assert_int_equal(machine.events[2].type, DEALBOX_EV_CARD_READ);
	machine.events[2].flags |= DEALBOX_EVF_FACE_UP;
	dealing_read(&w.d, NULL);
	calls();
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_non_null(strstr(said(&w), "judged 1.1 #1 0: not an exact duplicate: 1 difference|"));
	world_end(&w);

	/* exact, but verification has no memory; and the job is no longer in memory */
	world_begin(&w, 0);
	begun(&w);
	calls();
	cards(DEALBOX_NONE, 0);
	done(counts);
	dealing_read(&w.d, NULL);
	said(&w);
	jobs_free(&w.jobs);
	fails.verify = -ENOMEM;
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_string_equal(calls(), "end 4 0x0 1 159;");
	assert_string_equal(said(&w),
			    "void 1.1: board 1, copy 1: void: what was dealt is not known|"
			    "judged 1.1 #1 0: void: what was dealt is not known|");
	world_end(&w);

	/* a board without any trace */
	world_begin(&w, 0);
	begun(&w);
	calls();
	dealbox_trace_free(w.d.trace);
	w.d.trace = NULL;
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_string_equal(calls(), "end 4 0x0 1 0;");
	assert_string_equal(said(&w),
			    "void 1.1: board 1, copy 1: void: what was dealt is not known|"
			    "judged 1.1 #1 0: void: what was dealt is not known|");
	world_end(&w);
}

/* A pocket of an original: as many cards as its hand has. */
static void test_capture(void **state)
{
	struct world w;
	unsigned int cards_read, n;

	(void)state;
	for (cards_read = 0; cards_read <= 14; cards_read = cards_read ? cards_read + 1 : 12) {
		unsigned int counts[4] = { cards_read, 0, 0, 0 };
		bool right = cards_read == 13;

		world_begin(&w, DEALBOX_JOB_CAPTURE);
		w.d.engine.capture = true;
		begun(&w);
		calls();
		for (n = 0; n < cards_read; n++)
			card(n, n, 0);
		done(counts);
		dealing_read(&w.d, NULL);
		was_wiped(0);
		assert_int_equal(does(&w, STEP_JUDGE), right ? DID_EXACT : DID_DIFFERS);
		assert_true(was_wiped(sizeof(dealbox_cards)));
		assert_memory_equal(calls(), right ? "end 5 " : "end 3 ", 6);
		if (right)
			assert_non_null(strstr(said(&w),
					       "board 1, copy 1: read: 13 cards, recorded|"));
		else
			assert_non_null(strstr(said(&w),
					       "put the right ones into the "
					       "hopper|judged 1.1 #1 0"));
		world_end(&w);
	}
	/* the message names the pocket */
	world_begin(&w, DEALBOX_JOB_CAPTURE);
	w.d.engine.capture = true;
	begun(&w);
	card(0, 0, 0);
	done((const unsigned int[4]){ 1, 0, 0, 0 });
	dealing_read(&w.d, NULL);
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_non_null(strstr(said(&w), "pocket N has 1 card, not 13: "));
	world_end(&w);
	/* also when no card came */
	world_begin(&w, DEALBOX_JOB_CAPTURE);
	w.d.engine.capture = true;
	begun(&w);
	done((const unsigned int[4]){ 0, 0, 0, 0 });
	dealing_read(&w.d, NULL);
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_non_null(strstr(said(&w), "pocket N has 0 cards, not 13: "));
	world_end(&w);
	/* thirteen cards, one of them repeated or face up: the hand is unknown */
	for (n = 0; n < 2; n++) {
		world_begin(&w, DEALBOX_JOB_CAPTURE);
		w.d.engine.capture = true;
		begun(&w);
		calls();
		for (cards_read = 0; cards_read < 13; cards_read++)
			card(cards_read, n || cards_read < 12 ? cards_read : 5, 0);
		machine.events[machine.count - 3].flags = n ? DEALBOX_EVF_FACE_UP : 0;
		done((const unsigned int[4]){ 13, 0, 0, 0 });
		dealing_read(&w.d, NULL);
		assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
		assert_memory_equal(calls(), "end 3 ", 6);
		world_end(&w);
	}
	/* no difference, but the hand is unknown */
	world_begin(&w, DEALBOX_JOB_CAPTURE);
	w.d.engine.capture = true;
	begun(&w);
	calls();
	for (n = 0; n < 13; n++)
		card(n, n, 0);
	done((const unsigned int[4]){ 13, 0, 0, 0 });
	dealing_read(&w.d, NULL);
	said(&w);
	fails.capture_pocket = -EINVAL;
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_memory_equal(calls(), "end 4 ", 6);
	assert_null(strstr(said(&w), "exact"));
	world_end(&w);
	/* already void when the cards are counted */
	world_begin(&w, DEALBOX_JOB_CAPTURE);
	w.d.engine.capture = true;
	begun(&w);
	calls();
	event(DEALBOX_EV_JAM, 1);
	dealing_read(&w.d, NULL);
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_memory_equal(calls(), "end 3 ", 6);
	world_end(&w);
}

static void test_void(void **state)
{
	static const struct {
		unsigned int reason, stopped_at;
		unsigned int place;
		bool coded;
		const char *text;
	} rows[] = {
		{ 0, 0, 0, false, "void" },
		{ 0, 7, 0, true, "void" },
		{ DEALBOX_EV_JAM, 0, 0, false, "void: jam" },
		{ DEALBOX_EV_JAM, 0, 3, false, "void: jam, at the gate" },
		{ DEALBOX_EV_JAM, 7, 3, false, "void: jam at card 7, at the gate" },
		{ DEALBOX_EV_HARDWARE, 255, 0, true,
		  "void: hardware fault at card 255, code 77" },
		{ DEALBOX_EV_REPEATED_CARD, 7, 0, false, "void: repeated card at card 7" },
	};
	char expected[256];
	struct step step;
	struct world w;
	size_t n;

	(void)state;
	for (n = 0; n < COUNT(rows); n++) {
		world_begin(&w, 0);
		begun(&w);
		calls();
		step = step_of(STEP_VOID);
		step.outcome = DEALBOX_LEDGER_VOID;
		step.reason = rows[n].reason;
		w.d.stopped_at = rows[n].stopped_at;
		w.d.place = (uint8_t)rows[n].place;
		w.d.coded = rows[n].coded;
		w.d.code = 77;
		fails.end = -EIO;
		assert_int_equal(dealing_do(&w.d, &step), DID_LEDGER);
		assert_int_equal(w.job->voided, 0);
		said(&w);
		calls();
		assert_int_equal(dealing_do(&w.d, &step), DID_OK);
		snprintf(expected, sizeof(expected), "end 3 0x%x 0 1;", rows[n].reason);
		assert_string_equal(calls(), expected);
		snprintf(expected, sizeof(expected),
			 "void 1.1: board 1, copy 1: %s|judged 1.1 #1 0: %s|", rows[n].text,
			 rows[n].text);
		assert_string_equal(said(&w), expected);
		assert_int_equal(w.job->voided, 1);
		jobs_free(&w.jobs);
		world_end(&w);
	}
}

/* An exact verdict is revoked, also when the job is no longer in memory. */
static void test_undo(void **state)
{
	static const char sentence[] =
		"void: wrong pocket behind its end, so it is not exact after all";
	char expected[256];
	struct step step;
	struct world w;

	(void)state;
	world_begin(&w, 0);
	step = step_of(STEP_UNDO);
	step.reason = DEALBOX_EV_WRONG_POCKET;
	fails.add_act = -EIO;
	assert_int_equal(dealing_do(&w.d, &step), DID_LEDGER);
	assert_int_equal(w.job->voided, 0);
	assert_non_null(strstr(said(&w), "ledger 1.1: "));
	calls();
	assert_int_equal(dealing_do(&w.d, &step), DID_OK);
	assert_int_equal(w.job->voided, 1);
	assert_string_equal(calls(), "act 5 user 4294967295 job 1 1.1 SN1;");
	snprintf(expected, sizeof(expected), "void 1.1: board 1, copy 1: %s|judged 1.1 #1 0: %s|",
		 sentence, sentence);
	assert_string_equal(said(&w), expected);
	jobs_free(&w.jobs);
	assert_int_equal(dealing_do(&w.d, &step), DID_OK);
	step.kind = STEP_VOID;
	world_end(&w);
}

/* A signed statement is recorded with its nonce, of which no copy stays in memory. */
static void test_attest(void **state)
{
	static const uint8_t zeros[DEALBOX_NONCE_SIZE];
	struct dealbox_ledger_attestation found;
	uint8_t first[DEALBOX_NONCE_SIZE];
	struct world w;

	(void)state;
	world_begin(&w, 0);
	begun(&w);
	calls();
	assert_int_equal(does(&w, STEP_ATTEST), DID_OK);
	assert_string_equal(calls(), "attest 1;");
	assert_memory_not_equal(machine.nonce, zeros, sizeof(zeros));
	memcpy(first, machine.nonce, sizeof(first));
	/* another time it is another */
	assert_int_equal(does(&w, STEP_ATTEST), DID_OK);
	calls();
	assert_memory_not_equal(machine.nonce, first, sizeof(first));
	memcpy(first, machine.nonce, sizeof(first));

	/* there is none, or whose it is remains unknown */
	machine.attestation_error = -ENODATA;
	assert_int_equal(does(&w, STEP_SIGNED), DID_NO_ANSWER);
	assert_string_equal(calls(), "attestation;");
	assert_memory_equal(w.d.nonce, zeros, sizeof(zeros));
	machine.attestation_error = 0;
	machine.identity_error = -EIO;
	assert_int_equal(does(&w, STEP_SIGNED), DID_NO_ANSWER);
	assert_string_equal(calls(), "attestation;identity;");
	machine.identity_error = 0;
	assert_int_equal(dealbox_ledger_get_attestation(w.d.ledger, w.d.insertion, &found),
			 -ENOENT);

	memcpy(w.d.nonce, first, sizeof(first));
	wiped.count = 0;
	said(&w);
	assert_int_equal(does(&w, STEP_SIGNED), DID_OK);
	assert_string_equal(said(&w), "");
	assert_true(was_wiped(sizeof(found)));
	assert_memory_equal(w.d.nonce, zeros, sizeof(zeros));
	assert_int_equal(dealbox_ledger_get_attestation(w.d.ledger, w.d.insertion, &found), 0);
	assert_memory_equal(found.nonce, first, sizeof(first));
	assert_int_equal(found.public_key[31], 1);
	assert_int_equal(found.statement[95], 2);
	assert_int_equal(found.signature[63], 3);
	/* the ledger does not take it: the board is judged all the same */
	assert_int_equal(does(&w, STEP_SIGNED), DID_OK);
	assert_non_null(strstr(said(&w), "ledger 1.1: "));
	memset(w.d.nonce, 9, sizeof(w.d.nonce));
	world_end(&w);
}

/* ---- events ---- */

static void test_names(void **state)
{
	static const struct {
		const char *serial, *port, *id;
	} rows[] = {
		{ "SN1", "1-2", "SN1" },
		{ "", "1-2", "port:1-2" },
		{ "SN\x1b[2J", "1-2", "SN?[2J" },
		/* reserved for other names, also in D-Bus and the ledger */
		{ "port:1-3", "1-2", "port:1-2" },
		{ "port", "1-2", "port" },
		{ "a@b", "1-2", "port:1-2" },
		{ "@", "1-2", "port:1-2" },
	};
	struct dealbox_info wide = { 0 };
	char id[DEALING_ID];
	size_t n;

	(void)state;
	for (n = 0; n < COUNT(rows); n++) {
		struct dealbox_info named = { .model = "Dealer\n4" };

		strcpy(named.serial, rows[n].serial);
		dealing_sanitize(&named);
		assert_string_equal(named.model, "Dealer?4");
		dealing_id(&named, rows[n].port, id);
		assert_string_equal(id, rows[n].id);
	}
	/* a multi-byte letter that does not fit is left out entirely */
	memset(wide.model, 'a', sizeof(wide.model) - 2);
	wide.model[sizeof(wide.model) - 2] = '\xe9';
	dealing_sanitize(&wide);
	assert_int_equal(strlen(wide.model), sizeof(wide.model) - 2);
}

/* The ledger knows whether the last board of a machine ended well. */
static void test_doubts(void **state)
{
	struct dealing other = { 0 };
	uint32_t plan;
	struct step step = step_of(STEP_VOID);
	struct world w;

	(void)state;
	world_begin(&w, 0);
	assert_false(w.d.engine.confirm);
	assert_int_equal(w.d.starter, DEALBOX_UID_NONE);
	assert_true(w.d.fresh);
	begun(&w);
	step.outcome = DEALBOX_LEDGER_VOID;
	assert_int_equal(dealing_do(&w.d, &step), DID_OK);
	dealing_init(&other, "SN1", w.ledger, &w.jobs, NULL);
	assert_true(other.engine.confirm);
	assert_int_equal(other.engine.cause, DEALBOX_OPERATOR_USED);
	dealing_init(&other, "SN2", w.ledger, &w.jobs, NULL);
	assert_false(other.engine.confirm);
	/* each begins with a different plan number */
	plan = other.plan_id;
	dealing_init(&other, "SN2", w.ledger, &w.jobs, NULL);
	assert_int_not_equal(other.plan_id, plan);

	/* going and coming */
	calls();
	w.d.suspect = true;
	dealing_detach(&w.d);
	assert_string_equal(calls(), "close;");
	assert_null(w.d.machine);
	assert_false(w.d.engine.plugged);
	w.d.fresh = false;
	memset(&w.d.confusion, 0, sizeof(w.d.confusion));
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	assert_int_not_equal(w.d.confusion.weight[0][1], 0);
	assert_false(w.d.suspect);
	assert_true(w.d.fresh);
	assert_true(w.d.engine.plugged);
	assert_ptr_equal(w.d.machine, &w);
	world_end(&w);
	assert_string_equal(calls(), "close;");
}

/* The first insertion must follow the last one in the ledger, or be the same. */
static void test_first_board(void **state)
{
	static const struct {
		uint32_t number;
		bool missed;
	} rows[] = { { 1, false }, { 2, false }, { 3, true }, { 900, true } };
	struct step step = step_of(STEP_VOID);
	struct world w;
	size_t n;

	(void)state;
	world_begin(&w, 0);
	/* a ledger that knows nothing of the machine says nothing */
	event(DEALBOX_EV_BOARD_INSERTED, 77);
	dealing_read(&w.d, NULL);
	assert_string_equal(said(&w), "");
	begun(&w);
	step.outcome = DEALBOX_LEDGER_VOID;
	dealing_do(&w.d, &step);
	said(&w);
	for (n = 0; n < COUNT(rows); n++) {
		w.d.fresh = true;
		w.d.engine.lost = w.d.engine.used = w.d.engine.doubt = false;
		w.d.engine.phase = PHASE_NONE;
		w.d.engine.confirm = false;
		w.d.engine.cause = DEALBOX_OPERATOR_NONE;
		event(DEALBOX_EV_COVER_CLOSED, 900);
		event(DEALBOX_EV_BOARD_INSERTED, rows[n].number);
		event(DEALBOX_EV_BOARD_INSERTED, rows[n].number);
		dealing_read(&w.d, NULL);
		assert_false(w.d.fresh);
		if (!rows[n].missed) {
			assert_string_equal(said(&w), "");
			assert_false(w.d.engine.confirm);
			continue;
		}
		assert_true(w.d.engine.confirm);
		assert_int_equal(w.d.engine.cause, DEALBOX_OPERATOR_USED);
		assert_non_null(strstr(w.said, "the last one that the ledger knows is 1: "
				       "if another computer"));
		assert_null(strstr(strstr(w.said, "doubt 0.0: insertion") + 1, "doubt"));
		said(&w);
	}
	world_end(&w);
}

/* Each insertion has its own trace; that of a deal is kept until the verdict. */
static void test_traces(void **state)
{
	struct world w;
	unsigned int pocket;

	(void)state;
	world_begin(&w, 0);
	event(DEALBOX_EV_HOPPER_LOADED, 0);
	dealing_read(&w.d, NULL);
	assert_null(w.d.trace);
	begun(&w);
	card(0, 0, 0);
	dealing_read(&w.d, NULL);
	assert_int_equal(dealbox_trace_count(dealing_trace(&w.d, 1)), 5);
	assert_null(dealing_trace(&w.d, 2));
	/* the next board is inserted before the verdict */
	w.d.engine.phase = PHASE_JUDGE;
	event(DEALBOX_EV_BOARD_REMOVED, 1);
	event(DEALBOX_EV_HOPPER_LOADED, 0);
	event(DEALBOX_EV_BOARD_INSERTED, 2);
	dealing_read(&w.d, NULL);
	assert_int_equal(dealbox_trace_count(dealing_trace(&w.d, 1)), 6);
	assert_int_equal(dealbox_trace_count(dealing_trace(&w.d, 2)), 1);
	/* .. and one more */
	event(DEALBOX_EV_BOARD_REMOVED, 2);
	event(DEALBOX_EV_BOARD_INSERTED, 3);
	dealing_read(&w.d, NULL);
	assert_int_equal(dealbox_trace_count(dealing_trace(&w.d, 1)), 6);
	assert_null(dealing_trace(&w.d, 2));
	assert_non_null(dealing_trace(&w.d, 3));
	assert_int_equal(does(&w, STEP_JUDGE), DID_DIFFERS);
	assert_null(dealing_trace(&w.d, 1));
	/* begun in the ledger, but not started: the end is recorded, too */
	w.d.engine.phase = PHASE_START;
	w.d.engine.dealt = 3;
	event(DEALBOX_EV_BOARD_INSERTED, 5);
	dealing_read(&w.d, NULL);
	assert_non_null(dealing_trace(&w.d, 3));
	dealbox_trace_free(w.d.kept);
	w.d.kept = NULL;
	event(DEALBOX_EV_BOARD_INSERTED, 3);
	dealing_read(&w.d, NULL);
	/* no trace is kept of a board that was not dealt */
	w.d.engine.phase = PHASE_NONE;
	w.d.engine.dealt = 3;
	event(DEALBOX_EV_BOARD_INSERTED, 4);
	dealing_read(&w.d, NULL);
	assert_null(dealing_trace(&w.d, 3));
	assert_null(w.d.kept);
	world_end(&w);

	/* an original is read in several captures of one insertion, each with its own verdict */
	world_begin(&w, DEALBOX_JOB_CAPTURE);
	w.d.engine.capture = true;
	event(DEALBOX_EV_BOARD_INSERTED, 1);
	for (pocket = 1; pocket <= 2; pocket++) {
		event(DEALBOX_EV_DEAL_STARTED, 1);
		card(0, 0, 0);
		dealing_read(&w.d, NULL);
		assert_int_equal(dealbox_trace_count(dealing_trace(&w.d, 1)), 4);
	}
	world_end(&w);
}

static void test_progress(void **state)
{
	struct dealbox_operator_facts facts;
	struct dealbox_event *e;
	struct world w;

	(void)state;
	world_begin(&w, 0);
	begun(&w);
	card(0, 0, 0);
	card(1, 1, 0);
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.cards, 2);
	event(DEALBOX_EV_CARD_ROUTED, 1);
	event(DEALBOX_EV_HARDWARE, 1)->code = 7;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.cards, 2);
	assert_int_equal(w.d.stopped_at, 0);
	assert_int_equal(w.d.place, 0);
	assert_true(w.d.coded);
	assert_int_equal(w.d.code, 7);
	e = event(DEALBOX_EV_JAM, 1);
	e->position = 2;
	e->code = 3;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.stopped_at, 3);
	assert_int_equal(w.d.place, 3);
	assert_false(w.d.coded);
	assert_int_equal(w.d.code, 0);
	/* a place that this version does not know is a code, as is none */
	for (unsigned int code = 0; code <= 5; code++) {
		event(DEALBOX_EV_JAM, 1)->code = code;
		dealing_read(&w.d, NULL);
		assert_int_equal(w.d.place, code == 5 ? 0 : code);
		assert_int_equal(w.d.coded, code == 0 || code == 5);
		assert_int_equal(w.d.code, code == 5 ? 5 : 0);
	}
	event(DEALBOX_EV_REPEATED_CARD, 1);
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.place, 0);
	assert_false(w.d.coded);
	/* events that are no stops do not change it */
	event(DEALBOX_EV_CARD_LANDED, 1)->position = 40;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.stopped_at, 3);
	assert_int_equal(w.d.cards, 2);
	w.d.seat = 2;
	w.d.depth = 3;
	dealing_facts(&w.d, &facts);
	assert_int_equal(facts.seat, 2);
	assert_int_equal(facts.depth, 3);
	assert_int_equal(facts.board, 1);
	event(DEALBOX_EV_DEAL_STARTED, 1);
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.stopped_at, 0);
	assert_int_equal(w.d.cards, 0);
	world_end(&w);
}

/* The reason of a stop. Only the text for those who may see cards names them. */
static void test_diagnosis(void **state)
{
	struct dealbox_event *e;
	struct world w;
	unsigned int n;

	(void)state;
	world_begin(&w, 0);
	begun(&w);
	for (n = 0; n < 51; n++)
		card(n, n, n / 13);
	/* a card that landed without being read does not count, nor does an unreadable one */
	event(DEALBOX_EV_CARD_LANDED, 1)->card = 51;
	event(DEALBOX_EV_CARD_READ, 1)->card = 64;
	event(DEALBOX_EV_DECK_SHORT, 1);
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "1 card of the deal has not come");
	assert_string_equal(w.d.revealed, "1 card of the deal has not come: C2");
	world_end(&w);

	world_begin(&w, 0);
	begun(&w);
	for (n = 1; n < 51; n++)
		card(n, n, n / 13);
	event(DEALBOX_EV_DECK_SHORT, 1);
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "2 cards of the deal have not come");
	assert_string_equal(w.d.revealed, "2 cards of the deal have not come: SA C2");
	/* the first card counts even if the insertion was not seen */
	event(DEALBOX_EV_CARD_READ, 8)->card = 3;
	event(DEALBOX_EV_DECK_SHORT, 8);
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "51 cards of the deal have not come");
	/* by position, cards have no names; the machine says which card did not come */
	w.d.plan.mode = DEALBOX_PLAN_BY_POSITION;
	event(DEALBOX_EV_DECK_SHORT, 1)->position = 50;
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "2 cards of the deal have not come");
	assert_string_equal(w.d.revealed, "2 cards of the deal have not come");
	event(DEALBOX_EV_DECK_SHORT, 1)->position = 51;
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "1 card of the deal has not come");
	/* a machine that does not say it, or that has all cards: nothing is known */
	event(DEALBOX_EV_DECK_SHORT, 1)->position = DEALBOX_NONE;
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "");
	assert_string_equal(w.d.revealed, "");
	/* no card has come at all: the list is as long as fits */
	w.d.plan.mode = DEALBOX_PLAN_BY_CARD;
	w.d.plan.entries = 64;
	memset(w.d.plan.pocket, 0, 64);
	w.d.plan.pocket[5] = DEALBOX_NONE;
	event(DEALBOX_EV_BOARD_INSERTED, 2);
	event(DEALBOX_EV_DECK_SHORT, 2);
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "63 cards of the deal have not come");
	assert_non_null(strstr(w.d.revealed, " SA "));
	/* a card of another pack */
	e = event(DEALBOX_EV_NOT_IN_PLAN, 2);
	e->position = 4;
	e->card = 52;
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "card 5 does not belong to the deal");
	assert_string_equal(w.d.revealed, "card 5 was read as joker 1");
	event(DEALBOX_EV_NOT_IN_PLAN, 2);
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "card 5 does not belong to the deal");
	/* a guess of the reader names no card */
	e = event(DEALBOX_EV_NOT_IN_PLAN, 2);
	e->position = 7;
	e->quality = 49;
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "card 5 does not belong to the deal");
	/* nor does a repeated card without a name */
	event(DEALBOX_EV_REPEATED_CARD, 2);
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "card 5 does not belong to the deal");
	world_end(&w);

	/* a stop before any board has come */
	world_begin(&w, 0);
	event(DEALBOX_EV_DECK_SHORT, 0);
	event(DEALBOX_EV_REPEATED_CARD, 0);
	event(DEALBOX_EV_DEAL_DONE, 0);
	dealing_read(&w.d, NULL);
	assert_string_equal(w.d.diagnosis, "");
	world_end(&w);
}

/* The pocket and the depth of the earlier of two equal cards, also with reversed pockets. */
static void test_repeat(void **state)
{
	struct dealbox_operator_facts facts;
	struct dealbox_event *e;
	struct world w;
	unsigned int reversed, n;

	(void)state;
	for (reversed = 0; reversed < 3; reversed++) {
		world_begin(&w, reversed == 1 ? DEALBOX_JOB_REVERSED : 0);
		begun(&w);
		for (n = 0; n < 30; n++)
			card(n, n, n / 13);
		e = event(DEALBOX_EV_CARD_READ, 1);
		e->position = 30;
		e->card = 16;
		e->quality = 90;
		e = event(DEALBOX_EV_REPEATED_CARD, 1);
		e->position = 30;
		e->card = 16;
		e->arg[0] = 16;
		if (reversed == 2)
			jobs_free(&w.jobs);
		was_wiped(0);
		dealing_read(&w.d, NULL);
		assert_true(was_wiped(sizeof(struct dealbox_diagnosis)));
		assert_non_null(strstr(w.d.diagnosis, reversed == 1 ? "10 from the top of South" :
				       "10 from the top of East"));
		assert_null(strstr(w.d.diagnosis, "HJ"));
		assert_non_null(strstr(w.d.revealed, "HJ"));
		assert_int_equal(w.d.seat, reversed == 1 ? 3 : 2);
		assert_int_equal(w.d.depth, 10);
		dealing_facts(&w.d, &facts);
		assert_int_equal(facts.culprit, 1);
		assert_int_equal(facts.chance, 60);
		world_end(&w);
	}
	/* without the earlier card, its place is unknown */
	world_begin(&w, 0);
	begun(&w);
	e = event(DEALBOX_EV_REPEATED_CARD, 1);
	e->position = 0;
	e->card = 16;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.seat, 0);
	assert_int_equal(w.d.depth, 0);
	world_end(&w);
}

/* A test deal is counted as it goes on: at its start, and whenever something but a card comes. */
static void test_counts_a_test(void **state)
{
	struct dealbox_event *e;
	struct world w;

	(void)state;
	world_begin(&w, 0);
	/* without a board, there is nothing to count */
	event(DEALBOX_EV_DEAL_STARTED, 0)->code = TEST_PLAN;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.state, TEST_NONE);
	event(DEALBOX_EV_BOARD_INSERTED, 1);
	e = event(DEALBOX_EV_DEAL_STARTED, 1);
	e->code = TEST_PLAN;
	e->arg[0] = 2;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.state, TEST_RUNNING);
	assert_int_equal(w.d.tested.insertion, 1);
	assert_int_equal(w.d.tested.cards, 2);
	/* the trace is not counted anew for each event of each card */
	card(0, 5, 1);
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.fed, 0);
	event(DEALBOX_EV_PAUSED, 1);
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.fed, 1);
	event(DEALBOX_EV_CARD_READ, 1)->position = 1;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.fed, 1);
	e = event(DEALBOX_EV_DEAL_DONE, 1);
	e->code = TEST_PLAN;
	e->position = 2;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.state, TEST_DONE);
	assert_int_equal(w.d.tested.fed, 2);
	assert_int_equal(w.d.tested.landed, 1);
	/* a board that is dealt is no test; nor is the cable that is pulled then */
	event(DEALBOX_EV_BOARD_INSERTED, 2);
	event(DEALBOX_EV_DEAL_STARTED, 2)->code = 7;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.state, TEST_DONE);
	assert_int_equal(w.d.tested.insertion, 1);
	dealing_detach(&w.d);
	assert_int_equal(w.d.tested.state, TEST_DONE);
	/* but it ends a test that is under way */
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	event(DEALBOX_EV_BOARD_INSERTED, 3);
	event(DEALBOX_EV_DEAL_STARTED, 3)->code = TEST_PLAN;
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.tested.state, TEST_RUNNING);
	dealing_detach(&w.d);
	assert_int_equal(w.d.tested.state, TEST_LOST);
	world_end(&w);
}

/* The confusion of the reader is learned from finished deals. */
static void test_learns(void **state)
{
	struct dealbox_event *e;
	struct world w;
	uint16_t before;

	(void)state;
	world_begin(&w, 0);
	begun(&w);
	dealing_read(&w.d, NULL);
	before = w.d.confusion.weight[3][20];
	e = event(DEALBOX_EV_CARD_READ, 1);
	e->position = 0;
	e->card = 20;
	card(0, 3, 0);
	dealing_read(&w.d, NULL);
	assert_int_equal(w.d.confusion.weight[3][20], before);
	event(DEALBOX_EV_DEAL_DONE, 1);
	dealing_read(&w.d, NULL);
	assert_true(w.d.confusion.weight[3][20] > before);
	world_end(&w);
}

/* ---- jobs as the ledger has them ---- */

static uint64_t add_job(struct world *w, const char *session, unsigned int copies,
			unsigned int options, int priority, const char *const *machines)
{
	static const unsigned int numbers[] = { 2, 1 };
	struct dealbox_ledger_board boards[2] = { { .number = 1 }, { .number = 2 } };
	uint64_t set, job;

	make_deal(&boards[0].deal, 1);
	make_deal(&boards[1].deal, 2);
	dealbox_ledger_user(w->ledger, 1000);
	assert_int_equal(dealbox_ledger_add_set(w->ledger, session, boards, 2, &set, NULL), 0);
	assert_int_equal(dealbox_ledger_add_job(w->ledger, &(struct dealbox_ledger_new_job){
		.set = set, .boards = numbers, .count = 2, .copies = copies, .options = options,
		.priority = priority, .machines = machines }, &job, NULL), 0);
	return job;
}

static void act(struct world *w, enum dealbox_ledger_act_kind kind, uint64_t job,
		unsigned int board, int value)
{
	const struct dealbox_ledger_act a = {
		.act = kind, .uid = 1, .job = job, .board = board, .copy = board ? 1 : 0,
		.value = value,
	};

	assert_int_equal(__real_dealbox_ledger_add_act(w->ledger, &a), 0);
}

static void record_of(struct world *w, uint64_t job, unsigned int board, unsigned int copy,
		      const char *id, uint32_t number, enum dealbox_ledger_outcome outcome)
{
	struct dealbox_ledger_insertion insertion = new_insertion(job, board, copy, id, number, 3);

	assert_int_equal(__real_dealbox_ledger_begin(w->ledger, &insertion), 0);
	insertion.outcome = outcome;
	insertion.differences = outcome == DEALBOX_LEDGER_DIFFERS;
	if (outcome)
		assert_int_equal(__real_dealbox_ledger_end(w->ledger, &insertion, machine.events,
							   1), 0);
}

static void test_job(void **state)
{
	static const char *const machines[] = { "SN1", "SN2", NULL };
	struct job *job, *smaller;
	struct world w;
	uint64_t id;

	(void)state;
	world_begin(&w, 0);
	id = add_job(&w, "monday", 1, DEALBOX_JOB_SETS, 7, machines);
	assert_int_equal(job_load(w.ledger, &w.jobs, id, &job), 0);
	assert_ptr_equal(w.jobs.first, job);
	assert_int_equal(job->id, id);
	assert_int_equal(job->count, 2);
	assert_int_equal(job->copies, 1);
	assert_int_equal(job->options, DEALBOX_JOB_SETS);
	assert_int_equal(job->priority, 7);
	assert_int_equal(job->uid, 1000);
	assert_string_equal(job->session, "monday");
	assert_int_equal(job->state, DEALBOX_LEDGER_JOB_OPEN);
	assert_true(job_for(job, "SN2"));
	assert_false(job_for(job, "SN3"));

	/* changes meanwhile */
	record_of(&w, id, 1, 1, "SN1", 1, DEALBOX_LEDGER_VOID);
	record_of(&w, id, 1, 1, "SN1", 2, DEALBOX_LEDGER_EXACT);
	act(&w, DEALBOX_ACT_PAUSE, id, 0, 0);
	act(&w, DEALBOX_ACT_PRIORITY, id, 0, -7);
	assert_int_equal(job_refresh(w.ledger, &w.jobs, job), 0);
	assert_int_equal(job->state, DEALBOX_LEDGER_JOB_PAUSED);
	assert_int_equal(job->voided, 1);
	assert_int_equal(job->priority, -7);
	assert_ptr_equal(w.jobs.first, w.job);
	assert_int_equal(job_state(job, 1, 1), DEALBOX_LEDGER_COPY_RECORDED);
	assert_int_equal(job_state(job, 2, 1), DEALBOX_LEDGER_COPY_OPEN);
	/* the copies show what is done */
	act(&w, DEALBOX_ACT_RESUME, id, 0, 0);
	act(&w, DEALBOX_ACT_SKIP, id, 2, 0);
	assert_int_equal(job_refresh(w.ledger, &w.jobs, job), 0);
	assert_int_equal(job->state, DEALBOX_LEDGER_JOB_OPEN);
	assert_true(job_done(job));
	/* copies of a board that the job does not have */
	smaller = jobs_add(&w.jobs, id, 1, &(unsigned int){ 1 }, 1, 1, 0, 0);
	assert_int_equal(job_refresh(w.ledger, &w.jobs, smaller), 0);
	assert_true(job_done(smaller));
	act(&w, DEALBOX_ACT_COPIES, id, 0, 3);
	assert_int_equal(job_refresh(w.ledger, &w.jobs, job), 0);
	assert_int_equal(job->copies, 3);
	assert_false(job_done(job));
	/* errors of the ledger */
	job->voided = 9;
	fails.jobs = -EIO;
	assert_int_equal(job_refresh(w.ledger, &w.jobs, job), -EIO);
	fails.copies = -ENOMEM;
	assert_int_equal(job_refresh(w.ledger, &w.jobs, job), -ENOMEM);
	assert_int_equal(job->voided, 9);
	/* copies that do not fit into memory */
	id = add_job(&w, "monday", 9, 0, 0, NULL);
	assert_int_equal(job_load(w.ledger, &w.jobs, id, &job), 0);
	act(&w, DEALBOX_ACT_SKIP, id, 2, 0);
	memory_seen.fails_at = 1;
	assert_int_equal(job_refresh(w.ledger, &w.jobs, job), -ENOMEM);
	memory_seen.fails_at = 0;
	world_end(&w);
}

/* A job that cannot be loaded leaves nothing behind. */
static void test_job_not_loaded(void **state)
{
	static const char *const machines[] = { "SN1", "SN2", NULL };
	static int *const errors[] = { &fails.jobs, &fails.boards, &fails.machines, &fails.copies };
	struct world w;
	struct job *job;
	uint64_t id;
	unsigned int n;
	int err;

	(void)state;
	world_begin(&w, 0);
	id = add_job(&w, "monday", 1, 0, 0, machines);
	job = w.job;
	assert_int_equal(job_load(w.ledger, &w.jobs, id + 99, &job), -ENOENT);
	assert_null(job);
	for (n = 0; n < COUNT(errors); n++) {
		*errors[n] = -EUCLEAN;
		job = w.job;
		assert_int_equal(job_load(w.ledger, &w.jobs, id, &job), -EUCLEAN);
		assert_null(job);
		assert_ptr_equal(w.jobs.first, w.job);
		assert_null(w.job->next);
	}
	for (n = 1, err = -ENOMEM; err; n++) {
		memory_seen.fails_at = n;
		err = job_load(w.ledger, &w.jobs, id, &job);
		memory_seen.fails_at = 0;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_null(job);
		assert_null(w.job->next);
	}
	assert_in_range(n, 4, 20);
	jobs_remove(&w.jobs, job);
	/* as many jobs as allowed */
	for (n = 0; n < JOBS_MAX - 2; n++)
		assert_non_null(jobs_add(&w.jobs, 5000 + n, 1, &n, 1, 1, 0, 0));
	assert_int_equal(job_load(w.ledger, &w.jobs, id, &job), 0);
	job = w.job;
	assert_int_equal(job_load(w.ledger, &w.jobs, the_job, &job), -E2BIG);
	assert_null(job);
	assert_true(jobs_room(&w.jobs, 0, 0, 0));
	world_end(&w);
}

/* A ledger that returns more boards than announced, or none. */
static void test_job_of_a_strange_ledger(void **state)
{
	struct dealbox_ledger_job record = { .copies = 1 };
	struct world w;
	struct job *job;

	(void)state;
	world_begin(&w, 0);
	record.job = the_job;
	record.boards = 1;
	job = w.job;
	assert_int_equal(job_take(w.ledger, &w.jobs, &record, &job), -EIO);
	assert_null(job);
	record.job = the_job + 77;
	record.boards = 2;
	assert_int_equal(job_take(w.ledger, &w.jobs, &record, &job), -EIO);
	assert_null(job);
	assert_null(w.job->next);
	world_end(&w);
}

/* Only deals that were in progress when the last program ended get the outcome unknown. */
static void test_settle(void **state)
{
	struct dealbox_ledger_insertion last;
	struct world w;
	unsigned int settled = 9;

	(void)state;
	world_begin(&w, 0);
	event(DEALBOX_EV_BOARD_INSERTED, 1);
	assert_int_equal(ledger_settle(w.ledger, &settled), 0);
	assert_int_equal(settled, 0);
	record_of(&w, the_job, 1, 1, "SN1", 1, DEALBOX_LEDGER_VOID);
	record_of(&w, the_job, 1, 1, "SN1", 2, DEALBOX_LEDGER_NONE);
	record_of(&w, the_job, 2, 1, "SN1", 3, DEALBOX_LEDGER_NONE);
	fails.insertions = -EIO;
	assert_int_equal(ledger_settle(w.ledger, &settled), -EIO);
	assert_int_equal(settled, 0);
	memory_seen.fails_at = 1;
	assert_int_equal(ledger_settle(w.ledger, &settled), -ENOMEM);
	memory_seen.fails_at = 0;
	fails.end = -EIO;
	calls();
	assert_int_equal(ledger_settle(w.ledger, &settled), -EIO);
	assert_string_equal(calls(), "end 4 0x0 0 0;");
	assert_int_equal(ledger_settle(w.ledger, &settled), 0);
	assert_string_equal(calls(), "end 4 0x0 0 0;end 4 0x0 0 0;");
	assert_int_equal(settled, 2);
	assert_int_equal(dealbox_ledger_last(w.ledger, "SN1", &last), 0);
	assert_int_equal(last.outcome, DEALBOX_LEDGER_UNKNOWN);
	assert_int_equal(ledger_settle(w.ledger, &settled), 0);
	assert_int_equal(settled, 0);
	world_end(&w);
}

/* Only the recorded copy of the last board of a machine counts. */
static void test_last_is_recorded(void **state)
{
	struct dealbox_ledger_act redeal = {
		.act = DEALBOX_ACT_REDEAL, .uid = 1, .board = 1, .copy = 2, .machine = "SN1",
	};
	struct dealbox_ledger_act skip = {
		.act = DEALBOX_ACT_SKIP, .uid = 1, .board = 2, .copy = 2
	};
	uint64_t id;
	unsigned int options = 0;
	uint32_t number = 0;
	struct copy copy = { 0 };
	struct world w;

	(void)state;
	world_begin(&w, 0);
	event(DEALBOX_EV_BOARD_INSERTED, 1);
	id = add_job(&w, "monday", 2, DEALBOX_JOB_REVERSED, 0, NULL);
	record_of(&w, id, 1, 1, "SN1", 1, DEALBOX_LEDGER_EXACT);
	record_of(&w, id, 1, 2, "SN1", 2, DEALBOX_LEDGER_EXACT);
	/* the same copy of another board does not matter */
	skip.job = id;
	assert_int_equal(__real_dealbox_ledger_add_act(w.ledger, &skip), 0);
	fails.counts = -EIO;
	assert_false(ledger_recorded(w.ledger, "SN1", &number, &copy, &options));
	fails.jobs = -EIO;
	assert_false(ledger_recorded(w.ledger, "SN1", &number, &copy, &options));
	assert_int_equal(copy.job, 0);
	assert_true(ledger_recorded(w.ledger, "SN1", &number, &copy, &options));
	assert_int_equal(number, 2);
	assert_int_equal(copy.job, id);
	assert_int_equal(copy.board, 1);
	assert_int_equal(copy.copy, 2);
	assert_int_equal(options, DEALBOX_JOB_REVERSED);
	assert_false(ledger_doubts(w.ledger, "SN1"));
	redeal.job = id;
	assert_int_equal(__real_dealbox_ledger_add_act(w.ledger, &redeal), 0);
	assert_false(ledger_recorded(w.ledger, "SN1", &number, &copy, &options));
	/* after a late stop the board was to be emptied, but may come back with its cards */
	assert_true(ledger_doubts(w.ledger, "SN1"));
	/* another machine deals that copy: the board of this one counts no more than before */
	record_of(&w, id, 1, 2, "SN2", 7, DEALBOX_LEDGER_EXACT);
	assert_false(ledger_recorded(w.ledger, "SN1", &number, &copy, &options));
	assert_true(ledger_doubts(w.ledger, "SN1"));
	assert_true(ledger_recorded(w.ledger, "SN2", &number, &copy, &options));
	assert_int_equal(number, 7);
	fails.last = -EIO;
	assert_false(ledger_recorded(w.ledger, "SN2", &number, &copy, &options));
	world_end(&w);
}

/* A machine that comes back: its last board was recorded, and is not dealt again. */
static void test_recalled(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, 0);
	event(DEALBOX_EV_BOARD_INSERTED, 1);
	record_of(&w, the_job, 1, 1, "SN1", 1, DEALBOX_LEDGER_EXACT);
	record_of(&w, the_job, 2, 1, "SN1", 2, DEALBOX_LEDGER_EXACT);
	dealing_detach(&w.d);
	assert_int_equal(w.d.engine.insertion, 0);
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	assert_int_equal(w.d.engine.insertion, 2);
	assert_int_equal(w.d.engine.copy.job, the_job);
	assert_int_equal(w.d.engine.copy.board, 2);
	assert_int_equal(w.d.engine.copy.copy, 1);
	assert_true(w.d.engine.recorded);
	assert_false(w.d.engine.shuffled);
	/* its record is to be undone, as soon as the ledger can be written */
	w.d.engine.undo = true;
	dealing_detach(&w.d);
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	assert_false(w.d.engine.recorded);
	assert_true(w.d.engine.undo);
	world_end(&w);

	/* one that was dealt by a law has no number */
	world_begin(&w, JOB_BY_LAW(3, 1));
	event(DEALBOX_EV_BOARD_INSERTED, 1);
	record_of(&w, the_job, 1, 1, "SN1", 1, DEALBOX_LEDGER_EXACT);
	dealing_detach(&w.d);
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	assert_true(w.d.engine.recorded);
	assert_true(w.d.engine.shuffled);
	world_end(&w);
}

/* A person who deals sees the board: that is on record before he can, and he takes his time. */
static void test_by_hand(void **state)
{
	char expected[128];
	struct world w;

	(void)state;
	world_begin(&w, 0);
	assert_false(w.d.engine.by_hand);
	machine.by_hand = true;
	dealing_detach(&w.d);
	calls();
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	assert_string_equal(calls(), "");
	record_of(&w, the_job, 2, 1, "SN1", 9, DEALBOX_LEDGER_EXACT);
	dealing_detach(&w.d);
	calls();
	dealing_attach(&w.d, (struct dealbox_machine *)&w, &info);
	assert_true(w.d.engine.by_hand);
	/* the ledger remembers the insertions for him */
	assert_string_equal(calls(), "count from 9;");
	w.d.engine.copy = (struct copy){ the_job, 1, 1 };
	w.d.plan_id = 6;
	fails.add_act = 1;
	assert_int_equal(does(&w, STEP_BEGIN), DID_LEDGER);
	snprintf(expected, sizeof(expected), "act 8 user %u job 1 1.0 SN1;",
		 (unsigned int)getuid());
	assert_string_equal(calls(), expected);
	strcat(expected, "begin 1 1.1 SN1 1 6;");
	assert_int_equal(does(&w, STEP_BEGIN), DID_OK);
	assert_string_equal(calls(), expected);
	w.d.engine.phase = PHASE_RUNNING;
	assert_false(engine_moves(&w.d.engine));
	w.d.engine.by_hand = false;
	assert_true(engine_moves(&w.d.engine));
	/* nor does he wear out */
	w.d.engine.best = 1;
	w.d.engine.pace = 100;
	assert_true(engine_slow(&w.d.engine));
	w.d.engine.by_hand = true;
	assert_false(engine_slow(&w.d.engine));
	world_end(&w);
}

static void test_ledger_doubts(void **state)
{
	static const struct {
		enum dealbox_ledger_outcome outcome;
		bool doubts;
	} rows[] = {
		{ DEALBOX_LEDGER_EXACT, false }, { DEALBOX_LEDGER_VOID, true },
		{ DEALBOX_LEDGER_DIFFERS, true }, { DEALBOX_LEDGER_UNKNOWN, true },
		{ DEALBOX_LEDGER_CAPTURED, true },
	};
	struct dealbox_ledger_insertion last;
	struct world w;
	size_t n;

	(void)state;
	for (n = 0; n < COUNT(rows); n++) {
		world_begin(&w,
			    rows[n].outcome == DEALBOX_LEDGER_CAPTURED ? DEALBOX_JOB_CAPTURE : 0);
		event(DEALBOX_EV_BOARD_INSERTED, 1);
		assert_false(ledger_doubts(w.ledger, "SN1"));
		/* restored from before the machine's first deal: it may have dealt since */
		fails.restored_at = 1;
		assert_true(ledger_doubts(w.ledger, "SN1"));
		fails.restored_at = 0;
		record_of(&w, the_job, 1, 1, "SN1", 1, rows[n].outcome);
		assert_int_equal(ledger_doubts(w.ledger, "SN1"), rows[n].doubts);
		assert_int_equal(dealbox_ledger_last(w.ledger, "SN1", &last), 0);
		fails.restored_at = last.id;
		assert_int_equal(ledger_doubts(w.ledger, "SN1"), rows[n].doubts);
		fails.restored_at = last.id + 1;
		assert_true(ledger_doubts(w.ledger, "SN1"));
		fails.restored_at = 0;
		fails.restored = -EIO;
		assert_true(ledger_doubts(w.ledger, "SN1"));
		fails.last = -EIO;
		assert_true(ledger_doubts(w.ledger, "SN1"));
		world_end(&w);
	}
}

/* By position: sorted decks of bridge and of preferans. */
static void test_by_position(void **state)
{
	struct dealbox_verdict *verdict;
	struct dealbox_trace *trace = dealbox_trace_new(1);
	struct dealbox_plan plan, expected;
	const struct dealbox_pack *pack;
	struct dealbox_deal deal;
	struct world w;
	uint8_t deck[64];
	unsigned int n, card, preferans;
	size_t count;

	(void)state;
	world_begin(&w, DEALBOX_JOB_BY_POSITION);
	assert_int_equal(job_plan(w.ledger, w.job, &(struct copy){ the_job, 2, 1 }, 6, &plan), 0);
	make_deal(&deal, 2);
	count = dealbox_pack_sorted(dealbox_pack_bridge(), deck);
	assert_int_equal(dealbox_plan_by_position(&expected, 6, &deal, dealbox_pack_bridge(), NULL,
						  deck, count), 0);
	assert_memory_equal(&plan, &expected, sizeof(plan));
	world_end(&w);

	for (preferans = 0; preferans < 2; preferans++) {
		pack = preferans ? dealbox_pack_preferans() : dealbox_pack_bridge();
		count = dealbox_pack_sorted(pack, deck);
		deal = (struct dealbox_deal){ 0 };
		for (n = 0, card = 0; n < 4; n++)
			for (unsigned int k = 0; k < pack->size[n]; k++)
				deal.hand[n] |= (dealbox_cards)1 << deck[card++];
		assert_ptr_equal(job_pack(&deal), pack);
		assert_int_equal(dealbox_plan_by_position(&plan, 6, &deal, pack, NULL, deck, count),
				 0);
		verdict = NULL;
		assert_int_equal(job_verify(NULL, &plan, 0, trace, &verdict), 0);
		assert_non_null(verdict);
		assert_false(dealbox_verdict_exact(verdict));
		dealbox_verdict_free(verdict);
	}
	dealbox_trace_free(trace);
}

/* A machine with exit sensors that saw no card fall has no proof; one without them needs none. */
static void test_sensors_that_saw_nothing(void **state)
{
	static const unsigned int counts[] = { 13, 13, 13, 13 };
	struct dealbox_ledger_insertion last;
	unsigned int sensors, n, kept;
	struct world w;

	(void)state;
	for (sensors = 0; sensors < 2; sensors++) {
		world_begin(&w, 0);
		w.d.engine.capabilities |= sensors ? DEALBOX_CAP_EXIT_SENSORS : 0;
		begun(&w);
		cards(DEALBOX_NONE, 0);
		done(counts);
		for (n = kept = 0; n < machine.count; n++) {
			if (machine.events[n].type == DEALBOX_EV_CARD_LANDED)
				continue;
			machine.events[kept] = machine.events[n];
			machine.events[kept].seqno = machine.events[kept].machine_seq = kept + 1;
			kept++;
		}
		machine.now = machine.count = kept;
		dealing_read(&w.d, NULL);
		calls();
		assert_int_equal(does(&w, STEP_JUDGE), sensors ? DID_DIFFERS : DID_EXACT);
		assert_string_equal(said(&w), sensors ?
				    "void 1.1: board 1, copy 1: not an exact duplicate: the exit "
				    "sensors saw no card|judged 1.1 #1 0: not an exact duplicate: "
				    "the exit sensors saw no card|" :
				    "recorded 1.1: board 1, copy 1: exact duplicate (by gates), "
				    "recorded|judged 1.1 #1 1: exact duplicate (by gates)|");
		assert_int_equal(dealbox_ledger_last(w.ledger, "SN1", &last), 0);
		assert_int_equal(last.outcome,
				 sensors ? DEALBOX_LEDGER_DIFFERS : DEALBOX_LEDGER_EXACT);
		assert_int_equal(last.differences, sensors);
		world_end(&w);
	}
}

/* A shuffled pack is exact when each position fell where the law has it, whatever card it was. */
static void test_law(void **state)
{
	static const unsigned int counts[] = { 13, 13, 13, 13 };
	struct dealbox_plan plan;
	struct world w;
	unsigned int n, wrong;
	uint8_t deck[64];

	(void)state;
	for (wrong = 0; wrong < 2; wrong++) {
		world_begin(&w, JOB_BY_LAW(1 + DEALBOX_RULES_RUBBER, DEALBOX_ACTOR_EAST));
		begun(&w);
		assert_int_equal(dealbox_law_plan(DEALBOX_RULES_RUBBER, DEALBOX_ACTOR_EAST, 7,
						  &plan), 0);
		assert_memory_equal(&w.d.plan, &plan, sizeof(plan));
		for (n = 0; n < DEALBOX_CARDS; n++)
			card(n, (5 * n + 3) % DEALBOX_CARDS,
			     plan.pocket[wrong && (n == 8 || n == 9) ? 17 - n : n]);
		done(counts);
		dealing_read(&w.d, NULL);
		assert_int_equal(does(&w, STEP_JUDGE), wrong ? DID_DIFFERS : DID_EXACT);
		world_end(&w);
	}
	/* a deck that is counted is sorted */
	dealbox_pack_sorted(dealbox_pack_bridge(), deck);
	for (wrong = 0; wrong < 2; wrong++) {
		world_begin(&w, DEALBOX_JOB_BY_POSITION);
		begun(&w);
		for (n = 0; n < DEALBOX_CARDS; n++)
			card(n, wrong ? (5 * n + 3) % DEALBOX_CARDS : deck[n], w.d.plan.pocket[n]);
		done(counts);
		dealing_read(&w.d, NULL);
		assert_int_equal(does(&w, STEP_JUDGE), wrong ? DID_DIFFERS : DID_EXACT);
		world_end(&w);
	}
	/* West does not play */
	world_begin(&w, JOB_BY_LAW(1 + DEALBOX_RULES_PREFERANS, DEALBOX_ACTOR_WEST));
	assert_int_equal(does(&w, STEP_PLAN), DID_REFUSED);
	assert_non_null(strstr(said(&w), "board 1 cannot be planned"));
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_void),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_attest),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_first_board),
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_diagnosis),
		cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_counts_a_test),
		cmocka_unit_test(test_learns),
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_job_not_loaded),
		cmocka_unit_test(test_job_of_a_strange_ledger),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_last_is_recorded),
		cmocka_unit_test(test_recalled),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_ledger_doubts),
		cmocka_unit_test(test_by_position),
		cmocka_unit_test(test_sensors_that_saw_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
