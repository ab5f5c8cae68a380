// SPDX-License-Identifier: LGPL-2.1-or-later
/* The ledger: what it keeps, what it refuses, and how it meets damage. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/capability.h>

#include <dealbox/law.h>
#include <dealbox/set.h>

#include "insertion.h"
#include "ledger/job-options.h"
#include "ledger/ledger-internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct folder {
	char path[40];
	char db[64];
	char key[64];
	char other[64];
	char heads[80];
};

static uint32_t seed;

static uint32_t draw(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint64_t)seed * limit >> 32;
}

static struct dealbox_deal make_deal(uint32_t number)
{
	uint8_t cards[DEALBOX_CARDS];
	struct dealbox_deal deal = { 0 };
	unsigned int n, k;

	seed = number * 2654435761u;
	for (n = 0; n < DEALBOX_CARDS; n++)
		cards[n] = n;
	for (n = DEALBOX_CARDS; n > 1; n--) {
		uint8_t swap = cards[n - 1];

		k = draw(n);
		cards[n - 1] = cards[k];
		cards[k] = swap;
	}
	for (n = 0; n < DEALBOX_CARDS; n++)
		deal.hand[n % 4] |= 1ULL << cards[n];
	return deal;
}

static struct dealbox_deal turn(struct dealbox_deal deal, unsigned int seats)
{
	struct dealbox_deal out;
	unsigned int n;

	for (n = 0; n < 4; n++)
		out.hand[(n + seats) % 4] = deal.hand[n];
	return out;
}

static int folder_make(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	/* where no disk is waited for */
	strcpy(f->path,
	       access("/dev/shm", W_OK) ? "/tmp/dealbox-XXXXXX" : "/dev/shm/dealbox-XXXXXX");
	if (!mkdtemp(f->path))
		return -1;
	snprintf(f->db, sizeof(f->db), "%s/ledger", f->path);
	snprintf(f->key, sizeof(f->key), "%s/ledger.key", f->path);
	snprintf(f->other, sizeof(f->other), "%s/other", f->path);
	snprintf(f->heads, sizeof(f->heads), "%s/ledger.heads", f->path);
	*state = f;
	return 0;
}

static int folder_remove(void **state)
{
	struct folder *f = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", f->path);
	free(f);
	return system(command);
}

/* time() has the second of the last tick, which may be the one before that of the ledger. */
static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/* An open ledger, or a failed test that says why. */
static struct dealbox_ledger *open_ledger(const char *path, unsigned int flags)
{
	struct dealbox_ledger *l = dealbox_ledger_new();
	int err = dealbox_ledger_open(l, path, flags);

	if (err)
		fail_msg("%d: %s", err, dealbox_ledger_error(l)->what);
	return l;
}

static int try_open(const char *path, unsigned int flags, char *error)
{
	struct dealbox_ledger *l = dealbox_ledger_new();
	int err = dealbox_ledger_open(l, path, flags);

	if (error)
		snprintf(error, 512, "%s", dealbox_ledger_error(l)->what);
	assert_int_equal(dealbox_ledger_error(l)->code, err);
	assert_int_equal(dealbox_ledger_error(l)->line, 0);
	dealbox_ledger_free(l);
	return err;
}

#define WRITE	DEALBOX_LEDGER_WRITE
#define CREATE	(DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE)

static void make_boards(struct dealbox_ledger_board *boards, size_t count, uint32_t first)
{
	size_t n;

	memset(boards, 0, count * sizeof(*boards));
	for (n = 0; n < count; n++) {
		boards[n].number = n + 1;
		boards[n].deal = make_deal(first + n);
	}
}

#define ADD_JOB(ledger, job, repeat, ...) \
	dealbox_ledger_add_job(ledger, &(struct dealbox_ledger_new_job){ __VA_ARGS__ }, job, repeat)

/* A set of four boards and a job of all of them. */
static uint64_t make_job(struct dealbox_ledger *l, const char *session, uint32_t first,
			 unsigned int copies, unsigned int options)
{
	static const unsigned int numbers[] = { 1, 2, 3, 4 };
	struct dealbox_ledger_board boards[4];
	uint64_t set, job;

	make_boards(boards, 4, first);
	assert_int_equal(dealbox_ledger_add_set(l, session, boards, 4, &set, NULL), 0);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = numbers, .count = 4,
				 .copies = copies, .options = options), 0);
	return job;
}

/* Events that hold every card: what a trace is about. */
static const struct dealbox_event *make_trace(void)
{
	static struct dealbox_event events[DEALBOX_CARDS];
	unsigned int n;

	for (n = 0; n < DEALBOX_CARDS; n++) {
		events[n].seqno = n + 1;
		events[n].type = DEALBOX_EV_CARD_LANDED;
		events[n].position = n;
		events[n].card = n;
		events[n].pocket = n % 4;
	}
	return events;
}

static void deal_exact(struct dealbox_ledger *l, uint64_t job, unsigned int board,
		       unsigned int copy, uint32_t number)
{
	uint64_t insertion;

	assert_int_equal(begin_insertion(l, job, board, copy, "SN1", number, 7, &insertion),
			 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, make_trace(),
					    DEALBOX_CARDS), 0);
}

static int keep_job(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

static struct dealbox_ledger_job last_job(struct dealbox_ledger *l)
{
	struct dealbox_ledger_job job = { 0 };

	assert_int_equal(dealbox_ledger_jobs(l, 0, keep_job, &job), 0);
	return job;
}

struct wanted {
	unsigned int board, copy;
	int state;
};

static int find_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	struct wanted *wanted = context;

	if (copy->board == wanted->board && copy->copy == wanted->copy)
		wanted->state = copy->state;
	return 0;
}

static int add_tries(const struct dealbox_ledger_copy *copy, void *context)
{
	*(unsigned int *)context += copy->tries;
	return 0;
}

static int copy_state(struct dealbox_ledger *l, uint64_t job, unsigned int board,
		      unsigned int copy)
{
	struct wanted wanted = { board, copy, DEALBOX_LEDGER_COPY_OPEN };

	assert_int_equal(dealbox_ledger_copies(l, job, find_copy, &wanted), 0);
	return wanted.state;
}

static char *slurp(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	char *data;
	long end;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	end = ftell(file);
	rewind(file);
	data = malloc(end + 1);
	*size = fread(data, 1, end, file);
	data[*size] = '\0';
	fclose(file);
	return data;
}

static void spit(const char *path, const char *data, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

static char *export(struct dealbox_ledger *l, int *err)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	*err = dealbox_ledger_export(l, out);
	fclose(out);
	return text;
}

/* Changes the file behind the ledger's back, as someone with the right tool would. */
static void tamper(const char *path, const char *sql)
{
	sqlite3 *db;
	char *error = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
	sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	sqlite3_close(db);
}

/* ---- opening ------------------------------------------------------------- */

static void test_open(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l;
	sqlite3_vfs *vfs;
	char error[512];
	struct stat st;

	assert_int_equal(try_open(f->db, 0, error), -ENOENT);
	assert_int_equal(try_open(f->db, WRITE, error), -ENOENT);
	l = open_ledger(f->db, CREATE);
	assert_int_equal(stat(f->key, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_size, 32);

	/* one writes, others read */
	assert_int_equal(try_open(f->db, WRITE, error), -EBUSY);
	assert_non_null(strstr(error, "another program"));
	assert_int_equal(try_open(f->db, 0, error), 0);
	dealbox_ledger_free(l);
	assert_int_equal(try_open(f->db, CREATE, error), 0);
	dealbox_ledger_free(NULL);
	/* SQLite knows no disk of a ledger that is gone */
	for (vfs = sqlite3_vfs_find(NULL); vfs; vfs = vfs->pNext)
		assert_null(strstr(vfs->zName, "dealbox"));
}

static void test_flags(void **state)
{
	static const unsigned int bad[] = {
		DEALBOX_LEDGER_CREATE, DEALBOX_LEDGER_RESTORED, WRITE | 8, 8, CREATE | 1U << 31,
	};
	struct folder *f = *state;

	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		assert_int_equal(try_open(f->db, bad[n], NULL), -EINVAL);
		assert_int_equal(access(f->db, F_OK), -1);
	}
	assert_int_equal(try_open(f->db, CREATE, NULL), 0);
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		assert_int_equal(try_open(f->db, bad[n], NULL), -EINVAL);
}

static void test_read_only(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger_board board;
	struct dealbox_ledger *l;
	uint64_t set;

	dealbox_ledger_free(open_ledger(f->db, CREATE));
	make_boards(&board, 1, 1000);
	l = open_ledger(f->db, 0);
	assert_int_equal(dealbox_ledger_add_set(l, "s", &board, 1, &set, NULL), -EROFS);
	dealbox_ledger_free(l);
}

/* The key decides: without it, with another, or with one that others can read. */
static void test_key(void **state)
{
	struct folder *f = *state;
	char error[512];
	char key[80];

	dealbox_ledger_free(open_ledger(f->db, CREATE));
	dealbox_ledger_free(open_ledger(f->other, CREATE));

	chmod(f->key, 0640);
	assert_int_equal(try_open(f->db, WRITE, error), -ENOKEY);
	assert_non_null(strstr(error, "chmod 600"));
	chmod(f->key, 0600);

	snprintf(key, sizeof(key), "%s.key", f->other);
	assert_int_equal(rename(key, f->key), 0);
	assert_int_equal(try_open(f->db, WRITE, error), -EKEYREJECTED);
	assert_int_equal(truncate(f->key, 31), 0);
	assert_int_equal(try_open(f->db, WRITE, error), -ENOKEY);
	unlink(f->key);
	assert_int_equal(try_open(f->db, CREATE, error), -ENOKEY);
	assert_int_equal(access(f->key, F_OK), -1);
}

/* A damaged ledger is refused, and its file is unchanged. */
static void test_never_overwritten(void **state)
{
	static const char *const what[] = { "",
					    "not a database at all, but long enough to be one" };
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char error[512], *after;
	size_t n, size;

	dealbox_ledger_free(open_ledger(f->db, CREATE));
	for (n = 0; n < COUNT(what); n++) {
		spit(f->db, what[n], strlen(what[n]));
		assert_int_equal(try_open(f->db, CREATE, error), -EUCLEAN);
		after = slurp(f->db, &size);
		assert_int_equal(size, strlen(what[n]));
		assert_memory_equal(after, what[n], size);
		free(after);
		l = dealbox_ledger_new();
		dealbox_ledger_open(l, f->db, 0);
		assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), -EUCLEAN);
		dealbox_ledger_free(l);
	}
	/* the ledger is lost, its key is not: no new ledger takes its place */
	unlink(f->db);
	l = dealbox_ledger_new();
	assert_int_equal(dealbox_ledger_open(l, f->db, CREATE), -EUCLEAN);
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), -EUCLEAN);
	dealbox_ledger_free(l);
	assert_int_equal(try_open(f->db, CREATE, error), -EUCLEAN);
	assert_non_null(strstr(error, "backup"));
	assert_int_equal(access(f->db, F_OK), -1);
}

static void test_other_database(void **state)
{
	struct folder *f = *state;
	char error[512];

	dealbox_ledger_free(open_ledger(f->db, CREATE));
	tamper(f->db, "PRAGMA user_version = 99");
	assert_int_equal(try_open(f->db, WRITE, error), -EPROTONOSUPPORT);
	tamper(f->db, "PRAGMA user_version = 1; PRAGMA application_id = 1");
	assert_int_equal(try_open(f->db, WRITE, error), -EUCLEAN);
	assert_non_null(strstr(error, "not a ledger"));
}

/* A power cut while the ledger is made, at each step. */
static void test_made_by_halves(void **state)
{
	struct folder *f = *state;
	char new_key[80], new_db[80];

	snprintf(new_key, sizeof(new_key), "%s.key.new", f->db);
	snprintf(new_db, sizeof(new_db), "%s.new", f->db);
	spit(new_key, "short", 5);
	spit(new_db, "half", 4);
	dealbox_ledger_free(open_ledger(f->db, CREATE));
	/* between the two renames */
	assert_int_equal(rename(f->key, new_key), 0);
	dealbox_ledger_free(open_ledger(f->db, CREATE));
	assert_int_equal(access(f->key, F_OK), 0);
	assert_int_equal(access(new_key, F_OK), -1);
}

/* ---- sets ---------------------------------------------------------------- */

struct sets {
	uint64_t found[8];
	size_t count;
};

static int note_set(uint64_t set, void *context)
{
	struct sets *sets = context;

	assert_true(sets->count < 8);
	sets->found[sets->count++] = set;
	return 0;
}

static void test_set(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_board boards[4], swap;
	struct dealbox_deal deal;
	uint64_t first, again, other;
	struct sets sets = { { 0 } };

	make_boards(boards, 4, 100);
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 4, note_set, &sets), 0);
	assert_int_equal(sets.count, 0);
	assert_int_equal(dealbox_ledger_add_set(l, "monday", boards, 4, &first, NULL), 0);
	/* the order in which they come does not matter */
	swap = boards[0];
	boards[0] = boards[3];
	boards[3] = swap;
	assert_int_equal(dealbox_ledger_add_set(l, "monday", boards, 4, &again, NULL), 0);
	assert_int_equal(first, again);
	assert_int_equal(dealbox_ledger_add_set(l, "tuesday", boards, 4, &other, NULL), 0);
	assert_int_not_equal(first, other);
	/* for any session, the newest first; not those that have some of the deals */
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 4, note_set, &sets), 0);
	assert_int_equal(sets.count, 2);
	assert_int_equal(sets.found[0], other);
	assert_int_equal(sets.found[1], first);
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 3, note_set, &sets), 0);
	assert_int_equal(sets.count, 2);
	assert_int_equal(dealbox_ledger_add_set(l, "monday", boards, 3, &other, NULL), 0);
	assert_int_not_equal(first, other);

	assert_int_equal(dealbox_ledger_get_deal(l, first, 4, &deal), 0);
	assert_memory_equal(&deal, &boards[0].deal, sizeof(deal));
	assert_int_equal(dealbox_ledger_get_deal(l, first, 5, &deal), -ENOENT);
	assert_int_equal(dealbox_ledger_add_set(l, "", boards, 4, &other, NULL), -EINVAL);
	assert_int_equal(dealbox_ledger_add_set(l, "x", boards, 0, &other, NULL), -EINVAL);
	dealbox_ledger_free(l);
}

/* The same deal twice in one set, straight and turned: refused, and nothing is left. */
static void test_set_repeats(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_repeat repeat;
	struct dealbox_ledger_board boards[6];
	struct dealbox_ledger_head head;
	unsigned int seats;
	uint64_t set;

	for (seats = 0; seats < 4; seats++) {
		make_boards(boards, 6, 1);
		boards[4].deal = turn(boards[1].deal, seats);
		memset(&repeat, 0xff, sizeof(repeat));
		assert_int_equal(dealbox_ledger_add_set(l, "s", boards, 6, &set, &repeat), -EEXIST);
		assert_int_equal(repeat.board + repeat.other_board, 2 + 5);
		assert_string_equal(repeat.session, "");
	}
	make_boards(boards, 6, 1);
	boards[5].number = 2;
	assert_int_equal(dealbox_ledger_add_set(l, "s", boards, 6, &set, NULL), -EINVAL);
	assert_non_null(strstr(dealbox_ledger_error(l)->what, "board 2"));
	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	assert_int_equal(head.record, 0);
	dealbox_ledger_free(l);
}

/* A mirrored deal is another deal: the fingerprint must not say otherwise. */
static void test_fingerprint(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_deal deal = make_deal(5), mirrored = deal, talon;
	unsigned int n;

	for (n = 1; n < 4; n++) {
		struct dealbox_deal turned = turn(deal, n);

		assert_true(ledger_fingerprint(&l->keys, &deal) ==
			    ledger_fingerprint(&l->keys, &turned));
	}
	mirrored.hand[1] = deal.hand[3];
	mirrored.hand[3] = deal.hand[1];
	assert_true(ledger_fingerprint(&l->keys, &deal) != ledger_fingerprint(&l->keys, &mirrored));

	/* preferans: the three hands turn, the talon stays */
	talon = (struct dealbox_deal){ { 0x3ff, 0x3ff << 10, 0x3ff << 20, 3ULL << 30 } };
	mirrored = (struct dealbox_deal){ { 0x3ff << 20, 0x3ff, 0x3ff << 10, 3ULL << 30 } };
	assert_true(ledger_fingerprint(&l->keys, &talon) ==
		    ledger_fingerprint(&l->keys, &mirrored));
	mirrored = turn(talon, 1);
	assert_true(ledger_fingerprint(&l->keys, &talon) !=
		    ledger_fingerprint(&l->keys, &mirrored));
	/* also if the lowest card lies in the talon */
	talon = (struct dealbox_deal){ { 0x3ff << 20, 0x3ff << 10, 0x3ff << 2, 3 } };
	mirrored = (struct dealbox_deal){ { 0x3ff << 10, 0x3ff << 2, 0x3ff << 20, 3 } };
	assert_true(ledger_fingerprint(&l->keys, &talon) ==
		    ledger_fingerprint(&l->keys, &mirrored));
	dealbox_ledger_free(l);
}

/* Law 6D2: no deal of another session, also turned and on another board. */
static void test_other_session(void **state)
{
	static const unsigned int two = 2;
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_repeat repeat = { 0 };
	struct dealbox_ledger_board boards[2];
	struct dealbox_deal deal;
	uint64_t monday, set, job, insertion;

	monday = make_job(l, "monday", 1, 1, 0);
	make_boards(boards, 2, 500);
	boards[1].deal = turn(make_deal(3), 1);	/* board 3 of monday */
	assert_int_equal(dealbox_ledger_add_set(l, "tuesday", boards, 2, &set, NULL), 0);
	deal = make_deal(3);

	/* a job that was made is no deal that was dealt */
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, NULL), 0);
	/* a void board is emptied, and nobody has played it */
	assert_int_equal(begin_insertion(l, monday, 3, 1, "SN1", 1, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, DEALBOX_EV_JAM, 0,
					    NULL, 0), 0);
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, NULL), 0);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &two, .count = 1,
				 .copies = 1), 0);

	deal_exact(l, monday, 3, 1, 2);
	repeat.board = 99;
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, &repeat), 1);
	assert_int_equal(repeat.other_board, 3);
	assert_string_equal(repeat.session, "monday");
	assert_int_equal(repeat.board, 0);
	assert_int_equal(dealbox_ledger_find_repeat(l, "monday", &deal, &repeat), 0);

	/* the job that was made before is stopped too */
	assert_int_equal(begin_insertion(l, job, 2, 1, "SN1", 3, 1, &insertion), -EEXIST);
	assert_int_equal(ADD_JOB(l, &job, &repeat, .set = set, .boards = &two, .count = 1,
				 .copies = 1), -EEXIST);
	assert_int_equal(repeat.board, 2);
	assert_non_null(strstr(dealbox_ledger_error(l)->what, "6D2"));
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &two, .count = 1, .copies = 1,
				 .options = DEALBOX_JOB_REPLAY), 0);
	assert_int_equal(begin_insertion(l, job, 2, 1, "SN1", 3, 1, &insertion), 0);
	dealbox_ledger_free(l);
}

