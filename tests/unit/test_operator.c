// SPDX-License-Identifier: LGPL-2.1-or-later
/* Operators' instructions: every state has a name, a way on and sentences in each language. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <dealbox/event.h>
#include <dealbox/law.h>
#include <dealbox/operator.h>
#include <dealbox/verify.h>
#include <linux/dealbox.h>

static const char *text_of(enum dealbox_operator_state state,
			   const struct dealbox_operator_facts *facts, const char *language)
{
	static char text[2048];
	size_t length = dealbox_operator_text(state, facts, language, text, sizeof(text));

	assert_int_equal(length, strlen(text));
	assert_int_equal(dealbox_operator_text(state, facts, language, NULL, 0), length);
	return text;
}

static void test_states(void **state)
{
	static const char *const rows[] = {
		"E1", "E2", "E2a", "E2b", "E2c", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10",
		"E11", "E12", "E13", "E14", "E15", "E16", "E17"
	};
	static const struct dealbox_operator_facts facts = { .board = 12, .copy = 3 };
	char list[256], word[16], text[9];
	size_t n, k, found;

	(void)state;
	for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
		assert_non_null(dealbox_operator_name(k));
		assert_int_not_equal(dealbox_operator_ways(k), 0);
		for (n = 0; n < k; n++)
			assert_string_not_equal(dealbox_operator_name(n), dealbox_operator_name(k));
	}
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		found = 0;
		snprintf(word, sizeof(word), " %s ", rows[n]);
		for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
			snprintf(list, sizeof(list), " %s ", dealbox_operator_rows(k));
			found += !!strstr(list, word);
		}
		if (!found)
			fail_msg("nobody answers %s", rows[n]);
	}
	assert_string_equal(text_of(DEALBOX_OPERATOR_INSERT, &facts, NULL),
			    "Put in the empty board 12, copy 3.");
	dealbox_operator_text(DEALBOX_OPERATOR_INSERT, &facts, NULL, text, 8);
	assert_string_equal(text, "Put in ");
	/* a state of a newer library */
	assert_null(dealbox_operator_name(DEALBOX_OPERATOR_STATES));
	assert_string_equal(dealbox_operator_rows(DEALBOX_OPERATOR_STATES), "");
	assert_int_equal(dealbox_operator_ways(DEALBOX_OPERATOR_STATES), 0);
	assert_string_equal(text_of(DEALBOX_OPERATOR_STATES, &facts, NULL), "");
}

/* Every state in every language, with all facts and with none: complete, and translated. */
static void test_languages(void **state)
{
	static const struct dealbox_operator_facts none, all[] = {
		{ 9999, 9999, 9999, 52, 52, 4, 13, 4, 0, 0, 1, 90 },
		{ 9999, 9999, 9999, 52, 52, 4, 13, 0, 9999, 0, 3, 50 },
		{ .shuffled = 1 },
		{ .by_hand = 1 },
	};
	const char *language;
	char english[2048];
	size_t n, k;

	(void)state;
	for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
		snprintf(english, sizeof(english), "%s", text_of(k, &all[0], "en"));
		assert_string_equal(english, text_of(k, &all[0], NULL));
		assert_string_equal(english, text_of(k, &all[0], "xx"));
		for (n = 0; (language = dealbox_law_language(n)); n++) {
			assert_null(strpbrk(text_of(k, &all[0], language), "{}%"));
			assert_null(strpbrk(text_of(k, &all[1], language), "{}%"));
			snprintf(english, sizeof(english), "%s", text_of(k, &all[2], "en"));
			if (n)
				assert_string_not_equal(text_of(k, &all[2], language), english);
			snprintf(english, sizeof(english), "%s", text_of(k, &all[3], "en"));
			if (n)
				assert_string_not_equal(text_of(k, &all[3], language), english);
			snprintf(english, sizeof(english), "%s", text_of(k, &all[0], "en"));
			assert_true(*text_of(k, &none, language));
			if (n)
				assert_string_not_equal(text_of(k, &all[0], language), english);
		}
	}
}

