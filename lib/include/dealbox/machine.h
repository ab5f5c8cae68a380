/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine: find it, open it, give it plans and commands, read its events.
 *
 * A machine is reached in one of four ways, which behave alike: the same calls, the same events,
 * the same errors.
 *
 *	local:/dev/dealbox0	the kernel module
 *	usb:SERIAL, usb:1-2.3	libusb, where the module is not loaded; the second
 *				form is the bus and the ports, as lsusb -t has them
 *	emu:/path/of/socket	dealbox-emulator --socket
 *	hand:[DEVICE][,codes=FILE][,lang=LANGUAGE]
 *				a person who names each card with the keys of the terminal or of
 *				DEVICE, a number pad or a bar-code scanner; see
 *				dealbox_machine_get_prompt()
 *
 * Structures and numbers are those of <linux/dealbox.h>. No call but open and
 * those that say so takes longer than a second or two; read never waits.
 * A machine belongs to one thread at a time.
 *
 * Errors are negative errno values:
 *	-ENODEV		the machine is gone (unplugged)
 *	-EREMOTEIO	the machine refused; result and detail say why
 *	-EPERM		nobody has claimed the machine, and the call requires it
 *	-EBUSY		another holds the claim
 *	-EBADF		it was opened for watching only
 *	-ETIMEDOUT	the machine did not answer in time
 *	-EPROTO		the machine violated the protocol
 *	-EOPNOTSUPP	the machine lacks the capability
 *	-ENODATA	the machine has no attestation
 *	-EIO		a transfer failed
 *	-EPIPE		the machine refused a request that every machine must support
 *	-EINTR		a signal interrupted the call; the machine may have done it
 *	-EINVAL		the call is invalid, for instance a plan with a pocket that
 *			the machine does not have
 *	-ENOMEM		out of memory
 * Opening a machine has these as well:
 *	-EINVAL		the address is none, or a flag is unknown
 *	-ENOTUNIQ	there are several machines of that address, or none was named: ask which
 *	-EACCES		no permission
 *	-ENOENT		there is no such file or device
 *	-ECONNREFUSED	nobody listens on the socket
 *	-ENOTTY		the device is not a machine, or the kernel module is too old
 * Other values are possible, of the system and of later versions: they are failures, too.
 * dealbox_machine_error() has the sentence; of opening, the error that the caller gave.
 */
#ifndef DEALBOX_MACHINE_H
#define DEALBOX_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/dealbox.h>

#include <dealbox/api.h>
#include <dealbox/error.h>
#include <dealbox/event.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_machine;
struct dealbox_machine_list;

/*
 * Lists the machines of this computer: those with the kernel module, those on USB that the module
 * does not drive, and emulators[], paths of sockets (NULL, or terminated by NULL; sockets that
 * nobody listens on are left out). A new machine is listed when udev has finished with it, because
 * its node belongs to root before that. Returns 0, or -errno and *error (may be NULL); *out is
 * then NULL. Pass *out to dealbox_machine_list_free().
 */
DEALBOX_API int dealbox_machine_list_new(const char *const *emulators,
				    struct dealbox_machine_list **out, struct dealbox_error *error);
/* Frees the list and all its strings. NULL is allowed. */
DEALBOX_API void dealbox_machine_list_free(struct dealbox_machine_list *list);
/* Returns the number of machines in the list. */
DEALBOX_API size_t dealbox_machine_list_count(const struct dealbox_machine_list *list);
/*
 * Returns the uri, serial, port or model of machine n < count; strings are valid as long as the
 * list. dealbox_machine_open() takes the uri; serial and port ("1-2.3") may be empty; model is the
 * device's own name.
 */
DEALBOX_API const char *dealbox_machine_list_uri(const struct dealbox_machine_list *list,
				    size_t n);
DEALBOX_API const char *dealbox_machine_list_serial(const struct dealbox_machine_list *list,
						    size_t n);
DEALBOX_API const char *dealbox_machine_list_port(const struct dealbox_machine_list *list,
				    size_t n);
