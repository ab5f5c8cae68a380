// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "trouble.h"

#define VOID_BOARD	" The board is void: take it out, empty it, put all cards back into the " \
			"hopper, and put the board in again."

const struct trouble_row trouble_rows[TROUBLES] = {
	[TROUBLE_NONE] = { "none", "", "The machine deals.", WAY_SELF },
	[TROUBLE_NO_WORK] = { "no-work", "", "There is nothing to deal.", WAY_JOB },
	[TROUBLE_INSERT] = { "insert-board", "E10", "Put in the empty board %b, copy %c.",
			     WAY_INSERT },
	[TROUBLE_INSERT_ANY] = { "insert-any", "E10", "Put in any empty board of the set.",
				 WAY_INSERT },
	[TROUBLE_START] = { "press-start", "", "Press start to deal board %b, copy %c.",
			    WAY_START | WAY_REMOVE },
	[TROUBLE_TAKE_OUT] = { "take-out", "E10", "Board %b, copy %c is dealt and recorded. Take it "
			       "out.", WAY_REMOVE },
	[TROUBLE_PAUSED] = { "paused", "", "Paused in board %b, copy %c. Resume, or press start; until then a machine "
			     "that locks its board keeps it.",
			     WAY_START | WAY_JOB },
	[TROUBLE_STOP_CARD] = { "stop-card", "E6", "Here is the stop card. Take it out of the reader "
				"and press start.", WAY_START },
	[TROUBLE_CAPTURE] = { "capture", "", "Reading board %b: with the board in the machine, put the cards of "
			      "pocket %c (1 is N, then E, S, W) alone into the hopper, and press start.",
			      WAY_INSERT | WAY_HOPPER | WAY_START },
	[TROUBLE_CAPTURED] = { "take-original", "", "The board is read. Take it out.", WAY_REMOVE },

	[TROUBLE_ABSENT] = { "machine-absent", "E1", "The machine is not there. Check its power and "
			     "its cable; `dealbox doctor` looks further.", WAY_PLUG },
	[TROUBLE_COVER] = { "cover-open", "", "The cover is open. Close it.", WAY_COVER },
	[TROUBLE_HOPPER] = { "hopper-empty", "E5", "The hopper is empty. Put in two decks, so that "
			     "their weight feeds the cards.", WAY_HOPPER },
	[TROUBLE_MACHINE] = { "machine-refuses", "E1 E17", "The machine refuses the plan or the start. "
			      "Press start to try again; if it stays so, switch the machine off and on.",
			      WAY_START | WAY_REMOVE | WAY_PLUG },
	[TROUBLE_UNSUITED] = { "machine-unsuited", "E1", "This machine cannot do what the jobs want: it has no "
			       "card reader, or cannot count or capture. Use another machine, or give it "
			       "sorted decks and ask for a job by position.", WAY_JOB },
	[TROUBLE_SILENT] = { "machine-silent", "E1", "The machine does not answer, or moved no card for five "
			     "seconds. Look into it; if it does not go on, switch it off and on.",
			     WAY_SELF | WAY_PLUG },
	[TROUBLE_SLOW] = { "slow", "E16", "The machine has become slower. Clean the feed roller when "
			   "there is time.", WAY_SELF },
	[TROUBLE_STOPPED] = { "stopped", "", "Stopped by the emergency stop. When all is safe, let "
			      "its button go and press start.", WAY_START },
	[TROUBLE_SEATED] = { "not-seated", "", "The board does not sit where it should. Push it in as far as "
			     "it goes.", WAY_INSERT },
	[TROUBLE_PANEL] = { "panel-lost", "", "The panel with the emergency stop is gone or cannot be used, so "
			    "nothing is dealt. Check its cable; `dealbox doctor` says what is wrong.",
			    WAY_PLUG },
	[TROUBLE_NEW] = { "machine-new", "", "This machine has not dealt here before, and so gets no deal. Is it "
			  "the club's? Then `dealbox accept` lets it deal.", WAY_JOB },

	[TROUBLE_UNREADABLE] = { "card-unreadable", "E2 E2c", "The card at the reader cannot be read. "
				 "Clean it or turn it round, lay it back, and press start. A worn card: "
				 "put the same card of a spare deck in its place.", WAY_START },
	[TROUBLE_FACE_UP] = { "card-face-up", "E2a", "The card at the reader lies face up. Turn it, lay "
			      "it back, and press start.", WAY_START },
	[TROUBLE_NOT_IN_PLAN] = { "card-not-in-plan", "E2b", "The card at the reader does not belong to "
				  "the deal: a joker, or a card of another pack. Take it out and press "
				  "start.", WAY_START },
	[TROUBLE_GATE_LATE] = { "gate-late", "", "The computer was too slow for a card. Press start to "
				"read it again.", WAY_START },
	[TROUBLE_FEED] = { "feed-timeout", "E8", "No card came. Loosen the deck, look whether cards stick "
			   "together, clean the feed roller, and press start.", WAY_START },

	[TROUBLE_DECK_SHORT] = { "deck-short", "E5", "The hopper is empty, and cards are missing. They lie in the "
				 "machine, on the floor or in the last board, or one came unseen with another."
				 VOID_BOARD " Count the deck.", WAY_REMOVE },
	[TROUBLE_REPEATED] = { "card-repeated", "E3 E4", "The same card came twice: two are in the deck, or "
			       "one of them was misread, oftener the earlier." VOID_BOARD " Turn the deck "
			       "round before you put it in.", WAY_REMOVE },
	[TROUBLE_DECK_WRONG] = { "deck-wrong", "E5 E6", "The stop card came too early or too late: a card is "
				 "missing, or one too many was in the deck before." VOID_BOARD " Count both "
				 "decks.", WAY_REMOVE },
	[TROUBLE_WRONG_POCKET] = { "wrong-pocket", "E7", "A card fell into the wrong pocket." VOID_BOARD
				   " If it comes again, clean the gates.", WAY_REMOVE },
	[TROUBLE_DOUBLE_FEED] = { "double-feed", "E6 E8", "Two cards came at once." VOID_BOARD " Separate "
				  "the cards that stick together.", WAY_REMOVE },
	[TROUBLE_JAM] = { "jam", "E9", "A card is stuck. Open the cover, take it out, close the cover."
			  VOID_BOARD, WAY_REMOVE },
	[TROUBLE_PULLED] = { "board-pulled", "E10", "The board was taken out while it was dealt."
			     VOID_BOARD, WAY_INSERT | WAY_REMOVE },
	[TROUBLE_COVER_OPENED] = { "cover-opened", "", "The cover was opened while a board was dealt. Close "
				   "it." VOID_BOARD, WAY_REMOVE },
	[TROUBLE_HARDWARE] = { "hardware", "E1", "The machine reports a fault of its own." VOID_BOARD " If it "
			       "comes again, `dealbox report` writes what the maker wants to know.",
			       WAY_REMOVE | WAY_START },
	[TROUBLE_ABORTED] = { "aborted", "", "The deal was stopped." VOID_BOARD, WAY_REMOVE },
	[TROUBLE_DIFFERS] = { "differs", "E7", "What lies in the board is not the plan." VOID_BOARD,
			      WAY_REMOVE },
	[TROUBLE_DOUBT] = { "in-doubt", "E12 E15", "Nobody knows what lies in this board: the power, the "
			    "cable or a program was gone while it was there." VOID_BOARD, WAY_REMOVE },
	[TROUBLE_USED] = { "used", "E10 E12", "This board has been in the machine since the last deal. Take "
			   "it out; if it has cards, it is a board that is done or void.", WAY_REMOVE },
	[TROUBLE_REUSED] = { "number-reused", "", "The machine gives this board the number of an insertion that "
			     "was dealt. Take it out and put it in again; if it comes again, switch the machine "
			     "off and on.", WAY_REMOVE },
	[TROUBLE_CONFIRM] = { "confirm-empty", "E12 E15", "The last board was void, or nobody watched when "
			      "this one came. If it is empty, and the deck is whole, press start to deal "
			      "board %b, copy %c.",
			      WAY_START | WAY_REMOVE },

	[TROUBLE_NUMBER_UNREAD] = { "number-unread", "E11", "The number of the board cannot be read. Clean "
				    "the label and put the board in again; or, if it is board %b, press start.",
				    WAY_REMOVE | WAY_START },
	[TROUBLE_NUMBER_RANGE] = { "number-range", "E11", "Board %b does not belong to the job. Take it out.",
				   WAY_REMOVE | WAY_JOB },
	[TROUBLE_NUMBER_OTHER] = { "number-other", "E11", "Board %b was expected, and another is here. Take "
				   "it out and put in board %b, or skip it.", WAY_REMOVE | WAY_SKIP },
	[TROUBLE_NUMBER_DONE] = { "number-done", "E11", "Board %b has been dealt. Take it out; to deal it "
				  "again, ask for a redeal.", WAY_REMOVE | WAY_JOB },

	[TROUBLE_PLACEHOLDER] = { "placeholder-deal", "E13", "Board %b of the set is sorted by suits: a "
				  "placeholder that nobody dealt. Use the right file.", WAY_JOB },
	[TROUBLE_REPEAT] = { "repeat", "E14", "Board %b was dealt for another session (Law 6D2): is it an old "
			     "file? Use another, or ask for a replay.", WAY_JOB },
	[TROUBLE_BAD_SET] = { "bad-set", "E17", "The set cannot be used. Its file is damaged, or is not a "
			      "set of deals.", WAY_JOB },
	[TROUBLE_LEDGER] = { "ledger", "", "The ledger cannot be written, so nothing is dealt. Make room on "
			     "the disk, or see `dealbox ledger verify`; then press start.", WAY_START },
};

size_t trouble_text(enum trouble trouble, unsigned int board, unsigned int copy, char *text,
		    size_t size)
{
	const char *says = trouble_rows[trouble].says, *next, *part;
	size_t length = 0, bytes;
	char number[16];

	for (; *says; says = next, length += bytes) {
		/* up to the next number, or that */
		bytes = strcspn(says, "%");
		part = says;
		next = says + bytes;
		if (!bytes) {
			bytes = (size_t)snprintf(number, sizeof(number), "%u", says[1] == 'b' ? board : copy);
			part = number;
			next = says + 2;
		}
		if (length < size)
			snprintf(text + length, size - length, "%.*s", (int)bytes, part);
	}
	return length;
}
