// SPDX-License-Identifier: LGPL-2.1-or-later
/* Signed text, and signers. */
#include "signed-text.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEY_WORDS	"dealbox signing key 1 "

/* From sodium_malloc(): neither swapped nor in a core dump, and wiped when freed. */
struct dealbox_signer {
	uint8_t seed[crypto_sign_SEEDBYTES];
	uint8_t public_key[crypto_sign_PUBLICKEYBYTES];
	uint8_t secret_key[crypto_sign_SECRETKEYBYTES];
};

_Static_assert(DEALBOX_SIGNER_KEY == crypto_sign_PUBLICKEYBYTES && SIGNATURE == crypto_sign_BYTES,
	       "sizes of Ed25519");

void hex_put(const uint8_t *bytes, size_t size, char *hex)
{
	sodium_bin2hex(hex, HEX(size), bytes, size);
}

bool hex_take(const char *hex, uint8_t *bytes, size_t size)
{
	size_t length = 0;

	return strlen(hex) == 2 * size && strspn(hex, "0123456789abcdef") == 2 * size &&
	       !sodium_hex2bin(bytes, size, hex, 2 * size, NULL, &length, NULL) && length == size;
}

bool name_good(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return *name != 0;
}

/* -- signers ---------------------------------------------------------------- */

int dealbox_signer_new(struct dealbox_random *random, struct dealbox_signer **signer)
{
	struct dealbox_signer *new = sodium_malloc(sizeof(*new));

	if (!new)
		return -ENOMEM;
	dealbox_random_bytes(random, new->seed, sizeof(new->seed));
	crypto_sign_seed_keypair(new->public_key, new->secret_key, new->seed);
	*signer = new;
	return 0;
}

void dealbox_signer_free(struct dealbox_signer *signer)
{
	sodium_free(signer);
}

char *dealbox_signer_print(const struct dealbox_signer *signer)
{
	const size_t words = strlen(KEY_WORDS);
	char *text = malloc(words + HEX(sizeof(signer->seed)) + 1);

	if (!text)
		return NULL;
	memcpy(text, KEY_WORDS, words);
	hex_put(signer->seed, sizeof(signer->seed), text + words);
	strcat(text, "\n");
	return text;
}

int dealbox_signer_parse(const void *data, size_t size, struct dealbox_signer **signer,
			 struct dealbox_error *error)
{
	const size_t words = strlen(KEY_WORDS);
	struct dealbox_signer *new = sodium_init() < 0 ? NULL : sodium_malloc(sizeof(*new));
	char hex[HEX(crypto_sign_SEEDBYTES)] = "";
	bool good;

	if (!new)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	if (size >= words + sizeof(hex) - 1 && !memcmp(data, KEY_WORDS, words))
		memcpy(hex, (const char *)data + words, sizeof(hex) - 1);
	good = hex_take(hex, new->seed, sizeof(new->seed));
	sodium_memzero(hex, sizeof(hex));
	if (!good) {
		dealbox_signer_free(new);
		return error_set(error, -EINVAL, 0, "`dealbox certificate new-key` makes one",
				 "this is no signing key");
	}
	crypto_sign_seed_keypair(new->public_key, new->secret_key, new->seed);
	*signer = new;
	return 0;
}

const uint8_t *dealbox_signer_public(const struct dealbox_signer *signer)
{
	return signer->public_key;
}

void signer_sign(const struct dealbox_signer *signer, const void *data, size_t size,
		 uint8_t signature[SIGNATURE])
{
	crypto_sign_detached(signature, NULL, data, size, signer->secret_key);
}

/* -- signed text ------------------------------------------------------------ */

