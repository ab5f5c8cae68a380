// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/law.h>
#include <dealbox/operator.h>

#include <linux/dealbox.h>
#include <string.h>

#include "cards/messages.h"
#include "cards/sentence.h"

/* The sentences of a state: situation and instruction; for a void board, VOID_BOARD and more. */
struct state {
	const char *name;
	const char *rows;	/* rows of the field's list of errors */
	unsigned int ways;
	bool empties;		/* the board is void */
	const char *says;
	const char *behind;
	const char *shuffled;		/* instead of says, for a shuffled pack; NULL = says */
	const char *by_hand; /* instead of says and behind, where a person deals; NULL = both */
	const char *keeper;	/* said last, to the person in charge of the computer; or NULL */
};

#define VOID_BOARD	N_("The board is void: take it out, empty it, put its cards and the " \
			   "rest of their deck back into the hopper, face down, and put the " \
			   "board in again.")
#define VOID_BY_HAND	N_("The board is void: take it out, empty it, put its cards back into " \
			   "the pack, and put " \
			   "the board in again.")
#define VOID_SHUFFLED	N_("The board is void: take it out and empty it.")

static const struct state states[DEALBOX_OPERATOR_STATES] = {
	[DEALBOX_OPERATOR_NONE] = { "none", "", DEALBOX_WAY_SELF, false, N_("The machine deals."),
				    NULL },
	[DEALBOX_OPERATOR_NO_WORK] = { "no-work", "", DEALBOX_WAY_JOB, false,
		N_("There is nothing to deal."), NULL },
	[DEALBOX_OPERATOR_INSERT] = { "insert-board", "E10", DEALBOX_WAY_INSERT, false,
				      N_("Put in the empty board {board}, copy {copy}."), NULL,
				      N_("Put in an empty board.") },
	[DEALBOX_OPERATOR_INSERT_ANY] = { "insert-any", "E10", DEALBOX_WAY_INSERT, false,
		N_("Put in any empty board of the set."), NULL },
	[DEALBOX_OPERATOR_START] = { "press-start", "", DEALBOX_WAY_START | DEALBOX_WAY_REMOVE,
				     false,
		N_("Press start to deal board {board}, copy {copy}."), NULL,
		N_("Press start to deal.") },
	[DEALBOX_OPERATOR_TAKE_OUT] = { "take-out", "E10", DEALBOX_WAY_REMOVE, false,
		N_("Board {board}, copy {copy} is dealt and recorded. Take it out."), NULL,
		N_("The board is dealt and recorded. Take it out.") },
	[DEALBOX_OPERATOR_PAUSED] = { "paused", "", DEALBOX_WAY_START | DEALBOX_WAY_JOB, false,
		N_("Paused in board {board}, copy {copy}. Press start to go on; if the job is "
		   "paused, resume it. Leave the board in until then."), NULL,
		N_("Paused. Press start to go on; if the job is paused, resume it. Leave the "
		   "board in until then.") },
	[DEALBOX_OPERATOR_STOP_CARD] = { "stop-card", "E6", DEALBOX_WAY_START, false,
		N_("Here is the stop card. Take it out of the reader and press start. Keep it, "
		   "to lay it between the next decks."), NULL },
	[DEALBOX_OPERATOR_CAPTURE] = { "capture", "",
		DEALBOX_WAY_INSERT | DEALBOX_WAY_HOPPER | DEALBOX_WAY_START, false,
		N_("Reading board {board}: leave the board in the machine, put the cards of "
		   "pocket {pocket} alone into the hopper, face down, and press start."), NULL },
	[DEALBOX_OPERATOR_CAPTURED] = { "take-original", "", DEALBOX_WAY_REMOVE, false,
		N_("The board is read, and its cards are back in it. Take it out."), NULL },

	[DEALBOX_OPERATOR_ABSENT] = { "machine-absent", "E1", DEALBOX_WAY_PLUG, false,
		N_("The machine is not there. Look whether it is switched on, and whether its "
		   "cable to the computer is plugged in."),
		NULL,
		.keeper = N_("`dealbox doctor` says more about it.") },
	[DEALBOX_OPERATOR_COVER] = { "cover-open", "", DEALBOX_WAY_COVER, false,
		N_("The cover is open. Close it."), NULL },
	[DEALBOX_OPERATOR_HOPPER] = { "hopper-empty", "E5", DEALBOX_WAY_HOPPER, false,
		N_("The hopper is empty. Put in two decks, face down and not mixed with each "
		   "other: the weight of both feeds the cards."),
		NULL, N_("The hopper is empty. Put in the shuffled pack, face down.") },
	[DEALBOX_OPERATOR_MACHINE] = { "machine-refuses", "E1 E17",
		DEALBOX_WAY_START | DEALBOX_WAY_REMOVE | DEALBOX_WAY_PLUG, false,
		N_("The machine refuses the plan or the start. Press start to try again; if it "
		   "stays so, switch the machine off and on."), NULL },
	[DEALBOX_OPERATOR_UNSUITED] = { "machine-unsuited", "E1", DEALBOX_WAY_JOB, false,
		N_("This machine cannot deal the job: it lacks something that the job needs, such "
		   "as a card reader. Put the next empty boards into another machine."), NULL,
		.keeper = N_("Without a card reader, it can deal sorted decks in a job by "
			     "position.") },
	[DEALBOX_OPERATOR_SILENT] = { "machine-silent", "E1", DEALBOX_WAY_SELF | DEALBOX_WAY_PLUG,
				      false,
		N_("The machine does not answer, or moved no card for five seconds. Leave the "
		   "board in, and look whether something holds the cards. If the machine does "
		   "not go on, switch it off and on; a board that was being dealt is then dealt "
		   "again."), NULL },
	[DEALBOX_OPERATOR_SLOW] = { "slow", "E16", DEALBOX_WAY_SELF, false,
		N_("The machine has become slower, but it deals. Nothing is to be done now; "
		   "clean the feed roller after the session."),
		NULL },
	[DEALBOX_OPERATOR_STOPPED] = { "stopped", "", DEALBOX_WAY_START, false,
		N_("This machine was stopped by the emergency stop. When all is safe, pull or turn "
		   "the stop button out if it was pressed, and press start."), NULL },
	[DEALBOX_OPERATOR_SEATED] = { "not-seated", "", DEALBOX_WAY_INSERT, false,
		N_("The board does not sit where it should. Push it in as far as it goes."), NULL },
	[DEALBOX_OPERATOR_PANEL] = { "panel-lost", "", DEALBOX_WAY_PLUG, false,
		N_("The panel with the emergency stop button is gone or cannot be used, so "
		   "no machine deals. Check its cable."), NULL,
		.keeper = N_("`dealbox doctor` says more about it.") },
	[DEALBOX_OPERATOR_NEW] = { "machine-new", "", DEALBOX_WAY_JOB, false,
		N_("This machine has not dealt here before, and so gets no deal. Is it the "
		   "club's? Then let it deal. If not, unplug it."), NULL,
		.keeper = N_("`dealbox accept` lets it deal.") },

	[DEALBOX_OPERATOR_UNREADABLE] = { "card-unreadable", "E2 E2c", DEALBOX_WAY_START, false,
		N_("The card at the reader cannot be read. Leave the cover closed. Clean the "
		   "card, or turn it end to end, still face down; lay it back, and press start. "
		   "A worn card: put the same card of a spare deck in its place."), NULL },
	[DEALBOX_OPERATOR_FACE_UP] = { "card-face-up", "E2a", DEALBOX_WAY_START, false,
		N_("The card at the reader lies face up. Leave the cover closed. Turn the card "
		   "face down, lay it back, and press start."), NULL },
	[DEALBOX_OPERATOR_NOT_IN_PLAN] = { "card-not-in-plan", "E2b", DEALBOX_WAY_START, false,
		N_("The card at the reader does not belong to the deal: a joker, or a card of "
		   "another deck. Take it out, keep it apart, and press start."), NULL },
	[DEALBOX_OPERATOR_GATE_LATE] = { "gate-late", "", DEALBOX_WAY_START, false,
		N_("The computer was too slow for a card. Press start to read it again."), NULL },
	[DEALBOX_OPERATOR_FEED] = { "feed-timeout", "E8", DEALBOX_WAY_START, false,
		N_("No card came. Loosen the deck, look whether cards stick together, clean the "
		   "feed roller, and press start."), NULL },

	[DEALBOX_OPERATOR_DECK_SHORT] = { "deck-short", "E5", DEALBOX_WAY_REMOVE, true,
		N_("The hopper is empty, and cards are missing. They lie in the machine, on the "
		   "floor or in the last board, or one came unseen with another."),
		   N_("Count the deck before you put it in."),
		.by_hand = N_("The pack is at its end, and cards are missing. They lie on the "
			      "table, on the floor or in a board, or two came as one. Count the "
			      "pack.") },
	[DEALBOX_OPERATOR_REPEATED] = { "card-repeated", "E3 E4", DEALBOX_WAY_REMOVE, true,
		N_("The same card came twice: two are in the deck, or one of them was misread, "
		   "mostly the earlier one."), N_("Turn the deck round before you put it in."),
		.by_hand = N_("The same card came twice: two are in the pack, or one of them was "
			      "named wrongly.") },
	[DEALBOX_OPERATOR_DECK_WRONG] = { "deck-wrong", "E5 E6", DEALBOX_WAY_REMOVE, true,
		N_("The stop card came too early or too late: a card is missing, or one too many "
		   "was in the deck before."),
		N_("Count this deck before you put it in: the board's cards and the rest, without "
		   "the stop card. If it is whole, count the board that was dealt just before; if "
		   "that is wrong, empty it and deal it again, too.") },
	[DEALBOX_OPERATOR_WRONG_POCKET] = { "wrong-pocket", "E7", DEALBOX_WAY_REMOVE, true,
					    N_("A card fell into the wrong pocket."),
					    N_("If it comes again, clean the gates.") },
	[DEALBOX_OPERATOR_DOUBLE_FEED] = { "double-feed", "E6 E8", DEALBOX_WAY_REMOVE, true,
		N_("Two cards came at once."),
		N_("Separate the cards that stick together before you put them in.") },
	[DEALBOX_OPERATOR_JAM] = { "jam", "E9", DEALBOX_WAY_REMOVE, true,
		N_("A card is stuck. Open the cover, take it out, close the cover."), NULL },
	[DEALBOX_OPERATOR_PULLED] = { "board-pulled", "E10",
				      DEALBOX_WAY_INSERT | DEALBOX_WAY_REMOVE, true,
		N_("The board was taken out while it was dealt."), NULL },
	[DEALBOX_OPERATOR_COVER_OPENED] = { "cover-opened", "", DEALBOX_WAY_REMOVE, true,
		N_("The cover was opened while a board was dealt. Close it."), NULL },
	[DEALBOX_OPERATOR_HARDWARE] = { "hardware", "E1", DEALBOX_WAY_REMOVE | DEALBOX_WAY_START,
					true,
		N_("The machine reports a fault of its own."),
		N_("If the machine still reports the fault after that, press start."),
		.keeper = N_("If it comes again, `dealbox report` writes what the maker wants to "
			     "know.") },
	[DEALBOX_OPERATOR_ABORTED] = { "aborted", "", DEALBOX_WAY_REMOVE, true,
		N_("The deal was stopped."), NULL },
	[DEALBOX_OPERATOR_DIFFERS] = { "differs", "E7", DEALBOX_WAY_REMOVE, true,
		N_("What lies in the board is not the deal that it should have."), NULL },
	[DEALBOX_OPERATOR_DOUBT] = { "in-doubt", "E12 E15", DEALBOX_WAY_REMOVE, true,
		N_("Nobody knows what lies in this board: the power, the cable or a program was "
		   "gone while it was there."), NULL },
	[DEALBOX_OPERATOR_USED] = { "used", "E10 E12", DEALBOX_WAY_REMOVE, false,
		N_("This board has been in the machine since the last deal. Take it out. If you "
		   "saw that it is exact, keep it as it is; otherwise, or if you are not sure, "
		   "empty it."), NULL },
	[DEALBOX_OPERATOR_REUSED] = { "number-reused", "", DEALBOX_WAY_REMOVE, false,
		N_("The machine takes this board for one that it has dealt already. Take it out, "
		   "and look into its pockets. If it is empty, put it in again. If it has cards: "
		   "if you saw that it is exact, keep it as it is; otherwise, or if you are not "
		   "sure, empty it. If this comes again, switch the machine off and on."), NULL },
	[DEALBOX_OPERATOR_CONFIRM] = { "confirm-empty", "E12 E15",
				       DEALBOX_WAY_START | DEALBOX_WAY_REMOVE, false,
		N_("Look into all pockets of this board; take it out to do so. If it is empty, "
		   "and the deck is whole, press start to deal board {board}, copy {copy}. If "
		   "it has cards, empty it first."), NULL,
		N_("Look into all pockets of this board; take it out to do so. If it is empty, "
		   "and the pack is whole and shuffled, press start to deal. If it has cards, "
		   "empty it first.") },

	[DEALBOX_OPERATOR_NUMBER_UNREAD] = { "number-unread", "E11",
					     DEALBOX_WAY_REMOVE | DEALBOX_WAY_START,
		false, N_("The number of the board cannot be read. Look at it: if it is board "
			  "{board}, press start. If not, take the board out, and put in board "
			  "{board}. If this comes often, clean the label."), NULL },
	[DEALBOX_OPERATOR_NUMBER_RANGE] = { "number-range", "E11",
					    DEALBOX_WAY_REMOVE | DEALBOX_WAY_JOB, false,
		N_("Board {board} does not belong to the job. Take it out."), NULL },
	[DEALBOX_OPERATOR_NUMBER_OTHER] = { "number-other", "E11",
					    DEALBOX_WAY_REMOVE | DEALBOX_WAY_SKIP, false,
		N_("Board {board} comes next, but another board is in the machine. Take it out "
		   "and put in board {board}, or skip board {board}."), NULL },
	[DEALBOX_OPERATOR_NUMBER_DONE] = { "number-done", "E11",
					   DEALBOX_WAY_REMOVE | DEALBOX_WAY_JOB, false,
		N_("Board {board} has been dealt. Take it out and keep it. To deal it again "
		   "after all, empty it and ask for a redeal."), NULL },

	[DEALBOX_OPERATOR_PLACEHOLDER] = { "placeholder-deal", "E13", DEALBOX_WAY_JOB, false,
		N_("The file has no real deal for board {board}, only cards sorted by suits, and "
		   "nobody may play that. Make a new job with the right file."), NULL },
	[DEALBOX_OPERATOR_REPEAT] = { "repeat", "E14", DEALBOX_WAY_JOB, false,
		N_("A board of this job was dealt for another session. The file is probably an "
		   "old one, and the job has stopped. Make a new job with the right file."),
		NULL,
		.keeper = N_("If these deals are to be played again all the same (Law 6D2), add a "
			     "job with `--how replay`.") },
	[DEALBOX_OPERATOR_BAD_SET] = { "bad-set", "E17", DEALBOX_WAY_JOB, false,
		N_("The set cannot be used: its file is damaged, or is not a set of deals. Use "
		   "another file."), NULL,
		.keeper = N_("`dealbox check` says what is wrong with a file.") },
	[DEALBOX_OPERATOR_LEDGER] = { "ledger", "", DEALBOX_WAY_START, false,
		N_("The ledger cannot be written, so this machine does not deal. Call the person "
		   "in charge of the computer, and leave the board in. When that person has "
		   "mended it, press start."), NULL,
		.keeper = N_("Make room on the disk, or see `dealbox ledger verify`.") },

	[DEALBOX_OPERATOR_LEASE] = { "lease-over", "", DEALBOX_WAY_SELF | DEALBOX_WAY_JOB, false,
		N_("The server of the event was not heard for too long, so no other board is "
		   "begun. Check the network; it goes on by itself when the server answers."),
		   NULL },
};

