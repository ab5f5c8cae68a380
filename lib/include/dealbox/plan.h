/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plan: where the machine shall put each card. struct dealbox_plan is the kernel's
 * (<linux/dealbox.h>); what is made here can be given to any machine as it is.
 */
#ifndef DEALBOX_PLAN_H
#define DEALBOX_PLAN_H

#include <linux/dealbox.h>

#include <dealbox/deal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pocket of each hand: pockets[hand]. Functions take NULL for hand n in pocket n. */

/*
 * Reads a pocket order: the seats whose hands pockets 0, 1, 2, 3 get, "NESW" or "SWEN".
 * -EINVAL unless each seat is there once.
 */
DEALBOX_API int dealbox_pockets_parse(const char *order, uint8_t pockets[DEALBOX_HANDS]);

/*
 * Plan by card: the machine reads each card. plan_id is the caller's number, neither
 * DEALBOX_PLAN_NONE nor DEALBOX_PLAN_TEST. 0, or -EINVAL: the deal is not complete, the
 * plan_id is reserved, or two hands have the same pocket or one that cannot be.
 */
DEALBOX_API int dealbox_plan_by_card(struct dealbox_plan *plan, uint32_t plan_id,
				     const struct dealbox_deal *deal,
				     const struct dealbox_pack *pack,
				     const uint8_t *pockets);

/*
 * Plan by position: the machine counts the cards of a deck whose order is known. deck has
 * the card of each position, count of them: each card of the pack once. Same errors, and
 * -EINVAL: it has not each card once.
 */
DEALBOX_API int dealbox_plan_by_position(struct dealbox_plan *plan, uint32_t plan_id,
					 const struct dealbox_deal *deal,
					 const struct dealbox_pack *pack,
					 const uint8_t *pockets,
					 const uint8_t *deck, size_t count);

/*
 * Plan to capture: every card is read and let into that one pocket. -EINVAL: the
 * plan_id is reserved, or no machine has such a pocket.
 */
DEALBOX_API int dealbox_plan_capture(struct dealbox_plan *plan, uint32_t plan_id,
				     uint8_t pocket);

/* Overwrites it in a way that the compiler cannot leave out. */
DEALBOX_API void dealbox_plan_wipe(struct dealbox_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
