// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the writers share. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format-internal.h"

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
	struct dealbox_problem problem = SAY(.code = DEALBOX_CANNOT_EXPRESS);

	problem.severity = DEALBOX_PROBLEM;
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
