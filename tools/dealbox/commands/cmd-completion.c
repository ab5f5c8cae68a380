// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox completion: what a shell offers behind "dealbox <tab>", from the same
 * tables as the help.
 */
#include <stdio.h>
#include <string.h>

#include "ui/tool.h"

/* The words of --how, as dealbox-deal takes them. */
#define HOW_WORDS	"replay sets-in-a-row descending by-reader stop-card reversed-pockets by-position wait-for-start"

static void bash_print(void)
{
	const struct command *const *c;
	const struct option_row *row;
	size_t n;

	puts("# bash completion for dealbox, made by `dealbox completion bash`\n"
	     "_dealbox()\n"
	     "{\n"
	     "\tlocal cur prev words\n"
	     "\tcur=${COMP_WORDS[COMP_CWORD]}\n"
	     "\tprev=${COMP_WORDS[COMP_CWORD-1]}\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\t\twords='", stdout);
	for (c = commands; *c; c++)
		printf("%s%s", c == commands ? "" : " ", (*c)->name);
	puts("'\n"
	     "\telse\n"
	     "\t\tcase ${COMP_WORDS[1]} in");
	for (c = commands; *c; c++) {
		printf("\t\t%s) words='", (*c)->name);
		for (n = 0; (row = command_option(*c, n)); n++)
			printf("%s--%s", n ? " " : "", row->name);
		puts("' ;;");
	}
	puts("\t\t*) words= ;;\n"
	     "\t\tesac\n"
	     "\tfi\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ] || [[ $cur == -* ]]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	     "\telif [ \"$prev\" = --how ]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W '" HOW_WORDS "' -- \"$cur\")\n"
	     "\telif [ \"$prev\" = --lang ]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W 'nb el fr ru en' -- \"$cur\")\n"
	     "\telif [[ $prev == --machine || ' accept start release locate test ' == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_dealbox_ids status)\" -- \"$cur\")\n"
	     "\telif [[ ' jobs pause resume cancel priority skip redeal ' == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_dealbox_ids jobs)\" -- \"$cur\")\n"
	     "\telif [ \"$prev\" = help ]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_dealbox_commands)\" -- \"$cur\")\n"
	     "\telse\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	     "\tfi\n"
	     "}");
	/*
	 * Of jobs or machines, if the service runs. compgen expands the words, and a machine may have
	 * any text as its serial number, so only plain words are offered.
	 */
	puts("_dealbox_ids() { dealbox \"$1\" --json 2>/dev/null |\n"
	     "\tsed -n 's/.*\"id\": *\"\\{0,1\\}\\([A-Za-z0-9._:-]*\\)\"\\{0,1\\} *[,}].*/\\1/p'; }");
	fputs("_dealbox_commands() { echo '", stdout);
	for (c = commands; *c; c++)
		printf("%s%s", c == commands ? "" : " ", (*c)->name);
	puts("'; }\n"
	     "complete -o filenames -F _dealbox dealbox");
}

/* Text within '...[...]' of _arguments, in single quotes of the shell. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_print(void)
{
	const struct command *const *c;
	const struct option_row *row;
	size_t n;

	puts("#compdef dealbox\n"
	     "# zsh completion for dealbox, made by `dealbox completion zsh`\n"
	     "local -a commands\n"
	     "commands=(");
	for (c = commands; *c; c++) {
		printf("\t'%s:", (*c)->name);
		zsh_text((*c)->summary);
		puts("'");
	}
	puts(")\n"
	     "if (( CURRENT == 2 )); then\n"
	     "\t_describe command commands\n"
	     "\treturn\n"
	     "fi\n"
	     "case $words[2] in");
	for (c = commands; *c; c++) {
		printf("%s)\n\tshift words; (( CURRENT-- ))\n\t_arguments", (*c)->name);
		for (n = 0; (row = command_option(*c, n)); n++) {
			printf(" \\\n\t\t'--%s[", row->name);
			zsh_text(row->help);
			putchar(']');
			if (row->arg)
				printf(":%s:_files", row->arg);
			putchar('\'');
		}
		puts(" \\\n\t\t'*:file:_files' ;;");
	}
	puts("esac");
}

static enum status completion_run(struct args *args)
{
	const char *value;

	if (args_next(args, &value) == ARGS_STOP)
		return args->status;
	if (args->argc == 1 && !strcmp(args->argv[0], "bash"))
		bash_print();
	else if (args->argc == 1 && !strcmp(args->argv[0], "zsh"))
		zsh_print();
	else
		return args_wrong(args, "it needs the name of the shell, bash or zsh");
	return STATUS_DONE;
}

const struct command cmd_completion = {
	.name = "completion",
	.operands = "bash|zsh",
	.summary = "Write the completion file for a shell",
	.about = "The packages install it; by hand:\n"
		 "  dealbox completion bash > ~/.local/share/bash-completion/completions/dealbox",
	.run = completion_run,
};
