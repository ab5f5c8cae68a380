/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The host's side of the protocol.
 *
 * The core decides what to send, what to wait for, when to repeat, query or
 * give up, which gate command answers a card, and when to retry the event pipe.
 * Its owner runs the transfers and supplies the time. The module and the
 * library are both such owners, so that they behave alike.
 *
 * The core has no clock, no transfers and no lock. The owner serialises all
 * calls.
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

/* The owner's next action. Its result goes to dealbox_call_next(). */
enum dealbox_action {
	/* Nothing: the call has ended, with call->error. */
	DEALBOX_DONE,
	/*
	 * Make a control transfer to the interface: call->type, request, value
	 * and length bytes at call->data. Result: number of bytes transferred,
	 * or -errno; -EPIPE is a stall.
	 */
	DEALBOX_CONTROL,
	/*
	 * Send call->size bytes at call->bytes on the plan pipe, wipe them, and
	 * clear a halt. Result: 0 or -errno; -EPIPE is a halt.
	 */
	DEALBOX_SEND,
	/*
	 * Wait, at most call->ms, until core->awaited is DEALBOX_AWAIT_NOTHING.
	 * Result: 0, -ETIMEDOUT, or the -errno that ended the wait.
	 */
	DEALBOX_AWAIT,
};

/* The message on the event pipe that a call waits for. */
enum dealbox_awaited {
	DEALBOX_AWAIT_NOTHING,
	DEALBOX_AWAIT_ANSWER,	/* a dialect's answer to a request */
	DEALBOX_AWAIT_VERDICT,	/* PLAN_LOADED */
};

/**
 * struct dealbox_call - one call of the ABI, from its first step to its result
 * @data: buffer of WIRE_DATA_MAX bytes for the data of a request and of its
 *	answer; set by the owner
 * @bytes: buffer of FRAME_MAX bytes for DEALBOX_SEND; set by the owner
 * @type: bmRequestType
 * @request: bRequest
 * @value: wValue
 * @length: wLength
 * @size: number of bytes for DEALBOX_SEND
 * @ms: time limit of the current step
 * @error: 0 or -errno, once the call has ended
 * @result: the machine's error code if @error is -EREMOTEIO, else 0
 * @detail: detail of @result
 * @command: request code of the command that was sent, for tracing; 0 = none
 * @command_error: 0 or -errno of that command
 * @patient: SET_PLAN ends with the machine's verdict, not as soon as the plan
 *	is sent; set by the owner
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
	enum dealbox_action (*step)(struct dealbox_core *core,
				    struct dealbox_call *call, int result);
	enum dealbox_action (*answered)(struct dealbox_core *core,
					struct dealbox_call *call, int error);
	enum dealbox_action (*commanded)(struct dealbox_core *core,
					 struct dealbox_call *call, int error);
	u64 now_ns;
	u64 end_ns;
	unsigned int attempt;
	int lost;
	u64 seqno;
	void *arg;
	u32 *result_to;
	u32 *detail_to;
	struct wire_command fields;
	const u8 *nonce;	/* ATTEST, else NULL */
	struct wire_plan plan;
};

/**
 * struct dealbox_dialect - encoding of the protocol on USB
 * @bulk: one pair of bulk pipes carries everything; otherwise events and gate
 *	commands have interrupt pipes
 * @described: dealbox_call_greet() queries the machine for its descriptor
 *	unless core->machine is known
 * @describe: the request for the descriptor, if @described
 * @exchange: start a request. Ends in dealbox_call_answered(), with the
 *	answer in call->data.
 * @encode_plan: encode a plan into FRAME_MAX bytes and return its size
 * @encode_gate: encode a gate command into DEALBOX_GATE_MAX bytes and
 *	return its size
 * @receive: decode a transfer and call dealbox_core_event() for each event, and
 *	dealbox_core_malformed() if an event may have been lost in it. Return
 *	false if some of the bytes were of no use.
 * @restart: discard a partly received message after a bus reset; may be
 *	NULL. Not called after a suspend, since the machine sends the rest on
 *	resume.
 *
 * docs/porting.md explains how to add a dialect.
 */
struct dealbox_dialect {
	bool bulk;
	bool described;
	u8 describe;
	enum dealbox_action (*exchange)(struct dealbox_core *core,
					struct dealbox_call *call);
	size_t (*encode_plan)(u8 *buf, const struct wire_plan *plan);
	size_t (*encode_gate)(u8 *buf, const struct wire_gate *gate);
	bool (*receive)(struct dealbox_core *core, const u8 *bytes,
			size_t length, u64 now_ns);
	void (*restart)(struct dealbox_core *core);
};

