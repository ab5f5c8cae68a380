// SPDX-License-Identifier: LGPL-2.1-or-later
/* In the place of front_usbredir.c, where libusbredirparser is missing. */
#include <stdio.h>

#include "front_common.h"

struct front *front_usbredir_open(const char *path, struct device *device,
				  struct machine *machine, FILE *trace)
{
	(void)path;
	(void)device;
	(void)machine;
	(void)trace;
	fprintf(stderr, "dealbox-emulator: --usbredir: this dealbox was built without it\n");
	return NULL;
}
