# SPDX-License-Identifier: LGPL-2.1-or-later
"""Made from the comments of the headers."""
from typing import Dict

DOCS: Dict[str, str]