#define DEALBOX_GATE_MAX	FRAME_BYTES(WIRE_GATE_SIZE)

/*
 * Limit of gate commands in flight. A machine waits for one answer at a time;
 * the second is for a card that it rereads while the first is in flight.
 */
#define DEALBOX_GATES		2

/*
 * How long a gate command may be in flight, in ms. By then the machine has long
 * given up waiting for it; its owner cancels it, so that later cards are
 * answered.
 */
#define DEALBOX_GATE_MS		1000

#include "dialects.h"

/**
 * struct dealbox_core_ops - callbacks to the owner of a core
 * @send_gate: send a gate command at once: a card is waiting at the gate.
 *	Return -errno, or 0 if it is in flight; dealbox_core_gate_done() follows
 *	then.
 * @note_gate: note the result of answering a card: 0 if the command is in
 *	flight, -EBUSY if DEALBOX_GATES others are, -EPIPE while gate commands
 *	are held, or the error of @send_gate; may be NULL
 * @event: queue an event for the readers
 * @awaited: wake the call that waits for core->awaited; may be NULL
 *
 * They run within the core's functions and must not call the core.
 */
struct dealbox_core_ops {
	int (*send_gate)(struct dealbox_core *core,
			 const struct wire_gate *gate);
	void (*note_gate)(struct dealbox_core *core,
			  const struct wire_gate *gate, int error);
	void (*event)(struct dealbox_core *core,
		      const struct dealbox_event *event);
	void (*awaited)(struct dealbox_core *core);
};

/**
 * struct dealbox_core - the host of one machine; initialised with zeroes
 * @ops: set by the owner
 * @dialect: set by the owner
 * @transfer_size: maximum size of a transfer of events; set by the owner
 * @machine: capabilities; set by the owner or by dealbox_call_describe(),
 *	unless the dialect queries them
 * @info: versions and name, valid after dealbox_call_greet()
 * @routed: the machine is host-routed
 * @sequence: sequence number of the last command
 * @source: numbering of the events
 * @router: plan and deal of a host-routed machine
 * @gates: gate commands in flight
 * @gates_held: send none, because their pipe has halted or is being cleared
 * @pace: back-off of the event pipe
 * @awaited: the message that a call waits for
 * @await_error: -errno if that message cannot arrive any more
 * @plan_id: the plan of the last LOAD
 * @verdict: error code of its PLAN_LOADED, DEALBOX_ERR_OK if none came
 * @verdict_detail: detail of @verdict
 * @frames: serial dialect: the partly received frame
 * @full: serial dialect: the last transfer had the maximum size
 * @tag: serial dialect: tag of the last request
 * @status: serial dialect: status of the last answer
 * @length: serial dialect: length of the data of the last answer
 * @answer: serial dialect: data of the last answer
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
	u8 gates;
	bool gates_held;
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
 * The functions below start a call. Its data, bytes and patient are set,
 * everything else is zero. The arguments must live until the call has ended;
 * results are stored in them.
 */

/**
 * dealbox_call_describe() - ask whether a device is a machine
 * @call: the call
 *
 * For a device whose descriptors do not say it. Reads the machine descriptor by
 * a control request, in every dialect, and sets core->machine. Nothing is
 * written to the device, and nothing must be before this call has succeeded.
 */
void dealbox_call_describe(struct dealbox_call *call);

/**
 * dealbox_call_greet() - start the first call to a machine
 * @call: the call
 *
 * Queries descriptor and info, and the sequence number of the last command that
 * the machine has seen.
 */
void dealbox_call_greet(struct dealbox_call *call);

/* Size of the longest argument of an ioctl, in bytes. */
#define DEALBOX_ARG_MAX		176

/**
 * struct dealbox_ioctl - an ioctl, as the module and the library answer it
 * @cmd: DEALBOX_IOC_*
 * @owner: only for who has the claim
 * @begin: first step of the call; NULL if the core's owner answers alone
 */
struct dealbox_ioctl {
	unsigned int cmd;
	bool owner;
	enum dealbox_action (*begin)(struct dealbox_core *core,
				     struct dealbox_call *call, int unused);
};

/**
 * dealbox_ioctl_find() - look up an ioctl
 * @cmd: any number
 *
 * Return: the ioctl, or NULL if there is none with this number.
 */
const struct dealbox_ioctl *dealbox_ioctl_find(unsigned int cmd);

