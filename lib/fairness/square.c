// SPDX-License-Identifier: LGPL-2.1-or-later
/* Square Deal: description and keys of a tournament, and the deals derived from them. */
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/bigdeal.h>
#include <dealbox/set.h>
#include <dealbox/square.h>

#include "error-internal.h"
#include "reserved.h"

#define KEY_SHORT	40	/* the original warns about shorter keys */

struct phase {
	unsigned int sessions;
	char *boards, *prefix, *description;
};

struct dealbox_square {
	char *name, *info, *value;
	char hash[DEALBOX_SQUARE_HASH + 1];
	unsigned int phases;
	struct phase *phase;
};

struct key {
	unsigned int phase, session;	/* session 0: the whole phase */
	char *text;
};

struct dealbox_square_keys {
	size_t count;
	struct key *key;
};

/* -- text ------------------------------------------------------------------- */

struct line {
	const char *text;
	size_t size;		/* without line end and without spaces around it */
	uint32_t number;	/* from 1 */
	const char *next, *end;
};

static struct line lines_of(const void *data, size_t size)
{
	return (struct line){ .next = data, .end = (const char *)data + size };
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool line_next(struct line *line)
{
	const char *stop;

	if (line->next == line->end)
		return false;
	stop = memchr(line->next, '\n', (size_t)(line->end - line->next));
	line->text = line->next;
	line->next = stop ? stop + 1 : line->end;
	line->size = (size_t)((stop ? stop : line->end) - line->text);
	line->number++;
	while (line->size && is_space(line->text[line->size - 1]))
		line->size--;
	while (line->size && is_space(*line->text)) {
		line->text++;
		line->size--;
	}
	return true;
}

/* Parses a decimal number of at most six digits at the start of *text, and advances *text. */
static bool number_take(const char **text, unsigned int *number)
{
	const char *start = *text;

	*number = 0;
	while (isdigit((unsigned char)**text) && *text - start < 7)
		*number = *number * 10 + (unsigned int)(*(*text)++ - '0');
	return *text != start && *text - start < 7;
}

/* Removes spaces at the ends and reduces runs of spaces to one; NULL = out of memory. */
static char *squeezed(const char *text)
{
	char *out = malloc(strlen(text) + 1), *to = out;

	if (!out)
		return NULL;
	for (; *text; text++) {
		if (!is_space(*text))
			*to++ = *text;
		else if (to != out && to[-1] != ' ')
			*to++ = ' ';
	}
	if (to != out && to[-1] == ' ')
		to--;
	*to = 0;
	return out;
}

/*
 * Replaces the first run of # by the session, with at least as many digits; returns as snprintf()
 */
static int session_fill(const char *pattern, unsigned int session, const char *suffix,
			char *out, size_t size)
{
	const char *sharp = strchr(pattern, '#');
	const int width = sharp ? (int)strspn(sharp, "#") : 0;

	if (!sharp)
		return snprintf(out, size, "%s%s", pattern, suffix);
	return snprintf(out, size, "%.*s%0*u%s%s", (int)(sharp - pattern), pattern, width, session,
			sharp + width, suffix);
}

/* -- board ranges ----------------------------------------------------------- */

/*
 * Gets the range of a session (from 1) from the text of the boards; the ranges of a list take
 * turns. Also checks the whole text.
 */
static bool boards_range(const char *boards, unsigned int session, unsigned int *low,
			 unsigned int *high)
{
	const char *at = boards;
	unsigned int items = 0, first, last;

	/* 3x7 = 1-7,8-14,15-21 */
	if (number_take(&at, &first) && *at == 'x') {
		at++;
		if (!number_take(&at, &last) || *at || !first || !last ||
		    first > DEALBOX_BOARD_DEALT_MAX / last)
			return false;
		*low = (session - 1) % first * last + 1;
		*high = *low + last - 1;
		return true;
	}
	for (at = boards; items == 0 || *at++ == ','; items++) {
		if (!number_take(&at, &first))
			return false;
		last = first;
		if (*at != '-') {
			first = 1;
		} else {
			at++;
			if (!number_take(&at, &last))
				return false;
		}
		if (!first || last < first || last > DEALBOX_BOARD_DEALT_MAX)
			return false;
	}
	if (at[-1])
		return false;

	at = boards;
	for (unsigned int skip = (session - 1) % items; skip; skip--)
		at = strchr(at, ',') + 1;
	number_take(&at, &first);
	*low = *at == '-' ? first : 1;
	*high = first;
	if (*at++ == '-')
		number_take(&at, high);
	return true;
}

/* Expands 3x7, because the original does not read it in a file. NULL = out of memory. */
static char *boards_written_out(const char *boards)
{
	const char *at = boards;
	unsigned int count, low, high;
	size_t size = strlen(boards) + 1, used = 0;
	char *out;

	/* what is no range is refused by who uses it */
	if (boards_range(boards, 1, &low, &high) && number_take(&at, &count) && *at == 'x')
		size = (size_t)count * 12;
	else
		count = 0;
	out = malloc(size);
	if (!out)
		return NULL;
	strcpy(out, count ? "" : boards);
	for (unsigned int session = 1; session <= count; session++) {
		boards_range(boards, session, &low, &high);
		used += (size_t)snprintf(out + used, size - used, "%s%u-%u", session > 1 ? "," : "",
					 low, high);
	}
	return out;
}

/* -- the description -------------------------------------------------------- */

struct dealbox_square *dealbox_square_new(void)
{
	return calloc(1, sizeof(struct dealbox_square));
}

static void phase_wipe(struct phase *phase)
{
	free(phase->boards);
	free(phase->prefix);
	free(phase->description);
}

void dealbox_square_free(struct dealbox_square *square)
{
	if (!square)
		return;
	for (unsigned int p = 0; p < square->phases; p++)
		phase_wipe(&square->phase[p]);
	free(square->phase);
	free(square->name);
	free(square->info);
	free(square->value);
	free(square);
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

const char *dealbox_square_name(const struct dealbox_square *square)
{
	return text_or_empty(square->name);
}

const char *dealbox_square_info(const struct dealbox_square *square)
{
	return text_or_empty(square->info);
}

const char *dealbox_square_value(const struct dealbox_square *square)
{
	return text_or_empty(square->value);
}

const char *dealbox_square_hash(const struct dealbox_square *square)
{
	return square->hash;
}

unsigned int dealbox_square_phases(const struct dealbox_square *square)
{
	return square->phases;
}

static const struct phase *phase_get(const struct dealbox_square *square, unsigned int number)
{
	return number && number <= square->phases ? &square->phase[number - 1] : NULL;
}

int dealbox_square_get_phase(const struct dealbox_square *square, unsigned int number,
			     struct dealbox_square_phase *phase)
{
	const struct phase *p = phase_get(square, number);

	if (!p)
		return -ENOENT;
	*phase = (struct dealbox_square_phase){
		.sessions = p->sessions,
		.boards = p->boards,
		.prefix = p->prefix,
		.description = p->description,
	};
	return 0;
}

static int published_refuse(const struct dealbox_square *square, struct dealbox_error *error)
{
	if (!square->hash[0])
		return 0;
	return error_set(error, -EPERM, 0, "begin another tournament, with another name",
			 "the tournament is published and must not change any more");
}

/* Sets one of the texts; what is its name in a fault */
static int text_set(char **to, const char *text, const char *what, struct dealbox_error *error)
{
	char *new;

	if (strpbrk(text, "\r\n"))
		return error_set(error, -EINVAL, 0, "write it in one line",
				 "the %s has more than one line", what);
	new = squeezed(text);
	if (!new)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	if (!*new) {
		free(new);
		return error_set(error, -EINVAL, 0, NULL, "the %s is empty", what);
	}
	free(*to);
	*to = new;
	return 0;
}

int dealbox_square_set_name(struct dealbox_square *square, const char *name,
			    struct dealbox_error *error)
{
	int err = published_refuse(square, error);

	return err ? err : text_set(&square->name, name, "name", error);
}

int dealbox_square_set_info(struct dealbox_square *square, const char *info,
			    struct dealbox_error *error)
{
	int err = published_refuse(square, error);

	return err ? err : text_set(&square->info, info, "delayed information", error);
}

/* Removes points and commas between digits, from left to right, as the original does. */
static void value_unpunctuate(char *text)
{
	char *to = text;

	while (*text) {
		*to++ = *text;
		if (isdigit((unsigned char)text[0]) && (text[1] == '.' || text[1] == ',') &&
		    isdigit((unsigned char)text[2])) {
			/* the digit after it is consumed: 1.2.3 becomes 12.3 */
			*to++ = text[2];
			text += 3;
		} else {
			text++;
		}
	}
	*to = 0;
}

int dealbox_square_set_value(struct dealbox_square *square, const char *value,
			     struct dealbox_error *error)
{
	char *new = NULL;
	int err;

	if (!square->hash[0])
		return error_set(error, -EPERM, 0,
				 "publish it first: the value must not be known before",
				 "the tournament is not published");
	err = text_set(&new, value, "delayed value", error);
	if (err)
		return err;
	value_unpunctuate(new);
	if (square->value && strcmp(square->value, new)) {
		free(new);
		return error_set(error, -EPERM, 0,
				 "one value belongs to a tournament; compare both with its source",
				 "the delayed value is already set, to '%s'", square->value);
	}
	free(square->value);
	square->value = new;
	return 0;
}

static int prefix_check(const struct dealbox_square *square, const char *prefix, uint32_t line,
			struct dealbox_error *error)
{
	static const char *const help =
		"letters, digits, _ and -, a letter first, and one run of #";
	const char *sharp = strchr(prefix, '#');

	if (strlen(prefix) > 100)
		return error_set(error, -EINVAL, line, NULL, "the file prefix is too long");
	/* it becomes a file name: no folders, no dots */
	if (!isalpha((unsigned char)*prefix) ||
	    prefix[strspn(prefix,
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-#")])
		return error_set(error, -EINVAL, line, help, "'%s' cannot be a file prefix",
				 prefix);
	if (sharp && (strchr(sharp + strspn(sharp, "#"), '#') || strspn(sharp, "#") > 6))
		return error_set(error, -EINVAL, line, help,
				 "the file prefix '%s' has # in two places", prefix);
	for (unsigned int p = 0; p < square->phases; p++)
		if (!strcmp(square->phase[p].prefix, prefix))
			return error_set(error, -EINVAL, line, "give each phase its own",
					 "the file prefix '%s' is that of phase %u already", prefix,
					 p + 1);
	return 0;
}

/* Takes ownership of the strings of *phase, also on an error. */
static int phase_append(struct dealbox_square *square, struct phase *phase, uint32_t line,
			struct dealbox_error *error)
{
	unsigned int low, high;
	struct phase *more;
	int err;

	if (!phase->boards || !phase->prefix || !phase->description)
		err = error_set(error, -ENOMEM, line, NULL, "out of memory");
	else if (phase->sessions > DEALBOX_SQUARE_SESSIONS)
		err = error_set(error, -EINVAL, line, NULL, "a phase has at most %d sessions",
				DEALBOX_SQUARE_SESSIONS);
	else if (strcmp(phase->boards, "?") && !boards_range(phase->boards, 1, &low, &high))
		err = error_set(error, -EINVAL, line, "for example 16, 17-32, 1-8,9-16 or 3x7",
				"'%.80s' is no range of boards", phase->boards);
	else if (!*phase->description || strlen(phase->description) > 200)
		err = error_set(error, -EINVAL, line, NULL,
				"the description of a phase is empty or too long");
	else
		err = prefix_check(square, phase->prefix, line, error);
	if (!err && phase->sessions != 1 && !strchr(phase->prefix, '#'))
		err = error_set(error, -EINVAL, line, "put # where the session stands in it",
				"the sessions of a phase have one file name, '%s'", phase->prefix);
	more = err ? NULL : realloc(square->phase, (square->phases + 1) * sizeof(*more));
	if (!err && !more)
		err = error_set(error, -ENOMEM, line, NULL, "out of memory");
	if (err) {
		phase_wipe(phase);
		return err;
	}
	square->phase = more;
	square->phase[square->phases++] = *phase;
	return 0;
}

/* Appends the mark of the session to the text, if it has none */
static char *sharp_ensured(const char *text, bool wanted, const char *suffix)
{
	char *out;

	if (asprintf(&out, "%s%s", text, wanted && !strchr(text, '#') ? suffix : "") < 0)
		return NULL;
	return out;
}

int dealbox_square_add_phase(struct dealbox_square *square,
			     const struct dealbox_square_phase *phase, struct dealbox_error *error)
{
	const bool many = phase->sessions != 1;
	char sharps[16] = "", of[32];
	struct phase new = { .sessions = phase->sessions };
	int err = published_refuse(square, error);

	if (err)
		return err;
	if (RESERVED_USED(phase))
		return error_set(error, -EINVAL, 0, NULL, "the reserved space of a phase is not 0");
	if (strpbrk(phase->description, ":\r\n"))
		return error_set(error, -EINVAL, 0, NULL,
				 "the description of a phase cannot have colons or line ends");
	memset(sharps, '#', (size_t)snprintf(of, sizeof(of), "%u", phase->sessions % 1000000));
	if (phase->sessions)
		snprintf(of, sizeof(of), " #/%u", phase->sessions);
	else
		strcpy(of, " #");
	new.boards = boards_written_out(phase->boards);
	new.prefix = sharp_ensured(phase->prefix, many, sharps);
	new.description = sharp_ensured(phase->description, many, of);
	return phase_append(square, &new, 0, error);
}

/* Copies the text before the next colon, or with last the rest */
static char *field_take(const char **at, bool last)
{
	const size_t length = last ? strlen(*at) : strcspn(*at, ":");
	char *field = strndup(*at, length);

	*at += length;
	*at += **at == ':';
	return field;
}

static int phase_parse(struct dealbox_square *square, const char *text, size_t size, uint32_t line,
		       struct dealbox_error *error)
{
	/* the file need not end in a line end or a zero */
	char *copy = strndup(text, size);
	const char *at = copy;
	struct phase new = { 0 };
	int err;

	if (!copy)
		return error_set(error, -ENOMEM, line, NULL, "out of memory");
	if (!number_take(&at, &new.sessions) || *at++ != ':') {
		err = error_set(error, -EINVAL, line, NULL,
				"a phase is SN sessions:boards:prefix:description");
	} else {
		new.boards = field_take(&at, false);
		new.prefix = field_take(&at, false);
		new.description = field_take(&at, true);
		err = phase_append(square, &new, line, error);
	}
	free(copy);
	return err;
}

static int text_parse(char **to, const char *text, size_t size, uint32_t line, const char *what,
		      struct dealbox_error *error)
{
	if (*to)
		return error_set(error, -EINVAL, line,
				 "only one of them was published: ask the organiser which",
				 "there is a second line with the %s", what);
	/* an empty value is not known yet */
	if (!size)
		return 0;
	*to = strndup(text, size);
	return *to ? 0 : error_set(error, -ENOMEM, line, NULL, "out of memory");
}

static int hash_parse(struct dealbox_square *square, const char *text, size_t size, uint32_t line,
		      struct dealbox_error *error)
{
	bool good = size == DEALBOX_SQUARE_HASH && !square->hash[0];

	for (size_t i = 0; good && i < size; i++)
		good = isdigit((unsigned char)text[i]) || (text[i] >= 'a' && text[i] <= 'f');
	if (!good)
		return error_set(error, -EINVAL, line, "get the file from the organiser again",
				 "the hash of the keys is not one of 64 digits 0-9, a-f");
	memcpy(square->hash, text, size);
	return 0;
}

static int line_parse(struct dealbox_square *square, const struct line *line,
		      struct dealbox_error *error)
{
	const char *text = line->text + 2;
	size_t size = line->size;

	if (!size || *line->text == '#')
		return 0;
	if (size < 2)
		goto unknown;
	size -= 2;
	while (size && is_space(*text)) {
		text++;
		size--;
	}
	if (memchr(text, 0, size))
		return error_set(error, -EINVAL, line->number, NULL,
				 "there is a NUL byte in the line");
	if (!strncmp(line->text, "TN", 2))
		return text_parse(&square->name, text, size, line->number, "name", error);
	if (!strncmp(line->text, "DI", 2))
		return text_parse(&square->info, text, size, line->number, "delayed information",
				  error);
	if (!strncmp(line->text, "DV", 2))
		return text_parse(&square->value, text, size, line->number, "delayed value", error);
	if (!strncmp(line->text, "SN", 2))
		return phase_parse(square, text, size, line->number, error);
	if (!strncmp(line->text, "KH", 2))
		return hash_parse(square, text, size, line->number, error);
unknown:
	return error_set(error, -EINVAL, line->number, "lines begin with TN, DI, DV, SN, KH or #",
			 "this is not a line of a Square Deal description");
}

int dealbox_square_parse(const void *data, size_t size, struct dealbox_square **square,
			 struct dealbox_error *error)
{
	struct dealbox_square *new = dealbox_square_new();
	struct line line = lines_of(data, size);
	int err = 0;

	if (!new)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	while (!err && line_next(&line))
		err = line_parse(new, &line, error);
	if (!err && !new->name && !new->phases)
		err = error_set(error, -EINVAL, 0, "give the .sqd file",
				"the file is no Square Deal description: "
				"it has no name and no phases");
	if (err) {
		dealbox_square_free(new);
		return err;
	}
	*square = new;
	return 0;
}

char *dealbox_square_print(const struct dealbox_square *square)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	/* the original recognises its files by the first line */
	fprintf(out, "# Description file of tournament for program SquareDeal 2.7\n#\n");
	fprintf(out, "TN %s\nDI %s\n", dealbox_square_name(square), dealbox_square_info(square));
	if (square->value)
		fprintf(out, "DV %s\n", square->value);
	fprintf(out, "# A phase each: sessions:boards:file prefix:description\n");
	for (unsigned int p = 0; p < square->phases; p++)
		fprintf(out, "SN %u:%s:%s:%s\n", square->phase[p].sessions, square->phase[p].boards,
			square->phase[p].prefix, square->phase[p].description);
	if (square->hash[0])
		fprintf(out, "KH %s\n", square->hash);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* -- keys ------------------------------------------------------------------- */

static void hash_hex(const char *text, size_t size, char hex[DEALBOX_SQUARE_HASH + 1])
{
	uint8_t hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)text, size);
	sodium_bin2hex(hex, DEALBOX_SQUARE_HASH + 1, hash, sizeof(hash));
}

static void wipe_free(char *text, size_t size)
{
	if (text)
		sodium_memzero(text, size);
	free(text);
}

void dealbox_square_keys_free(struct dealbox_square_keys *keys)
{
	if (!keys)
		return;
	for (size_t k = 0; k < keys->count; k++)
		wipe_free(keys->key[k].text, strlen(keys->key[k].text));
	free(keys->key);
	free(keys);
}

static const struct key *key_find(const struct dealbox_square_keys *keys, unsigned int phase,
				  unsigned int session)
{
	for (size_t k = 0; k < keys->count; k++)
		if (keys->key[k].phase == phase && keys->key[k].session == session)
			return &keys->key[k];
	return NULL;
}

/* Takes ownership of text, also on an error; NULL means out of memory. */
static int key_append(struct dealbox_square_keys *keys, unsigned int phase, unsigned int session,
		      char *text)
{
	struct key *more = text ? realloc(keys->key, (keys->count + 1) * sizeof(*more)) : NULL;

	if (!more) {
		wipe_free(text, text ? strlen(text) : 0);
		return -ENOMEM;
	}
	keys->key = more;
	keys->key[keys->count++] = (struct key){ phase, session, text };
	return 0;
}

/* Calls each(...) for every session that has a key of its own, in the order of the file. */
#define FOR_EACH_KEYED(square, p, s) \
	for (unsigned int p = 1; p <= (square)->phases; p++) \
		for (unsigned int s = (square)->phase[p - 1].sessions ? 1 : 0; \
		     s <= (square)->phase[p - 1].sessions; s++)

char *dealbox_square_keys_print(const struct dealbox_square_keys *keys, size_t *size)
{
	size_t room = 1, used = 0;
	char *text;

	/* not a memory stream: that would leave copies of the keys where it grew */
	for (size_t k = 0; k < keys->count; k++)
		room += strlen(keys->key[k].text) + 32;
	text = malloc(room);
	if (!text)
		return NULL;
	text[0] = 0;
	for (size_t k = 0; k < keys->count; k++)
		used += (size_t)snprintf(text + used, room - used, "%u,%u:%s\r\n",
					 keys->key[k].phase, keys->key[k].session,
					 keys->key[k].text);
	*size = used;
	return text;
}

unsigned int dealbox_square_keys_short(const struct dealbox_square_keys *keys)
{
	unsigned int count = 0;

	for (size_t k = 0; k < keys->count; k++)
		count += strlen(keys->key[k].text) < KEY_SHORT;
	return count;
}

int dealbox_square_adopt(struct dealbox_square *square, const struct dealbox_square_keys *keys,
			 struct dealbox_error *error)
{
	size_t keyed = 0, size;
	char *text;
	int err = published_refuse(square, error);

	if (err)
		return err;
	if (!square->name || !square->info || !square->phases)
		return error_set(error, -EINVAL, 0,
				 "set its name, say which value will be mixed in, "
				 "and add its phases",
				 "the tournament is not complete");
	FOR_EACH_KEYED(square, p, s) {
		keyed++;
		if (!key_find(keys, p, s))
			return error_set(error, -EINVAL, 0, "do not use these files together",
					 "phase %u session %u has no key", p, s);
	}
	if (keyed != keys->count)
		return error_set(error, -EINVAL, 0, "do not use these files together",
				 "there are keys for sessions that the tournament does not have");
	text = dealbox_square_keys_print(keys, &size);
	if (!text)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	hash_hex(text, size, square->hash);
	wipe_free(text, size);
	return 0;
}

/* 60 characters of 62, each equally likely: about 357 bits. NULL = out of memory. */
static char *key_make(struct dealbox_random *random)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const unsigned int many = sizeof(letters) - 1;
	char *text = malloc(DEALBOX_SQUARE_KEY + 1);
	unsigned int length = 0;
	uint8_t byte;

	while (text && length < DEALBOX_SQUARE_KEY) {
		dealbox_random_bytes(random, &byte, 1);
		if (byte < 256 / many * many)
			text[length++] = letters[byte % many];
	}
	if (text)
		text[length] = 0;
	return text;
}

int dealbox_square_publish(struct dealbox_square *square, struct dealbox_random *random,
			   struct dealbox_square_keys **keys, struct dealbox_error *error)
{
	struct dealbox_square_keys *new = calloc(1, sizeof(*new));
	int err = new ? 0 : -ENOMEM;

	FOR_EACH_KEYED(square, p, s)
		if (!err)
			err = key_append(new, p, s, key_make(random));
	if (err)
		error_fill(error, err, 0, NULL, "out of memory");
	else
		err = dealbox_square_adopt(square, new, error);
	if (err) {
		dealbox_square_keys_free(new);
		return err;
	}
	*keys = new;
	return 0;
}

static int key_parse(struct dealbox_square_keys *keys, const struct line *line,
		     struct dealbox_error *error)
{
	char *text = malloc(line->size + 1);
	const char *at = text;
	unsigned int phase, session;
	int err = -EINVAL;

	if (!text)
		return error_set(error, -ENOMEM, line->number, NULL, "out of memory");
	memcpy(text, line->text, line->size);
	text[line->size] = 0;
	/* the line holds a secret: the fault describes the expected line, not the actual one */
	if (!number_take(&at, &phase) || *at++ != ',' || !number_take(&at, &session) ||
	    *at++ != ':' || !*at || strlen(text) != line->size || strpbrk(at, ": \t"))
		error_fill(error, err, line->number, "give the .sqk file, unchanged",
			   "this is not a line of keys (phase,session:key)");
	else if (key_find(keys, phase, session))
		error_fill(error, err, line->number, "do not use this file",
			   "phase %u session %u has two keys", phase, session);
	else
		err = key_append(keys, phase, session, strdup(at));
	if (err == -ENOMEM)
		error_fill(error, err, line->number, NULL, "out of memory");
	wipe_free(text, line->size);
	return err;
}

/*
 * Returns true if the text has the published hash, as it is or with repaired line ends and spaces.
 */
static int keys_check_hash(const void *data, size_t size, const char *published, bool *mended,
			   struct dealbox_error *error)
{
	static const char crlf[] = "\r\n";
	struct line line = lines_of(data, size);
	crypto_hash_sha256_state state;
	uint8_t hash[crypto_hash_sha256_BYTES];
	char found[DEALBOX_SQUARE_HASH + 1];

	*mended = false;
	hash_hex(data, size, found);
	if (!strcmp(found, published))
		return 0;
	*mended = true;
	crypto_hash_sha256_init(&state);
	while (line_next(&line)) {
		if (!line.size)
			continue;
		crypto_hash_sha256_update(&state, (const unsigned char *)line.text, line.size);
		crypto_hash_sha256_update(&state, (const unsigned char *)crlf, 2);
	}
	crypto_hash_sha256_final(&state, hash);
	sodium_memzero(&state, sizeof(state));
	sodium_bin2hex(found, sizeof(found), hash, sizeof(hash));
	if (!strcmp(found, published))
		return 0;
	return error_set(error, -EBADMSG, 0,
			 "get the .sqk again, as a file and not as text; if this stays, the "
			 "organiser has not published the keys that were promised",
			 "the keys have the hash %.16s..., the description promises %.16s..., and "
			 "it is not only the line ends", found, published);
}

int dealbox_square_keys_parse(const void *data, size_t size, const struct dealbox_square *square,
			      struct dealbox_square_keys **keys, bool *mended,
			      struct dealbox_error *error)
{
	struct dealbox_square_keys *new = calloc(1, sizeof(*new));
	struct line line = lines_of(data, size);
	bool repaired = false;
	int err = new ? 0 : error_set(error, -ENOMEM, 0, NULL, "out of memory");

	if (!err && square && !square->hash[0])
		err = error_set(error, -EPERM, 0, "get the .sqd that was published",
				"the description is not published: "
				"it has no hash (KH) of the keys");
	if (!err && square)
		err = keys_check_hash(data, size, square->hash, &repaired, error);
	while (!err && line_next(&line))
		if (line.size)
			err = key_parse(new, &line, error);
	if (!err && !new->count)
		err = error_set(error, -EINVAL, 0, "give the .sqk file",
				"there are no keys in the file");
	if (!err && square)
		FOR_EACH_KEYED(square, p, s)
			if (!err && !key_find(new, p, s))
				err = error_set(error, -EINVAL, 0,
						"do not use these files together",
						"phase %u session %u has no key", p, s);
	if (err) {
		dealbox_square_keys_free(new);
		return err;
	}
	if (mended)
		*mended = repaired;
	*keys = new;
	return 0;
}

/* -- sessions --------------------------------------------------------------- */

int dealbox_square_get_session(const struct dealbox_square *square, unsigned int phase,
			       unsigned int session, bool reserve, const char *boards,
			       struct dealbox_square_session *out, struct dealbox_error *error)
{
	const struct phase *p = phase_get(square, phase);
	unsigned int low, high;

	if (!p)
		return error_set(error, -ENOENT, 0, NULL,
				 "there is no phase %u: the tournament has %u", phase,
				 square->phases);
	if (!session || session > (p->sessions ? p->sessions : DEALBOX_SQUARE_SESSIONS))
		return error_set(error, -ENOENT, 0, NULL, "phase %u has no session %u", phase,
				 session);
	if (!strcmp(p->boards, "?")) {
		if (!boards)
			return error_set(error, -EINVAL, 0, "say which boards it has",
					 "the boards of phase %u were left open", phase);
	} else if (boards) {
		return error_set(error, -EINVAL, 0, "leave them out",
				 "the boards of phase %u were published: %s", phase, p->boards);
	} else {
		boards = p->boards;
	}
	if (!boards_range(boards, session, &low, &high))
		return error_set(error, -EINVAL, 0, "for example 16, 17-32, 1-8,9-16 or 3x7",
				 "'%.80s' is no range of boards", boards);
	memset(out, 0, sizeof(*out));
	out->phase = phase;
	out->session = session;
	out->reserve = reserve;
	out->low = low;
	out->high = high;
	session_fill(p->prefix, session, reserve ? "reserve" : "", out->file, sizeof(out->file));
	session_fill(p->description, session, reserve ? " (reserve)" : "", out->title,
		     sizeof(out->title));
	return 0;
}

/* Makes the entropy string of a session: *size bytes; NULL = out of memory */
static char *entropy_make(const char *key_half, const char *value, bool reserve,
			  unsigned int variable_session, size_t *size)
{
	const size_t encoded =
		sodium_base64_encoded_len(strlen(value), sodium_base64_VARIANT_ORIGINAL);
	const size_t room = strlen(key_half) + encoded + 32;
	char *entropy = malloc(room);
	size_t used;

	if (!entropy)
		return NULL;
	used = (size_t)snprintf(entropy, room, "%s", key_half);
	sodium_bin2base64(entropy + used, encoded, (const unsigned char *)value, strlen(value),
			  sodium_base64_VARIANT_ORIGINAL);
	used += encoded - 1;
	used += (size_t)snprintf(entropy + used, room - used, "%s",
				 reserve ? "reserve" : "original");
	if (variable_session)
		used += (size_t)snprintf(entropy + used, room - used, "ses%u", variable_session);
	*size = used;
	return entropy;
}

int dealbox_square_deal(const struct dealbox_square *square,
			const struct dealbox_square_keys *keys,
			const struct dealbox_square_session *session, struct dealbox_set *set,
			struct dealbox_error *error)
{
	const struct phase *p = phase_get(square, session->phase);
	const bool variable = p && !p->sessions;
	const struct key *key = key_find(keys, session->phase, variable ? 0 : session->session);
	struct dealbox_bigdeal *bigdeal = NULL;
	char *entropy;
	size_t half, size = 0;
	int err = 0;

	if (RESERVED_USED(session))
		return error_set(error, -EINVAL, 0, NULL,
				 "the reserved space of a session is not 0");
	if (!square->value)
		return error_set(error, -ENODATA, 0,
				 "put it into the description when it is known: "
				 "dealbox square value",
				 "the delayed value is missing (%s)", dealbox_square_info(square));
	if (!p || !key)
		return error_set(error, -ENOENT, 0, NULL, "phase %u session %u has no key",
				 session->phase, session->session);
	half = strlen(key->text) / 2;
	entropy = entropy_make(key->text + half, square->value, session->reserve,
			       variable ? session->session : 0, &size);
	if (!entropy || dealbox_bigdeal_new(key->text, half, entropy, size, &bigdeal))
		err = -ENOMEM;
	wipe_free(entropy, size);
	for (uint32_t number = session->low; !err && number <= session->high; number++) {
		struct dealbox_board board = DEALBOX_BOARD_INIT;

		board.number = number;
		board.dealer = (int8_t)dealbox_board_dealer(number);
		board.vulnerable = (int8_t)dealbox_board_vulnerable(number);
		err = dealbox_bigdeal_deal(bigdeal, &board.deal);
		if (!err)
			err = dealbox_set_add(set, &board);
		dealbox_deal_wipe(&board.deal);
	}
	dealbox_bigdeal_free(bigdeal);
	return err ?
		error_set(error, err, 0, NULL, "cannot make the deals: %s", strerror(-err)) : 0;
}
