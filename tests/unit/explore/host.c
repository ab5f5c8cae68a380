// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The library's calls of a machine and of a ledger end here (meson.build has the list): those of
 * the machine go through the real host core to the small world, those of the ledger into the
 * record.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "dealing/job-ledger.h"
#include "host.h"
#include "machine_wire.h"

/* Its struct is copied with everything else. */
#include "verdict/trace.c"

#define JOB	1

struct state now;

static struct dealing host;
static struct jobs jobs;
static struct job *only;
static struct dealbox_core core;
static const struct dealbox_error no_words;
/* Only their addresses matter. */
static char the_machine, the_ledger;

#define MACHINE	((struct dealbox_machine *)&the_machine)
#define LEDGER	((struct dealbox_ledger *)&the_ledger)

static void forbid(const char *what)
{
	if (!forbidden)
		forbidden = what;
}

/* ---- the host core ----------------------------------------------------------- */

static int send_gate(struct dealbox_core *unused, const struct wire_gate *gate)
{
	(void)unused;
	world_send_gate(&now.world, gate);
	return 0;
}

static void keep_event(struct dealbox_core *unused, const struct dealbox_event *e)
{
	(void)unused;
	/* nobody reads */
	if (!now.attached)
		return;
	if (now.arrivals == WIRE) {
		memmove(now.arrived, now.arrived + 1, (WIRE - 1) * sizeof(*now.arrived));
		now.arrivals--;
		now.arrived[0].flags |= 8;
	}
	now.arrived[now.arrivals++] = (struct told){
		.number = e->machine_seq, .code = e->code, .arg = { e->arg[0], e->arg[1] },
		.type = e->type, .insertion = e->insertion, .position = e->position,
		.card = e->card, .pocket = e->pocket, .quality = e->quality,
		.flags = (e->flags & 3) | (e->flags & DEALBOX_EVF_MACHINE_GAP ? 4 : 0),
	};
}

static struct dealbox_event event_of(const struct told *t, uint64_t seqno)
{
	return (struct dealbox_event){
		.timestamp_ns = 1, .seqno = seqno, .machine_seq = t->number, .code = t->code,
		.arg = { t->arg[0], t->arg[1] }, .type = t->type, .insertion = t->insertion,
		.position = t->position, .card = t->card, .pocket = t->pocket,
		.quality = t->quality,
		.flags = (t->flags & 3) | (t->flags & 4 ? DEALBOX_EVF_MACHINE_GAP : 0) |
			 (t->flags & 8 ? DEALBOX_EVF_GAP : 0),
	};
}

static const struct dealbox_core_ops core_ops = { .send_gate = send_gate, .event = keep_event };

/* One event of the wire. */
static void receive(void)
{
	struct world *w = &now.world;
	const struct told *t = &w->wire[0];
	const struct wire_event wire = {
		.type = t->type, .flags = t->flags, .number = t->number,
		.insertion = t->insertion,
		.position = t->position, .card = t->card, .pocket = t->pocket,
		.quality = t->quality,
		.code = t->code, .arg = { t->arg[0], t->arg[1] },
	};
	uint8_t bytes[WIRE_EVENT_SIZE];

	wire_event_put(bytes, &wire);
	memmove(w->wire, w->wire + 1, (WIRE - 1) * sizeof(*w->wire));
	memset(&w->wire[--w->on_wire], 0, sizeof(*w->wire));
	dealbox_core_receive(&core, bytes, sizeof(bytes), 1);
}

void host_arrive(void)
{
	unsigned int type;

	if (now.dead)
		return;
	while (now.world.on_wire) {
		type = now.world.wire[0].type;
		receive();
		if (type < DEALBOX_EV_CARD_READ || type > DEALBOX_EV_CARD_LANDED)
			break;
	}
}

