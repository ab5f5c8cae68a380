// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * make_months FILE MACHINE: a ledger with ten boards that the machine has dealt in September 2026,
 * each with a failed reading of the same card (number 1), two with a wrong pocket, and one board of
 * October.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include <dealbox/ledger.h>

#define BOARDS		11
#define SEPTEMBER	1788300000	/* 2026-09-01 22:00 UTC */
#define OCTOBER		(SEPTEMBER + 40 * 86400)
#define BAD_CARD	1

static time_t now = SEPTEMBER;

int __wrap_clock_gettime(clockid_t clock, struct timespec *at);
int __wrap_clock_gettime(clockid_t clock, struct timespec *at)
{
	(void)clock;
	*at = (struct timespec){ .tv_sec = now++ };
	return 0;
}

/*
 * Deal a shuffled pack; the trace of it is what statistics are made of. Returns the number of
 * events.
 */
static size_t deal(struct dealbox_deal *to, struct dealbox_event *events, int wrong)
{
	unsigned int card, n, other, pack[DEALBOX_CARDS];
	size_t count = 0;

	for (n = 0; n < DEALBOX_CARDS; n++)
		pack[n] = n;
	for (n = DEALBOX_CARDS - 1; n; n--) {
		other = randombytes_uniform(n + 1);
		card = pack[n];
		pack[n] = pack[other];
		pack[other] = card;
	}
	memset(to, 0, sizeof(*to));
	for (n = 0; n < DEALBOX_CARDS; n++) {
		to->hand[n % 4] |= 1ULL << pack[n];
		if (pack[n] == BAD_CARD)
			events[count++] = (struct dealbox_event){
				.type = DEALBOX_EV_CARD_UNREADABLE, .position = n,
				.card = DEALBOX_NONE
			};
		events[count++] = (struct dealbox_event){
			.type = DEALBOX_EV_CARD_READ, .position = n, .card = pack[n]
		};
		events[count++] = (struct dealbox_event){
			.type = DEALBOX_EV_CARD_ROUTED, .position = n, .card = pack[n],
			.pocket = n % 4
		};
	}
	if (wrong)
		events[count++] = (struct dealbox_event){
			.type = DEALBOX_EV_WRONG_POCKET, .position = 2, .pocket = 3, .arg = { 2 }
		};
	return count;
}

int main(int argc, char **argv)
{
	static struct dealbox_event events[BOARDS][3 * DEALBOX_CARDS + 2];
	unsigned int numbers[BOARDS], n;
	struct dealbox_ledger_board boards[BOARDS] = { 0 };
	struct dealbox_ledger_new_job new_job = { .boards = numbers, .count = BOARDS, .copies = 1 };
	struct dealbox_ledger *l = dealbox_ledger_new();
	struct dealbox_ledger_insertion insertion = { .copy = 1 };
	size_t counts[BOARDS];
	int err;

	for (n = 0; n < BOARDS; n++) {
		boards[n].number = numbers[n] = n + 1;
		counts[n] = deal(&boards[n].deal, events[n], n < 2);
	}
	err = argc != 3 ||
	      dealbox_ledger_open(l, argv[1], DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE) ||
	      dealbox_ledger_add_set(l, "club evening", boards, BOARDS, &new_job.set, NULL) ||
	      dealbox_ledger_add_job(l, &new_job, &insertion.job, NULL);
	if (!err)
		snprintf(insertion.machine, sizeof(insertion.machine), "%s", argv[2]);
	for (n = 0; !err && n < BOARDS; n++) {
		if (n == BOARDS - 1)
			now = OCTOBER;
		insertion.number = 41 + n;
		insertion.board = insertion.plan = n + 1;
		insertion.outcome = n < 2 ? DEALBOX_LEDGER_VOID : DEALBOX_LEDGER_EXACT;
		insertion.reason = n < 2 ? DEALBOX_EV_WRONG_POCKET : 0;
		err = dealbox_ledger_begin(l, &insertion) ||
		      dealbox_ledger_end(l, &insertion, events[n], counts[n]);
	}
	if (err)
		fprintf(stderr, "make_months: %s\n", dealbox_ledger_error(l)->what);
	dealbox_ledger_free(l);
	return !!err;
}
