/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of dealboxd share. One thread; everything hangs on struct service.
 */
#ifndef DEALBOXD_H
#define DEALBOXD_H

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>

#include <dealbox/diagnosis.h>
#include <dealbox/ledger.h>
#include <dealbox/machine.h>
#include <dealbox/set.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#include "budget.h"
#include "panel-rules.h"

#define EMULATORS_MAX	64
#define URI_SIZE	300	/* bytes of the address of a machine */

struct config {
	char ledger[256];
	char *emulators[EMULATORS_MAX + 1];	/* paths, ends with NULL */
	size_t emulator_count;
	bool accept;				/* machines that are new here may deal */
	char chip[256];				/* of the panel, "": there is none */
	char machine[128];			/* whose panel it is, "": that of all */
	struct panel_setting panel[PANEL_LINES];
};

/* A machine, there or not: known by its serial number, or by its port without one. */
struct station {
	struct station *next;
	struct service *service;
	char id[128];			/* "SN1", "port:1-2.3": as in the ledger */
	char path[256];			/* its object on the bus */
	char uri[URI_SIZE];		/* by which it was opened */
	char serial[64];
	char port[32];
	char model[64];
	struct dealbox_machine *machine;	/* NULL: not there */
	sd_event_source *source;	/* of a machine that is read at once; NULL: of the others */
	bool suspect;			/* its last answer did not come */
	bool fresh;			/* no board has come since it was opened */
	bool known;			/* it may have deals, as the ledger has it */
	uint64_t settled;		/* us: when a deal that is done may be judged; 0 = there is none */
	uint64_t heard;			/* us: its last event, or the start of its deal */
	struct desk desk;
	struct dealbox_plan plan;	/* of desk.copy; wiped after the deal */
	uint32_t plan_id;
	struct dealbox_trace *trace;	/* of the insertion that is there */
	struct dealbox_trace *kept;	/* of a deal whose board is out, and not recorded yet */
	uint64_t insertion;		/* record in the ledger of the deal */
	unsigned int cards;		/* that have landed */
	bool stepping;			/* a step of its desk is being done */
	bool stop_after;		/* .. and a stop came meanwhile */
	unsigned int stopped_at;	/* card at which the last stop came, from 1; 0 = none */
	uint32_t starter;		/* who pressed start last; DEALBOX_UID_NONE = a key */
	/* what was announced last */
	enum trouble told;
	struct copy told_copy;
	unsigned int told_cards;
	uint64_t told_at;		/* us */
	struct dealbox_confusion confusion;	/* how its reader misreads, as far as is known */
	char detail[48];		/* of what stopped the deal: where, or a code */
	char diagnosis[512];		/* of the last repeated card, without its name */
	char revealed[512];		/* and with it */
};

/* A machine that could not be opened, or did not answer: it is left alone for a while. */
struct aside {
	struct aside *next;
	char uri[URI_SIZE];
	char port[32];
	uint64_t until;			/* us */
	uint64_t wait;
	char said[1024];		/* why */
};

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
	char wrong[512];			/* why it is not there */
};

struct service {
	struct config config;
	const char *config_path;
	sd_event *event;
	sd_bus *bus;
	struct dealbox_ledger *ledger;
	struct jobs jobs;
	struct station *stations;
	struct station *turn;		/* whose turn it is in stations_run(), NULL = the first */
	struct aside *asides;
	uint64_t quiet;			/* us: until then no machine is asked that is suspect */
	bool stopped;			/* stations_run() has yet to follow a stop */
	uint64_t look;			/* us: when machines that work are looked at next */
	sd_event_source *ready;		/* an epoll of the machines that are read together */
	sd_event_source *tick;		/* reads them, while they have events */
	sd_event_source *alarm;		/* for what no event tells */
	sd_event_source *seek;		/* looks what there is */
	sd_event_source *more;		/* goes on with stations_run() */
	struct dealbox_monitor *monitor;	/* machines that come and go */
	struct udev_monitor *chips;	/* GPIO chips that do, for the panel */
	struct panel panel;
	struct budgets budgets;		/* of deals that users give us */
};

/* ---- config.c ---- */
/* Reads the file into *config; what it does not name has its default. 0 or -errno, logged. */
int config_read(struct config *config, const char *path);
void config_free(struct config *config);

