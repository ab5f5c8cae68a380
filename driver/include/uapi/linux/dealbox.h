/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * dealbox: machines that deal cards into the pockets of bridge boards
 *
 * The numbers of states, events, faults, errors, commands, parameters and
 * capabilities are those of the dealing machine protocol 1.1; the driver passes
 * them on unchanged. docs/userspace-api/dealbox.rst describes every call.
 *
 * This header is frozen: programs that were built with it must run on. It can
 * only grow; tests/infra/abi compares it with a table.
 *
 * Programs include it together with the headers of libdealbox, whose constants
 * begin with DEALBOX_ too. A macro that is added here therefore begins with
 * DEALBOX_ and one of CAP_, CLAIMED_, ERR_, EV_, EVF_, IDENTITY_, IOC_, JAM_,
 * KEY_, LOST_, MAX_, OP_, PARAM_, PAUSED_, PLAN_, PROTO_, READER_, STATE_ and
 * STATUS_, which the library leaves to the kernel.
 */
#ifndef _UAPI_LINUX_DEALBOX_H
#define _UAPI_LINUX_DEALBOX_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DEALBOX_MAX_POCKETS	8
#define DEALBOX_MAX_ENTRIES	64	/* entries of a plan */
#define DEALBOX_MAX_CARDS	54	/* 52, and two jokers */

#define DEALBOX_NONE		255	/* no card, no pocket, no position */

/* sizes in bytes */
#define DEALBOX_NONCE_SIZE	32
#define DEALBOX_STATEMENT_SIZE	96
#define DEALBOX_SIGNATURE_SIZE	64
#define DEALBOX_PUBLIC_KEY_SIZE	32
#define DEALBOX_KEY_ID_SIZE	8

/* reserved values of plan_id: no plan, and a test deal */
#define DEALBOX_PLAN_NONE	0U
#define DEALBOX_PLAN_TEST	0xffffffffU

/* struct dealbox_info: capabilities */
#define DEALBOX_CAP_STORED_PLAN		(1U << 0)
#define DEALBOX_CAP_HOST_ROUTED		(1U << 1)
#define DEALBOX_CAP_EXIT_SENSORS	(1U << 2)
#define DEALBOX_CAP_BOARD_READER	(1U << 3)
#define DEALBOX_CAP_BOARD_LOCK		(1U << 4)
#define DEALBOX_CAP_FACE_SENSOR		(1U << 5)
#define DEALBOX_CAP_DOUBLE_FEED_SENSOR	(1U << 6)
#define DEALBOX_CAP_TEST_DEAL		(1U << 7)
#define DEALBOX_CAP_KEYS		(1U << 8)
#define DEALBOX_CAP_BY_CARD		(1U << 9)
#define DEALBOX_CAP_BY_POSITION		(1U << 10)
#define DEALBOX_CAP_CAPTURE		(1U << 11)
#define DEALBOX_CAP_REFUSES_BY_RESULT	(1U << 12)
#define DEALBOX_CAP_ATTEST		(1U << 13)

/* struct dealbox_info: reader */
#define DEALBOX_READER_NONE	0
#define DEALBOX_READER_BARCODE	1
#define DEALBOX_READER_CAMERA	2
#define DEALBOX_READER_OTHER	3

/* struct dealbox_status: state */
#define DEALBOX_STATE_IDLE	0
#define DEALBOX_STATE_DEALING	1
#define DEALBOX_STATE_PAUSED	2
#define DEALBOX_STATE_HELD	3
#define DEALBOX_STATE_FAULT	4
#define DEALBOX_STATE_DONE	5

/* struct dealbox_status: flags */
#define DEALBOX_STATUS_BOARD		(1U << 0)	/* a board is present */
#define DEALBOX_STATUS_COVER_OPEN	(1U << 1)
#define DEALBOX_STATUS_HOPPER		(1U << 2)	/* not empty */
#define DEALBOX_STATUS_SPENT		(1U << 3)	/* already dealt */
#define DEALBOX_STATUS_IN_DOUBT		(1U << 4)	/* since switch-on */
#define DEALBOX_STATUS_CARD_AT_READER	(1U << 5)

/* struct dealbox_status: claimed */
#define DEALBOX_CLAIMED_NOT		0
#define DEALBOX_CLAIMED_BY_OTHER	1	/* another file */
#define DEALBOX_CLAIMED_BY_THIS		2	/* this file */

/* struct dealbox_plan: mode */
#define DEALBOX_PLAN_BY_CARD		1
#define DEALBOX_PLAN_BY_POSITION	2
#define DEALBOX_PLAN_CAPTURE		3

