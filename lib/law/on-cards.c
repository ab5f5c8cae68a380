// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hands and talon: taken up, looked at, counted; cards missing and surplus.
 */
#include "cards/messages.h"
#include "judge.h"

/* ---- handlers: hands and talon ---- */

/* Preferans: the hand has been picked up, so a deal out of turn is lawful. */
static void turn_lawful(struct dealbox_judge *j)
{
	struct deal *d = &j->d;

	if (!law_is(j, PRE) || !d->mark[DEALBOX_UNTIL_LAST_CARD] || d->mark[DEALBOX_UNTIL_LOOK])
		return;
	law_mark(j, DEALBOX_UNTIL_LOOK);
	if (!d->issue[I_TURN] || d->redeal)
		return;
	law_tell(j, DEALBOX_RULING_STANDS, "3.2.14", NOBODY, d->issue[I_TURN],
	     N_("The deal was out of turn, and nobody drew attention to it in time."));
	law_tell(j, DEALBOX_RULING_NEXT_DEALER, "3.2.14", law_left(j, d->dealer), d->issue[I_TURN],
	     N_("The deal was out of turn, and nobody drew attention to it in time."));
	/* as if it had been in turn */
	j->turn = d->dealer;
}

static void bar(struct dealbox_judge *j, uint8_t who, const char *reference, const char *cause)
{
	if (!law_gets_cards(j, who))
		return;
	j->d.barred[who] = j->line;
	law_tell(j, DEALBOX_RULING_BARRED, reference, who, 0, cause);
}

void law_talon_seen(struct dealbox_judge *j, uint8_t who, bool looked)
{
	struct dealbox_ruling r;

	if (!law_seat(who) || j->d.bought != NOBODY)
		return;
	if (law_dealt_right(j) && law_gets_cards(j, who)) {
		j->d.talon_seen[who] = j->line;
		bar(j, who, "3.2.19", N_("A player has seen the talon."));
	}
	if (!looked)
		return;
	r = law_ruling(DEALBOX_RULING_PENALTY, "3.2.21",
		       N_("A player looked at the talon before it was bought."));
	r.who = who;
	r.amount = 5;
	r.unit = DEALBOX_UNIT_HILL;
	law_give(j, &r);
}

static void talon_taken(struct dealbox_judge *j, uint8_t who)
{
	if (!law_seat(who) || j->d.bought != NOBODY || !law_gets_cards(j, who))
		return;
	if (!law_dealt_right(j)) {
		law_tell(j, DEALBOX_RULING_NO_RULING, "3.2.20", who, j->d.issue_last,
		     N_("The deal was not correct."));
		return;
	}
	bar(j, who, "3.2.20", N_("A player has taken the talon."));
	law_tell(j, DEALBOX_RULING_RESTORE_CARD, "3.2.20", who, 0,
		 N_("A player has taken the talon."));
}

int law_on_take(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = law_hand_of(h);
	int err;

	if (hand == NOBODY)
		return law_fail(j, N_("whose hand? After take stands N, E, S, W or talon"));
	err = law_hand_check(j, hand);
	if (err)
		return err;
	law_deal_begin(j);
	if (hand == DEALBOX_TALON)
		talon_taken(j, h->actor);
	else if (law_seat(h->actor))
		j->d.taken[h->actor][hand] = j->line;
	if (hand != DEALBOX_TALON && hand == h->actor)
		turn_lawful(j);
	return 0;
}

/* Law 8: no player looks at a card before the deal is completed. */
static void forfeit(struct dealbox_judge *j, uint8_t who)
{
	if (!law_is(j, RUB) || !law_seat(who) || j->d.mark[DEALBOX_UNTIL_LAST_CARD] ||
	    !j->d.mark[DEALBOX_UNTIL_FIRST_CARD] || j->d.forfeited[who])
		return;
	j->d.forfeited[who] = j->line;
	law_tell(j, DEALBOX_RULING_RIGHT_FORFEITED, "8", who, 0,
	     N_("A player looked at the face of a card before the deal was completed."));
}

