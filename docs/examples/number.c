// SPDX-License-Identifier: LGPL-2.1-or-later
/* number OWNER ENTROPY: the first deal that Big Deal makes of these, its number, and North. */
#include <stdio.h>
#include <string.h>

#include <dealbox/bigdeal.h>
#include <dealbox/card.h>
#include <dealbox/number.h>

int main(int argc, char **argv)
{
	char text[DEALBOX_NUMBER_TEXT], hand[DEALBOX_CARDS_TEXT];
	struct dealbox_bigdeal *bigdeal;
	struct dealbox_deal deal;
	struct dealbox_number number;

	if (argc != 3 ||
	    dealbox_bigdeal_new(argv[1], strlen(argv[1]), argv[2], strlen(argv[2]), &bigdeal))
		return 2;
	if (dealbox_bigdeal_deal(bigdeal, &deal) ||
	    dealbox_number_rank(&deal, DEALBOX_NUMBERING_ANDREWS, &number))
		return 1;
	dealbox_number_print(number, text, sizeof(text));
	dealbox_cards_format(deal.hand[DEALBOX_NORTH], hand);
	printf("%s %s\n", text, hand);
	dealbox_bigdeal_free(bigdeal);
	return 0;
}
