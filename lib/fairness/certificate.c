// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Certificates. The format is in docs/certificate.md.
 */
#include <endian.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/certificate.h>

#include "signed-text.h"

struct dealbox_certificates {
	struct dealbox_certificate *list;
	size_t count;
	uint8_t manifest[DEALBOX_HASH];
	bool open;
	uint8_t opening[DEALBOX_OPENING];
};

static const char *const basis_words[] = {
	[DEALBOX_BASIS_NONE] = "none",
	[DEALBOX_BASIS_GATES] = "gates",
	[DEALBOX_BASIS_SENSORS] = "sensors",
};

/* -- commitments ------------------------------------------------------------ */

/* The key of a certificate's digests: the opening, and the fields that identify the board */
void dealbox_certificate_salt(const struct dealbox_certificate *c,
			      const uint8_t opening[DEALBOX_OPENING], uint8_t salt[DEALBOX_HASH])
{
	char manifest[HEX(DEALBOX_HASH)], text[600];
	int length;

	hex_put(c->manifest, DEALBOX_HASH, manifest);
	length = snprintf(text, sizeof(text),
			  "dealbox salt 1\nmanifest %s\nsession %s\nboard %u\ncopy %u\nmachine %s\n"
			  "insertion %u\n",
			  manifest, c->session, c->board, c->copy, c->machine, c->insertion);
	crypto_generichash(salt, DEALBOX_HASH, (const uint8_t *)text, (size_t)length, opening,
			   DEALBOX_OPENING);
}

static void digest_begin(crypto_generichash_state *state, const uint8_t salt[DEALBOX_HASH],
			 const char *words)
{
	crypto_generichash_init(state, salt, DEALBOX_HASH, DEALBOX_HASH);
	crypto_generichash_update(state, (const uint8_t *)words, strlen(words));
}

/* The cards of pocket 0, 1, 2, 3, each as 64 bits, lowest byte first */
static int plan_digest(const char *order, const uint8_t salt[DEALBOX_HASH],
		       const struct dealbox_deal *deal, uint8_t digest[DEALBOX_HASH])
{
	crypto_generichash_state state;
	uint8_t pocket_of[DEALBOX_HANDS];
	uint64_t cards[DEALBOX_HANDS];

	if (dealbox_pockets_parse(order, pocket_of))
		return -EINVAL;
	for (unsigned int hand = 0; hand < DEALBOX_HANDS; hand++)
		cards[pocket_of[hand]] = htole64(deal->hand[hand]);
	digest_begin(&state, salt, "dealbox plan 1\n");
	crypto_generichash_update(&state, (const uint8_t *)cards, sizeof(cards));
	crypto_generichash_final(&state, digest, DEALBOX_HASH);
	sodium_memzero(cards, sizeof(cards));
	sodium_memzero(&state, sizeof(state));
	return 0;
}

/* Its events as they were read from the device, 64 bytes each */
void dealbox_trace_commit(const struct dealbox_trace *trace, const uint8_t salt[DEALBOX_HASH],
			  uint8_t digest[DEALBOX_HASH])
{
	crypto_generichash_state state;

	digest_begin(&state, salt, "dealbox trace 1\n");
	for (size_t i = 0; i < dealbox_trace_count(trace); i++)
		crypto_generichash_update(&state, (const uint8_t *)dealbox_trace_get(trace, i),
					  sizeof(struct dealbox_event));
	crypto_generichash_final(&state, digest, DEALBOX_HASH);
}

int dealbox_certificate_commit(struct dealbox_certificate *certificate,
			       const uint8_t opening[DEALBOX_OPENING], const struct dealbox_deal *deal,
			       const struct dealbox_trace *trace)
{
	uint8_t salt[DEALBOX_HASH];
	int err;

	dealbox_certificate_salt(certificate, opening, salt);
	err = plan_digest(certificate->pockets, salt, deal, certificate->plan);
	if (!err && trace)
		dealbox_trace_commit(trace, salt, certificate->trace);
	sodium_memzero(salt, sizeof(salt));
	return err;
}

