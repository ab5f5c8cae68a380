/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The laws of dealing as a judge: it takes a record of dealing, line by line, and gives rulings,
 * each with its reference and the lines that it is based on.
 *
 * docs/law-record.md defines the record, its words, and their effect. The texts: duplicate-2007 and
 * duplicate-2017 (Law 6 of the Laws of Duplicate Bridge), rubber (Laws 4 to 12 of the Laws of
 * Contract Bridge), preferans (code of preferans, 3.2.12 to 3.3.1).
 */
#ifndef DEALBOX_LAW_H
#define DEALBOX_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/api.h>
#include <dealbox/card.h>
#include <dealbox/deal.h>
#include <dealbox/error.h>
#include <dealbox/pack.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rulesets ---- */

enum dealbox_rules {
	DEALBOX_RULES_DUPLICATE_2007,
	DEALBOX_RULES_DUPLICATE_2017,
	DEALBOX_RULES_RUBBER,
	DEALBOX_RULES_PREFERANS,
	DEALBOX_RULES			/* number of rulesets */
};

/* Hands, and the fifth place where a card may go. */
#define DEALBOX_TALON		4
#define DEALBOX_PLACES		5

/* The rules of a ruleset on pack, deal, shuffle and cut. A plain constant. */
struct dealbox_ruleset {
	enum dealbox_rules rules;
	const char *name;		/* "duplicate-2017" */
	dealbox_cards pack;		/* the cards that exist */
	uint8_t cards;			/* their number */
	uint8_t hands;
	uint8_t hand_cards;		/* cards of a hand */
	uint8_t talon_cards;
	uint8_t packet;			/* cards dealt at a time */
	uint8_t talon_packet;		/* index of the packet that is the talon, from 0 */
	bool rotation;			/* dealing in rotation is required, not only recommended */
	bool adjacent;			/* two adjacent cards to one hand are allowed */
	bool cut_always;		/* a deal without a cut is faulty; else a cut is made on
					 * request */
	uint8_t cut_least;		/* fewest cards of a portion; 0 = not specified */
	uint8_t shuffles_advised;	/* 0 = not specified */
	bool director;			/* there is a director who decides */
	const char *sight_law;		/* law on seeing another player's card, or NULL */
	const char *redeal_laws;	/* laws that limit a redeal by the director, or NULL */
	const char *edition;		/* text name in English, for dealbox_law_translate() */
};

/* Returns the ruleset; NULL if rules is out of range. Static. */
DEALBOX_API const struct dealbox_ruleset *dealbox_ruleset_get(enum dealbox_rules rules);
/* Returns the ruleset of that name, or NULL if there is none. Static. */
DEALBOX_API const struct dealbox_ruleset *dealbox_ruleset_find(const char *name);

/* ---- paragraphs ---- */

/*
 * A paragraph that a ruling may refer to: "6D1", "10(a)(ii)", "3.2.15(3)". rules is a mask, bit =
 * enum dealbox_rules. text summarises it in our own words, in English; dealbox_law_translate() has
 * other languages.
 */
struct dealbox_paragraph {
	unsigned int rules;
	const char *reference;
	const char *text;
};

/* Returns paragraph n, from 0, in the order of the texts; NULL beyond the last. Static. */
DEALBOX_API const struct dealbox_paragraph *dealbox_paragraph_get(size_t n);
/* Returns the paragraph of a ruleset with that reference, or NULL if there is none. Static. */
DEALBOX_API const struct dealbox_paragraph *
dealbox_paragraph_find(enum dealbox_rules rules, const char *reference);

/* ---- the record ---- */

/* The actor of a line. The first four are seats, as in dealbox_seat. */
enum dealbox_actor {
	DEALBOX_ACTOR_NORTH, DEALBOX_ACTOR_EAST, DEALBOX_ACTOR_SOUTH, DEALBOX_ACTOR_WEST,
	DEALBOX_ACTOR_DIRECTOR,
	DEALBOX_ACTOR_ASSISTANT,
	DEALBOX_ACTOR_MACHINE,
	DEALBOX_ACTOR_OTHER,
	DEALBOX_ACTOR_NONE
};

#define DEALBOX_PACK_NAME	16

/*
 * One happening, that is one line of a record. verb, topic, about and flags are words of
 * docs/law-record.md as numbers that the next version of the library may change: do not set, store
 * or compare them. Programs make happenings with dealbox_record_parse(), give them only to the
 * library, and keep the line that dealbox_record_format() writes.
 */
