// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/dealboxN as a program sees it, on both kinds of machine; see README.md.
 *
 * Tests wait for each expected event, and fail after PATIENCE.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(3 * PATIENCE / 1000)

FIXTURE(machine) {
	struct machine machine;
	struct kernel kernel;
	int fd;			/* O_RDWR */
	__u32 insertion;	/* of the board that insert() put in */
};

FIXTURE_VARIANT(machine) {
	const char *kind;
	bool routed;
	const char *dialect;	/* NULL = native */
};

FIXTURE_VARIANT_ADD(machine, stored) { .kind = "stored" };
FIXTURE_VARIANT_ADD(machine, routed) { .kind = "routed", .routed = true };
FIXTURE_VARIANT_ADD(machine, serial_stored) { .kind = "stored", .dialect = "serial" };
FIXTURE_VARIANT_ADD(machine, serial_routed) {
	.kind = "routed", .routed = true, .dialect = "serial",
};

FIXTURE_SETUP(machine)
{
	const char *const options[] = {
		"--kind", variant->kind, "--manual", "--speed", "0", "--seed", "7",
		"--gate-deadline", "10000000", "--pocket-capacity", "20",
		"--dialect", variant->dialect ?: "native", "--capabilities",
		"exit-sensors,face-sensor,double-feed-sensor,test-deal,keys,by-card,by-position,"
		"capture,attest", NULL
	};

	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(greeted(self->fd));
}

FIXTURE_TEARDOWN(machine)
{
	machine_keep_awake(&self->machine);
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

/* --- what programs do ------------------------------------------------------------- */

static int open_again(const struct machine *m, int flags)
{
	return open(m->node, flags | O_CLOEXEC);
}

static bool insert(FIXTURE_DATA(machine) *self)
{
	char reply[64];

	return machine_ask(&self->machine, reply, sizeof(reply), "insert 3") &&
	       sscanf(reply, "insertion %u", &self->insertion) == 1 &&
	       await_event(self->fd, DEALBOX_EV_BOARD_INSERTED).insertion == self->insertion;
}

/* Claim, plan and board: the requirements of START. */
static bool ready(FIXTURE_DATA(machine) *self)
{
	return !ioctl(self->fd, DEALBOX_IOC_CLAIM) && !load(self->fd) && insert(self);
}

/* Begins a deal, and freezes the machine after the first cards. */
static bool deal_frozen(FIXTURE_DATA(machine) *self)
{
	return ready(self) &&
	       machine_tell(&self->machine, "inject on read position 5: freeze") &&
	       !start(self->fd, self->insertion) &&
	       machine_tell(&self->machine, "wait frozen");
}

/* A thread that does one blocking call, and how it ended. */
struct blocked {
	pthread_t thread;
	pid_t tid;
	int fd;
	int error;
	struct dealbox_event event;
};

static void *read_blocking(void *arg)
{
	struct blocked *b = arg;
	ssize_t got;

	__atomic_store_n(&b->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	got = read(b->fd, &b->event, sizeof(b->event));
	b->error = got < 0 ? -errno : got;
	return NULL;
}

/* Start the thread, and wait until it sleeps in the driver. */
static bool block_reader(struct blocked *b, int fd)
{
	char folder[64], where[64] = "";
	time_t end = time(NULL) + PATIENCE / 1000;

	memset(b, 0, sizeof(*b));
	b->fd = fd;
	if (pthread_create(&b->thread, NULL, read_blocking, b))
		return false;
	while (!__atomic_load_n(&b->tid, __ATOMIC_ACQUIRE))
		a_moment();
	snprintf(folder, sizeof(folder), "/proc/self/task/%d", b->tid);
	while (!strstr(where, "dealbox_read") && time(NULL) < end) {
		a_moment();
		if (!read_file(folder, "wchan", where, sizeof(where)))
			return false;
	}
	return time(NULL) < end;
}

static int join_reader(struct blocked *b)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE / 1000;
	return pthread_timedjoin_np(b->thread, NULL, &end) ? -ETIME : b->error;
}

/* --- what the machine is, who controls it ------------------------------------------ */

TEST_F(machine, info)
{
	struct dealbox_info info;
	char text[64];

	memset(&info, 0xff, sizeof(info));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_GET_INFO, &info));
	EXPECT_EQ(0x0101, info.protocol);
	EXPECT_EQ(variant->routed, !!(info.capabilities & DEALBOX_CAP_HOST_ROUTED));
	EXPECT_EQ(!variant->routed, !!(info.capabilities & DEALBOX_CAP_STORED_PLAN));
	EXPECT_EQ(variant->routed ? 10000000 : 0, info.gate_deadline_us);
	EXPECT_EQ(20, info.pocket_capacity);
	EXPECT_EQ(4, info.pockets);
	EXPECT_EQ(1024, info.queue_events);
	EXPECT_STREQ(self->machine.serial, info.serial);
	EXPECT_EQ(0, info.reserved1);
	EXPECT_EQ(0, info.reserved[0] | info.reserved[1] | info.reserved[2] | info.reserved[3]);

	ASSERT_TRUE(read_file(self->machine.sysfs, "model", text, sizeof(text)));
	EXPECT_STREQ(info.model, text);
	ASSERT_TRUE(read_file(self->machine.sysfs, "capabilities", text, sizeof(text)));
	EXPECT_EQ(info.capabilities, strtoul(text, NULL, 16));
	ASSERT_TRUE(read_file(self->machine.sysfs, "pocket_capacity", text, sizeof(text)));
	EXPECT_STREQ("20", text);
	ASSERT_TRUE(read_file(self->machine.sysfs, "protocol", text, sizeof(text)));
	EXPECT_STREQ("1.1", text);
	ASSERT_TRUE(read_file(self->machine.sysfs, "hopper", text, sizeof(text)));
	EXPECT_EQ(info.hopper, atoi(text));
	ASSERT_TRUE(read_file(self->machine.sysfs, "plan_entries", text, sizeof(text)));
	EXPECT_EQ(info.plan_entries, atoi(text));
	ASSERT_TRUE(read_file(self->machine.sysfs, "pockets", text, sizeof(text)));
	EXPECT_EQ(info.pockets, atoi(text));
	ASSERT_TRUE(read_file(self->machine.sysfs, "gate_deadline_us", text, sizeof(text)));
	EXPECT_EQ(info.gate_deadline_us, strtoul(text, NULL, 10));
	ASSERT_TRUE(read_file(self->machine.sysfs, "hardware", text, sizeof(text)));
	EXPECT_EQ(info.hardware, strtoul(text, NULL, 10));
}

TEST_F(machine, status)
{
	struct dealbox_status status = status_of(self->fd);

	EXPECT_EQ(DEALBOX_STATE_IDLE, status.state);
	EXPECT_EQ(DEALBOX_PLAN_NONE, status.plan_id);
	EXPECT_EQ(0, status.insertion);
	EXPECT_EQ(DEALBOX_STATUS_HOPPER, status.flags);
	EXPECT_EQ(DEALBOX_CLAIMED_NOT, status.claimed);
	EXPECT_EQ(0, status.owner_pid);

	ASSERT_TRUE(ready(self));
	status = status_of(self->fd);
	EXPECT_EQ(PLAN, status.plan_id);
	EXPECT_EQ(self->insertion, status.insertion);
	EXPECT_EQ(DEALBOX_STATUS_HOPPER | DEALBOX_STATUS_BOARD, status.flags);
	EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status.claimed);
	EXPECT_EQ(getpid(), status.owner_pid);
	EXPECT_EQ(0, status.lost);
	EXPECT_EQ(0, status.reserved1);
}

