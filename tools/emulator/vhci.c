/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "usbip.h"
#include "vhci.h"

#define VHCI		"/sys/devices/platform/vhci_hcd.0/"
#define PORT_FREE	4	/* VDEV_ST_NULL */

/* Return the first free high-speed port, -1 if there is none, -2 if vhci_hcd is not available. */
static int free_port(void)
{
	char path[80] = VHCI "status", line[200];
	unsigned int controller = 0;
	int found = -2;
	FILE *file;

	while (found < 0 && (file = fopen(path, "re"))) {
		found = -1;
		while (fgets(line, sizeof(line), file)) {
			unsigned int port, state;

			if (sscanf(line, "hs %u %u", &port, &state) == 2 && state == PORT_FREE) {
				found = port;
				break;
			}
		}
		fclose(file);
		snprintf(path, sizeof(path), VHCI "status.%u", ++controller);
	}
	return found;
}

/* Returns 0, or -errno of the kernel. */
static int attach(int port, int socket)
{
	char text[80];
	int length = snprintf(text, sizeof(text), "%d %d %d %d", port, socket, USBIP_DEVID,
			      USBIP_SPEED_HIGH);
	int fd = open(VHCI "attach", O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) < 0)
		error = -errno;
	close(fd);
	return error;
}

int vhci_plug(int port)
{
	int pair[2], error;

	if (port < 0)
		port = free_port();
	if (port < 0)
		return port == -2 ? -ENODEV : -EBUSY;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	error = attach(port, pair[0]);
	close(pair[0]);
	if (error) {
		close(pair[1]);
		return error;
	}
	return pair[1];
}
