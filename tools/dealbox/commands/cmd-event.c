// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox event: one event on many PCs, whose copies are in one PostgreSQL database. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pool/folder.h"
#include "pool/heads.h"
#include "pool/pool.h"
#include "pool/send.h"
#include "service/restore.h"
#include "ui/certifier.h"
#include "ui/sealed.h"
#include "ui/set-to-deal.h"

#define LEASE_MINUTES	60
#define MARGIN_MINUTES	15
#define SILENT_S	120	/* a PC tells every few seconds what its machines do */
#define MINUTES_MAX	(7 * 24 * 60UL)

struct call {
	struct args *args;
	const char *database, *folder, *key_path, *ledger, *certificates;
	unsigned long lease, margin;	/* minutes */
	unsigned long copies, priority;
	bool json, yes, replay, rehearsal;
	struct pool *pool;
};

/* Reports an error. */
static enum status refused(int err, const struct dealbox_error *error)
{
	static const struct {
		int err;
		enum status status;
	} outcomes[] = {
		{ -ETIMEDOUT, STATUS_MACHINE },
		{ -EIO, STATUS_MACHINE },
		{ -EAGAIN, STATUS_MACHINE },
		{ -EROFS, STATUS_MACHINE },
		{ -EBUSY, STATUS_NO },
		{ -EEXIST, STATUS_NO },
		{ -ENOKEY, STATUS_NO },
	};
	size_t n;

	complain(error->next, "%s", error->what);
	for (n = 0; n < sizeof(outcomes) / sizeof(outcomes[0]); n++)
		if (outcomes[n].err == err)
			return outcomes[n].status;
	return STATUS_INPUT;
}

/* Connects. Returns false after reporting an error: STATUS_MACHINE. */
static bool connect_event(struct call *call)
{
	struct dealbox_error error = { 0 };

	call->pool = pool_open(call->database, &error);
	if (!call->pool)
		complain(error.next, "%s", error.what);
	return call->pool;
}

/* ---- the key of the event --------------------------------------------------- */

/* Reads 64 hexadecimal digits, and a line's end. */
static bool hex_read(const char *text, size_t size, uint8_t key[POOL_KEY])
{
	size_t length = 0;

	return !sodium_hex2bin(key, POOL_KEY, text, size, "\n", &length, NULL) &&
	       length == POOL_KEY;
}

/* Reads a key of an event. Returns false after reporting an error. */
static bool key_load(const char *path, uint8_t key[POOL_KEY])
{
	struct blob blob = { 0 };
	bool good = file_read_secret(path, &blob);

	if (good && !hex_read(blob.data, blob.size, key)) {
		complain("give the file that `dealbox event init` has made",
			 "%s: this is not the key of an event", path);
		good = false;
	}
	blob_wipe(&blob);
	return good;
}

/* ---- init --------------------------------------------------------------- */

/* Writes a new key to a file. */
static bool key_make(const char *path, uint8_t key[POOL_KEY])
{
	struct dealbox_random *random = random_start();
	char hex[2 * POOL_KEY + 2];
	bool good;

	if (!random)
		return false;
	dealbox_random_bytes(random, key, POOL_KEY);
	dealbox_random_free(random);
	sodium_bin2hex(hex, sizeof(hex) - 1, key, POOL_KEY);
	strcpy(hex + 2 * POOL_KEY, "\n");
	good = file_write(path, hex, sizeof(hex) - 1, FILE_SECRET, false);
	explicit_bzero(hex, sizeof(hex));
	return good;
}

static void init_say(const struct call *call, const char *name, const char *path,
		     const uint8_t check[POOL_KEY])
{
	struct json_object *object;
	char print[POOL_PRINT];

	pool_print(check, print);
	if (call->json) {
		object = json_line("event");
		json_add_text(object, "event", name);
		json_add_text(object, "key_path", path);
		json_add_text(object, "fingerprint", print);
		json_say(object);
		return;
	}
	say("%s has begun. %s is its key: keep it where only the director can get it, and "
	    "a copy elsewhere", name, path);
	say("PCs join with this fingerprint, which is not secret: %s", print);
}

/* The answer to an earlier init may have been lost: finds out whether its event is there. */
static enum status init_again(struct call *call, const char *name, const char *path)
{
	uint8_t key[POOL_KEY], check[POOL_KEY];
	struct dealbox_error error = { 0 };
	enum status status = STATUS_INPUT;
	struct pool_event event;
	int err;

	if (!key_load(path, key))
		return STATUS_INPUT;
	pool_key_check(key, check);
	explicit_bzero(key, sizeof(key));
	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_get_event(call->pool, &event, &error);
	if (err && err != -ENODATA)
		return refused(err, &error);
	if (err)
		complain("delete the file if no other event needs it, and run this again",
			 "%s is there already, and this database has no event", path);
	else if (sodium_memcmp(check, event.check, sizeof(check)))
		complain("give each event a database and a key of its own",
			 "%s is there already, and is not the key of the event in this database",
			 path);
	else if (strcmp(name, event.name))
		complain("`dealbox event status` shows it",
			 "this database already has an event with that key, %s", event.name);
	else
		status = STATUS_DONE;
	if (status == STATUS_DONE)
		init_say(call, name, path, check);
	return status;
}

static enum status init_run(struct call *call)
{
	const char *name = call->args->argv[1], *path = call->args->argv[2];
	struct pool_terms terms = {
		.name = name,
		.lease_s = (uint32_t)call->lease * 60,
		.margin_s = (uint32_t)call->margin * 60,
		.rehearsal = call->rehearsal,
	};
	struct dealbox_error error = { 0 };
	enum status status;
	uint8_t check[POOL_KEY];
	int err;

