// SPDX-License-Identifier: LGPL-2.1-or-later
/* generate FILE: writes 24 random deals into a new file, of the format that its name says. */
#include <stdio.h>
#include <string.h>

#include <dealbox/deal.h>
#include <dealbox/format.h>
#include <dealbox/pack.h>
#include <dealbox/random.h>
#include <dealbox/report.h>
#include <dealbox/set.h>
#include <dealbox/version.h>

int main(int argc, char **argv)
{
	const struct dealbox_format *format = argc == 2 ? dealbox_format_by_suffix(argv[1]) : NULL;
	struct dealbox_set *set = dealbox_set_new(dealbox_pack_bridge());
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	struct dealbox_random *random;
	char text[256];
	int err;

	if (!format || !set || !report) {
		fprintf(stderr, "usage: generate FILE; libdealbox %#x\n", dealbox_version());
		return 2;
	}
	err = dealbox_random_new(&random);
	if (err) {
		fprintf(stderr, "no random numbers: %s\n", strerror(-err));
		return 1;
	}
	for (board.number = 1; board.number <= 24 && !err; board.number++) {
		board.dealer = dealbox_board_dealer(board.number);
		board.vulnerable = dealbox_board_vulnerable(board.number);
		err = dealbox_random_deal(random, dealbox_pack_bridge(), NULL, &board.deal);
		if (!err)
			err = dealbox_set_add(set, &board);
	}
	dealbox_deal_wipe(&board.deal);
	dealbox_random_free(random);
	if (!err)
		err = dealbox_format_write_file(format, set, argv[1], report);
	for (size_t i = 0; i < dealbox_report_count(report); i++) {
		/* false: no card is named */
		dealbox_problem_describe(dealbox_report_get(report, i), false, text, sizeof(text));
		fprintf(stderr, "%s\n", text);
	}
	dealbox_report_free(report);
	dealbox_set_free(set);
	return err ? 1 : 0;
}
