/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The check of a plan block: docs/protocol.md, 3. */
#ifndef MACHINE_PLAN_H
#define MACHINE_PLAN_H

#include <stdbool.h>

#include "core.h"

#define PLAN_ENTRIES	32	/* offset of the entries */
#define PLAN_LEAST	37	/* bytes of the shortest block */

/* The errors are those of the page. */
#define PLAN_OK		0
#define PLAN_CRC	15
#define PLAN_BAD	16

/*
 * Check a whole block of `length` bytes, 37..100, that was announced with a number. Returns
 * PLAN_OK, PLAN_CRC or PLAN_BAD, and stores its detail.
 */
int plan_check(const struct core_config *config, const uint8_t *block, uint32_t length,
	       uint32_t number, uint32_t *detail);

#endif
