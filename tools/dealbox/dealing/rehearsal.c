// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A rehearsal must not count. In a ledger that is in use, it would block the set for its session,
 * or show boards that nobody has. So it gets a ledger of its own, which is deleted afterwards. The
 * engine also marks each record of an emulated machine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rehearsal.h"
#include "ui/tool.h"

#define EMULATOR	"dealbox-emulator"

/* Make the folder; in memory if there is a place of the user's own, for the ledger holds deals. */
static bool make_folder(struct rehearsal *r)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int size = snprintf(r->folder, sizeof(r->folder), "%s/dealbox-XXXXXX",
			    runtime && *runtime == '/' ? runtime : "/tmp");

	/* a socket's path is short */
	if (size >= (int)sizeof(r->folder))
		strcpy(r->folder, "/tmp/dealbox-XXXXXX");
	if (!mkdtemp(r->folder)) {
		complain("set XDG_RUNTIME_DIR to a folder that you may write to",
			 "cannot make a folder for the rehearsal: %s", strerror(errno));
		*r->folder = '\0';
		return false;
	}
	snprintf(r->uri, sizeof(r->uri), "emu:%s/machine", r->folder);
	snprintf(r->ledger, sizeof(r->ledger), "%s/ledger", r->folder);
	return true;
}

/* The child: the emulator, which writes a line when it is ready. Does not return. */
static void emulate(const struct rehearsal *r, pid_t parent, int output)
{
	const char *path = r->uri + strlen("emu:");
	char *const argv[] = { EMULATOR, "--socket", (char *)path, NULL };

	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Ctrl-C at the terminal is for dealbox, which then pauses this machine */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() == parent && dup2(output, STDOUT_FILENO) >= 0) {
		execvp(EMULATOR, argv);
		complain("install " EMULATOR, EMULATOR ": %s", strerror(errno));
	}
	_exit(127);
}

bool rehearsal_begin(struct rehearsal *r)
{
	pid_t self = getpid();
	int output[2], signals;
	char first;

	memset(r, 0, sizeof(*r));
	/* Whenever somebody stops it, the folder is removed: front_run() reads what waits. */
	signals = signals_take();
	if (signals < 0)
		return false;
	close(signals);
	if (!make_folder(r))
		return false;
	if (pipe2(output, O_CLOEXEC)) {
		complain("close other programs", "cannot rehearse: %s", strerror(errno));
		return false;
	}
	r->emulator = fork();
	if (!r->emulator)
		emulate(r, self, output[1]);
	close(output[1]);
	if (r->emulator < 0) {
		complain("close other programs", "cannot rehearse: %s", strerror(errno));
		close(output[0]);
		return false;
	}
	r->output = output[0];
	/* if it ends instead, it has said why */
	return read(r->output, &first, 1) == 1;
}

void rehearsal_end(struct rehearsal *r)
{
	struct dirent *entry;
	DIR *folder;

	if (r->emulator > 0) {
		close(r->output);
		kill(r->emulator, SIGTERM);
		while (waitpid(r->emulator, NULL, 0) < 0 && errno == EINTR)
			;
	}
	folder = *r->folder ? opendir(r->folder) : NULL;
	if (!folder)
		return;
	while ((entry = readdir(folder)))
		unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	if (rmdir(r->folder))
		complain("remove it; it holds deals", "cannot remove %s: %s", r->folder,
			 strerror(errno));
}
