/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's vhci_hcd: USB ports for devices that are processes. */
#ifndef EMULATOR_VHCI_H
#define EMULATOR_VHCI_H

/*
 * Plug a high-speed device into a port, -1 = any. Returns the socket for USB/IP with the kernel;
 * closing it unplugs the device. Returns -ENODEV if vhci_hcd is not available, -EBUSY if no port is
 * free, or another -errno.
 */
int vhci_plug(int port);

#endif
