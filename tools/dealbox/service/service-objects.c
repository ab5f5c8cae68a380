// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <dealbox/event.h>

#include "service-objects.h"
#include "ui/operator-say.h"

#define ALONE	"`dealbox machines`, `dealbox monitor` and `dealbox deal` work without it"

sd_bus *service_find(void)
{
	sd_bus *bus = NULL;

	/* A call would make the bus start the service, and wait for it. */
	if (sd_bus_open_system(&bus) < 0 || sd_bus_get_name_creds(bus, SERVICE_NAME, 0, NULL) < 0)
		return sd_bus_flush_close_unref(bus);
	return bus;
}

sd_bus *service_open(void)
{
	sd_bus *bus = NULL;
	int err = sd_bus_open_system(&bus);

	if (err < 0) {
		complain("check that D-Bus is running; " ALONE, "cannot reach the system bus: %s",
			 strerror(-err));
		return NULL;
	}
	/* A call would make the bus start the service, and wait for it. */
	if (sd_bus_get_name_creds(bus, SERVICE_NAME, 0, NULL) < 0) {
		complain("run `sudo systemctl enable --now dealboxd`; " ALONE,
			 "the service dealboxd is not running");
		return sd_bus_unref(bus);
	}
	return bus;
}

void service_refused(const struct request *r, int err)
{
	const sd_bus_error *error = &r->error;

	if (sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED))
		complain("run it as root, or as a user of the group dealbox", "%s", error->message);
	else
		complain(NULL, "%s", error->message ? error->message : strerror(-err));
}

enum status service_error(const struct request *r, int err)
{
	/* the machine, the service, or the server of the event has failed */
	static const char *const failures[] = {
		SERVICE_NAME ".Error.Machine", SERVICE_NAME ".Error.Absent",
		SERVICE_NAME ".Error.Ledger", SERVICE_NAME ".Error.Event",
		SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NO_REPLY,
	};
	const sd_bus_error *error = &r->error;
	size_t n;

	service_refused(r, err);
	for (n = 0; n < sizeof(failures) / sizeof(failures[0]); n++)
		if (sd_bus_error_has_name(error, failures[n]))
			return STATUS_MACHINE;
	return sd_bus_error_get_errno(error) == ETIMEDOUT ? STATUS_MACHINE : STATUS_INPUT;
}

enum status service_call(sd_bus *bus, const char *path, const char *interface, const char *method,
			 const char *types, ...)
{
	enum status status = STATUS_DONE;
	struct request r;
	int err = request_new(&r, bus, path, interface, method);
	va_list ap;

	va_start(ap, types);
	if (err >= 0)
		err = sd_bus_message_appendv(r.call, types, ap);
	va_end(ap);
	if (err >= 0)
		err = request_send(&r);
	if (err < 0)
		status = service_error(&r, err);
	request_end(&r);
	return status;
}

static struct json_object *read_strings(sd_bus_message *m)
{
	struct json_object *out = json_object_new_array();
	const char *text;

	if (sd_bus_message_enter_container(m, 'v', "as") >= 0 &&
	    sd_bus_message_enter_container(m, 'a', "s") >= 0)
		while (sd_bus_message_read(m, "s", &text) > 0)
			json_object_array_add(out, json_object_new_string(text));
	sd_bus_message_exit_container(m);
	sd_bus_message_exit_container(m);
	return out;
}

static int read_properties(sd_bus_message *m, struct json_object *object);

/* Read the value of a variant: a basic type, strings, or a{sv}. */
static struct json_object *read_value(sd_bus_message *m)
{
	union {
		const char *s;
		uint64_t t;
		uint32_t u;
		int32_t i;
		int b;
	} value;
	struct json_object *out = NULL;
	const char *type;

	if (sd_bus_message_peek_type(m, NULL, &type) > 0 && !strcmp(type, "as"))
		return read_strings(m);
	if (sd_bus_message_peek_type(m, NULL, &type) > 0 && !strcmp(type, "a{sv}")) {
		out = json_object_new_object();
		if (sd_bus_message_enter_container(m, 'v', type) >= 0 &&
		    read_properties(m, out) >= 0)
			sd_bus_message_exit_container(m);
		return out;
	}
	if (sd_bus_message_peek_type(m, NULL, &type) <= 0 || strlen(type) != 1 ||
	    !strchr("stuibo", *type)) {
		sd_bus_message_skip(m, "v");
		return NULL;
	}
	if (sd_bus_message_read(m, "v", type, &value) < 0)
		return NULL;
	switch (*type) {
	case 's':
	case 'o':
		out = json_object_new_string(value.s);
		break;
	case 't':
		out = json_object_new_int64(value.t);
		break;
	case 'u':
		out = json_object_new_int64(value.u);
		break;
	case 'i':
		out = json_object_new_int64(value.i);
		break;
	default:
		out = json_object_new_boolean(value.b);
	}
	return out;
}

