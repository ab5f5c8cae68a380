// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The host's side of the protocol. Section numbers refer to docs/protocol.md.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core.h"

static enum dealbox_action end_call(struct dealbox_call *call, int error)
{
	memzero_explicit(&call->plan, sizeof(call->plan));
	if (call->result_to) {
		*call->result_to = call->result;
		*call->detail_to = call->detail;
	}
	call->error = error;
	return DEALBOX_DONE;
}

static void report_to(struct dealbox_call *call, u32 *result, u32 *detail)
{
	call->result_to = result;
	call->detail_to = detail;
}

/*
 * Map the error of a transfer to that of the ABI. -EPIPE, a stall, is left to
 * the caller: its meaning depends on the request.
 */
static int transfer_error(int error)
{
	switch (error) {
	case -ENOENT:		/* unbound, disconnect() is about to run */
	case -ESHUTDOWN:
		return -ENODEV;
	case -EREMOTEIO:
	case -EOVERFLOW:
		return -EPROTO;	/* wrong size of the answer */
	case 0:
	case -ENODEV:
	case -ENOMEM:
	case -EPIPE:
	case -ETIMEDOUT:
		return error;
	default:		/* including -EPROTO, an error of the bus */
		return -EIO;
	}
}

enum dealbox_action dealbox_call_next(struct dealbox_core *core,
				      struct dealbox_call *call, int result,
				      u64 now_ns)
{
	call->now_ns = now_ns;
	if (result < 0 && call->action != DEALBOX_AWAIT)
		result = transfer_error(result);
	call->action = call->step(core, call, result);
	return call->action;
}

enum dealbox_action dealbox_call_answered(struct dealbox_core *core,
					  struct dealbox_call *call, int error)
{
	return call->answered(core, call, error);
}

/* -- requests (section 2) -------------------------------------------------- */

static enum dealbox_action send_query(struct dealbox_core *core,
				      struct dealbox_call *call, u8 request,
				      u16 value, u16 length)
{
	call->type = WIRE_REQ_IN;
	call->request = request;
	call->value = value;
	call->length = length;
	return core->dialect->exchange(core, call);
}

/* Every machine supports this query, so a stall violates the protocol. */
static int must_answer(int error)
{
	return error == -EPIPE ? -EPROTO : error;
}

static enum dealbox_action end_command(struct dealbox_core *core,
				       struct dealbox_call *call, int error)
{
	call->command_error = error;
	return call->commanded ? call->commanded(core, call, error) :
				 end_call(call, error);
}

static enum dealbox_action transmit_command(struct dealbox_core *core,
					    struct dealbox_call *call);

/*
 * GET_RESULT has answered whether a command was executed. It is asked after a
 * failed transfer, and always if the machine refuses commands by their result
 * (call->lost is 0).
 */
static enum dealbox_action judge_command(struct dealbox_core *core,
					 struct dealbox_call *call, int error)
{
	bool stalled = call->lost == -EPIPE;
	struct wire_result last;
	bool came;

	error = must_answer(error);
	if (error && call->lost && !stalled && error != -ENODEV)
		error = call->lost;
	if (error)
		return end_command(core, call, error);
	dealbox_decode_result(call->data, &last);
	came = last.sequence == call->fields.sequence &&
	       last.request == call->command;
	if (came && last.error != DEALBOX_ERR_OK) {
		call->result = last.error;
		call->detail = last.detail;
		return end_command(core, call, -EREMOTEIO);
	}
	/* A machine that refuses a command says so in its result. */
	if (stalled)
		return end_command(core, call, -EPROTO);
	if (came)
		return end_command(core, call, 0);
	/*
	 * The command never arrived. Repeat it once: with the same sequence
	 * number, the machine cannot execute it twice.
	 */
	if (call->attempt++)
		return end_command(core, call, call->lost ?: -EPROTO);
	return transmit_command(core, call);
}

