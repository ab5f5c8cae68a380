/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules of lib/pool/schema.sql once more, in memory: for the explorer of leases, and as the
 * referee of random walks through the database. There is one job of one board.
 */
#ifndef EVENT_MODEL_H
#define EVENT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_PCS	3
#define MODEL_COPIES	6
#define MODEL_RECORDS	16

enum model_answer {
	MODEL_OK,
	MODEL_LOST,		/* the PC was declared lost */
	MODEL_RESTORED,		/* DB003 */
	MODEL_TWICE,		/* DB004 */
	MODEL_BUSY,		/* DB006 */
	MODEL_NONE,		/* DB007 */
};

enum model_standing { MODEL_COUNTS, MODEL_SURPLUS, MODEL_WITHDRAWN, MODEL_NO_BOARD };

/* Without padding: the explorer compares bytes. Times are in ticks, numbers of PCs are from 0. */
struct model {
	uint8_t copies, pcs, records;
	uint8_t now, lease, margin;
	struct model_pc {
		uint8_t lost, asked, nonce, until;
	} pc[MODEL_PCS];
	struct model_copy {
		int8_t pc;	/* -1 = nobody holds it */
		uint8_t ask;
		int8_t record;	/* -1 = none counts */
	} copy[MODEL_COPIES];
	struct model_record {
		uint8_t pc, insertion, copy, exact, standing;
	} record[MODEL_RECORDS];
};

void model_begin(struct model *m, unsigned int pcs, unsigned int copies, unsigned int lease,
		 unsigned int margin);

/* got: bit n = copy n was got by this request */
enum model_answer model_take(struct model *m, unsigned int pc, unsigned int ask, unsigned int nonce,
			     unsigned int want, unsigned int *got);
enum model_answer model_give_back(struct model *m, unsigned int pc, unsigned int ask,
				  unsigned int nonce, unsigned int copies);
enum model_answer model_back(struct model *m, unsigned int pc, unsigned int ask,
			     unsigned int nonce);
/* Each PC has one machine. */
enum model_answer model_report(struct model *m, unsigned int pc, unsigned int insertion,
			       unsigned int copy, bool exact, enum model_standing *standing);
enum model_answer model_withdraw(struct model *m, unsigned int pc, unsigned int insertion,
				 bool *holds);
enum model_answer model_lose(struct model *m, unsigned int pc, unsigned int *opened);
enum model_answer model_void(struct model *m, unsigned int copy);
enum model_answer model_dismiss(struct model *m, unsigned int record);

/* Returns the number of records of a copy with that standing. */
unsigned int model_count(const struct model *m, unsigned int copy, enum model_standing standing);

#endif
