// SPDX-License-Identifier: LGPL-2.1-or-later
/* The original that a job has captured: the deal is that of the last capture of each pocket. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/dealing.h>
#include <dealbox/event.h>

#include "freed_memory.h"
#include "insertion.h"

#define EVENTS	15	/* of a pocket with 13 cards */

/* ---- a ledger that can be made to fail, and a look at what is wiped ---- */

static struct {
	int error;		/* of the next trace */
	int list_error;		/* of the next list of insertions */
	unsigned int wiped;	/* traces */
} traces;

void __real_sodium_memzero(void *start, size_t size);
void __wrap_sodium_memzero(void *start, size_t size);
int __real_dealbox_ledger_get_trace(struct dealbox_ledger *l, uint64_t insertion,
				    struct dealbox_event **events, size_t *count);
int __wrap_dealbox_ledger_get_trace(struct dealbox_ledger *l, uint64_t insertion,
				    struct dealbox_event **events, size_t *count);

void __wrap_sodium_memzero(void *start, size_t size)
{
	traces.wiped += size == EVENTS * sizeof(struct dealbox_event);
	__real_sodium_memzero(start, size);
}

int __wrap_dealbox_ledger_get_trace(struct dealbox_ledger *l, uint64_t insertion,
				    struct dealbox_event **events, size_t *count)
{
	int err = traces.error;

	traces.error = 0;
	return err ? err : __real_dealbox_ledger_get_trace(l, insertion, events, count);
}

typedef int each_insertion(const struct dealbox_ledger_insertion *insertion, void *context);

int __real_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open,
				     each_insertion *each, void *context);
int __wrap_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open,
				     each_insertion *each, void *context);

int __wrap_dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open,
				     each_insertion *each, void *context)
{
	int err = traces.list_error;

	traces.list_error = 0;
	return err ? err : __real_dealbox_ledger_insertions(l, job, open, each, context);
}

/* ---- a job that captures board 1 ---- */

struct world {
	char folder[64];
	struct dealbox_ledger *ledger;
	uint64_t job;
};

