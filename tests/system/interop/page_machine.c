// SPDX-License-Identifier: LGPL-2.1-or-later
/* The machine, see page_machine.h. */
#include <stdio.h>
#include <string.h>

#include "page_machine.h"

enum {
	OK, BAD_REQUEST, BAD_LENGTH, BAD_VALUE, UNSUPPORTED, STATE, IN_FAULT, NO_PLAN,
	WRONG_PLAN, NO_BOARD, WRONG_INSERTION, SPENT, IN_DOUBT, COVER, HOPPER, CRC, PLAN,
	INCOMPLETE, HARDWARE
};

enum {
	SET_PARAM = 0x10, LOAD, START, PAUSE, RESUME, REREAD, ABORT, CLEAR_FAULT,
	RELEASE_BOARD, TEST_DEAL, LOCATE
};

#define LOAD_TIME	2000000

/* where the moving card is */
enum { BEFORE_READER, READ, GATE, FALLING };

struct machine m = { .insertions = 1000, .swapped = { -1, -1 }, .late_position = -1 };

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = v;
	p[1] = v >> 8;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v);
	put16(p + 2, v >> 16);
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/* -- events ----------------------------------------------------------- */

/* Queues an event without a card, which the caller may complete. Drops the oldest if necessary. */
static uint8_t *event(int type, int position, uint32_t code, uint32_t arg0)
{
	uint8_t *e;

	if (m.queued == QUEUE) {
		memmove(m.queue[0], m.queue[1], (QUEUE - 1) * 32);
		m.queued--;
	}
	e = m.queue[m.queued++];
	memset(e, 0, 32);
	e[0] = type;
	put32(e + 4, m.number++);
	put32(e + 8, m.clock);
	put32(e + 12, m.insertion);
	e[16] = position;
	memset(e + 17, NONE, 3);
	put32(e + 20, code);
	put32(e + 24, arg0);
	return e;
}

static void card_event(int type, int pocket)
{
	uint8_t *e = event(type, m.position, 0, 0);

	e[17] = m.read;
	e[18] = pocket;
}

/* Queues an event with the card that was read. */
static void reading(int type, uint32_t arg0)
{
	uint8_t *e = event(type, m.position, 0x51, arg0);

	e[1] = (m.capabilities & FACE_SENSOR) && strikes(STRIKE_FACE_UP) >= 0;
	e[17] = m.read;
	e[19] = m.quality;
}

int fetch(uint8_t *buf, int count)
{
	int i;

	if (count > m.queued)
		count = m.queued;
	memcpy(buf, m.queue, count * 32);
	m.queued -= count;
	memmove(m.queue[0], m.queue[count], m.queued * 32);
	for (i = 0; i < count; i++) {
		if (buf[i * 32] == CARD_READ && m.phase == GATE &&
		    get32(buf + i * 32 + 4) == m.gate_event) {
			m.gate_given = 1;
			m.gate_time = m.clock;
		}
	}
	return count;
}

int running(void)
{
	return m.state == DEALING || m.state == PAUSED || m.state == HELD;
}

#define CLEAR	98	/* quality of a good reading */

/*
 * The cards at the reader fall into a pocket; the machine believes it to be told. To every host,
 * a card that was clearly read as another one is that other card.
 */
static void fall(int pocket, int told)
{
	int i, card;

	for (i = 0; m.board && i < m.readers; i++) {
		card = !i && m.quality == CLEAR ? m.read : m.reader[i];
		m.board->cards[pocket][m.reader[i]]++;
		m.board->told[told][card]++;
		m.board->under[told][card] += i;
	}
	m.readers = 0;
}

/* Swaps two cards that the reader mistakes for each other, with a clear picture of each. */
static int mistaken(int card)
{
	if (m.swapped[0] < 0 || (card != m.swapped[0] && card != m.swapped[1]))
		return card;
	return card == m.swapped[0] ? m.swapped[1] : m.swapped[0];
}

/* Stops the deal. Call it after the event. */
static void stop(int type)
{
	/* the sensors no longer see where the card falls */
	if (m.phase == FALLING)
		fall(m.pocket, m.pocket);
	m.state = type >= REPEATED_CARD ? FAULT : HELD;
	m.fault = type;
	m.ending = 0;
	m.phase = BEFORE_READER;
	if (m.state == FAULT) {
		m.counters[1]++;
		deal_ends(0);
	}
}

