// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Heads of logs and proofs as text: C2SP's signed-note, tlog-checkpoint, tlog-cosignature,
 * tlog-proof, and the request of tlog-witness.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/log.h>

#include "signed-text.h"

#define DASH		"\u2014 "	/* begins the line of a signature */
#define TYPE_ED25519	1		/* signed-note, "Signature types" */
#define TYPE_COSIGNED	4
#define KEY_ID		4		/* bytes */
#define TIME		8		/* bytes of the time of a cosignature */
#define SPOKEN_BYTES	20
#define SIZE_MAX_TREE	(UINT64_MAX / 2)
#define PROOF_WORDS	"c2sp.org/tlog-proof@v1\n"
#define B64(bytes)	(sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL))

/* Part of a text */
struct span {
	const char *at;
	size_t size;
};

/* -- base64, decimal, lines --------------------------------------------------- */

static void b64_put(const uint8_t *bytes, size_t size, char *text)
{
	sodium_bin2base64(text, B64(size), bytes, size, sodium_base64_VARIANT_ORIGINAL);
}

/* libsodium 1.0.18 takes some bytes above 7f for digits. */
static bool b64_digits(struct span text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

	for (size_t i = 0; i < text.size; i++)
		if (!memchr(digits, text.at[i], sizeof(digits) - 1))
			return false;
	return true;
}

/* Parses exactly size bytes, written in the only way. */
static bool b64_take(struct span text, uint8_t *bytes, size_t size)
{
	const char *end;
	size_t length;

	return text.size == B64(size) - 1 && b64_digits(text) &&
	       !sodium_base642bin(bytes, size, text.at, text.size, NULL, &length, &end,
				  sodium_base64_VARIANT_ORIGINAL) &&
	       length == size && end == text.at + text.size;
}

static bool number_take(struct span text, uint64_t *out)
{
	uint64_t number = 0;

	if (!text.size || text.size > 19 || (*text.at == '0' && text.size > 1))
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(text.at[i] - '0');
	}
	*out = number;
	return number <= SIZE_MAX_TREE;
}

/* Takes the next line off a text, without its end. */
static bool span_line(struct span *text, struct span *line)
{
	const char *end = text->size ? memchr(text->at, '\n', text->size) : NULL;

	if (!end)
		return false;
	*line = (struct span) { text->at, (size_t)(end - text->at) };
	text->at = end + 1;
	text->size -= line->size + 1;
	return true;
}

static bool span_begins(struct span text, const char *with)
{
	return text.size >= strlen(with) && !memcmp(text.at, with, strlen(with));
}

static struct span span_skip(struct span text, size_t size)
{
	return (struct span) { text.at + size, text.size - size };
}

/* Valid UTF-8 (RFC 3629) without control characters other than the line end */
static bool text_valid(struct span text)
{
	const uint8_t *c = (const uint8_t *)text.at, *end = c + text.size;

	while (c < end) {
		const unsigned int more = *c < 0x80 ? 0 :
					  *c >= 0xc2 && *c < 0xe0 ? 1 :
					  *c >= 0xe0 && *c < 0xf0 ? 2 :
					  *c >= 0xf0 && *c < 0xf5 ? 3 : 4;

		if (more == 4 || (size_t)(end - c) <= more || (*c < ' ' && *c != '\n') ||
		    *c == 0x7f)
			return false;
		for (unsigned int i = 1; i <= more; i++)
			if ((c[i] & 0xc0) != 0x80)
				return false;
		if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] >= 0xa0) ||
		    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] >= 0x90))
			return false;
		c += more + 1;
	}
	return true;
}

/* Our own names are ASCII: what looks alike is alike. */
static bool key_name_good(const char *name)
{
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || *c == '+')
			return false;
	return *name && strlen(name) < DEALBOX_LOG_NAME;
}

/* -- keys --------------------------------------------------------------------- */

