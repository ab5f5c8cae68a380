#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes one C file of the gettext catalogues: embed.py OUT NAME.po ..

The library finds a translation by the language asked for, not by the locale of
the process: a kiosk has none installed, and a library keeps no global state.
"""
import gettext
import os
import re
import subprocess
import sys
import tempfile


def quote(text):
    octets = text.encode()
    return '"' + ''.join(chr(c) if 32 <= c < 127 and c not in b'"\\?' else '\\%03o' % c
                         for c in octets) + '"'


def formats(text):
    """Return the fields of a message, in order: printf's conversions and our own fields."""
    return re.findall(r'%[a-z]+', text), sorted(re.findall(r'{[a-z_]+}', text))


def plural_rule(name, header):
    """Return a C function for the rule that the catalogue's header has, which gettext writes in C."""
    rule = re.search(r'^Plural-Forms: *nplurals=([1-3]); *plural=([n0-9%=!<>&|?: ()]+);$', header, re.M)
    if not rule:
        sys.exit('%s.po: its header has no Plural-Forms, or more forms than cards/messages.h' % name)
    return ['static unsigned int %s_form(unsigned long n)' % name, '{', '\treturn %s;' % rule.group(2), '}', '']


def main(out, *catalogues):
    lines = ['/* Made by po/embed.py from po/: do not edit. */',
             '#include "cards/messages.h"', '']
    names = []
    for po in catalogues:
        name = os.path.splitext(os.path.basename(po))[0]
        with tempfile.TemporaryDirectory() as folder:
            mo = os.path.join(folder, 'mo')
            subprocess.run(['msgfmt', '--check-format', '--check-domain', '-o', mo, po], check=True)
            with open(mo, 'rb') as file:
                found = gettext.GNUTranslations(file)._catalog
        # a message with a number has the key (message, form)
        messages = {}
        for k, v in sorted(found.items(), key=str):
            k, form = k if isinstance(k, tuple) else (k, 0)
            if k and formats(k) != formats(v):
                sys.exit('%s: "%s" has other fields than "%s"' % (po, v, k))
            messages.setdefault(k, ['NULL'] * 3)[form] = quote(v)
        lines += plural_rule(name, found[''])
        messages = sorted((k.encode(), k, ', '.join(v)) for k, v in messages.items() if k)
        lines.append('static const struct law_message %s[] = {' % name)
        lines += ['\t{ %s,\n\t  { %s } },' % (quote(k), v) for _, k, v in messages]
        lines += ['};', '']
        names.append((name, len(messages)))
    lines.append('const struct law_catalogue law_catalogues[] = {')
    lines += ['\t{ "%s", %s_form, %s, %d },' % (name, name, name, count) for name, count in names]
    lines += ['};', '', 'const size_t law_catalogue_count = %d;' % len(names), '']
    with open(out, 'w', encoding='ascii') as file:
        file.write('\n'.join(lines))


main(*sys.argv[1:])
