// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plan reveals a deal. After it is dropped, it must be nowhere in the computer's memory: not in
 * the driver's, and not on the stack of the thread that loaded it. /proc/kcore shows all of that
 * memory, so this is for Debian's kernels. The machine is host-routed, because a stored-plan
 * machine is a program here and has the plan, too.
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

/* The pocket of a card; computed, because an array of all pockets would be found in memory. */
static __u8 pocket_of(unsigned int card)
{
	static const char order[] = "3021132023103210231001233120103213023120013232101203";

	return order[card] - '0';
}

/* Returns how often the pockets of all cards occur in these bytes. */
static unsigned int count_plans(const __u8 *bytes, size_t size)
{
	const __u8 *at = bytes, *end = bytes + size - CARDS + 1;
	unsigned int found = 0, card;

	for (; at < end && (at = memchr(at, pocket_of(0), end - at)); at++) {
		for (card = 1; card < CARDS && at[card] == pocket_of(card); card++)
			;
		found += card == CARDS;
	}
	return found;
}

static int count_in(int core, const Elf64_Phdr *part)
{
	static __u8 chunk[1 << 20];
	int found = 0;
	Elf64_Xword at;
	ssize_t got;

	/* the parts overlap, so that a plan across a boundary is found */
	for (at = 0; at + CARDS <= part->p_filesz; at += got - CARDS + 1) {
		size_t want = part->p_filesz - at;

		if (want > sizeof(chunk))
			want = sizeof(chunk);
		got = pread(core, chunk, want, part->p_offset + at);
		if (got < CARDS) {
			printf("# /proc/kcore: %zd bytes at %#llx: %m\n", got,
			       (unsigned long long)(part->p_vaddr + at));
			return -1;
		}
		found += count_plans(chunk, got);
	}
	return found;
}

/* Returns how often a plan occurs in memory; -1 if it cannot be read. */
static int plans_in_memory(void)
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
static atomic_int loaded = 1;

static int load_and_wipe(int fd)
{
	struct dealbox_plan plan = {
		.plan_id = PLAN, .mode = DEALBOX_PLAN_BY_CARD, .entries = CARDS
	};
	int card, error;

	for (card = 0; card < CARDS; card++)
		plan.pocket[card] = pocket_of(card);
	error = call(fd, DEALBOX_IOC_SET_PLAN, &plan);
	explicit_bzero(&plan, sizeof(plan));
	return error;
}

/* Loads a plan, then makes no system call, which would overwrite its kernel stack. */
static void *owner(void *fd)
{
	atomic_store(&loaded, load_and_wipe(*(int *)fd));
	while (!atomic_load(&finished))
		;
	return NULL;
}

FIXTURE(wiped) {
	struct machine machine;
	struct kernel kernel;
	int fd;
};

FIXTURE_SETUP(wiped)
{
	const char *const options[] = { "--kind", "routed", "--manual", "--speed", "0", NULL };

	ASSERT_TRUE(kernel_begin(&self->kernel));
	ASSERT_TRUE(machine_plug(&self->machine, options));
	self->fd = open(self->machine.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, call(self->fd, DEALBOX_IOC_CLAIM, NULL));
}

FIXTURE_TEARDOWN(wiped)
{
	EXPECT_TRUE(kernel_is_well(&self->kernel));
}

TEST_F(wiped, plan)
{
	pthread_t thread;

	ASSERT_EQ(0, plans_in_memory());
	ASSERT_EQ(0, pthread_create(&thread, NULL, owner, &self->fd));
	while (atomic_load(&loaded) > 0)
		a_moment();
	ASSERT_EQ(0, atomic_load(&loaded));
	/* only the driver has the plan */
	EXPECT_EQ(1, plans_in_memory());
	close(self->fd);
	EXPECT_TRUE(machine_unplug(&self->machine));
	EXPECT_EQ(0, plans_in_memory());
	atomic_store(&finished, true);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
