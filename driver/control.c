// SPDX-License-Identifier: GPL-2.0-only
/* Transfers of the calls; core.c decides what is sent. */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "dealbox.h"
#include "tracepoints.h"

#define SUBMIT_TRIES	5
#define SUBMIT_PAUSE_MS	20

static void transfer_done(struct urb *urb)
{
	complete(urb->context);
}

static bool alloc_request(struct dealbox_request *request)
{
	request->urb = usb_alloc_urb(0, GFP_KERNEL);
	request->setup = kmalloc(sizeof(*request->setup), GFP_KERNEL);
	return request->urb && request->setup;
}

static void free_request(struct dealbox_request *request)
{
	usb_free_urb(request->urb);
	kfree(request->setup);
}

int dealbox_control_alloc(struct dealbox *db,
			  const struct usb_endpoint_descriptor *out)
{
	init_waitqueue_head(&db->arrived);
	db->plan_urb = usb_alloc_urb(0, GFP_KERNEL);
	db->ctl_buf = kzalloc(WIRE_DATA_MAX, GFP_KERNEL);
	db->plan_buf = kzalloc(FRAME_MAX, GFP_KERNEL);
	if (!alloc_request(&db->request) || !alloc_request(&db->clear_in) ||
	    !alloc_request(&db->clear_gates) || !db->plan_urb ||
	    !db->ctl_buf || !db->plan_buf)
		return -ENOMEM;
	usb_fill_bulk_urb(db->plan_urb, db->udev,
			  usb_sndbulkpipe(db->udev, usb_endpoint_num(out)),
			  db->plan_buf, 0, transfer_done, NULL);
	return 0;
}

void dealbox_control_free(struct dealbox *db)
{
	free_request(&db->request);
	free_request(&db->clear_in);
	free_request(&db->clear_gates);
	usb_free_urb(db->plan_urb);
	kfree(db->ctl_buf);
	kfree(db->serial);
	kfree_sensitive(db->plan_buf);
}

static int submit_unless_blocked(struct dealbox *db, struct urb *urb)
{
	int error;

	spin_lock_irq(&db->lock);
	error = db->blocked ?: usb_submit_urb(urb, GFP_ATOMIC);
	spin_unlock_irq(&db->lock);
	return error;
}

/*
 * Return the time limit in jiffies, shortened by the deadline of
 * dealbox_hurry().
 */
static unsigned long wait_limit(struct dealbox *db, unsigned int ms)
{
	unsigned long limit = msecs_to_jiffies(ms), now = jiffies;

	spin_lock_irq(&db->lock);
	if (db->hurried)
		limit = time_before(now, db->deadline) ?
			min(limit, db->deadline - now) : 0;
	spin_unlock_irq(&db->lock);
	return limit;
}

void dealbox_hurry(struct dealbox *db, unsigned int ms)
{
	spin_lock_irq(&db->lock);
	db->hurried = true;
	db->deadline = jiffies + msecs_to_jiffies(ms);
	spin_unlock_irq(&db->lock);
}

void dealbox_take_time(struct dealbox *db)
{
	spin_lock_irq(&db->lock);
	db->hurried = false;
	spin_unlock_irq(&db->lock);
}

/*
 * Retry if the host controller's driver gets no memory, since it cannot sleep
 * for it under the lock: a shortage must not leave a machine dealing that is to
 * be paused.
 */
static int submit_with_retries(struct dealbox *db, struct urb *urb)
{
	int tries = SUBMIT_TRIES;
	int error = submit_unless_blocked(db, urb);

	while (error == -ENOMEM && --tries) {
		msleep(SUBMIT_PAUSE_MS);
		error = submit_unless_blocked(db, urb);
	}
	return error;
}

/*
 * Run a transfer. It ends after ms, or at a disconnect or reset. It ignores
 * signals, which would leave the outcome of a command unknown.
 */