DEALBOX_API const char *dealbox_machine_list_model(const struct dealbox_machine_list *list,
						   size_t n);

struct dealbox_monitor;

/* Events of the machine at a port. */
enum dealbox_plug {
	DEALBOX_PLUG_ADDED,
	DEALBOX_PLUG_REMOVED,
	DEALBOX_PLUG_CHANGED	/* another driver, other permissions */
};

/* Size of a buffer for the name of a port, including the terminating zero. */
#define DEALBOX_PORT	32

/*
 * Monitors hotplug of machines from now on; emulators' sockets are not covered. Create it before
 * dealbox_machine_list_new(), so that no machine is missed in between. A new machine is reported
 * when udev has finished with it. Returns 0, or -errno and *error (may be NULL); *out is then NULL.
 * Pass *out to dealbox_monitor_free().
 */
DEALBOX_API int dealbox_monitor_new(struct dealbox_monitor **out, struct dealbox_error *error);
/* Frees the monitor; NULL is allowed. */
DEALBOX_API void dealbox_monitor_free(struct dealbox_monitor *monitor);
/*
 * Returns a descriptor for poll(2): readable when there may be an event. It belongs to the monitor.
 */
DEALBOX_API int dealbox_monitor_fd(const struct dealbox_monitor *monitor);
/*
 * Returns the next event, enum dealbox_plug, and the port as dealbox_machine_list_port() has it (""
 * for a machine that is not on USB). Never waits: call it until -EAGAIN: no further event.
 * -ENOBUFS: the kernel's buffer overflowed, and events are lost. Then, as after any event, call
 * dealbox_machine_list_new() for the current machines. With the kernel module one machine causes
 * several events: its node comes and goes as well as its interface.
 */
DEALBOX_API int dealbox_monitor_next(struct dealbox_monitor *monitor, char port[DEALBOX_PORT]);

/* Flags of dealbox_machine_open() */
#define DEALBOX_MACHINE_OBSERVE	0x1U	/* the machine cannot be claimed, only watched */

/*
 * Opens the machine at uri; NULL opens the only one that dealbox_machine_list_new() finds. flags is
 * 0 or DEALBOX_MACHINE_OBSERVE; other flags are -EINVAL. local: allows several programs, usb: and
 * emu: one program at a time. Returns 0, or -errno and *error (may be NULL); *out is then NULL.
 */
DEALBOX_API int dealbox_machine_open(const char *uri, unsigned int flags,
				    struct dealbox_machine **out, struct dealbox_error *error);
/* Releases the claim (a running deal is paused) and frees the machine; NULL is allowed. */
DEALBOX_API void dealbox_machine_close(struct dealbox_machine *machine);
/* Returns the URI that opens the machine again; valid as long as the machine. */
DEALBOX_API const char *dealbox_machine_uri(const struct dealbox_machine *machine);
/* Returns the error of the last call that failed; valid until the next call. */
DEALBOX_API const struct dealbox_error *
dealbox_machine_error(const struct dealbox_machine *machine);

/*
 * Returns a descriptor for poll(2): readable when dealbox_machine_read() has something to do. It
 * belongs to the machine.
 */
DEALBOX_API int dealbox_machine_fd(const struct dealbox_machine *machine);
/*
 * Reads all queued events, at most max > 0 of them. Never waits. Returns the number of events.
 * -EAGAIN: no events; -ENODEV: no events, and the machine is gone.
 *
 * A host-routed machine on usb: or emu: waits at each card for this call (or any other call that
 * communicates with the machine): poll and read without delay while it deals.
 */
DEALBOX_API ssize_t dealbox_machine_read(struct dealbox_machine *machine,
				    struct dealbox_event *events, size_t max);

/*
 * Get the constant properties, the current state, or the lifetime counters of a machine. The state
 * includes the events of the machine whose machine_seq comes before that of the status, and none
 * after it: (int32_t)(event.machine_seq - status.machine_seq) < 0, as long as neither is 0 and the
 * machine has not lost its state in between. Returns 0, or -errno: -ENODEV: the machine is gone,
 * -EPROTO: its answer violates the protocol.
 */
