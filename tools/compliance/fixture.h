/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fixture does what a person would do at a machine. It gets a line for each step, and answers
 * with one: "ok", "ask" (a person has to do it) or "error: why". dealbox-compliance(1) has the
 * steps.
 */
#ifndef COMPLIANCE_FIXTURE_H
#define COMPLIANCE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#define FIXTURE_LINE_MAX	8192

struct fixture;

/* Start a program; words after it, separated by spaces, are arguments. NULL, with the reason. */
struct fixture *fixture_start(const char *command, char *error, size_t size);
/*
 * Connect to a control socket of dealbox-emulator, whose commands are steps. NULL, with the reason.
 */
struct fixture *fixture_connect(const char *path, char *error, size_t size);
/*
 * Ask for a step. Returns false if no answer came in time, or the fixture is gone; else reply has
 * the line, without its end.
 */
bool fixture_ask(struct fixture *fixture, const char *step, char *reply, size_t size);
/* Let the program end, as its input ends. */
void fixture_close(struct fixture *fixture);

#endif