struct dealbox_happening {
	uint64_t time_ms;	/* since the record began, if timed */
	uint32_t flags;
	int16_t number[2];	/* -1 = not given */
	uint8_t timed;
	uint8_t verb;
	uint8_t actor;		/* enum dealbox_actor */
	uint8_t topic;		/* 0 = none */
	uint8_t about;		/* second topic, after for=; 0 = none */
	uint8_t places;		/* mask of named hands, bit 4 = talon */
	uint8_t seat;		/* seat or side named by a key; 255 = none */
	uint8_t pass;		/* call: a pass */
	char pack[DEALBOX_PACK_NAME];	/* "" = not named */
	uint32_t reserved[4];	/* 0 */
};

/*
 * Parses one line, length bytes without the line end, into *out. Returns 1, or 0 for an empty line
 * or a comment, or -EINVAL with *error set (error->line is 0: the caller knows it). Keeps no
 * state, allocates nothing.
 */
DEALBOX_API int dealbox_record_parse(const char *line, size_t length,
				     struct dealbox_happening *out,
				     struct dealbox_error *error);

/*
 * Writes the line for a happening, without line end: the inverse of dealbox_record_parse(). Returns
 * its length, as snprintf() does.
 */
DEALBOX_API size_t dealbox_record_format(const struct dealbox_happening *happening,
					 char *text, size_t size);

/* ---- rulings ---- */

/* The names in the comments are those of output and of docs/law-record.md. */
enum dealbox_ruling_kind {
	DEALBOX_RULING_STANDS,		/* stands */
	DEALBOX_RULING_MAY_RECTIFY,	/* may-rectify: who, until */
	DEALBOX_RULING_NEW_CUT,		/* new-cut: who cuts */
	DEALBOX_RULING_NEW_SHUFFLE,	/* new-shuffle: who shuffles; a cut follows if cut */
	DEALBOX_RULING_REDEAL,		/* redeal: who deals, pack, shuffled and cut anew */
	DEALBOX_RULING_NEW_BOARD,	/* new-board: the copy is made again */
	DEALBOX_RULING_CHANGE_OF_PACK,	/* change-of-pack: pack */
	DEALBOX_RULING_RESTORE_PACK,	/* restore-pack: pack, to the side who */
	DEALBOX_RULING_RESULT_CANCELLED,	/* result-cancelled */
	DEALBOX_RULING_PENALTY,		/* penalty: who, amount, unit */
	DEALBOX_RULING_NO_PENALTY,	/* no-penalty: who */
	DEALBOX_RULING_WARNING,		/* warning: who */
	DEALBOX_RULING_TURN_PASSES,	/* turn-passes: who deals next */
	DEALBOX_RULING_NEXT_DEALER,	/* next-dealer: who */
	DEALBOX_RULING_RESTORE_CARD,	/* restore-card: who = the hand it belongs to or leaves */
	DEALBOX_RULING_SUBSTITUTE_CARD,	/* substitute-card: who */
	DEALBOX_RULING_RIGHT_FORFEITED,	/* right-forfeited: who */
	DEALBOX_RULING_CLAIM_TOO_LATE,	/* claim-too-late */
	DEALBOX_RULING_DIRECTOR_DECIDES,	/* director-decides: options */
	DEALBOX_RULING_PLAYERS_CHOOSE,	/* players-choose: who or any player, options */
	DEALBOX_RULING_ENTITLED,	/* entitled: who may do it */
	DEALBOX_RULING_BARRED,		/* barred: who takes no part in the bidding */
	DEALBOX_RULING_COMPENSATION,	/* compensation: who pays */
	DEALBOX_RULING_BREACH,		/* breach: against the text, which names no consequence */
	DEALBOX_RULING_OTHER_LAW,	/* other-law: see */
	DEALBOX_RULING_NO_RIGHT,	/* no-right: who has no such right */
	DEALBOX_RULING_NO_RULING,	/* no-ruling: nothing in the text for this */
	DEALBOX_RULING_KINDS
};

/* The time until which something may be done. */
enum dealbox_until {
	DEALBOX_UNTIL_NONE,
	DEALBOX_UNTIL_PICKUP,		/* pickup: the dealer has picked up the pack */
	DEALBOX_UNTIL_FIRST_CARD,	/* first-card: has been dealt */
	DEALBOX_UNTIL_NEXT_CARD,	/* next-card: is dealt (at once) */
	DEALBOX_UNTIL_LAST_CARD,	/* last-card: has been dealt */
	DEALBOX_UNTIL_LOOK,		/* first-look: a player has looked at the own cards */
	DEALBOX_UNTIL_AUCTION,		/* auction: the first call or bid, or a pass */
	DEALBOX_UNTIL_PLAY,		/* play: the first card has been played */
	DEALBOX_UNTIL_OVER,		/* over: play has been completed */
	DEALBOX_UNTILS
};

