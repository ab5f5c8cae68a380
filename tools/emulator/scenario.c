/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "frame.h"
#include "pile.h"
#include "scenario.h"
#include "wire.h"

#define WORDS_MAX	32
#define LINE_LENGTH_MAX	8192
#define ANY		UINT32_MAX

struct rule {
	enum hook hook;
	uint32_t name, insertion, deal, position, card, pocket;	/* ANY matches all */
	uint32_t nth, times, every;	/* times ANY = no limit; every 0 = each match */
	uint32_t seen;
	struct effect effect;
};

struct scenario {
	struct rule *rules;
	size_t count;
};

struct name {
	const char *name;
	uint32_t value;
};

static const struct name hooks[] = {
	{ "feed", HOOK_FEED }, { "read", HOOK_READ }, { "gate", HOOK_GATE },
	{ "land", HOOK_LAND }, { "event", HOOK_EVENT }, { "request", HOOK_REQUEST },
	{ "descriptor", HOOK_DESCRIPTOR }, { "standard", HOOK_STANDARD },
	{ "plan", HOOK_PLAN }, { "route", HOOK_ROUTE }, { "transfer", HOOK_TRANSFER },
	{ "stream", HOOK_STREAM }, { "frame", HOOK_FRAME }, { "submit", HOOK_SUBMIT },
	{ "cancel", HOOK_CANCEL }, { NULL }
};

static const struct name requests[] = {
	{ "GET_INFO", WIRE_GET_INFO }, { "GET_STATUS", WIRE_GET_STATUS },
	{ "GET_RESULT", WIRE_GET_RESULT }, { "GET_COUNTERS", WIRE_GET_COUNTERS },
	{ "GET_PARAM", WIRE_GET_PARAM }, { "GET_IDENTITY", WIRE_GET_IDENTITY },
	{ "GET_STATEMENT", WIRE_GET_STATEMENT }, { "GET_SIGNATURE", WIRE_GET_SIGNATURE },
	{ "SET_PARAM", WIRE_SET_PARAM },
	{ "LOAD", WIRE_LOAD }, { "START", DEALBOX_OP_START }, { "PAUSE", DEALBOX_OP_PAUSE },
	{ "RESUME", DEALBOX_OP_RESUME }, { "REREAD", DEALBOX_OP_REREAD },
	{ "ABORT", DEALBOX_OP_ABORT }, { "CLEAR_FAULT", DEALBOX_OP_CLEAR_FAULT },
	{ "RELEASE_BOARD", DEALBOX_OP_RELEASE_BOARD }, { "TEST_DEAL", DEALBOX_OP_TEST_DEAL },
	{ "LOCATE", DEALBOX_OP_LOCATE }, { "ATTEST", WIRE_ATTEST }, { NULL }
};

static const struct name descriptors[] = {
	{ "device", 1 }, { "config", 2 }, { "string", 3 }, { "qualifier", 6 }, { "bos", 15 },
	{ NULL }
};

static const struct name standards[] = {
	{ "GET_STATUS", 0 }, { "CLEAR_FEATURE", 1 }, { "SET_FEATURE", 3 },
	{ "SET_CONFIGURATION", 9 }, { "SET_INTERFACE", 11 }, { NULL }
};

static const struct name frames[] = {
	{ "ANSWER", FRAME_ANSWER }, { "EVENT", FRAME_EVENT }, { NULL }
};

#define EVENT(name)	{ #name, DEALBOX_EV_##name }
static const struct name events[] = {
	EVENT(STATE_LOST), EVENT(HOPPER_LOADED), EVENT(HOPPER_EMPTY), EVENT(BOARD_INSERTED),
	EVENT(BOARD_REMOVED), EVENT(COVER_OPEN), EVENT(COVER_CLOSED), EVENT(KEY),
	EVENT(PLAN_LOADED), EVENT(DEAL_STARTED), EVENT(CARD_READ), EVENT(CARD_ROUTED),
	EVENT(CARD_LANDED), EVENT(DEAL_DONE), EVENT(PAUSED), EVENT(RESUMED), EVENT(ABORTED),
	EVENT(FAULT_CLEARED), EVENT(CARD_UNREADABLE), EVENT(NOT_IN_PLAN), EVENT(GATE_LATE),
	EVENT(FEED_TIMEOUT), EVENT(DECK_SHORT), EVENT(REPEATED_CARD), EVENT(DOUBLE_FEED),
	EVENT(JAM), EVENT(WRONG_POCKET), EVENT(BOARD_PULLED), EVENT(COVER_OPENED),
	EVENT(HARDWARE), EVENT(ATTESTED), { NULL }
};