static int run_call(struct dealbox_call *call)
{
	static uint8_t data[WIRE_DATA_MAX], bytes[FRAME_MAX];
	enum dealbox_action action;
	int result = 0;

	if (now.dead || !now.world.on)
		return -ENODEV;
	call->data = data;
	call->bytes = bytes;
	while ((action = dealbox_call_next(&core, call, result, 1)) != DEALBOX_DONE) {
		if (action == DEALBOX_CONTROL)
			result = world_control(&now.world, call->type, call->request, data,
					       call->length);
		else if (action == DEALBOX_SEND)
			result = world_bulk(&now.world, bytes, call->size);
		for (; action == DEALBOX_AWAIT && core.awaited != DEALBOX_AWAIT_NOTHING;
		     result = 0) {
			if (!now.world.on_wire) {
				result = -ETIMEDOUT;
				break;
			}
			receive();
		}
	}
	return call->error;
}

static int control(uint32_t op, uint32_t plan_id, uint32_t insertion)
{
	struct dealbox_control arg = { .op = op, .plan_id = plan_id, .insertion = insertion };
	struct dealbox_call call = { 0 };

	dealbox_call_ioctl(&call, DEALBOX_IOC_CONTROL, &arg);
	return run_call(&call);
}

/* ---- a machine, as the library calls it ----------------------------------------- */

int __wrap_dealbox_machine_get_status(struct dealbox_machine *m, struct dealbox_status *out);
int __wrap_dealbox_machine_set_plan(struct dealbox_machine *m, struct dealbox_plan *plan);
int __wrap_dealbox_machine_start(struct dealbox_machine *m, uint32_t plan, uint32_t insertion);
int __wrap_dealbox_machine_pause(struct dealbox_machine *m);
int __wrap_dealbox_machine_resume(struct dealbox_machine *m);
int __wrap_dealbox_machine_reread(struct dealbox_machine *m);
int __wrap_dealbox_machine_abort(struct dealbox_machine *m);
int __wrap_dealbox_machine_clear_fault(struct dealbox_machine *m);
int __wrap_dealbox_machine_release_board(struct dealbox_machine *m);
int __wrap_dealbox_machine_attest(struct dealbox_machine *m, uint32_t insertion,
				  const uint8_t *nonce);
int __wrap_dealbox_machine_get_attestation(struct dealbox_machine *m,
					   struct dealbox_attestation *out);
int __wrap_dealbox_machine_get_identity(struct dealbox_machine *m, struct dealbox_identity *out);
int __wrap_dealbox_machine_fd(const struct dealbox_machine *m);
void __wrap_dealbox_machine_close(struct dealbox_machine *m);
int __wrap_dealbox_machine_get_prompt(struct dealbox_machine *m, struct dealbox_prompt *hand);
int __wrap_dealbox_machine_count_from(struct dealbox_machine *m, uint32_t insertion);
ssize_t __wrap_dealbox_machine_read(struct dealbox_machine *m, struct dealbox_event *events,
				    size_t max);
const struct dealbox_error *__wrap_dealbox_machine_error(const struct dealbox_machine *m);
const char *__wrap_dealbox_machine_uri(const struct dealbox_machine *m);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);

int __wrap_dealbox_machine_get_status(struct dealbox_machine *m, struct dealbox_status *out)
{
	struct dealbox_call call = { 0 };

	(void)m;
	dealbox_call_ioctl(&call, DEALBOX_IOC_GET_STATUS, out);
	return run_call(&call);
}

int __wrap_dealbox_machine_set_plan(struct dealbox_machine *m, struct dealbox_plan *plan)
{
	struct dealbox_call call = { .patient = true };

	(void)m;
	now.record.plan_id = plan->plan_id;
	dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PLAN, plan);
	return run_call(&call);
}

int __wrap_dealbox_machine_start(struct dealbox_machine *m, uint32_t plan, uint32_t insertion)
{
	(void)m;
	return control(DEALBOX_OP_START, plan, insertion);
}

int __wrap_dealbox_machine_pause(struct dealbox_machine *m)
{
	(void)m;
	return control(DEALBOX_OP_PAUSE, 0, 0);
}

int __wrap_dealbox_machine_resume(struct dealbox_machine *m)
{
	(void)m;
	return control(DEALBOX_OP_RESUME, 0, 0);
}

int __wrap_dealbox_machine_reread(struct dealbox_machine *m)
{
	(void)m;
	return control(DEALBOX_OP_REREAD, 0, 0);
}

int __wrap_dealbox_machine_abort(struct dealbox_machine *m)
{
	(void)m;
	return control(DEALBOX_OP_ABORT, 0, 0);
}

