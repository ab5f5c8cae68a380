/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front_local.h"
#include "socket.h"

#define RETRY_US	10000	/* minimum interval of attempts at a failing endpoint */

struct local_front *local_front_open(size_t size, const struct front_ops *ops, const char *path,
				     int type, struct device *device, struct machine *machine,
				     FILE *trace)
{
	struct local_front *f;
	int listener = socket_listen(path, type);

	if (listener < 0)
		return NULL;
	f = calloc(1, size);
	if (!f) {
		close(listener);
		return NULL;
	}
	f->front = (struct front){ ops, device, machine, trace };
	strcpy(f->path, path);
	f->listener = listener;
	f->host = -1;
	return f;
}

void local_front_close(struct local_front *f)
{
	close(f->listener);
	unlink(f->path);
	free(f);
}

void local_front_give(struct local_front *f, uint64_t now)
{
	struct transfer transfer = { .tag = INT_IN_TAG, .endpoint = DEVICE_EP_INT_IN };

	if (f->int_in || now < f->int_in_at)
		return;
	transfer.length = device_config(f->front.device)->int_in_size;
	device_submit(f->front.device, now, &transfer);
	f->int_in = true;
}

void local_front_took(struct local_front *f, uint64_t now, const struct completion *done)
{
	f->int_in = false;
	f->int_in_at = done->status ? now + RETRY_US : now;
}

uint64_t local_front_next(const struct local_front *f)
{
	uint64_t next = device_next(f->front.device);

	return !f->int_in && f->int_in_at < next ? f->int_in_at : next;
}
