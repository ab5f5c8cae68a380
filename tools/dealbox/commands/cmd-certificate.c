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

#include "ui/certifier.h"
#include "ui/set-to-deal.h"
#include "ui/tournament.h"
#include "ui/tracefile.h"

struct session_deals {
	char name[128];
	struct dealbox_set *set;
};

/* A machine's traces, from `dealbox deal --record` */
struct recorded {
	struct tracefile_head head;
	struct dealbox_trace *trace;
};

struct call {
	struct args *args;
	bool json;
	const char *key_path, *signer, *boards, *traces_path;

	/* verify */
	struct dealbox_manifest *manifest;
	struct dealbox_certificates *certificates;
	struct tournament tournament;	/* deals from keys.. */
	struct session_deals *sessions;	/* ..or from files; those made of keys too */
	size_t session_count;
	struct recorded *traces;
	size_t trace_count;
	size_t right, wrong, missing, judged;
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

	if (!call->key_path)
		return args_wrong(call->args, "manifest needs --key with the organiser's key");
	if (!tournament_name(&call->tournament, call->args->argv[1]) ||
	    !tournament_read(&call->tournament) || !file_read_secret(call->key_path, &key))
		goto out;
	if (dealbox_signer_parse(key.data, key.size, &signer, &error)) {
		fault_say(call->key_path, &error);
		goto out;
	}
	text = dealbox_manifest_make(call->tournament.square, signer, time(NULL), &error);
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
	bool good = certifier_begin(&certifier, call->args->argv[1], call->args->argv[2]);

	if (good) {
		key_hex(dealbox_signer_public(certifier.signer), hex);
		say("%s: deal with --certify %s. The public key of this PC, to be published:",
		    call->args->argv[1], call->args->argv[1]);
		say("%s", hex);
	}
	certifier_close(&certifier);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static enum status open_run(struct call *call)
{
	struct certifier certifier;
	bool good = certifier_open(&certifier, call->args->argv[1]) && certifier_publish(&certifier);

	if (good)
		say("%s: publish it with the deals", certifier.certificates_path);
	certifier_close(&certifier);
	return good ? STATUS_DONE : STATUS_INPUT;
}

/* -- verify ------------------------------------------------------------------- */

static struct session_deals *session_get(struct call *call, const char *name)
{
	for (size_t i = 0; i < call->session_count; i++)
		if (!strcmp(call->sessions[i].name, name))
			return &call->sessions[i];
	return NULL;
}

/* Keeps the set, in case of an error too. */
static bool session_keep(struct call *call, const char *name, struct dealbox_set *set)
{
	struct session_deals *more = set ?
		realloc(call->sessions, (call->session_count + 1) * sizeof(*more)) : NULL;

	if (!more) {
		if (set)
			complain(NULL, "out of memory");
		dealbox_set_free(set);
		return false;
	}
	call->sessions = more;
	snprintf(more[call->session_count].name, sizeof(more->name), "%s", name);
	more[call->session_count++].set = set;
	return true;
}

static bool is_description(const char *path)
{
	const size_t length = strlen(path);

	return length > 4 && !strcmp(path + length - 4, ".sqd");
}

/* The published deals: files of sessions, or the description and keys that they came from */
static bool deals_read(struct call *call, char *const *path)
{
	struct dealbox_square_session session;
	struct dealbox_error error;
	struct dealbox_set *set;

	if (is_description(*path)) {
		if (call->tournament.square)
			return args_wrong(call->args, "one .sqd is enough"), false;
		if (!tournament_name(&call->tournament, *path) || !tournament_read(&call->tournament))
			return false;
		if (dealbox_manifest_compare(call->manifest, call->tournament.square, &error)) {
			fault_say(*path, &error);
			return false;
		}
		return tournament_keys_read(&call->tournament, true, true);
	}
	if (!session_find(dealbox_manifest_square(call->manifest), *path, call->boards, &session))
		return false;
	return set_to_deal_read(path, 1, false, "it was not compared", &set) == STATUS_DONE &&
	       session_keep(call, session.file, set);
}

/* The deals of a session, NULL and said if they are not there */
static const struct dealbox_set *session_deals(struct call *call, const char *name)
{
	struct session_deals *session = session_get(call, name);
	struct dealbox_square_session found;

	if (session)
		return session->set;
	if (!call->tournament.square) {
		complain("give its file too", "there are certificates of session %s, and no deals", name);
		return NULL;
	}
	if (!session_find(call->tournament.square, name, call->boards, &found) ||
	    !session_keep(call, name, tournament_deal(&call->tournament, &found)))
		return NULL;
	return call->sessions[call->session_count - 1].set;
}

static void certificate_say(const struct call *call, const struct dealbox_certificate *c, bool good,
			    const char *text)
{
	struct json_object *object;

	if (!call->json) {
		say("%s board %u copy %u (machine %s, insertion %u): %s", c->session, c->board, c->copy,
		    c->machine, c->insertion, text);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "session", c->session);
	json_add_number(object, "board", c->board);
	json_add_number(object, "copy", c->copy);
	json_add_text(object, "machine", c->machine);
	json_add_number(object, "insertion", c->insertion);
	json_add_text(object, "verdict", c->exact ? "exact" : "void");
	json_object_object_add(object, "proven", json_object_new_boolean(good));
	json_add_text(object, "text", text);
	json_say(object);
}

static bool trace_keep(void *context, const struct tracefile_head *head,
		       struct dealbox_trace *trace, const char *path, unsigned long line)
{
	struct call *call = context;
	struct recorded *more = realloc(call->traces, (call->trace_count + 1) * sizeof(*more));

