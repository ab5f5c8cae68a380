// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox log: heads of a file of certificates, proofs about them, and witnesses. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/log.h>

#include "print/load.h"
#include "ui/certifier.h"

#define WITNESSES_MAX	16

struct call {
	struct args *args;
	bool json, qr;
	const char *out, *since, *spoken;
	bool pc_given;
	uint8_t pc[DEALBOX_SIGNER_KEY];
	struct dealbox_log_key witness[WITNESSES_MAX];
	size_t witness_count;
	size_t wrong;		/* findings of check */
};

static void key_hex(const uint8_t key[DEALBOX_SIGNER_KEY], char hex[2 * DEALBOX_SIGNER_KEY + 1])
{
	sodium_bin2hex(hex, 2 * DEALBOX_SIGNER_KEY + 1, key, DEALBOX_SIGNER_KEY);
}

/* Writes a text to -o FILE, which it may replace, or to standard output. */
static enum status text_out(const struct call *call, const char *text)
{
	if (!text) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	if (call->out)
		return file_write(call->out, text, strlen(text), FILE_PUBLIC, true) ? STATUS_DONE :
			STATUS_INPUT;
	fputs(text, stdout);
	return STATUS_DONE;
}

static struct dealbox_log *log_read(const char *path)
{
	struct dealbox_log *log = NULL;
	struct dealbox_error error;
	struct blob blob;

	if (file_read(path, &blob) && dealbox_log_parse(blob.data, blob.size, &log, &error))
		fault_say(path, &error);
	blob_wipe(&blob);
	return log;
}

/* Reads a head. Call blob_wipe() in any case. */
static bool head_read(const char *path, struct blob *note, struct dealbox_checkpoint *head)
{
	struct dealbox_error error;

	if (!file_read(path, note))
		return false;
	if (!dealbox_checkpoint_parse(note->data, note->size, head, &error))
		return true;
	fault_say(path, &error);
	return false;
}

/* -- head ---------------------------------------------------------------------- */

struct qr {
	int width;
	uint8_t *dark;		/* width rows of width modules */
};

static bool qr_dark(const struct qr *qr, int row, int column)
{
	return row >= 0 && row < qr->width && column >= 0 && column < qr->width &&
	       qr->dark[row * qr->width + column];
}

/* Two rows of modules a line; the escapes make dark modules dark on every terminal. */
static void qr_put(const struct qr *qr)
{
	static const char *const halves[] = { "\u2588", "\u2580", "\u2584",
					      " " }; /* light is drawn */
	const int quiet = 4;

	for (int row = -quiet; row < qr->width + quiet; row += 2) {
		fputs("\033[97;40m", stdout);
		for (int column = -quiet; column < qr->width + quiet; column++)
			fputs(halves[qr_dark(qr, row, column) * 2 + qr_dark(qr, row + 1, column)],
			      stdout);
		fputs("\033[0m\n", stdout);
	}
}

static enum status qr_say(const char *text)
{
	const struct print_engine *engine = engine_load();
	struct qr qr;

	if (!engine)
		return STATUS_INPUT;
	if (engine->qr(text, &qr.dark, &qr.width)) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	qr_put(&qr);
	free(qr.dark);
	return STATUS_DONE;
}

static void head_json(const struct dealbox_log *log, const struct dealbox_checkpoint *head,
		      const char *note)
{
	struct json_object *object = json_line("head");
	char spoken[DEALBOX_LOG_SPOKEN], *text;
	struct dealbox_log_key key;

	dealbox_log_get_key(log, &key);
	text = dealbox_log_key_print(&key);
	dealbox_checkpoint_spoken(head, spoken);
	json_add_text(object, "key", text);
	free(text);
	json_add_text(object, "origin", head->origin);
	json_add_number(object, "certificates", (int64_t)head->size);
	json_add_text(object, "spoken", spoken);
	json_add_text(object, "note", note);
	json_say(object);
}

static enum status head_run(struct call *call)
{
	char spoken[DEALBOX_LOG_SPOKEN], *note = NULL;
	struct dealbox_checkpoint head;
	struct dealbox_log *log = NULL;
	enum status status = STATUS_INPUT;
	struct certifier certifier;

