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

#include "abi.h"
#include "frame.h"
#include "queue.h"
#include "retry.h"
#include "router.h"
#include "wire.h"

struct dealbox;

/* The endpoints that a machine is driven by. */
struct dealbox_pipes {
	const struct usb_endpoint_descriptor *in;	/* events: interrupt or bulk */
	const struct usb_endpoint_descriptor *out;	/* plans: bulk */
	const struct usb_endpoint_descriptor *gate;	/* interrupt or bulk; NULL = not routed */
};

/**
 * struct dealbox_dialect - how a kind of machine says on USB what the protocol means
 * @bind: finds the pipes, and tells @db->machine if the descriptors do; no transfers
 * @describe: asks the machine for @db->machine; NULL if @bind knows it
 * @exchange: one request: what it says and what it is answered, @length bytes each, are
 *	in @db->ctl_buf. -EPIPE: the machine refuses it. Called with ctl.
 * @plan_put: encodes a plan into @db->plan_buf, FRAME_MAX bytes long, gives the size
 * @gate_put: encodes a gate command, FRAME_BYTES(WIRE_GATE_SIZE) bytes at most; the size
 * @receive: takes what came on the pipe of events, calling dealbox_take_event() for
 *	each. False: not all of it was of use; many in a row are slowed down. What may
 *	have been an event is told by dealbox_take_malformed(). Called in completion
 *	handlers, with lock.
 * @restart: the bus was reset: forgets what has come of something that is not whole;
 *	may be NULL. With lock. Not after a sleep: the rest of it comes then.
 *
 * One for each driver_info in main.c's table. docs/porting.md tells how to add one.
 */
struct dealbox_dialect {
	int (*bind)(struct dealbox *db, struct dealbox_pipes *pipes);
	int (*describe)(struct dealbox *db);
	int (*exchange)(struct dealbox *db, u8 type, u8 request, u16 value, u16 length);
	size_t (*plan_put)(u8 *buf, const struct wire_plan *plan);
	size_t (*gate_put)(u8 *buf, const struct wire_gate *gate);
	bool (*receive)(struct dealbox *db, const u8 *bytes, unsigned int length, u64 now);
	void (*restart)(struct dealbox *db);
};

extern const struct dealbox_dialect dealbox_native;	/* docs/protocol.md */
extern const struct dealbox_dialect dealbox_serial;	/* docs/protocol-serial.md */

/* A request of the serial dialect that waits for its answer. */
struct dealbox_answer {
	bool armed;
	u8 tag;			/* of the last request */
	u8 status;
	u8 length;
	int error;		/* -errno: the answer will not come */
	u8 data[FRAME_PAYLOAD_MAX];
	struct completion done;
};

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

	const struct dealbox_dialect *dialect;	/* these do not change behind probe */
	struct wire_descriptor machine;
	struct dealbox_info info;
	char *serial;			/* whole, printable; NULL = none */
	bool routed;

	struct mutex turn;		/* who does not own it waits here first */
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
	struct retry pace;
	struct dealbox_gate gates[DEALBOX_GATES];
	struct router router;
	struct event_source source;
	struct dealbox_loading loading;
	struct dealbox_answer answer;
	struct frame_reader frames;
	bool filled;			/* serial: the last transfer was as long as can be */
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

/* control.c, for dialects */
void dealbox_transfer_done(struct urb *urb);	/* the completion handler of the next's */
/* How long to wait for what may take ms, in jiffies: less when there is a deadline. */
unsigned long dealbox_patience(struct dealbox *db, unsigned int ms);
/*
 * Submits, and waits for at most ms. -EPIPE, -ETIMEDOUT, -ENOMEM, -ENODEV, -EPROTO
 * for a wrong size, or -EIO.
 */
int dealbox_transfer(struct dealbox *db, struct urb *urb, unsigned int ms);
/* Sends the first size bytes of plan_buf in at most ms, then wipes it. */
int dealbox_send(struct dealbox *db, size_t size, unsigned int ms);

/*
 * control.c. Callers hold ctl; what can fail gives -errno as
 * docs/userspace-api/dealbox.rst has it.
 */
int dealbox_control_alloc(struct dealbox *db, const struct usb_endpoint_descriptor *out);
void dealbox_control_free(struct dealbox *db);
/* Queries at probe: fills info, and where the sequence numbers go on. */
int dealbox_control_greet(struct dealbox *db);
int dealbox_get_status(struct dealbox *db, struct wire_status *status);
int dealbox_get_counters(struct dealbox *db, struct dealbox_counters *counters);
/* These four set result and detail when they return -EREMOTEIO, else both to 0. */
int dealbox_get_param(struct dealbox *db, struct dealbox_param *param);
int dealbox_set_param(struct dealbox *db, struct dealbox_param *param);
/* wait: until the machine has judged the plan, or a signal comes (-ERESTARTNOHAND) */
int dealbox_set_plan(struct dealbox *db, struct dealbox_plan *plan, bool wait);
int dealbox_control(struct dealbox *db, struct dealbox_control *control);
/* Pauses a deal that runs; 0 also if none does. */
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
/*
 * For dialects, with lock: an event, WIRE_EVENT_SIZE bytes, and ktime_get_ns() of its
 * coming. False: something in it cannot be.
 */
bool dealbox_take_event(struct dealbox *db, const u8 *bytes, u64 now);
/* ... and: a transfer of length bytes, some of which are of no use */
void dealbox_take_malformed(struct dealbox *db, unsigned int length, u64 now);
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
