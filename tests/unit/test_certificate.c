// SPDX-License-Identifier: LGPL-2.1-or-later
/* Manifests and certificates: signed text cannot be changed, and hides the cards. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/certificate.h>

#include "fairness/signed-text.h"

static const char description[] =
	"TN Club evening\nDI Lottery of 1 May\nSN 2:1-8,9-16:rr#:Round robin #\n"
	"SN 1:17-32:f:Final\n"
	"KH 180420a5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943\n";

struct fixture {
	struct dealbox_random *random;
	struct dealbox_signer *organiser, *machine;
	struct dealbox_square *square;
	char *text;			/* of the manifest */
	struct dealbox_manifest *manifest;
	uint8_t opening[DEALBOX_OPENING];
};

static int fixture_make(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));
	struct dealbox_error error;

	assert_int_equal(dealbox_random_new(&fixture->random), 0);
	assert_int_equal(dealbox_signer_new(fixture->random, &fixture->organiser), 0);
	assert_int_equal(dealbox_signer_new(fixture->random, &fixture->machine), 0);
	dealbox_random_bytes(fixture->random, fixture->opening, sizeof(fixture->opening));
	assert_int_equal(dealbox_square_parse(description, strlen(description), &fixture->square,
					      &error), 0);
	fixture->text = dealbox_manifest_make(fixture->square, NULL, fixture->organiser, 1763640000,
					      &error);
	assert_non_null(fixture->text);
	assert_int_equal(dealbox_manifest_parse(fixture->text, strlen(fixture->text),
						&fixture->manifest, &error), 0);
	*state = fixture;
	return 0;
}

static int fixture_free(void **state)
{
	struct fixture *fixture = *state;

	dealbox_manifest_free(fixture->manifest);
	free(fixture->text);
	dealbox_square_free(fixture->square);
	dealbox_signer_free(fixture->organiser);
	dealbox_signer_free(fixture->machine);
	dealbox_random_free(fixture->random);
	test_free(fixture);
	return 0;
}

static void test_signing_keys(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_signer *again;
	struct dealbox_error error;
	char *text = dealbox_signer_print(fixture->machine);

	assert_int_equal(dealbox_signer_parse(text, strlen(text), &again, &error), 0);
	assert_memory_equal(dealbox_signer_public(again), dealbox_signer_public(fixture->machine),
			    DEALBOX_SIGNER_KEY);
	dealbox_signer_free(again);
	text[30] = 'x';
	assert_int_equal(dealbox_signer_parse(text, strlen(text), &again, &error), -EINVAL);
	assert_int_equal(dealbox_signer_parse(text, 20, &again, &error), -EINVAL);
	free(text);
}

static void test_manifest_promises_everything(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		const char *from, *to, *differs;
	} changes[] = {
		{ "Club", "Clug", "name" }, { "1 May", "2 May", "delayed information" },
		{ "SN 2:", "SN 3:", "phases" }, { "1-8,9-16", "1-9,9-16", "phases" },
		{ "rr#", "rs#", "phases" }, { "SN 1:17-32:f:Final\n", "", "phases" },
		{ "KH 18", "KH 19", "hash of the keys" },
	};

	assert_int_equal(dealbox_manifest_time(fixture->manifest), 1763640000);
	assert_memory_equal(dealbox_manifest_signer(fixture->manifest),
			    dealbox_signer_public(fixture->organiser), DEALBOX_SIGNER_KEY);
	assert_int_equal(dealbox_manifest_compare(fixture->manifest, fixture->square, NULL), 0);
	assert_non_null(strstr(fixture->text, "time 2025-11-20T12:00:00.000000Z\n"));
	/* the value is not promised, because it is unknown */
	assert_int_equal(dealbox_square_set_value(fixture->square, "7", NULL), 0);
	assert_int_equal(dealbox_manifest_compare(fixture->manifest, fixture->square, NULL), 0);

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const char *at = strstr(description, changes[i].from);
		struct dealbox_error error;
		struct dealbox_square *other;
		char text[1024];

		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - description), description,
			 changes[i].to, at + strlen(changes[i].from));
		assert_int_equal(dealbox_square_parse(text, strlen(text), &other, &error), 0);
		assert_int_equal(dealbox_manifest_compare(fixture->manifest, other, &error),
				 -EBADMSG);
		assert_non_null(strstr(error.what, changes[i].differs));
		dealbox_square_free(other);
	}
}

