/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program dealbox-emulator from outside: its unix socket (lib/machine/emu.h), control
 * socket, files, messages and exit codes. Nothing here waits for time to pass: each wait is
 * for a line, a frame or the end of a process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "machine/emu.h"
#include "wire.h"

#define PATIENCE_MS	60000	/* something that must come has not */
#define ARGS_MAX	40

static char folder[] = "/tmp/dealbox-emulator-XXXXXX";

static char *path(const char *name)
{
	static char paths[8][200];
	static unsigned int next;
	char *text = paths[next++ % 8];

	snprintf(text, sizeof(paths[0]), "%s/%s", folder, name);
	return text;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(path(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static char *read_file(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	return text;
}

/* --- the process ----------------------------------------------------------------- */

struct process {
	pid_t pid;
	int out;	/* its stdout and stderr */
	char text[65536];
	size_t length;
};

static void spawn(struct process *p, const char *const *args)
{
	const char *argv[ARGS_MAX] = { getenv("EMULATOR") };
	int pipes[2];
	unsigned int i;

	assert_non_null(argv[0]);
	for (i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	memset(p, 0, sizeof(*p));
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (!p->pid) {
		dup2(pipes[1], 1);
		dup2(pipes[1], 2);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(pipes[1]);
	p->out = pipes[0];
}

static void wait_readable(int fd)
{
	struct pollfd fds = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&fds, 1, PATIENCE_MS), 1);
}

/* Reads what the process says until it has said this so many times; NULL = until it ends. */
static void wait_text(struct process *p, const char *text, unsigned int times)
{
	for (;;) {
		const char *at = p->text;
		unsigned int count = 0;
		ssize_t got;

		while (text && (at = strstr(at, text))) {
			at++;
			count++;
		}
		if (text && count >= times)
			return;
		wait_readable(p->out);
		got = read(p->out, p->text + p->length, sizeof(p->text) - 1 - p->length);
		assert_true(got >= 0);
		if (!got && text)
			fail_msg("the emulator ended: %s", p->text);
		if (!got)
			return;
		p->length += got;
	}
}

static int wait_exit(struct process *p)
{
	int status;

	wait_text(p, NULL, 0);
	close(p->out);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void stop(struct process *p)
{
	kill(p->pid, SIGTERM);
	assert_int_equal(wait_exit(p), 0);
}

#define START(process, ...) do { \
	const char *const start_args[] = { __VA_ARGS__, NULL }; \
	spawn(process, start_args); \
	wait_text(process, " is ready\n", 1); \
} while (0)

/* Runs to its end; the exit status. */
#define RUN(process, ...) ({ \
	const char *const run_args[] = { __VA_ARGS__, NULL }; \
	spawn(process, run_args); \
	wait_exit(process); \
})

static const char *tell(const char *control, const char *command)
{
	static struct process p;

	RUN(&p, "--tell", control, command);
	return p.text;
}

/* --- a host ------------------------------------------------------------------------- */

struct host {
	int fd;
	uint32_t id, sequence;
	struct { struct emu_frame head; uint8_t data[EMU_DATA_MAX]; } in;
	struct wire_event events[4096];
	unsigned int count, seen;
	bool route;
};

static int connect_to(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path(name));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void send_frame(int fd, uint32_t kind, uint32_t id, const void *data, uint32_t length)
{
	uint8_t buf[sizeof(struct emu_frame) + EMU_DATA_MAX];
	struct emu_frame head = { .kind = kind, .id = id, .length = length };

	memcpy(buf, &head, sizeof(head));
	if (length)
		memcpy(buf + sizeof(head), data, length);
	assert_int_equal(send(fd, buf, sizeof(head) + length, MSG_NOSIGNAL), sizeof(head) + length);
}

/* False: the machine has hung up. */
static bool receive(struct host *h)
{
	ssize_t got;

	wait_readable(h->fd);
	got = recv(h->fd, &h->in, sizeof(h->in), 0);
	if (got <= 0)
		return false;
	assert_int_equal(got, sizeof(h->in.head) + h->in.head.length);
	return true;
}

static void take_events(struct host *h)
{
	uint32_t at;

	assert_int_equal(h->in.head.length % WIRE_EVENT_SIZE, 0);
	for (at = 0; at < h->in.head.length; at += WIRE_EVENT_SIZE) {
		struct wire_event *event = &h->events[h->count++];
		uint8_t buf[WIRE_GATE_SIZE];

		dealbox_decode_event(h->in.data + at, event);
		if (h->route && event->type == DEALBOX_EV_CARD_READ) {
			struct wire_gate gate = {
				.pocket = event->position % 4, .position = event->position,
				.number = event->number, .insertion = event->insertion,
			};

			dealbox_encode_gate(buf, &gate);
			send_frame(h->fd, EMU_INT_OUT, ++h->id, buf, sizeof(buf));
		}
	}
}

/* The answer to id; events before it are kept. */
static int32_t answer(struct host *h, uint32_t kind, uint32_t id)
{
	for (;;) {
		assert_true(receive(h));
		if (h->in.head.kind == EMU_INT_IN)
			take_events(h);
		else if (h->in.head.kind == kind && h->in.head.id == id)
			return h->in.head.status;
	}
}

static const struct wire_event *until(struct host *h, uint8_t type)
{
	for (;;) {
		while (h->seen < h->count)
			if (h->events[h->seen++].type == type)
				return &h->events[h->seen - 1];
		assert_true(receive(h));
		if (h->in.head.kind == EMU_INT_IN)
			take_events(h);
	}
}

static struct host *attach(const char *name)
{
	struct host *h = calloc(1, sizeof(*h));

	h->fd = connect_to(name);
	send_frame(h->fd, EMU_ATTACH, EMU_VERSION, NULL, 0);
	assert_true(receive(h));
	assert_int_equal(h->in.head.kind, EMU_ATTACHED);
	assert_int_equal(h->in.head.status, 0);
	assert_int_equal(h->in.head.length, sizeof(struct emu_attached));
	return h;
}

static void detach(struct host *h)
{
	close(h->fd);
	free(h);
}

static int32_t command(struct host *h, uint8_t request, uint32_t a, uint32_t b, uint32_t c)
{
	uint8_t buf[8 + WIRE_COMMAND_SIZE] = { WIRE_REQ_OUT, request, 0, 0, 0, 0,
					       WIRE_COMMAND_SIZE };
	struct wire_command cmd = { .sequence = ++h->sequence, .a = a, .b = b, .c = c };

	dealbox_encode_command(buf + 8, &cmd);
	send_frame(h->fd, EMU_CONTROL, ++h->id, buf, sizeof(buf));
	return answer(h, EMU_CONTROL_DONE, h->id);
}

static struct wire_status status(struct host *h)
{
	static const uint8_t setup[8] = { WIRE_REQ_IN, WIRE_GET_STATUS, 0, 0, 0, 0, 32 };
	struct wire_status result;

	send_frame(h->fd, EMU_CONTROL, ++h->id, setup, sizeof(setup));
	assert_int_equal(answer(h, EMU_CONTROL_DONE, h->id), 0);
	assert_int_equal(h->in.head.length, WIRE_STATUS_SIZE);
	assert_true(dealbox_decode_status(h->in.data, &result));
	return result;
}

static void load(struct host *h)
{
	struct wire_plan plan = { .plan_id = 5, .mode = DEALBOX_PLAN_BY_CARD, .entries = 52 };
	uint8_t buf[WIRE_PLAN_MAX];
	unsigned int i;
	size_t size;

	for (i = 0; i < 52; i++)
		plan.pocket[i] = i % 4;
	dealbox_count_plan(&plan);
	size = dealbox_encode_plan(buf, &plan);
	assert_int_equal(command(h, WIRE_LOAD, 5, size, 0), 0);
	send_frame(h->fd, EMU_BULK_OUT, ++h->id, buf, size);
	assert_int_equal(answer(h, EMU_BULK_DONE, h->id), 0);
	assert_int_equal(until(h, DEALBOX_EV_PLAN_LOADED)->arg[0], 0);
}

/* --- tests --------------------------------------------------------------------------- */

static void boards_are_dealt_and_accounted_for(void **state)
{
	struct process p;
	struct stat info;
	struct host *h;
	char *line;
	int board;

	(void)state;
	START(&p, "--socket", path("s"), "--speed", "0", "--boards", "7,9", "--account",
	      path("account"));
	h = attach("s");
	assert_int_equal(until(h, DEALBOX_EV_STATE_LOST)->code, DEALBOX_LOST_POWER_ON);
	for (board = 0; board < 4; board++) {
		const struct wire_event *inserted = until(h, DEALBOX_EV_BOARD_INSERTED);

		assert_int_equal(inserted->arg[0], board % 2 ? 9 : 7);
		if (!board)
			load(h);
		assert_int_equal(command(h, DEALBOX_OP_START, 5, inserted->insertion, 0), 0);
		assert_int_equal(until(h, DEALBOX_EV_DEAL_DONE)->position, 52);
	}
	until(h, DEALBOX_EV_BOARD_INSERTED);
	detach(h);
	stop(&p);
	line = strtok(read_file(path("account")), "\n");
	for (board = 1; board <= 4; board++) {
		char start[100];

		snprintf(start, sizeof(start),
			 "{\"insertion\":%d,\"board\":%d,\"plan\":5,\"deals\":1,\"end\":\"done\",",
			 board, board % 2 ? 7 : 9);
		assert_memory_equal(line, start, strlen(start));
		line = strtok(NULL, "\n");
	}
	/* the board that was in the machine at the end */
	assert_non_null(strstr(line, "\"end\":\"unused\""));
	assert_int_equal(stat(path("account"), &info), 0);
	assert_int_equal(info.st_mode & 077, 0);
	assert_int_equal(access(path("s"), F_OK), -1);
	unlink(path("account"));
}

static void the_host_routes(void **state)
{
	struct process p;
	struct host *h;

	(void)state;
	START(&p, "--socket", path("s"), "--speed", "0", "--kind", "routed");
	h = attach("s");
	h->route = true;
	assert_int_equal(command(h, DEALBOX_OP_START, 5,
				 until(h, DEALBOX_EV_BOARD_INSERTED)->insertion, 52), 0);
	assert_int_equal(until(h, DEALBOX_EV_DEAL_DONE)->position, 52);
	detach(h);
	stop(&p);
}

static void one_host_at_a_time(void **state)
{
	struct process p;
	struct host *h, other = { 0 };

	(void)state;
	START(&p, "--socket", path("s"), "--speed", "0");
	h = attach("s");
	other.fd = connect_to("s");
	assert_true(receive(&other));
	assert_int_equal(other.in.head.kind, EMU_ATTACHED);
	assert_int_equal(other.in.head.status, -EBUSY);
	assert_false(receive(&other));
	close(other.fd);
	/* the first one does not notice */
	assert_int_equal(status(h).state, DEALBOX_STATE_IDLE);
	detach(h);
	h = attach("s");
	detach(h);
	stop(&p);
}

static void nonsense_ends_the_connection(void **state)
{
	static const uint8_t zeros[64];
	struct process p;
	struct host h = { 0 };
	unsigned int i;

	(void)state;
	START(&p, "--socket", path("s"), "--speed", "0");
	h.fd = connect_to("s");
	send_frame(h.fd, EMU_ATTACH, EMU_VERSION + 1, NULL, 0);
	assert_true(receive(&h));
	assert_int_equal(h.in.head.status, -EPROTO);
	assert_false(receive(&h));
	close(h.fd);
	for (i = 0; i < 4; i++) {
		struct emu_frame lie = { .kind = EMU_CONTROL, .length = 4000 };

		h.fd = connect_to("s");
		if (i == 0)
			send_frame(h.fd, EMU_CONTROL, 1, zeros, 8);	/* before ATTACH */
		else
			send_frame(h.fd, EMU_ATTACH, EMU_VERSION, NULL, 0);
		if (i == 1)
			send_frame(h.fd, 99, 1, NULL, 0);
		else if (i == 2)
			assert_int_equal(send(h.fd, &lie, sizeof(lie), 0), sizeof(lie));
		else if (i == 3)
			send_frame(h.fd, EMU_CONTROL, 1, zeros, 7);
		while (receive(&h))
			;
		close(h.fd);
	}
	detach(attach("s"));
	stop(&p);
}

static void a_dead_socket_is_replaced_and_a_file_is_not(void **state)
{
	struct process p, other;
	int ended;

	(void)state;
	START(&p, "--socket", path("s"), "--control", path("c"));
	assert_int_equal(RUN(&other, "--socket", path("s")), 3);
	assert_non_null(strstr(other.text, "another process listens there"));
	kill(p.pid, SIGKILL);
	waitpid(p.pid, &ended, 0);
	close(p.out);
	assert_int_equal(access(path("s"), F_OK), 0);
	START(&p, "--socket", path("s"), "--control", path("c"));
	stop(&p);
	write_file("file", "precious");
	assert_int_equal(RUN(&other, "--socket", path("file")), 3);
	assert_non_null(strstr(other.text, "is not a socket"));
	assert_string_equal(read_file(path("file")), "precious");
	unlink(path("file"));
}

static void losing_the_cable_spends_the_board(void **state)
{
	struct process p;
	struct host *h;
	uint32_t insertion;

	(void)state;
	START(&p, "--socket", path("s"), "--control", path("c"), "--speed", "0", "--manual");
	h = attach("s");
	assert_string_equal(tell(path("c"), "inject position 20: freeze"), "ok\n");
	assert_string_equal(tell(path("c"), "insert 1"), "ok insertion 1\n");
	load(h);
	assert_int_equal(command(h, DEALBOX_OP_START, 5, 1, 0), 0);
	assert_string_equal(tell(path("c"), "wait frozen"), "ok\n");
	/* the host dies */
	detach(h);
	assert_string_equal(tell(path("c"), "wait state IDLE"), "ok\n");
	assert_string_equal(tell(path("c"), "thaw"), "ok\n");
	h = attach("s");
	assert_int_equal(until(h, DEALBOX_EV_STATE_LOST)->code, DEALBOX_LOST_RESET);
	insertion = until(h, DEALBOX_EV_BOARD_INSERTED)->insertion;
	assert_int_equal(insertion, 1);
	assert_true(status(h).flags & DEALBOX_STATUS_SPENT);
	load(h);
	assert_int_equal(command(h, DEALBOX_OP_START, 5, 1, 0), -EPIPE);
	/* the machine goes away */
	assert_string_equal(tell(path("c"), "unplug"), "ok\n");
	while (receive(h))
		;
	detach(h);
	h = calloc(1, sizeof(*h));
	h->fd = connect_to("s");
	assert_true(receive(h));
	assert_int_equal(h->in.head.status, -ENODEV);
	detach(h);
	assert_string_equal(tell(path("c"), "power-cycle"), "ok\n");
	assert_string_equal(tell(path("c"), "wait plugged"), "ok\n");
	h = attach("s");
	assert_int_equal(until(h, DEALBOX_EV_STATE_LOST)->code, DEALBOX_LOST_POWER_ON);
	assert_int_equal(until(h, DEALBOX_EV_BOARD_INSERTED)->flags, DEALBOX_EVF_AT_POWER_ON);
	detach(h);
	stop(&p);
}

static void memory_survives_the_process(void **state)
{
	struct process p;
	struct host *h;

	(void)state;
	START(&p, "--socket", path("s"), "--state", path("state"), "--control", path("c"),
	      "--manual");
	assert_string_equal(tell(path("c"), "insert"), "ok insertion 1\n");
	/* not even by a crash is a number given twice */
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, 0);
	close(p.out);
	START(&p, "--socket", path("s"), "--state", path("state"), "--control", path("c"),
	      "--manual");
	assert_string_equal(tell(path("c"), "insert"), "ok insertion 2\n");
	h = attach("s");
	assert_int_equal(until(h, DEALBOX_EV_BOARD_INSERTED)->insertion, 2);
	detach(h);
	stop(&p);
	write_file("state", "insertion 5\nnonsense\n");
	assert_int_equal(RUN(&p, "--socket", path("s"), "--state", path("state")), 2);
	assert_non_null(strstr(p.text, "state:2: this is not the state of a machine"));
	unlink(path("state"));
}

