// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox square: deals that everybody can check (Square Deal).
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/set-to-deal.h"
#include "ui/tournament.h"

#define PHASES_MAX	64

struct call {
	struct args *args;
	bool json, reserve;
	const char *title, *info, *boards, *format, *folder;
	const char *phases[PHASES_MAX];
	unsigned int phase_count;
	unsigned long phase;		/* 0 = all */
	unsigned long first, last;	/* sessions, 0 = all */

	struct tournament t;
};

static bool square_write(struct call *call, bool replace)
{
	char *text = dealbox_square_print(call->t.square);
	bool good = text && file_write(call->t.sqd, text, strlen(text), FILE_PUBLIC, replace);

	if (!text)
		complain(NULL, "out of memory");
	free(text);
	return good;
}

/* -- new, publish ------------------------------------------------------------- */

/* Reads a line from the user; NULL at the end of the input */
static char *ask(const char *question)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	fprintf(stderr, "%s: ", question);
	length = getline(&line, &room, stdin);
	if (length < 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\r\n")] = 0;
	return line;
}

/* SESSIONS:BOARDS:PREFIX:DESCRIPTION, as in the file */
static bool phase_add(struct call *call, const char *text)
{
	char *copy = strdup(text), *rest = copy, *field[4], *end;
	struct dealbox_square_phase phase;
	struct dealbox_error error = { 0 };
	bool good = copy != NULL;
	unsigned long sessions = 0;

	for (int i = 0; good && i < 4; i++) {
		field[i] = i < 3 ? strsep(&rest, ":") : rest;
		good = field[i] != NULL;
	}
	if (good) {
		sessions = strtoul(field[0], &end, 10);
		good = *field[0] >= '0' && *field[0] <= '9' && !*end && sessions <= UINT16_MAX;
	}
	if (!good) {
		complain("for example '12:1-8,9-16:rr#:Round robin, session #'; 0 sessions = as "
			 "many as it takes",
			 "'%s' is not SESSIONS:BOARDS:PREFIX:DESCRIPTION", text);
	} else {
		phase = (struct dealbox_square_phase){
			.sessions = (unsigned int)sessions, .boards = field[1], .prefix = field[2],
			.description = field[3],
		};
		good = !dealbox_square_add_phase(call->t.square, &phase, &error);
		if (!good)
			fault_say(text, &error);
	}
	free(copy);
	return good;
}

static bool phases_ask(struct call *call)
{
	static const char *const questions[] = {
		"Number of sessions (0 = as many as it takes)",
		"Boards of a session (16, 17-32, 1-8,9-16 in turn, 3x7, or ? = said when dealing)",
		"Prefix of file names (# becomes the session)",
		"Description (# becomes the session)",
	};

	for (;;) {
		char *answer[4] = { NULL }, *text = NULL, *more;
		bool good = true;

		fprintf(stderr, "\nPhase %u\n", dealbox_square_phases(call->t.square) + 1);
		for (int i = 0; good && i < 4; i++) {
			answer[i] = ask(questions[i]);
			good = answer[i] != NULL;
		}
		if (good &&
		    asprintf(&text, "%s:%s:%s:%s", answer[0], answer[1], answer[2], answer[3]) < 0)
			text = NULL;
		if (text)
			phase_add(call, text);	/* the error has been reported: ask again */
		for (int i = 0; i < 4; i++)
			free(answer[i]);
		free(text);
		if (!good)
			return false;
		more = ask("Another phase (y/n)");
		good = more && *more == 'y';
		free(more);
		if (!good && dealbox_square_phases(call->t.square))
			return true;
	}
}

static bool text_set(struct call *call, const char *given, const char *question,
		     int (*set)(struct dealbox_square *, const char *, struct dealbox_error *))
{
	struct dealbox_error error;
	char *answer = given ? NULL : ask(question);
	const char *text = given ? given : answer;
	bool good = text && !set(call->t.square, text, &error);

	if (text && !good)
		fault_say(call->t.sqd, &error);
	free(answer);
	return good;
}

/*
 * The keys first, then the description with their hash. If it ends between the two, the keys
 * are there without being used; the next time they are taken up.
 */
static enum status publish(struct call *call, bool replace)
{
	struct dealbox_random *random = NULL;
	struct dealbox_error error;
	char *text = NULL;
	size_t size = 0;
	bool good = false;
	int err;

