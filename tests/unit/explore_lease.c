// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walks every order of what can happen to a small event: two PCs with the real rules of
 * lib/pool/lease.c, the rules of the server (event_model.c), and three copies. Messages and answers
 * are lost, or late; PCs are killed and restarted; operators doubt boards; somebody declares PCs
 * lost. Breadth first, so that the first failure is the shortest.
 *
 * usage: explore_lease [STATES of each walk]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_model.h"
#include "pool/lease.h"

#define STATES		40000	/* of each walk; with fewer, not everything happens */
#define PCS		2
#define COPIES		3
#define INSERTIONS	4
#define LEASE		2
#define MARGIN		1

enum outcome { RUNNING, EXACT, VOID, UNKNOWN };

/* A lease as bytes, for comparing. Copies are bits. */
struct small_lease {
	uint8_t asked, request, nonce, want, until, boot, lost, held, given;
};

/* The ledger of a PC: insertion n has the number n + 1. */
struct insertion {
	uint8_t copy, outcome, doubted;
	uint8_t reported, withdrawn;	/* the answer arrived */
};

struct message {
	uint8_t request, number, nonce, want, given;	/* request 0: none */
};

struct world {
	struct model server;
	struct small_lease lease[PCS];
	struct pc {
		uint8_t count, running;		/* running: the last insertion */
		struct insertion insertion[INSERTIONS];
		uint8_t boot, booted;		/* and when: its clock begins at 0 */
		struct message late;		/* still on its way */
	} pc[PCS];
	/* what has gone wrong so far */
	uint8_t faults, kills, doubts, losses;
	uint8_t gave[PCS];		/* copies that it has given back */
};

/* How much may go wrong, and for how long */
struct limits {
	const char *name;
	uint8_t copies, ticks, faults, kills, doubts, losses, insertions, asks;
	unsigned int meets;
};

static const struct limits *limits;
static const char *failure;

/* Each must happen somewhere on the walk. A walk that never meets them would prove little. */
static const struct {
	unsigned int bit;
	const char *words;
} meetings[] = {
#define MET_REPEAT	1U
	{ MET_REPEAT, "a request is answered the second time" },
#define MET_LATE	2U
	{ MET_LATE, "a message arrives behind a later one" },
#define MET_LOST	4U
	{ MET_LOST, "a PC hears that it was lost" },
#define MET_SURPLUS	8U
	{ MET_SURPLUS, "a lost PC reports a surplus board" },
#define MET_COUNTS	16U
	{ MET_COUNTS, "a board of a lost PC counts" },
#define MET_REGAINED	32U
	{ MET_REGAINED, "a doubted board is dealt again" },
#define MET_MOVED	64U
	{ MET_MOVED, "a copy that was given back goes to the other PC" },
};

static unsigned int met;

#define CHECK(condition) do { if (!(condition) && !failure) failure = #condition; } while (0)

/* ---- the real lease, from and to bytes ---------------------------------- */

static struct lease_copy copy_of(unsigned int n)
{
	return (struct lease_copy) { 1, 1, n + 1 };
}

static struct lease_time time_of(const struct world *w, unsigned int pc)
{
	struct lease_time now = { .ms = w->server.now - w->pc[pc].booted };

	snprintf(now.boot, sizeof(now.boot), "b%u", w->pc[pc].boot);
	return now;
}

static size_t list_of(unsigned int bits, struct lease_copy list[COPIES])
{
	size_t count = 0;

	for (unsigned int n = 0; n < COPIES; n++)
		if (bits >> n & 1)
			list[count++] = copy_of(n);
	return count;
}

static unsigned int bits_of(const struct lease_copy *list, size_t count)
{
	unsigned int bits = 0;

	for (size_t n = 0; n < count; n++) {
		CHECK(!(bits >> (list[n].copy - 1) & 1));
		bits |= 1U << (list[n].copy - 1);
	}
	return bits;
}

