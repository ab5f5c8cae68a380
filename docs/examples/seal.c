// SPDX-License-Identifier: LGPL-2.1-or-later
/* seal PASSPHRASE: seals some text, and opens it again. A real program asks for the passphrase. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/error.h>
#include <dealbox/seal.h>

int main(int argc, char **argv)
{
	struct dealbox_seal_secret secret = { .passphrase = argc == 2 ? argv[1] : "" };
	char name[DEALBOX_SEAL_NAME], contents[] = "tomorrow's deals\n";
	struct dealbox_random *random;
	struct dealbox_error error;
	void *sealed = NULL, *opened = NULL;
	size_t size;
	int err;

	if (dealbox_random_new(&random))
		return 1;
	err = dealbox_seal(contents, strlen(contents), "monday.pbn", &secret, random, &sealed,
			   &size, &error);
	if (!err)
		err = dealbox_unseal(sealed, size, &secret, &opened, &size, name, &error);
	if (err) {
		fprintf(stderr, "%s; %s\n", error.what, error.next);
	} else {
		printf("%s: %s", name, (char *)opened);
		explicit_bzero(opened, size);
	}
	free(opened);
	free(sealed);
	dealbox_random_free(random);
	return err ? 1 : 0;
}
