// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * DLM, Duplimate of Windows: a text of keys and values. A board is 26 letters, each for the
 * owners of two cards, and a checksum; only the boards From..To are deals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"

#define LETTERS		26
#define BOARDS_MAX	99

struct entry {
	const char *value;
	size_t size;
	uint32_t line;		/* 0 = not there */
	uint32_t number;
};

struct dlm {
	struct entry status, duplicates, from, to, crypto, checksum;
};

/* -- reading ----------------------------------------------------------------- */

/* Returns true if the line is `key=value`, ignoring spaces around the key, and its case. */
static bool is_key(const struct lines *lines, const char *key, struct entry *entry)
{
	const char *text = lines->text, *equals = memchr(text, '=', lines->size);
	size_t size = strlen(key), left;

	if (!equals)
		return false;
	left = (size_t)(equals - text);
	while (left && (*text == ' ' || *text == '\t')) {
		text++;
		left--;
	}
	while (left && (text[left - 1] == ' ' || text[left - 1] == '\t'))
		left--;
	if (left != size || strncasecmp(text, key, size))
		return false;
	entry->value = equals + 1;
	entry->size = (size_t)(lines->text + lines->size - entry->value);
	entry->line = lines->number;
	entry->number = parse_number(entry->value, entry->size);
	return true;
}

/* Returns true for `Board nn=`. The number must follow the word. */
static bool is_board(const struct lines *lines, struct entry *entry)
{
	const char *text = lines->text, *end = text + lines->size, *equals;

	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	if (end - text < 7 || strncasecmp(text, "Board ", 6))
		return false;
	equals = memchr(text, '=', (size_t)(end - text));
	if (!equals)
		return false;
	entry->number = parse_number(text + 6, (size_t)(equals - text - 6));
	entry->value = equals + 1;
	entry->size = (size_t)(end - entry->value);
	entry->line = lines->number;
	while (entry->size && (entry->value[entry->size - 1] == ' ' ||
			       entry->value[entry->size - 1] == '\t'))
		entry->size--;
	return entry->number != 0;
}

static void read_head(struct dlm *dlm, const struct reader *reader)
{
	const struct {
		const char *key;
		struct entry *entry;
	} keys[] = {
		{ "Status", &dlm->status }, { "Duplicates", &dlm->duplicates },
		{ "From board", &dlm->from }, { "To board", &dlm->to },
		{ "Crypto key", &dlm->crypto }, { "Checksum", &dlm->checksum },
	};
	struct lines lines;

	lines_begin(&lines, reader->data, reader->size);
	while (lines_next(&lines))
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (!keys[i].entry->line &&
			    is_key(&lines, keys[i].key, keys[i].entry))
				break;
}

static uint32_t head_sum(uint32_t duplicates, uint32_t from, uint32_t to, bool show)
{
	return duplicates ^ from ^ to ^ show;
}

static void check_head(struct reader *reader, const struct dlm *dlm)
{
	bool show = dlm->status.size >= 4 && !strncasecmp(dlm->status.value, "Show", 4);
	uint32_t sum = head_sum(dlm->duplicates.number, dlm->from.number, dlm->to.number,
				show);
	uint32_t other = (dlm->to.number - dlm->from.number + 1) ^ show;

	/* one program writes the number of boards instead */
	if (dlm->checksum.line && dlm->checksum.number != sum &&
	    dlm->checksum.number != other)
		reader_say(reader, NULL, dlm->checksum.line,
			   SAY(.code = DEALBOX_CODE_CHECKSUM_WRONG,
			       .count = dlm->checksum.number, .expected = sum));
}

static uint32_t board_sum(uint32_t number, const char *letters)
{
	uint32_t sum = number;

	for (int i = 0; i < LETTERS; i++)
		sum ^= (unsigned char)letters[i];
	return sum;
}

static void put_letters(const struct dealbox_deal *deal, char *letters)
{
	memset(letters, 0, LETTERS);
	for (int seat = 0; seat < 4; seat++)
		for (dealbox_cards left = deal->hand[seat]; left; left &= left - 1) {
			int card = __builtin_ctzll(left);

			letters[card / 2] |= (char)(card & 1 ? seat : seat << 2);
		}
	for (int i = 0; i < LETTERS; i++)
		letters[i] = (char)(letters[i] + 'a');
}

/* Reads a board of the range. */
static void take_board(struct reader *reader, const struct entry *entry)
{
	struct found found = FOUND_INIT;
	uint32_t sum;

	found.where = entry->line;
	found.number = entry->number;
	found.given = 15;
	reader->tally.games++;
	if (entry->size != LETTERS + 3 ||
	    (!parse_number(entry->value + LETTERS, 3) &&
	     memcmp(entry->value + LETTERS, "000", 3))) {
		reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_RECORD_INVALID));
		reader_spoiled(reader, &found);
		return;
	}
	/* each card has one place, so none can be repeated */
	for (int i = 0; i < LETTERS; i++) {
		int owners = entry->value[i] - 'a';

		if (owners < 0 || owners > 15) {
			reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_BAD_CARD));
			reader_spoiled(reader, &found);
			return;
		}
		found.deal.hand[owners >> 2] |= (dealbox_cards)1 << 2 * i;
		found.deal.hand[owners & 3] |= (dealbox_cards)2 << 2 * i;
	}
	sum = board_sum(entry->number, entry->value);
	if (parse_number(entry->value + LETTERS, 3) != sum) {
		reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_CHECKSUM_WRONG,
			   .count = parse_number(entry->value + LETTERS, 3),
			   .expected = sum));
		reader_spoiled(reader, &found);
		return;
	}
	reader_deal(reader, &found);
}