static void unpack(const struct small_lease *s, struct lease *lease)
{
	*lease = (struct lease){
		.asked = s->asked, .request = s->request, .want = s->want, .lost = s->lost
	};
	lease->held = malloc(COPIES * sizeof(*lease->held));
	lease->given = malloc(COPIES * sizeof(*lease->given));
	if (!lease->held || !lease->given)
		abort();
	lease->held_count = list_of(s->held, lease->held);
	lease->given_count = list_of(s->given, lease->given);
	if (s->request)
		snprintf(lease->nonce, sizeof(lease->nonce), "%u", s->nonce);
	if (s->boot) {
		lease->until.ms = s->until;
		snprintf(lease->until.boot, sizeof(lease->until.boot), "b%u", s->boot);
	}
}

static void pack(struct lease *lease, struct small_lease *s)
{
	*s = (struct small_lease){
		.asked = lease->asked,
		.request = lease->request,
		.nonce = atoi(lease->nonce),
		.want = lease->want,
		.until = *lease->until.boot ? lease->until.ms : 0,
		.boot = *lease->until.boot ? atoi(lease->until.boot + 1) : 0,
		.lost = lease->lost,
		.held = bits_of(lease->held, lease->held_count),
		.given = bits_of(lease->given, lease->given_count),
	};
	lease_clear(lease);
}

/* ---- actions: each returns false if it cannot happen now ---------------- */

static bool ask(struct world *w, unsigned int pc, enum lease_request request, unsigned int want,
		unsigned int give)
{
	struct lease_copy list[COPIES];
	size_t count = list_of(give, list);
	char nonce[LEASE_ID];
	struct lease lease;
	int err;

	if (w->lease[pc].asked >= limits->asks)
		return false;
	unpack(&w->lease[pc], &lease);
	/* both PCs draw random numbers, which never meet */
	snprintf(nonce, sizeof(nonce), "%u", 100 * (pc + 1) + w->lease[pc].asked);
	err = lease_ask(&lease, request, want, list, count, nonce);
	pack(&lease, &w->lease[pc]);
	if (!err)
		w->gave[pc] |= give;
	return !err;
}

/* The server gets a message; the lease gets the answer, if it is not NULL. */
static void serve(struct world *w, unsigned int pc, const struct message *m, struct lease *lease,
		  const struct lease_time *sent, bool late_answer)
{
	struct lease_copy list[COPIES];
	enum model_answer answer = MODEL_OK;
	unsigned int got = 0, copy;

	if (lease && m->number == w->server.pc[pc].asked)
		met |= MET_REPEAT;
	if (!lease && m->number < w->server.pc[pc].asked)
		met |= MET_LATE;
	switch (m->request) {
	case LEASE_TAKE:
		answer = model_take(&w->server, pc, m->number, m->nonce, m->want, &got);
		break;
	case LEASE_GIVE_BACK:
		answer = model_give_back(&w->server, pc, m->number, m->nonce, m->given);
		break;
	case LEASE_BACK:
		answer = model_back(&w->server, pc, m->number, m->nonce);
		break;
	}
	if (late_answer)
		w->server.now++;
	if (!lease)
		return;
	/* no honest PC is taken for another, or for one of a restored server */
	CHECK(answer == MODEL_OK || answer == MODEL_LOST);
	if (answer == MODEL_LOST)
		met |= MET_LOST;
	for (copy = 0; copy < COPIES; copy++)
		if (got >> copy & 1 && w->gave[!pc] >> copy & 1)
			met |= MET_MOVED;
	if (m->request == LEASE_TAKE)
		lease_answer_take(lease, sent, answer == MODEL_LOST ? 0 : LEASE, list,
				  list_of(got, list));
	else
		lease_answer(lease, answer == MODEL_LOST);
}

enum way { PROMPT, SLOW, ANSWER_LOST, LATE, WAYS };

