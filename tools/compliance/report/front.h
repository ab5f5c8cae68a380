/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports as files: what the options of dealbox-compliance about reports do, and its subcommands.
 * The only file here that does I/O. Functions of type bool return false after saying what is wrong.
 */
#ifndef COMPLIANCE_FRONT_H
#define COMPLIANCE_FRONT_H

#include "profile.h"

/* Files that a run writes; NULL = not wanted */
struct outputs {
	const char *json, *junit, *html;	/* --json, --junit, --html */
	const char *key;			/* --key */
	const char *profile;			/* --profile: a name or the path of a file */

	/* of outputs_open() */
	struct dealbox_signer *signer;
	struct profile limits;
};

/*
 * Read profile and key, and check that the files can be written. Before a run: an hour of testing
 * must not be lost for a name.
 */
bool outputs_open(struct outputs *outputs);

/*
 * Judge and sign a report, and write what is wanted. *refuted: whether a limit of the profile is.
 * Prints the judgements, as comments of TAP.
 */
bool outputs_write(struct outputs *outputs, struct json_object *report, bool *refuted);

/* Wipe the key. */
void outputs_close(struct outputs *outputs);

/*
 * `verify [--signer KEY] FILE`, `compare BEFORE NOW` and `print [--paper NAME] FILE PDF`: run them
 * with the arguments from their name on. Return the exit status: 0 yes, 1 no, 2 usage or an
 * unusable file.
 */
int front_verify(int argc, char **argv);
int front_compare(int argc, char **argv);
int front_print(int argc, char **argv);

#endif
