// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dealbox/pack.h>

#include "own-ledger.h"
#include "ui/tracefile.h"

/* ---- path ------------------------------------------------------------- */

bool own_folder(char *path, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && *state == '/')
		return snprintf(path, size, "%s/dealbox", state) < (int)size;
	return home && *home == '/' &&
	       snprintf(path, size, "%s/.local/state/dealbox", home) < (int)size;
}

/* Create a folder and its parents. Returns 0 or -errno. */
static int folder_make(const char *path)
{
	char folder[sizeof(((struct own_ledger *)0)->path)];
	char *slash;

	snprintf(folder, sizeof(folder), "%s/", path);
	for (slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static bool place(struct own_ledger *own)
{
	static const char next[] = "set XDG_STATE_HOME to a folder that you may write to";
	int err;

	if (!own_folder(own->path, sizeof(own->path) - sizeof("/ledger"))) {
		complain(next, "there is no folder for the record of what is dealt");
		return false;
	}
	err = folder_make(own->path);
	if (err)
		complain(next, "cannot make the folder %s: %s", own->path, strerror(-err));
	strcat(own->path, "/ledger");
	return !err;
}

enum status own_refused(const struct dealbox_ledger *ledger)
{
	const struct dealbox_error *error = dealbox_ledger_error(ledger);

	complain(error->next, "%s", error->what);
	return STATUS_INPUT;
}

static bool open_failed(const struct own_ledger *own, const struct dealbox_ledger *ledger, int err)
{
	static const struct {
		int err;
		const char *next;
	} advice[] = {
		{ -EBUSY, "wait until it has finished, or end it; the service dealboxd deals on "
			  "several machines at a time" },
		{ -ENOKEY, "put the key file back from where it is kept" },
		{ -EUCLEAN, "`dealbox ledger verify -l FILE` says what is damaged; docs/ledger.md "
			    "how to go on" },
		{ -ESTALE, "`dealbox ledger accept-restore -l FILE` goes on with it all the same" },
	};
	const char *next = NULL;
	size_t n;

	for (n = 0; n < sizeof(advice) / sizeof(advice[0]); n++)
		if (advice[n].err == err)
			next = advice[n].next;
	if (ledger)
		complain(next, "%s", dealbox_ledger_error(ledger)->what);
	else
		complain("free some memory", "%s: out of memory", own->path);
	return false;
}

bool own_open(struct own_ledger *own, const char *path, bool json)
{
	struct json_object *object;
	int err = 0;

	own->named = path;
	if (path)
		snprintf(own->path, sizeof(own->path), "%s", path);
	else if (!place(own))
		return false;
	own->ledger = dealbox_ledger_new();
	if (own->ledger)
		err = dealbox_ledger_open(own->ledger, own->path,
					  DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE);
	if (!own->ledger || err)
		return open_failed(own, own->ledger, err);
	dealbox_ledger_user(own->ledger, getuid());
	own->reader = dealbox_ledger_new();
	if (own->reader)
		err = dealbox_ledger_open(own->reader, own->path, 0);
	if (!own->reader || err)
		return open_failed(own, own->reader, err);
	if (!json) {
		if (own->rehearsal)
			say("this is a rehearsal: no card is dealt, and nothing counts");
		else
			say("everything is recorded in %s", own->path);
		return true;
	}
	object = json_line(own->rehearsal ? "rehearsal" : "ledger");
	if (!own->rehearsal)
		json_add_text(object, "path", own->path);
	json_say(object);
	return true;
}

void own_close(struct own_ledger *own)
{
	dealbox_ledger_free(own->reader);
	dealbox_ledger_free(own->ledger);
}

/* ---- sets and jobs -------------------------------------------------------- */

struct dealbox_ledger_board *own_boards(const struct dealbox_set *set, size_t *count)
{
	struct dealbox_ledger_board *boards = calloc(dealbox_set_count(set) + 1, sizeof(*boards));
	struct dealbox_board board;
	size_t n;

	*count = 0;
	if (!boards) {
		complain("free some memory", "out of memory");
		return NULL;
	}
	/* files of results have each board once per table */
	for (n = 0; !dealbox_set_get(set, n, &board); n++)
		if (dealbox_set_find(set, board.number) == (long)n)
			boards[(*count)++] = (struct dealbox_ledger_board){
				.number = board.number, .deal = board.deal,
			};
	dealbox_deal_wipe(&board.deal);
	return boards;
}

void own_boards_free(struct dealbox_ledger_board *boards, size_t count)
{
	if (boards)
		explicit_bzero(boards, count * sizeof(*boards));
	free(boards);
}

static int keep_job(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

/* The recorded and skipped copies of a board, one bit each */
struct looking {
	struct own_stand *stand;
	uint8_t (*settled)[DEALBOX_BOARD_DEALT_MAX / 8 + 1];	/* by copy */
	unsigned int board;
};

static int look_at_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	struct looking *looking = context;

	looking->stand->begun |= copy->tries > 0;
	if (copy->board != looking->board || copy->state < DEALBOX_LEDGER_COPY_RECORDED)
		return 0;
	looking->stand->skipped += copy->state == DEALBOX_LEDGER_COPY_SKIPPED;
	(*looking->settled)[copy->copy / 8] |= (uint8_t)(1u << copy->copy % 8);
	return 0;
}

/* Find the first copy that is neither recorded nor skipped. */
static int look_at_board(unsigned int board, void *context)
{
	uint8_t settled[DEALBOX_BOARD_DEALT_MAX / 8 + 1] = { 0 };
	struct {
		struct dealbox_ledger *ledger;
		struct own_stand *stand;
	} *look = context;
	struct looking looking = { look->stand, &settled, board };
	unsigned int copies = look->stand->job.copies, copy;
	int err = dealbox_ledger_copies(look->ledger, look->stand->job.job, look_at_copy, &looking);

	for (copy = 1; copy <= (copies ? copies : DEALBOX_BOARD_DEALT_MAX); copy++)
		if (!look->stand->board && !(settled[copy / 8] >> copy % 8 & 1)) {
			look->stand->board = board;
			look->stand->copy = copy;
		}
	return err;
}

int own_stand(struct dealbox_ledger *ledger, uint64_t job, struct own_stand *stand)
{
	struct {
		struct dealbox_ledger *ledger;
		struct own_stand *stand;
	} look = { ledger, stand };
	int err;

	memset(stand, 0, sizeof(*stand));
	err = dealbox_ledger_jobs(ledger, job, keep_job, &stand->job);
	return err ? err : dealbox_ledger_boards(ledger, job, look_at_board, &look);
}

struct last {
	struct dealbox_ledger *ledger;
	const char *machine;
	bool done;
	struct dealbox_ledger_job *job;
};

/* Whether a job is restricted to machines, and this one is among them */
struct named {
	const char *machine;
	bool some, there;
};

static int look_at_machine(const char *machine, void *context)
{
	struct named *named = context;

	named->some = true;
	named->there |= !strcmp(machine, named->machine);
	return 0;
}

static int look_at_job(const struct dealbox_ledger_job *job, void *context)
{
	struct last *last = context;
	struct named named = { .machine = last->machine };
	int err;

	if (!job->set || (!last->done && job->state >= DEALBOX_LEDGER_JOB_CANCELLED))
		return 0;
	err = dealbox_ledger_machines(last->ledger, job->job, look_at_machine, &named);
	if (!err && (!named.some || named.there))
		*last->job = *job;
	return err;
}

int own_last(struct dealbox_ledger *ledger, const char *machine, bool done,
	     struct dealbox_ledger_job *job)
{
	struct last last = { ledger, machine, done, job };

	memset(job, 0, sizeof(*job));
	return dealbox_ledger_jobs(ledger, 0, look_at_job, &last);
}

enum status own_cancel(struct own_ledger *own, uint64_t job)
{
	const struct dealbox_ledger_act cancel = { .act = DEALBOX_ACT_CANCEL,
						   .uid = getuid(),
						   .job = job };

	return dealbox_ledger_add_act(own->ledger, &cancel) ?
		own_refused(own->ledger) : STATUS_DONE;
}

struct unfinished {
	bool named;
	uint64_t job;
};

static int find_unfinished(const struct dealbox_ledger_job *job, void *context)
{
	struct unfinished *unfinished = context;

	if (!job->set && job->state < DEALBOX_LEDGER_JOB_CANCELLED &&
	    (!unfinished->named || job->law))
		unfinished->job = job->job;
	return 0;
}

enum status own_cancel_unfinished(struct own_ledger *own)
{
	struct unfinished unfinished = { .named = own->named };
	enum status status = STATUS_DONE;

	while (status == STATUS_DONE) {
		unfinished.job = 0;
		if (dealbox_ledger_jobs(own->reader, 0, find_unfinished, &unfinished))
			return own_refused(own->reader);
		if (!unfinished.job)
			break;
		status = own_cancel(own, unfinished.job);
	}
	return status;
}

/* ---- insertions ----------------------------------------------------------- */

struct counting {
	struct dealbox_ledger_insertion *last;
	int count;
};

static int count_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct counting *counting = context;

	*counting->last = *insertion;
	counting->count++;
	return 0;
}

int own_open_insertions(struct dealbox_ledger *ledger, uint64_t job,
			struct dealbox_ledger_insertion *last)
{
	struct counting counting = { last, 0 };
	int err = dealbox_ledger_insertions(ledger, job, true, count_insertion, &counting);

	return err ? err : counting.count;
}

static int match_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct dealbox_ledger_insertion *wanted = context;

	/* several pockets of an original have the same number: take the last record */
	if (insertion->number == wanted->number && insertion->board == wanted->board &&
	    insertion->copy == wanted->copy)
		*wanted = *insertion;
	return 0;
}

