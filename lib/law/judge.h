/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the judge: its state, and functions that give rulings. */
#ifndef LAW_JUDGE_H
#define LAW_JUDGE_H

#include "record.h"

#define PACKS_MAX	8
#define NOBODY		DEALBOX_ACTOR_NONE
#define SEATS		4

#define D07	(1u << DEALBOX_RULES_DUPLICATE_2007)
#define D17	(1u << DEALBOX_RULES_DUPLICATE_2017)
#define RUB	(1u << DEALBOX_RULES_RUBBER)
#define PRE	(1u << DEALBOX_RULES_PREFERANS)
#define DUP	(D07 | D17)
#define ALL	(DUP | RUB | PRE)

#define MARK(m)		(1u << DEALBOX_UNTIL_##m)

/* An irregularity. Of several that are noticed together the first decides. */
enum issue {
	I_FACEUP, I_FACEUP_OTHER, I_FACEUP_CUT, I_FACEUP_PACK,
	I_COUNT, I_PACKET, I_ORDER, I_ADJACENT, I_TALON, I_TALON_PLACE, I_POCKET, I_MISDEAL,
	I_TURN, I_UNCUT, I_UNSHUFFLED, I_SEEN, I_WRONG_HAND,
	I_DAMAGED, I_NONCONFORMING, I_SHORT_PACK, I_SHUFFLE, I_MANNER,
	ISSUES
};

/* Irregularities by which the dealer breaks the rules of dealing (3.2.17) */
#define BIT(i)		(1u << (i))
#define DEALING_FAULTS	(BIT(I_PACKET) | BIT(I_ORDER) | BIT(I_TALON) | BIT(I_MANNER))
#define DEALER_FAULTS	(DEALING_FAULTS | BIT(I_UNCUT) | BIT(I_SHUFFLE))

#define MISDEALS	(BIT(I_COUNT) | BIT(I_PACKET) | BIT(I_ORDER) | BIT(I_ADJACENT) | \
			 BIT(I_TALON) | BIT(I_TALON_PLACE) | BIT(I_POCKET) | BIT(I_MISDEAL))
#define FACEUPS		(BIT(I_FACEUP) | BIT(I_FACEUP_OTHER) | BIT(I_FACEUP_CUT) | \
			 BIT(I_FACEUP_PACK))

struct pack {
	char name[DEALBOX_PACK_NAME];
	uint8_t side;			/* 0 NS, 1 EW, 255 nobody's */
	uint8_t cards;
	bool sorted, played;		/* its prior condition */
	bool shuffled, cut;
	bool replaced;			/* a change of pack was ruled */
	const char *again;		/* paragraph naming the next player to shuffle, or NULL */
	uint8_t again_by;		/* that player; NOBODY = not known */
};

