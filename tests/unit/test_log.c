// SPDX-License-Identifier: LGPL-2.1-or-later
/* Logs: proofs of every leaf and of every earlier head hold, and nothing else does. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/log.h>

#include "fairness/signed-text.h"

#define LEAVES	37	/* beyond 32: proofs on both sides of a power of two */
#define MANIFEST "180420a5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943"

struct fixture {
	struct dealbox_random *random;
	struct dealbox_signer *pc, *witness;
	char *file;			/* certificates */
	size_t end[LEAVES + 1];
	struct dealbox_log *log;
	struct dealbox_checkpoint head[LEAVES + 1];
};

/* Appends a certificate, of which a log reads the first lines. */
static char *certificate(const struct dealbox_signer *signer, const char *manifest,
			 unsigned int board)
{
	char *body, *text;

	assert_true(asprintf(&body, "dealbox certificate 2\nmanifest %s\nsession rr1\n"
			     "board %u\ncopy 1\npockets NESW\n", manifest, board) > 0);
	text = text_sign(body, signer);
	assert_non_null(text);
	free(body);
	return text;
}

static int fixture_make(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));
	size_t size;
	FILE *out = open_memstream(&f->file, &size);

	assert_int_equal(dealbox_random_new(&f->random), 0);
	assert_int_equal(dealbox_signer_new(f->random, &f->pc), 0);
	assert_int_equal(dealbox_signer_new(f->random, &f->witness), 0);
	for (unsigned int i = 0; i < LEAVES; i++) {
		char *text = certificate(f->pc, MANIFEST, i + 1);

		fputs(text, out);
		fflush(out);
		f->end[i + 1] = size;
		free(text);
	}
	fclose(out);
	assert_int_equal(dealbox_log_parse(f->file, size, &f->log, NULL), 0);
	assert_int_equal(dealbox_log_size(f->log), LEAVES);
	for (unsigned int i = 1; i <= LEAVES; i++)
		assert_int_equal(dealbox_log_head(f->log, i, &f->head[i]), 0);
	strcpy(f->head[0].origin, f->head[1].origin);
	*state = f;
	return 0;
}

static int fixture_free(void **state)
{
	struct fixture *f = *state;

	dealbox_log_free(f->log);
	free(f->file);
	dealbox_signer_free(f->pc);
	dealbox_signer_free(f->witness);
	dealbox_random_free(f->random);
	test_free(f);
	return 0;
}

static void test_heads(void **state)
{
	struct fixture *f = *state;
	struct dealbox_checkpoint head;
	struct dealbox_log_key key;
	char spoken[DEALBOX_LOG_SPOKEN], origin[DEALBOX_LOG_NAME], hex[HEX(DEALBOX_SIGNER_KEY)];

	hex_put(dealbox_signer_public(f->pc), DEALBOX_SIGNER_KEY, hex);
	snprintf(origin, sizeof(origin), "dealbox/180420a5efc19f03/%.16s", hex);
	assert_string_equal(f->head[1].origin, origin);
	dealbox_log_get_key(f->log, &key);
	assert_string_equal(key.name, origin);
	assert_false(key.witness);
	assert_int_equal(dealbox_log_head(f->log, 0, &head), -EINVAL);
	assert_int_equal(dealbox_log_head(f->log, LEAVES + 1, &head), -EINVAL);
	/* a file that is cut has the heads of its leaves, and not the later ones */
	for (unsigned int n = 1; n <= LEAVES; n++) {
		struct dealbox_log *cut;

		assert_int_equal(dealbox_log_parse(f->file, f->end[n], &cut, NULL), 0);
		assert_int_equal(dealbox_log_head(cut, n, &head), 0);
		assert_memory_equal(&head, &f->head[n], sizeof(head));
		for (unsigned int m = 1; m <= LEAVES; m++)
			assert_int_equal(dealbox_log_continues(cut, &f->head[m]), m <= n);
		dealbox_log_free(cut);
		dealbox_checkpoint_spoken(&head, spoken);
		assert_true(dealbox_checkpoint_heard(&head, spoken));
		assert_false(dealbox_checkpoint_heard(&f->head[n == 1 ? 2 : 1], spoken));
	}
}

