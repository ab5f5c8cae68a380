// SPDX-License-Identifier: LGPL-2.1-or-later
#include "proof.h"

#include <errno.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/pack.h>
#include <dealbox/plan.h>

const char *finding_name(enum finding_kind kind)
{
	static const char *const names[FINDINGS] = {
		[FINDING_SIGNER] = "signer",
		[FINDING_SIGNER_UNNAMED] = "signer-unnamed",
		[FINDING_PC] = "pc",
		[FINDING_PC_UNNAMED] = "pc-unnamed",
		[FINDING_PC_MISSING] = "pc-missing",
		[FINDING_FORK] = "fork",
		[FINDING_COPIES_UNNAMED] = "copies-unnamed",
		[FINDING_NOT_OPEN] = "not-open",
		[FINDING_HEAD] = "head",
		[FINDING_DEALS_MISSING] = "deals-missing",
		[FINDING_SESSION_MISSING] = "session-missing",
		[FINDING_SESSION_UNKNOWN] = "session-unknown",
		[FINDING_RESERVE] = "reserve",
		[FINDING_BOARD_UNKNOWN] = "board-unknown",
		[FINDING_MISSING] = "missing",
		[FINDING_FURTHER] = "further",
		[FINDING_DEAL] = "deal",
		[FINDING_HAND] = "hand",
		[FINDING_REHEARSAL] = "rehearsal",
		[FINDING_MACHINE] = "machine",
		[FINDING_WORD_MISSING] = "word-missing",
		[FINDING_WORD_KEY] = "word-key",
		[FINDING_WORD_DIFFERS] = "word-differs",
		[FINDING_WORD_UNCLEAR] = "word-unclear",
		[FINDING_GAP] = "gap",
		[FINDING_INSERTION_TWICE] = "insertion-twice",
		[FINDING_COUNTER_GAP] = "counter-gap",
		[FINDING_COUNTER_TWICE] = "counter-twice",
		[FINDING_TRACE_MISSING] = "trace-missing",
		[FINDING_TRACE_OTHER] = "trace-other",
		[FINDING_TRACE_VERDICT] = "trace-verdict",
		[FINDING_TRACE_VOID] = "trace-void",
	};

	return names[kind];
}

const char *proof_word_name(enum proof_word word)
{
	static const char *const names[] = {
		[WORD_PC] = "PC's word only",
		[WORD_MACHINE] = "machine's word",
		[WORD_HAND] = "by hand",
		[WORD_EMULATOR] = "rehearsal",
		[WORD_UNCLEAR] = "cannot compare",
	};

	return names[word];
}

void proof_find(struct proof *proof, enum finding_kind kind,
		const struct dealbox_certificate *certificate, const char *format, ...)
{
	struct finding *more =
		reallocarray(proof->findings, proof->finding_count + 1, sizeof(*more));
	va_list list;
	char *text;

	/* also if there is no text: the old list is freed already */
	if (more)
		proof->findings = more;
	va_start(list, format);
	if (!more || vasprintf(&text, format, list) < 0)
		proof->failed = true;
	else
		more[proof->finding_count++] = (struct finding){ kind, certificate, text };
	va_end(list);
}

/* ---- files ---------------------------------------------------------------- */

bool proof_add_file(struct proof *proof, const char *path,
		    struct dealbox_certificates *certificates)
{
	struct proof_file *more = reallocarray(proof->files, proof->file_count + 1, sizeof(*more));

	if (!more) {
		dealbox_certificates_free(certificates);
		return false;
	}
	proof->files = more;
	more[proof->file_count++] = (struct proof_file){ path, certificates, false };
	return true;
}

static bool key_is(const uint8_t *key, const uint8_t other[DEALBOX_SIGNER_KEY])
{
	return key && !memcmp(key, other, DEALBOX_SIGNER_KEY);
}