static void test_unpublished_has_no_manifest(void **state)
{
	static const char draft[] = "TN a\nDI b\nSN 1:8:c:d\n";
	struct fixture *fixture = *state;
	struct dealbox_square *square;
	struct dealbox_error error = { 0 };

	assert_int_equal(dealbox_square_parse(draft, strlen(draft), &square, &error), 0);
	assert_null(dealbox_manifest_make(square, NULL, fixture->organiser, 0, &error));
	assert_true(*error.what);
	assert_int_equal(error.code, -EINVAL);
	dealbox_square_free(square);
}

/* Every single byte of a manifest matters. */
static void test_manifest_cannot_be_changed(void **state)
{
	struct fixture *fixture = *state;
	const size_t size = strlen(fixture->text);
	struct dealbox_manifest *manifest = NULL;
	char *text = strdup(fixture->text);

	for (size_t i = 0; i < size; i++) {
		text[i] ^= 1;
		assert_true(dealbox_manifest_parse(text, size, &manifest, NULL) < 0);
		text[i] ^= 1;
	}
	for (size_t cut = 0; cut < size; cut++)
		assert_true(dealbox_manifest_parse(text, cut, &manifest, NULL) < 0);
	assert_null(manifest);
	free(text);
}

/* Only one form of a manifest is valid: another text must not pass for the same promise. */
static void test_only_one_form(void **state)
{
	struct fixture *fixture = *state;
	static const char *const changes[][2] = {
		{ "\nTN ", "\nTN  " }, { "\nSN 2", "\n# x\nSN 2" }, { "\nKH ", "\nDV 7\nKH " },
		{ ".000000Z", ".0000000Z" }, { "manifest 1", "manifest  1" },
		{ "\nTN ", "\nTN \t" },
		{ "\nTN ", "\nTN a\x1f" }, { "\nDI ", "\nDI a\x7f" }, { "\nSN ", "\r\nSN " },
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		/* a malicious signer: make body and signature anew */
		const char *at = strstr(fixture->text, changes[i][0]),
			   *end = strstr(fixture->text, "signer ");
		struct dealbox_manifest *manifest = NULL;
		char body[2048], *text;

		assert_non_null(at);
		snprintf(body, sizeof(body), "%.*s%s%.*s", (int)(at - fixture->text), fixture->text,
			 changes[i][1], (int)(end - at - (int)strlen(changes[i][0])),
			 at + strlen(changes[i][0]));
		text = text_sign(body, fixture->organiser);
		assert_int_equal(dealbox_manifest_parse(text, strlen(text), &manifest, NULL),
				 -EINVAL);
		free(text);
	}
}

static struct dealbox_trace *trace_of(uint32_t insertion)
{
	struct dealbox_trace *trace = dealbox_trace_new(insertion);
	struct dealbox_event event = { .insertion = insertion, .type = DEALBOX_EV_CARD_READ };

	assert_int_equal(dealbox_trace_add(trace, &event), 1);
	return trace;
}

static struct dealbox_deal deal_of(struct fixture *fixture)
{
	struct dealbox_deal deal;

	assert_int_equal(dealbox_random_deal(fixture->random, NULL, NULL, &deal), 0);
	return deal;
}

static const struct dealbox_certificate of_board_1 = {
	.version = 1, .board = 1, .copy = 1, .session = "rr1", .pockets = "NESW", .machine = "m",
	.insertion = 1,
};

/* Returns a file of certificates for that many boards; free it. deals gets the deals. */
static char *file_make(struct fixture *fixture, unsigned int boards, bool open,
		       struct dealbox_deal *deals)
{
	struct dealbox_certificates *certificates;
	uint8_t previous[DEALBOX_HASH];
	char *file = calloc(1, (boards + 1) * 2048), *text;

