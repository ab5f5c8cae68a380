// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Every disk is a USB stick with FAT: it has no hard links, and no files without a name. To be
 * preloaded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

__attribute__((visibility("default"))) int link(const char *from, const char *to)
{
	(void)from;
	(void)to;
	errno = EPERM;
	return -1;
}

__attribute__((visibility("default"))) int linkat(int from_folder, const char *from, int to_folder,
						  const char *to, int flags)
{
	(void)from_folder;
	(void)to_folder;
	(void)flags;
	return link(from, to);
}

/* With 64-bit offsets, as here and in the program, openat() is this. */
__attribute__((visibility("default"))) int openat(int folder, const char *path, int flags, ...)
{
	int (*real)(int folder, const char *path, int flags, ...) =
		(int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
	mode_t mode = 0;
	va_list more;

	if ((flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (flags & O_CREAT) {
		va_start(more, flags);
		mode = va_arg(more, mode_t);
		va_end(more);
	}
	return real(folder, path, flags, mode);
}
