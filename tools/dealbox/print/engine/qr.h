/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ENGINE_QR_H
#define ENGINE_QR_H

#include <cairo.h>
#include <stdint.h>

/*
 * Draw a text as a QR code, with its quiet zone, into a square. A text that is too long is left
 * out.
 */
void qr_draw(cairo_t *cr, double x, double y, double size, const char *text);

/* As qr of struct print_engine. */
int qr_make(const char *text, uint8_t **modules, int *width);

#endif