#define ERROR(name)	{ #name, DEALBOX_ERR_##name }
static const struct name errors[] = {
	ERROR(BAD_REQUEST), ERROR(BAD_LENGTH), ERROR(BAD_VALUE), ERROR(UNSUPPORTED),
	ERROR(STATE), ERROR(FAULT), ERROR(NO_PLAN), ERROR(WRONG_PLAN), ERROR(NO_BOARD),
	ERROR(WRONG_INSERTION), ERROR(SPENT), ERROR(IN_DOUBT), ERROR(COVER_OPEN),
	ERROR(HOPPER_EMPTY), ERROR(CRC), ERROR(PLAN), ERROR(INCOMPLETE), ERROR(HARDWARE),
	{ NULL }
};

/* status that a host controller reports */
static const struct name statuses[] = {
	{ "EPROTO", EPROTO }, { "EILSEQ", EILSEQ }, { "ETIME", ETIME },
	{ "EOVERFLOW", EOVERFLOW }, { "EPIPE", EPIPE }, { "ECOMM", ECOMM },
	{ "ENOSR", ENOSR }, { "EREMOTEIO", EREMOTEIO }, { NULL }
};

static const struct name places[] = {
	{ "feeder", DEALBOX_JAM_FEEDER }, { "reader", DEALBOX_JAM_READER },
	{ "gate", DEALBOX_JAM_GATE }, { "pocket", DEALBOX_JAM_POCKET }, { NULL }
};

static const struct name keys[] = {
	{ "start", DEALBOX_KEY_START }, { "stop", DEALBOX_KEY_STOP },
	{ "release", DEALBOX_KEY_RELEASE }, { NULL }
};

static const struct name covers[] = { { "open", 1 }, { "close", 0 }, { NULL } };
static const struct name lasting[] = { { "lasting", 1 }, { NULL } };

#define AT(hook)	(1u << HOOK_##hook)
#define AT_ANSWERS	(AT(REQUEST) | AT(DESCRIPTOR) | AT(STANDARD) | AT(TRANSFER))
#define AT_TRANSFERS	(AT_ANSWERS | AT(PLAN) | AT(ROUTE) | AT(STREAM))
#define AT_ANY		((1u << HOOK_COUNT) - 1)

/*
 * args: a letter for each word after the action; words with capital letters are optional.
 * c card, p pocket, q quality, n number, t ms, j place of a jam, s status, k key, o open or close,
 * e error, x hex bytes, f offset, l "lasting".
 */