/* In which of the sets that have the deal it was dealt is what counts, not that one was dealt. */
static void test_other_session_among_many(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t monday, tuesday, wednesday, thursday, insertion;
	struct dealbox_ledger_repeat repeat = { 0 };
	struct dealbox_deal deal = make_deal(3);

	/* boards 3, 3, 2 and 1 of these are the same deal */
	monday = make_job(l, "monday", 1, 1, 0);
	tuesday = make_job(l, "tuesday", 1, 1, 0);
	wednesday = make_job(l, "wednesday", 2, 1, 0);
	thursday = make_job(l, "thursday", 3, 1, 0);

	/* dealt were other boards of those sets, and boards of the same numbers */
	deal_exact(l, monday, 2, 1, 1);
	deal_exact(l, wednesday, 3, 1, 2);
	deal_exact(l, thursday, 3, 1, 3);
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, NULL), 0);
	assert_int_equal(begin_insertion(l, tuesday, 3, 1, "SN1", 4, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, DEALBOX_EV_JAM, 0,
					    NULL, 0), 0);

	deal_exact(l, wednesday, 2, 1, 5);
	assert_int_equal(dealbox_ledger_find_repeat(l, "wednesday", &deal, NULL), 0);
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, &repeat), 1);
	assert_int_equal(repeat.other_board, 2);
	assert_string_equal(repeat.session, "wednesday");
	assert_int_equal(begin_insertion(l, monday, 3, 1, "SN1", 6, 1, &insertion), -EEXIST);
	assert_int_equal(begin_insertion(l, tuesday, 3, 1, "SN1", 6, 1, &insertion), -EEXIST);
	assert_int_equal(begin_insertion(l, thursday, 1, 1, "SN1", 6, 1, &insertion), -EEXIST);
	/* the other boards of those jobs are none the worse for it */
	assert_int_equal(begin_insertion(l, tuesday, 1, 1, "SN1", 6, 1, &insertion), 0);
	dealbox_ledger_free(l);
}

/* A board with unknown outcome may have been played. */
static void test_doubt_counts_as_dealt(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "monday", 1, 1, 0), insertion;
	struct dealbox_deal deal = make_deal(1);

	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 1, 1, &insertion), 0);
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, NULL), 1);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_UNKNOWN, 0, 0, NULL, 0),
			 0);
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, NULL), 1);
	dealbox_ledger_free(l);
}

/* ---- jobs and insertions ------------------------------------------------- */

static int count_boards(unsigned int board, void *context)
{
	unsigned int *sum = context;

	*sum = *sum * 10 + board;
	return 0;
}

static void test_job(void **state)
{
	static const unsigned int numbers[] = { 4, 2 }, twice[] = { 1, 1 }, absent[] = { 9 };
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t set = last_job(l).set, job;
	struct dealbox_ledger_board boards[4];
	struct dealbox_ledger_job found;
	unsigned int sum = 0;

	make_boards(boards, 4, 1);
	assert_int_equal(dealbox_ledger_add_set(l, "s", boards, 4, &set, NULL), 0);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = numbers, .count = 2,
				 .copies = 3, .options = DEALBOX_JOB_DESCENDING, .priority = 5), 0);
	found = last_job(l);
	assert_int_equal(found.job, job);
	assert_in_range(found.at_us / 1000000, seconds() - 600, seconds());
	assert_int_equal(found.set, set);
	assert_string_equal(found.session, "s");
	assert_int_equal(found.copies, 3);
	assert_int_equal(found.options, DEALBOX_JOB_DESCENDING);
	assert_int_equal(found.priority, 5);
	assert_int_equal(found.boards, 2);
	assert_int_equal(found.state, DEALBOX_LEDGER_JOB_OPEN);
	assert_int_equal(dealbox_ledger_boards(l, job, count_boards, &sum), 0);
	assert_int_equal(sum, 24);
	sum = 0;
	assert_int_equal(dealbox_ledger_set_boards(l, set, count_boards, &sum), 0);
	assert_int_equal(sum, 1234);
	assert_int_equal(dealbox_ledger_set_boards(l, 999, count_boards, &sum), 0);
	assert_int_equal(sum, 1234);

	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = twice, .count = 2,
				 .copies = 1), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = absent, .count = 1,
				 .copies = 1), -ENOENT);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = 999, .boards = numbers, .count = 2,
				 .copies = 1), -ENOENT);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = numbers, .count = 0,
				 .copies = 1), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = numbers, .count = 2,
				 .copies = 1, .options = JOB_EVENT << 1), -EINVAL);
	assert_int_equal(last_job(l).job, found.job);
	dealbox_ledger_free(l);
}

static int join_machines(const char *machine, void *context)
{
	strcat(strcat(context, machine), " ");
	return 0;
}

static uint64_t make_job_for(struct dealbox_ledger *l, const char *const *machines)
{
	static const unsigned int number = 1;
	struct dealbox_ledger_board board;
	uint64_t set, job;

	make_boards(&board, 1, 1000);
	assert_int_equal(dealbox_ledger_add_set(l, "s", &board, 1, &set, NULL), 0);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
				 .copies = 1, .machines = machines), 0);
	return job;
}

static void test_job_for_machines(void **state)
{
	static const char *const two[] = { "SN7", "port:1-2", NULL };
	static const char *const twice[] = { "a", "a", NULL };
	static const char *const none[] = { NULL }, *const empty[] = { "", NULL };
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	static const unsigned int number = 1;
	uint64_t any = make_job_for(l, none), kept = make_job_for(l, two), set = last_job(l).set;
	uint64_t job;
	char found[64] = "";

	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
				 .copies = 1, .machines = twice), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
				 .copies = 1, .machines = empty), -EINVAL);
	assert_int_equal(last_job(l).job, kept);
	dealbox_ledger_free(l);
	l = open_ledger(f->db, WRITE);
	assert_int_equal(dealbox_ledger_machines(l, any, join_machines, found), 0);
	assert_string_equal(found, "");
	assert_int_equal(dealbox_ledger_machines(l, kept, join_machines, found), 0);
	assert_string_equal(found, "SN7 port:1-2 ");
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
}

/* A job is kept to other machines later: the last list counts, and all of it or nothing. */
static void test_job_is_kept_to_machines(void **state)
{
	static const char *const two[] = { "SN7", "port:1-2", NULL };
	static const char *const other[] = { "Z", "A", "M", NULL };
	static const char *const none[] = { NULL }, *const twice[] = { "b", "a", "b", NULL };
	static const char *const empty[] = { "c", "", NULL };
	const struct {
		const char *const *machines;
		int err;
		const char *found;
	} rows[] = {
		{ other, 0, "Z A M " }, { two, 0, "SN7 port:1-2 " },
		{ twice, -EINVAL, "SN7 port:1-2 " },
		{ empty, -EINVAL, "SN7 port:1-2 " }, { none, 0, "" }, { NULL, 0, "" },
		{ other, 0, "Z A M " },
	};
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t kept = make_job_for(l, two), any = make_job_for(l, none);
	sqlite3_stmt *acts;
	char found[64];
	size_t n;

	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		assert_int_equal(dealbox_ledger_keep_job(l, kept, 1000, rows[n].machines),
				 rows[n].err);
		*found = '\0';
		assert_int_equal(dealbox_ledger_machines(l, kept, join_machines, found), 0);
		assert_string_equal(found, rows[n].found);
	}
	assert_int_equal(dealbox_ledger_keep_job(l, 9999, 1000, two), -ENOENT);
	assert_int_equal(dealbox_ledger_keep_job(l, any, 1000, two), 0);
	/* it is about the whole job */
	assert_int_equal(sqlite3_prepare_v2(l->db,
					    "SELECT count(*), count(board), count(copy) FROM acts",
					    -1, &acts, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(acts), SQLITE_ROW);
	assert_true(sqlite3_column_int(acts, 0));
	assert_int_equal(sqlite3_column_int(acts, 1) + sqlite3_column_int(acts, 2), 0);
	sqlite3_finalize(acts);
	dealbox_ledger_free(l);
	l = open_ledger(f->db, WRITE);
	*found = '\0';
	assert_int_equal(dealbox_ledger_machines(l, kept, join_machines, found), 0);
	assert_string_equal(found, "Z A M ");
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
}

static int count_step(void *context)
{
	++*(unsigned long *)context;
	return 0;
}

/* Returns the number of SQLite's VM steps to begin a copy, and to report a job. */
static unsigned long steps_of_begin(struct dealbox_ledger *l, uint64_t job, unsigned int copy,
				    uint32_t number, unsigned long *of_job)
{
	unsigned long steps = 0;
	struct dealbox_ledger_job found;
	uint64_t insertion;

	sqlite3_progress_handler(l->db, 1, count_step, &steps);
	assert_int_equal(begin_insertion(l, job, 1, copy, "SN1", number, 7, &insertion), 0);
	*of_job = 0;
	sqlite3_progress_handler(l->db, 1, count_step, of_job);
	assert_int_equal(dealbox_ledger_jobs(l, job, keep_job, &found), 0);
	sqlite3_progress_handler(l->db, 0, NULL, NULL);
	assert_int_equal(found.job, job);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, make_trace(),
					    DEALBOX_CARDS), 0);
	return steps;
}

/* The hundredth board is begun as soon as the second, and other jobs make none slower. */
static void test_begin_among_many(void **state)
{
	unsigned long first, last, of_job, of_other;
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 0, 0), other;
	uint32_t n;

	deal_exact(l, job, 1, 1, 1);
	first = steps_of_begin(l, job, 2, 2, &of_job);
	for (n = 3; n < 100; n++)
		deal_exact(l, job, 1, n, n);
	last = steps_of_begin(l, job, 100, 100, &of_job);
	assert_in_range(last, 1, first + first / 4);
	other = make_job(l, "s", 5, 0, 0);
	deal_exact(l, other, 1, 1, 101);
	last = steps_of_begin(l, other, 2, 102, &of_other);
	assert_in_range(last, 1, first + first / 4);
	assert_in_range(of_other, 1, of_job / 4);
	dealbox_ledger_free(l);
}

static int count_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	(void)insertion;
	++*(unsigned int *)context;
	return 0;
}

/* Returns the number of SQLite's VM steps to get the last insertion of a machine. */
static unsigned long steps_of_last(struct dealbox_ledger *l, const char *machine, uint32_t number)
{
	struct dealbox_ledger_insertion last = { 0 };
	unsigned long steps = 0;

	sqlite3_progress_handler(l->db, 1, count_step, &steps);
	assert_int_equal(dealbox_ledger_last(l, machine, &last), number ? 0 : -ENOENT);
	sqlite3_progress_handler(l->db, 0, NULL, NULL);
	assert_int_equal(last.number, number);
	return steps;
}

static unsigned long steps_of_insertions(struct dealbox_ledger *l, uint64_t job, unsigned int count)
{
	unsigned long steps = 0;
	unsigned int found = 0;

	sqlite3_progress_handler(l->db, 1, count_step, &steps);
	assert_int_equal(dealbox_ledger_insertions(l, job, false, count_insertion, &found), 0);
	sqlite3_progress_handler(l->db, 0, NULL, NULL);
	assert_int_equal(found, count);
	return steps;
}

/*
 * A machine that comes after years, or for the first time, is known as soon as on the first
 * evening.
 */
static void test_last_among_many(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 0, 0), other = make_job(l, "s", 5, 0, 0), insertion;
	struct dealbox_ledger_insertion last;
	unsigned long none, one, of_job;
	uint32_t n;

	none = steps_of_last(l, "SN2", 0);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN2", 70, 7, &insertion), 0);
	one = steps_of_last(l, "SN2", 70);
	of_job = steps_of_insertions(l, job, 1);
	for (n = 1; n < 100; n++)
		deal_exact(l, other, 1, n, n);
	assert_in_range(steps_of_last(l, "SN2", 70), 1, one + one / 4);
	assert_in_range(steps_of_last(l, "SN1", 99), 1, one + one / 4);
	assert_in_range(steps_of_last(l, "SN3", 0), 1, none + none / 4);
	assert_in_range(steps_of_insertions(l, job, 1), 1, of_job + of_job / 4);

	/* its outcome is included */
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, DEALBOX_EV_JAM, 0,
					    NULL, 0), 0);
	assert_int_equal(dealbox_ledger_last(l, "SN2", &last), 0);
	assert_int_equal(last.id, insertion);
	assert_int_equal(last.outcome, DEALBOX_LEDGER_VOID);
	assert_int_equal(last.reason, DEALBOX_EV_JAM);
	dealbox_ledger_free(l);
}

struct pairs {
	struct dealbox_ledger *ledger;
	unsigned int outer, pairs;
};

static int count_pair(const struct dealbox_ledger_job *job, void *context)
{
	(void)job;
	((struct pairs *)context)->pairs++;
	return 0;
}

static int count_pairs(const struct dealbox_ledger_job *job, void *context)
{
	struct pairs *pairs = context;

	(void)job;
	return ++pairs->outer > 3 ? -1 : dealbox_ledger_jobs(pairs->ledger, 0, count_pair, pairs);
}

/* The callback of one query may query all jobs. */
static void test_asked_within(void **state)
{
	struct folder *f = *state;
	struct pairs pairs = { .ledger = open_ledger(f->db, CREATE) };

	make_job(pairs.ledger, "s", 1, 1, 0);
	make_job(pairs.ledger, "s", 5, 1, 0);
	make_job(pairs.ledger, "s", 9, 1, 0);
	assert_int_equal(dealbox_ledger_jobs(pairs.ledger, 0, count_pairs, &pairs), 0);
	assert_int_equal(pairs.outer, 3);
	assert_int_equal(pairs.pairs, 9);
	dealbox_ledger_free(pairs.ledger);
}

/* As the first version made them: opened, and brought up to date, unless it is damaged. */
static void test_old_ledger(void **state)
{
	static const char *const machines[] = { "SN7", NULL };
	struct folder *f = *state;
	char *before, *after, found[64] = "", error[512];
	struct dealbox_ledger *l;
	size_t size, now;
	uint64_t job;

	l = open_ledger(f->db, CREATE);
	job = make_job_for(l, NULL);
	dealbox_ledger_free(l);
	tamper(f->db,
	       "DROP TABLE emulations; DROP TABLE attestations; DROP TABLE job_machines; DROP "
	       "INDEX insertions_machine; PRAGMA user_version = 1; PRAGMA journal_mode = DELETE");
	before = slurp(f->db, &size);
	assert_int_equal(try_open(f->db, 0, error), -EROFS);
	assert_non_null(strstr(error, "dealboxd brings it up to date"));

	tamper(f->db, "DROP TRIGGER sets_no_update; UPDATE sets SET session = 'x'");
	after = slurp(f->db, &now);
	assert_int_equal(try_open(f->db, WRITE, error), -EUCLEAN);
	free(before);
	before = slurp(f->db, &size);
	assert_int_equal(size, now);
	assert_memory_equal(before, after, size);
	free(before);
	free(after);

	tamper(f->db, "UPDATE sets SET session = 's'");
	l = open_ledger(f->db, WRITE);
	assert_int_equal(last_job(l).job, job);
	assert_int_equal(dealbox_ledger_machines(l, job, join_machines, found), 0);
	assert_int_equal(dealbox_ledger_machines(l, make_job_for(l, machines), join_machines,
						 found), 0);
	assert_string_equal(found, "SN7 ");
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
	dealbox_ledger_free(open_ledger(f->db, 0));
}

/* That a program has played the machine is known without that machine, and after a restart. */
static void test_emulations(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job_for(l, NULL), emulated, real;

	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 1, 1, &emulated), 0);
	assert_int_equal(dealbox_ledger_emulated(l, emulated), 0);
	assert_int_equal(dealbox_ledger_add_emulation(l, emulated), 0);
	assert_int_equal(dealbox_ledger_add_emulation(l, emulated), -EALREADY);
	assert_int_equal(dealbox_ledger_add_emulation(l, 9999), -ENOENT);
	assert_int_equal(end_insertion(l, emulated, DEALBOX_LEDGER_VOID, DEALBOX_EV_JAM, 0,
					    NULL, 0), 0);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 2, 1, &real), 0);
	assert_int_equal(dealbox_ledger_emulated(l, real), 0);
	dealbox_ledger_free(l);
	l = open_ledger(f->db, 0);
	assert_int_equal(dealbox_ledger_emulated(l, emulated), 1);
	assert_int_equal(dealbox_ledger_emulated(l, real), 0);
	assert_int_equal(dealbox_ledger_emulated(l, 9999), 0);
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
	tamper(f->db, "DROP TRIGGER emulations_no_delete; DELETE FROM emulations");
	assert_int_equal(try_open(f->db, WRITE, (char[512]){ 0 }), -EUCLEAN);
}

/* Rules 1 and 3, and two machines at one copy. */
static void test_insertion_once(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 2, 0), insertion, other;
	unsigned int tries = 0;

	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 7, 1, &insertion), 0);
	assert_int_equal(copy_state(l, job, 1, 1), DEALBOX_LEDGER_COPY_DEALING);
	/* the same insertion, for another copy */
	assert_int_equal(begin_insertion(l, job, 1, 2, "SN1", 7, 1, &other), -EALREADY);
	assert_non_null(strstr(dealbox_ledger_error(l)->what, "empty it"));
	/* the same copy, on another machine */
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN2", 7, 1, &other), -EINPROGRESS);
	/* another copy, on another machine, whose numbers are its own */
	assert_int_equal(begin_insertion(l, job, 1, 2, "SN2", 7, 1, &other), 0);

	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, NULL, 0),
			 -EINVAL);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 1, make_trace(),
					    52), -EINVAL);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_CAPTURED, 0, 0,
					    make_trace(), 52), -EINVAL);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, make_trace(),
					    52), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, 0, 0, NULL, 0),
			 -EALREADY);
	assert_int_equal(copy_state(l, job, 1, 1), DEALBOX_LEDGER_COPY_RECORDED);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 8, 1, &insertion), -EEXIST);

	/* a void board is dealt again, in a new insertion */
	assert_int_equal(end_insertion(l, other, DEALBOX_LEDGER_VOID, DEALBOX_EV_REPEATED_CARD,
					    0, make_trace(), 20), 0);
	assert_int_equal(copy_state(l, job, 1, 2), DEALBOX_LEDGER_COPY_OPEN);
	assert_int_equal(last_job(l).voided, 1);
	assert_int_equal(dealbox_ledger_copies(l, job, add_tries, &tries), 0);
	assert_int_equal(tries, 2);
	assert_int_equal(begin_insertion(l, job, 1, 2, "SN2", 7, 1, &other), -EALREADY);
	assert_int_equal(begin_insertion(l, job, 1, 2, "SN2", 8, 1, &other), 0);

	assert_int_equal(begin_insertion(l, job, 1, 3, "SN1", 9, 1, &insertion), -ENOENT);
	assert_int_equal(begin_insertion(l, job, 5, 1, "SN1", 9, 1, &insertion), -ENOENT);
	assert_int_equal(begin_insertion(l, 9999, 1, 1, "SN1", 9, 1, &insertion), -ENOENT);
	assert_int_equal(begin_insertion(l, job, 2, 1, "SN1", 0, 1, &insertion), -EINVAL);
	assert_int_equal(begin_insertion(l, job, 2, 1, "", 9, 1, &insertion), -EINVAL);
	assert_int_equal(end_insertion(l, 9999, DEALBOX_LEDGER_VOID, 0, 0, NULL, 0), -ENOENT);
	assert_string_equal(dealbox_ledger_error(l)->what, "there is no insertion 9999");
	dealbox_ledger_free(l);
}

