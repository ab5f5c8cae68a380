/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protocol between the emu: backend and dealbox-emulator: USB transfers over a Unix socket
 * (SOCK_SEQPACKET). One machine per socket, one frame per packet, in the computer's byte order.
 *
 * The host sends ATTACH. The machine answers ATTACHED and is then configured: its first event is
 * STATE_LOST. A machine has one host at a time: further connections get ATTACHED with status
 * -EBUSY, with the first host's process id as id (0 = unknown), and are closed. Status -ENODEV
 * means that the machine is unplugged. Either side closes the socket to unplug the cable. An answer
 * has the id of its request; answers may arrive in any order.
 */
#ifndef DEALBOX_EMU_H
#define DEALBOX_EMU_H

#include <stdint.h>

#define EMU_VERSION		3
#define EMU_DATA_MAX		4096
/* addresses of endpoints, in control requests */
#define EMU_EP_BULK_OUT		0x01
#define EMU_EP_INT_IN		0x82
#define EMU_EP_INT_OUT		0x03

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

/* status is that of an URB: 0 or -errno, -EPIPE = stall */
struct emu_frame {
	uint32_t kind;
	uint32_t id;
	int32_t status;
	uint32_t length;	/* bytes of data after the frame */
};

struct emu_attached {
	char serial[64];	/* zero-terminated */
	char product[64];
	uint8_t machine_descriptor[64];	/* native dialect: docs/protocol.md, section 1.1 */
	uint16_t int_in_size;	/* wMaxPacketSize */
	uint16_t int_out_size;	/* 0 = no such endpoint */
	uint16_t protocol;	/* of the interface: driver/dialects.h. EMU_INT_IN carries bulk IN, too */
};

#endif
