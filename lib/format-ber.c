// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A letter for each card: BER (the owner of each card, 1 to 4) and BHG of Borel (the cards
 * of each hand, from the dealer's on).
 */
#include <string.h>

#include "format-internal.h"

#define RECORD	DEALBOX_CARDS

/* Calls take() for each record of 52 letters; ends of lines between records do not count. */
static void read_records(struct reader *reader,
			 void (*take)(struct reader *reader, struct found *found,
				      const uint8_t *text, size_t index))
{
	const uint8_t *data = reader->data;
	size_t place = 0, index = 0;

	while (place < reader->size) {
		struct found found = FOUND_INIT;
		size_t size;

		if (data[place] == '\n' || data[place] == '\r' || data[place] == 0x1a) {
			place++;
			continue;
		}
		for (size = 0; size < RECORD && place + size < reader->size; size++)
			if (data[place + size] == '\n' || data[place + size] == '\r')
				break;
		found.where = (uint32_t)place;
		reader->tally.games++;
		if (size == RECORD) {
			take(reader, &found, data + place, index);
		} else {
			/* a line that is too short: the next one is a record again */
			reader_say(reader, &found, 0, SAY(.code = place + size <
				   reader->size ? DEALBOX_RECORD_INVALID :
				   DEALBOX_FILE_TRUNCATED));
			reader_spoiled(reader, &found);
		}
		index++;
		place += size;
	}
}

static void take_ber(struct reader *reader, struct found *found, const uint8_t *text,
		     size_t index)
{
	dealbox_cards low = 0, high = 0;
	uint64_t strange = 0;

	(void)index;
	found->given = 15;
	for (unsigned int card = 0; card < RECORD; card += 8) {
		uint64_t owners = load_le64(text + card) - '1' * EACH_BYTE;

		/* the last four bytes are of the next record */
		if (card + 8 > RECORD)
			owners &= UINT32_MAX;
		strange |= owners & 0xfc * EACH_BYTE;
		low |= gather_bits(owners) << card;
		high |= gather_bits(owners >> 1) << card;
	}
	if (strange) {
		reader_say(reader, found, 0, SAY(.code = DEALBOX_BAD_CARD));
		reader_spoiled(reader, found);
		return;
	}
	deal_from_planes(&found->deal, DEALBOX_PACK_BRIDGE, low, high);
	reader_deal(reader, found);
}

static void read_ber(struct reader *reader)
{
	read_records(reader, take_ber);
}

/* A..Z are cards 1..26, a..z 27..52. */
static int letter_card(uint8_t letter)
{
	if (letter >= 'A' && letter <= 'Z')
		return letter - 'A';
	if (letter >= 'a' && letter <= 'z')
		return letter - 'a' + 26;
	return -1;
}

/* The cards of 13 letters: fewer than 13 when one of them is none, or is there twice. */
static dealbox_cards letter_cards(const uint8_t *text)
{
	dealbox_cards cards = 0;

	for (int i = 0; i < 13; i++) {
		/* letters differ from the other case in one bit, which is worth 26 cards */
		unsigned int number = (text[i] & 0x1fU) - 1;
		bool letter = (text[i] & 0xc0) == 0x40 && number < 26;

		cards |= (dealbox_cards)letter << ((number + (text[i] & 0x20 ? 26 : 0)) & 63);
	}
	return cards;
}

static bool spell_letters(struct reader *reader, struct found *found, int seat,
			  const uint8_t *text)
{
	for (int i = 0; i < 13; i++) {
		int card = letter_card(text[i]);

		if (card < 0) {
			reader_say(reader, found, 0, SAY(.code = DEALBOX_BAD_CARD));
			return false;
		}
		found_card(reader, found, seat, (unsigned int)card);
	}
	return true;
}

/* The boards have no numbers: that the first one is board 1 is how this format is meant. */
static void take_bhg(struct reader *reader, struct found *found, const uint8_t *text,
		     size_t index)
{
	found->given = 15;
	for (unsigned int hand = 0; hand < 4; hand++, text += 13) {
		int seat = (int)(index + hand) & 3;

		if (!found_hand(found, seat, letter_cards(text)) &&
		    !spell_letters(reader, found, seat, text)) {
			reader_spoiled(reader, found);
			return;
		}
	}
	reader_deal(reader, found);
}

static void read_bhg(struct reader *reader)
{
	struct dealbox_problem note = SAY(.code = DEALBOX_BOARD_UNCERTAIN,
					  .text = "the first is taken as board 1");

	reader_say(reader, NULL, 0, note);
	read_records(reader, take_bhg);
}

/* -- recognising --------------------------------------------------------------- */

static int recognise_ber(const uint8_t *data, size_t size, uint64_t total)
{
	(void)total;
	if (size < RECORD)
		return 0;
	for (size_t i = 0; i < RECORD; i++)
		if (data[i] < '1' || data[i] > '4')
			return 0;
	return 85;
}

static int recognise_bhg(const uint8_t *data, size_t size, uint64_t total)
{
	uint64_t seen = 0;
	size_t place = 0;

	(void)total;
	while (place < size && (data[place] == '\n' || data[place] == '\r'))
		place++;
	if (size - place < RECORD)
		return 0;
	for (size_t i = 0; i < RECORD; i++) {
		int card = letter_card(data[place + i]);

		if (card < 0)
			return 0;
		seen |= (uint64_t)1 << card;
	}
	/* 52 letters of a text are never 52 different ones */
	return seen == DEALBOX_PACK_BRIDGE ? 90 : dealbox_cards_count(seen) > 45 ? 50 : 0;
}

/* -- writing ------------------------------------------------------------------- */

static void write_ber(struct writer *writer, const struct dealbox_set *set)
{
	struct dealbox_board board;
	struct ordered ordered;

	writer->error = ordered_begin(&ordered, set, true);
	for (size_t i = 0; !writer->error && i < ordered.count; i++) {
		char *text = writer_room(writer, RECORD);

		if (!text)
			break;
		ordered_get(&ordered, i, &board);
		for (int seat = 0; seat < 4; seat++)
			for (dealbox_cards left = board.deal.hand[seat]; left;
			     left &= left - 1)
				text[__builtin_ctzll(left)] = (char)('1' + seat);
		writer->used += RECORD;
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
}

static void write_bhg(struct writer *writer, const struct dealbox_set *set)
{
	struct dealbox_board board;
	struct ordered ordered;

	writer->error = ordered_begin(&ordered, set, true);
	writer_text(writer, "\n");
	for (size_t i = 0; !writer->error && i < ordered.count; i++) {
		char *text = writer_room(writer, RECORD + 1);

		if (!text)
			break;
		ordered_get(&ordered, i, &board);
		for (size_t hand = 0; hand < 4; hand++)
			for (dealbox_cards left = board.deal.hand[(i + hand) & 3]; left;
			     left &= left - 1) {
				int card = __builtin_ctzll(left);

				*text++ = (char)(card < 26 ? 'A' + card : 'a' + card - 26);
			}
		*text = '\n';
		writer->used += RECORD + 1;
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
}

const struct dealbox_format format_ber = {
	.name = "ber",
	.title = "BER, the owner of each card",
	.binary = true,
	.recognise = recognise_ber,
	.read = read_ber,
	.can_write = need_no_numbers,
	.write = write_ber,
};

const struct dealbox_format format_bhg = {
	.name = "bhg",
	.title = "BHG, Borel",
	.binary = true,
	.recognise = recognise_bhg,
	.read = read_bhg,
	.can_write = need_no_numbers,
	.write = write_bhg,
};
