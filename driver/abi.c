// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Conversion between the machine protocol and the ABI. */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "abi.h"

/* The layout must be the same for 32- and 64-bit readers, and never changes. */
static_assert(sizeof(struct dealbox_event) == 64, "event");

static void begin_event(struct event_source *source, u64 timestamp_ns,
			struct dealbox_event *out)
{
	memset(out, 0, sizeof(*out));
	out->timestamp_ns = timestamp_ns;
	out->seqno = source->seqno++;
	out->position = DEALBOX_NONE;
	out->card = DEALBOX_NONE;
	out->pocket = DEALBOX_NONE;
	out->quality = DEALBOX_NONE;
}

void dealbox_abi_protocol_error(struct event_source *source, u32 code, u32 arg,
				u64 timestamp_ns, struct dealbox_event *out)
{
	begin_event(source, timestamp_ns, out);
	out->type = DEALBOX_EV_PROTOCOL_ERROR;
	out->code = code;
	out->arg[0] = arg;
}

static bool at_most(u8 value, u8 max)
{
	return value <= max || value == DEALBOX_NONE;
}

/* A machine that was not asked yet may send events of a deal that runs. */
static bool pocket_ok(const struct event_source *source, u8 pocket)
{
	return !source->pockets || pocket < source->pockets ||
	       pocket == DEALBOX_NONE;
}

/*
 * The fields of unknown types are not checked: later minor versions define
 * them.
 */
static bool fields_ok(const struct event_source *source,
		      const struct wire_event *in)
{
	return !dealbox_wire_known(in->type) ||
	       (at_most(in->position, DEALBOX_MAX_ENTRIES) &&
		at_most(in->card, DEALBOX_MAX_CARDS - 1) &&
		pocket_ok(source, in->pocket) &&
		at_most(in->quality, 100));
}

/* Return true if events of the machine are missing before this one. */
static bool machine_gap(struct event_source *source,
			const struct wire_event *in)
{
	bool gap = source->machine_known &&
		   in->number != source->machine_next &&
		   in->type != DEALBOX_EV_STATE_LOST; /* numbering restarts */

	source->machine_known = true;
	source->machine_next = in->number + 1;
	return gap;
}

static u8 byte_of(u32 value, int n)
{
	return value >> 8 * n & 0xff;
}

bool dealbox_abi_event(struct event_source *source, const struct wire_event *in,
		       u64 timestamp_ns, struct dealbox_event *out)
{
	bool ok = fields_ok(source, in);
	int i;

	if (!ok)
		dealbox_abi_protocol_error(source, DEALBOX_PROTO_EVENT_FIELD,
					   in->type, timestamp_ns, out);
	else
		begin_event(source, timestamp_ns, out);
	if (machine_gap(source, in))
		out->flags |= DEALBOX_EVF_MACHINE_GAP;
	out->machine_seq = in->number;
	out->machine_time_us = in->clock_us;
	if (!ok)
		return false;

	out->type = in->type;
	out->flags |= in->flags &
		      (DEALBOX_EVF_FACE_UP | DEALBOX_EVF_AT_POWER_ON);
	out->insertion = in->insertion;
	out->position = in->position;
	out->card = in->card;
	out->pocket = in->pocket;
	out->quality = in->quality;
	out->code = in->code;
	if (in->type == DEALBOX_EV_DEAL_DONE) {
		for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
			out->counts[i] = byte_of(in->arg[i / 4], i % 4);
	} else {
		out->arg[0] = in->arg[0];
		out->arg[1] = in->arg[1];
	}
	return true;
}

void dealbox_abi_printable(char *text)
{
	u8 *c;

	for (c = (u8 *)text; *c; c++) {
		/* In UTF-8, U+0080 to U+009f are two bytes each. */
		if (c[0] == 0xc2 && (c[1] & 0xe0) == 0x80)
			memset(c, '?', 2);
		else if (*c < ' ' || *c == 0x7f)
			*c = '?';
	}
}

/*
 * Return the longest prefix of text in bytes, at most max, of whole UTF-8
 * characters.
 */
static size_t utf8_prefix(const char *text, size_t max)
{
	size_t length = strnlen(text, max);

	while (length && ((u8)text[length] & 0xc0) == 0x80)
		length--;
	return length;
}

void dealbox_abi_info(const struct wire_descriptor *machine,
		      const struct wire_info *in, const char *serial,
		      u32 queue_events, struct dealbox_info *out)
{
	memset(out, 0, sizeof(*out));
	out->capabilities = machine->capabilities;
	out->protocol = machine->version;
	out->firmware = in->firmware;
	out->hardware = in->hardware;
	out->gate_deadline_us = machine->gate_deadline_us;
	out->queue_events = queue_events;
	out->hopper = machine->hopper;
	out->plan_entries = machine->plan_entries;
	out->pockets = machine->pockets;
	out->pocket_capacity = machine->pocket_capacity;
	out->reader = machine->reader;
	memcpy(out->model, in->name, sizeof(in->name));
	dealbox_abi_printable(out->model);
	if (serial)
		memcpy(out->serial, serial,
		       utf8_prefix(serial, sizeof(out->serial) - 1));
	dealbox_abi_printable(out->serial);
}

