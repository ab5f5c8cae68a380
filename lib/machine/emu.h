/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protocol between the emu: backend and dealbox-emulator: USB transfers over a Unix socket
 * (SOCK_SEQPACKET). One machine per socket, one frame per packet, in the computer's byte order.
 *
 * The host sends ATTACH. The machine answers ATTACHED and is then configured: its first event is
 * STATE_LOST. A machine has one host at a time: further connections get ATTACHED with status
 * -EBUSY, with the first host's process id as id (0 = unknown), and are closed. Status -ENODEV
 * means that the machine is unplugged. Either side closes the socket to unplug the cable. An answer
 * has the id of its request; answers may arrive in any order. Control requests are any of USB's,
 * those for descriptors too.
 *
 * A host that tests a machine sends ATTACH_RAW instead. It does itself what the machine's side of
 * the socket does for others: it sends SET_CONFIGURATION, fetches each transfer of events by
 * INT_GET, and resets and suspends the bus.
 */
#ifndef DEALBOX_EMU_H
#define DEALBOX_EMU_H

#include <stdint.h>

#define EMU_VERSION		4
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
	EMU_ATTACH_RAW = 5, /* id = EMU_VERSION */
	EMU_INT_GET = 6, /* raw: data = size of the buffer (4 bytes) */
	EMU_CANCEL = 7, /* raw: the INT_GET with this id; answered as CANCELLED, or not at all */
	EMU_BUS = 8, /* raw: status = enum emu_bus */
	/* machine to host */
	EMU_ATTACHED = 0x81,	/* data = struct emu_attached */
	EMU_CONTROL_DONE = 0x82,/* status, data = IN data */
	EMU_BULK_DONE = 0x83,	/* status */
	EMU_INT_DONE = 0x84,	/* status */
	EMU_INT_IN = 0x85,	/* status, data = one transfer; id 0 */
	EMU_INT_GOT = 0x86,	/* raw: status, data = one transfer */
	EMU_CANCELLED = 0x87,	/* raw: the transfer has not taken place */
	EMU_BUS_DONE = 0x88,	/* raw */
	EMU_WAKEUP = 0x89,	/* raw: the suspended machine wakes the host; id 0 */
};

enum emu_bus {
	EMU_BUS_RESET = 1,	/* all transfers are dropped */
	EMU_BUS_SUSPEND = 2,
	EMU_BUS_RESUME = 3,
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
	/* of the interface: driver/dialects.h. EMU_INT_IN carries bulk IN, too */
	uint16_t protocol;
};

#endif
