// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * core.c: the requests of the host, step by step, and its reactions to each
 * result. The results are made up here; tests/unit/conformance uses machines.
 */
#include <kunit/test.h>

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "core.h"

#define PLAN	5

struct host {
	struct dealbox_core core;	/* first member: the ops cast it */
	struct kunit *test;
	struct dealbox_call call;
	u8 data[WIRE_DATA_MAX], bytes[FRAME_MAX];
	int result;			/* result of the last step */
	unsigned int events, gates, noted, awaited, restarts;
	int gate_error, noted_error;
	u32 noted_number;
	struct dealbox_event event;
	struct wire_gate gate;
};

static int send_gate(struct dealbox_core *core, const struct wire_gate *gate)
{
	struct host *h = (struct host *)core;

	if (h->gate_error)
		return h->gate_error;
	h->gates++;
	h->gate = *gate;
	return 0;
}

static void note_gate(struct dealbox_core *core, const struct wire_gate *gate, int error)
{
	struct host *h = (struct host *)core;

	h->noted++;
	h->noted_number = gate->number;
	h->noted_error = error;
}

static void event(struct dealbox_core *core, const struct dealbox_event *event)
{
	struct host *h = (struct host *)core;

	h->events++;
	h->event = *event;
}

static void awaited(struct dealbox_core *core)
{
	((struct host *)core)->awaited++;
}

static void restart(struct dealbox_core *core)
{
	((struct host *)core)->restarts++;
}

static const struct dealbox_core_ops ops = {
	.send_gate = send_gate, .note_gate = note_gate, .event = event, .awaited = awaited,
};

/*
 * Static, since it is too large for a kernel stack. A test has one at a time.
 */
static struct host *host(struct kunit *test, u32 kind)
{
	static struct host host;

	host = (struct host) {
		.test = test,
		.core = {
			.ops = &ops, .dialect = &dealbox_native, .sequence = 100,
			.routed = kind == DEALBOX_CAP_HOST_ROUTED,
			.source.pockets = 4,
			.machine = {
				.reader = DEALBOX_READER_BARCODE, .version = WIRE_VERSION,
				.pockets = 4, .pocket_capacity = 13, .hopper = 60,
				.plan_entries = 54,
				.capabilities = kind | DEALBOX_CAP_BY_CARD |
						DEALBOX_CAP_BY_POSITION | DEALBOX_CAP_CAPTURE,
			},
		},
	};
	return &host;
}

static void fresh(struct host *h)
{
	memset(&h->call, 0, sizeof(h->call));
	h->call.data = h->data;
	h->call.bytes = h->bytes;
	h->result = 0;
	memset(h->data, 0, sizeof(h->data));
}

static enum dealbox_action next(struct host *h)
{
	return dealbox_call_next(&h->core, &h->call, h->result, 1000);
}

/*
 * Expect a request for length bytes as the next step; it succeeds by default.
 */
static void asks(struct host *h, u8 request, u16 value, u16 length)
{
	KUNIT_ASSERT_EQ(h->test, next(h), DEALBOX_CONTROL);
	KUNIT_ASSERT_EQ(h->test, h->call.type, WIRE_REQ_IN);
	KUNIT_ASSERT_EQ(h->test, h->call.request, request);
	KUNIT_ASSERT_EQ(h->test, h->call.value, value);
	KUNIT_ASSERT_EQ(h->test, h->call.length, length);
	KUNIT_ASSERT_EQ(h->test, h->call.ms, WIRE_CONTROL_HOST_MS);
	memset(h->data, 0, sizeof(h->data));
	h->result = length;
}

static void commands(struct host *h, u8 request, u32 sequence, u32 a, u32 b, u32 c)
{
	KUNIT_ASSERT_EQ(h->test, next(h), DEALBOX_CONTROL);
	KUNIT_ASSERT_EQ(h->test, h->call.type, WIRE_REQ_OUT);
	KUNIT_ASSERT_EQ(h->test, h->call.request, request);
	KUNIT_ASSERT_EQ(h->test, h->call.value, 0);
	KUNIT_ASSERT_EQ(h->test, h->call.length, WIRE_COMMAND_SIZE);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data), sequence);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data + 4), a);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data + 8), b);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data + 12), c);
	KUNIT_ASSERT_EQ(h->test, h->call.command, request);
	h->result = WIRE_COMMAND_SIZE;
}

static void ends(struct host *h, int error)
{
	static const struct wire_plan none;

	KUNIT_ASSERT_EQ(h->test, next(h), DEALBOX_DONE);
	KUNIT_ASSERT_EQ(h->test, h->call.error, error);
	/* The plan is wiped. */
	KUNIT_ASSERT_MEMEQ(h->test, &h->call.plan, &none, sizeof(none));
}

/* Answers to GET_RESULT and GET_STATUS */
static void result_is(struct host *h, u32 sequence, u8 request, u8 error, u32 detail)
{
	put_unaligned_le32(sequence, h->data);
	h->data[4] = request;
	h->data[5] = error;
	put_unaligned_le32(detail, h->data + 8);
}

static void status_is(struct host *h, u8 state)
{
	h->data[0] = state;
	put_unaligned_le32(77, h->data + 4);
	put_unaligned_le32(9, h->data + 8);
}

/* -- attestations ---------------------------------------------------------- */

static void attest_is_sent(struct host *h, const struct dealbox_attest *attest, u32 sequence)
{
	KUNIT_ASSERT_EQ(h->test, next(h), DEALBOX_CONTROL);
	KUNIT_ASSERT_EQ(h->test, h->call.type, WIRE_REQ_OUT);
	KUNIT_ASSERT_EQ(h->test, h->call.request, WIRE_ATTEST);
	KUNIT_ASSERT_EQ(h->test, h->call.length, 48);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data), sequence);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data + 4), 0);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data + 8), 9);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->data + 12), 0);
	KUNIT_ASSERT_MEMEQ(h->test, h->data + 16, attest->nonce, sizeof(attest->nonce));
	h->result = 48;
}

/* The nonce goes with each repetition, and does not stay behind. */
static void test_attest(struct kunit *test)
{
	static const u8 zeroes[48];
	struct dealbox_attest attest = { .insertion = 9, .nonce = { 1, 2, 3 } }, bad;
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_ATTEST, &attest);
	ends(h, -EOPNOTSUPP);

	h->core.machine.capabilities |= DEALBOX_CAP_ATTEST;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_ATTEST, &attest);
	attest_is_sent(h, &attest, 101);
	ends(h, 0);
	KUNIT_ASSERT_MEMEQ(test, h->data, zeroes, sizeof(zeroes));

	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_ATTEST, &attest);
	attest_is_sent(h, &attest, 102);
	h->result = -ETIMEDOUT;
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	attest_is_sent(h, &attest, 102);
	h->result = -EPIPE;
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	result_is(h, 102, WIRE_ATTEST, DEALBOX_ERR_WRONG_INSERTION, 8);
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, attest.result, DEALBOX_ERR_WRONG_INSERTION);
	KUNIT_ASSERT_EQ(test, attest.detail, 8);
	KUNIT_ASSERT_MEMEQ(test, h->data, zeroes, sizeof(zeroes));

	bad = attest;
	bad.insertion = 0;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_ATTEST, &bad);
	ends(h, -EINVAL);
	bad = attest;
	bad.reserved1 = 1;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_ATTEST, &bad);
	ends(h, -EINVAL);
	bad = attest;
	bad.reserved[3] = 1;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_ATTEST, &bad);
	ends(h, -EINVAL);
	bad = attest;
	memset(bad.nonce, 0, sizeof(bad.nonce));
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_ATTEST, &bad);
	ends(h, -EINVAL);
	KUNIT_ASSERT_EQ(test, h->core.sequence, 102);
}

static void test_attestation(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);
	struct dealbox_attestation out;

	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_ATTESTATION, &out);
	ends(h, -EOPNOTSUPP);

	h->core.machine.capabilities |= DEALBOX_CAP_ATTEST;
	memset(&out, 0xff, sizeof(out));
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_ATTESTATION, &out);
	asks(h, WIRE_GET_STATEMENT, 0, 96);
	h->data[0] = 'D';
	h->data[95] = 7;
	asks(h, WIRE_GET_SIGNATURE, 0, 64);
	h->data[0] = 8;
	h->data[63] = 9;
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, out.statement[0], 'D');
	KUNIT_ASSERT_EQ(test, out.statement[95], 7);
	KUNIT_ASSERT_EQ(test, out.signature[0], 8);
	KUNIT_ASSERT_EQ(test, out.signature[63], 9);
	KUNIT_ASSERT_EQ(test, out.reserved[0], 0);
	KUNIT_ASSERT_EQ(test, out.reserved[3], 0);

	/* There is none; or another host asked for the next one in between. */
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_ATTESTATION, &out);
	asks(h, WIRE_GET_STATEMENT, 0, 96);
	h->result = -EPIPE;
	ends(h, -ENODATA);
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_ATTESTATION, &out);
	asks(h, WIRE_GET_STATEMENT, 0, 96);
	h->data[0] = 'D';
	asks(h, WIRE_GET_SIGNATURE, 0, 64);
	h->result = -EPIPE;
	ends(h, -ENODATA);
	/* No statement stays without its signature. */
	KUNIT_ASSERT_TRUE(test, !memchr_inv(&out, 0, sizeof(out)));
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_ATTESTATION, &out);
	asks(h, WIRE_GET_STATEMENT, 0, 96);
	h->result = 64;
	ends(h, -EPROTO);
	/* Nor does it stay with half of one. */
	memset(&out, 0xff, sizeof(out));
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_ATTESTATION, &out);
	asks(h, WIRE_GET_STATEMENT, 0, 96);
	asks(h, WIRE_GET_SIGNATURE, 0, 64);
	h->result = 32;
	ends(h, -EPROTO);
	KUNIT_ASSERT_TRUE(test, !memchr_inv(&out, 0, sizeof(out)));
}

