// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * LIN of Bridge Base Online: commands of two letters and their values, all between bars. The
 * hands of md start at South; the fourth one is mostly left out.
 */
#include <string.h>

#include "cards/card-text.h"
#include "bytes.h"
#include "formats.h"

struct lin {
	struct reader *reader;
	const char *next, *end;
	uint32_t line;
	struct found board;	/* the known facts of the current or next board */
	bool begun;		/* a board that needs a deal */
	bool has_deal;
	const char *deal;
	size_t deal_size;
	uint32_t deal_line;
	bool said_stray;
	bool cut;		/* the last value has no bar after it */
};

struct token {
	const char *text;
	size_t size;
	uint32_t line;
};

/* Finds the first bar or control character; the padding contains some. */
static const char *bar_or_control(const char *text)
{
	uint64_t marks;

	while (!(marks = word_below(load_le64(text), 0x20) | word_equal(load_le64(text), '|')))
		text += 8;
	return text + word_first(marks);
}

/* Gets the text up to the next bar, without blanks and line ends around it. */
static bool next_token(struct lin *lin, struct token *token)
{
	const char *bar, *end;

	while (lin->next < lin->end && (unsigned char)*lin->next <= ' ') {
		lin->line += *lin->next == '\n' ||
			     (*lin->next == '\r' && lin->next[1] != '\n');
		lin->next++;
	}
	if (lin->next >= lin->end)
		return false;
	token->line = lin->line;
	token->text = lin->next;
	/* a bar before any control character: nothing to count */
	bar = bar_or_control(lin->next);
	if (*bar == '|' && bar < lin->end) {
		lin->next = bar + 1;
		lin->cut = false;
		for (end = bar; end > token->text && end[-1] == ' '; end--)
			;
		token->size = (size_t)(end - token->text);
		return true;
	}
	bar = memchr(lin->next, '|', (size_t)(lin->end - lin->next));
	end = bar ? bar : lin->end;
	for (const char *p = token->text; p < end; p++)
		lin->line += *p == '\n' || (*p == '\r' && p[1] != '\n');
	lin->next = bar ? bar + 1 : lin->end;
	lin->cut = !bar;
	while (end > token->text && (unsigned char)end[-1] <= ' ')
		end--;
	token->size = (size_t)(end - token->text);
	return true;
}

/* -- a deal -------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return (unsigned char)c <= ' ';
}

#define HAND_TEXT	17

/*
 * A whole hand as nearly all files have it: S, H, D and C, each with its ranks. False: it may be
 * anything.
 */
static bool take_whole_hand(struct found *board, int seat, const char *text)
{
	const bytes16 ranks_text = bytes_load(text + 1), small = ranks_text | 0x20;
	const bytes16 hearts = bytes_equal(small, 'h'), diamonds = bytes_equal(small, 'd');
	const bytes16 clubs = bytes_equal(small, 'c'), suit = hearts | diamonds | clubs;
	const bytes16 suits = bytes_sums(suit & 1);
	bytes16 known, ranks = bytes_ranks(ranks_text, &known);

	/* one each, in that order, so that 13 cards are everything that was written */
	if ((*text | 0x20) != 's' || suits[HAND_TEXT - 2] != 3 ||
	    !bytes_all((bytes16)(((hearts & 1) | (diamonds & 2) | (clubs & 3)) == (suits & suit))))
		return false;
	return found_hand(board, seat, cards_gather(bytes_cards(ranks, suits, known)));
}

/* Reads one hand: suit letters before ranks, in any order. */
static void take_hand(struct lin *lin, int seat, const char *text, size_t size)
{
	struct found *board = &lin->board;
	int suit = -1;

	board->given |= (uint8_t)(1 << seat);
	if (size == HAND_TEXT && take_whole_hand(board, seat, text))
		return;
	for (size_t i = 0; i < size; i++) {
		char letter = text[i] >= 'a' && text[i] <= 'z' ?
			      (char)(text[i] - 'a' + 'A') : text[i];
		const char *found = memchr(card_suits, letter, sizeof(card_suits));
		size_t ranks;

		if (is_blank(letter))
			continue;
		if (found) {
			suit = (int)(found - card_suits);
			continue;
		}
		if (suit < 0) {
			found_bad_suit(lin->reader, board, seat);
			return;
		}
		ranks = letter == '1' && i + 1 < size && text[i + 1] == '0' ? 2 : 1;
		found_ranks(lin->reader, board, seat, suit, text + i, ranks);
		i += ranks - 1;
	}
}

