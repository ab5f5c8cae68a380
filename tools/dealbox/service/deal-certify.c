// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "deal-certify.h"
#include "ui/tournament.h"

bool job_certifier_open(struct job_certifier *c, const char *folder, char *const *files, int count,
			const struct dealbox_set *set)
{
	c->set = set;
	if (count != 1) {
		complain("deal one session at a time", "--certify needs exactly one deal file");
		return false;
	}
	return certifier_open(&c->certifier, folder) &&
	       session_find(dealbox_manifest_square(c->certifier.manifest), files[0], "1",
			    &c->session);
}

void job_certifier_close(struct job_certifier *c)
{
	certifier_close(&c->certifier);
}

static bool basis_read(const char *word, enum dealbox_basis *basis)
{
	static const char *const words[] = {
		[DEALBOX_BASIS_NONE] = "none", [DEALBOX_BASIS_GATES] = "gates",
		[DEALBOX_BASIS_SENSORS] = "sensors",
	};
	unsigned int n;

	for (n = 0; n < sizeof(words) / sizeof(words[0]); n++) {
		*basis = n;
		if (!strcmp(words[n], word))
			return true;
	}
	return false;
}

/* A field of the machine's word. Returns false if it has another size. */
static bool word_field(sd_bus_message *reply, uint8_t *bytes, size_t wanted, bool *there)
{
	const void *data;
	size_t size;

	if (sd_bus_message_read_array(reply, 'y', &data, &size) < 0 || (size && size != wanted))
		return false;
	*there = size;
	memcpy(bytes, data, size);
	return true;
}

static bool word_read(sd_bus_message *reply, struct dealbox_certificate *c)
{
	bool key, statement, signature, nonce;
	int emulator;

	if (sd_bus_message_read(reply, "b", &emulator) < 0 ||
	    sd_bus_message_read(reply, "u", &c->number) < 0 ||
	    !word_field(reply, c->key, sizeof(c->key), &key) ||
	    !word_field(reply, c->attestation.statement, DEALBOX_STATEMENT_SIZE, &statement) ||
	    !word_field(reply, c->attestation.signature, DEALBOX_SIGNATURE_SIZE, &signature) ||
	    !word_field(reply, c->nonce, sizeof(c->nonce), &nonce))
		return false;
	c->by = emulator ? DEALBOX_BY_EMULATOR : DEALBOX_BY_MACHINE;
	c->attested = key;
	return statement == key && signature == key && nonce == key;
}

/* Ask the service for what the machine has signed. Whoever asks must know the deal. */
static bool word_ask(struct job_certifier *c, sd_bus *bus, const char *job,
		     struct dealbox_certificate *certificate, const struct dealbox_deal *deal)
{
	uint8_t salt[DEALBOX_HASH], plan[DEALBOX_HASH];
	struct request r;
	int err;

	certifier_salt(&c->certifier, certificate, salt);
	err = request_new(&r, bus, job, "Job", "GetAttestation");
	if (err >= 0)
		err = dealbox_plan_commit(certificate->pockets, deal, salt, plan);
	if (err >= 0)
		err = sd_bus_message_append(r.call, "su", certificate->machine,
					    certificate->insertion);
	if (err >= 0)
		err = sd_bus_message_append_array(r.call, 'y', salt, sizeof(salt));
	if (err >= 0)
		err = sd_bus_message_append_array(r.call, 'y', plan, sizeof(plan));
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0 && !word_read(r.reply, certificate))
		err = -EBADMSG;
	if (err < 0)
		service_refused(&r, err);
	explicit_bzero(salt, sizeof(salt));
	request_end(&r);
	return err >= 0;
}

/* Ask the service for the verdict on the insertion and the commitment to its trace. */
static bool commit_ask(struct job_certifier *c, sd_bus *bus, const char *job,
		       struct dealbox_certificate *certificate)
{
	const char *basis = "", *pockets = "";
	uint8_t salt[DEALBOX_HASH];
	const void *digest;
	int err, exact, read;
	struct request r;
	size_t size;

	certifier_salt(&c->certifier, certificate, salt);
	err = request_new(&r, bus, job, "Job", "Commit");
	if (err >= 0)
		err = sd_bus_message_append(r.call, "su", certificate->machine,
					    certificate->insertion);
	if (err >= 0)
		err = sd_bus_message_append_array(r.call, 'y', salt, sizeof(salt));
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_read(r.reply, "bsbs", &exact, &basis, &read, &pockets);
	if (err >= 0)
		err = sd_bus_message_read_array(r.reply, 'y', &digest, &size);
	if (err >= 0 && (size != DEALBOX_HASH || strlen(pockets) != DEALBOX_HANDS ||
			 !basis_read(basis, &certificate->basis)))
		err = -EBADMSG;
	if (err >= 0) {
		certificate->exact &= exact;
		certificate->identified = read;
		memcpy(certificate->pockets, pockets, DEALBOX_HANDS);
		memcpy(certificate->trace, digest, DEALBOX_HASH);
	} else {
		service_refused(&r, err);
	}
	explicit_bzero(salt, sizeof(salt));
	request_end(&r);
	return err >= 0;
}

static bool certify_one(struct job_certifier *c, sd_bus *bus, const char *job,
			struct dealbox_certificate *certificate)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	bool good;

	snprintf(certificate->session, sizeof(certificate->session), "%s", c->session.file);
	if (certifier_has(&c->certifier, certificate)) {
		c->had++;
		return true;
	}
	good = commit_ask(c, bus, job, certificate) &&
	       !dealbox_set_get(c->set, (size_t)dealbox_set_find(c->set, certificate->board),
				&board) &&
	       word_ask(c, bus, job, certificate, &board.deal) &&
	       certifier_add(&c->certifier, certificate, &board.deal, NULL);
	dealbox_deal_wipe(&board.deal);
	c->added += good;
	if (!good)
		complain("correct that, and continue with --resume and --certify",
			 "%s: board %u, copy %u could not be certified", c->certifier.folder,
			 certificate->board, certificate->copy);
	return good;
}

bool job_certify(struct job_certifier *c, sd_bus *bus, const char *job)
{
	const char *machine, *outcome;
	bool good = true;
	struct request r;
	int err = request_new(&r, bus, job, "Job", "GetInsertions");

	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_enter_container(r.reply, 'a', "(uusus)");
	while (err >= 0 && good) {
		struct dealbox_certificate certificate = { 0 };

		err = sd_bus_message_read(r.reply, "(uusus)", &certificate.board, &certificate.copy,
					  &machine, &certificate.insertion, &outcome);
		if (err <= 0)
			break;
		snprintf(certificate.machine, sizeof(certificate.machine), "%s", machine);
		certificate.exact = !strcmp(outcome, "exact");
		/* of what was cut short, too: verifiers look for gaps between the insertions */
		if (*outcome && strcmp(outcome, "captured"))
			good = certify_one(c, bus, job, &certificate);
	}
	if (err < 0)
		service_refused(&r, err);
	request_end(&r);
	return err >= 0 && good;
}
