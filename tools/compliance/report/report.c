// SPDX-License-Identifier: LGPL-2.1-or-later
/* The form of a report, and its parts. */
#include "report.h"

#include <dealbox/card.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error-internal.h"

/* -- the form --------------------------------------------------------------- */

#define OBJECTS_MAX	20000	/* in a list */
#define NUMBERS_MAX	1000000

enum kind { TEXT, WORD, COUNT, CARD, NUMBER, FLAG, OBJECT, TEXTS, NUMBERS, OBJECTS };

static const char *const kind_names[] = {
	[TEXT] = "text", [WORD] = "a word", [COUNT] = "a count", [CARD] = "a card number",
	[NUMBER] = "a number", [FLAG] = "true or false", [OBJECT] = "an object",
	[TEXTS] = "a list of text", [NUMBERS] = "a list of numbers",
	[OBJECTS] = "a list of objects",
};

struct member {
	const char *key;
	enum kind kind;
	bool needed;
	const char *const *words;	/* of a WORD */
	const struct member *members;	/* of an object, or of each in a list */
	/* checks what the table cannot say; returns what is wrong, or NULL */
	const char *(*check)(struct json_object *object);
};

static const char *const results[] = {
	"ok", "fail", "warn", "not supported", "not run", "not testable", NULL
};
static const char *const judgements[] = { "shown", "not shown yet", "refuted", NULL };

static const char *gate_check(struct json_object *gate)
{
	return report_number(gate, "wrong") > report_number(gate, "cards") ?
		"more wrong cards than cards" : NULL;
}

static const char *endurance_check(struct json_object *endurance)
{
	return report_number(endurance, "wrong") > report_number(endurance, "boards") ?
		"more wrong boards than boards" : NULL;
}

static const char *limit_check(struct json_object *limit)
{
	return report_number(limit, "errors") > report_number(limit, "trials") ?
		"more errors than trials" : NULL;
}

static const struct member machine_members[] = {
	{ "address", TEXT }, { "serial", TEXT }, { "product", TEXT }, { "firmware", TEXT },
	{ "dialect", TEXT }, { "protocol", TEXT }, { "descriptor", TEXT }, { "kind", TEXT }, { 0 }
};
static const struct member host_members[] = {
	{ "system", TEXT }, { "kernel", TEXT }, { "module", TEXT }, { 0 }
};
static const struct member evidence_members[] = {
	{ "us", COUNT, true }, { "what", TEXT, true }, { 0 }
};
static const struct member test_members[] = {
	{ "group", TEXT, true }, { "test", TEXT, true }, { "result", WORD, true, results },
	{ "requirements", TEXTS }, { "failed", TEXTS }, { "why", TEXT }, { "seconds", NUMBER },
	{ "evidence", OBJECTS, .members = evidence_members }, { 0 }
};
static const struct member requirement_members[] = {
	{ "requirement", TEXT, true }, { "result", WORD, true, results }, { "tests", TEXTS },
	{ "why", TEXT }, { 0 }
};
static const struct member reading_members[] = {
	{ "reader", TEXT }, { "expected", CARD, true }, { "read", CARD, true },
	{ "count", COUNT, true }, { 0 }
};
static const struct member gate_members[] = {
	{ "gate", COUNT, true }, { "cards", COUNT, true }, { "wrong", COUNT, true },
	{ "feed_faults", COUNT }, { "latency_us", NUMBERS }, { 0 }
};
static const struct member time_members[] = {
	{ "control_ms", NUMBERS }, { "card_ms", NUMBERS }, { "board_ms", NUMBERS }, { 0 }
};
static const struct member endurance_members[] = {
	{ "boards", COUNT, true }, { "wrong", COUNT, true }, { 0 }
};
static const struct member measurement_members[] = {
	{ "readings", OBJECTS, .members = reading_members },
	{ "gates", OBJECTS, .members = gate_members, .check = gate_check },
	{ "times", OBJECT, .members = time_members },
	{ "endurance", OBJECT, .members = endurance_members, .check = endurance_check }, { 0 }
};
static const struct member limit_members[] = {
	{ "limit", TEXT, true }, { "what", TEXT, true }, { "errors", COUNT, true },
	{ "trials", COUNT, true }, { "low", NUMBER, true }, { "high", NUMBER, true },
	{ "allowed", NUMBER, true }, { "result", WORD, true, judgements }, { 0 }
};
static const struct member acceptance_members[] = {
	{ "profile", TEXT, true }, { "confidence", NUMBER, true },
	{ "limits", OBJECTS, true, .members = limit_members, .check = limit_check }, { 0 }
};
static const struct member report_members[] = {
	{ "dealbox-compliance", COUNT, true }, { "version", TEXT, true }, { "started", TEXT, true },
	{ "ended", TEXT }, { "complete", FLAG, true },
	{ "machine", OBJECT, true, NULL, machine_members },
	{ "host", OBJECT, .members = host_members }, { "profile", TEXT },
	{ "tests", OBJECTS, true, NULL, test_members },
	{ "requirements", OBJECTS, true, NULL, requirement_members },
	{ "measurements", OBJECT, .members = measurement_members },
	{ "acceptance", OBJECT, .members = acceptance_members },
	{ "signer", TEXT }, { "signature", TEXT }, { 0 }
};