/* The options of a person to whom the text leaves the decision. */
enum dealbox_option {
	DEALBOX_OPTION_REDEAL = 1 << 0,		/* redeal */
	DEALBOX_OPTION_STANDS = 1 << 1,		/* stands */
	DEALBOX_OPTION_GIVE_CARD = 1 << 2,	/* give-card: to the hand that lacks one */
};

enum dealbox_unit {
	DEALBOX_UNIT_NONE,
	DEALBOX_UNIT_HILL,		/* hill: points on the mountain ("gora") */
	DEALBOX_UNIT_REMISE,		/* remise: as agreed, amount points */
	DEALBOX_UNIT_TRICKS,		/* tricks that the player takes */
	DEALBOX_UNIT_MOST,		/* most: the most that the player could win in this game */
};

#define DEALBOX_RULING_FACTS	4

struct dealbox_ruling {
	enum dealbox_ruling_kind kind;
	enum dealbox_rules rules;
	const char *reference;		/* a dealbox_paragraph of the ruleset; static */
	const char *see;		/* further laws to apply, or NULL; static */
	const char *cause;		/* the reason, a sentence in English; static */
	unsigned long line;		/* the line at which it is given */
	unsigned long facts[DEALBOX_RULING_FACTS];	/* the lines it is based on, ascending */
	uint8_t fact_count;
	uint8_t who;			/* enum dealbox_actor */
	uint8_t until;			/* enum dealbox_until */
	uint8_t options;		/* enum dealbox_option, or'ed */
	uint8_t unit;			/* enum dealbox_unit */
	int16_t amount;
	bool shuffle;			/* with a redeal or new cut: shuffled anew */
	bool cut;			/* and cut anew */
	const char *pack;		/* name, or NULL; valid during the callback */
};

/* Returns the name for programs, "redeal"; "?" out of range. Names are static and never change. */
DEALBOX_API const char *dealbox_ruling_kind_name(enum dealbox_ruling_kind kind);
DEALBOX_API const char *dealbox_until_name(enum dealbox_until until);
DEALBOX_API const char *dealbox_unit_name(enum dealbox_unit unit);
/* Returns "N", "director"; "" for nobody. Static. */
DEALBOX_API const char *dealbox_actor_name(enum dealbox_actor actor);
/* Returns the name of one option bit. Static. */
DEALBOX_API const char *dealbox_option_name(enum dealbox_option option);

/*
 * Writes one line for programs and for tables of tests, without the facts: "redeal 10(a)(i) who=S
 * pack=red anew=shuffle,cut". As snprintf().
 */
DEALBOX_API size_t dealbox_ruling_format(const struct dealbox_ruling *ruling,
					 char *text, size_t size);

/*
 * Writes the ruling as sentences for people, in language "nb", "el", "fr", "ru" or "en" (NULL is
 * English), UTF-8, in the terms of the source texts. As snprintf().
 */
DEALBOX_API size_t dealbox_ruling_text(const struct dealbox_ruling *ruling,
				       const char *language, char *text, size_t size);

/* Returns language n, from 0; NULL beyond the last. Static. */
DEALBOX_API const char *dealbox_law_language(size_t n);

/*
 * Returns message, the text of a paragraph or a cause, in that language. Returns the message itself
 * if language is NULL or "en", or if there is no translation. Static.
 */
DEALBOX_API const char *dealbox_law_translate(const char *language, const char *message);

/*
 * Returns the message for n things in that language, which may have more forms than English has:
 * one and many are the English ones. Messages of the laws have no number; those of programs do.
 * Static.
 */
DEALBOX_API const char *dealbox_law_translate_count(const char *language, const char *one,
						    const char *many, unsigned long n);

/* ---- the judge ---- */

struct dealbox_judge;

/* Called with each ruling when it is given; *ruling is valid during the call. */
typedef void (*dealbox_ruling_fn)(const struct dealbox_ruling *ruling, void *context);

/*
 * Returns a new judge, or NULL if out of memory. Free it with dealbox_judge_free() (NULL is
 * allowed).
 */
DEALBOX_API struct dealbox_judge *dealbox_judge_new(dealbox_ruling_fn report, void *context);
DEALBOX_API void dealbox_judge_free(struct dealbox_judge *judge);

/*
 * Sets the language of dealbox_error.what: "nb", "el", "fr", "ru" or "en" (NULL is English,
 * the default). The words of a record are the same in every language. Returns 0, or -EINVAL: there
 * is no such language.
 */
DEALBOX_API int dealbox_judge_language(struct dealbox_judge *judge, const char *language);

/*
 * Takes the next line of the record, length bytes without the line end; its number is one more than
 * that of the line before. Returns 0, or -EINVAL with *error set; after an error the judge refuses
 * every further line with the same error.
 */
