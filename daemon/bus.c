// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The service on the bus: io.dealbox1. Who may do what is asked of polkit, without
 * waiting for it; the emergency stop is asked of nobody. Sets come as files, and no card
 * leaves by a signal, a property or an error.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <sodium.h>

#include <dealbox/certificate.h>
#include <dealbox/format.h>
#include <dealbox/set.h>
#include <dealbox/version.h>

#include "budget.h"
#include "bus.h"
#include "log.h"
#include "panel.h"
#include "work.h"

#define SET_MAX		(4 << 20)	/* bytes of a file with deals */
#define BOARD_MAX	9999
#define MACHINES_MAX	64		/* that a job can name */
#define ABSENT_MAX	8		/* of them that are said not to be there */
#define JOB_PATH	64		/* bytes of its object */

/* ---- replies ----------------------------------------------------------------- */

int append_number(sd_bus_message *reply, char type, uint64_t number)
{
	uint32_t narrow = number;

	return type == 't' ? sd_bus_message_append_basic(reply, type, &number) :
	       sd_bus_message_append_basic(reply, type, &narrow);
}

int send_reply(sd_bus_message *reply, int err)
{
	if (err >= 0)
		err = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return err;
}

static void job_path(uint64_t id, char path[JOB_PATH])
{
	snprintf(path, JOB_PATH, JOBS "/%llu", (unsigned long long)id);
}

static int ledger_error(struct service *s, int err, sd_bus_error *error)
{
	const char *name = err == -EEXIST ? ERROR("Repeat") : err == -ENOENT ? ERROR("NotFound") :
			   err == -EBUSY ? ERROR("Busy") :
			   err == -EINVAL ? SD_BUS_ERROR_INVALID_ARGS : ERROR("Ledger");

	return sd_bus_error_set(error, name, dealbox_ledger_error(s->ledger));
}

int record_act(struct service *s, sd_bus_message *m, struct dealbox_ledger_act *act,
		      sd_bus_error *error)
{
	int err;

	act->uid = sender_uid(m);
	err = dealbox_ledger_add_act(s->ledger, act);
	return err ? ledger_error(s, err, error) : 0;
}

/* ---- sets -------------------------------------------------------------------- */

/* Does what lies there come without waiting for another computer, or for a program? */
static bool is_local(int fd)
{
	/* memory (and memfd), disks, sticks, images */
	static const unsigned long local[] = {
		TMPFS_MAGIC, RAMFS_MAGIC, EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC,
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
 * The whole file, or an error: *data is wiped and freed by the caller. It is read once: what
 * becomes of the file meanwhile does not matter.
 */
static int read_file(int fd, uint8_t **data, size_t *size, sd_bus_error *error)
{
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_local(fd))
		return sd_bus_error_set(error, ERROR("BadSet"), "the set must be a memfd, or a file on a "
					"disk of this computer");
	if (st.st_size > SET_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "a set has at most %d bytes", SET_MAX);
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

/* Says the first problem of the report, without a card. */
static int bad_set(const struct dealbox_report *report, sd_bus_error *error)
{
	const struct dealbox_problem *problem;
	char text[512] = "the set cannot be used";
	size_t n;

	for (n = 0; (problem = dealbox_report_get(report, n)); n++) {
		if (problem->severity != DEALBOX_PROBLEM)
			continue;
		dealbox_problem_describe(problem, false, text, sizeof(text));
		break;
	}
	return sd_bus_error_set(error, ERROR("BadSet"), text);
}

/* The boards of a set, as the ledger wants them: wiped and freed by boards_free(). */
static int boards_of(const struct dealbox_set *set, struct dealbox_ledger_board **boards, sd_bus_error *error)
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
		if (!board.number || board.number > BOARD_MAX)
			err = sd_bus_error_setf(error, ERROR("BadSet"), "deal %zu has no number from 1 "
						"to %d", n + 1, BOARD_MAX);
	}
	dealbox_deal_wipe(&board.deal);
	return err;
}

static void boards_free(struct dealbox_ledger_board *boards, size_t count)
{
	if (boards)
		sodium_memzero(boards, count * sizeof(*boards));
	free(boards);
}

