/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of one machine, shared by the files of the module.
 *
 * Locks, outermost first:
 *   turn   mutex; serialises the calls of files that do not hold the claim, so
 *          that the owner waits for two of them at most: ctl goes to whoever
 *          runs first, but once a waiter was woken in vain, to that waiter.
 *   ctl    mutex; serialises commands and queries. Its holder waits for
 *          transfers, each with a time limit. Disconnect and reset kill them.
 *   out    mutex; serialises the transfers of plans and requests, and the
 *          clearing of halts of their endpoint. They are limited like those
 *          under ctl.
 *   lock   spinlock, also taken in completion handlers; see struct dealbox.
 *
 * read() and poll() sleep without a lock. open() takes no mutex.
 */
#ifndef DEALBOX_H
#define DEALBOX_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/usb.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core.h"
#include "queue.h"

struct dealbox;

/* The endpoints of a machine. */
struct dealbox_pipes {
	/* events, interrupt or bulk */
	const struct usb_endpoint_descriptor *in;
	/* plans, bulk */
	const struct usb_endpoint_descriptor *out;
	/* gate commands, interrupt or bulk; NULL on a stored-plan machine */
	const struct usb_endpoint_descriptor *gate;
};

/* Statistics for debugfs; under lock. */
struct dealbox_stats {
	u64 transfers;
	u64 events;
	u64 malformed;
	u64 errors;
	u64 halts;
	u64 resets;
	u64 gates;
	u64 gates_failed;
	u64 gates_short;	/* no free URB: the machine asked too fast */
	u64 commands;
	u64 commands_failed;
	int last_error;
};

/*
 * Limit of files open for reading only, and of files open for writing. Each
 * file costs time in the completion handler. There are two limits so that
 * observers cannot lock out the owner.
 */
#define DEALBOX_FILES	64

/*
 * Events of a transfer of 1024 bytes, and a protocol error for the rest of it.
 */
#define DEALBOX_FRESH	(1024 / WIRE_EVENT_SIZE + 1)

/* A preallocated control transfer. */
struct dealbox_request {
	struct urb *urb;
	struct usb_ctrlrequest *setup;
};

/* The transfers of events. */
enum dealbox_in_state {
	IN_STOPPED,
	IN_FLIGHT,
	IN_WAITS,	/* retry submits int_in after a pause */
	IN_HALTED,	/* the same, and clears the halt before */
};

/* A preallocated URB for a gate command. */
struct dealbox_gate {
	struct dealbox *db;
	struct urb *urb;
	u8 *buf;
	bool busy;
	unsigned long deadline;		/* in jiffies, while busy */
};

struct dealbox {
	struct device dev;		/* refcount; /sys/class/dealbox */
	struct cdev cdev;
	int minor;
	struct usb_interface *intf;	/* a reference, put in dealbox_free() */
	struct usb_device *udev;
	struct dentry *debugfs;

	/* constant after probe: */
	struct dealbox_info info;
	char *serial;			/* full and printable; NULL = none */

	struct mutex turn;		/* order of files without the claim */

	struct mutex ctl;		/* protects the fields of a command: */
	struct dealbox_request request;
	u8 *ctl_buf;
	struct urb *plan_urb;
	u8 *plan_buf;

	struct dealbox_request clear_in;	/* for retry only */
	struct dealbox_request clear_gates;	/* for unhalt only */
	struct mutex out;

	spinlock_t lock;		/* protects everything below: */
	bool gone;
	bool hurried;			/* transfers end at the deadline */
	unsigned long deadline;		/* in jiffies */
	int blocked;			/* -errno for transfers, 0 = allowed */
	enum dealbox_in_state in_state;
	struct urb *int_in;
	u8 *int_buf;
	struct delayed_work retry;	/* of int_in */
	struct delayed_work unhalt;	/* the gate pipe */
	struct delayed_work expire;	/* of gate commands */
	struct dealbox_gate gates[DEALBOX_GATES];
	struct dealbox_core core;	/* calls also need ctl */
	wait_queue_head_t arrived;	/* core.awaited has ended */
	struct dealbox_stats stats;
	struct dealbox_event fresh[DEALBOX_FRESH];	/* not yet queued */
	unsigned int fresh_count;
	struct list_head files;
	unsigned int opened[2];		/* files: read-only, writable */
	struct dealbox_file *owner;	/* cleared under ctl and lock */
	struct pid *owner_pid;
};

