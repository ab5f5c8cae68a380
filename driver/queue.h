/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The events that wait for one reader: a ring that drops its oldest record.
 *
 * No lock: the owner has one, since a push into a full ring also takes from it.
 */
#ifndef DEALBOX_QUEUE_H
#define DEALBOX_QUEUE_H

#include "wire.h"

/* 64 KiB; a machine that deals ten cards a second needs half a minute to fill it */
#define QUEUE_EVENTS	1024

/**
 * struct event_queue - zeroed memory is an empty queue
 * @first: index of the oldest record
 * @count: records in the ring
 * @gap: events were lost in front of the oldest record
 * @lost: how many events were lost since the queue began
 * @ring: the records
 */
struct event_queue {
	u32 first;
	u32 count;
	bool gap;
	u64 lost;
	struct dealbox_event ring[QUEUE_EVENTS];
};

/* Appends *event; when the ring is full, the oldest record is lost. */
void dealbox_queue_push(struct event_queue *queue, const struct dealbox_event *event);

/*
 * Takes the oldest record into *event; false if there is none. The first record
 * behind a loss has DEALBOX_EVF_GAP set.
 */
bool dealbox_queue_pop(struct event_queue *queue, struct dealbox_event *event);

/* Says that the record popped last did not reach the reader. */
void dealbox_queue_lose(struct event_queue *queue);

#endif
