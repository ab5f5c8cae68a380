// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads that count, with and without races: the race kernel must report each race, and
 * nothing else.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static unsigned long unlocked, locked, marked, in_turn;
static int turn;
static struct task_struct *threads[2];

static noinline void add_unlocked(void)
{
	unlocked++;
}

static noinline void add_locked(void)
{
	spin_lock(&lock);
	locked++;
	spin_unlock(&lock);
}

static noinline void add_marked(void)
{
	WRITE_ONCE(marked, READ_ONCE(marked) + 1);
}

/* Passes the turn on without a barrier: a weaker processor may reorder it before the count. */
static noinline void add_in_turn(int me)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (READ_ONCE(turn) != me)
			continue;
		in_turn++;
		WRITE_ONCE(turn, !me);
	}
}

static int count(void *me)
{
	while (!kthread_should_stop()) {
		add_unlocked();
		add_locked();
		add_marked();
		add_in_turn(me == &threads[1]);
		cond_resched();
	}
	return 0;
}

static void stop(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(threads[i]))
			kthread_stop(threads[i]);
}

static int __init race_init(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		threads[i] = kthread_run(count, &threads[i], "race/%d", i);
		if (IS_ERR(threads[i])) {
			stop();
			return PTR_ERR(threads[i]);
		}
	}
	return 0;
}
module_init(race_init);

static void __exit race_exit(void)
{
	stop();
}
module_exit(race_exit);

MODULE_DESCRIPTION("What the race kernel must notice");
MODULE_LICENSE("GPL");