static void scenarios_and_decks_are_read(void **state)
{
	struct process p;
	struct host *h;

	(void)state;
	write_file("scenario", "# a card is misread\nposition 1: misread SA\n");
	write_file("deck", "SA SK # on top\nSQ\nSJ s10\n");
	START(&p, "--socket", path("s"), "--speed", "0", "--scenario", path("scenario"), "--deck",
	      path("deck"));
	h = attach("s");
	until(h, DEALBOX_EV_BOARD_INSERTED);
	load(h);
	assert_int_equal(command(h, DEALBOX_OP_START, 5, 1, 0), 0);
	assert_int_equal(until(h, DEALBOX_EV_REPEATED_CARD)->position, 1);
	detach(h);
	stop(&p);
	write_file("scenario", "\nposition 1: misraed\n");
	assert_int_equal(RUN(&p, "--socket", path("s"), "--scenario", path("scenario")), 2);
	assert_non_null(strstr(p.text, "scenario:2: \"misraed\" is no action"));
	write_file("deck", "SA SK\nS1\n");
	assert_int_equal(RUN(&p, "--socket", path("s"), "--deck", path("deck")), 2);
	assert_non_null(strstr(p.text, "deck:2: a card is needed"));
	write_file("deck", "# nothing\n");
	assert_int_equal(RUN(&p, "--socket", path("s"), "--deck", path("deck")), 2);
	assert_non_null(strstr(p.text, "there is no card in it"));
	unlink(path("deck"));
	unlink(path("scenario"));
}