int __wrap_dealbox_machine_clear_fault(struct dealbox_machine *m)
{
	(void)m;
	return control(DEALBOX_OP_CLEAR_FAULT, 0, 0);
}

int __wrap_dealbox_machine_release_board(struct dealbox_machine *m)
{
	(void)m;
	return control(DEALBOX_OP_RELEASE_BOARD, 0, 0);
}

/* Its machines have no key; see the stories of the engine. */
int __wrap_dealbox_machine_attest(struct dealbox_machine *m, uint32_t insertion,
				  const uint8_t *nonce)
{
	(void)m;
	(void)insertion;
	(void)nonce;
	return -EOPNOTSUPP;
}

int __wrap_dealbox_machine_get_attestation(struct dealbox_machine *m,
					   struct dealbox_attestation *out)
{
	(void)m;
	(void)out;
	return -EOPNOTSUPP;
}

int __wrap_dealbox_machine_get_identity(struct dealbox_machine *m, struct dealbox_identity *out)
{
	(void)m;
	(void)out;
	return -EOPNOTSUPP;
}

int __wrap_dealbox_machine_fd(const struct dealbox_machine *m)
{
	(void)m;
	return -1;
}

/* no person */
int __wrap_dealbox_machine_get_prompt(struct dealbox_machine *m, struct dealbox_prompt *hand)
{
	(void)m;
	(void)hand;
	return -EOPNOTSUPP;
}

int __wrap_dealbox_machine_count_from(struct dealbox_machine *m, uint32_t insertion)
{
	(void)m;
	(void)insertion;
	return -EOPNOTSUPP;
}

/* A deal that runs is paused. */
void __wrap_dealbox_machine_close(struct dealbox_machine *m)
{
	struct dealbox_call call = { 0 };

	if (!m)
		return;
	dealbox_call_pause(&call);
	run_call(&call);
	now.attached = false;
	now.dead = false;
	now.arrivals = 0;
	memset(now.arrived, 0, sizeof(now.arrived));
}

ssize_t __wrap_dealbox_machine_read(struct dealbox_machine *m, struct dealbox_event *events,
				    size_t max)
{
	unsigned int n, count = now.arrivals;

	(void)m;
	(void)max;
	for (n = 0; n < count; n++)
		events[n] = event_of(&now.arrived[n], core.source.seqno - count + n);
	now.arrivals = 0;
	memset(now.arrived, 0, sizeof(now.arrived));
	if (count)
		return count;
	return now.dead || !now.world.on ? -ENODEV : -EAGAIN;
}

const struct dealbox_error *__wrap_dealbox_machine_error(const struct dealbox_machine *m)
{
	(void)m;
	return &no_words;
}

/* Of the emulator, so that what is recorded for it is recorded here, too. */
const char *__wrap_dealbox_machine_uri(const struct dealbox_machine *m)
{
	(void)m;
	return "emu:world";
}

/* Events in flight arrive while a status waits for them, or later. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	(void)fds;
	(void)count;
	(void)ms;
	if (!now.late)
		host_arrive();
	return 0;
}

/* ---- a ledger -------------------------------------------------------------------- */

int __wrap_dealbox_ledger_begin(struct dealbox_ledger *l,
				struct dealbox_ledger_insertion *insertion);
int __wrap_dealbox_ledger_end(struct dealbox_ledger *l,
			      const struct dealbox_ledger_insertion *insertion,
			      const struct dealbox_event *events, size_t count);
int __wrap_dealbox_ledger_add_act(struct dealbox_ledger *l, const struct dealbox_ledger_act *act);
int __wrap_dealbox_ledger_add_attestation(struct dealbox_ledger *l, uint64_t insertion,
					  const struct dealbox_ledger_attestation *attestation);
int __wrap_dealbox_ledger_add_emulation(struct dealbox_ledger *l, uint64_t insertion);
int __wrap_dealbox_ledger_last(struct dealbox_ledger *l, const char *machine,
			       struct dealbox_ledger_insertion *last);
int __wrap_dealbox_ledger_counts(struct dealbox_ledger *l,
				 const struct dealbox_ledger_insertion *insertion);
