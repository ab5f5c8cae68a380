/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const char *const state_names[] = { "IDLE", "DEALING", "PAUSED", "HELD", "FAULT", "DONE" };

/* --- the account ---------------------------------------------------------------- */

struct text {
	char *buf;
	size_t size, length;
	bool full;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text->buf + text->length, text->size - text->length, format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= text->size - text->length) {
		text->full = true;
		return;
	}
	text->length += length;
}

int account_json(const struct machine_board *board, char *buf, size_t size)
{
	static const char *const ends[] = {
		[MACHINE_UNUSED] = "unused", [MACHINE_DONE] = "done", [MACHINE_VOID] = "void",
	};
	static const char *const truth[] = { "false", "true" };
	struct text text = { buf, size };
	unsigned int pocket, i;

	add(&text, "{\"insertion\":%u,\"board\":%u,\"plan\":%u,\"deals\":%u,\"end\":\"%s\","
	    "\"spent\":%s,\"captured\":%s,\"in_doubt\":%s,\"pockets\":[",
	    board->insertion, board->number, board->plan, board->deals, ends[board->end],
	    truth[board->spent], truth[board->captured], truth[board->in_doubt]);
	for (pocket = 0; pocket < DEALBOX_MAX_POCKETS; pocket++) {
		const struct pile *pile = &board->pocket[pocket];

		add(&text, pocket ? ",[" : "[");
		for (i = 0; i < pile->count; i++)
			add(&text, "%s%u", i ? "," : "", pile->card[i].number);
		add(&text, "]");
	}
	add(&text, "]}");
	return text.full ? -1 : (int)text.length;
}

/* --- commands --------------------------------------------------------------------- */

/* limit of words: `hopper top` can name as many cards as fit into the hopper */
#define WORDS_MAX	(PILE_MAX + 8)

struct call {
	const struct control *control;
	char *words[WORDS_MAX];
	int count;
	const char *rest;	/* the line after the first word */
	char *reply;
	size_t size;
};

__attribute__((format(printf, 2, 3)))
static bool answer(struct call *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(call->reply, call->size, format, args);
	va_end(args);
	return true;
}

static bool ok(struct call *call)
{
	return answer(call, "ok");
}

static bool number(const char *word, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 0);
	return !errno && word[0] >= '0' && word[0] <= '9' && !*end && *value <= max;
}

static bool cmd_insert(struct call *call)
{
	uint64_t board;
	int error;

	if (call->count == 1) {
		error = operator_insert(call->control->operator);
	} else {
		if (!number(call->words[1], 65535, &board))
			return answer(call, "error: insert [BOARD]: a number from 0 to 65535");
		error = machine_insert(call->control->machine, board);
	}
	if (error)
		return answer(call, "error: %s", error == -EBUSY ? "a board is there: remove" :
			      "the machine is switched off: plug");
	return answer(call, "ok insertion %u",
		      machine_view(call->control->machine).board->insertion);
}

static bool cmd_remove(struct call *call)
{
	bool force = call->count > 1 && !strcmp(call->words[1], "force");
	int error = machine_remove(call->control->machine, force);

	if (error)
		return answer(call, "error: %s", error == -EPERM ?
			      "the board is locked: remove force" : "no board is there");
	return ok(call);
}

static bool cmd_cover(struct call *call)
{
	bool open = call->count == 2 && !strcmp(call->words[1], "open");

	if (!open && (call->count != 2 || strcmp(call->words[1], "close")))
		return answer(call, "error: cover open, or cover close");
	machine_cover(call->control->machine, open);
	return ok(call);
}

static bool cmd_key(struct call *call)
{
	static const char *const names[] = { "", "start", "stop", "release" };
	struct machine *machine = call->control->machine;
	uint64_t key;

	if (call->count < 2)
		return answer(call, "error: key start|stop|release|NUMBER [press|let-go]");
	for (key = 1; key < 4; key++)
		if (!strcmp(call->words[1], names[key]))
			break;
	if (key == 4 && !number(call->words[1], UINT32_MAX, &key))
		return answer(call, "error: there is no key \"%.40s\"", call->words[1]);
	if (call->count < 3 || !strcmp(call->words[2], "press"))
		machine_key(machine, key, true);
	if (call->count < 3 || !strcmp(call->words[2], "let-go"))
		machine_key(machine, key, false);
	return ok(call);
}