/* Read a{sv} into the object. */
static int read_properties(sd_bus_message *m, struct json_object *object)
{
	const char *name;
	char snake[64];
	size_t n;
	int err;

	err = sd_bus_message_enter_container(m, 'a', "{sv}");
	while (err >= 0 && (err = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		err = sd_bus_message_read(m, "s", &name);
		if (err < 0)
			break;
		for (n = 0; n < sizeof(snake) - 2 && *name; name++) {
			if (n && isupper((unsigned char)*name))
				snake[n++] = '_';
			snake[n++] = *name == '-' ? '_' : (char)tolower((unsigned char)*name);
		}
		snake[n] = '\0';
		json_object_object_add(object, snake, read_value(m));
		err = sd_bus_message_exit_container(m);
	}
	return err < 0 ? err : sd_bus_message_exit_container(m);
}

/* Read a{sa{sv}} of one path, and add it to the array if it has the interface. */
static int read_object(sd_bus_message *m, const char *path, const char *wanted,
		       struct json_object *array)
{
	struct json_object *object;
	const char *interface;
	int err;

	err = sd_bus_message_enter_container(m, 'a', "{sa{sv}}");
	while (err >= 0 && (err = sd_bus_message_enter_container(m, 'e', "sa{sv}")) > 0) {
		err = sd_bus_message_read(m, "s", &interface);
		if (err < 0)
			break;
		if (strcmp(interface, wanted)) {
			err = sd_bus_message_skip(m, "a{sv}");
		} else {
			object = json_object_new_object();
			json_add_text(object, "path", path);
			err = read_properties(m, object);
			json_object_array_add(array, object);
		}
		if (err >= 0)
			err = sd_bus_message_exit_container(m);
	}
	return err < 0 ? err : sd_bus_message_exit_container(m);
}

static int by_path(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;

	return strverscmp(service_text(*x, "path"), service_text(*y, "path"));
}

struct json_object *service_objects(sd_bus *bus, const char *interface)
{
	struct json_object *array = json_object_new_array();
	struct request r = { .error = SD_BUS_ERROR_NULL };
	sd_bus_message *m = NULL;
	const char *path;
	char wanted[64];
	int err;

	snprintf(wanted, sizeof(wanted), SERVICE_NAME ".%s", interface);
	err = sd_bus_call_method(bus, SERVICE_NAME, MANAGER_PATH,
				 "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
				 &r.error, &r.reply, "");
	m = r.reply;
	if (err >= 0)
		err = sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}");
	while (err >= 0 && (err = sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}")) > 0) {
		err = sd_bus_message_read(m, "o", &path);
		if (err >= 0)
			err = read_object(m, path, wanted, array);
		if (err >= 0)
			err = sd_bus_message_exit_container(m);
	}
	if (err < 0) {
		service_refused(&r, err);
		json_object_put(array);
		array = NULL;
	} else {
		json_object_array_sort(array, by_path);
	}
	request_end(&r);
	return array;
}

struct json_object *service_changed(struct json_object *objects, sd_bus_message *m)
{
	struct json_object *object;
	size_t n;

	for (n = 0; n < json_object_array_length(objects); n++) {
		object = json_object_array_get_idx(objects, n);
		if (strcmp(service_text(object, "path"), sd_bus_message_get_path(m)))
			continue;
		return sd_bus_message_skip(m, "s") >= 0 && read_properties(m, object) >= 0 ?
			object : NULL;
	}
	return NULL;
}

struct json_object *service_machine(struct json_object *machines, const char *id)
{
	struct json_object *m;
	size_t n;

	for (n = 0; n < json_object_array_length(machines); n++) {
		m = json_object_array_get_idx(machines, n);
		if (!strcmp(service_text(m, "id"), id))
			return m;
	}
	complain("`dealbox status` shows them", "the service knows no machine %s", id);
	return NULL;
}

const char *service_text(struct json_object *object, const char *name)
{
	struct json_object *value;
	const char *text = NULL;

	/* json-c returns NULL without memory if the value is not a string. */
	if (json_object_object_get_ex(object, name, &value))
		text = json_object_get_string(value);
	return text ? text : "";
}

int64_t service_number(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) ? json_object_get_int64(value) : 0;
}

bool service_has(struct json_object *object, const char *name, const char *text)
{
	struct json_object *list;
	size_t n;

	if (!json_object_object_get_ex(object, name, &list))
		return false;
	for (n = 0; n < json_object_array_length(list); n++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(list, n)), text))
			return true;
	return false;
}

/* as the service numbers them in its facts; 0 is unknown */
static const char *const seats[] = { "", "N", "E", "S", "W" };
static const char *const places[] = { "", "feeder", "reader", "gate", "pocket" };
static const char *const bases[] = { "", "gates", "sensors", "hand" };

