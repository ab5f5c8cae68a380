// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Positions are in units of 1/64 of an eleventh of a module: a module has 704. A border bar has
 * 8/11 of a module, so that the edges of a code are at 0 and 8, at 19 + 11 n, and at 129 and 137
 * elevenths.
 *
 * u is the time from the middle of the first border bar to that of the last one, 0 to 2^15. With
 * constant acceleration, the position is 4 + 129 (u + c u (1 - u)) elevenths; the speed is 1 + c at
 * the beginning and 1 - c at the end, in terms of the mean.
 */
#include "reader.h"

#define UNIT		64
#define MODULE		(11 * UNIT)
#define BORDER		(8 * UNIT)
#define FIRST		(19 * UNIT)	/* first edge that a module may have */
#define MIDDLE		(4 * UNIT)	/* of the first border bar */
#define SPAN		(129 * UNIT)	/* from there to that of the last */
#define ONE		(1 << 15)

#define CHANGE_MAX (ONE / 2) /* of c: the speed at one end is three times that at the other */
#define DARK_MAX	(MODULE / 2)	/* that ink and sensor add to a bar, or take from it */
#define EDGES_MIN	6
#define TURNS		3		/* rounding to the grid, and improving */
#define TRIALS		5		/* changes of the speed that are tried */
#define TRIAL_STEP	(ONE / 8)
#define CLEARLY		(MODULE * MODULE / 40)	/* of a sum of squares; see code_take() */

void reader_start(struct reader *reader, bool reversed)
{
	*reader = (struct reader){ .reversed = reversed };
}

void reader_lost(struct reader *reader)
{
	reader->lost = true;
}

void reader_edge(struct reader *reader, uint32_t time, bool dark)
{
	if (dark == reader->dark) {
		reader->lost = true;
		return;
	}
	reader->dark = dark;
	if (reader->count < READER_EDGES) {
		reader->edges[reader->count++] = time;
		return;
	}
	if (reader->more < 2)
		reader->more++;
}

bool reader_is_over(const struct reader *reader, uint32_t now)
{
	const uint32_t *edges = reader->edges;

	return reader->count >= EDGES_MIN && !reader->dark &&
	       now - edges[reader->count - 1] > edges[reader->count - 1] - edges[0];
}

/* A card's movement past the sensor */
struct track {
	unsigned int count;		/* of edges, an even number */
	int32_t u[READER_EDGES];	/* time of each */
	int32_t at[READER_EDGES];	/* where it should be */
	int32_t change;			/* c, in 1/ONE */
	int32_t dark;			/* what a bar is too wide */
};

/* u (1 - u), in 1/ONE */
static int32_t bend(int32_t u)
{
	return u * (ONE - u) / ONE;
}

/* Half of what a bar is too wide is at each of its edges. */
static int32_t side(unsigned int edge)
{
	return edge % 2 ? 1 : -1;
}

static int32_t position(const struct track *track, unsigned int edge)
{
	const int32_t u = track->u[edge];

	return MIDDLE + SPAN * (u + track->change * bend(u) / ONE) / ONE -
	       side(edge) * track->dark / 2;
}

/*
 * Times as parts of the way: between the middles of the border bars there is always the same
 * length. They are halved until all products have 32 bits.
 */
static bool times_take(struct track *track, const struct reader *reader)
{
	const uint32_t start = reader->edges[0], last = reader->edges[track->count - 1] - start;
	unsigned int shift = 0;
	int32_t times[READER_EDGES], first, span;

	if (last >= 1u << 30)
		return false;
	while (last >> shift >= 1u << 15)
		shift++;
	for (unsigned int i = 0; i < track->count; i++) {
		/* a clock that went back, or wrapped in between */
		if (reader->edges[i] - start > last)
			return false;
		times[i] = (int32_t)((reader->edges[i] - start) >> shift);
	}
	/* both are doubled: sums of two edges */
	first = times[0] + times[1];
	span = times[track->count - 1] + times[track->count - 2] - first;
	if (span < SPAN / UNIT)
		return false;
	for (unsigned int i = 0; i < track->count; i++) {
		const int64_t u = (int64_t)(2 * times[i] - first) * ONE / span;

		/* a border bar as long as all the rest is none */
		if (u <= -ONE / 2 || u >= ONE + ONE / 2)
			return false;
		track->u[i] = (int32_t)u;
	}
	return true;
}

static bool is_possible(const struct track *track)
{
	return track->change > -CHANGE_MAX && track->change < CHANGE_MAX &&
	       track->dark > -DARK_MAX && track->dark < DARK_MAX;
}

