// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deal-run.h"
#include "ui/sealed.h"
#include "ui/set-to-deal.h"
#include "ui/tracefile.h"

/*
 * An earlier run ended in the middle of this item: it is void, and its insertion is not dealt into
 * again, whatever the machine says of it. A board that has another insertion may have been put in
 * again with its cards: the operator must say that it is empty.
 */
static enum end item_doubt(struct run *run, const struct item *item)
{
	struct dealbox_status status;

	if (dealbox_machine_get_status(run->machine, &status))
		return machine_failed(run);
	run->used = item->insertion;
	run->known = status.insertion;
	run->empty_it = true;
	run->confirm = true;
	run->journal.doubt = true;
	return END_VOID;
}

/* Goes on where the last run ended. */
static enum end job_take_up(struct run *run)
{
	enum end end;
	size_t n;

	for (n = 0; n < run->journal.item_count; n++) {
		run->item = &run->journal.items[n];
		if (run->item->state != ITEM_STARTED)
			continue;
		end = item_doubt(run, run->item);
		if (end != END_VOID)
			return end;
		return insertion_void(run, NULL, "the last run ended in the middle of it (insertion %u)",
				      run->item->insertion);
	}
	/* nobody has answered what the last run asked */
	run->item = journal_next(&run->journal);
	if (run->options->resume && run->journal.doubt && run->item &&
	    item_doubt(run, run->item) == END_MACHINE)
		return END_MACHINE;
	return END_READY;
}

static enum end job_deal(struct run *run)
{
	uint32_t insertion;
	enum end end;

	while ((run->item = journal_next(&run->journal))) {
		end = plan_make(run);
		if (end == END_READY)
			end = board_wait(run, &insertion);
		if (end == END_READY)
			end = insertion_deal(run, insertion);
		if (end > END_AGAIN)
			return end;
	}
	return END_EXACT;
}

static void summary_say(const struct run *run)
{
	double seconds = seconds_since(&run->begin);
	const struct item *item = journal_next(&run->journal);
	struct json_object *object;
	size_t n, exact = 0;

	for (n = 0; n < run->journal.item_count; n++)
		exact += run->journal.items[n].state == ITEM_EXACT;
	if (run->options->json) {
		object = json_object_new_object();
		json_add_text(object, "event", "summary");
		json_add_number(object, "boards", (int64_t)run->journal.item_count);
		json_add_number(object, "exact", (int64_t)exact);
		json_add_number(object, "dealt", run->exact);
		json_add_number(object, "voids", run->voids);
		json_object_object_add(object, "seconds", json_object_new_double(seconds));
		json_object_object_add(object, "done", json_object_new_boolean(!item));
		json_say(object);
	} else {
		say("%zu of %zu boards are exact duplicates; %u void and dealt again; %.0f s, %.0f boards per hour",
		    exact, run->journal.item_count, run->voids, seconds,
		    seconds > 0 ? run->exact * 3600 / seconds : 0);
	}
	if (!item)
		return;
	if (item->state == ITEM_STARTED)
		complain(run->locked ? "`dealbox deal --resume` lets go of that board, to be emptied, and goes on" :
			 "empty that board; `dealbox deal --resume` goes on",
			 "stopped in the middle of board %u, copy %u, after card %u of %u%s%s",
			 item->board, item->copy, run->cards, DEALBOX_CARDS, run->stands ? ": " : "",
			 run->stands ? run->stands : "");
	else
		complain("`dealbox deal --resume` goes on", "stopped before board %u, copy %u",
			 item->board, item->copy);
}

static enum status job_run(struct run *run)
{
	enum end end = job_take_up(run);

	clock_gettime(CLOCK_MONOTONIC, &run->begin);
	if (end <= END_READY)
		end = job_deal(run);
	/* a board that was put in is locked in */
	if (end == END_STOPPED && !run->stands && run->info.capabilities & DEALBOX_CAP_BOARD_LOCK)
		dealbox_machine_release_board(run->machine);
	summary_say(run);
	if (!journal_next(&run->journal)) {
		journal_remove(&run->journal);
		return STATUS_DONE;
	}
	switch (end) {
	case END_MACHINE:
		return STATUS_MACHINE;
	case END_INPUT:
		return STATUS_INPUT;
	default:
		return STATUS_NO;
	}
}

