// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/diagnosis.h>

#include "cards/pack-internal.h"

_Static_assert(DEALBOX_CULPRITS <= sizeof(((struct dealbox_diagnosis *)NULL)->chance),
	       "a chance for each culprit");

#define MODULES		9
#define EARLIER_WEIGHT	2	/* the later one was read again before it was reported */
#define DECK_WEIGHT	3	/* a card of another deck, against 1000 misread ones */

/* Weights of a confusion, against ANY for any other */
#define ANY		1
#define BARS		100	/* one module away, or turned round */
#define SUIT		100	/* same rank, the other suit of the colour */
#define SHAPE		25	/* same suit, a rank of similar shape */
#define SEEN		50	/* each time that it was observed */

/* The bar codes, first module in the highest bit; two public decodings agree on all. */
static const uint16_t codes[DEALBOX_CARDS] = {
	0x152, 0x12a, 0x16a, 0x0d6, 0x196, 0x0aa, 0x14a, 0x0ca, 0x19a, 0x09a, 0x096, 0x132, 0x0b2,
	0x092, 0x16d, 0x14d, 0x12d, 0x0ad, 0x0cd, 0x18d, 0x165, 0x065, 0x125, 0x0a5, 0x08d, 0x06d,
	0x192, 0x155, 0x0d5, 0x195, 0x095, 0x169, 0x069, 0x129, 0x0a9, 0x159, 0x099, 0x153, 0x093,
	0x0d2, 0x0d9, 0x166, 0x163, 0x199, 0x133, 0x0b3, 0x0d3, 0x193, 0x066, 0x156, 0x0a6, 0x126,
};

static uint16_t mirrored(uint16_t code)
{
	uint16_t out = 0;
	unsigned int n;

	for (n = 0; n < MODULES; n++)
		out |= (code >> n & 1) << (MODULES - 1 - n);
	return out;
}

dealbox_cards dealbox_card_confusable(unsigned int card)
{
	dealbox_cards out = 0;
	unsigned int other;

	if (card >= DEALBOX_CARDS)
		return 0;
	for (other = 0; other < DEALBOX_CARDS; other++)
		if (other != card && (__builtin_popcount(codes[card] ^ codes[other]) == 1 ||
				      codes[card] == mirrored(codes[other])))
			out |= 1ULL << other;
	return out;
}

/* Ranks that look alike in the corner of a card, one of them misread as the other. */
static const char shapes[][2] = {
	{ '3', '8' }, { '6', '8' }, { '8', '9' }, { '5', '6' }, { 'J', 'T' }, { 'A', '4' },
	{ '2', '7' },
	{ '9', 'Q' },
};

static bool similar(unsigned int a, unsigned int b)
{
	static const char ranks[] = "AKQJT98765432";
	char x = ranks[a % 13], y = ranks[b % 13];

	for (size_t n = 0; n < sizeof(shapes) / sizeof(shapes[0]); n++)
		if ((shapes[n][0] == x && shapes[n][1] == y) ||
		    (shapes[n][0] == y && shapes[n][1] == x))
			return true;
	return false;
}

static uint16_t confusion_weight(unsigned int reader, unsigned int card, unsigned int read)
{
	if (card == read)
		return 0;
	if (reader == DEALBOX_READER_BARCODE)
		return dealbox_card_confusable(card) >> read & 1 ? BARS : ANY;
	if (reader != DEALBOX_READER_CAMERA)
		return ANY;
	/* spades and clubs, hearts and diamonds */
	if (card % 13 == read % 13 && card / 13 + read / 13 == 3)
		return SUIT;
	return card / 13 == read / 13 && similar(card, read) ? SHAPE : ANY;
}

void dealbox_confusion_reader(struct dealbox_confusion *confusion, unsigned int reader)
{
	for (unsigned int card = 0; card < DEALBOX_CARDS; card++)
		for (unsigned int read = 0; read < DEALBOX_CARDS; read++)
			confusion->weight[card][read] = confusion_weight(reader, card, read);
}

size_t dealbox_confusion_learn(struct dealbox_confusion *confusion,
			       const struct dealbox_trace *trace)
{
	const struct dealbox_event *e, *last = NULL;
	uint16_t *weight;
	size_t learned = 0;

	for (size_t n = 0; (e = dealbox_trace_get(trace, n)); n++) {
		if (e->type == DEALBOX_EV_DEAL_STARTED)
			last = NULL;
		if (e->type != DEALBOX_EV_CARD_READ)
			continue;
		if (last && last->position == e->position && last->card != e->card &&
		    last->card < DEALBOX_CARDS && e->card < DEALBOX_CARDS) {
			weight = &confusion->weight[e->card][last->card];
			*weight = *weight > UINT16_MAX - SEEN ? UINT16_MAX : *weight + SEEN;
			learned++;
		}
		last = e;
	}
	return learned;
}

