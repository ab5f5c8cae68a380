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

/* 0 or -errno, as all here that return int */
int call(int fd, unsigned long request, void *arg);
int control(int fd, struct dealbox_control *c);
int do_op(int fd, __u32 op);
/* 52 cards by card, to four hands; its number is PLAN */
struct dealbox_plan bridge_plan(void);
int load(int fd);
int start(int fd, __u32 insertion);
/* All bits are set when it cannot be had. */
struct dealbox_status status_of(int fd);
/* Waits for what a machine says when it is plugged in, and reads it all. */
bool greeted(int fd);
/* Reads what there is; the error that ends it, 0 when there is no more. */
int drain(int fd);
/* The next event; type 0 when none came. */
struct dealbox_event next_event(int fd);
/* Reads on until an event of this type; type 0 when it does not come. */
struct dealbox_event await_event(int fd, __u32 type);
/* Checks by the emulator's account that the contents of the board match the plan. */
bool board_is(struct machine *m, const __u8 *pocket_of);
/* Waits until the USB device's power/runtime_status is state. */
bool await_power(const struct machine *m, const char *state);

/* Signals meanwhile: none, or a thousand a second, with SA_RESTART or without. */
enum storm { CALM, RESTARTED, INTERRUPTED };

/* Something that is being done, in a thread. */
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
/* Starts it, and waits until it sleeps in a function of this name in the kernel. */
bool begin(struct doing *d, int fd, int (*what)(int fd), const char *where);
/* The same in a storm, which has begun before it. */
bool begin_in(struct doing *d, enum storm storm, int fd, int (*what)(int fd), const char *where);
/* Waits until signals have reached it where it sleeps, if there are any. */
bool stormed(struct doing *d);
/* Returns the result of the call; -ETIME if it hangs. */
int end(struct doing *d);

#endif
