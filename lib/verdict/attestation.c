// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attestations: docs/protocol.md, section 5.3. */
#include <errno.h>
#include <linux/unaligned.h>
#include <sodium.h>
#include <string.h>

#include <dealbox/attestation.h>
#include <dealbox/event.h>

#include "error-internal.h"
#include "wire.h"

#define FLAG_EMULATED	1u
#define FLAG_PLAN	2u
#define FLAGS		(FLAG_EMULATED | FLAG_PLAN)

/* first byte of what a digest is made of */
#define OF_PLAN		1
#define OF_EVENTS	2

#define PURPOSE		"dealing machine attestation\n"
#define PURPOSE_SIZE	(sizeof(PURPOSE) - 1)

_Static_assert(WIRE_HASH_SIZE == crypto_generichash_BYTES &&
	       DEALBOX_PUBLIC_KEY_SIZE == crypto_sign_PUBLICKEYBYTES &&
	       DEALBOX_SIGNATURE_SIZE == crypto_sign_BYTES, "sizes of BLAKE2b and Ed25519");

/* -- the statement ------------------------------------------------------------ */

static bool magic_ok(const uint8_t *statement)
{
	return get_unaligned_le32(statement) == WIRE_STATEMENT_MAGIC;
}

/* A later minor version may give the reserved fields a meaning that this one does not know. */
static bool version_ok(const uint8_t *statement)
{
	return get_unaligned_le16(statement + 4) >> 8 == WIRE_STATEMENT_VERSION >> 8 &&
	       !(statement[6] & ~FLAGS) && !statement[7] && !get_unaligned_le32(statement + 28);
}

int dealbox_attestation_read(const struct dealbox_attestation *attestation,
			     struct dealbox_statement *out)
{
	const uint8_t *statement = attestation->statement;

	if (!magic_ok(statement) || !version_ok(statement))
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	memcpy(out->key_id, statement + 8, sizeof(out->key_id));
	out->counter = get_unaligned_le32(statement + 16);
	out->insertion = get_unaligned_le32(statement + 20);
	out->events = get_unaligned_le32(statement + 24);
	out->emulated = statement[6] & FLAG_EMULATED;
	out->planned = statement[6] & FLAG_PLAN;
	return 0;
}

static bool signed_by(const struct dealbox_attestation *attestation,
		      const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE])
{
	uint8_t text[PURPOSE_SIZE + DEALBOX_STATEMENT_SIZE], hash[WIRE_HASH_SIZE];

	memcpy(text, PURPOSE, PURPOSE_SIZE);
	memcpy(text + PURPOSE_SIZE, attestation->statement, DEALBOX_STATEMENT_SIZE);
	crypto_generichash(hash, sizeof(hash), public_key, DEALBOX_PUBLIC_KEY_SIZE, NULL, 0);
	return !crypto_sign_verify_detached(attestation->signature, text, sizeof(text),
					    public_key) &&
	       magic_ok(attestation->statement) &&
	       !memcmp(attestation->statement + 8, hash, DEALBOX_KEY_ID_SIZE);
}

bool dealbox_attestation_signed(const struct dealbox_attestation *attestation,
				const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE])
{
	return sodium_init() >= 0 && signed_by(attestation, public_key);
}

/* -- the trace ------------------------------------------------------------------ */

/* The deal that an attestation is about: the last one of the insertion that ended. */
struct deal {
	const struct dealbox_trace *trace;
	size_t first, last;	/* indices of DEAL_STARTED and DEAL_DONE */
	size_t end;		/* index behind the last event while the board was in */
};

static bool deal_find(struct deal *deal, const struct dealbox_trace *trace)
{
	const struct dealbox_event *event;
	bool started = false, done = false;
	size_t start = 0;

	*deal = (struct deal){ .trace = trace };
	for (size_t i = 0; (event = dealbox_trace_get(trace, i)); i++) {
		if (event->type == DEALBOX_EV_BOARD_REMOVED)
			break;
		deal->end = i + 1;
		if (event->type == DEALBOX_EV_DEAL_STARTED) {
			start = i;
			started = true;
		} else if (event->type == DEALBOX_EV_DEAL_DONE && started) {
			deal->first = start;
			deal->last = i;
			done = true;
		}
	}
	return done;
}

