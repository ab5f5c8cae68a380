/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A manifest: the complete promise of the organiser of a Square Deal tournament, signed. The hash
 * in a .sqd covers the keys alone; a manifest covers the name, the description of the value that
 * will be mixed in, each phase with its sessions and board ranges, the hash of the keys, the time,
 * the number of copies, and the PCs and machines that may deal.
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

/* A signer: an organiser, or the PC at a machine. */
struct dealbox_signer;

/* Makes a new pair of keys. -ENOMEM. */
DEALBOX_API int dealbox_signer_new(struct dealbox_random *random, struct dealbox_signer **signer);

/* Wipes and frees the signer. NULL is allowed. */
DEALBOX_API void dealbox_signer_free(struct dealbox_signer *signer);

/* Returns the secret key as text, terminated, or NULL if out of memory. Wipe it and free(3) it. */
DEALBOX_API char *dealbox_signer_print(const struct dealbox_signer *signer);

/* Parses the text of a secret key. -EINVAL, -ENOMEM. */
DEALBOX_API int dealbox_signer_parse(const void *data, size_t size, struct dealbox_signer **signer,
				     struct dealbox_error *error);

/* Returns the public key: DEALBOX_SIGNER_KEY bytes, valid as long as the signer. */
DEALBOX_API const uint8_t *dealbox_signer_public(const struct dealbox_signer *signer);

struct dealbox_manifest;

#define DEALBOX_COPIES_MAX	65535	/* of a board */

/* A machine that may deal the boards of a manifest. */
struct dealbox_promised_machine {
	bool keyed;			/* it has a key, with which it signs what it dealt */
	bool emulator;			/* the key is that of a program, which deals no cards */
	uint8_t key[DEALBOX_SIGNER_KEY];	/* its public key, zeros unless keyed */
	char name[128];			/* permanent name */
	uint32_t reserved[4];	/* 0 */
};

/* The promises of a manifest, besides the tournament. Start from zeros. */
struct dealbox_promise {
	unsigned int copies;		/* of each board, 1..DEALBOX_COPIES_MAX */
	const uint8_t (*pcs)[DEALBOX_SIGNER_KEY]; /* public keys of the PCs that may certify */
	size_t pc_count;		/* 0: it names none */
	const struct dealbox_promised_machine *machines;
	size_t machine_count;		/* 0: any machine may deal, and need not sign */
	uint32_t reserved[8];	/* 0 */
};

/*
 * Parses a machine as a manifest has it, "KEY real NAME" or "- real NAME", with "emulator" instead
 * of "real" for a program. -EINVAL.
 */
DEALBOX_API int dealbox_promised_machine_parse(const char *text,
					       struct dealbox_promised_machine *machine);

/* Returns the same text for a machine, or NULL if out of memory; free(3) it. */
DEALBOX_API char *
dealbox_promised_machine_print(const struct dealbox_promised_machine *machine);

/*
 * Signs the promise of a published tournament, at time_s (UTC, seconds since 1970). PCs and
 * machines may be in any order. promise may be NULL: the manifest is of version 1 then, which has
 * none. Returns the text, terminated; free(3) it. Returns NULL if the tournament is not published,
 * if a number of copies, name, key or machine does not fit or is there twice (*error has the
 * reason, with code -EINVAL), or if out of memory (-ENOMEM).
 */
DEALBOX_API char *dealbox_manifest_make(const struct dealbox_square *square,
					const struct dealbox_promise *promise,
					const struct dealbox_signer *signer, int64_t time_s,
					struct dealbox_error *error);

/*
 * Parses a manifest and checks its form and signature. The caller checks who the signer is.
 * -EINVAL: not a manifest, or not in the one valid form; -EKEYREJECTED: the signature is wrong;
 * -ENOMEM.
 */
DEALBOX_API int dealbox_manifest_parse(const void *data, size_t size,
				       struct dealbox_manifest **manifest,
				       struct dealbox_error *error);

/* Frees the manifest. NULL is allowed. */
DEALBOX_API void dealbox_manifest_free(struct dealbox_manifest *manifest);

/*
 * Returns the promised tournament, without the value, which is not known yet. Valid as long as the
 * manifest.
 */
DEALBOX_API const struct dealbox_square *
dealbox_manifest_square(const struct dealbox_manifest *manifest);

/*
 * Returns what is promised besides the tournament, or NULL: the manifest is of version 1 and
 * promises nothing else. PCs and machines are sorted. Valid as long as the manifest.
 */
DEALBOX_API const struct dealbox_promise *
dealbox_manifest_promise(const struct dealbox_manifest *manifest);

/*
 * Returns the public key of the signer, or the hash of the manifest. Valid as long as the manifest.
 */
DEALBOX_API const uint8_t *dealbox_manifest_signer(const struct dealbox_manifest *manifest);
DEALBOX_API const uint8_t *dealbox_manifest_hash(const struct dealbox_manifest *manifest);

/* Returns the time of the signature: UTC, seconds since 1970. */
DEALBOX_API int64_t dealbox_manifest_time(const struct dealbox_manifest *manifest);

/*
 * Checks that a description, apart from its value, is the one that the manifest promises. -EBADMSG:
 * it is not; *error says what differs.
 */
DEALBOX_API int dealbox_manifest_compare(const struct dealbox_manifest *manifest,
					 const struct dealbox_square *square,
					 struct dealbox_error *error);

#ifdef __cplusplus
}
#endif
#endif