/* Duplicate: a player may have seen another player's card. */
static void sight(struct dealbox_judge *j, uint8_t who, uint8_t hand)
{
	struct dealbox_ruling r;

	j->d.sight_told = true;
	if (!law_seat(who) || who == hand)
		return;
	if (!j->d.mark[DEALBOX_UNTIL_LAST_CARD]) {
		law_raise_issue(j, I_SEEN);
		return;
	}
	if (j->d.mark[DEALBOX_UNTIL_OVER]) {
		law_tell(j, DEALBOX_RULING_NO_RULING, "6D1", who, j->d.mark[DEALBOX_UNTIL_OVER],
		     N_("The play of the board was over."));
		return;
	}
	r = law_ruling(DEALBOX_RULING_OTHER_LAW, "6D1",
		       N_("A player saw a card of another player's hand after the deal."));
	r.see = j->rules->sight_law;
	r.who = who;
	law_give(j, &r);
}

int law_on_look(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = law_hand_of(h), who = h->actor;
	int err;

	if (hand == NOBODY)
		return law_fail(j, N_("at whose cards? After look stands N, E, S, W or talon"));
	err = law_hand_check(j, hand);
	if (err)
		return err;
	law_deal_begin(j);
	if (hand == DEALBOX_TALON) {
		law_talon_seen(j, who, true);
		return 0;
	}
	forfeit(j, who);
	if (hand == who) {
		turn_lawful(j);
		law_mark(j, DEALBOX_UNTIL_LOOK);
		return 0;
	}
	if (law_is(j, PRE) && law_seat(who))
		law_tell(j, DEALBOX_RULING_BREACH, "3.2.22", who, 0,
		     N_("A player looked into another player's cards; "
			"the text has no penalty for it."));
	if (law_is(j, RUB) && law_seat(who))
		law_raise_issue(j, I_WRONG_HAND);
	if (law_is(j, DUP))
		sight(j, who, hand);
	return 0;
}

int law_on_see(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = law_hand_of(h), who = h->actor;
	int err = law_hand_check(j, hand);

	if (err)
		return err;
	law_deal_begin(j);
	if (hand == DEALBOX_TALON)
		law_talon_seen(j, who, false);
	else if (law_is(j, DUP))
		sight(j, who, hand);
	else if (law_is(j, RUB) && law_seat(who) && who != hand && j->d.taken[who][hand])
		law_raise_issue(j, I_WRONG_HAND);
	else if (law_is(j, PRE) && who != hand)
		law_tell(j, DEALBOX_RULING_BREACH, "3.2.22", hand, 0,
		     N_("A player let others look into his cards; "
			"the text has no penalty for it."));
	return 0;
}

int law_on_show(struct dealbox_judge *j, happening *h)
{
	if (law_is(j, PRE))
		law_tell(j, DEALBOX_RULING_BREACH, "3.2.22", h->actor, 0,
		     N_("A player let others look into his cards; "
			"the text has no penalty for it."));
	return 0;
}

int law_on_mix(struct dealbox_judge *j, happening *h)
{
	bool opposing = h->places & 0x5 && h->places & 0xa;
	const char *cause = N_("Players of opposing sides let their cards be mixed.");
	struct dealbox_ruling r;

	if (!opposing) {
		law_tell(j, DEALBOX_RULING_NO_RULING, "10(c)(iii)", NOBODY, 0,
		     N_("The cards that were mixed are not of opposing sides."));
	} else if (!j->d.claim) {
		law_tell(j, DEALBOX_RULING_NO_RULING, "10(c)(iii)", NOBODY, 0,
		     N_("Nobody had claimed that a redeal is in order."));
	} else if (j->d.mark[DEALBOX_UNTIL_OVER]) {
		r = law_ruling(DEALBOX_RULING_CLAIM_TOO_LATE, "10(c)(iii)", cause);
		law_rest_on(&r, j->d.mark[DEALBOX_UNTIL_OVER]);
		law_give(j, &r);
	} else {
		law_redeal(j, "10(c)(iii)", "6(e)", j->d.claim, 0, cause);
	}
	return 0;
}

