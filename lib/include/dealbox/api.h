/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of libdealbox begin with dealbox_ or DEALBOX_. Macros that begin with DEALBOX_ and one of
 * CAP_, CLAIMED_, ERR_, EV_, EVF_, IDENTITY_, IOC_, JAM_, KEY_, LOST_, MAX_, OP_, PARAM_, PAUSED_,
 * PLAN_, PROTO_, READER_, STATE_ and STATUS_ belong to <linux/dealbox.h>. The library defines no
 * such constant, apart from DEALBOX_EVF_BY_HAND, so that a later kernel can add some.
 */
#ifndef DEALBOX_API_H
#define DEALBOX_API_H

/* Marks a function as exported; it must also be listed in libdealbox.map. */
#define DEALBOX_API __attribute__((visibility("default")))

#endif
