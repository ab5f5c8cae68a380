// SPDX-License-Identifier: LGPL-2.1-or-later
/* One line of a record: docs/law-record.md has the grammar, verbs[] has the words. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cards/messages.h"
#include "error-internal.h"
#include "record.h"

#define TIME_MAX	(1000ULL * 1000 * 1000 * 1000)	/* ms, 31 years */
#define NUMBER_MAX	9999

static const char *const actor_names[] = {
	[DEALBOX_ACTOR_NORTH] = "N", [DEALBOX_ACTOR_EAST] = "E",
	[DEALBOX_ACTOR_SOUTH] = "S", [DEALBOX_ACTOR_WEST] = "W",
	[DEALBOX_ACTOR_DIRECTOR] = "director", [DEALBOX_ACTOR_ASSISTANT] = "assistant",
	[DEALBOX_ACTOR_MACHINE] = "machine", [DEALBOX_ACTOR_OTHER] = "other",
};

static const char *const place_names[DEALBOX_PLACES] = { "N", "E", "S", "W", "talon" };

static const char *const topic_names[LAW_TOPICS] = {
	[T_DUPLICATE_2007] = "duplicate-2007", [T_DUPLICATE_2017] = "duplicate-2017",
	[T_RUBBER] = "rubber", [T_PREFERANS] = "preferans",
	[T_PLAY] = "play", [T_REPLAY] = "replay",
	[T_THIS_SESSION] = "this-session", [T_OTHER_SESSION] = "other-session",
	[T_EXCHANGED] = "exchanged",
	[T_TALON_ANYWHERE] = "talon-anywhere", [T_REMISE] = "remise",
	[T_INTENT_NONE] = "none", [T_POSSIBLE] = "possible",
	[T_NO_CONFLICT] = "no-conflict", [T_CONFLICT] = "conflict",
	[T_CONTRACT] = "contract", [T_MISERE] = "misere", [T_ALL_PASS] = "all-pass",
	[T_FACEUP] = "faceup", [T_MISDEAL] = "misdeal", [T_TURN] = "turn", [T_UNCUT] = "uncut",
	[T_UNSHUFFLED] = "unshuffled", [T_SEEN] = "seen", [T_WRONG_HAND] = "wrong-hand",
	[T_DAMAGED] = "damaged", [T_NONCONFORMING] = "nonconforming",
	[T_SHORT_PACK] = "short-pack", [T_SHUFFLE] = "shuffle", [T_MANNER] = "manner",
	[T_OMITTED] = "omitted", [T_TWICE] = "twice", [T_COUNT] = "count", [T_OTHER] = "other",
	[T_CUT] = "cut", [T_REDEAL] = "redeal", [T_RESTORE_PACK] = "restore-pack",
	[T_AT_TABLE] = "at-table", [T_AGENTS] = "agents",
	[T_METHOD] = "method", [T_ABSENCE] = "absence", [T_COPIES] = "copies",
	[T_EXACT] = "exact", [T_DIFFERENT] = "different",
	[T_FOUND] = "found", [T_VAIN] = "vain", [T_MISSING] = "missing", [T_SURPLUS] = "surplus",
};

static const char *const flag_names[LAW_FLAGS] = {
	[F_FACEUP] = "faceup", [F_POORLY] = "poorly", [F_HIDDEN] = "hidden",
	[F_INCOMPLETE] = "incomplete", [F_SORTED] = "sorted", [F_PLAYED] = "played",
	[F_SILENT] = "silent", [F_INCOMPATIBLE] = "incompatible", [F_CLOSED] = "closed",
	[F_UNPLAYED] = "unplayed", [F_RIGHT] = "right", [F_ELSEWHERE] = "elsewhere",
	[F_RANDOM] = "random", [F_BIASED] = "biased", [F_REST] = "rest", [F_TRICK] = "trick",
	[F_DUMMY] = "dummy", [F_OTHER_PACK] = "other-pack", [F_IN_HAND] = "in-hand",
	[F_OLD_TRICK] = "old-trick", [F_OPEN] = "open",
};

enum key {
	K_PACK, K_FOR,			/* a name, a topic */
	K_OF,				/* a side */
	K_COMPLETED, K_FAULT, K_SEEN,	/* a seat */
	K_TIMES, K_CARDS, K_LEFT, K_EXPECTED,	/* a number */
	KEYS
};

