#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Broken machines: for each mutant of the emulator, a test that is said to prove its requirement must
name that requirement as violated. And correct machines, in which all tests must find nothing. In
virtual time (virtual.c), so that no verdict depends on how busy the computer is.

usage: mutants.py [-s N | -v | -t | -w | NAME...]
  -s N   a sample: N mutants, evenly spread over the table
  -v     the correct machines only
  -t     no machine; is the list in docs/compliance-mutants.md that of the mutants?
  -w     all; writes that list. Without an argument: all, and the list must be the same
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

from bench import COMPLIANCE, EMULATOR, Report, Tap
from variants import VARIANTS

VIRTUAL = os.environ["COMPLIANCE_VIRTUAL"]
PAGE = os.path.join(os.environ["SOURCE"], "docs", "compliance-mutants.md")
# The program ends by itself; this is for one that hangs.
PATIENCE = 300
# tests that the list names of a mutant
SHOWN = 3

# machines that a person tests; and what a person cannot do
ATTENDED = ((), ("--kind", "routed"), ("--dialect", "serial"),
            ("--capabilities", "by-card,by-position,capture,test-deal,exit-sensors,board-lock,board-reader,keys,attest"))
NOT_FOR_PERSONS = ("a fixture is needed that makes faults", "no --profile says how many boards may be wrong")

HEAD = """<!-- SPDX-License-Identifier: CC-BY-SA-4.0 -->
# Broken machines
Each mutant of the emulator (`dealbox-emulator --mutant NAME`) violates one requirement of the
[protocol](protocol.md) or of its [serial dialect](protocol-serial.md). The tests of
dealbox-compliance(1) that are named here say so when they meet the machine. They run in virtual
time. `tests/system/compliance/run -w` writes the list, and `make check-all` compares it.

"""
HOST = "a duty of the host"
REASONS = """
Requirements that no test from outside can prove, so that they have no mutant either. Duties of the
host are left out.

"""