static int keep_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	*(struct dealbox_ledger_insertion *)context = *insertion;
	return 0;
}

static void test_trace(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 2, 0), insertion;
	struct dealbox_ledger_insertion found = { 0 };
	struct dealbox_event *events;
	size_t count;

	deal_exact(l, job, 2, 1, 11);
	assert_int_equal(dealbox_ledger_insertions(l, job, true, keep_insertion, &found), 0);
	assert_int_equal(found.id, 0);
	assert_int_equal(dealbox_ledger_insertions(l, job, false, keep_insertion, &found), 0);
	assert_int_equal(found.board, 2);
	assert_int_equal(found.copy, 1);
	assert_string_equal(found.machine, "SN1");
	assert_int_equal(found.number, 11);
	assert_int_equal(found.outcome, DEALBOX_LEDGER_EXACT);
	assert_int_equal(found.events, 52);
	assert_true(found.ended_us >= found.begun_us);
	assert_int_equal(dealbox_ledger_get_trace(l, found.id, &events, &count), 0);
	assert_int_equal(count, 52);
	assert_memory_equal(events, make_trace(), 52 * sizeof(*events));
	free(events);

	assert_int_equal(begin_insertion(l, job, 2, 2, "SN1", 12, 1, &insertion), 0);
	memset(&found, 0, sizeof(found));
	assert_int_equal(dealbox_ledger_insertions(l, 0, true, keep_insertion, &found), 0);
	assert_int_equal(found.id, insertion);
	assert_int_equal(dealbox_ledger_get_trace(l, insertion, &events, &count), -ENOENT);
	dealbox_ledger_free(l);
}

/* A later library may know what reserved space means: nothing is recorded without it. */
static void test_reserved(void **state)
{
	static const unsigned int number = 1;
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_insertion insertion =
		new_insertion(make_job(l, "s", 1, 1, 0), 1, 1, "SN1", 1, 7);
	struct dealbox_ledger_new_job new_job = {
		.set = last_job(l).set, .boards = &number, .count = 1,
	};
	struct dealbox_ledger_act act = { .act = DEALBOX_ACT_PAUSE, .job = insertion.job };
	struct dealbox_ledger_board boards[3];
	uint64_t set, job;

	/* the last word of each, the first and the last board, and not the one behind it */
	make_boards(boards, 3, 100);
	boards[2].reserved[3] = boards[0].reserved[3] = 1;
	assert_int_equal(dealbox_ledger_add_set(l, "t", boards, 2, &set, NULL), -EINVAL);
	boards[0].reserved[3] = 0;
	boards[1].reserved[3] = 1;
	assert_int_equal(dealbox_ledger_add_set(l, "t", boards, 2, &set, NULL), -EINVAL);
	assert_non_null(strstr(dealbox_ledger_error(l)->what, "reserved"));
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 2, note_set, NULL), -EINVAL);
	boards[1].reserved[3] = 0;
	assert_int_equal(dealbox_ledger_add_set(l, "t", boards, 2, &set, NULL), 0);

	new_job.reserved[7] = 1;
	assert_int_equal(dealbox_ledger_add_job(l, &new_job, &job, NULL), -EINVAL);
	new_job.reserved[7] = 0;
	assert_int_equal(dealbox_ledger_add_job(l, &new_job, &job, NULL), 0);

	act.reserved[7] = 1;
	assert_int_equal(dealbox_ledger_add_act(l, &act), -EINVAL);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_OPEN);

	insertion.reserved[7] = 1;
	assert_int_equal(dealbox_ledger_begin(l, &insertion), -EINVAL);
	insertion.reserved[7] = 0;
	assert_int_equal(dealbox_ledger_begin(l, &insertion), 0);
	insertion.outcome = DEALBOX_LEDGER_UNKNOWN;
	insertion.reserved[7] = 1;
	assert_int_equal(dealbox_ledger_end(l, &insertion, NULL, 0), -EINVAL);
	insertion.reserved[7] = 0;
	assert_int_equal(dealbox_ledger_end(l, &insertion, NULL, 0), 0);
	act.reserved[7] = 0;
	assert_int_equal(dealbox_ledger_add_act(l, &act), 0);
	dealbox_ledger_free(l);
}

/* Everything that is recorded of an insertion comes back, by member and by name. */
static void test_fields(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 3, 0);
	struct dealbox_ledger_insertion insertion = new_insertion(job, 2, 3, "SN1", 4000000001, 5);
	struct dealbox_ledger_insertion found;
	struct dealbox_ledger_field field;
	const struct {
		const char *name, *text;
		int64_t number;
	} begun[] = {
		{ "job", NULL, (int64_t)job }, { "board", NULL, 2 }, { "copy", NULL, 3 },
		{ "machine", "SN1", 0 }, { "insertion", NULL, 4000000001 }, { "plan", NULL, 5 },
		{ "events", NULL, 0 }, { "ended_us", NULL, 0 },
		{ "outcome", "", DEALBOX_LEDGER_NONE }, { "reason", "", 0 },
		{ "difference_count", NULL, 0 },
	}, ended[] = {
		{ "outcome", "differs", DEALBOX_LEDGER_DIFFERS },
		{ "reason", "jam", DEALBOX_EV_JAM }, { "difference_count", NULL, 6 },
	};
	unsigned int n;

	assert_int_equal(dealbox_ledger_begin(l, &insertion), 0);
	assert_int_not_equal(insertion.id, 0);
	assert_true(insertion.begun_us > 0);
	assert_int_equal(dealbox_ledger_last(l, "SN1", &found), 0);
	assert_memory_equal(&found, &insertion, sizeof(found));
	assert_true(dealbox_ledger_get_field(&found, 0, &field));
	assert_string_equal(field.name, "begun_us");
	assert_null(field.text);
	assert_int_equal(field.number, insertion.begun_us);
	for (n = 0; n < sizeof(begun) / sizeof(begun[0]); n++) {
		assert_true(dealbox_ledger_get_field(&found, n + 1, &field));
		assert_string_equal(field.name, begun[n].name);
		assert_int_equal(field.number, begun[n].number);
		assert_int_equal(!field.text, !begun[n].text);
		if (field.text)
			assert_string_equal(field.text, begun[n].text);
	}
	assert_false(dealbox_ledger_get_field(&found, n + 1, &field));
	assert_false(dealbox_ledger_get_field(&found, n + 2, &field));

	insertion.outcome = DEALBOX_LEDGER_DIFFERS;
	insertion.reason = DEALBOX_EV_JAM;
	insertion.differences = 6;
	assert_int_equal(dealbox_ledger_end(l, &insertion, make_trace(), 51), 0);
	assert_int_equal(dealbox_ledger_last(l, "SN1", &found), 0);
	assert_true(found.ended_us >= insertion.begun_us);
	insertion.ended_us = found.ended_us;
	insertion.events = 51;
	assert_memory_equal(&found, &insertion, sizeof(found));
	for (n = 0; n < sizeof(ended) / sizeof(ended[0]); n++) {
		assert_true(dealbox_ledger_get_field(&found, n + 9, &field));
		assert_string_equal(field.name, ended[n].name);
		assert_int_equal(field.number, ended[n].number);
		if (ended[n].text)
			assert_string_equal(field.text, ended[n].text);
	}
	dealbox_ledger_free(l);
}

/* A name that fills its field has no end, and is not read beyond it. */
static void test_long_machine(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_insertion insertion =
		new_insertion(make_job(l, "s", 1, 1, 0), 1, 1, "", 1, 1), found;

	memset(insertion.machine, 'x', sizeof(insertion.machine));
	assert_int_equal(dealbox_ledger_begin(l, &insertion), -EINVAL);
	insertion.machine[sizeof(insertion.machine) - 1] = '\0';
	assert_int_equal(dealbox_ledger_begin(l, &insertion), 0);
	assert_int_equal(dealbox_ledger_last(l, insertion.machine, &found), 0);
	assert_string_equal(found.machine, insertion.machine);
	dealbox_ledger_free(l);
}

static void test_capture(void **state)
{
	static const unsigned int numbers[] = { 1, 2 };
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job, insertion;

	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = numbers, .count = 2,
				 .copies = 1), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = numbers, .count = 2, .copies = 1,
				 .options = DEALBOX_JOB_CAPTURE), 0);
	/* a capture does not spend the insertion: several may follow one another */
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 4, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, make_trace(),
					    52), -EINVAL);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_CAPTURED, 0, 0,
					    make_trace(), 52), 0);
	assert_int_equal(begin_insertion(l, job, 2, 1, "SN1", 4, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_CAPTURED, 0, 0,
					    make_trace(), 52), 0);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_DONE);
	/* but no deal may: the cards of the original lie in the board, whatever a machine says */
	job = make_job(l, "s", 1, 1, 0);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 4, 1, &insertion), -EALREADY);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN2", 4, 1, &insertion), 0);
	dealbox_ledger_free(l);
}

/* A shuffled pack has no set, and its insertion is spent as that of any deal. */
static void test_law(void **state)
{
	static const unsigned int number = 1;
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	const uint8_t law = 1 + DEALBOX_RULES_PREFERANS, dealer = DEALBOX_ACTOR_SOUTH;
	const unsigned int options = JOB_BY_LAW(law, dealer);
	uint64_t job, insertion, set;

	assert_int_equal(JOB_LAW(options), law);
	assert_int_equal(JOB_DEALER(options), dealer);
	assert_int_equal(options & ~JOB_LAWS, 0);
	make_job(l, "s", 1, 1, 0);
	set = last_job(l).set;
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
				 .copies = 1, .law = law), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
				 .copies = 1, .dealer = DEALBOX_ACTOR_EAST), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = &number, .count = 1, .copies = 1,
				 .law = law, .options = DEALBOX_JOB_CAPTURE), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = &number, .count = 1, .copies = 1,
				 .options = options), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = &number, .count = 1, .copies = 1,
				 .law = DEALBOX_RULES + 1), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = &number, .count = 1, .copies = 1,
				 .law = law, .dealer = DEALBOX_ACTOR_WEST + 1), -EINVAL);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = &number, .count = 1, .copies = 1,
				 .law = DEALBOX_RULES, .dealer = DEALBOX_ACTOR_WEST), 0);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = &number, .count = 1, .copies = 1,
				 .law = law, .dealer = dealer), 0);
	assert_int_equal(last_job(l).law, law);
	assert_int_equal(last_job(l).dealer, dealer);
	assert_int_equal(last_job(l).options, 0);
	assert_int_equal(job_options_of(&(struct dealbox_ledger_job){
		.options = DEALBOX_JOB_REPLAY, .law = law, .dealer = dealer }),
		DEALBOX_JOB_REPLAY | options);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 4, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_CAPTURED, 0, 0,
					    make_trace(), 52), -EINVAL);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, make_trace(),
					    52), 0);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_DONE);
	job = make_job(l, "s", 1, 1, 0);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 4, 1, &insertion), -EALREADY);
	dealbox_ledger_free(l);
}

static int act(struct dealbox_ledger *l, enum dealbox_ledger_act_kind kind, uint64_t job,
	       unsigned int board, unsigned int copy, int64_t value)
{
	struct dealbox_ledger_act a = {
		.act = kind, .uid = 1000, .job = job, .board = board, .copy = copy, .value = value,
	};

	return dealbox_ledger_add_act(l, &a);
}

/*
 * A user who can read the ledger can lock it: others may do neither, not even with a ledger from
 * before that rule.
 */
static void test_closed_to_others(void **state)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	char path[sizeof(f->db) + 8];
	struct stat st;
	size_t n;

	make_job(l, "s", 1, 1, 0);
	for (n = 0; n < 3; n++) {
		snprintf(path, sizeof(path), "%s%s", f->db, files[n]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	dealbox_ledger_free(l);
	chmod(f->db, 0644);
	l = open_ledger(f->db, WRITE);
	assert_int_equal(stat(f->db, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	dealbox_ledger_free(l);
}

/* A job knows who added it, once somebody has been named. */
static void test_user(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	int64_t acts;

	make_job(l, "s", 1, 1, 0);
	assert_int_equal(last_job(l).uid, DEALBOX_UID_NONE);
	dealbox_ledger_user(l, 1000);
	make_job(l, "t", 1, 1, 0);
	assert_int_equal(last_job(l).uid, 1000);
	/* the act of the set, and that of the job: of no single board */
	assert_int_equal(ledger_number(l, &acts, "SELECT count(*) FROM acts WHERE board IS NULL "
						 "AND copy IS NULL AND machine IS NULL", ""), 0);
	assert_int_equal(acts, 2);
	assert_int_equal(ledger_number(l, &acts, "SELECT value FROM acts WHERE job IS NOT NULL",
				       ""), 0);
	assert_int_equal(acts, 0);
	dealbox_ledger_user(l, DEALBOX_UID_NONE);
	make_job(l, "u", 1, 1, 0);
	assert_int_equal(last_job(l).uid, DEALBOX_UID_NONE);
	dealbox_ledger_free(l);
}

static int find_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct dealbox_ledger_insertion *wanted = context;

	if (insertion->number == wanted->number)
		*wanted = *insertion;
	return 0;
}

/* Return the result of dealbox_ledger_counts() for the insertion of SN1 with that number. */
static int counts(struct dealbox_ledger *l, uint32_t number)
{
	struct dealbox_ledger_insertion insertion = { .number = number };

	assert_int_equal(dealbox_ledger_insertions(l, 0, false, find_insertion, &insertion), 0);
	assert_int_not_equal(insertion.id, 0);
	return dealbox_ledger_counts(l, &insertion);
}

static unsigned long steps_of_counts(struct dealbox_ledger *l,
				     const struct dealbox_ledger_insertion *insertion)
{
	unsigned long steps = 0;

	sqlite3_progress_handler(l->db, 1, count_step, &steps);
	assert_int_equal(dealbox_ledger_counts(l, insertion), 1);
	sqlite3_progress_handler(l->db, 0, NULL, NULL);
	return steps;
}

/* Lists ask it for each insertion: it does not search all that was dealt. */
static void test_counts_among_many(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 0, 0);
	struct dealbox_ledger_insertion last;
	unsigned long steps;
	uint32_t n;

	deal_exact(l, job, 1, 1, 1);
	assert_int_equal(dealbox_ledger_last(l, "SN1", &last), 0);
	steps = steps_of_counts(l, &last);
	for (n = 2; n < 100; n++)
		deal_exact(l, job, 1, n, n);
	assert_in_range(steps_of_counts(l, &last), 1, steps + steps / 4);
	dealbox_ledger_free(l);
}

/* Of the insertions of a copy at most one counts: the last exact one, unless it was revoked. */
static void test_counts(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 2, 0), other = make_job(l, "s", 1, 2, 0), insertion;
	struct dealbox_ledger_insertion foreign = {
		.id = 9999, .board = 1, .copy = 1, .outcome = DEALBOX_LEDGER_EXACT
	};

	deal_exact(l, job, 1, 1, 1);
	assert_int_equal(counts(l, 1), 1);
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 1, 1, 0), 0);
	assert_int_equal(counts(l, 1), 0);

	/* while it is dealt again, and after a void, there is none */
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 2, 7, &insertion), 0);
	assert_int_equal(counts(l, 1), 0);
	assert_int_equal(counts(l, 2), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, DEALBOX_EV_JAM, 0,
					    NULL, 0), 0);
	assert_int_equal(counts(l, 1), 0);
	assert_int_equal(counts(l, 2), 0);
	deal_exact(l, job, 1, 1, 3);
	assert_int_equal(counts(l, 1), 0);
	assert_int_equal(counts(l, 2), 0);
	assert_int_equal(counts(l, 3), 1);

	/* other copies, boards and jobs do not matter */
	deal_exact(l, job, 1, 2, 4);
	deal_exact(l, job, 2, 1, 5);
	deal_exact(l, other, 1, 1, 6);
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 1, 2, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 2, 1, 0), 0);
	assert_int_equal(counts(l, 3), 1);
	assert_int_equal(counts(l, 4), 0);
	assert_int_equal(counts(l, 5), 0);
	assert_int_equal(counts(l, 6), 1);

	/* a copy that is recorded cannot be skipped before it is revoked */
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 1, 0), 0);
	assert_int_equal(counts(l, 3), 1);
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 1, 1, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 1, 0), 0);
	assert_int_equal(counts(l, 3), 0);

	/* an insertion of another ledger */
	foreign.job = other;
	assert_int_equal(dealbox_ledger_counts(l, &foreign), 0);
	foreign.job = 9999;
	assert_int_equal(dealbox_ledger_counts(l, &foreign), 0);
	dealbox_ledger_free(l);
}