	if (certifier_open(&certifier, call->args->argv[1]))
		log = log_read(certifier.certificates_path);
	if (!log || dealbox_log_head(log, dealbox_log_size(log), &head))
		goto out;
	note = dealbox_checkpoint_sign(&head, certifier.signer);
	if (!note || call->out || !(call->json || call->qr))
		status = text_out(call, note);
	else
		status = STATUS_DONE;
	if (status == STATUS_DONE && call->json)
		head_json(log, &head, note);
	if (status == STATUS_DONE && call->qr)
		status = qr_say(note);
	if (status == STATUS_DONE && !call->json) {
		dealbox_checkpoint_spoken(&head, spoken);
		complain(NULL, "to be read aloud: %s", spoken);
	}
out:
	free(note);
	dealbox_log_free(log);
	certifier_close(&certifier);
	return status;
}

/* -- prove --------------------------------------------------------------------- */

static enum status prove_since(struct call *call, const struct dealbox_log *log,
			       const struct dealbox_checkpoint *head, const char *note)
{
	struct dealbox_checkpoint before;
	struct dealbox_log_proof proof;
	enum status status = STATUS_INPUT;
	struct blob old = { 0 };
	char *text;

	if (head_read(call->since, &old, &before)) {
		if (!dealbox_log_continues(log, &before)) {
			complain("the past was rewritten, or that is the head of another file",
				 "%s: the certificates do not continue this head", call->since);
			status = STATUS_NO;
		} else if (dealbox_log_prove_since(log, before.size, head->size, &proof)) {
			complain("give the later head as HEAD", "%s: this head is the later one",
				 call->since);
		} else {
			text = dealbox_consistency_print(&proof, note);
			status = text_out(call, text);
			free(text);
		}
	}
	blob_wipe(&old);
	return status;
}

static enum status prove_board(struct call *call, const struct dealbox_log *log,
			       const struct dealbox_checkpoint *head, const char *note)
{
	char *const *operand = call->args->argv;
	unsigned long board, copy = 1;
	struct dealbox_log_proof proof;
	enum status status;
	const char *leaf;
	uint64_t index;
	size_t size;
	char *text;

	if (!args_number(call->args, "BOARD", operand[4], 1, UINT32_MAX, &board) ||
	    (call->args->argc > 5 &&
	     !args_number(call->args, "COPY", operand[5], 1, UINT32_MAX, &copy)))
		return STATUS_INPUT;
	if (!dealbox_log_find(log, operand[3], (uint32_t)board, (uint32_t)copy, &index)) {
		complain("it may have been dealt at another machine",
			 "%s: there is no certificate of %s board %lu copy %lu", operand[1],
			 operand[3], board, copy);
		return STATUS_NO;
	}
	if (dealbox_log_prove(log, index, head->size, &proof)) {
		complain("`dealbox log head` makes a newer one",
			 "%s: this head is older than the certificate of that board", operand[2]);
		return STATUS_NO;
	}
	leaf = dealbox_log_leaf(log, index, &size);
	text = dealbox_inclusion_print(&proof, leaf, size, note);
	status = text_out(call, text);
	free(text);
	return status;
}

static enum status prove_run(struct call *call)
{
	const struct args *args = call->args;
	struct dealbox_log *log = NULL;
	struct dealbox_checkpoint head;
	enum status status = STATUS_INPUT;
	struct blob note = { 0 };

	if (!call->since == (args->argc == 3))
		return args_wrong(args,
				  "prove needs either --since HEAD, or a session and a board");
	if (args->argc == 4)
		return args_wrong(args, "prove needs the number of the board behind the session");
	log = log_read(args->argv[1]);
	if (!log || !head_read(args->argv[2], &note, &head))
		goto out;
	if (!dealbox_log_continues(log, &head)) {
		complain("the past was rewritten, or that is the head of another file",
			 "%s: the certificates do not continue this head", args->argv[2]);
		status = STATUS_NO;
	} else {
		status = (call->since ? prove_since : prove_board)(call, log, &head, note.data);
	}
out:
	blob_wipe(&note);
	dealbox_log_free(log);
	return status;
}

/* -- witness ------------------------------------------------------------------- */

/*
 * The folder of a witness: its name, its key, and for each log a file with the key of its PC in the
 * first line, and behind it the newest head that this witness has confirmed.
 */
struct witness {
	char *name_path, *key_path;
	struct blob name;
	struct dealbox_signer *signer;
	int lock;
};

