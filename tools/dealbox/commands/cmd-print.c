// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox print: hand records on paper. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "print/input.h"
#include "print/job.h"
#include "print/print.h"
#include "print/printer.h"
#include "print/statistics.h"
#include "ui/sealed.h"

enum {
	KEY_FONT = OPT_LONG, KEY_FOOTER, KEY_FORCE, KEY_JOB, KEY_LEDGER, KEY_LOGO, KEY_PACK,
	KEY_PRINTER, KEY_RECEIPT, KEY_SESSION, KEY_SET, KEY_STATISTICS, KEY_TEN, KEY_TITLE,
};

struct call {
	struct args *args;
	struct print_input input;
	struct print_how how;
	struct sheet sheet;
	struct rows rows;
	unsigned long job_number;	/* 0 = none */
	struct print_job job;
	char footer[JOB_FOOTER], qr[JOB_FOOTER];
	char texts[5][512];		/* of options, as text */
	bool receipt, statistics;
	const char *logo;	/* file; NULL = none */
	const char *out;	/* file, "-" = standard output, NULL = none */
	const char *printer;	/* NULL = none */
	const char *ledger;	/* file, NULL = of the service */
	bool force;
};

static bool unknown(struct call *call, const char *option, const char *value, const char *known)
{
	call->args->status =
		args_wrong(call->args, "--%s: it is %s, not '%s'", option, known, value);
	return false;
}

static bool layout_take(struct call *call, const char *value)
{
	call->how.layout = layout_find(value);
	return call->how.layout ||
	       unknown(call, "layout", value, "pocket, wall, study, large, curtain or curtain16");
}

static bool paper_take(struct call *call, const char *value)
{
	call->how.paper = paper_find(value);
	return call->how.paper || unknown(call, "paper", value, "a4 or letter");
}

static bool language_take(struct call *call, const char *value)
{
	call->sheet.words = words_find(value);
	return call->sheet.words || unknown(call, "language", value, "nb, el, fr, ru or en");
}

static bool ten_take(struct call *call, const char *value)
{
	call->sheet.ten = value;
	return !strcmp(value, "10") || !strcmp(value, "T") ||
	       unknown(call, "ten", value, "10 or T");
}

static bool boards_take(struct call *call, const char *value)
{
	call->input.chosen = true;
	return args_boards(call->args, "boards", value, &call->input.boards);
}

static bool from_take(struct call *call, const char *value)
{
	call->input.reading.from = set_as_read_format(call->args, "from", value);
	return call->input.reading.from;
}

static bool first_take(struct call *call, const char *value)
{
	return args_number(call->args, "first", value, 1, DEALBOX_BOARD_DEALT_MAX,
			   &call->input.reading.first);
}

static bool key_take(struct call *call, const char *value)
{
	(void)call;
	sealed_use_key(value);
	return true;
}

static bool double_dummy_take(struct call *call, const char *value)
{
	(void)value;
	call->input.double_dummy = true;
	return true;
}

static bool force_take(struct call *call, const char *value)
{
	(void)value;
	call->force = true;
	return true;
}

static bool job_take(struct call *call, const char *value)
{
	return args_number(call->args, "job", value, 1, UINT32_MAX, &call->job_number);
}

static bool receipt_take(struct call *call, const char *value)
{
	call->receipt = true;
	return args_number(call->args, "receipt", value, 1, UINT32_MAX, &call->job_number);
}

static bool statistics_take(struct call *call, const char *value)
{
	(void)value;
	call->statistics = true;
	return true;
}

static bool pack_take(struct call *call, const char *value)
{
	const struct dealbox_pack *pack = dealbox_pack_find(value);

	call->input.preferans = pack == dealbox_pack_preferans();
	return pack || unknown(call, "pack", value, "bridge or preferans");
}

