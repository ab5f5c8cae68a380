// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Random walks through an event: the database must answer what the model answers, and come to the
 * same state. Requests come in order, twice, too late, and from another with the same identity.
 *
 * usage: walk ADDRESS SEED STEPS     ADDRESS is without a user: owner, director, a, b and c
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"
#include "event_model.h"

#define PCS	3
#define COPIES	6
#define HASH	"00000000-0000-0000-0000-000000000001"

static struct pool *owner, *director, *pcs[PCS];
static char tokens[PCS][LEASE_ID];
static struct model model;
static unsigned int inserted[PCS];
static int job;
static uint64_t seed;
static unsigned long steps, step;
static char what[160];

static unsigned int pick(unsigned int below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned int)(seed >> 33) % below;
}

static void fail(const char *why, int got, int wanted)
{
	printf("# step %lu: %s: %s is %d, not %d\n", step, what, why, got, wanted);
	exit(1);
}

static void same(const char *why, int got, int wanted)
{
	if (got != wanted)
		fail(why, got, wanted);
}

static int errno_of(enum model_answer answer)
{
	static const int errors[] = {
		[MODEL_RESTORED] = -ESTALE,
		[MODEL_TWICE] = -ENOTUNIQ,
		[MODEL_BUSY] = -EBUSY,
		[MODEL_NONE] = -ENOENT,
	};

	return answer == MODEL_OK || answer == MODEL_LOST ? 0 : errors[answer];
}

/* ---- steps -------------------------------------------------------------- */

static unsigned int bits_of(const struct lease_copy *copies, size_t count)
{
	unsigned int bits = 0;

	for (size_t n = 0; n < count; n++)
		bits |= 1U << (copies[n].copy - 1);
	return bits;
}

static void request(unsigned int pc)
{
	/* mostly the next number, or the last again; a stranger has other nonces */
	static const int aside[] = { 1, 1, 1, 1, 1, 1, 1, 0, 0, -1, 2 };
	int from_last = aside[pick(sizeof(aside) / sizeof(aside[0]))];
	unsigned int asked = model.pc[pc].asked ? model.pc[pc].asked + from_last : 1;
	unsigned int stranger = !pick(12), nonce = (asked & 0x7f) | stranger << 7, got = 0,
		     give = pick(1U << COPIES);
	struct lease_copy copies[COPIES];
	struct lease_time sent = { "boot", 0 };
	enum model_answer answer = MODEL_OK;
	struct dealbox_error error;
	struct lease lease = {
		.asked = asked, .want = pick(4), .request = LEASE_TAKE + (pick(4) ? pick(2) : 2),
		.given = copies,
	};

	/* a PC repeats the request that it has saved, which is of one kind */
	if (asked && asked == model.pc[pc].asked)
		lease.request = LEASE_TAKE;
	snprintf(lease.nonce, sizeof(lease.nonce), "00000000-0000-0000-0000-%012u", nonce);
	for (unsigned int n = 0; n < COPIES; n++)
		if (give >> n & 1)
			copies[lease.given_count++] =
				(struct lease_copy){ (uint32_t)job, 1, n + 1 };
	if (lease.request != LEASE_GIVE_BACK)
		lease.given_count = 0;
	/* the lease frees its lists */
	lease.given =
		lease.given_count ? memcpy(malloc(sizeof(copies)), copies, sizeof(copies)) : NULL;
	snprintf(what, sizeof(what),
		 "PC %u, request %d no. %u (last %u), stranger %u, want %u, give %x", pc,
		 lease.request, asked, model.pc[pc].asked, stranger, lease.want, give);
	switch (lease.request) {
	case LEASE_TAKE:
		answer = model_take(&model, pc, asked, nonce, lease.want, &got);
		break;
	case LEASE_GIVE_BACK:
		answer = model_give_back(&model, pc, asked, nonce, give);
		break;
	default:
		answer = model_back(&model, pc, asked, nonce);
	}
	same("the error", pool_request(pcs[pc], tokens[pc], &lease, &sent, &error),
	     errno_of(answer));
	if (!errno_of(answer)) {
		same("lost", lease.lost, answer == MODEL_LOST);
		same("what was got", (int)bits_of(lease.held, lease.held_count), (int)got);
	}
	lease_clear(&lease);
}

