// SPDX-License-Identifier: LGPL-2.1-or-later
#include "front.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fairness/signed-text.h"
#include "paper.h"
#include "print/print.h"
#include "ui/files.h"

void complain(const char *next, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	fputs("dealbox-compliance: ", stderr);
	report_plain(stderr, text ? text : "out of memory");
	putc('\n', stderr);
	if (next && *next) {
		fputs("  ", stderr);
		report_plain(stderr, next);
		putc('\n', stderr);
	}
	free(text);
}

/* Pages are drawn in less time than it takes to read about it. */
void progress(const char *format, ...)
{
	(void)format;
}

/* -- a run ------------------------------------------------------------------ */

static bool profile_open(const char *name, struct profile *profile)
{
	struct dealbox_error error;
	struct blob file = { 0 };
	int err;

	/* a name has no slash and no point; a file of the current folder is ./NAME */
	if (!strpbrk(name, "/.")) {
		err = profile_find(name, profile, &error);
	} else {
		if (!file_read(name, &file)) {
			blob_wipe(&file);
			return false;
		}
		if (file.size > PROFILE_SIZE_MAX || strlen(file.data) != file.size) {
			complain("check that this is the right file", "%s: this is no profile",
				 name);
			blob_wipe(&file);
			return false;
		}
		err = profile_parse(file.data, profile, &error);
		blob_wipe(&file);
	}
	if (err)
		fault_say(name, &error);
	return !err;
}

static bool key_open(const char *path, struct dealbox_signer **signer)
{
	struct dealbox_error error;
	struct blob key = { 0 };
	bool good = file_read_secret(path, &key);

	if (good && dealbox_signer_parse(key.data, key.size, signer, &error)) {
		fault_say(path, &error);
		good = false;
	}
	blob_wipe(&key);
	return good;
}

/* Files are written beside their name and renamed. */
static bool writable(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool good = !path || (folder && !access(folder, W_OK | X_OK));

	if (!good)
		complain("choose another name", "%s: %s", path, strerror(errno));
	free(folder);
	return good;
}

bool outputs_open(struct outputs *outputs)
{
	if (outputs->key && !outputs->json && !outputs->html) {
		complain("add --html FILE, --json FILE, or both", "--key has no report to sign");
		return false;
	}
	return (!outputs->profile || profile_open(outputs->profile, &outputs->limits)) &&
	       (!outputs->key || key_open(outputs->key, &outputs->signer)) &&
	       writable(outputs->json) && writable(outputs->junit) && writable(outputs->html);
}

void outputs_close(struct outputs *outputs)
{
	dealbox_signer_free(outputs->signer);
	outputs->signer = NULL;
}

/* Takes the text. */
static bool text_write(const char *path, char *text)
{
	bool good = text && file_write(path, text, strlen(text), FILE_PUBLIC, true);

	if (!text)
		complain(NULL, "%s: out of memory", path);
	free(text);
	return good;
}

