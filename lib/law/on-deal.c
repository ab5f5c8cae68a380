// SPDX-License-Identifier: LGPL-2.1-or-later
/* Dealing: packets, order, errors that may be rectified, the end of the deal. */
#include "cards/messages.h"
#include "judge.h"

/* ---- handlers: dealing ---- */

/* 6E: the person who deals, and by whose authority. */
static const char *dealt_by(const struct dealbox_judge *j, uint8_t who)
{
	if (j->method)
		return "6E4";
	if (law_seat(who))
		return j->at_table ? "6E1" : "6B";
	return who == DEALBOX_ACTOR_DIRECTOR ? "6E2" : "6E3";
}

static void deal_start(struct dealbox_judge *j, happening *h)
{
	const struct pack *pack = &j->packs[j->d.pack];

	if (law_seat(h->actor))
		j->d.dealer = h->actor;
	law_pack_taken(j);
	law_mark(j, DEALBOX_UNTIL_FIRST_CARD);
	j->d.told = true;
	j->d.next = law_next_hand(j, law_seat(law_dealer(j)) ? law_dealer(j) : DEALBOX_ACTOR_WEST);
	if (law_seat(j->turn) && law_seat(j->d.dealer) && j->turn != j->d.dealer)
		law_raise_issue(j, I_TURN);
	if (!pack->shuffled)
		law_raise_issue(j, I_UNSHUFFLED);
	if (!pack->cut && (j->rules->cut_always || j->d.cut_wanted))
		law_raise_issue(j, I_UNCUT);
	if (!law_is(j, DUP))
		return;
	law_presence(j, h->actor);
	j->d.unauthorised = !law_seat(h->actor) &&
		(j->at_table || (h->actor != DEALBOX_ACTOR_DIRECTOR && !j->agents && !j->method));
	if (j->at_table && !law_seat(h->actor))
		law_tell(j, DEALBOX_RULING_BREACH, "6E1", h->actor, j->at_table,
		     N_("The director instructed that each table shuffle and deal."));
	else if (j->d.unauthorised)
		law_tell(j, DEALBOX_RULING_BREACH, "6E3", h->actor, 0,
		     N_("The director has not appointed who deals."));
}

/* All cards have been dealt. */
static void deal_end(struct dealbox_judge *j, uint8_t who)
{
	struct deal *d = &j->d;
	const struct pack *pack = &j->packs[d->pack];
	bool bad = false, sorted;

	if (d->mark[DEALBOX_UNTIL_LAST_CARD])
		return;
	for (int p = 0; p < SEATS; p++)
		bad |= d->hand[p] != (law_gets_cards(j, p) ? j->rules->hand_cards : 0);
	if (bad || d->hand[DEALBOX_TALON] != j->rules->talon_cards)
		law_raise_issue(j, I_COUNT);
	law_mark(j, DEALBOX_UNTIL_LAST_CARD);
	/* by the footnote of 2017 a pack not randomised from its prior condition is a sorted one */
	sorted = d->issue[I_UNSHUFFLED] && (law_is(j, D17) || (law_is(j, D07) && pack->sorted));
	if (sorted) {
		law_tell(j, j->replay ? DEALBOX_RULING_STANDS : DEALBOX_RULING_RESULT_CANCELLED,
			 "6D2", NOBODY, j->replay ? j->replay : d->issue[I_UNSHUFFLED],
		     j->replay ? N_("The purpose of the tournament is the replay of past deals.") :
				 N_("The cards were dealt without a shuffle from a sorted deck."));
		return;
	}
	if (law_is(j, RUB) && d->issue[I_TURN] && !d->attention[I_TURN] && !d->redeal) {
		law_tell(j, DEALBOX_RULING_STANDS, "9", d->dealer, d->issue[I_TURN],
		     N_("The deal was out of turn, and nobody drew attention to it in time."));
		law_tell(j, DEALBOX_RULING_NEXT_DEALER, "9", law_left(j, d->dealer),
			 d->issue[I_TURN],
			 N_("The deal was out of turn, and nobody drew attention to it in time."));
		return;
	}
	if (!law_raised(j, ~0u) && !d->redeal && !d->unauthorised && !j->biased &&
	    !pack->replaced)
		law_tell(j, DEALBOX_RULING_STANDS,
			 law_is(j, RUB) ? "8" :
			 law_is(j, PRE) ? "3.2.13" :
					  dealt_by(j, who),
			 NOBODY, d->mark[DEALBOX_UNTIL_FIRST_CARD],
			 N_("The cards were dealt correctly."));
	/* it does not simply stand, and no paragraph names a consequence */
	if (d->unauthorised || j->biased || pack->replaced)
		d->open = j->line;
}

