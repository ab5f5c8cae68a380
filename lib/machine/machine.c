// SPDX-License-Identifier: LGPL-2.1-or-later
/* The calls of a machine, and the error messages for their failures. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

static const struct backend *const backends[] = {
	&backend_local, &backend_usb, &backend_emu, &backend_hand,
};

/* Find the address of the only machine. */
static int only_machine(char *uri, size_t size, struct dealbox_error *reason)
{
	struct dealbox_machine_list *list;
	size_t count;
	int ret;

	ret = dealbox_machine_list_new(NULL, &list, reason);
	if (ret)
		return ret;
	count = dealbox_machine_list_count(list);
	if (count == 1)
		snprintf(uri, size, "%s", dealbox_machine_list_uri(list, 0));
	else if (count)
		ret = error_set(reason, -ENOTUNIQ, 0, "name one; `dealbox machines` lists them",
				"there are %zu machines, and none was named", count);
	else
		ret = reason_no_machine(reason);
	dealbox_machine_list_free(list);
	return ret;
}

static int open_with(struct dealbox_machine *machine, const char *uri, bool observe)
{
	const char *colon = strchr(uri, ':');
	size_t n;

	for (n = 0; colon && n < sizeof(backends) / sizeof(*backends); n++) {
		if (strlen(backends[n]->scheme) != (size_t)(colon - uri) ||
		    strncmp(backends[n]->scheme, uri, colon - uri))
			continue;
		machine->backend = backends[n];
		return backends[n]->open(machine, colon + 1, observe);
	}
	return error_set(&machine->reason, -EINVAL, 0,
			 "use local:/dev/dealbox0, usb:SERIAL, usb:BUS-PORT, emu:PATH or hand:",
			 "'%s' is not the address of a machine", uri);
}

int dealbox_machine_open(const char *uri, unsigned int flags, struct dealbox_machine **out,
			 struct dealbox_error *reason)
{
	struct dealbox_machine *machine;
	char only[256];
	int ret;

	*out = NULL;
	if (flags & ~DEALBOX_MACHINE_OBSERVE)
		return error_set(reason, -EINVAL, 0, NULL, "unknown flags %#x", flags);
	if (!uri) {
		ret = only_machine(only, sizeof(only), reason);
		if (ret)
			return ret;
		uri = only;
	}
	machine = calloc(1, sizeof(*machine));
	if (!machine)
		return error_set(reason, -ENOMEM, 0, NULL, "out of memory");
	ret = open_with(machine, uri, flags & DEALBOX_MACHINE_OBSERVE);
	if (ret) {
		if (reason)
			*reason = machine->reason;
		free(machine);
		return ret;
	}
	*out = machine;
	return 0;
}

void dealbox_machine_close(struct dealbox_machine *machine)
{
	if (!machine)
		return;
	machine->backend->close(machine->self);
	free(machine);
}

const char *dealbox_machine_uri(const struct dealbox_machine *machine)
{
	return machine->uri;
}

const struct dealbox_error *dealbox_machine_error(const struct dealbox_machine *machine)
{
	return &machine->reason;
}

int dealbox_machine_fd(const struct dealbox_machine *machine)
{
	return machine->fd;
}

uint32_t dealbox_machine_result(const struct dealbox_machine *machine, uint32_t *detail)
{
	if (detail)
		*detail = machine->detail;
	return machine->result;
}

