// SPDX-License-Identifier: LGPL-2.1-or-later
/* Runs tests: finds out what the machine is, limits the time of each test, collects results. */
#include <errno.h>
#include <linux/unaligned.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "local.h"
#include "requirements.h"
#include "tests.h"

/* limit of a test; a real machine deals a few boards in it */
#define TEST_MS		120000
#define EVIDENCE_MAX	400
/* until the module has noticed that a machine was unplugged */
#define GONE_MS		3000
/* for bringing the machine to rest at the end */
#define LEAVE_MS	10000

const struct test_row *const test_tables[] = {
	descriptor_tests, query_tests, command_tests, plan_tests, event_tests, dealing_tests,
	stop_tests, bus_tests, gate_tests, frame_tests, attest_tests, hostile_tests, module_tests,
	endurance_tests, NULL,
};

static const char *const result_names[] = {
	[RESULT_NONE] = "not run", [RESULT_OK] = "ok", [RESULT_WARN] = "warn",
	[RESULT_FAIL] = "fail", [RESULT_UNSUPPORTED] = "not supported",
	[RESULT_NOT_RUN] = "not run",
};

const char *result_name(enum result result)
{
	return result_names[result];
}

static volatile sig_atomic_t interrupted;

void run_interrupt(void)
{
	interrupted = 1;
}

bool run_interrupted(void)
{
	return interrupted;
}

/* --- findings of a test ----------------------------------------------------------------------- */

void note(struct run *r, const char *format, ...)
{
	struct json_object *line;
	char text[400];
	va_list args;

	if (!r->evidence || json_object_array_length(r->evidence) >= EVIDENCE_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	line = json_object_new_object();
	json_object_object_add(line, "us", json_object_new_int64((int64_t)(now_us() - r->began)));
	json_object_object_add(line, "what", json_object_new_string(text));
	json_object_array_add(r->evidence, line);
}

/* Add a string to an array, once. */
static void add_once(struct json_object *array, const char *text)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(array, i)), text))
			return;
	json_object_array_add(array, json_object_new_string(text));
}

static void find(struct run *r, enum result result, const char *requirement, const char *text)
{
	if (!r->row)
		return;
	note(r, "%s %s: %s", result == RESULT_FAIL ? "FAIL" : "WARN", requirement, text);
	/* the first failure is the reason */
	if (result == RESULT_FAIL) {
		if (r->result != RESULT_FAIL)
			snprintf(r->why, sizeof(r->why), "%s: %s", requirement, text);
		add_once(r->failed, requirement);
		r->result = RESULT_FAIL;
	} else if (r->result == RESULT_NONE) {
		snprintf(r->why, sizeof(r->why), "%s: %s", requirement, text);
		r->result = result;
	}
}

bool check(struct run *r, const char *requirement, bool holds, const char *format, ...)
{
	char text[300];
	va_list args;

	if (r->checked)
		add_once(r->checked, requirement);
	if (holds)
		return true;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	find(r, RESULT_FAIL, requirement, text);
	return false;
}

void warn_of(struct run *r, const char *requirement, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	find(r, RESULT_WARN, requirement, text);
}

bool check_time(struct run *r, const char *requirement, uint64_t us, uint64_t limit_us,
		const char *what)
{
	uint64_t unsure = (uint64_t)uncertainty_us();

	if (us > limit_us && us - limit_us <= unsure) {
		warn_of(r, requirement,
			"%s took %.1f ms, and the limit is %.1f ms; "
			"the measurement is uncertain by %.1f ms",
			what, us / 1e3, limit_us / 1e3, unsure / 1e3);
		return true;
	}
	return check(r, requirement, us <= limit_us,
		     "%s took %.1f ms, and the limit is %.1f ms (uncertain by %.1f ms)", what,
		     us / 1e3, limit_us / 1e3, unsure / 1e3);
}