int __wrap_dealbox_ledger_restored(struct dealbox_ledger *l, uint64_t *record);
int __wrap_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open_only,
				     int (*each)(const struct dealbox_ledger_insertion *insertion,
						 void *context), void *context);
int __wrap_dealbox_ledger_jobs(struct dealbox_ledger *l, uint64_t job,
			       int (*each)(const struct dealbox_ledger_job *job, void *context),
			       void *context);
int __wrap_dealbox_ledger_machines(struct dealbox_ledger *l, uint64_t job,
				   int (*each)(const char *machine, void *context), void *context);
int __wrap_dealbox_ledger_copies(struct dealbox_ledger *l, uint64_t job,
				 int (*each)(const struct dealbox_ledger_copy *copy, void *context),
				 void *context);
const struct dealbox_error *__wrap_dealbox_ledger_error(const struct dealbox_ledger *l);
int __wrap_job_plan(struct dealbox_ledger *l, const struct job *job, const struct copy *copy,
		    uint32_t id, struct dealbox_plan *plan);

static bool disk_full(void)
{
	bool full = now.full;

	now.full = false;
	return full;
}

static enum dealbox_ledger_copy_state recorded_state(unsigned int board)
{
	const struct entry *last = &now.record.last;

	if (last->id && last->board == board && last->outcome == DEALBOX_LEDGER_NONE)
		return DEALBOX_LEDGER_COPY_DEALING;
	return now.record.exact[board].id ? DEALBOX_LEDGER_COPY_RECORDED : DEALBOX_LEDGER_COPY_OPEN;
}

/* As lib/ledger/records.c refuses it. Numbers of insertions only rise, so the last one tells. */
int __wrap_dealbox_ledger_begin(struct dealbox_ledger *l,
				struct dealbox_ledger_insertion *insertion)
{
	const unsigned int board = insertion->board;
	struct entry *last = &now.record.last;

	(void)l;
	if (disk_full())
		return -ENOSPC;
	if (last->id && last->number == insertion->number)
		return -EALREADY;
	if (recorded_state(board) == DEALBOX_LEDGER_COPY_DEALING)
		return -EINPROGRESS;
	if (recorded_state(board) == DEALBOX_LEDGER_COPY_RECORDED)
		return -EEXIST;
	if (last->id && last->outcome == DEALBOX_LEDGER_NONE)
		forbid("an insertion is begun before the one before has its verdict");
	*last = (struct entry){
		.id = ++now.record.count, .number = insertion->number, .board = board,
	};
	insertion->id = last->id;
	return 0;
}

int __wrap_dealbox_ledger_end(struct dealbox_ledger *l,
			      const struct dealbox_ledger_insertion *insertion,
			      const struct dealbox_event *events, size_t count)
{
	struct entry *last = &now.record.last;

	(void)l;
	(void)events;
	(void)count;
	if (disk_full())
		return -ENOSPC;
	if (last->id != insertion->id || last->outcome != DEALBOX_LEDGER_NONE)
		forbid("a verdict is recorded for another insertion, or twice");
	last->outcome = insertion->outcome;
	if (last->outcome == DEALBOX_LEDGER_EXACT) {
		if (now.record.exact[last->board].id)
			forbid("a board counts twice");
		now.record.exact[last->board] = *last;
	}
	return 0;
}

int __wrap_dealbox_ledger_add_attestation(struct dealbox_ledger *l, uint64_t insertion,
					  const struct dealbox_ledger_attestation *attestation)
{
	(void)l;
	(void)insertion;
	(void)attestation;
	return 0;
}

int __wrap_dealbox_ledger_add_emulation(struct dealbox_ledger *l, uint64_t insertion)
{
	(void)l;
	(void)insertion;
	return 0;
}

int __wrap_dealbox_ledger_add_act(struct dealbox_ledger *l, const struct dealbox_ledger_act *act)
{
	(void)l;
	if (disk_full())
		return -ENOSPC;
	if (act->act == DEALBOX_ACT_REDEAL) {
		if (now.record.last.id == now.record.exact[act->board].id)
			now.record.last.undone = true;
		now.record.exact[act->board] = (struct entry){ 0 };
	}
	return 0;
}

