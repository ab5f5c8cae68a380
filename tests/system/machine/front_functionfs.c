// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The core of tools/machine on a real bus, by tools/machine/functionfs.c, in the place of the
 * emulator's front for QEMU: --usbredir gives the folder of a FunctionFS. The rest of the
 * emulator's USB device has no part in it. To pull the cable, the gadget is unbound.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front_common.h"
#include "functionfs.h"
#include "simulated.h"

struct functionfs_front {
	struct front front;
	struct functionfs *functionfs;
	bool plugged;
	char controller[80];
};

/*
 * The soft_connect of a controller would be simpler, but dummy_hcd does not enumerate behind it
 * (7.2). The gadget is bound again to the controller that it had.
 */
static void plug(struct functionfs_front *f, bool plugged)
{
	static const char path[] = "/sys/kernel/config/usb_gadget/dealbox/UDC";
	FILE *file;

	if (!plugged) {
		file = fopen(path, "re");
		if (!file || !fgets(f->controller, sizeof(f->controller), file))
			f->controller[0] = '\0';
		if (file)
			fclose(file);
	}
	file = fopen(path, "we");
	if (!file || fprintf(file, "%s", plugged ? f->controller : "\n") < 0 || fclose(file))
		perror(path);
}

static unsigned int ffs_poll(struct front *front, struct pollfd *fds)
{
	const struct functionfs_front *f = (const struct functionfs_front *)front;

	fds[0] = (struct pollfd){ .fd = functionfs_fd(f->functionfs), .events = POLLIN };
	return 1;
}

static void ffs_serve(struct front *front, const struct pollfd *fds, uint64_t now)
{
	const struct functionfs_front *f = (const struct functionfs_front *)front;
	int error;

	(void)now;
	if (!fds[0].revents)
		return;
	error = functionfs_serve(f->functionfs);
	if (error) {
		fprintf(stderr, "functionfs: %s\n", strerror(-error));
		exit(3);
	}
}

static void ffs_flush(struct front *front, uint64_t now)
{
	struct functionfs_front *f = (struct functionfs_front *)front;
	const bool plugged = machine_view(front->machine).plugged;

	(void)now;
	if (plugged != f->plugged)
		plug(f, plugged);
	f->plugged = plugged;
	functionfs_flush(f->functionfs);
}

static uint64_t ffs_next(const struct front *front)
{
	(void)front;
	return MACHINE_NEVER;
}

static void ffs_close(struct front *front)
{
	functionfs_close(((struct functionfs_front *)front)->functionfs);
	free(front);
}

static const struct front_ops ffs_ops = {
	.poll = ffs_poll, .serve = ffs_serve, .flush = ffs_flush, .next = ffs_next,
	.close = ffs_close,
};

struct front *front_usbredir_open(const char *folder, struct device *device,
				  struct machine *machine, FILE *trace)
{
	struct functionfs_front *f = calloc(1, sizeof(*f));
	const bool serial = device_config(device)->protocol == 2;

	if (!f)
		return NULL;
	f->front = (struct front){ &ffs_ops, device, machine, trace };
	f->plugged = true;
	f->functionfs = functionfs_open(folder, simulated_config(machine), simulated_core(machine),
					serial ? simulated_serial(machine) : NULL);
	if (f->functionfs)
		return &f->front;
	fprintf(stderr, "%s: %s\n", folder, strerror(errno));
	free(f);
	return NULL;
}