	if (!*name || strlen(name) > 100)
		return args_wrong(call->args, "the name of an event has 1 to 100 bytes");
	if (file_exists(path))
		return init_again(call, name, path);
	/* the key first: without it on disk, the event could never take a deal */
	if (!key_make(path, terms.key))
		return STATUS_INPUT;
	pool_key_check(terms.key, check);
	if (!connect_event(call)) {
		explicit_bzero(&terms, sizeof(terms));
		unlink(path);
		return STATUS_MACHINE;
	}
	err = pool_init(call->pool, &terms, &error);
	explicit_bzero(&terms, sizeof(terms));
	if (!err) {
		init_say(call, name, path, check);
		return STATUS_DONE;
	}
	if (err == -ETIMEDOUT)
		/* the event may be there, and this may be its only key */
		snprintf(error.next, sizeof(error.next),
			 "keep %.100s, and run this again: it says whether the event exists",
			 path);
	status = refused(err, &error);
	if (err != -ETIMEDOUT)
		unlink(path);
	return status;
}

/* ---- the director's key ----------------------------------------------------- */

/* Reads the key of the event, and checks that it is the key of this one. */
static bool key_read(struct call *call, uint8_t key[POOL_KEY])
{
	struct dealbox_error error = { 0 };
	uint8_t check[POOL_KEY];
	struct pool_event event;
	int err;

	if (!call->key_path) {
		args_wrong(call->args, "this needs the key of the event, --key");
		return false;
	}
	if (!key_load(call->key_path, key))
		return false;
	err = pool_get_event(call->pool, &event, &error);
	pool_key_check(key, check);
	if (err)
		refused(err, &error);
	else if (sodium_memcmp(check, event.check, sizeof(check)))
		complain("give the file that `dealbox event init` has made",
			 "%s: this is the key of another event", call->key_path);
	else
		return true;
	explicit_bzero(key, POOL_KEY);
	return false;
}

/* ---- admit ------------------------------------------------------------------ */

static enum status admit_run(struct call *call)
{
	const char *name = call->args->argv[1], *wanted = call->args->argv[2];
	uint8_t key[POOL_KEY], public_key[POOL_KEY];
	struct dealbox_error error = { 0 };
	char print[POOL_PRINT];
	int err;

	if (!connect_event(call))
		return STATUS_MACHINE;
	if (!key_read(call, key))
		return STATUS_INPUT;
	err = pool_get_pc_key(call->pool, name, public_key, &error);
	if (err) {
		explicit_bzero(key, sizeof(key));
		return refused(err, &error);
	}
	pool_print(public_key, print);
	if (strcmp(print, wanted)) {
		explicit_bzero(key, sizeof(key));
		complain("read it from the screen of that PC again; if it is right, somebody has "
			 "changed the database",
			 "the key of PC %s has another fingerprint than %s", name, wanted);
		return STATUS_NO;
	}
	err = pool_admit(call->pool, key, name, public_key, &error);
	explicit_bzero(key, sizeof(key));
	if (err)
		return refused(err, &error);
	if (!call->json)
		say("%s may deal the jobs that are added from now on; `dealbox event give` gives "
		    "it the set of an earlier one", name);
	return STATUS_DONE;
}

/* ---- add -------------------------------------------------------------------- */

static enum status add_run(struct call *call)
{
	struct pool_new_job new_job = {
		.session = call->args->argv[1], .copies = (uint32_t)call->copies,
		.priority = (int)call->priority, .replay = call->replay,
	};
	struct dealbox_error error = { 0 };
	struct json_object *object;
	struct dealbox_set *set;
	uint8_t key[POOL_KEY];
	uint32_t job, pcs;
	int err;

	if (!*new_job.session || strlen(new_job.session) > 100)
		return args_wrong(call->args, "the name of a session has 1 to 100 bytes");
	if (set_to_deal_read(call->args->argv + 2, call->args->argc - 2, false, "nothing was added",
			     &set))
		return STATUS_INPUT;
	new_job.set = set;
	if (!connect_event(call)) {
		dealbox_set_free(set);
		return STATUS_MACHINE;
	}
	if (!key_read(call, key)) {
		dealbox_set_free(set);
		return STATUS_INPUT;
	}
	err = pool_add_job(call->pool, key, &new_job, &job, &pcs, &error);
	explicit_bzero(key, sizeof(key));
	dealbox_set_free(set);
	if (err == -ETIMEDOUT)
		snprintf(error.next, sizeof(error.next),
			 "`dealbox event status` says whether the job is there; "
			 "run it again if not");
	if (err)
		return refused(err, &error);
	if (call->json) {
		object = json_line("job");
		json_add_number(object, "job", job);
		json_add_number(object, "pcs", pcs);
		json_say(object);
	} else {
		say("job %" PRIu32 ": %" PRIu32 " PCs have its set", job, pcs);
	}
	return STATUS_DONE;
}

/* ---- give, close, open ------------------------------------------------------- */

/* Reads the number of a job. Returns false after reporting an error. */
static bool job_read(const struct call *call, size_t operand, uint32_t *job)
{
	unsigned long number;

	if (!args_number(call->args, "job", call->args->argv[operand], 1, INT32_MAX, &number))
		return false;
	*job = (uint32_t)number;
	return true;
}

static enum status give_run(struct call *call)
{
	const char *name = call->args->argv[1];
	struct dealbox_error error = { 0 };
	struct dealbox_set *set;
	uint8_t key[POOL_KEY];
	uint32_t job;
	int err;

	if (!job_read(call, 2, &job) ||
	    set_to_deal_read(call->args->argv + 3, call->args->argc - 3, false, "nothing was given",
			     &set))
		return STATUS_INPUT;
	if (!connect_event(call)) {
		dealbox_set_free(set);
		return STATUS_MACHINE;
	}
	if (!key_read(call, key)) {
		dealbox_set_free(set);
		return STATUS_INPUT;
	}
	err = pool_give(call->pool, key, name, job, set, &error);
	explicit_bzero(key, sizeof(key));
	dealbox_set_free(set);
	if (err)
		return refused(err, &error);
	if (!call->json)
		say("%s has the set of job %" PRIu32, name, job);
	return STATUS_DONE;
}