	if (!more) {
		complain(NULL, "%s:%lu: out of memory", path, line);
		dealbox_trace_free(trace);
		return false;
	}
	call->traces = more;
	more[call->trace_count++] = (struct recorded) { *head, trace };
	return true;
}

/* Return true if certificates behind this one call the same copy of the board exact. */
static bool dealt_again(const struct call *call, const struct dealbox_certificate *c)
{
	const struct dealbox_certificate *later;
	bool behind = false, again = false;

	for (size_t i = 0; (later = dealbox_certificates_get(call->certificates, i)); i++) {
		if (behind && later->exact && later->board == c->board && later->copy == c->copy &&
		    !strcmp(later->session, c->session))
			again = true;
		behind |= later == c;
	}
	return again;
}

/* NULL: the verdict of the certificate is the one that follows from plan and trace; or why that is not known. */
static const char *verdict_follows(const struct call *call, const struct dealbox_certificate *c,
				   const struct recorded *recorded, const struct dealbox_deal *deal)
{
	struct dealbox_verdict *verdict = NULL;
	uint8_t pockets[DEALBOX_HANDS];
	bool exact, same;
	int ret;

	ret = dealbox_pockets_parse(c->pockets, pockets);
	if (!ret)
		ret = tracefile_judge(&recorded->head, pockets, recorded->trace, deal, dealbox_pack_bridge(),
				      &verdict);
	if (ret == -ENODATA)
		return "NOT PROVEN: the cards were counted, and the trace does not say that their deck was sorted; "
		       "`dealbox ledger traces` writes it again";
	exact = !ret && dealbox_verdict_exact(verdict);
	same = !ret && (!c->exact || exact) &&
	       dealbox_verdict_basis(verdict) == c->basis &&
	       dealbox_verdict_identified(verdict) == c->identified;
	dealbox_verdict_free(verdict);
	if (!same)
		return "NOT PROVEN: the trace does not bear out the verdict";
	/* A board may be void for a reason that came behind its trace. It is dealt again then. */
	if (exact && !c->exact && !dealt_again(call, c))
		return "NOT PROVEN: called void, though its trace is exact, and not dealt again";
	return NULL;
}

/*
 * Returns the error of a certificate by its trace; NULL: no error, or no trace. Two machines may
 * have used the same number: one of the traces must open the certificate.
 */
static const char *trace_verify(struct call *call, const struct dealbox_certificate *c,
				const struct dealbox_deal *deal)
{
	bool given = false;

	for (size_t i = 0; i < call->trace_count; i++) {
		const struct recorded *recorded = &call->traces[i];

		if (recorded->head.insertion != c->insertion || recorded->head.board != c->board ||
		    recorded->head.copy != c->copy)
			continue;
		given = true;
		if (!dealbox_certificate_opens(c, dealbox_certificates_opening(call->certificates), deal,
					       recorded->trace))
			continue;
		call->judged++;
		return verdict_follows(call, c, recorded, deal);
	}
	return given ? "NOT PROVEN: the machine reported something else than this trace" : NULL;
}

/* Return true if a later certificate calls the same insertion void: the machine stopped behind its end. */
static bool taken_back(const struct call *call, const struct dealbox_certificate *c)
{
	const struct dealbox_certificate *later;
	bool behind = false;

	for (size_t i = 0; (later = dealbox_certificates_get(call->certificates, i)); i++) {
		if (behind && !later->exact && later->board == c->board && later->copy == c->copy &&
		    later->insertion == c->insertion && !strcmp(later->machine, c->machine) &&
		    !strcmp(later->session, c->session))
			return true;
		behind |= later == c;
	}
	return false;
}

static bool certificate_verify(struct call *call, const struct dealbox_certificate *c)
{
	const struct dealbox_set *set = session_deals(call, c->session);
	const char *wrong = NULL;
	struct dealbox_board board;
	bool found;
	long at;

	if (!set)
		return false;
	at = dealbox_set_find(set, c->board);
	found = at >= 0 && !dealbox_set_get(set, (size_t)at, &board);
	if (found && dealbox_certificate_opens(c, dealbox_certificates_opening(call->certificates),
					       &board.deal, NULL))
		wrong = trace_verify(call, c, &board.deal);
	else if (c->exact)	/* a void board lies before nobody */
		wrong = found ? "NOT PROVEN: another deal was put into the pockets" :
				"NOT PROVEN: the session has no such board";
	if (wrong) {
		call->wrong++;
		certificate_say(call, c, false, wrong);
	} else if (!c->exact || taken_back(call, c)) {
		certificate_say(call, c, false, "void: this board was not given out as dealt");
	} else {
		call->right++;
		certificate_say(call, c, true, !c->identified ?
				"the deal that was committed to, if the deck lay as the plan says (cards were "
				"counted, not read)" : c->basis == DEALBOX_BASIS_SENSORS ?
				"the deal that was committed to (each card seen to fall)" :
				"the deal that was committed to (gates set, falls not seen)");
	}
	return true;
}

/* Boards of these sessions of which no copy was certified as exact */
static void missing_say(struct call *call)
{
	struct dealbox_board board;

	for (size_t s = 0; s < call->session_count; s++)
		for (size_t i = 0; !dealbox_set_get(call->sessions[s].set, i, &board); i++) {
			const struct dealbox_certificate *c;
			size_t n = 0;

			while ((c = dealbox_certificates_get(call->certificates, n)) &&
			       (!c->exact || c->board != board.number || taken_back(call, c) ||
				strcmp(c->session, call->sessions[s].name)))
				n++;
			if (c)
				continue;
			call->missing++;
			complain("it may have been dealt at another machine: verify its certificates too",
				 "%s board %u: there is no certificate", call->sessions[s].name, board.number);
		}
}

static bool certificates_read(struct call *call, const char *path)
{
	struct dealbox_error error;
	struct blob blob;
	bool good = file_read(path, &blob);

	if (good && dealbox_certificates_parse(blob.data, blob.size, call->manifest, &call->certificates,
					       &error)) {
		fault_say(path, &error);
		good = false;
	}
	if (good && !dealbox_certificates_opening(call->certificates)) {
		complain("`dealbox certificate open FOLDER`, after play, where they were made",
			 "%s: %zu certificates, in order; but they are not open yet, so no card can be checked", path,
			 dealbox_certificates_count(call->certificates));
		good = false;
	}
	blob_wipe(&blob);
	return good;
}

static enum status verify_run(struct call *call)
{
	char *const *operand = call->args->argv;
	char hex[2 * DEALBOX_SIGNER_KEY + 1];
	const struct dealbox_certificate *c;
	enum status status = STATUS_INPUT;

