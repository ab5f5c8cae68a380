// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary manifests and certificates, as they are and with a valid signature added: a text that
 * is accepted is the only valid form of its content.
 */
#include <dealbox/certificate.h>

#include "fuzz.h"
#include "fairness/signed-text.h"

static const char promise[] =
	"TN x\nDI y\nSN 1:1-8:a:b\nKH "
	"180420a5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943\n";

static struct dealbox_signer *signer;
static struct dealbox_manifest *manifests[2];	/* of version 1, and of 2 */

static void begin(void)
{
	static const char key[] = "dealbox signing key 1 "
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
	struct dealbox_square *square;
	char *text;

	CHECK(!dealbox_signer_parse(key, strlen(key), &signer, NULL));
	CHECK(!dealbox_square_parse(promise, strlen(promise), &square, NULL));
	for (size_t i = 0; i < 2; i++) {
		const struct dealbox_promise promise2 = {
			.copies = 1,
			.pcs = (const uint8_t(*)[DEALBOX_SIGNER_KEY])dealbox_signer_public(signer),
			.pc_count = 1,
		};

		text = dealbox_manifest_make(square, i ? &promise2 : NULL, signer, 1763640000,
					     NULL);
		CHECK(text && !dealbox_manifest_parse(text, strlen(text), &manifests[i], NULL));
		free(text);
	}
	dealbox_square_free(square);
}

static void read_manifest(const char *text, size_t size)
{
	struct dealbox_manifest *other;
	struct dealbox_error error = { 0 };
	char *again;

	if (dealbox_manifest_parse(text, size, &other, &error)) {
		CHECK(*error.what);
		return;
	}
	if (!memcmp(dealbox_manifest_signer(other), dealbox_signer_public(signer),
		    DEALBOX_SIGNER_KEY)) {
		again = dealbox_manifest_make(dealbox_manifest_square(other),
					      dealbox_manifest_promise(other), signer,
					      dealbox_manifest_time(other), NULL);
		CHECK(again && strlen(again) == size && !memcmp(again, text, size));
		free(again);
	}
	dealbox_manifest_free(other);
}

/* Whatever a certificate says, comparing it with a deal ends. */
static void compare(const struct dealbox_certificate *c)
{
	static const uint8_t opening[DEALBOX_OPENING];
	struct dealbox_trace *trace = dealbox_trace_new(c->insertion);
	struct dealbox_deal deal = { { 0x1fff, 0x1fffULL << 13, 0x1fffULL << 26,
				       0x1fffULL << 39 } };
	struct dealbox_error reason = { 0 };

	CHECK(trace);
	dealbox_certificate_opens(c, opening, &deal, trace);
	if (c->attested) {
		CHECK(dealbox_certificate_word(c, opening, c->key, &deal, NULL, &reason) ==
		      DEALBOX_ATTESTED_PROVEN || *reason.what);
		CHECK(dealbox_certificate_word(c, opening, c->key, &deal, trace, &reason) !=
		      DEALBOX_ATTESTED_PROVEN && *reason.what);
	}
	dealbox_trace_free(trace);
}

static void read_certificates(const char *text, size_t size,
			      const struct dealbox_manifest *manifest)
{
	struct dealbox_certificates *certificates;
	const struct dealbox_certificate *c;

	if (dealbox_certificates_parse(text, size, manifest, &certificates, NULL))
		return;
	for (size_t i = 0; (c = dealbox_certificates_get(certificates, i)); i++) {
		struct dealbox_certificate copy = *c;
		char *again = dealbox_certificate_sign(&copy, signer);

		/* somebody else's signature is another */
		CHECK(again && (memcmp(c->signer, copy.signer, DEALBOX_SIGNER_KEY) ||
				!memcmp(copy.hash, c->hash, DEALBOX_HASH)));
		free(again);
		compare(c);
	}
	dealbox_certificates_free(certificates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy, *text;

	if (!signer)
		begin();
	copy = (char *)memdup(data, size);
	read_manifest(copy, size);
	for (size_t i = 0; i < 2; i++)
		read_certificates(copy, size, manifests[i]);
	free(copy);
	if (!size || memchr(data, 0, size) || data[size - 1] != '\n')
		return 0;
	copy = strndup((const char *)data, size);
	text = text_sign(copy, signer);
	CHECK(text);
	read_manifest(text, strlen(text));
	for (size_t i = 0; i < 2; i++)
		read_certificates(text, strlen(text), manifests[i]);
	free(text);
	free(copy);
	return 0;
}
