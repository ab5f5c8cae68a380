/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scenarios: rules from a file or the control socket that cause faults at given times. At each
 * hook, the machine and its USB device query the effects of the rules. docs/emulator.md defines the
 * grammar.
 */
#ifndef EMULATOR_SCENARIO_H
#define EMULATOR_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hook {
	HOOK_FEED,	/* the next card is about to leave the hopper */
	HOOK_READ,	/* the card at the reader is about to be read */
	HOOK_GATE,	/* the gate is about to be set */
	HOOK_LAND,	/* a card is about to fall into its pocket */
	HOOK_EVENT,	/* an event is about to be queued; name = its type */
	HOOK_REQUEST,	/* a vendor request arrived; name = bRequest */
	HOOK_DESCRIPTOR,	/* GET_DESCRIPTOR arrived; name = 1 device, 2 config, 3 string... */
	HOOK_STANDARD,	/* another standard request arrived; name = bRequest */
	HOOK_PLAN,	/* a bulk OUT transfer arrived */
	HOOK_ROUTE,	/* an interrupt OUT transfer arrived */
	HOOK_TRANSFER,	/* an interrupt IN transfer is about to be answered */
	HOOK_STREAM,	/* serial dialect: a transfer with frames for the machine arrived */
	HOOK_FRAME,	/* serial dialect: a frame is about to be sent; name = its kind */
	HOOK_SUBMIT,	/* a transfer was submitted, on any endpoint */
	HOOK_CANCEL,	/* the host is about to cancel a transfer of events */
	HOOK_COUNT
};

enum action {
	/* feeder */
	ACTION_FEED_TIMEOUT, ACTION_DOUBLE_FEED, ACTION_MISSING, ACTION_EXTRA, ACTION_REPEAT,
	ACTION_FACE_UP,
	/* reader */
	ACTION_MISREAD, ACTION_UNREADABLE, ACTION_QUALITY,
	/* gate and pockets */
	ACTION_WRONG_POCKET,
	/* anywhere on the path; value[0] = code of JAM */
	ACTION_JAM,
	/* events */
	ACTION_DROP, ACTION_DUPLICATE, ACTION_UNKNOWN, ACTION_FLOOD,
	ACTION_SET,	/* also for data of a transfer; value[0] = offset */
	/* transfers */
	ACTION_DELAY, ACTION_STALL, ACTION_IGNORE, ACTION_NO_ANSWER, ACTION_STATUS, ACTION_SHORT,
	ACTION_LONG, ACTION_BYTES, ACTION_REFUSE,
	/* frames */
	ACTION_BAD_SUM, ACTION_SWAP,
	/* the world around the machine: possible at every hook */
	ACTION_PULL, ACTION_COVER, ACTION_KEY, ACTION_HARDWARE, ACTION_RESET, ACTION_UNPLUG,
	ACTION_POWER_CYCLE, ACTION_FREEZE, ACTION_THAW,
	ACTION_COUNT
};

#define EFFECT_BYTES_MAX	1024
#define EFFECT_NONE		UINT32_MAX	/* value not given */

struct effect {
	enum action action;
	uint32_t value[2];	/* EFFECT_NONE = not given */
	size_t length;
	uint8_t bytes[EFFECT_BYTES_MAX];
};

/* A happening at a hook. Ordinals count from 1 since the start of the emulator. */
struct happening {
	enum hook hook;
	uint32_t insertion;	/* ordinal of the insertion, 0 = no board */
	uint32_t deal;		/* ordinal of the deal, 0 = none yet */
	uint8_t position, card, pocket;	/* 255 = none */
	uint8_t name;		/* event type or bRequest */
};

struct scenario;

struct scenario *scenario_new(void);
/* scenario may be NULL. */
void scenario_free(struct scenario *scenario);
/*
 * Add the rules of a text of several lines. On an error, adds nothing, sets error to "NAME:LINE:
 * reason" and returns false.
 */
bool scenario_parse(struct scenario *scenario, const char *name, const char *text, size_t length,
		    char *error, size_t error_size);
/*
 * Return the next effect for a happening, or NULL. *cursor is 0 at first. Rules count matches, so
 * iterate over each happening exactly once, to its end. The effect is valid until the next
 * scenario_parse() or scenario_free(). A NULL scenario has no rules.
 */
const struct effect *scenario_next(struct scenario *scenario, const struct happening *happening,
				   unsigned int *cursor);

/* Return the actions with their arguments, a line each, for --help. Static. */
const char *scenario_help(void);

#endif