static void world_begin(struct world *w)
{
	static const unsigned int boards[] = { 1, 2 };

	/* in memory, to avoid waiting for a disk */
	strcpy(w->folder,
	       access("/dev/shm", W_OK) ? "/tmp/dealbox-XXXXXX" : "/dev/shm/dealbox-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	strcat(w->folder, "/ledger");
	w->ledger = dealbox_ledger_new();
	assert_int_equal(dealbox_ledger_open(w->ledger, w->folder,
					     DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE), 0);
	assert_int_equal(dealbox_ledger_add_job(w->ledger, &(struct dealbox_ledger_new_job){
		.boards = boards, .count = 2, .copies = DEALBOX_HANDS,
		.options = DEALBOX_JOB_CAPTURE },
		&w->job, NULL), 0);
}

static void world_end(struct world *w)
{
	char command[128];

	dealbox_ledger_free(w->ledger);
	*strrchr(w->folder, '/') = '\0';
	snprintf(command, sizeof(command), "rm -rf %s", w->folder);
	assert_int_equal(system(command), 0);
}

/* Capture a pocket of board 1: that many cards, from one on. */
static void capture_pocket(const struct world *w, unsigned int pocket, unsigned int first,
			   unsigned int count)
{
	struct dealbox_event events[EVENTS] = {
		{ .type = DEALBOX_EV_DEAL_STARTED, .insertion = 1 },
	};
	const unsigned int end = count + 1;
	uint64_t insertion;
	unsigned int n;

	for (n = 0; n < count; n++)
		events[n + 1] = (struct dealbox_event){
			.type = DEALBOX_EV_CARD_READ, .insertion = 1, .position = n,
			.card = (5 * (first + n)) % DEALBOX_CARDS,
		};
	events[end] = (struct dealbox_event){ .type = DEALBOX_EV_DEAL_DONE,
					      .insertion = 1,
					      .position = 13 };
	for (n = 0; n <= end; n++)
		events[n].seqno = events[n].machine_seq = n;
	assert_int_equal(begin_insertion(w->ledger, w->job, 1, pocket + 1, "SN1", 1, 1,
					      &insertion), 0);
	assert_int_equal(end_insertion(w->ledger, insertion, DEALBOX_LEDGER_CAPTURED, 0, 0,
					    events, end + 1), 0);
}

static void capture_board(const struct world *w)
{
	unsigned int n;

	for (n = 0; n < DEALBOX_HANDS; n++)
		capture_pocket(w, n, 13 * n, 13);
}

static void ask_again(const struct world *w, unsigned int pocket)
{
	const struct dealbox_ledger_act redeal = {
		.act = DEALBOX_ACT_REDEAL, .job = w->job, .board = 1, .copy = pocket + 1,
	};

	assert_int_equal(dealbox_ledger_add_act(w->ledger, &redeal), 0);
}

static int original(const struct world *w, unsigned int board, struct dealbox_deal *deal,
		    unsigned int *pocket)
{
	memset(deal, 0xff, sizeof(*deal));
	*pocket = 99;
	return dealbox_dealing_original(w->ledger, w->job, board, deal, pocket);
}

/*
 * Assert that there is no original, and which pocket is to blame. Nothing is left of an earlier
 * deal.
 */
static void assert_lacks(const struct world *w, unsigned int board, unsigned int lacking)
{
	const struct dealbox_deal none = { 0 };
	struct dealbox_deal deal;
	unsigned int pocket;

	assert_int_equal(original(w, board, &deal, &pocket), -ENODATA);
	assert_int_equal(pocket, lacking);
	assert_memory_equal(&deal, &none, sizeof(none));
}

/* ---- tests ---- */

static void the_last_capture_of_each_pocket_counts(void **state)
{
	struct dealbox_deal deal;
	unsigned int n, pocket;
	struct world w;
	long blocks;

	(void)state;
	world_begin(&w);
	for (n = 0; n < DEALBOX_HANDS; n++) {
		assert_lacks(&w, 1, n);
		capture_pocket(&w, n, 13 * n, n == 2 ? 12 : 13);
	}
	assert_int_equal(original(&w, 1, &deal, &pocket), -EINVAL);
	assert_int_equal(pocket, 2);
	ask_again(&w, 2);
	capture_pocket(&w, 2, 25, 13);
	assert_int_equal(original(&w, 1, &deal, &pocket), -EBADMSG);
	ask_again(&w, 2);
	capture_pocket(&w, 2, 26, 13);
	traces.wiped = 0;
	blocks = memory_seen.blocks;
	assert_int_equal(original(&w, 1, &deal, &pocket), 0);
	assert_int_equal(memory_seen.blocks, blocks);
	assert_int_equal(traces.wiped, DEALBOX_HANDS);
	for (n = 0; n < DEALBOX_CARDS; n++)
		assert_true(deal.hand[n / 13] >> 5 * n % DEALBOX_CARDS & 1);
	assert_lacks(&w, 2, 0);
	world_end(&w);
}

static void a_pocket_that_was_asked_for_again_does_not_count_until_it_is_read(void **state)
{
	struct dealbox_deal deal;
	unsigned int pocket;
	uint64_t insertion;
	struct world w;

	(void)state;
	world_begin(&w);
	capture_board(&w);
	ask_again(&w, 2);
	assert_lacks(&w, 1, 2);
	assert_int_equal(begin_insertion(w.ledger, w.job, 1, 3, "SN1", 1, 1, &insertion), 0);
	assert_lacks(&w, 1, 2);
	assert_int_equal(end_insertion(w.ledger, insertion, DEALBOX_LEDGER_VOID, 0, 0, NULL,
					    0), 0);
	assert_lacks(&w, 1, 2);
	capture_pocket(&w, 2, 26, 13);
	assert_int_equal(original(&w, 1, &deal, &pocket), 0);
	ask_again(&w, 3);
	assert_lacks(&w, 1, 3);
	world_end(&w);
}

static void a_failure_is_no_fault_of_a_pocket(void **state)
{
	struct dealbox_deal deal;
	unsigned int n, pocket;
	struct world w;
	int err;

	(void)state;
	world_begin(&w);
	capture_board(&w);
	traces.error = -EIO;
	assert_int_equal(original(&w, 1, &deal, &pocket), -EIO);
	traces.list_error = -EIO;
	assert_int_equal(original(&w, 1, &deal, &pocket), -EIO);
	for (n = 1, err = -ENOMEM; err; n++) {
		memory_seen.fails_at = n;
		err = original(&w, 1, &deal, &pocket);
		memory_seen.fails_at = 0;
		assert_true(!err || err == -ENOMEM);
	}
	/* a trace and its events, of each pocket */
	assert_in_range(n, 2 + 2 * DEALBOX_HANDS, 100);
	world_end(&w);
}

/* A job that deals may have more copies than a board has pockets. */
static void a_job_that_deals_has_no_original(void **state)
{
	static const unsigned int number = 1;
	struct dealbox_ledger_board board = { .number = 1 };
	uint64_t set, insertion;
	unsigned int n;
	struct world w;

	(void)state;
	world_begin(&w);
	for (n = 0; n < DEALBOX_CARDS; n++)
		board.deal.hand[n % DEALBOX_HANDS] |= (dealbox_cards)1 << n;
	assert_int_equal(dealbox_ledger_add_set(w.ledger, "monday", &board, 1, &set, NULL), 0);
	assert_int_equal(dealbox_ledger_add_job(w.ledger, &(struct dealbox_ledger_new_job){
		.set = set, .boards = &number, .count = 1, .copies = DEALBOX_HANDS + 1 }, &w.job,
		NULL), 0);
	for (n = 1; n <= DEALBOX_HANDS + 1; n++) {
		assert_int_equal(begin_insertion(w.ledger, w.job, 1, n, "SN1", n, 1,
						      &insertion), 0);
		assert_int_equal(end_insertion(w.ledger, insertion, DEALBOX_LEDGER_VOID, 0, 0,
						    NULL, 0), 0);
	}
	assert_lacks(&w, 1, 0);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_capture_of_each_pocket_counts),
		cmocka_unit_test(a_pocket_that_was_asked_for_again_does_not_count_until_it_is_read),
		cmocka_unit_test(a_failure_is_no_fault_of_a_pocket),
		cmocka_unit_test(a_job_that_deals_has_no_original),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
