// SPDX-License-Identifier: GPL-2.0-only
/* The character device /dev/dealboxN, see docs/userspace-api/dealbox.rst. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "dealbox.h"

static int dealbox_open(struct inode *inode, struct file *file)
{
	struct dealbox *db = container_of(inode->i_cdev, struct dealbox, cdev);
	struct dealbox_file *f;
	int error;

	/*
	 * Just over 64 KiB: kmalloc() would need 128 KiB of contiguous memory.
	 */
	f = __vmalloc(sizeof(*f),
		      GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!f)
		return -ENOMEM;
	f->db = db;
	f->writes = file->f_mode & FMODE_WRITE;
	init_waitqueue_head(&f->wait);

	error = usb_autopm_get_interface(db->intf);
	if (error) {
		error = READ_ONCE(db->gone) ? -ENODEV : -EIO;
		goto fail;
	}
	spin_lock_irq(&db->lock);
	if (db->gone) {
		error = -ENODEV;
	} else if (db->opened[f->writes] == DEALBOX_FILES) {
		error = -EUSERS;
	} else {
		db->opened[f->writes]++;
		list_add_tail(&f->node, &db->files);
	}
	spin_unlock_irq(&db->lock);
	if (error) {
		usb_autopm_put_interface(db->intf);
		goto fail;
	}

	get_device(&db->dev);
	file->private_data = f;
	return stream_open(inode, file);
fail:
	vfree(f);
	return error;
}

/*
 * Pause the machine when its owner gives up the claim, so that no deal runs
 * unattended. The next owner resumes or aborts the deal.
 */
static void drop_claim(struct dealbox *db)
{
	struct pid *pid;
	int error = -ENODEV;

	lockdep_assert_held(&db->ctl);
	if (!READ_ONCE(db->gone))
		error = dealbox_pause(db);
	/* No message about a machine that goes meanwhile. */
	if (error && error != -ENODEV)
		dev_warn_ratelimited(&db->intf->dev,
				     "the machine did not answer PAUSE when its claim was dropped\n");
	spin_lock_irq(&db->lock);
	WRITE_ONCE(db->owner, NULL);
	pid = db->owner_pid;
	db->owner_pid = NULL;
	spin_unlock_irq(&db->lock);
	put_pid(pid);
}

static int dealbox_release(struct inode *inode, struct file *file)
{
	struct dealbox_file *f = file->private_data;
	struct dealbox *db = f->db;

	/* Without a lock: only the file's own calls make it the owner. */
	if (READ_ONCE(db->owner) == f) {
		mutex_lock(&db->ctl);
		drop_claim(db);
		mutex_unlock(&db->ctl);
	}

	spin_lock_irq(&db->lock);
	db->opened[f->writes]--;
	list_del(&f->node);
	spin_unlock_irq(&db->lock);
	usb_autopm_put_interface(db->intf);
	kvfree_sensitive(f, sizeof(*f));	/* the queue reveals the deal */
	put_device(&db->dev);
	return 0;
}

/* Remove the oldest event, and read gone under the same lock. */
static bool pop_event(struct dealbox_file *f, struct dealbox_event *event,
		      bool *gone)
{
	bool got;

	spin_lock_irq(&f->db->lock);
	got = dealbox_queue_pop(&f->queue, event);
	*gone = f->db->gone;
	spin_unlock_irq(&f->db->lock);
	return got;
}

static ssize_t copy_events(struct dealbox_file *f, struct iov_iter *to,
			   bool *gone)
{
	struct dealbox_event event;
	size_t copied = 0;

	while (iov_iter_count(to) >= sizeof(event) &&
	       pop_event(f, &event, gone)) {
		if (copy_to_iter(&event, sizeof(event), to) != sizeof(event)) {
			spin_lock_irq(&f->db->lock);
			dealbox_queue_lose(&f->queue);
			spin_unlock_irq(&f->db->lock);
			memzero_explicit(&event, sizeof(event));
			return copied ?: -EFAULT;
		}
		copied += sizeof(event);
	}
	memzero_explicit(&event, sizeof(event));
	return copied;
}

static bool has_events_or_gone(const struct dealbox_file *f)
{
	bool yes;

	spin_lock_irq(&f->db->lock);
	yes = f->queue.count || f->db->gone;
	spin_unlock_irq(&f->db->lock);
	return yes;
}

static ssize_t dealbox_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct dealbox_file *f = file->private_data;
	bool gone = false;
	ssize_t got;

	if (iov_iter_count(to) < sizeof(struct dealbox_event))
		return -EINVAL;

	for (;;) {
		int error;

		got = copy_events(f, to, &gone);
		if (got)
			return got;
		if (gone)
			return -ENODEV;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		error = wait_event_interruptible(f->wait,
						 has_events_or_gone(f));
		if (error)
			return error;
	}
}

static __poll_t dealbox_poll(struct file *file, poll_table *wait)
{
	struct dealbox_file *f = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &f->wait, wait);
	spin_lock_irq(&f->db->lock);
	if (f->queue.count)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (f->db->gone)
		mask |= EPOLLHUP | EPOLLERR;
	spin_unlock_irq(&f->db->lock);
	return mask;
}

