/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dealbox/card.h"
#include "frame.h"
#include "machine_wire.h"
#include "options.h"

static const struct options defaults = {
	.port = -1, .serve = -1, .machines = 1, .packs = 2, .cards = DEALBOX_PACK_BRIDGE,
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
			/* long enough for a virtual machine under load */
			.gate_deadline_us = 500000,
		},
		.info = { .version = WIRE_VERSION, .firmware = 1 << 24, .hardware = 1 },
	},
	.device = { .serial = "EMU1", .product = "dealbox emulator", .int_in_size = 256,
		    .protocol = WIRE_PROTOCOL },
};

void die(int status, const char *format, ...)
{
	va_list args;

	fputs("dealbox-emulator: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

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
	{ "refuses-by-result", DEALBOX_CAP_REFUSES_BY_RESULT },
	{ "attest", DEALBOX_CAP_ATTEST },
};

static const struct option_text {
	const char *name, *arg, *help;
	char letter;
} option_texts[] = {
	{ "socket", "PATH", "serve the library's emu:PATH (no root, no kernel module)", 's' },
	{ "usbip", NULL, "plug the machine into this computer through vhci_hcd (root)", 'u' },
	{ "usbredir", "PATH", "plug the machine into a virtual machine, "
			      "by QEMU's usb-redir at this socket", 'q' },
	{ "gadget", "UDC", "be the machine at the other end of this USB "
			   "device controller's cable (root)", 'G' },
	{ "serve", "TCP-PORT", "be a USB/IP server on 127.0.0.1; 0 = any free port", 'l' },
	{ "port", "N", "port of vhci_hcd; otherwise the first free one", 'p' },
	{ "machines", "N", "so many machines; .1, .2... is put behind paths, "
			   "-1, -2... behind serials", 'n' },
	{ "kind", "stored|routed", "who holds the plan: the machine, or the host routes each card",
	  'k' },
	{ "dialect", "native|serial",
	  "what it speaks on USB: docs/protocol.md, or docs/protocol-serial.md", 'D' },
	{ "descriptor", "usb|request",
	  "where it says what it can do: among USB's descriptors, or only when asked", 'Q' },
	{ "speed", "FACTOR", "1 = about 10 cards a second, 0 = as fast as the host fetches events",
	  'x' },
	{ "seed", "N", "order of the cards, and all else that is left to chance", 'r' },
	{ "pack", "bridge|preferans|jokers", "which cards a pack has: 52, 32 or 54", 'c' },
	{ "packs", "N", "packs in the hopper", 'P' },
	{ "deck", "FILE", "these cards in this order, instead of shuffled packs", 'd' },
	{ "boards", "LIST", "numbers on the boards, e.g. 1-16,1-16; the machine reads them", 'b' },
	{ "manual", NULL, "nobody serves the machine: boards go in and out by --control", 'm' },
	{ "scenario", "FILE", "what goes wrong, and when", 'f' },
	{ "control", "PATH", "socket for commands, one a line", 'C' },
	{ "account", "FILE", "what lay in each board that was taken out, "
			     "as JSON lines (shows cards)", 'a' },
	{ "state", "FILE", "what the machine keeps without power", 'S' },
	{ "trace", "FILE", "every transfer in hex (shows cards)", 't' },
	{ "mutant", "NAME", "for tests of tests: violate one requirement of the protocol; "
			    "list = which there are", 'M' },
	{ "serial", "TEXT", "serial number", 'i' },
	{ "name", "TEXT", "name of the model", 'N' },
	{ "reader", "none|barcode|camera|other", "how cards are read", 'R' },
	{ "pockets", "N", "pockets of a board, 1 to 8", 'o' },
	{ "pocket-capacity", "N", "cards that fit into a pocket, 1 to 64", 'O' },
	{ "hopper", "N", "cards that fit into the hopper, 1 to 512", 'H' },
	{ "plan-cards", "N", "longest plan, 1 to 64", 'L' },
	{ "capabilities", "LIST", "exactly these, e.g. by-card,exit-sensors", 'K' },
	{ "gate-deadline", "US", "routed: time for the host to answer a card, in microseconds",
	  'g' },
	{ "packet", "BYTES", "wMaxPacketSize of the event endpoint, 32 to 1024", 'e' },
	{ "tell", "PATH", "gives the command behind it to the emulator with --control PATH, "
			  "prints its answer", 'T' },
	{ "help", NULL, "this text", 'h' },
	{ "version", NULL, "the version", 'V' },
};

#define OPTIONS	(sizeof(option_texts) / sizeof(*option_texts))

static void help(void)
{
	size_t i;

	puts("usage: dealbox-emulator --socket PATH [OPTION...]\n"
	     "       dealbox-emulator --usbip [--port N] [OPTION...]\n"
	     "       dealbox-emulator --usbredir PATH [OPTION...]\n"
	     "       dealbox-emulator --gadget UDC [OPTION...]\n"
	     "       dealbox-emulator --serve TCP-PORT [OPTION...]\n"
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
	puts("\n"
	     "Exit status: 0 ended by a signal, or --tell was answered \"ok\"; 1 --tell was\n"
	     "answered \"error\"; 2 usage or input; 3 a socket, file or port failed.\n"
	     "See dealbox-emulator(1).");
}

static uint64_t number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || *text < '0' || *text > '9' || value < min || value > max)
		die(EXIT_USAGE, "--%s %s: a number from %" PRIu64 " to %" PRIu64 " is needed",
		    option, text, min, max);
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
			die(EXIT_USAGE, "--%s: only printable ASCII characters are possible",
			    option);
	strcpy(to, text);
}

