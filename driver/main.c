// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver for dealing machines on USB: probe, disconnect and power management.
 *
 * docs/protocol.md specifies the machine, docs/userspace-api/dealbox.rst the
 * interface for programs.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/usb.h>

#include "dealbox.h"

#define DEALBOX_MINORS	256
/* Time to pause the machine at unbind: its limit for an answer */
#define UNBIND_MS	WIRE_CONTROL_MS
/* Time to stop the machine before the system sleeps */
#define SLEEP_MS	2000
/* Polling interval while it stops */
#define SLEEP_POLL_MS	20

static dev_t dealbox_region;
static DEFINE_IDA(dealbox_ida);
static struct class dealbox_class = { .name = "dealbox" };

static void dealbox_free(struct device *dev)
{
	struct dealbox *db = container_of(dev, struct dealbox, dev);

	dealbox_stream_free(db);
	dealbox_control_free(db);
	usb_put_intf(db->intf);
	kfree_sensitive(db);
}

static struct dealbox *dealbox_alloc(struct usb_interface *intf)
{
	struct dealbox *db = kzalloc(sizeof(*db), GFP_KERNEL);

	if (!db)
		return NULL;
	device_initialize(&db->dev);
	db->dev.class = &dealbox_class;
	db->dev.parent = &intf->dev;
	db->dev.groups = dealbox_groups;
	db->dev.release = dealbox_free;
	db->intf = usb_get_intf(intf);
	db->udev = interface_to_usbdev(intf);
	mutex_init(&db->turn);
	mutex_init(&db->ctl);
	mutex_init(&db->out);
	spin_lock_init(&db->lock);
	INIT_LIST_HEAD(&db->files);
	cdev_init(&db->cdev, &dealbox_fops);
	db->cdev.owner = THIS_MODULE;
	return db;
}

static int greet_machine(struct dealbox *db)
{
	int error;

	mutex_lock(&db->ctl);
	error = dealbox_control_greet(db);
	mutex_unlock(&db->ctl);
	if (error)
		dev_err(&db->intf->dev,
			"invalid or no answer to the first queries: %d\n",
			error);
	return error;
}

/*
 * Some machines cannot be recognised by their descriptors. Query them before
 * anything is sent, since this may be another vendor's device of the same
 * class, and is none of the driver's business then: -ENODEV, which nobody logs.
 * A device that does not answer may be a machine whose firmware has not started
 * or hangs, so the driver core logs -ETIMEDOUT.
 */
static int describe_machine(struct dealbox *db, const struct usb_device_id *id,
			    struct dealbox_pipes *pipes)
{
	int error;

	if (id->match_flags & USB_DEVICE_ID_MATCH_VENDOR)
		return 0;
	if (!db->core.machine.pockets) {
		mutex_lock(&db->ctl);
		error = dealbox_control_describe(db);
		mutex_unlock(&db->ctl);
		if (error == -EPROTO) {
			dev_dbg(&db->intf->dev, "no dealing machine\n");
			return -ENODEV;
		}
		if (error == -EPROTONOSUPPORT)
			dealbox_refuse_descriptor(db, error);
		if (error)
			return error;
	}
	return dealbox_check_pipes(db, pipes);
}

static int add_node(struct dealbox *db)
{
	int error;

	db->dev.devt = MKDEV(MAJOR(dealbox_region), db->minor);
	error = dev_set_name(&db->dev, "dealbox%d", db->minor);
	return error ? error : cdev_device_add(&db->cdev, &db->dev);
}

/* Before any uevent about it, so that its listeners see the machine gone. */
static void mark_gone(struct dealbox *db)
{
	struct dealbox_file *file;

	spin_lock_irq(&db->lock);
	WRITE_ONCE(db->gone, true);
	list_for_each_entry(file, &db->files, node)
		wake_up_poll(&file->wait, EPOLLIN | EPOLLHUP | EPOLLERR);
	spin_unlock_irq(&db->lock);
}

