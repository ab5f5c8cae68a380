#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Tests that the library's exports, its version map and its manual pages agree. Each page must have a
text for each function, and every sentence of the comments in its header.

usage: exports.py LIBRARY MAP FOLDER-OF-PAGES HEADER...
"""
import pathlib
import re
import subprocess
import sys

library, version_map, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
headers = [pathlib.Path(name) for name in sys.argv[4:]]
api_header = headers[0].with_name('api.h')
kernel_header = pathlib.Path(__file__).parents[2] / 'driver/include/uapi/linux/dealbox.h'
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
    """Return the letters and digits of a text, without mark-up."""
    text = re.sub(r'^\.(Bd.*|It Fa|\w+)', '', text, flags=re.M)
    text = re.sub(r'(\bdocs|\S*/doc/dealbox)/', '', text)    # where the documentation is
    return re.sub(r'[\W_]', '', re.sub(r'\\[e&]', '', text))


def sentences(header):
    """Return the text of the comments at the margin of a header, without its licence."""
    text = re.sub(r'^/\* SPDX.*\n', '', header.read_text(encoding='utf-8'))
    for comment in re.findall(r'^/\*(.*?)\*/', text, re.S | re.M):
        lines = (re.sub(r'^\s*\*?', '', line) for line in comment.split('\n'))
        lines = re.sub(r'^\t-E.*(\n\t\t.*)*', r'\n\g<0>\n', '\n'.join(lines), flags=re.M)
        for paragraph in re.split(r'\n\s*\n|\n\s*[\t@]', lines):
            paragraph = ' '.join(paragraph.split())
            # RETURN VALUES has its own words for 0
            paragraph = re.sub(r'\bReturns 0(?=, (or|else) -E)', '', paragraph)
            # errors have a section of their own
            paragraph = re.sub(r'(^|[,;]?( or| and| else)? )-(E[A-Z0-9]+)\b[:,;.]?', r'; \3; ', paragraph)
            yield from (part for part in re.split(r'(?<=[.;:?]) +', paragraph) if letters(part))


def unsaid(header):
    """Return the sentences of a header that its page lacks."""
    page = letters(whole['dealbox_' + header.stem])
    return [f'{header.name}: {part.strip()}' for part in sentences(header)
            # the first sentence is in NAME, where it may begin with a small letter
            if letters(part)[1:] not in page]


def without_value(page):
    """Return the functions of a page whose result RETURN VALUES does not describe."""
    values = re.search(r'^\.Sh RETURN VALUES\n(.*?)^\.Sh ', page + '.Sh ', re.S | re.M)
    told = re.findall(r'\bFn (\w+)', values[1]) if values else []
    code = '\n'.join(re.findall(r'^\.Bd -literal\n(.*?)^\.Ed', page, re.S | re.M))
    prototypes = re.findall(r'^(?!static|typedef|\t)(\w[\w *\n]*?)\b(dealbox_\w+)\(', code, re.M)
    return [name for kind, name in prototypes if kind.strip() != 'void' and name not in told]


def prefixes(path):
    """Return the prefixes that a header says are the kernel's."""
    text = re.sub(r'\n \* ', ' ', path.read_text(encoding='utf-8'))
    said = re.search(r'DEALBOX_ and one of((?:(?: and)? [A-Z]+_,?)+)', text)
    return set(re.findall(r'[A-Z]+_', said[1])) if said else set()


def constants(path):
    """Return the macros and enumerators of a header, except for those that guard a header."""
    code = re.sub(r'/\*.*?\*/', '', path.read_text(encoding='utf-8'), flags=re.S)
    names = set(re.findall(r'^#define (DEALBOX_(?!\w+_H$)\w+)', code, re.M))
    for body in re.findall(r'\benum \w+ \{(.*?)\}', code, re.S):
        names |= set(re.findall(r'(?:^|,)\s*(DEALBOX_\w+)', body))
    return names


def types(path):
    """Return the tags and types of a header."""
    code = re.sub(r'/\*.*?\*/', '', path.read_text(encoding='utf-8'), flags=re.S)
    return set(re.findall(r'\b(?:struct|enum|union) (dealbox_\w+)', code)) | set(
        re.findall(r'^typedef [^;]*?\(?\*?\b(dealbox_\w+)\)?(?:\([^;]*\))?;', code, re.M))


def of_the_kernel(names, theirs):
    return {name for name in names if name.startswith(tuple('DEALBOX_' + prefix for prefix in theirs))}


def strangers(header):
    """Return parameters in comments that the prototype below does not have."""
    text = header.read_text(encoding='utf-8')
    for comment, function, rest in re.findall(r'^/\*\*\n(.*?)\*/\n[^;]*?\b(dealbox_\w+)(\([^;]*\));', text, re.S | re.M):
        yield from (f'{header.name}: {function}: @{name}' for name in re.findall(r'^ \* @(\w+):', comment, re.M)
                    if not re.search(rf'\b{name}\b', rest))


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
check('each comment describes the parameters of its function', [
    fault for header in headers for fault in strangers(header)])
theirs = prefixes(kernel_header)
check('both headers name the same prefixes of the kernel', sorted(
    theirs ^ prefixes(api_header)) if theirs else ['none'])
check('macros of the kernel have them', sorted(
    name for name in constants(kernel_header) - of_the_kernel(constants(kernel_header), theirs)
    if name != 'DEALBOX_NONE' and not name.endswith('_SIZE')))
check('no constant of the library has one', sorted(
    of_the_kernel(set().union(*map(constants, headers)), theirs) - {'DEALBOX_EVF_BY_HAND'}))
check('no function has the name of a type, which C++ could not use', sorted(
    exported & set().union(*map(types, [*headers, kernel_header]))))
check('each page says what its functions return', sorted(
    name for page in whole.values() for name in without_value(page)))
check('each page has an example', [name for name, page in whole.items()
                                   if not re.search(r'^\.Sh EXAMPLES\n(.*\n)*?\.Bd', page, re.M)])
check('each page of functions tells of errors, if it has some, and of threads', [
    name for name, page in whole.items() if re.search(r'^\.Nm dealbox_\w+ ,', page, re.M)
    and not ('.Sh THREADS' in page and ('.Sh ERRORS' in page or not re.search(r'^int dealbox', page, re.M)))])
# THREADS says so; fn_buffer and list_size... are gcov's, in the build that measures coverage
writable = subprocess.run(['nm', '--format=sysv', '--defined-only', library], check=True,
                          capture_output=True, text=True).stdout
check('the library has no variables', [
    line.split('|')[0].strip() for line in writable.splitlines()
    if re.search(r'OBJECT.*\|\.t?(bss|data)$', line)
    and not re.match(r'_|completed|\.|fn_buffer|list_size', line)])
lint = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning',
                       *sorted(str(folder / f'{name}.3') for name in whole)],
                      capture_output=True, text=True, check=False)
check('mandoc has nothing to say', lint.stdout.splitlines() + lint.stderr.splitlines())
print(f'1..{count}')
sys.exit(bad > 0)