static bool cmd_time(struct call *call, uint64_t otherwise, uint64_t *us)
{
	*us = otherwise;
	if (call->count == 1)
		return true;
	if (!number(call->words[1], 3600000, us)) {
		answer(call, "error: a time in ms, at most 3600000");
		return false;
	}
	*us *= 1000;
	return true;
}

static bool cmd_unplug(struct call *call)
{
	uint64_t us;

	if (!cmd_time(call, MACHINE_NEVER, &us))
		return true;
	machine_unplug(call->control->machine, us);
	return ok(call);
}

static bool cmd_plug(struct call *call)
{
	machine_plug(call->control->machine);
	return ok(call);
}

#define POWER_OFF_US	100000

static bool cmd_power_cycle(struct call *call)
{
	uint64_t us;

	/* A host must have time to notice that the machine is gone. */
	if (!cmd_time(call, POWER_OFF_US, &us))
		return true;
	machine_power_cycle(call->control->machine, us);
	return ok(call);
}

static bool cmd_reset(struct call *call)
{
	machine_reset_firmware(call->control->machine);
	return ok(call);
}

static bool cmd_break(struct call *call)
{
	uint64_t code;

	if (call->count < 2 || !number(call->words[1], UINT32_MAX, &code))
		return answer(call, "error: break CODE [lasting]");
	machine_break(call->control->machine, code, call->count > 2);
	return ok(call);
}

static bool cmd_repair(struct call *call)
{
	machine_repair(call->control->machine);
	return ok(call);
}

static bool cmd_freeze(struct call *call)
{
	machine_freeze(call->control->machine, !strcmp(call->words[0], "freeze"));
	return ok(call);
}

static bool cmd_speed(struct call *call)
{
	const char *word = call->count == 2 ? call->words[1] : "";
	char *end;
	double factor = strtod(word, &end);

	if (end == word || *end || !(factor >= 0 && factor <= MACHINE_SPEED_MAX))
		return answer(call, "error: speed FACTOR, from 0 to %.0f", MACHINE_SPEED_MAX);
	machine_speed(call->control->machine, factor);
	return ok(call);
}

static bool cmd_empty(struct call *call)
{
	operator_empty(call->control->operator);
	return ok(call);
}

static bool cmd_take_card(struct call *call)
{
	struct pile *path = machine_path(call->control->machine);

	if (!path->count)
		return answer(call, "error: no card is at the reader");
	machine_clear_path(call->control->machine);
	return ok(call);
}

static bool cmd_clean_card(struct call *call)
{
	machine_clean_card(call->control->machine);
	return ok(call);
}

static bool cmd_hopper(struct call *call)
{
	struct pile *hopper = machine_hopper(call->control->machine);
	int i;

	if (call->count == 2 && !strcmp(call->words[1], "empty")) {
		pile_move_all(machine_table(call->control->machine), hopper);
	} else if (call->count == 2 && !strcmp(call->words[1], "fill")) {
		operator_collect(call->control->operator);
	} else if (call->count == 2 && !strcmp(call->words[1], "three")) {
		for (i = 0; i < 3 && machine_table(call->control->machine)->count; i++)
			pile_put_bottom(hopper,
					pile_take(machine_table(call->control->machine), 0));
	} else if (call->count > 2 && !strcmp(call->words[1], "top")) {
		for (i = 2; i < call->count; i++)
			if (card_parse(call->words[i]) < 0)
				return answer(call, "error: \"%.40s\" is no card", call->words[i]);
		if (call->count - 2 > PILE_MAX - (int)hopper->count)
			return answer(call, "error: so many cards do not fit into the hopper");
		while (--i >= 2)
			pile_put_top(hopper, (struct card){ .number = card_parse(call->words[i]),
							    .stray = true });
	} else {
		return answer(call, "error: hopper empty, hopper three, "
				    "hopper fill, or hopper top CARD...");
	}
	machine_hopper_changed(call->control->machine);
	return ok(call);
}

