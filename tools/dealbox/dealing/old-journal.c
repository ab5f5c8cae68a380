// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "deal.h"
#include "old-journal.h"
#include "ui/set-to-deal.h"

#define JOURNAL_VERSION	1
#define NOT_TAKEN	"the job that was interrupted under an earlier version cannot go on"

/* The state of a copy of a board */
struct item {
	uint32_t board, copy;
	uint32_t insertion;	/* last one, also if only begun; 0 = none */
	enum { ITEM_TODO, ITEM_STARTED, ITEM_EXACT } state;
};

struct journal {
	char path[4200];
	int64_t at;		/* time of its last change, in seconds since 1970 */
	struct json_object *root;
	const char *digest;	/* of the set; owned by root */
	uint32_t copies;
	char **files;		/* owned by root */
	size_t file_count;
	struct item *items;
	size_t item_count;
};

/* The path that earlier versions used */
static bool place(struct journal *journal, const char *machine)
{
	bool serial = strncmp(machine, "port:", 5);
	char folder[4096], name[64], *c;

	snprintf(name, sizeof(name), "%s", serial ? machine : "machine");
	for (c = name; *c; c++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", *c))
			*c = '_';
	if (!getenv("XDG_STATE_HOME") && !geteuid())
		strcpy(folder, "/var/lib/dealbox");
	else if (!own_folder(folder, sizeof(folder)))
		return false;
	snprintf(journal->path, sizeof(journal->path), "%s/job-%s.json", folder, name);
	return true;
}

static bool get_list(struct json_object *object, const char *name, struct json_object **list,
		     size_t *length)
{
	if (!json_object_object_get_ex(object, name, list) ||
	    !json_object_is_type(*list, json_type_array))
		return false;
	*length = json_object_array_length(*list);
	return true;
}

static bool get_item(struct json_object *object, struct item *item)
{
	static const char *const states[] = { "todo", "started", "exact" };
	const char *state = json_get_text(object, "state");
	unsigned int n;

	for (n = 0; state && n < 3; n++) {
		if (strcmp(state, states[n]))
			continue;
		item->state = n;
		return json_get_number(object, "board", &item->board) &&
		       json_get_number(object, "copy", &item->copy) &&
		       json_get_number(object, "insertion", &item->insertion);
	}
	return false;
}

static bool get_journal(struct journal *journal)
{
	struct json_object *items, *files;
	uint32_t version;
	size_t n;

	journal->digest = json_get_text(journal->root, "set");
	if (!json_get_number(journal->root, "version", &version) || version != JOURNAL_VERSION ||
	    !journal->digest || !json_get_number(journal->root, "copies", &journal->copies) ||
	    !get_list(journal->root, "files", &files, &journal->file_count) ||
	    !get_list(journal->root, "items", &items, &journal->item_count))
		return false;
	journal->files = calloc(journal->file_count + 1, sizeof(*journal->files));
	journal->items = calloc(journal->item_count + 1, sizeof(*journal->items));
	if (!journal->files || !journal->items)
		return false;
	for (n = 0; n < journal->file_count; n++)
		journal->files[n] =
			(char *)json_object_get_string(json_object_array_get_idx(files, n));
	for (n = 0; n < journal->item_count; n++)
		if (!get_item(json_object_array_get_idx(items, n), &journal->items[n]))
			return false;
	return journal->item_count;
}

/* Read the journal. Returns 0, -ENOENT, or another error after reporting it. */
static int read_journal(struct journal *journal)
{
	int fd = open(journal->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, &st)) {
		complain("look at its rights", "cannot read %s: %m", journal->path);
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	journal->at = st.st_mtime;
	journal->root = json_object_from_fd(fd);
	close(fd);
	if (journal->root && get_journal(journal))
		return 0;
	complain("empty the board that is in the machine, and move that file away",
		 "%s is damaged: nobody knows how far the job of an earlier version came",
		 journal->path);
	return -EBADMSG;
}

static void wipe_journal(struct journal *journal)
{
	free(journal->files);
	free(journal->items);
	json_object_put(journal->root);
}

static int by_insertion(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->insertion < y->insertion ? -1 : x->insertion > y->insertion;
}

static int by_number(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Record the job, for this machine only. If an interrupted take-over has recorded it, use that one:
 * nothing is dealt before the journal is removed.
 */
static int add_job(struct dealbox_ledger *ledger, const struct journal *journal,
		   const char *machine, uint64_t set, uint64_t *job)
{
	const char *const machines[] = { machine, NULL };
	struct dealbox_ledger_new_job new_job = {
		/* earlier versions did not check for earlier sessions */
		.set = set, .copies = journal->copies, .machines = machines,
		.options = DEALBOX_JOB_AUTO_START | DEALBOX_JOB_REPLAY,
	};
	struct dealbox_ledger_job last = { 0 };
	unsigned int *boards;
	size_t n;
	int err = own_last(ledger, machine, false, &last);

	if (err)
		return err;
	if (last.set == set && last.options == new_job.options) {
		*job = last.job;
		return 0;
	}
	boards = calloc(journal->item_count, sizeof(*boards));
	if (!boards)
		return -ENOMEM;
	for (n = 0; n < journal->item_count; n++)
		boards[n] = journal->items[n].board;
	qsort(boards, journal->item_count, sizeof(*boards), by_number);
	for (n = 0; n < journal->item_count; n++)
		if (!n || boards[n] != boards[n - 1])
			boards[new_job.count++] = boards[n];
	new_job.boards = boards;
	err = dealbox_ledger_add_job(ledger, &new_job, job, NULL);
	free(boards);
	return err;
}

/* Record the insertion of an item as void or unknown, since its trace does not exist. */
static int add_insertion(struct dealbox_ledger *ledger, uint64_t job, const char *machine,
			 const struct item *item)
{
	struct dealbox_ledger_insertion insertion = {
		.job = job, .board = item->board, .copy = item->copy, .number = item->insertion,
		.plan = 1, .outcome = item->state == ITEM_TODO ? DEALBOX_LEDGER_VOID :
								 DEALBOX_LEDGER_UNKNOWN,
	};
	int err;

	snprintf(insertion.machine, sizeof(insertion.machine), "%s", machine);
	err = dealbox_ledger_begin(ledger, &insertion);
	/* already recorded, by this job or another */
	if (err == -EALREADY)
		return 0;
	return err ? err : dealbox_ledger_end(ledger, &insertion, NULL, 0);
}

/* Skip a copy that was exact. */
static int skip_copy(struct dealbox_ledger *ledger, uint64_t job, const struct item *item)
{
	const struct dealbox_ledger_act skip = {
		.act = DEALBOX_ACT_SKIP, .uid = getuid(), .job = job, .board = item->board,
		.copy = item->copy,
	};

	return dealbox_ledger_add_act(ledger, &skip);
}

/*
 * Record all items. Can be repeated: first settles insertions left open by an interrupted
 * take-over.
 */
static int take_items(struct dealbox_ledger *ledger, struct journal *journal, const char *machine,
		      uint64_t job)
{
	struct dealbox_ledger_insertion open;
	struct own_stand stand;
	size_t n;
	int err;

	/* keep the order, so that the last insertion is in doubt */
	qsort(journal->items, journal->item_count, sizeof(*journal->items), by_insertion);
	while ((err = own_open_insertions(ledger, job, &open)) > 0) {
		open.outcome = DEALBOX_LEDGER_UNKNOWN;
		err = dealbox_ledger_end(ledger, &open, NULL, 0);
		if (err)
			return err;
	}
	if (!err)
		err = own_stand(ledger, job, &stand);
	/* a skipped copy cannot be begun, so record all insertions first */
	for (n = 0; !err && !stand.skipped && n < journal->item_count; n++)
		if (journal->items[n].insertion)
			err = add_insertion(ledger, job, machine, &journal->items[n]);
	for (n = 0; !err && n < journal->item_count; n++)
		if (journal->items[n].state == ITEM_EXACT)
			err = skip_copy(ledger, job, &journal->items[n]);
	return err;
}

/* Remove the journal durably, before anything more is dealt. */
static bool remove_journal(const struct journal *journal)
{
	char folder[sizeof(journal->path)];
	bool good;
	int fd;

	memcpy(folder, journal->path, sizeof(folder));
	fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	good = fd >= 0 && !unlink(journal->path) && !fsync(fd);
	if (!good)
		complain("look at its rights", "cannot remove %s: %m", journal->path);
	if (fd >= 0)
		close(fd);
	return good;
}

static bool take(struct own_ledger *own, struct journal *journal, const char *machine,
		 const struct dealbox_set *set)
{
	struct dealbox_ledger_board *boards;
	time_t at = (time_t)journal->at;
	char session[SESSION_TODAY];
	uint64_t number, job = 0;
	size_t count;
	int err;

	boards = own_boards(set, &count);
	if (!boards)
		return false;
	strftime(session, sizeof(session), "%Y-%m-%d", localtime(&at));
	err = dealbox_ledger_add_set(own->ledger, session, boards, count, &number, NULL);
	own_boards_free(boards, count);
	if (!err)
		err = add_job(own->ledger, journal, machine, number, &job);
	if (!err)
		err = take_items(own->ledger, journal, machine, job);
	if (err) {
		own_refused(own->ledger);
		return false;
	}
	if (!remove_journal(journal))
		return false;
	complain(NULL, "the job in %s, of an earlier version, is job %llu of the ledger now",
		 journal->path, (unsigned long long)job);
	return true;
}

bool old_journal_take(struct own_ledger *own, const char *machine, const struct dealbox_set *given)
{
	struct journal journal = { 0 };
	struct dealbox_set *set = NULL;
	char digest[SET_TO_DEAL_DIGEST];
	bool good = false;
	int err;

	if (!place(&journal, machine))
		return true;
	err = read_journal(&journal);
	if (err) {
		wipe_journal(&journal);
		return err == -ENOENT;
	}
	if (given)
		set_to_deal_digest(given, digest);
	if (!given || strcmp(digest, journal.digest)) {
		if (set_to_deal_read(journal.files, (int)journal.file_count, false, NOT_TAKEN,
				     &set) == STATUS_DONE)
			set_to_deal_digest(set, digest);
		given = set;
	}
	if (given && !strcmp(digest, journal.digest))
		good = take(own, &journal, machine, given);
	else
		complain("put its files back; or empty every board, and remove that file",
			 "the job of an earlier version, in %s, has other deals than its files",
			 journal.path);
	dealbox_set_free(set);
	wipe_journal(&journal);
	return good;
}
