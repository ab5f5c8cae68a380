/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The panel: buttons, switches, lamps and a buzzer on the lines of a GPIO chip. */
#ifndef DAEMON_PANEL_H
#define DAEMON_PANEL_H

#include <systemd/sd-event.h>

#include "notice.h"
#include "panel-rules.h"

struct gpiod_line_request;
struct service;

#define PANEL_EDGES	32	/* edges per read */

/* The buttons, switches and lamps around the machines. */
struct panel {
	struct gpiod_line_request *request;	/* NULL = not available */
	struct gpiod_line_request *gone;	/* of a removed chip, to be released later */
	sd_event_source *apart;			/* timer: release it */
	sd_event_source *source;
	sd_event_source *beep;			/* timer: switch the buzzer off */
	unsigned int offsets[PANEL_LINES];	/* offsets of the lines on the chip */
	unsigned int lines;			/* set of existing lines */
	unsigned int active;
	unsigned long seqno;			/* sequence number of the last event */
	/* edges read while the ledger waited for the disk */
	struct panel_edge {
		unsigned int offset;
		bool active;
		unsigned long seqno;
	} late[PANEL_EDGES];
	unsigned int late_count;
	bool stopped;				/* a stop among them was executed */
	bool stop_news;				/* that stop is to be recorded */
	sd_event_source *later;			/* handles them */
	char wrong[512];			/* why the panel is not available */
};

/* Request the lines of the settings. On failure, logs the reason, and dealing is forbidden. */
void panel_open(struct service *service);
/* A GPIO chip was added or removed. */
void panel_look(struct service *service);
/* Subscriber of notices: forbids dealing, sounds the buzzer, and switches the lamps. */
void panel_notice(struct service *service, const struct notice *notice);
/* Return the descriptor to poll while the ledger waits for the disk, or -1. */
int panel_fd(const struct service *service);
/*
 * Read that descriptor. Executes an emergency stop; other edges are handled by the event loop
 * later. Does not use the ledger.
 */
void panel_read_early(struct service *service);
/* Return "" without a panel, "ready", or what is wrong. */
const char *panel_state(const struct service *service);
/* Switch the lamps off and release the lines; those of a removed chip are released 1 s later. */
void panel_close(struct service *service);
/* Wait for that release, once the event loop has ended. */
void panel_end(struct service *service);

#endif
