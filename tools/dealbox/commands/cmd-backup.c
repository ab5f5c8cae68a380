// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox backup, dealbox restore: move the service's records to another PC. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dealbox/ledger.h>

#include "service/restore.h"
#include "ui/sealed.h"

uint32_t user_logged_in(void)
{
	uint32_t uid = UINT32_MAX;
	FILE *file = fopen("/proc/self/loginuid", "re");

	if (file && fscanf(file, "%u", &uid) != 1)
		uid = UINT32_MAX;
	if (file)
		fclose(file);
	/* nobody has logged in: a service, or a container */
	return uid == UINT32_MAX ? getuid() : uid;
}

void restored_say(unsigned int boards)
{
	say("the ledger is in use again; deals after its last record are unknown");
	if (boards)
		say("%u boards of open jobs are in doubt: check which of them have been dealt,\n"
		    "`dealbox skip` those, and continue the jobs with `dealbox resume`", boards);
}

/* ---- backup ---------------------------------------------------------------- */

enum { KEY_FOR = OPT_LONG };

/* The key of the ledger, sealed: it opens every deal. */
static bool key_seal(const char *ledger, const char *to, const char *for_path)
{
	struct dealbox_seal_secret secret = { 0 };
	struct dealbox_random *random = NULL;
	uint8_t public_key[DEALBOX_SEAL_KEY];
	struct blob key = { 0 };
	struct dealbox_error error;
	char *passphrase = NULL, from[4096];
	void *sealed = NULL;
	size_t size = 0;
	bool good;

	snprintf(from, sizeof(from), "%s.key", ledger);
	good = file_read_secret(from, &key);
	if (good && for_path) {
		good = public_key_read(for_path, public_key);
		secret.key = public_key;
	} else if (good) {
		passphrase = passphrase_ask(true);
		secret.passphrase = passphrase;
		good = passphrase;
	}
	if (good)
		random = random_start();
	good = good && random;
	if (good && dealbox_seal(key.data, key.size, "ledger.key", &secret, random, &sealed, &size,
				 &error)) {
		fault_say(to, &error);
		good = false;
	}
	good = good && file_write(to, sealed, size, FILE_SECRET, false);
	dealbox_random_free(random);
	passphrase_free(passphrase);
	blob_wipe(&key);
	free(sealed);
	return good;
}

static enum status backup_run(struct args *args)
{
	const char *value, *path = LEDGER_PATH, *for_path = NULL, *folder;
	char ledger_to[4096], key_to[4096];
	struct dealbox_ledger *ledger;
	int key;
	bool good;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'l')
			path = value;
		else
			for_path = value;
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc != 1)
		return args_wrong(args, "it needs the name of a new folder");
	folder = args->argv[0];
	snprintf(ledger_to, sizeof(ledger_to), "%s/" BACKUP_LEDGER, folder);
	snprintf(key_to, sizeof(key_to), "%s/" BACKUP_KEY, folder);
	ledger = dealbox_ledger_new();
	good = ledger && !dealbox_ledger_open(ledger, path, 0);
	if (!good) {
		complain("nothing was written; root may read the ledger, "
			 "--ledger names another one",
			 "%s", ledger ? dealbox_ledger_error(ledger)->what : "no memory");
	} else if (mkdir(folder, 0700)) {
		complain("give the name of a new folder", "%s: %s", folder, strerror(errno));
		good = false;
	} else {
		good = !dealbox_ledger_backup(ledger, ledger_to);
		if (!good)
			complain("nothing was written", "%s", dealbox_ledger_error(ledger)->what);
		good = good && key_seal(path, key_to, for_path);
		if (!good) {
			unlink(ledger_to);
			unlink(key_to);
			rmdir(folder);
		}
	}
	dealbox_ledger_free(ledger);
	if (good)
		say("%s has the ledger with its jobs, and its sealed key; `dealbox restore` "
		    "installs it elsewhere",
		    folder);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static const struct option_row backup_options[] = {
	{ 'l', "ledger", "FILE", "the ledger (default: " LEDGER_PATH ")" },
	{ KEY_FOR, "for", "FILE.pub", "seal for that director's key "
				      "(default: ask for a passphrase)" },
	{ 0 }
};

const struct command cmd_backup = {
	.name = "backup",
	.operands = "FOLDER",
	.summary = "Back up the ledger and its key, for another PC",
	.about = "Creates the folder, with a verified copy of the ledger (including open jobs\n"
		 "and accepted machines), and of its key, sealed for a director's key or with a\n"
		 "passphrase. The service may be running.",
	.options = backup_options,
	.run = backup_run,
};

/* ---- restore --------------------------------------------------------------- */

/* The files of a ledger, and what they are called until they are whole. */
struct place {
	char ledger[4096], key[4096], heads[4096], wal[4096];
	char new_ledger[4096], new_key[4096], folder[4096];
};

