// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plan reveals a deal. After it is dropped, it must be nowhere in the computer's memory: not in
 * the driver's, and not on the stack of the thread that loaded it. /proc/kcore shows all of that
 * memory, so this is for Debian's kernels. The machine is host-routed, because a stored-plan
 * machine is a program here and has the plan, too.
 *
 * With NONCE defined (nonce_test.c), the secret is the nonce of an attestation instead. The machine
 * gets it, so the machine is outside of the virtual machine, behind EHCI, which reads the driver's
 * buffer without a copy. usbmon would make one.
 */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/dealbox.h>

#include "kselftest_harness.h"
#include "program.h"

/* A software-emulated computer may be slow; only a hang takes this long. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(10 * PATIENCE / 1000)

/* The address of the kernel's text on x86; all memory is mapped below */
#define KERNEL_TEXT	0xffffffff80000000

/*
 * A byte of the secret, for a plan the pocket of a card. Computed, because an array of all would be
 * found in memory; volatile, so that the compiler makes none.
 */
#ifdef NONCE
#define SIZE	DEALBOX_NONCE_SIZE
static __u8 secret(unsigned int n)
{
	static const volatile char order[] = "rJ4tW0qLb8ZyEo2NvC6kXf1sHd9mTgPu";

	return order[n] ^ 0x95;
}
#else
#define SIZE	CARDS
static __u8 secret(unsigned int n)
{
	static const volatile char order[] = "3021132023103210231001233120103213023120013232101203";

	return order[n] - '0';
}
#endif

/* Returns how often the secret occurs in these bytes. */
static unsigned int count_secrets(const __u8 *bytes, size_t size)
{
	const __u8 *at = bytes, *end = bytes + size - SIZE + 1;
	unsigned int found = 0, n;

	for (; at < end && (at = memchr(at, secret(0), end - at)); at++) {
		for (n = 1; n < SIZE && at[n] == secret(n); n++)
			;
		found += n == SIZE;
	}
	return found;
}

static int count_in(int core, const Elf64_Phdr *part)
{
	static __u8 chunk[1 << 20];
	int found = 0;
	Elf64_Xword at;
	ssize_t got;

	/* the parts overlap, so that a secret across a boundary is found */
	for (at = 0; at + SIZE <= part->p_filesz; at += got - SIZE + 1) {
		size_t want = part->p_filesz - at;

		if (want > sizeof(chunk))
			want = sizeof(chunk);
		got = pread(core, chunk, want, part->p_offset + at);
		if (got < SIZE) {
			printf("# /proc/kcore: %zd bytes at %#llx: %m\n", got,
			       (unsigned long long)(part->p_vaddr + at));
			return -1;
		}
		found += count_secrets(chunk, got);
	}
	return found;
}

/* Returns how often the secret occurs in memory; -1 if it cannot be read. */
static int secrets_in_memory(void)
{
	int core = open("/proc/kcore", O_RDONLY | O_CLOEXEC), found = 0, part, n;
	Elf64_Xword size = 0;
	Elf64_Phdr parts[32];
	Elf64_Ehdr head;

	if (core < 0 || pread(core, &head, sizeof(head), 0) != sizeof(head) || head.e_phnum > 32 ||
	    pread(core, parts, head.e_phnum * sizeof(*parts), head.e_phoff) < 0) {
		printf("# /proc/kcore: %m\n");
		return -1;
	}
	for (part = 0; part < head.e_phnum && found >= 0; part++) {
		/* other segments map the same memory again: the kernel's text, vmalloc */
		if (parts[part].p_type != PT_LOAD || parts[part].p_paddr == (Elf64_Addr)-1 ||
		    parts[part].p_vaddr >= KERNEL_TEXT)
			continue;
		size += parts[part].p_filesz;
		n = count_in(core, &parts[part]);
		found = n < 0 ? n : found + n;
	}
	close(core);
	printf("# %d in %llu MiB\n", found, (unsigned long long)size >> 20);
	return found;
}

static atomic_bool finished;
static atomic_int given = 1;

