// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Numbers of deals.
 *
 * Andrews' and Big Deal's numberings rank each hand among all sets of its size from the cards that
 * are left, and combine the three ranks as digits; the fourth hand is the rest. The rank is that of
 * the combinatorial number system: with the cards left numbered from 0, a set p1 < p2 < .. < pk has
 * rank C(p1,1) + .. + C(pk,k) (D. Knuth, TAOCP 4A, 7.2.1.3). Big Deal's lexicographic order is the
 * same system with the cards numbered from the other end, counted downwards.
 *
 * Pavlicek's numbering ranks the sequence of owners, card by card.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "number-internal.h"
#include "number-tables.h"
#include "seat-bits.h"

#define HAND_SIZE	13
#define EACH_BYTE	0x0101010101010101ULL
#define PACK_BYTES	7	/* bytes for 52 bits */

/* Numbers of hands of 13 from 39 and from 26 cards. */
#define WAYS1		8122425444ULL
#define WAYS2		10400600ULL

/* The number of the last deal, counted from 0 */
static const struct dealbox_number number_last = { 0xad55e315, 0x634dda658bf491ff };

/* Set list[n] to card n of a set, lowest first. */
static inline void members_list(dealbox_cards cards, uint8_t list[DEALBOX_CARDS + 8])
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < PACK_BYTES; i++) {
		unsigned int byte = cards >> 8 * i & 0xff;
		uint64_t members = htole64(byte_members[byte] + EACH_BYTE * 8 * i);

		memcpy(list + count, &members, sizeof(members));
		count += byte_count[byte];
	}
}

/* Set below[card] to the number of cards of a set below that card. */
static inline void members_below(dealbox_cards cards, uint8_t below[8 * PACK_BYTES])
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < PACK_BYTES; i++) {
		unsigned int byte = cards >> 8 * i & 0xff;
		uint64_t counts = htole64(byte_below[byte] + EACH_BYTE * count);

		memcpy(below + 8 * i, &counts, sizeof(counts));
		count += byte_count[byte];
	}
}

/*
 * Remove the highest member from the rank of a set of k. Returns its position; the rest stays in
 * *rank. The bucket consists of the exponent and the five top bits of the fraction of rank + 32 as
 * a double, which is exact up to 2^53. One conversion replaces the search for the highest bit and a
 * shift.
 */
static inline unsigned int highest_take(uint64_t *rank, unsigned int k)
{
	const unsigned int first = (1023 + 5) << 5;	/* bucket of 32 */
	unsigned int position;
	double raised;
	uint64_t bits;

	_Static_assert(sizeof(raised) == sizeof(bits), "double of IEEE 754");
	if (k == 1)
		return (unsigned int)*rank;
	raised = (double)(int64_t)(*rank + 32);
	memcpy(&bits, &raised, sizeof(bits));
	position = guess[k][(bits >> 47) - first];
	position += choose[k][position + 1] <= *rank;
	*rank -= choose[k][position];
	return position;
}

/* Return the cards at these positions among the cards left. */
static inline dealbox_cards positions_cards(const uint8_t position[HAND_SIZE],
					    dealbox_cards left)
{
	uint8_t list[DEALBOX_CARDS + 8];
	dealbox_cards cards = 0;

	members_list(left, list);
#pragma GCC unroll 13
	for (unsigned int k = 0; k < HAND_SIZE; k++)
		cards |= 1ULL << list[position[k]];
	return cards;
}

/*
 * Divide the number of a deal by WAYS1 * WAYS2, as number_quotient() does; the rest and its errors
 * fit into 64 bits.
 */
static inline uint64_t rank_take(struct dealbox_number number, uint64_t *rest)
{
	const double high = (double)(int64_t)number.high, low = (double)(int64_t)(number.low >> 1);
	uint64_t rank = (uint64_t)(int64_t)(high * (0x1p64 / (WAYS1 * WAYS2)) +
					    low * (2.0 / (WAYS1 * WAYS2)));
	int64_t left = (int64_t)(number.low - rank * (WAYS1 * WAYS2));
	const int64_t under = left >> 63;

	rank += (uint64_t)under;
	left += under & (int64_t)(WAYS1 * WAYS2);
	if (left >= (int64_t)(WAYS1 * WAYS2)) {
		rank++;
		left -= (int64_t)(WAYS1 * WAYS2);
	}
	*rest = (uint64_t)left;
	return rank;
}

