/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What from-trace.c asks a judge. */
#ifndef LAW_JUDGE_H
#define LAW_JUDGE_H

#include <dealbox/law.h>

/* The ruleset; NULL before it is known. */
const struct dealbox_ruleset *law_judge_rules(const struct dealbox_judge *judge);

/* The line of the latest error in dealing (number, order, talon ..), 0 = none so far. */
unsigned long law_judge_misdeal(const struct dealbox_judge *judge);

/* The cards that the pack of this deal should have. */
unsigned int law_judge_cards(const struct dealbox_judge *judge);

#endif
