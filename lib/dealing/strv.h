/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists of strings that end with NULL, as sd-bus has them; NULL is an empty one.
 */
#ifndef DEALING_STRV_H
#define DEALING_STRV_H

/* Adds a copy of string to the list. 0; -ENOMEM: it is as it was. */
int strv_add(char ***list, const char *string);
void strv_free(char **list);

#endif
