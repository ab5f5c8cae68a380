/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A deal: who holds which card.
 */
#ifndef DEALBOX_DEAL_H
#define DEALBOX_DEAL_H

#include <dealbox/card.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_HANDS	4

/*
 * Bridge: hand[DEALBOX_NORTH..DEALBOX_WEST]. Preferans: three hands and, in
 * hand[3], the talon. A plain value: copy it, compare it, wipe it.
 */
struct dealbox_deal {
	dealbox_cards hand[DEALBOX_HANDS];
};

#ifdef __cplusplus
}
#endif
#endif
