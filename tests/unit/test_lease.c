// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lease of a PC of an event, and its text. explore_lease.c walks its consequences. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool/lease.h"
#include "unit.h"

#define BOOT	"11111111-1111-4111-8111-111111111111"
#define OTHER	"22222222-2222-4222-8222-222222222222"
#define NONCE	"33333333-3333-4333-8333-333333333333"

static const struct lease_copy copies[] = { { 7, 1, 1 }, { 7, 1, 2 }, { 7, 2, 1 } };

/* A PC that has asked at 1000 ms, and holds those three for 500 ms. */
static void begin(struct lease *lease)
{
	const struct lease_time sent = { BOOT, 1000 };

	memset(lease, 0, sizeof(*lease));
	assert_int_equal(lease_ask(lease, LEASE_TAKE, 3, NULL, 0, NONCE), 0);
	assert_int_equal(lease_answer_take(lease, &sent, 500, copies, 3), 0);
}

static bool may(const struct lease *lease, size_t copy, const char *boot, uint64_t ms)
{
	struct lease_time now = { .ms = ms };

	strcpy(now.boot, boot);
	return lease_may_begin(lease, &copies[copy], &now);
}

static void copies_are_begun_within_the_lease(void **state)
{
	const struct lease_copy stranger = { 7, 2, 2 };
	const struct lease_time now = { BOOT, 1200 };
	struct lease lease;

	(void)state;
	begin(&lease);
	assert_true(may(&lease, 0, BOOT, 1000));
	assert_true(may(&lease, 2, BOOT, 1499));
	assert_false(may(&lease, 2, BOOT, 1500));
	assert_false(may(&lease, 0, OTHER, 1000));
	assert_false(may(&lease, 0, OTHER, 10));
	assert_int_equal(lease_left(&lease, &now), 300);
	assert_false(lease_may_begin(&lease, &stranger, &now));
	lease_recorded(&lease, &copies[1]);
	assert_false(may(&lease, 1, BOOT, 1000));
	assert_int_equal(lease.held_count, 2);
	lease_recorded(&lease, &copies[1]);
	assert_int_equal(lease.held_count, 2);
	assert_int_equal(lease_regain(&lease, &copies[1]), 0);
	assert_int_equal(lease_regain(&lease, &copies[1]), 0);
	assert_int_equal(lease.held_count, 3);
	assert_true(may(&lease, 1, BOOT, 1000));
	lease_clear(&lease);
	assert_false(may(&lease, 0, BOOT, 0));
	assert_false(may(&lease, 0, "", 0));
}

static void one_request_at_a_time(void **state)
{
	const struct lease_time sent = { BOOT, 1400 };
	const struct lease_copy stranger = { 7, 2, 2 };
	struct lease lease;

	(void)state;
	begin(&lease);
	assert_int_equal(lease.asked, 1);
	assert_int_equal(lease_answer_take(&lease, &sent, 500, NULL, 0), -EINVAL);
	assert_int_equal(lease_ask(&lease, LEASE_BACK, 0, NULL, 0, NONCE), -EINVAL);
	assert_int_equal(lease_ask(&lease, LEASE_GIVE_BACK, 0, &stranger, 1, NONCE), -ENOENT);
	assert_int_equal(lease.asked, 1);
	assert_int_equal(lease_ask(&lease, LEASE_GIVE_BACK, 0, &copies[1], 2, NONCE), 0);
	/* before the server knows */
	assert_false(may(&lease, 1, BOOT, 1000));
	assert_true(may(&lease, 0, BOOT, 1000));
	assert_int_equal(lease.asked, 2);
	assert_int_equal(lease.given_count, 2);
	assert_int_equal(lease_ask(&lease, LEASE_TAKE, 1, NULL, 0, NONCE), -EBUSY);
	lease_answer(&lease, false);
	assert_int_equal(lease.request, LEASE_NONE);
	assert_int_equal(lease.given_count, 0);
	assert_int_equal(lease_ask(&lease, LEASE_TAKE, 0, NULL, 0, NONCE), 0);
	assert_true(may(&lease, 0, BOOT, 1499));
	assert_int_equal(lease_answer_take(&lease, &sent, 500, NULL, 0), 0);
	assert_true(may(&lease, 0, BOOT, 1899));
	assert_int_equal(lease_ask(&lease, LEASE_LEAVE, 0, NULL, 0, NONCE), 0);
	assert_false(may(&lease, 0, BOOT, 1400));
	lease_clear(&lease);
}

