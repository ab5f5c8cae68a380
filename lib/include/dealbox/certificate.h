/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Certificates: one for each board that a machine dealt for a tournament with a manifest. A
 * certificate binds the cards in the pockets to the deal that was committed to, and itself to the
 * certificate before. Digests are keyed with a secret, the opening, which is published after play.
 * Before that, nobody can compute a card from it, even knowing 39 of the cards.
 *
 * docs/certificate.md has the format, byte by byte, and a list of attacks.
 */
#ifndef DEALBOX_CERTIFICATE_H
#define DEALBOX_CERTIFICATE_H

#include <dealbox/attestation.h>
#include <dealbox/manifest.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_OPENING	32	/* bytes of an opening */

/* The one who has put the cards into the board. */
enum dealbox_dealt_by {
	DEALBOX_BY_MACHINE,
	DEALBOX_BY_EMULATOR,	/* a program has played the machine: no card was dealt */
	DEALBOX_BY_HAND		/* people; machine is "-", insertion and number are 0 */
};

/* A certificate. To make one, start from zeros. */
struct dealbox_certificate {
	unsigned int version;		/* 1 or 2; 1 has neither by, number nor attestation */
	uint8_t manifest[DEALBOX_HASH];	/* hash of the manifest */
	char session[128];		/* name of its file, without suffix */
	uint32_t board, copy;		/* copy from 1 */
	char pockets[DEALBOX_HANDS + 1];	/* seat of each pocket, "NESW" */
	uint8_t plan[DEALBOX_HASH];	/* commitments */
	uint8_t trace[DEALBOX_HASH];
	bool exact;			/* the verdict; false = void */
	enum dealbox_basis basis;	/* its evidence */
	bool identified;		/* each card was read */
	char machine[128];		/* permanent name */
	uint32_t insertion;
	int64_t time_us;		/* UTC, microseconds since 1970 */
	enum dealbox_dealt_by by;
	uint32_t number;		/* of the plan, as it was given to the machine */
	bool attested; /* the machine signed this insertion: the next three are set */
	uint8_t key[DEALBOX_PUBLIC_KEY_SIZE];	/* of the machine */
	struct dealbox_attestation attestation;
	uint8_t nonce[DEALBOX_NONCE_SIZE];	/* sealed: dealbox_nonce_seal() */
	uint8_t previous[DEALBOX_HASH];	/* hash of the certificate before; of the manifest for the
					 * first */

	/* set when the certificate is signed or read */
	uint8_t signer[DEALBOX_SIGNER_KEY];
	uint8_t hash[DEALBOX_HASH];	/* of this certificate */
	uint32_t reserved[32];	/* 0 */
};

/*
 * Fills in plan and trace, from the deal and the machine's trace; every other field up to insertion
 * must be set. trace is NULL if its owner has already committed to it with the salt of this
 * certificate and the field is set. -EINVAL: pockets.
 */
DEALBOX_API int dealbox_certificate_commit(struct dealbox_certificate *certificate,
					   const uint8_t opening[DEALBOX_OPENING],
					   const struct dealbox_deal *deal,
					   const struct dealbox_trace *trace);

/*
 * Computes the salt of a certificate's commitments, from the fields that identify the board:
 * manifest, session, board, copy, machine and insertion. The caller wipes it.
 */
DEALBOX_API void dealbox_certificate_salt(const struct dealbox_certificate *certificate,
					  const uint8_t opening[DEALBOX_OPENING],
					  uint8_t salt[DEALBOX_HASH]);

/*
 * Commits to a trace, for a program that has the trace but not the opening. The digest reveals
 * nothing about the trace, even with the salt, because each event contains its time.
 */
DEALBOX_API void dealbox_trace_commit(const struct dealbox_trace *trace,
				      const uint8_t salt[DEALBOX_HASH],
				      uint8_t digest[DEALBOX_HASH]);

/*
 * Commits to a deal, for a program that has the deal but not the opening. pockets is as in a
 * certificate. -EINVAL: pockets.
 */
DEALBOX_API int dealbox_plan_commit(const char *pockets, const struct dealbox_deal *deal,
				    const uint8_t salt[DEALBOX_HASH], uint8_t digest[DEALBOX_HASH]);

