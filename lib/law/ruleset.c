// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rulesets as data. Rules that need more than a number are in judge.c. */
#include <string.h>

#include <dealbox/law.h>

#include "messages.h"

static const struct dealbox_ruleset rulesets[DEALBOX_RULES] = {
	[DEALBOX_RULES_DUPLICATE_2007] = {
		.rules = DEALBOX_RULES_DUPLICATE_2007,
		.name = "duplicate-2007",
		.pack = DEALBOX_PACK_BRIDGE, .cards = 52, .hands = 4, .hand_cards = 13,
		.packet = 1,
		.adjacent = true,
		.director = true,
		.sight_law = "16C, 24",
		.redeal_laws = "22A, 86C",
		.edition = N_("Laws of Duplicate Bridge, edition of 2007, Law 6 (Norwegian text)"),
	},
	[DEALBOX_RULES_DUPLICATE_2017] = {
		.rules = DEALBOX_RULES_DUPLICATE_2017,
		.name = "duplicate-2017",
		.pack = DEALBOX_PACK_BRIDGE, .cards = 52, .hands = 4, .hand_cards = 13,
		.packet = 1,
		.director = true,
		.sight_law = "16D, 24",
		.redeal_laws = "22B, 86A",
		.edition = N_("Laws of Duplicate Bridge, edition of 2017, Law 6 "
			      "(English, Greek and French text)"),
	},
	[DEALBOX_RULES_RUBBER] = {
		.rules = DEALBOX_RULES_RUBBER,
		.name = "rubber",
		.pack = DEALBOX_PACK_BRIDGE, .cards = 52, .hands = 4, .hand_cards = 13,
		.packet = 1,
		.rotation = true,
		.adjacent = true,	/* one at a time in rotation is stricter */
		.cut_always = true,
		.cut_least = 4,
		.shuffles_advised = 5,
		.edition = N_("Laws of Contract Bridge (rubber), Laws 4 to 12 (English text)"),
	},
	[DEALBOX_RULES_PREFERANS] = {
		.rules = DEALBOX_RULES_PREFERANS,
		.name = "preferans",
		.pack = DEALBOX_PACK_PREFERANS, .cards = 32, .hands = 3, .hand_cards = 10,
		.talon_cards = 2,
		.packet = 2,
		.talon_packet = 3,
		.rotation = true,
		.adjacent = true,
		.cut_always = true,
		.edition = N_("Code of preferans, 3.2.12 to 3.3.1 (Russian text)"),
	},
};

const struct dealbox_ruleset *dealbox_ruleset(enum dealbox_rules rules)
{
	return (unsigned int)rules < DEALBOX_RULES ? &rulesets[rules] : NULL;
}

const struct dealbox_ruleset *dealbox_ruleset_find(const char *name)
{
	for (size_t i = 0; i < DEALBOX_RULES; i++)
		if (!strcmp(rulesets[i].name, name))
			return &rulesets[i];
	return NULL;
}
