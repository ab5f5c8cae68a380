/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "front_common.h"

void front_trace(FILE *trace, uint64_t now, const char *label, int status, const uint8_t *data,
		 size_t length)
{
	size_t i;

	if (!trace)
		return;
	fprintf(trace, "%" PRIu64 " %s %d ", now, label, status);
	for (i = 0; i < length; i++)
		fprintf(trace, "%02x", data[i]);
	fputc('\n', trace);
	fflush(trace);
}
