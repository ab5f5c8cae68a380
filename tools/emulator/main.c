/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dealbox-emulator: options, files, and the loop that waits. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "front.h"
#include "memory.h"
#include "socket.h"

#define EXIT_USAGE	2	/* usage or input */
#define EXIT_MACHINE	3	/* a front or a file failed */

#define MACHINES_MAX	64
#define CLIENTS_MAX	8
#define PACK_BRIDGE	0x000fffffffffffffULL
#define PACK_PREFERANS	0x00007f83fc1fe0ffULL

__attribute__((format(printf, 2, 3), noreturn))
static void die(int status, const char *format, ...)
{
	va_list args;

	fputs("dealbox-emulator: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

/* --- options ------------------------------------------------------------------------ */

struct options {
	bool usbip, manual;
	int port;
	unsigned int machines, packs;
	uint64_t cards;
	const char *socket, *control, *account, *state, *trace, *tell;
	uint8_t *order;		/* --deck */
	unsigned int order_count;
	uint16_t boards[OPERATOR_BOARDS_MAX];
	unsigned int board_count;
	struct scenario *scenario;	/* rules for every machine */
	char *scenario_text;
	size_t scenario_length;
	const char *scenario_name;
	struct machine_config machine;
	struct device_config device;
	bool capabilities_given;
};

static const struct { const char *name; uint32_t bit; } capabilities[] = {
	{ "exit-sensors", DEALBOX_CAP_EXIT_SENSORS },
	{ "board-reader", DEALBOX_CAP_BOARD_READER },
	{ "board-lock", DEALBOX_CAP_BOARD_LOCK },
	{ "face-sensor", DEALBOX_CAP_FACE_SENSOR },
	{ "double-feed-sensor", DEALBOX_CAP_DOUBLE_FEED_SENSOR },
	{ "test-deal", DEALBOX_CAP_TEST_DEAL },
	{ "keys", DEALBOX_CAP_KEYS },
	{ "by-card", DEALBOX_CAP_BY_CARD },
	{ "by-position", DEALBOX_CAP_BY_POSITION },
	{ "capture", DEALBOX_CAP_CAPTURE },
};

static const struct option_text {
	const char *name, *arg, *help;
	char letter;
} option_texts[] = {
	{ "socket", "PATH", "serve the library's emu:PATH (no root, no kernel module)", 's' },
	{ "usbip", NULL, "plug the machine into this computer through vhci_hcd (root)", 'u' },
	{ "port", "N", "port of vhci_hcd; otherwise the first free one", 'p' },
	{ "machines", "N", "so many machines; .1, .2... is put behind paths, -1, -2... behind serials", 'n' },
	{ "kind", "stored|routed", "who holds the plan: the machine, or the host routes each card", 'k' },
	{ "speed", "FACTOR", "1 = about 10 cards a second, 0 = as fast as the host fetches events", 'x' },
	{ "seed", "N", "order of the cards, and all else that is left to chance", 'r' },
	{ "pack", "bridge|preferans|jokers", "which cards a pack has: 52, 32 or 54", 'c' },
	{ "packs", "N", "packs in the hopper", 'P' },
	{ "deck", "FILE", "these cards in this order, instead of shuffled packs", 'd' },
	{ "boards", "LIST", "numbers on the boards, e.g. 1-16,1-16; the machine reads them", 'b' },
	{ "manual", NULL, "nobody serves the machine: boards go in and out by --control", 'm' },
	{ "scenario", "FILE", "what goes wrong, and when", 'f' },
	{ "control", "PATH", "socket for commands, one a line", 'C' },
	{ "account", "FILE", "what lay in each board that was taken out, as JSON lines (shows cards)", 'a' },
	{ "state", "FILE", "what the machine keeps without power", 'S' },
	{ "trace", "FILE", "every transfer in hex (shows cards)", 't' },
	{ "serial", "TEXT", "serial number", 'i' },
	{ "name", "TEXT", "name of the model", 'N' },
	{ "reader", "none|barcode|camera|other", "how cards are read", 'R' },
	{ "pockets", "N", "pockets of a board, 1 to 8", 'o' },
	{ "pocket-capacity", "N", "cards that fit into a pocket, 1 to 64", 'O' },
	{ "hopper", "N", "cards that fit into the hopper, 1 to 512", 'H' },
	{ "plan-cards", "N", "longest plan, 1 to 64", 'L' },
	{ "capabilities", "LIST", "exactly these, e.g. by-card,exit-sensors", 'K' },
	{ "gate-deadline", "US", "routed: time for the host to answer a card, in microseconds", 'g' },
	{ "packet", "BYTES", "wMaxPacketSize of the event endpoint, 32 to 1024", 'e' },
	{ "tell", "PATH", "gives the command behind it to the emulator with --control PATH, prints its answer", 'T' },
	{ "help", NULL, "this text", 'h' },
	{ "version", NULL, "the version", 'V' },
};

#define OPTIONS	(sizeof(option_texts) / sizeof(*option_texts))

static void help(void)
{
	size_t i;

	puts("usage: dealbox-emulator --socket PATH [OPTION...]\n"
	     "       dealbox-emulator --usbip [--port N] [OPTION...]\n"
	     "       dealbox-emulator --tell PATH COMMAND...\n"
	     "A card-dealing machine as an ordinary process.\n\nOptions:");
	for (i = 0; i < OPTIONS; i++) {
		int width = printf("  --%s%s%s", option_texts[i].name,
				   option_texts[i].arg ? " " : "",
				   option_texts[i].arg ? option_texts[i].arg : "");

		printf("%*s%s\n", width < 28 ? 28 - width : 2, "", option_texts[i].help);
	}
	fputs("\nCapabilities:", stdout);
	for (i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++)
		printf(" %s", capabilities[i].name);
	printf("\n\nCommands of --control:\n%s", control_help());
	printf("\nRules of --scenario are \"CONDITIONS: ACTION\". Actions:\n%s", scenario_help());
	puts("\nExit status: 0 ended by a signal, or --tell was answered \"ok\"; 1 --tell was answered\n"
	     "\"error\"; 2 usage or input; 3 a socket, file or port failed.\n"
	     "See dealbox-emulator(1).");
}

static uint64_t number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || *text < '0' || *text > '9' || value < min || value > max)
		die(EXIT_USAGE, "--%s %s: a number from %" PRIu64 " to %" PRIu64 " is needed", option,
		    text, min, max);
	return value;
}

