// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/law.h>
#include <dealbox/operator.h>
#include <dealbox/verify.h>

#include <linux/dealbox.h>
#include <string.h>

#include "cards/messages.h"
#include "cards/sentence.h"

/* Each kind: its name for programs, and its sentence, by count if there are two. */
static const struct {
	const char *name, *one, *many;
} verdicts[DEALBOX_VERDICT_KINDS] = {
	[DEALBOX_VERDICT_VOID] = { "void", N_("void"), NULL },
	[DEALBOX_VERDICT_EXACT] = { "exact", N_("exact duplicate"), NULL },
	[DEALBOX_VERDICT_NOTHING] = { "nothing", N_("no card came, so nothing is proved"), NULL },
	[DEALBOX_VERDICT_DIFFERS] = { "differs",
		P_("not an exact duplicate: {count} difference",
		   "not an exact duplicate: {count} differences") },
	[DEALBOX_VERDICT_UNSEEN] = { "unseen",
		N_("not an exact duplicate: the exit sensors saw no card"), NULL },
	[DEALBOX_VERDICT_DEALT_UNKNOWN] = { "dealt-unknown",
		N_("void: what was dealt is not known"), NULL },
	[DEALBOX_VERDICT_READ_UNKNOWN] = { "read-unknown",
		N_("void: what was read is not known"), NULL },
	[DEALBOX_VERDICT_READ] = { "read", P_("read: {count} card", "read: {count} cards") },
	[DEALBOX_VERDICT_POCKET] = { "pocket",
		P_("pocket {seat} has {count} card, not {expected}: put the right ones into the "
		   "hopper",
		   "pocket {seat} has {count} cards, not {expected}: put the right ones into the "
		   "hopper") },
	[DEALBOX_VERDICT_REVOKED] = { "revoked",
		N_("void: {reason} behind its end, so it is not exact after all"), NULL },
};

/* An exact board, by basis; the second if cards were not read. */
static const char *const bases[][2] = {
	[DEALBOX_BASIS_GATES] = {
		N_("exact duplicate (by gates)"),
		N_("exact duplicate (by gates; cards not read, if the deck was in order)") },
	[DEALBOX_BASIS_SENSORS] = {
		N_("exact duplicate (by exit sensors)"),
		N_("exact duplicate (by exit sensors; cards not read, if the deck was in order)") },
	[DEALBOX_BASIS_HAND] = {
		N_("exact duplicate (by hand)"),
		N_("exact duplicate (by hand; cards not read, if the deck was in order)") },
};

/* Reasons that make a board void, with the names of dealbox_event_name(). */
static const char *const reasons[] = {
	[DEALBOX_EV_STATE_LOST] = N_("state lost"),
	[DEALBOX_EV_BOARD_REMOVED] = N_("board removed"),
	[DEALBOX_EV_COVER_OPEN] = N_("cover open"), [DEALBOX_EV_DEAL_STARTED] = N_("deal started"),
	[DEALBOX_EV_DEAL_DONE] = N_("deal done"), [DEALBOX_EV_PAUSED] = N_("paused"),
	[DEALBOX_EV_ABORTED] = N_("aborted"), [DEALBOX_EV_CARD_UNREADABLE] = N_("card unreadable"),
	[DEALBOX_EV_NOT_IN_PLAN] = N_("card not in plan"),
	[DEALBOX_EV_GATE_LATE] = N_("gate command late"),
	[DEALBOX_EV_FEED_TIMEOUT] = N_("feed timeout"), [DEALBOX_EV_DECK_SHORT] = N_("deck short"),
	[DEALBOX_EV_REPEATED_CARD] = N_("repeated card"),
	[DEALBOX_EV_DOUBLE_FEED] = N_("double feed"), [DEALBOX_EV_JAM] = N_("jam"),
	[DEALBOX_EV_WRONG_POCKET] = N_("wrong pocket"),
	[DEALBOX_EV_BOARD_PULLED] = N_("board pulled"),
	[DEALBOX_EV_COVER_OPENED] = N_("cover opened"),
	[DEALBOX_EV_HARDWARE] = N_("hardware fault"),
	[DEALBOX_EV_PROTOCOL_ERROR] = N_("protocol error"),
};

static const char *const places[] = {
	NULL, N_("in the feeder"), N_("at the reader"), N_("at the gate"), N_("at a pocket"),
};

