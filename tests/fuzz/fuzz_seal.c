// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary sealed files, and sealed files with a changed byte or truncated: a file that opens is
 * the sealed one, with its name; everything else is refused with a reason. Only with a key, because
 * a passphrase takes 1 s to try.
 */
#include <dealbox/seal.h>

#include "fuzz.h"

static uint8_t public_key[DEALBOX_SEAL_KEY], secret_key[DEALBOX_SEAL_KEY];
static struct dealbox_random *source;

static int open_it(const void *data, size_t size, void **out, size_t *out_size, char *name)
{
	const struct dealbox_seal_secret secret = { .key = secret_key };
	struct dealbox_error error = { 0 };
	uint8_t *copy = memdup(data, size);
	int err = dealbox_unseal(copy, size, &secret, out, out_size, name, &error);

	free(copy);
	CHECK(!err || *error.what);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dealbox_seal_secret secret = { .key = public_key };
	char name[DEALBOX_SEAL_NAME];
	size_t sealed_size, out_size, at;
	void *sealed, *out;

	if (!source) {
		CHECK(!dealbox_random_new(&source));
		dealbox_seal_keys(source, public_key, secret_key);
	}
	/* arbitrary bytes cannot have a valid tag for this key */
	CHECK(open_it(data, size, &out, &out_size, name));
	if (size < 4)
		return 0;

	CHECK(!dealbox_seal(data, size, "set.pbn", &secret, source, &sealed, &sealed_size, NULL));
	CHECK(dealbox_seal_recognise(sealed, sealed_size) == DEALBOX_SEAL_FOR_KEY);
	CHECK(!open_it(sealed, sealed_size, &out, &out_size, name));
	CHECK(out_size == size && !memcmp(out, data, size) && !strcmp(name, "set.pbn"));
	free(out);

	at = (data[0] | (size_t)data[1] << 8) % sealed_size;
	CHECK(open_it(sealed, at, &out, &out_size, name));
	((uint8_t *)sealed)[at] ^= data[2] ? data[2] : 1;
	CHECK(open_it(sealed, sealed_size, &out, &out_size, name));
	free(sealed);
	return 0;
}
