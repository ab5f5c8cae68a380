// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt IN: the machine's events. On a host-routed machine the answer to a
 * card leaves from the same completion handler, with nothing scheduled in between.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "dealbox.h"
#include "trace.h"

/* Pauses before int_in is tried again, and how long that goes on: as usbhid. */
#define RETRY_FIRST_MS	13
#define RETRY_MAX_MS	104
#define RETRY_RESET_MS	1000

static void retry_in(struct dealbox *db, unsigned int ms)
{
	lockdep_assert_held(&db->lock);
	cancel_delayed_work(&db->retry);
	schedule_delayed_work(&db->retry, msecs_to_jiffies(ms));
}

static void gate_done(struct urb *urb)
{
	struct dealbox_gate *gate = urb->context;
	struct dealbox *db = gate->db;
	unsigned long flags;

	spin_lock_irqsave(&db->lock, flags);
	gate->busy = false;
	if (urb->status) {
		db->stats.gates_failed++;
		db->stats.last_error = urb->status;
	}
	if (urb->status == -EPIPE && db->running) {
		db->gate_halted = true;
		retry_in(db, 0);
	}
	spin_unlock_irqrestore(&db->lock, flags);

	/* The machine keeps the card and says so (GATE_LATE): nothing to repeat here. */
	if (urb->status == -EPROTO || urb->status == -EILSEQ || urb->status == -ETIME ||
	    urb->status == -EPIPE)
		dev_warn_ratelimited(&db->intf->dev, "gate command failed: %d\n", urb->status);
}

static struct dealbox_gate *free_gate(struct dealbox *db)
{
	int i;

	for (i = 0; i < DEALBOX_GATES; i++)
		if (!db->gates[i].busy)
			return &db->gates[i];
	return NULL;
}

static void send_gate(struct dealbox *db, const struct wire_gate *answer)
{
	struct dealbox_gate *gate = free_gate(db);
	int error;

	lockdep_assert_held(&db->lock);
	if (!gate) {
		db->stats.gates_short++;
		return;
	}

	wire_gate_put(gate->buf, answer);
	usb_anchor_urb(gate->urb, &db->submitted);
	error = usb_submit_urb(gate->urb, GFP_ATOMIC);
	if (error) {
		usb_unanchor_urb(gate->urb);
		db->stats.gates_failed++;
		db->stats.last_error = error;
	} else {
		gate->busy = true;
		db->stats.gates++;
	}
	trace_dealbox_gate(db->minor, answer->number, answer->position,
			   answer->pocket == DEALBOX_NONE, error);
}

static void publish(struct dealbox *db, const struct dealbox_event *event)
{
	struct dealbox_file *file;

	trace_dealbox_event(db->minor, event->seqno, event->machine_seq, event->type,
			    event->position);
	db->stats.events++;
	list_for_each_entry(file, &db->files, node)
		event_queue_push(&file->queue, event);
}

/* The answer to a plan block, for whoever waits in SET_PLAN. */
static void note_loading(struct dealbox *db, const struct wire_event *event)
{
	struct dealbox_loading *loading = &db->loading;

	if (!loading->armed)
		return;
	if (event->type == DEALBOX_EV_STATE_LOST) {
		loading->error = -EIO;
	} else if (event->type == DEALBOX_EV_PLAN_LOADED && event->code == loading->plan_id) {
		loading->result = min_t(u32, event->arg[0], U8_MAX);
		loading->detail = event->arg[1];
	} else {
		return;
	}
	loading->armed = false;
	complete(&loading->done);
}

static void take_event(struct dealbox *db, const u8 *bytes, u64 now)
{
	struct dealbox_event event;
	struct wire_event wire;
	struct wire_gate gate;

	wire_event_get(bytes, &wire);
	if (abi_event(&db->source, &wire, now, &event)) {
		if (db->routed && router_event(&db->router, &wire, &gate))
			send_gate(db, &gate);
		note_loading(db, &wire);
	}
	publish(db, &event);
}

/* False: not a whole number of events. The transfer is dropped as a whole. */
static bool take_transfer(struct dealbox *db, const u8 *bytes, unsigned int length, u64 now)
{
	struct dealbox_event event;
	unsigned int i;

	if (!length || length % WIRE_EVENT_SIZE) {
		db->stats.malformed++;
		abi_protocol_error(&db->source, DEALBOX_PROTO_EVENT_SIZE, length, now, &event);
		publish(db, &event);
		return false;
	}
	for (i = 0; i < length; i += WIRE_EVENT_SIZE)
		take_event(db, bytes + i, now);
	return true;
}

/* Every failure in a row waits longer, and after a second of them comes a reset. */
static void retry_later(struct dealbox *db, bool may_reset)
{
	lockdep_assert_held(&db->lock);
	/* a failure long after the last one is a new one */
	if (!db->retry_ms ||
	    time_after(jiffies, db->retry_last + msecs_to_jiffies(RETRY_RESET_MS / 2))) {
		db->retry_ms = RETRY_FIRST_MS;
		db->retry_until = jiffies + msecs_to_jiffies(RETRY_RESET_MS);
	} else if (db->retry_ms < RETRY_MAX_MS) {
		db->retry_ms *= 2;
	}
	db->retry_last = jiffies;

	if (may_reset && time_after(jiffies, db->retry_until)) {
		db->retry_until = jiffies + msecs_to_jiffies(RETRY_RESET_MS);
		db->stats.resets++;
		usb_queue_reset_device(db->intf);
	}
	db->waiting = true;
	retry_in(db, db->retry_ms);
}