static void test_identity(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);
	struct dealbox_identity out;
	int i;

	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_IDENTITY, &out);
	ends(h, -EOPNOTSUPP);

	h->core.machine.capabilities |= DEALBOX_CAP_ATTEST;
	memset(&out, 0xff, sizeof(out));
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_IDENTITY, &out);
	asks(h, WIRE_GET_IDENTITY, 0, 48);
	for (i = 0; i < 48; i++)
		h->data[i] = i;
	h->data[0] = 0xff;
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, out.flags, DEALBOX_IDENTITY_EMULATED);
	KUNIT_ASSERT_EQ(test, out.counter, 0x07060504);
	KUNIT_ASSERT_EQ(test, out.key_id[0], 8);
	KUNIT_ASSERT_EQ(test, out.key_id[7], 15);
	KUNIT_ASSERT_EQ(test, out.public_key[0], 16);
	KUNIT_ASSERT_EQ(test, out.public_key[31], 47);
	KUNIT_ASSERT_EQ(test, out.reserved[0], 0);
	KUNIT_ASSERT_EQ(test, out.reserved[3], 0);

	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_IDENTITY, &out);
	asks(h, WIRE_GET_IDENTITY, 0, 48);
	h->result = -EPIPE;
	ends(h, -EPROTO);
}

/* -- queries --------------------------------------------------------------- */

static void greet_is_asked(struct host *h)
{
	fresh(h);
	dealbox_call_greet(&h->call);
	asks(h, WIRE_GET_INFO, 0, WIRE_INFO_SIZE);
	put_unaligned_le32(0x01020304, h->data + 4);
}

static void test_the_first_call(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	h->core.source.pockets = 0;
	greet_is_asked(h);
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	result_is(h, 42, 0, 0, 0);
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, h->core.sequence, 42);
	KUNIT_ASSERT_EQ(test, h->core.info.firmware, 0x01020304);
	KUNIT_ASSERT_EQ(test, h->core.source.pockets, 4);
	KUNIT_ASSERT_FALSE(test, h->core.routed);

	h = host(test, DEALBOX_CAP_HOST_ROUTED);
	h->core.routed = false;
	greet_is_asked(h);
	KUNIT_ASSERT_TRUE(test, h->core.routed);
	h->result = -EPIPE;
	ends(h, -EPROTO);
	KUNIT_ASSERT_EQ(test, h->core.info.firmware, 0);
	greet_is_asked(h);
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	result_is(h, 42, 0, 0, 0);
	h->result = -EPIPE;
	ends(h, -EPROTO);
	KUNIT_ASSERT_EQ(test, h->core.sequence, 100);
}

static const u8 descriptor[WIRE_DESC_SIZE] = {
	24, 0x24, 1, 1, 0x00, 0x01, 3, 13, 60, 0, 54, 0, 0x01, 0x0e, 0, 0,
};

static void test_a_machine_that_must_be_asked_what_it_is(struct kunit *test)
{
	struct dealbox_dialect dialect = dealbox_native;

	dialect.described = true;
	dialect.describe = 0x66;
	for (int bad = 0; bad < 3; bad++) {
		struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

		h->core.dialect = &dialect;
		memset(&h->core.machine, 0, sizeof(h->core.machine));
		fresh(h);
		dealbox_call_greet(&h->call);
		asks(h, 0x66, 0, WIRE_DESC_SIZE);
		memcpy(h->data, descriptor, sizeof(descriptor));
		if (bad == 1)
			h->data[0] = 0;
		if (bad == 2)
			h->result = -EPIPE;
		if (bad) {
			ends(h, -EPROTO);
			continue;
		}
		asks(h, WIRE_GET_INFO, 0, WIRE_INFO_SIZE);
		KUNIT_ASSERT_EQ(test, h->core.machine.plan_entries, 54);
		KUNIT_ASSERT_EQ(test, h->core.source.pockets, 3);
	}
}

static void test_a_known_machine_is_not_asked_what_it_is(struct kunit *test)
{
	struct dealbox_dialect dialect = dealbox_native;
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	dialect.described = true;
	dialect.describe = 0x66;
	h->core.dialect = &dialect;
	greet_is_asked(h);
	h->core.machine.pockets = 0;
	h->core.dialect = &dealbox_native;
	greet_is_asked(h);
}

static void test_a_descriptor_by_request(struct kunit *test)
{
	static const struct { int result, error; u8 size; } rows[] = {
		{ WIRE_DESC_SIZE, 0 }, { WIRE_DESC_SIZE - 1, -EPROTO },
		{ 0, -EPROTO }, { -EPIPE, -EPROTO }, { -ENODEV, -ENODEV },
		/* The beginning of a longer one, of a later minor version. */
		{ WIRE_DESC_SIZE, 0, WIRE_DESC_SIZE + 4 },
		{ WIRE_DESC_SIZE, 0, U8_MAX },
		{ WIRE_DESC_SIZE, -EPROTO, WIRE_DESC_SIZE - 1 },
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

		memset(&h->core.machine, 0, sizeof(h->core.machine));
		fresh(h);
		h->call.request = 9;
		h->call.value = 9;
		dealbox_call_describe(&h->call);
		asks(h, WIRE_DESCRIBE, 0, WIRE_DESC_SIZE);
		memcpy(h->data, descriptor, sizeof(descriptor));
		if (rows[n].size)
			h->data[0] = rows[n].size;
		h->result = rows[n].result;
		ends(h, rows[n].error);
		KUNIT_ASSERT_EQ(test, h->core.machine.plan_entries,
				rows[n].error ? 0 : 54);
	}
}

/* An answer to a previous host is ignored. */
static void test_each_host_has_its_tags(struct kunit *test)
{
	static const u64 times[] = { 0, 0xfffff, 0x100000, 0x7700000, 0xffffffffff };
	static const u8 tags[] = { 0, 0, 1, 0x77, 0xff };
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	for (size_t n = 0; n < ARRAY_SIZE(times); n++) {
		fresh(h);
		dealbox_call_greet(&h->call);
		dealbox_call_next(&h->core, &h->call, 0, times[n]);
		KUNIT_ASSERT_EQ(test, h->core.tag, tags[n]);
	}
}

/* The error that a caller gets for a failed transfer. */
static void test_errors_of_a_transfer(struct kunit *test)
{
	static const struct { int result, error; } rows[] = {
		{ -ENOENT, -ENODEV }, { -ESHUTDOWN, -ENODEV }, { -ENODEV, -ENODEV },
		{ -EREMOTEIO, -EPROTO }, { -EOVERFLOW, -EPROTO }, { -EPIPE, -EPROTO },
		{ -ENOMEM, -ENOMEM }, { -ETIMEDOUT, -ETIMEDOUT }, { -EPROTO, -EIO },
		{ -EINVAL, -EIO }, { -EIO, -EIO }, { 0, -EPROTO },
		{ WIRE_COUNTERS_SIZE - 1, -EPROTO },
		{ WIRE_COUNTERS_SIZE + 1, -EPROTO }, { WIRE_COUNTERS_SIZE, 0 },
	};
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		struct dealbox_counters counters = { 0 };

		fresh(h);
		dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_COUNTERS, &counters);
		asks(h, WIRE_GET_COUNTERS, 0, WIRE_COUNTERS_SIZE);
		h->data[0] = 9;
		h->result = rows[n].result;
		ends(h, rows[n].error);
		KUNIT_ASSERT_EQ(test, counters.boards_dealt, rows[n].error ? 0 : 9);
	}
}

static void test_status(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);
	struct dealbox_status out;

	for (int routed = 0; routed < 2; routed++) {
		h->core.routed = routed;
		h->core.router.plan.plan_id = PLAN;
		h->core.source.seqno = 30;
		fresh(h);
		memset(&out, 0xff, sizeof(out));
		dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_STATUS, &out);
		asks(h, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
		h->core.source.seqno = 31;	/* an event precedes the answer */
		status_is(h, DEALBOX_STATE_DONE);
		ends(h, 0);
		KUNIT_ASSERT_EQ(test, out.state, DEALBOX_STATE_DONE);
		KUNIT_ASSERT_EQ(test, out.insertion, 9);
		KUNIT_ASSERT_EQ(test, out.plan_id, routed ? PLAN : 77);
		KUNIT_ASSERT_EQ(test, out.seqno, 30);
	}
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_STATUS, &out);
	asks(h, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
	status_is(h, 9);
	ends(h, -EPROTO);
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_STATUS, &out);
	asks(h, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
	h->result = -EPIPE;
	ends(h, -EPROTO);
}

/* -- parameters ------------------------------------------------------------ */

