// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "access.h"

uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

struct access *access_open(const char *address, char *error, size_t size)
{
	if (!strncmp(address, "emu:", 4))
		return access_open_emu(address + 4, error, size);
	if (!strncmp(address, "usb:", 4))
		return access_open_usb(address + 4, error, size);
	snprintf(error, size, "\"%s\" is no address of a machine: emu:PATH or usb:PLACE", address);
	return NULL;
}
