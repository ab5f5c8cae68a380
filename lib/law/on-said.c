// SPDX-License-Identifier: LGPL-2.1-or-later
/* The game, and statements: calls, attention, demands, instructions. */
#include <string.h>

#include "cards/messages.h"
#include "judge.h"

/* ---- handlers: the game ---- */

int law_on_auction(struct dealbox_judge *j, happening *h)
{
	(void)h;
	law_deal_begin(j);
	if (!j->d.told || !law_is(j, PRE))
		law_mark(j, DEALBOX_UNTIL_LAST_CARD);
	law_mark(j, DEALBOX_UNTIL_AUCTION);
	return 0;
}

/* 3.2.19 and 3.2.20 presuppose a correct deal: a deal that is later found incorrect bars nobody. */
static bool barred(const struct dealbox_judge *j, uint8_t who)
{
	return j->d.barred[who] && law_dealt_right(j);
}

/* 3.3.1: a call that is not a preferans bid counts as one that outbids the others. */
static bool outbids(happening *h, const int16_t *highest)
{
	if (h->number[0] < 0 || highest[0] < 0)
		return true;
	return h->number[0] != highest[0] ? h->number[0] > highest[0] : h->number[1] > highest[1];
}

int law_on_call(struct dealbox_judge *j, happening *h)
{
	uint8_t who = h->actor;
	int err = law_hand_check(j, who);

	if (err)
		return err;
	law_deal_begin(j);
	if (law_is(j, PRE) && j->d.told && !j->d.mark[DEALBOX_UNTIL_LAST_CARD])
		law_tell(j, DEALBOX_RULING_BREACH, "3.3.1", who, 0,
		     N_("The bidding begins when all cards have been dealt."));
	if (barred(j, who))
		law_tell(j, DEALBOX_RULING_BREACH, j->d.talon_seen[who] ? "3.2.19" : "3.2.20", who,
		     j->d.barred[who], N_("A player who is barred has bid."));
	if (!j->d.called[who])
		j->d.called[who] = j->line;
	if (!h->pass && (j->d.highest == NOBODY || outbids(h, j->d.bid))) {
		j->d.highest = who;
		j->d.bid_line = j->line;
		memcpy(j->d.bid, h->number, sizeof(j->d.bid));
	}
	return law_on_auction(j, h);
}

int law_on_buy(struct dealbox_judge *j, happening *h)
{
	uint8_t who = h->actor;

	if (who == j->d.highest && !barred(j, who))
		law_tell(j, DEALBOX_RULING_ENTITLED, "3.3.1", who, j->d.mark[DEALBOX_UNTIL_AUCTION],
		     N_("The player has made the highest bid."));
	else
		law_tell(j, DEALBOX_RULING_BREACH, "3.3.1", who, j->d.mark[DEALBOX_UNTIL_AUCTION],
		     N_("The player has not made the highest bid."));
	j->d.bought = who;
	return 0;
}

int law_on_game(struct dealbox_judge *j, happening *h)
{
	struct dealbox_ruling r;

	if (j->d.game_line && j->d.game != h->topic)
		return law_fail(j, N_("line %lu says another game"), j->d.game_line);
	j->d.game = h->topic;
	j->d.game_line = j->line;
	if (h->topic != T_ALL_PASS)
		return 0;
	if (j->d.bid_line)
		return law_fail(j, N_("all have not passed: line %lu has a bid"), j->d.bid_line);
	for (int p = 0; p < SEATS; p++) {
		if (!j->d.talon_seen[p] || !law_dealt_right(j))
			continue;
		r = law_ruling(DEALBOX_RULING_PENALTY, "3.2.19",
			       h->flags & FLAG(F_CLOSED) ?
			   N_("He saw the talon, and all have passed; the talon stays closed.") :
			   N_("He saw the talon, and all have passed."));
		r.who = p;
		r.unit = DEALBOX_UNIT_TRICKS;
		r.amount = h->flags & FLAG(F_CLOSED) ? 10 : 2;
		law_rest_on(&r, j->d.talon_seen[p]);
		law_give(j, &r);
	}
	return 0;
}

int law_on_play(struct dealbox_judge *j, happening *h)
{
	int err = law_hand_check(j, h->actor);

	if (err)
		return err;
	law_on_auction(j, h);
	law_mark(j, DEALBOX_UNTIL_PLAY);
	if (j->d.plays[h->actor] < j->rules->hand_cards)
		j->d.plays[h->actor]++;
	return 0;
}

int law_on_over(struct dealbox_judge *j, happening *h)
{
	law_on_auction(j, h);
	law_mark(j, DEALBOX_UNTIL_PLAY);
	law_mark(j, DEALBOX_UNTIL_OVER);
	return 0;
}
/* ---- handlers: what is said ---- */

