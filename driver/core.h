/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The host's side of the protocol: what to send, what to wait for, when to repeat, to
 * ask, and to give up; which gate command answers a card; when a pipe of events is
 * tried again. The module and the library's host in user space move the bytes and
 * keep the time, and do as they are told here, so that both behave alike.
 *
 * No clock, no transfer, no lock: one caller at a time has the core.
 */
#ifndef DEALBOX_CORE_H
#define DEALBOX_CORE_H

#include "abi.h"
#include "frame.h"
#include "retry.h"
#include "router.h"
#include "wire.h"

struct dealbox_core;
struct dealbox_call;

/* What the owner of a call does next; then it tells dealbox_call_next() the result. */
enum dealbox_action {
	/* the call has ended: call->error */
	DEALBOX_DONE,
	/*
	 * A control transfer to the interface: call->type, request, value, and length
	 * bytes at call->data. The result: bytes moved, or -errno; -EPIPE for a stall.
	 */
	DEALBOX_CONTROL,
	/*
	 * Sends call->size bytes at call->bytes on the pipe for plans, wipes them, and
	 * clears a halt. The result: 0, or -errno; -EPIPE for a halt.
	 */
	DEALBOX_SEND,
	/*
	 * Receives until core->awaited is DEALBOX_AWAIT_NOTHING. The result: 0,
	 * -ETIMEDOUT, or the -errno that ended it.
	 */
	DEALBOX_AWAIT,
};

/* What a call waits for in the stream of events. */
enum dealbox_awaited {
	DEALBOX_AWAIT_NOTHING,
	DEALBOX_AWAIT_ANSWER,	/* of a dialect, to a request */
	DEALBOX_AWAIT_VERDICT,	/* PLAN_LOADED */
};

/**
 * struct dealbox_call - one call of the ABI, from its first step to its result
 * @data: the owner's, WIRE_INFO_SIZE bytes: data of a request and of its answer
 * @bytes: the owner's, FRAME_MAX bytes: what DEALBOX_SEND sends
 * @type: bmRequestType
 * @request: bRequest
 * @value: wValue
 * @length: wLength
 * @size: bytes to send
 * @ms: how long the step may take
 * @error: how the call ended, once it has: 0 or -errno
 * @result: with -EREMOTEIO the machine's error code, else 0
 * @detail: its detail
 * @command: the command that was sent, to be traced; 0 = none
 * @command_error: what became of it
 * @patient: wait for the verdict on a plan
 *
 * The rest is the core's.
 */
struct dealbox_call {
	u8 *data;
	u8 *bytes;

	u8 type;
	u8 request;
	u16 value;
	u16 length;
	size_t size;
	unsigned int ms;

	int error;
	u32 result;
	u32 detail;
	u8 command;
	int command_error;
	bool patient;

	/* private: */
	enum dealbox_action action;
	enum dealbox_action (*step)(struct dealbox_core *core, struct dealbox_call *call,
				    int result);
	enum dealbox_action (*answered)(struct dealbox_core *core, struct dealbox_call *call,
					int error);
	enum dealbox_action (*commanded)(struct dealbox_core *core, struct dealbox_call *call,
					 int error);
	u64 now_ns;
	u64 end_ns;
	unsigned int attempt;
	int lost;
	u64 seqno;
	void *arg;
	u32 *result_to;
	u32 *detail_to;
	struct wire_command fields;
	struct wire_plan plan;
};

/**
 * struct dealbox_dialect - how a kind of machine says on USB what the protocol means
 * @describe: the machine must be asked for its descriptor by this request
 * @described: it must be asked; else the descriptors of USB tell
 * @exchange: begins a request; ends in dealbox_call_answered(), with the answer in
 *	call->data
 * @encode_plan: encodes a plan into FRAME_MAX bytes, gives the size
 * @encode_gate: encodes a gate command into DEALBOX_GATE_MAX bytes, gives the size
 * @receive: takes a transfer, calling dealbox_core_event() for each event. False: not
 *	all of it was of use. What may have been an event is told by
 *	dealbox_core_malformed().
 * @restart: the bus was reset: forgets what has come of something that is not
 *	complete; may be NULL. Not after a sleep: the rest of it comes then.
 *
 * docs/porting.md tells how to add one.
 */
struct dealbox_dialect {
	bool described;
	u8 describe;
	enum dealbox_action (*exchange)(struct dealbox_core *core, struct dealbox_call *call);
	size_t (*encode_plan)(u8 *buf, const struct wire_plan *plan);
	size_t (*encode_gate)(u8 *buf, const struct wire_gate *gate);
	bool (*receive)(struct dealbox_core *core, const u8 *bytes, size_t length, u64 now_ns);
	void (*restart)(struct dealbox_core *core);
};

#define DEALBOX_GATE_MAX	FRAME_BYTES(WIRE_GATE_SIZE)

