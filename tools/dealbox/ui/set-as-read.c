// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sealed.h"
#include "set-as-read.h"

static int numbered_already(void)
{
	complain("omit it", "--first: the boards have numbers in their files already");
	return -EINVAL;
}

/* Returns -EACCES, after reporting it, if the file cannot be unsealed. */
static int sealed_read(struct set_as_read *input, const struct reading *reading, const char *path)
{
	char name[DEALBOX_SEAL_NAME];
	struct blob blob;
	int err = -EACCES;

	if (sealed_open(path, &blob, name))
		err = dealbox_format_read_memory(reading->from, blob.data, blob.size, name,
						 input->set, input->report, NULL);
	blob_wipe(&blob);
	return err;
}

enum status set_as_read_files(struct set_as_read *input, const struct reading *reading,
			      char *const *files, int count)
{
	int err = 0;

	*input = (struct set_as_read) {
		.set = dealbox_set_new(NULL), .report = dealbox_report_new(),
	};
	if (!input->set || !input->report)
		err = -ENOMEM;
	else
		dealbox_set_number_from(input->set, (uint32_t)reading->first);
	if (!err && reading->keep_text)
		dealbox_set_keep_text(input->set);
	if (!err && reading->keep_partial)
		dealbox_set_keep_partial(input->set);
	for (int i = 0; i < count && err != -ENOMEM; i++) {
		if (reading->sealed && strcmp(files[i], "-") && sealed_is(files[i]))
			err = sealed_read(input, reading, files[i]);
		else if (strcmp(files[i], "-"))
			err = dealbox_format_read_file(reading->from, files[i], input->set,
						       input->report, NULL);
		else
			err = dealbox_format_read_fd(reading->from, STDIN_FILENO, "standard input",
						     input->set, input->report, NULL);
		input->unread += err != 0;
	}
	if (err != -ENOMEM)
		err = dealbox_set_check(input->set, input->report) < 0 ? -ENOMEM : 0;
	if (err)
		complain("free some memory, or give it fewer files", "out of memory");
	else if (reading->first && dealbox_set_count(input->set) &&
		 !dealbox_set_numbered(input->set))
		err = numbered_already();
	return err ? STATUS_INPUT : STATUS_DONE;
}

void set_as_read_free(struct set_as_read *input)
{
	dealbox_set_free(input->set);
	dealbox_report_free(input->report);
}

int board_dealer(const struct dealbox_board *board)
{
	if (board->dealer >= 0 || !board->number)
		return board->dealer;
	return dealbox_board_dealer(board->number);
}

int board_vulnerable(const struct dealbox_board *board)
{
	if (board->vulnerable >= 0 || !board->number)
		return board->vulnerable;
	return dealbox_board_vulnerable(board->number);
}

const struct dealbox_format *set_as_read_format(const struct args *args, const char *option,
						const char *name)
{
	const struct dealbox_format *format = dealbox_format_find(name);

	if (!format)
		args_wrong(args, "--%s: there is no format '%s', only " SET_AS_READ_FORMATS,
			   option, name);
	return format;
}

static bool input_wrong(struct args *args)
{
	args->status = STATUS_INPUT;
	return false;
}

bool look_parse(struct look *look, struct args *args)
{
	const char *value;
	int key;

	*look = (struct look){ 0 };
	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'j') {
			look->json = true;
		} else if (key == KEY_REVEAL) {
			look->reveal = true;
		} else if (key == KEY_DOUBLE_DUMMY) {
			look->double_dummy = true;
		} else if (key == KEY_FIRST) {
			if (!args_number(args, "first", value, 1, DEALBOX_BOARD_DEALT_MAX,
					 &look->reading.first))
				return input_wrong(args);
		} else {
			look->reading.from = set_as_read_format(args, "from", value);
			if (!look->reading.from)
				return input_wrong(args);
		}
	}
	if (key == ARGS_STOP)
		return false;
	if (!args->argc)
		args->status = args_wrong(args, "it needs the name of a file");
	return args->argc;
}

/* Allocate the sentence: with a file name in it, its length is unlimited. */
static char *sentence(size_t (*make)(const struct dealbox_problem *, bool, char *, size_t),
		      const struct dealbox_problem *problem, bool reveal)
{
	size_t size = make(problem, reveal, NULL, 0) + 1;
	char *text = malloc(size);

	if (text)
		make(problem, reveal, text, size);
	return text;
}

#define KIND_SAID	20	/* problems printed per kind; the rest is counted */