static char *json_make(struct json_object *report)
{
	char *text = report_print(report), *line;

	if (!text || asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

static char *page_make(struct json_object *report, const struct dealbox_signer *signer)
{
	char *text = report_html(report);

	if (text && signer && !report_sign_page(&text, signer)) {
		free(text);
		text = NULL;
	}
	return text;
}

static void put_judgements(struct json_object *report, const char *prefix)
{
	struct json_object *row;

	report_each(row, report_list(report_object(report, "acceptance", NULL), "limits")) {
		printf("%s%s: ", prefix, report_text(row, "result"));
		report_plain(stdout, report_text(row, "what"));
		printf(": %.0f of %.0f, that is %.3g to %.3g %%; %.3g %% allowed\n",
		       report_number(row, "errors"), report_number(row, "trials"),
		       100 * report_number(row, "low"), 100 * report_number(row, "high"),
		       100 * report_number(row, "allowed"));
	}
}

bool outputs_write(struct outputs *outputs, struct json_object *report, bool *refuted)
{
	bool good = true;

	report_clean(report);
	*refuted = outputs->profile && profile_judge(&outputs->limits, report) == REFUTED;
	put_judgements(report, "# ");
	if (outputs->signer && !report_sign(report, outputs->signer)) {
		complain(NULL, "out of memory");
		return false;
	}
	/* each is tried: an hour of testing is in them */
	if (outputs->json)
		good &= text_write(outputs->json, json_make(report));
	if (outputs->junit)
		good &= text_write(outputs->junit, report_junit(report));
	if (outputs->html)
		good &= text_write(outputs->html, page_make(report, outputs->signer));
	return good;
}

/* -- verify and compare ----------------------------------------------------- */

static int usage(const char *what)
{
	complain("see dealbox-compliance --help", "%s", what);
	return STATUS_INPUT;
}

static void put_summary(struct json_object *report)
{
	struct json_object *machine = report_object(report, "machine", NULL), *row;
	unsigned int failed = 0;

	report_each(row, report_list(report, "requirements"))
		failed += !strcmp(report_text(row, "result"), "fail");
	fputs("machine ", stdout);
	report_plain(stdout, report_text(machine, "product"));
	fputs(", serial number ", stdout);
	report_plain(stdout, report_text(machine, "serial"));
	fputs(", firmware ", stdout);
	report_plain(stdout, report_text(machine, "firmware"));
	fputs("\ntested ", stdout);
	report_plain(stdout, report_text(report, "started"));
	printf("%s: %u of %zu requirements violated\n",
	       json_object_get_boolean(report_object(report, "complete", NULL)) ?
	       "" : " (interrupted)",
	       failed, report_length(report_list(report, "requirements")));
	put_judgements(report, "");
}

int front_verify(int argc, char **argv)
{
	static const struct option options[] = { { "signer", required_argument, NULL, 's' },
						 { 0 } };
	uint8_t key[DEALBOX_SIGNER_KEY], wanted[DEALBOX_SIGNER_KEY];
	char hex[HEX(DEALBOX_SIGNER_KEY)];
	struct json_object *report;
	struct dealbox_error error;
	const char *signer = NULL;
	struct blob file = { 0 };
	int err, letter;

	optind = 1;
	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (letter != 's')
			return STATUS_INPUT;
		signer = optarg;
	}
	if (argc - optind != 1)
		return usage("verify needs the file of a report");
	if (signer && !hex_take(signer, wanted, sizeof(wanted)))
		return usage("--signer needs a public key: 64 digits of 0-9 and a-f");
	if (!file_read(argv[optind], &file)) {
		blob_wipe(&file);
		return STATUS_INPUT;
	}
	err = report_verify(file.data, file.size, &report, key, &error);
	blob_wipe(&file);
	if (err) {
		fault_say(argv[optind], &error);
		return err == -EKEYREJECTED || err == -ENOKEY ? STATUS_NO : STATUS_INPUT;
	}
	hex_put(key, sizeof(key), hex);
	if (signer && memcmp(key, wanted, sizeof(key))) {
		complain("ask who signed it",
			 "%s: the signature is right, but it is by another key: %s", argv[optind],
			 hex);
		err = STATUS_NO;
	} else {
		printf("%s: the signature is right, by the key %s%s\n", argv[optind], hex,
		       signer ? "" : "; compare it with that of the signer");
		put_summary(report);
	}
	json_object_put(report);
	return err;
}

static struct json_object *report_open(const char *path)
{
	struct json_object *report = NULL;
	struct dealbox_error error;
	struct blob file = { 0 };

	if (file_read(path, &file) && report_read(file.data, file.size, &report, &error)) {
		fault_say(path, &error);
		report = NULL;
	}
	blob_wipe(&file);
	return report;
}

int front_compare(int argc, char **argv)
{
	struct json_object *before, *now;
	int status = STATUS_INPUT;

	if (argc != 3 || *argv[1] == '-' || *argv[2] == '-')
		return usage("compare needs two reports: the earlier and the later one");
	before = report_open(argv[1]);
	now = before ? report_open(argv[2]) : NULL;
	if (now)
		status = report_compare(before, now, stdout) ? STATUS_NO : STATUS_DONE;
	json_object_put(before);
	json_object_put(now);
	return status;
}

/* -- print ------------------------------------------------------------------ */

/* A report of which a byte was changed is not printed: paper says no more who signed what. */
static struct json_object *report_to_print(const char *path)
{
	uint8_t key[DEALBOX_SIGNER_KEY];
	struct json_object *report = NULL;
	struct dealbox_error error;
	struct blob file = { 0 };
	int err;

	if (!file_read(path, &file)) {
		blob_wipe(&file);
		return NULL;
	}
	err = report_verify(file.data, file.size, &report, key, &error);
	if (err == -ENOKEY)
		err = report_read(file.data, file.size, &report, &error);
	blob_wipe(&file);
	if (!err)
		return report;
	fault_say(path, &error);
	return NULL;
}

static bool pages_write(const char *path, const struct paper *paper, struct json_object *report)
{
	struct json_object *machine = report_object(report, "machine", NULL);
	const char *signature = report_text(report, "signature");
	struct sheet sheet = { .words = words_find("en"), .session = "", .set = "" };
	const struct blob none = { 0 };
	const struct print_how how = { .layout = &tables_layout, .paper = paper, .font = "sans",
				       .logo = &none, .made = report_time(report) };
	char title[256], footer[256], qr[256];
	struct rows rows = { 0 };
	struct blob pdf = { 0 };
	bool good;

	report_line(title, sizeof(title), "Acceptance of ", report_text(machine, "product"));
	report_line(footer, sizeof(footer), *signature ? "Signed by " : "Not signed",
		    report_text(report, "signer"));
	snprintf(qr, sizeof(qr), "dealbox compliance %s", signature);
	sheet.title = title;
	sheet.footer = footer;
	if (*signature)
		sheet.qr = qr;
	good = report_paper(report, &rows);
	if (!good)
		complain(NULL, "out of memory");
	sheet.rows = rows.list;
	sheet.rows_count = rows.count;
	good = good && print_pdf(&sheet, &how, &pdf) &&
	       file_write(path, pdf.data, pdf.size, FILE_PUBLIC, true);
	blob_wipe(&pdf);
	rows_free(&rows);
	return good;
}

int front_print(int argc, char **argv)
{
	static const struct option options[] = { { "paper", required_argument, NULL, 'p' }, { 0 } };
	const struct paper *paper;
	struct json_object *report;
	bool good;

	setlocale(LC_PAPER, "");
	paper = paper_default();
	optind = 1;
	while (getopt_long(argc, argv, "", options, NULL) != -1) {
		paper = optarg ? paper_find(optarg) : NULL;
		if (!paper)
			return usage("--paper is a4 or letter");
	}
	if (argc - optind != 2)
		return usage("print needs a report, and the name of the PDF file");
	report = report_to_print(argv[optind]);
	good = report && pages_write(argv[optind + 1], paper, report);
	json_object_put(report);
	return good ? STATUS_DONE : STATUS_INPUT;
}
