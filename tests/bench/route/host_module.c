// SPDX-License-Identifier: LGPL-2.1-or-later
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "route_host.h"

#define NODE	"/dev/dealbox0"

static void start(int fd, uint32_t insertion)
{
	struct dealbox_control control = {
		.op = DEALBOX_OP_START, .plan_id = PLAN_ID, .insertion = insertion,
	};

	if (ioctl(fd, DEALBOX_IOC_CONTROL, &control))
		err(3, "START (the machine says %u)", control.result);
}

void host_module(unsigned int deals)
{
	struct dealbox_event events[64];
	struct dealbox_plan plan = { 0 };
	struct dealbox_status status;
	struct wire_plan wire;
	uint32_t started = 0;
	ssize_t got, i;
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	host_plan(&wire);
	plan.plan_id = wire.plan_id;
	plan.mode = wire.mode;
	plan.entries = wire.entries;
	memcpy(plan.pocket, wire.pocket, sizeof(plan.pocket));
	if (fd < 0 || ioctl(fd, DEALBOX_IOC_CLAIM) || ioctl(fd, DEALBOX_IOC_SET_PLAN, &plan) ||
	    ioctl(fd, DEALBOX_IOC_GET_STATUS, &status))
		err(3, NODE);
	if (status.insertion && !(status.flags & DEALBOX_STATUS_SPENT)) {
		started = status.insertion;
		start(fd, started);
	}
	while (deals) {
		got = read(fd, events, sizeof(events));
		if (got < 0)
			err(3, NODE);
		for (i = 0; i < got / (ssize_t)sizeof(*events); i++) {
			const struct dealbox_event *event = &events[i];

			if (event->type >= 0x20)
				errx(3, "the machine stopped: %#x", event->type);
			if (event->type == DEALBOX_EV_DEAL_DONE) {
				deals--;
			} else if (event->type == DEALBOX_EV_BOARD_INSERTED && deals &&
				   event->insertion > started) {
				started = event->insertion;
				start(fd, started);
			}
		}
	}
	close(fd);
}
