/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock that everything is measured by, and how wrong a measured time may be. */
#ifndef COMPLIANCE_CLOCK_H
#define COMPLIANCE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* µs of a clock that only goes forward */
uint64_t now_us(void);
/* Begin to watch how late this computer is. Returns false if that is impossible. */
bool clock_watch(void);
/* Forget earlier delays of this computer: they do not affect measurements that begin now. */
void uncertainty_begin(void);
double uncertainty_us(void);

#endif
