/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run of the tests: the machine under test, the test that runs, and what was found. Tests are
 * rows of a table; a test calls check() for each thing that a requirement demands, and ends by
 * returning, or at any place by one of the functions that do not return.
 */
#ifndef COMPLIANCE_RUN_H
#define COMPLIANCE_RUN_H

#include <json-c/json.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdnoreturn.h>

#include "access.h"
#include "frame.h"
#include "observer.h"

#define DATA_MAX	256	/* longer than each answer of the protocol */

/* --- tests -------------------------------------------------------------------------------- */

/* Requirements of a test, besides a machine */
#define NEED_NATIVE	(1u << 0)	/* docs/protocol.md on the wire */
#define NEED_SERIAL	(1u << 1)	/* docs/protocol-serial.md on the wire */
#define NEED_HANDS	(1u << 2)	/* a person or a fixture */
#define NEED_BOARD	(1u << 3)	/* a board to deal into, and cards in the hopper */
#define NEED_FAULTS	(1u << 4)	/* a fixture that makes faults: the emulator's */
#define NEED_READER	(1u << 5)
#define NEED_RAW	(1u << 6)	/* raw access, which local: does not give */
#define NEED_MODULE	(1u << 7)	/* the machine is reached by the module, local: */

struct fixture;
struct run;
struct sprt;

struct test_row {
	const char *group, *name;
	const char *requirements;	/* that it proves, separated by spaces */
	const char *what;		/* for --list */
	unsigned int needs;
	uint32_t capabilities;		/* of the machine, all of them */
	void (*run)(struct run *r);
};

/* The tables, each ended by a row without a name */
extern const struct test_row descriptor_tests[], query_tests[], command_tests[], plan_tests[],
	event_tests[], dealing_tests[], stop_tests[], bus_tests[], gate_tests[], frame_tests[],
	attest_tests[], hostile_tests[], module_tests[], endurance_tests[];
extern const struct test_row *const test_tables[];	/* ended by NULL */

/* --- what a test calls ------------------------------------------------------------------------ */

/*
 * Count a check of a requirement, "R-2.1-1". If it does not hold, the test and the requirement
 * fail, with the text as reason. Returns holds.
 */
