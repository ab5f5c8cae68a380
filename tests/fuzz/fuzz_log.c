// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary heads, proofs, keys and files of certificates. What is accepted reads the same once it
 * was written again, and a signature never holds for something else.
 */
#include <dealbox/log.h>

#include "fuzz.h"
#include "fairness/signed-text.h"

static struct dealbox_signer *signer;

static void begin(void)
{
	static const char key[] = "dealbox signing key 1 "
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

	CHECK(!dealbox_signer_parse(key, strlen(key), &signer, NULL));
}

static void read_head(const void *data, size_t size)
{
	struct dealbox_checkpoint head, again;
	struct dealbox_error error = { 0 };
	struct dealbox_log_key key = { 0 };
	char spoken[DEALBOX_LOG_SPOKEN], *note;
	int64_t at;

	if (dealbox_checkpoint_parse(data, size, &head, &error)) {
		CHECK(*error.what);
		return;
	}
	strcpy(key.name, head.origin);
	memcpy(key.key, dealbox_signer_public(signer), sizeof(key.key));
	CHECK(dealbox_checkpoint_verify(data, size, &key, &at) < 0);
	note = dealbox_checkpoint_cosign(data, size, "witness", signer, 1763640000);
	CHECK(note);
	if (strlen(note) <= DEALBOX_NOTE_MAX) {
		CHECK(!dealbox_log_key_witness("witness", dealbox_signer_public(signer), &key));
		CHECK(!dealbox_checkpoint_verify(note, strlen(note), &key, &at) &&
		      at == 1763640000);
		CHECK(!dealbox_checkpoint_parse(note, strlen(note), &again, NULL) &&
		      !memcmp(&head, &again, sizeof(head)));
	}
	free(note);
	dealbox_checkpoint_spoken(&head, spoken);
	CHECK(dealbox_checkpoint_heard(&head, spoken) == (head.size > 0));
}

static void read_proofs(const void *data, size_t size)
{
	struct dealbox_checkpoint head, before = { 0 };
	struct dealbox_log_proof proof;
	size_t leaf_size, note_size;
	const char *note;
	char *leaf, *text, *end;

	if (!dealbox_inclusion_parse(data, size, &proof, &leaf, &leaf_size, &note, &note_size,
				     NULL)) {
		CHECK(!dealbox_checkpoint_parse(note, note_size, &head, NULL));
		dealbox_inclusion_check(&proof, leaf ? leaf : "", leaf_size, &head);
		free(leaf);
	}
	if (dealbox_consistency_parse(data, size, &proof, &note, &note_size, NULL))
		return;
	CHECK(!dealbox_checkpoint_parse(note, note_size, &head, NULL));
	strcpy(before.origin, head.origin);
	before.size = proof.place;
	dealbox_consistency_check(&proof, &before, &head);
	end = strndup(note, note_size);
	text = dealbox_consistency_print(&proof, end);
	CHECK(text && strlen(text) == size && !memcmp(text, data, size));
	free(text);
	free(end);
}

static void read_key(const char *text)
{
	struct dealbox_log_key key;
	char *again;
	uint64_t size;

	dealbox_spoken_parse(text, &size);
	if (dealbox_log_key_parse(text, &key, NULL))
		return;
	again = dealbox_log_key_print(&key);
	CHECK(again && !strcmp(again, text));
	free(again);
}

static void read_log(const void *data, size_t size)
{
	struct dealbox_log *log;

	if (dealbox_log_parse(data, size, &log, NULL))
		return;
	CHECK(dealbox_log_size(log));
	dealbox_log_free(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy, *text;

	if (!signer)
		begin();
	copy = (char *)memdup(data, size);
	read_head(copy, size);
	read_proofs(copy, size);
	read_log(copy, size);
	free(copy);
	if (memchr(data, 0, size))
		return 0;
	copy = strndup((const char *)data, size);
	read_key(copy);
	text = text_sign(copy, signer);
	CHECK(text);
	read_log(text, strlen(text));
	free(text);
	free(copy);
	return 0;
}