/* The first line of them, 0 = none. */
static unsigned long first_of(const unsigned long lines[SEATS])
{
	unsigned long first = 0;

	for (int p = 0; p < SEATS; p++)
		if (lines[p] && (!first || lines[p] < first))
			first = lines[p];
	return first;
}

/* 10(c)(ii), 11, 12: a hand has too many or too few cards. */
static void count_rubber(struct dealbox_judge *j, uint8_t hand, bool many)
{
	struct deal *d = &j->d;
	const char *cause = N_("One player has too many cards, and another too few.");
	unsigned long over, under;
	struct dealbox_ruling r;

	/* the last count of a hand is valid: 10(c)(ii) needs another player */
	d->over[hand] = many ? j->line : 0;
	d->under[hand] = many ? 0 : j->line;
	over = first_of(d->over);
	under = first_of(d->under);
	if (over && under) {
		if (d->mark[DEALBOX_UNTIL_OVER])
			law_tell(j, DEALBOX_RULING_CLAIM_TOO_LATE, "10(c)(ii)", hand,
				 d->mark[DEALBOX_UNTIL_OVER], cause);
		else
			law_redeal(j, "10(c)(ii)", "6(e)", over, under, cause);
		return;
	}
	r = law_ruling(DEALBOX_RULING_STANDS, many ? "12" : "11",
		       many ? N_("A player has too many cards.") :
			      N_("A player has too few cards."));
	r.see = "10(c)";
	r.who = hand;
	law_give(j, &r);
}

/* 3.2.16, 3.2.23: after the first bid, each player answers for the number of the own cards. */
static void count_preferans(struct dealbox_judge *j, uint8_t hand, unsigned long fact)
{
	struct deal *d = &j->d;
	const char *cause = N_("A player has found the wrong number of cards in his hand.");
	struct dealbox_ruling r;

	/* no player holds the talon, so none answers for it */
	if (!law_seat(hand)) {
		law_raise_issue(j, I_COUNT);
		law_notice(j, BIT(I_COUNT), NOBODY, false);
		return;
	}
	if (d->called[hand] || d->mark[DEALBOX_UNTIL_PLAY]) {
		r = law_ruling(DEALBOX_RULING_PENALTY, "3.2.16", cause);
		r.see = "3.2.23, 3.9.18";
		r.who = hand;
		r.unit = DEALBOX_UNIT_MOST;
		law_rest_on(&r, fact);
		law_rest_on(&r, d->called[hand] ? d->called[hand] : d->mark[DEALBOX_UNTIL_PLAY]);
		law_give(j, &r);
		return;
	}
	d->issue[I_COUNT] = d->issue[I_COUNT] ? d->issue[I_COUNT] : fact ? fact : j->line;
	if (d->intent == T_POSSIBLE && d->interests != T_CONFLICT) {
		r = law_ruling(DEALBOX_RULING_PLAYERS_CHOOSE, "3.2.16", cause);
		r.who = hand;
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_GIVE_CARD;
		law_rest_on(&r, fact);
		law_rest_on(&r, d->intent_line);
		law_give(j, &r);
		return;
	}
	law_redeal(j, d->intent ? "3.2.16" : "3.2.13",
		   d->intent ? "3.2.23" : "3.2.15(6), 3.2.16, 3.2.23", d->intent_line, fact, cause);
	/* a machine that dealt for the dealer has no intent */
	if (d->intent == T_POSSIBLE && !d->agent_deals)
		law_tell(j, DEALBOX_RULING_COMPENSATION, "3.2.16", law_dealer(j), d->interests_line,
		     N_("The interests of the players are in conflict."));
}

