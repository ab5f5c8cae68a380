#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/json.md has what the programs write: by their sources, and by what they write for the examples."""

import glob
import os
import re
import subprocess
import xml.etree.ElementTree

import json_page
from tool import SET, SOURCE, main, test

# what is not written to standard output with --json
OTHERS = ("tools/dealbox/ui/tracefile.c",)
OF_CALL = {"text": "text", "number": "integer", "known": "integer", "real": "number", "bool": "boolean"}
OF_DBUS = {"s": "text", "o": "text", "t": "integer", "u": "integer", "i": "integer", "b": "boolean", "as": "list of text",
           "a{sv}": "object"}


def source(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def command_sources():
    for path in sorted(glob.glob(os.path.join(SOURCE, "tools/dealbox/**/*.c"), recursive=True)):
        if os.path.relpath(path, SOURCE) not in OTHERS:
            yield source(path)


def snake(name):
    return re.sub("(?<=.)([A-Z])", r"_\1", name).replace("-", "_").lower()


class Keys:
    """Keys of the sources, each with its types; "?" is a list or an object."""

    def __init__(self):
        self.types = {}
        for text in command_sources():
            for call, name in re.findall(r'json_add_(\w+)\(\w+, "([^"]*)"', text):
                self.add(name, OF_CALL[call])
            for name in re.findall(r'json_object_object_add\((?!m,)\w+, "([^"]*)"', text):
                self.add(name, "?")
        self.add_events()
        self.add_service()
        counters = re.search(r"counters_json\(.*?names\[\] = {(.*?)}", source("tools/dealbox/commands/cmd-machines.c"), re.S)
        for name in re.findall('"(.*?)"', counters[1]):
            self.add(name, "integer")
        for name, form in re.findall(r"""FIELD\("(\w+)", '(.)'""", source("lib/ledger/schema.c")):
            self.add(name, "integer" if form == "n" else "text")

    def add(self, name, kind):
        self.types.setdefault(name, set()).add(kind)

    def add_events(self):
        for name in re.findall(r"\bFIELD\((\w+)\)[,\n]", source("tools/dealbox/ui/event-text.c")):
            if name != "timestamp_ns":      # of traces only
                self.add(name, "integer")

    def add_service(self):
        """Properties, and the members of those that are dictionaries, by the keys that they get."""
        rows = re.findall(r'{ "(machine|job)", "(\w+)", "(\w+)"(?:, true(, \d+)?)? }',
                          source("tools/dealbox/service/service-objects.c"))
        other = {(kind, name): key for kind, name, key, _ in rows}
        assert len(other) > 10
        divided = {(kind, name) for kind, name, _, per in rows if per}
        assert divided == {("machine", "pace")}, divided
        facts = source("docs/daemon.md").split("### Facts of a state", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
        for names, kind in re.findall(r"^\| (`.*?`) \| (\w+) \|", facts, re.M):
            for name in re.findall("`(.*?)`", names):
                self.add(other.get(("machine", name), name), OF_DBUS[kind])
        tested = re.search(r"static int append_test\(.*?^}", source("daemon/bus-machine.c"), re.M | re.S)[0]
        for name in re.findall(r'{ "([a-z-]+)", t->', tested):
            self.add(snake(name), "integer")
        for name in re.findall(r'"([a-z]+)", "s"', tested):
            self.add(name, "text")
        for kind in "machine", "job":
            tree = xml.etree.ElementTree.fromstring(source("daemon/interfaces/io.dealbox1.%s.xml" % kind.capitalize()))
            for row in tree.iter("property"):
                name = snake(row.get("name"))
                self.add(other.get((kind, name), name),
                         "number" if (kind, name) in divided else OF_DBUS[row.get("type")])
            self.add("path", "text")


@test
def each_key_has_one_type_and_the_page_has_it(box):
    found = Keys().types
    for name, kinds in sorted(found.items()):
        assert name == "NT" or re.fullmatch("[a-z][a-z0-9_]*", name), name
        if kinds - {"?"} and all(kind == "object" or kind.startswith("list of ") for kind in kinds - {"?"}):
            kinds.discard("?")
        assert len(kinds) == 1, (name, kinds)
        assert name in json_page.page.keys, "%s is not in docs/json.md" % name
        kind, = kinds
        written = json_page.page.keys[name]
        assert written == kind or (kind == "?" and (written == "object" or written.startswith("list of "))), (name, written, kind)
    assert set(json_page.page.keys) == set(found), "the page has, and no source: %s" % (set(json_page.page.keys) - set(found))


@test
def each_kind_is_in_the_page(box):
    found = set()
    for text in command_sources():
        for words in re.findall(r"json_line\(([^;]*?)\);", text):
            found.update(re.findall('"(.*?)"', words))
        found.update(re.findall(r'service_(?:object_)?say\(\w+, "(\w+)"\)', text))
    assert found == {kind for _, kind in json_page.page.lines}, found ^ {kind for _, kind in json_page.page.lines}


@test
def each_key_of_the_page_is_used_and_explained(box):
    page = json_page.page
    used = {key for entry in [*page.lines.values(), *page.objects.values()] for keys in entry for key in keys}
    assert used | {"kind"} == set(page.keys), (used | {"kind"}) ^ set(page.keys)
    for name in page.objects:
        assert page.keys[name] in ("object", "list of object"), name


@test
def what_the_examples_give_is_in_the_page(box):
    """Each answer is compared by Running.finish(); here, no line of the page may be missing."""
    machine = box.machine(scenario="deal 1 position 20: misread")
    result = box.begin("deal", "-m", machine.uri, "--boards", "1-2", "--json", "--record", "trace", SET,
                       stdin=subprocess.PIPE).answer("confirm-empty").expect(0)
    for words in (["verify", "--reveal", SET, "trace"], ["machines", machine.uri],
                  ["show", "--double-dummy", SET], ["check", SET], ["number", "--reveal", SET], ["audit", SET],
                  ["law", "rules", "rubber"], ["law", "explain", "6D1"], ["doctor"]):
        box.dealbox(words[0], *(words[1:2] if words[0] == "law" else []), "--json",
                    *(words[2:] if words[0] == "law" else words[1:]))
    ledger = os.path.join(box.folder, "state/dealbox/ledger")
    for words in (["list"], ["show", str(result.json()[-1]["job"])], ["verify"]):
        box.dealbox("ledger", *words, "--json", "-l", ledger).expect(0)
    box.write("bad.pbn", '[Board "x"]\n[Deal "N:A... - - -"]\n')
    box.dealbox("check", "--json", "bad.pbn").expect(1)
    wanted = {(command, kind) for command, kind in json_page.page.lines
              if command.split()[0] in ("show", "check", "number", "machines", "doctor", "verify", "audit")}
    wanted |= {("deal", kind) for kind in ("ledger", "operator", "board", "summary")}
    wanted |= {("law rules", "ruleset"), ("law explain", "paragraph"), ("ledger list", "job"), ("ledger verify", "summary"),
               ("ledger show", "copy"), ("ledger show", "insertion")}
    wanted -= {("audit", "finding"), ("show", "problem")}
    assert wanted <= json_page.seen, wanted - json_page.seen


@test
def a_wrong_line_is_noticed(box):
    for line in ('{"kind":"look","look":"x","found":"good"}', '{"kind":"look","look":"x","found":"good","text":1}',
                 '{"kind":"look","look":"x","found":"good","text":""}',
                 '{"kind":"look","look":"x","found":"bad","text":"y","more":"z"}',
                 '{"kind":"other","look":"x","found":"good","text":"y"}', '{"look":"x","found":"good","text":"y"}'):
        try:
            json_page.check(["doctor", "--json"], line)
        except (AssertionError, KeyError):
            continue
        raise AssertionError("it was not noticed: " + line)
    json_page.check(["doctor", "--json"], '{"kind":"look","look":"x","found":"good","text":"y"}')


main()
