// SPDX-License-Identifier: LGPL-2.1-or-later
/* The list of machines, from udev and sysfs, and the reason if there are none. */
#include <errno.h>
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "backend.h"

#define MACHINES_MAX	256

struct entry {
	char uri[256];
	char serial[64];
	char port[32];
	char model[64];
};

struct dealbox_machine_list {
	size_t count;
	struct entry *entries;
};

static void text_copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

/* Append an entry with the address scheme:place. Returns NULL without memory or at MACHINES_MAX. */
static struct entry *entry_add(struct dealbox_machine_list *list, const char *scheme,
			       const char *place)
{
	struct entry *entries;

	if (list->count == MACHINES_MAX)
		return NULL;
	entries = realloc(list->entries, (list->count + 1) * sizeof(*entries));
	if (!entries)
		return NULL;
	list->entries = entries;
	memset(&entries[list->count], 0, sizeof(*entries));
	snprintf(entries[list->count].uri, sizeof(entries->uri), "%s:%s", scheme, place);
	return &entries[list->count++];
}

typedef int (*visit_fn)(struct udev_device *device, void *state);

/* Call visit for each device that matches, until it returns a value other than 0. */
static int devices_visit(struct udev *udev, struct udev_enumerate *scan, visit_fn visit,
			 void *state)
{
	struct udev_list_entry *item;
	struct udev_device *device;
	int ret = 0;

	if (udev_enumerate_scan_devices(scan) < 0)
		return -EIO;
	udev_list_entry_foreach(item, udev_enumerate_get_list_entry(scan)) {
		device = udev_device_new_from_syspath(udev, udev_list_entry_get_name(item));
		if (!device)
			continue;	/* unplugged meanwhile */
		ret = visit(device, state);
		udev_device_unref(device);
		if (ret)
			break;
	}
	return ret;
}

static int local_visit(visit_fn visit, void *state)
{
	struct udev *udev = udev_new();
	struct udev_enumerate *scan = udev ? udev_enumerate_new(udev) : NULL;
	int ret = -ENOMEM;

	if (scan && udev_enumerate_add_match_subsystem(scan, "dealbox") >= 0)
		ret = devices_visit(udev, scan, visit, state);
	udev_enumerate_unref(scan);
	udev_unref(udev);
	return ret;
}

static struct udev_device *usb_parent(struct udev_device *device)
{
	return udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device");
}

struct usb_visit {
	visit_fn visit;
	void *state;
};

/* Return a hexadecimal attribute, 0 if there is none. */
static unsigned long attribute(struct udev_device *device, const char *name)
{
	const char *text = device ? udev_device_get_sysattr_value(device, name) : NULL;

	return text ? strtoul(text, NULL, 16) : 0;
}

static int interface_visit(struct udev_device *interface, void *state)
{
	struct udev_device *usb = usb_parent(interface);
	const struct usb_visit *visit = state;

	if (usb_is_machine((uint16_t)attribute(usb, "idVendor"),
			   (uint16_t)attribute(usb, "idProduct"),
			   (uint8_t)attribute(interface, "bInterfaceProtocol")))
		return visit->visit(interface, visit->state);
	return 0;
}

static int usb_visit(visit_fn visit, void *state)
{
	struct usb_visit machines = { visit, state };
	struct udev *udev = udev_new();
	struct udev_enumerate *scan = udev ? udev_enumerate_new(udev) : NULL;
	int ret = -ENOMEM;

	if (scan && udev_enumerate_add_match_subsystem(scan, "usb") >= 0 &&
	    udev_enumerate_add_match_sysattr(scan, "bInterfaceClass", "ff") >= 0 &&
	    udev_enumerate_add_match_sysattr(scan, "bInterfaceSubClass", "44") >= 0)
		ret = devices_visit(udev, scan, interface_visit, &machines);
	udev_enumerate_unref(scan);
	udev_unref(udev);
	return ret;
}

/*
 * Return false until udev has set the group and the names of the node. Before that, open(2) may
 * fail for lack of permission. Without a running udev, do not wait.
 */
static bool is_ready(struct udev_device *device)
{
	return access("/run/udev/control", F_OK) || udev_device_get_is_initialized(device);
}

