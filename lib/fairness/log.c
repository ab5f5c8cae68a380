// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merkle logs: tree, leaves and proofs. RFC 6962, section 2.1; the checks of proofs are those of
 * RFC 9162, sections 2.1.3.2 and 2.1.4.2.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/log.h>

#include "signed-text.h"

#define SHORT_DIGITS 16 /* of the hash of the manifest, and of the key, in the name of a log */

typedef uint8_t hash_t[DEALBOX_HASH];

struct dealbox_log {
	char *data;
	size_t *end;		/* of each leaf in data */
	hash_t *leaf;		/* its hash */
	uint64_t size;
	struct dealbox_log_key key;
};

/* -- tree -------------------------------------------------------------------- */

static void leaf_hash(const void *data, size_t size, hash_t out)
{
	crypto_hash_sha256_state state;

	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t *)"", 1);
	crypto_hash_sha256_update(&state, data, size);
	crypto_hash_sha256_final(&state, out);
}

/* out may be left or right. */
static void node_hash(const hash_t left, const hash_t right, hash_t out)
{
	crypto_hash_sha256_state state;

	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t *)"\1", 1);
	crypto_hash_sha256_update(&state, left, DEALBOX_HASH);
	crypto_hash_sha256_update(&state, right, DEALBOX_HASH);
	crypto_hash_sha256_final(&state, out);
}

/* Return the largest power of two below size, which is at least 2. */
static uint64_t split(uint64_t size)
{
	return (uint64_t)1 << (63 - __builtin_clzll(size - 1));
}

/* At least one leaf */
static void tree_hash(const hash_t *leaf, uint64_t size, hash_t out)
{
	uint64_t left;
	hash_t right;

	if (size == 1) {
		memcpy(out, leaf, DEALBOX_HASH);
		return;
	}
	left = split(size);
	tree_hash(leaf, left, out);
	tree_hash(leaf + left, size - left, right);
	node_hash(out, right, out);
}

static void proof_add(struct dealbox_log_proof *proof, const hash_t *leaf, uint64_t size)
{
	tree_hash(leaf, size, proof->hash[proof->count++]);
}

static void path_add(struct dealbox_log_proof *proof, const hash_t *leaf, uint64_t index,
		     uint64_t size)
{
	uint64_t left;

	if (size == 1)
		return;
	left = split(size);
	if (index < left) {
		path_add(proof, leaf, index, left);
		proof_add(proof, leaf + left, size - left);
	} else {
		path_add(proof, leaf + left, index - left, size - left);
		proof_add(proof, leaf, left);
	}
}

/* SUBPROOF of RFC 6962; whole: the verifier knows the hash of this subtree. */
static void since_add(struct dealbox_log_proof *proof, const hash_t *leaf, uint64_t before,
		      uint64_t size, bool whole)
{
	uint64_t left;

	if (before == size) {
		if (!whole)
			proof_add(proof, leaf, size);
		return;
	}
	left = split(size);
	if (before <= left) {
		since_add(proof, leaf, before, left, whole);
		proof_add(proof, leaf + left, size - left);
	} else {
		since_add(proof, leaf + left, before - left, size - left, false);
		proof_add(proof, leaf, left);
	}
}

/* -- logs -------------------------------------------------------------------- */

/* The value of the line "manifest" in the body of a certificate or opening: its second line */
static bool manifest_take(const char *body, char hex[HEX(DEALBOX_HASH)])
{
	const char *line = strchr(body, '\n');
	hash_t hash;

	if (strncmp(body, "dealbox certificate ", 20) && strncmp(body, "dealbox opening ", 16))
		return false;
	if (!line || strncmp(line, "\nmanifest ", 10) || strlen(line) < 10 + HEX(DEALBOX_HASH) ||
	    line[10 + HEX(DEALBOX_HASH) - 1] != '\n')
		return false;
	memcpy(hex, line + 10, HEX(DEALBOX_HASH) - 1);
	hex[HEX(DEALBOX_HASH) - 1] = 0;
	return hex_take(hex, hash, sizeof(hash));
}

