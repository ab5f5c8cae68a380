/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of strings terminated by NULL, as in sd-bus. NULL is an empty list. */
#ifndef DEALING_STRV_H
#define DEALING_STRV_H

/* Append a copy of string. Returns 0, or -ENOMEM with the list unchanged. */
int strv_add(char ***list, const char *string);
void strv_free(char **list);

#endif
