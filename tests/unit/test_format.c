// SPDX-License-Identifier: LGPL-2.1-or-later
/* All formats: round trips, recognition, the dialects and defects of each, writing. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deals.h"

static const char *const writable[] = {
	"pbn", "dup", "dlm", "lin", "bri", "dge", "csv", "ber", "bhg", "rzd", "cds",
};

#define WRITABLE (sizeof(writable) / sizeof(*writable))

static const struct dealbox_format *format_of(const char *name)
{
	const struct dealbox_format *format = dealbox_format_find(name);

	assert_non_null(format);
	return format;
}

/* A file in memory. */
struct text {
	uint8_t data[60000];
	size_t size;
};

static int write_text(const char *format, const struct dealbox_set *set, struct text *text,
		      struct dealbox_report *report)
{
	int fd = memfd_create("test", 0), err;
	ssize_t size;

	err = dealbox_format_write_fd(format_of(format), set, fd, "test", report);
	size = pread(fd, text->data, sizeof(text->data), 0);
	assert_true(size >= 0 && (size_t)size < sizeof(text->data));
	text->size = (size_t)size;
	close(fd);
	return err;
}

struct read {
	struct dealbox_set *set;
	struct dealbox_report *report;
	struct dealbox_format_tally tally;
	int err;
};

static struct read read_bytes(const char *format, const void *data, size_t size)
{
	struct read read = { dealbox_set_new(NULL), dealbox_report_new(), { 0 }, 0 };

	read.err = dealbox_format_read_memory(format ? format_of(format) : NULL, data, size,
					      "t", read.set, read.report, &read.tally);
	return read;
}

static struct read read_from(const char *format, const void *data, size_t size, uint32_t first)
{
	struct read read = { dealbox_set_new(NULL), dealbox_report_new(), { 0 }, 0 };

	dealbox_set_number_from(read.set, first);
	read.err = dealbox_format_read_memory(format ? format_of(format) : NULL, data, size, "t",
					      read.set, read.report, &read.tally);
	return read;
}

static struct read read_text(const char *format, const struct text *text)
{
	return read_bytes(format, text->data, text->size);
}

static void done(struct read *read)
{
	dealbox_set_free(read->set);
	dealbox_report_free(read->report);
}

/* All codes of a report, in their order. */
static void check_codes(const struct read *read, const char *expected)
{
	const struct dealbox_problem *problem;
	char found[1000] = "";

	for (size_t i = 0; (problem = dealbox_report_get(read->report, i)); i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
			 i ? " " : "", dealbox_code_name(problem->code));
	assert_string_equal(found, expected);
}

/* -- round trips ---------------------------------------------------------------- */

static void round_trip(const char *first, const char *second, uint64_t seed)
{
	struct dealbox_set *set = random_set(&seed, 1, 1 + random_below(&seed, 40));
	struct text text;
	struct read one, other;

	assert_int_equal(write_text(first, set, &text, NULL), 0);
	one = read_from(NULL, text.data, text.size, 1);	/* recognised */
	assert_int_equal(one.err, 0);
	assert_true(same_deals(set, one.set));
	assert_int_equal(dealbox_report_found(one.report, DEALBOX_SEVERITY_PROBLEM), 0);
	assert_int_equal(write_text(second, one.set, &text, NULL), 0);
	other = read_text(NULL, &text);
	assert_int_equal(other.err, 0);
	if (!same_deals(set, other.set))
		fail_msg("%s to %s, seed %u", first, second, (unsigned int)seed);
	done(&one);
	done(&other);
	dealbox_set_free(set);
}

static void every_pair_of_formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < WRITABLE; i++)
		for (size_t j = 0; j < WRITABLE; j++)
			for (uint64_t seed = 1; seed <= 3; seed++)
				round_trip(writable[i], writable[j], 100 * i + 10 * j + seed);
}

/* Board numbers, dealers and vulnerability survive in formats that have them. */
static void numbers_survive(void **state)
{
	static const struct {
		const char *format;
		uint32_t from;
		size_t count;
	} ranges[] = {
		{ "pbn", 1000, 40 }, { "dup", 17, 16 }, { "dup", 99, 1 }, { "dup", 1, 99 },
		{ "dlm", 17, 16 }, { "dlm", 1, 99 }, { "dlm", 99, 1 }, { "lin", 33, 20 },
		{ "csv", 33, 20 }, { "cds", 200, 56 },
	};
	struct dealbox_board board;
	struct text text;

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		uint64_t seed = i;
		struct dealbox_set *set = random_set(&seed, ranges[i].from, ranges[i].count);
		struct read read;

		assert_int_equal(write_text(ranges[i].format, set, &text, NULL), 0);
		read = read_text(ranges[i].format, &text);
		check_codes(&read, "");
		assert_true(same_deals(set, read.set));
		for (size_t n = 0; !dealbox_set_get(read.set, n, &board); n++)
			assert_int_equal(board.number, ranges[i].from + n);
		done(&read);
		dealbox_set_free(set);
	}
}

static void dealer_and_vulnerability_survive(void **state)
{
	static const char *const formats[] = { "pbn", "lin", "csv" };
	struct dealbox_board board = DEALBOX_BOARD_INIT, again;
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct text text;
	uint64_t seed = 9;

	(void)state;
	for (int i = 0; i < 16; i++) {
		random_deal(&seed, &board.deal);
		board.number = 1 + (uint32_t)i;
		board.dealer = (int8_t)(i & 3);
		board.vulnerable = (int8_t)(i >> 2);
		assert_int_equal(dealbox_set_add(set, &board), 0);
	}
	for (size_t f = 0; f < 3; f++) {
		struct read read;

		assert_int_equal(write_text(formats[f], set, &text, NULL), 0);
		read = read_text(formats[f], &text);
		for (size_t i = 0; i < 16; i++) {
			assert_int_equal(dealbox_set_get(read.set, i, &again), 0);
			assert_int_equal(again.dealer, (int)(i & 3));
			assert_int_equal(again.vulnerable, (int)(i >> 2));
		}
		done(&read);
	}
	dealbox_set_free(set);
}

/* -- what a format cannot express -------------------------------------------------- */

