# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small breakages of a C source, one at a time.

The source is read as tokens, not as a syntax tree. Where a token does not have its usual meaning,
the breakage does not compile, and is counted as such.
"""

import re
from typing import NamedTuple

TOKEN = re.compile(r'''
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>\.?\d(?:[eE][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\.\.\.|[-+*/%&|^]=|.)
''', re.VERBOSE | re.DOTALL | re.MULTILINE)

COMPARISONS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
SIGNS = {'&&': '||', '||': '&&', '+=': '-=', '-=': '+='}
CONSTANTS = {'0': '1', '1': '0', '0u': '1u', '1u': '0u', 'true': 'false', 'false': 'true'}
# a statement that begins with one of these is a declaration, or is more than one statement
NO_STATEMENT = set('if else for while do switch case default struct enum union static const '
                   'unsigned signed int char bool long short void double goto'.split())


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Breakage(NamedTuple):
    function: str
    line: str       # its text in the source, stripped
    number: int     # the line number, for people
    change: str     # in words; "no. 2" and so on if line and change occur again in the function
    start: int
    end: int
    text: str       # replaces the source from start to end


class Source:
    """The tokens of a file, and the brackets and the function around each."""

    def __init__(self, text):
        self.text = text
        self.tokens = [Token(match.lastgroup, match.group(), match.start(), match.end())
                       for match in TOKEN.finditer(text) if match.lastgroup != 'skip']
        self.partner = {}       # opening bracket: closing bracket
        self.inside = []        # token: the innermost bracket around it
        self.function = []      # token: the name of its function
        stack, function = [], ''
        for i, token in enumerate(self.tokens):
            if token.text in ('(', '[', '{'):
                self.inside.append(stack[-1] if stack else None)
                if not stack and token.text == '{':
                    function = self._name_before(i)
                stack.append(i)
            elif token.text in (')', ']', '}') and stack:
                self.partner[stack[-1]] = i
                stack.pop()
                self.inside.append(stack[-1] if stack else None)
            else:
                self.inside.append(stack[-1] if stack else None)
            self.function.append(function)
            if not stack and token.text in ('}', ';'):
                function = ''

    def _name_before(self, brace):
        """Return the name of the function whose body begins here, or ''."""
        if not brace or self.tokens[brace - 1].text != ')':
            return ''
        for i, end in self.partner.items():
            if end == brace - 1:
                return self.tokens[i - 1].text
        return ''

    def after(self, i):
        return self.tokens[i + 1].text if i + 1 < len(self.tokens) else ''

    def in_for(self, i):
        around = self.inside[i]
        while around is not None:
            if self.tokens[around].text == '(' and self.tokens[around - 1].text == 'for':
                return True
            around = self.inside[around]
        return False

    def begins_statement(self, i):
        """Return true if a statement of a function begins with this token."""
        around = self.inside[i]
        if not self.function[i] or around is None or self.tokens[around].text != '{':
            return False
        before = self.tokens[i - 1].text
        if before == ')':
            head = next((start for start, end in self.partner.items() if end == i - 1), 0)
            return self.tokens[head - 1].text in ('if', 'for', 'while', 'switch')
        if before == ':':
            return any(self.tokens[j].text in ('case', 'default') for j in range(i - 4, i - 1))
        return before in (';', '{', '}', 'else')

    def end_of_statement(self, i):
        """Return the semicolon that ends the statement, or None if it has none of its own."""
        around = self.inside[i]
        while i < len(self.tokens):
            if self.tokens[i].text == ';' and self.inside[i] == around:
                return i
            if self.tokens[i].text == '}' and around is not None and i == self.partner.get(around):
                return None
            i += 1
        return None

    def declares(self, i):
        """Return true if a declaration begins here, with the name of a type."""
        if self.tokens[i].kind != 'name':
            return False
        j = i + 1
        while self.tokens[j].text == '*':
            j += 1
        return self.tokens[j].kind == 'name'


    def is_block(self, brace):
        """Return true if statements stand between these braces, and no initial values."""
        before, around = self.tokens[brace - 1].text, self.inside[brace]
        if around is None:
            return bool(self.function[brace + 1])
        if before == ')':
            head = next((start for start, end in self.partner.items() if end == brace - 1), 0)
            return self.tokens[head - 1].text in ('if', 'for', 'while', 'switch')
        return before in ('else', 'do') or (before in (';', '{', '}', ':') and
                                            self.tokens[around].text == '{' and self.is_block(around))

    def marks(self, function):
        """
        Return calls that note what of a function is reached, as [(offset, text)], and what each
        stands for, as [(number, start, end)]. {} in a text is the place of the number.
        """
        calls, places, opened = [], [], {end: start for start, end in self.partner.items()}
        open_brace, close_brace = function

        def add(start, end, *texts):
            places.append((self.tokens[start].start, self.tokens[end].end))
            calls.extend((at, text.replace('{}', str(self.tokens[start].start))) for at, text in texts)

        for i in range(open_brace + 1, close_brace):
            token, before, around = self.tokens[i], self.tokens[i - 1].text, self.inside[i]
            if token.text in ('if', 'while', 'switch') and self.after(i) == '(':
                add(i + 1, self.partner[i + 1],
                    (self.tokens[i + 1].end, 'mutation_reached({}), '))
            if (not self.begins_statement(i) or token.kind not in ('name', 'sign') or
                    token.text in ('}', '{', ';', 'else', 'case', 'default', 'if', 'while', 'switch', 'do') or
                    self.after(i) == ':' or not self.is_block(around)):
                continue
            if before == '}' and not self.is_block(opened[i - 1]):
                continue        # the name behind a struct
            braces = before in (')', 'else')    # the body of an if or a loop, without braces
            if token.text == 'for':
                if not braces:
                    add(i, self.partner[i + 1], (token.start, 'mutation_reached({}); '))
                continue
            end = self.end_of_statement(i)
            if end is None or (before == ':' and token.text != 'return' and
                               (token.text in NO_STATEMENT or self.declares(i))):
                continue
            if braces:
                add(i, end, (token.start, '{ mutation_reached({}); '), (self.tokens[end].end, ' }'))
            else:
                add(i, end, (token.start, 'mutation_reached({}); '))
        return calls, places

    def functions(self):
        """Return the braces of each function's body."""
        return [(i, end) for i, end in sorted(self.partner.items())
                if self.inside[i] is None and self.tokens[i].text == '{' and self.function[i + 1]]

    def labels(self, function):
        """Return the names of a function's labels."""
        return [self.tokens[i].text for i in range(function[0] + 1, function[1])
                if self.tokens[i].kind == 'name' and self.after(i) == ':' and
                self.tokens[i].text != 'default' and self.tokens[i - 1].text in (';', '{', '}') and
                self.tokens[self.inside[i]].text == '{']