static bool send(struct world *w, unsigned int pc, enum way way)
{
	const struct small_lease *s = &w->lease[pc];
	const struct message m = { s->request, s->asked, s->nonce, s->want, s->given };
	struct lease_time sent = time_of(w, pc);
	struct lease lease;

	if (!s->request)
		return false;
	if (way == SLOW && w->server.now == limits->ticks)
		return false;
	if (way >= ANSWER_LOST && w->faults++ == limits->faults)
		return false;
	if (way == LATE) {
		if (w->pc[pc].late.request)
			return false;
		w->pc[pc].late = m;
		return true;
	}
	unpack(s, &lease);
	serve(w, pc, &m, way == ANSWER_LOST ? NULL : &lease, &sent, way == SLOW);
	pack(&lease, &w->lease[pc]);
	return true;
}

/* A message that was given up arrives after all; nobody hears the answer. */
static bool arrive(struct world *w, unsigned int pc)
{
	struct message m = w->pc[pc].late;

	if (!m.request)
		return false;
	w->pc[pc].late = (struct message) { 0 };
	serve(w, pc, &m, NULL, NULL, false);
	return true;
}

static bool begin(struct world *w, unsigned int pc, unsigned int copy)
{
	struct pc *p = &w->pc[pc];
	const struct lease_time now = time_of(w, pc);
	const struct lease_copy wanted = copy_of(copy);
	struct lease lease;
	bool may;

	if (p->running || p->count == limits->insertions)
		return false;
	unpack(&w->lease[pc], &lease);
	may = lease_may_begin(&lease, &wanted, &now);
	pack(&lease, &w->lease[pc]);
	if (!may)
		return false;
	/* the server knows who has it, and for how long */
	CHECK(w->server.copy[copy].pc == (int)pc);
	CHECK(w->server.now < w->server.pc[pc].until);
	p->insertion[p->count++] = (struct insertion) { .copy = copy, .outcome = RUNNING };
	p->running = true;
	return true;
}

static bool end(struct world *w, unsigned int pc, enum outcome outcome)
{
	struct pc *p = &w->pc[pc];
	unsigned int n;
	struct insertion *i;
	struct lease_copy done;
	struct lease lease;

	if (!p->running)
		return false;
	i = &p->insertion[p->count - 1];
	i->outcome = outcome;
	p->running = false;
	if (outcome == EXACT) {
		for (n = 0; n + 1U < p->count; n++)
			if (p->insertion[n].doubted && p->insertion[n].copy == i->copy)
				met |= MET_REGAINED;
		unpack(&w->lease[pc], &lease);
		done = copy_of(i->copy);
		lease_recorded(&lease, &done);
		pack(&lease, &w->lease[pc]);
	}
	return true;
}

/* Report the ledger's boards that the server does not know yet, the oldest first. */
static bool report(struct world *w, unsigned int pc, bool heard)
{
	struct pc *p = &w->pc[pc];
	enum model_standing standing;
	struct lease_copy again;
	struct insertion *i;
	struct lease lease;
	bool holds;
	unsigned int n;

	if (!heard && w->faults++ == limits->faults)
		return false;
	for (n = 0; n < p->count; n++) {
		i = &p->insertion[n];
		if (i->outcome == RUNNING)
			continue;
		if (!i->reported) {
			CHECK(model_report(&w->server, pc, n + 1, i->copy, i->outcome == EXACT,
					   &standing) == MODEL_OK);
			i->reported = heard;
			if (standing == MODEL_SURPLUS)
				met |= MET_SURPLUS;
			if (standing == MODEL_COUNTS && w->server.pc[pc].lost)
				met |= MET_COUNTS;
			return true;
		}
		if (i->doubted && !i->withdrawn) {
			CHECK(model_withdraw(&w->server, pc, n + 1, &holds) == MODEL_OK);
			i->withdrawn = heard;
			if (heard && holds) {
				unpack(&w->lease[pc], &lease);
				again = copy_of(i->copy);
				CHECK(lease_regain(&lease, &again) == 0);
				pack(&lease, &w->lease[pc]);
			}
			return true;
		}
	}
	return false;
}

