// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The judge: goes through a record once, keeps what the laws need to know of the
 * current deal, and gives rulings.
 *
 * An irregularity is first raised (it is a fact), then noticed (somebody draws
 * attention to it); rows[] says what follows, and until when. What does not
 * follow that pattern is code in the handler of its verb.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "messages.h"
#include "record.h"

#define PACKS_MAX	8
#define NOBODY		DEALBOX_ACTOR_NONE
#define SEATS		4

#define D07	(1u << DEALBOX_RULES_DUPLICATE_2007)
#define D17	(1u << DEALBOX_RULES_DUPLICATE_2017)
#define RUB	(1u << DEALBOX_RULES_RUBBER)
#define PRE	(1u << DEALBOX_RULES_PREFERANS)
#define DUP	(D07 | D17)
#define ALL	(DUP | RUB | PRE)

#define MARK(m)		(1u << DEALBOX_MARK_##m)

/* ---- irregularities, and what follows from them ---- */

enum issue {
	I_FACEUP, I_FACEUP_OTHER, I_FACEUP_CUT, I_FACEUP_PACK,
	I_COUNT, I_PACKET, I_ORDER, I_ADJACENT, I_TALON, I_TALON_PLACE, I_POCKET, I_MISDEAL,
	I_TURN, I_UNCUT, I_UNSHUFFLED, I_SEEN, I_WRONG_HAND,
	I_DAMAGED, I_NONCONFORMING, I_SHORT_PACK, I_SHUFFLE, I_MANNER,
	ISSUES
};

static const char *const issue_cause[ISSUES] = {
	[I_FACEUP] = N_("A card was turned face up in dealing."),
	[I_FACEUP_OTHER] = N_("A card was turned face up in dealing, by another than the dealer."),
	[I_FACEUP_CUT] = N_("A card was turned face up in cutting."),
	[I_FACEUP_PACK] = N_("A card is face up in the pack or elsewhere."),
	[I_COUNT] = N_("The hands do not have the right number of cards."),
	[I_PACKET] = N_("The wrong number of cards was dealt at a time."),
	[I_ORDER] = N_("The cards were not dealt in the right order."),
	[I_ADJACENT] = N_("Two adjacent cards of the deck were dealt into the same hand."),
	[I_TALON] = N_("The talon was not laid as it must be."),
	[I_TALON_PLACE] = N_("The talon was not laid as the fourth pair."),
	[I_POCKET] = N_("The hands were not placed in the pockets as they must be."),
	[I_MISDEAL] = N_("The cards were not dealt correctly."),
	[I_TURN] = N_("The cards are being dealt out of turn."),
	[I_UNCUT] = N_("The pack was dealt without a cut."),
	[I_UNSHUFFLED] = N_("The pack was dealt without a shuffle."),
	[I_SEEN] = N_("During the shuffle and deal a player could have seen a card of another player."),
	[I_WRONG_HAND] = N_("A player picked up another player's hand and saw a card in it."),
	[I_DAMAGED] = N_("The pack contains a card that may be known from its back."),
	[I_NONCONFORMING] = N_("The pack is not as it must be."),
	[I_SHORT_PACK] = N_("Cards are missing from the pack."),
	[I_SHUFFLE] = N_("The pack was shuffled after the cut."),
	[I_MANNER] = N_("The dealer broke the rules of dealing."),
};

struct row {
	uint8_t rules;
	uint8_t issue;
	uint16_t closes;	/* marks at which the claim becomes too late */
	bool starred;		/* lost by a player who looked at a card too early */
	bool demanded;		/* attention alone is not enough */
	uint8_t kind;		/* in time */
	const char *reference, *see;
	uint8_t late;		/* too late */
	const char *late_reference, *late_see;
};

static const struct row rows[] = {
#define CLOSED DEALBOX_CLAIM_TOO_LATE
	/* Duplicate: until the auction begins */
#define INCORRECT(i) \
	{ D07, i, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "6D1", NULL, \
	  DEALBOX_RESULT_CANCELLED, "6D1", NULL }, \
	{ D17, i, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "6D1", NULL, CLOSED, "6D1", NULL }
	INCORRECT(I_FACEUP), INCORRECT(I_FACEUP_OTHER), INCORRECT(I_COUNT), INCORRECT(I_PACKET),
	INCORRECT(I_ADJACENT), INCORRECT(I_POCKET), INCORRECT(I_MISDEAL),
	INCORRECT(I_FACEUP_PACK),
#undef INCORRECT
	{ D07, I_SEEN, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "6D1", NULL,
	  DEALBOX_OTHER_LAW, "6D1", "16C, 24" },
	{ D17, I_SEEN, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "6D1", NULL,
	  DEALBOX_OTHER_LAW, "6D1", "16D, 24" },
	/* .. but the director's power has no such end */
	{ DUP, I_UNSHUFFLED, 0, 0, 0, DEALBOX_DIRECTOR_DECIDES, "6D3", "6A" },
	{ DUP, I_UNCUT, 0, 0, 0, DEALBOX_DIRECTOR_DECIDES, "6D3", "6A" },

	/* Rubber: Law 10, and its asterisks */
#define UNTIL_LAST(i, ref) \
	{ RUB, i, MARK(LAST_CARD), 0, 0, DEALBOX_REDEAL, ref, "6(e)", CLOSED, ref, NULL }
	UNTIL_LAST(I_FACEUP, "10(a)(i)"), UNTIL_LAST(I_FACEUP_OTHER, "10(a)(i)"),
	UNTIL_LAST(I_FACEUP_PACK, "10(a)(i)"),
#undef UNTIL_LAST
#define MISDEALT(i) \
	{ RUB, i, MARK(LAST_CARD), 1, 0, DEALBOX_REDEAL, "10(a)(ii)", "6(e)", \
	  CLOSED, "10(a)(ii)", NULL }
	MISDEALT(I_COUNT), MISDEALT(I_PACKET), MISDEALT(I_ORDER), MISDEALT(I_MISDEAL),
#undef MISDEALT
	{ RUB, I_TURN, MARK(LAST_CARD), 1, 1, DEALBOX_REDEAL, "10(a)(iii)", "6(e)",
	  CLOSED, "9", "10(a)(iii)" },
	{ RUB, I_UNSHUFFLED, MARK(LAST_CARD), 1, 1, DEALBOX_REDEAL, "10(a)(iii)", "6(e)",
	  CLOSED, "10(a)(iii)", NULL },
	{ RUB, I_UNCUT, MARK(LAST_CARD), 1, 1, DEALBOX_REDEAL, "10(a)(iii)", "6(e)",
	  CLOSED, "10(a)(iii)", NULL },
	{ RUB, I_WRONG_HAND, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "10(b)", "6(e)",
	  CLOSED, "10(b)", NULL },
	{ RUB, I_NONCONFORMING, MARK(OVER), 0, 0, DEALBOX_REDEAL, "10(c)(i)", "6(e), 1",
	  CLOSED, "10(c)(i)", NULL },
	{ RUB, I_DAMAGED, MARK(LAST_CARD), 1, 0, DEALBOX_CHANGE_OF_PACK, "7", NULL,
	  CLOSED, "7", NULL },

	/* Preferans */
	{ PRE, I_FACEUP, 0, 0, 0, DEALBOX_REDEAL, "3.2.12", "3.2.15(1)" },
	{ PRE, I_FACEUP_OTHER, 0, 0, 0, DEALBOX_REDEAL, "3.2.15(1)", NULL },
	{ PRE, I_FACEUP_CUT, 0, 0, 0, DEALBOX_REDEAL, "3.2.15(1)", NULL },
	{ PRE, I_FACEUP_PACK, 0, 0, 0, DEALBOX_REDEAL, "3.2.15(1)", NULL },
	{ PRE, I_SHORT_PACK, 0, 0, 0, DEALBOX_REDEAL, "3.2.15(2)", NULL },
	{ PRE, I_UNCUT, MARK(LAST_CARD) | MARK(LOOK), 0, 0, DEALBOX_REDEAL, "3.2.15(3)", "3.2.18",
	  CLOSED, "3.2.15(3)", "3.2.18" },
	{ PRE, I_TURN, MARK(LOOK), 0, 0, DEALBOX_REDEAL, "3.2.14", "3.2.15(4), 3.2.18",
	  CLOSED, "3.2.18", "3.2.14" },
	{ PRE, I_COUNT, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "3.2.13", "3.2.15(6)",
	  CLOSED, "3.2.13", "3.2.16, 3.2.23" },
	{ PRE, I_PACKET, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "3.2.13", "3.2.15(5)",
	  CLOSED, "3.2.13", NULL },
	{ PRE, I_ORDER, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "3.2.13", "3.2.15(5)",
	  CLOSED, "3.2.13", NULL },
	{ PRE, I_TALON, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "3.2.15(5)", "3.2.13",
	  CLOSED, "3.2.13", NULL },
	{ PRE, I_TALON_PLACE, MARK(AUCTION), 0, 0, DEALBOX_PLAYERS_CHOOSE, "3.2.15(5)", "3.2.13",
	  CLOSED, "3.2.13", NULL },
	{ PRE, I_MISDEAL, MARK(AUCTION), 0, 0, DEALBOX_REDEAL, "3.2.13", NULL,
	  CLOSED, "3.2.13", NULL },
	/* what follows is the warning or the penalty of 3.2.17 */
	{ PRE, I_SHUFFLE, MARK(LAST_CARD), 0, 0, DEALBOX_WARNING, "3.2.17", "3.2.18",
	  CLOSED, "3.2.18", NULL },
	{ PRE, I_MANNER, MARK(LAST_CARD), 0, 0, DEALBOX_WARNING, "3.2.17", "3.2.18",
	  CLOSED, "3.2.18", NULL },
#undef CLOSED
};

/* Irregularities by which the dealer breaks the rules of dealing (3.2.17) */
#define BIT(i)		(1u << (i))
#define DEALER_FAULTS	(BIT(I_PACKET) | BIT(I_ORDER) | BIT(I_TALON) | BIT(I_UNCUT) | \
			 BIT(I_SHUFFLE) | BIT(I_MANNER))

#define MISDEALS	(BIT(I_COUNT) | BIT(I_PACKET) | BIT(I_ORDER) | BIT(I_ADJACENT) | \
			 BIT(I_TALON) | BIT(I_TALON_PLACE) | BIT(I_POCKET) | BIT(I_MISDEAL))
#define FACEUPS		(BIT(I_FACEUP) | BIT(I_FACEUP_OTHER) | BIT(I_FACEUP_CUT) | \
			 BIT(I_FACEUP_PACK))

/*
 * What a word after notes is about. fact: the notice is the fact, when the record
 * tells of no such happening before; otherwise only in a record that does not tell how
 * the cards were dealt.
 */
