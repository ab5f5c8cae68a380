/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sealed files protect tomorrow's deals on a shared PC. They are sealed for a director's key, or
 * with a passphrase. Without it, only the size is known, and every change is detected.
 * docs/certificate.md lists the remaining attacks.
 *
 * A sealed file is: "DBSEAL1\n"; 'P' (16 bytes of salt, then passes and memory of Argon2id as
 * 64-bit little-endian numbers) or 'K' (the director's public key, then a key for this file in a
 * libsodium sealed box); a libsodium secretstream (XChaCha20-Poly1305) header; and its messages:
 * the name of the file in 256 bytes, then the contents, 64 KiB each. The bytes before the stream
 * are authenticated with the first message.
 */
#ifndef DEALBOX_SEAL_H
#define DEALBOX_SEAL_H

#include <stddef.h>

#include <dealbox/error.h>
#include <dealbox/random.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_SEAL_KEY	32	/* bytes of a key, public or secret */
#define DEALBOX_SEAL_NAME	256	/* size of a buffer for a file name */

enum dealbox_seal_kind {
	DEALBOX_SEAL_NONE,		/* not a sealed file */
	DEALBOX_SEAL_PASSPHRASE,
	DEALBOX_SEAL_FOR_KEY,
};

/* The secret that seals or opens a file: one of the two, the other is NULL. Start from zeros. */
struct dealbox_seal_secret {
	const char *passphrase;	/* its bytes as typed */
	const uint8_t *key;	/* to seal, the director's public key; to open, the secret one */
	uint32_t reserved[8];	/* 0 */
};

/* Makes a pair of keys for a director. */
DEALBOX_API void dealbox_seal_keys(struct dealbox_random *random,
				   uint8_t public_key[DEALBOX_SEAL_KEY],
				   uint8_t secret_key[DEALBOX_SEAL_KEY]);

/* Returns how a file is sealed, by its first bytes. */
DEALBOX_API enum dealbox_seal_kind dealbox_seal_recognise(const void *data, size_t size);

/*
 * Seals size bytes, the contents of a file of that name (without folder). The result is *out_size
 * bytes, to be freed with free(3). -EINVAL: no name, no secret, or an empty passphrase; -ENOMEM,
 * also for the memory that Argon2id needs.
 */
DEALBOX_API int dealbox_seal(const void *data, size_t size, const char *name,
			     const struct dealbox_seal_secret *secret,
			     struct dealbox_random *random, void **out, size_t *out_size,
			     struct dealbox_error *error);

/*
 * Opens a sealed file: gets its name and its contents, terminated by a zero; the caller wipes and
 * frees them. -EKEYREJECTED: the passphrase or key is wrong, or the beginning was changed;
 * -EBADMSG: the file was changed or cut off; -EINVAL: not a sealed file, or one for the other kind
 * of secret; -EPROTONOSUPPORT: from a newer dealbox; -ENOMEM.
 */
DEALBOX_API int dealbox_unseal(const void *data, size_t size,
			       const struct dealbox_seal_secret *secret, void **out,
			       size_t *out_size, char name[DEALBOX_SEAL_NAME],
			       struct dealbox_error *error);

#ifdef __cplusplus
}
#endif
#endif
