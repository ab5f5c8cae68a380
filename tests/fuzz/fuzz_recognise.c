// SPDX-License-Identifier: LGPL-2.1-or-later
/* The detector of formats, then the reader that it chose. */
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dealbox_format *format;

	format = dealbox_format_recognise(data, size, size, NULL);
	CHECK(dealbox_format_recognise(data, size, size, "x.unknown") == format);
	/* some formats can only be recognised by the file's name */
	if (!format)
		CHECK(dealbox_format_recognise(data, size, size, "x.ZRD") ==
		      dealbox_format_find("zrd"));
	return fuzz_format(NULL, data, size);
}