static const struct {
	uint32_t issues;
	uint8_t issue;		/* which is raised */
	bool fact;
} notable[LAW_TOPICS] = {
	[T_FACEUP] = { FACEUPS, I_FACEUP_PACK, true },
	[T_MISDEAL] = { MISDEALS, I_MISDEAL, false },
	[T_TURN] = { BIT(I_TURN), I_TURN, false },
	[T_UNCUT] = { BIT(I_UNCUT), I_UNCUT, false },
	[T_UNSHUFFLED] = { BIT(I_UNSHUFFLED), I_UNSHUFFLED, false },
	[T_SEEN] = { BIT(I_SEEN), I_SEEN, true },
	[T_WRONG_HAND] = { BIT(I_WRONG_HAND), I_WRONG_HAND, false },
	[T_DAMAGED] = { BIT(I_DAMAGED), I_DAMAGED, true },
	[T_NONCONFORMING] = { BIT(I_NONCONFORMING), I_NONCONFORMING, true },
	[T_SHORT_PACK] = { BIT(I_SHORT_PACK), I_SHORT_PACK, true },
	[T_SHUFFLE] = { BIT(I_SHUFFLE), I_SHUFFLE, false },
	[T_MANNER] = { BIT(I_MANNER), I_MANNER, true },
};

/* ---- what the judge knows ---- */

struct pack {
	char name[DEALBOX_PACK_NAME];
	uint8_t side;			/* 0 NS, 1 EW, 255 nobody's */
	uint8_t cards;
	bool sorted, played;		/* its prior condition */
	bool shuffled, cut;
	bool replaced;			/* a change of pack was ruled */
	const char *only_dealer;	/* paragraph by which only the dealer shuffles, or NULL */
};

struct deal {
	unsigned long mark[DEALBOX_MARKS];	/* line, 0 = not yet */
	unsigned long issue[ISSUES];		/* line, 0 = not raised */
	unsigned long issue_last;		/* line of the last issue raised */
	unsigned long misdeal_last;		/* .. of the last error in dealing */
	bool told;			/* the record tells how the cards were dealt */
	bool again;			/* this is a redeal */
	uint8_t dealer;			/* who picked up the pack or deals */
	uint8_t pack;
	/* dealing */
	uint8_t dealt, packets, last, next;
	uint8_t hand[DEALBOX_PLACES];
	uint8_t pocketed;
	/* an error that may be rectified at once (rubber) */
	struct {
		bool open, done;
		bool order;		/* a player was left out, or two cards in a row */
		uint32_t raised;	/* the issues that it raised */
		uint8_t from, to, last;
		unsigned long line;
	} error;
	/* the players */
	unsigned long forfeited[SEATS];
	unsigned long taken[SEATS][SEATS];	/* whose hand who took */
	unsigned long called[SEATS];
	unsigned long barred[SEATS];		/* from the bidding */
	unsigned long talon_seen[SEATS];
	unsigned long over, under;		/* too many, too few cards found */
	unsigned long claim;			/* a redeal was claimed */
	unsigned long redeal;			/* a redeal was ruled */
	uint32_t redeal_for;			/* the issues it was ruled for; 0 = something else */
	unsigned long attention[ISSUES];	/* drawn in time, without the demand that it needs */
	struct { uint8_t hand, cards; bool wrong; unsigned long line; } silent[SEATS];
	uint8_t plays[SEATS];
	uint8_t highest, bought;
	uint8_t passes;				/* 3.2.17: to whom the deal passes */
	uint8_t intent, interests;		/* topics */
	unsigned long intent_line, interests_line;
	/* duplicate */
	bool cut_wanted;
	unsigned long cut_wanted_line;
	bool absent_told;
	bool unauthorised;			/* dealt by somebody who was not to deal */
};

struct dealbox_judge {
	dealbox_ruling_fn report;
	void *context;
	struct dealbox_record_error error;
	bool failed;
	unsigned long line;
	uint64_t time_ms;
	const struct dealbox_ruleset *rules;	/* NULL before the first line */
	struct pack packs[PACKS_MAX];
	uint8_t pack_count;
	uint8_t players;			/* mask of seats */
	bool begun;				/* a deal has begun */
	uint8_t turn;				/* whose turn it is to deal; NOBODY = not known */
	uint8_t last_pack;			/* of the deal before; 255 = none */
	/* preferans */
	bool talon_anywhere;
	int16_t remise;
	uint8_t faults[SEATS];			/* a dealer's errors */
	/* duplicate */
	unsigned long replay, at_table, agents, method, biased, absence, copies;
	uint8_t present;
	unsigned long present_line;
	struct deal d;
};

__attribute__((format(printf, 2, 3)))
static int fail(struct dealbox_judge *j, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(j->error.text, sizeof(j->error.text), format, list);
	va_end(list);
	return -EINVAL;
}

static bool is(const struct dealbox_judge *j, unsigned int rules)
{
	return 1u << j->rules->rules & rules;
}

static bool seat(uint8_t who)
{
	return who < SEATS;
}

/* The next player clockwise. */
static uint8_t left(const struct dealbox_judge *j, uint8_t who)
{
	if (!seat(who))
		return NOBODY;
	do {
		who = (who + 1) % SEATS;
	} while (!(j->players & 1u << who));
	return who;
}

static uint8_t right(const struct dealbox_judge *j, uint8_t who)
{
	if (!seat(who))
		return NOBODY;
	do {
		who = (who + SEATS - 1) % SEATS;
	} while (!(j->players & 1u << who));
	return who;
}

/* Four players of preferans: the dealer gets no cards. */
static bool gets_cards(const struct dealbox_judge *j, uint8_t who)
{
	return seat(who) && j->players & 1u << who &&
	       !(is(j, PRE) && j->players == 0xf && who == j->d.dealer);
}

static uint8_t next_hand(const struct dealbox_judge *j, uint8_t who)
{
	uint8_t hand = left(j, who);

	while (seat(hand) && !gets_cards(j, hand))
		hand = left(j, hand);
	return hand;
}

/* Who deals this time, as far as it is known. */
static uint8_t dealer(const struct dealbox_judge *j)
{
	return j->d.dealer != NOBODY ? j->d.dealer : j->turn;
}

/* ---- giving rulings ---- */

static struct dealbox_ruling ruling(enum dealbox_ruling_kind kind, const char *reference,
				    const char *cause)
{
	return (struct dealbox_ruling){
		.kind = kind, .reference = reference, .cause = cause, .who = NOBODY,
	};
}

/* Adds a line that the ruling rests on, in order; what is 0 or there already is left out. */
static void rest_on(struct dealbox_ruling *r, unsigned long line)
{
	int at = 0;

	while (at < r->fact_count && r->facts[at] < line)
		at++;
	if (!line || (at < r->fact_count && r->facts[at] == line) ||
	    r->fact_count == DEALBOX_RULING_FACTS)
		return;
	memmove(&r->facts[at + 1], &r->facts[at], (r->fact_count - at) * sizeof(r->facts[0]));
	r->facts[at] = line;
	r->fact_count++;
}

static void give(struct dealbox_judge *j, struct dealbox_ruling *r)
{
	r->rules = j->rules->rules;
	r->line = j->line;
	if (r->fact_count == DEALBOX_RULING_FACTS)
		r->fact_count--;	/* the line itself is always among them */
	rest_on(r, j->line);
	if (r->kind == DEALBOX_REDEAL) {
		j->d.redeal = j->line;
		j->d.redeal_for = 0;
	}
	j->report(r, j->context);
}

static void tell(struct dealbox_judge *j, enum dealbox_ruling_kind kind, const char *reference,
		 uint8_t who, unsigned long fact, const char *cause)
{
	struct dealbox_ruling r = ruling(kind, reference, cause);

	r.who = who;
	rest_on(&r, fact);
	give(j, &r);
}

/* Who deals when this deal is dealt again. */
static uint8_t redealer(const struct dealbox_judge *j)
{
	if (j->d.passes != NOBODY)
		return j->d.passes;
	return j->d.issue[I_TURN] ? j->turn : dealer(j);
}

/* Who deals again, with which pack, and what is done anew. */
static void fill_redeal(const struct dealbox_judge *j, struct dealbox_ruling *r)
{
	const struct pack *pack = &j->packs[j->d.pack];

	if (is(j, DUP)) {
		r->shuffle = true;
		return;
	}
	r->who = redealer(j);
	if (is(j, PRE))
		return;
	r->shuffle = r->cut = true;
	if (pack->replaced)
		pack = j->pack_count == 2 ? &j->packs[!j->d.pack] : NULL;
	r->pack = pack && *pack->name ? pack->name : NULL;
}

static void redeal(struct dealbox_judge *j, const char *reference, const char *see,
		   unsigned long fact, unsigned long fact2, const char *cause)
{
	struct dealbox_ruling r = ruling(DEALBOX_REDEAL, reference, cause);

	r.see = see;
	rest_on(&r, fact);
	rest_on(&r, fact2);
	fill_redeal(j, &r);
	give(j, &r);
}

/* ---- irregularities ---- */

static const struct row *row_find(const struct dealbox_judge *j, enum issue issue)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].issue == issue && is(j, rows[i].rules))
			return &rows[i];
	return NULL;
}

/* The paragraph on what is no irregularity by the record. */
static const char *main_paragraph(const struct dealbox_judge *j)
{
	return is(j, DUP) ? "6D1" : is(j, RUB) ? "10" : "3.2.15";
}

static void raise_issue(struct dealbox_judge *j, enum issue issue)
{
	/* a method that the director required takes the place of 6B */
	if (is(j, DUP) && j->method && (BIT(issue) & (BIT(I_PACKET) | BIT(I_ADJACENT))))
		return;
	if (!row_find(j, issue))
		return;
	if (!j->d.issue[issue])
		j->d.issue[issue] = j->line;
	j->d.issue_last = j->line;
	if (BIT(issue) & MISDEALS)
		j->d.misdeal_last = j->line;
}

/* 3.2.17: the first error of a dealer is a warning, the next costs him. */
static void dealer_fault(struct dealbox_judge *j, unsigned long fact, const char *cause)
{
	uint8_t who = dealer(j);
	struct dealbox_ruling r = ruling(DEALBOX_WARNING, "3.2.17", cause);

	if (!seat(who))
		return;
	r.who = who;
	rest_on(&r, fact);
	if (!j->faults[who]++) {
		give(j, &r);
		return;
	}
	r.kind = DEALBOX_PENALTY;
	r.unit = DEALBOX_UNIT_REMISE;
	r.amount = j->remise;
	give(j, &r);
	j->d.passes = left(j, who);
	tell(j, DEALBOX_TURN_PASSES, "3.2.17", j->d.passes, fact, cause);
}

/* The line at which the window of a row closed; 0 = it has not. */
static unsigned long closed(const struct dealbox_judge *j, const struct row *row)
{
	unsigned long line = 0;

	for (int m = 0; m < DEALBOX_MARKS; m++)
		if (row->closes & 1u << m && j->d.mark[m] && (!line || j->d.mark[m] < line))
			line = j->d.mark[m];
	return line;
}