static const struct verb {
	const char *name;
	enum action action;
	unsigned int at;	/* possible hooks; the lowest is the default */
	const char *args;
} verbs[] = {
	{ "feed-timeout", ACTION_FEED_TIMEOUT, AT(FEED), "" },
	{ "double-feed", ACTION_DOUBLE_FEED, AT(FEED), "" },
	{ "missing", ACTION_MISSING, AT(FEED), "" },
	{ "extra", ACTION_EXTRA, AT(FEED), "c" },
	{ "repeat", ACTION_REPEAT, AT(FEED), "" },
	{ "face-up", ACTION_FACE_UP, AT(FEED), "" },
	{ "misread", ACTION_MISREAD, AT(READ), "C" },
	{ "unreadable", ACTION_UNREADABLE, AT(READ), "" },
	{ "quality", ACTION_QUALITY, AT(READ), "q" },
	{ "wrong-pocket", ACTION_WRONG_POCKET, AT(GATE), "P" },
	{ "jam", ACTION_JAM, AT(FEED) | AT(READ) | AT(GATE) | AT(LAND), "j" },
	{ "drop", ACTION_DROP, AT(EVENT) | AT(FRAME), "" },
	{ "duplicate", ACTION_DUPLICATE, AT(EVENT) | AT(FRAME), "" },
	{ "unknown", ACTION_UNKNOWN, AT(EVENT), "" },
	{ "flood", ACTION_FLOOD, AT(EVENT), "n" },
	{ "set", ACTION_SET, AT(EVENT) | AT(FRAME) | AT_ANSWERS, "fx" },
	{ "delay", ACTION_DELAY, AT(EVENT) | AT_TRANSFERS, "t" },
	{ "stall", ACTION_STALL, AT_TRANSFERS, "" },
	{ "ignore", ACTION_IGNORE, AT_TRANSFERS, "" },
	{ "no-answer", ACTION_NO_ANSWER, AT_TRANSFERS, "" },
	{ "status", ACTION_STATUS, AT_TRANSFERS, "s" },
	{ "short", ACTION_SHORT, AT_TRANSFERS | AT(FRAME), "n" },
	{ "long", ACTION_LONG, AT_ANSWERS | AT(FRAME), "n" },
	{ "bytes", ACTION_BYTES, AT_ANSWERS | AT(FRAME), "X" },
	{ "refuse", ACTION_REFUSE, AT(REQUEST) | AT(PLAN), "eN" },
	{ "bad-sum", ACTION_BAD_SUM, AT(FRAME), "" },
	{ "swap", ACTION_SWAP, AT(FRAME), "" },
	{ "pull", ACTION_PULL, AT_ANY, "" },
	{ "cover", ACTION_COVER, AT_ANY, "o" },
	{ "key", ACTION_KEY, AT_ANY, "k" },
	{ "hardware", ACTION_HARDWARE, AT_ANY, "nL" },
	{ "reset", ACTION_RESET, AT_ANY, "" },
	{ "unplug", ACTION_UNPLUG, AT_ANY, "T" },
	{ "power-cycle", ACTION_POWER_CYCLE, AT_ANY, "T" },
	{ "freeze", ACTION_FREEZE, AT_ANY, "" },
	{ "thaw", ACTION_THAW, AT_ANY, "" },
};

struct scenario *scenario_new(void)
{
	return calloc(1, sizeof(struct scenario));
}

void scenario_free(struct scenario *scenario)
{
	if (!scenario)
		return;
	free(scenario->rules);
	free(scenario);
}

/* --- reading ---------------------------------------------------------------------- */

struct parser {
	const char *name;
	unsigned int line;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 2, 3)))
static bool wrong(struct parser *p, const char *format, ...)
{
	va_list args;
	int length = snprintf(p->error, p->error_size, "%s:%u: ", p->name, p->line);

	if (length < 0 || (size_t)length >= p->error_size)
		return false;
	va_start(args, format);
	vsnprintf(p->error + length, p->error_size - length, format, args);
	va_end(args);
	return false;
}

static bool number_of(const char *word, uint32_t *value)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	number = strtoul(word, &end, 0);
	if (errno || *end || number >= UINT32_MAX)
		return false;
	*value = number;
	return true;
}

/* Parse a name of the table, or a number up to max. */
static bool name_of(const struct name *names, const char *word, uint32_t max, uint32_t *value)
{
	for (; names->name; names++) {
		if (!strcasecmp(names->name, word)) {
			*value = names->value;
			return true;
		}
	}
	return number_of(word, value) && *value <= max;
}

static bool hex_of(const char *word, struct effect *effect)
{
	size_t length = strlen(word), i;

	if (length % 2 || length / 2 > sizeof(effect->bytes))
		return false;
	for (i = 0; i < length; i++) {
		int digit = tolower((unsigned char)word[i]);

		if (!isxdigit(digit))
			return false;
		digit = digit <= '9' ? digit - '0' : digit - 'a' + 10;
		effect->bytes[i / 2] = i % 2 ? effect->bytes[i / 2] | digit : digit << 4;
	}
	effect->length = length / 2;
	return true;
}