static bool witness_paths(struct witness *w, const char *folder)
{
	*w = (struct witness) { .lock = -1 };
	if (asprintf(&w->name_path, "%s/name", folder) >= 0 &&
	    asprintf(&w->key_path, "%s/key", folder) >= 0)
		return true;
	complain(NULL, "out of memory");
	return false;
}

static void witness_close(struct witness *w)
{
	if (w->lock >= 0)
		close(w->lock);
	dealbox_signer_free(w->signer);
	blob_wipe(&w->name);
	free(w->name_path);
	free(w->key_path);
}

static bool witness_open(struct witness *w, const char *folder)
{
	struct blob key = { 0 };
	struct dealbox_error error;
	bool good;

	good = witness_paths(w, folder) && file_read(w->name_path, &w->name) &&
	       file_read_secret(w->key_path, &key);
	if (good && dealbox_signer_parse(key.data, key.size, &w->signer, &error)) {
		fault_say(w->key_path, &error);
		good = false;
	}
	blob_wipe(&key);
	if (!good)
		return false;
	w->name.data[strcspn(w->name.data, "\n")] = 0;
	/* two confirmations at once must not both begin from the same head */
	w->lock = open(w->key_path, O_RDONLY | O_CLOEXEC);
	if (w->lock >= 0 && !flock(w->lock, LOCK_EX))
		return true;
	complain(NULL, "%s: %s", w->key_path, strerror(errno));
	return false;
}

static enum status new_witness_run(struct call *call)
{
	const char *folder = call->args->argv[1], *name = call->args->argv[2];
	struct dealbox_random *random = NULL;
	char *key = NULL, *line = NULL, *public = NULL;
	struct dealbox_log_key log_key;
	struct witness w;
	bool good = false;
	int err;

	if (dealbox_log_key_witness(name, (const uint8_t[DEALBOX_SIGNER_KEY]) { 0 }, &log_key)) {
		complain("for example bridgeclub.example/lisa",
			 "the name of a witness has no spaces, no plus sign, "
			 "and only ASCII characters");
		return STATUS_INPUT;
	}
	if (!witness_paths(&w, folder))
		goto out;
	err = dealbox_random_new(&random);
	if (err) {
		complain("do not make keys on this computer until that is repaired",
			 "the kernel gives no random bits: %s", strerror(-err));
		goto out;
	}
	if (mkdir(folder, 0700)) {
		complain("choose another name", "%s: %s", folder, strerror(errno));
		goto out;
	}
	if (!dealbox_signer_new(random, &w.signer))
		key = dealbox_signer_print(w.signer);
	if (!key || asprintf(&line, "%s\n", name) < 0)
		goto out;
	good = file_write(w.name_path, line, strlen(line), FILE_PUBLIC, false) &&
	       file_write(w.key_path, key, strlen(key), FILE_SECRET, false);
	if (good && !dealbox_log_key_witness(name, dealbox_signer_public(w.signer), &log_key))
		public = dealbox_log_key_print(&log_key);
	if (public) {
		say("%s: keep it secret. The public key of this witness, to be published:", folder);
		say("%s", public);
	}
out:
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
	free(line);
	free(public);
	dealbox_random_free(random);
	witness_close(&w);
	return public ? STATUS_DONE : STATUS_INPUT;
}

/* Returns the path of the file about a log, NULL after reporting an error. */
static char *state_path(const char *folder, const char *origin)
{
	const char *id = strncmp(origin, "dealbox/", 8) ? "" : origin + 8;
	char *path;

	if (strlen(id) != 33 || strspn(id, "0123456789abcdef/") != 33 || id[16] != '/' ||
	    strchr(id + 17, '/')) {
		complain("only heads of `dealbox log head` are confirmed",
			 "this is the head of another log, %s", origin);
		return NULL;
	}
	if (asprintf(&path, "%s/%.16s-%s", folder, id, id + 17) >= 0)
		return path;
	complain(NULL, "out of memory");
	return NULL;
}

/* A witness's state of a log */
struct known {
	struct dealbox_log_key log;
	struct dealbox_checkpoint head;	/* size 0: none yet */
};