/* It will stand on terminals. */
static bool is_name(const char *text)
{
	size_t n;

	for (n = 0; text[n]; n++)
		if ((unsigned char)text[n] < 0x20 || text[n] == 0x7f ||
		    ((unsigned char)text[n] == 0xc2 && ((unsigned char)text[n + 1] & 0xe0) == 0x80))
			return false;
	return n && n < 128;
}

/* The boards of a file of deals: of any format, and without a problem. boards_free() in any case. */
static int read_boards(int fd, const char *pack, struct dealbox_ledger_board **boards, size_t *count,
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
	     dealbox_set_check(set, report) || dealbox_report_found(report, DEALBOX_PROBLEM) ||
	     !dealbox_set_count(set)))
		err = bad_set(report, error);
	/* a program that asks its user first, as `dealbox deal --practice` does, takes the mark off */
	if (err >= 0 && dealbox_set_marks(set) & DEALBOX_MARK_RESTRICTED)
		err = sd_bus_error_set(error, ERROR("BadSet"), "the deals are restricted: they are not wholly "
				       "random (Law 6E4); for practice, `dealbox deal --practice` deals them");
	if (err >= 0) {
		*count = dealbox_set_count(set);
		err = boards_of(set, boards, error);
	}
	if (data)
		sodium_memzero(data, size);
	free(data);
	dealbox_set_free(set);
	dealbox_report_free(report);
	return err;
}

static struct budgets budgets;	/* of deals that users give us */

/*
 * Whether a deal is in the ledger is asked by sets: nobody asks for all that he can think of. Root
 * reads the ledger anyway.
 */
static int may_ask(sd_bus_message *m, struct service *s, size_t boards, sd_bus_error *error)
{
	uint32_t uid = sender_uid(m);
	uint64_t now = 0;

	sd_event_now(s->event, CLOCK_BOOTTIME, &now);
	if (!uid || budget_take(&budgets, uid, boards, now))
		return 0;
	log_message(MESSAGE_REFUSED, NULL, NULL, "user %u gives more boards than a user may: are deals tried "
		    "out, until one was dealt?", uid);
	return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED, "a user may give %d boards, and %d more "
				 "each hour; root may give as many as he likes", BUDGET_BOARDS, BUDGET_HOUR);
}

static int add_set(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct dealbox_ledger_board *boards = NULL;
	const char *session, *pack;
	size_t count = 0;
	uint64_t number;
	int fd, err;

	err = sd_bus_message_read(m, "hss", &fd, &session, &pack);
	if (err >= 0 && !is_name(session))
		err = sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "the name of a session has 1 to "
				       "127 bytes, and no control characters");
	if (err >= 0)
		err = read_boards(fd, pack, &boards, &count, error);
	if (err >= 0)
		err = may_ask(m, s, count, error);
	if (err >= 0) {
		dealbox_ledger_user(s->ledger, sender_uid(m));
		err = dealbox_ledger_add_set(s->ledger, session, boards, count, &number, NULL);
		err = err ? ledger_error(s, err, error) :
			    sd_bus_reply_method_return(m, "tu", number, (uint32_t)count);
	}
	boards_free(boards, count);
	return err;
}
METHOD(add_set, "deal")

static int append_set(uint64_t set, void *context)
{
	int err = append_number(context, 't', set);

	return err < 0 ? err : 0;
}

/* Which sets of the ledger are these deals, for whatever session? Nothing is added. */
static int find_sets(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct dealbox_ledger_board *boards = NULL;
	sd_bus_message *reply = NULL;
	const char *pack;
	size_t count = 0;
	int fd, err;

	err = sd_bus_message_read(m, "hs", &fd, &pack);
	if (err >= 0)
		err = read_boards(fd, pack, &boards, &count, error);
	if (err >= 0)
		err = may_ask(m, s, count, error);
	if (err >= 0)
		err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "t");
	if (err >= 0 && dealbox_ledger_find_sets(s->ledger, boards, count, append_set, reply))
		err = ledger_error(s, -EIO, error);
	boards_free(boards, count);
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
METHOD(find_sets, "deal")

