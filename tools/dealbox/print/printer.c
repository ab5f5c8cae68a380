// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "printer.h"

extern char **environ;

/* Returns 0 or an error number; *to is the end of the pipe that the program reads. */
static int lp_start(const char *printer, const char *title, bool duplex, pid_t *pid, int *to)
{
	char *const arguments[] = { "lp", "-d", (char *)printer, "-t", (char *)title, "-o",
				    duplex ? "sides=two-sided-long-edge" : "sides=one-sided", "-",
				    NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	/* its answer ("request id is ...") is for people */
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	err = posix_spawnp(pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (err)
		close(ends[1]);
	*to = ends[1];
	return err;
}

static bool write_whole(int fd, const char *data, size_t size)
{
	while (size) {
		const ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

bool printer_send(const char *printer, const char *title, bool duplex, const struct blob *pdf)
{
	int to = -1, status = -1, err;
	bool written;
	pid_t pid = -1;

	err = lp_start(printer, title, duplex, &pid, &to);
	if (err) {
		complain("install cups-client, or print the file that -o FILE.pdf writes",
			 "lp cannot be started: %s", strerror(err));
		return false;
	}
	/* lp may end before it has read everything */
	signal(SIGPIPE, SIG_IGN);
	written = write_whole(to, pdf->data, pdf->size);
	close(to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (written && WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	complain("`lpstat -p` lists the printers", "the printer %s did not take the pages",
		 printer);
	return false;
}