/* Why an event makes the trace incomparable; NULL if it does not. */
static const char *fault_at(const struct deal *deal, size_t index)
{
	const struct dealbox_event *event = dealbox_trace_get(deal->trace, index);
	bool within = index > deal->first && index < deal->last, behind = index > deal->last;

	/* a protocol error of the driver is none of them */
	if (!dealbox_wire_known(event->type))
		return "the machine sent an event that is wrong, or of an unknown type";
	if (event->type == DEALBOX_EV_STATE_LOST)
		return "the machine lost its state";
	if (event->insertion != dealbox_trace_insertion(deal->trace))
		return "an event of the deal names another insertion";
	if (index > deal->first && index <= deal->last &&
	    event->machine_seq != dealbox_trace_get(deal->trace, index - 1)->machine_seq + 1)
		return "an event of the deal is missing in the trace";
	if (within && event->type == DEALBOX_EV_ATTESTED)
		return "the machine attested while it was dealing";
	if (behind && (dealbox_event_stops(event->type) || event->type == DEALBOX_EV_ABORTED ||
		       event->type == DEALBOX_EV_DEAL_STARTED))
		return "the machine stopped, or dealt on, behind the end of the deal";
	return NULL;
}

static const char *trace_fault(const struct deal *deal)
{
	const char *fault = NULL;

	if (dealbox_trace_gap(deal->trace))
		return "events were lost";
	for (size_t i = deal->first; i < deal->end && !fault; i++)
		fault = fault_at(deal, i);
	return fault;
}

/* -- the digests ------------------------------------------------------------------ */

static void digest(uint8_t out[WIRE_HASH_SIZE], uint8_t of, const uint8_t hash[WIRE_HASH_SIZE],
		   const uint8_t nonce[DEALBOX_NONCE_SIZE])
{
	uint8_t text[1 + WIRE_HASH_SIZE] = { of };

	memcpy(text + 1, hash, WIRE_HASH_SIZE);
	crypto_generichash(out, WIRE_HASH_SIZE, text, sizeof(text), nonce, DEALBOX_NONCE_SIZE);
	sodium_memzero(text, sizeof(text));
}

/* The bytes that the machine hashed: 32 of the wire, without what the host ignores. */
static void event_bytes(const struct dealbox_event *event, uint8_t buf[WIRE_EVENT_SIZE])
{
	memset(buf, 0, WIRE_EVENT_SIZE);
	buf[0] = (uint8_t)event->type;
	buf[1] = event->flags & (DEALBOX_EVF_FACE_UP | DEALBOX_EVF_AT_POWER_ON);
	put_unaligned_le32(event->machine_seq, buf + 4);
	put_unaligned_le32(event->machine_time_us, buf + 8);
	put_unaligned_le32(event->insertion, buf + 12);
	buf[16] = event->position;
	buf[17] = event->card;
	buf[18] = event->pocket;
	buf[19] = event->quality;
	put_unaligned_le32(event->code, buf + 20);
	if (event->type == DEALBOX_EV_DEAL_DONE) {
		memcpy(buf + 24, event->counts, sizeof(event->counts));
	} else {
		put_unaligned_le32(event->arg[0], buf + 24);
		put_unaligned_le32(event->arg[1], buf + 28);
	}
}

static bool events_match(const struct deal *deal, const uint8_t *statement,
			 const uint8_t nonce[DEALBOX_NONCE_SIZE])
{
	uint8_t buf[WIRE_EVENT_SIZE], hash[WIRE_HASH_SIZE], expected[WIRE_HASH_SIZE];
	crypto_generichash_state state;

	if (get_unaligned_le32(statement + 24) != deal->last - deal->first + 1)
		return false;
	crypto_generichash_init(&state, NULL, 0, WIRE_HASH_SIZE);
	for (size_t i = deal->first; i <= deal->last; i++) {
		event_bytes(dealbox_trace_get(deal->trace, i), buf);
		crypto_generichash_update(&state, buf, sizeof(buf));
	}
	crypto_generichash_final(&state, hash, sizeof(hash));
	digest(expected, OF_EVENTS, hash, nonce);
	sodium_memzero(buf, sizeof(buf));
	sodium_memzero(hash, sizeof(hash));
	sodium_memzero(&state, sizeof(state));
	return !memcmp(expected, statement + 64, sizeof(expected));
}

