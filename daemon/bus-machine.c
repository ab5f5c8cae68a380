// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus-job.h"
#include "bus-machine.h"
#include "bus-reply.h"
#include "bus-statistics.h"
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

static int too_late(sd_bus_error *error)
{
	return sd_bus_error_set(error, ERROR("Changed"),
				"too late: the machine asks something else now, "
				"so nothing was done");
}

static int push(sd_bus_message *m, struct service *s, enum push what, sd_bus_error *error)
{
	struct station *st = machine_at(s, sd_bus_message_get_path(m));

	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	/* Start answers what the machine asked when it was called: polkit may have let it wait. */
	if (what == PUSH_START && st->changed > call_arrived())
		return too_late(error);
	if (what == PUSH_START)
		st->dealing.starter = sender_person(m);
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

/*
 * Return the machine that asks the question whose number the message begins with, if the answer is
 * one of those that it can have, ENGINE_*. Otherwise set *error.
 */
static struct station *asked(sd_bus_message *m, struct service *s, unsigned int answer,
			     sd_bus_error *error)
{
	struct station *st = machine_at(s, sd_bus_message_get_path(m));
	uint32_t question = 0;

	if (sd_bus_message_read(m, "u", &question) < 0)
		return NULL;
	if (!st)
		sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	else if (question != st->question)
		too_late(error);
	else if (!(station_keys(st) & answer))
		sd_bus_error_set(error, ERROR("NotAsked"),
				 "this is no answer to what the machine asks");
	else
		return st;
	return NULL;
}

static int machine_answer(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = asked(m, s, ENGINE_START, error);

	if (!st)
		return -EINVAL;
	st->dealing.starter = sender_person(m);
	engine_push(&st->dealing.engine, PUSH_START);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_answer, "deal")

static int not_of_job(sd_bus_error *error)
{
	return sd_bus_error_set(error, ERROR("NotFound"),
				"the job has no copy of this board left to be dealt");
}

/* Deal the board that is in the machine instead of the one that was expected. */
static int machine_deal_this(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = asked(m, s, ENGINE_TAKE, error);

	if (!st)
		return -EINVAL;
	st->dealing.starter = sender_person(m);
	if (!engine_take(&st->dealing.engine, &s->jobs, stations_engines(s)))
		return not_of_job(error);
	log_message(MESSAGE_OPERATOR, st->id, NULL,
		    "user %u lets board %u, which is in the machine, be dealt", sender_person(m),
		    st->dealing.engine.number);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_deal_this, "deal")

/* The number of the board cannot be read; the user has read it. */
static int machine_name_board(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = asked(m, s, ENGINE_NUMBER, error);
	uint32_t board = 0;

	if (!st || sd_bus_message_read(m, "u", &board) < 0)
		return -EINVAL;
	st->dealing.starter = sender_person(m);
	if (!engine_number(&st->dealing.engine, &s->jobs, stations_engines(s), board))
		return not_of_job(error);
	log_message(MESSAGE_OPERATOR, st->id, NULL,
		    "user %u says that the board in the machine is board %u", sender_person(m),
		    board);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_name_board, "deal")

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
	if (st)
		sd_bus_error_set(error, ERROR("Absent"), "the machine is not connected");
	else
		sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	return NULL;
}

/* Set *error from what a call of the machine has returned. */
static int machine_error(const struct station *st, int err, sd_bus_error *error)
{
	/* it was unplugged, and udev has not said so yet */
	return sd_bus_error_set(error, err == -ENODEV ? ERROR("Absent") : ERROR("Machine"),
				dealbox_machine_error(st->dealing.machine)->what);
}

static int machine_locate(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = present(m, s, error);
	uint32_t seconds;
	int err = sd_bus_message_read(m, "u", &seconds);

	if (err < 0 || !st)
		return err < 0 ? err : 0;
	err = dealbox_machine_locate(st->dealing.machine, seconds);
	if (err)
		return machine_error(st, err, error);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_locate, "deal")

static int machine_counters(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	static const char *const names[] = {
		"boards-dealt", "boards-voided", "cards-fed", "cards-read", "unreadable",
		"repeated", "not-in-plan", "double-feeds", "feed-timeouts", "jams", "wrong-pockets",
		"gates-late", "gates-ignored", "power-ons", "seconds",
	};
	struct station *st = present(m, s, error);
	struct dealbox_counters counters;
	uint32_t numbers[sizeof(counters) / sizeof(uint32_t)];
	sd_bus_message *reply = NULL;
	size_t n;
	int err;

	if (!st)
		return 0;
	err = dealbox_machine_get_counters(st->dealing.machine, &counters);
	if (err)
		return machine_error(st, err, error);
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
	struct dealbox_param param;
	uint32_t id;
	int err = sd_bus_message_read(m, "u", &id);

	if (err < 0 || !st)
		return err < 0 ? err : 0;
	err = dealbox_machine_get_param(st->dealing.machine, id, &param);
	if (err)
		return machine_error(st, err, error);
	return sd_bus_reply_method_return(m, "uuu", param.value, param.min, param.max);
}
METHOD(machine_get_parameter, "status")

