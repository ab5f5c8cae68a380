// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * usage: machine stored|routed [DEAL]	plugs itself into vhci_hcd, and deals; in deal
 *					DEAL it misreads a card
 *        machine stored|routed -s SOCKET	.. served from there, by the steps of
 *					a fixture: dealbox-compliance(1)
 *        machine stored|routed -r PAGE	replays the worked deal of the page
 *
 * For each deal it prints the contents of the pockets, or "void".
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "page_machine.h"

static int misread;	/* deal with a misread card, counted from 1 */
static const char *fixture;	/* socket that the steps come from; then there is no operator */

int strikes(enum strike strike)
{
	if (strike != STRIKE_MISREAD || m.deals != misread || m.position != 20)
		return -1;
	return m.hopper[10];
}

void deal_begins(void)
{
}

void deal_ends(int done)
{
	char text[80 * POCKETS];

	if (done)
		pockets_text(m.board->cards, text);
	puts(done ? text : "void");
	fflush(stdout);
}

static uint32_t chance(uint32_t below)
{
	return rand() % below;
}

/* Changes a board that was dealt, and loads the hopper. Called now and then. */
static void operator(void)
{
	static struct board board;
	static int deals_done;
	uint8_t cards[52];

	if (!m.configured || running())
		return;
	if (m.spent) {
		deals_done += m.state == DONE;
		reader_clear();
		board_remove();
	} else if (!m.insertion) {
		pack_shuffled(cards, chance);
		hopper_load(cards, 52);
		memset(&board, 0, sizeof(board));
		board_insert(&board, deals_done + 1);
	} else {
		key_press(KEY_START);	/* confirms that the board is empty */
	}
}

/* -- the steps of a fixture -------------------------------------------------------------- */

static uint8_t outside[52];	/* the cards that are in no part of the machine */
static int outside_cards;
static int bus = -1;		/* the socket of vhci_hcd */
static struct board only_board;

static const char *hands_insert(void)
{
	if (m.board)
		return "there is a board";
	memset(&only_board, 0, sizeof(only_board));
	board_insert(&only_board, 1);
	return NULL;
}

static const char *hands_pull(void)
{
	int pocket, card;

	if (!m.board)
		return "there is no board";
	board_remove();
	for (pocket = 0; pocket < POCKETS; pocket++)
		for (card = 0; card < 52; card++)
			if (only_board.cards[pocket][card])
				outside[outside_cards++] = card;
	return NULL;
}

static const char *hands_remove(void)
{
	return m.locked ? "the board is locked" : hands_pull();
}

static const char *hands_take(void)
{
	while (m.readers)
		outside[outside_cards++] = m.reader[--m.readers];
	return NULL;
}

static const char *hands_empty_hopper(void)
{
	memcpy(outside + outside_cards, m.hopper, m.cards);
	outside_cards += m.cards;
	hopper_load(NULL, 0);
	return NULL;
}

static const char *hands_put(int count)
{
	uint8_t cards[HOPPER_CARDS];
	int i;

	memcpy(cards, m.hopper, m.cards);
	for (i = m.cards; outside_cards && count; count--) {
		int taken = chance(outside_cards);

		cards[i++] = outside[taken];
		outside[taken] = outside[--outside_cards];
	}
	hopper_load(cards, i);
	return NULL;
}

static const char *hands_three(void)
{
	return hands_put(3);
}

static const char *hands_fill(void)
{
	return hands_put(52);
}

static const char *hands_empty(void)
{
	int count = m.readers;

	hands_take();
	return count ? hands_put(count) : NULL;
}

static const char *hands_power(void)
{
	usbip_detach(bus);
	power_off();
	for (bus = -1; bus < 0; usleep(50000))
		bus = usbip_attach();	/* the port is not free at once */
	return NULL;
}

static const char *hands_cover_open(void)
{
	cover_open();
	return NULL;
}

static const char *hands_cover_close(void)
{
	cover_close();
	return NULL;
}

static const char *hands_start(void)
{
	key_press(KEY_START);
	return NULL;
}

static const char *hands_stop(void)
{
	key_press(KEY_STOP);
	return NULL;
}

static const char *hands_release(void)
{
	key_press(KEY_RELEASE);
	return NULL;
}

static const char *hands_begin(void)
{
	return NULL;
}