/* struct dealbox_control: op */
#define DEALBOX_OP_START		0x12
#define DEALBOX_OP_PAUSE		0x13
#define DEALBOX_OP_RESUME		0x14
#define DEALBOX_OP_REREAD		0x15
#define DEALBOX_OP_ABORT		0x16
#define DEALBOX_OP_CLEAR_FAULT		0x17
#define DEALBOX_OP_RELEASE_BOARD	0x18
#define DEALBOX_OP_TEST_DEAL		0x19
#define DEALBOX_OP_LOCATE		0x1a

/* result: the machine's error code, if a call fails with EREMOTEIO */
#define DEALBOX_ERR_OK			0
#define DEALBOX_ERR_BAD_REQUEST		1
#define DEALBOX_ERR_BAD_LENGTH		2
#define DEALBOX_ERR_BAD_VALUE		3
#define DEALBOX_ERR_UNSUPPORTED		4
#define DEALBOX_ERR_STATE		5
#define DEALBOX_ERR_FAULT		6
#define DEALBOX_ERR_NO_PLAN		7
#define DEALBOX_ERR_WRONG_PLAN		8
#define DEALBOX_ERR_NO_BOARD		9
#define DEALBOX_ERR_WRONG_INSERTION	10
#define DEALBOX_ERR_SPENT		11
#define DEALBOX_ERR_IN_DOUBT		12
#define DEALBOX_ERR_COVER_OPEN		13
#define DEALBOX_ERR_HOPPER_EMPTY	14
#define DEALBOX_ERR_CRC			15
#define DEALBOX_ERR_PLAN		16
#define DEALBOX_ERR_INCOMPLETE		17
#define DEALBOX_ERR_HARDWARE		18

/* parameters */
#define DEALBOX_PARAM_SPEED		1	/* cards per minute */
#define DEALBOX_PARAM_READ_RETRIES	2
#define DEALBOX_PARAM_FEED_TIMEOUT	3	/* ms */
#define DEALBOX_PARAM_VOLUME		4	/* percent */

/* struct dealbox_event: type; numbers of the machine protocol */
#define DEALBOX_EV_STATE_LOST		0x01
#define DEALBOX_EV_HOPPER_LOADED	0x02
#define DEALBOX_EV_HOPPER_EMPTY		0x03
#define DEALBOX_EV_BOARD_INSERTED	0x04
#define DEALBOX_EV_BOARD_REMOVED	0x05
#define DEALBOX_EV_COVER_OPEN		0x06
#define DEALBOX_EV_COVER_CLOSED		0x07
#define DEALBOX_EV_KEY			0x08
#define DEALBOX_EV_PLAN_LOADED		0x10
#define DEALBOX_EV_DEAL_STARTED		0x11
#define DEALBOX_EV_CARD_READ		0x12
#define DEALBOX_EV_CARD_ROUTED		0x13
#define DEALBOX_EV_CARD_LANDED		0x14
#define DEALBOX_EV_DEAL_DONE		0x15
#define DEALBOX_EV_PAUSED		0x16
#define DEALBOX_EV_RESUMED		0x17
#define DEALBOX_EV_ABORTED		0x18
#define DEALBOX_EV_FAULT_CLEARED	0x19
#define DEALBOX_EV_ATTESTED		0x1a
/* stops that end in STATE_HELD */
#define DEALBOX_EV_CARD_UNREADABLE	0x20
#define DEALBOX_EV_NOT_IN_PLAN		0x21
#define DEALBOX_EV_GATE_LATE		0x22
#define DEALBOX_EV_FEED_TIMEOUT		0x23
#define DEALBOX_EV_DECK_SHORT		0x24
/* stops that end in STATE_FAULT, the board is void */
#define DEALBOX_EV_REPEATED_CARD	0x28
#define DEALBOX_EV_DOUBLE_FEED		0x29
#define DEALBOX_EV_JAM			0x2a
#define DEALBOX_EV_WRONG_POCKET		0x2b
#define DEALBOX_EV_BOARD_PULLED		0x2c
#define DEALBOX_EV_COVER_OPENED		0x2d
#define DEALBOX_EV_HARDWARE		0x2e
/* from the driver itself; code is DEALBOX_PROTO_* */
#define DEALBOX_EV_PROTOCOL_ERROR	0x100

/*
 * Classes of types. Types that later versions add have the class of their
 * number; ignore types without a class.
 */
