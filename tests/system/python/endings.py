# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of a script, and prints TAP."""
import sys
import traceback


def run(names):
    """Functions whose name begins with test_."""
    tests = [value for name, value in names.items() if name.startswith('test_')]
    failed = 0
    print('1..%d' % len(tests))
    for number, test in enumerate(tests, 1):
        bad = False
        try:
            test()
        except Exception:
            bad = True
            failed += 1
            print('# ' + traceback.format_exc().rstrip().replace('\n', '\n# '))
        print('%sok %d - %s' % ('not ' if bad else '', number, test.__name__[5:].replace('_', ' ')), flush=True)
    sys.exit(bool(failed))


def raises(kind, function, *arguments, **named):
    """The exception; fails if there is none, or one of another kind."""
    try:
        function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError('no %s' % kind.__name__)