static unsigned int choice(const char *option, const char *text, const char *choices)
{
	unsigned int index = 0;
	const char *at = choices;

	while (*at) {
		size_t length = strcspn(at, "|");

		if (strlen(text) == length && !strncmp(at, text, length))
			return index;
		index++;
		at += length + (at[length] == '|');
	}
	die(EXIT_USAGE, "--%s %s: one of %s is needed", option, text, choices);
}

static void set_text(const char *option, char *to, size_t size, const char *text)
{
	const char *c;

	if (!*text || strlen(text) >= size)
		die(EXIT_USAGE, "--%s: 1 to %zu characters are needed", option, size - 1);
	for (c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			die(EXIT_USAGE, "--%s: only printable ASCII characters are possible", option);
	strcpy(to, text);
}

static void set_capabilities(struct options *o, const char *text)
{
	char copy[400], *state = NULL, *word;
	uint32_t *bits = &o->machine.desc.capabilities;
	size_t i;

	*bits = 0;
	o->capabilities_given = true;
	if (strlen(text) >= sizeof(copy))
		die(EXIT_USAGE, "--capabilities: the list is too long");
	strcpy(copy, text);
	for (word = strtok_r(copy, ",", &state); word; word = strtok_r(NULL, ",", &state)) {
		for (i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++)
			if (!strcmp(word, capabilities[i].name))
				break;
		if (i == sizeof(capabilities) / sizeof(*capabilities))
			die(EXIT_USAGE, "--capabilities: there is no \"%s\"; --help lists them", word);
		*bits |= capabilities[i].bit;
	}
}

/* Numbers and ranges with commas between them: 1-16,5,20-17 */
static void set_boards(struct options *o, const char *text)
{
	while (*text) {
		unsigned long from, to;
		char *end;

		from = to = strtoul(text, &end, 10);
		if (end != text && *end == '-')
			to = strtoul(end + 1, &end, 10);
		if (end == text || (*end && *end != ',') || !from || !to || from > 65535 ||
		    to > 65535)
			die(EXIT_USAGE, "--boards: numbers from 1 to 65535 and ranges are needed, e.g. 1-16,20");
		text = end + (*end == ',');
		for (;; from < to ? from++ : from--) {
			if (o->board_count == OPERATOR_BOARDS_MAX)
				die(EXIT_USAGE, "--boards: at most %d", OPERATOR_BOARDS_MAX);
			o->boards[o->board_count++] = from;
			if (from == to)
				break;
		}
	}
}

/* A whole file; says what is wrong and ends if it cannot be had. */
static char *read_file(const char *option, const char *path, size_t max, size_t *length)
{
	FILE *file = fopen(path, "re");
	char *text;

	if (!file)
		die(EXIT_USAGE, "--%s %s: %s", option, path, strerror(errno));
	text = malloc(max + 1);
	if (!text)
		die(EXIT_MACHINE, "no memory");
	*length = fread(text, 1, max + 1, file);
	if (ferror(file))
		die(EXIT_USAGE, "--%s %s: %s", option, path, strerror(errno));
	if (*length > max)
		die(EXIT_USAGE, "--%s %s: longer than %zu bytes", option, path, max);
	fclose(file);
	text[*length] = '\0';
	return text;
}

/* Words, each a card, the first on top of the hopper; # starts a comment. */
static void set_deck(struct options *o, const char *path)
{
	size_t length;
	char *text = read_file("deck", path, 65536, &length), *at = text;
	unsigned int line = 1;

	o->order = calloc(PILE_MAX, 1);
	if (!o->order)
		die(EXIT_MACHINE, "no memory");
	for (;;) {
		size_t size;
		int card;

		at += strspn(at, " \t\r");
		if (*at == '#')
			at += strcspn(at, "\n");
		if (!*at)
			break;
		if (*at == '\n') {
			line++;
			at++;
			continue;
		}
		size = strcspn(at, " \t\r\n#");
		card = -1;
		if (size < 8) {
			char word[8] = { 0 };

			memcpy(word, at, size);
			card = card_parse(word);
		}
		if (card < 0)
			die(EXIT_USAGE, "%s:%u: a card is needed, such as SA, h10 or joker1", path, line);
		if (o->order_count == o->machine.desc.hopper)
			die(EXIT_USAGE, "%s:%u: more cards than the %u of the hopper; see --hopper",
			    path, line, o->machine.desc.hopper);
		o->order[o->order_count++] = card;
		at += size;
	}
	if ((size_t)(at - text) != length)
		die(EXIT_USAGE, "%s:%u: a zero byte: this is no text", path, line);
	if (!o->order_count)
		die(EXIT_USAGE, "%s: there is no card in it", path);
	free(text);
}

static void take_option(struct options *o, const char *name, char letter, const char *arg)
{
	static const uint64_t packs[] = { PACK_BRIDGE, PACK_PREFERANS, (1ULL << 54) - 1 };
	struct wire_descriptor *desc = &o->machine.desc;
	char *end;

	switch (letter) {
	case 's':
		o->socket = arg;
		break;
	case 'u':
		o->usbip = true;
		break;
	case 'p':
		o->port = number(name, arg, 0, 1023);
		break;
	case 'n':
		o->machines = number(name, arg, 1, MACHINES_MAX);
		break;
	case 'k':
		desc->capabilities &= ~(DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_HOST_ROUTED);
		desc->capabilities |= choice(name, arg, "stored|routed") ?
			DEALBOX_CAP_HOST_ROUTED : DEALBOX_CAP_STORED_PLAN;
		break;
	case 'x':
		o->machine.speed = strtod(arg, &end);
		if (end == arg || *end || !(o->machine.speed >= 0 && o->machine.speed <= 1e6))
			die(EXIT_USAGE, "--speed %s: a factor from 0 to 1000000 is needed", arg);
		break;
	case 'r':
		o->machine.seed = number(name, arg, 0, UINT64_MAX);
		break;
	case 'c':
		o->cards = packs[choice(name, arg, "bridge|preferans|jokers")];
		break;
	case 'P':
		o->packs = number(name, arg, 0, 100);
		break;
	case 'b':
		set_boards(o, arg);
		break;
	case 'm':
		o->manual = true;
		break;
	case 'f':
		free(o->scenario_text);
		o->scenario_name = arg;
		o->scenario_text = read_file(name, arg, 4 << 20, &o->scenario_length);
		break;
	case 'C':
		o->control = arg;
		break;
	case 'a':
		o->account = arg;
		break;
	case 'S':
		o->state = arg;
		break;
	case 't':
		o->trace = arg;
		break;
	case 'i':
		set_text(name, o->device.serial, sizeof(o->device.serial) - 4, arg);
		break;
	case 'N':
		set_text(name, o->device.product, WIRE_NAME_SIZE + 1, arg);
		break;
	case 'R':
		desc->reader = choice(name, arg, "none|barcode|camera|other");
		break;
	case 'o':
		desc->pockets = number(name, arg, 1, DEALBOX_MAX_POCKETS);
		break;
	case 'O':
		desc->pocket_capacity = number(name, arg, 1, DEALBOX_MAX_ENTRIES);
		break;
	case 'H':
		desc->hopper = number(name, arg, 1, PILE_MAX);
		break;
	case 'L':
		desc->plan_entries = number(name, arg, 1, DEALBOX_MAX_ENTRIES);
		break;
	case 'g':
		desc->gate_deadline_us = number(name, arg, 1, UINT32_MAX);
		break;
	case 'e':
		o->device.int_in_size = number(name, arg, 32, 1024);
		break;
	case 'T':
		o->tell = arg;
		break;
	case 'h':
		help();
		exit(0);
	case 'V':
		puts("dealbox-emulator " EMULATOR_VERSION);
		exit(0);
	}
}

/* What the options say only together. */
static void check_options(struct options *o, const char *deck, const char *list)
{
	struct wire_descriptor *desc = &o->machine.desc;
	uint32_t kind = desc->capabilities & (DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_HOST_ROUTED);
	uint8_t buf[WIRE_DESC_SIZE];
	struct wire_descriptor again;

	if (o->usbip == (o->socket != NULL))
		die(EXIT_USAGE, "exactly one of --socket PATH and --usbip is needed; see --help");
	if (o->port >= 0 && (!o->usbip || o->machines > 1))
		die(EXIT_USAGE, "--port goes with --usbip and one machine");
	if (list) {
		set_capabilities(o, list);
		desc->capabilities |= kind;
	} else if (desc->reader == DEALBOX_READER_NONE) {
		desc->capabilities &= ~(DEALBOX_CAP_BY_CARD | DEALBOX_CAP_CAPTURE);
	}
	if (o->board_count && !list)
		desc->capabilities |= DEALBOX_CAP_BOARD_READER;
	if (kind == DEALBOX_CAP_STORED_PLAN)
		desc->gate_deadline_us = 0;
	wire_descriptor_put(buf, desc);
	if (!wire_descriptor_get(buf, sizeof(buf), &again))
		die(EXIT_USAGE, "--capabilities: by-card or by-position is needed, and by-card and capture need a reader");
	if (deck)
		set_deck(o, deck);
	memcpy(o->machine.info.name, o->device.product, sizeof(o->machine.info.name));
}

/* Gives one command to another emulator. The exit status says what it answered. */
static int tell(const char *path, char **words)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool first = true, good = false;
	FILE *file;
	int fd, c;

	if (!*words)
		die(EXIT_USAGE, "--tell: a command is needed; --help lists them");
	if (strlen(path) >= sizeof(address.sun_path))
		die(EXIT_USAGE, "--tell %s: no socket has so long a path", path);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	file = fd < 0 ? NULL : fdopen(fd, "r+");
	if (!file || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die(EXIT_MACHINE, "%s: %s: is there an emulator with --control?", path,
		    strerror(errno));
	for (; *words; words++)
		fprintf(file, "%s%c", *words, words[1] ? ' ' : '\n');
	fflush(file);
	while ((c = fgetc(file)) != EOF && c != '\n') {
		good |= first && c == 'o';
		first = false;
		putchar(c);
	}
	if (c == EOF)
		die(EXIT_MACHINE, "%s: the emulator did not answer", path);
	putchar('\n');
	fclose(file);
	return good ? 0 : 1;
}

static void parse_options(struct options *o, int argc, char **argv)
{
	struct option longs[OPTIONS + 1] = { 0 };
	const char *deck = NULL, *list = NULL;
	int index, letter;
	size_t i;

	for (i = 0; i < OPTIONS; i++)
		longs[i] = (struct option){ option_texts[i].name,
			option_texts[i].arg ? required_argument : no_argument, NULL,
			option_texts[i].letter };
	while ((letter = getopt_long(argc, argv, "", longs, &index)) != -1) {
		if (letter == '?')
			exit(EXIT_USAGE);
		if (letter == 'd')
			deck = optarg;
		else if (letter == 'K')
			list = optarg;
		else
			take_option(o, longs[index].name, letter, optarg);
	}
	if (o->tell)
		exit(tell(o->tell, argv + optind));
	if (optind < argc)
		die(EXIT_USAGE, "\"%s\" is not understood; see --help", argv[optind]);
	check_options(o, deck, list);
}

/* --- one machine ---------------------------------------------------------------------- */

struct client {
	int in, out;		/* -1 = nobody */
	size_t length;
	char line[CONTROL_LINE_MAX];
	bool waits;		/* line is a "wait" that does not hold yet */
};

struct instance {
	struct machine *machine;
	struct device *device;
	struct operator operator;
	struct scenario *scenario;
	struct front *front;
	struct control control;
	FILE *account, *trace;
	char *state, *control_path;
	int control_listener;	/* -1 = none */
	struct client clients[CLIENTS_MAX];
};

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

static void save(void *context, const struct machine_memory *memory)
{
	const struct instance *in = context;

	if (in->state && memory_save(in->state, memory))
		die(EXIT_MACHINE, "%s: %s; a number might be given twice, so the machine stops",
		    in->state, strerror(errno));
}

static void account(void *context, const struct machine_board *board)
{
	const struct instance *in = context;
	static char line[CONTROL_REPLY_MAX];

	if (!in->account)
		return;
	if (account_json(board, line, sizeof(line)) < 0 ||
	    fprintf(in->account, "%s\n", line) < 0 || fflush(in->account))
		die(EXIT_MACHINE, "the account cannot be written: %s", strerror(errno));
}

/* "path", or "path.N" when there are several machines; owned by the caller */
static char *path_of(const struct options *o, const char *path, unsigned int index)
{
	char *name = NULL;

	if (!path)
		return NULL;
	if (asprintf(&name, o->machines > 1 ? "%s.%u" : "%s", path, index + 1) < 0)
		die(EXIT_MACHINE, "no memory");
	return name;
}

static FILE *open_output(const struct options *o, const char *path, unsigned int index)
{
	char *name = path_of(o, path, index);
	FILE *file;
	int fd;

	if (!name)
		return NULL;
	/* cards are in it: for nobody else's eyes */
	fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "a");
	if (!file)
		die(EXIT_MACHINE, "%s: %s", name, strerror(errno));
	free(name);
	return file;
}

