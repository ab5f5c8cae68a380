// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A folder of certificates. The file of certificates is replaced as a whole each time, so that it
 * never ends in half a certificate.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "certifier.h"

struct dealbox_manifest *manifest_read(const char *path)
{
	struct dealbox_manifest *manifest = NULL;
	struct dealbox_error error;
	struct blob blob;

	if (file_read(path, &blob) &&
	    dealbox_manifest_parse(blob.data, blob.size, &manifest, &error))
		fault_say(path, &error);
	blob_wipe(&blob);
	return manifest;
}

static bool paths_make(struct certifier *c, const char *folder)
{
	bool good;

	memset(c, 0, sizeof(*c));
	c->folder = strdup(folder);
	good = c->folder && asprintf(&c->manifest_path, "%s/manifest", folder) >= 0 &&
	       asprintf(&c->key_path, "%s/key", folder) >= 0 &&
	       asprintf(&c->opening_path, "%s/opening", folder) >= 0 &&
	       asprintf(&c->certificates_path, "%s/certificates", folder) >= 0;
	if (!good)
		complain(NULL, "out of memory");
	return good;
}

void certifier_close(struct certifier *c)
{
	dealbox_manifest_free(c->manifest);
	dealbox_signer_free(c->signer);
	dealbox_certificates_free(c->certificates);
	blob_wipe(&c->file);
	free(c->folder);
	free(c->manifest_path);
	free(c->key_path);
	free(c->opening_path);
	free(c->certificates_path);
	explicit_bzero(c, sizeof(*c));
}

/* Reread the certificates, and check them like those of others. */
static bool certificates_load(struct certifier *c)
{
	struct dealbox_certificates *certificates;
	struct dealbox_error error;

	if (dealbox_certificates_parse(c->file.data ? c->file.data : "", c->file.size, c->manifest,
				       &certificates, &error)) {
		fault_say(c->certificates_path, &error);
		return false;
	}
	dealbox_certificates_free(c->certificates);
	c->certificates = certificates;
	return true;
}

/* Create a folder with a key and an opening. */
static bool folder_make(struct certifier *c)
{
	struct dealbox_random *random = NULL;
	char *key = NULL;
	bool good = false;
	int err = dealbox_random_new(&random);

	if (err) {
		complain("do not make keys on this computer until that is repaired",
			 "the kernel gives no random bits: %s", strerror(-err));
		return false;
	}
	if (mkdir(c->folder, 0700)) {
		complain("choose another name", "%s: %s", c->folder, strerror(errno));
		goto out;
	}
	dealbox_random_bytes(random, c->opening, sizeof(c->opening));
	if (!dealbox_signer_new(random, &c->signer))
		key = dealbox_signer_print(c->signer);
	good = key && file_write(c->key_path, key, strlen(key), FILE_SECRET, false) &&
	       file_write(c->opening_path, c->opening, sizeof(c->opening), FILE_SECRET, false) &&
	       file_write(c->certificates_path, "", 0, FILE_PUBLIC, false);
out:
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
	dealbox_random_free(random);
	return good;
}

static bool signer_read(struct certifier *c)
{
	struct dealbox_error error;
	struct blob key = { 0 };
	bool good = file_read_secret(c->key_path, &key);

	if (good && dealbox_signer_parse(key.data, key.size, &c->signer, &error)) {
		fault_say(c->key_path, &error);
		good = false;
	}
	blob_wipe(&key);
	return good;
}

/* Return true if the manifest names this PC, or none; otherwise report it. */
static bool is_named(const struct certifier *c, const char *manifest_path)
{
	const struct dealbox_promise *promise = dealbox_manifest_promise(c->manifest);

	if (!promise || !promise->pc_count)
		return true;
	for (size_t i = 0; c->signer && i < promise->pc_count; i++)
		if (!memcmp(promise->pcs[i], dealbox_signer_public(c->signer), DEALBOX_SIGNER_KEY))
			return true;
	complain("`dealbox certificate begin FOLDER` makes the key; "
		 "the organiser names it with --pc",
		 "%s: the manifest names other PCs than this one", manifest_path);
	return false;
}

bool certifier_begin(struct certifier *c, const char *folder, const char *manifest_path)
{
	struct blob manifest = { 0 };
	bool good, waiting;

	if (!paths_make(c, folder))
		return false;
	/* a folder that waits for its manifest */
	waiting = manifest_path && file_exists(c->key_path) && !file_exists(c->manifest_path);
	if (manifest_path) {
		c->manifest = manifest_read(manifest_path);
		if (!c->manifest)
			return false;
	}
	if (waiting)
		good = signer_read(c) && is_named(c, manifest_path);
	else
		good = (!c->manifest || is_named(c, manifest_path)) && folder_make(c);
	good = good && (!manifest_path || (file_read(manifest_path, &manifest) &&
					   file_write(c->manifest_path, manifest.data,
						      manifest.size, FILE_PUBLIC, false)));
	blob_wipe(&manifest);
	return good;
}

