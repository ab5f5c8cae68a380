// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "fixture.h"
#include "run.h"

/* An actuator may take its time; a fixture that hangs must not hang the run. */
#define ANSWER_MS	60000
/* how long a step under way may still take when the run is interrupted */
#define INTERRUPTED_MS	5000
#define END_MS		5000
#define SLICE_MS	500
#define ARGUMENTS_MAX	16

struct fixture {
	int in, out;	/* the same, for a socket */
	pid_t pid;	/* 0 = a socket */
	char line[FIXTURE_LINE_MAX];
	size_t length;
};

static struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f)
		f->in = f->out = -1;
	return f;
}

static void close_ends(struct fixture *f)
{
	if (f->out >= 0 && f->out != f->in)
		close(f->out);
	if (f->in >= 0)
		close(f->in);
	f->in = f->out = -1;
}

/* Start argv with its standard input and output as the ends of f. Returns an errno. */
static int spawn(struct fixture *f, char **argv)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int to[2], from[2], error;

	if (pipe2(to, O_CLOEXEC))
		return errno;
	if (pipe2(from, O_CLOEXEC)) {
		error = errno;
		close(to[0]);
		close(to[1]);
		return error;
	}
	f->out = to[1];
	f->in = from[0];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
	/* Ctrl-C is for the run, which lets the fixture finish its step. */
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	error = posix_spawnp(&f->pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	return error;
}

struct fixture *fixture_start(const char *command, char *error, size_t size)
{
	char *copy = strdup(command), *state = NULL, *argv[ARGUMENTS_MAX + 1] = { NULL }, *word;
	struct fixture *f = copy ? fixture_new() : NULL;
	unsigned int count = 0;
	int failed = ENOMEM;

	if (f) {
		for (word = strtok_r(copy, " ", &state); word && count < ARGUMENTS_MAX;
		     word = strtok_r(NULL, " ", &state))
			argv[count++] = word;
		failed = word ? E2BIG : !count ? ENOENT : spawn(f, argv);
	}
	free(copy);
	if (!failed)
		return f;
	snprintf(error, size, "--fixture %s: %s", command, strerror(failed));
	if (f)
		close_ends(f);
	free(f);
	return NULL;
}

struct fixture *fixture_connect(const char *path, char *error, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct fixture *f = fixture_new();

	if (f && strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
		f->in = f->out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (f->in >= 0 && !connect(f->in, (struct sockaddr *)&address, sizeof(address)))
			return f;
	}
	snprintf(error, size, "--emulator %s: %s; it is the socket of `dealbox-emulator --control`",
		 path, strerror(errno));
	if (f)
		close_ends(f);
	free(f);
	return NULL;
}

/* Move a line from what came into reply. Returns false if none is complete. */
static bool take_line(struct fixture *f, char *reply, size_t size)
{
	char *end = memchr(f->line, '\n', f->length);
	size_t length, used;

	if (!end)
		return false;
	length = (size_t)(end - f->line);
	used = length + 1;
	if (length && f->line[length - 1] == '\r')
		length--;
	snprintf(reply, size, "%.*s", (int)length, f->line);
	f->length -= used;
	memmove(f->line, f->line + used, f->length);
	return true;
}

bool fixture_ask(struct fixture *f, const char *step, char *reply, size_t size)
{
	uint64_t end = now_us() + ANSWER_MS * 1000ULL, at_last = 0;
	struct pollfd wait = { .fd = f->in, .events = POLLIN };
	char text[FIXTURE_LINE_MAX];
	int length = snprintf(text, sizeof(text), "%s\n", step);
	bool answered;
	ssize_t got;

	if (f->in < 0 || write(f->out, text, (size_t)length) != length)
		return false;
	while (!(answered = take_line(f, reply, size))) {
		uint64_t now = now_us();

		if (run_interrupted() && !at_last)
			at_last = now + INTERRUPTED_MS * 1000ULL;
		if (now >= end || (at_last && now >= at_last))
			break;
		if (poll(&wait, 1, SLICE_MS) <= 0)
			continue;
		got = read(f->in, f->line + f->length, sizeof(f->line) - f->length);
		if (got <= 0)	/* also: the line is too long */
			break;
		f->length += (size_t)got;
	}
	/* A late answer would be taken for that to the next step. */
	if (!answered)
		close_ends(f);
	return answered;
}

void fixture_close(struct fixture *f)
{
	struct pollfd ended = { .events = POLLIN };

	if (!f)
		return;
	close_ends(f);
	if (f->pid) {
		ended.fd = pidfd_open(f->pid, 0);
		if (ended.fd < 0 || poll(&ended, 1, END_MS) <= 0)
			kill(-f->pid, SIGKILL);	/* its group, with what it has started */
		if (ended.fd >= 0)
			close(ended.fd);
		while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(f);
}
