// SPDX-License-Identifier: LGPL-2.1-or-later
/* judge: reads the record of a deal from its input, and prints rulings. */
#include <stdio.h>
#include <string.h>

#include <dealbox/law.h>

static void ruled(const struct dealbox_ruling *ruling, void *context)
{
	char text[1024];

	(void)context;
	dealbox_ruling_text(ruling, "en", text, sizeof(text));
	printf("%lu: %s\n", ruling->line, text);
}

int main(void)
{
	struct dealbox_judge *judge = dealbox_judge_new(ruled, NULL);
	struct dealbox_error error;
	char line[1024];
	int err = judge ? 0 : 1;

	while (!err && fgets(line, sizeof(line), stdin))
		err = dealbox_judge_line(judge, line, strcspn(line, "\n"), &error);
	if (err && judge)
		fprintf(stderr, "line %u: %s\n", error.line, error.what);
	dealbox_judge_free(judge);
	return err ? 1 : 0;
}
