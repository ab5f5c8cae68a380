// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A dealing machine written from docs/protocol.md alone. It shares no line and
 * no constant with dealbox: that is its use. It plugs itself into vhci_hcd.
 *
 * usage: machine stored|routed [DEAL]	deals; in deal DEAL it misreads a card
 *        machine stored|routed -r PAGE	replays the worked deal of the page
 *
 * For each deal it writes what really lies in the pockets, or "void".
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { IDLE, DEALING, PAUSED, HELD, FAULT, DONE };

enum {
	OK, BAD_REQUEST, BAD_LENGTH, BAD_VALUE, UNSUPPORTED, STATE, IN_FAULT, NO_PLAN,
	WRONG_PLAN, NO_BOARD, WRONG_INSERTION, SPENT, IN_DOUBT, COVER, HOPPER, CRC, PLAN,
	INCOMPLETE, HARDWARE
};

enum {
	STATE_LOST = 0x01, HOPPER_LOADED, HOPPER_EMPTY, BOARD_INSERTED, BOARD_REMOVED,
	PLAN_LOADED = 0x10, DEAL_STARTED, CARD_READ, CARD_ROUTED, CARD_LANDED, DEAL_DONE,
	EV_PAUSED, RESUMED, ABORTED, FAULT_CLEARED,
	NOT_IN_PLAN = 0x21, GATE_LATE, DECK_SHORT = 0x24,
	REPEATED_CARD = 0x28, EV_HARDWARE = 0x2e
};

enum {
	SET_PARAM = 0x10, LOAD, START, PAUSE, RESUME, REREAD, ABORT, CLEAR_FAULT,
	RELEASE_BOARD, TEST_DEAL, LOCATE
};

#define POCKETS		4
#define CAPACITY	20
#define PLAN_CARDS	54
#define HOPPER_CARDS	60
#define GATE_DEADLINE	1000000		/* us */
#define LOAD_TIME	2000000
#define PACKET		64
#define QUEUE		64
#define NONE		255

/* where the card that moves is */
enum { BEFORE_READER, READ, GATE, FALLING };

static struct {
	int routed, configured, configurations;
	uint32_t clock;
	/* board and hopper */
	uint32_t insertion, insertions;
	int spent, board_number;
	uint8_t hopper[HOPPER_CARDS], pockets[POCKETS][64];
	int cards;			/* in the hopper */
	int at_reader;			/* the real card, or -1 */
	/* the plan, or what has come of it */
	uint8_t plan[36 + PLAN_CARDS], block[36 + PLAN_CARDS];
	uint32_t plan_number, load_number, load_time;
	uint32_t load_length, load_got;	/* length 0: no load */
	int halted;
	/* the deal that runs or ran last */
	int state, fault, ending, phase;
	uint32_t deal_plan;
	int to_deal, position, done, read, pocket;
	uint8_t in_pocket[8];
	int first[54];			/* position of the first reading, or -1 */
	uint32_t gate_event, gate_time;
	int gate_given;
	int deals, misread;		/* counted from 1; 0: none */
	/* events */
	uint8_t queue[QUEUE][32];
	uint32_t number;		/* of the next event */
	int queued;
	/* the last command */
	uint32_t sequence, detail;
	uint8_t request, error;
	uint32_t counters[16];
} m = { .insertions = 1000, .at_reader = -1 };

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

/* -- events ----------------------------------------------------------------- */

/* An event without card; the caller may fill in more. The oldest is dropped */
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

/* An event that carries the reading */
static void reading(int type, uint32_t arg0)
{
	uint8_t *e = event(type, m.position, 0x51, arg0);

	e[17] = m.read;
	e[19] = 98;
}

/* Moves up to count events to buf; gives how many */
static int fetch(uint8_t *buf, int count)
{
	int i;

	if (count > m.queued)
		count = m.queued;
	memcpy(buf, m.queue, count * 32);
	m.queued -= count;
	memmove(m.queue[0], m.queue[count], m.queued * 32);
	for (i = 0; i < count; i++) {
		if (buf[i * 32] == CARD_READ && m.phase == GATE && get32(buf + i * 32 + 4) == m.gate_event) {
			m.gate_given = 1;
			m.gate_time = m.clock;
		}
	}
	return count;
}