int law_on_notes(struct dealbox_judge *j, happening *h)
{
	uint8_t hand = law_hand_of(h), pack;
	struct dealbox_ruling r;
	int err = law_pack_find(j, h, &pack);

	if (err)
		return err;
	law_deal_begin(j);
	switch (h->topic) {
	case T_OTHER:
		law_elsewhere(j, N_("It is another irregularity."));
		return 0;
	case T_TWICE:
	case T_OMITTED:
		if (!law_is(j, RUB))
			return law_fail(j, N_("that word does not belong to %s"), j->rules->name);
		r = law_ruling(DEALBOX_RULING_OTHER_LAW, h->topic == T_TWICE ? "11(a)" : "12(a)",
			       h->topic == T_TWICE ?
			   N_("The player played more than once to a previous trick.") :
			   N_("The player did not play to a trick."));
		r.see = "67";
		r.who = hand;
		if (law_seat(hand))
			law_rest_on(&r, h->topic == T_TWICE ? j->d.under[hand] : j->d.over[hand]);
		law_give(j, &r);
		return 0;
	case T_COUNT:
		if (law_count_noted(j, hand, h->actor))
			return 0;
		break;
	default:
		return law_attention(j, h->topic, h->actor, false, pack);
	}
	law_unfounded(j);
	return 0;
}

static void demand_cut(struct dealbox_judge *j, uint8_t who)
{
	struct pack *pack = &j->packs[j->d.pack];
	const char *cause = N_("A cut was demanded.");

	if (law_is(j, PRE) || !law_seat(who) ||
	    (law_is(j, DUP) && law_seat(law_dealer(j)) && (law_dealer(j) - who) % 2 == 0)) {
		law_tell(j, DEALBOX_RULING_NO_RIGHT,
			 law_is(j, PRE) ? "3.2.15" : law_is(j, RUB) ? "6" : "6A", who, 0, cause);
		return;
	}
	if (j->d.mark[DEALBOX_UNTIL_FIRST_CARD]) {
		law_tell(j, DEALBOX_RULING_CLAIM_TOO_LATE, law_is(j, RUB) ? "6" : "6A", NOBODY,
		     j->d.mark[DEALBOX_UNTIL_FIRST_CARD], cause);
		return;
	}
	pack->cut = false;
	j->d.cut_wanted = true;
	law_tell(j, DEALBOX_RULING_NEW_CUT, law_is(j, RUB) ? "6" : "6A",
	     law_is(j, RUB) ? law_right(j, law_dealer(j)) : NOBODY, 0, cause);
}

static void demand_shuffle(struct dealbox_judge *j, uint8_t who, uint8_t index)
{
	struct pack *pack = &j->packs[index];
	bool current = index == j->d.pack;
	bool picked = current && j->d.mark[DEALBOX_UNTIL_PICKUP];
	const char *cause = N_("A new shuffle was demanded.");
	struct dealbox_ruling r;

	if (!law_is(j, RUB) || !law_seat(who)) {
		law_tell(j, DEALBOX_RULING_NO_RIGHT,
			 law_is(j, PRE) ? "3.2.15" : law_is(j, RUB) ? "6" : "6D3", who, 0, cause);
		return;
	}
	if (current && j->d.mark[DEALBOX_UNTIL_FIRST_CARD]) {
		law_tell(j, DEALBOX_RULING_CLAIM_TOO_LATE, "6(b)", NOBODY,
		     j->d.mark[DEALBOX_UNTIL_FIRST_CARD], cause);
		return;
	}
	r = law_ruling(DEALBOX_RULING_NEW_SHUFFLE, picked ? "6(b)" : "6(a)", cause);
	r.who = picked ? law_dealer(j) : law_preparer(j, index);
	r.cut = true;
	pack->shuffled = pack->cut = false;
	pack->again = r.reference;
	pack->again_by = r.who;
	law_give(j, &r);
}