/* Which boards has a set of the ledger? */
static int set_boards(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	sd_bus_message *reply = NULL;
	unsigned int *numbers;
	uint64_t number;
	size_t count, n;
	int err;

	err = sd_bus_message_read(m, "t", &number);
	if (err < 0)
		return err;
	err = work_boards(s, number, &numbers, &count);
	if (err == -ENOENT)
		return sd_bus_error_setf(error, ERROR("NotFound"), "there is no set %llu",
					 (unsigned long long)number);
	if (err)
		return ledger_error(s, err, error);
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "u");
	for (n = 0; err >= 0 && n < count; n++)
		err = append_number(reply, 'u', numbers[n]);
	free(numbers);
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
METHOD(set_boards, "deal")

/* ---- jobs -------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned int bit;
} job_options[] = {
	{ "replay", DEALBOX_JOB_REPLAY },
	{ "sets-in-a-row", DEALBOX_JOB_SETS },
	{ "descending", DEALBOX_JOB_DESCENDING },
	{ "by-reader", DEALBOX_JOB_BY_READER },
	{ "automatic-start", DEALBOX_JOB_AUTO_START },
	{ "stop-card", DEALBOX_JOB_STOP_CARD },
	{ "reversed-pockets", DEALBOX_JOB_REVERSED },
	{ "by-position", DEALBOX_JOB_BY_POSITION },
};

/* How a job wants to be dealt: what a call may say of it beside boards and copies. */
struct wishes {
	unsigned int options;
	int priority;
	char **machines;	/* NULL: none is named */
};

static int check_machines(char *const *machines, sd_bus_error *error)
{
	size_t n;

	for (n = 0; machines && machines[n]; n++)
		if (!is_name(machines[n]))
			return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "the id of a machine has "
						"1 to 127 bytes, and no control characters");
	if (n > MACHINES_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "a job can name %d machines", MACHINES_MAX);
	return 0;
}

/* 0, or *error is set; machines are to be freed in any case. */
static int read_wishes(sd_bus_message *m, struct wishes *wishes, sd_bus_error *error)
{
	const char *name;
	size_t n;
	int err, on;

	err = sd_bus_message_enter_container(m, 'a', "{sv}");
	while (err >= 0 && (err = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		err = sd_bus_message_read(m, "s", &name);
		if (err < 0)
			break;
		for (n = 0; n < sizeof(job_options) / sizeof(job_options[0]); n++)
			if (!strcmp(name, job_options[n].name))
				break;
		if (n < sizeof(job_options) / sizeof(job_options[0])) {
			err = sd_bus_message_read(m, "v", "b", &on);
			if (err >= 0 && on)
				wishes->options |= job_options[n].bit;
		} else if (!strcmp(name, "priority")) {
			err = sd_bus_message_read(m, "v", "i", &wishes->priority);
		} else if (!strcmp(name, "machines")) {
			texts_free(wishes->machines);
			wishes->machines = NULL;
			err = sd_bus_message_enter_container(m, 'v', "as");
			if (err >= 0)
				err = sd_bus_message_read_strv(m, &wishes->machines);
			if (err >= 0)
				err = sd_bus_message_exit_container(m);
		} else {
			return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
						 "there is no option '%s'", name);
		}
		if (err >= 0)
			err = sd_bus_message_exit_container(m);
	}
	return err < 0 ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
					  "an option has another type") :
	       check_machines(wishes->machines, error);
}

/* The oldest job that is done or cancelled, or NULL. */
static struct job *oldest_over(const struct service *s)
{
	struct job *job, *over = NULL;

	for (job = s->jobs.first; job; job = job->next)
		if ((job_done(job) || job->state == DEALBOX_LEDGER_JOB_CANCELLED) &&
		    (!over || job->id < over->id))
			over = job;
	return over;
}

/* Room for a job more, or for copies: jobs that are over are forgotten for it. False: there is none. */
static bool make_room(struct service *s, unsigned int more, size_t boards, size_t names)
{
	char path[JOB_PATH];
	struct job *over;

	while (!jobs_room(&s->jobs, more, boards, names)) {
		over = oldest_over(s);
		if (!over)
			return false;
		job_path(over->id, path);
		sd_bus_emit_object_removed(s->bus, path);
		jobs_remove(&s->jobs, over);
	}
	return true;
}