static void report(unsigned int pc)
{
	/* the next insertion, or one of before: with the same content, or another */
	unsigned int insertion =
		pick(3) || !inserted[pc] ? inserted[pc] + 1 : 1 + pick(inserted[pc]);
	unsigned int copy = pick(COPIES), exact = pick(4) > 0;
	enum model_standing wanted = MODEL_NO_BOARD;
	enum pool_standing standing = POOL_NO_BOARD;
	struct pool_report report;
	struct dealbox_error error;
	enum model_answer answer;
	char machine[8];

	for (unsigned int n = 0; n < model.records; n++)
		if (model.record[n].pc == pc && model.record[n].insertion == insertion && pick(4)) {
			copy = model.record[n].copy;
			exact = model.record[n].exact;
		}
	if (insertion > inserted[pc]) {
		if (model.records == MODEL_RECORDS)
			return;
		inserted[pc] = insertion;
	}
	snprintf(machine, sizeof(machine), "m%u", pc);
	snprintf(what, sizeof(what), "PC %u, insertion %u: copy %u, %sexact", pc, insertion, copy,
		 exact ? "" : "not ");
	report = (struct pool_report) {
		.machine = machine, .insertion = insertion, .copy = { (uint32_t)job, 1, copy + 1 },
		.hash = HASH, .outcome = exact ? "exact" : "void", .at = 1700000000000000,
	};
	answer = model_report(&model, pc, insertion, copy, exact, &wanted);
	same("the error", pool_report(pcs[pc], tokens[pc], &report, &standing, &error),
	     errno_of(answer));
	if (!answer)
		same("the standing", standing, (int)wanted);
}

static void withdraw(unsigned int pc)
{
	unsigned int insertion = 1 + pick(inserted[pc] + 1);
	struct dealbox_error error;
	enum model_answer answer;
	bool wanted, holds = false;
	char machine[8];

	snprintf(machine, sizeof(machine), "m%u", pc);
	snprintf(what, sizeof(what), "PC %u withdraws insertion %u", pc, insertion);
	answer = model_withdraw(&model, pc, insertion, &wanted);
	same("the error", pool_withdraw(pcs[pc], tokens[pc], machine, insertion, &holds, &error),
	     errno_of(answer));
	if (!answer)
		same("what it holds", holds, wanted);
}

static void lose(unsigned int pc)
{
	struct dealbox_error error;
	enum model_answer answer;
	unsigned int wanted;
	uint32_t opened = 0;
	char name[2] = { (char)('A' + pc), 0 };

	snprintf(what, sizeof(what), "PC %u is declared lost", pc);
	answer = model_lose(&model, pc, &wanted);
	same("the error", pool_lose(director, name, &opened, &error), errno_of(answer));
	if (!answer)
		same("the number of open copies", (int)opened, (int)wanted);
}

/* The director takes a board out of play: the one that counts for a copy, or a surplus one. */
static void withdraw_for(void)
{
	unsigned int copy = pick(COPIES), record = pick(model.records + 1);
	const struct lease_copy place = { (uint32_t)job, 1, copy + 1 };
	struct dealbox_error error;
	char pc[POOL_NAME], text[160];

	if (record == model.records) {
		snprintf(what, sizeof(what), "copy %u is void", copy);
		same("the error", pool_void(director, &place, pc, &error),
		     errno_of(model_void(&model, copy)));
		return;
	}
	snprintf(text, sizeof(text), "SELECT r.id FROM dealbox.record r JOIN dealbox.pc p ON p.id "
				     "= r.pc WHERE p.name = '%c' AND r.insertion = %u",
				     'A' + model.record[record].pc,
		 model.record[record].insertion);
	snprintf(what, sizeof(what), "record %u is dismissed", record);
	same("the error", pool_dismiss(director, sql(owner, text), &error),
	     errno_of(model_dismiss(&model, record)));
}