/* Parse a word after an action by the letter of its kind. */
static bool argument(char kind, const char *word, struct effect *effect, uint32_t *value)
{
	static const struct name none[] = { { NULL } };
	int card;

	switch (tolower(kind)) {
	case 'c':
		card = card_parse(word);
		*value = card;
		return card >= 0;
	case 'p':
		return name_of(none, word, DEALBOX_MAX_POCKETS - 1, value);
	case 'q':
		return name_of(none, word, 100, value);
	case 'n':
		return number_of(word, value);
	case 't':
		return name_of(none, word, 3600000, value);
	case 'f':
		return name_of(none, word, EFFECT_BYTES_MAX - 1, value);
	case 'j':
		return name_of(places, word, 0, value);
	case 's':
		return name_of(statuses, word, 0, value);
	case 'k':
		return name_of(keys, word, UINT32_MAX, value);
	case 'o':
		return name_of(covers, word, 0, value) && (*value || !strcasecmp(word, "close"));
	case 'e':
		return name_of(errors, word, 255, value) && *value;
	case 'l':
		return name_of(lasting, word, 0, value) && *value;
	case 'x':
		return hex_of(word, effect);
	default:
		return false;
	}
}

static const char *argument_text(char kind)
{
	static const struct { char kind; const char *text; } texts[] = {
		{ 'c', "a card such as SA, h10 or joker1" }, { 'p', "a pocket 0..7" },
		{ 'q', "a quality 0..100" }, { 'n', "a number" },
		{ 't', "a time in ms, at most 3600000" }, { 'f', "an offset 0..1023" },
		{ 'j', "feeder, reader, gate or pocket" },
		{ 's', "EPROTO, EILSEQ, ETIME, EOVERFLOW, EPIPE, ECOMM, ENOSR or EREMOTEIO" },
		{ 'k', "start, stop, release or a number" }, { 'o', "open or close" },
		{ 'e', "an error of the protocol, by name or number" }, { 'l', "\"lasting\"" },
		{ 'x', "bytes in hex, at most 1024" },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].kind == tolower(kind))
			return texts[i].text;
	return "nothing";
}

/* Split at blanks. Returns the number of words, or -1 if there are too many. */
static int split(char *text, char **words)
{
	char *state = NULL, *word;
	int count = 0;

	for (word = strtok_r(text, " \t\r", &state); word; word = strtok_r(NULL, " \t\r", &state)) {
		if (count == WORDS_MAX)
			return -1;
		words[count++] = word;
	}
	return count;
}

static bool parse_hook(struct parser *p, char **words, int count, int *used, uint32_t *hook,
		       uint32_t *name)
{
	const struct name *names = NULL;

	if (count < 2 || !name_of(hooks, words[1], 0, hook) || isdigit((unsigned char)*words[1]))
		return wrong(p, "\"on\" needs one of feed, read, gate, land, event, request, "
				"descriptor, standard, plan, route, transfer, stream, frame, "
				"submit, cancel");
	*used = 2;
	if (*hook == HOOK_EVENT)
		names = events;
	else if (*hook == HOOK_REQUEST)
		names = requests;
	else if (*hook == HOOK_DESCRIPTOR)
		names = descriptors;
	else if (*hook == HOOK_STANDARD)
		names = standards;
	else if (*hook == HOOK_FRAME)
		names = frames;
	/* The name is optional: without it, any matches. */
	if (names && count > 2 && name_of(names, words[2], 255, name))
		*used = 3;
	return true;
}

