/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Event queue of one reader: a ring that drops its oldest record when it is
 * full.
 *
 * The caller locks it for push and pop alike: a push into a full ring moves the
 * head as well.
 */
#ifndef DEALBOX_QUEUE_H
#define DEALBOX_QUEUE_H

#include "wire.h"

/* 64 KiB: about 30 s of events of a machine that deals 10 cards/s */
#define QUEUE_EVENTS	1024

/**
 * struct event_queue - queue of events; initialised with zeroes
 * @first: index of the oldest record
 * @count: number of records
 * @gap: events were lost before the oldest record
 * @lost: total number of lost events
 * @ring: the records
 */
struct event_queue {
	u32 first;
	u32 count;
	bool gap;
	u64 lost;
	struct dealbox_event ring[QUEUE_EVENTS];
};

/**
 * dealbox_queue_push() - append an event
 * @queue: the queue
 * @event: the event
 *
 * Drops the oldest event if the ring is full.
 */
void dealbox_queue_push(struct event_queue *queue,
			const struct dealbox_event *event);

/**
 * dealbox_queue_pop() - remove the oldest event
 * @queue: the queue
 * @event: the event; DEALBOX_EVF_GAP is set if events before it were lost
 *
 * Return: false if the queue is empty.
 */
bool dealbox_queue_pop(struct event_queue *queue, struct dealbox_event *event);

/**
 * dealbox_queue_lose() - count the last popped event as lost
 * @queue: the queue
 *
 * For an event that could not be copied to the reader.
 */
void dealbox_queue_lose(struct event_queue *queue);

#endif
