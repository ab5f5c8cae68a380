// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Past heads: a file beside the ledger, with one line per transaction. An older ledger, or one
 * whose WAL is gone, is sound in itself; its file of heads shows that there was more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger-internal.h"

#define TAIL	65536	/* bytes of the file that are read, and kept */

void dealbox_ledger_head_format(const struct dealbox_ledger_head *head,
				char text[DEALBOX_LEDGER_HEAD_TEXT])
{
	int at =
		snprintf(text, DEALBOX_LEDGER_HEAD_TEXT, "%llu:", (unsigned long long)head->record);

	sodium_bin2hex(text + at, DEALBOX_LEDGER_HEAD_TEXT - (size_t)at, head->hash, sizeof(head->hash));
}

int dealbox_ledger_head_parse(const char *text, struct dealbox_ledger_head *head)
{
	struct dealbox_ledger_head found;
	const char *hash = strchr(text, ':');
	char *end;

	if (!hash || *text < '0' || *text > '9')
		return -EINVAL;
	found.record = strtoull(text, &end, 10);
	/* a number that is too great becomes ULLONG_MAX */
	if (end != hash || found.record > INT64_MAX ||
	    strspn(hash + 1, "0123456789abcdef") != 2 * sizeof(found.hash) ||
	    hash[1 + 2 * sizeof(found.hash)])
		return -EINVAL;
	sodium_hex2bin(found.hash, sizeof(found.hash), hash + 1, 2 * sizeof(found.hash), NULL, NULL,
		       NULL);
	*head = found;
	return 0;
}

static int fail(struct dealbox_ledger *l, const char *path)
{
	return ledger_fail(l, -errno, "%s: %s", path, strerror(errno));
}

int ledger_heads_last(struct dealbox_ledger *l, struct dealbox_ledger_head *head)
{
	int fd = open(l->heads_path, O_RDONLY | O_CLOEXEC), err = -ENOENT;
	char text[TAIL + 1], *line, *next;
	struct stat st;
	ssize_t size, n;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : fail(l, l->heads_path);
	size = fstat(fd, &st) ? -1 :
	       pread(fd, text, TAIL, st.st_size > TAIL ? st.st_size - TAIL : 0);
	if (size < 0)
		err = fail(l, l->heads_path);
	close(fd);
	/* some file systems leave zeros where nothing was written before a power cut */
	for (n = 0; n < size; n++)
		if (!text[n])
			text[n] = '\n';
	text[n] = '\0';
	/* a line that a power cut truncated does not count; the last complete one does */
	for (line = text; (next = strchr(line, '\n')); line = next + 1) {
		*next = '\0';
		if (!dealbox_ledger_head_parse(line, head))
			err = 0;
	}
	return err;
}

int ledger_heads_check(struct dealbox_ledger *l)
{
	struct dealbox_ledger_head known = { 0 }, now;
	int err = ledger_heads_last(l, &known);

	/* none, or it was empty */
	if (err == -ENOENT || (!err && !known.record))
		return 0;
	if (err)
		return err;
	err = ledger_find_head(l, &now, "SELECT seq, hash FROM chain WHERE seq = ?", known.record);
	if (!err && !memcmp(now.hash, known.hash, sizeof(known.hash)))
		return 0;
	if (!err)
		return ledger_fail(l, -ESTALE, "%s: record %llu is another than %s knows: this "
					       "ledger has gone on elsewhere since. `dealbox "
					       "ledger accept-restore` goes on with it", l->path,
				   (unsigned long long)known.record, l->heads_path);
	if (err == -ENOENT)
		err = dealbox_ledger_get_head(l, &now);
	if (err)
		return err;
	return ledger_fail(l, -ESTALE, "%s: the ledger ends at record %llu, and there were %llu, "
				       "as %s knows: an older one was put in its place, or its end "
				       "is gone. Put the newest back; if there is none, `dealbox "
				       "ledger accept-restore` goes on with this one", l->path,
			   (unsigned long long)now.record, (unsigned long long)known.record,
			   l->heads_path);
}

/* Adds a line with the head. False, and errno: it is not there, or not all of it. */
static bool put_line(struct dealbox_ledger *l)
{
	char line[DEALBOX_LEDGER_HEAD_TEXT + 2] = "\n";
	size_t size;

	dealbox_ledger_head_format(&l->head, line + 1);
	size = strlen(line);
	line[size++] = '\n';
	/*
	 * Not synced: after a power cut it may lack heads of the ledger, which is harmless. A
	 * partly written line does not count, because each line begins after a line end.
	 */
	errno = ENOSPC;		/* of what is written in part */
	if (write(l->heads, line, size) != (ssize_t)size)
		return false;
	l->noted = l->head;
	return true;
}

int ledger_heads_open(struct dealbox_ledger *l)
{
	/* root may do this in the service's folder, and gives the file away: never follow a link */
	const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	struct stat file, ledger;
	char *new_path = NULL;
	int err;

	l->heads = open(l->heads_path, flags | O_APPEND, 0600);
	if (l->heads < 0 || fstat(l->heads, &file) || stat(l->path, &ledger))
		return fail(l, l->heads_path);
	/* made by root for the service */
	if (file.st_uid != ledger.st_uid && fchown(l->heads, ledger.st_uid, ledger.st_gid))
		return fail(l, l->heads_path);
	err = dealbox_ledger_get_head(l, &l->head);
	if (err)
		return err;
	if (file.st_size < TAIL) {
		put_line(l);
		return 0;
	}
	/* the file is rewritten; until the new one is complete, the old one stays */
	close(l->heads);
	l->heads = -1;
	if (asprintf(&new_path, "%s.new", l->heads_path) < 0)
		return ledger_fail(l, -ENOMEM, "no memory");
	unlink(new_path);
	l->heads = open(new_path, flags | O_EXCL, 0600);
	if (l->heads < 0 || !put_line(l) || fsync(l->heads) ||
	    fchown(l->heads, ledger.st_uid, ledger.st_gid) || rename(new_path, l->heads_path)) {
		err = fail(l, new_path);
		unlink(new_path);
	}
	free(new_path);
	return err;
}

void ledger_heads_note(struct dealbox_ledger *l)
{
	if (l->heads >= 0 && memcmp(&l->head, &l->noted, sizeof(l->head)))
		put_line(l);
}
