#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealbox-compliance finds nothing in correct machines; what it prints, writes and completes."""

import os
import re
import signal
import subprocess

from bench import COMPLIANCE, EMULATOR, Bench, Tap
from variants import VARIANTS

SOURCE = os.environ["SOURCE"]

tap = Tap()


def text_of(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def not_run(report):
    return ["%s/%s: %s" % (test["group"], test["test"], test["why"]) for test in report.tests
            if test["result"] == "not run" and test["test"] != "boards"]


# One of each kind and dialect; mutants.py -v has all. A fixture does everything.
for name, options, rules in (VARIANTS[0], VARIANTS[3]):
    with Bench(*options, rules=rules) as bench:
        program = ("--fixture", "%s --tell %s" % (EMULATOR, bench.control))
        report = bench.run(*program, hands=None) if options else bench.run()
        tap.check("%s: no violation" % name, report.status == 0, report.why())
        tap.check("%s: nothing is left out" % name, report.tests and not not_run(report), not_run(report))
        tap.check("%s: a pipe sees no progress" % name, not report.err, report.err)

with Bench() as bench:
    bench.run()
    report = bench.run()
    tap.check("a second test without a power cut finds nothing", report.status == 0, report.why())

with Bench() as bench:
    process = bench.start()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    report = bench.end(process)
    tap.check("SIGINT ends with a report", report.status == 130 and not report.whole["complete"] and
              "requirements" in report.whole, (report.status, report.err))

with Bench("--boards", "1-16", manual=False) as bench:
    report = bench.run(hands=False)
    tap.check("unattended", report.status == 0, report.why())

result = subprocess.run([COMPLIANCE, "emu:nowhere"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
tap.check("no machine", result.returncode == 3 and "dealbox-emulator --socket" in result.stderr, result)

listed = text_of(COMPLIANCE, "--list")
tap.check("each test is listed once, with requirements",
          len({line.split(":")[0] for line in listed.splitlines()}) == len(listed.splitlines()) and
          all(re.search(r" \[(R-S?[\d.]+-\d+|K-\d+)( (R-S?[\d.]+-\d+|K-\d+))*\]$", line) for line in listed.splitlines()), listed)

options = re.findall(r"^  --([\w-]+)(?: ([A-Z]+))?", text_of(COMPLIANCE, "--help"), re.M)
page = re.sub(".\x08", "", text_of("mandoc", "-T", "ascii", "-O", "width=500",
                                   os.path.join(SOURCE, "docs/man/dealbox-compliance.1")))
written = re.findall(r"^ +--([\w-]+)(?: ([A-Z]+))?(?:$|  )", page, re.M)
tap.check("the manual has the options of the help", sorted(written) == sorted(options), (written, options))
completed = text_of("bash", "-euc", r"""
source "$1"/tools/compliance/completion.bash
COMP_WORDS=(dealbox-compliance -) COMP_CWORD=1 COMPREPLY=()
_dealbox_compliance "$2"
printf '%s\n' "${COMPREPLY[@]}"
""", "bash", SOURCE, COMPLIANCE).split()
tap.check("the completion has them, too", completed == ["--" + name for name, _ in options], completed)
tap.end()
