// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of a machine as text and as JSON. */
#include <json-c/json.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <dealbox/card.h>
#include <dealbox/event.h>
#include <dealbox/law.h>
#include <dealbox/verify.h>

#include "event-text.h"
#include "ruling-text.h"
#include "tool.h"

/*
 * Hide the arguments of unknown events: in a later protocol, they might be cards. Of a card in the
 * wrong pocket, the argument is the pocket where it belongs.
 */
static bool args_are_open(uint32_t type)
{
	return type != DEALBOX_EV_WRONG_POCKET &&
	       strcmp(dealbox_event_name(type), dealbox_event_name(UINT32_MAX));
}

/* Of a sorted deck, the position of a card names it, and with its pocket tells the deal. */
static bool pocket_is_open(const struct dealbox_event *event)
{
	return event->position == DEALBOX_NONE;
}

/* Numbers of an event, with their names in JSON and traces */
#define FIELD(f)	{ #f, offsetof(struct dealbox_event, f), \
			  sizeof(((struct dealbox_event *)0)->f) }
static const struct field {
	const char *name;
	size_t offset;
	size_t size;
} fields[] = {
	FIELD(timestamp_ns), FIELD(seqno), FIELD(type), FIELD(flags), FIELD(machine_seq),
	FIELD(machine_time_us), FIELD(insertion), FIELD(position), FIELD(card), FIELD(pocket),
	FIELD(quality), FIELD(code),
};
#define FIELDS	(sizeof(fields) / sizeof(*fields))

static uint64_t field_get(const struct dealbox_event *event, const struct field *field)
{
	const char *at = (const char *)event + field->offset;
	uint64_t v64;
	uint32_t v32;

	switch (field->size) {
	case 8:
		memcpy(&v64, at, sizeof(v64));
		return v64;
	case 4:
		memcpy(&v32, at, sizeof(v32));
		return v32;
	default:
		return *(const uint8_t *)at;
	}
}

/* Returns false if the value does not fit. */
static bool field_set(struct dealbox_event *event, const struct field *field, uint64_t value)
{
	char *at = (char *)event + field->offset;
	uint32_t v32 = (uint32_t)value;

	switch (field->size) {
	case 8:
		memcpy(at, &value, sizeof(value));
		return true;
	case 4:
		memcpy(at, &v32, sizeof(v32));
		return v32 == value;
	default:
		*(uint8_t *)at = (uint8_t)value;
		return (uint8_t)value == value;
	}
}

static bool field_hidden(const struct dealbox_event *event, const struct field *field, bool reveal)
{
	if (reveal)
		return false;
	return !strcmp(field->name, "card") ||
	       (!strcmp(field->name, "pocket") && !pocket_is_open(event)) ||
	       (!strcmp(field->name, "code") && !dealbox_event_code_open(event->type));
}

/* Omit absent positions, cards etc., and arguments of 0. */
static bool field_empty(const struct dealbox_event *event, const struct field *field)
{
	return field->size == 1 && field_get(event, field) == DEALBOX_NONE;
}

static void members_add(struct json_object *object, const struct dealbox_event *event, bool reveal)
{
	const struct field *field;
	struct json_object *list;
	size_t n;

	json_add_text(object, "name", dealbox_event_name(event->type));
	for (field = fields; field < fields + FIELDS; field++)
		if (!field_hidden(event, field, reveal) && !field_empty(event, field))
			json_object_object_add(object, field->name,
					       json_object_new_uint64(field_get(event, field)));
	if (event->type == DEALBOX_EV_DEAL_DONE) {
		list = json_object_new_array();
		for (n = 0; n < DEALBOX_MAX_POCKETS; n++)
			json_object_array_add(list, json_object_new_int(event->counts[n]));
		json_object_object_add(object, "counts", list);
	} else if (reveal || args_are_open(event->type)) {
		list = json_object_new_array();
		for (n = 0; n < 2; n++)
			json_object_array_add(list, json_object_new_uint64(event->arg[n]));
		json_object_object_add(object, "arg", list);
	}
}

struct json_object *event_to_json(const struct dealbox_event *event, bool reveal)
{
	struct json_object *object = json_object_new_object();

	members_add(object, event, reveal);
	return object;
}

void event_say_json(const struct dealbox_event *event, bool reveal)
{
	struct json_object *object = json_line("event");

	members_add(object, event, reveal);
	/* many programs read numbers as doubles, which have 53 bits: nanoseconds of 104 days */
	json_object_object_del(object, "timestamp_ns");
	json_add_number(object, "timestamp_us", (int64_t)(event->timestamp_ns / 1000));
	json_say(object);
}

static bool number_from(struct json_object *object, uint64_t max, uint64_t *out)
{
	int64_t value;

	if (!json_object_is_type(object, json_type_int))
		return false;
	value = json_object_get_int64(object);
	*out = json_object_get_uint64(object);
	return value >= 0 && *out <= max;
}

