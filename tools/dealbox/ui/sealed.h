/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sealed files as commands meet them: opened in memory, with a director's key or with a
 * passphrase that is asked for.
 */
#ifndef SEALED_H
#define SEALED_H

#include <dealbox/seal.h>

#include "files.h"

/* Returns true for a sealed file. */
bool sealed_is(const char *path);

/* The option of commands that open sealed files; give its argument to sealed_use_key(). */
#define OPT_KEY		{ 'k', "key", "FILE", "the director's key, for files sealed for it" }
void sealed_use_key(const char *path);

/*
 * Opens a sealed file. False, and said, if that cannot be; blob_wipe() in either case. name
 * gets the name that the file had.
 */
bool sealed_open(const char *path, struct blob *out, char name[DEALBOX_SEAL_NAME]);

/*
 * Asks for a passphrase, without showing it; twice when it is a new one. Without a
 * terminal it is the next line of the standard input. NULL, and said, when there is none;
 * passphrase_free() it.
 */
char *passphrase_ask(bool new);
void passphrase_free(char *passphrase);

/* A director's public key, from its file. False, and said, if that cannot be. */
bool public_key_read(const char *path, uint8_t key[DEALBOX_SEAL_KEY]);

/* The kernel's random bits; NULL, and said, when it has none. */
struct dealbox_random *random_start(void);

#endif