static bool place_make(struct place *place, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(place->ledger, sizeof(place->ledger), "%s", path);
	snprintf(place->key, sizeof(place->key), "%s.key", path);
	snprintf(place->heads, sizeof(place->heads), "%s.heads", path);
	snprintf(place->wal, sizeof(place->wal), "%s-wal", path);
	snprintf(place->new_ledger, sizeof(place->new_ledger), "%s.new", path);
	snprintf(place->new_key, sizeof(place->new_key), "%s.key.new", path);
	snprintf(place->folder, sizeof(place->folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	if (!file_exists(place->ledger) && !file_exists(place->key) && !file_exists(place->heads) &&
	    !file_exists(place->wal))
		return true;
	complain("stop the service, and move ledger, ledger-wal, ledger.key and ledger.heads away "
		 "if they are not needed",
		 "%s: a ledger exists already, or a part of one", path);
	return false;
}

/* Whose the folder is, as the service wants it. */
static bool hand_over(const struct place *place, const char *path)
{
	struct stat folder;

	/* the folder is the service's: what lies there now may be a link */
	return geteuid() ||
	       (!stat(place->folder, &folder) && !lchown(path, folder.st_uid, folder.st_gid));
}

static bool file_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	static char buffer[1 << 16];
	ssize_t size = -1;

	if (in >= 0)
		out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	while (out >= 0 && (size = read(in, buffer, sizeof(buffer))) > 0) {
		if (write(out, buffer, (size_t)size) == size)
			continue;
		size = -1;
		break;
	}
	if (out >= 0 && !size && fsync(out))
		size = -1;
	if (size)
		complain("nothing was restored", "%s: %s", in < 0 ? from : to, strerror(errno));
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return !size;
}

/* Opens it as the service would, and lets it go on. */
static bool take_up(const char *path)
{
	struct dealbox_ledger *ledger = dealbox_ledger_new();
	unsigned int boards;
	bool good = ledger &&
		    !dealbox_ledger_open(ledger, path,
					 DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_RESTORED) &&
		    !dealbox_ledger_accept_restore(ledger, user_logged_in(), &boards);

	if (!good)
		complain("nothing was restored", "%s",
			 ledger ? dealbox_ledger_error(ledger)->what : "no memory");
	dealbox_ledger_free(ledger);
	if (good)
		restored_say(boards);
	return good;
}

static bool restore(const char *folder, const char *path)
{
	char from[4096], key_from[4096], name[DEALBOX_SEAL_NAME], side[4096];
	static const char *const sides[] = { "", ".key", ".heads", "-wal", "-shm", ".new",
					     ".key.new" };
	struct place place = { 0 };
	struct blob key = { 0 };
	bool good;
	size_t n;

	snprintf(from, sizeof(from), "%s/" BACKUP_LEDGER, folder);
	snprintf(key_from, sizeof(key_from), "%s/" BACKUP_KEY, folder);
	if (!place_make(&place, path))
		return false;
	good = sealed_open(key_from, &key, name) && file_copy(from, place.new_ledger) &&
	       file_write(place.new_key, key.data, key.size, FILE_SECRET, false);
	blob_wipe(&key);
	if (good && (!hand_over(&place, place.new_ledger) || !hand_over(&place, place.new_key) ||
		     rename(place.new_ledger, place.ledger) || rename(place.new_key, place.key))) {
		complain("nothing was restored", "%s: %s", path, strerror(errno));
		good = false;
	}
	good = good && take_up(path);
	for (n = 0; !good && n < sizeof(sides) / sizeof(sides[0]); n++) {
		snprintf(side, sizeof(side), "%s%s", path, sides[n]);
		unlink(side);
	}
	return good;
}

static enum status restore_run(struct args *args)
{
	const char *value, *path = LEDGER_PATH;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'l')
			path = value;
		else
			sealed_use_key(value);
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc != 1)
		return args_wrong(args, "it needs the folder that `dealbox backup` made");
	return restore(args->argv[0], path) ? STATUS_DONE : STATUS_INPUT;
}

static const struct option_row restore_options[] = {
	OPT_KEY,
	{ 'l', "ledger", "FILE", "the ledger (default: " LEDGER_PATH ")" },
	{ 0 }
};

const struct command cmd_restore = {
	.name = "restore",
	.operands = "FOLDER",
	.summary = "Restore a backup from another PC",
	.about = "Installs the ledger and the key of a backup where there is none. The service\n"
		 "must not be running. Deals after the backup are unknown: open jobs are paused,\n"
		 "their boards are in doubt, and each machine asks whether its board is empty.\n"
		 "The ledger records who did it.",
	.options = restore_options,
	.run = restore_run,
};
