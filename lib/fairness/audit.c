// SPDX-License-Identifier: LGPL-2.1-or-later
/* Audits of played deals: findings about single deals. The statistics are in audit-stats.c. */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/audit.h>
#include <dealbox/number.h>

#include "audit-stats.h"

/*
 * The record of a deal: its number after it was turned so that North holds the spade ace, which is
 * the same for all four turns of a deal, and the turn.
 */
struct entry {
	struct dealbox_number number;
	uint32_t set;
	uint32_t board;
	uint8_t turn;
	bool sorted;
};

struct dealbox_audit {
	struct audit_stats stats;
	char **names;
	size_t sets;
	struct entry *entries;
	size_t count, room;
};

struct dealbox_audit *dealbox_audit_new(void)
{
	struct dealbox_audit *audit = calloc(1, sizeof(*audit));

	if (audit)
		audit_stats_init(&audit->stats);
	return audit;
}

void dealbox_audit_free(struct dealbox_audit *audit)
{
	if (!audit)
		return;
	if (audit->entries)
		sodium_memzero(audit->entries, audit->count * sizeof(*audit->entries));
	free(audit->entries);
	for (size_t i = 0; i < audit->sets; i++)
		free(audit->names[i]);
	free(audit->names);
	sodium_memzero(audit, sizeof(*audit));
	free(audit);
}

/* The holder of each card */
static void holders_fill(const struct dealbox_deal *deal, uint8_t holder[DEALBOX_CARDS])
{
	for (unsigned int seat = 0; seat < DEALBOX_HANDS; seat++)
		for (dealbox_cards left = deal->hand[seat]; left; left &= left - 1)
			holder[__builtin_ctzll(left)] = (uint8_t)seat;
}

/*
 * Returns how many of the n steps from card `from` to card `from + step` advance by the most
 * frequent number of seats.
 */
static unsigned int steps_alike(const uint8_t *holder, unsigned int from, unsigned int step,
				unsigned int every, unsigned int n)
{
	unsigned int count[DEALBOX_HANDS] = { 0 }, most = 0;

	for (unsigned int i = 0; i < n; i++, from += every)
		count[(holder[from + step] - holder[from]) & 3]++;
	for (unsigned int i = 0; i < DEALBOX_HANDS; i++)
		most = count[i] > most ? count[i] : most;
	return most;
}

/*
 * A deck sorted by suits, dealt in turn, has each next card of a suit the same number of seats
 * on (0 for the 13-spade placeholder); one sorted by ranks has the next suit so. Decks
 * come with suits and ranks in any order, and may be cut. Of 48 steps, and of 39, a
 * sorted deck has all but one or two; a random deal has some 20, and 12, and reaches the bounds
 * less than once in 10^15 deals.
 */
#define SORTED_BY_SUIT	41
#define SORTED_BY_RANK	34

static bool deal_sorted(const struct dealbox_deal *deal)
{
	uint8_t holder[DEALBOX_CARDS];
	unsigned int suits = 0, ranks = 0;

	holders_fill(deal, holder);
	for (unsigned int suit = 0; suit < 4; suit++)
		suits += steps_alike(holder, 13 * suit, 1, 1, 12);
	for (unsigned int suit = 0; suit < 3; suit++)
		ranks += steps_alike(holder, 13 * suit, 13, 1, 13);
	return suits >= SORTED_BY_SUIT || ranks >= SORTED_BY_RANK;
}

static int entry_add(struct dealbox_audit *audit, const struct dealbox_board *board)
{
	const int turn = dealbox_deal_holder(&board->deal, 0);
	struct dealbox_deal turned;
	struct entry *entry;

	if (audit->count == audit->room) {
		const size_t room = audit->room ? 2 * audit->room : 64;

		entry = realloc(audit->entries, room * sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		audit->entries = entry;
		audit->room = room;
	}
	for (int seat = 0; seat < DEALBOX_HANDS; seat++)
		turned.hand[seat] = board->deal.hand[(seat + turn) % DEALBOX_HANDS];
	entry = &audit->entries[audit->count++];
	dealbox_number_rank(&turned, DEALBOX_NUMBERING_BIGDEAL, &entry->number);
	entry->set = (uint32_t)audit->sets;
	entry->board = board->number;
	entry->turn = (uint8_t)turn;
	entry->sorted = deal_sorted(&board->deal);
	return 0;
}

int dealbox_audit_add(struct dealbox_audit *audit, const struct dealbox_set *set, const char *name)
{
	const size_t count = audit->count;
	struct dealbox_board board;
	char **names;
	int err = 0;

	if (dealbox_set_marks(set) & DEALBOX_MARK_UNPLAYED)
		return -EPERM;
	if (dealbox_set_pack(set) != dealbox_pack_bridge())
		return -EINVAL;
	names = realloc(audit->names, (audit->sets + 1) * sizeof(*names));
	if (!names)
		return -ENOMEM;
	audit->names = names;
	names[audit->sets] = strdup(name);
	if (!names[audit->sets])
		return -ENOMEM;
	for (size_t i = 0; !err && !dealbox_set_get(set, i, &board); i++)
		err = entry_add(audit, &board);
	if (err) {
		free(names[audit->sets]);
		audit->count = count;
		return err;
	}
	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++)
		audit_stats_add(&audit->stats, &board.deal);
	audit_stats_end_set(&audit->stats);
	audit->sets++;
	return 0;
}

