#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Makes the manual pages of the library from its headers.

A page for each header: what the comment at its top says, then each comment with the
declarations that follow it. A comment before an empty line is about what comes after it: a paragraph
by itself, or, between dashes, a heading. A paragraph of a comment is a paragraph of the page; lines that
are indented there are kept as they are.

"docs/" in a comment is the folder DOCS in the page, where the documentation is installed.

usage: pages.py FOLDER DATE DOCS HEADER...   writes the pages into FOLDER
"""
import pathlib
import re
import sys

TOP = re.compile(r'/\*(.*?)\*/', re.S)
HEADING = re.compile(r'-{4} (.*?) -{4,}')
FUNCTION = re.compile(r'\b(dealbox_\w+)\(')


def plain(comment):
    """The text of a comment without its stars."""
    lines = [re.sub(r'^\s*\* ?', '', line) for line in comment.strip('*\n ').split('\n')]
    return '\n'.join(line.rstrip() for line in lines).strip()


def escape(line):
    line = line.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + line if line[:1] in ("'", '.') else line


def paragraphs(text):
    """mdoc for the paragraphs of a comment."""
    out = []
    for paragraph in re.split(r'\n\s*\n', text):
        lines = paragraph.split('\n')
        if any(line.startswith(('\t', '  ')) for line in lines):
            out += ['.Bd -literal -offset indent', *map(escape, lines), '.Ed']
            continue
        out.append('.Pp')
        joined = ' '.join(line.strip() for line in lines)
        out += [escape(sentence) for sentence in re.split(r'(?<=[.!?]) +', joined) if sentence]
    return out


def declarations(code):
    """What a piece of code declares: its functions, or the text of a type or macro."""
    code = re.sub(r'^\s*(#ifn?def|#if|#endif|#include|#else|extern "C"|\}\s*$).*\n?', '', code, flags=re.M)
    code = code.replace('DEALBOX_API ', '').strip('\n')
    return code if code.strip() else ''


def pieces(body):
    """Pairs of comment and the code that follows it, to the next comment at the margin."""
    # a comment at the margin begins a piece; all others belong to the code around them
    parts = re.split(r'^/\*(.*?)\*/\n', body, flags=re.S | re.M)
    for comment, code in zip(parts[1::2], parts[2::2]):
        # what stands behind an empty line has no comment of its own
        blocks = re.split(r'\n\s*\n', '\n' + code.rstrip('\n'))
        yield plain(comment), declarations(blocks[0])
        for block in blocks[1:]:
            rest = declarations(block)
            if rest:
                yield '', rest


def page(header, date, docs):
    text = re.sub(r'\bdocs/', f'{docs}/', header.read_text(encoding='utf-8'))
    name = 'dealbox_' + header.stem
    text = re.sub(r'^/\* SPDX.*?\*/\n', '', text)
    intro = plain(TOP.search(text).group(1))
    body = text[text.index('*/') + 2:]
    title = re.split(r'[.]\s', ' '.join(intro.split('\n\n')[0].split()) + ' ')[0].strip()
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
    described = paragraphs(intro)
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
            out += paragraphs(comment)
    out += ['.Sh SEE ALSO', '.Xr dealbox 1']
    text = '\n'.join(out) + '\n'
    # mdoc has no empty lines, and no paragraph before a display
    text = re.sub(r'\n\n+', '\n', text)
    text = re.sub(r'\.Pp\n(\.Bd|\.Ss|\.Sh)', r'\1', text)
    return name, functions, text


def main(folder, date, docs, *headers):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for header in map(pathlib.Path, headers):
        name, functions, text = page(header, date, docs)
        (folder / f'{name}.3').write_text(text, encoding='utf-8')
        for function in functions:
            if function != name:
                (folder / f'{function}.3').write_text(f'.so man3/{name}.3\n', encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