static void test_parameters(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);
	/* Output fields are ignored as input. */
	struct dealbox_param param = { .id = 0xffff, .min = 7, .max = 7, .result = 7, .detail = 7 };

	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	asks(h, WIRE_GET_PARAM, 0xffff, WIRE_PARAM_SIZE);
	put_unaligned_le32(0xffff, h->data);
	put_unaligned_le32(600, h->data + 4);
	put_unaligned_le32(1, h->data + 8);
	put_unaligned_le32(900, h->data + 12);
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, param.value, 600);
	KUNIT_ASSERT_EQ(test, param.min, 1);
	KUNIT_ASSERT_EQ(test, param.max, 900);
	KUNIT_ASSERT_EQ(test, param.result | param.detail, 0);

	/* another id, an unknown one, and an impossible one */
	param = (struct dealbox_param){ .id = 3, .value = 8 };
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	asks(h, WIRE_GET_PARAM, 3, WIRE_PARAM_SIZE);
	put_unaligned_le32(4, h->data);
	ends(h, -EPROTO);
	KUNIT_ASSERT_EQ(test, param.value, 8);
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	asks(h, WIRE_GET_PARAM, 3, WIRE_PARAM_SIZE);
	h->result = -EPIPE;
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, param.result, DEALBOX_ERR_BAD_VALUE);
	KUNIT_ASSERT_EQ(test, param.detail, 4);
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	asks(h, WIRE_GET_PARAM, 3, WIRE_PARAM_SIZE);
	put_unaligned_le32(3, h->data);
	h->result = -ETIMEDOUT;
	ends(h, -ETIMEDOUT);
	KUNIT_ASSERT_EQ(test, param.value, 8);
	KUNIT_ASSERT_EQ(test, param.result, 0);
	param = (struct dealbox_param){ .id = 0x10000 };
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, param.result, DEALBOX_ERR_BAD_VALUE);
	param.reserved[0] = 1;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	ends(h, -EINVAL);

	param = (struct dealbox_param){ .id = 3, .value = 8, .result = 7, .detail = 7 };
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_SET_PARAM, &param);
	commands(h, WIRE_SET_PARAM, 101, 3, 8, 0);
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, param.result | param.detail, 0);
	param.min = 1;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_SET_PARAM, &param);
	ends(h, -EINVAL);
}

/* -- commands -------------------------------------------------------------- */

static struct dealbox_control locate;

static void locates(struct host *h, u32 sequence)
{
	locate = (struct dealbox_control){ .op = DEALBOX_OP_LOCATE, .arg = 7 };
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_CONTROL, &locate);
	commands(h, DEALBOX_OP_LOCATE, sequence, 7, 0, 0);
}

/* The outcome of a command by the error of its transfer and by GET_RESULT. */
static void test_a_command_whose_transfer_failed(struct kunit *test)
{
	static const struct {
		int lost;
		u32 sequence;
		u8 request, error;
		int asked, ended;
	} rows[] = {
		{ -ETIMEDOUT, 101, DEALBOX_OP_LOCATE, 0, 0, 0 },
		{ -ETIMEDOUT, 101, DEALBOX_OP_LOCATE, 18, 0, -EREMOTEIO },
		{ -EPIPE, 101, DEALBOX_OP_LOCATE, 18, 0, -EREMOTEIO },
		{ -EPIPE, 101, DEALBOX_OP_LOCATE, 0, 0, -EPROTO },
		{ -EPIPE, 100, DEALBOX_OP_LOCATE, 18, 0, -EPROTO },
		{ -EPIPE, 101, DEALBOX_OP_ABORT, 18, 0, -EPROTO },
		{ -ETIMEDOUT, 101, DEALBOX_OP_LOCATE, 0, -EIO, -ETIMEDOUT },
		{ -ETIMEDOUT, 101, DEALBOX_OP_LOCATE, 0, -EPIPE, -ETIMEDOUT },
		{ -EPIPE, 101, DEALBOX_OP_LOCATE, 0, -ETIMEDOUT, -ETIMEDOUT },
		{ -EPIPE, 101, DEALBOX_OP_LOCATE, 0, -EPIPE, -EPROTO },
		{ -ETIMEDOUT, 101, DEALBOX_OP_LOCATE, 0, -ENODEV, -ENODEV },
	};
	struct host *h;

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		h = host(test, DEALBOX_CAP_STORED_PLAN);
		locates(h, 101);
		h->result = rows[n].lost;
		asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
		result_is(h, rows[n].sequence, rows[n].request, rows[n].error, 77);
		if (rows[n].asked)
			h->result = rows[n].asked;
		ends(h, rows[n].ended);
		KUNIT_ASSERT_EQ(test, h->call.command_error, rows[n].ended);
		KUNIT_ASSERT_EQ(test, locate.result, rows[n].ended == -EREMOTEIO ? 18 : 0);
		KUNIT_ASSERT_EQ(test, locate.detail, rows[n].ended == -EREMOTEIO ? 77 : 0);
	}
	/* The machine is gone, so no query follows. */
	h = host(test, DEALBOX_CAP_STORED_PLAN);
	locates(h, 101);
	h->result = -ESHUTDOWN;
	ends(h, -ENODEV);
	KUNIT_ASSERT_EQ(test, h->call.command_error, -ENODEV);
}

/* A command that never arrived is repeated once, with the same number. */
static void test_a_command_that_never_arrived(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	for (int again = 0; again < 3; again++) {
		u32 sequence = 101 + again;

		locates(h, sequence);
		h->result = -ETIMEDOUT;
		asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
		result_is(h, again == 2 ? sequence : sequence - 1,
			  again == 2 ? DEALBOX_OP_ABORT : DEALBOX_OP_LOCATE, 18, 77);
		commands(h, DEALBOX_OP_LOCATE, sequence, 7, 0, 0);
		if (again) {
			h->result = -EIO;
			asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
			result_is(h, sequence - 1, DEALBOX_OP_LOCATE, 18, 77);
		}
		ends(h, again ? -EIO : 0);
		KUNIT_ASSERT_EQ(test, locate.result, 0);
	}
	/* The sequence number is never 0. */
	h->core.sequence = 0xffffffff;
	locates(h, 1);
	ends(h, 0);
	locates(h, 2);
}

static void test_what_may_be_started(struct kunit *test)
{
	struct dealbox_control start = { .op = DEALBOX_OP_START, .plan_id = PLAN, .insertion = 9 };
	struct dealbox_control pause = { .op = DEALBOX_OP_PAUSE };
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	/* The machine checks its plan. */
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_CONTROL, &start);
	commands(h, DEALBOX_OP_START, 101, PLAN, 9, 0);
	/* The host checks it. */
	h = host(test, DEALBOX_CAP_HOST_ROUTED);
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_CONTROL, &start);
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, start.result, DEALBOX_ERR_NO_PLAN);
	KUNIT_ASSERT_EQ(test, start.detail, 0);
	h->core.router.plan.plan_id = PLAN + 1;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_CONTROL, &start);
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, start.result, DEALBOX_ERR_WRONG_PLAN);
	KUNIT_ASSERT_EQ(test, start.detail, PLAN + 1);
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_CONTROL, &pause);
	commands(h, DEALBOX_OP_PAUSE, 101, 0, 0, 0);
	h->core.router.plan.plan_id = PLAN;
	h->core.router.plan.feed = 52;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_CONTROL, &start);
	commands(h, DEALBOX_OP_START, 102, PLAN, 9, 52);
	ends(h, 0);
	start.reserved[0] = 1;
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_CONTROL, &start);
	ends(h, -EINVAL);
}

/* Pause a machine that deals, or that may be dealing. */
static void test_a_pause(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

#define PAUSES() do { \
	fresh(h); \
	dealbox_call_pause(&h->call); \
	asks(h, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE); \
} while (0)
	PAUSES();
	status_is(h, DEALBOX_STATE_IDLE);
	ends(h, 0);
	PAUSES();
	h->result = -ENODEV;
	ends(h, -ENODEV);
	PAUSES();
	status_is(h, DEALBOX_STATE_DEALING);
	commands(h, DEALBOX_OP_PAUSE, 101, 0, 0, 0);
	ends(h, 0);
	/* The machine does not report its state. */
	PAUSES();
	status_is(h, DEALBOX_STATE_IDLE);
	h->result = -ETIMEDOUT;
	commands(h, DEALBOX_OP_PAUSE, 102, 0, 0, 0);
	h->result = -EPIPE;
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	result_is(h, 102, DEALBOX_OP_PAUSE, 1, 0);
	ends(h, 0);
	PAUSES();
	status_is(h, DEALBOX_STATE_DEALING);
	commands(h, DEALBOX_OP_PAUSE, 103, 0, 0, 0);
	h->result = -ENODEV;
	ends(h, -ENODEV);
#undef PAUSES
}

/* -- plans ----------------------------------------------------------------- */

static struct dealbox_plan plan;

static void makes_plan(struct host *h, unsigned int entries, bool patient)
{
	plan = (struct dealbox_plan){ 0 };
	if (entries)
		plan = (struct dealbox_plan){ .plan_id = PLAN, .mode = DEALBOX_PLAN_BY_CARD,
					      .entries = (u8)entries };
	for (unsigned int i = 0; i < entries; i++)
		plan.pocket[i] = i % 4;
	fresh(h);
	h->call.patient = patient;
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_SET_PLAN, &plan);
}