struct deal {
	unsigned long mark[DEALBOX_UNTILS];	/* line, 0 = not yet */
	unsigned long issue[ISSUES];		/* line, 0 = not raised */
	unsigned long issue_again[ISSUES];	/* line at which it was last raised */
	unsigned long punished[ISSUES];		/* line of the last punished notice */
	unsigned long packet_line;		/* of the last packet dealt */
	unsigned long issue_last;		/* line of the last issue raised */
	unsigned long misdeal_last;		/* .. of the last error in dealing */
	bool told;			/* the record tells how the cards were dealt */
	bool again;			/* this is a redeal */
	bool agent_deals;		/* a machine or another person deals for the dealer */
	bool agent_shuffled;		/* .. shuffled after the cut */
	uint8_t dealer;			/* player who picked up the pack or deals */
	uint8_t pack;
	/* dealing */
	uint8_t dealt, packets, last, next;
	uint8_t hand[DEALBOX_PLACES];
	uint8_t pocketed;
	/* an error that may be rectified at once (rubber) */
	struct {
		bool open, done;
		bool order;		/* a player was left out, or two cards in a row */
		uint32_t raised;	/* the issues that it raised */
		uint8_t from, to, last;
		unsigned long line;
	} error;
	/* the players */
	unsigned long forfeited[SEATS];
	unsigned long taken[SEATS][SEATS];	/* the hand that each player took */
	unsigned long called[SEATS];
	unsigned long barred[SEATS];		/* from the bidding */
	unsigned long talon_seen[SEATS];
	unsigned long over[SEATS], under[SEATS];	/* too many, too few cards found */
	unsigned long claim;			/* a redeal was claimed */
	unsigned long redeal;			/* a redeal was ruled */
	unsigned long stands, open, cancelled;	/* lines of such rulings */
	unsigned long choice;			/* left to the players, before the play is over */
	unsigned long again_line;		/* the cards were taken together for a redeal */
	uint32_t redeal_for; /* the issues it was ruled for; 0 = something else */
	unsigned long attention[ISSUES]; /* drawn in time, without the demand that it needs */
	struct { unsigned long line; bool many; } silent[SEATS];	/* counted, not announced */
	uint8_t plays[SEATS];
	uint8_t highest, bought;
	int16_t bid[2];				/* the highest bid */
	uint8_t passes;				/* 3.2.17: to whom the deal passes */
	uint8_t intent, interests;		/* topics */
	unsigned long intent_line, interests_line;
	uint8_t game, origin;			/* topics */
	unsigned long game_line, origin_line, bid_line;
	/* duplicate */
	bool cut_wanted;
	bool absent_told;
	bool unauthorised;			/* dealt by a person who was not allowed to */
	bool sight_told;			/* the record says who may have seen a card */
	struct {
		uint64_t exact, different;	/* by number: bit 63 for copies without a number */
		unsigned int unnamed;		/* exact ones without a number */
		unsigned long line;		/* of the last that differs */
	} copy;
};

struct dealbox_judge {
	dealbox_ruling_fn report;
	void *context;
	const char *language;		/* of errors; NULL = English */
	struct dealbox_error error;
	bool failed;
	unsigned long line;
	uint64_t time_ms;
	const struct dealbox_ruleset *rules;	/* NULL before the first line */
	struct pack packs[PACKS_MAX];
	uint8_t pack_count;
	uint8_t players;			/* mask of seats */
	bool begun;				/* a deal has begun */
	uint8_t turn;				/* player whose turn it is to deal; NOBODY = not
						 * known */
	uint8_t last_pack;			/* of the deal before; 255 = none */
	unsigned long deals;			/* begun, without redeals */
	int16_t board;				/* number; -1 = not told */
	/* preferans */
	bool talon_anywhere;
	int16_t remise;
	uint8_t faults[SEATS];			/* a dealer's errors */
	/* duplicate */
	unsigned long replay, at_table, agents, method, biased, absence, copies;
	int16_t copy_count;			/* number of copies; -1 = not specified */
	uint8_t present;
	unsigned long present_line;
	struct deal d;
};

typedef const struct dealbox_happening happening;

static inline bool law_is(const struct dealbox_judge *j, unsigned int rules)
{
	return 1u << j->rules->rules & rules;
}

static inline bool law_seat(uint8_t who)
{
	return who < SEATS;
}

/* deal-state.c */
/* Reports an error of the line. Returns -EINVAL. */
__attribute__((format(printf, 2, 3)))
int law_fail(struct dealbox_judge *j, const char *format, ...);

/* Returns the next player clockwise. */
uint8_t law_left(const struct dealbox_judge *j, uint8_t who);

/* Returns the next player counterclockwise. */
uint8_t law_right(const struct dealbox_judge *j, uint8_t who);

/* Four players of preferans: the dealer gets no cards. */
bool law_gets_cards(const struct dealbox_judge *j, uint8_t who);

/* Returns the next player that gets cards. */
uint8_t law_next_hand(const struct dealbox_judge *j, uint8_t who);

/* Returns the dealer of this deal, as far as known. */
uint8_t law_dealer(const struct dealbox_judge *j);