static void origin_put(const char manifest[HEX(DEALBOX_HASH)], const uint8_t *signer,
		       char origin[DEALBOX_LOG_NAME])
{
	char key[HEX(DEALBOX_SIGNER_KEY)];

	hex_put(signer, DEALBOX_SIGNER_KEY, key);
	snprintf(origin, DEALBOX_LOG_NAME, "dealbox/%.*s/%.*s", SHORT_DIGITS, manifest,
		 SHORT_DIGITS, key);
}

/* Appends the leaf data[start..end). */
static bool leaf_add(struct dealbox_log *log, size_t start, size_t end)
{
	if (!(log->size & (log->size + 1))) {	/* full: 0, 1, 3, 7, .. */
		const size_t room = 2 * log->size + 1;
		size_t *more_end = realloc(log->end, room * sizeof(*log->end));
		hash_t *more_leaf;

		if (!more_end)
			return false;
		log->end = more_end;
		more_leaf = realloc(log->leaf, room * sizeof(*log->leaf));
		if (!more_leaf)
			return false;
		log->leaf = more_leaf;
	}
	leaf_hash(log->data + start, end - start, log->leaf[log->size]);
	log->end[log->size++] = end;
	return true;
}

static int leaves_parse(struct dealbox_log *log, size_t size, struct dealbox_error *error)
{
	char manifest[HEX(DEALBOX_HASH)], first[HEX(DEALBOX_HASH)] = "", *body;
	uint8_t signer[DEALBOX_SIGNER_KEY];
	uint32_t line = 1;
	size_t used = 0;
	int err;

	for (size_t at = 0; at < size; at += used) {
		uint32_t begin = line;

		err = text_check(log->data + at, size - at, &used, &body, signer, &line, error);
		if (err)
			return err;
		if (!manifest_take(body, manifest))
			err = error_set(error, -EINVAL, begin, NULL, "this is no certificate");
		free(body);
		if (err)
			return err;
		if (!at) {
			memcpy(log->key.key, signer, sizeof(signer));
			strcpy(first, manifest);
		}
		if (memcmp(signer, log->key.key, sizeof(signer)))
			return error_set(error, -EKEYREJECTED, begin,
					 "each PC has a file of its own",
					 "this certificate is by another signer than the first");
		if (strcmp(manifest, first))
			return error_set(error, -EINVAL, begin, NULL,
					 "this certificate is for another manifest than the first");
		if (!leaf_add(log, at, at + used))
			return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	}
	if (!log->size)
		return error_set(error, -ENODATA, 0, "deal a board first",
				 "there is no certificate yet, so there is no head");
	origin_put(first, log->key.key, log->key.name);
	return 0;
}

int dealbox_log_parse(const void *data, size_t size, struct dealbox_log **log,
		      struct dealbox_error *error)
{
	struct dealbox_log *new = sodium_init() < 0 ? NULL : calloc(1, sizeof(*new));
	int err;

	if (new)
		new->data = malloc(size + 1);
	if (!new || !new->data) {
		dealbox_log_free(new);
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	}
	if (size)
		memcpy(new->data, data, size);
	err = leaves_parse(new, size, error);
	if (err)
		dealbox_log_free(new);
	else
		*log = new;
	return err;
}

void dealbox_log_free(struct dealbox_log *log)
{
	if (!log)
		return;
	free(log->data);
	free(log->end);
	free(log->leaf);
	free(log);
}

uint64_t dealbox_log_size(const struct dealbox_log *log)
{
	return log->size;
}

const char *dealbox_log_leaf(const struct dealbox_log *log, uint64_t index, size_t *size)
{
	size_t start;

	if (index >= log->size)
		return NULL;
	start = index ? log->end[index - 1] : 0;
	*size = log->end[index] - start;
	return log->data + start;
}

bool dealbox_log_find(const struct dealbox_log *log, const char *session, uint32_t board,
		      uint32_t copy, uint64_t *index)
{
	char *wanted;
	bool found = false;
	int length = asprintf(&wanted, "\nsession %s\nboard %u\ncopy %u\n", session, board, copy);

	if (length < 0)
		return false;
	/* each content has one form, so its lines can be searched as text */
	for (uint64_t i = log->size; i-- && !found;) {
		size_t size;
		const char *text = dealbox_log_leaf(log, i, &size);

		found = text && memmem(text, size, wanted, (size_t)length);
		if (found)
			*index = i;
	}
	free(wanted);
	return found;
}

