// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox certificate: what the organiser promised, signed; and proof that the cards in the
 * boards are the deals that were committed to.
 */
#include <errno.h>
#include <json-c/json.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dealbox/dealing.h>
#include <dealbox/log.h>
#include <dealbox/machine.h>

#include "ui/certifier.h"
#include "ui/proof.h"
#include "ui/set-to-deal.h"
#include "ui/tournament.h"
#include "ui/tracefile.h"

struct call {
	struct args *args;
	bool json;
	const char *key_path, *signer, *boards, *traces_path, *uri;
	unsigned long copies;

	/* PCs and machines, given by options */
	uint8_t (*pcs)[DEALBOX_SIGNER_KEY];
	size_t pc_count;
	struct dealbox_promised_machine *machines;
	size_t machine_count;

	/* verify */
	struct dealbox_manifest *manifest;
	struct tournament tournament;	/* deals from keys */
	struct proof proof;
	const char **heads;		/* files */
	size_t head_count;
	struct dealbox_log **logs;	/* of the files of certificates, where heads are given */
	size_t log_count;
};

static void key_hex(const uint8_t key[DEALBOX_SIGNER_KEY], char hex[2 * DEALBOX_SIGNER_KEY + 1])
{
	sodium_bin2hex(hex, 2 * DEALBOX_SIGNER_KEY + 1, key, DEALBOX_SIGNER_KEY);
}

/* -- new-key, manifest, begin, open ------------------------------------------- */

static enum status new_key_run(struct call *call)
{
	const char *path = call->args->argv[1];
	struct dealbox_random *random = NULL;
	struct dealbox_signer *signer = NULL;
	char hex[2 * DEALBOX_SIGNER_KEY + 1], *text = NULL;
	bool good = false;
	int err = dealbox_random_new(&random);