static void set_capabilities(struct options *o, const char *text)
{
	char copy[400], *state = NULL, *word;
	uint32_t *bits = &o->machine.desc.capabilities;
	size_t i;

	*bits = 0;
	if (strlen(text) >= sizeof(copy))
		die(EXIT_USAGE, "--capabilities: the list is too long");
	strcpy(copy, text);
	for (word = strtok_r(copy, ",", &state); word; word = strtok_r(NULL, ",", &state)) {
		for (i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++)
			if (!strcmp(word, capabilities[i].name))
				break;
		if (i == sizeof(capabilities) / sizeof(*capabilities))
			die(EXIT_USAGE, "--capabilities: there is no \"%s\"; --help lists them",
			    word);
		*bits |= capabilities[i].bit;
	}
}

static void set_mutant(struct options *o, const char *name)
{
	if (!strcmp(name, "list")) {
		mutants_list();
		exit(0);
	}
	o->mutant = mutant_find(name);
	if (!o->mutant)
		die(EXIT_USAGE, "--mutant %s: there is none; --mutant list names them", name);
	o->machine.mutant = (struct machine_mutant){ o->mutant->code, o->mutant->request,
						     o->mutant->state };
}

/* Parse numbers and ranges such as 1-16,5,20-17. */
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
			die(EXIT_USAGE, "--boards: numbers from 1 to 65535 and ranges are needed, "
			    "e.g. 1-16,20");
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

/* Read a whole file. Exits with a message on errors. */
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