/* A machine that is not there may still come: the job waits, and it is said for what. */
static void tell_absent(const struct service *s, const struct job *job)
{
	const struct station *st;
	unsigned int said = 0;
	size_t n;

	for (n = 0; job->machines && job->machines[n] && said < ABSENT_MAX; n++) {
		st = stations_find(s, job->machines[n]);
		if (st && st->machine)
			continue;
		log_message(MESSAGE_JOB, st ? st->id : NULL, &(struct copy){ job->id, 0, 0 }, "job %llu is for "
			    "the machine %s, which is not there now",
			    (unsigned long long)job->id, job->machines[n]);
		said++;
	}
}

/* Records the job, takes it up, and replies with its object. */
static int begin_job(sd_bus_message *m, struct service *s, uint64_t set, const uint32_t *boards,
		     size_t size, uint32_t copies, const struct wishes *wishes,
		     sd_bus_error *error)
{
	unsigned int *numbers;
	struct job *job;
	char path[JOB_PATH];
	size_t n, names = 0;
	uint64_t id;
	int err;

	size /= sizeof(*boards);
	if (!size || size > BOARD_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "a job has 1 to %d boards", BOARD_MAX);
	for (n = 0; wishes->machines && wishes->machines[n]; n++)
		names += strlen(wishes->machines[n]) + 1;
	if (!make_room(s, 1, size, names))
		return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED, "there are too many jobs, or too "
					"large ones: finish or cancel some");
	numbers = calloc(size, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (n = 0; n < size; n++)
		numbers[n] = boards[n];
	dealbox_ledger_user(s->ledger, sender_uid(m));
	err = dealbox_ledger_add_job(s->ledger, set, numbers, size, copies, wishes->options,
				     wishes->priority, (const char *const *)wishes->machines, &id,
				     NULL);
	free(numbers);
	if (err)
		return ledger_error(s, err, error);
	job = work_load(s, id);
	if (!job)
		return sd_bus_error_set(error, ERROR("Ledger"), "the job is recorded, and will be dealt "
					"after a restart of the service");
	log_message(MESSAGE_JOB, NULL, &(struct copy){ id, 0, 0 }, "job %llu: %zu boards",
		    (unsigned long long)id, size);
	tell_absent(s, job);
	job_path(id, path);
	sd_bus_emit_object_added(s->bus, path);
	return sd_bus_reply_method_return(m, "o", path);
}

static int add_job(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct wishes wishes = { 0 };
	const uint32_t *boards;
	uint32_t copies;
	uint64_t set;
	size_t size;
	int err;

	err = sd_bus_message_read(m, "t", &set);
	if (err >= 0)
		err = sd_bus_message_read_array(m, 'u', (const void **)&boards, &size);
	if (err >= 0)
		err = sd_bus_message_read(m, "u", &copies);
	if (err >= 0)
		err = read_wishes(m, &wishes, error);
	if (err >= 0)
		err = begin_job(m, s, set, boards, size, copies, &wishes, error);
	texts_free(wishes.machines);
	return err;
}
METHOD(add_job, "deal")

/* Boards that were dealt by hand are read, pocket by pocket. */
static int add_capture(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct wishes wishes = { 0 };
	const uint32_t *boards;
	size_t size;
	int err = sd_bus_message_read_array(m, 'u', (const void **)&boards, &size);

	if (err >= 0)
		err = read_wishes(m, &wishes, error);
	if (err >= 0 && wishes.options)
		err = sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "a capture has the options "
				       "machines and priority only");
	wishes.options |= DEALBOX_JOB_CAPTURE;
	if (err >= 0)
		err = begin_job(m, s, 0, boards, size, DEALBOX_HANDS, &wishes, error);
	texts_free(wishes.machines);
	return err;
}
METHOD(add_capture, "deal")

static struct job *job_at(struct service *s, const char *path)
{
	unsigned long long id;
	int end = 0;

	if (sscanf(path, JOBS "/%llu%n", &id, &end) != 1 || path[end])
		return NULL;
	return jobs_find(&s->jobs, id);
}

static int find_job(sd_bus *bus, const char *path, const char *interface, void *context,
		    void **found, sd_bus_error *error)
{
	(void)bus;
	(void)interface;
	(void)error;
	*found = context;
	return job_at(context, path) ? 1 : 0;
}

