// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "campaign.h"

#define STRIKE(s)	SITE_STRIKE, STRIKE_##s

const struct kind kinds[FAULTS] = {
	[F_DOUBLE] = { "double-feed", MECHANICS, STRIKE(DOUBLE) },
	/* If the deck has a spare card, it does not run short afterwards. */
	[F_DOUBLE_UNSEEN] = { "double-feed-unseen", MECHANICS, STRIKE(DOUBLE_UNSEEN),
			      .unseen = true, .with = F_JOKER },
	/* Without exit sensors, no host can detect these two either. */
	[F_WRONG_POCKET] = { "wrong-pocket", MECHANICS, STRIKE(WRONG_POCKET), true },
	[F_WRONG_POCKET_LATE] = { "wrong-pocket-late", MECHANICS, STRIKE(WRONG_POCKET_LATE),
				  .unseen = true },
	[F_WRONG_POCKET_UNSEEN] = { "wrong-pocket-unseen", MECHANICS,
				    STRIKE(WRONG_POCKET_UNSEEN), true },
	[F_TIMEOUT] = { "feed-timeout", MECHANICS, STRIKE(TIMEOUT) },
	[F_JAM] = { "jam", MECHANICS, STRIKE(JAM) },
	[F_HARDWARE] = { "hardware", MECHANICS, STRIKE(HARDWARE) },
	[F_JOKER] = { "joker", MECHANICS, SITE_HOPPER },
	[F_SHORT] = { "short-deck", MECHANICS, SITE_HOPPER },
	[F_TWICE] = { "card-twice", MECHANICS, SITE_HOPPER },
	[F_SURPLUS] = { "surplus-card", MECHANICS, SITE_HOPPER },

	[F_MISREAD] = { "misread", READER, STRIKE(MISREAD), true },
	[F_SWAPPED_CLEAR] = { "misread-crosswise", READER, SITE_BEGIN, .unseen = true },
	[F_SWAPPED_FAINT] = { "misread-crosswise-faint", READER, SITE_BEGIN },
	[F_UNREADABLE] = { "unreadable", READER, STRIKE(UNREADABLE) },
	[F_FAINT] = { "faint", READER, STRIKE(FAINT) },
	[F_FACE_UP] = { "face-up", READER, STRIKE(FACE_UP) },
	[F_LABEL] = { "label-misread", READER, SITE_INSERT },

	[F_LOST] = { "event-lost", FIRMWARE, SITE_EVENT },
	[F_LOST_QUIETLY] = { "event-lost-renumbered", FIRMWARE, SITE_EVENT },
	[F_DOUBLED] = { "event-doubled", FIRMWARE, SITE_EVENT },
	[F_DOUBLED_QUIETLY] = { "event-doubled-renumbered", FIRMWARE, SITE_EVENT },
	[F_LATE] = { "event-late", FIRMWARE, SITE_EVENT },
	[F_LATE_QUIETLY] = { "event-late-renumbered", FIRMWARE, SITE_EVENT },
	[F_ALTERED] = { "event-altered", FIRMWARE, SITE_EVENT },
	[F_CARD_ALTERED] = { "event-card-altered", FIRMWARE, SITE_EVENT },
	[F_STRANGE] = { "event-strange", FIRMWARE, SITE_EVENT },
	[F_RENUMBERED] = { "insertion-renumbered", FIRMWARE, SITE_MOMENT },
	[F_UNSPENT] = { "insertion-unspent", FIRMWARE, SITE_MOMENT, .with = F_KILLED },
	[F_REUSED] = { "insertion-reused", FIRMWARE, SITE_INSERT },
	[F_RESTARTED] = { "firmware-restarted", FIRMWARE, SITE_MOMENT },
	[F_OLD_PLAN] = { "old-plan", FIRMWARE, SITE_BEGIN },
	/* A board present at switch-on gets a new insertion that is not marked as in doubt. */
	[F_DOUBT_FORGOTTEN] = { "doubt-forgotten", FIRMWARE, SITE_MOMENT },

	[F_STALLED] = { "control-stalled", BUS, SITE_CONTROL },
	[F_UNANSWERED] = { "control-unanswered", BUS, SITE_CONTROL },
	[F_UNHEARD] = { "control-unheard", BUS, SITE_CONTROL },
	[F_BULK_STALLED] = { "bulk-stalled", BUS, SITE_BULK },
	[F_EVENTS_FAILED] = { "events-failed", BUS, SITE_PACKET },
	[F_EVENTS_CUT] = { "events-cut", BUS, SITE_PACKET },
	[F_GATE_LOST] = { "gate-lost", BUS, SITE_GATE },
	[F_GATE_TWICE] = { "gate-twice", BUS, SITE_GATE },
	[F_RESET] = { "reset", BUS, SITE_MOMENT },
	[F_POWER] = { "power", BUS, SITE_MOMENT },
	[F_UNPLUGGED] = { "unplugged", BUS, SITE_MOMENT },

	[F_STOP_KEY] = { "stop-key", PEOPLE, SITE_MOMENT },
	[F_START_KEY] = { "start-key", PEOPLE, SITE_MOMENT },
	[F_ENTER] = { "enter", PEOPLE, SITE_MOMENT },
	[F_COVER] = { "cover", PEOPLE, SITE_MOMENT },
	[F_PULLED] = { "board-pulled", PEOPLE, SITE_MOMENT },
	/* put in again before the instruction to empty it */
	[F_PUSHED_BACK] = { "board-pulled-and-back", PEOPLE, SITE_MOMENT },
	[F_KILLED] = { "killed", PEOPLE, SITE_MOMENT },
	[F_KILLED_ANEW] = { "killed-and-anew", PEOPLE, SITE_MOMENT },
	[F_INTERRUPTED] = { "interrupted", PEOPLE, SITE_MOMENT },
	[F_TERMINATED] = { "terminated", PEOPLE, SITE_MOMENT },
	[F_NOT_EMPTIED] = { "not-emptied", PEOPLE, SITE_EMPTY, .unseen = true,
			    .with = F_MISREAD },
	[F_EXCHANGED] = { "board-exchanged", PEOPLE, SITE_MOMENT, .unseen = true },
	[F_UNHELPED] = { "unhelped", PEOPLE, SITE_HELP, .with = F_UNREADABLE },
	[F_SPARE] = { "spare-card", PEOPLE, SITE_HELP, .with = F_SHORT },
	[F_PACK_ADDED] = { "pack-added", PEOPLE, SITE_MOMENT },
	/* Out and in again without a running program: after a deal, it is not empty. */
	[F_MEANWHILE] = { "board-out-and-in", PEOPLE, SITE_BETWEEN, .unseen = true,
			  .with = F_KILLED },
	[F_VOUCHED] = { "called-empty", PEOPLE, SITE_EMPTY, .unseen = true, .with = F_MEANWHILE },
};

