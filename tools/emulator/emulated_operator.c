/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "emulated_operator.h"

#define OPERATOR_US	1500000	/* time for one action at speed 1 */

void operator_init(struct operator *op, struct machine *machine, uint64_t seed)
{
	memset(op, 0, sizeof(*op));
	op->machine = machine;
	/* a random sequence different from the machine's */
	op->random = seed ^ 0x6f70657261746f72ULL;
	op->at = MACHINE_NEVER;
}

void operator_fill(struct operator *op, uint64_t cards, unsigned int packs)
{
	struct pile *hopper = machine_hopper(op->machine);
	unsigned int pack, room = machine_view(op->machine).desc->hopper;

	for (pack = 0; pack < packs; pack++) {
		struct pile pile = { .count = 0 };
		uint8_t n;

		for (n = 0; n < DEALBOX_MAX_CARDS; n++)
			if (cards & 1ULL << n)
				pile_put_bottom(&pile, (struct card){ .number = n, .pack = pack });
		if (hopper->count + pile.count > room)
			break;
		pile_shuffle(&pile, &op->random);
		pile_move_all(hopper, &pile);
	}
	machine_hopper_changed(op->machine);
}

void operator_fill_order(struct operator *op, const uint8_t *cards, unsigned int count)
{
	struct pile *hopper = machine_hopper(op->machine);
	uint8_t seen[DEALBOX_MAX_CARDS] = { 0 };
	unsigned int i;

	/* The nth copy of a card belongs to pack n. */
	for (i = 0; i < count; i++)
		pile_put_bottom(hopper, (struct card){ .number = cards[i],
						       .pack = seen[cards[i]]++ });
	machine_hopper_changed(op->machine);
}

/* Move the cards of a pack from one pile to another, and discard strays. */
static void move_pack(struct pile *to, struct pile *from, uint8_t pack)
{
	unsigned int i = 0;

	while (i < from->count) {
		if (from->card[i].stray)
			pile_take(from, i);
		else if (from->card[i].pack == pack)
			pile_put_bottom(to, pile_take(from, i));
		else
			i++;
	}
}

static bool holds_pack(const struct pile *pile, uint8_t pack)
{
	unsigned int i;

	for (i = 0; i < pile->count; i++)
		if (!pile->card[i].stray && pile->card[i].pack == pack)
			return true;
	return false;
}

void operator_collect(struct operator *op)
{
	struct pile *hopper = machine_hopper(op->machine);
	struct pile *table = machine_table(op->machine);
	struct pile pile;

	while (table->count) {
		uint8_t pack = table->card[0].pack;
		bool rest;

		pile.count = 0;
		move_pack(&pile, table, pack);
		if (!pile.count)
			continue;
		rest = holds_pack(hopper, pack);
		move_pack(&pile, hopper, pack);
		pile_shuffle(&pile, &op->random);
		while (pile.count) {
			struct card card = pile_take(&pile, 0);

			card.face_up = false;
			if (rest)
				pile_put_top(hopper, card);
			else
				pile_put_bottom(hopper, card);
		}
	}
	machine_hopper_changed(op->machine);
}

void operator_empty(struct operator *op)
{
	struct machine_view view = machine_view(op->machine);
	bool inside = view.jammed || view.fault == DEALBOX_EV_DOUBLE_FEED;

	if (inside)
		machine_cover(op->machine, true);
	machine_clear_path(op->machine);
	if (inside)
		machine_cover(op->machine, false);
	operator_collect(op);
}

int operator_insert(struct operator *op)
{
	uint16_t number = op->board_count ? op->boards[op->next_board % op->board_count] : 0;

	return machine_insert(op->machine, number);
}

static void press_start(struct operator *op)
{
	machine_key(op->machine, DEALBOX_KEY_START, true);
	machine_key(op->machine, DEALBOX_KEY_START, false);
}

