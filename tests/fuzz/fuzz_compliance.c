// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary reports and pages: what is accepted can be judged, printed, signed, verified and
 * compared, and there is no second text of a verified report.
 */
#include "fuzz.h"
#include "paper.h"
#include "print/pages.h"
#include "profile.h"

static struct dealbox_signer *signer;
static struct profile profile;

static void begin(void)
{
	static const char key[] = "dealbox signing key 1 "
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

	CHECK(!dealbox_signer_parse(key, strlen(key), &signer, NULL));
	CHECK(!profile_find("club", &profile, NULL));
}

static void verify_own(struct json_object *report)
{
	uint8_t by[DEALBOX_SIGNER_KEY];
	struct json_object *again;
	char *text;

	CHECK(report_sign(report, signer));
	text = report_print(report);
	CHECK(text && !report_verify(text, strlen(text), &again, by, NULL));
	CHECK(!memcmp(by, dealbox_signer_public(signer), sizeof(by)));
	json_object_put(again);
	free(text);
	text = report_html(report);
	CHECK(text && report_sign_page(&text, signer));
	CHECK(!report_verify(text, strlen(text), &again, by, NULL));
	json_object_put(again);
	free(text);
}

static void verify_foreign(const char *data, size_t size)
{
	uint8_t by[DEALBOX_SIGNER_KEY];
	struct dealbox_error error = { 0 };
	struct json_object *report;

	if (report_verify(data, size, &report, by, &error)) {
		CHECK(*error.what);
		return;
	}
	if (*data == '{') {
		char *text = report_print(report);

		CHECK(text && size - strlen(text) <= 1 && !memcmp(text, data, strlen(text)));
		free(text);
	}
	json_object_put(report);
}

/* As wide as a character of DejaVu Sans, whatever it is */
static double width_of(void *context, const struct face *face, const char *text)
{
	double width = 0;

	(void)context;
	for (; *text; text++)
		width += (*text & 0xc0) == 0x80 ? 0 : 0.6;
	return width * face->size;
}

/* All is on the paper: no text is cut, no page is empty. */
static void print_pages(struct json_object *report)
{
	const struct ruler ruler = { .width = width_of, .ascent = 0.93, .descent = 0.24 };
	const struct paper *paper = paper_find("a4");
	struct sheet sheet = {
		.words = words_find("en"), .title = "", .session = "", .set = "", .footer = ""
	};
	struct boxes page = { .ruler = &ruler };
	struct rows rows = { 0 };
	size_t pages;

	CHECK(report_paper(report, &rows));
	sheet.rows = rows.list;
	sheet.rows_count = rows.count;
	tables_layout.fold(&sheet, &tables_layout, &ruler, paper);
	pages = pages_count(&sheet, &tables_layout);
	for (size_t n = 0; n < pages && n < 20; n++) {
		pages_make(&page, &sheet, &tables_layout, paper, n);
		CHECK(!page.failed && page.count);
		for (size_t i = 0; i < page.count; i++)
			CHECK(page.list[i].kind != BOX_TEXT ||
			      page.list[i].y + page.list[i].h < paper->h - PAGE_MARGIN + 0.1);
	}
	boxes_free(&page);
	rows_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = (char *)memdup(data, size), *text, *words = NULL;
	struct dealbox_error error = { 0 };
	struct json_object *report;
	size_t length;
	FILE *out;

	if (!signer)
		begin();
	verify_foreign(copy, size);
	if (report_read(copy, size, &report, &error)) {
		CHECK(*error.what);
		free(copy);
		return 0;
	}
	text = report_junit(report);
	CHECK(text);
	free(text);
	out = open_memstream(&words, &length);
	CHECK(out && !report_compare(report, report, out) && !fclose(out));
	free(words);
	/* the costly part for some, as the size has it */
	if (size % 8 == 0) {
		profile_judge(&profile, report);
		CHECK(!report_check(report, NULL));
		verify_own(report);
		print_pages(report);
	}
	json_object_put(report);
	free(copy);
	return 0;
}
