/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decide what certificates prove: docs/certificate.md, section Verification. No I/O: the caller has
 * read manifest, certificates, deals and traces.
 */
#ifndef PROOF_H
#define PROOF_H

#include <dealbox/certificate.h>
#include <dealbox/set.h>

#include "tracefile.h"

/* The findings with exit status 1, in the order of the page. */
enum finding_kind {
	FINDING_SIGNER,
	FINDING_SIGNER_UNNAMED,
	FINDING_PC,
	FINDING_PC_UNNAMED,
	FINDING_PC_MISSING,
	FINDING_FORK,
	FINDING_COPIES_UNNAMED,
	FINDING_NOT_OPEN,
	FINDING_HEAD,
	FINDING_DEALS_MISSING,
	FINDING_SESSION_MISSING,
	FINDING_SESSION_UNKNOWN,
	FINDING_RESERVE,
	FINDING_BOARD_UNKNOWN,
	FINDING_MISSING,
	FINDING_FURTHER,
	FINDING_DEAL,
	FINDING_HAND,
	FINDING_REHEARSAL,
	FINDING_MACHINE,
	FINDING_WORD_MISSING,
	FINDING_WORD_KEY,
	FINDING_WORD_DIFFERS,
	FINDING_WORD_UNCLEAR,
	FINDING_GAP,
	FINDING_INSERTION_TWICE,
	FINDING_COUNTER_GAP,
	FINDING_COUNTER_TWICE,
	FINDING_TRACE_MISSING,
	FINDING_TRACE_OTHER,
	FINDING_TRACE_VERDICT,
	FINDING_TRACE_VOID,
	FINDINGS
};

/* Return the word of a finding, "further". Static. */
const char *finding_name(enum finding_kind kind);

struct finding {
	enum finding_kind kind;
	const struct dealbox_certificate *certificate;	/* NULL: it is about none */
	char *text;
};

/* Whose word it is that the cards of a board are the deal. */
enum proof_word {
	WORD_PC,	/* the PC's only */
	WORD_MACHINE,
	WORD_HAND,	/* of people */
	WORD_EMULATOR,
	WORD_UNCLEAR	/* the machine signed, and it cannot be compared */
};

const char *proof_word_name(enum proof_word word);

/* A certificate, and what was found out about it. */
struct proof_certificate {
	const struct dealbox_certificate *c;
	struct proof_file *file;
	struct proof_session *session;
	size_t place;			/* in all files */
	const struct dealbox_trace *trace;	/* it opens the commitment; NULL = none */
	bool counts;			/* exact, and not taken back */
	bool bad;			/* a finding applies to it, so that it proves nothing */
	bool proven;
	enum proof_word word;
};

struct proof_file {
	const char *path;
	struct dealbox_certificates *certificates;	/* owned */
	bool named;			/* signed by a PC that was named */
};

struct proof_session {
	char name[128];
	bool promised, reserve;
	bool any_board;			/* its boards were left open: those of the deals */
	struct dealbox_square_session square;	/* its boards, and how to make its deals */
	struct dealbox_set *set;	/* owned; NULL: no deals */
	size_t certificates;
	size_t last;			/* place of its last certificate in a sorted list */
};

struct proof_trace {
	struct tracefile_head head;
	struct dealbox_trace *trace;	/* owned */
};

/* Start from zeros; proof_free() in any case. */
struct proof {
	/* the input */
	const struct dealbox_manifest *manifest;
	const char *boards;		/* of a phase that has ?, or NULL */
	bool signer_named, signer_right;
	const uint8_t (*pcs)[DEALBOX_SIGNER_KEY];	/* instead of those of the manifest */
	size_t pc_count;
	unsigned int copies;		/* the same; 0 = that of the manifest */
	struct proof_file *files;
	size_t file_count;
	bool traces_given;
	struct proof_trace *traces;
	size_t trace_count;
	/* makes the deals with the promised keys; NULL: that was not compared */
	const char *value;

	/* the result */
	struct proof_session *sessions;	/* sorted by name */
	size_t session_count;
	struct proof_certificate *certificates;	/* in the order of the files */
	size_t certificate_count;
	struct finding *findings;
	size_t finding_count;
	uint64_t promised, proven;	/* boards, times copies */
	size_t by_machine, by_pc;	/* proven by whose word */
	bool counted;			/* of one that is proven, the cards were counted */
	bool rehearsal;
	bool failed;			/* out of memory: the result does not count */
};

/* Add a file; takes ownership of the certificates. Returns false if out of memory. */
bool proof_add_file(struct proof *proof, const char *path,
		    struct dealbox_certificates *certificates);

/*
 * Find all sessions, promised or certified. Files must be complete. Returns false if out of memory.
 */
bool proof_find_sessions(struct proof *proof);

/* Return a session by its name, or NULL. */
struct proof_session *proof_session(struct proof *proof, const char *name);

/*
 * Add the session of deals that were given, if it has neither certificates nor a promise: its phase
 * leaves the number of sessions open. Returns false if there is no such session, or if out of
 * memory.
 */
bool proof_add_session(struct proof *proof, const char *name);

/* Compare everything. The sessions have their deals. Returns false if out of memory. */
bool proof_run(struct proof *proof);

/* Add a finding about a certificate, or NULL. */
void proof_find(struct proof *proof, enum finding_kind kind,
		const struct dealbox_certificate *certificate, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Return the first line of the output: what was proven. NULL = out of memory; free it. */
char *proof_sentence(const struct proof *proof);

void proof_free(struct proof *proof);

#endif