static bool is_text(struct json_object *value)
{
	/* functions of C see what is before a zero only */
	return json_object_is_type(value, json_type_string) &&
	       !memchr(json_object_get_string(value), 0, (size_t)json_object_get_string_len(value));
}

static bool is_number(struct json_object *value)
{
	const enum json_type type = json_object_get_type(value);
	const double number = type == json_type_int || type == json_type_double ?
		json_object_get_double(value) : -1;

	return number >= 0 && number <= 1e15;
}

static bool is_count(struct json_object *value, int64_t most)
{
	return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0 &&
	       json_object_get_int64(value) <= most;
}

static bool is_card(struct json_object *value)
{
	return is_count(value, READING_CARDS - 1) ||
	       (is_count(value, 255) && json_object_get_int64(value) == 255);
}

static bool is_word(struct json_object *value, const char *const *words)
{
	while (is_text(value) && *words)
		if (!strcmp(json_object_get_string(value), *words++))
			return true;
	return false;
}

/* Lists are searched: a foreign file must not take for ever. */
static bool is_list(struct json_object *value, size_t most)
{
	return json_object_is_type(value, json_type_array) &&
	       json_object_array_length(value) <= most;
}

static bool all_are(struct json_object *list, bool (*is)(struct json_object *value))
{
	if (!is_list(list, NUMBERS_MAX))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (!is(json_object_array_get_idx(list, i)))
			return false;
	return true;
}

static bool kind_is(const struct member *member, struct json_object *value)
{
	switch (member->kind) {
	case TEXT:
		return is_text(value);
	case WORD:
		return is_word(value, member->words);
	case COUNT:
		return is_count(value, STATISTICS_COUNT_MAX);
	case CARD:
		return is_card(value);
	case NUMBER:
		return is_number(value);
	case FLAG:
		return json_object_is_type(value, json_type_boolean);
	case OBJECT:
		return json_object_is_type(value, json_type_object);
	case TEXTS:
		return all_are(value, is_text);
	case NUMBERS:
		return all_are(value, is_number);
	case OBJECTS:
		return is_list(value, OBJECTS_MAX);
	}
	return false;
}

static int wrong(struct dealbox_error *error, const char *where, const char *what,
		 const char *rather)
{
	return error_set(error, -EINVAL, 0, "get it again from who wrote it",
			 "this is no report of dealbox-compliance: %s %s%s", where, what, rather);
}

static int object_check(struct json_object *object, const struct member *owner, const char *where,
			struct dealbox_error *error);

static int member_check(struct json_object *object, const struct member *member, const char *where,
			struct dealbox_error *error)
{
	struct json_object *value, *item;
	char path[200];
	int err = 0;

