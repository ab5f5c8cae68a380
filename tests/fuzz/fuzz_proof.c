// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Verify certificates of arbitrary content, signed by somebody who has the PC's key. The input is a
 * sequence of bodies, separated by empty lines; "=" begins a second file. Only boards that count
 * may be proven, and each only once.
 */
#include <dealbox/certificate.h>
#include <dealbox/pack.h>
#include <dealbox/set.h>

#include "fuzz.h"
#include "fairness/signed-text.h"
#include "ui/proof.h"

#define TEXT_MAX	(1 << 16)

static const uint8_t opening[DEALBOX_OPENING] = { 1 };
static struct dealbox_signer *signer;
static struct dealbox_manifest *manifest;
static uint8_t pc[1][DEALBOX_SIGNER_KEY];

/* It is given no traces. */
int tracefile_judge(const struct tracefile_head *head, const uint8_t pockets[DEALBOX_HANDS],
		    const struct dealbox_trace *trace, const struct dealbox_deal *deal,
		    const struct dealbox_pack *pack, struct dealbox_verdict **verdict)
{
	(void)head;
	(void)pockets;
	(void)trace;
	(void)deal;
	(void)pack;
	(void)verdict;
	abort();
}

static void begin(void)
{
	static const char key[] = "dealbox signing key 1 "
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
	static const char promise_text[] = "TN x\nDI y\nSN 2:1-2,3-4:a#:b\nSN 0:?:c#:d\n"
		"KH 180420a5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943\n";
	struct dealbox_promised_machine machines[3] = {
		{ .keyed = true, .name = "m" }, { .emulator = true, .name = "n" }, { .name = "q" },
	};
	struct dealbox_promise promise = { .copies = 2, .machines = machines, .machine_count = 3 };
	struct dealbox_square *square;
	char *text;

	CHECK(!dealbox_signer_parse(key, strlen(key), &signer, NULL));
	memcpy(pc[0], dealbox_signer_public(signer), sizeof(pc[0]));
	memcpy(machines[0].key, pc[0], sizeof(pc[0]));
	CHECK(!dealbox_square_parse(promise_text, strlen(promise_text), &square, NULL));
	text = dealbox_manifest_make(square, &promise, signer, 1763640000, NULL);
	CHECK(text && !dealbox_manifest_parse(text, strlen(text), &manifest, NULL));
	free(text);
	dealbox_square_free(square);
}

static const struct dealbox_deal deal = { { 0x1fff, 0x1fffULL << 13, 0x1fffULL << 26,
					    0x1fffULL << 39 } };

/* Parse what is chained so far. NULL: it is not in its form. */
static struct dealbox_certificates *parse(const char *file)
{
	struct dealbox_certificates *certificates;

	return dealbox_certificates_parse(file, strlen(file), manifest, &certificates, NULL) ?
		NULL : certificates;
}

/*
 * Sign a body with the manifest, the certificate before it, and a commitment to the deal, whatever
 * it had.
 */
static void chain(char *file, const char *body)
{
	const size_t length = strlen(file);
	char made[4096], hex[HEX(DEALBOX_HASH)], *text;
	struct dealbox_certificates *before = parse(file), *with;
	const char *rest = strstr(body, "\nsession ");
	struct dealbox_certificate c;

	CHECK(before);
	if (rest && strlen(body) < 3000 && length < TEXT_MAX - 8192 &&
	    strstr(rest, "\nprevious ")) {
		hex_put(dealbox_manifest_hash(manifest), DEALBOX_HASH, hex);
		snprintf(made, sizeof(made), "dealbox certificate 2\nmanifest %s%s", hex, rest);
		hex_put(dealbox_certificates_head(before), DEALBOX_HASH, hex);
		sprintf(strstr(made, "\nprevious "), "\nprevious %s\n", hex);
		text = text_sign(made, signer);
		CHECK(text);
		strcpy(file + length, text);
		free(text);
		with = parse(file);
		file[length] = 0;
		if (with) {
			c = *dealbox_certificates_get(with, dealbox_certificates_count(with) - 1);
			dealbox_certificates_free(with);
			CHECK(!dealbox_certificate_commit(&c, opening, &deal, NULL));
			text = dealbox_certificate_sign(&c, signer);
			CHECK(text);
			strcpy(file + length, text);
			free(text);
		}
	}
	dealbox_certificates_free(before);
}

/* Add the file to the proof, open. */
static void file_add(struct proof *proof, char *file)
{
	struct dealbox_certificates *certificates;
	char *text;

	certificates = parse(file);
	CHECK(certificates);
	text = dealbox_certificates_open(certificates, signer, opening);
	CHECK(text);
	strcat(file, text);
	free(text);
	dealbox_certificates_free(certificates);
	certificates = parse(file);
	CHECK(certificates);
	CHECK(proof_add_file(proof, "x", certificates));
}

/* The same deal in each board: what is proven is for the counting alone. */
static void deals_add(struct proof *proof)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;

	board.deal = deal;
	for (size_t i = 0; i < proof->session_count; i++) {
		proof->sessions[i].set = dealbox_set_new(dealbox_pack_bridge());
		CHECK(proof->sessions[i].set);
		for (board.number = 1; board.number <= 4; board.number++)
			CHECK(!dealbox_set_add(proof->sessions[i].set, &board));
	}
}

static void check(const struct proof *proof)
{
	char *sentence = proof_sentence(proof);
	size_t proven = 0;

	CHECK(sentence && *sentence);
	free(sentence);
	for (size_t i = 0; i < proof->certificate_count; i++) {
		const struct proof_certificate *p = &proof->certificates[i];

		proven += p->proven;
		CHECK(!p->proven || (p->counts && p->c->exact && p->c->copy <= 2 &&
				     p->c->by == DEALBOX_BY_MACHINE));
		for (size_t k = 0; p->proven && k < i; k++) {
			const struct proof_certificate *q = &proof->certificates[k];

			CHECK(!q->proven || q->session != p->session ||
			      q->c->board != p->c->board || q->c->copy != p->c->copy);
		}
	}
	CHECK(proven == proof->proven && proof->proven <= proof->promised);
	/* without a finding, everything is proven */
	CHECK(proof->finding_count || proof->proven == proof->promised);
	for (size_t i = 0; i < proof->finding_count; i++)
		CHECK(*proof->findings[i].text && *finding_name(proof->findings[i].kind));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char files[2][TEXT_MAX];
	struct proof proof = { .signer_named = true, .pcs = pc, .pc_count = 1 };
	unsigned int which = 0;
	char *copy, *body, *at;

	if (!signer)
		begin();
	copy = strndup((const char *)data, size);
	CHECK(copy);
	*files[0] = *files[1] = 0;
	for (at = copy; at; at = body) {
		body = strstr(at, "\n\n");
		if (body) {
			body[1] = 0;
			body += 2;
		}
		which |= *at == '=';
		chain(files[which], at);
	}
	proof.manifest = manifest;
	for (unsigned int n = 0; n <= which; n++)
		file_add(&proof, files[n]);
	CHECK(proof_find_sessions(&proof));
	deals_add(&proof);
	CHECK(proof_run(&proof));
	check(&proof);
	proof_free(&proof);
	free(copy);
	return 0;
}