static void open_control(struct instance *in, const struct options *o, unsigned int index)
{
	unsigned int i;

	in->control = (struct control){ in->machine, &in->operator, in->scenario };
	in->control_listener = -1;
	for (i = 0; i < CLIENTS_MAX; i++)
		in->clients[i].in = in->clients[i].out = -1;
	if (!o->control)
		return;
	in->control_path = path_of(o, o->control, index);
	in->control_listener = socket_listen(in->control_path, SOCK_STREAM);
	if (in->control_listener < 0)
		exit(EXIT_MACHINE);
}

static void instance_open(struct instance *in, const struct options *o, unsigned int index)
{
	struct machine_config config = o->machine;
	struct device_config device = o->device;
	struct machine_memory memory = { 0 };
	char error[400], *path;

	in->scenario = scenario_new();
	if (!in->scenario)
		die(EXIT_MACHINE, "no memory");
	if (o->scenario_text && !scenario_parse(in->scenario, o->scenario_name, o->scenario_text,
						o->scenario_length, error, sizeof(error)))
		die(EXIT_USAGE, "%s", error);
	in->account = open_output(o, o->account, index);
	in->trace = open_output(o, o->trace, index);
	in->state = path_of(o, o->state, index);
	if (in->state && memory_load(in->state, &memory, error, sizeof(error)))
		die(EXIT_USAGE, "%s", error);
	config.seed += index;
	config.scenario = in->scenario;
	config.context = in;
	config.save = save;
	config.account = account;
	in->machine = machine_new(&config, &memory, now_us());
	if (o->machines > 1)
		sprintf(device.serial + strlen(device.serial), "-%u", index + 1);
	in->device = in->machine ? device_new(in->machine, &device) : NULL;
	if (!in->device)
		die(EXIT_MACHINE, "no memory");
	operator_init(&in->operator, in->machine, config.seed);
	in->operator.absent = o->manual;
	in->operator.board_count = o->board_count;
	memcpy(in->operator.boards, o->boards, sizeof(o->boards));
	if (o->order)
		operator_fill_order(&in->operator, o->order, o->order_count);
	else
		operator_fill(&in->operator, o->cards, o->packs);
	open_control(in, o, index);
	if (o->socket) {
		path = path_of(o, o->socket, index);
		in->front = front_socket_open(path, in->device, in->machine, in->trace);
		free(path);
	} else {
		in->front = front_usbip_open(o->port, in->device, in->machine, in->trace);
	}
	if (!in->front)
		exit(EXIT_MACHINE);
	printf("dealbox-emulator: machine %s is ready\n", device.serial);
	fflush(stdout);
}

