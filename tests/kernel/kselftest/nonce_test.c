// SPDX-License-Identifier: GPL-2.0-only
/* The nonce of an attestation is wiped. */
#define NONCE
#include "wiped_test.c"