/*
 * Attention is drawn to the issues in mask (all of one kind), by who; NOBODY: everybody
 * saw it. The first of them in the order of enum issue decides.
 */
static void notice(struct dealbox_judge *j, uint32_t mask, uint8_t who, bool demand)
{
	enum issue issue = __builtin_ctz(mask);
	const struct row *row = row_find(j, issue);
	struct dealbox_ruling r;
	bool starred;
	unsigned long fact = j->d.issue[issue];

	if (!row) {
		tell(j, DEALBOX_NO_RULING, main_paragraph(j), NOBODY, 0, issue_cause[issue]);
		return;
	}
	r = ruling(row->kind, row->reference, issue_cause[issue]);
	r.see = row->see;
	for (int i = 0; i < ISSUES; i++)
		if (mask & BIT(i))
			rest_on(&r, j->d.issue[i]);
	starred = row->starred && seat(who) && j->d.forfeited[who];
	if (starred)
		rest_on(&r, j->d.forfeited[who]);
	if (closed(j, row) && !(demand && row->demanded && j->d.attention[issue])) {
		rest_on(&r, closed(j, row));
		r.kind = row->late;
		r.reference = row->late_reference;
		r.see = row->late_see;
		give(j, &r);
		return;
	}
	if (starred) {
		r.kind = DEALBOX_RIGHT_FORFEITED;
		r.see = row->reference;
		r.reference = "8";
		r.who = who;
		give(j, &r);
		return;
	}
	if (row->demanded && !demand) {
		j->d.attention[issue] = j->line;
		r.kind = DEALBOX_PLAYERS_CHOOSE;
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
		give(j, &r);
		return;
	}
	if (is(j, PRE) && mask & DEALER_FAULTS) {
		if (row->kind == DEALBOX_REDEAL) {
			/* whom the turn passes to is known after the fault */
			dealer_fault(j, fact, issue_cause[__builtin_ctz(mask & DEALER_FAULTS)]);
		} else if (row->kind == DEALBOX_WARNING) {
			dealer_fault(j, fact, issue_cause[issue]);
			return;
		}
	}
	switch (row->kind) {
	case DEALBOX_REDEAL:
		if (j->copies) {
			/* copies were ordered: normally no redeal, but the director may */
			r.kind = DEALBOX_DIRECTOR_DECIDES;
			r.see = r.reference;
			r.reference = "6F";
			r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
			rest_on(&r, j->copies);
			break;
		}
		fill_redeal(j, &r);
		break;
	case DEALBOX_DIRECTOR_DECIDES:
	case DEALBOX_PLAYERS_CHOOSE:
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
		break;
	case DEALBOX_CHANGE_OF_PACK:
		r.pack = *j->packs[j->d.pack].name ? j->packs[j->d.pack].name : NULL;
		break;
	default:
		break;
	}
	give(j, &r);
	if (r.kind == DEALBOX_REDEAL)
		j->d.redeal_for = mask;
}

/* Which of the issues in mask have been raised. */
static uint32_t raised(const struct dealbox_judge *j, uint32_t mask)
{
	uint32_t found = 0;

	for (int i = 0; i < ISSUES; i++)
		if (mask & BIT(i) && j->d.issue[i])
			found |= BIT(i);
	return found;
}

static void mark(struct dealbox_judge *j, enum dealbox_mark mark)
{
	if (!j->d.mark[mark])
		j->d.mark[mark] = j->line;
}

/* ---- deals ---- */

static void deal_new(struct dealbox_judge *j)
{
	j->d = (struct deal){
		.dealer = NOBODY, .last = NOBODY, .next = NOBODY,
		.highest = NOBODY, .bought = NOBODY, .passes = NOBODY,
	};
	j->begun = true;
	if (j->pack_count == 2 && j->last_pack < 2)
		j->d.pack = !j->last_pack;
	else if (j->last_pack < j->pack_count)
		j->d.pack = j->last_pack;
}

static void deal_begin(struct dealbox_judge *j)
{
	if (!j->begun)
		deal_new(j);
}

/* The cards of a pack that was dealt are in no new order. */
static void pack_used(struct dealbox_judge *j)
{
	struct pack *pack = &j->packs[j->d.pack];

	if (!j->d.mark[DEALBOX_MARK_FIRST_CARD])
		return;
	j->last_pack = j->d.pack;
	pack->shuffled = pack->cut = false;
	pack->only_dealer = NULL;
}

static int pack_find(struct dealbox_judge *j, const struct dealbox_happening *h, uint8_t *out)
{
	if (!*h->pack) {
		*out = j->d.pack;
		return 0;
	}
	for (int i = 0; i < j->pack_count; i++)
		if (!strcmp(j->packs[i].name, h->pack)) {
			*out = i;
			return 0;
		}
	return fail(j, "there is no pack \"%s\" so far: write \"pack %s\" before", h->pack, h->pack);
}

static int hand_check(struct dealbox_judge *j, uint8_t place)
{
	if (place == DEALBOX_TALON)
		return is(j, PRE) ? 0 : fail(j, "there is no talon in %s", j->rules->name);
	if (!(j->players & 1u << place))
		return fail(j, "%s does not play: see players", dealbox_actor_name(place));
	return 0;
}

/* The hand named, or else the actor's own. */
static uint8_t hand_of(const struct dealbox_happening *h)
{
	return h->places ? __builtin_ctz(h->places) : seat(h->actor) ? h->actor : NOBODY;
}

/* ---- handlers: what is so ---- */

typedef const struct dealbox_happening happening;

static int on_rules(struct dealbox_judge *j, happening *h)
{
	if (j->rules)
		return fail(j, "rules stands once, as the first line");
	j->rules = dealbox_ruleset(h->topic - T_DUPLICATE_2007);
	j->players = j->rules->hands == 3 ? 0x7 : 0xf;
	return 0;
}

static int on_rubber(struct dealbox_judge *j, happening *h)
{
	(void)h;
	if (j->begun)
		pack_used(j);
	deal_new(j);
	j->begun = false;
	j->turn = NOBODY;
	return 0;
}

static int on_players(struct dealbox_judge *j, happening *h)
{
	if (j->begun)
		return fail(j, "players stands before the first deal");
	if (h->places & 1u << DEALBOX_TALON)
		return fail(j, "the talon is no player");
	j->players = h->places;
	return 0;
}

static int on_pack(struct dealbox_judge *j, happening *h)
{
	struct pack *pack = NULL;
	uint8_t cards = j->rules->cards;

	for (int i = 0; i < j->pack_count; i++)
		if (!strcmp(j->packs[i].name, h->pack))
			pack = &j->packs[i];
	if (!pack) {
		if (j->pack_count && !*h->pack != !*j->packs[0].name)
			return fail(j, "where there is more than one pack, each needs a name, "
				       "before the first is used");
		if (j->pack_count == PACKS_MAX)
			return fail(j, "more than %d packs", PACKS_MAX);
		pack = &j->packs[j->pack_count++];
		memcpy(pack->name, h->pack, sizeof(pack->name));
		pack->side = 255;
		pack->cards = cards;
	}
	if (h->flags & FLAG(F_SORTED) && h->flags & FLAG(F_PLAYED))
		return fail(j, "a pack is sorted or played, not both");
	if (h->number[0] >= 0) {
		if (!h->number[0] || h->number[0] > 54)
			return fail(j, "a pack has 1 to 54 cards");
		pack->cards = h->number[0];
	}
	if (h->seat < 2)
		pack->side = h->seat;
	pack->sorted = h->flags & FLAG(F_SORTED);
	pack->played = h->flags & FLAG(F_PLAYED);
	if (pack->sorted || pack->played)
		pack->shuffled = pack->cut = false;
	return 0;
}

static int on_turn(struct dealbox_judge *j, happening *h)
{
	uint8_t who = h->places ? (uint8_t)__builtin_ctz(h->places) : NOBODY;
	uint8_t expected = j->turn;
	bool passed = j->begun && j->d.mark[DEALBOX_MARK_FIRST_CARD] && !j->d.redeal;
	int err;

	if (who == DEALBOX_TALON)
		return fail(j, "the talon is no player");
	if (j->d.passes != NOBODY)
		expected = j->d.passes;
	else if (passed && seat(dealer(j)))
		expected = left(j, dealer(j));
	if (seat(who)) {
		err = hand_check(j, who);
		if (err)
			return err;
		if (seat(expected) && who != expected)
			return fail(j, "it is the turn of %s to deal, not of %s",
				    dealbox_actor_name(expected), dealbox_actor_name(who));
		expected = who;
	}
	if (j->begun)
		pack_used(j);
	deal_new(j);
	j->turn = expected;
	return *h->pack ? pack_find(j, h, &j->d.pack) : 0;
}

static int on_board(struct dealbox_judge *j, happening *h)
{
	if (j->begun)
		pack_used(j);
	deal_new(j);
	return *h->pack ? pack_find(j, h, &j->d.pack) : 0;
}

static int on_purpose(struct dealbox_judge *j, happening *h)
{
	j->replay = h->topic == T_REPLAY ? j->line : 0;
	return 0;
}

static int on_origin(struct dealbox_judge *j, happening *h)
{
	bool unplayed = h->flags & FLAG(F_UNPLAYED);

	if (h->topic == T_THIS_SESSION)
		return 0;
	if (h->topic == T_EXCHANGED)
		tell(j, DEALBOX_STANDS, "6D2", NOBODY, 0,
		     N_("The board was exchanged between tables of this session."));
	else if (j->replay)
		tell(j, DEALBOX_STANDS, "6D2", NOBODY, j->replay,
		     N_("The purpose of the tournament is the replay of past deals."));
	else if (is(j, D07) && unplayed)
		tell(j, DEALBOX_STANDS, "6D2", NOBODY, 0,
		     N_("The deal was not played in an earlier session."));
	else
		tell(j, DEALBOX_RESULT_CANCELLED, "6D2", NOBODY, 0,
		     is(j, D07) ? N_("The deal was played in an earlier session.") :
				  N_("The deal was imported from a different session."));
	return 0;
}

static int on_custom(struct dealbox_judge *j, happening *h)
{
	if (h->topic == T_TALON_ANYWHERE) {
		j->talon_anywhere = true;
		return 0;
	}
	if (h->number[0] < 0)
		return fail(j, "after custom remise stands how much it is");
	j->remise = h->number[0];
	return 0;
}

static int on_intent(struct dealbox_judge *j, happening *h)
{
	j->d.intent = h->topic;
	j->d.intent_line = j->line;
	return 0;
}

static int on_interests(struct dealbox_judge *j, happening *h)
{
	j->d.interests = h->topic;
	j->d.interests_line = j->line;
	return 0;
}