TEST_F(machine, claim)
{
	int other = open_again(&self->machine, O_RDWR);
	int observer = open_again(&self->machine, O_RDONLY);
	struct dealbox_status status;

	ASSERT_LE(0, other);
	ASSERT_LE(0, observer);
	EXPECT_EQ(-EBADF, call(observer, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(-EPERM, call(self->fd, DEALBOX_IOC_RELEASE, NULL));

	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(-EBUSY, call(other, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(-EBUSY, call(other, DEALBOX_IOC_RELEASE, NULL));
	status = status_of(observer);
	EXPECT_EQ(DEALBOX_CLAIMED_BY_OTHER, status.claimed);
	EXPECT_EQ(getpid(), status.owner_pid);

	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_RELEASE, NULL));
	EXPECT_EQ(DEALBOX_CLAIMED_NOT, status_of(observer).claimed);
	EXPECT_EQ(0, call(other, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(-EBUSY, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(0, close(other));
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	close(observer);
}

/* The claim is the file's. The number of a process that has ended may be another one's. */
TEST_F(machine, claim_of_a_process_that_ended)
{
	struct dealbox_status status;
	pid_t child = fork();
	int ended;

	ASSERT_LE(0, child);
	if (!child)
		_exit(ioctl(self->fd, DEALBOX_IOC_CLAIM) ||
		      status_of(self->fd).owner_pid != getpid());
	ASSERT_EQ(child, waitpid(child, &ended, 0));
	EXPECT_EQ(0, ended);
	status = status_of(self->fd);
	EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status.claimed);
	EXPECT_EQ(0, status.owner_pid);
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_RELEASE, NULL));
}

/* Calls that change the machine require the claim; queries do not. */
TEST_F(machine, needs_claim)
{
	int observer = open_again(&self->machine, O_RDONLY);
	int other = open_again(&self->machine, O_RDWR);
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED, .value = 600 };
	struct dealbox_attest attest = { .insertion = 1, .nonce = { 1 } };
	struct dealbox_attestation attestation;
	struct dealbox_identity identity;
	struct dealbox_counters counters;
	const struct {
		int fd, error;
	} cases[] = { { observer, -EBADF }, { self->fd, -EPERM }, { other, -EBUSY } };
	size_t i;

	for (i = 0; i < 3; i++) {
		if (cases[i].error == -EBUSY)
			ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
		EXPECT_EQ(cases[i].error, load(cases[i].fd));
		EXPECT_EQ(cases[i].error, do_op(cases[i].fd, DEALBOX_OP_LOCATE));
		EXPECT_EQ(cases[i].error, call(cases[i].fd, DEALBOX_IOC_SET_PARAM, &param));
		EXPECT_EQ(cases[i].error, call(cases[i].fd, DEALBOX_IOC_RELEASE, NULL));
		EXPECT_EQ(cases[i].error, call(cases[i].fd, DEALBOX_IOC_ATTEST, &attest));
		EXPECT_EQ(-ENODATA,
			  call(cases[i].fd, DEALBOX_IOC_GET_ATTESTATION, &attestation));
		EXPECT_EQ(0, call(cases[i].fd, DEALBOX_IOC_GET_IDENTITY, &identity));
		EXPECT_EQ(0, call(cases[i].fd, DEALBOX_IOC_GET_PARAM, &param));
		EXPECT_EQ(0, call(cases[i].fd, DEALBOX_IOC_GET_COUNTERS, &counters));
		EXPECT_EQ(DEALBOX_STATE_IDLE, status_of(cases[i].fd).state);
	}
	close(observer);
	close(other);
}

/* --- what is refused ----------------------------------------------------------------- */

TEST_F(machine, unknown_ioctl)
{
	static const struct {
		unsigned long request;
	} unknown[] = {
		{ _IO(DEALBOX_IOC_MAGIC, 0x09) }, { _IO(DEALBOX_IOC_MAGIC, 0xff) },
		{ _IO(DEALBOX_IOC_MAGIC, 0x00) }, { _IO('U', 0x02) }, { 0 }, { ~0U },
		{ _IOR(DEALBOX_IOC_MAGIC, 0x00, char[124]) },
		{ _IOW(DEALBOX_IOC_MAGIC, 0x00, struct dealbox_info) },
		{ _IOWR(DEALBOX_IOC_MAGIC, 0x04, char[92]) },
		{ _IOWR(DEALBOX_IOC_MAGIC, 0x05, char[8191]) },
		{ _IOR(DEALBOX_IOC_MAGIC, 0x02, int) },
	};
	char arg[8192] = { 0 };
	size_t i;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		EXPECT_EQ(-ENOTTY, call(self->fd, unknown[i].request, arg)) {
			TH_LOG("request %zu", i);
		}
}

TEST_F(machine, bad_address)
{
	static const unsigned long requests[] = {
		DEALBOX_IOC_GET_INFO, DEALBOX_IOC_GET_STATUS, DEALBOX_IOC_SET_PLAN,
		DEALBOX_IOC_CONTROL, DEALBOX_IOC_GET_PARAM, DEALBOX_IOC_SET_PARAM,
		DEALBOX_IOC_GET_COUNTERS, DEALBOX_IOC_ATTEST, DEALBOX_IOC_GET_IDENTITY,
	};
	struct pollfd pollfd = { .fd = self->fd, .events = POLLIN };
	void *volatile nowhere = (void *)8;
	size_t i;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		EXPECT_EQ(-EFAULT, call(self->fd, requests[i], nowhere));

	ASSERT_TRUE(machine_tell(&self->machine, "key start"));
	ASSERT_EQ(1, poll(&pollfd, 1, PATIENCE));
	EXPECT_EQ(-1, read(self->fd, nowhere, sizeof(struct dealbox_event)));
	EXPECT_EQ(EFAULT, errno);
	/* events that could not be delivered are lost, and the gap is reported */
	EXPECT_EQ(DEALBOX_EVF_GAP, next_event(self->fd).flags & DEALBOX_EVF_GAP);
	EXPECT_EQ(1, status_of(self->fd).lost);
}

/* driver/tests/abi_test.c has every reason to refuse a plan. */
TEST_F(machine, plan_refused)
{
	struct dealbox_plan plan;

#define REFUSED(error, change) do {						\
	plan = bridge_plan();							\
	change;									\
	EXPECT_EQ(error, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan)) {		\
		TH_LOG("%s", #change);						\
	}									\
} while (0)
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	REFUSED(-EINVAL, plan.reserved[3] = 1);		/* by the call */
	REFUSED(-EINVAL, plan.pocket[51] = 254);	/* by the protocol */
	EXPECT_EQ(DEALBOX_PLAN_NONE, status_of(self->fd).plan_id);
	REFUSED(0, plan.pocket[51] = DEALBOX_NONE);
	EXPECT_EQ(DEALBOX_ERR_OK, plan.result);
	EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
	/* no plan: the machine drops the one that it has */
	REFUSED(0, memset(&plan, 0, sizeof(plan)));
	EXPECT_EQ(DEALBOX_PLAN_NONE, status_of(self->fd).plan_id);
#undef REFUSED
}

/* driver/tests/abi_test.c has every reason to refuse a command. */
TEST_F(machine, control_refused)
{
	__u32 op;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	for (op = DEALBOX_OP_START - 1; op <= DEALBOX_OP_LOCATE + 1; op++) {
		struct dealbox_control c = { .op = op, .reserved[1] = 1 };

		EXPECT_EQ(-EINVAL, control(self->fd, &c)) {
			TH_LOG("op %#x", op);
		}
	}
}

TEST_F(machine, param)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED }, set;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_GET_PARAM, &param));
	EXPECT_LE(param.min, param.value);
	EXPECT_LE(param.value, param.max);
	set = (struct dealbox_param){ .id = DEALBOX_PARAM_SPEED, .value = param.min };
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_SET_PARAM, &set));
	param.value = 0;
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_GET_PARAM, &param));
	EXPECT_EQ(param.min, param.value);

	set.reserved[0] = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_SET_PARAM, &set));
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_GET_PARAM, &set));
	set.reserved[0] = 0;
	set.reserved[1] = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_SET_PARAM, &set));
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_GET_PARAM, &set));
	set.reserved[1] = 0;
	set.min = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_SET_PARAM, &set));
	set.min = 0;
	set.max = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_SET_PARAM, &set));
	set.max = 0;

	/* the machine's own refusals */
	set.value = param.max + 1;
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_SET_PARAM, &set));
	EXPECT_EQ(DEALBOX_ERR_BAD_VALUE, set.result);
	EXPECT_EQ(2, set.detail);
	set.id = 0x12345678;
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_SET_PARAM, &set));
	EXPECT_EQ(DEALBOX_ERR_BAD_VALUE, set.result);
	EXPECT_EQ(1, set.detail);
	param.id = 0x7000;
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_GET_PARAM, &param));
	EXPECT_EQ(DEALBOX_ERR_BAD_VALUE, param.result);
	param.id = 0x10001;
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_GET_PARAM, &param));
	EXPECT_EQ(DEALBOX_ERR_BAD_VALUE, param.result);
}

/* The machine refuses: EREMOTEIO, with the reason. */
TEST_F(machine, machine_refuses)
{
	struct dealbox_control c = { .op = DEALBOX_OP_START, .plan_id = PLAN, .insertion = 1 };

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_NO_PLAN, c.result);
	ASSERT_EQ(0, load(self->fd));
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_NO_BOARD, c.result);
	c.plan_id = PLAN + 1;
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_WRONG_PLAN, c.result);
	EXPECT_EQ(PLAN, c.detail);
	ASSERT_TRUE(insert(self));
	c.plan_id = PLAN;
	c.insertion = self->insertion + 1;
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_WRONG_INSERTION, c.result);
	EXPECT_EQ(self->insertion, c.detail);
	c = (struct dealbox_control){ .op = DEALBOX_OP_PAUSE };
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_STATE, c.result);
	EXPECT_EQ(DEALBOX_STATE_IDLE, c.detail);
	/* refused calls had no effect */
	EXPECT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(DEALBOX_EV_DEAL_DONE, await_event(self->fd, DEALBOX_EV_DEAL_DONE).type);
	c = (struct dealbox_control){ .op = DEALBOX_OP_START, .plan_id = PLAN,
				      .insertion = self->insertion };
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_SPENT, c.result);
}

/* The plan of a running deal cannot be replaced. */
TEST_F(machine, plan_while_dealing)
{
	struct dealbox_plan plan = bridge_plan();

	ASSERT_TRUE(deal_frozen(self));
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan));
	EXPECT_EQ(DEALBOX_ERR_STATE, plan.result);
	EXPECT_EQ(DEALBOX_STATE_DEALING, plan.detail);
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(DEALBOX_EV_DEAL_DONE, await_event(self->fd, DEALBOX_EV_DEAL_DONE).type);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

/* --- deals ------------------------------------------------------------------------- */

