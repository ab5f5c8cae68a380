// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arbitrary state files of the emulator: refused with the line, or kept by writing and reading. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "memory.h"

static char folder[] = "/tmp/fuzz-memory-XXXXXX", path[64];

static void clean(void)
{
	unlink(path);
	rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine_memory memory, again;
	char error[200] = "", name[40];
	int fd = memfd_create("memory", MFD_CLOEXEC);

	if (!*path) {
		CHECK(mkdtemp(folder));
		snprintf(path, sizeof(path), "%s/state", folder);
		atexit(clean);
	}
	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (memory_load(name, &memory, error, sizeof(error))) {
		CHECK(!strncmp(error, name, strlen(name)) && error[strlen(name)] == ':');
	} else {
		CHECK(!memory_save(path, &memory));
		CHECK(!memory_load(path, &again, error, sizeof(error)));
		CHECK(!memcmp(&memory, &again, sizeof(memory)));
	}
	close(fd);
	return 0;
}