/* Print the problems of the same kind as the one at index first. */
static void complain_kind(const struct dealbox_report *report, size_t first, bool reveal)
{
	const struct dealbox_problem *kind = dealbox_report_get(report, first), *problem;
	size_t found = dealbox_report_found_code(report, kind->code), said = 0;

	for (size_t i = 0; (problem = dealbox_report_get(report, i)); i++) {
		char *text;

		if (problem->code != kind->code)
			continue;
		/* The same code may be a note or a problem. */
		if (problem->severity != kind->severity)
			found--;
		if (problem->severity != kind->severity || said == KIND_SAID)
			continue;
		text = sentence(dealbox_problem_describe, problem, reveal);
		complain(NULL, "%s%s", problem->severity == DEALBOX_NOTE ? "note: " : "",
			 text ? text : dealbox_code_name(problem->code));
		free(text);
		said++;
	}
	if (found > said)
		complain(NULL, "and %zu more of this kind (%s)", found - said,
			 dealbox_code_name(kind->code));
}

void set_as_read_complain_of(const struct dealbox_report *report, enum dealbox_severity severity,
			     bool reveal)
{
	const struct dealbox_problem *problem;
	bool said[DEALBOX_CODES] = { false };

	for (size_t i = 0; (problem = dealbox_report_get(report, i)); i++) {
		if (problem->severity != severity || said[problem->code])
			continue;
		said[problem->code] = true;
		complain_kind(report, i, reveal);
	}
}

void set_as_read_complain(const struct dealbox_report *report, bool reveal)
{
	set_as_read_complain_of(report, DEALBOX_PROBLEM, reveal);
	set_as_read_complain_of(report, DEALBOX_NOTE, reveal);
}

/* Return the length of the UTF-8 character at text, 0 if it is not valid. */
static size_t utf8_size(const unsigned char *text)
{
	size_t size = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 :
		      text[0] >= 0xe0 && text[0] < 0xf0 ? 3 :
		      text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < size; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

void set_as_read_text_json(const char *text)
{
	putchar('"');
	while (*text) {
		const unsigned char *byte = (const unsigned char *)text;
		size_t size = utf8_size(byte);

		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if (*byte < 0x20 || !size)
			printf("\\u%04x", *byte);
		else
			fwrite(text, 1, size, stdout);
		text += size ? size : 1;
	}
	putchar('"');
}

void set_as_read_counts_json(const struct dealbox_report *report)
{
	const char *comma = "";

	putchar('{');
	for (unsigned int code = 0; code < DEALBOX_CODES; code++) {
		if (!dealbox_report_found_code(report, code))
			continue;
		printf("%s\"%s\":%zu", comma, dealbox_code_name(code),
		       dealbox_report_found_code(report, code));
		comma = ",";
	}
	putchar('}');
}

/*
 * Print the members that the sentence shows without names of cards, so that a program can translate
 * it.
 */
static void fields_json(const struct dealbox_problem *problem)
{
	const char *sentence = dealbox_code_sentence(problem->code, problem->count);
	char text[2 * sizeof(problem->text)];
	unsigned int seat;

	if (strstr(sentence, "{hand}"))
		printf(",\"hand\":\"%c\"", dealbox_seat_letter(problem->hand));
	if (strstr(sentence, "{hands}")) {
		fputs(",\"hands\":\"", stdout);
		for (seat = 0; seat < DEALBOX_HANDS; seat++)
			if (problem->hands >> seat & 1)
				putchar(dealbox_seat_letter((int)seat));
		putchar('"');
	}
	if (strstr(sentence, "{count}"))
		printf(",\"count\":%" PRIu32, problem->count);
	if (strstr(sentence, "{expected}"))
		printf(",\"expected\":%" PRIu32, problem->expected);
	if (strstr(sentence, "{text}")) {
		dealbox_text_safe(problem->text, sizeof(problem->text), text, sizeof(text));
		fputs(",\"text\":", stdout);
		set_as_read_text_json(text);
	}
}

void set_as_read_problems_json(const struct dealbox_report *report, bool reveal)
{
	const struct dealbox_problem *problem;

	putchar('[');
	for (size_t i = 0; (problem = dealbox_report_get(report, i)); i++) {
		char *text = sentence(dealbox_problem_message, problem, reveal);

		printf("%s{\"file\":", i ? ",\n" : "");
		if (problem->file)
			set_as_read_text_json(problem->file);
		else
			fputs("null", stdout);
		if (problem->line)
			printf(",\"line\":%" PRIu32, problem->line);
		else
			printf(",\"line\":null,\"byte\":%" PRIu64, problem->byte);
		fputs(",\"board\":", stdout);
		if (problem->board[0])
			set_as_read_text_json(problem->board);
		else
			fputs("null", stdout);
		printf(",\"severity\":\"%s\",\"code\":\"%s\"",
		       problem->severity == DEALBOX_NOTE ? "note" : "problem",
		       dealbox_code_name(problem->code));
		fields_json(problem);
		fputs(",\"message\":", stdout);
		set_as_read_text_json(text ? text : "");
		putchar('}');
		free(text);
	}
	putchar(']');
}
