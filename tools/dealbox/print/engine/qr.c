// SPDX-License-Identifier: LGPL-2.1-or-later
#include <qrencode.h>

#include "qr.h"

#define QUIET	4	/* modules of white around it: ISO/IEC 18004 */

void qr_draw(cairo_t *cr, double x, double y, double size, const char *text)
{
	QRcode *code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1);
	double module;

	if (!code)
		return;
	module = size / (code->width + 2 * QUIET);
	cairo_set_source_rgb(cr, 0, 0, 0);
	for (int row = 0; row < code->width; row++)
		for (int column = 0; column < code->width; column++)
			if (code->data[row * code->width + column] & 1)
				cairo_rectangle(cr, x + (QUIET + column) * module,
						y + (QUIET + row) * module, module, module);
	cairo_fill(cr);
	QRcode_free(code);
}
