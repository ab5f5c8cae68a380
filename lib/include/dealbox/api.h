/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks a function as exported; it must also be listed in libdealbox.map. */
#ifndef DEALBOX_API_H
#define DEALBOX_API_H

#define DEALBOX_API __attribute__((visibility("default")))

#endif
