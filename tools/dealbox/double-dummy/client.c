// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "double-dummy.h"
#include "ui/set-as-read.h"

#define HELPER		"dealbox-double-dummy"
#define TABLE_CELLS	(DENOMINATIONS * DEALBOX_HANDS)
#define LINE		(DEALBOX_CARDS + 1)	/* of the helper's input, see helper.c */
#define ANSWER		(TABLE_CELLS + 1)	/* of its output */

struct solver {
	const struct dealbox_set *set;
	struct double_dummy *tables;
	size_t count, asked, done;	/* done: boards in front of it have their tables */
	size_t *first;		/* of each board: the first one with the same deal */
	pid_t pid;
	int fd;			/* the helper's standard input and output */
	char line[LINE];	/* the deal that is being sent */
	size_t sent;
	char answers[16 * ANSWER];
	size_t have;
};

/* Beside dealbox, where both were built, or where it is installed */
static char *helper_path(void)
{
	char self[4096], *path = NULL;
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (size > 0) {
		self[size] = '\0';
		slash = strrchr(self, '/');
		if (slash && asprintf(&path, "%.*s/" HELPER, (int)(slash - self), self) < 0)
			return NULL;
		if (path && !access(path, X_OK))
			return path;
		free(path);
	}
	return strdup(LIBEXECDIR "/" HELPER);
}

static bool start(struct solver *solver)
{
	char *path = helper_path();
	int pair[2];

	solver->fd = -1;
	if (!path || access(path, X_OK)) {
		complain("install dealbox as a whole, with " HELPER, "%s: %s",
			 path ? path : HELPER, strerror(path ? errno : ENOMEM));
		free(path);
		return false;
	}
	/* a socket, because a write to a pipe without a reader raises a signal */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		complain("close other programs", "cannot solve double dummy: %s",
			 strerror(errno));
		free(path);
		return false;
	}
	solver->pid = fork();
	if (!solver->pid) {
		char *const argv[] = { HELPER, NULL };

		if (dup2(pair[1], STDIN_FILENO) >= 0 && dup2(pair[1], STDOUT_FILENO) >= 0)
			execv(path, argv);
		_exit(127);
	}
	free(path);
	close(pair[1]);
	solver->fd = pair[0];
	if (solver->pid > 0)
		return true;
	complain("close other programs", "cannot solve double dummy: %s", strerror(errno));
	close(pair[0]);
	return false;
}

static void line_format(const struct dealbox_deal *deal, char line[LINE])
{
	for (unsigned int card = 0; card < DEALBOX_CARDS; card++)
		line[card] = (char)('0' + dealbox_deal_holder(deal, card));
	line[DEALBOX_CARDS] = '\n';
}

/* In a file of results a deal is there as often as it was played; it is solved once. */
static size_t first_of(const struct dealbox_set *set, size_t index)
{
	struct dealbox_board board, other;
	size_t i = 0;

	dealbox_set_get(set, index, &board);
	while (!dealbox_set_get(set, i, &other) &&
	       memcmp(&board.deal, &other.deal, sizeof(board.deal)))
		i++;
	dealbox_deal_wipe(&board.deal);
	dealbox_deal_wipe(&other.deal);
	return i;
}

