// SPDX-License-Identifier: GPL-2.0-only
/* The life-cycle tests, under a storm of signals. */
#define STORM
#include "lifecycle_test.c"