static void instance_close(struct instance *in)
{
	struct machine_view view = machine_view(in->machine);
	unsigned int i;

	in->front->ops->close(in->front);
	if (view.board->present)
		account(in, view.board);
	save(in, view.memory);
	for (i = 0; i < CLIENTS_MAX; i++)
		if (in->clients[i].in >= 0)
			close(in->clients[i].in);
	if (in->control_listener >= 0) {
		close(in->control_listener);
		unlink(in->control_path);
	}
	if (in->account)
		fclose(in->account);
	if (in->trace)
		fclose(in->trace);
	device_free(in->device);
	machine_free(in->machine);
	scenario_free(in->scenario);
	free(in->state);
	free(in->control_path);
}

/* --- the control socket ------------------------------------------------------------------- */

static void client_close(struct client *client)
{
	close(client->in);
	client->in = client->out = -1;
	client->length = 0;
	client->waits = false;
}

/* Carries out the whole lines that have come; a "wait" holds up those behind it. */
static void client_lines(struct instance *in, struct client *client)
{
	static char reply[CONTROL_REPLY_MAX];
	char *end;

	client->waits = false;
	while (client->in >= 0 && (end = memchr(client->line, '\n', client->length))) {
		size_t used = end + 1 - client->line, length;

		*end = '\0';
		if (!control_line(&in->control, client->line, reply, sizeof(reply) - 1)) {
			*end = '\n';
			client->waits = true;
			return;
		}
		client->length -= used;
		memmove(client->line, client->line + used, client->length);
		length = strlen(reply);
		reply[length++] = '\n';
		if (send(client->out, reply, length, MSG_NOSIGNAL | MSG_DONTWAIT) !=
		    (ssize_t)length)
			client_close(client);
	}
	if (client->in >= 0 && client->length == sizeof(client->line))
		client_close(client);	/* no line is so long */
}

