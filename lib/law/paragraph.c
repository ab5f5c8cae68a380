// SPDX-License-Identifier: LGPL-2.1-or-later
/* What each paragraph lays down, in our own words. The texts themselves decide. */
#include <string.h>

#include "messages.h"
#include <dealbox/law.h>

#define D07	(1u << DEALBOX_RULES_DUPLICATE_2007)
#define D17	(1u << DEALBOX_RULES_DUPLICATE_2017)
#define DUP	(D07 | D17)
#define RUB	(1u << DEALBOX_RULES_RUBBER)
#define PRE	(1u << DEALBOX_RULES_PREFERANS)

static const struct dealbox_paragraph paragraphs[] = {
	{ DUP, "6A", N_("Each pack is shuffled thoroughly before play begins; it is cut if an opponent asks for it.") },
	{ D07, "6B", N_("The cards are dealt face down, one at a time, into four hands of thirteen, and each hand is put face down into its pocket; clockwise rotation is recommended.") },
	{ D17, "6B", N_("The cards are dealt face down, one at a time, into four hands of thirteen, never two adjacent cards of the deck into one hand, and each hand is put face down into a pocket; clockwise rotation is recommended.") },
	{ DUP, "6C", N_("A member of each side should be present during the shuffle and deal, unless the Director instructs otherwise.") },
	{ D07, "6D1", N_("If it is known before the auction begins that the cards were dealt incorrectly, or that a player may have seen another's card during the shuffle and deal, they are shuffled and dealt again. Later Law 16C applies to a card seen by accident. A board that was dealt unlawfully is cancelled; other Laws apply to other irregularities.") },
	{ D17, "6D1", N_("If it is ascertained before the auction begins that the cards were dealt incorrectly, or that a player could have seen another's card during the shuffle and deal, they are shuffled and dealt again. Thereafter Law 16D applies to a card seen by accident.") },
	{ D07, "6D2", N_("Unless the tournament is a replay of past deals, no result may stand if the cards were dealt from a sorted deck without a shuffle, or from a deal that was played in an earlier session. Boards may be exchanged between tables.") },
	{ D17, "6D2", N_("Unless the tournament is a replay of past deals, no result may stand if the cards were dealt without a shuffle from a sorted deck (one not randomised from its prior condition), or if the deal was imported from a different session. Boards may be exchanged between tables.") },
	{ D07, "6D3", N_("There is a new shuffle and deal when the Director requires it under Law 22A for a reason compatible with the Laws (but see Law 86C).") },
	{ D17, "6D3", N_("The Director may require a new shuffle and deal for any reason compatible with the Laws (but see Laws 22B and 86A).") },
	{ DUP, "6E1", N_("The Director may have each table shuffle and deal immediately before play.") },
	{ DUP, "6E2", N_("The Director may shuffle and deal in advance himself.") },
	{ DUP, "6E3", N_("The Director may have his assistants or others whom he appoints shuffle and deal in advance.") },
	{ DUP, "6E4", N_("The Director may require another way of dealing that gives the same wholly random expectations as A and B.") },
	{ DUP, "6F", N_("If the conditions of play require it, exact copies of each original deal are made as the Director instructs; the board is then normally not dealt again, though the Director may order it.") },

	{ RUB, "4", N_("The player on the dealer's left, later the partner of the dealer before, prepares the pack: thoroughly, in view, showing no card, and puts it on his right. Only he and the dealer may shuffle; the dealer has the last shuffle when he picks the pack up. Five shuffles are recommended.") },
	{ RUB, "5", N_("The pack is cut immediately before the deal, by the player on the dealer's right and nobody else, each portion at least four cards; the dealer completes the cut.") },
	{ RUB, "6", N_("If a player demands a new cut before the first card is dealt, the player on the dealer's right cuts again.") },
	{ RUB, "6(a)", N_("If a player demands it before the dealer picks up the pack, the player who prepared it shuffles again, and a cut follows.") },
	{ RUB, "6(b)", N_("If a player demands it after the dealer picked up the pack and before the first card is dealt, only the dealer shuffles, and a cut follows.") },
	{ RUB, "6(c)", N_("If a card is turned face up in shuffling, the same player shuffles again, and a cut follows.") },
	{ RUB, "6(d)", N_("If a card is turned face up in cutting, only the dealer shuffles, and a cut follows.") },
	{ RUB, "6(e)", N_("A redeal needs a new shuffle, and a cut follows.") },
	{ RUB, "7", N_("Two packs are used alternately, unless there is a redeal. A pack with a card that may be known from its back is replaced (*), and a pack that belonged to a side is restored on demand (*), before the last card is dealt.") },
	{ RUB, "8", N_("The dealer deals face down, one card at a time in rotation, the first to his left and the last to himself, and lets no face be seen. He may put two cards to one player, or a player left out, right at once if the others are satisfied. A player who looks at a card before the deal is completed forfeits the rights marked with an asterisk.") },
	{ RUB, "9", N_("The turn to deal passes in rotation, unless there is a redeal. A deal out of turn to which nobody draws attention before the last card stands, and the rotation goes on from it.") },
	{ RUB, "10", N_("A redeal cancels the faulty deal: the same dealer deals again unless he dealt out of turn, with the same pack unless it was replaced, shuffled and cut anew.") },
	{ RUB, "10(a)(i)", N_("Redeal if it is discovered before the last card that a card has been turned face up in dealing, or is face up in the pack or elsewhere.") },
	{ RUB, "10(a)(ii)", N_("Redeal if it is discovered before the last card that the cards have not been dealt correctly (*).") },
	{ RUB, "10(a)(iii)", N_("Redeal if it is discovered before the last card that the deal is out of turn, or with a pack not shuffled or not cut, provided a player (*) demands it.") },
	{ RUB, "10(b)", N_("Redeal if it is discovered before the first call that a player picked up another player's hand and saw a card in it.") },
	{ RUB, "10(c)(i)", N_("Redeal if it is discovered before the end of play that the pack was not as it must be, or that a missing card cannot be found.") },
	{ RUB, "10(c)(ii)", N_("Redeal if it is discovered before the end of play that one player picked up too many cards, and another too few.") },
	{ RUB, "10(c)(iii)", N_("Redeal if it is discovered before the end of play that players of opposing sides let their cards be mixed after a claim that a redeal is in order.") },
	{ RUB, "11", N_("A player has too few cards and Law 10(c) requires no redeal: the deal stands as correct.") },
	{ RUB, "11(a)", N_("If the player played more than once to a previous trick, Law 67 applies.") },
	{ RUB, "11(b)", N_("A missing card found elsewhere than in a previous trick belonged to the hand all the time and is restored to it; it may become a penalty card, and not having played it a revoke.") },
	{ RUB, "12", N_("A player has too many cards and Law 10(c) requires no redeal: the deal stands as correct.") },
	{ RUB, "12(a)", N_("If the offender did not play to a trick, Law 67 applies.") },
	{ RUB, "12(b)", N_("A surplus card picked up from a previous trick, from dummy, from the other pack or elsewhere is restored to its proper place.") },
	{ RUB, "12(b)(i)", N_("There is no penalty if the surplus card is in the offender's hand when it is discovered.") },
	{ RUB, "12(b)(ii)", N_("If the surplus card was led or played, the offender substitutes a legal card, of its suit if possible; his side may lose a trick by it but not win one. Before the lead to the next trick the other side may withdraw a later play.") },

	{ PRE, "3.2.12", N_("If a card is opened during the deal through the dealer's direct or indirect fault, the cards are dealt again.") },
	{ PRE, "3.2.13", N_("If the cards were dealt wrongly by number, by order or by how many at a time, they are dealt again if it is noticed before the bidding begins.") },
	{ PRE, "3.2.14", N_("A deal out of turn is repeated if it is discovered before the deal ends. Once it has ended and a player has picked up his cards it is lawful, and the player on the left of who dealt deals next.") },
	{ PRE, "3.2.15", N_("The cases in which the cards are to be dealt again.") },
	{ PRE, "3.2.15(1)", N_("A card lies face up in the deal or in the cut: the cards are dealt again.") },
	{ PRE, "3.2.15(2)", N_("Cards are missing from the pack: the cards are dealt again.") },
	{ PRE, "3.2.15(3)", N_("Dealt without a cut, and noticed before the end of the deal while nobody has looked at his cards: the cards are dealt again.") },
	{ PRE, "3.2.15(4)", N_("Dealt out of turn, and noticed before the end of the deal while nobody has looked at his cards: the cards are dealt again.") },
	{ PRE, "3.2.15(5)", N_("Not clockwise, or not two at a time, or the talon not laid as the fourth pair or in another traditional way: the cards are dealt again.") },
	{ PRE, "3.2.15(6)", N_("The players were not given equal numbers of cards: the cards are dealt again.") },
	{ PRE, "3.2.16", N_("Each player answers for the number of his cards. Found before the game, it is announced at once: without suspicion of intent the cards are dealt again; if intent is possible the player chooses to have them dealt again or to give a card to the hand that lacks one; where interests conflict the dealer makes good all loss. Who began the game with a wrong number pays the most he could win.") },
	{ PRE, "3.2.17", N_("A dealer who breaks the rules of dealing is warned the first time; the second time he pays the agreed remise and the deal passes on.") },
	{ PRE, "3.2.18", N_("Claims about shuffle, cut or manner of dealing are accepted until the deal ends, claims about the turn to deal until a player opens his cards.") },
	{ PRE, "3.2.19", N_("A player who sees the talon during or after a correct deal takes no part in the bidding; if all pass he takes the first two tricks, or all ten where the talon stays closed.") },
	{ PRE, "3.2.20", N_("Who takes the talon during or after a correct deal takes no part in the bidding, mixes his twelve cards, and the dealer draws two of them for the talon.") },
	{ PRE, "3.2.21", N_("Nobody may look at the talon before it is bought, not even a dealer who does not play: five points on the hill.") },
	{ PRE, "3.2.22", N_("Each player holds his cards so that no other can look into them; looking is to be condemned, but there is no penalty.") },
	{ PRE, "3.2.23", N_("After the deal each player checks the number of his cards and announces an error before he enters the bidding; any bid, also a pass, is an entry.") },
	{ PRE, "3.3.1", N_("When all cards have been dealt the players bid; the highest bid takes the talon and names the contract.") },
};

const struct dealbox_paragraph *dealbox_paragraph(size_t n)
{
	return n < sizeof(paragraphs) / sizeof(paragraphs[0]) ? &paragraphs[n] : NULL;
}

const struct dealbox_paragraph *dealbox_paragraph_find(enum dealbox_rules rules,
						       const char *reference)
{
	if ((unsigned int)rules >= DEALBOX_RULES)
		return NULL;
	for (size_t i = 0; i < sizeof(paragraphs) / sizeof(paragraphs[0]); i++)
		if (paragraphs[i].rules & 1u << rules && !strcmp(paragraphs[i].reference, reference))
			return &paragraphs[i];
	return NULL;
}
