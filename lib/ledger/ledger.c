// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The ledger's file: opening it without ever overwriting a damaged one, its keys, and migration.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ledger-internal.h"

#define KEY_SIZE	crypto_kdf_KEYBYTES
#define READ_WAIT_MS	5000	/* to wait for a lock of another program */
#define WRITE_WAIT_MS	100
#define TAIL_RECORDS	64	/* checked whenever the ledger is opened */

/* ---- the key file -------------------------------------------------------- */

static void derive(const uint8_t key[KEY_SIZE], struct ledger_keys *keys)
{
	static const char context[crypto_kdf_CONTEXTBYTES + 1] = "dealboxL";

	crypto_kdf_derive_from_key(keys->fingerprint, sizeof(keys->fingerprint), 1, context, key);
	crypto_kdf_derive_from_key(keys->seal, sizeof(keys->seal), 2, context, key);
	crypto_kdf_derive_from_key(keys->chain, sizeof(keys->chain), 3, context, key);
	crypto_kdf_derive_from_key(keys->id, sizeof(keys->id), 4, context, key);
}

/* Reads the key; with write, keeps the file locked against another that writes. */
static int read_key(struct dealbox_ledger *l)
{
	uint8_t key[KEY_SIZE + 1];
	struct stat st;
	ssize_t size;
	int fd;

	fd = open(l->key_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ledger_fail(l, -ENOKEY, "%s: the key of the ledger cannot be read: %s",
				   l->key_path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 077)) {
		close(fd);
		return ledger_fail(l, -ENOKEY, "%s: the key of the ledger is open to others; close "
				   "it with `chmod 600`", l->key_path);
	}
	size = read(fd, key, sizeof(key));
	if (size != KEY_SIZE) {
		close(fd);
		return ledger_fail(l, -ENOKEY, "%s: not the key of a ledger: it must have %d bytes",
				   l->key_path, (int)KEY_SIZE);
	}
	derive(key, &l->keys);
	sodium_memzero(key, sizeof(key));
	if (!l->write) {
		close(fd);
		return 0;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return ledger_fail(l, -EBUSY, "%s: another program writes to this ledger: "
					      "dealboxd, or a second dealbox", l->path);
	}
	l->lock = fd;
	return 0;
}

/* Makes a new key, in a file of this name. */
static int write_key(struct dealbox_ledger *l, const char *path)
{
	uint8_t key[KEY_SIZE];
	int err = 0, fd;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	crypto_kdf_keygen(key);
	derive(key, &l->keys);
	errno = ENOSPC;		/* of what is written in part */
	if (write(fd, key, sizeof(key)) != sizeof(key) || fsync(fd))
		err = -errno;
	sodium_memzero(key, sizeof(key));
	close(fd);
	return err;
}

/* ---- opening ------------------------------------------------------------- */

static int migrate(struct dealbox_ledger *l, int version)
{
	char sql[64];
	int err = 0;

	for (; !err && version < ledger_version; version++) {
		err = ledger_run(l, "BEGIN IMMEDIATE", "beginning to write");
		if (err)
			return err;
		err = ledger_run(l, ledger_migrations[version], "bringing it up to date");
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", version + 1);
		if (!err)
			err = ledger_run(l, sql, "bringing it up to date");
		err = ledger_commit(l, err);
	}
	return err;
}

/* A user who can read one of the files can also lock it and make the writer wait. */
static int close_to_others(struct dealbox_ledger *l)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	char *file;
	size_t n;

	for (n = 0; n < sizeof(files) / sizeof(files[0]); n++) {
		if (asprintf(&file, "%s%s", l->path, files[n]) < 0)
			return ledger_fail(l, -ENOMEM, "no memory");
		/*
		 * root may do this in the service's folder: never follow a link. It fails if there
		 * is no such file, or if another user owns it, who then decides on its mode.
		 */
		fchmodat(AT_FDCWD, file, 0600, AT_SYMLINK_NOFOLLOW);
		free(file);
	}
	return 0;
}