/* ---- log.c: to the journal; to standard error where there is none. Never a card. ---- */
enum message {
	MESSAGE_STARTED, MESSAGE_STOPPED, MESSAGE_MACHINE, MESSAGE_GONE, MESSAGE_RECORDED,
	MESSAGE_VOID, MESSAGE_TROUBLE, MESSAGE_JOB, MESSAGE_LEDGER, MESSAGE_REFUSED,
	MESSAGE_CONFIG, MESSAGE_SERVICE, MESSAGE_PANEL, MESSAGE_PANEL_LOST, MESSAGE_STOP, MESSAGES
};
/* station and copy may be NULL. */
void log_message(enum message message, const struct station *station, const struct copy *copy,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- station.c ---- */
/* Begins to look for machines. 0 or -errno. */
int stations_open(struct service *service);
/*
 * Looks soon which machines there are. udev has news of that port (NULL: of none, or any): a
 * machine there is tried again, however often it was refused.
 */
void stations_seek(struct service *service, const char *port);
/* Lets every desk do what it can; called whenever something has changed. */
void stations_run(struct service *service);
/*
 * The emergency stop of one machine or (NULL) of all. It only acts; stations_run() follows, by
 * itself. If true, something was stopped by it, and stations_stopped() writes down who did it:
 * the user, DEALBOX_UID_NONE (a button) or DEALBOX_UID_UNKNOWN.
 */
bool stations_stop(struct service *service, const struct station *only);
void stations_stopped(struct service *service, const struct station *only, uint32_t uid);
void stations_free(struct service *service);
struct station *station_find(const struct service *service, const char *path);

/* ---- work.c: jobs and the ledger ---- */
/* Opens the ledger, settles what a crash left behind, and reads the jobs. */
int work_open(struct service *service);
/* Reads the copies of a job again. */
int work_refresh(struct service *service, struct job *job);
/* Adds the job of that number from the ledger. NULL: logged. */
struct job *work_load(struct service *service, uint64_t id);
/* Was the last insertion of this machine other than exact, or is it not known which was the last? */
bool work_doubt(struct service *service, const char *machine);
/*
 * Is this not the insertion that follows the last one of this machine in the ledger (in *known)?
 * Then nobody watched, or another computer has dealt with it.
 */
bool work_elsewhere(struct service *service, const char *machine, uint32_t insertion, uint32_t *known);

/*
 * The plan of a copy, under that number; the caller wipes it. -EINVAL: it cannot be planned;
 * another error is the ledger's.
 */
int work_plan(struct service *service, const struct job *job, const struct copy *copy, uint32_t id,
	      struct dealbox_plan *plan);
/* Pocket of each hand in a job; NULL: hand n in pocket n. */
const uint8_t *work_pockets(const struct job *job);
/* As dealbox_verify(), of what work_plan() planned: a deck that is counted lies sorted. */
int work_verify(const struct dealbox_plan *plan, const struct dealbox_trace *trace,
		struct dealbox_verdict **verdict);
/*
 * What a machine reported of an insertion that was dealt to its end for the job, and the
 * verdict on it, made again from the record; both are freed by the caller. -ENOENT: there is
 * none; another error is the ledger's.
 */
int work_judge(struct service *service, const struct job *job, const char *machine,
	       uint32_t insertion, struct dealbox_trace **trace, struct dealbox_verdict **verdict);

/*
 * The numbers of the boards of a set in the ledger; the caller frees them. -ENOENT: there is no
 * such set; -ENOMEM; another error is the ledger's.
 */
int work_boards(struct service *service, uint64_t set, unsigned int **numbers, size_t *count);
/* The set itself; the caller frees it. Errors as above. */
int work_set(struct service *service, uint64_t number, struct dealbox_set **set);
/*
 * The insertions of a job (of one board of it, or with 0 of all) of which there is a trace, oldest
 * first; the caller frees them; and its options, DEALBOX_JOB_*. 0, also when there are none; -ENOMEM;
 * another error is the ledger's.
 */
int work_traced(struct service *service, uint64_t job, unsigned int board, unsigned int *options,
		struct dealbox_ledger_insertion **insertions, size_t *count);

#define WORK_WHY	96

/*
 * The deal of a board that a job has captured; the caller wipes it, in any case. -EINVAL: not all its
 * pockets were read whole; -EBADMSG: they are no deal. why then says of which pocket, without a card.
 */
int work_original(struct service *service, const struct job *job, unsigned int board,
		  struct dealbox_deal *deal, char why[WORK_WHY]);

/* ---- panel.c ---- */
/* Takes the lines that the settings name; where it cannot, says why, and nothing is dealt. */
void panel_open(struct service *service);
/* A GPIO chip came or went. */
void panel_look(struct service *service);
/* What the panel bars at this machine. */
enum trouble panel_bar(const struct service *service, const struct station *station);
/* A machine shows something else. */
void panel_heed(const struct station *station);
/* Switches the lamps as the machines are now. */
void panel_show(struct service *service);
/* "" no panel, "ready", or what is wrong. */
const char *panel_state(const struct service *service);
/* Dark, and the lines are let go; those of a chip that has just gone a second later. */
void panel_close(struct service *service);
/* Waits for that, once the loop has ended. */
void panel_end(struct service *service);

/* ---- bus.c ---- */
int bus_open(struct service *service);
/* Tells the bus what may have changed in a station: its state with all that goes with it, or cards. */
void bus_station_changed(struct station *station, bool state);
void bus_station_added(struct station *station);
void bus_job_changed(struct service *service, uint64_t job);
/* An insertion has its verdict, and that is recorded. */
void bus_judged(struct service *service, const struct copy *copy, const char *machine,
		uint32_t insertion, bool exact, const char *text);
void bus_panel_changed(struct service *service);
void bus_close(struct service *service);

#endif
