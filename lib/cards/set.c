// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/set.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/report.h>

#include "pack-internal.h"
#include "reserved.h"
#include "seat-bits.h"
#include "set-internal.h"

/*
 * 24 bytes a deal: the densest format has 13, and a set shall not take many times the
 * memory of its file. The owner of card n (0..3) is bit n of the two masks; their
 * upper 12 bits hold what is small.
 */
struct record {
	uint64_t seat_bits[2];
	uint32_t id;		/* board number, or place of the label */
	uint32_t where;		/* line; binary formats: byte */
};

#define FILES_MAX	4095	/* 12 bits, 0 = no file */

/* seat_bits[0] >> 52 */
#define SMALL_DEALER	0	/* 3 bits: seat + 1 */
#define SMALL_VULNERABLE 3	/* 3 bits: + 1 */
#define SMALL_ID	6	/* 2 bits */
enum { ID_NONE, ID_NUMBER, ID_LABEL };

#define CHUNK_RECORDS	4096
#define CHUNK_LABELS	65536	/* bytes */

struct file {
	char *name;
	bool binary;
};

/* A deal that is not complete. There are few of them. */
struct partial {
	struct set_entry entry;
	char label[SET_LABEL_MAX + 1];
	size_t before;		/* complete deals when it was read */
};

struct dealbox_set {
	const struct dealbox_pack *pack;
	unsigned int marks;
	size_t count;
	struct record **chunks;
	size_t chunks_room;
	char **labels;		/* each of CHUNK_LABELS bytes */
	size_t labels_count, labels_used;	/* used: bytes in the last */
	struct file *files;
	size_t files_count;
	uint32_t first, numbered;	/* number_from(); first 0 = not asked for */
	bool keeps_text, keeps_partial;
	struct partial *partial;
	size_t partial_count, partial_room;
	struct set_text **texts;	/* of the boards up to texts_room */
	size_t texts_room;
};

void set_text_free(struct set_text *text)
{
	if (text)
		explicit_bzero(text->text, text->size);
	free(text);
}

struct dealbox_set *dealbox_set_new(const struct dealbox_pack *pack)
{
	struct dealbox_set *set = calloc(1, sizeof(*set));

	if (set)
		set->pack = pack_or_bridge(pack);
	return set;
}

static size_t chunks_used(const struct dealbox_set *set)
{
	return (set->count + CHUNK_RECORDS - 1) / CHUNK_RECORDS;
}

void dealbox_set_free(struct dealbox_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < chunks_used(set); i++) {
		explicit_bzero(set->chunks[i], CHUNK_RECORDS * sizeof(struct record));
		free(set->chunks[i]);
	}
	free(set->chunks);
	for (size_t i = 0; i < set->labels_count; i++)
		free(set->labels[i]);
	free(set->labels);
	for (size_t i = 0; i < set->files_count; i++)
		free(set->files[i].name);
	free(set->files);
	for (size_t i = 0; i < set->texts_room; i++)
		set_text_free(set->texts[i]);
	free(set->texts);
	if (set->partial)
		explicit_bzero(set->partial, set->partial_count * sizeof(*set->partial));
	free(set->partial);
	free(set);
}

const struct dealbox_pack *dealbox_set_pack(const struct dealbox_set *set)
{
	return set->pack;
}

int dealbox_set_mark(struct dealbox_set *set, unsigned int marks)
{
	if (marks & ~(DEALBOX_MARK_RESTRICTED | DEALBOX_MARK_UNPLAYED))
		return -EINVAL;
	set->marks = marks;
	return 0;
}

unsigned int dealbox_set_marks(const struct dealbox_set *set)
{
	return set->marks;
}

void dealbox_set_number_from(struct dealbox_set *set, uint32_t first)
{
	set->first = first;
}

size_t dealbox_set_numbered(const struct dealbox_set *set)
{
	return set->numbered;
}

bool set_numbers(const struct dealbox_set *set)
{
	return set->first;
}