static int on_present(struct dealbox_judge *j, happening *h)
{
	if (h->places & 1u << DEALBOX_TALON)
		return fail(j, "the talon is no player");
	j->present = h->places;
	j->present_line = j->line;
	return 0;
}

/* ---- handlers: the pack ---- */

/* 6C: a member of each side should be there while players shuffle and deal. */
static void presence(struct dealbox_judge *j, uint8_t who)
{
	bool both = j->present & 0x5 && j->present & 0xa;

	if (!is(j, DUP) || !seat(who) || !j->present_line || both || j->absence || j->d.absent_told)
		return;
	j->d.absent_told = true;
	tell(j, DEALBOX_BREACH, "6C", NOBODY, j->present_line,
	     N_("A side has no member present during the shuffle and deal."));
}

/* Who prepares this pack: for this deal, or while it is dealt for the next one. */
static uint8_t preparer(const struct dealbox_judge *j, uint8_t pack)
{
	uint8_t who = dealer(j);

	if (!seat(who))
		return NOBODY;
	return j->d.mark[DEALBOX_MARK_FIRST_CARD] && pack != j->d.pack ?
		left(j, left(j, who)) : left(j, who);
}

static void shuffle_rubber(struct dealbox_judge *j, happening *h, struct pack *pack, uint8_t index)
{
	uint8_t who = h->actor;
	bool next = j->d.mark[DEALBOX_MARK_FIRST_CARD] && index != j->d.pack;
	uint8_t may = next ? left(j, dealer(j)) : dealer(j);
	struct dealbox_ruling r;

	/* the machine shuffles for whoever must */
	if (seat(who) && seat(may)) {
		if (pack->only_dealer && who != may)
			tell(j, DEALBOX_BREACH, pack->only_dealer, who, 0,
			     N_("Only the dealer shuffles now."));
		else if (who != may && who != preparer(j, index))
			tell(j, DEALBOX_BREACH, "4", who, 0,
			     N_("Only the dealer and the player who prepares the pack may shuffle."));
	}
	if (h->flags & FLAG(F_POORLY))
		tell(j, DEALBOX_BREACH, "4", who, 0, N_("The pack was not shuffled thoroughly."));
	if (h->flags & FLAG(F_HIDDEN))
		tell(j, DEALBOX_BREACH, "4", who, 0,
		     N_("The pack was not shuffled in full view of the players."));
	pack->cut = false;
	pack->shuffled = !(h->flags & FLAG(F_FACEUP));
	if (pack->shuffled) {
		pack->only_dealer = NULL;
		return;
	}
	r = ruling(DEALBOX_NEW_SHUFFLE, "6(c)", N_("A card was turned face up in shuffling."));
	r.who = who;
	r.cut = true;
	give(j, &r);
}

static int on_shuffle(struct dealbox_judge *j, happening *h)
{
	struct pack *pack;
	uint8_t index;
	int err;

	deal_begin(j);
	err = pack_find(j, h, &index);
	if (err)
		return err;
	pack = &j->packs[index];
	if (!h->number[0])
		return fail(j, "shuffled times=0 is not shuffled: leave the line out");
	if (j->d.mark[DEALBOX_MARK_FIRST_CARD] && !j->d.mark[DEALBOX_MARK_LAST_CARD] &&
	    index == j->d.pack)
		return fail(j, "the pack is being dealt: write dealt, redeal, turn or board before");
	if (is(j, RUB)) {
		shuffle_rubber(j, h, pack, index);
		return 0;
	}
	if (is(j, PRE)) {
		/* 3.2.17 is about the dealer; a machine shuffles for him */
		if (pack->cut && (!seat(h->actor) || !seat(dealer(j)) || h->actor == dealer(j)))
			raise_issue(j, I_SHUFFLE);
		pack->shuffled = true;
		return 0;
	}
	presence(j, h->actor);
	/* an opponent of his may ask for a cut */
	if (seat(h->actor) && j->d.dealer == NOBODY)
		j->d.dealer = h->actor;
	if (h->flags & FLAG(F_POORLY))
		tell(j, DEALBOX_BREACH, "6A", h->actor, 0, N_("The pack was not shuffled thoroughly."));
	pack->shuffled = true;
	/* a new shuffle takes what was seen in the old one away */
	if (!j->d.mark[DEALBOX_MARK_FIRST_CARD])
		j->d.issue[I_SEEN] = j->d.redeal = 0;
	if (h->flags & FLAG(F_FACEUP)) {
		raise_issue(j, I_SEEN);
		notice(j, BIT(I_SEEN), NOBODY, false);
	}
	return 0;
}

static int on_place(struct dealbox_judge *j, happening *h)
{
	deal_begin(j);
	if (!is(j, RUB))
		return 0;
	if (h->flags & FLAG(F_FACEUP))
		tell(j, DEALBOX_BREACH, "4", h->actor, 0, N_("The pack was not placed face down."));
	if (h->flags & FLAG(F_ELSEWHERE))
		tell(j, DEALBOX_BREACH, "4", h->actor, 0,
		     N_("The pack was not placed on the right of the player who prepared it."));
	return 0;
}

static int on_disturb(struct dealbox_judge *j, happening *h)
{
	uint8_t index;
	int err;

	deal_begin(j);
	err = pack_find(j, h, &index);
	if (err || !is(j, RUB))
		return err;
	if (index == j->d.pack && j->d.mark[DEALBOX_MARK_FIRST_CARD])
		return 0;
	j->packs[index].cut = false;
	if (j->packs[index].shuffled && !(index == j->d.pack && j->d.mark[DEALBOX_MARK_PICKUP]))
		tell(j, DEALBOX_BREACH, "4", h->actor, 0,
		     N_("A pack that had been prepared was disturbed before the dealer picked it up."));
	return 0;
}

/* The pack of this deal is now known; two packs are used by turns. */
static void pack_taken(struct dealbox_judge *j)
{
	if (j->d.mark[DEALBOX_MARK_PICKUP])
		return;
	mark(j, DEALBOX_MARK_PICKUP);
	if (is(j, RUB) && j->pack_count > 1 && j->last_pack == j->d.pack && !j->d.again &&
	    !j->packs[!j->d.pack].replaced)
		tell(j, DEALBOX_BREACH, "7", dealer(j), 0,
		     N_("The same pack is used again, though there is no redeal."));
}

static int on_pickup(struct dealbox_judge *j, happening *h)
{
	int err;

	deal_begin(j);
	if (j->d.mark[DEALBOX_MARK_FIRST_CARD])
		return fail(j, "cards have been dealt already: write redeal, turn or board before");
	err = pack_find(j, h, &j->d.pack);
	if (err)
		return err;
	if (seat(h->actor))
		j->d.dealer = h->actor;
	pack_taken(j);
	return 0;
}

static void new_cut(struct dealbox_judge *j, struct pack *pack, const char *cause)
{
	pack->cut = false;
	tell(j, DEALBOX_NEW_CUT, "5", right(j, dealer(j)), 0, cause);
}

static void cut_rubber(struct dealbox_judge *j, happening *h, struct pack *pack)
{
	uint8_t who = h->actor, by = dealer(j);
	struct dealbox_ruling r;

	pack->cut = true;
	if (h->flags & FLAG(F_FACEUP)) {
		r = ruling(DEALBOX_NEW_SHUFFLE, "6(d)", N_("A card was turned face up in cutting."));
		r.who = by;
		r.cut = true;
		pack->cut = pack->shuffled = false;
		pack->only_dealer = "6(d)";
		give(j, &r);
	} else if (seat(who) && seat(by) && who != right(j, by)) {
		new_cut(j, pack, N_("Only the player on the dealer's right may cut."));
	} else if (h->number[0] >= 0 && (h->number[0] < j->rules->cut_least ||
					 h->number[1] < j->rules->cut_least)) {
		new_cut(j, pack, N_("A portion of the cut has fewer than four cards."));
	} else if (h->flags & FLAG(F_INCOMPLETE)) {
		pack->cut = false;
		tell(j, DEALBOX_BREACH, "5", by, 0, N_("The cut was not completed."));
	} else if (seat(h->seat) && seat(by) && h->seat != by) {
		tell(j, DEALBOX_BREACH, "5", h->seat, 0, N_("The dealer completes the cut, nobody else."));
	}
}

static int on_cut(struct dealbox_judge *j, happening *h)
{
	struct pack *pack;
	uint8_t index;
	int err;

	deal_begin(j);
	err = pack_find(j, h, &index);
	if (err)
		return err;
	pack = &j->packs[index];
	if (h->number[0] >= 0 && h->number[0] + h->number[1] != pack->cards)
		return fail(j, "the portions have %d cards, and the pack has %d",
			    h->number[0] + h->number[1], pack->cards);
	if (j->d.mark[DEALBOX_MARK_FIRST_CARD] && index == j->d.pack)
		return fail(j, "cards have been dealt already: write redeal, turn or board before");
	if (is(j, RUB)) {
		cut_rubber(j, h, pack);
		return 0;
	}
	pack->cut = true;
	if (is(j, PRE) && h->flags & FLAG(F_FACEUP)) {
		raise_issue(j, I_FACEUP_CUT);
		notice(j, BIT(I_FACEUP_CUT), NOBODY, false);
	}
	return 0;
}

/* ---- handlers: dealing ---- */

/* 6E: who deals, and by whose leave. */
static const char *dealt_by(const struct dealbox_judge *j, uint8_t who)
{
	if (j->method)
		return "6E4";
	if (seat(who))
		return j->at_table ? "6E1" : "6B";
	return who == DEALBOX_ACTOR_DIRECTOR ? "6E2" : "6E3";
}

static void deal_start(struct dealbox_judge *j, happening *h)
{
	const struct pack *pack = &j->packs[j->d.pack];

	if (seat(h->actor))
		j->d.dealer = h->actor;
	pack_taken(j);
	mark(j, DEALBOX_MARK_FIRST_CARD);
	j->d.told = true;
	j->d.next = next_hand(j, seat(dealer(j)) ? dealer(j) : DEALBOX_ACTOR_WEST);
	if (seat(j->turn) && seat(j->d.dealer) && j->turn != j->d.dealer)
		raise_issue(j, I_TURN);
	if (!pack->shuffled)
		raise_issue(j, I_UNSHUFFLED);
	if (!pack->cut && (j->rules->cut_always || j->d.cut_wanted))
		raise_issue(j, I_UNCUT);
	if (!is(j, DUP))
		return;
	presence(j, h->actor);
	j->d.unauthorised = !seat(h->actor) &&
		(j->at_table || (h->actor != DEALBOX_ACTOR_DIRECTOR && !j->agents && !j->method));
	if (j->at_table && !seat(h->actor))
		tell(j, DEALBOX_BREACH, "6E1", h->actor, j->at_table,
		     N_("The director instructed that each table shuffle and deal."));
	else if (j->d.unauthorised)
		tell(j, DEALBOX_BREACH, "6E3", h->actor, 0,
		     N_("The director has not appointed who deals."));
}

