// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rulings as words for programs and as sentences for people. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/law.h>

#include "cards/messages.h"

/* The translated words for people, too. */
static const char *const kind_names[DEALBOX_RULING_KINDS] = {
	N_("stands"), N_("may-rectify"), N_("new-cut"), N_("new-shuffle"), N_("redeal"),
	N_("new-board"), N_("change-of-pack"), N_("restore-pack"), N_("result-cancelled"),
	N_("penalty"), N_("no-penalty"), N_("warning"), N_("turn-passes"), N_("next-dealer"),
	N_("restore-card"), N_("substitute-card"), N_("right-forfeited"), N_("claim-too-late"),
	N_("director-decides"), N_("players-choose"), N_("entitled"), N_("barred"),
	N_("compensation"), N_("breach"), N_("other-law"), N_("no-right"), N_("no-ruling"),
};

static const char *const until_names[DEALBOX_UNTILS] = {
	"", "pickup", "first-card", "next-card", "last-card", "first-look", "auction", "play",
	"over",
};

static const char *const unit_names[] = { "", "hill", "remise", "tricks", "most" };

/* Names and words of people, in the order of enum dealbox_actor */
static const struct {
	const char *name, *text;
} actors[] = {
	{ "N", N_("North") }, { "E", N_("East") }, { "S", N_("South") }, { "W", N_("West") },
	{ "director", N_("the Director") }, { "assistant", N_("an assistant") },
	{ "machine", N_("the machine") }, { "other", N_("another person") }, { "", "" },
};

static const struct {
	enum dealbox_option option;
	const char *name, *text;
} options[] = {
	{ DEALBOX_OPTION_REDEAL, "redeal", N_("redeal") },
	{ DEALBOX_OPTION_STANDS, "stands", N_("the deal stands") },
	{ DEALBOX_OPTION_GIVE_CARD, "give-card", N_("one card goes to the hand that lacks it") },
};

#define OPTIONS		(sizeof(options) / sizeof(options[0]))
#define ACTORS		(sizeof(actors) / sizeof(actors[0]))

/*
 * The consequence, by kind. The first matching row applies: reference is that of the ruling, or
 * NULL; needs are the fields that the ruling must have.
 */
enum { WHO = 1, PACK = 2, ANEW = 4, SEE = 8 };

