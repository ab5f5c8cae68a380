// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel ABI, docs/userspace-api/dealbox.rst: the module and the machine together. The suite's
 * own file holds the claim; tests open others of the same node.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "local.h"
#include "run.h"
#include "tests.h"

#define EVENT_MS	2000
/* of each kind, and one more */
#define FILES		65

/* All calls; the struct of the longest fits */
static const struct call_row {
	unsigned long request;
	const char *name;
	bool claim;		/* needs the claim */
	bool field;		/* has fields that must be zero, the last four bytes among them */
	uint32_t capability;
} calls[] = {
	{ DEALBOX_IOC_GET_INFO, "GET_INFO", false, false, 0 },
	{ DEALBOX_IOC_GET_STATUS, "GET_STATUS", false, false, 0 },
	{ DEALBOX_IOC_SET_PLAN, "SET_PLAN", true, true, 0 },
	{ DEALBOX_IOC_CONTROL, "CONTROL", true, true, 0 },
	{ DEALBOX_IOC_GET_PARAM, "GET_PARAM", false, true, 0 },
	{ DEALBOX_IOC_SET_PARAM, "SET_PARAM", true, true, 0 },
	{ DEALBOX_IOC_GET_COUNTERS, "GET_COUNTERS", false, false, 0 },
	{ DEALBOX_IOC_ATTEST, "ATTEST", true, true, DEALBOX_CAP_ATTEST },
	{ DEALBOX_IOC_RELEASE, "RELEASE", true, false, 0 },
};

#define CALLS	(sizeof(calls) / sizeof(*calls))

union argument {
	struct dealbox_info info;
	struct dealbox_status status;
	struct dealbox_plan plan;
	struct dealbox_control control;
	struct dealbox_param param;
	struct dealbox_counters counters;
	struct dealbox_attest attest;
	uint8_t bytes[256];
};

static int owner(const struct run *r)
{
	return local_file(r->access->local);
}

/* Another file of the machine; the test ends if there is none. */
static int another(struct run *r, int flags)
{
	int fd = open(local_node(r->access->local), flags | O_CLOEXEC);

	if (fd < 0)
		not_run(r, "the node cannot be opened again: %s", strerror(errno));
	return fd;
}

/* Return 0 or the errno of a call. */
static int fails(int fd, unsigned long request, void *argument)
{
	int ret;

	do
		ret = ioctl(fd, request, argument);
	while (ret && errno == EINTR);
	return ret ? errno : 0;
}

/* A good argument of a call: one that the module would pass on */
static void good_argument(const struct run *r, unsigned long request, union argument *a)
{
	memset(a, 0, sizeof(*a));
	if (request == DEALBOX_IOC_CONTROL)
		a->control.op = DEALBOX_OP_LOCATE;
	if (request == DEALBOX_IOC_GET_PARAM || request == DEALBOX_IOC_SET_PARAM)
		a->param.id = DEALBOX_PARAM_SPEED;
	if (request == DEALBOX_IOC_ATTEST) {
		a->attest.insertion = r->observer.insertion ? r->observer.insertion : 1;
		memset(a->attest.nonce, 0xa5, sizeof(a->attest.nonce));
	}
}

static struct dealbox_status snapshot(struct run *r, int fd)
{
	struct dealbox_status s = { 0 };
	int error = fails(fd, DEALBOX_IOC_GET_STATUS, &s);

	check(r, "K-6", !error, "GET_STATUS fails: %s", strerror(error));
	return s;
}

