// SPDX-License-Identifier: LGPL-2.1-or-later
/* The limit of deals that a user may add to the service. */
#include "unit.h"

#include <budget.h>

#define HOUR	3600000000ULL

static void it_is_used_up_and_comes_back(void **state)
{
	struct budgets budgets = { 0 };
	uint64_t now = 5;
	size_t taken = 0;

	(void)state;
	while (budget_take(&budgets, 1000, 36, now))
		taken += 36;
	assert_in_range(taken, BUDGET_BOARDS - 35, BUDGET_BOARDS);
	/* other users are not affected */
	assert_true(budget_take(&budgets, 1001, BUDGET_BOARDS, now));
	assert_false(budget_take(&budgets, 1001, 1, now));
	assert_true(budget_take(&budgets, 1000, BUDGET_BOARDS - taken, now));
	assert_false(budget_take(&budgets, 1000, 1, now + HOUR / BUDGET_HOUR - 1));
	assert_true(budget_take(&budgets, 1000, 1, now + HOUR / BUDGET_HOUR));
	assert_true(budget_take(&budgets, 1000, BUDGET_HOUR - 1, now + HOUR));
	assert_false(budget_take(&budgets, 1000, 1, now + HOUR));
	/* it does not grow beyond its maximum */
	now += 1000 * HOUR;
	assert_false(budget_take(&budgets, 1000, BUDGET_BOARDS + 1, now));
	assert_false(budget_take(&budgets, 1000, SIZE_MAX, now));
	assert_true(budget_take(&budgets, 1000, BUDGET_BOARDS, now));
	assert_false(budget_take(&budgets, 1000, 1, now));
}

/* Over a month, in whatever portions, no user adds more than the maximum and the refill. */
static void no_portions_give_more(void **state)
{
	static const size_t portions[] = { 1, 7, 100, 1000, BUDGET_BOARDS };

	(void)state;
	for (size_t p = 0; p < sizeof(portions) / sizeof(portions[0]); p++) {
		struct budgets budgets = { 0 };
		size_t taken = 0;

		for (uint64_t now = 0; now < 720 * HOUR; now += HOUR / 3)
			while (budget_take(&budgets, 1000, portions[p], now))
				taken += portions[p];
		assert_in_range(taken, BUDGET_BOARDS, BUDGET_BOARDS + 720 * BUDGET_HOUR);
	}
}

static void more_users_than_places(void **state)
{
	struct budgets budgets = { 0 };

	(void)state;
	assert_true(budget_take(&budgets, 7, BUDGET_BOARDS, 1));
	for (uint32_t uid = 1000; uid < 1000 + 10 * BUDGET_USERS; uid++)
		assert_true(budget_take(&budgets, uid, 1, 1));
	/* the user who has used up most is remembered longest */
	assert_false(budget_take(&budgets, 7, 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_used_up_and_comes_back),
		cmocka_unit_test(no_portions_give_more),
		cmocka_unit_test(more_users_than_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