static const struct {
	const char *words;
	const char *(*act)(void);	/* returns what is wrong */
} hands[] = {
	{ "begin", hands_begin }, { "insert", hands_insert }, { "remove", hands_remove },
	{ "remove force", hands_pull }, { "cover open", hands_cover_open },
	{ "cover close", hands_cover_close }, { "empty", hands_empty },
	{ "take-card", hands_take }, { "hopper empty", hands_empty_hopper },
	{ "hopper three", hands_three }, { "hopper fill", hands_fill },
	{ "key start", hands_start }, { "key stop", hands_stop }, { "key release", hands_release },
	{ "power-cycle", hands_power },
};

static void hands_step(FILE *answers, char *words)
{
	const char *error = "nobody can do that";
	size_t i;

	words[strcspn(words, "\n")] = '\0';
	for (i = 0; i < sizeof(hands) / sizeof(*hands); i++)
		if (!strcmp(words, hands[i].words))
			error = hands[i].act();
	if (error)
		fprintf(answers, "error: %s\n", error);
	else
		fputs("ok\n", answers);
	fflush(answers);
}

static int hands_listen(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fixture);
	unlink(fixture);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1)) {
		perror(fixture);
		exit(1);
	}
	return fd;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static int deal(void)
{
	uint64_t next = 0, people = 0;
	uint8_t events[PACKET];
	struct pollfd p[2] = { { .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	int n, server = -1;
	char words[80];
	FILE *client = NULL;

	bus = usbip_attach();
	if (bus < 0) {
		perror("machine: no vhci_hcd");
		return 1;
	}
	if (fixture) {
		pack_shuffled(m.hopper, chance);
		m.cards = 52;
		server = hands_listen();
	}
	for (;;) {
		p[0].fd = bus;
		p[1].fd = client ? fileno(client) : server;
		if (poll(p, 2, 5) > 0) {
			if (p[0].revents)
				usbip_serve(bus);
			if (p[1].revents && !client)
				client = fdopen(accept(server, NULL, NULL), "r+");
			else if (p[1].revents && fgets(words, sizeof(words), client))
				hands_step(client, words);
			else if (p[1].revents) {
				fclose(client);
				client = NULL;
			}
		}
		m.clock = now();
		if (now() >= next) {
			next = now() + 5000;
			tick();
		}
		if (!fixture && now() >= people) {
			people = now() + 500000;
			operator();
		}
		while (m.queued && usbip_waits()) {
			n = fetch(events, PACKET / 32) * 32;
			usbip_give(bus, events, n);
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

/* A machine may order the events of two cards as it likes, and its clock may differ. */
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

/* Compares a run of consecutive events of the page. */
static void expect_events(uint8_t *due, int count)
{
	static struct board board;
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
			board_insert(&board, due[i * 32 + 24]);
	}
	tick_until_queued(count);
	if (fetch(got, QUEUE) != count)
		differs("the number of events");
	qsort(got, count, 32, compare_events);
	qsort(due, count, 32, compare_events);
	for (i = 0; i < count * 32; i += 32) {
		memset(got + i + 4, 0, 8);
		memset(due + i + 4, 0, 8);
		if (due[i + 19] != NONE)	/* the raw code is the maker's own */
			memcpy(got + i + 20, due + i + 20, 4);
		if (due[i] == NOT_IN_PLAN)
			reader_clear();	/* the operator takes the card out */
	}
	for (i = 0; i < count * 32; i++)
		if (got[i] != due[i]) {
			printf("event %02x, byte %d: %02x, the page has %02x\n", due[i & ~31],
			       i % 32, got[i], due[i]);
			differs("an event");
		}
}

/* Replays one transfer of the page that carries no events. */
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
			length = 4;		/* the maker chooses the rest */
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
		/* collect events until another kind of transfer comes */
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
		fputs("usage: machine stored|routed [DEAL | -s SOCKET | -r PAGE]\n", stderr);
		return 2;
	}
	m.routed = !strcmp(argv[1], "routed");
	m.capabilities = (m.routed ? HOST_ROUTED : STORED_PLAN) | EXIT_SENSORS | BOARD_READER |
			 KEYS | BY_CARD | BY_POSITION;
	describe();
	if (argc == 4 && !strcmp(argv[2], "-r"))
		return replay(argv[3]);
	if (argc == 4 && !strcmp(argv[2], "-s"))
		fixture = argv[3];
	else if (argc > 2)
		misread = atoi(argv[2]);
	srand(1);
	return deal();
}