static bool readable(int fd, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, ms) > 0 && wait.revents & POLLIN;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void unknown_calls(struct run *r)
{
	union argument a;
	unsigned int number;

	settle(r);
	memset(&a, 0, sizeof(a));
	for (number = 0x0c; number < 256; number++)
		check(r, "K-1",
		      fails(owner(r), _IOWR(DEALBOX_IOC_MAGIC, number, struct dealbox_plan),
			    &a) == ENOTTY,
		      "call %02x does not fail with ENOTTY", number);
	for (size_t i = 0; i < CALLS; i++) {
		unsigned long other = calls[i].request ^ (1ul << _IOC_SIZESHIFT);

		check(r, "K-1", fails(owner(r), other, &a) == ENOTTY,
		      "%s with a structure of another size does not fail with ENOTTY",
		      calls[i].name);
		other = calls[i].request ^ (1ul << _IOC_TYPESHIFT);
		check(r, "K-1", fails(owner(r), other, &a) == ENOTTY,
		      "%s of another magic number does not fail with ENOTTY", calls[i].name);
	}
	status(r);
}

static void reserved(struct run *r)
{
	union argument a;
	size_t i, at;
	int error;

	settle(r);
	for (i = 0; i < CALLS; i++) {
		size_t size = _IOC_SIZE(calls[i].request);

		if (!calls[i].field ||
		    (r->desc.capabilities & calls[i].capability) != calls[i].capability)
			continue;
		for (at = size - 4; at < size; at++) {
			good_argument(r, calls[i].request, &a);
			a.bytes[at] = 1;
			error = fails(owner(r), calls[i].request, &a);
			check(r, "K-2", error == EINVAL, "%s with the reserved byte %zu set: %s",
			      calls[i].name, at, error ? strerror(error) : "accepted");
		}
	}
	/* fields that a command does not use */
	good_argument(r, DEALBOX_IOC_CONTROL, &a);
	a.control.plan_id = 1;
	check(r, "K-2", fails(owner(r), DEALBOX_IOC_CONTROL, &a) == EINVAL,
	      "LOCATE takes a plan_id");
	good_argument(r, DEALBOX_IOC_CONTROL, &a);
	a.control.insertion = 1;
	check(r, "K-2", fails(owner(r), DEALBOX_IOC_CONTROL, &a) == EINVAL,
	      "LOCATE takes an insertion");
	good_argument(r, DEALBOX_IOC_CONTROL, &a);
	a.control.op = DEALBOX_OP_PAUSE;
	a.control.arg = 1;
	check(r, "K-2", fails(owner(r), DEALBOX_IOC_CONTROL, &a) == EINVAL, "PAUSE takes an arg");
	good_argument(r, DEALBOX_IOC_CONTROL, &a);
	a.control.op = 0x77;
	check(r, "K-2", fails(owner(r), DEALBOX_IOC_CONTROL, &a) == EINVAL,
	      "the command 77 is taken");
	good_argument(r, DEALBOX_IOC_CONTROL, &a);
	a.control.arg = 61;
	check(r, "K-2", fails(owner(r), DEALBOX_IOC_CONTROL, &a) == EINVAL,
	      "LOCATE for 61 s is taken");
	status(r);
}

/* Reserved fields of returned structures are zero, and results are filled in. */
static void outputs(struct run *r)
{
	static const uint32_t zero[4];
	struct dealbox_control locate = { .op = DEALBOX_OP_LOCATE, .result = 77, .detail = 77 };
	struct dealbox_info info;
	struct dealbox_status s;
	int error;

	settle(r);
	memset(&info, 0xff, sizeof(info));
	check(r, "K-3", !fails(owner(r), DEALBOX_IOC_GET_INFO, &info), "GET_INFO fails");
	check(r, "K-3", !info.reserved1 && !memcmp(info.reserved, zero, sizeof(info.reserved)),
	      "reserved fields of GET_INFO are not zero");
	check(r, "K-3",
	      memchr(info.model, 0, sizeof(info.model)) &&
		      memchr(info.serial, 0, sizeof(info.serial)),
	      "a name of GET_INFO is not terminated");
	memset(&s, 0xff, sizeof(s));
	check(r, "K-3", !fails(owner(r), DEALBOX_IOC_GET_STATUS, &s), "GET_STATUS fails");
	check(r, "K-3", !s.reserved1 && !memcmp(s.reserved, zero, sizeof(s.reserved)),
	      "reserved fields of GET_STATUS are not zero");
	error = fails(owner(r), DEALBOX_IOC_CONTROL, &locate);
	check(r, "K-4", !error && !locate.result && !locate.detail,
	      "LOCATE: %s, result %u, detail %u", error ? strerror(error) : "success",
	      locate.result, locate.detail);
	/* a refusal by the machine */
	locate = (struct dealbox_control){ .op = DEALBOX_OP_RESUME, .result = 77, .detail = 77 };
	error = fails(owner(r), DEALBOX_IOC_CONTROL, &locate);
	check(r, "K-4", error == EREMOTEIO && locate.result == DEALBOX_ERR_STATE &&
	      locate.detail == r->observer.state, "RESUME in %s: %s, result %u, detail %u",
	      state_name(r->observer.state), error ? strerror(error) : "success", locate.result,
	      locate.detail);
}

