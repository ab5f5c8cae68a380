// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shared by the commands: options, help, and output for people and programs. */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <dealbox/report.h>

#include "tool.h"

#define OPTIONS_MAX	32

static const struct option_row help_row = {
	'h', "help", NULL, "show this help"
};

const struct option_row *command_option(const struct command *command, size_t n)
{
	size_t own = 0;

	while (command->options && command->options[own].name)
		own++;
	if (n < own)
		return &command->options[n];
	return n == own ? &help_row : NULL;
}

/* Arguments of getopt_long(3), made from the rows */
struct getopt_tables {
	char letters[2 * OPTIONS_MAX + 2];
	struct option longs[OPTIONS_MAX + 1];
};

static void tables_make(const struct command *command, struct getopt_tables *t)
{
	const struct option_row *row;
	char *letter = t->letters;
	size_t n;

	memset(t, 0, sizeof(*t));
	*letter++ = ':';
	for (n = 0; (row = command_option(command, n)); n++) {
		if (n == OPTIONS_MAX)
			abort();
		t->longs[n].name = row->name;
		t->longs[n].has_arg = row->arg ? required_argument : no_argument;
		t->longs[n].val = row->key;
		if (row->key >= OPT_LONG)
			continue;
		*letter++ = (char)row->key;
		if (row->arg)
			*letter++ = ':';
	}
}

static bool plain;	/* --plain */

int args_next(struct args *args, const char **value)
{
	struct getopt_tables tables;
	const char *word;
	int key;

	tables_make(args->command, &tables);
	opterr = 0;
	key = getopt_long(args->argc, args->argv, tables.letters, tables.longs, NULL);
	*value = optarg;
	switch (key) {
	case -1:
		args->argc -= optind;
		args->argv += optind;
		return ARGS_END;
	case 'h':
		help_print(args->command);
		args->status = STATUS_DONE;
		return ARGS_STOP;
	case KEY_PLAIN:
		plain = true;
		return args_next(args, value);
	case ':':
		args->status = args_wrong(args, "%s needs an argument", args->argv[optind - 1]);
		return ARGS_STOP;
	case '?':
		/* optopt is set for a letter, and for a long option with an unexpected argument. */
		word = args->argv[optind - 1];
		if (optopt && !strchr(word, '='))
			args->status = args_wrong(args, "there is no option -%c", optopt);
		else
			args->status = args_wrong(args, "there is no option %s%s", word,
						  optopt ? ": it takes no argument" : "");
		return ARGS_STOP;
	default:
		return key;
	}
}

enum status args_wrong(const struct args *args, const char *format, ...)
{
	char what[256], next[128];
	va_list list;

	va_start(list, format);
	vsnprintf(what, sizeof(what), format, list);
	va_end(list);
	snprintf(next, sizeof(next), "see `dealbox help %s`", args->command->name);
	complain(next, "%s: %s", args->command->name, what);
	return STATUS_INPUT;
}

/* "list, show or verify" */
static void names_join(const struct action_row *rows, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t n = 0; rows[n].name && used < size; n++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", !n ? "" :
					 rows[n + 1].name ? ", " : " or ", rows[n].name);
}

const struct action_row *args_action(const struct args *args, const struct action_row *rows)
{
	const struct action_row *row;
	char names[128];

	names_join(rows, names, sizeof(names));
	if (!args->argc) {
		args_wrong(args, "it needs %s", names);
		return NULL;
	}
	for (row = rows; row->name && strcmp(row->name, args->argv[0]); row++)
		;
	if (!row->name)
		args_wrong(args, "it needs %s, not '%s'", names, args->argv[0]);
	else if (args->argc < row->least || args->argc > row->most)
		args_wrong(args, "%s needs %s", row->name, row->wants);
	else
		return row;
	return NULL;
}

/* Parse a number at *text and advance *text. Returns false if there is none. */
static bool number_take(const char **text, unsigned long *out)
{
	char *end;

	/* strtoul() accepts a sign and spaces. */
	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*out = strtoul(*text, &end, 10);
	*text = end;
	return !errno;
}

bool args_only_json(struct args *args, bool *json)
{
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		*json |= key == 'j';
	if (key == ARGS_STOP)
		return false;
	if (args->argc)
		args->status = args_wrong(args, "it takes no operand: '%s'", args->argv[0]);
	return !args->argc;
}