/* Sentences contain the known facts, and nothing about unknown ones. */
static void test_facts(void **state)
{
	static const struct {
		enum dealbox_operator_state state;
		struct dealbox_operator_facts facts;
		const char *says, *says_not;
	} rows[] = {
		{ DEALBOX_OPERATOR_JAM, { .card = 8, .cards = 52, .place = 3, .code = 3 },
		  "close the cover. This was at card 8 of 52. "
		  "It is stuck at the gate. The board is void:", "code" },
		/* a place of a later protocol is a code */
		{ DEALBOX_OPERATOR_JAM, { .place = 77, .code = 77 }, "The machine gives code 77.",
		  "stuck at" },
		{ DEALBOX_OPERATOR_JAM, { 0 }, "close the cover. The board is void", "This was" },
		{ DEALBOX_OPERATOR_HARDWARE, { .code = 5 }, "The machine gives code 5.",
		  "This was" },
		{ DEALBOX_OPERATOR_UNREADABLE, { .card = 8, .cards = 52 },
		  "This was at card 8 of 52.", "void" },
		{ DEALBOX_OPERATOR_UNREADABLE, { .card = 8 }, "This was at card 8.", "52" },
		{ DEALBOX_OPERATOR_REPEATED, { .seat = 2, .depth = 5 },
		  "Before you empty the board, look at the two cards: the earlier one lies in the "
		  "pocket of East, number 5 from the top. The board is void: take it out, "
		  "empty it,", "This was" },
		{ DEALBOX_OPERATOR_REPEATED, { .seat = 5, .depth = 5 }, "came twice", "pocket of" },
		{ DEALBOX_OPERATOR_REPEATED, { .seat = 2 }, "came twice", "pocket of" },
		{ DEALBOX_OPERATOR_NUMBER_OTHER, { .board = 3, .there = 4 },
		  "Board 3 comes next, but another board is in the machine. Take it out and put in "
		  "board 3, or skip board 3. The label says board 4.", "code" },
		{ DEALBOX_OPERATOR_NUMBER_OTHER, { .board = 3 }, "Board 3 comes next", "label" },
		/* the first place and the first seat without a name */
		{ DEALBOX_OPERATOR_JAM, { .place = 5, .code = 5 }, "The machine gives code 5.",
		  "stuck at" },
		{ DEALBOX_OPERATOR_NUMBER_OTHER, { .board = 3, .place = 5, .seat = 5, .depth = 1 },
		  "Board 3 comes next", "pocket of" },
		/* facts of an earlier deal do not appear */
		{ DEALBOX_OPERATOR_INSERT, { .board = 3, .copy = 1, .card = 8, .cards = 52,
					     .place = 3, .code = 9,
		  .seat = 1, .depth = 1, .there = 7 }, "Put in the empty board 3, copy 1.",
		  " card " },
		/* a shuffled pack is dealt once, and into a board without a number */
		{ DEALBOX_OPERATOR_INSERT, { .shuffled = 1 }, "Put in an empty board.", "copy" },
		{ DEALBOX_OPERATOR_START, { .shuffled = 1 }, "Press start to deal.", "copy" },
		{ DEALBOX_OPERATOR_TAKE_OUT, { .shuffled = 1 },
		  "The board is dealt and recorded. Take it out.", "copy" },
		{ DEALBOX_OPERATOR_PAUSED, { .shuffled = 1 }, "Paused. Press start to go on;",
		  "copy" },
		{ DEALBOX_OPERATOR_HOPPER, { .shuffled = 1 },
		  "Put in the shuffled pack, face down.", "deck" },
		{ DEALBOX_OPERATOR_CONFIRM, { .shuffled = 1 },
		  "If it is empty, and the pack is whole and shuffled", "copy" },
		{ DEALBOX_OPERATOR_JAM, { .shuffled = 1 },
		  "The board is void: take it out and empty it.", "again" },
		/* a person has no hopper, and no deck to turn round */
		{ DEALBOX_OPERATOR_REPEATED, { .by_hand = 1, .seat = 2, .depth = 5 },
		  "named wrongly. Before you empty the board, look at the two cards: the earlier "
		  "one lies in the pocket of East, number 5 from the top. The board is void: take "
		  "it out, empty it, put its cards back into the pack, and put the board in again.",
		  "deck" },
		{ DEALBOX_OPERATOR_DECK_SHORT, { .by_hand = 1 }, "The pack is at its end",
		  "hopper" },
		{ DEALBOX_OPERATOR_ABORTED, { .by_hand = 1 }, "put its cards back into the pack",
		  "hopper" },
		{ DEALBOX_OPERATOR_DOUBT, { .by_hand = 1 }, "put its cards back into the pack",
		  "hopper" },
		/* .. and a capture reads one pocket after the other */
		{ DEALBOX_OPERATOR_CAPTURE, { .board = 3, .copy = 4 },
		  "put the cards of pocket West alone", "copy" },
		{ DEALBOX_OPERATOR_CAPTURE, { .board = 3, .copy = 5 },
		  "put the cards of pocket 5 alone", "copy" },
		{ DEALBOX_OPERATOR_CAPTURED, { .shuffled = 1 }, "The board is read, ", "void" },
	};
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const char *text = text_of(rows[n].state, &rows[n].facts, NULL);

		if (!strstr(text, rows[n].says) || strstr(text, rows[n].says_not))
			fail_msg("%s", text);
	}
	assert_non_null(strstr(text_of(DEALBOX_OPERATOR_REPEATED, &rows[6].facts, "nb"),
			       "i lommen til \303\230st, nummer 5 ovenfra"));
}

