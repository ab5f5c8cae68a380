// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

void fault_fill(struct dealbox_fault *fault, uint32_t line, const char *next,
		const char *what, ...)
{
	va_list list;

	if (!fault)
		return;
	fault->line = line;
	snprintf(fault->next, sizeof(fault->next), "%s", next ? next : "");
	va_start(list, what);
	vsnprintf(fault->what, sizeof(fault->what), what, list);
	va_end(list);
}