static void check_refused(const char *format, const struct dealbox_set *set,
			  const char *why)
{
	struct dealbox_report *report = dealbox_report_new();
	struct text text;

	assert_int_equal(write_text(format, set, &text, report), -ENOTSUP);
	assert_int_equal(text.size, 0);
	assert_true(dealbox_report_count(report) > 0);
	assert_int_equal(dealbox_report_get(report, 0)->code, DEALBOX_CODE_CANNOT_EXPRESS);
	assert_string_equal(dealbox_report_get(report, 0)->text, why);
	dealbox_report_free(report);
}

static void what_cannot_be_expressed_is_said_before_a_byte_is_written(void **state)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	uint64_t seed = 21;
	struct dealbox_set *set = random_set(&seed, 95, 6);

	(void)state;
	check_refused("dup", set, "numbers above 99");
	check_refused("dlm", set, "numbers above 99");
	check_refused("bri", set, "numbers that are not 1, 2, 3 ..");
	check_refused("ber", set, "numbers that are not 1, 2, 3 ..");
	check_refused("bhg", set, "numbers that are not 1, 2, 3 ..");
	check_refused("rbn", set, "there is no writer for it");
	check_refused("zrd", set, "there is no writer for it");
	dealbox_set_free(set);

	set = random_set(&seed, 1, 3);
	random_deal(&seed, &board.deal);
	board.number = 5;
	dealbox_set_add(set, &board);
	check_refused("dup", set, "gaps in the numbers");
	check_refused("dlm", set, "gaps in the numbers");
	random_deal(&seed, &board.deal);
	board.number = 3;
	dealbox_set_add(set, &board);
	check_refused("dup", set, "a number with two deals");
	board.number = 0;
	board.label = "2-1";
	random_deal(&seed, &board.deal);
	dealbox_set_add(set, &board);
	check_refused("lin", set, "a board without a number");
	check_refused("csv", set, "a board without a number");
	check_refused("dge", set, "numbers that are not 1, 2, 3 ..");
	board.label = "\"";
	random_deal(&seed, &board.deal);
	dealbox_set_add(set, &board);
	check_refused("pbn", set, "quotes in a label");
	dealbox_set_free(set);

	set = random_set(&seed, 256, 1);
	check_refused("cds", set, "numbers above 255");
	dealbox_set_free(set);
	set = dealbox_set_new(dealbox_pack_preferans());
	check_refused("pbn", set, "a pack that is not bridge's");
	dealbox_set_free(set);
	set = dealbox_set_new(NULL);
	check_refused("dlm", set, "no boards at all");
	dealbox_set_free(set);
}

static void boards_out_of_order_and_twice(void **state)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	static const uint32_t numbers[] = { 19, 17, 18, 17 };
	struct dealbox_deal deals[20];
	struct dealbox_board board;
	uint64_t seed = 31;
	struct text text;
	struct read read;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		board = (struct dealbox_board) DEALBOX_BOARD_INIT;
		if (i < 3)
			random_deal(&seed, &deals[numbers[i]]);
		board.deal = deals[numbers[i]];
		board.number = numbers[i];
		dealbox_set_add(set, &board);
	}
	assert_int_equal(write_text("dup", set, &text, NULL), 0);
	read = read_text("dup", &text);
	assert_int_equal(dealbox_set_count(read.set), 3);
	for (size_t i = 0; i < 3; i++) {
		dealbox_set_get(read.set, i, &board);
		assert_int_equal(board.number, 17 + i);
		assert_memory_equal(&board.deal, &deals[17 + i], sizeof(board.deal));
	}
	done(&read);
	dealbox_set_free(set);
}

/* The number of a board is never guessed: PBN can say that it is unknown. */
static void boards_without_numbers_are_not_counted(void **state)
{
	static const char *const numbered[] = { "dup", "dlm", "lin", "csv", "cds" };
	struct dealbox_board board;
	uint64_t seed = 41;
	struct dealbox_set *set = random_set(&seed, 0, 5);
	struct text text;
	struct read read;

	(void)state;
	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++)
		check_refused(numbered[i], set, "boards that have no numbers");
	assert_int_equal(write_text("pbn", set, &text, NULL), 0);
	read = read_text("pbn", &text);
	dealbox_set_get(read.set, 4, &board);
	assert_int_equal(board.number, 0);
	assert_null(board.label);
	done(&read);
	dealbox_set_free(set);
}

static void numbers_that_are_given(void **state)
{
	static const char *const formats[] = { "bri", "dge", "ber", "bhg", "rzd", "pbn" };
	struct dealbox_board board, turned;
	uint64_t seed = 42;
	struct dealbox_set *set = random_set(&seed, 0, 5);
	struct text text;
	struct read read;

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		assert_int_equal(write_text(formats[i], set, &text, NULL), 0);
		read = read_from(formats[i], text.data, text.size, 17);
		check_codes(&read, "");
		assert_true(same_deals(set, read.set));
		for (uint32_t n = 0; n < 5; n++) {
			dealbox_set_get(read.set, n, &board);
			assert_int_equal(board.number, 17 + n);
		}
		assert_int_equal(dealbox_set_numbered(read.set), 5);
		done(&read);
	}
	/* hands of BHG are those from the dealer on: those of board 18 begin at East */
	assert_int_equal(write_text("bhg", set, &text, NULL), 0);
	read = read_from("bhg", text.data, text.size, 18);
	dealbox_set_get(set, 0, &board);
	dealbox_set_get(read.set, 0, &turned);
	for (int seat = 0; seat < 4; seat++)
		assert_true(turned.deal.hand[(seat + 1) & 3] == board.deal.hand[seat]);
	done(&read);
	dealbox_set_free(set);

	/* an invalid deal is counted, too, and a file's own numbers are kept */
	set = random_set(&seed, 0, 3);
	assert_int_equal(write_text("ber", set, &text, NULL), 0);
	text.data[52] = '5';
	read = read_from("ber", text.data, text.size, 7);
	check_codes(&read, "bad-card");
	assert_string_equal(dealbox_report_get(read.report, 0)->board, "8");
	dealbox_set_get(read.set, 1, &board);
	assert_int_equal(board.number, 9);
	done(&read);
	dealbox_set_free(set);
	set = random_set(&seed, 3, 3);
	assert_int_equal(write_text("csv", set, &text, NULL), 0);
	read = read_from("csv", text.data, text.size, 7);
	dealbox_set_get(read.set, 0, &board);
	assert_int_equal(board.number, 3);
	assert_int_equal(dealbox_set_numbered(read.set), 0);
	done(&read);
	dealbox_set_free(set);
}