uint32_t set_next_number(struct dealbox_set *set)
{
	if (!set->first || set->numbered > DEALBOX_BOARD_MAX - set->first)
		return 0;
	return set->first + set->numbered++;
}

void dealbox_set_keep_text(struct dealbox_set *set)
{
	set->keeps_text = true;
}

bool set_keeps_text(const struct dealbox_set *set)
{
	return set->keeps_text;
}

struct set_text *set_text(const struct dealbox_set *set, size_t index)
{
	return index < set->texts_room ? set->texts[index] : NULL;
}

int set_text_put(struct dealbox_set *set, size_t index, struct set_text *text)
{
	if (index >= set->texts_room) {
		size_t room = 2 * index + 64;
		struct set_text **texts = realloc(set->texts, room * sizeof(struct set_text *));

		if (!texts)
			return -ENOMEM;
		memset(texts + set->texts_room, 0,
		       (room - set->texts_room) * sizeof(struct set_text *));
		set->texts = texts;
		set->texts_room = room;
	}
	set->texts[index] = text;
	return 0;
}

void dealbox_set_keep_partial(struct dealbox_set *set)
{
	set->keeps_partial = true;
}

static int partial_grow(struct dealbox_set *set)
{
	const size_t room = 2 * set->partial_room + 8;
	struct partial *partial = calloc(room, sizeof(*partial));

	if (!partial)
		return -ENOMEM;
	if (set->partial) {
		memcpy(partial, set->partial, set->partial_count * sizeof(*partial));
		explicit_bzero(set->partial, set->partial_count * sizeof(*partial));
	}
	free(set->partial);
	set->partial = partial;
	set->partial_room = room;
	return 0;
}

int set_partial_put(struct dealbox_set *set, const struct set_entry *entry)
{
	struct partial *partial;

	if (!set->keeps_partial)
		return 0;
	if (set->partial_count == set->partial_room && partial_grow(set))
		return -ENOMEM;
	partial = &set->partial[set->partial_count++];
	partial->entry = *entry;
	partial->before = set->count;
	if (entry->label_size)
		dealbox_text_safe(entry->label, entry->label_size, partial->label,
				  sizeof(partial->label));
	return 0;
}

size_t dealbox_set_count(const struct dealbox_set *set)
{
	return set->count;
}

static const struct record *record_at(const struct dealbox_set *set, size_t index)
{
	return &set->chunks[index / CHUNK_RECORDS][index % CHUNK_RECORDS];
}

static struct record *record_place(struct dealbox_set *set, size_t index)
{
	return &set->chunks[index / CHUNK_RECORDS][index % CHUNK_RECORDS];
}

