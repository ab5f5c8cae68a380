// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pages as lists of boxes: nothing is cut, nothing overlaps, nothing is missing, on every paper, in
 * every layout and language, for the most unusual boards.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "print/pages.h"
#include "print/statistics.h"

#define SPADES	((dealbox_cards)0x1fff)
#define SUIT(n)	(SPADES << 13 * (n))

/* Every letter is as wide as this, in its size: DejaVu Sans has 0.6, Georgia 0.55. */
static double wide = 0.66;

static double ruler_width(void *context, const struct face *face, const char *text)
{
	double width = 0;

	(void)context;
	for (; *text; text++)
		if (strchr(" ,.", *text))
			width += wide / 2;
		else if ((*text & 0xc0) != 0x80)
			width += wide;
	return width * face->size;
}

static const struct ruler ruler = { .width = ruler_width, .ascent = 0.93, .descent = 0.24 };

static const struct double_dummy equal = {
	{ { 13, 0, 13, 0 }, { 13, 0, 13, 0 }, { 13, 0, 13, 0 }, { 13, 0, 13, 0 }, { 13, 0, 13, 0 } }
};
static const struct par slam = {
	.score = 2220, .count = 1, .contracts = { { 7, NOTRUMPS, 5, 0 } },
};

/* Four rows, and more par contracts than lines. */
static const struct double_dummy unequal = {
	{ { 10, 9, 11, 8 }, { 11, 8, 10, 9 }, { 12, 7, 12, 7 }, { 13, 7, 13, 7 }, { 10, 7, 9, 7 } }
};
static const struct par sacrifices = {
	.score = -1100, .count = 6,
	.contracts = { { 5, 0, 5, -3 }, { 5, 1, 1, -3 }, { 5, 2, 4, -3 }, { 6, 3, 5, -3 },
		       { 6, 4, 10, -3 }, { 4, 4, 8, 2 } },
};

static const struct sheet_board boards[] = {
	/* a suit each */
	{ .deal = { { SUIT(0), SUIT(1), SUIT(2), SUIT(3) } }, .name = "1", .dealer = 0 },
	{ .deal = { { SUIT(3), SUIT(2), SUIT(1), SUIT(0) } }, .name = "1000", .dealer = 1,
	  .vulnerable = 3, .tricks = &equal, .par = &slam },
	{ .deal = { { SUIT(1), SUIT(0), SUIT(3), SUIT(2) } }, .name = "99", .dealer = 3,
	  .vulnerable = 1, .tricks = &unequal, .par = &sacrifices },
	/* no number, dealer, vulnerability; a hand is unknown, another one half */
	{ .deal = { { 0x1ff, 0, (dealbox_cards)0xf << 26, 0 } }, .dealer = -1, .vulnerable = -1 },
	/* a label */
	{ .deal = { { SUIT(2), SUIT(0), SUIT(3), SUIT(1) } }, .dealer = 2, .vulnerable = 2,
	  .name = "Κυριακή 2-1 after the long break in the hall" },
	{ .name = "7", .dealer = 2, .vulnerable = 0 },	/* nothing is known */
};

#define BOARDS	(sizeof(boards) / sizeof(*boards))

static struct sheet extreme(const struct words *words)
{
	return (struct sheet){
		.words = words, .pack = dealbox_pack_bridge(), .ten = "10",
		.title = "The annual congress of the northern districts, pairs for the silver cup, "
			 "second qualifying session, section A (tables one to twenty-four)",
		.session = "Sunday afternoon, second half of the qualifying round",
		.set = "2026-11-24/17", .qr = "dealbox ledger 12:ab", .logo_w = 500, .logo_h = 100,
		.footer = "36 × 10 exact, ledger head "
			  "123456:0123456789abcdef0123456789abcdef0123456789",
		.boards = boards, .count = BOARDS,
	};
}

static bool has_place(const struct box *box)
{
	return box->kind != BOX_OPEN && box->kind != BOX_FIGURE && box->kind != BOX_CLOSE;
}

