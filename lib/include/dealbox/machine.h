/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine: find it, open it, give it plans and commands, read its events.
 *
 * Three ways lead to a machine, and behave alike: the same calls, the same
 * events, the same errors.
 *
 *	local:/dev/dealbox0	the kernel module
 *	usb:SERIAL, usb:1-2.3	libusb, where the module is not loaded; the second
 *				form is the bus and the ports, as lsusb -t has them
 *	emu:/path/of/socket	dealbox-emulator --socket
 *
 * Structures and numbers are those of <linux/dealbox.h>. No call but open and
 * those that say so takes longer than a second or two; read never waits.
 * A machine belongs to one thread at a time.
 *
 * Errors are negative errno values:
 *	-ENODEV		the machine is gone (unplugged)
 *	-EREMOTEIO	the machine refused; result and detail say why
 *	-EPERM		nobody has claimed the machine, and the call needs it
 *	-EBUSY		another holds the claim
 *	-EBADF		it was opened to watch only
 *	-ETIMEDOUT	the machine did not answer in time
 *	-EPROTO		the machine broke the protocol
 *	-EOPNOTSUPP	the machine has not the capability
 *	-EINVAL		the call makes no sense, for instance a plan with a pocket that
 *			the machine does not have
 * dealbox_machine_reason() has the words.
 */
#ifndef DEALBOX_MACHINE_H
#define DEALBOX_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/dealbox.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_machine;
struct dealbox_machine_list;

/* Why a call failed, for a person. Never with the value of a card. */
struct dealbox_reason {
	char what[320];	/* what is wrong, and where */
	char next[320];	/* what to do about it; empty if nothing can be done */
};

/*
 * The machines of this computer: those with the kernel module, those on USB that
 * the module does not drive, and emulators[], paths of sockets (NULL, or ended
 * by NULL; those where nothing listens are left out). One that has just been plugged
 * in is listed when udev is done with it: before that, its node belongs to root.
 * 0, or -errno and *reason (may be NULL); *out is then NULL. Give *out to
 * dealbox_machine_list_free().
 */
DEALBOX_API int dealbox_machine_list(const char *const *emulators,
				    struct dealbox_machine_list **out, struct dealbox_reason *reason);
/* Frees it, and all strings that it gave. NULL is allowed. */
DEALBOX_API void dealbox_machine_list_free(struct dealbox_machine_list *list);
/* How many machines it has. */
DEALBOX_API size_t dealbox_machine_list_count(const struct dealbox_machine_list *list);
/*
 * Of machine n < count; strings live as long as the list. uri opens it; serial
 * and port ("1-2.3") may be empty; model is what the device calls itself.
 */
DEALBOX_API const char *dealbox_machine_list_uri(const struct dealbox_machine_list *list,
				    size_t n);
DEALBOX_API const char *dealbox_machine_list_serial(const struct dealbox_machine_list *list, size_t n);
DEALBOX_API const char *dealbox_machine_list_port(const struct dealbox_machine_list *list,
				    size_t n);
DEALBOX_API const char *dealbox_machine_list_model(const struct dealbox_machine_list *list, size_t n);

struct dealbox_monitor;

/* What happened to the machine at a port. */
enum dealbox_plug {
	DEALBOX_PLUG_ADDED,
	DEALBOX_PLUG_REMOVED,
	DEALBOX_PLUG_CHANGED	/* another driver, other rights */
};

/* Room for the name of a port, with its terminating zero. */
#define DEALBOX_PORT	32

/*
 * Hears of machines that come and go from now on; emulators' sockets are not among them. Make it
 * before dealbox_machine_list(), so that none comes in between. What has come is told when udev is
 * done with it. 0, or -errno and *reason (may be NULL); *out is then NULL. Give *out to
 * dealbox_monitor_free().
 */
DEALBOX_API int dealbox_monitor_new(struct dealbox_monitor **out, struct dealbox_reason *reason);
/* Frees it; NULL is allowed. */
DEALBOX_API void dealbox_monitor_free(struct dealbox_monitor *monitor);
/* A descriptor for poll(2): readable when there may be something to hear. It belongs to the monitor. */
DEALBOX_API int dealbox_monitor_fd(const struct dealbox_monitor *monitor);
/*
 * The next thing that happened: enum dealbox_plug, and the port as dealbox_machine_list_port() has it ("" for
 * a machine that is not on USB). Never waits: call it until it says -EAGAIN, there is nothing more. -ENOBUFS: more
 * happened at once than the kernel keeps, and some of it is lost. Then, as after anything
 * else, dealbox_machine_list() says what there is now. With the kernel module one machine is told of more
 * than once: its node comes and goes as well as its interface.
 */
DEALBOX_API int dealbox_monitor_next(struct dealbox_monitor *monitor, char port[DEALBOX_PORT]);

