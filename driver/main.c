// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dealing machines on USB: probe, disconnect, power, and the module.
 *
 * docs/protocol.md says what a machine is, docs/userspace-api/dealbox.rst what a program sees.
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
/* For the pause of an unbind, in all: what a machine may take for one answer. */
#define UNBIND_MS	500
/* For the pause before the system sleeps, in all. */
#define SLEEP_MS	2000
/* How often the machine is asked whether it has stopped. */
#define SLEEP_ASK_MS	20

static dev_t dealbox_region;
static DEFINE_IDA(dealbox_ida);
static struct class dealbox_class = { .name = "dealbox" };

/* Last reference: nobody has it open, and it is unplugged. */
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
		dev_err(&db->intf->dev, "the machine does not answer as it should: %d\n", error);
	return error;
}

/* Gives it a node; from here on programs may open it. */
static int add_node(struct dealbox *db)
{
	int error;

	db->dev.devt = MKDEV(MAJOR(dealbox_region), db->minor);
	error = dev_set_name(&db->dev, "dealbox%d", db->minor);
	return error ? error : cdev_device_add(&db->cdev, &db->dev);
}

static int dealbox_probe(struct usb_interface *intf, const struct usb_device_id *id)
{
	struct dealbox *db = dealbox_alloc(intf);
	const struct dealbox_kind *kind;
	struct dealbox_pipes pipes;
	int error;

	if (!db)
		return -ENOMEM;
	kind = (const struct dealbox_kind *)id->driver_info;
	db->core.ops = &dealbox_core_ops;
	db->core.dialect = kind->dialect;
	error = kind->bind(db, &pipes);
	if (!error)
		error = dealbox_control_alloc(db, pipes.out);
	if (!error)
		error = dealbox_stream_alloc(db, pipes.in, pipes.gate);
	if (error)
		goto put;
	/* before its first event, which is traced */
	db->minor = ida_alloc_max(&dealbox_ida, DEALBOX_MINORS - 1, GFP_KERNEL);
	if (db->minor < 0) {
		error = db->minor;
		goto put;
	}

	usb_set_intfdata(intf, db);
	intf->needs_remote_wakeup = 1;
	/* a dialect may have its answers on the pipe of events */
	error = dealbox_stream_start(db, GFP_KERNEL);
	if (!error)
		error = greet_machine(db);
	if (!error)
		error = add_node(db);
	if (error)
		goto stop;
	dealbox_debugfs_add(db);
	return 0;
stop:
	dealbox_stream_stop(db, -ENODEV);
	usb_set_intfdata(intf, NULL);
	ida_free(&dealbox_ida, db->minor);
put:
	put_device(&db->dev);
	return error;
}

/*
 * Unbound from a machine that is there still: whoever controlled it does so no more. Nor
 * is it known that nobody did: the pause of a claim that was being dropped ends here.
 * A dialect may need the pipe of events for the answer, so it is not stopped yet.
 */
static void pause_for_unbind(struct dealbox *db)
{
	if (db->udev->state == USB_STATE_NOTATTACHED)
		return;
	/* Ends what is under way; whoever waits for ctl finds that all is gone. */
	dealbox_control_block(db, -ENODEV);
	mutex_lock(&db->ctl);
	dealbox_control_allow(db);
	if (dealbox_pause(db))
		dev_warn(&db->intf->dev, "unbound, and the machine did not answer a pause\n");
	mutex_unlock(&db->ctl);
}

static void dealbox_disconnect(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);
	struct dealbox_file *file;

	/* First, so that whoever learns of it by the uevent below finds it so. */
	spin_lock_irq(&db->lock);
	WRITE_ONCE(db->gone, true);
	list_for_each_entry(file, &db->files, node)
		wake_up_poll(&file->wait, EPOLLIN | EPOLLHUP | EPOLLERR);
	spin_unlock_irq(&db->lock);
	dealbox_hurry(db, UNBIND_MS);
	pause_for_unbind(db);
	dealbox_stream_stop(db, -ENODEV);

	/* No lock is held here. An open() that is under way sees gone. */
	debugfs_remove(db->debugfs);
	cdev_device_del(&db->cdev, &db->dev);
	ida_free(&dealbox_ida, db->minor);

	/* Whoever has ctl has no transfer left to wait for. */
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
	int error;

	mutex_lock(&db->ctl);
	error = dealbox_get_status(db, status);
	mutex_unlock(&db->ctl);
	return error;
}

