/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of a file of certificates: its texts are the leaves of a Merkle tree (RFC 6962, section
 * 2.1). The head of the log, a checkpoint, says how many leaves there are and what they are. Once a
 * head is published, no leaf before it can be changed, and none left out, without being noticed.
 * Witnesses confirm heads with cosignatures.
 *
 * Heads and proofs are text in the forms of C2SP (c2sp.org): signed-note, tlog-checkpoint,
 * tlog-cosignature (Ed25519) and tlog-proof; a proof that one head continues another is the request
 * of tlog-witness. docs/certificate.md says what they prove.
 */
#ifndef DEALBOX_LOG_H
#define DEALBOX_LOG_H

#include <dealbox/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_LOG_NAME	128	/* bytes of a name, with its end */
#define DEALBOX_LOG_HASHES	63	/* most hashes of a proof */
#define DEALBOX_LOG_SPOKEN	72	/* bytes of a head to be read aloud, with its end */
#define DEALBOX_NOTE_MAX	65536	/* bytes of a head with its signatures */

/* A log at one moment. */
struct dealbox_checkpoint {
	char origin[DEALBOX_LOG_NAME];	/* name of the log */
	uint64_t size;			/* number of leaves */
	uint8_t root[DEALBOX_HASH];	/* hash of the tree */
};

/* A key that signs heads: of the log itself, or of a witness. */
struct dealbox_log_key {
	char name[DEALBOX_LOG_NAME];	/* of a log: its origin */
	uint8_t key[DEALBOX_SIGNER_KEY];
	bool witness;
};

/* A proof about two nodes of a tree. */
struct dealbox_log_proof {
	uint64_t place;			/* index of the leaf; or the size of the head before */
	size_t count;
	uint8_t hash[DEALBOX_LOG_HASHES][DEALBOX_HASH];
};

/* ---- Logs ---- */

struct dealbox_log;

/*
 * Parses a file of certificates as a log, and checks the signature of every text. The chain of the
 * certificates is not checked; dealbox_certificates_parse() does so. -ENODATA: the file is empty,
 * so it has no head. -EINVAL: form. -EKEYREJECTED: a signature is wrong, or there is more than one
 * signer. -ENOMEM.
 */
DEALBOX_API int dealbox_log_parse(const void *data, size_t size, struct dealbox_log **log,
				  struct dealbox_error *error);

/* Frees the log. NULL is allowed. */
DEALBOX_API void dealbox_log_free(struct dealbox_log *log);

/* Returns the number of leaves. */
DEALBOX_API uint64_t dealbox_log_size(const struct dealbox_log *log);

/*
 * Returns the text of the leaf with that index, and its size; it is not terminated. NULL beyond the
 * last. Valid as long as the log.
 */
DEALBOX_API const char *dealbox_log_leaf(const struct dealbox_log *log, uint64_t index,
					 size_t *size);

/*
 * Finds the last certificate of a copy of a board. Returns false if there is none.
 */
DEALBOX_API bool dealbox_log_find(const struct dealbox_log *log, const char *session,
				  uint32_t board, uint32_t copy, uint64_t *index);

/* Gets the key of the log: the name of the log, and the signer of its certificates. */
DEALBOX_API void dealbox_log_get_key(const struct dealbox_log *log, struct dealbox_log_key *key);

/*
 * Computes the head that the log had when it had size leaves. -EINVAL: the log has fewer, or size
 * is 0.
 */
DEALBOX_API int dealbox_log_head(const struct dealbox_log *log, uint64_t size,
				 struct dealbox_checkpoint *head);

/*
 * Returns true if the log is the one of that head, or has grown since: its first leaves are those
 * of the head. The caller has checked the signature of the head.
 */
DEALBOX_API bool dealbox_log_continues(const struct dealbox_log *log,
				       const struct dealbox_checkpoint *head);

/*
 * Proves that the leaf with that index is in the tree of the first size leaves. -EINVAL: there is
 * no such leaf or tree.
 */
DEALBOX_API int dealbox_log_prove(const struct dealbox_log *log, uint64_t index, uint64_t size,
				  struct dealbox_log_proof *proof);

/*
 * Proves that the tree of the first size leaves begins with the tree of the first before leaves.
 * -EINVAL: there is no such tree. before may be 0.
 */
DEALBOX_API int dealbox_log_prove_since(const struct dealbox_log *log, uint64_t before,
					uint64_t size, struct dealbox_log_proof *proof);

/* ---- Keys ---- */

/*
 * Makes a key of a witness. -EINVAL: the name has a space, a plus sign, or a character that is not
 * printable ASCII; or it is empty or too long.
 */
