/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files: read into memory as a whole, and written so that either the whole new file or the
 * old one exists. All functions report errors.
 */
#ifndef FILES_H
#define FILES_H

#include <dealbox/error.h>

#include "tool.h"

#define FILE_SIZE_MAX	((size_t)64 << 20)

struct blob {
	char *data;	/* terminated by a zero that size does not count */
	size_t size;
};

/* Reads a file. blob_wipe() it, in case of failure too. */
bool file_read(const char *path, struct blob *out);

/* The same for a secret: refused when anybody but its owner may read it. */
bool file_read_secret(const char *path, struct blob *out);

/* Overwrites and frees. */
void blob_wipe(struct blob *blob);

enum file_kind {
	FILE_PUBLIC,	/* mode 0666 less the umask */
	FILE_SECRET,	/* 0600 */
};

/*
 * Writes a file: to another name in the same folder, synced, then given its name, and the
 * folder synced. Without replace, a file that is there already is an error.
 */
bool file_write(const char *path, const void *data, size_t size, enum file_kind kind, bool replace);

/* Returns true if the name exists. */
bool file_exists(const char *path);

/* Reports a fault of the library, with its file. Returns STATUS_INPUT. */
enum status fault_say(const char *path, const struct dealbox_error *error);

#endif
