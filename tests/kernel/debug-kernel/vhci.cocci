// SPDX-License-Identifier: GPL-2.0-only
//
// Two faults of vhci_hcd, which carries most machines of the tests (Linux 6.12). This kernel
// would tell them, or hang by them, as if they were the module's.
//
// vhci_urb_dequeue takes a transfer's private part under the lock of the controller, and follows it
// before it has the lock of the port. Whoever frees it has to have both.
@@
symbol vhci;
identifier vdev, urb, flags;
expression seqnum;
@@
-spin_lock_irqsave(&vdev->priv_lock, flags);
+spin_lock_irqsave(&vhci->lock, flags);
+spin_lock(&vdev->priv_lock);
 urb = pickup_urb_and_free_priv(vdev, seqnum);
-spin_unlock_irqrestore(&vdev->priv_lock, flags);
+spin_unlock(&vdev->priv_lock);
+spin_unlock_irqrestore(&vhci->lock, flags);

// When the connection has broken, what was taken back is given back if it had been sent. Nobody
// sends any more: what had not been sent is to be given back, too.
@exists@
identifier vdev, vhci, flags;
@@
 vhci_cleanup_unlink_list(...)
 {
 ...
 spin_lock_irqsave(&vhci->lock, flags);
 spin_lock(&vdev->priv_lock);
+list_splice_tail_init(&vdev->priv_tx, &vdev->priv_rx);
 ... when any
 }
