/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling in an error. Not exported. */
#ifndef ERROR_H
#define ERROR_H

#include <stdarg.h>

#include <dealbox/error.h>

/* Fill *error, which may be NULL. code is the negative errno. next may be NULL. */
void error_fill(struct dealbox_error *error, int code, uint32_t line, const char *next,
		const char *what, ...) __attribute__((format(printf, 5, 6)));
void error_vfill(struct dealbox_error *error, int code, uint32_t line, const char *next,
		 const char *what, va_list list) __attribute__((format(printf, 5, 0)));

/*
 * Do so and return err, so that a check is one statement: error_set(error, err, line, next, what,
 * ...). A macro, so that an analyser sees that an error comes out.
 */
#define error_set(error, err, ...) ({ \
	int error_set_ = (err); \
	error_fill(error, error_set_, __VA_ARGS__); \
	error_set_; \
})

#endif