bool dealbox_certificate_opens(const struct dealbox_certificate *certificate,
			       const uint8_t opening[DEALBOX_OPENING], const struct dealbox_deal *deal,
			       const struct dealbox_trace *trace)
{
	uint8_t salt[DEALBOX_HASH], digest[DEALBOX_HASH];
	bool same;

	dealbox_certificate_salt(certificate, opening, salt);
	same = !plan_digest(certificate->pockets, salt, deal, digest) &&
	       !memcmp(digest, certificate->plan, DEALBOX_HASH);
	if (same && trace) {
		dealbox_trace_commit(trace, salt, digest);
		same = !memcmp(digest, certificate->trace, DEALBOX_HASH);
	}
	sodium_memzero(salt, sizeof(salt));
	return same;
}

/* -- text ------------------------------------------------------------------- */

static bool name_good(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return *name != 0;
}

/* Returns the signed body, in its only valid form. NULL: a field does not fit, or out of memory */
static char *body_print(const struct dealbox_certificate *c)
{
	char manifest[HEX(DEALBOX_HASH)], plan[HEX(DEALBOX_HASH)], trace[HEX(DEALBOX_HASH)];
	char previous[HEX(DEALBOX_HASH)], at[TIME_TEXT], *body;
	uint8_t pockets[DEALBOX_HANDS];

	if (!name_good(c->session) || !name_good(c->machine) || !c->board || !c->copy || c->time < 0 ||
	    c->basis > DEALBOX_BASIS_SENSORS || dealbox_pockets_parse(c->pockets, pockets))
		return NULL;
	hex_put(c->manifest, DEALBOX_HASH, manifest);
	hex_put(c->plan, DEALBOX_HASH, plan);
	hex_put(c->trace, DEALBOX_HASH, trace);
	hex_put(c->previous, DEALBOX_HASH, previous);
	time_put(c->time, at);
	if (asprintf(&body,
		     "dealbox certificate 1\nmanifest %s\nsession %s\nboard %u\ncopy %u\npockets %s\n"
		     "plan %s\ntrace %s\nverdict %s\nbasis %s\ncards %s\nmachine %s\ninsertion %u\n"
		     "time %s\nprevious %s\n",
		     manifest, c->session, c->board, c->copy, c->pockets, plan, trace,
		     c->exact ? "exact" : "void", basis_words[c->basis],
		     c->identified ? "read" : "counted", c->machine, c->insertion, at, previous) < 0)
		return NULL;
	return body;
}

char *dealbox_certificate_sign(struct dealbox_certificate *certificate,
			       const struct dealbox_signer *signer)
{
	char *body = body_print(certificate), *text = body ? text_sign(body, signer) : NULL;

	free(body);
	if (!text)
		return NULL;
	memcpy(certificate->signer, dealbox_signer_public(signer), DEALBOX_SIGNER_KEY);
	crypto_hash_sha256(certificate->hash, (const uint8_t *)text, strlen(text));
	return text;
}

static bool number_line(char **at, const char *word, uint32_t *number)
{
	const char *value = line_take(at, word);
	char *end;
	unsigned long long n;

	if (!value || *value < '0' || *value > '9')
		return false;
	n = strtoull(value, &end, 10);
	*number = (uint32_t)n;
	return !*end && n <= UINT32_MAX;
}

static bool hex_line(char **at, const char *word, uint8_t bytes[DEALBOX_HASH])
{
	const char *value = line_take(at, word);

	return value && hex_take(value, bytes, DEALBOX_HASH);
}

static bool text_line(char **at, const char *word, char *text, size_t size)
{
	const char *value = line_take(at, word);

	return value && snprintf(text, size, "%s", value) < (int)size;
}

/* Returns the index of the word among two or three, or -1 */
static int word_line(char **at, const char *word, const char *const *words, int count)
{
	const char *value = line_take(at, word);

	for (int i = 0; value && i < count; i++)
		if (!strcmp(value, words[i]))
			return i;
	return -1;
}