static enum dealbox_action command_transmitted(struct dealbox_core *core,
					       struct dealbox_call *call,
					       int error)
{
	bool by_result = core->machine.capabilities &
			 DEALBOX_CAP_REFUSES_BY_RESULT;

	if ((!error && !by_result) || error == -ENODEV)
		return end_command(core, call, error);
	call->lost = error;
	call->answered = judge_command;
	return send_query(core, call, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
}

static enum dealbox_action transmit_command(struct dealbox_core *core,
					    struct dealbox_call *call)
{
	dealbox_encode_command(call->data, &call->fields);
	if (call->nonce)
		memcpy(call->data + WIRE_COMMAND_SIZE, call->nonce,
		       DEALBOX_NONCE_SIZE);
	call->type = WIRE_REQ_OUT;
	call->request = call->command;
	call->value = 0;
	call->length = call->nonce ? WIRE_ATTEST_SIZE : WIRE_COMMAND_SIZE;
	call->answered = command_transmitted;
	return core->dialect->exchange(core, call);
}

/* Send call->fields as a command; call->commanded() gets its outcome. */
static enum dealbox_action send_command(struct dealbox_core *core,
					struct dealbox_call *call, u8 request)
{
	if (!++core->sequence)
		core->sequence = 1;
	call->fields.sequence = core->sequence;
	call->command = request;
	return transmit_command(core, call);
}

/* -- the first call -------------------------------------------------------- */

static enum dealbox_action greet_with_result(struct dealbox_core *core,
					     struct dealbox_call *call,
					     int error)
{
	struct wire_result last;

	error = must_answer(error);
	if (!error) {
		/*
		 * Another host may have used the machine since it was
		 * configured. Continue its sequence numbers, since a command
		 * with the last one counts as a repetition.
		 */
		dealbox_decode_result(call->data, &last);
		core->sequence = last.sequence;
	}
	return end_call(call, error);
}

static enum dealbox_action greet_with_info(struct dealbox_core *core,
					   struct dealbox_call *call, int error)
{
	error = must_answer(error);
	if (error)
		return end_call(call, error);
	dealbox_decode_info(call->data, &core->info);
	call->answered = greet_with_result;
	return send_query(core, call, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
}

static enum dealbox_action greet_described(struct dealbox_core *core,
					   struct dealbox_call *call)
{
	/*
	 * Events may already arrive, but none is routed before a plan is set.
	 */
	core->routed = core->machine.capabilities & DEALBOX_CAP_HOST_ROUTED;
	core->source.pockets = core->machine.pockets;
	call->answered = greet_with_info;
	return send_query(core, call, WIRE_GET_INFO, 0, WIRE_INFO_SIZE);
}

static int read_answer(struct dealbox_core *core,
		       const struct dealbox_call *call)
{
	int error;

	/* The answer ends here, even if the descriptor is a longer one. */
	call->data[0] = min_t(u8, call->data[0], WIRE_DESC_SIZE);
	error = dealbox_read_descriptor(call->data, WIRE_DESC_SIZE,
					&core->machine);
	return error == -ENOENT ? -EPROTO : error;
}

static enum dealbox_action greet_with_machine(struct dealbox_core *core,
					      struct dealbox_call *call,
					      int error)
{
	error = must_answer(error);
	if (!error)
		error = read_answer(core, call);
	return error ? end_call(call, error) : greet_described(core, call);
}

static enum dealbox_action begin_greeting(struct dealbox_core *core,
					  struct dealbox_call *call, int unused)
{
	/*
	 * An answer to a previous host may still arrive: start at another tag.
	 */
	core->tag = call->now_ns >> 20;
	if (!core->dialect->described || core->machine.pockets)
		return greet_described(core, call);
	call->answered = greet_with_machine;
	return send_query(core, call, core->dialect->describe, 0,
			  WIRE_DESC_SIZE);
}

void dealbox_call_greet(struct dealbox_call *call)
{
	call->step = begin_greeting;
}

/* -- the machine descriptor by request (section 1.1) ----------------------- */

static enum dealbox_action machine_described(struct dealbox_core *core,
					     struct dealbox_call *call,
					     int moved)
{
	int error = must_answer(min(moved, 0));

	if (!error)
		error = moved == WIRE_DESC_SIZE ? read_answer(core, call) :
						  -EPROTO;
	return end_call(call, error);
}

static enum dealbox_action begin_describe(struct dealbox_core *core,
					  struct dealbox_call *call, int unused)
{
	call->type = WIRE_REQ_IN;
	call->request = WIRE_DESCRIBE;
	call->value = 0;
	call->length = WIRE_DESC_SIZE;
	call->ms = WIRE_CONTROL_HOST_MS;
	call->step = machine_described;
	return DEALBOX_CONTROL;
}

void dealbox_call_describe(struct dealbox_call *call)
{
	call->step = begin_describe;
}

/* -- queries --------------------------------------------------------------- */

static int decode_status(const struct dealbox_call *call, int error,
			 struct wire_status *status)
{
	error = must_answer(error);
	if (!error && !dealbox_decode_status(call->data, status))
		error = -EPROTO;
	return error;
}

static enum dealbox_action status_answered(struct dealbox_core *core,
					   struct dealbox_call *call, int error)
{
	struct dealbox_status *out = call->arg;
	struct wire_status status;

	error = decode_status(call, error, &status);
	if (error)
		return end_call(call, error);
	dealbox_abi_status(&status, out);
	if (core->routed)
		out->plan_id = core->router.plan.plan_id;
	out->seqno = call->seqno;
	return end_call(call, 0);
}

static enum dealbox_action begin_status(struct dealbox_core *core,
					struct dealbox_call *call, int unused)
{
	/*
	 * Read seqno before the query: the answer includes all earlier events.
	 * Whether it includes later ones is unknown.
	 */
	call->seqno = core->source.seqno;
	call->answered = status_answered;
	return send_query(core, call, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
}

static enum dealbox_action counters_answered(struct dealbox_core *core,
					     struct dealbox_call *call,
					     int error)
{
	error = must_answer(error);
	if (!error)
		dealbox_decode_counters(call->data, call->arg);
	return end_call(call, error);
}

static enum dealbox_action begin_counters(struct dealbox_core *core,
					  struct dealbox_call *call, int unused)
{
	call->answered = counters_answered;
	return send_query(core, call, WIRE_GET_COUNTERS, 0, WIRE_COUNTERS_SIZE);
}

/* -- parameters ------------------------------------------------------------ */

static enum dealbox_action param_answered(struct dealbox_core *core,
					  struct dealbox_call *call, int error)
{
	struct dealbox_param *param = call->arg;
	struct wire_param answer;

	if (error == -EPIPE) {
		call->result = DEALBOX_ERR_BAD_VALUE;
		call->detail = 4;	/* wValue */
		return end_call(call, -EREMOTEIO);
	}
	if (error)
		return end_call(call, error);
	dealbox_decode_param(call->data, &answer);
	if (answer.id != param->id)
		return end_call(call, -EPROTO);
	param->value = answer.value;
	param->min = answer.min;
	param->max = answer.max;
	return end_call(call, 0);
}

static enum dealbox_action begin_get_param(struct dealbox_core *core,
					   struct dealbox_call *call,
					   int unused)
{
	struct dealbox_param *param = call->arg;
	int error = dealbox_abi_param(param, false);

	report_to(call, &param->result, &param->detail);
	if (error)
		return end_call(call, error);
	/* An id that does not fit into wValue is an unknown parameter. */
	if (param->id > U16_MAX)
		return param_answered(core, call, -EPIPE);
	call->answered = param_answered;
	return send_query(core, call, WIRE_GET_PARAM, param->id,
			  WIRE_PARAM_SIZE);
}

static enum dealbox_action begin_set_param(struct dealbox_core *core,
					   struct dealbox_call *call,
					   int unused)
{
	struct dealbox_param *param = call->arg;
	int error = dealbox_abi_param(param, true);

	report_to(call, &param->result, &param->detail);
	if (error)
		return end_call(call, error);
	call->fields.a = param->id;
	call->fields.b = param->value;
	return send_command(core, call, WIRE_SET_PARAM);
}

/* -- plans (section 3) ----------------------------------------------------- */

/* The wait for PLAN_LOADED has ended. */
static enum dealbox_action plan_judged(struct dealbox_core *core,
				       struct dealbox_call *call, int error)
{
	bool came = core->awaited == DEALBOX_AWAIT_NOTHING;

	core->awaited = DEALBOX_AWAIT_NOTHING;
	if (came && core->await_error)
		return end_call(call, core->await_error);
	/* In the serial dialect, a late block is lost without a word. */
	if (!came && (error != -ETIMEDOUT || core->verdict == DEALBOX_ERR_OK))
		return end_call(call, error ?: -ETIMEDOUT);
	if (core->verdict == DEALBOX_ERR_OK)
		return end_call(call, 0);
	call->result = core->verdict;
	call->detail = core->verdict_detail;
	return end_call(call, -EREMOTEIO);
}

/* The same after a stall: a block that was not taken cannot be accepted. */
static enum dealbox_action stall_judged(struct dealbox_core *core,
					struct dealbox_call *call, int error)
{
	plan_judged(core, call, error);
	return end_call(call, call->error ?: -EPROTO);
}

static enum dealbox_action plan_sent(struct dealbox_core *core,
				     struct dealbox_call *call, int error)
{
	bool stalled = error == -EPIPE;

	/*
	 * The machine has stopped waiting for the block if it comes too late.
	 * PLAN_LOADED says so, and may have come before the block was sent.
	 */
	if (stalled && core->verdict != DEALBOX_ERR_OK) {
		core->awaited = DEALBOX_AWAIT_NOTHING;
		return plan_judged(core, call, 0);
	}
	if (stalled && !call->patient)
		error = -EIO;
	if ((error && !stalled) || !call->patient) {
		core->awaited = DEALBOX_AWAIT_NOTHING;
		return end_call(call, error);
	}
	call->step = stalled ? stall_judged : plan_judged;
	call->ms = WIRE_PLAN_HOST_MS;
	return DEALBOX_AWAIT;
}

static enum dealbox_action plan_announced(struct dealbox_core *core,
					  struct dealbox_call *call, int error)
{
	if (error || !call->plan.entries)
		return end_call(call, error);
	/*
	 * Not before LOAD: the verdict on an earlier plan could still arrive.
	 */
	core->awaited = DEALBOX_AWAIT_VERDICT;
	core->await_error = 0;
	call->size = core->dialect->encode_plan(call->bytes, &call->plan);
	call->step = plan_sent;
	call->ms = WIRE_PLAN_COMPLETE_MS;
	return DEALBOX_SEND;
}

/*
 * A host-routed machine has no LOAD, so the host enforces LOAD's rule itself.
 */
static enum dealbox_action keep_plan(struct dealbox_core *core,
				     struct dealbox_call *call, int error)
{
	struct wire_status status;

	error = decode_status(call, error, &status);
	if (error)
		return end_call(call, error);
	if (status.state != DEALBOX_STATE_IDLE &&
	    status.state != DEALBOX_STATE_DONE) {
		call->result = DEALBOX_ERR_STATE;
		call->detail = status.state;
		return end_call(call, -EREMOTEIO);
	}
	dealbox_router_load(&core->router,
			    call->plan.entries ? &call->plan : NULL);
	return end_call(call, 0);
}

static enum dealbox_action begin_set_plan(struct dealbox_core *core,
					  struct dealbox_call *call, int unused)
{
	struct dealbox_plan *plan = call->arg;
	int error = dealbox_abi_plan(plan, &core->machine, &call->plan);

	report_to(call, &plan->result, &plan->detail);
	if (error)
		return end_call(call, error);
	if (core->routed) {
		call->answered = keep_plan;
		return send_query(core, call, WIRE_GET_STATUS, 0,
				  WIRE_STATUS_SIZE);
	}
	core->plan_id = call->plan.plan_id;
	core->verdict = DEALBOX_ERR_OK;
	call->fields.a = call->plan.plan_id;
	call->fields.b =
		call->plan.entries ? WIRE_PLAN_SIZE(call->plan.entries) : 0;
	call->commanded = plan_announced;
	return send_command(core, call, WIRE_LOAD);
}

/* -- control --------------------------------------------------------------- */

/*
 * A host-routed machine has no plan, so the host checks START's plan_id itself.
 */
static int check_routed_start(const struct dealbox_core *core,
			      struct dealbox_call *call,
			      const struct dealbox_control *in)
{
	u32 loaded = core->router.plan.plan_id;

	if (!core->routed || in->op != DEALBOX_OP_START ||
	    loaded == in->plan_id)
		return 0;
	call->result = loaded ? DEALBOX_ERR_WRONG_PLAN : DEALBOX_ERR_NO_PLAN;
	call->detail = loaded;
	return -EREMOTEIO;
}

static enum dealbox_action begin_control(struct dealbox_core *core,
					 struct dealbox_call *call, int unused)
{
	struct dealbox_control *in = call->arg;
	const struct wire_plan *plan = core->routed ? &core->router.plan : NULL;
	int error = dealbox_abi_control(in, &core->machine, plan,
					&call->fields);

	report_to(call, &in->result, &in->detail);
	if (!error)
		error = check_routed_start(core, call, in);
	return error ? end_call(call, error) : send_command(core, call, in->op);
}

static enum dealbox_action pause_commanded(struct dealbox_core *core,
					   struct dealbox_call *call, int error)
{
	/*
	 * A refusal is fine: the deal has stopped meanwhile, or is being
	 * paused.
	 */
	return end_call(call, error == -EREMOTEIO ? 0 : error);
}

static enum dealbox_action pause_if_dealing(struct dealbox_core *core,
					    struct dealbox_call *call,
					    int error)
{
	struct wire_status status;

	error = decode_status(call, error, &status);
	if (error == -ENODEV ||
	    (!error && status.state != DEALBOX_STATE_DEALING))
		return end_call(call, error);
	call->commanded = pause_commanded;
	return send_command(core, call, DEALBOX_OP_PAUSE);
}

static enum dealbox_action begin_pause(struct dealbox_core *core,
				       struct dealbox_call *call, int unused)
{
	call->answered = pause_if_dealing;
	return send_query(core, call, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
}

void dealbox_call_pause(struct dealbox_call *call)
{
	call->step = begin_pause;
}

/* -- attestations (section 5.3) -------------------------------------------- */

static int can_attest(const struct dealbox_core *core)
{
	return core->machine.capabilities & DEALBOX_CAP_ATTEST ?
	       0 : -EOPNOTSUPP;
}

static enum dealbox_action attest_commanded(struct dealbox_core *core,
					    struct dealbox_call *call,
					    int error)
{
	memzero_explicit(call->data, WIRE_ATTEST_SIZE);
	return end_call(call, error);
}

static enum dealbox_action begin_attest(struct dealbox_core *core,
					struct dealbox_call *call, int unused)
{
	struct dealbox_attest *in = call->arg;
	int error = can_attest(core);

	report_to(call, &in->result, &in->detail);
	if (!in->insertion || in->reserved1 ||
	    memchr_inv(in->reserved, 0, sizeof(in->reserved)) ||
	    !memchr_inv(in->nonce, 0, sizeof(in->nonce)))
		error = -EINVAL;
	if (error)
		return end_call(call, error);
	call->fields.b = in->insertion;
	call->nonce = in->nonce;
	call->commanded = attest_commanded;
	return send_command(core, call, WIRE_ATTEST);
}

/* A machine stalls both queries while there is no attestation. */
static enum dealbox_action signature_answered(struct dealbox_core *core,
					      struct dealbox_call *call,
					      int error)
{
	struct dealbox_attestation *out = call->arg;

	if (error) {
		/* No statement without its signature. */
		memset(out, 0, sizeof(*out));
		return end_call(call, error == -EPIPE ? -ENODATA : error);
	}
	memcpy(out->signature, call->data, sizeof(out->signature));
	return end_call(call, 0);
}

static enum dealbox_action statement_answered(struct dealbox_core *core,
					      struct dealbox_call *call,
					      int error)
{
	struct dealbox_attestation *out = call->arg;

	if (error)
		return end_call(call, error == -EPIPE ? -ENODATA : error);
	memset(out, 0, sizeof(*out));
	memcpy(out->statement, call->data, sizeof(out->statement));
	call->answered = signature_answered;
	return send_query(core, call, WIRE_GET_SIGNATURE, 0,
			  DEALBOX_SIGNATURE_SIZE);
}

static enum dealbox_action begin_attestation(struct dealbox_core *core,
					     struct dealbox_call *call,
					     int unused)
{
	int error = can_attest(core);

	if (error)
		return end_call(call, error);
	call->answered = statement_answered;
	return send_query(core, call, WIRE_GET_STATEMENT, 0,
			  DEALBOX_STATEMENT_SIZE);
}

static enum dealbox_action identity_answered(struct dealbox_core *core,
					     struct dealbox_call *call,
					     int error)
{
	error = must_answer(error);
	if (!error)
		dealbox_decode_identity(call->data, call->arg);
	return end_call(call, error);
}

static enum dealbox_action begin_identity(struct dealbox_core *core,
					  struct dealbox_call *call, int unused)
{
	int error = can_attest(core);

	if (error)
		return end_call(call, error);
	call->answered = identity_answered;
	return send_query(core, call, WIRE_GET_IDENTITY, 0, WIRE_IDENTITY_SIZE);
}

/* -- the ioctls ------------------------------------------------------------ */

/* The layout must be the same for 32- and 64-bit callers, and never changes. */
static_assert(sizeof(struct dealbox_info) == 128, "info");
static_assert(sizeof(struct dealbox_status) == 64, "status");
static_assert(sizeof(struct dealbox_plan) == 96, "plan");
static_assert(sizeof(struct dealbox_control) == 32, "control");
static_assert(sizeof(struct dealbox_param) == 32, "param");
static_assert(sizeof(struct dealbox_counters) == 64, "counters");
static_assert(sizeof(struct dealbox_attest) == 64, "attest");
static_assert(sizeof(struct dealbox_attestation) == DEALBOX_ARG_MAX,
	      "attestation");
static_assert(sizeof(struct dealbox_identity) == 64, "identity");

static const struct dealbox_ioctl ioctls[] = {
	{ .cmd = DEALBOX_IOC_GET_INFO },
	{ .cmd = DEALBOX_IOC_GET_STATUS, .begin = begin_status },
	{ .cmd = DEALBOX_IOC_CLAIM, .owner = true },
	{ .cmd = DEALBOX_IOC_RELEASE, .owner = true },
	{ .cmd = DEALBOX_IOC_SET_PLAN, .owner = true, .begin = begin_set_plan },
	{ .cmd = DEALBOX_IOC_CONTROL, .owner = true, .begin = begin_control },
	{ .cmd = DEALBOX_IOC_GET_PARAM, .begin = begin_get_param },
	{ .cmd = DEALBOX_IOC_SET_PARAM, .owner = true,
	  .begin = begin_set_param },
	{ .cmd = DEALBOX_IOC_GET_COUNTERS, .begin = begin_counters },
	{ .cmd = DEALBOX_IOC_ATTEST, .owner = true, .begin = begin_attest },
	{ .cmd = DEALBOX_IOC_GET_ATTESTATION, .begin = begin_attestation },
	{ .cmd = DEALBOX_IOC_GET_IDENTITY, .begin = begin_identity },
	{ }
};

const struct dealbox_ioctl *dealbox_ioctl_find(unsigned int cmd)
{
	const struct dealbox_ioctl *row;

	for (row = ioctls; row->cmd; row++)
		if (row->cmd == cmd)
			return row;
	return NULL;
}

void dealbox_call_ioctl(struct dealbox_call *call, unsigned int cmd, void *arg)
{
	call->arg = arg;
	call->step = dealbox_ioctl_find(cmd)->begin;
}

/* -- receiving ------------------------------------------------------------- */

void dealbox_core_end_await(struct dealbox_core *core)
{
	core->awaited = DEALBOX_AWAIT_NOTHING;
	if (core->ops->awaited)
		core->ops->awaited(core);
}

void dealbox_core_fail_call(struct dealbox_core *core, int error)
{
	if (core->awaited == DEALBOX_AWAIT_NOTHING)
		return;
	core->await_error = error;
	dealbox_core_end_await(core);
}

bool dealbox_core_gate_done(struct dealbox_core *core, int status)
{
	core->gates--;
	if (status != -EPIPE)
		return false;
	core->gates_held = true;
	return true;
}

void dealbox_core_hold_gates(struct dealbox_core *core)
{
	core->gates_held = true;
}

void dealbox_core_allow_gates(struct dealbox_core *core)
{
	core->gates_held = false;
}

void dealbox_core_restart(struct dealbox_core *core)
{
	core->gates_held = false;
	dealbox_router_load(&core->router, NULL);
	if (core->dialect->restart)
		core->dialect->restart(core);
}

static void note_verdict(struct dealbox_core *core,
			 const struct wire_event *event)
{
	bool awaited = core->awaited == DEALBOX_AWAIT_VERDICT;

	if (awaited && event->type == DEALBOX_EV_STATE_LOST)
		dealbox_core_fail_call(core, -EIO);
	/* Before the block is sent, INCOMPLETE is the only possible verdict. */
	if (event->type != DEALBOX_EV_PLAN_LOADED ||
	    event->code != core->plan_id ||
	    (!awaited && event->arg[0] != DEALBOX_ERR_INCOMPLETE))
		return;
	core->verdict = min_t(u32, event->arg[0], U8_MAX);
	core->verdict_detail = event->arg[1];
	if (awaited)
		dealbox_core_end_await(core);
}

/* If it cannot be sent, the machine holds the card and says so (GATE_LATE). */
static void answer_card(struct dealbox_core *core, const struct wire_gate *gate)
{
	int error;

	if (core->gates_held)
		error = -EPIPE;
	else if (core->gates == DEALBOX_GATES)
		error = -EBUSY;
	else
		error = core->ops->send_gate(core, gate);
	if (!error)
		core->gates++;
	if (core->ops->note_gate)
		core->ops->note_gate(core, gate, error);
}

bool dealbox_core_event(struct dealbox_core *core, const u8 *bytes, u64 now_ns)
{
	struct dealbox_event event;
	struct wire_event wire;
	struct wire_gate gate;
	bool ok;

	dealbox_decode_event(bytes, &wire);
	ok = dealbox_abi_event(&core->source, &wire, now_ns, &event);
	if (ok) {
		if (core->routed &&
		    dealbox_router_event(&core->router, &wire, &gate))
			answer_card(core, &gate);
		note_verdict(core, &wire);
	}
	core->ops->event(core, &event);
	return ok;
}

void dealbox_core_malformed(struct dealbox_core *core, size_t length,
			    u64 now_ns)
{
	struct dealbox_event event;

	dealbox_abi_protocol_error(&core->source, DEALBOX_PROTO_EVENT_SIZE,
				   length, now_ns, &event);
	core->ops->event(core, &event);
}

u32 dealbox_core_receive(struct dealbox_core *core, const u8 *bytes,
			 size_t length, u64 now_ns)
{
	if (core->dialect->receive(core, bytes, length, now_ns)) {
		dealbox_retry_good(&core->pace);
		return 0;
	}
	/* The pipe works, so a reset would not help. */
	return dealbox_retry_failed(&core->pace, now_ns, NULL);
}

u32 dealbox_core_failed(struct dealbox_core *core, u64 now_ns, bool *reset)
{
	return dealbox_retry_failed(&core->pace, now_ns, reset);
}
