/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The panel: buttons, switches, lamps and a buzzer on the lines of a GPIO chip.
 */
#ifndef DAEMON_PANEL_H
#define DAEMON_PANEL_H

#include <systemd/sd-event.h>

#include "notice.h"
#include "panel-rules.h"

struct gpiod_line_request;
struct service;

#define PANEL_EDGES	32	/* read at once */

/* The buttons, switches and lamps around the machines. */
struct panel {
	struct gpiod_line_request *request;	/* NULL: it is not there */
	struct gpiod_line_request *gone;	/* of a chip that is being taken apart */
	sd_event_source *apart;			/* rings when it has been */
	sd_event_source *source;
	sd_event_source *beep;			/* switches the buzzer off */
	unsigned int offsets[PANEL_LINES];	/* on the chip */
	unsigned int lines;			/* that there are */
	unsigned int active;
	unsigned long seqno;			/* of the last event */
	/* what was pressed while the ledger waited for the disk */
	struct panel_edge {
		unsigned int offset;
		bool active;
		unsigned long seqno;
	} late[PANEL_EDGES];
	unsigned int late_count;
	bool stopped;				/* .. and the stop was carried out .. */
	bool stop_news;				/* .. which is to be recorded */
	sd_event_source *later;			/* does all that is left of it */
	char wrong[512];			/* why it is not there */
};

/* Takes the lines that the settings name; where it cannot, says why, and nothing is dealt. */
void panel_open(struct service *service);
/* A GPIO chip came or went. */
void panel_look(struct service *service);
/* A subscriber: bars what the panel forbids, beeps for what is wrong, and switches the lamps. */
void panel_notice(struct service *service, const struct notice *notice);
/* To be polled while the ledger waits for the disk, when the event loop stands still; -1: nothing. */
int panel_fd(const struct service *service);
/* It can be read: a stop is carried out, and all else when the loop goes on. Does not use the ledger. */
void panel_read_early(struct service *service);
/* "" no panel, "ready", or what is wrong. */
const char *panel_state(const struct service *service);
/* Dark, and the lines are let go; those of a chip that has just gone a second later. */
void panel_close(struct service *service);
/* Waits for that, once the loop has ended. */
void panel_end(struct service *service);

#endif
