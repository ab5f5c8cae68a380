// SPDX-License-Identifier: LGPL-2.1-or-later
/* The diagnosis of a repeated card. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dealbox/diagnosis.h>

#include "freed_memory.h"

static uint32_t seed;

static uint32_t draw(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint64_t)seed * limit >> 32;
}

static unsigned int card(const char *name)
{
	unsigned int n;

	for (n = 0; strcmp(dealbox_card_name(n), name); n++)
		assert_true(n < DEALBOX_CARDS);
	return n;
}

static void test_confusable(void **state)
{
	unsigned int a, b, pairs = 0;

	(void)state;
	for (a = 0; a < DEALBOX_CARDS; a++) {
		assert_false(dealbox_card_confusable(a) >> a & 1);
		for (b = 0; b < a; b++) {
			/* confusion is symmetric */
			assert_int_equal(dealbox_card_confusable(a) >> b & 1,
					 dealbox_card_confusable(b) >> a & 1);
			pairs += dealbox_card_confusable(a) >> b & 1;
		}
	}
	/* 47 pairs one module apart, 18 pairs turned round, no pair both */
	assert_int_equal(pairs, 47 + 18);
	assert_true(dealbox_card_confusable(card("SA")) >> card("D3") & 1);
	assert_true(dealbox_card_confusable(card("SA")) >> card("DT") & 1);
	assert_true(dealbox_card_confusable(card("D5")) == 0);
	assert_true(dealbox_card_confusable(52) == 0);
	assert_true(dealbox_card_confusable(255) == 0);
}

/* Compare the table with the list of codes that it was made from. */
static void test_code_list(void **state)
{
	const char *shared = getenv("DEALBOX_SHARED");
	char path[512], line[128], name[8], turned[8], *rest;
	unsigned int lines = 0;
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/data/card-codes.csv", shared ? shared : "../shared");
	file = fopen(path, "r");
	if (!file) {
		/* cmocka's skip() writes "not ok" in TAP */
		print_message("# SKIP %s: there is no %s\n", __func__, path);
		return;
	}
	assert_non_null(fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		dealbox_cards want = 0;
		char *field = line, *part;

		line[strcspn(line, "\r\n")] = '\0';
		snprintf(name, sizeof(name), "%s", strsep(&field, ","));
		if (!strcmp(name, "joker"))
			continue;
		strsep(&field, ",");
		snprintf(turned, sizeof(turned), "%s", strsep(&field, ","));
		if (*turned && strcmp(turned, name))
			want |= 1ULL << card(turned);
		for (part = strtok_r(field, " ", &rest); part; part = strtok_r(NULL, " ", &rest))
			if (strcmp(part, "joker"))
				want |= 1ULL << card(part);
		assert_true(dealbox_card_confusable(card(name)) == want);
		lines++;
	}
	fclose(file);
	assert_int_equal(lines, DEALBOX_CARDS);
}

/* ---- traces --------------------------------------------------------------- */

struct reading {
	uint8_t card, quality;
};

static void add(struct dealbox_trace *trace, struct dealbox_event e)
{
	static uint64_t seqno;

	e.insertion = 1;
	e.seqno = ++seqno;
	e.machine_seq = seqno;
	assert_true(dealbox_trace_add(trace, &e) >= 0);
}

/*
 * Make the trace of a deal, card n into pocket n % 4, up to the first repeated card, with or
 * without exit sensors.
 */
static struct dealbox_trace *deal(const struct reading *readings, unsigned int count, bool sensors)
{
	struct dealbox_trace *trace = dealbox_trace_new(1);
	uint8_t first[DEALBOX_CARDS];
	unsigned int n;

	memset(first, DEALBOX_NONE, sizeof(first));
	add(trace, (struct dealbox_event){ .type = DEALBOX_EV_BOARD_INSERTED });
	add(trace, (struct dealbox_event){ .type = DEALBOX_EV_DEAL_STARTED, .code = 1 });
	for (n = 0; n < count; n++) {
		struct dealbox_event e = {
			.position = n, .card = readings[n].card, .quality = readings[n].quality,
			.pocket = n % 4,
		};

		if (first[e.card] != DEALBOX_NONE) {
			e.type = DEALBOX_EV_REPEATED_CARD;
			e.pocket = DEALBOX_NONE;
			e.arg[0] = first[e.card];
			add(trace, e);
			return trace;
		}
		first[e.card] = n;
		e.type = DEALBOX_EV_CARD_READ;
		add(trace, e);
		e.type = DEALBOX_EV_CARD_ROUTED;
		add(trace, e);
		e.type = DEALBOX_EV_CARD_LANDED;
		if (sensors)
			add(trace, e);
	}
	return trace;
}