static void end_board(struct lin *lin)
{
	/* dealer 1 = South, then clockwise; 0 = not known */
	static const int dealers[] = { -1, DEALBOX_SOUTH, DEALBOX_WEST, DEALBOX_NORTH,
					  DEALBOX_EAST };
	const char *text = lin->deal, *end;
	struct reader *reader = lin->reader;
	struct found *board = &lin->board;
	uint32_t hands = 0, given = 0;

	if (!lin->has_deal) {
		if (lin->begun) {
			found_number(reader, board);
			reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_DEAL_NOT_GIVEN));
		}
		return;
	}
	lin->has_deal = false;
	end = text + lin->deal_size;
	board->where = lin->deal_line;
	while (text < end && is_blank(*text))
		text++;
	if (text < end && *text >= '0' && *text <= '4')
		board->dealer = dealers[*text++ - '0'];
	else if (text < end)
		reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_DEALER_INVALID));
	if (!found_number(reader, board))
		reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_BOARD_MISSING));
	if (text >= end) {
		reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_DEAL_NOT_GIVEN));
		reader->tally.partial++;
		return;
	}
	while (text <= end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *stop = comma ? comma : end;

		if (hands < 4 && stop > text) {
			take_hand(lin, (int)(DEALBOX_SOUTH + hands) & 3, text,
				  (size_t)(stop - text));
			given++;
		}
		if (hands >= 4 && stop > text)
			given++;
		hands++;
		text = stop + 1;
	}
	if (given > 4) {
		reader_say(reader, board, 0, SAY(.code = DEALBOX_CODE_HANDS_NUMBER,
			   .count = given, .expected = 4));
		reader_spoiled(reader, board);
		return;
	}
	if (given == 3 && !(board->given >> DEALBOX_EAST & 1))
		found_rest(board);
	reader_deal(reader, board);
}

static void begin_board(struct lin *lin)
{
	end_board(lin);
	lin->board = (struct found) FOUND_INIT;
	lin->begun = false;
}

/* -- commands ------------------------------------------------------------------ */

/* Handles qx|o1| or qx|c12,BOARD 12|: the room, the board. */
static void on_qx(struct lin *lin, const struct token *value)
{
	const char *comma = memchr(value->text, ',', value->size);
	size_t size = comma ? (size_t)(comma - value->text) : value->size;
	const char *text = value->text;

	begin_board(lin);
	lin->begun = true;
	if (size && memchr("oOcC", *text, 4)) {
		text++;
		size--;
	}
	lin->board.where = value->line;
	lin->board.number = parse_number(text, size);
}

static void on_md(struct lin *lin, const struct token *value)
{
	if (lin->has_deal)
		begin_board(lin);
	lin->reader->tally.games++;
	lin->has_deal = true;
	lin->deal = value->text;
	lin->deal_size = value->size;
	lin->deal_line = value->line;
}

/* Handles ah|Board 7|; qx has precedence. */
static void on_ah(struct lin *lin, const struct token *value)
{
	const char *text = value->text;
	size_t size = value->size;

	if (lin->board.number || lin->board.label_size)
		return;
	if (size > 6 && !strncasecmp(text, "Board ", 6)) {
		text += 6;
		size -= 6;
	}
	lin->board.where = value->line;
	found_board(lin->reader, &lin->board, text, size);
	lin->begun = true;
}

static void on_sv(struct lin *lin, const struct token *value)
{
	static const struct {
		char letter;
		int vulnerable;
	} letters[] = {
		{ 'o', DEALBOX_VULNERABLE_NONE }, { '0', DEALBOX_VULNERABLE_NONE },
		{ 'n', DEALBOX_VULNERABLE_NS }, { 'e', DEALBOX_VULNERABLE_EW },
		{ 'b', DEALBOX_VULNERABLE_ALL },
	};

	if (!value->size)
		return;
	lin->board.vulnerable_where = value->line;
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters) && value->size == 1; i++)
		if ((*value->text | 0x20) == (letters[i].letter | 0x20)) {
			lin->board.vulnerable = letters[i].vulnerable;
			return;
		}
	reader_say(lin->reader, &lin->board, value->line,
		   SAY(.code = DEALBOX_CODE_VULNERABLE_INVALID));
}

/* Names, calls, alerts, cards played, claims, comments, the match and its results. */
static void on_more(struct lin *lin, const struct token *value)
{
	lin->reader->more |= value->size != 0;
}

/* The two letters of a command in lower case, as one number. */
#define COMMAND(first, second) ((unsigned int)(unsigned char)(first) << 8 | (unsigned char)(second))

static const struct {
	unsigned int name;
	void (*on)(struct lin *lin, const struct token *value);
} commands[] = {
	{ COMMAND('q', 'x'), on_qx }, { COMMAND('m', 'd'), on_md }, { COMMAND('a', 'h'), on_ah },
	{ COMMAND('s', 'v'), on_sv }, { COMMAND('p', 'n'), on_more },
	{ COMMAND('m', 'b'), on_more },
	{ COMMAND('a', 'n'), on_more }, { COMMAND('p', 'c'), on_more },
	{ COMMAND('m', 'c'), on_more }, { COMMAND('n', 't'), on_more },
	{ COMMAND('v', 'g'), on_more }, { COMMAND('r', 's'), on_more },
};

