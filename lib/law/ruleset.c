// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rulesets as data: what is dealt, every paragraph, and the irregularities. Rules that need
 * more than a row are in judge.c and issue.c.
 */
#include <string.h>

#include "cards/messages.h"
#include "judge.h"

static const struct dealbox_ruleset rulesets[DEALBOX_RULES] = {
	[DEALBOX_RULES_DUPLICATE_2007] = {
		.rules = DEALBOX_RULES_DUPLICATE_2007,
		.name = "duplicate-2007",
		.pack = DEALBOX_PACK_BRIDGE, .cards = 52, .hands = 4, .hand_cards = 13,
		.packet = 1,
		.adjacent = true,
		.director = true,
		.sight_law = "16C, 24",
		.redeal_laws = "22A, 86C",
		.edition = N_("Laws of Duplicate Bridge, edition of 2007, Law 6 (Norwegian text)"),
	},
	[DEALBOX_RULES_DUPLICATE_2017] = {
		.rules = DEALBOX_RULES_DUPLICATE_2017,
		.name = "duplicate-2017",
		.pack = DEALBOX_PACK_BRIDGE, .cards = 52, .hands = 4, .hand_cards = 13,
		.packet = 1,
		.director = true,
		.sight_law = "16D, 24",
		.redeal_laws = "22B, 86A",
		.edition = N_("Laws of Duplicate Bridge, edition of 2017, Law 6 "
			      "(English, Greek and French text)"),
	},
	[DEALBOX_RULES_RUBBER] = {
		.rules = DEALBOX_RULES_RUBBER,
		.name = "rubber",
		.pack = DEALBOX_PACK_BRIDGE, .cards = 52, .hands = 4, .hand_cards = 13,
		.packet = 1,
		.rotation = true,
		.adjacent = true,	/* one at a time in rotation is stricter */
		.cut_always = true,
		.cut_least = 4,
		.shuffles_advised = 5,
		.edition = N_("Laws of Contract Bridge (rubber), Laws 4 to 12 (English text)"),
	},
	[DEALBOX_RULES_PREFERANS] = {
		.rules = DEALBOX_RULES_PREFERANS,
		.name = "preferans",
		.pack = DEALBOX_PACK_PREFERANS, .cards = 32, .hands = 3, .hand_cards = 10,
		.talon_cards = 2,
		.packet = 2,
		.talon_packet = 3,
		.rotation = true,
		.adjacent = true,
		.cut_always = true,
		.edition = N_("Code of preferans, 3.2.12 to 3.3.1 (Russian text)"),
	},
};