static int dealbox_probe(struct usb_interface *intf,
			 const struct usb_device_id *id)
{
	struct dealbox *db = dealbox_alloc(intf);
	struct dealbox_pipes pipes;
	int error;

	if (!db)
		return -ENOMEM;
	db->core.ops = &dealbox_core_ops;
	db->core.dialect = (const struct dealbox_dialect *)id->driver_info;
	error = dealbox_find_pipes(db, &pipes);
	if (!error)
		error = dealbox_control_alloc(db, pipes.out);
	if (!error)
		error = describe_machine(db, id, &pipes);
	if (!error)
		error = dealbox_stream_alloc(db, pipes.in, pipes.gate);
	if (error)
		goto put;
	/* The tracepoints of the first event need the minor. */
	db->minor = ida_alloc_max(&dealbox_ida, DEALBOX_MINORS - 1, GFP_KERNEL);
	if (db->minor < 0) {
		error = db->minor;
		goto put;
	}

	usb_set_intfdata(intf, db);
	intf->needs_remote_wakeup = 1;
	/* Some dialects receive answers on the event pipe. */
	error = dealbox_stream_start(db, GFP_KERNEL);
	if (!error)
		error = greet_machine(db);
	/* One that is known by its vendor says only now what it is. */
	if (!error)
		error = dealbox_check_pipes(db, &pipes);
	if (!error)
		error = add_node(db);
	if (error)
		goto stop;
	dealbox_debugfs_add(db);
	return 0;
stop:
	/* A node that was made by hand may be open. */
	mark_gone(db);
	dealbox_stream_stop(db, -ENODEV);
	usb_set_intfdata(intf, NULL);
	ida_free(&dealbox_ida, db->minor);
put:
	/* A completion handler may not have returned yet. */
	dealbox_control_block(db, -ENODEV);
	put_device(&db->dev);
	return error;
}

/*
 * Do not ask for the status first: the answer could use up the time of an
 * unbind. A refusal is fine, since then no deal is running.
 */
static int pause_at_once(struct dealbox *db)
{
	struct dealbox_control pause = { .op = DEALBOX_OP_PAUSE };
	struct dealbox_call call = { 0 };
	int error;

	dealbox_call_ioctl(&call, DEALBOX_IOC_CONTROL, &pause);
	error = dealbox_exchange(db, &call);
	return error == -EREMOTEIO ? 0 : error;
}

/*
 * Pause the machine if the driver is unbound while the machine is still plugged
 * in, so that no deal runs without an owner. Do so even if nobody has the
 * claim: this may have interrupted the pause of a claim that was being dropped.
 * The event pipe must still be running, since some dialects receive answers on
 * it.
 */
static void pause_for_unbind(struct dealbox *db)
{
	int error;

	if (db->udev->state == USB_STATE_NOTATTACHED)
		return;
	/*
	 * End the call in progress. Those that wait for ctl find the machine
	 * gone.
	 */
	dealbox_control_block(db, -ENODEV);
	mutex_lock(&db->ctl);
	dealbox_control_allow(db);
	error = pause_at_once(db);
	mutex_unlock(&db->ctl);
	if (error && error != -ENODEV)
		dev_warn(&db->intf->dev,
			 "the machine did not confirm PAUSE at unbind\n");
}

static void dealbox_disconnect(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);

	mark_gone(db);
	dealbox_hurry(db, UNBIND_MS);
	pause_for_unbind(db);
	dealbox_stream_stop(db, -ENODEV);

	/* Without a lock. A concurrent open() sees gone. */
	debugfs_remove(db->debugfs);
	cdev_device_del(&db->cdev, &db->dev);
	ida_free(&dealbox_ida, db->minor);

	/* The holder of ctl has no transfer left to wait for. */
	mutex_lock(&db->ctl);
	spin_lock_irq(&db->lock);
	dealbox_router_load(&db->core.router, NULL);
	spin_unlock_irq(&db->lock);
	mutex_unlock(&db->ctl);
	usb_set_intfdata(intf, NULL);
	put_device(&db->dev);
}

static int status_now(struct dealbox *db, struct dealbox_status *status)
{
	struct dealbox_call call = { 0 };
	int error;

	dealbox_call_ioctl(&call, DEALBOX_IOC_GET_STATUS, status);
	mutex_lock(&db->ctl);
	error = dealbox_exchange(db, &call);
	mutex_unlock(&db->ctl);
	return error;
}

static bool has_deal(const struct dealbox_status *status)
{
	return status->state == DEALBOX_STATE_DEALING ||
	       status->state == DEALBOX_STATE_PAUSED ||
	       status->state == DEALBOX_STATE_HELD;
}

/* Pause a running deal and wait until the cards past the gate have landed. */
static void pause_for_sleep(struct dealbox *db)
{
	struct dealbox_status status;
	int error;

	dealbox_hurry(db, SLEEP_MS);
	mutex_lock(&db->ctl);
	error = dealbox_pause(db);
	mutex_unlock(&db->ctl);

	/* After the deadline, status_now() fails. */
	while (!error) {
		error = status_now(db, &status);
		if (!error && status.state != DEALBOX_STATE_DEALING)
			return;
		msleep(SLEEP_POLL_MS);
	}
	dev_warn(&db->intf->dev, "the machine did not pause before suspend\n");
}

