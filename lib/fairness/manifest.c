// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Manifests. The format is in docs/certificate.md.
 */
#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/manifest.h>

#include "reserved.h"
#include "signed-text.h"

struct dealbox_manifest {
	struct dealbox_square *square;
	bool promises;		/* version 2: it has a promise */
	struct dealbox_promise promise;
	uint8_t (*pcs)[DEALBOX_SIGNER_KEY];
	struct dealbox_promised_machine *machines;
	int64_t time;
	uint8_t signer[DEALBOX_SIGNER_KEY];
	uint8_t hash[DEALBOX_HASH];
};

/* -- PCs and machines ------------------------------------------------------- */

/* `-` is what certificates have that no machine has dealt */
static bool machine_name_good(const char *name)
{
	return name_good(name) && strcmp(name, "-") != 0;
}

int dealbox_promised_machine_parse(const char *text, struct dealbox_promised_machine *out)
{
	static const char *const kinds[] = { " real ", " emulator " };
	const size_t key = strcspn(text, " ");
	struct dealbox_promised_machine machine = { 0 };
	char hex[HEX(DEALBOX_SIGNER_KEY)];

	if (key >= sizeof(hex))
		return -EINVAL;
	memcpy(hex, text, key);
	hex[key] = 0;
	machine.keyed = strcmp(hex, "-") != 0;
	if (machine.keyed && !hex_take(hex, machine.key, sizeof(machine.key)))
		return -EINVAL;
	text += key;
	machine.emulator = strncmp(text, kinds[0], strlen(kinds[0])) != 0;
	if (strncmp(text, kinds[machine.emulator], strlen(kinds[machine.emulator])))
		return -EINVAL;
	text += strlen(kinds[machine.emulator]);
	if (!machine_name_good(text) || strlen(text) >= sizeof(machine.name))
		return -EINVAL;
	strcpy(machine.name, text);
	*out = machine;
	return 0;
}

char *dealbox_promised_machine_print(const struct dealbox_promised_machine *machine)
{
	char hex[HEX(DEALBOX_SIGNER_KEY)] = "-", *text;

	if (machine->keyed)
		hex_put(machine->key, DEALBOX_SIGNER_KEY, hex);
	return asprintf(&text, "%s %s %s", hex, machine->emulator ? "emulator" : "real",
			machine->name) < 0 ? NULL : text;
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, DEALBOX_SIGNER_KEY);
}

static int by_name(const void *a, const void *b)
{
	const struct dealbox_promised_machine *one = a, *other = b;

	return strcmp(one->name, other->name);
}

/* Returns a copy of an array with room for one more. NULL = out of memory. */
static void *array_copy(const void *array, size_t count, size_t size)
{
	void *copy = calloc(count + 1, size);

	if (copy && count)
		memcpy(copy, array, count * size);
	return copy;
}

/* Writes the lines copies, pc and machine. Returns the fault, or NULL. */
static const char *promise_put(FILE *out, const struct dealbox_promise *promise)
{
	uint8_t (*pcs)[DEALBOX_SIGNER_KEY] =
		array_copy(promise->pcs, promise->pc_count, sizeof(*pcs));
	struct dealbox_promised_machine *machines =
		array_copy(promise->machines, promise->machine_count, sizeof(*machines));
	const char *fault = pcs && machines ? NULL : "out of memory";
	char hex[HEX(DEALBOX_SIGNER_KEY)];

	if (!promise->copies || promise->copies > DEALBOX_COPIES_MAX)
		fault = "the number of copies is 1 to 65535";
	if (RESERVED_USED(promise))
		fault = "the reserved space of the promise is not 0";
	fprintf(out, "copies %u\n", promise->copies);
	if (!fault)
		qsort(pcs, promise->pc_count, sizeof(*pcs), by_key);
	for (size_t i = 0; !fault && i < promise->pc_count; i++) {
		if (i && !by_key(pcs[i - 1], pcs[i]))
			fault = "a PC is there twice";
		hex_put(pcs[i], sizeof(pcs[i]), hex);
		fprintf(out, "pc %s\n", hex);
	}
	if (!fault)
		qsort(machines, promise->machine_count, sizeof(*machines), by_name);
	for (size_t i = 0; !fault && i < promise->machine_count; i++) {
		char *text = machine_name_good(machines[i].name) ?
			     dealbox_promised_machine_print(&machines[i]) : NULL;

		if (!text)
			fault = "the name of a machine does not fit into a line";
		else if (i && !by_name(&machines[i - 1], &machines[i]))
			fault = "a machine is there twice";
		else if (RESERVED_USED(&machines[i]))
			fault = "the reserved space of a machine is not 0";
		fprintf(out, "machine %s\n", text ? text : "");
		free(text);
	}
	free(pcs);
	free(machines);
	return fault;
}