static void box_fail(const char *what, const struct layout *layout, const struct paper *paper,
		     const struct box *box, const struct box *other)
{
	fail_msg("%s, %s: '%s' (%.1f %.1f, %.1f x %.1f) %s %s", layout->name, paper->name,
		 box->text ? box->text : "-", box->x, box->y, box->w, box->h, what,
		 other && other->text ? other->text : "");
}

#define ROUNDING	0.02

static void page_check(const struct boxes *page, const struct layout *layout,
		       const struct paper *paper)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct box *box = &page->list[i];

		if (!has_place(box))
			continue;
		if (box->x < PAGE_MARGIN - ROUNDING || box->y < PAGE_MARGIN - ROUNDING ||
		    box->x + box->w > paper->w - PAGE_MARGIN + ROUNDING ||
		    box->y + box->h > paper->h - PAGE_MARGIN + ROUNDING || box->w < 0 ||
		    box->h <= 0)
			box_fail("is cut", layout, paper, box, NULL);
		for (size_t k = 0; k < i; k++) {
			const struct box *other = &page->list[k];

			if (has_place(other) &&
			    fmin(box->x + box->w, other->x + other->w) -
			    fmax(box->x, other->x) > ROUNDING &&
			    fmin(box->y + box->h, other->y + other->h) -
			    fmax(box->y, other->y) > ROUNDING)
				box_fail("overlaps", layout, paper, box, other);
		}
	}
}

/* Elements are closed in the order in which they were opened. */
static void elements_check(const struct boxes *page)
{
	const char *open[16];
	size_t depth = 0;

	for (size_t i = 0; i < page->count; i++) {
		const struct box *box = &page->list[i];

		if (box->kind == BOX_OPEN) {
			assert_true(depth < 16);
			open[depth++] = box->text;
		} else if (box->kind == BOX_FIGURE) {
			assert_true(depth < 16 && *box->text);
			open[depth++] = "Figure";
		} else if (box->kind == BOX_CLOSE) {
			assert_true(depth);
			assert_string_equal(box->text, open[--depth]);
		} else if (box->kind == BOX_TEXT) {
			assert_true(depth);	/* a text outside of all elements is not read */
		}
	}
	assert_int_equal(depth, 0);
}

static void each_page(const struct sheet *sheet,
		      void (*check)(const struct boxes *page, const struct layout *layout,
				    const struct paper *paper))
{
	static const char *const papers[] = { "a4", "letter" };
	struct boxes page = { .ruler = &ruler };
	const struct layout *layout;

	for (size_t p = 0; p < 2; p++)
		for (size_t l = 0; (layout = layout_get(l)); l++)
			for (size_t n = 0; n < pages_count(sheet, layout); n++) {
				pages_make(&page, sheet, layout, paper_find(papers[p]), n);
				assert_false(page.failed);
				elements_check(&page);
				check(&page, layout, paper_find(papers[p]));
			}
	boxes_free(&page);
}

static void nothing_is_cut_and_nothing_overlaps(void **state)
{
	static const double widths[] = { 0.3, 0.66, 1.2 };
	const struct words *words;

	(void)state;
	for (size_t w = 0; w < 3; w++)
		for (size_t i = 0; (words = words_get(i)); i++) {
			struct sheet sheet = extreme(words);

			wide = widths[w];
			each_page(&sheet, page_check);
			sheet.pack = dealbox_pack_preferans();
			each_page(&sheet, page_check);
			sheet.qr = NULL;
			sheet.logo_w = 0;
			sheet.count = 0;
			each_page(&sheet, page_check);
		}
	wide = 0.66;
}

static bool page_has(const struct boxes *page, const char *text)
{
	for (size_t i = 0; i < page->count; i++)
		if (page->list[i].kind == BOX_TEXT && !strcmp(page->list[i].text, text))
			return true;
	return false;
}

static void legible(const struct boxes *page, const struct layout *layout,
		    const struct paper *paper)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct box *box = &page->list[i];

		if (box->kind == BOX_TEXT && strstr(box->text, "…") &&
		    strncmp(box->text, "The annual", 10) && !strstr(box->text, "Sunday") &&
		    !strstr(box->text, "Κυρ") && !strstr(box->text, "exact") &&
		    !strstr(box->text, "ledger"))
			box_fail("is shortened", layout, paper, box, NULL);
	}
}

