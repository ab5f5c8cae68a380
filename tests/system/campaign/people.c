// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The people at the machine. They follow the instructions, and see the machine, the board and the
 * cards. Their mistakes are faults of the campaign.
 */
#include <stdio.h>
#include <string.h>

#include "campaign.h"

/* looks after which they act without an instruction; longer than the program waits */
#define PATIENCE	40

struct people people;

int board_index(const struct board *board)
{
	return (int)(board - people.boards);
}

void people_begin(void)
{
	memset(&people, 0, sizeof(people));
}

void people_told(const char *text)
{
	const char *p;
	int wanted;

	snprintf(people.text, sizeof(people.text), "%s", text);
	people.helps = people.idle = 0;
	/* The last board named is the one to put in. */
	for (p = strstr(text, "board "); p; p = strstr(p + 1, "board "))
		if (sscanf(p, "board %d", &wanted) == 1)
			people.wanted = wanted;
}

static bool told(const char *words)
{
	return strstr(people.text, words);
}

/* -- cards ----------------------------------------------------------- */

static void set_aside(int card)
{
	if (people.set_aside_count < (int)sizeof(people.set_aside))
		people.set_aside[people.set_aside_count++] = (uint8_t)card;
}

static void reader_take_out(void)
{
	int i;

	for (i = 0; i < m.readers; i++)
		set_aside(m.reader[i]);
	reader_clear();
}

static void shuffle(uint8_t *cards, int count)
{
	int i, j, card;

	for (i = count - 1; i > 0; i--) {
		j = (int)chance((uint32_t)i + 1);
		card = cards[i];
		cards[i] = cards[j];
		cards[j] = (uint8_t)card;
	}
}

/* Take a pack, with its faults. */
static int pack_take(uint8_t cards[HOPPER_CARDS])
{
	int count = 52;

	pack_shuffled(cards, chance);
	if (fault_due(SITE_HOPPER, F_JOKER))
		cards[count++] = (uint8_t)(52 + chance(2));
	if (fault_due(SITE_HOPPER, F_SURPLUS))
		cards[count++] = (uint8_t)chance(52);
	if (fault_due(SITE_HOPPER, F_TWICE))
		cards[0] = cards[1];
	if (fault_due(SITE_HOPPER, F_SHORT))
		set_aside(cards[--count]);
	shuffle(cards, count);
	return count;
}

static void hopper_fill(void)
{
	uint8_t cards[HOPPER_CARDS];
	int count = pack_take(cards);

	reader_clear();
	people.set_aside_count =
		people.set_aside_count && people.set_aside[0] < 52 && count < 52 ? 1 : 0;
	hopper_load(cards, count);
}

static void hopper_reload(void)
{
	hopper_fill();
	*people.text = '\0';
}

static void hopper_add(int card)
{
	uint8_t cards[HOPPER_CARDS];

	if (m.cards >= HOPPER_CARDS)
		return;
	memcpy(cards, m.hopper, (size_t)m.cards);
	cards[m.cards] = (uint8_t)card;
	hopper_load(cards, m.cards + 1);
}

/* -- boards ----------------------------------------------------------- */

/* The people say that the board is empty, which no host can check. */
static void believe_empty(struct board *board)
{
	/* The claims so far refer to its old contents. */
	if (people.exact[board_index(board)])
		claims_judge(board);
	people.exact[board_index(board)] = false;
	memset(board->told, 0, sizeof(board->told));
	memset(board->under, 0, sizeof(board->under));
	board->ran_short = 0;
}

/* Return true if the board looks empty: people overlook a single card. */
static bool board_is_empty(const struct board *board)
{
	static const pockets_t none;

	return !memcmp(board->told, none, sizeof(none));
}

static void board_empty(struct board *board)
{
	believe_empty(board);
	if (!fault_due(SITE_EMPTY, F_NOT_EMPTIED))
		memset(board->cards, 0, sizeof(board->cards));
}

static void board_put_in(struct board *board)
{
	struct fault *fault;

	if (fault_due(SITE_INSERT, F_REUSED))
		m.insertions -= 1 + (m.insertions > 1001 && chance(2));
	fault = fault_due(SITE_INSERT, F_LABEL);
	people.deeds++;
	board_insert(board, fault ? (int)(1 + fault->arg % 4) : board->number);
	note("people: board %d is put in, insertion %u", board->number, m.insertion);
	*people.text = '\0';	/* the instruction has been followed */
}

static void board_put_in_new(void)
{
	struct board *board;

	if (people.boards_used == EMPTY_BOARDS)
		return;
	board = &people.boards[people.boards_used++];
	board->number = people.wanted ? people.wanted : 1;
	hopper_fill();
	board_put_in(board);
}

/* -- acts ----------------------------------------------------------- */

/* Press Enter or the start key. */
static int go(void)
{
	people.deeds++;
	if (m.capabilities & KEYS && chance(2)) {
		key_press(KEY_START);
		return 0;
	}
	return 'e';
}