static bool cmd_operator(struct call *call)
{
	bool on = call->count == 2 && !strcmp(call->words[1], "on");

	if (!on && (call->count != 2 || strcmp(call->words[1], "off")))
		return answer(call, "error: operator on, or operator off");
	call->control->operator->absent = !on;
	return ok(call);
}

/* The first step of a fixture: whoever serves the machine leaves it alone from here on. */
static bool cmd_begin(struct call *call)
{
	call->control->operator->absent = true;
	return answer(call, "ok faults");
}

static bool cmd_lamp(struct call *call)
{
	bool on = call->count == 2 && !strcmp(call->words[1], "on");

	if (!on && (call->count != 2 || strcmp(call->words[1], "off")))
		return answer(call, "error: lamp on, or lamp off");
	if (machine_view(call->control->machine).lamp != on)
		return answer(call, "error: the lamp is %s", on ? "off" : "on");
	return ok(call);
}

static bool cmd_inject(struct call *call)
{
	char error[400];

	if (!scenario_parse(call->control->scenario, "inject", call->rest, strlen(call->rest),
			    error, sizeof(error)))
		return answer(call, "error: %s", error);
	return ok(call);
}

static bool cmd_account(struct call *call)
{
	const struct machine_board *board = machine_view(call->control->machine).board;

	if (!board->present)
		return answer(call, "error: no board is there");
	memcpy(call->reply, "ok ", 3);
	if (account_json(board, call->reply + 3, call->size - 3) < 0)
		return answer(call, "error: too many cards for one line");
	return true;
}

static bool cmd_status(struct call *call)
{
	struct machine_view view = machine_view(call->control->machine);
	struct machine *machine = call->control->machine;

	return answer(call, "ok state %s fault %u position %u deals %u stops %u insertion %u "
		      "board %u spent %u in-doubt %u locked %u hopper %u path %u table %u cover %s "
		      "plan %u queued %u plugged %u configured %u frozen %u transfers %u",
		      state_names[view.state], view.fault, view.position, view.deals, view.stops,
		      view.board->present ? view.board->insertion : 0,
		      view.board->present ? view.board->number : 0,
		      view.board->spent, view.board->in_doubt, view.board->locked,
		      machine_hopper(machine)->count, machine_path(machine)->count,
		      machine_table(machine)->count, view.cover_open ? "open" : "closed",
		      view.plan, view.queued, view.plugged, view.configured, view.frozen,
		      device_submitted(call->control->device));
}