static void check_files(struct proof *proof)
{
	char hex[2 * DEALBOX_SIGNER_KEY + 1];

	for (size_t i = 0; i < proof->file_count; i++) {
		struct proof_file *file = &proof->files[i];
		const uint8_t *signer = dealbox_certificates_signer(file->certificates);

		if (!signer)
			continue;
		for (size_t k = 0; k < proof->pc_count; k++)
			file->named |= key_is(signer, proof->pcs[k]);
		sodium_bin2hex(hex, sizeof(hex), signer, DEALBOX_SIGNER_KEY);
		if (!file->named && proof->pc_count)
			proof_find(proof, FINDING_PC, NULL,
				   "%s: signed by the key %s, "
				   "which is none of the PCs that were named", file->path, hex);
		for (size_t k = 0; k < i; k++)
			if (key_is(dealbox_certificates_signer(proof->files[k].certificates),
				   signer))
				proof_find(proof, FINDING_FORK, NULL,
					   "%s and %s: two files are signed by one key: it was "
					   "copied, or the past was written again",
					   proof->files[k].path, file->path);
		if (!dealbox_certificates_opening(file->certificates))
			proof_find(proof, FINDING_NOT_OPEN, NULL,
				   "%s: %zu certificates that are not open yet, "
				   "so no card can be checked", file->path,
				   dealbox_certificates_count(file->certificates));
	}
	for (size_t k = 0; k < proof->pc_count; k++) {
		bool there = false;

		for (size_t i = 0; i < proof->file_count; i++)
			there |= key_is(dealbox_certificates_signer(proof->files[i].certificates),
					proof->pcs[k]);
		sodium_bin2hex(hex, sizeof(hex), proof->pcs[k], DEALBOX_SIGNER_KEY);
		if (!there)
			proof_find(proof, FINDING_PC_MISSING, NULL,
				   "no certificates of the PC with the key %s", hex);
	}
}

static void check_names(struct proof *proof)
{
	const struct dealbox_promise *promise = dealbox_manifest_promise(proof->manifest);

	if (!proof->signer_named)
		proof_find(proof, FINDING_SIGNER_UNNAMED, NULL,
			   "nobody has named the organiser's key (--signer): anybody could have "
			   "signed this manifest");
	if (!proof->pc_count && promise) {
		proof->pcs = promise->pcs;
		proof->pc_count = promise->pc_count;
	}
	if (!proof->pc_count)
		proof_find(proof, FINDING_PC_UNNAMED, NULL,
			   "nobody has named the PC's key (--pc): "
			   "anybody could have signed these certificates");
	if (!proof->copies && promise)
		proof->copies = promise->copies;
	if (!proof->copies) {
		proof_find(proof, FINDING_COPIES_UNNAMED, NULL,
			   "nobody has said how many copies of each board there are (--copies)");
		proof->copies = 1;
	}
}

/* ---- sessions --------------------------------------------------------------- */

static int by_session_name(const void *a, const void *b)
{
	const struct proof_session *one = a, *other = b;

	return strcmp(one->name, other->name);
}

struct proof_session *proof_session(struct proof *proof, const char *name)
{
	struct proof_session key = { 0 };

	snprintf(key.name, sizeof(key.name), "%s", name);
	return proof->session_count ? bsearch(&key, proof->sessions, proof->session_count,
					      sizeof(key), by_session_name) : NULL;
}

static bool session_add(struct proof *proof, const struct proof_session *session)
{
	struct proof_session *more =
		reallocarray(proof->sessions, proof->session_count + 1, sizeof(*more));

	if (!more)
		return false;
	proof->sessions = more;
	more[proof->session_count++] = *session;
	return true;
}

/* Fill in a session of a phase. Returns false if there is no such session. */
static bool session_make(const struct proof *proof, const struct dealbox_square_phase *phase,
			 unsigned int p, unsigned int n, bool reserve,
			 struct proof_session *session)
{
	const bool open = !strcmp(phase->boards, "?");

	memset(session, 0, sizeof(*session));
	if (dealbox_square_get_session(dealbox_manifest_square(proof->manifest), p, n, reserve,
				       open ? proof->boards ? proof->boards : "1" : NULL,
				       &session->square, NULL))
		return false;
	session->any_board = open && !proof->boards;
	session->promised = !reserve;
	session->reserve = reserve;
	strcpy(session->name, session->square.file);
	return true;
}

/* Classify a name that the manifest does not promise as it stands. */
static void session_classify(const struct proof *proof, const char *name,
			     struct proof_session *session)
{
	const struct dealbox_square *square = dealbox_manifest_square(proof->manifest);
	struct dealbox_square_phase phase;

	for (unsigned int p = 1; !dealbox_square_get_phase(square, p, &phase); p++)
		for (unsigned int n = 1;
		     n <= (phase.sessions ? phase.sessions : DEALBOX_SQUARE_SESSIONS); n++)
			for (int reserve = 0; reserve < 2; reserve++)
				if (session_make(proof, &phase, p, n, reserve, session) &&
				    !strcmp(session->name, name))
					return;
	memset(session, 0, sizeof(*session));
	snprintf(session->name, sizeof(session->name), "%s", name);
}

