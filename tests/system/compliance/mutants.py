#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Broken machines: for each mutant of the emulator, the tests that are said to prove its requirement
must name that requirement as violated. And correct machines, in which all tests must find nothing.

usage: mutants.py [-s N | -v | NAME...]
  -s N   a sample: N mutants, evenly spread over the table
  -v     the correct machines only
"""

import concurrent.futures
import os
import subprocess
import sys

from bench import COMPLIANCE, EMULATOR, Bench, Tap
from variants import VARIANTS


def table():
    text = subprocess.run([EMULATOR, "--mutant", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line.split("\t") for line in text.splitlines()]


def tests_of_requirements():
    text = subprocess.run([COMPLIANCE, "--requirements"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split(":")[0]: line.split(" not testable")[0].split(" ")[1:] for line in text.splitlines()}


def chosen(words):
    rows = table()
    if words[:1] == ["-s"]:
        count = int(words[1])
        return [rows[i * len(rows) // count] for i in range(count)]
    return [row for row in rows if words != ["-v"] and (not words or row[0] in words)]


def judge(row):
    """Return None if the suite names the requirement, else what it said."""
    name, requirement, options, _ = row
    only = [word for test in TESTS[requirement] for word in ("--only", test)]
    with Bench("--mutant", name, *options.split()) as bench:
        report = bench.run(*only)
        if requirement in report.failed:
            return None
        return "status %s; failed: %s; %s" % (report.status, sorted(report.failed), report.why() or report.out[-300:])


def silent(variant):
    """Return None if nothing is found in a correct machine, else what is."""
    name, options, rules = variant
    with Bench(*options, rules=rules) as bench:
        report = bench.run()
        for test in report.tests:
            known = "%s/%s" % (test["group"], test["test"])
            SAID.update((known, number) for number in test["requirements"] if test["result"] == "ok")
            LOOKED.update((known, number) for number in test["checked"])
        return None if report.status == 0 else "status %s: %s" % (report.status, report.why())


# what tests are said to prove, and what they have looked at
SAID, LOOKED = set(), set()
TESTS = tests_of_requirements()
tap = Tap()
rows = chosen(sys.argv[1:])
with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
    for row, said in zip(rows, pool.map(judge, rows)):
        tap.check("%s: %s: %s" % (row[1], row[0], row[3]), said is None, (said or "").replace("\n", " | "))
    if sys.argv[1:] in ([], ["-v"]):
        for variant, said in zip(VARIANTS, pool.map(silent, VARIANTS)):
            tap.check("correct: %s" % variant[0], said is None, (said or "").replace("\n", " | "))
        tap.check("each test checks what it is said to prove, on some machine", SAID <= LOOKED,
                  sorted(SAID - LOOKED))
names = [row[0] for row in rows]
tap.check("each mutant has a name of its own", len(set(names)) == len(names))
tap.end()
