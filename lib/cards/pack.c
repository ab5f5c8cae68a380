// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pack-internal.h"

#include <string.h>

static const struct dealbox_pack packs[] = {
	{ "bridge", DEALBOX_PACK_BRIDGE, 4, { 13, 13, 13, 13 } },
	{ "preferans", DEALBOX_PACK_PREFERANS, 4, { 10, 10, 10, 2 } },
};

const struct dealbox_pack *dealbox_pack_bridge(void)
{
	return &packs[0];
}

const struct dealbox_pack *dealbox_pack_preferans(void)
{
	return &packs[1];
}

size_t dealbox_pack_sorted(const struct dealbox_pack *pack, uint8_t deck[64])
{
	size_t count = 0;

	pack = pack_or_bridge(pack);
	for (uint8_t card = 0; card < 64; card++)
		if (pack->cards >> card & 1)
			deck[count++] = card;
	return count;
}

const struct dealbox_pack *dealbox_pack_find(const char *name)
{
	for (size_t i = 0; i < sizeof(packs) / sizeof(*packs); i++)
		if (!strcmp(packs[i].name, name))
			return &packs[i];
	return NULL;
}
