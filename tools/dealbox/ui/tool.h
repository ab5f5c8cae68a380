/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the commands of dealbox share: the shape of a command, its options, and
 * how it speaks to people (stderr), to programs (--json) and to the shell (exit
 * status).
 *
 * A command is one file, cmd-NAME.c, which defines `const struct command
 * cmd_NAME`; commands[] in main.c names it. Help, completion and the list of
 * commands are made from these structures and from nothing else.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/set.h>

struct json_object;

/* Exit status of every command. */
enum status {
	STATUS_DONE = 0,	/* done, and the answer is yes */
	STATUS_NO = 1,		/* done, and the answer is no */
	STATUS_INPUT = 2,	/* usage, or input that cannot be used */
	STATUS_MACHINE = 3,	/* the machine, or the way to it */
};

/*
 * An option: key is its letter, or a number from OPT_LONG on when it has none.
 * arg is the word that stands for its argument in the help, NULL when it takes
 * none. A table of options ends with a row of zeros.
 */
#define OPT_LONG	256
struct option_row {
	int key;
	const char *name;
	const char *arg;
	const char *help;
};

/* Rows that mean the same in every command that has them. */
#define OPT_FROM	{ 'f', "from", "FORMAT", \
	"read as this format (default: recognised): pbn, dup, dlm, lin, ..." }
#define OPT_FIRST	{ KEY_FIRST, "first", "N", \
	"number of the first board, where the file gives its boards no numbers" }
#define KEY_FIRST	(OPT_LONG + 0xfe)
#define OPT_JSON	{ 'j', "json", NULL, "write JSON for programs to standard output" }
#define OPT_MACHINE	{ 'm', "machine", "URI", \
	"the machine: local:/dev/dealbox0, usb:SERIAL or emu:PATH (default: the only one)" }
#define OPT_MACHINES	{ 'm', "machine", "MACHINE", \
	"its address (`dealbox machines`); or by the service its id (`dealbox status`), again for more" }
#define OPT_YES		{ 'y', "yes", NULL, "do not ask whether that is meant" }
#define OPT_REVEAL	{ OPT_LONG + 0xff, "reveal", NULL, "show cards (default: cards stay secret)" }
#define KEY_REVEAL	(OPT_LONG + 0xff)

struct args;

struct command {
	const char *name;
	const char *operands;	/* as in the usage line, "" if none */
	const char *summary;	/* one line, no full stop */
	const char *about;	/* a paragraph or more; lines of at most 78 */
	const struct option_row *options;	/* NULL if none but --help */
	enum status (*run)(struct args *args);
};

extern const struct command *const commands[];	/* by name; ends with NULL */

/* Row n of the options of a command, --help behind its own; NULL beyond the last. */
const struct option_row *command_option(const struct command *command, size_t n);

/*
 * The arguments of one call. args_next() walks the options; when it has
 * returned -1, argv[0..argc-1] are the operands.
 */
struct args {
	const struct command *command;
	int argc;
	char **argv;
	enum status status;	/* when args_next() returned ARGS_STOP */
};

#define ARGS_END	(-1)
#define ARGS_STOP	(-2)

/*
 * The next option: its key, with its argument in *value (NULL when it takes
 * none; it lives as long as argv). ARGS_END after the last. ARGS_STOP when the
 * command has nothing more to do: help was asked for, or the options are wrong
 * and that has been said; the command then returns args->status.
 */
int args_next(struct args *args, const char **value);

/* Says that the operands are wrong, and how to get help. Returns STATUS_INPUT. */
enum status args_wrong(const struct args *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The options of a command that has --json only, and no operand. False when it
 * has nothing more to do: it then returns args->status.
 */
bool args_only_json(struct args *args, bool *json);

/*
 * Reads the decimal number in text. False when it is none, or not within
 * min..max: then it has been said, naming the option.
 */
bool args_number(const struct args *args, const char *option, const char *text,
		 unsigned long min, unsigned long max, unsigned long *out);

/*
 * A set of board numbers, "1-8,11": bit n of word n / 64. Board 0 does not
 * exist. Adds those of text to out, since the option may be given more than once.
 * False, and said, when text is not such a list.
 */
struct boards {
	uint64_t bits[DEALBOX_BOARD_DEALT_MAX / 64 + 1];
};
bool args_boards(const struct args *args, const char *option, const char *text,
		 struct boards *out);
bool boards_has(const struct boards *boards, unsigned int board);

/* Writes the help of a command, or without one of dealbox, to standard output. */
void help_print(const struct command *command);

/* Writes what dealbox(1) has about the commands, in mdoc(7), to standard output. */
void manual_print(void);

/*
 * Says on standard error what is wrong and where, and in a second line what to
 * do next (NULL or empty: nothing can be done). Never with the value of a card, unless
 * the caller asked to reveal. Clears the progress line first. As in all that people read here,
 * what a terminal would obey is taken out: names of files and machines come from others.
 */
void complain(const char *next, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Writes a line for people to standard output, after clearing the progress
 * line. With --json a command writes JSON instead, and does not call this.
 */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a part of a line, or several lines: printf() of what people read. */
void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes object in one line to standard output, and drops the caller's
 * reference to it. For a stream of objects: call it once for each.
 */
void json_say(struct json_object *object);

void json_add_text(struct json_object *object, const char *name, const char *text);
void json_add_number(struct json_object *object, const char *name, int64_t number);

/* A member that is a whole number of 32 bits. False when there is none. */
bool json_get_number(struct json_object *object, const char *name, uint32_t *out);

/* A member that is text; it lives as long as object. NULL when there is none. */
const char *json_get_text(struct json_object *object, const char *name);

/* The longest that a machine may take for a card (docs/protocol.md, 5.1). */
#define CARD_MS		5000

/*
 * Asks a question on standard error; true when the line that comes on standard input begins with y, or
 * with yes, when nobody is asked. False otherwise, as at the end of input: then it has been said that
 * nothing was done.
 */
bool confirm(bool yes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * SIGINT, SIGTERM and SIGHUP become readable at a descriptor, a struct signalfd_siginfo for each,
 * and end the program no more: a machine may have to be paused first. The caller closes it; -1, and
 * said, when that cannot be.
 */
int signals_take(void);

/*
 * The progress line: shown on standard error when that is a terminal, else
 * nothing is written. The text replaces that of the last call; NULL clears it.
 */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
