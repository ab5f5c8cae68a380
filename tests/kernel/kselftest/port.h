/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port of vhci_hcd that no test uses for a machine, and a device that can only be
 * enumerated there. This program answers the kernel's requests to it.
 */
#ifndef TEST_PORT_H
#define TEST_PORT_H

/*
 * Plugs a device in, and waits until the kernel has enumerated it and bound the generic driver.
 * uevents: a socket for the kernel's uevents that nobody else reads. Returns NULL and the handle
 * for port_unplug(), or the error.
 */
const char *port_plug(int uevents, int *plug);
/* Unplugs the device, and waits until it is gone. Returns NULL, or the error. */
const char *port_unplug(int uevents, int plug);

#endif
