/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NULL means bridge. Not exported. */
#ifndef PACK_H
#define PACK_H

#include <dealbox/pack.h>

static inline const struct dealbox_pack *pack_or_bridge(const struct dealbox_pack *pack)
{
	return pack ? pack : dealbox_pack_bridge();
}

#endif