static void shuffle(struct reading *readings)
{
	unsigned int n;

	for (n = 0; n < DEALBOX_CARDS; n++) {
		unsigned int k = draw(n + 1);

		readings[n] = readings[k];
		readings[k] = (struct reading){ n, 90 };
	}
}

/* ---- random misreads ------------------------------------------------------ */

#define ROUNDS		10000
#define OWN_FAULTS	2	/* cards that the machine of test_own reads each card as */

/*
 * A model of a reader's misreads. The library knows less: some misreads are of no kind that it
 * models.
 */
struct reader {
	const char *name;
	unsigned int kind;
	unsigned int known;	/* percentage of misreads typical for the reader */
	dealbox_cards (*kinds)(unsigned int card);
	enum { NONE, POOR, CLEAR } quality; /* how well the reported quality separates misreads */
};

static dealbox_cards bars(unsigned int card)
{
	return dealbox_card_confusable(card);
}

/* Return similar cards: same rank and colour, or ranks of similar shape. */
static dealbox_cards looks(unsigned int card)
{
	static const char *const alike[] = { "38", "68", "89", "56", "JT", "4A", "27", "Q9" };
	static const char ranks[] = "AKQJT98765432";
	unsigned int suit = card / 13, n;
	char rank = ranks[card % 13];
	dealbox_cards out = 1ULL << ((3 - suit) * 13 + card % 13);

	for (n = 0; n < sizeof(alike) / sizeof(alike[0]); n++)
		if (strchr(alike[n], rank)) {
			char other = alike[n][alike[n][0] == rank];

			out |= 1ULL << (suit * 13 + (strchr(ranks, other) - ranks));
		}
	return out;
}

static dealbox_cards nothing(unsigned int card)
{
	(void)card;
	return 0;
}

/* Return the cards that a worn lens confuses with a card. */
static dealbox_cards worn(unsigned int card)
{
	dealbox_cards out = 0;
	unsigned int n;

	for (n = 1; n <= OWN_FAULTS; n++)
		out |= 1ULL << (card * 5 + n * 17) % DEALBOX_CARDS;
	return out & ~(1ULL << card);
}

static const struct reader readers[] = {
	{ "bar code", DEALBOX_READER_BARCODE, 85, bars, CLEAR },
	{ "camera", DEALBOX_READER_CAMERA, 85, looks, CLEAR },
	{ "other", 3, 0, nothing, CLEAR },
	{ "other, with its own statistics", 3, 85, worn, CLEAR },
	{ "bar code, poor quality", DEALBOX_READER_BARCODE, 85, bars, POOR },
	{ "camera, poor quality", DEALBOX_READER_CAMERA, 85, looks, POOR },
	{ "bar code, no quality", DEALBOX_READER_BARCODE, 85, bars, NONE },
	{ "camera, no quality", DEALBOX_READER_CAMERA, 85, looks, NONE },
};

static unsigned int misread(const struct reader *reader, unsigned int card)
{
	dealbox_cards kinds = draw(100) < reader->known ? reader->kinds(card) : 0;
	unsigned int other;

	do
		other = draw(DEALBOX_CARDS);
	while (other == card || (kinds && !(kinds >> other & 1)));
	return other;
}

/*
 * Return a quality of roughly normal distribution: 84 to 100 for correct readings and 52 to 98 for
 * misreads; with POOR, 70 to 100 and 62 to 98.
 */
static uint8_t quality(const struct reader *reader, bool good)
{
	unsigned int clear = good ? 84 + draw(6) + draw(6) + draw(7) :
				    52 + draw(16) + draw(16) + draw(17);
	unsigned int poor = good ? 70 + draw(11) + draw(11) + draw(11) :
				   62 + draw(13) + draw(13) + draw(13);

	return reader->quality == CLEAR ? clear : reader->quality == POOR ? poor : DEALBOX_NONE;
}

/* Learn from a machine that sometimes misreads a card and rereads it correctly. */
static void learn(struct dealbox_confusion *confusion, const struct reader *reader)
{
	unsigned int n, learned = 0;

	for (n = 0; n < 500; n++) {
		struct dealbox_trace *trace = dealbox_trace_new(1);
		unsigned int really = draw(DEALBOX_CARDS);
		struct dealbox_event e = { .type = DEALBOX_EV_DEAL_STARTED, .code = 1 };

		add(trace, e);
		e = (struct dealbox_event){ .type = DEALBOX_EV_CARD_READ,
					    .position = 7,
					    .quality = 50 };
		e.card = misread(reader, really);
		add(trace, e);
		e.card = really;
		add(trace, e);
		learned += dealbox_confusion_learn(confusion, trace);
		dealbox_trace_free(trace);
	}
	assert_int_equal(learned, 500);
}

