// SPDX-License-Identifier: LGPL-2.1-or-later
/* Facts, and acts with the pack before the deal. */
#include <string.h>

#include "cards/messages.h"
#include "judge.h"

/* ---- handlers: what is so ---- */

int law_on_rules(struct dealbox_judge *j, happening *h)
{
	if (j->rules)
		return law_fail(j, N_("rules stands once, as the first line"));
	j->rules = dealbox_ruleset_get(h->topic - T_DUPLICATE_2007);
	j->players = j->rules->hands == 3 ? 0x7 : 0xf;
	return 0;
}

int law_on_rubber(struct dealbox_judge *j, happening *h)
{
	(void)h;
	if (j->begun)
		law_pack_used(j);
	law_deal_new(j);
	j->begun = false;
	j->turn = NOBODY;
	return 0;
}

int law_on_players(struct dealbox_judge *j, happening *h)
{
	if (j->begun)
		return law_fail(j, N_("players stands before the first deal"));
	if (h->places & 1u << DEALBOX_TALON)
		return law_fail(j, N_("the talon is no player"));
	j->players = h->places;
	return 0;
}

int law_on_pack(struct dealbox_judge *j, happening *h)
{
	struct pack *pack = NULL;
	uint8_t cards = j->rules->cards;

	for (int i = 0; i < j->pack_count; i++)
		if (!strcmp(j->packs[i].name, h->pack))
			pack = &j->packs[i];
	if (!pack) {
		if (j->pack_count && !*h->pack != !*j->packs[0].name)
			return law_fail(j, N_("where there is more than one pack, each needs a "
					      "name, before the first is used"));
		if (j->pack_count == PACKS_MAX)
			return law_fail(j, N_("more than %d packs"), PACKS_MAX);
		pack = &j->packs[j->pack_count++];
		memcpy(pack->name, h->pack, sizeof(pack->name));
		pack->side = 255;
		pack->cards = cards;
	}
	if (h->number[0] >= 0) {
		if (!h->number[0] || h->number[0] > 54)
			return law_fail(j, N_("a pack has 1 to 54 cards"));
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

int law_on_turn(struct dealbox_judge *j, happening *h)
{
	uint8_t who = h->places ? (uint8_t)__builtin_ctz(h->places) : NOBODY;
	uint8_t expected = j->turn;
	bool passed = j->begun && j->d.mark[DEALBOX_UNTIL_FIRST_CARD] && !j->d.redeal;
	int err;

	if (who == DEALBOX_TALON)
		return law_fail(j, N_("the talon is no player"));
	if (j->d.passes != NOBODY)
		expected = j->d.passes;
	else if (passed && law_seat(law_dealer(j)))
		expected = law_left(j, law_dealer(j));
	if (law_seat(who)) {
		err = law_hand_check(j, who);
		if (err)
			return err;
		if (law_seat(expected) && who != expected)
			return law_fail(j, N_("it is the turn of %s to deal, not of %s"),
					dealbox_actor_name(expected), dealbox_actor_name(who));
		expected = who;
	}
	if (j->begun)
		law_pack_used(j);
	law_deal_new(j);
	j->deals++;
	j->turn = expected;
	return *h->pack ? law_pack_find(j, h, &j->d.pack) : 0;
}

int law_on_board(struct dealbox_judge *j, happening *h)
{
	if (j->begun)
		law_pack_used(j);
	law_deal_new(j);
	j->deals++;
	j->board = h->number[0];
	return *h->pack ? law_pack_find(j, h, &j->d.pack) : 0;
}

int law_on_purpose(struct dealbox_judge *j, happening *h)
{
	j->replay = h->topic == T_REPLAY ? j->line : 0;
	return 0;
}

int law_on_origin(struct dealbox_judge *j, happening *h)
{
	bool unplayed = h->flags & FLAG(F_UNPLAYED);

	if (j->d.origin_line && j->d.origin != h->topic)
		return law_fail(j, N_("line %lu says another origin of this deal"),
				j->d.origin_line);
	j->d.origin = h->topic;
	j->d.origin_line = j->line;
	if (h->topic == T_THIS_SESSION)
		return 0;
	if (h->topic == T_EXCHANGED)
		law_tell(j, DEALBOX_RULING_STANDS, "6D2", NOBODY, 0,
		     N_("The board was exchanged between tables of this session."));
	else if (j->replay)
		law_tell(j, DEALBOX_RULING_STANDS, "6D2", NOBODY, j->replay,
		     N_("The purpose of the tournament is the replay of past deals."));
	else if (law_is(j, D07) && unplayed)
		law_tell(j, DEALBOX_RULING_STANDS, "6D2", NOBODY, 0,
		     N_("The deal was not played in an earlier session."));
	else
		law_tell(j, DEALBOX_RULING_RESULT_CANCELLED, "6D2", NOBODY, 0,
		     law_is(j, D07) ? N_("The deal was played in an earlier session.") :
				  N_("The deal was imported from a different session."));
	return 0;
}

int law_on_custom(struct dealbox_judge *j, happening *h)
{
	if (h->topic == T_TALON_ANYWHERE) {
		j->talon_anywhere = true;
		return 0;
	}
	if (h->number[0] < 0)
		return law_fail(j, N_("after custom remise stands how much it is"));
	j->remise = h->number[0];
	return 0;
}

int law_on_intent(struct dealbox_judge *j, happening *h)
{
	if (j->d.intent_line && j->d.intent != h->topic)
		return law_fail(j, N_("line %lu says another intent"), j->d.intent_line);
	j->d.intent = h->topic;
	j->d.intent_line = j->line;
	return 0;
}

int law_on_interests(struct dealbox_judge *j, happening *h)
{
	if (j->d.interests_line && j->d.interests != h->topic)
		return law_fail(j, N_("line %lu says other interests"), j->d.interests_line);
	j->d.interests = h->topic;
	j->d.interests_line = j->line;
	return 0;
}

int law_on_present(struct dealbox_judge *j, happening *h)
{
	if (h->places & 1u << DEALBOX_TALON)
		return law_fail(j, N_("the talon is no player"));
	j->present = h->places;
	j->present_line = j->line;
	return 0;
}
/* ---- handlers: the pack ---- */

void law_presence(struct dealbox_judge *j, uint8_t who)
{
	bool both = j->present & 0x5 && j->present & 0xa;

	if (!law_is(j, DUP) || !law_seat(who) || !j->present_line || both || j->absence ||
	    j->d.absent_told)
		return;
	j->d.absent_told = true;
	law_tell(j, DEALBOX_RULING_BREACH, "6C", NOBODY, j->present_line,
	     N_("A side has no member present during the shuffle and deal."));
}

uint8_t law_preparer(const struct dealbox_judge *j, uint8_t pack)
{
	uint8_t who = law_dealer(j);

	if (!law_seat(who))
		return NOBODY;
	return j->d.mark[DEALBOX_UNTIL_FIRST_CARD] && pack != j->d.pack ?
		law_left(j, law_left(j, who)) : law_left(j, who);
}

static void shuffle_rubber(struct dealbox_judge *j, happening *h, struct pack *pack, uint8_t index)
{
	uint8_t who = h->actor;
	bool next = j->d.mark[DEALBOX_UNTIL_FIRST_CARD] && index != j->d.pack;
	uint8_t may = next ? law_left(j, law_dealer(j)) : law_dealer(j);
	struct dealbox_ruling r;

	/* the machine shuffles for the player whose duty it is */
	if (law_seat(who) && law_seat(may)) {
		if (pack->again && law_seat(pack->again_by)) {
			if (who != pack->again_by)
				law_tell(j, DEALBOX_RULING_BREACH, pack->again, who, 0,
				     pack->again_by == may ? N_("Only the dealer shuffles now.") :
				     N_("Another player is to shuffle again first."));
		} else if (who != may && who != law_preparer(j, index)) {
			law_tell(j, DEALBOX_RULING_BREACH, "4", who, 0,
			     N_("Only the dealer and the player who prepares "
				"the pack may shuffle."));
		}
	}
	if (h->flags & FLAG(F_POORLY))
		law_tell(j, DEALBOX_RULING_BREACH, "4", who, 0,
			 N_("The pack was not shuffled thoroughly."));
	if (h->flags & FLAG(F_HIDDEN))
		law_tell(j, DEALBOX_RULING_BREACH, "4", who, 0,
		     N_("The pack was not shuffled in full view of the players."));
	pack->cut = false;
	pack->shuffled = !(h->flags & FLAG(F_FACEUP));
	if (pack->shuffled) {
		pack->again = NULL;
		return;
	}
	r = law_ruling(DEALBOX_RULING_NEW_SHUFFLE, "6(c)",
		       N_("A card was turned face up in shuffling."));
	r.who = pack->again_by = who;
	pack->again = "6(c)";
	r.cut = true;
	law_give(j, &r);
}

/* Duplicate: a player could have seen a card that was turned in the shuffle or the cut. */
static void seen_before_deal(struct dealbox_judge *j)
{
	j->d.sight_told = true;
	law_raise_issue(j, I_SEEN);
	law_notice(j, BIT(I_SEEN), NOBODY, false);
}

int law_on_shuffle(struct dealbox_judge *j, happening *h)
{
	struct pack *pack;
	uint8_t index;
	int err;

	law_deal_begin(j);
	err = law_pack_find(j, h, &index);
	if (err)
		return err;
	pack = &j->packs[index];
	if (!h->number[0])
		return law_fail(j, N_("shuffled times=0 is not shuffled: leave the line out"));
	if (j->d.mark[DEALBOX_UNTIL_FIRST_CARD] && !j->d.mark[DEALBOX_UNTIL_LAST_CARD] &&
	    index == j->d.pack)
		return law_fail(j, N_("the pack is being dealt: write dealt, "
				      "redeal, turn or board before"));
	if (law_is(j, RUB)) {
		shuffle_rubber(j, h, pack, index);
		return 0;
	}
	if (law_is(j, PRE)) {
		/* 3.2.17 is about the dealer, not about a machine that shuffles for him */
		if (pack->cut && (!law_seat(h->actor) || !law_seat(law_dealer(j)) ||
				  h->actor == law_dealer(j))) {
			law_raise_issue(j, I_SHUFFLE);
			j->d.agent_shuffled = !law_seat(h->actor);
		}
		pack->shuffled = true;
		return 0;
	}
	law_presence(j, h->actor);
	/* an opponent of that player may ask for a cut */
	if (law_seat(h->actor) && j->d.dealer == NOBODY)
		j->d.dealer = h->actor;
	if (h->flags & FLAG(F_POORLY))
		law_tell(j, DEALBOX_RULING_BREACH, "6A", h->actor, 0,
			 N_("The pack was not shuffled thoroughly."));
	pack->shuffled = true;
	pack->sorted = pack->played = false;
	/* a new shuffle cures what was seen in the old one */
	if (!j->d.mark[DEALBOX_UNTIL_FIRST_CARD])
		j->d.issue[I_SEEN] = j->d.redeal = 0;
	if (h->flags & FLAG(F_FACEUP))
		seen_before_deal(j);
	return 0;
}

int law_on_place(struct dealbox_judge *j, happening *h)
{
	law_deal_begin(j);
	if (!law_is(j, RUB))
		return 0;
	if (h->flags & FLAG(F_FACEUP))
		law_tell(j, DEALBOX_RULING_BREACH, "4", h->actor, 0,
			 N_("The pack was not placed face down."));
	if (h->flags & FLAG(F_ELSEWHERE))
		law_tell(j, DEALBOX_RULING_BREACH, "4", h->actor, 0,
		     N_("The pack was not placed on the right of the player who prepared it."));
	return 0;
}

int law_on_disturb(struct dealbox_judge *j, happening *h)
{
	uint8_t index;
	int err;

	law_deal_begin(j);
	err = law_pack_find(j, h, &index);
	if (err || !law_is(j, RUB))
		return err;
	if (index == j->d.pack && j->d.mark[DEALBOX_UNTIL_FIRST_CARD])
		return 0;
	j->packs[index].cut = false;
	if (j->packs[index].shuffled && !(index == j->d.pack && j->d.mark[DEALBOX_UNTIL_PICKUP]))
		law_tell(j, DEALBOX_RULING_BREACH, "4", h->actor, 0,
		     N_("A pack that had been prepared was disturbed "
			"before the dealer picked it up."));
	return 0;
}

void law_pack_taken(struct dealbox_judge *j)
{
	if (j->d.mark[DEALBOX_UNTIL_PICKUP])
		return;
	law_mark(j, DEALBOX_UNTIL_PICKUP);
	if (law_is(j, RUB) && j->pack_count > 1 && j->last_pack == j->d.pack && !j->d.again &&
	    !j->packs[!j->d.pack].replaced)
		law_tell(j, DEALBOX_RULING_BREACH, "7", law_dealer(j), 0,
		     N_("The same pack is used again, though there is no redeal."));
}

int law_on_pickup(struct dealbox_judge *j, happening *h)
{
	int err;

	law_deal_begin(j);
	if (j->d.mark[DEALBOX_UNTIL_FIRST_CARD])
		return law_fail(j, N_("cards have been dealt already: write redeal, "
				      "turn or board before"));
	err = law_pack_find(j, h, &j->d.pack);
	if (err)
		return err;
	if (law_seat(h->actor))
		j->d.dealer = h->actor;
	law_pack_taken(j);
	return 0;
}

static void new_cut(struct dealbox_judge *j, struct pack *pack, const char *cause)
{
	pack->cut = false;
	law_tell(j, DEALBOX_RULING_NEW_CUT, "5", law_right(j, law_dealer(j)), 0, cause);
}

static void cut_rubber(struct dealbox_judge *j, happening *h, struct pack *pack)
{
	uint8_t who = h->actor, by = law_dealer(j);
	struct dealbox_ruling r;

	pack->cut = true;
	if (h->flags & FLAG(F_FACEUP)) {
		r = law_ruling(DEALBOX_RULING_NEW_SHUFFLE, "6(d)",
			       N_("A card was turned face up in cutting."));
		r.who = by;
		r.cut = true;
		pack->cut = pack->shuffled = false;
		pack->again = "6(d)";
		pack->again_by = by;
		law_give(j, &r);
	} else if (law_seat(who) && law_seat(by) && who != law_right(j, by)) {
		new_cut(j, pack, N_("Only the player on the dealer's right may cut."));
	} else if (h->number[0] >= 0 && (h->number[0] < j->rules->cut_least ||
					 h->number[1] < j->rules->cut_least)) {
		new_cut(j, pack, N_("A portion of the cut has fewer than four cards."));
	} else if (h->flags & FLAG(F_INCOMPLETE)) {
		pack->cut = false;
		law_tell(j, DEALBOX_RULING_BREACH, "5", by, 0, N_("The cut was not completed."));
	} else if (law_seat(h->seat) && law_seat(by) && h->seat != by) {
		law_tell(j, DEALBOX_RULING_BREACH, "5", h->seat, 0,
			 N_("The dealer completes the cut, nobody else."));
	}
}

int law_on_cut(struct dealbox_judge *j, happening *h)
{
	struct pack *pack;
	uint8_t index;
	int err;

	law_deal_begin(j);
	err = law_pack_find(j, h, &index);
	if (err)
		return err;
	pack = &j->packs[index];
	if (h->number[0] >= 0 && h->number[0] + h->number[1] != pack->cards)
		return law_fail(j, N_("the portions have %d cards, and the pack has %d"),
				h->number[0] + h->number[1], pack->cards);
	if (j->d.mark[DEALBOX_UNTIL_FIRST_CARD] && index == j->d.pack)
		return law_fail(j, N_("cards have been dealt already: write redeal, "
				      "turn or board before"));
	if (law_is(j, RUB)) {
		cut_rubber(j, h, pack);
		return 0;
	}
	pack->cut = true;
	if (!(h->flags & FLAG(F_FACEUP)))
		return 0;
	if (law_is(j, PRE)) {
		law_raise_issue(j, I_FACEUP_CUT);
		law_notice(j, BIT(I_FACEUP_CUT), NOBODY, false);
	} else {
		seen_before_deal(j);
	}
	return 0;
}
