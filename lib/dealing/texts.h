/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists of texts that end with NULL, as sd-bus has them; NULL is an empty one.
 */
#ifndef DEALING_TEXTS_H
#define DEALING_TEXTS_H

/* Adds a copy of text to the list. 0; -ENOMEM: it is as it was. */
int texts_add(char ***list, const char *text);
void texts_free(char **list);

#endif
