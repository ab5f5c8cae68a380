// SPDX-License-Identifier: LGPL-2.1-or-later
/* Deals in an event's database: only the key opens them, and every change is noticed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/pack.h>

#include "pool/deals.h"
#include "unit.h"

#define BOARDS	3
#define JOB	7
#define SESSION	"final"

static const uint8_t key[POOL_KEY] = { 1 }, other_key[POOL_KEY] = { 1, [31] = 1 };

struct pc {
	uint8_t public_key[POOL_KEY], secret_key[POOL_KEY];
};

/* Board n: hand n has the first 13 cards, and so on. */
static struct dealbox_board board_of(unsigned int n)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;

	board.number = n + 1;
	for (unsigned int hand = 0; hand < 4; hand++)
		board.deal.hand[(hand * (n ? 1 : 3) + n) % 4] = UINT64_C(0x1fff) << (13 * hand);
	return board;
}

static struct dealbox_set *set_of(void)
{
	struct dealbox_set *set = dealbox_set_new(dealbox_pack_find("bridge"));
	struct dealbox_board board;

	assert_non_null(set);
	for (unsigned int n = 0; n < BOARDS; n++) {
		board = board_of(n);
		assert_int_equal(dealbox_set_add(set, &board), 0);
	}
	return set;
}

static void a_deal_has_one_hash(void **state)
{
	struct dealbox_deal turned, deal = board_of(1).deal, mirrored = board_of(0).deal;
	char hash[LEASE_ID], again[LEASE_ID];

	(void)state;
	pool_hash(key, &deal, hash);
	assert_int_equal(strlen(hash), LEASE_ID - 1);
	assert_int_equal(strspn(hash, "0123456789abcdef-"), LEASE_ID - 1);
	for (unsigned int by = 0; by < 4; by++) {
		for (unsigned int hand = 0; hand < 4; hand++)
			turned.hand[(hand + by) % 4] = deal.hand[hand];
		pool_hash(key, &turned, again);
		assert_string_equal(again, hash);
	}
	pool_hash(key, &mirrored, again);
	assert_string_not_equal(again, hash);
	pool_hash(other_key, &deal, again);
	assert_string_not_equal(again, hash);
	/* two cards exchanged */
	deal.hand[0] ^= UINT64_C(1) | UINT64_C(1) << 20;
	deal.hand[1] ^= UINT64_C(1) | UINT64_C(1) << 20;
	pool_hash(key, &deal, again);
	assert_string_not_equal(again, hash);
}

static void a_fingerprint_is_of_one_value(void **state)
{
	char print[POOL_PRINT];

	(void)state;
	/* BLAKE2b of 32 zeros, made by another program */
	pool_print((const uint8_t[POOL_KEY]) { 0 }, print);
	assert_string_equal(print, "ff0f-2249-2f44-bac4-c4b3");
	pool_print(key, print);
	assert_string_not_equal(print, "ff0f-2249-2f44-bac4-c4b3");
}

/* Two public values are no key, and tell nothing of one another. */
static void the_key_is_not_shown(void **state)
{
	uint8_t check[POOL_KEY], other[POOL_KEY], admission[POOL_KEY];
	struct pc pc;

	(void)state;
	pool_key_check(key, check);
	pool_key_check(other_key, other);
	assert_memory_not_equal(check, other, POOL_KEY);
	assert_memory_not_equal(check, key, POOL_KEY);
	pool_keys(pc.public_key, pc.secret_key);
	pool_admission(key, "A", pc.public_key, admission);
	pool_admission(other_key, "A", pc.public_key, other);
	assert_memory_not_equal(admission, other, POOL_KEY);
	pool_admission(key, "B", pc.public_key, other);
	assert_memory_not_equal(admission, other, POOL_KEY);
	pc.public_key[31] ^= 1;
	pool_admission(key, "A", pc.public_key, other);
	assert_memory_not_equal(admission, other, POOL_KEY);
}

static void a_key_is_for_one_pc(void **state)
{
	uint8_t sealed[POOL_SEALED_KEY], opened[POOL_KEY];
	struct pc pc, other;

	(void)state;
	pool_keys(pc.public_key, pc.secret_key);
	pool_keys(other.public_key, other.secret_key);
	assert_int_equal(pool_seal_key(pc.public_key, key, sealed), 0);
	assert_int_equal(pool_open_key(pc.public_key, pc.secret_key, sealed, opened), 0);
	assert_memory_equal(opened, key, POOL_KEY);
	assert_int_equal(pool_open_key(other.public_key, other.secret_key, sealed, opened),
			 -EBADMSG);
	for (size_t n = 0; n < sizeof(sealed); n++) {
		sealed[n] ^= 0x20;
		assert_int_equal(pool_open_key(pc.public_key, pc.secret_key, sealed, opened),
				 -EBADMSG);
		sealed[n] ^= 0x20;
	}
	/* a point of low order */
	assert_int_equal(pool_seal_key((const uint8_t[POOL_KEY]) { 0 }, key, sealed), -EINVAL);
}

