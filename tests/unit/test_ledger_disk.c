// SPDX-License-Identifier: LGPL-2.1-or-later
/* The layer between the ledger and SQLite's own files loses nothing, and adds nothing. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/ledger-internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- a VFS that keeps what it is asked ----------------------------------- */

static struct {
	const char *method;
	void *file, *pointer;
	sqlite3_int64 numbers[4];
	pthread_t thread;
	int result;
} asked;

/* The disk waits for this descriptor before it has written; -1 = for none. */
static int gate = -1;

static int note(const char *method, void *file, void *pointer, sqlite3_int64 a, sqlite3_int64 b,
		sqlite3_int64 c)
{
	asked.method = method;
	asked.file = file;
	asked.pointer = pointer;
	asked.numbers[0] = a;
	asked.numbers[1] = b;
	asked.numbers[2] = c;
	asked.thread = pthread_self();
	if (gate >= 0 && !strcmp(method, "Sync"))
		eventfd_read(gate, &(eventfd_t){ 0 });
	return asked.result;
}

#define METHOD(name, parameters, pointer, a, b, c) \
	static int fake_##name parameters { return note(#name, f, pointer, a, b, c); }

METHOD(Close, (sqlite3_file *f), NULL, 0, 0, 0)
METHOD(Read, (sqlite3_file *f, void *data, int size, sqlite3_int64 at), data, size, at, 0)
METHOD(Write, (sqlite3_file * f, const void *data, int size, sqlite3_int64 at), (void *)data, size,
       at, 0)
METHOD(Truncate, (sqlite3_file *f, sqlite3_int64 size), NULL, size, 0, 0)
METHOD(Sync, (sqlite3_file *f, int flags), NULL, flags, 0, 0)
METHOD(FileSize, (sqlite3_file *f, sqlite3_int64 *size), size, 0, 0, 0)
METHOD(Lock, (sqlite3_file *f, int lock), NULL, lock, 0, 0)
METHOD(Unlock, (sqlite3_file *f, int lock), NULL, lock, 0, 0)
METHOD(CheckReservedLock, (sqlite3_file *f, int *reserved), reserved, 0, 0, 0)
METHOD(FileControl, (sqlite3_file *f, int op, void *argument), argument, op, 0, 0)
METHOD(SectorSize, (sqlite3_file *f), NULL, 0, 0, 0)
METHOD(DeviceCharacteristics, (sqlite3_file *f), NULL, 0, 0, 0)
METHOD(ShmMap, (sqlite3_file * f, int page, int size, int extend, void volatile **out), (void *)out,
       page, size, extend)
METHOD(ShmLock, (sqlite3_file *f, int offset, int count, int flags), NULL, offset, count, flags)
METHOD(ShmUnmap, (sqlite3_file *f, int remove), NULL, remove, 0, 0)

static void fake_ShmBarrier(sqlite3_file *f)
{
	note("ShmBarrier", f, NULL, 0, 0, 0);
}

static const sqlite3_io_methods fake_methods = {
	.iVersion = 2, .xClose = fake_Close, .xRead = fake_Read, .xWrite = fake_Write,
	.xTruncate = fake_Truncate, .xSync = fake_Sync, .xFileSize = fake_FileSize,
	.xLock = fake_Lock,
	.xUnlock = fake_Unlock, .xCheckReservedLock = fake_CheckReservedLock,
	.xFileControl = fake_FileControl, .xSectorSize = fake_SectorSize,
	.xDeviceCharacteristics = fake_DeviceCharacteristics, .xShmMap = fake_ShmMap,
	.xShmLock = fake_ShmLock, .xShmBarrier = fake_ShmBarrier, .xShmUnmap = fake_ShmUnmap,
};

static bool refuses;

static int fake_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
	(void)vfs;
	f->pMethods = refuses ? NULL : &fake_methods;
	note("Open", f, (void *)name, flags, 0, 0);
	*out = 3;
	return refuses ? SQLITE_CANTOPEN : SQLITE_OK;
}

static sqlite3_vfs fake_vfs = {
	.iVersion = 1, .szOsFile = sizeof(sqlite3_file), .mxPathname = 100, .zName = "fake",
	.xOpen = fake_open,
};

/* ---- what fails ---------------------------------------------------------- */

static bool no_vfs, fake, no_register, no_eventfd, no_thread;
static int threads;	/* that nobody has waited for */

sqlite3_vfs *__real_sqlite3_vfs_find(const char *name);
sqlite3_vfs *__wrap_sqlite3_vfs_find(const char *name);
sqlite3_vfs *__wrap_sqlite3_vfs_find(const char *name)
{
	return no_vfs ? NULL : fake ? &fake_vfs : __real_sqlite3_vfs_find(name);
}

int __real_sqlite3_vfs_register(sqlite3_vfs *vfs, int is_default);
int __wrap_sqlite3_vfs_register(sqlite3_vfs *vfs, int is_default);
int __wrap_sqlite3_vfs_register(sqlite3_vfs *vfs, int is_default)
{
	assert_false(is_default);
	return no_register ? SQLITE_NOMEM : __real_sqlite3_vfs_register(vfs, is_default);
}

