#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Tests that the numbers of the requirements in the protocol pages are unique, complete and never
reused: each "must" is in a list item that begins with R-<section>-<n>, one in each item, and the
page's table of numbers accounts for every number that was ever assigned. And that the tests of
machines know each of them: PROGRAM is dealbox-compliance.

The kernel ABI's page, a PAGE that ends in .rst, has numbers of its own: K-<n>.

usage: requirements.py PROGRAM PAGE...
"""
import pathlib
import re
import subprocess
import sys

HEADING = re.compile(r'##+ (S?\d+(?:\.\d+)*)\.? ')
ITEM = re.compile(r'- R-(\S+)-(\d+) ')
ROW = re.compile(r'\| (S?\d+(?:\.\d+)*) \| (\d+) \| ([\d, ]*)\|$')


def without_code(text):
    """Return the text with empty lines in place of fenced blocks."""
    return re.sub(r'^```.*?^```$', lambda m: '\n' * m[0].count('\n'), text, flags=re.M | re.S)


def blocks(text):
    """Yield (line number, text) of each heading, list item, paragraph or row of a table."""
    start, lines = 0, []
    for number, line in enumerate(without_code(text).split('\n') + [''], 1):
        if lines and (not line or re.match(r'[-#|]|\d+\. ', line)):
            yield start, ' '.join(lines)
            lines = []
        if line:
            start = start if lines else number
            lines.append(line.strip())


def numbers_of(text):
    return {f'{m[1]}-{m[2]}' for _, block in blocks(text) if (m := ITEM.match(block))}


def faults(text, known=frozenset()):
    """Return the errors of a page. known: requirements of other pages, which it may cite."""
    found, section, given, table = [], '0', {}, {}
    for line, block in blocks(text):
        heading, item, row = HEADING.match(block), ITEM.match(block), ROW.match(block)
        musts = len(re.findall(r'\bmust\b', block, re.I))
        if heading:
            section = heading[1]
        if row:
            removed = {int(n) for n in re.findall(r'\d+', row[3])}
            table[row[1]] = (int(row[2]), removed)
        if not item:
            if musts:
                found.append(f'line {line}: "must" without a number')
            continue
        number = int(item[2])
        if item[1] != section:
            found.append(f'line {line}: R-{item[1]}-{number} stands in section {section}')
        if number in given.setdefault(item[1], set()):
            found.append(f'line {line}: R-{item[1]}-{number} twice')
        if musts != 1:
            found.append(f'line {line}: {musts} requirements in one item')
        given[item[1]].add(number)
    for name in sorted(given.keys() | table.keys()):
        numbers = given.get(name, set())
        last, removed = table.get(name, (0, set()))
        if numbers & removed:
            found.append(f'section {name}: removed, and used again: {sorted(numbers & removed)}')
        if (wrong := (numbers | removed) ^ set(range(1, last + 1))):
            found.append(f'section {name}: not as in the table of numbers: {sorted(wrong)}')
    known = known | numbers_of(text)
    for cited in re.findall(r'R-(S?[\d.]+-\d+)', text):
        if cited not in known:
            found.append(f'R-{cited} is cited, and does not exist')
    return found


SAMPLE = '''# A page
- R-0-1 A host must
  listen.

## 1. Things
- R-1-1 A thing must be, as in R-0-1.
- R-1-3 A thing must not be.
```
must
```
## 2. Numbers
| 0 | 1 | |
| 1 | 3 | 2 |
'''

BROKEN = [
    ('a "must" without a number', 'be.\n', 'be.\n\nIt must.\n'),
    ('a "must" in a table', '| 0 |', '| it must |\n| 0 |'),
    ('a number twice', 'R-1-3', 'R-1-1'),
    ('two requirements in one item', 'not be', 'not be, and must not seem'),
    ('an item without a requirement', 'must not be', 'is not'),
    ('a number of another section', 'R-1-3', 'R-0-2'),
    ('a number that the table does not have', '| 1 | 3 | 2 |', '| 1 | 1 | |'),
    ('a number that nobody accounts for', '| 1 | 3 | 2 |', '| 1 | 3 | |'),
    ('a requirement that was taken out', '- R-1-3 A thing must not be.\n', ''),
    ('a removed number that is used again', 'R-1-3', 'R-1-2'),
    ('a section that is not in the table', '| 0 | 1 | |\n', ''),
    ('a citation of nothing', 'in R-0-1', 'in R-0-7'),
]

count = 0
bad = 0


def check(name, wrong):
    global count, bad
    count += 1
    bad += bool(wrong)
    print(f"{'not ok' if wrong else 'ok'} {count} - {name}")
    for fault in wrong:
        print(f'#   {fault}')


check('a page in order has no fault', faults(SAMPLE))
for name, old, new in BROKEN:
    assert old in SAMPLE
    check(f'{name} is found', [] if faults(SAMPLE.replace(old, new, 1)) else ['not found'])
KERNEL = re.compile(r'^- K-(\d+) ', re.M)


def kernel_faults(text):
    """Return the errors of the numbers of the kernel ABI's page, and the numbers."""
    numbers = [int(n) for n in KERNEL.findall(text)]
    found = [] if numbers == list(range(1, len(numbers) + 1)) else [f'K-: not in order: {numbers}']
    return found, frozenset(f'K-{n}' for n in numbers)


check('numbers of the kernel ABI: a gap is found', [] if kernel_faults('- K-1 a\n- K-3 b\n')[0] else ['not found'])
kernel_pages = [name for name in sys.argv[2:] if name.endswith('.rst')]
kernel = frozenset()
for name in kernel_pages:
    wrong, kernel = kernel_faults(pathlib.Path(name).read_text(encoding='utf-8'))
    check(pathlib.Path(name).name, wrong if kernel else ['no requirements'])
pages = {name: pathlib.Path(name).read_text(encoding='utf-8') for name in sys.argv[2:]
         if name not in kernel_pages}
everything = frozenset().union(*(numbers_of(text) for text in pages.values()))
for name, text in pages.items():
    check(pathlib.Path(name).name, faults(text, everything))


def uncovered(suite):
    """Return what is wrong with the suite's table of requirements, "R-1-1: TEST... or a reason"."""
    rows = dict(line.split(':', 1) for line in suite.splitlines())
    found = [f'{name}: the suite does not know it' for name in sorted(kernel - rows.keys())]
    found += [f'{name}: no page has it' for name in sorted(n for n in rows if n.startswith('K-') and n not in kernel)]
    numbers = {name.removeprefix('R-') for name in rows if not name.startswith('K-')}
    found += [f'R-{name}: the suite does not know it' for name in sorted(everything - numbers)]
    found += [f'R-{name}: no page has it' for name in sorted(numbers - everything)]
    for name, text in rows.items():
        tests, _, reason = text.partition(' not testable: ')
        if not tests.strip() and not reason:
            found.append(f'{name}: neither a test nor a reason why there is none')
    return found


suite = subprocess.run([sys.argv[1], '--requirements'], stdout=subprocess.PIPE, text=True, check=True).stdout
check('the suite for machines has each requirement', uncovered(suite))
check('a requirement that it does not have is found',
      [] if uncovered(suite.replace('R-1-1:', 'R-1-99:')) else ['not found'])
check('one of the kernel ABI that it does not have is found',
      [] if uncovered(suite.replace('K-1:', 'K-99:')) else ['not found'])
check('one without test and reason is found',
      [] if uncovered(re.sub('^R-1-1:.*', 'R-1-1:', suite, flags=re.M)) else ['not found'])
print(f'1..{count}')
sys.exit(bad > 0)
