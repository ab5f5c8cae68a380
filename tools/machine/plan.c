// SPDX-License-Identifier: LGPL-2.1-or-later
/* The check of a plan block. */
#include "plan.h"

#include "bytes.h"

#define MAGIC	0x50584244

static bool is_mode(const struct core_config *config, uint8_t mode)
{
	static const uint32_t needed[] = { 0, CORE_BY_CARD, CORE_BY_POSITION, CORE_CAPTURE };

	return mode < sizeof(needed) / sizeof(needed[0]) && config->capabilities & needed[mode];
}

static bool is_count(const struct core_config *config, uint8_t mode, uint8_t entries)
{
	if (!entries || entries > config->plan_cards)
		return false;
	return mode == CORE_MODE_CARD ? entries <= CORE_CARDS :
	       mode == CORE_MODE_CAPTURE ? entries == 1 : true;
}

/* Returns the offset of the first field at fault, -1: none */
static int fault(const struct core_config *config, const uint8_t *block, uint32_t number)
{
	const uint8_t mode = block[6], entries = block[12], *entry = block + PLAN_ENTRIES;
	uint8_t counts[CORE_POCKETS] = { 0 }, cards = 0;

	if (get_u32(block) != MAGIC)
		return 0;
	if (block[5] != 1)
		return 4;
	if (!is_mode(config, mode))
		return 6;
	if (block[7])
		return 7;
	if (get_u32(block + 8) != number)
		return 8;
	if (!is_count(config, mode, entries))
		return 12;
	for (int i = 0; i < entries && mode != CORE_MODE_CAPTURE; i++) {
		cards += mode == CORE_MODE_POSITION || entry[i] != CORE_NONE;
		if (entry[i] < CORE_POCKETS)
			counts[entry[i]]++;
	}
	if (block[13] != cards || (!cards && mode != CORE_MODE_CAPTURE))
		return 13;
	if (get_u16(block + 14))
		return 14;
	for (int i = 0; i < CORE_POCKETS; i++)
		if (block[16 + i] != counts[i] || counts[i] > config->capacity)
			return 16 + i;
	if (get_u32(block + 24) || get_u32(block + 28))
		return 24;
	for (int i = 0; i < entries; i++)
		if (entry[i] >= config->pockets &&
		    !(mode == CORE_MODE_CARD && entry[i] == CORE_NONE))
			return PLAN_ENTRIES + i;
	return -1;
}

int plan_check(const struct core_config *config, const uint8_t *block, uint32_t length,
	       uint32_t number, uint32_t *detail)
{
	uint32_t crc;
	int at;

	*detail = 12;
	if (length != 36u + block[12])
		return PLAN_BAD;
	crc = record_crc(block, length - 4);
	*detail = crc;
	if (get_u32(block + length - 4) != crc)
		return PLAN_CRC;
	at = fault(config, block, number);
	*detail = at < 0 ? 0 : (uint32_t)at;
	return at < 0 ? PLAN_OK : PLAN_BAD;
}