static int by_board(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->board != y->board)
		return x->board < y->board ? -1 : 1;
	return x->copy < y->copy ? -1 : x->copy > y->copy;
}

/* A new job: the boards asked for, each with its copies. */
static bool job_new(struct run *run, char *const *files, int count)
{
	const struct deal_options *options = run->options;
	struct journal *journal = &run->journal;
	size_t boards = dealbox_set_count(run->set), n;
	struct dealbox_board board;
	uint32_t copy;

	journal->copies = (uint32_t)options->copies;
	journal->files = calloc((size_t)count + 1, sizeof(*journal->files));
	journal->items = calloc(boards * journal->copies + 1, sizeof(*journal->items));
	if (!journal->files || !journal->items)
		goto no_memory;
	for (; journal->file_count < (size_t)count; journal->file_count++) {
		journal->files[journal->file_count] = realpath(files[journal->file_count], NULL);
		if (!journal->files[journal->file_count])
			goto no_memory;
	}
	for (n = 0; n < boards; n++) {
		dealbox_set_get(run->set, n, &board);
		dealbox_deal_wipe(&board.deal);
		if (options->boards_text && !boards_has(&options->boards, board.number))
			continue;
		/* files of results have a board for each table: it is dealt once */
		if (dealbox_set_find(run->set, board.number) != (long)n)
			continue;
		for (copy = 1; copy <= journal->copies; copy++)
			journal->items[journal->item_count++] = (struct item){
				.board = board.number, .copy = copy };
	}
	qsort(journal->items, journal->item_count, sizeof(*journal->items), by_board);
	return true;

no_memory:
	complain("free some memory", "out of memory");
	return false;
}


/* The journal of the job to go on with, and its set. */
static enum status job_resume(struct run *run, struct args *args, struct dealbox_set **set)
{
	char digest[SET_TO_DEAL_DIGEST];
	enum status status;
	int ret;

	ret = journal_load(&run->journal);
	if (ret) {
		if (ret == -ENOENT)
			complain("deal without --resume", "there is no job to resume on this machine");
		return STATUS_INPUT;
	}
	status = set_to_deal_read(args->argc ? args->argv : run->journal.files,
				  args->argc ? args->argc : (int)run->journal.file_count,
				  run->options->reveal, NOTHING_DEALT, set);
	if (status != STATUS_DONE)
		return status;
	if (!set_allowed(run->options, *set, args->argc ? args->argv : run->journal.files,
			 args->argc ? args->argc : (int)run->journal.file_count))
		return STATUS_INPUT;
	set_to_deal_digest(*set, digest);
	if (!strcmp(digest, run->journal.digest))
		return STATUS_DONE;
	complain("give the files of that job, unchanged; or deal without --resume",
		 "the job to resume has other deals than these files");
	return STATUS_INPUT;
}

static enum status job_begin(struct run *run, struct args *args)
{
	enum status end = STATUS_DONE;
	struct dealbox_status machine;
	struct journal old = { 0 };
	const struct item *item;

	set_to_deal_digest(run->set, run->journal.digest);
	memcpy(old.path, run->journal.path, sizeof(old.path));
	if (!access(old.path, F_OK) && !journal_load(&old)) {
		item = journal_next(&old);
		if (item && journal_begun(&old) &&
		    !confirm(run->options->yes, "The job on this machine stands at board %u, copy %u; `dealbox deal --resume` "
			     "goes on with it. Give it up?", item->board, item->copy)) {
			journal_free(&old);
			return STATUS_NO;
		}
		if (item)
			complain(NULL, "the job that stood at board %u, copy %u is given up",
				 item->board, item->copy);
		/* its board may still be there, with cards in it */
		if (item && (item->state == ITEM_STARTED || old.doubt)) {
			if (item_doubt(run, item) == END_MACHINE)
				end = STATUS_MACHINE;
		} else if (dealbox_machine_get_status(run->machine, &machine)) {
			machine_failed(run);
			end = STATUS_MACHINE;
		} else if (journal_has(&old, machine.insertion)) {
			run->used = machine.insertion;
			run->journal.doubt = true;
		}
	}
	journal_free(&old);
	if (end != STATUS_DONE)
		return end;
	if (!job_new(run, args->argv, args->argc) || !journal_save(&run->journal))
		return STATUS_INPUT;
	return STATUS_DONE;
}

