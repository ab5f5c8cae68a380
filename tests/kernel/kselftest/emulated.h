/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine for one test (dealbox-emulator, plugged in through vhci_hcd, without a simulated
 * operator), and the checks of the kernel. Functions that return bool print the reason to stderr
 * before they return false.
 */
#ifndef TEST_EMULATED_H
#define TEST_EMULATED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>
#include <linux/types.h>

/* The time after which anything counts as hanging, in ms. */
#define PATIENCE	60000

/* Of the monotonic clock. */
long long now_ms(void);

/*
 * Sleeps between two looks of a polling loop, so that the tasks it waits for get the processors,
 * which a kernel with checkers keeps busy.
 */
void a_moment(void);

struct machine {
	pid_t pid;		/* of the emulator, 0 = none, or outside */
	int control;		/* its control socket, or a line to it */
	bool outside;
	int uevents;
	char serial[64];
	char node[32];		/* /dev/dealbox0 */
	char sysfs[256];	/* the node's folder in /sys */
	char interface[256];	/* that of the USB interface */
	char device[256];	/* that of the USB device */
};

/*
 * Starts the emulator with these options (NULL at the end) and waits until the node is there.
 * Also returns false if the first machine of a test does not get the first number: so each test
 * shows that the one before it leaked none.
 */
bool machine_plug(struct machine *m, const char *const options[]);
/* The same behind dummy_hcd, through raw_gadget: a bus with remote wakeup. */
bool machine_plug_gadget(struct machine *m, const char *const options[]);
/*
 * The same with an emulator that runs outside of the virtual machine, is not plugged
 * in yet, and has its control socket behind /dev/ttyS3: it knows nothing of our sleep.
 */
bool machine_plug_outside(struct machine *m);
/*
 * The first half of machine_plug(), for tests that expect no node: starts the emulator, and
 * opens a socket for uevents. front: the options that say how it is plugged in.
 */
bool machine_start(struct machine *m, const char *const front[], const char *const options[]);
/* Connects for machine_ask(). Returns false silently as long as the emulator is not ready. */
bool machine_connect(struct machine *m);
/* Closes what machine_start() and machine_connect() opened, after the emulator has ended. */
void machine_close(struct machine *m);
/* Returns the value of a key such as DEVPATH in a kernel message, or "". */
const char *uevent_value(const char *message, size_t length, const char *key);
/*
 * Switches autosuspend off. Call it before the last file is closed on a bus of vhci_hcd, which may
 * hang when a cable is pulled while the device is being suspended (docs/testing.md). The device
 * may have gone already.
 */
void machine_keep_awake(const struct machine *m);
/* Ends the emulator (outside: pulls its cable), and waits until the node has gone. */
bool machine_unplug(struct machine *m);
/* One command to the emulator; its answer, without "ok ", goes to reply. */
bool machine_ask(struct machine *m, char *reply, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define machine_tell(m, ...)	machine_ask(m, NULL, 0, __VA_ARGS__)
/* Returns the number of lines of the emulator's --trace that contain this. */
int machine_traced(const char *trace, const char *what);
/* Waits for the uevent "add" or "remove" of the machine's node. After an add, node is new. */
bool machine_await(struct machine *m, const char *action);
/* A reset of the USB device, by usbfs. */
bool machine_usb_reset(const struct machine *m);

/* Writes to, or reads a line from, a file in folder. */
bool write_file(const char *folder, const char *name, const char *text);
/* Sets usbcore's list of device quirks, for example "1209:0001:b"; "" clears it. */
bool usb_quirks(const char *quirks);
bool read_file(const char *folder, const char *name, char *text, size_t size);

/*
 * The word of tests/infra/vm/reports that makes this record of the kernel log a report of
 * something wrong; NULL if it is none. Valid until the next call.
 */
const char *kernel_report(const char *record);
/* Opens the kernel log at its end. Returns a descriptor to close, or -1 after printing why. */
int kernel_log_open(void);
/* Reads on. Returns true if no record is a report and no record was lost. */
bool kernel_log_is_clean(int log);
/* Reads on. Returns the number of records that contain this. */
unsigned int kernel_log_count(int log, const char *what);

struct kernel {
	int log;
	int usb;		/* usbmon of all buses */
	size_t count;		/* transfers under way: */
	__u64 transfers[64];
};

/* Before a test plugs its first machine in. */
bool kernel_begin(struct kernel *k);
/* Reads what usbmon has reported so far; a long test must call it before the buffer overflows. */
bool kernel_follow_transfers(struct kernel *k);
/* Waits until every transfer since kernel_begin() has ended, except those of root hubs. */
bool kernel_has_no_transfer(struct kernel *k);
/*
 * Call it when no machine is open or plugged in. Returns false, after printing the reason: a node
 * still exists; a device at another port (port.h) is not found, or, where time is counted, not
 * within 2 s; a task is still in the module or in a disconnect; a URB is in flight; the module is
 * in use; the kernel is tainted by more than the module, or its log has one of the words of
 * tests/infra/vm/reports.
 */
bool kernel_is_well(struct kernel *k);

/*
 * Prints the time since then. Returns false if it exceeds ms and time is counted
 * (tests/infra/vm/run -i, indicated by COUNTED_TIME in the environment): elsewhere the computer may
 * just be busy.
 */
bool took_at_most(unsigned int ms, const struct timespec *since, const char *what);

#endif