static bool state_read(struct call *call, const char *path, const char *origin, struct known *known)
{
	struct dealbox_error error;
	struct blob blob = { 0 };
	char hex[2 * DEALBOX_SIGNER_KEY + 1];
	const size_t line = 3 + sizeof(hex);
	bool good = true;
	size_t length;

	memset(known, 0, sizeof(*known));
	strcpy(known->log.name, origin);
	strcpy(known->head.origin, origin);
	if (file_exists(path)) {
		good = file_read(path, &blob);
		if (good && (blob.size < line || strncmp(blob.data, "pc ", 3) ||
			     sodium_hex2bin(known->log.key, sizeof(known->log.key), blob.data + 3,
					    2 * sizeof(known->log.key), NULL, &length, NULL) ||
			     dealbox_checkpoint_parse(blob.data + line, blob.size - line,
						      &known->head, &error))) {
			complain("restore it from a copy; without it, this witness cannot tell "
				 "what it has seen",
				 "%s: it is damaged", path);
			good = false;
		}
		blob_wipe(&blob);
		if (good && call->pc_given && memcmp(call->pc, known->log.key, sizeof(call->pc))) {
			complain("ask the operator who published it",
				 "this witness knows another key of that PC");
			good = false;
		}
		return good;
	}
	if (!call->pc_given) {
		complain("`--pc KEY`, with the key that was published when that PC was set up",
			 "this witness does not know the log %s yet", origin);
		return false;
	}
	memcpy(known->log.key, call->pc, sizeof(call->pc));
	key_hex(call->pc, hex);
	if (strncmp(origin + 8 + 17, hex, 16)) {
		complain("ask the operator for the head of that PC",
			 "the head is of the log of another PC");
		return false;
	}
	return true;
}

static bool state_write(const char *path, const struct known *known, const char *note)
{
	char hex[2 * DEALBOX_SIGNER_KEY + 1], *text;
	bool good;

	key_hex(known->log.key, hex);
	if (asprintf(&text, "pc %s\n%s", hex, note) < 0) {
		complain(NULL, "out of memory");
		return false;
	}
	good = file_write(path, text, strlen(text), FILE_PUBLIC, true);
	free(text);
	return good;
}

/* Returns true if the witness may confirm this head. proof is NULL if there is only the head. */
static bool head_follows(const struct known *known, const struct dealbox_checkpoint *head,
			 const struct dealbox_log_proof *proof)
{
	const struct dealbox_log_proof none = { .place = known->head.size };
	const struct dealbox_checkpoint *last = &known->head;

	if (head->size < last->size) {
		complain("a file put back, or a head that is old: ask for the newest head",
			 "NOT CONFIRMED: this head has %" PRIu64 " certificates, "
			 "and this witness has seen %" PRIu64, head->size, last->size);
		return false;
	}
	if (head->size == last->size && memcmp(head->root, last->root, sizeof(head->root))) {
		complain("keep both heads, they prove it",
			 "NOT CONFIRMED: this witness has seen another head with %" PRIu64
			 " certificates: the past was rewritten", head->size);
		return false;
	}
	if (proof && proof->place != last->size) {
		complain("`dealbox log prove --since`, "
			 "with the head that this witness confirmed last",
			 "NOT CONFIRMED: the proof is from %" PRIu64 " certificates on, "
			 "and this witness has seen %" PRIu64, proof->place, last->size);
		return false;
	}
	if (!proof && last->size && head->size != last->size) {
		complain("`dealbox log prove --since`, "
			 "with the head that this witness confirmed last",
			 "NOT CONFIRMED: there is no proof that this head continues the one "
			 "with %" PRIu64 " certificates", last->size);
		return false;
	}
	if (dealbox_consistency_check(proof ? proof : &none, last, head))
		return true;
	complain("keep both heads",
		 "NOT CONFIRMED: this head does not continue the one with %" PRIu64
		 " certificates that this witness has seen", last->size);
	return false;
}

static enum status witness_run(struct call *call)
{
	const char *folder = call->args->argv[1], *path = call->args->argv[2];
	char *state = NULL, *cosigned = NULL;
	const char *note;
	size_t note_size;
	struct dealbox_log_proof proof;
	struct dealbox_checkpoint head;
	enum status status = STATUS_INPUT;
	struct dealbox_error error;
	struct blob blob = { 0 };
	struct known known;
	struct witness w;
	bool has_proof;
	int64_t at;

