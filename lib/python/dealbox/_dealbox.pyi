# SPDX-License-Identifier: LGPL-2.1-or-later
"""Made by cffi from the headers of libdealbox."""
from typing import Any

ffi: Any
lib: Any