static enum status open_or_close(struct call *call, bool open)
{
	struct dealbox_error error = { 0 };
	uint32_t job;
	int err;

	if (!job_read(call, 1, &job))
		return STATUS_INPUT;
	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_open_job(call->pool, job, open, &error);
	if (err)
		return refused(err, &error);
	if (!call->json)
		say(open ? "job %" PRIu32 " is open" :
		    "job %" PRIu32 " is closed: no PC takes more of it; what a PC holds, it deals",
		    job);
	return STATUS_DONE;
}

static enum status open_run(struct call *call)
{
	return open_or_close(call, true);
}

static enum status close_run(struct call *call)
{
	return open_or_close(call, false);
}

/* ---- the identity of this PC -------------------------------------------------- */

#define IDENTITY_HEAD	"dealbox event 1"

static bool identity_path(const struct call *call, const char *file, char path[4096])
{
	if (snprintf(path, 4096, "%s/%s", call->folder, file) < 4096)
		return true;
	complain(NULL, "%s: the name is too long", call->folder);
	return false;
}

static bool identity_write(const struct call *call, const struct pool_identity *identity)
{
	char path[4096], text[512], hex[2 * POOL_KEY + 1];
	bool good;

	sodium_bin2hex(hex, sizeof(hex), identity->secret_key, POOL_KEY);
	snprintf(text, sizeof(text), IDENTITY_HEAD "\n%s %s %s\n%s\n", identity->token,
		 identity->print, hex, identity->name);
	good = identity_path(call, "identity", path) &&
	       file_write(path, text, strlen(text), FILE_SECRET, false);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(hex, sizeof(hex));
	return good;
}

/* Returns false after reporting an error. Wipe the identity in any case. */
static bool identity_read(struct call *call, struct pool_identity *identity)
{
	struct dealbox_error error = { 0 };

	if (!pool_read_identity(call->folder, identity, &error))
		return true;
	complain(error.next, "%s", error.what);
	return false;
}

/* ---- join ------------------------------------------------------------------- */

/* A fingerprint: five groups of four hexadecimal digits. */
static bool is_print(const char *text)
{
	return strlen(text) == POOL_PRINT - 1 &&
	       strspn(text, "0123456789abcdef-") == POOL_PRINT - 1;
}

static bool identity_make(struct call *call, struct pool_identity *identity)
{
	const char *name = call->args->argv[1], *print = call->args->argv[2];

	if (!*name || strlen(name) >= sizeof(identity->name) || strpbrk(name, "\n")) {
		args_wrong(call->args, "the name of a PC has 1 to 63 bytes in one line");
		return false;
	}
	if (!is_print(print)) {
		args_wrong(call->args,
			   "the fingerprint of an event is what `dealbox event init` has shown");
		return false;
	}
	if (mkdir(call->folder, 0700) && errno != EEXIST) {
		complain("choose another with --folder", "%s: %s", call->folder, strerror(errno));
		return false;
	}
	snprintf(identity->name, sizeof(identity->name), "%s", name);
	snprintf(identity->print, sizeof(identity->print), "%s", print);
	pool_uuid(identity->token);
	pool_keys(identity->public_key, identity->secret_key);
	return identity_write(call, identity);
}

static enum status join_run(struct call *call)
{
	struct dealbox_error error = { 0 };
	struct pool_identity identity = { 0 };
	enum status status = STATUS_INPUT;
	struct json_object *object;
	char path[4096], print[POOL_PRINT];
	bool made;
	int err;

	if (!identity_path(call, "identity", path))
		return STATUS_INPUT;
	/* it is there if the answer to an earlier join was lost */
	made = !file_exists(path);
	if (!(made ? identity_make : identity_read)(call, &identity))
		goto out;
	if (strcmp(identity.name, call->args->argv[1]) ||
	    strcmp(identity.print, call->args->argv[2])) {
		complain("`dealbox event leave` leaves it",
			 "this PC has joined an event as %s already", identity.name);
		goto out;
	}
	status = STATUS_MACHINE;
	if (!connect_event(call))
		goto out;
	err = pool_join(call->pool, identity.name, identity.public_key, identity.token, &error);
	if (err) {
		status = refused(err, &error);
		/* the server does not know this identity */
		if (made && err != -ETIMEDOUT && err != -EIO)
			unlink(path);
		goto out;
	}
	pool_print(identity.public_key, print);
	if (call->json) {
		object = json_line("pc");
		json_add_text(object, "pc", identity.name);
		json_add_text(object, "fingerprint", print);
		json_say(object);
	} else {
		say("%s has joined. The director admits it by the fingerprint of its key: %s",
		    identity.name, print);
	}
	status = STATUS_DONE;
out:
	explicit_bzero(&identity, sizeof(identity));
	return status;
}

/* ---- fetch ------------------------------------------------------------------ */

static enum status fetch_run(struct call *call)
{
	const char *path = call->args->argv[2];
	struct dealbox_error error = { 0 };
	enum status status = STATUS_INPUT;
	struct dealbox_set *set = NULL;
	char session[POOL_SESSION];
	struct pool_identity identity;
	uint8_t key[POOL_KEY];
	uint32_t job;
	int err;

	if (!job_read(call, 1, &job) || !set_to_deal_can_be(path, NULL))
		return STATUS_INPUT;
	if (!identity_read(call, &identity))
		goto out;
	status = STATUS_MACHINE;
	if (!connect_event(call))
		goto out;
	err = pool_get_key(call->pool, identity.public_key, identity.secret_key, identity.print,
			   key, &error);
	if (!err)
		err = pool_get_set(call->pool, key, identity.public_key, identity.secret_key,
				   job, &set, session, &error);
	explicit_bzero(key, sizeof(key));
	if (err) {
		status = refused(err, &error);
		goto out;
	}
	status = set_to_deal_write(set, path, NULL) ? STATUS_DONE : STATUS_INPUT;
	if (status == STATUS_DONE && !call->json)
		say("%s has the %zu deals of job %" PRIu32 ", session %s: "
		    "keep it secret until they are played",
		    path, dealbox_set_count(set), job, session);
out:
	dealbox_set_free(set);
	explicit_bzero(&identity, sizeof(identity));
	return status;
}