static void test_acts(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 1, 0), insertion;
	const struct dealbox_ledger_act accept = { .act = DEALBOX_ACT_ACCEPT, .machine = "SN2" };
	unsigned int n;

	assert_int_equal(act(l, DEALBOX_ACT_PAUSE, job, 0, 0, 0), 0);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_PAUSED);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 1, 1, &insertion), -ECANCELED);
	assert_int_equal(act(l, DEALBOX_ACT_RESUME, job, 0, 0, 0), 0);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_OPEN);
	assert_int_equal(act(l, DEALBOX_ACT_PRIORITY, job, 0, 0, 9 + (1LL << 32)), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_PRIORITY, job, 0, 0, -9 - (1LL << 32)), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_PRIORITY, job, 0, 0, -9), 0);
	assert_int_equal(last_job(l).priority, -9);
	assert_int_equal(act(l, DEALBOX_ACT_PRIORITY, job, 0, 0, 9), 0);
	assert_int_equal(last_job(l).priority, 9);

	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 1, 1, &insertion), 0);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 1, 0), -EBUSY);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, make_trace(),
					    52), 0);
	for (n = 2; n <= 4; n++)
		assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, n, 1, 0), 0);
	assert_int_equal(begin_insertion(l, job, 2, 1, "SN1", 2, 1, &insertion), -EEXIST);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_DONE);
	assert_int_equal(last_job(l).recorded, 1);

	/* redeal revokes both a record and a skip */
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 1, 1, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 2, 1, 0), 0);
	assert_int_equal(copy_state(l, job, 1, 1), DEALBOX_LEDGER_COPY_OPEN);
	assert_int_equal(copy_state(l, job, 2, 1), DEALBOX_LEDGER_COPY_OPEN);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_OPEN);
	assert_int_equal(last_job(l).recorded, 0);
	deal_exact(l, job, 1, 1, 5);
	assert_int_equal(copy_state(l, job, 1, 1), DEALBOX_LEDGER_COPY_RECORDED);

	assert_int_equal(act(l, DEALBOX_ACT_CANCEL, job, 0, 0, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_RESUME, job, 0, 0, 0), 0);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_CANCELLED);

	assert_int_equal(act(l, DEALBOX_ACT_PAUSE, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_PAUSE, 9999, 0, 0, 0), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 9, 1, 0), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 9999, 0), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 1, 9999, 0), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 0, 0), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_KINDS, job, 1, 1, 0), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_STOP, 0, 0, 0, 0), 0);

	/* who has dealt is known, and who was accepted */
	assert_int_equal(dealbox_ledger_knows(l, "SN1"), 1);
	assert_int_equal(dealbox_ledger_knows(l, "SN2"), 0);
	assert_int_equal(act(l, DEALBOX_ACT_ACCEPT, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(dealbox_ledger_add_act(l, &accept), 0);
	assert_int_equal(dealbox_ledger_knows(l, "SN2"), 1);
	assert_int_equal(dealbox_ledger_knows(l, "SN"), 0);
	dealbox_ledger_free(l);
}

static int keep_set(const struct dealbox_ledger_set *set, void *context)
{
	*(struct dealbox_ledger_set *)context = *set;
	return 0;
}

static struct dealbox_ledger_set get_set(struct dealbox_ledger *l, uint64_t number)
{
	struct dealbox_ledger_set set = { 0 };

	assert_int_equal(dealbox_ledger_sets(l, number, keep_set, &set), 0);
	return set;
}

static int first_set(const struct dealbox_ledger_set *set, void *context)
{
	*(uint64_t *)context = set->set;
	return 1;
}

static void test_sets_are_played(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "earlier", 1, 1, 0), set = last_job(l).set, other, newest;
	struct dealbox_ledger_set found = get_set(l, set);
	unsigned int n;

	make_job(l, "later", 50, 0, 0);
	other = last_job(l).set;
	assert_int_equal(dealbox_ledger_sets(l, 0, first_set, &newest), 1);
	assert_int_equal(newest, other);
	assert_int_equal(found.set, set);
	assert_string_equal(found.session, "earlier");
	assert_int_equal(found.boards, 4);
	assert_in_range(found.at_us, (uint64_t)(time(NULL) - 3600) * 1000000,
			(uint64_t)(time(NULL) + 1) * 1000000);
	assert_false(found.played);
	assert_int_equal(found.open, 1);
	assert_int_equal(get_set(l, 9999).set, 0);

	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, 9999), -ENOENT);
	/* not another set, of which it has the lower bits */
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (1LL << 32) + (int64_t)set), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)job), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)set), 0);
	assert_true(get_set(l, set).played);
	assert_false(get_set(l, other).played);
	assert_int_equal(act(l, DEALBOX_ACT_UNPLAYED, 0, 0, 0, (int64_t)set), 0);
	assert_false(get_set(l, set).played);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)set), 0);
	assert_true(get_set(l, set).played);

	/* a job is open until its last copy is recorded or skipped; a paused one is open, too */
	assert_int_equal(act(l, DEALBOX_ACT_PAUSE, job, 0, 0, 0), 0);
	assert_int_equal(get_set(l, set).open, 1);
	assert_int_equal(act(l, DEALBOX_ACT_RESUME, job, 0, 0, 0), 0);
	for (n = 1; n <= 3; n++)
		deal_exact(l, job, n, 1, n);
	assert_int_equal(get_set(l, set).open, 1);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 4, 1, 0), 0);
	assert_int_equal(get_set(l, set).open, 0);
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 4, 1, 0), 0);
	assert_int_equal(get_set(l, set).open, 1);
	assert_int_equal(act(l, DEALBOX_ACT_CANCEL, job, 0, 0, 0), 0);
	assert_int_equal(get_set(l, set).open, 0);
	/* a job without a limit never ends by itself */
	assert_int_equal(get_set(l, other).open, 1);
	dealbox_ledger_free(l);
}

/* Adds a set of count deals from make_deal(first). */
static uint64_t make_set(struct dealbox_ledger *l, uint32_t first, unsigned int count)
{
	struct dealbox_ledger_board boards[4];
	uint64_t set;

	make_boards(boards, count, first);
	assert_int_equal(dealbox_ledger_add_set(l, "s", boards, count, &set, NULL), 0);
	return set;
}

/* Returns the set that keeps the deals of this one secret, or 0. */
static uint64_t keeper(struct dealbox_ledger *l, uint64_t set)
{
	uint64_t found = 9999;
	int secret = dealbox_ledger_secret(l, set, &found);

	assert_int_equal(secret, found ? 1 : 0);
	return found;
}

static void test_deals_of_another_set_are_secret(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t first = make_set(l, 1, 4), stranger = make_set(l, 50, 4);
	struct dealbox_ledger_board turned = { .number = 9, .deal = turn(make_deal(2), 1) };
	uint64_t job, second, third, found = 9999;

	assert_int_equal(dealbox_ledger_secret(l, 9999, &found), -ENOENT);
	assert_int_equal(found, 0);
	assert_non_null(strstr(dealbox_ledger_error(l)->what, "there is no set 9999"));
	assert_int_equal(dealbox_ledger_secret(l, 0, &found), -ENOENT);
	assert_int_equal(keeper(l, first), first);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)first), 0);
	assert_int_equal(keeper(l, first), 0);
	assert_int_equal(keeper(l, stranger), stranger);

	/* one deal is enough: here the last of the one is the first of the other */
	second = make_set(l, 4, 4);
	/* and turned deals are the same */
	assert_int_equal(dealbox_ledger_add_set(l, "s", &turned, 1, &third, NULL), 0);
	assert_int_equal(keeper(l, first), second);
	assert_int_equal(keeper(l, second), second);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)second), 0);
	assert_int_equal(keeper(l, first), third);
	/* the third has no deal of the second */
	assert_int_equal(keeper(l, second), 0);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)third), 0);
	assert_int_equal(keeper(l, first), 0);

	/* of several, the set itself is named, then the oldest */
	assert_int_equal(act(l, DEALBOX_ACT_UNPLAYED, 0, 0, 0, (int64_t)third), 0);
	assert_int_equal(act(l, DEALBOX_ACT_UNPLAYED, 0, 0, 0, (int64_t)second), 0);
	assert_int_equal(keeper(l, first), second);
	assert_int_equal(act(l, DEALBOX_ACT_UNPLAYED, 0, 0, 0, (int64_t)first), 0);
	assert_int_equal(keeper(l, first), first);
	assert_int_equal(keeper(l, second), second);
	assert_int_equal(keeper(l, third), third);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)first), 0);
	assert_int_equal(keeper(l, first), second);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)second), 0);
	assert_int_equal(act(l, DEALBOX_ACT_PLAYED, 0, 0, 0, (int64_t)third), 0);
	assert_int_equal(keeper(l, third), 0);

	/* a job that is open keeps the deals secret, whatever the mark says */
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = third, .boards = &turned.number, .count = 1,
				 .copies = 1), 0);
	assert_int_equal(keeper(l, third), third);
	assert_int_equal(keeper(l, first), third);
	assert_int_equal(act(l, DEALBOX_ACT_PAUSE, job, 0, 0, 0), 0);
	assert_int_equal(keeper(l, first), third);
	assert_int_equal(act(l, DEALBOX_ACT_CANCEL, job, 0, 0, 0), 0);
	assert_int_equal(keeper(l, first), 0);
	dealbox_ledger_free(l);
}

static void test_copies_are_added(void **state)
{
	static const unsigned int number = 1;
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t capture, job, insertion;

	assert_int_equal(ADD_JOB(l, &capture, NULL, .boards = &number, .count = 1, .copies = 4,
				 .options = DEALBOX_JOB_CAPTURE), 0);
	job = make_job(l, "s", 1, 2, 0);
	assert_int_equal(begin_insertion(l, job, 1, 3, "SN1", 1, 1, &insertion), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, 2), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, 1), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, -1), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, DEALBOX_BOARD_DEALT_MAX + 1),
			 -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, 0, 0, 0, 3), -EINVAL);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, 9999, 0, 0, 3), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, capture, 0, 0, 5), -EINVAL);
	assert_int_equal(last_job(l).copies, 2);

	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, 3), 0);
	assert_int_equal(last_job(l).copies, 3);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 3, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 4, 0), -ENOENT);
	assert_int_equal(begin_insertion(l, job, 2, 3, "SN1", 1, 1, &insertion), 0);
	assert_int_equal(begin_insertion(l, job, 2, 4, "SN1", 2, 1, &insertion), -ENOENT);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, DEALBOX_BOARD_DEALT_MAX), 0);
	assert_int_equal(last_job(l).copies, DEALBOX_BOARD_DEALT_MAX);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, 0), 0);
	assert_int_equal(last_job(l).copies, 0);
	assert_int_equal(begin_insertion(l, job, 2, 4, "SN1", 2, 1, &insertion), 0);
	assert_int_equal(act(l, DEALBOX_ACT_COPIES, job, 0, 0, 9), -EINVAL);
	dealbox_ledger_free(l);
}

/* ---- damage -------------------------------------------------------------- */

static void keep_damage(const char *sentence, void *context)
{
	char *all = context;

	if (strlen(all) + strlen(sentence) + 2 < 4096)
		strcat(strcat(all, sentence), "\n");
}

/* A ledger with a bit of everything, closed. */
static void make_history(const char *path)
{
	static const char *const machines[] = { "SN1", NULL };
	struct dealbox_ledger *l = open_ledger(path, CREATE);
	uint64_t job, insertion;
	unsigned int n;

	make_job_for(l, machines);
	job = make_job(l, "monday", 1, 2, 0);
	for (n = 1; n <= 4; n++)
		deal_exact(l, job, n, 1, n);
	assert_int_equal(begin_insertion(l, job, 1, 2, "SN1", 5, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, DEALBOX_EV_JAM, 0,
					    NULL, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 2, 0), 0);
	dealbox_ledger_free(l);
}

/*
 * Deeds of someone who may write the file, and the words that name them. Where the
 * last records are touched, opening finds it already.
 */
static void test_tampered(void **state)
{
	static const struct {
		const char *sql;
		const char *words;
	} deeds[] = {
		{ "UPDATE verdicts SET outcome = 3 WHERE seq = (SELECT min(seq) FROM verdicts)",
		  "in verdicts, or the one before it, was changed" },
		{ "UPDATE boards SET number = 77 WHERE number = 2", "in boards" },
		{ "UPDATE acts SET uid = 0", "in acts" },
		{ "DROP TRIGGER job_machines_no_update; UPDATE job_machines SET machine = 'SN2'",
		  "in job_machines" },
		{ "PRAGMA foreign_keys = OFF; DELETE FROM insertions WHERE copy = 2",
		  "is gone from insertions" },
		{ "PRAGMA foreign_keys = OFF; DELETE FROM insertions WHERE copy = 2",
		  ": names a record of insertions that is not there" },
		/* the next ones are still there */
		{ "PRAGMA foreign_keys = OFF; DELETE FROM insertions WHERE insertion = 1",
		  "is gone from insertions" },
		{ "DROP INDEX insertions_once; DROP TRIGGER insertions_no_update; UPDATE "
		  "insertions SET insertion = 2 WHERE insertion = 3",
		  "insertion 2 of machine SN1 was dealt 2 times" },
		{ "DELETE FROM chain WHERE seq = 5", "records 5 to 5 are gone" },
		{ "UPDATE chain SET hash = randomblob(32) WHERE seq = 3", "was changed" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE chain SET hash = x'' WHERE seq = 3",
		  "the hash of record 3 was changed" },
		{ "UPDATE chain SET kind = 42 WHERE seq = 3", "of no known kind" },
		{ "UPDATE chain SET kind = 12 WHERE seq = 3", "of no known kind" },
		{ "INSERT INTO acts SELECT 9999, at, uid, act, job, board, copy, value, machine "
		  "FROM acts", "was added past the chain" },
	};
	struct folder *f = *state;
	char sql[512], found[4096], error[512], *sound, *gone;
	struct dealbox_ledger *l;
	size_t n, size;
	int err;

	make_history(f->db);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	sound = slurp(f->db, &size);
	for (n = 0; n < COUNT(deeds); n++) {
		spit(f->db, sound, size);
		snprintf(sql, sizeof(sql), "DROP TRIGGER verdicts_no_update; "
			 "DROP TRIGGER boards_no_update; DROP TRIGGER acts_no_update; "
			 "DROP TRIGGER insertions_no_delete; DROP TRIGGER chain_no_delete; "
			 "DROP TRIGGER chain_no_update; %s", deeds[n].sql);
		tamper(f->db, sql);
		err = try_open(f->db, WRITE, error);
		if (err) {
			assert_int_equal(err, -EUCLEAN);
			assert_non_null(strstr(error, "is damaged ("));
		}
		/* opening fails; the contents can still be inspected */
		l = dealbox_ledger_new();
		err = dealbox_ledger_open(l, f->db, 0);
		assert_true(!err || err == -EUCLEAN);
		found[0] = '\0';
		assert_int_equal(dealbox_ledger_verify(l, NULL, keep_damage, found, NULL),
				 -EUCLEAN);
		if (!strstr(found, deeds[n].words))
			fail_msg("%s: found only: %s", deeds[n].sql, found);
		gone = strstr(found, "is gone from");
		if (gone)
			assert_null(strstr(gone + 1, "is gone from"));
		dealbox_ledger_free(l);
	}
	/* and untouched it is sound */
	spit(f->db, sound, size);
	l = open_ledger(f->db, 0);
	found[0] = '\0';
	assert_int_equal(dealbox_ledger_verify(l, NULL, keep_damage, found, NULL), 0);
	assert_string_equal(found, "");
	dealbox_ledger_free(l);
	free(sound);
}

static unsigned int mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int lines = 0;
	int byte;

	while ((byte = getc(maps)) != EOF)
		lines += byte == '\n';
	fclose(maps);
	return lines;
}

/* Locked memory is taken outside of the heap, where no sanitizer looks for leaks. */
static void test_memory_is_given_back(void **state)
{
	struct folder *f = *state;
	unsigned int before, n;

	dealbox_ledger_free(open_ledger(f->db, CREATE));
	before = mappings();
	for (n = 0; n < 20; n++)
		dealbox_ledger_free(open_ledger(f->db, 0));
	assert_true(mappings() < before + 20);
}

/* Old damage is found before anything is written, wherever it is. */
static void test_whole_is_checked(void **state)
{
	static const char *const deeds[] = {
		"DROP TRIGGER sets_no_update; UPDATE sets SET session = 'x' WHERE seq = 1",
		"DROP TRIGGER boards_no_delete; PRAGMA foreign_keys = OFF; "
		"DELETE FROM boards WHERE seq = 2",
		/* an index that lacks a row: a repeat would not be found */
		("PRAGMA writable_schema = ON; UPDATE sqlite_schema "
		 "SET sql = 'CREATE INDEX insertions_copy ON insertions (copy, number, job)' "
		 "WHERE name = 'insertions_copy'"),
	};
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char *sound, *bad, *after;
	size_t n, size, now, then;
	char error[512];
	uint64_t job;

	l = open_ledger(f->db, CREATE);
	job = make_job(l, "s", 1, 0, 0);
	for (n = 1; n <= 60; n++)
		deal_exact(l, job, 1, n, n);
	dealbox_ledger_free(l);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	sound = slurp(f->db, &size);
	for (n = 0; n < COUNT(deeds); n++) {
		spit(f->db, sound, size);
		tamper(f->db, deeds[n]);
		bad = slurp(f->db, &now);
		assert_int_equal(try_open(f->db, WRITE, error), -EUCLEAN);
		assert_non_null(strstr(error, "is damaged ("));
		after = slurp(f->db, &then);
		assert_int_equal(now, then);
		assert_memory_equal(bad, after, now);
		free(bad);
		free(after);
	}
	free(sound);
}

/* The end cut off cleanly: only a head that was kept elsewhere can tell. */
static void test_cut_off(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger_head head;
	struct dealbox_ledger *l;
	char found[4096] = "";

	make_history(f->db);
	l = open_ledger(f->db, 0);
	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	assert_int_equal(dealbox_ledger_verify(l, &head, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
	tamper(f->db, "DROP TRIGGER acts_no_delete; DROP TRIGGER chain_no_delete; "
	       "DELETE FROM acts; DELETE FROM chain WHERE seq = (SELECT max(seq) FROM chain)");
	l = open_ledger(f->db, 0);
	assert_int_equal(dealbox_ledger_verify(l, &head, keep_damage, found, NULL), -EUCLEAN);
	assert_non_null(strstr(found, "cut off"));
	/* the file beside it has noted that head */
	*found = '\0';
	assert_int_equal(dealbox_ledger_verify(l, NULL, keep_damage, found, NULL), -EUCLEAN);
	assert_non_null(strstr(found, "cut off"));
	dealbox_ledger_free(l);
	assert_int_equal(try_open(f->db, WRITE, NULL), -ESTALE);
	/* without both it is a sound ledger */
	unlink(f->heads);
	l = open_ledger(f->db, 0);
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
}

/* Records are never changed through SQL while the triggers are there. */
static void test_records_are_fixed(void **state)
{
	static const char *const tables[] = { "ledger", "chain", "sets", "boards", "jobs",
		"job_boards", "job_machines", "insertions", "traces", "verdicts", "acts" };
	struct folder *f = *state;
	char sql[128];
	sqlite3 *db;
	size_t n;

	make_history(f->db);
	assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
	for (n = 0; n < COUNT(tables); n++) {
		snprintf(sql, sizeof(sql), "DELETE FROM %s", tables[n]);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_CONSTRAINT);
		snprintf(sql, sizeof(sql), "UPDATE %s SET rowid = rowid + 1000", tables[n]);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_CONSTRAINT);
	}
	sqlite3_close(db);
}