/* A summary of each paragraph, in our own words. The texts themselves prevail. */
static const struct dealbox_paragraph paragraphs[] = {
	{ DUP, "6A", N_("Each pack is shuffled thoroughly before play begins; it is cut if an "
			"opponent asks for it.") },
	{ D07, "6B", N_("The cards are dealt face down, one at a time, into four hands of "
			"thirteen, and each hand is put face down into its pocket; clockwise "
			"rotation is recommended.") },
	{ D17, "6B", N_("The cards are dealt face down, one at a time, into four hands of "
			"thirteen, never two adjacent cards of the deck into one hand, and each "
			"hand is put face down into a pocket; clockwise rotation is "
			"recommended.") },
	{ DUP, "6C", N_("A member of each side should be present during the shuffle and deal, "
			"unless the Director instructs otherwise.") },
	{ D07, "6D1", N_("If it is known before the auction begins for either side that the cards "
			 "were dealt incorrectly, or that a player may have seen the face of a "
			 "card of another player's hand during the shuffle and deal, they are "
			 "shuffled and dealt again. Later, until the play is over, Law 16C applies "
			 "when somebody happens to see a card of another player's hand (but see "
			 "Law 24). Every board that was dealt unlawfully is cancelled. To all "
			 "other irregularities the Laws on them apply.") },
	{ D17, "6D1", N_("If it is ascertained before the auction first begins on the board that "
			 "the cards were dealt incorrectly, or that during the shuffle and deal a "
			 "player could have seen the face of a card of another player, they are "
			 "shuffled and dealt again. Thereafter Law 16D applies when a card of "
			 "another player's hand is seen by accident before the play of the board "
			 "is completed (but see Law 24).") },
	{ D07, "6D2", N_("Unless the tournament is a replay of past deals, no result may stand if "
			 "the cards were dealt from a sorted deck without a shuffle, or from a "
			 "deal that was played in an earlier session. This does not prevent an "
			 "exchange of boards between tables where that is desired.") },
	{ D17, "6D2", N_("Unless the tournament is a replay of past deals, no result may stand if "
			 "the cards were dealt without a shuffle from a sorted deck (one not "
			 "randomised from its prior condition), or if the deal was imported from a "
			 "different session. This does not prevent an exchange of boards between "
			 "tables where that is desired.") },
	{ D07, "6D3", N_("There is a new shuffle and deal when the Director requires it under Law "
			 "22A for a reason compatible with the Laws (but see Law 86C).") },
	{ D17, "6D3", N_("The Director may require a new shuffle and deal for any reason "
			 "compatible with the Laws (but see Laws 22B and 86A).") },
	{ DUP, "6E1", N_("The Director may have each table shuffle and "
			 "deal immediately before play.") },
	{ DUP, "6E2", N_("The Director may shuffle and deal in advance himself.") },
	{ DUP, "6E3", N_("The Director may have his assistants or others whom he appoints shuffle "
			 "and deal in advance.") },
	{ DUP, "6E4", N_("The Director may require another way of dealing, also in advance, that "
			 "gives the same wholly random expectations as A and B.") },
	{ DUP, "6F", N_("If the conditions of play require it, one or more exact copies of each "
			"original deal may be made as the Director instructs. When he so "
			"instructs, a board is normally not dealt again, though the Director has "
			"the power to order it.") },

	{ RUB, "4", N_("Before the first deal of a rubber the player on the dealer's left should "
		       "shuffle the pack thoroughly, exposing no face, in full view of the players "
		       "and to their satisfaction. Thereafter, while each player deals, his "
		       "partner shuffles the other pack for the next deal and puts it face down on "
		       "his right. A pack so prepared should not be disturbed until the dealer "
		       "picks it up for his deal; he may then shuffle last. Nobody but these two "
		       "may shuffle. At least five shuffles are recommended.") },
	{ RUB, "5", N_("The pack must be cut immediately before it is dealt. The player on the "
		       "dealer's right lifts off a portion and puts it on the table towards the "
		       "dealer; each portion has at least four cards. The dealer completes the cut "
		       "by putting what was the lower portion on the other. "
		       "Nobody else may cut.") },
	{ RUB, "6", N_("If a player demands a new cut before the first card is dealt, the player "
		       "on the dealer's right cuts again.") },
	{ RUB, "6(a)", N_("If a player demands it before the dealer picks up the pack, the player "
			  "who prepared it shuffles again, and a cut follows.") },
	{ RUB, "6(b)", N_("If a player demands it after the dealer picked up the pack and before "
			  "the first card is dealt, only the dealer shuffles, "
			  "and a cut follows.") },
	{ RUB, "6(c)", N_("If a card is turned face up in shuffling, the same player shuffles "
			  "again, and a cut follows.") },
	{ RUB, "6(d)", N_("If a card is turned face up in cutting, "
			  "only the dealer shuffles, and a cut follows.") },
	{ RUB, "6(e)", N_("A redeal (see Law 10) needs a new shuffle, and a cut follows.") },
	{ RUB, "7", N_("The two packs are used alternately, unless there is a redeal. A pack with "
		       "a card so damaged or marked that it may be known from its back must be "
		       "replaced (*) if attention is drawn to that before the last card of the "
		       "current deal. A pack that originally belonged to a side must be restored "
		       "if any player (*) demands it before the last card of the current deal.") },
	{ RUB, "8", N_("The dealer deals face down, one card at a time in rotation, into four "
		       "hands of thirteen, the first card to the player on his left and the last "
		       "to himself. If he deals two cards at once or running to the same player, "
		       "or leaves a player out, he may put the error right, provided that he does "
		       "so at once and to the satisfaction of the other players. He must not let "
		       "the face of a card be seen. Players should not look at the face of any "
		       "card until the deal is completed; one who does forfeits those rights to a "
		       "change of pack (Law 7) or a redeal (Law 10) that are marked with an "
		       "asterisk.") },
	{ RUB, "9", N_("The turn to deal passes in rotation, unless there is a redeal. If a player "
		       "deals out of turn and attention is not drawn to it before the last card, "
		       "the deal stands as though it had been in turn: who dealt is the dealer and "
		       "calls first, the player who missed his turn has no redress, and the "
		       "rotation goes on from it, unless Law 10 requires a redeal.") },
	{ RUB, "10", N_("A redeal cancels the faulty deal: the same dealer deals again unless he "
			"dealt out of turn, with the same pack unless it was replaced under Law 7, "
			"shuffled and cut anew as in Laws 4 and 5.") },
	{ RUB, "10(a)(i)", N_("Redeal if it is discovered before the last card that a card has "
			      "been turned face up in dealing, or is face up in the pack or "
			      "elsewhere.") },
	{ RUB, "10(a)(ii)", N_("Redeal if it is discovered before the last card that the cards "
			       "have not been dealt correctly (*).") },
	{ RUB, "10(a)(iii)", N_("Redeal if it is discovered before the last card that the deal is "
				"out of turn, or with a pack not shuffled or not cut, provided a "
				"player (*) demands it.") },
	{ RUB, "10(b)", N_("Redeal if it is discovered before the first call that a player picked "
			   "up another player's hand and saw a card in it.") },
	{ RUB, "10(c)", N_("Redeal if, before play has been completed, one of three things is "
			   "discovered: (i), (ii) or (iii).") },
	{ RUB, "10(c)(i)", N_("Redeal if it is discovered before the end of play that the pack did "
			      "not conform in every respect to Law 1; that includes a missing card "
			      "that cannot be found after due search.") },
	{ RUB, "10(c)(ii)", N_("Redeal if it is discovered before the end of play that one player "
			       "picked up too many cards, and another too few.") },
	{ RUB, "10(c)(iii)", N_("Redeal if it is discovered before the end of play that players of "
				"opposing sides let their cards be mixed after a claim that a "
				"redeal is in order.") },
	{ RUB, "11", N_("A player has too few cards and Law 10(c) requires no redeal: the deal "
			"stands as correct.") },
	{ RUB, "11(a)", N_("If the player played more than once to a previous trick, "
			   "Law 67 applies.") },
	{ RUB, "11(b)", N_("A missing card found elsewhere, not in a previous trick, belonged to "
			   "the hand all the time and is restored to it; it may become a penalty "
			   "card (Law 23 or 49), and the failure to have played it may be a "
			   "revoke.") },
	{ RUB, "12", N_("A player has too many cards and Law 10(c) requires no redeal: the deal "
			"stands as correct.") },
	{ RUB, "12(a)", N_("If the offender did not play to a trick, Law 67 applies.") },
	{ RUB, "12(b)", N_("A surplus card picked up from a previous trick, from dummy, from the "
			   "other pack or elsewhere is restored to its proper place.") },
	{ RUB, "12(b)(i)", N_("There is no penalty if the surplus card is in the offender's hand "
			      "when it is discovered.") },
	{ RUB, "12(b)(ii)", N_("If the surplus card has been led or played, or had been played to "
			       "a previous trick, the offender must substitute a card from his "
			       "hand that he can legally play to the trick, if possible of the "
			       "same suit. His side may not win by it a trick that it had lost, "
			       "but may lose one that it had won. When attention is drawn before "
			       "the lead to the next trick, either player of the other side may, "
			       "without penalty, withdraw a play made after the offence and "
			       "substitute a legal one.") },

	{ PRE, "3.2.12", N_("If a card is opened during the deal through the dealer's direct or "
			    "indirect fault, the cards are dealt again.") },
	{ PRE, "3.2.13", N_("If the cards were dealt wrongly by number, by order or by how many at "
			    "a time, they are dealt again if it is noticed before the bidding "
			    "begins.") },
	{ PRE, "3.2.14", N_("A deal out of turn is repeated if it is discovered before the deal "
			    "ends. Once it has ended and a player has picked up his cards it is "
			    "lawful, and the player on the left of who dealt deals next.") },
	{ PRE, "3.2.15", N_("The cases in which the cards are to be dealt again.") },
	{ PRE, "3.2.15(1)", N_("A card lies face up in the deal or in the cut: "
			       "the cards are dealt again.") },
	{ PRE, "3.2.15(2)", N_("Cards are missing from the pack: the cards are dealt again.") },
	{ PRE, "3.2.15(3)", N_("Dealt without a cut, and noticed before the end of the deal while "
			       "nobody has looked at his cards: the cards are dealt again.") },
	{ PRE, "3.2.15(4)", N_("Dealt out of turn, and noticed before the end of the deal while "
			       "nobody has looked at his cards: the cards are dealt again.") },
	{ PRE, "3.2.15(5)", N_("Not clockwise, or not two at a time, or the talon not laid as the "
			       "fourth pair or in another traditional way: the cards are dealt "
			       "again.") },
	{ PRE, "3.2.15(6)", N_("The players were not given equal numbers of cards: "
			       "the cards are dealt again.") },
	{ PRE, "3.2.16", N_("Each player answers for the number of his cards; rule 3.9.18 has the "
			    "measure. A wrong number that he finds before the bidding or the play "
			    "begins he must announce at once. If no selfish intent can be seen, "
			    "the cards are dealt again. If intent is possible in theory, the "
			    "player may choose to have them dealt again or to give a card to the "
			    "hand that lacks one, as long as that does not harm the third player, "
			    "who did not deal. Where interests conflict, the dealer makes good all "
			    "possible damage and lost profit. Who began the bidding or the play "
			    "with a wrong number pays the most that he could win in that game.") },
	{ PRE, "3.2.17", N_("A dealer who breaks the rules of dealing, such as by a shuffle after "
			    "the cut or a wrong order, is warned for the first error; for the "
			    "second he pays the agreed remise (for example five on the hill) and "
			    "the deal passes on.") },
	{ PRE, "3.2.18", N_("Claims about shuffle, cut or manner of dealing are accepted until the "
			    "deal ends, claims about the turn to deal until a player opens his "
			    "cards.") },
	{ PRE, "3.2.19", N_("A player who sees the talon during or after a correct deal has no "
			    "right to take part in the bidding. If all pass he takes the first two "
			    "tricks, which begin with a card of the talon that he knows. Where the "
			    "rules leave the talon closed then, he must take all ten; his partners "
			    "divide the whists and write one each in the pool, as though they had "
			    "taken no trick.") },
	{ PRE, "3.2.20", N_("Who takes the talon during or after a correct deal takes no part in "
			    "the bidding, mixes his twelve cards, and the dealer draws two of them "
			    "for the talon.") },
	{ PRE, "3.2.21", N_("Nobody may look at the talon before it is bought, not even a dealer "
			    "who does not play: five points on the hill.") },
	{ PRE, "3.2.22", N_("Each player must take up and hold his cards so that no other player "
			    "can look into them. To let others look is incorrect, and to peep into "
			    "their cards is to be condemned; but there is no penalty.") },
	{ PRE, "3.2.23", N_("After the deal each player must check the number of his cards and "
			    "announce an error before he enters the bidding. Any bid, also a pass, "
			    "is an entry; after it not the dealer answers for a wrong number, but "
			    "the player who has it.") },
	{ PRE, "3.3.1", N_("When all cards have been dealt the players bid; the highest bid takes "
			   "the talon and names the contract.") },

	/* Laws outside the texts that rulings cite */
	{ D07, "16C", N_("Cited by 6D1, and not part of the text here: information that a player "
			 "gets by accident and not from his partner, such as by the sight of a "
			 "card of another player's hand.") },
	{ D17, "16D", N_("Cited by 6D1, and not part of the text here: information that a player "
			 "gets by accident and not from his partner, such as by the sight of a "
			 "card of another player's hand.") },
	{ DUP, "24", N_("Cited by 6D1, and not part of the text here: a card that is exposed or "
			"led before the play.") },
	{ D07, "22A", N_("Cited by 6D3, and not part of the text here: how the auction ends.") },
	{ D17, "22B", N_("Cited by 6D3, and not part of the text here: how the auction ends.") },
	{ D07, "86C", N_("Cited by 6D3, and not part of the text here: no single board is dealt "
			 "again when the result of a match without that board could be known.") },
	{ D17, "86A", N_("Cited by 6D3, and not part of the text here: no single board is dealt "
			 "again when the result of a match without that board could be known.") },
	{ RUB, "1", N_("Cited by 10(c)(i), and not part of the text here: "
		       "the pack, its cards and suits.") },
	{ RUB, "23", N_("Cited by 11(b), and not part of the text here: "
			"when a card becomes a penalty card.") },
	{ RUB, "49", N_("Cited by 11(b), and not part of the text here: "
			"when a card becomes a penalty card.") },
	{ RUB, "67", N_("Cited by 11(a) and 12(a), and not part of the text here: a trick to which "
			"a player has played too many cards, or none.") },
	{ PRE, "3.9.18", N_("Cited by 3.2.16, and not part of the text here: how far a player "
			    "answers for a wrong number of cards.") },
};

