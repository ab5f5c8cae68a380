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

/* Deals unranked together, see below */
#define TOGETHER	4

/*
 * Each of the three hands of a deal is a chain of dependent steps. Interleave the chains of several
 * deals, so that the processor can execute them in parallel.
 */
static inline __attribute__((always_inline)) void unrank_together(const dealbox_number *numbers,
								  struct dealbox_deal *deals,
								  unsigned int count)
{
	uint8_t position1[TOGETHER][HAND_SIZE], position2[TOGETHER][HAND_SIZE];
	uint64_t rank0[TOGETHER], rank1[TOGETHER], rank2[TOGETHER];
	dealbox_cards hand0[TOGETHER];

#pragma GCC unroll 4
	for (unsigned int i = 0; i < count; i++) {
		const uint64_t rest = (uint64_t)(numbers[i] % (WAYS1 * WAYS2));

		rank0[i] = (uint64_t)(numbers[i] / (WAYS1 * WAYS2));
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

static __attribute__((noinline)) void andrews_unrank(dealbox_number number,
						     struct dealbox_deal *deal)
{
	unrank_together(&number, deal, 1);
}

void number_unrank_all(const dealbox_number *numbers, size_t count, struct dealbox_deal *deals)
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

static dealbox_number andrews_rank(const struct dealbox_deal *deal)
{
	dealbox_cards left = DEALBOX_PACK_BRIDGE;
	uint64_t rank[3];

	for (unsigned int hand = 0; hand < 3; hand++) {
		rank[hand] = hand_rank(deal->hand[hand], left);
		left &= ~deal->hand[hand];
	}
	return (dealbox_number)rank[0] * (WAYS1 * WAYS2) + (rank[1] * WAYS2 + rank[2]);
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

static dealbox_number bigdeal_rank(const struct dealbox_deal *deal)
{
	struct dealbox_deal reversed = *deal;

	deal_reverse(&reversed);
	/* Counting every digit downwards counts the whole number downwards. */
	return DEALBOX_NUMBER_DEALS - 1 - andrews_rank(&reversed);
}

void number_bigdeal_unrank(dealbox_number number, struct dealbox_deal *deal)
{
	andrews_unrank(DEALBOX_NUMBER_DEALS - 1 - number, deal);
	deal_reverse(deal);
}

void number_bigdeal_unrank_all(dealbox_number *numbers, size_t count, struct dealbox_deal *deals)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = DEALBOX_NUMBER_DEALS - 1 - numbers[i];
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
 * not grow from card to card. A wide step (121 bits after the point) adds less than 2^9 units; all
 * of them together add far less than a thousandth of a deal. A narrow step (57 bits) adds less than
 * 15 units, or 15 * ways / cards left / 2^57 deals: less than 0.2 in all, as the test computes.
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
static inline dealbox_number ratio_multiply(dealbox_number a, uint64_t high, uint64_t low)
{
	const uint64_t a_high = (uint64_t)(a >> 64), a_low = (uint64_t)a;

	return ((dealbox_number)a_high * high +
		(uint64_t)((dealbox_number)a_high * low >> 64) +
		(uint64_t)((dealbox_number)a_low * high >> 64)) << (64 - POINT);
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

/* Return the table entry for the number of cards that this seat needs. */
static inline int64_t seat_entry(const struct owners *owners, struct given given,
				 const int64_t table[HAND_SIZE + 1])
{
	const int64_t n = table[owners->want_n], e = table[owners->want_e];
	const int64_t s = table[owners->want_s], w = table[owners->want_w];

	return (w + (given.s & (s - w))) + ((given.e & (e - s)) + (given.n & (n - e)));
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
	const int64_t ratio = seat_entry(owners, given, ratio_high[left]);
	const int64_t rest = seat_rest(owners, given, place);
	const dealbox_number next = (dealbox_number)(uint64_t)rest * (uint64_t)ratio >> POINT;

	card_give(owners, given);
	return (int64_t)next;
}

static inline dealbox_number wide_step(struct owners *owners, dealbox_number place,
				       unsigned int left)
{
	const struct given given = place_seat(owners, (int64_t)(place >> 64));
	const int64_t high = seat_entry(owners, given, ratio_high[left]);
	const int64_t low = seat_entry(owners, given, ratio_low[left]);
	const int64_t rest = seat_rest(owners, given, (int64_t)(place >> 64));

	place = ratio_multiply((dealbox_number)(uint64_t)rest << 64 | (uint64_t)place,
			       (uint64_t)high, (uint64_t)low << 1);
	card_give(owners, given);
	return place;
}

static inline dealbox_number head_start(const struct head *head)
{
	return (dealbox_number)head->start_high << 64 | head->start_low;
}

/* Give out the first cards. Returns the rest of the number as a place. */
static inline dealbox_number head_take(struct owners *owners, dealbox_number number)
{
	const unsigned int before = head_guess[number >> HEAD_BUCKET];
	const unsigned int late = number >= head_start(&heads[before + 1]);
	const struct head *head = &heads[before + late];

	number -= head_start(head);
	owners->want_n = head->want[0];
	owners->want_e = head->want[1];
	owners->want_s = head->want[2];
	owners->want_w = head->want[3];
	owners->end_n = owners->want_n * PLACE_ONE;
	owners->end_e = owners->end_n + owners->want_e * PLACE_ONE;
	owners->end_s = owners->end_e + owners->want_s * PLACE_ONE;
	owners->low = (dealbox_cards)head->low << (64 - HEAD_CARDS);
	owners->high = (dealbox_cards)head->high << (64 - HEAD_CARDS);
	return ratio_multiply((number * 2 + 1) << HEAD_SHIFT, head->ratio_high, head->ratio_low);
}

/* Give out the last cards, by the fraction of the number among their ways. */
static inline void tail_give(struct owners *owners, int64_t fraction)
{
	const struct tail *tail = &tails[owners->want_n][owners->want_e][owners->want_s];
	const unsigned int owner = tail_owners[tail->first +
		(unsigned int)((dealbox_number)(uint64_t)fraction * tail->ways >> POINT)];

	owners->low = owners->low >> TAIL_CARDS | (dealbox_cards)owner << (64 - TAIL_CARDS);
	owners->high = owners->high >> TAIL_CARDS |
		       (dealbox_cards)(owner >> 8) << (64 - TAIL_CARDS);
}

static void pavlicek_unrank(dealbox_number number, struct dealbox_deal *deal)
{
	struct owners owners;
	dealbox_number place = head_take(&owners, number);
	unsigned int left = DEALBOX_CARDS - HEAD_CARDS;
	int64_t narrow;

#pragma GCC unroll 1
	while (left > PLACE_NARROW)
		place = wide_step(&owners, place, --left);
	narrow = (int64_t)(place >> 64);
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
 * give the next card to a hand that still needs n. These divisions are exact, so each is a shift
 * and a multiplication by the inverse of the odd part (exact_divisor[], by cards left). There are
 * two loops because the second one fits into 64 bits.
 */
#define PAVLICEK_WIDE	19	/* cards until ways * cards left is below 2^64 */

/* One byte per seat: the cards that it still needs, and those that the seats before it need. */
#define WANTED_START	(HAND_SIZE * 0x01010101U)
#define BEFORE_START	(HAND_SIZE * 0x03020100U)

#define PAVLICEK_ADD(type, ways, number, want, before, left, seat) do { \
	const unsigned int shift = exact_divisor[left].shift; \
	const type inverse = (type)exact_divisor[left].inverse; \
	const unsigned int at = 8 * (seat); \
	(number) += ((ways) * ((before) >> at & 0xff) >> shift) * inverse; \
	(ways) = ((ways) * ((want) >> at & 0xff) >> shift) * inverse; \
	(want) -= 1U << at; \
	(before) -= (uint32_t)(0x01010100ULL << at); \
} while (0)

static dealbox_number pavlicek_rank(const struct dealbox_deal *deal)
{
	const dealbox_cards bit0 = deal->hand[DEALBOX_EAST] | deal->hand[DEALBOX_WEST];
	const dealbox_cards bit1 = deal->hand[DEALBOX_SOUTH] | deal->hand[DEALBOX_WEST];
	uint32_t want = WANTED_START, before = BEFORE_START;
	dealbox_number ways = DEALBOX_NUMBER_DEALS, number = 0;
	uint64_t ways64, number64 = 0;
	unsigned int card, seat;

#pragma GCC unroll 1
	for (card = 0; card < PAVLICEK_WIDE; card++) {
		seat = (bit0 >> card & 1) | (bit1 >> card & 1) << 1;
		PAVLICEK_ADD(dealbox_number, ways, number, want, before, DEALBOX_CARDS - card,
			     seat);
	}
	ways64 = (uint64_t)ways;
#pragma GCC unroll 1
	for (card = PAVLICEK_WIDE; card < DEALBOX_CARDS; card++) {
		seat = (bit0 >> card & 1) | (bit1 >> card & 1) << 1;
		PAVLICEK_ADD(uint64_t, ways64, number64, want, before, DEALBOX_CARDS - card, seat);
	}
	return number + number64;
}

dealbox_number number_space_count(const struct number_space *space)
{
	const unsigned int left2 = space->size[2] + space->size[3];
	const unsigned int left1 = space->size[1] + left2;
	const unsigned int left0 = space->size[0] + left1;

	return (dealbox_number)choose[space->size[0]][left0] *
		(choose[space->size[1]][left1] * choose[space->size[2]][left2]);
}

static const struct number_space bridge = {
	.cards = DEALBOX_PACK_BRIDGE,
	.size = { HAND_SIZE, HAND_SIZE, HAND_SIZE, HAND_SIZE },
};

void number_space_unrank(const struct number_space *space, dealbox_number number,
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
		dealbox_number ways;
		uint64_t rank;

		left.size[hand] = 0;
		ways = number_space_count(&left);
		rank = (uint64_t)(number / ways);
		number %= ways;
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
	dealbox_number (*rank)(const struct dealbox_deal *deal);
	void (*unrank)(dealbox_number number, struct dealbox_deal *deal);
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

dealbox_number dealbox_number_first(enum dealbox_numbering numbering)
{
	const struct numbering *n = numbering_get(numbering);

	return n ? n->first : 0;
}

int dealbox_number_rank(const struct dealbox_deal *deal, enum dealbox_numbering numbering,
			dealbox_number *number)
{
	const struct numbering *n = numbering_get(numbering);

	if (!n || !dealbox_deal_complete(deal, dealbox_pack_bridge()))
		return -EINVAL;
	*number = n->rank(deal) + n->first;
	return 0;
}

int dealbox_number_unrank(dealbox_number number, enum dealbox_numbering numbering,
			  struct dealbox_deal *deal)
{
	const struct numbering *n = numbering_get(numbering);

	if (!n)
		return -EINVAL;
	if (number < n->first || number - n->first >= DEALBOX_NUMBER_DEALS)
		return -ERANGE;
	n->unrank(number - n->first, deal);
	return 0;
}

int dealbox_number_parse(const char *text, dealbox_number *number)
{
	const dealbox_number max = ~(dealbox_number)0;
	const bool grouped = strchr(text, ',') != NULL;
	const size_t length = strlen(text);
	dealbox_number value = 0;

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
		if (value > (max - (unsigned int)(text[i] - '0')) / 10)
			return -ERANGE;
		value = value * 10 + (unsigned int)(text[i] - '0');
	}
	*number = value;
	return 0;
}

size_t dealbox_number_print(dealbox_number number, char *text, size_t size)
{
	char digits[40];
	size_t length = 0;

	do {
		digits[length++] = (char)('0' + (unsigned int)(number % 10));
		number /= 10;
	} while (number);
	for (size_t i = 0; i + 1 < size && i < length; i++)
		text[i] = digits[length - 1 - i];
	if (size)
		text[length < size ? length : size - 1] = 0;
	return length;
}