static bool plan_matches(const struct dealbox_plan *plan, const uint8_t *statement,
			 const uint8_t nonce[DEALBOX_NONCE_SIZE])
{
	struct wire_plan wire = { .plan_id = plan->plan_id, .mode = plan->mode,
				  .entries = plan->entries };
	uint8_t block[WIRE_PLAN_MAX], hash[WIRE_HASH_SIZE], expected[WIRE_HASH_SIZE] = { 0 };

	if (statement[6] & FLAG_PLAN) {
		memcpy(wire.pocket, plan->pocket, sizeof(wire.pocket));
		dealbox_count_plan(&wire);
		crypto_generichash(hash, sizeof(hash), block, dealbox_encode_plan(block, &wire),
				   NULL, 0);
		digest(expected, OF_PLAN, hash, nonce);
		sodium_memzero(block, sizeof(block));
		sodium_memzero(hash, sizeof(hash));
		sodium_memzero(&wire, sizeof(wire));
	}
	return !memcmp(expected, statement + 32, sizeof(expected));
}

/* -- the result --------------------------------------------------------------------- */

static enum dealbox_attested say(struct dealbox_error *reason, enum dealbox_attested result,
				 const char *why)
{
	error_fill(reason, result == DEALBOX_ATTESTED_DIFFERENT ? -EBADMSG : -ENODATA, 0, NULL,
		   "%s", why);
	return result;
}

static enum dealbox_attested differs(struct dealbox_error *reason, const char *why)
{
	return say(reason, DEALBOX_ATTESTED_DIFFERENT, why);
}

static enum dealbox_attested incomparable(struct dealbox_error *reason, const char *why)
{
	return say(reason, DEALBOX_ATTESTED_INCOMPARABLE, why);
}

enum dealbox_attested
dealbox_attestation_verify(const struct dealbox_attestation *attestation,
			   const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE],
			   const uint8_t nonce[DEALBOX_NONCE_SIZE],
			   const struct dealbox_plan *plan, const struct dealbox_trace *trace,
			   struct dealbox_error *reason)
{
	const uint8_t *statement = attestation->statement;
	const char *fault;
	struct deal deal;

	if (sodium_init() < 0)
		return incomparable(reason, "libsodium cannot be used");
	if (!signed_by(attestation, public_key))
		return differs(reason,
			       "the attestation is not signed with the key of this machine");
	if (!version_ok(statement))
		return incomparable(reason, "the attestation is of a later version");
	if (get_unaligned_le32(statement + 20) != dealbox_trace_insertion(trace))
		return differs(reason, "the attestation is about another insertion");
	if (!deal_find(&deal, trace))
		return incomparable(reason, "the trace has no deal that ended");
	fault = trace_fault(&deal);
	if (fault)
		return incomparable(reason, fault);
	if (!plan->entries || plan->entries > DEALBOX_MAX_ENTRIES)
		return differs(reason, "the plan is empty");
	if (!plan_matches(plan, statement, nonce))
		return differs(reason, "the machine had another plan, or another nonce");
	if (dealbox_trace_get(trace, deal.first)->code != plan->plan_id ||
	    dealbox_trace_get(trace, deal.last)->code != plan->plan_id)
		return differs(reason, "the machine dealt another plan");
	if (!events_match(&deal, statement, nonce))
		return differs(reason, "the machine reported other events, or had another nonce");
	return DEALBOX_ATTESTED_PROVEN;
}

enum dealbox_attested
dealbox_attestation_verify_plan(const struct dealbox_attestation *attestation,
				const uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE],
				const uint8_t nonce[DEALBOX_NONCE_SIZE], uint32_t insertion,
				const struct dealbox_plan *plan, struct dealbox_error *reason)
{
	const uint8_t *statement = attestation->statement;

	if (sodium_init() < 0)
		return incomparable(reason, "libsodium cannot be used");
	if (!signed_by(attestation, public_key))
		return differs(reason,
			       "the attestation is not signed with the key of this machine");
	if (!version_ok(statement))
		return incomparable(reason, "the attestation is of a later version");
	if (get_unaligned_le32(statement + 20) != insertion)
		return differs(reason, "the attestation is about another insertion");
	if (!plan->entries || plan->entries > DEALBOX_MAX_ENTRIES)
		return differs(reason, "the plan is empty");
	if (!plan_matches(plan, statement, nonce))
		return differs(reason, "the machine had another plan, or another nonce");
	if (!(statement[6] & FLAG_PLAN))
		return incomparable(reason, "the machine held no plan, so its events are needed: "
					    "give the traces");
	return DEALBOX_ATTESTED_PROVEN;
}

const char *dealbox_attested_name(unsigned int result)
{
	static const char *const names[] = {
		[DEALBOX_ATTESTED_INCOMPARABLE] = "cannot compare",
		[DEALBOX_ATTESTED_DIFFERENT] = "differs",
		[DEALBOX_ATTESTED_PROVEN] = "proven",
	};

	return result < sizeof(names) / sizeof(*names) ? names[result] : "?";
}
