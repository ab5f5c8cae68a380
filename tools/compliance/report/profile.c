// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "error-internal.h"

/* -- the built-in profiles -------------------------------------------------- */

static const char *const texts[] = {
	/* a club evening: an hour of testing can show all of it */
	"[profile]\nname = club\nconfidence = 95 %\n"
	"[rates]\nmisread = 0.1 %\nunread = 1 %\nwrong-pocket = 0.1 %\nfeed-fault = 1 %\n"
	"[times]\ncard = 1 % above 1000 ms\nboard = 5 % above 60000 ms\n"
	"control = 1 % above 500 ms\ngate = 1 % above 20000 us\n"
	"[endurance]\ngood = 0.2 %\nbad = 2 %\nrisk = 5 %\n",
	/* nobody stands beside it */
	"[profile]\nname = kiosk\nconfidence = 95 %\n"
	"[rates]\nmisread = 0.05 %\nunread = 0.2 %\nwrong-pocket = 0.05 %\nfeed-fault = 0.2 %\n"
	"[times]\ncard = 1 % above 1000 ms\nboard = 5 % above 60000 ms\n"
	"control = 1 % above 500 ms\ngate = 1 % above 20000 us\n"
	"[endurance]\ngood = 0.1 %\nbad = 1 %\nrisk = 5 %\n",
	/* several thousand boards before play */
	"[profile]\nname = championship\nconfidence = 99 %\n"
	"[rates]\nmisread = 0.02 %\nunread = 0.5 %\nwrong-pocket = 0.02 %\nfeed-fault = 0.5 %\n"
	"[times]\ncard = 1 % above 500 ms\nboard = 5 % above 30000 ms\n"
	"control = 1 % above 500 ms\ngate = 1 % above 10000 us\n"
	"[endurance]\ngood = 0.05 %\nbad = 0.5 %\nrisk = 1 %\n",
};

#define TEXTS	(sizeof(texts) / sizeof(texts[0]))

/* -- limits ----------------------------------------------------------------- */

static const struct limit {
	const char *section, *key, *what;
	struct share (*of)(struct json_object *report);
	const char *values, *unit;	/* of a time, instead */
} limits[PROFILE_LIMITS] = {
	{ "rates", "misread", "cards read as another card", report_misread },
	{ "rates", "unread", "cards that were not read", report_unread },
	{ "rates", "wrong-pocket", "cards in a wrong pocket", report_wrong_pocket },
	{ "rates", "feed-fault", "feeds that failed", report_feed_fault },
	{ "times", "card", "cards that took longer", NULL, "card_ms", "ms" },
	{ "times", "board", "boards that took longer", NULL, "board_ms", "ms" },
	{ "times", "control", "control transfers that took longer", NULL, "control_ms", "ms" },
	{ "times", "gate", "gate commands that took longer", NULL, "latency_us", "us" },
};

/* -- reading ---------------------------------------------------------------- */

/* "0.1 %" */
static bool percent_read(const char *text, double *share)
{
	char end;

	if (sscanf(text, "%lf %%%c", share, &end) != 1 || !strchr(text, '%'))
		return false;
	*share /= 100;
	return *share > 0 && *share < 1;
}

/* "1 % above 500 ms" */
static bool time_read(const char *text, const char *unit, double *share, double *above)
{
	char is[4], end;

	if (sscanf(text, "%lf %% above %lf %3s%c", share, above, is, &end) != 3 || strcmp(is, unit))
		return false;
	*share /= 100;
	return *share > 0 && *share < 1 && *above > 0 && *above < 1e9;
}

static bool name_read(struct profile *profile, const char *value)
{
	return !*profile->name && *value &&
	       snprintf(profile->name, sizeof(profile->name), "%s", value) <
		       (int)sizeof(profile->name);
}

static bool endurance_read(struct profile *profile, const char *key, const char *value)
{
	double *at = !strcmp(key, "good") ? &profile->endurance.good :
		     !strcmp(key, "bad") ? &profile->endurance.bad :
		     !strcmp(key, "risk") ? &profile->endurance.miss : NULL;

	return at && !*at && percent_read(value, at);
}

static int setting_read(void *context, const char *section, const char *key, const char *value)
{
	struct profile *profile = context;

	if (!strcmp(section, "profile") && !strcmp(key, "name"))
		return name_read(profile, value);
	if (!strcmp(section, "profile") && !strcmp(key, "confidence"))
		return !profile->confidence && percent_read(value, &profile->confidence);
	if (!strcmp(section, "endurance"))
		return endurance_read(profile, key, value);
	for (size_t i = 0; i < PROFILE_LIMITS; i++)
		if (!strcmp(section, limits[i].section) && !strcmp(key, limits[i].key)) {
			if (profile->limits[i].allowed)
				return 0;
			if (limits[i].unit)
				return time_read(value, limits[i].unit, &profile->limits[i].allowed,
						 &profile->limits[i].above);
			return percent_read(value, &profile->limits[i].allowed);
		}
	return 0;
}

