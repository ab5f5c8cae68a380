// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus-machine.h"
#include "bus-reply.h"
#include "call-queue.h"
#include "log.h"
#include "stations.h"
#include "dealing/strv.h"

/* Return the object path of a machine, for the caller to free. NULL without memory. */
static char *path_of(const struct station *st)
{
	char *path;

	return sd_bus_path_encode(MACHINES, st->id, &path) < 0 ? NULL : path;
}

/* Return the machine at an object path; NULL if there is none, as for the manager's path. */
static struct station *machine_at(const struct service *s, const char *path)
{
	struct station *st = NULL;
	char *id = NULL, *own;

	if (sd_bus_path_decode(path, MACHINES, &id) > 0)
		st = stations_find(s, id);
	/* Several encodings of an id are possible, but an object has only one path. */
	own = st ? path_of(st) : NULL;
	if (!own || strcmp(own, path))
		st = NULL;
	free(own);
	free(id);
	return st;
}

int find_station(sd_bus *bus, const char *path, const char *interface, void *context,
			void **found, sd_bus_error *error)
{
	(void)bus;
	(void)interface;
	(void)error;
	*found = context;
	return machine_at(context, path) ? 1 : 0;
}

static int push(sd_bus_message *m, struct service *s, enum push what, sd_bus_error *error)
{
	struct station *st = machine_at(s, sd_bus_message_get_path(m));

	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	/* Start answers what the machine asked when it was called: polkit may have let it wait. */
	if (what == PUSH_START && st->changed > call_arrived())
		return sd_bus_error_set(error, ERROR("Changed"), "what the machine asks has changed meanwhile: "
					"look at it, and press start again");
	if (what == PUSH_START)
		st->dealing.starter = sender_uid(m);
	engine_push(&st->dealing.engine, what);
	return sd_bus_reply_method_return(m, "");
}

#define MACHINE_METHOD(function, what) \
static int function(sd_bus_message *m, struct service *s, sd_bus_error *error) \
{ \
	return push(m, s, what, error); \
}

MACHINE_METHOD(machine_start, PUSH_START)
METHOD(machine_start, "deal")
MACHINE_METHOD(machine_pause, PUSH_PAUSE)
METHOD(machine_pause, "deal")
MACHINE_METHOD(machine_release, PUSH_RELEASE)
METHOD(machine_release, "deal")

/* Allow a new machine to deal from now on. The ledger remembers its id. */
static int machine_accept(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = machine_at(s, sd_bus_message_get_path(m));
	struct dealbox_ledger_act act = { .act = DEALBOX_ACT_ACCEPT };
	int err;

	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	act.machine = st->id;
	err = st->known ? 0 : record_act(s, m, &act, error);
	if (err < 0)
		return err;
	st->known = true;
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_accept, "manage")

static void record_stop(struct service *s, sd_bus_message *m, uint32_t uid)
{
	stations_stopped(s, machine_at(s, sd_bus_message_get_path(m)), uid);
}

int stop_all(sd_bus_message *m, void *context, sd_bus_error *error)
{
	struct service *s = context;
	bool news = stations_stop(s, machine_at(s, sd_bus_message_get_path(m)));
	int err = sd_bus_reply_method_return(m, "");

	(void)error;
	/* Repeated calls must not fill the disk. */
	if (news)
		calls_record(s, m, record_stop);
	return err;
}

/* Return the machine if it is connected; otherwise set *error. */
static struct station *present(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = machine_at(s, sd_bus_message_get_path(m));

	if (st && st->dealing.machine)
		return st;
	sd_bus_error_set(error, ERROR("NotFound"), "the machine is not connected");
	return NULL;
}

static int machine_error(const struct station *st, sd_bus_error *error)
{
	return sd_bus_error_set(error, ERROR("Machine"), dealbox_machine_error(st->dealing.machine)->what);
}

