/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One machine, and how the parts of the module share it.
 *
 * Locks, outermost first:
 *   ctl    mutex; one command or query at a time. Its holders wait for transfers,
 *          each bounded, and all dead at once after a disconnect or a reset.
 *   lock   spinlock, taken in completion handlers; all that is said to be under it.
 * Nothing sleeps with a lock to wait for events, and open() takes no mutex.
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

#include "abi.h"
#include "queue.h"
#include "retry.h"
#include "router.h"
#include "wire.h"

/* Commands that wait for an answer on the interrupt pipe: one, LOAD. */
struct dealbox_loading {
	bool armed;
	u32 plan_id;
	int error;		/* -errno: the answer will not come */
	u8 result;
	u32 detail;
	struct completion done;
};

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

	struct wire_descriptor machine;	/* these do not change */
	struct dealbox_info info;
	bool routed;

	struct mutex ctl;		/* the fields of a command: */
	struct urb *ctl_urb;
	struct usb_ctrlrequest *setup;
	u8 *ctl_buf;
	struct urb *plan_urb;
	u8 *plan_buf;
	u32 sequence;
	struct urb *clear_urb;		/* these two are retry's */
	struct usb_ctrlrequest *clear_setup;
	struct usb_anchor submitted;	/* all but int_in */

	spinlock_t lock;		/* everything below: */
	bool gone;
	int blocked;			/* -errno: no transfer may begin, 0: it may */
	bool running;			/* int_in shall be submitted */
	bool waiting;			/* ... by retry, after its pause */
	bool halted;			/* int_in stalled: clear it in retry */
	bool gate_halted;
	struct urb *int_in;
	u8 *int_buf;
	struct delayed_work retry;
	struct retry pace;
	struct dealbox_gate gates[DEALBOX_GATES];
	struct router router;
	struct event_source source;
	struct dealbox_loading loading;
	struct dealbox_stats stats;
	struct list_head files;
	struct dealbox_file *owner;	/* cleared under ctl and lock */
	struct pid *owner_pid;
};

/* One open file; db->lock protects all but db. */
struct dealbox_file {
	struct dealbox *db;		/* a reference */
	struct list_head node;
	wait_queue_head_t wait;
	struct event_queue queue;
};

/* chardev.c */
extern const struct file_operations dealbox_fops;

/* control.c. Callers hold ctl; what can fail gives -errno as docs/kernel-abi.md has it. */
int dealbox_control_alloc(struct dealbox *db, const struct usb_endpoint_descriptor *out);
void dealbox_control_free(struct dealbox *db);
/* Queries at probe: fills info, and where the sequence numbers go on. */
int dealbox_control_greet(struct dealbox *db);
int dealbox_get_status(struct dealbox *db, struct wire_status *status);
int dealbox_get_counters(struct dealbox *db, struct dealbox_counters *counters);
/* These four set result and detail when they return -EREMOTEIO, else both to 0. */
int dealbox_get_param(struct dealbox *db, struct dealbox_param *param);
int dealbox_set_param(struct dealbox *db, struct dealbox_param *param);
int dealbox_set_plan(struct dealbox *db, struct dealbox_plan *plan);
int dealbox_control(struct dealbox *db, struct dealbox_control *control);
/* Pauses a deal that runs; 0 also if none does. */
int dealbox_pause(struct dealbox *db);
/*
 * Ends every transfer, with error for whoever waits, and lets none begin until
 * dealbox_control_allow(). No completion handler runs when it returns.
 */
void dealbox_control_block(struct dealbox *db, int error);
void dealbox_control_allow(struct dealbox *db);
/* Without ctl, for retry alone: clears the halt of a pipe. */
void dealbox_clear_halt(struct dealbox *db, unsigned int pipe);

/* stream.c: interrupt IN, and routing */
int dealbox_stream_alloc(struct dealbox *db, const struct usb_endpoint_descriptor *in,
			 const struct usb_endpoint_descriptor *out);
void dealbox_stream_free(struct dealbox *db);
int dealbox_stream_start(struct dealbox *db, gfp_t gfp);
/*
 * May sleep. Blocks the control pipe, too, with this error. No completion handler
 * or work runs when it returns.
 */
void dealbox_stream_stop(struct dealbox *db, int error);

/* sysfs.c */
extern const struct attribute_group *dealbox_groups[];
void dealbox_debugfs_add(struct dealbox *db);

#endif
