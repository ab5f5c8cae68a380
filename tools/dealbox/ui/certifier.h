/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A certifier: a folder with the manifest of the tournament, the key of this PC, the opening, and
 * the certificates so far.
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
	struct blob file;			/* the certificates as they stand */
	struct dealbox_certificates *certificates;
};

/* Begins a folder, which must not exist, with a manifest that is read from a file. */
bool certifier_begin(struct certifier *c, const char *folder, const char *manifest_path);

/* Opens a folder. certifier_close() in any case, after begin too. */
bool certifier_open(struct certifier *c, const char *folder);
void certifier_close(struct certifier *c);

/*
 * Certifies what was dealt: of the certificate, board, copy, session, pockets, exact, basis,
 * identified, machine and insertion must be set; trace NULL: also its field trace, with the
 * salt from certifier_salt(). It is on disk when this returns true.
 */
bool certifier_add(struct certifier *c, struct dealbox_certificate *certificate,
		   const struct dealbox_deal *deal, const struct dealbox_trace *trace);

/*
 * Returns true if this insertion has a certificate, by session, board, copy, machine and insertion.
 */
bool certifier_has(const struct certifier *c, const struct dealbox_certificate *certificate);

/* The salt for the same fields; the caller wipes it. */
void certifier_salt(const struct certifier *c, struct dealbox_certificate *certificate,
		    uint8_t salt[DEALBOX_HASH]);

/* Publishes the opening: the file of certificates is complete, and tells the deals. */
bool certifier_publish(struct certifier *c);

/* Reads and checks a manifest. NULL, and said, if it is none. */
struct dealbox_manifest *manifest_read(const char *path);

#endif