static bool has_deal(const struct dealbox_status *status)
{
	return status->state == DEALBOX_STATE_DEALING ||
	       status->state == DEALBOX_STATE_PAUSED ||
	       status->state == DEALBOX_STATE_HELD;
}

/* Pauses a deal that runs, and waits until the cards past the gate have fallen. */
static void pause_for_sleep(struct dealbox *db)
{
	struct dealbox_status status;
	int error;

	dealbox_hurry(db, SLEEP_MS);
	mutex_lock(&db->ctl);
	error = dealbox_pause(db);
	mutex_unlock(&db->ctl);

	/* the deadline ends it with an error */
	while (!error) {
		error = status_now(db, &status);
		if (!error && status.state != DEALBOX_STATE_DEALING)
			return;
		msleep(SLEEP_ASK_MS);
	}
	dev_warn(&db->intf->dev, "going to sleep, but the machine did not pause\n");
}

static int dealbox_suspend(struct usb_interface *intf, pm_message_t message)
{
	struct dealbox *db = usb_get_intfdata(intf);
	struct dealbox_status status;

	if (PMSG_IS_AUTO(message)) {
		/* Nobody has it open; but a deal may wait for its next owner. */
		if (status_now(db, &status) || has_deal(&status))
			return -EBUSY;
	} else {
		/* The system sleeps whatever we say, so the cards must stop first. */
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
	/* nobody would try again for us: the USB core has no use for an error */
	dealbox_stream_restart(db);
	return 0;
}

/*
 * The bus was reset: the machine was configured anew, has lost its plan, and says
 * STATE_LOST in its first event. Our plan goes with it.
 */
static int dealbox_reset_resume(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);

	spin_lock_irq(&db->lock);
	dealbox_core_restart(&db->core);
	spin_unlock_irq(&db->lock);
	return dealbox_resume(intf);
}

/*
 * Waits for the holder of ctl, whose transfers have ended. No lock is kept until
 * post_reset, which may be a long time coming, or never come: the usb core gives up
 * on a machine only after many seconds. Nobody begins a transfer before it.
 */
static int dealbox_pre_reset(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);

	dealbox_stream_stop(db, -EIO);
	mutex_lock(&db->ctl);
	mutex_unlock(&db->ctl);
	return 0;
}

static int dealbox_post_reset(struct usb_interface *intf)
{
	struct dealbox *db = usb_get_intfdata(intf);
	int error;

	/* what began before the reset does not go on behind it */
	mutex_lock(&db->ctl);
	error = dealbox_reset_resume(intf);
	mutex_unlock(&db->ctl);
	return error;
}

static const struct usb_device_id dealbox_ids[] = {
	{ USB_INTERFACE_INFO(WIRE_CLASS, WIRE_SUBCLASS, WIRE_PROTOCOL),
	  .driver_info = (kernel_ulong_t)&dealbox_native_kind },
	/*
	 * No descriptor tells a machine of this dialect, it must be asked. So its maker must
	 * be known: nothing is written to whatever another vendor's class means.
	 */
	{ USB_DEVICE_AND_INTERFACE_INFO(0x1209, 0x0001, WIRE_CLASS, WIRE_SUBCLASS, FRAME_PROTOCOL),
	  .driver_info = (kernel_ulong_t)&dealbox_serial_kind },
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
	/* an identity that is added at run time would name no dialect */
	.no_dynamic_id = 1,
	.soft_unbind = 1,	/* a deal is paused then */
};

static int __init dealbox_init(void)
{
	int error;

	error = alloc_chrdev_region(&dealbox_region, 0, DEALBOX_MINORS, "dealbox");
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
MODULE_LICENSE("GPL");