	memcpy(previous, dealbox_manifest_hash(fixture->manifest), DEALBOX_HASH);
	for (unsigned int i = 0; i < boards; i++) {
		struct dealbox_trace *trace = trace_of(100 + i);
		struct dealbox_certificate c = {
			.version = 1, .board = i + 1, .copy = 1, .session = "rr1",
			.pockets = "NESW", .exact = true,
			.basis = DEALBOX_BASIS_SENSORS, .identified = true, .machine = "EM-0001",
			.insertion = 100 + i, .time_us = 1763640000123456 + i,
		};

		memcpy(c.manifest, dealbox_manifest_hash(fixture->manifest), DEALBOX_HASH);
		memcpy(c.previous, previous, DEALBOX_HASH);
		deals[i] = deal_of(fixture);
		assert_int_equal(dealbox_certificate_commit(&c, fixture->opening, &deals[i], trace),
				 0);
		text = dealbox_certificate_sign(&c, fixture->machine);
		assert_non_null(text);
		strcat(file, text);
		memcpy(previous, c.hash, DEALBOX_HASH);
		free(text);
		dealbox_trace_free(trace);
	}
	if (open) {
		assert_int_equal(dealbox_certificates_parse(file, strlen(file), fixture->manifest,
							    &certificates, NULL),
				 0);
		text = dealbox_certificates_open(certificates, fixture->machine, fixture->opening);
		strcat(file, text);
		free(text);
		dealbox_certificates_free(certificates);
	}
	return file;
}

static void test_certificates_prove_the_deal(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_certificates *certificates;
	struct dealbox_deal deals[3], other;
	char *file = file_make(fixture, 3, true, deals);
	struct dealbox_trace *trace = trace_of(101), *another = trace_of(102);
	const uint8_t *opening;

	assert_int_equal(dealbox_certificates_parse(file, strlen(file), fixture->manifest,
						    &certificates, NULL), 0);
	assert_int_equal(dealbox_certificates_count(certificates), 3);
	opening = dealbox_certificates_opening(certificates);
	assert_non_null(opening);
	for (unsigned int i = 0; i < 3; i++) {
		const struct dealbox_certificate *c = dealbox_certificates_get(certificates, i);

		assert_int_equal(c->board, i + 1);
		assert_string_equal(c->machine, "EM-0001");
		assert_int_equal(c->time_us, 1763640000123456 + i);
		assert_true(dealbox_certificate_opens(c, opening, &deals[i], NULL));
		assert_false(dealbox_certificate_opens(c, opening, &deals[(i + 1) % 3], NULL));
		/* two cards exchanged */
		other = deals[i];
		const dealbox_cards a = other.hand[0] & -other.hand[0],
				    b = other.hand[1] & -other.hand[1];

		other.hand[0] ^= a | b;
		other.hand[1] ^= a | b;
		assert_false(dealbox_certificate_opens(c, opening, &other, NULL));
	}
	assert_true(dealbox_certificate_opens(dealbox_certificates_get(certificates, 1), opening,
					      &deals[1], trace));
	assert_false(dealbox_certificate_opens(dealbox_certificates_get(certificates, 1), opening,
					       &deals[1], another));
	dealbox_trace_free(trace);
	dealbox_trace_free(another);
	dealbox_certificates_free(certificates);
	free(file);
}

/* Without the opening a digest reveals nothing: the same deal never has the same digest twice. */
static void test_certificates_hide_the_cards(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_certificate c = of_board_1, d = of_board_1;
	const struct dealbox_deal deal = deal_of(fixture);
	struct dealbox_trace *trace = trace_of(1);
	uint8_t other[DEALBOX_OPENING];

	assert_int_equal(dealbox_certificate_commit(&c, fixture->opening, &deal, trace), 0);
	d.copy = 2;
	assert_int_equal(dealbox_certificate_commit(&d, fixture->opening, &deal, trace), 0);
	assert_memory_not_equal(c.plan, d.plan, DEALBOX_HASH);
	assert_memory_not_equal(c.trace, d.trace, DEALBOX_HASH);
	d.copy = 1;
	memcpy(other, fixture->opening, sizeof(other));
	other[31] ^= 1;
	assert_int_equal(dealbox_certificate_commit(&d, other, &deal, trace), 0);
	assert_memory_not_equal(c.plan, d.plan, DEALBOX_HASH);
	assert_false(dealbox_certificate_opens(&c, other, &deal, NULL));
	dealbox_trace_free(trace);
}