/* -- acts of people ----------------------------------------------------------- */

static void forget_deal(void)
{
	m.deal_plan = 0;
	m.to_deal = m.done = 0;
	memset(m.in_pocket, 0, sizeof(m.in_pocket));
}

void board_insert(struct board *board, int number)
{
	m.board = board;
	m.insertion = ++m.insertions;
	m.board_number = m.capabilities & BOARD_READER ? number : 0;
	m.spent = m.doubt = 0;
	m.locked = (m.capabilities & BOARD_LOCK) != 0;
	event(BOARD_INSERTED, NONE, 0, m.board_number);
}

/* Forgets a card in a wrong pocket that was noticed late: it will not be reported any more. */
static void late_forget(void)
{
	if (m.board && m.late_position >= 0) {
		m.board->told[m.late_pocket][m.late_card]--;
		m.board->told[m.late_planned][m.late_card]++;
	}
	m.late_position = -1;
}

void board_remove(void)
{
	if (running()) {
		event(BOARD_PULLED, m.position, 0, 0);
		stop(BOARD_PULLED);
	}
	late_forget();
	event(BOARD_REMOVED, NONE, 0, 0);
	m.board = NULL;
	m.insertion = 0;
	m.board_number = 0;
	m.spent = m.doubt = m.locked = 0;
	forget_deal();
	if (m.state == DONE)
		m.state = IDLE;
}

void hopper_load(const uint8_t *cards, int count)
{
	int before = m.cards;

	if (count)
		memcpy(m.hopper, cards, count);
	m.cards = count;
	/* only when that changes (R-4.1-1) */
	if (!before != !count)
		event(count ? HOPPER_LOADED : HOPPER_EMPTY, NONE, 0, 0);
}

void cover_open(void)
{
	m.cover = 1;
	event(COVER_OPEN, NONE, 0, 0);
	if (running()) {
		event(COVER_OPENED, m.position, 0, 0);
		stop(COVER_OPENED);
	}
}

void cover_close(void)
{
	m.cover = 0;
	event(COVER_CLOSED, NONE, 0, 0);
}

void key_press(int key)
{
	event(KEY, NONE, key, 1);
	event(KEY, NONE, key, 0);
	if (key == KEY_STOP && m.state == DEALING && !m.ending)
		m.ending = KEY;
}

void reader_clear(void)
{
	m.readers = 0;
}

void pack_shuffled(uint8_t cards[52], uint32_t (*next)(uint32_t below))
{
	int i, j, card;

	for (i = 0; i < 52; i++)
		cards[i] = i;
	for (i = 51; i > 0; i--) {
		j = next(i + 1);
		card = cards[i];
		cards[i] = cards[j];
		cards[j] = card;
	}
}

void pockets_text(const pockets_t cards, char text[80 * POCKETS])
{
	char *p = text;
	int pocket, card, i;

	for (pocket = 0; pocket < POCKETS; pocket++) {
		p += sprintf(p, "%s", pocket ? " " : "N:");
		for (card = 0; card < 54; card++) {
			if (card && card % 13 == 0 && card < 52)
				*p++ = '.';
			for (i = 0; i < cards[pocket][card] && i < 2; i++)
				*p++ = card < 52 ? "AKQJT98765432"[card % 13] : '*';
		}
	}
	*p = '\0';
}

/* -- the cards ----------------------------------------------------------- */

/* Returns the type of the stop, 0 if there is none. */
static int feed(void)
{
	int both = m.capabilities & DOUBLE_FEED_SENSOR ? strikes(STRIKE_DOUBLE) >= 0 : 0;
	int count = both || strikes(STRIKE_DOUBLE_UNSEEN) >= 0 ? 2 : 1;

	if (count > m.cards)
		count = m.cards;
	memcpy(m.reader, m.hopper, count);
	m.readers = count;
	m.cards -= count;
	memmove(m.hopper, m.hopper + count, m.cards);
	m.counters[2]++;
	if (!m.cards)
		event(HOPPER_EMPTY, NONE, 0, 0);
	return both && count == 2 ? DOUBLE_FEED : 0;
}

static void end_deal(int type, int state)
{
	if (type == EV_PAUSED)
		event(type, m.position, m.ending == KEY ? 2 : 1, 0);
	else
		event(type, m.position, m.deal_plan, 0);
	if (type == ABORTED) {
		m.counters[1]++;
		deal_ends(0);
	}
	m.state = state;
	m.ending = 0;
	m.phase = BEFORE_READER;
}

