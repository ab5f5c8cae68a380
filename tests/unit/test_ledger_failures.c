// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The ledger when anything below it fails: memory, a file, SQLite. Each failure is told, by the
 * right error and a sentence; nothing half-written stays; and once it is over, the same ledger goes
 * on.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "insertion.h"
#include "ledger/ledger-internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WRITE	DEALBOX_LEDGER_WRITE
#define CREATE	(DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE)
#define FOR_RESTORE (DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_RESTORED)

/* ---- the call that fails ------------------------------------------------- */

static struct {
	const char *call;	/* NULL: none */
	unsigned int left;	/* so many calls, of which the last one fails */
	int with;		/* an errno (0: it does not set it), or a code of SQLite's */
	int sqlite;		/* what it says of its last call */
	uint32_t owner;		/* of the file of heads, as fstat() tells it; 0: the true one */
} failing;

static void fail_at(const char *call, unsigned int n, int with)
{
	failing.call = call;
	failing.left = n;
	failing.with = with;
}

/* Returns true if it has failed. */
static bool has_failed(void)
{
	bool failed = !failing.call;

	failing.call = NULL;
	failing.sqlite = 0;
	return failed;
}

static bool fails(const char *call)
{
	if (!strncmp(call, "sqlite", 6))
		failing.sqlite = 0;
	if (!failing.call || strcmp(call, failing.call) || --failing.left)
		return false;
	failing.call = NULL;
	if (!strncmp(call, "sqlite", 6))
		failing.sqlite = failing.with;
	else if (failing.with)
		errno = failing.with;
	return true;
}

#define WRAP(type, name, failed, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return fails(#name) ? (failed) : __real_##name arguments; \
	}
#define WRAP_SQLITE(name, parameters, arguments) \
	WRAP(int, name, failing.with, parameters, arguments)

WRAP(void *, malloc, NULL, (size_t size), (size))
WRAP(void *, calloc, NULL, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, NULL, (void *old, size_t size), (old, size))
WRAP(char *, strdup, NULL, (const char *text), (text))
WRAP(void *, sodium_malloc, NULL, (size_t size), (size))
WRAP(int, sodium_init, -1, (void), ())
WRAP(ssize_t, read, -1, (int fd, void *data, size_t size), (fd, data, size))
WRAP(ssize_t, pread64, -1, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
WRAP(int, fsync, -1, (int fd), (fd))
WRAP(int, flock, -1, (int fd, int operation), (fd, operation))
WRAP(int, fchown, -1, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP(int, stat64, -1, (const char *path, struct stat *st), (path, st))
WRAP(int, rename, -1, (const char *from, const char *to), (from, to))
WRAP(int, renameat2, -1,
     (int folder, const char *from, int other, const char *to, unsigned int flags),
     (folder, from, other, to, flags))
WRAP(int, link, -1, (const char *from, const char *to), (from, to))
WRAP_SQLITE(sqlite3_step, (sqlite3_stmt *stmt), (stmt))
WRAP_SQLITE(sqlite3_bind_text,
	    (sqlite3_stmt * stmt, int n, const char *text, int size, void (*end)(void *)),
	    (stmt, n, text, size, end))
WRAP_SQLITE(sqlite3_bind_blob64,
	    (sqlite3_stmt *stmt, int n, const void *data, sqlite3_uint64 size, void (*end)(void *)),
	    (stmt, n, data, size, end))
WRAP_SQLITE(sqlite3_backup_step, (sqlite3_backup *backup, int pages), (backup, pages))
WRAP(sqlite3_backup *, sqlite3_backup_init, NULL,
     (sqlite3 *to, const char *to_name, sqlite3 *from, const char *from_name),
     (to, to_name, from, from_name))
WRAP(const unsigned char *, sqlite3_column_text, NULL, (sqlite3_stmt *stmt, int n), (stmt, n))

static size_t wiped;

void __real_sodium_memzero(void *data, size_t size);
void __wrap_sodium_memzero(void *data, size_t size);
void __wrap_sodium_memzero(void *data, size_t size)
{
	wiped += size;
	__real_sodium_memzero(data, size);
}

static uint8_t made_key[crypto_kdf_KEYBYTES];

void __real_crypto_kdf_keygen(uint8_t *key);
void __wrap_crypto_kdf_keygen(uint8_t *key);
void __wrap_crypto_kdf_keygen(uint8_t *key)
{
	__real_crypto_kdf_keygen(key);
	memcpy(made_key, key, sizeof(made_key));
}

static int busy_ms;

int __real_sqlite3_busy_timeout(sqlite3 *file, int ms);
int __wrap_sqlite3_busy_timeout(sqlite3 *file, int ms);
int __wrap_sqlite3_busy_timeout(sqlite3 *file, int ms)
{
	busy_ms = ms;
	return __real_sqlite3_busy_timeout(file, ms);
}

static unsigned int sleeps;

int __real_sqlite3_sleep(int ms);
int __wrap_sqlite3_sleep(int ms);
int __wrap_sqlite3_sleep(int ms)
{
	sleeps++;
	return __real_sqlite3_sleep(ms);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, unsigned int) : 0;
	va_end(ap);
	return fails("open64") ? -1 : __real_open64(path, flags, mode);
}

int __wrap_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list ap;
	int size;

	if (fails("asprintf"))
		return -1;
	va_start(ap, format);
	size = vasprintf(out, format, ap);
	va_end(ap);
	return size;
}

int __real_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st)
{
	int result = fails("fstat64") ? -1 : __real_fstat64(fd, st);

	if (!result && failing.owner)
		st->st_uid += failing.owner;
	return result;
}

/* A disk that becomes full takes a part of what is written. */
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	return __real_write(fd, data, fails("write") ? size / 2 : size);
}

int __real_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int size, unsigned int flags,
			      sqlite3_stmt **stmt, const char **tail);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int size, unsigned int flags,
			      sqlite3_stmt **stmt, const char **tail);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int size, unsigned int flags,
			      sqlite3_stmt **stmt, const char **tail)
{
	if (!fails("sqlite3_prepare_v3"))
		return __real_sqlite3_prepare_v3(db, sql, size, flags, stmt, tail);
	*stmt = NULL;
	return failing.with;
}

/* The end of a query's transaction is not judged. */
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*each)(void *, int, char **, char **),
			void *context, char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*each)(void *, int, char **, char **),
			void *context, char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*each)(void *, int, char **, char **),
			void *context, char **error)
{
	if (strcmp(sql, "ROLLBACK") && fails("sqlite3_exec"))
		return failing.with;
	return __real_sqlite3_exec(db, sql, each, context, error);
}

/* Close nothing twice: the memory may be another's. */
static const sqlite3 *last_closed;