/* The trace can be checked without the opening, and vice versa, with the same result. */
static void test_trace_is_committed_to_elsewhere(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_certificate whole = of_board_1, parts = of_board_1;
	const struct dealbox_deal deal = deal_of(fixture);
	struct dealbox_trace *trace = trace_of(1);
	uint8_t salt[DEALBOX_HASH];

	assert_int_equal(dealbox_certificate_commit(&whole, fixture->opening, &deal, trace), 0);
	dealbox_certificate_salt(&parts, fixture->opening, salt);
	dealbox_trace_commit(trace, salt, parts.trace);
	assert_int_equal(dealbox_certificate_commit(&parts, fixture->opening, &deal, NULL), 0);
	assert_memory_equal(parts.plan, whole.plan, DEALBOX_HASH);
	assert_memory_equal(parts.trace, whole.trace, DEALBOX_HASH);
	assert_true(dealbox_certificate_opens(&parts, fixture->opening, &deal, trace));
	dealbox_trace_free(trace);
}

static int file_try(struct fixture *fixture, const char *file, size_t size)
{
	struct dealbox_certificates *certificates = NULL;
	struct dealbox_error error = { 0 };
	int err = dealbox_certificates_parse(file, size, fixture->manifest, &certificates, &error);

	if (err)
		assert_true(*error.what && !certificates);
	else
		dealbox_certificates_free(certificates);
	return err;
}

static void test_chain_cannot_be_changed(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_deal deals[4];
	char *file = file_make(fixture, 4, true, deals);
	static char cut[5 * 2048];
	const size_t size = strlen(file);
	char *starts[6];
	size_t parts = 0;

	assert_int_equal(file_try(fixture, file, size), 0);
	for (size_t i = 0; i < size; i++) {
		file[i] ^= 1;
		assert_true(file_try(fixture, file, size) < 0);
		file[i] ^= 1;
	}
	for (char *at = file; at && parts < 5; parts++) {
		starts[parts] = at;
		at = strstr(at, "\nsignature ");
		at = at ? strchr(at + 1, '\n') + 1 : NULL;
	}
	starts[5] = file + size;
	assert_int_equal(parts, 5);
	/* one left out; two exchanged; one twice; the last cut off, but opened */
	snprintf(cut, sizeof(cut), "%.*s%s", (int)(starts[1] - file), file, starts[2]);
	assert_int_equal(file_try(fixture, cut, strlen(cut)), -EBADMSG);
	snprintf(cut, sizeof(cut), "%.*s%.*s%.*s%s", (int)(starts[1] - file), file,
		 (int)(starts[3] - starts[2]), starts[2], (int)(starts[2] - starts[1]), starts[1],
		 starts[3]);
	assert_int_equal(file_try(fixture, cut, strlen(cut)), -EBADMSG);
	snprintf(cut, sizeof(cut), "%.*s%s", (int)(starts[2] - file), file, starts[1]);
	assert_int_equal(file_try(fixture, cut, strlen(cut)), -EBADMSG);
	snprintf(cut, sizeof(cut), "%.*s%s", (int)(starts[3] - file), file, starts[4]);
	assert_int_equal(file_try(fixture, cut, strlen(cut)), -EBADMSG);
	/* nothing may follow the opening */
	snprintf(cut, sizeof(cut), "%s%s", file, starts[4]);
	assert_int_equal(file_try(fixture, cut, strlen(cut)), -EBADMSG);
	/* without the end and the opening the file is valid, and merely not opened */
	assert_int_equal(file_try(fixture, file, (size_t)(starts[3] - file)), 0);
	assert_int_equal(file_try(fixture, file, 0), 0);
	free(file);
}