static void submit_in(struct dealbox *db)
{
	int error;

	lockdep_assert_held(&db->lock);
	error = usb_submit_urb(db->int_in, GFP_ATOMIC);
	switch (error) {
	case 0:
	case -EPERM:		/* killed */
	case -ENODEV:
	case -EHOSTUNREACH:	/* suspended: resume starts it again */
		break;
	default:
		db->stats.last_error = error;
		retry_later(db, true);
	}
}

static void in_done(struct urb *urb)
{
	u64 now = ktime_get_ns();
	struct dealbox *db = urb->context;
	struct dealbox_file *file;
	unsigned long flags;

	spin_lock_irqsave(&db->lock, flags);
	trace_dealbox_transfer(db->minor, urb->status, urb->actual_length);
	if (!db->running)
		goto out;

	switch (urb->status) {
	case 0:
		db->stats.transfers++;
		if (take_transfer(db, db->int_buf, urb->actual_length, now)) {
			db->retry_ms = 0;
			submit_in(db);
		} else {
			/* go on, but let no flood of these own a CPU */
			retry_later(db, false);
		}
		break;
	case -ECONNRESET:
	case -ENOENT:
	case -ESHUTDOWN:
	case -EPERM:
		break;
	case -EPIPE:
		db->stats.halts++;
		db->halted = true;
		retry_later(db, true);
		break;
	default:		/* may be the first sign of an unplug: no message */
		db->stats.errors++;
		db->stats.last_error = urb->status;
		retry_later(db, true);
	}
	list_for_each_entry(file, &db->files, node)
		if (file->queue.count)
			wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
out:
	spin_unlock_irqrestore(&db->lock, flags);
}

static bool test_and_clear(struct dealbox *db, bool *flag)
{
	bool was;

	spin_lock_irq(&db->lock);
	was = *flag && db->running;
	*flag = false;
	spin_unlock_irq(&db->lock);
	return was;
}

static void retry_work(struct work_struct *work)
{
	struct dealbox *db = container_of(work, struct dealbox, retry.work);

	if (test_and_clear(db, &db->gate_halted))
		usb_clear_halt(db->udev, db->gates[0].urb->pipe);
	if (test_and_clear(db, &db->halted))
		usb_clear_halt(db->udev, db->int_in->pipe);
	spin_lock_irq(&db->lock);
	/* a halted gate brings us here while int_in is under way */
	if (db->running && db->waiting) {
		db->waiting = false;
		submit_in(db);
	}
	spin_unlock_irq(&db->lock);
}

int dealbox_stream_start(struct dealbox *db, gfp_t gfp)
{
	int error = 0;
	bool start;

	spin_lock_irq(&db->lock);
	start = !db->gone && !db->running;
	if (start) {
		db->running = true;
		db->waiting = false;
		db->retry_ms = 0;
		db->halted = false;
		db->gate_halted = false;
	}
	spin_unlock_irq(&db->lock);
	if (start)
		error = usb_submit_urb(db->int_in, gfp);
	return error;
}

void dealbox_stream_stop(struct dealbox *db)
{
	spin_lock_irq(&db->lock);
	db->running = false;
	spin_unlock_irq(&db->lock);
	usb_kill_urb(db->int_in);
	cancel_delayed_work_sync(&db->retry);
}

int dealbox_stream_alloc(struct dealbox *db, const struct usb_endpoint_descriptor *in,
			 const struct usb_endpoint_descriptor *out)
{
	int i, size = usb_endpoint_maxp(in);

	INIT_DELAYED_WORK(&db->retry, retry_work);
	db->int_in = usb_alloc_urb(0, GFP_KERNEL);
	db->int_buf = kzalloc(size, GFP_KERNEL);
	if (!db->int_in || !db->int_buf)
		return -ENOMEM;
	usb_fill_int_urb(db->int_in, db->udev,
			 usb_rcvintpipe(db->udev, usb_endpoint_num(in)),
			 db->int_buf, size, in_done, db, in->bInterval);

	for (i = 0; out && i < DEALBOX_GATES; i++) {
		struct dealbox_gate *gate = &db->gates[i];

		gate->db = db;
		gate->urb = usb_alloc_urb(0, GFP_KERNEL);
		gate->buf = kzalloc(WIRE_GATE_SIZE, GFP_KERNEL);
		if (!gate->urb || !gate->buf)
			return -ENOMEM;
		usb_fill_int_urb(gate->urb, db->udev,
				 usb_sndintpipe(db->udev, usb_endpoint_num(out)),
				 gate->buf, WIRE_GATE_SIZE, gate_done, gate, out->bInterval);
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