	if (!witness_open(&w, folder) || !file_read(path, &blob))
		goto out;
	note = blob.data;
	note_size = blob.size;
	has_proof = !strncmp(blob.data, "old ", 4);
	if ((has_proof &&
	     dealbox_consistency_parse(blob.data, blob.size, &proof, &note, &note_size, &error)) ||
	    dealbox_checkpoint_parse(note, note_size, &head, &error)) {
		fault_say(path, &error);
		goto out;
	}
	state = state_path(folder, head.origin);
	if (!state || !state_read(call, state, head.origin, &known))
		goto out;
	status = STATUS_NO;
	if (dealbox_checkpoint_verify(note, note_size, &known.log, &at)) {
		complain("get it again from that PC",
			 "NOT CONFIRMED: %s: it is not signed by the key of its PC", path);
		goto out;
	}
	if (!head_follows(&known, &head, has_proof ? &proof : NULL))
		goto out;
	cosigned = dealbox_checkpoint_cosign(note, note_size, w.name.data, w.signer, time(NULL));
	/* remembered before anybody can see it: a witness never confirms two pasts */
	status = !cosigned || !state_write(state, &known, cosigned) ? STATUS_INPUT :
		 text_out(call, cosigned);
out:
	free(state);
	free(cosigned);
	blob_wipe(&blob);
	witness_close(&w);
	return status;
}

/* -- check --------------------------------------------------------------------- */

/* A head that was given, by itself or in a proof */
struct given {
	const char *path;
	struct blob file;
	const char *note;
	size_t note_size;
	struct dealbox_checkpoint head;
	enum { GIVEN_HEAD, GIVEN_LEAF, GIVEN_SINCE } kind;
	struct dealbox_log_proof proof;
	char *leaf;
	size_t leaf_size;
};