/* All cards that will be dealt have been. */
static void deal_end(struct dealbox_judge *j, uint8_t who)
{
	struct deal *d = &j->d;
	const struct pack *pack = &j->packs[d->pack];
	bool bad = false, sorted;

	if (d->mark[DEALBOX_MARK_LAST_CARD])
		return;
	for (int p = 0; p < SEATS; p++)
		bad |= d->hand[p] != (gets_cards(j, p) ? j->rules->hand_cards : 0);
	if (bad || d->hand[DEALBOX_TALON] != j->rules->talon_cards)
		raise_issue(j, I_COUNT);
	mark(j, DEALBOX_MARK_LAST_CARD);
	/* by the footnote of 2017 a pack in its prior condition is a sorted one */
	sorted = is(j, DUP) && d->issue[I_UNSHUFFLED] &&
		 (pack->sorted || (is(j, D17) && pack->played));
	if (sorted) {
		tell(j, j->replay ? DEALBOX_STANDS : DEALBOX_RESULT_CANCELLED, "6D2", NOBODY,
		     j->replay ? j->replay : d->issue[I_UNSHUFFLED],
		     j->replay ? N_("The purpose of the tournament is the replay of past deals.") :
				 N_("The cards were dealt without a shuffle from a sorted deck."));
		return;
	}
	if (is(j, RUB) && d->issue[I_TURN] && !d->attention[I_TURN] && !d->redeal) {
		tell(j, DEALBOX_STANDS, "9", d->dealer, d->issue[I_TURN],
		     N_("The deal was out of turn, and nobody drew attention to it in time."));
		tell(j, DEALBOX_NEXT_DEALER, "9", left(j, d->dealer), d->issue[I_TURN],
		     N_("The deal was out of turn, and nobody drew attention to it in time."));
		return;
	}
	if (!raised(j, ~0u) && !d->redeal && !d->unauthorised && !j->biased &&
	    !pack->replaced)
		tell(j, DEALBOX_STANDS, is(j, RUB) ? "8" : is(j, PRE) ? "3.2.13" : dealt_by(j, who),
		     NOBODY, d->mark[DEALBOX_MARK_FIRST_CARD], N_("The cards were dealt correctly."));
}

/* 3.2.15(5): the talon is the fourth pair, or lies as it is the custom. */
static void talon_check(struct dealbox_judge *j, uint8_t cards)
{
	bool last = j->d.dealt + cards >= j->packs[j->d.pack].cards;

	if (j->d.hand[DEALBOX_TALON] || j->d.packets == 0 || last)
		raise_issue(j, I_TALON);
	else if (j->d.packets != j->rules->talon_packet && !j->talon_anywhere)
		raise_issue(j, I_TALON_PLACE);
}

/* One packet to one place. */
static int deal_packet(struct dealbox_judge *j, uint8_t place, uint8_t cards)
{
	struct deal *d = &j->d;
	uint32_t before = raised(j, ~0u);
	bool again = place == d->last;
	uint32_t wrong = 0;

	if (d->mark[DEALBOX_MARK_LAST_CARD])
		return fail(j, "the deal was over: write redeal, turn or board before");
	if (d->dealt + cards > j->packs[d->pack].cards)
		return fail(j, "that is more than the %d cards of the pack",
			    j->packs[d->pack].cards);
	d->error.open = d->error.done = false;
	if (cards != j->rules->packet) {
		wrong |= BIT(I_PACKET);
		raise_issue(j, I_PACKET);
	}
	if (place == DEALBOX_TALON) {
		talon_check(j, cards);
	} else if (j->rules->rotation && place != d->next) {
		wrong |= BIT(I_ORDER);
		raise_issue(j, I_ORDER);
	}
	if (!j->rules->adjacent && (again || cards > 1))
		raise_issue(j, I_ADJACENT);
	if (is(j, RUB) && wrong && cards <= 2) {
		/* Law 8: two cards to one player, or a player left out: one card moves */
		d->error.order = wrong & BIT(I_ORDER);
		d->error.to = d->error.order ? d->next : left(j, place);
		d->error.from = place;
		d->error.last = cards == 2 && d->error.order ? place : d->error.to;
		d->error.open = cards == 1 || !d->error.order || left(j, d->next) == place;
		d->error.raised = wrong & ~before;
		d->error.line = j->line;
	}
	d->hand[place] += cards;
	d->dealt += cards;
	d->packets++;
	d->last = place;
	if (place != DEALBOX_TALON)
		d->next = next_hand(j, place);
	return 0;
}

static void may_rectify(struct dealbox_judge *j)
{
	struct dealbox_ruling r = ruling(DEALBOX_MAY_RECTIFY, "8",
		issue_cause[j->d.error.order ? I_ORDER : I_PACKET]);

	r.who = dealer(j);
	r.until = DEALBOX_MARK_NEXT_CARD;
	r.see = "10(a)(ii)";
	give(j, &r);
}

static int on_deal(struct dealbox_judge *j, happening *h)
{
	struct deal *d = &j->d;
	uint8_t cards = h->number[0] >= 0 ? h->number[0] : j->rules->packet;
	uint8_t place = h->places ? __builtin_ctz(h->places) : 0;
	uint8_t most, keep;
	int err;

	deal_begin(j);
	most = j->packs[d->pack].cards;
	keep = h->number[1] >= 0 && h->number[1] < most ? h->number[1] : 0;
	if (!h->number[0] || h->number[0] > most)
		return fail(j, "cards= is 1 to %d", most);
	if (h->number[1] > most)
		return fail(j, "left= is 0 to %d", most);
	if (!(h->flags & FLAG(F_REST))) {
		err = hand_check(j, place);
		if (err)
			return err;
	}
	if (d->mark[DEALBOX_MARK_LAST_CARD])
		return fail(j, "the deal was over: write redeal, turn or board before");
	if (!d->mark[DEALBOX_MARK_FIRST_CARD])
		deal_start(j, h);
	if (place != DEALBOX_TALON && !(h->flags & FLAG(F_REST)) && !gets_cards(j, place))
		return fail(j, "%s deals, and gets no cards when four play", dealbox_actor_name(place));
	if (h->flags & FLAG(F_REST)) {
		while (d->dealt + keep < most) {
			uint8_t left_over = most - keep - d->dealt;
			bool talon = j->rules->talon_cards && !d->hand[DEALBOX_TALON] &&
				     d->packets >= j->rules->talon_packet;

			cards = left_over < j->rules->packet ? left_over : j->rules->packet;
			err = deal_packet(j, talon ? DEALBOX_TALON : d->next, cards);
			if (err)
				return err;
		}
	} else {
		err = deal_packet(j, place, cards);
		if (err)
			return err;
	}
	if (h->flags & FLAG(F_FACEUP)) {
		enum issue issue = seat(h->seat) && h->seat != dealer(j) ? I_FACEUP_OTHER : I_FACEUP;

		raise_issue(j, issue);
		notice(j, BIT(issue), NOBODY, false);
	} else if (seat(h->seat)) {
		if (is(j, RUB))
			tell(j, DEALBOX_BREACH, "8", dealer(j), 0,
			     N_("The dealer let the face of a card be seen while dealing."));
		else if (h->seat != place)
			raise_issue(j, I_SEEN);
	}
	if (d->error.open)
		may_rectify(j);
	if (d->dealt == most)
		deal_end(j, h->actor);
	return 0;
}

static int on_dealt(struct dealbox_judge *j, happening *h)
{
	if (!j->d.mark[DEALBOX_MARK_FIRST_CARD])
		return fail(j, "no card has been dealt");
	deal_end(j, h->actor != NOBODY ? h->actor : dealer(j));
	return 0;
}

static int on_rectify(struct dealbox_judge *j, happening *h)
{
	struct deal *d = &j->d;

	if (!is(j, RUB)) {
		tell(j, DEALBOX_NO_RULING, main_paragraph(j), h->actor, 0,
		     N_("The text does not let an error of the deal be put right."));
		return 0;
	}
	if (!d->error.open) {
		uint32_t wrong = raised(j, MISDEALS);

		if (wrong)
			tell(j, DEALBOX_CLAIM_TOO_LATE, "8", h->actor, d->issue[__builtin_ctz(wrong)],
			     N_("The dealer did not put the error right at once."));
		else
			tell(j, DEALBOX_STANDS, "8", NOBODY, 0,
			     N_("The record shows no such irregularity."));
		return 0;
	}
	if (seat(h->actor) && seat(dealer(j)) && h->actor != dealer(j)) {
		tell(j, DEALBOX_NO_RIGHT, "8", h->actor, d->error.line,
		     N_("Only the dealer may put an error of the deal right."));
		return 0;
	}
	d->hand[d->error.from]--;
	d->hand[d->error.to]++;
	d->last = d->error.last;
	d->next = next_hand(j, d->last);
	for (int i = 0; i < ISSUES; i++)
		if (d->error.raised & BIT(i))
			d->issue[i] = 0;
	/* a redeal that was ruled for this error alone is not needed any more */
	if (d->redeal_for && !(d->redeal_for & ~d->error.raised))
		d->redeal = 0;
	d->error.open = false;
	d->error.done = true;
	tell(j, DEALBOX_STANDS, "8", NOBODY, d->error.line,
	     N_("The dealer put the error right at once."));
	return 0;
}

static int on_object(struct dealbox_judge *j, happening *h)
{
	if (!is(j, RUB) || !j->d.error.done) {
		tell(j, DEALBOX_STANDS, main_paragraph(j), NOBODY, 0,
		     N_("The record shows no such irregularity."));
		return 0;
	}
	j->d.issue[I_MISDEAL] = j->d.error.line;
	notice(j, BIT(I_MISDEAL), h->actor, true);
	return 0;
}

static int on_redeal(struct dealbox_judge *j, happening *h)
{
	uint8_t who = redealer(j);
	uint8_t index;
	int err;

	deal_begin(j);
	err = pack_find(j, h, &index);
	if (err)
		return err;
	j->packs[index].shuffled = j->packs[index].cut = false;
	j->packs[index].only_dealer = NULL;
	deal_new(j);
	j->turn = who;
	j->d.pack = index;
	j->d.again = true;
	return 0;
}

static int on_pocket(struct dealbox_judge *j, happening *h)
{
	if (h->places & 1u << DEALBOX_TALON)
		return fail(j, "a board has the pockets N, E, S and W");
	if (j->d.pocketed & h->places || h->flags & FLAG(F_FACEUP)) {
		raise_issue(j, I_POCKET);
		notice(j, BIT(I_POCKET), NOBODY, false);
	}
	j->d.pocketed |= h->places;
	return 0;
}

/* ---- handlers: hands and talon ---- */