static void client_read(struct client *client)
{
	ssize_t got = recv(client->in, client->line + client->length,
			   sizeof(client->line) - client->length, MSG_DONTWAIT);

	if (got > 0)
		client->length += got;
	else if (got == 0 || errno != EAGAIN)
		client_close(client);
}

static void client_accept(struct instance *in)
{
	int fd = accept4(in->control_listener, NULL, NULL, SOCK_CLOEXEC);
	unsigned int i;

	for (i = 0; i < CLIENTS_MAX && fd >= 0; i++) {
		if (in->clients[i].in < 0) {
			in->clients[i].in = in->clients[i].out = fd;
			return;
		}
	}
	if (fd >= 0)
		close(fd);
}

/* --- the loop -------------------------------------------------------------------------------- */

#define FDS_PER_MACHINE	(FRONT_POLL_MAX + 1 + CLIENTS_MAX)

static unsigned int instance_poll(struct instance *in, struct pollfd *fds)
{
	unsigned int count, i;

	for (i = 0; i < FRONT_POLL_MAX; i++)
		fds[i].fd = -1;
	in->front->ops->poll(in->front, fds);
	count = FRONT_POLL_MAX;
	fds[count++] = (struct pollfd){ .fd = in->control_listener, .events = POLLIN };
	for (i = 0; i < CLIENTS_MAX; i++)
		fds[count++] = (struct pollfd){ .fd = in->clients[i].in, .events = POLLIN };
	return count;
}

