/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the header was before 6.12; Kbuild adds this folder for such kernels. */
#include <asm/unaligned.h>
