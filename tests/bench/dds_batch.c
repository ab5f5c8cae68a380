// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reference of bench_double_dummy.py: one call of libdds for all deals of standard input, with
 * the limits of dealbox-double-dummy. A line per deal: the seat of each card, as its input.
 */
#include <stdio.h>
#include <string.h>

#include <dds/dll.h>

int main(void)
{
	static struct ddTableDeals deals;
	static struct ddTablesRes tables;
	static struct allParResults par;
	int every_strain[DDS_STRAINS] = { 0 };
	char line[64];

	SetResources(60, 2);
	for (; deals.noOfTables < MAXNOOFTABLES && fgets(line, sizeof(line), stdin);
	     deals.noOfTables++)
		for (int card = 0; card < 52; card++)
			deals.deals[deals.noOfTables].cards[line[card] - '0'][card / 13] |=
				1u << (14 - card % 13);
	if (CalcAllTables(&deals, -1, every_strain, &tables, &par) != RETURN_NO_FAULT)
		return 1;
	for (int i = 0; i < deals.noOfTables; i++) {
		for (int strain = 0; strain < DDS_STRAINS; strain++)
			for (int seat = 0; seat < DDS_HANDS; seat++)
				printf("%x",
				       (unsigned int)tables.results[i].resTable[strain][seat]);
		putchar('\n');
	}
	return 0;
}