void times_add(struct run *r, const char *name, double ms)
{
	struct json_object *measurements, *times, *array;

	if (!json_object_object_get_ex(r->report, "measurements", &measurements) ||
	    !json_object_object_get_ex(measurements, "times", &times) ||
	    !json_object_object_get_ex(times, name, &array) ||
	    json_object_array_length(array) >= 10000)
		return;
	json_object_array_add(array, json_object_new_double(ms));
}

noreturn void end_test(struct run *r)
{
	siglongjmp(r->end, 1);
}

static void end_as(struct run *r, enum result result, const char *format, va_list args)
{
	/* A failure stays one. */
	if (r->result != RESULT_FAIL) {
		vsnprintf(r->why, sizeof(r->why), format, args);
		r->result = result;
	}
}

noreturn void not_run(struct run *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	end_as(r, RESULT_NOT_RUN, format, args);
	va_end(args);
	end_test(r);
}

noreturn void not_supported(struct run *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	end_as(r, RESULT_UNSUPPORTED, format, args);
	va_end(args);
	end_test(r);
}

void test_alive(struct run *r)
{
	if (interrupted && !r->leaving)
		not_run(r, "the run was interrupted");
	if (now_us() > r->deadline) {
		check(r, "R-5.1-1", false, "the test has not ended within %d s", TEST_MS / 1000);
		end_test(r);
	}
}

static void observed_fault(void *context, const char *requirement, const char *text)
{
	check(context, requirement, false, "%s", text);
}

/* --- what the machine is ---------------------------------------------------------------------- */

static int standard(struct run *r, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
		    void *data, uint16_t length)
{
	const uint8_t setup[8] = { type, request, value & 0xff, (uint8_t)(value >> 8), index & 0xff,
				   (uint8_t)(index >> 8), length & 0xff, (uint8_t)(length >> 8) };

	return r->access->ops->control(r->access, setup, data, 2000);
}

static void read_string(struct run *r, uint8_t index, char *text, size_t size)
{
	uint8_t data[255];
	int ret = index ? standard(r, 0x80, 6, (uint16_t)(0x300 | index), 0x409, data, 255) : 0, i;

	*text = '\0';
	for (i = 2; i + 1 < ret && (size_t)(i / 2) < size; i += 2) {
		text[i / 2 - 1] = data[i + 1] || data[i] < ' ' || data[i] > '~' ?
				  '?' : (char)data[i];
		text[i / 2] = '\0';
	}
}

/* Find interface, endpoints and machine descriptor. Returns false if there is no machine. */
static bool parse_config(struct run *r)
{
	bool inside = false;
	size_t at = 0;

	memset(&r->pipes, 0, sizeof(r->pipes));
	r->described = false;
	r->configuration = r->config[5];
	for (; at + 2 <= r->config_length && r->config[at] >= 2 &&
	     at + r->config[at] <= r->config_length; at += r->config[at]) {
		const uint8_t *d = r->config + at;

		if (d[1] == 4 && d[0] >= 9) {
			inside = !d[3] && d[5] == WIRE_CLASS && d[6] == WIRE_SUBCLASS &&
				(d[7] == WIRE_PROTOCOL || d[7] == FRAME_PROTOCOL) && !r->pipes.in;
			if (inside) {
				r->access->interface = d[2];
				r->serial = d[7] == FRAME_PROTOCOL;
			}
		} else if (inside && d[1] == 5 && d[0] >= 7) {
			uint16_t size = get_unaligned_le16(d + 4) & 0x7ff;
			bool bulk = (d[3] & 3) == 2;

			if (bulk && !(d[2] & 0x80)) {
				r->pipes.out = d[2];
				r->pipes.out_size = size;
			} else if (d[2] & 0x80) {
				r->pipes.in = d[2];
				r->pipes.in_size = size;
			} else {
				r->pipes.gate = d[2];
				r->pipes.gate_size = size;
			}
		} else if (inside && d[1] == WIRE_DESC_TYPE && !r->described) {
			r->described = true;
			r->descriptor_length = d[0] < sizeof(r->descriptor) ?
					       d[0] : sizeof(r->descriptor);
			memcpy(r->descriptor, d, r->descriptor_length);
		}
	}
	return r->pipes.in && r->pipes.out;
}

