#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Generates the manual pages of the library from its headers.

Each header becomes a page: the text of the comment at its top, then each comment with the
declarations that follow it. A comment before an empty line stands alone: as a paragraph, or,
between dashes, as a heading. A paragraph of a comment is a paragraph of the page; indented lines
are kept unchanged.

Further sections are made from the comments:
- RETURN VALUES: sentences about the return value; without any, a text by the return type.
- ERRORS: the text after an error (-EINVAL: the reason; -ENOMEM), to the next one or the end of the
  sentence. "Same errors" refers to the comment before. A table of errors in the comment at the top
  applies to all functions.
- THREADS: a function that takes an object that is not const needs it exclusively (exports.py
  checks that the library has no variables of its own).

"docs/" in a comment becomes the folder DOCS, where the documentation is installed.

A program (docs/examples) is the example of each header that it includes.

usage: pages.py FOLDER DATE DOCS FILE...     headers and programs; writes the pages into FOLDER
"""
import errno
import os
import pathlib
import re
import sys

TOP = re.compile(r'/\*(.*?)\*/', re.S)
HEADING = re.compile(r'-{4} (.*?) -{4,}')
VALUE = re.compile(r'^(0|1)\b|\b[Rr]eturns\b|^Same return|^As snprintf')
POINTER = re.compile(r'\bNULL[ .:=,]|\bStatic\b|\b[Ll]ives?\b|\b[Ff]ree\b|\bto be freed\b')
DONE = '0, or a negative error number.'
# a table of errors, in the comment at the top
TABLE = re.compile(r'^\t-(E\w+)\s+(.*(?:\n\t\t.*)*)', re.M)
PROTOTYPE = re.compile(r'^([\w ]+?[ *]+)(dealbox_\w+)\(([^;]*)\);', re.M)
FUNCTION = re.compile(r'\b(dealbox_\w+)\(')


def plain(comment):
    """Return the text of a comment without its stars."""
    lines = [re.sub(r'^\s*\* ?', '', line) for line in comment.strip('*\n ').split('\n')]
    return '\n'.join(line.rstrip() for line in lines).strip()


def escape(line):
    line = line.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + line if line[:1] in ("'", '.') else line


def sentences(paragraph):
    joined = ' '.join(line.strip() for line in paragraph.split('\n'))
    return [sentence for sentence in re.split(r'(?<=[.!?])(?<!\.\.) +', joined) if sentence]


def blocks(text):
    """Return the paragraphs of a comment: (kind, content); parameters of kernel-doc are a list of pairs."""
    for paragraph in re.split(r'\n\s*\n', text):
        head, *parameters = re.split(r'^@(?=\w+:)', paragraph, flags=re.M)
        if parameters:
            yield 'text', sentences(head)
            yield 'parameters', [tuple(' '.join(p.split()).split(': ', 1)) for p in parameters]
        elif any(line.startswith(('\t', '  ')) for line in paragraph.split('\n')):
            yield 'literal', paragraph.split('\n')
        else:
            yield 'text', sentences(paragraph)


def paragraphs(text, elsewhere=()):
    """Return mdoc for the paragraphs of a comment, except sentences that stand elsewhere."""
    out = []
    for kind, content in blocks(text):
        if kind == 'literal':
            out += ['.Bd -literal -offset indent', *map(escape, content), '.Ed']
        elif kind == 'parameters':
            out.append('.Bl -tag -width Ds')
            for name, what in content:
                out += [f'.It Fa {name}', *map(escape, sentences(what))]
            out.append('.El')
        else:
            here = [escape(sentence) for sentence in content if sentence not in elsewhere]
            out += ['.Pp', *here] if here else []
    return out


def returned(comment, prototype):
    """Return the description of the return value, and the sentences of the comment that it uses."""
    kind, parameters = prototype
    said = [s for what, content in blocks(comment) if what == 'text' for s in content
            # the title of kernel-doc
            if not re.match(r'dealbox_\w+ - ', s)] or ['']
    if kind == 'void' or not comment:
        return [], []
    told = [s for s in said if VALUE.search(s) or '*' in kind and POINTER.search(s)]
    before = [s if not re.search(r'-E[A-Z]', s) else re.split(r'[,;]?( or| else)? ?-E[A-Z]', s)[0].strip(': ')
              for s in told]
    before = [DONE if s in ('0', 'Returns 0') else s for s in before if s]
    if '*' in kind and said[0] and said[0] not in before:
        before.insert(0, said[0])
    if before:
        # the first sentence tells what the function does, and stays there
        return before, [s for s in told if s != said[0]]
    if kind == 'bool':
        return [f"True if {'the answer is yes' if said[0].endswith('?') else 'so'}: {said[0]}"], []
    changes = [p for p in parameters.split(',') if '*' in p and 'const' not in p]
    if kind == 'int' and (changes or re.match(r'[A-Z]\w+s\b', said[0])):
        return [DONE], []
    return [re.split(r'[,;.]? -E[A-Z]', said[0])[0].rstrip('.') + '.'], []


def errors(comment):
    """Return the errors in a comment: (name, reason), and the sentences that contain nothing else."""
    found, only = [], []
    said = [s for what, content in blocks(comment) if what == 'text' for s in content]
    for sentence in said:
        begin, *parts = re.split(r'(?<![\w(])-(?=E[A-Z0-9]+\b)', sentence)
        for part in parts:
            name, reason = re.match(r'(\w+)[:,;.]?\s*(.*)', part).groups()
            reason = re.sub(r'(^|[,; ]+)(or|and|else)?$', '', reason.rstrip('. '))
            reason = re.sub(r'^\(([^()]*)\)$', r'\1', reason)
            found.append((name, reason or os.strerror(getattr(errno, name)).lower()))
        if parts and not begin:
            only.append(sentence)
    if re.search(r'\b[Ss]ame errors|^The same\b', comment):
        found.append((None, None))
    return found, only


def prototypes(code):
    """Return the functions that a piece of code declares: (type, name, parameters)."""
    code = re.sub(r'\s*\n\s+', ' ', re.sub(r'([*\w])\n(dealbox_)', r'\1 \2', code))
    return [(kind.strip(), name, parameters) for kind, name, parameters in PROTOTYPE.findall(code)]


def return_values(described):
    by_text = {}
    for comment, functions in described:
        for kind, name, parameters in functions:
            text = tuple(returned(comment, (kind, parameters))[0])
            if text:
                by_text.setdefault(text, []).append(name)
    out = []
    for text, names in by_text.items():
        out += ['.It Fn ' + ' , Fn '.join(names), *(escape(s if s[-1] in '.?!' else s + '.') for s in text)]
    return ['.Sh RETURN VALUES', '.Bl -tag -width Ds', *out, '.El'] if out else []


def error_list(described, intro):
    """Return the section ERRORS: each error with its meaning and functions."""
    found = {}
    for name, reason in TABLE.findall(intro):
        found.setdefault(name, []).append(escape(' '.join(reason.split()) + '.'))
    before = []
    for comment, functions in described:
        own = errors(comment)[0]
        if (None, None) in own:
            own = before + [e for e in own if e[0]]
        for name, reason in own:
            # one line names the functions, one says why
            calls = [f'.Fn {function}{" :" if n == len(functions) else " ,"}'
                     for n, (_, function, _) in enumerate(functions, 1)]
            found.setdefault(name, []).append('\n'.join([*calls, escape(reason) + '.']))
        before = own
    out = []
    for name in sorted(found):
        out.append(f'.It Bq Er {name}')
        for n, text in enumerate(found[name]):
            out += (['.Pp'] if n else []) + [text]
    return ['.Sh ERRORS', '.Bl -tag -width Er', *out, '.El'] if out else []


def threads(described, opaque):
    """Return the section THREADS: functions that change an object that others may hold, by type."""
    changed = {}
    for _, functions in described:
        for _, name, parameters in functions:
            for kind in re.findall(r'(?<!const )struct (dealbox_\w+) \*(?!\*)', parameters):
                if kind in opaque:
                    changed.setdefault(kind, []).append(name)
    out = ['.Sh THREADS', 'The library has no variables of its own: threads meet in objects only.']
    for kind, names in changed.items():
        out += ['.Pp', 'One thread at a time may use a', f'.Vt struct {kind}', 'while one of these is called for it:']
        out += [f'.Fn {name} ,' for name in names[:-1]] + [f'.Fn {names[-1]} .']
    if changed:
        out.append('.Pp')
    return out + [f"All{' other' if changed else ''} calls may be made by any number of threads at once,",
                  'each with memory of its own for what it gets.']


def declarations(code):
    """Return the declarations of a piece of code: functions, or the text of a type or macro."""
    code = re.sub(r'^\s*(#ifn?def|#if|#endif|#include|#else|extern "C"|\}\s*$).*\n?', '', code, flags=re.M)
    code = code.replace('DEALBOX_API ', '').strip('\n')
    return code if code.strip() else ''


def pieces(body):
    """Yield pairs of a comment and the code after it, to the next comment at the margin."""
    # a comment at the margin begins a piece; all others belong to the code around them
    parts = re.split(r'^/\*(.*?)\*/\n', body, flags=re.S | re.M)
    for comment, code in zip(parts[1::2], parts[2::2]):
        # code after an empty line has no comment of its own
        blocks = re.split(r'\n\s*\n', '\n' + code.rstrip('\n'))
        yield plain(comment), declarations(blocks[0])
        for block in blocks[1:]:
            rest = declarations(block)
            if rest:
                yield '', rest


def example(header, programs):
    """Return the section EXAMPLES: the programs that include a header."""
    out = []
    for path in programs:
        text = path.read_text(encoding='utf-8')
        if f'#include <dealbox/{header.name}>' in text:
            intro = plain(TOP.search(text).group(1))
            code = text[text.index('*/') + 2:].strip('\n')
            out += ['.Pp', *map(escape, sentences(intro)), '.Bd -literal',
                    *(escape(line) or '\\&' for line in code.split('\n')), '.Ed']
    return ['.Sh EXAMPLES', *out[1:]] if out else []


def page(header, date, docs, opaque, programs):
    text = re.sub(r'\bdocs/', f'{docs}/', header.read_text(encoding='utf-8'))
    name = 'dealbox_' + header.stem
    text = re.sub(r'^/\* SPDX.*?\*/\n', '', text)
    intro = plain(TOP.search(text).group(1))
    body = text[text.index('*/') + 2:]
    title = re.split(r'[.]\s', ' '.join(intro.split('\n\n')[0].split()) + ' ')[0].strip(': ')
    functions, sections = [], []

    for comment, code in pieces(body):
        inline = code.startswith(('#define', 'static inline'))
        found = [] if inline else [f for f in FUNCTION.findall(code)
                                   if re.search(r'^[^\t#][^;{]*\b' + f + r'\(', code, re.M)]
        functions += found
        sections.append((comment, code, found))

    names = functions or [name]
    out = ['.\\" SPDX-License-Identifier: CC-BY-SA-4.0',
           '.\\" Made from the header: change the comment there.',
           f'.Dd {date}', f'.Dt {name.upper()} 3', '.Os dealbox', '.Sh NAME']
    out += [f'.Nm {n} ,' for n in names[:-1]] + [f'.Nm {names[-1]}']
    out += [f'.Nd {escape(title[:1].lower() + title[1:] if title[1:2].islower() else title)}',
            '.Sh LIBRARY', 'card\\-dealing machines (libdealbox, \\-ldealbox)',
            '.Sh SYNOPSIS', f'.In dealbox/{header.name}', '.Sh DESCRIPTION']
    described = paragraphs(TABLE.sub('', intro))
    out += described[1:] if described[:1] == ['.Pp'] else described
    for comment, code, found in sections:
        heading = HEADING.fullmatch(comment)
        if heading:
            out.append(f'.Ss {heading[1].capitalize()}')
            continue
        if found:
            out.append(f'.Ss {", ".join(found)}')
        if code:
            out += ['.Bd -literal', *[escape(line) for line in code.split('\n')], '.Ed']
        if comment:
            elsewhere = set(errors(comment)[1])
            for kind, _, parameters in prototypes(code):
                elsewhere |= set(returned(comment, (kind, parameters))[1])
            out += paragraphs(comment, elsewhere)
    callable_ = [(comment, prototypes(code)) for comment, code, found in sections if found]
    out += return_values(callable_) + example(header, programs) + error_list(callable_, intro)
    out += threads(callable_, opaque) if callable_ else []
    out += ['.Sh SEE ALSO', '.Xr dealbox 1']
    text = '\n'.join(out) + '\n'
    # mdoc has no empty lines, and no paragraph before a display
    text = re.sub(r'\n\n+', '\n', text)
    text = re.sub(r'\.Pp\n(\.Bd|\.Ss|\.Sh)', r'\1', text)
    return name, functions, text


def main(folder, date, docs, *files):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = [pathlib.Path(file) for file in files]
    headers = [file for file in files if file.suffix == '.h']
    programs = [file for file in files if file.suffix == '.c']
    # types whose fields only the library knows
    opaque = {name for header in headers
              for name in re.findall(r'^struct (dealbox_\w+);', header.read_text(encoding='utf-8'), re.M)}
    for header in headers:
        name, functions, text = page(header, date, docs, opaque, programs)
        (folder / f'{name}.3').write_text(text, encoding='utf-8')
        for function in functions:
            if function != name:
                (folder / f'{function}.3').write_text(f'.so man3/{name}.3\n', encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