char *text_sign(const char *body, const struct dealbox_signer *signer)
{
	uint8_t signature[crypto_sign_BYTES];
	char signer_hex[HEX(DEALBOX_SIGNER_KEY)], signature_hex[HEX(SIGNATURE)], *text, *whole;

	hex_put(signer->public_key, sizeof(signer->public_key), signer_hex);
	if (asprintf(&text, "%ssigner %s\n", body, signer_hex) < 0)
		return NULL;
	signer_sign(signer, text, strlen(text), signature);
	hex_put(signature, sizeof(signature), signature_hex);
	if (asprintf(&whole, "%ssignature %s\n", text, signature_hex) < 0)
		whole = NULL;
	free(text);
	return whole;
}

char *line_take(char **at, const char *word)
{
	const size_t length = strlen(word);
	char *value = *at + length + 1, *end = strchr(*at, '\n');

	if (!end || strncmp(*at, word, length) || (*at)[length] != ' ' || end < value)
		return NULL;
	*end = 0;
	*at = end + 1;
	return value;
}

bool lines_good(const char *text, size_t size)
{
	for (const char *c = text; c < text + size; c++)
		if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f)
			return false;
	return true;
}

int text_check(const char *data, size_t room, size_t *size, char **body,
	       uint8_t signer[DEALBOX_SIGNER_KEY], uint32_t *line, struct dealbox_error *error)
{
	static const char last[] = "\nsignature ", by[] = "\nsigner ";
	const char *signature_at = memmem(data, room, last, sizeof(last) - 1), *signer_at;
	char signer_hex[HEX(DEALBOX_SIGNER_KEY)], signature_hex[HEX(SIGNATURE)];
	uint8_t signature[crypto_sign_BYTES];
	size_t covered;
	char *copy;

	if (!signature_at)
		return error_set(error, -EINVAL, *line, "get it again, as a file and not as text",
				 "there is no signature: something is missing at the end");
	covered = (size_t)(signature_at - data) + 1;
	*size = covered + sizeof(last) - 2 + sizeof(signature_hex);
	signer_at = data + covered - sizeof(signer_hex) - (sizeof(by) - 1);
	if (*size > room || covered < sizeof(signer_hex) + sizeof(by) ||
	    memcmp(signer_at, by, sizeof(by) - 1) || data[*size - 1] != '\n')
		goto form;
	memcpy(signer_hex, signer_at + sizeof(by) - 1, sizeof(signer_hex));
	signer_hex[sizeof(signer_hex) - 1] = 0;
	memcpy(signature_hex, data + covered + sizeof(last) - 2, sizeof(signature_hex));
	signature_hex[sizeof(signature_hex) - 1] = 0;
	if (!hex_take(signer_hex, signer, DEALBOX_SIGNER_KEY) ||
	    !hex_take(signature_hex, signature, sizeof(signature)))
		goto form;
	if (!lines_good(data, covered))
		return error_set(error, -EINVAL, *line, "get it again, as a file and not as text",
				 "it has a control character");
	if (crypto_sign_verify_detached(signature, (const uint8_t *)data, covered, signer))
		return error_set(error, -EKEYREJECTED, *line,
				 "get it again from who published it; if this stays, "
				 "somebody has changed it",
				 "the signature is not right");
	copy = strndup(data, (size_t)(signer_at - data) + 1);
	if (!copy)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	for (const char *c = data; c < data + *size; c++)
		*line += *c == '\n';
	*body = copy;
	return 0;
form:
	return error_set(error, -EINVAL, *line, "get it again, as a file and not as text",
			 "the signature is not in its form");
}

void time_put(int64_t microseconds, char text[TIME_TEXT])
{
	const time_t seconds = (time_t)(microseconds / 1000000);
	char date[24];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, TIME_TEXT, "%s.%06uZ", date, (unsigned int)(microseconds % 1000000));
}

bool time_take(const char *text, int64_t *microseconds)
{
	struct tm utc = { 0 };
	const char *dot = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
	unsigned int fraction;
	char again[TIME_TEXT];

	if (!dot || sscanf(dot, ".%6uZ", &fraction) != 1)
		return false;
	*microseconds = (int64_t)timegm(&utc) * 1000000 + fraction;
	if (*microseconds < 0)
		return false;
	time_put(*microseconds, again);
	return !strcmp(again, text);
}