static struct dealbox_ledger_insertion insertion_of(const struct entry *entry)
{
	return (struct dealbox_ledger_insertion){
		.id = entry->id, .job = JOB, .board = entry->board, .copy = 1,
		.number = entry->number,
		.outcome = entry->outcome,
	};
}

int __wrap_dealbox_ledger_last(struct dealbox_ledger *l, const char *machine,
			       struct dealbox_ledger_insertion *last)
{
	(void)l;
	(void)machine;
	*last = insertion_of(&now.record.last);
	return last->id ? 0 : -ENOENT;
}

int __wrap_dealbox_ledger_counts(struct dealbox_ledger *l,
				 const struct dealbox_ledger_insertion *insertion)
{
	(void)l;
	return recorded_state(insertion->board) == DEALBOX_LEDGER_COPY_RECORDED &&
	       insertion->id == now.record.exact[insertion->board].id;
}

int __wrap_dealbox_ledger_restored(struct dealbox_ledger *l, uint64_t *record)
{
	(void)l;
	*record = 0;
	return 0;
}

int __wrap_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open_only,
				     int (*each)(const struct dealbox_ledger_insertion *insertion,
						 void *context), void *context)
{
	const struct dealbox_ledger_insertion last = insertion_of(&now.record.last);

	(void)l;
	(void)job;
	(void)open_only;
	return last.id && last.outcome == DEALBOX_LEDGER_NONE ? each(&last, context) : 0;
}

int __wrap_dealbox_ledger_jobs(struct dealbox_ledger *l, uint64_t number,
			       int (*each)(const struct dealbox_ledger_job *job, void *context),
			       void *context)
{
	const struct dealbox_ledger_job record = {
		.job = JOB, .set = 1, .boards = BOARDS, .copies = 1,
	};

	(void)l;
	(void)number;
	return each(&record, context);
}

/* The job is kept to no machine. */
int __wrap_dealbox_ledger_machines(struct dealbox_ledger *l, uint64_t job,
				   int (*each)(const char *machine, void *context), void *context)
{
	(void)l;
	(void)job;
	(void)each;
	(void)context;
	return 0;
}

int __wrap_dealbox_ledger_copies(struct dealbox_ledger *l, uint64_t number,
				 int (*each)(const struct dealbox_ledger_copy *copy, void *context),
				 void *context)
{
	struct dealbox_ledger_copy copy = { .copy = 1 };
	int err = 0;

	(void)l;
	(void)number;
	for (copy.board = 1; !err && copy.board <= BOARDS; copy.board++) {
		copy.state = recorded_state(copy.board);
		if (copy.state != DEALBOX_LEDGER_COPY_OPEN)
			err = each(&copy, context);
	}
	return err;
}

const struct dealbox_error *__wrap_dealbox_ledger_error(const struct dealbox_ledger *l)
{
	(void)l;
	return &no_words;
}

/* Only the number of cards is another one than that of bridge. */
int __wrap_job_plan(struct dealbox_ledger *l, const struct job *unused, const struct copy *copy,
		    uint32_t id, struct dealbox_plan *plan)
{
	(void)l;
	(void)unused;
	*plan = (struct dealbox_plan){
		.plan_id = id, .entries = CARDS,
		.mode = now.options & DEALBOX_JOB_BY_POSITION ? DEALBOX_PLAN_BY_POSITION :
			DEALBOX_PLAN_BY_CARD,
	};
	/* the deck is in the order of the cards */
	memcpy(plan->pocket, planned[copy->board], CARDS);
	return 0;
}

/* Advice for a person, which changes nothing. */
void __wrap_dealbox_confusion_reader(struct dealbox_confusion *confusion, unsigned int reader);
size_t __wrap_dealbox_confusion_learn(struct dealbox_confusion *confusion,
				      const struct dealbox_trace *trace);
int __wrap_dealbox_diagnose_repeat(const struct dealbox_trace *trace,
				   const struct dealbox_pack *pack,
				   const struct dealbox_confusion *confusion,
				   const uint8_t *pockets, struct dealbox_diagnosis *out);

void __wrap_dealbox_confusion_reader(struct dealbox_confusion *confusion, unsigned int reader)
{
	(void)confusion;
	(void)reader;
}

