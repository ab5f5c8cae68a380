// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Transfers whose configuration changes behind the program's back: tools/machine/transfer.c. All
 * orders of what host, kernel and program do are walked, with a model of FunctionFS.
 */
#include "transfer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DEPTH	11

enum event { NOTHING, ENABLE, SETUP };

struct world {
	/* the kernel; it keeps the last event only, as FunctionFS does */
	unsigned int configuration;
	enum event event;
	bool power;			/* before it, SUSPEND or RESUME: it keeps these, too */
	unsigned int live;		/* the configuration of the transfer that it has */
	bool ended;
	int64_t result;
	unsigned int of;		/* the configuration in which the data came */
	bool early;			/* ... which the program could not know yet */
	/* the program */
	struct transfer transfer;
	unsigned int known;		/* the configuration that it knows */
	enum { IDLE, ASKED, GIVEN } begins;
	bool delivered;			/* the data of the newest configuration */
};

static bool host_sends(struct world *w)
{
	if (!w->live || (w->ended && w->result >= 0))
		return false;
	w->live = 0;
	w->ended = true;
	w->result = 7;
	w->of = w->configuration;
	w->early = w->begins == GIVEN || w->event == ENABLE || w->power;
	w->delivered = false;
	return true;
}

static bool host_configures(struct world *w)
{
	/* a request first gets its answer */
	if (w->configuration > 3 || w->event == SETUP)
		return false;
	if (w->live) {
		w->live = 0;
		w->ended = true;
		w->result = -ESHUTDOWN;
	}
	w->configuration++;
	w->event = ENABLE;
	return true;
}

static bool host_asks(struct world *w)
{
	if (w->event)
		return false;
	w->event = SETUP;
	return true;
}

static bool host_suspends(struct world *w)
{
	if (w->event || w->power)
		return false;
	w->power = true;
	return true;
}

static bool is_pending(const struct world *w)
{
	return w->event || w->power;
}

/* The program asks for events, gives the transfer to the kernel, and asks for events again. */
static bool program_begins(struct world *w)
{
	switch (w->begins) {
	case IDLE:
		if (is_pending(w) || w->transfer.busy || w->transfer.has_data || w->transfer.rests)
			return false;
		w->begins = ASKED;
		return true;
	case ASKED:
		w->live = w->configuration;
		w->begins = GIVEN;
		return true;
	case GIVEN:
		transfer_begin(&w->transfer, true, is_pending(w));
		w->begins = IDLE;
		return true;
	}
	return false;
}

static void deliver(struct world *w)
{
	if (!transfer_is_due(&w->transfer, is_pending(w)))
		return;
	/*
	 * Nobody can tell what the host sent within the few instructions of a beginning, or before
	 * a second configuration hid the first.
	 */
	assert_true(w->of == w->known || w->early);
	w->delivered = w->of == w->configuration;
	w->transfer.has_data = false;
}

static bool program_collects(struct world *w)
{
	if (w->begins != IDLE || !w->ended || !w->transfer.busy)
		return false;
	w->ended = false;
	transfer_end(&w->transfer, false, 64, w->result);
	deliver(w);
	return true;
}

static bool program_hears(struct world *w)
{
	if (w->begins != IDLE || !is_pending(w))
		return false;
	if (w->power) {
		w->power = false;
		if (!w->event)
			transfer_settle(&w->transfer);
		deliver(w);
		return true;
	}
	if (w->event == ENABLE) {
		w->known = w->configuration;
		transfer_configure(&w->transfer, true);
	} else {
		transfer_settle(&w->transfer);
	}
	w->event = NOTHING;
	deliver(w);
	return true;
}

static bool (*const acts[])(struct world *w) = {
	host_sends, host_configures, host_asks, host_suspends, program_begins, program_collects,
	program_hears,
};

/*
 * Nothing more comes from the host: all it has sent in this configuration is taken, and more would
 * be.
 */
static void check_rest(struct world w)
{
	const bool sent = w.ended && w.result >= 0 && w.of == w.configuration;
	const bool held = w.transfer.has_data && w.of == w.configuration;

	while (program_collects(&w) || program_hears(&w) || program_begins(&w))
		;
	assert_true(!(sent || held) || w.delivered);
	assert_true(w.live && w.transfer.busy);
	assert_int_equal(w.known, w.configuration);
}

static void walk(struct world w, int depth)
{
	check_rest(w);
	for (size_t i = 0; depth && i < sizeof(acts) / sizeof(*acts); i++) {
		struct world then = w;

		if (acts[i](&then))
			walk(then, depth - 1);
	}
}

static void all_orders(void **state)
{
	const struct world w = { .configuration = 1, .known = 1 };

	(void)state;
	walk(w, DEPTH);
}

static void failures(void **state)
{
	struct transfer t = { 0 };

	(void)state;
	/* given back while the configuration stays: it goes out again, but not for ever */
	for (int i = 0; i < 16; i++) {
		transfer_begin(&t, true, false);
		t.again = 0;
		transfer_end(&t, true, 128, -ECONNRESET);
		assert_true(!t.busy && !t.rests && t.again == 128);
	}
	transfer_begin(&t, true, false);
	transfer_end(&t, true, 128, -ECONNRESET);
	assert_true(t.rests);
	/* of an earlier configuration, nothing goes out again */
	transfer_configure(&t, true);
	assert_true(!t.rests && !t.again);
	transfer_begin(&t, true, true);
	transfer_configure(&t, true);
	transfer_end(&t, true, 128, -ESHUTDOWN);
	assert_true(!t.busy && !t.rests && !t.again && !t.has_data);
	/* refused, or its endpoint is gone: until the next configuration */
	transfer_begin(&t, false, false);
	assert_true(t.rests && !t.busy);
	transfer_configure(&t, true);
	transfer_begin(&t, true, false);
	transfer_end(&t, true, 128, -ESHUTDOWN);
	assert_true(t.rests && !t.again);
}

static void deconfigured(void **state)
{
	struct transfer t = { 0 };

	(void)state;
	transfer_begin(&t, true, true);
	transfer_end(&t, false, 64, 7);
	assert_true(t.has_data && !transfer_is_due(&t, true) && transfer_is_due(&t, false));
	transfer_configure(&t, false);
	assert_false(t.has_data);
	/* ... but a configuration has the data that came in it, whatever happens next */
	transfer_begin(&t, true, true);
	transfer_end(&t, false, 64, 7);
	transfer_configure(&t, true);
	assert_true(transfer_is_due(&t, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_orders),
		cmocka_unit_test(failures),
		cmocka_unit_test(deconfigured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
