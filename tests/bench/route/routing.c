// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * routing CARDS ROUNDS FOLDER: measures gate latency.
 *
 * On one host-routed machine the module, libusb, and libusb with a real-time priority deal in
 * turns, each on an idle and on a busy computer. FOLDER/<host>-<computer> gets the times in µs,
 * one card a line.
 */
#include <dirent.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "edge.h"
#include "route_host.h"
#include "load.h"

#define DEVICES		"/sys/bus/usb/devices"
#define TAKE_MS		100

void host_plan(struct wire_plan *plan)
{
	int card;

	*plan = (struct wire_plan){
		.plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_CARD, .entries = PLAN_CARDS,
	};
	for (card = 0; card < PLAN_CARDS; card++)
		plan->pocket[card] = card % 4;
	dealbox_count_plan(plan);
}

static void by_module(unsigned int deals)
{
	host_module(deals);
}

static void by_libusb(unsigned int deals)
{
	host_libusb(deals, false);
}

static void by_libusb_fifo(unsigned int deals)
{
	host_libusb(deals, true);
}

static const struct {
	const char *name;
	void (*deal)(unsigned int deals);
} hosts[] = {
	{ "module", by_module },
	{ "libusb", by_libusb },
	{ "libusb-fifo", by_libusb_fifo },
};

static const char *const computers[] = { "idle", "busy" };

#define HOSTS		(sizeof(hosts) / sizeof(*hosts))
#define COMPUTERS	(sizeof(computers) / sizeof(*computers))

static int number_in(const char *device, const char *name, int base)
{
	char path[400], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), DEVICES "/%s/%s", device, name);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	return strtol(text, NULL, base);
}

static void find_machine(int *bus, int *device)
{
	DIR *devices = opendir(DEVICES);
	struct dirent *entry;

	while (devices && (entry = readdir(devices))) {
		if (number_in(entry->d_name, "idVendor", 16) == DEVICE_VENDOR &&
		    number_in(entry->d_name, "idProduct", 16) == DEVICE_PRODUCT) {
			*bus = number_in(entry->d_name, "busnum", 10);
			*device = number_in(entry->d_name, "devnum", 10);
			closedir(devices);
			return;
		}
	}
	errx(3, "there is no machine");
}

/* Runs a host in a separate process, and reads usbmon meanwhile. */
static void deal(void (*work)(unsigned int deals), unsigned int deals, struct edge *edge,
		 const char *progress)
{
	struct pollfd ended = { .events = POLLIN };
	pid_t pid;
	int status, bus, device;

	find_machine(&bus, &device);
	edge_open(edge, bus, device);
	pid = fork();
	if (pid < 0)
		err(3, "fork");
	if (!pid) {
		work(deals);
		exit(0);
	}
	ended.fd = pidfd_open(pid, 0);
	if (ended.fd < 0)
		err(3, "pidfd_open");
	while (poll(&ended, 1, TAKE_MS) == 0) {
		edge_take(edge);
		if (isatty(1)) {
			printf("\r\033[K%s: %zu cards", progress, edge->count);
			fflush(stdout);
		}
	}
	close(ended.fd);
	waitpid(pid, &status, 0);
	if (status)
		exit(3);
	edge_take(edge);
	edge_close(edge);
}

static void save(const char *folder, const char *host, const char *computer,
		 const struct edge *edge)
{
	char path[400];
	FILE *file;
	size_t i;

	snprintf(path, sizeof(path), "%s/%s-%s", folder, host, computer);
	file = fopen(path, "we");
	if (!file)
		err(3, "%s", path);
	for (i = 0; i < edge->count; i++)
		fprintf(file, "%u\n", edge->us[i]);
	if (fclose(file))
		err(3, "%s", path);
}

int main(int argc, char **argv)
{
	static struct edge edges[COMPUTERS][HOSTS];
	unsigned int cards, rounds, round, deals, h, c;
	char progress[80];
	int bad = 0;

	if (argc != 4 || atoi(argv[1]) < 1 || atoi(argv[2]) < 1)
		errx(2, "usage: routing CARDS ROUNDS FOLDER");
	cards = atoi(argv[1]);
	rounds = atoi(argv[2]);
	deals = (cards + PLAN_CARDS * rounds - 1) / (PLAN_CARDS * rounds);

	for (round = 1; round <= rounds; round++) {
		for (c = 0; c < COMPUTERS; c++) {
			if (c)
				load_start();
			for (h = 0; h < HOSTS; h++) {
				snprintf(progress, sizeof(progress),
					 "round %u of %u, %s computer, %s", round, rounds,
					 computers[c], hosts[h].name);
				deal(hosts[h].deal, deals, &edges[c][h], progress);
			}
			if (c)
				load_stop();
		}
	}
	if (isatty(1))
		fputs("\r\033[K", stdout);
	for (c = 0; c < COMPUTERS; c++) {
		for (h = 0; h < HOSTS; h++) {
			const struct edge *edge = &edges[c][h];

			save(argv[3], hosts[h].name, computers[c], edge);
			if (edge->unanswered || edge->strays || edge->dropped) {
				printf("%s, %s computer: %u cards without answer, %u answers "
				       "without card, %u lost by usbmon\n",
				       hosts[h].name, computers[c], edge->unanswered, edge->strays,
				       edge->dropped);
				bad = 1;
			}
		}
	}
	return bad;
}