/* How each option is taken: by a function, or as a text. */
static const struct taker {
	int key;
	bool (*take)(struct call *call, const char *value);
	size_t text;	/* offset in struct call, if there is no function */
} takers[] = {
	{ 'b', boards_take, 0 },
	{ 'f', from_take, 0 },
	{ 'k', key_take, 0 },
	{ 'l', layout_take, 0 },
	{ 'L', language_take, 0 },
	{ KEY_LEDGER, NULL, offsetof(struct call, ledger) },
	{ 'o', NULL, offsetof(struct call, out) },
	{ 'p', paper_take, 0 },
	{ KEY_DOUBLE_DUMMY, double_dummy_take, 0 },
	{ KEY_FIRST, first_take, 0 },
	{ KEY_FONT, NULL, offsetof(struct call, how.font) },
	{ KEY_FOOTER, NULL, offsetof(struct call, sheet.footer) },
	{ KEY_FORCE, force_take, 0 },
	{ KEY_JOB, job_take, 0 },
	{ KEY_LOGO, NULL, offsetof(struct call, logo) },
	{ KEY_PACK, pack_take, 0 },
	{ KEY_PRINTER, NULL, offsetof(struct call, printer) },
	{ KEY_RECEIPT, receipt_take, 0 },
	{ KEY_SESSION, NULL, offsetof(struct call, sheet.session) },
	{ KEY_SET, NULL, offsetof(struct call, sheet.set) },
	{ KEY_STATISTICS, statistics_take, 0 },
	{ KEY_TEN, ten_take, 0 },
	{ KEY_TITLE, NULL, offsetof(struct call, sheet.title) },
};

/* Returns false if the command should exit with args->status. */
static bool options_take(struct call *call)
{
	const struct taker *taker;
	const char *value;
	int key;

	while ((key = args_next(call->args, &value)) >= 0) {
		for (taker = takers; taker->key != key; taker++)
			;
		call->args->status = STATUS_INPUT;
		if (!taker->take)
			*(const char **)((char *)call + taker->text) = value;
		else if (!taker->take(call, value))
			return false;
	}
	return key != ARGS_STOP;
}

/* Arguments may be in any encoding and contain control characters. */
static void texts_clean(struct call *call)
{
	const char **const texts[] = { &call->sheet.title, &call->sheet.session, &call->sheet.set,
				       &call->sheet.footer, &call->how.font };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		dealbox_text_safe(*texts[i], strlen(*texts[i]), call->texts[i],
				  sizeof(call->texts[i]));
		*texts[i] = call->texts[i];
	}
}

/* Does not change the locale of messages, numbers and dates. */
static void defaults_set(struct call *call)
{
	const char *locale;

	setlocale(LC_PAPER, "");
	locale = setlocale(LC_MESSAGES, "");
	if (!call->sheet.words)
		call->sheet.words = locale ? words_find(locale) : NULL;
	if (!call->sheet.words)
		call->sheet.words = words_find("en");
	if (!call->how.paper)
		call->how.paper = paper_default();
}

static bool is_html(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, ".html") || !strcmp(dot, ".htm"));
}

static bool output_put(const struct call *call, const struct blob *made)
{
	const struct sheet *sheet = &call->sheet;

	if (call->printer && !printer_send(call->printer, *sheet->title ? sheet->title :
					   sheet->words->records, call->how.layout->duplex, made))
		return false;
	if (call->out && strcmp(call->out, "-"))
		return file_write(call->out, made->data, made->size, FILE_SECRET, call->force);
	if (call->out)
		fwrite(made->data, 1, made->size, stdout);
	return true;
}

static enum status sheet_print(struct call *call)
{
	struct blob logo = { 0 }, made = { 0 };
	struct print_how how = call->how;
	bool good = !call->logo || file_read(call->logo, &logo);

	how.logo = &logo;
	if (good)
		good = call->out && is_html(call->out) ? print_html(&call->sheet, &made) :
					    print_pdf(&call->sheet, &how, &made);
	if (good)
		good = output_put(call, &made);
	blob_wipe(&logo);
	blob_wipe(&made);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static void tables_use(struct call *call, const char *title)
{
	call->sheet.rows = call->rows.list;
	call->sheet.rows_count = call->rows.count;
	call->how.layout = &tables_layout;
	if (!*call->sheet.title)
		call->sheet.title = title;
}

/* Law 6: nobody may choose deals to play by their statistics. */
static bool statistics_make(struct call *call)
{
	if (dealbox_set_marks(call->input.set.set) & DEALBOX_MARK_UNPLAYED) {
		complain("after the session, run `dealbox played FILE`",
			 "the set is marked as not yet played; no statistics were made");
		return false;
	}
	statistics_add(&call->rows, &call->sheet);
	tables_use(call, call->sheet.words->statistics);
	return true;
}

static enum status boards_print(struct call *call)
{
	call->sheet.pack = dealbox_set_pack(call->input.set.set);
	call->sheet.boards = call->input.list;
	call->sheet.count = call->input.count;
	if (call->statistics && !statistics_make(call))
		return STATUS_INPUT;
	return sheet_print(call);
}

static enum status files_print(struct call *call)
{
	enum status status = print_input_read(&call->input, call->args->argv, call->args->argc);