/* Send as much as the socket takes. Returns false if the helper is gone. */
static bool send_deals(struct solver *solver)
{
	while (solver->asked < solver->count) {
		ssize_t size;

		if (!solver->sent) {
			struct dealbox_board board;

			solver->first[solver->asked] = first_of(solver->set, solver->asked);
			if (solver->first[solver->asked] != solver->asked) {
				solver->asked++;
				continue;
			}
			dealbox_set_get(solver->set, solver->asked, &board);
			line_format(&board.deal, solver->line);
			dealbox_deal_wipe(&board.deal);
		}
		size = send(solver->fd, solver->line + solver->sent, LINE - solver->sent,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (size < 0)
			return errno == EAGAIN || errno == EINTR;
		solver->sent = (solver->sent + (size_t)size) % LINE;
		solver->asked += !solver->sent;
	}
	shutdown(solver->fd, SHUT_WR);
	return true;
}

static bool answer_parse(const char answer[ANSWER], struct double_dummy *table)
{
	static const char digits[] = "0123456789abcd";

	for (int i = 0; i < TABLE_CELLS; i++) {
		const char *digit = answer[i] ? strchr(digits, answer[i]) : NULL;

		if (!digit)
			return false;
		table->tricks[i / DEALBOX_HANDS][i % DEALBOX_HANDS] = (uint8_t)(digit - digits);
	}
	return answer[TABLE_CELLS] == '\n';
}

/* Boards whose deal was solved for an earlier one need no answer. */
static void copy_tables(struct solver *solver)
{
	for (; solver->done < solver->asked; solver->done++) {
		if (solver->first[solver->done] == solver->done)
			break;
		solver->tables[solver->done] = solver->tables[solver->first[solver->done]];
	}
}

enum turn { TURN_MORE, TURN_GONE, TURN_WRONG };

static enum turn take_answers(struct solver *solver)
{
	ssize_t size = recv(solver->fd, solver->answers + solver->have,
			    sizeof(solver->answers) - solver->have, 0);
	size_t used = 0;

	if (size < 0 && errno == EINTR)
		return TURN_MORE;
	if (size <= 0)
		return TURN_GONE;
	solver->have += (size_t)size;
	for (; solver->have - used >= ANSWER; used += ANSWER) {
		if (solver->done == solver->asked ||
		    !answer_parse(solver->answers + used, &solver->tables[solver->done]))
			return TURN_WRONG;
		solver->done++;
		copy_tables(solver);
	}
	solver->have -= used;
	memmove(solver->answers, solver->answers + used, solver->have);
	progress("double dummy: %zu of %zu deals", solver->done, solver->count);
	return TURN_MORE;
}

static void failed(const struct solver *solver, enum turn turn, int wstatus)
{
	char how[64] = "ended too early";

	if (turn == TURN_WRONG)
		snprintf(how, sizeof(how), "gave a wrong answer");
	else if (WIFSIGNALED(wstatus))
		snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(wstatus));
	else if (WEXITSTATUS(wstatus))
		snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(wstatus));
	complain("close other programs if memory is short, and run it again; report it as an error "
		 "of dealbox if it comes back",
		 HELPER " %s; %zu of %zu deals were solved", how, solver->done, solver->count);
}

static bool solve(struct solver *solver)
{
	enum turn turn = TURN_MORE;
	int wstatus = 0;

	if (!start(solver))
		return false;
	progress("double dummy: 0 of %zu deals", solver->count);
	while (turn == TURN_MORE && solver->done < solver->count) {
		struct pollfd poll_fd = {
			.fd = solver->fd,
			.events = solver->asked < solver->count ? POLLIN | POLLOUT : POLLIN,
		};

		if (poll(&poll_fd, 1, -1) < 0)
			turn = errno == EINTR ? TURN_MORE : TURN_WRONG;
		else if (poll_fd.revents & ~POLLOUT)
			turn = take_answers(solver);
		else if (poll_fd.revents && !send_deals(solver))
			turn = TURN_GONE;
		copy_tables(solver);
	}
	progress(NULL);
	if (turn == TURN_WRONG)
		kill(solver->pid, SIGKILL);
	close(solver->fd);
	while (waitpid(solver->pid, &wstatus, 0) < 0 && errno == EINTR)
		;
	if (turn != TURN_MORE)
		failed(solver, turn, wstatus);
	return turn == TURN_MORE;
}

struct double_dummy *double_dummy_solve(const struct dealbox_set *set)
{
	struct solver solver = { .set = set, .count = dealbox_set_count(set) };
	bool solved;

	if (dealbox_set_pack(set) != dealbox_pack_bridge()) {
		complain(NULL, "only deals of bridge can be solved double dummy");
		return NULL;
	}
	solver.tables = calloc(solver.count + 1, sizeof(*solver.tables));
	solver.first = calloc(solver.count + 1, sizeof(*solver.first));
	if (!solver.tables || !solver.first) {
		free(solver.tables);
		free(solver.first);
		complain("free some memory, or give it fewer files", "out of memory");
		return NULL;
	}
	solved = !solver.count || solve(&solver);
	explicit_bzero(&solver.line, sizeof(solver.line));
	free(solver.first);
	if (solved)
		return solver.tables;
	free(solver.tables);
	return NULL;
}

bool par_of_board(const struct dealbox_board *board, const struct double_dummy *table,
		  struct par *out)
{
	const int dealer = board_dealer(board), vulnerable = board_vulnerable(board);
	struct par par;
	bool any = false;

	/* what is not known may be anything */
	for (int seat = 0; seat < DEALBOX_HANDS; seat++)
		for (int sides = DEALBOX_VULNERABLE_NONE; sides <= DEALBOX_VULNERABLE_ALL;
		     sides++) {
			if ((dealer >= 0 && dealer != seat) ||
			    (vulnerable >= 0 && vulnerable != sides))
				continue;
			par_compute(table, seat, (enum dealbox_vulnerable)sides, &par);
			if (any && memcmp(&par, out, sizeof(par)))
				return false;
			*out = par;
			any = true;
		}
	return any;
}
