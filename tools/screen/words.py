#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""words.py OUT TABLE SOURCE.js .. -- NAME.po ..: makes the ES module that has every text of the page

TABLE is what operator-table prints: the states, with the sentences of the library. The texts of the page
itself are found in its sources by xgettext. Translations of both are in the catalogues, several of which
may be of one language. A text that a language lacks is an error: the page would be in two languages.
"""
import gettext
import json
import os
import re
import subprocess
import sys
import tempfile

KEYWORDS = ['--keyword', '--keyword=N_', '--keyword=P_:1,2']


def run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def texts_of(folder, sources):
    """The texts in these sources, as gettext has them: singular, or (singular, plural)."""
    template = os.path.join(folder, 'page.pot')
    run('xgettext', '--language=JavaScript', '--from-code=UTF-8', '--force-po', *KEYWORDS, '-o', template, *sources)
    found = []
    for entry in open(template, encoding='utf-8').read().split('\n\n')[1:]:
        words = {}
        for name, text in re.findall(r'^(msgid|msgid_plural) ((?:".*"\n?)+)', entry, re.M):
            words[name] = ''.join(json.loads(part) for part in re.findall(r'".*"', text))
        if words.get('msgid'):
            found.append((words['msgid'], words['msgid_plural']) if 'msgid_plural' in words else words['msgid'])
    return found


def texts_in(table):
    found = [table['voidBoard'], table['voidShuffled'], *table['places'], *table['seats']]
    found += [state[name] for state in table['states'] for name in ('says', 'behind', 'shuffled', 'keeper')]
    found += [detail['text'] for detail in table['details']]
    for problem in table['problems'].values():
        found.append(problem['text'] if problem['one'] == problem['text'] else (problem['one'], problem['text']))
    return [text for text in found if text]


def catalogue(folder, path):
    compiled = os.path.join(folder, 'mo')
    run('msgfmt', '--check-format', '--check-domain', '-o', compiled, path)
    with open(compiled, 'rb') as file:
        return gettext.GNUTranslations(file)


def typeset(language, text):
    """French has a space before these signs, at which no line may end."""
    return re.sub(' ([;:?!»])', '\u00a0\\1', text) if language == 'fr' else text


def fields(text):
    return set(re.findall(r'{\w+}', text))


def main(out, table, *rest):
    with open(table, encoding='utf-8') as file:
        table = json.load(file)
    sources, catalogues = rest[:rest.index('--')], rest[rest.index('--') + 1:]
    words = {'en': {}}
    missing = []
    with tempfile.TemporaryDirectory() as folder:
        texts = texts_in(table) + texts_of(folder, sources)
        for text in texts:
            if isinstance(text, tuple):
                words['en'][text[0]] = list(text)
        languages = {}
        for path in catalogues:
            name = os.path.splitext(os.path.basename(path))[0]
            languages.setdefault(name, []).append(catalogue(folder, path))
        for name, of in languages.items():
            words[name] = {}
            known = {key: value for one in of for key, value in one._catalog.items()}
            for text in texts:
                first = text[0] if isinstance(text, tuple) else text
                if isinstance(text, tuple):
                    value = []
                    while (first, len(value)) in known:
                        value.append(known[first, len(value)])
                else:
                    value = known.get(first)
                forms = value if isinstance(value, list) else [value] if value else []
                if not forms:
                    missing.append('%s: no translation of "%s"' % (name, first))
                    continue
                for form in forms:
                    if not fields(form) <= fields(first) or len(forms) == 1 and fields(form) != fields(first):
                        missing.append('%s: "%s" has other fields than "%s"' % (name, form, first))
                words[name][first] = [typeset(name, form) for form in forms] if isinstance(value, list) else typeset(name, value)
    if missing:
        sys.exit('\n'.join(missing))
    with open(out, 'w', encoding='utf-8') as file:
        file.write('// Made by words.py: do not edit.\n')
        file.write('export const table = %s;\n' % json.dumps(table, ensure_ascii=False, indent=0))
        file.write('export const words = %s;\n' % json.dumps(words, ensure_ascii=False, indent=0))


main(*sys.argv[1:])