/* Ask for the machine descriptor, in frames if it is not given on endpoint 0. */
static void ask_descriptor(struct run *r)
{
	uint8_t data[DATA_MAX];
	int ret = standard(r, WIRE_REQ_IN, WIRE_DESCRIBE, 0, r->access->interface, data,
			   WIRE_DESC_SIZE);

	if (ret < 0 && r->serial)
		ret = query(r, WIRE_DESCRIBE, 0, data, WIRE_DESC_SIZE);
	if (ret > 0) {
		r->descriptor_length = (size_t)ret;
		memcpy(r->descriptor, data, (size_t)ret);
	}
}

/* Understand the machine descriptor, which may be longer than what was read of it (R-1.1-2). */
static bool read_descriptor(struct run *r)
{
	uint8_t first[WIRE_DESC_SIZE];

	if (r->descriptor_length < sizeof(first)) {
		memset(&r->desc, 0, sizeof(r->desc));
		return false;
	}
	memcpy(first, r->descriptor, sizeof(first));
	if (first[0] > sizeof(first))
		first[0] = sizeof(first);
	return !dealbox_read_descriptor(first, sizeof(first), &r->desc);
}

/*
 * The module has configured the machine, and others may have used it: what is true now is the
 * beginning. Returns false if the machine does not answer.
 */
static bool connect_local(struct run *r, char *error, size_t size)
{
	struct observer *o = &r->observer;
	uint8_t data[DATA_MAX] = { 0 };
	struct wire_status s;
	int ret;

	r->serial = local_describe(r->access->local, &r->desc, r->serial_number, r->product,
				   sizeof(r->product), &ret);
	r->misdescribed = false;
	if (ret < 0 || local_query(r->access->local, WIRE_GET_STATUS, 0, data) < 0 ||
	    !dealbox_decode_status(data, &s)) {
		snprintf(error, size, "%s: the machine does not answer", r->address);
		return false;
	}
	*o = (struct observer){
		.desc = r->desc, .fault = o->fault, .context = o->context, .configured = true,
		.next = s.next_event, .board = s.flags & DEALBOX_STATUS_BOARD,
		.at_power_on = s.flags & DEALBOX_STATUS_IN_DOUBT,
		.cover_open = s.flags & DEALBOX_STATUS_COVER_OPEN,
		.hopper = s.flags & DEALBOX_STATUS_HOPPER, .spent = s.flags & DEALBOX_STATUS_SPENT,
		.insertion = s.insertion, .board_number = s.board, .used = { s.insertion },
		.used_count = 1, .state = s.state, .fault_type = s.fault, .plan_number = s.plan_id,
		.loaded = s.plan_id, .total = s.cards_total, .position = s.cards_done,
		.done = s.cards_done, .running = s.state >= DEALBOX_STATE_DEALING &&
			s.state <= DEALBOX_STATE_HELD,
	};
	o->started = o->running;
	memcpy(o->counts, s.counts, sizeof(o->counts));
	memset(o->gate, DEALBOX_NONE, sizeof(o->gate));
	r->event_judged = r->event_seen = r->event_first = r->event_count = 0;
	return true;
}

/*
 * Open the machine and configure it, as the host's USB core does. Returns false if there is none.
 */
