/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Encoding and decoding of the dealing machine protocol. No I/O.
 *
 * docs/protocol.md is the specification; section numbers refer to it. The
 * library and the emulator build this file too, with the headers of lib/kernel.
 */
#ifndef DEALBOX_WIRE_H
#define DEALBOX_WIRE_H

#include <linux/types.h>
#include <uapi/linux/dealbox.h>

/* section 1 */
#define WIRE_CLASS		0xff
#define WIRE_SUBCLASS		0x44
#define WIRE_PROTOCOL		0x01
#define WIRE_VERSION		0x0101
#define WIRE_DESC_TYPE		0x24
#define WIRE_DESC_SUBTYPE	0x01
#define WIRE_DESC_SIZE		24
#define WIRE_INT_IN_MIN		32
#define WIRE_INT_OUT_MIN	16

/* section 2 */
#define WIRE_REQ_OUT		0x41
#define WIRE_REQ_IN		0xc1
#define WIRE_DESCRIBE		0x00
#define WIRE_GET_INFO		0x01
#define WIRE_GET_STATUS		0x02
#define WIRE_GET_RESULT		0x03
#define WIRE_GET_COUNTERS	0x04
#define WIRE_GET_PARAM		0x05
#define WIRE_GET_IDENTITY	0x06
#define WIRE_GET_STATEMENT	0x07
#define WIRE_GET_SIGNATURE	0x08
#define WIRE_SET_PARAM		0x10
#define WIRE_LOAD		0x11
/* 0x12..0x1a are DEALBOX_OP_* */
#define WIRE_ATTEST		0x1b
#define WIRE_INFO_SIZE		64
#define WIRE_STATUS_SIZE	32
#define WIRE_RESULT_SIZE	16
#define WIRE_COUNTERS_SIZE	64
#define WIRE_PARAM_SIZE		16
#define WIRE_IDENTITY_SIZE	48
#define WIRE_COMMAND_SIZE	16
/* ATTEST: the nonce follows the command */
#define WIRE_ATTEST_SIZE	(WIRE_COMMAND_SIZE + DEALBOX_NONCE_SIZE)
/* the longest data of a request or of its answer */
#define WIRE_DATA_MAX		DEALBOX_STATEMENT_SIZE
#define WIRE_NAME_SIZE		32
#define WIRE_START_CAPTURE	(1u << 8)	/* in c of START, host-routed */

/* section 3 */
#define WIRE_PLAN_MAGIC		0x50584244u
#define WIRE_PLAN_VERSION	0x0100
#define WIRE_PLAN_HEADER	32
#define WIRE_PLAN_SIZE(n)	(36u + (n))
#define WIRE_PLAN_MAX		WIRE_PLAN_SIZE(DEALBOX_MAX_ENTRIES)

/* section 4 */
#define WIRE_EVENT_SIZE		32
#define WIRE_QUALITY_MIN	50	/* 1..49: not read */

/* section 5.3 */
#define WIRE_STATEMENT_MAGIC	0x41584244u
#define WIRE_STATEMENT_VERSION	0x0100
#define WIRE_HASH_SIZE		32

/* section 6 */
#define WIRE_GATE_SIZE		16
#define WIRE_GATE_TYPE		0x01

/*
 * Time limits in ms: sections 2, 3 and 5.1. The machine keeps to the first of
 * each pair; the host gives up after the second.
 */
#define WIRE_CONTROL_MS		500
#define WIRE_CONTROL_HOST_MS	1000
#define WIRE_PLAN_COMPLETE_MS	2000
#define WIRE_PLAN_HOST_MS	3000

struct wire_descriptor {
	u8 reader;
	u16 version;
	u8 pockets;
	u8 pocket_capacity;
	u16 hopper;
	u16 plan_entries;
	u32 capabilities;
	u32 gate_deadline_us;
};

struct wire_info {
	u16 version;
	u32 firmware;
	u32 hardware;
	char name[WIRE_NAME_SIZE + 1];
};

struct wire_status {
	u8 state;
	u8 fault;
	u8 flags;
	u8 cards_total;
	u32 plan_id;
	u32 insertion;
	u16 board;
	u8 cards_done;
	u32 next_event;
	u32 clock_us;
	u8 counts[DEALBOX_MAX_POCKETS];
};

struct wire_result {
	u32 sequence;
	u8 request;
	u8 error;
	u32 detail;
};

struct wire_param {
	u32 id, value, min, max;
};