static const struct {
	const char *name;
	uint8_t number;		/* which of number[] */
} keys[KEYS] = {
	[K_PACK] = { "pack" }, [K_FOR] = { "for" }, [K_OF] = { "of" },
	[K_COMPLETED] = { "completed" }, [K_FAULT] = { "fault" }, [K_SEEN] = { "seen" },
	[K_TIMES] = { "times", 0 }, [K_CARDS] = { "cards", 0 },
	[K_LEFT] = { "left", 1 }, [K_EXPECTED] = { "expected", 1 },
};

#define KEY(k)		(1u << (k))
#define TOPIC(t)	(1ULL << (t))

/* Actors */
#define A_SEATS		0x00f
#define A_PEOPLE	0x0bf	/* all but the machine */
#define A_ANY		0x0ff
#define A_DIRECTOR	(1u << DEALBOX_ACTOR_DIRECTOR)
#define A_NONE		(1u << DEALBOX_ACTOR_NONE)

enum extra { NO_EXTRA, PORTIONS, NAME, CALL, NUMBER, NUMBER_NEEDED };

struct verb {
	const char *name;
	uint16_t actors;		/* actors that may precede it */
	uint8_t least, most;		/* hands named after it */
	uint8_t extra;			/* enum extra */
	bool topic_needed;
	uint64_t topics;
	uint32_t flags;
	uint32_t keys;
};

#define ISSUES_NOTED	(TOPIC(T_FACEUP) | TOPIC(T_MISDEAL) | TOPIC(T_TURN) | TOPIC(T_UNCUT) | \
			 TOPIC(T_UNSHUFFLED) | TOPIC(T_SEEN) | TOPIC(T_WRONG_HAND) | \
			 TOPIC(T_DAMAGED) | TOPIC(T_NONCONFORMING) | TOPIC(T_SHORT_PACK) | \
			 TOPIC(T_SHUFFLE) | TOPIC(T_MANNER) | TOPIC(T_OMITTED) | TOPIC(T_TWICE) | \
			 TOPIC(T_COUNT) | TOPIC(T_OTHER))