/* The machine's error codes (docs/protocol.md, section 2.3), with cause and advice */
static const struct {
	const char *what;
	const char *next;
} results[] = {
	[DEALBOX_ERR_OK] = { "it gave no reason", NULL },
	[DEALBOX_ERR_BAD_REQUEST] = { "it does not know the command",
				      "its firmware may be too old" },
	[DEALBOX_ERR_BAD_LENGTH] = { "the command arrived damaged", "check the cable" },
	[DEALBOX_ERR_BAD_VALUE] = { "a value is out of range", NULL },
	[DEALBOX_ERR_UNSUPPORTED] = { "it cannot do that",
				      "`dealbox machines` shows what it can do" },
	[DEALBOX_ERR_STATE] = { "not possible in its present state",
		"finish or abort the current deal" },
	[DEALBOX_ERR_FAULT] = { "there is a fault, or its cause remains",
		"open the machine, remove stuck cards, and close the cover" },
	[DEALBOX_ERR_NO_PLAN] = { "it has no plan", "it was reset: deal again" },
	[DEALBOX_ERR_WRONG_PLAN] = { "it has a different plan",
				     "another program used it: deal again" },
	[DEALBOX_ERR_NO_BOARD] = { "there is no board in it", "put in an empty board" },
	[DEALBOX_ERR_WRONG_INSERTION] = { "the board was taken out and put in again",
		"empty the board and put it in again" },
	[DEALBOX_ERR_SPENT] = { "this board was already dealt into",
		"take the board out, empty it, and put it in again" },
	[DEALBOX_ERR_IN_DOUBT] = { "the board was in place when the machine was switched on, and "
				   "may have cards in it",
		"take the board out, empty it, and put it in again" },
	[DEALBOX_ERR_COVER_OPEN] = { "its cover is open", "close the cover" },
	[DEALBOX_ERR_HOPPER_EMPTY] = { "its hopper is empty", "put a pack into the hopper" },
	[DEALBOX_ERR_CRC] = { "the plan arrived damaged", "check the cable, and deal again" },
	[DEALBOX_ERR_PLAN] = { "it does not accept the plan",
			       "`dealbox machines` shows what it can do" },
	[DEALBOX_ERR_INCOMPLETE] = { "the plan did not arrive in time",
				     "check the cable, and deal again" },
	[DEALBOX_ERR_HARDWARE] = { "its hardware failed",
		"switch it off and on; if that does not help, have it serviced" },
};

/* errno values of calls, with cause and advice */
static const struct {
	int error;
	const char *what;
	const char *next;
} errors[] = {
	{ ENODEV, "the machine is gone: unplugged or switched off",
	  "plug it in and switch it on; empty the board that it was dealing" },
	{ EPERM, "this program has not claimed the machine", NULL },
	{ EBADF, "the machine was opened for watching only", NULL },
	{ ETIMEDOUT, "the machine did not answer in time",
	  "check the cable; switch the machine off and on" },
	{ EPROTO, "the machine's answer violates the protocol",
	  "its firmware may be too new or broken; `dealbox machines` shows both versions" },
	{ EIO, "the transfer to the machine failed", "check the cable, try another port" },
	{ EPIPE, "the machine refused a request that every machine must support",
	  "its firmware may be broken" },
	{ EOPNOTSUPP, "the machine cannot do that", "`dealbox machines` shows what it can do" },
	{ EINVAL, "the request is not valid for this machine",
	  "`dealbox machines` shows what it can do" },
	{ ENOTTY, "this is not a dealing machine, or the kernel module is too old",
	  "update the kernel module" },
	{ ENODATA, "it has attested no deal since it was connected",
	  "ask it to attest a deal first" },
	{ EINTR, "interrupted", NULL },
};

/* Report which process holds the claim. */
static void reason_busy(struct dealbox_machine *machine, const char *verb)
{
	struct dealbox_status status = { 0 };
	char name[64];

	machine->backend->call(machine->self, DEALBOX_IOC_GET_STATUS, &status);
	error_fill(&machine->reason, -EBUSY, 0, "wait until it has finished, or end it",
		   "%s: cannot %s: the machine is in use by %s", machine->uri, verb,
		   process_name(status.owner_pid, name, sizeof(name)));
}

/*
 * Make a call of the backend and set machine->reason if it fails. verb completes "cannot ..." in
 * the message. result and detail point into arg; NULL if the structure has none.
 */