/* Deals unranked together, see below */
#define TOGETHER	4

/*
 * Each of the three hands of a deal is a chain of dependent steps. Interleave the chains of several
 * deals, so that the processor can execute them in parallel.
 */
static inline __attribute__((always_inline))
void unrank_together(const struct dealbox_number *numbers, struct dealbox_deal *deals,
		     unsigned int count)
{
	uint8_t position1[TOGETHER][HAND_SIZE], position2[TOGETHER][HAND_SIZE];
	uint64_t rank0[TOGETHER], rank1[TOGETHER], rank2[TOGETHER];
	dealbox_cards hand0[TOGETHER];

#pragma GCC unroll 4
	for (unsigned int i = 0; i < count; i++) {
		uint64_t rest;

		rank0[i] = rank_take(numbers[i], &rest);
		rank1[i] = rest / WAYS2;
		rank2[i] = rest % WAYS2;
		hand0[i] = 0;
	}
#pragma GCC unroll 13
	for (unsigned int k = HAND_SIZE; k; k--) {
#pragma GCC unroll 4
		for (unsigned int i = 0; i < count; i++) {
			hand0[i] |= 1ULL << highest_take(&rank0[i], k);
			position1[i][k - 1] = (uint8_t)highest_take(&rank1[i], k);
			position2[i][k - 1] = (uint8_t)highest_take(&rank2[i], k);
		}
	}
#pragma GCC unroll 4
	for (unsigned int i = 0; i < count; i++) {
		dealbox_cards left = DEALBOX_PACK_BRIDGE & ~hand0[i];

		deals[i].hand[0] = hand0[i];
		deals[i].hand[1] = positions_cards(position1[i], left);
		left &= ~deals[i].hand[1];
		deals[i].hand[2] = positions_cards(position2[i], left);
		deals[i].hand[3] = left & ~deals[i].hand[2];
	}
}

static __attribute__((noinline)) void andrews_unrank(struct dealbox_number number,
						     struct dealbox_deal *deal)
{
	unrank_together(&number, deal, 1);
}

void number_unrank_all(const struct dealbox_number *numbers, size_t count,
		       struct dealbox_deal *deals)
{
	size_t done;

	for (done = 0; done + TOGETHER <= count; done += TOGETHER)
		unrank_together(numbers + done, deals + done, TOGETHER);
	for (; done < count; done++)
		andrews_unrank(numbers[done], deals + done);
}

static inline uint64_t hand_rank(dealbox_cards hand, dealbox_cards left)
{
	uint8_t below[8 * PACK_BYTES];
	uint64_t rank = 0;

	members_below(left, below);
#pragma GCC unroll 13
	for (unsigned int k = 1; k <= HAND_SIZE; k++) {
		rank += choose[k][below[__builtin_ctzll(hand)]];
		hand &= hand - 1;
	}
	return rank;
}

static struct dealbox_number andrews_rank(const struct dealbox_deal *deal)
{
	dealbox_cards left = DEALBOX_PACK_BRIDGE;
	uint64_t rank[3];

	for (unsigned int hand = 0; hand < 3; hand++) {
		rank[hand] = hand_rank(deal->hand[hand], left);
		left &= ~deal->hand[hand];
	}
	return number_add(number_product(rank[0], WAYS1 * WAYS2),
			  number_from(0, rank[1] * WAYS2 + rank[2]));
}

/* Replace each card n by card 51 - n. */
static inline dealbox_cards cards_reversed(dealbox_cards cards)
{
	cards = (cards >> 1 & 0x5555555555555555ULL) | (cards & 0x5555555555555555ULL) << 1;
	cards = (cards >> 2 & 0x3333333333333333ULL) | (cards & 0x3333333333333333ULL) << 2;
	cards = (cards >> 4 & 0x0f0f0f0f0f0f0f0fULL) | (cards & 0x0f0f0f0f0f0f0f0fULL) << 4;
	return __builtin_bswap64(cards) >> (64 - DEALBOX_CARDS);
}

static inline void deal_reverse(struct dealbox_deal *deal)
{
	for (unsigned int hand = 0; hand < DEALBOX_HANDS; hand++)
		deal->hand[hand] = cards_reversed(deal->hand[hand]);
}

/* Counting every digit downwards counts the whole number downwards. */
static inline struct dealbox_number number_mirrored(struct dealbox_number number)
{
	return number_subtract(number_last, number);
}