/* The placeholder of Big Deal and others: one suit in each hand. */
static bool is_filler(const struct entry *entry)
{
	static const char filler[] = "aaaaaabffffffkkkkkklpppppp";

	return entry->size >= LETTERS && !memcmp(entry->value, filler, LETTERS);
}

static void read_dlm(struct reader *reader)
{
	struct dealbox_problem outside = SAY(.code = DEALBOX_CODE_OUTSIDE_RANGE);
	uint32_t seen = 0, expected;
	struct dlm dlm = { 0 };
	struct entry entry;
	struct lines lines;

	read_head(&dlm, reader);
	if (dlm.crypto.number) {
		reader_say(reader, NULL, dlm.crypto.line, SAY(.code = DEALBOX_CODE_ENCRYPTED));
		return;
	}
	if (!dlm.from.number || !dlm.to.number || dlm.from.number > dlm.to.number) {
		/* the range is unknown, and most boards may be placeholders */
		reader_say(reader, NULL, dlm.from.line ? dlm.from.line : 1,
			   SAY(.code = DEALBOX_CODE_RECORD_INVALID));
		return;
	}
	check_head(reader, &dlm);

	lines_begin(&lines, reader->data, reader->size);
	while (lines_next(&lines)) {
		if (!is_board(&lines, &entry))
			continue;
		if (entry.number >= dlm.from.number && entry.number <= dlm.to.number) {
			seen++;
			take_board(reader, &entry);
		} else if (!outside.line && !is_filler(&entry)) {
			outside.line = entry.line;
		}
	}
	if (outside.line) {
		snprintf(outside.text, sizeof(outside.text), "%u to %u", dlm.from.number,
			 dlm.to.number);
		reader_say(reader, NULL, outside.line, outside);
	}
	expected = dlm.to.number - dlm.from.number + 1;
	if (seen < expected)
		reader_say(reader, NULL, dlm.to.line, SAY(.code = DEALBOX_CODE_COUNT_DISAGREES,
			   .count = seen, .expected = expected));
}

static int recognise_dlm(const uint8_t *data, size_t size, uint64_t total)
{
	struct lines lines;
	struct entry entry;

	(void)total;
	lines_begin(&lines, data, size);
	while (lines_next(&lines)) {
		if (lines.size >= 10 && !strncasecmp(lines.text, "[Document]", 10))
			return 90;
		if (is_key(&lines, "From board", &entry) ||
		    (is_board(&lines, &entry) && entry.size == LETTERS + 3))
			return 70;
	}
	return 0;
}

/* -- writing ------------------------------------------------------------------- */

static int can_write_dlm(const struct dealbox_set *set, struct dealbox_report *report)
{
	if (!dealbox_set_count(set))
		return cannot_express(report, NULL, "no boards at all");
	return need_numbers(set, BOARDS_MAX, true, report);
}

/* Boards outside From..To have no line, because its contents could be taken for a deal. */
static void write_dlm(struct writer *writer, const struct dealbox_set *set)
{
	struct dealbox_board board;
	struct ordered ordered;
	uint32_t from, to;

	writer->error = ordered_begin(&ordered, set, true);
	if (writer->error) {
		ordered_end(&ordered);
		return;
	}
	ordered_get(&ordered, 0, &board);
	from = board.number;
	ordered_get(&ordered, ordered.count - 1, &board);
	to = board.number;
	writer_print(writer, "[Document]\r\nHeadline=dealbox\r\nStatus=Show\r\n"
		     "Duplicates=1\r\nFrom board=%u\r\nTo board=%u\r\n"
		     "Next board to duplimate=0\r\nPrintOuts=0\r\nCrypto key=0\r\n", from, to);
	writer_print(writer, "Checksum=%u\r\n", head_sum(1, from, to, true));
	for (size_t i = 0; i < ordered.count; i++) {
		char letters[LETTERS];

		ordered_get(&ordered, i, &board);
		put_letters(&board.deal, letters);
		writer_print(writer, "Duplicates %02u=0\r\nBoard %02u=%.*s%03u\r\n",
			     board.number, board.number, LETTERS, letters,
			     board_sum(board.number, letters));
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
}

const struct dealbox_format format_dlm = {
	.name = "dlm",
	.title = "DLM, Duplimate of Windows",
	.recognise = recognise_dlm,
	.read = read_dlm,
	.can_write = can_write_dlm,
	.write = write_dlm,
};