/* The board is void after exactly these. */
static void test_void(void **state)
{
	static const enum dealbox_operator_state states[] = {
		DEALBOX_OPERATOR_JAM, DEALBOX_OPERATOR_DECK_SHORT, DEALBOX_OPERATOR_REPEATED,
		DEALBOX_OPERATOR_DECK_WRONG, DEALBOX_OPERATOR_WRONG_POCKET,
		DEALBOX_OPERATOR_DOUBLE_FEED, DEALBOX_OPERATOR_PULLED,
		DEALBOX_OPERATOR_COVER_OPENED, DEALBOX_OPERATOR_HARDWARE, DEALBOX_OPERATOR_ABORTED,
		DEALBOX_OPERATOR_DIFFERS, DEALBOX_OPERATOR_DOUBT,
	};
	static const struct dealbox_operator_facts facts = { .board = 12, .copy = 3 };
	unsigned int k, n;

	(void)state;
	for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
		bool is_void = strstr(text_of(k, &facts, NULL),
				      "The board is void: take it out, empty it");

		for (n = 0; n < sizeof(states) / sizeof(states[0]) && states[n] != k; n++)
			;
		if (is_void != (n < sizeof(states) / sizeof(states[0])))
			fail_msg("%s", dealbox_operator_name(k));
	}
	/* what follows the instruction */
	assert_non_null(strstr(text_of(DEALBOX_OPERATOR_WRONG_POCKET, &facts, NULL),
			       "put the board in again. If it "
			       "comes again, clean the gates."));
	/* commands are for the person in charge of the computer, and come last */
	assert_non_null(strstr(text_of(DEALBOX_OPERATOR_ABSENT, &facts, NULL),
			       "is plugged in. `dealbox doctor` says more about it."));
	assert_non_null(strstr(text_of(DEALBOX_OPERATOR_HARDWARE, &facts, NULL),
			       "put the board in again. If the machine still reports the fault "
			       "after that, press start. If it comes again, `dealbox report`"));
}

/* ---- verdicts ---- */

static const char *verdict_of(const struct dealbox_operator_verdict *verdict, const char *language)
{
	static char text[512];
	size_t length = dealbox_operator_verdict_text(verdict, language, text, sizeof(text));

	assert_int_equal(length, strlen(text));
	assert_int_equal(dealbox_operator_verdict_text(verdict, language, NULL, 0), length);
	return text;
}

#define SENSORS	DEALBOX_BASIS_SENSORS

