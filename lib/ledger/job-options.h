/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of a job as the file of the ledger has them: DEALBOX_JOB_*, and what only the library
 * and the programs here know. Not exported.
 */
#ifndef LEDGER_JOB_OPTIONS_H
#define LEDGER_JOB_OPTIONS_H

#include <dealbox/law.h>
#include <dealbox/ledger.h>

#define JOB_OPTIONS	0x1ffu		/* DEALBOX_JOB_* */
/* law and dealer of struct dealbox_ledger_job */
#define JOB_BY_LAW(law, dealer)	((unsigned int)(law) << 9 | (unsigned int)(dealer) << 12)
#define JOB_LAWS	0x3e00u		/* options & this: the job has a law, and no set */
#define JOB_LAW(options)	((options) >> 9 & 7)
#define JOB_DEALER(options)	((options) >> 12 & 3)
/* Of an event: a copy is dealt only while dealboxd holds it. */
#define JOB_EVENT	(1u << 14)

_Static_assert(DEALBOX_RULES <= JOB_LAW(JOB_LAWS), "the file has room for each law");

static inline unsigned int job_options_of(const struct dealbox_ledger_job *job)
{
	return job->options | JOB_BY_LAW(job->law, job->dealer);
}

#endif