static int call(struct dealbox_machine *machine, const char *verb, unsigned long request, void *arg,
		const uint32_t *result, const uint32_t *detail)
{
	size_t n;
	int ret;

	machine->result = DEALBOX_ERR_OK;
	machine->detail = 0;
	ret = machine->backend->call(machine->self, request, arg);
	if (result) {
		machine->result = *result;
		machine->detail = *detail;
	}
	if (!ret)
		return 0;
	if (ret == -EBUSY) {
		reason_busy(machine, verb);
		return ret;
	}
	if (ret == -EREMOTEIO) {
		n = machine->result;
		if (n >= sizeof(results) / sizeof(*results))
			n = DEALBOX_ERR_HARDWARE;
		return error_set(&machine->reason, ret, 0, results[n].next,
				 "%s: the machine refused to %s: %s", machine->uri, verb,
				 results[n].what);
	}
	for (n = 0; n < sizeof(errors) / sizeof(*errors); n++)
		if (errors[n].error == -ret)
			return error_set(&machine->reason, ret, 0, errors[n].next,
					 "%s: cannot %s: %s", machine->uri, verb, errors[n].what);
	return error_set(&machine->reason, ret, 0, NULL, "%s: cannot %s: %s", machine->uri, verb,
			 strerror(-ret));
}

ssize_t dealbox_machine_read(struct dealbox_machine *machine, struct dealbox_event *events,
			     size_t max)
{
	ssize_t ret = machine->backend->read(machine->self, events, max), n;

	/* What a machine has dealt must not pass for dealt by hand, whatever its driver says. */
	for (n = 0; n < ret && !machine->backend->hand; n++)
		events[n].flags &= ~DEALBOX_EVF_USER;
	if (ret == -ENODEV)
		error_fill(&machine->reason, -ENODEV, 0, errors[0].next, "%s: %s", machine->uri,
			   errors[0].what);
	else if (ret < 0 && ret != -EAGAIN)
		error_fill(&machine->reason, (int)ret, 0, NULL, "%s: cannot read events: %s",
			   machine->uri, strerror((int)-ret));
	return ret;
}

int dealbox_machine_get_info(struct dealbox_machine *machine, struct dealbox_info *out)
{
	return call(machine, "read its properties", DEALBOX_IOC_GET_INFO, out, NULL, NULL);
}

int dealbox_machine_get_status(struct dealbox_machine *machine, struct dealbox_status *out)
{
	return call(machine, "read its status", DEALBOX_IOC_GET_STATUS, out, NULL, NULL);
}

int dealbox_machine_get_counters(struct dealbox_machine *machine, struct dealbox_counters *out)
{
	return call(machine, "read its counters", DEALBOX_IOC_GET_COUNTERS, out, NULL, NULL);
}

int dealbox_machine_get_param(struct dealbox_machine *machine, uint32_t id,
			      struct dealbox_param *out)
{
	*out = (struct dealbox_param){ .id = id };
	return call(machine, "read a parameter", DEALBOX_IOC_GET_PARAM, out, &out->result,
		    &out->detail);
}

int dealbox_machine_set_param(struct dealbox_machine *machine, uint32_t id, uint32_t value)
{
	struct dealbox_param param = { .id = id, .value = value };

	return call(machine, "set a parameter", DEALBOX_IOC_SET_PARAM, &param, &param.result,
		    &param.detail);
}

int dealbox_machine_claim(struct dealbox_machine *machine)
{
	return call(machine, "take control", DEALBOX_IOC_CLAIM, NULL, NULL, NULL);
}

int dealbox_machine_release(struct dealbox_machine *machine)
{
	return call(machine, "give up control", DEALBOX_IOC_RELEASE, NULL, NULL, NULL);
}

int dealbox_machine_set_plan(struct dealbox_machine *machine, struct dealbox_plan *plan)
{
	return call(machine, "load the plan", DEALBOX_IOC_SET_PLAN, plan, &plan->result,
		    &plan->detail);
}

static int control(struct dealbox_machine *machine, const char *verb, struct dealbox_control cmd)
{
	return call(machine, verb, DEALBOX_IOC_CONTROL, &cmd, &cmd.result, &cmd.detail);
}

int dealbox_machine_start(struct dealbox_machine *machine, uint32_t plan_id, uint32_t insertion)
{
	return control(machine, "start the deal", (struct dealbox_control){
		.op = DEALBOX_OP_START, .plan_id = plan_id, .insertion = insertion });
}

