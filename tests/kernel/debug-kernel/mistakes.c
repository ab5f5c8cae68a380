// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes every mistake that the debug kernel can detect, once each. `test` checks that
 * the kernel reports them, and that tests/infra/vm/run finds the reports.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static DEFINE_SPINLOCK(lock);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static unsigned int by = 77;
module_param(by, uint, 0);

struct thing {
	struct timer_list timer;
	u8 bytes[100];
};

static void *kept[4];

static void nothing(struct timer_list *timer)
{
}

static noinline void use_after_free(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return;
	kfree(thing);
	WRITE_ONCE(thing->bytes[7], 1);
}

static noinline void shift_too_far(void)
{
	pr_info("shifted: %u\n", 1U << READ_ONCE(by));
}

static noinline void sleep_in_atomic(void)
{
	spin_lock(&lock);
	msleep(20);
	spin_unlock(&lock);
}

static noinline void free_armed_timer(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return;
	timer_setup(&thing->timer, nothing, 0);
	mod_timer(&thing->timer, jiffies + 3600 * HZ);
	kfree(thing);
}

static noinline void overflow_refcount(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_inc(&count);
}

static noinline void leak(void)
{
	void *volatile lost;
	int n;

	/*
	 * Eight leaks for the scan while the module is loaded: stale stacks may still hold
	 * some of the addresses. Four more are leaked when the module is unloaded. Memory that
	 * is not cleared has the address of the object that was free behind it, which is the
	 * next one here, and one that is in use before them would then hold them all.
	 */
	for (n = 0; n < 8; n++)
		lost = kzalloc(300, GFP_KERNEL);
	lost = NULL;
	for (n = 0; n < ARRAY_SIZE(kept); n++)
		WRITE_ONCE(kept[n], kzalloc(600, GFP_KERNEL));
}

static noinline void invert_locks(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static int __init faults_init(void)
{
	/* first, because any report switches lockdep off */
	invert_locks();
	use_after_free();
	shift_too_far();
	sleep_in_atomic();
	free_armed_timer();
	overflow_refcount();
	leak();
	return 0;
}
module_init(faults_init);

static void __exit faults_exit(void)
{
}
module_exit(faults_exit);

MODULE_DESCRIPTION("What the debug kernel must notice");
MODULE_LICENSE("GPL");