def switched(text, broken):
    """
    Return a source with many breakages, of which mutation_number selects one at run time; and the
    part of each function that each call of mutation_reached() is in, as [(start, end)].

    broken is [(number, breakage)], each within a function. In messages of the compiler, the
    name of the file is m and the number.
    """
    source = Source(text)
    pieces, done, places = [], 0, []
    for function in source.functions():
        first, last = source.tokens[function[0]].end, source.tokens[function[1]].start
        labels = source.labels(function)
        local = f'__label__ {", ".join(labels)};' if labels else ''
        calls, found = source.marks(function)
        places += [(source.tokens[function[0]].start, source.tokens[function[1]].end)] + found
        body, at = [], first
        for where, call in sorted(calls):
            body += [text[at:where], call]
            at = where
        body.append(text[at:last])
        pieces += [text[done:first], ' extern int mutation_number; extern void mutation_reached(unsigned int);'
                   f' mutation_reached({source.tokens[function[0]].start}); switch (mutation_number) {{\n']
        for number, breakage in broken:
            if first <= breakage.start and breakage.end <= last:
                pieces += [f'case {number}:\n# 1 "m{number}"\n{{ {local} ', text[first:breakage.start],
                           breakage.text, text[breakage.end:last], '\n} break;\n']
        pieces += [f'default:\n# 1 "whole"\n{{ {local} ', *body, '\n} }\n']
        done = last
    pieces.append(text[done:])
    return ''.join(pieces), places