static void several_machines_in_one_process(void **state)
{
	struct process p;
	struct host *h[3];
	unsigned int i;

	(void)state;
	const char *const args[] = { "--socket", path("m"), "--machines", "3", "--serial", "CLUB",
				     "--speed", "0", NULL };

	spawn(&p, args);
	wait_text(&p, " is ready\n", 3);
	for (i = 0; i < 3; i++) {
		char name[10], serial[20];

		snprintf(name, sizeof(name), "m.%u", i + 1);
		snprintf(serial, sizeof(serial), "CLUB-%u", i + 1);
		h[i] = attach(name);
		assert_string_equal(((struct emu_attached *)h[i]->in.data)->serial, serial);
	}
	for (i = 0; i < 3; i++) {
		until(h[i], DEALBOX_EV_BOARD_INSERTED);
		load(h[i]);
		assert_int_equal(command(h[i], DEALBOX_OP_START, 5, 1, 0), 0);
	}
	for (i = 0; i < 3; i++) {
		assert_int_equal(until(h[i], DEALBOX_EV_DEAL_DONE)->position, 52);
		detach(h[i]);
	}
	stop(&p);
}

static void the_machine_descriptor_is_that_of_usb(void **state)
{
	struct wire_descriptor desc;
	struct emu_attached *attached;
	struct process p;
	struct host *h;

	(void)state;
	/* the second host finds a machine of another major version, the third one no descriptor */
	write_file("scenario", "on descriptor config nth 2: set 22 0002\n"
			       "on descriptor config nth 3: stall\n");
	START(&p, "--socket", path("s"), "--scenario", path("scenario"), "--pockets", "3",
	      "--boards", "1");
	h = attach("s");
	attached = (struct emu_attached *)h->in.data;
	assert_true(dealbox_decode_descriptor(attached->machine_descriptor, WIRE_DESC_SIZE, &desc));
	assert_int_equal(desc.pockets, 3);
	assert_true(desc.capabilities & DEALBOX_CAP_BOARD_READER);
	detach(h);
	h = attach("s");
	attached = (struct emu_attached *)h->in.data;
	assert_false(dealbox_decode_descriptor(attached->machine_descriptor, WIRE_DESC_SIZE,
					       &desc));
	assert_int_equal(attached->machine_descriptor[5], 2);
	detach(h);
	h = attach("s");
	attached = (struct emu_attached *)h->in.data;
	assert_int_equal(attached->machine_descriptor[0], 0);
	detach(h);
	stop(&p);
	unlink(path("scenario"));
}