/* Only texts that the user gives are shortened, if they are far too long. */
static void cards_and_words_stand_whole(void **state)
{
	const struct words *words;

	(void)state;
	for (size_t i = 0; (words = words_get(i)); i++) {
		struct sheet sheet = extreme(words);

		each_page(&sheet, legible);
	}
}

static void a_board_says_everything(void **state)
{
	const struct words *words;

	(void)state;
	for (size_t i = 0; (words = words_get(i)); i++) {
		struct sheet sheet = extreme(words);
		struct boxes page = { .ruler = &ruler };
		char text[128];

		pages_make(&page, &sheet, layout_find("study"), paper_find("a4"), 1);
		assert_true(page_has(&page, "1000"));
		snprintf(text, sizeof(text), words->dealer, words->seats[DEALBOX_EAST]);
		assert_true(page_has(&page, text));
		assert_true(page_has(&page, words->vulnerable[DEALBOX_VULNERABLE_ALL]));
		snprintf(text, sizeof(text), "%s %s %s %s 10 9 8 7 6 5 4 3 2", words->ranks[0],
			 words->ranks[1], words->ranks[2], words->ranks[3]);
		assert_true(page_has(&page, text));
		assert_true(page_has(&page, "—"));
		assert_true(page_has(&page, words->sides[0]));
		assert_true(page_has(&page, words->footnote));
		snprintf(text, sizeof(text), "%s 2220", words->par);
		assert_true(page_has(&page, text));
		snprintf(text, sizeof(text), "7%s %s", words->notrump, words->sides[0]);
		assert_true(page_has(&page, text));
		boxes_free(&page);
	}
}

/* All of them: a sacrifice is not dropped because the corner is full. */
static void every_par_contract_is_there(void **state)
{
	struct sheet sheet = extreme(words_find("en"));
	struct boxes page = { .ruler = &ruler };
	const struct layout *layout;

	(void)state;
	sheet.boards = &boards[2];
	sheet.count = 1;
	for (size_t l = 0; (layout = layout_get(l)) && strncmp(layout->name, "curtain", 7); l++) {
		char all[1024] = "";

		pages_make(&page, &sheet, layout, paper_find("letter"), 0);
		for (size_t i = 0; i < page.count; i++)
			if (page.list[i].kind == BOX_TEXT) {
				strcat(all, page.list[i].text);
				strcat(all, "|");
			}
		for (size_t i = 0; i < sacrifices.count; i++) {
			char text[CONTRACT_TEXT];

			sheet_contract(&sheet, &sacrifices.contracts[i], text);
			assert_non_null(strstr(all, text));
		}
		assert_non_null(strstr(all, "Par −1100"));
	}
	boxes_free(&page);
}

static const struct box *card_text(const struct boxes *page, const char *text)
{
	for (size_t i = 0; i < page->count; i++)
		if (page->list[i].kind == BOX_TEXT && !strcmp(page->list[i].text, text))
			return &page->list[i];
	return NULL;
}

/*
 * Curtain cards: behind every rank is the pattern, the back of a card is that of its front, and a
 * stack of cut sheets, pile on pile, is in the order of the boards.
 */
