// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dealing at random.
 */
#include <endian.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "number.h"
#include "pack.h"
#include "random.h"

/* A refill makes the next key and then what is given out. */
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
static dealbox_number number_draw(struct dealbox_random *random)
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
	return (dealbox_number)le32toh(high) << 64 | le64toh(low);
}

/* Uniform below count, which is at most 2^96. */
static dealbox_number number_below(struct dealbox_random *random, dealbox_number count)
{
	const dealbox_number top = (dealbox_number)1 << (8 * NUMBER_SIZE);

	for (;;) {
		const dealbox_number draw = number_draw(random);
		dealbox_number below;

		if (draw < count)
			return draw;
		/* where count fits into 2^96 once only, as in bridge, that was beyond it */
		if (top - count < count)
			continue;
		below = draw % count;
		/* the last, incomplete run of count numbers would favour the low ones */
		if (draw - below <= top - count)
			return below;
	}
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
	number_space_unrank(&space, number_below(random, number_space_count(&space)), deal);
	for (unsigned int hand = 0; fixed && hand < DEALBOX_HANDS; hand++)
		deal->hand[hand] |= fixed->hand[hand];
	return 0;
}