/* Read cards, separated by blanks, the first on top of the hopper. # starts a comment. */
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
			die(EXIT_USAGE, "%s:%u: a card is needed, such as SA, h10 or joker1", path,
			    line);
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
	static const uint64_t packs[] = { DEALBOX_PACK_BRIDGE, DEALBOX_PACK_PREFERANS,
					  (1ULL << 54) - 1 };
	struct wire_descriptor *desc = &o->machine.desc;
	char *end;

	switch (letter) {
	case 's':
		o->socket = arg;
		break;
	case 'u':
		o->usbip = true;
		break;
	case 'l':
		o->serve = number(name, arg, 0, 65535);
		break;
	case 'G':
		o->gadget = arg;
		break;
	case 'q':
		o->usbredir = arg;
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
	case 'D':
		o->device.protocol = choice(name, arg, "native|serial") ?
				     FRAME_PROTOCOL : WIRE_PROTOCOL;
		break;
	case 'Q':
		o->device.by_request = choice(name, arg, "usb|request");
		break;
	case 'x':
		o->machine.speed = strtod(arg, &end);
		if (end == arg || *end ||
		    !(o->machine.speed >= 0 && o->machine.speed <= MACHINE_SPEED_MAX))
			die(EXIT_USAGE, "--speed %s: a factor from 0 to %.0f is needed", arg,
			    MACHINE_SPEED_MAX);
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
		free(o->scenario);
		o->scenario_name = arg;
		o->scenario = read_file(name, arg, 4 << 20, &o->scenario_length);
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
	case 'M':
		set_mutant(o, arg);
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

/* Check combinations of options. */
static void check_options(struct options *o, const char *deck, const char *list)
{
	struct wire_descriptor *desc = &o->machine.desc;
	uint32_t kind = desc->capabilities & (DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_HOST_ROUTED);
	uint8_t buf[WIRE_DESC_SIZE];
	struct wire_descriptor again;

	if (o->usbip + (o->socket != NULL) + (o->usbredir != NULL) + (o->gadget != NULL) +
	    (o->serve >= 0) != 1)
		die(EXIT_USAGE,
		    "exactly one of --socket PATH, --usbip, --usbredir PATH, --gadget UDC and "
		    "--serve TCP-PORT is needed; see --help");
	if (o->device.protocol == FRAME_PROTOCOL && o->gadget)
		die(EXIT_USAGE,
		    "--dialect serial does not go with --gadget, "
		    "which knows the endpoints of the native dialect only");
	if (o->gadget && o->machines > 1)
		die(EXIT_USAGE, "--gadget goes with one machine");
	if (o->port >= 0 && (!o->usbip || o->machines > 1))
		die(EXIT_USAGE, "--port goes with --usbip and one machine");
	if (list) {
		set_capabilities(o, list);
		desc->capabilities |= kind;
	} else if (desc->reader == DEALBOX_READER_NONE) {
		desc->capabilities &= ~(DEALBOX_CAP_BY_CARD | DEALBOX_CAP_CAPTURE);
	}
	if (o->gadget) {
		/* raw_gadget tells the host that a command has come before the machine sees it */
		desc->capabilities |= DEALBOX_CAP_REFUSES_BY_RESULT;
		o->device.by_request = true;
	}
	if (desc->capabilities & DEALBOX_CAP_REFUSES_BY_RESULT &&
	    (o->device.protocol == FRAME_PROTOCOL || !o->device.by_request))
		die(EXIT_USAGE,
		    "--capabilities refuses-by-result needs --descriptor request, "
		    "and the native dialect");
	if (o->board_count && !list)
		desc->capabilities |= DEALBOX_CAP_BOARD_READER;
	if (kind == DEALBOX_CAP_STORED_PLAN)
		desc->gate_deadline_us = 0;
	wire_descriptor_put(buf, desc);
	if (!dealbox_decode_descriptor(buf, sizeof(buf), &again))
		die(EXIT_USAGE,
		    "--capabilities: by-card or by-position is needed, "
		    "and by-card and capture need a reader");
	if (deck)
		set_deck(o, deck);
	memcpy(o->machine.info.name, o->device.product, sizeof(o->machine.info.name));
}

void options_parse(struct options *o, int argc, char **argv)
{
	struct option longs[OPTIONS + 1] = { 0 };
	const char *deck = NULL, *list = NULL;
	int index, letter;
	size_t i;

	*o = defaults;
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
	o->words = argv + optind;
	if (o->tell)
		return;
	if (optind < argc)
		die(EXIT_USAGE, "\"%s\" is not understood; see --help", argv[optind]);
	check_options(o, deck, list);
}

void options_free(struct options *o)
{
	free(o->order);
	free(o->scenario);
}
