// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input.h"
#include "ui/sealed.h"

/* SOURCE_DATE_EPOCH (reproducible-builds.org), or the date of a file. */
static int64_t date_of(const char *path)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	struct stat st;

	if (given && *given)
		return strtoll(given, NULL, 10);
	return strcmp(path, "-") && !stat(path, &st) ? st.st_mtime : -1;
}

static int dealer_of(const struct dealbox_board *board)
{
	return board->dealer < 0 && board->number ? dealbox_board_dealer(board->number) : board->dealer;
}

static int vulnerable_of(const struct dealbox_board *board)
{
	return board->vulnerable < 0 && board->number ? dealbox_board_vulnerable(board->number) :
							board->vulnerable;
}

static bool is_chosen(const struct print_input *input, const struct dealbox_board *board)
{
	return !input->chosen || (board->number && boards_has(&input->boards, board->number));
}

static void board_take(struct print_input *input, const struct dealbox_board *board)
{
	struct sheet_board *to = &input->list[input->count];

	if (!is_chosen(input, board))
		return;
	*to = (struct sheet_board){ .deal = board->deal, .dealer = dealer_of(board),
				    .vulnerable = vulnerable_of(board) };
	dealbox_board_name(board, to->name, sizeof(to->name));
	input->count++;
}

static enum status boards_take(struct print_input *input)
{
	const size_t count = dealbox_set_count(input->set.set);
	struct dealbox_board board = DEALBOX_BOARD_INIT;

	input->list = calloc(count + 1, sizeof(*input->list));
	if (!input->list) {
		complain("give it fewer files", "out of memory");
		return STATUS_INPUT;
	}
	for (size_t i = 0; !dealbox_set_get(input->set.set, i, &board); i++)
		board_take(input, &board);
	dealbox_deal_wipe(&board.deal);
	if (input->count)
		return STATUS_DONE;
	complain(input->chosen ? "give --boards that the files have" : "give the names of files with deals",
		 "there is no board to print; nothing was written");
	return STATUS_INPUT;
}

enum status print_input_read(struct print_input *input, char *const *files, int count)
{
	enum status status = set_as_read_files(&input->set, &input->reading, files, count);

	input->made = date_of(files[0]);
	if (status)
		return status;
	set_as_read_complain(input->set.report, false);
	if (!input->set.unread)
		return boards_take(input);
	complain("give the names of files with deals", "nothing was written");
	return STATUS_INPUT;
}

void print_input_free(struct print_input *input)
{
	set_as_read_free(&input->set);
	if (input->list)
		explicit_bzero(input->list, input->count * sizeof(*input->list));
	free(input->list);
}