static void check_curtain(const char *name, size_t places)
{
	static struct sheet_board many[23];
	struct sheet sheet = extreme(words_find("en"));
	struct boxes front = { .ruler = &ruler }, back = { .ruler = &ruler };
	const struct layout *layout = layout_find(name);
	const struct paper *paper = paper_find("a4");
	size_t sheets, cards = 0;

	for (size_t i = 0; i < 23; i++) {
		many[i] = boards[i % 2];
		many[i].tricks = NULL;
		snprintf(many[i].name, sizeof(many[i].name), "%zu", i + 1);
	}
	sheet.boards = many;
	sheet.count = 23;
	sheets = (4 * 23 + places - 1) / places;
	assert_int_equal(pages_count(&sheet, layout), 2 * sheets);
	for (size_t s = 0; s < sheets; s++) {
		size_t place = 0;

		pages_make(&front, &sheet, layout, paper, 2 * s);
		pages_make(&back, &sheet, layout, paper, 2 * s + 1);
		for (size_t i = 0; i < front.count; i++) {
			const struct box *box = &front.list[i];
			const double left = paper->w - box->x - box->w;	/* seen from behind */
			bool covered = false;

			if (box->kind != BOX_TEXT || strncmp(box->text, "Board ", 6)) {
				if (box->kind != BOX_TEXT ||
				    (!box->face.cards && box->ink > INK_CLUBS))
					continue;
				for (size_t k = 0; k < back.count; k++) {
					const struct box *cover = &back.list[k];

					covered |= cover->kind == BOX_PATTERN && cover->x <= left &&
						   cover->y <= box->y &&
						   cover->x + cover->w >= left + box->w &&
						   cover->y + cover->h >= box->y + box->h;
				}
				assert_true(covered);
				continue;
			}
			/* card place * sheets + s: its board */
			assert_int_equal(atoi(box->text + 6), (place * sheets + s) / 4 + 1);
			place++;
			cards++;
		}
		assert_null(card_text(&back, "—"));
	}
	assert_int_equal(cards, 4 * 23);
	boxes_free(&front);
	boxes_free(&back);
}

static void curtain_cards_are_safe_and_in_order(void **state)
{
	(void)state;
	check_curtain("curtain", 9);
	check_curtain("curtain16", 16);
}

static void chances_of_hands(void **state)
{
	static const unsigned int usual[4] = { 4, 4, 3, 2 }, flat[4] = { 4, 3, 3, 3 },
				  all[4] = { 13 };
	double sum = 0, mean = 0;

	(void)state;
	/* the well-known figures */
	assert_true(fabs(statistics_shape_chance(usual) - 0.2155) < 0.0001);
	assert_true(fabs(statistics_shape_chance(flat) - 0.1054) < 0.0001);
	assert_true(fabs(statistics_shape_chance(all) * 635013559600 - 4) < 1e-6);
	assert_true(fabs(statistics_points_chance(10) - 0.0941) < 0.0001);
	assert_true(fabs(statistics_points_chance(0) - 0.0036) < 0.0001);
	for (unsigned int points = 0; points <= 40; points++) {
		sum += statistics_points_chance(points);
		mean += points * statistics_points_chance(points);
	}
	assert_true(fabs(sum - 1) < 1e-9 && fabs(mean - 10) < 1e-9);
}

static const char *cell(const struct rows *rows, const char *name, size_t column)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].kind == ROW_CELLS && !strcmp(rows->list[i].cells[0], name))
			return rows->list[i].cells[column];
	return "";
}

/* Cells and paragraphs of several lines are within their columns and pages; no word is lost. */
static void folded_tables(void **state)
{
	static const unsigned char shares[] = { 2, 5 };
	static const char words[] = "one two three four five six seven eight nine ten eleven "
				    "twelve thirteen fourteen fifteen sixteen seventeen eighteen "
				    "nineteen last";
	struct sheet sheet = extreme(words_find("en"));
	struct boxes page = { .ruler = &ruler };
	struct rows rows = { .shares = shares };
	size_t found = 0, below = 0;

	(void)state;
	for (int n = 0; n < 40; n++) {
		rows_begin(&rows, ROW_HEADING);
		rows_cell(&rows, "heading");
		rows_begin(&rows, ROW_TEXT);
		rows_cell(&rows, "%s %s %s", words, words, words);
		rows_begin(&rows, ROW_NAMES);
		rows_cell(&rows, "name");
		rows_cell(&rows, "other");
		rows_begin(&rows, ROW_CELLS);
		rows_cell(&rows, "%s", n % 2 ? words : "");
		rows_cell(&rows, "%s %s", words, words);
	}
	sheet.rows = rows.list;
	sheet.rows_count = rows.count;
	tables_layout.fold(&sheet, &tables_layout, &ruler, paper_find("a4"));
	for (size_t n = 0; n < pages_count(&sheet, &tables_layout); n++) {
		const char *last = "";

		pages_make(&page, &sheet, &tables_layout, paper_find("a4"), n);
		elements_check(&page);
		page_check(&page, &tables_layout, paper_find("a4"));
		for (size_t i = 0; i < page.count; i++) {
			const struct box *box = &page.list[i];

			if (box->kind != BOX_TEXT)
				continue;
			if (strstr(box->text, "one"))
				assert_true(box->face.size > 7);	/* folded, not shrunk */
			for (const char *at = box->text; (at = strstr(at, "last")); at++)
				found++;
			/* a heading is on the page of what it is about */
			below += !strcmp(last, "heading") && !strncmp(box->text, "one", 3);
			last = box->text;
		}
	}
	assert_int_equal(found, 40 * 5 + 20);
	assert_int_equal(below, 40);
	boxes_free(&page);
	rows_free(&rows);
}

