// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit.h"

#include <string.h>

#include <dealbox/event.h>

static void names(void **state)
{
	(void)state;
	assert_string_equal(dealbox_event_name(DEALBOX_EV_BOARD_INSERTED), "board inserted");
	assert_string_equal(dealbox_event_name(DEALBOX_EV_PROTOCOL_ERROR), "protocol error");
	assert_string_equal(dealbox_event_name(0), "unknown event");
	assert_string_equal(dealbox_event_name(0x30), "unknown event");
	assert_string_equal(dealbox_event_name(UINT32_MAX), "unknown event");
}

/* The classes of docs/protocol.md, section 4, also of types that do not exist yet. */
static void classes(void **state)
{
	uint32_t type;

	(void)state;
	for (type = 0; type < 0x200; type++) {
		enum dealbox_event_class expected =
			!type ? DEALBOX_EVENT_UNKNOWN :
			type <= 0x10 ? DEALBOX_EVENT_MACHINE :
			type <= 0x1f ? DEALBOX_EVENT_DEAL :
			type <= 0x27 ? DEALBOX_EVENT_HELD :
			type <= 0x3f ? DEALBOX_EVENT_VOID :
			type <= 0xff ? DEALBOX_EVENT_UNKNOWN : DEALBOX_EVENT_DRIVER;

		assert_int_equal(dealbox_event_classify(type), expected);
		assert_int_equal(dealbox_event_stops(type), type >= 0x20 && type <= 0x3f);
	}
	assert_int_equal(dealbox_event_classify(UINT32_MAX), DEALBOX_EVENT_DRIVER);
	assert_false(dealbox_event_stops(UINT32_MAX));
}

/* A reader's code reveals a card, and the code of an unknown type might. */
static void codes_that_may_be_shown(void **state)
{
	static const uint32_t open[] = {
		DEALBOX_EV_STATE_LOST, DEALBOX_EV_KEY, DEALBOX_EV_PLAN_LOADED,
		DEALBOX_EV_DEAL_STARTED, DEALBOX_EV_DEAL_DONE, DEALBOX_EV_PAUSED,
		DEALBOX_EV_ABORTED, DEALBOX_EV_FAULT_CLEARED, DEALBOX_EV_ATTESTED, DEALBOX_EV_JAM,
		DEALBOX_EV_HARDWARE, DEALBOX_EV_PROTOCOL_ERROR,
	};
	uint32_t type;
	size_t n;

	(void)state;
	for (type = 0; type < 0x200; type++) {
		bool listed = false;

		for (n = 0; n < sizeof(open) / sizeof(*open); n++)
			listed |= open[n] == type;
		assert_int_equal(dealbox_event_code_open(type), listed);
		if (listed)
			assert_string_not_equal(dealbox_event_name(type), "unknown event");
	}
	assert_false(dealbox_event_code_open(UINT32_MAX));
}

static void what_stopped_a_deal(void **state)
{
	static const struct {
		struct dealbox_event event;
		const char *text;
	} events[] = {
		{ { .type = DEALBOX_EV_JAM, .code = 1 }, "in the feeder" },
		{ { .type = DEALBOX_EV_JAM, .code = 4 }, "at a pocket" },
		{ { .type = DEALBOX_EV_JAM, .code = 0 }, "code 0" },
		{ { .type = DEALBOX_EV_JAM, .code = 5 }, "code 5" },
		{ { .type = DEALBOX_EV_HARDWARE, .code = 4000000000 }, "code 4000000000" },
		/* a code that reveals a card */
		{ { .type = DEALBOX_EV_REPEATED_CARD, .code = 17 }, "" },
	};
	char text[32];
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(events) / sizeof(*events); n++) {
		assert_int_equal(dealbox_event_detail(&events[n].event, text, sizeof(text)),
				 strlen(events[n].text));
		assert_string_equal(text, events[n].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(classes),
		cmocka_unit_test(codes_that_may_be_shown),
		cmocka_unit_test(what_stopped_a_deal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