	if (file_exists(call->t.sqk)) {
		if (!tournament_keys_read(&call->t, false, false))
			goto out;
		if (dealbox_square_adopt(call->t.square, call->t.keys, &error)) {
			complain("move it away if no published tournament needs it",
				 "%s exists already, and is not for this tournament: %s",
				 call->t.sqk, error.what);
			goto out;
		}
		say("%s: continued; an earlier call was interrupted after writing it", call->t.sqk);
	} else {
		err = dealbox_random_new(&random);
		if (err) {
			complain("do not make keys on this computer until that is repaired",
				 "the kernel gives no random bits: %s", strerror(-err));
			goto out;
		}
		if (dealbox_square_publish(call->t.square, random, &call->t.keys, &error)) {
			fault_say(call->t.sqd, &error);
			goto out;
		}
		text = dealbox_square_keys_print(call->t.keys, &size);
		if (!text || !file_write(call->t.sqk, text, size, FILE_SECRET, false))
			goto out;
	}
	good = square_write(call, replace);
	if (!good)
		goto out;
	say("%s: publish this file now, where many see it", call->t.sqd);
	say("%s: keep it secret until the last session is over; without it there are no deals",
	    call->t.sqk);
out:
	if (text)
		explicit_bzero(text, size);
	free(text);
	dealbox_random_free(random);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static enum status new_run(struct call *call)
{
	if (file_exists(call->t.sqd)) {
		complain("choose another name, or `dealbox square publish` if it is a draft",
			 "%s: there is such a file already", call->t.sqd);
		return STATUS_INPUT;
	}
	call->t.square = dealbox_square_new();
	if (!call->t.square) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	if (!isatty(STDIN_FILENO) && (!call->title || !call->info || !call->phase_count))
		return args_wrong(call->args, "new needs --title, --info and --phase, or a "
					      "terminal to ask for them");
	if (!text_set(call, call->title, "Name of the tournament", dealbox_square_set_name) ||
	    !text_set(call, call->info, "Which value, known only later, will be mixed in (say it "
					"so that it leaves no doubt)", dealbox_square_set_info))
		return STATUS_INPUT;
	for (unsigned int i = 0; i < call->phase_count; i++)
		if (!phase_add(call, call->phases[i]))
			return STATUS_INPUT;
	if (!call->phase_count && !phases_ask(call))
		return STATUS_INPUT;
	return publish(call, false);
}

static enum status publish_run(struct call *call)
{
	return tournament_read(&call->t) ? publish(call, true) : STATUS_INPUT;
}

/* -- value, show -------------------------------------------------------------- */

static enum status value_run(struct call *call)
{
	struct dealbox_error error;

	if (!tournament_read(&call->t))
		return STATUS_INPUT;
	if (dealbox_square_set_value(call->t.square, call->args->argv[2], &error))
		return fault_say(call->t.sqd, &error);
	if (!square_write(call, true))
		return STATUS_INPUT;
	say("%s: the delayed value is '%s'", call->t.sqd, dealbox_square_value(call->t.square));
	if (strcmp(call->args->argv[2], dealbox_square_value(call->t.square)))
		say("(points and commas between digits are removed, and runs of spaces become one, "
		    "as in Square Deal)");
	return STATUS_DONE;
}

static enum status show_run(struct call *call)
{
	struct dealbox_square_phase phase;
	struct json_object *object;