/* Every event of a deal comes in order, and the board matches the plan. */
TEST_F(machine, deal_by_card)
{
	struct dealbox_plan plan = bridge_plan();
	int read_at = -1, routed_at = -1, landed_at = -1;
	__u8 counts[DEALBOX_MAX_POCKETS] = { 0 };
	struct dealbox_event event;
	__u64 seqno, last_ns = 0;
	int i;

	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	event = await_event(self->fd, DEALBOX_EV_DEAL_STARTED);
	ASSERT_EQ(PLAN, event.code);
	EXPECT_EQ(CARDS, event.arg[0]);
	seqno = event.seqno;
	for (;;) {
		event = next_event(self->fd);
		ASSERT_EQ(++seqno, event.seqno);
		ASSERT_EQ(0, event.flags);
		ASSERT_LE(last_ns, event.timestamp_ns);
		ASSERT_EQ(self->insertion, event.insertion);
		last_ns = event.timestamp_ns;
		if (event.type == DEALBOX_EV_DEAL_DONE)
			break;
		switch (event.type) {
		case DEALBOX_EV_CARD_READ:
			ASSERT_EQ(++read_at, event.position);
			ASSERT_GT(CARDS, event.card);
			break;
		case DEALBOX_EV_CARD_ROUTED:
			ASSERT_EQ(++routed_at, event.position);
			ASSERT_LE(event.position, read_at);
			ASSERT_EQ(plan.pocket[event.card], event.pocket);
			break;
		case DEALBOX_EV_CARD_LANDED:
			ASSERT_EQ(++landed_at, event.position);
			ASSERT_LE(event.position, routed_at);
			counts[event.pocket]++;
			break;
		case DEALBOX_EV_HOPPER_EMPTY:
			break;
		default:
			ASSERT_EQ(0, event.type);
		}
	}
	EXPECT_EQ(CARDS - 1, landed_at);
	EXPECT_EQ(CARDS, event.position);
	EXPECT_EQ(PLAN, event.code);
	for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
		EXPECT_EQ(counts[i], event.counts[i]);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
	EXPECT_EQ(DEALBOX_STATE_DONE, status_of(self->fd).state);
	EXPECT_EQ(CARDS, status_of(self->fd).cards_done);
}

/* One plan deals any number of copies. */
TEST_F(machine, two_copies)
{
	struct dealbox_plan plan = bridge_plan();
	int copy;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, load(self->fd));
	for (copy = 0; copy < 2; copy++) {
		ASSERT_TRUE(insert(self));
		ASSERT_EQ(0, start(self->fd, self->insertion));
		EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
		EXPECT_TRUE(board_is(&self->machine, plan.pocket));
		ASSERT_TRUE(machine_tell(&self->machine, "remove"));
		ASSERT_TRUE(machine_tell(&self->machine, "empty"));
	}
}

TEST_F(machine, deal_by_position)
{
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_event event;
	int i;

	plan.mode = DEALBOX_PLAN_BY_POSITION;
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan));
	ASSERT_TRUE(insert(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	for (i = 0; i < CARDS; i++) {
		event = await_event(self->fd, DEALBOX_EV_CARD_LANDED);
		ASSERT_EQ(i, event.position);
		ASSERT_EQ(plan.pocket[i], event.pocket);
	}
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
}

TEST_F(machine, capture)
{
	struct dealbox_plan plan = { .plan_id = PLAN, .mode = DEALBOX_PLAN_CAPTURE, .entries = 1,
				     .pocket = { 2 } };
	struct dealbox_event event;
	bool seen[DEALBOX_MAX_CARDS] = { false };
	int i;

	ASSERT_TRUE(machine_tell(&self->machine, "hopper empty"));
	ASSERT_TRUE(machine_tell(&self->machine, "hopper top SA HK D7 C2 S2"));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan));
	ASSERT_TRUE(insert(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	for (i = 0; i < 5; i++) {
		event = await_event(self->fd, DEALBOX_EV_CARD_LANDED);
		ASSERT_EQ(2, event.pocket);
		ASSERT_GT(DEALBOX_MAX_CARDS, event.card);
		seen[event.card] = true;
	}
	event = await_event(self->fd, DEALBOX_EV_DEAL_DONE);
	EXPECT_EQ(5, event.counts[2]);
	EXPECT_TRUE(seen[0] && seen[12] && seen[14] && seen[33] && seen[51]);
}

TEST_F(machine, test_deal)
{
	struct dealbox_control c = { .op = DEALBOX_OP_TEST_DEAL, .arg = 8 };
	struct dealbox_event event;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(insert(self));
	c.insertion = self->insertion;
	ASSERT_EQ(0, control(self->fd, &c));
	event = await_event(self->fd, DEALBOX_EV_DEAL_DONE);
	EXPECT_EQ(DEALBOX_PLAN_TEST, event.code);
	EXPECT_EQ(2, event.counts[0]);
	EXPECT_EQ(2, event.counts[3]);
}

/* A repeated card stops the feed, on both kinds of machine. */
TEST_F(machine, repeated_card)
{
	struct dealbox_event event;

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on feed position 9: repeat"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	event = await_event(self->fd, DEALBOX_EV_REPEATED_CARD);
	EXPECT_EQ(9, event.position);
	EXPECT_GT(9, event.arg[0]);
	EXPECT_EQ(DEALBOX_STATE_FAULT, status_of(self->fd).state);
	EXPECT_EQ(DEALBOX_EV_REPEATED_CARD, status_of(self->fd).fault);
	EXPECT_EQ(9, status_of(self->fd).cards_done);
}

/* A card of another pack is held; after it is taken out, the deal completes. */
TEST_F(machine, not_in_plan)
{
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_event event;

	ASSERT_TRUE(machine_tell(&self->machine, "hopper top joker1"));
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	event = await_event(self->fd, DEALBOX_EV_NOT_IN_PLAN);
	ASSERT_EQ(DEALBOX_EV_NOT_IN_PLAN, event.type);
	EXPECT_EQ(0, event.position);
	EXPECT_EQ(DEALBOX_STATE_HELD, status_of(self->fd).state);
	ASSERT_TRUE(machine_tell(&self->machine, "take-card"));
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_REREAD));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

TEST_F(machine, pause_and_abort)
{
	ASSERT_TRUE(machine_tell(&self->machine, "inject on read position 20: freeze"));
	ASSERT_TRUE(deal_frozen(self));
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_PAUSE));
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(DEALBOX_PAUSED_BY_HOST, await_event(self->fd, DEALBOX_EV_PAUSED).code);
	EXPECT_EQ(DEALBOX_STATE_PAUSED, status_of(self->fd).state);
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_RESUME));
	EXPECT_EQ(DEALBOX_EV_RESUMED, await_event(self->fd, DEALBOX_EV_RESUMED).type);
	ASSERT_TRUE(machine_tell(&self->machine, "wait frozen"));
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_ABORT));
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(PLAN, await_event(self->fd, DEALBOX_EV_ABORTED).code);
	EXPECT_EQ(DEALBOX_STATE_IDLE, status_of(self->fd).state);
}

TEST_F(machine, counters)
{
	struct dealbox_counters before, after;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_GET_COUNTERS, &before));
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_GET_COUNTERS, &after));
	EXPECT_EQ(before.boards_dealt + 1, after.boards_dealt);
	EXPECT_EQ(before.cards_fed + CARDS, after.cards_fed);
	EXPECT_EQ(before.cards_read + CARDS, after.cards_read);
	EXPECT_EQ(0, after.reserved);
}

/* test_attestation.c and the tools' tests check what is signed. */
TEST_F(machine, attest)
{
	struct dealbox_attest attest = { .nonce = { 7 } }, bad;
	struct dealbox_attestation attestation;
	struct dealbox_identity identity;
	struct dealbox_event event;
	int observer = open_again(&self->machine, O_RDONLY);

	memset(&attestation, 0xff, sizeof(attestation));
	memset(&identity, 0xff, sizeof(identity));
	ASSERT_EQ(0, call(observer, DEALBOX_IOC_GET_IDENTITY, &identity));
	EXPECT_EQ(DEALBOX_IDENTITY_EMULATED, identity.flags);
	EXPECT_EQ(0, identity.counter);
	EXPECT_EQ(0, identity.reserved[0] | identity.reserved[3]);

	ASSERT_TRUE(ready(self));
	attest.insertion = self->insertion;
	/* nothing was dealt yet */
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_ATTEST, &attest));
	EXPECT_EQ(DEALBOX_ERR_WRONG_INSERTION, attest.result);
	EXPECT_EQ(0, attest.detail);
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);

	bad = attest;
	bad.reserved[3] = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_ATTEST, &bad));
	bad = attest;
	memset(bad.nonce, 0, sizeof(bad.nonce));
	EXPECT_EQ(-EINVAL, call(self->fd, DEALBOX_IOC_ATTEST, &bad));
	bad = attest;
	bad.insertion++;
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_ATTEST, &bad));
	EXPECT_EQ(self->insertion, bad.detail);

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_ATTEST, &attest));
	EXPECT_EQ(DEALBOX_ERR_OK, attest.result);
	event = await_event(self->fd, DEALBOX_EV_ATTESTED);
	EXPECT_EQ(1, event.code);
	EXPECT_EQ(DEALBOX_ERR_OK, event.arg[0]);
	EXPECT_EQ(self->insertion, event.arg[1]);
	ASSERT_EQ(0, call(observer, DEALBOX_IOC_GET_ATTESTATION, &attestation));
	EXPECT_EQ(0, memcmp(attestation.statement, "DBXA\0\1", 6));
	EXPECT_EQ(0, memcmp(attestation.statement + 8, identity.key_id,
			    sizeof(identity.key_id)));
	EXPECT_EQ(1, attestation.statement[16]);
	EXPECT_EQ(0, attestation.reserved[0] | attestation.reserved[3]);
	ASSERT_EQ(0, call(observer, DEALBOX_IOC_GET_IDENTITY, &identity));
	EXPECT_EQ(1, identity.counter);

	/* a reset forgets it */
	ASSERT_TRUE(machine_usb_reset(&self->machine));
	await_event(self->fd, DEALBOX_EV_STATE_LOST);
	EXPECT_EQ(-ENODATA, call(observer, DEALBOX_IOC_GET_ATTESTATION, &attestation));
	close(observer);
}