static const struct {
	uint8_t kind, needs, unit;
	const char *reference;
	const char *text;
	int16_t amount;		/* 0 = any */
} outcomes[] = {
	{ DEALBOX_RULING_STANDS, 0, 0, NULL, N_("The deal stands.") },
	{ DEALBOX_RULING_MAY_RECTIFY, 0, 0, NULL,
	  N_("The dealer ({who}) may put the error right at once, before the next card, if the "
	     "other players are satisfied.") },
	{ DEALBOX_RULING_NEW_CUT, WHO, 0, NULL, N_("There must be a new cut; {who} cuts.") },
	{ DEALBOX_RULING_NEW_CUT, 0, 0, NULL, N_("The pack must be cut.") },
	{ DEALBOX_RULING_NEW_SHUFFLE, WHO, 0, NULL,
	  N_("There must be a new shuffle, followed by a cut; {who} shuffles.") },
	{ DEALBOX_RULING_NEW_SHUFFLE, 0, 0, NULL,
	  N_("There must be a new shuffle, followed by a cut.") },
	{ DEALBOX_RULING_REDEAL, WHO | PACK | ANEW, 0, NULL,
	  N_("There must be a redeal: {who} deals, with pack {pack}, shuffled and cut anew.") },
	{ DEALBOX_RULING_REDEAL, WHO | ANEW, 0, NULL,
	  N_("There must be a redeal: {who} deals, and the pack is shuffled and cut anew.") },
	{ DEALBOX_RULING_REDEAL, WHO, 0, NULL, N_("The cards must be dealt again; {who} deals.") },
	{ DEALBOX_RULING_REDEAL, ANEW, 0, NULL, N_("There must be a new shuffle and deal.") },
	{ DEALBOX_RULING_REDEAL, 0, 0, NULL, N_("The cards must be dealt again.") },
	{ DEALBOX_RULING_NEW_BOARD, 0, 0, NULL, N_("The copy must be made again.") },
	{ DEALBOX_RULING_CHANGE_OF_PACK, PACK, 0, NULL, N_("Pack {pack} must be replaced.") },
	{ DEALBOX_RULING_CHANGE_OF_PACK, 0, 0, NULL, N_("The pack must be replaced.") },
	{ DEALBOX_RULING_RESTORE_PACK, PACK, 0, NULL,
	  N_("Pack {pack} must be restored to the side to which it belonged.") },
	{ DEALBOX_RULING_RESTORE_PACK, 0, 0, NULL,
	  N_("The pack must be restored to the side to which it belonged.") },
	{ DEALBOX_RULING_RESULT_CANCELLED, 0, 0, NULL,
	  N_("No result of this board may stand; it is cancelled.") },
	{ DEALBOX_RULING_PENALTY, 0, DEALBOX_UNIT_HILL, NULL,
	  N_("Penalty: {n} on the hill ({who}).") },
	{ DEALBOX_RULING_PENALTY, 0, DEALBOX_UNIT_REMISE, NULL,
	  N_("Penalty: the agreed remise, {n} on the hill ({who}).") },
	{ DEALBOX_RULING_PENALTY, 0, DEALBOX_UNIT_TRICKS, NULL,
	  N_("Penalty: he must take all ten tricks ({who}); his partners divide the whists and "
	     "write one each in the pool, as though they had taken no trick."),
	  10 },
	{ DEALBOX_RULING_PENALTY, 0, DEALBOX_UNIT_TRICKS, NULL,
	  N_("Penalty: he must take the first two tricks, which begin with a card of the talon "
	     "that he saw ({who}).") },
	{ DEALBOX_RULING_PENALTY, 0, DEALBOX_UNIT_MOST, NULL,
	  N_("Penalty: the most that the player could win in this game ({who}).") },
	{ DEALBOX_RULING_NO_PENALTY, 0, 0, NULL, N_("There is no penalty.") },
	{ DEALBOX_RULING_WARNING, 0, 0, NULL, N_("The dealer ({who}) is warned.") },
	{ DEALBOX_RULING_TURN_PASSES, 0, 0, NULL,
	  N_("The deal passes to the next player ({who}).") },
	{ DEALBOX_RULING_NEXT_DEALER, 0, 0, NULL,
	  N_("Next deals {who}, as though the deal had been in turn.") },
	{ DEALBOX_RULING_RESTORE_CARD, 0, 0, "3.2.20",
	  N_("The player ({who}) mixes his twelve cards, "
	     "and the dealer draws two of them for the talon.") },
	{ DEALBOX_RULING_RESTORE_CARD, 0, 0, "11(b)",
	  N_("The card is restored to the hand ({who}), as though it had always been there; it may "
	     "become a penalty card.") },
	{ DEALBOX_RULING_RESTORE_CARD, 0, 0, NULL,
	  N_("The surplus card is restored to its proper place.") },
	{ DEALBOX_RULING_SUBSTITUTE_CARD, 0, 0, NULL,
	  N_("The offender ({who}) must substitute a card that he can legally play, of the same "
	     "suit if possible; his side may lose a trick by it, but not win one.") },
	{ DEALBOX_RULING_RIGHT_FORFEITED, 0, 0, NULL,
	  N_("The player ({who}) has forfeited his rights to a change of pack or a redeal that are "
	     "marked with an asterisk.") },
	{ DEALBOX_RULING_CLAIM_TOO_LATE, 0, 0, NULL, N_("The claim comes too late.") },
	{ DEALBOX_RULING_DIRECTOR_DECIDES, 0, 0, NULL, N_("The Director decides: {options}.") },
	{ DEALBOX_RULING_PLAYERS_CHOOSE, WHO, 0, NULL,
	  N_("The player ({who}) chooses: {options}.") },
	{ DEALBOX_RULING_PLAYERS_CHOOSE, 0, 0, NULL,
	  N_("It is for the players to choose: {options}.") },
	{ DEALBOX_RULING_ENTITLED, 0, 0, "12(b)(ii)",
	  N_("Either member of the other side may, without penalty, withdraw a play made since, "
	     "and substitute another.") },
	{ DEALBOX_RULING_ENTITLED, 0, 0, NULL,
	  N_("The player ({who}) takes the talon and names the contract.") },
	{ DEALBOX_RULING_BARRED, 0, 0, NULL,
	  N_("The player ({who}) may not take part in the bidding.") },
	{ DEALBOX_RULING_COMPENSATION, 0, 0, NULL,
	  N_("The dealer ({who}) makes good all damage and lost profit.") },
	{ DEALBOX_RULING_BREACH, 0, 0, NULL,
	  N_("This is against the rules; the text names no consequence.") },
	{ DEALBOX_RULING_OTHER_LAW, SEE, 0, NULL, N_("These Laws apply: {see}.") },
	{ DEALBOX_RULING_OTHER_LAW, 0, 0, NULL, N_("What applies is laid down elsewhere.") },
	{ DEALBOX_RULING_NO_RIGHT, 0, 0, NULL,
	  N_("The text gives this person no such right ({who}).") },
	{ DEALBOX_RULING_NO_RULING, 0, 0, NULL, N_("The text has no ruling on this.") },
};