size_t __wrap_dealbox_confusion_learn(struct dealbox_confusion *confusion,
				      const struct dealbox_trace *trace)
{
	(void)confusion;
	(void)trace;
	return 0;
}

int __wrap_dealbox_diagnose_repeat(const struct dealbox_trace *trace,
				   const struct dealbox_pack *pack,
				   const struct dealbox_confusion *confusion,
				   const uint8_t *pockets, struct dealbox_diagnosis *out)
{
	(void)trace;
	(void)pack;
	(void)confusion;
	(void)pockets;
	memset(out, 0, sizeof(*out));
	return -ENOENT;
}

static void say(struct dealing *dealing, enum dealing_message message, const struct copy *copy,
		const char *text)
{
	(void)dealing;
	(void)message;
	(void)copy;
	(void)text;
}

static void judged(struct dealing *dealing, const struct copy *copy, uint32_t insertion, bool exact,
		   const struct dealbox_operator_verdict *verdict)
{
	(void)dealing;
	(void)copy;
	(void)insertion;
	(void)verdict;
	if (exact != (now.record.last.outcome == DEALBOX_LEDGER_EXACT && !now.record.last.undone))
		forbid("what is told of a board is not what is recorded");
}

static const struct dealing_listener listener = { .say = say, .judged = judged };

/* ---- the program ------------------------------------------------------------------- */

/* The next step, if there is one: lib/dealing/dealing.c, work(). */
static void peek(void)
{
	now.stepping = engine_next(&host.engine, &jobs, &host.engine, &now.step);
	if (!now.stepping && !host.engine.plugged && now.attached) {
		dealing_detach(&host);
		now.stepping = engine_next(&host.engine, &jobs, &host.engine, &now.step);
	}
	if (!now.stepping)
		now.step = (struct step){ 0 };
}

void host_attach(void)
{
	struct dealbox_call call = { 0 };
	struct dealbox_info info;

	/* without a driver the program configures the machine, and knows nothing of before */
	if (!now.module) {
		world_configure(&now.world, DEALBOX_LOST_RESET);
		core.source = (struct event_source){ 0 };
		memset(&core.router, 0, sizeof(core.router));
		core.gates = 0;
	} else {
		/* the driver has read what was told before; a new file sees what comes */
		while (now.world.on_wire && !now.dead)
			receive();
	}
	now.attached = true;
	dealbox_call_greet(&call);
	if (run_call(&call)) {
		now.attached = false;
		return;
	}
	dealbox_abi_info(&core.machine, &core.info, "SN", 64, &info);
	dealing_attach(&host, MACHINE, &info);
	peek();
}

void host_boot(void)
{
	unsigned int board, settled;

	now.runs = true;
	dealbox_trace_free(host.trace);
	dealbox_trace_free(host.kept);
	memset(&host, 0, sizeof(host));
	host.listener = &listener;
	ledger_settle(LEDGER, &settled);
	for (board = 1; board <= BOARDS; board++)
		job_set_state(only, board, 1, DEALBOX_LEDGER_COPY_OPEN);
	only->repeat = false;
	only->options = now.options;
	job_refresh(LEDGER, &jobs, only);
	dealing_init(&host, "SN", LEDGER, &jobs, NULL);
	host.plan_id = now.record.plan_id;
	if (now.world.on)
		host_attach();
	else
		peek();
}

void host_kill(void)
{
	struct dealbox_call call = { 0 };

	/* the driver sees that its owner has gone */
	if (now.module && now.attached) {
		dealbox_call_pause(&call);
		run_call(&call);
	}
	dealbox_trace_free(host.trace);
	dealbox_trace_free(host.kept);
	memset(&host, 0, sizeof(host));
	now.runs = now.attached = now.dead = now.stepping = false;
	now.step = (struct step){ 0 };
	now.arrivals = 0;
	memset(now.arrived, 0, sizeof(now.arrived));
	now.late = now.full = false;
	now.world.transfers = TRANSFERS_GOOD;
}

void host_gate_done(int status)
{
	/* the program may have gone without waiting for it */
	if (core.gates)
		dealbox_core_gate_done(&core, status);
}