/* The irregularities of each ruleset. */
static const struct law_row rows[] = {
#define CLOSED DEALBOX_RULING_CLAIM_TOO_LATE
	/* Duplicate: until the auction begins */
#define INCORRECT(i) \
	{ D07, i, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "6D1", NULL, \
	  DEALBOX_RULING_RESULT_CANCELLED, "6D1", NULL }, \
	{ D17, i, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "6D1", NULL, CLOSED, "6D1", NULL }
	INCORRECT(I_FACEUP), INCORRECT(I_FACEUP_OTHER), INCORRECT(I_COUNT), INCORRECT(I_PACKET),
	INCORRECT(I_ADJACENT), INCORRECT(I_POCKET), INCORRECT(I_MISDEAL),
	INCORRECT(I_FACEUP_PACK),
#undef INCORRECT
	{ D07, I_SEEN, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "6D1", NULL,
	  DEALBOX_RULING_OTHER_LAW, "6D1", "16C, 24" },
	{ D17, I_SEEN, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "6D1", NULL,
	  DEALBOX_RULING_OTHER_LAW, "6D1", "16D, 24" },
	/* .. but the director's power has no time limit */
	{ D07, I_UNSHUFFLED, 0, 0, 0, DEALBOX_RULING_DIRECTOR_DECIDES, "6D3", "6A" },
	/* the footnote of 2017: a pack that was not shuffled is a sorted deck */
	{ D17, I_UNSHUFFLED, 0, 0, 0, DEALBOX_RULING_RESULT_CANCELLED, "6D2", "6A, 6D3" },
	{ DUP, I_UNCUT, 0, 0, 0, DEALBOX_RULING_DIRECTOR_DECIDES, "6D3", "6A" },

	/* Rubber: Law 10, and its asterisks */
#define UNTIL_LAST(i, ref) \
	{ RUB, i, MARK(LAST_CARD), 0, 0, DEALBOX_RULING_REDEAL, ref, "6(e)", CLOSED, ref, NULL }
	UNTIL_LAST(I_FACEUP, "10(a)(i)"), UNTIL_LAST(I_FACEUP_OTHER, "10(a)(i)"),
	UNTIL_LAST(I_FACEUP_PACK, "10(a)(i)"),
#undef UNTIL_LAST
#define MISDEALT(i) \
	{ RUB, i, MARK(LAST_CARD), 1, 0, DEALBOX_RULING_REDEAL, "10(a)(ii)", "6(e)", \
	  CLOSED, "10(a)(ii)", NULL }
	MISDEALT(I_COUNT), MISDEALT(I_PACKET), MISDEALT(I_ORDER), MISDEALT(I_MISDEAL),
#undef MISDEALT
	{ RUB, I_TURN, MARK(LAST_CARD), 1, 1, DEALBOX_RULING_REDEAL, "10(a)(iii)", "6(e)",
	  CLOSED, "9", "10(a)(iii)" },
	{ RUB, I_UNSHUFFLED, MARK(LAST_CARD), 1, 1, DEALBOX_RULING_REDEAL, "10(a)(iii)", "6(e)",
	  CLOSED, "10(a)(iii)", NULL },
	{ RUB, I_UNCUT, MARK(LAST_CARD), 1, 1, DEALBOX_RULING_REDEAL, "10(a)(iii)", "6(e)",
	  CLOSED, "10(a)(iii)", NULL },
	{ RUB, I_WRONG_HAND, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "10(b)", "6(e)",
	  CLOSED, "10(b)", NULL },
	{ RUB, I_NONCONFORMING, MARK(OVER), 0, 0, DEALBOX_RULING_REDEAL, "10(c)(i)", "6(e), 1",
	  CLOSED, "10(c)(i)", NULL },
	{ RUB, I_DAMAGED, MARK(LAST_CARD), 1, 0, DEALBOX_RULING_CHANGE_OF_PACK, "7", NULL,
	  CLOSED, "7", NULL },

	/* Preferans */
	{ PRE, I_FACEUP, 0, 0, 0, DEALBOX_RULING_REDEAL, "3.2.12", "3.2.15(1)" },
	{ PRE, I_FACEUP_OTHER, 0, 0, 0, DEALBOX_RULING_REDEAL, "3.2.15(1)", NULL },
	{ PRE, I_FACEUP_CUT, 0, 0, 0, DEALBOX_RULING_REDEAL, "3.2.15(1)", NULL },
	{ PRE, I_FACEUP_PACK, 0, 0, 0, DEALBOX_RULING_REDEAL, "3.2.15(1)", NULL },
	{ PRE, I_SHORT_PACK, 0, 0, 0, DEALBOX_RULING_REDEAL, "3.2.15(2)", NULL },
	{ PRE, I_UNCUT, MARK(LAST_CARD) | MARK(LOOK), 0, 0, DEALBOX_RULING_REDEAL, "3.2.15(3)",
	  "3.2.18", CLOSED, "3.2.15(3)", "3.2.18" },
	{ PRE, I_TURN, MARK(LOOK), 0, 0, DEALBOX_RULING_REDEAL, "3.2.14", "3.2.15(4), 3.2.18",
	  CLOSED, "3.2.18", "3.2.14" },
	{ PRE, I_COUNT, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "3.2.13", "3.2.15(6)",
	  CLOSED, "3.2.13", "3.2.16, 3.2.23" },
	{ PRE, I_PACKET, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "3.2.13", "3.2.15(5)",
	  CLOSED, "3.2.13", NULL },
	{ PRE, I_ORDER, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "3.2.13", "3.2.15(5)",
	  CLOSED, "3.2.13", NULL },
	{ PRE, I_TALON, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "3.2.15(5)", "3.2.13",
	  CLOSED, "3.2.13", NULL },
	{ PRE, I_TALON_PLACE, MARK(AUCTION), 0, 0, DEALBOX_RULING_PLAYERS_CHOOSE, "3.2.15(5)",
	  "3.2.13", CLOSED, "3.2.13", NULL },
	{ PRE, I_MISDEAL, MARK(AUCTION), 0, 0, DEALBOX_RULING_REDEAL, "3.2.13", NULL,
	  CLOSED, "3.2.13", NULL },
	/* the consequence is the warning or the penalty of 3.2.17 */
	{ PRE, I_SHUFFLE, MARK(LAST_CARD), 0, 0, DEALBOX_RULING_WARNING, "3.2.17", "3.2.18",
	  CLOSED, "3.2.18", NULL },
	{ PRE, I_MANNER, MARK(LAST_CARD), 0, 0, DEALBOX_RULING_WARNING, "3.2.17", "3.2.18",
	  CLOSED, "3.2.18", NULL },
#undef CLOSED
};

