// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * deal FILE SESSION LEDGER [MACHINE]: deals a file on a machine, and keeps the record in LEDGER.
 * Enter answers what it asks.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/dealing.h>
#include <dealbox/format.h>

/*
 * The file as a job of the ledger: one copy of each board, dealt when it is put in. 0 = it cannot
 * be.
 */
static uint64_t job_of(struct dealbox_ledger *ledger, const char *file, const char *session)
{
	struct dealbox_ledger_board boards[100];
	struct dealbox_ledger_new_job new_job = { .copies = 1, .options = DEALBOX_JOB_AUTO_START };
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_board board;
	unsigned int numbers[100];
	uint64_t job = 0;

	if (!set || dealbox_format_read_file(NULL, file, set, NULL, NULL)) {
		dealbox_set_free(set);
		return 0;
	}
	for (; new_job.count < 100 && !dealbox_set_get(set, new_job.count, &board);
	     new_job.count++) {
		boards[new_job.count] = (struct dealbox_ledger_board){
			.number = board.number, .deal = board.deal,
		};
		numbers[new_job.count] = board.number;
	}
	new_job.boards = numbers;
	if (dealbox_ledger_add_set(ledger, session, boards, new_job.count, &new_job.set, NULL) ||
	    dealbox_ledger_add_job(ledger, &new_job, &job, NULL))
		job = 0;
	dealbox_set_free(set);
	explicit_bzero(boards, sizeof(boards));
	explicit_bzero(&board, sizeof(board));
	return job;
}

int main(int argc, char **argv)
{
	struct dealbox_ledger *ledger = dealbox_ledger_new();
	struct dealbox_error reason = { .what = "the file cannot be dealt" };
	struct dealbox_dealing *dealing;
	struct dealbox_dealing_news news;
	char text[2048];
	uint64_t job;

	if (argc < 4 || !ledger)
		return 2;
	job = dealbox_ledger_open(ledger, argv[3], DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE) ?
		0 : job_of(ledger, argv[1], argv[2]);
	if (!job || dealbox_dealing_new(ledger, argv[4], job, 0, &dealing, &reason)) {
		fprintf(stderr, "%s %s %s\n", reason.what, reason.next,
			dealbox_ledger_error(ledger)->what);
		dealbox_ledger_free(ledger);
		return 2;
	}
	for (news.kind = DEALBOX_DEALING_KINDS; news.kind != DEALBOX_DEALING_DONE;) {
		struct pollfd wait[] = { { dealbox_dealing_fd(dealing), POLLIN, 0 },
					 { 0, POLLIN, 0 } };

		poll(wait, 2, -1);
		if (wait[1].revents && read(0, text, sizeof(text)) > 0)
			dealbox_dealing_do(dealing, DEALBOX_DEALING_START, 0, 0);
		while (dealbox_dealing_step(dealing, &news) && news.kind != DEALBOX_DEALING_DONE) {
			dealbox_operator_text(news.state, &news.facts, "en", text, sizeof(text));
			if (news.kind == DEALBOX_DEALING_BOARD)
				printf("board %u: %s\n", news.facts.board, news.text);
			else if (news.kind == DEALBOX_DEALING_STATE && news.state)
				puts(text);
			fflush(stdout);
		}
	}
	dealbox_dealing_free(dealing);
	dealbox_ledger_free(ledger);
	return 0;
}
