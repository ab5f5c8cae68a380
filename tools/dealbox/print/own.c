// SPDX-License-Identifier: LGPL-2.1-or-later
/* Jobs of the ledger of a user who deals without the service. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dealbox/format.h>
#include <dealbox/set.h>

#include "job.h"

static int ledger_job(const struct dealbox_ledger_job *job, void *context)
{
	struct print_job *out = context;

	out->boards = job->boards;
	out->copies = job->copies;
	out->exact = job->recorded;
	out->added = job->at_us;
	out->user = job->uid;
	snprintf(out->session, sizeof(out->session), "%s", job->session);
	return 0;
}

static int ledger_insertion(const struct dealbox_ledger_insertion *from, void *context)
{
	struct print_job *out = context;
	struct print_insertion *to = print_insertion_new(out);

	if (!to)
		return -ENOMEM;
	to->board = from->board;
	to->copy = from->copy;
	to->number = from->number;
	to->begun = from->begun_us;
	to->ended = from->ended_us;
	snprintf(to->machine, sizeof(to->machine), "%s", from->machine);
	/* until its copy is found to be recorded, and no later one to be exact */
	snprintf(to->outcome, sizeof(to->outcome), "%s",
		 from->outcome == DEALBOX_LEDGER_EXACT ?
		 "revoked" : dealbox_ledger_outcome_name(from->outcome));
	out->count++;
	return 0;
}

static int ledger_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	struct print_job *out = context;

	if (copy->state != DEALBOX_LEDGER_COPY_RECORDED)
		return 0;
	for (size_t i = out->count; i--;) {
		struct print_insertion *insertion = &out->insertions[i];

		if (insertion->board != copy->board || insertion->copy != copy->copy ||
		    strcmp(insertion->outcome, "revoked"))
			continue;
		strcpy(insertion->outcome, "exact");
		break;
	}
	return 0;
}

static int ledger_read(struct dealbox_ledger *ledger, struct print_job *out)
{
	struct dealbox_ledger_head head;
	int err = dealbox_ledger_jobs(ledger, out->number, ledger_job, out);

	if (!err)
		err = dealbox_ledger_get_head(ledger, &head);
	if (!err)
		err = dealbox_ledger_insertions(ledger, out->number, false, ledger_insertion, out);
	if (!err)
		err = dealbox_ledger_copies(ledger, out->number, ledger_copy, out);
	if (!err)
		dealbox_ledger_head_format(&head, out->head);
	return err;
}

bool print_job_of_ledger(const char *path, unsigned long number, struct print_job *out)
{
	struct dealbox_ledger *ledger = dealbox_ledger_new();
	bool good = false;

	*out = (struct print_job){ .number = number };
	if (!ledger)
		complain("free some memory", "out of memory");
	else if (dealbox_ledger_open(ledger, path, 0) || ledger_read(ledger, out))
		complain("`dealbox ledger verify` says what is wrong with it", "%s",
			 dealbox_ledger_error(ledger)->what);
	else if (!out->added)
		complain("`dealbox ledger list` shows its jobs", "%s: it has no job %lu", path,
			 number);
	else
		good = true;
	dealbox_ledger_free(ledger);
	return good;
}

/* ---- deals --------------------------------------------------------------- */

static int number_keep(unsigned int board, void *context)
{
	struct boards *boards = context;

	boards->bits[board / 64] |= 1ULL << board % 64;
	return 0;
}

static int set_take(struct dealbox_ledger *ledger, uint64_t number, struct dealbox_set *set)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	struct boards boards = { { 0 } };
	int err = dealbox_ledger_set_boards(ledger, number, number_keep, &boards);

	for (board.number = 1; !err && board.number <= DEALBOX_BOARD_DEALT_MAX; board.number++) {
		if (!boards_has(&boards, board.number))
			continue;
		err = dealbox_ledger_get_deal(ledger, number, board.number, &board.deal);
		if (!err)
			err = dealbox_set_add(set, &board);
	}
	dealbox_deal_wipe(&board.deal);
	return err;
}

static int job_keep(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

/* The record comes first: who sees a card is named. */
static int deals_take(struct dealbox_ledger *ledger, const struct dealbox_ledger_job *job,
		      struct dealbox_set *set)
{
	const struct dealbox_ledger_act act = {
		.act = DEALBOX_ACT_REVEAL, .uid = getuid(), .value = (int64_t)job->set
	};
	int err = dealbox_ledger_add_act(ledger, &act);

	return err ? err : set_take(ledger, job->set, set);
}

/* Reads a job and its deals. A job that is not there, or that has no set, stays 0. */
static int job_take(struct dealbox_ledger *ledger, const char *path, unsigned long number,
		    struct dealbox_ledger_job *job, struct dealbox_set *set)
{
	int err = dealbox_ledger_open(ledger, path, DEALBOX_LEDGER_WRITE);

	if (!err)
		err = dealbox_ledger_jobs(ledger, number, job_keep, job);
	return err || !job->set ? err : deals_take(ledger, job, set);
}

/* Returns a descriptor in memory, or -1 after reporting an error. */
static int set_put(const struct dealbox_set *set)
{
	const int fd = memfd_create("set.pbn", MFD_CLOEXEC);

	if (fd >= 0 &&
	    !dealbox_format_write_fd(dealbox_format_find("pbn"), set, fd, "set.pbn", NULL) &&
	    !lseek(fd, 0, SEEK_SET))
		return fd;
	complain("free some memory", "the deals cannot be kept in memory: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int print_job_deals_of_ledger(const char *path, unsigned long number)
{
	struct dealbox_ledger *ledger = dealbox_ledger_new();
	struct dealbox_set *set = dealbox_set_new(dealbox_pack_bridge());
	struct dealbox_ledger_job job = { 0 };
	int fd = -1;

	if (!ledger || !set)
		complain("free some memory", "out of memory");
	else if (job_take(ledger, path, number, &job, set))
		complain(dealbox_ledger_error(ledger)->next, "%s",
			 dealbox_ledger_error(ledger)->what);
	else if (!job.job)
		complain("`dealbox ledger list` shows its jobs", "%s: it has no job %lu", path,
			 number);
	else if (!job.set)
		complain("print the file of the deals", "%s: job %lu has no set", path, number);
	else
		fd = set_put(set);
	dealbox_set_free(set);
	dealbox_ledger_free(ledger);
	return fd;
}