static void job_changed(struct service *s, uint64_t id)
{
	const struct job *job = jobs_find(&s->jobs, id);
	char path[JOB_PATH];

	if (!job)
		return;
	job_path(id, path);
	sd_bus_emit_properties_changed(s->bus, path, "io.dealbox1.Job", "State", "Recorded", "Void",
				       "Priority", NULL);
	if (job_done(job))
		sd_bus_emit_signal(s->bus, path, "io.dealbox1.Job", "Finished", "");
}

/* What an operator does with a job, or with one copy of it. */
static int job_act(sd_bus_message *m, struct service *s, enum dealbox_ledger_act_kind kind,
		   sd_bus_error *error)
{
	struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct dealbox_ledger_act act = { .act = kind };
	int err = 0;

	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	act.job = job->id;
	if (kind == DEALBOX_ACT_SKIP || kind == DEALBOX_ACT_REDEAL)
		err = sd_bus_message_read(m, "uu", &act.board, &act.copy);
	else if (kind == DEALBOX_ACT_PRIORITY)
		err = sd_bus_message_read(m, "i", &act.value);
	if (err >= 0 && act.board && !job_has(job, act.board, act.copy))
		return sd_bus_error_setf(error, ERROR("NotFound"), "job %llu has no copy %u of board %u",
					 (unsigned long long)job->id, act.copy, act.board);
	if (err >= 0 && (kind == DEALBOX_ACT_SKIP || kind == DEALBOX_ACT_REDEAL) &&
	    !jobs_room(&s->jobs, 0, 0, 0) && job_state(job, act.board, act.copy) == DEALBOX_LEDGER_COPY_OPEN)
		return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED, "the jobs are too large: finish or "
					"cancel some");
	if (err >= 0)
		err = record_act(s, m, &act, error);
	if (err < 0)
		return err;
	if (kind == DEALBOX_ACT_RESUME)
		job->repeat = false;
	if (work_refresh(s, job))
		return sd_bus_error_set(error, ERROR("Ledger"), dealbox_ledger_error(s->ledger));
	/* an open copy is not in the ledger's list of copies */
	if (kind == DEALBOX_ACT_REDEAL)
		job_set_state(job, act.board, act.copy, DEALBOX_LEDGER_COPY_OPEN);
	job_changed(s, job->id);
	return sd_bus_reply_method_return(m, "");
}

/* What a capture has read becomes a set, to be copied (Law 6F). Nobody sees a card. */
static int make_set(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct dealbox_ledger_board *boards;
	const char *session;
	char why[WORK_WHY];
	uint64_t number;
	size_t n;
	int err = sd_bus_message_read(m, "s", &session);

	if (err < 0)
		return err;
	if (!is_name(session))
		return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "that is no name of a session");
	if (!job || !(job->options & DEALBOX_JOB_CAPTURE))
		return sd_bus_error_set(error, ERROR("NotFound"), "this job captures nothing");
	boards = calloc(job->count, sizeof(*boards));
	if (!boards)
		return -ENOMEM;
	for (n = 0, err = 0; !err && n < job->count; n++) {
		boards[n].number = job->boards[n];
		err = work_original(s, job, job->boards[n], &boards[n].deal, why);
	}
	if (err == -EINVAL || err == -EBADMSG || err == -EDOM)
		err = sd_bus_error_setf(error, ERROR("BadSet"), "board %u: %s", boards[n - 1].number, why);
	else if (err)
		err = ledger_error(s, err, error);
	dealbox_ledger_user(s->ledger, sender_uid(m));
	if (!err && dealbox_ledger_add_set(s->ledger, session, boards, job->count, &number, NULL))
		err = ledger_error(s, -EIO, error);
	if (!err)
		err = sd_bus_reply_method_return(m, "tu", number, (uint32_t)job->count);
	sodium_memzero(boards, job->count * sizeof(*boards));
	free(boards);
	return err;
}
METHOD(make_set, "deal")

/* Insertions that are put into a reply. */
struct listed {
	sd_bus_message *reply;
	unsigned int count;
};