/* The parameters of docs/protocol.md, section 2.1: 1, 2 .. Others are the maker's own. */
static const struct {
	const char *name, *unit;
} parameters[] = {
	{ "speed", "cards-per-minute" }, { "read-retries", "readings" }, { "feed-timeout", "ms" },
	{ "volume", "percent" },
};

/* List the parameters that the machine has. */
static int machine_parameters(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = present(m, s, error);
	sd_bus_message *reply = NULL;
	struct dealbox_param param;
	size_t n;
	int err, got;

	if (!st)
		return 0;
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "(usuuus)");
	for (n = 0; err >= 0 && n < sizeof(parameters) / sizeof(parameters[0]); n++) {
		got = dealbox_machine_get_param(st->dealing.machine, n + 1, &param);
		if (got == -EREMOTEIO)	/* it has none of this number */
			continue;
		err = got ? machine_error(st, got, error) :
			    sd_bus_message_append(reply, "(usuuus)", param.id, parameters[n].name,
						  param.value, param.min, param.max,
						  parameters[n].unit);
	}
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
METHOD(machine_parameters, "status")

/* Service technicians only; group membership is not enough. Refused during a deal. */
static int machine_set_parameter(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = present(m, s, error);
	uint32_t id, value;
	int err = sd_bus_message_read(m, "uu", &id, &value);

	if (err < 0 || !st)
		return err < 0 ? err : 0;
	err = dealbox_machine_set_param(st->dealing.machine, id, value);
	if (err)
		return machine_error(st, err, error);
	log_message(MESSAGE_SERVICE, st->id, NULL, "user %u set parameter %u to %u",
		    sender_person(m), id, value);
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
		return sd_bus_error_set(error, ERROR("Busy"),
					"a test deal needs an empty board that has just "
					"been put in, and an idle machine");
	st->dealing.engine.test = true;
	err = dealbox_machine_test_deal(st->dealing.machine, st->dealing.engine.insertion, cards);
	if (err) {
		st->dealing.engine.test = false;
		return machine_error(st, err, error);
	}
	log_message(MESSAGE_SERVICE, st->id, NULL, "user %u started a test deal of %u cards",
		    sender_person(m), cards);
	return sd_bus_reply_method_return(m, "");
}
METHOD(machine_test_deal, "service")

/* For service technicians: whoever knows a worn card can guess it when the machine stops at one. */
static int machine_statistics(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct station *st = machine_at(s, sd_bus_message_get_path(m));

	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	return reply_statistics(m, s, st->id, error);
}
METHOD(machine_statistics, "service")

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

struct word {
	uint32_t bit;
	const char *text;
};

/* Append the texts of the bits that are set. */
static int append_words(sd_bus_message *reply, const struct word *words, size_t count,
			uint32_t bits)
{
	size_t n;
	int err = sd_bus_message_open_container(reply, 'a', "s");

	for (n = 0; err >= 0 && n < count; n++)
		if (bits & words[n].bit)
			err = sd_bus_message_append(reply, "s", words[n].text);
	return err < 0 ? err : sd_bus_message_close_container(reply);
}

/* Calls that the engine knows nothing of, after its own ENGINE_*. */
#define KEY_REVEAL	(1u << 30)
#define KEY_LOCATE	(1u << 31)

static int append_keys(sd_bus_message *reply, const struct station *st)
{
	static const struct word words[] = {
		{ ENGINE_START, "start" }, { ENGINE_TAKE, "deal-this" },
		{ ENGINE_NUMBER, "name-board" },
		{ ENGINE_SKIP, "skip" }, { ENGINE_REDEAL, "redeal" }, { ENGINE_PAUSE, "pause" },
		{ ENGINE_RESUME, "resume" }, { ENGINE_RELEASE, "release" },
		{ ENGINE_ACCEPT, "accept" },
		{ ENGINE_TEST, "test-deal" }, { KEY_REVEAL, "reveal" }, { KEY_LOCATE, "locate" },
	};

	return append_words(reply, words, sizeof(words) / sizeof(words[0]),
			    station_keys(st) | (*st->dealing.revealed ? KEY_REVEAL : 0) |
				    (st->dealing.machine ? KEY_LOCATE : 0));
}