bool proof_find_sessions(struct proof *proof)
{
	const struct dealbox_square *square = dealbox_manifest_square(proof->manifest);
	const struct dealbox_certificate *c;
	struct dealbox_square_phase phase;
	struct proof_session session;

	for (unsigned int p = 1; !dealbox_square_get_phase(square, p, &phase); p++)
		for (unsigned int n = 1; n <= phase.sessions; n++)
			if (session_make(proof, &phase, p, n, false, &session) &&
			    !session_add(proof, &session))
				return false;
	if (proof->session_count)
		qsort(proof->sessions, proof->session_count, sizeof(session), by_session_name);
	for (size_t f = 0; f < proof->file_count; f++)
		for (size_t i = 0; (c = dealbox_certificates_get(proof->files[f].certificates, i));
		     i++) {
			if (proof_session(proof, c->session))
				continue;
			session_classify(proof, c->session, &session);
			if (!session_add(proof, &session))
				return false;
			qsort(proof->sessions, proof->session_count, sizeof(session),
			      by_session_name);
		}
	return true;
}

bool proof_add_session(struct proof *proof, const char *name)
{
	struct proof_session session;

	session_classify(proof, name, &session);
	if ((!session.promised && !session.reserve) || !session_add(proof, &session))
		return false;
	qsort(proof->sessions, proof->session_count, sizeof(session), by_session_name);
	return true;
}

/* The session promises this board. Boards that were left open are those of the deals. */
static bool has_board(const struct proof_session *session, uint32_t board)
{
	return board >= session->square.low && board <= session->square.high &&
	       (!session->any_board || !session->set || dealbox_set_find(session->set, board) >= 0);
}

static void check_sessions(struct proof *proof)
{
	for (size_t i = 0; i < proof->session_count; i++) {
		struct proof_session *session = &proof->sessions[i];
		struct dealbox_board board;
		bool whole = session->set;
		uint64_t boards = 0;

		/* deals of a reserve set that was not dealt say nothing */
		if (!session->promised && !session->certificates)
			continue;
		if (!session->promised) {
			proof_find(proof,
				   session->reserve ? FINDING_RESERVE : FINDING_SESSION_UNKNOWN,
				   NULL,
				   session->reserve ?
				   "%s: the reserve set was dealt, which must have been announced; "
				   "it does not stand for the original" :
				   "%s: certificates of a session that nobody promised",
				   session->name);
			continue;
		}
		if (session->any_board && session->set) {
			session->square.low = UINT32_MAX;
			session->square.high = 0;
			for (size_t n = 0; !dealbox_set_get(session->set, n, &board); n++) {
				if (board.number < session->square.low)
					session->square.low = board.number;
				if (board.number > session->square.high)
					session->square.high = board.number;
				boards++;
			}
		} else if (!session->any_board) {
			boards = (uint64_t)session->square.high - session->square.low + 1;
			for (uint32_t n = session->square.low; whole && n <= session->square.high;
			     n++)
				whole = dealbox_set_find(session->set, n) >= 0;
		}
		if (!whole)
			proof_find(proof, FINDING_DEALS_MISSING, NULL, session->set ?
				   "%s: there are no deals for some of its boards: "
				   "give its whole file" :
				   "%s: there are no deals: give its file too", session->name);
		if (!session->certificates)
			proof_find(proof, FINDING_SESSION_MISSING, NULL,
				   "%s: there is no certificate of this session at all",
				   session->name);
		proof->promised += boards * proof->copies;
	}
}

/* ---- certificates ----------------------------------------------------------- */

static bool list_make(struct proof *proof)
{
	const struct dealbox_certificate *c;
	size_t count = 0;

	for (size_t f = 0; f < proof->file_count; f++)
		count += dealbox_certificates_count(proof->files[f].certificates);
	proof->certificates = calloc(count + 1, sizeof(*proof->certificates));
	if (!proof->certificates)
		return false;
	for (size_t f = 0; f < proof->file_count; f++)
		for (size_t i = 0; (c = dealbox_certificates_get(proof->files[f].certificates, i));
		     i++) {
			struct proof_certificate *p =
				&proof->certificates[proof->certificate_count];

			p->c = c;
			p->file = &proof->files[f];
			p->session = proof_session(proof, c->session);
			p->place = proof->certificate_count++;
			p->session->certificates++;
		}
	return true;
}

#define COMPARE(a, b)	((a) < (b) ? -1 : (a) > (b))

/* By the copy of a board, then by the insertion, then in the order of the files. */
static int by_copy(const void *a, const void *b)
{
	const struct proof_certificate *one = *(struct proof_certificate *const *)a;
	const struct proof_certificate *other = *(struct proof_certificate *const *)b;
	int order = COMPARE(one->session, other->session);

	if (!order)
		order = COMPARE(one->c->board, other->c->board);
	if (!order)
		order = COMPARE(one->c->copy, other->c->copy);
	return order;
}

static int by_copy_and_insertion(const void *a, const void *b)
{
	const struct proof_certificate *one = *(struct proof_certificate *const *)a;
	const struct proof_certificate *other = *(struct proof_certificate *const *)b;
	int order = by_copy(a, b);

	if (!order)
		order = COMPARE(one->file, other->file);
	if (!order)
		order = strcmp(one->c->machine, other->c->machine);
	if (!order)
		order = COMPARE(one->c->insertion, other->c->insertion);
	return order ? order : COMPARE(one->place, other->place);
}

