/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Acceptance profiles: the error rates and times that a buyer demands. */
#ifndef COMPLIANCE_PROFILE_H
#define COMPLIANCE_PROFILE_H

#include "report.h"

#define PROFILE_LIMITS	8
#define PROFILE_SIZE_MAX	65536	/* bytes of a file */

struct profile {
	char name[64];
	double confidence;	/* of the intervals, 0..1 */
	struct {
		double allowed;	/* share of errors, 0 = not judged */
		double above;	/* of times: what is longer counts as error; ms, or us at gates */
	} limits[PROFILE_LIMITS];
	struct sprt endurance;	/* bad = 0: not judged */
};

/* Return the name of a built-in profile, NULL behind the last. */
const char *profile_name(size_t index);

/* Get a built-in profile. -ENOENT; *error lists those that there are. */
int profile_find(const char *name, struct profile *profile, struct dealbox_error *error);

/* Parse the terminated text of a profile. -EINVAL; *error has the line. */
int profile_parse(const char *text, struct profile *profile, struct dealbox_error *error);

enum judgement { SHOWN, NOT_SHOWN, REFUTED };

/*
 * Compare the measurements of a report with the limits. The judgement on each becomes part of the
 * report, as "acceptance", and what the profile is called, as "profile". Returns the worst.
 */
enum judgement profile_judge(const struct profile *profile, struct json_object *report);

#endif
