// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Par of tables on standard input, for double-dummy-par: 20 hexadecimal digits per line, as
 * dealbox-double-dummy writes them. For each dealer and vulnerability (None, NS, EW, All) a line on
 * standard output: the score for North-South and the contracts; and, behind a bar, the same as
 * libdds has it.
 */
#include <stdio.h>
#include <string.h>

/* both have a struct deal, and others */
#define boards dds_boards
#include <dds/dll.h>
#undef boards

#include "double-dummy/double-dummy.h"

static bool read_table(struct double_dummy *table)
{
	unsigned int digit;

	for (int i = 0; i < DENOMINATIONS * DEALBOX_HANDS; i++) {
		if (scanf("%1x", &digit) != 1)
			return false;
		table->tricks[i / DEALBOX_HANDS][i % DEALBOX_HANDS] = (uint8_t)digit;
	}
	return true;
}

static void print_par(const struct double_dummy *table, int dealer, int vulnerable)
{
	char text[PAR_CONTRACT_TEXT];
	struct par par;

	par_compute(table, dealer, (enum dealbox_vulnerable)vulnerable, &par);
	printf("%d", par.score);
	for (unsigned int i = 0; i < par.count; i++)
		printf(",%s", par_contract_format(&par.contracts[i], text));
}

static void print_dds(const struct double_dummy *table, int dealer, int vulnerable)
{
	static const int vulnerabilities[] = { 0, 2, 3, 1 };
	struct parResultsDealer par = { 0 };
	struct ddTableResults results;

	for (int i = 0; i < DENOMINATIONS; i++)
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			results.resTable[i][seat] = table->tricks[i][seat];
	DealerPar(&results, &par, dealer, vulnerabilities[vulnerable]);
	printf("|%d", par.score);
	for (int i = 0; i < par.number; i++)
		printf(",%s", par.contracts[i]);
	putchar('\n');
}

int main(void)
{
	struct double_dummy table;

	while (read_table(&table))
		for (int dealer = 0; dealer < DEALBOX_HANDS; dealer++)
			for (int vulnerable = 0; vulnerable < 4; vulnerable++) {
				print_par(&table, dealer, vulnerable);
				print_dds(&table, dealer, vulnerable);
			}
	return 0;
}
