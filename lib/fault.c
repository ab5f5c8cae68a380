// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct dealbox_fault *fault, int err, uint32_t line, const char *next,
	      const char *what, ...)
{
	va_list list;

	if (!fault)
		return err;
	fault->line = line;
	snprintf(fault->next, sizeof(fault->next), "%s", next ? next : "");
	va_start(list, what);
	vsnprintf(fault->what, sizeof(fault->what), what, list);
	va_end(list);
	return err;
}