/* ---- send ------------------------------------------------------------------ */

static void surplus_sent(const struct pool_report *report, void *context)
{
	const struct call *call = context;

	if (!call->json)
		say("board %" PRIu32 ", copy %" PRIu32
		    " of machine %s is surplus: take it out of play",
		    report->copy.board, report->copy.copy, report->machine);
}

static void insertion_refused(const struct pool_report *report, const struct dealbox_error *error,
			      void *context)
{
	(void)context;
	complain(error->next,
		 "board %" PRIu32 ", copy %" PRIu32 " of machine %s, insertion %" PRIu32
		 " is refused: %s",
		 report->copy.board, report->copy.copy, report->machine, report->insertion,
		 error->what);
}

static void sent_say(const struct call *call, const struct pool_sent *sent)
{
	struct json_object *object;

	if (!call->json) {
		say("%" PRIu32 " boards count, %" PRIu32 " are surplus, %" PRIu32
		    " were taken back; %" PRIu32 " other insertions",
		    sent->counts, sent->surplus, sent->withdrawn, sent->no_board);
		if (sent->refused)
			complain("docs/event.md says what to do",
				 "%" PRIu32 " insertions were refused", sent->refused);
		if (sent->emulated)
			complain("an event for them is made with `dealbox event init --rehearsal`",
				 "%" PRIu32 " boards of emulated machines were not sent",
				 sent->emulated);
		return;
	}
	object = json_line("sent");
	json_add_number(object, "counted", sent->counts);
	json_add_number(object, "surplus", sent->surplus);
	json_add_number(object, "withdrawn", sent->withdrawn);
	json_add_number(object, "no_board", sent->no_board);
	json_add_number(object, "refused", sent->refused);
	json_add_number(object, "emulated", sent->emulated);
	json_say(object);
}

/* Makes the head of the certificates, and the proof that it continues the last one, if it does. */
static bool head_make(struct call *call, const struct certifier *certifier,
		      const struct dealbox_log *log, struct pool_head *head, bool *continues)
{
	struct dealbox_log_proof proof;
	struct dealbox_checkpoint now, last;
	struct dealbox_error error = { 0 };
	char *note;
	int err;

	*continues = true;
	err = dealbox_log_head(log, dealbox_log_size(log), &now) ? -EINVAL :
	      pool_get_head(call->pool, head->origin, &note, &error);
	if (err) {
		complain(error.next, "%s",
			 *error.what ? error.what : "the certificates have no head");
		return false;
	}
	head->note = dealbox_checkpoint_sign(&now, certifier->signer);
	if (note && head->note) {
		*continues = !dealbox_checkpoint_parse(note, strlen(note), &last, &error) &&
			     dealbox_log_continues(log, &last);
		if (*continues && !dealbox_log_prove_since(log, last.size, now.size, &proof))
			head->proof = dealbox_consistency_print(&proof, head->note);
	}
	free(note);
	if (!head->note)
		complain(NULL, "out of memory");
	return head->note;
}

/* Reports the head of the certificates of this PC. */
static enum status head_send(struct call *call, const struct pool_identity *identity,
			     const struct certifier *certifier)
{
	struct dealbox_error error = { 0 };
	enum status status = STATUS_INPUT;
	struct dealbox_log *log = NULL;
	struct pool_head head = { 0 };
	struct dealbox_log_key key;
	bool continues;
	int err;

	if (!certifier->file.size)
		return STATUS_DONE;	/* nothing is certified yet */
	err = dealbox_log_parse(certifier->file.data, certifier->file.size, &log, &error);
	if (err) {
		fault_say(certifier->certificates_path, &error);
		return STATUS_INPUT;
	}
	dealbox_log_get_key(log, &key);
	head.origin = key.name;
	memcpy(head.key, key.key, sizeof(head.key));
	if (head_make(call, certifier, log, &head, &continues)) {
		err = pool_report_head(call->pool, identity->token, &head, &error);
		status = err ? refused(err, &error) : STATUS_DONE;
	}
	if (status == STATUS_DONE && !continues) {
		complain("find out before anything else is dealt whether "
			 "an old copy of the disk runs",
			 "%s: these certificates do not continue what was reported of them",
			 certifier->certificates_path);
		status = STATUS_NO;
	}
	free((char *)head.note);
	free((char *)head.proof);
	dealbox_log_free(log);
	return status;
}

static enum status certificates_send(struct call *call, const struct pool_identity *identity)
{
	struct certifier certifier;
	enum status status = STATUS_INPUT;

	if (certifier_open(&certifier, call->certificates))
		status = head_send(call, identity, &certifier);
	certifier_close(&certifier);
	return status;
}

static enum status send_all(struct call *call, struct pool_sending *sending,
			    const struct pool_identity *identity)
{
	struct dealbox_error error = { 0 };
	struct pool_event event;
	uint8_t key[POOL_KEY];
	struct pool_sent sent;
	enum status status;
	int err;

	err = dealbox_ledger_open(sending->ledger, call->ledger, 0);
	if (err) {
		complain(NULL, "%s", dealbox_ledger_error(sending->ledger)->what);
		return STATUS_INPUT;
	}
	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_get_event(call->pool, &event, &error);
	if (!err)
		err = pool_get_key(call->pool, identity->public_key, identity->secret_key,
				   identity->print, key, &error);
	if (!err) {
		sending->token = identity->token;
		sending->key = key;
		sending->rehearsal = event.rehearsal;
		err = pool_send(call->pool, sending, &sent, &error);
		explicit_bzero(key, sizeof(key));
	}
	if (err)
		return refused(err, &error);
	sent_say(call, &sent);
	status = call->certificates ? certificates_send(call, identity) : STATUS_DONE;
	if (!status && (sent.surplus || sent.refused || sent.emulated))
		return STATUS_NO;
	return status;
}