/* Begins a new deal. */
void law_deal_new(struct dealbox_judge *j);

/* Begins a new deal, unless a line has begun it. */
void law_deal_begin(struct dealbox_judge *j);

/* The cards of a pack that was dealt are in no new order. */
void law_pack_used(struct dealbox_judge *j);

/* Gets the named pack, or that of the deal. Returns 0, or -EINVAL with a report. */
int law_pack_find(struct dealbox_judge *j, const struct dealbox_happening *h, uint8_t *out);

/* Checks that the hand exists. Returns 0, or -EINVAL with a report. */
int law_hand_check(struct dealbox_judge *j, uint8_t place);

/* Returns the named hand, by default the actor's own. */
uint8_t law_hand_of(const struct dealbox_happening *h);

/* ruleset.c */
/* The consequence of an irregularity in a ruleset. */
struct law_row {
	uint8_t rules;
	uint8_t issue;
	uint16_t closes;	/* marks at which the claim becomes too late */
	bool starred;		/* a player who looked at a card too early loses the right */
	bool demanded;		/* attention alone is not enough */
	uint8_t kind;		/* in time */
	const char *reference, *see;
	uint8_t late;		/* too late */
	const char *late_reference, *late_see;
};

/* Returns the row of an irregularity, NULL if the ruleset has none. */
const struct law_row *law_row_find(enum dealbox_rules rules, enum issue issue);

/* issue.c */
/* Returns a ruling to be filled in and given. */
struct dealbox_ruling law_ruling(enum dealbox_ruling_kind kind, const char *reference,
				 const char *cause);

/* Adds a line that the ruling is based on, in order; ignores 0 and duplicates. */
void law_rest_on(struct dealbox_ruling *r, unsigned long line);

/* Gives the ruling at the current line, which is added to its lines. */
void law_give(struct dealbox_judge *j, struct dealbox_ruling *r);

/* Gives a ruling without further fields. fact is a line that it is based on, or 0. */
void law_tell(struct dealbox_judge *j, enum dealbox_ruling_kind kind, const char *reference,
	      uint8_t who, unsigned long fact, const char *cause);

/* Returns the dealer of a redeal of this deal. */
uint8_t law_redealer(const struct dealbox_judge *j);

/* Sets the dealer, the pack and the preparation of a redeal. */
void law_fill_redeal(const struct dealbox_judge *j, struct dealbox_ruling *r);

/* Gives a redeal for a reason that is not an irregularity of dealing. */
void law_redeal(struct dealbox_judge *j, const char *reference, const char *see,
		unsigned long fact, unsigned long fact2, const char *cause);

/* Returns the paragraph for a deal without irregularity. */
const char *law_main_paragraph(const struct dealbox_judge *j);

/* Rules that the deal stands, because the noted irregularity is not in the record. */
void law_unfounded(struct dealbox_judge *j);
void law_elsewhere(struct dealbox_judge *j, const char *cause);

/* Makes an issue a fact. An issue without a row in the ruleset is ignored. */
void law_raise_issue(struct dealbox_judge *j, enum issue issue);

/*
 * Handles attention drawn to the issues in mask (all of one kind), by who; NOBODY: everybody saw
 * it. The first of them in the order of enum issue decides.
 */
void law_notice(struct dealbox_judge *j, uint32_t mask, uint8_t who, bool demand);

/*
 * Preferans: returns true if the deal counts as correct. An error that can no longer be claimed
 * does not matter.
 */
bool law_dealt_right(const struct dealbox_judge *j);

/* Returns the issues in mask that have been raised. */
uint32_t law_raised(const struct dealbox_judge *j, uint32_t mask);

/* Marks a point in time as reached, if it was not. */
void law_mark(struct dealbox_judge *j, enum dealbox_until mark);

/* on-table.c */
/* 6C: checks that a member of each side is present while players shuffle and deal. */
void law_presence(struct dealbox_judge *j, uint8_t who);

