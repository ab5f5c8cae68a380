# SPDX-License-Identifier: LGPL-2.1-or-later
"""typed.py PACKAGE PROGRAM...: mypy --strict finds nothing in the package and in programs that use it."""
import os
import subprocess
import sys
import tempfile

from endings import run

package, programs = sys.argv[1], sys.argv[2:]


def mypy(cache, *what):
    """The folder of the package is where these programs find it."""
    return subprocess.run(['mypy', '--strict', '--python-executable', '/usr/bin/python3', '--cache-dir', cache, *what],
                          check=False, capture_output=True, text=True,
                          env={**os.environ, 'MYPYPATH': os.path.dirname(package)})


def test_package_and_programs_are_typed_and_a_wrong_type_is_found():
    with tempfile.TemporaryDirectory() as folder:
        result = mypy(folder, package, *programs)
        assert result.returncode == 0, result.stdout
        with open(folder + '/wrong.py', 'w') as program:
            program.write('import dealbox\ndealbox.Set().board("3")\n')
        result = mypy(folder, program.name)
        assert result.returncode == 1 and 'incompatible type "str"; expected "int"' in result.stdout, result.stdout


run(globals())
