// SPDX-License-Identifier: LGPL-2.1-or-later
#include <pango/pangocairo.h>
#include <string.h>

#include "shaper.h"

#define REFERENCE 256 /* size at which texts are shaped, in points: no rounding at that size */
#define NARROW_SPACE	0.3	/* between ranks, at size 1 */
#define KEPT_MAX	4096	/* texts */
#define ITEMS_MAX	1024	/* glyphs in one call of cairo */

/* Glyphs of one font. Positions and widths are at size 1. */
struct run {
	cairo_font_face_t *font;
	cairo_glyph_t *glyphs;
	cairo_text_cluster_t *clusters;
	char *text;
	int glyphs_count, clusters_count, text_size;
	cairo_text_cluster_flags_t flags;
};

struct shaped {
	double width;
	size_t count;
	struct run *runs;
};

struct shaper {
	PangoContext *context;
	PangoLayout *layouts[2];	/* regular, bold */
	GHashTable *kept[2];		/* text to struct shaped */
	struct line_of_glyphs *line;
	double size;			/* that was last set */
};

/* Arguments of one call of cairo_show_text_glyphs() */
struct line_of_glyphs {
	cairo_font_face_t *font;
	cairo_glyph_t glyphs[ITEMS_MAX];
	cairo_text_cluster_t clusters[ITEMS_MAX];
	char text[4 * ITEMS_MAX];
	int glyphs_count, clusters_count, text_size;
};

static void shaped_free(void *data)
{
	struct shaped *shaped = data;

	for (size_t i = 0; i < shaped->count; i++) {
		cairo_font_face_destroy(shaped->runs[i].font);
		g_free(shaped->runs[i].glyphs);
		g_free(shaped->runs[i].clusters);
		g_free(shaped->runs[i].text);
	}
	g_free(shaped->runs);
	g_free(shaped);
}