static int append_insertion(const struct dealbox_ledger_insertion *i, void *context)
{
	struct listed *listed = context;
	static const char *const outcomes[] = {
		"", "exact", "differs", "void", "unknown", "captured"
	};
	int err = ++listed->count > INSERTIONS_MAX ? -E2BIG :
		  sd_bus_message_append(listed->reply, "(uusus)", i->board, i->copy, i->machine, i->number,
					outcomes[i->outcome]);

	return err < 0 ? err : 0;
}

/* Every insertion that was begun for the job, and what became of it. */
static int job_insertions(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct listed listed = { 0 };
	int err;

	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	err = sd_bus_message_new_method_return(m, &listed.reply);
	if (err >= 0)
		err = sd_bus_message_open_container(listed.reply, 'a', "(uusus)");
	if (err >= 0 && dealbox_ledger_insertions(s->ledger, job->id, false, append_insertion, &listed))
		err = listed.count > INSERTIONS_MAX ?
		      sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED, "the job has more than %d "
					"insertions; `dealbox ledger` shows them", INSERTIONS_MAX) :
		      ledger_error(s, -EIO, error);
	if (err >= 0)
		err = sd_bus_message_close_container(listed.reply);
	return send_reply(listed.reply, err);
}
METHOD(job_insertions, "deal")

/*
 * For a certificate: commits to the trace of an insertion, with a salt of the caller's, and
 * tells the verdict. The trace stays here, and a digest is not a card.
 */
static int job_commit(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	static const char *const bases[] = { "none", "gates", "sensors" };
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct dealbox_verdict *verdict = NULL;
	struct dealbox_trace *trace = NULL;
	sd_bus_message *reply = NULL;
	uint8_t digest[DEALBOX_HASH];
	const char *machine;
	const void *salt;
	uint32_t number;
	size_t size;
	int err;

	err = sd_bus_message_read(m, "su", &machine, &number);
	if (err >= 0)
		err = sd_bus_message_read_array(m, 'y', &salt, &size);
	if (err < 0)
		return err;
	if (size != DEALBOX_HASH)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "a salt has %d bytes",
					 DEALBOX_HASH);
	err = job ? work_judge(s, job, machine, number, &trace, &verdict) : -ENOENT;
	if (err == -ENOENT)
		return sd_bus_error_setf(error, ERROR("NotFound"), "the job has no insertion %u of the "
					 "machine %s that was dealt to its end", number, machine);
	if (err)
		return sd_bus_error_set(error, ERROR("Ledger"), "what is recorded of it cannot be read");
	dealbox_trace_commit(trace, salt, digest);
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_append(reply, "bsbs", dealbox_verdict_exact(verdict),
					    bases[dealbox_verdict_basis(verdict)],
					    dealbox_verdict_identified(verdict),
					    job->options & DEALBOX_JOB_REVERSED ? "WSEN" : "NESW");
	if (err >= 0)
		err = sd_bus_message_append_array(reply, 'y', digest, sizeof(digest));
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
	return send_reply(reply, err);
}
METHOD(job_commit, "deal")

/* Who has added a job may also end it; to skip all that is left of it is to end it. */
static const char *to_end_job(sd_bus_message *m, struct service *s)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));

	return job && job->uid == sender_uid(m) ? "deal" : "manage";
}

#define JOB_METHOD(function, kind, action) \
static int function(sd_bus_message *m, struct service *s, sd_bus_error *error) \
{ \
	return job_act(m, s, kind, error); \
} \
METHOD(function, action)

JOB_METHOD(job_pause, DEALBOX_ACT_PAUSE, "deal")
JOB_METHOD(job_resume, DEALBOX_ACT_RESUME, "deal")
JOB_METHOD(job_cancel, DEALBOX_ACT_CANCEL, to_end_job(m, context))
JOB_METHOD(job_skip, DEALBOX_ACT_SKIP, to_end_job(m, context))
JOB_METHOD(job_redeal, DEALBOX_ACT_REDEAL, "manage")
JOB_METHOD(job_priority, DEALBOX_ACT_PRIORITY, "manage")

