// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event pipe. On a host-routed machine, the completion handler of an event
 * also submits the gate command, without scheduling in between.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "dealbox.h"
#include "tracepoints.h"

static void gate_done(struct urb *urb)
{
	struct dealbox_gate *gate = urb->context;
	struct dealbox *db = gate->db;
	int status = urb->status;	/* read before the URB is reused */
	unsigned long flags;
	bool halted;

	spin_lock_irqsave(&db->lock, flags);
	gate->busy = false;
	halted = dealbox_core_gate_done(&db->core, status);
	if (status) {
		db->stats.gates_failed++;
		db->stats.last_error = status;
	}
	/* This gate command is lost, so there is no hurry. */
	if (halted && db->in_state != IN_STOPPED)
		queue_delayed_work(system_long_wq, &db->unhalt,
				   msecs_to_jiffies(RETRY_FIRST_MS));
	spin_unlock_irqrestore(&db->lock, flags);

	/*
	 * Do not repeat it: the machine holds the card and reports GATE_LATE.
	 */
	if (status == -EPROTO || status == -EILSEQ || status == -ETIME ||
	    status == -EPIPE)
		dev_warn_ratelimited(&db->intf->dev,
				     "gate command failed: %d\n", status);
}

static struct dealbox_gate *free_gate(struct dealbox *db)
{
	int i;

	for (i = 0; i < DEALBOX_GATES; i++)
		if (!db->gates[i].busy)
			return &db->gates[i];
	return NULL;
}

static int send_gate(struct dealbox_core *core, const struct wire_gate *answer)
{
	struct dealbox *db = container_of(core, struct dealbox, core);
	struct dealbox_gate *gate = free_gate(db);
	int error;

	lockdep_assert_held(&db->lock);
	/* The core counts them. */
	if (WARN_ON_ONCE(!gate))
		return -EBUSY;
	gate->urb->transfer_buffer_length =
		core->dialect->encode_gate(gate->buf, answer);
	error = usb_submit_urb(gate->urb, GFP_ATOMIC);
	if (error)
		return error;
	gate->busy = true;
	gate->deadline = jiffies + msecs_to_jiffies(DEALBOX_GATE_MS);
	queue_delayed_work(system_long_wq, &db->expire,
			   msecs_to_jiffies(DEALBOX_GATE_MS));
	return 0;
}

/*
 * Cancel gate commands that the machine does not fetch, or no later card would
 * be answered. This may cancel a command that was submitted again meanwhile;
 * the machine then holds its card.
 */
static void expire_gates(struct work_struct *work)
{
	struct dealbox *db = container_of(work, struct dealbox, expire.work);
	unsigned long now = jiffies, left = ULONG_MAX;
	bool expired[DEALBOX_GATES];
	int i;

	spin_lock_irq(&db->lock);
	for (i = 0; i < DEALBOX_GATES; i++) {
		struct dealbox_gate *gate = &db->gates[i];

		expired[i] = gate->busy && time_after_eq(now, gate->deadline);
		if (gate->busy && !expired[i])
			left = min(left, gate->deadline - now);
	}
	/* send_gate() may have scheduled it for a later one meanwhile. */
	if (left != ULONG_MAX && db->in_state != IN_STOPPED)
		mod_delayed_work(system_long_wq, &db->expire, left);
	spin_unlock_irq(&db->lock);
	/* Not under the lock, which the completion handler takes. */
	for (i = 0; i < DEALBOX_GATES; i++)
		if (expired[i])
			usb_unlink_urb(db->gates[i].urb);
}

static void note_gate(struct dealbox_core *core, const struct wire_gate *answer,
		      int error)
{
	struct dealbox *db = container_of(core, struct dealbox, core);

	if (!error) {
		db->stats.gates++;
	} else if (error == -EBUSY) {
		db->stats.gates_short++;
	} else {
		db->stats.gates_failed++;
		db->stats.last_error = error;
	}
	trace_dealbox_gate(db->minor, answer->number, answer->position,
			   answer->pocket == DEALBOX_NONE, error);
}

static void kill_gates(struct dealbox *db)
{
	int i;

	for (i = 0; i < DEALBOX_GATES; i++)
		usb_kill_urb(db->gates[i].urb);
}

void dealbox_gates_hold(struct dealbox *db)
{
	spin_lock_irq(&db->lock);
	dealbox_core_hold_gates(&db->core);
	spin_unlock_irq(&db->lock);
	kill_gates(db);
}

void dealbox_gates_allow(struct dealbox *db)
{
	spin_lock_irq(&db->lock);
	dealbox_core_allow_gates(&db->core);
	spin_unlock_irq(&db->lock);
}

