// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * lines_learn FILE: dealbox-machine --learn without the rest of the program.
 * lines_learn --measure WIRING: the same of --measure
 */
#include <string.h>

#include "learn.h"
#include "measure.h"

static int measure_file(const char *path)
{
	static struct wiring wiring;
	static char text[8192];
	FILE *file = fopen(path, "r");

	if (!file)
		return 1;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return wiring_read(&wiring, text) || measure(&wiring, stdout);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--measure"))
		return measure_file(argv[2]);
	return argc == 2 && !learn(argv[1], stdin, stdout) ? 0 : 1;
}
