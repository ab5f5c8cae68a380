// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pool/lease.h"

static const char *const request_names[LEASE_REQUESTS] = { "none", "take", "give-back", "back",
							   "leave" };

static bool same(const struct lease_copy *x, const struct lease_copy *y)
{
	return x->job == y->job && x->board == y->board && x->copy == y->copy;
}

static int add(struct lease_copy **list, size_t *count, const struct lease_copy *copies,
	       size_t more)
{
	struct lease_copy *grown;

	if (!more)
		return 0;
	grown = realloc(*list, (*count + more) * sizeof(**list));
	if (!grown)
		return -ENOMEM;
	memcpy(grown + *count, copies, more * sizeof(**list));
	*list = grown;
	*count += more;
	return 0;
}

static void forget(struct lease *lease)
{
	free(lease->held);
	lease->held = NULL;
	lease->held_count = 0;
	lease->until = (struct lease_time) { 0 };
}

static void answered(struct lease *lease)
{
	free(lease->given);
	lease->given = NULL;
	lease->given_count = 0;
	lease->request = LEASE_NONE;
	lease->want = 0;
	*lease->nonce = '\0';
}

void lease_clear(struct lease *lease)
{
	forget(lease);
	answered(lease);
	memset(lease, 0, sizeof(*lease));
}

bool lease_holds(const struct lease *lease, const struct lease_copy *copy)
{
	for (size_t n = 0; n < lease->held_count; n++)
		if (same(&lease->held[n], copy))
			return true;
	return false;
}

uint64_t lease_left(const struct lease *lease, const struct lease_time *now)
{
	if (!*lease->until.boot || strcmp(lease->until.boot, now->boot) ||
	    now->ms >= lease->until.ms)
		return 0;
	return lease->until.ms - now->ms;
}

bool lease_may_begin(const struct lease *lease, const struct lease_copy *copy,
		     const struct lease_time *now)
{
	return lease_left(lease, now) && lease_holds(lease, copy);
}

int lease_ask(struct lease *lease, enum lease_request request, uint32_t want,
	      const struct lease_copy *copies, size_t count, const char nonce[LEASE_ID])
{
	int err;

	if (lease->request)
		return -EBUSY;
	if (lease->lost != (request == LEASE_BACK))
		return -EINVAL;
	if (request == LEASE_GIVE_BACK) {
		for (size_t n = 0; n < count; n++)
			if (!lease_holds(lease, &copies[n]))
				return -ENOENT;
		err = add(&lease->given, &lease->given_count, copies, count);
		if (err)
			return err;
		for (size_t n = 0; n < count; n++)
			lease_recorded(lease, &lease->given[n]);
	}
	if (request == LEASE_LEAVE)
		forget(lease);
	lease->request = request;
	lease->want = request == LEASE_TAKE ? want : 0;
	lease->asked++;
	snprintf(lease->nonce, sizeof(lease->nonce), "%s", nonce);
	return 0;
}

enum lease_request lease_next(const struct lease *lease, const struct lease_need *need,
			      const struct lease_time *now, uint32_t *want)
{
	bool more = !lease->resting && !need->dry && need->open * 2 < need->block;

	*want = 0;
	if (lease->request)
		return lease->request;
	if (lease->lost)
		return LEASE_BACK;
	if (more)
		*want = need->block - need->open;
	return more || lease_left(lease, now) < need->lease_ms / 2 ? LEASE_TAKE : LEASE_NONE;
}

static void declared_lost(struct lease *lease)
{
	forget(lease);
	answered(lease);
	lease->lost = true;
}

int lease_answer_take(struct lease *lease, const struct lease_time *sent, uint64_t lease_ms,
		      const struct lease_copy *copies, size_t count)
{
	int err;

	if (lease->request != LEASE_TAKE)
		return -EINVAL;
	if (!lease_ms) {
		declared_lost(lease);
		return 0;
	}
	err = add(&lease->held, &lease->held_count, copies, count);
	if (err)
		return err;
	lease->until = *sent;
	lease->until.ms += lease_ms;
	answered(lease);
	return 0;
}

