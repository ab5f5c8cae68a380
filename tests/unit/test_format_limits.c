// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cost of a reader: at most 4 times the memory of its input plus 1 MiB (counted by wrapping the
 * allocation functions), and work proportional to the input. A clock on a busy machine proves
 * nothing, so the inputs are so large that a reader whose work grows with the square of them would
 * take hours.
 */
#include "unit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deals.h"

/* -- memory in use, and its maximum ----------------------------------------------- */

static size_t in_use, most;

static void *count_in(void *memory)
{
	if (memory) {
		in_use += malloc_usable_size(memory);
		if (in_use > most)
			most = in_use;
	}
	return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
	return count_in(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return count_in(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
	size_t before = memory ? malloc_usable_size(memory) : 0;
	void *after = __real_realloc(memory, size);

	if (!after)
		return NULL;
	/* while the block moves, both copies are in use */
	if (after != memory && in_use + malloc_usable_size(after) > most)
		most = in_use + malloc_usable_size(after);
	in_use -= before;
	return count_in(after);
}

void __wrap_free(void *memory)
{
	if (memory)
		in_use -= malloc_usable_size(memory);
	__real_free(memory);
}

char *__wrap_strdup(const char *text)
{
	return count_in(__real_strdup(text));
}

/* -- inputs --------------------------------------------------------------------------- */

#define MIB ((size_t)1 << 20)

static char *fill(size_t size, const char *with)
{
	size_t each = strlen(with);
	char *data = __real_malloc(size);

	assert_non_null(data);
	for (size_t i = 0, j = 0; i < size; i++, j++)
		data[i] = with[j = j == each ? 0 : j];
	return data;
}

struct hard {
	const char *format, *with;
};

static const struct hard hard[] = {
	{ "pbn", "{" },
	{ "pbn", "{\n\n[Deal \"\n" },
	{ "pbn", "{\n\n[Event \"\"]\n" },
	{ "pbn", "{\n\n[Event \"\"]\n}\n" },
	{ "pbn", "{\n\n[Event \"\"]\n{}\n" },
	{ "pbn", "[" },
	{ "pbn", "[\n" },
	{ "pbn", "[Deal\n\"" },
	{ "pbn", "[Deal \"" },
	{ "pbn", "\n" },
	{ "pbn", "\r" },
	{ "pbn", "%" },
	{ "pbn", "\"" },
	{ "pbn", "{}" },
	{ "pbn", "{}\t\"a\"" },
	{ "pbn", "[X \"\"] {;} " },
	{ "pbn", ";" },
	{ "pbn", "x" },
	{ "pbn", "\001" },
	{ "pbn", "[Board \"1\"]" },
	{ "pbn", "[Board \"1-1\"]\n\n" },
	{ "pbn", "[X \"\"]\n" },
	{ "pbn", "[A \"\"]\n[B \"\"]\n[C \"\"]\n[D \"\"]\n[E \"\"]\n[F \"\"]\n" },
	{ "pbn", "[Deal \"N:\"]\n\n" },
	{ "pbn", "[Deal \"N:AAAAAAAAAAAAA... - - -\"]\n\n" },
	{ "pbn", "[Deal \"N:10101010101010101010\"]\n\n" },
	{ "pbn", "[Deal \"N:Q8.4.AQT3.AQT963 AKJ43.97652.4.K8 T9652.T3.K72.J52 "
		 "7.AKQJ8.J9865.74\"]\n\n" },
	{ "lin", "md|3,,,|" },
	{ "lin", "|" },
	{ "lin", "md|" },
	{ "lin", "md|0S,H,D,C|" },
	{ "lin", "\n" },
	{ "lin", "ah|x|md|1SA,|" },
	{ "dlm", "Board 1=\n" },
	{ "dlm", "From board=1\nTo board=99\nBoard 01=jlifaelnecgmoldfjmcflinlap023\n" },
	{ "dlm", "=" },
	{ "csv", "," },
	{ "csv", "\"" },
	{ "csv", "\n" },
	{ "csv", ",,,,,,,,,,,,,,,,,\n" },
	{ "rbn", "H N:\n" },
	{ "rbn", "{\n" },
	{ "rbn", "H N:" },
	{ "rbn", "B 1\n\n" },
	{ "ber", "1111111111111222222222222233333333333334444444444444" },
	{ "ber", "1\n" },
	{ "ber", "1213342431243124312431243124312431243121243434312123" },
	{ "bhg", "A\n" },
	{ "bri", "01\n" },
	{ "bri", "0" },
	{ "dup", "0" },
	{ "dge", "\006\003\004\005" },
	{ "rzd", "\001" },
	{ "rzd", "\001\001           Dt\332\263\223\245fp<\t\337\312\350" },
	{ "cds", "\001\231\211\057\304\344\372\273\205\101\136\040\037\075" },
	{ "zrd", "\002" },
};

/*
 * Deals that are all different and valid, in the densest format: 13 bytes each.
 */
static char *many_packed_deals(size_t size)
{
	char *data = __real_malloc(size);
	uint64_t seed = 5;

	assert_non_null(data);
	memcpy(data, "\0\0           ", 13);
	for (size_t place = 13; place < size; place += 13) {
		struct dealbox_deal deal;

		random_deal(&seed, &deal);
		memset(data + place, 0, size - place < 13 ? size - place : 13);
		for (unsigned int card = 0; card < 52 && place + 13 <= size; card++)
			data[place + card % 13] |= (char)(dealbox_deal_holder(&deal, card) <<
							  (6 - 2 * (card / 13)));
	}
	return data;
}

static void read_hard(const char *format, const char *data, size_t size)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	size_t before = in_use, limit = 4 * size + MIB;

	most = in_use;
	assert_int_equal(dealbox_format_read_memory(dealbox_format_find(format), data, size,
						    "hard", set, report, NULL), 0);
	assert_true(most - before >= size);	/* it is counted indeed */
	assert_true(dealbox_set_check(set, report) >= 0);
	if (most - before > limit)
		fail_msg("%s of %zu bytes takes %zu", format, size, most - before);
	dealbox_set_free(set);
	dealbox_report_free(report);
	assert_true(in_use <= before);
}

static void hard_inputs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hard) / sizeof(*hard); i++) {
		char *data = fill(2 * MIB, hard[i].with);

		read_hard(hard[i].format, data, 2 * MIB);
		__real_free(data);
	}
}

static void small_inputs_are_cheap(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hard) / sizeof(*hard); i++)
		for (size_t size = 1; size < 400; size += 37) {
			char *data = fill(size, hard[i].with);

			read_hard(hard[i].format, data, size);
			__real_free(data);
		}
}

static void the_densest_file_is_within_the_limit(void **state)
{
	size_t size = 13 + 13 * 200000;
	char *data = many_packed_deals(size);

	(void)state;
	read_hard("rzd", data, size);
	__real_free(data);
}

static void a_line_of_100_megabytes(void **state)
{
	static const char with[] = "x{";

	(void)state;
	for (int i = 0; with[i]; i++) {
		char *data = __real_malloc(100 * MIB);

		assert_non_null(data);
		memset(data, with[i], 100 * MIB);
		read_hard("pbn", data, 100 * MIB);
		__real_free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hard_inputs),
		cmocka_unit_test(small_inputs_are_cheap),
		cmocka_unit_test(the_densest_file_is_within_the_limit),
		cmocka_unit_test(a_line_of_100_megabytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
