// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sealed files open to exactly what was sealed. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/seal.h>

struct fixture {
	struct dealbox_random *random;
	uint8_t public_key[DEALBOX_SEAL_KEY], secret_key[DEALBOX_SEAL_KEY];
};

static int fixture_make(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	assert_int_equal(dealbox_random_new(&fixture->random), 0);
	dealbox_seal_keys(fixture->random, fixture->public_key, fixture->secret_key);
	*state = fixture;
	return 0;
}

static int fixture_free(void **state)
{
	struct fixture *fixture = *state;

	dealbox_random_free(fixture->random);
	test_free(fixture);
	return 0;
}

static void seal_for_key(struct fixture *fixture, const char *data, size_t size, uint8_t **out,
			 size_t *out_size)
{
	const struct dealbox_seal_secret secret = { .key = fixture->public_key };
	void *sealed;

	assert_int_equal(dealbox_seal(data, size, "monday.pbn", &secret, fixture->random, &sealed,
				      out_size, NULL),
			 0);
	*out = sealed;
}

static int open_with_key(struct fixture *fixture, const void *sealed, size_t size, size_t want)
{
	const struct dealbox_seal_secret secret = { .key = fixture->secret_key };
	struct dealbox_error error = { 0 };
	char name[DEALBOX_SEAL_NAME];
	size_t out_size;
	void *out = NULL;
	int err = dealbox_unseal(sealed, size, &secret, &out, &out_size, name, &error);

	if (err) {
		assert_null(out);
		assert_true(*error.what);
		return err;
	}
	assert_int_equal(out_size, want);
	assert_string_equal(name, "monday.pbn");
	free(out);
	return 0;
}

static void test_every_size_comes_back(void **state)
{
	static const size_t sizes[] = { 0, 1, 100, 65535, 65536, 65537, 131072, 200000 };
	const struct dealbox_seal_secret secret = { .key = ((struct fixture *)*state)->secret_key };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *data = test_calloc(1, sizes[i] + 1), name[DEALBOX_SEAL_NAME];
		uint8_t *sealed;
		size_t size, out_size;
		void *out;

		for (size_t n = 0; n < sizes[i]; n++)
			data[n] = (char)(n * 7 + n / 256);
		seal_for_key(fixture, data, sizes[i], &sealed, &size);
		assert_int_equal(dealbox_seal_recognise(sealed, size), DEALBOX_SEAL_FOR_KEY);
		/* no plain text is visible */
		if (sizes[i] > 20)
			assert_null(memmem(sealed, size, data, 16));
		assert_null(memmem(sealed, size, "monday", 6));
		assert_int_equal(dealbox_unseal(sealed, size, &secret, &out, &out_size, name, NULL),
				 0);
		assert_int_equal(out_size, sizes[i]);
		assert_memory_equal(out, data, sizes[i]);
		assert_int_equal(((char *)out)[out_size], 0);
		free(out);
		free(sealed);
		test_free(data);
	}
}

static void test_passphrase(void **state)
{
	const struct dealbox_seal_secret right = { .passphrase = "correct horse" };
	const struct dealbox_seal_secret wrong = { .passphrase = "correct hors" };
	const struct dealbox_seal_secret empty = { .passphrase = "" };
	struct dealbox_seal_secret later = { .passphrase = "correct horse", .reserved = { 1 } };
	struct fixture *fixture = *state;
	const struct dealbox_seal_secret key = { .key = fixture->secret_key };
	struct dealbox_error error;
	char name[DEALBOX_SEAL_NAME];
	void *sealed, *out = NULL;
	size_t size, out_size;

	assert_int_equal(
		dealbox_seal("x", 1, "a.pbn", &empty, fixture->random, &sealed, &size, &error),
		-EINVAL);
	assert_int_equal(
		dealbox_seal("x", 1, "a.pbn", &later, fixture->random, &sealed, &size, &error),
		-EINVAL);
	assert_int_equal(
		dealbox_seal("x", 1, "../a", &right, fixture->random, &sealed, &size, &error),
		-EINVAL);
	assert_int_equal(
		dealbox_seal("deals", 5, "a.pbn", &right, fixture->random, &sealed, &size, &error),
		0);
	assert_int_equal(dealbox_seal_recognise(sealed, size), DEALBOX_SEAL_PASSPHRASE);
	assert_int_equal(dealbox_unseal(sealed, size, &wrong, &out, &out_size, name, &error),
			 -EKEYREJECTED);
	assert_non_null(strstr(error.what, "passphrase is wrong"));
	assert_int_equal(dealbox_unseal(sealed, size, &key, &out, &out_size, name, &error),
			 -EINVAL);
	assert_null(out);
	later.reserved[7] = 1;
	assert_int_equal(dealbox_unseal(sealed, size, &later, &out, &out_size, name, &error),
			 -EINVAL);
	assert_null(out);
	assert_int_equal(dealbox_unseal(sealed, size, &right, &out, &out_size, name, &error), 0);
	assert_int_equal(out_size, 5);
	assert_string_equal(name, "a.pbn");
	free(out);
	/* a cost of a terabyte of memory is refused */
	((uint8_t *)sealed)[8 + 1 + 16 + 8 + 5] = 1;
	assert_int_equal(dealbox_unseal(sealed, size, &right, &out, &out_size, name, &error),
			 -EBADMSG);
	free(sealed);
}