static const struct verb verbs[LAW_VERBS] = {
	[V_RULES] = { "rules", A_NONE, .topic_needed = true,
		.topics = TOPIC(T_DUPLICATE_2007) | TOPIC(T_DUPLICATE_2017) | TOPIC(T_RUBBER) |
			  TOPIC(T_PREFERANS) },
	[V_RUBBER] = { "rubber", A_NONE },
	[V_PLAYERS] = { "players", A_NONE, .least = 3, .most = 4 },
	[V_PACK] = { "pack", A_NONE, .extra = NAME, .flags = FLAG(F_SORTED) | FLAG(F_PLAYED),
		.keys = KEY(K_OF) | KEY(K_CARDS) },
	[V_TURN] = { "turn", A_NONE, .most = 1, .keys = KEY(K_PACK) },
	[V_BOARD] = { "board", A_NONE, .extra = NUMBER, .keys = KEY(K_PACK) },
	[V_PURPOSE] = { "purpose", A_NONE, .topic_needed = true,
		.topics = TOPIC(T_PLAY) | TOPIC(T_REPLAY) },
	[V_ORIGIN] = { "origin", A_NONE, .topic_needed = true,
		.topics = TOPIC(T_THIS_SESSION) | TOPIC(T_OTHER_SESSION) | TOPIC(T_EXCHANGED),
		.flags = FLAG(F_UNPLAYED) },
	[V_CUSTOM] = { "custom", A_NONE, .extra = NUMBER, .topic_needed = true,
		.topics = TOPIC(T_TALON_ANYWHERE) | TOPIC(T_REMISE) },
	[V_INTENT] = { "intent", A_NONE, .topic_needed = true,
		.topics = TOPIC(T_INTENT_NONE) | TOPIC(T_POSSIBLE) },
	[V_INTERESTS] = { "interests", A_NONE, .topic_needed = true,
		.topics = TOPIC(T_NO_CONFLICT) | TOPIC(T_CONFLICT) },
	[V_PRESENT] = { "present", A_NONE, .most = 4 },

	[V_SHUFFLE] = { "shuffle", A_ANY, .flags = FLAG(F_FACEUP) | FLAG(F_POORLY) | FLAG(F_HIDDEN),
		.keys = KEY(K_PACK) | KEY(K_TIMES) },
	[V_PLACE] = { "place", A_ANY, .flags = FLAG(F_FACEUP) | FLAG(F_RIGHT) | FLAG(F_ELSEWHERE),
		.keys = KEY(K_PACK) },
	[V_DISTURB] = { "disturb", A_ANY, .keys = KEY(K_PACK) },
	[V_PICKUP] = { "pickup", A_ANY, .keys = KEY(K_PACK) },
	[V_CUT] = { "cut", A_ANY, .extra = PORTIONS, .flags = FLAG(F_FACEUP) | FLAG(F_INCOMPLETE),
		.keys = KEY(K_PACK) | KEY(K_COMPLETED) },
	[V_DEAL] = { "deal", A_ANY, .most = 1, .flags = FLAG(F_FACEUP) | FLAG(F_REST),
		.keys = KEY(K_CARDS) | KEY(K_LEFT) | KEY(K_FAULT) | KEY(K_SEEN) },
	[V_DEALT] = { "dealt", A_ANY | A_NONE },
	[V_RECTIFY] = { "rectify", A_ANY },
	[V_OBJECT] = { "object", A_SEATS },
	[V_REDEAL] = { "redeal", A_ANY, .keys = KEY(K_PACK) },
	[V_POCKET] = { "pocket", A_ANY, .least = 1, .most = 1, .flags = FLAG(F_FACEUP) },

	[V_TAKE] = { "take", A_PEOPLE, .most = 1 },
	[V_LOOK] = { "look", A_PEOPLE, .most = 1 },
	[V_SEE] = { "see", A_PEOPLE, .least = 1, .most = 1 },
	[V_SHOW] = { "show", A_SEATS },
	[V_MIX] = { "mix", A_NONE, .least = 2, .most = 4 },
	[V_COUNT] = { "count", A_ANY, .most = 1, .extra = NUMBER_NEEDED, .flags = FLAG(F_SILENT),
		.keys = KEY(K_EXPECTED) },
	[V_SEARCH] = { "search", A_NONE, .topic_needed = true,
		.topics = TOPIC(T_FOUND) | TOPIC(T_VAIN) },
	[V_FIND] = { "find", A_ANY, .least = 1, .most = 1, .topic_needed = true,
		.topics = TOPIC(T_MISSING) | TOPIC(T_SURPLUS),
		.flags = FLAG(F_TRICK) | FLAG(F_DUMMY) | FLAG(F_OTHER_PACK) | FLAG(F_ELSEWHERE) |
			 FLAG(F_IN_HAND) | FLAG(F_PLAYED) | FLAG(F_OLD_TRICK) },

	[V_AUCTION] = { "auction", A_NONE },
	[V_CALL] = { "call", A_SEATS, .extra = CALL },
	[V_BUY] = { "buy", A_SEATS },
	[V_GAME] = { "game", A_NONE, .topic_needed = true,
		.topics = TOPIC(T_CONTRACT) | TOPIC(T_MISERE) | TOPIC(T_ALL_PASS),
		.flags = FLAG(F_OPEN) | FLAG(F_CLOSED) },
	[V_PLAY] = { "play", A_SEATS },
	[V_OVER] = { "over", A_NONE },

	[V_NOTES] = { "notes", A_ANY, .most = 1, .topic_needed = true, .topics = ISSUES_NOTED,
		.keys = KEY(K_PACK) },
	[V_DEMAND] = { "demand", A_PEOPLE, .topic_needed = true,
		.topics = TOPIC(T_CUT) | TOPIC(T_SHUFFLE) | TOPIC(T_REDEAL) | TOPIC(T_RESTORE_PACK),
		.flags = FLAG(F_INCOMPATIBLE), .keys = KEY(K_PACK) | KEY(K_FOR) },
	[V_INSTRUCT] = { "instruct", A_DIRECTOR, .extra = NUMBER, .topic_needed = true,
		.topics = TOPIC(T_AT_TABLE) | TOPIC(T_AGENTS) | TOPIC(T_METHOD) |
			  TOPIC(T_ABSENCE) | TOPIC(T_COPIES),
		.flags = FLAG(F_RANDOM) | FLAG(F_BIASED) },
	[V_COPY] = { "copy", A_ANY, .extra = NUMBER, .topic_needed = true,
		.topics = TOPIC(T_EXACT) | TOPIC(T_DIFFERENT) },
};