/*
 * Deal 10,000 decks with one misread card for each kind of reader. Count how often the right card
 * is blamed, compared with blaming the earlier one each time. Machines reread a repeated card
 * before they report it, which corrects half of the later misreads.
 */
static void test_rates(void **state)
{
	struct dealbox_confusion *confusion = malloc(sizeof(*confusion));
	unsigned int r;

	(void)state;
	assert_non_null(confusion);
	for (r = 0; r < sizeof(readers) / sizeof(readers[0]); r++) {
		const struct reader *reader = &readers[r];
		unsigned int right = 0, earlier = 0, stops = 0, easily = 0, named = 0;

		seed = r + 1;
		dealbox_confusion_reader(confusion, reader->kind);
		if (reader->kinds == worn)
			learn(confusion, reader);
		while (stops < ROUNDS) {
			struct reading readings[DEALBOX_CARDS];
			struct dealbox_diagnosis d;
			struct dealbox_trace *trace;
			unsigned int at, really, n;
			bool is_earlier;

			shuffle(readings);
			for (n = 0; n < DEALBOX_CARDS; n++)
				readings[n].quality = quality(reader, true);
			at = draw(DEALBOX_CARDS);
			really = readings[at].card;
			readings[at].card = misread(reader, really);
			readings[at].quality = quality(reader, false);
			for (n = 0; n == at || readings[n].card != readings[at].card; n++)
				;
			is_earlier = at < n;
			if (!is_earlier && draw(2))
				continue;
			trace = deal(readings, DEALBOX_CARDS, stops & 1);
			assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(),
								 confusion, NULL, &d), 0);
			stops++;
			/* One of the two is the misread card, and its identity is a candidate. */
			assert_true(d.earlier.position == at || d.later.position == at);
			assert_true(d.candidates >> really & 1);
			assert_true((d.easily & ~d.candidates) == 0);
			assert_int_equal(d.chance[0] + d.chance[1] + d.chance[2], 100);
			earlier += is_earlier;
			right += d.likely ==
				 (is_earlier ? DEALBOX_CULPRIT_EARLIER : DEALBOX_CULPRIT_LATER);
			easily += d.easily >> really & 1;
			named += dealbox_cards_count(d.easily);
			assert_int_equal(d.earlier.place,
					 stops & 1 ? 0 : d.earlier.position / 4 + 1);
			dealbox_trace_free(trace);
		}
		print_message("# %s: right %.1f %%, always the earlier %.1f %%; "
			      "among %.1f cards named %.1f %%\n",
			      reader->name, right * 100.0 / stops, earlier * 100.0 / stops,
			      named * 1.0 / stops, easily * 100.0 / stops);
		/* Without other evidence, the earlier one is blamed. */
		if (reader->quality == NONE)
			assert_true(right >= earlier - ROUNDS / 200);
		else
			assert_true(right > earlier + ROUNDS / 50);
		if (reader->known)
			assert_true(easily > ROUNDS * 7 / 10);
	}
	free(confusion);
}

static int diagnose(const struct dealbox_trace *trace, unsigned int kind, const uint8_t *pockets,
		    struct dealbox_diagnosis *d)
{
	struct dealbox_confusion confusion;

	dealbox_confusion_reader(&confusion, kind);
	return dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), &confusion, pockets, d);
}

/* With equal quality, blame the earlier one, as observed in the field. */
static void test_earlier_first(void **state)
{
	/* SA twice, and two other cards */
	const struct reading readings[] = { { 38, 90 }, { 0, 90 }, { 5, 90 }, { 0, 90 } };
	struct dealbox_trace *trace = deal(readings, 4, true);
	struct dealbox_diagnosis d;

	(void)state;
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), 0);
	assert_int_equal(d.likely, DEALBOX_CULPRIT_EARLIER);
	assert_int_equal(d.earlier.position, 1);
	assert_int_equal(d.later.position, 3);
	assert_true(d.chance[DEALBOX_CULPRIT_EARLIER] > d.chance[DEALBOX_CULPRIT_LATER]);
	dealbox_trace_free(trace);
}