/* Parses the lines copies, pc and machine. Returns false if they are not in their form. */
static bool promise_take(struct dealbox_manifest *manifest, char *at)
{
	struct dealbox_promise *promise = &manifest->promise;
	const char *value = line_take(&at, "copies");
	void *more;

	manifest->promises = true;
	/* its one form is checked by comparing the text that is made of it */
	promise->copies = value ? (unsigned int)strtoul(value, NULL, 10) : 0;
	while ((value = line_take(&at, "pc"))) {
		more = reallocarray(manifest->pcs, promise->pc_count + 1, sizeof(*manifest->pcs));
		if (!more)
			return false;
		manifest->pcs = more;
		if (!hex_take(value, manifest->pcs[promise->pc_count++], DEALBOX_SIGNER_KEY))
			return false;
	}
	while ((value = line_take(&at, "machine"))) {
		more = reallocarray(manifest->machines, promise->machine_count + 1,
				    sizeof(*manifest->machines));
		if (!more)
			return false;
		manifest->machines = more;
		if (dealbox_promised_machine_parse(value,
						   &manifest->machines[promise->machine_count++]))
			return false;
	}
	promise->pcs = (const uint8_t (*)[DEALBOX_SIGNER_KEY])manifest->pcs;
	promise->machines = manifest->machines;
	return !*at;
}

/* -- the text --------------------------------------------------------------- */

/* Returns the promised tournament, in its only valid form. NULL = out of memory. */
static char *square_print(const struct dealbox_square *square)
{
	struct dealbox_square_phase phase;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "TN %s\nDI %s\n", dealbox_square_name(square), dealbox_square_info(square));
	for (unsigned int p = 1; !dealbox_square_get_phase(square, p, &phase); p++)
		fprintf(out, "SN %u:%s:%s:%s\n", phase.sessions, phase.boards, phase.prefix,
			phase.description);
	fprintf(out, "KH %s\n", dealbox_square_hash(square));
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static const char no_memory[] = "out of memory";

