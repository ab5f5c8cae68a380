/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PRINT_PRINTER_H
#define PRINT_PRINTER_H

#include "ui/files.h"

/*
 * Give a PDF file to lp(1) of CUPS, through a pipe. title names the print job. duplex: on both
 * sides, turned over the long edge. Returns false after reporting an error.
 */
bool printer_send(const char *printer, const char *title, bool duplex, const struct blob *pdf);

#endif