static int machine_locate(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = present(m, s, error);
	uint32_t seconds;
	int err = sd_bus_message_read(m, "u", &seconds);

	if (err < 0 || !st)
		return err < 0 ? err : 0;
	if (dealbox_machine_locate(st->dealing.machine, seconds))
		return machine_error(st, error);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_locate, "deal")

static int machine_counters(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	static const char *const names[] = {
		"boards-dealt", "boards-voided", "cards-fed", "cards-read", "unreadable", "repeated",
		"not-in-plan", "double-feeds", "feed-timeouts", "jams", "wrong-pockets", "gates-late",
		"gates-ignored", "power-ons", "seconds",
	};
	struct station *st = present(m, s, error);
	struct dealbox_counters counters;
	uint32_t numbers[sizeof(counters) / sizeof(uint32_t)];
	sd_bus_message *reply = NULL;
	size_t n;
	int err;

	if (!st)
		return 0;
	if (dealbox_machine_get_counters(st->dealing.machine, &counters))
		return machine_error(st, error);
	memcpy(numbers, &counters, sizeof(numbers));
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "{su}");
	for (n = 0; err >= 0 && n < sizeof(names) / sizeof(names[0]); n++)
		err = sd_bus_message_append(reply, "{su}", names[n], numbers[n]);
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
METHOD(machine_counters, "status")

static int machine_get_parameter(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = present(m, s, error);
	struct dealbox_param param = { 0 };
	int err = sd_bus_message_read(m, "u", &param.id);

	if (err < 0 || !st)
		return err < 0 ? err : 0;
	if (dealbox_machine_get_param(st->dealing.machine, &param))
		return machine_error(st, error);
	return sd_bus_reply_method_return(m, "uuu", param.value, param.min, param.max);
}
METHOD(machine_get_parameter, "status")

/* Service technicians only; group membership is not enough. Refused during a deal. */
static int machine_set_parameter(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = present(m, s, error);
	uint32_t id, value;
	int err = sd_bus_message_read(m, "uu", &id, &value);

	if (err < 0 || !st)
		return err < 0 ? err : 0;
	if (dealbox_machine_set_param(st->dealing.machine, id, value))
		return machine_error(st, error);
	log_message(MESSAGE_SERVICE, st->id, NULL, "user %u set parameter %u to %u", sender_uid(m), id,
		    value);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_set_parameter, "service")

/* Deal cards without a plan, to check the mechanics. This uses up the insertion of the board. */
static int machine_test_deal(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = present(m, s, error);
	uint32_t cards;
	int err = sd_bus_message_read(m, "u", &cards);

	if (err < 0 || !st)
		return err < 0 ? err : 0;
	if (!engine_may_test(&st->dealing.engine))
		return sd_bus_error_set(error, ERROR("Busy"), "a test deal needs an empty board that has just "
					"been put in, and an idle machine");
	st->dealing.engine.test = true;
	if (dealbox_machine_test_deal(st->dealing.machine, st->dealing.engine.insertion, cards)) {
		st->dealing.engine.test = false;
		return machine_error(st, error);
	}
	log_message(MESSAGE_SERVICE, st->id, NULL, "user %u started a test deal of %u cards", sender_uid(m),
		    cards);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_test_deal, "service")

/* Show cards. Few users may do so, and it is recorded first. */
static int machine_reveal(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = machine_at(s, sd_bus_message_get_path(m));
	struct dealbox_ledger_act act = { .act = DEALBOX_ACT_REVEAL };
	int err;

	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	act.machine = st->id;
	err = record_act(s, m, &act, error);
	return err < 0 ? err : sd_bus_reply_method_return(m, "s", st->dealing.revealed);
}
METHOD(machine_reveal, "reveal")