const char *dealbox_ruling_kind_name(enum dealbox_ruling_kind kind)
{
	return (unsigned int)kind < DEALBOX_RULING_KINDS ? kind_names[kind] : "?";
}

const char *dealbox_until_name(enum dealbox_until until)
{
	return (unsigned int)until < DEALBOX_UNTILS ? until_names[until] : "?";
}

const char *dealbox_unit_name(enum dealbox_unit unit)
{
	return (unsigned int)unit < sizeof(unit_names) / sizeof(unit_names[0]) ?
		unit_names[unit] : "?";
}

const char *dealbox_actor_name(enum dealbox_actor actor)
{
	return (unsigned int)actor < ACTORS ? actors[actor].name : "?";
}

const char *dealbox_option_name(enum dealbox_option option)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].option == option)
			return options[i].name;
	return "?";
}

/* ---- text that may be cut off: counts what it would have had ---- */

struct text {
	char *at;
	size_t size, length;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *text, const char *format, ...)
{
	size_t room = text->length < text->size ? text->size - text->length : 0;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(room ? text->at + text->length : NULL, room, format, list);
	va_end(list);
	if (n > 0)
		text->length += n;
}

size_t dealbox_ruling_format(const struct dealbox_ruling *r, char *text, size_t size)
{
	struct text t = { text, size, 0 };
	const char *sep = "";

	add(&t, "%s %s", dealbox_ruling_kind_name(r->kind), r->reference);
	if (r->who < DEALBOX_ACTOR_NONE)
		add(&t, " who=%s", dealbox_actor_name(r->who));
	if (r->pack)
		add(&t, " pack=%s", r->pack);
	if (r->shuffle || r->cut)
		add(&t, " anew=%s%s%s", r->shuffle ? "shuffle" : "",
		    r->shuffle && r->cut ? "," : "", r->cut ? "cut" : "");
	if (r->until)
		add(&t, " until=%s", dealbox_until_name(r->until));
	if (r->unit == DEALBOX_UNIT_MOST)
		add(&t, " amount=most");
	else if (r->unit)
		add(&t, " amount=%d,%s", r->amount, dealbox_unit_name(r->unit));
	if (r->options) {
		add(&t, " options=");
		for (size_t i = 0; i < OPTIONS; i++)
			if (r->options & options[i].option) {
				add(&t, "%s%s", sep, options[i].name);
				sep = ",";
			}
	}
	if (r->see) {
		add(&t, " see=");
		for (const char *c = r->see; *c; c++)
			if (*c != ' ')
				add(&t, "%c", *c);
	}
	return t.length;
}

