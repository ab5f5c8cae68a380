// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "log.h"
#include "service.h"
#include "station.h"

#define CARDS_US	250000	/* between two numbers of cards that are told of a machine */

void station_facts(const struct station *st, struct dealbox_operator_facts *facts)
{
	desk_facts(&st->desk, facts);
	facts->seat = st->seat;
	facts->depth = st->depth;
}

void station_notify(struct station *st)
{
	enum dealbox_operator_state trouble = desk_trouble(&st->desk);
	bool state = trouble != st->told || memcmp(&st->told_copy, &st->desk.copy, sizeof(struct copy));
	struct dealbox_operator_facts facts;
	char text[1024];

	if (!state && (st->cards == st->told_cards || monotonic_us() - st->told_at < CARDS_US))
		return;
	if (trouble != st->told && dealbox_operator_ways(trouble) != DEALBOX_WAY_SELF) {
		station_facts(st, &facts);
		dealbox_operator_text(trouble, &facts, NULL, text, sizeof(text));
		log_message(MESSAGE_TROUBLE, st->id, &st->desk.copy, "%s: %s", dealbox_operator_name(trouble),
			    text);
	}
	service_notify(st->service, &(struct notice){
		.kind = state ? NOTICE_MACHINE_STATE : NOTICE_MACHINE_CARDS, .station = st });
	if (trouble != st->told)
		service_notify(st->service, &(struct notice){
			.kind = NOTICE_MACHINE_TROUBLE, .station = st });
	st->told = trouble;
	st->told_copy = st->desk.copy;
	st->told_cards = st->cards;
	st->told_at = monotonic_us();
}

struct station *stations_find(const struct service *s, const char *id)
{
	struct station *st;

	for (st = s->stations->first; st && strcmp(st->id, id); st = st->next)
		;
	return st;
}