	if (!tournament_read(&call->t))
		return STATUS_INPUT;
	if (call->json) {
		object = json_line("tournament");
		json_add_text(object, "name", dealbox_square_name(call->t.square));
		json_add_text(object, "info", dealbox_square_info(call->t.square));
		json_add_text(object, "value", dealbox_square_value(call->t.square));
		json_add_text(object, "hash", dealbox_square_hash(call->t.square));
		json_say(object);
	} else {
		say("Tournament     %s", dealbox_square_name(call->t.square));
		say("Delayed value  %s: %s", dealbox_square_info(call->t.square),
		    *dealbox_square_value(call->t.square) ?
		    dealbox_square_value(call->t.square) : "not known yet");
		say("Hash of keys   %s", *dealbox_square_hash(call->t.square) ?
		    dealbox_square_hash(call->t.square) : "none: not published");
	}
	for (unsigned int p = 1; !dealbox_square_get_phase(call->t.square, p, &phase); p++) {
		if (call->json) {
			object = json_line("phase");
			json_add_number(object, "phase", p);
			json_add_known(object, "sessions", phase.sessions);
			json_add_text(object, "board_numbers", phase.boards);
			json_add_text(object, "prefix", phase.prefix);
			json_add_text(object, "description", phase.description);
			json_say(object);
		} else if (phase.sessions) {
			say("Phase %-3u %u sessions of boards %s, files %s: %s", p, phase.sessions,
			    phase.boards, phase.prefix, phase.description);
		} else {
			say("Phase %-3u sessions of boards %s, files %s: %s", p, phase.boards,
			    phase.prefix, phase.description);
		}
	}
	return STATUS_DONE;
}

/* -- deal, verify ------------------------------------------------------------- */

static bool session_write(struct call *call, const struct dealbox_square_session *session)
{
	const char *folder = call->folder ? call->folder : ".";
	struct dealbox_set *set = tournament_deal(&call->t, session);
	char path[4096];
	bool good;

	if (!set)
		return false;
	snprintf(path, sizeof(path), "%s/%s.%s", folder, session->file, call->format);
	dealbox_set_mark(set, DEALBOX_MARK_UNPLAYED);
	good = set_to_deal_write(set, path, call->format);
	if (good)
		say("%s: %s, boards %u-%u", path, session->title, session->low, session->high);
	dealbox_set_free(set);
	return good;
}

static bool phase_deal(struct call *call, unsigned int number)
{
	struct dealbox_square_phase phase;
	struct dealbox_square_session session;
	struct dealbox_error error;
	unsigned long first = call->first ? call->first : 1;
	unsigned long last = call->last;

	if (dealbox_square_get_phase(call->t.square, number, &phase)) {
		complain("`dealbox square show` lists them", "%s: there is no phase %u",
			 call->t.sqd, number);
		return false;
	}
	if (!last)
		last = phase.sessions;
	if (!last) {
		complain("say which: --session 1, or --session 1-4",
			 "phase %u has as many sessions as it takes", number);
		return false;
	}
	for (; first <= last; first++) {
		if (dealbox_square_get_session(call->t.square, number, (unsigned int)first,
					       call->reserve, call->boards, &session, &error)) {
			fault_say(call->t.sqd, &error);
			return false;
		}
		if (!session_write(call, &session))
			return false;
	}
	return true;
}

static enum status deal_run(struct call *call)
{
	if (!call->format)
		call->format = "pbn";
	if (!call->phase && call->last) {
		return args_wrong(call->args, "--session needs --phase");
	}
	if (!tournament_read(&call->t) || !tournament_keys_read(&call->t, true, false))
		return STATUS_INPUT;
	if (call->phase)
		return phase_deal(call, (unsigned int)call->phase) ? STATUS_DONE : STATUS_INPUT;
	for (unsigned int p = 1; p <= dealbox_square_phases(call->t.square); p++)
		if (!phase_deal(call, p))
			return STATUS_INPUT;
	return STATUS_DONE;
}

struct tally {
	size_t right, wrong;
};

static void board_say(const struct call *call, const char *path, uint32_t board, const char *word)
{
	struct json_object *object;

	if (!call->json) {
		say("%s board %u: %s", path, board, word);
		return;
	}
	object = json_line("difference");
	json_add_text(object, "file", path);
	json_add_number(object, "board", board);
	json_add_text(object, "text", word);
	json_say(object);
}

static void compare(const struct call *call, const char *path, const struct dealbox_set *want,
		    const struct dealbox_set *got, struct tally *tally)
{
	struct dealbox_board board, other;
	long at;

	for (size_t i = 0; !dealbox_set_get(want, i, &board); i++) {
		at = dealbox_set_find(got, board.number);
		if (at < 0 || dealbox_set_get(got, (size_t)at, &other)) {
			board_say(call, path, board.number, "it is missing");
		} else if (memcmp(&board.deal, &other.deal, sizeof(board.deal))) {
			board_say(call, path, board.number,
				  "the cards are not those that were committed to");
		} else {
			tally->right++;
			continue;
		}
		tally->wrong++;
	}
	for (size_t i = 0; !dealbox_set_get(got, i, &board); i++) {
		if (dealbox_set_find(want, board.number) >= 0)
			continue;
		board_say(call, path, board.number, "the session has no such board");
		tally->wrong++;
	}
}

static bool file_verify(struct call *call, char *const *path, struct tally *tally)
{
	struct dealbox_square_session session;
	struct dealbox_set *want = NULL, *got = NULL;
	bool good = session_find(call->t.square, *path, call->boards, &session);

	if (good && session.reserve)
		complain("the organiser must have announced that the original leaked",
			 "%s: this is the reserve set of %s", *path, session.title);
	good = good &&
	       set_to_deal_read(path, 1, false, "nothing was compared", &got) == STATUS_DONE;
	if (good) {
		want = tournament_deal(&call->t, &session);
		good = want != NULL;
	}
	if (good)
		compare(call, *path, want, got, tally);
	dealbox_set_free(want);
	dealbox_set_free(got);
	return good;
}

static enum status verify_run(struct call *call)
{
	struct tally tally = { 0 };
	enum status status = STATUS_DONE;

