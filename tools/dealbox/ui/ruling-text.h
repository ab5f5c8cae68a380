/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rulings as a command shows them: to people, or as JSON. */
#ifndef RULING_TEXT_H
#define RULING_TEXT_H

#include <stdbool.h>

#include <dealbox/law.h>

#define N_(message)	message		/* is in po/ */

struct ruling_text {
	bool json;
	const char *language;	/* of dealbox_law_language() */
	const char *source;	/* of the record: the name of a file, or what there is instead */
	bool no;		/* out: a ruling says that not all is well */
	bool other;		/* out: a deal does not stand */
	unsigned long deals;	/* out: how many have a verdict */
	unsigned long rulings;	/* out: how many there were */
};

/* A message in the language of law: those of the library, and what stands in N_(). */
const char *translated(const struct ruling_text *law, const char *message) __attribute__((format_arg(2)));

/* Reports an error of a line of the record. */
void ruling_text_error(const struct ruling_text *law, const struct dealbox_error *error);

/* The language of that name, as struct ruling_text wants it. NULL, and said, if there is none. */
const char *ruling_text_language(const char *name);

/* Writes what finally becomes of a deal; nothing while that is not known. */
void ruling_text_judgement(struct ruling_text *law, const struct dealbox_judgement *judgement);

/* For dealbox_judge_new(); context is a struct ruling_text. */
void ruling_text_print(const struct dealbox_ruling *ruling, void *context);

#endif