static void result(struct call *call, bool good, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void result(struct call *call, bool good, const char *path, const char *format, ...)
{
	struct json_object *object;
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	call->wrong += !good;
	if (!call->json) {
		say("%s: %s%s", path, good ? "" : "WRONG: ", text ? text : "");
	} else {
		object = json_line("result");
		json_add_text(object, "file", path);
		json_add_bool(object, "good", good);
		json_add_text(object, "text", text);
		json_say(object);
	}
	free(text);
}

static bool given_read(struct given *g, const char *path)
{
	struct dealbox_error error;
	int err;

	g->path = path;
	g->note = g->file.data;
	g->note_size = g->file.size;
	if (!strncmp(g->file.data, "c2sp.org/tlog-proof@", 20)) {
		g->kind = GIVEN_LEAF;
		err = dealbox_inclusion_parse(g->file.data, g->file.size, &g->proof, &g->leaf,
					      &g->leaf_size, &g->note, &g->note_size, &error);
	} else if (!strncmp(g->file.data, "old ", 4)) {
		g->kind = GIVEN_SINCE;
		err = dealbox_consistency_parse(g->file.data, g->file.size, &g->proof, &g->note,
						&g->note_size, &error);
	} else {
		g->kind = GIVEN_HEAD;
		err = 0;
	}
	if (!err)
		err = dealbox_checkpoint_parse(g->note, g->note_size, &g->head, &error);
	if (err)
		fault_say(path, &error);
	return !err;
}

/*
 * Gets the key of the log: of the certificates, of the certificate in a proof, or by --pc. Without
 * any, no signature can be checked.
 */
static bool log_key_find(struct call *call, const struct dealbox_log *log, struct given *given,
			 size_t count, struct dealbox_log_key *key)
{
	char hex[2 * DEALBOX_SIGNER_KEY + 1];
	struct dealbox_error error;
	struct dealbox_log *one;

	if (log) {
		dealbox_log_get_key(log, key);
	} else if (call->pc_given) {
		memset(key, 0, sizeof(*key));
		strcpy(key->name, given[0].head.origin);
		memcpy(key->key, call->pc, sizeof(key->key));
		return true;
	} else {
		size_t i = 0;

		while (i < count && !given[i].leaf)
			i++;
		if (i == count) {
			complain("`--pc KEY`, or give the certificates too",
				 "it is not known by which key the heads must be signed");
			return false;
		}
		if (dealbox_log_parse(given[i].leaf, given[i].leaf_size, &one, &error)) {
			fault_say(given[i].path, &error);
			return false;
		}
		dealbox_log_get_key(one, key);
		dealbox_log_free(one);
	}
	key_hex(key->key, hex);
	/* who has heard a head knows who said it */
	if (!call->pc_given && count)
		result(call, false, "--pc", "nobody has named the PC's key, and anybody can have "
					    "signed with %s: give the key that was published when "
					    "that PC was set up (--pc KEY)", hex);
	return true;
}

static void witnesses_check(struct call *call, const struct given *g)
{
	for (size_t i = 0; i < call->witness_count; i++) {
		const struct dealbox_log_key *witness = &call->witness[i];
		char text[32] = "";
		struct tm utc;
		int64_t at;
		time_t seconds;
		int err = dealbox_checkpoint_verify(g->note, g->note_size, witness, &at);

		if (err) {
			result(call, false, g->path, err == -ENOENT ?
			       "the witness %s has not confirmed this head" :
			       "the confirmation by the witness %s is not right", witness->name);
			continue;
		}
		seconds = (time_t)at;
		if (gmtime_r(&seconds, &utc))
			strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
		result(call, true, g->path, "confirmed by the witness %s, %s", witness->name, text);
	}
}

/* The head that a proof begins from must have been given, too. */
static bool since_check(struct call *call, const struct given *given, size_t count,
			const struct given *g)
{
	for (size_t i = 0; i < count; i++) {
		const struct given *before = &given[i];

		if (before == g || before->head.size != g->proof.place)
			continue;
		if (dealbox_consistency_check(&g->proof, &before->head, &g->head))
			result(call, true, g->path,
			       "the head with %" PRIu64
			       " certificates continues %s, which has %" PRIu64,
			       g->head.size, before->path, before->head.size);
		else
			result(call, false, g->path,
			       "the head with %" PRIu64 " certificates does not continue %s: "
			       "the past was rewritten", g->head.size, before->path);
		return true;
	}
	complain("give that head, too",
		 "%s: it is a proof from the head with %" PRIu64 " certificates on", g->path,
		 g->proof.place);
	return false;
}

static void leaf_check(struct call *call, const struct given *g, const struct dealbox_log_key *key)
{
	struct dealbox_log_key signer;
	struct dealbox_error error;
	struct dealbox_log *one;
	const char *lines, *end;

	if (!g->leaf) {
		result(call, false, g->path, "the proof does not contain the certificate");
		return;
	}
	if (dealbox_log_parse(g->leaf, g->leaf_size, &one, &error)) {
		result(call, false, g->path, "the certificate in it: %s", error.what);
		return;
	}
	dealbox_log_get_key(one, &signer);
	if (dealbox_log_size(one) != 1 || strcmp(signer.name, key->name) ||
	    memcmp(signer.key, key->key, sizeof(key->key))) {
		result(call, false, g->path, "the certificate in it is of another log");
	} else if (!dealbox_inclusion_check(&g->proof, g->leaf, g->leaf_size, &g->head)) {
		result(call, false, g->path, "the certificate in it is not one of the %" PRIu64
		       " of this head", g->head.size);
	} else {
		lines = strstr(g->leaf, "\nsession ");
		end = lines ? strstr(lines, "\npockets ") : NULL;
		if (end) {
			char *text = strndup(lines + 1, (size_t)(end - lines) - 1);

			for (char *c = text; c && *c; c++)
				if (*c == '\n')
					*c = ' ';
			result(call, true, g->path,
			       "the certificate %" PRIu64 " of %" PRIu64 " is: %s, %s",
			       g->proof.place + 1, g->head.size, text ? text : "",
			       strstr(g->leaf, "\nverdict exact\n") ? "exact" : "void");
			free(text);
		} else {
			result(call, true, g->path, "the opening is the last of %" PRIu64,
			       g->head.size);
		}
	}
	dealbox_log_free(one);
}

static bool given_check(struct call *call, const struct dealbox_log *log, const struct given *given,
			size_t count, const struct given *g, const struct dealbox_log_key *key)
{
	char spoken[DEALBOX_LOG_SPOKEN];
	int64_t at;

	dealbox_checkpoint_spoken(&g->head, spoken);
	if (strcmp(g->head.origin, key->name)) {
		result(call, false, g->path, "this is the head of another log, %s", g->head.origin);
		return true;
	}
	if (dealbox_checkpoint_verify(g->note, g->note_size, key, &at)) {
		result(call, false, g->path, "this head is not signed by the key of that PC");
		return true;
	}
	witnesses_check(call, g);
	for (const struct given *other = given; other < g; other++)
		if (other->head.size == g->head.size &&
		    !strcmp(other->head.origin, g->head.origin) &&
		    memcmp(other->head.root, g->head.root, sizeof(g->head.root)))
			result(call, false, g->path,
			       "%s is another head with as many certificates: "
			       "that PC has shown two pasts", other->path);
	if (log) {
		if (dealbox_log_continues(log, &g->head))
			result(call, true, g->path, "the first %" PRIu64 " of %" PRIu64
			       " certificates are those of this head: %s", g->head.size,
			       dealbox_log_size(log), spoken);
		else if (g->head.size > dealbox_log_size(log))
			result(call, false, g->path,
			       "this head has %" PRIu64 " certificates, and only %" PRIu64
			       " were given: the end is missing", g->head.size,
			       dealbox_log_size(log));
		else
			result(call, false, g->path,
			       "the first %" PRIu64 " certificates are not those of this head: "
			       "the past was rewritten", g->head.size);
	} else if (g->kind == GIVEN_HEAD) {
		result(call, true, g->path, "a head with %" PRIu64 " certificates, signed: %s",
		       g->head.size, spoken);
	}
	if (g->kind == GIVEN_LEAF)
		leaf_check(call, g, key);
	return g->kind != GIVEN_SINCE || since_check(call, given, count, g);
}

static bool spoken_check(struct call *call, const struct dealbox_log *log,
			 const struct given *given, size_t count)
{
	struct dealbox_checkpoint head;
	uint64_t size;

	if (dealbox_spoken_parse(call->spoken, &size)) {
		args_wrong(call->args, "--spoken needs a number and ten groups of four digits");
		return false;
	}
	if (log) {
		if (dealbox_log_head(log, size, &head))
			result(call, false, "--spoken",
			       "%" PRIu64 " certificates were read aloud, and only %" PRIu64
			       " were given: the end is missing", size, dealbox_log_size(log));
		else if (dealbox_checkpoint_heard(&head, call->spoken))
			result(call, true, "--spoken", "the first %" PRIu64 " of %" PRIu64
			       " certificates are those of this head", size, dealbox_log_size(log));
		else
			result(call, false, "--spoken",
			       "the first %" PRIu64 " certificates are not those that were "
			       "read aloud: the past was rewritten", size);
		return true;
	}
	for (size_t i = 0; i < count; i++)
		if (given[i].head.size == size) {
			if (dealbox_checkpoint_heard(&given[i].head, call->spoken))
				result(call, true, "--spoken", "that is the head in %s",
				       given[i].path);
			else
				result(call, false, "--spoken", "that is not the head in %s",
				       given[i].path);
			return true;
		}
	complain("give the certificates", "no head with %" PRIu64 " certificates was given", size);
	return false;
}

static enum status check_run(struct call *call)
{
	const size_t most = (size_t)call->args->argc - 1;
	struct given *given = calloc(most, sizeof(*given));
	struct dealbox_log_key key;
	struct dealbox_log *log = NULL;
	struct dealbox_error error;
	enum status status = STATUS_INPUT;
	size_t count = 0;

	if (!given) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	for (size_t i = 0; i < most; i++) {
		const char *path = call->args->argv[i + 1];
		struct given *g = &given[count];

		if (!file_read(path, &g->file))
			goto out;
		if (g->file.size && strncmp(g->file.data, "dealbox certificate ", 20) &&
		    strncmp(g->file.data, "dealbox opening ", 16)) {
			count++;
			if (!given_read(g, path))
				goto out;
			continue;
		}
		if (log) {
			args_wrong(call->args, "one file of certificates is enough");
			goto out;
		}
		if (dealbox_log_parse(g->file.data, g->file.size, &log, &error)) {
			fault_say(path, &error);
			goto out;
		}
		blob_wipe(&g->file);
		*g = (struct given) { 0 };
	}
	if (!count && !call->spoken) {
		args_wrong(call->args, "check needs a head, a proof, or --spoken");
		goto out;
	}
	if (!log_key_find(call, log, given, count, &key))
		goto out;
	if (call->pc_given && memcmp(call->pc, key.key, sizeof(key.key)))
		result(call, false, "--pc", "the certificates are signed by another key");
	for (size_t i = 0; i < count; i++)
		if (!given_check(call, log, given, count, &given[i], &key))
			goto out;
	if (call->spoken && !spoken_check(call, log, given, count))
		goto out;
	status = call->wrong ? STATUS_NO : STATUS_DONE;
out:
	for (size_t i = 0; i < most; i++) {
		blob_wipe(&given[i].file);
		free(given[i].leaf);
	}
	free(given);
	dealbox_log_free(log);
	return status;
}

/* -- the command --------------------------------------------------------------- */

static const struct action_row actions[] = {
	{ "head", 2, 2, "a folder of certificates", head_run },
	{ "prove", 3, 6, "certificates, a head, and a session with a board", prove_run },
	{ "new-witness", 3, 3, "a new folder and the name of the witness", new_witness_run },
	{ "witness", 3, 3, "the folder of the witness, and a head or proof", witness_run },
	{ "check", 2, INT32_MAX, "heads, proofs or certificates", check_run },
	{ NULL }
};

enum { KEY_PC = OPT_LONG, KEY_WITNESS, KEY_SPOKEN, KEY_QR, KEY_SINCE };

static bool pc_take(struct call *call, const char *text)
{
	size_t length;
	const char *end;

	call->pc_given = !sodium_hex2bin(call->pc, sizeof(call->pc), text, strlen(text), NULL,
					 &length, &end) &&
			 length == sizeof(call->pc) && !*end;
	if (!call->pc_given)
		args_wrong(call->args, "--pc needs the public key of a PC: 64 hexadecimal digits");
	return call->pc_given;
}

static bool witness_take(struct call *call, const char *text)
{
	struct dealbox_error error;

	if (call->witness_count == WITNESSES_MAX) {
		args_wrong(call->args, "at most %d witnesses at once", WITNESSES_MAX);
		return false;
	}
	if (dealbox_log_key_parse(text, &call->witness[call->witness_count], &error)) {
		complain(error.next, "--witness: %s", error.what);
		return false;
	}
	if (call->witness[call->witness_count++].witness)
		return true;
	args_wrong(call->args, "--witness: that is the key of a log, not of a witness");
	return false;
}

static enum status log_run(struct args *args)
{
	struct call call = { .args = args };
	const struct action_row *action;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) != ARGS_END) {
		switch (key) {
		case ARGS_STOP:
			return args->status;
		case 'o':
			call.out = value;
			break;
		case 'j':
			call.json = true;
			break;
		case KEY_QR:
			call.qr = true;
			break;
		case KEY_SINCE:
			call.since = value;
			break;
		case KEY_SPOKEN:
			call.spoken = value;
			break;
		case KEY_PC:
			if (!pc_take(&call, value))
				return STATUS_INPUT;
			break;
		case KEY_WITNESS:
			if (!witness_take(&call, value))
				return STATUS_INPUT;
			break;
		}
	}
	action = args_action(args, actions);
	return action ? action->run(&call) : STATUS_INPUT;
}