/* Stops with an event that has only a place. */
static void halt(int type, uint32_t code)
{
	event(type, m.position, code, 0);
	stop(type);
}

static void read_card(void)
{
	int type = 0, other;

	if (!m.readers && !m.cards) {
		halt(DECK_SHORT, 0);
		m.board->ran_short = 1;
		return;
	}
	other = strikes(STRIKE_JAM);
	if (!m.readers && other < 0 && strikes(STRIKE_TIMEOUT) >= 0) {
		halt(FEED_TIMEOUT, 0);
		return;
	}
	if (!m.readers)
		type = feed();
	if (other >= 0 || type) {
		halt(type ? type : JAM, type ? 0 : other);
		m.counters[type ? 7 : 9]++;
		return;
	}
	if (strikes(STRIKE_HARDWARE) >= 0) {
		halt(EV_HARDWARE, 7);
		return;
	}
	if (strikes(STRIKE_UNREADABLE) >= 0) {
		event(CARD_UNREADABLE, m.position, 0, 0)[19] = 3;
		stop(CARD_UNREADABLE);
		m.counters[4]++;
		return;
	}
	m.read = mistaken(m.reader[0]);
	m.quality = m.read == m.reader[0] ? CLEAR : m.swapped_quality;
	other = strikes(STRIKE_MISREAD);
	if (other >= 0)
		m.read = other;
	other = strikes(STRIKE_FAINT);
	if (other >= 0)
		m.quality = other;
	m.counters[3]++;
	if (m.routed) {
		m.gate_event = m.number;
		m.gate_given = 0;
		m.phase = GATE;
		reading(CARD_READ, 0);
		return;
	}
	/* by card, or by position */
	m.pocket = m.plan[6] == 2 ? m.plan[32 + m.position] :
		   m.read < m.plan[12] ? m.plan[32 + m.read] : NONE;
	if (m.first[m.read] >= 0) {
		reading(REPEATED_CARD, m.first[m.read]);
		stop(REPEATED_CARD);
		m.counters[5]++;
	} else if (m.pocket == NONE) {
		reading(NOT_IN_PLAN, 0);
		stop(NOT_IN_PLAN);
		m.counters[6]++;
	} else {
		m.phase = READ;
		reading(CARD_READ, 0);
	}
}

static void done_check(void)
{
	uint8_t *e;

	m.phase = BEFORE_READER;
	if (m.done < m.to_deal || m.ending)
		return;
	e = event(DEAL_DONE, m.done, m.deal_plan, 0);
	memcpy(e + 24, m.in_pocket, 8);
	m.state = DONE;
	m.done_clock = m.clock;
	m.counters[0]++;
	deal_ends(1);
}

static void count_card(void)
{
	m.in_pocket[m.pocket]++;
	m.position++;
	m.done++;
}

static void route(void)
{
	if (m.in_pocket[m.pocket] == CAPACITY) {
		event(EV_HARDWARE, m.position, 1, 0);	/* R-6-8 */
		stop(EV_HARDWARE);
		return;
	}
	m.first[m.read] = m.position;
	card_event(CARD_ROUTED, m.pocket);
	m.phase = FALLING;
}

static void wrong_pocket(int position, int card, int pocket, int planned)
{
	uint8_t *e = event(WRONG_POCKET, position, 0, planned);

	e[17] = card;
	e[18] = pocket;
	stop(WRONG_POCKET);
	m.counters[10]++;
}

static void land(void)
{
	int pocket = strikes(STRIKE_WRONG_POCKET);
	int late = strikes(STRIKE_WRONG_POCKET_LATE);
	int unseen = strikes(STRIKE_WRONG_POCKET_UNSEEN);

	if (!(m.capabilities & EXIT_SENSORS)) {
		/* the sensors do not see where it falls */
		fall(pocket >= 0 ? pocket : late >= 0 ? late : unseen >= 0 ? unseen : m.pocket,
		     m.pocket);
		count_card();
		done_check();
		return;
	}
	if (pocket >= 0 && pocket != m.pocket) {
		fall(pocket, pocket);
		m.in_pocket[pocket]++;
		m.done++;
		m.phase = BEFORE_READER;
		wrong_pocket(m.position, m.read, pocket, m.pocket);
		return;
	}
	if (late >= 0 && late != m.pocket) {
		m.late_position = m.position;
		m.late_card = m.read;
		m.late_pocket = late;
		m.late_planned = m.pocket;
		fall(late, late);
	} else {
		fall(unseen >= 0 ? unseen : m.pocket, m.pocket);
	}
	card_event(CARD_LANDED, m.pocket);
	count_card();
	done_check();
}