extern const struct dealbox_dialect dealbox_native;	/* docs/protocol.md */
extern const struct dealbox_dialect dealbox_serial;	/* docs/protocol-serial.md */

/**
 * struct dealbox_core_ops - what a core tells its owner from within
 *	dealbox_core_receive(); none of them may call the core
 * @send_gate: a gate command to send at once: the card waits
 * @event: an event for whoever reads
 * @awaited: what a call waits for has come; may be NULL
 */
struct dealbox_core_ops {
	void (*send_gate)(struct dealbox_core *core, const struct wire_gate *gate);
	void (*event)(struct dealbox_core *core, const struct dealbox_event *event);
	void (*awaited)(struct dealbox_core *core);
};

/**
 * struct dealbox_core - the host of one machine; zeroed to begin
 * @ops: set by the owner
 * @dialect: set by the owner
 * @transfer_size: the longest transfer of events; set by the owner
 * @machine: what the machine can do; set by the owner, unless the dialect asks for it
 * @info: what it says of itself, after the first call
 * @routed: the host answers each card
 * @sequence: number of the last command
 * @source: numbers of events
 * @router: the plan and the deal of a host-routed machine
 * @pace: of the pipe of events
 * @awaited: what a call waits for
 * @await_error: -errno: it will not come
 * @plan_id: of the plan whose verdict is awaited
 * @verdict: error code of PLAN_LOADED
 * @verdict_detail: its detail
 * @frames: serial dialect: what has come of a frame
 * @full: ... the last transfer was as long as can be
 * @tag: ... of the last request
 * @status: ... of its answer
 * @length: ... of its answer
 * @answer: ... its data
 */
struct dealbox_core {
	const struct dealbox_core_ops *ops;
	const struct dealbox_dialect *dialect;
	size_t transfer_size;
	struct wire_descriptor machine;
	struct wire_info info;
	bool routed;
	u32 sequence;
	struct event_source source;
	struct router router;
	struct retry pace;
	enum dealbox_awaited awaited;
	int await_error;
	u32 plan_id;
	u8 verdict;
	u32 verdict_detail;
	struct frame_reader frames;
	bool full;
	u8 tag;
	u8 status;
	u8 length;
	u8 answer[FRAME_PAYLOAD_MAX];
};

/*
 * Each begins a call whose data and bytes are set, everything else zero. What it
 * points to must live until the call has ended, and is filled by then.
 */
/* The first one: the machine's descriptor and info, and where its numbers go on. */
void dealbox_call_greet(struct dealbox_call *call);
/* All but lost, claimed and owner_pid. */
void dealbox_call_status(struct dealbox_call *call, struct dealbox_status *out);
void dealbox_call_counters(struct dealbox_call *call, struct dealbox_counters *out);
void dealbox_call_get_param(struct dealbox_call *call, struct dealbox_param *param);
void dealbox_call_set_param(struct dealbox_call *call, struct dealbox_param *param);
/* patient: until the machine has judged the plan, not only until it is sent */
void dealbox_call_set_plan(struct dealbox_call *call, struct dealbox_plan *plan, bool patient);
void dealbox_call_control(struct dealbox_call *call, struct dealbox_control *control);
/*
 * Pauses a deal that runs; 0 also if none does. A machine that does not say how it
 * stands may deal, so it is sent PAUSE, which does no harm if it does not.
 */
void dealbox_call_pause(struct dealbox_call *call);

/*
 * The next step of a call. result is that of the last step, 0 at first; now_ns is of
 * a clock that only goes forward.
 */
enum dealbox_action dealbox_call_next(struct dealbox_core *core, struct dealbox_call *call,
				      int result, u64 now_ns);
/* For dialects: the request has ended. */
enum dealbox_action dealbox_call_answered(struct dealbox_core *core, struct dealbox_call *call,
					  int error);

/* What a call waits for will not come: it ends with this error. */
void dealbox_core_fail_call(struct dealbox_core *core, int error);
/* The bus was reset: plan and deal are lost, and what came half will not go on. */
void dealbox_core_restart(struct dealbox_core *core);

/*
 * A transfer of events has come. Returns how many ms to wait before the next is
 * asked for: no flood of bad ones owns a CPU.
 */
u32 dealbox_core_receive(struct dealbox_core *core, const u8 *bytes, size_t length, u64 now_ns);
/*
 * A transfer of events has failed, or could not be asked for. As above; *reset says
 * that the machine is to be reset first.
 */
u32 dealbox_core_failed(struct dealbox_core *core, u64 now_ns, bool *reset);

/* For dialects: an event, WIRE_EVENT_SIZE bytes. False: something in it cannot be. */
bool dealbox_core_event(struct dealbox_core *core, const u8 *bytes, u64 now_ns);
/* ... and a transfer of length bytes, some of which are of no use. */
void dealbox_core_malformed(struct dealbox_core *core, size_t length, u64 now_ns);
/* ... and what a call waits for has come. */
void dealbox_core_end_await(struct dealbox_core *core);

#endif
