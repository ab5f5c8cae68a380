// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lists of strings: what they hold, that nothing is left of them, and that a list stays as it is
 * when there is no memory.
 */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dealing/strv.h"

/* -- memory ----------------------------------------------------------------------- */

static unsigned int blocks;		/* allocated and not freed */
static size_t last_size;		/* of the last list */
static bool no_string, no_list;		/* the next one cannot be allocated */

char *__real_strdup(const char *text);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
char *__wrap_strdup(const char *text);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

char *__wrap_strdup(const char *text)
{
	if (no_string)
		return NULL;
	blocks++;
	return __real_strdup(text);
}

void *__wrap_realloc(void *memory, size_t size)
{
	if (no_list)
		return NULL;
	blocks += !memory;
	last_size = size;
	return __real_realloc(memory, size);
}

void __wrap_free(void *memory)
{
	blocks -= memory != NULL;
	__real_free(memory);
}

/* -- cases ------------------------------------------------------------------------ */

static void test_add(void **state)
{
	static const char *const names[] = { "SN1", "", "SN2" };
	const unsigned int before = blocks;
	char name[8], **list = NULL;
	size_t n, i;

	(void)state;
	for (n = 0; n < 3; n++) {
		strcpy(name, names[n]);
		assert_int_equal(strv_add(&list, name), 0);
		/* it is a copy */
		memset(name, 'x', sizeof(name));
		assert_int_equal(last_size, (n + 2) * sizeof(*list));
		for (i = 0; i <= n; i++)
			assert_string_equal(list[i], names[i]);
		assert_null(list[n + 1]);
	}
	assert_int_equal(blocks, before + 4);
	strv_free(list);
	assert_int_equal(blocks, before);
}

static void test_no_memory(void **state)
{
	const unsigned int before = blocks;
	char **list = NULL;
	unsigned int n;

	(void)state;
	/* an empty list, and one that has a string */
	for (n = 0; n < 2; n++) {
		no_string = true;
		assert_int_equal(strv_add(&list, "SN2"), -ENOMEM);
		no_string = false;
		no_list = true;
		assert_int_equal(strv_add(&list, "SN2"), -ENOMEM);
		no_list = false;
		assert_int_equal(blocks, before + 2 * n);
		if (n)
			break;
		assert_null(list);
		assert_int_equal(strv_add(&list, "SN1"), 0);
	}
	assert_string_equal(list[0], "SN1");
	assert_null(list[1]);
	strv_free(list);
	assert_int_equal(blocks, before);
}

static void test_empty(void **state)
{
	char **list = calloc(1, sizeof(*list));
	const unsigned int before = ++blocks;

	(void)state;
	strv_free(NULL);
	assert_int_equal(blocks, before);
	assert_non_null(list);
	assert_int_equal(strv_add(&list, "SN1"), 0);
	assert_string_equal(list[0], "SN1");
	strv_free(list);
	assert_int_equal(blocks, before - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
