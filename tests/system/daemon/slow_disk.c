// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A disk that writes nothing while the file $SLOW_DISK is there; it makes $SLOW_DISK.waits when
 * somebody waits for it. To be preloaded.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_disk(void)
{
	const char *slow = getenv("SLOW_DISK");
	char waits[4096];

	while (slow && !access(slow, F_OK)) {
		snprintf(waits, sizeof(waits), "%s.waits", slow);
		close(open(waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		usleep(1000);
	}
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	int (*real)(int fd) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");

	wait_for_disk();
	return real(fd);
}