/*
 * Bytes of the file gone bad, at random: either it is found, or nothing that the
 * ledger says has changed; and the file is what it was.
 */
static void test_rotten_disk(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char *sound, *bad, *after, *before, *text;
	unsigned int n, k, found = 0;
	size_t size, now, at;
	int err;

	make_history(f->db);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	l = open_ledger(f->db, 0);
	before = export(l, &err);
	assert_int_equal(err, 0);
	dealbox_ledger_free(l);
	sound = slurp(f->db, &size);
	bad = malloc(size);
	for (n = 0; n < 300; n++) {
		memcpy(bad, sound, size);
		seed = n * 2654435761u;
		at = draw(size);
		for (k = 0; k < 16 && at + k < size; k++)
			bad[at + k] ^= 1 + draw(255);
		spit(f->db, bad, size);

		l = dealbox_ledger_new();
		err = dealbox_ledger_open(l, f->db, 0);
		if (!err)
			err = dealbox_ledger_verify(l, NULL, NULL, NULL, NULL);
		if (err) {
			found++;
		} else {
			text = export(l, &err);
			assert_int_equal(err, 0);
			assert_string_equal(text, before);
			free(text);
		}
		dealbox_ledger_free(l);
		after = slurp(f->db, &now);
		assert_int_equal(now, size);
		assert_memory_equal(after, bad, size);
		free(after);
	}
	assert_true(found > 30);
	free(before);
	free(sound);
	free(bad);
}

/* A ledger after a power cut: the last records are in the WAL only. */
static void make_crashed(const char *path)
{
	struct dealbox_ledger *l;
	unsigned int n;
	uint64_t job;
	pid_t pid;

	make_history(path);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		l = dealbox_ledger_new();
		if (dealbox_ledger_open(l, path, WRITE))
			_exit(1);
		job = make_job(l, "tuesday", 100, 1, 0);
		for (n = 1; n <= 4; n++)
			deal_exact(l, job, n, 1, 1000 + n);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

/* The same, killed when a job had just been made: no board of it has been recorded. */
static void make_crashed_in_a_job(const char *path)
{
	struct dealbox_ledger *l;
	unsigned int n;
	pid_t pid;

	make_history(path);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		l = dealbox_ledger_new();
		if (dealbox_ledger_open(l, path, WRITE))
			_exit(1);
		for (n = 0; n < 10; n++)
			make_job(l, "tuesday", 100 + 10 * n, 1, 0);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

/* The files of a ledger, in memory. */
struct files {
	char *db, *wal;
	size_t db_size, wal_size;
};

static void files_read(const char *db, struct files *files)
{
	char wal[80];

	snprintf(wal, sizeof(wal), "%s-wal", db);
	files->db = slurp(db, &files->db_size);
	files->wal = slurp(wal, &files->wal_size);
}

static void files_write(const char *db, const struct files *files)
{
	char path[80];

	spit(db, files->db, files->db_size);
	snprintf(path, sizeof(path), "%s-wal", db);
	spit(path, files->wal, files->wal_size);
	snprintf(path, sizeof(path), "%s-shm", db);
	unlink(path);
}

static void files_same(const char *db, const struct files *files)
{
	struct files now;

	files_read(db, &now);
	assert_int_equal(now.db_size, files->db_size);
	assert_memory_equal(now.db, files->db, now.db_size);
	assert_int_equal(now.wal_size, files->wal_size);
	assert_memory_equal(now.wal, files->wal, now.wal_size);
	free(now.db);
	free(now.wal);
}

/*
 * The same to the service, which opens it to write, and after a crash: one that is refused is
 * left as it is, file by file, with what the WAL holds.
 */
static void test_rotten_disk_after_a_crash(void **state)
{
	struct folder *f = *state;
	struct files sound, bad;
	unsigned int n, k, found = 0;
	char error[512], *in;
	size_t size, at;

	make_crashed(f->db);
	files_read(f->db, &sound);
	assert_true(sound.wal_size > 4096);
	bad = sound;
	bad.db = malloc(sound.db_size);
	bad.wal = malloc(sound.wal_size);
	for (n = 0; n < 200; n++) {
		memcpy(bad.db, sound.db, sound.db_size);
		memcpy(bad.wal, sound.wal, sound.wal_size);
		seed = n * 2654435761u;
		in = n % 2 ? bad.wal : bad.db;
		size = n % 2 ? bad.wal_size : bad.db_size;
		at = draw(size);
		for (k = 0; k < 16 && at + k < size; k++)
			in[at + k] ^= 1 + draw(255);
		files_write(f->db, &bad);
		if (!try_open(f->db, WRITE, error))
			continue;
		found++;
		assert_non_null(strstr(error, f->db));
		files_same(f->db, &bad);
	}
	assert_true(found > 5);
	files_write(f->db, &sound);
	assert_int_equal(try_open(f->db, WRITE, error), 0);
	free(bad.db);
	free(bad.wal);
	free(sound.db);
	free(sound.wal);
}

/*
 * A truncated or missing WAL may leave a ledger that is sound up to some record. The head beside it
 * shows that the rest is missing, so nothing is dealt again.
 */
static void test_cut_wal(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger_head noted, now;
	struct files sound, cut;
	unsigned int n, older = 0;
	struct dealbox_ledger *l;
	char wal[80], error[512];
	int err;

	make_crashed_in_a_job(f->db);
	files_read(f->db, &sound);
	l = open_ledger(f->db, 0);
	dealbox_ledger_get_head(l, &noted);
	dealbox_ledger_free(l);
	snprintf(wal, sizeof(wal), "%s-wal", f->db);
	for (n = 0; n <= 40; n++) {
		cut = sound;
		cut.wal_size = sound.wal_size * n / 40;
		files_write(f->db, &cut);
		if (!n)
			unlink(wal);
		err = try_open(f->db, WRITE, error);
		if (err) {
			assert_true(err == -ESTALE || err == -EUCLEAN);
			older += err == -ESTALE;
			continue;
		}
		/* nothing of it was missing */
		l = open_ledger(f->db, 0);
		dealbox_ledger_get_head(l, &now);
		dealbox_ledger_free(l);
		assert_memory_equal(&now, &noted, sizeof(now));
	}
	assert_int_equal(err, 0);
	assert_true(older > 5);
	free(sound.db);
	free(sound.wal);
}

static int count_outcome(const struct dealbox_ledger_insertion *i, void *context)
{
	unsigned int *counts = context;

	counts[i->outcome]++;
	return 0;
}

/* An older ledger in the place of the newer: refused, until somebody decides to go on with it. */
static void test_restored(void **state)
{
	unsigned int boards = 0, counts[6] = { 0 };
	struct dealbox_ledger_insertion last;
	struct folder *f = *state;
	struct dealbox_ledger *l;
	struct dealbox_deal deal;
	int64_t accepted;
	uint64_t job, other, restored, insertion;
	char error[512], *old;
	int64_t known;
	size_t size;

	l = open_ledger(f->db, CREATE);
	job = make_job(l, "monday", 1, 1, 0);
	deal_exact(l, job, 1, 1, 41);
	assert_int_equal(dealbox_ledger_backup(l, f->other), 0);
	assert_int_equal(dealbox_ledger_restored(l, &restored), 0);
	assert_int_equal(restored, 0);
	deal_exact(l, job, 2, 1, 42);
	dealbox_ledger_free(l);

	old = slurp(f->other, &size);
	spit(f->db, old, size);
	free(old);
	assert_int_equal(try_open(f->db, WRITE, error), -ESTALE);
	assert_non_null(strstr(error, "accept-restore"));
	assert_int_equal(try_open(f->db, WRITE | DEALBOX_LEDGER_RESTORED, error), 0);
	/* to look at it was not yet to accept it */
	assert_int_equal(try_open(f->db, WRITE, error), -ESTALE);

	l = open_ledger(f->db, WRITE | DEALBOX_LEDGER_RESTORED);
	accepted = (int64_t)time(NULL) * 1000000;
	assert_int_equal(dealbox_ledger_accept_restore(l, 1000, &boards), 0);
	assert_int_equal(boards, 3);
	/* a backup has none */
	snprintf(error, sizeof(error), "%s-wal", f->db);
	assert_int_equal(access(error, F_OK), 0);
	dealbox_ledger_free(l);
	l = open_ledger(f->db, WRITE);
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	assert_int_equal(last_job(l).state, DEALBOX_LEDGER_JOB_PAUSED);
	assert_int_equal(dealbox_ledger_insertions(l, job, false, count_outcome, counts), 0);
	assert_int_equal(counts[DEALBOX_LEDGER_EXACT], 1);
	assert_int_equal(counts[DEALBOX_LEDGER_UNKNOWN], 3);
	/* of a plan and a reason that nobody knows, and of the whole job */
	assert_int_equal(ledger_number(l, &known, "SELECT count(*) FROM insertions i JOIN verdicts "
						  "v ON v.insertion = i.seq WHERE machine LIKE "
						  "'(%' AND plan = 0 AND capture = 0 AND reason = "
						  "0 AND differences = 0 AND trace IS NULL",
						  ""), 0);
	assert_int_equal(known, 3);
	/* begun and ended when the restore was accepted */
	assert_int_equal(ledger_number(l, &known, "SELECT count(*) FROM insertions i JOIN verdicts "
						  "v ON v.insertion = i.seq WHERE machine LIKE "
						  "'(%' AND i.at BETWEEN ?1 AND ?2 AND v.at "
						  "BETWEEN ?1 AND ?2", "ii", accepted,
				       ((int64_t)time(NULL) + 1) * 1000000), 0);
	assert_int_equal(known, 3);
	assert_int_equal(ledger_number(l, &known,
				       "SELECT count(*) FROM acts WHERE act = ? AND "
				       "board IS NULL AND copy IS NULL AND value = 0",
				       "i", (int64_t)DEALBOX_ACT_PAUSE), 0);
	assert_int_equal(known, 1);
	/* what the machine dealt since is not known */
	assert_int_equal(dealbox_ledger_restored(l, &restored), 0);
	assert_int_equal(dealbox_ledger_last(l, "SN1", &last), 0);
	assert_true(last.id < restored);
	/* a deal that may have been dealt is a repeat for another session */
	deal = make_deal(2);
	assert_int_equal(dealbox_ledger_find_repeat(l, "tuesday", &deal, NULL), 1);
	/* and it can be dealt again when somebody says so */
	assert_int_equal(begin_insertion(l, job, 2, 1, "SN1", 43, 1, &insertion), -ECANCELED);
	assert_int_equal(act(l, DEALBOX_ACT_RESUME, job, 0, 0, 0), 0);
	deal_exact(l, job, 2, 1, 43);
	/* a job without limit, and one that is done or cancelled */
	other = make_job(l, "wednesday", 100, 0, 0);
	deal_exact(l, other, 1, 1, 44);
	assert_int_equal(act(l, DEALBOX_ACT_CANCEL, job, 0, 0, 0), 0);
	assert_int_equal(dealbox_ledger_accept_restore(l, 1000, &boards), 0);
	assert_int_equal(boards, 4);
	assert_int_equal(copy_state(l, other, 1, 1), DEALBOX_LEDGER_COPY_RECORDED);
	dealbox_ledger_free(l);
}

/* The heads themselves: the last complete line counts, whatever a power cut left after it. */
static void test_heads(void **state)
{
	static const char *const tails[] = { "", "99:ab", "\n99:ab\n", "99:\n\n", "x\n",
					     "-1:00\n" };
	char text[DEALBOX_LEDGER_HEAD_TEXT], *heads, *more, error[512];
	struct dealbox_ledger_head head, parsed;
	struct folder *f = *state;
	struct dealbox_ledger *l;
	size_t size, n;

	make_history(f->db);
	l = open_ledger(f->db, 0);
	dealbox_ledger_get_head(l, &head);
	dealbox_ledger_free(l);
	dealbox_ledger_head_format(&head, text);
	assert_int_equal(dealbox_ledger_head_parse(text, &parsed), 0);
	assert_memory_equal(&parsed, &head, sizeof(head));
	for (n = 0; n < strlen(text); n++) {
		more = strndup(text, n);
		assert_int_equal(dealbox_ledger_head_parse(more, &parsed), -EINVAL);
		free(more);
	}
	heads = slurp(f->heads, &size);
	assert_non_null(strstr(heads, text));
	for (n = 0; n < COUNT(tails); n++) {
		assert_true(asprintf(&more, "%s%s", heads, tails[n]) > 0);
		spit(f->heads, more, strlen(more));
		free(more);
		assert_int_equal(try_open(f->db, WRITE, error), 0);
	}
	/* zeros, and a line behind them */
	more = calloc(1, size + 200);
	memcpy(more, heads, size);
	/* another digit, which is still one */
	text[strlen(text) - 1] = text[strlen(text) - 1] == '0' ? '1' : '0';
	memcpy(more + size + 50, text, strlen(text));
	more[size + 50 + strlen(text)] = '\n';
	spit(f->heads, more, size + 51 + strlen(text));
	free(more);
	assert_int_equal(try_open(f->db, WRITE, error), -ESTALE);
	/* a head that this ledger never had */
	assert_true(asprintf(&more, "%s\n%s\n", heads, text) > 0);
	spit(f->heads, more, strlen(more));
	free(more);
	assert_int_equal(try_open(f->db, WRITE, error), -ESTALE);
	assert_non_null(strstr(error, "gone on elsewhere"));
	free(heads);
	/* it does not grow without end: 64 KiB are begun anew */
	more = malloc(65536);
	memset(more, '\n', 65536);
	spit(f->heads, more, 65535);
	dealbox_ledger_free(open_ledger(f->db, WRITE));
	free(slurp(f->heads, &size));
	assert_true(size > 65536);
	spit(f->heads, more, 65536);
	/* an attempt that a power cut ended */
	snprintf(error, sizeof(error), "%s.new", f->heads);
	spit(error, "", 0);
	dealbox_ledger_free(open_ledger(f->db, WRITE));
	free(slurp(f->heads, &size));
	assert_true(size < 200);
	free(more);
	more = calloc(1, 1 << 20);
	memset(more, '\n', 1 << 20);
	spit(f->heads, more, 1 << 20);
	free(more);
	dealbox_ledger_free(open_ledger(f->db, WRITE));
	heads = slurp(f->heads, &size);
	assert_true(size < 200);
	free(heads);
	/* to begin anew is to move all of them away */
	unlink(f->db);
	unlink(f->key);
	assert_int_equal(try_open(f->db, CREATE, error), -EUCLEAN);
	assert_non_null(strstr(error, "move that away, too"));
}

/* A link in the place of a file beside the ledger, which root may open for the service. */
static void test_links(void **state)
{
	static const char *const sides[] = { "-wal", "-shm", ".heads", ".heads.new" };
	static const char other[] = "a file of somebody else\n";
	char path[80], error[512], *data;
	struct folder *f = *state;
	struct stat file;
	size_t size, n;

	make_history(f->db);
	for (n = 0; n < COUNT(sides); n++) {
		spit(f->other, other, strlen(other));
		chmod(f->other, 0644);
		snprintf(path, sizeof(path), "%s%s", f->db, sides[n]);
		if (!strcmp(sides[n], ".heads.new")) {
			/* one that is rewritten because it has grown */
			unlink(f->heads);
			data = calloc(1, 1 << 20);
			memset(data, '\n', 1 << 20);
			spit(f->heads, data, 1 << 20);
			free(data);
		}
		unlink(path);
		assert_int_equal(symlink(f->other, path), 0);
		try_open(f->db, WRITE, error);
		data = slurp(f->other, &size);
		assert_string_equal(data, other);
		free(data);
		assert_int_equal(stat(f->other, &file), 0);
		assert_int_equal(file.st_mode & 0777, 0644);
		unlink(path);
	}
	spit(f->heads, "", 0);
	dealbox_ledger_free(open_ledger(f->db, WRITE));
}

/* A crash leaves a WAL. It is not taken for that of another ledger, and not lost for it. */
static void test_wal_of_another(void **state)
{
	char wal[80], kept[80], error[512], *data, *after;
	struct folder *f = *state;
	size_t size, after_size;
	pid_t pid;
	int status;

	pid = fork();
	if (!pid) {
		struct dealbox_ledger *l = open_ledger(f->db, CREATE);

		deal_exact(l, make_job(l, "monday", 1, 1, 0), 1, 1, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(wal, sizeof(wal), "%s-wal", f->db);
	data = slurp(wal, &size);
	assert_true(size > 0);

	/* what begins anew moves all but that away */
	snprintf(kept, sizeof(kept), "%s.old", f->db);
	assert_int_equal(rename(f->db, kept), 0);
	assert_int_equal(unlink(f->key), 0);
	assert_int_equal(unlink(f->heads), 0);
	assert_int_equal(try_open(f->db, CREATE, error), -EUCLEAN);
	assert_non_null(strstr(error, "ledger-wal is there"));
	assert_int_equal(access(f->db, F_OK), -1);
	after = slurp(wal, &after_size);
	assert_int_equal(after_size, size);
	assert_memory_equal(after, data, size);
	free(after);
	free(data);

	unlink(wal);
	dealbox_ledger_free(open_ledger(f->db, CREATE));
}

/* `cp` of the file while it is written to: a copy is sound up to some board, or it is refused. */
static void test_copied_while_open(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE), *copy;
	uint64_t job = make_job(l, "s", 1, 0, 0);
	unsigned int n, counts[6];
	char key[80], *data;
	size_t size;

	snprintf(key, sizeof(key), "%s.key", f->other);
	data = slurp(f->key, &size);
	spit(key, data, size);
	free(data);
	chmod(key, 0600);
	for (n = 1; n <= 10; n++) {
		deal_exact(l, job, 1, n, n);
		data = slurp(f->db, &size);
		spit(f->other, data, size);
		free(data);
		copy = open_ledger(f->other, 0);
		assert_int_equal(dealbox_ledger_verify(copy, NULL, NULL, NULL, NULL), 0);
		memset(counts, 0, sizeof(counts));
		dealbox_ledger_insertions(copy, 0, false, count_outcome, counts);
		/* .. with every board that was recorded */
		assert_int_equal(counts[DEALBOX_LEDGER_EXACT], n);
		dealbox_ledger_free(copy);
	}
	dealbox_ledger_free(l);
}

/*
 * The same at every point of a write: a ledger that is not refused is a state that the ledger once
 * had.
 */
static void test_copied_while_written(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE), *copy;
	uint64_t job = make_job(l, "s", 1, 0, 0);
	struct dealbox_ledger_head head[200];
	bool ended = false;
	unsigned int n, good = 0;
	char key[80], *data;
	size_t size;
	pid_t pid;

	dealbox_ledger_free(l);
	snprintf(key, sizeof(key), "%s.key", f->other);
	data = slurp(f->key, &size);
	spit(key, data, size);
	free(data);
	chmod(key, 0600);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		l = dealbox_ledger_new();
		if (dealbox_ledger_open(l, f->db, WRITE))
			_exit(1);
		for (n = 1; n <= 40; n++)
			deal_exact(l, job, 1, n, n);
		_exit(0);
	}
	/* the last copy is made after the writer's end, so at least one is whole */
	while (!ended && good < COUNT(head)) {
		ended = waitpid(pid, NULL, WNOHANG) == pid;
		data = slurp(f->db, &size);
		spit(f->other, data, size);
		free(data);
		copy = dealbox_ledger_new();
		if (!dealbox_ledger_open(copy, f->other, 0) &&
		    !dealbox_ledger_verify(copy, NULL, NULL, NULL, NULL))
			assert_int_equal(dealbox_ledger_get_head(copy, &head[good++]), 0);
		dealbox_ledger_free(copy);
	}
	if (!ended)
		waitpid(pid, NULL, 0);
	l = open_ledger(f->db, WRITE);
	for (n = 0; n < good; n++)
		assert_int_equal(dealbox_ledger_verify(l, &head[n], NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
	assert_true(good);
}

/* Takes away what lets root do anything to any file. */
static void become_ordinary(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	if (syscall(SYS_capset, &head, none))
		_exit(99);
}

/* Nobody may write in the folder: that is said, of the folder too, and not that it is damaged. */
static void test_read_only_folder(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char *before, *after;
	size_t size, now;
	int status;
	pid_t pid;

	make_history(f->db);
	before = slurp(f->db, &size);
	assert_int_equal(chmod(f->db, 0400), 0);
	assert_int_equal(chmod(f->path, 0500), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		become_ordinary();
		l = dealbox_ledger_new();
		if (!dealbox_ledger_open(l, f->db, WRITE) ||
		    !strstr(dealbox_ledger_error(l)->what, f->db) ||
		    !strstr(dealbox_ledger_error(l)->what, "may not be "))
			_exit(1);
		dealbox_ledger_free(l);
		l = dealbox_ledger_new();
		if (dealbox_ledger_open(l, f->db, 0) != -EACCES ||
		    !strstr(dealbox_ledger_error(l)->what,
			    "the file, or its folder, is closed to this user"))
			_exit(2);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(chmod(f->path, 0700), 0);
	assert_int_equal(status, 0);
	after = slurp(f->db, &now);
	assert_int_equal(now, size);
	assert_memory_equal(after, before, size);
	free(before);
	free(after);
}

/*
 * The disk is full at any moment: this is reported, acknowledged records are there, and once there
 * is space the same ledger continues.
 */
static void test_full_disk(void **state)
{
	struct folder *f = *state;
	struct rlimit all, some;
	struct dealbox_ledger *l;
	unsigned int n, full = 0, copy = 0, last = 0;
	struct stat st;
	uint64_t job, insertion;
	char wal[80];
	int err;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	l = open_ledger(f->db, CREATE);
	job = make_job(l, "monday", 1, 0, 0);
	snprintf(wal, sizeof(wal), "%s-wal", f->db);
	for (n = 0; n < 60; n++) {
		assert_int_equal(stat(wal, &st), 0);
		some = all;
		some.rlim_cur = st.st_size + 517 * n;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &some), 0);
		copy++;
		err = begin_insertion(l, job, 1, copy, "SN1", copy, 7, &insertion);
		if (!err) {
			err = end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0,
						 make_trace(), DEALBOX_CARDS);
			if (!err)
				last = copy;
		}
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
		if (err) {
			full++;
			assert_non_null(strstr(dealbox_ledger_error(l)->what, f->db));
			/* not half of it */
			assert_int_not_equal(copy_state(l, job, 1, copy),
					     DEALBOX_LEDGER_COPY_RECORDED);
		}
		assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	}
	assert_true(full > 5 && last);
	copy++;
	deal_exact(l, job, 1, copy, copy);
	dealbox_ledger_free(l);
	l = open_ledger(f->db, 0);
	assert_int_equal(copy_state(l, job, 1, copy), DEALBOX_LEDGER_COPY_RECORDED);
	assert_int_equal(copy_state(l, job, 1, last), DEALBOX_LEDGER_COPY_RECORDED);
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
	signal(SIGXFSZ, SIG_DFL);
}

/* ---- export, backup, secrecy, crashes ------------------------------------ */

static void test_export(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger_head head;
	struct dealbox_ledger *l;
	char *text, *line, *rest;
	unsigned int lines = 0;
	char want[32];
	int err;

	make_history(f->db);
	l = open_ledger(f->db, 0);
	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	text = export(l, &err);
	assert_int_equal(err, 0);
	assert_non_null(strstr(text, "\"outcome\":\"exact\""));
	assert_non_null(strstr(text, "\"act\":\"skip\""));
	assert_non_null(strstr(text, "\"capture\":false"));
	assert_null(strstr(text, "sealed"));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		snprintf(want, sizeof(want), "{\"number\":%u,", ++lines);
		assert_memory_equal(line, want, strlen(want));
	}
	assert_int_equal(lines, head.record);
	free(text);
	dealbox_ledger_free(l);
}