/* --- the claim -------------------------------------------------------------------------------- */

static void observers(struct run *r)
{
	union argument a;
	int fd, error;
	size_t i;

	settle(r);
	fd = another(r, O_RDONLY);
	check(r, "K-5", fails(fd, DEALBOX_IOC_CLAIM, NULL) == EBADF,
	      "CLAIM of a file that only reads does not fail with EBADF");
	for (i = 0; i < CALLS; i++) {
		if ((r->desc.capabilities & calls[i].capability) != calls[i].capability)
			continue;
		good_argument(r, calls[i].request, &a);
		error = fails(fd, calls[i].request, &a);
		if (calls[i].claim)
			check(r, "K-5", error == EBADF, "%s of a file that only reads: %s",
			      calls[i].name, error ? strerror(error) : "accepted");
		else
			check(r, "K-5", !error || error == EREMOTEIO,
			      "%s of a file that only reads: %s", calls[i].name, strerror(error));
	}
	close(fd);
	fd = another(r, O_WRONLY);
	check(r, "K-5", read(fd, a.bytes, 64) < 0 && errno == EBADF,
	      "read of a file that only writes does not fail with EBADF");
	close(fd);
	status(r);
}

static void claimed(struct run *r)
{
	struct dealbox_status s;
	union argument a;
	int fd, error;
	size_t i;

	settle(r);
	fd = another(r, O_RDWR | O_NONBLOCK);
	check(r, "K-6", fails(fd, DEALBOX_IOC_CLAIM, NULL) == EBUSY,
	      "a second CLAIM does not fail with EBUSY");
	check(r, "K-6", !fails(owner(r), DEALBOX_IOC_CLAIM, NULL), "the holder cannot CLAIM again");
	s = snapshot(r, fd);
	check(r, "K-6", s.claimed == DEALBOX_CLAIMED_BY_OTHER && s.owner_pid == (uint32_t)getpid(),
	      "another file sees claimed %u, owner_pid %u", s.claimed, s.owner_pid);
	s = snapshot(r, owner(r));
	check(r, "K-6", s.claimed == DEALBOX_CLAIMED_BY_THIS, "the holder sees claimed %u",
	      s.claimed);
	for (i = 0; i < CALLS; i++) {
		good_argument(r, calls[i].request, &a);
		if (!calls[i].claim)
			continue;
		error = fails(fd, calls[i].request, &a);
		check(r, "K-6", error == EBUSY, "%s while another file holds the claim: %s",
		      calls[i].name, error ? strerror(error) : "accepted");
	}
	check(r, "K-7", !fails(owner(r), DEALBOX_IOC_RELEASE, NULL), "RELEASE fails");
	s = snapshot(r, fd);
	check(r, "K-7", s.claimed == DEALBOX_CLAIMED_NOT && !s.owner_pid,
	      "behind RELEASE, claimed is %u, owner_pid %u", s.claimed, s.owner_pid);
	for (i = 0; i < CALLS; i++) {
		good_argument(r, calls[i].request, &a);
		if (!calls[i].claim)
			continue;
		error = fails(fd, calls[i].request, &a);
		check(r, "K-6", error == EPERM, "%s while nobody holds the claim: %s",
		      calls[i].name, error ? strerror(error) : "accepted");
	}
	check(r, "K-7", !fails(fd, DEALBOX_IOC_CLAIM, NULL), "CLAIM behind RELEASE fails");
	check(r, "K-7", fails(owner(r), DEALBOX_IOC_CLAIM, NULL) == EBUSY,
	      "the claim is held twice");
	close(fd);
	check(r, "K-7", !fails(owner(r), DEALBOX_IOC_CLAIM, NULL),
	      "CLAIM behind the holder's close fails");
	status(r);
}