static int by_machine(const void *a, const void *b)
{
	const struct proof_certificate *one = *(struct proof_certificate *const *)a;
	const struct proof_certificate *other = *(struct proof_certificate *const *)b;
	int order = strcmp(one->c->machine, other->c->machine);

	if (!order)
		order = COMPARE(one->c->insertion, other->c->insertion);
	return order ? order : COMPARE(one->place, other->place);
}

static bool same_insertion(const struct proof_certificate *a, const struct proof_certificate *b)
{
	return a->file == b->file && a->c->insertion == b->c->insertion &&
	       !strcmp(a->c->machine, b->c->machine);
}

/* A board dealt by hand has no number of its own: its last certificate holds. */
static void find_counting(struct proof_certificate **sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool taken_back = false;

		for (size_t k = i + 1; k < count && !by_copy(&sorted[i], &sorted[k]) &&
		     same_insertion(sorted[i], sorted[k]); k++)
			taken_back |= !sorted[k]->c->exact;
		sorted[i]->counts = sorted[i]->c->exact && !taken_back;
	}
}

/* One copy of one board: certificates[0..count-1] */
static void check_copy(struct proof *proof, struct proof_certificate **sorted, size_t count)
{
	const struct proof_session *session = sorted[0]->session;
	const struct dealbox_certificate *c = sorted[0]->c;
	const struct proof_certificate *first = NULL;
	/*
	 * nobody can tell the boards of a session that were left open, and whose deals were not
	 * given
	 */
	bool there = has_board(session, c->board) || (session->any_board && !session->set);

	if (!session->promised)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!sorted[i]->counts)
			continue;
		if (!there) {
			sorted[i]->bad = true;
			proof_find(proof, FINDING_BOARD_UNKNOWN, sorted[i]->c,
				   "the session has no such board");
		} else if (c->copy > proof->copies) {
			sorted[i]->bad = true;
			proof_find(proof, FINDING_FURTHER, sorted[i]->c,
				   "a further copy was dealt: %u were promised", proof->copies);
		} else if (first) {
			sorted[i]->bad = true;
			proof_find(proof, FINDING_FURTHER, sorted[i]->c,
				   "this copy was dealt twice: "
				   "into insertion %u of the machine %s, too",
				   first->c->insertion, first->c->machine);
		}
		if (!first)
			first = sorted[i];
	}
	/* neither of two proves which was given out */
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			sorted[i]->bad |= i != k && sorted[i]->counts && sorted[k]->counts;
}

/* Copies that were promised, and for which no certificate counts */
static void check_missing(struct proof *proof, struct proof_certificate **sorted, size_t count)
{
	for (size_t s = 0; s < proof->session_count; s++) {
		struct proof_session *session = &proof->sessions[s];
		size_t i = 0;

		/* one sentence is enough for a session without any */
		if (!session->promised || !session->certificates ||
		    (session->any_board && !session->set))
			continue;
		while (i < count && sorted[i]->session != session)
			i++;
		for (uint32_t board = session->square.low; board <= session->square.high; board++)
			for (uint32_t copy = 1; copy <= proof->copies; copy++) {
				bool there = false;

				while (i < count && sorted[i]->session == session &&
				       (sorted[i]->c->board < board ||
					(sorted[i]->c->board == board &&
					 sorted[i]->c->copy <= copy))) {
					there |= sorted[i]->c->board == board &&
						 sorted[i]->c->copy == copy && sorted[i]->counts;
					i++;
				}
				if (!there && has_board(session, board))
					proof_find(proof, FINDING_MISSING, NULL,
						   "%s board %u copy %u: there is no certificate",
						   session->name, board, copy);
			}
	}
}

static void check_copies(struct proof *proof, struct proof_certificate **sorted)
{
	const size_t count = proof->certificate_count;

	qsort(sorted, count, sizeof(*sorted), by_copy_and_insertion);
	find_counting(sorted, count);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && !by_copy(&sorted[i], &sorted[end]);)
			end++;
		check_copy(proof, sorted + i, end - i);
	}
	check_missing(proof, sorted, count);
}

/* Count back from the first finding of the copy: a board may be void because it was dealt again. */
static bool dealt_again(struct proof *proof, const struct proof_certificate *p)
{
	for (size_t i = p->place + 1; i < proof->certificate_count; i++) {
		const struct proof_certificate *later = &proof->certificates[i];

		if (later->file == p->file && later->c->exact && later->session == p->session &&
		    later->c->board == p->c->board && later->c->copy == p->c->copy)
			return true;
	}
	return false;
}