int __real_eventfd(unsigned int value, int flags);
int __wrap_eventfd(unsigned int value, int flags);
int __wrap_eventfd(unsigned int value, int flags)
{
	return no_eventfd ? -1 : __real_eventfd(value, flags);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context)
{
	if (no_thread)
		return EAGAIN;
	threads++;
	return __real_pthread_create(thread, attributes, run, context);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	threads--;
	return __real_pthread_join(thread, result);
}

static unsigned int naps;

int __wrap_usleep(useconds_t us);
int __wrap_usleep(useconds_t us)
{
	assert_int_equal(us, 10000);
	naps++;
	return 0;
}

/* ---- the tests ----------------------------------------------------------- */

static unsigned int waits, ticks;

/* Meanwhile, a program polls its own descriptors, and this one. */
static void wait_for(int fd, void *context)
{
	eventfd_t value;

	assert_ptr_equal(context, &waits);
	if (fd < 0) {
		ticks++;
		return;
	}
	waits++;
	if (gate >= 0) {
		assert_int_equal(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0), 0);
		eventfd_write(gate, 1);
	}
	assert_int_equal(eventfd_read(fd, &value), 0);
	assert_int_equal(value, 1);
}

/* Whether this descriptor is free: one that is not closed makes it another. */
static int free_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int reset(void **state)
{
	(void)state;
	no_vfs = fake = no_register = no_eventfd = no_thread = refuses = false;
	waits = ticks = naps = 0;
	memset(&asked, 0, sizeof(asked));
	return 0;
}