static void test_spoken(void **state)
{
	static const struct dealbox_checkpoint head = {
		.origin = "x", .size = 17,
		.root = { 0x4f, 0x3a, 0x91, 0xc2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
			  19, 0xab, 1 },
	};
	static const char *const good[] = {
		"17 4f3a 91c2 0506 0708 090a 0b0c 0d0e 0f10 1112 13ab",
		"17-4F3A-91C2-0506-0708-090A-0B0C-0D0E-0F10-1112-13AB",
		"17 4f3a91c205060708090a0b0c0d0e0f10111213ab",
	};
	static const char *const bad[] = {
		"", "17", "17 ", "18 4f3a 91c2 0506 0708 090a 0b0c 0d0e 0f10 1112 13ab",
		"17 4f3a 91c2 0506 0708 090a 0b0c 0d0e 0f10 1112 13ac",
		"17 4f3a 91c2 0506 0708 090a 0b0c 0d0e 0f10 1112 13a",
		"17 4f3a 91c2 0506 0708 090a 0b0c 0d0e 0f10 1112 13ab 0",
		"017 4f3a 91c2 0506 0708 090a 0b0c 0d0e 0f10 1112 13ab",
		"174f3a 91c2 0506 0708 090a 0b0c 0d0e 0f10 1112 13ab",
	};
	char text[DEALBOX_LOG_SPOKEN];
	uint64_t size;

	(void)state;
	dealbox_checkpoint_spoken(&head, text);
	assert_string_equal(text, good[0]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(dealbox_checkpoint_heard(&head, good[i]));
		assert_int_equal(dealbox_spoken_parse(good[i], &size), 0);
		assert_int_equal(size, 17);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(dealbox_checkpoint_heard(&head, bad[i]));
}

static void test_inclusion(void **state)
{
	struct fixture *f = *state;
	struct dealbox_log_proof proof, other;
	const char *leaf, *next;
	size_t size, next_size;

	for (unsigned int n = 1; n <= LEAVES; n++)
		for (unsigned int i = 0; i < n; i++) {
			assert_int_equal(dealbox_log_prove(f->log, i, n, &proof), 0);
			leaf = dealbox_log_leaf(f->log, i, &size);
			assert_true(dealbox_inclusion_check(&proof, leaf, size, &f->head[n]));
			/* not at another place, not another leaf, not in another tree */
			for (other = proof, other.place = 0; other.place <= n; other.place++)
				assert_int_equal(other.place == i,
						 dealbox_inclusion_check(&other, leaf, size,
									 &f->head[n]));
			next = dealbox_log_leaf(f->log, (i + 1) % LEAVES, &next_size);
			assert_false(dealbox_inclusion_check(&proof, next, next_size, &f->head[n]));
			if (n < LEAVES)
				assert_false(dealbox_inclusion_check(&proof, leaf, size,
								     &f->head[n + 1]));
			assert_false(dealbox_inclusion_check(&proof, leaf, size, &f->head[n - 1]));
			for (size_t h = 0; h < proof.count; h++) {
				other = proof;
				other.hash[h][h % DEALBOX_HASH] ^= 1;
				assert_false(dealbox_inclusion_check(&other, leaf, size,
								     &f->head[n]));
			}
			other = proof;
			other.count++;
			assert_false(dealbox_inclusion_check(&other, leaf, size, &f->head[n]));
			if (proof.count) {
				other.count = proof.count - 1;
				assert_false(dealbox_inclusion_check(&other, leaf, size,
								     &f->head[n]));
			}
		}
	assert_int_equal(dealbox_log_prove(f->log, 3, 3, &proof), -EINVAL);
	assert_int_equal(dealbox_log_prove(f->log, 3, LEAVES + 1, &proof), -EINVAL);
	assert_null(dealbox_log_leaf(f->log, LEAVES, &size));
}

static void test_consistency(void **state)
{
	struct fixture *f = *state;
	struct dealbox_log_proof proof, other;
	struct dealbox_checkpoint head;

	for (unsigned int n = 1; n <= LEAVES; n++)
		for (unsigned int m = 0; m <= n; m++) {
			assert_int_equal(dealbox_log_prove_since(f->log, m, n, &proof), 0);
			assert_true(dealbox_consistency_check(&proof, &f->head[m], &f->head[n]));
			if (m && m < n)
				assert_false(dealbox_consistency_check(&proof, &f->head[n],
								       &f->head[m]));
			/* another past, another present, another log */
			head = f->head[m];
			head.root[0] ^= 1;
			assert_int_equal(dealbox_consistency_check(&proof, &head, &f->head[n]), !m);
			if (m) {
				head = f->head[n];
				head.root[31] ^= 1;
				assert_false(dealbox_consistency_check(&proof, &f->head[m], &head));
			}
			head = f->head[n];
			strcpy(head.origin, "dealbox/0/0");
			assert_false(dealbox_consistency_check(&proof, &f->head[m], &head));
			for (size_t h = 0; h < proof.count; h++) {
				other = proof;
				other.hash[h][h % DEALBOX_HASH] ^= 1;
				assert_false(dealbox_consistency_check(&other, &f->head[m],
								       &f->head[n]));
			}
			other = proof;
			other.count++;
			assert_false(dealbox_consistency_check(&other, &f->head[m], &f->head[n]));
			if (proof.count) {
				other.count = proof.count - 1;
				assert_false(dealbox_consistency_check(&other, &f->head[m],
								       &f->head[n]));
			}
			other = proof;
			other.place++;
			assert_false(dealbox_consistency_check(&other, &f->head[m], &f->head[n]));
		}
	assert_int_equal(dealbox_log_prove_since(f->log, 3, 2, &proof), -EINVAL);
	assert_int_equal(dealbox_log_prove_since(f->log, 3, LEAVES + 1, &proof), -EINVAL);
}

static void test_files_that_are_no_log(void **state)
{
	static const char other[] =
		"280420a5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943";
	struct fixture *f = *state;
	struct dealbox_log *log;
	struct {
		const struct dealbox_signer *signer;
		const char *manifest;
		int err;
	} seconds[] = {
		{ f->pc, MANIFEST, 0 }, { f->witness, MANIFEST, -EKEYREJECTED },
		{ f->pc, other, -EINVAL },
		{ f->pc, "18", -EINVAL }, { f->pc, "XY", -EINVAL },
	};
	char *text;

	assert_int_equal(dealbox_log_parse("", 0, &log, NULL), -ENODATA);
	assert_int_equal(dealbox_log_parse("x\n", 2, &log, NULL), -EINVAL);
	assert_int_equal(dealbox_log_parse(f->file, f->end[2] - 1, &log, NULL), -EINVAL);
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		char *second = certificate(seconds[i].signer, seconds[i].manifest, 2);

		assert_true(asprintf(&text, "%.*s%s", (int)f->end[1], f->file, second) > 0);
		assert_int_equal(dealbox_log_parse(text, strlen(text), &log, NULL), seconds[i].err);
		if (!seconds[i].err)
			dealbox_log_free(log);
		text[40]++;	/* a digit of the manifest */
		assert_int_equal(dealbox_log_parse(text, strlen(text), &log, NULL), -EKEYREJECTED);
		free(text);
		free(second);
	}
	text = text_sign("dealbox manifest 2\nmanifest " MANIFEST "\n", f->pc);
	assert_int_equal(dealbox_log_parse(text, strlen(text), &log, NULL), -EINVAL);
	free(text);
}

