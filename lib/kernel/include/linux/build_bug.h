/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#include <assert.h>
