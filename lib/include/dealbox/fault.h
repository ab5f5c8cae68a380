/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reason of a refusal: what is wrong, and what to do next. It is for objects that are valid or
 * invalid as a whole (tournaments, keys, manifests, certificates, sealed files). Deal files have a
 * report instead, because one file may have many errors.
 */
#ifndef DEALBOX_FAULT_H
#define DEALBOX_FAULT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Filled by the function that returned an error; otherwise unchanged. English sentences. */
struct dealbox_fault {
	uint32_t line;		/* of the file, from 1; 0 = no particular line */
	char what[192];		/* "the keys are not those of this tournament" */
	char next[192];		/* "ask the organiser for the .sqk again"; "" = nothing */
};

#ifdef __cplusplus
}
#endif
#endif