static int make_transfer(struct dealbox *db, struct urb *urb, unsigned int ms)
{
	DECLARE_COMPLETION_ONSTACK(done);
	unsigned long limit = wait_limit(db, ms);
	bool late;
	int error;

	/*
	 * A wait of 0 jiffies would last until the next tick, long enough for
	 * an answer.
	 */
	if (!limit)
		return READ_ONCE(db->blocked) ?: -ETIMEDOUT;
	urb->context = &done;
	error = submit_with_retries(db, urb);
	if (error)
		return error;
	late = !wait_for_completion_timeout(&done, limit);
	if (late)
		usb_kill_urb(urb);
	if (urb->status != -ENOENT)
		return urb->status;
	/* If it was killed by another, db->blocked holds the reason. */
	return late ? -ETIMEDOUT : READ_ONCE(db->blocked) ?: -EIO;
}

/*
 * Like usb_clear_halt(), but disconnect can kill the transfer. Otherwise a
 * machine that does not answer would delay it.
 */
static int clear_halt(struct dealbox *db, struct dealbox_request *request,
		      unsigned int pipe)
{
	struct usb_ctrlrequest *setup = request->setup;
	unsigned int address = usb_pipeendpoint(pipe) |
			       (usb_pipein(pipe) ? USB_DIR_IN : 0);
	int error;

	setup->bRequestType = USB_RECIP_ENDPOINT;
	setup->bRequest = USB_REQ_CLEAR_FEATURE;
	setup->wValue = cpu_to_le16(USB_ENDPOINT_HALT);
	setup->wIndex = cpu_to_le16(address);
	setup->wLength = 0;
	usb_fill_control_urb(request->urb, db->udev,
			     usb_sndctrlpipe(db->udev, 0),
			     (unsigned char *)setup, NULL, 0, transfer_done,
			     NULL);
	error = make_transfer(db, request->urb, WIRE_CONTROL_HOST_MS);
	if (!error)
		usb_reset_endpoint(db->udev, address);
	return error;
}

void dealbox_clear_in(struct dealbox *db)
{
	clear_halt(db, &db->clear_in, db->int_in->pipe);
}

/*
 * EHCI and xHCI refuse to reset an endpoint with transfers in flight. In the
 * serial dialect, gate commands share the endpoint with plans and requests.
 */
static void clear_out(struct dealbox *db, struct dealbox_request *request,
		      unsigned int pipe)
{
	lockdep_assert_held(&db->out);
	dealbox_gates_hold(db);
	clear_halt(db, request, pipe);
	dealbox_gates_allow(db);
}

static bool gates_halted(struct dealbox *db)
{
	bool halted;

	spin_lock_irq(&db->lock);
	halted = db->core.gates_held && db->in_state != IN_STOPPED;
	spin_unlock_irq(&db->lock);
	return halted;
}

void dealbox_clear_gates(struct dealbox *db)
{
	mutex_lock(&db->out);
	if (gates_halted(db))
		clear_out(db, &db->clear_gates, db->gates[0].urb->pipe);
	mutex_unlock(&db->out);
}

/* Send size bytes of plan_buf in at most ms, and wipe it. */
static int send_bytes(struct dealbox *db, size_t size, unsigned int ms)
{
	int error;

	mutex_lock(&db->out);
	/*
	 * A gate command may have halted an endpoint that it shares with plans.
	 */
	if (gates_halted(db))
		clear_out(db, &db->request, db->gates[0].urb->pipe);
	db->plan_urb->transfer_buffer_length = size;
	error = make_transfer(db, db->plan_urb, ms);
	memzero_explicit(db->plan_buf, FRAME_MAX);
	if (error == -EPIPE)
		clear_out(db, &db->request, db->plan_urb->pipe);
	mutex_unlock(&db->out);
	if (error == -EPIPE) {
		/* A disconnect or reset meanwhile takes precedence. */
		return READ_ONCE(db->blocked) ?: -EPIPE;
	}
	return error;
}

/* Return the number of bytes transferred, or -errno. */
static int make_control(struct dealbox *db, const struct dealbox_call *call)
{
	unsigned int pipe = call->type & USB_DIR_IN ?
				    usb_rcvctrlpipe(db->udev, 0) :
				    usb_sndctrlpipe(db->udev, 0);
	struct usb_ctrlrequest *setup = db->request.setup;
	struct urb *urb = db->request.urb;
	int error;

	setup->bRequestType = call->type;
	setup->bRequest = call->request;
	setup->wValue = cpu_to_le16(call->value);
	setup->wIndex =
		cpu_to_le16(db->intf->cur_altsetting->desc.bInterfaceNumber);
	setup->wLength = cpu_to_le16(call->length);
	usb_fill_control_urb(urb, db->udev, pipe, (unsigned char *)setup,
			     db->ctl_buf, call->length, transfer_done, NULL);
	error = make_transfer(db, urb, call->ms);
	return error ? error : urb->actual_length;
}