DEALBOX_API int dealbox_machine_get_info(struct dealbox_machine *machine,
				    struct dealbox_info *out);
DEALBOX_API int dealbox_machine_get_status(struct dealbox_machine *machine,
				    struct dealbox_status *out);
DEALBOX_API int dealbox_machine_get_counters(struct dealbox_machine *machine,
				    struct dealbox_counters *out);
/*
 * Gets the parameter id (DEALBOX_PARAM_*): value, min and max. Returns 0, or -errno. -EREMOTEIO:
 * the machine does not have it.
 */
DEALBOX_API int dealbox_machine_get_param(struct dealbox_machine *machine, uint32_t id,
				    struct dealbox_param *out);
/* Sets a parameter. Requires the claim. -EREMOTEIO: unknown id, or value out of range. */
DEALBOX_API int dealbox_machine_set_param(struct dealbox_machine *machine, uint32_t id,
				    uint32_t value);

/*
 * Claims the machine, which the calls below require. Claiming it again has no effect. Returns 0, or
 * -errno. -EBUSY: another file or program has the claim; -EBADF: opened with
 * DEALBOX_MACHINE_OBSERVE.
 */
DEALBOX_API int dealbox_machine_claim(struct dealbox_machine *machine);
/* Releases the claim, and pauses a running deal. Returns 0, or -errno. -EPERM: not claimed. */
DEALBOX_API int dealbox_machine_release(struct dealbox_machine *machine);

/*
 * Sends a plan to the machine, waits until it has accepted or refused it (at most 3 s), and writes
 * result and detail. The caller wipes *plan afterwards. Returns 0, or -errno: -EINVAL: not a plan
 * for this machine; -EOPNOTSUPP: it lacks the mode; -EREMOTEIO: refused, as during a deal.
 *
 * The commands below return 0, or -errno with the same meaning. -EREMOTEIO: the machine refused,
 * and dealbox_machine_result() has the code (docs/protocol.md, section 2.3).
 */
DEALBOX_API int dealbox_machine_set_plan(struct dealbox_machine *machine,
				    struct dealbox_plan *plan);
/* Starts dealing the plan into the board. insertion must be that of the board in the machine. */
DEALBOX_API int dealbox_machine_start(struct dealbox_machine *machine, uint32_t plan_id,
				    uint32_t insertion);
/* Pauses a deal: the cards past the gate still land. DEALBOX_EV_PAUSED reports that it is done. */
DEALBOX_API int dealbox_machine_pause(struct dealbox_machine *machine);
/* Continues a paused deal. */
DEALBOX_API int dealbox_machine_resume(struct dealbox_machine *machine);
/* In state HELD, rereads the card at the reader, or feeds the next one. */
DEALBOX_API int dealbox_machine_reread(struct dealbox_machine *machine);
/* Aborts a deal. The board is then void. */
DEALBOX_API int dealbox_machine_abort(struct dealbox_machine *machine);
/* Leaves state FAULT, once the cause has been removed. */
DEALBOX_API int dealbox_machine_clear_fault(struct dealbox_machine *machine);
/* Unlocks the board. -EOPNOTSUPP: the machine has no lock. */
DEALBOX_API int dealbox_machine_release_board(struct dealbox_machine *machine);
/*
 * Deals cards without a plan, card i into pocket i modulo pockets, for service. It uses up the
 * insertion. -EOPNOTSUPP: the machine has no test deal.
 */
DEALBOX_API int dealbox_machine_test_deal(struct dealbox_machine *machine,
				    uint32_t insertion, uint32_t cards);
/* Blinks for this time in s, at most 60; 0 stops it. */
DEALBOX_API int dealbox_machine_locate(struct dealbox_machine *machine, uint32_t seconds);
/*
 * Asks the machine to sign what it said of the deal that ended last, which must be that of the
 * insertion. nonce is secret and used once: a random number, or the salt of a certificate. Sets
 * nothing else: DEALBOX_EV_ATTESTED reports the end, within 10 s, with an error code in arg[0] and
 * the insertion in arg[1]; then call dealbox_machine_get_attestation(). -EOPNOTSUPP: the machine
 * has no key. -EREMOTEIO: refused, as after a stop.
 */