DEALBOX_API int dealbox_judge_line(struct dealbox_judge *judge, const char *line, size_t length,
				   struct dealbox_error *error);

/* The same for a happening; it counts as a line. */
DEALBOX_API int dealbox_judge_happening(struct dealbox_judge *judge,
					const struct dealbox_happening *happening,
					struct dealbox_error *error);

/*
 * The outcome of a deal by all rulings on it. The order of the values says nothing: later versions
 * add theirs at the end.
 */
enum dealbox_law_verdict {
	DEALBOX_LAW_STANDS,		/* stands */
	DEALBOX_LAW_OPEN,		/* open: people are to decide */
	DEALBOX_LAW_NEW_BOARD,		/* new-board: a copy is to be made again */
	DEALBOX_LAW_CANCELLED,		/* cancelled: no result may stand */
	DEALBOX_LAW_REDEAL,		/* redeal: the cards are to be dealt again */
};

struct dealbox_judgement {
	unsigned long deal;	/* number of the deal in the record, from 1; a redeal is the same
				 * deal. 0 = none */
	bool known;		/* the deal is complete, or a ruling decides on it */
	int board;		/* the board's number, -1 = unknown */
	enum dealbox_law_verdict verdict;
	unsigned long line;	/* of the ruling that decided; 0 = none was needed */
	const char *name;	/* of the verdict, for programs; static */
	const char *text;	/* a sentence in English, for dealbox_law_translate(); static */
	uint32_t reserved[8];	/* 0 */
};

/*
 * Gets the outcome of the current deal of the record, by the lines so far: rulings may follow one
 * another, and a later line may cure what an earlier one required. Call it after each line: when
 * deal changes, the previous judgement was the final one of that deal.
 */
DEALBOX_API void dealbox_judge_result(const struct dealbox_judge *judge,
				      struct dealbox_judgement *out);

/* ---- machines ---- */

/*
 * Makes a plan by position for dealing an ordered pack by the ruleset: one card at a time
 * (preferans: two, the talon as the fourth pair) from the left of dealer, clockwise, never two
 * adjacent cards of the deck to one hand if that is forbidden. Hands go to pockets N, E, S, W =
 * 0..3; in preferans three play, N, E and S, and pocket 3 is the talon. plan_id as in
 * dealbox_plan_by_card(). Returns 0, or -EINVAL: no such ruleset, plan_id reserved, or a dealer who
 * does not play.
 */
DEALBOX_API int dealbox_law_plan(enum dealbox_rules rules, enum dealbox_actor dealer,
				 uint32_t plan_id, struct dealbox_plan *plan);

/*
 * Called with each happening of a trace before the judge gets it; *happening is valid during the
 * call.
 */
typedef void (*dealbox_happening_fn)(const struct dealbox_happening *happening, void *context);

/*
 * Converts the trace of a deal by position to happenings, and gives them to the judge and to take
 * (may be NULL); dealbox_record_format() makes lines of them. The judge already has the ruleset and
 * the preceding record: whose turn it is, shuffle and cut. The machine notes each irregularity when
 * it sees it: a card face up, a card in the wrong place, two cards at once, an incomplete pack. No
 * card is named. If the plan was not completed for a reason that the laws do not cover (a jam, a
 * board pulled out), the record just ends. Returns 0; -EINVAL: with *error as in
 * dealbox_judge_happening(), or plan is not by position, or the judge has no ruleset yet.
 */
DEALBOX_API int dealbox_judge_trace(struct dealbox_judge *judge, const struct dealbox_plan *plan,
				    const struct dealbox_trace *trace, dealbox_happening_fn take,
				    void *context, struct dealbox_error *error);

/*
 * Gets the cards of one pocket, from its last capture. Returns 0, or -EINVAL: the capture is
 * incomplete, as below. The caller checks their number.
 */
DEALBOX_API int dealbox_law_capture_pocket(const struct dealbox_trace *capture, dealbox_cards *out);

/*
 * Gets the original of Law 6F from four captures: the cards of pocket N, E, S, W one after the
 * other, each read completely. Returns 0 and the deal. -EINVAL: a capture is incomplete (events
 * missing, a stop in doubt, a card not read or face up, no end), its number is in *pocket;
 * -EBADMSG: the four are not a deal of the pack, dealbox_deal_check() gives the reason; -EDOM: they
 * are a sorted pack, which nobody dealt and which dealbox_format_read() would refuse as a
 * placeholder. With -EBADMSG and -EDOM, *out has the cards that were read.
 */
DEALBOX_API int dealbox_law_capture(const struct dealbox_trace *const captures[DEALBOX_HANDS],
				    const struct dealbox_pack *pack, struct dealbox_deal *out,
				    unsigned int *pocket);

#ifdef __cplusplus
}
#endif
#endif
