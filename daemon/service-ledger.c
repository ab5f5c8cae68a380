// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Jobs from the service's ledger. They are read at the start, and again when the ledger turns out
 * to differ.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <dealbox/dealing.h>
#include <dealbox/law.h>

#include "dealing/job-ledger.h"
#include "log.h"
#include "service.h"
#include "service-ledger.h"

#define JOBS_KEPT	64	/* finished jobs that are read at the start */

struct numbers {
	uint64_t *list;
	size_t count;
};

static int add_number(struct numbers *numbers, uint64_t number)
{
	uint64_t *grown = realloc(numbers->list, (numbers->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	numbers->list = grown;
	grown[numbers->count++] = number;
	return 0;
}

static int collect_board(unsigned int board, void *context)
{
	return add_number(context, board);
}

/* Return the collected numbers as boards. NULL without memory. */
static unsigned int *boards_of(const struct numbers *numbers)
{
	unsigned int *boards = calloc(numbers->count + 1, sizeof(*boards));
	size_t n;

	for (n = 0; boards && n < numbers->count; n++)
		boards[n] = numbers->list[n];
	return boards;
}

static int keep_job(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

static int complain(struct service *s, int err)
{
	if (err)
		log_message(MESSAGE_LEDGER, NULL, NULL, "%s",
			    dealbox_ledger_error(s->ledger)->what);
	return err;
}

int service_ledger_refresh(struct service *s, struct job *job)
{
	return complain(s, job_refresh(s->ledger, &s->jobs, job));
}

/*
 * Add a job. *taken is NULL on failure, which is logged. Returns -E2BIG if there is no room for it.
 */
static int take_up(struct service *s, const struct dealbox_ledger_job *record, struct job **taken)
{
	int err = job_take(s->ledger, &s->jobs, record, taken);

	if (err != -E2BIG)
		return complain(s, err);
	log_message(MESSAGE_REFUSED, NULL, NULL,
		    "job %llu is not dealt: there are too many jobs, or they are "
		    "too large; finish or cancel some, and restart the service",
		    (unsigned long long)record->job);
	return err;
}

struct job *service_ledger_load(struct service *s, uint64_t id)
{
	struct dealbox_ledger_job record = { 0 };
	struct job *job = NULL;

	if (!complain(s, dealbox_ledger_jobs(s->ledger, id, keep_job, &record)))
		take_up(s, &record, &job);
	return job;
}

/* Jobs of the ledger, oldest first; over counts those that are done or cancelled. */
struct records {
	struct dealbox_ledger_job *list;
	size_t count, over;
};

static bool is_over(const struct dealbox_ledger_job *record)
{
	return record->state > DEALBOX_LEDGER_JOB_PAUSED;
}

static int collect_job(const struct dealbox_ledger_job *record, void *context)
{
	struct records *records = context;
	struct dealbox_ledger_job *grown;

	/* `dealbox deal --law` deals these, and judges what was dealt. */
	if (record->law)
		return 0;
	grown = realloc(records->list, (records->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	records->list = grown;
	grown[records->count++] = *record;
	records->over += is_over(record);
	return 0;
}

/*
 * Read the jobs that are to be dealt, and the last ones that are over: users may still make a set
 * of a capture, redeal a board, or ask for a certificate.
 */
static int take_up_jobs(struct service *s)
{
	struct records records = { 0 };
	struct job *job;
	size_t n, left;
	int err = dealbox_ledger_jobs(s->ledger, 0, collect_job, &records);

	left = records.over;
	for (n = 0; !err && n < records.count; n++) {
		if (is_over(&records.list[n]) && left-- > JOBS_KEPT)
			continue;
		err = take_up(s, &records.list[n], &job);
		/* Deal the other jobs. */
		if (err == -E2BIG)
			err = 0;
	}
	free(records.list);
	return err;
}

int service_ledger_open(struct service *s)
{
	unsigned int settled = 0;
	int err;

	s->ledger = dealbox_ledger_new();
	if (!s->ledger)
		return -ENOMEM;
	err = dealbox_ledger_open(s->ledger, s->config.ledger,
				  DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE);
	if (!err)
		err = ledger_settle(s->ledger, &settled);
	for (; settled; settled--)
		log_message(MESSAGE_VOID, NULL, NULL,
			    "the service ended during a deal: the contents "
			    "of the board are unknown");
	if (!err)
		err = take_up_jobs(s);
	return complain(s, err);
}

/* ---- plans and verdicts -------------------------------------------------------- */

int service_ledger_boards(struct service *s, uint64_t set, unsigned int **numbers, size_t *count)
{
	struct numbers found = { 0 };
	int err = dealbox_ledger_set_boards(s->ledger, set, collect_board, &found);

	if (!err && !found.count)
		err = -ENOENT;
	*numbers = err ? NULL : boards_of(&found);
	*count = found.count;
	free(found.list);
	return err || *numbers ? err : -ENOMEM;
}

int service_ledger_set(struct service *s, uint64_t number, struct dealbox_set **set)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	unsigned int *numbers;
	size_t count, n;
	int err = service_ledger_boards(s, number, &numbers, &count);

	*set = NULL;
	for (n = 0; !err && n < count; n++) {
		err = dealbox_ledger_get_deal(s->ledger, number, numbers[n], &board.deal);
		if (!err && !*set)
			*set = dealbox_set_new(job_pack(&board.deal));
		board.number = numbers[n];
		if (!err)
			err = *set ? dealbox_set_add(*set, &board) : -ENOMEM;
	}
	dealbox_deal_wipe(&board.deal);
	free(numbers);
	if (!err)
		return 0;
	dealbox_set_free(*set);
	*set = NULL;
	return err;
}

struct traced {
	unsigned int board;
	struct dealbox_ledger_insertion *list;
	size_t count;
};

static int collect_traced(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct dealbox_ledger_insertion *grown;
	struct traced *traced = context;

	if (!insertion->events || (traced->board && insertion->board != traced->board))
		return 0;
	grown = realloc(traced->list, (traced->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	traced->list = grown;
	grown[traced->count++] = *insertion;
	return 0;
}

int service_ledger_traced(struct service *s, uint64_t job, unsigned int board,
			  unsigned int *options, struct dealbox_ledger_insertion **insertions,
			  size_t *count)
{
	struct traced traced = { .board = board };
	struct dealbox_ledger_job record = { 0 };
	int err = dealbox_ledger_jobs(s->ledger, job, keep_job, &record);

	if (!err)
		err = dealbox_ledger_insertions(s->ledger, job, false, collect_traced, &traced);
	if (err) {
		free(traced.list);
		traced.list = NULL;
	}
	*options = record.options;
	*insertions = traced.list;
	*count = traced.count;
	return err;
}

/* Read the recorded trace of an insertion. Returns NULL if there is none. */
static struct dealbox_trace *read_trace(struct service *s,
					const struct dealbox_ledger_insertion *insertion)
{
	struct dealbox_trace *trace = dealbox_trace_new(insertion->number);
	struct dealbox_event *events = NULL;
	size_t count = 0, n;

	if (!trace ||
	    dealbox_ledger_get_trace(s->ledger, insertion->id, &events, &count)) {
		dealbox_trace_free(trace);
		return NULL;
	}
	for (n = 0; n < count; n++)
		dealbox_trace_add(trace, &events[n]);
	sodium_memzero(events, count * sizeof(*events));
	free(events);
	return trace;
}

struct dealt {
	const char *machine;
	uint32_t number;
	struct dealbox_ledger_insertion found;
};

static int find_dealt(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct dealt *dealt = context;

	if (insertion->number == dealt->number && !strcmp(insertion->machine, dealt->machine) &&
	    insertion->outcome && insertion->outcome != DEALBOX_LEDGER_CAPTURED)
		dealt->found = *insertion;
	return 0;
}

int service_ledger_judge(struct service *s, const struct job *job, const char *machine,
			 uint32_t insertion, struct dealbox_trace **trace,
			 struct dealbox_verdict **verdict)
{
	struct dealt dealt = { .machine = machine, .number = insertion };
	struct dealbox_plan plan;
	struct copy copy;
	int err;

	*trace = NULL;
	err = dealbox_ledger_insertions(s->ledger, job->id, false, find_dealt, &dealt);
	if (err || !dealt.found.id)
		return err ? err : -ENOENT;
	copy = (struct copy){ job->id, dealt.found.board, dealt.found.copy };
	*trace = read_trace(s, &dealt.found);
	/* of what was cut short, there may be no event */
	if (!*trace && !dealt.found.events)
		*trace = dealbox_trace_new(dealt.found.number);
	if (!*trace)
		return -EIO;
	err = job_plan(s->ledger, job, &copy, dealt.found.plan, &plan);
	if (!err)
		/* the ledger does not say what the machine could do */
		err = job_verify(job, &plan, 0, *trace, verdict);
	dealbox_plan_wipe(&plan);
	if (err) {
		dealbox_trace_free(*trace);
		*trace = NULL;
	}
	return err == -ENOENT ? -EIO : err;
}

int service_ledger_attestation(struct service *s, const struct job *job, const char *machine,
			       uint32_t insertion, struct dealbox_ledger_insertion *found,
			       struct dealbox_deal *deal,
			       struct dealbox_ledger_attestation *attestation, bool *attested)
{
	struct dealt dealt = { .machine = machine, .number = insertion };
	int err = dealbox_ledger_insertions(s->ledger, job->id, false, find_dealt, &dealt);

	if (err || !dealt.found.id)
		return err ? err : -ENOENT;
	*found = dealt.found;
	err = dealbox_ledger_get_deal(s->ledger, job->set, found->board, deal);
	if (err)
		return err == -ENOENT ? -EIO : err;
	err = dealbox_ledger_get_attestation(s->ledger, found->id, attestation);
	*attested = !err;
	return err == -ENOENT ? 0 : err;
}

/* ---- originals ----------------------------------------------------------------- */

/* Describe the wrong pockets of a captured deal, with the number of cards, but without a card. */
static void tell_pockets(const struct dealbox_deal *deal, const struct dealbox_pack *pack,
			 char why[LEDGER_WHY])
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX], worst = { 0 };
	size_t count = dealbox_deal_check(deal, pack, defects, DEALBOX_DEFECTS_MAX), n, used = 0;
	unsigned int pocket;

	/* A missing card also shows as a short pocket or as another card that is there twice. */
	for (n = 0; n < count; n++)
		if (worst.kind != DEALBOX_DEFECT_SIZE && defects[n].kind != DEALBOX_DEFECT_MISSING)
			worst = defects[n];
	explicit_bzero(defects, sizeof(defects));
	for (pocket = 0; pocket < DEALBOX_HANDS && worst.kind != DEALBOX_DEFECT_SIZE; pocket++)
		if (worst.hands >> pocket & 1)
			used += (size_t)snprintf(why + used, LEDGER_WHY - used, "%s%s",
						 used ? " and " : "pockets ",
						 dealbox_actor_name(pocket));
	if (worst.kind == DEALBOX_DEFECT_SIZE)
		snprintf(why, LEDGER_WHY, "pocket %s has %u cards, not %u; redeal it",
			 dealbox_actor_name(worst.hand), worst.count, worst.expected);
	else
		snprintf(why + used, LEDGER_WHY - used, worst.kind == DEALBOX_DEFECT_REPEATED ?
			 " have the same card; redeal them" :
				 " have a card of another pack; redeal them");
	explicit_bzero(&worst, sizeof(worst));
}

int service_ledger_original(struct service *s, const struct job *job, unsigned int board,
			    struct dealbox_deal *deal, char why[LEDGER_WHY])
{
	unsigned int pocket;
	int err = dealbox_dealing_original(s->ledger, job->id, board, deal, &pocket);

	*why = '\0';
	if (err == -ENODATA)
		snprintf(why, LEDGER_WHY, "pocket %s has not been read yet",
			 dealbox_actor_name(pocket));
	else if (err == -EINVAL)
		snprintf(why, LEDGER_WHY, "pocket %s was not read completely; redeal it",
			 dealbox_actor_name(pocket));
	else if (err == -EBADMSG)
		tell_pockets(deal, dealbox_pack_bridge(), why);
	else if (err == -EDOM)
		snprintf(why, LEDGER_WHY, "it is sorted, nobody dealt it");
	return err;
}