/* Additional sentences for states from first to last, if the facts are known. */
enum { CARD = 1, CELL = 2, PLACE = 4, CODE = 8, THERE = 16, CARD_ALONE = 32 };

static const struct {
	enum dealbox_operator_state first, last;
	unsigned int needs;
	const char *text;
} details[] = {
	{ DEALBOX_OPERATOR_UNREADABLE, DEALBOX_OPERATOR_HARDWARE, CARD,
	  N_("This was at card {card} of {cards}.") },
	{ DEALBOX_OPERATOR_UNREADABLE, DEALBOX_OPERATOR_HARDWARE, CARD_ALONE,
	  N_("This was at card {card}.") },
	{ DEALBOX_OPERATOR_REPEATED, DEALBOX_OPERATOR_REPEATED, CELL,
	  N_("Before you empty the board, look at the two cards: the earlier one lies in the "
	     "pocket of {seat}, number {depth} from the top.") },
	{ DEALBOX_OPERATOR_JAM, DEALBOX_OPERATOR_JAM, PLACE, N_("It is stuck {place}.") },
	{ DEALBOX_OPERATOR_JAM, DEALBOX_OPERATOR_JAM, CODE, N_("The machine gives code {code}.") },
	{ DEALBOX_OPERATOR_HARDWARE, DEALBOX_OPERATOR_HARDWARE, CODE,
	  N_("The machine gives code {code}.") },
	{ DEALBOX_OPERATOR_NUMBER_OTHER, DEALBOX_OPERATOR_NUMBER_OTHER, THERE,
	  N_("The label says board {there}.") },
};

