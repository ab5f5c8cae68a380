// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A VFS for SQLite that lets the program continue during fsync(). A slow disk can take seconds, and
 * the program has one thread. xSync runs in a separate thread while the caller runs a function of
 * the program; all other methods are passed on to SQLite's own VFS. And the folder of a ledger, for
 * which SQLite has no method.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ledger-internal.h"

/* A file, followed by the file of SQLite's VFS. */
struct file {
	sqlite3_file base;
	sqlite3_file *real;
	const struct ledger_disk *disk;
};

struct sync {
	sqlite3_file *real;
	int flags, result;
	int done;		/* an eventfd */
};

void ledger_disk_wait(const struct ledger_disk *disk, int fd)
{
	if (disk->wait)
		disk->wait(fd, disk->context);
	else if (fd < 0)
		usleep(LEDGER_WAIT_MS * 1000);
}

static sqlite3_file *real(sqlite3_file *file)
{
	return ((struct file *)file)->real;
}

static void *sync_thread(void *context)
{
	struct sync *sync = context;

	sync->result = sync->real->pMethods->xSync(sync->real, sync->flags);
	eventfd_write(sync->done, 1);
	return NULL;
}

static int file_sync(sqlite3_file *file, int flags)
{
	const struct ledger_disk *disk = ((struct file *)file)->disk;
	struct sync sync = { .real = real(file), .flags = flags, .done = -1 };
	pthread_t thread;

	if (disk->wait)
		sync.done = eventfd(0, EFD_CLOEXEC);
	if (sync.done < 0 || pthread_create(&thread, NULL, sync_thread, &sync)) {
		sync.result = sync.real->pMethods->xSync(sync.real, flags);
	} else {
		ledger_disk_wait(disk, sync.done);
		pthread_join(thread, NULL);
	}
	if (sync.done >= 0)
		close(sync.done);
	return sync.result;
}

/* ---- all else is SQLite's ---------------------------------------------------- */

static int file_close(sqlite3_file *f)
{
	return real(f)->pMethods->xClose(real(f));
}

static int file_read(sqlite3_file *f, void *data, int size, sqlite3_int64 at)
{
	return real(f)->pMethods->xRead(real(f), data, size, at);
}

static int file_write(sqlite3_file *f, const void *data, int size, sqlite3_int64 at)
{
	return real(f)->pMethods->xWrite(real(f), data, size, at);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return real(f)->pMethods->xTruncate(real(f), size);
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return real(f)->pMethods->xFileSize(real(f), size);
}

static int file_lock(sqlite3_file *f, int lock)
{
	return real(f)->pMethods->xLock(real(f), lock);
}

static int file_unlock(sqlite3_file *f, int lock)
{
	return real(f)->pMethods->xUnlock(real(f), lock);
}

static int file_reserved(sqlite3_file *f, int *reserved)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), reserved);
}

static int file_control(sqlite3_file *f, int op, void *argument)
{
	return real(f)->pMethods->xFileControl(real(f), op, argument);
}

static int file_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int file_characteristics(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
	return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}

static int file_shm_lock(sqlite3_file *f, int offset, int count, int flags)
{
	return real(f)->pMethods->xShmLock(real(f), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int file_shm_unmap(sqlite3_file *f, int remove)
{
	return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2, .xClose = file_close, .xRead = file_read, .xWrite = file_write,
	.xTruncate = file_truncate, .xSync = file_sync, .xFileSize = file_size, .xLock = file_lock,
	.xUnlock = file_unlock, .xCheckReservedLock = file_reserved, .xFileControl = file_control,
	.xSectorSize = file_sector, .xDeviceCharacteristics = file_characteristics,
	.xShmMap = file_shm_map, .xShmLock = file_shm_lock, .xShmBarrier = file_shm_barrier,
	.xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
	const struct ledger_disk *disk = vfs->pAppData;
	struct file *file = (struct file *)f;
	int rc;

	file->disk = disk;
	file->real = (sqlite3_file *)(file + 1);
	rc = disk->below->xOpen(disk->below, name, file->real, flags, out);
	file->base.pMethods = file->real->pMethods ? &methods : NULL;
	return rc;
}

const char *ledger_disk_register(struct ledger_disk *disk)
{
	sqlite3_vfs *vfs = &disk->vfs;

	disk->below = sqlite3_vfs_find(NULL);
	if (!disk->below)
		return NULL;
	/* the other methods of the VFS of unix.c do not depend on pAppData */
	*vfs = *disk->below;
	vfs->pAppData = disk;
	vfs->szOsFile += (int)sizeof(struct file);
	vfs->xOpen = vfs_open;
	snprintf(disk->name, sizeof(disk->name), "dealbox-%p", (void *)disk);
	vfs->zName = disk->name;
	if (sqlite3_vfs_register(vfs, 0) != SQLITE_OK)
		vfs->zName = NULL;
	return vfs->zName;
}

void ledger_disk_unregister(struct ledger_disk *disk)
{
	if (disk->vfs.zName)
		sqlite3_vfs_unregister(&disk->vfs);
	disk->vfs.zName = NULL;
}

int ledger_sync_folder(struct dealbox_ledger *l, const char *path)
{
	char *copy = strdup(path);
	int fd, err = 0;

	if (!copy)
		return ledger_fail(l, -ENOMEM, "no memory");
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0 || fsync(fd))
		err = ledger_fail(l, -errno, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}