/* The operator doubts an exact board. */
static bool doubt(struct world *w, unsigned int pc, unsigned int n)
{
	struct insertion *i = &w->pc[pc].insertion[n];

	if (n >= w->pc[pc].count || i->outcome != EXACT || i->doubted ||
	    w->doubts++ == limits->doubts)
		return false;
	i->doubted = true;
	return true;
}

static bool kill_pc(struct world *w, unsigned int pc, bool restart)
{
	if (w->kills++ == limits->kills)
		return false;
	end(w, pc, UNKNOWN);
	if (restart) {
		w->pc[pc].boot++;
		w->pc[pc].booted = w->server.now;
	}
	return true;
}

static bool lose(struct world *w, unsigned int pc)
{
	unsigned int opened;

	return w->losses++ < limits->losses && model_lose(&w->server, pc, &opened) == MODEL_OK;
}

static bool tick(struct world *w)
{
	return w->server.now++ < limits->ticks;
}

#define ACTIONS_PC	(5 + WAYS + 1 + COPIES + 2 + 2 + INSERTIONS + 2 + 1 + COPIES)

static bool act_pc(struct world *w, unsigned int pc, unsigned int n, char what[64])
{
#define ACTION(words, call)                                         \
	do {                                                        \
		if (!n--) {                                         \
			snprintf(what, 64, "PC %u: %s", pc, words); \
			return call;                                \
		}                                                   \
	} while (0)
	static const char *const ways[] = { "sends", "sends, and the answer is slow",
		"sends, and the answer is lost", "sends, and it will be late" };
	char words[40];

	ACTION("asks for one copy", ask(w, pc, LEASE_TAKE, 1, 0));
	ACTION("asks for two copies", ask(w, pc, LEASE_TAKE, 2, 0));
	ACTION("asks for a longer lease", ask(w, pc, LEASE_TAKE, 0, 0));
	ACTION("says that it is back", ask(w, pc, LEASE_BACK, 0, 0));
	ACTION("gives all back", !w->pc[pc].running && w->lease[pc].held &&
	       ask(w, pc, LEASE_GIVE_BACK, 0, w->lease[pc].held));
	for (unsigned int way = 0; way < WAYS; way++)
		ACTION(ways[way], send(w, pc, way));
	ACTION("a late message arrives", arrive(w, pc));
	for (unsigned int copy = 0; copy < COPIES; copy++) {
		snprintf(words, sizeof(words), "begins copy %u", copy);
		ACTION(words, begin(w, pc, copy));
	}
	ACTION("ends exact", end(w, pc, EXACT));
	ACTION("ends void", end(w, pc, VOID));
	ACTION("reports", report(w, pc, true));
	ACTION("reports, and the answer is lost", report(w, pc, false));
	for (unsigned int i = 0; i < INSERTIONS; i++) {
		snprintf(words, sizeof(words), "insertion %u is doubted", i + 1);
		ACTION(words, doubt(w, pc, i));
	}
	ACTION("the program is killed", kill_pc(w, pc, false));
	ACTION("restarts", kill_pc(w, pc, true));
	ACTION("is declared lost", lose(w, pc));
	for (unsigned int copy = 0; copy < COPIES; copy++) {
		snprintf(words, sizeof(words), "gives copy %u back", copy);
		ACTION(words, w->lease[pc].held >> copy & 1 &&
				      !(w->pc[pc].running &&
					w->pc[pc].insertion[w->pc[pc].count - 1].copy == copy) &&
				      ask(w, pc, LEASE_GIVE_BACK, 0, 1U << copy));
	}
	return false;
#undef ACTION
}

#define ACTIONS		(1 + PCS * ACTIONS_PC)