/* Brings machine, operator, front and clients to the present. */
static void instance_run(struct instance *in, uint64_t now)
{
	bool again;
	unsigned int i;

	do {
		machine_run(in->machine, now);
		in->front->ops->flush(in->front, now);
		again = operator_run(&in->operator, now);
		for (i = 0; i < CLIENTS_MAX; i++) {
			size_t before = in->clients[i].length;

			if (before)
				client_lines(in, &in->clients[i]);
			again |= in->clients[i].length != before;
		}
	} while (again || machine_next(in->machine) <= now);
}

static void instance_serve(struct instance *in, const struct pollfd *fds, uint64_t now)
{
	unsigned int i;

	machine_run(in->machine, now);
	in->front->ops->serve(in->front, fds, now);
	fds += FRONT_POLL_MAX;
	if (fds[0].fd >= 0 && fds[0].revents)
		client_accept(in);
	for (i = 0; i < CLIENTS_MAX; i++)
		if (fds[1 + i].fd >= 0 && fds[1 + i].revents)
			client_read(&in->clients[i]);
	instance_run(in, now);
}

static uint64_t instance_next(const struct instance *in)
{
	uint64_t next = machine_next(in->machine), other = operator_next(&in->operator);

	if (other < next)
		next = other;
	other = in->front->ops->next(in->front);
	return other < next ? other : next;
}