	snprintf(path, sizeof(path), "%s%s%s", where, *where ? "." : "", member->key);
	if (!json_object_object_get_ex(object, member->key, &value))
		return member->needed ? wrong(error, path, "is missing", "") : 0;
	if (!kind_is(member, value))
		return wrong(error, path, "is not ", kind_names[member->kind]);
	if (member->kind == OBJECT)
		return object_check(value, member, path, error);
	if (member->kind == OBJECTS)
		report_each(item, value) {
			char at[240];

			snprintf(at, sizeof(at), "%s[%zu]", path, index_);
			err = object_check(item, member, at, error);
			if (err)
				return err;
		}
	return 0;
}

static int object_check(struct json_object *object, const struct member *owner, const char *where,
			struct dealbox_error *error)
{
	const char *what;
	int err;

	if (!json_object_is_type(object, json_type_object))
		return wrong(error, where, "is not an object", "");
	for (const struct member *member = owner->members; member->key; member++) {
		err = member_check(object, member, where, error);
		if (err)
			return err;
	}
	what = owner->check ? owner->check(object) : NULL;
	return what ? wrong(error, where, "has ", what) : 0;
}

int report_check(struct json_object *report, struct dealbox_error *error)
{
	static const struct member top = { .key = "", .members = report_members };
	int err = object_check(report, &top, "", error);

	if (!err && report_number(report, "dealbox-compliance") != 1)
		return error_set(error, -EINVAL, 0, "use a newer version of dealbox",
				 "the report has a form that is not known yet");
	return err;
}

int report_parse(const char *data, size_t size, struct json_object **report,
		 struct dealbox_error *error)
{
	struct json_tokener *tokener;
	struct json_object *new;
	int flags = JSON_TOKENER_VALIDATE_UTF8, err;
	size_t end;

	if (size > REPORT_SIZE_MAX)
		return error_set(error, -EINVAL, 0, "check that this is the right file",
				 "a report has no more than %u MB", REPORT_SIZE_MAX >> 20);
	tokener = json_tokener_new();
	if (!tokener)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	/* one line end may follow */
	size -= size && data[size - 1] == '\n';
	/* that of json-c 0.18 refuses every character beyond ASCII */
	if (json_c_version_num() < 18 << 8)
		flags |= JSON_TOKENER_STRICT;
	json_tokener_set_flags(tokener, flags);
	new = json_tokener_parse_ex(tokener, data, (int)size);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (!new || end != size) {
		json_object_put(new);
		return error_set(error, -EINVAL, 0, "get it again, as a file and not as text",
				 "this is no JSON: byte %zu cannot be understood", end + 1);
	}
	err = report_check(new, error);
	if (err)
		json_object_put(new);
	else
		*report = new;
	return err;
}

/* -- text ------------------------------------------------------------------- */

/* Returns the bytes of the UTF-8 character at text, 0 if it is none; *code is what it means. */
static size_t character(const unsigned char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char lead = *text;
	const size_t size = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 :
			    lead < 0xf8 ? 4 : 0;

	if (size < 2) {
		*code = lead;
		return size;
	}
	*code = lead & (0xffu >> (size + 1));
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	return *code < least[size] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ?
		0 : size;
}

/* Characters that XML forbids, or that change the direction of the text behind them */
static bool harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff ||
	       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

#define REPLACEMENT	"\xef\xbf\xbd"

static void put_text(FILE *out, const char *text, const char *markup)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t code;

	while (*at) {
		const size_t size = character(at, &code);

		if (!size || harmful(code))
			fputs(code == '\n' || code == '\t' ? " " : REPLACEMENT, out);
		else if (size == 1 && strchr(markup, (int)code))
			fprintf(out, "&#%u;", code);
		else
			fwrite(at, 1, size, out);
		at += size ? size : 1;
	}
}

void report_escape(FILE *out, const char *text)
{
	put_text(out, text, "<>&\"'");
}

void report_plain(FILE *out, const char *text)
{
	put_text(out, text, "");
}