/* Parses a body. Returns false if it does not have the form. */
static bool body_take(char *body, struct dealbox_certificate *c)
{
	static const char *const verdicts[] = { "void", "exact" }, *const cards[] = { "counted", "read" };
	char version[8], at_text[TIME_TEXT];
	int verdict, basis, identified;
	bool good;

	good = text_line(&body, "dealbox certificate", version, sizeof(version)) &&
	       !strcmp(version, "1") &&
	       hex_line(&body, "manifest", c->manifest) &&
	       text_line(&body, "session", c->session, sizeof(c->session)) &&
	       number_line(&body, "board", &c->board) &&
	       number_line(&body, "copy", &c->copy) &&
	       text_line(&body, "pockets", c->pockets, sizeof(c->pockets)) &&
	       hex_line(&body, "plan", c->plan) &&
	       hex_line(&body, "trace", c->trace);
	if (!good)
		return false;
	verdict = word_line(&body, "verdict", verdicts, 2);
	basis = word_line(&body, "basis", basis_words, 3);
	identified = word_line(&body, "cards", cards, 2);
	c->exact = verdict == 1;
	c->basis = (enum dealbox_basis)(basis < 0 ? 0 : basis);
	c->identified = identified == 1;
	return verdict >= 0 && basis >= 0 && identified >= 0 &&
	       text_line(&body, "machine", c->machine, sizeof(c->machine)) &&
	       number_line(&body, "insertion", &c->insertion) &&
	       text_line(&body, "time", at_text, sizeof(at_text)) && time_take(at_text, &c->time) &&
	       hex_line(&body, "previous", c->previous) && !*body;
}

static int certificate_take(const char *body, struct dealbox_certificate *c, uint32_t line,
			    struct dealbox_error *error)
{
	char *copy = strdup(body), *again = NULL;
	int err = 0;

	if (!copy)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	if (body_take(copy, c))
		again = body_print(c);
	/* refuse other spellings of the same content: there is only one form */
	if (!again || strcmp(again, body))
		err = error_set(error, -EINVAL, line, "a newer dealbox may know it",
				"this is no certificate in the form that it must have");
	free(again);
	free(copy);
	return err;
}

/* -- the opening ------------------------------------------------------------ */

static char *opening_print(const struct dealbox_certificates *certificates,
			   const uint8_t opening[DEALBOX_OPENING])
{
	char manifest[HEX(DEALBOX_HASH)], previous[HEX(DEALBOX_HASH)], hex[HEX(DEALBOX_OPENING)], *body;

	hex_put(certificates->manifest, DEALBOX_HASH, manifest);
	hex_put(dealbox_certificates_head(certificates), DEALBOX_HASH, previous);
	hex_put(opening, DEALBOX_OPENING, hex);
	if (asprintf(&body, "dealbox opening 1\nmanifest %s\ncertificates %zu\nprevious %s\nopening %s\n",
		     manifest, certificates->count, previous, hex) < 0)
		return NULL;
	return body;
}

char *dealbox_certificates_open(const struct dealbox_certificates *certificates,
				const struct dealbox_signer *signer,
				const uint8_t opening[DEALBOX_OPENING])
{
	char *body = certificates->open ? NULL : opening_print(certificates, opening);
	char *text = body ? text_sign(body, signer) : NULL;

	free(body);
	return text;
}

/* Except for the opening itself, it must equal what we would write for these certificates. */
static int opening_take(const char *body, struct dealbox_certificates *certificates, uint32_t line,
			struct dealbox_error *error)
{
	const char *value = strstr(body, "\nopening ");
	char hex[HEX(DEALBOX_OPENING)] = "", *again = NULL;
	int err = 0;

	if (value)
		snprintf(hex, sizeof(hex), "%s", value + strlen("\nopening "));
	if (hex_take(hex, certificates->opening, DEALBOX_OPENING))
		again = opening_print(certificates, certificates->opening);
	if (!again || strcmp(again, body))
		err = error_set(error, -EBADMSG, line, "get the whole file of certificates",
				"the opening is for other certificates: some are missing");
	free(again);
	certificates->open = !err;
	return err;
}