static bool act(struct world *w, unsigned int n, char what[64])
{
	if (!n) {
		snprintf(what, 64, "time goes on");
		return tick(w);
	}
	return act_pc(w, (n - 1) / ACTIONS_PC, (n - 1) % ACTIONS_PC, what);
}

/* ---- what must hold ----------------------------------------------------- */

static unsigned int boards_of(const struct world *w, unsigned int copy)
{
	unsigned int count = 0;

	for (unsigned int pc = 0; pc < PCS; pc++)
		for (unsigned int n = 0; n < w->pc[pc].count; n++)
			count += w->pc[pc].insertion[n].copy == copy &&
				 w->pc[pc].insertion[n].outcome == EXACT &&
				 !w->pc[pc].insertion[n].doubted;
	return count;
}

static void check(const struct world *w)
{
	for (unsigned int copy = 0; copy < COPIES; copy++) {
		CHECK(model_count(&w->server, copy, MODEL_COUNTS) <= 1);
		/* nothing is dealt twice, unless somebody has said that a PC was lost */
		CHECK(boards_of(w, copy) <= 1U + w->losses);
		CHECK(!w->losses ? !model_count(&w->server, copy, MODEL_SURPLUS) : true);
	}
}

/* Nothing goes wrong any more: every copy gets its board, and every board is accounted for. */
static void finish(struct world w)
{
	static const struct limits none = { "", COPIES, 255, 255, 255, 255, 0, INSERTIONS, 255 };
	const struct limits *before = limits;
	const unsigned int met_before = met;
	unsigned int pc, copy, round, open = 1;

	limits = &none;
	for (round = 0; round < 40 && open; round++) {
		for (pc = 0; pc < PCS; pc++) {
			/* room for what is dealt now: old insertions are known to the server */
			send(&w, pc, PROMPT);
			end(&w, pc, EXACT);
			while (report(&w, pc, true))
				;
			if (w.lease[pc].lost)
				ask(&w, pc, LEASE_BACK, 0, 0);
			else
				ask(&w, pc, LEASE_TAKE, !w.lease[pc].held, 0);
			send(&w, pc, PROMPT);
			for (copy = 0; copy < COPIES; copy++)
				if (w.pc[pc].count < INSERTIONS && begin(&w, pc, copy))
					break;
			/* a ledger without room stands for a PC that gives its copies back */
			if (w.pc[pc].count == INSERTIONS && !w.pc[pc].running && w.lease[pc].held) {
				ask(&w, pc, LEASE_GIVE_BACK, 0, w.lease[pc].held);
				send(&w, pc, PROMPT);
			}
		}
		open = 0;
		for (copy = 0; copy < w.server.copies; copy++)
			open += w.server.copy[copy].record < 0;
		if (w.pc[0].count == INSERTIONS && w.pc[1].count == INSERTIONS)
			break;
	}
	/* what is running ends */
	for (pc = 0; pc < PCS; pc++) {
		end(&w, pc, EXACT);
		while (report(&w, pc, true))
			;
	}
	for (copy = 0; copy < w.server.copies; copy++) {
		CHECK(model_count(&w.server, copy, MODEL_COUNTS) +
			      model_count(&w.server, copy, MODEL_SURPLUS) ==
		      boards_of(&w, copy));
		CHECK(boards_of(&w, copy) ? model_count(&w.server, copy, MODEL_COUNTS) == 1 : true);
		CHECK(boards_of(&w, copy) || w.pc[0].count == INSERTIONS ||
		      w.pc[1].count == INSERTIONS);
	}
	limits = before;
	met = met_before;
}

/* ---- the walk ----------------------------------------------------------- */

struct node {
	struct world world;
	uint32_t from;
	uint16_t action;
};

static struct node *nodes;
static uint32_t *table;
static size_t node_count, table_size;