static void test_another_director(void **state)
{
	const struct dealbox_seal_secret none = { .passphrase = "x" };
	struct fixture *fixture = *state;
	uint8_t public_key[DEALBOX_SEAL_KEY], secret_key[DEALBOX_SEAL_KEY], *sealed;
	const struct dealbox_seal_secret other = { .key = secret_key };
	char name[DEALBOX_SEAL_NAME];
	size_t size, out_size;
	void *out;

	dealbox_seal_keys(fixture->random, public_key, secret_key);
	seal_for_key(fixture, "deals", 5, &sealed, &size);
	assert_int_equal(dealbox_unseal(sealed, size, &other, &out, &out_size, name, NULL),
			 -EKEYREJECTED);
	assert_int_equal(dealbox_unseal(sealed, size, &none, &out, &out_size, name, NULL), -EINVAL);
	free(sealed);
}

/* Every changed byte and every truncation is an error. */
static void test_changed_or_cut_off(void **state)
{
	struct fixture *fixture = *state;
	static char data[70000];
	uint8_t *sealed;
	size_t size;

	seal_for_key(fixture, data, sizeof(data), &sealed, &size);
	assert_int_equal(open_with_key(fixture, sealed, size, sizeof(data)), 0);
	for (size_t i = 0; i < size; i += i < 600 ? 1 : 997) {
		sealed[i] ^= 0x20;
		assert_true(open_with_key(fixture, sealed, size, sizeof(data)) < 0);
		sealed[i] ^= 0x20;
	}
	for (size_t cut = 0; cut < size; cut += cut < 600 ? 1 : 997) {
		uint8_t *part = test_malloc(cut + 1);

		memcpy(part, sealed, cut);
		assert_true(open_with_key(fixture, part, cut, sizeof(data)) < 0);
		test_free(part);
	}
	free(sealed);
}

static void test_not_sealed(void **state)
{
	static const char pbn[] = "% PBN 2.1\n[Board \"1\"]\n", newer[] = "DBSEAL2\nK........";
	struct fixture *fixture = *state;

	assert_int_equal(dealbox_seal_recognise(pbn, sizeof(pbn)), DEALBOX_SEAL_NONE);
	assert_int_equal(dealbox_seal_recognise("DBSEAL1\n", 8), DEALBOX_SEAL_NONE);
	assert_int_equal(open_with_key(fixture, pbn, sizeof(pbn), 0), -EINVAL);
	assert_int_equal(open_with_key(fixture, newer, sizeof(newer), 0), -EPROTONOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_size_comes_back, fixture_make,
						fixture_free),
		cmocka_unit_test_setup_teardown(test_passphrase, fixture_make, fixture_free),
		cmocka_unit_test_setup_teardown(test_another_director, fixture_make, fixture_free),
		cmocka_unit_test_setup_teardown(test_changed_or_cut_off, fixture_make,
						fixture_free),
		cmocka_unit_test_setup_teardown(test_not_sealed, fixture_make, fixture_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
