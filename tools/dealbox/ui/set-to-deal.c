// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading and writing sets for the commands that deal. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/format.h>
#include <dealbox/report.h>

#include "sealed.h"
#include "set-as-read.h"
#include "set-to-deal.h"

/* Print the problems of a report. Returns their number. */
static size_t problems_say(const struct dealbox_report *report, bool reveal)
{
	set_as_read_complain_of(report, DEALBOX_SEVERITY_PROBLEM, reveal);
	return dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM);
}

/* Number for the first unnumbered board, 0 = none */
static unsigned long number_from;

void set_to_deal_number_from(unsigned long first)
{
	number_from = first;
}

/* problems are also printed as JSON */
static bool as_json;

void set_to_deal_problems_as_json(void)
{
	as_json = true;
}

/* Return true if a board has no number. Without one, it cannot be dealt. */
static bool numbers_check(const struct dealbox_set *set, struct dealbox_report *report)
{
	struct dealbox_board board;
	bool lacks = false;
	size_t n;

	for (n = 0; !dealbox_set_get(set, n, &board); n++) {
		struct dealbox_problem problem = {
			.file = board.file,
			.line = board.line,
			.byte = board.byte,
			.severity = DEALBOX_SEVERITY_PROBLEM,
			.code = board.label ? DEALBOX_CODE_BOARD_NOT_NUMBER :
					      DEALBOX_CODE_BOARD_MISSING,
			.card = DEALBOX_CARD_NONE,
		};

		if (board.number && board.number <= DEALBOX_BOARD_DEALT_MAX)
			continue;
		dealbox_board_name(&board, problem.board, sizeof(problem.board));
		snprintf(problem.text, sizeof(problem.text), "%s", problem.board);
		dealbox_report_add(report, &problem);
		lacks = lacks || (!board.number && !board.label);
	}
	dealbox_deal_wipe(&board.deal);
	return lacks;
}

/*
 * Read a file, sealed or not; "-" is standard input. Returns -EACCES, after reporting it, if it
 * cannot be unsealed.
 */
static int file_add(const char *path, struct dealbox_set *set, struct dealbox_report *report)
{
	const bool piped = !strcmp(path, "-");
	char name[DEALBOX_SEAL_NAME];
	struct blob blob;
	int ret = -EACCES;

	if (piped && !sealed_secret_given())
		return dealbox_format_read_fd(NULL, STDIN_FILENO, "standard input", set, report,
					      NULL);
	if (!piped && !sealed_is(path))
		return dealbox_format_read_file(NULL, path, set, report, NULL);
	if (piped ? sealed_open_piped(&blob, name) : sealed_open(path, &blob, name))
		ret = dealbox_format_read_memory(NULL, blob.data, blob.size, name, set, report,
						 NULL);
	blob_wipe(&blob);
	return ret;
}

enum status set_to_deal_read(char *const *files, int count, bool reveal, const char *follows,
			     struct dealbox_set **out)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	int ret = report && set ? 0 : -ENOMEM;
	bool unread = false, lacks = false;
	size_t problems;
	int n;

	*out = NULL;
	if (set)
		dealbox_set_number_from(set, (uint32_t)number_from);
	for (n = 0; !ret && n < count; n++) {
		ret = file_add(files[n], set, report);
		unread = unread || ret;
		if (ret != -ENOMEM && ret != -EACCES)
			ret = 0;	/* it is in the report; read the other files too */
	}
	if (!ret) {
		lacks = numbers_check(set, report);
		if (dealbox_set_check(set, report) == -ENOMEM)
			ret = -ENOMEM;
	}
	if (ret == -EACCES) {
		problems = 1;
	} else if (ret) {
		complain("free some memory, or give it fewer files", "out of memory");
		problems = 1;
	} else {
		problems = problems_say(report, reveal);
		if (problems && as_json)
			set_as_read_json(report, dealbox_set_count(set), reveal);
		if (problems)
			complain(unread ? "give the names of files with deals" :
				 lacks ? "`dealbox convert --first N` numbers the boards of a file "
					 "that does not" :
				 "correct the file; `dealbox check` shows all its problems",
				 "%s", follows);
	}
	dealbox_report_free(report);
	if (!problems) {
		*out = set;
		return STATUS_DONE;
	}
	dealbox_set_free(set);
	return STATUS_INPUT;
}

static const struct dealbox_format *format_of(const char *path, const char *name)
{
	return name ? dealbox_format_find(name) : dealbox_format_by_suffix(path);
}

bool set_to_deal_can_be(const char *path, const char *name)
{
	const struct dealbox_format *format = format_of(path, name);

	if (!format || !dealbox_format_writable(format))
		complain("name it .pbn, for example",
			 "%s: no format that can be written has this suffix", name ? name : path);
	else if (file_exists(path))
		complain("move it away first, or choose another name",
			 "%s: there is such a file already", path);
	else
		return true;
	return false;
}

bool set_to_deal_write(const struct dealbox_set *set, const char *path, const char *name)
{
	const struct dealbox_format *format = format_of(path, name);
	struct dealbox_report *report;
	bool good = false;

	if (!set_to_deal_can_be(path, name))
		return false;
	report = dealbox_report_new();
	if (dealbox_set_marks(set) & DEALBOX_MARK_RESTRICTED &&
	    strcmp(dealbox_format_name(format), "pbn"))
		complain("name it .pbn", "%s: only PBN can say that the deals are restricted",
			 path);
	else if (!dealbox_format_write_file(format, set, path, report))
		good = true;
	else
		problems_say(report, false);
	dealbox_report_free(report);
	return good;
}

void set_to_deal_digest(const struct dealbox_set *set, char digest[SET_TO_DEAL_DIGEST])
{
	crypto_generichash_state state;
	unsigned char hash[(SET_TO_DEAL_DIGEST - 1) / 2];
	struct dealbox_board board;
	uint64_t number;
	size_t n;

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	for (n = 0; !dealbox_set_get(set, n, &board); n++) {
		number = board.number;
		crypto_generichash_update(&state, (const unsigned char *)&number, sizeof(number));
		crypto_generichash_update(&state, (const unsigned char *)&board.deal,
					  sizeof(board.deal));
	}
	crypto_generichash_final(&state, hash, sizeof(hash));
	sodium_bin2hex(digest, SET_TO_DEAL_DIGEST, hash, sizeof(hash));
	dealbox_deal_wipe(&board.deal);
}