bool certifier_open(struct certifier *c, const char *folder)
{
	struct blob opening = { 0 };
	bool good;

	if (!paths_make(c, folder))
		return false;
	if (file_exists(c->key_path) && !file_exists(c->manifest_path)) {
		complain("`dealbox certificate begin FOLDER MANIFEST` puts it there",
			 "%s: there is no manifest in the folder yet", folder);
		return false;
	}
	c->manifest = manifest_read(c->manifest_path);
	good = c->manifest && signer_read(c) && file_read_secret(c->opening_path, &opening) &&
	       file_read(c->certificates_path, &c->file);
	if (good && opening.size != DEALBOX_OPENING) {
		complain("restore it from a copy", "%s: it is damaged", c->opening_path);
		good = false;
	}
	if (good)
		memcpy(c->opening, opening.data, DEALBOX_OPENING);
	good = good && certificates_load(c);
	blob_wipe(&opening);
	return good;
}

/* Append text to the certificates, in the file and in memory. */
static bool text_append(struct certifier *c, const char *text)
{
	const size_t size = strlen(text);
	char *data = realloc(c->file.data, c->file.size + size + 1);

	if (!data) {
		complain(NULL, "out of memory");
		return false;
	}
	memcpy(data + c->file.size, text, size + 1);
	c->file.data = data;
	c->file.size += size;
	if (certificates_load(c) &&
	    file_write(c->certificates_path, c->file.data, c->file.size, FILE_PUBLIC, true))
		return true;
	/* Writing failed: return to the contents of the file. */
	c->file.size -= size;
	certificates_load(c);
	return false;
}

bool certifier_add(struct certifier *c, struct dealbox_certificate *certificate,
		   const struct dealbox_deal *deal, const struct dealbox_trace *trace)
{
	struct timespec now;
	char *text = NULL;
	bool good = false;

	if (dealbox_certificates_opening(c->certificates)) {
		complain("start a new folder with `dealbox certificate begin`",
			 "%s: the opening is published, so nothing more can be certified",
			 c->folder);
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	certificate->time_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
	memcpy(certificate->manifest, dealbox_manifest_hash(c->manifest), DEALBOX_HASH);
	memcpy(certificate->previous, dealbox_certificates_head(c->certificates), DEALBOX_HASH);
	certificate->version = 2;
	if (trace && certificate->attested) {
		uint8_t salt[DEALBOX_HASH];

		dealbox_certificate_salt(certificate, c->opening, salt);
		dealbox_nonce_seal(certificate->nonce, &certificate->attestation, salt);
		explicit_bzero(salt, sizeof(salt));
	}
	if (!dealbox_certificate_commit(certificate, c->opening, deal, trace))
		text = dealbox_certificate_sign(certificate, c->signer);
	if (text)
		good = text_append(c, text);
	else
		complain(NULL, "board %u cannot be certified", certificate->board);
	free(text);
	return good;
}

/* Find the last certificate of an insertion. */
static const struct dealbox_certificate *last_of(const struct certifier *c,
						 const struct dealbox_certificate *wanted)
{
	const struct dealbox_certificate *found, *last = NULL;
	size_t n;

	for (n = 0; (found = dealbox_certificates_get(c->certificates, n)); n++)
		if (found->board == wanted->board && found->copy == wanted->copy &&
		    found->insertion == wanted->insertion &&
		    !strcmp(found->machine, wanted->machine) &&
		    !strcmp(found->session, wanted->session))
			last = found;
	return last;
}

bool certifier_has(const struct certifier *c, const struct dealbox_certificate *wanted)
{
	const struct dealbox_certificate *last = last_of(c, wanted);

	return last && (!last->exact || wanted->exact);
}

bool certifier_has_exact(const struct certifier *c, const struct dealbox_certificate *wanted)
{
	const struct dealbox_certificate *last = last_of(c, wanted);

	return last && last->exact;
}

void certifier_salt(const struct certifier *c, struct dealbox_certificate *certificate,
		    uint8_t salt[DEALBOX_HASH])
{
	memcpy(certificate->manifest, dealbox_manifest_hash(c->manifest), DEALBOX_HASH);
	dealbox_certificate_salt(certificate, c->opening, salt);
}

bool certifier_publish(struct certifier *c)
{
	char *text = dealbox_certificates_open(c->certificates, c->signer, c->opening);
	bool good = false;

	if (text)
		good = text_append(c, text);
	else
		complain(NULL, "%s: the opening is published already", c->folder);
	free(text);
	return good;
}