/* Plots stand below their heading, inside the page, and do not touch what is below. */
static void plots_between_tables(void **state)
{
	static const double sizes[][2] = { { 640, 150 }, { 574, 564 }, { 100, 2000 } };
	struct sheet sheet = extreme(words_find("en"));
	struct boxes page = { .ruler = &ruler };
	struct rows rows = { 0 };
	size_t figures = 0;

	(void)state;
	for (size_t n = 0; n < 12; n++) {
		const double *size = sizes[n % 3];
		struct plot *plot = plot_new(size[0], size[1]);

		strcpy(plot->about, "what it shows");
		plot_fill(plot, INK_FAINT, 0.5, 0, 0, size[0], size[1]);
		plot_text(plot, ALIGN_RIGHT, size[0] / 2, size[1] - 12, size[0] / 2, 12, "%d ms",
			  12);
		rows_begin(&rows, ROW_HEADING);
		rows_cell(&rows, "heading");
		rows_plot(&rows, plot);
		rows_begin(&rows, ROW_TEXT);
		rows_cell(&rows, "below");
	}
	assert_false(rows.failed);
	sheet.rows = rows.list;
	sheet.rows_count = rows.count;
	tables_layout.fold(&sheet, &tables_layout, &ruler, paper_find("letter"));
	for (size_t n = 0; n < pages_count(&sheet, &tables_layout); n++) {
		double bottom = 0;

		pages_make(&page, &sheet, &tables_layout, paper_find("letter"), n);
		elements_check(&page);
		for (size_t i = 0; i < page.count; i++) {
			const struct box *box = &page.list[i];

			if (box->kind == BOX_FIGURE) {
				figures++;
				assert_string_equal(page.list[i - 2].text, "heading");
				box = &page.list[i + 1];
				assert_true(box->kind == BOX_FILL && box->tint == 0.5);
				assert_true(box->x >= PAGE_MARGIN && box->h > 50);
				assert_true(box->x + box->w <=
					    paper_find("letter")->w - PAGE_MARGIN);
				bottom = box->y + box->h;
				assert_true(bottom < paper_find("letter")->h - PAGE_MARGIN);
			}
			if (box->kind == BOX_TEXT && !strcmp(box->text, "below"))
				assert_true(box->y >= bottom);
		}
	}
	assert_int_equal(figures, 12);
	boxes_free(&page);
	rows_free(&rows);
}

/* libqpdf has all structure elements in memory, so a large set has few of them. */
static void large_sets_have_few_elements(void **state)
{
	static struct sheet_board many[1000];
	struct sheet sheet = extreme(words_find("en"));
	struct boxes page = { .ruler = &ruler };
	size_t elements = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		many[i] = boards[2];
		many[i].tricks = &unequal;
	}
	sheet.boards = many;
	sheet.count = 1000;
	for (size_t n = 0; n < pages_count(&sheet, layout_find("pocket")); n++) {
		pages_make(&page, &sheet, layout_find("pocket"), paper_find("a4"), n);
		elements_check(&page);
		for (size_t i = 0; i < page.count; i++)
			elements += page.list[i].kind == BOX_OPEN;
	}
	assert_true(elements < 1000 * 10);
	boxes_free(&page);
}

