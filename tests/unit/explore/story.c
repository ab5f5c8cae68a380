// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each line begins with "#". Lines of words have a number; lines of commands begin with "play:":
 *
 *	rule RULE	a rule of the scenario (docs/emulator.md)
 *	without CAP	the machine does not have that capability
 *	tell COMMAND	a command for the emulator
 *	fill FILLING	the hopper is filled
 *	see STATE	wait until the program shows that state of the operator
 *	press KEY	the operator presses a key of the program
 *	kill, boot	the program
 *	never WHY	the emulator cannot play this
 *	end HOW		exact: a board was called exact, and is not; done: both boards were dealt;
 *			again: dealt into an insertion that an earlier program had recorded
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/card.h>
#include <dealbox/event.h>
#include <dealbox/operator.h>

#include "story.h"

/* ---- words --------------------------------------------------------------------------- */

static const char *const mishaps[MISHAPS] = {
	"", "is misread as another", "is misread as another", "is misread, with quality 1",
	"cannot be read", "comes with the one behind it, and nobody sees that",
	"comes with the one behind it, and a sensor sees that", "falls on the floor",
	"is stuck at the gate", "falls into another pocket",
	"falls into another pocket, which the machine is about to report",
	"falls into another pocket, which the machine reports too late",
	"falls into another pocket, which no sensor sees", "does not come",
};

static const char *const fillings[FILLINGS] = {
	"a deck", "a deck with a joker on top", "a deck with a joker at its end",
	"a deck and a card of the next", "a deck without its last card", "a deck with a card twice",
};

static const char *const steps[STEPS] = {
	"asks the machine how it stands", "loads the plan", "records that the insertion is dealt",
	"starts the deal", "pauses", "resumes", "has the card read again", "aborts",
	"clears the fault", "releases the board", "judges the board, and records it",
	"records that the board is void",
	"records that the board does not count",
	"asks the machine to sign the deal", "records what the machine has signed",
};

static const char *const transfers[STEP_WAYS] = {
	"", "; the answer is lost", "; the command is lost", "; the machine does not answer",
	"; the disk is full", "; an event takes longer",
};

static const char *const pushes[PUSHES] = { "start", "pause", "stop", "release" };

static void tell(struct choice choice)
{
	static const char *const sentences[ACTIONS] = {
		[ACT_ARRIVE] = "the program reads what the machine has told",
		[ACT_REPORT] = "the machine reports the card in the wrong pocket",
		[ACT_SETTLED] = "0.3 s have passed since the end of the deal",
		[ACT_LOOK] = "the program looks at the machine, as it does now and then",
		[ACT_REMOVE] = "the operator takes the board out",
		[ACT_ADD] = "the operator puts the missing card into the hopper, from another deck",
		[ACT_TAKE] = "the operator takes the card out of the reader",
		[ACT_SWAP] = "the board is exchanged for an empty one, unseen by the machine",
		[ACT_UNSPENT] = "the machine forgets that this insertion was dealt",
		[ACT_DROP] = "the event that is on its way is lost",
		[ACT_DOUBLE] = "the event that is on its way comes twice",
		[ACT_EXCHANGE] = "the two events that are on their way come in the wrong order",
		[ACT_KILL] = "the program dies", [ACT_BOOT] = "the program is started again",
		[ACT_OFF] = "the machine loses its power",
		[ACT_ON] = "the machine is switched on",
		[ACT_RESET] = "the machine's firmware starts again",
		[ACT_OPEN] = "the program opens the machine again",
		[ACT_RECEIVE] = "the driver receives what the machine has told",
		[ACT_GATE] = "the gate command reaches the machine",
		[ACT_GATE_LOST] = "the gate command is lost",
		[ACT_LATE] = "the machine has waited for a gate command, and holds the card",
	};

	switch (choice.action) {
	case ACT_STEP:
		printf("the program %s%s", steps[now.step.kind], transfers[choice.arg]);
		break;
	case ACT_ADVANCE:
		if (now.world.aborting)
			printf("the machine has aborted");
		else if (now.world.position == CARDS)
			printf("the machine is done");
		else
			printf("card %u %s", now.world.position + 1,
			       choice.arg ? mishaps[choice.arg] : "is dealt");
		break;
	case ACT_INSERT:
		printf("the operator puts in %s", choice.arg ?
		       "the board that he took out, with its cards" : "an empty board");
		break;
	case ACT_FILL:
		printf("the operator fills the hopper with %s", fillings[choice.arg]);
		break;
	case ACT_COVER:
		printf("the operator %s the cover", choice.arg ? "opens" : "closes");
		break;
	case ACT_PUSH:
		printf("the operator presses %s", pushes[choice.arg]);
		break;
	default:
		printf("%s", sentences[choice.action]);
	}
}

