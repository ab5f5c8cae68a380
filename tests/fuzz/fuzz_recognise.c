// SPDX-License-Identifier: LGPL-2.1-or-later
/* The detector, and then the reader that it chose. */
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dealbox_format *format;

	format = dealbox_format_recognise(data, size, size, NULL);
	CHECK(dealbox_format_recognise(data, size, size, "x.unknown") == format);
	/* the name helps where the content says nothing */
	if (!format)
		CHECK(dealbox_format_recognise(data, size, size, "x.ZRD") ==
		      dealbox_format_find("zrd"));
	return fuzz_format(NULL, data, size);
}