/* Returns NULL with a fault, whose text is static. */
static char *body_print(const struct dealbox_square *square, const struct dealbox_promise *promise,
			int64_t time, const char **fault)
{
	char *tournament = square_print(square), *body = NULL, at[TIME_TEXT];
	size_t size;
	FILE *out = tournament ? open_memstream(&body, &size) : NULL;

	*fault = no_memory;
	if (out) {
		time_put(time * 1000000, at);
		fprintf(out, "dealbox manifest %d\ntime %s\n%s", promise ? 2 : 1, at, tournament);
		*fault = promise ? promise_put(out, promise) : NULL;
		if (fclose(out))
			*fault = no_memory;
		else if (!*fault && !lines_good(body, size))
			*fault = "a text of the tournament has a control character";
	}
	free(tournament);
	if (!*fault)
		return body;
	free(body);
	return NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static unsigned int sessions_most(const struct dealbox_square_phase *phase)
{
	return phase->sessions ? phase->sessions : DEALBOX_SQUARE_SESSIONS;
}

/*
 * Returns false if two sessions, or one and a reserve set, can have one name, so that one could
 * stand for both; or out of memory.
 */
static bool names_differ(const struct dealbox_square *square)
{
	struct dealbox_square_session session;
	struct dealbox_square_phase phase;
	size_t count = 0, filled = 0;
	bool good;
	char **names;

	for (unsigned int p = 1; !dealbox_square_get_phase(square, p, &phase); p++)
		count += 2 * (size_t)sessions_most(&phase);
	names = calloc(count + 1, sizeof(*names));
	good = names;
	for (unsigned int p = 1; good && !dealbox_square_get_phase(square, p, &phase); p++)
		for (unsigned int n = 0; good && n < 2 * sessions_most(&phase); n++) {
			good = !dealbox_square_get_session(square, p, n / 2 + 1, n % 2,
							   strcmp(phase.boards, "?") ? NULL : "1",
							   &session, NULL) &&
			       (names[filled] = strdup(session.file));
			filled += good;
		}
	if (good && filled)
		qsort(names, filled, sizeof(*names), by_text);
	for (size_t i = 1; good && i < filled; i++)
		good = strcmp(names[i - 1], names[i]) != 0;
	for (size_t i = 0; i < filled; i++)
		free(names[i]);
	free(names);
	return good;
}

char *dealbox_manifest_make(const struct dealbox_square *square,
			    const struct dealbox_promise *promise,
			    const struct dealbox_signer *signer, int64_t time_s,
			    struct dealbox_error *error)
{
	const char *fault;
	char *body, *text;

	if (!*dealbox_square_hash(square)) {
		error_fill(error, -EINVAL, 0, "`dealbox square publish`",
			   "the tournament is not published: it has no hash of its keys");
		return NULL;
	}
	if (!names_differ(square)) {
		error_fill(error, -EINVAL, 0, "give each phase a prefix that no other begins with",
			   "two sessions or reserve sets can have one name");
		return NULL;
	}
	body = body_print(square, promise, time_s, &fault);
	if (!body) {
		error_fill(error, fault == no_memory ? -ENOMEM : -EINVAL, 0, NULL, "%s", fault);
		return NULL;
	}
	text = text_sign(body, signer);
	free(body);
	if (!text)
		error_fill(error, -ENOMEM, 0, NULL, no_memory);
	return text;
}

/* Splits off the lines behind KH, of version 2. Returns false if there is no such line. */
static bool square_end(char *at, char **behind)
{
	char *hash = strstr(at, "\nKH "), *end = hash ? strchr(hash + 1, '\n') : NULL;

	if (!end)
		return false;
	*behind = strdup(end + 1);
	end[1] = 0;
	return *behind;
}

static int body_parse(struct dealbox_manifest *manifest, const char *body,
		      struct dealbox_error *error)
{
	char *copy = strdup(body), *at = copy, *behind = NULL, *value, *again = NULL;
	bool second = false, good = true;
	const char *fault;
	int err = -EINVAL;

	if (!copy)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	value = line_take(&at, "dealbox manifest");
	if (!value) {
		error_fill(error, err, 1, NULL, "this is no manifest");
	} else if (strcmp(value, "1") && strcmp(value, "2")) {
		error_fill(error, err, 1, "use a newer dealbox", "the manifest is of version %.10s",
			   value);
	} else {
		second = *value == '2';
		value = line_take(&at, "time");
		if (!value || !time_take(value, &manifest->time))
			error_fill(error, err, 2, NULL, "there is no time");
		else if (second && !square_end(at, &behind))
			error_fill(error, err, 0, NULL, "there is no hash of the keys");
		else
			err = dealbox_square_parse(at, strlen(at), &manifest->square, error);
	}
	if (!err && second)
		good = promise_take(manifest, behind);
	if (!err) {
		/* refuse other spellings of the same content: there is only one form */
		manifest->time /= 1000000;
		if (second)
			good = good && dealbox_square_phases(manifest->square);
		if (good)
			again = body_print(manifest->square, second ? &manifest->promise : NULL,
					   manifest->time, &fault);
		if (!again || strcmp(again, body) || *dealbox_square_value(manifest->square) ||
		    !names_differ(manifest->square))
			err = error_set(error, -EINVAL, 0, NULL,
					"the manifest is signed, "
					"but not in the form that it must have");
	}
	free(again);
	free(behind);
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
	free(manifest->pcs);
	free(manifest->machines);
	free(manifest);
}

const struct dealbox_square *dealbox_manifest_square(const struct dealbox_manifest *manifest)
{
	return manifest->square;
}

const struct dealbox_promise *dealbox_manifest_promise(const struct dealbox_manifest *manifest)
{
	return manifest->promises ? &manifest->promise : NULL;
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
	char *promised = square_print(manifest->square), *given = square_print(square);
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
				"the description and the manifest differ: %s",
				line_name(promised + same));
	}
	free(promised);
	free(given);
	return err;
}
