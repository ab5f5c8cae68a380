// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Deals a file by the service: `deal club-evening.pbn monday`. Ends when the last board is
 * dealt; says each verdict.
 *
 *	cc deal.c -o deal $(pkg-config --cflags --libs libsystemd)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define NAME	"io.dealbox1"
#define ROOT	"/io/dealbox1"
#define MANAGER	"io.dealbox1.Manager"
#define JOB	"io.dealbox1.Job"

static char job[64];	/* its object; empty until the service has made it */
static int finished;

static void check(int err, const sd_bus_error *error)
{
	if (err >= 0)
		return;
	fprintf(stderr, "%s\n", error && error->message ? error->message : strerror(-err));
	exit(1);
}

static int on_judged(sd_bus_message *m, void *context, sd_bus_error *error)
{
	const char *machine, *text;
	unsigned int board, copy, insertion;
	int exact;

	(void)context;
	(void)error;
	if (!strcmp(sd_bus_message_get_path(m), job) &&
	    sd_bus_message_read(m, "uusubs", &board, &copy, &machine, &insertion, &exact, &text) >= 0)
		printf("board %u, copy %u, on %s: %s\n", board, copy, machine, text);
	return 0;
}

static int on_finished(sd_bus_message *m, void *context, sd_bus_error *error)
{
	(void)context;
	(void)error;
	finished |= !strcmp(sd_bus_message_get_path(m), job);
	return 0;
}

int main(int argc, char **argv)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *call = NULL, *reply = NULL;
	const char *path;
	unsigned int boards, board;
	unsigned long long set;
	uint64_t number;
	sd_bus *bus = NULL;
	int fd, err;

	if (argc != 3) {
		fprintf(stderr, "usage: %s FILE SESSION\n", argv[0]);
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		perror(argv[1]);
		return 2;
	}
	check(sd_bus_open_system(&bus), NULL);
	/* listen first, so that nothing is missed */
	check(sd_bus_match_signal(bus, NULL, NAME, NULL, JOB, "Judged", on_judged, NULL), NULL);
	check(sd_bus_match_signal(bus, NULL, NAME, NULL, JOB, "Finished", on_finished, NULL), NULL);

	/* the deals cross as a file; "" is bridge */
	check(sd_bus_call_method(bus, NAME, ROOT, MANAGER, "AddSet", &error, &reply, "hss", fd, argv[2],
				 ""), &error);
	check(sd_bus_message_read(reply, "tu", &number, &boards), NULL);
	set = number;
	printf("set %llu: %u boards\n", set, boards);
	reply = sd_bus_message_unref(reply);

	/* one copy of each board, dealt when a board goes in */
	check(sd_bus_message_new_method_call(bus, &call, NAME, ROOT, MANAGER, "AddJob"), NULL);
	check(sd_bus_message_append(call, "t", number), NULL);
	check(sd_bus_message_open_container(call, 'a', "u"), NULL);
	for (board = 1; board <= boards; board++)
		check(sd_bus_message_append(call, "u", board), NULL);
	check(sd_bus_message_close_container(call), NULL);
	check(sd_bus_message_append(call, "ua{sv}", 1, 1, "automatic-start", "b", 1), NULL);
	check(sd_bus_call(bus, call, 0, &error, &reply), &error);
	check(sd_bus_message_read(reply, "o", &path), NULL);
	snprintf(job, sizeof(job), "%s", path);

	while (!finished) {
		err = sd_bus_process(bus, NULL);
		check(err, NULL);
		if (!err)
			check(sd_bus_wait(bus, UINT64_MAX), NULL);
	}
	sd_bus_message_unref(call);
	sd_bus_message_unref(reply);
	sd_bus_flush_close_unref(bus);
	return 0;
}