/* Preferans: the hand has been picked up, so a deal out of turn is lawful. */
static void turn_lawful(struct dealbox_judge *j)
{
	struct deal *d = &j->d;

	if (!is(j, PRE) || !d->mark[DEALBOX_MARK_LAST_CARD] || d->mark[DEALBOX_MARK_LOOK])
		return;
	mark(j, DEALBOX_MARK_LOOK);
	if (!d->issue[I_TURN] || d->redeal)
		return;
	tell(j, DEALBOX_STANDS, "3.2.14", NOBODY, d->issue[I_TURN],
	     N_("The deal was out of turn, and nobody drew attention to it in time."));
	tell(j, DEALBOX_NEXT_DEALER, "3.2.14", left(j, d->dealer), d->issue[I_TURN],
	     N_("The deal was out of turn, and nobody drew attention to it in time."));
	/* as though it had been in turn */
	j->turn = d->dealer;
}

static bool dealt_right(const struct dealbox_judge *j)
{
	return !raised(j, ~(BIT(I_TURN) | BIT(I_UNSHUFFLED)));
}

static void bar(struct dealbox_judge *j, uint8_t who, const char *reference, const char *cause)
{
	if (!gets_cards(j, who))
		return;
	j->d.barred[who] = j->line;
	tell(j, DEALBOX_BARRED, reference, who, 0, cause);
}

static void talon_seen(struct dealbox_judge *j, uint8_t who, bool looked)
{
	struct dealbox_ruling r;

	if (!seat(who) || j->d.bought != NOBODY)
		return;
	if (dealt_right(j) && gets_cards(j, who)) {
		j->d.talon_seen[who] = j->line;
		bar(j, who, "3.2.19", N_("A player has seen the talon."));
	}
	if (!looked)
		return;
	r = ruling(DEALBOX_PENALTY, "3.2.21", N_("A player looked at the talon before it was bought."));
	r.who = who;
	r.amount = 5;
	r.unit = DEALBOX_UNIT_HILL;
	give(j, &r);
}

static void talon_taken(struct dealbox_judge *j, uint8_t who)
{
	if (!seat(who) || j->d.bought != NOBODY || !gets_cards(j, who))
		return;
	if (!dealt_right(j)) {
		tell(j, DEALBOX_NO_RULING, "3.2.20", who, j->d.issue_last,
		     N_("The deal was not correct."));
		return;
	}
	bar(j, who, "3.2.20", N_("A player has taken the talon."));
	tell(j, DEALBOX_RESTORE_CARD, "3.2.20", who, 0, N_("A player has taken the talon."));
}

static int on_take(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = hand_of(h);
	int err;

	if (hand == NOBODY)
		return fail(j, "whose hand? After take stands N, E, S, W or talon");
	err = hand_check(j, hand);
	if (err)
		return err;
	deal_begin(j);
	if (hand == DEALBOX_TALON)
		talon_taken(j, h->actor);
	else if (seat(h->actor))
		j->d.taken[h->actor][hand] = j->line;
	if (hand != DEALBOX_TALON && hand == h->actor)
		turn_lawful(j);
	return 0;
}

/* Law 8: no player looks at a card before the deal is completed. */
static void forfeit(struct dealbox_judge *j, uint8_t who)
{
	if (!is(j, RUB) || !seat(who) || j->d.mark[DEALBOX_MARK_LAST_CARD] ||
	    !j->d.mark[DEALBOX_MARK_FIRST_CARD] || j->d.forfeited[who])
		return;
	j->d.forfeited[who] = j->line;
	tell(j, DEALBOX_RIGHT_FORFEITED, "8", who, 0,
	     N_("A player looked at the face of a card before the deal was completed."));
}

/* Duplicate: a player may have seen a card of another. */
static void sight(struct dealbox_judge *j, uint8_t who, uint8_t hand)
{
	struct dealbox_ruling r;

	if (!seat(who) || who == hand)
		return;
	if (!j->d.mark[DEALBOX_MARK_LAST_CARD]) {
		raise_issue(j, I_SEEN);
		return;
	}
	if (j->d.mark[DEALBOX_MARK_OVER]) {
		tell(j, DEALBOX_NO_RULING, "6D1", who, j->d.mark[DEALBOX_MARK_OVER],
		     N_("The play of the board was over."));
		return;
	}
	r = ruling(DEALBOX_OTHER_LAW, "6D1",
		   N_("A player saw a card of another player's hand after the deal."));
	r.see = j->rules->sight_law;
	r.who = who;
	give(j, &r);
}

static int on_look(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = hand_of(h), who = h->actor;
	int err;

	if (hand == NOBODY)
		return fail(j, "at whose cards? After look stands N, E, S, W or talon");
	err = hand_check(j, hand);
	if (err)
		return err;
	deal_begin(j);
	if (hand == DEALBOX_TALON) {
		talon_seen(j, who, true);
		return 0;
	}
	forfeit(j, who);
	if (hand == who) {
		turn_lawful(j);
		mark(j, DEALBOX_MARK_LOOK);
		return 0;
	}
	if (is(j, PRE) && seat(who))
		tell(j, DEALBOX_BREACH, "3.2.22", who, 0,
		     N_("A player looked into another player's cards; the text has no penalty for it."));
	if (is(j, RUB) && seat(who))
		raise_issue(j, I_WRONG_HAND);
	if (is(j, DUP))
		sight(j, who, hand);
	return 0;
}

static int on_see(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = hand_of(h), who = h->actor;
	int err = hand_check(j, hand);

	if (err)
		return err;
	deal_begin(j);
	if (hand == DEALBOX_TALON)
		talon_seen(j, who, false);
	else if (is(j, DUP))
		sight(j, who, hand);
	else if (is(j, RUB) && seat(who) && who != hand && j->d.taken[who][hand])
		raise_issue(j, I_WRONG_HAND);
	else if (is(j, PRE) && who != hand)
		tell(j, DEALBOX_BREACH, "3.2.22", hand, 0,
		     N_("A player let others look into his cards; the text has no penalty for it."));
	return 0;
}

static int on_show(struct dealbox_judge *j, happening *h)
{
	if (is(j, PRE))
		tell(j, DEALBOX_BREACH, "3.2.22", h->actor, 0,
		     N_("A player let others look into his cards; the text has no penalty for it."));
	return 0;
}

static int on_mix(struct dealbox_judge *j, happening *h)
{
	bool opposing = h->places & 0x5 && h->places & 0xa;
	const char *cause = N_("Players of opposing sides let their cards be mixed.");
	struct dealbox_ruling r;

	if (!is(j, RUB))
		return fail(j, "mix belongs to rubber");
	if (!opposing) {
		tell(j, DEALBOX_NO_RULING, "10(c)(iii)", NOBODY, 0,
		     N_("The cards that were mixed are not of opposing sides."));
	} else if (!j->d.claim) {
		tell(j, DEALBOX_NO_RULING, "10(c)(iii)", NOBODY, 0,
		     N_("Nobody had claimed that a redeal is in order."));
	} else if (j->d.mark[DEALBOX_MARK_OVER]) {
		r = ruling(DEALBOX_CLAIM_TOO_LATE, "10(c)(iii)", cause);
		rest_on(&r, j->d.mark[DEALBOX_MARK_OVER]);
		give(j, &r);
	} else {
		redeal(j, "10(c)(iii)", "6(e)", j->d.claim, 0, cause);
	}
	return 0;
}

/* 10(c)(ii), 11, 12: a hand has too many or too few cards. */
static void count_rubber(struct dealbox_judge *j, uint8_t hand, bool many)
{
	struct deal *d = &j->d;
	const char *cause = N_("One player has too many cards, and another too few.");
	struct dealbox_ruling r;

	if (many)
		d->over = j->line;
	else
		d->under = j->line;
	if (d->over && d->under && !d->mark[DEALBOX_MARK_OVER]) {
		redeal(j, "10(c)(ii)", "6(e)", d->over, d->under, cause);
		return;
	}
	if (d->mark[DEALBOX_MARK_OVER]) {
		tell(j, DEALBOX_CLAIM_TOO_LATE, "10(c)(ii)", hand, d->mark[DEALBOX_MARK_OVER],
		     many ? N_("A player has too many cards.") : N_("A player has too few cards."));
		return;
	}
	r = ruling(DEALBOX_STANDS, many ? "12" : "11",
		   many ? N_("A player has too many cards.") : N_("A player has too few cards."));
	r.see = "10(c)";
	r.who = hand;
	give(j, &r);
}

/* 3.2.16, 3.2.23: each answers for the number of his cards once he has bid. */
static void count_preferans(struct dealbox_judge *j, uint8_t hand, unsigned long fact)
{
	struct deal *d = &j->d;
	const char *cause = N_("A player has found the wrong number of cards in his hand.");
	struct dealbox_ruling r;

	if (seat(hand) && (d->called[hand] || d->mark[DEALBOX_MARK_PLAY])) {
		r = ruling(DEALBOX_PENALTY, "3.2.16", cause);
		r.see = "3.2.23, 3.9.18";
		r.who = hand;
		r.unit = DEALBOX_UNIT_MOST;
		rest_on(&r, fact);
		rest_on(&r, d->called[hand] ? d->called[hand] : d->mark[DEALBOX_MARK_PLAY]);
		give(j, &r);
		return;
	}
	d->issue[I_COUNT] = d->issue[I_COUNT] ? d->issue[I_COUNT] : fact ? fact : j->line;
	if (d->intent == T_POSSIBLE && d->interests != T_CONFLICT) {
		r = ruling(DEALBOX_PLAYERS_CHOOSE, "3.2.16", cause);
		r.who = hand;
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_GIVE_CARD;
		rest_on(&r, fact);
		rest_on(&r, d->intent_line);
		give(j, &r);
		return;
	}
	redeal(j, d->intent ? "3.2.16" : "3.2.13", d->intent ? "3.2.23" : "3.2.15(6), 3.2.16, 3.2.23",
	       d->intent_line, fact, cause);
	if (d->intent == T_POSSIBLE)
		tell(j, DEALBOX_COMPENSATION, "3.2.16", dealer(j), d->interests_line,
		     N_("The interests of the players are in conflict."));
}

static int on_count(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = hand_of(h);
	int expected;
	int err;

	if (hand == NOBODY)
		return fail(j, "whose cards? After count stands N, E, S, W or talon");
	err = hand_check(j, hand);
	if (err)
		return err;
	deal_begin(j);
	expected = hand == DEALBOX_TALON ? j->rules->talon_cards :
		   j->rules->hand_cards - j->d.plays[hand] +
		   (hand == j->d.bought ? j->rules->talon_cards : 0);
	if (h->number[1] >= 0)
		expected = h->number[1];
	if (h->number[0] == expected)
		return 0;
	if (h->flags & FLAG(F_SILENT)) {
		if (hand != DEALBOX_TALON) {
			j->d.silent[hand].wrong = true;
			j->d.silent[hand].line = j->line;
			j->d.silent[hand].cards = h->number[0] > expected;
		}
		return 0;
	}
	if (is(j, RUB)) {
		count_rubber(j, hand, h->number[0] > expected);
	} else if (is(j, PRE)) {
		count_preferans(j, hand, 0);
	} else {
		raise_issue(j, I_COUNT);
		notice(j, BIT(I_COUNT), h->actor, false);
	}
	return 0;
}