void dealbox_abi_status(const struct wire_status *in,
			struct dealbox_status *out)
{
	memset(out, 0, sizeof(*out));
	out->plan_id = in->plan_id;
	out->insertion = in->insertion;
	out->state = in->state;
	out->fault = in->fault;
	out->flags = in->flags;
	out->cards_total = in->cards_total;
	out->board = in->board;
	out->cards_done = in->cards_done;
	out->machine_seq = in->next_event;
	memcpy(out->counts, in->counts, sizeof(out->counts));
}

int dealbox_abi_plan(const struct dealbox_plan *in,
		     const struct wire_descriptor *machine,
		     struct wire_plan *out)
{
	u8 block[WIRE_PLAN_MAX];
	u32 detail;
	u8 error;

	memset(out, 0, sizeof(*out));
	if (in->entries > DEALBOX_MAX_ENTRIES ||
	    memchr_inv(in->reserved1, 0, sizeof(in->reserved1)) ||
	    memchr_inv(in->reserved, 0, sizeof(in->reserved)) ||
	    memchr_inv(in->pocket + in->entries, 0,
		       sizeof(in->pocket) - in->entries))
		return -EINVAL;
	if (!in->entries)
		return in->plan_id || in->mode ? -EINVAL : 0;
	if (in->plan_id == DEALBOX_PLAN_NONE ||
	    in->plan_id == DEALBOX_PLAN_TEST ||
	    in->mode < DEALBOX_PLAN_BY_CARD || in->mode > DEALBOX_PLAN_CAPTURE)
		return -EINVAL;

	out->plan_id = in->plan_id;
	out->mode = in->mode;
	out->entries = in->entries;
	memcpy(out->pocket, in->pocket, in->entries);
	dealbox_count_plan(out);

	error = dealbox_decode_plan(block, dealbox_encode_plan(block, out),
				    machine, in->plan_id, out, &detail);
	memzero_explicit(block, sizeof(block));
	if (error == DEALBOX_ERR_OK)
		return 0;
	/*
	 * The mode, at offset 6, is valid: only its capability can be missing.
	 */
	return detail == 6 ? -EOPNOTSUPP : -EINVAL;
}

#define USES_PLAN	1
#define USES_INSERTION	2

static const struct {
	u8 uses;
	u8 arg_max;
	u8 arg_min;
	u32 capability;
} ops[] = {
	[DEALBOX_OP_START] = { .uses = USES_PLAN | USES_INSERTION },
	[DEALBOX_OP_PAUSE] = { 0 },
	[DEALBOX_OP_RESUME] = { 0 },
	[DEALBOX_OP_REREAD] = { 0 },
	[DEALBOX_OP_ABORT] = { 0 },
	[DEALBOX_OP_CLEAR_FAULT] = { 0 },
	[DEALBOX_OP_RELEASE_BOARD] = { .capability = DEALBOX_CAP_BOARD_LOCK },
	[DEALBOX_OP_TEST_DEAL] = { .uses = USES_INSERTION, .arg_min = 1,
				   .arg_max = DEALBOX_MAX_ENTRIES,
				   .capability = DEALBOX_CAP_TEST_DEAL },
	[DEALBOX_OP_LOCATE] = { .arg_max = 60 },
};

int dealbox_abi_control(const struct dealbox_control *in,
			const struct wire_descriptor *machine,
			const struct wire_plan *plan, struct wire_command *out)
{
	u32 op;
	u8 uses;

	if (in->op < DEALBOX_OP_START || in->op > DEALBOX_OP_LOCATE ||
	    memchr_inv(in->reserved, 0, sizeof(in->reserved)))
		return -EINVAL;

	op = array_index_nospec(in->op, DEALBOX_OP_LOCATE + 1);
	uses = ops[op].uses;
	if (!!in->plan_id != !!(uses & USES_PLAN) ||
	    in->plan_id == DEALBOX_PLAN_TEST ||
	    !!in->insertion != !!(uses & USES_INSERTION) ||
	    in->arg < ops[op].arg_min || in->arg > ops[op].arg_max)
		return -EINVAL;
	if (ops[op].capability & ~machine->capabilities)
		return -EOPNOTSUPP;

	memset(out, 0, sizeof(*out));
	switch (in->op) {
	case DEALBOX_OP_START:
		out->a = in->plan_id;
		out->b = in->insertion;
		if (plan)
			out->c = plan->feed |
				 (plan->mode == DEALBOX_PLAN_CAPTURE ?
				  WIRE_START_CAPTURE : 0);
		break;
	case DEALBOX_OP_TEST_DEAL:
		if (in->arg > machine->plan_entries)
			return -EINVAL;
		out->b = in->insertion;
		out->c = in->arg;
		break;
	case DEALBOX_OP_LOCATE:
		out->a = in->arg;
		break;
	}
	return 0;
}

int dealbox_abi_param(const struct dealbox_param *in, bool set)
{
	if (memchr_inv(in->reserved, 0, sizeof(in->reserved)) ||
	    (set && (in->min || in->max)))
		return -EINVAL;
	return 0;
}
