// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary lines on the control socket: each but "wait" is answered by one line that starts with
 * "ok" or "error:"; and no card gets lost.
 */
#include "command.h"
#include "fuzz_machine.h"

static unsigned int cards(struct machine *m)
{
	const struct machine_board *board = machine_view(m).board;
	unsigned int count, pocket;

	count = machine_hopper(m)->count + machine_path(m)->count + machine_table(m)->count;
	for (pocket = 0; pocket < DEALBOX_MAX_POCKETS; pocket++)
		count += board->pocket[pocket].count;
	return count;
}

static void one_line(const struct control *control, const char *line)
{
	static char reply[CONTROL_REPLY_MAX];
	char *copy = strdup(line);

	CHECK(copy);
	memset(reply, 'x', sizeof(reply));
	if (control_line(control, copy, reply, sizeof(reply))) {
		CHECK(memchr(reply, 0, sizeof(reply)));
		CHECK(!strncmp(reply, "ok", 2) || !strncmp(reply, "error:", 6));
		CHECK(!strchr(reply, '\n'));
	} else {
		CHECK(!strncmp(line + strspn(line, " \t\r"), "wait", 4));
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_machine f;
	struct operator operator;
	struct control control;
	char *text, *line, *state = NULL;
	uint64_t now = NOW;
	unsigned int before, i;

	if (!size)
		return 0;
	f = fuzz_machine_new(data[0]);
	operator_init(&operator, f.m, 1);
	control = (struct control){ f.m, &operator, f.scenario, f.device };
	machine_configure(f.m);
	text = strndup((const char *)data + 1, size - 1);
	CHECK(text);
	before = cards(f.m);
	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		one_line(&control, line);
		now += 100000;
		machine_run(f.m, now);
		for (i = 0; i < 100 && operator_run(&operator, now); i++)
			machine_run(f.m, now);
	}
	/* "hopper top" and "extra" add cards */
	CHECK(cards(f.m) >= before || !machine_view(f.m).powered);
	free(text);
	fuzz_machine_free(&f);
	return 0;
}