static bool connect_machine(struct run *r, uint8_t reason, char *error, size_t size)
{
	int ret;

	r->gone = r->unconfigured = false;
	r->access = access_open(r->address, error, size);
	if (!r->access)
		return false;
	if (r->access->local)
		return connect_local(r, error, size);
	if (standard(r, 0x80, 6, 0x100, 0, r->device, sizeof(r->device)) != sizeof(r->device)) {
		snprintf(error, size, "%s: there is no device descriptor", r->address);
		return false;
	}
	ret = standard(r, 0x80, 6, 0x200, 0, r->config, sizeof(r->config));
	r->config_length = ret > 0 ? (size_t)ret : 0;
	if (!parse_config(r)) {
		snprintf(error, size,
			 "%s: no interface ff/44/01 or ff/44/02 with its endpoints: "
			 "this is no machine",
			 r->address);
		return false;
	}
	read_string(r, r->device[16], r->serial_number, sizeof(r->serial_number));
	read_string(r, r->device[15], r->product, sizeof(r->product));
	memset(&r->frames, 0, sizeof(r->frames));
	r->observer.next = 1;
	r->observer.have_clock = false;
	/* After a power-on the kernel may have had the first STATE_LOST (R-1.2-2). */
	if (reason == DEALBOX_LOST_POWER_ON && r->access->host_configures)
		reason = 0;
	observer_configured(&r->observer, reason);
	r->event_judged = r->event_seen = r->event_first = r->event_count = 0;
	r->deferring = false;
	if (standard(r, 0x00, 9, r->configuration, 0, NULL, 0) < 0) {
		snprintf(error, size, "%s: the machine cannot be configured", r->address);
		return false;
	}
	if (sigsetjmp(r->end, 0)) {
		snprintf(error, size, "%s: the machine does not answer: %.200s", r->address,
			 r->why);
		return false;
	}
	r->deadline = now_us() + TEST_MS * 1000ULL;
	if (!r->described)
		ask_descriptor(r);
	r->misdescribed = !read_descriptor(r);
	if (r->misdescribed)
		return true;
	r->observer.desc = r->desc;
	status(r);
	/* Another host may have used this number last. */
	r->sequence = get_result(r).sequence + 0x10000;
	return true;
}

static void disconnect_machine(struct run *r)
{
	if (r->access)
		r->access->ops->close(r->access);
	r->access = NULL;
}

bool reconnect(struct run *r, uint8_t reason)
{
	char error[500] = "";
	sigjmp_buf end;
	bool good;

	/* The module gives the first events of a machine that comes back to nobody. */
	if (r->access->local) {
		r->gone = true;
		not_supported(r, "by local:, a machine that comes back is a new one; "
				 "test it by usb: for that");
	}
	memcpy(&end, &r->end, sizeof(end));
	disconnect_machine(r);
	good = connect_machine(r, reason, error, sizeof(error));
	memcpy(&r->end, &end, sizeof(end));
	r->event_seen = r->event_count;
	if (!good) {
		disconnect_machine(r);
		snprintf(r->why, sizeof(r->why), "%.390s", error);
	}
	return good;
}

/* --- the report ------------------------------------------------------------------------------- */