/* -- DUP ------------------------------------------------------------------------- */

#define DUP_RECORD	156
#define TRAILER		146

/* Three boards 17..19 with the trailer given, in the first record or in each. */
static struct read read_dup(const char *trailer, bool each, struct text *text)
{
	uint64_t seed = 51;
	struct dealbox_set *set = random_set(&seed, 17, 3);

	assert_int_equal(write_text("dup", set, text, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		uint8_t *place = text->data + i * DUP_RECORD + TRAILER;

		if (!i || each)
			memcpy(place, trailer, 10);
		else
			memset(place, 0, 10);
	}
	dealbox_set_free(set);
	return read_text(NULL, text);
}

static uint32_t first_number(const struct read *read)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;

	assert_int_equal(dealbox_set_get(read->set, 0, &board), 0);
	return board.number;
}

static void trailers_of_dup(void **state)
{
	static const struct {
		const char *trailer;
		uint32_t first;
		const char *codes;
	} examples[] = {
		{ "YN17 1 19 ", 17, "" },		/* highest board: Jannersten */
		{ "YN17 0 3  ", 17, "" },		/* number of boards: deal-convert */
		{ "YN1  0 03 ", 0, "trailer-disagrees" },	/* Big Deal, whatever they are */
		{ "NN1  1 3  ", 1, "" },
		{ "YN17 1 20 ", 0, "trailer-disagrees" },
		{ "YY17 1 19 ", 0, "trailer-disagrees" },	/* counts backwards */
		{ "YN   1 19 ", 0, "trailer-disagrees" },
		{ "????????  ", 0, "trailer-disagrees" },
		{ "          ", 0, "board-missing" },
	};
	struct text text;

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++)
		for (int each = 0; each < 2; each++) {
			struct read read = read_dup(examples[i].trailer, each, &text);

			assert_int_equal(read.err, 0);
			check_codes(&read, examples[i].codes);
			assert_int_equal(dealbox_set_count(read.set), 3);
			assert_int_equal(first_number(&read), examples[i].first);
			done(&read);
		}
}

/* Given numbers replace trailers that cannot be trusted, but not trusted ones. */
static void trailers_and_numbers_that_are_given(void **state)
{
	static const struct {
		const char *trailer;
		uint32_t first;
		const char *codes;
	} examples[] = {
		{ "YN17 1 19 ", 17, "" },
		{ "YN1  0 03 ", 33, "" },
		{ "YN17 1 20 ", 33, "" },
		{ "????????  ", 33, "" },
		{ "          ", 33, "" },
		/* the first record may be the last board */
		{ "YY17 1 19 ", 33, "trailer-disagrees" },
	};
	struct text text;

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		struct read read = read_dup(examples[i].trailer, true, &text);

		done(&read);
		read = read_from("dup", text.data, text.size, 33);
		check_codes(&read, examples[i].codes);
		assert_int_equal(first_number(&read), examples[i].first);
		done(&read);
	}
}

static void trailers_that_differ(void **state)
{
	struct text text;
	struct read read = read_dup("YN17 1 19 ", true, &text);

	(void)state;
	done(&read);
	text.data[2 * DUP_RECORD + TRAILER + 3] = '8';
	read = read_text(NULL, &text);
	check_codes(&read, "trailer-disagrees");
	assert_int_equal(first_number(&read), 0);
	done(&read);
}

static void halves_of_dup(void **state)
{
	struct text text;
	struct read read = read_dup("YN17 1 19 ", true, &text);
	uint8_t *screen = text.data + DUP_RECORD + 78, *card = screen + 1;
	uint8_t keep;

	(void)state;
	done(&read);
	/* blind: the second record is not to be looked at */
	memset(text.data + 78, ' ', 68);
	read = read_text(NULL, &text);
	check_codes(&read, "");
	assert_int_equal(dealbox_set_count(read.set), 3);
	done(&read);
	/* another card on the screen than in the numbers */
	while (*card < '2')
		card++;
	keep = *card;
	*card = keep == 'A' ? 'K' : 'A';
	read = read_text("dup", &text);
	check_codes(&read, "halves-disagree");
	assert_int_equal(dealbox_set_count(read.set), 2);
	assert_int_equal(dealbox_report_get(read.report, 0)->byte, DUP_RECORD);
	assert_string_equal(dealbox_report_get(read.report, 0)->board, "18");
	done(&read);
	*card = keep;
	/* cut off */
	text.size -= 50;
	read = read_text("dup", &text);
	check_codes(&read, "file-truncated");
	assert_int_equal(first_number(&read), 17);
	assert_int_equal(dealbox_set_count(read.set), 2);
	done(&read);
}

static void what_is_written_into_the_trailer(void **state)
{
	uint64_t seed = 61;
	struct dealbox_set *set = random_set(&seed, 7, 5);
	struct text text;

	(void)state;
	assert_int_equal(write_text("dup", set, &text, NULL), 0);
	assert_int_equal(text.size, 5 * DUP_RECORD);
	for (size_t i = 0; i < 5; i++)
		assert_memory_equal(text.data + i * DUP_RECORD + TRAILER, "YN7  1 11 ", 10);
	dealbox_set_free(set);
}

/* -- BRI and DGE ------------------------------------------------------------------- */