void tick(void)
{
	if (m.load_length && m.clock - m.load_time > LOAD_TIME) {
		put32(event(PLAN_LOADED, NONE, m.load_number, INCOMPLETE) + 28, m.load_got);
		m.load_length = 0;
		memset(m.block, 0, sizeof(m.block));
	}
	if (m.state == DONE && m.late_position >= 0 && m.clock - m.done_clock >= m.late_us) {
		wrong_pocket(m.late_position, m.late_card, m.late_pocket, m.late_planned);
		m.late_position = -1;
		return;
	}
	if (m.state != DEALING && m.ending != ABORTED)
		return;
	if (m.phase == FALLING)
		land();
	else if (m.ending == ABORTED)
		end_deal(ABORTED, IDLE);
	else if (m.phase == READ)
		route();
	else if (m.phase == BEFORE_READER && m.ending)
		end_deal(EV_PAUSED, PAUSED);
	else if (m.phase == BEFORE_READER)
		read_card();
	else if (m.gate_given && m.clock - m.gate_time > GATE_DEADLINE) {
		card_event(GATE_LATE, NONE);
		stop(GATE_LATE);
	}
}

void gate(const uint8_t *p, uint32_t length)
{
	int hold = length == 16 && p[1] == NONE;

	if (length != 16 || p[0] != 1 ||
	    (hold ? p[2] != REPEATED_CARD && p[2] != NOT_IN_PLAN : p[2] || p[1] >= POCKETS) ||
	    m.state != DEALING || m.phase != GATE || m.ending == ABORTED ||
	    get32(p + 4) != m.gate_event || p[3] != m.position || get32(p + 8) != m.insertion) {
		m.counters[m.state == HELD && m.fault == GATE_LATE ? 11 : 12]++;
	} else if (hold) {
		reading(p[2], get32(p + 12));
		m.counters[p[2] == REPEATED_CARD ? 5 : 6]++;
		stop(p[2]);
	} else {
		m.pocket = p[1];
		route();
	}
}

/* -- plans ----------------------------------------------------------- */

