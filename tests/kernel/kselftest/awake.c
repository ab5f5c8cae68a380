// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps an emulated machine awake while its own computer sleeps, for tests of the module's suspend
 * and resume on dummy_hcd. A sleep suspends all devices, and suspending dummy_udc pulls its cable;
 * before that it freezes all processes, and the machine with them. Neither happens to a machine on
 * a real cable, so this module makes two exceptions: dummy_udc, while the module is loaded, and the
 * process whose number is written to the parameter process. dummy_hcd never loses its power. Here
 * it does whenever the computer sleeps so deeply that its last processor stops ("mem", of which
 * pm_test may leave out the firmware): as after a suspend to RAM, all connected devices must be
 * reset.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/sched/signal.h>
#include <linux/syscore_ops.h>
#include <linux/usb.h>
#include <linux/usb/hcd.h>

static struct device *udc, *controller;

/* The process must be stopped, because only a thread itself may change its flags. */
static int set_process(const char *text, const struct kernel_param *parameter)
{
	struct task_struct *leader, *thread;
	int number, error = kstrtoint(text, 0, &number);

	if (error)
		return error;
	rcu_read_lock();
	leader = pid_task(find_vpid(number), PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, thread)
			thread->flags |= PF_NOFREEZE;
	rcu_read_unlock();
	return leader ? 0 : -ESRCH;
}

static const struct kernel_param_ops process_ops = { .set = set_process };
module_param_cb(process, &process_ops, NULL, 0200);
MODULE_PARM_DESC(process, "a stopped process that shall not be frozen");

static void lose_power(void *data)
{
	struct usb_hcd *hcd = dev_get_drvdata(controller);

	usb_root_hub_lost_power(hcd->self.root_hub);
}

static const struct syscore_ops power_ops = { .resume = lose_power };
static struct syscore power = { .ops = &power_ops };

static int __init awake_init(void)
{
	udc = bus_find_device_by_name(&platform_bus_type, NULL, "dummy_udc.0");
	controller = bus_find_device_by_name(&platform_bus_type, NULL, "dummy_hcd.0");
	if (!udc || !controller) {
		put_device(udc);
		put_device(controller);
		return -ENODEV;
	}
	dev_pm_syscore_device(udc, true);
	register_syscore(&power);
	return 0;
}
module_init(awake_init);

static void __exit awake_exit(void)
{
	unregister_syscore(&power);
	dev_pm_syscore_device(udc, false);
	put_device(controller);
	put_device(udc);
}
module_exit(awake_exit);

MODULE_DESCRIPTION("Keeps a machine on dummy_hcd out of the computer's sleep");
MODULE_LICENSE("GPL");
