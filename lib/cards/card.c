// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/card.h>

#include <errno.h>
#include <string.h>

#include "card-text.h"

const char card_ranks[13] = { 'A', 'K', 'Q', 'J', 'T', '9', '8', '7', '6', '5', '4',
			      '3', '2' };
const char card_suits[4] = { 'S', 'H', 'D', 'C' };

#define NAMES(s) s "A", s "K", s "Q", s "J", s "T", s "9", s "8", s "7", s "6", \
		 s "5", s "4", s "3", s "2"

static const char *const names[] = {
	NAMES("S"), NAMES("H"), NAMES("D"), NAMES("C"), "joker 1", "joker 2"
};

const char *dealbox_card_name(unsigned int card)
{
	return card < sizeof(names) / sizeof(*names) ? names[card] : "?";
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

int dealbox_card_parse(const char *name)
{
	const char *suit, *rank;
	unsigned int card;

	for (card = DEALBOX_CARD_JOKER1; card <= DEALBOX_CARD_JOKER2; card++)
		if (!strcmp(name, names[card]))
			return (int)card;

	if (!name[0] || !name[1])
		return -EINVAL;
	suit = memchr(card_suits, upper(name[0]), sizeof(card_suits));
	if (!strcmp(name + 1, "10"))
		rank = memchr(card_ranks, 'T', sizeof(card_ranks));
	else
		rank = name[2] ? NULL : memchr(card_ranks, upper(name[1]),
					       sizeof(card_ranks));
	if (!suit || !rank)
		return -EINVAL;
	return (int)((suit - card_suits) * 13 + (rank - card_ranks));
}

static const char *const seat_names[] = { "North", "East", "South", "West" };

const char *dealbox_seat_name(int seat)
{
	return seat >= 0 && seat < 4 ? seat_names[seat] : "?";
}

char dealbox_seat_letter(int seat)
{
	return *dealbox_seat_name(seat);
}

int dealbox_seat_parse(char letter)
{
	for (int seat = 0; seat < 4; seat++)
		if (*seat_names[seat] == upper(letter))
			return seat;
	return -EINVAL;
}

char *cards_put(dealbox_cards cards, char *text)
{
	for (unsigned int suit = 0; suit < 4; suit++) {
		unsigned int ranks = (unsigned int)(cards >> (13 * suit)) & 0x1fff;

		if (suit)
			*text++ = '.';
		for (; ranks; ranks &= ranks - 1)
			*text++ = card_ranks[__builtin_ctz(ranks)];
	}
	return text;
}

size_t dealbox_cards_format(dealbox_cards cards, char text[DEALBOX_CARDS_TEXT])
{
	char *end = cards_put(cards, text);

	*end = '\0';
	return (size_t)(end - text);
}
