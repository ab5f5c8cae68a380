// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Manifests. The format is in docs/certificate.md.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/manifest.h>

#include "signed-text.h"

struct dealbox_manifest {
	struct dealbox_square *square;
	int64_t time;
	uint8_t signer[DEALBOX_SIGNER_KEY];
	uint8_t hash[DEALBOX_HASH];
};

/* Returns the promise, in its only valid form. NULL = out of memory. */
static char *promise_print(const struct dealbox_square *square)
{
	struct dealbox_square_phase phase;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "TN %s\nDI %s\n", dealbox_square_name(square), dealbox_square_info(square));
	for (unsigned int p = 1; !dealbox_square_phase(square, p, &phase); p++)
		fprintf(out, "SN %u:%s:%s:%s\n", phase.sessions, phase.boards, phase.prefix,
			phase.description);
	fprintf(out, "KH %s\n", dealbox_square_hash(square));
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static char *body_print(const struct dealbox_square *square, int64_t time)
{
	char *promise = promise_print(square), *body, at[TIME_TEXT];

	if (!promise)
		return NULL;
	time_put(time * 1000000, at);
	if (asprintf(&body, "dealbox manifest 1\ntime %s\n%s", at, promise) < 0)
		body = NULL;
	free(promise);
	return body;
}

char *dealbox_manifest_make(const struct dealbox_square *square, const struct dealbox_signer *signer,
			    int64_t time, struct dealbox_error *error)
{
	char *body, *text;

	if (!*dealbox_square_hash(square)) {
		error_fill(error, 0, "`dealbox square publish`",
			   "the tournament is not published: it has no hash of its keys");
		return NULL;
	}
	body = body_print(square, time);
	text = body ? text_sign(body, signer) : NULL;
	free(body);
	if (!text)
		error_fill(error, 0, NULL, "out of memory");
	return text;
}

static int body_parse(struct dealbox_manifest *manifest, const char *body, struct dealbox_error *error)
{
	char *copy = strdup(body), *at = copy, *value, *again = NULL;
	int err = -EINVAL;

	if (!copy)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	value = line_take(&at, "dealbox manifest");
	if (!value) {
		error_fill(error, 1, NULL, "this is no manifest");
	} else if (strcmp(value, "1")) {
		error_fill(error, 1, "use a newer dealbox", "the manifest is of version %.10s", value);
	} else {
		value = line_take(&at, "time");
		if (!value || !time_take(value, &manifest->time))
			error_fill(error, 2, NULL, "there is no time");
		else
			err = dealbox_square_parse(at, strlen(at), &manifest->square, error);
	}
	if (!err) {
		/* refuse other spellings of the same content: there is only one form */
		manifest->time /= 1000000;
		again = body_print(manifest->square, manifest->time);
		if (!again)
			err = error_set(error, -ENOMEM, 0, NULL, "out of memory");
		else if (strcmp(again, body) || *dealbox_square_value(manifest->square))
			err = error_set(error, -EINVAL, 0, NULL,
					"the manifest is signed, but not in the form that it must have");
	}
	free(again);
	free(copy);
	return err;
}

int dealbox_manifest_parse(const void *data, size_t size, struct dealbox_manifest **manifest,
			   struct dealbox_error *error)
{
	struct dealbox_manifest *new = calloc(1, sizeof(*new));
	uint32_t line = 1;
	size_t used = 0;
	char *body = NULL;
	int err;

	if (!new)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	err = text_check(data, size, &used, &body, new->signer, &line, error);
	if (!err)
		err = body_parse(new, body, error);
	if (!err && used != size)
		err = error_set(error, -EINVAL, line, NULL, "there is more behind the signature");
	free(body);
	if (err) {
		dealbox_manifest_free(new);
		return err;
	}
	crypto_hash_sha256(new->hash, data, size);
	*manifest = new;
	return 0;
}

void dealbox_manifest_free(struct dealbox_manifest *manifest)
{
	if (!manifest)
		return;
	dealbox_square_free(manifest->square);
	free(manifest);
}

const struct dealbox_square *dealbox_manifest_square(const struct dealbox_manifest *manifest)
{
	return manifest->square;
}

const uint8_t *dealbox_manifest_signer(const struct dealbox_manifest *manifest)
{
	return manifest->signer;
}

const uint8_t *dealbox_manifest_hash(const struct dealbox_manifest *manifest)
{
	return manifest->hash;
}

int64_t dealbox_manifest_time(const struct dealbox_manifest *manifest)
{
	return manifest->time;
}

/* Length of the line at text, and its name by its first two letters. */
static const char *line_name(const char *line)
{
	static const struct {
		const char *letters, *name;
	} names[] = {
		{ "TN", "name" }, { "DI", "delayed information" }, { "SN", "phases" },
		{ "KH", "hash of the keys" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(line, names[i].letters, 2))
			return names[i].name;
	return "end";
}

int dealbox_manifest_compare(const struct dealbox_manifest *manifest,
			     const struct dealbox_square *square, struct dealbox_error *error)
{
	char *promised = promise_print(manifest->square), *given = promise_print(square);
	int err = 0;

	if (!promised || !given) {
		err = error_set(error, -ENOMEM, 0, NULL, "out of memory");
	} else if (strcmp(promised, given)) {
		size_t same = 0;

		while (promised[same] && promised[same] == given[same])
			same++;
		while (same && promised[same - 1] != '\n')
			same--;
		err = error_set(error, -EBADMSG, 0,
				"ask the organiser which was published; one of the two was changed",
				"the description and the manifest differ: %s", line_name(promised + same));
	}
	free(promised);
	free(given);
	return err;
}