#ifdef NONCE
static __u32 insertion;

static int give_and_wipe(int fd)
{
	struct dealbox_attest attest = { .insertion = insertion };
	int n, error;

	for (n = 0; n < SIZE; n++)
		attest.nonce[n] = secret(n);
	error = call(fd, DEALBOX_IOC_ATTEST, &attest);
	explicit_bzero(&attest, sizeof(attest));
	return error;
}
#else
static int give_and_wipe(int fd)
{
	struct dealbox_plan plan = {
		.plan_id = PLAN, .mode = DEALBOX_PLAN_BY_CARD, .entries = CARDS
	};
	int card, error;

	for (card = 0; card < CARDS; card++)
		plan.pocket[card] = secret(card);
	error = call(fd, DEALBOX_IOC_SET_PLAN, &plan);
	explicit_bzero(&plan, sizeof(plan));
	return error;
}
#endif

/* Gives the secret away, then makes no system call, which would overwrite its kernel stack. */
static void *owner(void *fd)
{
	atomic_store(&given, give_and_wipe(*(int *)fd));
	while (!atomic_load(&finished))
		;
	return NULL;
}

FIXTURE(wiped) {
	struct machine machine;
	struct kernel kernel;
	int fd;
};

#ifdef NONCE
/* The dialect of the machine, which `run` starts. */
FIXTURE_VARIANT(wiped) {};
FIXTURE_VARIANT_ADD(wiped, native) {};
FIXTURE_VARIANT_ADD(wiped, serial_dialect) {};
#endif

FIXTURE_SETUP(wiped)
{
#ifdef NONCE
	self->kernel.log = kernel_log_open();
	ASSERT_LE(0, self->kernel.log);
	ASSERT_TRUE(machine_plug_outside(&self->machine));
#else
	const char *const options[] = { "--kind", "routed", "--manual", "--speed", "0", NULL };

	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
#endif
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
}

FIXTURE_TEARDOWN(wiped)
{
#ifdef NONCE
	EXPECT_TRUE(kernel_log_is_clean(self->kernel.log));
#else
	EXPECT_TRUE(kernel_is_well(&self->kernel));
#endif
}

#ifdef NONCE
/* The machine has accepted the nonce. The driver, which is still there, has none of it left. */
TEST_F(wiped, nonce)
{
	static __u8 here[SIZE];
	pthread_t thread;
	int n;

	/* it would be found */
	for (n = 0; n < SIZE; n++)
		here[n] = secret(n);
	EXPECT_LE(1, secrets_in_memory());
	explicit_bzero(here, sizeof(here));

	ASSERT_EQ(0, load(self->fd));
	ASSERT_TRUE(machine_tell(&self->machine, "insert 3"));
	insertion = status_of(self->fd).insertion;
	ASSERT_EQ(0, start(self->fd, insertion));
	ASSERT_EQ(CARDS, await_event(self->fd, DEALBOX_EV_DEAL_DONE).position);
	ASSERT_EQ(0, secrets_in_memory());

	ASSERT_EQ(0, pthread_create(&thread, NULL, owner, &self->fd));
	while (atomic_load(&given) > 0)
		a_moment();
	ASSERT_EQ(0, atomic_load(&given));
	EXPECT_EQ(0, secrets_in_memory());
	atomic_store(&finished, true);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, await_event(self->fd, DEALBOX_EV_ATTESTED).arg[0]);
	close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
}
#else
TEST_F(wiped, plan)
{
	pthread_t thread;

	ASSERT_EQ(0, secrets_in_memory());
	ASSERT_EQ(0, pthread_create(&thread, NULL, owner, &self->fd));
	while (atomic_load(&given) > 0)
		a_moment();
	ASSERT_EQ(0, atomic_load(&given));
	/* only the driver has the plan */
	EXPECT_EQ(1, secrets_in_memory());
	close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_EQ(0, secrets_in_memory());
	atomic_store(&finished, true);
	pthread_join(thread, NULL);
}
#endif

TEST_HARNESS_MAIN