DEALBOX_API int dealbox_log_key_witness(const char *name, const uint8_t key[DEALBOX_SIGNER_KEY],
					struct dealbox_log_key *out);

/*
 * Returns the key as other programs read it, "name+id+base64", terminated; free(3) it. NULL if out
 * of memory.
 */
DEALBOX_API char *dealbox_log_key_print(const struct dealbox_log_key *key);

/* Parses such a text. -EINVAL. */
DEALBOX_API int dealbox_log_key_parse(const char *text, struct dealbox_log_key *key,
				      struct dealbox_error *error);

/* ---- Heads ---- */

/*
 * Parses the text of a head. The caller checks signatures with dealbox_checkpoint_verify(). Lines
 * behind the third are allowed and signed, but mean nothing here. -EINVAL.
 */
DEALBOX_API int dealbox_checkpoint_parse(const void *note, size_t size,
					 struct dealbox_checkpoint *head,
					 struct dealbox_error *error);

/*
 * Returns the text of a head with the signature of the log, terminated; free(3) it. NULL if out of
 * memory.
 */
DEALBOX_API char *dealbox_checkpoint_sign(const struct dealbox_checkpoint *head,
					  const struct dealbox_signer *signer);

/*
 * Returns the text with the cosignature of a witness added, terminated; free(3) it. A cosignature
 * that this witness added before is replaced. time_s: UTC, seconds since 1970. The caller has
 * checked the head. NULL: the text is not a head, the name is none for a witness, or out of memory.
 */
DEALBOX_API char *dealbox_checkpoint_cosign(const void *note, size_t size, const char *name,
					    const struct dealbox_signer *signer, int64_t time_s);

/*
 * Checks the signature of a key under the text of a head. *time_s is the time of a cosignature,
 * UTC, seconds since 1970; 0 with the key of a log. -ENOENT: that key has not signed it.
 * -EKEYREJECTED: the signature is wrong. -EINVAL: the text is not a head.
 */
DEALBOX_API int dealbox_checkpoint_verify(const void *note, size_t size,
					  const struct dealbox_log_key *key, int64_t *time_s);

/*
 * Writes a head as text that can be read aloud: the number of leaves, and the first 160 bits of the
 * root in ten groups of four digits.
 */
DEALBOX_API void dealbox_checkpoint_spoken(const struct dealbox_checkpoint *head,
					   char text[DEALBOX_LOG_SPOKEN]);

/*
 * Parses such a text: gets the number of leaves. Capital letters are allowed, and spaces and
 * hyphens between the digits. -EINVAL.
 */
DEALBOX_API int dealbox_spoken_parse(const char *text, uint64_t *size);

/* Returns true if the text is the head, as read aloud. */
DEALBOX_API bool dealbox_checkpoint_heard(const struct dealbox_checkpoint *head, const char *text);

/* ---- Proofs ---- */

/* Returns true if a text is the leaf that the proof is about, in the tree of that head. */
DEALBOX_API bool dealbox_inclusion_check(const struct dealbox_log_proof *proof, const void *leaf,
					 size_t size, const struct dealbox_checkpoint *head);

/*
 * Returns the text of a proof (tlog-proof) that a leaf is in the tree of a head, terminated;
 * free(3) it. It contains the leaf and the head. NULL if out of memory.
 */
DEALBOX_API char *dealbox_inclusion_print(const struct dealbox_log_proof *proof, const void *leaf,
					  size_t size, const char *note);

/*
 * Parses such a text. leaf is terminated; free(3) it. It is NULL if the text does not contain it.
 * note is in data. -EINVAL, -ENOMEM.
 */
DEALBOX_API int dealbox_inclusion_parse(const void *data, size_t size,
					struct dealbox_log_proof *proof, char **leaf,
					size_t *leaf_size, const char **note, size_t *note_size,
					struct dealbox_error *error);

/*
 * Returns true if the tree of the head begins with the tree of the head before. A proof is not
 * needed from size 0.
 */
DEALBOX_API bool dealbox_consistency_check(const struct dealbox_log_proof *proof,
					   const struct dealbox_checkpoint *before,
					   const struct dealbox_checkpoint *head);

/*
 * Returns the text of a proof that a head continues an earlier one, terminated; free(3) it. It
 * contains the head. NULL if out of memory.
 */
DEALBOX_API char *dealbox_consistency_print(const struct dealbox_log_proof *proof,
					    const char *note);

/* Parses such a text. note is in data. -EINVAL. */
DEALBOX_API int dealbox_consistency_parse(const void *data, size_t size,
					  struct dealbox_log_proof *proof, const char **note,
					  size_t *note_size, struct dealbox_error *error);

#ifdef __cplusplus
}
#endif
#endif