static void deliver_to(struct dealbox *db, struct dealbox_file *file)
{
	unsigned int i;

	for (i = 0; i < db->fresh_count; i++)
		dealbox_queue_push(&file->queue, &db->fresh[i]);
	if (file->queue.count)
		wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
}

static void deliver_events(struct dealbox *db)
{
	struct dealbox_file *file;
	unsigned int i;

	lockdep_assert_held(&db->lock);
	for (i = 0; i < db->fresh_count; i++) {
		const struct dealbox_event *event = &db->fresh[i];

		trace_dealbox_event(db->minor, event->seqno, event->machine_seq,
				    event->type, event->position);
	}
	/* No events after a reader has seen the machine gone. */
	if (!db->gone && db->fresh_count)
		list_for_each_entry(file, &db->files, node)
			deliver_to(db, file);
	db->fresh_count = 0;
}

/*
 * Deliver events only after the gate commands of the transfer have been sent.
 */
static void queue_event(struct dealbox_core *core,
			const struct dealbox_event *event)
{
	struct dealbox *db = container_of(core, struct dealbox, core);

	lockdep_assert_held(&db->lock);
	db->stats.events++;
	if (event->type == DEALBOX_EV_PROTOCOL_ERROR &&
	    event->code == DEALBOX_PROTO_EVENT_SIZE)
		db->stats.malformed++;
	if (db->fresh_count == DEALBOX_FRESH)
		deliver_events(db);
	db->fresh[db->fresh_count++] = *event;
}

static void wake_call(struct dealbox_core *core)
{
	wake_up(&container_of(core, struct dealbox, core)->arrived);
}

const struct dealbox_core_ops dealbox_core_ops = {
	.send_gate = send_gate,
	.note_gate = note_gate,
	.event = queue_event,
	.awaited = wake_call,
};

/* Return the pause in ms before int_in is submitted again. */
static unsigned int note_failure(struct dealbox *db)
{
	bool reset;
	unsigned int pause =
		dealbox_core_failed(&db->core, ktime_get_ns(), &reset);

	lockdep_assert_held(&db->lock);
	if (reset) {
		db->stats.resets++;
		usb_queue_reset_device(db->intf);
	}
	return pause;
}

static void submit_later(struct dealbox *db, enum dealbox_in_state state,
			 unsigned int ms)
{
	lockdep_assert_held(&db->lock);
	db->in_state = state;
	/* system_long_wq: clearing a halt may take a second. */
	mod_delayed_work(system_long_wq, &db->retry, msecs_to_jiffies(ms));
}

static void handle_submit_error(struct dealbox *db, int error)
{
	lockdep_assert_held(&db->lock);
	switch (error) {
	case 0:
	case -EPERM:		/* killed */
	case -ENODEV:
	case -EHOSTUNREACH:	/* suspended; resume submits it again */
		break;
	default:
		db->stats.last_error = error;
		submit_later(db, IN_WAITS, note_failure(db));
	}
}

static void submit_in(struct dealbox *db)
{
	lockdep_assert_held(&db->lock);
	db->in_state = IN_FLIGHT;
	dealbox_retry_begins(&db->core.pace, ktime_get_ns());
	handle_submit_error(db, usb_submit_urb(db->int_in, GFP_ATOMIC));
}

/* The URB was killed or the bus is going away; data may still have arrived. */
static bool is_killed(int status)
{
	return status == -ECONNRESET || status == -ENOENT ||
	       status == -ESHUTDOWN || status == -EPERM;
}

/* Return the pause in ms before int_in is submitted again. */
static unsigned int note_transfer_error(struct dealbox *db, int status)
{
	if (status == -EPIPE) {
		db->stats.halts++;
	} else {	/* no message: often the first sign of an unplug */
		db->stats.errors++;
		db->stats.last_error = status;
	}
	return note_failure(db);
}

static void in_done(struct urb *urb)
{
	u64 now = ktime_get_ns();
	struct dealbox *db = urb->context;
	unsigned int pause = 0;
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&db->lock, flags);
	trace_dealbox_transfer(db->minor, urb->status, urb->actual_length);
	more = db->in_state != IN_STOPPED && !is_killed(urb->status);
	/*
	 * Process data of a killed URB too: the machine does not repeat events.
	 */
	if (!urb->status || (is_killed(urb->status) && urb->actual_length)) {
		db->stats.transfers++;
		pause = dealbox_core_receive(&db->core, db->int_buf,
					     urb->actual_length, now);
	} else if (more) {
		pause = note_transfer_error(db, urb->status);
	}
	if (more && urb->status == -EPIPE)
		submit_later(db, IN_HALTED, pause);
	else if (more && pause)
		submit_later(db, IN_WAITS, pause);
	else if (more)
		submit_in(db);
	deliver_events(db);
	spin_unlock_irqrestore(&db->lock, flags);
}