static void add_text(struct json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

static void add_now(struct json_object *to, const char *key)
{
	char text[32];
	time_t now = time(NULL);
	struct tm utc;

	strftime(text, sizeof(text), "%FT%TZ", gmtime_r(&now, &utc));
	add_text(to, key, text);
}

static struct json_object *add_object(struct json_object *to, const char *key,
				      struct json_object *what)
{
	json_object_object_add(to, key, what);
	return what;
}

static void report_begin(struct run *r)
{
	struct json_object *measurements, *times;

	r->report = json_object_new_object();
	json_object_object_add(r->report, "dealbox-compliance", json_object_new_int(1));
	add_text(r->report, "version", COMPLIANCE_VERSION);
	add_now(r->report, "started");
	r->tests = json_object_new_array();
	measurements = add_object(r->report, "measurements", json_object_new_object());
	json_object_object_add(measurements, "readings", json_object_new_array());
	json_object_object_add(measurements, "gates", json_object_new_array());
	times = add_object(measurements, "times", json_object_new_object());
	json_object_object_add(times, "control_ms", json_object_new_array());
	json_object_object_add(times, "card_ms", json_object_new_array());
	json_object_object_add(times, "board_ms", json_object_new_array());
}

static void report_machine(struct run *r)
{
	struct json_object *machine = json_object_new_object();
	char text[2 * sizeof(r->descriptor) + 1];
	uint8_t info[DATA_MAX] = { 0 };
	uint32_t firmware;
	size_t i;

	if (!sigsetjmp(r->end, 0))
		query(r, WIRE_GET_INFO, 0, info, WIRE_INFO_SIZE);
	add_text(machine, "address", r->address);
	add_text(machine, "serial", r->serial_number);
	add_text(machine, "product", r->product);
	firmware = get_unaligned_le32(info + 4);
	snprintf(text, sizeof(text), "%u.%u.%u", firmware >> 24, firmware >> 16 & 255,
		 firmware & 0xffff);
	add_text(machine, "firmware", text);
	add_text(machine, "dialect", r->serial ? "serial" : "native");
	snprintf(text, sizeof(text), "%u.%u", r->desc.version >> 8, r->desc.version & 255);
	add_text(machine, "protocol", text);
	for (i = 0; i < r->descriptor_length; i++)
		sprintf(text + 2 * i, "%02x", r->descriptor[i]);
	text[2 * i] = '\0';
	add_text(machine, "descriptor", text);
	add_text(machine, "kind", ROUTED(r) ? "host-routed" : "stored plan");
	json_object_object_add(r->report, "machine", machine);
}

static void report_host(struct run *r)
{
	struct json_object *host = json_object_new_object();
	FILE *file = fopen("/sys/module/dealbox/version", "re");
	struct utsname uts;
	char module[64] = "";

	uname(&uts);
	add_text(host, "system", uts.nodename);
	add_text(host, "kernel", uts.release);
	if (file) {
		if (fgets(module, sizeof(module), file))
			module[strcspn(module, "\n")] = '\0';
		fclose(file);
	}
	add_text(host, "module", module);
	json_object_object_add(r->report, "host", host);
	add_text(r->report, "profile", r->profile ? r->profile : "");
}

static bool has_string(struct json_object *array, const char *text)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(array, i)), text))
			return true;
	return false;
}

/* The result of a requirement: of all tests that prove it, and of those that found it violated. */
static void report_requirement(struct run *r, const struct requirement *requirement,
			       struct json_object *to)
{
	struct json_object *row = json_object_new_object(), *tests = json_object_new_array();
	enum result best = RESULT_NONE;
	const char *why = "";
	char name[100];
	size_t i;

	for (i = 0; i < json_object_array_length(r->tests); i++) {
		struct json_object *test = json_object_array_get_idx(r->tests, i);
		const char *result, *of;
		enum result is;
		bool failed;

#define FIELD(key) json_object_object_get(test, key)
		failed = has_string(FIELD("failed"), requirement->number);
		if (!failed && !has_string(FIELD("requirements"), requirement->number))
			continue;
		result = json_object_get_string(FIELD("result"));
		of = json_object_get_string(FIELD("why"));
		snprintf(name, sizeof(name), "%s/%s", json_object_get_string(FIELD("group")),
			 json_object_get_string(FIELD("test")));
		json_object_array_add(tests, json_object_new_string(name));
		/*
		 * A test that failed for another requirement has not proven this one, and one that
		 * did not look at it found nothing that it concerns.
		 */
		is = failed ? RESULT_FAIL :
		     !strcmp(result, "ok") ?
		     (has_string(FIELD("checked"), requirement->number) ?
		      RESULT_OK : RESULT_UNSUPPORTED) :
		     !strcmp(result, "warn") ? RESULT_WARN :
		     !strcmp(result, "not supported") ? RESULT_UNSUPPORTED : RESULT_NOT_RUN;
#undef FIELD
		if (is == RESULT_FAIL && best != RESULT_FAIL)
			why = of;
		if (is == RESULT_FAIL || (best != RESULT_FAIL &&
		    (best == RESULT_NONE || is == RESULT_WARN ||
		     (is == RESULT_OK && best != RESULT_WARN)))) {
			if (is != RESULT_FAIL)
				why = is == RESULT_OK ? "" : of;
			best = is;
		}
	}
	add_text(row, "requirement", requirement->number);
	add_text(row, "result", requirement->why_not && best != RESULT_FAIL ? "not testable" :
		 result_name(best));
	json_object_object_add(row, "tests", tests);
	add_text(row, "why",
		 requirement->why_not && best != RESULT_FAIL ? requirement->why_not : why);
	json_object_array_add(to, row);
}

