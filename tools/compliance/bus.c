// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bus: reset, SET_CONFIGURATION in each state, suspend and remote wakeup (§1.2). */
#include <errno.h>
#include <string.h>

#include "run.h"

#define FEATURE_WAKEUP	1

/* Check what a machine loses, and keeps, when it is reconfigured in state (R-1.2-4 to R-1.2-7). */
static void lost_in(struct run *r, uint8_t state, bool reset)
{
	uint32_t insertion;
	bool unspent;
	int ret;

	reach(r, state);
	insertion = r->observer.insertion;
	unspent = !r->observer.spent;
	if (reset) {
		ret = r->access->ops->reset(r->access);
		if (ret == -ENODEV) {
			/* libusb opens the device anew */
			if (!reconnect(r, DEALBOX_LOST_RESET))
				not_run(r, "the machine does not come back: %s", r->why);
		} else if (ret < 0) {
			not_supported(r, "this address cannot reset the bus");
		}
	}
	configure(r, DEALBOX_LOST_RESET);
	if (has_faults(r))
		step(r, "thaw");
	check(r,
	      state == DEALBOX_STATE_FAULT || state == DEALBOX_STATE_DONE ? "R-1.2-7" : "R-1.2-5",
	      status(r).state == DEALBOX_STATE_IDLE, "configured in %s, the state is %s",
	      state_name(state), state_name(status(r).state));
	check(r, "R-1.2-6", r->observer.insertion == insertion, "insertion %u is %u behind it",
	      insertion, r->observer.insertion);
	if (unspent)
		check(r, "R-1.2-6", !(status(r).flags & DEALBOX_STATUS_SPENT),
		      "an insertion whose deal was not running is spent");
	else
		check(r, "R-1.2-5", status(r).flags & DEALBOX_STATUS_SPENT,
		      "an insertion whose deal was cut off is not spent");
	/* no card moves any more */
	while (fetch(r, 50))
		;
	check(r, "R-1.2-4", r->observer.state == DEALBOX_STATE_IDLE && !r->observer.running,
	      "the deal goes on behind the configuration");
	check(r, "R-2.1-6", !status(r).cards_done && !status(r).cards_total,
	      "the deal that ran is not forgotten");
	if (!unspent) {
		struct wire_plan plan = r->plan;
		uint8_t error;

		r->route = true;
		load(r, &plan);
		error = start(r);
		check(r, "R-5.2-4", error == DEALBOX_ERR_SPENT,
		      "a spent insertion can be dealt again: error %u", error);
	}
}

static void reset_each(struct run *r)
{
	uint8_t state;

	for (state = DEALBOX_STATE_IDLE; state <= DEALBOX_STATE_DONE; state++)
		lost_in(r, state, true);
	settle(r);
}

static void configure_each(struct run *r)
{
	uint8_t state;

	for (state = DEALBOX_STATE_IDLE; state <= DEALBOX_STATE_DONE; state++)
		lost_in(r, state, false);
	settle(r);
}

/* An unspent insertion may be dealt behind a configuration. */
static void unspent(struct run *r)
{
	struct wire_plan plan;
	uint8_t error;

	ready(r);
	configure(r, DEALBOX_LOST_RESET);
	plan = r->plan;
	r->route = true;
	load(r, &plan);
	error = start(r);
	check(r, "R-1.2-6", !error, "an unspent insertion cannot be dealt: error %u", error);
	await_end(r, 60000);
	settle(r);
}

static void deconfigured(struct run *r)
{
	reach(r, DEALBOX_STATE_DEALING);
	check(r, "R-1.2-4", control(r, 0x00, 9, 0, 0, NULL, 0) >= 0, "SET_CONFIGURATION 0 fails");
	step(r, "thaw");
	configure(r, DEALBOX_LOST_RESET);
	check(r, "R-1.2-4", status(r).state == DEALBOX_STATE_IDLE,
	      "the deal goes on without a configuration");
	check(r, "R-1.2-5", status(r).flags & DEALBOX_STATUS_SPENT, "the insertion is not spent");
	settle(r);
}