/* 3.2.15(5): the talon is the fourth pair, or where custom has it. */
static void talon_check(struct dealbox_judge *j, uint8_t cards)
{
	bool last = j->d.dealt + cards >= j->packs[j->d.pack].cards;

	if (j->d.hand[DEALBOX_TALON] || j->d.packets == 0 || last)
		law_raise_issue(j, I_TALON);
	else if (j->d.packets != j->rules->talon_packet && !j->talon_anywhere)
		law_raise_issue(j, I_TALON_PLACE);
}

/* Deals one packet to one place. */
static int deal_packet(struct dealbox_judge *j, uint8_t place, uint8_t cards)
{
	struct deal *d = &j->d;
	uint32_t before = law_raised(j, ~0u);
	bool again = place == d->last;
	uint32_t wrong = 0;

	if (d->mark[DEALBOX_UNTIL_LAST_CARD])
		return law_fail(j, N_("the deal was over: write redeal, turn or board before"));
	if (d->dealt + cards > j->packs[d->pack].cards)
		return law_fail(j, N_("that is more than the %d cards of the pack"),
				j->packs[d->pack].cards);
	d->error.open = d->error.done = false;
	if (cards != j->rules->packet) {
		wrong |= BIT(I_PACKET);
		law_raise_issue(j, I_PACKET);
	}
	if (place == DEALBOX_TALON) {
		talon_check(j, cards);
	} else if (j->rules->rotation && place != d->next) {
		wrong |= BIT(I_ORDER);
		law_raise_issue(j, I_ORDER);
	}
	if (!j->rules->adjacent && (again || cards > 1))
		law_raise_issue(j, I_ADJACENT);
	if (law_is(j, RUB) && wrong && cards <= 2) {
		/* Law 8: two cards to one player, or a player left out: one card moves */
		d->error.order = wrong & BIT(I_ORDER);
		d->error.to = d->error.order ? d->next : law_left(j, place);
		d->error.from = place;
		d->error.last = cards == 2 && d->error.order ? place : d->error.to;
		d->error.open = cards == 1 || !d->error.order || law_left(j, d->next) == place;
		d->error.raised = wrong & ~before;
		d->error.line = j->line;
	}
	d->hand[place] += cards;
	d->dealt += cards;
	d->packets++;
	d->packet_line = j->line;
	d->last = place;
	if (place != DEALBOX_TALON)
		d->next = law_next_hand(j, place);
	return 0;
}

static void may_rectify(struct dealbox_judge *j)
{
	struct dealbox_ruling r = law_ruling(DEALBOX_RULING_MAY_RECTIFY, "8",
		law_issue_cause[j->d.error.order ? I_ORDER : I_PACKET]);

	r.who = law_dealer(j);
	r.until = DEALBOX_UNTIL_NEXT_CARD;
	r.see = "10(a)(ii)";
	law_give(j, &r);
}

int law_on_deal(struct dealbox_judge *j, happening *h)
{
	struct deal *d = &j->d;
	uint8_t cards = h->number[0] >= 0 ? h->number[0] : j->rules->packet;
	uint8_t place = h->places ? __builtin_ctz(h->places) : 0;
	uint8_t most, keep;
	int err;

	law_deal_begin(j);
	most = j->packs[d->pack].cards;
	keep = h->number[1] >= 0 && h->number[1] < most ? h->number[1] : 0;
	if (!h->number[0] || h->number[0] > most)
		return law_fail(j, N_("cards= is 1 to %d"), most);
	if (h->number[1] > most)
		return law_fail(j, N_("left= is 0 to %d"), most);
	if (!(h->flags & FLAG(F_REST))) {
		err = law_hand_check(j, place);
		if (err)
			return err;
	}
	if (d->mark[DEALBOX_UNTIL_LAST_CARD])
		return law_fail(j, N_("the deal was over: write redeal, turn or board before"));
	if (!d->mark[DEALBOX_UNTIL_FIRST_CARD])
		deal_start(j, h);
	d->agent_deals = !law_seat(h->actor);
	if (place != DEALBOX_TALON && !(h->flags & FLAG(F_REST)) && !law_gets_cards(j, place))
		return law_fail(j, N_("%s deals, and gets no cards when four play"),
				dealbox_actor_name(place));
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
		uint8_t by = law_seat(h->seat) ? h->seat : h->actor;
		enum issue issue = by == law_dealer(j) || (law_seat(by) && !law_seat(h->seat)) ?
				   I_FACEUP : I_FACEUP_OTHER;

		law_raise_issue(j, issue);
		law_notice(j, BIT(issue), NOBODY, false);
	} else if (law_seat(h->seat)) {
		if (law_is(j, RUB))
			law_tell(j, DEALBOX_RULING_BREACH, "8", h->actor, 0,
			     N_("The dealer let the face of a card be seen while dealing."));
		else if (law_is(j, PRE) && place == DEALBOX_TALON)
			law_talon_seen(j, h->seat, false);
		else if (h->seat != place)
			law_raise_issue(j, I_SEEN);
		d->sight_told = true;
	}
	if (d->error.open)
		may_rectify(j);
	if (d->dealt == most)
		deal_end(j, h->actor);
	return 0;
}

