/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dealbox deal --law: a shuffled pack, dealt by position and judged by the laws. */
#ifndef DEAL_LAW_H
#define DEAL_LAW_H

#include "ui/tool.h"

struct deal_law {
	const char *uri;	/* of the machine; NULL = the only one */
	const char *rules;
	const char *turn;	/* whose turn it is to deal; NULL = N */
	const char *before;	/* record of what was before, NULL = the pack was prepared as it should be */
	const char *record;	/* where to write the record, NULL = nowhere */
	const char *ledger;	/* NULL = the user's own */
	const char *language;	/* of the sentences, NULL = en */
	bool json;
};

/* STATUS_DONE when the deal stands, STATUS_NO when it does not. */
enum status deal_by_law(const struct deal_law *options);

#endif
