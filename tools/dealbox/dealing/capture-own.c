// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox capture without the service: a job of a ledger reads the board, pocket by pocket. */
#include <errno.h>
#include <string.h>

#include <dealbox/law.h>

#include "capture.h"
#include "front.h"
#include "own-ledger.h"
#include "ui/ruling-text.h"

/* Report the errors of a captured deal, without naming a card. */
static void defects_say(const struct dealbox_deal *deal, const struct dealbox_pack *pack)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	size_t count = dealbox_deal_check(deal, pack, defects, DEALBOX_DEFECTS_MAX);
	size_t missing = 0, repeated = 0, n;

	for (n = 0; n < count; n++) {
		missing += defects[n].kind == DEALBOX_DEFECT_MISSING;
		repeated += defects[n].kind == DEALBOX_DEFECT_REPEATED;
		if (defects[n].kind == DEALBOX_DEFECT_SIZE)
			complain(NULL, "pocket %s has %u cards, not %u",
				 dealbox_actor_name(defects[n].hand), defects[n].count,
				 defects[n].expected);
	}
	if (missing || repeated)
		complain(NULL, missing == 1 && repeated == 1 ?
			 "%zu card is missing, %zu is there twice" :
			 "%zu cards are missing, %zu are there twice", missing, repeated);
	explicit_bzero(defects, sizeof(defects));
}

/* Report the result of a pocket. A pocket that was not read is requested again. */
static bool pocket_read(struct front *f, const struct dealbox_dealing_news *news)
{
	char name[OPERATOR_COPY];

	front_name(f, news->facts.board, news->facts.copy, name);
	if (news->exact)
		say("%s%s", name, news->text);
	else
		complain(dealbox_law_translate(f->language,
					       N_("take its cards out of the board, and put all "
						  "of them into the hopper again, face down")),
			 "%s%s", name, news->text);
	return true;
}

static enum status add_job(struct own_ledger *own, unsigned int board, uint64_t *job)
{
	const struct dealbox_ledger_new_job new_job = {
		.boards = &board, .count = 1, .copies = DEALBOX_HANDS,
		.options = DEALBOX_JOB_CAPTURE,
	};
	enum status status = own_cancel_unfinished(own);

	if (status == STATUS_DONE && dealbox_ledger_add_job(own->ledger, &new_job, job, NULL))
		return own_refused(own->ledger);
	return status;
}

/* Write the captured deal, from the ledger, to the file. */
static enum status save(struct own_ledger *own, uint64_t job, const struct capture_options *options)
{
	struct dealbox_board original = DEALBOX_BOARD_INIT;
	enum status status = STATUS_INPUT;
	struct dealbox_set *set = NULL;
	unsigned int pocket;
	int err;

	original.number = (unsigned int)options->board;
	err = dealbox_dealing_original(own->reader, job, original.number, &original.deal, &pocket);
	if (err == -EBADMSG) {
		defects_say(&original.deal, dealbox_pack_bridge());
		complain("put 13 cards into each pocket, and capture the board again",
			 "nothing was written: the cards that were read do not make a deal");
		status = STATUS_NO;
	} else if (err == -EDOM) {
		complain("deal the board, and capture it then",
			 "nothing was written: the board is sorted, nobody dealt it");
		status = STATUS_NO;
	} else if (err == -EINVAL || err == -ENODATA) {
		complain("put that pocket's cards back, face down, and capture the board again",
			 "nothing was written: pocket %s was not read completely",
			 dealbox_actor_name(pocket));
		status = STATUS_NO;
	} else if (err) {
		status = own_refused(own->reader);
	} else {
		set = dealbox_set_new(dealbox_pack_bridge());
		if (set && !dealbox_set_add(set, &original))
			status = capture_write(set, options->file);
		else
			complain("free some memory", "out of memory");
	}
	dealbox_deal_wipe(&original.deal);
	dealbox_set_free(set);
	return status;
}

enum status capture_alone(const struct capture_options *options)
{
	struct front front = {
		.uri = options->wanted.uri, .capture = true, .give_up = true, .judged = pocket_read,
		.language = options->language,
	};
	struct own_ledger own = { 0 };
	enum status status = STATUS_INPUT;

	if (!front_machine(&front, DEALBOX_CAP_CAPTURE, "cannot capture", "use another machine"))
		return STATUS_MACHINE;
	if (own_open(&own, options->ledger, false))
		status = add_job(&own, (unsigned int)options->board, &front.job);
	if (status == STATUS_DONE) {
		front.ledger = own.ledger;
		front.reader = own.reader;
		switch (front_run(&front)) {
		case FRONT_DONE:
			status = save(&own, front.job, options);
			break;
		case FRONT_STOPPED:
			complain("put all cards back into their pockets, "
				 "and capture the board again",
				 "stopped: nothing was written%s%s",
				 front.stands ? "; " : "", front.stands ? front.stands : "");
			status = STATUS_NO;
			break;
		case FRONT_MACHINE:
			status = STATUS_MACHINE;
			break;
		default:
			status = STATUS_INPUT;
			break;
		}
	}
	own_close(&own);
	return status;
}
