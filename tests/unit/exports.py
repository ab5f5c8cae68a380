#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
What the library exports, what its version map names, and what its manual pages describe are the
same; each page has a text for each function, and all that the comments of its header say.

usage: exports.py LIBRARY MAP FOLDER-OF-PAGES HEADER...
"""
import pathlib
import re
import subprocess
import sys

library, version_map, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
headers = [pathlib.Path(name) for name in sys.argv[4:]]
count = 0
bad = 0


def check(name, faults):
    global count, bad
    count += 1
    bad += bool(faults)
    print(f"{'not ok' if faults else 'ok'} {count} - {name}")
    for fault in faults:
        print(f'#   {fault}')


def described(page):
    """The functions of a page that have a prototype and a text behind it."""
    found = set()
    for section in re.split(r'^\.Ss ', page, flags=re.M)[1:]:
        names, _, text = section.partition('\n')
        text = text.split('.Sh ')[0]
        if re.search(r'^\.Ed\n\.(Pp|Bd)', text, re.M):
            found |= set(names.split(', '))
    return found


def letters(text):
    """A text without its mark-up: what is left are its letters and digits."""
    text = re.sub(r'^\.(Bd.*|\w+)', '', text, flags=re.M)
    text = re.sub(r'(\bdocs|\S*/doc/dealbox)/', '', text)    # where the documentation is
    return re.sub(r'[\W_]', '', re.sub(r'\\[e&]', '', text))


def sentences(header):
    """What the comments at the margin of a header say, without its licence."""
    text = re.sub(r'^/\* SPDX.*\n', '', header.read_text(encoding='utf-8'))
    for comment in re.findall(r'^/\*(.*?)\*/', text, re.S | re.M):
        lines = (re.sub(r'^\s*\*?', '', line) for line in comment.split('\n'))
        yield from (part for part in re.split(r'(?<=[.;:?]) +|\n\s*\n|\n\s*\t', '\n'.join(lines))
                    if letters(part))


def unsaid(header):
    """The sentences that the page of a header does not have."""
    page = letters(whole['dealbox_' + header.stem])
    return [f'{header.name}: {part.strip()}' for part in sentences(header)
            # the first sentence stands in NAME and may begin with a small letter there
            if letters(part)[1:] not in page]


symbols = subprocess.run(['nm', '-D', '--defined-only', library], check=True,
                         capture_output=True, text=True).stdout
exported = set(re.findall(r' T (\w+)', symbols))
named = set(re.findall(r'^\t(\w+);', version_map.read_text(encoding='utf-8'), re.M))
pages = {path.stem: path.read_text(encoding='utf-8') for path in folder.glob('*.3')}
whole = {name: page for name, page in pages.items() if not page.startswith('.so ')}
functions = {name for page in whole.values() for name in re.findall(r'^\.Nm (\w+)', page, re.M)}
functions -= {name for name in whole if name not in exported}
texts = set().union(*map(described, whole.values()))

check('every symbol of the map is exported', sorted(named - exported))
check('every exported symbol is in the map', sorted(exported - named))
check('every exported symbol has a page', sorted(exported - set(pages)) + sorted(exported - functions))
check('every function of a page is exported', sorted(functions - exported))
check('every function has a text of its own', sorted(functions - texts))
check('every page that leads elsewhere leads to a page', sorted(
    name for name, page in pages.items()
    if page.startswith('.so ') and page.split('/')[1].strip()[:-2] not in whole))
check('each page says all that the comments of its header say', [
    fault for header in headers for fault in unsaid(header)])
lint = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning',
                       *sorted(str(folder / f'{name}.3') for name in whole)],
                      capture_output=True, text=True, check=False)
check('mandoc has nothing to say', lint.stdout.splitlines() + lint.stderr.splitlines())
print(f'1..{count}')
sys.exit(bad > 0)
