#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The manual, --help and the completion of the shell say the same."""

import os
import re
import subprocess

from tool import DEALBOX, SET, SOURCE, main, test

MANUAL = os.environ["DEALBOX_MANUAL"]


def shell(script, *args):
    result = subprocess.run(["bash", "-euc", script, "bash", *args], stdout=subprocess.PIPE, text=True)
    assert result.returncode == 0, result
    return result.stdout.split("\n")[:-1]


def commands(box):
    return re.findall(r"^  (\w+) +\S", box.dealbox("help").expect(0).out, re.M)


def options(box, command):
    """Return the options in --help: ("m", "machine", "URI")."""
    text = box.dealbox(command, "--help").expect(0).out
    found = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+))? {1,}\S", text, re.M)
    assert found, text
    return found


def rendered(path):
    """Return the text of a manual page, without padding."""
    text = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=500", path],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.sub(".\x08", "", text)


def manual_options(text):
    return re.findall(r"^ +(?:-(\w), )?--([\w-]+)(?: (\S+))?$", text, re.M)


@test
def the_manual_has_no_fault(box):
    pages = [MANUAL] + [os.path.join(SOURCE, "docs/man", name)
                        for name in os.listdir(os.path.join(SOURCE, "docs/man"))
                        if re.search(r"\.\d$", name)]
    for page in pages:
        result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                stdout=subprocess.PIPE, text=True)
        assert result.returncode == 0, result.stdout


@test
def every_command_tells_how_it_is_called(box):
    names = commands(box)
    assert len(names) > 5 and names == sorted(names), names
    for name in names:
        own = box.dealbox(name, "--help").expect(0)
        assert own.out == box.dealbox("help", name).expect(0).out
        assert own.out.startswith("usage: dealbox %s " % name), own
        assert own.err == ""
        for line in own.out.splitlines():
            assert len(line) <= 140, line
    box.dealbox("--help").expect(0, "usage: dealbox COMMAND")
    box.dealbox("--version").expect(0, r"^dealbox \d+\.\d+")


@test
def the_manual_has_every_command_and_option(box):
    text = rendered(MANUAL)
    assert "@" not in text
    parts = re.split(r"^   (\w+): ", text[text.index("\nCOMMANDS"):text.index("\nDEALING")], flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2]))
    assert list(sections) == commands(box), list(sections)
    for name, section in sections.items():
        assert manual_options(section) == options(box, name), (name, section)


@test
def pages_of_single_commands_have_the_options_of_their_help(box):
    folder = os.path.join(SOURCE, "docs/man")
    for name in commands(box):
        path = os.path.join(folder, "dealbox-%s.1" % name)
        if not os.path.exists(path):
            continue
        written = manual_options(rendered(path))
        assert sorted(written) == sorted(options(box, name)), (name, written)


@test
def words_that_the_manual_shows_exist(box):
    """Long options in its own text and examples are options of some command."""
    known = {"--help", "--version"}
    for name in commands(box):
        known |= {"--" + option[1] for option in options(box, name)}
    with open(os.path.join(SOURCE, "docs/man/dealbox.1.in")) as file:
        text = file.read()
    text = re.sub(r"dealbox\\-emulator .*", "", text)
    used = set(re.findall(r"(?:Fl \\-|\\-\\-)([\w-]+)", text))
    assert used and {"--" + word for word in used} <= known, used


@test
def the_page_of_the_device_has_every_call(box):
    with open(os.path.join(SOURCE, "driver/include/uapi/linux/dealbox.h")) as file:
        calls = set(re.findall(r"^#define (DEALBOX_IOC_\w+)\s+_IO", file.read(), re.M))
    described = re.findall(r"^ +(DEALBOX_IOC_\w+)$|^ +(DEALBOX_IOC_\w+) ",
                           rendered(os.path.join(SOURCE, "docs/man/dealbox.4")), re.M)
    assert calls and {one or other for one, other in described} == calls, described


@test
def the_page_of_the_ledger_has_every_key(box):
    """Of each kind of record that a deal and its cancelling leave."""
    with open(os.path.join(os.path.dirname(DEALBOX), "../../docs/ledger-records.md")) as file:
        head, *parts = re.split(r"^## (.*)$", file.read(), flags=re.M)
    keys = {kind: re.findall(r"^\| (\w+) \| \w+ \| .+ \|$", text, re.M)[1:]
            for kind, text in zip(parts[::2], parts[1::2])}
    machine = box.machine("--capabilities", "attest,exit-sensors,by-card,by-position,keys")
    box.deal("-m", machine.uri, "-b", "1", SET).expect(0)
    running = box.begin("deal", "--law", "rubber", "-m", machine.uri)
    running.see("Put in an empty board|is empty")
    running.stop()
    records = box.records()
    assert {record["record"] for record in records} == set(keys), records
    for record in records:
        assert list(record) == ["number", "record", *keys[record["record"]], "hash"], record
        assert all(re.search("`%s`" % key, head) for key in ("number", "record", "hash")), head


COMPLETE = r"""
source <("$1" completion bash)
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMPREPLY=()
_dealbox
printf '%s\n' "${COMPREPLY[@]}"
"""


def complete(*words):
    return shell(COMPLETE, DEALBOX, *words)


@test
def bash_completes_what_help_lists(box):
    names = commands(box)
    assert complete("dealbox", "") == names
    assert complete("dealbox", "mac") == ["machines"]
    assert complete("dealbox", "help", "mon") == ["monitor"]
    for name in names:
        assert complete("dealbox", name, "-") == ["--" + option[1] for option in options(box, name)]
    box.write("evening.pbn", "")
    assert complete("dealbox", "deal", "even") == ["evening.pbn"]


@test
def zsh_completes_what_help_lists(box):
    text = box.dealbox("completion", "zsh").expect(0).out
    cases = dict(re.findall(r"^(\w+)\)\n(.*?);;", text, re.M | re.S))
    assert list(cases) == commands(box)
    for name, case in cases.items():
        assert re.findall(r"^\t\t'--([\w-]+)\[", case, re.M) == \
            [option[1] for option in options(box, name)], case
    # values, and what the service lists
    assert ":LANGUAGE:(nb el fr ru en)'" in cases["deal"] and "reversed-pockets" in cases["deal"]
    assert ":MACHINE:_dealbox_status'" in cases["deal"] and "'*:id:_dealbox_status'" in cases["start"]
    assert "'*:id:_dealbox_jobs'" in cases["cancel"] and "_dealbox_jobs() {" in text


main()
