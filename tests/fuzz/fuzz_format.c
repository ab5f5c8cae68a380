// SPDX-License-Identifier: LGPL-2.1-or-later
/* One target for each format: meson.build defines FORMAT, its name. */
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_format(dealbox_format_find(FORMAT), data, size);
}