static int running(void)
{
	return m.state == DEALING || m.state == PAUSED || m.state == HELD;
}

/* After the event of a stop */
static void stop(int type)
{
	m.state = type >= REPEATED_CARD ? FAULT : HELD;
	m.fault = type;
	m.ending = 0;
	m.phase = BEFORE_READER;
	if (m.state == FAULT) {
		m.counters[1]++;
		puts("void");
		fflush(stdout);
	}
}

/* -- what people do ----------------------------------------------------------- */

static void forget_deal(void)
{
	m.deal_plan = 0;
	m.to_deal = m.done = 0;
	memset(m.in_pocket, 0, sizeof(m.in_pocket));
}

static void board_insert(int number)
{
	m.insertion = ++m.insertions;
	m.board_number = number;
	m.spent = 0;
	memset(m.pockets, 0, sizeof(m.pockets));
	event(BOARD_INSERTED, NONE, 0, number);
}

/* Only when no deal runs */
static void board_remove(void)
{
	event(BOARD_REMOVED, NONE, 0, 0);
	m.insertion = 0;
	m.board_number = 0;
	m.spent = 0;
	forget_deal();
	if (m.state == DONE)
		m.state = IDLE;
}

static void load_hopper(void)
{
	int i, j, card;

	for (i = 0; i < 52; i++)
		m.hopper[i] = i;
	for (i = 51; i > 0; i--) {
		j = rand() % (i + 1);
		card = m.hopper[i];
		m.hopper[i] = m.hopper[j];
		m.hopper[j] = card;
	}
	m.cards = 52;
	event(HOPPER_LOADED, NONE, 0, 0);
}

/* Changes the board when it has been dealt into, and loads the hopper; called now and then */
static void operator(void)
{
	static int deals_done;

	if (!m.configured || running())
		return;
	if (m.spent) {
		deals_done += m.state == DONE;
		m.at_reader = -1;
		board_remove();
	} else if (!m.insertion) {
		load_hopper();
		board_insert(deals_done + 1);
	}
}

/* The real cards, as in a deal tag: spades first, ace first */
static void account(void)
{
	int pocket, card;

	for (pocket = 0; pocket < 4; pocket++) {
		printf("%s", pocket ? " " : "N:");
		for (card = 0; card < 52; card++) {
			if (card && card % 13 == 0)
				putchar('.');
			if (m.pockets[pocket][card])
				putchar("AKQJT98765432"[card % 13]);
		}
	}
	putchar('\n');
	fflush(stdout);
}

/* -- the cards ------------------------------------------------------------------ */

static void feed(void)
{
	m.at_reader = m.hopper[0];
	memmove(m.hopper, m.hopper + 1, --m.cards);
	m.counters[2]++;
	if (!m.cards)
		event(HOPPER_EMPTY, NONE, 0, 0);
}

static void end_deal(int type, int state)
{
	if (type == EV_PAUSED)
		event(type, m.position, 1, 0);
	else
		event(type, m.position, m.deal_plan, 0);
	m.counters[1] += type == ABORTED;
	m.state = state;
	m.ending = 0;
	m.phase = BEFORE_READER;
}