static bool has_arrived(struct dealbox *db)
{
	return READ_ONCE(db->core.awaited) == DEALBOX_AWAIT_NOTHING;
}

/*
 * Only the wait for the verdict on a plan can be interrupted by a signal; an
 * answer is part of a transfer.
 */
static int await_arrival(struct dealbox *db, const struct dealbox_call *call)
{
	unsigned long limit = wait_limit(db, call->ms);
	long left;

	if (READ_ONCE(db->core.awaited) == DEALBOX_AWAIT_ANSWER)
		left = wait_event_timeout(db->arrived, has_arrived(db), limit);
	else
		left = wait_event_interruptible_timeout(db->arrived,
							has_arrived(db), limit);
	/*
	 * Restart the call, and send the plan again, only if no handler ran
	 * (suspend).
	 */
	if (left < 0)
		return -ERESTARTNOHAND;
	return left ? 0 : -ETIMEDOUT;
}

static void note_command(struct dealbox *db, const struct dealbox_call *call)
{
	if (!call->command)
		return;
	trace_dealbox_command(db->minor, call->command, call->fields.sequence,
			      call->command_error,
			      call->command_error == -EREMOTEIO ?
			      call->result : 0);
	spin_lock_irq(&db->lock);
	db->stats.commands++;
	db->stats.commands_failed += !!call->command_error;
	spin_unlock_irq(&db->lock);
}

int dealbox_exchange(struct dealbox *db, struct dealbox_call *call)
{
	enum dealbox_action action;
	int result = 0;

	lockdep_assert_held(&db->ctl);
	call->data = db->ctl_buf;
	call->bytes = db->plan_buf;
	do {
		spin_lock_irq(&db->lock);
		action = dealbox_call_next(&db->core, call, result,
					   ktime_get_ns());
		spin_unlock_irq(&db->lock);
		switch (action) {
		case DEALBOX_CONTROL:
			result = make_control(db, call);
			break;
		case DEALBOX_SEND:
			result = send_bytes(db, call->size, call->ms);
			break;
		case DEALBOX_AWAIT:
			result = await_arrival(db, call);
			break;
		case DEALBOX_DONE:
			break;
		}
	} while (action != DEALBOX_DONE);
	note_command(db, call);
	return call->error;
}

int dealbox_pause(struct dealbox *db)
{
	struct dealbox_call call = { 0 };

	dealbox_call_pause(&call);
	return dealbox_exchange(db, &call);
}

int dealbox_control_describe(struct dealbox *db)
{
	struct dealbox_call call = { 0 };

	dealbox_call_describe(&call);
	return dealbox_exchange(db, &call);
}

int dealbox_control_greet(struct dealbox *db)
{
	struct dealbox_call call = { 0 };
	int error;

	dealbox_call_greet(&call);
	error = dealbox_exchange(db, &call);
	if (error)
		return error;
	dealbox_abi_info(&db->core.machine, &db->core.info, db->udev->serial,
			 QUEUE_EVENTS, &db->info);
	if (db->udev->serial) {
		db->serial = kstrdup(db->udev->serial, GFP_KERNEL);
		if (!db->serial)
			return -ENOMEM;
		dealbox_abi_printable(db->serial);
	}
	return 0;
}

void dealbox_control_block(struct dealbox *db, int error)
{
	spin_lock_irq(&db->lock);
	WRITE_ONCE(db->blocked, error);
	dealbox_core_fail_call(&db->core, error);
	spin_unlock_irq(&db->lock);
	usb_kill_urb(db->request.urb);
	usb_kill_urb(db->plan_urb);
	usb_kill_urb(db->clear_in.urb);
	usb_kill_urb(db->clear_gates.urb);
}

void dealbox_control_allow(struct dealbox *db)
{
	spin_lock_irq(&db->lock);
	WRITE_ONCE(db->blocked, 0);
	spin_unlock_irq(&db->lock);
}
