/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The part of the kernel's <kunit/test.h> that driver/tests needs, on cmocka, so that the same
 * cases run in the kernel and in user space.
 */
#ifndef KUNIT_ON_CMOCKA_H
#define KUNIT_ON_CMOCKA_H

#include <errno.h>
#include <linux/kernel.h>
#include <stdbool.h>
#include <string.h>
#include "../unit.h"

struct kunit {
	char unused;
};

struct kunit_case {
	const char *name;
	void (*run_case)(struct kunit *test);
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);	/* before each case */
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(function)			{ #function, function }

#define KUNIT_ASSERT_EQ(test, left, right)		assert_int_equal(left, right)
#define KUNIT_ASSERT_GE(test, left, right)		assert_true((left) >= (right))
#define KUNIT_ASSERT_LE(test, left, right)		assert_true((left) <= (right))
#define KUNIT_ASSERT_TRUE(test, condition)		assert_true(condition)
#define KUNIT_ASSERT_FALSE(test, condition)		assert_false(condition)
#define KUNIT_ASSERT_STREQ(test, left, right)		assert_string_equal(left, right)
#define KUNIT_ASSERT_MEMEQ(test, left, right, size)	assert_memory_equal(left, right, size)
#define KUNIT_FAIL(test, ...)				fail_msg(__VA_ARGS__)

static const struct kunit_suite *kunit_suite;

static int kunit_init(void **state)
{
	struct kunit test = { 0 };

	(void)state;
	return kunit_suite->init ? kunit_suite->init(&test) : 0;
}

static void kunit_run(void **state)
{
	const struct kunit_case *test_case = *state;
	struct kunit test = { 0 };

	test_case->run_case(&test);
}

/* To be called by main(). */
static int kunit_main(const struct kunit_suite *suite)
{
	struct CMUnitTest tests[64] = { { 0 } };
	size_t n = 0;

	kunit_suite = suite;
	for (struct kunit_case *c = suite->test_cases; c->run_case; c++, n++) {
		if (n == ARRAY_SIZE(tests))
			return 1;
		tests[n] = (struct CMUnitTest){
			.name = c->name, .test_func = kunit_run,
			.setup_func = kunit_init, .initial_state = c,
		};
	}
	return _cmocka_run_group_tests(suite->name, tests, n, NULL, NULL);
}

#define kunit_test_suite(suite)		\
int main(void)				\
{					\
	return kunit_main(&(suite));	\
}

#endif
