// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox doctor: why nothing works on this computer, in the order in which it is
 * mended.
 */
#include <glob.h>
#include <grp.h>
#include <json-c/json.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <dealbox/machine.h>
#include <dealbox/version.h>

#include "service/service-objects.h"

#define SECURE_BOOT	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define DKMS_KEY	"/var/lib/dkms/mok.pub"
#define RULES		"udev/rules.d/70-dealbox.rules"
#define TRIGGER		"sudo udevadm control --reload && sudo udevadm trigger"

/* More than the firmware keeps in one variable. */
#define KEYS_MAX	((size_t)1 << 20)

enum found { FOUND_GOOD, FOUND_NOTE, FOUND_BAD };

/* The result of a check: the finding, and the command that fixes it ("" if none is needed). */
struct finding {
	enum found found;
	char what[512];
	char mend[256];
};

static void find(struct finding *f, enum found found, const char *mend, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

static void find(struct finding *f, enum found found, const char *mend, const char *what, ...)
{
	va_list list;

	f->found = found;
	va_start(list, what);
	vsnprintf(f->what, sizeof(f->what), what, list);
	va_end(list);
	snprintf(f->mend, sizeof(f->mend), "%s", mend);
}

static bool module_loaded(void)
{
	return !access("/sys/module/dealbox", F_OK);
}

/* Returns true if modprobe finds the module for the running kernel. */
static bool module_built(const char *release)
{
	char path[256], line[512];
	bool built = false;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = fopen(path, "re");
	while (file && !built && fgets(line, sizeof(line), file)) {
		char *end = strchr(line, ':');

		if (end)
			*end = '\0';
		built = strstr(line, "/dealbox.ko");
	}
	if (file)
		fclose(file);
	return built;
}

static bool any_exists(const char *const *paths)
{
	while (*paths && access(*paths, F_OK))
		paths++;
	return *paths;
}

static void look_module(struct finding *f)
{
	static const char *const source[] = { "/usr/src/dealbox-" DEALBOX_VERSION, NULL };
	/* the package builds the module by itself */
	const char *package = any_exists(source) ? "dkms" : "dealbox-dkms";
	const char *install = any_exists(source) ?
			      " && sudo dkms install dealbox/" DEALBOX_VERSION : "";
	struct utsname name;
	char headers[128], mend[256];

	uname(&name);
	snprintf(headers, sizeof(headers), "/lib/modules/%s/build", name.release);
	if (module_loaded())
		find(f, FOUND_GOOD, "", "the module is loaded");
	else if (module_built(name.release))
		find(f, FOUND_NOTE, "sudo modprobe dealbox",
		     "the module is installed but not loaded; plugging in a machine loads it");
	else if (access(headers, F_OK)) {
		snprintf(mend, sizeof(mend), "sudo apt install %s linux-headers-%s%s", package,
			 name.release, install);
		find(f, FOUND_NOTE, mend, "there is no module for kernel %s, and no headers to "
					  "build it; libusb is used instead", name.release);
	} else {
		snprintf(mend, sizeof(mend), "sudo apt install %s%s", package, install);
		find(f, FOUND_NOTE, mend,
		     "there is no module for kernel %s; libusb is used instead", name.release);
	}
}

/* Returns the contents of a file of the firmware or a key; NULL if nobody may read it. */
static unsigned char *read_bytes(const char *path, size_t *length)
{
	FILE *file = fopen(path, "re");
	unsigned char *bytes = malloc(KEYS_MAX);

	*length = file && bytes ? fread(bytes, 1, KEYS_MAX, file) : 0;
	if (file)
		fclose(file);
	if (!*length) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/* Returns true if the list of keys that shim gives the kernel has that of DKMS. */
static bool key_known(void)
{
	static const char *const lists[] = {
		"/sys/firmware/efi/mok-variables/MokListRT",
		"/sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23",
	};
	size_t length, list_length, n;
	unsigned char *key = read_bytes(DKMS_KEY, &length);
	bool known = false;

	for (n = 0; key && n < sizeof(lists) / sizeof(lists[0]); n++) {
		unsigned char *list = read_bytes(lists[n], &list_length);

		known |= list && memmem(list, list_length, key, length);
		free(list);
	}
	free(key);
	return known;
}

static void look_secure_boot(struct finding *f)
{
	unsigned char bytes[5];
	FILE *file = fopen(SECURE_BOOT, "re");
	/* four bytes of attributes, then the value */
	bool on = file && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) && bytes[4] == 1;

	if (file)
		fclose(file);
	if (!on)
		find(f, FOUND_GOOD, "", "Secure Boot is off");
	else if (module_loaded())
		find(f, FOUND_GOOD, "", "Secure Boot is on, and accepts the module");
	else if (access(DKMS_KEY, F_OK))
		find(f, FOUND_NOTE, "build the module, which makes the key, and run this again",
		     "Secure Boot is on, and DKMS has made no key to sign modules with");
	else if (key_known())
		find(f, FOUND_GOOD, "", "Secure Boot is on, and knows the key of DKMS");
	else
		find(f, FOUND_NOTE,
		     "sudo mokutil --import " DKMS_KEY "    # choose a password; restart, "
		     "\"Enroll MOK\", \"Continue\", the password",
		     "Secure Boot is on, and does not know the key that DKMS signs with");
}

/*
 * Returns true if this user, by name, is a member of the group. A user who was just added needs a
 * new session.
 */
static bool member(gid_t group)
{
	struct passwd *user = getpwuid(geteuid());
	gid_t groups[256];
	int count = 256;

	if (!user || getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0)
		return false;
	while (count > 0 && groups[count - 1] != group)
		count--;
	return count > 0;
}

static void look_permission(struct finding *f)
{
	struct group *group = getgrnam("dealbox");
	gid_t groups[256];
	int count = getgroups(256, groups);

	if (!geteuid()) {
		find(f, FOUND_GOOD, "", "root may use all machines");
		return;
	}
	if (!group) {
		find(f, FOUND_BAD, "sudo systemd-sysusers && sudo udevadm trigger",
		     "the group dealbox does not exist");
		return;
	}
	while (count > 0 && groups[count - 1] != group->gr_gid)
		count--;
	if (count > 0 || getegid() == group->gr_gid)
		find(f, FOUND_GOOD, "", "you are in the group dealbox");
	else if (member(group->gr_gid))
		find(f, FOUND_BAD, "log out and in again",
		     "you were added to the group dealbox after this session began");
	else
		find(f, FOUND_BAD, "sudo adduser \"$USER\" dealbox    # then log out and in again",
		     "you are not in the group dealbox");
}

/* Returns the first node of a machine that does not belong to the group, to be freed; or NULL. */
static char *node_of_others(const struct group *group)
{
	glob_t nodes = { 0 };
	struct stat node;
	char *path = NULL;
	size_t n;

	glob("/dev/dealbox[0-9]*", 0, NULL, &nodes);
	for (n = 0; n < nodes.gl_pathc && !path; n++)
		if (!stat(nodes.gl_pathv[n], &node) && node.st_gid != group->gr_gid)
			path = strdup(nodes.gl_pathv[n]);
	globfree(&nodes);
	return path;
}

static void look_udev(struct finding *f)
{
	static const char *const rules[] = { "/etc/" RULES, "/usr/lib/" RULES, "/lib/" RULES,
					     NULL };
	static const char *const running[] = { "/run/udev/control", NULL };
	struct group *group = getgrnam("dealbox");
	char *path = group ? node_of_others(group) : NULL;
	enum found bad = geteuid() ? FOUND_BAD : FOUND_NOTE;

	if (!any_exists(rules))
		find(f, bad, "install dealbox again: its package, or sudo make install",
		     "udev has no rules for machines, so only root may use one");
	else if (!any_exists(running))
		find(f, FOUND_NOTE, "sudo systemctl start systemd-udevd",
		     "udev is not running, so only root may use a machine");
	else if (path)
		find(f, bad, TRIGGER, "%s does not belong to the group dealbox", path);
	else
		find(f, FOUND_GOOD, "", "udev gives machines to the group dealbox");
	free(path);
}

/* Return true if the service ended by itself: a stopped one has another state. */
static bool service_failed(sd_bus *bus)
{
	static const char unit[] = "/org/freedesktop/systemd1/unit/dealboxd_2eservice";
	char *state = NULL;
	bool failed = sd_bus_get_property_string(bus, "org.freedesktop.systemd1", unit,
						 "org.freedesktop.systemd1.Unit", "ActiveState",
						 NULL, &state) >= 0 && !strcmp(state, "failed");

	free(state);
	return failed;
}

static void look_service(struct finding *f)
{
	sd_bus *bus = NULL;

	if (sd_bus_open_system(&bus) < 0)
		find(f, FOUND_NOTE, "sudo systemctl start dbus", "cannot reach the system bus");
	else if (sd_bus_get_name_creds(bus, "io.dealbox1", 0, NULL) >= 0)
		find(f, FOUND_GOOD, "", "dealboxd is running");
	else if (service_failed(bus))
		find(f, FOUND_BAD,
		     "sudo journalctl -u dealboxd -n 20    # shows why; correct it, "
		     "then: sudo systemctl restart dealboxd",
		     "dealboxd has failed");
	else
		find(f, FOUND_NOTE, "sudo systemctl enable --now dealboxd",
		     "dealboxd is not running; `dealbox deal` works without it");
	sd_bus_flush_close_unref(bus);
}

/* Returns true if the bus can start that service. */
static bool activatable(sd_bus *bus, const char *name)
{
	char **names = NULL;
	bool found = false;
	size_t n;

	if (sd_bus_list_names(bus, NULL, &names) < 0)
		return false;
	for (n = 0; names && names[n]; n++) {
		found |= !strcmp(names[n], name);
		free(names[n]);
	}
	free(names);
	return found;
}

static void look_polkit(struct finding *f)
{
	static const char name[] = "org.freedesktop.PolicyKit1";
	sd_bus *bus = NULL;

	if (sd_bus_open_system(&bus) >= 0 &&
	    (sd_bus_get_name_creds(bus, name, 0, NULL) >= 0 || activatable(bus, name)))
		find(f, FOUND_GOOD, "", "polkit decides who may deal");
	else
		find(f, FOUND_NOTE, "sudo apt install polkitd",
		     "there is no polkit: only root and the group "
		     "dealbox may deal with the service");
	sd_bus_flush_close_unref(bus);
}

static void look_screen(struct finding *f)
{
	static const char *const page[] = { "/usr/share/cockpit/dealbox/manifest.json",
					    "/usr/local/share/cockpit/dealbox/manifest.json",
					    NULL };
	static const char *const cockpit[] = { "/usr/lib/systemd/system/cockpit.socket",
					       "/lib/systemd/system/cockpit.socket", NULL };

	if (!any_exists(page))
		find(f, FOUND_NOTE, "sudo apt install cockpit cockpit-dealbox",
		     "the operator's screen is not installed; `dealbox deal` works without it");
	else if (!any_exists(cockpit))
		find(f, FOUND_NOTE,
		     "sudo apt install cockpit && sudo systemctl enable --now cockpit.socket",
		     "the operator's screen needs Cockpit");
	else
		find(f, FOUND_GOOD, "", "the operator's screen is a page of Cockpit, port 9090");
}

/* Machines that the service has; -1 when there is no service. */
static int service_machines(void)
{
	struct json_object *machines = NULL;
	sd_bus *bus = service_find();
	int count;
	size_t n;

	if (bus)
		machines = service_objects(bus, "Machine");
	for (n = 0, count = machines ? 0 : -1; machines && n < json_object_array_length(machines);
	     n++)
		count += service_number(json_object_array_get_idx(machines, n), "present");
	json_object_put(machines);
	sd_bus_flush_close_unref(bus);
	return count;
}

static void look_machine(struct finding *f)
{
	struct dealbox_machine_list *list;
	struct dealbox_machine *machine = NULL;
	struct dealbox_error reason = { 0 };
	int count = service_machines();

	if (count > 0) {
		find(f, FOUND_GOOD, "", "dealboxd has %d machine%s", count, count == 1 ? "" : "s");
		return;
	}
	if (dealbox_machine_list_new(NULL, &list, &reason)) {
		find(f, FOUND_BAD, reason.next, "%s", reason.what);
		return;
	}
	count = dealbox_machine_list_count(list);
	/* opening "the only one" knows why there is none */
	if (dealbox_machine_open(count ? dealbox_machine_list_uri(list, 0) : NULL,
				 DEALBOX_MACHINE_OBSERVE, &machine, &reason))
		find(f, FOUND_BAD, reason.next, "%s", reason.what);
	else
		find(f, FOUND_GOOD, "", "%s can be used", dealbox_machine_uri(machine));
	dealbox_machine_close(machine);
	dealbox_machine_list_free(list);
}

/* Without its panel the service deals nothing. */
static void look_panel(struct finding *f)
{
	sd_bus *bus = service_find();
	char *panel = NULL;

	if (!bus || sd_bus_get_property_string(bus, "io.dealbox1", "/io/dealbox1",
					       "io.dealbox1.Manager", "Panel", NULL, &panel) < 0)
		find(f, FOUND_NOTE, "sudo systemctl enable --now dealboxd",
		     "dealboxd is not running, so a panel would have no effect");
	else if (!*panel)
		find(f, FOUND_GOOD, "", "dealboxd has no panel, and needs none");
	else if (!strcmp(panel, "ready"))
		find(f, FOUND_GOOD, "", "the panel is ready");
	else
		find(f, FOUND_BAD, "correct that, then: sudo systemctl reload dealboxd", "%s",
		     panel);
	free(panel);
	sd_bus_flush_close_unref(bus);
}

/* In the order in which one depends on the other. */
static const struct {
	const char *name;
	void (*look)(struct finding *f);
} looks[] = {
	{ "module", look_module },
	{ "secure-boot", look_secure_boot },
	{ "permission", look_permission },
	{ "udev", look_udev },
	{ "service", look_service },
	{ "polkit", look_polkit },
	{ "screen", look_screen },
	{ "panel", look_panel },
	{ "machine", look_machine },
};

static void finding_say(const char *name, const struct finding *f, bool json)
{
	static const char *const words[] = { "good", "note", "bad" };
	struct json_object *object;

	if (!json) {
		say("%-12s %-5s %s", name, words[f->found], f->what);
		if (*f->mend)
			say("%-12s       %s", "", f->mend);
		return;
	}
	object = json_line("look");
	json_add_text(object, "look", name);
	json_add_text(object, "found", words[f->found]);
	json_add_text(object, "text", f->what);
	json_add_text(object, "next", f->mend);
	json_say(object);
}

static enum status doctor_run(struct args *args)
{
	enum status status = STATUS_DONE;
	struct finding finding;
	bool json = false;
	size_t n;

	if (!args_only_json(args, &json))
		return args->status;
	for (n = 0; n < sizeof(looks) / sizeof(looks[0]); n++) {
		looks[n].look(&finding);
		finding_say(looks[n].name, &finding, json);
		if (finding.found == FOUND_BAD)
			status = STATUS_NO;
	}
	return status;
}

static const struct option_row doctor_options[] = {
	OPT_JSON,
	{ 0 }
};

const struct command cmd_doctor = {
	.name = "doctor",
	.operands = "",
	.summary = "Find out why dealing does not work, and how to correct it",
	.about = "Checks the module, Secure Boot, permissions, udev, the service, polkit, the\n"
		 "screen, the panel and the machine, in that order, and shows the command that\n"
		 "corrects each problem. It changes nothing. The exit status is 1 if something\n"
		 "prevents you from dealing.",
	.options = doctor_options,
	.run = doctor_run,
};