static int open_it(const uint8_t *of_key, const struct pc *pc, uint32_t job, const char *session,
		   const uint8_t *sealed, size_t size)
{
	struct dealbox_set *set = (struct dealbox_set *)sealed;
	int err = pool_open_set(of_key, pc->public_key, pc->secret_key, job, session, sealed, size,
				&set);

	assert_true(!set == (err != 0));
	dealbox_set_free(set);
	return err;
}

static void a_set_is_for_one_pc_job_and_session(void **state)
{
	struct dealbox_set *set = set_of(), *opened;
	struct dealbox_board board, wanted;
	uint8_t *sealed, *copy;
	struct pc pc, other;
	size_t size;

	(void)state;
	pool_keys(pc.public_key, pc.secret_key);
	pool_keys(other.public_key, other.secret_key);
	assert_int_equal(pool_seal_set(key, pc.public_key, JOB, SESSION, set, &sealed, &size), 0);
	assert_int_equal(pool_open_set(key, pc.public_key, pc.secret_key, JOB, SESSION, sealed,
				       size, &opened), 0);
	assert_int_equal(dealbox_set_count(opened), BOARDS);
	assert_string_equal(dealbox_set_pack(opened)->name, "bridge");
	for (unsigned int n = 0; n < BOARDS; n++) {
		wanted = board_of(n);
		assert_int_equal(dealbox_set_get(opened, n, &board), 0);
		assert_int_equal(board.number, wanted.number);
		assert_memory_equal(&board.deal, &wanted.deal, sizeof(board.deal));
		assert_null(memmem(sealed, size, &wanted.deal.hand[1],
				   sizeof(wanted.deal.hand[1])));
	}
	dealbox_set_free(opened);
	assert_int_equal(open_it(key, &other, JOB, SESSION, sealed, size), -EBADMSG);
	assert_int_equal(open_it(other_key, &pc, JOB, SESSION, sealed, size), -EBADMSG);
	assert_int_equal(open_it(key, &pc, JOB + 1, SESSION, sealed, size), -EBADMSG);
	assert_int_equal(open_it(key, &pc, JOB, "semi-final", sealed, size), -EBADMSG);
	assert_int_equal(open_it(key, &pc, JOB, "", sealed, size), -EBADMSG);
	for (size_t n = 0; n < size; n++) {
		sealed[n] ^= 1;
		assert_int_equal(open_it(key, &pc, JOB, SESSION, sealed, size), -EBADMSG);
		sealed[n] ^= 1;
	}
	for (size_t n = 0; n < size; n++) {
		copy = malloc(n + 1);	/* a byte that is read behind its end is found by ASan */
		assert_non_null(copy);
		memcpy(copy, sealed, n);
		assert_int_equal(open_it(key, &pc, JOB, SESSION, copy, n), -EBADMSG);
		free(copy);
	}
	free(sealed);
	dealbox_set_free(set);
}

/* Whoever has only the public key of a PC can seal something for it, and it is not believed. */
static void a_set_of_somebody_else_is_not_opened(void **state)
{
	struct dealbox_set *set = set_of();
	uint8_t *sealed;
	struct pc pc;
	size_t size;

	(void)state;
	pool_keys(pc.public_key, pc.secret_key);
	assert_int_equal(pool_seal_set(other_key, pc.public_key, JOB, SESSION, set, &sealed, &size),
			 0);
	assert_int_equal(open_it(key, &pc, JOB, SESSION, sealed, size), -EBADMSG);
	assert_int_equal(open_it(other_key, &pc, JOB, SESSION, sealed, size), 0);
	free(sealed);
	dealbox_set_free(set);
}

static void a_board_needs_a_number(void **state)
{
	struct dealbox_set *set = set_of();
	struct dealbox_board board = board_of(0);
	uint8_t *sealed;
	struct pc pc;
	size_t size;

	(void)state;
	board.number = 0;
	assert_int_equal(dealbox_set_add(set, &board), 0);
	pool_keys(pc.public_key, pc.secret_key);
	assert_int_equal(pool_seal_set(key, pc.public_key, JOB, SESSION, set, &sealed, &size),
			 -EINVAL);
	assert_null(sealed);
	dealbox_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deal_has_one_hash),
		cmocka_unit_test(a_fingerprint_is_of_one_value),
		cmocka_unit_test(the_key_is_not_shown),
		cmocka_unit_test(a_key_is_for_one_pc),
		cmocka_unit_test(a_set_is_for_one_pc_job_and_session),
		cmocka_unit_test(a_set_of_somebody_else_is_not_opened),
		cmocka_unit_test(a_board_needs_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