	call->how.made = call->input.made;
	if (!status)
		status = boards_print(call);
	print_input_free(&call->input);
	return status;
}

/* A job that is dealt, of a part of its set: the other boards are not what the footer is about. */
static void job_boards_choose(struct call *call)
{
	struct boards dealt = { { 0 } };
	unsigned int count = 0;

	for (size_t i = 0; i < call->job.count; i++) {
		const unsigned int board = call->job.insertions[i].board;

		if (board > DEALBOX_BOARD_DEALT_MAX || boards_has(&dealt, board))
			continue;
		dealt.bits[board / 64] |= 1ULL << board % 64;
		count++;
	}
	if (count != call->job.boards || call->input.chosen)
		return;
	call->input.chosen = true;
	call->input.boards = dealt;
}

/* Take footer, session and date from the job where no option gives them. */
static void job_use(struct call *call)
{
	const struct words *words = call->sheet.words;

	print_job_footer(&call->job, words, call->footer);
	snprintf(call->qr, sizeof(call->qr), "dealbox ledger %s", call->job.head);
	call->sheet.qr = call->qr;
	if (!*call->sheet.footer)
		call->sheet.footer = call->footer;
	if (!*call->sheet.session)
		call->sheet.session = call->job.session;
	call->how.made = print_made(call->job.added / 1000000);
}

static bool job_read(struct call *call, sd_bus *bus)
{
	return bus ? print_job_read(bus, call->job_number, &call->job) :
		     print_job_of_ledger(call->ledger, call->job_number, &call->job);
}

static enum status deals_print(struct call *call, sd_bus *bus)
{
	enum status status = STATUS_INPUT;
	char path[32], *files[] = { path };
	int fd;

	if (call->statistics && !print_job_is_played(bus, &call->job))
		return STATUS_INPUT;
	fd = bus ? print_job_deals(bus, call->job.set) :
		   print_job_deals_of_ledger(call->ledger, call->job_number);
	if (fd < 0)
		return STATUS_INPUT;
	/* the head of the ledger after the record of this */
	print_job_free(&call->job);
	if (job_read(call, bus)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		job_boards_choose(call);
		status = print_input_read(&call->input, files, 1);
		job_use(call);
		if (!status)
			status = boards_print(call);
		print_input_free(&call->input);
	}
	close(fd);
	return status;
}

static enum status receipt_print(struct call *call)
{
	job_use(call);
	print_job_receipt(&call->rows, &call->job, call->sheet.words);
	tables_use(call, call->sheet.words->receipt);
	call->sheet.pack = dealbox_pack_bridge();
	return sheet_print(call);
}

/* Of the service, or of the ledger of who deals without it */
static enum status job_print(struct call *call)
{
	enum status status = STATUS_INPUT;
	sd_bus *bus = NULL;

	if (!call->ledger) {
		bus = service_open();
		if (!bus)
			return STATUS_MACHINE;
	}
	if (job_read(call, bus))
		status = call->receipt ? receipt_print(call) : deals_print(call, bus);
	print_job_free(&call->job);
	sd_bus_flush_close_unref(bus);
	return status;
}

static enum status print_run(struct args *args)
{
	struct call call = {
		.args = args, .how = { .layout = layout_get(0), .font = "sans", .made = -1 },
		.sheet = { .ten = "10", .title = "", .session = "", .set = "", .footer = "" },
	};
	enum status status;

