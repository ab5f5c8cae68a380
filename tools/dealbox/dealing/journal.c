// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The journal of a job. JSON, so that a person can read it too.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal.h"
#include "ui/tool.h"

#define JOURNAL_VERSION	1

static const char *const state_names[] = {
	[ITEM_TODO] = "todo",
	[ITEM_STARTED] = "started",
	[ITEM_EXACT] = "exact",
};

/* mkdir -p of the folder in which path lies; 0 or -errno. */
static int folder_make(const char *path)
{
	char folder[sizeof(((struct journal *)0)->path)];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	for (slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

/* The journal itself is replaced at each change: the lock is a file beside it. */
static int lock_take(struct journal *journal)
{
	char path[sizeof(journal->path) + 5];
	int error;

	snprintf(path, sizeof(path), "%s.lock", journal->path);
	journal->lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (journal->lock < 0) {
		journal->lock = 0;
		return -errno;
	}
	if (!flock(journal->lock, LOCK_EX | LOCK_NB))
		return 0;
	error = -errno;
	close(journal->lock);
	journal->lock = 0;
	return error;
}

bool journal_place(struct journal *journal, const char *serial)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	char name[64];
	char *c;
	int ret;

	/* a serial number may be any text */
	snprintf(name, sizeof(name), "%s", *serial ? serial : "machine");
	for (c = name; *c; c++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", *c))
			*c = '_';
	if (state && *state == '/')
		snprintf(journal->path, sizeof(journal->path), "%s/dealbox/job-%s.json", state, name);
	else if (!geteuid() || !home || *home != '/')
		snprintf(journal->path, sizeof(journal->path), "/var/lib/dealbox/job-%s.json", name);
	else
		snprintf(journal->path, sizeof(journal->path),
			 "%s/.local/state/dealbox/job-%s.json", home, name);
	ret = folder_make(journal->path);
	if (!ret)
		ret = lock_take(journal);
	if (ret == -EWOULDBLOCK)
		complain("wait until it has finished; two machines must not have one serial number",
			 "another job is dealt on a machine with the serial number '%s'", serial);
	else if (ret)
		complain("set XDG_STATE_HOME to a folder that you may write to",
			 "cannot make the folder of %s: %s", journal->path, strerror(-ret));
	return !ret;
}

static bool item_get(struct json_object *object, struct item *item)
{
	const char *state = json_get_text(object, "state");
	int n;

	for (n = 0; state && n < ITEM_STATES; n++) {
		if (strcmp(state, state_names[n]))
			continue;
		item->state = n;
		return json_get_number(object, "board", &item->board) &&
		       json_get_number(object, "copy", &item->copy) &&
		       json_get_number(object, "insertion", &item->insertion) &&
		       json_get_number(object, "voids", &item->voids);
	}
	return false;
}

static bool list_get(struct json_object *object, const char *name, struct json_object **list,
		     size_t *length)
{
	if (!json_object_object_get_ex(object, name, list) ||
	    !json_object_is_type(*list, json_type_array))
		return false;
	*length = json_object_array_length(*list);
	return true;
}

static bool journal_get(struct json_object *root, struct journal *journal)
{
	struct json_object *items, *files, *doubt;
	const char *digest = json_get_text(root, "set");
	uint32_t version;
	size_t n;

	if (!json_get_number(root, "version", &version) || version != JOURNAL_VERSION || !digest ||
	    !json_get_number(root, "copies", &journal->copies) ||
	    !list_get(root, "files", &files, &journal->file_count) ||
	    !list_get(root, "items", &items, &journal->item_count))
		return false;
	snprintf(journal->digest, sizeof(journal->digest), "%s", digest);
	/* not in those of before */
	journal->doubt = json_object_object_get_ex(root, "doubt", &doubt) && json_object_get_boolean(doubt);
	journal->files = calloc(journal->file_count + 1, sizeof(*journal->files));
	journal->items = calloc(journal->item_count + 1, sizeof(*journal->items));
	if (!journal->files || !journal->items)
		return false;
	for (n = 0; n < journal->file_count; n++) {
		journal->files[n] = strdup(json_object_get_string(json_object_array_get_idx(files, n)) ?: "");
		if (!journal->files[n])
			return false;
	}
	for (n = 0; n < journal->item_count; n++)
		if (!item_get(json_object_array_get_idx(items, n), &journal->items[n]))
			return false;
	return true;
}

int journal_load(struct journal *journal)
{
	struct json_object *root;
	int fd = open(journal->path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0) {
		if (errno == ENOENT)
			return -ENOENT;
		ret = -errno;
		complain("look at its rights", "cannot read %s: %s", journal->path, strerror(-ret));
		return ret;
	}
	root = json_object_from_fd(fd);
	close(fd);
	if (!root || !journal_get(root, journal)) {
		complain("empty the board that is in the machine, and deal without --resume",
			 "%s is damaged: nobody knows how far the job came", journal->path);
		journal_free(journal);
		ret = -EBADMSG;
	}
	json_object_put(root);
	return ret;
}

static struct json_object *journal_json(const struct journal *journal)
{
	struct json_object *root = json_object_new_object();
	struct json_object *files = json_object_new_array();
	struct json_object *items = json_object_new_array();
	struct json_object *one;
	size_t n;

	json_object_object_add(root, "version", json_object_new_int(JOURNAL_VERSION));
	json_object_object_add(root, "set", json_object_new_string(journal->digest));
	json_object_object_add(root, "copies", json_object_new_int64(journal->copies));
	json_object_object_add(root, "doubt", json_object_new_boolean(journal->doubt));
	for (n = 0; n < journal->file_count; n++)
		json_object_array_add(files, json_object_new_string(journal->files[n]));
	json_object_object_add(root, "files", files);
	for (n = 0; n < journal->item_count; n++) {
		const struct item *item = &journal->items[n];

		one = json_object_new_object();
		json_object_object_add(one, "board", json_object_new_int64(item->board));
		json_object_object_add(one, "copy", json_object_new_int64(item->copy));
		json_object_object_add(one, "insertion", json_object_new_int64(item->insertion));
		json_object_object_add(one, "voids", json_object_new_int64(item->voids));
		json_object_object_add(one, "state", json_object_new_string(state_names[item->state]));
		json_object_array_add(items, one);
	}
	json_object_object_add(root, "items", items);
	return root;
}

/* Writes all of it, and waits for the disk. */
static bool write_synced(int fd, const char *text)
{
	size_t left = strlen(text);
	ssize_t done;

	while (left) {
		done = write(fd, text, left);
		if (done < 0)
			return false;
		text += done;
		left -= (size_t)done;
	}
	return !fsync(fd);
}

/* The new name is only there after a power cut when the folder is on disk too. */
static bool folder_sync(const char *path)
{
	char folder[sizeof(((struct journal *)0)->path)];
	bool done;
	int fd;

	snprintf(folder, sizeof(folder), "%s", path);
	fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = !fsync(fd);
	close(fd);
	return done;
}

bool journal_save(const struct journal *journal)
{
	char temporary[sizeof(journal->path) + 4];
	struct json_object *root = journal_json(journal);
	bool done = false;
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.new", journal->path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0) {
		done = write_synced(fd, json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE));
		done &= !close(fd);
		done = done && !rename(temporary, journal->path) && folder_sync(journal->path);
	}
	if (!done)
		complain("make room or give rights there, then go on with --resume",
			 "cannot keep the journal %s: %m", journal->path);
	json_object_put(root);
	return done;
}

struct item *journal_next(const struct journal *journal)
{
	size_t n;

	for (n = 0; n < journal->item_count; n++)
		if (journal->items[n].state != ITEM_EXACT)
			return &journal->items[n];
	return NULL;
}

bool journal_has(const struct journal *journal, uint32_t insertion)
{
	size_t n;

	for (n = 0; insertion && n < journal->item_count; n++)
		if (journal->items[n].insertion == insertion)
			return true;
	return false;
}

bool journal_begun(const struct journal *journal)
{
	size_t n;

	for (n = 0; n < journal->item_count; n++)
		if (journal->items[n].state != ITEM_TODO || journal->items[n].voids)
			return true;
	return false;
}

void journal_remove(const struct journal *journal)
{
	unlink(journal->path);
}

void journal_free(struct journal *journal)
{
	size_t n;

	for (n = 0; journal->files && n < journal->file_count; n++)
		free(journal->files[n]);
	free(journal->files);
	free(journal->items);
	if (journal->lock)
		close(journal->lock);
	journal->lock = 0;
	journal->files = NULL;
	journal->items = NULL;
	journal->file_count = 0;
	journal->item_count = 0;
}