static bool parse_conditions(struct parser *p, char **words, int count, struct rule *rule,
			     bool *hooked)
{
	struct { const char *name; uint32_t *value; uint32_t min, max; } numbers[] = {
		{ "insertion", &rule->insertion, 1, UINT32_MAX - 1 },
		{ "deal", &rule->deal, 1, UINT32_MAX - 1 },
		{ "position", &rule->position, 0, 254 },
		{ "pocket", &rule->pocket, 0, DEALBOX_MAX_POCKETS - 1 },
		{ "nth", &rule->nth, 1, UINT32_MAX - 1 },
		{ "times", &rule->times, 1, UINT32_MAX - 1 },
		{ "every", &rule->every, 1, UINT32_MAX - 1 },
	};
	int i = 0;

	while (i < count) {
		uint32_t hook = 0;
		size_t n;
		int used = 0;

		if (!strcasecmp(words[i], "on")) {
			if (!parse_hook(p, words + i, count - i, &used, &hook, &rule->name))
				return false;
			rule->hook = hook;
			*hooked = true;
			i += used;
			continue;
		}
		if (!strcasecmp(words[i], "always")) {
			rule->times = ANY;
			i++;
			continue;
		}
		if (!strcasecmp(words[i], "card")) {
			int card = i + 1 < count ? card_parse(words[i + 1]) : -1;

			if (card < 0)
				return wrong(p, "\"card\" needs %s", argument_text('c'));
			rule->card = card;
			i += 2;
			continue;
		}
		for (n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
			if (!strcasecmp(words[i], numbers[n].name))
				break;
		if (n == sizeof(numbers) / sizeof(*numbers))
			return wrong(p, "\"%.40s\" is no condition; there are on, insertion, deal, "
					"position, card, pocket, nth, times, every, always",
				     words[i]);
		if (i + 1 == count || !number_of(words[i + 1], numbers[n].value) ||
		    *numbers[n].value < numbers[n].min || *numbers[n].value > numbers[n].max)
			return wrong(p, "\"%s\" needs a number from %u to %u", numbers[n].name,
				     numbers[n].min, numbers[n].max);
		i += 2;
	}
	if (!rule->nth)
		rule->nth = rule->every ? rule->every : 1;
	if (rule->every && rule->times == 1)
		rule->times = ANY;
	return true;
}

static enum hook first_hook(unsigned int at)
{
	enum hook hook = HOOK_FEED;

	while (!(at & 1u << hook))
		hook++;
	return hook;
}

static bool parse_action(struct parser *p, char **words, int count, struct rule *rule, bool hooked)
{
	static const enum hook jam_hooks[] = {
		[DEALBOX_JAM_FEEDER] = HOOK_FEED, [DEALBOX_JAM_READER] = HOOK_READ,
		[DEALBOX_JAM_GATE] = HOOK_GATE, [DEALBOX_JAM_POCKET] = HOOK_LAND,
	};
	struct effect *effect = &rule->effect;
	const struct verb *verb = NULL;
	unsigned int at, value = 0;
	const char *arg;
	size_t i;
	int word = 1;

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs) && count; i++)
		if (!strcasecmp(words[0], verbs[i].name))
			verb = &verbs[i];
	if (!verb)
		return wrong(p, "\"%.40s\" is no action; dealbox-emulator --help lists them",
			     count ? words[0] : "");
	effect->action = verb->action;
	effect->value[0] = EFFECT_NONE;
	effect->value[1] = EFFECT_NONE;
	for (arg = verb->args; *arg; arg++) {
		bool bytes = tolower(*arg) == 'x';
		uint32_t number = 0;

		if (word == count && (isupper((unsigned char)*arg)))
			break;
		if (word == count || !argument(*arg, words[word], effect, &number))
			return wrong(p, "\"%s\" needs %s", verb->name, argument_text(*arg));
		if (!bytes)
			effect->value[value++] = number;
		word++;
	}
	if (word != count)
		return wrong(p, "\"%.40s\" is too much behind \"%s\"", words[word], verb->name);
	at = verb->at;
	if (verb->action == ACTION_JAM)
		at = 1u << jam_hooks[effect->value[0]];
	if (!hooked && (at & AT(REQUEST)) && at != AT_ANY)
		return wrong(p, "\"%s\" needs \"on\" and what it is to happen to", verb->name);
	if (!hooked)
		rule->hook = first_hook(at);
	if (verb->action == ACTION_SET && rule->hook == HOOK_EVENT &&
	    effect->value[0] + effect->length > WIRE_EVENT_SIZE)
		return wrong(p, "\"set\" goes beyond the 32 bytes of an event");
	if (!(at & 1u << rule->hook))
		return wrong(p, "\"%s\" cannot happen on \"%s\"", verb->name,
			     hooks[rule->hook].name);
	return true;
}