void lease_answer(struct lease *lease, bool lost)
{
	if (lost) {
		declared_lost(lease);
		return;
	}
	if (lease->request == LEASE_BACK)
		lease->lost = false;
	answered(lease);
}

void lease_recorded(struct lease *lease, const struct lease_copy *copy)
{
	for (size_t n = 0; n < lease->held_count; n++)
		if (same(&lease->held[n], copy)) {
			lease->held_count--;
			memmove(&lease->held[n], &lease->held[n + 1],
				(lease->held_count - n) * sizeof(*copy));
			return;
		}
}

int lease_regain(struct lease *lease, const struct lease_copy *copy)
{
	return lease_holds(lease, copy) ? 0 : add(&lease->held, &lease->held_count, copy, 1);
}

/* ---- the text ----------------------------------------------------------- */

#define HEAD	"dealbox lease 1\n"
#define END	"end\n"

static void copies_print(const struct lease_copy *copies, size_t count, const char *word, FILE *out)
{
	for (size_t n = 0; n < count; n++)
		fprintf(out, "%s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", word, copies[n].job,
			copies[n].board, copies[n].copy);
}

void lease_print(const struct lease *lease, FILE *out)
{
	fprintf(out, HEAD "asked %" PRIu64 "\n", lease->asked);
	if (lease->request)
		fprintf(out, "request %s %" PRIu32 " %s\n", request_names[lease->request],
			lease->want, lease->nonce);
	if (*lease->until.boot)
		fprintf(out, "until %s %" PRIu64 "\n", lease->until.boot, lease->until.ms);
	if (lease->lost)
		fputs("lost\n", out);
	if (lease->resting)
		fputs("resting\n", out);
	if (lease->said)
		fputs("said\n", out);
	copies_print(lease->held, lease->held_count, "held", out);
	copies_print(lease->given, lease->given_count, "given", out);
	fputs(END, out);
}

static int request_read(const char *line, struct lease *lease)
{
	char word[16], nonce[LEASE_ID];
	uint32_t want;

	if (sscanf(line, "request %15s %" SCNu32 " %36s", word, &want, nonce) != 3)
		return -EBADMSG;
	for (int n = LEASE_TAKE; n < LEASE_REQUESTS; n++)
		if (!strcmp(word, request_names[n]))
			lease->request = n;
	lease->want = want;
	memcpy(lease->nonce, nonce, sizeof(nonce));
	return lease->request ? 0 : -EBADMSG;
}

static int line_read(const char *line, struct lease *lease)
{
	struct lease_copy copy;

	if (!strncmp(line, "lost\n", 5)) {
		lease->lost = true;
		return 0;
	}
	if (!strncmp(line, "resting\n", 8)) {
		lease->resting = true;
		return 0;
	}
	if (!strncmp(line, "said\n", 5)) {
		lease->said = true;
		return 0;
	}
	if (sscanf(line, "until %36s %" SCNu64, lease->until.boot, &lease->until.ms) == 2)
		return 0;
	if (sscanf(line, "held %" SCNu32 " %" SCNu32 " %" SCNu32, &copy.job, &copy.board,
		   &copy.copy) == 3)
		return add(&lease->held, &lease->held_count, &copy, 1);
	if (sscanf(line, "given %" SCNu32 " %" SCNu32 " %" SCNu32, &copy.job, &copy.board,
		   &copy.copy) == 3)
		return add(&lease->given, &lease->given_count, &copy, 1);
	return request_read(line, lease);
}

int lease_parse(const char *text, struct lease *lease)
{
	const char *line = text + strlen(HEAD);
	int err = 0;

	memset(lease, 0, sizeof(*lease));
	if (strncmp(text, HEAD, strlen(HEAD)) || sscanf(line, "asked %" SCNu64, &lease->asked) != 1)
		return -EBADMSG;
	/* a line without an end, as of a file that was cut off, is no line */
	while (!err && (line = strchr(line, '\n'))) {
		line++;
		if (!strcmp(line, END))
			return 0;
		err = strchr(line, '\n') ? line_read(line, lease) : -EBADMSG;
	}
	lease_clear(lease);
	return err ? err : -EBADMSG;
}