int law_on_dealt(struct dealbox_judge *j, happening *h)
{
	if (!j->d.mark[DEALBOX_UNTIL_FIRST_CARD])
		return law_fail(j, N_("no card has been dealt"));
	deal_end(j, h->actor != NOBODY ? h->actor : law_dealer(j));
	return 0;
}

int law_on_rectify(struct dealbox_judge *j, happening *h)
{
	struct deal *d = &j->d;

	if (!law_is(j, RUB)) {
		law_tell(j, DEALBOX_RULING_NO_RULING, law_main_paragraph(j), h->actor, 0,
		     N_("The text does not let an error of the deal be put right."));
		return 0;
	}
	if (!d->error.open) {
		uint32_t wrong = law_raised(j, MISDEALS);

		if (wrong)
			law_tell(j, DEALBOX_RULING_CLAIM_TOO_LATE, "8", h->actor,
				 d->issue[__builtin_ctz(wrong)],
				 N_("The dealer did not put the error right at once."));
		else
			law_tell(j, DEALBOX_RULING_STANDS, "8", NOBODY, 0,
			     N_("The record shows no such irregularity."));
		return 0;
	}
	if (law_seat(h->actor) && law_seat(law_dealer(j)) && h->actor != law_dealer(j)) {
		law_tell(j, DEALBOX_RULING_NO_RIGHT, "8", h->actor, d->error.line,
		     N_("Only the dealer may put an error of the deal right."));
		return 0;
	}
	d->hand[d->error.from]--;
	d->hand[d->error.to]++;
	d->last = d->error.last;
	d->next = law_next_hand(j, d->last);
	for (int i = 0; i < ISSUES; i++)
		if (d->error.raised & BIT(i))
			d->issue[i] = 0;
	/* a redeal for this error alone is no longer required */
	if (d->redeal_for && !(d->redeal_for & ~d->error.raised))
		d->redeal = 0;
	d->error.open = false;
	d->error.done = true;
	law_tell(j, DEALBOX_RULING_STANDS, "8", NOBODY, d->error.line,
	     N_("The dealer put the error right at once."));
	return 0;
}

int law_on_object(struct dealbox_judge *j, happening *h)
{
	if (!law_is(j, RUB) || !j->d.error.done) {
		law_unfounded(j);
		return 0;
	}
	j->d.issue[I_MISDEAL] = j->d.error.line;
	law_notice(j, BIT(I_MISDEAL), h->actor, true);
	return 0;
}

int law_on_redeal(struct dealbox_judge *j, happening *h)
{
	uint8_t who = law_redealer(j);
	uint8_t index;
	int err;

	law_deal_begin(j);
	err = law_pack_find(j, h, &index);
	if (err)
		return err;
	j->packs[index].shuffled = j->packs[index].cut = false;
	if (index == j->d.pack && j->d.mark[DEALBOX_UNTIL_FIRST_CARD])
		j->packs[index].played = true;
	j->packs[index].again = NULL;
	law_deal_new(j);
	j->turn = who;
	j->d.pack = index;
	j->d.again = true;
	j->d.again_line = j->line;
	return 0;
}

int law_on_pocket(struct dealbox_judge *j, happening *h)
{
	if (h->places & 1u << DEALBOX_TALON)
		return law_fail(j, N_("a board has the pockets N, E, S and W"));
	if (j->d.pocketed & h->places || h->flags & FLAG(F_FACEUP)) {
		law_raise_issue(j, I_POCKET);
		law_notice(j, BIT(I_POCKET), NOBODY, false);
	}
	j->d.pocketed |= h->places;
	return 0;
}