/* ---- commands for the emulator, whose deals have 52 cards ------------------------------- */

static struct {
	unsigned int line;
	/* what the operator was told last, or STATES; whether that has changed since he acted */
	enum dealbox_operator_state shown;
	bool changed;
	unsigned int deals;	/* that have begun */
	unsigned int starts;	/* START commands */
	unsigned int missing;	/* a card that the machine has not read */
	bool late;		/* a card fell wrong, and the report comes later */
} story;

/* A card of the small world in a deck of 52, and a position in its deal. */
static const unsigned int large[CARDS] = { 0, 25, 51 };

static void play(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void play(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	printf("#        play: ");
	vprintf(format, list);
	printf("\n");
	va_end(list);
}

static const char *name_of(unsigned int card)
{
	return dealbox_card_name(card == JOKER ? DEALBOX_CARD_JOKER1 : large[card]);
}

/* The program has come to a stand; the operator acts on what he is told. */
static void play_see(void)
{
	enum dealbox_operator_state shown = story.shown;

	/* the emulator reports a late fault as one of its hardware */
	if (story.late && shown == DEALBOX_OPERATOR_WRONG_POCKET)
		shown = DEALBOX_OPERATOR_HARDWARE;
	if (story.changed)
		play("see %s", dealbox_operator_name(shown));
	story.changed = false;
}

/* Hold the cards while something is done in the middle of a deal. */
static void play_frozen(const char *what)
{
	bool deals = now.world.state == DEALBOX_STATE_DEALING && now.world.position < CARDS;

	if (deals) {
		play("rule deal %u position %u: freeze", story.deals, large[now.world.position]);
		play("tell wait frozen");
	} else if (now.world.state == DEALBOX_STATE_DEALING) {
		play("never the emulator cannot be held behind the last card");
	} else {
		play_see();
	}
	play("%s", what);
	if (deals)
		play("tell thaw");
}

static void play_mishap(enum mishap mishap)
{
	const struct world *w = &now.world;
	unsigned int card = w->reader == NOBODY ? w->hopper[0] : w->reader;
	unsigned int position = large[w->position], deal = story.deals;
	unsigned int next = (card + 1) % CARDS, other = (card + 2) % CARDS;

	switch (mishap) {
	case MISHAP_POOR:
		play("rule deal %u position %u: quality 1", deal, position);
		/* fallthrough */
	case MISHAP_MISREAD:
		play("rule deal %u position %u: misread %s", deal, position, name_of(next));
		break;
	case MISHAP_MISREAD_OTHER:
		play("rule deal %u position %u: misread %s", deal, position, name_of(other));
		break;
	case MISHAP_UNREADABLE:
		play("rule deal %u position %u: unreadable", deal, position);
		break;
	case MISHAP_DOUBLE:
		play("without double-feed-sensor");
		/* fallthrough */
	case MISHAP_DOUBLE_SEEN:
		play("rule deal %u position %u: double-feed", deal, position);
		story.missing = position + 1;
		break;
	case MISHAP_FLOOR:
		play("rule deal %u position %u: missing", deal, position);
		story.missing = position;
		break;
	case MISHAP_JAM:
		play("rule deal %u position %u: jam gate", deal, position);
		break;
	case MISHAP_WRONG:
		play("rule deal %u position %u: wrong-pocket", deal, position);
		break;
	case MISHAP_WRONG_BEHIND:
		/* a program that does not ask the machine again has judged the board by then */
		play("rule deal %u position %u: freeze", deal, position);
		play("tell wait frozen");
		play("tell inject on request GET_STATUS: set 0 04%02x", DEALBOX_EV_HARDWARE);
		play("tell inject on request GET_STATUS: hardware 1");
		play("tell thaw");
		/* fallthrough */
	case MISHAP_WRONG_LATER:
		story.late = true;
		/* fallthrough */
	case MISHAP_WRONG_UNSEEN:
		play("without exit-sensors");
		play("rule deal %u position %u: wrong-pocket", deal, position);
		break;
	case MISHAP_FEED:
		play("rule deal %u position %u: feed-timeout", deal, position);
		break;
	default:
		break;
	}
}

static void play_step(enum transfers ways)
{
	bool start = now.step.kind == STEP_START;

	story.starts += start;
	story.deals += start && ways != TRANSFERS_LOST && ways != TRANSFERS_NONE;
	if (ways == TRANSFERS_ANSWER_LOST && start)
		play("rule on request START nth %u: status EPROTO", story.starts);
	else if (ways != TRANSFERS_GOOD)
		play("never this failure of a transfer or a disk");
}

static void play_kill(void)
{
	if (host_idle(&now) || now.step.kind == STEP_STATUS) {
		play_frozen("kill");
	} else if (now.step.kind == STEP_START) {
		/* the command does not arrive, not even when it is repeated after a second */
		play("rule on request START nth %u times 2: ignore", story.starts + 1);
		play("rule on request START nth %u: freeze", story.starts + 1);
		play("tell wait frozen");
		play("kill");
		play("tell thaw");
		story.starts += 2;
	} else {
		play("never the program cannot be killed at this step");
	}
}

static void play_choice(struct choice choice)
{
	static const char *const words[FILLINGS] = {
		"deck", "joker-first", "joker-last", "spare", "short", "twice",
	};
	char text[32];

	switch (choice.action) {
	case ACT_STEP:
		play_step(choice.arg);
		break;
	case ACT_ADVANCE:
		if (choice.arg)
			play_mishap(choice.arg);
		break;
	case ACT_REPORT:
		/* WRONG_BEHIND has been reported by its rule */
		if (now.world.wrong_later) {
			play_see();
			play("tell break 1");
		}
		break;
	case ACT_INSERT:
		if (choice.arg) {
			play("never the emulator's operator empties the boards");
			break;
		}
		play_see();
		play("tell insert");
		break;
	case ACT_REMOVE:
		play_frozen("tell remove");
		break;
	case ACT_FILL:
		play_see();
		play("fill %s", words[choice.arg]);
		break;
	case ACT_ADD:
		play_see();
		play("tell hopper top %s", dealbox_card_name(story.missing));
		break;
	case ACT_TAKE:
		play_see();
		play("tell take-card");
		break;
	case ACT_PUSH:
		snprintf(text, sizeof(text), "press %s", pushes[choice.arg]);
		play_frozen(text);
		break;
	case ACT_DROP:
	case ACT_DOUBLE:
		play("rule on event 0x%02x deal %u: %s", now.world.wire[0].type, story.deals,
		     choice.action == ACT_DROP ? "drop" : "duplicate");
		break;
	case ACT_KILL:
		play_kill();
		break;
	case ACT_BOOT:
		play("boot");
		story.shown = DEALBOX_OPERATOR_STATES;
		break;
	case ACT_OFF:
		play_frozen("tell power-cycle 100");
		break;
	case ACT_RESET:
		play_frozen("tell reset");
		break;
	case ACT_SWAP:
	case ACT_UNSPENT:
	case ACT_EXCHANGE:
		play("never the emulator has no such fault");
		break;
	default:	/* the machine and the program do it by themselves */
		break;
	}
}

void story_begin(void)
{
	memset(&story, 0, sizeof(story));
	story.shown = DEALBOX_OPERATOR_STATES;
	if (now.world.kind != KIND_STORED)
		play("never this kind of machine");
}

void story_next(const struct choice *choice)
{
	play_choice(*choice);
	printf("# %3u. ", ++story.line);
	tell(*choice);
}

void story_shows(void)
{
	if (host_idle(&now) && now.engine.shows != story.shown) {
		story.shown = now.engine.shows;
		story.changed = true;
		printf(" [%s]", dealbox_operator_name(story.shown));
	}
	printf("\n");
}

void story_end(const char *what)
{
	if (!what)
		play("end done");
	else if (strstr(what, "exact"))
		play("end exact");
	else if (strstr(what, "recorded for another insertion"))
		play("end again");
	else
		play("never no emulator shows this end");
}
