/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine that is a person: keys and bar codes go in, events of a machine come out. No I/O, no
 * clock.
 *
 * The person is the gate, so a card has passed it when the next one comes, or, for the last card,
 * when Enter is pressed. Until then the card can be taken back, and no event has told of it.
 */
#ifndef DEALBOX_HAND_H
#define DEALBOX_HAND_H

#include <dealbox/machine.h>

#include "abi.h"
#include "queue.h"

/* Keys, besides the characters: code points of Unicode. Letters may be small. */
#define HAND_ENTER	0x0a	/* next step: board is in, board is out, start, last card lies */
#define HAND_UNDO	0x08	/* the last card, or the board, was a mistake */
#define HAND_STOP	0x1b	/* the stop key */

/* Enter so soon after a character is the end of a bar code. */
#define HAND_SUFFIX_NS	150000000ull
/* By position, a key so soon after the last one is the same press: a key that is held repeats. */
#define HAND_BOUNCE_NS	250000000ull
/* The same code so soon is one card, read twice. */
#define HAND_TWICE_NS	500000000ull

/* The card in the person's hand */
struct hand_card {
	bool there;
	uint8_t card;		/* DEALBOX_NONE: not read */
	bool typed;
};

struct hand {
	struct event_queue queue;
	const struct hand_letters *letters;
	bool claimed;
	uint64_t now;			/* ns, of the present call */
	uint64_t pressed; /* ns, of the last key that was not Enter; by position: of any */
	uint64_t seqno;			/* of the next event */
	uint32_t last;			/* highest insertion so far */
	uint32_t insertion;		/* of the board that is there; 0 = none */
	bool spent;
	uint8_t state, fault;		/* as in struct dealbox_status */
	struct dealbox_plan plan;	/* loaded; plan_id 0 = none */
	/* the deal: */
	uint8_t total;
	uint8_t placed; /* cards that lie where they belong: they have been reported */
	struct hand_card card;		/* the one behind them */
	uint64_t taken;			/* ns, when it was read */
	uint8_t counts[DEALBOX_MAX_POCKETS];
	uint8_t where[DEALBOX_MAX_ENTRIES];	/* position + 1 of each card; 0 = not yet */
	uint8_t shows;			/* DEALBOX_PROMPT_SAME and more */
	uint8_t again;			/* DEALBOX_PROMPT_DEALT: that card */
	uint8_t rank;			/* first key of two; DEALBOX_NONE = not yet */
	bool one;			/* the rank was typed as 1: 0 makes it a ten */
	struct dealbox_counters counters;
};

/*
 * Begin: the machine was switched on, without a board. language is that of the letters of cards, or
 * NULL. Returns false if it is not known.
 */
bool hand_init(struct hand *hand, const char *language, uint64_t now);

/* The first insertion shall be behind this one, if it is not so already. */
void hand_count_from(struct hand *hand, uint32_t insertion);

/* A key was pressed. Returns false if it means nothing now. */
bool hand_key(struct hand *hand, uint32_t key, uint64_t now);

/* A bar code was read: a card, or DEALBOX_NONE for an unknown code. */
void hand_code(struct hand *hand, uint8_t card, uint64_t now);

/* A call of the ABI, of the process pid. Returns 0 or -errno as the kernel module does. */
int hand_call(struct hand *hand, unsigned long request, void *arg, uint32_t pid, uint64_t now);

/* Get what the person is to be shown. */
void hand_view(const struct hand *hand, struct dealbox_prompt *out);

/* Return the character of a key of <linux/input-event-codes.h> on an American keyboard; 0: none. */
uint32_t hand_key_of(unsigned int code);

/*
 * Bar codes of cards, read from a file: a line for each code, with its card behind it ("4711 SA").
 * Lines with a code alone are those of a sorted pack, spade ace first and club two last.
 */
struct hand_codes {
	struct hand_code *list;
	size_t count;
};

#define HAND_CODE_MAX	63	/* characters of a code */

/*
 * Read lines of such a file. Returns 0, or a negative errno with the number of the line in *line (0
 * = the file ends within a pack) and the reason in *why. Free with hand_codes_free() in any case.
 */
int hand_codes_read(struct hand_codes *codes, const char *text, unsigned int *line,
		    const char **why);
void hand_codes_free(struct hand_codes *codes);
/* Return the card of a code or of a text for hand_parse(); DEALBOX_NONE: unknown. */
uint8_t hand_codes_find(const struct hand_codes *codes, const char *code);

/*
 * Return the card that a text of two keys names, such as "AS", "10H" or "td"; DEALBOX_NONE: none.
 */
uint8_t hand_parse(const char *text);

#endif