static void entry_describe(struct entry *entry, struct udev_device *usb)
{
	if (!usb)
		return;
	text_copy(entry->serial, sizeof(entry->serial),
		  udev_device_get_sysattr_value(usb, "serial"));
	text_copy(entry->port, sizeof(entry->port), udev_device_get_sysname(usb));
	text_copy(entry->model, sizeof(entry->model),
		  udev_device_get_sysattr_value(usb, "product"));
}

static int local_add(struct udev_device *device, void *state)
{
	const char *node = udev_device_get_devnode(device);
	struct entry *entry;

	if (!node || !is_ready(device))
		return 0;
	entry = entry_add(state, "local", node);
	if (!entry)
		return -ENOMEM;
	entry_describe(entry, usb_parent(device));
	return 0;
}

static bool module_drives(struct udev_device *interface)
{
	const char *driver = udev_device_get_driver(interface);

	return driver && !strcmp(driver, "dealbox");
}

static int usb_add(struct udev_device *interface, void *state)
{
	struct udev_device *usb = usb_parent(interface);
	const char *serial;
	struct entry *entry;

	if (!usb || !is_ready(usb) || module_drives(interface))
		return 0;
	serial = udev_device_get_sysattr_value(usb, "serial");
	entry = entry_add(state, "usb", serial && *serial ? serial : udev_device_get_sysname(usb));
	if (!entry)
		return -ENOMEM;
	entry_describe(entry, usb);
	return 0;
}

/* Use the ports as addresses of machines that have the same serial number. */
static void twins_by_port(struct dealbox_machine_list *list)
{
	size_t a, b;
	bool twin;

	for (a = 0; a < list->count; a++) {
		struct entry *entry = &list->entries[a];

		if (strncmp(entry->uri, "usb:", 4))
			continue;
		for (twin = false, b = 0; b < list->count; b++)
			twin |= a != b && *entry->serial &&
				!strncmp(list->entries[b].uri, "usb:", 4) &&
				!strcmp(entry->serial, list->entries[b].serial);
		if (twin)
			snprintf(entry->uri, sizeof(entry->uri), "usb:%s", entry->port);
	}
}

/* Return true if a process listens at the socket. */
static bool emulator_there(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool there;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	there = !connect(fd, (struct sockaddr *)&address, sizeof(address)) || errno == EAGAIN;
	close(fd);
	return there;
}

static int by_uri(const void *a, const void *b)
{
	return strverscmp(((const struct entry *)a)->uri, ((const struct entry *)b)->uri);
}

int dealbox_machine_list_new(const char *const *emulators, struct dealbox_machine_list **out,
			     struct dealbox_error *reason)
{
	struct dealbox_machine_list *list = calloc(1, sizeof(*list));
	struct entry *entry;
	int ret = -ENOMEM;

	*out = NULL;
	if (list)
		ret = local_visit(local_add, list);
	if (!ret)
		ret = usb_visit(usb_add, list);
	for (; !ret && emulators && *emulators; emulators++) {
		if (!emulator_there(*emulators))
			continue;
		entry = entry_add(list, "emu", *emulators);
		if (entry)
			text_copy(entry->model, sizeof(entry->model), "emulator");
		else
			ret = -ENOMEM;
	}
	if (ret) {
		dealbox_machine_list_free(list);
		return error_set(reason, ret, 0, "check that /sys is mounted and /run/udev exists",
				 "cannot look for machines: %s", strerror(-ret));
	}
	twins_by_port(list);
	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries), by_uri);
	*out = list;
	return 0;
}

void dealbox_machine_list_free(struct dealbox_machine_list *list)
{
	if (!list)
		return;
	free(list->entries);
	free(list);
}

size_t dealbox_machine_list_count(const struct dealbox_machine_list *list)
{
	return list->count;
}

const char *dealbox_machine_list_uri(const struct dealbox_machine_list *list, size_t n)
{
	return list->entries[n].uri;
}

const char *dealbox_machine_list_serial(const struct dealbox_machine_list *list, size_t n)
{
	return list->entries[n].serial;
}

const char *dealbox_machine_list_port(const struct dealbox_machine_list *list, size_t n)
{
	return list->entries[n].port;
}

const char *dealbox_machine_list_model(const struct dealbox_machine_list *list, size_t n)
{
	return list->entries[n].model;
}

