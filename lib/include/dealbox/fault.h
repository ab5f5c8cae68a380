/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why something was refused: what is wrong, and what to do next. For objects that are right
 * or wrong as a whole (tournaments, keys, manifests, certificates, sealed files); deal files
 * have a report instead, because there many things may be wrong in one.
 */
#ifndef DEALBOX_FAULT_H
#define DEALBOX_FAULT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Filled by the function that returned an error; untouched otherwise. Sentences of English. */
struct dealbox_fault {
	uint32_t line;		/* of the file, from 1; 0 = none in particular */
	char what[192];		/* "the keys are not those of this tournament" */
	char next[192];		/* "ask the organiser for the .sqk again"; "" = nothing */
};

#ifdef __cplusplus
}
#endif
#endif