int own_insertion(struct dealbox_ledger *ledger, uint64_t job, uint32_t number, unsigned int board,
		  unsigned int copy, struct dealbox_ledger_insertion *insertion)
{
	int err;

	*insertion =
		(struct dealbox_ledger_insertion){ .number = number, .board = board, .copy = copy };
	err = dealbox_ledger_insertions(ledger, job, false, match_insertion, insertion);
	return err ? err : insertion->id ? 0 : -ENOENT;
}

struct dealbox_trace *own_trace(struct dealbox_ledger *ledger,
				const struct dealbox_ledger_insertion *insertion)
{
	struct dealbox_event *events = NULL;
	struct dealbox_trace *trace = NULL;
	size_t count = 0, n;

	if (!dealbox_ledger_get_trace(ledger, insertion->id, &events, &count))
		trace = dealbox_trace_new(insertion->number);
	for (n = 0; trace && n < count; n++)
		dealbox_trace_add(trace, &events[n]);
	if (events)
		explicit_bzero(events, count * sizeof(*events));
	free(events);
	return trace;
}

/* Make the first line of an insertion in a trace file. */
static struct tracefile_head head_of(const struct dealbox_ledger_job *job,
				     const struct dealbox_ledger_insertion *insertion)
{
	bool reversed = job->options & DEALBOX_JOB_REVERSED;
	struct tracefile_head head = {
		.board = insertion->board, .copy = insertion->copy, .insertion = insertion->number,
		.plan_id = insertion->plan,
		.how = job->options & DEALBOX_JOB_CAPTURE ? TRACEFILE_CAPTURE :
		       job->options & DEALBOX_JOB_BY_POSITION ? TRACEFILE_BY_POSITION :
		       TRACEFILE_BY_CARD,
	};
	unsigned int n;

	for (n = 0; n < DEALBOX_HANDS; n++)
		head.pockets[n] = (uint8_t)(reversed ? DEALBOX_HANDS - 1 - n : n);
	return head;
}

