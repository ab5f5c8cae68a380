// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * drive FILE LEDGER MACHINE [JOB]: a program that deals without the service, word by word. It says
 * each news in a line, and does what stands in the lines that it reads:
 *
 *	start accept pause stop release cancel deal-this	the commands; skip B C, redeal B C,
 *		name-board B
 *	hold	takes no news until "go"; says "held", and "waiting" when there are some
 *	end	lets go, and ends
 */
#include <dealbox/dealing.h>
#include <dealbox/format.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

static uint64_t new_job(struct dealbox_ledger *ledger, const char *file)
{
	static const unsigned int numbers[] = { 1, 2 };
	struct dealbox_ledger_new_job job = {
		.boards = numbers, .count = 2, .copies = 1, .options = DEALBOX_JOB_AUTO_START,
	};
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_ledger_board boards[2];
	struct dealbox_board board;
	uint64_t number;
	size_t n;

	if (dealbox_format_read_file(NULL, file, set, NULL, NULL))
		return 0;
	for (n = 0; n < 2 && !dealbox_set_get(set, n, &board); n++)
		boards[n] = (struct dealbox_ledger_board){
			.number = board.number, .deal = board.deal,
		};
	dealbox_set_free(set);
	if (dealbox_ledger_add_set(ledger, "evening", boards, 2, &job.set, NULL) ||
	    dealbox_ledger_add_job(ledger, &job, &number, NULL))
		return 0;
	return number;
}

static void say(const struct dealbox_dealing_news *news)
{
	char text[2048];

	switch (news->kind) {
	case DEALBOX_DEALING_STATE:
		dealbox_operator_text(news->state, &news->facts, NULL, text, sizeof(text));
		printf("%s: %s\n", dealbox_operator_name(news->state), text);
		break;
	case DEALBOX_DEALING_BOARD:
		printf("board %u, copy %u, insertion %u, %s: %s\n", news->facts.board,
		       news->facts.copy, news->insertion, news->exact ? "exact" : "void",
		       news->text);
		break;
	case DEALBOX_DEALING_SAID:
		printf("said: %s\n", news->text);
		break;
	case DEALBOX_DEALING_DONE:
		printf("done\n");
		break;
	default:
		break;
	}
}

static void obey(struct dealbox_dealing *dealing, const char *word, unsigned int board,
		 unsigned int copy)
{
	static const char *const words[DEALBOX_DEALING_COMMANDS] = {
		"start", "accept", "pause", "stop", "release", "skip", "redeal", "cancel",
		"deal-this", "name-board",
	};
	unsigned int n;

	for (n = 0; n < DEALBOX_DEALING_COMMANDS; n++)
		if (!strcmp(words[n], word) && dealbox_dealing_do(dealing, n, board, copy))
			printf("refused\n");
}

int main(int argc, char **argv)
{
	struct dealbox_ledger *ledger = dealbox_ledger_new();
	unsigned long long number = 0;
	struct dealbox_dealing_news news;
	struct dealbox_dealing *dealing;
	struct dealbox_error reason;
	char line[64], word[16] = "";
	unsigned int board, copy;
	bool hold = false;
	int err;

	setlinebuf(stdout);
	setbuf(stdin, NULL);
	if (argc < 4 ||
	    dealbox_ledger_open(ledger, argv[2], DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE))
		return 2;
	if (argc > 4)
		sscanf(argv[4], "%llu", &number);
	else
		number = new_job(ledger, argv[1]);
	err = dealbox_dealing_new(ledger, argv[3], number, 0, &dealing, &reason);
	if (err) {
		printf("%s: %s; %s\n", strerror(-err), reason.what, reason.next);
		dealbox_ledger_free(ledger);
		return 1;
	}
	printf("job %llu\n", number);
	while (strcmp(word, "end")) {
		struct pollfd wait[] = {
			{ .fd = 0, .events = POLLIN },
			{ .fd = dealbox_dealing_fd(dealing), .events = POLLIN },
		};

		poll(wait, 2, -1);
		if (wait[1].revents && hold) {
			printf("waiting\n");
			/* said once */
			poll(wait, 1, -1);
		}
		while (!hold && dealbox_dealing_step(dealing, &news))
			say(&news);
		if (!wait[0].revents)
			continue;
		board = copy = 0;
		if (!fgets(line, sizeof(line), stdin) ||
		    sscanf(line, "%15s %u %u", word, &board, &copy) < 1)
			break;
		hold = !strcmp(word, "hold") || (hold && strcmp(word, "go"));
		if (!strcmp(word, "hold"))
			printf("held\n");
		obey(dealing, word, board, copy);
	}
	dealbox_dealing_free(dealing);
	dealbox_ledger_free(ledger);
	return 0;
}
