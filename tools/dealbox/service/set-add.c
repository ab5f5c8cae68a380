// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sets on their way to the service. They go as sealed memory, never by a file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dealbox/format.h>

#include "service-objects.h"
#include "set-add.h"

/* Copy the set with each board once: files of results have a board for each table. */
static struct dealbox_set *set_once(const struct dealbox_set *set)
{
	struct dealbox_set *once = dealbox_set_new(dealbox_set_pack(set));
	struct dealbox_board board;
	size_t n;
	int ret = once ? 0 : -ENOMEM;

	for (n = 0; !ret && !dealbox_set_get(set, n, &board); n++)
		if (dealbox_set_find(set, board.number) == (long)n)
			ret = dealbox_set_add(once, &board);
	dealbox_deal_wipe(&board.deal);
	if (!ret)
		return once;
	dealbox_set_free(once);
	return NULL;
}

int set_seal(const struct dealbox_set *set)
{
	struct dealbox_set *once = set_once(set);
	int fd = memfd_create("set.pbn", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool good =
		once && fd >= 0 &&
		!dealbox_format_write_fd(dealbox_format_find("pbn"), once, fd, "set.pbn", NULL) &&
		!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);

	dealbox_set_free(once);
	if (good)
		return fd;
	complain("free some memory", "cannot pass the set to the service: %m");
	if (fd >= 0)
		close(fd);
	return -1;
}

enum status set_add(sd_bus *bus, const struct dealbox_set *set, const char *session,
		    uint64_t *number)
{
	enum status status = STATUS_DONE;
	struct request r;
	uint32_t boards;
	int fd = set_seal(set), err;

	if (fd < 0)
		return STATUS_INPUT;
	err = request_manager(&r, bus, "AddSet");
	if (err >= 0)
		err = sd_bus_message_append(r.call, "hss", fd, session, "");
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_read(r.reply, "tu", number, &boards);
	if (err < 0)
		status = service_error(&r, err);
	close(fd);
	request_end(&r);
	return status;
}