const char *own_pockets(const struct dealbox_ledger_job *job)
{
	return job->options & DEALBOX_JOB_REVERSED ? "WSEN" : "NESW";
}

struct dealbox_verdict *own_judge(struct dealbox_ledger *ledger,
				  const struct dealbox_ledger_job *job,
				  const struct dealbox_ledger_insertion *insertion,
				  const struct dealbox_trace *trace)
{
	struct tracefile_head head = head_of(job, insertion);
	struct dealbox_verdict *verdict = NULL;
	const struct dealbox_pack *pack;
	struct dealbox_deal deal;

	if (!trace || dealbox_ledger_get_deal(ledger, job->set, insertion->board, &deal))
		return NULL;
	pack = dealbox_deal_complete(&deal, dealbox_pack_preferans()) ? dealbox_pack_preferans() :
	       dealbox_pack_bridge();
	if (tracefile_judge(&head, head.pockets, trace, &deal, pack, &verdict))
		verdict = NULL;
	dealbox_deal_wipe(&deal);
	return verdict;
}

bool own_record(FILE *file, const struct dealbox_ledger_job *job,
		const struct dealbox_ledger_insertion *insertion, const struct dealbox_trace *trace)
{
	struct tracefile_head head = head_of(job, insertion);
	size_t n;

	if (!trace)
		return true;
	tracefile_begin(file, head.board, head.copy, head.insertion, head.plan_id, head.how,
			own_pockets(job));
	for (n = 0; n < dealbox_trace_count(trace); n++)
		tracefile_event(file, dealbox_trace_get(trace, n));
	return tracefile_end(file);
}
