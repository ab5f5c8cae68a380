// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files with two bits a card: RZD (Kops), CDS, ZRD (Pavlicek's solved deals). Each card has one
 * owner, so only the sizes of hands can be wrong.
 */
#include <string.h>

#include "formats.h"

#define DEAL_BYTES	13

/* Owners count from West: one less is the seat, and borrows where the lower bit is 0. */
static void deal_from_west(struct dealbox_deal *deal, dealbox_cards low, dealbox_cards high)
{
	deal_from_seat_bits(deal, DEALBOX_PACK_BRIDGE, ~low, high ^ ~low);
}

/*
 * RZD and CDS: a byte for each rank from the ace, spades in the highest two bits. Owners count
 * from North; in CDS from West.
 */
static void unpack_ranks(struct dealbox_deal *deal, const uint8_t *bytes, unsigned int turn)
{
	uint64_t upper = load_le64(bytes), lower = load_le64(bytes + 5) >> 24;
	dealbox_cards low = 0, high = 0;

	for (unsigned int suit = 0; suit < 4; suit++) {
		unsigned int place = 6 - 2 * suit;

		low |= (gather_bits(upper >> place) |
			gather_bits(lower >> place) << 8) << (13 * suit);
		high |= (gather_bits(upper >> (place + 1)) |
			 gather_bits(lower >> (place + 1)) << 8) << (13 * suit);
	}
	if (turn)
		deal_from_west(deal, low, high);
	else
		deal_from_seat_bits(deal, DEALBOX_PACK_BRIDGE, low, high);
}

static void pack_ranks(const struct dealbox_deal *deal, uint8_t *bytes, unsigned int turn)
{
	memset(bytes, 0, DEAL_BYTES);
	for (unsigned int seat = 0; seat < 4; seat++)
		for (dealbox_cards left = deal->hand[seat]; left; left &= left - 1) {
			unsigned int card = (unsigned int)__builtin_ctzll(left);

			bytes[card % 13] |= (uint8_t)(((seat + turn) & 3) <<
						      (6 - 2 * (card / 13)));
		}
}

/* Bits 0, 2, 4 .. 62, moved together. */
static uint64_t even_bits(uint64_t word)
{
	word &= 0x5555555555555555ULL;
	word = (word | word >> 1) & 0x3333333333333333ULL;
	word = (word | word >> 2) & 0x0f0f0f0f0f0f0f0fULL;
	word = (word | word >> 4) & 0x00ff00ff00ff00ffULL;
	word = (word | word >> 8) & 0x0000ffff0000ffffULL;
	return (word | word >> 16) & UINT32_MAX;
}

/* ZRD: cards in the order spades, hearts, diamonds, clubs, lowest bits first; W, N, E, S. */
static void unpack_cards(struct dealbox_deal *deal, const uint8_t *bytes)
{
	uint64_t first = load_le64(bytes), rest = load_le64(bytes + 5) >> 24;
	dealbox_cards low = even_bits(first) | even_bits(rest) << 32;
	dealbox_cards high = even_bits(first >> 1) | even_bits(rest >> 1) << 32;

	deal_from_west(deal, low, high);
}

/* Reads one record: its deal, and its number if it has one. */
struct layout {
	size_t head, record, deal;	/* bytes before all, of a record, before its deal */
	bool numbered;			/* the byte before the deal */
	unsigned int turn;
	bool cards;			/* unpack_cards() */
};

static const struct layout rzd = { .head = 13, .record = 13 };
static const struct layout cds = { .record = 14, .deal = 1, .numbered = true, .turn = 1 };
static const struct layout zrd = { .record = 23, .cards = true };

static void unpack(const struct layout *layout, struct dealbox_deal *deal,
		   const uint8_t *record)
{
	if (layout->cards)
		unpack_cards(deal, record + layout->deal);
	else
		unpack_ranks(deal, record + layout->deal, layout->turn);
}

static void read_records(struct reader *reader, const struct layout *layout)
{
	size_t place = layout->head;

	for (; place + layout->record <= reader->size; place += layout->record) {
		struct found found = FOUND_INIT;

		found.where = (uint32_t)place;
		found.given = 15;
		if (layout->numbered)
			found.number = reader->data[place];
		if (!found_number(reader, &found) && layout->numbered)
			reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_BOARD_MISSING));
		unpack(layout, &found.deal, reader->data + place);
		reader->tally.games++;
		reader_deal(reader, &found);
	}
	if (place < reader->size)
		reader_say(reader, NULL, (uint32_t)place,
			   SAY(.code = DEALBOX_CODE_FILE_TRUNCATED));
}

