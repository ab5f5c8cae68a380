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
#include <dealbox/plan.h>

#include "reserved.h"
#include "signed-text.h"

struct dealbox_certificates {
	struct dealbox_certificate *list;
	size_t count;
	uint8_t manifest[DEALBOX_HASH];
	bool first_version;	/* certificates of version 1 are allowed */
	bool signed_by;		/* signer is set: there is a certificate or an opening */
	uint8_t signer[DEALBOX_SIGNER_KEY];
	bool open;
	uint8_t opening[DEALBOX_OPENING];
};

static const char *const basis_words[] = {
	[DEALBOX_BASIS_NONE] = "none",
	[DEALBOX_BASIS_GATES] = "gates",
	[DEALBOX_BASIS_SENSORS] = "sensors",
};

static const char *const by_words[] = {
	[DEALBOX_BY_MACHINE] = "machine",
	[DEALBOX_BY_EMULATOR] = "emulator",
	[DEALBOX_BY_HAND] = "hand",
};

#define BY_HAND_NAME	"-"

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
int dealbox_plan_commit(const char *order, const struct dealbox_deal *deal,
			const uint8_t salt[DEALBOX_HASH], uint8_t digest[DEALBOX_HASH])
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

void dealbox_nonce_seal(uint8_t nonce[DEALBOX_NONCE_SIZE],
			const struct dealbox_attestation *attestation,
			const uint8_t salt[DEALBOX_HASH])
{
	crypto_generichash_state state;
	uint8_t pad[DEALBOX_HASH];

	digest_begin(&state, salt, "dealbox nonce 1\n");
	crypto_generichash_update(&state, attestation->statement, DEALBOX_STATEMENT_SIZE);
	crypto_generichash_final(&state, pad, sizeof(pad));
	for (size_t i = 0; i < DEALBOX_NONCE_SIZE; i++)
		nonce[i] ^= pad[i];
	sodium_memzero(pad, sizeof(pad));
	sodium_memzero(&state, sizeof(state));
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
			       const uint8_t opening[DEALBOX_OPENING],
			       const struct dealbox_deal *deal, const struct dealbox_trace *trace)
{
	uint8_t salt[DEALBOX_HASH];
	int err;

	dealbox_certificate_salt(certificate, opening, salt);
	err = dealbox_plan_commit(certificate->pockets, deal, salt, certificate->plan);
	if (!err && trace)
		dealbox_trace_commit(trace, salt, certificate->trace);
	sodium_memzero(salt, sizeof(salt));
	return err;
}

bool dealbox_certificate_opens(const struct dealbox_certificate *certificate,
			       const uint8_t opening[DEALBOX_OPENING],
			       const struct dealbox_deal *deal, const struct dealbox_trace *trace)
{
	uint8_t salt[DEALBOX_HASH], digest[DEALBOX_HASH];
	bool same;

	dealbox_certificate_salt(certificate, opening, salt);
	same = !dealbox_plan_commit(certificate->pockets, deal, salt, digest) &&
	       !memcmp(digest, certificate->plan, DEALBOX_HASH);
	if (same && trace) {
		dealbox_trace_commit(trace, salt, digest);
		same = !memcmp(digest, certificate->trace, DEALBOX_HASH);
	}
	sodium_memzero(salt, sizeof(salt));
	return same;
}

/* -- the machine's word ------------------------------------------------------- */

static enum dealbox_attested word_of_plan(const struct dealbox_certificate *c,
					  const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE],
					  const uint8_t nonce[DEALBOX_NONCE_SIZE],
					  const struct dealbox_plan *plan,
					  const struct dealbox_trace *trace,
					  struct dealbox_error *reason)
{
	if (trace)
		return dealbox_attestation_verify(&c->attestation, public_key, nonce, plan, trace,
						  reason);
	return dealbox_attestation_verify_plan(&c->attestation, public_key, nonce, c->insertion,
					       plan, reason);
}

enum dealbox_attested
dealbox_certificate_word(const struct dealbox_certificate *certificate,
			 const uint8_t opening[DEALBOX_OPENING],
			 const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE],
			 const struct dealbox_deal *deal, const struct dealbox_trace *trace,
			 struct dealbox_error *reason)
{
	const struct dealbox_pack *pack = dealbox_pack_bridge();
	uint8_t salt[DEALBOX_HASH], nonce[DEALBOX_NONCE_SIZE], pockets[DEALBOX_HANDS], deck[64];
	enum dealbox_attested word = DEALBOX_ATTESTED_DIFFERENT;
	const size_t count = dealbox_pack_sorted(pack, deck);
	struct dealbox_plan plan;