/* Bids of preferans: tricks, and strain in its order; misere stands between 8NT and 9S. */
static const char strains[] = "SCDHN";
#define MISERE_LEVEL	8
#define MISERE_STRAIN	5

struct word {
	const char *text;
	size_t length;
};

static bool word_is(struct word word, const char *text)
{
	return word.length && *text == *word.text && strlen(text) == word.length &&
	       !memcmp(text, word.text, word.length);
}

static int word_find(struct word word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (names[i] && word_is(word, names[i]))
			return i;
	return -1;
}

/* Gets the next word from *at on; returns false at the end of the line or at a comment. */
static bool word_next(const char *line, size_t length, size_t *at, struct word *word)
{
	size_t i = *at;

	while (i < length && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
		i++;
	if (i == length || line[i] == '#')
		return false;
	word->text = line + i;
	while (i < length && line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
		i++;
	word->length = line + i - word->text;
	*at = i;
	return true;
}

/* The longest part of a word that an error message repeats; other than ASCII is left out. */
static void word_show(struct word word, char text[32])
{
	size_t n = 0;

	for (size_t i = 0; i < word.length && n < 28; i++)
		if (word.text[i] > 0x20 && word.text[i] < 0x7f)
			text[n++] = word.text[i];
	text[n] = 0;
}

/* Where an error goes, and its language. */
struct complaint {
	struct dealbox_error *where;
	const char *language;
};

__attribute__((format(printf, 2, 3)))
static int fail(const struct complaint *error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	error_vfill(error->where, -EINVAL, 0, NULL,
		    dealbox_law_translate(error->language, format), list);
	va_end(list);
	return -EINVAL;
}

__attribute__((format(printf, 3, 4)))
static void add(char *text, size_t size, const char *format, ...)
{
	size_t n = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + n, size - n, format, list);
	va_end(list);
}

/* Reports the words that may follow the verb; word is the actual one, NULL if there is none. */
static int fail_expect(const struct complaint *error, const struct verb *verb,
		       const struct word *word)
{
	char *text = error->where->what;
	const size_t size = sizeof(error->where->what);
	const char *sep = "";
	char shown[32];

	if (word) {
		word_show(*word, shown);
		fail(error, N_("\"%s\" cannot stand after %s; there may stand: "), shown,
		     verb->name);
	} else {
		fail(error, N_("a word is missing after %s: "), verb->name);
	}
	if (verb->most) {
		add(text, size, "N, E, S, W, talon");
		sep = ", ";
	}
	for (int t = 1; t < LAW_TOPICS; t++)
		if (verb->topics & TOPIC(t)) {
			add(text, size, "%s%s", sep, topic_names[t]);
			sep = ", ";
		}
	for (int f = 0; f < LAW_FLAGS; f++)
		if (verb->flags & FLAG(f)) {
			add(text, size, "%s%s", sep, flag_names[f]);
			sep = ", ";
		}
	for (int k = 0; k < KEYS; k++)
		if (verb->keys & KEY(k)) {
			add(text, size, "%s%s=", sep, keys[k].name);
			sep = ", ";
		}
	if (verb->extra == PORTIONS)
		add(text, size, "%s%s", sep,
		    dealbox_law_translate(error->language, N_("two portions such as 20/32")));
	else if (verb->extra == NUMBER || verb->extra == NUMBER_NEEDED)
		add(text, size, "%s%s", sep,
		    dealbox_law_translate(error->language, N_("a number")));
	else if (!*sep)
		add(text, size, "%s", dealbox_law_translate(error->language, N_("nothing")));
	return -EINVAL;
}

static bool number(const char *text, size_t length, int16_t *out)
{
	int value = 0;

	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + text[i] - '0';
		if (value > NUMBER_MAX)
			return false;
	}
	*out = value;
	return true;
}

static bool pack_name(struct word word, char out[DEALBOX_PACK_NAME])
{
	if (!word.length || word.length >= DEALBOX_PACK_NAME)
		return false;
	for (size_t i = 0; i < word.length; i++) {
		char c = word.text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || c == '-' || c == '_'))
			return false;
	}
	memcpy(out, word.text, word.length);
	out[word.length] = 0;
	return true;
}