size_t dealbox_audit_deals(const struct dealbox_audit *audit)
{
	return audit->count;
}

size_t dealbox_audit_sets(const struct dealbox_audit *audit)
{
	return audit->sets;
}

const char *dealbox_audit_set(const struct dealbox_audit *audit, size_t set)
{
	return set < audit->sets ? audit->names[set] : NULL;
}

size_t dealbox_audit_run(const struct dealbox_audit *audit,
			 struct dealbox_audit_test *out, size_t max)
{
	struct dealbox_audit_test tests[AUDIT_TESTS];
	size_t count = max < AUDIT_TESTS ? max : AUDIT_TESTS;

	audit_stats_test(&audit->stats, tests);
	if (count)
		memcpy(out, tests, count * sizeof(*out));
	return AUDIT_TESTS;
}

/* Orders by number, then by place. */
static int entry_compare(const void *a, const void *b, void *entries)
{
	const struct entry *const base = entries;
	const size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const int order = dealbox_number_compare(base[i].number, base[j].number);

	if (order)
		return order;
	return i < j ? -1 : i > j;
}

#define NOWHERE	SIZE_MAX

/* Returns before[i] = first place of deal i, NOWHERE if it is new; free it. NULL = out of memory */
static size_t *repeats_find(const struct dealbox_audit *audit)
{
	size_t *order = calloc(audit->count + 1, sizeof(*order));
	size_t *before = calloc(audit->count + 1, sizeof(*before));

	if (!order || !before) {
		free(order);
		free(before);
		return NULL;
	}
	for (size_t i = 0; i < audit->count; i++)
		order[i] = i;
	qsort_r(order, audit->count, sizeof(*order), entry_compare, audit->entries);
	for (size_t i = 0, first = 0; i < audit->count; i++) {
		if (dealbox_number_compare(audit->entries[order[first]].number,
					   audit->entries[order[i]].number))
			first = i;
		before[order[i]] = first == i ? NOWHERE : order[first];
	}
	free(order);
	return before;
}

int dealbox_audit_find(const struct dealbox_audit *audit,
		       int (*each)(const struct dealbox_audit_finding *finding, void *context),
		       void *context)
{
	size_t *before = repeats_find(audit);
	int err = before ? 0 : -ENOMEM;

	for (size_t i = 0, next; !err && i < audit->count; i = next) {
		const struct entry *entry = &audit->entries[i], *other;
		struct dealbox_audit_finding finding = {
			.set = entry->set, .board = entry->board, .count = 1,
		};

		next = i + 1;
		if (entry->sorted) {
			finding.kind = DEALBOX_AUDIT_SORTED;
			err = each(&finding, context);
		}
		if (err || before[i] == NOWHERE)
			continue;
		other = &audit->entries[before[i]];
		/* a sequence of deals that occurs in the same order in two sets */
		while (next < audit->count && before[next] != NOWHERE &&
		       before[next] == before[next - 1] + 1 &&
		       audit->entries[next].set == entry->set && !audit->entries[next].sorted &&
		       audit->entries[before[next]].set == other->set)
			next++;
		finding.count = next - i;
		finding.kind = finding.count > 1 ? DEALBOX_AUDIT_SEED : DEALBOX_AUDIT_REPEATED;
		finding.other_set = other->set;
		finding.other_board = other->board;
		finding.turned = (entry->turn - other->turn) & 3;
		err = each(&finding, context);
	}
	free(before);
	return err;
}
