// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Event queue of one reader. */
#include "queue.h"

void dealbox_queue_push(struct event_queue *queue,
			const struct dealbox_event *event)
{
	if (queue->count == QUEUE_EVENTS) {
		queue->first = (queue->first + 1) % QUEUE_EVENTS;
		queue->count--;
		dealbox_queue_lose(queue);
	}
	queue->ring[(queue->first + queue->count) % QUEUE_EVENTS] = *event;
	queue->count++;
}

bool dealbox_queue_pop(struct event_queue *queue, struct dealbox_event *event)
{
	if (!queue->count)
		return false;

	*event = queue->ring[queue->first];
	queue->first = (queue->first + 1) % QUEUE_EVENTS;
	queue->count--;
	/* Only the oldest events are lost, so a gap is always at the head. */
	if (queue->gap)
		event->flags |= DEALBOX_EVF_GAP;
	queue->gap = false;
	return true;
}

void dealbox_queue_lose(struct event_queue *queue)
{
	queue->lost++;
	queue->gap = true;
}
