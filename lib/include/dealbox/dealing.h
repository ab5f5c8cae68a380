/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deals a job of a ledger on one machine, board after board, as dealboxd does: with the same rules,
 * and with the ledger as the only record. A program waits for a descriptor, takes the news, shows
 * its operator what dealbox_operator_text() makes of them, and passes on what he answers.
 *
 * Whatever happens: no insertion is dealt into twice, a board counts only when it is proved and
 * on disk, and what is in doubt is asked for to be taken out and emptied. A board whose insertion
 * this ledger has not seen from its beginning is in doubt.
 */
#ifndef DEALBOX_DEALING_H
#define DEALBOX_DEALING_H

#include <stdbool.h>
#include <stdint.h>

#include <dealbox/api.h>
#include <dealbox/ledger.h>
#include <dealbox/machine.h>
#include <dealbox/operator.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_dealing;

/* Commands of the operator, or of the program. */
enum dealbox_dealing_command {
	DEALBOX_DEALING_START,		/* go on: deal, resume, read again, "I have done it" */
	DEALBOX_DEALING_ACCEPT,		/* "this board is empty", "it is the one that is wanted" */
	DEALBOX_DEALING_PAUSE,
	DEALBOX_DEALING_STOP, /* emergency: the deal is aborted; START lets it go */
	DEALBOX_DEALING_RELEASE, /* unlock the board */
	DEALBOX_DEALING_SKIP, /* a copy */
	DEALBOX_DEALING_REDEAL, /* a copy: what was recorded of it does not count any more */
	DEALBOX_DEALING_CANCEL, /* the job */
	DEALBOX_DEALING_DEAL_THIS, /* the board that is there, instead of the one that is wanted */
	DEALBOX_DEALING_NAME_BOARD, /* the board that is there has this number */
	DEALBOX_DEALING_COMMANDS
};

enum dealbox_dealing_kind {
	DEALBOX_DEALING_STATE, /* state, facts, insertion, landed: how it stands now */
	DEALBOX_DEALING_CARDS, /* the same, and only landed is new */
	DEALBOX_DEALING_BOARD, /* facts.board, facts.copy, insertion, exact, verdict, text */
	DEALBOX_DEALING_SAID, /* text: for a log */
	DEALBOX_DEALING_DONE, /* nothing is left to be dealt, or the job was cancelled */
	DEALBOX_DEALING_PROMPT, /* prompt: what a person who deals by hand is to be shown */
	DEALBOX_DEALING_KINDS
};

struct dealbox_dealing_news {
	enum dealbox_dealing_kind kind;
	enum dealbox_operator_state state;
	struct dealbox_operator_facts facts;
	uint32_t insertion;	/* of the board that is there, or that was judged; 0 = none */
	uint32_t landed;	/* cards of this deal that have fallen */
	bool exact;
	char text[512];		/* English, and without a card */
	struct dealbox_prompt prompt;	/* a secret: show it to that person only, and wipe it */
	struct dealbox_operator_verdict verdict;
	uint32_t reserved[16];	/* 0 */
};

#define DEALBOX_DEALING_ID	128	/* bytes of the name of a machine, with the zero */

/**
 * dealbox_dealing_id - get the name of a machine in the ledger
 * @machine: open
 * @id: out: its serial number; if it has none, its port or address
 *
 * Insertions are recorded under this name, and a job may be restricted to it. Returns 0 or the
 * error of dealbox_machine_get_info().
 */
DEALBOX_API int dealbox_dealing_id(struct dealbox_machine *machine, char id[DEALBOX_DEALING_ID]);

/**
 * dealbox_dealing_new - begin to deal a job
 * @ledger: open for writing; until dealbox_dealing_free() nobody else may use it
 * @uri: address of the machine, as in dealbox_machine_open(); NULL is the only one there is
 * @job: number of the job in that ledger
 * @flags: 0; there are none yet
 * @dealing: out
 * @error: out, may be NULL: with an error, why
 *
 * Opens and claims the machine, for which it waits. What was under way in the ledger when the last
 * program ended is recorded as unknown. -ENOENT: there is no such job; -EINVAL: an unknown
 * flag; other errors are those of dealbox_machine_open(), of dealbox_machine_claim() and of the
 * ledger.
 */
DEALBOX_API int dealbox_dealing_new(struct dealbox_ledger *ledger, const char *uri, uint64_t job,
				    unsigned int flags, struct dealbox_dealing **dealing,
				    struct dealbox_error *error);

/**
 * dealbox_dealing_free - end, and let go of the machine. NULL is allowed
 * @dealing: the dealing
 *
 * A deal that runs is paused; its board is in doubt, and the next program is told so. Waits for the
 * call to the machine that is being made, up to a few seconds.
 */
DEALBOX_API void dealbox_dealing_free(struct dealbox_dealing *dealing);

/* A descriptor that can be read (POLLIN) while there are news. It is the dealing's. */
DEALBOX_API int dealbox_dealing_fd(const struct dealbox_dealing *dealing);

/**
 * dealbox_dealing_step - take the next news
 * @dealing: the dealing
 * @news: out
 *
 * Never waits. Returns 1 when there are some, 0 when there are none now. States that were not
 * taken in time are left out but for the last one; verdicts are not. With a machine of hand:, begin
 * with DEALBOX_PROMPT_NOTHING on the screen.
 */
DEALBOX_API int dealbox_dealing_step(struct dealbox_dealing *dealing,
				     struct dealbox_dealing_news *news);

/**
 * dealbox_dealing_do - do what the operator wants
 * @dealing: the dealing
 * @command: what
 * @board: with SKIP, REDEAL and NAME_BOARD: the board
 * @copy: with SKIP and REDEAL: the copy
 *
 * Never waits; news tell what comes of it. START, ACCEPT, DEAL_THIS and NAME_BOARD answer the last
 * state that dealbox_dealing_step() gave: if it has changed since then, they are left out, so that
 * no answer is taken for another question. ACCEPT counts in DEALBOX_OPERATOR_CONFIRM and
 * DEALBOX_OPERATOR_NUMBER_UNREAD only, DEAL_THIS in DEALBOX_OPERATOR_NUMBER_OTHER, and NAME_BOARD
 * in DEALBOX_OPERATOR_NUMBER_UNREAD. Neither of these two says that the board is empty; if the job
 * has no copy of the board left, DEALBOX_DEALING_SAID tells so. -EINVAL: there is no such command,
 * board or copy; -ENOMEM.
 */
DEALBOX_API int dealbox_dealing_do(struct dealbox_dealing *dealing,
				   enum dealbox_dealing_command command, unsigned int board,
				   unsigned int copy);

/**
 * dealbox_dealing_original - get the deal of a board that a job has captured (Law 6F)
 * @ledger: open
 * @job: number of a job with DEALBOX_JOB_CAPTURE
 * @board: number of the board
 * @deal: out; the caller wipes it in any case
 * @pocket: out: with -ENODATA and -EINVAL: the pocket, 0..3 = N, E, S, W
 *
 * Takes the last capture of each pocket. -ENODATA: a pocket has not been read yet, or not since it
 * was asked for again; -EINVAL: its last capture is not complete; -EBADMSG: the cards do not make a
 * deal; @deal has what was read. -EDOM: the deal is sorted, so nobody dealt it. Other errors:
 * -ENOMEM, and those of the ledger.
 */
DEALBOX_API int dealbox_dealing_original(struct dealbox_ledger *ledger, uint64_t job,
					 unsigned int board, struct dealbox_deal *deal,
					 unsigned int *pocket);

#ifdef __cplusplus
}
#endif
#endif