/* The hash of a record covers every column of its table, and the page names each of them. */
static void test_columns(void **state)
{
	struct folder *f = *state;
	const struct ledger_column *column;
	char sql[256], names[LEDGER_SQL];
	enum ledger_kind kind;
	sqlite3_stmt *stmt;
	sqlite3 *db;

	make_history(f->db);
	assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
	for (kind = LEDGER_SET; kind < LEDGER_KINDS; kind++) {
		snprintf(sql, sizeof(sql),
			 "SELECT group_concat(name, ', ') FROM pragma_table_info('%s') "
			 "WHERE name <> 'seq'", ledger_tables[kind].name);
		assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
		assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
		ledger_columns(kind, names);
		assert_string_equal(names, (const char *)sqlite3_column_text(stmt, 0));
		sqlite3_finalize(stmt);
		for (column = ledger_tables[kind].columns; column->name; column++)
			assert_true(column->about && *column->about);
	}
	sqlite3_close(db);
}

/* Each member of an insertion but its id has one column, and fits it. */
static void test_places_of_fields(void **state)
{
	uint8_t seen[sizeof(struct dealbox_ledger_insertion)] = { 0 };
	const struct ledger_column *column = NULL;
	enum ledger_kind kind;
	size_t n, unseen = 0;

	(void)state;
	while ((column = ledger_next_field(column, &kind))) {
		const struct ledger_field *field = &column->field;

		assert_non_null(strchr("ntoe", field->form));
		if (field->form != 't')
			assert_true(field->size == 4 || field->size == 8);
		for (n = 0; n < field->size; n++)
			assert_int_equal(seen[field->offset + n]++, 0);
	}
	for (n = 0; n < offsetof(struct dealbox_ledger_insertion, reserved); n++)
		unseen += !seen[n];
	assert_int_equal(unseen, sizeof(uint64_t));
	for (; n < sizeof(seen); n++)
		assert_int_equal(seen[n], 0);
}

static void test_names_of_outcomes(void **state)
{
	static const char *const names[] = {
		[DEALBOX_LEDGER_NONE] = "", [DEALBOX_LEDGER_EXACT] = "exact",
		[DEALBOX_LEDGER_DIFFERS] = "differs", [DEALBOX_LEDGER_VOID] = "void",
		[DEALBOX_LEDGER_UNKNOWN] = "unknown", [DEALBOX_LEDGER_CAPTURED] = "captured", "?",
	};
	enum dealbox_ledger_outcome n;

	(void)state;
	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		assert_string_equal(dealbox_ledger_outcome_name(n), names[n]);
}

static void test_backup(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char key[80], *before, *after;
	size_t size;
	int err;

	make_history(f->db);
	l = open_ledger(f->db, WRITE);
	before = export(l, &err);
	assert_int_equal(dealbox_ledger_backup(l, f->other), 0);
	assert_int_equal(dealbox_ledger_backup(l, f->other), -EEXIST);
	assert_int_equal(dealbox_ledger_backup(l, "/nonexistent/backup"), -ENOENT);
	dealbox_ledger_free(l);

	/* with the key it is a ledger like any other, and can be continued */
	snprintf(key, sizeof(key), "%s.key", f->other);
	after = slurp(f->key, &size);
	spit(key, after, size);
	free(after);
	chmod(key, 0600);
	l = open_ledger(f->other, WRITE);
	after = export(l, &err);
	assert_string_equal(before, after);
	assert_int_equal(act(l, DEALBOX_ACT_STOP, 0, 0, 0, 0), 0);
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
	free(before);
	free(after);
}

static void test_backup_of_damage(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = dealbox_ledger_new();
	char part[80];

	make_history(f->db);
	tamper(f->db,
	       "DROP TRIGGER boards_no_update; UPDATE boards SET number = 77 WHERE number = 2");
	assert_int_equal(dealbox_ledger_open(l, f->db, 0), -EUCLEAN);
	assert_int_equal(dealbox_ledger_backup(l, f->other), -EUCLEAN);
	snprintf(part, sizeof(part), "%s.part", f->other);
	assert_int_equal(access(f->other, F_OK), -1);
	assert_int_equal(access(part, F_OK), -1);
	dealbox_ledger_free(l);
}

/* The file holds no hand, neither as bits nor as events. */
static void test_sealed(void **state)
{
	struct folder *f = *state;
	const struct dealbox_event *events = make_trace();
	uint8_t sealed[2][1 + LEDGER_SEAL_EXTRA] = { 0 };
	struct dealbox_ledger *l;
	struct dealbox_deal deal;
	char *data;
	size_t size;
	unsigned int n, k;

	make_history(f->db);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	data = slurp(f->db, &size);
	for (n = 1; n <= 4; n++) {
		deal = make_deal(n);
		for (k = 0; k < 4; k++)
			assert_null(memmem(data, size, &deal.hand[k], sizeof(deal.hand[k])));
	}
	assert_null(memmem(data, size, events + 1, 2 * sizeof(*events)));
	free(data);
	/* each time with another nonce */
	l = open_ledger(f->db, 0);
	ledger_seal(l, 1, "", 1, sealed[0]);
	ledger_seal(l, 1, "", 1, sealed[1]);
	assert_memory_not_equal(sealed[0], sealed[1], sizeof(sealed[0]));
	dealbox_ledger_free(l);
}

/* Killed while it writes, many times: acknowledged records are there, and the ledger is sound. */
static void test_killed(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 0, 0);
	struct dealbox_ledger_head head;
	uint32_t told = 0, number;
	unsigned int round, copy;
	uint64_t insertion;
	int pipes[2], n;
	pid_t pid;

	dealbox_ledger_free(l);
	for (round = 0; round < 20; round++) {
		assert_int_equal(pipe(pipes), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			l = dealbox_ledger_new();
			if (dealbox_ledger_open(l, f->db, WRITE))
				_exit(1);
			for (number = told + 1; ; number++) {
				/* a try that was cut short has no verdict: go round it */
				copy = number;
				if (begin_insertion(l, job, 1, copy, "SN1",
							 1000 * round + number, 1, &insertion) ||
				    end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0,
						       make_trace(), 52) ||
				    write(pipes[1], &number, sizeof(number)) != sizeof(number))
					_exit(1);
			}
		}
		close(pipes[1]);
		seed = round;
		for (n = 1 + draw(8); n && read(pipes[0], &number, sizeof(number)) > 0; n--)
			told = number;
		assert_int_equal(n, 0);
		kill(pid, SIGKILL);
		while (read(pipes[0], &number, sizeof(number)) > 0)
			told = number;
		waitpid(pid, NULL, 0);
		close(pipes[0]);

		l = open_ledger(f->db, WRITE);
		assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
		assert_int_equal(copy_state(l, job, 1, told), DEALBOX_LEDGER_COPY_RECORDED);
		assert_true(last_job(l).recorded >= told - round);
		/* the copy after it: open, begun, or recorded without having been told */
		if (copy_state(l, job, 1, told + 1) != DEALBOX_LEDGER_COPY_OPEN)
			told++;
		dealbox_ledger_get_head(l, &head);
		dealbox_ledger_free(l);
	}
	assert_true(head.record > 100);
}

/* ---- the limits of what it takes ----------------------------------------- */

static void refused(struct dealbox_ledger *l, int err, int wanted, const char *words)
{
	if (err != wanted || !strstr(dealbox_ledger_error(l)->what, words))
		fail_msg("%d: %s, not: %s", err, dealbox_ledger_error(l)->what, words);
}

static void test_limits_of_sets(void **state)
{
	static struct dealbox_ledger_board many[DEALBOX_BOARD_DEALT_MAX + 1];
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_board boards[3];
	char longest[128], longer[129];
	struct sets sets = { { 0 } };
	uint64_t set;

	memset(longest, 'x', 127);
	longest[127] = '\0';
	memset(longer, 'x', 128);
	longer[128] = '\0';
	make_boards(boards, 3, 1);
	refused(l, dealbox_ledger_add_set(l, longer, boards, 3, &set, NULL), -EINVAL,
		"1 to 127 bytes");
	refused(l, dealbox_ledger_add_set(l, "", boards, 3, &set, NULL), -EINVAL, "1 to 127 bytes");
	assert_int_equal(dealbox_ledger_add_set(l, longest, boards, 3, &set, NULL), 0);

	make_boards(many, COUNT(many), 1);
	refused(l, dealbox_ledger_add_set(l, "s", many, COUNT(many), &set, NULL), -EINVAL,
		"a set has 1 to 9999 boards, not 10000");
	refused(l, dealbox_ledger_add_set(l, "s", many, 0, &set, NULL), -EINVAL,
		"1 to 9999 boards, not 0");
	many[1].number = 1;
	refused(l, dealbox_ledger_add_set(l, "s", many, 9999, &set, NULL), -EINVAL,
		"board 1 is twice");

	boards[0].number = 0;
	refused(l, dealbox_ledger_add_set(l, "s", boards, 3, &set, NULL), -EINVAL,
		"numbered from 1 to 9999");
	boards[0].number = 10000;
	refused(l, dealbox_ledger_add_set(l, "s", boards, 3, &set, NULL), -EINVAL,
		"numbered from 1 to 9999");
	boards[0].number = 9999;
	assert_int_equal(dealbox_ledger_add_set(l, "s", boards, 3, &set, NULL), 0);
	boards[0].number = 1;
	assert_int_equal(dealbox_ledger_add_set(l, "s", boards, 1, &set, NULL), 0);
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 1, note_set, &sets), 0);
	assert_int_equal(sets.count, 1);

	/* another deal of the same number, or the same deal of another number, is another set */
	boards[0].deal = make_deal(77);
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 1, note_set, &sets), 0);
	boards[0].deal = make_deal(1);
	boards[0].number = 2;
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 1, note_set, &sets), 0);
	assert_int_equal(sets.count, 1);

	/* the same board twice: its number is what a user can find */
	boards[1] = boards[0];
	refused(l, dealbox_ledger_add_set(l, "t", boards, 3, &set, NULL), -EINVAL,
		"board 2 is twice");
	/* nobody asks which */
	boards[1].number = 1;
	refused(l, dealbox_ledger_add_set(l, "t", boards, 3, &set, NULL), -EEXIST,
		"are the same deal");
	if (!strstr(dealbox_ledger_error(l)->what, "boards 1 and 2 ") &&
	    !strstr(dealbox_ledger_error(l)->what, "boards 2 and 1 "))
		fail_msg("%s", dealbox_ledger_error(l)->what);
	dealbox_ledger_free(l);
}

/* Whatever the order in which they come, what is twice is found. */
static void test_repeats_among_many(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_board boards[20];
	struct dealbox_ledger_repeat repeat;
	char words[64];
	unsigned int n;
	uint64_t set;

	for (n = 0; n < 20; n++) {
		make_boards(boards, 20, 1);
		boards[n].deal = turn(boards[(n + 7) % 20].deal, n % 4);
		assert_int_equal(dealbox_ledger_add_set(l, "s", boards, 20, &set, &repeat),
				 -EEXIST);
		assert_int_equal(repeat.board + repeat.other_board, n + 1 + (n + 7) % 20 + 1);
		make_boards(boards, 20, 1);
		boards[n].number = boards[(n + 7) % 20].number;
		snprintf(words, sizeof(words), "board %u is twice", boards[n].number);
		refused(l, dealbox_ledger_add_set(l, "s", boards, 20, &set, NULL), -EINVAL, words);
	}
	dealbox_ledger_free(l);
}

static void test_limits_of_jobs(void **state)
{
	static const unsigned int number = 1, three = 3;
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t first = make_job(l, "s", 1, 1, 0), set = last_job(l).set, job;
	const char *machines[] = { NULL, NULL };
	char longest[128], longer[129];

	memset(longest, 'x', 127);
	longest[127] = '\0';
	memset(longer, 'x', 128);
	longer[128] = '\0';
	machines[0] = longer;
	refused(l, ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
			   .machines = machines), -EINVAL,
		"the id of a machine has 1 to 127 bytes");
	machines[0] = longest;
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
				 .machines = machines), 0);
	assert_int_equal(dealbox_ledger_keep_job(l, job, 1000, machines), 0);
	machines[0] = longer;
	refused(l, dealbox_ledger_keep_job(l, job, 1000, machines), -EINVAL,
		"the id of a machine has 1 to 127 bytes");
	refused(l, ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
			   .copies = 10000), -EINVAL,
		"at most 9999 copies");
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
				 .copies = 9999), 0);
	refused(l, ADD_JOB(l, &job, NULL, .set = set, .boards = &number, .count = 1,
			   .options = DEALBOX_JOB_CAPTURE), -EINVAL,
			   "without one captures or deals by a law");
	refused(l, ADD_JOB(l, &job, NULL, .set = set, .boards = (unsigned int[]){ 2, 2 },
			   .count = 2), -EINVAL,
		"board 2 is named twice");
	refused(l, ADD_JOB(l, &job, NULL, .set = set, .boards = (unsigned int[]){ 5 }, .count = 1,
			   .options = DEALBOX_JOB_REPLAY), -ENOENT, "has no board 5");

	/* dealt for another session: nobody asks which */
	make_job(l, "t", 3, 1, 0);
	deal_exact(l, first, 3, 1, 1);
	refused(l, ADD_JOB(l, &job, NULL, .set = last_job(l).set, .boards = &number, .count = 1),
		-EEXIST, "was dealt for the session 's' (Law 6D2)");
	assert_int_equal(ADD_JOB(l, &job, NULL, .set = last_job(l).set, .boards = &three,
				 .count = 1), 0);
	/* a capture may have any board */
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = (unsigned int[]){ 5 }, .count = 1,
				 .options = DEALBOX_JOB_CAPTURE), 0);
	assert_int_equal(last_job(l).set, 0);
	assert_string_equal(last_job(l).session, "");
	dealbox_ledger_free(l);
}