/* Returns how many of a million wrong readings of card read it so. */
static uint32_t chance_of(const struct dealbox_confusion *confusion, unsigned int card,
			  unsigned int read)
{
	uint32_t all = 0;

	for (unsigned int n = 0; n < DEALBOX_CARDS; n++)
		all += confusion->weight[card][n];
	return all ? (uint64_t)1000000 * confusion->weight[card][read] / all : 0;
}

/* Fills in the facts of the trace about the card at that position. */
static void look(const struct dealbox_trace *trace, const uint8_t *pockets,
		 struct dealbox_reading *reading, dealbox_cards *seen, uint8_t position)
{
	const struct dealbox_event *e;
	uint8_t fallen[DEALBOX_MAX_POCKETS] = { 0 };
	size_t n;

	*reading = (struct dealbox_reading){
		.position = position, .quality = DEALBOX_NONE, .pocket = DEALBOX_NONE,
		.hand = DEALBOX_NONE,
	};
	*seen = 0;
	for (n = 0; (e = dealbox_trace_get(trace, n)); n++) {
		if (e->type == DEALBOX_EV_CARD_READ && e->card < DEALBOX_MAX_CARDS) {
			*seen |= 1ULL << e->card;
			if (e->position == position)
				reading->quality = e->quality;
		}
		/* without exit sensors, the gates show where it went */
		if (e->type == DEALBOX_EV_CARD_ROUTED && e->position == position)
			reading->pocket = e->pocket;
		if (e->type == DEALBOX_EV_CARD_LANDED && e->pocket < DEALBOX_MAX_POCKETS) {
			fallen[e->pocket]++;
			if (e->position == position) {
				reading->pocket = e->pocket;
				reading->place = fallen[e->pocket];
			}
		}
	}
	if (reading->place)
		reading->above = fallen[reading->pocket] - reading->place;
	for (n = 0; n < DEALBOX_HANDS; n++)
		if (reading->pocket == (pockets ? pockets[n] : n))
			reading->hand = (uint8_t)n;
}

/*
 * Returns how strongly a quality indicates a misread card, 10 = not at all, by how many of the
 * other readings of this deal were as bad. Each machine has its own scale.
 */
static unsigned int suspicion(const struct dealbox_trace *trace,
			      const struct dealbox_reading *reading)
{
	/* of 64 readings that are right, how many are at most as good */
	static const struct { unsigned int of_64, weight; } rows[] = {
		{ 1, 80 }, { 2, 50 }, { 4, 32 }, { 8, 20 }, { 16, 12 }, { 32, 8 }, { 64, 4 },
	};
	const struct dealbox_event *e;
	unsigned int all = 0, worse = 0, share, n;

	if (reading->quality > 100)
		return 10;
	for (n = 0; (e = dealbox_trace_get(trace, n)); n++) {
		if (e->type != DEALBOX_EV_CARD_READ || e->quality > 100 ||
		    e->position == reading->position)
			continue;
		/* one that is as good counts half */
		all += 2;
		worse += e->quality < reading->quality ? 2 : e->quality == reading->quality;
	}
	share = 64 * (worse + 1) / (all + 2);	/* less than 64 */
	for (n = 0; share > rows[n].of_64; n++)
		;
	return rows[n].weight;
}

/* Finds the unseen cards that the misread one can be, and their share of 1000 such misreads. */
static unsigned int find_candidates(const struct dealbox_confusion *confusion,
				    struct dealbox_diagnosis *out)
{
	uint32_t chance[DEALBOX_CARDS], best = 0, all = 0, unseen = 0;
	unsigned int card;

	for (card = 0; card < DEALBOX_CARDS; card++) {
		chance[card] = out->card < DEALBOX_CARDS ? chance_of(confusion, card, out->card) :
							   1;
		all += chance[card];
		if (!(out->candidates >> card & 1))
			continue;
		unseen += chance[card];
		best = chance[card] > best ? chance[card] : best;
	}
	/*
	 * cards that are ten times as likely as an arbitrary one, and not much less likely than the
	 * likeliest
	 */
	for (card = 0; card < DEALBOX_CARDS; card++)
		if (out->candidates >> card & 1 && chance[card] > 1000000 / DEALBOX_CARDS * 3 &&
		    chance[card] >= best / 5)
			out->easily |= 1ULL << card;
	explicit_bzero(chance, sizeof(chance));
	return all ? (uint64_t)1000 * unseen / all : 0;
}

int dealbox_diagnose_repeat(const struct dealbox_trace *trace, const struct dealbox_pack *pack,
			    const struct dealbox_confusion *confusion, const uint8_t *pockets,
			    struct dealbox_diagnosis *out)
{
	const struct dealbox_event *e, *repeat = NULL;
	unsigned int weight[DEALBOX_CULPRITS], all = 0, possible, n;
	dealbox_cards seen;