/* Every card of the pack has been read, so the deck contains a card twice. */
static void test_deck(void **state)
{
	struct reading readings[DEALBOX_CARDS + 1];
	struct dealbox_trace *trace;
	struct dealbox_diagnosis d;

	(void)state;
	seed = 5;
	shuffle(readings);
	readings[DEALBOX_CARDS] = readings[20];
	trace = deal(readings, DEALBOX_CARDS + 1, true);
	assert_int_equal(diagnose(trace, DEALBOX_READER_CAMERA, NULL, &d), 0);
	assert_int_equal(d.likely, DEALBOX_CULPRIT_DECK);
	assert_int_equal(d.chance[DEALBOX_CULPRIT_DECK], 100);
	assert_true(d.candidates == 0);
	dealbox_trace_free(trace);
	/* An unusual bar code is no reason to blame the deck as early as the third card. */
	readings[1].card = readings[2].card = card("D5");
	readings[0].card = card("S2");
	trace = deal(readings, 3, true);
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), 0);
	assert_int_equal(d.likely, DEALBOX_CULPRIT_EARLIER);
	assert_int_equal(dealbox_cards_count(d.candidates), DEALBOX_CARDS - 2);
	assert_true(d.easily == 0);
	dealbox_trace_free(trace);
	/* no repeated card */
	trace = deal(readings, 2, true);
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), -ENOENT);
	dealbox_trace_free(trace);
}

static void says(const struct dealbox_diagnosis *d, bool reveal, const char *text)
{
	char said[768];
	size_t length = dealbox_diagnosis_message(d, reveal, said, sizeof(said));
	unsigned int n;

	assert_int_equal(length, strlen(said));
	if (!strstr(said, text))
		fail_msg("\"%s\" is not in \"%s\"", text, said);
	assert_null(strstr(said, "pocket"));
	for (n = 0; n < DEALBOX_CARDS && !reveal; n++)
		assert_null(strstr(said, dealbox_card_name(n)));
}

/* The message names seats and "top card", which a person can see, and no pocket numbers. */
static void test_message(void **state)
{
	const struct reading readings[] = { { 38, 90 }, { 0, 50 }, { 5, 90 }, { 7, 90 },
					    { 0, 90 } };
	const struct reading deep[] = { { 0, 50 }, { 1, 90 }, { 2, 90 }, { 3, 90 }, { 4, 90 },
					{ 5, 90 }, { 6, 90 },
					{ 7, 90 }, { 8, 90 }, { 0, 90 } };
	const uint8_t turned[DEALBOX_HANDS] = { 3, 2, 1, 0 };
	struct dealbox_trace *trace = deal(readings, 5, true);
	struct dealbox_diagnosis d;
	char cut[20];

	(void)state;
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), 0);
	says(&d, false,
	     "Two cards are to be looked at: the card at the reader, "
	     "and the top card of East's hand. ");
	says(&d, false, "Most likely the one in East's hand was misread: replace that card. ");
	says(&d, false, "If both are the same, a card of another deck got in.");
	says(&d, true,
	     "read both as SA; not seen yet, and easily misread so: DT, D3, C4; "
	     "or another of 45 cards not seen yet.");
	assert_true(dealbox_diagnosis_message(&d, false, cut, sizeof(cut)) > sizeof(cut));
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	/* other order of pockets: pocket 1 is South's */
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, turned, &d), 0);
	says(&d, false, "the top card of South's hand");
	dealbox_trace_free(trace);
	/* Without sensors, the number of cards on top is unknown. */
	trace = deal(readings, 5, false);
	assert_int_equal(diagnose(trace, DEALBOX_READER_CAMERA, NULL, &d), 0);
	says(&d, false, "the one in East's hand that was read as the same. ");
	says(&d, true, "easily misread so: S4, CA");
	dealbox_trace_free(trace);
	trace = deal(deep, 10, true);
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), 0);
	says(&d, false, "card 3 from the top of North's hand");
	dealbox_trace_free(trace);
}

/* ---- exact values ----------------------------------------------------------- */

/* Compare the weights of every pair of cards with this test's model of misreads. */
static void test_weights(void **state)
{
	struct dealbox_confusion confusion;

	(void)state;
	for (unsigned int kind = 0; kind <= DEALBOX_READER_OTHER; kind++) {
		memset(&confusion, 0xa5, sizeof(confusion));
		dealbox_confusion_reader(&confusion, kind);
		for (unsigned int a = 0; a < DEALBOX_CARDS; a++)
			for (unsigned int b = 0; b < DEALBOX_CARDS; b++) {
				unsigned int expected = a != b;

				if (kind == DEALBOX_READER_BARCODE && bars(a) >> b & 1)
					expected = 100;
				if (kind == DEALBOX_READER_CAMERA && looks(a) >> b & 1)
					expected = a / 13 == b / 13 ? 25 : 100;
				assert_int_equal(confusion.weight[a][b], expected);
			}
	}
}