/* ---- numbers of insertions and attestations --------------------------------- */

/*
 * A gap is a finding if a session that was promised has certificates before and behind it, also if
 * its neighbours are of other sessions. until: the last place of these sessions in the list
 */
static void gap_until(const struct proof_certificate *p, size_t *until)
{
	if (p->session->promised && p->session->last > *until)
		*until = p->session->last;
}

static bool same_board(const struct proof_certificate *a, const struct proof_certificate *b)
{
	return !by_copy(&a, &b);
}

/* Certificates of sessions that nobody promised get no further findings. */
static bool matters(const struct proof_certificate *a, const struct proof_certificate *b)
{
	return a->session->promised || b->session->promised;
}

/* Several certificates of one insertion may carry the same statement: it was signed once. */
static bool same_signing(const struct dealbox_certificate *a, const struct dealbox_certificate *b)
{
	return a->insertion == b->insertion && !strcmp(a->machine, b->machine) &&
	       !memcmp(a->attestation.statement, b->attestation.statement, DEALBOX_STATEMENT_SIZE);
}

/* One board of an insertion is wrong, and nobody can tell which: none of them is proven. */
static void insertion_bad(const struct proof *proof, struct proof_certificate **sorted,
			  const struct dealbox_certificate *c)
{
	for (size_t i = 0; i < proof->certificate_count; i++)
		if (sorted[i]->c->by != DEALBOX_BY_HAND &&
		    sorted[i]->c->insertion == c->insertion &&
		    !strcmp(sorted[i]->c->machine, c->machine))
			sorted[i]->bad = true;
}

static void check_insertions(struct proof *proof, struct proof_certificate **sorted)
{
	const struct proof_certificate *before = NULL;
	size_t until = 0;

	qsort(sorted, proof->certificate_count, sizeof(*sorted), by_machine);
	for (size_t i = 0; i < proof->certificate_count; i++) {
		struct proof_certificate *p = sorted[i];
		const struct dealbox_certificate *c = p->c, *b = before ? before->c : NULL;

		if (c->by == DEALBOX_BY_HAND)
			continue;
		if (!b || strcmp(b->machine, c->machine)) {
			until = 0;
			for (size_t k = i; k < proof->certificate_count &&
			     !strcmp(sorted[k]->c->machine, c->machine); k++)
				if (sorted[k]->c->by != DEALBOX_BY_HAND)
					sorted[k]->session->last = k;
		}
		if (b && !strcmp(b->machine, c->machine)) {
			if (b->insertion == c->insertion && !same_board(before, p) &&
			    matters(before, p)) {
				insertion_bad(proof, sorted, c);
				proof_find(proof, FINDING_INSERTION_TWICE, c,
					   "the same insertion is certified as %s "
					   "board %u copy %u, too", b->session,
					   b->board, b->copy);
			} else if (c->insertion - b->insertion > 1 && until >= i) {
				proof_find(proof, FINDING_GAP, c, c->insertion - b->insertion == 2 ?
					   "insertion %u of the machine %s has no certificate "
					   "(insertion %u was %s board %u copy %u): was a board "
					   "left out?" :
					   "insertions from %u of the machine %s on have no "
					   "certificate (insertion %u was %s board %u copy %u): "
					   "were boards left out?", b->insertion + 1, c->machine,
					   b->insertion, b->session, b->board, b->copy);
			}
		}
		gap_until(p, &until);
		before = p;
	}
}

/* A statement that a machine signed, for sorting by key and counter */
struct signing {
	const struct proof_certificate *p;
	uint32_t counter;
};

static int by_counter(const void *a, const void *b)
{
	const struct signing *one = a, *other = b;
	int order = memcmp(one->p->c->key, other->p->c->key, DEALBOX_PUBLIC_KEY_SIZE);

	if (!order)
		order = COMPARE(one->counter, other->counter);
	return order ? order : COMPARE(one->p->place, other->p->place);
}

/*
 * Counters are of statements that can be read and that their key has signed. Whoever could fill the
 * place of another with a statement of his own making, in a void certificate, could hide a board.
 */
static bool counter_read(const struct dealbox_certificate *c, uint32_t *counter)
{
	struct dealbox_statement statement;

	if (!c->attested || dealbox_attestation_read(&c->attestation, &statement) ||
	    !dealbox_attestation_signed(&c->attestation, c->key))
		return false;
	*counter = statement.counter;
	return true;
}