static int on_search(struct dealbox_judge *j, happening *h)
{
	const char *cause = N_("A missing card cannot be found.");

	if (h->topic == T_FOUND)
		return 0;
	if (is(j, RUB) && j->d.mark[DEALBOX_MARK_OVER])
		tell(j, DEALBOX_CLAIM_TOO_LATE, "10(c)(i)", NOBODY, j->d.mark[DEALBOX_MARK_OVER],
		     cause);
	else if (is(j, RUB))
		redeal(j, "10(c)(i)", "6(e), 1", j->d.under, 0, cause);
	else if (is(j, PRE))
		redeal(j, "3.2.15(2)", NULL, 0, 0, cause);
	else
		tell(j, DEALBOX_NO_RULING, "6D1", NOBODY, 0, cause);
	return 0;
}

static int on_find(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = hand_of(h);
	struct dealbox_ruling r;

	if (!is(j, RUB))
		return fail(j, "find belongs to rubber");
	if (hand == DEALBOX_TALON)
		return fail(j, "there is no talon in rubber");
	if (h->topic == T_MISSING) {
		bool trick = h->flags & (FLAG(F_TRICK) | FLAG(F_OLD_TRICK));

		r = trick ? ruling(DEALBOX_OTHER_LAW, "11(a)",
				   N_("The player played more than once to a previous trick.")) :
			    ruling(DEALBOX_RESTORE_CARD, "11(b)",
				   N_("A missing card was found, not in a previous trick."));
		r.see = trick ? "67" : "23, 49";
		r.who = hand;
		rest_on(&r, j->d.under);
		give(j, &r);
		return 0;
	}
	r = ruling(DEALBOX_RESTORE_CARD, "12(b)", N_("A player has picked up a surplus card."));
	r.who = hand;
	rest_on(&r, j->d.over);
	give(j, &r);
	if (h->flags & FLAG(F_IN_HAND)) {
		tell(j, DEALBOX_NO_PENALTY, "12(b)(i)", hand, j->d.over,
		     N_("The surplus card is still in the offender's hand."));
		return 0;
	}
	tell(j, DEALBOX_SUBSTITUTE_CARD, "12(b)(ii)", hand, j->d.over,
	     N_("The surplus card has been led or played."));
	if (h->flags & FLAG(F_PLAYED))
		tell(j, DEALBOX_ENTITLED, "12(b)(ii)", NOBODY, j->d.over,
		     N_("Attention was drawn before the lead to the next trick."));
	return 0;
}

/* ---- handlers: the game ---- */

static int on_auction(struct dealbox_judge *j, happening *h)
{
	(void)h;
	deal_begin(j);
	if (!j->d.told || !is(j, PRE))
		mark(j, DEALBOX_MARK_LAST_CARD);
	mark(j, DEALBOX_MARK_AUCTION);
	return 0;
}

static int on_call(struct dealbox_judge *j, happening *h)
{
	uint8_t who = h->actor;
	int err = hand_check(j, who);

	if (err)
		return err;
	deal_begin(j);
	if (is(j, PRE) && j->d.told && !j->d.mark[DEALBOX_MARK_LAST_CARD])
		tell(j, DEALBOX_BREACH, "3.3.1", who, 0,
		     N_("The bidding begins when all cards have been dealt."));
	if (j->d.barred[who])
		tell(j, DEALBOX_BREACH, j->d.talon_seen[who] ? "3.2.19" : "3.2.20", who,
		     j->d.barred[who], N_("A player who is barred has bid."));
	if (!j->d.called[who])
		j->d.called[who] = j->line;
	if (!h->pass)
		j->d.highest = who;
	return on_auction(j, h);
}

static int on_buy(struct dealbox_judge *j, happening *h)
{
	uint8_t who = h->actor;

	if (who == j->d.highest && !j->d.barred[who])
		tell(j, DEALBOX_ENTITLED, "3.3.1", who, j->d.mark[DEALBOX_MARK_AUCTION],
		     N_("The player has made the highest bid."));
	else
		tell(j, DEALBOX_BREACH, "3.3.1", who, j->d.mark[DEALBOX_MARK_AUCTION],
		     N_("The player has not made the highest bid."));
	j->d.bought = who;
	return 0;
}

static int on_game(struct dealbox_judge *j, happening *h)
{
	struct dealbox_ruling r;

	if (h->topic != T_ALL_PASS)
		return 0;
	for (int p = 0; p < SEATS; p++) {
		if (!j->d.talon_seen[p])
			continue;
		r = ruling(DEALBOX_PENALTY, "3.2.19",
			   h->flags & FLAG(F_CLOSED) ?
			   N_("He saw the talon, and all have passed; the talon stays closed.") :
			   N_("He saw the talon, and all have passed."));
		r.who = p;
		r.unit = DEALBOX_UNIT_TRICKS;
		r.amount = h->flags & FLAG(F_CLOSED) ? 10 : 2;
		rest_on(&r, j->d.talon_seen[p]);
		give(j, &r);
	}
	return 0;
}

static int on_play(struct dealbox_judge *j, happening *h)
{
	int err = hand_check(j, h->actor);

	if (err)
		return err;
	on_auction(j, h);
	mark(j, DEALBOX_MARK_PLAY);
	if (j->d.plays[h->actor] < j->rules->hand_cards)
		j->d.plays[h->actor]++;
	return 0;
}

static int on_over(struct dealbox_judge *j, happening *h)
{
	on_auction(j, h);
	mark(j, DEALBOX_MARK_PLAY);
	mark(j, DEALBOX_MARK_OVER);
	return 0;
}

/* ---- handlers: what is said ---- */

static int attention(struct dealbox_judge *j, uint8_t topic, uint8_t who, bool demand, uint8_t pack)
{
	uint32_t found = raised(j, notable[topic].issues);

	if (topic == T_DAMAGED && is(j, RUB)) {
		/* may be the pack of the next deal: the window is that of the current one */
		uint8_t current = j->d.pack;

		raise_issue(j, I_DAMAGED);
		j->d.pack = pack;
		notice(j, BIT(I_DAMAGED), who, demand);
		if (!j->d.mark[DEALBOX_MARK_LAST_CARD] && !(seat(who) && j->d.forfeited[who]))
			j->packs[pack].replaced = true;
		j->d.pack = current;
		j->d.issue[I_DAMAGED] = 0;
		return 0;
	}
	if (!found && (notable[topic].fact || !j->d.told)) {
		raise_issue(j, notable[topic].issue);
		found = BIT(notable[topic].issue);
	}
	if (found)
		notice(j, found, who, demand);
	else
		tell(j, DEALBOX_STANDS, main_paragraph(j), NOBODY, 0,
		     N_("The record shows no such irregularity."));
	return 0;
}

static int on_notes(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = hand_of(h), pack;
	struct dealbox_ruling r;
	int err = pack_find(j, h, &pack);

	if (err)
		return err;
	deal_begin(j);
	switch (h->topic) {
	case T_OTHER:
		r = ruling(is(j, D07) ? DEALBOX_OTHER_LAW : DEALBOX_NO_RULING, main_paragraph(j),
			   N_("It is another irregularity."));
		give(j, &r);
		return 0;
	case T_TWICE:
	case T_OMITTED:
		if (!is(j, RUB))
			return fail(j, "that belongs to rubber");
		r = ruling(DEALBOX_OTHER_LAW, h->topic == T_TWICE ? "11(a)" : "12(a)",
			   h->topic == T_TWICE ?
			   N_("The player played more than once to a previous trick.") :
			   N_("The player did not play to a trick."));
		r.see = "67";
		r.who = hand;
		rest_on(&r, h->topic == T_TWICE ? j->d.under : j->d.over);
		give(j, &r);
		return 0;
	case T_COUNT:
		if (hand >= SEATS || !j->d.silent[hand].wrong)
			break;
		if (is(j, RUB)) {
			count_rubber(j, hand, j->d.silent[hand].cards);
			return 0;
		}
		if (is(j, PRE)) {
			count_preferans(j, hand, j->d.silent[hand].line);
			return 0;
		}
		if (!j->d.issue[I_COUNT])
			j->d.issue[I_COUNT] = j->d.silent[hand].line;
		notice(j, BIT(I_COUNT), h->actor, false);
		return 0;
	default:
		return attention(j, h->topic, h->actor, false, pack);
	}
	tell(j, DEALBOX_STANDS, main_paragraph(j), NOBODY, 0, N_("The record shows no such irregularity."));
	return 0;
}

static void demand_cut(struct dealbox_judge *j, uint8_t who)
{
	struct pack *pack = &j->packs[j->d.pack];
	const char *cause = N_("A cut was demanded.");

	if (is(j, PRE) || !seat(who) ||
	    (is(j, DUP) && seat(dealer(j)) && (dealer(j) - who) % 2 == 0)) {
		tell(j, DEALBOX_NO_RIGHT, is(j, PRE) ? "3.2.15" : is(j, RUB) ? "6" : "6A", who, 0, cause);
		return;
	}
	if (j->d.mark[DEALBOX_MARK_FIRST_CARD]) {
		tell(j, DEALBOX_CLAIM_TOO_LATE, is(j, RUB) ? "6" : "6A", NOBODY,
		     j->d.mark[DEALBOX_MARK_FIRST_CARD], cause);
		return;
	}
	pack->cut = false;
	j->d.cut_wanted = true;
	tell(j, DEALBOX_NEW_CUT, is(j, RUB) ? "6" : "6A",
	     is(j, RUB) ? right(j, dealer(j)) : NOBODY, 0, cause);
}

static void demand_shuffle(struct dealbox_judge *j, uint8_t who, uint8_t index)
{
	struct pack *pack = &j->packs[index];
	bool current = index == j->d.pack;
	bool picked = current && j->d.mark[DEALBOX_MARK_PICKUP];
	const char *cause = N_("A new shuffle was demanded.");
	struct dealbox_ruling r;

	if (!is(j, RUB) || !seat(who)) {
		tell(j, DEALBOX_NO_RIGHT, is(j, PRE) ? "3.2.15" : is(j, RUB) ? "6" : "6D3", who, 0, cause);
		return;
	}
	if (current && j->d.mark[DEALBOX_MARK_FIRST_CARD]) {
		tell(j, DEALBOX_CLAIM_TOO_LATE, "6(b)", NOBODY,
		     j->d.mark[DEALBOX_MARK_FIRST_CARD], cause);
		return;
	}
	r = ruling(DEALBOX_NEW_SHUFFLE, picked ? "6(b)" : "6(a)", cause);
	r.who = picked ? dealer(j) : preparer(j, index);
	r.cut = true;
	pack->shuffled = pack->cut = false;
	pack->only_dealer = picked ? "6(b)" : NULL;
	give(j, &r);
}