int set_file(struct dealbox_set *set, const char *name, bool binary)
{
	struct file *files;
	char *copy;

	for (size_t i = 0; i < set->files_count; i++)
		if (!strcmp(set->files[i].name, name) && set->files[i].binary == binary)
			return (int)i + 1;
	if (set->files_count == FILES_MAX)
		return -E2BIG;
	files = realloc(set->files, (set->files_count + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	set->files = files;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	files[set->files_count] = (struct file) { copy, binary };
	return (int)++set->files_count;
}

/* Return the place of the label, or a negative errno. */
static int64_t keep_label(struct dealbox_set *set, const char *text, size_t size)
{
	char *place;

	/* not within a character of UTF-8 */
	if (size > SET_LABEL_MAX)
		for (size = SET_LABEL_MAX; size > SET_LABEL_MAX - 3 && (text[size] & 0xc0) == 0x80;
		     size--)
			;
	if (!set->labels_count || set->labels_used + size + 1 > CHUNK_LABELS) {
		char **labels = realloc(set->labels,
					(set->labels_count + 1) * sizeof(*labels));

		if (!labels)
			return -ENOMEM;
		set->labels = labels;
		labels[set->labels_count] = malloc(CHUNK_LABELS);
		if (!labels[set->labels_count])
			return -ENOMEM;
		set->labels_count++;
		set->labels_used = 0;
	}
	place = set->labels[set->labels_count - 1] + set->labels_used;
	memcpy(place, text, size);
	place[size] = '\0';
	set->labels_used += size + 1;
	return (int64_t)(set->labels_count - 1) * CHUNK_LABELS +
	       (place - set->labels[set->labels_count - 1]);
}

static int add_chunk(struct dealbox_set *set)
{
	size_t used = chunks_used(set);

	if (used == set->chunks_room) {
		size_t room = used ? used * 2 : 8;
		struct record **chunks = realloc(set->chunks, room * sizeof(*chunks));

		if (!chunks)
			return -ENOMEM;
		set->chunks = chunks;
		set->chunks_room = room;
	}
	set->chunks[used] = malloc(CHUNK_RECORDS * sizeof(struct record));
	return set->chunks[used] ? 0 : -ENOMEM;
}

int set_append(struct dealbox_set *set, const struct set_entry *entry)
{
	const dealbox_cards *hand = entry->deal.hand;
	struct record *record;
	uint64_t small = 0;
	uint32_t id = 0;

	if (set->count == UINT32_MAX - 1)
		return -E2BIG;
	if (set->count % CHUNK_RECORDS == 0) {
		int err = add_chunk(set);

		if (err)
			return err;
	}
	if (entry->number) {
		small = ID_NUMBER << SMALL_ID;
		id = entry->number;
	} else if (entry->label_size) {
		int64_t place = keep_label(set, entry->label, entry->label_size);

		if (place < 0 || place > UINT32_MAX) {
			if (set->count % CHUNK_RECORDS == 0)
				free(set->chunks[chunks_used(set)]);
			return place < 0 ? (int)place : -E2BIG;
		}
		small = ID_LABEL << SMALL_ID;
		id = (uint32_t)place;
	}
	small |= (uint64_t)(entry->dealer + 1) << SMALL_DEALER |
		 (uint64_t)(entry->vulnerable + 1) << SMALL_VULNERABLE;

	record = record_place(set, set->count);
	record->seat_bits[0] = (hand[1] | hand[3]) | small << 52;
	record->seat_bits[1] = (hand[2] | hand[3]) | (uint64_t)entry->file << 52;
	record->id = id;
	record->where = entry->where;
	set->count++;
	return 0;
}

int dealbox_set_add(struct dealbox_set *set, const struct dealbox_board *board)
{
	struct set_entry entry = {
		.deal = board->deal, .number = board->number, .dealer = board->dealer,
		.vulnerable = board->vulnerable, .where = board->line,
	};

	if (board->number > DEALBOX_BOARD_MAX || board->dealer < -1 ||
	    board->dealer > DEALBOX_WEST || board->vulnerable < -1 ||
	    board->vulnerable > DEALBOX_VULNERABLE_ALL || RESERVED_USED(board) ||
	    !dealbox_deal_complete(&board->deal, set->pack))
		return -EINVAL;
	if (board->label) {
		entry.label = board->label;
		entry.label_size = strlen(board->label);
	}
	if (board->file) {
		entry.file = set_file(set, board->file, !board->line);
		if (entry.file < 0)
			return entry.file;
		if (!board->line)
			entry.where = (uint32_t)board->byte;
	}
	return set_append(set, &entry);
}

static void record_deal(const struct dealbox_set *set, const struct record *record,
			struct dealbox_deal *deal)
{
	deal_from_seat_bits(deal, set->pack->cards, record->seat_bits[0], record->seat_bits[1]);
}

static unsigned int record_small(const struct record *record, unsigned int field,
				 unsigned int mask)
{
	return (unsigned int)(record->seat_bits[0] >> (52 + field)) & mask;
}

static const char *record_label(const struct dealbox_set *set,
				const struct record *record)
{
	return set->labels[record->id / CHUNK_LABELS] + record->id % CHUNK_LABELS;
}

/* The place in a file (0 = none). */
static void board_place(const struct dealbox_set *set, unsigned int file, uint32_t where,
			struct dealbox_board *board)
{
	board->line = where;
	if (!file)
		return;
	board->file = set->files[file - 1].name;
	if (set->files[file - 1].binary) {
		board->line = 0;
		board->byte = where;
	}
}

int dealbox_set_get(const struct dealbox_set *set, size_t index,
		    struct dealbox_board *board)
{
	const struct record *record;

	if (index >= set->count)
		return -ENOENT;
	record = record_at(set, index);
	*board = (struct dealbox_board) DEALBOX_BOARD_INIT;
	record_deal(set, record, &board->deal);
	board->dealer = (int8_t)(record_small(record, SMALL_DEALER, 7) - 1);
	board->vulnerable = (int8_t)(record_small(record, SMALL_VULNERABLE, 7) - 1);
	switch (record_small(record, SMALL_ID, 3)) {
	case ID_NUMBER:
		board->number = record->id;
		break;
	case ID_LABEL:
		board->label = record_label(set, record);
		break;
	}
	board_place(set, (unsigned int)(record->seat_bits[1] >> 52), record->where, board);
	return 0;
}

int dealbox_set_get_partial(const struct dealbox_set *set, size_t index,
			    struct dealbox_board *board, size_t *before)
{
	const struct partial *partial;

	if (index >= set->partial_count)
		return -ENOENT;
	partial = &set->partial[index];
	*board = (struct dealbox_board) DEALBOX_BOARD_INIT;
	board->deal = partial->entry.deal;
	board->number = partial->entry.number;
	board->label = *partial->label ? partial->label : NULL;
	board->dealer = (int8_t)partial->entry.dealer;
	board->vulnerable = (int8_t)partial->entry.vulnerable;
	board_place(set, (unsigned int)partial->entry.file, partial->entry.where, board);
	if (before)
		*before = partial->before;
	return 0;
}

void dealbox_set_filter(struct dealbox_set *set,
			bool (*pick)(const struct dealbox_board *board, void *context),
			void *context)
{
	size_t kept = 0, count = set->count, chunks = chunks_used(set);
	struct dealbox_board board;

	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		if (!pick(&board, context)) {
			if (i < set->texts_room) {
				set_text_free(set->texts[i]);
				set->texts[i] = NULL;
			}
			continue;
		}
		if (kept != i) {
			*record_place(set, kept) = *record_at(set, i);
			if (i < set->texts_room) {
				set->texts[kept] = set->texts[i];
				set->texts[i] = NULL;
			}
		}
		kept++;
	}
	for (size_t i = kept; i < count; i++)
		explicit_bzero(record_place(set, i), sizeof(struct record));
	set->count = kept;
	for (size_t i = chunks_used(set); i < chunks; i++)
		free(set->chunks[i]);
	if (count)
		dealbox_deal_wipe(&board.deal);
}

long dealbox_set_find(const struct dealbox_set *set, uint32_t number)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct record *record = record_at(set, i);

		if (record->id == number &&
		    record_small(record, SMALL_ID, 3) == ID_NUMBER)
			return (long)i;
	}
	return -ENOENT;
}