/* Run SET_PLAN up to the transfer of the block. */
static void sends_plan(struct host *h, u32 sequence, bool patient)
{
	makes_plan(h, 52, patient);
	commands(h, WIRE_LOAD, sequence, PLAN, WIRE_PLAN_SIZE(52), 0);
	KUNIT_ASSERT_EQ(h->test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	h->core.await_error = -E2BIG;	/* from an earlier wait */
	KUNIT_ASSERT_EQ(h->test, next(h), DEALBOX_SEND);
	KUNIT_ASSERT_EQ(h->test, h->call.size, WIRE_PLAN_SIZE(52));
	KUNIT_ASSERT_EQ(h->test, h->call.ms, WIRE_PLAN_COMPLETE_MS);
	KUNIT_ASSERT_EQ(h->test, get_unaligned_le32(h->bytes), WIRE_PLAN_MAGIC);
	KUNIT_ASSERT_EQ(h->test, h->core.awaited, DEALBOX_AWAIT_VERDICT);
	h->result = 0;
}

static void awaits_plan(struct host *h, u32 sequence)
{
	sends_plan(h, sequence, true);
	KUNIT_ASSERT_EQ(h->test, next(h), DEALBOX_AWAIT);
	KUNIT_ASSERT_EQ(h->test, h->call.ms, WIRE_PLAN_HOST_MS);
	h->result = 0;
	h->awaited = 0;
}

static void stalls_plan(struct host *h, u32 sequence)
{
	sends_plan(h, sequence, true);
	h->result = -EPIPE;
	KUNIT_ASSERT_EQ(h->test, next(h), DEALBOX_AWAIT);
	KUNIT_ASSERT_EQ(h->test, h->call.ms, WIRE_PLAN_HOST_MS);
	h->result = 0;
}

static void comes(struct host *h, u8 type, u32 code, u32 arg0, u32 arg1)
{
	u8 bytes[WIRE_EVENT_SIZE] = { type };

	put_unaligned_le32(code, bytes + 20);
	put_unaligned_le32(arg0, bytes + 24);
	put_unaligned_le32(arg1, bytes + 28);
	dealbox_core_receive(&h->core, bytes, sizeof(bytes), 0);
}

static void test_a_plan_is_loaded(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, 3, 4);	/* not awaited */
	KUNIT_ASSERT_EQ(test, h->awaited, 0);
	awaits_plan(h, 101);
	/* another plan, and another event */
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN + 1, 3, 4);
	comes(h, DEALBOX_EV_KEY, PLAN, 3, 4);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_VERDICT);
	KUNIT_ASSERT_EQ(test, h->awaited, 0);
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, 0, 0);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	KUNIT_ASSERT_EQ(test, h->awaited, 1);
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, plan.result | plan.detail, 0);
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, 3, 4);	/* twice */
	KUNIT_ASSERT_EQ(test, h->awaited, 1);

	/* The caller does not wait. */
	sends_plan(h, 102, false);
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	/* no plan */
	makes_plan(h, 0, true);
	commands(h, WIRE_LOAD, 103, 0, 0, 0);
	ends(h, 0);
	makes_plan(h, 52, true);
	plan.mode = 9;
	ends(h, -EINVAL);
	KUNIT_ASSERT_EQ(test, h->core.sequence, 103);
}

/* What GET_RESULT says of LOAD decides whether the block is sent. */
static void test_the_answer_to_load_is_lost(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	makes_plan(h, 52, true);
	commands(h, WIRE_LOAD, 101, PLAN, WIRE_PLAN_SIZE(52), 0);
	h->result = -ETIMEDOUT;
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	result_is(h, 101, WIRE_LOAD, DEALBOX_ERR_OK, 0);
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_SEND);
	/* By the capability it is asked always, and must be answered. */
	h->core.machine.capabilities |= DEALBOX_CAP_REFUSES_BY_RESULT;
	makes_plan(h, 52, true);
	commands(h, WIRE_LOAD, 102, PLAN, WIRE_PLAN_SIZE(52), 0);
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	h->result = -ETIMEDOUT;
	ends(h, -ETIMEDOUT);
}

static void test_a_plan_is_not_loaded(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	/* LOAD is refused, so the block is not sent. */
	makes_plan(h, 52, true);
	commands(h, WIRE_LOAD, 101, PLAN, WIRE_PLAN_SIZE(52), 0);
	h->result = -EPIPE;
	asks(h, WIRE_GET_RESULT, 0, WIRE_RESULT_SIZE);
	result_is(h, 101, WIRE_LOAD, 5, 1);
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, plan.result, 5);
	KUNIT_ASSERT_EQ(test, plan.detail, 1);
	/* sending fails */
	sends_plan(h, 102, true);
	h->result = -EOVERFLOW;
	ends(h, -EPROTO);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	/* the machine refuses it */
	awaits_plan(h, 103);
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, DEALBOX_ERR_CRC, 7);
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, plan.result, DEALBOX_ERR_CRC);
	KUNIT_ASSERT_EQ(test, plan.detail, 7);
	awaits_plan(h, 104);
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, 0x100, 7);
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(test, plan.result, 0xff);
	/* The machine loses its state. */
	awaits_plan(h, 105);
	comes(h, DEALBOX_EV_STATE_LOST, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, h->awaited, 1);
	ends(h, -EIO);
	/* The wait times out, or ends with another error. */
	awaits_plan(h, 106);
	h->result = -ETIMEDOUT;
	ends(h, -ETIMEDOUT);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	awaits_plan(h, 107);
	h->result = -EINTR;
	ends(h, -EINTR);
	awaits_plan(h, 108);
	ends(h, -ETIMEDOUT);
	/* The verdict cannot arrive any more. */
	awaits_plan(h, 109);
	dealbox_core_fail_call(&h->core, -ENODEV);
	KUNIT_ASSERT_EQ(test, h->awaited, 1);
	ends(h, -ENODEV);
	h->core.await_error = 0;
	dealbox_core_fail_call(&h->core, -ENODEV);
	KUNIT_ASSERT_EQ(test, h->core.await_error, 0);
	KUNIT_ASSERT_EQ(test, h->awaited, 1);
	/* without the optional callback */
	h->core.ops = &(const struct dealbox_core_ops){ .event = event };
	awaits_plan(h, 110);
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, 0, 0);
	ends(h, 0);
}

static void plan_is_late(struct host *h)
{
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, DEALBOX_ERR_INCOMPLETE, 3);
}

static void ends_late(struct host *h)
{
	ends(h, -EREMOTEIO);
	KUNIT_ASSERT_EQ(h->test, plan.result, DEALBOX_ERR_INCOMPLETE);
	KUNIT_ASSERT_EQ(h->test, plan.detail, 3);
	KUNIT_ASSERT_EQ(h->test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
}

/*
 * The machine stalls a block that comes too late. Its verdict says so, after the
 * stall, before it, or even before the answer to LOAD is handled.
 */
static void test_a_plan_that_is_late(struct kunit *test)
{
	static const struct { bool patient; int before; } rows[] = {
		{ true, 0 }, { true, 1 }, { true, 2 }, { false, 1 }, { false, 2 },
	};
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		h = host(test, DEALBOX_CAP_STORED_PLAN);
		makes_plan(h, 52, rows[n].patient);
		commands(h, WIRE_LOAD, 101, PLAN, WIRE_PLAN_SIZE(52), 0);
		if (rows[n].before == 2)
			plan_is_late(h);
		KUNIT_ASSERT_EQ(test, h->awaited, 0);
		KUNIT_ASSERT_EQ(test, next(h), DEALBOX_SEND);
		KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_VERDICT);
		if (rows[n].before == 1)
			plan_is_late(h);
		h->result = -EPIPE;
		if (!rows[n].before) {
			KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
			KUNIT_ASSERT_EQ(test, h->call.ms, WIRE_PLAN_HOST_MS);
			plan_is_late(h);
			KUNIT_ASSERT_EQ(test, h->awaited, 1);
			h->result = 0;
		}
		ends_late(h);
	}
	/* no verdict, and nobody waits for it */
	sends_plan(h, 102, false);
	h->result = -EPIPE;
	ends(h, -EIO);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
}

/* What a machine may say of a block that it has stalled, in time */
static void test_a_plan_that_is_stalled(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	/* no verdict */
	stalls_plan(h, 101);
	h->result = -ETIMEDOUT;
	ends(h, -ETIMEDOUT);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	/* It cannot accept what it did not take. */
	stalls_plan(h, 102);
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, DEALBOX_ERR_OK, 0);
	ends(h, -EPROTO);
	stalls_plan(h, 103);
	comes(h, DEALBOX_EV_STATE_LOST, 0, 0, 0);
	ends(h, -EIO);
	/* the state is lost behind the verdict, or before the stall */
	sends_plan(h, 104, true);
	plan_is_late(h);
	comes(h, DEALBOX_EV_STATE_LOST, 0, 0, 0);
	h->result = -EPIPE;
	ends_late(h);
	sends_plan(h, 105, true);
	comes(h, DEALBOX_EV_STATE_LOST, 0, 0, 0);
	h->result = -EPIPE;
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
	h->result = 0;
	ends(h, -EIO);
	/* Before the block, other verdicts are those on an earlier plan. */
	for (int n = 0; n < 3; n++) {
		makes_plan(h, 52, true);
		commands(h, WIRE_LOAD, 106 + n, PLAN, WIRE_PLAN_SIZE(52), 0);
		if (n == 0)
			comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, DEALBOX_ERR_CRC, 7);
		else if (n == 1)
			comes(h, DEALBOX_EV_PLAN_LOADED, PLAN + 1, DEALBOX_ERR_INCOMPLETE, 7);
		else
			comes(h, DEALBOX_EV_KEY, PLAN, DEALBOX_ERR_INCOMPLETE, 7);
		KUNIT_ASSERT_EQ(test, next(h), DEALBOX_SEND);
		h->result = -EPIPE;
		KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
		h->result = -EINTR;
		ends(h, -EINTR);
	}
	/* nor does the verdict on an earlier load count */
	plan_is_late(h);
	stalls_plan(h, 109);
	plan_is_late(h);
	ends_late(h);
}

