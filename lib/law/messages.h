/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages that are translated: N_() marks them for xgettext, po/ has them. */
#ifndef LAW_MESSAGES_H
#define LAW_MESSAGES_H

#include <stddef.h>

#define N_(message)	message

struct law_message {
	const char *id, *text;
};

/* One language; made from po/ at build time, sorted by id. */
struct law_catalogue {
	const char *language;
	const struct law_message *messages;
	size_t count;
};

extern const struct law_catalogue law_catalogues[];
extern const size_t law_catalogue_count;

#endif
