// SPDX-License-Identifier: LGPL-2.1-or-later
#include <assert.h>
#include <string.h>

#include "event_model.h"

void model_begin(struct model *m, unsigned int pcs, unsigned int copies, unsigned int lease,
		 unsigned int margin)
{
	assert(pcs <= MODEL_PCS && copies <= MODEL_COPIES);
	memset(m, 0, sizeof(*m));
	m->pcs = pcs;
	m->copies = copies;
	m->lease = lease;
	m->margin = margin;
	for (unsigned int n = 0; n < MODEL_COPIES; n++)
		m->copy[n] = (struct model_copy) { .pc = -1, .record = -1 };
}

/* A request with a number. again: it was answered before. */
static enum model_answer enter(struct model *m, unsigned int pc, unsigned int ask,
			       unsigned int nonce, bool *again)
{
	struct model_pc *mine = &m->pc[pc];

	if (ask > mine->asked + 1U)
		return MODEL_RESTORED;
	if (ask < mine->asked || (ask == mine->asked && nonce != mine->nonce))
		return MODEL_TWICE;
	*again = ask == mine->asked;
	mine->asked = ask;
	mine->nonce = nonce;
	return MODEL_OK;
}

static unsigned int open_held(struct model *m, unsigned int pc, unsigned int copies)
{
	unsigned int opened = 0;

	for (unsigned int n = 0; n < m->copies; n++)
		if (copies >> n & 1 && m->copy[n].pc == (int)pc) {
			m->copy[n].pc = -1;
			m->copy[n].ask = 0;
			opened++;
		}
	return opened;
}

enum model_answer model_take(struct model *m, unsigned int pc, unsigned int ask, unsigned int nonce,
			     unsigned int want, unsigned int *got)
{
	bool again;
	enum model_answer answer = enter(m, pc, ask, nonce, &again);

	*got = 0;
	if (answer)
		return answer;
	if (m->pc[pc].lost)
		return MODEL_LOST;
	for (unsigned int n = 0; n < m->copies && want && !again; n++)
		if (m->copy[n].pc < 0 && m->copy[n].record < 0) {
			m->copy[n].pc = pc;
			m->copy[n].ask = ask;
			want--;
		}
	m->pc[pc].until = m->now + m->lease;
	for (unsigned int n = 0; n < m->copies; n++)
		if (m->copy[n].pc == (int)pc && m->copy[n].ask == ask)
			*got |= 1U << n;
	return MODEL_OK;
}

enum model_answer model_give_back(struct model *m, unsigned int pc, unsigned int ask,
				  unsigned int nonce, unsigned int copies)
{
	bool again;
	enum model_answer answer = enter(m, pc, ask, nonce, &again);

	if (answer)
		return answer;
	if (!again)
		open_held(m, pc, copies);
	return m->pc[pc].lost ? MODEL_LOST : MODEL_OK;
}

enum model_answer model_back(struct model *m, unsigned int pc, unsigned int ask, unsigned int nonce)
{
	bool again;
	enum model_answer answer = enter(m, pc, ask, nonce, &again);

	if (!answer && !again) {
		open_held(m, pc, ~0U);
		m->pc[pc].lost = false;
		m->pc[pc].until = m->now;
	}
	return answer;
}

static struct model_record *find(struct model *m, unsigned int pc, unsigned int insertion)
{
	for (unsigned int n = 0; n < m->records; n++)
		if (m->record[n].pc == pc && m->record[n].insertion == insertion)
			return &m->record[n];
	return NULL;
}

enum model_answer model_report(struct model *m, unsigned int pc, unsigned int insertion,
			       unsigned int copy, bool exact, enum model_standing *standing)
{
	struct model_record *r = find(m, pc, insertion);

	if (r) {
		*standing = r->standing;
		return r->copy == copy && r->exact == exact ? MODEL_OK : MODEL_TWICE;
	}
	assert(m->records < MODEL_RECORDS);
	*standing = MODEL_NO_BOARD;
	if (exact)
		*standing = m->copy[copy].record < 0 &&
					    (m->copy[copy].pc < 0 || m->copy[copy].pc == (int)pc)
				    ? MODEL_COUNTS
				    : MODEL_SURPLUS;
	m->record[m->records] = (struct model_record) { pc, insertion, copy, exact, *standing };
	if (*standing == MODEL_COUNTS)
		m->copy[copy] = (struct model_copy) { .pc = -1, .record = m->records };
	m->records++;
	return MODEL_OK;
}

enum model_answer model_withdraw(struct model *m, unsigned int pc, unsigned int insertion,
				 bool *holds)
{
	struct model_record *r = find(m, pc, insertion);

	*holds = false;
	if (!r || !r->exact)
		return MODEL_NONE;
	if (r->standing == MODEL_COUNTS)
		m->copy[r->copy] = (struct model_copy){ .pc = -1, .record = -1 };
	r->standing = MODEL_WITHDRAWN;
	*holds = m->copy[r->copy].pc == (int)pc;
	return MODEL_OK;
}

enum model_answer model_lose(struct model *m, unsigned int pc, unsigned int *opened)
{
	*opened = 0;
	if (!m->pc[pc].lost && m->now < m->pc[pc].until + m->margin)
		return MODEL_BUSY;
	*opened = open_held(m, pc, ~0U);
	m->pc[pc].lost = true;
	return MODEL_OK;
}

enum model_answer model_void(struct model *m, unsigned int copy)
{
	struct model_copy *place = &m->copy[copy];

	if (place->record < 0)
		return MODEL_NONE;
	m->record[place->record].standing = MODEL_WITHDRAWN;
	place->record = -1;
	return MODEL_OK;
}

enum model_answer model_dismiss(struct model *m, unsigned int record)
{
	if (m->record[record].standing != MODEL_SURPLUS)
		return MODEL_NONE;
	m->record[record].standing = MODEL_WITHDRAWN;
	return MODEL_OK;
}

unsigned int model_count(const struct model *m, unsigned int copy, enum model_standing standing)
{
	unsigned int count = 0;

	for (unsigned int n = 0; n < m->records; n++)
		count += m->record[n].copy == copy && m->record[n].standing == standing;
	return count;
}
