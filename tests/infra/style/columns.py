#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds lines of C over 100 columns; in driver/, except for its tests, over 80.

usage: columns.py <the names of files, each with a zero byte behind it

A column is a character, and a tab goes on to the next multiple of 8. A line may be longer if
- it is a message of the driver and nothing else: grep must find messages of the kernel;
- it defines the number of an ioctl, as headers of the kernel do;
- tests/infra/mutation/equivalent names a breakage by its text.
"""
import re
import sys

MESSAGE = re.compile(r'\s*"[^"]*"[,;)]*')
IOCTL = re.compile(r"#define [A-Z_]+\s+_IO[RW]*\(")

with open("tests/infra/mutation/equivalent", encoding="utf-8") as file:
    named = {line[len("line: "):].strip() for line in file if line.startswith("line: ")}
bad = 0
for name in sys.stdin.read().split("\0")[:-1]:
    driver = name.startswith("driver/")
    most = 80 if driver and not name.startswith("driver/tests/") else 100
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            columns = len(line.expandtabs(8))
            if columns <= most or line.strip() in named:
                continue
            if not driver or not (MESSAGE.fullmatch(line) or IOCTL.match(line)):
                print(f"{name}:{number}: {columns} columns, more than {most}")
                bad = 1
sys.exit(bad)