/*
 * Where the late block is lost without a stall, the early verdict counts when no
 * other comes.
 */
static void test_a_plan_that_is_lost(struct kunit *test)
{
	static const struct { int result, error; bool accepted; } rows[] = {
		{ -ETIMEDOUT, -EREMOTEIO, false }, { -EINTR, -EINTR, false },
		{ -ENODEV, -ENODEV, false }, { 0, 0, true },
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

		makes_plan(h, 52, true);
		commands(h, WIRE_LOAD, 101, PLAN, WIRE_PLAN_SIZE(52), 0);
		plan_is_late(h);
		KUNIT_ASSERT_EQ(test, next(h), DEALBOX_SEND);
		h->result = 0;
		KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
		if (rows[n].accepted)
			comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, DEALBOX_ERR_OK, 0);
		h->result = rows[n].result;
		if (rows[n].error == -EREMOTEIO)
			ends_late(h);
		else
			ends(h, rows[n].error);
	}
}

static void test_a_plan_that_the_host_keeps(struct kunit *test)
{
	static const struct { u8 state; bool kept; } rows[] = {
		{ DEALBOX_STATE_IDLE, true }, { DEALBOX_STATE_DONE, true },
		{ DEALBOX_STATE_DEALING, false }, { DEALBOX_STATE_PAUSED, false },
	};
	struct host *h;

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		h = host(test, DEALBOX_CAP_HOST_ROUTED);
		makes_plan(h, 52, true);
		asks(h, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
		status_is(h, rows[n].state);
		ends(h, rows[n].kept ? 0 : -EREMOTEIO);
		KUNIT_ASSERT_EQ(test, plan.result, rows[n].kept ? 0 : DEALBOX_ERR_STATE);
		KUNIT_ASSERT_EQ(test, plan.detail, rows[n].kept ? 0 : rows[n].state);
		KUNIT_ASSERT_EQ(test, h->core.router.plan.entries, rows[n].kept ? 52 : 0);
	}
	h->core.router.plan.entries = 52;
	makes_plan(h, 0, true);
	asks(h, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
	h->result = -EIO;
	ends(h, -EIO);
	KUNIT_ASSERT_EQ(test, h->core.router.plan.entries, 52);
	makes_plan(h, 0, true);
	asks(h, WIRE_GET_STATUS, 0, WIRE_STATUS_SIZE);
	ends(h, 0);
	KUNIT_ASSERT_EQ(test, h->core.router.plan.entries, 0);
}

/* -- receiving ------------------------------------------------------------- */

static void test_events_and_gates(struct kunit *test)
{
	u8 bytes[2 * WIRE_EVENT_SIZE] = { DEALBOX_EV_DEAL_STARTED };
	u8 *read = bytes + WIRE_EVENT_SIZE;
	struct host *h;

	put_unaligned_le32(9, bytes + 12);
	put_unaligned_le32(PLAN, bytes + 20);
	*read = DEALBOX_EV_CARD_READ;
	put_unaligned_le32(9, read + 12);
	read[17] = 3;
	for (unsigned int routed = 0; routed < 2; routed++) {
		h = host(test, routed ? DEALBOX_CAP_HOST_ROUTED : DEALBOX_CAP_STORED_PLAN);
		h->core.router.plan = (struct wire_plan){ .plan_id = PLAN, .entries = 4,
			.mode = DEALBOX_PLAN_BY_CARD, .pocket = { 0, 0, 0, 2 } };
		KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, bytes, sizeof(bytes), 55), 0);
		KUNIT_ASSERT_EQ(test, h->events, 2);
		KUNIT_ASSERT_EQ(test, h->event.type, DEALBOX_EV_CARD_READ);
		KUNIT_ASSERT_EQ(test, h->event.timestamp_ns, 55);
		KUNIT_ASSERT_EQ(test, h->gates, routed);
		KUNIT_ASSERT_EQ(test, h->gate.pocket, routed ? 2 : 0);
	}
	/* An impossible card is not routed. */
	read[17] = 60;
	KUNIT_ASSERT_FALSE(test, dealbox_core_event(&h->core, read, 55));
	KUNIT_ASSERT_EQ(test, h->gates, 1);
	KUNIT_ASSERT_EQ(test, h->events, 3);
	KUNIT_ASSERT_EQ(test, h->event.type, DEALBOX_EV_PROTOCOL_ERROR);
	/* a bad event among good ones, and a transfer that is not an event */
	h = host(test, DEALBOX_CAP_STORED_PLAN);
	*bytes = DEALBOX_EV_KEY;
	read[17] = 3;
	bytes[17] = 60;
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, bytes, sizeof(bytes), 1000), 0);
	KUNIT_ASSERT_EQ(test, h->events, 2);
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, bytes, sizeof(bytes), 1001),
			RETRY_FIRST_MS);
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, bytes, 31, 1002), 2 * RETRY_FIRST_MS);
	KUNIT_ASSERT_EQ(test, h->event.type, DEALBOX_EV_PROTOCOL_ERROR);
	KUNIT_ASSERT_EQ(test, h->event.code, DEALBOX_PROTO_EVENT_SIZE);
	KUNIT_ASSERT_EQ(test, h->event.arg[0], 31);
	KUNIT_ASSERT_EQ(test, h->events, 5);
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, bytes, 0, 1003), 4 * RETRY_FIRST_MS);
	KUNIT_ASSERT_EQ(test, h->event.arg[0], 0);
	/* A good transfer ends the series. */
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, read, WIRE_EVENT_SIZE, 1004), 0);
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, bytes, 31, 1005), RETRY_FIRST_MS);
}

/* Read a card, and expect this result of its answer; 0 = in flight. */
static void card_is_read(struct host *h, int error)
{
	u8 read[WIRE_EVENT_SIZE] = { DEALBOX_EV_CARD_READ, [4] = ++h->noted_number, [12] = 9,
				     [17] = 3, [18] = DEALBOX_NONE, [19] = DEALBOX_NONE };
	u32 number = h->noted_number;

	h->noted_number = 0;
	h->noted = 0;
	dealbox_core_receive(&h->core, read, sizeof(read), 0);
	KUNIT_ASSERT_EQ(h->test, h->noted, 1);
	KUNIT_ASSERT_EQ(h->test, h->noted_number, number);
	KUNIT_ASSERT_EQ(h->test, h->noted_error, error);
}

/* Two commands may be in flight, and none while a halt is being cleared. */
static void test_gates_under_way(struct kunit *test)
{
	static const struct dealbox_core_ops quiet = { .send_gate = send_gate, .event = event };
	static const u8 read[WIRE_EVENT_SIZE] = { DEALBOX_EV_CARD_READ, [12] = 9, [17] = 3 };
	struct host *h = host(test, DEALBOX_CAP_HOST_ROUTED);

	h->core.router.plan = (struct wire_plan){ .plan_id = PLAN, .entries = 4,
		.mode = DEALBOX_PLAN_BY_CARD, .pocket = { 0, 0, 0, 2 } };
	h->core.router.insertion = 9;
	card_is_read(h, 0);
	card_is_read(h, 0);
	card_is_read(h, -EBUSY);
	KUNIT_ASSERT_EQ(test, h->gates, 2);
	KUNIT_ASSERT_FALSE(test, dealbox_core_gate_done(&h->core, 0));
	card_is_read(h, 0);
	card_is_read(h, -EBUSY);
	/* A command that could not be sent is not in flight. */
	KUNIT_ASSERT_FALSE(test, dealbox_core_gate_done(&h->core, -EPROTO));
	h->gate_error = -ENOMEM;
	card_is_read(h, -ENOMEM);
	h->gate_error = 0;
	card_is_read(h, 0);
	/*
	 * After a halt, the other command is cancelled before the halt is
	 * cleared.
	 */
	KUNIT_ASSERT_TRUE(test, dealbox_core_gate_done(&h->core, -EPIPE));
	card_is_read(h, -EPIPE);
	KUNIT_ASSERT_FALSE(test, dealbox_core_gate_done(&h->core, -ENOENT));
	card_is_read(h, -EPIPE);
	KUNIT_ASSERT_EQ(test, h->core.gates, 0);
	dealbox_core_allow_gates(&h->core);
	card_is_read(h, 0);
	dealbox_core_hold_gates(&h->core);
	card_is_read(h, -EPIPE);
	KUNIT_ASSERT_EQ(test, h->gates, 5);
	/* A bus reset clears a halt. */
	dealbox_core_restart(&h->core);
	KUNIT_ASSERT_FALSE(test, h->core.gates_held);
	/* without the optional callback */
	h->core.router.plan.entries = 4;
	h->core.router.plan.mode = DEALBOX_PLAN_BY_CARD;
	h->core.router.insertion = 9;
	h->core.ops = &quiet;
	comes(h, DEALBOX_EV_KEY, 0, 0, 0);
	dealbox_core_event(&h->core, read, 0);
	KUNIT_ASSERT_EQ(test, h->gates, 6);
}

static void test_failures_and_resets(struct kunit *test)
{
	struct dealbox_dialect dialect = dealbox_native;
	struct host *h = host(test, DEALBOX_CAP_HOST_ROUTED);
	bool reset = true;

	KUNIT_ASSERT_EQ(test, dealbox_core_failed(&h->core, 1000, &reset), 0);
	KUNIT_ASSERT_FALSE(test, reset);
	KUNIT_ASSERT_EQ(test, dealbox_core_failed(&h->core, 1001, &reset), RETRY_FIRST_MS);
	KUNIT_ASSERT_FALSE(test, reset);
	dealbox_core_failed(&h->core, 1000 + RETRY_RESET_MS * 1000000ULL, &reset);

	h->core.router.plan.entries = 52;
	dealbox_core_restart(&h->core);
	KUNIT_ASSERT_EQ(test, h->core.router.plan.entries, 0);
	dialect.restart = restart;
	h->core.dialect = &dialect;
	dealbox_core_restart(&h->core);
	KUNIT_ASSERT_EQ(test, h->restarts, 1);
}