static void key_id(const struct dealbox_log_key *key, uint8_t id[KEY_ID])
{
	const uint8_t type[2] = { '\n', key->witness ? TYPE_COSIGNED : TYPE_ED25519 };
	uint8_t hash[DEALBOX_HASH];
	crypto_hash_sha256_state state;

	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t *)key->name, strlen(key->name));
	crypto_hash_sha256_update(&state, type, sizeof(type));
	crypto_hash_sha256_update(&state, key->key, sizeof(key->key));
	crypto_hash_sha256_final(&state, hash);
	memcpy(id, hash, KEY_ID);
}

int dealbox_log_key_witness(const char *name, const uint8_t key[DEALBOX_SIGNER_KEY],
			    struct dealbox_log_key *out)
{
	if (!key_name_good(name))
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	strcpy(out->name, name);
	memcpy(out->key, key, sizeof(out->key));
	out->witness = true;
	return 0;
}

char *dealbox_log_key_print(const struct dealbox_log_key *key)
{
	uint8_t id[KEY_ID], bytes[1 + DEALBOX_SIGNER_KEY];
	char id_hex[HEX(KEY_ID)], b64[B64(sizeof(bytes))], *text;

	key_id(key, id);
	hex_put(id, sizeof(id), id_hex);
	bytes[0] = key->witness ? TYPE_COSIGNED : TYPE_ED25519;
	memcpy(bytes + 1, key->key, sizeof(key->key));
	b64_put(bytes, sizeof(bytes), b64);
	return asprintf(&text, "%s+%s+%s", key->name, id_hex, b64) < 0 ? NULL : text;
}

int dealbox_log_key_parse(const char *text, struct dealbox_log_key *key,
			  struct dealbox_error *error)
{
	const char *plus = strchr(text, '+'), *second = plus ? strchr(plus + 1, '+') : NULL;
	uint8_t bytes[1 + DEALBOX_SIGNER_KEY] = { 0 }, id[KEY_ID], right[KEY_ID];
	struct dealbox_log_key new = { 0 };
	char id_hex[HEX(KEY_ID)];

	if (!second || plus - text >= DEALBOX_LOG_NAME || second - plus != sizeof(id_hex))
		goto form;
	memcpy(new.name, text, (size_t)(plus - text));
	memcpy(id_hex, plus + 1, sizeof(id_hex) - 1);
	id_hex[sizeof(id_hex) - 1] = 0;
	if (!key_name_good(new.name) || !hex_take(id_hex, id, sizeof(id)) ||
	    !b64_take((struct span) { second + 1, strlen(second + 1) }, bytes, sizeof(bytes)) ||
	    (bytes[0] != TYPE_ED25519 && bytes[0] != TYPE_COSIGNED))
		goto form;
	memcpy(new.key, bytes + 1, sizeof(new.key));
	new.witness = bytes[0] == TYPE_COSIGNED;
	key_id(&new, right);
	if (memcmp(id, right, sizeof(id)))
		return error_set(error, -EINVAL, 0, "copy it again from where it was published",
				 "the name, the number and the key do not belong together");
	*key = new;
	return 0;
form:
	return error_set(error, -EINVAL, 0, "it is one line: NAME+NUMBER+KEY",
			 "this is no public key of a witness or log");
}

/* -- heads -------------------------------------------------------------------- */

/* A signed note */
struct note {
	struct span body, signatures;
};

/* The form of the line of a signature: a name, and base64 of at least a key id */
static bool signature_line(struct span line, struct span *name, struct span *b64)
{
	const char *space;

	if (!span_begins(line, DASH))
		return false;
	line = span_skip(line, strlen(DASH));
	space = memchr(line.at, ' ', line.size);
	if (!space || space == line.at)
		return false;
	*name = (struct span) { line.at, (size_t)(space - line.at) };
	*b64 = span_skip(line, name->size + 1);
	return b64->size >= B64(KEY_ID) - 1 && b64_digits(*b64) &&
	       !memchr(name->at, '+', name->size);
}

