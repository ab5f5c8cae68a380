// SPDX-License-Identifier: LGPL-2.1-or-later
/* deal-board FILE MACHINE: deals the first board of a file, and says whether it is exact. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/diagnosis.h>
#include <dealbox/event.h>
#include <dealbox/format.h>
#include <dealbox/machine.h>
#include <dealbox/operator.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

/*
 * Reads events until the deal has ended, well or badly, and no event can follow its end, or until
 * the machine is gone.
 */
static int follow(struct dealbox_machine *machine, struct dealbox_trace *trace)
{
	struct dealbox_event event;
	bool started = false;	/* events queued from before do not end it */
	bool done = false;

	for (;;) {
		struct pollfd poll_fd = { .fd = dealbox_machine_fd(machine), .events = POLLIN };
		ssize_t got = dealbox_machine_read(machine, &event, 1);

		if (got == -EAGAIN) {
			if (!poll(&poll_fd, 1, done ? DEALBOX_SETTLED_MS : -1))
				return 0;
			continue;
		}
		if (got < 0)
			return (int)got;
		got = dealbox_trace_add(trace, &event);
		if (got < 0)
			return (int)got;
		if (event.type == DEALBOX_EV_DEAL_STARTED)
			started = true;
		if (event.type == DEALBOX_EV_DEAL_DONE)
			done = true;
		if (event.type == DEALBOX_EV_ABORTED ||
		    (event.type == DEALBOX_EV_STATE_LOST && started) ||
		    (event.type == DEALBOX_EV_BOARD_REMOVED && done) ||
		    dealbox_event_stops(event.type))
			return 0;
	}
}

int main(int argc, char **argv)
{
	const struct dealbox_operator_facts where = { .board = 1, .copy = 1 };
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_trace *trace = NULL;
	struct dealbox_verdict *verdict;
	struct dealbox_confusion confusion;
	struct dealbox_diagnosis diagnosis;
	struct dealbox_machine *machine;
	struct dealbox_error reason;
	struct dealbox_status status;
	struct dealbox_board board;
	struct dealbox_info info;
	struct dealbox_plan plan;
	char text[512];
	bool exact;

	if (argc != 3 || !set || dealbox_format_read_file(NULL, argv[1], set, NULL, NULL) ||
	    dealbox_set_get(set, 0, &board) ||
	    dealbox_plan_by_card(&plan, 1, &board.deal, dealbox_set_pack(set), NULL))
		return 2;
	if (dealbox_machine_open(argv[2], 0, &machine, &reason)) {
		fprintf(stderr, "%s: %s\n", reason.what, reason.next);
		return 3;
	}
	/* the machine has one owner; it must have an empty board, and a pack in its hopper */
	if (dealbox_machine_claim(machine) || dealbox_machine_set_plan(machine, &plan) ||
	    dealbox_machine_get_info(machine, &info) ||
	    dealbox_machine_get_status(machine, &status))
		goto refused;
	trace = dealbox_trace_new(status.insertion);
	if (!trace || dealbox_machine_start(machine, plan.plan_id, status.insertion) ||
	    follow(machine, trace) || dealbox_machine_get_status(machine, &status))
		goto refused;
	if (dealbox_verify_machine(&plan, NULL, info.capabilities, trace, &verdict))
		return 3;
	/* a machine that has stopped says that the end was not the end */
	exact = dealbox_verdict_exact(verdict) && status.state != DEALBOX_STATE_HELD &&
		status.state != DEALBOX_STATE_FAULT;
	dealbox_verdict_message(verdict, text, sizeof(text));
	puts(dealbox_verdict_exact(verdict) && !exact ? "the machine has stopped" : text);
	dealbox_confusion_reader(&confusion, info.reader);
	if (!dealbox_diagnose_repeat(trace, dealbox_set_pack(set), &confusion, NULL, &diagnosis)) {
		dealbox_diagnosis_message(&diagnosis, false, text, sizeof(text));
		puts(text);
	}
	if (!exact) {
		dealbox_operator_text(DEALBOX_OPERATOR_DIFFERS, &where, "en", text, sizeof(text));
		puts(text);
	}
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
	dealbox_machine_close(machine);
	dealbox_plan_wipe(&plan);
	dealbox_deal_wipe(&board.deal);
	dealbox_set_free(set);
	return exact ? 0 : 1;

refused:
	fprintf(stderr, "%s: %s\n", dealbox_machine_error(machine)->what,
		dealbox_machine_error(machine)->next);
	/* pauses a deal that runs */
	dealbox_machine_close(machine);
	return 3;
}