static void statistics_of_a_set(void **state)
{
	struct sheet sheet = extreme(words_find("en"));
	struct rows rows = { 0 };

	(void)state;
	statistics_add(&rows, &sheet);
	assert_false(rows.failed);
	/* four boards are known: a suit in each hand */
	assert_string_equal(cell(&rows, "13-0-0-0", 1), "4");
	assert_string_equal(cell(&rows, "13-0-0-0", 5), "16");
	assert_string_equal(cell(&rows, "Mean", 1), "10.00");
	assert_string_equal(cell(&rows, "10–12", 4), "4");
	assert_string_equal(cell(&rows, "4-4-3-2", 6), "3.4");
	sheet.rows = rows.list;
	sheet.rows_count = rows.count;
	for (const char *const *paper = (const char *const[]){ "a4", "letter", NULL }; *paper;
	     paper++) {
		struct boxes page = { .ruler = &ruler };

		pages_make(&page, &sheet, &tables_layout, paper_find(*paper), 0);
		elements_check(&page);
		page_check(&page, &tables_layout, paper_find(*paper));
		boxes_free(&page);
	}
	rows_free(&rows);
}

/* Names of columns stand on every page; no row is lost. */
static void long_tables(void **state)
{
	struct sheet sheet = extreme(words_find("ru"));
	struct boxes page = { .ruler = &ruler };
	struct rows rows = { 0 };
	size_t found = 0, pages;

	(void)state;
	rows_begin(&rows, ROW_HEADING);
	rows_cell(&rows, "Job");
	rows_begin(&rows, ROW_NAMES);
	for (int i = 0; i < 7; i++)
		rows_cell(&rows, "name of a column");
	for (int n = 0; n < 200; n++) {
		rows_begin(&rows, ROW_CELLS);
		rows_cell(&rows, "row %d", n);
		for (int i = 0; i < 6; i++)
			rows_cell(&rows, "2026-11-24 03:20:00");
	}
	sheet.rows = rows.list;
	sheet.rows_count = rows.count;
	pages = pages_count(&sheet, &tables_layout);
	assert_true(pages > 3);
	for (size_t n = 0; n < pages; n++) {
		pages_make(&page, &sheet, &tables_layout, paper_find("letter"), n);
		elements_check(&page);
		page_check(&page, &tables_layout, paper_find("letter"));
		assert_true(page_has(&page, "name of a column"));
		for (size_t i = 0; i < page.count; i++)
			found += page.list[i].kind == BOX_TEXT &&
				 !strncmp(page.list[i].text, "row ", 4);
	}
	assert_int_equal(found, 200);
	boxes_free(&page);
	rows_free(&rows);
}

/* A hand of which not every card is known claims no void and no points. */
static void an_incomplete_deal_says_so(void **state)
{
	struct sheet sheet = extreme(words_find("en"));
	struct boxes page = { .ruler = &ruler };
	char all[2048] = "";

	(void)state;
	sheet.boards = &boards[3];
	sheet.count = 1;
	pages_make(&page, &sheet, layout_find("wall"), paper_find("a4"), 0);
	for (size_t i = 0; i < page.count; i++)
		if (page.list[i].kind == BOX_TEXT) {
			strcat(strcat(all, page.list[i].text), " ");
			/* in a narrow column on several lines, not in tiny letters */
			if (strstr(page.list[i].text, "39 cards"))
				assert_true(page.list[i].face.size >
					    0.7 * layout_find("wall")->size);
		}
	assert_non_null(strstr(all, "39 cards not known"));
	assert_true(page_has(&page, "?"));
	assert_false(page_has(&page, "—"));
	for (size_t i = 0; i < page.count; i++)
		assert_true(page.list[i].kind != BOX_TEXT || !page.list[i].face.bold ||
			    strcmp(page.list[i].text, "0"));
	boxes_free(&page);
}

