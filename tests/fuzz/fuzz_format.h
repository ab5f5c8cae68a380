/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader of deal files with arbitrary input: the set has complete deals only, no sentence reveals
 * a card, and a set that can be written is the same after reading it back.
 */
#ifndef DEALBOX_FUZZ_FORMAT_H
#define DEALBOX_FUZZ_FORMAT_H

#include <sys/mman.h>
#include <unistd.h>

#include <dealbox/format.h>

#include "fuzz.h"

static void check_report(const struct dealbox_report *report)
{
	const struct dealbox_problem *problem;

	for (size_t i = 0; (problem = dealbox_report_get(report, i)); i++) {
		struct dealbox_problem other = *problem;
		char text[512], again[512];
		size_t length;

		CHECK(problem->code > DEALBOX_CODE_NONE && problem->code < DEALBOX_CODES);
		length = dealbox_problem_message(problem, false, text, sizeof(text));
		CHECK(length > 0 && length < sizeof(text));
		/* every field is filled in; a brace can only come from a label in the file */
		CHECK(!strchr(text, '{') || strchr(problem->text, '{'));
		other.card = problem->card ? 0 : 51;
		dealbox_problem_message(&other, false, again, sizeof(again));
		CHECK(!strcmp(text, again));
	}
}

static void check_set(const struct dealbox_set *set)
{
	struct dealbox_board board;

	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		CHECK(dealbox_deal_complete(&board.deal, dealbox_pack_bridge()));
		CHECK(board.number <= DEALBOX_BOARD_MAX && !(board.number && board.label));
		CHECK(board.dealer >= -1 && board.dealer < 4 && board.vulnerable >= -1 &&
		      board.vulnerable < 4 && board.file);
	}
}

/* Checks that the other set has every deal of one, with its number. The order may differ. */
static void check_same(const struct dealbox_set *one, const struct dealbox_set *other)
{
	struct dealbox_board a, b;
	bool numbered = false;

	for (size_t i = 0; !dealbox_set_get(one, i, &a); i++)
		numbered = numbered || a.number || a.label;
	for (size_t i = 0; !dealbox_set_get(one, i, &a); i++) {
		bool found = false;

		for (size_t j = 0; !found && !dealbox_set_get(other, j, &b); j++)
			found = !memcmp(&a.deal, &b.deal, sizeof(a.deal)) &&
				(!numbered || !b.number || a.number == b.number);
		CHECK(found);
	}
}

static void check_round_trip(const struct dealbox_format *format,
			     const struct dealbox_set *set)
{
	struct dealbox_set *again = dealbox_set_new(NULL);
	int fd = memfd_create("set", 0);

	CHECK(again && fd >= 0);
	if (!dealbox_format_write_fd(format, set, fd, "set", NULL)) {
		CHECK(lseek(fd, 0, SEEK_SET) == 0);
		CHECK(dealbox_format_read_fd(format, fd, "set", again, NULL, NULL) == 0);
		check_same(set, again);
		check_same(again, set);
	}
	close(fd);
	dealbox_set_free(again);
}

/* format: NULL to recognise it. */
static int fuzz_format(const struct dealbox_format *format, const uint8_t *data,
		       size_t size)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_format_tally tally = { 0 };
	uint8_t *copy = memdup(data, size);
	int err;

	CHECK(report && set);
	if (size & 1)
		dealbox_set_keep_text(set);
	err = dealbox_format_read_memory(format, copy, size, "fuzz", set, report, &tally);
	free(copy);
	CHECK(!err || dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM));
	CHECK(dealbox_set_count(set) == tally.complete);
	CHECK(tally.complete || dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM));
	CHECK(tally.complete + tally.partial + tally.invalid <= tally.games);
	CHECK(dealbox_set_check(set, report) >= 0);
	check_set(set);
	check_report(report);
	if (tally.complete && tally.complete < 200) {
		check_round_trip(dealbox_format_find("pbn"), set);
		check_round_trip(dealbox_format_find("lin"), set);
		check_round_trip(dealbox_format_find("dup"), set);
		if (format)
			check_round_trip(format, set);
	}
	dealbox_set_free(set);
	dealbox_report_free(report);
	return 0;
}

#endif