#define DEALBOX_EV_IS_MACHINE(type)	((__u32)(type) - 0x01U < 0x10U)
#define DEALBOX_EV_IS_DEAL(type)	((__u32)(type) - 0x11U < 0x0fU)
#define DEALBOX_EV_IS_HELD(type)	((__u32)(type) - 0x20U < 0x08U)
#define DEALBOX_EV_IS_VOID(type)	((__u32)(type) - 0x28U < 0x18U)
#define DEALBOX_EV_IS_STOP(type)	((__u32)(type) - 0x20U < 0x20U)
#define DEALBOX_EV_IS_DRIVER(type)	((__u32)(type) >= 0x100U)

/* code of DEALBOX_EV_STATE_LOST */
#define DEALBOX_LOST_POWER_ON		1
#define DEALBOX_LOST_RESET		2
#define DEALBOX_LOST_FIRMWARE		3

/* code of DEALBOX_EV_KEY */
#define DEALBOX_KEY_START		1
#define DEALBOX_KEY_STOP		2
#define DEALBOX_KEY_RELEASE		3

/* code of DEALBOX_EV_PAUSED */
#define DEALBOX_PAUSED_BY_HOST		1
#define DEALBOX_PAUSED_BY_KEY		2

/* code of DEALBOX_EV_JAM */
#define DEALBOX_JAM_FEEDER		1
#define DEALBOX_JAM_READER		2
#define DEALBOX_JAM_GATE		3
#define DEALBOX_JAM_POCKET		4

/* code of DEALBOX_EV_PROTOCOL_ERROR */
#define DEALBOX_PROTO_EVENT_SIZE	1	/* arg[0] = bytes received */
#define DEALBOX_PROTO_EVENT_FIELD	2	/* arg[0] = type of the event */

/* struct dealbox_event: flags */
#define DEALBOX_EVF_FACE_UP	(1U << 0)	/* the card lay face up */
#define DEALBOX_EVF_AT_POWER_ON	(1U << 1)	/* board present at switch-on */
#define DEALBOX_EVF_GAP		(1U << 16)	/* events were lost */
#define DEALBOX_EVF_MACHINE_GAP	(1U << 17)	/* gap in machine_seq */
#define DEALBOX_EVF_USER	0xff000000U	/* left to user space */

/**
 * struct dealbox_event - one event of the machine
 * @timestamp_ns: CLOCK_MONOTONIC at the completion of the transfer
 * @seqno: number of the event since the machine was plugged in, in steps
 *	of one; a larger step is the number of events that this file lost, plus
 *	one
 * @type: DEALBOX_EV_*; ignore unknown types
 * @flags: DEALBOX_EVF_*
 * @machine_seq: the machine's own number of the event
 * @machine_time_us: the machine's clock in us, wraps
 * @insertion: insertion number of the board that was present, 0 if none
 * @position: position of the card in the deal, or DEALBOX_NONE
 * @card: card number, or DEALBOX_NONE
 * @pocket: pocket, or DEALBOX_NONE
 * @quality: quality of the reading: 1..100, and below 50 the card counts as not
 *	read; 0 or DEALBOX_NONE if the machine does not say
 * @code: depends on @type
 * @arg: depends on @type
 * @counts: DEALBOX_EV_DEAL_DONE: cards per pocket, in place of @arg
 * @reserved: zero
 *
 * read(2) returns whole records only.
 */
struct dealbox_event {
	__aligned_u64 timestamp_ns;
	__aligned_u64 seqno;
	__u32 type;
	__u32 flags;
	__u32 machine_seq;
	__u32 machine_time_us;
	__u32 insertion;
	__u8 position;
	__u8 card;
	__u8 pocket;
	__u8 quality;
	__u32 code;
	union {
		__u32 arg[2];
		__u8 counts[DEALBOX_MAX_POCKETS];
	};
	__u32 reserved[3];
};

/**
 * struct dealbox_info - constant properties of a machine
 * @capabilities: DEALBOX_CAP_*
 * @protocol: version of the protocol: major << 8 | minor
 * @firmware: major << 24 | minor << 16 | patch
 * @hardware: revision
 * @gate_deadline_us: host-routed machines: time for a gate command in us;
 *	else 0
 * @hopper: capacity of the hopper in cards
 * @plan_entries: maximum entries of a plan, at most DEALBOX_MAX_ENTRIES
 * @pockets: number of pockets, 1..DEALBOX_MAX_POCKETS
 * @pocket_capacity: capacity of a pocket in cards
 * @reader: DEALBOX_READER_*
 * @reserved1: zero
 * @model: UTF-8, always terminated
 * @serial: serial number, always terminated, empty if there is none
 * @queue_events: capacity of the event queue of an open file
 * @reserved: zero
 */
