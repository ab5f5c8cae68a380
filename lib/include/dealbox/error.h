/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a call failed, for people. Deal files have a report instead: a file may have many faults,
 * and still give deals.
 */
#ifndef DEALBOX_ERROR_H
#define DEALBOX_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct dealbox_error - what is wrong, where, and what to do next
 * @line: the line of the file or record, from 1; 0 if it is about none in particular
 * @what: what is wrong, without the line: "the keys are not those of this tournament"
 * @next: what to do: "ask the organiser for the .sqk again"; "" if there is nothing to advise
 *
 * A function that takes a pointer to one fills it when it fails, and leaves it alone otherwise;
 * the pointer may be NULL. The sentences are English but for the laws of dealing, which have a
 * language. They may change, and no program should read them: it has the errno.
 * They never name a card.
 */
struct dealbox_error {
	uint32_t line;
	char what[512];
	char next[320];
};

#ifdef __cplusplus
}
#endif
#endif
