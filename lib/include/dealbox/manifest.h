/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A manifest: what the organiser of a Square Deal tournament promises, all of it, signed. The
 * hash in a .sqd covers the keys alone; this covers the name, which value will be mixed
 * in, each phase with its sessions and board ranges, the hash of the keys, and the time.
 *
 * docs/certificate.md has the format, byte by byte, and what it proves.
 */
#ifndef DEALBOX_MANIFEST_H
#define DEALBOX_MANIFEST_H

#include <dealbox/square.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_SIGNER_KEY	32	/* bytes of a public key (Ed25519) */
#define DEALBOX_HASH		32	/* bytes of a hash (SHA-256) or commitment (BLAKE2b) */

/* Somebody who signs: an organiser, or the PC at a machine. */
struct dealbox_signer;

/* Makes a new pair of keys. -ENOMEM. */
DEALBOX_API int dealbox_signer_new(struct dealbox_random *random, struct dealbox_signer **signer);

/* Wipes and frees it. NULL is allowed. */
DEALBOX_API void dealbox_signer_free(struct dealbox_signer *signer);

/* The secret key as text, terminated; wipe and free(3) it. NULL = out of memory. */
DEALBOX_API char *dealbox_signer_print(const struct dealbox_signer *signer);

/* Reads that text. -EINVAL, -ENOMEM. */
DEALBOX_API int dealbox_signer_parse(const void *data, size_t size, struct dealbox_signer **signer,
				     struct dealbox_fault *fault);

/* The public key: DEALBOX_SIGNER_KEY bytes, that live as the signer. */
DEALBOX_API const uint8_t *dealbox_signer_public(const struct dealbox_signer *signer);

struct dealbox_manifest;

/*
 * Signs what a published tournament promises, at a time (UTC, seconds since 1970). The text,
 * terminated; free(3) it. NULL: it is not published, or no memory; see the fault.
 */
DEALBOX_API char *dealbox_manifest_make(const struct dealbox_square *square,
					const struct dealbox_signer *signer, int64_t time,
					struct dealbox_fault *fault);

/*
 * Reads a manifest and checks that it is one, in the one form that it may have, with a right
 * signature. Whose it is, is for the caller to check. -EINVAL: not a manifest, or not in
 * that form; -EKEYREJECTED: the signature is wrong; -ENOMEM.
 */
DEALBOX_API int dealbox_manifest_parse(const void *data, size_t size,
				       struct dealbox_manifest **manifest,
				       struct dealbox_fault *fault);

/* Frees it. NULL is allowed. */
DEALBOX_API void dealbox_manifest_free(struct dealbox_manifest *manifest);

/* What it promises; the value is not known in it. Lives as the manifest. */
DEALBOX_API const struct dealbox_square *
dealbox_manifest_square(const struct dealbox_manifest *manifest);

/* The public key that signed it, and its hash. They live as the manifest. */
DEALBOX_API const uint8_t *dealbox_manifest_signer(const struct dealbox_manifest *manifest);
DEALBOX_API const uint8_t *dealbox_manifest_hash(const struct dealbox_manifest *manifest);

/* When it was signed: UTC, seconds since 1970. */
DEALBOX_API int64_t dealbox_manifest_time(const struct dealbox_manifest *manifest);

/*
 * Is that description, apart from its value, what the manifest promises? -EBADMSG: no, the
 * fault says what differs.
 */
DEALBOX_API int dealbox_manifest_compare(const struct dealbox_manifest *manifest,
					 const struct dealbox_square *square,
					 struct dealbox_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
