// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input.h"
#include "preferans.h"

int64_t print_made(int64_t date)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");

	return given && *given ? strtoll(given, NULL, 10) : date;
}

static int64_t date_of(const char *path)
{
	struct stat st;

	return print_made(strcmp(path, "-") && !stat(path, &st) ? st.st_mtime : -1);
}

static bool is_chosen(const struct print_input *input, const struct dealbox_board *board)
{
	return !input->chosen || (board->number && boards_has(&input->boards, board->number));
}

static bool pick(const struct dealbox_board *board, void *context)
{
	return is_chosen(context, board);
}

static struct sheet_board *board_take(struct print_input *input, const struct dealbox_board *board)
{
	struct sheet_board *to = &input->list[input->count];

	*to = (struct sheet_board){ .deal = board->deal, .dealer = -1, .vulnerable = -1 };
	if (!input->preferans) {
		to->dealer = board_dealer(board);
		to->vulnerable = board_vulnerable(board);
	}
	dealbox_board_name(board, to->name, sizeof(to->name));
	input->count++;
	return to;
}

static void complete_take(struct print_input *input, const struct dealbox_board *board, size_t i)
{
	struct sheet_board *to = board_take(input, board);

	if (!input->tables)
		return;
	to->tricks = &input->tables[i];
	if (par_of_board(board, to->tricks, &input->pars[i]))
		to->par = &input->pars[i];
}

/* Complete and partial deals in the order of the files. Returns the number of partial ones. */
static size_t all_take(struct print_input *input)
{
	const struct dealbox_set *set = input->set.set;
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	size_t partial = 0, before;

	for (size_t i = 0; i <= dealbox_set_count(set); i++) {
		while (!dealbox_set_get_partial(set, partial, &board, &before) && before <= i) {
			if (is_chosen(input, &board))
				board_take(input, &board);
			partial++;
		}
		if (!dealbox_set_get(set, i, &board))
			complete_take(input, &board, i);
	}
	dealbox_deal_wipe(&board.deal);
	return partial;
}

static size_t partial_count(const struct dealbox_set *set)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	size_t count = 0;

	while (!dealbox_set_get_partial(set, count, &board, NULL))
		count++;
	dealbox_deal_wipe(&board.deal);
	return count;
}

static bool solve(struct print_input *input)
{
	if (!input->double_dummy || !dealbox_set_count(input->set.set))
		return true;
	input->tables = double_dummy_solve(input->set.set);
	return input->tables;
}

static enum status boards_take(struct print_input *input)
{
	const size_t count = dealbox_set_count(input->set.set);
	size_t partial;

	if (!solve(input))
		return STATUS_INPUT;
	input->list = calloc(count + partial_count(input->set.set) + 1, sizeof(*input->list));
	input->pars = calloc(count + 1, sizeof(*input->pars));
	if (!input->list || !input->pars) {
		complain("give it fewer files", "out of memory");
		return STATUS_INPUT;
	}
	partial = all_take(input);
	if (!input->count) {
		complain(input->chosen ? "give --boards that the files have" :
			 "give the names of files with deals",
			 "there is no board to print; nothing was written");
		return STATUS_INPUT;
	}
	if (partial)
		complain(NULL, "note: what is known of incomplete deals is printed: %zu", partial);
	return STATUS_DONE;
}

enum status print_input_read(struct print_input *input, char *const *files, int count)
{
	enum status status;

	input->reading.keep_partial = true;
	input->reading.sealed = true;
	status = input->preferans ? preferans_read(&input->set, files, count) :
				    set_as_read_files(&input->set, &input->reading, files, count);

	input->made = date_of(files[0]);
	if (status)
		return status;
	set_as_read_complain(input->set.report, false);
	if (input->chosen)
		dealbox_set_filter(input->set.set, pick, input);
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
	free(input->tables);
	free(input->pars);
}
