// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/diagnosis.h>

#define MODULES		9
#define QUALITY_UNKNOWN	80	/* taken for a reading whose quality is not given */
#define EARLIER_WEIGHT	3	/* the later one was read again before it was reported */
#define DECK_WEIGHT	15	/* a card of another deck, against a misread one */

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

/* Fills in what the trace tells of the card at that position. */
static void look(const struct dealbox_trace *trace, struct dealbox_reading *reading,
		 dealbox_cards *seen, uint8_t position)
{
	const struct dealbox_event *e;
	uint8_t fallen[DEALBOX_MAX_POCKETS] = { 0 };
	size_t n;

	*reading = (struct dealbox_reading){ position, DEALBOX_NONE, DEALBOX_NONE, 0, 0 };
	*seen = 0;
	for (n = 0; (e = dealbox_trace_get(trace, n)); n++) {
		if (e->type == DEALBOX_EV_CARD_READ && e->card < DEALBOX_MAX_CARDS) {
			*seen |= 1ULL << e->card;
			if (e->position == position)
				reading->quality = e->quality;
		}
		/* without sensors at the exit, the gates say where it went */
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
}

static unsigned int badness(uint8_t quality)
{
	return 101 - (quality <= 100 ? quality : QUALITY_UNKNOWN);
}

int dealbox_diagnose_repeat(const struct dealbox_trace *trace, const struct dealbox_pack *pack,
			    struct dealbox_diagnosis *out)
{
	const struct dealbox_event *e, *repeat = NULL;
	unsigned int weight[DEALBOX_CULPRITS], all = 0, n;
	dealbox_cards seen;

	for (n = 0; (e = dealbox_trace_get(trace, n)); n++)
		if (e->type == DEALBOX_EV_REPEATED_CARD)
			repeat = e;
	if (!repeat || repeat->card >= DEALBOX_MAX_CARDS)
		return -ENOENT;
	memset(out, 0, sizeof(*out));
	out->card = repeat->card;
	look(trace, &out->earlier, &seen, repeat->arg[0]);
	out->later = (struct dealbox_reading){
		repeat->position, repeat->quality, DEALBOX_NONE, 0, 0
	};
	out->candidates = dealbox_card_confusable(out->card) & pack->cards & ~seen;

	/* a card that nothing can be mistaken for is more likely there twice */
	weight[DEALBOX_CULPRIT_EARLIER] = EARLIER_WEIGHT * badness(out->earlier.quality);
	weight[DEALBOX_CULPRIT_LATER] = badness(out->later.quality);
	weight[DEALBOX_CULPRIT_DECK] = out->candidates ? DECK_WEIGHT : 20 * DECK_WEIGHT;
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

static void put_earlier(struct writer *w, const struct dealbox_reading *r)
{
	char where[96];

	if (r->place)
		snprintf(where, sizeof(where), "the card in pocket %u that %u others lie on", r->pocket,
			 r->above);
	else if (r->pocket != DEALBOX_NONE)
		snprintf(where, sizeof(where), "the card in pocket %u that was dealt as number %u",
			 r->pocket, r->position + 1);
	else
		snprintf(where, sizeof(where), "the card that was dealt as number %u", r->position + 1);
	put(w, where);
}

size_t dealbox_diagnosis_message(const struct dealbox_diagnosis *d, bool reveal, char *text,
				 size_t size)
{
	static const char *const likely[DEALBOX_CULPRITS] = {
		[DEALBOX_CULPRIT_EARLIER] = "Most likely the earlier one was misread: replace that card.",
		[DEALBOX_CULPRIT_LATER] =
			"Most likely the one at the reader was misread: replace that card.",
		[DEALBOX_CULPRIT_DECK] = "Most likely a card of another deck got in: they are the same.",
	};
	struct writer w = { text, size, 0 };
	unsigned int card;

	if (size)
		*text = '\0';
	put(&w, "Two cards are to be looked at: the card at the reader, and ");
	put_earlier(&w, &d->earlier);
	put(&w, ". ");
	put(&w, likely[d->likely]);
	if (!reveal)
		return w.length;
	put(&w, " The machine read both as ");
	put(&w, dealbox_card_name(d->card));
	for (card = 0; card < DEALBOX_CARDS; card++)
		if (d->candidates >> card & 1) {
			put(&w, d->candidates & ((1ULL << card) - 1) ? ", " :
			    "; not seen yet, and easily misread so: ");
			put(&w, dealbox_card_name(card));
		}
	put(&w, ".");
	return w.length;
}