static enum status send_run(struct call *call)
{
	struct pool_sending sending = { .surplus = surplus_sent, .refused = insertion_refused,
				       .context = call };
	enum status status = STATUS_INPUT;
	struct pool_identity identity;
	unsigned long job, event_job;

	if (!args_number(call->args, "job", call->args->argv[1], 1, UINT32_MAX, &job) ||
	    !args_number(call->args, "job of the event", call->args->argv[2], 1, INT32_MAX,
			 &event_job))
		return STATUS_INPUT;
	sending.job = job;
	sending.event_job = (uint32_t)event_job;
	sending.ledger = dealbox_ledger_new();
	if (!sending.ledger)
		complain(NULL, "out of memory");
	else if (identity_read(call, &identity))
		status = send_all(call, &sending, &identity);
	explicit_bzero(&identity, sizeof(identity));
	dealbox_ledger_free(sending.ledger);
	return status;
}

/* ---- leave ------------------------------------------------------------------ */

static enum status leave_run(struct call *call)
{
	struct dealbox_error error = { 0 }, other = { 0 };
	struct lease_time now = { 0 };
	enum status status = STATUS_INPUT;
	struct lease lease = { 0 };
	struct pool_identity identity;
	char path[4096], nonce[LEASE_ID];
	int err;

	if (!identity_read(call, &identity) || !identity_path(call, "identity", path))
		goto out;
	if (!confirm(call->yes, "Has %s reported all that it has dealt? It leaves the event",
		     identity.name)) {
		status = STATUS_NO;
		goto out;
	}
	status = STATUS_MACHINE;
	if (!connect_event(call))
		goto out;
	/* dealboxd may have asked for something, and the server counts that */
	err = pool_read_lease(call->folder, &lease, &error);
	if (err == -EBADMSG && !pool_forget_lease(call->pool, identity.public_key, &lease, &other))
		err = 0;
	if (err) {
		status = refused(err, &error);
		goto out;
	}
	err = pool_request(call->pool, identity.token, &lease, &now, &error);
	if (err == -EPERM) {
		/* the director has removed this PC: there is nothing to ask for */
		lease_clear(&lease);
		err = 0;
	}
	lease.lost = false;
	pool_uuid(nonce);
	if (!err)
		err = lease_ask(&lease, LEASE_LEAVE, 0, NULL, 0, nonce);
	if (!err)
		err = pool_request(call->pool, identity.token, &lease, &now, &error);
	if (err) {
		status = refused(err, &error);
		goto out;
	}
	unlink(path);
	if (identity_path(call, "lease", path))
		unlink(path);
	status = STATUS_DONE;
	if (!call->json)
		say("%s has left the event", identity.name);
out:
	lease_clear(&lease);
	explicit_bzero(&identity, sizeof(identity));
	return status;
}

/* ---- status ------------------------------------------------------------- */

static void machine_json(const struct pool_machine *machine, void *context)
{
	struct json_object *object = json_line("machine");

	(void)context;
	json_add_text(object, "pc", machine->pc);
	json_add_text(object, "machine", machine->name);
	json_add_text(object, "state", machine->state);
	if (machine->pace_s)
		json_add_real(object, "pace_s", machine->pace_s);
	json_add_number(object, "silent_s", (int64_t)machine->silent_s);
	json_say(object);
}

static void pc_json(const struct pool_pc *pc, void *context)
{
	struct json_object *object = json_line("pc");

	(void)context;
	json_add_text(object, "pc", pc->name);
	json_add_text(object, "state", pc->state);
	json_add_number(object, "silent_s", (int64_t)pc->silent_s);
	json_add_number(object, "lease_left_s", (int64_t)pc->lease_s);
	json_add_number(object, "held", (int64_t)pc->held);
	json_add_number(object, "recorded", (int64_t)pc->recorded);
	json_add_number(object, "surplus", (int64_t)pc->surplus);
	json_add_text(object, "lost_by", pc->lost_by);
	json_add_bool(object, "admitted", pc->admitted);
	json_add_bool(object, "resting", pc->resting);
	json_add_text(object, "rest_by", pc->rest_by);
	json_say(object);
}

static void job_json(const struct pool_job *job, void *context)
{
	struct json_object *object = json_line("job");

	(void)context;
	json_add_number(object, "job", job->id);
	json_add_text(object, "session", job->session);
	json_add_number(object, "priority", job->priority);
	json_add_bool(object, "open", job->open);
	json_add_number(object, "boards", (int64_t)job->boards);
	json_add_number(object, "copies", (int64_t)job->copies);
	json_add_number(object, "recorded", (int64_t)job->recorded);
	json_add_number(object, "held", (int64_t)job->held);
	json_say(object);
}

static void surplus_json(const struct pool_surplus *surplus, void *context)
{
	struct json_object *object = json_line(surplus->by ? "dismissed" : "surplus");

	(void)context;
	json_add_number(object, "number", (int64_t)surplus->id);
	json_add_number(object, "job", surplus->job);
	json_add_text(object, "session", surplus->session);
	json_add_number(object, "board", surplus->board);
	json_add_number(object, "copy", surplus->copy);
	json_add_text(object, "pc", surplus->pc);
	json_add_text(object, "machine", surplus->machine);
	json_add_number(object, "insertion", (int64_t)surplus->insertion);
	if (surplus->by) {
		json_add_text(object, "dismissed_by", surplus->by);
		json_add_text(object, "dismissed_at", surplus->at);
	}
	json_say(object);
}

static void again_json(const struct pool_again *again, void *context)
{
	struct json_object *object = json_line("again");

	(void)context;
	json_add_number(object, "job", again->job);
	json_add_text(object, "session", again->session);
	json_add_number(object, "board", again->board);
	json_add_number(object, "copy", again->copy);
	json_add_text(object, "dealt_by", again->pcs);
	json_say(object);
}

