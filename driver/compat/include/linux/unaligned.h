/* SPDX-License-Identifier: GPL-2.0-only */
/* The header's place before 6.12. Kbuild adds this folder for such kernels. */
#include <asm/unaligned.h>
