// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox: one program, one command for each thing that a person wants done.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <dealbox/version.h>

#include "ui/tool.h"

extern const struct command cmd_accept;
extern const struct command cmd_audit;
extern const struct command cmd_backup;
extern const struct command cmd_cancel;
extern const struct command cmd_capture;
extern const struct command cmd_certificate;
extern const struct command cmd_check;
extern const struct command cmd_completion;
extern const struct command cmd_convert;
extern const struct command cmd_deal;
extern const struct command cmd_doctor;
extern const struct command cmd_event;
extern const struct command cmd_generate;
extern const struct command cmd_help;
extern const struct command cmd_jobs;
extern const struct command cmd_law;
extern const struct command cmd_ledger;
extern const struct command cmd_locate;
extern const struct command cmd_log;
extern const struct command cmd_machines;
extern const struct command cmd_monitor;
extern const struct command cmd_number;
extern const struct command cmd_pause;
extern const struct command cmd_played;
extern const struct command cmd_print;
extern const struct command cmd_priority;
extern const struct command cmd_redeal;
extern const struct command cmd_release;
extern const struct command cmd_report;
extern const struct command cmd_restore;
extern const struct command cmd_resume;
extern const struct command cmd_seal;
extern const struct command cmd_set;
extern const struct command cmd_show;
extern const struct command cmd_skip;
extern const struct command cmd_square;
extern const struct command cmd_start;
extern const struct command cmd_status;
extern const struct command cmd_test;
extern const struct command cmd_unseal;
extern const struct command cmd_verify;
extern const struct command cmd_watch;

/* Every command, by name. Another one is one file and two lines here. */
const struct command *const commands[] = {
	&cmd_accept,
	&cmd_audit,
	&cmd_backup,
	&cmd_cancel,
	&cmd_capture,
	&cmd_certificate,
	&cmd_check,
	&cmd_completion,
	&cmd_convert,
	&cmd_deal,
	&cmd_doctor,
	&cmd_event,
	&cmd_generate,
	&cmd_help,
	&cmd_jobs,
	&cmd_law,
	&cmd_ledger,
	&cmd_locate,
	&cmd_log,
	&cmd_machines,
	&cmd_monitor,
	&cmd_number,
	&cmd_pause,
	&cmd_played,
	&cmd_print,
	&cmd_priority,
	&cmd_redeal,
	&cmd_release,
	&cmd_report,
	&cmd_restore,
	&cmd_resume,
	&cmd_seal,
	&cmd_set,
	&cmd_show,
	&cmd_skip,
	&cmd_square,
	&cmd_start,
	&cmd_status,
	&cmd_test,
	&cmd_unseal,
	&cmd_verify,
	&cmd_watch,
	NULL
};

static const struct command *command_find(const char *name)
{
	const struct command *const *c;

	for (c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	complain("`dealbox help` lists the commands", "there is no command '%s'", name);
	return NULL;
}

static enum status help_run(struct args *args)
{
	const struct command *about = NULL;
	const char *value;
	bool man = false;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		man |= key == 'm';
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc > !man)
		return args_wrong(args, man ? "--man is about all commands" :
				  "it needs one command, not %d", args->argc);
	if (args->argc) {
		about = command_find(args->argv[0]);
		if (!about)
			return STATUS_INPUT;
	}
	if (man)
		manual_print();
	else
		help_print(about);
	return STATUS_DONE;
}

static const struct option_row help_options[] = {
	{ 'm', "man", NULL, "write the section about all commands of the manual page" },
	{ 0 }
};

const struct command cmd_help = {
	.name = "help",
	.operands = "[COMMAND]",
	.summary = "Tell how a command is called",
	.about = "Without COMMAND: list the commands.",
	.options = help_options,
	.run = help_run,
};

int main(int argc, char **argv)
{
	const struct command *command;
	struct args args = { 0 };
	enum status status;

	/* no core dump, and no debugger of the same user, sees a card or a key */
	prctl(PR_SET_DUMPABLE, 0);
	if (argc < 2) {
		complain("`dealbox help` lists the commands", "no command given");
		return STATUS_INPUT;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help_print(NULL);
		status = STATUS_DONE;
	} else if (!strcmp(argv[1], "--version")) {
		puts("dealbox " DEALBOX_VERSION);
		status = STATUS_DONE;
	} else {
		command = command_find(argv[1]);
		if (!command)
			return STATUS_INPUT;
		args.command = command;
		args.argc = argc - 1;
		args.argv = argv + 1;
		status = command->run(&args);
	}
	/* an answer that did not reach its reader was not given */
	if (fflush(stdout) || ferror(stdout)) {
		complain("free some disk space and run it again",
			 "cannot write the output: %s", strerror(errno));
		return STATUS_INPUT;
	}
	return status;
}
