// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Richard's Bridge Notation (rpbridge.net, article 7A12, version 3.2): lines of a letter, a space
 * and data; an empty line ends a record. Board and hands hold until they are given anew.
 */
#include <string.h>

#include "formats.h"

struct rbn {
	struct reader *reader;
	uint32_t number;	/* of the last B */
	struct found board;
	const char *hands;	/* H of this record, NULL = none */
	size_t hands_size;
	bool any;		/* the record has lines */
	uint32_t waiting;	/* board whose hands are still missing, 0 = none */
	uint32_t waiting_line;
};

/* Reads one hand: suits separated by dots; x is a low card, ? is unknown. */
static bool take_hand(struct rbn *rbn, int seat, const char *text, size_t size)
{
	const char *suit = text, *end = text + size;
	int suits = 0;

	if (!size || memchr(text, 'x', size) || memchr(text, '?', size))
		return false;
	rbn->board.given |= (uint8_t)(1 << seat);
	for (const char *p = text; p < end; p++)
		suits += *p == '.';
	if (suits != 3) {
		found_bad_suit(rbn->reader, &rbn->board, seat);
		return true;
	}
	suits = 0;
	for (const char *p = text; p <= end; p++) {
		if (p < end && *p != '.')
			continue;
		found_ranks(rbn->reader, &rbn->board, seat, suits++, suit,
			    (size_t)(p - suit));
		suit = p + 1;
	}
	return true;
}

/* Reports the last board if it was announced without hands. */
static void check_waiting(struct rbn *rbn)
{
	const struct found board = { .number = rbn->waiting, .where = rbn->waiting_line };

	if (rbn->waiting)
		reader_say(rbn->reader, &board, 0, SAY(.code = DEALBOX_CODE_DEAL_NOT_GIVEN));
	rbn->waiting = 0;
}

static void end_record(struct rbn *rbn)
{
	const char *text = rbn->hands, *end;
	struct reader *reader = rbn->reader;
	struct found *board = &rbn->board;
	uint32_t hands = 0, given = 0;
	int first;

	if (rbn->any)
		reader->tally.games++;
	if (!text)
		goto done;
	end = text + rbn->hands_size;
	if (!board->number)
		board->number = rbn->number;
	if (!found_number(reader, board))
		reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_BOARD_MISSING));
	first = text < end ? dealbox_seat_parse(*text) : -1;
	if (first < 0 || end - text < 2 || !memchr(":;", text[1], 2)) {
		reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_DEAL_SYNTAX));
		reader_spoiled(reader, board);
		goto done;
	}
	/* ':' or ';' (a hidden hand) precedes each hand */
	for (text += 2; text <= end; hands++) {
		const char *stop = text;

		while (stop < end && *stop != ':' && *stop != ';')
			stop++;
		if (hands < 4)
			given += take_hand(rbn, (first + (int)hands) & 3, text,
					   (size_t)(stop - text));
		text = stop + 1;
	}
	if (hands > 4) {
		reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_HANDS_NUMBER,
			   .count = hands, .expected = 4));
		reader_spoiled(reader, board);
		goto done;
	}
	/* "gets the rest": only the last hand, and only if it is empty */
	if (given == 3 && hands == 4 && (end[-1] == ':' || end[-1] == ';'))
		found_rest(board);
	reader_deal(reader, board);
done:
	rbn->board = (struct found) FOUND_INIT;
	rbn->hands = NULL;
	rbn->any = false;
}

/* Reads A WZ:1S2H..: dealer and vulnerability before the first colon, if given. */
static void on_auction(struct rbn *rbn, const char *text, size_t size)
{
	static const char letters[] = "ZNEB";
	const char *letter;

	if (size < 3 || text[2] != ':')
		return;
	rbn->board.dealer = dealbox_seat_parse(text[0]);
	if (rbn->board.dealer < 0)
		rbn->board.dealer = -1;
	letter = memchr(letters, text[1], 4);
	if (letter)
		rbn->board.vulnerable = (int)(letter - letters);
	else if (text[1] != '?')
		reader_say(rbn->reader, &rbn->board, 0,
			   SAY(.code = DEALBOX_CODE_VULNERABLE_INVALID));
}

