// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "bus-event.h"
#include "bus-job.h"
#include "bus-reply.h"
#include "call-queue.h"
#include "log.h"
#include "member.h"
#include "pool/folder.h"

static int get_event(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *context, sd_bus_error *error)
{
	static const char *const states[MEMBER_STATES] = { "connecting", "online", "offline",
							   "refused" };
	struct member_view view = { .event = "", .pc = "", .reason = "",
				    .rest_by = "" };
	size_t n;

	(void)bus;
	(void)path;
	(void)interface;
	(void)error;
	member_look(context, &view);
	const struct {
		const char *name, *text;
	} texts[] = {
		{ "Name", view.event }, { "Pc", view.pc }, { "State", states[view.state] },
		{ "Reason", view.reason }, { "RestBy", view.rest_by },
	};
	const struct {
		const char *name;
		char type;
		uint64_t number;
	} numbers[] = {
		{ "Since", 't', (uint64_t)view.since },
		{ "LeaseEnds", 't', (uint64_t)view.lease_ends },
		{ "Open", 'u', view.open }, { "Recorded", 'u', view.recorded },
		{ "Waiting", 'u', view.waiting }, { "Resting", 'b', view.resting },
		{ "Left", 't', view.left }, { "MinutesLeft", 'u', view.left_min },
	};

	for (n = 0; n < sizeof(texts) / sizeof(texts[0]); n++)
		if (!strcmp(property, texts[n].name))
			return sd_bus_message_append(reply, "s", texts[n].text);
	for (n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		if (!strcmp(property, numbers[n].name))
			return append_number(reply, numbers[n].type, numbers[n].number);
	return -ENOENT;
}

struct listed {
	sd_bus_message *reply;
	int err;
};

static void append_trouble(const struct member_trouble *trouble, void *context)
{
	struct listed *listed = context;

	if (listed->err >= 0)
		listed->err = sd_bus_message_append(listed->reply, "a{sv}", 6,
						    "job", "u", trouble->copy.job,
						    "board", "u", trouble->copy.board,
						    "copy", "u", trouble->copy.copy,
						    "machine", "s", trouble->machine,
						    "insertion", "u", trouble->insertion,
						    "why", "s", trouble->why);
}

static void append_machine(const struct member_machine *machine, void *context)
{
	struct listed *listed = context;

	if (listed->err >= 0)
		listed->err = sd_bus_message_append(listed->reply, "a{sv}", 5,
						    "pc", "s", machine->pc,
						    "name", "s", machine->name,
						    "state", "s", machine->state,
						    "seconds", "u", machine->pace_s,
						    "heard", "t", machine->heard);
}

static void append_pc(const struct member_pc *pc, void *context)
{
	struct listed *listed = context;

	if (listed->err >= 0)
		listed->err = sd_bus_message_append(listed->reply, "a{sv}", 6,
						    "name", "s", pc->name, "state", "s", pc->state,
						    "open", "u", pc->open, "resting", "b",
						    pc->resting, "rest-by", "s", pc->by,
						    "heard", "t", pc->heard);
}

static void append_copy(const struct lease_copy *copy, void *context)
{
	struct listed *listed = context;

	if (listed->err >= 0)
		listed->err = sd_bus_message_append(listed->reply, "a{sv}", 3, "job", "u",
						    copy->job, "board", "u", copy->board,
						    "copy", "u", copy->copy);
}

static void list_machines(const struct service *s, struct listed *listed)
{
	member_machines(s, append_machine, listed);
}

static void list_pcs(const struct service *s, struct listed *listed)
{
	member_pcs(s, append_pc, listed);
}

static void list_surplus(const struct service *s, struct listed *listed)
{
	member_troubles(s, false, append_trouble, listed);
}

static void list_refused(const struct service *s, struct listed *listed)
{
	member_troubles(s, true, append_trouble, listed);
}

static void list_again(const struct service *s, struct listed *listed)
{
	member_again(s, append_copy, listed);
}

/* The properties that are arrays of dictionaries, which may get more entries. */
static const struct {
	const char *property;
	void (*list)(const struct service *s, struct listed *listed);
} lists[] = {
	{ "Pcs", list_pcs },
	{ "Machines", list_machines },
	{ "Surplus", list_surplus },
	{ "Refused", list_refused },
	{ "Again", list_again },
};

static int get_list(sd_bus *bus, const char *path, const char *interface, const char *property,
		    sd_bus_message *reply, void *context, sd_bus_error *error)
{
	struct listed listed = { reply, 0 };
	size_t n = 0;

	(void)bus;
	(void)path;
	(void)interface;
	(void)error;
	while (strcmp(lists[n].property, property))
		n++;
	listed.err = sd_bus_message_open_container(reply, 'a', "a{sv}");
	lists[n].list(context, &listed);
	return listed.err < 0 ? listed.err : sd_bus_message_close_container(reply);
}

/* Deal a copy again that the event wants again. No copy whose board counts. */
static int event_redeal(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct lease_copy copy;
	struct job *job;
	int err = sd_bus_message_read(m, "uuu", &copy.job, &copy.board, &copy.copy);

	if (err < 0)
		return err;
	job = jobs_find(&s->jobs, member_local(s, &copy));
	if (!job)
		return sd_bus_error_setf(error, ERROR("NotFound"),
					 "the event does not want copy %u of board %u of its job "
					 "%u again, or it was not dealt here", copy.copy,
					 copy.board, copy.job);
	return job_redeal_copy(m, s, job, copy.board, copy.copy, error);
}
METHOD(event_redeal, "manage")

/* Let other PCs deal what is not begun here, or take copies again. */
static int event_rest(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	int rest, err = sd_bus_message_read(m, "b", &rest);

	if (err < 0)
		return err;
	if (member_rest(s, rest))
		return sd_bus_error_set(error, ERROR("Ledger"),
					"the lease cannot be written; "
					"the journal says why");
	return sd_bus_reply_method_return(m, "");
}
METHOD(event_rest, "deal")

/* The same at any PC of the event; the server says to it what somebody here wants. */
static int event_rest_pc(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct member_view view;
	const char *pc;
	int rest, err = sd_bus_message_read(m, "sb", &pc, &rest);

	if (err < 0)
		return err;
	if (!member_look(s, &view))
		return -ENOENT;
	if (!is_name(pc) || strlen(pc) >= POOL_PC)
		return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "no PC has that name");
	err = member_rest_pc(s, m, pc, rest);
	if (err)
		return sd_bus_error_set(error, ERROR("Event"), err == -EBUSY ?
					"another one is being asked: try again" :
					"the server of the event does not answer, or refuses this "
					"PC: try again when it answers");
	log_message(MESSAGE_EVENT, NULL, NULL, "event: user %u wants PC %s to %s", sender_person(m),
		    pc, rest ? "take no copies" : "take copies again");
	return 1;
}
METHOD(event_rest_pc, "manage")