bool args_number(const struct args *args, const char *option, const char *text,
		 unsigned long min, unsigned long max, unsigned long *out)
{
	const char *rest = text;

	if (number_take(&rest, out) && !*rest && *out >= min && *out <= max)
		return true;
	args_wrong(args, "--%s needs a number from %lu to %lu, not '%s'", option, min, max, text);
	return false;
}

bool boards_has(const struct boards *boards, unsigned int board)
{
	return board <= DEALBOX_BOARD_DEALT_MAX && (boards->bits[board / 64] >> (board % 64) & 1);
}

bool args_boards(const struct args *args, const char *option, const char *text,
		 struct boards *out)
{
	const char *rest = text;
	unsigned long first, last;

	do {
		if (!number_take(&rest, &first))
			goto wrong;
		last = first;
		if (*rest == '-') {
			rest++;
			if (!number_take(&rest, &last))
				goto wrong;
		}
		if (!first || last < first || last > DEALBOX_BOARD_DEALT_MAX)
			goto wrong;
		for (; first <= last; first++)
			out->bits[first / 64] |= 1ULL << (first % 64);
	} while (*rest++ == ',');
	if (!rest[-1])
		return true;
wrong:
	args_wrong(args, "--%s needs board numbers such as 1-8,11, not '%s'", option, text);
	return false;
}

static void row_print(const struct option_row *row)
{
	char left[64];
	int n = 0;

	if (row->key < OPT_LONG)
		n = snprintf(left, sizeof(left), "-%c, ", row->key);
	else
		n = snprintf(left, sizeof(left), "    ");
	snprintf(left + n, sizeof(left) - n, "--%s%s%s", row->name, row->arg ? " " : "",
		 row->arg ? row->arg : "");
	printf("  %-24s %s\n", left, row->help);
}

void help_print(const struct command *command)
{
	const struct option_row *row;
	size_t n;

	if (command) {
		printf("usage: dealbox %s [OPTION...]%s%s\n\n%s.\n\n%s\n\nOptions:\n",
		       command->name, *command->operands ? " " : "", command->operands,
		       command->summary, command->about);
		for (n = 0; (row = command_option(command, n)); n++)
			row_print(row);
	} else {
		printf("usage: dealbox COMMAND [OPTION...] [OPERAND...]\n\nCommands:\n");
		for (n = 0; commands[n]; n++)
			printf("  %-12s %s\n", commands[n]->name, commands[n]->summary);
		printf("\n"
		       "`dealbox help COMMAND` or `dealbox COMMAND --help` describes a command.\n");
	}
	printf("\nExit status: 0 done, 1 the answer is no, 2 usage or input, 3 machine.\n");
}

static bool progress_shown;

