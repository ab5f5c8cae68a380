// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The judge reads a record once, keeps the state of the current deal that the laws need, and calls
 * the handler of each happening's verb.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cards/messages.h"
#include "judge.h"
#include "reserved.h"

static const struct {
	int (*handle)(struct dealbox_judge *j, happening *h);
	uint8_t rules;		/* where the word belongs */
} handlers[LAW_VERBS] = {
	[V_RULES] = { law_on_rules, ALL },
	[V_RUBBER] = { law_on_rubber, RUB },
	[V_PLAYERS] = { law_on_players, PRE },
	[V_PACK] = { law_on_pack, ALL },
	[V_TURN] = { law_on_turn, RUB | PRE },
	[V_BOARD] = { law_on_board, DUP },
	[V_PURPOSE] = { law_on_purpose, DUP },
	[V_ORIGIN] = { law_on_origin, DUP },
	[V_CUSTOM] = { law_on_custom, PRE },
	[V_INTENT] = { law_on_intent, PRE },
	[V_INTERESTS] = { law_on_interests, PRE },
	[V_PRESENT] = { law_on_present, DUP },
	[V_SHUFFLE] = { law_on_shuffle, ALL },
	[V_PLACE] = { law_on_place, ALL },
	[V_DISTURB] = { law_on_disturb, ALL },
	[V_PICKUP] = { law_on_pickup, ALL },
	[V_CUT] = { law_on_cut, ALL },
	[V_DEAL] = { law_on_deal, ALL },
	[V_DEALT] = { law_on_dealt, ALL },
	[V_RECTIFY] = { law_on_rectify, ALL },
	[V_OBJECT] = { law_on_object, ALL },
	[V_REDEAL] = { law_on_redeal, ALL },
	[V_POCKET] = { law_on_pocket, DUP },
	[V_TAKE] = { law_on_take, ALL },
	[V_LOOK] = { law_on_look, ALL },
	[V_SEE] = { law_on_see, ALL },
	[V_SHOW] = { law_on_show, ALL },
	[V_MIX] = { law_on_mix, RUB },
	[V_COUNT] = { law_on_count, ALL },
	[V_SEARCH] = { law_on_search, ALL },
	[V_FIND] = { law_on_find, RUB },
	[V_AUCTION] = { law_on_auction, ALL },
	[V_CALL] = { law_on_call, ALL },
	[V_BUY] = { law_on_buy, PRE },
	[V_GAME] = { law_on_game, PRE },
	[V_PLAY] = { law_on_play, ALL },
	[V_OVER] = { law_on_over, ALL },
	[V_NOTES] = { law_on_notes, ALL },
	[V_DEMAND] = { law_on_demand, ALL },
	[V_INSTRUCT] = { law_on_instruct, DUP },
	[V_COPY] = { law_on_copy, DUP },
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
	j->board = -1;
	j->remise = 5;
	law_deal_new(j);
	j->begun = false;
	return j;
}

int dealbox_judge_language(struct dealbox_judge *j, const char *language)
{
	const char *known = NULL;

	for (size_t n = 0; language && (known = dealbox_law_language(n)); n++)
		if (!strcmp(known, language))
			break;
	if (language && !known)
		return -EINVAL;
	j->language = known;
	return 0;
}

void dealbox_judge_free(struct dealbox_judge *j)
{
	free(j);
}

/* Verbs that belong to a deal, and begin one if there is none. */
static bool of_deal(uint8_t verb)
{
	return verb == V_ORIGIN || (verb >= V_SHUFFLE && verb != V_INSTRUCT);
}

static bool uses_pack(uint8_t verb)
{
	return verb >= V_SHUFFLE;
}