static bool machine_suits(const struct run *run)
{
	if (run->info.capabilities & DEALBOX_CAP_BY_CARD)
		return true;
	complain("use a machine with a card reader",
		 "%s cannot read cards: it would have to trust the order of the pack",
		 dealbox_machine_uri(run->machine));
	return false;
}

/* One file, and it is of a session of the tournament that the certificates are for */
static bool certify_begin(struct run *run, char *const *files, size_t count)
{
	struct dealbox_square_session *session = &run->session;
	struct certifier *certifier = calloc(1, sizeof(*certifier));
	bool good;

	run->certifier = certifier;
	if (count != 1) {
		complain("deal one session at a time", "--certify wants one deal file");
		return false;
	}
	good = certifier && certifier_open(certifier, run->options->certify);
	return good && session_find(dealbox_manifest_square(certifier->manifest),
				    files[0], "1", session);
}

/* With the machine open: claims it, finds the job, and deals it. */
static enum status deal_with(struct run *run, struct args *args, struct dealbox_set **set)
{
	enum status status;

	if (dealbox_machine_get_info(run->machine, &run->info) ||
	    dealbox_machine_claim(run->machine)) {
		machine_failed(run);
		return STATUS_MACHINE;
	}
	if (!machine_suits(run))
		return STATUS_MACHINE;
	if (!journal_place(&run->journal, run->info.serial))
		return STATUS_INPUT;
	/* before a job that stands is given up for one that cannot be certified */
	if (!run->options->resume && run->options->certify &&
	    !certify_begin(run, args->argv, (size_t)args->argc))
		return STATUS_INPUT;
	if (run->options->resume)
		status = job_resume(run, args, set);
	else
		status = job_begin(run, args);
	if (status != STATUS_DONE)
		return status;
	run->signal_fd = signals_take();
	if (run->signal_fd < 0)
		return STATUS_INPUT;
	run->set = *set;
	if (run->options->record) {
		run->record = tracefile_create(run->options->record, run->options->resume);
		if (!run->record)
			return STATUS_INPUT;
	}
	if (run->options->resume && run->options->certify &&
	    !certify_begin(run, run->journal.files, run->journal.file_count))
		return STATUS_INPUT;
	return job_run(run);
}

enum status deal_alone(struct args *args, const struct deal_options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	struct dealbox_set *set = NULL;
	struct dealbox_error reason;
	enum status status = STATUS_INPUT;

	if (!run)
		return STATUS_INPUT;
	run->options = options;
	run->signal_fd = -1;
	run->stdin_open = true;
	/* input first: nobody shall fetch a machine for a file that cannot be dealt */
	if (!options->resume) {
		status = set_to_deal_read(args->argv, args->argc, options->reveal, NOTHING_DEALT, &set);
		if (status != STATUS_DONE || !boards_there(options, set) ||
		    !set_allowed(options, set, args->argv, args->argc)) {
			status = STATUS_INPUT;
			goto out;
		}
		run->set = set;
	}
	if (dealbox_machine_open(options->wanted.uri, false, &run->machine, &reason)) {
		complain(reason.next, "%s", reason.what);
		status = STATUS_MACHINE;
		goto out;
	}
	status = deal_with(run, args, &set);
	plan_forget(run);
	dealbox_machine_close(run->machine);
out:
	if (run->record)
		fclose(run->record);
	if (run->certifier)
		certifier_close(run->certifier);
	free(run->certifier);
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	journal_free(&run->journal);
	dealbox_set_free(set);
	explicit_bzero(run, sizeof(*run));
	free(run);
	return status;
}
