/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the library's emu: backend and dealbox-emulator talk: one machine per
 * unix socket (SOCK_SEQPACKET), one frame per packet, host byte order (both
 * ends run on one computer). The frames carry what a USB bus would.
 *
 * The host sends ATTACH first; the machine answers ATTACHED and is then
 * configured (STATE_LOST is its first event). One host at a time: a second
 * connection is answered with status -EBUSY in ATTACHED, with the process id of the
 * first as id (0 = not known), and closed; -ENODEV means unplugged. Closing the
 * socket is pulling the cable, on either side. An answer bears the id of what it
 * answers; answers may come in another order.
 */
#ifndef DEALBOX_EMU_H
#define DEALBOX_EMU_H

#include <stdint.h>

#define EMU_VERSION		2
#define EMU_DATA_MAX		4096
#define EMU_EP_BULK_OUT		0x01	/* its address, in control requests */

enum emu_kind {
	/* host to machine */
	EMU_ATTACH = 1,		/* id = EMU_VERSION */
	EMU_CONTROL = 2,	/* data = setup packet (8 bytes), then OUT data */
	EMU_BULK_OUT = 3,
	EMU_INT_OUT = 4,
	/* machine to host */
	EMU_ATTACHED = 0x81,	/* data = struct emu_attached */
	EMU_CONTROL_DONE = 0x82,/* status, data = IN data */
	EMU_BULK_DONE = 0x83,	/* status */
	EMU_INT_DONE = 0x84,	/* status */
	EMU_INT_IN = 0x85,	/* status, data = one transfer; id 0 */
};

/* status is 0 or a negative errno as an URB would have it: -EPIPE = stall */
struct emu_frame {
	uint32_t kind;
	uint32_t id;
	int32_t status;
	uint32_t length;	/* of the data that follow */
};

struct emu_attached {
	char serial[64];	/* zero-terminated */
	char product[64];
	uint8_t machine_descriptor[64];	/* section 1.1 of the protocol, bLength bytes, if native */
	uint16_t int_in_size;	/* wMaxPacketSize */
	uint16_t int_out_size;	/* 0 = no such endpoint */
	uint16_t serial_dialect;/* 1: docs/protocol-serial.md: EMU_INT_IN brings the bulk IN stream */
};

#endif