/* A tick is a minute. */
static void tick(void)
{
	char text[80];

	if (model.now >= 200)
		return;
	snprintf(what, sizeof(what), "time goes on");
	model.now++;
	snprintf(text, sizeof(text), "UPDATE walk_clock SET now = now + interval '1 min'");
	sql(owner, text);
}

/* ---- the state ---------------------------------------------------------- */

static int copy_row(const char *const *columns, size_t count, void *context)
{
	unsigned int copy = (unsigned int)atoi(columns[0]) - 1;
	const struct model_copy *wanted = &model.copy[copy];

	(void)count;
	(void)context;
	same("the holder", columns[1] ? *columns[1] - 'A' : -1, wanted->pc);
	same("its record", columns[2] ? atoi(columns[2]) : -1,
	     wanted->record < 0 ? -1 : model.record[wanted->record].insertion);
	same("surplus boards", atoi(columns[3]), (int)model_count(&model, copy, MODEL_SURPLUS));
	return 0;
}

static void compare(void)
{
	struct dealbox_error error;
	char number[12];
	const char *values[] = { number };

	snprintf(number, sizeof(number), "%d", job);
	same("reading",
	     pool_run(owner, &error, copy_row, NULL,
		      "SELECT c.copy, p.name, r.insertion, (SELECT count(*) FROM dealbox.record s "
		      "WHERE s.job = c.job "
		      "AND s.copy = c.copy AND s.standing = 'surplus') FROM dealbox.copy c "
		      "LEFT JOIN dealbox.pc p ON p.id = c.pc LEFT JOIN dealbox.record r ON r.id = "
		      "c.record "
		      "WHERE c.job = $1 ORDER BY 1",
		      1, values),
	     0);
}

int main(int argc, char **argv)
{
	static const char *const users[PCS] = { "a", "b", "c" };
	const uint8_t key[POOL_KEY] = { 1 };
	struct dealbox_error error;
	char text[400], name[2] = "A";

	if (argc != 4)
		return 2;
	seed = strtoul(argv[2], NULL, 10);
	steps = strtoul(argv[3], NULL, 10);
	owner = connect_as(argv[1], "owner");
	director = connect_as(argv[1], "director");
	sql(owner, "CREATE TABLE walk_clock AS SELECT timestamptz '2026-01-01' AS now");
	sql(owner,
	    "CREATE OR REPLACE FUNCTION dealbox.clock() RETURNS timestamptz LANGUAGE sql VOLATILE "
	    "SECURITY DEFINER AS 'SELECT now FROM public.walk_clock'");
	for (unsigned int pc = 0; pc < PCS; pc++, (*name)++) {
		pcs[pc] = connect_as(argv[1], users[pc]);
		pool_uuid(tokens[pc]);
		same("joining", pool_join(pcs[pc], name, key, tokens[pc], &error), 0);
	}
	job = (int)sql(director,
		       "SELECT dealbox.add_job('walk', 6, 0, false, '{1}', '{" HASH "}')");
	for (*name = 'A'; *name < 'A' + PCS; (*name)++) {
		snprintf(text, sizeof(text), "SELECT dealbox.give_set('%s', %d, 'x')", name, job);
		sql(director, text);
	}
	/* the lease is of 4 minutes, the margin of 2 */
	model_begin(&model, PCS, COPIES, 4, 2);
	for (step = 0; step < steps; step++) {
		unsigned int pc = pick(PCS), kind = pick(20);

		if (kind < 9)
			request(pc);
		else if (kind < 13)
			report(pc);
		else if (kind < 15)
			withdraw(pc);
		else if (kind < 16)
			lose(pc);
		else if (kind < 17)
			withdraw_for();
		else
			tick();
		compare();
		/* the model's numbers are small: the next event begins */
		if (model.pc[pc].asked > 100)
			break;
	}
	printf("# seed %s: %lu steps, %u records, %u minutes\n", argv[2], step, model.records,
	       model.now);
	for (unsigned int pc = 0; pc < PCS; pc++)
		pool_close(pcs[pc]);
	pool_close(director);
	pool_close(owner);
	return 0;
}
