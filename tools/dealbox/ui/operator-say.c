// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "operator-say.h"

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

void operator_progress(const struct operator_progress *p)
{
	uint64_t left = p->all > p->done ? p->all - p->done : 0;
	char of[16] = "", total[64] = "", time[96] = "";

	if (p->of)
		snprintf(of, sizeof(of), " of %u", p->of);
	if (p->all)
		snprintf(total, sizeof(total), "; %llu of %llu boards done",
			 (unsigned long long)p->done, (unsigned long long)p->all);
	/* By the pace of this run, with all that people do between boards. */
	if (p->exact && p->seconds > 0)
		snprintf(time, sizeof(time), ", %.0f boards per hour",
			 p->exact * 3600 / p->seconds);
	if (p->all && p->exact && left)
		snprintf(time + strlen(time), sizeof(time) - strlen(time), ", about %.0f min left",
			 p->seconds * (double)left / p->exact / 60 + 0.5);
	progress("%scard %u%s%s%s", p->name, p->cards, of, total, time);
}
