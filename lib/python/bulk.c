// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops over many deals for the Python module. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/number.h>
#include <dealbox/set.h>

#include "bulk.h"

static void put_number(uint8_t *bytes, struct dealbox_number number)
{
	for (int i = 0; i < BULK_NUMBER; i++)
		bytes[i] = (uint8_t)((i < 8 ? number.low : number.high) >> 8 * (i % 8));
}

static struct dealbox_number get_number(const uint8_t *bytes)
{
	struct dealbox_number number = { 0, 0 };

	for (int i = 0; i < BULK_NUMBER; i++)
		*(i < 8 ? &number.low : &number.high) |= (uint64_t)bytes[i] << 8 * (i % 8);
	return number;
}

/* Each copies a deal before it uses it: the caller's array may have no alignment. */

size_t bulk_rank(const struct dealbox_deal *deals, size_t count, int numbering, uint8_t *numbers)
{
	struct dealbox_deal deal;
	struct dealbox_number number = { 0, 0 };
	size_t n;

	for (n = 0; n < count; n++) {
		memcpy(&deal, &deals[n], sizeof(deal));
		if (dealbox_number_rank(&deal, (enum dealbox_numbering)numbering, &number))
			break;
		put_number(numbers + BULK_NUMBER * n, number);
	}
	dealbox_deal_wipe(&deal);
	bulk_wipe(&number, sizeof(number));
	return n;
}

size_t bulk_unrank(const uint8_t *numbers, size_t count, int numbering, struct dealbox_deal *deals)
{
	struct dealbox_deal deal;
	size_t n;

	for (n = 0; n < count; n++) {
		if (dealbox_number_unrank(get_number(numbers + BULK_NUMBER * n),
					  (enum dealbox_numbering)numbering, &deal))
			break;
		memcpy(&deals[n], &deal, sizeof(deal));
	}
	dealbox_deal_wipe(&deal);
	return n;
}

/* Writes the seat of each card. Returns false if the deal is incomplete. */
static bool to_seats(const struct dealbox_deal *from, uint8_t seats[BULK_SEATS])
{
	struct dealbox_deal deal;
	bool complete;

	memcpy(&deal, from, sizeof(deal));
	complete = dealbox_deal_complete(&deal, NULL);
	for (unsigned int card = 0; card < BULK_SEATS; card++) {
		/* bit n of this is the card's seat: N 0, E 1, S 2, W 3 */
		unsigned int in_east = deal.hand[DEALBOX_EAST] >> card & 1;
		unsigned int in_south = deal.hand[DEALBOX_SOUTH] >> card & 1;
		unsigned int in_west = deal.hand[DEALBOX_WEST] >> card & 1;

		seats[card] = (uint8_t)(in_east | in_south << 1 | in_west * 3);
	}
	dealbox_deal_wipe(&deal);
	return complete;
}

/* The reverse. Returns false if that is no complete deal. */
static bool from_seats(const uint8_t seats[BULK_SEATS], struct dealbox_deal *to)
{
	struct dealbox_deal deal = { { 0 } };
	uint8_t wrong = 0;
	bool complete;

	for (unsigned int card = 0; card < BULK_SEATS; card++) {
		uint8_t seat = seats[card];

		wrong |= seat;
		deal.hand[seat % DEALBOX_HANDS] |= 1ULL << card;
	}
	complete = wrong < DEALBOX_HANDS && dealbox_deal_complete(&deal, NULL);
	if (complete)
		memcpy(to, &deal, sizeof(deal));
	dealbox_deal_wipe(&deal);
	return complete;
}

size_t bulk_to_seats(const struct dealbox_deal *deals, size_t count, uint8_t *seats)
{
	uint8_t one[BULK_SEATS];
	size_t n;

	for (n = 0; n < count && to_seats(&deals[n], one); n++)
		memcpy(seats + BULK_SEATS * n, one, BULK_SEATS);
	bulk_wipe(one, sizeof(one));
	return n;
}

size_t bulk_from_seats(const uint8_t *seats, size_t count, struct dealbox_deal *deals)
{
	size_t n;

	for (n = 0; n < count && from_seats(seats + BULK_SEATS * n, &deals[n]); n++)
		;
	return n;
}

size_t bulk_pack(const struct dealbox_deal *deals, size_t count, uint8_t *packed)
{
	uint8_t one[BULK_SEATS];
	size_t n;

	for (n = 0; n < count && to_seats(&deals[n], one); n++)
		for (unsigned int i = 0; i < BULK_PACKED; i++)
			packed[BULK_PACKED * n + i] = (uint8_t)(one[4 * i] | one[4 * i + 1] << 2 |
								one[4 * i + 2] << 4 |
								one[4 * i + 3] << 6);
	bulk_wipe(one, sizeof(one));
	return n;
}

size_t bulk_unpack(const uint8_t *packed, size_t count, struct dealbox_deal *deals)
{
	uint8_t one[BULK_SEATS];
	size_t n;

	for (n = 0; n < count; n++) {
		for (unsigned int i = 0; i < BULK_SEATS; i++)
			one[i] = packed[BULK_PACKED * n + i / 4] >> 2 * (i % 4) & 3;
		if (!from_seats(one, &deals[n]))
			break;
	}
	bulk_wipe(one, sizeof(one));
	return n;
}

size_t bulk_complete(const struct dealbox_deal *deals, size_t count,
		     const struct dealbox_pack *pack, uint8_t *complete)
{
	struct dealbox_deal deal;
	size_t sum = 0;

	for (size_t n = 0; n < count; n++) {
		memcpy(&deal, &deals[n], sizeof(deal));
		complete[n] = dealbox_deal_complete(&deal, pack);
		sum += complete[n];
	}
	dealbox_deal_wipe(&deal);
	return sum;
}

size_t bulk_get(const struct dealbox_set *set, struct dealbox_deal *deals, size_t count)
{
	struct dealbox_board board;
	size_t n;

	for (n = 0; n < count && !dealbox_set_get(set, n, &board); n++)
		memcpy(&deals[n], &board.deal, sizeof(board.deal));
	dealbox_deal_wipe(&board.deal);
	return n;
}

/* keeps the first *context boards of a set */
static bool is_old(const struct dealbox_board *board, void *context)
{
	size_t *old = context;

	(void)board;
	if (!*old)
		return false;
	(*old)--;
	return true;
}

int bulk_add(struct dealbox_set *set, const struct dealbox_deal *deals, size_t count,
	     uint32_t first)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	size_t old = dealbox_set_count(set);
	int err = 0;

	if (!first || first > DEALBOX_BOARD_MAX || count > DEALBOX_BOARD_MAX - first + 1)
		return -EINVAL;
	for (size_t n = 0; n < count && !err; n++) {
		memcpy(&board.deal, &deals[n], sizeof(board.deal));
		board.number = first + (uint32_t)n;
		err = dealbox_set_add(set, &board);
	}
	dealbox_deal_wipe(&board.deal);
	if (err)
		dealbox_set_filter(set, is_old, &old);
	return err;
}

/* what stands in front of memory; as large as the strictest alignment */
union head {
	size_t size;
	max_align_t align;
};

void *bulk_alloc(size_t size)
{
	union head *head = size < SIZE_MAX - sizeof(*head) ? malloc(sizeof(*head) + size) : NULL;

	if (!head)
		return NULL;
	head->size = size;
	return head + 1;
}

void bulk_free(void *memory)
{
	union head *head = memory;

	if (!head)
		return;
	head--;
	bulk_wipe(memory, head->size);
	free(head);
}

void bulk_wipe(void *memory, size_t size)
{
	explicit_bzero(memory, size);
}