static int get_machine(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *context, sd_bus_error *error)
{
	const struct station *st = machine_at(context, path);
	const struct engine *d = st ? &st->dealing.engine : NULL;
	enum dealbox_operator_state state = st ? engine_state(d) : DEALBOX_OPERATOR_ABSENT;
	struct dealbox_operator_facts facts;
	char text[2048] = "";
	const struct {
		const char *name, *text;
	} texts[] = {
		{ "Id", st ? st->id : "" },
		{ "Serial", st ? st->serial : "" },
		{ "Port", st ? st->port : "" },
		{ "Model", st ? st->model : "" },
		{ "State", dealbox_operator_name(state) },
		{ "Instruction", text },
		{ "Diagnosis", st ? st->dealing.diagnosis : "" },
	};
	const struct {
		const char *name;
		char type;
		uint64_t number;
	} numbers[] = {
		{ "Present", 'b', st && st->dealing.machine },
		{ "Dealing", 'b', d && d->phase >= PHASE_START },
		{ "Job", 't', d ? d->copy.job : 0 },
		{ "Board", 'u', d ? d->copy.board : 0 },
		{ "Copy", 'u', d ? d->copy.copy : 0 },
		{ "Cards", 'u', st ? st->dealing.cards : 0 },
		{ "Insertion", 'u', d ? d->insertion : 0 },
	};
	size_t n;

	(void)bus;
	(void)interface;
	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	if (!strcmp(property, "Instruction")) {
		dealing_facts(&st->dealing, &facts);
		dealbox_operator_text(state, &facts, st->service->config.language, text, sizeof(text));
	}
	for (n = 0; n < sizeof(texts) / sizeof(texts[0]); n++)
		if (!strcmp(property, texts[n].name))
			return sd_bus_message_append(reply, "s", texts[n].text);
	for (n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		if (!strcmp(property, numbers[n].name))
			return append_number(reply, numbers[n].type, numbers[n].number);
	return -ENOENT;
}

const sd_bus_vtable machine_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Id", "s", get_machine, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Serial", "s", get_machine, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Port", "s", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Model", "s", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Present", "b", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("State", "s", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Instruction", "s", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Diagnosis", "s", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Dealing", "b", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Job", "t", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Board", "u", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Copy", "u", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Cards", "u", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Insertion", "u", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD("Start", "", "", machine_start_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Pause", "", "", machine_pause_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Stop", "", "", stop_all, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Accept", "", "", machine_accept_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("ReleaseBoard", "", "", machine_release_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Locate", "u", SD_BUS_PARAM(seconds), "", ,
				 machine_locate_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetCounters", "", , "a{su}", SD_BUS_PARAM(counters),
				 machine_counters_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetParameter", "u", SD_BUS_PARAM(number), "uuu",
				 SD_BUS_PARAM(value) SD_BUS_PARAM(least) SD_BUS_PARAM(most),
				 machine_get_parameter_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("SetParameter", "uu", SD_BUS_PARAM(number) SD_BUS_PARAM(value), "", ,
				 machine_set_parameter_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("TestDeal", "u", SD_BUS_PARAM(cards), "", ,
				 machine_test_deal_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Reveal", "", , "s", SD_BUS_PARAM(diagnosis),
				 machine_reveal_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END
};

int list_stations(sd_bus *bus, const char *prefix, void *context, char ***nodes,
			 sd_bus_error *error)
{
	struct service *s = context;
	const struct station *st;
	char *path;
	int err = 0;

	(void)bus;
	(void)prefix;
	(void)error;
	for (st = s->stations->first; st && !err; st = st->next) {
		path = path_of(st);
		err = path ? strv_add(nodes, path) : -ENOMEM;
		free(path);
	}
	return err;
}

void machine_added(struct station *st)
{
	char *path = path_of(st);

	if (path)
		sd_bus_emit_object_added(st->service->bus, path);
	free(path);
}

void machine_changed(struct station *st, bool state)
{
	char *path = path_of(st);

	if (path && state)
		sd_bus_emit_properties_changed(st->service->bus, path, "io.dealbox1.Machine",
					       "Port", "Model", "Present", "State", "Instruction",
					       "Diagnosis", "Dealing", "Job", "Board", "Copy", "Cards",
					       "Insertion", NULL);
	else if (path)
		sd_bus_emit_properties_changed(st->service->bus, path, "io.dealbox1.Machine",
					       "Cards", NULL);
	free(path);
}
