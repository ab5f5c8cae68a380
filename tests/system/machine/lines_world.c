// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * lines_world WIRING FOLDER SEED ACCOUNT [FAULT POSITION [KEPT]]: the cards, motors and sensors
 * behind the lines of a gpio-sim chip, whose lines are in FOLDER of sysfs. It sees what is switched
 * in the kernel's trace, and moves the pulls of the inputs. A motor moves cards only while the
 * heartbeat changes at least every 50 ms, as the watchdog circuit of docs/build-a-machine.md has
 * it. At the end (SIGTERM), ACCOUNT has where each card lies.
 *
 * FAULT happens to the card that is fed as number POSITION; the table below has them. Prints
 * "ready", and "card N" for each card that comes to rest.
 *
 * FAULT "evening": a board into which cards were dealt is taken out when it is unlocked, ACCOUNT.N
 * has where each card of the board that came as number N lies, and the next one is inserted; a
 * person helps a card that is stuck or unreadable. Each second board has a fault, and all kinds of
 * faults come that a person can end.
 *
 * FAULT "power-cuts": an evening without them. At SIGUSR1, all outputs go off, and whoever switched
 * them is gone. A card that is fed into a board that had cards by then is told: "dealt on".
 *
 * KEPT is a file where the cards are noted before a sensor sees what they do. If it is there, this
 * world goes on with them, as after a power cut of the computer that it runs on. Its mechanics are
 * slower, for time is real then.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "card_strip.h"
#include "lines.h"
#include "wiring.h"

#define TRACE		"/sys/kernel/tracing/trace_pipe"
#define FIRST_LINE	512		/* of the only chip, in the trace */
#define NEVER		INT64_MAX
#define US		1000LL		/* ns */
#define MS		1000000LL

/* A card's way, in the time that the motor runs */
#define LEAD		(20 * MS)
#define MODULE		(slow * 1500 * US)
#define REST		(LEAD + 15 * MODULE + 10 * MS)
#define LEAVES		(slow * 10 * MS)	/* the card sensor */
#define GATES		(slow * 25 * MS)
/* and on its own */
#define FALLS		(15 * MS)
#define PASSES		(20 * MS)	/* an exit sensor */
#define FEED_WATCHDOG	(slow * 50 * MS)
#define GATES_MOVE	(40 * MS)	/* when their power has come back */
#define PULLS		128

enum fault {
	NONE, GATE_STICKS, GATE_LATE, GATES_SLOW, SLIP, DIRTY, BLIND, EXIT_BOUNCES, EXIT_TWICE,
	CARD_BOUNCES, JAM_FEED, JAM_GATE, JAM_FALL, DOUBLE, DOUBLE_UNSEEN, DOUBLE_STAYS, MISSING,
	REPEAT, STRAY_EXIT, EXIT_BLOCKED, OVERFLOW_READER, OVERFLOW_EXIT, HANG, HANG_FEED,
	PULL_BOARD, OPEN_COVER, CARD_TAKEN, COVER_IN_FALL, HANG_GATES, HANG_FALL, DOUBLE_SEEN, KEYS,
	BOARD_FLICKERS, GATE_SLIPS, CARD_BLIND, EXIT_BLIND, FAULTS,
};

static const char *const faults[FAULTS] = {
	"none",
	"gate-sticks",		/* the gates stay as they were for the card before */
	"gate-late",		/* they move 200 ms later */
	"gates-slow",		/* all the time: as many ms as the position says */
	"slip",			/* the card stops for 30 ms within its code */
	"dirty",		/* a dark spot on the code */
	"blind",		/* the reader sees nothing */
	"exit-bounces",		/* shorter than the debounce time */
	"exit-twice",		/* longer */
	"card-bounces",
	"jam-feed", "jam-gate", "jam-fall",
	"double",		/* one behind the other falls, and each is seen */
	"double-unseen",	/* both at once */
	"double-stays",		/* the second one stays at the card sensor, stuck */
	"missing",		/* the card is not in the deck */
	"repeat",		/* a second one of the card before */
	"stray-exit",		/* an exit sensor sees something while the card is fed */
	"exit-blocked",		/* it sees the card, and then all the time */
	"overflow-reader", "overflow-exit",	/* the host stands still, and the sensor does not */
	"hang",			/* the host stands still for 300 ms */
	"hang-feed",		/* while a card moves */
	"pull-board", "open-cover",
	"card-taken",		/* out of the reader, when it has just come */
	/* the card has passed the card sensor, and stays there for the next deal */
	"cover-in-fall",
	"hang-gates",		/* when the gates were set */
	"hang-fall",		/* when the card has passed the card sensor */
	"double-seen",		/* by the sensor of the feeder */
	"keys",			/* a person presses each, while the card rests */
	/* when the last card has fallen, and the next deck is in the hopper */
	"board-flickers",
	"gate-slips",		/* back to where it is at rest, when it was set */
	"card-blind", "exit-blind",	/* these sensors do not see the card */
};