bool check(struct run *r, const char *requirement, bool holds, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A measured time against a limit, in us. Beyond the limit within the uncertainty is a warning. */
bool check_time(struct run *r, const char *requirement, uint64_t us, uint64_t limit_us,
		const char *what);
void warn_of(struct run *r, const char *requirement, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Add a line to the evidence of the test. */
void note(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* End the test: it could not be run, with the reason. */
noreturn void not_run(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
noreturn void not_supported(struct run *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* End the test, after a check that failed: nothing further can be tested here. */
noreturn void end_test(struct run *r);

/* --- the machine under test ------------------------------------------------------------------- */

struct event {
	uint64_t us;		/* when it was fetched */
	uint8_t bytes[WIRE_EVENT_SIZE];
	struct wire_event e;
};

/* Endpoints as the descriptors name them; 0 = none */
struct pipes {
	uint8_t out, in, gate;
	uint16_t out_size, in_size, gate_size;
};

/* The person or fixture that moves boards, cards and cover */
struct hands {
	const char *control;	/* control socket of the emulator, or NULL */
	const char *program;	/* of --fixture, or NULL */
	const char *language;	/* in which a person is told what to do */
	bool unattended;	/* there is no person */
	struct fixture *fixture;	/* that is used, or NULL */
	bool faults;		/* the fixture can make faults */
	bool locked;		/* the last step was not done because a lock holds the board */
};

enum result { RESULT_NONE, RESULT_OK, RESULT_WARN, RESULT_FAIL, RESULT_UNSUPPORTED,
	      RESULT_NOT_RUN };

struct run {
	const char *address;
	struct access *access;
	struct hands hands;
	const char *profile;
	const struct sprt *endurance;	/* of the profile; NULL = it says nothing */

	/* of the machine's descriptors */
	uint8_t device[18], config[1024];
	size_t config_length;
	char serial_number[128], product[128];
	bool serial;		/* the serial dialect */
	bool described;		/* the machine descriptor is among those of USB */
	uint8_t descriptor[64];	/* the machine descriptor */
	size_t descriptor_length;
	struct wire_descriptor desc;
	bool misdescribed;	/* the machine descriptor cannot be understood, desc is zero */
	struct pipes pipes;
	uint8_t configuration;	/* bConfigurationValue */

	/* what it said */
	struct observer observer;
	struct event *events;
	size_t event_count, event_judged, event_seen, event_room;
	size_t event_first;	/* of the test that runs */
	bool deferring;		/* a command is under way: events are judged behind it */
	struct frame_reader frames;
	bool full;		/* serial dialect: the last transfer ended with a full packet */
	uint8_t answer[FRAME_PAYLOAD_MAX];
	int answer_length;	/* serial dialect: -1 = none came yet */
	uint8_t tag;
	uint32_t sequence;
	struct wire_plan plan;	/* the plan that is loaded, or that the host routes by */
	bool route;		/* host-routed: answer each card by plan */

	/* the test that runs */
	const struct test_row *row;
	sigjmp_buf end;
	enum result result;
	uint64_t began, deadline;
	struct json_object *json, *failed, *evidence, *checked;
	char why[400];
	bool gone;
	bool unconfigured;	/* SET_CONFIGURATION 0 was the last one */

	/* the whole run */
	bool leaving;		/* no test runs any more: the machine is brought to rest */
	struct json_object *report, *tests;
	unsigned int counts[RESULT_NOT_RUN + 1];
	double uncertainty_us;	/* of the last measured time */
};

#define HAS(r, capability)	((r)->desc.capabilities & DEALBOX_CAP_##capability)
#define ROUTED(r)		HAS(r, HOST_ROUTED)

/*
 * Any setup packet; data has DATA_MAX bytes or wLength. Returns the size of the answer or -errno.
 * The time is checked (R-2-3). A machine that is gone ends the test.
 */
int control(struct run *r, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
	    void *data, uint16_t length);
/*
 * A request in the machine's dialect, of any form. Returns the size of the answer, or -EPIPE for a
 * refusal.
 */
int query(struct run *r, uint8_t request, uint16_t value, void *data, uint16_t length);
int command_raw(struct run *r, uint8_t request, uint16_t value, const void *data, uint16_t length);

/* A command with the next sequence number. Returns the error code of GET_RESULT, 0 = accepted. */
uint8_t command(struct run *r, uint8_t request, uint32_t a, uint32_t b, uint32_t c,
		uint32_t *detail);
struct wire_result get_result(struct run *r);
bool is_same_result(const struct wire_result *a, const struct wire_result *b);
/* local: give the module a plan. Returns the error code. */
uint8_t load_local(struct run *r, const struct wire_plan *plan);
/* GET_STATUS, when all events that it tells were fetched, compared with them. */
struct wire_status status(struct run *r);
struct dealbox_counters counters(struct run *r);

/* Data for the plan: bulk OUT, or a frame PLAN. Returns as access_ops.out. */
int plan_out(struct run *r, const void *data, size_t length);
int gate_out(struct run *r, const void *data, size_t length);
/* Answer a CARD_READ by a pocket; or hold it with a reason. */
void gate(struct run *r, const struct wire_event *read, uint8_t pocket, uint8_t reason,
	  uint32_t first);
/* SET_CONFIGURATION; what follows STATE_LOST is fetched. reason: as observer_configured(). */
void configure(struct run *r, uint8_t reason);
/*
 * Open the machine anew, as after a power cut. Returns false if it is gone, with the reason in why.
 */
bool reconnect(struct run *r, uint8_t reason);
/* CLEAR_FEATURE(ENDPOINT_HALT) */
int clear_halt(struct run *r, uint8_t endpoint);

/* --- events ----------------------------------------------------------------------------------- */

/* Fetch what comes within ms; return the number of new events. */
unsigned int fetch(struct run *r, unsigned int ms);
/* The next event, within ms; NULL if none came. */
const struct event *next_event(struct run *r, unsigned int ms);
/*
 * The next event of this type, within ms; others before it are passed over. Without it, the
 * requirement fails and the test ends.
 */
const struct event *await(struct run *r, uint8_t type, unsigned int ms, const char *requirement);
/* The same, or NULL. */
const struct event *await_maybe(struct run *r, uint8_t type, unsigned int ms);
/* Any stop, DEAL_DONE or ABORTED. */
const struct event *await_end(struct run *r, unsigned int ms);
/* End the test if a deal by card stopped at a joker: that is no fault of the machine. */
void no_joker(struct run *r, const struct event *end);
/* No event may come within ms. */
void expect_quiet(struct run *r, const char *requirement, unsigned int ms, const char *after);

/* --- to bring a machine into a state ---------------------------------------------------------- */

/* Start or connect the fixture, if there is one. Returns false with the reason. */
bool hands_begin(struct run *r, char *error, size_t size);
void hands_end(struct run *r);
/* Returns true if somebody or something does steps. */
bool has_hands(const struct run *r);
/* Returns true if steps can also be faults, and hold cards: what only an emulator can do. */
bool has_faults(const struct run *r);
/* Do a step, "insert board"; returns false if it was not done. */
bool step(struct run *r, const char *words, ...) __attribute__((format(printf, 2, 3)));
/* Do a step, or end the test. */
void do_step(struct run *r, const char *words, ...) __attribute__((format(printf, 2, 3)));

/* The machine IDLE with an unspent board and cards, or the test ends. */
void ready(struct run *r);
/* Release the board, and take it out, or end the test. */
void take_out(struct run *r);
/* A board that was never dealt, in whatever state the machine is. */
void fresh_board(struct run *r);
/* Plans of the suite's own: card k into pocket k modulo bPockets, or position k. */
void plan_by_card(struct run *r, struct wire_plan *plan, unsigned int entries);
void plan_by_position(struct run *r, struct wire_plan *plan, unsigned int entries);
/* The plan of ready(): as many cards as the machine takes, twelve at most where positions count. */
void plan_default(struct run *r, struct wire_plan *plan);
/* LOAD, and the block. Returns the error code of PLAN_LOADED. Nothing on a host-routed machine. */
uint8_t load(struct run *r, const struct wire_plan *plan);
/* START of r->plan for the board that is in. Returns the error code. */
uint8_t start(struct run *r);
/* Bring the machine into a state, or end the test. Cards do not move on. */
void reach(struct run *r, uint8_t state);
/* Let cards move again, and end whatever is under way: the state is IDLE or DONE afterwards. */
void settle(struct run *r);

/* --- run.c ------------------------------------------------------------------------------------ */

/* Return a row's result as the report names it. */
const char *result_name(enum result result);
/* Run tests whose "group/name" is chosen; fills r->report. Returns false if the machine is none. */
bool run_tests(struct run *r, bool (*chosen)(const struct test_row *row));
/*
 * End the run with a report of what was done; the test that runs ends soon. Safe in a signal
 * handler.
 */
void run_interrupt(void);
bool run_interrupted(void);

#endif
