/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling in an error. Not exported. */
#ifndef ERROR_H
#define ERROR_H

#include <dealbox/error.h>

/* Fill *error, which may be NULL. next may be NULL. */
void error_fill(struct dealbox_error *error, uint32_t line, const char *next,
		const char *what, ...) __attribute__((format(printf, 4, 5)));

/*
 * Do so and return err, so that a check is one statement: error_set(error, err, line, next, what,
 * ...). A macro, so that an analyser sees that an error comes out.
 */
#define error_set(error, err, ...) ({ \
	int error_set_ = (err); \
	error_fill(error, __VA_ARGS__); \
	error_set_; \
})

#endif