/* Estimates change of speed and width of dark by the border bars alone. */
static bool borders_take(struct track *track)
{
	const unsigned int n = track->count;
	const int32_t left = track->u[1] - track->u[0], right = track->u[n - 1] - track->u[n - 2];

	if (left <= 0 || right <= 0)
		return false;
	track->change = (right - left) * ONE / (right + left);
	track->at[0] = 0;
	track->at[1] = BORDER;
	track->at[n - 2] = MIDDLE + SPAN - BORDER / 2;
	track->at[n - 1] = MIDDLE + SPAN + BORDER / 2;
	track->dark = 0;
	track->dark = (position(track, 1) - position(track, 0) + position(track, n - 1) -
		       position(track, n - 2)) / 2 - BORDER;
	return is_possible(track);
}

/* The place on the grid that is next to an edge */
static int32_t place(const struct track *track, unsigned int edge)
{
	/* rounded also below 0 */
	return (position(track, edge) - FIRST + 16 * MODULE + MODULE / 2) / MODULE - 16;
}

/* Rounds each edge to the grid. Returns false if two are at one place, or one is outside. */
static bool grid_take(struct track *track)
{
	int32_t before = -1;

	for (unsigned int edge = 2; edge + 2 < track->count; edge++) {
		const int32_t here = place(track, edge);

		if (here <= before || here > CODE_MODULES)
			return false;
		track->at[edge] = FIRST + here * MODULE;
		before = here;
	}
	return true;
}

/*
 * The sums of least squares over all edges, for two unknowns. A change by 1 moves an edge by
 * by_change(); half a width moves it by by_dark().
 */
struct sums {
	int64_t change2, dark2, both;	/* of products of both */
	int64_t divisor;		/* 0: the unknowns cannot be told apart */
};

static int32_t by_change(const struct track *track, unsigned int edge)
{
	return SPAN * bend(track->u[edge]) / ONE;
}

static int32_t by_dark(unsigned int edge)
{
	return -side(edge);
}

static struct sums sums_of(const struct track *track)
{
	struct sums sums = { 0 };

	for (unsigned int edge = 0; edge < track->count; edge++) {
		const int64_t change = by_change(track, edge), dark = by_dark(edge);

		sums.change2 += change * change;
		sums.dark2 += dark * dark;
		sums.both += change * dark;
	}
	sums.divisor = sums.change2 * sums.dark2 - sums.both * sums.both;
	return sums;
}

static int32_t off_of(const struct track *track, unsigned int edge)
{
	return position(track, edge) - track->at[edge];
}

static void improve(struct track *track)
{
	const struct sums sums = sums_of(track);
	int64_t change = 0, dark = 0;

	for (unsigned int edge = 0; edge < track->count; edge++) {
		change += (int64_t)by_change(track, edge) * off_of(track, edge);
		dark += (int64_t)by_dark(edge) * off_of(track, edge);
	}
	if (!sums.divisor)
		return;
	track->change -= (int32_t)((change * sums.dark2 - dark * sums.both) * ONE / sums.divisor);
	track->dark -= (int32_t)(2 * (dark * sums.change2 - change * sums.both) / sums.divisor);
}

/* Returns true if every edge is nearest to the place that it has. */
static bool grid_is_kept(const struct track *track)
{
	for (unsigned int edge = 2; edge + 2 < track->count; edge++)
		if (FIRST + place(track, edge) * MODULE != track->at[edge])
			return false;
	return true;
}

/*
 * How far an edge is from where all other edges say that it is. It has pulled the estimate to
 * itself, more so if there are few edges, so it is farther off than it seems (a deleted residual).
 */
static int32_t off_alone(const struct track *track, const struct sums *sums, unsigned int edge)
{
	const int64_t change = by_change(track, edge), dark = by_dark(edge);
	const int64_t pull = change * change * sums->dark2 - 2 * change * dark * sums->both +
			     dark * dark * sums->change2;
	const int32_t off = off_of(track, edge);

	if (sums->divisor <= pull)
		return off ? MODULE : 0;
	return (int32_t)(off * sums->divisor / (sums->divisor - pull));
}

/*
 * 100: every edge is at its place; 50: one is a quarter of a module off; 0: half of one, or more.
 */
static uint8_t quality_of(const struct track *track)
{
	const struct sums sums = sums_of(track);
	int32_t most = 0;

	for (unsigned int edge = 0; edge < track->count; edge++) {
		int32_t off = off_alone(track, &sums, edge);

		off = off < 0 ? -off : off;
		most = off > most ? off : most;
	}
	return most >= MODULE / 2 ? 0 : (uint8_t)(100 - 100 * most / (MODULE / 2));
}

