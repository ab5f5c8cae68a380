// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Encoding and decoding of the dealing machine protocol, docs/protocol.md.
 *
 * Fields are little-endian and unaligned.
 */
#include <linux/build_bug.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "wire.h"

/* The types of this version of the protocol, ascending. */
static const struct {
	u32 first, last;
} known[] = {
	{ DEALBOX_EV_STATE_LOST, DEALBOX_EV_KEY },
	{ DEALBOX_EV_PLAN_LOADED, DEALBOX_EV_ATTESTED },
	{ DEALBOX_EV_CARD_UNREADABLE, DEALBOX_EV_DECK_SHORT },
	{ DEALBOX_EV_REPEATED_CARD, DEALBOX_EV_HARDWARE },
};

bool dealbox_wire_known(u32 type)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(known); n++)
		if (type >= known[n].first && type <= known[n].last)
			return true;
	return false;
}

bool dealbox_decode_descriptor(const u8 *buf, size_t len,
			       struct wire_descriptor *out)
{
	const u32 kinds = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_HOST_ROUTED;
	const u32 modes = DEALBOX_CAP_BY_CARD | DEALBOX_CAP_BY_POSITION;
	const u32 readers = DEALBOX_CAP_BY_CARD | DEALBOX_CAP_CAPTURE;
	bool routed;

	if (len < WIRE_DESC_SIZE || buf[0] < WIRE_DESC_SIZE || buf[0] > len ||
	    buf[1] != WIRE_DESC_TYPE || buf[2] != WIRE_DESC_SUBTYPE)
		return false;

	out->reader = buf[3];
	out->version = get_unaligned_le16(buf + 4);
	out->pockets = buf[6];
	out->pocket_capacity = buf[7];
	out->hopper = get_unaligned_le16(buf + 8);
	out->plan_entries = get_unaligned_le16(buf + 10);
	out->capabilities = get_unaligned_le32(buf + 12);
	out->gate_deadline_us = get_unaligned_le32(buf + 16);

	routed = out->capabilities & DEALBOX_CAP_HOST_ROUTED;
	return out->reader <= DEALBOX_READER_OTHER &&
	       out->version >> 8 == WIRE_VERSION >> 8 &&
	       out->pockets >= 1 && out->pockets <= DEALBOX_MAX_POCKETS &&
	       out->pocket_capacity >= 1 && out->pocket_capacity <= 64 &&
	       out->hopper &&
	       out->plan_entries >= 1 &&
	       out->plan_entries <= DEALBOX_MAX_ENTRIES &&
	       (out->capabilities & kinds) &&
	       (out->capabilities & kinds) != kinds &&
	       (out->capabilities & modes) &&
	       (out->reader || !(out->capabilities & readers)) &&
	       routed == !!out->gate_deadline_us;
}

int dealbox_read_descriptor(const u8 *buf, size_t len,
			    struct wire_descriptor *out)
{
	int error = -EPROTO;

	if (dealbox_decode_descriptor(buf, len, out))
		return 0;
	if (len < 3 || buf[1] != WIRE_DESC_TYPE || buf[2] != WIRE_DESC_SUBTYPE)
		error = -ENOENT;
	else if (len >= WIRE_DESC_SIZE && buf[5] > WIRE_VERSION >> 8)
		error = -EPROTONOSUPPORT;
	memset(out, 0, sizeof(*out));
	return error;
}

void dealbox_decode_info(const u8 *buf, struct wire_info *out)
{
	out->version = get_unaligned_le16(buf);
	out->firmware = get_unaligned_le32(buf + 4);
	out->hardware = get_unaligned_le32(buf + 8);
	memcpy(out->name, buf + 16, WIRE_NAME_SIZE);
	out->name[WIRE_NAME_SIZE] = '\0';
}

bool dealbox_decode_status(const u8 *buf, struct wire_status *out)
{
	out->state = buf[0];
	out->fault = buf[1];
	out->flags = buf[2];
	out->cards_total = buf[3];
	out->plan_id = get_unaligned_le32(buf + 4);
	out->insertion = get_unaligned_le32(buf + 8);
	out->board = get_unaligned_le16(buf + 12);
	out->cards_done = buf[14];
	out->next_event = get_unaligned_le32(buf + 16);
	out->clock_us = get_unaligned_le32(buf + 20);
	memcpy(out->counts, buf + 24, DEALBOX_MAX_POCKETS);

	switch (out->state) {
	case DEALBOX_STATE_HELD:
		return DEALBOX_EV_IS_HELD(out->fault);
	case DEALBOX_STATE_FAULT:
		return DEALBOX_EV_IS_VOID(out->fault);
	default:
		return out->state <= DEALBOX_STATE_DONE && !out->fault;
	}
}

