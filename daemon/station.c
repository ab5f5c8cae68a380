// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "log.h"
#include "service.h"
#include "station.h"

#define CARDS_US	250000	/* minimum interval of NOTICE_MACHINE_CARDS of a machine */

static void say(struct dealing *d, enum dealing_message message, const struct copy *copy,
		const char *text)
{
	static const enum message messages[DEALING_MESSAGES] = {
		[DEALING_RECORDED] = MESSAGE_RECORDED, [DEALING_VOID] = MESSAGE_VOID,
		[DEALING_REFUSED] = MESSAGE_REFUSED, [DEALING_LEDGER] = MESSAGE_LEDGER,
		[DEALING_DOUBT] = MESSAGE_OPERATOR,
	};

	log_message(messages[message], d->engine.id, copy, "%s", text);
}

static void judged(struct dealing *d, const struct copy *copy, uint32_t insertion, bool exact,
		   const struct dealbox_operator_verdict *verdict)
{
	struct station *st = d->context;

	service_notify(st->service, &(struct notice){
		.kind = NOTICE_JUDGED, .station = st, .copy = copy,
		.insertion = insertion, .exact = exact,
		.verdict = verdict });
}

const struct dealing_listener station_listener = { .say = say, .judged = judged };

void station_asks_anew(struct station *st)
{
	st->changed = monotonic_us();
	st->question++;
}

unsigned int station_keys(const struct station *st)
{
	return engine_keys(&st->dealing.engine, &st->service->jobs, stations_engines(st->service));
}

void station_notify(struct station *st)
{
	const struct engine *engine = &st->dealing.engine;
	enum dealbox_operator_state state = engine_state(engine);
	unsigned int keys = station_keys(st);
	struct dealbox_operator_facts facts;
	char text[1024];
	bool asks, news;

	dealing_facts(&st->dealing, &facts);
	asks = state != st->told || engine->insertion != st->told_insertion;
	if (asks)
		st->changed = monotonic_us();
	asks |= memcmp(&st->told_copy, &engine->copy, sizeof(struct copy)) ||
		memcmp(&st->told_facts, &facts, sizeof(facts));
	news = asks || keys != st->told_keys;
	st->question += asks;
	st->told_insertion = engine->insertion;
	st->told_facts = facts;
	st->told_keys = keys;
	if (!news &&
	    (st->dealing.cards == st->told_cards || monotonic_us() - st->told_at < CARDS_US))
		return;
	if (state != st->told && dealbox_operator_ways(state) != DEALBOX_WAY_SELF) {
		dealbox_operator_text(state, &facts, NULL, text, sizeof(text));
		log_message(MESSAGE_OPERATOR, st->id, &engine->copy, "%s: %s",
			    dealbox_operator_name(state), text);
	}
	service_notify(st->service, &(struct notice){
		.kind = news ? NOTICE_MACHINE_STATE : NOTICE_MACHINE_CARDS, .station = st });
	if (state != st->told)
		service_notify(st->service, &(struct notice){
			.kind = NOTICE_MACHINE_OPERATOR, .station = st });
	st->told = state;
	st->told_copy = engine->copy;
	st->told_cards = st->dealing.cards;
	st->told_at = monotonic_us();
}

const struct engine *stations_engines(const struct service *s)
{
	return &s->stations->first->dealing.engine;
}

struct station *stations_find(const struct service *s, const char *id)
{
	struct station *st;

	for (st = s->stations->first; st && strcmp(st->id, id); st = st->next)
		;
	return st;
}
