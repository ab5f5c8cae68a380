// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One letter per card: BER (the owner of each card, 1 to 4) and BHG of Borel (the cards of each
 * hand, starting with the dealer's).
 */
#include <string.h>

#include "formats.h"

#define RECORD	DEALBOX_CARDS

/*
 * The functions that read the records of a format (index: board number minus one). quick() reads 52
 * letters and returns false if they are not well-formed. Only then is the end of the record looked
 * for, and spell() reports the errors.
 */
struct records {
	bool (*quick)(struct found *found, const uint8_t *text, size_t index);
	void (*spell)(struct reader *reader, struct found *found, const uint8_t *text,
		      size_t index);
};

/* Letters up to the end of the line, at most a record. */
static size_t record_size(const struct reader *reader, size_t place)
{
	const uint8_t *text = reader->data + place;
	size_t size;

	for (size = 0; size < RECORD && place + size < reader->size; size++)
		if (text[size] == '\n' || text[size] == '\r')
			break;
	return size;
}

/* Skips line ends between records. */
static inline void read_records(struct reader *reader, const struct records *records)
{
	const uint8_t *data = reader->data;
	size_t place = 0, index = 0;

	while (place < reader->size) {
		struct found found = FOUND_INIT;
		size_t size = RECORD;

		if (data[place] == '\n' || data[place] == '\r' || data[place] == 0x1a) {
			place++;
			continue;
		}
		found.where = (uint32_t)place;
		found.given = 15;
		reader->tally.games++;
		if (found_number(reader, &found))
			index = found.number - 1;
		if (reader->size - place >= RECORD && records->quick(&found, data + place, index)) {
			reader_deal(reader, &found);
		} else {
			size = record_size(reader, place);
			/* a short line: the next one is a new record */
			if (size < RECORD) {
				reader_say(reader, &found, 0, SAY(.code = place + size <
					   reader->size ? DEALBOX_CODE_RECORD_INVALID :
					   DEALBOX_CODE_FILE_TRUNCATED));
				reader_spoiled(reader, &found);
			} else {
				records->spell(reader, &found, data + place, index);
			}
		}
		index++;
		place += size;
	}
}

static bool quick_ber(struct found *found, const uint8_t *text, size_t index)
{
	dealbox_cards low = 0, high = 0;
	uint64_t strange = 0;

	(void)index;
	for (unsigned int card = 0; card < RECORD; card += 8) {
		uint64_t owners = load_le64(text + card) - '1' * EACH_BYTE;

		/* the last four bytes belong to the next record */
		if (card + 8 > RECORD)
			owners &= UINT32_MAX;
		strange |= owners & 0xfc * EACH_BYTE;
		low |= gather_bits(owners) << card;
		high |= gather_bits(owners >> 1) << card;
	}
	deal_from_seat_bits(&found->deal, DEALBOX_PACK_BRIDGE, low, high);
	return !strange;
}

static void spell_ber(struct reader *reader, struct found *found, const uint8_t *text,
		      size_t index)
{
	(void)text;
	(void)index;
	reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_BAD_CARD));
	reader_spoiled(reader, found);
}

static void read_ber(struct reader *reader)
{
	static const struct records records = { quick_ber, spell_ber };

	read_records(reader, &records);
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

#define EIGHT(letter, card)	\
	[(letter) + 0] = 1ULL << (card), [(letter) + 1] = 2ULL << (card),	\
	[(letter) + 2] = 4ULL << (card), [(letter) + 3] = 8ULL << (card),	\
	[(letter) + 4] = 16ULL << (card), [(letter) + 5] = 32ULL << (card),	\
	[(letter) + 6] = 64ULL << (card), [(letter) + 7] = 128ULL << (card)
#define LETTERS(letter, card)	\
	EIGHT(letter, card), EIGHT((letter) + 8, (card) + 8), EIGHT((letter) + 16, (card) + 16), \
	[(letter) + 24] = 1ULL << ((card) + 24), [(letter) + 25] = 1ULL << ((card) + 25)

/* Returns the card of a letter; no card for other characters. */
static const dealbox_cards letters[256] = { LETTERS('A', 0), LETTERS('a', 26) };

/* Returns the cards of 13 letters: fewer than 13 if one is invalid or repeated. */
static dealbox_cards letter_cards(const uint8_t *text)
{
	dealbox_cards cards = 0;

	for (int i = 0; i < 13; i++)
		cards |= letters[text[i]];
	return cards;
}

static bool spell_letters(struct reader *reader, struct found *found, int seat,
			  const uint8_t *text)
{
	for (int i = 0; i < 13; i++) {
		int card = letter_card(text[i]);

		if (card < 0) {
			reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_BAD_CARD));
			return false;
		}
		found_card(reader, found, seat, (unsigned int)card);
	}
	return true;
}

static bool quick_bhg(struct found *found, const uint8_t *text, size_t index)
{
	bool good = true;

	for (unsigned int hand = 0; hand < 4; hand++)
		good &= found_hand(found, (int)(index + hand) & 3, letter_cards(text + 13 * hand));
	return good;
}

static void spell_bhg(struct reader *reader, struct found *found, const uint8_t *text,
		      size_t index)
{
	for (unsigned int hand = 0; hand < 4; hand++, text += 13) {
		int seat = (int)(index + hand) & 3;

		/* left by quick_bhg() */
		found->deal.hand[seat] = 0;
		if (!found_hand(found, seat, letter_cards(text)) &&
		    !spell_letters(reader, found, seat, text)) {
			reader_spoiled(reader, found);
			return;
		}
	}
	reader_deal(reader, found);
}

/*
 * The boards have no numbers, but each begins with the dealer's hand. Unless numbers are given, the
 * first board counts as board 1, as the format intends.
 */
static void read_bhg(struct reader *reader)
{
	static const struct records records = { quick_bhg, spell_bhg };
	struct dealbox_problem note = SAY(.code = DEALBOX_CODE_BOARD_UNCERTAIN,
					  .text = "the first is taken as board 1");

	if (!set_numbers(reader->set))
		reader_say(reader, NULL, 0, note);
	read_records(reader, &records);
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
	/* 52 letters of ordinary text never differ from one another */
	return seen == DEALBOX_PACK_BRIDGE ? 90 : dealbox_cards_count(seen) > 45 ? 50 : 0;
}

/* -- writing ------------------------------------------------------------------- */

static void put_ber(const struct dealbox_deal *deal, size_t index, char *text)
{
	(void)index;
	for (int seat = 0; seat < 4; seat++)
		for (dealbox_cards left = deal->hand[seat]; left; left &= left - 1)
			text[__builtin_ctzll(left)] = (char)('1' + seat);
}

static void write_ber(struct writer *writer, const struct dealbox_set *set)
{
	write_records(writer, set, RECORD, put_ber);
}

static void put_bhg(const struct dealbox_deal *deal, size_t index, char *text)
{
	for (size_t hand = 0; hand < 4; hand++)
		for (dealbox_cards left = deal->hand[(index + hand) & 3]; left;
		     left &= left - 1) {
			int card = __builtin_ctzll(left);

			*text++ = (char)(card < 26 ? 'A' + card : 'a' + card - 26);
		}
	*text = '\n';
}

static void write_bhg(struct writer *writer, const struct dealbox_set *set)
{
	writer_text(writer, "\n");
	write_records(writer, set, RECORD + 1, put_bhg);
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
