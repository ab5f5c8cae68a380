/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The version of the library: as a text, and as a number to compare. docs/library.md says what may
 * change with which part of it.
 */
#ifndef DEALBOX_VERSION_H
#define DEALBOX_VERSION_H

#include <stdint.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Of the headers that a program is built with. The number has the three parts as bytes, the first
 * in bits 16 to 23: #if DEALBOX_VERSION_NUMBER >= 0x000100.
 */
#define DEALBOX_VERSION		"0.1.0"
#define DEALBOX_VERSION_NUMBER	0x000100U

/*
 * DEALBOX_VERSION_NUMBER of the library that the program runs with: another than that of its
 * headers when the library was exchanged since.
 */
DEALBOX_API uint32_t dealbox_version(void);

#ifdef __cplusplus
}
#endif
#endif