	dealbox_certificate_salt(certificate, opening, salt);
	memcpy(nonce, certificate->nonce, sizeof(nonce));
	dealbox_nonce_seal(nonce, &certificate->attestation, salt);
	error_fill(reason, -EBADMSG, 0, NULL, "the certificate cannot be a plan");
	if (dealbox_pockets_parse(certificate->pockets, pockets))
		goto out;
	/* a machine that was to count a sorted deck may have read its cards too */
	if (!dealbox_plan_by_position(&plan, certificate->number, deal, pack, pockets, deck, count))
		word = word_of_plan(certificate, public_key, nonce, &plan, trace, reason);
	if (word == DEALBOX_ATTESTED_DIFFERENT && certificate->identified &&
	    !dealbox_plan_by_card(&plan, certificate->number, deal, pack, pockets))
		word = word_of_plan(certificate, public_key, nonce, &plan, trace, reason);
	dealbox_plan_wipe(&plan);
out:
	sodium_memzero(salt, sizeof(salt));
	sodium_memzero(nonce, sizeof(nonce));
	return word;
}

/* -- text ------------------------------------------------------------------- */

/* The fields of version 2 are such as a certificate of that version may have. */
static bool fields_fit(const struct dealbox_certificate *c)
{
	const bool hand = c->by == DEALBOX_BY_HAND;

	if (RESERVED_USED(c))
		return false;
	if (c->version == 1)
		return !c->by && !c->number && !c->attested;
	return c->version == 2 && (unsigned int)c->by <= DEALBOX_BY_HAND &&
	       hand == !strcmp(c->machine, BY_HAND_NAME) &&
	       !(hand && (c->attested || c->insertion || c->number));
}

/* Writes a line with bytes, or "-" for none. */
static void bytes_put(FILE *out, const char *word, bool there, const uint8_t *bytes, size_t size)
{
	char hex[HEX(DEALBOX_STATEMENT_SIZE)] = "-";

	if (there)
		hex_put(bytes, size, hex);
	fprintf(out, "%s %s\n", word, hex);
}