static void wait_for(struct pollfd *fds, unsigned int count, uint64_t until)
{
	uint64_t now = now_us(), us = until > now ? until - now : 0;
	struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	if (ppoll(fds, count, until == MACHINE_NEVER ? NULL : &time, NULL) < 0 && errno != EINTR)
		die(EXIT_MACHINE, "poll: %s", strerror(errno));
}

static void loop(struct instance *instances, unsigned int machines, int signals)
{
	static struct pollfd fds[1 + MACHINES_MAX * FDS_PER_MACHINE];
	unsigned int i, count;

	for (i = 0; i < machines; i++)
		instance_run(&instances[i], now_us());
	for (;;) {
		uint64_t next = MACHINE_NEVER;

		fds[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
		count = 1;
		for (i = 0; i < machines; i++) {
			uint64_t at = instance_next(&instances[i]);

			count += instance_poll(&instances[i], fds + count);
			if (at < next)
				next = at;
		}
		wait_for(fds, count, next);
		if (fds[0].revents)
			return;
		for (i = 0; i < machines; i++)
			instance_serve(&instances[i], fds + 1 + i * FDS_PER_MACHINE, now_us());
	}
}

/* SIGINT and SIGTERM end the emulator, in order. */
static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		die(EXIT_MACHINE, "signalfd: %s", strerror(errno));
	return fd;
}

int main(int argc, char **argv)
{
	static struct instance instances[MACHINES_MAX];
	static struct options options = {
		.port = -1, .machines = 1, .packs = 2, .cards = PACK_BRIDGE,
		.machine = {
			.speed = 1, .seed = 1,
			.desc = {
				.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION,
				.pockets = 4, .pocket_capacity = 64, .hopper = 220,
				.plan_entries = DEALBOX_MAX_ENTRIES,
				.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_EXIT_SENSORS |
					DEALBOX_CAP_FACE_SENSOR | DEALBOX_CAP_DOUBLE_FEED_SENSOR |
					DEALBOX_CAP_TEST_DEAL | DEALBOX_CAP_KEYS |
					DEALBOX_CAP_BY_CARD | DEALBOX_CAP_BY_POSITION |
					DEALBOX_CAP_CAPTURE,
				/* an emulated computer under load meets this, too */
				.gate_deadline_us = 500000,
			},
			.info = { .version = WIRE_VERSION, .firmware = 1 << 24, .hardware = 1 },
		},
		.device = { .serial = "EMU1", .product = "dealbox emulator", .int_in_size = 256 },
	};
	unsigned int i;
	int signals;

	parse_options(&options, argc, argv);
	signals = open_signals();
	for (i = 0; i < options.machines; i++)
		instance_open(&instances[i], &options, i);
	loop(instances, options.machines, signals);
	for (i = 0; i < options.machines; i++)
		instance_close(&instances[i]);
	free(options.order);
	free(options.scenario_text);
	return 0;
}