static void machine_say(const struct pool_machine *machine, void *context)
{
	(void)context;
	put("machine %s of %s: %s", machine->name, machine->pc, machine->state);
	if (machine->pace_s)
		put(", %" PRIu32 " s for a board", machine->pace_s);
	if (machine->silent_s >= SILENT_S)
		put("; its PC was last heard of %" PRIu64 " min ago", machine->silent_s / 60);
	put("\n");
}

static void pc_say(const struct pool_pc *pc, void *context)
{
	(void)context;
	put("  %-20s %-4s  %" PRIu64 " recorded, %" PRIu64 " held", pc->name, pc->state,
	    pc->recorded, pc->held);
	if (pc->lost_by && strcmp(pc->state, "here"))
		put(", said by %s", pc->lost_by);
	if (pc->surplus)
		put(", %" PRIu64 " surplus", pc->surplus);
	if (!pc->admitted)
		put(", not admitted");
	if (pc->resting)
		put(", resting, said by %s", pc->rest_by);
	put("; last heard of %" PRIu64 " min ago, lease %" PRIu64 " min\n", pc->silent_s / 60,
	    (pc->lease_s + 59) / 60);
}

static void job_say(const struct pool_job *job, void *context)
{
	(void)context;
	put("job %-6" PRIu32 " %" PRIu64 " of %" PRIu64 " recorded, %" PRIu64 " held  %s%s\n",
	    job->id, job->recorded, job->boards * job->copies, job->held, job->session,
	    job->open ? "" : ", closed");
}

static void surplus_say(const struct pool_surplus *surplus, void *context)
{
	(void)context;
	if (surplus->by)
		put("out of play, said by %s at %s", surplus->by, surplus->at);
	else
		put("surplus board %" PRIu64, surplus->id);
	put(": job %" PRIu32 ", board %" PRIu32 ", copy %" PRIu32 " of %s "
	    "(machine %s, insertion %" PRIu64 ")%s\n",
	    surplus->job, surplus->board, surplus->copy, surplus->pc, surplus->machine,
	    surplus->insertion, surplus->by ? "" : ": take it out of play");
}

static void again_say(const struct pool_again *again, void *context)
{
	(void)context;
	put("job %" PRIu32 ", board %" PRIu32 ", copy %" PRIu32 " must be dealt again: "
	    "by another PC, or where it was dealt (%s), if somebody there says so\n",
	    again->job, again->board, again->copy, again->pcs);
}

static int status_print(struct call *call, struct dealbox_error *error)
{
	const struct pool_view view = { .pc = pc_say, .job = job_say, .machine = machine_say,
					.surplus = surplus_say, .again = again_say };
	struct pool_event event;
	char print[POOL_PRINT];
	int err = pool_get_event(call->pool, &event, error);

	if (err)
		return err;
	pool_print(event.check, print);
	say("%s%s: fingerprint %s, lease %" PRIu32 " min, margin %" PRIu32 " min", event.name,
	    event.rehearsal ? " (rehearsal)" : "", print, event.lease_s / 60,
	    event.margin_s / 60);
	return pool_look(call->pool, &view, error);
}

static int status_json(struct call *call, struct dealbox_error *error)
{
	const struct pool_view view = { .pc = pc_json, .job = job_json, .machine = machine_json,
					.surplus = surplus_json, .again = again_json };
	struct json_object *object;
	char print[POOL_PRINT];
	struct pool_event event;
	int err = pool_get_event(call->pool, &event, error);

	if (err)
		return err;
	pool_print(event.check, print);
	object = json_line("event");
	json_add_text(object, "event", event.name);
	json_add_text(object, "fingerprint", print);
	json_add_bool(object, "rehearsal", event.rehearsal);
	json_add_number(object, "lease_s", event.lease_s);
	json_add_number(object, "margin_s", event.margin_s);
	json_say(object);
	return pool_look(call->pool, &view, error);
}

static enum status status_run(struct call *call)
{
	struct dealbox_error error = { 0 };
	int err;

	if (!connect_event(call))
		return STATUS_MACHINE;
	err = (call->json ? status_json : status_print)(call, &error);
	return err ? refused(err, &error) : STATUS_DONE;
}

/* ---- audit ----------------------------------------------------------------- */

struct audit {
	const struct call *call;
	struct head_log log;
	uint32_t logs, wrong;
};

/* Says what was found about a log, when all of its heads were judged. */
static void log_end(struct audit *audit)
{
	const struct head_log *log = &audit->log;
	char spoken[DEALBOX_LOG_SPOKEN];
	struct json_object *object;

	if (!log->heads && !log->wrong)
		return;
	audit->logs++;
	audit->wrong += log->wrong;
	dealbox_checkpoint_spoken(&log->last, spoken);
	if (!audit->call->json) {
		say("%s: %" PRIu32 " heads, %" PRIu64 " certificates; to be read aloud: %s",
		    log->pc, log->heads, log->last.size, spoken);
		return;
	}
	object = json_line("log");
	json_add_text(object, "pc", log->pc);
	json_add_text(object, "log", log->last.origin);
	json_add_number(object, "heads", log->heads);
	json_add_number(object, "wrong", log->wrong);
	json_add_number(object, "certificates", (int64_t)log->last.size);
	json_add_text(object, "spoken", spoken);
	json_say(object);
}