/* Return cards on the table that belong to the pack in the board to the hopper. */
static bool find_missing(struct operator *op)
{
	const struct machine_board *board = machine_view(op->machine).board;
	struct pile *hopper = machine_hopper(op->machine);
	unsigned int i, before = hopper->count;

	for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
		if (board->pocket[i].count)
			move_pack(hopper, machine_table(op->machine),
				  board->pocket[i].card[0].pack);
	machine_hopper_changed(op->machine);
	return hopper->count > before;
}

/* Help a machine that is HELD. Returns false if a person can do nothing. */
static bool help(struct operator *op, const struct machine_view *view)
{
	struct pile *path = machine_path(op->machine);

	switch (view->fault) {
	case DEALBOX_EV_NOT_IN_PLAN:
		/* A card that was only misread stays where it is. */
		if (path->count && (path->card[0].stray || path->card[0].number >= 52)) {
			path->card[0].stray = true;
			machine_clear_path(op->machine);
		}
		return true;
	case DEALBOX_EV_DECK_SHORT:
		return find_missing(op);
	default:
		machine_clean_card(op->machine);
		return true;
	}
}

static bool board_is_used(const struct machine_view *view)
{
	return view->board->present && !view->board->locked &&
		(view->board->spent || view->board->captured || view->board->in_doubt);
}

enum task { TASK_NONE, TASK_INSERT, TASK_SWAP, TASK_HELP, TASK_FAULT, TASK_CLOSE };

static enum task next_task(const struct operator *op, const struct machine_view *view)
{
	if (op->absent || !view->powered)
		return TASK_NONE;
	/* Without delays, wait until the host has fetched all events. */
	if (view->speed <= 0 && view->configured && view->queued)
		return TASK_NONE;
	switch (view->state) {
	case DEALBOX_STATE_HELD:
		return view->stops != op->seen_stops ? TASK_HELP : TASK_NONE;
	case DEALBOX_STATE_FAULT:
		/* The host must release a locked board. */
		if (view->board->present && view->board->locked)
			return TASK_NONE;
		return view->stops != op->seen_stops ? TASK_FAULT : TASK_NONE;
	case DEALBOX_STATE_IDLE:
	case DEALBOX_STATE_DONE:
		if (view->cover_open)
			return TASK_CLOSE;
		if (!view->board->present)
			return TASK_INSERT;
		return board_is_used(view) ? TASK_SWAP : TASK_NONE;
	default:
		return TASK_NONE;
	}
}

static void swap(struct operator *op, const struct machine_view *view)
{
	bool done = view->state == DEALBOX_STATE_DONE;

	if (machine_remove(op->machine, false))
		return;
	operator_empty(op);
	op->next_board += done;
	operator_insert(op);
}

static void do_task(struct operator *op, enum task task, const struct machine_view *view)
{
	switch (task) {
	case TASK_CLOSE:
		machine_cover(op->machine, false);
		break;
	case TASK_INSERT:
		operator_empty(op);
		operator_insert(op);
		break;
	case TASK_SWAP:
		swap(op, view);
		break;
	case TASK_HELP:
		op->seen_stops = view->stops;
		if (help(op, view))
			press_start(op);
		break;
	case TASK_FAULT:
		op->seen_stops = view->stops;
		machine_repair(op->machine);
		machine_remove(op->machine, false);
		operator_empty(op);
		machine_cover(op->machine, false);
		operator_insert(op);
		press_start(op);
		break;
	default:
		break;
	}
}

bool operator_run(struct operator *op, uint64_t now)
{
	struct machine_view view = machine_view(op->machine);
	enum task task = next_task(op, &view);

	if (task == TASK_NONE) {
		op->at = MACHINE_NEVER;
		return false;
	}
	if (op->at == MACHINE_NEVER)
		op->at = now + (view.speed > 0 ? OPERATOR_US / view.speed : 0);
	if (op->at > now)
		return false;
	op->at = MACHINE_NEVER;
	do_task(op, task, &view);
	return true;
}

uint64_t operator_next(const struct operator *op)
{
	return op->at;
}
