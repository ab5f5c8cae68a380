/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The binary format of usbmon: Documentation/usb/usbmon.rst. No kernel header has it. */
#ifndef TEST_USBMON_H
#define TEST_USBMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

struct mon_packet {
	uint64_t id;			/* of the URB, while it is in flight */
	uint8_t type;			/* S submitted, C completed, E could not be submitted */
	uint8_t transfer, endpoint, device;
	uint16_t bus;
	uint8_t flag_setup, flag_data;
	int64_t seconds;
	int32_t us;
	int32_t status;
	uint32_t length, captured;
	uint8_t setup[8];
	int32_t interval, start_frame;
	uint32_t flags, descriptors;
};

_Static_assert(sizeof(struct mon_packet) == 64, "as usbmon writes it");

struct mon_get {
	struct mon_packet *packet;
	void *data;
	size_t size;
};

struct mon_fetch {
	uint32_t *offsets;
	uint32_t fetch, flush;
};

struct mon_stats {
	uint32_t queued, dropped;
};

#define MON_STATS	_IOR(0x92, 3, struct mon_stats)
#define MON_RING_SIZE	_IO(0x92, 4)
#define MON_FETCH	_IOWR(0x92, 7, struct mon_fetch)
#define MON_GET		_IOW(0x92, 10, struct mon_get)

#define MON_INTERRUPT	1		/* transfer */
#define MON_BULK	3
#define MON_ROOT_HUB	1		/* device */
#define MON_RING	(1 << 20)	/* about the largest that usbmon allows */

/* Starts to monitor all buses. Returns a descriptor to close, or -1 and errno. */
int usbmon_open(void);
/* Returns 1 with the next packet, 0 if there is none, -1 and errno (ENOBUFS: some were lost). */
int usbmon_next(int fd, struct mon_packet *packet);

#endif
