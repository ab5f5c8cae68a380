// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which of two readings was wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dealbox/diagnosis.h>

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
			/* who may be taken for whom, may be taken for him */
			assert_int_equal(dealbox_card_confusable(a) >> b & 1,
					 dealbox_card_confusable(b) >> a & 1);
			pairs += dealbox_card_confusable(a) >> b & 1;
		}
	}
	/* 47 pairs one module away, 18 pairs turned round, none of them both */
	assert_int_equal(pairs, 47 + 18);
	assert_true(dealbox_card_confusable(card("SA")) >> card("D3") & 1);
	assert_true(dealbox_card_confusable(card("SA")) >> card("DT") & 1);
	assert_true(dealbox_card_confusable(card("D5")) == 0);
	assert_true(dealbox_card_confusable(52) == 0);
	assert_true(dealbox_card_confusable(255) == 0);
}

/* The table against the list of codes from which it was made. */
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
 * Deals cards as they are read, card n into pocket n % 4, until one comes twice; with the
 * machine's own sensors at the exit, or without.
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
#define OWN_FAULTS	2	/* cards that the machine of test_own takes each card for */

/*
 * How readers misread, as this test has it; the library knows less: a part of the misreads is of
 * no kind that it knows.
 */
struct reader {
	const char *name;
	unsigned int kind;
	unsigned int known;	/* of 100 misreads, how many are of a kind that belongs to the reader */
	dealbox_cards (*kinds)(unsigned int card);
	enum { NONE, POOR, CLEAR } quality;	/* what it says of how well it read */
};

static dealbox_cards bars(unsigned int card)
{
	return dealbox_card_confusable(card);
}

/* The same rank in the other suit of the colour; ranks that look alike. */
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

/* A worn lens that makes each card another two. */
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
 * Of 100, roughly a bell: good readings are 84 to 100, misread ones 52 to 98; where it tells them apart
 * poorly 70 to 100 and 62 to 98.
 */
static uint8_t quality(const struct reader *reader, bool good)
{
	unsigned int clear = good ? 84 + draw(6) + draw(6) + draw(7) : 52 + draw(16) + draw(16) + draw(17);
	unsigned int poor = good ? 70 + draw(11) + draw(11) + draw(11) : 62 + draw(13) + draw(13) + draw(13);

	return reader->quality == CLEAR ? clear : reader->quality == POOR ? poor : DEALBOX_NONE;
}

/* A machine that reads each card wrong now and then, and right when it reads it again. */
static void learn(struct dealbox_confusion *confusion, const struct reader *reader)
{
	unsigned int n, learned = 0;

	for (n = 0; n < 500; n++) {
		struct dealbox_trace *trace = dealbox_trace_new(1);
		unsigned int really = draw(DEALBOX_CARDS);
		struct dealbox_event e = { .type = DEALBOX_EV_DEAL_STARTED, .code = 1 };

		add(trace, e);
		e = (struct dealbox_event){ .type = DEALBOX_EV_CARD_READ, .position = 7, .quality = 50 };
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
 * 10,000 decks with one card misread, for each kind of reader: how often the right card is blamed, and
 * how often it would be if the earlier one were blamed each time. A machine reads a repeated card again
 * before it reports it, which puts half of the later ones right.
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
			assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), confusion,
								 NULL, &d), 0);
			stops++;
			/* it is one of the two, and what it really is stands among the candidates */
			assert_true(d.earlier.position == at || d.later.position == at);
			assert_true(d.candidates >> really & 1);
			assert_true((d.easily & ~d.candidates) == 0);
			assert_int_equal(d.chance[0] + d.chance[1] + d.chance[2], 100);
			earlier += is_earlier;
			right += d.likely == (is_earlier ? DEALBOX_CULPRIT_EARLIER : DEALBOX_CULPRIT_LATER);
			easily += d.easily >> really & 1;
			named += dealbox_cards_count(d.easily);
			assert_int_equal(d.earlier.place, stops & 1 ? 0 : d.earlier.position / 4 + 1);
			dealbox_trace_free(trace);
		}
		print_message("# %s: right %.1f %%, always the earlier %.1f %%; among %.1f cards named %.1f %%\n",
			      reader->name, right * 100.0 / stops, earlier * 100.0 / stops,
			      named * 1.0 / stops, easily * 100.0 / stops);
		/* with nothing else to go by it blames the earlier one */
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

/* Quality alike: the earlier one, as with machines in the field. */
static void test_earlier_first(void **state)
{
	/* SA twice, and two others */
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

/* Every card of the pack has been read: one is in the deck twice. */
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
	/* that its bar code is like no other is no reason to blame the deck at the third card */
	readings[1].card = readings[2].card = card("D5");
	readings[0].card = card("S2");
	trace = deal(readings, 3, true);
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), 0);
	assert_int_equal(d.likely, DEALBOX_CULPRIT_EARLIER);
	assert_int_equal(dealbox_cards_count(d.candidates), DEALBOX_CARDS - 2);
	assert_true(d.easily == 0);
	dealbox_trace_free(trace);
	/* and none came twice */
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

/* Seats and "top card", which a person sees; no pockets, which are numbers of the machine. */
static void test_message(void **state)
{
	const struct reading readings[] = { { 38, 90 }, { 0, 50 }, { 5, 90 }, { 7, 90 }, { 0, 90 } };
	const struct reading deep[] = { { 0, 50 }, { 1, 90 }, { 2, 90 }, { 3, 90 }, { 4, 90 }, { 5, 90 }, { 6, 90 },
					{ 7, 90 }, { 8, 90 }, { 0, 90 } };
	const uint8_t turned[DEALBOX_HANDS] = { 3, 2, 1, 0 };
	struct dealbox_trace *trace = deal(readings, 5, true);
	struct dealbox_diagnosis d;
	char cut[20];

	(void)state;
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), 0);
	says(&d, false, "Two cards are to be looked at: the card at the reader, and the top card of East's hand. ");
	says(&d, false, "Most likely the one in East's hand was misread: replace that card. ");
	says(&d, false, "If both are the same, a card of another deck got in.");
	says(&d, true, "read both as SA; not seen yet, and easily misread so: DT, D3, C4; or another of 45 cards not seen yet.");
	assert_true(dealbox_diagnosis_message(&d, false, cut, sizeof(cut)) > sizeof(cut));
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	/* the hands lie in other pockets: pocket 1 is South's */
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, turned, &d), 0);
	says(&d, false, "the top card of South's hand");
	dealbox_trace_free(trace);
	/* without sensors nobody knows how many lie on it */
	trace = deal(readings, 5, false);
	assert_int_equal(diagnose(trace, DEALBOX_READER_CAMERA, NULL, &d), 0);
	says(&d, false, "the card in East's hand that was dealt as card 2");
	says(&d, true, "easily misread so: S4, CA");
	dealbox_trace_free(trace);
	trace = deal(deep, 10, true);
	assert_int_equal(diagnose(trace, DEALBOX_READER_BARCODE, NULL, &d), 0);
	says(&d, false, "card 3 from the top of North's hand");
	dealbox_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confusable),
		cmocka_unit_test(test_code_list),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_earlier_first),
		cmocka_unit_test(test_deck),
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