static void a_trace_has_every_transfer(void **state)
{
	struct process p;
	struct stat info;
	struct host *h;
	const char *text;

	(void)state;
	START(&p, "--socket", path("s"), "--speed", "0", "--trace", path("trace"), "--control",
	      path("c"), "--manual");
	h = attach("s");
	until(h, DEALBOX_EV_STATE_LOST);
	assert_int_equal(command(h, DEALBOX_OP_LOCATE, 3, 0, 0), 0);
	detach(h);
	stop(&p);
	text = read_file(path("trace"));
	/* time, direction, endpoint or status, bytes */
	assert_non_null(strstr(text, " submit 0 411a000000001000"
				     "01000000030000000000000000000000\n"));
	assert_non_null(strstr(text, " done 0 0100000001000000"));
	assert_int_equal(stat(path("trace"), &info), 0);
	assert_int_equal(info.st_mode & 077, 0);
	unlink(path("trace"));
}

/* The steps of `usbip attach`, and the first transfer after it. */
static int import(unsigned int port, const char *busid, unsigned int length)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	uint8_t request[40] = { 1, 0x11, 0x80, 3 }, reply[320];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy((char *)request + 8, busid);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, request, sizeof(request), 0), sizeof(request));
	wait_readable(fd);
	assert_int_equal(recv(fd, reply, length, MSG_WAITALL), length);
	assert_int_equal(reply[7], length == 8);
	return fd;
}

