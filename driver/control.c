// SPDX-License-Identifier: GPL-2.0-only
/* Requests, and what became of one whose answer was lost; plans. */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dealbox.h"
#include "trace.h"

#define SUBMIT_TRIES	5
#define SUBMIT_PAUSE_MS	20

void dealbox_transfer_done(struct urb *urb)
{
	complete(urb->context);
}

int dealbox_control_alloc(struct dealbox *db, const struct usb_endpoint_descriptor *out)
{
	init_usb_anchor(&db->submitted);
	init_completion(&db->loading.done);
	init_completion(&db->answer.done);
	db->ctl_urb = usb_alloc_urb(0, GFP_KERNEL);
	db->plan_urb = usb_alloc_urb(0, GFP_KERNEL);
	db->clear_urb = usb_alloc_urb(0, GFP_KERNEL);
	db->setup = kmalloc(sizeof(*db->setup), GFP_KERNEL);
	db->clear_setup = kmalloc(sizeof(*db->clear_setup), GFP_KERNEL);
	db->ctl_buf = kzalloc(WIRE_INFO_SIZE, GFP_KERNEL);
	db->plan_buf = kzalloc(FRAME_MAX, GFP_KERNEL);
	if (!db->ctl_urb || !db->plan_urb || !db->clear_urb || !db->setup ||
	    !db->clear_setup || !db->ctl_buf || !db->plan_buf)
		return -ENOMEM;
	usb_fill_bulk_urb(db->plan_urb, db->udev,
			  usb_sndbulkpipe(db->udev, usb_endpoint_num(out)),
			  db->plan_buf, 0, dealbox_transfer_done, NULL);
	return 0;
}

void dealbox_control_free(struct dealbox *db)
{
	usb_free_urb(db->ctl_urb);
	usb_free_urb(db->plan_urb);
	usb_free_urb(db->clear_urb);
	kfree(db->setup);
	kfree(db->clear_setup);
	kfree(db->ctl_buf);
	kfree(db->serial);
	kfree_sensitive(db->plan_buf);
}

/* From an URB's status, or from what refused the URB, to what a caller is told. */
static int transfer_error(int status)
{
	switch (status) {
	case 0:
	case -EPIPE:		/* for the caller to translate */
	case -ETIMEDOUT:
	case -ENOMEM:
		return status;
	case -ENOENT:		/* refused: unbound, and disconnect is on its way */
	case -ENODEV:
	case -ESHUTDOWN:
		return -ENODEV;
	case -EREMOTEIO:
	case -EOVERFLOW:
		return -EPROTO;	/* an answer of the wrong size */
	default:
		return -EIO;
	}
}

static int submit(struct dealbox *db, struct urb *urb)
{
	int error;

	spin_lock_irq(&db->lock);
	error = db->blocked;
	if (!error) {
		usb_anchor_urb(urb, &db->submitted);
		error = transfer_error(usb_submit_urb(urb, GFP_ATOMIC));
		if (error)
			usb_unanchor_urb(urb);
	}
	spin_unlock_irq(&db->lock);
	return error;
}