void dealbox_decode_result(const u8 *buf, struct wire_result *out)
{
	out->sequence = get_unaligned_le32(buf);
	out->request = buf[4];
	out->error = buf[5];
	out->detail = get_unaligned_le32(buf + 8);
}

/* struct dealbox_counters keeps the order of the protocol. */
#define COUNTERS	(WIRE_COUNTERS_SIZE / 4)
static_assert(sizeof(struct dealbox_counters) == WIRE_COUNTERS_SIZE,
	      "counters");

void dealbox_decode_counters(const u8 *buf, struct dealbox_counters *out)
{
	u32 v[COUNTERS];
	int i;

	for (i = 0; i < COUNTERS; i++)
		v[i] = get_unaligned_le32(buf + 4 * i);
	v[COUNTERS - 1] = 0;
	memcpy(out, v, sizeof(v));
}

void dealbox_decode_param(const u8 *buf, struct wire_param *out)
{
	out->id = get_unaligned_le32(buf);
	out->value = get_unaligned_le32(buf + 4);
	out->min = get_unaligned_le32(buf + 8);
	out->max = get_unaligned_le32(buf + 12);
}

void dealbox_decode_identity(const u8 *buf, struct dealbox_identity *out)
{
	memset(out, 0, sizeof(*out));
	out->flags = get_unaligned_le32(buf) & DEALBOX_IDENTITY_EMULATED;
	out->counter = get_unaligned_le32(buf + 4);
	memcpy(out->key_id, buf + 8, sizeof(out->key_id));
	memcpy(out->public_key, buf + 16, sizeof(out->public_key));
}

void dealbox_encode_command(u8 *buf, const struct wire_command *in)
{
	put_unaligned_le32(in->sequence, buf);
	put_unaligned_le32(in->a, buf + 4);
	put_unaligned_le32(in->b, buf + 8);
	put_unaligned_le32(in->c, buf + 12);
}

void dealbox_count_plan(struct wire_plan *plan)
{
	int i;

	plan->feed = 0;
	memset(plan->counts, 0, sizeof(plan->counts));
	if (plan->mode == DEALBOX_PLAN_CAPTURE)
		return;

	for (i = 0; i < plan->entries; i++) {
		u8 pocket = plan->pocket[i];

		if (plan->mode != DEALBOX_PLAN_BY_CARD ||
		    pocket != DEALBOX_NONE)
			plan->feed++;
		if (pocket < DEALBOX_MAX_POCKETS)
			plan->counts[pocket]++;
	}
}

size_t dealbox_encode_plan(u8 *buf, const struct wire_plan *in)
{
	memset(buf, 0, WIRE_PLAN_HEADER);
	put_unaligned_le32(WIRE_PLAN_MAGIC, buf);
	put_unaligned_le16(WIRE_PLAN_VERSION, buf + 4);
	buf[6] = in->mode;
	put_unaligned_le32(in->plan_id, buf + 8);
	buf[12] = in->entries;
	buf[13] = in->feed;
	memcpy(buf + 16, in->counts, DEALBOX_MAX_POCKETS);
	memcpy(buf + WIRE_PLAN_HEADER, in->pocket, in->entries);
	put_unaligned_le32(~crc32c(~0, buf, WIRE_PLAN_HEADER + in->entries),
			   buf + WIRE_PLAN_HEADER + in->entries);
	return WIRE_PLAN_SIZE(in->entries);
}

static bool mode_ok(u8 mode, u32 capabilities)
{
	static const u32 need[] = {
		[DEALBOX_PLAN_BY_CARD] = DEALBOX_CAP_BY_CARD,
		[DEALBOX_PLAN_BY_POSITION] = DEALBOX_CAP_BY_POSITION,
		[DEALBOX_PLAN_CAPTURE] = DEALBOX_CAP_CAPTURE,
	};

	return mode <= DEALBOX_PLAN_CAPTURE &&
	       (capabilities &
		need[array_index_nospec(mode, ARRAY_SIZE(need))]);
}