int profile_parse(const char *text, struct profile *profile, struct dealbox_error *error)
{
	static const char next[] = "dealbox-compliance(1) lists the settings of a profile";
	struct sprt *endurance = &profile->endurance;
	int line;

	memset(profile, 0, sizeof(*profile));
	line = ini_parse_string(text, setting_read, profile);
	if (line)
		return error_set(error, -EINVAL, line > 0 ? (uint32_t)line : 0, next,
				 "this setting is unknown, repeated, or has an invalid value");
	if (!*profile->name || !profile->confidence)
		return error_set(error, -EINVAL, 0, next, "[profile] needs name and confidence");
	if (profile->confidence < 0.5)
		return error_set(error, -EINVAL, 0, next, "a confidence is 50 %% or more");
	if ((endurance->good || endurance->bad || endurance->miss) &&
	    !(endurance->good && endurance->good < endurance->bad && endurance->miss &&
	      endurance->miss < 0.5))
		return error_set(error, -EINVAL, 0, next,
				 "[endurance] needs good, bad and risk: good is "
				 "less than bad, and risk less than 50 %%");
	endurance->false_alarm = endurance->miss;
	return 0;
}

const char *profile_name(size_t index)
{
	static const char *const names[TEXTS + 1] = { "club", "kiosk", "championship" };

	return index < TEXTS ? names[index] : NULL;
}

int profile_find(const char *name, struct profile *profile, struct dealbox_error *error)
{
	for (size_t i = 0; i < TEXTS; i++)
		if (!strcmp(name, profile_name(i)))
			return profile_parse(texts[i], profile, error);
	return error_set(error, -ENOENT, 0,
			 "use club, kiosk or championship, or the path of a file",
			 "there is no profile of this name");
}

/* -- judging ---------------------------------------------------------------- */

static struct share above(struct json_object *report, const char *name, double limit)
{
	struct share share = { 0, 0 };
	size_t count;
	double *values = report_values(report, name, &count);

	share.trials = count;
	for (size_t i = 0; i < count; i++)
		share.errors += values[i] > limit;
	free(values);
	return share;
}

static void judgement_add(struct json_object *list, const char *key, const char *what,
			  struct share share, double confidence, double allowed, enum judgement is)
{
	static const char *const words[] = {
		[SHOWN] = "shown", [NOT_SHOWN] = "not shown yet", [REFUTED] = "refuted",
	};
	const struct interval interval = statistics_interval(share, confidence);
	struct json_object *row = json_object_new_object();

	json_object_object_add(row, "limit", json_object_new_string(key));
	json_object_object_add(row, "what", json_object_new_string(what));
	json_object_object_add(row, "errors", json_object_new_int64((int64_t)share.errors));
	json_object_object_add(row, "trials", json_object_new_int64((int64_t)share.trials));
	json_object_object_add(row, "low", json_object_new_double(interval.low));
	json_object_object_add(row, "high", json_object_new_double(interval.high));
	json_object_object_add(row, "allowed", json_object_new_double(allowed));
	json_object_object_add(row, "result", json_object_new_string(words[is]));
	json_object_array_add(list, row);
}

static enum judgement limit_judge(const struct profile *profile, size_t i,
				  struct json_object *report, struct json_object *list)
{
	const double allowed = profile->limits[i].allowed, limit = profile->limits[i].above;
	const struct share share = limits[i].unit ? above(report, limits[i].values, limit) :
						    limits[i].of(report);
	const struct interval interval = statistics_interval(share, profile->confidence);
	const enum judgement is = interval.high <= allowed ? SHOWN :
				  interval.low > allowed ? REFUTED : NOT_SHOWN;
	char key[40], what[100];

	snprintf(key, sizeof(key), "%s%s", limits[i].key, limits[i].unit ? "-time" : "");
	if (limits[i].unit)
		snprintf(what, sizeof(what), "%s than %g %s", limits[i].what, limit,
			 limits[i].unit);
	else
		snprintf(what, sizeof(what), "%s", limits[i].what);
	judgement_add(list, key, what, share, profile->confidence, allowed, is);
	return is;
}

static enum judgement endurance_judge(const struct profile *profile, struct json_object *report,
				      struct json_object *list)
{
	static const enum judgement of[] = {
		[SPRT_ACCEPT] = SHOWN, [SPRT_CONTINUE] = NOT_SHOWN, [SPRT_REJECT] = REFUTED,
	};
	const struct share share = report_endurance(report);
	const enum judgement is = of[statistics_sprt(&profile->endurance, share)];

	judgement_add(list, "endurance", "boards that were no exact duplicate", share,
		      1 - profile->endurance.miss, profile->endurance.bad, is);
	return is;
}

enum judgement profile_judge(const struct profile *profile, struct json_object *report)
{
	struct json_object *acceptance = json_object_new_object(), *list = json_object_new_array();
	enum judgement worst = SHOWN, is;

	for (size_t i = 0; i < PROFILE_LIMITS; i++) {
		/* a machine without gate commands has no latency */
		if (!profile->limits[i].allowed ||
		    (limits[i].values && !strcmp(limits[i].values, "latency_us") &&
		     strcmp(report_text(report_object(report, "machine", NULL), "kind"),
			    "host-routed")))
			continue;
		is = limit_judge(profile, i, report, list);
		worst = is > worst ? is : worst;
	}
	if (profile->endurance.bad) {
		is = endurance_judge(profile, report, list);
		worst = is > worst ? is : worst;
	}
	json_object_object_add(acceptance, "profile", json_object_new_string(profile->name));
	json_object_object_add(acceptance, "confidence",
			       json_object_new_double(profile->confidence));
	json_object_object_add(acceptance, "limits", list);
	json_object_object_add(report, "profile", json_object_new_string(profile->name));
	json_object_object_add(report, "acceptance", acceptance);
	return worst;
}