int dealbox_machine_pause(struct dealbox_machine *machine)
{
	return control(machine, "pause", (struct dealbox_control){ .op = DEALBOX_OP_PAUSE });
}

int dealbox_machine_resume(struct dealbox_machine *machine)
{
	return control(machine, "go on", (struct dealbox_control){ .op = DEALBOX_OP_RESUME });
}

int dealbox_machine_reread(struct dealbox_machine *machine)
{
	return control(machine, "read the card again",
		       (struct dealbox_control){ .op = DEALBOX_OP_REREAD });
}

int dealbox_machine_abort(struct dealbox_machine *machine)
{
	return control(machine, "abort the deal",
		       (struct dealbox_control){ .op = DEALBOX_OP_ABORT });
}

int dealbox_machine_clear_fault(struct dealbox_machine *machine)
{
	return control(machine, "clear the fault",
		       (struct dealbox_control){ .op = DEALBOX_OP_CLEAR_FAULT });
}

int dealbox_machine_release_board(struct dealbox_machine *machine)
{
	return control(machine, "release the board",
		       (struct dealbox_control){ .op = DEALBOX_OP_RELEASE_BOARD });
}

int dealbox_machine_test_deal(struct dealbox_machine *machine, uint32_t insertion, uint32_t cards)
{
	return control(machine, "make a test deal", (struct dealbox_control){
		.op = DEALBOX_OP_TEST_DEAL, .insertion = insertion, .arg = cards });
}

int dealbox_machine_locate(struct dealbox_machine *machine, uint32_t seconds)
{
	return control(machine, "blink",
		       (struct dealbox_control){ .op = DEALBOX_OP_LOCATE, .arg = seconds });
}

int dealbox_machine_attest(struct dealbox_machine *machine, uint32_t insertion,
			   const uint8_t nonce[DEALBOX_NONCE_SIZE])
{
	struct dealbox_attest attest = { .insertion = insertion };
	int ret;

	memcpy(attest.nonce, nonce, sizeof(attest.nonce));
	ret = call(machine, "attest the deal", DEALBOX_IOC_ATTEST, &attest, &attest.result,
		   &attest.detail);
	explicit_bzero(&attest, sizeof(attest));
	/* of a START this says something else */
	if (ret == -EREMOTEIO && machine->result == DEALBOX_ERR_WRONG_INSERTION)
		error_fill(&machine->reason, ret, 0,
			   "ask right after the deal, before the next one",
			   "%s: the machine cannot attest the deal: the deal that ended last is "
			   "not one into this board", machine->uri);
	return ret;
}

int dealbox_machine_get_attestation(struct dealbox_machine *machine,
				    struct dealbox_attestation *out)
{
	return call(machine, "read its attestation", DEALBOX_IOC_GET_ATTESTATION, out, NULL, NULL);
}

int dealbox_machine_get_identity(struct dealbox_machine *machine, struct dealbox_identity *out)
{
	return call(machine, "read its key", DEALBOX_IOC_GET_IDENTITY, out, NULL, NULL);
}

int dealbox_machine_get_prompt(struct dealbox_machine *machine, struct dealbox_prompt *out)
{
	if (!machine->backend->hand)
		return -EOPNOTSUPP;
	machine->backend->hand(machine->self, out);
	return 0;
}

int dealbox_machine_count_from(struct dealbox_machine *machine, uint32_t insertion)
{
	if (!machine->backend->count_from)
		return -EOPNOTSUPP;
	machine->backend->count_from(machine->self, insertion);
	return 0;
}

const char *dealbox_state_name(uint32_t state)
{
	static const char *const names[] = {
		[DEALBOX_STATE_IDLE] = "idle",
		[DEALBOX_STATE_DEALING] = "dealing",
		[DEALBOX_STATE_PAUSED] = "paused",
		[DEALBOX_STATE_HELD] = "held",
		[DEALBOX_STATE_FAULT] = "fault",
		[DEALBOX_STATE_DONE] = "done",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "unknown state";
}