/* --- read and poll -------------------------------------------------------------------- */

TEST_F(machine, read_sizes)
{
	struct dealbox_event events[8];
	int nonblocking = open_again(&self->machine, O_RDONLY | O_NONBLOCK);
	int i;

	ASSERT_LE(0, nonblocking);
	for (i = 0; i < (int)sizeof(events[0]); i++) {
		EXPECT_EQ(-1, read(nonblocking, events, i));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, read(nonblocking, events, sizeof(events)));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(-1, lseek(nonblocking, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, write(self->fd, events, sizeof(events)));
	EXPECT_EQ(EINVAL, errno);

	/* whole events only: as many as are queued and fit */
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(machine_tell(&self->machine, "key start"));
	for (i = 0; i < 6; i++)
		ASSERT_EQ(DEALBOX_EV_KEY, await_event(self->fd, DEALBOX_EV_KEY).type);
	EXPECT_EQ(64, read(nonblocking, events, 127));
	EXPECT_EQ(128, read(nonblocking, events, 128));
	EXPECT_EQ(3 * 64, read(nonblocking, events, sizeof(events)));
	EXPECT_EQ(DEALBOX_EV_KEY, events[2].type);
	EXPECT_EQ(-1, read(nonblocking, events, sizeof(events)));
	EXPECT_EQ(EAGAIN, errno);
	close(nonblocking);
}

/* Events go to several buffers in turn as to one, and none waits once there was one. */
TEST_F(machine, scattered_read)
{
	struct dealbox_event events[3];
	char *at = (char *)events;
	const struct iovec parts[] = { { at, 32 }, { at + 32, 100 }, { at + 132, 60 } };
	const struct iovec wholes[] = { { &events[0], 64 }, { &events[1], 64 } };
	const struct iovec small[] = { { at, 32 }, { at + 32, 31 } };

	ASSERT_EQ(0, drain(self->fd));
	/* pressed and let go */
	ASSERT_TRUE(machine_tell(&self->machine, "key start"));
	ASSERT_TRUE(machine_tell(&self->machine, "wait fetched"));
	EXPECT_EQ(-1, readv(self->fd, small, ARRAY_SIZE(small)));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(2 * 64, readv(self->fd, parts, ARRAY_SIZE(parts)));
	EXPECT_EQ(DEALBOX_EV_KEY, events[0].type);
	EXPECT_EQ(DEALBOX_EV_KEY, events[1].type);
	EXPECT_EQ(events[0].seqno + 1, events[1].seqno);
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	EXPECT_EQ(64, readv(self->fd, wholes, ARRAY_SIZE(wholes)));
	EXPECT_EQ(DEALBOX_EV_KEY, events[0].type);
}

TEST_F(machine, blocking_read)
{
	struct blocked b;

	ASSERT_TRUE(block_reader(&b, self->fd));
	ASSERT_TRUE(machine_tell(&self->machine, "key stop"));
	EXPECT_EQ(64, join_reader(&b));
	EXPECT_EQ(DEALBOX_EV_KEY, b.event.type);
	EXPECT_EQ(DEALBOX_KEY_STOP, b.event.code);
}

TEST_F(machine, poll_and_epoll)
{
	struct pollfd pollfd = { .fd = self->fd, .events = POLLIN | POLLRDNORM };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &event));
	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	EXPECT_EQ(1, poll(&pollfd, 1, PATIENCE));
	EXPECT_EQ(POLLIN | POLLRDNORM, pollfd.revents);
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE));
	EXPECT_EQ(DEALBOX_EV_KEY, next_event(self->fd).type);
	EXPECT_EQ(0, poll(&pollfd, 1, 0));

	ASSERT_TRUE(machine_tell(&self->machine, "unplug"));
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE));
	EXPECT_EQ(EPOLLHUP | EPOLLERR, event.events & (EPOLLHUP | EPOLLERR));
	EXPECT_EQ(1, poll(&pollfd, 1, PATIENCE));
	EXPECT_EQ(POLLHUP | POLLERR, pollfd.revents);
	close(epoll);
}

/* Each file gets every event since it was opened. */
TEST_F(machine, two_observers)
{
	int one = open_again(&self->machine, O_RDONLY), two;
	struct dealbox_event a, b;

	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	ASSERT_EQ(DEALBOX_EV_KEY, await_event(self->fd, DEALBOX_EV_KEY).type);
	two = open_again(&self->machine, O_RDONLY);
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	ASSERT_EQ(DEALBOX_EV_KEY, next_event(one).type);
	do {
		a = next_event(one);
		b = next_event(two);
		ASSERT_EQ(0, memcmp(&a, &b, sizeof(a)));
		ASSERT_NE(0, a.type);
	} while (a.type != DEALBOX_EV_DEAL_DONE);
	close(one);
	close(two);
}

/* A call of the owner waits for at most two queries of observers, not for all. */
TEST_F(machine, owner_before_observers)
{
	struct doing asking[10];
	int i, before = 0, after = 0;
	bool over[ARRAY_SIZE(asking)];

	ASSERT_TRUE(deal_frozen(self));
	ASSERT_TRUE(machine_tell(&self->machine,
				 "inject on request GET_STATUS times 10: delay 450"));
	for (i = 0; i < (int)ARRAY_SIZE(asking); i++) {
		int fd = open_again(&self->machine, O_RDONLY);

		ASSERT_LE(0, fd);
		ASSERT_TRUE(begin(&asking[i], fd, do_status, "dealbox_ioctl"));
	}
	for (i = 0; i < (int)ARRAY_SIZE(asking); i++) {
		over[i] = !pthread_tryjoin_np(asking[i].thread, NULL);
		before += over[i];
	}
	ASSERT_GT(5, before);
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_ABORT));
	for (i = 0; i < (int)ARRAY_SIZE(asking); i++) {
		if (!over[i])
			over[i] = !pthread_tryjoin_np(asking[i].thread, NULL);
		after += over[i];
	}
	EXPECT_GE(before + 2, after);
	for (i = 0; i < (int)ARRAY_SIZE(asking); i++) {
		if (!over[i])
			EXPECT_EQ(0, end(&asking[i]));
		close(asking[i].fd);
	}
}

/* With O_NONBLOCK a call waits neither for its turn nor for the machine's verdict on a plan. */
TEST_F(machine, nonblocking_calls)
{
	int other = open_again(&self->machine, O_RDONLY);
	struct doing d;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: delay 450"));
	ASSERT_TRUE(begin(&d, other, do_status, "_exchange"));
	EXPECT_EQ(-EAGAIN, do_op(self->fd, DEALBOX_OP_PAUSE));
	EXPECT_EQ(-EAGAIN, load(self->fd));
	EXPECT_EQ(0, end(&d));
	close(other);
	/* the verdict comes as an event; the plan can be sent again */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event PLAN_LOADED: drop"));
	EXPECT_EQ(0, load(self->fd));
	EXPECT_EQ(0, load(self->fd));
	if (!variant->routed)
		EXPECT_EQ(PLAN, await_event(self->fd, DEALBOX_EV_PLAN_LOADED).code);
	EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
}

static void nothing(int signal)
{
	(void)signal;
}