struct dealbox_info {
	__u32 capabilities;
	__u32 protocol;
	__u32 firmware;
	__u32 hardware;
	__u32 gate_deadline_us;
	__u32 queue_events;
	__u16 hopper;
	__u16 plan_entries;
	__u8 pockets;
	__u8 pocket_capacity;
	__u8 reader;
	__u8 reserved1;
	char model[36];
	char serial[44];
	__u32 reserved[4];
};

/**
 * struct dealbox_status - snapshot of the machine's state
 * @seqno: number of the next event when the machine was queried; the snapshot
 *	includes all events before it, and may include some after it
 * @lost: number of events that this file has lost since it was opened
 * @plan_id: the loaded plan, DEALBOX_PLAN_NONE if none
 * @insertion: insertion number of the board that is present, 0 if none
 * @state: DEALBOX_STATE_*
 * @fault: DEALBOX_EV_* of the stop in STATE_HELD and STATE_FAULT, else 0
 * @flags: DEALBOX_STATUS_*
 * @cards_total: cards to deal in the current or last deal
 * @board: number read from the board, 0 if none
 * @cards_done: cards that have landed in the current or last deal
 * @reserved1: zero
 * @counts: @cards_done per pocket
 * @owner_pid: process that made the claim, in the caller's pid namespace; 0 if
 *	none, if it has ended, or if not visible there
 * @claimed: DEALBOX_CLAIMED_*: who holds the claim
 * @machine_seq: the machine's own number of its next event; the snapshot
 *	includes the events of the machine before it, and none after it. 0 = not
 *	known
 * @reserved: zero
 *
 * Each call queries the machine.
 */
struct dealbox_status {
	__aligned_u64 seqno;
	__aligned_u64 lost;
	__u32 plan_id;
	__u32 insertion;
	__u8 state;
	__u8 fault;
	__u8 flags;
	__u8 cards_total;
	__u16 board;
	__u8 cards_done;
	__u8 reserved1;
	__u8 counts[DEALBOX_MAX_POCKETS];
	__u32 owner_pid;
	__u32 claimed;
	__u32 machine_seq;
	__u32 reserved[3];
};

/**
 * struct dealbox_plan - the pocket for each card
 * @plan_id: chosen by the caller; not DEALBOX_PLAN_NONE or DEALBOX_PLAN_TEST
 * @mode: DEALBOX_PLAN_*
 * @entries: used entries of @pocket; 0 = forget the loaded plan (all other
 *	fields must be 0)
 * @reserved1: zero
 * @pocket: by card: the pocket for each card number, DEALBOX_NONE = not part of
 *	the deal; by position: the pocket for each position; capture: one entry.
 *	Unused entries are zero.
 * @result: out: DEALBOX_ERR_*
 * @detail: out: detail of @result, see the protocol
 * @reserved: zero
 */
struct dealbox_plan {
	__u32 plan_id;
	__u8 mode;
	__u8 entries;
	__u8 reserved1[2];
	__u8 pocket[DEALBOX_MAX_ENTRIES];
	__u32 result;
	__u32 detail;
	__u32 reserved[4];
};

/**
 * struct dealbox_control - a command
 * @op: DEALBOX_OP_*
 * @plan_id: START: the plan to deal
 * @insertion: START, TEST_DEAL: insertion number of the board
 * @arg: TEST_DEAL: number of cards; LOCATE: duration in s, 0..60
 * @result: out: DEALBOX_ERR_*
 * @detail: out: detail of @result, see the protocol
 * @reserved: zero
 *
 * Fields that a command does not use must be zero.
 */
struct dealbox_control {
	__u32 op;
	__u32 plan_id;
	__u32 insertion;
	__u32 arg;
	__u32 result;
	__u32 detail;
	__u32 reserved[2];
};

/**
 * struct dealbox_param - a parameter of the machine
 * @id: DEALBOX_PARAM_*
 * @value: in for SET_PARAM, out for GET_PARAM
 * @min: out: lowest value, GET_PARAM; zero for SET_PARAM
 * @max: out: highest value, GET_PARAM; zero for SET_PARAM
 * @result: out: DEALBOX_ERR_*
 * @detail: out: detail of @result, see the protocol
 * @reserved: zero
 */
struct dealbox_param {
	__u32 id;
	__u32 value;
	__u32 min;
	__u32 max;
	__u32 result;
	__u32 detail;
	__u32 reserved[2];
};