static const char *const places[] = {
	NULL, N_("in the feeder"), N_("at the reader"), N_("at the gate"), N_("at a pocket"),
};

#define PLACES	(sizeof(places) / sizeof(places[0]))

static const char *const seats[] = { NULL, N_("North"), N_("East"), N_("South"), N_("West") };

#define SEATS	(sizeof(seats) / sizeof(seats[0]))

struct told {
	const struct dealbox_operator_facts *facts;
	const char *language;
};

const char *dealbox_operator_name(enum dealbox_operator_state state)
{
	return (unsigned int)state < DEALBOX_OPERATOR_STATES ? states[state].name : NULL;
}

const char *dealbox_operator_rows(enum dealbox_operator_state state)
{
	return (unsigned int)state < DEALBOX_OPERATOR_STATES ? states[state].rows : "";
}

unsigned int dealbox_operator_ways(enum dealbox_operator_state state)
{
	return (unsigned int)state < DEALBOX_OPERATOR_STATES ? states[state].ways : 0;
}

static unsigned int known(const struct dealbox_operator_facts *f)
{
	bool place = f->place && f->place < PLACES;

	return (f->card ? f->cards ? CARD : CARD_ALONE : 0) |
	       (f->seat && f->seat < SEATS && f->depth ? CELL : 0) |
	       (place ? PLACE : 0) | (f->code && !place ? CODE : 0) | (f->there ? THERE : 0);
}

