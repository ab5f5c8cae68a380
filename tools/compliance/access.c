// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "local.h"

struct access *access_open(const char *address, char *error, size_t size)
{
	if (!strncmp(address, "emu:", 4))
		return access_open_emu(address + 4, error, size);
	if (!strncmp(address, "local:", 6))
		return access_open_local(address + 6, error, size);
	if (!strncmp(address, "usb:", 4))
		return access_open_usb(address + 4, error, size);
	snprintf(error, size,
		 "\"%s\" is no address of a machine: local:NODE, usb:PLACE or emu:PATH", address);
	return NULL;
}
