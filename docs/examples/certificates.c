// SPDX-License-Identifier: LGPL-2.1-or-later
/* certificates MANIFEST FILE: checks a file of certificates, and lists the boards. */
#include <stdio.h>

#include <dealbox/certificate.h>
#include <dealbox/manifest.h>
#include <dealbox/square.h>

static size_t load(const char *path, char *data, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(data, 1, size, file) : 0;

	if (file)
		fclose(file);
	return got;
}

int main(int argc, char **argv)
{
	static char data[1 << 20];
	struct dealbox_certificates *certificates;
	const struct dealbox_certificate *one;
	struct dealbox_manifest *manifest;
	struct dealbox_error error;

	if (argc != 3)
		return 2;
	if (dealbox_manifest_parse(data, load(argv[1], data, sizeof(data)), &manifest, &error)) {
		fprintf(stderr, "%s: %s\n", argv[1], error.what);
		return 1;
	}
	printf("%s\n", dealbox_square_name(dealbox_manifest_square(manifest)));
	if (dealbox_certificates_parse(data, load(argv[2], data, sizeof(data)), manifest,
				       &certificates, &error)) {
		fprintf(stderr, "%s: line %u: %s\n", argv[2], error.line, error.what);
		return 1;
	}
	for (size_t i = 0; (one = dealbox_certificates_get(certificates, i)); i++)
		printf("%s, board %u, copy %u: %s\n", one->session, one->board, one->copy,
		       one->exact ? "exact" : "void");
	dealbox_certificates_free(certificates);
	dealbox_manifest_free(manifest);
	return 0;
}