static void test_other_manifest_other_signer(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_certificates *certificates;
	struct dealbox_manifest *later;
	struct dealbox_deal deals[2];
	char *file = file_make(fixture, 1, false, deals), *text;
	struct dealbox_error error;

	/* the same promise signed a second later is another manifest */
	text = dealbox_manifest_make(fixture->square, NULL, fixture->organiser, 1763640001, &error);
	assert_int_equal(dealbox_manifest_parse(text, strlen(text), &later, &error), 0);
	assert_int_equal(dealbox_certificates_parse(file, strlen(file), later, &certificates,
						    &error), -EBADMSG);
	dealbox_manifest_free(later);
	free(text);

	/* an opening that somebody else signs */
	assert_int_equal(dealbox_certificates_parse(file, strlen(file), fixture->manifest,
						    &certificates, &error), 0);
	text = dealbox_certificates_open(certificates, fixture->organiser, fixture->opening);
	dealbox_certificates_free(certificates);
	file = realloc(file, 8192);
	strcat(file, text);
	assert_int_equal(file_try(fixture, file, strlen(file)), -EBADMSG);
	free(text);
	free(file);
}

/* A manifest that is made can be read: no control character, which would be refused there. */
static void test_manifest_without_control_characters(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_square *square = dealbox_square_new();
	const struct dealbox_square_phase phase = { 1, "1-2", "rr", "Round\x1b[31m" };
	struct dealbox_square_keys *keys;
	struct dealbox_error error;

	assert_int_equal(dealbox_square_set_name(square, "Club", NULL), 0);
	assert_int_equal(dealbox_square_set_info(square, "Lottery", NULL), 0);
	assert_int_equal(dealbox_square_add_phase(square, &phase, NULL), 0);
	assert_int_equal(dealbox_square_publish(square, fixture->random, &keys, NULL), 0);
	assert_null(dealbox_manifest_make(square, NULL, fixture->organiser, 1, &error));
	assert_non_null(strstr(error.what, "control character"));
	dealbox_square_keys_free(keys);
	dealbox_square_free(square);
}

static void test_what_cannot_be_said(void **state)
{
	struct fixture *fixture = *state;
	struct dealbox_certificate bad[6] = { of_board_1, of_board_1, of_board_1, of_board_1,
					      of_board_1, of_board_1 };
	struct dealbox_certificate fine = of_board_1;
	char *text = dealbox_certificate_sign(&fine, fixture->machine);

	assert_non_null(text);
	free(text);
	strcpy(bad[0].machine, "a\nverdict exact");
	bad[1].session[0] = 0;
	bad[2].board = 0;
	strcpy(bad[3].pockets, "NNSW");
	bad[4].time_us = -1;
	bad[5].reserved[31] = 1;
	for (size_t i = 0; i < 6; i++)
		assert_null(dealbox_certificate_sign(&bad[i], fixture->machine));
}