/* In which way the holder of the claim goes */
enum leaving { BY_CLOSE, BY_RELEASE, BY_KILL };

/* Claim and start by a file of another process or of this one, and let it go in mid-deal. */
static void leave(struct run *r, enum leaving how)
{
	static const char *const names[] = { "closes", "releases", "is killed" };
	struct dealbox_control start_of = { .op = DEALBOX_OP_START };
	uint32_t done;
	pid_t child = 0;
	int fd = -1, ready_pipe[2], error;
	unsigned char byte = 0;

	ready(r);
	do_step(r, "inject position 2: freeze");
	start_of.plan_id = r->plan.plan_id;
	start_of.insertion = r->observer.insertion;
	check(r, "K-7", !fails(owner(r), DEALBOX_IOC_RELEASE, NULL), "RELEASE fails");
	if (how == BY_KILL) {
		if (pipe(ready_pipe))
			not_run(r, "no pipe: %s", strerror(errno));
		child = fork();
		if (!child) {
			fd = open(local_node(r->access->local), O_RDWR | O_CLOEXEC);
			byte = fd < 0 || ioctl(fd, DEALBOX_IOC_CLAIM) ||
			       ioctl(fd, DEALBOX_IOC_CONTROL, &start_of);
			if (write(ready_pipe[1], &byte, 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		if (read(ready_pipe[0], &byte, 1) != 1)
			byte = 1;
		close(ready_pipe[0]);
		close(ready_pipe[1]);
		error = byte;
	} else {
		fd = another(r, O_RDWR);
		error = fails(fd, DEALBOX_IOC_CLAIM, NULL);
		if (!error)
			error = fails(fd, DEALBOX_IOC_CONTROL, &start_of);
	}
	if (check(r, "K-8", !error, "another owner cannot start a deal: %s", strerror(error))) {
		struct wire_command wire = { 0, start_of.plan_id, start_of.insertion,
					     r->plan.feed };

		observer_accepted(&r->observer, DEALBOX_OP_START, &wire);
		await(r, DEALBOX_EV_CARD_ROUTED, 5000, "R-5.1-1");
		await(r, DEALBOX_EV_CARD_ROUTED, 5000, "R-5.1-1");
		do_step(r, "wait frozen");
	}
	if (how == BY_RELEASE)
		check(r, "K-8", !fails(fd, DEALBOX_IOC_RELEASE, NULL), "RELEASE in a deal fails");
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	if (fd >= 0)
		close(fd);
	r->observer.pausing = true;
	step(r, "thaw");
	check(r, "K-8", await_maybe(r, DEALBOX_EV_PAUSED, 3000),
	      "the deal is not paused when its owner %s", names[how]);
	/* the next owner */
	error = fails(owner(r), DEALBOX_IOC_CLAIM, NULL);
	if (!check(r, "K-8", !error, "the next owner cannot CLAIM: %s", strerror(error)))
		end_test(r);
	done = status(r).cards_done;
	check(r, "K-9", snapshot(r, owner(r)).insertion == start_of.insertion && done >= 2 &&
	      (ROUTED(r) || snapshot(r, owner(r)).plan_id == start_of.plan_id),
	      "the next owner does not see plan, insertion and cards done");
	error = command(r, DEALBOX_OP_RESUME, 0, 0, 0, NULL);
	check(r, "K-9", !error, "the next owner cannot resume: error %u", error);
	check(r, "K-9", await_maybe(r, DEALBOX_EV_DEAL_DONE, 60000),
	      "the deal does not come to its end");
	settle(r);
}

static void owner_leaves(struct run *r)
{
	leave(r, BY_CLOSE);
	leave(r, BY_RELEASE);
	leave(r, BY_KILL);
}

/* --- events ----------------------------------------------------------------------------------- */

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Read what comes within ms behind the last event. Returns the number of events. */
static size_t read_all(int fd, struct dealbox_event *events, size_t room, int ms)
{
	size_t count = 0;
	ssize_t got;

	while (count < room && readable(fd, ms)) {
		got = read(fd, events + count, (room - count) * sizeof(*events));
		if (got < (ssize_t)sizeof(*events))
			break;
		count += (size_t)got / sizeof(*events);
	}
	return count;
}

/* Two observers see each event of a deal, once, in order, and the same. */
static void reading(struct run *r)
{
	static struct dealbox_event events[2][400];
	static const uint32_t zero[3];
	struct dealbox_status s;
	uint64_t began, ended;
	uint8_t small[64];
	size_t count[2], i;
	int fd[2];

	ready(r);
	fd[0] = another(r, O_RDONLY);
	fd[1] = another(r, O_RDONLY | O_NONBLOCK);
	check(r, "K-10", !readable(fd[0], 0),
	      "poll tells of events at a file that was just opened");
	check(r, "K-10", read(fd[1], events[1], sizeof(events[1])) < 0 && errno == EAGAIN,
	      "read with O_NONBLOCK and no event does not fail with EAGAIN");
	check(r, "K-11", read(fd[1], small, 63) < 0 && errno == EINVAL,
	      "read of 63 bytes does not fail with EINVAL");
	check(r, "K-11", read(fd[1], small, 0) < 0 && errno == EINVAL,
	      "read of 0 bytes does not fail with EINVAL");
	began = monotonic_ns();
	check(r, "R-5-1", !start(r), "START is refused");
	await_end(r, 60000);
	s = snapshot(r, fd[0]);
	ended = monotonic_ns();
	/* one record at a time, even where more bytes are asked for; and many */
	check(r, "K-10", readable(fd[0], EVENT_MS), "poll tells of no event");
	check(r, "K-11", read(fd[0], events[0], sizeof(*events[0]) + 63) == sizeof(*events[0]),
	      "read of 127 bytes does not give one event of 64");
	count[0] = 1 + read_all(fd[0], events[0] + 1, 399, 200);
	count[1] = read_all(fd[1], events[1], 400, 200);
	check(r, "K-12",
	      count[0] == count[1] && !memcmp(events[0], events[1], count[0] * sizeof(*events[0])),
	      "two files see %zu and %zu events, or other ones", count[0], count[1]);
	check(r, "K-12", count[0] >= 3 * s.cards_done, "%zu events of %u cards", count[0],
	      s.cards_done);
	for (i = 0; i < count[0]; i++) {
		const struct dealbox_event *e = &events[0][i], *before = e - 1;

		check(r, "K-12", !i || e->seqno == before->seqno + 1,
		      "event %llu comes behind %llu", (unsigned long long)e->seqno,
		      i ? (unsigned long long)before->seqno : 0);
		check(r, "K-12", !(e->flags & (DEALBOX_EVF_GAP | DEALBOX_EVF_MACHINE_GAP)),
		      "an event has the flag of a gap");
		check(r, "K-13", e->timestamp_ns >= began && e->timestamp_ns <= ended &&
		      (!i || e->timestamp_ns >= before->timestamp_ns),
		      "a timestamp is not of CLOCK_MONOTONIC, or goes back");
		check(r, "K-3", !memcmp(e->reserved, zero, sizeof(zero)),
		      "a reserved field of an event is not 0");
	}
	s = snapshot(r, fd[1]);
	check(r, "K-14", count[0] && s.seqno == events[0][count[0] - 1].seqno + 1 &&
	      s.machine_seq == events[0][count[0] - 1].machine_seq + 1 && !s.lost,
	      "GET_STATUS does not number the next event as one more than the last");
	check(r, "K-10", !readable(fd[1], 0), "poll tells of events when all were read");
	close(fd[0]);
	close(fd[1]);
	settle(r);
}

/* A file that nobody reads loses the oldest events, and says how many. */
static void overflow(struct run *r)
{
	static struct dealbox_event events[2048];
	struct dealbox_info info;
	struct dealbox_status s;
	uint64_t first;
	size_t count, i, wanted;
	int fd;

	settle(r);
	check(r, "K-3", !fails(owner(r), DEALBOX_IOC_GET_INFO, &info), "GET_INFO fails");
	wanted = info.queue_events;
	if (wanted + 10 > sizeof(events) / sizeof(*events))
		not_run(r, "a queue of %zu events is longer than this test", wanted);
	fd = another(r, O_RDONLY | O_NONBLOCK);
	first = snapshot(r, fd).seqno;
	for (i = 0; i < wanted + 10; i += 2) {
		do_step(r, "cover open");
		do_step(r, "cover close");
		fetch(r, 0);
	}
	while (fetch(r, 100))
		;
	s = snapshot(r, fd);
	count = read_all(fd, events, sizeof(events) / sizeof(*events), 100);
	check(r, "K-15", count == wanted, "%zu of %zu events are kept, and the queue has %zu",
	      count, (size_t)(s.seqno - first), wanted);
	check(r, "K-15", count && events[0].flags & DEALBOX_EVF_GAP,
	      "the first event behind a gap has no flag");
	check(r, "K-15",
	      count && events[0].seqno - first == s.lost && s.seqno - first == s.lost + count,
	      "lost is %llu, and the numbers say otherwise", (unsigned long long)s.lost);
	for (i = 1; i < count; i++)
		check(r, "K-15",
		      events[i].seqno == events[i - 1].seqno + 1 &&
			      !(events[i].flags & DEALBOX_EVF_GAP),
		      "an event that is not the oldest was dropped");
	close(fd);
	status(r);
}

/* The module turns an event with impossible fields into PROTOCOL_ERROR. */
static void impossible(struct run *r)
{
	static struct dealbox_event events[400];
	size_t count, i, errors = 0;
	int fd;

	ready(r);
	fd = another(r, O_RDONLY | O_NONBLOCK);
	do_step(r, "inject on event CARD_LANDED position 1: set 17 63");
	check(r, "R-5-1", !fails(owner(r), DEALBOX_IOC_CONTROL, &(struct dealbox_control){
		.op = DEALBOX_OP_START, .plan_id = r->plan.plan_id,
		.insertion = r->observer.insertion }),
	      "START is refused");
	count = read_all(fd, events, 400, 1000);
	for (i = 0; i < count; i++) {
		errors += events[i].type == DEALBOX_EV_PROTOCOL_ERROR &&
			  events[i].code == DEALBOX_PROTO_EVENT_FIELD &&
			  events[i].arg[0] == DEALBOX_EV_CARD_LANDED;
		check(r, "K-16",
		      events[i].card < DEALBOX_MAX_CARDS || events[i].card == DEALBOX_NONE,
		      "an event has the card %u", events[i].card);
	}
	check(r, "K-16", errors == 1, "an impossible card is told by %zu PROTOCOL_ERROR", errors);
	close(fd);
	/* what this test has let through is not judged by others */
	r->gone = true;
}

/* --- plans ------------------------------------------------------------------------------------ */

static int plan_error(struct run *r, const struct dealbox_plan *plan)
{
	struct dealbox_plan copy = *plan;
	int error = fails(owner(r), DEALBOX_IOC_SET_PLAN, &copy);

	while (fetch(r, 20))
		;
	return error;
}

static void bad_plans(struct run *r)
{
	struct dealbox_plan good = { .plan_id = 9, .mode = DEALBOX_PLAN_BY_POSITION }, plan;
	bool by_card = !HAS(r, BY_POSITION);
	uint8_t mode;

	settle(r);
	r->observer.plan = NULL;
	if (by_card)
		good.mode = DEALBOX_PLAN_BY_CARD;
	good.entries = 1;
#define REFUSED(set, wanted, what) do { \
		plan = good; \
		set; \
		check(r, "K-17", plan_error(r, &plan) == (wanted), "SET_PLAN: %s is not refused", \
		      what); \
	} while (0)
	REFUSED(plan.plan_id = 0, EINVAL, "the number 0");
	REFUSED(plan.plan_id = DEALBOX_PLAN_TEST, EINVAL, "the number of test deals");
	REFUSED(plan.mode = 7, EINVAL, "the mode 7");
	REFUSED(plan.pocket[0] = r->desc.pockets, EINVAL,
		"a pocket that the machine does not have");
	REFUSED(plan.pocket[0] = DEALBOX_NONE, EINVAL, "a plan without a card");
	REFUSED(plan.pocket[1] = 1, EINVAL, "a pocket behind the entries");
	REFUSED(plan.reserved1[1] = 1, EINVAL, "a reserved field");
	if (r->desc.plan_entries < DEALBOX_MAX_ENTRIES)
		REFUSED(plan.entries = (uint8_t)(r->desc.plan_entries + 1), EINVAL,
			"an entry too many");
	if (r->desc.pocket_capacity < r->desc.plan_entries)
		REFUSED(plan.entries = (uint8_t)(r->desc.pocket_capacity + 1), EINVAL,
			"a card too many for a pocket");
	for (mode = DEALBOX_PLAN_BY_CARD; mode <= DEALBOX_PLAN_CAPTURE; mode++)
		if (!(r->desc.capabilities & (DEALBOX_CAP_BY_CARD << (mode - 1))))
			REFUSED(plan.mode = mode, EOPNOTSUPP,
				"a mode that the machine does not have");
#undef REFUSED
	status(r);
}

/* A plan that was forgotten, and one that does not run */
static void plan_states(struct run *r)
{
	struct dealbox_control control = { .op = DEALBOX_OP_START };
	struct dealbox_plan none = { 0 };
	struct wire_plan plan;
	int error;

	ready(r);
	control.plan_id = r->plan.plan_id;
	control.insertion = r->observer.insertion;
	plan = r->plan;
	check(r, "K-18", !fails(owner(r), DEALBOX_IOC_SET_PLAN, &none),
	      "a plan cannot be forgotten");
	r->observer.loaded = 0;
	error = fails(owner(r), DEALBOX_IOC_CONTROL, &control);
	check(r, "K-18", error == EREMOTEIO && control.result == DEALBOX_ERR_NO_PLAN,
	      "START without a plan: %s, result %u", error ? strerror(error) : "accepted",
	      control.result);
	load(r, &plan);
	control.plan_id++;
	error = fails(owner(r), DEALBOX_IOC_CONTROL, &control);
	check(r, "K-18", error == EREMOTEIO && control.result == DEALBOX_ERR_WRONG_PLAN,
	      "START of another plan: %s, result %u", error ? strerror(error) : "accepted",
	      control.result);
	reach(r, DEALBOX_STATE_DEALING);
	plan = r->plan;
	error = fails(owner(r), DEALBOX_IOC_SET_PLAN, &none);
	check(r, "K-18", error == EREMOTEIO && none.result == DEALBOX_ERR_STATE,
	      "SET_PLAN in a deal: %s, result %u", error ? strerror(error) : "accepted",
	      none.result);
	settle(r);
}

/* --- open files, and a machine that goes ------------------------------------------------------ */

static void many_files(struct run *r)
{
	const char *node = local_node(r->access->local);
	int fd[FILES], mode, n;

	settle(r);
	for (mode = 0; mode < 2; mode++) {
		/* the suite's own file is one to write */
		const int room = FILES - 1 - mode;

		for (n = 0; n < FILES; n++) {
			fd[n] = open(node, (mode ? O_RDWR : O_RDONLY) | O_CLOEXEC);
			if (fd[n] < 0)
				break;
		}
		check(r, "K-19", n <= room && errno == EUSERS,
		      "%d files can be open to %s, and then: %s", n, mode ? "write" : "read only",
		      strerror(errno));
		while (n--)
			close(fd[n]);
	}
	status(r);
}

static void unplugged(struct run *r)
{
	static struct dealbox_event events[8];
	struct dealbox_status s;
	struct pollfd wait;
	uint64_t end;
	ssize_t got;
	int fd, error;

	settle(r);
	fd = another(r, O_RDONLY);
	do_step(r, "cover open");
	do_step(r, "cover close");
	check(r, "K-10", readable(fd, EVENT_MS), "poll tells of no event");
	while (fetch(r, 100))
		;
	r->gone = true;
	do_step(r, "unplug 1000");
	wait = (struct pollfd){ .fd = fd, .events = POLLIN };
	end = now_us() + 5000000;
	do
		poll(&wait, 1, 10);
	while (!(wait.revents & POLLHUP) && now_us() < end);
	check(r, "K-20", wait.revents & POLLHUP && wait.revents & POLLERR && wait.revents & POLLIN,
	      "poll tells %x of a machine that is gone, with events to read", wait.revents);
	got = read(fd, events, sizeof(events));
	check(r, "K-20",
	      got == 2 * (ssize_t)sizeof(*events) && events[0].type == DEALBOX_EV_COVER_OPEN,
	      "events that were queued cannot be read: %zd", got);
	check(r, "K-20", read(fd, events, sizeof(events)) < 0 && errno == ENODEV,
	      "read does not fail with ENODEV");
	error = fails(fd, DEALBOX_IOC_GET_STATUS, &s);
	check(r, "K-20", error == ENODEV, "GET_STATUS: %s", strerror(error));
	close(fd);
}

const struct test_row module_tests[] = {
	{ "module", "unknown-calls", "K-1", "calls that there are not", NEED_MODULE,
	  .run = unknown_calls },
	{ "module", "reserved", "K-2", "fields that must be zero", NEED_MODULE, .run = reserved },
	{ "module", "outputs", "K-3 K-4", "what calls return", NEED_MODULE, .run = outputs },
	{ "module", "observers", "K-5", "a file that is not open for a call", NEED_MODULE,
	  .run = observers },
	{ "module", "claim", "K-6 K-7", "one owner at a time", NEED_MODULE, .run = claimed },
	{ "module", "owner-leaves", "K-7 K-8 K-9", "a deal is paused when its owner goes",
	  NEED_MODULE | NEED_FAULTS | NEED_BOARD, .run = owner_leaves },
	{ "module", "reading", "K-3 K-10 K-11 K-12 K-13 K-14", "events of a deal, at two observers",
	  NEED_MODULE | NEED_BOARD, .run = reading },
	{ "module", "overflow", "K-15", "a queue that nobody reads", NEED_MODULE | NEED_FAULTS,
	  .run = overflow },
	{ "module", "impossible", "K-16", "an event that cannot be",
	  NEED_MODULE | NEED_FAULTS | NEED_BOARD, DEALBOX_CAP_EXIT_SENSORS, impossible },
	{ "module", "bad-plans", "K-17", "plans that the module refuses", NEED_MODULE,
	  .run = bad_plans },
	{ "module", "plans", "K-18", "no plan, another plan, a plan in a deal",
	  NEED_MODULE | NEED_HANDS | NEED_BOARD, .run = plan_states },
	{ "module", "files", "K-19", "as many files as may be open", NEED_MODULE,
	  .run = many_files },
	{ "module", "unplug", "K-10 K-20", "the cable is pulled", NEED_MODULE | NEED_FAULTS,
	  .run = unplugged },
	{ 0 }
};