/* Parse a line, ignoring its comment. Sets *empty if there is nothing else. */
static bool parse_line(struct parser *p, char *line, struct rule *rule, bool *empty)
{
	char *words[WORDS_MAX], *action, *comment = strchr(line, '#');
	bool hooked = false;
	int count;

	if (comment)
		*comment = '\0';
	*empty = !line[strspn(line, " \t\r")];
	if (*empty)
		return true;
	*rule = (struct rule){
		.name = ANY, .insertion = ANY, .deal = ANY, .position = ANY, .card = ANY,
		.pocket = ANY, .times = 1,
	};
	action = strchr(line, ':');
	if (!action)
		return wrong(p, "a rule is \"CONDITIONS: ACTION\"; the colon is missing");
	*action++ = '\0';
	count = split(line, words);
	if (count < 0)
		return wrong(p, "too many words");
	if (!parse_conditions(p, words, count, rule, &hooked))
		return false;
	count = split(action, words);
	if (count < 0)
		return wrong(p, "too many words");
	return parse_action(p, words, count, rule, hooked);
}

static bool add(struct scenario *scenario, const struct rule *rule)
{
	struct rule *rules = reallocarray(scenario->rules, scenario->count + 1, sizeof(*rules));

	if (!rules)
		return false;
	scenario->rules = rules;
	rules[scenario->count++] = *rule;
	return true;
}

bool scenario_parse(struct scenario *scenario, const char *name, const char *text, size_t length,
		    char *error, size_t error_size)
{
	struct parser parser = { .name = name, .error = error, .error_size = error_size };
	size_t before = scenario->count;
	const char *end = text + length;
	char line[LINE_LENGTH_MAX];
	struct rule rule;
	bool empty;

	while (text < end) {
		const char *stop = memchr(text, '\n', end - text);
		size_t size = (stop ? stop : end) - text;

		parser.line++;
		if (memchr(text, '\0', size)) {
			wrong(&parser, "a zero byte: this is no text");
			goto fail;
		}
		if (size >= sizeof(line)) {
			wrong(&parser, "the line is longer than %d bytes", LINE_LENGTH_MAX - 1);
			goto fail;
		}
		memcpy(line, text, size);
		line[size] = '\0';
		if (!parse_line(&parser, line, &rule, &empty))
			goto fail;
		if (!empty && !add(scenario, &rule)) {
			wrong(&parser, "no memory");
			goto fail;
		}
		text += size + (stop ? 1 : 0);
	}
	return true;
fail:
	scenario->count = before;
	return false;
}

const char *scenario_help(void)
{
	static char help[4096];
	size_t length = 0, i;

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs) && length < sizeof(help); i++) {
		const char *arg;

		length += snprintf(help + length, sizeof(help) - length, "  %s", verbs[i].name);
		for (arg = verbs[i].args; *arg && length < sizeof(help); arg++)
			length += snprintf(help + length, sizeof(help) - length,
					   isupper((unsigned char)*arg) ? " [%s]" : " (%s)",
					   argument_text(*arg));
		if (length < sizeof(help))
			length += snprintf(help + length, sizeof(help) - length, "\n");
	}
	return help;
}

/* --- matching ------------------------------------------------------------------------ */

static bool fits(uint32_t wanted, uint32_t is)
{
	return wanted == ANY || wanted == is;
}

static bool matches(const struct rule *rule, const struct happening *h)
{
	return rule->hook == h->hook && fits(rule->name, h->name) &&
		fits(rule->insertion, h->insertion) && fits(rule->deal, h->deal) &&
		fits(rule->position, h->position) && fits(rule->card, h->card) &&
		fits(rule->pocket, h->pocket);
}

/* Count a match. Returns true if the rule applies to this one. */
static bool count_match(struct rule *rule)
{
	uint32_t since, turn;

	rule->seen++;
	if (rule->seen < rule->nth)
		return false;
	since = rule->seen - rule->nth;
	if (rule->every && since % rule->every)
		return false;
	turn = rule->every ? since / rule->every : since;
	return rule->times == ANY || turn < rule->times;
}

const struct effect *scenario_next(struct scenario *scenario, const struct happening *happening,
				   unsigned int *cursor)
{
	while (scenario && *cursor < scenario->count) {
		struct rule *rule = &scenario->rules[(*cursor)++];

		if (matches(rule, happening) && count_match(rule))
			return &rule->effect;
	}
	return NULL;
}