/* A signal ends the wait for the machine's verdict, but does not undo the upload. */
TEST_F(machine, plan_interrupted)
{
	struct itimerval often = { { 0, 200000 }, { 0, 200000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART };

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event PLAN_LOADED: drop"));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(variant->routed ? 0 : -EINTR, load(self->fd));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
}

static struct dealbox_status answered;

static int keep_status(int fd)
{
	return call(fd, DEALBOX_IOC_GET_STATUS, &answered);
}

/*
 * A snapshot can be ordered with the events: everything before its seqno is included. Here the
 * machine reports its state, and the answer arrives after the state has changed.
 */
TEST_F(machine, status_and_events)
{
	struct dealbox_event inserted;
	struct doing d;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: delay 450"));
	ASSERT_TRUE(begin(&d, self->fd, keep_status, "_exchange"));
	ASSERT_TRUE(machine_tell(&self->machine, "insert 3"));
	inserted = await_event(self->fd, DEALBOX_EV_BOARD_INSERTED);
	ASSERT_EQ(DEALBOX_EV_BOARD_INSERTED, inserted.type);
	ASSERT_EQ(0, end(&d));
	/* the machine may have had the board when it was asked */
	EXPECT_TRUE(answered.insertion || answered.seqno <= inserted.seqno) {
		TH_LOG("seqno %llu, the board is event %llu",
		       (unsigned long long)answered.seqno, (unsigned long long)inserted.seqno);
	}
	/* the machine's numbers tell whether it was */
	ASSERT_NE(0, answered.machine_seq);
	EXPECT_EQ((__s32)(inserted.machine_seq - answered.machine_seq) < 0, !!answered.insertion);
	EXPECT_EQ(inserted.machine_seq + 1, status_of(self->fd).machine_seq);
}

/* The number of observers is limited; there is always room for a program with control. */
TEST_F(machine, too_many_files)
{
	int fds[64], fd, i;

	for (i = 0; i < (int)ARRAY_SIZE(fds); i++) {
		fds[i] = open_again(&self->machine, O_RDONLY);
		ASSERT_LE(0, fds[i]);
	}
	EXPECT_EQ(-1, open_again(&self->machine, O_RDONLY));
	EXPECT_EQ(EUSERS, errno);
	fd = open_again(&self->machine, O_RDWR);
	EXPECT_LE(0, fd);
	close(fd);
	close(fds[0]);
	fds[0] = open_again(&self->machine, O_RDONLY);
	EXPECT_LE(0, fds[0]);
	for (i = 0; i < (int)ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

/* A slow reader loses the oldest events, and learns how many. */
TEST_F(machine, overflow)
{
	int slow = open_again(&self->machine, O_RDONLY);
	struct dealbox_event events[1024], event;
	int i, n, surplus = 26;

	for (i = 0; i < (1024 + surplus) / 2; i++) {
		ASSERT_TRUE(machine_tell(&self->machine, "key start"));
		ASSERT_EQ(DEALBOX_EV_KEY, await_event(self->fd, DEALBOX_EV_KEY).type);
		event = await_event(self->fd, DEALBOX_EV_KEY);
		ASSERT_EQ(DEALBOX_EV_KEY, event.type);
	}
	EXPECT_EQ(surplus, status_of(slow).lost);
	EXPECT_EQ(0, status_of(self->fd).lost);
	n = read(slow, events, sizeof(events));
	ASSERT_EQ(sizeof(events), n);
	EXPECT_EQ(DEALBOX_EVF_GAP, events[0].flags);
	EXPECT_EQ(event.seqno, events[1023].seqno);
	for (i = 1; i < 1024; i++) {
		ASSERT_EQ(events[0].seqno + i, events[i].seqno);
		ASSERT_EQ(0, events[i].flags);
	}
	close(slow);
}

/* --- the owner goes away -------------------------------------------------------------- */

TEST_F(machine, close_pauses)
{
	int next = open_again(&self->machine, O_RDWR);
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_status status;

	ASSERT_TRUE(deal_frozen(self));
	EXPECT_EQ(-EBUSY, call(next, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, close(self->fd));
	self->fd = next;
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(DEALBOX_PAUSED_BY_HOST, await_event(next, DEALBOX_EV_PAUSED).code);
	status = status_of(next);
	EXPECT_EQ(DEALBOX_STATE_PAUSED, status.state);
	EXPECT_EQ(PLAN, status.plan_id);
	EXPECT_EQ(self->insertion, status.insertion);
	EXPECT_EQ(DEALBOX_CLAIMED_NOT, status.claimed);
	EXPECT_LT(0, status.cards_done);

	ASSERT_EQ(0, call(next, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, do_op(next, DEALBOX_OP_RESUME));
	EXPECT_EQ(CARDS, await_event(next, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

TEST_F(machine, release_pauses)
{
	ASSERT_TRUE(deal_frozen(self));
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_RELEASE, NULL));
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(DEALBOX_EV_PAUSED, await_event(self->fd, DEALBOX_EV_PAUSED).type);
	EXPECT_EQ(-EPERM, do_op(self->fd, DEALBOX_OP_RESUME));
}

TEST_F(machine, death_pauses)
{
	pid_t child;

	ASSERT_TRUE(insert(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on read position 5: freeze"));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int fd = open_again(&self->machine, O_RDWR);

		if (ioctl(fd, DEALBOX_IOC_CLAIM) || load(fd) || start(fd, self->insertion))
			_exit(1);
		pause();
	}
	ASSERT_TRUE(machine_tell(&self->machine, "wait frozen"));
	EXPECT_EQ(child, status_of(self->fd).owner_pid);
	EXPECT_EQ(DEALBOX_STATE_DEALING, status_of(self->fd).state);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(DEALBOX_EV_PAUSED, await_event(self->fd, DEALBOX_EV_PAUSED).type);
	EXPECT_EQ(DEALBOX_CLAIMED_NOT, status_of(self->fd).claimed);
	EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
}

/* --- lost and broken answers ------------------------------------------------------------- */

/* The answer to START is lost: the driver asks what became of it, and does not repeat it. */
TEST_F(machine, lost_answer)
{
	struct dealbox_plan plan = bridge_plan();

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request START: status EPROTO"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

/* The same, when the machine does not answer at all. */
TEST_F(machine, no_answer_to_start)
{
	struct dealbox_plan plan = bridge_plan();

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request START: no-answer"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

/* The command never arrived: it is sent once more. */
TEST_F(machine, lost_command)
{
	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request START: ignore"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
}

TEST_F(machine, no_answer)
{
	struct dealbox_counters counters;

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request always: no-answer"));
	EXPECT_EQ(-ETIMEDOUT, call(self->fd, DEALBOX_IOC_GET_COUNTERS, &counters));
	EXPECT_EQ(-ETIMEDOUT, do_op(self->fd, DEALBOX_OP_LOCATE));
}

TEST_F(machine, broken_answers)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED };
	struct dealbox_status status;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: short 31"));
	EXPECT_EQ(-EPROTO, call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: stall"));
	EXPECT_EQ(-EPROTO, call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: status EPROTO"));
	EXPECT_EQ(variant->dialect ? -ETIMEDOUT : -EIO,
		  call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: bytes ff"
				 "00000000000000000000000000000000000000000000000000000000000000"));
	EXPECT_EQ(-EPROTO, call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
	/* an answer with another parameter's number */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_PARAM: set 0 02"));
	EXPECT_EQ(-EPROTO, call(self->fd, DEALBOX_IOC_GET_PARAM, &param));
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_GET_PARAM, &param));
}

TEST_F(machine, broken_plan_transfer)
{
	struct dealbox_plan plan = bridge_plan();

	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on plan: stall"));
	if (variant->routed) {
		/* the driver keeps the plan, and sends nothing */
		EXPECT_EQ(0, load(self->fd));
		EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
		return;
	}
	/* the machine gives the reason: the block did not come in time */
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan));
	EXPECT_EQ(DEALBOX_ERR_INCOMPLETE, plan.result);
	if (!variant->dialect) {
		ASSERT_TRUE(machine_tell(&self->machine, "inject on plan: status EPROTO"));
		EXPECT_EQ(-EIO, load(self->fd));
	}
	ASSERT_TRUE(machine_tell(&self->machine, "inject on plan: refuse CRC 7"));
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan));
	EXPECT_EQ(DEALBOX_ERR_CRC, plan.result);
	EXPECT_EQ(7, plan.detail);
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event PLAN_LOADED: drop"));
	EXPECT_EQ(-ETIMEDOUT, load(self->fd));
	/* the firmware restarts, so the verdict will never come */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event PLAN_LOADED: drop"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event PLAN_LOADED: reset"));
	EXPECT_EQ(-EIO, load(self->fd));
	EXPECT_EQ(0, load(self->fd));
	EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
	/*
	 * It comes 2.1 s behind LOAD. The last one, because in the serial dialect the call ends
	 * before the block has come.
	 */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request LOAD: delay 900"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on plan: delay 1200"));
	EXPECT_EQ(-EREMOTEIO, call(self->fd, DEALBOX_IOC_SET_PLAN, &plan));
	EXPECT_EQ(DEALBOX_ERR_INCOMPLETE, plan.result);
}

/* A transfer of half an event is dropped and reported; the next one is read. */
static void broken_transfers(struct __test_metadata *_metadata, FIXTURE_DATA(machine) *self)
{
	struct dealbox_event event;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer: short 31"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_PROTOCOL_ERROR, event.type);
	EXPECT_EQ(DEALBOX_PROTO_EVENT_SIZE, event.code);
	EXPECT_EQ(31, event.arg[0]);
	ASSERT_TRUE(machine_tell(&self->machine, "key start let-go"));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_KEY, event.type);
	EXPECT_EQ(DEALBOX_EVF_MACHINE_GAP, event.flags);

	/* a card number out of range */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event KEY: set 17 36"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_PROTOCOL_ERROR, event.type);
	EXPECT_EQ(DEALBOX_PROTO_EVENT_FIELD, event.code);
	EXPECT_EQ(DEALBOX_EV_KEY, event.arg[0]);

	/* an unknown type is passed on to programs that may know it */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event KEY: set 0 7e"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start let-go"));
	EXPECT_EQ(0x7e, next_event(self->fd).type);
}

/*
 * Bytes that are not a frame are dropped and reported; the next frame is found wherever it begins.
 */
static void broken_frames(struct __test_metadata *_metadata, FIXTURE_DATA(machine) *self)
{
	struct dealbox_status status;
	struct dealbox_event event;

	/*
	 * The rest of a frame never comes; the driver notices at the next frame, here an answer.
	 * Wait until the event's transfer was fetched, or the answer would overtake it.
	 */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on frame EVENT: short 31"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	ASSERT_TRUE(machine_tell(&self->machine, "wait fetched"));
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_GET_STATUS, &status));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_PROTOCOL_ERROR, event.type);
	EXPECT_EQ(DEALBOX_PROTO_EVENT_SIZE, event.code);
	ASSERT_TRUE(machine_tell(&self->machine, "key start let-go"));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_KEY, event.type);
	EXPECT_EQ(DEALBOX_EVF_MACHINE_GAP, event.flags);

	/* stray bytes, the last of which could begin a frame; no event is lost */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer: bytes 00db8200"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	EXPECT_EQ(DEALBOX_EV_PROTOCOL_ERROR, next_event(self->fd).type);
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_KEY, event.type);
	EXPECT_EQ(0, event.flags & DEALBOX_EVF_MACHINE_GAP);
}

