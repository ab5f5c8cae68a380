// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encoding and decoding of the protocol by a machine, docs/protocol.md. */
#include <linux/unaligned.h>
#include <string.h>

#include "machine_wire.h"

#define COUNTERS	(WIRE_COUNTERS_SIZE / 4)

void wire_descriptor_put(u8 *buf, const struct wire_descriptor *in)
{
	memset(buf, 0, WIRE_DESC_SIZE);
	buf[0] = WIRE_DESC_SIZE;
	buf[1] = WIRE_DESC_TYPE;
	buf[2] = WIRE_DESC_SUBTYPE;
	buf[3] = in->reader;
	put_unaligned_le16(in->version, buf + 4);
	buf[6] = in->pockets;
	buf[7] = in->pocket_capacity;
	put_unaligned_le16(in->hopper, buf + 8);
	put_unaligned_le16(in->plan_entries, buf + 10);
	put_unaligned_le32(in->capabilities, buf + 12);
	put_unaligned_le32(in->gate_deadline_us, buf + 16);
}

void wire_info_put(u8 *buf, const struct wire_info *in)
{
	memset(buf, 0, WIRE_INFO_SIZE);
	put_unaligned_le16(in->version, buf);
	put_unaligned_le32(in->firmware, buf + 4);
	put_unaligned_le32(in->hardware, buf + 8);
	memcpy(buf + 16, in->name, strnlen(in->name, WIRE_NAME_SIZE));
}

void wire_status_put(u8 *buf, const struct wire_status *in)
{
	memset(buf, 0, WIRE_STATUS_SIZE);
	buf[0] = in->state;
	buf[1] = in->fault;
	buf[2] = in->flags;
	buf[3] = in->cards_total;
	put_unaligned_le32(in->plan_id, buf + 4);
	put_unaligned_le32(in->insertion, buf + 8);
	put_unaligned_le16(in->board, buf + 12);
	buf[14] = in->cards_done;
	put_unaligned_le32(in->next_event, buf + 16);
	put_unaligned_le32(in->clock_us, buf + 20);
	memcpy(buf + 24, in->counts, DEALBOX_MAX_POCKETS);
}

void wire_result_put(u8 *buf, const struct wire_result *in)
{
	memset(buf, 0, WIRE_RESULT_SIZE);
	put_unaligned_le32(in->sequence, buf);
	buf[4] = in->request;
	buf[5] = in->error;
	put_unaligned_le32(in->detail, buf + 8);
}

void wire_counters_put(u8 *buf, const struct dealbox_counters *in)
{
	u32 v[COUNTERS];
	int i;

	memcpy(v, in, sizeof(v));
	v[COUNTERS - 1] = 0;
	for (i = 0; i < COUNTERS; i++)
		put_unaligned_le32(v[i], buf + 4 * i);
}

void wire_param_put(u8 *buf, const struct wire_param *in)
{
	put_unaligned_le32(in->id, buf);
	put_unaligned_le32(in->value, buf + 4);
	put_unaligned_le32(in->min, buf + 8);
	put_unaligned_le32(in->max, buf + 12);
}

void wire_command_get(const u8 *buf, struct wire_command *out)
{
	out->sequence = get_unaligned_le32(buf);
	out->a = get_unaligned_le32(buf + 4);
	out->b = get_unaligned_le32(buf + 8);
	out->c = get_unaligned_le32(buf + 12);
}

void wire_event_put(u8 *buf, const struct wire_event *in)
{
	memset(buf, 0, WIRE_EVENT_SIZE);
	buf[0] = in->type;
	buf[1] = in->flags;
	put_unaligned_le32(in->number, buf + 4);
	put_unaligned_le32(in->clock_us, buf + 8);
	put_unaligned_le32(in->insertion, buf + 12);
	buf[16] = in->position;
	buf[17] = in->card;
	buf[18] = in->pocket;
	buf[19] = in->quality;
	put_unaligned_le32(in->code, buf + 20);
	put_unaligned_le32(in->arg[0], buf + 24);
	put_unaligned_le32(in->arg[1], buf + 28);
}

bool wire_gate_get(const u8 *buf, size_t len, struct wire_gate *out)
{
	if (len != WIRE_GATE_SIZE || buf[0] != WIRE_GATE_TYPE)
		return false;

	out->pocket = buf[1];
	out->reason = buf[2];
	out->position = buf[3];
	out->number = get_unaligned_le32(buf + 4);
	out->insertion = get_unaligned_le32(buf + 8);
	out->first = get_unaligned_le32(buf + 12);

	if (out->pocket == DEALBOX_NONE)
		return out->reason == DEALBOX_EV_REPEATED_CARD ||
		       out->reason == DEALBOX_EV_NOT_IN_PLAN;
	return !out->reason;
}
