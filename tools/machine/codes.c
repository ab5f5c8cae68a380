// SPDX-License-Identifier: LGPL-2.1-or-later
#include "codes.h"

/* Spades from the ace to the two, hearts, diamonds, clubs, joker */
static const uint16_t codes[CODES] = {
	0x152, 0x12a, 0x16a, 0x0d6, 0x196, 0x0aa, 0x14a,
	0x0ca, 0x19a, 0x09a, 0x096, 0x132, 0x0b2,
	0x092, 0x16d, 0x14d, 0x12d, 0x0ad, 0x0cd, 0x18d,
	0x165, 0x065, 0x125, 0x0a5, 0x08d, 0x06d,
	0x192, 0x155, 0x0d5, 0x195, 0x095, 0x169, 0x069,
	0x129, 0x0a9, 0x159, 0x099, 0x153, 0x093,
	0x0d2, 0x0d9, 0x166, 0x163, 0x199, 0x133, 0x0b3,
	0x0d3, 0x193, 0x066, 0x156, 0x0a6, 0x126,
	0x06a
};

uint8_t code_card(uint16_t code)
{
	for (uint8_t card = 0; card < CODES; card++)
		if (codes[card] == code)
			return card;
	return CODE_NO_CARD;
}

uint16_t code_of(uint8_t card)
{
	return codes[card];
}

uint16_t code_turned(uint16_t code)
{
	uint16_t turned = 0;

	for (int module = 0; module < CODE_MODULES; module++)
		turned |= (uint16_t)((code >> module & 1) << (CODE_MODULES - 1 - module));
	return turned;
}

unsigned int code_near(uint16_t code, uint8_t cards[CODE_NEAR_MAX])
{
	unsigned int count = 0;

	for (uint8_t card = 0; card < CODES; card++) {
		const uint16_t differ = codes[card] ^ code;

		if (!(differ & (differ - 1)))
			cards[count++] = card;
	}
	return count;
}
