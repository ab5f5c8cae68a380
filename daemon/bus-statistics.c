// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "bus-reply.h"
#include "bus-statistics.h"
#include "call-queue.h"
#include "dealing/statistics.h"

/* The insertions of a machine that deal a set. */
struct collected {
	struct service *s;
	const char *machine;
	struct statistics_insertion *list;
	size_t count, room, seen;
	struct dealbox_ledger_job job;	/* of the last one */
};

static int keep_job(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

static int collect(const struct dealbox_ledger_insertion *i, void *context)
{
	struct collected *c = context;
	struct statistics_insertion *grown;
	int err;

	if (!(c->seen++ % LOOK_EVERY))
		calls_look(c->s);
	if (strcmp(i->machine, c->machine))
		return 0;
	if (c->job.job != i->job) {
		memset(&c->job, 0, sizeof(c->job));
		err = dealbox_ledger_jobs(c->s->ledger, i->job, keep_job, &c->job);
		if (err)
			return err;
	}
	if (c->count == c->room) {
		c->room = c->room ? 2 * c->room : 256;
		grown = c->count < INSERTIONS_MAX ?
			realloc(c->list, c->room * sizeof(*grown)) : NULL;
		if (!grown)
			return -ENOMEM;
		c->list = grown;
	}
	/* Boards that were read, or dealt without a set, are no deals of their own: all are one. */
	c->list[c->count++] = (struct statistics_insertion){
		.id = i->id, .begun = i->begun_us, .judged = i->outcome != DEALBOX_LEDGER_NONE,
		.set = c->job.set, .board = c->job.set ? i->board : 0,
		.by_card = !(c->job.options & DEALBOX_JOB_BY_POSITION) };
	return 0;
}

static int append_cards(sd_bus_message *reply, const struct statistics_month *month)
{
	int err = sd_bus_message_open_container(reply, 'a', "(uu)");
	uint32_t card;

	for (card = 0; err >= 0 && card < STATISTICS_CARDS; card++)
		if (statistics_named(month, card))
			err = sd_bus_message_append(reply, "(uu)", card,
						    statistics_named(month, card));
	return err < 0 ? err : sd_bus_message_close_container(reply);
}

static int append_gates(sd_bus_message *reply, const struct statistics_month *month)
{
	int err = sd_bus_message_open_container(reply, 'a', "(uuuu)");
	uint32_t pocket;

	for (pocket = 0; err >= 0 && pocket < DEALBOX_MAX_POCKETS; pocket++)
		if (month->gates[pocket].routed || month->gates[pocket].wrong)
			err = sd_bus_message_append(reply, "(uuuu)", pocket,
						    month->gates[pocket].routed,
						    month->gates[pocket].wrong,
						    month->gates[pocket].stuck);
	return err < 0 ? err : sd_bus_message_close_container(reply);
}

static int append_month(sd_bus_message *reply, struct statistics_month *month)
{
	char name[32];
	int err;

	statistics_end(month);
	if (!statistics_shown(month))
		return 0;
	snprintf(name, sizeof(name), "%u-%02u", 1970 + month->month / 12, 1 + month->month % 12);
	err = sd_bus_message_open_container(reply, 'r', "suuuua(uu)a(uuuu)");
	if (err >= 0)
		err = sd_bus_message_append(reply, "suuuu", name, month->boards, month->deals,
					    month->failed, month->late);
	if (err >= 0)
		err = append_cards(reply, month);
	if (err >= 0)
		err = append_gates(reply, month);
	return err < 0 ? err : sd_bus_message_close_container(reply);
}

static int add_trace(struct dealbox_ledger *ledger, struct statistics_month *month,
		     const struct statistics_insertion *insertion)
{
	struct dealbox_event *events = NULL;
	size_t count = 0;
	int err = dealbox_ledger_get_trace(ledger, insertion->id, &events, &count);

	if (err && err != -ENOENT)
		return err;
	statistics_add(month, insertion, events, count);
	if (events)
		sodium_memzero(events, count * sizeof(*events));
	free(events);
	return 0;
}

int reply_statistics(sd_bus_message *m, struct service *s, const char *machine, sd_bus_error *error)
{
	struct collected c = { .s = s, .machine = machine };
	struct statistics_month month = { 0 };
	sd_bus_message *reply = NULL;
	size_t count, n;
	int err, read;

	read = dealbox_ledger_insertions(s->ledger, 0, false, collect, &c);
	count = read ? 0 : statistics_choose(c.list, c.count);
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', STATISTICS_TYPE);
	for (n = 0; err >= 0 && !read && n < count; n++) {
		if (n && c.list[n].month != c.list[n - 1].month) {
			err = append_month(reply, &month);
			memset(&month, 0, sizeof(month));
		}
		/* each trace is opened, which takes longest */
		calls_look(s);
		read = add_trace(s->ledger, &month, &c.list[n]);
	}
	if (err >= 0 && !read && count)
		err = append_month(reply, &month);
	sodium_memzero(&month, sizeof(month));
	free(c.list);
	if (read == -ENOMEM)
		err = -ENOMEM;
	else if (read)
		err = ledger_error(s, read, error);
	if (err >= 0 && !read)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
