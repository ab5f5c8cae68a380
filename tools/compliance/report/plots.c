// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/card.h>
#include <math.h>
#include <stdio.h>

#include "plots.h"

static struct plot *finished(struct plot *plot)
{
	if (!plot->failed)
		return plot;
	plot_free(plot);
	return NULL;
}

/* ---- readings: 52 x 52 squares, 54 with jokers, darker the more often ------------------------ */

#define CELL	10.0
#define EDGE	24.0	/* for names of cards */
#define NAME	8.0	/* their height */
#define LINE	0.6

static const char *card_label(unsigned int card)
{
	return card < DEALBOX_CARDS ? dealbox_card_name(card) : "jk";
}

static void frame_add(struct plot *plot, double x, double y, double w, double h)
{
	plot_fill(plot, INK_FAINT, 1, x, y, w, LINE);
	plot_fill(plot, INK_FAINT, 1, x, y + h - LINE, w, LINE);
	plot_fill(plot, INK_FAINT, 1, x, y, LINE, h);
	plot_fill(plot, INK_FAINT, 1, x + w - LINE, y, LINE, h);
}

/* Right readings are pale and wrong ones dark, so that a print without colours can be read, too. */
static void reading_add(struct plot *plot, const struct readings *readings, unsigned int card,
			unsigned int read)
{
	const unsigned int count = readings->count[card][read];
	const enum ink ink = card == read ? INK_FAINT :
			     read == READING_NONE ? INK_DIAMONDS : INK_HEARTS;

	if (count)
		plot_fill(plot, ink, card == read ? 0.4 : fmin(1, 0.5 + 0.1 * count),
			  EDGE + read * CELL, EDGE + card * CELL, CELL, CELL);
}

struct plot *plot_of_readings(const struct readings *readings)
{
	const double w = CELL * (READING_NONE + 1), h = CELL * READING_CARDS;
	struct plot *plot = plot_new(EDGE + w, EDGE + h);

	if (!plot)
		return NULL;
	snprintf(plot->title, sizeof(plot->title), "Matrix of readings");
	snprintf(plot->about, sizeof(plot->about),
		 "One square for each pair of a card in the deck (row) and "
		 "the card that was read (column); the last column is for cards that were not "
		 "read. The table below has all errors.");
	for (unsigned int card = 0; card < READING_CARDS; card++) {
		plot_text(plot, ALIGN_RIGHT, 0, EDGE + card * CELL + (CELL - NAME) / 2, EDGE - 3,
			  NAME, "%s", card_label(card));
		if (card % 13 == 0)
			plot_text(plot, ALIGN_LEFT, EDGE + card * CELL, EDGE - NAME - 3, 2 * CELL,
				  NAME, "%s", card_label(card));
	}
	for (unsigned int card = 0; card < READING_CARDS; card++)
		for (unsigned int read = 0; read <= READING_NONE; read++)
			reading_add(plot, readings, card, read);
	frame_add(plot, EDGE, EDGE, w, h);
	return finished(plot);
}

/* ---- histograms ------------------------------------------------------------------------------ */

#define BINS		40
#define BIN		16.0	/* width */
#define HIGHEST		120.0
#define BASE		130.0
#define LABEL		12.0	/* height */

struct plot *plot_of_values(const struct report_distribution *distribution, const double *values,
			    size_t count)
{
	const double low = values[0], high = values[count - 1], span = high > low ? high - low : 1;
	struct plot *plot = plot_new(BINS * BIN, BASE + 8 + LABEL);
	size_t bins[BINS] = { 0 }, most = 0;

	if (!plot)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t bin = (size_t)((values[i] - low) / span * BINS);

		bin = bin < BINS ? bin : BINS - 1;
		bins[bin]++;
		most = bins[bin] > most ? bins[bin] : most;
	}
	snprintf(plot->title, sizeof(plot->title), "%s", distribution->name);
	snprintf(plot->about, sizeof(plot->about),
		 "Histogram of %zu values from %.6g to %.6g %s. The table has the quantiles.",
		 count, low, high, distribution->unit);
	for (size_t i = 0; i < BINS; i++) {
		const double h = HIGHEST * (double)bins[i] / (double)most;

		if (bins[i])
			plot_fill(plot, INK_FAINT, 1, (double)i * BIN, BASE - h, BIN - 1, h);
	}
	plot_fill(plot, INK_TEXT, 1, 0, BASE, plot->w, LINE);
	plot_text(plot, ALIGN_LEFT, 0, BASE + 4, plot->w / 2, LABEL, "%.4g %s", low,
		  distribution->unit);
	plot_text(plot, ALIGN_RIGHT, plot->w / 2, BASE + 4, plot->w / 2, LABEL, "%.4g %s", high,
		  distribution->unit);
	return finished(plot);
}
