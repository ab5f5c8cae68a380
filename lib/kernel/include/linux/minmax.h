/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef DEALBOX_SHIM_MINMAX_H
#define DEALBOX_SHIM_MINMAX_H

#define min_t(type, a, b) ({ type a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define min(a, b) min_t(__typeof__(a), a, b)

#endif