TEST_F(machine, broken_events)
{
	if (variant->dialect)
		broken_frames(_metadata, self);
	else
		broken_transfers(_metadata, self);
}

/* The driver retries after transfer errors, and clears a halt; no event is lost. */
TEST_F(machine, event_pipe_errors)
{
	struct dealbox_event event;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer times 3: status EPROTO"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_KEY, event.type);
	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer: stall"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start let-go"));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_KEY, event.type);
}

/* The driver resets the machine if the pipe does not recover within a second. */
TEST_F(machine, event_pipe_dead)
{
	struct dealbox_event event;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer times 14: status EPROTO"));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	event = await_event(self->fd, DEALBOX_EV_STATE_LOST);
	EXPECT_EQ(DEALBOX_LOST_RESET, event.code);
}

/* The gate command fails: the machine keeps the card, and the deal continues after REREAD. */
TEST_F(machine, gate_fails)
{
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_event event;
	int late = 0;

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on route nth 3: ignore"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	/* a stored-plan machine gets no gate commands */
	if (variant->routed) {
		EXPECT_EQ(2, await_event(self->fd, DEALBOX_EV_GATE_LATE).position);
		ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_REREAD));
	}
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
	if (!variant->routed || variant->dialect)
		return;

	/* the gate endpoint halts: the halt is cleared before the next deal */
	ASSERT_TRUE(machine_tell(&self->machine, "remove"));
	ASSERT_TRUE(machine_tell(&self->machine, "empty"));
	ASSERT_TRUE(insert(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on route nth 3: stall"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	do {
		event = await_event(self->fd, DEALBOX_EV_CARD_READ);
		ASSERT_NE(0, event.type);
	} while (event.position < 2);
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_ABORT));
	ASSERT_EQ(PLAN, await_event(self->fd, DEALBOX_EV_ABORTED).code);
	ASSERT_TRUE(machine_tell(&self->machine, "remove"));
	ASSERT_TRUE(machine_tell(&self->machine, "empty"));
	ASSERT_TRUE(insert(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	do {
		event = next_event(self->fd);
		ASSERT_NE(0, event.type);
		if (event.type != DEALBOX_EV_GATE_LATE)
			continue;
		/* a card that came before the halt was cleared */
		ASSERT_EQ(1, ++late);
		ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_REREAD));
	} while (event.type != DEALBOX_EV_DEAL_DONE);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

/*
 * The machine does not fetch as many gate commands as may be in flight. The driver cancels them
 * after a second, and the deal goes on.
 */
TEST_F(machine, gates_that_nobody_fetches)
{
	struct dealbox_plan plan = bridge_plan();
	struct dealbox_event event;

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on route nth 3 times 2: ignore"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	do {
		event = next_event(self->fd);
		ASSERT_NE(0, event.type);
		if (event.type == DEALBOX_EV_GATE_LATE)
			ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_REREAD));
	} while (event.type != DEALBOX_EV_DEAL_DONE);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

/* One event in hex: DEAL_STARTED of insertion 1, plan PLAN; the spade ace is read */
#define HEX_STARTED	"11000000" "00000000" "00000000" "01000000" "ffffffff" \
			"67120000" "0000000000000000"
#define HEX_READ	"12000000" "00000000" "00000000" "01000000" "0000ff62" \
			"00000000" "0000000000000000"

static char bound_interface[64];

static int do_unbind(int fd)
{
	(void)fd;
	return write_file("/sys/bus/usb/drivers/dealbox", "unbind", bound_interface) ? 0 : -EIO;
}

/*
 * A machine that fetches no gate command and asks for one after the other. This cannot hold up the
 * unbind.
 */
TEST_F(machine, unbind_while_cards_are_read)
{
	struct doing d;

	if (!variant->routed || variant->dialect)
		return;
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on route always: ignore"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer always: bytes "
				 HEX_STARTED HEX_READ));
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	ASSERT_EQ(DEALBOX_EV_CARD_READ, await_event(self->fd, DEALBOX_EV_CARD_READ).type);
	snprintf(bound_interface, sizeof(bound_interface), "%s",
		 strrchr(self->machine.interface, '/') + 1);
	ASSERT_TRUE(begin(&d, self->fd, do_unbind, ""));
	EXPECT_EQ(0, end(&d));
	if (d.error == -ETIME)
		machine_tell(&self->machine, "unplug");
	EXPECT_TRUE(machine_await(&self->machine, "remove"));
}

/* --- the machine goes away -------------------------------------------------------------- */

/* Everything but a close fails with ENODEV. */
#define EXPECT_GONE(file_) do {								\
	struct dealbox_status gone_status_;						\
	struct dealbox_info gone_info_;							\
	struct pollfd gone_poll_ = { .fd = file_, .events = POLLIN };			\
	char gone_event_[64];								\
											\
	EXPECT_EQ(-1, read(file_, gone_event_, 64));					\
	EXPECT_EQ(ENODEV, errno);							\
	EXPECT_EQ(1, poll(&gone_poll_, 1, 0));						\
	EXPECT_EQ(POLLHUP | POLLERR, gone_poll_.revents);				\
	EXPECT_EQ(-ENODEV, call(file_, DEALBOX_IOC_GET_STATUS, &gone_status_));		\
	EXPECT_EQ(-ENODEV, call(file_, DEALBOX_IOC_GET_INFO, &gone_info_));		\
	EXPECT_EQ(-ENODEV, call(file_, DEALBOX_IOC_CLAIM, NULL));				\
	EXPECT_EQ(-ENODEV, load(file_));							\
	EXPECT_EQ(-ENODEV, do_op(file_, DEALBOX_OP_PAUSE));				\
	EXPECT_EQ(-ENODEV, call(file_, DEALBOX_IOC_RELEASE, NULL));			\
} while (0)

TEST_F(machine, unplug_blocked_reader)
{
	struct blocked b;

	ASSERT_TRUE(block_reader(&b, self->fd));
	ASSERT_TRUE(machine_tell(&self->machine, "unplug"));
	EXPECT_EQ(-ENODEV, join_reader(&b));
	EXPECT_GONE(self->fd);
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	EXPECT_EQ(-1, open_again(&self->machine, O_RDONLY));
	EXPECT_EQ(ENOENT, errno);
}

/* Events that were queued before the unplug can still be read. */
TEST_F(machine, unplug_mid_deal)
{
	struct dealbox_event event;
	int landed = 0;
	ssize_t got;

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on read position 30: unplug"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	while ((got = read(self->fd, &event, sizeof(event))) == sizeof(event))
		landed += event.type == DEALBOX_EV_CARD_LANDED;
	EXPECT_EQ(-1, got);
	EXPECT_EQ(ENODEV, errno);
	EXPECT_LT(20, landed);
	EXPECT_GT(31, landed);
	EXPECT_GONE(self->fd);
}

/* A machine that comes back is a new one, even while the old node is open. */
TEST_F(machine, replug)
{
	int fd;

	ASSERT_TRUE(machine_tell(&self->machine, "unplug"));
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	ASSERT_TRUE(machine_tell(&self->machine, "plug"));
	ASSERT_TRUE(machine_await(&self->machine, "add"));
	EXPECT_GONE(self->fd);
	fd = open_again(&self->machine, O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, call(fd, DEALBOX_IOC_CLAIM, NULL));
	EXPECT_EQ(DEALBOX_STATE_IDLE, status_of(fd).state);
	close(self->fd);
	self->fd = fd;
}

static bool bind_driver(const struct machine *m, const char *verb)
{
	return write_file("/sys/bus/usb/drivers/dealbox", verb, strrchr(m->interface, '/') + 1);
}

TEST_F(machine, unbind_and_bind)
{
	struct blocked b;
	int fd;

	/* the first command, as START or the plan's LOAD will be below */
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_LOCATE));
	ASSERT_TRUE(block_reader(&b, self->fd));
	ASSERT_TRUE(bind_driver(&self->machine, "unbind"));
	EXPECT_EQ(-ENODEV, join_reader(&b));
	EXPECT_GONE(self->fd);
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	ASSERT_TRUE(bind_driver(&self->machine, "bind"));
	ASSERT_TRUE(machine_await(&self->machine, "add"));
	fd = open_again(&self->machine, O_RDWR);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	/* sequence numbers continue, so the machine takes no command for a repetition */
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
}

static int do_close(int fd)
{
	return close(fd) ? -errno : 0;
}

/*
 * Unbind while a close() waits to pause the machine: the unbind pauses it instead. Then no message
 * says that the machine did not answer.
 */