/* Parses "6S", "10NT", "misere"; number is unchanged for a call that is not a bid. */
static void bid_parse(struct word word, int16_t number_out[2])
{
	const char *strain;
	size_t digits = 0;
	int16_t level;

	if (word_is(word, "misere")) {
		number_out[0] = MISERE_LEVEL;
		number_out[1] = MISERE_STRAIN;
		return;
	}
	while (digits < word.length && word.text[digits] >= '0' && word.text[digits] <= '9')
		digits++;
	if (word.length > 2 && word.text[word.length - 1] == 'T' &&
	    word.text[word.length - 2] == 'N')
		word.length--;
	if (word.length != digits + 1 || !number(word.text, digits, &level) || !level || level > 10)
		return;
	strain = memchr(strains, word.text[digits], sizeof(strains) - 1);
	if (!strain)
		return;
	number_out[0] = level;
	number_out[1] = (int16_t)(strain - strains);
}

/* "@12", "@12.5", "@12.345": seconds */
static bool time_parse(struct word word, uint64_t *ms)
{
	uint64_t value = 0, unit = 1000;
	bool point = false, digit = false;

	for (size_t i = 1; i < word.length; i++) {
		char c = word.text[i];

		if (c == '.' && !point && digit) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9' || (point && unit == 1) || value > TIME_MAX)
			return false;
		digit = true;
		if (point) {
			unit /= 10;
			value += (c - '0') * unit;
		} else {
			value = value * 10 + (uint64_t)(c - '0') * 1000;
		}
	}
	*ms = value;
	return digit && value <= TIME_MAX;
}

static int parse_key(const struct verb *verb, struct word word, size_t equals,
		     struct dealbox_happening *h, uint32_t *seen, const struct complaint *error)
{
	struct word name = { word.text, equals };
	struct word value = { word.text + equals + 1, word.length - equals - 1 };
	char shown[32];
	int k, n;

	for (k = 0; k < KEYS; k++)
		if (word_is(name, keys[k].name))
			break;
	if (k == KEYS || !(verb->keys & KEY(k)))
		return fail_expect(error, verb, &word);
	word_show(value, shown);
	if (*seen & KEY(k))
		return fail(error, N_("%s= stands twice"), keys[k].name);
	*seen |= KEY(k);
	switch (k) {
	case K_PACK:
		if (!pack_name(value, h->pack))
			return fail(error,
				    N_("pack=%s: the name of a pack is 1 to 15 letters and digits"),
				    shown);
		return 0;
	case K_FOR:
		n = word_find(value, topic_names, LAW_TOPICS);
		if (n < 0 || !(ISSUES_NOTED & TOPIC(n)))
			return fail(error,
				    N_("for=%s: after for= stands a word that "
				       "may stand after notes"), shown);
		h->about = n;
		return 0;
	case K_OF:
		if (!word_is(value, "NS") && !word_is(value, "EW"))
			return fail(error, N_("of=%s: a side is NS or EW"), shown);
		h->seat = word_is(value, "EW");
		return 0;
	case K_COMPLETED:
	case K_FAULT:
	case K_SEEN:
		n = word_find(value, place_names, 4);
		if (n < 0)
			return fail(error, N_("%s=%s: a seat is N, E, S or W"), keys[k].name,
				    shown);
		h->seat = n;
		return 0;
	default:
		if (!number(value.text, value.length, &h->number[keys[k].number]))
			return fail(error, N_("%s=%s: not a number from 0 to %d"), keys[k].name,
				    shown, NUMBER_MAX);
		return 0;
	}
}

static int parse_extra(const struct verb *verb, struct word word, struct dealbox_happening *h)
{
	const char *slash;

	switch (verb->extra) {
	case PORTIONS:
		slash = memchr(word.text, '/', word.length);
		return slash && number(word.text, slash - word.text, &h->number[0]) &&
			number(slash + 1, word.text + word.length - slash - 1, &h->number[1]);
	case NAME:
		return !*h->pack && pack_name(word, h->pack);
	case NUMBER:
	case NUMBER_NEEDED:
		return h->number[0] < 0 && number(word.text, word.length, &h->number[0]);
	default:
		return 0;
	}
}