static void on_board(struct rbn *rbn, const char *text, size_t size, uint32_t line)
{
	uint32_t before = rbn->number;
	bool unknown = size == 1 && *text == '?';

	/* the room may be before or after the number */
	while (size && (*text < '0' || *text > '9')) {
		text++;
		size--;
	}
	while (size && (text[size - 1] < '0' || text[size - 1] > '9'))
		size--;
	rbn->number = parse_number(text, size);
	rbn->board.number = rbn->number;
	if (!rbn->number && !unknown)
		reader_say(rbn->reader, NULL, line, SAY(.code = DEALBOX_CODE_RECORD_INVALID));
	/* the same board again, at another table, has its hands */
	if (rbn->number != before) {
		check_waiting(rbn);
		rbn->waiting = rbn->hands ? 0 : rbn->number;
		rbn->waiting_line = line;
	}
}

static void take_line(struct rbn *rbn, const struct lines *lines)
{
	const char *data = lines->text + 2;
	size_t size = lines->size < 2 ? 0 : lines->size - 2;

	while (size && data[size - 1] == ' ')
		size--;
	rbn->any = true;
	switch (lines->text[0]) {
	case 'B':
		on_board(rbn, data, size, lines->number);
		break;
	case 'H':
		if (rbn->hands)	/* an empty line was forgotten */
			end_record(rbn);
		rbn->any = true;
		rbn->hands = data;
		rbn->hands_size = size;
		rbn->waiting = 0;
		rbn->board.where = lines->number;
		break;
	case 'A':
		on_auction(rbn, data, size);
		rbn->reader->more |= size > 3;
		break;
	default:
		rbn->reader->more |= size != 0;
		break;
	}
}

/* Returns true for a label, followed by a space or the end of the line. */
static bool has_label(const struct lines *lines)
{
	return lines->size && ((lines->text[0] && strchr("DTLESFKNBHACPRIM", lines->text[0])) ||
			       (lines->text[0] >= '0' && lines->text[0] <= '9')) &&
	       (lines->size == 1 || lines->text[1] == ' ');
}

static bool is_empty(const struct lines *lines)
{
	for (size_t i = 0; i < lines->size; i++)
		if (lines->text[i] != ' ' && lines->text[i] != '\t')
			return false;
	return true;
}

static void read_rbn(struct reader *reader)
{
	struct rbn rbn = { .reader = reader, .board = FOUND_INIT };
	uint32_t braces = 0;	/* line of the paragraph that is open */
	bool said_stray = false;
	struct lines lines;

	lines_begin(&lines, reader->data, reader->size);
	while (lines_next(&lines) && !reader->error) {
		bool label = has_label(&lines);

		if (braces && !label) {
			if (memchr(lines.text, '}', lines.size))
				braces = 0;
			continue;
		}
		if (braces) {
			/* a label within a paragraph: the paragraph was never closed */
			reader_say(reader, NULL, braces,
				   SAY(.code = DEALBOX_CODE_COMMENT_UNCLOSED));
			braces = 0;
		}
		if (is_empty(&lines)) {
			end_record(&rbn);
		} else if (lines.text[0] == '{') {
			if (!memchr(lines.text, '}', lines.size))
				braces = lines.number;
		} else if (label) {
			take_line(&rbn, &lines);
		} else if (!said_stray) {
			said_stray = true;
			reader_say(reader, NULL, lines.number,
				   SAY(.code = DEALBOX_CODE_TEXT_STRAY));
		}
	}
	if (braces)
		reader_say(reader, NULL, braces, SAY(.code = DEALBOX_CODE_COMMENT_UNCLOSED));
	end_record(&rbn);
	check_waiting(&rbn);
}

/* Recognises a line of hands, if nearly all lines have labels. */
static int recognise_rbn(const uint8_t *data, size_t size, uint64_t total)
{
	uint32_t labels = 0, others = 0;
	bool hands = false;
	struct lines lines;

	(void)total;
	lines_begin(&lines, data, size);
	while (lines_next(&lines)) {
		if (is_empty(&lines) || lines.text[0] == '{')
			continue;
		if (!has_label(&lines)) {
			others++;
			continue;
		}
		labels++;
		hands = hands || (lines.size > 4 && lines.text[0] == 'H' &&
				  dealbox_seat_parse(lines.text[2]) >= 0 &&
				  (lines.text[3] == ':' || lines.text[3] == ';'));
	}
	return hands && labels > others ? 80 : 0;
}

const struct dealbox_format format_rbn = {
	.name = "rbn",
	.title = "Richard's Bridge Notation 3.2",
	.recognise = recognise_rbn,
	.read = read_rbn,
};