static void test_find(void **state)
{
	struct fixture *f = *state;
	uint64_t index;

	assert_true(dealbox_log_find(f->log, "rr1", 7, 1, &index));
	assert_int_equal(index, 6);
	assert_false(dealbox_log_find(f->log, "rr1", LEAVES + 1, 1, &index));
	assert_false(dealbox_log_find(f->log, "rr1", 7, 2, &index));
	assert_false(dealbox_log_find(f->log, "rr", 7, 1, &index));
}

static void test_signatures(void **state)
{
	struct fixture *f = *state;
	char *note = dealbox_checkpoint_sign(&f->head[5], f->pc), *once, *twice, *forged;
	struct dealbox_log_key pc, witness, other;
	struct dealbox_checkpoint head;
	int64_t at = -1;

	dealbox_log_get_key(f->log, &pc);
	assert_int_equal(dealbox_checkpoint_parse(note, strlen(note), &head, NULL), 0);
	assert_memory_equal(&head, &f->head[5], sizeof(head));
	assert_int_equal(dealbox_checkpoint_verify(note, strlen(note), &pc, &at), 0);
	assert_int_equal(at, 0);

	assert_int_equal(dealbox_log_key_witness("club.example/lisa",
						 dealbox_signer_public(f->witness), &witness), 0);
	assert_int_equal(dealbox_checkpoint_verify(note, strlen(note), &witness, &at), -ENOENT);
	once = dealbox_checkpoint_cosign(note, strlen(note), witness.name, f->witness, 1763640000);
	assert_int_equal(dealbox_checkpoint_verify(once, strlen(once), &witness, &at), 0);
	assert_int_equal(at, 1763640000);
	assert_int_equal(dealbox_checkpoint_verify(once, strlen(once), &pc, &at), 0);
	/* a second time, later: instead of the first */
	twice = dealbox_checkpoint_cosign(once, strlen(once), witness.name, f->witness, 1763640001);
	assert_int_equal(strlen(twice), strlen(once));
	assert_int_equal(dealbox_checkpoint_verify(twice, strlen(twice), &witness, &at), 0);
	assert_int_equal(at, 1763640001);
	free(twice);
	/* any number of witnesses */
	twice = dealbox_checkpoint_cosign(once, strlen(once), "other", f->witness, 1763640002);
	assert_int_equal(dealbox_log_key_witness("other", dealbox_signer_public(f->witness),
						 &other), 0);
	assert_int_equal(dealbox_checkpoint_verify(twice, strlen(twice), &witness, &at), 0);
	assert_int_equal(at, 1763640000);
	assert_int_equal(dealbox_checkpoint_verify(twice, strlen(twice), &other, &at), 0);
	assert_int_equal(at, 1763640002);
	/* a signature of the log is not one of a witness, by the same name and key */
	other = pc;
	other.witness = true;
	assert_int_equal(dealbox_checkpoint_verify(once, strlen(once), &other, &at), -ENOENT);
	/* signatures under another head */
	forged = strdup(once);
	memcpy(strchr(forged, '\n') + 1, "6", 1);
	assert_int_equal(dealbox_checkpoint_verify(forged, strlen(forged), &pc, &at),
			 -EKEYREJECTED);
	assert_int_equal(dealbox_checkpoint_verify(forged, strlen(forged), &witness, &at),
			 -EKEYREJECTED);
	free(forged);
	assert_null(dealbox_checkpoint_cosign(note, strlen(note), "two words", f->witness, 1));
	assert_null(dealbox_checkpoint_cosign("x", 1, "lisa", f->witness, 1));
	free(twice);
	free(once);
	free(note);
}

