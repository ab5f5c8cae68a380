// SPDX-License-Identifier: LGPL-2.1-or-later
/* The judge's knowledge of players, packs and the current deal, for the handlers of all verbs. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cards/messages.h"
#include "error-internal.h"
#include "judge.h"

int law_fail(struct dealbox_judge *j, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	error_vfill(&j->error, -EINVAL, 0, NULL, dealbox_law_translate(j->language, format), list);
	va_end(list);
	return -EINVAL;
}

uint8_t law_left(const struct dealbox_judge *j, uint8_t who)
{
	if (!law_seat(who))
		return NOBODY;
	do {
		who = (who + 1) % SEATS;
	} while (!(j->players & 1u << who));
	return who;
}

uint8_t law_right(const struct dealbox_judge *j, uint8_t who)
{
	if (!law_seat(who))
		return NOBODY;
	do {
		who = (who + SEATS - 1) % SEATS;
	} while (!(j->players & 1u << who));
	return who;
}

bool law_gets_cards(const struct dealbox_judge *j, uint8_t who)
{
	return law_seat(who) && j->players & 1u << who &&
	       !(law_is(j, PRE) && j->players == 0xf && who == j->d.dealer);
}

uint8_t law_next_hand(const struct dealbox_judge *j, uint8_t who)
{
	uint8_t hand = law_left(j, who);

	while (law_seat(hand) && !law_gets_cards(j, hand))
		hand = law_left(j, hand);
	return hand;
}

uint8_t law_dealer(const struct dealbox_judge *j)
{
	return j->d.dealer != NOBODY ? j->d.dealer : j->turn;
}

void law_deal_new(struct dealbox_judge *j)
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

void law_deal_begin(struct dealbox_judge *j)
{
	if (j->begun)
		return;
	law_deal_new(j);
	j->deals++;
}

void law_pack_used(struct dealbox_judge *j)
{
	struct pack *pack = &j->packs[j->d.pack];

	if (!j->d.mark[DEALBOX_UNTIL_FIRST_CARD])
		return;
	j->last_pack = j->d.pack;
	pack->shuffled = pack->cut = false;
	pack->played = true;
	pack->again = NULL;
}

int law_pack_find(struct dealbox_judge *j, const struct dealbox_happening *h, uint8_t *out)
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
	return law_fail(j, N_("there is no pack \"%s\" so far: write \"pack %s\" before"),
			h->pack, h->pack);
}

int law_hand_check(struct dealbox_judge *j, uint8_t place)
{
	if (place == DEALBOX_TALON)
		return law_is(j, PRE) ?
			0 : law_fail(j, N_("there is no talon in %s"), j->rules->name);
	if (!(j->players & 1u << place))
		return law_fail(j, N_("%s does not play: see players"), dealbox_actor_name(place));
	return 0;
}

uint8_t law_hand_of(const struct dealbox_happening *h)
{
	return h->places ? __builtin_ctz(h->places) : law_seat(h->actor) ? h->actor : NOBODY;
}
