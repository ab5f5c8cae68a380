/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attestations: what a machine with a key of its own signed about a deal. dealbox_machine_attest()
 * asks for one. docs/protocol.md, section 5.3, has the format, byte by byte.
 *
 * A proven attestation says that the machine was given this plan and reported these events. Whether
 * the board is right is for dealbox_verify(), with the same plan and trace.
 */
#ifndef DEALBOX_ATTESTATION_H
#define DEALBOX_ATTESTATION_H

#include <linux/dealbox.h>

#include <stdbool.h>
#include <stdint.h>

#include <dealbox/api.h>
#include <dealbox/error.h>
#include <dealbox/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The contents of an attestation besides its two digests. None of it is checked. */
struct dealbox_statement {
	uint8_t key_id[DEALBOX_KEY_ID_SIZE];	/* which key has signed it */
	uint32_t counter;	/* attestations made with this key, this one included */
	uint32_t insertion;
	uint32_t events;	/* number of events in the digest */
	bool emulated;		/* a program has signed it: no card was dealt */
	bool planned;		/* it has a digest of the plan, which the machine held */
	uint32_t reserved[4];	/* 0 */
};

/*
 * Reads the statement of an attestation. Returns 0, or -EINVAL: this is not a statement, or one of
 * a later version; *out is then unchanged.
 */
DEALBOX_API int dealbox_attestation_read(const struct dealbox_attestation *attestation,
					 struct dealbox_statement *out);

/*
 * Returns true if an attestation is signed with that key: signature, magic and key id are right.
 * Says nothing of what is in the statement, nor whether the caller may trust the key.
 */
DEALBOX_API bool
dealbox_attestation_signed(const struct dealbox_attestation *attestation,
			   const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE]);

/* The result of comparing an attestation with plan and trace. */
enum dealbox_attested {
	DEALBOX_ATTESTED_INCOMPARABLE,	/* the trace is not complete, or the machine stopped */
	DEALBOX_ATTESTED_DIFFERENT,	/* not this machine, plan or trace */
	DEALBOX_ATTESTED_PROVEN		/* the machine's plan and events are these */
};

/*
 * Compares an attestation with plan and trace. public_key is the key that the caller trusts for
 * this machine, not one that came with the attestation. nonce is that of the request. The trace is
 * that of the insertion. An event that was lost, rejected or is of unknown type gives
 * DEALBOX_ATTESTED_INCOMPARABLE, as does a stop behind the deal. Unless the result is
 * DEALBOX_ATTESTED_PROVEN, *reason (may be NULL) says why; its code is -ENODATA for
 * DEALBOX_ATTESTED_INCOMPARABLE and -EBADMSG for DEALBOX_ATTESTED_DIFFERENT.
 */
DEALBOX_API enum dealbox_attested
dealbox_attestation_verify(const struct dealbox_attestation *attestation,
			   const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE],
			   const uint8_t nonce[DEALBOX_NONCE_SIZE],
			   const struct dealbox_plan *plan, const struct dealbox_trace *trace,
			   struct dealbox_error *reason);

/*
 * Compares an attestation with the plan alone, without a trace, for an insertion of that number.
 * public_key, nonce and *reason are as above. DEALBOX_ATTESTED_PROVEN says that the machine held
 * this plan, and dealt into this insertion to the end. A host-routed machine holds no plan, which
 * gives DEALBOX_ATTESTED_INCOMPARABLE.
 */
DEALBOX_API enum dealbox_attested
dealbox_attestation_verify_plan(const struct dealbox_attestation *attestation,
				const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE],
				const uint8_t nonce[DEALBOX_NONCE_SIZE], uint32_t insertion,
				const struct dealbox_plan *plan, struct dealbox_error *reason);

/* Returns "proven", "differs" or "cannot compare"; "?" for other numbers. Static. */
DEALBOX_API const char *dealbox_attested_name(unsigned int result);

#ifdef __cplusplus
}
#endif
#endif
