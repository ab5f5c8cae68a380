// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints operator-states.md: each state of lib/dealing/operator.c, and what the operator is told.
 * It runs when dealbox is built, also for another machine, so it links that file alone.
 */
#include <stdio.h>
#include <string.h>

#include <dealbox/law.h>
#include <dealbox/operator.h>

/* Translations are in the library; the page is in English. */
const char *dealbox_law_translate(const char *language, const char *message)
{
	(void)language;
	return message;
}

int main(void)
{
	/* no text has these numbers but for board and copy */
	static const struct dealbox_operator_facts facts = { .board = 9, .copy = 9 };
	char text[1024], *at;
	unsigned int n;

	puts("<!-- SPDX-License-" "Identifier: CC-BY-SA-4.0 -->\n"
	     "# Operator states\n"
	     "What `State` on the bus can be ([daemon.md](daemon.md)), and what `Instruction`\n"
	     "says then. E1 to E17 are rows of the field's list of errors. N stands for the\n"
	     "number of a board or a copy.\n\n"
	     "| state | row | way on |\n"
	     "|---|---|---|");
	for (n = 0; n < DEALBOX_OPERATOR_STATES; n++) {
		dealbox_operator_text(n, &facts, NULL, text, sizeof(text));
		for (at = text; (at = strchr(at, '9')); at++)
			*at = 'N';
		printf("| %s | %s | %s |\n", dealbox_operator_name(n), dealbox_operator_rows(n),
		       text);
	}
	return 0;
}