static void test_keys_as_text(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = { "", "a b", "a+b", "a\tb", "\xc3\xa9" };
	struct dealbox_log_key key, again;
	char *text;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(dealbox_log_key_witness(names[i], dealbox_signer_public(f->pc),
							 &key), -EINVAL);
	assert_int_equal(dealbox_log_key_witness("lisa", dealbox_signer_public(f->pc), &key), 0);
	text = dealbox_log_key_print(&key);
	assert_int_equal(dealbox_log_key_parse(text, &again, NULL), 0);
	assert_memory_equal(&key, &again, sizeof(key));
	for (size_t i = 0; text[i]; i++) {
		text[i] ^= 1;
		assert_int_equal(dealbox_log_key_parse(text, &again, NULL), -EINVAL);
		text[i] ^= 1;
	}
	free(text);
	assert_int_equal(dealbox_log_key_parse("lisa", &again, NULL), -EINVAL);
	/* the example of C2SP's signed-note */
	assert_int_equal(dealbox_log_key_parse("example.com/foo+530d903d+"
					       "ASnDdUu3xwrC1MPX0Q6BqKGUG1r8K7bM0TmCEL5oGBwv",
					       &again, NULL), -EINVAL);
}

/* Heads that differ from a good one in one thing */
static void test_forms_of_heads(void **state)
{
	struct fixture *f = *state;
	char *note = dealbox_checkpoint_sign(&f->head[10], f->pc), *changed, *at;
	static const struct {
		const char *from, *to;
	} changes[] = {
		{ "\n10\n", "\n010\n" }, { "\n10\n", "\n-1\n" }, { "\n10\n", "\n\n" },
		{ "\n10\n", "\n1 \n" },
		{ "\n10\n", "\n18446744073709551615\n" }, { "\n10\n", "\n99999999999999999999\n" },
		{ "=\n", "\n" }, { "=\n", "=\nmore\n\n\n" }, { "=\n\n", "=\n" },
		{ "dealbox/", "\ndealbox/" },
		{ "dealbox/", "\x01" }, { "dealbox/", "\x7f" }, { "dealbox/", "\xc0\xaf" },
		{ "dealbox/", "\xff" },
		{ "dealbox/", "\xed\xa0\x80" }, { "dealbox/", "\xf4\x90\x80\x80" },
		{ "dealbox/", "\xe0\x80\x80" },
		{ "\u2014 ", "- " }, { "\u2014 dealbox", "\u2014  dealbox" },
		{ "\u2014 deal", "\u2014 de+al" },
		{ "\u2014 ", "x\n\u2014 " }, { "\u2014 ", "\u2014 x AAAA AAAA\n\u2014 " },
		{ "\u2014 ", "\u2014 x AAAAAAA\u00e9\n\u2014 " },
		{ "\u2014 ", "\u2014 x AAA=\n\u2014 " },
	};
	struct dealbox_checkpoint head;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		at = strstr(note, changes[i].from);
		assert_non_null(at);
		assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - note), note, changes[i].to,
				     at + strlen(changes[i].from)) > 0);
		assert_int_equal(dealbox_checkpoint_parse(changed, strlen(changed), &head, NULL),
				 -EINVAL);
		free(changed);
	}
	for (size_t size = 0; size < strlen(note); size++)
		assert_int_equal(dealbox_checkpoint_parse(note, size, &head, NULL), -EINVAL);
	/* lines of extensions, and names in other scripts, are allowed */
	at = strstr(note, "\n\n");
	assert_true(asprintf(&changed,
			     "%.*s\nmore\n\n\u2014 \u03a4\u03ac\u03c3\u03bf\u03c2 AAAAAAA=\n%s",
			     (int)(at - note), note, at + 2) > 0);
	assert_int_equal(dealbox_checkpoint_parse(changed, strlen(changed), &head, NULL), 0);
	assert_int_equal(head.size, 10);
	free(changed);
	free(note);
}