static void test_machines_of_a_promise(void **state)
{
	static const char key[] =
		"0101010101010101010101010101010101010101010101010101010101010101";
	static const char *const bad[] = {
		"", "-", "- real", "- real ", "- true x", "-  real x", "x real x", "- real a\tb",
		"-real x",
	};
	struct dealbox_promised_machine machine;
	char text[256], *again;

	(void)state;
	for (int n = 0; n < 4; n++) {
		snprintf(text, sizeof(text), "%s %s a b", n & 1 ? key : "-",
			 n & 2 ? "emulator" : "real");
		assert_int_equal(dealbox_promised_machine_parse(text, &machine), 0);
		assert_int_equal(machine.keyed, n & 1);
		assert_int_equal(machine.emulator, !!(n & 2));
		assert_int_equal(machine.key[31], n & 1);
		assert_string_equal(machine.name, "a b");
		again = dealbox_promised_machine_print(&machine);
		assert_string_equal(again, text);
		free(again);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(dealbox_promised_machine_parse(bad[i], &machine), -EINVAL);
	for (int size = 127; size <= 128; size++) {
		snprintf(text, sizeof(text), "- real %0*d", size, 1);
		assert_int_equal(dealbox_promised_machine_parse(text, &machine),
				 size == 127 ? 0 : -EINVAL);
	}
}

static const struct dealbox_promised_machine two_machines[] = {
	{ .keyed = true, .key = { 7 }, .name = "b" }, { .emulator = true, .name = "a" },
};

/* A promise is the same in whatever order it is given. */
static void test_promise(void **state)
{
	static const uint8_t pcs[2][DEALBOX_SIGNER_KEY] = { { 2 }, { 1 } };
	struct fixture *fixture = *state;
	struct dealbox_promise promise = {
		.copies = 3, .pcs = pcs, .pc_count = 2, .machines = two_machines,
		.machine_count = 2,
	};
	const struct dealbox_promise *found;
	struct dealbox_manifest *manifest;
	struct dealbox_error error;
	char *text =
		dealbox_manifest_make(fixture->square, &promise, fixture->organiser, 1, &error);

	assert_non_null(text);
	assert_int_equal(dealbox_manifest_parse(text, strlen(text), &manifest, &error), 0);
	found = dealbox_manifest_promise(manifest);
	assert_int_equal(found->copies, 3);
	assert_int_equal(found->pc_count, 2);
	assert_int_equal(found->pcs[0][0], 1);
	assert_int_equal(found->machine_count, 2);
	assert_string_equal(found->machines[0].name, "a");
	assert_true(found->machines[0].emulator && !found->machines[0].keyed);
	assert_true(found->machines[1].keyed && found->machines[1].key[0] == 7);
	assert_int_equal(dealbox_manifest_compare(manifest, fixture->square, NULL), 0);
	assert_null(dealbox_manifest_promise(fixture->manifest));
	dealbox_manifest_free(manifest);
	free(text);
}

static void test_promise_that_nobody_can_keep(void **state)
{
	static const uint8_t twice[2][DEALBOX_SIGNER_KEY] = { { 1 }, { 1 } };
	static const struct dealbox_promised_machine same[] = {
		{ .name = "a" }, { .name = "a", .keyed = true }
	};
	static const struct dealbox_promised_machine nameless[] = { { .name = "" } };
	static const struct dealbox_promised_machine later[] = {
		{ .name = "a", .reserved = { [3] = 1 } }
	};
	static const struct {
		struct dealbox_promise promise;
		const char *fault;
	} bad[] = {
		{ { .copies = 1, .reserved = { [7] = 1 } }, "reserved space of the promise" },
		{ { .copies = 1, .machines = later, .machine_count = 1 },
		  "reserved space of a machine" },
		{ { .copies = 0 }, "copies" }, { { .copies = 65536 }, "copies" },
		{ { .copies = 1, .pcs = twice, .pc_count = 2 }, "PC is there twice" },
		{ { .copies = 1, .machines = same, .machine_count = 2 }, "machine is there twice" },
		{ { .copies = 1, .machines = nameless, .machine_count = 1 }, "name of a machine" },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct dealbox_error error = { 0 };

		assert_null(dealbox_manifest_make(fixture->square, &bad[i].promise,
						  fixture->organiser, 1, &error));
		assert_non_null(strstr(error.what, bad[i].fault));
	}
}

/* Only the salt opens a nonce, and what it is sealed with is that of its statement. */
static void test_nonces_are_sealed(void **state)
{
	const uint8_t salt[DEALBOX_HASH] = { 1 }, other[DEALBOX_HASH] = { 2 };
	struct dealbox_attestation one = { .statement = { 1 } }, two = { .statement = { 2 } };
	uint8_t nonce[DEALBOX_NONCE_SIZE] = { 9 }, sealed[DEALBOX_NONCE_SIZE],
		again[DEALBOX_NONCE_SIZE];

	(void)state;
	memcpy(sealed, nonce, sizeof(nonce));
	dealbox_nonce_seal(sealed, &one, salt);
	assert_memory_not_equal(sealed, nonce, sizeof(nonce));
	memcpy(again, sealed, sizeof(again));
	dealbox_nonce_seal(again, &one, salt);
	assert_memory_equal(again, nonce, sizeof(nonce));
	memcpy(again, sealed, sizeof(again));
	dealbox_nonce_seal(again, &one, other);
	assert_memory_not_equal(again, nonce, sizeof(nonce));
	memcpy(again, nonce, sizeof(again));
	dealbox_nonce_seal(again, &two, salt);
	assert_memory_not_equal(again, sealed, sizeof(nonce));
}

/* The fields that version 2 adds survive signing and parsing. */
static void test_word_of_the_machine(void **state)
{
	struct fixture *fixture = *state;
	const struct dealbox_promise promise = { .copies = 1 };
	struct dealbox_certificate c = of_board_1, bad[6];
	const struct dealbox_certificate *read;
	struct dealbox_certificates *certificates;
	struct dealbox_manifest *manifest;
	char *text;

	text = dealbox_manifest_make(fixture->square, &promise, fixture->organiser, 1, NULL);
	assert_int_equal(dealbox_manifest_parse(text, strlen(text), &manifest, NULL), 0);
	free(text);
	memcpy(c.manifest, dealbox_manifest_hash(manifest), DEALBOX_HASH);
	memcpy(c.previous, dealbox_manifest_hash(manifest), DEALBOX_HASH);
	/* version 1 belongs to a manifest of version 1 */
	text = dealbox_certificate_sign(&c, fixture->machine);
	assert_int_equal(dealbox_certificates_parse(text, strlen(text), manifest, &certificates,
						    NULL), -EINVAL);
	free(text);
	c.version = 2;
	c.by = DEALBOX_BY_EMULATOR;
	c.number = 77;
	c.attested = true;
	memset(c.key, 1, sizeof(c.key));
	memset(c.attestation.statement, 2, sizeof(c.attestation.statement));
	memset(c.attestation.signature, 3, sizeof(c.attestation.signature));
	memset(c.nonce, 4, sizeof(c.nonce));
	text = dealbox_certificate_sign(&c, fixture->machine);
	assert_int_equal(dealbox_certificates_parse(text, strlen(text), manifest, &certificates,
						    NULL), 0);
	free(text);
	read = dealbox_certificates_get(certificates, 0);
	assert_int_equal(read->version, 2);
	assert_int_equal(read->by, DEALBOX_BY_EMULATOR);
	assert_int_equal(read->number, 77);
	assert_true(read->attested);
	assert_memory_equal(read->key, c.key, sizeof(c.key));
	assert_memory_equal(&read->attestation, &c.attestation, sizeof(c.attestation));
	assert_memory_equal(read->nonce, c.nonce, sizeof(c.nonce));
	assert_memory_equal(dealbox_certificates_signer(certificates),
			    dealbox_signer_public(fixture->machine), DEALBOX_SIGNER_KEY);
	dealbox_certificates_free(certificates);
	assert_int_equal(dealbox_certificates_parse("", 0, manifest, &certificates, NULL), 0);
	assert_null(dealbox_certificates_signer(certificates));
	dealbox_certificates_free(certificates);
	dealbox_manifest_free(manifest);

	for (size_t i = 0; i < 6; i++)
		bad[i] = c;
	bad[0].version = 3;
	bad[1].version = 1;
	bad[2].by = DEALBOX_BY_HAND;		/* with a machine */
	strcpy(bad[3].machine, "-");		/* without */
	bad[4].by = (enum dealbox_dealt_by)3;
	bad[5].by = DEALBOX_BY_HAND;
	strcpy(bad[5].machine, "-");		/* and a machine has signed */
	bad[5].insertion = bad[5].number = 0;
	for (size_t i = 0; i < 6; i++)
		assert_null(dealbox_certificate_sign(&bad[i], fixture->machine));
	bad[5].attested = false;
	text = dealbox_certificate_sign(&bad[5], fixture->machine);
	assert_non_null(text);
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_signing_keys),
		TEST(test_manifest_promises_everything),
		TEST(test_unpublished_has_no_manifest),
		TEST(test_manifest_cannot_be_changed),
		TEST(test_only_one_form),
		TEST(test_certificates_prove_the_deal),
		TEST(test_certificates_hide_the_cards),
		TEST(test_trace_is_committed_to_elsewhere),
		TEST(test_chain_cannot_be_changed),
		TEST(test_other_manifest_other_signer),
		TEST(test_manifest_without_control_characters),
		TEST(test_what_cannot_be_said),
		TEST(test_machines_of_a_promise),
		TEST(test_promise),
		TEST(test_promise_that_nobody_can_keep),
		TEST(test_nonces_are_sealed),
		TEST(test_word_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