static int parse_word(const struct verb *verb, struct word word, struct dealbox_happening *h,
		      uint32_t *seen, const struct complaint *error)
{
	const char *equals = memchr(word.text, '=', word.length);
	int n;

	if (equals)
		return parse_key(verb, word, equals - word.text, h, seen, error);
	n = word_find(word, place_names, DEALBOX_PLACES);
	if (n >= 0 && verb->most) {
		if (h->places & 1u << n)
			return fail(error, N_("%s stands twice"), place_names[n]);
		h->places |= 1u << n;
		return 0;
	}
	n = word_find(word, topic_names, LAW_TOPICS);
	if (n > 0 && verb->topics & TOPIC(n)) {
		if (h->topic)
			return fail(error, N_("%s and %s cannot stand together after %s"),
				    topic_names[h->topic], topic_names[n], verb->name);
		h->topic = n;
		return 0;
	}
	n = word_find(word, flag_names, LAW_FLAGS);
	if (n >= 0 && verb->flags & FLAG(n)) {
		h->flags |= FLAG(n);
		return 0;
	}
	if (parse_extra(verb, word, h))
		return 0;
	return fail_expect(error, verb, &word);
}

/* Flags of which at most one may follow a verb. */
static const struct {
	uint8_t verb;
	uint32_t flags;
} exclusive[] = {
	{ V_PACK, FLAG(F_SORTED) | FLAG(F_PLAYED) },
	{ V_PLACE, FLAG(F_RIGHT) | FLAG(F_ELSEWHERE) },
	{ V_FIND, FLAG(F_TRICK) | FLAG(F_DUMMY) | FLAG(F_OTHER_PACK) | FLAG(F_ELSEWHERE) },
	{ V_FIND, FLAG(F_IN_HAND) | FLAG(F_PLAYED) | FLAG(F_OLD_TRICK) },
	{ V_GAME, FLAG(F_OPEN) | FLAG(F_CLOSED) },
	{ V_INSTRUCT, FLAG(F_RANDOM) | FLAG(F_BIASED) },
};

/* Verbs whose flags or numbers depend on the topic. */
static const struct {
	uint8_t verb;
	uint64_t topics;
	uint32_t flags;
	bool number;
} narrowed[] = {
	{ V_CUSTOM, TOPIC(T_REMISE), 0, true },
	{ V_FIND, TOPIC(T_SURPLUS), ~0u, false },
	{ V_FIND, TOPIC(T_MISSING),
	  FLAG(F_TRICK) | FLAG(F_OLD_TRICK) | FLAG(F_OTHER_PACK) | FLAG(F_ELSEWHERE), false },
	{ V_GAME, TOPIC(T_ALL_PASS), FLAG(F_OPEN) | FLAG(F_CLOSED), false },
	{ V_DEMAND, TOPIC(T_REDEAL), FLAG(F_INCOMPATIBLE), false },
	{ V_INSTRUCT, TOPIC(T_METHOD), FLAG(F_RANDOM) | FLAG(F_BIASED), false },
	{ V_INSTRUCT, TOPIC(T_COPIES), 0, true },
	{ V_COPY, TOPIC(T_EXACT) | TOPIC(T_DIFFERENT), 0, true },
};

/* Words that are allowed alone, but not together. */
static int check_together(const struct verb *verb, const struct dealbox_happening *h,
			  const struct complaint *error)
{
	uint32_t flags = 0;
	bool narrow = false, numbered = false;

	for (size_t i = 0; i < sizeof(exclusive) / sizeof(exclusive[0]); i++) {
		uint32_t both = exclusive[i].verb == h->verb ? h->flags & exclusive[i].flags : 0;

		if (both & (both - 1))
			return fail(error, N_("%s and %s cannot stand together after %s"),
				    flag_names[__builtin_ctz(both)],
				    flag_names[__builtin_ctz(both & (both - 1))], verb->name);
	}
	for (size_t i = 0; i < sizeof(narrowed) / sizeof(narrowed[0]); i++) {
		narrow |= narrowed[i].verb == h->verb;
		if (narrowed[i].verb != h->verb || !(narrowed[i].topics & TOPIC(h->topic)))
			continue;
		flags |= narrowed[i].flags;
		numbered |= narrowed[i].number;
	}
	if (!narrow)
		return 0;
	if (h->flags & ~flags)
		return fail(error, N_("%s cannot stand after %s %s"),
			    flag_names[__builtin_ctz(h->flags & ~flags)], verb->name,
			    topic_names[h->topic]);
	if (h->number[0] >= 0 && !numbered)
		return fail(error, N_("a number cannot stand after %s %s"), verb->name,
			    topic_names[h->topic]);
	return 0;
}

