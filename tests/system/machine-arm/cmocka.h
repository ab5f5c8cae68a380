/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * As much of cmocka as the tests of tools/machine need, without signals and processes. An assertion
 * that fails ends the test. The results are TAP, by semihosting.
 */
#ifndef MACHINE_ARM_CMOCKA_H
#define MACHINE_ARM_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*test)(void **state);
};

#define cmocka_unit_test(f)	{ #f, f }

static jmp_buf cmocka_failed;

#define fail_msg(...) do { \
		printf("# %s:%d: ", __FILE__, __LINE__); \
		printf(__VA_ARGS__); \
		printf("\n"); \
		longjmp(cmocka_failed, 1); \
	} while (0)

#define print_message(...)	printf(__VA_ARGS__)

#define assert_true(c)		do { if (!(c)) fail_msg("%s is false", #c); } while (0)
#define assert_false(c)		do { if (c) fail_msg("%s is true", #c); } while (0)
#define assert_non_null(p)	assert_true((p) != NULL)
/* as the 32 bits that all of them fit into */
#define assert_int_equal(a, b) do { \
		const uint32_t left_ = (uint32_t)(a), right_ = (uint32_t)(b); \
		if (left_ != right_) \
			fail_msg("%s is %lx, not %lx", #a, (unsigned long)left_, \
				 (unsigned long)right_); \
	} while (0)
#define assert_int_not_equal(a, b)	assert_true((uint32_t)(a) != (uint32_t)(b))
#define assert_in_range(a, least, most) do { \
		const int64_t value_ = (a); \
		if (value_ < (least) || value_ > (most)) \
			fail_msg("%s is %lx, which is out of range", #a, (unsigned long)value_); \
	} while (0)
#define assert_memory_equal(a, b, n)	assert_true(!memcmp(a, b, n))

static inline int cmocka_run(const struct CMUnitTest *tests, size_t count)
{
	/* longjmp() may spoil what is not volatile */
	static volatile size_t i;
	static volatile int failed;
	void *state = NULL;

	printf("1..%u\n", (unsigned int)count);
	for (i = 0; i < count; i++) {
		if (setjmp(cmocka_failed)) {
			printf("not ok %u - %s\n", (unsigned int)i + 1, tests[i].name);
			failed++;
			continue;
		}
		tests[i].test(&state);
		printf("ok %u - %s\n", (unsigned int)i + 1, tests[i].name);
	}
	return failed;
}

#define cmocka_run_group_tests(tests, setup, teardown) \
	((void)(setup), (void)(teardown), cmocka_run(tests, sizeof(tests) / sizeof((tests)[0])))

#endif
