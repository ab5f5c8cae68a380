/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The version of the library, as text and as a number for comparisons. docs/library.md says which
 * changes raise which part.
 */
#ifndef DEALBOX_VERSION_H
#define DEALBOX_VERSION_H

#include <stdint.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of the headers that a program is built with. The number has the three parts as bytes,
 * the first in bits 16 to 23: #if DEALBOX_VERSION_NUMBER >= 0x000100.
 */
#define DEALBOX_VERSION		"1.0.0"
#define DEALBOX_VERSION_NUMBER	0x010000U

/*
 * Returns DEALBOX_VERSION_NUMBER of the library in use. It differs from that of the program's
 * headers if the library was replaced since.
 */
DEALBOX_API uint32_t dealbox_version(void);

#ifdef __cplusplus
}
#endif
#endif