static struct dealbox_number bigdeal_rank(const struct dealbox_deal *deal)
{
	struct dealbox_deal reversed = *deal;

	deal_reverse(&reversed);
	return number_mirrored(andrews_rank(&reversed));
}

void number_bigdeal_unrank(struct dealbox_number number, struct dealbox_deal *deal)
{
	andrews_unrank(number_mirrored(number), deal);
	deal_reverse(deal);
}

void number_bigdeal_unrank_all(struct dealbox_number *numbers, size_t count,
			       struct dealbox_deal *deals)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = number_mirrored(numbers[i]);
	number_unrank_all(numbers, count, deals);
	for (size_t i = 0; i < count; i++)
		deal_reverse(&deals[i]);
}

/*
 * Pavlicek: from a number to a deal.
 *
 * A table gives the owners of the first cards, and the start of their range of numbers. The rest of
 * the number becomes a fraction, (rest + 1/2) / ways. That fraction times the number of cards left
 * selects the owner of the next card: North if it is below the number of cards that North needs,
 * and so on. The part above the start of that seat, divided by the cards that the seat needs, is
 * the fraction for the remaining deals. The last cards come from a table of all their
 * distributions.
 *
 * `place` is the fraction times the cards left, with 7 bits before the point. It is rounded down,
 * which is harmless as long as the error is less than half a deal. Measured in deals, an error does
 * not grow from card to card. A wide step (121 bits after the point) adds less than 2^10 units; all
 * of them together add far less than a thousandth of a deal. A narrow step (57 bits) adds less than
 * 16 units, or 16 * ways / cards left / 2^57 deals: less than 0.15 in all, as the test computes.
 *
 * The code has no branches, since a branch predictor would have to guess the deal. The loops are
 * not unrolled, so that they fit into the cache of decoded instructions. Each step multiplies
 * before it does the work that the next step does not depend on. docs/generation.md lists what else
 * was tried.
 */
#define PLACE_NARROW	32	/* from so many cards left on, 64 bits suffice */
#define POINT		57
#define PLACE_ONE	((int64_t)1 << POINT)

/* Return a * ratio for a place a and a ratio with 121 bits after the point. */
static inline struct dealbox_number ratio_multiply(struct dealbox_number a, uint64_t high,
						   uint64_t low)
{
	const uint64_t less = number_upper(a.high, low) + number_upper(a.low, high);

	return number_left(number_add(number_product(a.high, high), number_from(0, less)),
			   64 - POINT);
}

/*
 * Signed, so that the compiler keeps the sums below in pairs: the longest chain of dependent
 * operations determines the time of a step.
 */
struct owners {
	int64_t end_n, end_e, end_s;	/* cards needed by N; N and E; N, E and S: as places */
	int64_t want_n, want_e, want_s, want_w;
	dealbox_cards low, high;	/* bits of each card's seat; the last card is the top bit */
};

/* The owner of the next card: all ones if it goes to that seat or to one before it */
struct given {
	int64_t n, e, s;
};

static inline struct given place_seat(const struct owners *owners, int64_t place)
{
	return (struct given) {
		.n = (place - owners->end_n) >> 63,
		.e = (place - owners->end_e) >> 63,
		.s = (place - owners->end_s) >> 63,
	};
}

/*
 * Return the table entry for the number of cards that this seat needs. Exclusive or selects it:
 * entries use all 64 bits, so that a signed difference of two would overflow.
 */
static inline uint64_t seat_entry(const struct owners *owners, struct given given,
				  const uint64_t table[HAND_SIZE + 1])
{
	const uint64_t n = table[owners->want_n], e = table[owners->want_e];
	const uint64_t s = table[owners->want_s], w = table[owners->want_w];

	return (w ^ ((uint64_t)given.s & (s ^ w))) ^
	       (((uint64_t)given.e & (e ^ s)) ^ ((uint64_t)given.n & (n ^ e)));
}

/* Return how far the place is above the start of this seat. */
static inline int64_t seat_rest(const struct owners *owners, struct given given, int64_t place)
{
	return (place - owners->end_s + (given.s & (owners->end_s - owners->end_e))) +
	       ((given.e & (owners->end_e - owners->end_n)) + (given.n & owners->end_n));
}

