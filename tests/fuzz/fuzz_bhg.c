// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fuzz_format.h"

FUZZ_FORMAT("bhg")
