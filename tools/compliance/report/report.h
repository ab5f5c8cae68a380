/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report of an acceptance test: one JSON object, of which everything else is made. Its form is
 * in docs/compliance.md and in the table of report.c.
 */
#ifndef COMPLIANCE_REPORT_H
#define COMPLIANCE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <dealbox/manifest.h>
#include <json-c/json.h>

#include "statistics.h"

#define REPORT_SIZE_MAX	(64u << 20)	/* bytes of a file that is read */

/*
 * Check that a report has the form that the functions below rely on. -EINVAL; *error says where.
 */
int report_check(struct json_object *report, struct dealbox_error *error);

/*
 * Parse and check a report. Free it with json_object_put(). -EINVAL, -ENOMEM.
 */
int report_parse(const char *data, size_t size, struct json_object **report,
		 struct dealbox_error *error);

/* Replace what is not UTF-8 in all strings of a report: machines send what they like. */
void report_clean(struct json_object *report);

/*
 * Return the report as text in its one valid form: one line of JSON without its end, <, > and &
 * escaped, so that it can stand in a page. free(3) it; NULL = out of memory.
 */
char *report_print(struct json_object *report);

/* Write text for XML or HTML. Control characters, and what is not UTF-8, become U+FFFD. */
void report_escape(FILE *out, const char *text);
/* Write text for a terminal, with the same replacements. */
void report_plain(FILE *out, const char *text);

/* --- parts of a report that passed report_check() ------------------------------------------ */

/* Return the string of a member, "" without one. */
const char *report_text(struct json_object *object, const char *key);
/* Return the array of a member, NULL without one. */
struct json_object *report_list(struct json_object *object, const char *key);
/* Return the length of an array, 0 for NULL. */
size_t report_length(struct json_object *list);
/* Return the number of a member, 0 without one. */
double report_number(struct json_object *object, const char *key);
/* Return an object two levels down, NULL without one. */
struct json_object *report_object(struct json_object *object, const char *outer, const char *inner);

/* Loop over an array, or over nothing for NULL: struct json_object *item. */
#define report_each(item, array)						\
	for (size_t index_ = 0; index_ < report_length(array) &&		\
	     ((item) = json_object_array_get_idx(array, index_), true); index_++)

#define READING_CARDS	54	/* with jokers */
#define READING_NONE	54	/* column of cards that were not read */

/* Readings of one reader, or of all */
struct readings {
	uint32_t count[READING_CARDS][READING_CARDS + 1];	/* [expected][read] */
	struct share misread;	/* of the cards that were named */
	struct share unread;	/* of all */
};

/* Sum up the readings of one reader; NULL: of all. */
void report_readings(struct json_object *report, const char *reader, struct readings *readings);

/*
 * Return the sorted values of a distribution, and their number; free(3) them. Names are those of
 * "times", and "latency_us", which is that of all gates. NULL if there are none.
 */
double *report_values(struct json_object *report, const char *name, size_t *count);

/* Return the faults of a member of the gates, "wrong" or "feed_faults", of one gate or all (-1). */
struct share report_gates(struct json_object *report, int gate, const char *key);

/*
 * Return a rate of all readers and gates: cards read as another, or not; wrong pockets; failed
 * feeds.
 */
struct share report_misread(struct json_object *report);
struct share report_unread(struct json_object *report);
struct share report_wrong_pocket(struct json_object *report);
struct share report_feed_fault(struct json_object *report);

/* Return the wrong boards of the endurance test. */
struct share report_endurance(struct json_object *report);

/* Return the number of rows of a list with that result. */
unsigned int report_count(struct json_object *list, const char *result);

/* Return the confidence of its profile, 0.95 without one. */
double report_confidence(struct json_object *report);

/* Return how often a card was read as another one, of the readings that named a card. */
struct share report_card_errors(const struct readings *readings, unsigned int card);
/* Return the name of a card, or "not read" for READING_NONE. */
const char *report_card_name(unsigned int card);

#define REPORT_READERS_MAX	16	/* that are shown; a report is a foreign file */
/* Return true if no reading before that index of the list is of the same reader. */
bool report_first_of_reader(struct json_object *rows, size_t index);

/* Facts about machine and test set-up: a member of object or, if that is NULL, of the report */
#define REPORT_FACTS	16
extern const struct report_fact {
	const char *object, *key, *name;
} report_facts[REPORT_FACTS];

/* The distributions: the name for report_values(), and how people read it */
#define REPORT_DISTRIBUTIONS	4
extern const struct report_distribution {
	const char *key, *name, *unit;
} report_distributions[REPORT_DISTRIBUTIONS];

/* --- what is made of a report ----------------------------------------------------------------- */

/* Return JUnit XML, or HTML; free(3) it. NULL = out of memory. */
char *report_junit(struct json_object *report);
char *report_html(struct json_object *report);

/*
 * Sign a report: signer and signature become its members. What is signed is in docs/compliance.md.
 * Returns false if out of memory.
 */
bool report_sign(struct json_object *report, const struct dealbox_signer *signer);

/* Sign a page of HTML, which is replaced. Returns false if out of memory. */
bool report_sign_page(char **html, const struct dealbox_signer *signer);

/*
 * Parse a file, JSON or HTML, and check its signature: every byte of the file is covered. The
 * caller checks who the signer is. -EINVAL: no report, or not in its one valid form; -ENOKEY: not
 * signed; -EKEYREJECTED: the signature is wrong; -ENOMEM.
 */
int report_verify(const char *data, size_t size, struct json_object **report,
		  uint8_t signer[DEALBOX_SIGNER_KEY], struct dealbox_error *error);

/* Parse a file, JSON or HTML, signed or not; a signature is not checked. As report_parse(). */
int report_read(const char *data, size_t size, struct json_object **report,
		struct dealbox_error *error);

/*
 * Write what changed from one report to another, in words. Returns true if something became worse:
 * a requirement, or an error rate or a time significantly.
 */
bool report_compare(struct json_object *before, struct json_object *now, FILE *out);

#endif
