// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dealbox/format.h>
#include <dealbox/set.h>

#include "bus-reply.h"
#include "bus-reveal.h"
#include "call-queue.h"
#include "service-ledger.h"

static int reply_error(struct service *s, int err, sd_bus_error *error)
{
	if (err == -ENOENT)
		return sd_bus_error_set(error, ERROR("NotFound"),
					"the ledger has no such set, job or board");
	return sd_bus_error_set(error, ERROR("Ledger"), dealbox_ledger_error(s->ledger)->what);
}

static int memory_open(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? -errno : fd;
}

/* Rewind the memfd and make it immutable. */
static int memory_seal(int fd)
{
	if (lseek(fd, 0, SEEK_SET) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return -errno;
	return 0;
}

const char *to_reveal_set(sd_bus_message *m, struct service *s)
{
	uint64_t number = 0, keeper;
	int secret;

	sd_bus_message_read(m, "t", &number);
	sd_bus_message_rewind(m, true);
	secret = dealbox_ledger_secret(s->ledger, number, &keeper);
	if (secret > 0 && keeper != number)
		call_explain("another set with the same boards is still being played: set %llu; "
			     "after its session, close its jobs and mark it as played",
			     (unsigned long long)keeper);
	return secret ? "reveal" : "deal";
}

int reveal_set(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct dealbox_ledger_act act = { .act = DEALBOX_ACT_REVEAL };
	struct dealbox_set *set = NULL;
	uint64_t number, keeper;
	int fd, err;

	err = sd_bus_message_read(m, "t", &number);
	if (err < 0)
		return err;
	if (number > INT64_MAX)
		return reply_error(s, -ENOENT, error);
	act.value = (int64_t)number;
	/* It may have changed while polkit asked. */
	if (strcmp(call_action(), "reveal") && dealbox_ledger_secret(s->ledger, number, &keeper))
		return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
					"the set, or another one with the same boards, is not "
					"played any more, or has an open job: ask again");
	err = record_act(s, m, &act, error);
	if (err < 0)
		return err;
	err = service_ledger_set(s, number, &set);
	if (err)
		return reply_error(s, err, error);
	fd = err = memory_open("set.pbn");
	if (fd >= 0)
		err = dealbox_format_write_fd(dealbox_format_find("pbn"), set, fd, "set.pbn", NULL);
	dealbox_set_free(set);
	if (!err)
		err = memory_seal(fd);
	if (!err)
		err = sd_bus_reply_method_return(m, "h", fd);
	if (fd >= 0)
		close(fd);
	return err;
}

static int append_trace(sd_bus_message *reply, int fd, struct service *s,
			const struct dealbox_ledger_insertion *insertion)
{
	struct dealbox_event *events = NULL;
	size_t count = 0, size, done = 0;
	ssize_t wrote = 0;
	int err = dealbox_ledger_get_trace(s->ledger, insertion->id, &events, &count);

	size = count * sizeof(*events);
	while (!err && done < size &&
	       (wrote = write(fd, (const char *)events + done, size - done)) > 0)
		done += (size_t)wrote;
	if (wrote < 0)
		err = -errno;
	if (events)
		explicit_bzero(events, size);
	free(events);
	if (!err)
		err = sd_bus_message_append(reply, "(uusuuu)", insertion->board, insertion->copy,
					    insertion->machine, insertion->number, insertion->plan,
					    (uint32_t)count);
	return err < 0 ? err : 0;
}

int reveal_traces(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct dealbox_ledger_act act = { .act = DEALBOX_ACT_REVEAL };
	struct dealbox_ledger_insertion *insertions = NULL;
	sd_bus_message *reply = NULL;
	unsigned int options;
	size_t count = 0, n;
	int fd, err;

	err = sd_bus_message_read(m, "tu", &act.job, &act.board);
	if (err < 0)
		return err;
	if (!act.job)
		return reply_error(s, -ENOENT, error);
	err = record_act(s, m, &act, error);
	if (err < 0)
		return err;
	err = service_ledger_traced(s, act.job, act.board, &options, &insertions, &count);
	if (err)
		return reply_error(s, err, error);
	if (count > INSERTIONS_MAX) {
		free(insertions);
		return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					"there are too many insertions: ask "
					"for one board at a time");
	}
	fd = err = memory_open("traces");
	if (fd >= 0)
		err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_append(reply, "hss", fd,
					    options & DEALBOX_JOB_CAPTURE ? "capture" :
					    options & DEALBOX_JOB_BY_POSITION ?
					    "by-position" : "by-card",
					    options & DEALBOX_JOB_REVERSED ? "WSEN" : "NESW");
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "(uusuuu)");
	for (n = 0; err >= 0 && n < count; n++) {
		calls_look(s);
		err = append_trace(reply, fd, s, &insertions[n]);
	}
	free(insertions);
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	if (err >= 0)
		err = memory_seal(fd);
	if (fd >= 0)
		close(fd);
	return send_reply(reply, err);
}
