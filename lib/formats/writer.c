// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shared by the writers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats.h"

static void flush(struct writer *writer)
{
	size_t done = 0;

	while (!writer->error && done < writer->used) {
		ssize_t wrote = write(writer->fd, writer->buffer + done,
				      writer->used - done);

		if (wrote < 0 && errno != EINTR)
			writer->error = -errno;
		if (wrote > 0)
			done += (size_t)wrote;
	}
	writer->used = 0;
}

char *writer_room(struct writer *writer, size_t size)
{
	if (!writer->buffer)
		writer->buffer = malloc(WRITER_ROOM);
	if (!writer->buffer) {
		writer->error = -ENOMEM;
		return NULL;
	}
	if (writer->used + size > WRITER_ROOM)
		flush(writer);
	return writer->buffer + writer->used;
}

void writer_add(struct writer *writer, const void *data, size_t size)
{
	char *place = writer_room(writer, size);

	if (!place)
		return;
	memcpy(place, data, size);
	writer->used += size;
}

void writer_text(struct writer *writer, const char *text)
{
	writer_add(writer, text, strlen(text));
}

void writer_print(struct writer *writer, const char *format, ...)
{
	char text[256];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (size < 0 || (size_t)size >= sizeof(text))
		writer->error = -EOVERFLOW;
	else
		writer_add(writer, text, (size_t)size);
}

int writer_end(struct writer *writer)
{
	flush(writer);
	if (writer->buffer)
		explicit_bzero(writer->buffer, WRITER_ROOM);
	free(writer->buffer);
	return writer->error;
}

char *number_put(uint32_t number, char *text)
{
	char digits[10];
	int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		*text++ = digits[--count];
	return text;
}

int board_dealer(const struct dealbox_board *board)
{
	if (board->dealer >= 0)
		return board->dealer;
	return board->number ? dealbox_board_dealer(board->number) : -1;
}

int board_vulnerable(const struct dealbox_board *board)
{
	if (board->vulnerable >= 0)
		return board->vulnerable;
	return board->number ? dealbox_board_vulnerable(board->number) : -1;
}

int cannot_express(struct dealbox_report *report, const struct dealbox_board *board,
		   const char *what)
{
	struct dealbox_problem problem = SAY(.code = DEALBOX_CODE_CANNOT_EXPRESS);

	problem.severity = DEALBOX_SEVERITY_PROBLEM;
	if (board) {
		problem.file = board->file;
		problem.line = board->line;
		problem.byte = board->byte;
		dealbox_board_name(board, problem.board, sizeof(problem.board));
	}
	snprintf(problem.text, sizeof(problem.text), "%s", what);
	dealbox_report_add(report, &problem);
	return -ENOTSUP;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool same_board(const struct dealbox_set *set, uint64_t one, uint64_t other)
{
	struct dealbox_board a, b;

	if (one >> 32 != other >> 32 || !(one >> 32))
		return false;
	dealbox_set_get(set, (uint32_t)one, &a);
	dealbox_set_get(set, (uint32_t)other, &b);
	return !memcmp(&a.deal, &b.deal, sizeof(a.deal));
}

int ordered_begin(struct ordered *ordered, const struct dealbox_set *set, bool unique)
{
	size_t count = dealbox_set_count(set), kept = 0;
	struct dealbox_board board;

	*ordered = (struct ordered) { .set = set, .count = count };
	for (size_t i = 0; i < count && !ordered->numbered; i++) {
		dealbox_set_get(set, i, &board);
		ordered->numbered = board.number || board.label;
	}
	if (!ordered->numbered || !unique)
		return 0;
	ordered->boards = malloc(count * sizeof(*ordered->boards));
	if (!ordered->boards)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		dealbox_set_get(set, i, &board);
		ordered->boards[i] = (uint64_t)board.number << 32 | (uint32_t)i;
	}
	qsort(ordered->boards, count, sizeof(*ordered->boards), compare_u64);
	for (size_t i = 0; i < count; i++)
		if (!kept || !same_board(set, ordered->boards[kept - 1],
					 ordered->boards[i]))
			ordered->boards[kept++] = ordered->boards[i];
	ordered->count = kept;
	return 0;
}

void ordered_get(const struct ordered *ordered, size_t n, struct dealbox_board *board)
{
	dealbox_set_get(ordered->set, ordered->boards ? (uint32_t)ordered->boards[n] : n,
			board);
	if (!ordered->numbered)
		board->number = (uint32_t)n + 1;
}

void ordered_end(struct ordered *ordered)
{
	free(ordered->boards);
}

void write_records(struct writer *writer, const struct dealbox_set *set, size_t size,
		   void (*put)(const struct dealbox_deal *deal, size_t index, char *record))
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	struct ordered ordered;
	int err = ordered_begin(&ordered, set, true);

	if (!writer->error)
		writer->error = err;
	for (size_t i = 0; !writer->error && i < ordered.count; i++) {
		char *record = writer_room(writer, size);

		if (!record)
			break;
		ordered_get(&ordered, i, &board);
		put(&board.deal, i, record);
		writer->used += size;
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
}

static int no_memory(struct dealbox_report *report)
{
	return cannot_express(report, NULL, "out of memory");
}

int need_numbers(const struct dealbox_set *set, uint32_t max, bool range,
		 struct dealbox_report *report)
{
	struct dealbox_board board;
	struct ordered ordered;
	uint32_t last = 0;
	char text[32];
	int err = 0;

	snprintf(text, sizeof(text), "numbers above %u", max);
	if (ordered_begin(&ordered, set, range)) {
		ordered_end(&ordered);
		return no_memory(report);
	}
	if (ordered.count && !ordered.numbered)
		err = cannot_express(report, NULL, "boards that have no numbers");
	for (size_t i = 0; ordered.numbered && i < ordered.count; i++) {
		ordered_get(&ordered, i, &board);
		if (!board.number)
			err = cannot_express(report, &board, "a board without a number");
		else if (board.number > max)
			err = cannot_express(report, &board, text);
		else if (range && board.number == last)
			err = cannot_express(report, &board, "a number with two deals");
		else if (range && last && board.number != last + 1)
			err = cannot_express(report, &board, "gaps in the numbers");
		last = board.number;
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
	return err;
}

int need_no_numbers(const struct dealbox_set *set, struct dealbox_report *report)
{
	struct dealbox_board board;
	struct ordered ordered;
	int err = 0;

	if (ordered_begin(&ordered, set, true)) {
		ordered_end(&ordered);
		return no_memory(report);
	}
	for (size_t i = 0; i < ordered.count && !err; i++) {
		ordered_get(&ordered, i, &board);
		if (board.number != i + 1)
			err = cannot_express(report, &board,
					     "numbers that are not 1, 2, 3 ..");
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
	return err;
}