static int check(const struct verb *verb, const struct dealbox_happening *h, uint32_t seen,
		 const struct complaint *error)
{
	unsigned int places = __builtin_popcount(h->places);
	int err = check_together(verb, h, error);

	if (err)
		return err;
	if (h->verb == V_CUT && h->flags & FLAG(F_INCOMPLETE) && seen & KEY(K_COMPLETED))
		return fail(error, N_("a cut that is incomplete has nobody who completed it"));
	if (h->flags & FLAG(F_INCOMPATIBLE) && h->actor != DEALBOX_ACTOR_DIRECTOR)
		return fail(error, N_("incompatible stands after director demand redeal only"));

	if (verb->topic_needed && !h->topic)
		return fail_expect(error, verb, NULL);
	if (places < verb->least)
		return fail(error, N_("a hand is missing after %s: N, E, S, W, talon"), verb->name);
	if (places > verb->most)
		return fail(error, N_("too many hands after %s"), verb->name);
	if (verb->extra == NUMBER_NEEDED && h->number[0] < 0)
		return fail(error, N_("after %s stands how many cards it was"), verb->name);
	if (h->verb == V_DEAL && !(h->flags & FLAG(F_REST)) == !places)
		return fail(error, N_("after deal stands one hand, or rest"));
	if (h->verb == V_DEAL && seen & KEY(K_SEEN) &&
	    (h->flags & FLAG(F_FACEUP) || seen & KEY(K_FAULT)))
		return fail(error, N_("seen= is for a card that does not lie face up"));
	if (h->verb == V_DEAL && seen & KEY(K_FAULT) && !(h->flags & FLAG(F_FACEUP)))
		return fail(error, N_("fault= is for a card that lies face up"));
	if (h->verb == V_DEAL && h->flags & FLAG(F_REST) &&
	    (h->flags & ~FLAG(F_REST) || h->seat < 4 || h->number[0] >= 0))
		return fail(error, N_("after deal rest only left= may stand"));
	if (h->verb == V_DEAL && !(h->flags & FLAG(F_REST)) && h->number[1] >= 0)
		return fail(error, N_("left= is for deal rest"));
	if (h->verb == V_FIND && h->topic == T_SURPLUS &&
	    !(h->flags & (FLAG(F_IN_HAND) | FLAG(F_PLAYED) | FLAG(F_OLD_TRICK))))
		return fail(error,
			    N_("a surplus card is in-hand, played or old-trick: say which"));
	if (h->verb == V_INSTRUCT && h->topic == T_METHOD &&
	    !(h->flags & (FLAG(F_RANDOM) | FLAG(F_BIASED))))
		return fail(error, N_("a method is random or biased: say which"));
	return 0;
}

int law_record_parse(const char *language, const char *line, size_t length,
		     struct dealbox_happening *out, struct dealbox_error *where)
{
	const struct complaint said = { where, language }, *error = &said;
	const struct verb *verb = NULL;
	struct word word;
	uint32_t seen = 0;
	char shown[32];
	size_t at = 0;
	int n;

	*out = (struct dealbox_happening){
		.actor = DEALBOX_ACTOR_NONE, .seat = 255, .number = { -1, -1 },
	};
	if (!word_next(line, length, &at, &word))
		return 0;
	if (word.text[0] == '@') {
		if (!time_parse(word, &out->time_ms))
			return fail(error, N_("after @ stand seconds, such as @12.5"));
		out->timed = 1;
		if (!word_next(line, length, &at, &word))
			return fail(error, N_("after the time stands what happened"));
	}
	n = word_find(word, actor_names, DEALBOX_ACTOR_NONE);
	if (n >= 0) {
		out->actor = n;
		if (!word_next(line, length, &at, &word))
			return fail(error, N_("after %s stands what was done"), actor_names[n]);
	}
	word_show(word, shown);
	for (n = 0; n < LAW_VERBS; n++)
		if (word_is(word, verbs[n].name))
			verb = &verbs[n];
	if (!verb)
		return fail(error, N_("\"%s\" is no word of a record"), shown);
	out->verb = verb - verbs;
	if (!(verb->actors & 1u << out->actor)) {
		if (out->actor == DEALBOX_ACTOR_NONE)
			return fail(error, N_("who? Before %s stands %s"), verb->name,
				    verb->actors == A_DIRECTOR ? "director" :
				    verb->actors == A_SEATS ? "N, E, S, W" :
				    "N, E, S, W, director, assistant, machine, other");
		if (verb->actors == A_NONE)
			return fail(error, N_("nobody stands before %s"), verb->name);
		return fail(error, N_("%s cannot stand before %s"), actor_names[out->actor],
			    verb->name);
	}
	n = 0;
	while (word_next(line, length, &at, &word)) {
		int err;

		if (verb->extra == CALL && !n++) {
			out->pass = word_is(word, "pass");
			bid_parse(word, out->number);
			continue;
		}
		err = parse_word(verb, word, out, &seen, error);
		if (err)
			return err;
	}
	if (verb->extra == CALL && !n)
		return fail(error, N_("after call stands the call: pass, 1H, X .."));
	n = check(verb, out, seen, error);
	return n ? n : 1;
}