/**
 * dealbox_call_ioctl() - start the call of an ioctl
 * @call: the call; @call->patient is set
 * @cmd: DEALBOX_IOC_*, of an ioctl that has a first step
 * @arg: its argument. Of struct dealbox_status, lost, claimed and owner_pid are
 *	left to the owner.
 */
void dealbox_call_ioctl(struct dealbox_call *call, unsigned int cmd, void *arg);

/**
 * dealbox_call_pause() - start the pause of a running deal
 * @call: the call
 *
 * Succeeds too if no deal is running. If the machine does not report its state,
 * it may be dealing, so PAUSE is sent all the same: it is harmless otherwise.
 */
void dealbox_call_pause(struct dealbox_call *call);

/**
 * dealbox_call_next() - advance a call to its next step
 * @core: the machine's core
 * @call: the call
 * @result: result of the last step, 0 for the first
 * @now_ns: time of a monotonic clock
 *
 * Return: the owner's next action.
 */
enum dealbox_action dealbox_call_next(struct dealbox_core *core,
				      struct dealbox_call *call, int result,
				      u64 now_ns);

/**
 * dealbox_call_answered() - end a request; for dialects
 * @core: the machine's core
 * @call: the call that made the request
 * @error: 0, or -errno; -EPIPE if the machine refused the request
 *
 * Return: the owner's next action.
 */
enum dealbox_action dealbox_call_answered(struct dealbox_core *core,
					  struct dealbox_call *call, int error);

/**
 * dealbox_core_fail_call() - end the wait of a call
 * @core: the machine's core
 * @error: -errno with which the call ends
 *
 * For an awaited message that cannot arrive any more.
 */
void dealbox_core_fail_call(struct dealbox_core *core, int error);

/**
 * dealbox_core_gate_done() - note the completion of a gate command
 * @core: the machine's core
 * @status: 0 or -errno
 *
 * If the pipe has halted, gate commands are held. The owner cancels those in
 * flight, clears the halt when none is left, and calls
 * dealbox_core_allow_gates().
 *
 * Return: true if the pipe has halted.
 */
bool dealbox_core_gate_done(struct dealbox_core *core, int status);

/**
 * dealbox_core_hold_gates() - send no gate command
 * @core: the machine's core
 *
 * For use before any halt is cleared: no gate command may be in flight at an
 * endpoint that is cleared. The machine holds a card that it reads meanwhile.
 */
void dealbox_core_hold_gates(struct dealbox_core *core);

/**
 * dealbox_core_allow_gates() - send gate commands again
 * @core: the machine's core
 */
void dealbox_core_allow_gates(struct dealbox_core *core);

/**
 * dealbox_core_restart() - forget plan, deal and partial messages
 * @core: the machine's core
 *
 * For use after a bus reset.
 */
void dealbox_core_restart(struct dealbox_core *core);

/**
 * dealbox_core_receive() - process a transfer of events
 * @core: the machine's core
 * @bytes: the data
 * @length: bytes in @bytes
 * @now_ns: time of arrival, of a monotonic clock
 *
 * Return: pause in ms before the next transfer is submitted. It is not 0 for a
 * series of bad transfers, which must not occupy a CPU.
 */
u32 dealbox_core_receive(struct dealbox_core *core, const u8 *bytes,
			 size_t length, u64 now_ns);

/**
 * dealbox_core_failed() - note the failure of a transfer of events
 * @core: the machine's core
 * @now_ns: time of a monotonic clock
 * @reset: set to true if the machine is to be reset
 *
 * The transfer failed or could not be submitted.
 *
 * Return: pause in ms before the next transfer is submitted.
 */
u32 dealbox_core_failed(struct dealbox_core *core, u64 now_ns, bool *reset);

/**
 * dealbox_core_event() - process one event; for dialects
 * @core: the machine's core
 * @bytes: WIRE_EVENT_SIZE bytes
 * @now_ns: time of arrival
 *
 * Return: false if a field is out of range.
 */
bool dealbox_core_event(struct dealbox_core *core, const u8 *bytes, u64 now_ns);

/**
 * dealbox_core_malformed() - report a malformed transfer; for dialects
 * @core: the machine's core
 * @length: size of the transfer in bytes
 * @now_ns: time of arrival
 */
void dealbox_core_malformed(struct dealbox_core *core, size_t length,
			    u64 now_ns);

/**
 * dealbox_core_end_await() - report the awaited message; for dialects
 * @core: the machine's core
 */
void dealbox_core_end_await(struct dealbox_core *core);

#endif