static void add_read(struct dealbox_trace *trace, uint8_t position, uint8_t card, uint8_t quality)
{
	add(trace, (struct dealbox_event){ .type = DEALBOX_EV_CARD_READ, .position = position,
		.card = card, .quality = quality, .pocket = DEALBOX_NONE });
}

static void add_repeat(struct dealbox_trace *trace, uint8_t position, uint8_t card, uint8_t quality,
		       uint8_t before)
{
	add(trace, (struct dealbox_event){ .type = DEALBOX_EV_REPEATED_CARD, .position = position,
		.card = card, .quality = quality, .pocket = DEALBOX_NONE, .arg = { before, 9 } });
}

static void add_fall(struct dealbox_trace *trace, uint32_t type, uint8_t position, uint8_t pocket)
{
	add(trace, (struct dealbox_event){ .type = type, .position = position, .quality = 0,
		.card = 33, .pocket = pocket });
}

/* Only a reread at the same position with another result counts as a misread. */
static void test_learn(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(1);
	struct dealbox_confusion confusion, expected;

	(void)state;
	dealbox_confusion_reader(&confusion, DEALBOX_READER_OTHER);
	/* the weights saturate */
	confusion.weight[3][2] = UINT16_MAX - 51;
	confusion.weight[4][3] = UINT16_MAX - 50;
	confusion.weight[5][4] = UINT16_MAX - 49;
	expected = confusion;
	expected.weight[1][0] += 50;
	expected.weight[51][1] += 50;
	expected.weight[0][51] += 50;
	expected.weight[3][2] = UINT16_MAX - 1;
	expected.weight[4][3] = UINT16_MAX;
	expected.weight[5][4] = UINT16_MAX;

	add_read(trace, 7, 0, 90);	/* the first event of the trace counts */
	add_fall(trace, DEALBOX_EV_CARD_ROUTED, 7, 0);
	add_read(trace, 7, 1, 90);
	add_read(trace, 7, 51, 90);
	add_read(trace, 7, 0, 90);
	add_read(trace, 7, 0, 90);	/* reread with the same result */
	add_read(trace, 8, 1, 90);	/* the next card */
	add_read(trace, 9, 2, 90);
	add_read(trace, 9, 3, 90);
	add_read(trace, 9, 4, 90);
	add_read(trace, 9, 5, 90);
	add_read(trace, 9, DEALBOX_CARD_JOKER1, 90);
	add_read(trace, 9, 6, 90);
	add(trace, (struct dealbox_event){ .type = DEALBOX_EV_DEAL_STARTED });
	add_read(trace, 9, 7, 90);	/* another deal */
	assert_int_equal(dealbox_confusion_learn(&confusion, trace), 6);
	assert_memory_equal(&confusion, &expected, sizeof(confusion));
	dealbox_trace_free(trace);
}

static void assert_reading(const struct dealbox_reading *reading, uint8_t position, uint8_t quality,
			   uint8_t pocket, uint8_t hand, uint8_t place, uint8_t above)
{
	assert_int_equal(reading->position, position);
	assert_int_equal(reading->quality, quality);
	assert_int_equal(reading->pocket, pocket);
	assert_int_equal(reading->hand, hand);
	assert_int_equal(reading->place, place);
	assert_int_equal(reading->above, above);
}