static void bri_in_lines(void **state)
{
	static const char *const ends[] = { "\r\n", "\n" };
	uint64_t seed = 71;
	struct dealbox_set *set = random_set(&seed, 0, 3);
	struct text records, lines;

	(void)state;
	assert_int_equal(write_text("bri", set, &records, NULL), 0);
	for (int e = 0; e < 2; e++) {
		struct read read;

		lines.size = 0;
		for (size_t i = 0; i < 3; i++) {
			memcpy(lines.data + lines.size, records.data + 128 * i, 78);
			strcpy((char *)lines.data + lines.size + 78, ends[e]);
			lines.size += 78 + strlen(ends[e]);
		}
		read = read_text(NULL, &lines);
		check_codes(&read, "");
		assert_true(same_deals(set, read.set));
		done(&read);
		/* a short line costs only itself */
		memmove(lines.data + 10, lines.data + 12, lines.size - 12);
		lines.size -= 2;
		read = read_text("bri", &lines);
		check_codes(&read, "record-invalid");
		assert_int_equal(dealbox_set_count(read.set), 2);
		done(&read);
	}
	dealbox_set_free(set);
}

static void bri_defects(void **state)
{
	uint64_t seed = 72;
	struct dealbox_set *set = random_set(&seed, 0, 3);
	struct text text;
	struct read read;
	uint8_t keep[4];

	(void)state;
	assert_int_equal(write_text("bri", set, &text, NULL), 0);
	/* North's second card repeats the first; West gets the rest */
	memcpy(keep, text.data, 4);
	memcpy(text.data + 2, text.data, 2);
	read = read_text("bri", &text);
	check_codes(&read, "card-repeated");
	assert_int_equal(dealbox_set_count(read.set), 2);
	assert_int_equal(dealbox_report_get(read.report, 0)->hands, 1);
	done(&read);
	/* East has a card of North's */
	memcpy(text.data, keep, 4);
	memcpy(text.data + 26, text.data, 2);
	read = read_text("bri", &text);
	check_codes(&read, "card-repeated");
	assert_int_equal(dealbox_report_get(read.report, 0)->hands, 3);
	done(&read);
	/* invalid numbers */
	memcpy(text.data, "0053", 4);
	read = read_text("bri", &text);
	check_codes(&read, "bad-card");
	assert_int_equal(read.tally.invalid, 1);
	done(&read);
	text.size = 200;
	read = read_text("bri", &text);
	assert_int_equal(dealbox_report_get(read.report, dealbox_report_count(read.report) -
					    2)->code, DEALBOX_CODE_FILE_TRUNCATED);
	done(&read);
	dealbox_set_free(set);
}

/* Each number of a record becomes each pair of bytes near the digits. */
static void only_numbers_of_cards_are_read(void **state)
{
	uint64_t seed = 74;
	struct dealbox_set *set = random_set(&seed, 0, 1);
	struct text text;

	(void)state;
	assert_int_equal(write_text("bri", set, &text, NULL), 0);
	for (int place = 0; place < 78; place += 2) {
		uint8_t keep[2] = { text.data[place], text.data[place + 1] };

		for (int pair = 0; pair < 14 * 14; pair++) {
			int tens = pair / 14 - 2, ones = pair % 14 - 2, number = 10 * tens + ones;
			bool good = tens >= 0 && tens < 10 && ones >= 0 && ones < 10 &&
				    number >= 1 && number <= 52;
			struct read read;

			text.data[place] = (uint8_t)('0' + tens);
			text.data[place + 1] = (uint8_t)('0' + ones);
			for (int i = 0; i < 78; i += 2)
				if (i != place && !memcmp(text.data + i, text.data + place, 2))
					good = false;
			read = read_text("bri", &text);
			assert_int_equal(dealbox_set_count(read.set), good);
			done(&read);
		}
		memcpy(text.data + place, keep, 2);
	}
	dealbox_set_free(set);
}

