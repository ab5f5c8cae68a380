#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the licence in the first lines of each file with that of .reuse/dep5.

usage: licences.py <the names of files, each with a zero byte behind it
"""
import re
import sys

from debian.copyright import Copyright

LICENCE = re.compile(rb"SPDX-License-Identifier[:] ([A-Za-z0-9.+ -]+?) ?(?:\*/|-->|\n)")

with open(".reuse/dep5", encoding="utf-8") as file:
    table = Copyright(file)
bad = 0
for name in sys.stdin.read().split("\0")[:-1]:
    with open(name, "rb") as file:
        own = LICENCE.search(file.read(400))
    row = table.find_files_paragraph(name)
    if own and own.group(1).decode() != row.license.synopsis:
        print(f"{name}: {own.group(1).decode()}, in .reuse/dep5: {row.license.synopsis}")
        bad = 1
sys.exit(bad)
