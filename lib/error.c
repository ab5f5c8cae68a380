// SPDX-License-Identifier: LGPL-2.1-or-later
#include "error-internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void error_vfill(struct dealbox_error *error, int code, uint32_t line, const char *next,
		 const char *what, va_list list)
{
	int saved = errno;	/* for %m */

	if (!error)
		return;
	error->code = code;
	error->line = line;
	memset(error->reserved, 0, sizeof(error->reserved));
	snprintf(error->next, sizeof(error->next), "%s", next ? next : "");
	errno = saved;
	vsnprintf(error->what, sizeof(error->what), what, list);
}

void error_fill(struct dealbox_error *error, int code, uint32_t line, const char *next,
		const char *what, ...)
{
	va_list list;

	va_start(list, what);
	error_vfill(error, code, line, next, what, list);
	va_end(list);
}