static void test_limits_of_copies(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 2, 0), insertion;
	char words[64];

	refused(l, begin_insertion(l, job, 1, 0, "SN1", 1, 1, &insertion), -ENOENT,
		"has no copy 0");
	refused(l, begin_insertion(l, job, 1, 3, "SN1", 1, 1, &insertion), -ENOENT,
		"has no copy 3");
	snprintf(words, sizeof(words), "job %d has no board 9", (int)job);
	refused(l, begin_insertion(l, job, 9, 1, "SN1", 1, 1, &insertion), -ENOENT, words);
	refused(l, begin_insertion(l, 999, 1, 1, "SN1", 1, 1, &insertion), -ENOENT,
		"job 999 has no copy 1 of board 1");
	deal_exact(l, job, 1, 2, 1);
	refused(l, begin_insertion(l, job, 1, 2, "SN1", 2, 1, &insertion), -EEXIST,
		"is recorded already");
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 2, 2, 0), 0);
	refused(l, begin_insertion(l, job, 2, 2, "SN1", 2, 1, &insertion), -EEXIST,
		"is skipped already");
	assert_int_equal(act(l, DEALBOX_ACT_PAUSE, job, 0, 0, 0), 0);
	refused(l, begin_insertion(l, job, 3, 1, "SN1", 2, 1, &insertion), -ECANCELED,
		"is paused");
	assert_int_equal(act(l, DEALBOX_ACT_CANCEL, job, 0, 0, 0), 0);
	refused(l, begin_insertion(l, job, 3, 1, "SN1", 2, 1, &insertion), -ECANCELED,
		"is cancelled");
	dealbox_ledger_free(l);
}

static void test_limits_of_outcomes(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 0, 0), capture, insertion;
	const struct dealbox_event *trace = make_trace();
	struct dealbox_ledger_insertion found;
	time_t began = seconds();

	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 1, 1, &insertion), 0);
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_NONE, 0, 0, trace, 52), -EINVAL,
		"0 is not an outcome");
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_CAPTURED + 1, 0, 0, trace, 52),
		-EINVAL, "6 is not an outcome");
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 0, trace, 0), -EINVAL,
		"not recorded without its trace");
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_DIFFERS, 0, 1, NULL, 52),
		-EINVAL, "not recorded without its trace");
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_CAPTURED, 0, 0, NULL, 52),
		-EINVAL, "not recorded without its trace");
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, DEALBOX_EV_JAM, 0, trace,
				      52),
		-EINVAL, "no differences and no reason");
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_EXACT, 0, 1, trace, 52), -EINVAL,
		"no differences and no reason");
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_DIFFERS, DEALBOX_EV_JAM, 3,
					    trace, 52), 0);
	assert_int_equal(dealbox_ledger_last(l, "SN1", &found), 0);
	assert_in_range(found.begun_us / 1000000, began, seconds());
	assert_in_range(found.ended_us / 1000000, began, seconds());
	assert_int_equal(found.outcome, DEALBOX_LEDGER_DIFFERS);
	assert_int_equal(found.reason, DEALBOX_EV_JAM);
	assert_int_equal(found.differences, 3);
	assert_int_equal(found.plan, 1);
	assert_int_equal(found.job, job);
	assert_true(found.begun_us > 0 && found.ended_us >= found.begun_us);

	/* nothing was seen of it */
	assert_int_equal(begin_insertion(l, job, 1, 2, "SN1", 2, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_UNKNOWN, 0, 0, trace, 0),
			 0);
	assert_int_equal(dealbox_ledger_last(l, "SN1", &found), 0);
	assert_int_equal(found.events, 0);
	assert_int_equal(begin_insertion(l, job, 1, 3, "SN1", 3, 1, &insertion), 0);
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, 0, 0, NULL, 5), 0);
	assert_int_equal(dealbox_ledger_last(l, "SN1", &found), 0);
	assert_int_equal(found.events, 0);

	/* an original that was read in part */
	assert_int_equal(ADD_JOB(l, &capture, NULL, .boards = (unsigned int[]){ 1 }, .count = 1,
				 .options = DEALBOX_JOB_CAPTURE), 0);
	assert_int_equal(begin_insertion(l, capture, 1, 1, "SN2", 9, 1, &insertion), 0);
	refused(l, end_insertion(l, insertion, DEALBOX_LEDGER_DIFFERS, 0, 1, trace, 52),
		-EINVAL, "a capture is captured");
	assert_int_equal(end_insertion(l, insertion, DEALBOX_LEDGER_VOID, DEALBOX_EV_JAM, 0,
					    trace, 5), 0);
	assert_int_equal(dealbox_ledger_last(l, "SN2", &found), 0);
	assert_int_equal(found.events, 5);
	refused(l, dealbox_ledger_last(l, "SN3", &found), -ENOENT,
		"nothing was dealt by the machine SN3");
	dealbox_ledger_free(l);
}

static void test_limits_of_acts(void **state)
{
	static const struct dealbox_ledger_act lacking[] = {
		{ .act = DEALBOX_ACT_PAUSE }, { .act = DEALBOX_ACT_RESUME },
		{ .act = DEALBOX_ACT_CANCEL },
		{ .act = DEALBOX_ACT_PRIORITY }, { .act = DEALBOX_ACT_SKIP, .board = 1, .copy = 1 },
		{ .act = DEALBOX_ACT_SKIP, .job = 1, .copy = 1 },
		{ .act = DEALBOX_ACT_SKIP, .job = 1, .board = 1 },
		{ .act = DEALBOX_ACT_REDEAL, .job = 1 }, { .act = DEALBOX_ACT_EMPTIED, .board = 1 },
		{ .act = DEALBOX_ACT_ACCEPT }, { .act = DEALBOX_ACT_ACCEPT, .machine = "" },
	};
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job(l, "s", 1, 2, 0), endless = make_job(l, "s", 5, 0, 0), insertion;
	struct dealbox_ledger_head before, after;
	size_t n;

	assert_int_equal(dealbox_ledger_get_head(l, &before), 0);
	for (n = 0; n < COUNT(lacking); n++)
		refused(l, dealbox_ledger_add_act(l, &lacking[n]), -EINVAL,
			"does not say which job, board, copy or machine");
	refused(l, act(l, 0, job, 1, 1, 0), -EINVAL, "0 is not an act");
	refused(l, act(l, DEALBOX_ACT_KINDS, job, 1, 1, 0), -EINVAL, "is not an act");
	refused(l, act(l, DEALBOX_ACT_SKIP, 999, 1, 1, 0), -ENOENT, "there is no job 999");
	refused(l, act(l, DEALBOX_ACT_SKIP, job, 1, 3, 0), -ENOENT, "has no copy 3");
	refused(l, act(l, DEALBOX_ACT_SKIP, endless, 1, 10000, 0), -ENOENT, "has no copy 10000");
	refused(l, act(l, DEALBOX_ACT_SKIP, job, 5, 1, 0), -ENOENT, "has no board 5");
	assert_int_equal(dealbox_ledger_get_head(l, &after), 0);
	assert_memory_equal(&before, &after, sizeof(before));

	assert_int_equal(act(l, DEALBOX_ACT_SKIP, job, 1, 2, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_SKIP, endless, 1, 9999, 0), 0);
	assert_int_equal(begin_insertion(l, job, 2, 1, "SN1", 1, 1, &insertion), 0);
	refused(l, act(l, DEALBOX_ACT_REDEAL, job, 2, 1, 0), -EBUSY,
		"is being dealt: pause the job or wait");
	assert_int_equal(act(l, DEALBOX_ACT_REDEAL, job, 2, 2, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_EMPTIED, job, 2, 1, 0), 0);
	assert_int_equal(act(l, DEALBOX_ACT_PAUSE, job, 0, 0, 0), 0);
	dealbox_ledger_free(l);
}

/* ---- heads --------------------------------------------------------------- */

static void test_text_of_heads(void **state)
{
	static const char *const bad[] = {
		"%s", ":%s", "a:%s", "/:%s", "::%s", "-1:%s", " 1:%s", "1x:%s", "1 :%s", "1:%s0",
		"1:%sx", "1: %s", "1:%s\n", "9223372036854775808:%s", "18446744073709551616:%s",
		"1:x%s",
	};
	static const struct {
		const char *text;
		uint64_t record;
	} good[] = { { "0:%s", 0 }, { "9:%s", 9 }, { "12:%s", 12 },
		     { "9223372036854775807:%s", INT64_MAX } };
	char hash[65], text[200], again[DEALBOX_LEDGER_HEAD_TEXT];
	struct dealbox_ledger_head head;
	unsigned int n;

	(void)state;
	for (n = 0; n < 64; n++)
		hash[n] = "0123456789abcdef"[(n * 7 + 3) % 16];
	hash[64] = '\0';
	for (n = 0; n < COUNT(good); n++) {
		memset(&head, 0, sizeof(head));
		snprintf(text, sizeof(text), good[n].text, hash);
		assert_int_equal(dealbox_ledger_head_parse(text, &head), 0);
		assert_true(head.record == good[n].record);
		assert_int_equal(head.hash[0], 0x3a);
		dealbox_ledger_head_format(&head, again);
		assert_string_equal(again, text);
	}
	for (n = 0; n < COUNT(bad); n++) {
		snprintf(text, sizeof(text), bad[n], hash);
		if (dealbox_ledger_head_parse(text, &head) != -EINVAL)
			fail_msg("%s", text);
	}
	hash[5] = 'A';
	snprintf(text, sizeof(text), "1:%s", hash);
	assert_int_equal(dealbox_ledger_head_parse(text, &head), -EINVAL);
}

/* Leaves lines on the stack, for a function that does not end what it reads. */
static __attribute__((noinline)) void litter_stack(const char *line)
{
	char stack[1 << 18];
	size_t n;

	stack[0] = '\0';
	for (n = 0; n + strlen(line) + 2 < sizeof(stack); n += strlen(line) + 1)
		sprintf(stack + n, "%s\n", line);
	__asm__ volatile("" : : "r"(stack) : "memory");
}

/* The last whole line is the one that counts, wherever in a long file it lies. */
static void test_last_of_heads(void **state)
{
	struct dealbox_ledger_head head, found;
	char text[DEALBOX_LEDGER_HEAD_TEXT];
	struct folder *f = *state;
	struct dealbox_ledger *l;
	size_t size, from;
	char *data;

	make_history(f->db);
	l = open_ledger(f->db, WRITE);
	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	data = malloc(200000);
	dealbox_ledger_head_format(&head, text);
	memmove(text + 1, strchr(text, ':'), strlen(strchr(text, ':')) + 1);
	/* 65536 bytes are read: a line that is cut by their beginning does not count */
	for (from = 0; from < 3; from++) {
		size = strlen(text) + 1 + 65536 - strlen(text) - 2 + from;
		memset(data, '\n', size);
		memcpy(data, text, strlen(text));
		spit(f->heads, data, size);
		assert_int_equal(ledger_heads_last(l, &found), from < 2 ? 0 : -ENOENT);
	}
	/* .. and one at their end does */
	memset(data, '\n', 100000);
	memcpy(data + 100000 - 1 - strlen(text), text, strlen(text));
	spit(f->heads, data, 100000);
	assert_int_equal(ledger_heads_last(l, &found), 0);
	/* zeros before it */
	memset(data, 0, 50);
	memcpy(data + 50, text, strlen(text));
	data[50 + strlen(text)] = '\n';
	spit(f->heads, data, 51 + strlen(text));
	assert_int_equal(ledger_heads_last(l, &found), 0);
	/* a line without an end does not count, whatever was read before it */
	dealbox_ledger_head_format(&head, text);
	spit(f->heads, text, strlen(text));
	assert_int_equal(ledger_heads_last(l, &found), -ENOENT);
	/* of two lines the last */
	size = (size_t)snprintf(data, 200000, "7%s\n%s\n", text, text);
	spit(f->heads, data, size);
	assert_int_equal(ledger_heads_last(l, &found), 0);
	assert_memory_equal(&found, &head, sizeof(head));
	/* zeros end a line */
	memset(data + size, 0, 10);
	memcpy(data + size + 10, text, strlen(text) + 1);
	data[size + 10] = '9';
	spit(f->heads, data, size + 11 + strlen(text));
	assert_int_equal(ledger_heads_last(l, &found), 0);
	assert_true(found.record > head.record);
	spit(f->heads, "", 0);
	litter_stack(text);
	assert_int_equal(ledger_heads_last(l, &found), -ENOENT);
	/* the longest that there can be */
	l->head.record = INT64_MAX;
	ledger_heads_note(l);
	assert_int_equal(ledger_heads_last(l, &found), 0);
	assert_true(found.record == INT64_MAX);
	unlink(f->heads);
	assert_int_equal(ledger_heads_last(l, &found), -ENOENT);
	free(data);
	dealbox_ledger_free(l);
}

static int first_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	uint64_t *first = context;

	if (!*first)
		*first = insertion->id;
	return 0;
}

/* ---- damage that only one call meets ------------------------------------- */

#define LAX "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; "

/* A reader whose ledger is damaged: what it can still look at, it must not believe. */
static void test_unsealed(void **state)
{
	static const struct {
		const char *sql;
		bool deal;
	} deeds[] = {
		{ "DROP TRIGGER boards_no_update; UPDATE boards SET sealed = substr(sealed, 1, 71)",
		  true },
		{ "DROP TRIGGER boards_no_update; "
		  "UPDATE boards SET sealed = CAST(sealed || x'00' AS BLOB)", true },
		{ "DROP TRIGGER boards_no_update; UPDATE boards SET sealed = "
		  "zeroblob(length(sealed))", true },
		/* of another board */
		{ "DROP TRIGGER boards_no_update; UPDATE boards SET sealed = (SELECT sealed FROM "
		  "boards b WHERE b.number = 3) WHERE number = 2", true },
		{ "DROP TRIGGER traces_no_update; UPDATE traces SET sealed = "
		  "zeroblob(length(sealed))", false },
		{ "DROP TRIGGER traces_no_update; UPDATE traces SET events = events + 1", false },
		{ "DROP TRIGGER traces_no_update; UPDATE traces SET events = events - 1", false },
		{ LAX "DROP TRIGGER traces_no_update; UPDATE traces SET events = 0", false },
		{ LAX "DROP TRIGGER traces_no_update; UPDATE traces SET events = -1, sealed = x''",
		  false },
		{ "DROP TRIGGER traces_no_update; UPDATE traces SET sealed = (SELECT sealed FROM "
		  "traces t WHERE t.seq <> traces.seq LIMIT 1)", false },
	};
	struct folder *f = *state;
	struct dealbox_event *events = (void *)f;
	uint64_t set, insertion = 0;
	struct dealbox_deal deal;
	struct dealbox_ledger *l;
	size_t n, size, count;
	char *sound;

	make_history(f->db);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	l = open_ledger(f->db, 0);
	set = last_job(l).set;
	assert_int_equal(dealbox_ledger_insertions(l, 0, false, first_insertion, &insertion), 0);
	assert_int_equal(dealbox_ledger_get_deal(l, set, 2, &deal), 0);
	assert_int_equal(dealbox_ledger_get_trace(l, insertion, &events, &count), 0);
	free(events);
	dealbox_ledger_free(l);
	sound = slurp(f->db, &size);
	for (n = 0; n < COUNT(deeds); n++) {
		spit(f->db, sound, size);
		tamper(f->db, deeds[n].sql);
		l = dealbox_ledger_new();
		assert_int_equal(dealbox_ledger_open(l, f->db, 0), -EUCLEAN);
		if (deeds[n].deal) {
			refused(l, dealbox_ledger_get_deal(l, set, 2, &deal), -EUCLEAN,
				"cannot be unsealed");
		} else {
			refused(l, dealbox_ledger_get_trace(l, insertion, &events, &count),
				-EUCLEAN, "cannot be unsealed");
			assert_null(events);
			assert_int_equal(count, 0);
		}
		dealbox_ledger_free(l);
	}
	free(sound);
}

/* Damage to the rows that say whose a ledger is, and where its records end. */
static void test_damaged_frame(void **state)
{
	static const struct {
		const char *sql;
		int error;
		const char *words;
	} deeds[] = {
		{ "DROP TRIGGER ledger_no_delete; DELETE FROM ledger", -EUCLEAN,
		  "does not say which key is its own" },
		{ "DROP TRIGGER ledger_no_update; UPDATE ledger SET key_id = substr(key_id, 1, 15)",
		  -EKEYREJECTED, "the key of another ledger" },
		{ "DROP TRIGGER ledger_no_update; UPDATE ledger SET key_id = zeroblob(16)",
		  -EKEYREJECTED, "the key of another ledger" },
		{ "DROP TABLE ledger", -EIO, "no such table" },
		{ LAX "DROP TRIGGER chain_no_update; UPDATE chain SET hash = substr(hash, 1, 31) "
		      "WHERE seq = (SELECT max(seq) FROM chain)", -EUCLEAN, "was changed" },
		{ LAX "DROP TRIGGER chain_no_update; UPDATE chain SET hash = substr(hash, 1, 31) "
		      "WHERE seq = (SELECT max(seq) - 64 FROM chain)", -EUCLEAN,
		      "the hash of a record was changed" },
		{ LAX "DROP TRIGGER chain_no_update; UPDATE chain SET kind = 0", -EUCLEAN,
		  "is of no known kind" },
		{ "PRAGMA application_id = 2", -EUCLEAN, "not a ledger" },
	};
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char *sound, error[512];
	uint64_t job;
	size_t n, size;

	l = open_ledger(f->db, CREATE);
	job = make_job(l, "s", 1, 0, 0);
	for (n = 1; n <= 30; n++)
		deal_exact(l, job, 1, n, n);
	dealbox_ledger_free(l);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	sound = slurp(f->db, &size);
	for (n = 0; n < COUNT(deeds); n++) {
		spit(f->db, sound, size);
		tamper(f->db, deeds[n].sql);
		if (try_open(f->db, 0, error) != deeds[n].error || !strstr(error, deeds[n].words))
			fail_msg("%s: %s", deeds[n].sql, error);
		assert_int_equal(try_open(f->db, WRITE, NULL), deeds[n].error);
	}
	free(sound);
}