static const struct option_row log_options[] = {
	{ 'o', "output", "FILE", "write the head or proof to FILE" },
	{ KEY_QR, "qr-code", NULL, "head: show it as a QR code" },
	{ KEY_SINCE, "since", "HEAD", "prove: that HEAD continues this earlier one" },
	{ KEY_PC, "pc", "KEY", "witness, check: the public key of the PC that dealt" },
	{ KEY_WITNESS, "witness", "KEY", "check: this witness must have "
					 "confirmed; again for more" },
	{ KEY_SPOKEN, "spoken", "TEXT", "check: a head that was read aloud" },
	OPT_JSON,
	{ 0 }
};

const struct command cmd_log = {
	.name = "log",
	.operands = "head|prove|new-witness|witness|check OPERAND...",
	.summary = "Show that certificates were not changed or cut off afterwards",
	.about = "head FOLDER: sign the head of the certificates so far, to be published; it is\n"
		 "short enough to be read aloud. prove CERTIFICATES HEAD SESSION BOARD [COPY]:\n"
		 "prove that the certificate of one board is in the log, without showing the\n"
		 "others. With --since OLD: prove that HEAD continues an earlier head.\n"
		 "new-witness FOLDER NAME: make a witness, who confirms heads. witness FOLDER\n"
		 "HEAD|PROOF: confirm a head that continues the one confirmed before; it never\n"
		 "goes back. check FILE...: check heads and proofs, against the certificates if\n"
		 "they are among the files. The exit status is 1 if something is wrong.\n"
		 "docs/certificate.md says what a head proves.",
	.options = log_options,
	.run = log_run,
};
