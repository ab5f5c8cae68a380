/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files: read into memory as a whole, and replaced atomically. Functions of type bool return
 * false after reporting an error.
 */
#ifndef FILES_H
#define FILES_H

#include <dealbox/error.h>

#include "tool.h"

/* A file of 50,000 certificates has 70 MB. */
#define FILE_SIZE_MAX	((size_t)256 << 20)

struct blob {
	char *data;	/* with a terminating zero, not counted in size */
	size_t size;
};

/* Read a file. Call blob_wipe() in any case. */
bool file_read(const char *path, struct blob *out);

/* The same for a secret. Refuses a file that others than its owner may read. */
bool file_read_secret(const char *path, struct blob *out);

/* Read standard input, of at most room bytes. Call blob_wipe() in any case. */
bool file_read_piped(size_t room, struct blob *out);

/* Overwrite and free the data. */
void blob_wipe(struct blob *blob);

enum file_kind {
	FILE_PUBLIC,	/* mode 0666 & ~umask */
	FILE_SECRET,	/* mode 0600 */
};

/*
 * Write a file atomically: write and sync a temporary file in the same folder, rename it, and sync
 * the folder. Without replace, an existing file is an error.
 */
bool file_write(const char *path, const void *data, size_t size, enum file_kind kind, bool replace);

/* Return true if the name exists. */
bool file_exists(const char *path);

/* Report an error of the library about a file. Returns STATUS_INPUT. */
enum status fault_say(const char *path, const struct dealbox_error *error);

#endif