static bool note_parse(const void *data, size_t size, struct note *note)
{
	struct span text = { data, size }, line, name, b64;
	const char *blank = NULL;

	if (size > DEALBOX_NOTE_MAX || !text_valid(text))
		return false;
	for (size_t i = 0; i + 1 < size; i++)
		if (text.at[i] == '\n' && text.at[i + 1] == '\n')
			blank = text.at + i;
	if (!blank)
		return false;
	note->body = (struct span) { text.at, (size_t)(blank - text.at) + 1 };
	note->signatures = span_skip(text, note->body.size + 1);
	if (!note->signatures.size)
		return false;
	for (text = note->signatures; text.size;)
		if (!span_line(&text, &line) || !signature_line(line, &name, &b64))
			return false;
	return true;
}

static bool head_parse(struct span body, struct dealbox_checkpoint *head)
{
	struct dealbox_checkpoint new = { 0 };
	struct span origin, size, root, extension;

	if (!span_line(&body, &origin) || !span_line(&body, &size) || !span_line(&body, &root) ||
	    !origin.size || origin.size >= DEALBOX_LOG_NAME || !number_take(size, &new.size) ||
	    !new.size || !b64_take(root, new.root, sizeof(new.root)))
		return false;
	while (body.size)
		if (!span_line(&body, &extension) || !extension.size)
			return false;
	memcpy(new.origin, origin.at, origin.size);
	*head = new;
	return true;
}

int dealbox_checkpoint_parse(const void *data, size_t size, struct dealbox_checkpoint *head,
			     struct dealbox_error *error)
{
	struct note note;

	if (note_parse(data, size, &note) && head_parse(note.body, head))
		return 0;
	return error_set(error, -EINVAL, 0, "get it again, as a file and not as text",
			 "this is no head of a log");
}

static char *body_print(const struct dealbox_checkpoint *head)
{
	char root[B64(DEALBOX_HASH)], *body;

	b64_put(head->root, sizeof(head->root), root);
	return asprintf(&body, "%s\n%" PRIu64 "\n%s\n", head->origin, head->size, root) < 0 ?
		NULL : body;
}

char *dealbox_checkpoint_sign(const struct dealbox_checkpoint *head,
			      const struct dealbox_signer *signer)
{
	uint8_t bytes[KEY_ID + SIGNATURE];
	struct dealbox_log_key key = { 0 };
	char b64[B64(sizeof(bytes))], *body = body_print(head), *note;

	if (!body)
		return NULL;
	strcpy(key.name, head->origin);
	memcpy(key.key, dealbox_signer_public(signer), sizeof(key.key));
	key_id(&key, bytes);
	signer_sign(signer, body, strlen(body), bytes + KEY_ID);
	b64_put(bytes, sizeof(bytes), b64);
	if (asprintf(&note, "%s\n" DASH "%s %s\n", body, key.name, b64) < 0)
		note = NULL;
	free(body);
	return note;
}

/* Returns the message that a witness signs; free it. */
static char *cosigned(struct span body, int64_t time)
{
	char *message;

	return asprintf(&message, "cosignature/v1\ntime %" PRId64 "\n%.*s", time, (int)body.size,
			body.at) < 0 ? NULL : message;
}

/*
 * Returns true if that is the line of this key: its name and its id. bytes get the rest of the
 * signature, size_left of them; false is also of another size.
 */
static bool line_is(struct span line, const struct dealbox_log_key *key, uint8_t *bytes,
		    size_t *size_left)
{
	struct span name, b64;
	uint8_t id[KEY_ID], all[KEY_ID + TIME + SIGNATURE];
	const char *end;
	size_t size;

	if (!signature_line(line, &name, &b64) || name.size != strlen(key->name) ||
	    memcmp(name.at, key->name, name.size) ||
	    sodium_base642bin(all, sizeof(all), b64.at, b64.size, NULL, &size, &end,
			      sodium_base64_VARIANT_ORIGINAL) ||
	    end != b64.at + b64.size || size < KEY_ID)
		return false;
	key_id(key, id);
	if (memcmp(all, id, sizeof(id)))
		return false;
	*size_left = size - KEY_ID;
	memcpy(bytes, all + KEY_ID, *size_left);
	return true;
}