static const struct {
	struct dealbox_operator_verdict verdict;
	const char *text;
} said[] = {
	{ { .kind = DEALBOX_VERDICT_VOID }, "void" },
	{ { .kind = DEALBOX_VERDICT_VOID, .card = 8, .place = 3 }, "void" },
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = DEALBOX_EV_DOUBLE_FEED }, "void: double feed" },
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = DEALBOX_EV_JAM, .card = 8, .place = 3 },
	  "void: jam at card 8, at the gate" },
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = DEALBOX_EV_JAM, .place = 4 },
	  "void: jam, at a pocket" },
	/* a place of a later version */
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = DEALBOX_EV_JAM, .place = 5 }, "void: jam" },
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = DEALBOX_EV_JAM, .place = 5, .coded = 1,
	    .code = 5 }, "void: jam, code 5" },
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = DEALBOX_EV_HARDWARE, .coded = 1 },
	  "void: hardware fault, code 0" },
	/* events of a later version, and without a name */
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = DEALBOX_EV_PROTOCOL_ERROR + 1 },
	  "void: unknown event" },
	{ { .kind = DEALBOX_VERDICT_VOID, .reason = 1000, .card = 255 },
	  "void: unknown event at card 255" },
	{ { .kind = DEALBOX_VERDICT_EXACT }, "exact duplicate" },
	{ { .kind = DEALBOX_VERDICT_EXACT, .basis = DEALBOX_BASIS_GATES },
	  "exact duplicate (by gates)" },
	{ { .kind = DEALBOX_VERDICT_EXACT, .basis = DEALBOX_BASIS_GATES, .unidentified = 1 },
	  "exact duplicate (by gates; cards not read, if the deck was in order)" },
	{ { .kind = DEALBOX_VERDICT_EXACT, .basis = SENSORS },
	  "exact duplicate (by exit sensors)" },
	{ { .kind = DEALBOX_VERDICT_EXACT, .basis = SENSORS, .unidentified = 1 },
	  "exact duplicate (by exit sensors; cards not read, if the deck was in order)" },
	{ { .kind = DEALBOX_VERDICT_EXACT, .basis = DEALBOX_BASIS_HAND },
	  "exact duplicate (by hand)" },
	{ { .kind = DEALBOX_VERDICT_EXACT, .basis = DEALBOX_BASIS_HAND, .unidentified = 1 },
	  "exact duplicate (by hand; cards not read, if the deck was in order)" },
	{ { .kind = DEALBOX_VERDICT_EXACT, .basis = DEALBOX_BASIS_HAND + 1 }, "exact duplicate" },
	{ { .kind = DEALBOX_VERDICT_NOTHING }, "no card came, so nothing is proved" },
	{ { .kind = DEALBOX_VERDICT_DIFFERS, .count = 1 },
	  "not an exact duplicate: 1 difference" },
	{ { .kind = DEALBOX_VERDICT_DIFFERS, .count = 21 },
	  "not an exact duplicate: 21 differences" },
	{ { .kind = DEALBOX_VERDICT_UNSEEN },
	  "not an exact duplicate: the exit sensors saw no card" },
	{ { .kind = DEALBOX_VERDICT_DEALT_UNKNOWN }, "void: what was dealt is not known" },
	{ { .kind = DEALBOX_VERDICT_READ_UNKNOWN }, "void: what was read is not known" },
	{ { .kind = DEALBOX_VERDICT_READ, .count = 13 }, "read: 13 cards" },
	{ { .kind = DEALBOX_VERDICT_POCKET, .seat = 4, .count = 1, .expected = 13 },
	  "pocket W has 1 card, not 13: put the right ones into the hopper" },
	{ { .kind = DEALBOX_VERDICT_POCKET, .seat = 1, .count = 12, .expected = 13 },
	  "pocket N has 12 cards, not 13: put the right ones into the hopper" },
	{ { .kind = DEALBOX_VERDICT_REVOKED, .reason = DEALBOX_EV_JAM },
	  "void: jam behind its end, so it is not exact after all" },
};