static u8 entries_max(u8 mode, u16 plan_entries)
{
	if (mode == DEALBOX_PLAN_CAPTURE)
		return 1;
	if (mode == DEALBOX_PLAN_BY_CARD && plan_entries > DEALBOX_MAX_CARDS)
		return DEALBOX_MAX_CARDS;
	return plan_entries;
}

/*
 * Return the offset of the first bad field, or -1. The caller checked the
 * length.
 */
static int plan_fault(const u8 *buf, const struct wire_descriptor *machine,
		      u32 plan_id, struct wire_plan *out)
{
	u8 feed;
	int i;

	if (get_unaligned_le32(buf) != WIRE_PLAN_MAGIC)
		return 0;
	if (get_unaligned_le16(buf + 4) >> 8 != WIRE_PLAN_VERSION >> 8)
		return 4;
	out->mode = buf[6];
	if (!mode_ok(out->mode, machine->capabilities))
		return 6;
	if (buf[7])
		return 7;
	out->plan_id = get_unaligned_le32(buf + 8);
	if (out->plan_id != plan_id)
		return 8;
	out->entries = buf[12];
	if (!out->entries ||
	    out->entries > entries_max(out->mode, machine->plan_entries))
		return 12;

	memset(out->pocket, 0, sizeof(out->pocket));
	memcpy(out->pocket, buf + WIRE_PLAN_HEADER, out->entries);
	dealbox_count_plan(out);
	feed = buf[13];
	if (feed != out->feed || (!feed && out->mode != DEALBOX_PLAN_CAPTURE))
		return 13;
	if (get_unaligned_le16(buf + 14))
		return 14;
	for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
		if (buf[16 + i] != out->counts[i] ||
		    buf[16 + i] > machine->pocket_capacity)
			return 16 + i;
	if (get_unaligned_le32(buf + 24) || get_unaligned_le32(buf + 28))
		return 24;
	for (i = 0; i < out->entries; i++) {
		u8 pocket = out->pocket[i];

		if (out->mode == DEALBOX_PLAN_BY_CARD && pocket == DEALBOX_NONE)
			continue;
		if (pocket >= machine->pockets)
			return WIRE_PLAN_HEADER + i;
	}
	return -1;
}

u8 dealbox_decode_plan(const u8 *buf, size_t len,
		       const struct wire_descriptor *machine, u32 plan_id,
		       struct wire_plan *out, u32 *detail)
{
	u32 crc;
	int fault;

	if (len < WIRE_PLAN_SIZE(0) || len != WIRE_PLAN_SIZE(buf[12])) {
		*detail = 12;
		return DEALBOX_ERR_PLAN;
	}

	crc = ~crc32c(~0, buf, len - 4);
	if (crc != get_unaligned_le32(buf + len - 4)) {
		*detail = crc;
		return DEALBOX_ERR_CRC;
	}

	fault = plan_fault(buf, machine, plan_id, out);
	*detail = fault < 0 ? 0 : fault;
	return fault < 0 ? DEALBOX_ERR_OK : DEALBOX_ERR_PLAN;
}

void dealbox_decode_event(const u8 *buf, struct wire_event *out)
{
	out->type = buf[0];
	out->flags = buf[1];
	out->number = get_unaligned_le32(buf + 4);
	out->clock_us = get_unaligned_le32(buf + 8);
	out->insertion = get_unaligned_le32(buf + 12);
	out->position = buf[16];
	out->card = buf[17];
	out->pocket = buf[18];
	out->quality = buf[19];
	out->code = get_unaligned_le32(buf + 20);
	out->arg[0] = get_unaligned_le32(buf + 24);
	out->arg[1] = get_unaligned_le32(buf + 28);
}

void dealbox_encode_gate(u8 *buf, const struct wire_gate *in)
{
	buf[0] = WIRE_GATE_TYPE;
	buf[1] = in->pocket;
	buf[2] = in->reason;
	buf[3] = in->position;
	put_unaligned_le32(in->number, buf + 4);
	put_unaligned_le32(in->insertion, buf + 8);
	put_unaligned_le32(in->first, buf + 12);
}