/* 1, or as many times slower: in real time, edges come late when the computer is busy */
static int64_t slow = 1;
static struct wiring wiring;
static int pulls[WIRING_LINES];			/* the attributes of the inputs */
static bool on[WIRING_LINES], alive;
static int64_t now, beat_at;
static int heartbeat_value;
static int64_t on_since[WIRING_LINES];
static volatile sig_atomic_t over, cut;

static enum fault fault;
static unsigned int fault_at, fed;		/* number of the next card */
static uint8_t deck[LINES_CARDS + 1], account[LINES_CARDS];
static unsigned int left;			/* in the hopper; the first is at the end of deck */
static unsigned long host;

/* the card that is fed, or rests */
static bool moves, rests;
static unsigned int cards;			/* that stick together */
static uint8_t card[2];
static struct strip strip;
static unsigned int edge;
static int64_t run_since, ran;			/* of the motor, for this card */
static bool slipped, gone, stuck;
static int64_t still_since;			/* the card rests, or is stuck */
static uint8_t gates, gates_before, gates_old;
static int64_t gates_at, powered_at;		/* by the watchdog */

/* an evening, 0 boards: it is none */
static unsigned int boards;
static unsigned long seed;
static const char *account_path;
static int64_t exchange_at;			/* 0: nobody has unlocked the board */
static bool board_is_out, has_faults;
static bool was_cut;				/* while cards lay in the board */
static bool dealt_on;				/* ... and was dealt into after it, ever */
static bool was_there;				/* the board, at a start of the machine */
static const enum fault of_evening[] = {
	GATE_STICKS, SLIP, COVER_IN_FALL, EXIT_TWICE, JAM_FEED, DIRTY, JAM_GATE, DOUBLE, BLIND,
	JAM_FALL, STRAY_EXIT, GATE_LATE, DOUBLE_STAYS, EXIT_BLOCKED, EXIT_BOUNCES, CARD_BOUNCES,
	GATE_SLIPS, CARD_BLIND, EXIT_BLIND,
};

/* what comes anyway, in the order of time */
static struct pull { int64_t at; enum wiring_line line; bool active; } later[PULLS];
static unsigned int later_count;

