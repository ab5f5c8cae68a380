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

/*
 * Decks with one misread card, at random: whenever the machine stops, the culprit is one of
 * the two, and the card that it really is stands among the candidates.
 */
static void test_misread(void **state)
{
	unsigned int round, right = 0, stops = 0;

	(void)state;
	for (round = 1; round <= 2000; round++) {
		struct reading readings[DEALBOX_CARDS];
		struct dealbox_diagnosis d;
		struct dealbox_trace *trace;
		unsigned int at, really;
		dealbox_cards others;

		seed = round * 2654435761u;
		shuffle(readings);
		at = draw(DEALBOX_CARDS);
		really = readings[at].card;
		others = dealbox_card_confusable(really);
		if (!others)
			continue;
		do
			readings[at].card = draw(DEALBOX_CARDS);
		while (!(others >> readings[at].card & 1));
		readings[at].quality = 60;
		trace = deal(readings, DEALBOX_CARDS, round & 1);
		assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), &d), 0);
		stops++;
		assert_true(d.earlier.position == at || d.later.position == at);
		assert_true(d.candidates >> really & 1);
		assert_int_equal(d.chance[0] + d.chance[1] + d.chance[2], 100);
		right += (d.likely == DEALBOX_CULPRIT_EARLIER && d.earlier.position == at) ||
			 (d.likely == DEALBOX_CULPRIT_LATER && d.later.position == at);
		assert_int_equal(d.earlier.pocket, d.earlier.position % 4);
		assert_int_equal(d.earlier.place, round & 1 ? d.earlier.position / 4 + 1 : 0);
		dealbox_trace_free(trace);
	}
	/* with the worse reading to go by, it is named right */
	assert_int_equal(right, stops);
	assert_true(stops > 1500);
}

/* Quality alike: the earlier one, as with machines in the field. */
static void test_earlier_first(void **state)
{
	/* SA twice, and two others */
	const struct reading readings[] = { { 38, 90 }, { 0, 90 }, { 5, 90 }, { 0, 90 } };
	struct dealbox_trace *trace = deal(readings, 4, true);
	struct dealbox_diagnosis d;

	(void)state;
	assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), &d), 0);
	assert_int_equal(d.likely, DEALBOX_CULPRIT_EARLIER);
	assert_int_equal(d.earlier.position, 1);
	assert_int_equal(d.later.position, 3);
	assert_true(d.chance[DEALBOX_CULPRIT_EARLIER] > d.chance[DEALBOX_CULPRIT_LATER]);
	dealbox_trace_free(trace);
}

/* A card that nothing is read as: two of them are in the deck. */
static void test_deck(void **state)
{
	struct reading readings[3] = { { 1, 90 }, { 0, 90 }, { 0, 90 } };
	struct dealbox_trace *trace;
	struct dealbox_diagnosis d;

	(void)state;
	readings[1].card = readings[2].card = card("D5");
	trace = deal(readings, 3, true);
	assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), &d), 0);
	assert_int_equal(d.likely, DEALBOX_CULPRIT_DECK);
	assert_true(d.candidates == 0);
	dealbox_trace_free(trace);
	/* and none came twice */
	trace = deal(readings, 2, true);
	assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), &d), -ENOENT);
	dealbox_trace_free(trace);
}

static void test_message(void **state)
{
	const struct reading readings[] = { { 38, 90 }, { 0, 50 }, { 5, 90 }, { 0, 90 } };
	struct dealbox_trace *trace = deal(readings, 4, true);
	struct dealbox_diagnosis d;
	char text[512], cut[20];
	unsigned int n;
	size_t length;

	(void)state;
	assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), &d), 0);
	length = dealbox_diagnosis_message(&d, false, text, sizeof(text));
	assert_int_equal(length, strlen(text));
	assert_non_null(strstr(text, "the card in pocket 1 that 0 others lie on"));
	for (n = 0; n < DEALBOX_CARDS; n++)
		assert_null(strstr(text, dealbox_card_name(n)));
	assert_int_equal(dealbox_diagnosis_message(&d, false, cut, sizeof(cut)), length);
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	dealbox_diagnosis_message(&d, true, text, sizeof(text));
	assert_non_null(strstr(text, "read both as SA; not seen yet, and easily misread so: DT, D3, C4."));
	dealbox_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confusable),
		cmocka_unit_test(test_code_list),
		cmocka_unit_test(test_misread),
		cmocka_unit_test(test_earlier_first),
		cmocka_unit_test(test_deck),
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
