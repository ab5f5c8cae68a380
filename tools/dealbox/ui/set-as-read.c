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
		complain(NULL, "%s%s", problem->severity == DEALBOX_SEVERITY_NOTE ? "note: " : "",
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
	set_as_read_complain_of(report, DEALBOX_SEVERITY_PROBLEM, reveal);
	set_as_read_complain_of(report, DEALBOX_SEVERITY_NOTE, reveal);
}

static struct json_object *counts_json(const struct dealbox_report *report)
{
	struct json_object *counts = json_object_new_object();

	for (unsigned int code = 0; code < DEALBOX_CODES; code++)
		json_add_known(counts, dealbox_code_name(code),
			       (int64_t)dealbox_report_found_code(report, code));
	return counts;
}

/*
 * Add the members that the sentence shows without names of cards, so that a program can translate
 * it.
 */
static void fields_json(struct json_object *object, const struct dealbox_problem *problem)
{
	const char *sentence = dealbox_code_sentence(problem->code, problem->count);
	const char letter[] = { dealbox_seat_letter(problem->hand), '\0' };
	char text[2 * sizeof(problem->text)], letters[DEALBOX_HANDS + 1], *end = letters;
	unsigned int seat;

	if (strstr(sentence, "{hand}"))
		json_add_text(object, "hand", letter);
	if (strstr(sentence, "{hands}")) {
		for (seat = 0; seat < DEALBOX_HANDS; seat++)
			if (problem->hands >> seat & 1)
				*end++ = dealbox_seat_letter((int)seat);
		*end = '\0';
		json_add_text(object, "hands", letters);
	}
	if (strstr(sentence, "{count}"))
		json_add_number(object, "count", problem->count);
	if (strstr(sentence, "{expected}"))
		json_add_number(object, "expected", problem->expected);
	if (strstr(sentence, "{text}")) {
		dealbox_text_safe(problem->text, sizeof(problem->text), text, sizeof(text));
		json_add_text(object, "quote", text);
	}
}

/* Add the number of a board, or the text that its file has instead. */
static void place_json(struct json_object *object, const char *name)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	if (name[0] >= '1' && name[0] <= '9' && !*end && number <= UINT32_MAX)
		json_add_number(object, "board", (int64_t)number);
	else
		json_add_text(object, "board_label", name);
}

void set_as_read_board_json(struct json_object *object, const struct dealbox_board *board)
{
	if (board->number)
		json_add_number(object, "board", board->number);
	else
		json_add_text(object, "board_label", board->label);
}

void set_as_read_json(const struct dealbox_report *report, size_t deals, bool reveal)
{
	const struct dealbox_problem *problem;
	struct json_object *object;

	for (size_t i = 0; (problem = dealbox_report_get(report, i)); i++) {
		char *text = sentence(dealbox_problem_message, problem, reveal);

		object = json_line("problem");
		json_add_text(object, "file", problem->file);
		if (problem->line)
			json_add_number(object, "line", problem->line);
		else
			json_add_number(object, "byte", (int64_t)problem->byte);
		place_json(object, problem->board);
		json_add_text(object, "severity",
			      problem->severity == DEALBOX_SEVERITY_NOTE ? "note" : "problem");
		json_add_text(object, "problem", dealbox_code_name(problem->code));
		fields_json(object, problem);
		json_add_text(object, "text", text);
		json_say(object);
		free(text);
	}
	object = json_line("summary");
	json_add_number(object, "deals", (int64_t)deals);
	json_object_object_add(object, "problem_counts", counts_json(report));
	json_say(object);
}
