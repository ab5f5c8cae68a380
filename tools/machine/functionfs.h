/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine's interface (docs/protocol.md, 1 and docs/protocol-serial.md, S1) on a USB device
 * controller of Linux, by FunctionFS: requests, plans and gate commands go to the core, events to
 * the host. It needs a mounted FunctionFS, whose gadget is bound to its controller afterwards.
 *
 * FunctionFS waits for the host within calls for endpoint 0, so these have a thread of their own.
 * All calls of the core are made by the caller's thread. Nothing is allocated after
 * functionfs_open().
 */
#ifndef MACHINE_FUNCTIONFS_H
#define MACHINE_FUNCTIONFS_H

#include "core.h"
#include "serial.h"

struct functionfs;

/*
 * Write the descriptors of a machine to the FunctionFS that is mounted at `folder`, and open its
 * endpoints. `serial` is NULL for the native dialect. config, core and serial stay valid and where
 * they are until functionfs_close().
 *
 * The descriptor of the machine goes by request, and FunctionFS ends the transfer of a command
 * before the core sees it: the native dialect needs CORE_REFUSES_BY_RESULT, the serial one must not
 * have it.
 *
 * Returns what functionfs_close() frees, or NULL with errno: EINVAL if that capability or the
 * number of the interface (always 0 here) is wrong, else as the kernel says.
 */
struct functionfs *functionfs_open(const char *folder, const struct core_config *config,
				   struct core *core, struct serial *serial);

/*
 * End all transfers, which unbinds the gadget from its controller, and free f. NULL does nothing.
 * If the host is in the middle of a control transfer, its end is awaited.
 */
void functionfs_close(struct functionfs *f);

/* Return a descriptor that is readable when functionfs_serve() has something to do. */
int functionfs_fd(const struct functionfs *f);

/*
 * Pass on what has come from the host. The caller has told the core the time, and calls
 * functionfs_flush() afterwards. Returns 0, or a negative errno if FunctionFS fails for good.
 */
int functionfs_serve(struct functionfs *f);

/*
 * Give the core's events to the host. Call it after every call that may have made the core queue
 * one.
 */
void functionfs_flush(struct functionfs *f);

#endif