static void read_card(void)
{
	if (m.at_reader < 0 && !m.cards) {
		event(DECK_SHORT, m.position, 0, 0);
		stop(DECK_SHORT);
		return;
	}
	if (m.at_reader < 0)
		feed();
	m.read = m.at_reader;
	if (m.deals == m.misread && m.position == 20)
		m.read = m.hopper[10];
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

static void route(void)
{
	if (m.in_pocket[m.pocket] == CAPACITY) {
		event(EV_HARDWARE, NONE, 1, 0);
		stop(EV_HARDWARE);
		return;
	}
	m.first[m.read] = m.position;
	card_event(CARD_ROUTED, m.pocket);
	m.phase = FALLING;
}

static void land(void)
{
	uint8_t *e;

	m.pockets[m.pocket][m.at_reader] = 1;
	m.at_reader = -1;
	card_event(CARD_LANDED, m.pocket);
	m.in_pocket[m.pocket]++;
	m.position++;
	m.done++;
	m.phase = BEFORE_READER;
	if (m.done < m.to_deal || m.ending)
		return;
	e = event(DEAL_DONE, m.done, m.deal_plan, 0);
	memcpy(e + 24, m.in_pocket, 8);
	m.state = DONE;
	m.counters[0]++;
	account();
}

/* One step of the mechanics */
static void tick(void)
{
	if (m.load_length && m.clock - m.load_time > LOAD_TIME) {
		put32(event(PLAN_LOADED, NONE, m.load_number, INCOMPLETE) + 28, m.load_got);
		m.load_length = 0;
		memset(m.block, 0, sizeof(m.block));
	}
	if (m.state != DEALING && m.ending != ABORTED)
		return;
	if (m.phase == FALLING)
		land();
	else if (m.ending == ABORTED)
		end_deal(ABORTED, IDLE);
	else if (m.phase == READ)
		route();
	else if (m.phase == BEFORE_READER && m.ending == EV_PAUSED)
		end_deal(EV_PAUSED, PAUSED);
	else if (m.phase == BEFORE_READER)
		read_card();
	else if (m.gate_given && m.clock - m.gate_time > GATE_DEADLINE) {
		card_event(GATE_LATE, NONE);
		stop(GATE_LATE);
	}
}

/* Host-routed: the host's answer to a card */
static void gate(const uint8_t *p, uint32_t length)
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

/* -- plans -------------------------------------------------------------------- */

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

/* Offset of the first field at fault, or -1 */
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

/* Bulk data; false: stall */
static int bulk(const uint8_t *p, uint32_t length)
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

/* -- requests -------------------------------------------------------------------- */

/* The answer, or -1 */
static int query(int request, uint32_t value, uint8_t *p)
{
	int i;

	memset(p, 0, 64);
	if (value)		/* no parameters either */
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
		p[2] = (m.insertion != 0) | (m.cards != 0) << 2 | m.spent << 3 | (m.at_reader >= 0) << 5;
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

/* Which field of a command is at fault, as the detail of BAD_VALUE; else 0 */
static int bad_value(int request, uint32_t a, uint32_t b, uint32_t c)
{
	int named = a && a != 0xffffffff;

	switch (request) {
	case SET_PARAM:
		return 1;		/* there are none */
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
	return m.cards || m.at_reader >= 0 ? OK : HOPPER;
}

static int command_error(int request, uint32_t value, uint32_t a, uint32_t b, uint32_t c)
{
	static const uint8_t allowed[] = {
		[SET_PARAM] = IN(IDLE) | IN(FAULT) | IN(DONE), [LOAD] = IN(IDLE) | IN(DONE),
		[START] = IN(IDLE) | IN(FAULT) | IN(DONE), [PAUSE] = IN(DEALING),
		[RESUME] = IN(PAUSED), [REREAD] = IN(HELD),
		[ABORT] = IN(DEALING) | IN(PAUSED) | IN(HELD), [CLEAR_FAULT] = IN(FAULT),
		[LOCATE] = 0xff,
	};

	m.detail = 0;
	if (request < SET_PARAM || request > LOCATE)
		return BAD_REQUEST;
	m.detail = bad_value(request, a, b, c);
	if (!m.detail && value)
		m.detail = 4;
	if (m.detail)
		return BAD_VALUE;
	if (request == TEST_DEAL || request == RELEASE_BOARD || (request == LOAD && m.routed) ||
	    (request == START && c >> 8))
		return UNSUPPORTED;
	m.detail = m.state;
	if (!(allowed[request] & IN(m.state)) ||
	    (m.ending && request != LOCATE && !(request == ABORT && m.ending == EV_PAUSED)))
		return STATE;
	m.detail = 0;
	if (request == START)
		return start_error(a, b);
	if (request == CLEAR_FAULT && m.fault == REPEATED_CARD && m.at_reader >= 0)
		return m.detail = m.fault, IN_FAULT;
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
		event(DEAL_STARTED, NONE, a, m.to_deal);
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
	}
}

/* Gives false to stall */
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

static void configure(void)
{
	if (m.state == DEALING && m.phase == FALLING)
		m.at_reader = -1;
	if (running())
		puts("void");
	forget_plan();
	forget_deal();
	m.queued = m.sequence = m.request = m.error = m.detail = m.halted = 0;
	m.state = IDLE;
	m.ending = 0;
	m.phase = BEFORE_READER;
	m.number = 1;
	m.configured = 1;
	event(STATE_LOST, NONE, m.configurations++ ? 2 : 1, 0);
	if (m.insertion)
		event(BOARD_INSERTED, NONE, 0, m.board_number);
	if (m.cards)
		event(HOPPER_LOADED, NONE, 0, 0);
}

/* -- USB -------------------------------------------------------------------------- */

static const uint8_t device[] = {
	18, 1, 0x00, 0x02, 0, 0, 0, 64, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01, 0, 1, 2, 1
};

/* configuration, interface, machine, endpoints: the last is host-routed only */
static uint8_t configuration[] = {
	9, 2, 0, 0, 1, 1, 0, 0xc0, 0,
	9, 4, 0, 0, 2, 0xff, 0x44, 0x01, 0,
	24, 0x24, 1, 1, 0x00, 0x01, POCKETS, CAPACITY, HOPPER_CARDS, 0, PLAN_CARDS, 0,
	0x0d, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	7, 5, 0x02, 2, 0x00, 0x02, 0,
	7, 5, 0x83, 3, PACKET, 0, 4,
	7, 5, 0x04, 3, 16, 0, 4,
};
static uint8_t *const machine_descriptor = configuration + 18;

static void describe(void)
{
	put16(configuration + 2, sizeof(configuration) - (m.routed ? 0 : 7));
	if (m.routed) {
		configuration[9 + 4] = 3;
		machine_descriptor[12] = 0x0e;
		put32(machine_descriptor + 16, GATE_DEADLINE);
	}
}

static int descriptor(uint32_t value, uint8_t *p)
{
	const char *text = (value & 255) == 1 ? (m.routed ? "INTEROP-R" : "INTEROP-S") : "interop";
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

/*
 * A control transfer: data is what came, or takes the answer (256 bytes).
 * Gives the length of the answer, or -1: stall.
 */
static int control(const uint8_t *setup, uint8_t *data)
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
	case 0x0009:
		m.configured = 0;
		if (value)
			configure();
		return 0;
	case 0x010b:
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

/* -- USB/IP: all numbers big-endian, header of 48 bytes ------------------------------- */

#define MAX_URBS	16

static uint32_t waiting[MAX_URBS];	/* of the interrupt endpoint, oldest first */
static int waiting_count;

static uint32_t big(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static void put_big(uint8_t *p, uint32_t v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

static void transfer(int fd, void *buf, size_t length, int out)
{
	char *p = buf;
	ssize_t n;

	for (; length; length -= n, p += n) {
		n = out ? write(fd, p, length) : read(fd, p, length);
		if (n <= 0)
			exit(n < 0);	/* unplugged */
	}
}

static void answer(int fd, int type, uint32_t sequence, int status, const uint8_t *data, int length,
		   int actual)
{
	uint8_t packet[48 + 1024] = { 0 };

	put_big(packet, type);
	put_big(packet + 4, sequence);
	put_big(packet + 20, status);
	put_big(packet + 24, actual);
	if (length)
		memcpy(packet + 48, data, length);
	transfer(fd, packet, 48 + length, 1);
}

static void unlink_urb(int fd, uint32_t sequence, uint32_t victim)
{
	int i;

	for (i = 0; i < waiting_count && waiting[i] != victim; i++)
		;
	if (i < waiting_count)
		memmove(waiting + i, waiting + i + 1, (--waiting_count - i) * sizeof(*waiting));
	else
		i = -1;
	answer(fd, 4, sequence, i < 0 ? 0 : -ECONNRESET, NULL, 0, 0);
}

static void serve(int fd)
{
	uint8_t h[48], data[1024] = { 0 };
	uint32_t sequence, in, endpoint, length;
	int got = -1;

	transfer(fd, h, sizeof(h), 0);
	sequence = big(h + 4);
	in = big(h + 12);
	endpoint = big(h + 16);
	length = big(h + 24);
	if (big(h) == 2) {
		unlink_urb(fd, sequence, big(h + 20));
		return;
	}
	if (!in) {
		if (length > sizeof(data))
			exit(1);
		transfer(fd, data, length, 0);
	}
	switch (endpoint) {
	case 0:
		got = control(h + 40, data);
		break;
	case 2:
		got = bulk(data, length) ? 0 : -1;
		break;
	case 3:
		if (waiting_count == MAX_URBS)
			exit(1);
		waiting[waiting_count++] = sequence;
		return;
	case 4:
		gate(data, length);
		got = 0;
		break;
	}
	answer(fd, 3, sequence, got < 0 ? -EPIPE : 0, data, in && got > 0 ? got : 0,
	       got < 0 ? 0 : in ? got : (int)length);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static int attach(void)
{
	FILE *f = fopen("/sys/devices/platform/vhci_hcd.0/attach", "w");
	int fd[2];

	if (!f || socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		return -1;
	/* port, socket, bus 1 device 1, high speed */
	fprintf(f, "%d %d %d 3", m.routed, fd[1], 0x10001);
	if (fclose(f))
		return -1;
	close(fd[1]);
	return fd[0];
}

static int deal(void)
{
	uint64_t next = 0, people = 0;
	uint8_t events[PACKET];
	struct pollfd p = { .fd = attach(), .events = POLLIN };
	int n;

	if (p.fd < 0) {
		perror("machine: no vhci_hcd");
		return 1;
	}
	for (;;) {
		if (poll(&p, 1, 5) > 0)
			serve(p.fd);
		m.clock = now();
		if (now() >= next) {
			next = now() + 5000;
			tick();
		}
		if (now() >= people) {
			people = now() + 500000;
			operator();
		}
		while (m.queued && waiting_count) {
			n = fetch(events, PACKET / 32) * 32;
			answer(p.fd, 3, waiting[0], 0, events, n, n);
			memmove(waiting, waiting + 1, --waiting_count * sizeof(*waiting));
		}
	}
}

/* -- the worked deals of the page -------------------------------------------------------- */

static int replay_line;

static void differs(const char *what)
{
	printf("line %d of the page: %s differs\n", replay_line, what);
	exit(1);
}

/* The order of events of two cards is the machine's, as are the clocks */
static int compare_events(const void *a, const void *b)
{
	const uint8_t *x = a, *y = b;

	return x[16] != y[16] ? x[16] - y[16] : x[0] - y[0];
}

static void tick_until_queued(int count)
{
	int steps;

	for (steps = 0; m.queued < count && steps < 100; steps++) {
		m.clock += 1000;
		tick();
	}
}

/* Events that the page gives one after the other */
static void expect_events(uint8_t *due, int count)
{
	uint8_t got[QUEUE * 32];
	int i;

	for (i = 0; i < count; i++) {
		if (due[i * 32] == BOARD_REMOVED)
			tick_until_queued(i);
		if (due[i * 32] == STATE_LOST)
			configure();
		else if (due[i * 32] == BOARD_REMOVED)
			board_remove();
		else if (due[i * 32] == BOARD_INSERTED)
			board_insert(due[i * 32 + 24]);
	}
	tick_until_queued(count);
	if (fetch(got, QUEUE) != count)
		differs("the number of events");
	qsort(got, count, 32, compare_events);
	qsort(due, count, 32, compare_events);
	for (i = 0; i < count * 32; i += 32) {
		memset(got + i + 4, 0, 8);
		memset(due + i + 4, 0, 8);
		if (due[i + 19] != NONE)	/* what the reader saw: the maker's own */
			memcpy(got + i + 20, due + i + 20, 4);
		if (due[i] == NOT_IN_PLAN)
			m.at_reader = -1;	/* the operator takes it out */
	}
	for (i = 0; i < count * 32; i++)
		if (got[i] != due[i]) {
			printf("event %02x, byte %d: %02x, the page has %02x\n", due[i & ~31], i % 32, got[i], due[i]);
			differs("an event");
		}
}

/* One transfer of the page, but for events */
static void replay_transfer(const char *kind, uint8_t *p, int length)
{
	static uint8_t setup[8], data[256];

	if (!strcmp(kind, "> setup")) {
		memcpy(setup, p, 8);
	} else if (!strcmp(kind, "> data")) {
		memcpy(data, p, length);
	} else if (!strcmp(kind, "< data")) {
		if (control(setup, data) != length)
			differs("the length of an answer");
		if (setup[1] == 1)
			length = 4;		/* the rest is the maker's */
		if (setup[1] == 2)
			memcpy(data + 20, p + 20, 4);
		if (memcmp(data, p, length))
			differs("an answer");
	} else if (!strcmp(kind, "< done") || !strcmp(kind, "< stall")) {
		if ((control(setup, data) < 0) != !strcmp(kind, "< stall"))
			differs("how a command ends");
	} else if (!strcmp(kind, "> bulk")) {
		if (!bulk(p, length))
			differs("the end of a bulk transfer");
	} else if (!strcmp(kind, "> int out")) {
		gate(p, length);
	} else if (!strcmp(kind, "< class")) {
		memcpy(p + 16, machine_descriptor + 16, 4);	/* each machine's own */
		if (memcmp(p, machine_descriptor, length))
			differs("the machine descriptor");
	} else {
		differs("the kind of a transfer");
	}
}

static int replay(const char *page)
{
	static const uint8_t cards[2][8] = { { 2, 0, 3, 1, 5 }, { 2, 52, 0, 3, 1, 0, 0, 5 } };
	char line[256], kind[16] = "", *text, *end;
	const char *begin = m.routed ? "```routed\n" : "```stored\n";
	uint8_t buf[QUEUE * 32];
	int length = 0, in = 0, more, used, count = 0;
	FILE *f = fopen(page, "r");

	if (!f) {
		perror(page);
		return 1;
	}
	m.cards = m.routed ? 8 : 5;
	memcpy(m.hopper, cards[m.routed], m.cards);
	while (fgets(line, sizeof(line), f)) {
		replay_line++;
		if (!in) {
			in = !strcmp(line, begin);
			continue;
		}
		if (line[0] == ';')
			continue;
		more = line[0] == ' ';
		/* events gather until something else comes */
		if (!more && *kind && (strcmp(kind, "< int in") || strncmp(line, kind, 8))) {
			if (strcmp(kind, "< int in"))
				replay_transfer(kind, buf, length);
			else
				expect_events(buf, length / 32);
			length = 0;
			count++;
		}
		if (line[0] == '`')
			break;
		text = line;
		if (!more) {
			used = strcspn(line + 2, " \n") + 2;
			if (!strncmp(line + 2, "int ", 4))
				used = strcspn(line + 6, " \n") + 6;
			snprintf(kind, sizeof(kind), "%.*s", used, line);
			text += used;
		}
		for (;; text = end) {
			unsigned long v = strtoul(text, &end, 16);

			if (end == text)
				break;
			buf[length++] = v;
		}
	}
	fclose(f);
	printf("%d groups of transfers agree\n", count);
	return count < 20;
}

int main(int argc, char **argv)
{
	if (argc < 2 || (strcmp(argv[1], "stored") && strcmp(argv[1], "routed"))) {
		fputs("usage: machine stored|routed [DEAL | -r PAGE]\n", stderr);
		return 2;
	}
	m.routed = !strcmp(argv[1], "routed");
	describe();
	if (argc == 4 && !strcmp(argv[2], "-r"))
		return replay(argv[3]);
	m.misread = argc > 2 ? atoi(argv[2]) : 0;
	srand(1);
	return deal();
}