static void retry_work(struct work_struct *work)
{
	struct dealbox *db = container_of(work, struct dealbox, retry.work);
	bool halted;

	spin_lock_irq(&db->lock);
	halted = db->in_state == IN_HALTED;
	spin_unlock_irq(&db->lock);
	if (halted)
		dealbox_clear_in(db);
	spin_lock_irq(&db->lock);
	if (db->in_state != IN_STOPPED)
		submit_in(db);
	spin_unlock_irq(&db->lock);
}

/* May wait for the transfer of a plan. */
static void unhalt_work(struct work_struct *work)
{
	dealbox_clear_gates(container_of(work, struct dealbox, unhalt.work));
}

int dealbox_stream_start(struct dealbox *db, gfp_t gfp)
{
	int error = 0;
	bool start;

	spin_lock_irq(&db->lock);
	start = !db->gone && db->in_state == IN_STOPPED;
	if (start) {
		db->in_state = IN_FLIGHT;
		dealbox_core_allow_gates(&db->core);
	}
	spin_unlock_irq(&db->lock);
	if (start)
		error = usb_submit_urb(db->int_in, gfp);
	return error;
}

void dealbox_stream_restart(struct dealbox *db)
{
	int error = dealbox_stream_start(db, GFP_NOIO);

	spin_lock_irq(&db->lock);
	if (db->in_state != IN_STOPPED)
		handle_submit_error(db, error);
	spin_unlock_irq(&db->lock);
}

void dealbox_stream_stop(struct dealbox *db, int error)
{
	spin_lock_irq(&db->lock);
	db->in_state = IN_STOPPED;
	spin_unlock_irq(&db->lock);
	/* int_in first, whose handler submits gate commands. */
	usb_kill_urb(db->int_in);
	kill_gates(db);
	/* Before the works, which may be waiting for a transfer. */
	dealbox_control_block(db, error);
	cancel_delayed_work_sync(&db->retry);
	cancel_delayed_work_sync(&db->unhalt);
	cancel_delayed_work_sync(&db->expire);
}

/* Fill an URB for an interrupt or bulk endpoint. */
static void fill_urb(struct dealbox *db, struct urb *urb,
		     const struct usb_endpoint_descriptor *endpoint, void *buf,
		     int size, usb_complete_t complete, void *context)
{
	unsigned int number = usb_endpoint_num(endpoint);
	bool in = usb_endpoint_dir_in(endpoint);

	if (usb_endpoint_xfer_int(endpoint))
		usb_fill_int_urb(urb, db->udev,
				 in ? usb_rcvintpipe(db->udev, number) :
				      usb_sndintpipe(db->udev, number),
				 buf, size, complete, context,
				 endpoint->bInterval);
	else
		usb_fill_bulk_urb(urb, db->udev,
				  in ? usb_rcvbulkpipe(db->udev, number) :
				       usb_sndbulkpipe(db->udev, number),
				  buf, size, complete, context);
}

int dealbox_stream_alloc(struct dealbox *db,
			 const struct usb_endpoint_descriptor *in,
			 const struct usb_endpoint_descriptor *out)
{
	int i, size = usb_endpoint_maxp(in);

	INIT_DELAYED_WORK(&db->retry, retry_work);
	INIT_DELAYED_WORK(&db->unhalt, unhalt_work);
	INIT_DELAYED_WORK(&db->expire, expire_gates);
	db->int_in = usb_alloc_urb(0, GFP_KERNEL);
	db->int_buf = kzalloc(size, GFP_KERNEL);
	if (!db->int_in || !db->int_buf)
		return -ENOMEM;
	db->core.transfer_size = size;
	fill_urb(db, db->int_in, in, db->int_buf, size, in_done, db);

	for (i = 0; out && i < DEALBOX_GATES; i++) {
		struct dealbox_gate *gate = &db->gates[i];

		gate->db = db;
		gate->urb = usb_alloc_urb(0, GFP_KERNEL);
		gate->buf = kzalloc(DEALBOX_GATE_MAX, GFP_KERNEL);
		if (!gate->urb || !gate->buf)
			return -ENOMEM;
		fill_urb(db, gate->urb, out, gate->buf, 0, gate_done, gate);
	}
	return 0;
}

void dealbox_stream_free(struct dealbox *db)
{
	int i;

	usb_free_urb(db->int_in);
	kfree_sensitive(db->int_buf);
	for (i = 0; i < DEALBOX_GATES; i++) {
		usb_free_urb(db->gates[i].urb);
		kfree_sensitive(db->gates[i].buf);
	}
}