	if (err)
		complain("do not make keys on this computer until that is repaired",
			 "the kernel gives no random bits: %s", strerror(-err));
	else if (!dealbox_signer_new(random, &signer))
		text = dealbox_signer_print(signer);
	if (text) {
		good = file_write(path, text, strlen(text), FILE_SECRET, false);
		explicit_bzero(text, strlen(text));
	}
	if (good) {
		key_hex(dealbox_signer_public(signer), hex);
		say("%s: keep it secret. The public key, to be published:", path);
		say("%s", hex);
	}
	free(text);
	dealbox_signer_free(signer);
	dealbox_random_free(random);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static enum status manifest_run(struct call *call)
{
	struct dealbox_signer *signer = NULL;
	struct dealbox_error error;
	struct blob key = { 0 };
	char *text = NULL, *path = NULL;
	bool good = false;
	const struct dealbox_promise promise = {
		.copies = (unsigned int)call->copies,
		.pcs = (const uint8_t (*)[DEALBOX_SIGNER_KEY])call->pcs, .pc_count = call->pc_count,
		.machines = call->machines, .machine_count = call->machine_count,
	};

	if (!call->key_path)
		return args_wrong(call->args, "manifest needs --key with the organiser's key");
	if (!call->copies)
		return args_wrong(call->args, "manifest needs --copies: "
				  "how many boards of each deal will there be?");
	if (!tournament_name(&call->tournament, call->args->argv[1]) ||
	    !tournament_read(&call->tournament) || !file_read_secret(call->key_path, &key))
		goto out;
	if (dealbox_signer_parse(key.data, key.size, &signer, &error)) {
		fault_say(call->key_path, &error);
		goto out;
	}
	text = dealbox_manifest_make(call->tournament.square, &promise, signer, time(NULL), &error);
	if (!text) {
		fault_say(call->tournament.sqd, &error);
		goto out;
	}
	if (asprintf(&path, "%.*s.manifest", (int)strlen(call->tournament.sqd) - 4,
		     call->tournament.sqd) < 0)
		path = NULL;
	good = path && file_write(path, text, strlen(text), FILE_PUBLIC, false);
	if (good)
		say("%s: publish it together with %s", path, call->tournament.sqd);
	if (good && !call->pc_count)
		complain("sign again with --pc, or publish the PC's key elsewhere; "
			 "verifiers then need --pc",
			 "the manifest names no PC");
	if (good && !call->machine_count)
		complain("`dealbox certificate machine` prints what --enrol wants, "
			 "if the machine has a key",
			 "the manifest enrols no machine: boards will rest on the PC's word only");
out:
	free(path);
	free(text);
	dealbox_signer_free(signer);
	blob_wipe(&key);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static enum status begin_run(struct call *call)
{
	struct certifier certifier;
	char hex[2 * DEALBOX_SIGNER_KEY + 1];
	const char *folder = call->args->argv[1];
	const bool complete = call->args->argc > 2;
	bool good = certifier_begin(&certifier, folder, complete ? call->args->argv[2] : NULL);

	if (good) {
		key_hex(dealbox_signer_public(certifier.signer), hex);
		if (complete)
			say("%s: deal with --certify %s. The public key of this PC, "
			    "to be published:",
			    folder, folder);
		else
			say("%s: give the public key of this PC to the organiser, "
			    "for the manifest:",
			    folder);
		say("%s", hex);
	}
	certifier_close(&certifier);
	return good ? STATUS_DONE : STATUS_INPUT;
}

/* Certify a board that people have dealt, because no machine could. */
static enum status hand_run(struct call *call)
{
	char **operand = call->args->argv;
	struct dealbox_certificate certificate = { .by = DEALBOX_BY_HAND, .exact = true };
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	struct dealbox_square_session session;
	struct dealbox_trace *none = dealbox_trace_new(0);
	struct dealbox_set *set = NULL;
	struct certifier certifier = { 0 };
	unsigned long number, copy = 1;
	bool good;

	if (!args_number(call->args, "BOARD", operand[3], 1, DEALBOX_BOARD_DEALT_MAX, &number) ||
	    (call->args->argc > 4 &&
	     !args_number(call->args, "COPY", operand[4], 1, DEALBOX_COPIES_MAX, &copy))) {
		dealbox_trace_free(none);
		return STATUS_INPUT;
	}
	good = none && certifier_open(&certifier, operand[1]) &&
	       session_find(dealbox_manifest_square(certifier.manifest), operand[2], "1",
			    &session) &&
	       set_to_deal_read(&operand[2], 1, false, "it was not certified", &set) == STATUS_DONE;
	if (good && dealbox_set_get(set, (size_t)dealbox_set_find(set, (uint32_t)number), &board)) {
		complain(NULL, "%s: there is no board %lu", operand[2], number);
		good = false;
	}
	certificate.board = (uint32_t)number;
	certificate.copy = (uint32_t)copy;
	strcpy(certificate.pockets, "NESW");
	strcpy(certificate.machine, "-");
	if (good) {
		strcpy(certificate.session, session.file);
		good = certifier_add(&certifier, &certificate, &board.deal, none);
	}
	if (good)
		say("%s: board %lu, copy %lu is certified as dealt by hand; only you say so",
		    operand[1], number, copy);
	dealbox_deal_wipe(&board.deal);
	dealbox_set_free(set);
	dealbox_trace_free(none);
	certifier_close(&certifier);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static enum status open_run(struct call *call)
{
	struct certifier certifier;
	bool good = certifier_open(&certifier, call->args->argv[1]) &&
		    certifier_publish(&certifier);

	if (good)
		say("%s: publish it with the deals", certifier.certificates_path);
	certifier_close(&certifier);
	return good ? STATUS_DONE : STATUS_INPUT;
}

/* Print what the manifest needs to know about the machine. */
static enum status machine_run(struct call *call)
{
	struct dealbox_promised_machine enrolled = { 0 };
	struct dealbox_machine *machine = NULL;
	struct dealbox_identity identity;
	struct dealbox_error error;
	char *text = NULL;
	int err;

	if (dealbox_machine_open(call->uri, DEALBOX_MACHINE_OBSERVE, &machine, &error)) {
		complain(error.next, "%s", error.what);
		return STATUS_MACHINE;
	}
	err = dealbox_dealing_id(machine, enrolled.name);
	if (!err) {
		err = dealbox_machine_get_identity(machine, &identity);
		if (!err) {
			enrolled.keyed = true;
			enrolled.emulator = identity.flags & DEALBOX_IDENTITY_EMULATED;
			memcpy(enrolled.key, identity.public_key, sizeof(enrolled.key));
		} else if (err == -EOPNOTSUPP) {
			err = 0;
		}
	}
	/* a key that nobody compared is no more than what the machine says of itself */
	enrolled.emulator |= call->uri && !strncmp(call->uri, "emu:", 4);
	if (!err)
		text = dealbox_promised_machine_print(&enrolled);
	if (text)
		say("%s", text);
	else
		complain(dealbox_machine_error(machine)->next, "%s",
			 dealbox_machine_error(machine)->what);
	if (text && !enrolled.keyed)
		complain(NULL,
			 "this machine has no key: its boards will rest on the PC's word only");
	free(text);
	dealbox_machine_close(machine);
	return text ? STATUS_DONE : STATUS_MACHINE;
}

/* -- verify ------------------------------------------------------------------- */

static void sentence_say(const struct call *call, const char *sentence, enum status status)
{
	struct json_object *object;

	if (!call->json) {
		say("%s", sentence);
		return;
	}
	object = json_line("summary");
	json_add_text(object, "text", sentence);
	json_add_number(object, "exit_status", status);
	json_add_number(object, "copies_promised", (int64_t)call->proof.promised);
	json_add_number(object, "copies_proven", (int64_t)call->proof.proven);
	json_add_number(object, "copies_proven_by_machine", (int64_t)call->proof.by_machine);
	if (call->proof.value)
		json_add_text(object, "value", call->proof.value);
	json_say(object);
}

/* The files cannot be used: nothing was checked. Returns STATUS_INPUT. */
static enum status refuse(const struct call *call, const char *word, const char *path)
{
	char sentence[160];

	snprintf(sentence, sizeof(sentence),
		 "REFUSED: %.100s cannot be used, so nothing was checked", path);
	sentence_say(call, sentence, STATUS_INPUT);
	if (call->json) {
		struct json_object *object = json_line("finding");

		json_add_text(object, "finding", word);
		json_add_text(object, "text", sentence);
		json_say(object);
	}
	return STATUS_INPUT;
}

/* The finding of a text that was refused */
static const char *refusal_of(int err)
{
	return err == -EBADMSG ? "chain" : err == -EKEYREJECTED ? "signature" : "form";
}

/* Keeps the log of a file of certificates. An empty file has none. */
static bool log_keep(struct call *call, const struct blob *blob)
{
	struct dealbox_log **more = reallocarray(call->logs, call->log_count + 1, sizeof(*more));
	int err;

	if (!more)
		return false;
	call->logs = more;
	err = dealbox_log_parse(blob->data, blob->size, &more[call->log_count], NULL);
	call->log_count += !err;
	return !err || err == -ENODATA;
}

/* Adds the finding of a head that no file of certificates continues. */
static void head_compare(struct call *call, const char *path, const struct blob *note,
			 const struct dealbox_checkpoint *head)
{
	bool known = false, is_signed = false, good = false, cut = false;
	struct dealbox_log_key key;
	int64_t at;

	for (size_t i = 0; i < call->log_count; i++) {
		dealbox_log_get_key(call->logs[i], &key);
		if (strcmp(key.name, head->origin))
			continue;
		known = true;
		if (dealbox_checkpoint_verify(note->data, note->size, &key, &at))
			continue;
		is_signed = true;
		good |= dealbox_log_continues(call->logs[i], head);
		cut |= head->size > dealbox_log_size(call->logs[i]);
	}
	if (!known)
		proof_find(&call->proof, FINDING_HEAD, NULL,
			   "%s: the certificates that this head is about, %s, were not given", path,
			   head->origin);
	else if (!is_signed)
		proof_find(&call->proof, FINDING_HEAD, NULL,
			   "%s: this head is not signed by the key of its PC", path);
	else if (!good)
		proof_find(&call->proof, FINDING_HEAD, NULL, "%s: %s", path, cut ?
			   "this head has more certificates than were given: the end is missing" :
			   "the certificates do not continue this head: "
			   "the past was written again");
}

static enum status heads_read(struct call *call)
{
	struct dealbox_checkpoint head;
	struct dealbox_error error;
	struct blob note;
	enum status status = STATUS_DONE;

	for (size_t i = 0; status == STATUS_DONE && i < call->head_count; i++) {
		if (!file_read(call->heads[i], &note)) {
			status = STATUS_INPUT;
		} else if (dealbox_checkpoint_parse(note.data, note.size, &head, &error)) {
			fault_say(call->heads[i], &error);
			status = refuse(call, "form", call->heads[i]);
		} else {
			head_compare(call, call->heads[i], &note, &head);
		}
		blob_wipe(&note);
	}
	return status;
}

static enum status certificates_read(struct call *call, const char *path, const struct blob *blob)
{
	struct dealbox_certificates *certificates;
	struct dealbox_error error;
	int err = dealbox_certificates_parse(blob->data ? blob->data : "", blob->size,
					     call->manifest, &certificates, &error);

	if (err) {
		fault_say(path, &error);
		return refuse(call, refusal_of(err), path);
	}
	if (!proof_add_file(&call->proof, path, certificates) ||
	    (call->head_count && !log_keep(call, blob))) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	return STATUS_DONE;
}

static bool is_certificates(const struct blob *blob)
{
	static const char *const words[] = { "dealbox certificate ", "dealbox opening " };

	return !blob->size || !strncmp(blob->data, words[0], strlen(words[0])) ||
	       !strncmp(blob->data, words[1], strlen(words[1]));
}

static bool has_suffix(const char *path, const char *suffix)
{
	const size_t length = strlen(path), end = strlen(suffix);

	return length > end && !strcmp(path + length - end, suffix);
}

static bool is_description(const char *path)
{
	return has_suffix(path, ".sqd");
}

/* Read the files of certificates, and mark the other operands as deals. */
static enum status files_read(struct call *call, char **deals, int *deal_count)
{
	enum status status = STATUS_DONE;
	struct blob blob;

	for (int i = 2; status == STATUS_DONE && i < call->args->argc; i++) {
		char *path = call->args->argv[i];

		if (!file_read(path, &blob))
			status = STATUS_INPUT;
		else if (i == 2 || is_certificates(&blob))
			status = certificates_read(call, path, &blob);
		else
			deals[(*deal_count)++] = path;
		blob_wipe(&blob);
	}
	return status;
}

static bool description_read(struct call *call, const char *path)
{
	struct dealbox_error error;

	if (call->tournament.square)
		return args_wrong(call->args, "one .sqd is enough"), false;
	if (!tournament_name(&call->tournament, path) || !tournament_read(&call->tournament))
		return false;
	if (!dealbox_manifest_compare(call->manifest, call->tournament.square, &error))
		return tournament_keys_read(&call->tournament, true, true);
	fault_say(path, &error);
	return false;
}

/* The deals of a session, from its file */
static bool session_read(struct call *call, char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct proof_session *session;
	char file[128];

	snprintf(file, sizeof(file), "%.*s", (int)strcspn(name, "."), name);
	session = proof_session(&call->proof, file);
	if (session && session->set) {
		complain("give each session once",
			 "%s: the deals of this session were given already", path);
		return false;
	}
	if (session ? !session->promised && !session->reserve :
		      !proof_add_session(&call->proof, file)) {
		complain("name the files as they were published: "
			 "`dealbox square show` has the prefixes",
			 "%s: no session of the tournament has this name", path);
		return false;
	}
	session = proof_session(&call->proof, file);
	return set_to_deal_read(&path, 1, false, "it was not compared", &session->set) ==
	       STATUS_DONE;
}

/* The keys are read with their description, which need not be named first. */
static bool operand_read(struct call *call, char *path)
{
	if (is_description(path))
		return description_read(call, path);
	return has_suffix(path, ".sqk") || session_read(call, path);
}

/* Boards that were left open are those of the file: its keys make them one after the other. */
static void session_boards(const struct proof_session *session,
			   struct dealbox_square_session *square)
{
	struct dealbox_board board;

	*square = session->square;
	if (!session->any_board)
		return;
	square->low = UINT32_MAX;
	square->high = 0;
	for (size_t i = 0; !dealbox_set_get(session->set, i, &board); i++) {
		if (board.number < square->low)
			square->low = board.number;
		if (board.number > square->high)
			square->high = board.number;
	}
	dealbox_deal_wipe(&board.deal);
}

/*
 * Compare the deals of a file with those that the keys make. Returns false after reporting a
 * difference.
 */
static bool session_compare(const struct proof_session *session, const struct dealbox_set *made)
{
	struct dealbox_board want, given = DEALBOX_BOARD_INIT;
	bool same = true;
	int at;

	for (size_t i = 0; same && !dealbox_set_get(made, i, &want); i++) {
		at = dealbox_set_find(session->set, want.number);
		same = at < 0 || dealbox_set_get(session->set, (size_t)at, &given) ||
		       !memcmp(&want.deal, &given.deal, sizeof(want.deal));
		if (!same)
			complain("get the file from the organiser again; without it, the deals are "
				 "made of the keys",
				 "%s: board %u is not what the promised keys make",
				 session->name, want.number);
	}
	dealbox_deal_wipe(&want.deal);
	dealbox_deal_wipe(&given.deal);
	return same;
}

/* Make the deals of a session of the keys; or compare the given ones with them. */
static bool session_derive(struct call *call, struct proof_session *session)
{
	struct dealbox_square_session square;
	struct dealbox_set *made;
	bool same;

	if (!session->promised || (session->any_board && !session->set))
		return true;
	session_boards(session, &square);
	made = tournament_deal(&call->tournament, &square);
	if (!made || !session->set) {
		session->set = session->set ? session->set : made;
		return made;
	}
	same = session_compare(session, made);
	dealbox_set_free(made);
	return same;
}

/* The published deals: files of sessions, or the description and keys that they came from */
static enum status deals_read(struct call *call, char **deals, int count)
{
	const char *keys = NULL;

	for (int i = 0; i < count; i++) {
		if (has_suffix(deals[i], ".sqk"))
			keys = deals[i];
		if (!operand_read(call, deals[i]))
			return refuse(call, "deals", deals[i]);
	}
	if (keys && !call->tournament.square) {
		complain("give the .sqd too", "%s: keys without their description", keys);
		return refuse(call, "deals", keys);
	}
	for (size_t i = 0; call->tournament.square && i < call->proof.session_count; i++)
		if (!session_derive(call, &call->proof.sessions[i]))
			return refuse(call, "deals", call->tournament.sqd);
	if (call->tournament.square)
		call->proof.value = dealbox_square_value(call->tournament.square);
	return STATUS_DONE;
}

static bool trace_keep(void *context, const struct tracefile_head *head,
		       struct dealbox_trace *trace, const char *path, unsigned long line)
{
	struct proof *proof = context;
	struct proof_trace *more =
		reallocarray(proof->traces, proof->trace_count + 1, sizeof(*more));

	if (!more) {
		complain(NULL, "%s:%lu: out of memory", path, line);
		dealbox_trace_free(trace);
		return false;
	}
	proof->traces = more;
	more[proof->trace_count++] = (struct proof_trace) { *head, trace };
	return true;
}

static const char *basis_text(const struct dealbox_certificate *c)
{
	if (!c->identified)
		return "if the deck lay as the plan says: cards were counted, not read";
	if (c->by == DEALBOX_BY_HAND)
		return "dealt by hand";
	return c->basis == DEALBOX_BASIS_SENSORS ? "each card seen to fall" :
						   "gates set, falls not seen";
}

static void certificate_say(const struct call *call, const struct proof_certificate *p)
{
	const struct dealbox_certificate *c = p->c;
	/* a key that nobody enrolled is what the machine says of itself */
	const char *key =
		c->attested && p->word == WORD_PC ? ", its machine's key is self-declared" : "";
	struct json_object *object;
	char text[200];

	if (p->proven)
		snprintf(text, sizeof(text), "the deal that was committed to (%s%s; %s)",
			 proof_word_name(p->word), key, basis_text(c));
	else if (p->counts)
		snprintf(text, sizeof(text), "NOT PROVEN (%s%s)", proof_word_name(p->word), key);
	else
		snprintf(text, sizeof(text), "void: this board was not given out as dealt");
	if (!call->json) {
		say("%s board %u copy %u (machine %s, insertion %u): %s", c->session, c->board,
		    c->copy, c->machine, c->insertion, text);
		return;
	}
	object = json_line("certificate");
	json_add_text(object, "session", c->session);
	json_add_number(object, "board", c->board);
	json_add_number(object, "copy", c->copy);
	json_add_text(object, "machine", c->machine);
	json_add_known(object, "insertion", c->insertion);
	json_add_text(object, "verdict", c->exact ? "exact" : "void");
	json_add_bool(object, "proven", p->proven);
	json_add_text(object, "word", proof_word_name(p->word));
	json_add_text(object, "text", text);
	json_say(object);
}

static void finding_say(const struct call *call, const struct finding *finding)
{
	const struct dealbox_certificate *c = finding->certificate;
	struct json_object *object;

	if (!call->json) {
		if (c)
			say("[%s] %s board %u copy %u: %s", finding_name(finding->kind), c->session,
			    c->board, c->copy, finding->text);
		else
			say("[%s] %s", finding_name(finding->kind), finding->text);
		return;
	}
	object = json_line("finding");
	json_add_text(object, "finding", finding_name(finding->kind));
	if (c) {
		json_add_text(object, "session", c->session);
		json_add_number(object, "board", c->board);
		json_add_number(object, "copy", c->copy);
	}
	json_add_text(object, "text", finding->text);
	json_say(object);
}

/* Everything is read: compare it, and report. */
static enum status report(struct call *call)
{
	struct proof *proof = &call->proof;
	enum status status;
	char *sentence;

	if (!proof_run(proof) || !(sentence = proof_sentence(proof))) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	status = proof->finding_count || !proof->proven ? STATUS_NO : STATUS_DONE;
	sentence_say(call, sentence, status);
	for (size_t i = 0; i < proof->certificate_count; i++)
		certificate_say(call, &proof->certificates[i]);
	for (size_t i = 0; i < proof->finding_count; i++)
		finding_say(call, &proof->findings[i]);
	if (!call->tournament.square)
		complain("`dealbox square verify` does so, or give the .sqd",
			 "the published deals were not compared with the keys");
	free(sentence);
	return status;
}

/* Nothing that another than the organiser has signed is looked at. */
static enum status other_signer(struct call *call, const char *hex)
{
	proof_find(&call->proof, FINDING_SIGNER, NULL,
		   "the manifest is signed by another key, %s: get it from the organiser again",
		   hex);
	sentence_say(call, "NOTHING IS PROVEN: the manifest is not the organiser's", STATUS_NO);
	if (call->proof.finding_count)
		finding_say(call, &call->proof.findings[0]);
	return STATUS_NO;
}

static enum status manifest_check(struct call *call)
{
	const char *path = call->args->argv[1];
	char hex[2 * DEALBOX_SIGNER_KEY + 1];
	struct dealbox_error error;
	struct blob blob;
	int err = -ENOENT;

	if (file_read(path, &blob)) {
		err = dealbox_manifest_parse(blob.data ? blob.data : "", blob.size, &call->manifest,
					     &error);
		if (err) {
			fault_say(path, &error);
			refuse(call, refusal_of(err), path);
		}
	}
	blob_wipe(&blob);
	if (err)
		return STATUS_INPUT;
	key_hex(dealbox_manifest_signer(call->manifest), hex);
	if (call->signer && strcmp(call->signer, hex))
		return other_signer(call, hex);
	if (!call->signer)
		complain("compare that with the organiser's published key; --signer KEY does so",
			 "the manifest is signed by %s", hex);
	if (!dealbox_manifest_promise(call->manifest))
		complain("--copies and --pc say so",
			 "the manifest is of version 1: it promises no number of copies, "
			 "and names no PC");
	return STATUS_DONE;
}

static enum status verify_run(struct call *call)
{
	char **deals = calloc((size_t)call->args->argc, sizeof(*deals));
	enum status status = deals ? manifest_check(call) : STATUS_INPUT;
	int count = 0;

	call->proof.manifest = call->manifest;
	call->proof.boards = call->boards;
	call->proof.signer_named = call->signer;
	call->proof.pcs = (const uint8_t (*)[DEALBOX_SIGNER_KEY])call->pcs;
	call->proof.pc_count = call->pc_count;
	call->proof.copies = (unsigned int)call->copies;
	call->proof.traces_given = call->traces_path;
	if (status == STATUS_DONE)
		status = files_read(call, deals, &count);
	if (status == STATUS_DONE)
		status = heads_read(call);
	if (status == STATUS_DONE && !proof_find_sessions(&call->proof))
		status = STATUS_INPUT;
	if (status == STATUS_DONE)
		status = deals_read(call, deals, count);
	if (status == STATUS_DONE && call->traces_path &&
	    !tracefile_read(call->traces_path, trace_keep, &call->proof))
		status = STATUS_INPUT;
	if (status == STATUS_DONE)
		status = report(call);
	proof_free(&call->proof);
	dealbox_manifest_free(call->manifest);
	free(deals);
	return status;
}

/* -- the command -------------------------------------------------------------- */

static const struct action_row actions[] = {
	{ "new-key", 2, 2, "the name of a file", new_key_run },
	{ "manifest", 2, 2, "a tournament", manifest_run },
	{ "begin", 2, 3, "a folder, and a manifest once there is one", begin_run },
	{ "machine", 1, 1, "no operand", machine_run },
	{ "hand", 4, 5, "a folder, a file of deals, a board, and its copy if it is not 1",
	  hand_run },
	{ "open", 2, 2, "a folder", open_run },
	{ "verify", 3, INT32_MAX, "a manifest, certificates and deals", verify_run },
	{ NULL }
};

enum { KEY_SIGNER = OPT_LONG, KEY_PC, KEY_ENROL, KEY_HEAD };

/* The key of a PC, which may be named several times. Returns false after reporting an error. */
static bool pc_add(struct call *call, const char *hex)
{
	uint8_t(*more)[DEALBOX_SIGNER_KEY] =
		reallocarray(call->pcs, call->pc_count + 1, sizeof(*more));
	size_t size = 0;

	if (more)
		call->pcs = more;
	if (more && strlen(hex) == 2 * DEALBOX_SIGNER_KEY &&
	    !sodium_hex2bin(more[call->pc_count], DEALBOX_SIGNER_KEY, hex, strlen(hex), NULL, &size,
			    NULL) &&
	    size == DEALBOX_SIGNER_KEY) {
		call->pc_count++;
		return true;
	}
	args_wrong(call->args, "--pc is a public key of 64 hexadecimal digits");
	return false;
}

static bool machine_add(struct call *call, const char *text)
{
	struct dealbox_promised_machine *more =
		reallocarray(call->machines, call->machine_count + 1, sizeof(*more));

	if (more)
		call->machines = more;
	if (more && !dealbox_promised_machine_parse(text, &more[call->machine_count])) {
		call->machine_count++;
		return true;
	}
	args_wrong(call->args, "--enrol is a line of `dealbox certificate machine`, as one word");
	return false;
}

static enum status certificate_run(struct args *args)
{
	struct call call = { .args = args };
	const struct action_row *action;
	enum status status;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) != ARGS_END) {
		switch (key) {
		case ARGS_STOP:
			status = args->status;
			goto out;
		case 'k':
			call.key_path = value;
			break;
		case 'b':
			call.boards = value;
			break;
		case KEY_SIGNER:
			call.signer = value;
			break;
		case 't':
			call.traces_path = value;
			break;
		case 'm':
			call.uri = value;
			break;
		case 'c':
			if (!args_number(args, "--copies", value, 1, DEALBOX_COPIES_MAX,
					 &call.copies))
				goto wrong;
			break;
		case KEY_PC:
			if (!pc_add(&call, value))
				goto wrong;
			break;
		case KEY_HEAD:
			if (!call.heads)
				call.heads = calloc((size_t)args->argc, sizeof(*call.heads));
			if (!call.heads)
				goto wrong;
			call.heads[call.head_count++] = value;
			break;
		case KEY_ENROL:
			if (!machine_add(&call, value))
				goto wrong;
			break;
		case 'j':
			call.json = true;
			break;
		}
	}
	action = args_action(args, actions);
	if (!action)
		goto wrong;
	status = action->run(&call);
	tournament_free(&call.tournament);
out:
	for (size_t i = 0; i < call.log_count; i++)
		dealbox_log_free(call.logs[i]);
	free(call.logs);
	free(call.heads);
	free(call.pcs);
	free(call.machines);
	return status;
wrong:
	status = STATUS_INPUT;
	goto out;
}

static const struct option_row certificate_options[] = {
	{ 'k', "key", "FILE", "manifest: the organiser's signing key" },
	{ 'c', "copies", "N", "manifest: copies of each board; verify: instead of the manifest's" },
	{ KEY_PC, "pc", "KEY", "manifest: the public key of a PC; verify: "
			       "instead of the manifest's" },
	{ KEY_ENROL, "enrol", "MACHINE", "manifest: a machine, "
					 "as `dealbox certificate machine` prints it" },
	OPT_MACHINE,
	{ KEY_SIGNER, "signer", "KEY", "verify: the organiser's public key, from elsewhere" },
	{ KEY_HEAD, "head", "FILE", "verify: a published head, "
				    "which the certificates must continue" },
	{ 'b', "boards", "BOARDS", "verify: boards of a phase that has ?" },
	{ 't', "traces", "FILE", "verify: what the machine reported, to judge it again" },
	OPT_JSON,
	{ 0 }
};

const struct command cmd_certificate = {
	.name = "certificate",
	.operands = "new-key|machine|begin|manifest|hand|open|verify [OPERAND]...",
	.summary = "Prove that the cards in the boards are the deals committed to",
	.about = "new-key FILE: make a signing key.\n"
		 "machine: print the machine as a manifest has it.\n"
		 "begin FOLDER: create a folder for the certificates of this PC, and print its\n"
		 "public key.\n"
		 "manifest TOURNAMENT: sign everything that a published tournament promises.\n"
		 "begin FOLDER MANIFEST: put the manifest into the folder; `dealbox deal\n"
		 "--certify FOLDER` adds a certificate for each board.\n"
		 "hand FOLDER FILE BOARD [COPY]: add one for a board that people have dealt.\n"
		 "open FOLDER: after play, publish the secret that opens them.\n"
		 "verify MANIFEST CERTIFICATES... DEALS...: report for each board whether its\n"
		 "cards are the deal that was committed to, and what is missing; DEALS are the\n"
		 ".sqd with its .sqk, or files of sessions. The exit status is 0 only if every\n"
		 "board and copy that was promised is proven. With the traces of `dealbox deal\n"
		 "--record` or `dealbox ledger traces`, each verdict is checked again.\n"
		 "What this proves and what it does not: docs/certificate.md.",
	.options = certificate_options,
	.run = certificate_run,
};