static void check_counters(struct proof *proof)
{
	struct signing *list = calloc(proof->certificate_count + 1, sizeof(*list));
	size_t count = 0, until = 0;

	if (!list) {
		proof->failed = true;
		return;
	}
	for (size_t i = 0; i < proof->certificate_count; i++) {
		uint32_t counter;

		if (counter_read(proof->certificates[i].c, &counter))
			list[count++] = (struct signing){ &proof->certificates[i], counter };
	}
	qsort(list, count, sizeof(*list), by_counter);
	for (size_t i = 0; i < count; i++) {
		const struct proof_certificate *before = i ? list[i - 1].p : NULL, *p = list[i].p;
		const struct dealbox_certificate *b = before ? before->c : NULL, *c = p->c;
		const uint32_t step = before ? list[i].counter - list[i - 1].counter : 0;

		if (!before || memcmp(b->key, c->key, sizeof(c->key))) {
			until = 0;
			for (size_t k = i; k < count && key_is(list[k].p->c->key, c->key); k++)
				list[k].p->session->last = k;
			gap_until(p, &until);
			continue;
		}
		if (!step && !same_signing(b, c) && matters(before, p))
			proof_find(proof, FINDING_COUNTER_TWICE, c,
				   "its attestation has the counter %u, which that of %s board %u "
				   "copy %u has, too",
				   list[i].counter, b->session, b->board, b->copy);
		else if (step > 1 && until >= i)
			proof_find(proof, FINDING_COUNTER_GAP, c,
				   "%u deals that the machine signed between %s board %u copy %u "
				   "and this one have no certificate: boards were left out",
				   step - 1, b->session, b->board, b->copy);
		gap_until(p, &until);
	}
	free(list);
}

/* ---- traces --------------------------------------------------------------- */

static bool trace_opens(const struct proof_certificate *p, const struct dealbox_trace *trace)
{
	const uint8_t *opening = dealbox_certificates_opening(p->file->certificates);
	uint8_t salt[DEALBOX_HASH], digest[DEALBOX_HASH];
	bool same;

	dealbox_certificate_salt(p->c, opening, salt);
	dealbox_trace_commit(trace, salt, digest);
	same = !memcmp(digest, p->c->trace, DEALBOX_HASH);
	explicit_bzero(salt, sizeof(salt));
	return same;
}

/* Return false if the certificate commits to a trace without any event. */
static bool has_events(const struct proof_certificate *p)
{
	struct dealbox_trace *none = dealbox_trace_new(p->c->insertion);
	bool events = !none || !trace_opens(p, none);

	dealbox_trace_free(none);
	return events;
}

static void check_verdict(struct proof *proof, struct proof_certificate *p,
			  const struct proof_trace *recorded, const struct dealbox_deal *deal)
{
	const struct dealbox_certificate *c = p->c;
	struct dealbox_verdict *verdict = NULL;
	uint8_t pockets[DEALBOX_HANDS];
	bool exact, same;
	int ret;

	ret = dealbox_pockets_parse(c->pockets, pockets);
	if (!ret)
		ret = tracefile_judge(&recorded->head, pockets, recorded->trace, deal,
				      dealbox_pack_bridge(), &verdict);
	exact = !ret && dealbox_verdict_exact(verdict);
	same = !ret && (!c->exact || exact) && dealbox_verdict_basis(verdict) == c->basis &&
	       dealbox_verdict_identified(verdict) == c->identified;
	dealbox_verdict_free(verdict);
	p->bad |= !same;
	if (ret == -ENODATA)
		proof_find(proof, FINDING_TRACE_VERDICT, c,
			   "the cards were counted, and the trace does not say that their deck was "
			   "sorted; `dealbox ledger traces` writes it again");
	else if (!same)
		proof_find(proof, FINDING_TRACE_VERDICT, c,
			   "the trace does not bear out the verdict");
	else if (exact && !c->exact && !dealt_again(proof, p))
		proof_find(proof, FINDING_TRACE_VOID, c,
			   "called void, though its trace is exact, and not dealt again");
}

/* deal is NULL if that of the plan is another, or not known. */
static void check_trace(struct proof *proof, struct proof_certificate *p,
			const struct dealbox_deal *deal)
{
	const struct dealbox_certificate *c = p->c;
	bool given = false;

	for (size_t i = 0; i < proof->trace_count; i++) {
		const struct proof_trace *recorded = &proof->traces[i];

		/* Two machines may have used the same number. */
		if (recorded->head.insertion != c->insertion || recorded->head.board != c->board ||
		    recorded->head.copy != c->copy)
			continue;
		given = true;
		if (!trace_opens(p, recorded->trace))
			continue;
		p->trace = recorded->trace;
		if (deal)
			check_verdict(proof, p, recorded, deal);
		return;
	}
	/* of an insertion that was cut short there may be no event */
	if (!given && !c->exact && !has_events(p))
		return;
	p->bad = true;
	if (given)
		proof_find(proof, FINDING_TRACE_OTHER, c,
			   "the machine reported something else than this trace");
	else
		proof_find(proof, FINDING_TRACE_MISSING, c, "its trace is missing");
}