static int head_audit(const struct pool_head *head, void *context)
{
	static const char *const faults[HEAD_FAULTS] = {
		[HEAD_FORM] = "it is no head of that log",
		[HEAD_KEY] = "it is not signed with the key of that log",
		[HEAD_OLDER] = "it has fewer certificates than the one before: "
			       "that PC runs, or ran, from an old copy of its disk",
		[HEAD_ANOTHER] = "it does not continue the one before: the log was rewritten, or "
				 "that PC runs, or ran, from an old copy of its disk",
	};
	struct audit *audit = context;
	enum head_fault fault;

	/* a PC that was rebuilt goes on with its log, and has another name */
	if (strcmp(audit->log.last.origin, head->origin)) {
		log_end(audit);
		audit->log = (struct head_log) { 0 };
		snprintf(audit->log.last.origin, sizeof(audit->log.last.origin), "%s",
			 head->origin);
	}
	fault = head_judge(&audit->log, head);
	/* whose log it is says who continues it */
	if (!fault || !*audit->log.pc)
		snprintf(audit->log.pc, sizeof(audit->log.pc), "%s", head->pc);
	if (fault)
		complain(NULL, "WRONG: %s, log %s, head %" PRIu32 ": %s", head->pc, head->origin,
			 audit->log.heads, faults[fault]);
	return 0;
}

static enum status audit_run(struct call *call)
{
	struct audit audit = { .call = call };
	struct dealbox_error error = { 0 };
	int err;

	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_get_heads(call->pool, head_audit, &audit, &error);
	if (err)
		return refused(err, &error);
	log_end(&audit);
	if (!audit.logs)
		complain("`dealbox event send --certificates FOLDER`",
			 "no PC has reported certificates");
	return audit.wrong ? STATUS_NO : STATUS_DONE;
}

/* ---- lost, remove ---------------------------------------------------------- */

/* word: what the PC then is */
static enum status lose_or_remove(struct call *call, const char *word, const char *question,
				  int (*act)(struct pool *, const char *, uint32_t *,
					     struct dealbox_error *))
{
	const char *name = call->args->argv[1];
	struct dealbox_error error = { 0 };
	struct json_object *object;
	uint32_t opened;
	int err;

	if (!confirm(call->yes, question, name))
		return STATUS_NO;
	if (!connect_event(call))
		return STATUS_MACHINE;
	err = act(call->pool, name, &opened, &error);
	if (err)
		return refused(err, &error);
	if (call->json) {
		object = json_line("pc");
		json_add_text(object, "pc", name);
		json_add_text(object, "state", word);
		json_add_number(object, "opened", opened);
		json_say(object);
	} else {
		say("%s is %s; %" PRIu32 " copies are open again", name, word, opened);
	}
	return STATUS_DONE;
}

static enum status lost_run(struct call *call)
{
	return lose_or_remove(call, "lost",
			      "Is %s lost? Others then deal its copies again, and a board that it "
			      "has dealt is surplus if somebody else holds or has dealt that copy",
			      pool_lose);
}

static enum status remove_run(struct call *call)
{
	return lose_or_remove(call, "removed",
			      "Is %s to be removed for good? Others deal its copies again, and it "
			      "can take part only as a new PC of another name", pool_remove);
}

/* ---- rest, resume ---------------------------------------------------------- */

static enum status rest_or_resume(struct call *call, bool rest)
{
	const char *name = call->args->argv[1];
	struct dealbox_error error = { 0 };
	int err;

	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_let_rest(call->pool, name, rest, &error);
	if (err)
		return refused(err, &error);
	if (!call->json)
		say(rest ? "%s takes no more copies, and gives back what it has not begun when it "
			   "hears of this" : "%s takes copies again", name);
	return STATUS_DONE;
}

static enum status rest_run(struct call *call)
{
	return rest_or_resume(call, true);
}

static enum status resume_run(struct call *call)
{
	return rest_or_resume(call, false);
}

/* ---- dismiss, void --------------------------------------------------------- */

static enum status dismiss_run(struct call *call)
{
	struct dealbox_error error = { 0 };
	unsigned long number;
	int err;

	if (!args_number(call->args, "surplus board", call->args->argv[1], 1, INT32_MAX, &number))
		return STATUS_INPUT;
	if (!confirm(call->yes, "Is the surplus board %lu out of play, its cards taken out",
		     number))
		return STATUS_NO;
	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_dismiss(call->pool, number, &error);
	if (err)
		return refused(err, &error);
	if (!call->json)
		say("surplus board %lu is dismissed", number);
	return STATUS_DONE;
}

static enum status void_run(struct call *call)
{
	struct dealbox_error error = { 0 };
	unsigned long board, number;
	struct json_object *object;
	struct lease_copy copy;
	char pc[POOL_NAME];
	int err;

	if (!job_read(call, 1, &copy.job) ||
	    !args_number(call->args, "board", call->args->argv[2], 1, DEALBOX_BOARD_DEALT_MAX,
			 &board) ||
	    !args_number(call->args, "copy", call->args->argv[3], 1, DEALBOX_BOARD_DEALT_MAX,
			 &number))
		return STATUS_INPUT;
	copy.board = (uint32_t)board;
	copy.copy = (uint32_t)number;
	if (!confirm(call->yes,
		     "Is copy %lu of board %lu out of play, its cards taken out? It is dealt again",
		     number, board))
		return STATUS_NO;
	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_void(call->pool, &copy, pc, &error);
	if (err)
		return refused(err, &error);
	if (call->json) {
		object = json_line("pc");
		json_add_text(object, "pc", pc);
		json_say(object);
	} else {
		say("the report of %s is void; the copy is open again", pc);
	}
	return STATUS_DONE;
}

/* ---- the command -------------------------------------------------------- */

enum {
	KEY_LEASE = OPT_LONG,
	KEY_MARGIN,
	KEY_COPIES,
	KEY_PRIORITY,
	KEY_REPLAY,
	KEY_REHEARSAL,
	KEY_CERTIFICATES,
};