static PangoLayout *layout_new(PangoContext *context, const char *font, bool bold)
{
	PangoFontDescription *description = pango_font_description_new();
	PangoLayout *layout = pango_layout_new(context);

	pango_font_description_set_family(description, font);
	pango_font_description_set_weight(description,
					  bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
	pango_font_description_set_absolute_size(description, REFERENCE * PANGO_SCALE);
	pango_layout_set_font_description(layout, description);
	pango_layout_set_single_paragraph_mode(layout, TRUE);
	pango_font_description_free(description);
	return layout;
}

struct shaper *shaper_new(const char *font, const char *language)
{
	struct shaper *shaper = g_new0(struct shaper, 1);
	cairo_font_options_t *options = cairo_font_options_create();

	/*
	 * pango's own map of fonts, which stays until the program ends: with each map that is
	 * freed, a thread of pango ends at some time, which nobody can await. LeakSanitizer, which
	 * stops all threads when the program ends, may meet it half gone.
	 */
	shaper->context = pango_font_map_create_context(pango_cairo_font_map_get_default());
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	pango_cairo_context_set_font_options(shaper->context, options);
	pango_cairo_context_set_resolution(shaper->context, 72);
	pango_context_set_round_glyph_positions(shaper->context, FALSE);
	pango_context_set_language(shaper->context, pango_language_from_string(language));
	cairo_font_options_destroy(options);
	for (int bold = 0; bold < 2; bold++) {
		shaper->layouts[bold] = layout_new(shaper->context, font, bold);
		shaper->kept[bold] =
			g_hash_table_new_full(g_str_hash, g_str_equal, g_free, shaped_free);
	}
	shaper->line = g_new0(struct line_of_glyphs, 1);
	return shaper;
}

void shaper_free(struct shaper *shaper)
{
	for (int bold = 0; bold < 2; bold++) {
		g_hash_table_destroy(shaper->kept[bold]);
		g_object_unref(shaper->layouts[bold]);
	}
	g_object_unref(shaper->context);
	explicit_bzero(shaper->line, sizeof(*shaper->line));
	g_free(shaper->line);
	g_free(shaper);
}

void shaper_extent(struct shaper *shaper, double *ascent, double *descent)
{
	const PangoFontDescription *description =
		pango_layout_get_font_description(shaper->layouts[1]);
	PangoFontMetrics *metrics = pango_context_get_metrics(shaper->context, description, NULL);

	*ascent = pango_font_metrics_get_ascent(metrics) / (double)(REFERENCE * PANGO_SCALE);
	*descent = pango_font_metrics_get_descent(metrics) / (double)(REFERENCE * PANGO_SCALE);
	pango_font_metrics_unref(metrics);
}

static double scaled(int units)
{
	return units / (double)(REFERENCE * PANGO_SCALE);
}

/* Glyphs that have a shape; those of characters without any in all fonts are a box (glyph 0). */
static void run_glyphs(struct run *run, const PangoGlyphString *glyphs, double *x)
{
	run->glyphs = g_new0(cairo_glyph_t, glyphs->num_glyphs + 1);
	run->glyphs_count = glyphs->num_glyphs;
	for (int i = 0; i < glyphs->num_glyphs; i++) {
		const PangoGlyphInfo *info = &glyphs->glyphs[i];

		run->glyphs[i].index = info->glyph & PANGO_GLYPH_UNKNOWN_FLAG ||
				       info->glyph == PANGO_GLYPH_EMPTY ? 0 : info->glyph;
		run->glyphs[i].x = *x + scaled(info->geometry.x_offset);
		run->glyphs[i].y = scaled(info->geometry.y_offset);
		*x += scaled(info->geometry.width);
	}
}

/* Which bytes of the text are which glyphs: for those who search or copy it. */
static void run_clusters(struct run *run, PangoGlyphItem *item, const char *text)
{
	PangoGlyphItemIter iter;
	gboolean more;

	run->clusters = g_new0(cairo_text_cluster_t, item->glyphs->num_glyphs + 1);
	run->text = g_strndup(text + item->item->offset, item->item->length);
	run->text_size = item->item->length;
	run->flags = item->item->analysis.level % 2 ? CAIRO_TEXT_CLUSTER_FLAG_BACKWARD : 0;
	for (more = pango_glyph_item_iter_init_start(&iter, item, text); more;
	     more = pango_glyph_item_iter_next_cluster(&iter)) {
		run->clusters[run->clusters_count].num_bytes = iter.end_index - iter.start_index;
		run->clusters[run->clusters_count].num_glyphs =
			ABS(iter.end_glyph - iter.start_glyph);
		run->clusters_count++;
	}
}

static struct shaped *shape(PangoLayout *layout, const char *text)
{
	struct shaped *shaped = g_new0(struct shaped, 1);
	const char *shown;
	double x = 0;
	GSList *at;

	pango_layout_set_text(layout, text, -1);
	shown = pango_layout_get_text(layout);
	at = pango_layout_get_line_readonly(layout, 0)->runs;
	shaped->runs = g_new0(struct run, g_slist_length(at));
	for (; at; at = at->next) {
		PangoGlyphItem *item = at->data;
		struct run *run = &shaped->runs[shaped->count++];
		PangoCairoFont *font = PANGO_CAIRO_FONT(item->item->analysis.font);
		cairo_scaled_font_t *sized = pango_cairo_font_get_scaled_font(font);

		run->font = cairo_font_face_reference(cairo_scaled_font_get_font_face(sized));
		run_glyphs(run, item->glyphs, &x);
		run_clusters(run, item, shown);
	}
	shaped->width = x;
	pango_layout_set_text(layout, "", 0);
	return shaped;
}

static const struct shaped *shaped_find(struct shaper *shaper, bool bold, const char *text)
{
	GHashTable *kept = shaper->kept[bold];
	struct shaped *shaped = g_hash_table_lookup(kept, text);

	if (shaped)
		return shaped;
	if (g_hash_table_size(kept) == KEPT_MAX)
		g_hash_table_remove_all(kept);
	shaped = shape(shaper->layouts[bold], text);
	g_hash_table_insert(kept, g_strdup(text), shaped);
	return shaped;
}

/* The next word of a line of ranks. Returns false at its end. */
static bool rank_next(const char **text, char rank[16])
{
	const size_t size = strcspn(*text, " ");

	if (!size || size > 15)
		return false;
	memcpy(rank, *text, size);
	rank[size] = '\0';
	*text += size + ((*text)[size] == ' ');
	return true;
}

double shaper_width(struct shaper *shaper, const struct face *face, const char *text)
{
	double width = -NARROW_SPACE;
	char rank[16];

	if (!face->cards)
		return shaped_find(shaper, face->bold, text)->width * face->size;
	while (rank_next(&text, rank))
		width += NARROW_SPACE + shaped_find(shaper, face->bold, rank)->width;
	return MAX(width, 0) * face->size;
}

static void line_flush(struct line_of_glyphs *line, cairo_t *cr)
{
	if (!line->glyphs_count)
		return;
	cairo_set_font_face(cr, line->font);
	cairo_show_text_glyphs(cr, line->text, line->text_size, line->glyphs, line->glyphs_count,
			       line->clusters, line->clusters_count, 0);
	line->glyphs_count = line->clusters_count = line->text_size = 0;
}

static void backward_draw(cairo_t *cr, const struct run *run, double size, double x, double y)
{
	cairo_glyph_t *glyphs = g_memdup2(run->glyphs, (size_t)run->glyphs_count * sizeof(*glyphs));

	for (int i = 0; i < run->glyphs_count; i++) {
		glyphs[i].x = x + size * glyphs[i].x;
		glyphs[i].y = y + size * glyphs[i].y;
	}
	cairo_set_font_face(cr, run->font);
	cairo_show_text_glyphs(cr, run->text, run->text_size, glyphs, run->glyphs_count,
			       run->clusters, run->clusters_count, run->flags);
	g_free(glyphs);
}

static void line_add(struct line_of_glyphs *line, cairo_t *cr, const struct run *run, double size,
		     double x, double y)
{
	if (run->flags || run->glyphs_count >= ITEMS_MAX ||
	    run->text_size >= (int)sizeof(line->text)) {
		line_flush(line, cr);
		backward_draw(cr, run, size, x, y);
		return;
	}
	if (line->font != run->font || line->glyphs_count + run->glyphs_count > ITEMS_MAX ||
	    line->text_size + run->text_size > (int)sizeof(line->text))
		line_flush(line, cr);
	line->font = run->font;
	for (int i = 0; i < run->glyphs_count; i++)
		line->glyphs[line->glyphs_count++] = (cairo_glyph_t){
			run->glyphs[i].index,
			x + size * run->glyphs[i].x, y + size * run->glyphs[i].y
		};
	for (int i = 0; i < run->clusters_count; i++)
		line->clusters[line->clusters_count++] = run->clusters[i];
	memcpy(line->text + line->text_size, run->text, (size_t)run->text_size);
	line->text_size += run->text_size;
}

static double text_add(struct shaper *shaper, cairo_t *cr, const struct face *face, double x,
		       double y, const char *text)
{
	const struct shaped *shaped = shaped_find(shaper, face->bold, text);

	for (size_t i = 0; i < shaped->count; i++)
		line_add(shaper->line, cr, &shaped->runs[i], face->size, x, y);
	return x + shaped->width * face->size;
}

void shaper_draw(struct shaper *shaper, cairo_t *cr, const struct face *face, double x, double y,
		 const char *text)
{
	char rank[16];

	if (face->size != shaper->size)
		cairo_set_font_size(cr, face->size);
	shaper->size = face->size;
	if (!face->cards) {
		x = text_add(shaper, cr, face, x, y, text);
		text_add(shaper, cr, face, x, y, " ");
	}
	while (face->cards && rank_next(&text, rank)) {
		x = text_add(shaper, cr, face, x, y, rank);
		text_add(shaper, cr, face, x, y, " ");
		x += NARROW_SPACE * face->size;
	}
	line_flush(shaper->line, cr);
	explicit_bzero(rank, sizeof(rank));
}
