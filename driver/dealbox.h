/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One machine, and how the parts of the module share it.
 *
 * Locks, outermost first:
 *   turn   mutex; calls of files without the claim, so that one of them at most is ahead
 *          of the owner's.
 *   ctl    mutex; one command or query at a time. Its holders wait for transfers,
 *          each bounded, and all dead at once after a disconnect or a reset.
 *   out    mutex; a plan or a request on its way, or the clearing of a halt that it or a
 *          gate command met. Each is bounded in the same way.
 *   lock   spinlock, taken in completion handlers; all that is said to be under it.
 * read() and poll() sleep without a lock, and open() takes no mutex.
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

/* The endpoints that a machine is driven by. */
struct dealbox_pipes {
	const struct usb_endpoint_descriptor *in;	/* events: interrupt or bulk */
	const struct usb_endpoint_descriptor *out;	/* plans: bulk */
	const struct usb_endpoint_descriptor *gate;	/* interrupt or bulk; NULL = not routed */
};

/**
 * struct dealbox_kind - a kind of machine: how its bytes are meant, and where they go
 * @dialect: see core.h
 * @bind: finds the pipes, and tells @db->core.machine if the descriptors do; no transfers
 *
 * One for each driver_info in main.c's table. docs/porting.md tells how to add one.
 */
struct dealbox_kind {
	const struct dealbox_dialect *dialect;
	int (*bind)(struct dealbox *db, struct dealbox_pipes *pipes);
};

extern const struct dealbox_kind dealbox_native_kind;
extern const struct dealbox_kind dealbox_serial_kind;

/* What went over the pipes, for debugfs; under lock. */
struct dealbox_stats {
	u64 transfers;
	u64 events;
	u64 malformed;
	u64 errors;
	u64 halts;
	u64 resets;
	u64 gates;
	u64 gates_failed;
	u64 gates_short;	/* none was free: the machine asked too fast */
	u64 commands;
	u64 commands_failed;
	int last_error;
};

/*
 * Gate commands wait in URBs made beforehand. A machine waits for one answer at a
 * time; the second URB is for a card that it reads again meanwhile.
 */
#define DEALBOX_GATES	2

/*
 * Files that may be open for reading only, and as many for writing: each costs time in
 * the completion handler, and observers shall not keep the owner out.
 */
#define DEALBOX_FILES	64

/* What one transfer of 1024 bytes can bring, and a word on the rest of it. */
#define DEALBOX_FRESH	(1024 / WIRE_EVENT_SIZE + 1)

struct dealbox_gate {
	struct dealbox *db;
	struct urb *urb;
	u8 *buf;
	bool busy;
};

struct dealbox {
	struct device dev;		/* holds the memory; /sys/class/dealbox */
	struct cdev cdev;
	int minor;
	struct usb_interface *intf;	/* a reference, until the memory goes */
	struct usb_device *udev;
	struct dentry *debugfs;

	struct dealbox_info info;	/* these two do not change behind probe */
	char *serial;			/* whole, printable; NULL = none */

	struct mutex turn;		/* who does not own it waits here first */
	struct mutex ctl;		/* the fields of a command: */
	struct urb *ctl_urb;
	struct usb_ctrlrequest *setup;
	u8 *ctl_buf;
	struct urb *plan_urb;
	u8 *plan_buf;
	struct urb *clear_urb;		/* these two are retry's */
	struct usb_ctrlrequest *clear_setup;
	struct usb_anchor submitted;	/* all but int_in */
	struct mutex out;

	spinlock_t lock;		/* everything below: */
	bool gone;
	bool hurried;			/* no transfer lasts beyond the deadline */
	unsigned long deadline;		/* in jiffies */
	int blocked;			/* -errno: no transfer may begin, 0: it may */
	bool running;			/* int_in shall be submitted */
	bool waiting;			/* ... by retry, after its pause */
	bool halted;			/* int_in stalled: clear it in retry */
	bool gate_halted;		/* no gate command until retry has cleared it */
	struct urb *int_in;
	u8 *int_buf;
	struct delayed_work retry;
	struct dealbox_gate gates[DEALBOX_GATES];
	struct dealbox_core core;	/* its calls: under ctl as well */
	wait_queue_head_t arrived;	/* what a call waits for */
	struct dealbox_stats stats;
	struct dealbox_event fresh[DEALBOX_FRESH];	/* not in the queues yet */
	unsigned int fresh_count;
	struct list_head files;
	unsigned int opened[2];		/* how many of them are to read only, to write */
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

/* chardev.c */
extern const struct file_operations dealbox_fops;

/* core's owner: control.c answers calls, stream.c has the rest */
extern const struct dealbox_core_ops dealbox_core_ops;

/*
 * control.c. Callers hold ctl; what can fail gives -errno as
 * docs/userspace-api/dealbox.rst has it.
 */
int dealbox_control_alloc(struct dealbox *db, const struct usb_endpoint_descriptor *out);
void dealbox_control_free(struct dealbox *db);
/* Queries at probe: fills info. */
int dealbox_control_greet(struct dealbox *db);
/* Makes the steps of a call that dealbox_call_*() has begun; returns its error. */
int dealbox_exchange(struct dealbox *db, struct dealbox_call *call);
int dealbox_get_status(struct dealbox *db, struct dealbox_status *status);
int dealbox_get_counters(struct dealbox *db, struct dealbox_counters *counters);
int dealbox_get_param(struct dealbox *db, struct dealbox_param *param);
int dealbox_set_param(struct dealbox *db, struct dealbox_param *param);
/* wait: until the machine has judged the plan, or a signal comes (-ERESTARTNOHAND) */
int dealbox_set_plan(struct dealbox *db, struct dealbox_plan *plan, bool wait);
int dealbox_control(struct dealbox *db, struct dealbox_control *control);
int dealbox_pause(struct dealbox *db);
/*
 * Ends every transfer, with error for whoever waits, and lets none begin until
 * dealbox_control_allow(). No completion handler runs when it returns.
 */
void dealbox_control_block(struct dealbox *db, int error);
void dealbox_control_allow(struct dealbox *db);
/* Ends whatever is under way after ms in all, until dealbox_take_time(). */
void dealbox_hurry(struct dealbox *db, unsigned int ms);
void dealbox_take_time(struct dealbox *db);
/* Without ctl, for retry alone: clears the halt of the pipe of events, of gate commands. */
void dealbox_clear_in(struct dealbox *db);
void dealbox_clear_gates(struct dealbox *db);

/* stream.c: events, and routing */
int dealbox_stream_alloc(struct dealbox *db, const struct usb_endpoint_descriptor *in,
			 const struct usb_endpoint_descriptor *out);
void dealbox_stream_free(struct dealbox *db);
int dealbox_stream_start(struct dealbox *db, gfp_t gfp);
/*
 * May sleep. No gate command is under way when hold returns, and none begins before
 * allow: a card meanwhile is kept by the machine (GATE_LATE).
 */
void dealbox_gates_hold(struct dealbox *db);
void dealbox_gates_allow(struct dealbox *db);
/* After a sleep or a reset: what cannot be submitted now is tried again. */
void dealbox_stream_restart(struct dealbox *db);
/*
 * May sleep. Blocks the control pipe, too, with this error. No completion handler
 * or work runs when it returns.
 */
void dealbox_stream_stop(struct dealbox *db, int error);

/* sysfs.c */
extern const struct attribute_group *dealbox_groups[];
void dealbox_debugfs_add(struct dealbox *db);

#endif