void host_new_core(void)
{
	now.source = (struct event_source){ 0 };
	now.route = (struct route){ 0 };
}

void host_read(void)
{
	if (now.attached && dealing_read(&host, NULL) < 0)
		dealing_detach(&host);
	peek();
}

void host_step(void)
{
	struct step step = now.step;
	enum did did = dealing_do(&host, &step);

	now.world.transfers = TRANSFERS_GOOD;
	now.late = now.full = false;
	engine_did(&host.engine, &jobs, &step, did);
	peek();
}

void host_push(enum push push)
{
	engine_push(&host.engine, push);
	peek();
}

void host_look(void)
{
	engine_look(&host.engine);
	peek();
}

void host_settled(void)
{
	engine_settled(&host.engine);
	peek();
}

enum dealbox_operator_state host_shows(void)
{
	return engine_state(&now.engine);
}

/* ---- copies of all that --------------------------------------------------------------- */

/* All traces that there ever were, as a tree: what two have in common is there once. */
struct node {
	uint32_t parent;
	struct told event;
};

static struct node *nodes;
static uint32_t node_count = 1, node_room;
static uint32_t *node_table, node_slots;

static uint32_t node_hash(uint32_t parent, const struct told *event)
{
	const unsigned char *byte = (const void *)event;
	uint64_t hash = parent * 0x9e3779b97f4a7c15u;
	size_t n;

	for (n = 0; n < sizeof(*event); n++)
		hash = (hash ^ byte[n]) * 0x100000001b3u;
	return hash >> 20;
}

static void grow_nodes(void)
{
	uint32_t n, at;

	node_room = node_room ? node_room * 2 : 1 << 14;
	nodes = realloc(nodes, node_room * sizeof(*nodes));
	node_slots = node_room * 2;
	free(node_table);
	node_table = calloc(node_slots, sizeof(*node_table));
	if (!nodes || !node_table)
		abort();
	for (n = 1; n < node_count; n++) {
		for (at = node_hash(nodes[n].parent, &nodes[n].event) % node_slots; node_table[at];
		     at = (at + 1) % node_slots)
			;
		node_table[at] = n;
	}
}

static uint32_t node_child(uint32_t parent, const struct told *event)
{
	uint32_t at;

	if (node_count + 1 >= node_room)
		grow_nodes();
	for (at = node_hash(parent, event) % node_slots; node_table[at]; at = (at + 1) % node_slots)
		if (nodes[node_table[at]].parent == parent &&
		    !memcmp(&nodes[node_table[at]].event, event, sizeof(*event)))
			return node_table[at];
	nodes[node_count] = (struct node){ parent, *event };
	return node_table[at] = node_count++;
}

static bool names_plan(unsigned int type)
{
	return type == DEALBOX_EV_DEAL_STARTED || type == DEALBOX_EV_DEAL_DONE ||
	       type == DEALBOX_EV_ABORTED || type == DEALBOX_EV_PLAN_LOADED;
}

/* Numbers that only rise are told from that of the trace: else nothing would ever come again. */
static void save_trace(const struct dealbox_trace *trace, struct kept_trace *kept)
{
	size_t n;

	memset(kept, 0, sizeof(*kept));
	if (!trace)
		return;
	kept->node = 1;
	for (n = 0; n < trace->count; n++) {
		const struct dealbox_event *e = &trace->events[n];
		struct told told = {
			.code = names_plan(e->type) ? host.plan.plan_id == e->code : e->code,
			.arg = { e->arg[0], e->arg[1] }, .type = e->type,
			.insertion = e->insertion - trace->insertion, .position = e->position,
			.card = e->card, .pocket = e->pocket, .quality = e->quality,
			.flags = e->flags & 3,
		};

		kept->node = node_child(kept->node, &told);
	}
	kept->insertion = trace->insertion;
	kept->gap = trace->gap;
	kept->lost = trace->lost;
	kept->seen = trace->seen;
	kept->seqno = trace->seqno;
	kept->number = trace->machine_seq;
}

static struct dealbox_trace *restore_trace(const struct kept_trace *kept)
{
	struct dealbox_trace *trace;
	uint32_t node;
	size_t n = 0;