static inline void card_give(struct owners *owners, struct given given)
{
	owners->end_n += given.n * PLACE_ONE;
	owners->end_e += given.e * PLACE_ONE;
	owners->end_s += given.s * PLACE_ONE;
	owners->want_n += given.n;
	owners->want_e += given.e - given.n;
	owners->want_s += given.s - given.e;
	owners->want_w += ~given.s;
	owners->low = owners->low >> 1 | (dealbox_cards)(given.n ^ given.e ^ ~given.s) << 63;
	owners->high = owners->high >> 1 | (dealbox_cards)~given.e << 63;
}

/* Give out one card with 64 bits. Returns the next place: the remaining fraction times left. */
static inline int64_t narrow_step(struct owners *owners, int64_t place, unsigned int left)
{
	const struct given given = place_seat(owners, place);
	const uint64_t ratio = seat_entry(owners, given, ratio_narrow[left]);
	const int64_t rest = seat_rest(owners, given, place);
	const uint64_t next = number_upper((uint64_t)rest << 3, ratio) << 2;

	card_give(owners, given);
	return (int64_t)next;
}

static inline struct dealbox_number wide_step(struct owners *owners, struct dealbox_number place,
				       unsigned int left)
{
	const struct given given = place_seat(owners, (int64_t)place.high);
	const uint64_t high = seat_entry(owners, given, ratio_high[left]);
	const uint64_t low = seat_entry(owners, given, ratio_low[left]);
	const int64_t rest = seat_rest(owners, given, (int64_t)place.high);

	place = ratio_multiply(number_from((uint64_t)rest, place.low), high, low << 1);
	card_give(owners, given);
	return place;
}

static inline struct dealbox_number head_start(const struct head *head)
{
	return number_from(head->start_high, head->start_low);
}

/* Give out the first cards. Returns the rest of the number as a place. */
static inline struct dealbox_number head_take(struct owners *owners, struct dealbox_number number)
{
	const unsigned int before = head_guess[number.high >> (HEAD_BUCKET - 64)];
	const unsigned int late = !number_below(number, head_start(&heads[before + 1]));
	const struct head *head = &heads[before + late];

	number = number_left(number_subtract(number, head_start(head)), 1);
	number.low |= 1;	/* twice the number, + 1 */
	owners->want_n = head->want[0];
	owners->want_e = head->want[1];
	owners->want_s = head->want[2];
	owners->want_w = head->want[3];
	owners->end_n = owners->want_n * PLACE_ONE;
	owners->end_e = owners->end_n + owners->want_e * PLACE_ONE;
	owners->end_s = owners->end_e + owners->want_s * PLACE_ONE;
	owners->low = (dealbox_cards)head->low << (64 - HEAD_CARDS);
	owners->high = (dealbox_cards)head->high << (64 - HEAD_CARDS);
	return ratio_multiply(number_left(number, HEAD_SHIFT), head->ratio_high, head->ratio_low);
}

/* Give out the last cards, by the fraction of the number among their ways. */
static inline void tail_give(struct owners *owners, int64_t fraction)
{
	const struct tail *tail = &tails[owners->want_n][owners->want_e][owners->want_s];
	/* ways is below 2^16, so the lowest bits of the fraction can be left out */
	const unsigned int owner = tail_owners[tail->first +
		(unsigned int)(((uint64_t)fraction >> 16) * tail->ways >> (POINT - 16))];

	owners->low = owners->low >> TAIL_CARDS | (dealbox_cards)owner << (64 - TAIL_CARDS);
	owners->high = owners->high >> TAIL_CARDS |
		       (dealbox_cards)(owner >> 8) << (64 - TAIL_CARDS);
}

static void pavlicek_unrank(struct dealbox_number number, struct dealbox_deal *deal)
{
	struct owners owners;
	struct dealbox_number place = head_take(&owners, number);
	unsigned int left = DEALBOX_CARDS - HEAD_CARDS;
	int64_t narrow;

#pragma GCC unroll 1
	while (left > PLACE_NARROW)
		place = wide_step(&owners, place, --left);
	narrow = (int64_t)place.high;
#pragma GCC unroll 1
	while (left > TAIL_CARDS + 1)
		narrow = narrow_step(&owners, narrow, --left);
	/* A factor of 1 yields the fraction itself. */
	tail_give(&owners, narrow_step(&owners, narrow, 1));
	deal_from_seat_bits(deal, DEALBOX_PACK_BRIDGE, owners.low >> (64 - DEALBOX_CARDS),
			    owners.high >> (64 - DEALBOX_CARDS));
}

