/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dealbox deal --law: a shuffled pack, dealt by position and judged by the laws */
#ifndef DEAL_LAW_H
#define DEAL_LAW_H

#include "ui/tool.h"

struct deal_law {
	const char *uri;	/* of the machine; NULL = the only one */
	const char *rules;
	const char *turn;	/* seat of the dealer; NULL = N */
	const char *before;	/* record of shuffle and cut; NULL = prepared correctly */
	const char *record;	/* file for the judged record; NULL = none */
	const char *ledger;	/* NULL = the user's own */
	const char *language;	/* of rulings and operator's sentences; NULL = en */
	bool json;
};

/* Returns STATUS_DONE if the deal stands, STATUS_NO if not. */
enum status deal_by_law(const struct deal_law *options);

#endif
