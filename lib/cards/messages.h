/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages that are translated: N_() marks them for xgettext, and P_() those whose words depend on
 * a number; po/ has them.
 */
#ifndef CARDS_MESSAGES_H
#define CARDS_MESSAGES_H

#include <stddef.h>

#define N_(message)	message
#define P_(one, many)	one, many

#define LAW_PLURALS	3	/* most forms of a language */

struct law_message {
	const char *id, *forms[LAW_PLURALS];	/* only the first if no number matters */
};

/* One language; made from po/ at build time, sorted by id. */
struct law_catalogue {
	const char *language;
	unsigned int (*form)(unsigned long n);	/* the form for a number */
	const struct law_message *messages;
	size_t count;
};

extern const struct law_catalogue law_catalogues[];
extern const size_t law_catalogue_count;

#endif
