/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plan: the pocket of each card. struct dealbox_plan is the kernel's (<linux/dealbox.h>); plans
 * made here can be sent to any machine unchanged.
 */
#ifndef DEALBOX_PLAN_H
#define DEALBOX_PLAN_H

#include <linux/dealbox.h>

#include <dealbox/deal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* pockets maps hand to pocket: pockets[hand]. NULL is the identity mapping. */

/*
 * Parses a pocket order: the seats whose hands pockets 0, 1, 2, 3 get, "NESW" or "SWEN". -EINVAL: a
 * seat is missing or repeated.
 */
DEALBOX_API int dealbox_pockets_parse(const char *order, uint8_t pockets[DEALBOX_HANDS]);

/*
 * Makes a plan by card: the machine reads each card. plan_id is the caller's number, neither
 * DEALBOX_PLAN_NONE nor DEALBOX_PLAN_TEST. Returns 0, or -EINVAL: the deal is incomplete, the
 * plan_id is reserved, or two hands have the same pocket or one has an impossible pocket.
 */
DEALBOX_API int dealbox_plan_by_card(struct dealbox_plan *plan, uint32_t plan_id,
				     const struct dealbox_deal *deal,
				     const struct dealbox_pack *pack,
				     const uint8_t *pockets);

/*
 * Makes a plan by position: the machine counts the cards of a deck whose order is known. deck has
 * the card of each position, count of them: each card of the pack once. Same errors, and -EINVAL:
 * deck does not have each card once.
 */
DEALBOX_API int dealbox_plan_by_position(struct dealbox_plan *plan, uint32_t plan_id,
					 const struct dealbox_deal *deal,
					 const struct dealbox_pack *pack,
					 const uint8_t *pockets,
					 const uint8_t *deck, size_t count);

/*
 * Makes a capture plan: every card is read and let into that one pocket. -EINVAL: the plan_id is
 * reserved, or no machine has such a pocket.
 */
DEALBOX_API int dealbox_plan_capture(struct dealbox_plan *plan, uint32_t plan_id,
				     uint8_t pocket);

/* Overwrites the plan in a way that the compiler cannot optimise away. */
DEALBOX_API void dealbox_plan_wipe(struct dealbox_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
