/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Certificates: one for each board that a machine dealt for a tournament with a manifest. It
 * binds the cards in the pockets to the deal that was committed to, and each to the one
 * before. Digests are keyed with a secret, the opening, that is published after play: before
 * that nobody, also not one who knows 39 of the cards, can compute a card from it.
 *
 * docs/certificate.md has the format, byte by byte, and who could cheat where.
 */
#ifndef DEALBOX_CERTIFICATE_H
#define DEALBOX_CERTIFICATE_H

#include <dealbox/manifest.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_OPENING	32	/* bytes of an opening */

struct dealbox_certificate {
	uint8_t manifest[DEALBOX_HASH];	/* hash of the manifest */
	char session[128];		/* name of its file, without suffix */
	uint32_t board, copy;		/* copy from 1 */
	char pockets[DEALBOX_HANDS + 1];	/* seat of each pocket, "NESW" */
	uint8_t plan[DEALBOX_HASH];	/* commitments */
	uint8_t trace[DEALBOX_HASH];
	bool exact;			/* the verdict; false = void */
	enum dealbox_basis basis;	/* what it rests on */
	bool identified;		/* was each card read? */
	char machine[128];		/* its lasting name */
	uint32_t insertion;
	int64_t time;			/* UTC, microseconds since 1970 */
	uint8_t previous[DEALBOX_HASH];	/* hash of the one before; of the manifest for the first */

	/* these are set when it is signed or read */
	uint8_t signer[DEALBOX_SIGNER_KEY];
	uint8_t hash[DEALBOX_HASH];	/* of this certificate */
};

/*
 * Fills in plan and trace, from the deal and from what the machine reported; every other
 * field up to insertion must be set. trace NULL: who has it has committed to it, with the
 * salt of this certificate, and the field is set. -EINVAL: pockets.
 */
DEALBOX_API int dealbox_certificate_commit(struct dealbox_certificate *certificate,
					   const uint8_t opening[DEALBOX_OPENING],
					   const struct dealbox_deal *deal,
					   const struct dealbox_trace *trace);

/*
 * The salt of a certificate's commitments, from all of it that names the board: manifest,
 * session, board, copy, machine and insertion. The caller wipes it.
 */
DEALBOX_API void dealbox_certificate_salt(const struct dealbox_certificate *certificate,
					  const uint8_t opening[DEALBOX_OPENING],
					  uint8_t salt[DEALBOX_HASH]);

/*
 * Commits to what the machine reported, where the trace is and the opening is not. The
 * digest tells nothing of it, also to who has the salt: each event has its time in it.
 */
DEALBOX_API void dealbox_trace_commit(const struct dealbox_trace *trace,
				      const uint8_t salt[DEALBOX_HASH],
				      uint8_t digest[DEALBOX_HASH]);

/* Is that the deal, and that the trace (NULL: not asked), to which it commits? */
DEALBOX_API bool dealbox_certificate_opens(const struct dealbox_certificate *certificate,
					   const uint8_t opening[DEALBOX_OPENING],
					   const struct dealbox_deal *deal,
					   const struct dealbox_trace *trace);

/*
 * Signs it: sets signer and hash, and gives its text, terminated, for the end of the file of
 * certificates. free(3) it. NULL: a field holds what the format cannot, or no memory.
 */
DEALBOX_API char *dealbox_certificate_sign(struct dealbox_certificate *certificate,
					   const struct dealbox_signer *signer);

/* A file of certificates, of one signer, from the first on. */
struct dealbox_certificates;

/*
 * Reads a file of certificates for that manifest, and checks form, signatures and chain.
 * -EINVAL: form; -EKEYREJECTED: a signature is wrong, or not all are of one signer; -EBADMSG:
 * the chain is broken, or they are for another manifest; -ENOMEM. An empty file is right.
 */
DEALBOX_API int dealbox_certificates_parse(const void *data, size_t size,
					   const struct dealbox_manifest *manifest,
					   struct dealbox_certificates **certificates,
					   struct dealbox_fault *fault);

/* Frees it. NULL is allowed. */
DEALBOX_API void dealbox_certificates_free(struct dealbox_certificates *certificates);

/* How many certificates the file has. */
DEALBOX_API size_t dealbox_certificates_count(const struct dealbox_certificates *certificates);

/* The one with that index, NULL beyond. It lives as the certificates, as does the next. */
DEALBOX_API const struct dealbox_certificate *
dealbox_certificates_get(const struct dealbox_certificates *certificates, size_t index);

/* The opening, NULL while it is not published. It ends the file: nothing was cut off. */
DEALBOX_API const uint8_t *
dealbox_certificates_opening(const struct dealbox_certificates *certificates);

/* What the next certificate has as previous: hash of the last, or of the manifest. */
DEALBOX_API const uint8_t *
dealbox_certificates_head(const struct dealbox_certificates *certificates);

/*
 * The text that publishes the opening, for the end of a file of certificates, terminated;
 * free(3) it. NULL: they are open already, or no memory.
 */
DEALBOX_API char *dealbox_certificates_open(const struct dealbox_certificates *certificates,
					    const struct dealbox_signer *signer,
					    const uint8_t opening[DEALBOX_OPENING]);

#ifdef __cplusplus
}
#endif
#endif