size_t dealbox_board_name(const struct dealbox_board *board, char *text, size_t size)
{
	const char *label = board->label ? board->label : "";

	if (board->number)
		return (size_t)snprintf(text, size, "%u", board->number);
	return dealbox_text_safe(label, strlen(label), text, size);
}

/* -- the set as a whole -------------------------------------------------- */

/* An open-addressed table: the upper half of a hash, and index + 1. */
struct table {
	uint64_t *slots;
	size_t mask;
};

static int table_init(struct table *table, size_t count)
{
	size_t size = 16;

	while (size < count + count / 3)
		size *= 2;
	table->slots = calloc(size, sizeof(*table->slots));
	table->mask = size - 1;
	return table->slots ? 0 : -ENOMEM;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

typedef bool same_fn(const struct dealbox_set *set, size_t one, size_t other);

/* Finds the first record that equals this one, or inserts it. */
static long table_meet(struct table *table, const struct dealbox_set *set, size_t index,
		       uint64_t hash, same_fn *same)
{
	size_t place = hash & table->mask;

	while (table->slots[place]) {
		uint64_t slot = table->slots[place];

		if (slot >> 32 == hash >> 32) {
			size_t other = (uint32_t)slot - 1;

			if (same(set, other, index))
				return (long)other;
		}
		place = (place + 1) & table->mask;
	}
	table->slots[place] = (hash & ~(uint64_t)UINT32_MAX) | (uint32_t)(index + 1);
	return -ENOENT;
}

/* Returns how far a deal is turned against another, -1 if it is not the same deal. */
static int turned(const struct dealbox_set *set, size_t one, size_t other)
{
	struct dealbox_deal a, b;

	record_deal(set, record_at(set, one), &a);
	record_deal(set, record_at(set, other), &b);
	for (int turn = 0; turn < DEALBOX_HANDS; turn++) {
		int i;

		for (i = 0; i < DEALBOX_HANDS; i++)
			if (a.hand[i] != b.hand[(i + turn) & 3])
				break;
		if (i == DEALBOX_HANDS)
			return turn;
	}
	return -1;
}

static bool same_deal(const struct dealbox_set *set, size_t one, size_t other)
{
	return turned(set, one, other) >= 0;
}

/* The same for a deal in all its rotations. */
static uint64_t hash_deal(const struct dealbox_set *set, size_t index)
{
	struct dealbox_deal deal;
	uint64_t sum = 0;

	record_deal(set, record_at(set, index), &deal);
	for (int i = 0; i < DEALBOX_HANDS; i++)
		sum += mix(deal.hand[i]);
	return mix(sum);
}

static bool same_board(const struct dealbox_set *set, size_t one, size_t other)
{
	const struct record *a = record_at(set, one), *b = record_at(set, other);
	unsigned int kind = record_small(a, SMALL_ID, 3);

	if (kind != record_small(b, SMALL_ID, 3))
		return false;
	if (kind == ID_LABEL)
		return !strcmp(record_label(set, a), record_label(set, b));
	return a->id == b->id;
}

static uint64_t hash_board(const struct dealbox_set *set, const struct record *record)
{
	uint64_t hash = record->id;

	if (record_small(record, SMALL_ID, 3) == ID_LABEL) {
		const char *text = record_label(set, record);

		for (hash = 1; *text; text++)
			hash = mix(hash << 8 | (unsigned char)*text);
	}
	return mix(hash);
}

static void say(const struct dealbox_set *set, struct dealbox_report *report,
		enum dealbox_code code, size_t index, const char *text, uint32_t count)
{
	struct dealbox_problem problem = {
		.code = (uint16_t)code, .severity = (uint8_t)dealbox_code_severity(code),
		.card = DEALBOX_CARD_NONE, .count = count,
	};
	struct dealbox_board board = { 0 };

	dealbox_set_get(set, index, &board);
	problem.file = board.file;
	problem.line = board.line;
	problem.byte = board.byte;
	dealbox_board_name(&board, problem.board, sizeof(problem.board));
	if (text)
		snprintf(problem.text, sizeof(problem.text), "%s", text);
	dealbox_report_add(report, &problem);
	dealbox_deal_wipe(&board.deal);
}

static void name_other(const struct dealbox_set *set, size_t index, char text[32])
{
	struct dealbox_board board;
	char name[16];

	dealbox_set_get(set, index, &board);
	dealbox_deal_wipe(&board.deal);
	if (dealbox_board_name(&board, name, sizeof(name)))
		snprintf(text, 32, "board %s", name);
	else if (board.line)
		snprintf(text, 32, "the one in line %u", board.line);
	else
		snprintf(text, 32, "deal %zu of the set", index + 1);
}

static int compare_records(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int check_gaps(const struct dealbox_set *set, struct dealbox_report *report)
{
	/* number and index: sorted by number, the first of each number first */
	uint64_t *numbers, last = 0;
	size_t count = 0;

	numbers = malloc((set->count + 1) * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		const struct record *record = record_at(set, i);

		if (record_small(record, SMALL_ID, 3) == ID_NUMBER)
			numbers[count++] = (uint64_t)record->id << 32 | (uint32_t)i;
	}
	qsort(numbers, count, sizeof(*numbers), compare_records);
	for (size_t i = 0; i < count; i++) {
		uint64_t number = numbers[i] >> 32;

		if (i && number > last + 1)
			say(set, report, DEALBOX_CODE_BOARD_GAP, (uint32_t)numbers[i], NULL,
			    (uint32_t)(number - last - 1));
		last = number;
	}
	free(numbers);
	return 0;
}

/*
 * Returns true if every board's number is one more than the one before, so that no error is
 * possible.
 */
static bool numbers_in_order(const struct dealbox_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct record *record = record_at(set, i);

		if (record_small(record, SMALL_ID, 3) != ID_NUMBER ||
		    (i && record->id != record_at(set, i - 1)->id + 1))
			return false;
	}
	return true;
}

/* A number or label twice, and gaps between numbers. */
static long check_boards(const struct dealbox_set *set, struct dealbox_report *report)
{
	struct table table;
	long problems = 0;

	if (numbers_in_order(set))
		return 0;
	if (check_gaps(set, report) || table_init(&table, set->count))
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		const struct record *record = record_at(set, i);
		long first;

		if (record_small(record, SMALL_ID, 3) == ID_NONE)
			continue;
		first = table_meet(&table, set, i, hash_board(set, record), same_board);
		if (first < 0)
			continue;
		if (turned(set, (size_t)first, i) == 0) {
			say(set, report, DEALBOX_CODE_BOARD_AGAIN, i, NULL, 0);
			continue;
		}
		say(set, report, DEALBOX_CODE_BOARD_REPEATED, i, NULL, 0);
		problems++;
	}
	free(table.slots);
	return problems;
}