/* What is told comes from memory: a client that asks often does not make the ledger work. */
static int get_job(sd_bus *bus, const char *path, const char *interface, const char *property,
		   sd_bus_message *reply, void *context, sd_bus_error *error)
{
	static const char *const states[] = { "open", "paused", "cancelled" };
	const struct job *job = job_at(context, path);
	const struct {
		const char *name;
		char type;
		uint64_t number;
	} numbers[] = {
		{ "Id", 't', job ? job->id : 0 },
		{ "Set", 't', job ? job->set : 0 },
		{ "Boards", 'u', job ? job->count : 0 },
		{ "Copies", 'u', job ? job->copies : 0 },
		{ "Priority", 'i', job ? job->priority : 0 },
		{ "Recorded", 'u', job ? job_recorded(job) : 0 },
		{ "Void", 'u', job ? job->voided : 0 },
	};
	size_t n;

	(void)bus;
	(void)interface;
	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	for (n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		if (!strcmp(property, numbers[n].name))
			return append_number(reply, numbers[n].type, numbers[n].number);
	if (!strcmp(property, "Session"))
		return sd_bus_message_append(reply, "s", job->session);
	if (!strcmp(property, "Machines"))
		return sd_bus_message_append_strv(reply, job->machines);
	return sd_bus_message_append(reply, "s", job->repeat ? "repeat" :
				     job->state != DEALBOX_LEDGER_JOB_CANCELLED && job_done(job) ?
				     "done" : states[job->state]);
}

static const sd_bus_vtable job_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Id", "t", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Set", "t", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Session", "s", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Boards", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Copies", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Machines", "as", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Priority", "i", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("State", "s", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Recorded", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Void", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD("Pause", "", "", job_pause_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Resume", "", "", job_resume_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Cancel", "", "", job_cancel_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("SetPriority", "i", SD_BUS_PARAM(priority), "", ,
				 job_priority_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Skip", "uu", SD_BUS_PARAM(board) SD_BUS_PARAM(copy), "", ,
				 job_skip_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Redeal", "uu", SD_BUS_PARAM(board) SD_BUS_PARAM(copy), "", ,
				 job_redeal_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("MakeSet", "s", SD_BUS_PARAM(session), "tu",
				 SD_BUS_PARAM(set) SD_BUS_PARAM(boards), make_set_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetInsertions", "", , "a(uusus)", SD_BUS_PARAM(insertions),
				 job_insertions_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Commit", "suay", SD_BUS_PARAM(machine) SD_BUS_PARAM(insertion)
				 SD_BUS_PARAM(salt), "bsbsay", SD_BUS_PARAM(exact)
				 SD_BUS_PARAM(basis) SD_BUS_PARAM(read) SD_BUS_PARAM(pockets)
				 SD_BUS_PARAM(trace), job_commit_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_NAMES("Judged", "uusubs", SD_BUS_PARAM(board) SD_BUS_PARAM(copy)
				 SD_BUS_PARAM(machine) SD_BUS_PARAM(insertion) SD_BUS_PARAM(exact)
				 SD_BUS_PARAM(text), 0),
	SD_BUS_SIGNAL("Finished", "", 0),
	SD_BUS_VTABLE_END
};

static int list_jobs(sd_bus *bus, const char *prefix, void *context, char ***nodes,
		     sd_bus_error *error)
{
	struct service *s = context;
	const struct job *job;
	char path[JOB_PATH];
	int err = 0;

	(void)bus;
	(void)prefix;
	(void)error;
	for (job = s->jobs.first; job && !err; job = job->next) {
		job_path(job->id, path);
		err = texts_add(nodes, path);
	}
	return err;
}

/* ---- the service ---------------------------------------------------------------- */

METHOD(reveal_set, "reveal")
METHOD(reveal_traces, "reveal")

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *context, sd_bus_error *error)
{
	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)context;
	(void)error;
	return sd_bus_message_append(reply, "s", DEALBOX_VERSION);
}

static int get_panel(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *context, sd_bus_error *error)
{
	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	return sd_bus_message_append(reply, "s", panel_state(context));
}