int __real_sqlite3_close(sqlite3 *file);
int __wrap_sqlite3_close(sqlite3 *file);
int __wrap_sqlite3_close(sqlite3 *file)
{
	if (file && file == last_closed)
		fail_msg("closed twice");
	last_closed = file;
	return __real_sqlite3_close(file);
}

/* As when there is no memory: not even an object that could be asked for the error. */
int __real_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
	last_closed = NULL;
	if (!fails("sqlite3_open_v2"))
		return __real_sqlite3_open_v2(path, db, flags, vfs);
	*db = NULL;
	return failing.with;
}

/* The end of a copy says what its last step said. */
int __real_sqlite3_backup_finish(sqlite3_backup *backup);
int __wrap_sqlite3_backup_finish(sqlite3_backup *backup);
int __wrap_sqlite3_backup_finish(sqlite3_backup *backup)
{
	int code = failing.sqlite, real = __real_sqlite3_backup_finish(backup);

	return code ? code : real;
}

int __real_sqlite3_errcode(sqlite3 *db);
int __wrap_sqlite3_errcode(sqlite3 *db);
int __wrap_sqlite3_errcode(sqlite3 *db)
{
	return failing.sqlite ? failing.sqlite : __real_sqlite3_errcode(db);
}

const char *__real_sqlite3_errmsg(sqlite3 *db);
const char *__wrap_sqlite3_errmsg(sqlite3 *db);
const char *__wrap_sqlite3_errmsg(sqlite3 *db)
{
	return failing.sqlite ? sqlite3_errstr(failing.sqlite) : __real_sqlite3_errmsg(db);
}

/* ---- a ledger in a folder of its own ------------------------------------- */

static char folder[40], db[64], key[64], heads[64], other[64];

static const char *const names[] = { "", ".key", ".heads", "-wal", "-shm", ".new", ".key.new",
	".heads.new", ".new-wal", ".new-shm" };

static bool there(const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "%s%s", db, name);
	return !access(path, F_OK);
}

static void clear(void)
{
	char path[80];
	size_t n;

	for (n = 0; n < COUNT(names); n++) {
		snprintf(path, sizeof(path), "%s%s", db, names[n]);
		unlink(path);
	}
	unlink(other);
}