/* Every method, with what it takes and gives. */
static void test_passed_on(void **state)
{
	struct ledger_disk disk = { .wait = NULL };
	const sqlite3_io_methods *m;
	void volatile *page = NULL;
	uint8_t place[256] = { 0 };
	sqlite3_file *f = (void *)place;
	sqlite3_vfs *vfs;
	sqlite3_int64 size;
	char data[4];
	int out = 0;

	(void)state;
	fake = true;
	assert_ptr_equal(ledger_disk_register(&disk), disk.name);
	fake = false;
	vfs = sqlite3_vfs_find(disk.name);
	assert_ptr_equal(vfs, &disk.vfs);
	assert_ptr_not_equal(sqlite3_vfs_find(NULL), vfs);
	assert_in_range(vfs->szOsFile, sizeof(sqlite3_file) + 2 * sizeof(void *), sizeof(place));

	refuses = true;
	assert_int_equal(vfs->xOpen(vfs, "name", f, 5, &out), SQLITE_CANTOPEN);
	assert_null(f->pMethods);
	refuses = false;
	assert_int_equal(vfs->xOpen(vfs, "name", f, 5, &out), SQLITE_OK);
	assert_string_equal(asked.pointer, "name");
	assert_int_equal(asked.numbers[0], 5);
	assert_int_equal(out, 3);
	m = f->pMethods;
	assert_int_equal(m->iVersion, 2);

#define CALL(name, wanted, a, b, c, ...) do { \
		asked.result = 100 + (a); \
		assert_int_equal(m->x##name(f, ##__VA_ARGS__), asked.result); \
		assert_string_equal(asked.method, #name); \
		assert_in_range((uintptr_t)asked.file, (uintptr_t)place + 1, \
				(uintptr_t)place + 255); \
		assert_ptr_equal(asked.pointer, wanted); \
		assert_int_equal(asked.numbers[0], a); \
		assert_int_equal(asked.numbers[1], b); \
		assert_int_equal(asked.numbers[2], c); \
	} while (0)
	CALL(Close, NULL, 0, 0, 0);
	CALL(Read, data, 11, 12, 0, data, 11, 12);
	CALL(Write, data, 13, 14, 0, data, 13, 14);
	CALL(Truncate, NULL, 15, 0, 0, 15);
	CALL(Sync, NULL, 16, 0, 0, 16);
	CALL(FileSize, &size, 0, 0, 0, &size);
	CALL(Lock, NULL, 17, 0, 0, 17);
	CALL(Unlock, NULL, 18, 0, 0, 18);
	CALL(CheckReservedLock, &out, 0, 0, 0, &out);
	CALL(FileControl, data, 19, 0, 0, 19, data);
	CALL(SectorSize, NULL, 0, 0, 0);
	CALL(DeviceCharacteristics, NULL, 0, 0, 0);
	CALL(ShmMap, (void *)&page, 20, 21, 22, 20, 21, 22, &page);
	CALL(ShmLock, NULL, 23, 24, 25, 23, 24, 25);
	CALL(ShmUnmap, NULL, 26, 0, 0, 26);
	m->xShmBarrier(f);
	assert_string_equal(asked.method, "ShmBarrier");

	ledger_disk_unregister(&disk);
	assert_null(sqlite3_vfs_find("dealbox-0"));
	assert_null(sqlite3_vfs_find(disk.name));
	ledger_disk_unregister(&disk);
}

/* While the disk works, the program goes on; if it cannot, it waits; nothing remains of either. */
static void test_sync(void **state)
{
	struct ledger_disk disk = { .wait = wait_for, .context = &waits };
	uint8_t place[256] = { 0 };
	sqlite3_file *f = (void *)place;
	int out, first, saved;

	(void)state;
	fake = true;
	assert_non_null(ledger_disk_register(&disk));
	assert_int_equal(disk.vfs.xOpen(&disk.vfs, "name", f, 0, &out), SQLITE_OK);
	first = free_descriptor();
	asked.result = SQLITE_IOERR_FSYNC;
	gate = __real_eventfd(0, 0);
	assert_int_equal(f->pMethods->xSync(f, 7), SQLITE_IOERR_FSYNC);
	close(gate);
	gate = -1;
	assert_int_equal(asked.numbers[0], 7);
	assert_false(pthread_equal(asked.thread, pthread_self()));
	assert_int_equal(waits, 1);

	/* a daemon may have closed its standard input: 0 is a descriptor like any other */
	saved = dup(0);
	close(0);
	assert_int_equal(f->pMethods->xSync(f, 7), SQLITE_IOERR_FSYNC);
	assert_false(pthread_equal(asked.thread, pthread_self()));
	assert_int_equal(waits, 2);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	assert_int_equal(dup2(saved, 0), 0);
	close(saved);
	assert_int_equal(free_descriptor(), first);

	no_eventfd = true;
	assert_int_equal(f->pMethods->xSync(f, 8), SQLITE_IOERR_FSYNC);
	assert_int_equal(asked.numbers[0], 8);
	assert_true(pthread_equal(asked.thread, pthread_self()));
	no_eventfd = false;
	no_thread = true;
	assert_int_equal(f->pMethods->xSync(f, 9), SQLITE_IOERR_FSYNC);
	assert_int_equal(asked.numbers[0], 9);
	assert_true(pthread_equal(asked.thread, pthread_self()));
	no_thread = false;
	disk.wait = NULL;
	assert_int_equal(f->pMethods->xSync(f, 10), SQLITE_IOERR_FSYNC);
	assert_int_equal(asked.numbers[0], 10);
	assert_true(pthread_equal(asked.thread, pthread_self()));
	assert_int_equal(waits, 2);
	assert_int_equal(threads, 0);
	assert_int_equal(free_descriptor(), first);
	ledger_disk_unregister(&disk);
}

/* Without a VFS of its own, a ledger uses SQLite's. */
static void test_none(void **state)
{
	struct ledger_disk disk = { .wait = NULL }, other = { .wait = NULL };

	(void)state;
	no_vfs = true;
	assert_null(ledger_disk_register(&disk));
	ledger_disk_unregister(&disk);
	no_vfs = false;
	no_register = true;
	assert_null(ledger_disk_register(&disk));
	ledger_disk_unregister(&disk);
	no_register = false;
	/* each ledger has its own, while it is open */
	assert_non_null(ledger_disk_register(&disk));
	assert_non_null(ledger_disk_register(&other));
	assert_string_not_equal(disk.name, other.name);
	ledger_disk_unregister(&disk);
	assert_null(disk.vfs.zName);
	assert_ptr_equal(sqlite3_vfs_find(other.name), &other.vfs);
	ledger_disk_unregister(&other);
}

static void test_wait(void **state)
{
	struct ledger_disk disk = { .wait = wait_for, .context = &waits };

	(void)state;
	ledger_disk_wait(&disk, -1);
	assert_int_equal(ticks, 1);
	disk.wait = NULL;
	ledger_disk_wait(&disk, -1);
	assert_int_equal(naps, 1);
	/* a descriptor is waited for by pthread_join() */
	ledger_disk_wait(&disk, 0);
	assert_int_equal(naps, 1);
}

/* A ledger on a real disk: it goes on while the program does, and waits 100 ms for another one. */
static void test_ledger(void **state)
{
	struct dealbox_ledger *l = dealbox_ledger_new();
	struct dealbox_ledger_board board = { .number = 1 };
	char folder[] = "/tmp/dealbox-XXXXXX", path[64], command[64];
	uint64_t set;
	sqlite3 *db;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/ledger", folder);
	dealbox_ledger_wait(l, wait_for, &waits);
	assert_int_equal(dealbox_ledger_open(l, path, DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE),
			 0);
	waits = 0;
	assert_int_equal(dealbox_ledger_add_set(l, "monday", &board, 1, &set, NULL), 0);
	assert_in_range(waits, 1, 10);

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	ticks = 0;
	assert_int_equal(dealbox_ledger_add_set(l, "tuesday", &board, 1, &set, NULL), -EBUSY);
	assert_int_equal(ticks, 10);
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(dealbox_ledger_add_set(l, "tuesday", &board, 1, &set, NULL), 0);
	dealbox_ledger_free(l);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_passed_on, reset),
		cmocka_unit_test_setup(test_sync, reset),
		cmocka_unit_test_setup(test_none, reset),
		cmocka_unit_test_setup(test_wait, reset),
		cmocka_unit_test_setup(test_ledger, reset),
	};

	alarm(60);	/* ends a hang */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
