/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service as a PC of an event (docs/event.md): it adds the event's jobs to the ledger, lets the
 * engines deal the copies that it holds while its lease lasts, and reports what the ledger has. The
 * ledger is the only record of boards; the folder has the lease alone.
 */
#ifndef DAEMON_MEMBER_H
#define DAEMON_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "notice.h"
#include "pool/lease.h"

struct service;

enum member_state { MEMBER_CONNECTING, MEMBER_ONLINE, MEMBER_OFFLINE, MEMBER_REFUSED,
		    MEMBER_STATES };

/* Something that a person has to look at: a board, or a job (board 0). */
struct member_trouble {
	struct lease_copy copy;
	const char *machine;	/* "" for a job */
	uint32_t insertion;
	const char *why;
};

/* The contents of the screens. Texts are valid until the service returns to its loop. */
struct member_view {
	const char *event, *pc;		/* event is "" until it is known */
	enum member_state state;
	const char *reason;		/* why it is not online; "" = it is */
	int64_t since;			/* us since 1970: of the state */
	int64_t lease_ends;		/* us since 1970; 0 = no board may be begun */
	uint32_t open;			/* copies that may be dealt without the server */
	uint32_t recorded;		/* boards of this PC that count */
	uint32_t waiting; /* insertions that the server has not heard of, as far as is known */
	bool resting;
	const char *rest_by;		/* the PC or director who has said so last, "" = nobody */
	uint64_t left;			/* copies of the event that somebody has to deal */
	uint32_t left_min;		/* at the pace of all machines; 0 = unknown, or offline */
};

/* A machine of the event, as its PC has told. */
struct member_machine {
	const char *pc, *name, *state;
	uint32_t pace_s;
	int64_t heard;			/* us since 1970: when its PC has told */
};

/* A PC of the event, as the server knows it. */
struct member_pc {
	const char *name, *state;	/* here or lost */
	const char *by;			/* who has said last whether it rests, "" = nobody */
	uint32_t open;			/* copies that it has not begun, as it has told */
	int64_t heard;			/* us since 1970: when it has told */
	bool resting;
};

/* Begin to take part, if the settings name an event. Errors are logged, and the service goes on. */
void member_open(struct service *service);
/* Returns false if the network keeps a thread, so that the process must end by _exit(). */
bool member_close(struct service *service);
/* Subscriber of notices. */
void member_notice(struct service *service, const struct notice *notice);

/* Get the view. Returns false without an event. */
bool member_look(const struct service *service, struct member_view *view);
/* Call each() for the machines of all PCs. */
void member_machines(const struct service *service,
		     void (*each)(const struct member_machine *machine, void *context),
		     void *context);
/* Call each() for the PCs that were admitted. */
void member_pcs(const struct service *service,
		void (*each)(const struct member_pc *pc, void *context), void *context);
/*
 * Call each() for surplus boards (refused = false), or for what the server or the ledger refuses.
 */
void member_troubles(const struct service *service, bool refused,
		     void (*each)(const struct member_trouble *trouble, void *context),
		     void *context);
/*
 * Call each() for the copies that the event wants to have dealt again, and that are recorded here:
 * they are dealt here only if a person has them redealt.
 */
void member_again(const struct service *service,
		  void (*each)(const struct lease_copy *copy, void *context), void *context);
/* Return the job of the ledger that has such a copy, 0 = it is none of them. */
uint64_t member_local(const struct service *service, const struct lease_copy *copy);
/*
 * Take no copies any more, and give those back that are not begun, so that other PCs deal them; or
 * take again. Returns 0 or -errno, which is logged.
 */
int member_rest(struct service *service, bool rest);
/*
 * Ask the server to let another PC rest, or take again. call is replied to when the server has
 * answered, or cannot be asked. Returns 0, -ENOTCONN if it does not answer, or -EBUSY if another
 * such call waits; then call is not replied to.
 */
int member_rest_pc(struct service *service, sd_bus_message *call, const char *pc, bool rest);

#endif