/* A wrong byte that concerns a single card never makes another valid deal. */
static void a_wrong_byte_is_no_other_deal(void **state)
{
	static const struct {
		const char *format;
		size_t first, size;
	} records[] = {
		{ "dge", 0, 68 }, { "ber", 0, 52 }, { "bhg", 1, 52 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(records) / sizeof(*records); n++) {
		uint64_t seed = 75 + n;
		struct dealbox_set *set = random_set(&seed, 1, 1);
		struct text text;

		assert_int_equal(write_text(records[n].format, set, &text, NULL), 0);
		for (size_t i = 0; i < records[n].size; i++) {
			uint8_t *byte = &text.data[records[n].first + i], keep = *byte;
			size_t same = 0;

			for (int value = 0; value < 256; value++) {
				struct read read;

				*byte = (uint8_t)value;
				read = read_text(records[n].format, &text);
				if (dealbox_set_count(read.set))
					assert_true(same_deals(set, read.set));
				same += dealbox_set_count(read.set);
				/* DGE: also in lower case */
				if (value == keep)
					assert_int_equal(dealbox_set_count(read.set), 1);
				done(&read);
			}
			assert_in_range(same, 1, 2);
			*byte = keep;
		}
		dealbox_set_free(set);
	}
}

static void dge_defects(void **state)
{
	uint64_t seed = 73;
	struct dealbox_set *set = random_set(&seed, 0, 2);
	struct text text;
	struct read read;

	(void)state;
	assert_int_equal(write_text("dge", set, &text, NULL), 0);
	text.data[0] = 'S';
	read = read_text("dge", &text);
	check_codes(&read, "bad-suit");
	assert_int_equal(dealbox_report_get(read.report, 0)->hand, DEALBOX_NORTH);
	assert_int_equal(dealbox_set_count(read.set), 1);
	done(&read);
	dealbox_set_free(set);
}

/* -- DLM -------------------------------------------------------------------------- */

static void replace(struct text *text, const char *from, const char *to)
{
	char *place = memmem(text->data, text->size, from, strlen(from));

	assert_non_null(place);
	memmove(place + strlen(to), place + strlen(from),
		text->size - (size_t)(place - (char *)text->data) - strlen(from));
	memcpy(place, to, strlen(to));
	text->size += strlen(to) - strlen(from);
}

static void dlm_file(struct text *text)
{
	uint64_t seed = 81;
	struct dealbox_set *set = random_set(&seed, 17, 3);

	assert_int_equal(write_text("dlm", set, text, NULL), 0);
	dealbox_set_free(set);
}

static void dialects_of_dlm(void **state)
{
	struct text text;
	struct read read;

	(void)state;
	dlm_file(&text);
	/* as the real program writes it, with all boards filled */
	replace(&text, "[Document]", "[DOCUMENT]");
	replace(&text, "PrintOuts", "Dealing method=1\r\nPrintOuts");
	replace(&text, "Checksum=2", "Checksum=002");	/* 1 ^ 17 ^ 19 ^ 1 */
	strcpy((char *)text.data + text.size,
	       "Duplicates 20=0\r\nProperty 20=1\r\n"
	       "Board 20=aaaaaabffffffkkkkkklpppppp026\r\n[STARTUP]\r\nStatistics=0\r\n");
	text.size += strlen((char *)text.data + text.size);
	read = read_text(NULL, &text);
	check_codes(&read, "");
	assert_int_equal(dealbox_set_count(read.set), 3);
	assert_int_equal(first_number(&read), 17);
	done(&read);
	/* lines that end in LF, keys in another case */
	for (size_t i = 0; i < text.size; i++)
		if (text.data[i] == '\r')
			text.data[i] = ' ';
	replace(&text, "From board", "FROM BOARD");
	read = read_text(NULL, &text);
	assert_int_equal(dealbox_set_count(read.set), 3);
	done(&read);
}

static void checksums_of_dlm(void **state)
{
	struct text text;
	struct read read;
	char *board;

	(void)state;
	dlm_file(&text);
	assert_non_null(memmem(text.data, text.size, "Checksum=2\r\n", 12));
	/* the file's own */
	replace(&text, "Checksum=2\r", "Checksum=7\r");
	read = read_text(NULL, &text);
	check_codes(&read, "checksum-wrong");
	assert_int_equal(dealbox_set_count(read.set), 3);
	assert_int_equal(dealbox_report_get(read.report, 0)->expected, 2);
	done(&read);
	/* the number of boards instead, as one program has it: 3 ^ 1 */
	replace(&text, "Checksum=7\r", "Checksum=2\r");
	/* a board's: one letter has changed */
	board = memmem(text.data, text.size, "Board 18=", 9);
	board[12] = board[12] == 'a' ? 'b' : 'a';
	read = read_text(NULL, &text);
	assert_int_equal(dealbox_set_count(read.set), 2);
	check_codes(&read, "checksum-wrong");
	assert_string_equal(dealbox_report_get(read.report, 0)->board, "18");
	done(&read);
}

/* The boards of a real file, posted in public: our checksums are those of the program. */
static void a_board_of_the_real_program(void **state)
{
	static const char text[] = "[DOCUMENT]\nStatus=Show\nDuplicates=1\nFrom board=1\n"
		"To board=1\nCrypto key=0\nChecksum=000\n"
		"Board 01=jlifaelnecgmoldfjmcflinlap023\n";
	struct read read = read_bytes(NULL, text, sizeof(text) - 1);

	(void)state;
	assert_int_equal(dealbox_set_count(read.set), 1);
	check_codes(&read, "");
	done(&read);
}

static void boards_outside_the_range(void **state)
{
	struct text text;
	struct read read;

	(void)state;
	dlm_file(&text);
	replace(&text, "To board=19", "To board=18");
	replace(&text, "Checksum=2", "Checksum=3");
	read = read_text(NULL, &text);
	check_codes(&read, "outside-range");
	assert_string_equal(dealbox_report_get(read.report, 0)->text, "17 to 18");
	assert_int_equal(dealbox_set_count(read.set), 2);
	done(&read);
	replace(&text, "To board=18", "To board=21");
	replace(&text, "Checksum=3", "Checksum=4");
	read = read_text(NULL, &text);
	check_codes(&read, "count-disagrees");
	done(&read);
	replace(&text, "From board=17", "From board=71");
	read = read_text(NULL, &text);
	check_codes(&read, "record-invalid no-deals");
	done(&read);
	replace(&text, "Crypto key=0", "Crypto key=5");
	read = read_text(NULL, &text);
	check_codes(&read, "encrypted no-deals");
	done(&read);
}

static void fillings_within_the_range_are_no_deals(void **state)
{
	static const char text[] = "[Document]\nStatus=Show\nDuplicates=1\nFrom board=1\n"
		"To board=1\nCrypto key=0\nChecksum=0\n"
		"Board 01=aaaaaabffffffkkkkkklpppppp015\n";
	struct read read = read_bytes(NULL, text, sizeof(text) - 1);

	(void)state;
	check_codes(&read, "placeholder-deal no-deals");
	done(&read);
}

static void no_board_is_written_that_was_not_there(void **state)
{
	const char *place;
	unsigned int boards = 0;
	struct text text;

	(void)state;
	dlm_file(&text);
	text.data[text.size] = '\0';
	for (place = (char *)text.data; (place = strstr(place, "\nBoard ")); place++)
		boards++;
	assert_int_equal(boards, 3);
}

/* -- LIN --------------------------------------------------------------------------- */

#define S "S48JH25TQD235C679"
#define W "S36TH468KAD4TC45Q"
#define N "S257QAH9DJQKC8JKA"
#define E "S9KH37JD6789AC23T"

static void dialects_of_lin(void **state)
{
	static const struct {
		const char *text, *codes;
		uint32_t number;
		int dealer, vulnerable;
	} examples[] = {
		{ "qx|o1|md|3" S "," W "," N ",|rh||ah|Board 1|sv|o|pg||\n", "", 1, 0, 0 },
		{ "md|3" S "," W "," N "|rh||ah|Board 1|sv|0|pg||\n", "", 1, 0, 0 },
		{ "md|3" S "," W "," N "," E "|ah|Board 1|sv||pg||", "", 1, 0, -1 },
		{ "QX|O2|MD|4" S "," W "," N "," E "|RH||SV|N|PG||", "", 2, 1, 1 },
		{ "vg|A,B,I,1,2,C,0,D,0|\nrs|,|\npn|,,,|pg||\nqx|c2,BOARD 2|\nmd|4" S ","
		  W ",\n" N ",|\nsv|n|\n", "", 2, 1, 1 },
		{ "qx|o2|md|0" S "," W "," N ",|sv|b|", "vulnerable-contradicts", 2, -1, 3 },
		{ "md|3" S "," W "," N ",|", "board-missing", 0, 0, -1 },
		{ "qx|o1|x y|md|3" S "," W "," N ",|", "record-invalid", 1, 0, -1 },
		{ "qx|o1|md|3S48JH25T10QD235C679," W "," N ",|",
		  "ten-as-10 card-repeated hand-size no-deals", 0, 0, 0 },
		{ "qx|o1|md|3S48JH2510QD235C679," W "," N ",|", "ten-as-10", 1, 0, -1 },
		{ "qx|o1|md|7" S "," W "," N ",|", "dealer-invalid bad-suit no-deals",
		  0, 0, 0 },
		{ "qx|o1|md|3" S ",," N ",|",
		  "hand-not-given hand-not-given no-deals", 0, 0, 0 },
		{ "qx|o1|md||pg||", "deal-not-given no-deals", 0, 0, 0 },
		{ "qx|o1|pg||qx|o2|md|4" S "," W "," N ",|", "deal-not-given", 2, 1, -1 },
		{ "qx|o1|md|3" S "," W "," N ",|pg|", "file-truncated", 1, 0, -1 },
		{ "qx|o1|md|3" S "," W "," N ",|ah|Board 1", "file-truncated", 1, 0, -1 },
		{ "qx|o1|md|3" S "," W "," N "," E "," E "|", "hands-number no-deals", 0, 0,
		  0 },
		{ "qx|o1|md|3" S "," W "," N ",|sv|x|", "vulnerable-invalid", 1, 0, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		struct read read = read_bytes("lin", examples[i].text,
					      strlen(examples[i].text));
		struct dealbox_board board;

		check_codes(&read, examples[i].codes);
		if (!dealbox_set_get(read.set, 0, &board)) {
			assert_int_equal(board.number, examples[i].number);
			assert_int_equal(board.dealer, examples[i].dealer);
			assert_int_equal(board.vulnerable, examples[i].vulnerable);
			assert_int_equal(dealbox_deal_holder(&board.deal, 0), DEALBOX_NORTH);
			assert_int_equal(dealbox_deal_holder(&board.deal, 1), DEALBOX_EAST);
		} else {
			assert_non_null(strstr(examples[i].codes, "no-deals"));
		}
		done(&read);
	}
}

/* Text of several lines, or too long text, is neither number nor label. */
static void labels_that_hold_anything(void **state)
{
	static const char text[] = "md|3" S "," W "," N ",|ah|7\0\0x|";
	static const char spaces[] = "md|3" S "," W "," N ",|ah|Board 7                    "
		"                                                            x|";
	struct read read = read_bytes("lin", text, sizeof(text) - 1);

	(void)state;
	check_codes(&read, "board-missing");
	assert_int_equal(first_number(&read), 0);
	done(&read);
	read = read_bytes("lin", spaces, sizeof(spaces) - 1);
	check_codes(&read, "board-missing");
	assert_int_equal(first_number(&read), 0);
	done(&read);
}

static void lines_of_lin_are_counted(void **state)
{
	static const char text[] = "vg|x|\r\n\r\nqx|o1|md|3" S "," W "," N ",|\r\n"
				   "qx|o2|\r\nmd|3" S "," W "," N ",|\r\n";
	struct read read = read_bytes(NULL, text, sizeof(text) - 1);
	struct dealbox_board board;

	(void)state;
	dealbox_set_get(read.set, 0, &board);
	assert_int_equal(board.line, 3);
	dealbox_set_get(read.set, 1, &board);
	assert_int_equal(board.line, 5);
	done(&read);
}

/* -- the others --------------------------------------------------------------------- */

static void ber_and_bhg(void **state)
{
	uint64_t seed = 91;
	struct dealbox_set *set = random_set(&seed, 0, 5);
	struct text text, lines;
	struct read read;

	(void)state;
	assert_int_equal(write_text("ber", set, &text, NULL), 0);
	assert_int_equal(text.size, 5 * 52);
	/* one deal a line, and one of them short */
	lines.size = 0;
	for (size_t i = 0; i < 5; i++) {
		memcpy(lines.data + lines.size, text.data + 52 * i, 52);
		lines.size += i == 2 ? 50 : 52;
		lines.data[lines.size++] = '\n';
	}
	read = read_text(NULL, &lines);
	check_codes(&read, "record-invalid");
	assert_int_equal(dealbox_set_count(read.set), 4);
	done(&read);
	text.data[60] = '5';
	read = read_text("ber", &text);
	check_codes(&read, "bad-card");
	done(&read);
	text.data[60] = text.data[61];
	text.size -= 1;
	read = read_text("ber", &text);
	assert_int_equal(dealbox_report_get(read.report, dealbox_report_count(read.report) -
					    1)->code, DEALBOX_CODE_FILE_TRUNCATED);
	done(&read);

	assert_int_equal(write_text("bhg", set, &text, NULL), 0);
	read = read_text(NULL, &text);
	check_codes(&read, "board-uncertain");
	assert_true(same_deals(set, read.set));
	done(&read);
	text.data[3] = text.data[2];
	read = read_text("bhg", &text);
	check_codes(&read, "board-uncertain card-repeated card-missing");
	done(&read);
	dealbox_set_free(set);
}

static void packed_formats(void **state)
{
	uint64_t seed = 95;
	struct dealbox_set *set = random_set(&seed, 1, 5);
	struct text text, zrd;
	struct read read;
	struct dealbox_board board;

	(void)state;
	assert_int_equal(write_text("rzd", set, &text, NULL), 0);
	assert_int_equal(text.size, 13 + 5 * 13);
	assert_memory_equal(text.data, "\5\0           ", 13);
	text.data[0] = 6;
	read = read_text(NULL, &text);
	check_codes(&read, "count-disagrees");
	assert_int_equal(dealbox_set_count(read.set), 5);
	done(&read);
	text.data[0] = 5;
	text.data[13] ^= 1;	/* the club ace has another owner */
	read = read_text(NULL, &text);
	check_codes(&read, "hand-size hand-size");
	done(&read);
	text.size = 7;
	read = read_text("rzd", &text);
	check_codes(&read, "file-truncated no-deals");
	done(&read);

	assert_int_equal(write_text("cds", set, &text, NULL), 0);
	assert_int_equal(text.size, 5 * 14);
	text.data[14] = 0;
	read = read_text(NULL, &text);
	check_codes(&read, "board-missing");
	done(&read);

	/* ZRD has no writer: 2 bits a card from the lowest, W N E S */
	zrd.size = 0;
	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++, zrd.size += 23) {
		memset(zrd.data + zrd.size, 0x77, 23);
		memset(zrd.data + zrd.size, 0, 13);
		for (unsigned int card = 0; card < 52; card++)
			zrd.data[zrd.size + card / 4] |= (uint8_t)
				(((dealbox_deal_holder(&board.deal, card) + 1) & 3) <<
				 (2 * (card % 4)));
	}
	read = read_text(NULL, &zrd);
	check_codes(&read, "");
	assert_true(same_deals(set, read.set));
	done(&read);
	dealbox_set_free(set);
}

static void rbn(void **state)
{
	static const char text[] =
		"D 20200101\nT Title:Author\n{a paragraph\nover lines}\nB 8\n"
		"H W:A8765.QT.K9.AT87:J42.AJ7632.J.632:QT3.85.Q86.KQJ54:\n"
		"A WZ:1S2H2S4D:4SPP5H:XA\n\n"
		"B 9\nH N:A8765.QT.K9.AT87;J42.AJ7632.J.632;QT3.85.Q86.KQJ54;"
		"K9.K94.AT75432.9\nA NE:\n\n"
		"H N:A8765.QT.K9.AT87:xxx.AJ7632.J.632:QT3.85.Q86.KQJ54:\n\n"
		"B 11\nH N:A8765.QT.K9.AT87:J42.AJ7632J.632:QT3.85.Q86.KQJ54:\n\n"
		"B 12\nH X\n";
	struct read read = read_bytes(NULL, text, sizeof(text) - 1);
	struct dealbox_board board;

	(void)state;
	check_codes(&read, "hand-not-given hand-not-given bad-suit deal-syntax");
	assert_int_equal(dealbox_set_count(read.set), 2);
	dealbox_set_get(read.set, 0, &board);
	assert_int_equal(board.number, 8);
	assert_int_equal(board.dealer, DEALBOX_WEST);
	assert_int_equal(board.vulnerable, DEALBOX_VULNERABLE_NONE);
	assert_int_equal(board.line, 6);
	assert_int_equal(dealbox_deal_holder(&board.deal, 0), DEALBOX_WEST);
	assert_int_equal(dealbox_deal_holder(&board.deal, 1), DEALBOX_SOUTH);
	/* a board holds until another one is given */
	assert_string_equal(dealbox_report_get(read.report, 0)->board, "9");
	done(&read);
}

static void csv(void **state)
{
	uint64_t seed = 97;
	struct dealbox_set *set = random_set(&seed, 3, 1);
	struct text text;
	struct read read;

	(void)state;
	assert_int_equal(write_text("csv", set, &text, NULL), 0);
	/* without quotes, and with semicolons; a hand that is too long; a field too few */
	for (size_t i = 0; i < text.size; i++)
		if (text.data[i] == ',')
			text.data[i] = ';';
	read = read_text(NULL, &text);
	check_codes(&read, "");
	assert_int_equal(first_number(&read), 3);
	assert_true(same_deals(set, read.set));
	done(&read);
	strcpy((char *)text.data + text.size, "\"A\",\"K\"\r\n\"A\r\n");
	text.size += strlen((char *)text.data + text.size);
	read = read_text(NULL, &text);
	check_codes(&read, "record-invalid record-invalid");
	assert_int_equal(dealbox_set_count(read.set), 1);
	done(&read);
	dealbox_set_free(set);
}

/* -- recognition, refusals ------------------------------------------------------------ */

static void content_comes_before_the_name(void **state)
{
	uint64_t seed = 111;
	struct dealbox_set *set = random_set(&seed, 1, 16);
	struct text text;

	(void)state;
	for (size_t i = 0; i < WRITABLE; i++) {
		assert_int_equal(write_text(writable[i], set, &text, NULL), 0);
		for (size_t j = 0; j < WRITABLE; j++) {
			char path[32];

			snprintf(path, sizeof(path), "boards.%s", writable[j]);
			assert_ptr_equal(dealbox_format_recognise(text.data, text.size,
				text.size, path), format_of(writable[i]));
		}
	}
	assert_null(dealbox_format_recognise("hello", 5, 5, NULL));
	assert_null(dealbox_format_recognise("hello", 5, 5, "a.txt"));
	assert_null(dealbox_format_recognise("hello", 5, 5, "a.pbn/b"));
	assert_ptr_equal(dealbox_format_recognise("hello", 5, 5, "A.PBN"), format_of("pbn"));
	assert_null(dealbox_format_find("xyz"));
	assert_null(dealbox_format_get(13));
	dealbox_set_free(set);
}

static void a_byte_order_mark_is_skipped_in_every_text(void **state)
{
	static const char *const formats[] = { "pbn", "lin", "csv", "dlm" };
	uint64_t seed = 113;
	struct dealbox_set *set = random_set(&seed, 1, 4);
	struct text text;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct read read;

		assert_int_equal(write_text(formats[i], set, &text, NULL), 0);
		memmove(text.data + 3, text.data, text.size);
		memcpy(text.data, "\xef\xbb\xbf", 3);
		text.data[text.size + 3] = 0x1a;	/* the end of a DOS file */
		text.size += 3 + (i > 0);
		read = read_text(NULL, &text);
		check_codes(&read, "byte-order-mark");
		assert_true(same_deals(set, read.set));
		done(&read);
	}
	dealbox_set_free(set);
}

