// SPDX-License-Identifier: LGPL-2.1-or-later
/* The common part of all backends: known USB machines, and sentences for failures. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"

int reason_permission(struct dealbox_error *reason, const char *path, const char *next)
{
	struct passwd *entry;
	struct group *group;
	char user[64], owner[64], join[256];
	struct stat st;

	if (stat(path, &st))
		return error_set(reason, -EACCES, 0,
				 "check the permissions of its parent directories",
				 "no permission to look at %s", path);
	entry = getpwuid(geteuid());
	snprintf(user, sizeof(user), "%s", entry ? entry->pw_name : "USER");
	entry = getpwuid(st.st_uid);
	snprintf(owner, sizeof(owner), "%s", entry ? entry->pw_name : "?");
	group = getgrgid(st.st_gid);
	if (group && st.st_gid && (st.st_mode & 0060) == 0060) {
		snprintf(join, sizeof(join), "run `sudo adduser %s %s`, log out and in again", user,
			 group->gr_name);
		next = join;
	}
	return error_set(reason, -EACCES, 0, next,
			 "no permission for %s: it belongs to %s:%s, mode %04o", path, owner,
			 group ? group->gr_name : "?", (unsigned int)st.st_mode & 07777);
}

/* vendor and product 0: any */
static const struct {
	uint16_t vendor, product;
	uint8_t protocol;
	const struct dealbox_dialect *dialect;
} machines[] = {
#define DEALBOX_PRODUCT(vendor, product, protocol, dialect) \
	{ vendor, product, protocol, &dealbox_##dialect },
#define DEALBOX_INTERFACE(protocol, dialect) { 0, 0, protocol, &dealbox_##dialect },
#include "dialects.h"
};

const struct dealbox_dialect *usb_dialect(uint8_t protocol)
{
	for (size_t n = 0; n < sizeof(machines) / sizeof(*machines); n++)
		if (machines[n].protocol == protocol)
			return machines[n].dialect;
	return NULL;
}

bool usb_is_machine(uint16_t vendor, uint16_t product, uint8_t protocol)
{
	for (size_t n = 0; n < sizeof(machines) / sizeof(*machines); n++)
		if (machines[n].protocol == protocol &&
		    (machines[n].vendor ?
		     machines[n].vendor == vendor && machines[n].product == product :
		     !machines[n].dialect->described))
			return true;
	return false;
}

const char *process_name(uint32_t pid, char *text, size_t size)
{
	char path[32], comm[32] = "";
	FILE *file;

	if (!pid) {
		snprintf(text, size, "another process");
		return text;
	}
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(comm, sizeof(comm), file))
			comm[0] = '\0';
		comm[strcspn(comm, "\n")] = '\0';
		fclose(file);
	}
	if (*comm)
		snprintf(text, size, "%s (process %u)", comm, pid);
	else
		snprintf(text, size, "process %u", pid);
	return text;
}
