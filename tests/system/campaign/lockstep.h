/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Protocol between the program that deals and the campaign, see lockstep.c. */
#ifndef CAMPAIGN_LOCKSTEP_H
#define CAMPAIGN_LOCKSTEP_H

#include <stdint.h>

/* A packet socket, to which the program sends int32_t ms; -1 means no limit. */
#define LOCKSTEP_FD	3
#define LOCKSTEP_BEGIN	1000000000ull
#define LOCKSTEP_SEED	"CAMPAIGN_RANDOM"	/* in the environment */

struct lockstep_answer {
	uint64_t now_us;
};

#endif