static uint64_t hash(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint64_t h = 0xcbf29ce484222325;

	for (size_t n = 0; n < size; n++)
		h = (h ^ bytes[n]) * 0x100000001b3;
	return h ^ h >> 29;
}

/* Returns true if it is new. */
static bool add(const struct world *w, uint32_t from, unsigned int action, size_t most)
{
	size_t at = hash(w, sizeof(*w)) % table_size;

	for (; table[at]; at = (at + 1) % table_size)
		if (!memcmp(&nodes[table[at] - 1].world, w, sizeof(*w)))
			return false;
	if (node_count == most)
		return false;
	nodes[node_count] = (struct node) { *w, from, action };
	table[at] = ++node_count;
	return true;
}

static void tell(uint32_t n)
{
	struct world w;
	char what[64];

	if (n)
		tell(nodes[n].from);
	else
		return;
	w = nodes[nodes[n].from].world;
	act(&w, nodes[n].action, what);
	printf("# %s\n", what);
}

static bool walk(const struct limits *within, size_t most)
{
	static bool taken[ACTIONS];
	size_t actions = 0;
	struct world w;
	char what[64];

	limits = within;
	failure = NULL;
	met = 0;
	memset(&w, 0, sizeof(w));
	model_begin(&w.server, PCS, within->copies, LEASE, MARGIN);
	w.pc[0].boot = w.pc[1].boot = 1;
	node_count = 0;
	memset(table, 0, table_size * sizeof(*table));
	memset(taken, 0, sizeof(taken));
	add(&w, 0, 0, most);
	for (size_t n = 0; n < node_count; n++)
		for (unsigned int action = 0; action < ACTIONS; action++) {
			w = nodes[n].world;
			if (!act(&w, action, what))
				continue;
			taken[action] = true;
			check(&w);
			if (failure || add(&w, n, action, most))
				finish(w);
			if (failure) {
				tell(n);
				printf("# %s\n# and then not: %s\n", what, failure);
				return false;
			}
		}
	for (unsigned int action = 0; action < ACTIONS; action++)
		actions += taken[action];
	for (unsigned int n = 0; n < sizeof(meetings) / sizeof(meetings[0]); n++)
		if (most >= STATES && meetings[n].bit & within->meets & ~met) {
			printf("# it never came to this: %s\n", meetings[n].words);
			failure = "met";
		}
	printf("# %s: %zu states%s, %zu of %d actions\n", within->name, node_count,
	       node_count == most ? " (the most)" : "", actions, ACTIONS);
	return !failure;
}

int main(int argc, char **argv)
{
	static const struct limits rows[] = {
		/* name, copies, ticks, faults, kills, doubts, losses, insertions, asks */
		{ "a network that fails", 3, 2, 2, 0, 0, 0, 2, 3,
		  MET_REPEAT | MET_LATE | MET_MOVED },
		{ "PCs that are killed", 3, 3, 1, 2, 0, 0, 2, 2, MET_REPEAT },
		{ "a PC that is lost", 1, 5, 0, 0, 0, 1, 1, 2,
		  MET_LOST | MET_SURPLUS | MET_COUNTS },
		{ "boards that are doubted", 1, 3, 0, 0, 1, 0, 2, 2, MET_REGAINED },
		{ "everything", 3, 5, 1, 1, 1, 1, 2, 3, MET_REPEAT },
	};
	const size_t count = sizeof(rows) / sizeof(rows[0]);
	size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : STATES;
	bool good = true;

	table_size = 2 * most + 1;
	nodes = malloc(most * sizeof(*nodes));
	table = malloc(table_size * sizeof(*table));
	if (!nodes || !table)
		return 1;
	printf("1..%zu\n", count);
	for (size_t n = 0; n < count; n++) {
		if (!walk(&rows[n], most)) {
			good = false;
			printf("not ");
		}
		printf("ok %zu - %s\n", n + 1, rows[n].name);
		fflush(stdout);
	}
	free(nodes);
	free(table);
	return !good;
}