/* Return the place of a word in a list, 0 if it is not in it. */
static uint32_t word_number(const char *const *words, size_t count, const char *word)
{
	size_t n;

	for (n = 1; n < count; n++)
		if (!strcmp(words[n], word))
			return (uint32_t)n;
	return 0;
}

#define NUMBER(words, word)	word_number(words, sizeof(words) / sizeof((words)[0]), word)

void service_instruction(struct json_object *machine, const char *language, char *text, size_t size)
{
	enum dealbox_operator_state state = operator_state(service_text(machine, "state"));
	struct dealbox_operator_facts facts = { 0 };
	struct json_object *told = NULL;
	const struct {
		const char *name;
		uint32_t *number;
	} numbers[] = {
		{ "board", &facts.board }, { "copy", &facts.copy }, { "there", &facts.there },
		{ "card", &facts.card }, { "cards", &facts.cards }, { "depth", &facts.depth },
		{ "code", &facts.code }, { "shuffled", &facts.shuffled },
	};
	size_t n;

	json_object_object_get_ex(machine, "facts", &told);
	if (!language || !told || state == DEALBOX_OPERATOR_STATES) {
		snprintf(text, size, "%s", service_text(machine, "instruction"));
		return;
	}
	for (n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		*numbers[n].number = (uint32_t)service_number(told, numbers[n].name);
	if (!facts.copy)
		facts.copy = NUMBER(seats, service_text(told, "pocket"));
	facts.seat = NUMBER(seats, service_text(told, "seat"));
	facts.place = NUMBER(places, service_text(told, "place"));
	dealbox_operator_text(state, &facts, language, text, size);
}

struct json_object *service_facts(sd_bus_message *m)
{
	struct json_object *facts = json_object_new_object();

	if (read_properties(m, facts) >= 0)
		return facts;
	json_object_put(facts);
	return NULL;
}

/* Return the type of the event with that name, 0 = none has it. */
static uint32_t event_number(const char *name)
{
	uint32_t type;

	for (type = 1; type <= UINT8_MAX; type++)
		if (!strcmp(dealbox_event_name(type), name))
			return type;
	return 0;
}

bool service_verdict(struct json_object *facts, struct dealbox_operator_verdict *verdict)
{
	const char *basis = service_text(facts, "basis"), *seat = service_text(facts, "seat"),
		   *place = service_text(facts, "place"), *reason = service_text(facts, "reason");
	unsigned int kind;
	const char *name;
	struct json_object *code;

	for (kind = 0; (name = dealbox_operator_verdict_name(kind)); kind++)
		if (!strcmp(name, service_text(facts, "kind")))
			break;
	*verdict = (struct dealbox_operator_verdict){
		.kind = (uint8_t)kind,
		.basis = (uint8_t)NUMBER(bases, basis),
		.unidentified = (uint8_t)service_number(facts, "unidentified"),
		.place = (uint8_t)NUMBER(places, place),
		.seat = (uint8_t)NUMBER(seats, seat),
		.coded = json_object_object_get_ex(facts, "code", &code),
		.card = (uint16_t)service_number(facts, "card"),
		.code = (uint32_t)service_number(facts, "code"),
		.reason = event_number(reason),
		.count = (uint32_t)service_number(facts, "count"),
		.expected = (uint32_t)service_number(facts, "expected"),
	};
	return name && (!*basis || verdict->basis) && (!*seat || verdict->seat) &&
	       (!*place || verdict->place) && (!*reason || verdict->reason);
}

bool service_captures(struct json_object *job)
{
	/* A capture has no set. */
	return !service_number(job, "set");
}

const char *session_today(char today[SESSION_TODAY])
{
	time_t now = time(NULL);

	strftime(today, SESSION_TODAY, "%Y-%m-%d", localtime(&now));
	return today;
}

/* ---- --machine --------------------------------------------------------------- */

static bool is_address(const char *text)
{
	static const char *const schemes[] = { "local:", "usb:", "emu:", "hand:" };
	size_t n;

	for (n = 0; n < sizeof(schemes) / sizeof(schemes[0]); n++)
		if (!strncmp(text, schemes[n], strlen(schemes[n])))
			return true;
	return false;
}

bool wanted_add(const struct args *args, struct wanted *wanted, const char *value)
{
	size_t count;

	for (count = 0; wanted->ids[count]; count++)
		;
	if (wanted->uri || (count && is_address(value))) {
		args_wrong(args, "--machine takes one address, or ids of machines of the service");
		return false;
	}
	if (count == WANTED_MAX) {
		args_wrong(args, "--machine takes at most %d machines", WANTED_MAX);
		return false;
	}
	if (is_address(value))
		wanted->uri = value;
	else
		wanted->ids[count] = value;
	return true;
}

enum status wanted_refuse(const struct wanted *wanted)
{
	complain("use local:/dev/dealbox0, usb:SERIAL, emu:PATH or hand:; an id is for the "
		 "service: `sudo systemctl enable --now dealboxd`",
		 "'%s' is not the address of a machine", *wanted->ids);
	return STATUS_MACHINE;
}

bool service_present(struct json_object *machines, const char *id)
{
	struct json_object *m;
	size_t n;

	for (n = 0; n < json_object_array_length(machines); n++) {
		m = json_object_array_get_idx(machines, n);
		if (service_number(m, "present") && (!id || !strcmp(service_text(m, "id"), id)))
			return true;
	}
	return false;
}

bool wanted_there(const struct wanted *wanted, struct json_object *machines)
{
	bool there = false;
	size_t n;

	if (!*wanted->ids) {
		there = service_present(machines, NULL);
		if (!there)
			complain("plug one in and switch it on; `dealbox doctor` finds out more",
				 "the service has no machine");
		return there;
	}
	for (n = 0; wanted->ids[n]; n++)
		there |= service_present(machines, wanted->ids[n]);
	for (n = 0; wanted->ids[n]; n++)
		if (!service_present(machines, wanted->ids[n]))
			complain(there ? "the others deal; it joins them when it is plugged in" :
				 "`dealbox status` lists its machines",
				 "the service has no machine %s now", wanted->ids[n]);
	return there;
}

int wanted_append(sd_bus_message *m, const struct wanted *wanted)
{
	int err;

	if (!*wanted->ids)
		return 0;
	err = sd_bus_message_open_container(m, 'e', "sv");
	if (err >= 0)
		err = sd_bus_message_append(m, "s", "machines");
	if (err >= 0)
		err = sd_bus_message_open_container(m, 'v', "as");
	if (err >= 0)
		err = sd_bus_message_append_strv(m, (char **)wanted->ids);
	if (err >= 0)
		err = sd_bus_message_close_container(m);
	return err < 0 ? err : sd_bus_message_close_container(m);
}

/*
 * Properties whose key in JSON is another: what it is, a unit, or the key that other commands have.
 * If zero is set, 0 means that there is none. If per is set, the key has another unit: per of the
 * service's make one.
 */
static const struct key {
	const char *kind, *property, *key;
	bool zero;
	unsigned int per;
} keys[] = {
	{ "machine", "id", "machine" },
	{ "machine", "pace", "pace_s", true, 1000 },
	{ "machine", "test", "test_deal" },
	{ "machine", "chance", "chance_percent" },
	{ "machine", "pocket", "pocket_seat" },
	{ "machine", "board", "board", true },
	{ "machine", "copy", "copy", true },
	{ "machine", "insertion", "insertion", true },
	{ "machine", "job", "job", true },
	{ "machine", "next_board", "next_board", true },
	{ "machine", "next_copy", "next_copy", true },
	{ "machine", "cards_total", "cards_total", true },
	{ "machine", "question", "question", true },
	{ "job", "id", "job" },
	{ "job", "set", "set", true },
	{ "job", "void", "voids" },
};

/* Add the members of an object of the service, of which those that say nothing are left out. */
static void members_add(struct json_object *to, const char *kind, struct json_object *from)
{
	struct json_object *inner;
	unsigned int per;
	const char *key;
	bool zero;
	size_t n;

	json_object_object_foreach(from, name, value) {
		key = name;
		zero = false;
		per = 0;
		for (n = 0; n < sizeof(keys) / sizeof(keys[0]); n++)
			if (!strcmp(keys[n].kind, kind) && !strcmp(keys[n].property, name)) {
				key = keys[n].key;
				zero = keys[n].zero;
				per = keys[n].per;
			}
		if (json_object_is_type(value, json_type_object)) {
			inner = json_object_new_object();
			members_add(inner, kind, value);
			if (json_object_object_length(inner))
				json_object_object_add(to, key, inner);
			else
				json_object_put(inner);
		} else if (json_object_is_type(value, json_type_string)) {
			/* "/" is the path of no object */
			if (strcmp(json_object_get_string(value), "/"))
				json_add_text(to, key, json_object_get_string(value));
		} else if (value && !(zero && !json_object_get_int64(value))) {
			if (per)
				json_add_real(to, key, (double)json_object_get_int64(value) / per);
			else
				json_object_object_add(to, key, json_object_get(value));
		}
	}
}

void service_object_say(struct json_object *object, const char *kind)
{
	struct json_object *line = json_line(kind);

	members_add(line, kind, object);
	json_say(line);
}

void service_say(struct json_object *array, const char *kind)
{
	size_t n;

	for (n = 0; n < json_object_array_length(array); n++)
		service_object_say(json_object_array_get_idx(array, n), kind);
	json_object_put(array);
}