/* ---- whose word it is ------------------------------------------------------- */

static const struct dealbox_promised_machine *machine_find(const struct dealbox_promise *promise,
							   const char *name)
{
	for (size_t i = 0; promise && i < promise->machine_count; i++)
		if (!strcmp(promise->machines[i].name, name))
			return &promise->machines[i];
	return NULL;
}

/* docs/protocol.md, section 5.3 */
#define STATEMENT_FLAGS		6
#define STATEMENT_EMULATED	1u

static bool is_emulated(const struct dealbox_promise *promise, const struct dealbox_certificate *c,
			const struct dealbox_promised_machine *machine)
{
	if (c->by == DEALBOX_BY_EMULATOR || (machine && machine->emulator))
		return true;
	if (!c->attested)
		return false;
	/* also if the rest of the statement is of a later version */
	if (c->attestation.statement[STATEMENT_FLAGS] & STATEMENT_EMULATED)
		return true;
	for (size_t i = 0; promise && i < promise->machine_count; i++)
		if (promise->machines[i].emulator && promise->machines[i].keyed &&
		    key_is(c->key, promise->machines[i].key))
			return true;
	return false;
}

/* Compare the attestation with the deal. key is that of the machine. */
static enum dealbox_attested word_compare(struct proof *proof, struct proof_certificate *p,
					  const uint8_t *key, const struct dealbox_deal *deal)
{
	const uint8_t *opening = dealbox_certificates_opening(p->file->certificates);
	struct dealbox_error reason = { 0 };
	enum dealbox_attested result;

	result = dealbox_certificate_word(p->c, opening, key, deal, p->trace, &reason);
	if (result == DEALBOX_ATTESTED_DIFFERENT) {
		p->bad = true;
		proof_find(proof, FINDING_WORD_DIFFERS, p->c, "%s", reason.what);
	}
	if (result == DEALBOX_ATTESTED_INCOMPARABLE)
		p->word = WORD_UNCLEAR;
	return result;
}

/* deal is NULL if it is not known, or another was dealt. */
static void check_word(struct proof *proof, struct proof_certificate *p,
		       const struct dealbox_deal *deal)
{
	const struct dealbox_promise *promise = dealbox_manifest_promise(proof->manifest);
	const struct dealbox_promised_machine *machine = machine_find(promise, p->c->machine);
	const struct dealbox_certificate *c = p->c;

	if (p->counts && c->by != DEALBOX_BY_HAND && promise && promise->machine_count &&
	    !machine) {
		p->bad = true;
		proof_find(proof, FINDING_MACHINE, c,
			   "the manifest lists the machines, and not this one");
	}
	if (!p->counts) {
		/* a program that has played the machine once may have done so again */
		if (c->by == DEALBOX_BY_HAND || !is_emulated(promise, c, machine))
			return;
		p->word = WORD_EMULATOR;
		proof->rehearsal = true;
		proof_find(proof, FINDING_REHEARSAL, c,
			   "a program has played the machine: no card was dealt");
	} else if (c->by == DEALBOX_BY_HAND) {
		p->word = WORD_HAND;
		p->bad = true;
		proof_find(proof, FINDING_HAND, c,
			   "dealt by hand: only the operator says what lies in it");
	} else if (is_emulated(promise, c, machine)) {
		p->word = WORD_EMULATOR;
		p->bad = true;
		proof->rehearsal = true;
		proof_find(proof, FINDING_REHEARSAL, c,
			   "a program has played the machine: no card was dealt");
	} else if (!machine || !machine->keyed) {
		/* a self-declared key adds nothing to the PC's word */
		if (c->attested && deal)
			word_compare(proof, p, c->key, deal);
		p->word = WORD_PC;
	} else if (!c->attested) {
		p->bad = true;
		proof_find(proof, FINDING_WORD_MISSING, c,
			   "PC's word only: the manifest has a key of this machine, "
			   "which did not sign");
	} else if (!key_is(c->key, machine->key)) {
		p->bad = true;
		proof_find(proof, FINDING_WORD_KEY, c,
			   "signed by a self-declared key, "
			   "which is not that of this machine in the manifest");
	} else if (deal) {
		struct dealbox_error reason = { 0 };

		if (word_compare(proof, p, machine->key, deal) == DEALBOX_ATTESTED_PROVEN)
			p->word = WORD_MACHINE;
		if (p->word != WORD_UNCLEAR)
			return;
		p->bad = true;
		dealbox_certificate_word(c, dealbox_certificates_opening(p->file->certificates),
					 machine->key, deal, p->trace, &reason);
		proof_find(proof, FINDING_WORD_UNCLEAR, c, "cannot compare: %s", reason.what);
	}
}