/*
 * Opens the machine at uri; NULL opens the only one that dealbox_machine_list()
 * finds. With observe the machine cannot be claimed, only watched: on local: any
 * number of programs may; usb: and emu: have one program at a time.
 * 0, or -errno and *reason (may be NULL); *out is then NULL.
 */
DEALBOX_API int dealbox_machine_open(const char *uri, bool observe,
				    struct dealbox_machine **out, struct dealbox_reason *reason);
/* Gives up the claim (a deal that runs is paused) and frees; NULL is allowed. */
DEALBOX_API void dealbox_machine_close(struct dealbox_machine *machine);
/* The address that opens it again; lives as long as the machine. */
DEALBOX_API const char *dealbox_machine_uri(const struct dealbox_machine *machine);
/* Of the last call that failed; lives until the next call. */
DEALBOX_API const struct dealbox_reason *dealbox_machine_reason(const struct dealbox_machine *machine);

/*
 * A descriptor for poll(2): readable when dealbox_machine_read() has something
 * to do. It belongs to the machine.
 */
DEALBOX_API int dealbox_machine_fd(const struct dealbox_machine *machine);
/*
 * Takes all events that are queued, at most max > 0 of them. Never waits.
 * Returns the number of events; -EAGAIN when there are none; -ENODEV when there are none
 * and the machine is gone.
 *
 * A host-routed machine on usb: or emu: waits at each card for this call (or any
 * other that talks to the machine): poll and read without delay while it deals.
 */
DEALBOX_API ssize_t dealbox_machine_read(struct dealbox_machine *machine,
				    struct dealbox_event *events, size_t max);

/*
 * What does not change, how it stands now, what it did in its life. 0, or -errno: -ENODEV when it is
 * gone, -EPROTO when its answer breaks the protocol.
 */
DEALBOX_API int dealbox_machine_get_info(struct dealbox_machine *machine,
				    struct dealbox_info *out);
DEALBOX_API int dealbox_machine_get_status(struct dealbox_machine *machine,
				    struct dealbox_status *out);
DEALBOX_API int dealbox_machine_get_counters(struct dealbox_machine *machine,
				    struct dealbox_counters *out);
/* Takes the number in param->id, fills in the rest. */
DEALBOX_API int dealbox_machine_get_param(struct dealbox_machine *machine,
				    struct dealbox_param *param);
DEALBOX_API int dealbox_machine_set_param(struct dealbox_machine *machine, uint32_t id,
				    uint32_t value);

/* All calls below need the claim. A deal that runs is paused by its release. */
DEALBOX_API int dealbox_machine_claim(struct dealbox_machine *machine);
DEALBOX_API int dealbox_machine_release(struct dealbox_machine *machine);

/*
 * Gives the machine a plan, waits until it has accepted or refused it (at most
 * 3 s) and writes result and detail. The caller wipes *plan when done with it.
 */
DEALBOX_API int dealbox_machine_set_plan(struct dealbox_machine *machine,
				    struct dealbox_plan *plan);
/* Deals the plan into the insertion that is present. */
DEALBOX_API int dealbox_machine_start(struct dealbox_machine *machine, uint32_t plan_id,
				    uint32_t insertion);
DEALBOX_API int dealbox_machine_pause(struct dealbox_machine *machine);
DEALBOX_API int dealbox_machine_resume(struct dealbox_machine *machine);
/* Held: reads the card at the reader again, or feeds the next. */
DEALBOX_API int dealbox_machine_reread(struct dealbox_machine *machine);
DEALBOX_API int dealbox_machine_abort(struct dealbox_machine *machine);
DEALBOX_API int dealbox_machine_clear_fault(struct dealbox_machine *machine);
DEALBOX_API int dealbox_machine_release_board(struct dealbox_machine *machine);
/* Deals cards without a plan, card i into pocket i modulo pockets. */
DEALBOX_API int dealbox_machine_test_deal(struct dealbox_machine *machine,
				    uint32_t insertion, uint32_t cards);
/* Blinks for so many seconds, at most 60; 0 stops it. */
DEALBOX_API int dealbox_machine_locate(struct dealbox_machine *machine, uint32_t seconds);
/* What the machine answered to the last command: DEALBOX_ERR_*, and its detail. */
DEALBOX_API uint32_t dealbox_machine_result(const struct dealbox_machine *machine,
				    uint32_t *detail);

/* The words of the protocol, in English: "board inserted", "paused" .. */
DEALBOX_API const char *dealbox_event_name(uint32_t type);
/*
 * What an event says beside its name that helps at the machine, and is no card: where a card is stuck,
 * "at the gate"; the maker's code of a fault, "code 17" (docs/protocol.md, 4.3). Empty for other events.
 * Written to text as by snprintf(), whose return value it has.
 */
DEALBOX_API size_t dealbox_event_detail(const struct dealbox_event *event, char *text, size_t size);
DEALBOX_API const char *dealbox_state_name(uint32_t state);

#ifdef __cplusplus
}
#endif
#endif