const struct dealbox_ruleset *dealbox_ruleset_get(enum dealbox_rules rules)
{
	return (unsigned int)rules < DEALBOX_RULES ? &rulesets[rules] : NULL;
}

const struct dealbox_ruleset *dealbox_ruleset_find(const char *name)
{
	for (size_t i = 0; i < DEALBOX_RULES; i++)
		if (!strcmp(rulesets[i].name, name))
			return &rulesets[i];
	return NULL;
}

const struct dealbox_paragraph *dealbox_paragraph_get(size_t n)
{
	return n < sizeof(paragraphs) / sizeof(paragraphs[0]) ? &paragraphs[n] : NULL;
}

const struct dealbox_paragraph *dealbox_paragraph_find(enum dealbox_rules rules,
						       const char *reference)
{
	if ((unsigned int)rules >= DEALBOX_RULES)
		return NULL;
	for (size_t i = 0; i < sizeof(paragraphs) / sizeof(paragraphs[0]); i++)
		if (paragraphs[i].rules & 1u << rules &&
		    !strcmp(paragraphs[i].reference, reference))
			return &paragraphs[i];
	return NULL;
}

const struct law_row *law_row_find(enum dealbox_rules rules, enum issue issue)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].issue == issue && rows[i].rules & 1u << rules)
			return &rows[i];
	return NULL;
}