static void test_verdicts(void **state)
{
	const char *language;
	char text[9];
	size_t n, l;

	(void)state;
	for (n = 0; n < sizeof(said) / sizeof(said[0]); n++) {
		assert_string_equal(verdict_of(&said[n].verdict, NULL), said[n].text);
		for (l = 1; (language = dealbox_law_language(l)); l++) {
			assert_null(strpbrk(verdict_of(&said[n].verdict, language), "{}%"));
			assert_string_not_equal(verdict_of(&said[n].verdict, language),
						said[n].text);
		}
	}
	assert_int_equal(dealbox_operator_verdict_text(&said[3].verdict, NULL, text, sizeof(text)),
			 strlen(said[3].text));
	assert_string_equal(text, "void: ja");
	/* a kind of a later version */
	strcpy(text, "before");
	assert_int_equal(dealbox_operator_verdict_text(&(struct dealbox_operator_verdict){
		.kind = DEALBOX_VERDICT_KINDS }, NULL, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	for (n = 0; n < DEALBOX_VERDICT_KINDS; n++) {
		assert_non_null(dealbox_operator_verdict_name(n));
		for (l = 0; l < n; l++)
			assert_string_not_equal(dealbox_operator_verdict_name(l),
						dealbox_operator_verdict_name(n));
	}
	assert_null(dealbox_operator_verdict_name(DEALBOX_VERDICT_KINDS));
}

/* A reason has the name of its event, also where it has a translation. */
static void test_reasons(void **state)
{
	struct dealbox_operator_verdict verdict = { .kind = DEALBOX_VERDICT_VOID };
	char expected[64];

	(void)state;
	for (verdict.reason = 1; verdict.reason < 256; verdict.reason++) {
		snprintf(expected, sizeof(expected), "void: %s",
			 dealbox_event_name(verdict.reason));
		if (dealbox_event_stops(verdict.reason) ||
		    strcmp(verdict_of(&verdict, NULL), "void: unknown event"))
			assert_string_equal(verdict_of(&verdict, NULL), expected);
	}
}

/* Judges an insertion in which card n goes to pocket n / 13. done: with DEAL_DONE. */
static struct dealbox_verdict *verdict_on(const struct dealbox_plan *plan, uint32_t capabilities,
					  size_t cards, bool read, bool done)
{
	struct dealbox_event event = {
		.type = DEALBOX_EV_DEAL_STARTED, .insertion = 7, .position = DEALBOX_NONE,
		.card = DEALBOX_NONE, .pocket = DEALBOX_NONE, .code = 1,
	};
	struct dealbox_trace *trace = dealbox_trace_new(7);
	struct dealbox_verdict *verdict;
	uint8_t counts[4] = { 0 };

	assert_non_null(trace);
	event.arg[0] = plan->entries;
	assert_true(dealbox_trace_add(trace, &event) >= 0);
	event.code = 0;
	event.arg[0] = 0;
	for (size_t n = 0; n < cards; n++) {
		event.position = (uint8_t)n;
		event.card = read ? (uint8_t)n : DEALBOX_NONE;
		for (unsigned int type = 0; type < 2; type++) {
			event.type = type ? DEALBOX_EV_CARD_ROUTED : DEALBOX_EV_CARD_READ;
			event.pocket = type ? (uint8_t)(n / 13) : DEALBOX_NONE;
			event.seqno++;
			event.machine_seq++;
			assert_true(dealbox_trace_add(trace, &event) >= 0);
		}
		counts[n / 13]++;
	}
	event = (struct dealbox_event){
		.type = DEALBOX_EV_DEAL_DONE, .insertion = 7, .position = (uint8_t)cards,
		.card = DEALBOX_NONE, .pocket = DEALBOX_NONE, .code = 1,
		.seqno = event.seqno + 1, .machine_seq = event.machine_seq + 1,
	};
	for (size_t n = 0; n < 4; n++)
		event.counts[n] = counts[n];
	if (done)
		assert_true(dealbox_trace_add(trace, &event) >= 0);
	assert_int_equal(dealbox_verify_machine(plan, NULL, capabilities, trace, &verdict), 0);
	dealbox_trace_free(trace);
	return verdict;
}

/* The facts say of a verdict what it says itself. */
static void test_verdict_facts(void **state)
{
	enum { BY_CARD, BY_POSITION, CAPTURE };
	static const struct {
		unsigned int plan;
		uint32_t capabilities;
		size_t cards;
		bool done;
		uint8_t kind, basis, unidentified;
		uint32_t count;
	} rows[] = {
		{ BY_CARD, 0, 52, true, DEALBOX_VERDICT_EXACT, DEALBOX_BASIS_GATES, 0, 0 },
		{ BY_POSITION, 0, 52, true, DEALBOX_VERDICT_EXACT, DEALBOX_BASIS_GATES, 1, 0 },
		{ BY_CARD, DEALBOX_CAP_EXIT_SENSORS, 52, true, DEALBOX_VERDICT_UNSEEN,
		  DEALBOX_BASIS_GATES, 0, 1 },
		{ BY_CARD, 0, 52, false, DEALBOX_VERDICT_DIFFERS, DEALBOX_BASIS_GATES, 0, 1 },
		{ BY_CARD, DEALBOX_CAP_EXIT_SENSORS, 52, false, DEALBOX_VERDICT_DIFFERS,
		  DEALBOX_BASIS_GATES, 0, 2 },
		{ CAPTURE, 0, 0, true, DEALBOX_VERDICT_NOTHING, DEALBOX_BASIS_NONE, 1, 0 },
	};
	struct dealbox_operator_verdict facts;
	struct dealbox_verdict *verdict;
	struct dealbox_deal deal = { 0 };
	struct dealbox_plan plan;
	uint8_t deck[52];
	size_t n;

	(void)state;
	for (n = 0; n < 52; n++) {
		deck[n] = (uint8_t)n;
		deal.hand[n / 13] |= (dealbox_cards)1 << n;
	}
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		if (rows[n].plan == BY_CARD)
			assert_int_equal(dealbox_plan_by_card(&plan, 1, &deal,
							      dealbox_pack_bridge(), NULL), 0);
		else if (rows[n].plan == BY_POSITION)
			assert_int_equal(dealbox_plan_by_position(&plan, 1, &deal,
								  dealbox_pack_bridge(), NULL,
								  deck, 52), 0);
		else
			assert_int_equal(dealbox_plan_capture(&plan, 1, 0), 0);
		verdict = verdict_on(&plan, rows[n].capabilities, rows[n].cards,
				     rows[n].plan != BY_POSITION, rows[n].done);
		memset(&facts, 0xff, sizeof(facts));
		dealbox_operator_verdict_from(verdict, &facts);
		assert_int_equal(facts.count, rows[n].count);
		assert_int_equal(facts.kind, rows[n].kind);
		assert_int_equal(facts.basis, rows[n].basis);
		assert_int_equal(facts.unidentified, rows[n].unidentified);
		assert_int_equal(facts.expected, 0);
		assert_int_equal(facts.reason, 0);
		dealbox_verdict_free(verdict);
	}
}

/* Each language has its own forms for a number. */
static void test_plurals(void **state)
{
	static const struct {
		const char *language;
		unsigned int count;
		const char *ends;
	} rows[] = {
		{ "en", 0, "0 differences" }, { "en", 1, "1 difference" },
		{ "en", 2, "2 differences" },
		{ "nb", 1, "1 forskjell" }, { "nb", 0, "0 forskjeller" },
		{ "nb", 21, "21 forskjeller" },
		{ "el", 1, "1 \u03b4\u03b9\u03b1\u03c6\u03bf\u03c1\u03ac" },
		{ "el", 2, "2 \u03b4\u03b9\u03b1\u03c6\u03bf\u03c1\u03ad\u03c2" },
		{ "fr", 0, "0 diff\u00e9rence" }, { "fr", 1, "1 diff\u00e9rence" },
		{ "fr", 2, "2 diff\u00e9rences" },
		{ "ru", 1, "1 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u0435" },
		{ "ru", 21, "21 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u0435" },
		{ "ru", 2, "2 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u044f" },
		{ "ru", 34, "34 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u044f" },
		{ "ru", 5, "5 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u0439" },
		{ "ru", 11, "11 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u0439" },
		{ "ru", 12, "12 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u0439" },
		{ "ru", 0, "0 \u0440\u0430\u0437\u043b\u0438\u0447\u0438\u0439" },
	};
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct dealbox_operator_verdict verdict = {
			.kind = DEALBOX_VERDICT_DIFFERS, .count = rows[n].count };
		const char *text = verdict_of(&verdict, rows[n].language);

		if (strlen(text) < strlen(rows[n].ends) ||
		    strcmp(text + strlen(text) - strlen(rows[n].ends), rows[n].ends))
			fail_msg("%s: %s", rows[n].language, text);
	}
	/* a message without a translation, and a language that nobody has */
	assert_string_equal(dealbox_law_translate_count("ru", "%u elk", "%u elks", 2), "%u elks");
	assert_string_equal(dealbox_law_translate_count("tlh", "%u elk", "%u elks", 1), "%u elk");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_void),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_verdict_facts),
		cmocka_unit_test(test_plurals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