static void string_clean(struct json_object *string)
{
	const char *text = json_object_get_string(string);
	const unsigned char *at = (const unsigned char *)text;
	char *clean = NULL;
	size_t length;
	uint32_t code;
	FILE *out;

	while (*at && character(at, &code))
		at += character(at, &code);
	if (!*at || !(out = open_memstream(&clean, &length)))
		return;
	at = (const unsigned char *)text;
	while (*at) {
		const size_t size = character(at, &code);

		if (size)
			fwrite(at, 1, size, out);
		else
			fputs(REPLACEMENT, out);
		at += size ? size : 1;
	}
	if (!fclose(out))
		json_object_set_string(string, clean);
	free(clean);
}

void report_clean(struct json_object *report)
{
	const enum json_type type = json_object_get_type(report);

	if (type == json_type_string)
		string_clean(report);
	if (type == json_type_array)
		for (size_t i = 0; i < json_object_array_length(report); i++)
			report_clean(json_object_array_get_idx(report, i));
	if (type == json_type_object) {
		json_object_object_foreach(report, key, value) {
			(void)key;
			report_clean(value);
		}
	}
}

char *report_print(struct json_object *report)
{
	const char *json = json_object_to_json_string_ext(report, JSON_C_TO_STRING_PLAIN |
							   JSON_C_TO_STRING_NOSLASHESCAPE);
	char *text = NULL;
	size_t length;
	FILE *out = json ? open_memstream(&text, &length) : NULL;

	if (!out)
		return NULL;
	/* these three stand in strings only */
	for (; *json; json++)
		if (*json == '<' || *json == '>' || *json == '&')
			fprintf(out, "\\u%04x", (unsigned int)*json);
		else
			putc(*json, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* -- parts ------------------------------------------------------------------ */

const char *report_text(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : "";
}

struct json_object *report_list(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

size_t report_length(struct json_object *list)
{
	return list ? json_object_array_length(list) : 0;
}

double report_number(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_double(value) : 0;
}

struct json_object *report_object(struct json_object *object, const char *outer, const char *inner)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, outer, &value) ||
	    (inner && !json_object_object_get_ex(value, inner, &value)))
		return NULL;
	return value;
}

static uint32_t add_most(uint64_t count, double more)
{
	count += (uint64_t)more;
	return count < STATISTICS_COUNT_MAX ? (uint32_t)count : STATISTICS_COUNT_MAX;
}

void report_readings(struct json_object *report, const char *reader, struct readings *readings)
{
	struct json_object *row, *rows = report_list(report_object(report, "measurements", NULL),
						     "readings");

	memset(readings, 0, sizeof(*readings));
	report_each(row, rows) {
		const unsigned int expected = (unsigned int)report_number(row, "expected");
		const unsigned int read = (unsigned int)report_number(row, "read");
		const double count = report_number(row, "count");
		uint32_t *cell;

		if (reader && strcmp(reader, report_text(row, "reader")))
			continue;
		if (expected < READING_CARDS) {
			cell = &readings->count[expected]
					       [read < READING_CARDS ? read : READING_NONE];
			*cell = add_most(*cell, count);
		}
		readings->unread.trials = add_most(readings->unread.trials, count);
		if (read >= READING_CARDS) {
			readings->unread.errors = add_most(readings->unread.errors, count);
			continue;
		}
		readings->misread.trials = add_most(readings->misread.trials, count);
		if (read != expected)
			readings->misread.errors = add_most(readings->misread.errors, count);
	}
}

static void values_add(struct json_object *list, double *values, size_t *count)
{
	struct json_object *value;

	report_each(value, list)
		values[(*count)++] = json_object_get_double(value);
}

double *report_values(struct json_object *report, const char *name, size_t *count)
{
	struct json_object *times = report_object(report, "measurements", "times");
	struct json_object *gates =
		report_list(report_object(report, "measurements", NULL), "gates");
	size_t most = report_length(report_list(times, name));
	struct json_object *gate;
	double *values;

	*count = 0;
	report_each(gate, gates)
		most += report_length(report_list(gate, name));
	values = most ? malloc(most * sizeof(*values)) : NULL;
	if (!values)
		return NULL;
	values_add(report_list(times, name), values, count);
	report_each(gate, gates)
		values_add(report_list(gate, name), values, count);
	statistics_sort(values, *count);
	return values;
}