def within_functions(text, broken):
    """Return those breakages, of [(number, breakage)], that are within a function."""
    source = Source(text)
    bodies = [(source.tokens[first].end, source.tokens[last].start) for first, last in source.functions()]
    return [pair for pair in broken
            if any(start <= pair[1].start and pair[1].end <= end for start, end in bodies)]


def breakages(text):
    """Return all breakages of this source, in the order of its lines."""
    source = Source(text)
    lines = text.split('\n')
    found = []

    def add(first, last, replacement, change):
        start, end = source.tokens[first].start, source.tokens[last].end
        number = text.count('\n', 0, start) + 1
        found.append(Breakage(source.function[first], lines[number - 1].strip(), number, change,
                              start, end, replacement))

    for i, token in enumerate(source.tokens):
        function, before = source.function[i], source.tokens[i - 1] if i else None
        binary = before is not None and (before.kind in ('name', 'number') or
                                         before.text in (')', ']')) and before.text != 'return'
        if token.text in CONSTANTS:
            add(i, i, CONSTANTS[token.text], f'{token.text} -> {CONSTANTS[token.text]}')
        if not function:
            continue
        if token.text in COMPARISONS and binary:
            add(i, i, COMPARISONS[token.text], f'{token.text} -> {COMPARISONS[token.text]}')
        elif token.text in SIGNS:
            add(i, i, SIGNS[token.text], f'{token.text} -> {SIGNS[token.text]}')
        elif token.text in ('+', '-') and binary:
            other = '-' if token.text == '+' else '+'
            add(i, i, other, f'{token.text} -> {other}')
        elif token.text in ('++', '--') and not source.in_for(i):
            other = '--' if token.text == '++' else '++'
            add(i, i, other, f'{token.text} -> {other}')
        elif token.text == '!':
            add(i, i, '', '! taken out')
        elif token.text == '?':
            add(i, i, '== 0 ?', '? negated')
        elif token.text in ('if', 'while') and source.after(i) == '(':
            end = source.partner[i + 1]
            condition = [t.text for t in source.tokens[i + 2:end]]
            turned = sum(word in ('==', '!=', '!') for word in condition)
            joined = '&&' in condition or '||' in condition
            if joined or turned != 1:       # a single comparison was swapped above
                add(i + 1, end, '(!' + text[source.tokens[i + 1].start:source.tokens[end].end] + ')',
                    'condition negated')
        if not source.begins_statement(i) or token.text in NO_STATEMENT:
            continue
        end = source.end_of_statement(i)
        if end is None or token.text in ('}', ';', '{') or source.declares(i) and token.text != 'return':
            continue
        if token.text == 'return' and end > i + 1:
            value = text[source.tokens[i + 1].start:source.tokens[end - 1].end]
            if value not in CONSTANTS:
                add(i + 1, end - 1, '0', 'returns 0')
        elif text[token.start:].startswith('(void)') and end <= i + 4:
            continue
        else:
            # keep the line numbers of what follows
            add(i, end, ';' + '\n' * text.count('\n', token.start, source.tokens[end].end),
                'taken out')

    # number repetitions of the same change of the same text in a function
    counts = {}
    for n, breakage in enumerate(found):
        key = (breakage.function, breakage.line, breakage.change)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] > 1:
            found[n] = breakage._replace(change=f'{breakage.change} (no. {counts[key]})')
    return found
