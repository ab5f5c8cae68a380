// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox report: what a maker or a helper wants to know of a computer that deals, in one
 * text. It is what the commands below say; none of them shows a card.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/dealbox.h>

#include "service/service-objects.h"
#include "ui/files.h"

#define SELF	"/proc/self/exe"
#define LEDGER	"/var/lib/dealbox/ledger"
#define PART	200000		/* bytes of one command at most: the end of a journal is its news */

/* In the order in which one reads them. SELF is this program; LEDGER is what --ledger names. */
static const struct {
	const char *title;
	const char *command[9];
} parts[] = {
	{ "versions", { SELF, "--version" } },
	{ "kernel", { "uname", "-srvmo" } },
	{ "system", { "cat", "/etc/os-release" } },
	{ "module", { "modinfo", "dealbox" } },
	{ "module, as loaded", { "grep", "-rs", "", "/sys/module/dealbox/version",
				 "/sys/module/dealbox/srcversion", "/sys/module/dealbox/taint",
				 "/sys/module/dealbox/parameters" } },
	{ "doctor", { SELF, "doctor" } },
	{ "service", { "systemctl", "show", "dealboxd",
		       "--property=ActiveState,SubState,Result,NRestarts,ExecMainStatus,"
		       "ActiveEnterTimestamp,MemoryCurrent,UnitFileState" } },
	{ "settings", { "cat", "/etc/dealbox/dealboxd.conf" } },
	{ "machines on this computer", { SELF, "machines", "--json" } },
	{ "machines of the service", { SELF, "status", "--json" } },
	{ "jobs of the service", { SELF, "jobs", "--json" } },
	{ "ledger", { SELF, "ledger", "verify", "--ledger", LEDGER } },
	{ "journal of the service", { "journalctl", "--unit=dealboxd", "--lines=500", "--no-pager",
				      "--output=short-iso-precise" } },
	{ "journal of the module", { "journalctl", "--dmesg", "--grep=dealbox", "--lines=200",
				     "--no-pager", "--output=short-iso-precise" } },
};

extern char **environ;

/* Copies the output of a command to out. Its errors are not ours. */
static void command_run(FILE *out, const char *const *words, const char *ledger)
{
	posix_spawn_file_actions_t actions;
	const char *argv[10] = { 0 };
	char buffer[4096];
	size_t n = 0, written = 0;
	ssize_t got;
	int pipes[2], status, err;
	pid_t pid;

	do
		argv[n] = strcmp(words[n], LEDGER) ? words[n] : ledger;
	while (++n < 9 && words[n]);
	if (pipe2(pipes, O_CLOEXEC)) {
		fprintf(out, "(cannot be run: %m)\n");
		return;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDERR_FILENO);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	while (!err && (got = read(pipes[0], buffer, sizeof(buffer))) > 0) {
		if (written < PART)
			fwrite(buffer, 1, got, out);
		written += got;
	}
	close(pipes[0]);
	if (err) {
		fprintf(out, "(cannot be run: %s)\n", strerror(err));
		return;
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status))
		fprintf(out, "(exit status %d)\n", WEXITSTATUS(status));
}

/* The counters and parameters of a machine of the service. */
static void machine_ask(FILE *out, sd_bus *bus, struct json_object *machine)
{
	const char *path = service_text(machine, "path"), *name;
	uint32_t number, value, least, most;
	struct request r;

	fprintf(out, "%s\n", service_text(machine, "id"));
	if (request_new(&r, bus, path, "Machine", "GetCounters") >= 0 && request_send(&r) >= 0 &&
	    sd_bus_message_enter_container(r.reply, 'a', "{su}") >= 0)
		while (sd_bus_message_read(r.reply, "{su}", &name, &number) > 0)
			fprintf(out, "  %s %u\n", name, number);
	request_end(&r);
	for (number = 1; number <= DEALBOX_PARAM_VOLUME; number++) {
		if (request_new(&r, bus, path, "Machine", "GetParameter") >= 0 &&
		    sd_bus_message_append(r.call, "u", number) >= 0 && request_send(&r) >= 0 &&
		    sd_bus_message_read(r.reply, "uuu", &value, &least, &most) >= 0)
			fprintf(out, "  parameter %u: %u (%u to %u)\n", number, value, least, most);
		request_end(&r);
	}
}

static void machines_ask(FILE *out)
{
	sd_bus *bus = service_find();
	struct json_object *machines = bus ? service_objects(bus, "Machine") : NULL;
	size_t n;

	fputs("\n==== counters of the machines of the service\n", out);
	for (n = 0; machines && n < json_object_array_length(machines); n++)
		machine_ask(out, bus, json_object_array_get_idx(machines, n));
	if (!machines)
		fputs("(there is no service)\n", out);
	json_object_put(machines);
	sd_bus_flush_close_unref(bus);
}

static void report_make(FILE *out, const char *ledger)
{
	time_t now = time(NULL);
	char date[64];
	size_t n;

	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", localtime(&now));
	fprintf(out, "dealbox report, %s\nNo card is in it. Names of sessions and serial numbers "
		     "of machines are.\n", date);
	for (n = 0; n < sizeof(parts) / sizeof(parts[0]); n++) {
		progress("%s", parts[n].title);
		fprintf(out, "\n==== %s\n", parts[n].title);
		command_run(out, parts[n].command, ledger);
	}
	machines_ask(out);
	progress(NULL);
}

static enum status report_run(struct args *args)
{
	const char *ledger = LEDGER, *value, *path;
	char *text = NULL, name[64];
	time_t now = time(NULL);
	bool good = true;
	size_t size = 0;
	FILE *out;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		ledger = value;
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc > 1)
		return args_wrong(args, "it needs one file");
	strftime(name, sizeof(name), "dealbox-report-%Y%m%d-%H%M%S.txt", localtime(&now));
	path = args->argc ? args->argv[0] : name;
	out = open_memstream(&text, &size);
	if (!out) {
		complain("free some memory", "out of memory");
		return STATUS_INPUT;
	}
	report_make(out, ledger);
	if (fclose(out)) {
		complain("free some memory", "out of memory");
		good = false;
	} else if (!strcmp(path, "-")) {
		fwrite(text, 1, size, stdout);
	} else {
		good = file_write(path, text, size, FILE_SECRET, false);
		if (good)
			say("%s is written; look through it, "
			    "and send it with a description of the problem",
			    path);
	}
	free(text);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static const struct option_row report_options[] = {
	{ 'l', "ledger", "FILE", "the ledger (default: " LEDGER ")" },
	{ 0 }
};

const struct command cmd_report = {
	.name = "report",
	.operands = "[FILE]",
	.summary = "Collect information about this computer for support",
	.about = "Versions, kernel, module, the results of `dealbox doctor`, settings, machines\n"
		 "with their counters and parameters, jobs, the state of the ledger, and the last\n"
		 "lines of the journal, as a text file: dealbox-report-DATE.txt without FILE,\n"
		 "\"-\" is standard output. It contains no card. Run it with sudo, so that it can\n"
		 "read everything.",
	.options = report_options,
	.run = report_run,
};