/* Sets the pack of this deal; two packs alternate. */
void law_pack_taken(struct dealbox_judge *j);

/* Returns the player who prepares this pack: for this deal, or during it for the next one. */
uint8_t law_preparer(const struct dealbox_judge *j, uint8_t pack);

/* on-cards.c */
/* Preferans: a player has seen the talon; looked: on purpose. */
void law_talon_seen(struct dealbox_judge *j, uint8_t who, bool looked);

/* Announces a wrong number that was counted silently. Returns false if there is none. */
bool law_count_noted(struct dealbox_judge *j, uint8_t hand, uint8_t who);

/* issue.c */
/* Handles attention drawn to a topic; demand: with a demand for a redeal. */
int law_attention(struct dealbox_judge *j, uint8_t topic, uint8_t who, bool demand, uint8_t pack);
/* The cause, as a sentence. */
extern const char *const law_issue_cause[ISSUES];

/* The handlers, one per verb. They return 0, or -EINVAL with j->error.what set. */
int law_on_auction(struct dealbox_judge *j, happening *h);
int law_on_board(struct dealbox_judge *j, happening *h);
int law_on_buy(struct dealbox_judge *j, happening *h);
int law_on_call(struct dealbox_judge *j, happening *h);
int law_on_copy(struct dealbox_judge *j, happening *h);
int law_on_count(struct dealbox_judge *j, happening *h);
int law_on_custom(struct dealbox_judge *j, happening *h);
int law_on_cut(struct dealbox_judge *j, happening *h);
int law_on_deal(struct dealbox_judge *j, happening *h);
int law_on_dealt(struct dealbox_judge *j, happening *h);
int law_on_demand(struct dealbox_judge *j, happening *h);
int law_on_disturb(struct dealbox_judge *j, happening *h);
int law_on_find(struct dealbox_judge *j, happening *h);
int law_on_game(struct dealbox_judge *j, happening *h);
int law_on_instruct(struct dealbox_judge *j, happening *h);
int law_on_intent(struct dealbox_judge *j, happening *h);
int law_on_interests(struct dealbox_judge *j, happening *h);
int law_on_look(struct dealbox_judge *j, happening *h);
int law_on_mix(struct dealbox_judge *j, happening *h);
int law_on_notes(struct dealbox_judge *j, happening *h);
int law_on_object(struct dealbox_judge *j, happening *h);
int law_on_origin(struct dealbox_judge *j, happening *h);
int law_on_over(struct dealbox_judge *j, happening *h);
int law_on_pack(struct dealbox_judge *j, happening *h);
int law_on_pickup(struct dealbox_judge *j, happening *h);
int law_on_place(struct dealbox_judge *j, happening *h);
int law_on_play(struct dealbox_judge *j, happening *h);
int law_on_players(struct dealbox_judge *j, happening *h);
int law_on_pocket(struct dealbox_judge *j, happening *h);
int law_on_present(struct dealbox_judge *j, happening *h);
int law_on_purpose(struct dealbox_judge *j, happening *h);
int law_on_rectify(struct dealbox_judge *j, happening *h);
int law_on_redeal(struct dealbox_judge *j, happening *h);
int law_on_rubber(struct dealbox_judge *j, happening *h);
int law_on_rules(struct dealbox_judge *j, happening *h);
int law_on_search(struct dealbox_judge *j, happening *h);
int law_on_see(struct dealbox_judge *j, happening *h);
int law_on_show(struct dealbox_judge *j, happening *h);
int law_on_shuffle(struct dealbox_judge *j, happening *h);
int law_on_take(struct dealbox_judge *j, happening *h);
int law_on_turn(struct dealbox_judge *j, happening *h);

/* For from-trace.c: returns the cards that the pack of this deal should have. */
static inline unsigned int law_cards_of_deal(const struct dealbox_judge *j)
{
	return j->pack_count ? j->packs[j->d.pack].cards : j->rules->cards;
}

#endif