/**
 * struct dealbox_counters - counters over the life of the machine
 * @boards_dealt: deals that ended in DEAL_DONE
 * @boards_voided: deals that started and did not
 * @cards_fed: cards taken from the hopper
 * @cards_read: cards read
 * @unreadable: cards that could not be read
 * @repeated: cards read twice in a deal
 * @not_in_plan: cards that the plan did not contain
 * @double_feeds: double feeds
 * @feed_timeouts: feed timeouts
 * @jams: jams
 * @wrong_pockets: cards that landed in a wrong pocket
 * @gates_late: gate commands that arrived too late
 * @gates_ignored: gate commands that matched no waiting card
 * @power_ons: times the machine was switched on
 * @seconds: running time in s
 * @reserved: zero
 */
struct dealbox_counters {
	__u32 boards_dealt;
	__u32 boards_voided;
	__u32 cards_fed;
	__u32 cards_read;
	__u32 unreadable;
	__u32 repeated;
	__u32 not_in_plan;
	__u32 double_feeds;
	__u32 feed_timeouts;
	__u32 jams;
	__u32 wrong_pockets;
	__u32 gates_late;
	__u32 gates_ignored;
	__u32 power_ons;
	__u32 seconds;
	__u32 reserved;
};

/**
 * struct dealbox_attest - ask the machine to sign what it said of a deal
 * @insertion: insertion of the deal that ended last
 * @result: out: DEALBOX_ERR_*
 * @detail: out: detail of @result, see the protocol
 * @reserved1: zero
 * @nonce: key of the digests, secret and new for each call; not all zero
 * @reserved: zero
 *
 * DEALBOX_EV_ATTESTED reports that it is done.
 */
struct dealbox_attest {
	__u32 insertion;
	__u32 result;
	__u32 detail;
	__u32 reserved1;
	__u8 nonce[DEALBOX_NONCE_SIZE];
	__u32 reserved[4];
};

/**
 * struct dealbox_attestation - what the machine has signed
 * @statement: the statement, see the protocol
 * @signature: signature of the statement
 * @reserved: zero
 */
struct dealbox_attestation {
	__u8 statement[DEALBOX_STATEMENT_SIZE];
	__u8 signature[DEALBOX_SIGNATURE_SIZE];
	__u32 reserved[4];
};

/* struct dealbox_identity: flags */
#define DEALBOX_IDENTITY_EMULATED	(1U << 0)	/* no real cards */

/**
 * struct dealbox_identity - the key with which a machine signs
 * @flags: DEALBOX_IDENTITY_*
 * @counter: attestations made so far with this key
 * @key_id: identifies the key in statements
 * @public_key: Ed25519
 * @reserved: zero
 */
struct dealbox_identity {
	__u32 flags;
	__u32 counter;
	__u8 key_id[DEALBOX_KEY_ID_SIZE];
	__u8 public_key[DEALBOX_PUBLIC_KEY_SIZE];
	__u32 reserved[4];
};

#define DEALBOX_IOC_MAGIC	0xB9

#define DEALBOX_IOC_GET_INFO	_IOR(DEALBOX_IOC_MAGIC, 0x00, struct dealbox_info)
#define DEALBOX_IOC_GET_STATUS	_IOR(DEALBOX_IOC_MAGIC, 0x01, struct dealbox_status)
#define DEALBOX_IOC_CLAIM	_IO(DEALBOX_IOC_MAGIC, 0x02)
#define DEALBOX_IOC_RELEASE	_IO(DEALBOX_IOC_MAGIC, 0x03)
#define DEALBOX_IOC_SET_PLAN	_IOWR(DEALBOX_IOC_MAGIC, 0x04, struct dealbox_plan)
#define DEALBOX_IOC_CONTROL	_IOWR(DEALBOX_IOC_MAGIC, 0x05, struct dealbox_control)
#define DEALBOX_IOC_GET_PARAM	_IOWR(DEALBOX_IOC_MAGIC, 0x06, struct dealbox_param)
#define DEALBOX_IOC_SET_PARAM	_IOWR(DEALBOX_IOC_MAGIC, 0x07, struct dealbox_param)
#define DEALBOX_IOC_GET_COUNTERS _IOR(DEALBOX_IOC_MAGIC, 0x08, struct dealbox_counters)
#define DEALBOX_IOC_ATTEST	_IOWR(DEALBOX_IOC_MAGIC, 0x09, struct dealbox_attest)
#define DEALBOX_IOC_GET_ATTESTATION _IOR(DEALBOX_IOC_MAGIC, 0x0a, struct dealbox_attestation)
#define DEALBOX_IOC_GET_IDENTITY _IOR(DEALBOX_IOC_MAGIC, 0x0b, struct dealbox_identity)

#endif /* _UAPI_LINUX_DEALBOX_H */
