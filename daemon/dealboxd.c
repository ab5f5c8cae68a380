// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealboxd: event loop, signals and udev.
 */
#include <errno.h>
#include <getopt.h>
#include <libudev.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include <dealbox/version.h>

#include "bus.h"
#include "config.h"
#include "log.h"
#include "member.h"
#include "panel.h"
#include "service.h"
#include "stations.h"
#include "service-ledger.h"

/* The whole service: the parts that do not know each other are connected here. */
struct dealboxd {
	struct service service;
	struct stations stations;
	struct panel panel;
	struct dealbox_monitor *monitor;	/* hotplug of machines */
	struct udev_monitor *chips;		/* hotplug of GPIO chips for the panel */
};

static const notice_fn subscribers[] = { member_notice, bus_notice, panel_notice, NULL };

/* A machine came or went, and udev has applied its rules. */
static int on_machines(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct dealboxd *d = context;
	char port[DEALBOX_PORT];
	int plug;

	(void)source;
	(void)fd;
	(void)revents;
	while ((plug = dealbox_monitor_next(d->monitor, port)) >= 0)
		stations_seek(&d->service, port);
	/* The queue overflowed, so events were lost. */
	if (plug == -ENOBUFS)
		stations_seek(&d->service, NULL);
	return 0;
}

static int on_chips(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct dealboxd *d = context;
	struct udev_device *device;
	bool look = false;

	(void)source;
	(void)fd;
	(void)revents;
	errno = 0;
	while ((device = udev_monitor_receive_device(d->chips))) {
		udev_device_unref(device);
		look = true;
		errno = 0;
	}
	/* ENOBUFS: the queue overflowed, so events were lost. */
	if (look || errno == ENOBUFS)
		panel_look(&d->service);
	return 0;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *context)
{
	struct service *s = context;
	struct config config;

	(void)source;
	(void)info;
	sd_notify(0, "RELOADING=1");
	/* A file with an error changes nothing. Another ledger or event needs a restart. */
	if (!config_read(&config, s->config_path)) {
		memcpy(config.ledger, s->config.ledger, sizeof(config.ledger));
		memcpy(config.event, s->config.event, sizeof(config.event));
		memcpy(config.folder, s->config.folder, sizeof(config.folder));
		panel_close(s);
		config_free(&s->config);
		s->config = config;
		panel_open(s);
	}
	sd_notify(0, "READY=1");
	stations_seek(s, NULL);
	return 0;
}

static int open_monitor(struct dealboxd *d)
{
	struct dealbox_error reason;
	int err = dealbox_monitor_new(&d->monitor, &reason);

	if (err) {
		log_message(MESSAGE_REFUSED, NULL, NULL, "%s; %s", reason.what, reason.next);
		return err;
	}
	return sd_event_add_io(d->service.event, NULL, dealbox_monitor_fd(d->monitor), EPOLLIN,
			       on_machines, d);
}

static int open_chips(struct dealboxd *d, struct udev *udev)
{
	int err;

	/* "udev" events follow the rules, so the node already has its group. */
	d->chips = udev_monitor_new_from_netlink(udev, "udev");
	if (!d->chips)
		return -EIO;
	err = udev_monitor_filter_add_match_subsystem_devtype(d->chips, "gpio", NULL);
	if (err >= 0)
		err = udev_monitor_enable_receiving(d->chips);
	if (err >= 0)
		err = sd_event_add_io(d->service.event, NULL, udev_monitor_get_fd(d->chips),
				      EPOLLIN, on_chips, d);
	return err;
}

static int open_event(struct service *s)
{
	sigset_t signals;
	int err;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -errno;
	err = sd_event_new(&s->event);
	if (err >= 0)
		err = sd_event_add_signal(s->event, NULL, SIGTERM, NULL, NULL);
	if (err >= 0)
		err = sd_event_add_signal(s->event, NULL, SIGINT, NULL, NULL);
	if (err >= 0)
		err = sd_event_add_signal(s->event, NULL, SIGHUP, on_hangup, s);
	if (err >= 0)
		err = sd_event_set_watchdog(s->event, true);
	return err;
}

static int serve(struct dealboxd *d)
{
	struct service *s = &d->service;
	struct udev *udev = udev_new();
	int err = config_read(&s->config, s->config_path);
	bool ended;

	if (!err)
		err = open_event(s);
	if (err >= 0)
		err = service_ledger_open(s);
	log_ledger(s->ledger);
	if (err >= 0) {
		member_open(s);
		err = bus_open(s);
	}
	/* Before the first scan, so that no machine is missed. */
	if (err >= 0)
		err = open_monitor(d);
	if (err >= 0)
		err = open_chips(d, udev);
	if (err >= 0)
		err = stations_open(s);
	if (err >= 0) {
		panel_open(s);
		log_message(MESSAGE_STARTED, NULL, NULL, "ready; the ledger is %s",
			    s->config.ledger);
		sd_notify(0, "READY=1");
		err = sd_event_loop(s->event);
		sd_notify(0, "STOPPING=1");
		if (err)
			log_message(MESSAGE_STOPPED, NULL, NULL,
				    "stopped: the bus closed the connection");
		else
			log_message(MESSAGE_STOPPED, NULL, NULL, "stopped");
	}
	panel_close(s);
	stations_free(s);
	/* The machines are paused, whatever the network does. */
	ended = member_close(s);
	jobs_free(&s->jobs);
	bus_close(s);
	log_ledger(NULL);
	dealbox_ledger_free(s->ledger);
	panel_end(s);
	dealbox_monitor_free(d->monitor);
	udev_monitor_unref(d->chips);
	udev_unref(udev);
	sd_event_unref(s->event);
	config_free(&s->config);
	if (!ended)
		_exit(err ? 1 : 0);
	return err;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 }
	};
	struct dealboxd d = {
		.service = {
			.config_path = "/etc/dealbox/dealboxd.conf", .subscribers = subscribers,
			.stations = &d.stations, .panel = &d.panel,
		},
	};
	int key;

	/* No core dump and no debugger of the same user may see a card. */
	prctl(PR_SET_DUMPABLE, 0);
	while ((key = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (key) {
		case 'c':
			d.service.config_path = optarg;
			break;
		case 'V':
			puts("dealboxd " DEALBOX_VERSION);
			return 0;
		default:
			fprintf(key == 'h' ? stdout : stderr,
				"usage: dealboxd [--config FILE]\n"
				"Deals jobs on all machines of this computer. "
				"systemd starts it.\n\n"
				"  -c, --config FILE  instead of /etc/dealbox/dealboxd.conf\n"
				"  -h, --help         this help\n"
				"      --version      the version\n");
			return key == 'h' ? 0 : 2;
		}
	}
	return serve(&d) ? 1 : 0;
}