static uint32_t crc32c(const uint8_t *p, uint32_t length)
{
	uint32_t crc = 0xffffffff;
	int bit;

	while (length--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

/* Returns the offset of the first invalid field, or -1. */
static int plan_fault(const uint8_t *p)
{
	int i, n = p[12], cards = 0, count[256] = { 0 };

	for (i = 0; i < n; i++) {
		count[p[32 + i]]++;
		cards += p[6] != 1 || p[32 + i] != NONE;
	}
	if (get32(p) != 0x50584244)
		return 0;
	if (p[5] != 1)
		return 4;
	if (p[6] != 1 && p[6] != 2)	/* no capture */
		return 6;
	if (p[7])
		return 7;
	if (get32(p + 8) != m.load_number)
		return 8;
	if (!n || n > PLAN_CARDS)
		return 12;
	if (p[13] != cards || !cards)
		return 13;
	if (p[14] || p[15])
		return 14;
	for (i = 0; i < 8; i++)
		if (p[16 + i] != count[i] || count[i] > CAPACITY)
			return 16 + i;
	for (i = 24; i < 32; i++)
		if (p[i])
			return 24;
	for (i = 32; i < 32 + n; i++)
		if (p[i] >= POCKETS && (p[6] == 2 || p[i] != NONE))
			return i;
	return -1;
}

static void plan_loaded(int error, uint32_t detail)
{
	put32(event(PLAN_LOADED, NONE, m.load_number, error) + 28, detail);
	if (error == OK) {
		memcpy(m.plan, m.block, sizeof(m.plan));
		m.plan_number = m.load_number;
	}
	memset(m.block, 0, sizeof(m.block));
	m.load_length = 0;
}

int bulk(const uint8_t *p, uint32_t length)
{
	uint32_t crc;

	if (m.halted)
		return 0;
	if (length > m.load_length - m.load_got || !m.load_length) {
		if (m.load_length)
			plan_loaded(PLAN, 12);
		m.halted = 1;
		return 0;
	}
	memcpy(m.block + m.load_got, p, length);
	m.load_got += length;
	if (m.load_got < m.load_length)
		return 1;
	crc = crc32c(m.block, m.load_length - 4);
	if (m.load_length != 36u + m.block[12])
		plan_loaded(PLAN, 12);
	else if (crc != get32(m.block + m.load_length - 4))
		plan_loaded(CRC, crc);
	else if (plan_fault(m.block) >= 0)
		plan_loaded(PLAN, plan_fault(m.block));
	else
		plan_loaded(OK, 0);
	return 1;
}

static void forget_plan(void)
{
	memset(m.plan, 0, sizeof(m.plan));
	memset(m.block, 0, sizeof(m.block));
	m.plan_number = 0;
	m.load_length = m.load_got = 0;
}

/* -- requests ----------------------------------------------------------- */

/* Returns the length of the answer, or -1. */
static int query(int request, uint32_t value, uint8_t *p)
{
	int i;

	memset(p, 0, 64);
		if (value)		/* this machine has no parameters */
		return -1;
	switch (request) {
	case 1:
		put16(p, 0x0100);
		put32(p + 4, 1 << 24);
		memcpy(p + 16, "interop", 7);
		return 64;
	case 2:
		p[0] = m.state;
		p[1] = m.state == HELD || m.state == FAULT ? m.fault : 0;
		p[2] = (m.insertion != 0) | m.cover << 1 | (m.cards != 0) << 2 | m.spent << 3 |
		       m.doubt << 4 | (m.readers != 0) << 5;
		p[3] = m.to_deal;
		put32(p + 4, m.routed ? m.deal_plan : m.plan_number);
		put32(p + 8, m.insertion);
		put16(p + 12, m.board_number);
		p[14] = m.done;
		put32(p + 16, m.number);
		put32(p + 20, m.clock);
		memcpy(p + 24, m.in_pocket, 8);
		return 32;
	case 3:
		put32(p, m.sequence);
		p[4] = m.request;
		p[5] = m.error;
		put32(p + 8, m.detail);
		return 16;
	case 4:
		for (i = 0; i < 16; i++)
			put32(p + 4 * i, m.counters[i]);
		return 64;
	}
	return -1;
}

#define IN(state)	(1 << (state))

/* Returns the number of the invalid field of a command, the detail of BAD_VALUE, or 0. */
static int bad_value(int request, uint32_t a, uint32_t b, uint32_t c)
{
	int named = a && a != 0xffffffff;

	switch (request) {
	case SET_PARAM:
		return 1;		/* this machine has none */
	case LOAD:
		return b && !named ? 1 : b && (b < 37 || b > 36 + PLAN_CARDS) ? 2 : c ? 3 : 0;
	case START:
		if (m.routed && c >> 8 == 1)	/* capture: UNSUPPORTED */
			return !named ? 1 : !b ? 2 : (c & 255) > PLAN_CARDS ? 3 : 0;
		return !named ? 1 : !b ? 2 : (m.routed ? !c || c > PLAN_CARDS : c) ? 3 : 0;
	case TEST_DEAL:
		return a ? 1 : !b ? 2 : !c || c > PLAN_CARDS ? 3 : 0;
	case LOCATE:
		return a > 60 ? 1 : b ? 2 : c ? 3 : 0;
	}
	return a ? 1 : b ? 2 : c ? 3 : 0;
}

static int start_error(uint32_t plan, uint32_t insertion)
{
	if (m.state == FAULT)
		return m.detail = m.fault, IN_FAULT;
	if (!m.routed && !m.plan_number)
		return NO_PLAN;
	if (!m.routed && m.plan_number != plan)
		return m.detail = m.plan_number, WRONG_PLAN;
	if (!m.insertion)
		return NO_BOARD;
	if (m.insertion != insertion)
		return m.detail = m.insertion, WRONG_INSERTION;
	if (m.spent)
		return m.detail = m.insertion, SPENT;
	if (m.doubt)
		return m.detail = m.insertion, IN_DOUBT;
	if (m.cover)
		return COVER;
	return m.cards ? OK : HOPPER;
}

static int command_error(int request, uint32_t value, uint32_t a, uint32_t b, uint32_t c)
{
	static const uint8_t allowed[] = {
		[SET_PARAM] = IN(IDLE) | IN(FAULT) | IN(DONE), [LOAD] = IN(IDLE) | IN(DONE),
		[START] = IN(IDLE) | IN(FAULT) | IN(DONE), [PAUSE] = IN(DEALING),
		[RESUME] = IN(PAUSED), [REREAD] = IN(HELD),
		[ABORT] = IN(DEALING) | IN(PAUSED) | IN(HELD), [CLEAR_FAULT] = IN(FAULT),
		[RELEASE_BOARD] = IN(IDLE) | IN(FAULT) | IN(DONE), [LOCATE] = 0xff,
	};

	m.detail = 0;
	if (request < SET_PARAM || request > LOCATE)
		return BAD_REQUEST;
	m.detail = bad_value(request, a, b, c);
	if (!m.detail && value)
		m.detail = 4;
	if (m.detail)
		return BAD_VALUE;
	if (request == TEST_DEAL || (request == LOAD && m.routed) ||
	    (request == RELEASE_BOARD && !(m.capabilities & BOARD_LOCK)) ||
	    (request == START && c >> 8))
		return UNSUPPORTED;
	m.detail = m.state;
	if (!(allowed[request] & IN(m.state)) ||
	    (m.ending && request != LOCATE && !(request == ABORT && m.ending != ABORTED)))
		return STATE;
	m.detail = 0;
	if (request == START)
		return start_error(a, b);
	if (request == CLEAR_FAULT && m.readers && m.fault >= REPEATED_CARD && m.fault <= JAM)
		return m.detail = m.fault, IN_FAULT;
	if (m.cover && (request == RESUME || request == REREAD || request == CLEAR_FAULT))
		return COVER;
	if (request == RELEASE_BOARD && !m.insertion)
		return NO_BOARD;
	return OK;
}

static void carry_out(int request, uint32_t a, uint32_t b, uint32_t c)
{
	switch (request) {
	case LOAD:
		forget_plan();
		m.load_number = a;
		m.load_length = b;
		m.load_time = m.clock;
		break;
	case START:
		forget_deal();
		memset(m.first, -1, sizeof(m.first));
		m.deal_plan = a;
		m.to_deal = m.routed ? c : m.plan[13];
		m.position = 0;
		m.spent = 1;
		m.deals++;
		m.state = DEALING;
		m.phase = BEFORE_READER;
		m.locked = (m.capabilities & BOARD_LOCK) != 0;
		m.swapped[0] = m.swapped[1] = m.late_position = -1;
		event(DEAL_STARTED, NONE, a, m.to_deal);
		deal_begins();
		break;
	case PAUSE:
		m.ending = EV_PAUSED;
		break;
	case RESUME:
		m.state = DEALING;
		event(RESUMED, m.position, 0, 0);
		break;
	case REREAD:
		m.state = DEALING;
		break;
	case ABORT:
		m.ending = ABORTED;
		break;
	case CLEAR_FAULT:
		event(FAULT_CLEARED, NONE, m.fault, 0);
		m.state = IDLE;
		break;
	case RELEASE_BOARD:
		m.locked = 0;
		break;
	}
}

/* Returns false to stall. */
static int command(int request, uint32_t value, const uint8_t *p, uint32_t length)
{
	uint32_t sequence = length >= 4 ? get32(p) : 0;

	if (sequence && sequence == m.sequence)
		return m.error == OK;
	m.sequence = sequence;
	m.request = request;
	if (request >= SET_PARAM && request <= LOCATE && (length != 16 || !sequence)) {
		m.detail = length;
		m.error = BAD_LENGTH;
	} else {
		m.error = length == 16 ?
			command_error(request, value, get32(p + 4), get32(p + 8), get32(p + 12)) :
			BAD_REQUEST;
	}
	if (m.error == OK)
		carry_out(request, get32(p + 4), get32(p + 8), get32(p + 12));
	return m.error == OK;
}

/* Ends what moves, and the deal (R-1.2-4). */
static void deconfigure(void)
{
	if (m.phase == FALLING)
		fall(m.pocket, m.pocket);
	if (running())
		deal_ends(0);
	m.state = IDLE;
	m.ending = 0;
	m.phase = BEFORE_READER;
	m.configured = 0;
}

void configure(void)
{
	deconfigure();
	forget_plan();
	forget_deal();
	m.queued = m.sequence = m.request = m.error = m.detail = m.halted = 0;
	late_forget();
	m.number = 1;
	m.configured = 1;
	m.counters[13] += !m.configurations;	/* power-ons (R-2.1-7) */
	event(STATE_LOST, NONE, m.configurations++ ? 2 : 1, 0);
	if (m.insertion)
		event(BOARD_INSERTED, NONE, 0, m.board_number)[1] = m.doubt << 1;
	if (m.cover)
		event(COVER_OPEN, NONE, 0, 0);
	if (m.cards)
		event(HOPPER_LOADED, NONE, 0, 0);
}

void power_off(void)
{
	deconfigure();
	m.configurations = 0;
	if (m.insertion) {
		m.insertion = ++m.insertions;
		m.spent = 0;
		m.doubt = 1;
	}
}

void power_cycle(void)
{
	power_off();
	configure();
}

/* -- USB ----------------------------------------------------------- */

static const uint8_t device[] = {
	18, 1, 0x00, 0x02, 0, 0, 0, 64, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01, 0, 1, 2, 1
};

/* configuration, interface, machine, endpoints; the last endpoint is for host-routed only */
static uint8_t configuration[] = {
	9, 2, 0, 0, 1, 1, 0, 0xc0, 0,
	9, 4, 0, 0, 2, 0xff, 0x44, 0x01, 0,
	24, 0x24, 1, 1, 0x00, 0x01, POCKETS, CAPACITY, HOPPER_CARDS, 0, PLAN_CARDS, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	7, 5, 0x02, 2, 0x00, 0x02, 0,
	7, 5, 0x83, 3, PACKET, 0, 4,
	7, 5, 0x04, 3, 16, 0, 4,
};
uint8_t *const machine_descriptor = configuration + 18;

void describe(void)
{
	put16(configuration + 2, sizeof(configuration) - (m.routed ? 0 : 7));
	configuration[9 + 4] = m.routed ? 3 : 2;
	put32(machine_descriptor + 12, m.capabilities);
	put32(machine_descriptor + 16, m.routed ? GATE_DEADLINE : 0);
}

static int descriptor(uint32_t value, uint8_t *p)
{
	const char *text = (value & 255) == 2 ? (m.routed ? "INTEROP-R" : "INTEROP-S") : "interop";
	int i, length;

	switch (value >> 8) {
	case 1:
		memcpy(p, device, sizeof(device));
		return sizeof(device);
	case 2:
		length = configuration[2];
		memcpy(p, configuration, length);
		return length;
	case 3:
		length = value & 255 ? strlen(text) : 1;
		p[0] = 2 + 2 * length;
		p[1] = 3;
		for (i = 0; i < length; i++)
			put16(p + 2 + 2 * i, text[i]);
		if (!(value & 255))
			put16(p + 2, 0x0409);
		return p[0];
	}
	return -1;
}

int control(const uint8_t *setup, uint8_t *data)
{
	uint32_t value = setup[2] | setup[3] << 8, index = setup[4] | setup[5] << 8;
	uint32_t length = setup[6] | setup[7] << 8;
	int got = -1;

	switch (setup[0] << 8 | setup[1]) {
	case 0x8000:		/* GET_STATUS of the device: self-powered */
		put16(data, 1);
		got = 2;
		break;
	case 0x8006:
		got = descriptor(value, data);
		break;
	case 0x8008:
		data[0] = m.configured;
		got = 1;
		break;
	case 0x0009:
		deconfigure();
		if (value)
			configure();
		return 0;
	case 0x810a:
		data[0] = 0;
		got = m.configured && !index ? 1 : -1;
		break;
	case 0x010b:
		/* the one setting that R-1-1 names; it ends halts (USB 2.0, 9.4.5) */
		if (!m.configured || value || index)
			return -1;
		m.halted = 0;
		return 0;
	case 0x0201:
		if (index == 2)
			m.halted = 0;
		return 0;
	default:
		if (index || !m.configured)
			return -1;
		if (setup[0] == 0x41)
			return command(setup[1], value, data, length) ? 0 : -1;
		if (setup[0] == 0xc1)
			got = query(setup[1], value, data);
	}
	return got > (int)length ? (int)length : got;
}