/* An export says that the ledger is damaged, and does not go round the damage. */
static void test_export_of_damage(void **state)
{
	static const char *const deeds[] = {
		LAX "DROP TRIGGER chain_no_update; UPDATE chain SET kind = 0 WHERE seq = 3",
		LAX "DROP TRIGGER chain_no_update; UPDATE chain SET kind = 12 WHERE seq = 3",
		LAX "DROP TRIGGER boards_no_delete; DELETE FROM boards WHERE number = 1",
	};
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char *sound, *text;
	size_t n, size;
	int err;

	make_history(f->db);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	sound = slurp(f->db, &size);
	for (n = 0; n < COUNT(deeds); n++) {
		spit(f->db, sound, size);
		tamper(f->db, deeds[n]);
		l = dealbox_ledger_new();
		assert_int_equal(dealbox_ledger_open(l, f->db, 0), -EUCLEAN);
		text = export(l, &err);
		refused(l, err, -EUCLEAN, "`dealbox ledger verify` says where");
		free(text);
		dealbox_ledger_free(l);
	}
	free(sound);
}

/* A head that names a record of the same number, and how many records there are. */
static void test_verify_head(void **state)
{
	struct dealbox_ledger_head head, nothing = { 0 };
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char found[4096] = "";
	uint64_t records = 0;

	make_history(f->db);
	l = open_ledger(f->db, 0);
	assert_int_equal(dealbox_ledger_get_head(l, &head), 0);
	assert_int_equal(dealbox_ledger_verify(l, &nothing, keep_damage, found, &records), 0);
	assert_int_equal(records, head.record);
	head.hash[31] ^= 1;
	assert_int_equal(dealbox_ledger_verify(l, &head, keep_damage, found, &records), -EUCLEAN);
	assert_non_null(strstr(found, "is not the one that the head names"));
	assert_null(strstr(found, "cut off"));
	assert_int_equal(records, head.record);
	*found = '\0';
	head.record++;
	assert_int_equal(dealbox_ledger_verify(l, &head, keep_damage, found, &records), -EUCLEAN);
	assert_non_null(strstr(found, "its end was cut off"));
	assert_null(strstr(found, "is not the one"));
	dealbox_ledger_free(l);
}

/* A folder in the place of the key is no key. */
static void test_key_is_no_file(void **state)
{
	struct folder *f = *state;
	char error[512];

	dealbox_ledger_free(open_ledger(f->db, CREATE));
	unlink(f->key);
	assert_int_equal(mkdir(f->key, 0700), 0);
	assert_int_equal(try_open(f->db, WRITE, error), -ENOKEY);
	assert_non_null(strstr(error, "is open to others"));
	rmdir(f->key);
}

/* A reader does not finish what a power cut interrupted. */
static void test_reader_of_a_half(void **state)
{
	struct folder *f = *state;
	char new_key[80];

	snprintf(new_key, sizeof(new_key), "%s.key.new", f->db);
	dealbox_ledger_free(open_ledger(f->db, CREATE));
	assert_int_equal(rename(f->key, new_key), 0);
	assert_int_equal(try_open(f->db, 0, NULL), -ENOKEY);
	assert_int_equal(access(new_key, F_OK), 0);
	/* a folder in the place of the key, which cannot become the key */
	assert_int_equal(try_open(f->db, WRITE, NULL), 0);
	assert_int_equal(access(new_key, F_OK), -1);
}

/* How many records are gone is recorded; without the file of heads nobody knows. */
static void test_restored_records(void **state)
{
	static const struct {
		const char *head;
		long gone;
	} heads[] = {
		{ NULL, 0 }, { "1:%s\n", 0 }, { "%s\n", 0 }, { "14:%s\n", 0 }, { "15:%s\n", 0 },
		{ "16:%s\n", 1 }, { "1000:%s\n", 985 }, { "2147483661:%s\n", 2147483646 },
		{ "2147483662:%s\n", 2147483647 }, { "2147483663:%s\n", 2147483647 },
		{ "9223372036854775807:%s\n", 2147483647 },
	};
	char hash[65], line[200], *text;
	struct folder *f = *state;
	struct dealbox_ledger *l;
	char *sound;
	size_t n, size;
	uint64_t first, job;
	int err;

	l = open_ledger(f->db, CREATE);
	first = make_job(l, "s", 1, 3, 0);
	assert_int_equal(ADD_JOB(l, &job, NULL, .boards = (unsigned int[]){ 1 }, .count = 1,
				 .copies = 1, .options = DEALBOX_JOB_CAPTURE), 0);
	deal_exact(l, first, 1, 1, 1);
	dealbox_ledger_free(l);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	sound = slurp(f->db, &size);
	memset(hash, 'a', 64);
	hash[64] = '\0';
	for (n = 0; n < COUNT(heads); n++) {
		spit(f->db, sound, size);
		unlink(f->heads);
		if (heads[n].head) {
			snprintf(line, sizeof(line), heads[n].head, hash);
			spit(f->heads, line, strlen(line));
		}
		l = open_ledger(f->db, WRITE | DEALBOX_LEDGER_RESTORED);
		assert_int_equal(dealbox_ledger_accept_restore(l, 1000, NULL), 0);
		text = export(l, &err);
		snprintf(line, sizeof(line),
			 "\"act\":\"restore\",\"job\":null,\"board\":null,\"copy\":null,"
			 "\"value\":%ld,", heads[n].gone);
		if (!strstr(text, line))
			fail_msg("%s: %s", line, text);
		free(text);
		/* from now on heads are noted */
		assert_int_equal(access(f->heads, F_OK), 0);
		dealbox_ledger_free(l);
		dealbox_ledger_free(open_ledger(f->db, WRITE));
	}
	free(sound);
}

/* ---- what SQLite is told, and what stops a query -------------------------- */

/* How the ledger's own connection is set: for power cuts, and for files that were tampered with. */
static void test_settings(void **state)
{
	static const struct {
		const char *sql;
		int64_t value;
	} settings[] = {
		{ "PRAGMA foreign_keys", 1 }, { "PRAGMA synchronous", 2 },
		{ "PRAGMA trusted_schema", 0 },
		{ "PRAGMA cell_size_check", 1 },
		{ "SELECT journal_mode = 'wal' FROM pragma_journal_mode", 1 },
	};
	static const unsigned int flags[] = { WRITE, 0 };
	struct folder *f = *state;
	struct dealbox_ledger *l;
	size_t n, k;
	int64_t found;
	int set;

	make_history(f->db);
	for (k = 0; k < COUNT(flags); k++) {
		l = open_ledger(f->db, flags[k]);
		for (n = 0; n < COUNT(settings); n++) {
			assert_int_equal(ledger_number(l, &found, settings[n].sql, ""), 0);
			if (found != settings[n].value)
				fail_msg("%s: %d", settings[n].sql, (int)found);
		}
		assert_int_equal(sqlite3_db_config(l->db, SQLITE_DBCONFIG_DEFENSIVE, -1, &set),
				 SQLITE_OK);
		assert_int_equal(set, 1);
		assert_int_equal(sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1,
						   &set), SQLITE_OK);
		assert_int_equal(set, 0);
		dealbox_ledger_free(l);
	}
}

/* A callback that gives something else than 0 is not called again, and gives the result. */
static int stop(void *context)
{
	++*(unsigned int *)context;
	return 7;
}

static int stop_set(uint64_t set, void *context)
{
	(void)set;
	return stop(context);
}

static int stop_job(const struct dealbox_ledger_job *job, void *context)
{
	(void)job;
	return stop(context);
}

static int stop_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	(void)copy;
	return stop(context);
}

static int stop_board(unsigned int board, void *context)
{
	(void)board;
	return stop(context);
}

static int stop_machine(const char *machine, void *context)
{
	(void)machine;
	return stop(context);
}

static int stop_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	(void)insertion;
	return stop(context);
}

static void test_stopped(void **state)
{
	static const char *const two[] = { "SN1", "SN2", NULL };
	struct folder *f = *state;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	struct dealbox_ledger_board boards[4];
	uint64_t job = make_job(l, "s", 1, 2, 0), with_machines;
	unsigned int calls = 0;

	make_job(l, "t", 1, 2, 0);
	with_machines = make_job_for(l, two);
	deal_exact(l, job, 1, 1, 1);
	deal_exact(l, job, 1, 2, 2);
	make_boards(boards, 4, 1);
	assert_int_equal(dealbox_ledger_find_sets(l, boards, 4, stop_set, &calls), 7);
	assert_int_equal(calls, 1);
	assert_int_equal(dealbox_ledger_jobs(l, 0, stop_job, &calls), 7);
	assert_int_equal(calls, 2);
	assert_int_equal(dealbox_ledger_copies(l, job, stop_copy, &calls), 7);
	assert_int_equal(calls, 3);
	assert_int_equal(dealbox_ledger_boards(l, job, stop_board, &calls), 7);
	assert_int_equal(calls, 4);
	assert_int_equal(dealbox_ledger_machines(l, with_machines, stop_machine, &calls), 7);
	assert_int_equal(calls, 5);
	assert_int_equal(dealbox_ledger_insertions(l, 0, false, stop_insertion, &calls), 7);
	assert_int_equal(calls, 6);
	dealbox_ledger_free(l);
}

/* ---- the format ---------------------------------------------------------- */

/* Bytes of hexadecimal digits. */
static void from_hex(const char *text, uint8_t *bytes, size_t size)
{
	assert_int_equal(sodium_hex2bin(bytes, size, text, strlen(text), NULL, &size, NULL), 0);
}

/*
 * Values in the ledgers of clubs, as docs/ledger.md has them: computed by another program (the
 * hashes by Python's hashlib) with the key 00 01 .. 1f. None of these ever changes.
 */
static void test_format(void **state)
{
	static const char sealed_text[] =
		"32333435363738393a3b3c3d3e3f404142434445464748496b4706fe0b9da0b4ab50350ac9a5e6ed"
		"2f3d19baa178e8f46b71923f8f3ec10c4678ffff39be71c102bfa56a2f1e5c69";
	static const char digest[] =
		"127518851a0dcd5a91293a42c38dea11e18e7c0ccfeea6d3e93860be9513fc6c";
	const struct dealbox_deal bridge = { { 0x1fff, 0x1fffULL << 13, 0x1fffULL << 26,
					       0x1fffULL << 39 } };
	const struct dealbox_deal talon = { { 0x3ff, 0x3ff << 10, 0x3ff << 20, 3ULL << 30 } };
	const struct dealbox_ledger_board boards[2] = { { .number = 1, .deal = bridge },
							{ .number = 2, .deal = talon } };
	uint8_t before[32], hash[32], wanted[32], sealed[72], plain[32];
	struct folder *f = *state;
	struct dealbox_deal turned;
	struct dealbox_ledger *l;
	int64_t same = 0;
	unsigned int n;
	uint64_t set;
	char key[32];

	dealbox_ledger_free(open_ledger(f->db, CREATE));
	for (n = 0; n < 32; n++) {
		key[n] = n;
		before[n] = 100 + n;
	}
	spit(f->key, key, sizeof(key));
	tamper(f->db, "DROP TRIGGER ledger_no_update; "
	       "UPDATE ledger SET key_id = x'08fba9b9d9de6ba2b903dd4802e760d1'; "
	       "PRAGMA foreign_keys = OFF; INSERT INTO sets VALUES (1000, 5, 'Montag, \u00fc', 2, "
	       "x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'); "
	       "INSERT INTO acts VALUES (1001, -6, 4294967295, 9, NULL, NULL, NULL, "
	       "78187493520, 'SN1')");
	l = open_ledger(f->db, 0);
	assert_int_equal(ledger_hash(l, LEDGER_SET, 1000, before, hash), 0);
	from_hex("acf8529056e0b8a9b5d04c7220716ae5bd946258ae0d7ae9126c3ffd15cb6ede", wanted, 32);
	assert_memory_equal(hash, wanted, 32);
	assert_int_equal(ledger_hash(l, LEDGER_ACT, 1001, before, hash), 0);
	from_hex("de3a72dba0adb4707250f1b121149e57ccf0cc7787ea94fab3e212671fc2fede", wanted, 32);
	assert_memory_equal(hash, wanted, 32);

	assert_true(ledger_fingerprint(&l->keys, &bridge) == -2636894720349973936);
	for (n = 1; n < 4; n++) {
		turned = turn(bridge, n);
		assert_true(ledger_fingerprint(&l->keys, &turned) == -2636894720349973936);
	}
	assert_true(ledger_fingerprint(&l->keys, &talon) == 5752599428804926094);

	from_hex(sealed_text, sealed, sizeof(sealed));
	assert_int_equal(ledger_unseal(l, 7, sealed, sizeof(sealed), plain), 0);
	for (n = 0; n < 32; n++)
		assert_int_equal(plain[n], 200 + n);
	assert_int_equal(ledger_unseal(l, 8, sealed, sizeof(sealed), plain), -EBADMSG);
	dealbox_ledger_free(l);

	/* a set is known again by its digest */
	tamper(f->db, "DROP TRIGGER sets_no_delete; DROP TRIGGER acts_no_delete; "
	       "DELETE FROM sets; DELETE FROM acts");
	l = open_ledger(f->db, WRITE);
	assert_int_equal(dealbox_ledger_add_set(l, "s", boards, 2, &set, NULL), 0);
	assert_int_equal(ledger_number(l, &same, "SELECT lower(hex(digest)) = ? FROM sets", "t",
				       digest), 0);
	assert_true(same);
	dealbox_ledger_free(l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

/* A signed statement is kept as it is, once for each insertion, and its nonce is sealed. */
static void test_attestations(void **state)
{
	struct folder *f = *state;
	struct dealbox_ledger_attestation given, found;
	struct dealbox_ledger *l = open_ledger(f->db, CREATE);
	uint64_t job = make_job_for(l, NULL), insertion;
	static const char *const parts[] = { "public_key", "statement", "signature", "sealed" };
	char *text, sql[512];
	size_t size, n;

	memset(&given, 0, sizeof(given));
	memset(given.public_key, 1, sizeof(given.public_key));
	memset(given.statement, 2, sizeof(given.statement));
	memset(given.signature, 3, sizeof(given.signature));
	memcpy(given.nonce, "the nonce is 32 bytes of secrecy", sizeof(given.nonce));
	assert_int_equal(dealbox_ledger_add_attestation(l, 999, &given), -ENOENT);
	assert_int_equal(begin_insertion(l, job, 1, 1, "SN1", 7, 70, &insertion), 0);
	assert_int_equal(dealbox_ledger_get_attestation(l, insertion, &found), -ENOENT);
	assert_int_equal(dealbox_ledger_add_attestation(l, insertion, &given), 0);
	assert_int_equal(dealbox_ledger_add_attestation(l, insertion, &given), -EALREADY);
	assert_int_equal(dealbox_ledger_get_attestation(l, insertion, &found), 0);
	assert_memory_equal(&found, &given, sizeof(given));
	assert_int_equal(dealbox_ledger_verify(l, NULL, NULL, NULL, NULL), 0);
	dealbox_ledger_free(l);
	tamper(f->db, "PRAGMA journal_mode = DELETE");
	text = slurp(f->db, &size);
	assert_null(memmem(text, size, "secrecy", 7));
	free(text);
	/*
	 * another nonce, sealed for another record; and one that is too short, or too long, as is
	 * each other part
	 */
	tamper(f->db,
	       "DROP TRIGGER attestations_no_update; CREATE TABLE kept AS SELECT * FROM "
	       "attestations; UPDATE attestations SET sealed = zeroblob(length(sealed))");
	for (n = 0; n < 2 * sizeof(parts) / sizeof(parts[0]); n++) {
		l = dealbox_ledger_new();
		assert_true(dealbox_ledger_open(l, f->db, 0) <= 0);
		memset(&found, 0xa5, sizeof(found));
		assert_int_equal(dealbox_ledger_get_attestation(l, insertion, &found), -EUCLEAN);
		/* nothing of it is told */
		for (size = 0; size < sizeof(found); size++)
			assert_int_equal(((uint8_t *)&found)[size], 0);
		dealbox_ledger_free(l);
		snprintf(sql, sizeof(sql),
			 "UPDATE attestations SET (public_key, statement, signature, sealed) = "
			 "(SELECT public_key, statement, signature, sealed FROM kept); "
			 "PRAGMA ignore_check_constraints = 1; "
			 "UPDATE attestations SET %s = zeroblob(length(%s) %s 1)",
			 parts[n / 2], parts[n / 2], n % 2 ? "+" : "-");
		tamper(f->db, sql);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open),
		TEST(test_flags),
		TEST(test_read_only),
		TEST(test_key),
		TEST(test_never_overwritten),
		TEST(test_other_database),
		TEST(test_made_by_halves),
		TEST(test_set),
		TEST(test_set_repeats),
		TEST(test_fingerprint),
		TEST(test_other_session),
		TEST(test_other_session_among_many),
		TEST(test_doubt_counts_as_dealt),
		TEST(test_job),
		TEST(test_job_for_machines),
		TEST(test_job_is_kept_to_machines),
		TEST(test_begin_among_many),
		TEST(test_last_among_many),
		TEST(test_asked_within),
		TEST(test_old_ledger),
		TEST(test_emulations),
		TEST(test_insertion_once),
		TEST(test_trace),
		TEST(test_reserved),
		TEST(test_fields),
		TEST(test_long_machine),
		TEST(test_capture),
		TEST(test_law),
		TEST(test_closed_to_others),
		TEST(test_user),
		TEST(test_counts),
		TEST(test_counts_among_many),
		TEST(test_acts),
		TEST(test_sets_are_played),
		TEST(test_deals_of_another_set_are_secret),
		TEST(test_copies_are_added),
		TEST(test_tampered),
		TEST(test_attestations),
		TEST(test_memory_is_given_back),
		TEST(test_whole_is_checked),
		TEST(test_cut_off),
		TEST(test_records_are_fixed),
		TEST(test_rotten_disk),
		TEST(test_rotten_disk_after_a_crash),
		TEST(test_cut_wal),
		TEST(test_restored),
		TEST(test_heads),
		TEST(test_links),
		TEST(test_wal_of_another),
		TEST(test_copied_while_open),
		TEST(test_copied_while_written),
		TEST(test_read_only_folder),
		TEST(test_full_disk),
		TEST(test_export),
		TEST(test_columns),
		cmocka_unit_test(test_places_of_fields),
		cmocka_unit_test(test_names_of_outcomes),
		TEST(test_backup),
		TEST(test_backup_of_damage),
		TEST(test_sealed),
		TEST(test_killed),
		TEST(test_settings),
		TEST(test_stopped),
		TEST(test_format),
		TEST(test_limits_of_sets),
		TEST(test_repeats_among_many),
		TEST(test_limits_of_jobs),
		TEST(test_limits_of_copies),
		TEST(test_limits_of_outcomes),
		TEST(test_limits_of_acts),
		cmocka_unit_test(test_text_of_heads),
		TEST(test_last_of_heads),
		TEST(test_unsealed),
		TEST(test_damaged_frame),
		TEST(test_export_of_damage),
		TEST(test_verify_head),
		TEST(test_key_is_no_file),
		TEST(test_reader_of_a_half),
		TEST(test_restored_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