/*
 * Pavlicek: from a deal to its number. Of the `ways` to distribute the cards left, ways * n / cards
 * give the next card to a hand that still needs n. The division is exact, so it is a multiplication
 * by the inverse of the odd part of cards (exact_divisor[], by cards left), modulo 2^128, and a
 * shift at the end. The first cards come from the table of heads. There are two loops because the
 * second one fits into 64 bits.
 */
#define PAVLICEK_WIDE	19	/* cards until ways * cards left is below 2^64 */

/* One byte per seat: the cards that it still needs, and those that the seats before it need. */
struct wanted {
	uint32_t want, before;
};

static inline void card_take(struct wanted *wanted, unsigned int seat)
{
	wanted->want -= 1U << 8 * seat;
	wanted->before -= (uint32_t)(0x01010100ULL << 8 * seat);
}

static struct dealbox_number pavlicek_rank(const struct dealbox_deal *deal)
{
	const dealbox_cards bit0 = deal->hand[DEALBOX_EAST] | deal->hand[DEALBOX_WEST];
	const dealbox_cards bit1 = deal->hand[DEALBOX_SOUTH] | deal->hand[DEALBOX_WEST];
	struct wanted wanted = { HAND_SIZE * 0x01010101U, HAND_SIZE * 0x03020100U };
	struct dealbox_number ways, number;
	uint64_t ways64, number64 = 0;
	unsigned int card, seat, head = 0;

	for (card = 0; card < HEAD_CARDS; card++) {
		seat = (bit0 >> card & 1) | (bit1 >> card & 1) << 1;
		head = head << 2 | seat;
		card_take(&wanted, seat);
	}
	number = head_start(&heads[head]);
	ways = number_subtract(head_start(&heads[head + 1]), number);
#pragma GCC unroll 1
	for (; card < PAVLICEK_WIDE; card++) {
		const struct exact_divisor *left = &exact_divisor[DEALBOX_CARDS - card];

		seat = (bit0 >> card & 1) | (bit1 >> card & 1) << 1;
		ways = number_multiply(ways, left->inverse);
		number = number_add(number, number_right(number_times(ways, wanted.before >>
							 8 * seat & 0xff), left->shift));
		ways = number_right(number_times(ways, wanted.want >> 8 * seat & 0xff),
				    left->shift);
		card_take(&wanted, seat);
	}
	ways64 = ways.low;
#pragma GCC unroll 1
	for (; card < DEALBOX_CARDS; card++) {
		const struct exact_divisor *left = &exact_divisor[DEALBOX_CARDS - card];

		seat = (bit0 >> card & 1) | (bit1 >> card & 1) << 1;
		ways64 *= left->inverse.low;
		number64 += ways64 * (wanted.before >> 8 * seat & 0xff) >> left->shift;
		ways64 = ways64 * (wanted.want >> 8 * seat & 0xff) >> left->shift;
		card_take(&wanted, seat);
	}
	return number_add(number, number_from(0, number64));
}

struct dealbox_number number_space_count(const struct number_space *space)
{
	const unsigned int left2 = space->size[2] + space->size[3];
	const unsigned int left1 = space->size[1] + left2;
	const unsigned int left0 = space->size[0] + left1;

	return number_product(choose[space->size[0]][left0],
			      choose[space->size[1]][left1] * choose[space->size[2]][left2]);
}

static const struct number_space bridge = {
	.cards = DEALBOX_PACK_BRIDGE,
	.size = { HAND_SIZE, HAND_SIZE, HAND_SIZE, HAND_SIZE },
};

void number_space_unrank(const struct number_space *space, struct dealbox_number number,
			 struct dealbox_deal *deal)
{
	struct number_space left = *space;
	uint8_t list[DEALBOX_CARDS + 8];

	if (space->cards == bridge.cards &&
	    !memcmp(space->size, bridge.size, sizeof(bridge.size))) {
		andrews_unrank(number, deal);
		return;
	}
	for (unsigned int hand = 0; hand < DEALBOX_HANDS; hand++) {
		const unsigned int size = left.size[hand];
		struct dealbox_number ways;
		uint64_t rank;

		left.size[hand] = 0;
		ways = number_space_count(&left);
		rank = number_quotient(number, ways, &number);
		members_list(left.cards, list);
		deal->hand[hand] = 0;
		for (unsigned int k = size; k; k--)
			deal->hand[hand] |= 1ULL << list[highest_take(&rank, k)];
		left.cards &= ~deal->hand[hand];
	}
}