bool kind_off[FAULTS];
struct fault faults[FAULTS_MAX];
int fault_count;

enum fault_id kind_find(const char *name)
{
	enum fault_id id;

	for (id = F_NONE + 1; id < FAULTS; id++)
		if (!strcmp(kinds[id].name, name))
			return id;
	return F_NONE;
}

static void fault_add(enum fault_id id, int deal, int position)
{
	struct fault fault = {
		.id = id, .deal = deal, .position = position,
		.skip = (int)chance(chance(3) ? 4 : 16),
		.arg = chance(UINT32_MAX),
	};

	/* Draw for disabled faults too, so that the others stay the same. */
	if (!kind_off[id] && fault_count < FAULTS_MAX)
		faults[fault_count++] = fault;
}

void faults_choose(void)
{
	/* One job in eight has no fault; some have two. */
	static const int counts[] = { 0, 1, 1, 1, 2, 2, 3, 5 };
	int wanted = counts[chance(8)], i, first_deal = 0, first_position = 0;

	fault_count = 0;
	for (i = 0; i < wanted; i++) {
		enum fault_id id = 1 + chance(FAULTS - 1);
		/* Prefer the start and end of a deal, where most errors are. */
		int deal = 1 + (int)chance(2);
		int position = chance(4) ? (int)chance(52) : chance(2) ? 51 + (int)chance(2) : 0;

		/* Two consecutive faults may hide each other. */
		if (i && chance(2)) {
			deal = first_deal;
			position = first_position + (int)chance(2);
		}
		if (!i) {
			first_deal = deal;
			first_position = position;
		}
		fault_add(id, deal, position);
		if (kinds[id].with && chance(2))
			fault_add(kinds[id].with, deal, position);
	}
}

/* Return true during a deal: some faults occur between deals */
static bool reached(const struct fault *fault)
{
	/*
	 * A finished board put in instead of the next one is not empty, which no host can detect.
	 */
	if (fault->id == F_PUSHED_BACK && !running())
		return false;
	switch (kinds[fault->id].site) {
	case SITE_HOPPER:
	case SITE_INSERT:
	case SITE_EMPTY:
	case SITE_CONTROL:
	case SITE_BULK:
		return m.deals >= fault->deal - 1;
	case SITE_BEGIN:
	case SITE_BETWEEN:
		return m.deals >= fault->deal;
	case SITE_EVENT:
		/* Position 0 means before the deal. */
		if (!fault->position)
			return m.deals >= fault->deal - 1;
		/* fall through */
	default:
		return m.deals > fault->deal ||
		       (m.deals == fault->deal && m.position >= fault->position);
	}
}

/* Skip events and transfers as requested. */
static bool skipped(struct fault *fault)
{
	enum site site = kinds[fault->id].site;

	return (site == SITE_EVENT || site == SITE_CONTROL) && fault->skip-- > 0;
}

struct fault *fault_due(enum site site, enum fault_id id)
{
	struct fault *fault;

	for (fault = faults; fault < faults + fault_count; fault++) {
		if (fault->struck || kinds[fault->id].site != site || (id && fault->id != id) ||
		    !reached(fault) || skipped(fault))
			continue;
		fault->struck = true;
		note("fault: %s (deal %d, position %d)", kinds[fault->id].name, m.deals,
		     m.position);
		return fault;
	}
	return NULL;
}

enum fault_id fault_unseen(void)
{
	int i;

	for (i = 0; i < fault_count; i++)
		if (faults[i].struck && kinds[faults[i].id].unseen)
			return faults[i].id;
	return F_NONE;
}

/* -- random numbers: splitmix64 --------------------------------------------------- */

static uint64_t chance_state;

void chance_seed(uint64_t seed, uint64_t job)
{
	chance_state = seed * 0x9e3779b97f4a7c15u ^ job * 0xd1342543de82ef95u;
}

uint32_t chance(uint32_t below)
{
	uint64_t z = chance_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(((z ^ z >> 31) >> 32) * below >> 32);
}
