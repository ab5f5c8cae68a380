// SPDX-License-Identifier: LGPL-2.1-or-later
/* audit FILE: were these deals, which have been played, as random deals should be? */
#include <stdio.h>

#include <dealbox/audit.h>
#include <dealbox/format.h>

int main(int argc, char **argv)
{
	struct dealbox_audit_test tests[32];
	struct dealbox_audit *audit = dealbox_audit_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	size_t count;

	if (argc != 2 || !audit || !set ||
	    dealbox_format_read_file(NULL, argv[1], set, NULL, NULL) ||
	    dealbox_audit_add(audit, set, argv[1]))
		return 1;
	/* later versions may have more tests than there is room for */
	count = dealbox_audit_run(audit, tests, 32);
	for (size_t i = 0; i < count && i < 32; i++)
		if (tests[i].enough)
			printf("%s: p = %.3f\n", tests[i].what, tests[i].corrected);
	dealbox_set_free(set);
	dealbox_audit_free(audit);
	return 0;
}