/* The place of the earlier card, and the number of cards on top of it. */
static void test_where_it_lies(void **state)
{
	static const uint8_t elsewhere[DEALBOX_HANDS] = { 4, 5, 6, 7 };
	struct dealbox_trace *trace = dealbox_trace_new(1);
	struct dealbox_diagnosis d;

	(void)state;
	add_repeat(trace, 9, 7, 60, 0);		/* not the last */
	add_read(trace, 0, 2, 90);
	add_fall(trace, DEALBOX_EV_CARD_ROUTED, 0, 1);
	add_fall(trace, DEALBOX_EV_CARD_LANDED, 0, 1);
	add_read(trace, 1, 0, 80);
	add_fall(trace, DEALBOX_EV_CARD_ROUTED, 1, 2);
	add_read(trace, 2, 1, 70);
	/* A failed reading is ignored. */
	add_read(trace, 1, DEALBOX_NONE, 10);
	add_read(trace, 1, DEALBOX_MAX_CARDS, 10);
	add_repeat(trace, 3, 0, 60, 1);
	assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, NULL, &d), 0);
	assert_int_equal(d.card, 0);
	assert_int_equal(dealbox_cards_count(d.candidates), DEALBOX_CARDS - 3);
	assert_reading(&d.earlier, 1, 80, 2, DEALBOX_SOUTH, 0, 0);
	assert_reading(&d.later, 3, 60, DEALBOX_NONE, DEALBOX_NONE, 0, 0);
	/* Sensors take precedence over gates. */
	add_fall(trace, DEALBOX_EV_CARD_LANDED, 1, 1);
	add_fall(trace, DEALBOX_EV_CARD_LANDED, 2, 1);
	add_fall(trace, DEALBOX_EV_CARD_LANDED, 4, 1);
	add_fall(trace, DEALBOX_EV_CARD_LANDED, 5, 3);
	add_fall(trace, DEALBOX_EV_CARD_LANDED, 6, DEALBOX_MAX_POCKETS);
	assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, NULL, &d), 0);
	assert_reading(&d.earlier, 1, 80, 1, DEALBOX_EAST, 2, 2);
	assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, elsewhere, &d), 0);
	assert_reading(&d.earlier, 1, 80, 1, DEALBOX_NONE, 2, 2);
	dealbox_trace_free(trace);

	/* the first event, at an unseen position */
	trace = dealbox_trace_new(1);
	add_repeat(trace, 3, DEALBOX_CARD_JOKER2, 60, 1);
	assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, NULL, &d), 0);
	assert_int_equal(d.card, DEALBOX_CARD_JOKER2);
	assert_true(d.candidates == DEALBOX_PACK_BRIDGE);
	assert_reading(&d.earlier, 1, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE, 0, 0);
	add_repeat(trace, 3, DEALBOX_MAX_CARDS, 60, 1);
	assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, NULL, &d), -ENOENT);
	dealbox_trace_free(trace);
}

/* The effect of quality, among 63 other readings, some worse and some equal. */
static void test_suspicion(void **state)
{
	static const struct { uint8_t worse, same, quality; unsigned int later; } rows[] = {
		{ 1, 1, 50, 71 }, { 0, 0, 50, 79 }, { 0, 2, 50, 79 }, { 1, 0, 50, 79 },
		{ 0, 4, 50, 71 }, { 2, 0, 50, 71 },
		{ 3, 0, 50, 61 }, { 4, 0, 50, 61 }, { 5, 0, 50, 49 }, { 8, 0, 50, 49 },
		{ 9, 0, 50, 37 },
		{ 16, 0, 50, 37 }, { 17, 0, 50, 28 }, { 32, 0, 50, 28 }, { 33, 0, 50, 16 },
		{ 63, 0, 50, 16 }, { 63, 0, 100, 16 }, { 63, 0, 101, 33 },
		{ 63, 0, DEALBOX_NONE, 33 },
	};
	struct dealbox_diagnosis d;

	(void)state;
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		struct dealbox_trace *trace = dealbox_trace_new(1);

		/* the first event of the trace is one of the 63 */
		for (uint8_t n = 0; n < 63; n++)
			add_read(trace, 10 + n, 1, n < rows[r].worse ? 40 :
				 n < rows[r].worse + rows[r].same ? 50 : 100);
		/* Not counted: the reading itself, failed readings, and those without quality. */
		add_read(trace, 0, 0, DEALBOX_NONE);
		add_read(trace, 1, 1, 101);
		add_read(trace, 3, 1, 0);
		add_fall(trace, DEALBOX_EV_CARD_ROUTED, 1, 1);
		add_repeat(trace, 3, 0, rows[r].quality, 0);
		memory_seen.wiped = 0;
		assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, NULL, &d), 0);
		assert_true(memory_seen.wiped >= DEALBOX_CARDS * sizeof(uint32_t));
		assert_int_equal(d.chance[DEALBOX_CULPRIT_LATER], rows[r].later);
		assert_in_range(d.chance[DEALBOX_CULPRIT_EARLIER] + d.chance[DEALBOX_CULPRIT_LATER],
				98, 99);
		assert_int_equal(d.chance[0] + d.chance[1] + d.chance[2], 100);
		assert_int_equal(d.likely, rows[r].later > 49 ? DEALBOX_CULPRIT_LATER :
				 DEALBOX_CULPRIT_EARLIER);
		dealbox_trace_free(trace);
	}
}