struct wire_command {
	u32 sequence;
	u32 a, b, c;
};

struct wire_plan {
	u32 plan_id;
	u8 mode;
	u8 entries;
	u8 feed;
	u8 counts[DEALBOX_MAX_POCKETS];
	u8 pocket[DEALBOX_MAX_ENTRIES];
};

struct wire_event {
	u8 type;
	u8 flags;
	u32 number;
	u32 clock_us;
	u32 insertion;
	u8 position, card, pocket, quality;
	u32 code;
	u32 arg[2];	/* DEAL_DONE: cards per pocket, one byte each */
};

struct wire_gate {
	u8 pocket;
	u8 reason;
	u8 position;
	u32 number;
	u32 insertion;
	u32 first;	/* REPEATED_CARD: position of the first reading */
};

/*
 * Decoders read exactly the size defined above, at any alignment; the caller
 * has checked that so many bytes are there. A decoder of type bool returns
 * false if the bytes violate the protocol, and *out is then undefined. Encoders
 * write exactly the size defined above and zero the reserved bytes. The
 * opposite directions, which only a machine needs, are in
 * tools/emulator/machine_wire.c.
 */

/**
 * dealbox_wire_known() - tell whether this version knows an event (section 4)
 * @type: type of an event; any number
 *
 * Return: true for the machine's events whose fields the protocol defines.
 */
bool dealbox_wire_known(u32 type);

/**
 * dealbox_decode_descriptor() - decode the machine descriptor (section 1.1)
 * @buf: extra descriptors of the interface
 * @len: bytes in @buf, any number
 * @out: what the machine can do
 *
 * Return: false if the descriptor is missing, too short, or has a field out of
 * range.
 */
bool dealbox_decode_descriptor(const u8 *buf, size_t len,
			       struct wire_descriptor *out);

/**
 * dealbox_read_descriptor() - look for the machine descriptor and decode it
 * @buf: what follows the interface descriptor, or the answer to DESCRIBE
 * @len: bytes in @buf, any number
 * @out: what the machine can do; zero after an error
 *
 * Return: 0, -ENOENT if there is no machine descriptor, so that the machine
 * must be asked for it, -EPROTONOSUPPORT if the machine speaks a later major
 * version, -EPROTO if the descriptor is too short or has a field out of range.
 */
int dealbox_read_descriptor(const u8 *buf, size_t len,
			    struct wire_descriptor *out);
void dealbox_decode_info(const u8 *buf, struct wire_info *out);
bool dealbox_decode_status(const u8 *buf, struct wire_status *out);
void dealbox_decode_result(const u8 *buf, struct wire_result *out);
void dealbox_decode_counters(const u8 *buf, struct dealbox_counters *out);
void dealbox_decode_param(const u8 *buf, struct wire_param *out);
void dealbox_decode_identity(const u8 *buf, struct dealbox_identity *out);
void dealbox_decode_event(const u8 *buf, struct wire_event *out);

void dealbox_encode_command(u8 *buf, const struct wire_command *in);
void dealbox_encode_gate(u8 *buf, const struct wire_gate *in);

/**
 * dealbox_encode_plan() - encode a plan block (section 3)
 * @buf: room for WIRE_PLAN_SIZE(@in->entries) bytes
 * @in: the plan, with its sums from dealbox_count_plan()
 *
 * Return: the size of the block in bytes.
 */
size_t dealbox_encode_plan(u8 *buf, const struct wire_plan *in);

/**
 * dealbox_count_plan() - set the sums of a plan
 * @plan: @plan->feed and @plan->counts are set from its mode, entries and
 *	pocket
 */
void dealbox_count_plan(struct wire_plan *plan);

/**
 * dealbox_decode_plan() - check and decode a plan block (section 3)
 * @buf: the block
 * @len: bytes in @buf
 * @machine: the machine that shall deal it
 * @plan_id: the plan_id that LOAD announced
 * @out: the plan
 * @detail: detail of the error: the computed CRC or the offset of the first bad
 *	field, 0 if there is none
 *
 * The order of the checks is that of the specification. A machine runs them on
 * what it receives, and the host before it sends.
 *
 * Return: DEALBOX_ERR_OK, DEALBOX_ERR_CRC or DEALBOX_ERR_PLAN.
 */
u8 dealbox_decode_plan(const u8 *buf, size_t len,
		       const struct wire_descriptor *machine, u32 plan_id,
		       struct wire_plan *out, u32 *detail);

#endif
