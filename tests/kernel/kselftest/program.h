/* SPDX-License-Identifier: GPL-2.0-only */
/* The activities of a program with a machine, for the tests. */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <linux/dealbox.h>

#include "emulated.h"

#define PLAN	4711
#define CARDS	52

/* Returns 0 or -errno, as every function here that returns int. */
int call(int fd, unsigned long request, void *arg);
int control(int fd, struct dealbox_control *c);
int do_op(int fd, __u32 op);
/* A plan by card: 52 cards to four hands, with the number PLAN. */
struct dealbox_plan bridge_plan(void);
int load(int fd);
int start(int fd, __u32 insertion);
/* On error all bits are set. */
struct dealbox_status status_of(int fd);
/* Waits for the events that a machine sends when it is plugged in, and reads them. */
bool greeted(int fd);
/* Reads all queued events. Returns 0 when the queue is empty, or the error of a read. */
int drain(int fd);
/* Reads all queued events. Returns true if a key was among them. */
bool key_came(int fd);
/* Waits for the next event; type 0 if none came. */
struct dealbox_event next_event(int fd);
/* Reads on until an event of this type; type 0 if none came. */
struct dealbox_event await_event(int fd, __u32 type);
/* Checks by the emulator's account that the contents of the board match the plan. */
bool board_is(struct machine *m, const __u8 *pocket_of);
/* Waits until the USB device's power/runtime_status is state. */
bool await_power(const struct machine *m, const char *state);

/* Signals during a call: none, or a thousand a second, with SA_RESTART or without. */
enum storm { CALM, RESTARTED, INTERRUPTED };

/* A call that runs in a thread of its own. */
struct doing {
	pthread_t thread;
	pid_t tid;
	int fd;
	int (*what)(int fd);
	int error;
	enum storm storm;
	unsigned int heard;		/* signals */
	unsigned int interrupted;	/* how often it ended with EINTR, and was done again */
};

/* The type of the next event */
int do_read(int fd);
/* revents */
int do_poll(int fd);
int do_status(int fd);
/* Starts the call, and waits until it sleeps in a kernel function whose name contains where. */
bool begin(struct doing *d, int fd, int (*what)(int fd), const char *where);
/* The same in a storm of signals, which begins before the call. */
bool begin_in(struct doing *d, enum storm storm, int fd, int (*what)(int fd), const char *where);
/* In a storm, waits until signals have reached the sleeping call. */
bool stormed(struct doing *d);
/* Returns the result of the call; -ETIME if it hangs. */
int end(struct doing *d);

#endif
