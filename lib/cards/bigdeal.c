// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Big Deal's generator. A deal number is the first 96 bits, most significant first, of
 * RIPEMD-160(sequence number || hash of the entropy || hash of the owner). Numbers beyond the last
 * deal are skipped, and use up a sequence number.
 *
 * nettle has no process-wide state. libgcrypt is 1.8 times as fast, but refuses RIPEMD-160 in FIPS
 * mode and must be initialised by the program.
 */
#include <errno.h>
#include <nettle/ripemd160.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

#include <dealbox/bigdeal.h>

#define NUMBER_SIZE	12	/* bytes of the hash used for a deal number */

_Static_assert(DEALBOX_BIGDEAL_HASH == RIPEMD160_DIGEST_SIZE, "size of RIPEMD-160");

struct dealbox_bigdeal {
	uint32_t sequence;
	uint8_t entropy[RIPEMD160_DIGEST_SIZE];
	uint8_t owner[RIPEMD160_DIGEST_SIZE];
};

static void hash(const void *data, size_t size, uint8_t out[RIPEMD160_DIGEST_SIZE])
{
	struct ripemd160_ctx context;

	ripemd160_init(&context);
	ripemd160_update(&context, size, data);
	ripemd160_digest(&context, RIPEMD160_DIGEST_SIZE, out);
	sodium_memzero(&context, sizeof(context));
}

int dealbox_bigdeal_new_hashed(const void *owner, size_t owner_size,
			       const uint8_t entropy[DEALBOX_BIGDEAL_HASH],
			       struct dealbox_bigdeal **bigdeal)
{
	struct dealbox_bigdeal *new = malloc(sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->sequence = 0;
	hash(owner, owner_size, new->owner);
	memcpy(new->entropy, entropy, sizeof(new->entropy));
	*bigdeal = new;
	return 0;
}

int dealbox_bigdeal_new(const void *owner, size_t owner_size, const void *entropy,
			size_t entropy_size, struct dealbox_bigdeal **bigdeal)
{
	uint8_t hashed[DEALBOX_BIGDEAL_HASH];
	int err;

	hash(entropy, entropy_size, hashed);
	err = dealbox_bigdeal_new_hashed(owner, owner_size, hashed, bigdeal);
	sodium_memzero(hashed, sizeof(hashed));
	return err;
}

void dealbox_bigdeal_free(struct dealbox_bigdeal *bigdeal)
{
	if (!bigdeal)
		return;
	sodium_memzero(bigdeal, sizeof(*bigdeal));
	free(bigdeal);
}

/* Return the number for a sequence number. It may be beyond the last deal. */
static struct dealbox_number sequence_number(const struct dealbox_bigdeal *bigdeal,
					     uint32_t sequence)
{
	const uint8_t little_endian[4] = {
		sequence & 0xff, sequence >> 8 & 0xff, sequence >> 16 & 0xff, sequence >> 24
	};
	struct ripemd160_ctx context;
	uint8_t digest[NUMBER_SIZE];
	struct dealbox_number number = { 0, 0 };

	ripemd160_init(&context);
	ripemd160_update(&context, sizeof(little_endian), little_endian);
	ripemd160_update(&context, sizeof(bigdeal->entropy), bigdeal->entropy);
	ripemd160_update(&context, sizeof(bigdeal->owner), bigdeal->owner);
	ripemd160_digest(&context, sizeof(digest), digest);
	for (unsigned int i = 0; i < sizeof(digest); i++)
		number = number_add(number_left(number, 8), number_from(0, digest[i]));
	return number;
}

int dealbox_bigdeal_deal(struct dealbox_bigdeal *bigdeal, struct dealbox_deal *deal)
{
	struct dealbox_number number;

	do {
		if (bigdeal->sequence == UINT32_MAX)
			return -EOVERFLOW;
		number = sequence_number(bigdeal, ++bigdeal->sequence);
	} while (!number_below(number, number_deals));
	number_bigdeal_unrank(number, deal);
	return 0;
}

_Static_assert(BLOCK_STATE >= sizeof(uint32_t), "a block is made from its place in the sequence");

static void block_next(void *context, void *state)
{
	struct dealbox_bigdeal *bigdeal = context;

	memcpy(state, &bigdeal->sequence, sizeof(bigdeal->sequence));
	bigdeal->sequence += BLOCK_DRAWS;
}

static size_t block_numbers(const void *context, const void *state,
			    struct dealbox_number numbers[BLOCK_DRAWS])
{
	size_t count = 0;
	uint32_t before;

	memcpy(&before, state, sizeof(before));
	for (uint32_t i = 1; i <= BLOCK_DRAWS; i++) {
		/*
		 * Other threads change *context meanwhile, but not the fields that are read here.
		 */
		numbers[count] = sequence_number(context, before + i);
		count += number_below(numbers[count], number_deals);
	}
	return count;
}

int dealbox_bigdeal_deals(struct dealbox_bigdeal *bigdeal, struct dealbox_deal *deals, size_t count,
			  unsigned int threads)
{
	static const struct block_source source = {
		block_next, block_numbers, number_bigdeal_unrank_all
	};
	size_t blocks, made;
	int err;

	/* Draw whole blocks, some of whose numbers may not be deals. */
	while ((blocks = count / BLOCK_DRAWS) &&
	       blocks <= (UINT32_MAX - bigdeal->sequence) / BLOCK_DRAWS) {
		made = blocks_make(&source, bigdeal, blocks, threads, deals);
		deals += made;
		count -= made;
	}
	for (; count; count--) {
		err = dealbox_bigdeal_deal(bigdeal, deals++);
		if (err)
			return err;
	}
	return 0;
}