unsigned long dealbox_patience(struct dealbox *db, unsigned int ms)
{
	unsigned long patience = msecs_to_jiffies(ms), now = jiffies;

	spin_lock_irq(&db->lock);
	if (db->hurried)
		patience = time_before(now, db->deadline) ?
			   min(patience, db->deadline - now) : 0;
	spin_unlock_irq(&db->lock);
	return patience;
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
 * The driver of the host controller may want memory for it, and cannot wait for that
 * under the lock. A moment later there may be some: a machine must not go on dealing
 * because it could not be paused.
 */
static int submit_patiently(struct dealbox *db, struct urb *urb)
{
	int tries = SUBMIT_TRIES;
	int error = submit(db, urb);

	while (error == -ENOMEM && --tries) {
		msleep(SUBMIT_PAUSE_MS);
		error = submit(db, urb);
	}
	return error;
}

/*
 * Bounded by ms, and by disconnect and reset. Not by signals: a command whose end
 * nobody has seen would have to be asked for afterwards.
 */
int dealbox_transfer(struct dealbox *db, struct urb *urb, unsigned int ms)
{
	DECLARE_COMPLETION_ONSTACK(done);
	int error;

	urb->context = &done;
	error = submit_patiently(db, urb);
	if (error)
		return error;
	if (!wait_for_completion_timeout(&done, dealbox_patience(db, ms))) {
		usb_kill_urb(urb);
		if (urb->status == -ENOENT)
			return -ETIMEDOUT;
	}
	/* killed: by whom, says blocked */
	if (urb->status == -ENOENT)
		return READ_ONCE(db->blocked) ?: -EIO;
	return transfer_error(urb->status);
}

/*
 * As usb_clear_halt(), which nobody could stop: a machine that does not answer
 * would keep a disconnect waiting.
 */
static int clear_halt(struct dealbox *db, struct urb *urb, struct usb_ctrlrequest *setup,
		      unsigned int pipe)
{
	unsigned int address = usb_pipeendpoint(pipe) | (usb_pipein(pipe) ? USB_DIR_IN : 0);
	int error;

	setup->bRequestType = USB_RECIP_ENDPOINT;
	setup->bRequest = USB_REQ_CLEAR_FEATURE;
	setup->wValue = cpu_to_le16(USB_ENDPOINT_HALT);
	setup->wIndex = cpu_to_le16(address);
	setup->wLength = 0;
	usb_fill_control_urb(urb, db->udev, usb_sndctrlpipe(db->udev, 0),
			     (unsigned char *)setup, NULL, 0, dealbox_transfer_done, NULL);
	error = dealbox_transfer(db, urb, WIRE_CONTROL_HOST_MS);
	if (!error)
		usb_reset_endpoint(db->udev, address);
	return error;
}

void dealbox_clear_in(struct dealbox *db)
{
	clear_halt(db, db->clear_urb, db->clear_setup, db->int_in->pipe);
}

/*
 * No transfer may wait at an endpoint that is reset: EHCI and xHCI refuse that. In the
 * serial dialect plans, requests and gate commands have the same one.
 */
static void clear_out(struct dealbox *db, struct urb *urb, struct usb_ctrlrequest *setup,
		      unsigned int pipe)
{
	lockdep_assert_held(&db->out);
	dealbox_gates_hold(db);
	clear_halt(db, urb, setup, pipe);
	dealbox_gates_allow(db);
}

/* Whether gate commands have met a halt that nobody has cleared yet. */
static bool gates_halted(struct dealbox *db)
{
	bool halted;

	spin_lock_irq(&db->lock);
	halted = db->gate_halted && db->running;
	spin_unlock_irq(&db->lock);
	return halted;
}

void dealbox_clear_gates(struct dealbox *db)
{
	mutex_lock(&db->out);
	if (gates_halted(db))
		clear_out(db, db->clear_urb, db->clear_setup, db->gates[0].urb->pipe);
	mutex_unlock(&db->out);
}

int dealbox_send(struct dealbox *db, size_t size, unsigned int ms)
{
	int error;

	mutex_lock(&db->out);
	/* else it would fail for a gate command that shares its pipe */
	if (gates_halted(db))
		clear_out(db, db->ctl_urb, db->setup, db->gates[0].urb->pipe);
	/* the endpoint and the completion handler were filled in at probe */
	db->plan_urb->transfer_buffer_length = size;
	error = dealbox_transfer(db, db->plan_urb, ms);
	memzero_explicit(db->plan_buf, FRAME_MAX);
	if (error == -EPIPE)
		clear_out(db, db->ctl_urb, db->setup, db->plan_urb->pipe);
	mutex_unlock(&db->out);
	if (error == -EPIPE) {
		/* gone or reset meanwhile: that is what counts */
		return READ_ONCE(db->blocked) ?: -EPROTO;
	}
	return error;
}

static int exchange(struct dealbox *db, u8 type, u8 request, u16 value, u16 length)
{
	lockdep_assert_held(&db->ctl);
	return db->dialect->exchange(db, type, request, value, length);
}

/* The answer is in ctl_buf. -EPIPE: the machine does not know the request. */
static int query(struct dealbox *db, u8 request, u16 value, u16 length)
{
	return exchange(db, WIRE_REQ_IN, request, value, length);
}

/* A query that every machine must answer. */
static int must_query(struct dealbox *db, u8 request, u16 length)
{
	int error = query(db, request, 0, length);

	return error == -EPIPE ? -EPROTO : error;
}

static int get_result(struct dealbox *db, struct wire_result *result)
{
	int error = must_query(db, WIRE_GET_RESULT, WIRE_RESULT_SIZE);

	if (!error)
		dealbox_decode_result(db->ctl_buf, result);
	return error;
}

int dealbox_get_status(struct dealbox *db, struct wire_status *status)
{
	int error = must_query(db, WIRE_GET_STATUS, WIRE_STATUS_SIZE);

	if (error)
		return error;
	return dealbox_decode_status(db->ctl_buf, status) ? 0 : -EPROTO;
}

int dealbox_get_counters(struct dealbox *db, struct dealbox_counters *counters)
{
	int error = must_query(db, WIRE_GET_COUNTERS, WIRE_COUNTERS_SIZE);

	if (!error)
		dealbox_decode_counters(db->ctl_buf, counters);
	return error;
}

int dealbox_get_param(struct dealbox *db, struct dealbox_param *param)
{
	struct wire_param answer;
	int error = dealbox_abi_param(param, false);

	param->result = 0;
	param->detail = 0;
	if (error)
		return error;
	/* A number that does not fit into wValue is a parameter that nobody has. */
	error = param->id > U16_MAX ? -EPIPE :
		query(db, WIRE_GET_PARAM, param->id, WIRE_PARAM_SIZE);
	if (error == -EPIPE) {
		param->result = DEALBOX_ERR_BAD_VALUE;
		param->detail = 4;	/* wValue */
		return -EREMOTEIO;
	}
	if (error)
		return error;
	dealbox_decode_param(db->ctl_buf, &answer);
	if (answer.id != param->id)
		return -EPROTO;
	param->value = answer.value;
	param->min = answer.min;
	param->max = answer.max;
	return 0;
}

/*
 * Sends a command, and finds out what became of it. When the transfer failed the
 * machine may or may not have got it: GET_RESULT tells, and the command is repeated
 * once, with the same sequence number, if it did not arrive.
 */
static int send_command(struct dealbox *db, u8 request, struct wire_command *command,
			struct wire_result *result)
{
	int attempt, error;

	memset(result, 0, sizeof(*result));
	db->sequence = db->sequence + 1 ?: 1;
	command->sequence = db->sequence;

	for (attempt = 0; attempt < 2; attempt++) {
		int asked;

		dealbox_encode_command(db->ctl_buf, command);
		error = exchange(db, WIRE_REQ_OUT, request, 0, WIRE_COMMAND_SIZE);
		if (!error || error == -ENODEV)
			return error;

		asked = get_result(db, result);
		if (asked)
			return error == -EPIPE ? asked : error;
		if (result->sequence == command->sequence && result->request == request) {
			if (result->error)
				return -EREMOTEIO;
			/* stalled, and yet carried out */
			return error == -EPIPE ? -EPROTO : 0;
		}
		if (error == -EPIPE)
			return -EPROTO;
	}
	return error;
}

static int command(struct dealbox *db, u8 request, struct wire_command *command,
		   u32 *result, u32 *detail)
{
	struct wire_result answer;
	int error = send_command(db, request, command, &answer);

	trace_dealbox_command(db->minor, request, command->sequence, error, answer.error);
	spin_lock_irq(&db->lock);
	db->stats.commands++;
	db->stats.commands_failed += !!error;
	spin_unlock_irq(&db->lock);

	if (error == -EREMOTEIO) {
		*result = answer.error;
		*detail = answer.detail;
	}
	return error;
}

int dealbox_set_param(struct dealbox *db, struct dealbox_param *param)
{
	struct wire_command set = { .a = param->id, .b = param->value };
	int error = dealbox_abi_param(param, true);

	param->result = 0;
	param->detail = 0;
	if (error)
		return error;
	return command(db, WIRE_SET_PARAM, &set, &param->result, &param->detail);
}

static int arm_loading(struct dealbox *db, u32 plan_id)
{
	int error;

	spin_lock_irq(&db->lock);
	error = db->blocked;
	if (!error) {
		reinit_completion(&db->loading.done);
		db->loading.plan_id = plan_id;
		db->loading.error = 0;
		db->loading.result = 0;
		db->loading.detail = 0;
		db->loading.armed = true;
	}
	spin_unlock_irq(&db->lock);
	return error;
}

static void disarm_loading(struct dealbox *db)
{
	spin_lock_irq(&db->lock);
	db->loading.armed = false;
	spin_unlock_irq(&db->lock);
}

/* What the machine says of the block, in an event. */
static int await_loaded(struct dealbox *db, u32 *result, u32 *detail)
{
	long left = wait_for_completion_interruptible_timeout(&db->loading.done,
				msecs_to_jiffies(WIRE_PLAN_HOST_MS));

	/* restarted only if no handler ran, as when the system sleeps: it is sent again */
	if (left < 0)
		return -ERESTARTNOHAND;
	if (!left)
		return -ETIMEDOUT;
	if (db->loading.error)
		return db->loading.error;
	if (!db->loading.result)
		return 0;
	*result = db->loading.result;
	*detail = db->loading.detail;
	return -EREMOTEIO;
}

static int store_plan(struct dealbox *db, const struct wire_plan *plan, bool wait,
		      u32 *result, u32 *detail)
{
	struct wire_command load = {
		.a = plan->plan_id,
		.b = plan->entries ? WIRE_PLAN_SIZE(plan->entries) : 0,
	};
	int error;

	error = command(db, WIRE_LOAD, &load, result, detail);
	if (error || !plan->entries)
		return error;

	/* Armed only now: what an earlier LOAD led to cannot be taken for this one's. */
	error = arm_loading(db, plan->plan_id);
	if (error)
		return error;
	error = dealbox_send(db, db->dialect->plan_put(db->plan_buf, plan),
			     WIRE_PLAN_COMPLETE_MS);
	if (!error && wait)
		error = await_loaded(db, result, detail);
	disarm_loading(db);
	return error;
}

/* The plan of a host-routed machine is ours; the rule of LOAD holds for it too. */
static int keep_plan(struct dealbox *db, const struct wire_plan *plan, u32 *result, u32 *detail)
{
	struct wire_status status;
	int error = dealbox_get_status(db, &status);

	if (error)
		return error;
	if (status.state != DEALBOX_STATE_IDLE && status.state != DEALBOX_STATE_DONE) {
		*result = DEALBOX_ERR_STATE;
		*detail = status.state;
		return -EREMOTEIO;
	}
	spin_lock_irq(&db->lock);
	dealbox_router_load(&db->router, plan->entries ? plan : NULL);
	spin_unlock_irq(&db->lock);
	return 0;
}

int dealbox_set_plan(struct dealbox *db, struct dealbox_plan *in, bool wait)
{
	struct wire_plan plan;
	int error = dealbox_abi_plan(in, &db->machine, &plan);

	in->result = 0;
	in->detail = 0;
	if (!error)
		error = db->routed ? keep_plan(db, &plan, &in->result, &in->detail) :
				     store_plan(db, &plan, wait, &in->result, &in->detail);
	memzero_explicit(&plan, sizeof(plan));
	return error;
}

/* START on a host-routed machine: the refusals that a stored plan would meet. */
static int check_routed_start(struct dealbox *db, struct dealbox_control *in)
{
	u32 loaded = db->router.plan.plan_id;

	if (loaded == in->plan_id)
		return 0;
	in->result = loaded ? DEALBOX_ERR_WRONG_PLAN : DEALBOX_ERR_NO_PLAN;
	in->detail = loaded;
	return -EREMOTEIO;
}

int dealbox_control(struct dealbox *db, struct dealbox_control *in)
{
	struct wire_command cmd;
	int error;

	in->result = 0;
	in->detail = 0;
	/* The router's plan changes under ctl, or is dropped when state was lost. */
	spin_lock_irq(&db->lock);
	error = dealbox_abi_control(in, &db->machine, db->routed ? &db->router.plan : NULL, &cmd);
	if (!error && db->routed && in->op == DEALBOX_OP_START)
		error = check_routed_start(db, in);
	spin_unlock_irq(&db->lock);
	if (error)
		return error;

	return command(db, in->op, &cmd, &in->result, &in->detail);
}

int dealbox_pause(struct dealbox *db)
{
	struct wire_command pause = { 0 };
	struct wire_status status;
	u32 result, detail;
	int error = dealbox_get_status(db, &status);

	if (error || status.state != DEALBOX_STATE_DEALING)
		return error;
	error = command(db, DEALBOX_OP_PAUSE, &pause, &result, &detail);
	/* refused: it stopped by itself since, or a pause is under way */
	return error == -EREMOTEIO ? 0 : error;
}

int dealbox_control_greet(struct dealbox *db)
{
	struct wire_result last;
	struct wire_info info;
	int error;

	error = db->dialect->describe ? db->dialect->describe(db) : 0;
	if (error)
		return error;
	/* events flow already, but there is no plan yet to route by */
	spin_lock_irq(&db->lock);
	db->routed = db->machine.capabilities & DEALBOX_CAP_HOST_ROUTED;
	db->source.pockets = db->machine.pockets;
	spin_unlock_irq(&db->lock);

	error = must_query(db, WIRE_GET_INFO, WIRE_INFO_SIZE);
	if (error)
		return error;
	dealbox_decode_info(db->ctl_buf, &info);
	dealbox_abi_info(&db->machine, &info, db->udev->serial, QUEUE_EVENTS, &db->info);
	if (db->udev->serial) {
		db->serial = kstrdup(db->udev->serial, GFP_KERNEL);
		if (!db->serial)
			return -ENOMEM;
		dealbox_abi_printable(db->serial);
	}

	/*
	 * Another driver may have used the machine since it was configured. A
	 * command that bore its last number would be taken for a repetition.
	 */
	error = get_result(db, &last);
	if (!error)
		db->sequence = last.sequence;
	return error;
}

void dealbox_control_block(struct dealbox *db, int error)
{
	spin_lock_irq(&db->lock);
	WRITE_ONCE(db->blocked, error);
	if (db->loading.armed) {
		db->loading.armed = false;
		db->loading.error = error;
		complete(&db->loading.done);
	}
	if (db->answer.armed) {
		db->answer.armed = false;
		db->answer.error = error;
		complete(&db->answer.done);
	}
	spin_unlock_irq(&db->lock);
	usb_kill_anchored_urbs(&db->submitted);
}

void dealbox_control_allow(struct dealbox *db)
{
	spin_lock_irq(&db->lock);
	WRITE_ONCE(db->blocked, 0);
	spin_unlock_irq(&db->lock);
}
