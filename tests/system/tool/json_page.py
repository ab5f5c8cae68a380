# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/json.md as tables, and the comparison of what a command wrote with it."""

import json
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
PAGE = os.path.join(FOLDER, "docs/json.md")
TYPES = {"text": str, "integer": int, "number": float, "boolean": bool, "object": dict}


def words(cell):
    return [word.strip("` ") for word in cell.split(",") if word.strip()]


def table(text, head):
    """The rows of the table with that first heading; a row without a name goes on with the one above."""
    rows = text.split("\n| %s |" % head, 1)[1].split("\n\n", 1)[0].split("\n")[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


class Page:
    def __init__(self):
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        rows = table(text, "key")
        self.keys = {row[0].strip("`"): row[1] for row in rows}
        assert [row[0] for row in rows] == sorted({row[0] for row in rows}), "the keys are not in order, or one is there twice"
        self.objects = {}
        last = None
        for name, always, known in table(text, "object"):
            last = name.strip("`") or last
            entry = self.objects.setdefault(last, (set(), set()))
            entry[0].update(words(always))
            entry[1].update(words(known))
        self.lines = {}         # command, kind -> keys that are always there, and those that may be
        command = kinds = None
        for first, second, always, known in table(text, "command"):
            command, kinds = words(first)[0] if first else command, words(second) or kinds
            for kind in kinds:
                entry = self.lines.setdefault((command, kind), (set(), set()))
                other = re.fullmatch("as in `(.*)`", always)
                from_keys = self.lines[other[1], kind] if other else (words(always), words(known))
                entry[0].update(from_keys[0])
                entry[1].update(from_keys[1])
        self.commands = {command for command, _ in self.lines}

    def command(self, args):
        """The command of these arguments, as the page has it."""
        name = "status" if args[0] == "watch" else args[0]
        return next(one for one in (" ".join([name, *args[1:2]]), name) if one in self.commands)

    def check_value(self, key, value, where):
        kind = self.keys[key]
        if kind.startswith("list of "):
            assert isinstance(value, list), (where, key, value)
            values, kind = value, kind[len("list of "):]
        else:
            values = [value]
        for one in values:
            assert isinstance(one, TYPES[kind]) and isinstance(one, bool) == (kind == "boolean"), (where, key, kind, value)
            assert kind != "integer" or abs(one) < 1 << 53, (where, key, value)
            assert one != "" and one is not None, (where, key)
            if kind == "object" and key in self.objects:
                self.check_object(one, self.objects[key], (*where, key))

    def check_object(self, found, entry, where):
        always, known = entry
        assert always <= set(found) <= always | known, \
            (where, "missing", sorted(always - set(found)), "unknown", sorted(set(found) - always - known), found)
        for key, value in found.items():
            self.check_value(key, value, where)


page = Page()
seen = set()        # commands and kinds


def check(args, out):
    """Compare the lines that a command wrote with the page, if it was asked for JSON."""
    if not {"--json", "-j"} & set(args):
        return
    command = page.command(args)
    for line in out.splitlines():
        found = json.loads(line)
        kind = found.pop("kind")
        assert (command, kind) in page.lines, (command, kind, line)
        page.check_object(found, page.lines[command, kind], (command, kind))
        seen.add((command, kind))