	if (!kept->node)
		return NULL;
	trace = dealbox_trace_new(kept->insertion);
	for (node = kept->node; node != 1; node = nodes[node].parent)
		n++;
	trace->count = n;
	trace->room = n + 8;
	/* all that is read of it is set */
	trace->events = malloc(trace->room * sizeof(*trace->events));
	for (node = kept->node; node != 1; node = nodes[node].parent) {
		struct told told = nodes[node].event;

		if (names_plan(told.type))
			told.code = told.code ? host.plan.plan_id : 0xfffffff0;
		told.insertion += kept->insertion;
		trace->events[--n] = event_of(&told, 0);
	}
	trace->gap = kept->gap;
	trace->lost = kept->lost;
	trace->seen = kept->seen;
	trace->seqno = kept->seqno;
	trace->machine_seq = kept->number;
	return trace;
}

void host_init(void)
{
	static const unsigned int boards[BOARDS] = { 1, 2 };
	const struct told none = { 0 };
	unsigned int board;

	only = jobs_add(&jobs, JOB, 1, boards, BOARDS, 1, 0, 0);
	for (board = 1; board <= BOARDS; board++)
		job_set_state(only, board, 1, DEALBOX_LEDGER_COPY_OPEN);
	core.ops = &core_ops;
	core.dialect = &dealbox_native;
	core.transfer_size = 64;
	core.source.pockets = POCKETS;
	/* node 1 is the trace without events */
	node_child(0, &none);
}

static void restore_route(const struct route *route)
{
	struct router *router = &core.router;

	*router = (struct router){
		.plan.plan_id = route->plan_id, .plan.mode = route->mode,
		.plan.entries = route->entries,
		.insertion = route->insertion,
	};
	memcpy(router->plan.pocket, route->pocket, CARDS);
	dealbox_count_plan(&router->plan);
	memset(router->card_at, DEALBOX_NONE, sizeof(router->card_at));
	memcpy(router->card_at, route->card_at, CARDS);
	core.gates = route->gates;
}

static void save_route(struct route *route)
{
	const struct router *router = &core.router;

	*route = (struct route){
		.plan_id = router->plan.plan_id, .mode = router->plan.mode,
		.entries = router->plan.entries, .insertion = router->insertion,
		.gates = core.gates,
	};
	memcpy(route->pocket, router->plan.pocket, CARDS);
	memcpy(route->card_at, router->card_at, CARDS);
}

void host_restore(void)
{
	unsigned int board;

	dealbox_trace_free(host.trace);
	dealbox_trace_free(host.kept);
	host.listener = &listener;
	host.ledger = LEDGER;
	host.jobs = &jobs;
	host.machine = now.attached ? MACHINE : NULL;
	host.fresh = now.fresh;
	host.engine = now.engine;
	host.plan_id = now.plan_id;
	host.plan = now.plan;
	host.insertion = now.insertion;
	host.suspect = false;
	host.trace = restore_trace(&now.trace);
	host.kept = restore_trace(&now.kept);
	core.machine = world_machines[now.world.kind];
	core.routed = now.world.kind == KIND_ROUTED;
	core.sequence = now.sequence;
	core.source = now.source;
	restore_route(&now.route);
	core.awaited = DEALBOX_AWAIT_NOTHING;
	for (board = 1; board <= BOARDS; board++)
		only->states[board - 1].state[0] = now.copies[board];
	only->repeat = now.by_repeat;
	only->options = now.options;
}

void host_save(void)
{
	unsigned int board;

	now.fresh = host.fresh;
	now.engine = host.engine;
	/* whether it began, and not when */
	now.engine.begun = !!host.engine.begun;
	now.engine.pace = now.engine.best = 0;
	now.engine.paced = 0;
	now.plan_id = host.plan_id;
	now.plan = host.plan;
	now.insertion = host.insertion;
	save_trace(host.trace, &now.trace);
	save_trace(host.kept, &now.kept);
	now.sequence = core.sequence;
	now.source = core.source;
	save_route(&now.route);
	for (board = 1; board <= BOARDS; board++)
		now.copies[board] = only->states[board - 1].state[0];
	now.by_repeat = only->repeat;
}
