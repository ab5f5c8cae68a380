// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The dealing machine protocol in bytes: encode and decode, no I/O.
 *
 * Section numbers are those of docs/protocol.md. All fields are read and
 * written byte by byte: they are little-endian, and buffers have no alignment.
 */
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/string.h>
#else
#include <assert.h>
#include <string.h>
#endif

#include "wire.h"

static u16 get16(const u8 *p)
{
	return p[0] | p[1] << 8;
}

static u32 get32(const u8 *p)
{
	return get16(p) | (u32)get16(p + 2) << 16;
}

static void put16(u8 *p, u16 v)
{
	p[0] = v & 0xff;
	p[1] = v >> 8;
}

static void put32(u8 *p, u32 v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

void wire_descriptor_put(u8 *buf, const struct wire_descriptor *in)
{
	memset(buf, 0, WIRE_DESC_SIZE);
	buf[0] = WIRE_DESC_SIZE;
	buf[1] = WIRE_DESC_TYPE;
	buf[2] = WIRE_DESC_SUBTYPE;
	buf[3] = in->reader;
	put16(buf + 4, in->version);
	buf[6] = in->pockets;
	buf[7] = in->pocket_capacity;
	put16(buf + 8, in->hopper);
	put16(buf + 10, in->plan_entries);
	put32(buf + 12, in->capabilities);
	put32(buf + 16, in->gate_deadline_us);
}

bool wire_descriptor_get(const u8 *buf, size_t len, struct wire_descriptor *out)
{
	const u32 kinds = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_HOST_ROUTED;
	const u32 modes = DEALBOX_CAP_BY_CARD | DEALBOX_CAP_BY_POSITION;
	const u32 readers = DEALBOX_CAP_BY_CARD | DEALBOX_CAP_CAPTURE;
	bool routed;

	if (len < WIRE_DESC_SIZE || buf[0] < WIRE_DESC_SIZE || buf[0] > len ||
	    buf[1] != WIRE_DESC_TYPE || buf[2] != WIRE_DESC_SUBTYPE)
		return false;

	out->reader = buf[3];
	out->version = get16(buf + 4);
	out->pockets = buf[6];
	out->pocket_capacity = buf[7];
	out->hopper = get16(buf + 8);
	out->plan_entries = get16(buf + 10);
	out->capabilities = get32(buf + 12);
	out->gate_deadline_us = get32(buf + 16);

	routed = out->capabilities & DEALBOX_CAP_HOST_ROUTED;
	return out->reader <= DEALBOX_READER_OTHER &&
	       out->version >> 8 == WIRE_VERSION >> 8 &&
	       out->pockets >= 1 && out->pockets <= DEALBOX_MAX_POCKETS &&
	       out->pocket_capacity >= 1 && out->pocket_capacity <= 64 &&
	       out->hopper &&
	       out->plan_entries >= 1 && out->plan_entries <= DEALBOX_MAX_ENTRIES &&
	       (out->capabilities & kinds) && (out->capabilities & kinds) != kinds &&
	       (out->capabilities & modes) &&
	       (out->reader || !(out->capabilities & readers)) &&
	       routed == !!out->gate_deadline_us;
}

void wire_info_put(u8 *buf, const struct wire_info *in)
{
	memset(buf, 0, WIRE_INFO_SIZE);
	put16(buf, in->version);
	put32(buf + 4, in->firmware);
	put32(buf + 8, in->hardware);
	memcpy(buf + 16, in->name, strnlen(in->name, WIRE_NAME_SIZE));
}

void wire_info_get(const u8 *buf, struct wire_info *out)
{
	out->version = get16(buf);
	out->firmware = get32(buf + 4);
	out->hardware = get32(buf + 8);
	memcpy(out->name, buf + 16, WIRE_NAME_SIZE);
	out->name[WIRE_NAME_SIZE] = '\0';
}

void wire_status_put(u8 *buf, const struct wire_status *in)
{
	memset(buf, 0, WIRE_STATUS_SIZE);
	buf[0] = in->state;
	buf[1] = in->fault;
	buf[2] = in->flags;
	buf[3] = in->cards_total;
	put32(buf + 4, in->plan_id);
	put32(buf + 8, in->insertion);
	put16(buf + 12, in->board);
	buf[14] = in->cards_done;
	put32(buf + 16, in->next_event);
	put32(buf + 20, in->clock_us);
	memcpy(buf + 24, in->counts, DEALBOX_MAX_POCKETS);
}

bool wire_status_get(const u8 *buf, struct wire_status *out)
{
	out->state = buf[0];
	out->fault = buf[1];
	out->flags = buf[2];
	out->cards_total = buf[3];
	out->plan_id = get32(buf + 4);
	out->insertion = get32(buf + 8);
	out->board = get16(buf + 12);
	out->cards_done = buf[14];
	out->next_event = get32(buf + 16);
	out->clock_us = get32(buf + 20);
	memcpy(out->counts, buf + 24, DEALBOX_MAX_POCKETS);

	switch (out->state) {
	case DEALBOX_STATE_HELD:
		return out->fault >= 0x20 && out->fault <= 0x27;
	case DEALBOX_STATE_FAULT:
		return out->fault >= 0x28 && out->fault <= 0x3f;
	default:
		return out->state <= DEALBOX_STATE_DONE && !out->fault;
	}
}

void wire_result_put(u8 *buf, const struct wire_result *in)
{
	memset(buf, 0, WIRE_RESULT_SIZE);
	put32(buf, in->sequence);
	buf[4] = in->request;
	buf[5] = in->error;
	put32(buf + 8, in->detail);
}

void wire_result_get(const u8 *buf, struct wire_result *out)
{
	out->sequence = get32(buf);
	out->request = buf[4];
	out->error = buf[5];
	out->detail = get32(buf + 8);
}

/* struct dealbox_counters has the counters in the order of the protocol */
#define COUNTERS	(WIRE_COUNTERS_SIZE / 4)
static_assert(sizeof(struct dealbox_counters) == WIRE_COUNTERS_SIZE, "counters");

void wire_counters_put(u8 *buf, const struct dealbox_counters *in)
{
	u32 v[COUNTERS];
	int i;

	memcpy(v, in, sizeof(v));
	v[COUNTERS - 1] = 0;
	for (i = 0; i < COUNTERS; i++)
		put32(buf + 4 * i, v[i]);
}

void wire_counters_get(const u8 *buf, struct dealbox_counters *out)
{
	u32 v[COUNTERS];
	int i;

	for (i = 0; i < COUNTERS; i++)
		v[i] = get32(buf + 4 * i);
	v[COUNTERS - 1] = 0;
	memcpy(out, v, sizeof(v));
}

void wire_param_put(u8 *buf, const struct wire_param *in)
{
	put32(buf, in->id);
	put32(buf + 4, in->value);
	put32(buf + 8, in->min);
	put32(buf + 12, in->max);
}

void wire_param_get(const u8 *buf, struct wire_param *out)
{
	out->id = get32(buf);
	out->value = get32(buf + 4);
	out->min = get32(buf + 8);
	out->max = get32(buf + 12);
}

void wire_command_put(u8 *buf, const struct wire_command *in)
{
	put32(buf, in->sequence);
	put32(buf + 4, in->a);
	put32(buf + 8, in->b);
	put32(buf + 12, in->c);
}

void wire_command_get(const u8 *buf, struct wire_command *out)
{
	out->sequence = get32(buf);
	out->a = get32(buf + 4);
	out->b = get32(buf + 8);
	out->c = get32(buf + 12);
}

void wire_plan_count(struct wire_plan *plan)
{
	int i;

	plan->feed = 0;
	memset(plan->counts, 0, sizeof(plan->counts));
	if (plan->mode == DEALBOX_PLAN_CAPTURE)
		return;

	for (i = 0; i < plan->entries; i++) {
		u8 pocket = plan->pocket[i];

		if (plan->mode != DEALBOX_PLAN_BY_CARD || pocket != DEALBOX_NONE)
			plan->feed++;
		if (pocket < DEALBOX_MAX_POCKETS)
			plan->counts[pocket]++;
	}
}

size_t wire_plan_put(u8 *buf, const struct wire_plan *in)
{
	memset(buf, 0, WIRE_PLAN_HEADER);
	put32(buf, WIRE_PLAN_MAGIC);
	put16(buf + 4, WIRE_VERSION);
	buf[6] = in->mode;
	put32(buf + 8, in->plan_id);
	buf[12] = in->entries;
	buf[13] = in->feed;
	memcpy(buf + 16, in->counts, DEALBOX_MAX_POCKETS);
	memcpy(buf + WIRE_PLAN_HEADER, in->pocket, in->entries);
	put32(buf + WIRE_PLAN_HEADER + in->entries,
	      wire_crc32c(buf, WIRE_PLAN_HEADER + in->entries));
	return WIRE_PLAN_SIZE(in->entries);
}

static bool mode_ok(u8 mode, u32 capabilities)
{
	static const u32 need[] = {
		[DEALBOX_PLAN_BY_CARD] = DEALBOX_CAP_BY_CARD,
		[DEALBOX_PLAN_BY_POSITION] = DEALBOX_CAP_BY_POSITION,
		[DEALBOX_PLAN_CAPTURE] = DEALBOX_CAP_CAPTURE,
	};

	return mode <= DEALBOX_PLAN_CAPTURE && (capabilities & need[mode]);
}

static u8 entries_max(u8 mode, u16 plan_entries)
{
	if (mode == DEALBOX_PLAN_CAPTURE)
		return 1;
	if (mode == DEALBOX_PLAN_BY_CARD && plan_entries > DEALBOX_MAX_CARDS)
		return DEALBOX_MAX_CARDS;
	return plan_entries;
}

/* Offset of the first field at fault, or -1. The length has been checked. */
static int plan_fault(const u8 *buf, const struct wire_descriptor *machine,
		      u32 plan_id, struct wire_plan *out)
{
	u8 feed;
	int i;

	if (get32(buf) != WIRE_PLAN_MAGIC)
		return 0;
	if (get16(buf + 4) >> 8 != WIRE_VERSION >> 8)
		return 4;
	out->mode = buf[6];
	if (!mode_ok(out->mode, machine->capabilities))
		return 6;
	if (buf[7])
		return 7;
	out->plan_id = get32(buf + 8);
	if (out->plan_id != plan_id)
		return 8;
	out->entries = buf[12];
	if (!out->entries || out->entries > entries_max(out->mode, machine->plan_entries))
		return 12;

	memset(out->pocket, 0, sizeof(out->pocket));
	memcpy(out->pocket, buf + WIRE_PLAN_HEADER, out->entries);
	wire_plan_count(out);
	feed = buf[13];
	if (feed != out->feed || (!feed && out->mode != DEALBOX_PLAN_CAPTURE))
		return 13;
	if (get16(buf + 14))
		return 14;
	for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
		if (buf[16 + i] != out->counts[i] || buf[16 + i] > machine->pocket_capacity)
			return 16 + i;
	if (get32(buf + 24) || get32(buf + 28))
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

u8 wire_plan_get(const u8 *buf, size_t len, const struct wire_descriptor *machine,
		 u32 plan_id, struct wire_plan *out, u32 *detail)
{
	u32 crc;
	int fault;

	if (len < WIRE_PLAN_SIZE(0) || len != WIRE_PLAN_SIZE(buf[12])) {
		*detail = 12;
		return DEALBOX_ERR_PLAN;
	}

	crc = wire_crc32c(buf, len - 4);
	if (crc != get32(buf + len - 4)) {
		*detail = crc;
		return DEALBOX_ERR_CRC;
	}

	fault = plan_fault(buf, machine, plan_id, out);
	*detail = fault < 0 ? 0 : fault;
	return fault < 0 ? DEALBOX_ERR_OK : DEALBOX_ERR_PLAN;
}

void wire_event_put(u8 *buf, const struct wire_event *in)
{
	memset(buf, 0, WIRE_EVENT_SIZE);
	buf[0] = in->type;
	buf[1] = in->flags;
	put32(buf + 4, in->number);
	put32(buf + 8, in->clock_us);
	put32(buf + 12, in->insertion);
	buf[16] = in->position;
	buf[17] = in->card;
	buf[18] = in->pocket;
	buf[19] = in->quality;
	put32(buf + 20, in->code);
	put32(buf + 24, in->arg[0]);
	put32(buf + 28, in->arg[1]);
}

void wire_event_get(const u8 *buf, struct wire_event *out)
{
	out->type = buf[0];
	out->flags = buf[1];
	out->number = get32(buf + 4);
	out->clock_us = get32(buf + 8);
	out->insertion = get32(buf + 12);
	out->position = buf[16];
	out->card = buf[17];
	out->pocket = buf[18];
	out->quality = buf[19];
	out->code = get32(buf + 20);
	out->arg[0] = get32(buf + 24);
	out->arg[1] = get32(buf + 28);
}

void wire_gate_put(u8 *buf, const struct wire_gate *in)
{
	buf[0] = WIRE_GATE_TYPE;
	buf[1] = in->pocket;
	buf[2] = in->reason;
	buf[3] = in->position;
	put32(buf + 4, in->number);
	put32(buf + 8, in->insertion);
	put32(buf + 12, in->first);
}

bool wire_gate_get(const u8 *buf, size_t len, struct wire_gate *out)
{
	if (len != WIRE_GATE_SIZE || buf[0] != WIRE_GATE_TYPE)
		return false;

	out->pocket = buf[1];
	out->reason = buf[2];
	out->position = buf[3];
	out->number = get32(buf + 4);
	out->insertion = get32(buf + 8);
	out->first = get32(buf + 12);

	if (out->pocket == DEALBOX_NONE)
		return out->reason == DEALBOX_EV_REPEATED_CARD ||
		       out->reason == DEALBOX_EV_NOT_IN_PLAN;
	return !out->reason;
}

u32 wire_crc32c(const u8 *buf, size_t len)
{
	u32 crc = 0xffffffffu;
	int bit;

	/* 0x82f63b78 is the polynomial 1edc6f41 with its bits reflected */
	while (len--) {
		crc ^= *buf++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}