static void demand_restore(struct dealbox_judge *j, uint8_t who, uint8_t index)
{
	const struct pack *pack = &j->packs[index];
	struct dealbox_ruling r = ruling(DEALBOX_RESTORE_PACK, "7",
					 N_("A pack that belonged to a side is to be restored."));

	if (!is(j, RUB)) {
		r.kind = DEALBOX_NO_RULING;
		r.reference = main_paragraph(j);
	} else if (!seat(who)) {
		r.kind = DEALBOX_NO_RIGHT;
		r.who = who;
	} else if (j->d.mark[DEALBOX_MARK_LAST_CARD]) {
		r.kind = DEALBOX_CLAIM_TOO_LATE;
		rest_on(&r, j->d.mark[DEALBOX_MARK_LAST_CARD]);
	} else if (j->d.forfeited[who]) {
		r.kind = DEALBOX_RIGHT_FORFEITED;
		r.reference = "8";
		r.see = "7";
		r.who = who;
		rest_on(&r, j->d.forfeited[who]);
	} else if (pack->side == 255) {
		r.kind = DEALBOX_NO_RULING;
		r.cause = N_("The pack belongs to neither side.");
	} else {
		r.pack = *pack->name ? pack->name : NULL;
	}
	give(j, &r);
}

static void demand_redeal(struct dealbox_judge *j, happening *h)
{
	static const uint32_t groups[] = {
		FACEUPS, MISDEALS, BIT(I_WRONG_HAND), BIT(I_SEEN), BIT(I_TURN), BIT(I_UNSHUFFLED),
		BIT(I_UNCUT), BIT(I_NONCONFORMING), BIT(I_SHORT_PACK),
	};
	const struct dealbox_ruleset *rules = j->rules;
	struct dealbox_ruling r;

	j->d.claim = j->line;
	if (h->actor == DEALBOX_ACTOR_DIRECTOR) {
		bool bad = h->flags & FLAG(F_INCOMPATIBLE);

		r = ruling(bad ? DEALBOX_BREACH : DEALBOX_REDEAL, "6D3",
			   bad ? N_("The director's reason is not compatible with the Laws.") :
				 N_("The director requires a new shuffle and deal."));
		r.see = rules->redeal_laws;
		if (!bad)
			fill_redeal(j, &r);
		give(j, &r);
		return;
	}
	if (h->about) {
		attention(j, h->about, h->actor, true, j->d.pack);
		return;
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		uint32_t found = raised(j, groups[i]);

		if (found) {
			notice(j, found, h->actor, true);
			return;
		}
	}
	if (is(j, DUP)) {
		r = ruling(DEALBOX_DIRECTOR_DECIDES, "6D3", N_("A player asks for a redeal."));
		r.see = rules->redeal_laws;
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
		give(j, &r);
		return;
	}
	tell(j, DEALBOX_STANDS, main_paragraph(j), NOBODY, 0, N_("The record shows no such irregularity."));
}

static int on_demand(struct dealbox_judge *j, happening *h)
{
	uint8_t pack;
	int err = pack_find(j, h, &pack);

	if (err)
		return err;
	if (h->about && h->topic != T_REDEAL)
		return fail(j, "for= stands after demand redeal only");
	deal_begin(j);
	switch (h->topic) {
	case T_CUT:
		demand_cut(j, h->actor);
		break;
	case T_SHUFFLE:
		demand_shuffle(j, h->actor, pack);
		break;
	case T_RESTORE_PACK:
		demand_restore(j, h->actor, pack);
		break;
	default:
		demand_redeal(j, h);
	}
	return 0;
}

static int on_instruct(struct dealbox_judge *j, happening *h)
{
	switch (h->topic) {
	case T_AT_TABLE:
		j->at_table = j->line;
		break;
	case T_AGENTS:
		j->agents = j->line;
		break;
	case T_ABSENCE:
		j->absence = j->line;
		break;
	case T_COPIES:
		j->copies = j->line;
		break;
	default:
		j->method = h->flags & FLAG(F_BIASED) ? 0 : j->line;
		j->biased = j->method ? 0 : j->line;
		if (j->biased)
			tell(j, DEALBOX_BREACH, "6E4", DEALBOX_ACTOR_DIRECTOR, 0,
			     N_("The method does not give the same wholly random expectations."));
	}
	return 0;
}

static int on_copy(struct dealbox_judge *j, happening *h)
{
	if (!j->copies)
		tell(j, DEALBOX_BREACH, "6F", h->actor, 0,
		     N_("The director has not instructed that copies be made."));
	else if (h->topic == T_EXACT)
		tell(j, DEALBOX_STANDS, "6F", NOBODY, j->copies,
		     N_("The copy is exactly like the original deal."));
	else
		tell(j, DEALBOX_NEW_BOARD, "6F", NOBODY, j->copies,
		     N_("The copy is not exactly like the original deal."));
	return 0;
}

static const struct {
	int (*handle)(struct dealbox_judge *j, happening *h);
	uint8_t rules;		/* where the word belongs */
} handlers[LAW_VERBS] = {
	[V_RULES] = { on_rules, ALL },
	[V_RUBBER] = { on_rubber, RUB },
	[V_PLAYERS] = { on_players, PRE },
	[V_PACK] = { on_pack, ALL },
	[V_TURN] = { on_turn, RUB | PRE },
	[V_BOARD] = { on_board, DUP },
	[V_PURPOSE] = { on_purpose, DUP },
	[V_ORIGIN] = { on_origin, DUP },
	[V_CUSTOM] = { on_custom, PRE },
	[V_INTENT] = { on_intent, PRE },
	[V_INTERESTS] = { on_interests, PRE },
	[V_PRESENT] = { on_present, DUP },
	[V_SHUFFLE] = { on_shuffle, ALL },
	[V_PLACE] = { on_place, ALL },
	[V_DISTURB] = { on_disturb, ALL },
	[V_PICKUP] = { on_pickup, ALL },
	[V_CUT] = { on_cut, ALL },
	[V_DEAL] = { on_deal, ALL },
	[V_DEALT] = { on_dealt, ALL },
	[V_RECTIFY] = { on_rectify, ALL },
	[V_OBJECT] = { on_object, ALL },
	[V_REDEAL] = { on_redeal, ALL },
	[V_POCKET] = { on_pocket, DUP },
	[V_TAKE] = { on_take, ALL },
	[V_LOOK] = { on_look, ALL },
	[V_SEE] = { on_see, ALL },
	[V_SHOW] = { on_show, ALL },
	[V_MIX] = { on_mix, RUB },
	[V_COUNT] = { on_count, ALL },
	[V_SEARCH] = { on_search, ALL },
	[V_FIND] = { on_find, RUB },
	[V_AUCTION] = { on_auction, ALL },
	[V_CALL] = { on_call, ALL },
	[V_BUY] = { on_buy, PRE },
	[V_GAME] = { on_game, PRE },
	[V_PLAY] = { on_play, ALL },
	[V_OVER] = { on_over, ALL },
	[V_NOTES] = { on_notes, ALL },
	[V_DEMAND] = { on_demand, ALL },
	[V_INSTRUCT] = { on_instruct, DUP },
	[V_COPY] = { on_copy, DUP },
};

/* ---- from outside ---- */

struct dealbox_judge *dealbox_judge_new(dealbox_ruling_fn report, void *context)
{
	struct dealbox_judge *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->report = report;
	j->context = context;
	j->turn = NOBODY;
	j->last_pack = 255;
	j->remise = 5;
	deal_new(j);
	j->begun = false;
	return j;
}

void dealbox_judge_free(struct dealbox_judge *j)
{
	free(j);
}

static bool uses_pack(uint8_t verb)
{
	return verb >= V_SHUFFLE;
}

static int judge(struct dealbox_judge *j, happening *h)
{
	if (!j->rules && h->verb != V_RULES)
		return fail(j, "the first line is rules, with the ruleset: duplicate-2007, "
			       "duplicate-2017, rubber or preferans");
	if (h->timed) {
		if (h->time_ms < j->time_ms)
			return fail(j, "the time is before that of an earlier line");
		j->time_ms = h->time_ms;
	}
	if (h->verb != V_RULES) {
		if (!is(j, handlers[h->verb].rules))
			return fail(j, "that word does not belong to %s", j->rules->name);
		if ((h->actor == DEALBOX_ACTOR_DIRECTOR || h->actor == DEALBOX_ACTOR_ASSISTANT) &&
		    !j->rules->director)
			return fail(j, "there is no director in %s", j->rules->name);
		if (seat(h->actor) && !(j->players & 1u << h->actor))
			return fail(j, "%s does not play: see players", dealbox_actor_name(h->actor));
		/* a pack that nobody named */
		if (!j->pack_count && uses_pack(h->verb)) {
			j->packs[0] = (struct pack){ .side = 255, .cards = j->rules->cards };
			j->pack_count = 1;
		}
	}
	return handlers[h->verb].handle(j, h);
}

static int finish(struct dealbox_judge *j, int result, struct dealbox_record_error *error)
{
	if (result < 0) {
		j->failed = true;
		j->error.line = j->line;
		*error = j->error;
		return result;
	}
	return 0;
}

int dealbox_judge_happening(struct dealbox_judge *j, const struct dealbox_happening *h,
			    struct dealbox_record_error *error)
{
	if (j->failed) {
		*error = j->error;
		return -EINVAL;
	}
	j->line++;
	if (h->verb >= LAW_VERBS || h->topic >= LAW_TOPICS || h->about >= LAW_TOPICS)
		return finish(j, fail(j, "no such happening"), error);
	return finish(j, judge(j, h), error);
}

int dealbox_judge_line(struct dealbox_judge *j, const char *line, size_t length,
		       struct dealbox_record_error *error)
{
	struct dealbox_happening h;
	int result;

	if (j->failed) {
		*error = j->error;
		return -EINVAL;
	}
	j->line++;
	result = dealbox_record_parse(line, length, &h, &j->error);
	if (result > 0)
		result = judge(j, &h);
	return finish(j, result, error);
}

const struct dealbox_ruleset *law_judge_rules(const struct dealbox_judge *j)
{
	return j->rules;
}

unsigned long law_judge_misdeal(const struct dealbox_judge *j)
{
	return j->d.misdeal_last;
}

unsigned int law_judge_cards(const struct dealbox_judge *j)
{
	return j->pack_count ? j->packs[j->d.pack].cards : j->rules->cards;
}
