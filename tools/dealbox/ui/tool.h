/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the commands of dealbox: struct command, options, and output for people (stderr),
 * programs (--json) and the shell (exit status).
 *
 * Each command is a file, cmd-NAME.c, which defines `const struct command cmd_NAME`, listed in
 * commands[] of dealbox.c. Help, completion and the man page are made from these structures alone.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/set.h>

struct json_object;

/* Exit status of all commands. Scripts treat values that they do not know as failures. */
enum status {
	STATUS_DONE = 0,	/* done, and the answer is yes */
	STATUS_NO = 1,		/* done, and the answer is no */
	STATUS_INPUT = 2,	/* wrong usage or input */
	STATUS_MACHINE = 3,	/* failure of the machine or of the connection to it */
	STATUS_STOPPED = 130,	/* Ctrl-C, SIGTERM or SIGHUP: as a shell reports SIGINT */
};

/*
 * An option. key is its letter, or a number >= OPT_LONG if it has none. arg is the name of its
 * argument in the help, NULL if it takes none. A table of options ends with a row of zeroes.
 */
#define OPT_LONG	256
struct option_row {
	int key;
	const char *name;
	const char *arg;
	const char *help;
};

/* Options shared by several commands */
#define OPT_FROM	{ 'f', "from", "FORMAT", \
	"read as this format (default: recognised): pbn, dup, dlm, lin, ..." }
#define OPT_FIRST	{ KEY_FIRST, "first", "N", \
	"number of the first board, where the file gives its boards no numbers" }
#define KEY_FIRST	(OPT_LONG + 0xfe)
#define KEY_DOUBLE_DUMMY	(OPT_LONG + 0xfd)
#define OPT_JSON	{ 'j', "json", NULL, "write JSON for programs to standard output" }
#define OPT_MACHINE	{ 'm', "machine", "URI", \
	"the machine: local:/dev/dealbox0, usb:SERIAL, emu:PATH or hand: (default: the only one)" }
#define OPT_MACHINES	{ 'm', "machine", "MACHINE", \
	"its address (`dealbox machines`); or by the service its id (`dealbox status`), again " \
	"for more" }
/* Handled by args_next() */
#define OPT_PLAIN	{ KEY_PLAIN, "plain", NULL, \
	"for screen readers: whole lines only, no progress line and no bell" }
#define KEY_PLAIN	(OPT_LONG + 0xfc)
#define OPT_YES		{ 'y', "yes", NULL, "do not ask whether that is meant" }
#define OPT_REVEAL	{ OPT_LONG + 0xff, "reveal", NULL, \
			  "show cards (default: cards stay secret)" }
#define KEY_REVEAL	(OPT_LONG + 0xff)

struct args;

struct command {
	const char *name;
	const char *operands;	/* for the usage line, "" if none */
	const char *summary;	/* one line, no full stop */
	const char *about;	/* paragraphs, in lines of at most 78 columns */
	const struct option_row *options;	/* NULL if there is only --help */
	enum status (*run)(struct args *args);
};

extern const struct command *const commands[];	/* sorted by name, terminated by NULL */

/* Return option n of a command; --help is the last. NULL beyond it. */
const struct option_row *command_option(const struct command *command, size_t n);

/*
 * The arguments of a command. args_next() iterates over the options; once it returns ARGS_END,
 * argv[0..argc-1] are the operands.
 */
struct args {
	const struct command *command;
	int argc;
	char **argv;
	enum status status;	/* exit status, if args_next() returned ARGS_STOP */
};

#define ARGS_END	(-1)
#define ARGS_STOP	(-2)

/*
 * Return the key of the next option, with its argument in *value, which points into argv; NULL if
 * it takes none. Returns ARGS_END after the last. Returns ARGS_STOP if the command should exit with
 * args->status, after printing the help or an error.
 */
int args_next(struct args *args, const char **value);