	if (!tournament_read(&call->t) || !tournament_keys_read(&call->t, true, true))
		return STATUS_INPUT;
	for (int i = 2; i < call->args->argc; i++)
		if (!file_verify(call, &call->args->argv[i], &tally))
			status = STATUS_INPUT;
	if (!call->json) {
		say("%s: the keys match the published hash", call->t.sqk);
		say("%zu boards are as committed, %zu are not", tally.right, tally.wrong);
	}
	if (!status && tally.wrong)
		status = STATUS_NO;
	return status;
}

/* -- the command -------------------------------------------------------------- */

#define ONE	"one tournament"
#define MORE	"a tournament and what to do with it"

static const struct action_row actions[] = {
	{ "new", 2, 2, ONE, new_run },
	{ "publish", 2, 2, ONE, publish_run },
	{ "show", 2, 2, ONE, show_run },
	{ "value", 3, 3, MORE, value_run },
	{ "deal", 2, 2, ONE, deal_run },
	{ "verify", 3, INT32_MAX, MORE, verify_run },
	{ NULL }
};

enum { KEY_TITLE = OPT_LONG, KEY_INFO, KEY_RESERVE };

static bool sessions_parse(struct call *call, const char *text)
{
	char *end;

	call->first = strtoul(text, &end, 10);
	call->last = *end == '-' ? strtoul(end + 1, &end, 10) : call->first;
	return *text >= '0' && *text <= '9' && !*end && call->first && call->first <= call->last &&
	       call->last <= DEALBOX_SQUARE_SESSIONS;
}

static enum status square_run(struct args *args)
{
	struct call call = { .args = args };
	const struct action_row *action;
	enum status status;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) != ARGS_END) {
		switch (key) {
		case ARGS_STOP:
			return args->status;
		case KEY_TITLE:
			call.title = value;
			break;
		case KEY_INFO:
			call.info = value;
			break;
		case 'P':
			if (call.phase_count == PHASES_MAX)
				return args_wrong(args, "too many phases");
			call.phases[call.phase_count++] = value;
			break;
		case 's':
			if (!sessions_parse(&call, value))
				return args_wrong(args,
						  "--session is a number or a range, not '%s'",
						  value);
			break;
		case KEY_RESERVE:
			call.reserve = true;
			break;
		case 'b':
			call.boards = value;
			break;
		case 'f':
			call.format = value;
			break;
		case 'd':
			call.folder = value;
			break;
		case 'j':
			call.json = true;
			break;
		}
	}
	action = args_action(args, actions);
	/* to deal, --phase is the number of one; the text of it is for new */
	if (!action || (action->run == deal_run && call.phase_count &&
			!args_number(args, "phase", call.phases[0], 1, UINT16_MAX, &call.phase)))
		return STATUS_INPUT;
	status = tournament_name(&call.t, args->argv[1]) ? action->run(&call) : STATUS_INPUT;
	tournament_free(&call.t);
	return status;
}

static const struct option_row square_options[] = {
	{ KEY_TITLE, "title", "TEXT", "new: name of the tournament" },
	{ KEY_INFO, "info", "TEXT", "new: which value, known only later, will be mixed in" },
	{ 'P', "phase", "PHASE", "new: SESSIONS:BOARDS:PREFIX:DESCRIPTION, "
				 "once for each; deal: its number" },
	{ 's', "session", "LIST", "deal: session 3, or 3-6 (default: all)" },
	{ KEY_RESERVE, "reserve", NULL, "deal: the sets that replace those that leaked" },
	{ 'b', "boards", "BOARDS", "deal, verify: boards of a phase that has ?" },
	{ 'f', "format", "NAME", "deal: format of the files (default: pbn)" },
	{ 'd', "directory", "FOLDER", "deal: where the files go (default: here)" },
	OPT_JSON,
	{ 0 }
};

const struct command cmd_square = {
	.name = "square",
	.operands = "new|publish|show|deal TOURNAMENT, value TOURNAMENT VALUE, "
		    "verify TOURNAMENT FILE...",
	.summary = "Make deals that everybody can check (Square Deal)",
	.about = "new: make the description TOURNAMENT.sqd, to be published, and the secret keys\n"
		 "TOURNAMENT.sqk; asks for missing options. publish: the same for a draft .sqd.\n"
		 "value: enter the delayed value, once it is known. deal: write the sets, a file\n"
		 "per session. verify: compare published files with .sqd and .sqk; the exit\n"
		 "status is 1 if a board differs. The files are those of the original program.",
	.options = square_options,
	.run = square_run,
};