static void check_certificate(struct proof *proof, struct proof_certificate *p)
{
	const uint8_t *opening = dealbox_certificates_opening(p->file->certificates);
	const struct dealbox_certificate *c = p->c;
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	bool known, same = false;

	if (!p->session->promised)
		return;
	known = p->session->set && opening &&
		!dealbox_set_get(p->session->set,
				 (size_t)dealbox_set_find(p->session->set, c->board), &board);
	if (known)
		same = dealbox_certificate_opens(c, opening, &board.deal, NULL);
	if (known && !same && p->counts) {
		p->bad = true;
		proof_find(proof, FINDING_DEAL, c, "another deal was put into the pockets");
	}
	if (proof->traces_given && opening && c->by != DEALBOX_BY_HAND)
		check_trace(proof, p, same ? &board.deal : NULL);
	check_word(proof, p, same ? &board.deal : NULL);
	p->proven = p->counts && same && !p->bad && p->file->named;
	dealbox_deal_wipe(&board.deal);
	if (!p->proven)
		return;
	proof->proven++;
	proof->by_machine += p->word == WORD_MACHINE;
	proof->by_pc += p->word != WORD_MACHINE;
	proof->counted |= !c->identified;
}

/* ---- everything --------------------------------------------------------------- */

bool proof_run(struct proof *proof)
{
	struct proof_certificate **sorted;

	check_names(proof);
	check_files(proof);
	if (!list_make(proof))
		return false;
	sorted = calloc(proof->certificate_count + 1, sizeof(struct proof_certificate *));
	if (!sorted)
		return false;
	for (size_t i = 0; i < proof->certificate_count; i++)
		sorted[i] = &proof->certificates[i];
	check_sessions(proof);
	check_copies(proof, sorted);
	check_insertions(proof, sorted);
	check_counters(proof);
	for (size_t i = 0; i < proof->certificate_count; i++)
		check_certificate(proof, &proof->certificates[i]);
	free(sorted);
	return !proof->failed;
}

/* Whose word the proven boards rest on */
static const char *whose_word(const struct proof *proof)
{
	if (!proof->by_pc)
		return "by the machine's own word";
	return proof->by_machine ?
		"some by the machine's own word, some by the PC's word only" :
		"by the PC's word only: the machine signed nothing that was enrolled";
}

/* Name the deals that the boards were compared with. Readers must check the value at its source. */
static char *which_deals(const struct proof *proof)
{
	const char *info;
	char *text;

	if (!proof->value)
		return strdup("the deals that were given (whether the committed "
			      "keys make them was not compared)");
	info = dealbox_square_info(dealbox_manifest_square(proof->manifest));
	return asprintf(&text, "the deals that the committed keys make with the value %s (%s)",
			proof->value, info) < 0 ? NULL : text;
}

char *proof_sentence(const struct proof *proof)
{
	const unsigned long long promised = proof->promised, proven = proof->proven;
	const char *counted =
		proof->counted ? ", if the decks lay as the plan says (cards were counted)" : "";
	char *deals = which_deals(proof), *text;
	int length = -1;

	if (!deals)
		return NULL;
	if (proof->rehearsal)
		length = asprintf(&text,
				  "REHEARSAL: a program played the machine, so no card was dealt, "
				  "and these certificates prove nothing about any board "
				  "(%llu of %llu promised are proven)", proven, promised);
	else if (!proven)
		length = asprintf(&text,
				  "NOTHING IS PROVEN: not one of the %llu boards that were "
				  "promised, all copies counted", promised);
	else if (proof->finding_count)
		length = asprintf(&text,
				  "NOT ALL IS PROVEN: %llu of %llu boards that were promised, "
				  "all copies counted, are %s, %s%s; "
				  "the findings say what is not proven",
				  proven, promised, deals, whose_word(proof), counted);
	else
		length = asprintf(&text,
				  "PROVEN: all %llu boards that were promised, "
				  "all copies counted, are %s, %s%s",
				  promised, deals, whose_word(proof), counted);
	free(deals);
	return length < 0 ? NULL : text;
}

void proof_free(struct proof *proof)
{
	for (size_t i = 0; i < proof->file_count; i++)
		dealbox_certificates_free(proof->files[i].certificates);
	for (size_t i = 0; i < proof->session_count; i++)
		dealbox_set_free(proof->sessions[i].set);
	for (size_t i = 0; i < proof->trace_count; i++)
		dealbox_trace_free(proof->traces[i].trace);
	for (size_t i = 0; i < proof->finding_count; i++)
		free(proof->findings[i].text);
	free(proof->files);
	free(proof->sessions);
	free(proof->traces);
	free(proof->findings);
	free(proof->certificates);
	memset(proof, 0, sizeof(*proof));
}