TEST_F(machine, unbind_while_dropped)
{
	int log = kernel_log_open();
	struct doing d;

	ASSERT_LE(0, log);
	ASSERT_TRUE(deal_frozen(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS: no-answer"));
	ASSERT_TRUE(begin(&d, self->fd, do_close, "dealbox_release"));
	self->fd = -1;
	ASSERT_TRUE(bind_driver(&self->machine, "unbind"));
	EXPECT_EQ(0, end(&d));
	EXPECT_EQ(0, kernel_log_count(log, "PAUSE"));
	close(log);
	/* without a host, a host-routed machine cannot deal anyway */
	if (!variant->routed) {
		ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
		EXPECT_TRUE(machine_tell(&self->machine, "wait state PAUSED"));
	}
	ASSERT_TRUE(machine_tell(&self->machine, "remove force"));
	ASSERT_TRUE(bind_driver(&self->machine, "bind"));
}

/* The time of an unbind suffices for one answer: it is not spent on the status. */
TEST_F(machine, unbind_without_status)
{
	ASSERT_TRUE(deal_frozen(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request GET_STATUS always: no-answer"));
	ASSERT_TRUE(bind_driver(&self->machine, "unbind"));
	/* without a host, a host-routed machine cannot deal anyway */
	if (!variant->routed) {
		ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
		EXPECT_TRUE(machine_tell(&self->machine, "wait state PAUSED"));
	}
	ASSERT_TRUE(machine_tell(&self->machine, "remove force"));
	ASSERT_TRUE(bind_driver(&self->machine, "bind"));
}

/* After an unbind in mid-deal the next owner finds the deal, and can abort it. */
TEST_F(machine, unbind_mid_deal)
{
	struct dealbox_event event;

	ASSERT_TRUE(deal_frozen(self));
	ASSERT_TRUE(bind_driver(&self->machine, "unbind"));
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	while (read(self->fd, &event, sizeof(event)) == sizeof(event))
		;
	EXPECT_GONE(self->fd);
	/* the unbind paused it; without a host, a host-routed machine cannot deal anyway */
	if (!variant->routed) {
		ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
		ASSERT_TRUE(machine_tell(&self->machine, "wait state PAUSED"));
	}
	ASSERT_TRUE(bind_driver(&self->machine, "bind"));
	ASSERT_TRUE(machine_await(&self->machine, "add"));
	close(self->fd);
	self->fd = open_again(&self->machine, O_RDWR);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(variant->routed ? DEALBOX_PLAN_NONE : PLAN, status_of(self->fd).plan_id);
	EXPECT_EQ(self->insertion, status_of(self->fd).insertion);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, do_op(self->fd, DEALBOX_OP_ABORT));
	if (variant->routed)
		ASSERT_TRUE(machine_tell(&self->machine, "thaw"));
	EXPECT_EQ(DEALBOX_EV_ABORTED, await_event(self->fd, DEALBOX_EV_ABORTED).type);
}

/* After ENODEV, read() returns no further events, even if the machine still sends some. */
TEST_F(machine, unbind_is_the_end)
{
	ASSERT_TRUE(deal_frozen(self));
	ASSERT_TRUE(machine_tell(&self->machine, "wait fetched"));
	/* this answer comes after all events so far */
	ASSERT_EQ(DEALBOX_STATE_DEALING, status_of(self->fd).state);
	ASSERT_EQ(0, drain(self->fd));
	/* an event while the unbind waits for the answer to PAUSE */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request PAUSE: key start"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request PAUSE: delay 200"));
	ASSERT_TRUE(bind_driver(&self->machine, "unbind"));
	EXPECT_GONE(self->fd);
}

/*
 * Waits until the USB device and its interfaces have come ("bind") or gone ("remove"). folder: its
 * sysfs folder, "" if that does not happen.
 */
static void await_usb_device(struct machine *m, const char *action, char *folder, size_t size)
{
	struct pollfd pollfd = { .fd = m->uevents, .events = POLLIN };
	char message[4096];
	ssize_t length;

	folder[0] = '\0';
	while (!folder[0] && poll(&pollfd, 1, PATIENCE) == 1) {
		length = recv(m->uevents, message, sizeof(message) - 1, 0);
		if (length <= 0)
			continue;
		message[length] = '\0';
		if (!strcmp(uevent_value(message, length, "ACTION"), action) &&
		    !strcmp(uevent_value(message, length, "DEVTYPE"), "usb_device"))
			snprintf(folder, size, "/sys%s",
				 uevent_value(message, length, "DEVPATH"));
	}
}

/*
 * The dialect follows from the driver's table, so no identity can be added without one: the next
 * matching device would be probed without a dialect.
 */
TEST_F(machine, no_new_id)
{
	static const char driver[] = "/sys/bus/usb/drivers/dealbox";
	char path[64], folder[256];

	snprintf(path, sizeof(path), "%s/new_id", driver);
	EXPECT_EQ(-1, access(path, F_OK));
	ASSERT_TRUE(write_file(driver, "unbind", strrchr(self->machine.interface, '/') + 1));
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	if (!access(path, F_OK))
		EXPECT_TRUE(write_file(driver, "new_id", "1209 0001"));
	ASSERT_TRUE(machine_tell(&self->machine, "unplug"));
	/* a port that is empty for too short a time keeps the device of before */
	await_usb_device(&self->machine, "remove", folder, sizeof(folder));
	ASSERT_NE('\0', folder[0]);
	ASSERT_TRUE(machine_tell(&self->machine, "plug"));
	ASSERT_TRUE(machine_await(&self->machine, "add"));
}

/*
 * Plugs the machine in again with another device descriptor. Returns 1 if the driver binds to
 * it, 0 if not, -1 on errors.
 */
static int is_taken(struct machine *m, const char *change)
{
	char folder[256], driver[300];

	if (!machine_tell(m, "unplug") || !machine_await(m, "remove") ||
	    !machine_tell(m, "inject on descriptor device always: %s", change) ||
	    !machine_tell(m, "plug"))
		return -1;
	await_usb_device(m, "bind", folder, sizeof(folder));
	if (!folder[0])
		return -1;
	snprintf(driver, sizeof(driver), "%s%s:1.0/driver", folder, strrchr(folder, '/'));
	return !access(driver, F_OK);
}

/*
 * The meaning of class ff is up to the vendor. A machine identifies itself before anything is
 * written to it: by its USB descriptors, or on endpoint 0 when it is asked.
 */
TEST_F(machine, unknown_vendor)
{
	EXPECT_EQ(1, is_taken(&self->machine, "set 8 4242"));
}

/* A descriptor that the answer has not room for: that of a later minor version. */
TEST_F(machine, unknown_vendor_with_a_longer_descriptor)
{
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request 0x00 always: set 0 1c"));
	EXPECT_EQ(1, is_taken(&self->machine, "set 8 4242"));
}

/*
 * A serial machine that does not answer is accepted only from a known vendor. It may be anything,
 * so neither the driver nor the driver core says anything about it.
 */
TEST_F(machine, unknown_vendor_without_an_answer)
{
	int log = kernel_log_open();

	ASSERT_LE(0, log);
	ASSERT_TRUE(machine_tell(&self->machine, "inject on request 0x00 always: stall"));
	EXPECT_EQ(!variant->dialect, is_taken(&self->machine, "set 8 4242"));
	EXPECT_EQ(0, kernel_log_count(log, ";dealbox"));
	close(log);
}

/* bDeviceClass ff: Linux then ignores the class of an interface, unless the vendor is known. */
TEST_F(machine, class_of_vendor)
{
	EXPECT_EQ(!!variant->dialect, is_taken(&self->machine, "set 4 ff"));
}

/* bDeviceClass ef: the classes of the interfaces count. */
TEST_F(machine, class_of_interfaces)
{
	EXPECT_EQ(1, is_taken(&self->machine, "set 4 ef0201"));
}

/* Serial numbers with a long common beginning still tell two machines apart. */
TEST_F(machine, long_serial)
{
	static const char tail[] = "-0123456789-0123456789-0123456789-0123456789-0123456789";
	char name[sizeof(self->machine.serial)], rule[600];
	size_t i, at;

	at = snprintf(rule, sizeof(rule), "inject on descriptor string nth 4: bytes %02x03",
		      (unsigned int)(2 + 2 * strlen(tail)));
	for (i = 0; tail[i]; i++)
		at += snprintf(rule + at, sizeof(rule) - at, "%02x00", tail[i]);
	ASSERT_TRUE(machine_tell(&self->machine, "unplug"));
	ASSERT_TRUE(machine_await(&self->machine, "remove"));
	/* the string descriptor after languages, manufacturer and product */
	ASSERT_TRUE(machine_tell(&self->machine, "%s", rule));
	strcpy(name, self->machine.serial);
	strcpy(self->machine.serial, tail);
	ASSERT_TRUE(machine_tell(&self->machine, "plug"));
	EXPECT_TRUE(machine_await(&self->machine, "add"));
	strcpy(self->machine.serial, name);
}

TEST_F(machine, deauthorize)
{
	struct blocked b;

	ASSERT_TRUE(block_reader(&b, self->fd));
	ASSERT_TRUE(write_file(self->machine.device, "authorized", "0"));
	EXPECT_EQ(-ENODEV, join_reader(&b));
	EXPECT_GONE(self->fd);
}

/* An open file survives a reset; the plan does not. */
TEST_F(machine, reset)
{
	struct dealbox_control c = { .op = DEALBOX_OP_START, .plan_id = PLAN };
	struct blocked b;

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(block_reader(&b, self->fd));
	ASSERT_TRUE(machine_usb_reset(&self->machine));
	EXPECT_EQ(64, join_reader(&b));
	EXPECT_EQ(DEALBOX_EV_STATE_LOST, b.event.type);
	EXPECT_EQ(DEALBOX_LOST_RESET, b.event.code);
	EXPECT_EQ(DEALBOX_PLAN_NONE, status_of(self->fd).plan_id);
	c.insertion = self->insertion;
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_NO_PLAN, c.result);
	ASSERT_EQ(0, load(self->fd));
	ASSERT_EQ(0, control(self->fd, &c));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
}

