// SPDX-License-Identifier: LGPL-2.1-or-later
#include "error-internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void error_fill(struct dealbox_error *error, uint32_t line, const char *next,
		const char *what, ...)
{
	int saved = errno;	/* for %m */
	va_list list;

	if (!error)
		return;
	error->line = line;
	snprintf(error->next, sizeof(error->next), "%s", next ? next : "");
	errno = saved;
	va_start(list, what);
	vsnprintf(error->what, sizeof(error->what), what, list);
	va_end(list);
}