/* Insert the value of {name}. */
static void put(struct sentence *sentence, const char *name, size_t size, const void *context)
{
	const struct told *told = context;
	const struct dealbox_operator_facts *f = told->facts;
	const struct {
		const char *name;
		uint32_t number;
		const char *text;	/* text for the number, or NULL */
	} fields[] = {
		{ "board", f->board, NULL }, { "copy", f->copy, NULL }, { "there", f->there, NULL },
		{ "card", f->card, NULL }, { "cards", f->cards, NULL }, { "depth", f->depth, NULL },
		{ "code", f->code, NULL },
		/* a capture reads the pocket whose number is that of the copy */
		{ "pocket", f->copy, f->copy < SEATS ? seats[f->copy] : NULL },
		{ "seat", .text = f->seat < SEATS ? seats[f->seat] : NULL },
		{ "place", .text = f->place < PLACES ? places[f->place] : NULL },
	};
	size_t n;

	for (n = 0; n < sizeof(fields) / sizeof(fields[0]); n++) {
		if (strlen(fields[n].name) != size || memcmp(fields[n].name, name, size))
			continue;
		if (fields[n].text)
			sentence_add(sentence, "%s",
				     dealbox_law_translate(told->language, fields[n].text));
		else
			sentence_add(sentence, "%u", fields[n].number);
	}
}

