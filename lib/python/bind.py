#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Writes the source of the module that Python imports, and the documentation of its functions, from
the public headers. Nothing is compiled or run, so this also serves a build for another computer.

usage: bind.py MODULE SOURCE DOCUMENTATION HEADER...
"""
import re
import sys

import cffi

TYPES = {'__u8': 'uint8_t', '__u16': 'uint16_t', '__u32': 'uint32_t', '__u64': 'uint64_t',
         '__aligned_u64': 'uint64_t'}
COMMENT = re.compile(r'/\*.*?\*/', re.S)
# what the module calls back
CALLBACKS = """
extern "Python" void python_ruling(const struct dealbox_ruling *ruling, void *context);
extern "Python" void python_happening(const struct dealbox_happening *happening, void *context);
extern "Python" int python_finding(const struct dealbox_audit_finding *finding, void *context);
void free(void *pointer);
"""


def without_bodies(text):
    """Functions that a header defines become declarations."""
    while found := re.search(r'static inline ([^{;]*\))\s*{', text):
        depth, end = 1, found.end()
        while depth:
            depth += {'{': 1, '}': -1}.get(text[end], 0)
            end += 1
        text = text[:found.start()] + found[1] + ';' + text[end:]
    return text


def names_only(enum):
    """The compiler fills in the values of an enum."""
    names = re.findall(r'(?:^|,)\s*(\w+)', enum[2])
    return 'enum %s { %s, ... };' % (enum[1], ', '.join(names))


def in_order(paths):
    """The texts of the headers, each behind those that it includes."""
    texts, found = {}, []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            texts['/'.join(path.split('/')[-2:])] = file.read()

    def add(name):
        text = texts.pop(name, None)
        if text is not None:
            for other in re.findall(r'^#include <(\w+/\w+\.h)>', text, re.M):
                add(other)
            found.append(text)

    for name in list(texts):
        add(name)
    return found


def length(size, numbers):
    """Of an array: 13, SIZE, SIZE + 1."""
    return '[%d]' % sum(int(numbers.get(part, part)) for part in re.split(r'\s*\+\s*', size[1]))


def declarations(headers):
    """What cffi is to know. Macros with a value become constants that the compiler fills in."""
    numbers = {}
    constants, out = [], []
    for text in headers:
        text = COMMENT.sub(' ', text).replace('\\\n', ' ')
        text = re.sub(r'^#ifdef __cplusplus.*?^#endif', '', text, flags=re.S | re.M)
        for name, value in re.findall(r'^#define[ \t]+(\w+)[ \t]+(\S.*)$', text, re.M):
            if re.fullmatch(r'\d+', value.strip()):
                numbers[name] = value.strip()
            # texts, initialisers, and what is no value
            if not re.search(r'^["{]|^__attribute__', value):
                constants.append('#define %s ...' % name)
        text = re.sub(r'^#.*$', '', text, flags=re.M)
        text = without_bodies(text.replace('DEALBOX_API ', ''))
        text = re.sub(r'\benum (\w+) {([^}]*)}\s*;', names_only, text)
        # cffi writes no valid C for pointers to constant arrays; such a member cannot be reached
        text = re.sub(r'\bconst \w+ \(\*\w+\)\[\w+\];([^{}]*)}', r'\1 ...; }', text)
        text = re.sub(r'\b__\w+', lambda word: TYPES.get(word[0], word[0]), text)
        out.append(text)
    text = re.sub(r'\[([^\]]+)\]', lambda size: length(size, numbers), '\n'.join(out))
    return '\n'.join(constants) + text


def sentences(comment):
    """A comment as plain text."""
    lines = [re.sub(r'^\s*(/\*+|\*/|\*)? ?|\s*\*/$', '', line) for line in comment.splitlines()]
    return '\n'.join(lines).strip()


def documentation(headers):
    """Function or structure -> the comment in front of it."""
    docs = {}
    for text in headers:
        for comment, code in re.findall(r'(/\*(?:[^*]|\*(?!/))*\*/)\n((?:(?!/\*).+\n)+)', text):
            code = COMMENT.sub('', code)
            names = re.findall(r'^DEALBOX_API [^;(]*?(\w+)\(', code, re.M)
            if names and not re.match(r'(DEALBOX_API|static inline)', code):
                continue
            names += re.findall(r'\Astruct (\w+) {', code)
            docs.update((name, sentences(comment)) for name in names)
    return docs


def main(module, source, documents, *headers):
    texts = in_order(headers)
    ffi = cffi.FFI()
    ffi.cdef(declarations(texts) + CALLBACKS)
    ffi.set_source(module, '#include <stdlib.h>\n#include <dealbox/dealbox.h>\n#include "bulk.h"\n')
    ffi.emit_c_code(source)
    with open(documents, 'w', encoding='utf-8') as file:
        file.write('"""Comments of the headers: function or structure -> text."""\nDOCS = {\n')
        for name, text in sorted(documentation(texts).items()):
            file.write('    %r:\n        %r,\n' % (name, text))
        file.write('}\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
