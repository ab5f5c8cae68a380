/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reason why a call failed, as text for people. Deal files have a report instead, since a file
 * can have many problems and still contain deals.
 */
#ifndef DEALBOX_ERROR_H
#define DEALBOX_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct dealbox_error - what is wrong, where, and what to do next
 * @code: the errno of the failed call as a negative number, such as -EINVAL; the comment of a
 *	function that returns no errno says which codes it sets
 * @line: line of the file or record, from 1; 0 if the error is not about a line
 * @what: what is wrong, without the line: "the keys are not those of this tournament"
 * @next: what to do: "ask the organiser for the .sqk again"; "" if there is no advice
 * @reserved: 0
 *
 * Functions that take a pointer to one set it if they fail, and leave it unchanged otherwise. The
 * pointer may be NULL. The text is in English, except for the laws of dealing, which have a
 * language. It may change between versions, so programs should use @code. It never names a
 * card.
 */
struct dealbox_error {
	int32_t code;
	uint32_t line;
	char what[512];
	char next[320];
	uint32_t reserved[8];
};

#ifdef __cplusplus
}
#endif
#endif