char *dealbox_checkpoint_cosign(const void *data, size_t size, const char *name,
				const struct dealbox_signer *signer, int64_t time_s)
{
	uint8_t bytes[KEY_ID + TIME + SIGNATURE], old[TIME + SIGNATURE];
	char b64[B64(sizeof(bytes))], *message, *text = NULL;
	struct dealbox_checkpoint head;
	struct dealbox_log_key key;
	struct span rest, line;
	struct note note;
	size_t length, left;
	FILE *out;

	if (!note_parse(data, size, &note) || !head_parse(note.body, &head) || time_s < 0 ||
	    dealbox_log_key_witness(name, dealbox_signer_public(signer), &key))
		return NULL;
	message = cosigned(note.body, time_s);
	if (!message)
		return NULL;
	key_id(&key, bytes);
	for (int i = 0; i < TIME; i++)
		bytes[KEY_ID + i] = (uint8_t)((uint64_t)time_s >> 8 * (TIME - 1 - i));
	signer_sign(signer, message, strlen(message), bytes + KEY_ID + TIME);
	free(message);
	b64_put(bytes, sizeof(bytes), b64);
	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	fprintf(out, "%.*s\n", (int)note.body.size, note.body.at);
	for (rest = note.signatures; span_line(&rest, &line);)
		if (!line_is(line, &key, old, &left))
			fprintf(out, "%.*s\n", (int)line.size, line.at);
	fprintf(out, DASH "%s %s\n", key.name, b64);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

int dealbox_checkpoint_verify(const void *data, size_t size, const struct dealbox_log_key *key,
			      int64_t *time_s)
{
	uint8_t bytes[TIME + SIGNATURE];
	struct dealbox_checkpoint head;
	struct span rest, line;
	struct note note;
	size_t length;
	int err = -ENOENT;

	if (!note_parse(data, size, &note) || !head_parse(note.body, &head))
		return -EINVAL;
	for (rest = note.signatures; err == -ENOENT && span_line(&rest, &line);) {
		uint64_t at = 0;
		char *message;

		if (!line_is(line, key, bytes, &length))
			continue;
		if (!key->witness) {
			err = length != SIGNATURE ||
			      crypto_sign_verify_detached(bytes, (const uint8_t *)note.body.at,
							  note.body.size, key->key) ?
			      -EKEYREJECTED : 0;
			*time_s = 0;
			continue;
		}
		for (int i = 0; i < TIME; i++)
			at = at << 8 | bytes[i];
		message = length == sizeof(bytes) && at <= INT64_MAX ?
			  cosigned(note.body, (int64_t)at) : NULL;
		err = !message ||
		      crypto_sign_verify_detached(bytes + TIME, (const uint8_t *)message,
						  strlen(message), key->key) ?
		      -EKEYREJECTED : 0;
		free(message);
		*time_s = (int64_t)at;
	}
	return err;
}

/* -- heads that are read aloud -------------------------------------------------- */

void dealbox_checkpoint_spoken(const struct dealbox_checkpoint *head, char text[DEALBOX_LOG_SPOKEN])
{
	int at = snprintf(text, DEALBOX_LOG_SPOKEN, "%" PRIu64, head->size);

	for (int i = 0; i < SPOKEN_BYTES; i++)
		at += snprintf(text + at, DEALBOX_LOG_SPOKEN - (size_t)at, "%s%02x",
			       i % 2 ? "" : " ", head->root[i]);
}

/* Parses both parts of such a text. */
static bool spoken_take(const char *text, uint64_t *size, uint8_t root[SPOKEN_BYTES])
{
	struct span number = { text, strspn(text, "0123456789") };
	char hex[HEX(SPOKEN_BYTES)];
	size_t digits = 0;

	if (!number_take(number, size) || !*size || !strchr(" -", text[number.size]))
		return false;
	for (const char *c = text + number.size; *c; c++) {
		if (strchr(" -", *c))
			continue;
		if (digits == sizeof(hex) - 1)
			return false;
		hex[digits++] = (char)tolower((unsigned char)*c);
	}
	hex[digits] = 0;
	return hex_take(hex, root, SPOKEN_BYTES);
}

int dealbox_spoken_parse(const char *text, uint64_t *size)
{
	uint8_t root[SPOKEN_BYTES];

	return spoken_take(text, size, root) ? 0 : -EINVAL;
}

bool dealbox_checkpoint_heard(const struct dealbox_checkpoint *head, const char *text)
{
	uint8_t root[SPOKEN_BYTES];
	uint64_t size;

	return spoken_take(text, &size, root) && size == head->size &&
	       !memcmp(root, head->root, sizeof(root));
}

/* -- proofs ------------------------------------------------------------------- */

static char *proof_print(const char *words, const struct dealbox_log_proof *proof, const char *note)
{
	char hash[B64(DEALBOX_HASH)], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s %" PRIu64 "\n", words, proof->place);
	for (size_t i = 0; i < proof->count; i++) {
		b64_put(proof->hash[i], DEALBOX_HASH, hash);
		fprintf(out, "%s\n", hash);
	}
	fprintf(out, "\n%s", note);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Parses "WORD place", hashes, and an empty line; text gets the rest, which is a head. */
static bool proof_parse(struct span *text, const char *word, struct dealbox_log_proof *proof)
{
	struct dealbox_checkpoint head;
	struct span line;
	struct note note;

	memset(proof, 0, sizeof(*proof));
	if (!span_line(text, &line) || !span_begins(line, word) ||
	    !number_take(span_skip(line, strlen(word)), &proof->place))
		return false;
	while (span_line(text, &line)) {
		if (!line.size)
			return note_parse(text->at, text->size, &note) &&
			       head_parse(note.body, &head);
		if (proof->count == DEALBOX_LOG_HASHES ||
		    !b64_take(line, proof->hash[proof->count++], DEALBOX_HASH))
			return false;
	}
	return false;
}

char *dealbox_inclusion_print(const struct dealbox_log_proof *proof, const void *leaf, size_t size,
			      const char *note)
{
	char *extra = malloc(B64(size)), *words = NULL, *text;

	if (!extra)
		return NULL;
	b64_put(leaf, size, extra);
	if (asprintf(&words, PROOF_WORDS "extra %s\nindex", extra) < 0)
		words = NULL;
	text = words ? proof_print(words, proof, note) : NULL;
	free(words);
	free(extra);
	return text;
}

int dealbox_inclusion_parse(const void *data, size_t size, struct dealbox_log_proof *proof,
			    char **leaf, size_t *leaf_size, const char **note, size_t *note_size,
			    struct dealbox_error *error)
{
	struct span text = { data, size }, line;
	char *extra = NULL;
	size_t length = 0;

	if (!span_begins(text, PROOF_WORDS))
		goto form;
	text = span_skip(text, strlen(PROOF_WORDS));
	if (span_begins(text, "extra ")) {
		const char *end;

		if (!span_line(&text, &line))
			goto form;
		line = span_skip(line, strlen("extra "));
		extra = malloc(line.size + 1);
		if (!extra)
			return error_set(error, -ENOMEM, 0, NULL, "out of memory");
		if (!b64_digits(line) ||
		    sodium_base642bin((uint8_t *)extra, line.size, line.at, line.size, NULL,
				      &length, &end, sodium_base64_VARIANT_ORIGINAL) ||
		    end != line.at + line.size)
			goto form;
		extra[length] = 0;
	}
	if (!proof_parse(&text, "index ", proof))
		goto form;
	*leaf = extra;
	*leaf_size = length;
	*note = text.at;
	*note_size = text.size;
	return 0;
form:
	free(extra);
	return error_set(error, -EINVAL, 0, "get it again, as a file and not as text",
			 "this is no proof that a certificate is in a log");
}

char *dealbox_consistency_print(const struct dealbox_log_proof *proof, const char *note)
{
	return proof_print("old", proof, note);
}

int dealbox_consistency_parse(const void *data, size_t size, struct dealbox_log_proof *proof,
			      const char **note, size_t *note_size, struct dealbox_error *error)
{
	struct span text = { data, size };

	if (!proof_parse(&text, "old ", proof))
		return error_set(error, -EINVAL, 0, "get it again, as a file and not as text",
				 "this is no proof that a head continues an earlier one");
	*note = text.at;
	*note_size = text.size;
	return 0;
}