def run(*options, rules=(), only=(), hands=()):
    """Test a machine in virtual time. hands: how long a person takes, instead of a fixture."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, report = (os.path.join(folder, name) for name in ("scenario", "json"))
        with open(scenario, "w") as file:
            file.writelines(rule + "\n" for rule in rules)
        speed = () if "--speed" in options else ("--speed", "1000")
        done = subprocess.run(
            [VIRTUAL, *hands, "--manual", "--scenario", scenario, *speed, *options, "--", "--emulator", "virtual",
             "--json", report, *only, "emu:"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        with open(report) as file:
            return Report(done.returncode, done.stdout, done.stderr, json.load(file))


def lines(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def table():
    return [line.split("\t") for line in lines(EMULATOR, "--mutant", "list")]


def requirements():
    """Return {requirement: (tests, reason why it is not testable)}."""
    found = {}
    for line in lines(COMPLIANCE, "--requirements"):
        number, _, rest = line.partition(":")
        if number.startswith("K-"):
            continue  # the module's, which a broken machine does not violate
        tests, _, reason = rest.partition(" not testable: ")
        found[number] = (tests.split(), reason)
    return found


def chosen(words):
    rows = table()
    if words[:1] == ["-s"]:
        count = int(words[1])
        return [rows[i * len(rows) // count] for i in range(count)]
    if words in (["-v"], ["-t"]):
        return []
    return [row for row in rows if words in ([], ["-w"]) or row[0] in words]


def judge(row):
    """Return the tests that name the requirement, None if not all do that should, and what was said."""
    name, requirement, options, _ = row
    proves = REQUIREMENTS[requirement][0]
    named = []
    # all tests, as a lab runs them; and those that are said to prove it, on a machine of their own
    for only in ((), [word for test in proves for word in ("--only", test)]):
        report = run("--mutant", name, *options.split(), only=only)
        tests = ["%s/%s" % (test["group"], test["test"]) for test in report.tests if requirement in test["failed"]]
        named = named or tests
        if not tests or (only and not set(tests) & set(proves)):
            return None, "%s: status %s; failed: %s; %s" % (
                only or "all tests", report.status, sorted(report.failed), report.why() or report.out[-300:])
    named.sort(key=lambda test: test not in proves)
    more = ["and %d more" % (len(named) - SHOWN)] if len(named) > SHOWN else []
    return named[:SHOWN] + more, ""


def verdict(report, jokers=False):
    """
    Return None if nothing was found, or left out but what needs a fixture or a profile. With jokers
    in the hopper, many tests end before their time.
    """
    left = [] if jokers else [
        "%s/%s: %s" % (test["group"], test["test"], test["why"]) for test in report.tests
        if test["result"] == "not run" and test["why"] not in NOT_FOR_PERSONS]
    return None if report.status == 0 and not left else "status %s: %s" % (report.status, report.why() or left)


def silent(variant):
    """Return None if nothing is found or left out in a correct machine, else what is."""
    name, options, rules = variant
    report = run(*options, rules=rules)
    for test in report.tests:
        known = "%s/%s" % (test["group"], test["test"])
        SAID.update((known, number) for number in test["requirements"] if test["result"] == "ok")
        LOOKED.update((known, number) for number in test["checked"])
    return verdict(report, "jokers" in options)


def attended(options):
    """Return None if a person who takes 20 s for each step finds nothing, and need not leave out a step."""
    report = run("--speed", "1", "--packs", "1", *options, hands=("--hands", "20000"))
    return verdict(report)


def page(named):
    """Return the page for the mutants in named: {name: tests}."""
    order = list(REQUIREMENTS)
    rows = sorted(table(), key=lambda row: order.index(row[1]))
    text = HEAD + "".join(item("%s `%s`: %s. Named by %s." % (row[1], row[0], row[3], ", ".join(named[row[0]])))
                          for row in rows)
    return text + REASONS + "".join(item("%s: %s" % (number, reason))
                                    for number, (_, reason) in REQUIREMENTS.items() if reason not in ("", HOST))


def item(text):
    return textwrap.fill("- " + text, 100, subsequent_indent="  ", break_on_hyphens=False,
                         break_long_words=False) + "\n"


def written():
    """Return {mutant: tests} of the page that is there."""
    whole = content(PAGE).replace("\n  ", " ")
    return {name: tests.split(", ") for name, tests in re.findall(r"^- R-\S+ `(\w+)`: .*\. Named by (.*)\.$", whole, re.M)}


def content(path):
    with open(path) as file:
        return file.read()


# what tests are said to prove, and what they have looked at
SAID, LOOKED = set(), set()
REQUIREMENTS = requirements()
tap = Tap()
wanted = sys.argv[1:]
rows = chosen(wanted)
NAMED = {}
with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
    for row, (tests, said) in zip(rows, pool.map(judge, rows)):
        NAMED[row[0]] = tests or ["nothing"]
        tap.check("%s: %s: %s" % (row[1], row[0], row[3]), tests, said.replace("\n", " | "))
    if wanted in ([], ["-v"], ["-w"]):
        for variant, said in zip(VARIANTS, pool.map(silent, VARIANTS)):
            tap.check("correct: %s" % variant[0], said is None, (said or "").replace("\n", " | "))
        for options, said in zip(ATTENDED, pool.map(attended, ATTENDED)):
            tap.check("correct, by a person: %s" % " ".join(options), said is None, said)
        tap.check("each test checks what it is said to prove, on some machine", SAID <= LOOKED,
                  sorted(SAID - LOOKED))
names = [row[0] for row in table()]
tap.check("each mutant has a name of its own", len(set(names)) == len(names))
broken = {row[1] for row in table()}
tap.check("each requirement has a mutant, or a reason why it has none",
          all((number in broken) != bool(reason) for number, (_, reason) in REQUIREMENTS.items()),
          [number for number, (_, reason) in REQUIREMENTS.items() if (number in broken) == bool(reason)])
tap.check("no mutant violates what no page demands", broken <= set(REQUIREMENTS), broken - set(REQUIREMENTS))
if wanted == ["-w"]:
    text = page(NAMED)
    with open(PAGE, "w") as file:
        file.write(text)
elif wanted == []:
    tap.check("docs/compliance-mutants.md is up to date: else run -w", content(PAGE) == page(NAMED))
else:
    known = {**dict.fromkeys(names, ["?"]), **written(), **NAMED}
    tap.check("docs/compliance-mutants.md has these mutants: else run -w", content(PAGE) == page(known))
tap.end()