static void what_is_no_file_of_deals_is_refused(void **state)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	char path[] = "/tmp/dealbox-test-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(dealbox_format_read_file(NULL, "/nonexistent/x.pbn", set, report,
						  NULL), -ENOENT);
	assert_int_equal(dealbox_format_read_file(NULL, "/tmp", set, report, NULL), -EISDIR);
	assert_int_equal(dealbox_format_read_file(NULL, path, set, report, NULL), -ENODATA);
	assert_int_equal(write(fd, "hello\n", 6), 6);
	assert_int_equal(dealbox_format_read_file(NULL, path, set, report, NULL),
			 -EPROTONOSUPPORT);
	/* an empty gigabyte takes neither memory nor time */
	assert_int_equal(ftruncate(fd, (off_t)1 << 30), 0);
	assert_int_equal(dealbox_format_read_file(NULL, path, set, report, NULL), -EFBIG);
	assert_int_equal(dealbox_report_count(report), 5);
	assert_int_equal(dealbox_report_get(report, 4)->code, DEALBOX_CODE_FILE_TOO_LARGE);
	assert_string_equal(dealbox_report_get(report, 4)->file, path);
	close(fd);
	unlink(path);
	dealbox_set_free(set);
	dealbox_report_free(report);
}

static void several_files_are_one_set(void **state)
{
	uint64_t seed = 121;
	struct dealbox_set *first = random_set(&seed, 1, 8), *second, *all;
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_board board;
	struct text one, other;

	(void)state;
	second = random_set(&seed, 9, 8);
	all = dealbox_set_new(NULL);
	assert_int_equal(write_text("pbn", first, &one, NULL), 0);
	assert_int_equal(write_text("dlm", second, &other, NULL), 0);
	dealbox_format_read_memory(NULL, one.data, one.size, "a.pbn", all, report, NULL);
	dealbox_format_read_memory(NULL, other.data, other.size, "b.dlm", all, report, NULL);
	assert_int_equal(dealbox_set_count(all), 16);
	assert_int_equal(dealbox_set_check(all, report), 0);
	assert_int_equal(dealbox_report_count(report), 0);
	dealbox_set_get(all, 8, &board);
	assert_string_equal(board.file, "b.dlm");
	assert_int_equal(board.number, 9);
	assert_true(board.line > 1);
	dealbox_set_free(first);
	dealbox_set_free(second);
	dealbox_set_free(all);
	dealbox_report_free(report);
}