static void test_proofs_as_text(void **state)
{
	struct fixture *f = *state;
	char *note = dealbox_checkpoint_sign(&f->head[LEAVES], f->pc), *text, *leaf;
	struct dealbox_log_proof proof, again;
	const char *part, *inside;
	size_t size, leaf_size, inside_size;

	assert_int_equal(dealbox_log_prove(f->log, 21, LEAVES, &proof), 0);
	part = dealbox_log_leaf(f->log, 21, &size);
	text = dealbox_inclusion_print(&proof, part, size, note);
	assert_int_equal(dealbox_inclusion_parse(text, strlen(text), &again, &leaf, &leaf_size,
						 &inside, &inside_size, NULL), 0);
	assert_memory_equal(&proof, &again, sizeof(proof));
	assert_int_equal(size, leaf_size);
	assert_memory_equal(leaf, part, size);
	assert_string_equal(inside, note);
	assert_int_equal(inside_size, strlen(note));
	free(leaf);
	/* without the leaf: that is allowed by tlog-proof */
	part = strstr(text, "\nindex ");
	memmove(strstr(text, "extra "), part + 1, strlen(part));
	assert_int_equal(dealbox_inclusion_parse(text, strlen(text), &again, &leaf, &leaf_size,
						 &inside, &inside_size, NULL), 0);
	assert_null(leaf);
	for (size_t cut = 0; cut < strlen(text); cut++)
		assert_int_equal(dealbox_inclusion_parse(text, cut, &again, &leaf, &leaf_size,
							 &inside, &inside_size, NULL), -EINVAL);
	free(text);

	assert_int_equal(dealbox_log_prove_since(f->log, 21, LEAVES, &proof), 0);
	text = dealbox_consistency_print(&proof, note);
	assert_memory_equal(text, "old 21\n", 7);
	assert_int_equal(dealbox_consistency_parse(text, strlen(text), &again, &inside,
						   &inside_size, NULL), 0);
	assert_memory_equal(&proof, &again, sizeof(proof));
	assert_string_equal(inside, note);
	for (size_t cut = 0; cut < strlen(text); cut++)
		assert_int_equal(dealbox_consistency_parse(text, cut, &again, &inside, &inside_size,
							   NULL), -EINVAL);
	free(text);

	/* libsodium's decoder takes the first of these bytes for a digit */
	assert_int_equal(dealbox_log_prove_since(f->log, 21, LEAVES, &proof), 0);
	for (unsigned int byte = 1; byte < 256; byte++) {
		text = dealbox_consistency_print(&proof, note);
		leaf = strchr(text, '\n') + 1;
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
			    (int)byte)) {
			leaf[20] = (char)byte;
			assert_int_equal(dealbox_consistency_parse(text, strlen(text), &again,
								   &inside, &inside_size, NULL),
					 -EINVAL);
		}
		free(text);
	}

	/* at most 63 hashes */
	proof.count = DEALBOX_LOG_HASHES;
	text = dealbox_consistency_print(&proof, note);
	assert_int_equal(dealbox_consistency_parse(text, strlen(text), &again, &inside,
						   &inside_size, NULL), 0);
	part = strchr(text, '\n') + 1;
	inside = strchr(part, '\n') + 1;
	assert_true(asprintf(&leaf, "%.*s%.*s%s", (int)(part - text), text, (int)(inside - part),
			     part, part) > 0);
	assert_int_equal(dealbox_consistency_parse(leaf, strlen(leaf), &again, &inside,
						   &inside_size, NULL), -EINVAL);
	free(leaf);
	free(text);
	free(note);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_spoken),
		cmocka_unit_test(test_inclusion),
		cmocka_unit_test(test_consistency),
		cmocka_unit_test(test_files_that_are_no_log),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_keys_as_text),
		cmocka_unit_test(test_forms_of_heads),
		cmocka_unit_test(test_proofs_as_text),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_free);
}
