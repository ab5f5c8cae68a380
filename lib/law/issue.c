// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Irregularities and rulings. An irregularity is first raised (it is a fact), then noticed
 * (somebody draws attention to it); its row in the ruleset has the consequence, and the time limit.
 */
#include <string.h>

#include "cards/messages.h"
#include "judge.h"

const char *const law_issue_cause[ISSUES] = {
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
	[I_SEEN] = (N_("During the shuffle and deal a player could have "
		       "seen a card of another player.")),
	[I_WRONG_HAND] = N_("A player picked up another player's hand and saw a card in it."),
	[I_DAMAGED] = N_("The pack contains a card that may be known from its back."),
	[I_NONCONFORMING] = N_("The pack is not as it must be."),
	[I_SHORT_PACK] = N_("Cards are missing from the pack."),
	[I_SHUFFLE] = N_("The pack was shuffled after the cut."),
	[I_MANNER] = N_("The dealer broke the rules of dealing."),
};

/*
 * The issue of a word after notes. fact: the notice itself is the fact, unless the record has such
 * a happening before. Otherwise this is so only in a record that does not describe the dealing.
 */
static const struct {
	uint32_t issues;
	uint8_t issue;		/* the issue that is raised */
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
/* ---- giving rulings ---- */

struct dealbox_ruling law_ruling(enum dealbox_ruling_kind kind, const char *reference,
				 const char *cause)
{
	return (struct dealbox_ruling){
		.kind = kind, .reference = reference, .cause = cause, .who = NOBODY,
	};
}

void law_rest_on(struct dealbox_ruling *r, unsigned long line)
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

void law_give(struct dealbox_judge *j, struct dealbox_ruling *r)
{
	r->rules = j->rules->rules;
	r->line = j->line;
	if (r->fact_count == DEALBOX_RULING_FACTS)
		r->fact_count--;	/* the line itself is always among them */
	law_rest_on(r, j->line);
	switch (r->kind) {
	case DEALBOX_RULING_REDEAL:
		j->d.redeal = j->line;
		j->d.redeal_for = 0;
		break;
	case DEALBOX_RULING_RESULT_CANCELLED:
		j->d.cancelled = j->line;
		break;
	case DEALBOX_RULING_DIRECTOR_DECIDES:
		j->d.open = j->line;
		break;
	case DEALBOX_RULING_PLAYERS_CHOOSE:
		j->d.choice = j->line;
		break;
	case DEALBOX_RULING_STANDS:
		j->d.stands = j->line;
		break;
	default:
		break;
	}
	j->report(r, j->context);
}

void law_tell(struct dealbox_judge *j, enum dealbox_ruling_kind kind, const char *reference,
	      uint8_t who, unsigned long fact, const char *cause)
{
	struct dealbox_ruling r = law_ruling(kind, reference, cause);

	r.who = who;
	law_rest_on(&r, fact);
	law_give(j, &r);
}

uint8_t law_redealer(const struct dealbox_judge *j)
{
	if (j->d.passes != NOBODY)
		return j->d.passes;
	return j->d.issue[I_TURN] ? j->turn : law_dealer(j);
}

void law_fill_redeal(const struct dealbox_judge *j, struct dealbox_ruling *r)
{
	const struct pack *pack = &j->packs[j->d.pack];

	if (law_is(j, DUP)) {
		r->shuffle = true;
		return;
	}
	r->who = law_redealer(j);
	if (law_is(j, PRE))
		return;
	r->shuffle = r->cut = true;
	if (pack->replaced)
		pack = j->pack_count == 2 ? &j->packs[!j->d.pack] : NULL;
	r->pack = pack && *pack->name ? pack->name : NULL;
}

void law_redeal(struct dealbox_judge *j, const char *reference, const char *see,
		unsigned long fact, unsigned long fact2, const char *cause)
{
	struct dealbox_ruling r = law_ruling(DEALBOX_RULING_REDEAL, reference, cause);

	r.see = see;
	law_rest_on(&r, fact);
	law_rest_on(&r, fact2);
	law_fill_redeal(j, &r);
	law_give(j, &r);
}
/* ---- irregularities ---- */

static const struct law_row *row_find(const struct dealbox_judge *j, enum issue issue)
{
	return law_row_find(j->rules->rules, issue);
}

const char *law_main_paragraph(const struct dealbox_judge *j)
{
	return law_is(j, DUP) ? "6D1" : law_is(j, RUB) ? "10" : "3.2.15";
}

void law_unfounded(struct dealbox_judge *j)
{
	law_tell(j, DEALBOX_RULING_STANDS, law_main_paragraph(j), NOBODY, 0,
		 N_("The record shows no such irregularity."));
}

/* An irregularity that the text does not cover; 6D1 of 2007 refers to the other Laws. */
void law_elsewhere(struct dealbox_judge *j, const char *cause)
{
	law_tell(j, law_is(j, D07) ? DEALBOX_RULING_OTHER_LAW : DEALBOX_RULING_NO_RULING,
		 law_main_paragraph(j), NOBODY, 0, cause);
}

void law_raise_issue(struct dealbox_judge *j, enum issue issue)
{
	/* a method required by the director replaces 6A and 6B */
	if (law_is(j, DUP) && j->method &&
	    (BIT(issue) & (BIT(I_PACKET) | BIT(I_ADJACENT) | BIT(I_UNSHUFFLED))))
		return;
	if (!row_find(j, issue))
		return;
	if (!j->d.issue[issue])
		j->d.issue[issue] = j->line;
	j->d.issue_again[issue] = j->line;
	j->d.issue_last = j->line;
	if (BIT(issue) & MISDEALS)
		j->d.misdeal_last = j->line;
}

/* The issues under which the same error may be noticed. */
static uint32_t same_error(enum issue issue)
{
	return BIT(issue) & DEALING_FAULTS ? DEALING_FAULTS : BIT(issue);
}

/* The line at which the dealer was last punished for it; 0 = never. */
static unsigned long punished(const struct dealbox_judge *j, enum issue issue)
{
	unsigned long line = 0;

	for (int i = 0; i < ISSUES; i++)
		if (same_error(issue) & BIT(i) && j->d.punished[i] > line)
			line = j->d.punished[i];
	return line;
}

/*
 * Returns the issues in mask that the dealer has not been punished for since they were last raised.
 */
static uint32_t unpunished(const struct dealbox_judge *j, uint32_t mask)
{
	uint32_t left = 0;

	for (int i = 0; i < ISSUES; i++)
		if (mask & BIT(i) && j->d.issue_again[i] > punished(j, i))
			left |= BIT(i);
	return left;
}

/* Returns the issues in mask that another person than the dealer caused. */
static uint32_t of_others(const struct dealbox_judge *j, uint32_t mask)
{
	return mask & ((j->d.agent_deals ? DEALING_FAULTS : 0) |
		       (j->d.agent_shuffled ? BIT(I_SHUFFLE) : 0));
}

/*
 * 3.2.17: the first error of a dealer is a warning, the next a penalty; each counts once, no matter
 * how many players notice it. only: the error has no other consequence.
 */
static void dealer_fault(struct dealbox_judge *j, uint32_t mask, bool only)
{
	uint8_t who = law_dealer(j);
	uint32_t his = mask & ~of_others(j, mask), due = unpunished(j, his);
	struct dealbox_ruling r = law_ruling(DEALBOX_RULING_WARNING, "3.2.17", NULL);
	unsigned long fact;

	if (!law_seat(who))
		return;
	r.who = who;
	if (!due) {
		if (!only)
			return;
		r.kind = DEALBOX_RULING_NO_PENALTY;
		r.cause = his ? N_("The dealer has been punished for this error already.") :
				N_("The error was not the dealer's.");
		law_rest_on(&r, j->d.issue[__builtin_ctz(mask)]);
		law_give(j, &r);
		return;
	}
	for (int i = 0; i < ISSUES; i++)
		if (due & BIT(i))
			j->d.punished[i] = j->line;
	r.cause = law_issue_cause[__builtin_ctz(due)];
	fact = j->d.issue[__builtin_ctz(due)];
	law_rest_on(&r, fact);
	if (!j->faults[who]++) {
		law_give(j, &r);
		return;
	}
	r.kind = DEALBOX_RULING_PENALTY;
	r.unit = DEALBOX_UNIT_REMISE;
	r.amount = j->remise;
	law_give(j, &r);
	j->d.passes = law_left(j, who);
	law_tell(j, DEALBOX_RULING_TURN_PASSES, "3.2.17", j->d.passes, fact, r.cause);
}

/* Returns the line at which the window of a row closed; 0 = still open. */
static unsigned long closed(const struct dealbox_judge *j, const struct law_row *row)
{
	unsigned long line = 0;

	for (int m = 0; m < DEALBOX_UNTILS; m++)
		if (row->closes & 1u << m && j->d.mark[m] && (!line || j->d.mark[m] < line))
			line = j->d.mark[m];
	return line;
}

bool law_dealt_right(const struct dealbox_judge *j)
{
	uint32_t wrong = law_raised(j, ~(BIT(I_TURN) | BIT(I_UNSHUFFLED)));

	for (int i = 0; i < ISSUES; i++)
		if (wrong & BIT(i) && !closed(j, row_find(j, i)))
			return false;
	return !j->d.redeal;
}

void law_notice(struct dealbox_judge *j, uint32_t mask, uint8_t who, bool demand)
{
	enum issue issue = __builtin_ctz(mask);
	const struct law_row *row = row_find(j, issue);
	struct dealbox_ruling r;
	bool starred;

	if (!row) {
		law_elsewhere(j, law_issue_cause[issue]);
		return;
	}
	r = law_ruling(row->kind, row->reference, law_issue_cause[issue]);
	r.see = row->see;
	for (int i = 0; i < ISSUES; i++)
		if (mask & BIT(i))
			law_rest_on(&r, j->d.issue[i]);
	/* the asterisk of 10(a)(iii) applies to the demand: anybody may draw attention (Law 9) */
	starred = row->starred && (demand || !row->demanded) && law_seat(who) &&
		  j->d.forfeited[who];
	if (starred)
		law_rest_on(&r, j->d.forfeited[who]);
	if (closed(j, row) && !(demand && row->demanded && j->d.attention[issue])) {
		law_rest_on(&r, closed(j, row));
		r.kind = row->late;
		r.reference = row->late_reference;
		r.see = row->late_see;
		law_give(j, &r);
		return;
	}
	if (starred) {
		r.kind = DEALBOX_RULING_RIGHT_FORFEITED;
		r.see = row->reference;
		r.reference = "8";
		r.who = who;
		law_give(j, &r);
		return;
	}
	if (row->demanded && !demand) {
		j->d.attention[issue] = j->line;
		r.kind = DEALBOX_RULING_PLAYERS_CHOOSE;
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
		law_give(j, &r);
		return;
	}
	if (law_is(j, PRE) && mask & DEALER_FAULTS) {
		if (row->kind == DEALBOX_RULING_REDEAL) {
			/* the next dealer is known after the fault */
			dealer_fault(j, mask & DEALER_FAULTS, false);
		} else if (row->kind == DEALBOX_RULING_WARNING) {
			dealer_fault(j, mask & DEALER_FAULTS, true);
			return;
		}
	}
	switch (row->kind) {
	case DEALBOX_RULING_REDEAL:
		if (j->copies) {
			/* copies were ordered: normally no redeal, but the director may */
			r.kind = DEALBOX_RULING_DIRECTOR_DECIDES;
			r.see = r.reference;
			r.reference = "6F";
			r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
			law_rest_on(&r, j->copies);
			break;
		}
		law_fill_redeal(j, &r);
		break;
	case DEALBOX_RULING_DIRECTOR_DECIDES:
	case DEALBOX_RULING_PLAYERS_CHOOSE:
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
		break;
	case DEALBOX_RULING_RESULT_CANCELLED:
		if (!j->replay)
			break;
		r.kind = DEALBOX_RULING_STANDS;
		r.cause = N_("The purpose of the tournament is the replay of past deals.");
		law_rest_on(&r, j->replay);
		break;
	case DEALBOX_RULING_CHANGE_OF_PACK:
		r.pack = *j->packs[j->d.pack].name ? j->packs[j->d.pack].name : NULL;
		break;
	default:
		break;
	}
	law_give(j, &r);
	if (r.kind == DEALBOX_RULING_REDEAL)
		j->d.redeal_for = mask;
}

uint32_t law_raised(const struct dealbox_judge *j, uint32_t mask)
{
	uint32_t found = 0;

	for (int i = 0; i < ISSUES; i++)
		if (mask & BIT(i) && j->d.issue[i])
			found |= BIT(i);
	return found;
}

void law_mark(struct dealbox_judge *j, enum dealbox_until mark)
{
	if (!j->d.mark[mark])
		j->d.mark[mark] = j->line;
}
int law_attention(struct dealbox_judge *j, uint8_t topic, uint8_t who, bool demand, uint8_t pack)
{
	uint32_t found = law_raised(j, notable[topic].issues);

	if (topic == T_DAMAGED && law_is(j, RUB)) {
		/*
		 * the pack may be that of the next deal, but the window is that of the current one
		 */
		uint8_t current = j->d.pack;

		law_raise_issue(j, I_DAMAGED);
		j->d.pack = pack;
		law_notice(j, BIT(I_DAMAGED), who, demand);
		if (!j->d.mark[DEALBOX_UNTIL_LAST_CARD] && !(law_seat(who) && j->d.forfeited[who]))
			j->packs[pack].replaced = true;
		j->d.pack = current;
		j->d.issue[I_DAMAGED] = 0;
		return 0;
	}
	if (!row_find(j, notable[topic].issue)) {
		law_elsewhere(j, law_issue_cause[notable[topic].issue]);
		return 0;
	}
	/* once punished, the manner is a new error only if more cards were dealt since */
	if (topic == T_MANNER && punished(j, I_MANNER)) {
		found = BIT(I_MANNER);
		if (j->d.packet_line > punished(j, I_MANNER))
			law_raise_issue(j, I_MANNER);
		else if (!j->d.issue[I_MANNER])
			j->d.issue[I_MANNER] = j->line;
	}
	if (!found && (notable[topic].fact || !j->d.told) &&
	    !(topic == T_SEEN && j->d.sight_told)) {
		law_raise_issue(j, notable[topic].issue);
		found = BIT(notable[topic].issue);
	}
	if (found)
		law_notice(j, found, who, demand);
	else
		law_unfounded(j);
	return 0;
}