static void a_lost_pc_holds_nothing(void **state)
{
	const struct lease_time sent = { BOOT, 1400 };
	struct lease lease;

	(void)state;
	begin(&lease);
	assert_int_equal(lease_ask(&lease, LEASE_GIVE_BACK, 0, copies, 1, NONCE), 0);
	lease_answer(&lease, true);
	assert_true(lease.lost);
	assert_int_equal(lease.held_count, 0);
	lease_clear(&lease);

	begin(&lease);
	assert_int_equal(lease_ask(&lease, LEASE_TAKE, 1, NULL, 0, NONCE), 0);
	assert_int_equal(lease_answer_take(&lease, &sent, 0, NULL, 0), 0);
	assert_true(lease.lost);
	assert_false(may(&lease, 0, BOOT, 1000));
	assert_int_equal(lease_ask(&lease, LEASE_TAKE, 1, NULL, 0, NONCE), -EINVAL);
	assert_int_equal(lease_ask(&lease, LEASE_LEAVE, 0, NULL, 0, NONCE), -EINVAL);
	assert_int_equal(lease_ask(&lease, LEASE_BACK, 0, NULL, 0, NONCE), 0);
	assert_int_equal(lease.asked, 3);
	lease_answer(&lease, false);
	assert_false(lease.lost);
	assert_int_equal(lease_ask(&lease, LEASE_TAKE, 1, NULL, 0, NONCE), 0);
	lease_clear(&lease);
}

static char *text_of(const struct lease *lease)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	lease_print(lease, file);
	assert_int_equal(fclose(file), 0);
	return text;
}

static void its_text_is_the_same_lease(void **state)
{
	struct lease lease, read;
	char *text, *again;

	(void)state;
	begin(&lease);
	for (int step = 0; step < 4; step++) {
		if (step == 1)
			assert_int_equal(
				lease_ask(&lease, LEASE_GIVE_BACK, 0, &copies[1], 1, NONCE), 0);
		if (step == 2)
			lease_answer(&lease, true);
		if (step == 3)
			assert_int_equal(lease_ask(&lease, LEASE_BACK, 0, NULL, 0, NONCE), 0);
		lease.resting = step & 1;
		lease.said = step & 2;
		text = text_of(&lease);
		assert_int_equal(lease_parse(text, &read), 0);
		again = text_of(&read);
		assert_string_equal(text, again);
		assert_int_equal(read.asked, lease.asked);
		assert_int_equal(read.request, lease.request);
		assert_int_equal(read.lost, lease.lost);
		assert_int_equal(read.resting, lease.resting);
		assert_int_equal(read.said, lease.said);
		assert_int_equal(read.held_count, lease.held_count);
		assert_int_equal(read.given_count, lease.given_count);
		lease_clear(&read);
		/* cut off anywhere */
		for (size_t length = strlen(text); length--;) {
			text[length] = '\0';
			assert_int_equal(lease_parse(text, &read), -EBADMSG);
		}
		free(text);
		free(again);
	}
	lease_clear(&lease);
}

static void other_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"dealbox lease 2\nasked 1\nend\n",
		"dealbox lease 1\nend\n",
		"dealbox lease 1\nasked x\nend\n",
		"dealbox lease 1\nasked 1\nheld 1 2\nend\n",
		"dealbox lease 1\nasked 1\nrequest give 0 x\nend\n",
		"dealbox lease 1\nasked 1\nrequest none 0 x\nend\n",
		"dealbox lease 1\nasked 1\nend\nend\n",
	};
	struct lease lease;

	(void)state;
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		assert_int_equal(lease_parse(bad[n], &lease), -EBADMSG);
}

static void the_next_request_is_chosen(void **state)
{
	static const struct {
		struct lease_need need;
		uint64_t ms;
		bool lost, resting;
		enum lease_request request;
		uint32_t want;
	} rows[] = {
		/* three of six are held: enough */
		{ { 3, 6, false, 500 }, 1100, false, false, LEASE_NONE, 0 },
		{ { 2, 6, false, 500 }, 1100, false, false, LEASE_TAKE, 4 },
		{ { 0, 6, true, 500 }, 1100, false, false, LEASE_NONE, 0 },
		{ { 0, 6, false, 500 }, 1100, false, true, LEASE_NONE, 0 },
		{ { 0, 0, false, 500 }, 1100, false, false, LEASE_NONE, 0 },
		/* half of the lease has passed */
		{ { 3, 6, false, 500 }, 1250, false, false, LEASE_NONE, 0 },
		{ { 3, 6, false, 500 }, 1251, false, false, LEASE_TAKE, 0 },
		{ { 0, 6, true, 500 }, 9999, false, true, LEASE_TAKE, 0 },
		{ { 2, 6, false, 500 }, 1400, false, false, LEASE_TAKE, 4 },
		{ { 0, 6, false, 500 }, 1100, true, false, LEASE_BACK, 0 },
	};
	struct lease_time now = { BOOT, 0 };
	struct lease lease;
	uint32_t want;

	(void)state;
	begin(&lease);
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		lease.lost = rows[n].lost;
		lease.resting = rows[n].resting;
		now.ms = rows[n].ms;
		assert_int_equal(lease_next(&lease, &rows[n].need, &now, &want), rows[n].request);
		assert_int_equal(want, rows[n].want);
	}
	lease.lost = false;
	assert_int_equal(lease_ask(&lease, LEASE_GIVE_BACK, 0, copies, 1, NONCE), 0);
	assert_int_equal(lease_next(&lease, &rows[1].need, &now, &want), LEASE_GIVE_BACK);
	lease_clear(&lease);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_are_begun_within_the_lease),
		cmocka_unit_test(one_request_at_a_time),
		cmocka_unit_test(a_lost_pc_holds_nothing),
		cmocka_unit_test(its_text_is_the_same_lease),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(the_next_request_is_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
