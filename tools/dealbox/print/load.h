/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PRINT_LOAD_H
#define PRINT_LOAD_H

#include "print/engine/engine.h"

/*
 * Load the engine, which stays loaded. Returns NULL after reporting an error: it, or a library that
 * it needs, is not installed.
 */
const struct print_engine *engine_load(void);

#endif
