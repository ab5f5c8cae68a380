/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef DEALBOX_SHIM_NOSPEC_H
#define DEALBOX_SHIM_NOSPEC_H

/* In user space the caller can read all of it anyway. */
static inline unsigned int array_index_nospec(unsigned int index, unsigned int size)
{
	return index < size ? index : 0;
}

#endif
