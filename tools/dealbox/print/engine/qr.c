// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <qrencode.h>
#include <stdlib.h>

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

int qr_make(const char *text, uint8_t **modules, int *width)
{
	QRcode *code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1);
	size_t count;

	if (!code)
		return errno == ERANGE ? -EMSGSIZE : -ENOMEM;
	count = (size_t)code->width * (size_t)code->width;
	*width = code->width;
	*modules = malloc(count);
	for (size_t i = 0; *modules && i < count; i++)
		(*modules)[i] = code->data[i] & 1;
	QRcode_free(code);
	return *modules ? 0 : -ENOMEM;
}