static int dealbox_suspend(struct usb_interface *intf, pm_message_t message)
{
	struct dealbox *db = usb_get_intfdata(intf);
	struct dealbox_status status;

	if (PMSG_IS_AUTO(message)) {
		/* No file is open, but a paused deal may wait for an owner. */
		if (status_now(db, &status) || has_deal(&status))
			return -EBUSY;
	} else {
		/* A system sleep cannot be refused, so stop the cards first. */
		pause_for_sleep(db);
	}
	dealbox_stream_stop(db, -EIO);
	dealbox_take_time(db);
	return 0;
}

static int dealbox_resume(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);

	dealbox_control_allow(db);
	/* Retry here: the USB core ignores errors of resume. */
	dealbox_stream_restart(db);
	return 0;
}

/*
 * The machine has been reconfigured and has lost its plan; its first event is
 * STATE_LOST. Forget the host's plan as well.
 */
static int dealbox_reset_resume(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);

	spin_lock_irq(&db->lock);
	dealbox_core_restart(&db->core);
	spin_unlock_irq(&db->lock);
	return dealbox_resume(intf);
}

/* Wait for the holder of ctl, whose transfers have been killed. */
static void wait_for_call(struct dealbox *db)
{
	mutex_lock(&db->ctl);
	mutex_unlock(&db->ctl);
}

/*
 * Do not hold ctl until post_reset: that may take many seconds, or never happen
 * if the USB core gives up on the machine. Transfers stay blocked until then.
 */
static int dealbox_pre_reset(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);

	dealbox_stream_stop(db, -EIO);
	wait_for_call(db);
	return 0;
}

static int dealbox_post_reset(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);
	int error;

	/* A call that started before the reset must not continue after it. */
	mutex_lock(&db->ctl);
	error = dealbox_reset_resume(intf);
	mutex_unlock(&db->ctl);
	return error;
}

static const struct usb_device_id dealbox_ids[] = {
#define DEALBOX_PRODUCT(vendor, product, protocol, dialect) { \
	USB_DEVICE_AND_INTERFACE_INFO(vendor, product, WIRE_CLASS, \
				      WIRE_SUBCLASS, protocol), \
	.driver_info = (kernel_ulong_t)&dealbox_##dialect },
#define DEALBOX_INTERFACE(protocol, dialect) { \
	USB_INTERFACE_INFO(WIRE_CLASS, WIRE_SUBCLASS, protocol), \
	.driver_info = (kernel_ulong_t)&dealbox_##dialect },
#include "dialects.h"
	{ }
};
MODULE_DEVICE_TABLE(usb, dealbox_ids);

static struct usb_driver dealbox_driver = {
	.name = "dealbox",
	.id_table = dealbox_ids,
	.probe = dealbox_probe,
	.disconnect = dealbox_disconnect,
	.suspend = dealbox_suspend,
	.resume = dealbox_resume,
	.reset_resume = dealbox_reset_resume,
	.pre_reset = dealbox_pre_reset,
	.post_reset = dealbox_post_reset,
	.supports_autosuspend = 1,
	/* An id added at run time would have no driver_info. */
	.no_dynamic_id = 1,
	.soft_unbind = 1,	/* disconnect() pauses a deal */
};

static int __init dealbox_init(void)
{
	int error;

	error = alloc_chrdev_region(&dealbox_region, 0, DEALBOX_MINORS,
				    "dealbox");
	if (error)
		return error;
	error = class_register(&dealbox_class);
	if (error)
		goto region;
	error = usb_register(&dealbox_driver);
	if (error)
		goto class;
	return 0;
class:
	class_unregister(&dealbox_class);
region:
	unregister_chrdev_region(dealbox_region, DEALBOX_MINORS);
	return error;
}
module_init(dealbox_init);

static void __exit dealbox_exit(void)
{
	usb_deregister(&dealbox_driver);
	class_unregister(&dealbox_class);
	unregister_chrdev_region(dealbox_region, DEALBOX_MINORS);
	ida_destroy(&dealbox_ida);
}
module_exit(dealbox_exit);

MODULE_DESCRIPTION("Dealing machines for bridge boards");
MODULE_AUTHOR("The dealbox authors");
MODULE_VERSION("1.0.0");
MODULE_LICENSE("GPL");