/* Report wrong operands, with a hint at the help. Returns STATUS_INPUT. */
enum status args_wrong(const struct args *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One of the things that a command can do, named by its first operand. */
struct call;	/* each command has its own */
struct action_row {
	const char *name;
	int least, most;	/* operands, with the name */
	const char *wants;	/* these operands, in words */
	enum status (*run)(struct call *call);
};

/*
 * Find the action that was asked for in a table that ends with a row without a name. Returns NULL
 * if there is none, or if its operands are too few or too many, after reporting so: STATUS_INPUT.
 */
const struct action_row *args_action(const struct args *args, const struct action_row *rows);

/*
 * Parse the arguments of a command that has no option but --json and no operand. Returns false if
 * the command should exit with args->status.
 */
bool args_only_json(struct args *args, bool *json);

/*
 * Parse a decimal number. Returns false, after reporting an error with the name of the option, if
 * it is not valid or not within min..max.
 */
bool args_number(const struct args *args, const char *option, const char *text,
		 unsigned long min, unsigned long max, unsigned long *out);

/*
 * A set of board numbers: bit n % 64 of word n / 64. Board 0 does not exist. args_boards() adds
 * those of text, such as "1-8,11", since the option may be repeated. It returns false after
 * reporting an error.
 */
struct boards {
	uint64_t bits[DEALBOX_BOARD_DEALT_MAX / 64 + 1];
};
bool args_boards(const struct args *args, const char *option, const char *text,
		 struct boards *out);
bool boards_has(const struct boards *boards, unsigned int board);

/* Print the help of a command, or of dealbox (NULL), to standard output. */
void help_print(const struct command *command);

/* Print the commands for dealbox(1), in mdoc(7), to standard output. */
void manual_print(void);

/*
 * Report an error on standard error: what is wrong and where, and in a second line what to do next
 * (NULL or empty for none). It contains no card unless the user asked to reveal. Clears the
 * progress line. Here and in say() and put(), control characters are replaced, since names of files
 * and machines are external text.
 */
void complain(const char *next, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Print a line for people to standard output, after clearing the progress line. With --json,
 * commands print JSON instead.
 */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Colours that only repeat what the words say. */
enum tone {
	TONE_PLAIN,
	TONE_GOOD,	/* green: a board is exact */
	TONE_BAD,	/* red: a board is void */
	TONE_CALL,	/* yellow: somebody has to come */
};

/*
 * The same as say(), in a colour if standard output is a terminal. Never with --plain, nor with
 * NO_COLOR in the environment.
 */
void say_in(enum tone tone, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for part of a line, or several lines. */
void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Make the object of a line. kind says what the line is about. docs/json.md lists all kinds, and
 * the one type that each key has in all of them.
 */
struct json_object *json_line(const char *kind);

/*
 * Print the object of a line to standard output, and put it. Each line of --json is such an object.
 */
void json_say(struct json_object *object);

/*
 * Add a member. What is not known is left out: json_add_text() adds nothing if text is NULL or
 * empty, and json_add_known() nothing if number is 0. Bytes of a text that are not UTF-8 are read
 * as Latin-1.
 */
void json_add_text(struct json_object *object, const char *name, const char *text);
void json_add_number(struct json_object *object, const char *name, int64_t number);
void json_add_known(struct json_object *object, const char *name, int64_t number);
void json_add_real(struct json_object *object, const char *name, double number);
void json_add_bool(struct json_object *object, const char *name, bool value);

/* Get a member that is an integer of 32 bits. Returns false if there is none. */
bool json_get_number(struct json_object *object, const char *name, uint32_t *out);

/* Get a member that is text; it lives as long as object. Returns NULL if there is none. */
const char *json_get_text(struct json_object *object, const char *name);

/*
 * Ask a question on standard error. Returns true if the answer on standard input starts with y, or
 * without asking if yes. Otherwise, also at the end of input, reports that nothing was done and
 * returns false.
 */
bool confirm(bool yes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Create a signalfd for SIGINT, SIGTERM and SIGHUP, which no longer end the program, so that it can
 * pause a machine first. The caller closes it. Returns -1 after reporting an error.
 */
int signals_take(void);

/*
 * Show a progress line on standard error, if that is a terminal, and not with --plain. The text
 * replaces that of the last call; NULL clears it.
 */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return true if somebody sees the progress line: its numbers may cost reads. */
bool progress_seen(void);

/* Returns true with --plain. */
bool is_plain(void);

/*
 * Ring the bell of the terminal, if standard error is one, and not with --plain: somebody has to
 * come to a machine.
 */
void bell(void);

#endif