	for (n = 0; (e = dealbox_trace_get(trace, n)); n++)
		if (e->type == DEALBOX_EV_REPEATED_CARD)
			repeat = e;
	if (!repeat || repeat->card >= DEALBOX_MAX_CARDS)
		return -ENOENT;
	memset(out, 0, sizeof(*out));
	out->card = repeat->card;
	look(trace, pockets, &out->earlier, &seen, repeat->arg[0]);
	out->later = (struct dealbox_reading){
		.position = repeat->position, .quality = repeat->quality, .pocket = DEALBOX_NONE,
		.hand = DEALBOX_NONE,
	};
	out->candidates = pack_or_bridge(pack)->cards & ~seen & ((1ULL << DEALBOX_CARDS) - 1);
	possible = find_candidates(confusion, out);

	weight[DEALBOX_CULPRIT_EARLIER] =
		possible * EARLIER_WEIGHT * suspicion(trace, &out->earlier);
	weight[DEALBOX_CULPRIT_LATER] = possible * suspicion(trace, &out->later);
	/* by an uninformative quality */
	weight[DEALBOX_CULPRIT_DECK] = DECK_WEIGHT * 10;
	for (n = 0; n < DEALBOX_CULPRITS; n++) {
		all += weight[n];
		if (weight[n] > weight[out->likely])
			out->likely = n;
	}
	out->chance[DEALBOX_CULPRIT_EARLIER] = 100 * weight[DEALBOX_CULPRIT_EARLIER] / all;
	out->chance[DEALBOX_CULPRIT_LATER] = 100 * weight[DEALBOX_CULPRIT_LATER] / all;
	out->chance[DEALBOX_CULPRIT_DECK] = 100 - out->chance[DEALBOX_CULPRIT_EARLIER] -
					    out->chance[DEALBOX_CULPRIT_LATER];
	return 0;
}

/* ---- for a person --------------------------------------------------------- */

struct writer {
	char *text;
	size_t size, length;
};

static void put(struct writer *w, const char *text)
{
	if (w->length < w->size)
		snprintf(w->text + w->length, w->size - w->length, "%s", text);
	w->length += strlen(text);
}

static const char *const seats[DEALBOX_HANDS] = { "North", "East", "South", "West" };

static void put_earlier(struct writer *w, const struct dealbox_reading *r)
{
	char where[96];

	if (r->hand < DEALBOX_HANDS && r->place && !r->above)
		snprintf(where, sizeof(where), "the top card of %s's hand", seats[r->hand]);
	else if (r->hand < DEALBOX_HANDS && r->place)
		snprintf(where, sizeof(where), "card %u from the top of %s's hand", r->above + 1u,
			 seats[r->hand]);
	else if (r->hand < DEALBOX_HANDS)
		/* no position beside a seat: the deck may be sorted */
		snprintf(where, sizeof(where), "the one in %s's hand that was read as the same",
			 seats[r->hand]);
	else
		snprintf(where, sizeof(where), "the card that was dealt as card %u",
			 r->position + 1u);
	put(w, where);
}

static void put_likely(struct writer *w, const struct dealbox_diagnosis *d)
{
	if (d->likely == DEALBOX_CULPRIT_DECK) {
		put(w,
		    "Most likely both are right, and a card of another deck got in: they are the "
		    "same.");
		return;
	}
	put(w, "Most likely the one ");
	if (d->likely == DEALBOX_CULPRIT_LATER) {
		put(w, "at the reader");
	} else if (d->earlier.hand < DEALBOX_HANDS) {
		put(w, "in ");
		put(w, seats[d->earlier.hand]);
		put(w, "'s hand");
	} else {
		put(w, "dealt earlier");
	}
	put(w,
	    " was misread: replace that card. If both are the same, a card of another deck got "
	    "in.");
}

static void put_cards(struct writer *w, const struct dealbox_diagnosis *d)
{
	unsigned int card, more = dealbox_cards_count(d->candidates & ~d->easily);
	const char *sep = "; not seen yet, and easily misread so: ";
	char text[64];

	for (card = 0; card < DEALBOX_CARDS; card++)
		if (d->easily >> card & 1) {
			put(w, sep);
			put(w, dealbox_card_name(card));
			sep = ", ";
		}
	if (!more)
		return;
	snprintf(text, sizeof(text), d->easily ? "; or another of %u cards not seen yet" :
		 "; the other is one of %u cards not seen yet", more);
	put(w, text);
}

size_t dealbox_diagnosis_message(const struct dealbox_diagnosis *d, bool reveal, char *text,
				 size_t size)
{
	struct writer w = { text, size, 0 };

	put(&w, "Two cards are to be looked at: the card at the reader, and ");
	put_earlier(&w, &d->earlier);
	put(&w, ". ");
	put_likely(&w, d);
	if (!reveal)
		return w.length;
	put(&w, " The machine read both as ");
	put(&w, dealbox_card_name(d->card));
	put_cards(&w, d);
	put(&w, ".");
	return w.length;
}
