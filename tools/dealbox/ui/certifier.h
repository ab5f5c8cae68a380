/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A certifier: a folder with the manifest of the tournament, the key of this PC, the opening, and
 * the certificates so far. Functions of type bool return false after reporting an error.
 */
#ifndef CERTIFIER_H
#define CERTIFIER_H

#include <dealbox/certificate.h>

#include "files.h"

struct certifier {
	char *folder, *manifest_path, *key_path, *opening_path, *certificates_path;
	struct dealbox_manifest *manifest;
	struct dealbox_signer *signer;
	uint8_t opening[DEALBOX_OPENING];
	struct blob file;			/* contents of the file of certificates */
	struct dealbox_certificates *certificates;
};

/*
 * Create a folder, with the manifest in a file unless manifest_path is NULL. The folder must not
 * exist, or have no manifest yet: then it gets that. Refuses a manifest that names PCs, and not
 * this one.
 */
bool certifier_begin(struct certifier *c, const char *folder, const char *manifest_path);

/* Open a folder. Call certifier_close() in any case, also after certifier_begin(). */
bool certifier_open(struct certifier *c, const char *folder);
void certifier_close(struct certifier *c);

/*
 * Add a certificate. Its board, copy, session, pockets, exact, by, basis, identified, machine,
 * insertion, number and attestation must be set; a nonce that is not sealed yet is sealed here. If
 * trace is NULL, so must be its field trace, made with the salt of certifier_salt(), and the nonce
 * must be sealed. The certificate is on disk when this returns true.
 */
bool certifier_add(struct certifier *c, struct dealbox_certificate *certificate,
		   const struct dealbox_deal *deal, const struct dealbox_trace *trace);

/*
 * Returns true if this insertion (by session, board, copy, machine and insertion) has a certificate
 * that need not be taken back: exact says whether it may be one with the verdict exact.
 */
bool certifier_has(const struct certifier *c, const struct dealbox_certificate *certificate);

/*
 * Returns true if the last certificate for the same fields has the verdict exact. By hand, where
 * insertion is 0, it is that of the copy.
 */
bool certifier_has_exact(const struct certifier *c, const struct dealbox_certificate *certificate);

/* Compute the salt for the same fields. The caller wipes it. */
void certifier_salt(const struct certifier *c, struct dealbox_certificate *certificate,
		    uint8_t salt[DEALBOX_HASH]);

/* Publish the opening. It completes the file of certificates and reveals the deals. */
bool certifier_publish(struct certifier *c);

/* Read and check a manifest. Returns NULL after reporting an error. */
struct dealbox_manifest *manifest_read(const char *path);

#endif