/* The number of boards, two bytes, and eleven spaces. */
static void read_rzd(struct reader *reader)
{
	uint32_t announced, count;

	if (reader->size < rzd.head) {
		reader_say(reader, NULL, 0, SAY(.code = DEALBOX_CODE_FILE_TRUNCATED));
		return;
	}
	announced = (uint32_t)(reader->data[0] | reader->data[1] << 8);
	count = (uint32_t)((reader->size - rzd.head) / rzd.record);
	/* it has no more than 16 bits: larger files say so much of it */
	if (announced != (count & 0xffff))
		reader_say(reader, NULL, 0, SAY(.code = DEALBOX_CODE_COUNT_DISAGREES,
			   .count = count, .expected = announced));
	read_records(reader, &rzd);
}

static void read_cds(struct reader *reader)
{
	read_records(reader, &cds);
}

static void read_zrd(struct reader *reader)
{
	reader->more = true;	/* number of tricks that can be taken */
	read_records(reader, &zrd);
}

/* -- recognising --------------------------------------------------------------- */

static int recognise_rzd(const uint8_t *data, size_t size, uint64_t total)
{
	if (size < rzd.head || memcmp(data + 2, "           ", 11))
		return 0;
	return (total - rzd.head) % rzd.record == 0 ? 90 : 70;
}

/* Returns how many of the first 16 records, at most, are deals. */
static int recognise_records(const struct layout *layout, const uint8_t *data, size_t size,
			     uint64_t total)
{
	int records = 0, good = 0;

	if (total % layout->record)
		return 0;
	for (size_t place = 0; place + layout->record <= size && records < 16;
	     place += layout->record, records++) {
		struct dealbox_deal deal;

		unpack(layout, &deal, data + place);
		good += dealbox_deal_complete(&deal, dealbox_pack_bridge());
		dealbox_deal_wipe(&deal);
	}
	/* one of 380 random records is a deal */
	if (2 * good <= records)
		return 0;
	return records == 1 ? 30 : good == records ? 75 : 45;
}

static int recognise_cds(const uint8_t *data, size_t size, uint64_t total)
{
	return recognise_records(&cds, data, size, total);
}

static int recognise_zrd(const uint8_t *data, size_t size, uint64_t total)
{
	return recognise_records(&zrd, data, size, total);
}

/* -- writing ------------------------------------------------------------------- */

static int can_write_rzd(const struct dealbox_set *set, struct dealbox_report *report)
{
	if (dealbox_set_count(set) > UINT16_MAX)
		return cannot_express(report, NULL, "more than 65535 deals");
	return need_no_numbers(set, report);
}

static void write_rzd(struct writer *writer, const struct dealbox_set *set)
{
	struct dealbox_board board;
	struct ordered ordered;
	uint8_t head[13];

	writer->error = ordered_begin(&ordered, set, true);
	memset(head, ' ', sizeof(head));
	head[0] = (uint8_t)ordered.count;
	head[1] = (uint8_t)(ordered.count >> 8);
	writer_add(writer, head, sizeof(head));
	for (size_t i = 0; !writer->error && i < ordered.count; i++) {
		uint8_t bytes[DEAL_BYTES];

		ordered_get(&ordered, i, &board);
		pack_ranks(&board.deal, bytes, rzd.turn);
		writer_add(writer, bytes, sizeof(bytes));
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
}

static int can_write_cds(const struct dealbox_set *set, struct dealbox_report *report)
{
	return need_numbers(set, UINT8_MAX, false, report);
}

static void write_cds(struct writer *writer, const struct dealbox_set *set)
{
	struct dealbox_board board;
	struct ordered ordered;

	writer->error = ordered_begin(&ordered, set, false);
	for (size_t i = 0; !writer->error && i < ordered.count; i++) {
		uint8_t bytes[1 + DEAL_BYTES];

		ordered_get(&ordered, i, &board);
		bytes[0] = (uint8_t)board.number;
		pack_ranks(&board.deal, bytes + 1, cds.turn);
		writer_add(writer, bytes, sizeof(bytes));
		dealbox_deal_wipe(&board.deal);
	}
	ordered_end(&ordered);
}

const struct dealbox_format format_rzd = {
	.name = "rzd",
	.title = "RZD, Kops",
	.binary = true,
	.recognise = recognise_rzd,
	.read = read_rzd,
	.can_write = can_write_rzd,
	.write = write_rzd,
};

const struct dealbox_format format_cds = {
	.name = "cds",
	.title = "CDS, two bits a card",
	.binary = true,
	.recognise = recognise_cds,
	.read = read_cds,
	.can_write = can_write_cds,
	.write = write_cds,
};

const struct dealbox_format format_zrd = {
	.name = "zrd",
	.title = "ZRD, Pavlicek's solved deals",
	.binary = true,
	.recognise = recognise_zrd,
	.read = read_zrd,
};
