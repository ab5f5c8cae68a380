// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "strv.h"

int strv_add(char ***list, const char *string)
{
	char **grown, *copy = strdup(string);
	size_t count;

	for (count = 0; *list && (*list)[count]; count++)
		;
	grown = copy ? realloc(*list, (count + 2) * sizeof(*grown)) : NULL;
	if (!grown) {
		free(copy);
		return -ENOMEM;
	}
	grown[count] = copy;
	grown[count + 1] = NULL;
	*list = grown;
	return 0;
}

void strv_free(char **list)
{
	size_t n;

	for (n = 0; list && list[n]; n++)
		free(list[n]);
	free(list);
}