int law_on_count(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = law_hand_of(h);
	int expected;
	int err;

	if (hand == NOBODY)
		return law_fail(j, N_("whose cards? After count stands N, E, S, W or talon"));
	err = law_hand_check(j, hand);
	if (err)
		return err;
	law_deal_begin(j);
	expected = hand == DEALBOX_TALON ? (j->d.bought == NOBODY ? j->rules->talon_cards : 0) :
		   j->rules->hand_cards - j->d.plays[hand] +
		   (hand == j->d.bought ? j->rules->talon_cards : 0);
	if (h->number[1] >= 0)
		expected = h->number[1];
	if (h->number[0] == expected) {
		if (law_seat(hand))
			j->d.over[hand] = j->d.under[hand] = j->d.silent[hand].line = 0;
		return 0;
	}
	if (h->flags & FLAG(F_SILENT)) {
		if (hand != DEALBOX_TALON) {
			j->d.silent[hand].line = j->line;
			j->d.silent[hand].many = h->number[0] > expected;
		}
		return 0;
	}
	if (law_is(j, RUB)) {
		count_rubber(j, hand, h->number[0] > expected);
	} else if (law_is(j, PRE)) {
		count_preferans(j, hand, 0);
	} else {
		law_raise_issue(j, I_COUNT);
		law_notice(j, BIT(I_COUNT), h->actor, false);
	}
	return 0;
}

bool law_count_noted(struct dealbox_judge *j, uint8_t hand, uint8_t who)
{
	if (hand >= SEATS || !j->d.silent[hand].line)
		return false;
	if (law_is(j, RUB)) {
		count_rubber(j, hand, j->d.silent[hand].many);
	} else if (law_is(j, PRE)) {
		count_preferans(j, hand, j->d.silent[hand].line);
	} else {
		if (!j->d.issue[I_COUNT])
			j->d.issue[I_COUNT] = j->d.silent[hand].line;
		law_notice(j, BIT(I_COUNT), who, false);
	}
	return true;
}

int law_on_search(struct dealbox_judge *j, happening *h)
{
	const char *cause = N_("A missing card cannot be found.");

	if (h->topic == T_FOUND)
		return 0;
	if (law_is(j, RUB) && j->d.mark[DEALBOX_UNTIL_OVER])
		law_tell(j, DEALBOX_RULING_CLAIM_TOO_LATE, "10(c)(i)", NOBODY,
			 j->d.mark[DEALBOX_UNTIL_OVER], cause);
	else if (law_is(j, RUB))
		law_redeal(j, "10(c)(i)", "6(e), 1", first_of(j->d.under), 0, cause);
	else if (law_is(j, PRE))
		law_redeal(j, "3.2.15(2)", NULL, 0, 0, cause);
	else
		law_tell(j, DEALBOX_RULING_NO_RULING, "6D1", NOBODY, 0, cause);
	return 0;
}

int law_on_find(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = law_hand_of(h);
	struct dealbox_ruling r;

	if (hand == DEALBOX_TALON)
		return law_fail(j, N_("there is no talon in %s"), j->rules->name);
	if (h->topic == T_MISSING) {
		bool trick = h->flags & (FLAG(F_TRICK) | FLAG(F_OLD_TRICK));

		r = trick ? law_ruling(DEALBOX_RULING_OTHER_LAW, "11(a)",
				       N_("The player played more than once "
					  "to a previous trick.")) :
			    law_ruling(DEALBOX_RULING_RESTORE_CARD, "11(b)",
				   N_("A missing card was found, not in a previous trick."));
		r.see = trick ? "67" : "23, 49";
		r.who = hand;
		law_rest_on(&r, j->d.under[hand]);
		law_give(j, &r);
		return 0;
	}
	r = law_ruling(DEALBOX_RULING_RESTORE_CARD, "12(b)",
		       N_("A player has picked up a surplus card."));
	r.who = hand;
	law_rest_on(&r, j->d.over[hand]);
	law_give(j, &r);
	if (h->flags & FLAG(F_IN_HAND)) {
		law_tell(j, DEALBOX_RULING_NO_PENALTY, "12(b)(i)", hand, j->d.over[hand],
		     N_("The surplus card is still in the offender's hand."));
		return 0;
	}
	law_tell(j, DEALBOX_RULING_SUBSTITUTE_CARD, "12(b)(ii)", hand, j->d.over[hand],
	     N_("The surplus card has been led or played."));
	if (h->flags & FLAG(F_PLAYED))
		law_tell(j, DEALBOX_RULING_ENTITLED, "12(b)(ii)", NOBODY, j->d.over[hand],
		     N_("Attention was drawn before the lead to the next trick."));
	return 0;
}