static int append_capabilities(sd_bus_message *reply, const struct station *st)
{
	static const struct word words[] = {
		{ DEALBOX_CAP_STORED_PLAN, "stored-plan" },
		{ DEALBOX_CAP_HOST_ROUTED, "host-routed" },
		{ DEALBOX_CAP_BY_CARD, "by-card" }, { DEALBOX_CAP_BY_POSITION, "by-position" },
		{ DEALBOX_CAP_CAPTURE, "capture" }, { DEALBOX_CAP_BOARD_READER, "board-reader" },
		{ DEALBOX_CAP_BOARD_LOCK, "board-lock" },
		{ DEALBOX_CAP_EXIT_SENSORS, "exit-sensors" },
		{ DEALBOX_CAP_FACE_SENSOR, "face-sensor" },
		{ DEALBOX_CAP_DOUBLE_FEED_SENSOR, "double-feed-sensor" },
		{ DEALBOX_CAP_KEYS, "keys" },
		{ DEALBOX_CAP_TEST_DEAL, "test-deal" }, { DEALBOX_CAP_ATTEST, "attest" },
	};

	return append_words(reply, words, sizeof(words) / sizeof(words[0]),
			    st->dealing.machine ? st->dealing.engine.capabilities : 0);
}

/* The facts of the state, for clients that make their own sentences: numbers and words, no card. */
static int append_facts(sd_bus_message *reply, const struct station *st)
{
	static const char *const suspects[] = { "", "earlier", "reader", "deck" };
	const struct engine *d = &st->dealing.engine;
	enum dealbox_operator_state state = engine_state(d);
	const struct job *job = jobs_find(&st->service->jobs, d->copy.job);
	bool capture = job && job->options & DEALBOX_JOB_CAPTURE;
	bool stopped = state >= DEALBOX_OPERATOR_UNREADABLE && state <= DEALBOX_OPERATOR_HARDWARE;
	bool repeated = state == DEALBOX_OPERATOR_REPEATED, jam = state == DEALBOX_OPERATOR_JAM;
	struct dealbox_operator_facts f;
	int err = sd_bus_message_open_container(reply, 'a', "{sv}");
	size_t n;

	dealing_facts(&st->dealing, &f);
	const struct {
		bool there;
		const char *key;
		uint32_t number;
		const char *const *words;
		size_t count;
	} facts[] = {
		{ true, "board", f.board },
		{ !capture, "copy", f.copy },
		{ capture, "pocket", f.copy, WORDS(seat_words) },
		{ job && !capture, "copies", job ? job->copies : 0 },
		{ true, "there", f.there },
		{ true, "label", d->number },
		{ stopped, "card", f.card },
		{ stopped, "cards", f.cards },
		{ repeated, "seat", f.seat, WORDS(seat_words) },
		{ repeated, "depth", f.depth },
		{ repeated, "suspect", f.culprit, WORDS(suspects) },
		{ repeated, "chance", f.culprit ? f.chance : 0 },
		{ jam, "place", f.place, WORDS(place_words) },
		{ (jam && !f.place) || state == DEALBOX_OPERATOR_HARDWARE, "code", f.code },
	};

	for (n = 0; err >= 0 && n < sizeof(facts) / sizeof(facts[0]); n++)
		if (facts[n].there)
			err = append_fact(reply, facts[n].key, facts[n].number, facts[n].words,
					  facts[n].count);
	if (err >= 0 && f.shuffled)
		err = sd_bus_message_append(reply, "{sv}", "shuffled", "b", 1);
	return err < 0 ? err : sd_bus_message_close_container(reply);
}

/* The last test deal, in numbers: no card. */
static int append_test(sd_bus_message *reply, const struct station *st)
{
	static const char *const states[] = { "", "running", "done", "stopped", "lost" };
	const struct test_result *t = &st->dealing.tested;
	const struct {
		const char *key;
		uint32_t number;
	} numbers[] = {
		{ "insertion", t->insertion }, { "cards", t->cards }, { "fed", t->fed },
		{ "read", t->read },
		{ "face-up", t->face_up }, { "repeated", t->repeated }, { "landed", t->landed },
	};
	int err = sd_bus_message_open_container(reply, 'a', "{sv}");
	size_t n;

	if (err >= 0 && t->state)
		err = sd_bus_message_append(reply, "{sv}", "state", "s", states[t->state]);
	for (n = 0; err >= 0 && t->state && n < sizeof(numbers) / sizeof(numbers[0]); n++)
		err = sd_bus_message_append(reply, "{sv}", numbers[n].key, "u", numbers[n].number);
	if (err >= 0 && t->stop)
		err = sd_bus_message_append(reply, "{sv}", "stop", "s",
					    dealbox_operator_name(engine_stop_state(t->stop)));
	return err < 0 ? err : sd_bus_message_close_container(reply);
}

