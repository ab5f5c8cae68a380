// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include <dealbox/law.h>

#include "operator-say.h"
#include "ruling-text.h"

enum dealbox_operator_state operator_state(const char *name)
{
	enum dealbox_operator_state state;

	for (state = 0; state < DEALBOX_OPERATOR_STATES; state++)
		if (!strcmp(dealbox_operator_name(state), name))
			break;
	return state;
}

bool operator_calls(enum dealbox_operator_state state)
{
	static const enum dealbox_operator_state usual[] = {
		DEALBOX_OPERATOR_NONE, DEALBOX_OPERATOR_NO_WORK, DEALBOX_OPERATOR_INSERT,
		DEALBOX_OPERATOR_INSERT_ANY, DEALBOX_OPERATOR_START, DEALBOX_OPERATOR_TAKE_OUT,
		DEALBOX_OPERATOR_PAUSED, DEALBOX_OPERATOR_CAPTURE, DEALBOX_OPERATOR_CAPTURED,
		DEALBOX_OPERATOR_SLOW,
	};
	size_t n;

	for (n = 0; n < sizeof(usual) / sizeof(usual[0]); n++)
		if (usual[n] == state)
			return false;
	return true;
}

const char *operator_copy_name(const struct operator_copy *c, char text[OPERATOR_COPY])
{
	static const char *const seats[] = { "?", N_("N"), N_("E"), N_("S"), N_("W") };
	const char *seat = seats[c->copy < sizeof(seats) / sizeof(seats[0]) ? c->copy : 0];

	*text = '\0';
	if (c->board && c->capture)
		snprintf(text, OPERATOR_COPY,
			 dealbox_law_translate(c->language, N_("board %u, pocket %s: ")), c->board,
			 dealbox_law_translate(c->language, seat));
	else if (c->board && c->several)
		snprintf(text, OPERATOR_COPY,
			 dealbox_law_translate(c->language, N_("board %u, copy %u: ")), c->board,
			 c->copy);
	else if (c->board)
		snprintf(text, OPERATOR_COPY, dealbox_law_translate(c->language, N_("board %u: ")),
			 c->board);
	return text;
}

void operator_progress(const struct operator_progress *p)
{
	uint64_t left = p->all > p->done ? p->all - p->done : 0;
	char total[128] = "", pace[96] = "", time[96] = "", cards[64];
	unsigned int hourly, minutes;

	snprintf(cards, sizeof(cards), dealbox_law_translate(p->language, p->of ?
		 N_("card %u of %u") : N_("card %u")), p->cards, p->of);
	if (p->all)
		snprintf(total, sizeof(total), dealbox_law_translate_count(p->language,
			 P_("; %llu of %llu board done", "; %llu of %llu boards done"), p->all),
			 (unsigned long long)p->done, (unsigned long long)p->all);
	/* By the pace of this run, with all that people do between boards. */
	if (p->exact && p->seconds > 0) {
		hourly = (unsigned int)(p->exact * 3600 / p->seconds + 0.5);
		snprintf(pace, sizeof(pace), dealbox_law_translate_count(p->language,
			 P_(", %u board per hour", ", %u boards per hour"), hourly), hourly);
	}
	if (p->all && p->exact && left) {
		minutes = (unsigned int)(p->seconds * (double)left / p->exact / 60 + 1);
		snprintf(time, sizeof(time), dealbox_law_translate(p->language,
			 N_(", about %u min left")), minutes);
	}
	progress("%s%s%s%s%s", p->name, cards, total, pace, time);
}

/* Write the message for n things. */
static void counted(char *text, size_t size, const char *language, const char *one,
		    const char *many, unsigned int n)
{
	snprintf(text, size, dealbox_law_translate_count(language, one, many, n), n);
}

void operator_summary(const struct operator_summary *s)
{
	char exact[160], skipped[96] = "", voids[96], time[32], pace[96];
	unsigned int hourly = 0;

	if (s->seconds > 0)
		hourly = (unsigned int)(s->dealt * 3600 / s->seconds + 0.5);
	if (s->all)
		snprintf(exact, sizeof(exact), dealbox_law_translate_count(s->language,
			 P_("%llu of %llu boards are exact duplicates",
			    "%llu of %llu boards are exact duplicates"), s->exact),
			 (unsigned long long)s->exact, (unsigned long long)s->all);
	else
		snprintf(exact, sizeof(exact), dealbox_law_translate_count(s->language,
			 P_("%llu board is an exact duplicate", "%llu boards are exact duplicates"),
			 s->exact), (unsigned long long)s->exact);
	if (s->skipped)
		counted(skipped, sizeof(skipped), s->language,
			P_("; %u is left out", "; %u are left out"), s->skipped);
	counted(voids, sizeof(voids), s->language,
		P_("; %u void and dealt again", "; %u void and dealt again"), s->voids);
	snprintf(time, sizeof(time), dealbox_law_translate(s->language, N_("; %.0f s")),
		 s->seconds);
	counted(pace, sizeof(pace), s->language,
		P_(", %u board per hour", ", %u boards per hour"), hourly);
	say("%s%s%s%s%s", exact, skipped, voids, time, pace);
}