static void die(const char *what)
{
	fprintf(stderr, "lines_world: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * (1000 * MS) + time.tv_nsec;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void pull(enum wiring_line line, bool active)
{
	const char *how = active != wiring.lines[line].active_low ? "pull-up" : "pull-down";

	if (pwrite(pulls[line], how, strlen(how), 0) < 0)
		die("pull");
}

static void pull_at(int64_t at, enum wiring_line line, bool active)
{
	unsigned int n = later_count++;

	if (n == PULLS)
		die("too much at once");
	for (; n && later[n - 1].at > at; n--)
		later[n] = later[n - 1];
	later[n] = (struct pull){ at, line, active };
}

static void pulse_at(int64_t at, enum wiring_line line, int64_t length)
{
	pull_at(at, line, true);
	pull_at(at + length, line, false);
}

/* --- cards ------------------------------------------------------------------------------------ */

/* State that stays where it is without power. */
struct kept {
	uint32_t boards, left, fed, edge, cards;
	int64_t ran;
	uint8_t deck[LINES_CARDS + 1], account[LINES_CARDS], card[2];
	bool moves, rests, gone, board_is_out, was_cut, dealt_on, begun;
};

static int kept_file = -1;

static void keep(void)
{
	struct kept kept = {
		.boards = boards, .left = left, .fed = fed, .edge = edge, .cards = cards,
		.ran = ran, .card = { card[0], card[1] }, .moves = moves, .rests = rests,
		.gone = gone, .board_is_out = board_is_out, .was_cut = was_cut,
		.dealt_on = dealt_on, .begun = true,
	};

	if (kept_file < 0)
		return;
	memcpy(kept.deck, deck, sizeof(deck));
	memcpy(kept.account, account, sizeof(account));
	if (pwrite(kept_file, &kept, sizeof(kept), 0) != (ssize_t)sizeof(kept))
		die("what is kept");
}

static bool is_fault(enum fault which)
{
	return fault == which && fed == fault_at + 1;
}

static uint8_t take(void)
{
	const uint8_t taken = deck[--left];

	fed++;
	if (!left)
		pull(WIRING_HOPPER, false);
	return taken;
}

static void begin_card(void)
{
	uint8_t before = card[0];

	if (was_cut) {
		puts("dealt on");
		dealt_on = true;
	}
	if (fault == MISSING && fed == fault_at && left > 1)
		left--;
	card[0] = take();
	if (is_fault(REPEAT))
		card[0] = before;
	cards = 1;
	if ((is_fault(DOUBLE) || is_fault(DOUBLE_UNSEEN) || is_fault(DOUBLE_STAYS) ||
	     is_fault(DOUBLE_SEEN)) && left)
		card[cards++] = deck[--left];
	if (is_fault(DOUBLE_SEEN))
		pulse_at(now + LEAD / 2, WIRING_DOUBLE, PASSES);
	strip = strip_of(code_of(card[0]));
	if (is_fault(DIRTY))
		/* from the middle of the third module to the end of the fourth */
		for (unsigned int n = 0; n + 1 < strip.count; n += 2)
			if (strip.edges[n] > 4.5) {
				strip.edges[n] -= 0.5;
				break;
			}
	if (is_fault(BLIND))
		strip.count = 0;
	if (is_fault(STRAY_EXIT))
		pulse_at(now + LEAD, WIRING_EXIT + 1, PASSES);
	edge = 0;
	moves = true;
	rests = slipped = gone = stuck = false;
	ran = 0;
	keep();
}

/* The motor time at which something happens to the card next */
static int64_t next_of_card(void)
{
	if (!moves)
		return NEVER;
	if (rests)
		return gone ? GATES : LEAVES;
	return edge < strip.count ? LEAD + (int64_t)(strip.edges[edge] * MODULE) : REST;
}

static bool motor_runs(void)
{
	return alive && (rests ? on[WIRING_RELEASE] : on[WIRING_FEED]);
}

static int64_t motor_time(void)
{
	return ran + (motor_runs() ? now - run_since : 0);
}

static unsigned int pocket_of(uint8_t mask)
{
	unsigned int pocket = 0;

	while (pocket < wiring.pockets && wiring.gates[pocket] != mask)
		pocket++;
	/* no way that is meant: where no gate catches it */
	return pocket < wiring.pockets ? pocket : wiring.pockets - 1u;
}

static void lands(uint8_t which, unsigned int pocket)
{
	account[which] = account[which] == LINES_NOWHERE ? (uint8_t)pocket : 100;
}

static void falls(void)
{
	uint8_t mask = alive && now - powered_at >= GATES_MOVE ? gates : 0;
	unsigned int pocket;

	if (is_fault(GATE_STICKS))
		mask = gates_before;
	if (is_fault(GATE_LATE) && now - gates_at < 200 * MS)
		mask = gates_old;
	if (fault == GATES_SLOW && now - gates_at < (int64_t)fault_at * MS)
		mask = gates_old;
	if (is_fault(GATE_SLIPS))
		mask = 0;
	pocket = pocket_of(mask);
	moves = false;
	gates_before = gates;
	if (is_fault(JAM_FALL))
		return;
	lands(card[0], pocket);
	if (cards > 1 && !is_fault(DOUBLE_STAYS))
		lands(card[1], pocket);
	keep();
	if (is_fault(EXIT_BLIND))
		return;
	if (is_fault(EXIT_BLOCKED)) {
		pull_at(now + FALLS, WIRING_EXIT + pocket, true);
		return;
	}
	if (is_fault(EXIT_BOUNCES))
		for (int n = 1; n < 4; n++)
			pulse_at(now + FALLS - n * MS, WIRING_EXIT + pocket, 300 * US);
	if (fault == BOARD_FLICKERS && !left) {
		lines_shuffle(seed + 1, deck);
		left = LINES_CARDS;
		fault = NONE;
		pull_at(now + 1000 * MS, WIRING_HOPPER, true);
		pull_at(now + 1500 * MS, WIRING_BOARD, false);
		pull_at(now + 1600 * MS, WIRING_BOARD, true);
	}
	pulse_at(now + FALLS, WIRING_EXIT + pocket, PASSES);
	if (is_fault(EXIT_TWICE) || is_fault(DOUBLE))
		pulse_at(now + FALLS + PASSES + 8 * MS, WIRING_EXIT + pocket, PASSES);
}

/* --- the host stands still -------------------------------------------------------------------- */

static char heartbeat(void)
{
	char value = 0;

	if (pread(heartbeat_value, &value, 1, 0) != 1)
		die("heartbeat");
	return value;
}

static void wait_ms(int64_t ms)
{
	const struct timespec wait = { .tv_nsec = ms * MS };

	nanosleep(&wait, NULL);
}

static void power_goes(void)
{
	ran = motor_time();
	run_since = now;
	alive = false;
}

static bool has_cards(void)
{
	for (unsigned int n = 0; n < LINES_CARDS; n++)
		if (account[n] != LINES_NOWHERE)
			return true;
	return false;
}

/*
 * The computer has no power: its outputs are pulled down. The lock is shut then, so the board
 * stays.
 */
static void computer_goes(void)
{
	power_goes();
	gates_old = gates;
	gates = 0;
	gates_at = now;
	memset(on, 0, sizeof(on));
	was_cut |= has_cards();
	was_there = !board_is_out;
	puts("no power");
}

static void stand_still(enum wiring_line line, unsigned int pulses)
{
	char beat;

	kill((pid_t)host, SIGSTOP);
	for (; pulses; pulses--) {
		const struct timespec edge_time = {
			.tv_nsec = line == WIRING_READER ? 10 * US : 20 * MS
		};

		pull(line, true);
		nanosleep(&edge_time, NULL);
		pull(line, false);
		nanosleep(&edge_time, NULL);
	}
	wait_ms(50);
	beat = heartbeat();
	for (int n = 0; n < 50; n++) {
		wait_ms(5);
		if (heartbeat() != beat)
			puts("the heartbeat went on");
	}
	now = clock_now();
	power_goes();
	for (enum wiring_line output = 0; output < WIRING_INPUTS; output++)
		on_since[output] = clock_now();
	kill((pid_t)host, SIGCONT);
	fault = NONE;
}

static void comes_to_rest(void)
{
	rests = true;
	ran = 0;
	run_since = still_since = now;
	keep();
	if (!is_fault(CARD_BLIND))
		pull(WIRING_CARD, true);
	if (is_fault(CARD_BOUNCES))
		for (int n = 1; n < 4; n++)
			pulse_at(now + n * 600 * US, WIRING_CARD, 300 * US);
	if (is_fault(CARD_BOUNCES))
		pull_at(now + 3 * MS, WIRING_CARD, true);
	for (unsigned int key = 0; is_fault(KEYS) && key < 3; key++)
		pulse_at(now + key * 60 * MS + MS, WIRING_KEY_START + key, 50 * MS);
	if (is_fault(PULL_BOARD))
		pull(WIRING_BOARD, false);
	if (is_fault(OPEN_COVER))
		pull(WIRING_COVER, true);
	if (is_fault(CARD_TAKEN)) {
		pull_at(now + 10 * MS, WIRING_CARD, false);
		moves = false;
	}
	if (is_fault(OVERFLOW_EXIT))
		stand_still(WIRING_EXIT + 2, 40);
	if (is_fault(HANG))
		stand_still(WIRING_READER, 0);
	printf("card %u\n", fed - 1);
}

static void card_goes_on(void)
{
	if (rests && !gone) {
		if (is_fault(JAM_GATE)) {
			moves = false;
			return;
		}
		gone = true;
		keep();
		if (!is_fault(DOUBLE_STAYS))
			pull(WIRING_CARD, false);
		if (is_fault(COVER_IN_FALL))
			pull(WIRING_COVER, true);
		if (is_fault(HANG_FALL))
			stand_still(WIRING_READER, 0);
	} else if (rests) {
		falls();
	} else if (edge < strip.count) {
		if (is_fault(SLIP) && edge == 3 && !slipped) {
			slipped = true;
			ran -= 30 * MS;
			return;
		}
		if (is_fault(OVERFLOW_READER) && edge == 4)
			stand_still(WIRING_READER, 600);
		if (is_fault(HANG_FEED) && edge == 4)
			stand_still(WIRING_READER, 0);
		if (is_fault(JAM_FEED) && edge == 4) {
			moves = false;
			stuck = true;
			still_since = now;
			return;
		}
		pull(WIRING_READER, edge % 2 == 0);
		edge++;
	} else {
		comes_to_rest();
	}
}

/* --- an evening ------------------------------------------------------------------------------- */

#define HANDS		(500 * MS)	/* a person takes a board out, or puts one in */
#define DOUBTS		(9000 * MS)	/* ... takes out one that seems empty, and is not dealt */
#define PATIENCE	(3000 * MS)	/* until a person helps */

static void write_account(void)
{
	char path[200];

	snprintf(path, sizeof(path), "%s.%u", account_path, boards);
	lines_write(boards ? path : account_path, account);
	/* before the next board is kept */
	if (kept_file >= 0)
		sync();
}

static void new_deck(void)
{
	lines_shuffle(seed + boards, deck);
	left = LINES_CARDS;
	fed = 0;
	memset(account, LINES_NOWHERE, sizeof(account));
	was_cut = was_there = false;
	fault = NONE;
	if (has_faults && boards % 2)
		fault = of_evening[boards / 2 % (sizeof(of_evening) / sizeof(of_evening[0]))];
	fault_at = 2 + boards * 7 % 45;
}

/* Take the board out, and all cards out of the machine; they are the next deck. */
static void take_out(void)
{
	write_account();
	board_is_out = true;
	/* a person who only closes the cover leaves a card in the path */
	if (fault != COVER_IN_FALL || !gone)
		moves = rests = stuck = false;
	later_count = 0;
	new_deck();
	keep();
	pull(WIRING_COVER, false);
	pull(WIRING_BOARD, false);
	pull(WIRING_CARD, false);
	pull(WIRING_READER, false);
	for (unsigned int pocket = 0; pocket < wiring.pockets; pocket++)
		pull(WIRING_EXIT + pocket, false);
	pull(WIRING_HOPPER, true);
}

/* Put the card that does not go on back upon the hopper. */
static void help(void)
{
	moves = rests = stuck = false;
	fault = NONE;
	pull(WIRING_CARD, false);
	pull(WIRING_READER, false);
	while (cards)
		deck[left++] = card[--cards];
	keep();
	pull(WIRING_HOPPER, true);
}

static bool waits_for_help(void)
{
	return boards && !board_is_out && (stuck || (moves && rests && !on[WIRING_RELEASE]));
}

static void person(void)
{
	if (exchange_at && exchange_at <= now && !board_is_out) {
		take_out();
		exchange_at = now + HANDS;
	} else if (exchange_at && exchange_at <= now) {
		board_is_out = false;
		/* a machine that is being switched on finds it */
		was_there = kept_file >= 0 && !alive;
		boards++;
		keep();
		pull(WIRING_BOARD, true);
		exchange_at = 0;
	} else if (waits_for_help() && now - still_since > PATIENCE) {
		help();
	}
}

static int64_t next_of_person(void)
{
	int64_t next = exchange_at ? exchange_at : NEVER;

	return waits_for_help() && still_since + PATIENCE + MS < next ?
		still_since + PATIENCE + MS : next;
}

/* --- what is switched ------------------------------------------------------------------------- */

static enum wiring_line line_of(unsigned long number)
{
	enum wiring_line line = 0;

	while (line < WIRING_INPUTS && (!wiring_has(&wiring, line) ||
					strtoul(wiring.lines[line].name, NULL, 10) != number))
		line++;
	return line;
}

static void switched(enum wiring_line line, bool level)
{
	const bool active = level != wiring.lines[line].active_low;

	if (on[line] == active)
		return;
	ran = motor_time();
	run_since = now;
	on[line] = active;
	if (active)
		on_since[line] = now;
	else if (line != WIRING_HEARTBEAT &&
		 now - on_since[line] > wiring.lines[line].most_ms * MS + 5 * MS)
		printf("output %u was on for too long\n", line);
	if (line >= WIRING_GATE && line < WIRING_GATE + WIRING_GATES) {
		if (gates_at != now)
			gates_old = gates;
		gates_at = now;
		gates = (uint8_t)(gates ^ 1 << (line - WIRING_GATE));
		if (active && moves && rests && is_fault(HANG_GATES))
			stand_still(WIRING_READER, 0);
	}
	if (line == WIRING_LAMP || line == WIRING_BUZZER)
		printf("%s %s\n", line == WIRING_LAMP ? "lamp" : "buzzer", active ? "on" : "off");
	if (line == WIRING_HEARTBEAT) {
		if (!beat_at && !board_is_out) {
			keep();
			pull(WIRING_BOARD, true);
		}
		if (!alive)
			powered_at = now;
		alive = true;
		beat_at = now;
	}
	/*
	 * A host opens the lock with its question, too, whether the board is empty: one that is
	 * stays.
	 */
	if (line == WIRING_LOCK && !board_is_out)
		exchange_at = active || !boards ? 0 :
			now + (fed || was_there || has_cards() ? HANDS : DOUBTS);
	if (line == WIRING_FEED && active && !moves && !stuck && left)
		begin_card();
}

/* "... gpio_value: 512 set 1" */
static void trace_line(const char *text)
{
	const char *at = strstr(text, "gpio_value: ");
	unsigned long number;
	char *end;

	if (!at)
		return;
	number = strtoul(at + strlen("gpio_value: "), &end, 10);
	if (strncmp(end, " set ", 5))
		return;
	if (number >= FIRST_LINE && line_of(number - FIRST_LINE) < WIRING_INPUTS)
		switched(line_of(number - FIRST_LINE), end[5] == '1');
}

static void read_trace(int fd)
{
	static char text[65536];
	static size_t length;
	ssize_t got = read(fd, text + length, sizeof(text) - 1 - length);
	char *line = text, *next;

	if (got < 0 && errno != EINTR && errno != EAGAIN)
		die(TRACE);
	length += got > 0 ? (size_t)got : 0;
	text[length] = 0;
	now = clock_now();
	for (; (next = strchr(line, '\n')); line = next + 1) {
		*next = 0;
		trace_line(line);
	}
	length = strlen(line);
	memmove(text, line, length);
}

/* --- time ------------------------------------------------------------------------------------- */

static int64_t next_time(void)
{
	int64_t next = later_count && later[0].at < next_of_person() ?
		       later[0].at : next_of_person();
	const int64_t of_card = next_of_card();

	if (of_card != NEVER && motor_runs() && run_since + of_card - ran < next)
		next = run_since + of_card - ran;
	if (alive && beat_at && beat_at + FEED_WATCHDOG < next)
		next = beat_at + FEED_WATCHDOG;
	return next;
}

static void run(void)
{
	now = clock_now();
	while (later_count && later[0].at <= now) {
		const struct pull due = later[0];

		memmove(later, later + 1, --later_count * sizeof(*later));
		pull(due.line, due.active);
	}
	person();
	if (moves && motor_runs() && motor_time() >= next_of_card())
		card_goes_on();
	if (alive && now - beat_at > FEED_WATCHDOG) {
		/* the power of the motors goes; the board stays */
		power_goes();
		puts("the watchdog has switched off");
	}
}

static void at_end(int number)
{
	over |= number == SIGTERM;
	cut |= number == SIGUSR1;
}

static void open_lines(const char *folder)
{
	char path[200];

	for (enum wiring_line line = WIRING_INPUTS; line < WIRING_LINES; line++) {
		if (!wiring_has(&wiring, line))
			continue;
		snprintf(path, sizeof(path), "%s/sim_gpio%s/pull", folder, wiring.lines[line].name);
		pulls[line] = open(path, O_WRONLY | O_CLOEXEC);
		if (pulls[line] < 0)
			die(path);
		pull(line, line == WIRING_HOPPER);
	}
	snprintf(path, sizeof(path), "%s/sim_gpio%s/value", folder,
		 wiring.lines[WIRING_HEARTBEAT].name);
	heartbeat_value = open(path, O_RDONLY | O_CLOEXEC);
	if (heartbeat_value < 0)
		die(path);
}

/* The person who was changing boards goes on with that. */
static void go_on(const struct kept *kept)
{
	boards = kept->boards;
	left = kept->left;
	fed = kept->fed;
	edge = kept->edge;
	cards = kept->cards;
	ran = kept->ran;
	memcpy(deck, kept->deck, sizeof(deck));
	memcpy(account, kept->account, sizeof(account));
	memcpy(card, kept->card, sizeof(card));
	moves = kept->moves;
	rests = kept->rests;
	gone = kept->gone;
	board_is_out = kept->board_is_out;
	was_cut = kept->was_cut || has_cards();
	dealt_on = kept->dealt_on;
	if (dealt_on)
		puts("dealt on");
	was_there = !board_is_out;
	strip = strip_of(code_of(card[0]));
	still_since = clock_now();
	if (board_is_out)
		exchange_at = still_since + HANDS;
	pull(WIRING_BOARD, !board_is_out);
	pull(WIRING_HOPPER, left);
	pull(WIRING_CARD, moves && rests && !gone);
	pull(WIRING_READER, moves && !rests && edge % 2);
	keep();
}

static void open_kept(const char *path)
{
	struct kept kept;

	kept_file = open(path, O_RDWR | O_CREAT | O_DSYNC | O_CLOEXEC, 0600);
	if (kept_file < 0)
		die(path);
	if (pread(kept_file, &kept, sizeof(kept), 0) == (ssize_t)sizeof(kept) && kept.begun)
		go_on(&kept);
	else
		keep();
}

static void read_host(void)
{
	FILE *file = fopen("/tmp/host.pid", "r");

	if (!file || fscanf(file, "%lu", &host) != 1)
		die("/tmp/host.pid");
	fclose(file);
}

int main(int argc, char **argv)
{
	const struct sched_param param = { .sched_priority = 30 };
	char text[8192];
	struct pollfd wait;
	FILE *file;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 5 && argc != 7 && argc != 8)
		return 2;
	file = fopen(argv[1], "r");
	if (!file)
		die(argv[1]);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	if (wiring_read(&wiring, text))
		die(wiring.error);
	open_lines(argv[2]);
	seed = strtoul(argv[3], NULL, 10);
	account_path = argv[4];
	lines_shuffle(seed, deck);
	left = LINES_CARDS;
	memset(account, LINES_NOWHERE, sizeof(account));
	has_faults = argc > 5 && !strcmp(argv[5], "evening");
	if (has_faults || (argc > 5 && !strcmp(argv[5], "power-cuts"))) {
		boards = 1;
	} else if (argc > 5) {
		for (fault = 0; fault < FAULTS && strcmp(faults[fault], argv[5]); fault++)
			;
		if (fault == FAULTS)
			die(argv[5]);
		fault_at = (unsigned int)strtoul(argv[6], NULL, 10);
	}
	if (argc == 8) {
		slow = 20;
		open_kept(argv[7]);
	}
	wait = (struct pollfd){ .fd = open(TRACE, O_RDONLY | O_NONBLOCK | O_CLOEXEC),
				.events = POLLIN };
	if (wait.fd < 0)
		die(TRACE);
	signal(SIGTERM, at_end);
	signal(SIGUSR1, at_end);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO");
	puts("ready");
	while (!over) {
		int64_t next = next_time(), until = next - clock_now();
		const struct timespec time = { .tv_sec = until > 0 ? until / (1000 * MS) : 0,
					       .tv_nsec = until > 0 ? until % (1000 * MS) : 0 };

		if (ppoll(&wait, 1, next == NEVER ? NULL : &time, NULL) > 0) {
			if (!host)
				read_host();
			read_trace(wait.fd);
		}
		if (cut) {
			cut = 0;
			read_trace(wait.fd);
			computer_goes();
		}
		run();
	}
	if (!board_is_out)
		write_account();
	return 0;
}
