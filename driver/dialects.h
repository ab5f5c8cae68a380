/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The dialects, struct dealbox_dialect of core.h, and the machines that speak
 * them. docs/porting.md explains how to add one.
 */
#ifndef DEALBOX_DIALECTS_H
#define DEALBOX_DIALECTS_H

/* docs/protocol.md */
extern const struct dealbox_dialect dealbox_native;
/* docs/protocol-serial.md */
extern const struct dealbox_dialect dealbox_serial;

#endif

/*
 * The machines, as they are known on USB. All have class WIRE_CLASS and
 * subclass WIRE_SUBCLASS. The first row that fits counts. Who makes a table of
 * them defines both macros:
 *
 * DEALBOX_PRODUCT(vendor, product, protocol, dialect): known by vendor and
 *	product, so that it may be queried in its dialect
 * DEALBOX_INTERFACE(protocol, dialect): of any vendor. If its descriptors do
 *	not say what it is, the module queries it on endpoint 0 before it writes
 *	anything else. The library does not try it if its dialect has no
 *	descriptors.
 */
#ifdef DEALBOX_PRODUCT
DEALBOX_INTERFACE(WIRE_PROTOCOL, native)
DEALBOX_PRODUCT(0x1209, 0x0001, FRAME_PROTOCOL, serial)
DEALBOX_INTERFACE(FRAME_PROTOCOL, serial)
#undef DEALBOX_PRODUCT
#undef DEALBOX_INTERFACE
#endif
