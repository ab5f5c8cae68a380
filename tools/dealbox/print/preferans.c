// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preferans.h"
#include "ui/files.h"

/* "7 AQJ... K9... T... 87...": number, three hands, talon. */
static bool line_take(struct dealbox_set *set, const char *file, uint32_t line, const char *text)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	char deal[DEALBOX_DEAL_TEXT], *rest;
	unsigned long number = strtoul(text, &rest, 10);
	bool good;

	good = number && number <= DEALBOX_BOARD_MAX && *rest == ' ' &&
	       snprintf(deal, sizeof(deal), "N:%s", rest + 1) < (int)sizeof(deal) &&
	       !dealbox_deal_parse(deal, &board.deal);
	board.number = (uint32_t)number;
	board.file = file;
	board.line = line;
	good = good && !dealbox_set_add(set, &board);
	explicit_bzero(deal, sizeof(deal));
	dealbox_deal_wipe(&board.deal);
	if (!good)
		complain("give a file that `dealbox generate --pack preferans` made",
			 "%s:%u: this is not a deal of preferans", file, line);
	return good;
}

static bool lines_take(struct dealbox_set *set, const char *file, char *text)
{
	bool good = true;
	uint32_t line = 0;
	char *end;

	for (; good && *text; text = end) {
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		text[strcspn(text, "\r")] = '\0';
		line++;
		if (*text)
			good = line_take(set, file, line, text);
	}
	return good;
}

enum status preferans_read(struct set_as_read *input, char *const *files, int count)
{
	bool good;

	*input = (struct set_as_read){ .set = dealbox_set_new(dealbox_pack_preferans()),
				       .report = dealbox_report_new() };
	good = input->set && input->report;
	if (!good)
		complain("free some memory", "out of memory");
	for (int i = 0; good && i < count; i++) {
		struct blob blob;

		good = file_read(files[i], &blob) && lines_take(input->set, files[i], blob.data);
		blob_wipe(&blob);
	}
	return good ? STATUS_DONE : STATUS_INPUT;
}