static bool cmd_wait(struct call *call)
{
	struct machine_view view = machine_view(call->control->machine);
	const char *what = call->count > 1 ? call->words[1] : "";
	uint64_t value = 0;
	unsigned int i;

	if (call->count == 2) {
		const struct { const char *name; bool holds; } truths[] = {
			{ "plugged", view.plugged }, { "unplugged", !view.plugged },
			{ "configured", view.configured }, { "frozen", view.frozen },
			{ "board", view.board->present }, { "no-board", !view.board->present },
			{ "unlocked", !view.board->locked }, { "fetched", !view.queued },
		};

		for (i = 0; i < sizeof(truths) / sizeof(*truths); i++)
			if (!strcmp(what, truths[i].name))
				return truths[i].holds ? ok(call) : false;
	}
	if (call->count == 3 && !strcmp(what, "state")) {
		for (i = 0; i < sizeof(state_names) / sizeof(*state_names); i++)
			if (!strcmp(call->words[2], state_names[i]))
				return view.state == i ? ok(call) : false;
	}
	if (call->count == 3 && number(call->words[2], UINT32_MAX, &value)) {
		const struct { const char *name; uint32_t is; } counts[] = {
			{ "position", view.position }, { "deals", view.deals },
			{ "stops", view.stops }, { "insertion", view.board->insertion },
		};

		for (i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			if (!strcmp(what, counts[i].name))
				return counts[i].is >= value ? ok(call) : false;
	}
	return answer(call,
		      "error: wait plugged|unplugged|configured|frozen|board|no-board|unlocked|"
		      "fetched, wait state STATE, or wait position|deals|stops|insertion NUMBER");
}

static const struct {
	const char *name, *args, *help;
	bool (*run)(struct call *call);
} commands[] = {
	{ "insert", "[BOARD]", "puts an empty board in", cmd_insert },
	{ "remove", "[force]", "takes the board out; its cards go to the table", cmd_remove },
	{ "cover", "open|close", "", cmd_cover },
	{ "key", "start|stop|release|N [press|let-go]", "presses a key, lets it go, or both",
	  cmd_key },
	{ "unplug", "[MS]", "pulls the cable, puts it back after MS", cmd_unplug },
	{ "plug", "", "puts the cable back", cmd_plug },
	{ "power-cycle", "[MS]", "switches off, and on after MS (100)", cmd_power_cycle },
	{ "reset", "", "the firmware restarts", cmd_reset },
	{ "break", "CODE [lasting]", "HARDWARE with a code", cmd_break },
	{ "repair", "", "a lasting HARDWARE is gone", cmd_repair },
	{ "freeze", "", "no card moves and no deal is attested until thaw", cmd_freeze },
	{ "thaw", "", "", cmd_freeze },
	{ "speed", "FACTOR", "as --speed, from what begins next", cmd_speed },
	{ "empty", "", "takes stuck cards out, all cards on the table go to the hopper",
	  cmd_empty },
	{ "take-card", "", "takes the card at the reader out", cmd_take_card },
	{ "clean-card", "", "turns the card at the reader face down", cmd_clean_card },
	{ "hopper", "empty|three|fill|top CARD...", "takes cards out, puts three or "
						    "all back, adds cards", cmd_hopper },
	{ "operator", "on|off", "whether somebody serves the machine", cmd_operator },
	{ "begin", "", "as operator off: a program serves the machine", cmd_begin },
	{ "lamp", "on|off", "ok if the lamp of LOCATE blinks, or not", cmd_lamp },
	{ "inject", "RULE", "adds a rule of a scenario", cmd_inject },
	{ "account", "", "what lies in the board (shows cards)", cmd_account },
	{ "status", "", "where the machine stands", cmd_status },
	{ "wait", "WHAT", "answers when WHAT holds", cmd_wait },
};

#define COMMANDS	(sizeof(commands) / sizeof(*commands))

bool control_line(const struct control *control, const char *line, char *reply, size_t size)
{
	struct call call = { .control = control, .reply = reply, .size = size };
	char copy[CONTROL_LINE_MAX], *state = NULL, *word;
	size_t i;

	if (strlen(line) >= sizeof(copy))
		return answer(&call, "error: the line is too long");
	strcpy(copy, line);
	call.rest = line + strspn(line, " \t");
	call.rest += strcspn(call.rest, " \t");
	for (word = strtok_r(copy, " \t\r", &state); word && call.count < WORDS_MAX;
	     word = strtok_r(NULL, " \t\r", &state))
		call.words[call.count++] = word;
	if (word)
		return answer(&call, "error: the line has too many words");
	for (i = 0; i < COMMANDS && call.count; i++)
		if (!strcmp(call.words[0], commands[i].name))
			return commands[i].run(&call);
	return answer(&call, "error: no such command; dealbox-emulator --help lists them");
}

const char *control_help(void)
{
	static char help[4096];
	size_t length = 0, i;

	for (i = 0; i < COMMANDS && length < sizeof(help); i++)
		length += snprintf(help + length, sizeof(help) - length, "  %s%s%s%s%s\n",
				   commands[i].name, *commands[i].args ? " " : "",
				   commands[i].args, *commands[i].help ? ": " : "",
				   commands[i].help);
	return help;
}
