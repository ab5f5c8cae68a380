// SPDX-License-Identifier: GPL-2.0-only
/* The life-cycle tests, on machines of the serial dialect. */
#define SERIAL
#include "lifecycle_test.c"