static void texts_of_contracts(void **state)
{
	static const struct {
		struct par_contract contract;
		const char *text;
	} cases[] = {
		{ { 4, DEALBOX_HEARTS, 1, 0 }, "4♥ N" },
		{ { 4, DEALBOX_SPADES, 5, 1 }, "4♠ NS +1" },
		{ { 5, DEALBOX_CLUBS, 10, -2 }, "5♣x EW −2" },
		{ { 3, NOTRUMPS, 8, 0 }, "3NT W" },
	};
	struct sheet sheet = extreme(words_find("en"));
	char text[CONTRACT_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sheet_contract(&sheet, &cases[i].contract, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void points_of_hands(void **state)
{
	(void)state;
	assert_int_equal(sheet_points(0), 0);
	assert_int_equal(sheet_points(SUIT(2)), 10);
	assert_int_equal(sheet_points(DEALBOX_PACK_BRIDGE), 40);
	assert_int_equal(sheet_points((dealbox_cards)1 << 13 | (dealbox_cards)1 << 29), 4 + 1);
}

static double grey(enum ink ink)
{
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		static const double weights[] = { 0.2126, 0.7152, 0.0722 };
		const double share = ink_colours[ink][i] / 255.0;

		sum += weights[i] *
		       (share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4));
	}
	return sum;
}

/* WCAG 2.1, 1.4.3; a printer without colours prints these greys. */
static void inks_survive_without_colours(void **state)
{
	(void)state;
	for (enum ink ink = 0; ink < INKS; ink++)
		assert_true(1.05 / (grey(ink) + 0.05) >= 4.5);
	for (enum ink one = INK_SPADES; one <= INK_CLUBS; one++)
		for (enum ink other = INK_SPADES; other < one; other++)
			assert_true(memcmp(ink_colours[one], ink_colours[other], 3));
}

static void languages_are_complete(void **state)
{
	const struct words *words;

	(void)state;
	for (size_t i = 0; (words = words_get(i)); i++) {
		const char *const *word = (const char *const *)words;

		for (size_t n = 0; n < sizeof(*words) / sizeof(*word); n++)
			assert_true(word[n] && *word[n]);
		assert_ptr_equal(words_find(words->language), words);
	}
	assert_ptr_equal(words_find("nb_NO.UTF-8"), words_find("nb"));
	assert_ptr_equal(words_find("nn_NO"), words_find("nb"));
	assert_null(words_find("nbx"));
	assert_null(words_find("de_DE"));
	assert_null(words_find("C"));
}

/* Pocket: 36 boards on two sides; wall: 14 points, six a page. */
static void layouts_hold_what_they_promise(void **state)
{
	static struct sheet_board many[36];
	struct sheet sheet = extreme(words_find("en"));
	struct boxes page = { .ruler = &ruler };

	(void)state;
	for (size_t i = 0; i < 36; i++)
		many[i] = (struct sheet_board){
			.deal = { { 0x108421084210f, 0x842108421080, 0x21084210840, 0 } },
			.name = "8"
		};
	sheet.boards = many;
	sheet.count = 36;
	assert_int_equal(pages_count(&sheet, layout_find("pocket")), 2);
	assert_int_equal(pages_count(&sheet, layout_find("wall")), 6);
	assert_int_equal(pages_count(&sheet, layout_find("study")), 36);
	pages_make(&page, &sheet, layout_find("wall"), paper_find("letter"), 5);
	for (size_t i = 0; i < page.count; i++)
		if (page.list[i].kind == BOX_TEXT && page.list[i].face.cards)
			assert_true(page.list[i].face.size >= 14);
	boxes_free(&page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_cut_and_nothing_overlaps),
		cmocka_unit_test(cards_and_words_stand_whole),
		cmocka_unit_test(a_board_says_everything),
		cmocka_unit_test(curtain_cards_are_safe_and_in_order),
		cmocka_unit_test(chances_of_hands),
		cmocka_unit_test(statistics_of_a_set),
		cmocka_unit_test(long_tables),
		cmocka_unit_test(folded_tables),
		cmocka_unit_test(plots_between_tables),
		cmocka_unit_test(large_sets_have_few_elements),
		cmocka_unit_test(every_par_contract_is_there),
		cmocka_unit_test(an_incomplete_deal_says_so),
		cmocka_unit_test(texts_of_contracts),
		cmocka_unit_test(points_of_hands),
		cmocka_unit_test(inks_survive_without_colours),
		cmocka_unit_test(languages_are_complete),
		cmocka_unit_test(layouts_hold_what_they_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