/*
 * Seals the nonce of an attestation with the salt of its certificate; called again, it opens it.
 * Without the salt, the sealed nonce is of no use.
 */
DEALBOX_API void dealbox_nonce_seal(uint8_t nonce[DEALBOX_NONCE_SIZE],
				    const struct dealbox_attestation *attestation,
				    const uint8_t salt[DEALBOX_HASH]);

/*
 * Compares the attestation of a certificate with the deal, and with the trace unless that is NULL.
 * public_key is the machine's, from the manifest. Without a trace, the plan is compared only. The
 * certificate must have an attestation. Unless the result is DEALBOX_ATTESTED_PROVEN, *reason (may
 * be NULL) says why, with the codes of dealbox_attestation_verify().
 */
DEALBOX_API enum dealbox_attested
dealbox_certificate_word(const struct dealbox_certificate *certificate,
			 const uint8_t opening[DEALBOX_OPENING],
			 const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE],
			 const struct dealbox_deal *deal, const struct dealbox_trace *trace,
			 struct dealbox_error *reason);

/* Returns true if the certificate commits to this deal and this trace (NULL: not checked). */
DEALBOX_API bool dealbox_certificate_opens(const struct dealbox_certificate *certificate,
					   const uint8_t opening[DEALBOX_OPENING],
					   const struct dealbox_deal *deal,
					   const struct dealbox_trace *trace);

/*
 * Signs the certificate: sets signer and hash, and returns its text, terminated, for the end of the
 * file of certificates; free(3) it. Returns NULL if a field does not fit the format, or if out of
 * memory.
 */
DEALBOX_API char *dealbox_certificate_sign(struct dealbox_certificate *certificate,
					   const struct dealbox_signer *signer);

/* A file of certificates by one signer, from the first on. */
struct dealbox_certificates;

/*
 * Parses a file of certificates for that manifest, and checks form, signatures and chain. Only a
 * manifest of version 1 may have certificates of version 1. -EINVAL: form; -EKEYREJECTED: a
 * signature is wrong, or there is more than one signer; -EBADMSG: the chain is broken, or they are
 * for another manifest; -ENOMEM. An empty file is valid.
 */
DEALBOX_API int dealbox_certificates_parse(const void *data, size_t size,
					   const struct dealbox_manifest *manifest,
					   struct dealbox_certificates **certificates,
					   struct dealbox_error *error);

/* Frees the certificates. NULL is allowed. */
DEALBOX_API void dealbox_certificates_free(struct dealbox_certificates *certificates);

/* Returns the number of certificates in the file. */
DEALBOX_API size_t dealbox_certificates_count(const struct dealbox_certificates *certificates);

/*
 * Returns the certificate with that index, NULL beyond the last. Valid as long as the certificates.
 */
DEALBOX_API const struct dealbox_certificate *
dealbox_certificates_get(const struct dealbox_certificates *certificates, size_t index);

/*
 * Returns the public key that signed the file, or NULL if it is empty. Valid as long as the
 * certificates.
 */
DEALBOX_API const uint8_t *
dealbox_certificates_signer(const struct dealbox_certificates *certificates);

/*
 * Returns the opening, or NULL while it is not published. It ends the file, so a file that has it
 * is complete. Valid as long as the certificates.
 */
DEALBOX_API const uint8_t *
dealbox_certificates_opening(const struct dealbox_certificates *certificates);

/*
 * Returns the value of previous for the next certificate: the hash of the last one, or of the
 * manifest. Valid as long as the certificates.
 */
DEALBOX_API const uint8_t *
dealbox_certificates_head(const struct dealbox_certificates *certificates);

/*
 * Returns the text that publishes the opening, for the end of a file of certificates, terminated;
 * free(3) it. Returns NULL if they are open already, or if out of memory.
 */
DEALBOX_API char *dealbox_certificates_open(const struct dealbox_certificates *certificates,
					    const struct dealbox_signer *signer,
					    const uint8_t opening[DEALBOX_OPENING]);

#ifdef __cplusplus
}
#endif
#endif