/* SET_INTERFACE with setting 0 is no configuration. */
static void set_interface(struct run *r)
{
	uint32_t next = status(r).next_event;

	command(r, DEALBOX_OP_LOCATE, 0, 0, 0, NULL);
	control(r, 0x01, 11, 0, r->access->interface, NULL, 0);
	check(r, "R-1.2-1", get_result(r).request == DEALBOX_OP_LOCATE,
	      "SET_INTERFACE makes the machine forget the last command");
	check(r, "R-1.2-1", status(r).next_event == next || !has_hands(r),
	      "SET_INTERFACE causes events");
	check(r, "R-1-1", control(r, 0x01, 11, 1, r->access->interface, NULL, 0) < 0,
	      "there is an alternate setting 1");
}

static void wakeup(struct run *r)
{
	static const char *const steps[] = { "cover open", "cover close", "hopper empty",
					     "hopper fill" };
	size_t i;

	settle(r);
	if (!(r->config[7] & 0x20))
		not_supported(r, "the machine does not support remote wakeup");
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (control(r, 0x00, 3, FEATURE_WAKEUP, 0, NULL, 0) < 0) {
			check(r, "R-1.2-9", false, "remote wakeup cannot be enabled");
			end_test(r);
		}
		if (r->access->ops->suspend(r->access) == -EOPNOTSUPP)
			not_run(r, "this address cannot suspend the machine");
		do_step(r, "%s", steps[i]);
		check(r, "R-1.2-9",
		      !r->access->ops->wakeup(r->access, has_faults(r) ? 1000 : 20000),
		      "the machine does not wake the host at the step \"%s\"", steps[i]);
		r->access->ops->resume(r->access);
		check(r, "R-1.2-9", next_event(r, 1000), "no event comes behind the wakeup");
		status(r);
	}
	/* a suspend forgets nothing */
	check(r, "R-1.2-1", get_result(r).sequence == r->sequence,
	      "a suspend loses the last command");
	control(r, 0x00, 1, FEATURE_WAKEUP, 0, NULL, 0);
	status(r);
	if (has_faults(r)) {
		do_step(r, "cover open");
		do_step(r, "cover close");
	}
	r->access->ops->suspend(r->access);
	r->access->ops->resume(r->access);
	if (has_faults(r)) {
		check(r, "R-4-11", next_event(r, 1000) && next_event(r, 1000),
		      "events of before a suspend are lost behind it");
		status(r);
	}
	expect_quiet(r, "R-4.1-1", 30, "behind a suspend");
	status(r);
}

const struct test_row bus_tests[] = {
	{ "bus", "reset", "R-1.2-4 R-1.2-5 R-1.2-6 R-1.2-7 R-2.1-6 R-5.2-4",
	  "a reset in each state",
	  NEED_HANDS | NEED_BOARD, .run = reset_each },
	{ "bus", "configured", "R-1.2-4 R-1.2-5 R-1.2-6 R-1.2-7 R-2.1-6 R-5.2-4",
	  "SET_CONFIGURATION in each state", NEED_HANDS | NEED_BOARD, .run = configure_each },
	{ "bus", "unspent", "R-1.2-6", "an unspent insertion behind SET_CONFIGURATION", NEED_BOARD,
	  .run = unspent },
	{ "bus", "not-configured", "R-1.2-4 R-1.2-5", "SET_CONFIGURATION 0 in a deal",
	  NEED_FAULTS | NEED_BOARD, .run = deconfigured },
	{ "bus", "set-interface", "R-1-1 R-1.2-1", "SET_INTERFACE does not configure", NEED_RAW,
	  .run = set_interface },
	{ "bus", "wakeup", "R-1.2-9 R-4-11", "suspend and remote wakeup", NEED_RAW | NEED_HANDS,
	  .run = wakeup },
	{ 0 }
};
