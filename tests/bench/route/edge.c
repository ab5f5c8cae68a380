// SPDX-License-Identifier: LGPL-2.1-or-later
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../kernel/kselftest/usbmon.h"
#include "edge.h"
#include "machine_wire.h"

#define FETCH		512

void edge_open(struct edge *edge, int bus, int device)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/usbmon%d", bus);
	edge->device = device;
	edge->waits = false;
	edge->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (edge->fd < 0 || ioctl(edge->fd, MON_RING_SIZE, MON_RING))
		err(3, "%s", path);
	edge->ring = mmap(NULL, MON_RING, PROT_READ, MAP_SHARED, edge->fd, 0);
	if (edge->ring == MAP_FAILED)
		err(3, "%s", path);
}

static void note(struct edge *edge, int64_t us)
{
	if (edge->count == edge->room) {
		edge->room = edge->room ? 2 * edge->room : 4096;
		edge->us = realloc(edge->us, edge->room * sizeof(*edge->us));
		if (!edge->us)
			err(3, "samples");
	}
	edge->us[edge->count++] = us < 0 ? 0 : us > UINT32_MAX ? UINT32_MAX : us;
}

static void card_came(struct edge *edge, const struct mon_packet *packet, int64_t now)
{
	const uint8_t *bytes = (const uint8_t *)(packet + 1);
	struct wire_event event;
	uint32_t at;

	for (at = 0; at + WIRE_EVENT_SIZE <= packet->captured; at += WIRE_EVENT_SIZE) {
		dealbox_decode_event(bytes + at, &event);
		if (event.type != DEALBOX_EV_CARD_READ)
			continue;
		edge->unanswered += edge->waits;
		edge->waits = true;
		edge->position = event.position;
		edge->number = event.number;
		edge->insertion = event.insertion;
		edge->at_us = now;
	}
}

static void answer_goes(struct edge *edge, const struct mon_packet *packet, int64_t now)
{
	struct wire_gate gate;

	if (!edge->waits ||
	    !wire_gate_get((const uint8_t *)(packet + 1), packet->captured, &gate) ||
	    gate.number != edge->number || gate.position != edge->position ||
	    gate.insertion != edge->insertion) {
		edge->strays++;
		return;
	}
	edge->waits = false;
	note(edge, now - edge->at_us);
}

static void take_packet(struct edge *edge, const struct mon_packet *packet)
{
	int64_t now = packet->seconds * 1000000 + packet->us;

	if (packet->device != edge->device || packet->transfer != MON_INTERRUPT)
		return;
	if (packet->endpoint & 0x80 && packet->type == 'C' && !packet->status)
		card_came(edge, packet, now);
	else if (!(packet->endpoint & 0x80) && packet->type == 'S')
		answer_goes(edge, packet, now);
}

void edge_take(struct edge *edge)
{
	uint32_t offsets[FETCH], i;
	struct mon_fetch fetch = { .offsets = offsets };
	struct mon_stats stats;

	for (;;) {
		fetch.fetch = FETCH;
		if (ioctl(edge->fd, MON_FETCH, &fetch)) {
			if (errno == EAGAIN)
				break;
			err(3, "usbmon");
		}
		for (i = 0; i < fetch.fetch; i++)
			take_packet(edge, (const struct mon_packet *)(edge->ring + offsets[i]));
		fetch.flush = fetch.fetch;
	}
	if (ioctl(edge->fd, MON_STATS, &stats))
		err(3, "usbmon");
	edge->dropped += stats.dropped;
}

void edge_close(struct edge *edge)
{
	munmap(edge->ring, MON_RING);
	close(edge->fd);
}
