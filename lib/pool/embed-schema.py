#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a header of a file of SQL: embed-schema.py schema.sql > pool-schema.h

One literal a line: C11 promises only 4,095 characters in one, but compilers join them.
"""
import sys

with open(sys.argv[1], encoding='ascii') as file:
    lines = file.read().splitlines()
print('/* Made by lib/pool/embed-schema.py: do not edit. */')
print('static const char pool_schema[] =')
for line in lines:
    print('\t"%s\\n"' % line.replace('\\', '\\\\').replace('"', '\\"').replace('\t', ' '))
print('\t;')