/* -- writing files -------------------------------------------------------------------- */

static unsigned int files_in(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void a_file_is_replaced_whole_or_not_at_all(void **state)
{
	char folder[] = "/tmp/dealbox-test-XXXXXX", path[64], link[64];
	uint64_t seed = 131;
	struct dealbox_set *set = random_set(&seed, 1, 4), *wrong = random_set(&seed, 98, 4);
	struct dealbox_report *report = dealbox_report_new();
	struct stat before, after;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/set.dup", folder);
	snprintf(link, sizeof(link), "%s/link.dup", folder);
	assert_int_equal(dealbox_format_write_file(format_of("dup"), set, path, report), 0);
	assert_int_equal(files_in(folder), 1);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(before.st_mode & 0777, 0600);
	assert_int_equal(before.st_size, 4 * 156);

	/* what cannot be written leaves the old file as it is */
	assert_int_equal(dealbox_format_write_file(format_of("dup"), wrong, path, report),
			 -ENOTSUP);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(files_in(folder), 1);

	/* mode and link are kept */
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(symlink("set.dup", link), 0);
	assert_int_equal(dealbox_format_write_file(format_of("bri"), set, link, report), 0);
	assert_int_equal(lstat(link, &after), 0);
	assert_true(S_ISLNK(after.st_mode));
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_mode & 0777, 0644);
	assert_int_equal(after.st_size, 4 * 128);
	assert_int_equal(files_in(folder), 2);

	/* a full disk: no half-written file stays */
	assert_int_equal(dealbox_format_write_file(format_of("dup"), set, "/dev/full",
						   report), -ENOSPC);
	snprintf(path, sizeof(path), "%s/none/set.dup", folder);
	assert_int_equal(dealbox_format_write_file(format_of("dup"), set, path, report),
			 -ENOENT);
	assert_int_equal(dealbox_report_get(report, dealbox_report_count(report) - 1)->code,
			 DEALBOX_CODE_WRITE_FAILED);
	assert_int_equal(files_in(folder), 2);

	unlink(link);
	snprintf(path, sizeof(path), "%s/set.dup", folder);
	unlink(path);
	rmdir(folder);
	dealbox_set_free(set);
	dealbox_set_free(wrong);
	dealbox_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_of_formats),
		cmocka_unit_test(numbers_survive),
		cmocka_unit_test(dealer_and_vulnerability_survive),
		cmocka_unit_test(what_cannot_be_expressed_is_said_before_a_byte_is_written),
		cmocka_unit_test(boards_out_of_order_and_twice),
		cmocka_unit_test(boards_without_numbers_are_not_counted),
		cmocka_unit_test(numbers_that_are_given),
		cmocka_unit_test(trailers_of_dup),
		cmocka_unit_test(trailers_and_numbers_that_are_given),
		cmocka_unit_test(trailers_that_differ),
		cmocka_unit_test(halves_of_dup),
		cmocka_unit_test(what_is_written_into_the_trailer),
		cmocka_unit_test(bri_in_lines),
		cmocka_unit_test(bri_defects),
		cmocka_unit_test(only_numbers_of_cards_are_read),
		cmocka_unit_test(a_wrong_byte_is_no_other_deal),
		cmocka_unit_test(dge_defects),
		cmocka_unit_test(dialects_of_dlm),
		cmocka_unit_test(checksums_of_dlm),
		cmocka_unit_test(a_board_of_the_real_program),
		cmocka_unit_test(boards_outside_the_range),
		cmocka_unit_test(fillings_within_the_range_are_no_deals),
		cmocka_unit_test(no_board_is_written_that_was_not_there),
		cmocka_unit_test(dialects_of_lin),
		cmocka_unit_test(labels_that_hold_anything),
		cmocka_unit_test(lines_of_lin_are_counted),
		cmocka_unit_test(ber_and_bhg),
		cmocka_unit_test(packed_formats),
		cmocka_unit_test(rbn),
		cmocka_unit_test(csv),
		cmocka_unit_test(content_comes_before_the_name),
		cmocka_unit_test(a_byte_order_mark_is_skipped_in_every_text),
		cmocka_unit_test(what_is_no_file_of_deals_is_refused),
		cmocka_unit_test(several_files_are_one_set),
		cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