static int folder_make(void **state)
{
	(void)state;
	memset(&failing, 0, sizeof(failing));
	strcpy(folder,
	       access("/dev/shm", W_OK) ? "/tmp/dealbox-XXXXXX" : "/dev/shm/dealbox-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(db, sizeof(db), "%s/ledger", folder);
	snprintf(key, sizeof(key), "%s/ledger.key", folder);
	snprintf(heads, sizeof(heads), "%s/ledger.heads", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int folder_remove(void **state)
{
	(void)state;
	has_failed();
	clear();
	return rmdir(folder);
}

static struct dealbox_ledger *open_ledger(unsigned int flags)
{
	struct dealbox_ledger *l = dealbox_ledger_new();
	int err = dealbox_ledger_open(l, db, flags);

	if (err)
		fail_msg("%d: %s", err, dealbox_ledger_error(l)->what);
	return l;
}

static int try_open(unsigned int flags, char *error)
{
	struct dealbox_ledger *l = dealbox_ledger_new();
	int err = dealbox_ledger_open(l, db, flags);

	snprintf(error, 512, "%s", dealbox_ledger_error(l)->what);
	dealbox_ledger_free(l);
	return err;
}

static void must_be_sound(struct dealbox_ledger *l)
{
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
}

/* Each board of each set is another deal. */
static void make_boards(struct dealbox_ledger_board *boards, unsigned int count, unsigned int set)
{
	unsigned int n, k;

	memset(boards, 0, count * sizeof(*boards));
	for (n = 0; n < count; n++) {
		boards[n].number = n + 1;
		for (k = 0; k < DEALBOX_CARDS; k++)
			boards[n].deal.hand[(k + (((set * 8 + n) >> k % 16) & 1)) % 4] |= 1ULL << k;
	}
}

static const struct dealbox_event *make_trace(void)
{
	static struct dealbox_event events[2];

	events[0].type = events[1].type = DEALBOX_EV_CARD_LANDED;
	events[1].card = 1;
	return events;
}

/* ---- what one asks of it ------------------------------------------------- */

/* The same world for every call, and numbers that are new each time. */
static struct {
	unsigned int set, copy, number;
	uint64_t first, job, insertion;
	uint64_t limited;	/* a job with a limit of copies .. */
	int copies;		/* .. and this many */
	uint64_t ended;		/* an insertion that has a trace, or that a call was made for */
	uint64_t attested;	/* one with an attestation, of an emulator */
} world;

static int call_add_set(struct dealbox_ledger *l)
{
	struct dealbox_ledger_board boards[2];
	uint64_t set;

	make_boards(boards, 2, ++world.set);
	return dealbox_ledger_add_set(l, "monday", boards, 2, &set, NULL);
}

static int call_add_set_again(struct dealbox_ledger *l)
{
	struct dealbox_ledger_board boards[2];
	uint64_t set = 0;
	int err;

	make_boards(boards, 2, 0);
	err = dealbox_ledger_add_set(l, "monday", boards, 2, &set, NULL);
	if (!err)
		assert_int_equal(set, world.first);
	return err;
}

static int add_job(struct dealbox_ledger *l, unsigned int options)
{
	static const unsigned int numbers[] = { 1, 2 };
	static const char *const machines[] = { "SN1", NULL };
	uint64_t job;

	return dealbox_ledger_add_job(l, &(struct dealbox_ledger_new_job){
		.set = options & DEALBOX_JOB_CAPTURE ? 0 : world.first, .boards = numbers,
		.count = 2,
		.copies = 2, .options = options, .machines = machines }, &job, NULL);
}

static int call_add_job(struct dealbox_ledger *l)
{
	return add_job(l, 0);
}

static int call_add_replay(struct dealbox_ledger *l)
{
	return add_job(l, DEALBOX_JOB_REPLAY);
}

static int call_add_capture(struct dealbox_ledger *l)
{
	return add_job(l, DEALBOX_JOB_CAPTURE);
}

static int each_set(uint64_t set, void *context)
{
	(void)context;
	assert_int_equal(set, world.first);
	return 0;
}

static int call_find_sets(struct dealbox_ledger *l)
{
	struct dealbox_ledger_board boards[2];

	make_boards(boards, 2, 0);
	return dealbox_ledger_find_sets(l, boards, 2, each_set, NULL);
}

static int call_find_repeat(struct dealbox_ledger *l)
{
	struct dealbox_ledger_board board;

	make_boards(&board, 1, 0);
	return dealbox_ledger_find_repeat(l, "monday", &board.deal, NULL);
}

static int call_get_deal(struct dealbox_ledger *l)
{
	struct dealbox_deal deal;

	return dealbox_ledger_get_deal(l, world.first, 2, &deal);
}

static int each_job(const struct dealbox_ledger_job *job, void *context)
{
	(void)job;
	(void)context;
	return 0;
}

static int call_jobs(struct dealbox_ledger *l)
{
	return dealbox_ledger_jobs(l, 0, each_job, NULL);
}

static int call_one_job(struct dealbox_ledger *l)
{
	return dealbox_ledger_jobs(l, world.job, each_job, NULL);
}

static int each_of_sets(const struct dealbox_ledger_set *set, void *context)
{
	(void)set;
	(void)context;
	return 0;
}

static int call_sets(struct dealbox_ledger *l)
{
	return dealbox_ledger_sets(l, 0, each_of_sets, NULL);
}

static int call_one_set(struct dealbox_ledger *l)
{
	return dealbox_ledger_sets(l, 1, each_of_sets, NULL);
}

static int call_secret(struct dealbox_ledger *l)
{
	uint64_t keeper;
	int secret = dealbox_ledger_secret(l, world.first, &keeper);

	return secret < 0 ? secret : 0;
}

static int call_add_copies(struct dealbox_ledger *l)
{
	return dealbox_ledger_add_act(l, &(struct dealbox_ledger_act){ .act = DEALBOX_ACT_COPIES,
				      .job = world.limited, .value = ++world.copies });
}

static int call_played(struct dealbox_ledger *l)
{
	return dealbox_ledger_add_act(l, &(struct dealbox_ledger_act){ .act = DEALBOX_ACT_PLAYED,
				      .value = (int64_t)world.first });
}

static int each_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	(void)copy;
	(void)context;
	return 0;
}

static int call_copies(struct dealbox_ledger *l)
{
	return dealbox_ledger_copies(l, world.job, each_copy, NULL);
}

static int each_board(unsigned int board, void *context)
{
	(void)board;
	(void)context;
	return 0;
}

static int call_boards(struct dealbox_ledger *l)
{
	return dealbox_ledger_boards(l, world.job, each_board, NULL);
}

static int each_machine(const char *machine, void *context)
{
	(void)context;
	assert_string_equal(machine, "SN1");
	return 0;
}

static int call_machines(struct dealbox_ledger *l)
{
	return dealbox_ledger_machines(l, world.job, each_machine, NULL);
}

static int call_begin(struct dealbox_ledger *l)
{
	uint64_t insertion;

	world.copy++;
	return begin_insertion(l, world.job, 1, world.copy, "SN1", ++world.number, 1,
				    &insertion);
}

/* Makes what the next call_end() ends. */
static void begin_one(struct dealbox_ledger *l)
{
	if (world.insertion != world.ended)
		return;
	world.copy++;
	assert_int_equal(begin_insertion(l, world.job, 1, world.copy, "SN1", ++world.number, 1,
					      &world.insertion), 0);
}

static int call_end(struct dealbox_ledger *l)
{
	int err =
		end_insertion(l, world.insertion, DEALBOX_LEDGER_EXACT, 0, 0, make_trace(), 2);

	if (!err)
		world.ended = world.insertion;
	return err;
}

static const struct dealbox_ledger_attestation signed_word = {
	.public_key = { 1 }, .nonce = { 2 }
};

/* The next call has another insertion. */
static int call_add_attestation(struct dealbox_ledger *l)
{
	int err = dealbox_ledger_add_attestation(l, world.insertion, &signed_word);

	if (!err)
		world.ended = world.insertion;
	return err;
}

static int call_add_emulation(struct dealbox_ledger *l)
{
	int err = dealbox_ledger_add_emulation(l, world.insertion);

	if (!err)
		world.ended = world.insertion;
	return err;
}

static int call_get_attestation(struct dealbox_ledger *l)
{
	struct dealbox_ledger_attestation found;
	int err = dealbox_ledger_get_attestation(l, world.attested, &found);

	if (!err)
		assert_memory_equal(&found, &signed_word, sizeof(found));
	return err;
}

/* There is none of the insertion that is open. */
static int call_find_attestation(struct dealbox_ledger *l)
{
	struct dealbox_ledger_attestation attestation;
	int err = dealbox_ledger_get_attestation(l, world.insertion, &attestation);

	return err == -ENOENT ? 0 : err;
}

static int call_emulated(struct dealbox_ledger *l)
{
	int err = dealbox_ledger_emulated(l, world.attested);

	return err == 1 ? 0 : err;
}

static int each_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	(void)insertion;
	(void)context;
	return 0;
}

static int call_insertions(struct dealbox_ledger *l)
{
	return dealbox_ledger_insertions(l, 0, false, each_insertion, NULL);
}

static int call_last(struct dealbox_ledger *l)
{
	struct dealbox_ledger_insertion last;

	return dealbox_ledger_last(l, "SN1", &last);
}

static int call_counts(struct dealbox_ledger *l)
{
	const struct dealbox_ledger_insertion ended = {
		.id = world.ended, .job = world.job, .board = 1, .copy = 1
	};
	int err = dealbox_ledger_counts(l, &ended);

	return err == 1 ? 0 : err;
}

static int call_get_trace(struct dealbox_ledger *l)
{
	struct dealbox_event *events;
	size_t count;
	int err = dealbox_ledger_get_trace(l, world.ended, &events, &count);

	assert_int_equal(count, err ? 0 : 2);
	assert_true(!err == !!events);
	free(events);
	return err;
}

static int call_add_act(struct dealbox_ledger *l)
{
	return dealbox_ledger_add_act(l, &(struct dealbox_ledger_act){ .act = DEALBOX_ACT_SKIP,
				      .job = world.job, .board = 2, .copy = 1 });
}

static int call_knows(struct dealbox_ledger *l)
{
	int err = dealbox_ledger_knows(l, "SN1");

	return err == 1 ? 0 : err;
}

static int call_restored(struct dealbox_ledger *l)
{
	uint64_t record = 9;
	int err = dealbox_ledger_restored(l, &record);

	assert_int_equal(record, 0);
	return err;
}

static int call_accept_restore(struct dealbox_ledger *l)
{
	unsigned int boards;

	return dealbox_ledger_accept_restore(l, 1000, &boards);
}

static int call_get_head(struct dealbox_ledger *l)
{
	struct dealbox_ledger_head head;

	return dealbox_ledger_get_head(l, &head);
}

static int call_export(struct dealbox_ledger *l)
{
	FILE *out = fopen("/dev/null", "w");
	int err = dealbox_ledger_export(l, out);

	fclose(out);
	return err;
}

static void keep_damage(const char *sentence, void *context)
{
	strncat(context, sentence, 500);
}

static int call_verify(struct dealbox_ledger *l)
{
	char found[512] = "";
	int err = dealbox_ledger_verify(l, NULL, keep_damage, found, NULL);

	assert_true(!*found == (err != -EUCLEAN));
	return err;
}

static struct dealbox_ledger *make_world(void)
{
	static const unsigned int numbers[] = { 1, 2 };
	static const char *const machines[] = { "SN1", NULL };
	struct dealbox_ledger_new_job new_job = {
		.boards = numbers, .count = 2, .copies = 0, .machines = machines
	};
	struct dealbox_ledger *l = open_ledger(CREATE);
	struct dealbox_ledger_board boards[2];

	memset(&world, 0, sizeof(world));
	make_boards(boards, 2, 0);
	assert_int_equal(dealbox_ledger_add_set(l, "monday", boards, 2, &world.first, NULL), 0);
	new_job.set = world.first;
	assert_int_equal(dealbox_ledger_add_job(l, &new_job, &world.job, NULL), 0);
	world.copies = 2;
	new_job.copies = 2;
	new_job.machines = NULL;
	assert_int_equal(dealbox_ledger_add_job(l, &new_job, &world.limited, NULL), 0);
	begin_one(l);
	world.attested = world.insertion;
	assert_int_equal(dealbox_ledger_add_emulation(l, world.attested), 0);
	assert_int_equal(dealbox_ledger_add_attestation(l, world.attested, &signed_word), 0);
	assert_int_equal(call_end(l), 0);
	begin_one(l);
	return l;
}

static const struct {
	const char *name;
	int (*call)(struct dealbox_ledger *l);
} requests[] = {
	{ "verify", call_verify }, { "export", call_export },
	{ "add_set", call_add_set }, { "add_set, again", call_add_set_again },
	{ "add_job", call_add_job }, { "add_job, replay", call_add_replay },
	{ "add_job, capture", call_add_capture }, { "find_sets", call_find_sets },
	{ "find_repeat", call_find_repeat }, { "get_deal", call_get_deal },
	{ "sets", call_sets }, { "one set", call_one_set },
	{ "secret", call_secret }, { "played", call_played },
	{ "add copies", call_add_copies },
	{ "jobs", call_jobs }, { "one job", call_one_job }, { "copies", call_copies },
	{ "boards", call_boards }, { "machines", call_machines }, { "begin", call_begin },
	{ "end", call_end }, { "insertions", call_insertions }, { "last", call_last },
	{ "counts", call_counts },
	{ "add_attestation", call_add_attestation }, { "get_attestation", call_get_attestation },
	{ "no attestation", call_find_attestation },
	{ "add_emulation", call_add_emulation }, { "emulated", call_emulated },
	{ "get_trace", call_get_trace }, { "add_act", call_add_act }, { "knows", call_knows },
	{ "restored", call_restored }, { "get_head", call_get_head },
	{ "accept_restore", call_accept_restore },
};

/* The call can be made once for each insertion. */
static bool takes_insertion(int (*call)(struct dealbox_ledger *l))
{
	return call == call_end || call == call_add_attestation || call == call_add_emulation;
}

/*
 * A call leaves no statement behind in the middle of its rows, and none besides those that are
 * kept.
 */
static void must_have_ended(struct dealbox_ledger *l)
{
	size_t count = l->kept_count, n;
	sqlite3_stmt *stmt;

	for (n = 0; n < LEDGER_KINDS; n++)
		count += !!l->insert[n] + !!l->select[n];
	for (stmt = sqlite3_next_stmt(l->db, NULL); stmt;
	     stmt = sqlite3_next_stmt(l->db, stmt), count--)
		if (sqlite3_stmt_busy(stmt))
			fail_msg("%s", sqlite3_sql(stmt));
	assert_int_equal(count, 0);
}

/* No other statement is kept after these. */
static void keep_others(struct dealbox_ledger *l)
{
	int64_t found;
	char sql[32];
	int n;

	for (n = 0; n < LEDGER_KEPT; n++) {
		snprintf(sql, sizeof(sql), "SELECT %d", n);
		assert_int_equal(ledger_number(l, &found, sql, ""), 0);
	}
}

/* Whatever of a call fails: it says so, and has done nothing; then it does it. */
static void test_calls(void **state)
{
	static const struct {
		const char *name;
		int with, error;
		const char *words;
	} failures[] = {
		{ "sqlite3_step", SQLITE_FULL, -ENOSPC, "no room on the disk, while " },
		{ "sqlite3_step", SQLITE_IOERR_READ, -EIO, "disk I/O error, while " },
		{ "sqlite3_prepare_v3", SQLITE_NOMEM, -ENOMEM,
		  "no memory, while preparing a query" },
		{ "sqlite3_exec", SQLITE_FULL, -ENOSPC, "no room on the disk, while " },
		{ "sqlite3_bind_text", SQLITE_NOMEM, -ENOMEM, "no memory, while " },
		{ "sqlite3_bind_blob64", SQLITE_NOMEM, -ENOMEM, "no memory, while " },
		{ "malloc", ENOMEM, -ENOMEM, "no memory" },
		{ "calloc", ENOMEM, -ENOMEM, "no memory" },
		{ "realloc", ENOMEM, -ENOMEM, "no memory" },
		{ "open64", EIO, -EIO, "Input/output error" },
		{ "pread64", EIO, -EIO, "Input/output error" },
	};
	struct dealbox_ledger_head before, after;
	struct dealbox_ledger *l;
	unsigned int n, k, nth;
	bool damaged;
	int err;

	(void)state;
	for (n = 0; n < COUNT(requests); n++) {
		clear();
		l = make_world();
		dealbox_ledger_user(l, 1000);
		if (takes_insertion(requests[n].call))
			begin_one(l);
		ledger_forget(l);
		keep_others(l);
		assert_int_equal(requests[n].call(l), 0);
		must_have_ended(l);
		for (k = 0; k < COUNT(failures); k++)
			for (nth = 1; ; nth++) {
				if (takes_insertion(requests[n].call))
					begin_one(l);
				assert_int_equal(dealbox_ledger_get_head(l, &before), 0);
				ledger_forget(l);
				if (!strncmp(failures[k].name, "sqlite3_bind", 12))
					keep_others(l);
				fail_at(failures[k].name, nth, failures[k].with);
				l->error.what[0] = '\0';
				err = requests[n].call(l);
				must_have_ended(l);
				if (!has_failed()) {
					if (err)
						fail_msg("%s: %d: %s", requests[n].name, err,
							 dealbox_ledger_error(l)->what);
					break;
				}
				/* what a disk cannot read is damage */
				damaged = requests[n].call == call_verify &&
					  failures[k].with == SQLITE_IOERR_READ;
				if (err != (damaged ? -EUCLEAN : failures[k].error) ||
				    !strstr(dealbox_ledger_error(l)->what,
					    damaged ? "is damaged" : failures[k].words))
					fail_msg("%s: %s %d: %d: %s", requests[n].name,
						 failures[k].name, nth, err,
						 dealbox_ledger_error(l)->what);
				assert_int_equal(dealbox_ledger_get_head(l, &after), 0);
				assert_memory_equal(&before, &after, sizeof(before));
			}
		must_be_sound(l);
		dealbox_ledger_free(l);
	}
}

/* ---- opening ------------------------------------------------------------- */

/* As the first version made it. */
static void make_old(void)
{
	sqlite3 *file;

	assert_int_equal(sqlite3_open(db, &file), SQLITE_OK);
	assert_int_equal(sqlite3_exec(file, "DROP TABLE emulations; DROP TABLE attestations; DROP "
					    "TABLE job_machines; DROP INDEX insertions_machine; "
					    "PRAGMA user_version = 1; PRAGMA journal_mode = DELETE",
					    NULL, NULL,
				      NULL), SQLITE_OK);
	last_closed = NULL;
	sqlite3_close(file);
}

static struct dealbox_ledger_head get_head(void)
{
	struct dealbox_ledger *l = open_ledger(0);
	struct dealbox_ledger_head head;

	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	dealbox_ledger_free(l);
	return head;
}

/* A file of heads of this size, with this one at its end. */
static void make_heads(const struct dealbox_ledger_head *head, size_t size)
{
	char text[DEALBOX_LEDGER_HEAD_TEXT];
	FILE *file = fopen(heads, "w");

	dealbox_ledger_head_format(head, text);
	while (size-- > strlen(text) + 1)
		fputc('\n', file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

enum before { NOTHING, LEDGER, OLD, LONG_HEADS };

static void make_before(enum before before)
{
	struct dealbox_ledger *l;

	clear();
	if (before == NOTHING)
		return;
	l = open_ledger(CREATE);
	assert_int_equal(call_add_set(l), 0);
	dealbox_ledger_free(l);
	if (before == OLD)
		make_old();
	if (before == LONG_HEADS) {
		struct dealbox_ledger_head head = get_head();

		make_heads(&head, 1 << 17);
	}
}

/*
 * After a failure to open it: nothing half-made, and it can be opened as if nothing had happened.
 */
static void must_open(enum before before, unsigned int flags, const char *what)
{
	struct dealbox_ledger_head head;
	struct dealbox_ledger *l;

	if (there(".new") || there(".new-wal") || there(".new-shm") || there(".heads.new") ||
	    (there(".key.new") && !there("")))
		fail_msg("%s: leaves something behind", what);
	l = open_ledger(flags);
	if (before != NOTHING) {
		assert_int_equal(ledger_heads_last(l, &head), 0);
		assert_int_equal(head.record, 3);
	}
	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	assert_int_equal(head.record, before == NOTHING ? 0 : 3);
	dealbox_ledger_free(l);
}

/* The last head is still known. */
static void must_have_heads(enum before before)
{
	char line[DEALBOX_LEDGER_HEAD_TEXT + 1], last[sizeof(line)] = "";
	FILE *file = fopen(heads, "r");

	while (file && fgets(line, sizeof(line), file))
		if (strchr(line, ':'))
			strcpy(last, line);
	if (file)
		fclose(file);
	assert_true(before == NOTHING || !strncmp(last, "3:", 2));
}

static const struct {
	const char *name;
	enum before before;
	unsigned int flags;
} openings[] = {
	{ "new", NOTHING, CREATE }, { "to write", LEDGER, WRITE }, { "to read", LEDGER, 0 },
	{ "to accept it", LEDGER, FOR_RESTORE }, { "old", OLD, WRITE },
	{ "long heads", LONG_HEADS, WRITE },
};

/* Whatever of SQLite fails while the ledger is opened. */
static void test_open_database(void **state)
{
	static const struct {
		const char *name;
		int with, error;
	} failures[] = {
		{ "sqlite3_open_v2", SQLITE_NOMEM, -ENOMEM },
		{ "sqlite3_prepare_v3", SQLITE_NOMEM, -ENOMEM },
		{ "sqlite3_step", SQLITE_BUSY, -EBUSY }, { "sqlite3_exec", SQLITE_FULL, -ENOSPC },
		{ "sqlite3_bind_text", SQLITE_NOMEM, -ENOMEM }, { "asprintf", ENOMEM, -ENOMEM },
		{ "strdup", ENOMEM, -ENOMEM },
	};
	unsigned int n, k, nth;
	char error[512];
	int err;

	(void)state;
	for (n = 0; n < COUNT(openings); n++)
		for (k = 0; k < COUNT(failures); k++) {
			make_before(openings[n].before);
			for (nth = 1; ; nth++) {
				fail_at(failures[k].name, nth, failures[k].with);
				err = try_open(openings[n].flags, error);
				if (!has_failed())
					break;
				if (err != failures[k].error || !*error ||
				    (!strcmp(failures[k].name, "sqlite3_open_v2") &&
				     !strstr(error, "no memory, while opening it")))
					fail_msg("%s: %s %d: %d: %s", openings[n].name,
						 failures[k].name, nth, err, error);
				must_open(openings[n].before, openings[n].flags, failures[k].name);
				if (openings[n].before != LEDGER)
					make_before(openings[n].before);
			}
		}
}

/* Whatever of its files fails. A head that cannot be noted is noted with the next record. */
static void test_open_files(void **state)
{
	enum opening { NEW, TO_WRITE, TO_READ, TO_ACCEPT, OF_OLD, OF_LONG };
	static const struct {
		enum opening opening;
		const char *call;
		unsigned int nth;
		int with, error;
		const char *words;
	} failures[] = {
		{ NEW, "open64", 1, EIO, -EIO, "ledger.key.new: cannot be made: "
					       "Input/output error" },
		{ NEW, "open64", 2, EIO, -EIO, "ledger.new: cannot be made: Input/output error" },
		{ NEW, "open64", 3, EIO, -EIO, "ledger: Input/output error" },
		{ NEW, "open64", 4, EIO, -ENOKEY, "cannot be read: Input/output error" },
		{ NEW, "open64", 5, EIO, -EIO, "ledger.heads: Input/output error" },
		{ NEW, "open64", 6, EIO, -EIO, "ledger.heads: Input/output error" },
		{ NEW, "write", 1, 0, -ENOSPC, "ledger.key.new: cannot be made: "
					       "No space left on device" },
		{ NEW, "write", 2, 0, 0, "" },
		{ NEW, "fsync", 1, EIO, -EIO, "ledger.key.new: cannot be made: "
					      "Input/output error" },
		{ NEW, "fsync", 2, EIO, -EIO, "ledger: Input/output error" },
		{ NEW, "rename", 1, EIO, -EIO, "ledger: cannot be made: Input/output error" },
		{ NEW, "rename", 2, EIO, -EIO, "ledger.key.new: Input/output error" },
		{ NEW, "fstat64", 1, EIO, -ENOKEY, "ledger.key: the key of the ledger "
						   "is open to others" },
		{ NEW, "fstat64", 2, EIO, -EIO, "ledger.heads: Input/output error" },
		{ NEW, "stat64", 1, EIO, -EIO, "ledger.heads: Input/output error" },
		{ TO_WRITE, "open64", 1, EIO, -ENOKEY, "cannot be read: Input/output error" },
		{ TO_WRITE, "open64", 2, EACCES, -EACCES, "ledger.heads: Permission denied" },
		{ TO_WRITE, "open64", 3, EIO, -EIO, "ledger.heads: Input/output error" },
		{ TO_WRITE, "read", 1, EIO, -ENOKEY, "ledger.key: not the key of a ledger" },
		{ TO_WRITE, "flock", 1, EWOULDBLOCK, -EBUSY,
		  "another program writes to this ledger" },
		{ TO_WRITE, "fstat64", 2, EIO, -EIO, "ledger.heads: Input/output error" },
		{ TO_WRITE, "pread64", 1, EIO, -EIO, "ledger.heads: Input/output error" },
		{ TO_WRITE, "write", 1, 0, 0, "" },
		{ TO_READ, "open64", 1, EIO, -ENOKEY, "cannot be read: Input/output error" },
		{ TO_ACCEPT, "open64", 1, EIO, -ENOKEY, "cannot be read: Input/output error" },
		{ OF_LONG, "open64", 4, EIO, -EIO, "ledger.heads.new: Input/output error" },
		{ OF_LONG, "write", 1, 0, -ENOSPC, "ledger.heads.new: No space left on device" },
		{ OF_LONG, "fsync", 1, EIO, -EIO, "ledger.heads.new: Input/output error" },
		{ OF_LONG, "fchown", 1, EPERM, -EPERM,
		  "ledger.heads.new: Operation not permitted" },
		{ OF_LONG, "rename", 1, EIO, -EIO, "ledger.heads.new: Input/output error" },
	};
	char error[512];
	size_t n;
	int err;

	(void)state;
	for (n = 0; n < COUNT(failures); n++) {
		make_before(openings[failures[n].opening].before);
		fail_at(failures[n].call, failures[n].nth, failures[n].with);
		err = try_open(openings[failures[n].opening].flags, error);
		must_have_heads(openings[failures[n].opening].before);
		if (!has_failed())
			fail_msg("%s %u of %s", failures[n].call, failures[n].nth,
				 openings[failures[n].opening].name);
		if (err != failures[n].error || !strstr(error, failures[n].words))
			fail_msg("%s: %s %d: %d: %s", openings[failures[n].opening].name,
				 failures[n].call, failures[n].nth, err, error);
		must_open(openings[failures[n].opening].before, openings[failures[n].opening].flags,
			  failures[n].call);
	}
	/* one that only reads locks and changes nothing */
	make_before(LEDGER);
	fail_at("flock", 1, EWOULDBLOCK);
	dealbox_ledger_free(open_ledger(0));
	assert_false(has_failed());
}

/* Made by root for the service: the file of heads is the service's, too. */
static void test_heads_of_another(void **state)
{
	char error[512];

	(void)state;
	make_before(LEDGER);
	fail_at("fchown", 1, EPERM);
	assert_int_equal(try_open(WRITE, error), 0);
	assert_false(has_failed());
	failing.owner = 1;
	assert_int_equal(try_open(WRITE, error), 0);
	fail_at("fchown", 1, EPERM);
	assert_int_equal(try_open(WRITE, error), -EPERM);
	assert_true(has_failed());
	assert_non_null(strstr(error, "ledger.heads: Operation not permitted"));
}

/* A head that could not be noted, because the disk was full, is noted with the next record. */
static void test_head_noted_later(void **state)
{
	struct dealbox_ledger_head head, noted;
	struct dealbox_ledger *l;

	(void)state;
	make_before(LEDGER);
	l = open_ledger(WRITE);
	fail_at("write", 1, 0);
	assert_int_equal(call_add_set(l), 0);
	assert_true(has_failed());
	assert_int_equal(ledger_heads_last(l, &noted), 0);
	assert_int_equal(noted.record, 3);
	assert_int_equal(call_add_set(l), 0);
	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	assert_int_equal(ledger_heads_last(l, &noted), 0);
	assert_memory_equal(&noted, &head, sizeof(head));
	dealbox_ledger_free(l);
}

static unsigned int open_descriptors(void)
{
	unsigned int count = 0;
	int fd;

	for (fd = 0; fd < 64; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Every descriptor is closed once, whatever fails. */
static void test_descriptors(void **state)
{
	static const char *const calls[] = { "asprintf", "open64", "fstat64", "read", "flock",
		"fsync", "write", "rename", "none" };
	unsigned int before = open_descriptors();
	int fd;
	struct dealbox_ledger *l;
	unsigned int n, k, nth;
	bool failed = true;

	(void)state;
	for (n = 0; n < COUNT(openings); n++)
		for (k = 0; k < COUNT(calls); k++)
			for (nth = 1, failed = true; failed; nth++) {
				make_before(openings[n].before);
				fail_at(calls[k], nth, EIO);
				l = dealbox_ledger_new();
				dealbox_ledger_open(l, db, openings[n].flags);
				failed = has_failed();
				/* a new file with the number of a closed one stays open */
				fd = dup(0);
				dealbox_ledger_free(l);
				assert_int_not_equal(fcntl(fd, F_GETFD), -1);
				assert_int_not_equal(fcntl(0, F_GETFD), -1);
				close(fd);
				assert_int_equal(open_descriptors(), before);
			}
}

/* A transaction without a record has no head. */
static void test_head_noted_once(void **state)
{
	struct dealbox_ledger *l;
	struct stat before, after;

	(void)state;
	l = make_world();
	assert_int_equal(stat(heads, &before), 0);
	assert_int_equal(call_add_set_again(l), 0);
	assert_int_equal(stat(heads, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(call_add_set(l), 0);
	assert_int_equal(stat(heads, &after), 0);
	assert_true(before.st_size < after.st_size);
	dealbox_ledger_free(l);
}

/* A daemon may have closed its standard input: 0 is a descriptor like any other, and is closed. */
static void test_descriptor_0(void **state)
{
	int saved = dup(0), err[5];
	struct dealbox_ledger_head head;
	struct dealbox_ledger *l;
	bool closed[5];

	(void)state;
	make_before(LEDGER);
	close(0);
	l = dealbox_ledger_new();
	err[0] = dealbox_ledger_open(l, db, WRITE);
	dealbox_ledger_free(l);
	closed[0] = fcntl(0, F_GETFD) < 0;
	dup2(saved, 0);

	l = dealbox_ledger_new();
	err[1] = dealbox_ledger_open(l, db, FOR_RESTORE);
	close(0);
	err[1] |= ledger_heads_last(l, &head);
	closed[1] = fcntl(0, F_GETFD) < 0;
	err[2] = ledger_sync_folder(l, db);
	closed[2] = fcntl(0, F_GETFD) < 0;
	dup2(saved, 0);
	dealbox_ledger_free(l);

	clear();
	close(0);
	l = dealbox_ledger_new();
	err[3] = dealbox_ledger_open(l, db, CREATE);
	/* SQLite has put /dev/null there */
	closed[3] = fcntl(0, F_GETFD) >= 0;
	dealbox_ledger_free(l);
	dup2(saved, 0);

	l = open_ledger(WRITE);
	close(0);
	err[4] = dealbox_ledger_backup(l, other);
	closed[4] = fcntl(0, F_GETFD) < 0;
	dup2(saved, 0);
	dealbox_ledger_free(l);
	close(saved);
	for (saved = 0; saved < 5; saved++) {
		if (err[saved] || !closed[saved])
			fail_msg("%d: %d", saved, err[saved]);
	}
}

static void test_no_object(void **state)
{
	(void)state;
	fail_at("sodium_malloc", 1, ENOMEM);
	assert_null(dealbox_ledger_new());
	fail_at("sodium_init", 1, 0);
	assert_null(dealbox_ledger_new());
}

/* The same object again, after memory was short; and after it was opened. */
static void test_open_again(void **state)
{
	struct dealbox_ledger *l = dealbox_ledger_new();
	unsigned int n;

	(void)state;
	for (n = 1; n <= 3; n++) {
		fail_at(n < 3 ? "asprintf" : "strdup", n < 3 ? n : 1, ENOMEM);
		assert_int_equal(dealbox_ledger_open(l, db, CREATE), -ENOMEM);
		assert_true(has_failed());
	}
	assert_int_equal(dealbox_ledger_open(l, db, CREATE), 0);
	assert_int_equal(dealbox_ledger_open(l, db, WRITE), -EALREADY);
	assert_non_null(strstr(dealbox_ledger_error(l)->what, "ledger: is open"));
	dealbox_ledger_free(l);
}

/* ---- what SQLite says ---------------------------------------------------- */

/* The errors, by what SQLite says. Once the ledger is known to be damaged, nothing is written. */
static void test_errors(void **state)
{
	static const struct {
		int code, error;
		unsigned int flags;
		const char *words;
	} errors[] = {
		{ SQLITE_CORRUPT, -EUCLEAN, WRITE,
		  "is damaged (database disk image is malformed)" },
		{ SQLITE_CORRUPT_INDEX, -EUCLEAN, 0,
		  "is damaged (database disk image is malformed)" },
		{ SQLITE_NOTADB, -EUCLEAN, WRITE, "is damaged (file is not a database)" },
		{ SQLITE_FULL, -ENOSPC, WRITE, "no room on the disk, while reading a record" },
		{ SQLITE_BUSY_SNAPSHOT, -EBUSY, WRITE, "in use by another program, "
						       "while reading a record" },
		{ SQLITE_LOCKED, -EBUSY, 0, "in use by another program, while reading a record" },
		{ SQLITE_READONLY, -EROFS, WRITE, "may not be written, while reading a record" },
		{ SQLITE_READONLY_DIRECTORY, -EACCES, 0, "may not be opened" },
		{ SQLITE_CANTOPEN, -EACCES, WRITE, "may not be opened" },
		{ SQLITE_PERM, -EACCES, WRITE, "may not be opened" },
		{ SQLITE_AUTH, -EACCES, WRITE, "may not be opened" },
		{ SQLITE_NOMEM, -ENOMEM, WRITE, "no memory, while reading a record" },
		{ SQLITE_IOERR_SHORT_READ, -EIO, WRITE, "disk I/O error, while reading a record" },
	};
	struct dealbox_ledger_head head;
	struct dealbox_ledger *l;
	size_t n;
	int err;

	(void)state;
	make_before(LEDGER);
	for (n = 0; n < COUNT(errors); n++) {
		l = open_ledger(errors[n].flags);
		fail_at("sqlite3_step", 1, errors[n].code);
		assert_int_equal(dealbox_ledger_get_head(l, &head), errors[n].error);
		assert_true(has_failed());
		if (!strstr(dealbox_ledger_error(l)->what, errors[n].words) ||
		    !strstr(dealbox_ledger_error(l)->what, db))
			fail_msg("%d: %s", errors[n].code, dealbox_ledger_error(l)->what);
		err = call_add_set(l);
		assert_int_equal(err, !errors[n].flags ? -EROFS :
				      errors[n].error == -EUCLEAN ? -EUCLEAN : 0);
		if (err == -EUCLEAN)
			assert_non_null(strstr(dealbox_ledger_error(l)->what,
					       "nothing more is written"));
		dealbox_ledger_free(l);
	}
}

/* A damage that cannot even be named, because memory is short. */
static void test_nameless_damage(void **state)
{
	char found[512] = "";
	struct dealbox_ledger *l;

	(void)state;
	make_before(LEDGER);
	l = open_ledger(0);
	fail_at("sqlite3_column_text", 1, 0);
	assert_int_equal(dealbox_ledger_verify(l, NULL, keep_damage, found, NULL), -EUCLEAN);
	assert_true(has_failed());
	assert_string_equal(found, "database: ?");
	dealbox_ledger_free(l);
}

/* The key of a new ledger cannot be renamed the second time either: it stays where it is. */
static void test_key_still_not_renamed(void **state)
{
	char error[512];

	(void)state;
	fail_at("rename", 2, EIO);
	assert_int_equal(try_open(CREATE, error), -EIO);
	fail_at("rename", 1, EIO);
	assert_int_equal(try_open(WRITE, error), -EIO);
	assert_true(has_failed());
	assert_non_null(strstr(error, "ledger.key.new: Input/output error"));
	assert_true(there(".key.new"));
	assert_int_equal(try_open(WRITE, error), 0);
}

/* The heads of an accepted ledger cannot be noted: it is accepted, and the failure is told. */
static void test_accepted_without_heads(void **state)
{
	struct dealbox_ledger *l;
	uint64_t record;

	(void)state;
	make_before(LEDGER);
	l = open_ledger(FOR_RESTORE);
	fail_at("open64", 2, EIO);
	assert_int_equal(dealbox_ledger_accept_restore(l, 1000, NULL), -EIO);
	assert_true(has_failed());
	assert_non_null(strstr(dealbox_ledger_error(l)->what, "ledger.heads: Input/output error"));
	assert_int_equal(dealbox_ledger_restored(l, &record), 0);
	assert_int_equal(record, 4);
	dealbox_ledger_free(l);
	dealbox_ledger_free(open_ledger(WRITE));
}

/* More queries than are kept: they work all the same. */
static void test_many_queries(void **state)
{
	struct dealbox_ledger *l;
	int64_t found, n, round;
	char sql[32];

	(void)state;
	make_before(LEDGER);
	l = open_ledger(0);
	for (round = 0; round < 2; round++)
		for (n = 0; n < LEDGER_KEPT + 3; n++) {
			snprintf(sql, sizeof(sql), "SELECT %d", (int)n);
			assert_int_equal(ledger_number(l, &found, sql, ""), 0);
			assert_int_equal(found, n);
		}
	assert_int_equal(l->kept_count, LEDGER_KEPT);
	ledger_forget(l);
	assert_int_equal(l->kept_count, 0);
	dealbox_ledger_free(l);
}

/* ---- backup -------------------------------------------------------------- */

static void test_backup(void **state)
{
	static const struct {
		const char *call;
		unsigned int nth;
		int with, error;
		const char *words;
		bool there;
	} failures[] = {
		{ "asprintf", 1, ENOMEM, -ENOMEM, "no memory", false },
		{ "open64", 1, EIO, -EIO, "other.part: Input/output error", false },
		{ "open64", 2, EIO, -EIO, "other: Input/output error", true },
		{ "sqlite3_open_v2", 1, SQLITE_NOMEM, -EIO, "other.part: out of memory", false },
		{ "sqlite3_backup_init", 1, SQLITE_NOMEM, -EIO, "the backup: out of memory",
		  false },
		{ "sqlite3_backup_step", 1, SQLITE_FULL, -ENOSPC,
		  "the backup: database or disk is full", false },
		{ "sqlite3_backup_step", 1, SQLITE_CORRUPT, -EUCLEAN, "the backup: ", false },
		{ "sqlite3_backup_step", 1, SQLITE_IOERR, -EIO, "the backup: disk I/O error",
		  false },
		{ "sqlite3_backup_step", 1, SQLITE_BUSY, 0, "", true },
		{ "sqlite3_backup_step", 1, SQLITE_LOCKED, 0, "", true },
		{ "sqlite3_backup_step", 1, SQLITE_OK, 0, "", true },
		{ "sqlite3_step", 1, SQLITE_NOMEM, -ENOMEM, "no memory, while verifying", false },
		{ "sqlite3_step", 1, SQLITE_CORRUPT, -EUCLEAN, "no backup was made", false },
		{ "sqlite3_exec", 2, SQLITE_FULL, -EIO, "other.part: database or disk is full",
		  false },
		{ "fsync", 1, EIO, -EIO, "other.part: Input/output error", false },
		{ "fsync", 2, EIO, -EIO, "other: Input/output error", true },
		{ "strdup", 1, ENOMEM, -ENOMEM, "no memory", true },
		/* FAT and NFS */
		{ "renameat2", 1, EINVAL, 0, "", true },
		{ "renameat2", 1, ENOSYS, 0, "", true },
		{ "renameat2", 1, EIO, -EIO, "other: Input/output error", false },
	};
	struct dealbox_ledger *l;
	unsigned int files;
	char part[80];
	size_t n;
	int err;

	(void)state;
	make_before(LEDGER);
	snprintf(part, sizeof(part), "%s.part", other);
	l = open_ledger(0);
	files = open_descriptors();
	for (n = 0; n < COUNT(failures); n++) {
		sleeps = 0;
		fail_at(failures[n].call, failures[n].nth, failures[n].with);
		l->error.what[0] = '\0';
		err = dealbox_ledger_backup(l, other);
		if (!has_failed() || err != failures[n].error ||
		    !strstr(dealbox_ledger_error(l)->what, failures[n].words))
			fail_msg("%s %u: %d: %s", failures[n].call, failures[n].nth, err,
				 dealbox_ledger_error(l)->what);
		assert_int_equal(access(part, F_OK), -1);
		assert_int_equal(!access(other, F_OK), failures[n].there);
		/* it waits for a lock, and for nothing else */
		assert_int_equal(sleeps, !strcmp(failures[n].call, "sqlite3_backup_step") &&
						 (failures[n].with == SQLITE_BUSY ||
						  failures[n].with == SQLITE_LOCKED));
		assert_int_equal(open_descriptors(), files);
		unlink(other);
	}
	/* never over another file, whatever way the file system knows */
	fclose(fopen(other, "w"));
	fail_at("renameat2", 1, EINVAL);
	assert_int_equal(dealbox_ledger_backup(l, other), -EEXIST);
	assert_true(has_failed());
	dealbox_ledger_free(l);
}

/* ---- what stays in memory ------------------------------------------------- */

/* Keys and cards are wiped from where they were needed for a moment. */
static void test_wiped(void **state)
{
	struct dealbox_ledger_board boards[2];
	struct dealbox_ledger *l;

	(void)state;
	wiped = 0;
	l = open_ledger(CREATE);
	assert_int_equal(wiped, 32 + 33);	/* the key made, and read */
	make_boards(boards, 2, 0);
	wiped = 0;
	ledger_fingerprint(&l->keys, &boards[0].deal);
	assert_int_equal(wiped, sizeof(boards[0].deal) + sizeof(crypto_generichash_state));
	wiped = 0;
	assert_int_equal(call_find_sets(l), 0);
	assert_int_equal(wiped, 2 * (sizeof(boards[0].deal) + 8));
	wiped = 0;
	assert_int_equal(dealbox_ledger_backup(l, other), 0);
	assert_int_equal(wiped, sizeof(l->keys));
	dealbox_ledger_free(l);
}

/* The key is what libsodium makes, and nothing that was in memory. */
static void test_new_key(void **state)
{
	uint8_t found[sizeof(made_key) + 1];
	FILE *file;

	(void)state;
	dealbox_ledger_free(open_ledger(CREATE));
	file = fopen(key, "r");
	assert_int_equal(fread(found, 1, sizeof(found), file), sizeof(made_key));
	fclose(file);
	assert_false(sodium_is_zero(made_key, sizeof(made_key)));
	assert_memory_equal(found, made_key, sizeof(made_key));
}

/* One that reads waits while another program has the file locked. */
static void test_reader_waits(void **state)
{
	(void)state;
	dealbox_ledger_free(open_ledger(CREATE));
	busy_ms = 0;
	dealbox_ledger_free(open_ledger(0));
	assert_int_equal(busy_ms, 5000);
}

/* ---- main ---------------------------------------------------------------- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_calls),
		TEST(test_open_database),
		TEST(test_open_files),
		TEST(test_heads_of_another),
		TEST(test_head_noted_later),
		TEST(test_descriptors),
		TEST(test_head_noted_once),
		TEST(test_descriptor_0),
		TEST(test_no_object),
		TEST(test_open_again),
		TEST(test_errors),
		TEST(test_nameless_damage),
		TEST(test_key_still_not_renamed),
		TEST(test_accepted_without_heads),
		TEST(test_many_queries),
		TEST(test_backup),
		TEST(test_wiped),
		TEST(test_new_key),
		TEST(test_reader_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
