// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <sodium.h>

#include <dealbox/format.h>
#include <dealbox/set.h>

#include "budget.h"
#include "bus-reply.h"
#include "bus-set.h"
#include "call-queue.h"
#include "log.h"

#define SET_MAX		(4 << 20)	/* maximum size of a deal file in bytes */

/* Return true if reading cannot block on another computer or a program (NFS, FUSE). */
static bool is_local(int fd)
{
	/*
	 * Memory (including memfd), disks, USB sticks, images. Not overlayfs: any user can mount
	 * one above a file system that one of his programs serves.
	 */
	static const unsigned long local[] = {
		TMPFS_MAGIC, RAMFS_MAGIC, EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		F2FS_SUPER_MAGIC, MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC,
		ISOFS_SUPER_MAGIC, UDF_SUPER_MAGIC, SQUASHFS_MAGIC, HUGETLBFS_MAGIC,
		0x2fc12fc1 /* ZFS */, 0x7366746e /* NTFS */,
	};
	struct statfs fs;
	size_t n;

	if (fstatfs(fd, &fs))
		return false;
	for (n = 0; n < sizeof(local) / sizeof(local[0]); n++)
		if ((unsigned long)fs.f_type == local[n])
			return true;
	return false;
}

/*
 * Read the whole file. The caller wipes and frees *data. The file is read only once, so that it
 * cannot change between check and use.
 */
static int read_file(int fd, uint8_t **data, size_t *size, sd_bus_error *error)
{
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_local(fd))
		return sd_bus_error_set(error, ERROR("BadSet"),
					"the set must be a memfd, or a file on a "
					"disk of this computer");
	if (st.st_size > SET_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "a set can have at most %d bytes", SET_MAX);
	*data = malloc(st.st_size + 1);
	if (!*data)
		return -ENOMEM;
	for (*size = 0; *size < (size_t)st.st_size; *size += got) {
		got = pread(fd, *data + *size, st.st_size - *size, *size);
		if (got <= 0)
			break;
	}
	return 0;
}

/* Set *error from the first problem of the report, without a card. */
static int bad_set(const struct dealbox_report *report, sd_bus_error *error)
{
	const struct dealbox_problem *problem;
	char text[512] = "the set cannot be used";
	size_t n;

	for (n = 0; (problem = dealbox_report_get(report, n)); n++) {
		if (problem->severity != DEALBOX_SEVERITY_PROBLEM)
			continue;
		dealbox_problem_describe(problem, false, text, sizeof(text));
		break;
	}
	return sd_bus_error_set(error, ERROR("BadSet"), text);
}

/* Convert a set to boards of the ledger. Free them with boards_free(). */
static int copy_boards(const struct dealbox_set *set, struct dealbox_ledger_board **boards,
		       sd_bus_error *error)
{
	size_t count = dealbox_set_count(set), n;
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	int err = 0;

	*boards = calloc(count, sizeof(**boards));
	if (!*boards)
		return -ENOMEM;
	for (n = 0; !err && n < count; n++) {
		dealbox_set_get(set, n, &board);
		(*boards)[n].number = board.number;
		(*boards)[n].deal = board.deal;
		if (!board.number || board.number > DEALBOX_BOARD_DEALT_MAX)
			err = sd_bus_error_setf(error, ERROR("BadSet"),
						"deal %zu has no number from 1 to %d", n + 1,
						DEALBOX_BOARD_DEALT_MAX);
	}
	dealbox_deal_wipe(&board.deal);
	return err;
}

void boards_free(struct dealbox_ledger_board *boards, size_t count)
{
	if (boards)
		sodium_memzero(boards, count * sizeof(*boards));
	free(boards);
}

int read_boards(int fd, const char *pack, struct dealbox_ledger_board **boards, size_t *count,
		       sd_bus_error *error)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = NULL;
	uint8_t *data = NULL;
	size_t size = 0;
	int err = 0;

	*boards = NULL;
	*count = 0;
	if (*pack && !dealbox_pack_find(pack))
		err = sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "there is no such pack");
	if (err >= 0)
		err = read_file(fd, &data, &size, error);
	if (err >= 0) {
		set = dealbox_set_new(*pack ? dealbox_pack_find(pack) : NULL);
		if (!report || !set)
			err = -ENOMEM;
	}
	if (err >= 0 &&
	    (dealbox_format_read_memory(NULL, data, size, "set", set, report, NULL) ||
	     dealbox_set_check(set, report) ||
	     dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM) || !dealbox_set_count(set)))
		err = bad_set(report, error);
	/* Programs that have asked the user, like `dealbox deal --practice`, remove the mark. */
	if (err >= 0 && dealbox_set_marks(set) & DEALBOX_MARK_RESTRICTED)
		err = sd_bus_error_set(error, ERROR("BadSet"),
				       "the deals are restricted: they are not wholly random (Law "
				       "6E4); for practice, `dealbox deal --practice` deals them");
	if (err >= 0) {
		*count = dealbox_set_count(set);
		err = copy_boards(set, boards, error);
	}
	if (data)
		sodium_memzero(data, size);
	free(data);
	dealbox_set_free(set);
	dealbox_report_free(report);
	return err;
}

static struct budgets budgets;

/*
 * Sets can be used to test whether a deal is in the ledger, so limit how many a user can submit.
 * Root can read the ledger anyway.
 */
int may_ask(sd_bus_message *m, struct service *s, size_t boards, sd_bus_error *error)
{
	uint32_t uid = sender_uid(m);
	uint64_t now = 0;

	sd_event_now(s->event, CLOCK_BOOTTIME, &now);
	if (!uid || budget_take(&budgets, uid, boards, now))
		return 0;
	log_message(MESSAGE_REFUSED, NULL, NULL, "user %u exceeded the limit of boards; somebody "
						 "may be testing which deals were dealt", uid);
	return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
				 "a user may submit %d boards at once, and %d per hour; root may "
				 "submit any number", BUDGET_BOARDS, BUDGET_HOUR);
}