/* Two letters or digits; anything else where a command should be is out of step. */
static bool is_command(const struct token *token)
{
	if (token->size != 2)
		return false;
	for (int i = 0; i < 2; i++) {
		char c = (char)(token->text[i] | 0x20);

		if ((c < 'a' || c > 'z') && (c < '0' || c > '9'))
			return false;
	}
	return true;
}

static void read_lin(struct reader *reader)
{
	struct lin lin = {
		.reader = reader, .next = (const char *)reader->data,
		.end = (const char *)reader->data + reader->size, .line = 1,
		.board = FOUND_INIT,
	};
	struct token command, value;
	unsigned int name;

	while (!reader->error && next_token(&lin, &command)) {
		if (!is_command(&command)) {
			/*
			 * Handles a missing or extra bar: the next token may be a command, and a
			 * board may be lost.
			 */
			if (!lin.said_stray && command.size)
				reader_say(reader, NULL, command.line,
					   SAY(.code = DEALBOX_CODE_RECORD_INVALID));
			lin.said_stray = lin.said_stray || command.size;
			continue;
		}
		value = (struct token) { lin.next, 0, lin.line };
		if (lin.next < lin.end && *lin.next == '|')
			lin.next++;
		else if (!next_token(&lin, &value))
			lin.cut = true;
		if (lin.cut)
			break;
		name = COMMAND(command.text[0] | 0x20, command.text[1] | 0x20);
		for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
			if (commands[i].name == name) {
				commands[i].on(&lin, &value);
				break;
			}
	}
	/* a truncated value is useless, and the rest is missing */
	if (lin.cut)
		reader_say(reader, NULL, lin.line, SAY(.code = DEALBOX_CODE_FILE_TRUNCATED));
	end_board(&lin);
}

/* Recognises a known command and a bar near the beginning, and md somewhere. */
static int recognise_lin(const uint8_t *data, size_t size, uint64_t total)
{
	static const char *const words[] = { "vg", "qx", "pn", "md", "rs", "st", "mn" };
	const char *text = (const char *)data, *end = text + size;
	bool begins = false;

	(void)total;
	while (text < end && is_blank(*text))
		text++;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		begins = begins || (end - text > 3 && text[2] == '|' &&
				    !strncasecmp(text, words[i], 2));
	for (; text + 3 < end; text++) {
		text = memchr(text, '|', (size_t)(end - text));
		if (!text)
			break;
		if (text - 2 >= (const char *)data && !strncasecmp(text - 2, "md|", 3) &&
		    text[1] >= '0' && text[1] <= '4')
			return begins ? 90 : 60;
	}
	return begins ? 40 : 0;
}

/* -- writing ------------------------------------------------------------------- */

static int can_write_lin(const struct dealbox_set *set, struct dealbox_report *report)
{
	return need_numbers(set, DEALBOX_BOARD_MAX, false, report);
}

static char *put_hand(dealbox_cards hand, char *text)
{
	for (unsigned int suit = 0; suit < 4; suit++) {
		unsigned int ranks = hand >> (13 * suit) & 0x1fff;

		*text++ = card_suits[suit];
		/* ascending, as it is usual there */
		for (; ranks; ranks &= ~(1u << (31 - __builtin_clz(ranks))))
			*text++ = card_ranks[31 - __builtin_clz(ranks)];
	}
	return text;
}

static void write_lin(struct writer *writer, const struct dealbox_set *set)
{
	static const char dealers[] = "3412", vulnerable[] = "oneb";
	struct dealbox_board board;
	struct ordered ordered;

	writer->error = ordered_begin(&ordered, set, false);
	for (size_t i = 0; !writer->error && i < ordered.count; i++) {
		char hands[3 * 17 + 3], *text = hands;

		ordered_get(&ordered, i, &board);
		for (int hand = 0; hand < 3; hand++) {
			text = put_hand(board.deal.hand[(DEALBOX_SOUTH + hand) & 3], text);
			*text++ = ',';
		}
		writer_print(writer, "qx|o%u|md|%c%.*s|rh||ah|Board %u|sv|%c|pg||\n",
			     board.number, dealers[board_dealer(&board)],
			     (int)(text - hands), hands, board.number,
			     vulnerable[board_vulnerable(&board)]);
		explicit_bzero(hands, sizeof(hands));
		dealbox_deal_wipe(&board.deal);
	}
	ordered_end(&ordered);
}

const struct dealbox_format format_lin = {
	.name = "lin",
	.title = "LIN, Bridge Base Online",
	.recognise = recognise_lin,
	.read = read_lin,
	.can_write = can_write_lin,
	.write = write_lin,
};
