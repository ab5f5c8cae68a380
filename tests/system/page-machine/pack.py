# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compile the machine, and what it needs of Python, into a folder for the virtual machine.

usage: python3 -S pack.py FOLDER
"""
import importlib
import os
import py_compile
import shutil
import sys

for name in ('encodings.ascii', 'encodings.latin_1', 'encodings.utf_16_le', 'ctypes', 'scenario',
             'witness'):
    importlib.import_module(name)

out = sys.argv[1]
library = os.path.dirname(os.__file__)
# frozen modules have no file, but a spec
names = [name for name in sys.modules if name not in ('__main__', 'py_compile', 'shutil')]
# the interpreter looks for it
os.makedirs(f'{out}/lib/lib-dynload')
for name in names:
    source = getattr(sys.modules[name], '__file__', None) or ''
    if source.endswith('.py'):
        to = os.path.relpath(source, library)
        to = f'{out}/lib/{to}c' if not to.startswith('..') else f'{out}/{os.path.basename(source)}c'
        py_compile.compile(source, to, doraise=True)
    elif name == '_ctypes':
        # tests/infra/vm/run brings the libraries of what is executable
        to = f'{out}/lib/lib-dynload/{os.path.basename(source)}'
        shutil.copy(source, to)
        os.chmod(to, 0o755)
