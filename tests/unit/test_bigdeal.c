// SPDX-License-Identifier: LGPL-2.1-or-later
/* Known answers of Big Deal. Those of Square Deal are in test_square.c. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dealbox/bigdeal.h>
#include <dealbox/number.h>

static void test_same_deals_from_owner_and_hash(void **state)
{
	/* the original, owner=bench, -h of this hash, -n 3 */
	static const uint8_t entropy[DEALBOX_BIGDEAL_HASH] = {
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
		0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67,
	};
	static const char *const numbers[] = {
		"29029292115066478884550230894",
		"48037836354531447855498205538",
		"31812352928991708751046131778",
	};
	struct dealbox_bigdeal *bigdeal;

	(void)state;
	assert_int_equal(dealbox_bigdeal_new_hashed("bench", 5, entropy, &bigdeal), 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char text[DEALBOX_NUMBER_TEXT];
		struct dealbox_deal deal;
		struct dealbox_number number;

		assert_int_equal(dealbox_bigdeal_deal(bigdeal, &deal), 0);
		assert_int_equal(dealbox_number_rank(&deal, DEALBOX_NUMBERING_BIGDEAL, &number), 0);
		dealbox_number_print(number, text, sizeof(text));
		assert_string_equal(text, numbers[i]);
	}
	dealbox_bigdeal_free(bigdeal);
}

static void test_each_input_counts(void **state)
{
	static const struct {
		const char *owner, *entropy;
	} inputs[] = { { "a", "bc" }, { "ab", "c" }, { "a", "bd" }, { "", "bc" }, { "a", "" } };
	struct dealbox_deal deals[5];

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct dealbox_bigdeal *bigdeal;

		assert_int_equal(dealbox_bigdeal_new(inputs[i].owner,
						     __builtin_strlen(inputs[i].owner),
						     inputs[i].entropy,
						     __builtin_strlen(inputs[i].entropy), &bigdeal),
				 0);
		assert_int_equal(dealbox_bigdeal_deal(bigdeal, &deals[i]), 0);
		dealbox_bigdeal_free(bigdeal);
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(&deals[i], &deals[j], sizeof(deals[0]));
	}
}

/* The deals do not depend on threads, nor on where a call ends within their shares. */
static void test_many_are_the_same(void **state)
{
	static const size_t sizes[] = { 1, 3000, 0, 679, 5000 };
	static struct dealbox_deal one[8680], many[8680];
	struct dealbox_bigdeal *bigdeal;

	(void)state;
	assert_int_equal(dealbox_bigdeal_new("o", 1, "e", 1, &bigdeal), 0);
	for (size_t i = 0; i < 8680; i++)
		assert_int_equal(dealbox_bigdeal_deal(bigdeal, &one[i]), 0);
	dealbox_bigdeal_free(bigdeal);
	for (unsigned int threads = 0; threads < 5; threads++) {
		struct dealbox_deal *next = many;

		assert_int_equal(dealbox_bigdeal_new("o", 1, "e", 1, &bigdeal), 0);
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); next += sizes[s++])
			assert_int_equal(dealbox_bigdeal_deals(bigdeal, next, sizes[s], threads),
					 0);
		dealbox_bigdeal_free(bigdeal);
		assert_memory_equal(many, one, sizeof(one));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_deals_from_owner_and_hash),
		cmocka_unit_test(test_each_input_counts),
		cmocka_unit_test(test_many_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
