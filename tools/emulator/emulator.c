/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dealbox-emulator: files, sockets and the event loop. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "emulated.h"
#include "front_common.h"
#include "memory.h"
#include "signals.h"
#include "socket.h"

#define CLIENTS_MAX	8

/* --- one machine ---------------------------------------------------------------------- */

struct client {
	int fd;			/* -1 = not connected */
	size_t length;
	char line[CONTROL_LINE_MAX];
	bool waits;		/* line is a "wait" whose condition is not met */
};

struct instance {
	struct emulated of;
	struct front *front;
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

/* Return path, or path.N with several machines. The caller frees it. */
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
	/* It contains cards, so only the owner may read it. */
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

	in->control_listener = -1;
	for (i = 0; i < CLIENTS_MAX; i++)
		in->clients[i].fd = -1;
	if (!o->control)
		return;
	in->control_path = path_of(o, o->control, index);
	in->control_listener = socket_listen(in->control_path, SOCK_STREAM);
	if (in->control_listener < 0)
		exit(EXIT_MACHINE);
}

static void instance_open(struct instance *in, const struct options *o, unsigned int index)
{
	char *path;

	in->account = open_output(o, o->account, index);
	in->trace = open_output(o, o->trace, index);
	in->state = path_of(o, o->state, index);
	emulated_open(&in->of, o, index, in->state, now_us(), in, save, account);
	open_control(in, o, index);
	if (o->socket) {
		path = path_of(o, o->socket, index);
		in->front = front_socket_open(path, in->of.device, in->of.machine, in->trace);
		free(path);
	} else if (o->usbredir) {
		path = path_of(o, o->usbredir, index);
		in->front = front_usbredir_open(path, in->of.device, in->of.machine, in->trace);
		free(path);
	} else if (o->gadget) {
		in->front = front_gadget_open(o->gadget, in->of.device, in->of.machine, in->trace);
	} else if (o->serve >= 0) {
		in->front = front_usbip_serve(o->serve ? o->serve + index : 0, in->of.device,
					      in->of.machine, in->trace);
	} else {
		in->front = front_usbip_open(o->port, in->of.device, in->of.machine, in->trace);
	}
	if (!in->front)
		exit(EXIT_MACHINE);
	printf("dealbox-emulator: machine %s is ready\n", device_config(in->of.device)->serial);
	fflush(stdout);
}

static void instance_close(struct instance *in)
{
	struct machine_view view = machine_view(in->of.machine);
	unsigned int i;

	in->front->ops->close(in->front);
	if (view.board->present)
		account(in, view.board);
	save(in, view.memory);
	for (i = 0; i < CLIENTS_MAX; i++)
		if (in->clients[i].fd >= 0)
			close(in->clients[i].fd);
	if (in->control_listener >= 0) {
		close(in->control_listener);
		unlink(in->control_path);
	}
	if (in->account)
		fclose(in->account);
	if (in->trace)
		fclose(in->trace);
	emulated_close(&in->of);
	free(in->state);
	free(in->control_path);
}

/* --- the control socket ------------------------------------------------------------------- */

static void client_close(struct client *client)
{
	close(client->fd);
	client->fd = -1;
	client->length = 0;
	client->waits = false;
}

/* Execute complete lines. A "wait" delays the lines after it. */
static void client_lines(struct instance *in, struct client *client)
{
	static char reply[CONTROL_REPLY_MAX];
	char *end;

	client->waits = false;
	while (client->fd >= 0 && (end = memchr(client->line, '\n', client->length))) {
		size_t used = end + 1 - client->line, length;

		*end = '\0';
		if (!control_line(&in->of.control, client->line, reply, sizeof(reply) - 1)) {
			*end = '\n';
			client->waits = true;
			return;
		}
		client->length -= used;
		memmove(client->line, client->line + used, client->length);
		length = strlen(reply);
		reply[length++] = '\n';
		if (send(client->fd, reply, length, MSG_NOSIGNAL | MSG_DONTWAIT) !=
		    (ssize_t)length)
			client_close(client);
	}
	if (client->fd >= 0 && client->length == sizeof(client->line))
		client_close(client);	/* the line is too long */
}

static void client_read(struct client *client)
{
	ssize_t got = recv(client->fd, client->line + client->length,
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
		if (in->clients[i].fd < 0) {
			in->clients[i].fd = fd;
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
		fds[count++] = (struct pollfd){ .fd = in->clients[i].fd, .events = POLLIN };
	return count;
}

/* Run machine, operator, front and clients up to now. */
static void instance_run(struct instance *in, uint64_t now)
{
	bool again;
	unsigned int i;

	do {
		machine_run(in->of.machine, now);
		in->front->ops->flush(in->front, now);
		again = operator_run(&in->of.operator, now);
		for (i = 0; i < CLIENTS_MAX; i++) {
			size_t before = in->clients[i].length;

			if (before)
				client_lines(in, &in->clients[i]);
			again |= in->clients[i].length != before;
		}
	} while (again || machine_next(in->of.machine) <= now);
}

static void instance_serve(struct instance *in, const struct pollfd *fds, uint64_t now)
{
	unsigned int i;

	machine_run(in->of.machine, now);
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
	uint64_t next = machine_next(in->of.machine), other = operator_next(&in->of.operator);

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

/* Print the line that answers a command. Returns true if it says "ok". */
static bool tell_answer(const char *path, FILE *file)
{
	bool first = true, good = false;
	int c;

	while ((c = fgetc(file)) != EOF && c != '\n') {
		good |= first && c == 'o';
		first = false;
		putchar(c);
	}
	if (c == EOF)
		die(EXIT_MACHINE, "%s: the emulator did not answer", path);
	putchar('\n');
	fflush(stdout);
	return good;
}

/*
 * Send a command to another emulator; without one, those of standard input, a line each. Returns
 * the exit status for the answers.
 */
static int tell(const char *path, char **words)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char line[CONTROL_LINE_MAX];
	bool good = true;
	FILE *file;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		die(EXIT_USAGE, "--tell %s: no socket has so long a path", path);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	file = fd < 0 ? NULL : fdopen(fd, "r+");
	if (!file || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die(EXIT_MACHINE, "%s: %s: is there an emulator with --control?", path,
		    strerror(errno));
	if (*words) {
		for (; *words; words++)
			fprintf(file, "%s%c", *words, words[1] ? ' ' : '\n');
		fflush(file);
		good = tell_answer(path, file);
	} else {
		while (fgets(line, sizeof(line), stdin)) {
			line[strcspn(line, "\n")] = '\0';
			fprintf(file, "%s\n", line);
			fflush(file);
			good &= tell_answer(path, file);
		}
	}
	fclose(file);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct instance instances[MACHINES_MAX];
	struct options options;
	unsigned int i, machines;
	int signals;

	options_parse(&options, argc, argv);
	if (options.tell)
		return tell(options.tell, options.words);
	signals = signals_open();
	if (signals < 0)
		die(EXIT_MACHINE, "signalfd: %s", strerror(errno));
	machines = options.machines;
	for (i = 0; i < machines; i++)
		instance_open(&instances[i], &options, i);
	loop(instances, machines, signals);
	for (i = 0; i < machines; i++)
		instance_close(&instances[i]);
	options_free(&options);
	return 0;
}