/* -- files ------------------------------------------------------------------ */

void dealbox_certificates_free(struct dealbox_certificates *certificates)
{
	if (!certificates)
		return;
	free(certificates->list);
	sodium_memzero(certificates, sizeof(*certificates));
	free(certificates);
}

static int chain_check(const struct dealbox_certificates *certificates,
		       const struct dealbox_certificate *c, uint32_t line, struct dealbox_error *error)
{
	if (memcmp(c->manifest, certificates->manifest, DEALBOX_HASH))
		return error_set(error, -EBADMSG, line, "give the manifest that they belong to",
				 "the certificate is for another manifest");
	if (memcmp(c->previous, dealbox_certificates_head(certificates), DEALBOX_HASH))
		return error_set(error, -EBADMSG, line, "get the whole file of certificates",
				 "the chain is broken before this certificate: one was left out, added or moved");
	return 0;
}

/* The next signed text of the file; *used = its size */
static int next_take(struct dealbox_certificates *certificates, const char *data, size_t size,
		     size_t *used, uint32_t *line, struct dealbox_error *error)
{
	const uint32_t first = *line;
	struct dealbox_certificate c = { 0 }, *more;
	char *body = NULL;
	int err;

	if (certificates->open)
		return error_set(error, -EBADMSG, first, "get the file again",
				 "there is something behind the opening");
	err = text_check(data, size, used, &body, c.signer, line, error);
	if (!err && certificates->count &&
	    memcmp(c.signer, certificates->list[0].signer, DEALBOX_SIGNER_KEY))
		err = error_set(error, -EKEYREJECTED, first, "give the file of one machine at a time",
				"this is signed by another key than what is before it");
	if (!err && !strncmp(body, "dealbox opening 1\n", strlen("dealbox opening 1\n"))) {
		err = opening_take(body, certificates, first, error);
	} else if (!err) {
		err = certificate_take(body, &c, first, error);
		if (!err)
			err = chain_check(certificates, &c, first, error);
		more = err ? NULL : realloc(certificates->list, (certificates->count + 1) * sizeof(*more));
		if (more) {
			crypto_hash_sha256(c.hash, (const uint8_t *)data, *used);
			certificates->list = more;
			certificates->list[certificates->count++] = c;
		} else if (!err) {
			err = error_set(error, -ENOMEM, 0, NULL, "out of memory");
		}
	}
	free(body);
	return err;
}

int dealbox_certificates_parse(const void *data, size_t size, const struct dealbox_manifest *manifest,
			       struct dealbox_certificates **certificates, struct dealbox_error *error)
{
	struct dealbox_certificates *new = calloc(1, sizeof(*new));
	const char *at = data;
	uint32_t line = 1;
	int err = 0;

	if (!new)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	memcpy(new->manifest, dealbox_manifest_hash(manifest), DEALBOX_HASH);
	while (!err && size) {
		size_t used = 0;

		err = next_take(new, at, size, &used, &line, error);
		at += used;
		size -= err ? 0 : used;
	}
	if (err) {
		dealbox_certificates_free(new);
		return err;
	}
	*certificates = new;
	return 0;
}

size_t dealbox_certificates_count(const struct dealbox_certificates *certificates)
{
	return certificates->count;
}

const struct dealbox_certificate *
dealbox_certificates_get(const struct dealbox_certificates *certificates, size_t index)
{
	return index < certificates->count ? &certificates->list[index] : NULL;
}

const uint8_t *dealbox_certificates_opening(const struct dealbox_certificates *certificates)
{
	return certificates->open ? certificates->opening : NULL;
}

const uint8_t *dealbox_certificates_head(const struct dealbox_certificates *certificates)
{
	return certificates->count ? certificates->list[certificates->count - 1].hash :
				     certificates->manifest;
}