	call->manifest = manifest_read(operand[1]);
	if (!call->manifest)
		return STATUS_INPUT;
	key_hex(dealbox_manifest_signer(call->manifest), hex);
	if (call->signer && strcmp(call->signer, hex)) {
		complain("get the manifest from the organiser again",
			 "%s: it is signed by another key, %s", operand[1], hex);
		status = STATUS_NO;
		goto out;
	}
	if (!call->signer)
		complain("compare that with the organiser's published key; --signer KEY does so",
			 "the manifest is signed by %s", hex);
	if (!certificates_read(call, operand[2]))
		goto out;
	c = dealbox_certificates_get(call->certificates, 0);
	if (c) {
		key_hex(c->signer, hex);
		complain("compare that with the key that was published when that PC was set up",
			 "the certificates are signed by %s", hex);
	}
	for (int i = 3; i < call->args->argc; i++)
		if (!deals_read(call, &operand[i]))
			goto out;
	if (call->traces_path && !tracefile_read(call->traces_path, trace_keep, call))
		goto out;
	for (size_t i = 0; (c = dealbox_certificates_get(call->certificates, i)); i++)
		if (!certificate_verify(call, c))
			goto out;
	missing_say(call);
	if (!call->json)
		say("%zu boards are proven, %zu are not, %zu have no certificate", call->right, call->wrong,
		    call->missing);
	if (call->traces_path && !call->json)
		say("%zu certificates, of which %zu were checked again with their traces",
		    dealbox_certificates_count(call->certificates), call->judged);
	if (!call->tournament.square)
		complain("`dealbox square verify` does so, or give the .sqd",
			 "the published deals were not compared with the keys");
	status = call->wrong || call->missing ? STATUS_NO : STATUS_DONE;
out:
	dealbox_certificates_free(call->certificates);
	dealbox_manifest_free(call->manifest);
	for (size_t i = 0; i < call->session_count; i++)
		dealbox_set_free(call->sessions[i].set);
	free(call->sessions);
	for (size_t i = 0; i < call->trace_count; i++)
		dealbox_trace_free(call->traces[i].trace);
	free(call->traces);
	return status;
}

/* -- the command -------------------------------------------------------------- */

static const struct action_row actions[] = {
	{ "new-key", 2, 2, "the name of a file", new_key_run },
	{ "manifest", 2, 2, "a tournament", manifest_run },
	{ "begin", 3, 3, "a new folder and a manifest", begin_run },
	{ "open", 2, 2, "a folder", open_run },
	{ "verify", 4, INT32_MAX, "a manifest, certificates and deals", verify_run },
	{ NULL }
};

enum { KEY_SIGNER = OPT_LONG };

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
			return args->status;
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
		case 'j':
			call.json = true;
			break;
		}
	}
	action = args_action(args, actions);
	if (!action)
		return STATUS_INPUT;
	status = action->run(&call);
	tournament_free(&call.tournament);
	return status;
}