void dealbox_log_get_key(const struct dealbox_log *log, struct dealbox_log_key *key)
{
	*key = log->key;
}

int dealbox_log_head(const struct dealbox_log *log, uint64_t size, struct dealbox_checkpoint *head)
{
	if (!size || size > log->size)
		return -EINVAL;
	memset(head, 0, sizeof(*head));
	strcpy(head->origin, log->key.name);
	head->size = size;
	tree_hash(log->leaf, size, head->root);
	return 0;
}

bool dealbox_log_continues(const struct dealbox_log *log, const struct dealbox_checkpoint *head)
{
	struct dealbox_checkpoint own;

	return !strcmp(log->key.name, head->origin) && !dealbox_log_head(log, head->size, &own) &&
	       !memcmp(own.root, head->root, sizeof(own.root));
}

int dealbox_log_prove(const struct dealbox_log *log, uint64_t index, uint64_t size,
		      struct dealbox_log_proof *proof)
{
	if (size > log->size || index >= size)
		return -EINVAL;
	memset(proof, 0, sizeof(*proof));
	proof->place = index;
	path_add(proof, log->leaf, index, size);
	return 0;
}

int dealbox_log_prove_since(const struct dealbox_log *log, uint64_t before, uint64_t size,
			    struct dealbox_log_proof *proof)
{
	if (size > log->size || before > size)
		return -EINVAL;
	memset(proof, 0, sizeof(*proof));
	proof->place = before;
	if (before)
		since_add(proof, log->leaf, before, size, true);
	return 0;
}

/* -- checks ------------------------------------------------------------------ */

bool dealbox_inclusion_check(const struct dealbox_log_proof *proof, const void *leaf, size_t size,
			     const struct dealbox_checkpoint *head)
{
	uint64_t node = proof->place, last = head->size - 1;
	hash_t hash;

	if (node >= head->size)
		return false;
	leaf_hash(leaf, size, hash);
	for (size_t i = 0; i < proof->count; i++) {
		if (!last)
			return false;
		if (node & 1 || node == last) {
			node_hash(proof->hash[i], hash, hash);
			while (node && !(node & 1)) {
				node >>= 1;
				last >>= 1;
			}
		} else {
			node_hash(hash, proof->hash[i], hash);
		}
		node >>= 1;
		last >>= 1;
	}
	return !last && !memcmp(hash, head->root, sizeof(hash));
}

bool dealbox_consistency_check(const struct dealbox_log_proof *proof,
			       const struct dealbox_checkpoint *before,
			       const struct dealbox_checkpoint *head)
{
	uint64_t node = before->size - 1, last = head->size - 1;
	hash_t old, new;
	size_t i = 0;

	if (strcmp(before->origin, head->origin) || proof->place != before->size ||
	    before->size > head->size)
		return false;
	if (!before->size)
		return !proof->count;
	if (before->size == head->size)
		return !proof->count && !memcmp(before->root, head->root, sizeof(old));
	while (node & 1) {
		node >>= 1;
		last >>= 1;
	}
	if (!node) {	/* before is a power of two: its root is a node of the tree */
		memcpy(old, before->root, sizeof(old));
	} else {
		if (!proof->count)
			return false;
		memcpy(old, proof->hash[i++], sizeof(old));
	}
	memcpy(new, old, sizeof(new));
	for (; i < proof->count; i++) {
		if (!last)
			return false;
		if (node & 1 || node == last) {
			node_hash(proof->hash[i], old, old);
			node_hash(proof->hash[i], new, new);
			while (node && !(node & 1)) {
				node >>= 1;
				last >>= 1;
			}
		} else {
			node_hash(new, proof->hash[i], new);
		}
		node >>= 1;
		last >>= 1;
	}
	return !last && !memcmp(old, before->root, sizeof(old)) &&
	       !memcmp(new, head->root, sizeof(new));
}
