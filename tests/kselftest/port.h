/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port of vhci_hcd that no machine of a test is in, and a device that can be found
 * there and nothing else. What the kernel asks it this program answers meanwhile.
 */
#ifndef TEST_PORT_H
#define TEST_PORT_H

/*
 * Plugs it in, and waits until the kernel has found it and taken its driver for all devices.
 * uevents: a socket with the kernel's, on which nobody else waits. Returns NULL and what holds
 * the plug, for port_unplug(), or what is wrong.
 */
const char *port_plug(int uevents, int *plug);
/* Pulls it out, and waits until it has gone. NULL, or what is wrong. */
const char *port_unplug(int uevents, int plug);

#endif
