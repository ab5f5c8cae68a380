/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening of sealed files in memory, with a director's key or a passphrase that the user types.
 */
#ifndef SEALED_H
#define SEALED_H

#include <dealbox/seal.h>

#include "files.h"

/* Return true for a sealed file. */
bool sealed_is(const char *path);

/* Option of commands that open sealed files; pass its argument to sealed_use_key(). */
#define OPT_KEY		{ 'k', "key", "FILE", "the director's key, for files sealed for it" }
void sealed_use_key(const char *path);

/*
 * Open a sealed file. name is set to the original name of the file. Returns false after reporting
 * an error. Call blob_wipe() in any case.
 */
bool sealed_open(const char *path, struct blob *out, char name[DEALBOX_SEAL_NAME]);

/*
 * The same for a sealed file on standard input whose first line is its secret: a passphrase, or the
 * director's key as its file has it. sealed_secret_first() reads that line, and returns false after
 * reporting an error; forget the secret afterwards.
 */
bool sealed_secret_first(void);
bool sealed_secret_given(void);
/* Return true if a file could not be opened because its secret is another one. */
bool sealed_secret_refused(void);
bool sealed_open_piped(struct blob *out, char name[DEALBOX_SEAL_NAME]);
void sealed_secret_forget(void);

/*
 * Prompt for a passphrase without echo, twice for a new one. Without a terminal, read a line from
 * standard input. Returns NULL after reporting an error. Free it with passphrase_free().
 */
char *passphrase_ask(bool new);
void passphrase_free(char *passphrase);

/* Read a director's public key from its file. Returns false after reporting an error. */
bool public_key_read(const char *path, uint8_t key[DEALBOX_SEAL_KEY]);

/* Open the kernel's random number generator. Returns NULL after reporting an error. */
struct dealbox_random *random_start(void);

#endif