/* Never block on ctl: its holder may be in SET_PLAN. */
static int claim_machine(struct dealbox_file *f)
{
	struct dealbox *db = f->db;
	int error = 0;

	spin_lock_irq(&db->lock);
	if (db->gone) {
		error = -ENODEV;
	} else if (!db->owner) {
		WRITE_ONCE(db->owner, f);
		db->owner_pid = get_pid(task_tgid(current));
	} else if (db->owner != f) {
		error = -EBUSY;
	}
	spin_unlock_irq(&db->lock);
	return error;
}

/* Fill in the fields of the status that depend on the file. */
static void add_claim(struct dealbox_file *f, struct dealbox_status *out)
{
	struct dealbox *db = f->db;

	spin_lock_irq(&db->lock);
	out->lost = f->queue.lost;
	if (db->owner) {
		out->claimed = db->owner == f ? DEALBOX_CLAIMED_BY_THIS :
						  DEALBOX_CLAIMED_BY_OTHER;
		/* A number that is free again may be another process. */
		if (pid_has_task(db->owner_pid, PIDTYPE_TGID))
			out->owner_pid = pid_vnr(db->owner_pid);
	}
	spin_unlock_irq(&db->lock);
}

/* Constant, so it waits for no turn. */
static int get_info(const struct dealbox_file *f, void *arg)
{
	if (READ_ONCE(f->db->gone))
		return -ENODEV;
	memcpy(arg, &f->db->info, sizeof(f->db->info));
	return 0;
}

static int make_call(struct dealbox_file *f, unsigned int cmd, void *arg,
		     bool wait)
{
	struct dealbox_call call = { .patient = wait };
	int error;

	if (cmd == DEALBOX_IOC_RELEASE) {
		drop_claim(f->db);
		return 0;
	}
	dealbox_call_ioctl(&call, cmd, arg);
	error = dealbox_exchange(f->db, &call);
	if (!error && cmd == DEALBOX_IOC_GET_STATUS)
		add_claim(f, arg);
	return error;
}

/* The caller holds ctl, so the claim cannot be dropped meanwhile. */
static int call_locked(struct dealbox_file *f,
		       const struct dealbox_ioctl *ioctl, void *arg, bool wait)
{
	struct dealbox *db = f->db;

	if (READ_ONCE(db->gone))
		return -ENODEV;
	if (ioctl->owner && READ_ONCE(db->owner) != f)
		return READ_ONCE(db->owner) ? -EBUSY : -EPERM;
	return make_call(f, ioctl->cmd, arg, wait);
}

static int lock_call(struct mutex *mutex, bool wait)
{
	if (wait)
		return mutex_lock_interruptible(mutex) ? -ERESTARTSYS : 0;
	return mutex_trylock(mutex) ? 0 : -EAGAIN;
}

/*
 * Files without the claim take turns, so that the owner waits for two calls at
 * most.
 */
static long call_in_turn(struct dealbox_file *f,
			 const struct dealbox_ioctl *ioctl, void *arg,
			 bool wait)
{
	struct dealbox *db = f->db;
	bool owns = READ_ONCE(db->owner) == f;
	long error = 0;

	if (!owns)
		error = lock_call(&db->turn, wait);
	if (error)
		return error;
	error = lock_call(&db->ctl, wait);
	if (!error) {
		error = call_locked(f, ioctl, arg, wait);
		mutex_unlock(&db->ctl);
	}
	if (!owns)
		mutex_unlock(&db->turn);
	return error;
}

static long make_ioctl(struct dealbox_file *f,
		       const struct dealbox_ioctl *ioctl, void *arg, bool wait)
{
	switch (ioctl->cmd) {
	case DEALBOX_IOC_CLAIM:
		return claim_machine(f);
	case DEALBOX_IOC_GET_INFO:
		return get_info(f, arg);
	default:
		return call_in_turn(f, ioctl, arg, wait);
	}
}

static long dealbox_ioctl(struct file *file, unsigned int cmd,
			  unsigned long user)
{
	const struct dealbox_ioctl *ioctl = dealbox_ioctl_find(cmd);
	u64 arg[DEALBOX_ARG_MAX / sizeof(u64)] = { 0 };
	long error;

	if (!ioctl)
		return -ENOTTY;
	if (ioctl->owner && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (_IOC_DIR(cmd) & _IOC_WRITE &&
	    copy_from_user(arg, (void __user *)user, _IOC_SIZE(cmd)))
		error = -EFAULT;
	else
		error = make_ioctl(file->private_data, ioctl, arg,
				   !(file->f_flags & O_NONBLOCK));

	if ((!error || error == -EREMOTEIO) && _IOC_DIR(cmd) & _IOC_READ &&
	    copy_to_user((void __user *)user, arg, _IOC_SIZE(cmd)))
		error = -EFAULT;
	memzero_explicit(arg, sizeof(arg));	/* may be a plan */
	return error;
}

const struct file_operations dealbox_fops = {
	.owner = THIS_MODULE,
	.open = dealbox_open,
	.release = dealbox_release,
	.read_iter = dealbox_read,
	.poll = dealbox_poll,
	.unlocked_ioctl = dealbox_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