static void test_gates_in_bytes(struct kunit *test)
{
	const struct wire_gate gate = { .pocket = 3, .position = 9, .number = 1, .insertion = 2 };
	u8 bytes[DEALBOX_GATE_MAX], expected[WIRE_GATE_SIZE];

	memset(bytes, 0xa5, sizeof(bytes));
	dealbox_encode_gate(expected, &gate);
	KUNIT_ASSERT_EQ(test, dealbox_native.encode_gate(bytes, &gate), WIRE_GATE_SIZE);
	KUNIT_ASSERT_MEMEQ(test, bytes, expected, sizeof(expected));
}

/* -- the serial dialect ---------------------------------------------------- */

#define MS	1000000ULL

static struct host *serial_host(struct kunit *test)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	h->core.dialect = &dealbox_serial;
	h->core.transfer_size = 64;
	h->core.tag = 7;
	return h;
}

/* Expect this request as the next frame. */
static void serial_asks(struct host *h, u8 tag, u8 request, u16 value, const void *said, u8 size)
{
	u8 expected[FRAME_MAX];

	KUNIT_ASSERT_EQ(h->test, dealbox_call_next(&h->core, &h->call, h->result, 5000 * MS),
			DEALBOX_SEND);
	expected[FRAME_HEADER] = request;
	expected[FRAME_HEADER + 1] = value & 0xff;
	expected[FRAME_HEADER + 2] = value >> 8;
	memcpy(expected + FRAME_HEADER + FRAME_REQUEST_HEADER, said, size);
	KUNIT_ASSERT_EQ(h->test, dealbox_frame_seal(expected, FRAME_REQUEST, tag,
						    FRAME_REQUEST_HEADER + size), h->call.size);
	KUNIT_ASSERT_MEMEQ(h->test, h->bytes, expected, h->call.size);
	KUNIT_ASSERT_EQ(h->test, h->call.ms, WIRE_CONTROL_HOST_MS);
	KUNIT_ASSERT_EQ(h->test, h->core.awaited, DEALBOX_AWAIT_ANSWER);
	h->result = 0;
}

static size_t answer_of(u8 *buf, u8 tag, u8 status, size_t length)
{
	memset(buf + FRAME_HEADER, 9, FRAME_ANSWER_HEADER + length);
	buf[FRAME_HEADER] = status;
	return dealbox_frame_seal(buf, FRAME_ANSWER, tag, FRAME_ANSWER_HEADER + length);
}

static void counters_are_asked(struct host *h, struct dealbox_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_COUNTERS, counters);
	serial_asks(h, h->core.tag + 1, WIRE_GET_COUNTERS, 0, "", 0);
	h->awaited = 0;
}

static void test_serial_requests(struct kunit *test)
{
	static const struct { u64 ms; u32 left; } times[] = {
		{ 0, 1000 }, { 400, 600 }, { 999, 1 }, { 1000, 0 }, { 1001, 0 },
	};
	static const struct { u8 status; size_t length; int error; } answers[] = {
		{ FRAME_DONE, WIRE_COUNTERS_SIZE, 0 },
		{ FRAME_DONE, WIRE_COUNTERS_SIZE - 1, -EPROTO },
		{ FRAME_DONE, 0, -EPROTO }, { FRAME_STALL, 0, -EPROTO }, { 77, 0, -EPROTO },
	};
	struct dealbox_param param = { .id = 3, .value = 8 };
	struct host *h = serial_host(test);
	struct dealbox_counters counters;
	u8 buf[FRAME_MAX], said[16] = { 101, 0, 0, 0, 3, 0, 0, 0, 8 };
	size_t size;

	/* The time for sending counts towards the limit of the answer. */
	for (size_t n = 0; n < ARRAY_SIZE(times); n++) {
		counters_are_asked(h, &counters);
		KUNIT_ASSERT_EQ(test, dealbox_call_next(&h->core, &h->call, 0,
							(5000 + times[n].ms) * MS), DEALBOX_AWAIT);
		KUNIT_ASSERT_EQ(test, h->call.ms, times[n].left);
		h->result = -ETIMEDOUT;
		ends(h, -ETIMEDOUT);
		KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	}
	for (size_t n = 0; n < ARRAY_SIZE(answers); n++) {
		counters_are_asked(h, &counters);
		h->core.await_error = n ? 0 : h->core.await_error;
		KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
		/* answer to an earlier request */
		size = answer_of(buf, h->core.tag - 1, FRAME_DONE, WIRE_COUNTERS_SIZE);
		dealbox_core_receive(&h->core, buf, size, 0);
		KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_ANSWER);
		size = answer_of(buf, h->core.tag, answers[n].status, answers[n].length);
		dealbox_core_receive(&h->core, buf, size, 0);
		KUNIT_ASSERT_EQ(test, h->awaited, 1);
		/* The answer arrived at the last moment. */
		h->result = n ? 0 : -ETIMEDOUT;
		ends(h, answers[n].error);
		KUNIT_ASSERT_EQ(test, counters.boards_dealt, answers[n].error ? 0 : 0x09090909);
	}
	/* A refusal differs from an error of the bus. */
	param = (struct dealbox_param){ .id = 0x0103 };
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	serial_asks(h, h->core.tag + 1, WIRE_GET_PARAM, 0x0103, "", 0);
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
	dealbox_core_receive(&h->core, buf, answer_of(buf, h->core.tag, FRAME_STALL, 0), 0);
	ends(h, -EREMOTEIO);
	/* A halt of the pipe is not a refusal. */
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
	serial_asks(h, h->core.tag + 1, WIRE_GET_PARAM, 0x0103, "", 0);
	h->result = -EPIPE;
	ends(h, -EPROTO);
	KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
	counters_are_asked(h, &counters);
	h->result = -ENOMEM;
	ends(h, -ENOMEM);
	/* The answer cannot arrive; and a timeout without an error. */
	counters_are_asked(h, &counters);
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
	dealbox_core_fail_call(&h->core, -ENODEV);
	ends(h, -ENODEV);
	counters_are_asked(h, &counters);
	KUNIT_ASSERT_EQ(test, h->core.await_error, 0);
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
	ends(h, -ETIMEDOUT);
	/* A command has data, its answer has none. */
	param = (struct dealbox_param){ .id = 3, .value = 8 };
	fresh(h);
	dealbox_call_ioctl(&h->call, DEALBOX_IOC_SET_PARAM, &param);
	serial_asks(h, h->core.tag + 1, WIRE_SET_PARAM, 0, said, sizeof(said));
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
	KUNIT_ASSERT_TRUE(test, dealbox_serial.receive(&h->core, buf, answer_of(buf, h->core.tag,
										FRAME_DONE, 0), 0));
	ends(h, 0);
	/* An unexpected answer is of no use. */
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, buf, answer_of(buf, h->core.tag,
									    FRAME_DONE, 0),
						   9000 * MS), 0);
	KUNIT_ASSERT_EQ(test, dealbox_core_receive(&h->core, buf, answer_of(buf, h->core.tag,
									    FRAME_DONE, 0),
						   9000 * MS), RETRY_FIRST_MS);
}

/* Return true if all bytes were of use. */
static bool serial_takes(struct host *h, const u8 *bytes, size_t length)
{
	return dealbox_serial.receive(&h->core, bytes, length, 0);
}

