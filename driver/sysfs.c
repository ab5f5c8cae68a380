// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs attributes (docs/ABI/stable/sysfs-class-dealbox) and the debugfs file
 * (docs/ABI/testing/debugfs-dealbox).
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>
#include <linux/usb.h>

#include "dealbox.h"

static const struct dealbox_info *info_of(struct device *dev)
{
	return &container_of(dev, struct dealbox, dev)->info;
}

#define DEALBOX_ATTR(name_, format_, ...)				\
static ssize_t name_##_show(struct device *dev,				\
			    struct device_attribute *attr, char *buf)	\
{									\
	const struct dealbox_info *info = info_of(dev);			\
									\
	return sysfs_emit(buf, format_ "\n", __VA_ARGS__);		\
}									\
static DEVICE_ATTR_RO(name_)

DEALBOX_ATTR(capabilities, "0x%08x", info->capabilities);
DEALBOX_ATTR(protocol, "%u.%u", info->protocol >> 8, info->protocol & 0xff);
DEALBOX_ATTR(firmware, "%u.%u.%u", info->firmware >> 24,
	     info->firmware >> 16 & 0xff, info->firmware & 0xffff);
DEALBOX_ATTR(hardware, "%u", info->hardware);
DEALBOX_ATTR(gate_deadline_us, "%u", info->gate_deadline_us);
DEALBOX_ATTR(hopper, "%u", info->hopper);
DEALBOX_ATTR(plan_entries, "%u", info->plan_entries);
DEALBOX_ATTR(pockets, "%u", info->pockets);
DEALBOX_ATTR(pocket_capacity, "%u", info->pocket_capacity);
DEALBOX_ATTR(model, "%s", info->model);

/*
 * The full serial number: GET_INFO may cut it, and two machines then look the
 * same.
 */
static ssize_t serial_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  container_of(dev, struct dealbox, dev)->serial ?: "");
}
static DEVICE_ATTR_RO(serial);

static struct attribute *dealbox_attrs[] = {
	&dev_attr_capabilities.attr,
	&dev_attr_protocol.attr,
	&dev_attr_firmware.attr,
	&dev_attr_hardware.attr,
	&dev_attr_gate_deadline_us.attr,
	&dev_attr_hopper.attr,
	&dev_attr_plan_entries.attr,
	&dev_attr_pockets.attr,
	&dev_attr_pocket_capacity.attr,
	&dev_attr_model.attr,
	&dev_attr_serial.attr,
	NULL
};

static const struct attribute_group dealbox_group = {
	.attrs = dealbox_attrs,
};

const struct attribute_group *dealbox_groups[] = { &dealbox_group, NULL };

static int state_show(struct seq_file *seq, void *unused)
{
	struct dealbox *db = seq->private;
	struct dealbox_stats stats;
	struct dealbox_file *file;
	bool running, claimed, deal, failing;
	unsigned int retry_ms;
	u64 seqno;

	spin_lock_irq(&db->lock);
	stats = db->stats;
	running = db->in_state != IN_STOPPED;
	claimed = db->owner;
	deal = db->core.router.insertion;
	failing = db->core.pace.failing;
	retry_ms = db->core.pace.pause_ms;
	seqno = db->core.source.seqno;
	list_for_each_entry(file, &db->files, node)
		seq_printf(seq, "file: queued=%u lost=%llu owner=%d\n",
			   file->queue.count, file->queue.lost,
			   file == db->owner);
	spin_unlock_irq(&db->lock);

	seq_printf(seq,
		   "running=%d claimed=%d routing=%d failing=%d retry_ms=%u seqno=%llu\n",
		   running, claimed, deal, failing, retry_ms, seqno);
	seq_printf(seq, "transfers=%llu events=%llu malformed=%llu\n",
		   stats.transfers, stats.events, stats.malformed);
	seq_printf(seq, "errors=%llu last_error=%d halts=%llu resets=%llu\n",
		   stats.errors, stats.last_error, stats.halts, stats.resets);
	seq_printf(seq, "gates=%llu gates_failed=%llu gates_short=%llu\n",
		   stats.gates, stats.gates_failed, stats.gates_short);
	seq_printf(seq, "commands=%llu commands_failed=%llu\n",
		   stats.commands, stats.commands_failed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

void dealbox_debugfs_add(struct dealbox *db)
{
	db->debugfs = debugfs_create_dir(dev_name(&db->dev), usb_debug_root);
	debugfs_create_file("state", 0400, db->debugfs, db, &state_fops);
}