const sd_bus_vtable event_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Name", "s", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Pc", "s", get_event, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Reason", "s", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Since", "t", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("LeaseEnds", "t", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Open", "u", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Recorded", "u", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Waiting", "u", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Resting", "b", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("RestBy", "s", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Pcs", "aa{sv}", get_list, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Left", "t", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("MinutesLeft", "u", get_event, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Machines", "aa{sv}", get_list, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Surplus", "aa{sv}", get_list, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Refused", "aa{sv}", get_list, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Again", "aa{sv}", get_list, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD_WITH_NAMES("Redeal", "uuu",
				 SD_BUS_PARAM(job) SD_BUS_PARAM(board) SD_BUS_PARAM(copy), "", ,
				 event_redeal_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Rest", "b", SD_BUS_PARAM(rest), "", , event_rest_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("RestPc", "sb", SD_BUS_PARAM(pc) SD_BUS_PARAM(rest), "", ,
				 event_rest_pc_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END
};

void event_changed(struct service *s)
{
	sd_bus_emit_properties_changed(s->bus, EVENT, "io.dealbox1.Event", "Name", "State",
				       "Reason", "Since", "LeaseEnds", "Open", "Recorded",
				       "Waiting", "Resting", "RestBy", "Pcs", "Left",
				       "MinutesLeft", "Machines", "Surplus", "Refused", "Again",
				       NULL);
}