/* Returns the signed body, in its only valid form. NULL: a field does not fit, or out of memory */
static char *body_print(const struct dealbox_certificate *c)
{
	uint8_t pockets[DEALBOX_HANDS];
	char at[TIME_TEXT], *body = NULL;
	size_t size;
	FILE *out;

	if (!name_good(c->session) || !name_good(c->machine) || !c->board || !c->copy ||
	    c->time_us < 0 || (unsigned int)c->basis > DEALBOX_BASIS_SENSORS ||
	    dealbox_pockets_parse(c->pockets, pockets) ||
	    strspn(c->pockets, "NESW") != DEALBOX_HANDS || !fields_fit(c))
		return NULL;
	out = open_memstream(&body, &size);
	if (!out)
		return NULL;
	fprintf(out, "dealbox certificate %u\n", c->version);
	bytes_put(out, "manifest", true, c->manifest, DEALBOX_HASH);
	fprintf(out, "session %s\nboard %u\ncopy %u\npockets %s\n", c->session, c->board, c->copy,
		c->pockets);
	bytes_put(out, "plan", true, c->plan, DEALBOX_HASH);
	bytes_put(out, "trace", true, c->trace, DEALBOX_HASH);
	fprintf(out, "verdict %s\n", c->exact ? "exact" : "void");
	if (c->version == 2)
		fprintf(out, "by %s\n", by_words[c->by]);
	fprintf(out, "basis %s\ncards %s\nmachine %s\ninsertion %u\n", basis_words[c->basis],
		c->identified ? "read" : "counted", c->machine, c->insertion);
	if (c->version == 2) {
		fprintf(out, "number %u\n", c->number);
		bytes_put(out, "key", c->attested, c->key, sizeof(c->key));
		bytes_put(out, "statement", c->attested, c->attestation.statement,
			  DEALBOX_STATEMENT_SIZE);
		bytes_put(out, "attestation", c->attested, c->attestation.signature,
			  DEALBOX_SIGNATURE_SIZE);
		bytes_put(out, "nonce", c->attested, c->nonce, sizeof(c->nonce));
	}
	time_put(c->time_us, at);
	fprintf(out, "time %s\n", at);
	bytes_put(out, "previous", true, c->previous, DEALBOX_HASH);
	if (!fclose(out))
		return body;
	free(body);
	return NULL;
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

/* Parses a line with bytes, or "-": then *there is false. */
static bool bytes_line(char **at, const char *word, bool *there, uint8_t *bytes, size_t size)
{
	const char *value = line_take(at, word);

	*there = value && strcmp(value, "-");
	return value && (!*there || hex_take(value, bytes, size));
}

/* Parses the machine's word: all of it is there, or nothing. */
static bool word_take(char **at, struct dealbox_certificate *c)
{
	bool key, statement, signature, nonce;

	if (!number_line(at, "number", &c->number) ||
	    !bytes_line(at, "key", &key, c->key, sizeof(c->key)) ||
	    !bytes_line(at, "statement", &statement, c->attestation.statement,
			DEALBOX_STATEMENT_SIZE) ||
	    !bytes_line(at, "attestation", &signature, c->attestation.signature,
			DEALBOX_SIGNATURE_SIZE) ||
	    !bytes_line(at, "nonce", &nonce, c->nonce, sizeof(c->nonce)))
		return false;
	c->attested = key;
	return statement == key && signature == key && nonce == key;
}

/* Parses a body. Returns false if it does not have the form. */
static bool body_take(char *body, struct dealbox_certificate *c)
{
	static const char *const verdicts[] = { "void", "exact" };
	static const char *const cards[] = { "counted", "read" };
	char at_text[TIME_TEXT];
	int verdict, by = 0, basis, identified;
	bool good;

	good = number_line(&body, "dealbox certificate", &c->version) &&
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
	if (c->version == 2)
		by = word_line(&body, "by", by_words, 3);
	basis = word_line(&body, "basis", basis_words, 3);
	identified = word_line(&body, "cards", cards, 2);
	c->exact = verdict == 1;
	c->by = (enum dealbox_dealt_by)(by < 0 ? 0 : by);
	c->basis = (enum dealbox_basis)(basis < 0 ? 0 : basis);
	c->identified = identified == 1;
	return verdict >= 0 && by >= 0 && basis >= 0 && identified >= 0 &&
	       text_line(&body, "machine", c->machine, sizeof(c->machine)) &&
	       number_line(&body, "insertion", &c->insertion) &&
	       (c->version != 2 || word_take(&body, c)) &&
	       text_line(&body, "time", at_text, sizeof(at_text)) &&
	       time_take(at_text, &c->time_us) &&
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

struct opening {
	uint8_t manifest[DEALBOX_HASH];
	uint32_t certificates;
	uint8_t previous[DEALBOX_HASH];
	uint8_t opening[DEALBOX_OPENING];
};

static char *opening_print(const struct opening *o)
{
	char manifest[HEX(DEALBOX_HASH)], previous[HEX(DEALBOX_HASH)], hex[HEX(DEALBOX_OPENING)];
	char *body;

	hex_put(o->manifest, DEALBOX_HASH, manifest);
	hex_put(o->previous, DEALBOX_HASH, previous);
	hex_put(o->opening, DEALBOX_OPENING, hex);
	if (asprintf(&body,
		     "dealbox opening 1\nmanifest %s\ncertificates %u\nprevious %s\nopening %s\n",
		     manifest, o->certificates, previous, hex) < 0)
		body = NULL;
	sodium_memzero(hex, sizeof(hex));
	return body;
}

char *dealbox_certificates_open(const struct dealbox_certificates *certificates,
				const struct dealbox_signer *signer,
				const uint8_t opening[DEALBOX_OPENING])
{
	struct opening o = { .certificates = (uint32_t)certificates->count };
	char *body, *text;

	if (certificates->open)
		return NULL;
	memcpy(o.manifest, certificates->manifest, DEALBOX_HASH);
	memcpy(o.previous, dealbox_certificates_head(certificates), DEALBOX_HASH);
	memcpy(o.opening, opening, DEALBOX_OPENING);
	body = opening_print(&o);
	text = body ? text_sign(body, signer) : NULL;
	free(body);
	sodium_memzero(&o, sizeof(o));
	return text;
}

static bool opening_parse(char *body, struct opening *o)
{
	const char *value = line_take(&body, "dealbox opening");

	return value && hex_line(&body, "manifest", o->manifest) &&
	       number_line(&body, "certificates", &o->certificates) &&
	       hex_line(&body, "previous", o->previous) &&
	       hex_line(&body, "opening", o->opening) && !*body;
}

static int opening_take(const char *body, struct opening *o, uint32_t line,
			struct dealbox_error *error)
{
	char *copy = strdup(body), *again = NULL;
	int err = 0;

	if (!copy)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	if (opening_parse(copy, o))
		again = opening_print(o);
	/* refuse other spellings of the same content: there is only one form */
	if (!again || strcmp(again, body))
		err = error_set(error, -EINVAL, line, "get the file again",
				"this is no opening in the form that it must have");
	free(again);
	free(copy);
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
		       const struct dealbox_certificate *c, uint32_t line,
		       struct dealbox_error *error)
{
	if (c->version == 1 && !certificates->first_version)
		return error_set(error, -EINVAL, line,
				 "do not accept it: the promise is of version 2",
				 "the certificate is of version 1, and does not say who dealt");
	if (memcmp(c->manifest, certificates->manifest, DEALBOX_HASH))
		return error_set(error, -EBADMSG, line, "give the manifest that they belong to",
				 "the certificate is for another manifest");
	if (memcmp(c->previous, dealbox_certificates_head(certificates), DEALBOX_HASH))
		return error_set(error, -EBADMSG, line, "get the whole file of certificates",
				 "the chain is broken before this certificate: one was left out, "
				 "added or moved");
	return 0;
}

/* Appends a certificate that was read. */
static int list_add(struct dealbox_certificates *certificates, const struct dealbox_certificate *c,
		    struct dealbox_error *error)
{
	struct dealbox_certificate *more;

	/* powers of two: a large event has tens of thousands */
	if (!(certificates->count & (certificates->count - 1))) {
		more = reallocarray(certificates->list,
				    certificates->count ? 2 * certificates->count : 1,
				    sizeof(*more));
		if (!more)
			return error_set(error, -ENOMEM, 0, NULL, "out of memory");
		certificates->list = more;
	}
	certificates->list[certificates->count++] = *c;
	return 0;
}

static int opening_add(struct dealbox_certificates *certificates, const struct opening *o,
		       uint32_t line, struct dealbox_error *error)
{
	if (memcmp(o->manifest, certificates->manifest, DEALBOX_HASH) ||
	    o->certificates != certificates->count ||
	    memcmp(o->previous, dealbox_certificates_head(certificates), DEALBOX_HASH))
		return error_set(error, -EBADMSG, line, "get the whole file of certificates",
				 "the opening is for other certificates: some are missing");
	memcpy(certificates->opening, o->opening, DEALBOX_OPENING);
	certificates->open = true;
	return 0;
}

/* Checks that a text belongs behind what was read. */
static int place_check(const struct dealbox_certificates *certificates,
		       const uint8_t signer[DEALBOX_SIGNER_KEY], uint32_t line,
		       struct dealbox_error *error)
{
	if (certificates->open)
		return error_set(error, -EBADMSG, line, "get the file again",
				 "there is something behind the opening");
	if (certificates->signed_by && memcmp(signer, certificates->signer, DEALBOX_SIGNER_KEY))
		return error_set(error, -EBADMSG, line, "give the file of one machine at a time",
				 "this is signed by another key than what is before it");
	return 0;
}

/* The next signed text of the file; *used = its size */
static int next_take(struct dealbox_certificates *certificates, const char *data, size_t size,
		     size_t *used, uint32_t *line, struct dealbox_error *error)
{
	static const char opening[] = "dealbox opening 1\n";
	const uint32_t first = *line;
	struct dealbox_certificate c = { 0 };
	struct opening o = { 0 };
	char *body = NULL;
	bool opens;
	int err;

	err = text_check(data, size, used, &body, c.signer, line, error);
	opens = !err && !strncmp(body, opening, strlen(opening));
	if (!err)
		err = opens ? opening_take(body, &o, first, error) :
			      certificate_take(body, &c, first, error);
	if (!err)
		err = place_check(certificates, c.signer, first, error);
	if (!err && opens)
		err = opening_add(certificates, &o, first, error);
	else if (!err)
		err = chain_check(certificates, &c, first, error);
	if (!err) {
		memcpy(certificates->signer, c.signer, DEALBOX_SIGNER_KEY);
		certificates->signed_by = true;
	}
	if (!err && !opens) {
		crypto_hash_sha256(c.hash, (const uint8_t *)data, *used);
		err = list_add(certificates, &c, error);
	}
	free(body);
	return err;
}

int dealbox_certificates_parse(const void *data, size_t size,
			       const struct dealbox_manifest *manifest,
			       struct dealbox_certificates **certificates,
			       struct dealbox_error *error)
{
	struct dealbox_certificates *new = calloc(1, sizeof(*new));
	const char *at = data;
	uint32_t line = 1;
	int err = 0;

	if (!new)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	memcpy(new->manifest, dealbox_manifest_hash(manifest), DEALBOX_HASH);
	new->first_version = !dealbox_manifest_promise(manifest);
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

const uint8_t *dealbox_certificates_signer(const struct dealbox_certificates *certificates)
{
	return certificates->signed_by ? certificates->signer : NULL;
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