static const struct option_row certificate_options[] = {
	{ 'k', "key", "FILE", "manifest: the organiser's signing key" },
	{ KEY_SIGNER, "signer", "KEY", "verify: the organiser's public key, from elsewhere" },
	{ 'b', "boards", "BOARDS", "verify: boards of a phase that has ?" },
	{ 't', "traces", "FILE", "verify: what the machine reported, to judge it again" },
	OPT_JSON,
	{ 0 }
};

const struct command cmd_certificate = {
	.name = "certificate",
	.operands = "new-key|manifest|begin|open|verify OPERAND...",
	.summary = "Prove that the cards in the boards are the deals committed to",
	.about = "new-key FILE: make a signing key. manifest TOURNAMENT: sign everything that a\n"
		 "published tournament promises. begin FOLDER MANIFEST: create a folder for the\n"
		 "certificates of this PC; `dealbox deal --certify FOLDER` adds one for each\n"
		 "board. open FOLDER: after play, publish the secret that opens them. verify\n"
		 "MANIFEST CERTIFICATES DEALS...: report for each board whether its cards are the\n"
		 "deal that was committed to; DEALS are files of sessions, or the .sqd with its\n"
		 ".sqk next to it. The exit status is 1 if a board is not proven.\n"
		 "With the traces of `dealbox deal --record` or `dealbox ledger traces`, each\n"
		 "verdict is checked again.\n"
		 "What this proves and what it does not: docs/certificate.md.",
	.options = certificate_options,
	.run = certificate_run,
};