	if (!options_take(&call))
		return args->status;
	if (!args->argc && !call.job_number)
		return args_wrong(args, "it needs the name of a file, or --job or --receipt");
	if (args->argc && call.job_number)
		return args_wrong(args, "a job of the service has its deals: give no file");
	if (call.ledger && !call.job_number)
		return args_wrong(args, "--ledger goes with --job or --receipt");
	/* only the service and the file of the deals know whether a set is played */
	if (call.ledger && call.statistics)
		return args_wrong(args, "give the file of the deals: a user's ledger has no mark "
					"of played sets");
	if (call.receipt && call.statistics)
		return args_wrong(args, "--receipt names no card: give --job, or a file of deals");
	if (!call.out && !call.printer)
		return args_wrong(args, "it needs -o FILE.pdf, -o FILE.html or --printer");
	if (call.out && call.printer && is_html(call.out))
		return args_wrong(args, "printers take PDF: give -o another name, or leave it out");
	defaults_set(&call);
	texts_clean(&call);
	status = call.job_number ? job_print(&call) : files_print(&call);
	rows_free(&call.rows);
	return status;
}

static const struct option_row print_options[] = {
	{ 'b', "boards", "LIST", "only these boards, as 1-16 or 1-8,11" },
	{ KEY_DOUBLE_DUMMY, "double-dummy", NULL, "add the tricks of each declarer, "
						  "par, and what makes" },
	OPT_FIRST,
	{ KEY_FONT, "font", "NAME", "family of letters (default: sans)" },
	{ KEY_FOOTER, "footer", "TEXT", "a line at the foot of each page" },
	{ KEY_FORCE, "force", NULL, "replace the file of -o when it is there already" },
	OPT_FROM,
	OPT_KEY,
	{ 'L', "language", "CODE", "nb, el, fr, ru or en (default: of the locale)" },
	{ 'l', "layout", "NAME", "pocket, wall, study, large, curtain, "
				 "curtain16 (default: pocket)" },
	{ KEY_JOB, "job", "JOB", "the deals of a job of the service, "
				 "for who may see cards; it is recorded" },
	{ KEY_LEDGER, "ledger", "FILE", "with --job or --receipt: of this ledger, "
					"not of the service" },
	{ KEY_LOGO, "logo", "FILE", "picture in the upper left corner: SVG or PNG" },
	{ 'o', "output", "FILE", "write this file: .html, or PDF with any other name; - is "
				 "standard output" },
	{ KEY_PACK, "pack", "NAME", "bridge or preferans, as `dealbox generate` writes it "
				    "(default: bridge)" },
	{ 'p', "paper", "NAME", "a4 or letter (default: of the locale)" },
	{ KEY_PRINTER, "printer", "NAME", "print on this printer (lp of CUPS)" },
	{ KEY_RECEIPT, "receipt", "JOB", "what was dealt in a job of the service, without cards" },
	{ KEY_SESSION, "session", "NAME", "name of the session" },
	{ KEY_SET, "set", "NAME", "name or number of the set" },
	{ KEY_STATISTICS, "statistics", NULL, "shapes and points of a played set, not its deals" },
	{ KEY_TEN, "ten", "10|T", "how to write a ten (default: 10)" },
	{ KEY_TITLE, "title", "TEXT", "title of the pages" },
	{ 0 }
};

const struct command cmd_print = {
	.name = "print",
	.operands = "[FILE...]",
	.summary = "Print hand records",
	.about = "Writes the deals of the files as pages to print (PDF), or as a page for people\n"
		 "who have it read to them (HTML). All files together are one set; - is standard\n"
		 "input. Do not print deals that you will play.\n"
		 "Layouts: pocket has 36 boards on two sides, wall 6 a page in 14 points, study\n"
		 "one a page with room for the auction, large two a page in 22 points. curtain\n"
		 "and curtain16 have a card for each hand, 9 or 16 on a sheet, to be printed on\n"
		 "both sides (turned over the long edge) and cut: the stack is in the order of\n"
		 "the boards. Their backs name board and seat only.\n"
		 "With --job: the deals of a job of the service; before all of its boards are\n"
		 "dealt, those of its whole set. Unless the set is marked as played and no job\n"
		 "of it is open, the service asks polkit whether you may see cards. It records\n"
		 "in the ledger that you did. --receipt prints board,\n"
		 "copy, time, machine and outcome of each insertion, no card; every operator may\n"
		 "have it. Both have the ledger's head in the footer, also as a QR code. With\n"
		 "--ledger they are of the ledger of who deals without the service.\n"
		 "A deal that is incomplete is printed as far as it is known, and marked so. The\n"
		 "file's date is SOURCE_DATE_EPOCH, or that of the first file of deals: the same\n"
		 "deals make the same file.",
	.options = print_options,
	.run = print_run,
};