static const char *const seats[] = { NULL, N_("N"), N_("E"), N_("S"), N_("W") };

#define COUNT(table)	(sizeof(table) / sizeof((table)[0]))

struct told {
	const struct dealbox_operator_verdict *verdict;
	const char *language;
};

/* Insert the value of {name}. */
static void put(struct sentence *sentence, const char *name, size_t size, const void *context)
{
	const struct told *told = context;
	const struct dealbox_operator_verdict *v = told->verdict;
	const struct {
		const char *name;
		uint32_t number;
		const char *const *texts;	/* for the number, or NULL */
		size_t count;
	} fields[] = {
		{ "count", .number = v->count }, { "expected", .number = v->expected },
		{ "card", .number = v->card }, { "code", .number = v->code },
		{ "reason", v->reason, reasons, COUNT(reasons) },
		{ "place", v->place, places, COUNT(places) },
		{ "seat", v->seat, seats, COUNT(seats) },
	};
	const char *text;
	size_t n;

	for (n = 0; strlen(fields[n].name) != size || memcmp(fields[n].name, name, size); n++)
		;
	if (!fields[n].texts) {
		sentence_add(sentence, "%u", fields[n].number);
		return;
	}
	text = fields[n].number < fields[n].count ? fields[n].texts[fields[n].number] : NULL;
	sentence_add(sentence, "%s", dealbox_law_translate(told->language,
		     text ? text : N_("unknown event")));
}

static void say(struct sentence *sentence, const struct told *told, const char *message)
{
	sentence_fill(sentence, dealbox_law_translate(told->language, message), put, told);
}

/* A void board with a reason: which, at which card, and where. */
static void say_reason(struct sentence *sentence, const struct told *told)
{
	const struct dealbox_operator_verdict *v = told->verdict;

	say(sentence, told, v->card ? N_("void: {reason} at card {card}") : N_("void: {reason}"));
	if (v->place && v->place < COUNT(places))
		say(sentence, told, ", {place}");
	else if (v->coded)
		say(sentence, told, N_(", code {code}"));
}

/* The kind of what was found, as in dealbox_verdict_message(). */
static uint8_t kind_of(const struct dealbox_verdict *verdict)
{
	size_t differences = dealbox_verdict_count(verdict);

	if (!differences)
		return dealbox_verdict_exact(verdict) ? DEALBOX_VERDICT_EXACT :
							DEALBOX_VERDICT_NOTHING;
	if (differences == 1 &&
	    dealbox_verdict_get(verdict, 0)->kind == DEALBOX_DIFFERENCE_UNSEEN)
		return DEALBOX_VERDICT_UNSEEN;
	return DEALBOX_VERDICT_DIFFERS;
}

void dealbox_operator_verdict_from(const struct dealbox_verdict *verdict,
				   struct dealbox_operator_verdict *facts)
{
	*facts = (struct dealbox_operator_verdict){
		.kind = kind_of(verdict),
		.basis = (uint8_t)dealbox_verdict_basis(verdict),
		.unidentified = !dealbox_verdict_identified(verdict),
		.count = (uint32_t)dealbox_verdict_count(verdict),
	};
}

const char *dealbox_operator_verdict_name(unsigned int kind)
{
	return kind < DEALBOX_VERDICT_KINDS ? verdicts[kind].name : NULL;
}

size_t dealbox_operator_verdict_text(const struct dealbox_operator_verdict *v, const char *language,
				     char *text, size_t size)
{
	struct told told = { v, language };
	struct sentence sentence;

	sentence_begin(&sentence, text, size);
	if (v->kind >= DEALBOX_VERDICT_KINDS)
		return 0;
	if (v->kind == DEALBOX_VERDICT_VOID && v->reason)
		say_reason(&sentence, &told);
	else if (v->kind == DEALBOX_VERDICT_EXACT && v->basis && v->basis < COUNT(bases))
		say(&sentence, &told, bases[v->basis][!!v->unidentified]);
	else if (verdicts[v->kind].many)
		sentence_fill(&sentence, dealbox_law_translate_count(language,
			      verdicts[v->kind].one, verdicts[v->kind].many, v->count), put, &told);
	else
		say(&sentence, &told, verdicts[v->kind].one);
	return sentence.length;
}