int dealbox_record_parse(const char *line, size_t length, struct dealbox_happening *out,
			 struct dealbox_error *error)
{
	struct dealbox_error unheard;

	return law_record_parse(NULL, line, length, out, error ? error : &unheard);
}

size_t dealbox_record_format(const struct dealbox_happening *h, char *text, size_t size)
{
	char line[400] = "";
	const struct verb *verb;
	size_t n = sizeof(line);

	if (h->verb >= LAW_VERBS || h->topic >= LAW_TOPICS || h->about >= LAW_TOPICS)
		return snprintf(text, size, "%s", "");
	verb = &verbs[h->verb];
	if (h->timed)
		add(line, n, "@%llu.%03u ", (unsigned long long)(h->time_ms / 1000),
		    (unsigned int)(h->time_ms % 1000));
	if (h->actor < DEALBOX_ACTOR_NONE)
		add(line, n, "%s ", actor_names[h->actor]);
	add(line, n, "%s", verb->name);
	if (verb->extra == CALL && (h->pass || h->number[0] < 0))
		add(line, n, " %s", h->pass ? "pass" : "bid");
	else if (verb->extra == CALL && h->number[1] == MISERE_STRAIN)
		add(line, n, " misere");
	else if (verb->extra == CALL)
		add(line, n, " %d%c", h->number[0], h->number[1] < MISERE_STRAIN ?
		    strains[h->number[1] < 0 ? 0 : h->number[1]] : 'S');
	if (h->topic)
		add(line, n, " %s", topic_names[h->topic]);
	if (verb->extra == NAME && *h->pack)
		add(line, n, " %s", h->pack);
	for (int p = 0; p < DEALBOX_PLACES; p++)
		if (h->places & 1u << p)
			add(line, n, " %s", place_names[p]);
	if (verb->extra == PORTIONS && h->number[0] >= 0)
		add(line, n, " %d/%d", h->number[0], h->number[1]);
	if (verb->extra >= NUMBER && h->number[0] >= 0)
		add(line, n, " %d", h->number[0]);
	for (int f = 0; f < LAW_FLAGS; f++)
		if (h->flags & FLAG(f))
			add(line, n, " %s", flag_names[f]);
	for (int k = 0; k < KEYS; k++) {
		if (!(verb->keys & KEY(k)))
			continue;
		if (k == K_PACK && *h->pack)
			add(line, n, " pack=%s", h->pack);
		else if (k == K_FOR && h->about)
			add(line, n, " for=%s", topic_names[h->about]);
		else if (k == K_OF && h->seat < 2)
			add(line, n, " of=%s", h->seat ? "EW" : "NS");
		else if (k >= K_TIMES && h->number[keys[k].number] >= 0)
			add(line, n, " %s=%d", keys[k].name, h->number[keys[k].number]);
	}
	/*
	 * one seat field: in a deal line the player at fault for a face-up card, else the player
	 * who saw it
	 */
	if (h->seat < 4 && verb->keys & (KEY(K_COMPLETED) | KEY(K_FAULT)))
		add(line, n, " %s=%s", verb->keys & KEY(K_COMPLETED) ? "completed" :
		    h->flags & FLAG(F_FACEUP) ? "fault" : "seen", place_names[h->seat]);
	return snprintf(text, size, "%s", line);
}