static void test_serial_events(struct kunit *test)
{
	struct host *h = serial_host(test);
	const struct wire_plan block = {
		.plan_id = PLAN, .mode = DEALBOX_PLAN_CAPTURE, .entries = 1,
	};
	const struct wire_gate gate = { .pocket = 3, .position = 9 };
	static const u8 kinds[] = { FRAME_REQUEST, FRAME_PLAN, FRAME_GATE, 0x80, FRAME_ANSWER,
				    FRAME_EVENT, 0x83 };
	u8 buf[2 * FRAME_MAX] = { 0 }, expected[FRAME_MAX];
	size_t size, one = FRAME_BYTES(WIRE_EVENT_SIZE);

	buf[FRAME_HEADER] = DEALBOX_EV_KEY;
	dealbox_frame_seal(buf, FRAME_EVENT, 0, WIRE_EVENT_SIZE);
	memcpy(buf + one, buf, one);
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf, 2 * one));
	KUNIT_ASSERT_EQ(test, h->events, 2);
	/* a frame split over two transfers */
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf, 10));
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf + 10, one - 10));
	KUNIT_ASSERT_EQ(test, h->events, 3);
	/* An empty packet is valid only after a full transfer. */
	KUNIT_ASSERT_FALSE(test, serial_takes(h, buf, 0));
	KUNIT_ASSERT_EQ(test, h->events, 3);
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf, 64));
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf, 0));
	KUNIT_ASSERT_FALSE(test, serial_takes(h, buf, 0));
	/* After a bus reset, the rest of that frame does not arrive. */
	dealbox_core_restart(&h->core);
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf, one));
	KUNIT_ASSERT_EQ(test, h->events, 5);
	/* After a reset, a previous full transfer does not count. */
	h->core.full = true;
	dealbox_core_restart(&h->core);
	KUNIT_ASSERT_FALSE(test, serial_takes(h, buf, 0));
	/*
	 * a bad event among good ones, noise, frames of unknown kind or wrong
	 * length
	 */
	buf[FRAME_HEADER + 17] = 60;
	dealbox_frame_seal(buf, FRAME_EVENT, 0, WIRE_EVENT_SIZE);
	KUNIT_ASSERT_FALSE(test, serial_takes(h, buf, 2 * one));
	KUNIT_ASSERT_EQ(test, h->events, 7);
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf + one, one));
	buf[one - 1] = 0;
	KUNIT_ASSERT_FALSE(test, serial_takes(h, buf + one - 1, one + 1));
	KUNIT_ASSERT_EQ(test, h->event.type, DEALBOX_EV_PROTOCOL_ERROR);
	KUNIT_ASSERT_EQ(test, h->event.arg[0], one + 1);
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf + one, 10));
	KUNIT_ASSERT_TRUE(test, serial_takes(h, buf + one + 10, one - 10));
	for (size_t n = 0; n < sizeof(kinds); n++) {
		size_t length = kinds[n] == FRAME_ANSWER ? 0 : kinds[n] == FRAME_EVENT ?
				WIRE_EVENT_SIZE - 1 : WIRE_EVENT_SIZE;

		h->events = 0;
		dealbox_frame_seal(buf, kinds[n], 0, length);
		KUNIT_ASSERT_FALSE(test, serial_takes(h, buf, FRAME_BYTES(length)));
		KUNIT_ASSERT_EQ(test, h->events, 1);
		KUNIT_ASSERT_EQ(test, h->event.type, DEALBOX_EV_PROTOCOL_ERROR);
	}
	/* outgoing frames */
	memset(buf, 0xa5, sizeof(buf));
	dealbox_encode_gate(expected + FRAME_HEADER, &gate);
	size = dealbox_frame_seal(expected, FRAME_GATE, 0, WIRE_GATE_SIZE);
	KUNIT_ASSERT_EQ(test, dealbox_serial.encode_gate(buf, &gate), size);
	KUNIT_ASSERT_MEMEQ(test, buf, expected, size);
	size = dealbox_frame_seal(expected, FRAME_PLAN, 0,
				  dealbox_encode_plan(expected + FRAME_HEADER, &block));
	KUNIT_ASSERT_EQ(test, dealbox_serial.encode_plan(buf, &block), size);
	KUNIT_ASSERT_MEMEQ(test, buf, expected, size);
	/* it is sent through bulk endpoints, and native frames are not */
	KUNIT_ASSERT_TRUE(test, dealbox_serial.bulk);
	KUNIT_ASSERT_FALSE(test, dealbox_native.bulk);
	KUNIT_ASSERT_TRUE(test, dealbox_serial.described);
	KUNIT_ASSERT_EQ(test, dealbox_serial.describe, WIRE_DESCRIBE);
}

/* -- every order ----------------------------------------------------------- */

/* Step to the next sequence of letters. Returns false after the last. */
static bool next_order(u8 *order, unsigned int length, unsigned int letters)
{
	for (unsigned int i = 0; i < length; i++) {
		if (++order[i] < letters)
			return true;
		order[i] = 0;
	}
	return false;
}

/* Events during a call, with the error with which they end it. */
enum { NOT_AN_END = 1 };

#define ORDER	3
#define PARAM	4

static void key_comes(struct host *h)
{
	comes(h, DEALBOX_EV_KEY, 3, 0, 0);
}

static void verdict_comes(struct host *h)
{
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, DEALBOX_ERR_OK, 0);
}

static void refusal_comes(struct host *h)
{
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN, DEALBOX_ERR_CRC, 7);
}

static void other_verdict_comes(struct host *h)
{
	comes(h, DEALBOX_EV_PLAN_LOADED, PLAN + 1, DEALBOX_ERR_CRC, 7);
}

static void state_is_lost(struct host *h)
{
	comes(h, DEALBOX_EV_STATE_LOST, 3, 0, 0);
}

static void bad_verdict_comes(struct host *h)
{
	u8 bytes[WIRE_EVENT_SIZE] = { DEALBOX_EV_PLAN_LOADED, [17] = 60, [20] = PLAN };

	dealbox_core_receive(&h->core, bytes, sizeof(bytes), 0);
}

static void short_transfer_comes(struct host *h)
{
	dealbox_core_receive(&h->core, h->bytes, WIRE_EVENT_SIZE - 1, 0);
}

static void pipe_fails(struct host *h)
{
	bool reset;

	dealbox_core_failed(&h->core, 0, &reset);
}

static void bus_is_reset(struct host *h)
{
	dealbox_core_fail_call(&h->core, -EIO);
	dealbox_core_restart(&h->core);
}

static void machine_goes(struct host *h)
{
	dealbox_core_fail_call(&h->core, -ENODEV);
}

struct arrival {
	void (*come)(struct host *h);
	int end;
	bool event;		/* programs get an event */
};

/* Deliver part of a sequence. Returns the result of the call, or NOT_AN_END. */
static int some_come(struct host *h, const struct arrival *arrivals, const u8 *order,
		     unsigned int from, unsigned int to)
{
	int end = NOT_AN_END;

	for (; from < to; from++) {
		arrivals[order[from]].come(h);
		if (end == NOT_AN_END)
			end = arrivals[order[from]].end;
	}
	return end;
}

static const struct arrival plan_arrivals[] = {
	{ key_comes, NOT_AN_END, true }, { verdict_comes, 0, true },
	{ refusal_comes, -EREMOTEIO, true }, { other_verdict_comes, NOT_AN_END, true },
	{ state_is_lost, -EIO, true }, { bad_verdict_comes, NOT_AN_END, true },
	{ short_transfer_comes, NOT_AN_END, true }, { pipe_fails, NOT_AN_END, false },
	{ bus_is_reset, -EIO, false }, { machine_goes, -ENODEV, false },
};

/*
 * Deliver some before the answer to LOAD, and some while the block is being
 * sent.
 */
static void load_plan_in_order(struct kunit *test, const u8 *order, unsigned int first,
			       unsigned int second)
{
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);
	unsigned int events = 0;
	int end, later;

	makes_plan(h, 52, true);
	commands(h, WIRE_LOAD, 101, PLAN, WIRE_PLAN_SIZE(52), 0);
	some_come(h, plan_arrivals, order, 0, first);
	KUNIT_ASSERT_EQ(test, h->awaited, 0);
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_SEND);
	end = some_come(h, plan_arrivals, order, first, second);
	h->result = 0;
	KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
	later = some_come(h, plan_arrivals, order, second, ORDER);
	if (end == NOT_AN_END)
		end = later;
	KUNIT_ASSERT_EQ(test, h->awaited, end != NOT_AN_END);
	KUNIT_ASSERT_EQ(test, h->core.awaited == DEALBOX_AWAIT_NOTHING, end != NOT_AN_END);
	h->result = end == NOT_AN_END ? -ETIMEDOUT : 0;
	ends(h, end == NOT_AN_END ? -ETIMEDOUT : end);
	KUNIT_ASSERT_EQ(test, plan.result, end == -EREMOTEIO ? DEALBOX_ERR_CRC : 0);
	KUNIT_ASSERT_EQ(test, plan.detail, end == -EREMOTEIO ? 7 : 0);
	for (unsigned int i = 0; i < ORDER; i++)
		events += plan_arrivals[order[i]].event;
	KUNIT_ASSERT_EQ(test, h->events, events);
}

/*
 * Verdicts before the answer to LOAD belong to the previous plan. After it, the
 * first verdict on this plan counts, even while the block is being sent.
 */
static void test_a_plan_in_every_order(struct kunit *test)
{
	u8 order[ORDER] = { 0 };

	do {
		for (unsigned int first = 0; first <= ORDER; first++)
			for (unsigned int second = first; second <= ORDER; second++)
				load_plan_in_order(test, order, first, second);
	} while (next_order(order, ORDER, ARRAY_SIZE(plan_arrivals)));
}

static void frame_comes(struct host *h, u8 tag, u8 status, size_t length)
{
	u8 buf[FRAME_MAX];

	dealbox_core_receive(&h->core, buf, answer_of(buf, tag, status, length), 0);
}

static void answer_comes(struct host *h)
{
	u8 buf[FRAME_MAX] = { [FRAME_HEADER] = FRAME_DONE, [FRAME_HEADER + 1] = PARAM };
	size_t size = dealbox_frame_seal(buf, FRAME_ANSWER, h->core.tag,
					 FRAME_ANSWER_HEADER + WIRE_PARAM_SIZE);

	dealbox_core_receive(&h->core, buf, size, 0);
}

static void stall_comes(struct host *h)
{
	frame_comes(h, h->core.tag, FRAME_STALL, 0);
}

static void long_answer_comes(struct host *h)
{
	frame_comes(h, h->core.tag, FRAME_DONE, WIRE_PARAM_SIZE + 1);
}

static void short_answer_comes(struct host *h)
{
	frame_comes(h, h->core.tag, FRAME_DONE, WIRE_PARAM_SIZE - 1);
}

static void unknown_answer_comes(struct host *h)
{
	frame_comes(h, h->core.tag, 2, WIRE_PARAM_SIZE);
}

static void late_answer_comes(struct host *h)
{
	frame_comes(h, h->core.tag - 1, FRAME_DONE, WIRE_PARAM_SIZE);
}