static const struct numbering {
	const char *name;
	unsigned int first;
	struct dealbox_number (*rank)(const struct dealbox_deal *deal);
	void (*unrank)(struct dealbox_number number, struct dealbox_deal *deal);
} numberings[DEALBOX_NUMBERINGS] = {
	[DEALBOX_NUMBERING_BIGDEAL] = { "bigdeal", 0, bigdeal_rank, number_bigdeal_unrank },
	[DEALBOX_NUMBERING_ANDREWS] = { "andrews", 1, andrews_rank, andrews_unrank },
	[DEALBOX_NUMBERING_PAVLICEK] = { "pavlicek", 1, pavlicek_rank, pavlicek_unrank },
};

static const struct numbering *numbering_get(enum dealbox_numbering numbering)
{
	return (unsigned int)numbering < DEALBOX_NUMBERINGS ? &numberings[numbering] : NULL;
}

const char *dealbox_numbering_name(enum dealbox_numbering numbering)
{
	const struct numbering *n = numbering_get(numbering);

	return n ? n->name : "?";
}

int dealbox_numbering_find(const char *name)
{
	for (int n = 0; n < DEALBOX_NUMBERINGS; n++)
		if (!strcmp(numberings[n].name, name))
			return n;
	return -ENOENT;
}

struct dealbox_number dealbox_number_first(enum dealbox_numbering numbering)
{
	const struct numbering *n = numbering_get(numbering);

	return number_from(0, n ? n->first : 0);
}

struct dealbox_number dealbox_number_last(enum dealbox_numbering numbering)
{
	const struct numbering *n = numbering_get(numbering);

	return n ? number_add(number_last, number_from(0, n->first)) : number_from(0, 0);
}

int dealbox_number_compare(struct dealbox_number a, struct dealbox_number b)
{
	return number_below(b, a) - number_below(a, b);
}

int dealbox_number_rank(const struct dealbox_deal *deal, enum dealbox_numbering numbering,
			struct dealbox_number *number)
{
	const struct numbering *n = numbering_get(numbering);

	if (!n || !dealbox_deal_complete(deal, dealbox_pack_bridge()))
		return -EINVAL;
	*number = number_add(n->rank(deal), number_from(0, n->first));
	return 0;
}

int dealbox_number_unrank(struct dealbox_number number, enum dealbox_numbering numbering,
			  struct dealbox_deal *deal)
{
	const struct numbering *n = numbering_get(numbering);

	if (!n)
		return -EINVAL;
	/* below the first one, this wraps around, far beyond the last deal */
	number = number_subtract(number, number_from(0, n->first));
	if (number_below(number_last, number))
		return -ERANGE;
	n->unrank(number, deal);
	return 0;
}

/* Append a decimal digit. Returns false if the number becomes too large. */
static bool number_append(struct dealbox_number *number, unsigned int digit)
{
	const struct dealbox_number low = number_product(number->low, 10);
	const struct dealbox_number high = number_product(number->high, 10);
	const struct dealbox_number sum = number_add(low, number_from(0, digit));

	number->low = sum.low;
	number->high = high.low + sum.high;
	return !high.high && number->high >= high.low;
}

int dealbox_number_parse(const char *text, struct dealbox_number *number)
{
	const bool grouped = strchr(text, ',') != NULL;
	const size_t length = strlen(text);
	struct dealbox_number value = { 0, 0 };

	if (!length)
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		/* Commas must separate all groups of three digits, or none. */
		if (grouped && (length - i) % 4 == 0) {
			if (text[i] != ',' || !i)
				return -EINVAL;
			continue;
		}
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		if (!number_append(&value, (unsigned int)(text[i] - '0')))
			return -ERANGE;
	}
	*number = value;
	return 0;
}

size_t dealbox_number_print(struct dealbox_number number, char *text, size_t size)
{
	struct dealbox_number digit;
	char digits[40];
	size_t length = 0;

	do {
		number = number_divide(number, number_from(0, 10), &digit);
		digits[length++] = (char)('0' + digit.low);
	} while (number.high | number.low);
	for (size_t i = 0; i + 1 < size && i < length; i++)
		text[i] = digits[length - 1 - i];
	if (size)
		text[length < size ? length : size - 1] = 0;
	return length;
}