/* Misreads of jokers are unknown, so all 52 cards are equally likely. */
static void test_joker_twice(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(1);
	struct dealbox_diagnosis d;

	(void)state;
	for (uint8_t n = 0; n < 51; n++)
		add_read(trace, 10 + n, n, n < 20 ? 40 : 100);
	add_repeat(trace, 3, DEALBOX_CARD_JOKER1, 50, 0);
	assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, NULL, &d), 0);
	assert_true(d.candidates == 1ULL << 51);
	/* weights: 19 of 1000, twice by 10 and once by 8; a card of another deck 30 */
	assert_int_equal(d.chance[DEALBOX_CULPRIT_EARLIER], 67);
	assert_int_equal(d.chance[DEALBOX_CULPRIT_LATER], 27);
	assert_int_equal(d.chance[DEALBOX_CULPRIT_DECK], 6);
	add_read(trace, 61, 51, 100);
	assert_int_equal(diagnose(trace, DEALBOX_READER_OTHER, NULL, &d), 0);
	assert_int_equal(d.chance[DEALBOX_CULPRIT_DECK], 100);
	dealbox_trace_free(trace);
}

/* Set how many of 100,000 misreads of a card are read as the repeated one. */
static void row_is(struct dealbox_confusion *confusion, unsigned int card, unsigned int read,
		   unsigned int weight)
{
	memset(confusion->weight[card], 0, sizeof(confusion->weight[card]));
	confusion->weight[card][1] = (100000 - weight) / 2;
	confusion->weight[card][2] = 100000 - weight - confusion->weight[card][1];
	confusion->weight[card][read] = weight;
}

/* Easily misread: three times the average, and at least a fifth of the most likely. */
static void test_easily(void **state)
{
	static const struct { unsigned int first, last; dealbox_cards easily; } rows[] = {
		{ 5769, 5769, 0 }, { 5770, 5769, 1 }, { 5769, 5770, 1ULL << 51 },
		{ 50000, 10000, 1 | 1ULL << 51 }, { 50000, 9999, 1 }, { 9999, 50000, 1ULL << 51 },
		{ 10000, 50000, 1 | 1ULL << 51 },
	};
	struct dealbox_confusion *confusion = calloc(1, sizeof(*confusion));
	struct dealbox_trace *trace = dealbox_trace_new(1);
	struct dealbox_diagnosis d;

	(void)state;
	assert_non_null(confusion);
	add_read(trace, 0, 25, 90);
	add_repeat(trace, 1, 25, 90, 0);
	/* a reader without any known misreads */
	assert_int_equal(dealbox_diagnose_repeat(trace, NULL, confusion, NULL, &d), 0);
	assert_int_equal(d.chance[DEALBOX_CULPRIT_DECK], 100);
	assert_int_equal(d.likely, DEALBOX_CULPRIT_DECK);
	assert_true(d.easily == 0);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		row_is(confusion, 0, 25, rows[r].first);
		row_is(confusion, 51, 25, rows[r].last);
		assert_int_equal(dealbox_diagnose_repeat(trace, NULL, confusion, NULL, &d), 0);
		assert_true(d.easily == rows[r].easily);
	}
	assert_int_equal(d.earlier.quality, 90);	/* the first event of the trace */
	assert_false(d.candidates >> 25 & 1);
	/* among 52 cards, not 53 */
	memset(confusion, 0, sizeof(*confusion));
	confusion->weight[0][25] = 3;
	confusion->weight[0][1] = 49;
	assert_int_equal(dealbox_diagnose_repeat(trace, NULL, confusion, NULL, &d), 0);
	assert_true(d.easily == 1);
	/* A card that has been seen is no candidate. */
	row_is(confusion, 51, 25, 50000);
	add_read(trace, 2, 0, 90);
	assert_int_equal(dealbox_diagnose_repeat(trace, NULL, confusion, NULL, &d), 0);
	assert_true(d.easily == 1ULL << 51);
	dealbox_trace_free(trace);
	free(confusion);
}

