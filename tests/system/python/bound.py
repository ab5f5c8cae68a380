# SPDX-License-Identifier: LGPL-2.1-or-later
"""
bound.py SOURCE: each function of the headers is wrapped by the package, or listed with a reason.
"""
import fnmatch
import inspect
import pathlib
import re
import sys

import dealbox
import dealbox.audit
import dealbox.laws
import dealbox.square
from dealbox._docs import DOCS
from endings import run

source = pathlib.Path(sys.argv[1])
functions = re.findall(r'^\t(dealbox_\w+);', (source / 'lib/libdealbox.map').read_text(), re.M)
code = '\n'.join(path.read_text() for path in (source / 'lib/python').rglob('*.py')) + \
    (source / 'lib/python/bulk.c').read_text()
code = re.sub(r"@documented\('\w+'\)", '', code)
called = set(re.findall(r'\b(dealbox_\w+)', code))
listed = [re.split(r'\t+', line) for line in (source / 'lib/python/unbound').read_text().splitlines()
          if line and line[0] != '#']


def test_each_function_is_wrapped_or_listed():
    missing = [name for name in functions if name not in called
               and not any(fnmatch.fnmatchcase(name, pattern) for pattern, _ in listed)]
    assert not missing, missing


def test_what_is_listed_exists_and_is_not_wrapped():
    for pattern, reason in listed:
        names = fnmatch.filter(functions, pattern)
        assert names and reason.strip(), pattern
        assert not called.intersection(names), (pattern, called.intersection(names))


def test_each_function_can_be_called():
    assert all(hasattr(dealbox.lib, name) for name in functions)


def test_comments_of_the_headers_are_the_documentation():
    assert DOCS['dealbox_deal_complete'].startswith('Returns true if the deal is complete: every card')
    assert DOCS['dealbox_machine_pause'].startswith('Pauses a deal')
    assert 'Pauses' not in DOCS['dealbox_machine_resume']
    assert DOCS['dealbox_deal_complete'] in inspect.getdoc(dealbox.Deal.complete)
    assert inspect.getdoc(dealbox.Machine.pause).startswith('dealbox_machine_pause: Pauses a deal')
    assert '/*' not in str(DOCS) and '*/' not in str(DOCS)
    assert not [name for name in functions if name not in DOCS]


run(globals())