bool event_from_json(struct json_object *object, struct dealbox_event *out)
{
	struct json_object *member;
	uint64_t value;
	size_t n, length;
	bool counts;

	memset(out, 0, sizeof(*out));
	for (n = 0; n < FIELDS; n++) {
		if (!json_object_object_get_ex(object, fields[n].name, &member)) {
			if (fields[n].size != 1)
				return false;
			field_set(out, &fields[n], DEALBOX_NONE);
		} else if (!number_from(member, UINT64_MAX, &value) ||
			   !field_set(out, &fields[n], value)) {
			return false;
		}
	}
	counts = out->type == DEALBOX_EV_DEAL_DONE;
	length = counts ? DEALBOX_MAX_POCKETS : 2;
	if (!json_object_object_get_ex(object, counts ? "counts" : "arg", &member) ||
	    !json_object_is_type(member, json_type_array) ||
	    json_object_array_length(member) != length)
		return false;
	for (n = 0; n < length; n++) {
		if (!number_from(json_object_array_get_idx(member, n),
				 counts ? UINT8_MAX : UINT32_MAX, &value))
			return false;
		if (counts)
			out->counts[n] = (uint8_t)value;
		else
			out->arg[n] = (uint32_t)value;
	}
	return true;
}

/* Append to text, which has room for size bytes. */
static void append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, size - used, format, list);
	va_end(list);
}

void event_to_text(const struct dealbox_event *event, bool reveal, char *text, size_t size)
{
	snprintf(text, size, "%6llu.%03llu  #%-6llu %-16s",
		 (unsigned long long)event->timestamp_ns / 1000000000,
		 (unsigned long long)event->timestamp_ns / 1000000 % 1000,
		 (unsigned long long)event->seqno, dealbox_event_name(event->type));
	if (event->insertion)
		append(text, size, " insertion %u", event->insertion);
	if (event->position != DEALBOX_NONE)
		append(text, size, " position %u", event->position);
	if (event->pocket != DEALBOX_NONE && (reveal || pocket_is_open(event)))
		append(text, size, " pocket %u", event->pocket);
	if (reveal && event->card != DEALBOX_NONE)
		append(text, size, " card %s", dealbox_card_name(event->card));
	if (event->code && (reveal || dealbox_event_code_open(event->type)))
		append(text, size, " code %u", event->code);
	if (event->flags & DEALBOX_EVF_GAP)
		append(text, size, " (events before it were lost)");
	if (event->flags & DEALBOX_EVF_MACHINE_GAP)
		append(text, size, " (the machine lost events before it)");
}

/* Kinds of which only the number is told without reveal */
static const struct {
	unsigned int kind;
	const char *one, *many;
} counted[] = {
	{ DEALBOX_DIFFERENCE_CARD_MISSING,
	  P_("%u card is missing", "%u cards are missing") },
	{ DEALBOX_DIFFERENCE_WRONG_POCKET,
	  P_("%u card lies in the wrong pocket", "%u cards lie in the wrong pocket") },
};
#define COUNTED	(sizeof(counted) / sizeof(*counted))

/* Calls tell() for each line. count is 0, or the number of differences that the line stands for. */
static void differences_tell(const struct dealbox_verdict *verdict, bool reveal,
			     const char *language,
			     void (*tell)(const struct dealbox_difference *difference,
					  unsigned int count, const char *text, void *context),
			     void *context)
{
	const struct dealbox_difference *difference, *of[COUNTED] = { NULL };
	unsigned int count[COUNTED] = { 0 };
	char text[512];
	size_t n, k;

	for (n = 0; verdict && (difference = dealbox_verdict_get(verdict, n)); n++) {
		for (k = 0; k < COUNTED && (reveal || difference->kind != counted[k].kind); )
			k++;
		if (k < COUNTED) {
			of[k] = difference;
			count[k]++;
			continue;
		}
		dealbox_difference_text(difference, reveal, language, text, sizeof(text));
		tell(difference, 0, text, context);
	}
	for (k = 0; k < COUNTED; k++) {
		if (count[k] == 1)
			dealbox_difference_text(of[k], false, language, text, sizeof(text));
		else
			snprintf(text, sizeof(text),
				 dealbox_law_translate_count(language, counted[k].one,
							     counted[k].many, count[k]), count[k]);
		if (count[k])
			tell(of[k], count[k], text, context);
	}
}

struct json_list {
	struct json_object *list;
	bool reveal;
};

static void tell_json(const struct dealbox_difference *difference, unsigned int count,
		      const char *text, void *context)
{
	struct json_object *object = json_object_new_object();
	struct json_list *to = context;

	json_add_text(object, "kind", dealbox_difference_name(difference->kind));
	if (count)
		json_add_number(object, "count", count);
	else if (difference->position != DEALBOX_NONE)
		json_add_number(object, "position", difference->position);
	if (to->reveal && difference->card != DEALBOX_NONE)
		json_add_number(object, "card", difference->card);
	json_add_text(object, "text", text);
	json_object_array_add(to->list, object);
}

struct json_object *differences_to_json(const struct dealbox_verdict *verdict, bool reveal,
					const char *language)
{
	struct json_list to = { json_object_new_array(), reveal };

	differences_tell(verdict, reveal, language, tell_json, &to);
	return to.list;
}

static void tell_line(const struct dealbox_difference *difference, unsigned int count,
		      const char *text, void *context)
{
	(void)difference;
	(void)count;
	(void)context;
	say("    %s", text);
}

void differences_say(const struct dealbox_verdict *verdict, bool reveal, const char *language)
{
	differences_tell(verdict, reveal, language, tell_line, NULL);
}