static void a_server_gives_the_machine_to_who_asks(void **state)
{
	static const uint8_t get_device[48] = {
		0, 0, 0, 1, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 6, 0, 1, 0, 0, 18, 0,
	};
	uint8_t answer[48 + 18];
	unsigned int port;
	struct process p;
	int fd, later;

	(void)state;
	START(&p, "--serve", "0", "--control", path("c"));
	assert_int_equal(sscanf(p.text, "dealbox-emulator: usbip --tcp-port %u attach", &port), 1);
	/* another device is not there */
	close(import(port, "1-2", 8));
	fd = import(port, "1-1", 320);
	assert_int_equal(send(fd, get_device, sizeof(get_device), 0), sizeof(get_device));
	wait_readable(fd);
	assert_int_equal(recv(fd, answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
	assert_memory_equal(answer + 48 + 8, "\x09\x12", 2);
	/* the cable is pulled: the end of the connection; who comes then waits for it */
	assert_non_null(strstr(tell(path("c"), "unplug"), "ok"));
	assert_int_equal(recv(fd, answer, 1, 0), 0);
	close(fd);
	assert_non_null(strstr(tell(path("c"), "plug"), "ok"));
	fd = import(port, "1-1", 320);
	/* and the computer may end it, too */
	close(fd);
	later = import(port, "1-1", 320);
	close(later);
	stop(&p);
}

static void wrong_options_are_explained(void **state)
{
	static const struct { const char *args[6], *text; } bad[] = {
		{ { NULL }, "exactly one of --socket" },
		{ { "--socket", "x", "--usbip", NULL }, "exactly one of" },
		{ { "--socket", "x", "more", NULL }, "\"more\" is not understood" },
		{ { "--fly", NULL }, "fly" },
		{ { "--socket", "x", "--speed", "fast", NULL }, "--speed fast: a factor" },
		{ { "--socket", "x", "--speed", "-1", NULL }, "--speed -1: a factor" },
		{ { "--socket", "x", "--speed", "nan", NULL }, "--speed nan: a factor" },
		{ { "--socket", "x", "--pockets", "9", NULL },
		  "--pockets 9: a number from 1 to 8" },
		{ { "--socket", "x", "--kind", "magic", NULL }, "one of stored|routed" },
		{ { "--socket", "x", "--boards", "1-", NULL }, "--boards: numbers" },
		{ { "--socket", "x", "--boards", "0", NULL }, "--boards: numbers" },
		{ { "--socket", "x", "--boards", "1-600", NULL }, "--boards: at most 512" },
		{ { "--socket", "x", "--capabilities", "wings", NULL }, "there is no \"wings\"" },
		{ { "--socket", "x", "--capabilities", "keys", NULL }, "by-card or by-position" },
		{ { "--gadget", "x", "--dialect", "serial", NULL },
		  "--dialect serial does not go with --gadget" },
		{ { "--socket", "x", "--port", "1", NULL }, "--port goes with --usbip" },
		{ { "--socket", "x", "--scenario", "/nowhere", NULL }, "/nowhere: No such file" },
		{ { "--socket", "x", "--serial", "", NULL }, "--serial: 1 to" },
		{ { "--usbip", "--serve", "0", NULL }, "exactly one of" },
		{ { "--serve", "65536", NULL }, "--serve 65536: a number from 0 to 65535" },
	};
	struct process p;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		spawn(&p, bad[i].args);
		assert_int_equal(wait_exit(&p), 2);
		if (!strstr(p.text, bad[i].text))
			fail_msg("%u: %s", i, p.text);
	}
	assert_int_equal(RUN(&p, "--help"), 0);
	assert_non_null(strstr(p.text, "usage: dealbox-emulator"));
	assert_int_equal(RUN(&p, "--version"), 0);
	assert_int_equal(RUN(&p, "--tell", path("nobody"), "status"), 3);
	assert_non_null(strstr(p.text, "is there an emulator with --control?"));
}

static void no_card_is_shown_unasked(void **state)
{
	struct process p;
	struct host *h;

	(void)state;
	write_file("scenario", "position 9: misread SA\nposition 3: extra joker2\n");
	START(&p, "--socket", path("s"), "--control", path("c"), "--speed", "0", "--scenario",
	      path("scenario"));
	h = attach("s");
	until(h, DEALBOX_EV_BOARD_INSERTED);
	load(h);
	assert_int_equal(command(h, DEALBOX_OP_START, 5, 1, 0), 0);
	until(h, DEALBOX_EV_NOT_IN_PLAN);
	assert_null(strstr(tell(path("c"), "status"), "card"));
	detach(h);
	stop(&p);
	/* what it said is that it was ready, and nothing else */
	assert_string_equal(p.text, "dealbox-emulator: machine EMU1 is ready\n");
	unlink(path("scenario"));
}

static void man_page_and_help_agree(void **state)
{
	struct process p;
	char *man = read_file(getenv("EMULATOR_MAN")), *line, *rest, *at;
	unsigned int options = 0, words = 0;

	(void)state;
	assert_int_equal(RUN(&p, "--help"), 0);
	for (line = strtok_r(p.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char name[80], wanted[100];

		if (strncmp(line, "  ", 2) || line[2] == ' ')
			continue;
		if (sscanf(line, "  --%70[a-z-]", name) == 1) {
			snprintf(wanted, sizeof(wanted), "It Fl \\-%s", name);
			options++;
		} else if (sscanf(line, "  %70[a-z-]", name) == 1) {
			snprintf(wanted, sizeof(wanted), "%s", name);
			words++;
		} else {
			continue;
		}
		if (!strstr(man, wanted))
			fail_msg("\"%s\" is in --help and not in the man page", name);
	}
	for (at = man; (at = strstr(at, ".It Fl \\-")); at++)
		options--;
	assert_int_equal(options, 0);
	assert_true(words > 40);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);	/* nothing may be left in it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boards_are_dealt_and_accounted_for),
		cmocka_unit_test(the_host_routes),
		cmocka_unit_test(one_host_at_a_time),
		cmocka_unit_test(nonsense_ends_the_connection),
		cmocka_unit_test(a_dead_socket_is_replaced_and_a_file_is_not),
		cmocka_unit_test(losing_the_cable_spends_the_board),
		cmocka_unit_test(memory_survives_the_process),
		cmocka_unit_test(scenarios_and_decks_are_read),
		cmocka_unit_test(several_machines_in_one_process),
		cmocka_unit_test(the_machine_descriptor_is_that_of_usb),
		cmocka_unit_test(a_trace_has_every_transfer),
		cmocka_unit_test(a_server_gives_the_machine_to_who_asks),
		cmocka_unit_test(wrong_options_are_explained),
		cmocka_unit_test(no_card_is_shown_unasked),
		cmocka_unit_test(man_page_and_help_agree),
	};

	return cmocka_run_group_tests_name("emulator socket", tests, make_folder, remove_folder);
}