static void demand_restore(struct dealbox_judge *j, uint8_t who, uint8_t index)
{
	const struct pack *pack = &j->packs[index];
	struct dealbox_ruling r =
		law_ruling(DEALBOX_RULING_RESTORE_PACK, "7",
			   N_("A pack that belonged to a side is to be restored."));

	if (!law_is(j, RUB)) {
		r.kind = DEALBOX_RULING_NO_RULING;
		r.reference = law_main_paragraph(j);
	} else if (!law_seat(who)) {
		r.kind = DEALBOX_RULING_NO_RIGHT;
		r.who = who;
	} else if (j->d.mark[DEALBOX_UNTIL_LAST_CARD]) {
		r.kind = DEALBOX_RULING_CLAIM_TOO_LATE;
		law_rest_on(&r, j->d.mark[DEALBOX_UNTIL_LAST_CARD]);
	} else if (j->d.forfeited[who]) {
		r.kind = DEALBOX_RULING_RIGHT_FORFEITED;
		r.reference = "8";
		r.see = "7";
		r.who = who;
		law_rest_on(&r, j->d.forfeited[who]);
	} else if (pack->side == 255) {
		r.kind = DEALBOX_RULING_NO_RULING;
		r.cause = N_("The pack belongs to neither side.");
	} else {
		r.pack = *pack->name ? pack->name : NULL;
	}
	law_give(j, &r);
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

		r = law_ruling(bad ? DEALBOX_RULING_BREACH : DEALBOX_RULING_REDEAL, "6D3",
			       bad ? N_("The director's reason is not compatible with the Laws.") :
				 N_("The director requires a new shuffle and deal."));
		r.see = rules->redeal_laws;
		if (!bad)
			law_fill_redeal(j, &r);
		law_give(j, &r);
		return;
	}
	if (h->about) {
		law_attention(j, h->about, h->actor, true, j->d.pack);
		return;
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		uint32_t found = law_raised(j, groups[i]);

		if (found) {
			law_notice(j, found, h->actor, true);
			return;
		}
	}
	if (law_is(j, DUP)) {
		r = law_ruling(DEALBOX_RULING_DIRECTOR_DECIDES, j->copies ? "6F" : "6D3",
			       N_("A player asks for a redeal."));
		r.see = j->copies ? "6D3" : rules->redeal_laws;
		law_rest_on(&r, j->copies);
		r.options = DEALBOX_OPTION_REDEAL | DEALBOX_OPTION_STANDS;
		law_give(j, &r);
		return;
	}
	law_unfounded(j);
}

int law_on_demand(struct dealbox_judge *j, happening *h)
{
	uint8_t pack;
	int err = law_pack_find(j, h, &pack);

	if (err)
		return err;
	if (h->about && h->topic != T_REDEAL)
		return law_fail(j, N_("for= stands after demand redeal only"));
	law_deal_begin(j);
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

int law_on_instruct(struct dealbox_judge *j, happening *h)
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
		if (!h->number[0])
			return law_fail(j, N_("copies 0 are none: leave the line out"));
		j->copies = j->line;
		j->copy_count = h->number[0];
		break;
	default:
		j->method = h->flags & FLAG(F_BIASED) ? 0 : j->line;
		j->biased = j->method ? 0 : j->line;
		if (j->biased)
			law_tell(j, DEALBOX_RULING_BREACH, "6E4", DEALBOX_ACTOR_DIRECTOR, 0,
			     N_("The method does not give the same wholly random expectations."));
	}
	return 0;
}

/* Keeps the last line about each copy. -EINVAL: more copies than were instructed. */
static int copy_take(struct dealbox_judge *j, happening *h)
{
	uint64_t bit = 1ULL << (h->number[0] >= 0 && h->number[0] < 63 ? h->number[0] : 63);
	struct deal *d = &j->d;
	int made;

	d->copy.exact &= ~bit;
	d->copy.different &= ~bit;
	if (h->topic == T_EXACT)
		d->copy.exact |= bit;
	else
		d->copy.line = j->line;
	if (h->topic != T_EXACT)
		d->copy.different |= bit;
	if (h->topic == T_EXACT && h->number[0] < 0)
		d->copy.unnamed++;
	made = __builtin_popcountll(d->copy.exact & ~(1ULL << 63)) + (int)d->copy.unnamed;
	if (j->copies && j->copy_count > 0 &&
	    (made > j->copy_count || h->number[0] > j->copy_count))
		return law_fail(j,
				N_("that is more than the number of copies "
				   "instructed, which is %d"), j->copy_count);
	return 0;
}

int law_on_copy(struct dealbox_judge *j, happening *h)
{
	int err = copy_take(j, h);

	if (err)
		return err;
	if (!j->copies)
		law_tell(j, DEALBOX_RULING_BREACH, "6F", h->actor, 0,
		     N_("The director has not instructed that copies be made."));
	else if (h->topic == T_EXACT)
		law_tell(j, DEALBOX_RULING_STANDS, "6F", NOBODY, j->copies,
		     N_("The copy is exactly like the original deal."));
	else
		law_tell(j, DEALBOX_RULING_NEW_BOARD, "6F", NOBODY, j->copies,
		     N_("The copy is not exactly like the original deal."));
	return 0;
}