/* Append a sentence; NULL is none. */
static void say(struct sentence *sentence, const struct told *told, const char *message)
{
	if (!message)
		return;
	if (sentence->length)
		sentence_add(sentence, " ");
	sentence_fill(sentence, dealbox_law_translate(told->language, message), put, told);
}

size_t dealbox_operator_text(enum dealbox_operator_state state,
			     const struct dealbox_operator_facts *facts, const char *language,
			     char *text, size_t size)
{
	struct told told = { facts, language };
	struct sentence sentence;
	const char *by_hand;
	size_t n;

	sentence_begin(&sentence, text, size);
	if ((unsigned int)state >= DEALBOX_OPERATOR_STATES)
		return 0;
	by_hand = facts->by_hand ? states[state].by_hand : NULL;
	say(&sentence, &told,
	    by_hand                                   ? by_hand :
	    facts->shuffled && states[state].shuffled ? states[state].shuffled :
							states[state].says);
	for (n = 0; n < sizeof(details) / sizeof(details[0]); n++)
		if (state >= details[n].first && state <= details[n].last &&
		    !(details[n].needs & ~known(facts)))
			say(&sentence, &told, details[n].text);
	if (states[state].empties)
		say(&sentence, &told, facts->shuffled ? VOID_SHUFFLED : facts->by_hand ?
		    VOID_BY_HAND : VOID_BOARD);
	say(&sentence, &told, by_hand ? NULL : states[state].behind);
	say(&sentence, &told, states[state].keeper);
	return sentence.length;
}
