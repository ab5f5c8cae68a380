/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's vhci_hcd: a USB port whose device is a process. */
#ifndef EMULATOR_VHCI_H
#define EMULATOR_VHCI_H

/*
 * Plugs a high-speed device in at a port, -1 = any. Returns the socket on which the kernel
 * speaks USB/IP with it, closed by the caller (the cable is pulled then), or a negative errno:
 * -ENODEV vhci_hcd is not there, -EBUSY no port is free.
 */
int vhci_plug(int port);

#endif