static void report_end(struct run *r)
{
	struct json_object *list = json_object_new_array();
	const struct requirement *requirement;

	add_now(r->report, "ended");
	json_object_object_add(r->report, "complete", json_object_new_boolean(!interrupted));
	json_object_object_add(r->report, "tests", r->tests);
	for (requirement = requirements; requirement->number; requirement++)
		report_requirement(r, requirement, list);
	json_object_object_add(r->report, "requirements", list);
}

/* --- one test --------------------------------------------------------------------------------- */

static struct json_object *words(const char *text)
{
	struct json_object *array = json_object_new_array();
	char copy[1000], *state = NULL, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state))
		json_object_array_add(array, json_object_new_string(word));
	return array;
}

/* The machine may be gone, and have no access. */
static bool by_module(const struct run *r)
{
	return !strncmp(r->address, "local:", 6);
}

/* Return why a test is not for this machine, or NULL. */
static const char *unsuitable(const struct run *r, const struct test_row *row)
{
	if (row->needs & NEED_MODULE && !by_module(r))
		return "this is a test of the module: use a local: address";
	if (row->needs & NEED_RAW && by_module(r))
		return "local: gives no raw access to the machine; test it by usb: for that";
	if (row->needs & NEED_NATIVE && r->serial)
		return "the machine speaks the serial dialect";
	if (row->needs & NEED_SERIAL && !r->serial)
		return "the machine does not speak the serial dialect";
	if (row->needs & NEED_READER && r->desc.reader == DEALBOX_READER_NONE)
		return "the machine has no reader";
	if ((r->desc.capabilities & row->capabilities) != row->capabilities)
		return "the machine has not the capability";
	return NULL;
}

static const char *unprepared(const struct run *r, const struct test_row *row)
{
	if (r->misdescribed && strcmp(row->group, "descriptors"))
		return "the machine descriptor cannot be understood";
	if (row->needs & NEED_HANDS && !has_hands(r))
		return "a person or a fixture is needed";
	if (row->needs & NEED_FAULTS && !has_faults(r))
		return "a fixture is needed that makes faults";
	return NULL;
}

static void test_body(struct run *r, const struct test_row *row)
{
	char error[500];

	if (sigsetjmp(r->end, 0))
		return;
	if (interrupted)
		not_run(r, "the run was interrupted");
	if (unprepared(r, row))
		not_run(r, "%s", unprepared(r, row));
	if (unsuitable(r, row))
		not_supported(r, "%s", unsuitable(r, row));
	if (!r->access || r->gone) {
		if (r->access && r->access->local)
			local_await_gone(r->access->local, GONE_MS);
		disconnect_machine(r);
		/* this call has a jump of its own */
		if (!connect_machine(r, 0, error, sizeof(error))) {
			disconnect_machine(r);
			snprintf(r->why, sizeof(r->why), "%.390s", error);
			r->result = RESULT_NOT_RUN;
			return;
		}
		if (sigsetjmp(r->end, 0))
			return;
	}
	if (r->access->local)
		local_claim(r->access->local);
	r->deadline = now_us() + TEST_MS * 1000ULL;
	/* the last test may have ended before it could, as when nobody does a step */
	if (r->unconfigured)
		configure(r, DEALBOX_LOST_RESET);
	row->run(r);
}

static void tap_line(const struct run *r, unsigned int number)
{
	const char *bad = r->result == RESULT_FAIL ? "not ok" : "ok";
	const char *skip = r->result == RESULT_UNSUPPORTED || r->result == RESULT_NOT_RUN ?
		" # SKIP " : r->result == RESULT_WARN ? " # WARN " : "";

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	printf("%s %u - %s/%s%s%s\n", bad, number, r->row->group, r->row->name, skip,
	       *skip ? r->why : "");
	if (r->result == RESULT_FAIL)
		printf("#   %s\n", r->why);
	fflush(stdout);
}