static const char *outcome(const struct dealbox_ruling *r)
{
	unsigned int has = (r->who < DEALBOX_ACTOR_NONE ? WHO : 0) | (r->pack ? PACK : 0) |
			   (r->shuffle || r->cut ? ANEW : 0) | (r->see ? SEE : 0);

	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		if (outcomes[i].kind == r->kind && !(outcomes[i].needs & ~has) &&
		    (!outcomes[i].unit || outcomes[i].unit == r->unit) &&
		    (!outcomes[i].amount || outcomes[i].amount == r->amount) &&
		    (!outcomes[i].reference || !strcmp(outcomes[i].reference, r->reference)))
			return outcomes[i].text;
	return "";
}

/*
 * Writes a paragraph as the text in that language cites it: "§ 16C" in Norwegian, "16Γ" in Greek.
 * Those of preferans are numbers everywhere.
 */
static void add_references(struct text *t, const struct dealbox_ruling *r, const char *language)
{
	static const char *const greek[] = { "Α", "Β", "Γ", "Δ", "Ε", "ΣΤ" };
	bool is_greek = language && !strcmp(language, "el");
	const char *mark = language && !strcmp(language, "nb") &&
			   r->rules != DEALBOX_RULES_PREFERANS ? "§ " : "";

	add(t, "%s", mark);
	for (const char *c = r->see; *c; c++) {
		if (is_greek && *c >= 'A' && *c <= 'F')
			add(t, "%s", greek[*c - 'A']);
		else
			add(t, "%c%s", *c, *c == ' ' ? mark : "");
	}
}

static void add_field(struct text *t, const struct dealbox_ruling *r, const char *language,
		      const char *name, size_t length)
{
	const char *sep = "";

	if (!strncmp(name, "who", length)) {
		if (r->who < ACTORS)
			add(t, "%s", r->who < DEALBOX_ACTOR_NONE ?
			    dealbox_law_translate(language, actors[r->who].text) : "-");
	} else if (!strncmp(name, "pack", length)) {
		add(t, "%s", r->pack ? r->pack : "-");
	} else if (!strncmp(name, "see", length)) {
		add_references(t, r, language);
	} else if (!strncmp(name, "n", length)) {
		add(t, "%d", r->amount);
	} else if (!strncmp(name, "options", length)) {
		for (size_t i = 0; i < OPTIONS; i++)
			if (r->options & options[i].option) {
				add(t, "%s%s", sep,
				    dealbox_law_translate(language, options[i].text));
				sep = " / ";
			}
	}
}

size_t dealbox_ruling_text(const struct dealbox_ruling *r, const char *language,
			   char *text, size_t size)
{
	struct text t = { text, size, 0 };
	const char *c = dealbox_law_translate(language, outcome(r));

	if (size)
		*text = 0;
	if (r->cause)
		add(&t, "%s ", dealbox_law_translate(language, r->cause));
	while (*c) {
		const char *end = *c == '{' ? strchr(c, '}') : NULL;

		if (end) {
			add_field(&t, r, language, c + 1, end - c - 1);
			c = end + 1;
		} else {
			size_t n = 1 + strcspn(c + 1, "{");

			add(&t, "%.*s", (int)n, c);
			c += n;
		}
	}
	if (r->see && r->kind != DEALBOX_RULING_OTHER_LAW) {
		add(&t, " %s ", dealbox_law_translate(language, N_("See also:")));
		add_references(&t, r, language);
		add(&t, ".");
	}
	return t.length;
}
