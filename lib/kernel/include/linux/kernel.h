/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef DEALBOX_SHIM_KERNEL_H
#define DEALBOX_SHIM_KERNEL_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
