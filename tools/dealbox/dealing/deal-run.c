// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "deal-run.h"

#define PLAN_TRIES	3	/* in a row, before the operator is asked */

double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

const char *item_name(const struct run *run, char text[48])
{
	if (run->journal.copies > 1)
		snprintf(text, 48, "board %u, copy %u", run->item->board, run->item->copy);
	else
		snprintf(text, 48, "board %u", run->item->board);
	return text;
}

void progress_show(const struct run *run)
{
	double seconds = seconds_since(&run->begin);
	char name[48], rate[48] = "";

	if (run->options->json)
		return;
	/* before the first board is exact there is no rate */
	if (run->exact && seconds > 0)
		snprintf(rate, sizeof(rate), ", %.0f boards per hour", run->exact * 3600 / seconds);
	progress("%s: card %u/%u%s", item_name(run, name), run->cards, DEALBOX_CARDS, rate);
}

void tell(struct run *run, const char *format, ...)
{
	char text[sizeof(run->told)], name[48];
	struct json_object *object;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (!strcmp(text, run->told))
		return;
	strcpy(run->told, text);
	if (!run->options->json) {
		say("%s: %s", item_name(run, name), text);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "operator");
	json_add_number(object, "board", run->item->board);
	json_add_number(object, "copy", run->item->copy);
	json_add_text(object, "text", text);
	json_say(object);
}

enum end machine_failed(const struct run *run)
{
	const struct dealbox_error *reason = dealbox_machine_error(run->machine);

	complain(reason->next, "%s", reason->what);
	return END_MACHINE;
}

/* ---- what happens next --------------------------------------------------- */

static bool stop_asked(const struct run *run)
{
	struct signalfd_siginfo info;

	return read(run->signal_fd, &info, sizeof(info)) > 0;
}

/* The operator's Enter. At the end of standard input there is nobody to press it. */
static bool enter_pressed(struct run *run)
{
	char keys[64];

	if (read(STDIN_FILENO, keys, sizeof(keys)) > 0)
		return true;
	run->stdin_open = false;
	return false;
}

enum wake next(struct run *run, struct dealbox_event *event, int timeout_ms)
{
	struct pollfd wait[] = {
		{ .fd = dealbox_machine_fd(run->machine), .events = POLLIN },
		{ .fd = run->signal_fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	ssize_t count;

	for (;;) {
		if (run->event_count) {
			*event = run->events[run->event_first];
			explicit_bzero(&run->events[run->event_first++], sizeof(*event));
			run->event_count--;
			return WAKE_EVENT;
		}
		if (stop_asked(run))
			return WAKE_STOP;
		count = dealbox_machine_read(run->machine, run->events, EVENTS_MAX);
		if (count > 0) {
			run->event_first = 0;
			run->event_count = (size_t)count;
			continue;
		}
		if (count != -EAGAIN)
			return WAKE_GONE;
		wait[2].fd = run->stdin_open ? STDIN_FILENO : -1;
		if (!poll(wait, 3, timeout_ms))
			return WAKE_QUIET;
		if (wait[2].revents && enter_pressed(run))
			return WAKE_GO;
	}
}

bool start_key(const struct dealbox_event *event)
{
	return event->type == DEALBOX_EV_KEY && event->code == DEALBOX_KEY_START && event->arg[0];
}

/* ---- the plan ---------------------------------------------------------------- */

enum end plan_make(struct run *run)
{
	struct dealbox_board board;
	uint32_t id;
	long index;
	int ret;

	if (run->plan_board == run->item->board)
		return END_READY;
	do {
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			id = DEALBOX_PLAN_NONE;
	} while (id == DEALBOX_PLAN_NONE || id == DEALBOX_PLAN_TEST);
	index = dealbox_set_find(run->set, run->item->board);
	ret = index < 0 ? (int)index : dealbox_set_get(run->set, (size_t)index, &board);
	if (!ret)
		ret = dealbox_plan_by_card(&run->plan, id, &board.deal,
					   dealbox_set_pack(run->set), NULL);
	dealbox_deal_wipe(&board.deal);
	if (ret) {
		complain(NULL, "board %u cannot be dealt: %s", run->item->board, strerror(-ret));
		return END_INPUT;
	}
	run->plan_board = run->item->board;
	run->plan_loaded = false;
	return END_READY;
}

/* Did it fail on the way? Then it may arrive next time: a machine has all of a plan, or none. */
static bool plan_got_lost(const struct run *run, int error)
{
	uint32_t result = error == -EREMOTEIO ? dealbox_machine_result(run->machine, NULL) : 0;

	return error == -EPROTO || error == -EIO || result == DEALBOX_ERR_CRC ||
	       result == DEALBOX_ERR_INCOMPLETE;
}

enum end plan_load(struct run *run)
{
	int ret;

	if (run->plan_loaded)
		return END_READY;
	do {
		ret = dealbox_machine_set_plan(run->machine, &run->plan);
		run->plan_failures = ret ? run->plan_failures + 1 : 0;
	} while (ret && plan_got_lost(run, ret) && run->plan_failures < PLAN_TRIES);
	if (!ret) {
		run->plan_loaded = true;
		return END_READY;
	}
	if (!plan_got_lost(run, ret))
		return machine_failed(run);
	run->plan_failures = 0;
	tell(run, "the plan does not reach the machine (%s): check the cable, and press the start key or Enter",
	     dealbox_machine_error(run->machine)->what);
	return END_AGAIN;
}

void plan_forget(struct run *run)
{
	struct dealbox_plan none = { 0 };

	if (run->plan_loaded)
		dealbox_machine_set_plan(run->machine, &none);
}
