// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox capture without the service: a job of a ledger reads the board, pocket by pocket. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/law.h>

#include "capture.h"
#include "front.h"
#include "own-ledger.h"
#include "ui/ruling-text.h"

static const char *in_language(const struct capture_options *options, const char *message)
{
	return dealbox_law_translate(options->language, message);
}

/* Report the errors of a captured deal, without naming a card. */
static void defects_say(const struct dealbox_deal *deal, const struct dealbox_pack *pack,
			const struct capture_options *options)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	size_t count = dealbox_deal_check(deal, pack, defects, DEALBOX_DEFECTS_MAX);
	unsigned int missing = 0, repeated = 0;
	char lacks[96], twice[96];
	size_t n;

	for (n = 0; n < count; n++) {
		missing += defects[n].kind == DEALBOX_DEFECT_MISSING;
		repeated += defects[n].kind == DEALBOX_DEFECT_REPEATED;
		if (defects[n].kind == DEALBOX_DEFECT_SIZE)
			complain(NULL, dealbox_law_translate_count(options->language,
				 P_("pocket %s has %u card, not %u",
				    "pocket %s has %u cards, not %u"), defects[n].count),
				 in_language(options, dealbox_actor_name(defects[n].hand)),
				 defects[n].count, defects[n].expected);
	}
	snprintf(lacks, sizeof(lacks), dealbox_law_translate_count(options->language,
		 P_("%u card is missing", "%u cards are missing"), missing), missing);
	snprintf(twice, sizeof(twice), dealbox_law_translate_count(options->language,
		 P_("%u is there twice", "%u are there twice"), repeated), repeated);
	if (missing || repeated)
		complain(NULL, "%s, %s", lacks, twice);
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
		defects_say(&original.deal, dealbox_pack_bridge(), options);
		complain(in_language(options, N_("put 13 cards into each pocket, and capture the "
						 "board again")),
			 "%s", in_language(options, N_("nothing was written: the cards that were "
						       "read do not make a deal")));
		status = STATUS_NO;
	} else if (err == -EDOM) {
		complain(in_language(options, N_("deal the board, and capture it then")),
			 "%s", in_language(options, N_("nothing was written: the board is sorted, "
						       "nobody dealt it")));
		status = STATUS_NO;
	} else if (err == -EINVAL || err == -ENODATA) {
		complain(in_language(options, N_("put that pocket's cards back, face down, and "
						 "capture the board again")),
			 in_language(options, N_("nothing was written: pocket %s was not read "
						 "completely")),
			 in_language(options, dealbox_actor_name(pocket)));
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
	enum status status = front_machine(&front, DEALBOX_CAP_CAPTURE, "cannot capture",
					   "use another machine");

	if (status != STATUS_DONE)
		return status;
	status = STATUS_INPUT;
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
			complain(in_language(options, N_("put all cards back into their pockets, "
							 "and capture the board again")),
				 in_language(options, N_("stopped: nothing was written%s%s")),
				 front.stands ? "; " : "", front.stands ? front.stands : "");
			status = STATUS_STOPPED;
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