static int append_job_path(sd_bus_message *reply, const struct station *st)
{
	char path[JOB_PATH] = "/";

	/* A job that is over may have been dropped. */
	if (jobs_find(&st->service->jobs, st->dealing.engine.copy.job))
		job_path(st->dealing.engine.copy.job, path);
	return sd_bus_message_append(reply, "o", path);
}

static const struct {
	const char *name;
	int (*append)(sd_bus_message *reply, const struct station *st);
} structured[] = {
	{ "Facts", append_facts }, { "Keys", append_keys }, { "Capabilities", append_capabilities },
	{ "JobPath", append_job_path }, { "Test", append_test },
};

static int get_structured(sd_bus *bus, const char *path, const char *interface,
			  const char *property, sd_bus_message *reply, void *context,
			  sd_bus_error *error)
{
	const struct station *st = machine_at(context, path);
	size_t n;

	(void)bus;
	(void)interface;
	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	for (n = 0; n < sizeof(structured) / sizeof(structured[0]); n++)
		if (!strcmp(property, structured[n].name))
			return structured[n].append(reply, st);
	return -ENOENT;
}

static int get_next(sd_bus *bus, const char *path, const char *interface, const char *property,
		    sd_bus_message *reply, void *context, sd_bus_error *error)
{
	const struct station *st = machine_at(context, path);
	struct copy next = { 0 };

	(void)bus;
	(void)interface;
	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	if (!st->dealing.machine || !engine_following(&st->dealing.engine, &st->service->jobs,
						      stations_engines(st->service), &next))
		next = (struct copy){ 0 };
	return append_number(reply, 'u', strcmp(property, "NextCopy") ? next.board : next.copy);
}

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
		{ "Question", 'u', st ? st->question : 0 },
		{ "CardsTotal", 'u', d ? d->cards : 0 },
		{ "Pace", 'u', d ? d->pace / 1000000 : 0 },
	};
	size_t n;

	(void)bus;
	(void)interface;
	if (!st)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such machine");
	if (!strcmp(property, "Instruction")) {
		dealing_facts(&st->dealing, &facts);
		dealbox_operator_text(state, &facts, st->service->config.language, text,
				      sizeof(text));
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
	SD_BUS_PROPERTY("Facts", "a{sv}", get_structured, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Keys", "as", get_structured, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Question", "u", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("JobPath", "o", get_structured, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Capabilities", "as", get_structured, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("CardsTotal", "u", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("NextBoard", "u", get_next, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("NextCopy", "u", get_next, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Pace", "u", get_machine, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Test", "a{sv}", get_structured, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD("Start", "", "", machine_start_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Answer", "u", SD_BUS_PARAM(question), "", ,
				 machine_answer_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("DealThis", "u", SD_BUS_PARAM(question), "", ,
				 machine_deal_this_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("NameBoard", "uu", SD_BUS_PARAM(question) SD_BUS_PARAM(board), "",
				 , machine_name_board_call, SD_BUS_VTABLE_UNPRIVILEGED),
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
	SD_BUS_METHOD_WITH_NAMES("GetParameters", "", , "a(usuuus)", SD_BUS_PARAM(parameters),
				 machine_parameters_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("SetParameter", "uu", SD_BUS_PARAM(number) SD_BUS_PARAM(value), "",
				 , machine_set_parameter_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("TestDeal", "u", SD_BUS_PARAM(cards), "", , machine_test_deal_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetStatistics", "", , "a" STATISTICS_TYPE, SD_BUS_PARAM(months),
				 machine_statistics_call, SD_BUS_VTABLE_UNPRIVILEGED),
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
					       "Diagnosis", "Dealing", "Job", "Board", "Copy",
					       "Cards", "Insertion", "Facts", "Keys", "Question",
					       "JobPath", "Capabilities", "CardsTotal", "NextBoard",
					       "NextCopy", "Pace", "Test", NULL);
	else if (path)
		sd_bus_emit_properties_changed(st->service->bus, path, "io.dealbox1.Machine",
					       "Cards", NULL);
	free(path);
}
