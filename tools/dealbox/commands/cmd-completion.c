// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox completion: what a shell offers behind "dealbox <tab>", from the same
 * tables as the help.
 */
#include <stdio.h>
#include <string.h>

#include "ui/tool.h"

/* Words that an option takes. */
static const struct {
	const char *option, *words;
} values[] = {
	{ "how", "replay sets-in-a-row descending by-reader stop-card "
		 "reversed-pockets by-position wait-for-start" },
	{ "lang", "nb el fr ru en" },
	{ "turn", "N E S W" },
};

/* Commands whose operands another command lists, and the key of its JSON that has them. */
static const struct {
	const char *list, *key, *commands;
} operands[] = {
	{ "status", "machine", " accept start release locate test " },
	{ "jobs", "job", " jobs pause resume cancel priority skip redeal " },
};

#define COUNT(table)	(sizeof(table) / sizeof((table)[0]))

/* Return the command that lists the operands of this one, or NULL. */
static const char *operand_list(const char *command)
{
	char word[32];

	snprintf(word, sizeof(word), " %s ", command);
	for (size_t n = 0; n < COUNT(operands); n++)
		if (strstr(operands[n].commands, word))
			return operands[n].list;
	return NULL;
}

/*
 * Of jobs or machines, if the service runs. The shell expands the words, and a machine may have any
 * text as its serial number, so only plain words are offered.
 */
static void ids_print(void)
{
	puts("_dealbox_ids() { dealbox \"$1\" --json 2>/dev/null |\n"
	     "\tsed -n 's/.*\"'\"$2\"'\": *"
	     "\"\\{0,1\\}\\([A-Za-z0-9._:-]*\\)\"\\{0,1\\} *[,}].*/\\1/p'\n"
	     "}");
}

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
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")");
	for (n = 0; n < COUNT(values); n++)
		printf("\telif [ \"$prev\" = --%s ]; then\n"
		       "\t\tmapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\")\n",
		       values[n].option, values[n].words);
	puts("\telif [ \"$prev\" = --machine ]; then\n"
	     "\t\tmapfile -t COMPREPLY < <"
	     "(compgen -W \"$(_dealbox_ids status machine)\" -- \"$cur\")");
	for (n = 0; n < COUNT(operands); n++)
		printf("\telif [[ '%s' == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
		       "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_dealbox_ids %s %s)\" -- "
		       "\"$cur\")\n",
		       operands[n].commands, operands[n].list, operands[n].key);
	puts("\telif [ \"$prev\" = help ]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_dealbox_commands)\" -- \"$cur\")\n"
	     "\telse\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	     "\tfi\n"
	     "}");
	ids_print();
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

/* Print the part of an _arguments specification that completes an option's value. */
static void zsh_value(const struct option_row *row)
{
	size_t n;

	for (n = 0; n < COUNT(values) && strcmp(values[n].option, row->name); n++)
		;
	if (n < COUNT(values))
		printf(":%s:(%s)", row->arg, values[n].words);
	else if (!strcmp(row->name, "machine"))
		printf(":%s:_dealbox_status", row->arg);
	else
		printf(":%s:_files", row->arg);
}

static void zsh_print(void)
{
	const struct command *const *c;
	const struct option_row *row;
	size_t n;

	puts("#compdef dealbox\n"
	     "# zsh completion for dealbox, made by `dealbox completion zsh`\n"
	     "local -a commands");
	ids_print();
	for (n = 0; n < COUNT(operands); n++)
		printf("_dealbox_%s() { compadd -- ${(f)\"$(_dealbox_ids %s %s)\"}; }\n",
		       operands[n].list, operands[n].list, operands[n].key);
	puts("commands=(");
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
				zsh_value(row);
			putchar('\'');
		}
		if (operand_list((*c)->name))
			printf(" \\\n\t\t'*:id:_dealbox_%s' ;;\n", operand_list((*c)->name));
		else
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