static void progress_clear(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/*
 * The output contains external text (names of files, machines, sessions) that must not control the
 * terminal. Replace control characters other than line ends.
 */
static void safe_put(FILE *out, const char *format, va_list list)
{
	char *text, *safe, *at;
	size_t length;

	if (vasprintf(&text, format, list) < 0)
		return;
	/* A byte of Latin-1 becomes two in UTF-8. */
	safe = malloc(2 * strlen(text) + 1);
	for (at = text; safe; at += length + 1) {
		length = strcspn(at, "\n\t");
		dealbox_text_safe(at, length, safe, 2 * length + 1);
		fputs(safe, out);
		if (!at[length])
			break;
		putc(at[length], out);
	}
	free(safe);
	free(text);
}

static void line_put(FILE *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	safe_put(out, format, list);
	va_end(list);
}

void put(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	safe_put(stdout, format, list);
	va_end(list);
}

bool progress_seen(void)
{
	return !plain && isatty(STDERR_FILENO);
}

void progress(const char *format, ...)
{
	va_list list;

	if (!progress_seen())
		return;
	progress_clear();
	if (!format)
		return;
	va_start(list, format);
	safe_put(stderr, format, list);
	va_end(list);
	progress_shown = true;
}

bool is_plain(void)
{
	return plain;
}

void bell(void)
{
	if (progress_seen())
		fputc('\a', stderr);
}

void complain(const char *next, const char *format, ...)
{
	va_list list;

	fflush(stdout);
	progress_clear();
	fputs("dealbox: ", stderr);
	va_start(list, format);
	safe_put(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	if (next && *next)
		line_put(stderr, "         %s\n", next);
}

void say(const char *format, ...)
{
	va_list list;

	progress_clear();
	va_start(list, format);
	safe_put(stdout, format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

static bool has_colours(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !plain && (!no || !*no) && term && strcmp(term, "dumb") && isatty(STDOUT_FILENO);
}

void say_in(enum tone tone, const char *format, ...)
{
	static const char *const codes[] = {
		[TONE_GOOD] = "\033[32m", [TONE_BAD] = "\033[31m", [TONE_CALL] = "\033[33m",
	};
	bool coloured = tone != TONE_PLAIN && has_colours();
	va_list list;

	progress_clear();
	if (coloured)
		fputs(codes[tone], stdout);
	va_start(list, format);
	safe_put(stdout, format, list);
	va_end(list);
	if (coloured)
		fputs("\033[m", stdout);
	putchar('\n');
	fflush(stdout);
}

void json_say(struct json_object *object)
{
	progress_clear();
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(object);
}

struct json_object *json_line(const char *kind)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "kind", kind);
	return object;
}

/*
 * Return the length of the UTF-8 character at text, 0 if it is not valid: also if it is longer than
 * necessary, a surrogate, or beyond U+10FFFF.
 */
static size_t utf8_size(const unsigned char *text)
{
	const unsigned char least = text[0] == 0xe0 ? 0xa0 : text[0] == 0xf0 ? 0x90 : 0x80;
	const unsigned char most = text[0] == 0xed ? 0x9f : text[0] == 0xf4 ? 0x8f : 0xbf;
	size_t size = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 :
		      text[0] >= 0xe0 && text[0] < 0xf0 ? 3 :
		      text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : 0;

	if (size > 1 && (text[1] < least || text[1] > most))
		return 0;
	for (size_t i = 2; i < size; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

void json_add_text(struct json_object *object, const char *name, const char *text)
{
	char *valid, *end;

	if (!text || !*text)
		return;
	valid = end = malloc(2 * strlen(text) + 1);
	if (!valid)
		abort();
	while (*text) {
		const unsigned char byte = (unsigned char)*text;
		size_t size = utf8_size((const unsigned char *)text);

		if (size) {
			end = mempcpy(end, text, size);
		} else {
			*end++ = (char)(0xc0 | byte >> 6);
			*end++ = (char)(0x80 | (byte & 0x3f));
		}
		text += size ? size : 1;
	}
	*end = '\0';
	json_object_object_add(object, name, json_object_new_string(valid));
	/* it may be a deal */
	explicit_bzero(valid, (size_t)(end - valid));
	free(valid);
}

void json_add_known(struct json_object *object, const char *name, int64_t number)
{
	if (number)
		json_add_number(object, name, number);
}

void json_add_real(struct json_object *object, const char *name, double number)
{
	json_object_object_add(object, name, json_object_new_double(number));
}

void json_add_bool(struct json_object *object, const char *name, bool value)
{
	json_object_object_add(object, name, json_object_new_boolean(value));
}

void json_add_number(struct json_object *object, const char *name, int64_t number)
{
	json_object_object_add(object, name, json_object_new_int64(number));
}

bool json_get_number(struct json_object *object, const char *name, uint32_t *out)
{
	struct json_object *member;
	int64_t value;

	if (!json_object_object_get_ex(object, name, &member) ||
	    !json_object_is_type(member, json_type_int))
		return false;
	value = json_object_get_int64(member);
	*out = (uint32_t)value;
	return value >= 0 && value <= UINT32_MAX;
}

const char *json_get_text(struct json_object *object, const char *name)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, name, &member) ||
	    !json_object_is_type(member, json_type_string))
		return NULL;
	return json_object_get_string(member);
}

bool confirm(bool yes, const char *format, ...)
{
	char first = '\0', key;
	va_list list;
	size_t n;

	if (yes)
		return true;
	fflush(stdout);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputs(" [y/N] ", stderr);
	/* Read byte by byte, to leave the input after this line to other readers. */
	for (n = 0; read(STDIN_FILENO, &key, 1) == 1 && key != '\n'; n++)
		if (!n)
			first = key;
	if (!n || key != '\n')
		fputc('\n', stderr);
	if (first == 'y' || first == 'Y')
		return true;
	complain("answer y, or give --yes", "nothing was done");
	return false;
}

int signals_take(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		complain("close other programs", "cannot wait for signals: %m");
	return fd;
}