/* The full text of every sentence. */
static void test_sentences(void **state)
{
#define BOTH	"Two cards are to be looked at: the card at the reader, and "
#define REPLACE	" was misread: replace that card. If both are the same, a card of another deck " \
		"got in."
	static const struct {
		struct dealbox_diagnosis d;
		bool reveal;
		const char *text;
	} rows[] = {
		{ { .earlier = { .position = 2, .hand = DEALBOX_NONE } }, false,
		  BOTH "the card that was dealt as card 3. "
		       "Most likely the one dealt earlier" REPLACE },
		{ { .earlier = { .position = 2, .hand = DEALBOX_NONE, .place = 1 } }, false,
		  BOTH "the card that was dealt as card 3. "
		       "Most likely the one dealt earlier" REPLACE },
		{ { .earlier = { .position = 2, .hand = DEALBOX_HANDS, .place = 1 } }, false,
		  BOTH "the card that was dealt as card 3. "
		       "Most likely the one dealt earlier" REPLACE },
		{ { .earlier = { .position = 2, .hand = DEALBOX_HANDS } }, false,
		  BOTH "the card that was dealt as card 3. "
		       "Most likely the one dealt earlier" REPLACE },
		{ { .earlier = { .position = 2, .hand = DEALBOX_HANDS, .place = 1, .above = 1 } },
		  false, BOTH "the card that was dealt as card 3. "
			      "Most likely the one dealt earlier" REPLACE },
		{ { .earlier = { .position = 2, .hand = DEALBOX_NORTH } }, false,
		  BOTH "the one in North's hand that was read as the same. "
		  "Most likely the one in North's hand" REPLACE },
		{ { .earlier = { .hand = DEALBOX_EAST, .place = 1, .above = 1 } }, false,
		  BOTH "card 2 from the top of East's hand. "
		       "Most likely the one in East's hand" REPLACE },
		{ { .earlier = { .hand = DEALBOX_SOUTH, .place = 2 },
		    .likely = DEALBOX_CULPRIT_LATER }, false,
		  BOTH "the top card of South's hand. Most likely the one at the reader" REPLACE },
		{ { .earlier = { .hand = DEALBOX_WEST, .place = 2 },
		    .likely = DEALBOX_CULPRIT_DECK }, false,
		  BOTH "the top card of West's hand. "
		  "Most likely both are right, and a card of another deck got in: "
		  "they are the same." },
		{ { .card = 1, .earlier = { .hand = DEALBOX_WEST, .place = 2 },
		    .likely = DEALBOX_CULPRIT_DECK }, true,
		  BOTH "the top card of West's hand. "
		  "Most likely both are right, and a card of another deck got in: they are the "
		  "same. The machine read both as SK." },
		{ { .earlier = { .hand = DEALBOX_WEST, .place = 2 },
		    .likely = DEALBOX_CULPRIT_LATER,
		    .candidates = 0x70 }, true,
		  BOTH "the top card of West's hand. Most likely the one at the reader" REPLACE
		  " The machine read both as SA; the other is one of 3 cards not seen yet." },
		{ { .earlier = { .hand = DEALBOX_WEST, .place = 2 },
		    .likely = DEALBOX_CULPRIT_LATER,
		    .candidates = 0x8000000000007, .easily = 0x8000000000001 }, true,
		  BOTH "the top card of West's hand. Most likely the one at the reader" REPLACE
		  " The machine read both as SA; not seen yet, and easily misread so: SA, C2; "
		  "or another of 2 cards not seen yet." },
		{ { .earlier = { .hand = DEALBOX_WEST, .place = 2 },
		    .likely = DEALBOX_CULPRIT_LATER,
		    .candidates = 4, .easily = 4 | 1ULL << DEALBOX_CARDS }, true,
		  BOTH "the top card of West's hand. Most likely the one at the reader" REPLACE
		  " The machine read both as SA; not seen yet, and easily misread so: SQ." },
	};
	char text[768], cut[64];

	(void)state;
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		size_t length =
			dealbox_diagnosis_message(&rows[r].d, rows[r].reveal, text, sizeof(text));

		assert_string_equal(text, rows[r].text);
		assert_int_equal(length, strlen(text));
		/* The text is truncated, and memory after the buffer is not written. */
		for (size_t size = 0; size < sizeof(cut) - 1; size++) {
			memset(cut, '#', sizeof(cut));
			assert_int_equal(dealbox_diagnosis_message(&rows[r].d, rows[r].reveal,
								   cut, size), length);
			assert_int_equal(cut[size], '#');
			if (size) {
				assert_int_equal(strlen(cut), size - 1);
				assert_memory_equal(cut, text, size - 1);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confusable),
		cmocka_unit_test(test_code_list),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_learn),
		cmocka_unit_test(test_where_it_lies),
		cmocka_unit_test(test_suspicion),
		cmocka_unit_test(test_joker_twice),
		cmocka_unit_test(test_easily),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_earlier_first),
		cmocka_unit_test(test_deck),
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
