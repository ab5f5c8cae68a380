// SPDX-License-Identifier: LGPL-2.1-or-later
/* Random deals. */
#include <endian.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "blocks.h"
#include "pack-internal.h"
#include "random-internal.h"

/* A refill makes the next key and then the output. */
#define REFILL_SIZE	8192
#define NUMBER_SIZE	12	/* bytes of a draw: 96 bits, and 2^96 > all deals */

_Static_assert(RANDOM_KEY_SIZE == crypto_stream_chacha20_KEYBYTES, "key of ChaCha20");

struct dealbox_random {
	size_t used;	/* of buffer */
	uint8_t key[RANDOM_KEY_SIZE];
	uint8_t buffer[REFILL_SIZE];
};

static void refill(struct dealbox_random *random)
{
	/* each key is used for one refill, so that the nonce may be the same */
	static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];

	crypto_stream_chacha20(random->buffer, sizeof(random->buffer), nonce, random->key);
	memcpy(random->key, random->buffer, sizeof(random->key));
	memset(random->buffer, 0, sizeof(random->key));
	random->used = sizeof(random->key);
}

static int kernel_origin(uint8_t key[RANDOM_KEY_SIZE])
{
	size_t have = 0;
	ssize_t n;

	while (have < RANDOM_KEY_SIZE) {
		n = getrandom(key + have, RANDOM_KEY_SIZE - have, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
	}
	return 0;
}

int random_new_from(random_origin origin, struct dealbox_random **random)
{
	struct dealbox_random *new;
	int err;

	if (sodium_init() < 0)
		return -ENOTSUP;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = origin(new->key);
	if (err) {
		dealbox_random_free(new);
		return err;
	}
	refill(new);
	*random = new;
	return 0;
}

int dealbox_random_new(struct dealbox_random **random)
{
	return random_new_from(kernel_origin, random);
}

void dealbox_random_free(struct dealbox_random *random)
{
	if (!random)
		return;
	sodium_memzero(random, sizeof(*random));
	free(random);
}

void dealbox_random_bytes(struct dealbox_random *random, void *bytes, size_t size)
{
	uint8_t *out = bytes;

	while (size) {
		size_t part = sizeof(random->buffer) - random->used;

		if (!part) {
			refill(random);
			continue;
		}
		if (part > size)
			part = size;
		memcpy(out, random->buffer + random->used, part);
		memset(random->buffer + random->used, 0, part);
		random->used += part;
		out += part;
		size -= part;
	}
}

/* 96 fresh bits; dealbox_random_bytes() for a size that the compiler knows */
static struct dealbox_number number_draw(struct dealbox_random *random)
{
	uint64_t low;
	uint32_t high;
	uint8_t *at;

	/* the few bytes at the end of a refill are left unused */
	if (random->used > sizeof(random->buffer) - NUMBER_SIZE)
		refill(random);
	at = random->buffer + random->used;
	memcpy(&low, at, sizeof(low));
	memcpy(&high, at + sizeof(low), sizeof(high));
	memset(at, 0, NUMBER_SIZE);
	random->used += NUMBER_SIZE;
	return number_from(le32toh(high), le64toh(low));
}

/* Uniform below count, which is at most 2^96. */
static struct dealbox_number number_uniform(struct dealbox_random *random,
					    struct dealbox_number count)
{
	const struct dealbox_number top = number_from(1ULL << (8 * NUMBER_SIZE - 64), 0);
	const struct dealbox_number last_run = number_subtract(top, count);

	for (;;) {
		const struct dealbox_number draw = number_draw(random);
		struct dealbox_number below;

		if (number_below(draw, count))
			return draw;
		/* where count fits into 2^96 once only, as in bridge, that was beyond it */
		if (number_below(last_run, count))
			continue;
		number_divide(draw, count, &below);
		/* the last, incomplete run of count numbers would favour the low ones */
		if (!number_below(last_run, number_subtract(draw, below)))
			return below;
	}
}

/*
 * The numbers of deals in what is left of the refill, until there are so many. That every third
 * draw or so is beyond the last deal costs no branch that must be guessed.
 */
static size_t numbers_take(struct dealbox_random *random, struct dealbox_number *numbers,
			   size_t most)
{
	size_t count = 0, used;

	for (used = random->used; count < most && used <= sizeof(random->buffer) - NUMBER_SIZE;
	     used += NUMBER_SIZE) {
		uint64_t low;
		uint32_t high;

		memcpy(&low, random->buffer + used, sizeof(low));
		memcpy(&high, random->buffer + used + sizeof(low), sizeof(high));
		numbers[count] = number_from(le32toh(high), le64toh(low));
		count += number_below(numbers[count], number_deals);
	}
	memset(random->buffer + random->used, 0, used - random->used);
	random->used = used;
	return count;
}

_Static_assert(BLOCK_DRAWS == (REFILL_SIZE - RANDOM_KEY_SIZE) / NUMBER_SIZE, "a block is a refill");
_Static_assert(BLOCK_STATE >= RANDOM_KEY_SIZE, "a block is made from a key");

/* A block is a refill: its key, and the first bytes of the refill are the next one. */
static void block_next(void *context, void *state)
{
	static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
	struct dealbox_random *random = context;

	memcpy(state, random->key, sizeof(random->key));
	crypto_stream_chacha20(random->key, sizeof(random->key), nonce, state);
}

static size_t block_numbers(const void *context, const void *state,
			    struct dealbox_number numbers[BLOCK_DRAWS])
{
	struct dealbox_random block;
	size_t count;

	(void)context;
	memcpy(block.key, state, sizeof(block.key));
	refill(&block);
	count = numbers_take(&block, numbers, BLOCK_DRAWS);
	sodium_memzero(&block, sizeof(block));
	return count;
}

static void block_deals(struct dealbox_number *numbers, size_t count, struct dealbox_deal *deals)
{
	number_unrank_all(numbers, count, deals);
}

void dealbox_random_deals(struct dealbox_random *random, struct dealbox_deal *deals, size_t count,
			  unsigned int threads)
{
	static const struct block_source source = { block_next, block_numbers, block_deals };
	struct dealbox_number numbers[BLOCK_DRAWS];

	while (count) {
		/* refills that are used up whole, however many of their draws are deals */
		const size_t blocks = count / BLOCK_DRAWS;
		const bool empty = random->used > sizeof(random->buffer) - NUMBER_SIZE;
		size_t made;

		if (empty && threads > 1 && blocks > 1) {
			made = blocks_make(&source, random, blocks, threads, deals);
		} else {
			if (empty)
				refill(random);
			made = numbers_take(random, numbers,
					    count < BLOCK_DRAWS ? count : BLOCK_DRAWS);
			number_unrank_all(numbers, made, deals);
		}
		deals += made;
		count -= made;
	}
	sodium_memzero(numbers, sizeof(numbers));
}

int dealbox_random_deal(struct dealbox_random *random, const struct dealbox_pack *pack,
			const struct dealbox_deal *fixed, struct dealbox_deal *deal)
{
	struct number_space space;

	pack = pack_or_bridge(pack);
	space.cards = pack->cards;
	memcpy(space.size, pack->size, sizeof(space.size));
	for (unsigned int hand = 0; fixed && hand < DEALBOX_HANDS; hand++) {
		const dealbox_cards given = fixed->hand[hand];
		const unsigned int count = (unsigned int)__builtin_popcountll(given);

		if (given & ~space.cards || count > space.size[hand])
			return -EINVAL;
		space.cards &= ~given;
		space.size[hand] = (uint8_t)(space.size[hand] - count);
	}
	number_space_unrank(&space, number_uniform(random, number_space_count(&space)), deal);
	for (unsigned int hand = 0; fixed && hand < DEALBOX_HANDS; hand++)
		deal->hand[hand] |= fixed->hand[hand];
	return 0;
}
