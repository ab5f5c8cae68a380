/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "pile.h"

/* splitmix64 */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
	uint64_t reject = UINT64_MAX - UINT64_MAX % limit;
	uint64_t value;

	do {
		value = random_next(state);
	} while (value >= reject);
	return value % limit;
}

bool pile_put_top(struct pile *pile, struct card card)
{
	if (pile->count == PILE_MAX)
		return false;
	memmove(pile->card + 1, pile->card, pile->count * sizeof(card));
	pile->card[0] = card;
	pile->count++;
	return true;
}

bool pile_put_bottom(struct pile *pile, struct card card)
{
	if (pile->count == PILE_MAX)
		return false;
	pile->card[pile->count++] = card;
	return true;
}

struct card pile_take(struct pile *pile, unsigned int index)
{
	struct card card = pile->card[index];

	pile->count--;
	memmove(pile->card + index, pile->card + index + 1,
		(pile->count - index) * sizeof(card));
	return card;
}

void pile_move_all(struct pile *to, struct pile *from)
{
	while (from->count && pile_put_bottom(to, from->card[0]))
		pile_take(from, 0);
}

void pile_shuffle(struct pile *pile, uint64_t *random)
{
	unsigned int i;

	for (i = pile->count; i > 1; i--) {
		unsigned int j = random_below(random, i);
		struct card card = pile->card[j];

		pile->card[j] = pile->card[i - 1];
		pile->card[i - 1] = card;
	}
}

static const char suits[] = "SHDC";
static const char ranks[] = "AKQJT98765432";

int card_parse(const char *text)
{
	const char *suit, *rank;

	if (!strcasecmp(text, "joker1") || !strcasecmp(text, "joker"))
		return 52;
	if (!strcasecmp(text, "joker2"))
		return 53;
	if (strlen(text) < 2)
		return -1;
	suit = strchr(suits, toupper((unsigned char)text[0]));
	if (!strcmp(text + 1, "10"))
		rank = strchr(ranks, 'T');
	else if (text[2])
		return -1;
	else
		rank = strchr(ranks, toupper((unsigned char)text[1]));
	if (!suit || !rank)
		return -1;
	return (suit - suits) * 13 + (rank - ranks);
}