static void framed_event_comes(struct host *h)
{
	u8 buf[FRAME_MAX] = { [FRAME_HEADER] = DEALBOX_EV_STATE_LOST };
	size_t size = dealbox_frame_seal(buf, FRAME_EVENT, 0, WIRE_EVENT_SIZE);

	dealbox_core_receive(&h->core, buf, size, 0);
}

static void broken_answer_comes(struct host *h)
{
	u8 buf[FRAME_MAX];
	size_t size = answer_of(buf, h->core.tag, FRAME_DONE, WIRE_PARAM_SIZE);

	buf[size - 1] ^= 1;
	dealbox_core_receive(&h->core, buf, size, 0);
}

/*
 * Only the first answer to a request counts, even while the request is being
 * sent.
 */
static void test_an_answer_in_every_order(struct kunit *test)
{
	static const struct arrival arrivals[] = {
		{ answer_comes, 0, false }, { stall_comes, -EREMOTEIO, false },
		{ long_answer_comes, -EPROTO, false }, { short_answer_comes, -EPROTO, false },
		{ unknown_answer_comes, -EPROTO, false }, { late_answer_comes, NOT_AN_END, false },
		{ framed_event_comes, NOT_AN_END, true }, { broken_answer_comes, NOT_AN_END, true },
		{ bus_is_reset, -EIO, false }, { machine_goes, -ENODEV, false },
	};
	u8 order[ORDER] = { 0 };

	do {
		for (unsigned int sent = 0; sent <= ORDER; sent++) {
			struct dealbox_param param = { .id = PARAM };
			struct host *h = serial_host(test);
			unsigned int events = 0;
			int end, later;

			fresh(h);
			dealbox_call_ioctl(&h->call, DEALBOX_IOC_GET_PARAM, &param);
			serial_asks(h, 8, WIRE_GET_PARAM, PARAM, "", 0);
			end = some_come(h, arrivals, order, 0, sent);
			KUNIT_ASSERT_EQ(test, next(h), DEALBOX_AWAIT);
			later = some_come(h, arrivals, order, sent, ORDER);
			if (end == NOT_AN_END)
				end = later;
			KUNIT_ASSERT_EQ(test, h->awaited, end != NOT_AN_END);
			h->result = end == NOT_AN_END ? -ETIMEDOUT : 0;
			ends(h, end == NOT_AN_END ? -ETIMEDOUT : end);
			KUNIT_ASSERT_EQ(test, h->core.awaited, DEALBOX_AWAIT_NOTHING);
			for (unsigned int i = 0; i < ORDER; i++)
				events += arrivals[order[i]].event;
			KUNIT_ASSERT_EQ(test, h->events, events);
		}
	} while (next_order(order, ORDER, ARRAY_SIZE(arrivals)));
}

/* Never more than two gate commands are in flight, and none after a halt. */
static void test_gates_in_every_order(struct kunit *test)
{
	enum { CARD, SENT, HALT, CLEARED, RESET, LETTERS };
	u8 order[6] = { 0 };

	do {
		struct host *h = host(test, DEALBOX_CAP_HOST_ROUTED);
		unsigned int under_way = 0;
		bool held = false;

		for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
			switch (order[i]) {
			case CARD:
				h->core.router.insertion = 9;
				card_is_read(h, held ? -EPIPE : under_way == 2 ? -EBUSY : 0);
				under_way += !h->noted_error;
				break;
			case SENT:
			case HALT:
				if (!under_way)
					break;
				under_way--;
				held |= order[i] == HALT;
				KUNIT_ASSERT_EQ(test, dealbox_core_gate_done(&h->core,
									     order[i] == HALT ?
									     -EPIPE : 0),
						order[i] == HALT);
				break;
			case CLEARED:
				held = false;
				dealbox_core_allow_gates(&h->core);
				break;
			case RESET:
				held = false;
				dealbox_core_restart(&h->core);
				break;
			}
			KUNIT_ASSERT_EQ(test, h->core.gates, under_way);
		}
	} while (next_order(order, ARRAY_SIZE(order), LETTERS));
}

/* Each number is used once, and every argument fits. */
static void test_ioctls(struct kunit *test)
{
	static const unsigned int owners[] = {
		DEALBOX_IOC_CLAIM, DEALBOX_IOC_RELEASE, DEALBOX_IOC_SET_PLAN,
		DEALBOX_IOC_CONTROL, DEALBOX_IOC_SET_PARAM, DEALBOX_IOC_ATTEST,
	};
	unsigned int numbers = 0, found = 0;

	for (unsigned int nr = 0; nr < 16; nr++)
		for (unsigned int cmd = 0; cmd < 1U << (_IOC_SIZEBITS + _IOC_DIRBITS); cmd++) {
			unsigned int size = cmd & _IOC_SIZEMASK, dir = cmd >> _IOC_SIZEBITS;
			const struct dealbox_ioctl *ioctl =
				dealbox_ioctl_find(_IOC(dir, DEALBOX_IOC_MAGIC, nr, size));

			bool owner = false;

			if (!ioctl)
				continue;
			for (size_t n = 0; n < ARRAY_SIZE(owners); n++)
				owner |= owners[n] == ioctl->cmd;
			KUNIT_ASSERT_EQ(test, ioctl->owner, owner);
			KUNIT_ASSERT_EQ(test, _IOC_NR(ioctl->cmd), nr);
			KUNIT_ASSERT_EQ(test, dir != _IOC_NONE, size != 0);
			KUNIT_ASSERT_TRUE(test, size <= DEALBOX_ARG_MAX);
			found++;
			numbers = nr + 1;
		}
	KUNIT_ASSERT_EQ(test, found, numbers);
	KUNIT_ASSERT_TRUE(test, numbers > 8);
	KUNIT_ASSERT_TRUE(test, !dealbox_ioctl_find(0));
}

/* Answer each request with zeroes, or fail it. Return the error of the call. */
static int answer(struct host *h, unsigned int cmd, void *arg, int failure)
{
	fresh(h);
	dealbox_call_ioctl(&h->call, cmd, arg);
	while (next(h) != DEALBOX_DONE) {
		memset(h->data, 0, sizeof(h->data));
		h->result = failure ?: h->call.length;
	}
	return h->call.error;
}

/*
 * The module copies an argument back if the call succeeds or fails with
 * -EREMOTEIO. Those that are not read before must then be filled.
 */
static void test_answers_are_whole(struct kunit *test)
{
	static const unsigned int queries[] = {
		DEALBOX_IOC_GET_STATUS, DEALBOX_IOC_GET_COUNTERS,
		DEALBOX_IOC_GET_ATTESTATION, DEALBOX_IOC_GET_IDENTITY,
	};
	static u64 one[DEALBOX_ARG_MAX / sizeof(u64)], two[DEALBOX_ARG_MAX / sizeof(u64)];
	struct host *h = host(test, DEALBOX_CAP_STORED_PLAN);

	h->core.machine.capabilities |= DEALBOX_CAP_ATTEST;
	for (size_t n = 0; n < ARRAY_SIZE(queries); n++) {
		memset(one, 0, sizeof(one));
		memset(two, 0xff, sizeof(two));
		KUNIT_ASSERT_EQ(test, answer(h, queries[n], one, 0), 0);
		KUNIT_ASSERT_EQ(test, answer(h, queries[n], two, 0), 0);
		KUNIT_ASSERT_MEMEQ(test, one, two, _IOC_SIZE(queries[n]));
		for (int error = 1; error < 134; error++) {
			answer(h, queries[n], one, -error);
			KUNIT_ASSERT_TRUE(test, h->call.error < 0);
			KUNIT_ASSERT_TRUE(test, h->call.error != -EREMOTEIO);
		}
	}
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(test_the_first_call),
	KUNIT_CASE(test_a_machine_that_must_be_asked_what_it_is),
	KUNIT_CASE(test_a_known_machine_is_not_asked_what_it_is),
	KUNIT_CASE(test_a_descriptor_by_request),
	KUNIT_CASE(test_each_host_has_its_tags),
	KUNIT_CASE(test_errors_of_a_transfer),
	KUNIT_CASE(test_status),
	KUNIT_CASE(test_parameters),
	KUNIT_CASE(test_a_command_whose_transfer_failed),
	KUNIT_CASE(test_a_command_that_never_arrived),
	KUNIT_CASE(test_what_may_be_started),
	KUNIT_CASE(test_a_pause),
	KUNIT_CASE(test_a_plan_is_loaded),
	KUNIT_CASE(test_the_answer_to_load_is_lost),
	KUNIT_CASE(test_a_plan_is_not_loaded),
	KUNIT_CASE(test_a_plan_that_is_late),
	KUNIT_CASE(test_a_plan_that_is_stalled),
	KUNIT_CASE(test_a_plan_that_is_lost),
	KUNIT_CASE(test_a_plan_that_the_host_keeps),
	KUNIT_CASE(test_events_and_gates),
	KUNIT_CASE(test_gates_under_way),
	KUNIT_CASE(test_failures_and_resets),
	KUNIT_CASE(test_gates_in_bytes),
	KUNIT_CASE(test_serial_requests),
	KUNIT_CASE(test_serial_events),
	KUNIT_CASE(test_ioctls),
	KUNIT_CASE(test_answers_are_whole),
	KUNIT_CASE(test_attest),
	KUNIT_CASE(test_attestation),
	KUNIT_CASE(test_identity),
	KUNIT_CASE(test_a_plan_in_every_order),
	KUNIT_CASE(test_an_answer_in_every_order),
	KUNIT_CASE(test_gates_in_every_order),
	{ }
};

static struct kunit_suite core_suite = {
	.name = "dealbox_core",
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);