DEALBOX_API int dealbox_machine_attest(struct dealbox_machine *machine, uint32_t insertion,
				    const uint8_t nonce[DEALBOX_NONCE_SIZE]);
/*
 * Gets the attestation that the machine made last; dealbox_attestation_verify() checks it. Does not
 * require the claim. Returns 0, or -errno: -ENODATA: there is none; -EOPNOTSUPP: the machine has no
 * key.
 */
DEALBOX_API int dealbox_machine_get_attestation(struct dealbox_machine *machine,
				    struct dealbox_attestation *out);
/*
 * Gets the public key with which the machine signs. It identifies a machine only if somebody whom
 * you trust has said before the deal that it is the key of this machine. Does not require the
 * claim. Returns 0, or -errno: -EOPNOTSUPP: the machine has no key.
 */
DEALBOX_API int dealbox_machine_get_identity(struct dealbox_machine *machine,
				    struct dealbox_identity *out);
/* Returns the machine's answer to the last command: DEALBOX_ERR_*, and its detail. */
DEALBOX_API uint32_t dealbox_machine_result(const struct dealbox_machine *machine,
				    uint32_t *detail);

/*
 * Returns the name of DEALBOX_STATE_* in English, "held"; "unknown state" for others. Names are
 * static and never change.
 */
DEALBOX_API const char *dealbox_state_name(uint32_t state);

/* Instructions for a person who deals by hand. */
enum dealbox_prompt_kind {
	DEALBOX_PROMPT_NOTHING, /* no board is dealt: there is nothing to show */
	DEALBOX_PROMPT_CARD, /* put the card into pocket; without a pocket, name the first card */
	DEALBOX_PROMPT_LAST, /* the same with the last card; then press Enter */
	DEALBOX_PROMPT_SAME, /* the card in the hand was named again: take the second one out */
	DEALBOX_PROMPT_DEALT, /* that card was dealt already; named once more, the board is void */
	DEALBOX_PROMPT_FOREIGN, /* that card does not belong to the deal */
	DEALBOX_PROMPT_UNREAD, /* an unknown bar code or key */
	DEALBOX_PROMPT_SHORT, /* Enter, and cards are missing; pressed again, the board is void */
	DEALBOX_PROMPT_PAUSED,
	DEALBOX_PROMPT_VOID,	/* the deal has stopped, and the board is void */
	DEALBOX_PROMPT_KINDS
};

/* A pocket, a card, or a rank that does not apply is DEALBOX_NONE. */
struct dealbox_prompt {
	uint8_t shows;		/* enum dealbox_prompt_kind */
	uint8_t pocket;		/* for the card in the hand */
	uint8_t card;		/* the card in the hand, if it was typed */
	uint8_t rank;		/* the first key of two that was typed: 0 = ace .. 12 = two */
	uint8_t number;		/* of the card in the hand, from 1; 0 = before the first */
	uint8_t cards;		/* of the deal */
	uint8_t reserved[2];
};

/*
 * Returns what a person who deals by hand is to be shown now, because he is the gate. Ask after
 * each call of the machine and each dealbox_machine_read(). It is a secret: show it to nobody else,
 * and wipe it. -EOPNOTSUPP: it is not a machine of hand:.
 */
DEALBOX_API int dealbox_machine_get_prompt(struct dealbox_machine *machine,
				    struct dealbox_prompt *out);

/*
 * Tells a machine of hand:, which has no memory, the last insertion that is on record, so that its
 * next one has a higher number. -EOPNOTSUPP: the machine counts by itself.
 */
DEALBOX_API int dealbox_machine_count_from(struct dealbox_machine *machine, uint32_t insertion);

#ifdef __cplusplus
}
#endif
#endif