static int judge(struct dealbox_judge *j, happening *h)
{
	if (!j->rules && h->verb != V_RULES)
		return law_fail(j, N_("the first line is rules, with the ruleset: duplicate-2007, "
			       "duplicate-2017, rubber or preferans"));
	if (h->timed) {
		if (h->time_ms < j->time_ms)
			return law_fail(j, N_("the time is before that of an earlier line"));
		j->time_ms = h->time_ms;
	}
	if (h->verb != V_RULES) {
		if (!law_is(j, handlers[h->verb].rules))
			return law_fail(j, N_("that word does not belong to %s"), j->rules->name);
		if ((h->actor == DEALBOX_ACTOR_DIRECTOR || h->actor == DEALBOX_ACTOR_ASSISTANT) &&
		    !j->rules->director)
			return law_fail(j, N_("there is no director in %s"), j->rules->name);
		if (law_seat(h->actor) && !(j->players & 1u << h->actor))
			return law_fail(j, N_("%s does not play: see players"),
					dealbox_actor_name(h->actor));
		/* a pack without a name */
		if (!j->pack_count && uses_pack(h->verb)) {
			j->packs[0] = (struct pack){ .side = 255, .cards = j->rules->cards };
			j->pack_count = 1;
		}
		if (of_deal(h->verb))
			law_deal_begin(j);
	}
	return handlers[h->verb].handle(j, h);
}

static const struct {
	const char *name, *text;
} verdicts[] = {
	[DEALBOX_LAW_STANDS] = { N_("stands"), N_("The deal stands.") },
	[DEALBOX_LAW_OPEN] = { N_("open"), N_("It is for the Director or the players to decide.") },
	[DEALBOX_LAW_NEW_BOARD] = { N_("new-board"), N_("The copy must be made again.") },
	[DEALBOX_LAW_CANCELLED] = { N_("cancelled"),
				    N_("No result of this board may stand; it is cancelled.") },
	[DEALBOX_LAW_REDEAL] = { N_("redeal"), N_("The cards must be dealt again.") },
};

void dealbox_judge_result(const struct dealbox_judge *j, struct dealbox_judgement *out)
{
	const struct deal *d = &j->d;
	unsigned long pending = d->mark[DEALBOX_UNTIL_FIRST_CARD] ? 0 : d->again_line;
	const struct {
		enum dealbox_law_verdict verdict;
		unsigned long line;
	} found[] = {
		{ DEALBOX_LAW_REDEAL, d->redeal }, { DEALBOX_LAW_REDEAL, pending },
		{ DEALBOX_LAW_CANCELLED, d->cancelled },
		{ DEALBOX_LAW_NEW_BOARD, d->copy.different ? d->copy.line : 0 },
		{ DEALBOX_LAW_OPEN, d->open },
		/* players who have played to the end have chosen */
		{ DEALBOX_LAW_OPEN, d->mark[DEALBOX_UNTIL_OVER] ? 0 : d->choice },
	};
	size_t n = 0;

	while (n < sizeof(found) / sizeof(found[0]) && !found[n].line)
		n++;
	*out = (struct dealbox_judgement){
		.deal = j->begun ? j->deals : 0, .board = j->board, .known = true,
	};
	if (n < sizeof(found) / sizeof(found[0])) {
		out->verdict = found[n].verdict;
		out->line = found[n].line;
	} else {
		out->line = d->stands;
		out->known = d->stands || d->mark[DEALBOX_UNTIL_LAST_CARD];
	}
	out->name = verdicts[out->verdict].name;
	out->text = verdicts[out->verdict].text;
}

static int refuse(const struct dealbox_judge *j, int result, struct dealbox_error *error)
{
	if (error)
		*error = j->error;
	return result;
}

static int finish(struct dealbox_judge *j, int result, struct dealbox_error *error)
{
	if (result < 0) {
		j->failed = true;
		j->error.line = j->line;
		return refuse(j, result, error);
	}
	return 0;
}

int dealbox_judge_happening(struct dealbox_judge *j, const struct dealbox_happening *h,
			    struct dealbox_error *error)
{
	if (j->failed)
		return refuse(j, -EINVAL, error);
	j->line++;
	if (h->verb >= LAW_VERBS || h->topic >= LAW_TOPICS || h->about >= LAW_TOPICS ||
	    RESERVED_USED(h))
		return finish(j, law_fail(j, N_("no such happening")), error);
	return finish(j, judge(j, h), error);
}

int dealbox_judge_line(struct dealbox_judge *j, const char *line, size_t length,
		       struct dealbox_error *error)
{
	struct dealbox_happening h;
	int result;

	if (j->failed)
		return refuse(j, -EINVAL, error);
	j->line++;
	/* some editors begin a file with a byte order mark */
	if (j->line == 1 && length >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		length -= 3;
	}
	result = law_record_parse(j->language, line, length, &h, &j->error);
	if (result > 0)
		result = judge(j, &h);
	return finish(j, result, error);
}