/* The sum of squares of what the edges are off */
static int32_t squares_of(const struct track *track)
{
	int32_t sum = 0;

	for (unsigned int edge = 0; edge < track->count; edge++)
		sum += off_of(track, edge) * off_of(track, edge);
	return sum;
}

static uint16_t code_seen(const struct track *track)
{
	uint16_t code = 0;

	for (unsigned int edge = 2; edge + 2 < track->count; edge += 2)
		for (int32_t at = track->at[edge]; at < track->at[edge + 1]; at += MODULE)
			code |= (uint16_t)(1 << (CODE_MODULES - 1 - (at - FIRST) / MODULE));
	return code;
}

/* Finds the places of all edges, from an estimate of change and dark. */
static enum reader_why places_find(struct track *track)
{
	for (int turn = 0; turn < TURNS; turn++) {
		if (!is_possible(track))
			return READER_WHY_SPEED;
		if (!grid_take(track))
			return READER_WHY_GRID;
		improve(track);
		if (grid_is_kept(track))
			return is_possible(track) ? READER_WHY_NONE : READER_WHY_SPEED;
	}
	return READER_WHY_GRID;
}

/* Returns why there is nothing that can be a code. */
static enum reader_why edges_take(const struct reader *reader, struct track *track)
{
	if (reader->lost)
		return READER_WHY_LOST_EDGE;
	/* one more is that of the card that leaves */
	if (reader->more > 1)
		return READER_WHY_TOO_MANY;
	track->count = reader->count & ~1u;
	if (!track->count)
		return READER_WHY_EMPTY;
	if (track->count < EDGES_MIN)
		return READER_WHY_TOO_FEW;
	return times_take(track, reader) && borders_take(track) ?
		READER_WHY_NONE : READER_WHY_SPEED;
}

/* The result if the speed changed by an assumed amount */
struct trial {
	enum reader_why why;
	uint16_t code;
	uint8_t quality;
	int32_t squares;
};

static struct trial trial_of(const struct track *given, int32_t more_change)
{
	struct track track = *given;
	struct trial trial = { .squares = INT32_MAX };

	track.change += more_change;
	trial.why = places_find(&track);
	if (trial.why)
		return trial;
	trial.code = code_seen(&track);
	trial.quality = quality_of(&track);
	trial.squares = squares_of(&track);
	return trial;
}

/*
 * The border bars are short, so they tell the change of the speed badly, and edges in the middle
 * may be rounded to places one module off that fit as well. So other changes are tried. If another
 * code is not clearly worse than the best one, there is a doubt.
 */
static enum reader_why code_take(const struct reader *reader, struct reading *reading)
{
	struct trial trials[TRIALS], best = { .squares = INT32_MAX };
	struct track track = { 0 };
	enum reader_why why = edges_take(reader, &track);

	if (why)
		return why;
	for (int n = 0; n < TRIALS; n++) {
		trials[n] = trial_of(&track, (n - TRIALS / 2) * TRIAL_STEP);
		if (n == 0 || trials[n].squares < best.squares)
			best = trials[n];
	}
	if (best.why)
		return trials[TRIALS / 2].why;
	for (int n = 0; n < TRIALS; n++)
		if (!trials[n].why && trials[n].code != best.code &&
		    trials[n].squares < 2 * (best.squares + CLEARLY))
			best.quality = 0;
	reading->code = best.code;
	reading->quality = best.quality;
	return READER_WHY_NONE;
}

void reader_read(const struct reader *reader, struct reading *reading)
{
	*reading = (struct reading){ .result = READER_NOTHING,
				     .card = CODE_NO_CARD,
				     .turned = CODE_NO_CARD };
	reading->why = code_take(reader, reading);
	if (reading->why)
		return;
	if (reader->reversed)
		reading->code = code_turned(reading->code);
	reading->turned = code_card(code_turned(reading->code));
	reading->card = code_card(reading->code);
	if (reading->card == CODE_NO_CARD)
		reading->why = READER_WHY_NO_CARD;
	else if (reading->quality < READER_QUALITY)
		reading->why = READER_WHY_GRID;
	reading->result = reading->why ? READER_DOUBT : READER_CARD;
	if (!reading->why)
		return;
	reading->card = CODE_NO_CARD;
	if (reading->quality >= READER_QUALITY)
		reading->quality = READER_QUALITY - 1;
	reading->near_count = (uint8_t)code_near(reading->code, reading->near);
}