struct share report_gates(struct json_object *report, int gate, const char *key)
{
	struct json_object *row, *rows = report_list(report_object(report, "measurements", NULL),
						     "gates");
	/* a card that was not fed is not among the cards of its gate */
	const bool fed = strcmp(key, "feed_faults");
	struct share share = { 0, 0 };

	report_each(row, rows) {
		const double errors = report_number(row, key);

		if (gate >= 0 && gate != (int)report_number(row, "gate"))
			continue;
		share.trials =
			add_most(share.trials, report_number(row, "cards") + (fed ? 0 : errors));
		share.errors = add_most(share.errors, errors);
	}
	return share;
}

struct share report_endurance(struct json_object *report)
{
	struct json_object *endurance = report_object(report, "measurements", "endurance");

	return (struct share){ (uint64_t)report_number(endurance, "wrong"),
			       (uint64_t)report_number(endurance, "boards") };
}

struct share report_misread(struct json_object *report)
{
	struct readings readings;

	report_readings(report, NULL, &readings);
	return readings.misread;
}

struct share report_unread(struct json_object *report)
{
	struct readings readings;

	report_readings(report, NULL, &readings);
	return readings.unread;
}

struct share report_wrong_pocket(struct json_object *report)
{
	return report_gates(report, -1, "wrong");
}

struct share report_feed_fault(struct json_object *report)
{
	return report_gates(report, -1, "feed_faults");
}

unsigned int report_count(struct json_object *list, const char *result)
{
	struct json_object *row;
	unsigned int count = 0;

	report_each(row, list)
		count += !strcmp(report_text(row, "result"), result);
	return count;
}

double report_confidence(struct json_object *report)
{
	const double named = report_number(report_object(report, "acceptance", NULL), "confidence");

	return named > 0 && named < 1 ? named : 0.95;
}

struct share report_card_errors(const struct readings *readings, unsigned int card)
{
	struct share share = { 0, 0 };

	for (unsigned int j = 0; j < READING_CARDS; j++) {
		share.trials += readings->count[card][j];
		share.errors += j == card ? 0 : readings->count[card][j];
	}
	share.trials = share.trials < STATISTICS_COUNT_MAX ? share.trials : STATISTICS_COUNT_MAX;
	share.errors = share.errors < share.trials ? share.errors : share.trials;
	return share;
}

const char *report_card_name(unsigned int card)
{
	return card == READING_NONE ? "not read" : dealbox_card_name(card);
}

bool report_first_of_reader(struct json_object *rows, size_t index)
{
	const char *reader = report_text(json_object_array_get_idx(rows, index), "reader");

	while (index--)
		if (!strcmp(report_text(json_object_array_get_idx(rows, index), "reader"), reader))
			return false;
	return true;
}

const struct report_fact report_facts[REPORT_FACTS] = {
	{ "machine", "product", "Machine" }, { "machine", "serial", "Serial number" },
	{ "machine", "firmware", "Firmware" }, { "machine", "protocol", "Protocol" },
	{ "machine", "dialect", "Dialect" }, { "machine", "kind", "Kind" },
	{ "machine", "address", "Address" }, { "machine", "descriptor", "Machine descriptor" },
	{ "host", "system", "Computer" }, { "host", "kernel", "Kernel" },
	{ "host", "module", "Module" }, { NULL, "version", "dealbox-compliance" },
	{ NULL, "profile", "Profile" }, { NULL, "started", "Started" },
	{ NULL, "ended", "Ended" }, { NULL, "signer", "Signed by" },
};

const struct report_distribution report_distributions[REPORT_DISTRIBUTIONS] = {
	{ "control_ms", "Control transfers", "ms" },
	{ "card_ms", "Time for a card", "ms" },
	{ "board_ms", "Time for a board", "ms" },
	{ "latency_us", "Gate latency", "us" },
};