/* Retries a lock up to a limit. Returns 0 to report it as busy. */
static int on_busy(void *context, int times)
{
	if (times >= WRITE_WAIT_MS / LEDGER_WAIT_MS)
		return 0;
	ledger_disk_wait(context, -1);
	return 1;
}

static int open_database(struct dealbox_ledger *l, const char *path, int flags)
{
	if (sqlite3_open_v2(path, &l->db, flags,
			    l->write ? ledger_disk_register(&l->disk) : NULL) != SQLITE_OK)
		return ledger_fail_sql(l, "opening it");
	/* none of our programs locks out the writer; it does not wait long for others */
	if (l->write)
		sqlite3_busy_handler(l->db, on_busy, &l->disk);
	else
		sqlite3_busy_timeout(l->db, READ_WAIT_MS);
	/* a damaged file may have a false schema: do not run code from it */
	sqlite3_db_config(l->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* nor is a WAL left by a crash checkpointed into it */
	sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return ledger_run(l, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; "
			  "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", "opening it");
}

/* The ledger is sound: closing it checkpoints the WAL. */
static void trust_database(struct dealbox_ledger *l)
{
	sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

static void close_database(struct dealbox_ledger *l)
{
	ledger_forget(l);
	sqlite3_close(l->db);
	l->db = NULL;
	ledger_disk_unregister(&l->disk);
}

/* Makes a ledger and its key under other names. */
static int make(struct dealbox_ledger *l, const char *new_path, const char *new_key)
{
	sqlite3_stmt *stmt;
	int err, fd;

	err = write_key(l, new_key);
	if (err)
		return ledger_fail(l, err, "%s: cannot be made: %s", new_key, strerror(-err));
	/* SQLite gives its files the mode of the database */
	fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return ledger_fail(l, -errno, "%s: cannot be made: %s", new_path, strerror(errno));
	close(fd);
	err = open_database(l, new_path, SQLITE_OPEN_READWRITE);
	if (l->db)
		trust_database(l);	/* closing it leaves no other files behind */
	if (!err)
		err = ledger_run(l, "PRAGMA journal_mode = WAL; PRAGMA application_id = 1145195591",
				 "making it");
	if (!err)
		err = migrate(l, 0);
	if (!err) {
		stmt = ledger_query(l, "INSERT INTO ledger (id, at, key_id) VALUES (1, ?, ?)", "ib",
				    ledger_now(), l->keys.id, sizeof(l->keys.id));
		if (!stmt || sqlite3_step(stmt) != SQLITE_DONE)
			err = ledger_fail_sql(l, "making it");
		ledger_done(l, stmt);
	}
	close_database(l);
	return err;
}

/*
 * A new ledger is made under another name and then renamed, the database first: a power cut leaves
 * nothing, or a database whose key is still named ".new".
 */
static int create(struct dealbox_ledger *l, const char *new_path, const char *new_key)
{
	int err;

	unlink(new_path);
	unlink(new_key);
	err = make(l, new_path, new_key);
	if (!err && rename(new_path, l->path))
		err = ledger_fail(l, -errno, "%s: cannot be made: %s", l->path, strerror(errno));
	if (err) {
		unlink(new_path);
		unlink(new_key);
		return err;
	}
	/* the database is there: its key must not be lost, settle() renames it the next time */
	if (rename(new_key, l->key_path))
		return ledger_fail(l, -errno, "%s: %s", new_key, strerror(errno));
	return ledger_sync_folder(l, l->path);
}

static int settle(struct dealbox_ledger *l, unsigned int flags, const char *wal,
		  const char *new_path, const char *new_key)
{
	bool database = !access(l->path, F_OK), key = !access(l->key_path, F_OK);

	if (database && key)
		return 0;
	/* creation was interrupted between the two renames */
	if (database && l->write && !access(new_key, F_OK) && rename(new_key, l->key_path))
		return ledger_fail(l, -errno, "%s: %s", new_key, strerror(errno));
	if (database)
		return 0;
	if (key)
		return ledger_fail(l, -EUCLEAN, "%s: the ledger is gone, but its key is there. Put "
				   "a backup in its place; to begin anew, move %s away", l->path,
				   l->key_path);
	if (!(flags & DEALBOX_LEDGER_CREATE))
		return ledger_fail(l, -ENOENT, "%s: there is no ledger", l->path);
	if (!access(l->heads_path, F_OK))
		return ledger_fail(l, -EUCLEAN, "%s: the ledger and its key are gone, but %s is "
						"there. Put backups in their place; to begin anew, "
						"move that away, too", l->path,
				   l->heads_path);
	/* SQLite would put its pages into the new ledger */
	if (!access(wal, F_OK))
		return ledger_fail(l, -EUCLEAN, "%s: the ledger and its key are gone, but %s is "
						"there, with its last records. Put backups in "
						"their place; to begin anew, move that away, too",
				   l->path, wal);
	return create(l, new_path, new_key);
}

static int settle_files(struct dealbox_ledger *l, unsigned int flags)
{
	char *wal = NULL, *new_path = NULL, *new_key = NULL;
	int err;

	if (asprintf(&wal, "%s-wal", l->path) < 0 || asprintf(&new_path, "%s.new", l->path) < 0 ||
	    asprintf(&new_key, "%s.new", l->key_path) < 0)
		err = ledger_fail(l, -ENOMEM, "no memory");
	else
		err = settle(l, flags, wal, new_path, new_key);
	free(wal);
	free(new_path);
	free(new_key);
	return err;
}

static int check_identity(struct dealbox_ledger *l)
{
	int64_t application, version;
	sqlite3_stmt *stmt;
	int err, rc;

	err = ledger_number(l, &application, "PRAGMA application_id", "");
	if (err)
		return err;
	if (application != LEDGER_APPLICATION)
		return ledger_fail(l, -EUCLEAN, "%s: not a ledger, or its first page is damaged; "
				   "nothing was written to it", l->path);
	err = ledger_number(l, &version, "PRAGMA user_version", "");
	if (err)
		return err;
	if (version > ledger_version)
		return ledger_fail(l, -EPROTONOSUPPORT, "%s: written by a newer dealbox (version "
				   "%lld of the ledger, this program knows %d); install that one",
				   l->path, (long long)version, ledger_version);
	if (version < ledger_version && !l->write)
		return ledger_fail(l, -EROFS, "%s: written by an older dealbox; dealboxd brings it "
					      "up to date when it starts", l->path);
	stmt = ledger_query(l, "SELECT key_id FROM ledger WHERE id = 1", "");
	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		err = rc == SQLITE_DONE ?
		      ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged: it does not say which "
				  "key is its own", l->path) : ledger_fail_sql(l, "opening it");
	else if (sqlite3_column_bytes(stmt, 0) != sizeof(l->keys.id) ||
		 memcmp(sqlite3_column_blob(stmt, 0), l->keys.id, sizeof(l->keys.id)))
		err = ledger_fail(l, -EKEYREJECTED, "%s: the key of another ledger; put the right "
						    "one there", l->key_path);
	ledger_done(l, stmt);
	return err;
}

static void first_damage(const char *sentence, void *context)
{
	char *first = context;

	if (!*first)
		snprintf(first, 256, "%s", sentence);
}

/* Readers check the last records, where a crash would show. */
static int check_tail(struct dealbox_ledger *l)
{
	struct dealbox_ledger_head from;
	char first[256] = "";
	int err = ledger_find_head(l, &from, LEDGER_LAST, TAIL_RECORDS);

	if (err && err != -ENOENT)
		return err;
	err = ledger_walk(l, &from, NULL, first_damage, first, NULL);
	return err == -EUCLEAN ? ledger_fail_damaged(l, first) : err;
}

/*
 * The writer checks everything: otherwise damage in an old page would be found when it is too late
 * for a backup from that time.
 */
static int check_whole(struct dealbox_ledger *l)
{
	char first[256] = "";
	int err = ledger_verify(l, NULL, first_damage, first, NULL);

	return err == -EUCLEAN ? ledger_fail_damaged(l, first) : err;
}

static int bring_up_to_date(struct dealbox_ledger *l)
{
	int64_t version;
	int err = ledger_number(l, &version, "PRAGMA user_version", "");

	return err ? err : migrate(l, version);
}

struct dealbox_ledger *dealbox_ledger_new(void)
{
	struct dealbox_ledger *l;

	if (sodium_init() < 0)
		return NULL;
	/* contains keys: neither swapped nor in a core dump */
	l = sodium_malloc(sizeof(*l));
	if (l) {
		memset(l, 0, sizeof(*l));
		l->lock = l->heads = -1;
		l->user = DEALBOX_UID_NONE;
	}
	return l;
}

void dealbox_ledger_wait(struct dealbox_ledger *l, void (*wait)(int fd, void *context),
			 void *context)
{
	l->disk.wait = wait;
	l->disk.context = context;
}

void dealbox_ledger_user(struct dealbox_ledger *l, uint32_t uid)
{
	l->user = uid;
}

void dealbox_ledger_free(struct dealbox_ledger *l)
{
	if (!l)
		return;
	close_database(l);
	if (l->lock >= 0)
		close(l->lock);
	if (l->heads >= 0)
		close(l->heads);
	free(l->path);
	free(l->key_path);
	free(l->heads_path);
	sodium_free(l);
}

#define FLAGS_TO_WRITE	(DEALBOX_LEDGER_CREATE | DEALBOX_LEDGER_RESTORED)
#define FLAGS		(DEALBOX_LEDGER_WRITE | FLAGS_TO_WRITE)

int dealbox_ledger_open(struct dealbox_ledger *l, const char *path, unsigned int flags)
{
	int err;

	if (l->path)
		return ledger_fail(l, -EALREADY, "%s: is open", l->path);
	if (flags & ~FLAGS || (flags & FLAGS_TO_WRITE && !(flags & DEALBOX_LEDGER_WRITE)))
		return ledger_fail(l, -EINVAL, "%s: cannot be opened with the flags %#x", path,
				   flags);
	l->write = flags & DEALBOX_LEDGER_WRITE;
	l->path = strdup(path);
	if (!l->path || asprintf(&l->key_path, "%s.key", path) < 0 ||
	    asprintf(&l->heads_path, "%s.heads", path) < 0) {
		free(l->path);
		free(l->key_path);
		l->path = l->key_path = NULL;
		return ledger_fail(l, -ENOMEM, "no memory");
	}
	err = settle_files(l, flags);
	if (!err)
		err = read_key(l);
	if (!err && l->write)
		err = close_to_others(l);
	if (!err)
		err = open_database(l, path, l->write ? SQLITE_OPEN_READWRITE :
				    SQLITE_OPEN_READONLY);
	if (!err)
		err = check_identity(l);
	if (!err)
		err = l->write ? check_whole(l) : check_tail(l);
	if (!err && l->write && !(flags & DEALBOX_LEDGER_RESTORED))
		err = ledger_heads_check(l);
	/* not before it is known to be ours, and sound */
	if (!err && l->write)
		err = bring_up_to_date(l);
	/* a restored backup is not in this mode */
	if (!err && l->write)
		err = ledger_run(l, "PRAGMA journal_mode = WAL", "opening it");
	if (!err)
		trust_database(l);
	/* once accepted, a restored ledger defines the state */
	if (!err && l->write && !(flags & DEALBOX_LEDGER_RESTORED))
		err = ledger_heads_open(l);
	return err;
}

const struct dealbox_error *dealbox_ledger_error(const struct dealbox_ledger *l)
{
	return &l->error;
}