static const sd_bus_vtable manager_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Panel", "s", get_panel, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD_WITH_NAMES("AddSet", "hss",
				 SD_BUS_PARAM(file) SD_BUS_PARAM(session) SD_BUS_PARAM(pack), "tu",
				 SD_BUS_PARAM(set) SD_BUS_PARAM(boards), add_set_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("AddJob", "tauua{sv}",
				 SD_BUS_PARAM(set) SD_BUS_PARAM(boards) SD_BUS_PARAM(copies)
				 SD_BUS_PARAM(options), "o", SD_BUS_PARAM(job), add_job_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("AddCapture", "aua{sv}", SD_BUS_PARAM(boards)
				 SD_BUS_PARAM(options), "o", SD_BUS_PARAM(job), add_capture_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("FindSets", "hs", SD_BUS_PARAM(file) SD_BUS_PARAM(pack), "at",
				 SD_BUS_PARAM(sets), find_sets_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetBoards", "t", SD_BUS_PARAM(set), "au", SD_BUS_PARAM(boards),
				 set_boards_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetSet", "t", SD_BUS_PARAM(set), "h", SD_BUS_PARAM(file),
				 reveal_set_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetTraces", "tu", SD_BUS_PARAM(job) SD_BUS_PARAM(board),
				 "hss" "a(uusuuu)", SD_BUS_PARAM(events) SD_BUS_PARAM(how)
				 SD_BUS_PARAM(pockets) SD_BUS_PARAM(insertions),
				 reveal_traces_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Stop", "", "", stop_all, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END
};

static void job_judged(struct service *s, const struct notice *notice)
{
	char path[JOB_PATH];

	job_path(notice->copy->job, path);
	sd_bus_emit_signal(s->bus, path, "io.dealbox1.Job", "Judged", "uusubs", notice->copy->board,
			   notice->copy->copy, notice->station->id, notice->insertion, notice->exact,
			   notice->text);
}

void bus_notice(struct service *s, const struct notice *notice)
{
	switch (notice->kind) {
	case NOTICE_MACHINE_ADDED:
		machine_added(notice->station);
		break;
	case NOTICE_MACHINE_STATE:
	case NOTICE_MACHINE_CARDS:
		machine_changed(notice->station, notice->kind == NOTICE_MACHINE_STATE);
		break;
	case NOTICE_JUDGED:
		job_judged(s, notice);
		break;
	case NOTICE_JOB_CHANGED:
		job_changed(s, notice->job);
		break;
	case NOTICE_PANEL_CHANGED:
		sd_bus_emit_properties_changed(s->bus, ROOT, "io.dealbox1.Manager", "Panel", NULL);
		break;
	default:
		break;
	}
}

int bus_open(struct service *s)
{
	int err = sd_bus_open_system(&s->bus);

	if (err >= 0)
		err = sd_bus_add_object_manager(s->bus, NULL, ROOT);
	if (err >= 0)
		err = sd_bus_add_object_vtable(s->bus, NULL, ROOT, "io.dealbox1.Manager",
					       manager_vtable, s);
	if (err >= 0)
		err = sd_bus_add_fallback_vtable(s->bus, NULL, MACHINES, "io.dealbox1.Machine",
						 machine_vtable, find_station, s);
	if (err >= 0)
		err = sd_bus_add_node_enumerator(s->bus, NULL, MACHINES, list_stations, s);
	if (err >= 0)
		err = sd_bus_add_fallback_vtable(s->bus, NULL, JOBS, "io.dealbox1.Job", job_vtable,
						 find_job, s);
	if (err >= 0)
		err = sd_bus_add_node_enumerator(s->bus, NULL, JOBS, list_jobs, s);
	/*
	 * As machines and what else there is: what has waited longest comes next, one message or one
	 * queue of events at a time. Nobody who asks without end keeps the others out.
	 */
	if (err >= 0)
		err = sd_bus_attach_event(s->bus, s->event, SD_EVENT_PRIORITY_NORMAL);
	if (err >= 0)
		err = calls_open(s);
	/* without the bus nobody can stop what is dealt: the loop ends, and the machines are paused */
	if (err >= 0)
		err = sd_bus_set_exit_on_disconnect(s->bus, true);
	if (err >= 0)
		err = sd_bus_request_name(s->bus, "io.dealbox1", 0);
	if (err < 0)
		log_message(MESSAGE_CONFIG, NULL, NULL, "the bus: %s", strerror(-err));
	return err < 0 ? err : 0;
}

void bus_close(struct service *s)
{
	calls_close(s);
	s->bus = sd_bus_flush_close_unref(s->bus);
}
