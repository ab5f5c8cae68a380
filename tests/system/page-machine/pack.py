# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compile the machine, and what it needs of Python's library, into a folder for the virtual machine.

usage: python3 -S pack.py FOLDER
"""
import importlib
import os
import py_compile
import sys

for name in ('encodings.ascii', 'encodings.latin_1', 'encodings.utf_16_le', 'scenario'):
    importlib.import_module(name)

out = sys.argv[1]
library = os.path.dirname(os.__file__)
# frozen modules have no file, but a spec
names = [name for name in sys.modules if name not in ('__main__', 'py_compile')]
for name in names:
    source = getattr(sys.modules[name], '__file__', None) or ''
    if not source.endswith('.py'):
        continue
    to = os.path.relpath(source, library)
    to = f'{out}/lib/{to}c' if not to.startswith('..') else f'{out}/{os.path.basename(source)}c'
    py_compile.compile(source, to, doraise=True)
# the interpreter looks for it
os.makedirs(f'{out}/lib/lib-dynload')