static const struct action_row actions[] = {
	{ "init", 3, 3, "a name and a new file for the key", init_run },
	{ "join", 3, 3, "a name for this PC and the fingerprint of the event", join_run },
	{ "admit", 3, 3, "the name of a PC and the fingerprint of its key", admit_run },
	{ "add", 3, 1000, "a session and deal files", add_run },
	{ "give", 4, 1000, "the name of a PC, the number of a job and its deal files", give_run },
	{ "close", 2, 2, "the number of a job", close_run },
	{ "open", 2, 2, "the number of a job", open_run },
	{ "fetch", 3, 3, "the number of a job and a new deal file", fetch_run },
	{ "send", 3, 3, "the number of a job in the ledger and of its job in the event", send_run },
	{ "leave", 1, 1, "no operand", leave_run },
	{ "status", 1, 1, "no operand", status_run },
	{ "audit", 1, 1, "no operand", audit_run },
	{ "lost", 2, 2, "the name of a PC", lost_run },
	{ "remove", 2, 2, "the name of a PC", remove_run },
	{ "rest", 2, 2, "the name of a PC", rest_run },
	{ "resume", 2, 2, "the name of a PC", resume_run },
	{ "dismiss", 2, 2, "the number of a surplus board", dismiss_run },
	{ "void", 4, 4, "the numbers of a job, board and copy", void_run },
	{ 0 }
};

static enum status event_run(struct args *args)
{
	struct call call = {
		.args = args,
		.database = "",
		.folder = POOL_FOLDER,
		.ledger = LEDGER_PATH,
		.lease = LEASE_MINUTES,
		.margin = MARGIN_MINUTES,
		.copies = 1,
	};
	const struct action_row *action;
	enum status status;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) != ARGS_END) {
		switch (key) {
		case ARGS_STOP:
			return args->status;
		case 'd':
			call.database = value;
			break;
		case 'j':
			call.json = true;
			break;
		case 'y':
			call.yes = true;
			break;
		case 'f':
			call.folder = value;
			break;
		case 'l':
			call.ledger = value;
			break;
		case 'k':
			call.key_path = value;
			break;
		case KEY_CERTIFICATES:
			call.certificates = value;
			break;
		case KEY_REPLAY:
			call.replay = true;
			break;
		case KEY_REHEARSAL:
			call.rehearsal = true;
			break;
		case KEY_COPIES:
			if (!args_number(args, "--copies", value, 1, DEALBOX_BOARD_DEALT_MAX,
					 &call.copies))
				return STATUS_INPUT;
			break;
		case KEY_PRIORITY:
			if (!args_number(args, "--priority", value, 0, 1000, &call.priority))
				return STATUS_INPUT;
			break;
		case KEY_LEASE:
			if (!args_number(args, "--lease", value, 1, MINUTES_MAX, &call.lease))
				return STATUS_INPUT;
			break;
		case KEY_MARGIN:
			if (!args_number(args, "--margin", value, 0, MINUTES_MAX, &call.margin))
				return STATUS_INPUT;
			break;
		}
	}
	action = args_action(args, actions);
	status = action ? action->run(&call) : STATUS_INPUT;
	pool_close(call.pool);
	return status;
}

static const struct option_row event_options[] = {
	{ 'd', "database", "ADDRESS",
	  "the event's database (default: as libpq's environment says)" },
	{ KEY_LEASE, "lease", "MINUTES",
	  "init: how long a PC may deal on without the server (default: 60)" },
	{ KEY_MARGIN, "margin", "MINUTES",
	  "init: how long a board may take that was begun then (default: 15)" },
	{ KEY_REHEARSAL, "rehearsal", NULL,
	  "init: boards of emulated machines count: no card is dealt" },
	{ 'k', "key", "FILE", "admit, add, give: the key of the event" },
	{ KEY_COPIES, "copies", "N", "add: copies of each board (default: 1)" },
	{ KEY_PRIORITY, "priority", "N", "add: the highest is dealt first (default: 0)" },
	{ KEY_REPLAY, "replay", NULL, "add: the deals may be those of another session" },
	{ 'f', "folder", "FOLDER", "the identity of this PC (default: " POOL_FOLDER ")" },
	{ 'l', "ledger", "FILE", "send: the ledger (default: " LEDGER_PATH ")" },
	{ KEY_CERTIFICATES, "certificates", "FOLDER",
	  "send: report the head of these certificates, too" },
	OPT_YES,
	OPT_JSON,
	{ 0 }
};

const struct command cmd_event = {
	.name = "event",
	.operands = "ACTION OPERAND...",
	.summary = "Deal one event on many PCs",
	.about = "The copies of an event are in a PostgreSQL database, from which its PCs take\n"
		 "them.\n"
		 "The owner of the database:\n"
		 "init NAME KEY: begin an event in a new database, and write its key to the new\n"
		 "file KEY.\n"
		 "The director:\n"
		 "admit PC FINGERPRINT: give the event's key to a PC whose key has that\n"
		 "fingerprint.\n"
		 "add SESSION FILE...: add a job, whose set is sealed for all admitted PCs.\n"
		 "give PC JOB FILE...: give the set of a job to a PC that was admitted later.\n"
		 "close JOB: let no PC take more of a job.\n"
		 "open JOB: let them take copies again.\n"
		 "lost PC: say that this PC will not report what it holds; others deal it again.\n"
		 "remove PC: the same for good; it can take part only as a new PC.\n"
		 "rest PC: let this PC give back what it has not begun, and take no more.\n"
		 "resume PC: let it take copies again.\n"
		 "dismiss NUMBER: record that a surplus board is out of play.\n"
		 "void JOB BOARD COPY: take back a report whose board is out of play; the copy\n"
		 "is dealt again.\n"
		 "audit: check that the certificates of each PC continue what it has reported\n"
		 "before.\n"
		 "A PC:\n"
		 "join NAME FINGERPRINT: let this PC take part in the event with that\n"
		 "fingerprint.\n"
		 "fetch JOB FILE: write the set of a job to the new FILE.\n"
		 "send JOB EVENT-JOB: report what the ledger has of its JOB, which deals the job\n"
		 "EVENT-JOB of the event. It may be repeated.\n"
		 "leave: leave the event.\n"
		 "Both:\n"
		 "status: show PCs, jobs, and boards that were dealt once too often.\n"
		 "docs/event.md is the guide for organisers.",
	.options = event_options,
	.run = event_run,
};