static void run_test(struct run *r, const struct test_row *row, unsigned int number,
		     unsigned int planned)
{
	struct json_object *test = json_object_new_object();

	r->row = row;
	r->result = RESULT_NONE;
	r->why[0] = '\0';
	r->began = now_us();
	r->deadline = r->began + TEST_MS * 1000ULL;
	r->failed = json_object_new_array();
	r->evidence = json_object_new_array();
	r->checked = json_object_new_array();
	r->route = false;
	r->event_judged = r->event_seen = r->event_first = r->event_count;
	r->deferring = false;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%u/%u %s/%s", number, planned, row->group, row->name);
	test_body(r, row);
	if (r->result == RESULT_NONE)
		r->result = RESULT_OK;
	if (interrupted && r->result == RESULT_OK)
		r->result = RESULT_NOT_RUN;
	r->counts[r->result]++;
	add_text(test, "group", row->group);
	add_text(test, "test", row->name);
	add_text(test, "result", result_name(r->result));
	json_object_object_add(test, "requirements", words(row->requirements));
	json_object_object_add(test, "checked", r->checked);
	json_object_object_add(test, "failed", r->failed);
	add_text(test, "why", r->why);
	json_object_object_add(test, "seconds",
			       json_object_new_double((double)(now_us() - r->began) / 1e6));
	json_object_object_add(test, "evidence", r->evidence);
	json_object_array_add(r->tests, test);
	tap_line(r, number);
	r->row = NULL;
	r->evidence = r->checked = r->failed = NULL;
}

/* Leave no deal behind. A person who interrupted the run is asked for nothing. */
static void leave_machine(struct run *r)
{
	r->leaving = true;
	r->deadline = now_us() + LEAVE_MS * 1000ULL;
	if (sigsetjmp(r->end, 0) || !r->access || r->gone || r->misdescribed)
		return;
	if (r->unconfigured)
		configure(r, DEALBOX_LOST_RESET);
	if (!interrupted || r->hands.fixture)
		settle(r);
	else if (DEALBOX_STATE_DEALING <= status(r).state &&
		 r->observer.state <= DEALBOX_STATE_HELD)
		command(r, DEALBOX_OP_ABORT, 0, 0, 0, NULL);
}

bool run_tests(struct run *r, bool (*chosen)(const struct test_row *row))
{
	const struct test_row *const *table, *row;
	unsigned int planned = 0, number = 0;
	char error[500] = "";

	r->observer.fault = observed_fault;
	r->observer.context = r;
	r->began = now_us();
	if (!clock_watch()) {
		fputs("dealbox-compliance: no thread can be started\n", stderr);
		return false;
	}
	report_begin(r);
	if (!hands_begin(r, error, sizeof(error)) || !connect_machine(r, 0, error, sizeof(error))) {
		fprintf(stderr, "dealbox-compliance: %s\n", error);
		disconnect_machine(r);
		hands_end(r);
		return false;
	}
	report_machine(r);
	report_host(r);
	for (table = test_tables; *table; table++)
		for (row = *table; row->name; row++)
			planned += chosen(row);
	puts("TAP version 13");
	printf("1..%u\n", planned);
	fflush(stdout);
	for (table = test_tables; *table; table++)
		for (row = *table; row->name; row++)
			if (chosen(row))
				run_test(r, row, ++number, planned);
	leave_machine(r);
	report_end(r);
	disconnect_machine(r);
	free(r->events);
	hands_end(r);
	printf("# %u tests: %u ok, %u failed, %u warnings, %u not supported, %u not run\n", number,
	       r->counts[RESULT_OK], r->counts[RESULT_FAIL], r->counts[RESULT_WARN],
	       r->counts[RESULT_UNSUPPORTED], r->counts[RESULT_NOT_RUN]);
	return true;
}
