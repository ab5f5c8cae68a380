// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error-internal.h"
#include "pool/heads.h"
#include "pool/pool-internal.h"

static int note_row(const char *const *columns, size_t count, void *context)
{
	char **note = context;

	(void)count;
	if (!columns[0])
		return 0;
	*note = strdup(columns[0]);
	return *note ? 0 : -ENOMEM;
}

int pool_get_head(struct pool *pool, const char *origin, char **note, struct dealbox_error *error)
{
	*note = NULL;
	return pool_run(pool, error, note_row, note, "SELECT dealbox.last_head($1)", 1, &origin);
}

int pool_report_head(struct pool *pool, const char *token, const struct pool_head *head,
		     struct dealbox_error *error)
{
	char *key = pool_bytea(head->key, sizeof(head->key));
	const char *values[] = { token, head->origin, key, head->note, head->proof };
	int err;

	if (!key)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	err = pool_run(pool, error, NULL, NULL, "SELECT dealbox.report_head($1, $2, $3, $4, $5)",
		       5, values);
	free(key);
	return err;
}

struct walk {
	int (*each)(const struct pool_head *head, void *context);
	void *context;
};

static int head_row(const char *const *columns, size_t count, void *context)
{
	const struct walk *walk = context;
	struct pool_head head = {
		.pc = columns[0],
		.login = columns[1],
		.origin = columns[2],
		.note = columns[4],
		.proof = columns[5],
	};

	/* the last may be null */
	if (!pool_full(columns, count - 1) || !pool_hex(columns[3], head.key, sizeof(head.key)))
		return -EBADMSG;
	return walk->each(&head, walk->context);
}

int pool_get_heads(struct pool *pool,
		   int (*each)(const struct pool_head *head, void *context), void *context,
		   struct dealbox_error *error)
{
	struct walk walk = { each, context };

	return pool_run(pool, error, head_row, &walk,
			"SELECT p.name, p.login, h.origin, encode(h.key, 'hex'), h.note, h.proof "
			"FROM dealbox.head h JOIN dealbox.pc p ON p.id = h.pc "
			"ORDER BY h.origin, h.id",
			0, NULL);
}

/* ---- judging ------------------------------------------------------------ */

/* Returns true if the text proves that this head continues the last one of the log. */
static bool continues(const struct head_log *log, const struct dealbox_checkpoint *head,
		      const struct pool_head *given)
{
	struct dealbox_checkpoint proven;
	struct dealbox_log_proof proof;
	const char *note;
	size_t size;

	if (head->size == log->last.size)
		return !memcmp(head->root, log->last.root, sizeof(head->root));
	return given->proof &&
	       !dealbox_consistency_parse(given->proof, strlen(given->proof), &proof, &note, &size,
					  NULL) &&
	       !dealbox_checkpoint_parse(note, size, &proven, NULL) &&
	       proven.size == head->size &&
	       !memcmp(proven.root, head->root, sizeof(proven.root)) &&
	       proof.place == log->last.size &&
	       dealbox_consistency_check(&proof, &log->last, head);
}

/* The name of a log ends with the first digits of its key. */
static bool is_key_of(const uint8_t key[DEALBOX_SIGNER_KEY], const char *origin)
{
	const char *digits = strrchr(origin, '/');
	char hex[17];

	sodium_bin2hex(hex, sizeof(hex), key, 8);
	return digits && !strcmp(digits + 1, hex);
}

enum head_fault head_judge(struct head_log *log, const struct pool_head *given)
{
	struct dealbox_log_key key = { 0 };
	struct dealbox_checkpoint head;
	enum head_fault fault = HEAD_GOOD;
	int64_t time;

	log->wrong++;
	if (strlen(given->origin) >= sizeof(key.name) ||
	    dealbox_checkpoint_parse(given->note, strlen(given->note), &head, NULL) ||
	    strcmp(head.origin, given->origin))
		return HEAD_FORM;
	log->heads++;
	strcpy(key.name, head.origin);
	memcpy(key.key, given->key, sizeof(key.key));
	/* the first whose signature holds says which key is that of the log */
	if (!is_key_of(given->key, head.origin) ||
	    (log->known && memcmp(log->key, given->key, sizeof(log->key))) ||
	    dealbox_checkpoint_verify(given->note, strlen(given->note), &key, &time))
		return HEAD_KEY;
	memcpy(log->key, given->key, sizeof(log->key));
	log->known = true;
	if (log->last.size && head.size < log->last.size)
		fault = HEAD_OLDER;
	else if (log->last.size && !continues(log, &head, given))
		fault = HEAD_ANOTHER;
	if (fault && strcmp(log->login, given->login))
		return fault;
	if (!fault)
		log->wrong--;
	snprintf(log->login, sizeof(log->login), "%s", given->login);
	log->last = head;
	return fault;
}
