#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An audit of a season: season.py FILE...

Compares the deals of a season, after it was played, with what chance gives. Exit status 1 if there
is something to ask about. Debian's python3-dealbox and python3-pandas.
"""
import sys

import pandas  # type: ignore[import]

import dealbox
from dealbox.audit import Audit

if len(sys.argv) < 2:
    sys.exit('usage: %s FILE...' % sys.argv[0])

# %% The files. What is not wholly usable is named, and not left out in silence.
season, tables = Audit(), []
for path in sys.argv[1:]:
    try:
        boards = dealbox.Set.read(path)
        season.add(boards, path)
        tables.append(boards.frame())
    except dealbox.Error as error:
        sys.exit('%s: %s' % (path, error))
frame = pandas.concat(tables)
print('%d deals in %d files' % (len(season), len(season.sets)))

# %% Boards of each file: the table has no cards
print(frame.groupby('file').number.agg(['count', 'min', 'max']).to_string())

# %% Tests of all deals together, the least likely first
tests = pandas.DataFrame(season.tests())
print(tests.sort_values('corrected').to_string(index=False))

# %% Deals that were there before
findings = season.findings()
for finding in findings:
    print('%s, board %d: %s, %d deals; see %s, board %d' % (
        finding.set, finding.board, finding.kind, finding.deals, finding.other_set, finding.other_board))

# %% One of 100 perfect seasons has a corrected p below 0.01
sys.exit(bool(findings) or bool((tests.corrected < 0.01).any()))