TEST_F(machine, reset_mid_deal)
{
	struct dealbox_control c = { .op = DEALBOX_OP_START, .plan_id = PLAN };

	ASSERT_TRUE(deal_frozen(self));
	/* comes after all events so far: while one is fetched, vhci_hcd may lose the machine */
	ASSERT_EQ(DEALBOX_STATE_DEALING, status_of(self->fd).state);
	ASSERT_TRUE(machine_usb_reset(&self->machine));
	EXPECT_EQ(DEALBOX_EV_STATE_LOST,
		  await_event(self->fd, DEALBOX_EV_STATE_LOST).type);
	EXPECT_EQ(DEALBOX_STATE_IDLE, status_of(self->fd).state);
	EXPECT_EQ(DEALBOX_CLAIMED_BY_THIS, status_of(self->fd).claimed);
	ASSERT_EQ(0, load(self->fd));
	c.insertion = self->insertion;
	EXPECT_EQ(-EREMOTEIO, control(self->fd, &c));
	EXPECT_EQ(DEALBOX_ERR_SPENT, c.result);
}

/* A reset drops the plan that the driver holds, even if the machine sends no STATE_LOST. */
TEST_F(machine, reset_untold)
{
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(machine_tell(&self->machine, variant->dialect ?
				 "inject on frame EVENT always: drop" :
				 "inject on transfer always: ignore"));
	ASSERT_TRUE(machine_usb_reset(&self->machine));
	EXPECT_EQ(DEALBOX_PLAN_NONE, status_of(self->fd).plan_id);
}

/*
 * A suspend or a reset first cancels the transfer of events. An event that arrives at that moment
 * is not lost: the machine does not repeat it, nor send anything else after PAUSED.
 */
TEST_F(machine, event_while_reset)
{
	struct dealbox_event event;
	int i;

	ASSERT_TRUE(machine_tell(&self->machine, "inject on cancel: cover open"));
	ASSERT_TRUE(machine_usb_reset(&self->machine));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_COVER_OPEN, event.type);
	EXPECT_EQ(0, event.flags & (DEALBOX_EVF_GAP | DEALBOX_EVF_MACHINE_GAP));
	event = next_event(self->fd);
	EXPECT_EQ(DEALBOX_EV_STATE_LOST, event.type);
	EXPECT_EQ(0, event.flags & (DEALBOX_EVF_GAP | DEALBOX_EVF_MACHINE_GAP));
	if (!variant->dialect)
		return;

	/* half an event in the stream: the other half never comes; later events are not lost */
	ASSERT_TRUE(machine_tell(&self->machine, "cover close"));
	/* closed again, since STATE_LOST would report an open cover once more */
	EXPECT_EQ(DEALBOX_EV_COVER_CLOSED, await_event(self->fd, DEALBOX_EV_COVER_CLOSED).type);
	ASSERT_TRUE(machine_tell(&self->machine, "inject on cancel: cover open"));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer: short 20"));
	ASSERT_TRUE(machine_usb_reset(&self->machine));
	EXPECT_EQ(DEALBOX_EV_STATE_LOST, next_event(self->fd).type);
	/* a useless transfer is reported after the useful ones, so send two */
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(machine_tell(&self->machine, "key 5 press"));
		do {
			event = next_event(self->fd);
			ASSERT_NE(0, event.type);
			EXPECT_NE(DEALBOX_EV_PROTOCOL_ERROR, event.type);
		} while (event.type != DEALBOX_EV_KEY);
	}
}

TEST_F(machine, module_in_use)
{
	EXPECT_EQ(-1, syscall(SYS_delete_module, "dealbox", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_EQ(DEALBOX_STATE_IDLE, status_of(self->fd).state);
}

/* --- power, signals, secrecy ---------------------------------------------------------- */

/* An idle machine that nobody has open is suspended; an event or an open() resumes it. */
TEST_F(machine, autosuspend)
{
	ASSERT_TRUE(write_file(self->machine.device, "power/autosuspend_delay_ms", "0"));
	ASSERT_TRUE(write_file(self->machine.device, "power/control", "auto"));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	ASSERT_TRUE(await_power(&self->machine, "suspended"));
	self->fd = open_again(&self->machine, O_RDWR);
	ASSERT_LE(0, self->fd);
	EXPECT_TRUE(await_power(&self->machine, "active"));
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
}

/*
 * An event comes in the transfer that a suspend cancels. On a serial machine half of it comes
 * then, and the other half after the resume.
 */
TEST_F(machine, event_while_falling_asleep)
{
	__u64 cover = status_of(self->fd).seqno;
	struct dealbox_event event;

	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	ASSERT_TRUE(machine_tell(&self->machine, "inject on cancel: cover open"));
	/* the first frame is the answer to the query that precedes a suspend */
	if (variant->dialect)
		ASSERT_TRUE(machine_tell(&self->machine, "inject on transfer nth 2: short 20"));
	ASSERT_TRUE(write_file(self->machine.device, "power/autosuspend_delay_ms", "0"));
	ASSERT_TRUE(write_file(self->machine.device, "power/control", "auto"));
	ASSERT_TRUE(await_power(&self->machine, "suspended"));
	self->fd = open_again(&self->machine, O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(machine_tell(&self->machine, "key start press"));
	do {
		event = next_event(self->fd);
		ASSERT_NE(0, event.type);
		EXPECT_NE(DEALBOX_EV_PROTOCOL_ERROR, event.type);
		EXPECT_EQ(0, event.flags & DEALBOX_EVF_MACHINE_GAP);
	} while (event.type != DEALBOX_EV_KEY);
	EXPECT_EQ(cover + 1, event.seqno);
}

/* Under a thousand signals a second no command is executed twice or left half done. */
TEST_F(machine, signal_storm)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	struct dealbox_plan plan = bridge_plan();
	int i;

	sigaction(SIGALRM, &action, NULL);
	ASSERT_TRUE(insert(self));
	/* so that signals arrive while SET_PLAN waits */
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event PLAN_LOADED always: delay 20"));
	setitimer(ITIMER_REAL, &often, NULL);
	EXPECT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
	for (i = 0; i < 10; i++) {
		int err = load(self->fd);

		/* a signal may end the wait, but not the upload: the verdict comes as an event */
		EXPECT_TRUE(!err || err == -EINTR);
		if (variant->routed)
			continue;
		setitimer(ITIMER_REAL, &never, NULL);
		EXPECT_EQ(PLAN, await_event(self->fd, DEALBOX_EV_PLAN_LOADED).code);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	EXPECT_EQ(0, start(self->fd, self->insertion));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(PLAN, status_of(self->fd).plan_id);
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	EXPECT_TRUE(board_is(&self->machine, plan.pocket));
}

/* Two cards in one transfer: both are answered before readers get the events. */
TEST_F(machine, gates_first)
{
	static const char tracing[] = "/sys/kernel/tracing";
	int gates = 0, events = 0;
	char line[512];
	FILE *trace;

	ASSERT_TRUE(ready(self));
	ASSERT_TRUE(machine_tell(&self->machine, "inject on event CARD_READ nth 3: duplicate"));
	close(open("/sys/kernel/tracing/trace", O_WRONLY | O_TRUNC | O_CLOEXEC));
	ASSERT_TRUE(write_file(tracing, "events/dealbox/enable", "1"));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	ASSERT_TRUE(write_file(tracing, "events/dealbox/enable", "0"));
	trace = fopen("/sys/kernel/tracing/trace", "re");
	ASSERT_TRUE(trace != NULL);
	while (events < 2 && fgets(line, sizeof(line), trace)) {
		if (!strstr(line, " position=2"))
			continue;
		gates += !!strstr(line, "dealbox_gate: ");
		if (strstr(line, "dealbox_event: ") && strstr(line, " type=0x12 ") && !events++)
			EXPECT_EQ(variant->routed ? 2 : 0, gates);
	}
	fclose(trace);
	EXPECT_EQ(2, events);
}

/* Tracepoints show when a card moved, but no card and no pocket. */
TEST_F(machine, trace_keeps_the_secret)
{
	static const char tracing[] = "/sys/kernel/tracing";
	char line[512];
	int events = 0, gates = 0;
	FILE *trace;

	/* O_TRUNC drops what other tests left in it */
	close(open("/sys/kernel/tracing/trace", O_WRONLY | O_TRUNC | O_CLOEXEC));
	ASSERT_TRUE(write_file(tracing, "events/dealbox/enable", "1"));
	ASSERT_TRUE(ready(self));
	ASSERT_EQ(0, start(self->fd, self->insertion));
	EXPECT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	ASSERT_TRUE(write_file(tracing, "events/dealbox/enable", "0"));
	trace = fopen("/sys/kernel/tracing/trace", "re");
	ASSERT_TRUE(trace != NULL);
	while (fgets(line, sizeof(line), trace)) {
		char *event = strstr(line, "dealbox_event: dealbox");
		char *gate = strstr(line, "dealbox_gate: dealbox");
		unsigned int n, type, position, sequence;
		unsigned long long seqno;
		int end = 0, error;
		char go[8];

		if (event) {
			EXPECT_EQ(5,
				  sscanf(event,
					 "dealbox_event: dealbox%u seqno=%llu machine_seq=%u "
					 "type=0x%x position=%u%n",
					 &n, &seqno, &sequence, &type, &position, &end));
			EXPECT_EQ('\n', event[end]);
			events++;
		}
		if (gate) {
			EXPECT_EQ(5,
				  sscanf(gate,
					 "dealbox_gate: dealbox%u machine_seq=%u "
					 "position=%u %7s error=%d%n",
					 &n, &sequence, &position, go, &error, &end));
			EXPECT_EQ('\n', gate[end]);
			EXPECT_STREQ("go", go);
			gates++;
		}
	}
	fclose(trace);
	EXPECT_LT(3 * CARDS, events);
	EXPECT_EQ(variant->routed ? CARDS : 0, gates);
}

TEST_HARNESS_MAIN
