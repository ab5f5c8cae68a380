/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Output of rulings, for people or as JSON. */
#ifndef RULING_TEXT_H
#define RULING_TEXT_H

#include <stdbool.h>

#include <dealbox/law.h>

#define N_(message)	message		/* marks a message for po/ */
#define P_(one, many)	one, many	/* .. with the words for one, and for many */

struct ruling_text {
	bool json;
	const char *language;	/* of dealbox_law_language() */
	const char *source;	/* name of the record, usually a file */
	bool no;		/* out: a ruling requires action */
	bool other;		/* out: a deal does not stand */
	unsigned long deals;	/* out: number of deals with a judgement */
	unsigned long rulings;	/* out: number of rulings */
};

/* Translate a message of the library, or one marked by N_(). */
const char *translated(const struct ruling_text *law, const char *message)
	__attribute__((format_arg(2)));

/* Report an error in a line of the record. */
void ruling_text_error(const struct ruling_text *law, const struct dealbox_error *error);

/* Find a language for struct ruling_text. Returns NULL after reporting an error. */
const char *ruling_text_language(const char *name);

/* Print the final judgement on a deal. Prints nothing before it is known. */
void ruling_text_judgement(struct ruling_text *law, const struct dealbox_judgement *judgement);

/* Callback for dealbox_judge_new(); context is a struct ruling_text. */
void ruling_text_print(const struct dealbox_ruling *ruling, void *context);

#endif
