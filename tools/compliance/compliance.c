// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox-compliance: tests whether a machine keeps the dealing machine protocol. */
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compliance.h"
#include "dealbox/law.h"
#include "front.h"
#include "requirements.h"

#define STATUS_FAILED	1
#define STATUS_USAGE	2
#define STATUS_MACHINE	3
#define PATTERNS_MAX	64

static const struct option_row {
	const char *name, *arg, *help;
	char letter;
} option_rows[] = {
	{ "list", NULL, "the tests and the requirements that each proves; tests nothing", 'l' },
	{ "requirements", NULL, "the requirements, with their tests or why there is none", 'r' },
	{ "only", "PATTERN", "only these tests: a group, or GROUP/TEST, "
			     "with * and ?; may be repeated", 'o' },
	{ "json", "FILE", "write the report as JSON", 'j' },
	{ "junit", "FILE", "write the results as JUnit XML", 'x' },
	{ "html", "FILE", "write the report as a page for people", 'p' },
	{ "key", "FILE", "sign the report with the key of `dealbox certificate new-key`", 'k' },
	{ "profile", "PROFILE", "judge by these limits: club, kiosk, championship, or a file",
	  'q' },
	{ "signer", "KEY", "with verify: the public key that must have signed", 's' },
	{ "paper", "NAME", "with print: a4 or letter (default: of the locale)", 'a' },
	{ "fixture", "PROGRAM", "a program does the steps of a person, a line each", 'f' },
	{ "emulator", "PATH", "control socket of dealbox-emulator --manual, which does them", 'e' },
	{ "lang", "LANGUAGE", "tell a person in nb, el, fr, ru or en (default: en)", 'L' },
	{ "unattended", NULL, "run only what needs neither person nor fixture", 'u' },
	{ "help", NULL, "this text", 'h' },
	{ "version", NULL, "the version", 'V' },
};

#define OPTIONS	(sizeof(option_rows) / sizeof(*option_rows))

static const char *patterns[PATTERNS_MAX];
static unsigned int pattern_count;

static void help(void)
{
	size_t i;

	puts("usage: dealbox-compliance [OPTION...] ADDRESS\n"
	     "       dealbox-compliance --list | --requirements\n"
	     "       dealbox-compliance verify [--signer KEY] REPORT\n"
	     "       dealbox-compliance compare REPORT REPORT\n"
	     "       dealbox-compliance print [--paper NAME] REPORT FILE.pdf\n"
	     "Tests whether a machine keeps the dealing machine protocol. It deals boards: put no\n"
	     "board in that is to be played. ADDRESS is usb:, usb:PLACE, local:NODE or\n"
	     "emu:PATH.\n"
	     "\n"
	     "Options:");
	for (i = 0; i < OPTIONS; i++) {
		int width = printf("  --%s%s%s", option_rows[i].name, option_rows[i].arg ? " " : "",
				   option_rows[i].arg ? option_rows[i].arg : "");

		printf("%*s%s\n", width < 22 ? 22 - width : 2, "", option_rows[i].help);
	}
	puts("\nExit status: 0 no requirement is violated; 1 one is, or a limit of the profile is\n"
	     "refuted; 2 usage; 3 there is no machine, or the report cannot be written; 130\n"
	     "interrupted. verify: 1 another signer, or a wrong signature. compare: 1 worse.\nSee "
	     "dealbox-compliance(1).");
}

static bool chosen(const struct test_row *row)
{
	char name[100];
	unsigned int i;

	snprintf(name, sizeof(name), "%s/%s", row->group, row->name);
	for (i = 0; i < pattern_count; i++)
		if (!fnmatch(patterns[i], row->group, 0) || !fnmatch(patterns[i], name, 0))
			return true;
	return !pattern_count;
}

static void list(void)
{
	const struct test_row *const *table, *row;

	for (table = test_tables; *table; table++)
		for (row = *table; row->name; row++)
			if (chosen(row))
				printf("%s/%s: %s [%s]\n", row->group, row->name, row->what,
				       row->requirements);
}

static void list_requirements(void)
{
	const struct requirement *requirement;
	const struct test_row *const *table, *row;

	for (requirement = requirements; requirement->number; requirement++) {
		printf("%s:", requirement->number);
		for (table = test_tables; *table; table++)
			for (row = *table; row->name; row++)
				if (row_proves(row, requirement->number))
					printf(" %s/%s", row->group, row->name);
		if (requirement->why_not)
			printf(" not testable: %s", requirement->why_not);
		putchar('\n');
	}
}

static void on_signal(int number)
{
	(void)number;
	run_interrupt();
}

/* Return a language that sentences are translated into, NULL after a message. */
static const char *language_of(const char *name)
{
	const char *language;
	size_t n;

	for (n = 0; (language = dealbox_law_language(n)); n++)
		if (!strcmp(name, language))
			return language;
	fprintf(stderr, "dealbox-compliance: --lang %s: the languages are nb, el, fr, ru and en\n",
		name);
	return NULL;
}

static int finish(const struct run *r, struct outputs *outputs)
{
	bool complete = json_object_get_boolean(json_object_object_get(r->report, "complete"));
	bool refuted;

	if (!outputs_write(outputs, r->report, &refuted))
		return STATUS_MACHINE;
	if (!complete)
		return 130;
	return r->counts[RESULT_FAIL] || refuted ? STATUS_FAILED : 0;
}

int compliance(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct option longs[OPTIONS + 1] = { 0 };
	static struct run run;
	struct outputs outputs = { 0 };
	int letter, status;
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "verify"))
		return front_verify(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "compare"))
		return front_compare(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "print"))
		return front_print(argc - 1, argv + 1);
	for (i = 0; i < OPTIONS; i++)
		longs[i] = (struct option){ option_rows[i].name, option_rows[i].arg ?
			required_argument : no_argument, NULL, option_rows[i].letter };
	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (letter) {
		case 'l':
			list();
			return 0;
		case 'r':
			list_requirements();
			return 0;
		case 'o':
			if (pattern_count < PATTERNS_MAX)
				patterns[pattern_count++] = optarg;
			break;
		case 'j':
			outputs.json = optarg;
			break;
		case 'x':
			outputs.junit = optarg;
			break;
		case 'p':
			outputs.html = optarg;
			break;
		case 'k':
			outputs.key = optarg;
			break;
		case 'q':
			outputs.profile = optarg;
			break;
		case 'f':
			run.hands.program = optarg;
			break;
		case 'e':
			run.hands.control = optarg;
			break;
		case 'L':
			run.hands.language = language_of(optarg);
			if (!run.hands.language)
				return STATUS_USAGE;
			break;
		case 'u':
			run.hands.unattended = true;
			break;
		case 'h':
			help();
			return 0;
		case 'V':
			puts("dealbox-compliance " COMPLIANCE_VERSION);
			return 0;
		default:
			return STATUS_USAGE;
		}
	}
	if (optind + 1 != argc) {
		fputs("dealbox-compliance: one address of a machine is needed; see --help\n",
		      stderr);
		return STATUS_USAGE;
	}
	run.address = argv[optind];
	if (run.hands.program && run.hands.control) {
		fputs("dealbox-compliance: --fixture and --emulator exclude each other\n", stderr);
		return STATUS_USAGE;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (!outputs_open(&outputs)) {
		outputs_close(&outputs);
		return STATUS_USAGE;
	}
	if (outputs.limits.endurance.bad > 0)
		run.endurance = &outputs.limits.endurance;
	status = run_tests(&run, chosen) ? finish(&run, &outputs) : STATUS_MACHINE;
	outputs_close(&outputs);
	json_object_put(run.report);
	return status;
}