#define AHEAD	32

/* The same deal on two boards. */
static long check_deals(const struct dealbox_set *set, struct dealbox_report *report)
{
	uint64_t hashes[AHEAD] = { 0 };
	struct table table;
	long problems = 0;

	if (table_init(&table, set->count))
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		long first;
		char text[32];
		int turn;

		/* a large table is not in the cache: prefetch many of its places at once */
		if (i % AHEAD == 0)
			for (size_t n = 0; n < AHEAD && i + n < set->count; n++) {
				hashes[n] = hash_deal(set, i + n);
				__builtin_prefetch(&table.slots[hashes[n] & table.mask], 1);
			}
		first = table_meet(&table, set, i, hashes[i % AHEAD], same_deal);
		if (first < 0)
			continue;
		turn = turned(set, (size_t)first, i);
		if (!turn && same_board(set, (size_t)first, i) &&
		    record_small(record_at(set, i), SMALL_ID, 3) != ID_NONE)
			continue;	/* the same board again, check_boards() said so */
		name_other(set, (size_t)first, text);
		say(set, report, turn ? DEALBOX_CODE_DEAL_ROTATED : DEALBOX_CODE_DEAL_REPEATED, i,
		    text, 0);
		problems++;
	}
	explicit_bzero(table.slots, (table.mask + 1) * sizeof(*table.slots));
	free(table.slots);
	return problems;
}

long dealbox_set_check(const struct dealbox_set *set, struct dealbox_report *report)
{
	long boards = check_boards(set, report);
	long deals = boards < 0 ? boards : check_deals(set, report);

	return deals < 0 ? deals : boards + deals;
}