/* One open file; db->lock protects all but db and writes. */
struct dealbox_file {
	struct dealbox *db;		/* a reference */
	bool writes;
	struct list_head node;
	wait_queue_head_t wait;
	struct event_queue queue;
};

/* pipes.c */

/* Say why the descriptor refuses the machine. Returns error. */
int dealbox_refuse_descriptor(struct dealbox *db, int error);

/*
 * Find the endpoints of db->core.dialect, and set db->core.machine if the USB
 * descriptors contain it. Makes no transfers. Returns 0 or -errno.
 */
int dealbox_find_pipes(struct dealbox *db, struct dealbox_pipes *pipes);

/*
 * Compare the endpoints with what the machine says that it is. Returns 0 or
 * -errno.
 */
int dealbox_check_pipes(struct dealbox *db, struct dealbox_pipes *pipes);

/* chardev.c */
extern const struct file_operations dealbox_fops;

/* stream.c; control.c runs the calls of the core */
extern const struct dealbox_core_ops dealbox_core_ops;

/*
 * control.c. The calls below return 0, or -errno as documented in
 * docs/userspace-api/dealbox.rst. Unless noted, the caller holds ctl.
 */

/*
 * Allocate the URBs of calls. Call dealbox_control_free() also after an error.
 */
int dealbox_control_alloc(struct dealbox *db,
			  const struct usb_endpoint_descriptor *out);
void dealbox_control_free(struct dealbox *db);

/* Ask a device whose descriptors do not say it whether it is a machine. */
int dealbox_control_describe(struct dealbox *db);

/* Query the machine at probe and set info and serial. */
int dealbox_control_greet(struct dealbox *db);

/*
 * Run a call that a dealbox_call_*() function has started. A patient SET_PLAN
 * may end with -ERESTARTNOHAND, on a signal.
 */
int dealbox_exchange(struct dealbox *db, struct dealbox_call *call);

/* Pause a running deal. Returns 0 also if none is running. */
int dealbox_pause(struct dealbox *db);

/*
 * Kill all transfers but those of events and gate commands, and let new ones
 * fail with this error until dealbox_control_allow(). None of their completion
 * handlers runs any more on return. ctl need not be held.
 */
void dealbox_control_block(struct dealbox *db, int error);
void dealbox_control_allow(struct dealbox *db);

/*
 * Limit all transfers together to ms from now on, until dealbox_take_time().
 * ctl need not be held.
 */
void dealbox_hurry(struct dealbox *db, unsigned int ms);
void dealbox_take_time(struct dealbox *db);

/*
 * Clear a halt of the event pipe or of the gate pipe. For their works only,
 * without ctl.
 */
void dealbox_clear_in(struct dealbox *db);
void dealbox_clear_gates(struct dealbox *db);

/*
 * stream.c: events and gate commands. The functions that can fail return 0 or
 * -errno.
 */

/* out may be NULL. Call dealbox_stream_free() also after an error. */
int dealbox_stream_alloc(struct dealbox *db,
			 const struct usb_endpoint_descriptor *in,
			 const struct usb_endpoint_descriptor *out);
void dealbox_stream_free(struct dealbox *db);
int dealbox_stream_start(struct dealbox *db, gfp_t gfp);

/* Start after a suspend or a reset. A failed submission is retried. */
void dealbox_stream_restart(struct dealbox *db);

/*
 * Stop events and gate commands, and block calls with this error. May sleep. No
 * completion handler and no work runs any more on return.
 */
void dealbox_stream_stop(struct dealbox *db, int error);

/*
 * Kill the gate commands in flight and suspend new ones until
 * dealbox_gates_allow(). May sleep. The machine holds a card that it reads
 * meanwhile (GATE_LATE).
 */
void dealbox_gates_hold(struct dealbox *db);
void dealbox_gates_allow(struct dealbox *db);

/* sysfs.c */
extern const struct attribute_group *dealbox_groups[];
void dealbox_debugfs_add(struct dealbox *db);

#endif