struct usb_search {
	const char *place;
	struct usb_place *found;
	unsigned int count;
};

static int usb_match(struct udev_device *interface, void *state)
{
	struct usb_search *search = state;
	struct usb_place *found = search->found;
	struct udev_device *usb = usb_parent(interface);
	const char *serial, *port, *number;

	if (!usb)
		return 0;
	serial = udev_device_get_sysattr_value(usb, "serial");
	port = udev_device_get_sysname(usb);
	if (*search->place && strcmp(search->place, port) &&
	    (!serial || strcmp(search->place, serial)))
		return 0;
	search->count++;
	text_copy(found->node, sizeof(found->node), udev_device_get_devnode(usb));
	text_copy(found->serial, sizeof(found->serial), serial);
	text_copy(found->port, sizeof(found->port), port);
	text_copy(found->driver, sizeof(found->driver), udev_device_get_driver(interface));
	number = udev_device_get_sysattr_value(interface, "bInterfaceNumber");
	found->interface = number ? (int)strtol(number, NULL, 16) : 0;
	return 0;
}

int usb_place_find(const char *place, struct usb_place *out, struct dealbox_error *reason)
{
	struct usb_search search = { .place = place, .found = out };
	int ret = usb_visit(usb_match, &search);

	if (ret)
		return error_set(reason, ret, 0, "check that /sys is mounted",
				 "cannot look for machines: %s", strerror(-ret));
	if (search.count == 1)
		return 0;
	if (search.count)
		return error_set(reason, -ENOTUNIQ, 0, "name one by its port: `dealbox machines`",
				 "%u machines are '%s'", search.count, place);
	if (!*place)
		return reason_no_machine(reason);
	return error_set(reason, -ENODEV, 0, "`dealbox machines` lists the machines",
			 "there is no machine '%s' on USB", place);
}

/* The last byte of the UEFI variable is 1 if Secure Boot is on. */
static bool secure_boot(void)
{
	FILE *file = fopen("/sys/firmware/efi/efivars/"
			   "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "re");
	unsigned char value[5] = { 0 };
	size_t size;

	if (!file)
		return false;
	size = fread(value, 1, sizeof(value), file);
	fclose(file);
	return size == sizeof(value) && value[4] == 1;
}

static int unready_match(struct udev_device *device, void *state)
{
	*(bool *)state |= !is_ready(device);
	return 0;
}

static int unready_usb_match(struct udev_device *interface, void *state)
{
	struct udev_device *usb = usb_parent(interface);

	return usb ? unready_match(usb, state) : 0;
}

int reason_no_machine(struct dealbox_error *reason)
{
	bool unready = false;
	bool loaded = !access("/sys/module/dealbox", F_OK);
	struct usb_place place = { 0 };
	struct usb_search search = { .place = "", .found = &place };
	char next[256];

	usb_visit(usb_match, &search);
	if (!search.count)
		return error_set(reason, -ENODEV, 0,
				 "plug the machine in and switch it on; `lsusb` must show it",
				 "no dealing machine is plugged in");
	usb_visit(unready_usb_match, &unready);
	local_visit(unready_match, &unready);
	if (unready)
		return error_set(reason, -ENODEV, 0,
				 "run `udevadm settle`, which waits for udev, and try again",
				 "a machine is at port %s, but udev has not set it up yet",
				 place.port);
	if (!loaded && secure_boot()) {
		snprintf(next, sizeof(next),
			 "use usb:%s, which needs no module; or sign the module", place.port);
		return error_set(reason, -ENODEV, 0, next,
				 "a machine is at port %s, but its kernel module is not loaded: "
				 "Secure Boot refuses unsigned modules",
				 place.port);
	}
	if (!loaded) {
		snprintf(next, sizeof(next),
			 "run `sudo modprobe dealbox`; or use usb:%s, which needs no module",
			 place.port);
		return error_set(reason, -ENODEV, 0, next,
				 "a machine is at port %s, but its kernel module is not loaded",
				 place.port);
	}
	snprintf(next, sizeof(next),
		 "run `sudo dmesg` for the reason; or use usb:%s, which needs no module",
		 place.port);
	return error_set(reason, -ENODEV, 0, next,
			 "a machine is at port %s, but the kernel module does not drive it",
			 place.port);
}