/* Replace an unread card from a spare pack */
static int missing_card(void)
{
	int card;

	for (card = 0; card < 52 && m.first[card] >= 0; card++)
		;
	return card;
}

static void cards_find(void)
{
	uint8_t cards[52];
	int card, i;

	if (people.set_aside_count && chance(2)) {
		card = people.set_aside[--people.set_aside_count];
		note("people: a card that lay beside the machine is put in");
		hopper_add(card);
	} else if (fault_due(SITE_HELP, F_SPARE)) {
		hopper_add((int)chance(52));
	} else if (chance(4)) {
		card = missing_card();
		note("people: a spare card is put in");
		if (card < 52)
			hopper_add(card);
	} else {
		note("people: another pack is put in");
		pack_shuffled(cards, chance);
		for (i = 0; i < 52; i++)
			hopper_add(cards[i]);
	}
}

static int help(void)
{
	if (people.helps++ > 6) {
		note("people: they give up");
		return 'i';
	}
	if (fault_due(SITE_HELP, F_UNHELPED))
		return go();
	switch (m.fault) {
	case CARD_UNREADABLE:
		if (chance(4))
			break;
		/*
		 * Return it to the others or set it aside; this reveals cards that stick together.
		 */
		if (chance(2)) {
			while (m.readers)
				hopper_add(m.reader[--m.readers]);
		} else {
			reader_take_out();
		}
		break;
	case NOT_IN_PLAN:
		reader_take_out();
		break;
	case DECK_SHORT:
		if (told("void") || told("empty it") || !chance(4)) {
			note("people: the board is taken out of a deal that is held");
			board_remove();
			people.deeds++;
			return 0;
		}
		cards_find();
		break;
	}
	note("people: help at position %d", m.position);
	return go();
}

/* Take the board out; again: it will be emptied and put in again */
static void board_change(bool again)
{
	struct board *board = m.board;

	if (m.locked)
		m.locked = 0;	/* they have the key */
	board_remove();
	people.deeds++;
	note("people: board %d is taken out", board->number);
	if (people.exact[board_index(board)])
		again = again && told("empty it");
	if (!again)
		return;
	people.empty_again = true;
}

int people_act(void)
{
	bool again;

	people.acts++;
	if (running()) {
		if (m.state == HELD)
			return help();
		return m.state == PAUSED ? go() : 0;
	}
	if (m.cover) {
		cover_close();
		return 0;
	}
	if (told("stuck cards") || told("see to it")) {
		again = told("press");
		*people.text = '\0';
		reader_take_out();
		people.deeds++;
		return again ? go() : 0;
	}
	if (!m.board) {
		if (!told("put ") && people.idle++ < PATIENCE)
			return 0;
		again = people.empty_again && !people.exact[people.boards_used - 1];
		people.empty_again = false;
		if (again) {
			hopper_fill();
			board_empty(&people.boards[people.boards_used - 1]);
			board_put_in(&people.boards[people.boards_used - 1]);
		} else {
			board_put_in_new();
		}
		return 0;
	}
	/* They may or may not look into it. */
	if (told("is empty") && (board_is_empty(m.board) || fault_due(SITE_EMPTY, F_VOUCHED))) {
		believe_empty(m.board);
		*people.text = '\0';
		return go();
	}
	if (told("press start now")) {
		*people.text = '\0';
		return go();
	}
	if (told("empty it"))
		board_change(true);
	else if (told("put in an empty board"))
		board_change(false);
	else if (told("hopper") || told("pack of cards"))
		hopper_reload();
	else if (people.idle++ > PATIENCE)
		board_change(true);
	return 0;
}

int people_moment(enum fault_id id)
{
	struct board *other;
	uint8_t cards[52];
	int i;

	switch (id) {
	case F_STOP_KEY:
		key_press(KEY_STOP);
		break;
	case F_START_KEY:
		key_press(KEY_START);
		break;
	case F_ENTER:
		people.deeds++;
		return 'e';
	case F_COVER:
		cover_open();
		break;
	case F_PULLED:
	case F_PUSHED_BACK:
		if (!m.board)
			break;
		other = m.board;
		board_remove();
		if (id == F_PUSHED_BACK)
			board_put_in(other);
		else
			people.empty_again = true;
		break;
	case F_EXCHANGED:
		if (!m.board || people.boards_used == EMPTY_BOARDS)
			break;
		other = &people.boards[people.boards_used++];
		other->number = m.board->number;
		memcpy(other->told, m.board->told, sizeof(other->told));
		memcpy(other->under, m.board->under, sizeof(other->under));
		other->ran_short = m.board->ran_short;
		m.board = other;
		break;
	case F_PACK_ADDED:
		pack_shuffled(cards, chance);
		for (i = 0; i < 52; i++)
			hopper_add(cards[i]);
		break;
	default:
		break;
	}
	people.deeds++;
	return 0;
}

void people_alone(void)
{
	struct board *board = m.board;

	if (!board || !fault_due(SITE_BETWEEN, F_MEANWHILE))
		return;
	if (people.exact[board_index(board)])
		believe_empty(board);
	board_remove();
	board_put_in(board);
}
