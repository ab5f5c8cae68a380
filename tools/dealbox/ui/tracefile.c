// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recorded traces. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "event-text.h"
#include "tool.h"
#include "tracefile.h"

FILE *tracefile_create(const char *path, bool append)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_EXCL), 0600);
	FILE *file = fd >= 0 ? fdopen(fd, append ? "a" : "w") : NULL;

	if (file)
		return file;
	complain(errno == EEXIST ? "remove it, or choose another name" : NULL,
		 "cannot record to %s: %m", path);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void line_write(FILE *file, struct json_object *object)
{
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), file);
	putc('\n', file);
	json_object_put(object);
}

static const char *const hows[TRACEFILE_HOWS] = {
	[TRACEFILE_BY_CARD] = "by-card", [TRACEFILE_BY_POSITION] = "by-position",
	[TRACEFILE_CAPTURE] = "capture",
};

const char *tracefile_how_name(enum tracefile_how how)
{
	return hows[how];
}

bool tracefile_how_parse(const char *word, enum tracefile_how *how)
{
	for (*how = 0; *how < TRACEFILE_HOWS; ++*how)
		if (!strcmp(word, hows[*how]))
			return true;
	return false;
}

void tracefile_begin(FILE *file, uint32_t board, uint32_t copy, uint32_t insertion,
		     uint32_t plan_id, enum tracefile_how how, const char *pockets)
{
	struct json_object *object;

	if (!file)
		return;
	object = json_object_new_object();
	json_add_text(object, "name", "trace");
	json_add_number(object, "board", board);
	json_add_number(object, "copy", copy);
	json_add_number(object, "insertion", insertion);
	json_add_number(object, "plan_id", plan_id);
	if (how != TRACEFILE_BY_CARD)
		json_add_text(object, "how", tracefile_how_name(how));
	if (strcmp(pockets, "NESW"))
		json_add_text(object, "pockets", pockets);
	line_write(file, object);
}

void tracefile_event(FILE *file, const struct dealbox_event *event)
{
	if (file)
		line_write(file, event_to_json(event, true));
}

bool tracefile_end(FILE *file)
{
	if (!file || (!fflush(file) && !ferror(file)))
		return true;
	complain("free some disk space, then continue with --resume",
		 "cannot record the trace: %m");
	return false;
}

/* Parse a line. Returns 1 for the head of an insertion, 0 for an event, -1 if it is neither. */
static int line_parse(const char *line, struct tracefile_head *head, struct dealbox_event *event)
{
	struct json_object *object = json_tokener_parse(line);
	const char *name = json_get_text(object, "name"),
		   *pockets = json_get_text(object, "pockets");
	const char *how = json_get_text(object, "how");
	int ret = -1;

	if (name && strcmp(name, "trace"))
		ret = event_from_json(object, event) ? 0 : -1;
	else if (name && json_get_number(object, "board", &head->board) &&
		 json_get_number(object, "copy", &head->copy) &&
		 json_get_number(object, "insertion", &head->insertion) &&
		 json_get_number(object, "plan_id", &head->plan_id) &&
		 tracefile_how_parse(how ? how : tracefile_how_name(TRACEFILE_BY_CARD),
				     &head->how) &&
		 !dealbox_pockets_parse(pockets ? pockets : "NESW", head->pockets))
		ret = 1;
	json_object_put(object);
	return ret;
}

struct reading {
	const char *path;
	unsigned long line;
	tracefile_fn *take;
	void *context;
	struct tracefile_head head;
	struct dealbox_trace *trace;	/* current insertion; NULL before the first */
};

/* The current trace, if any, is complete. */
static bool trace_end(struct reading *reading)
{
	struct dealbox_trace *trace = reading->trace;

	reading->trace = NULL;
	return !trace || reading->take(reading->context, &reading->head, trace, reading->path,
				       reading->line);
}

static bool line_take(struct reading *reading, const char *line)
{
	struct tracefile_head head;
	struct dealbox_event event;
	int kind = line_parse(line, &head, &event);

	if (kind == 1) {
		if (!trace_end(reading))
			return false;
		reading->head = head;
		reading->trace = dealbox_trace_new(head.insertion);
		if (!reading->trace)
			complain("free some memory", "out of memory");
	} else if (kind < 0 || !reading->trace) {
		complain("`dealbox deal --record FILE` makes traces",
			 "%s:%lu: this is not a line of a trace", reading->path, reading->line);
		return false;
	} else {
		dealbox_trace_add(reading->trace, &event);
		explicit_bzero(&event, sizeof(event));
	}
	return reading->trace;
}

bool tracefile_read(const char *path, tracefile_fn *take, void *context)
{
	struct reading reading = { .path = path, .take = take, .context = context };
	FILE *file = fopen(path, "re");
	bool good = true;
	char line[1024];

	if (!file) {
		complain(NULL, "cannot read %s: %m", path);
		return false;
	}
	while (good && fgets(line, sizeof(line), file)) {
		reading.line++;
		good = line_take(&reading, line);
	}
	if (good && ferror(file)) {
		complain(NULL, "cannot read %s: %m", path);
		good = false;
	} else if (good && !reading.line) {
		complain("`dealbox deal --record FILE` makes traces", "%s is empty", path);
		good = false;
	}
	good = good && trace_end(&reading);
	dealbox_trace_free(reading.trace);
	explicit_bzero(line, sizeof(line));
	fclose(file);
	return good;
}

/* Return true if the machine dealt without reading any card. */
static bool is_counted(const struct dealbox_trace *trace)
{
	const struct dealbox_event *event;
	bool counted = false;
	size_t n;

	for (n = 0; (event = dealbox_trace_get(trace, n)); n++) {
		if (event->type != DEALBOX_EV_CARD_ROUTED)
			continue;
		if (event->card != DEALBOX_NONE)
			return false;
		counted = true;
	}
	return counted;
}

int tracefile_judge(const struct tracefile_head *head, const uint8_t pockets[DEALBOX_HANDS],
		    const struct dealbox_trace *trace, const struct dealbox_deal *deal,
		    const struct dealbox_pack *pack, struct dealbox_verdict **verdict)
{
	const bool sorted = head->how == TRACEFILE_BY_POSITION;
	struct dealbox_plan plan;
	uint8_t deck[64];
	size_t count;
	int ret;

	if (head->how == TRACEFILE_CAPTURE)
		return -ENOTSUP;
	if (!sorted && is_counted(trace))
		return -ENODATA;
	count = dealbox_pack_sorted(pack, deck);
	ret = sorted ? dealbox_plan_by_position(&plan, head->plan_id, deal, pack, pockets, deck,
						count) :
		       dealbox_plan_by_card(&plan, head->plan_id, deal, pack, pockets);
	if (!ret)
		ret = sorted ? dealbox_verify_deck(&plan, deck, trace, verdict) :
		      dealbox_verify(&plan, trace, verdict);
	dealbox_plan_wipe(&plan);
	return ret;
}
