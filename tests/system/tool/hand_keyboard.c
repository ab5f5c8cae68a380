// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * hand_keyboard DEALBOX SET: a number pad of uinput, and a person who deals board 1 with it (TAP).
 * While it deals, only dealbox gets the keys: another program that reads the pad, and the terminal,
 * see nothing. Before and afterwards they see all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/uinput.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG_MS		600000	/* only a hang takes so long */
#define SUFFIX_MS	400	/* Enter so soon after a key would be the end of a bar code */

static const int ranks[13] = {
	KEY_KPPLUS, KEY_KPMINUS, KEY_KPASTERISK, KEY_KPSLASH, KEY_KP0, KEY_KP9, KEY_KP8, KEY_KP7,
	KEY_KP6, KEY_KP5, KEY_KP4, KEY_KP3, KEY_KP2,
};
static const int suits[4] = { KEY_KP1, KEY_KP2, KEY_KP3, KEY_KP4 };

static int pad, other;		/* the device, and another program's reader of it */
static char node[64];
static int terminal;
static pid_t dealing;
static char text[1 << 20];	/* what dealbox has written */
static size_t length, seen;
static unsigned int count, bad;

static void check(const char *name, bool good)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++count, name);
	if (!good)
		printf("# behind %.*s\n", (int)(length - seen < 400 ? length - seen : 400),
		       text + seen);
	bad += !good;
	fflush(stdout);
}

static void emit(int type, int code, int value)
{
	struct input_event event = { .type = type, .code = code, .value = value };

	if (write(pad, &event, sizeof(event)) != sizeof(event))
		perror("# writing a key");
}

static void press(int key)
{
	emit(EV_KEY, key, 1);
	emit(EV_SYN, SYN_REPORT, 0);
	emit(EV_KEY, key, 0);
	emit(EV_SYN, SYN_REPORT, 0);
}

/* Plug the pad in, and open it as another program would. */
static bool plug(void)
{
	struct uinput_setup setup = { .id = { .bustype = BUS_USB, .vendor = 0x1209,
					      .product = 1 } };
	char name[64] = "", path[128];
	int n;

	pad = open("/dev/uinput", O_WRONLY | O_CLOEXEC);
	if (pad < 0 || ioctl(pad, UI_SET_EVBIT, EV_KEY))
		return false;
	for (n = 0; n < 13; n++)
		ioctl(pad, UI_SET_KEYBIT, ranks[n]);
	ioctl(pad, UI_SET_KEYBIT, KEY_KP1);
	ioctl(pad, UI_SET_KEYBIT, KEY_KPENTER);
	strcpy(setup.name, "number pad");
	if (ioctl(pad, UI_DEV_SETUP, &setup) || ioctl(pad, UI_DEV_CREATE) ||
	    ioctl(pad, UI_GET_SYSNAME(sizeof(name)), name) < 0)
		return false;
	for (n = 0; n < 64; n++) {
		snprintf(path, sizeof(path), "/sys/devices/virtual/input/%s/event%d", name, n);
		if (!access(path, F_OK))
			break;
	}
	snprintf(node, sizeof(node), "/dev/input/event%d", n);
	other = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return other >= 0;
}

/* Return the number of keys that the other program got. */
static unsigned int reached(void)
{
	struct input_event event;
	unsigned int keys = 0;

	while (read(other, &event, sizeof(event)) == sizeof(event))
		keys += event.type == EV_KEY && event.value == 1;
	return keys;
}

static void begin(const char *dealbox, const char *set)
{
	char machine[80];

	snprintf(machine, sizeof(machine), "hand:%s", node);
	length = seen = 0;
	dealing = forkpty(&terminal, NULL, NULL, NULL);
	if (dealing)
		return;
	execlp(dealbox, dealbox, "deal", "--plain", "-y", "-m", machine, "-b", "1", "--how",
	       "replay", set, NULL);
	_exit(127);
}

/* Read on until dealbox has written this. Returns false at its end. */
static bool see(const char *what)
{
	struct pollfd wait = { .events = POLLIN };
	ssize_t size;
	char *found;

	while (!(found = memmem(text + seen, length - seen, what, strlen(what)))) {
		wait.fd = terminal;
		if (poll(&wait, 1, HANG_MS) != 1 || length == sizeof(text))
			return false;
		size = read(terminal, text + length, sizeof(text) - length);
		if (size <= 0)
			return false;
		length += (size_t)size;
	}
	seen = (size_t)(found - text) + strlen(what);
	return true;
}

static int end(void)
{
	int status = -1;

	see("the end, which nobody writes");
	waitpid(dealing, &status, 0);
	close(terminal);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool deal(unsigned int cards)
{
	char what[32];
	unsigned int n, card;

	for (n = 0; n < cards; n++) {
		/* an order that is not that of the deal */
		card = n * 7 % 52;
		press(ranks[card % 13]);
		press(suits[card / 13]);
		snprintf(what, sizeof(what), "card %u of 52", n + 1);
		if (!see(what))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	check("a number pad is there", plug());
	if (bad)
		return 1;
	press(KEY_KP5);
	check("another program reads it", reached() == 1);
	begin(argv[1], argv[2]);
	check("a board is asked for", see("Put in the empty board 1"));
	check("the pad is grabbed: nobody else can", ioctl(other, EVIOCGRAB, 1) && errno == EBUSY);
	press(KEY_KPENTER);
	check("Enter on the pad: the board is in", see("Name the first card"));
	check("52 cards are named on it", deal(52) && see("The last card"));
	usleep(SUFFIX_MS * 1000);
	press(KEY_KPENTER);
	check("the board is exact, by hand",
	      see("exact duplicate (by hand)") && see("Take it out."));
	check("nothing of it reached the other program", !reached());
	/* by itself, and lets go of the pad: a key that is pressed now may reach anybody */
	check("it ends", !end());
	press(KEY_KP7);
	check("the pad is everybody's again", reached() == 1);

	begin(argv[1], argv[2]);
	see("Put in the empty board 1");
	press(KEY_KPENTER);
	check("another board", see("Name the first card") && deal(20));
	ioctl(pad, UI_DEV_DESTROY);
	check("the pad is pulled out: the board is void",
	      see("void") && see("The machine is not there"));
	kill(dealing, SIGINT);
	check("... and that is the end", end() == 1);
	printf("1..%u\n", count);
	return !!bad;
}
