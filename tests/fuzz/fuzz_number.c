// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of deals, and deals, as people type them: written and read again, they are the same. */
#include <dealbox/deal.h>
#include <dealbox/number.h>

#include "fuzz.h"

static void read_number(const char *text)
{
	enum dealbox_numbering numbering;
	struct dealbox_number number, again;
	char digits[80];

	if (dealbox_number_parse(text, &number))
		return;
	CHECK(dealbox_number_print(number, digits, sizeof(digits)) < sizeof(digits));
	CHECK(!dealbox_number_parse(digits, &again) && !dealbox_number_compare(again, number));
	for (numbering = 0; numbering < 4; numbering++) {
		struct dealbox_deal deal;

		if (dealbox_number_unrank(number, numbering, &deal))
			continue;
		CHECK(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
		CHECK(!dealbox_number_rank(&deal, numbering, &again) &&
		      !dealbox_number_compare(again, number));
	}
}

static void read_deal(const char *text)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	char written[DEALBOX_DEAL_TEXT];
	struct dealbox_deal deal, again;
	size_t count;

	if (dealbox_deal_parse(text, &deal))
		return;
	count = dealbox_deal_check(&deal, dealbox_pack_bridge(), defects, DEALBOX_DEFECTS_MAX);
	CHECK(count <= DEALBOX_DEFECTS_MAX);
	CHECK(!count == dealbox_deal_complete(&deal, dealbox_pack_bridge()));
	CHECK(dealbox_deal_format(&deal, 0, written) < sizeof(written));
	CHECK(!dealbox_deal_parse(written, &again) && !memcmp(&deal, &again, sizeof(deal)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	CHECK(text);
	read_number(text);
	read_deal(text);
	free(text);
	return 0;
}
