# SPDX-License-Identifier: LGPL-2.1-or-later
"""An emulated machine under test, and what dealbox-compliance says of it."""

import json
import os
import subprocess
import tempfile

COMPLIANCE = os.environ["COMPLIANCE"]
EMULATOR = os.environ["EMULATOR"]
# Each test of the program ends by itself; this is for a program that hangs.
PATIENCE = 200


class Report:
    def __init__(self, status, out, err, report):
        self.status, self.out, self.err = status, out, err
        self.tests = report["tests"] if report else []
        self.whole = report
        self.failed = {number for test in self.tests for number in test["failed"]}

    def why(self):
        return "; ".join("%s/%s %s" % (test["group"], test["test"], test["why"])
                         for test in self.tests if test["result"] == "fail") or self.err


class Bench:
    """with Bench("--kind", "routed") as bench: bench.run("--only", "plans")"""

    def __init__(self, *options, rules=(), manual=True):
        self.options = (() if "--speed" in options else ("--speed", "1000")) + \
            (("--manual",) if manual else ()) + options
        self.rules = rules

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.socket, self.control = (os.path.join(self.folder.name, name) for name in "mc")
        scenario = os.path.join(self.folder.name, "scenario")
        with open(scenario, "w") as file:
            file.writelines(rule + "\n" for rule in self.rules)
        self.machine = subprocess.Popen(
            [EMULATOR, "--socket", self.socket, "--control", self.control, "--scenario", scenario, *self.options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self.machine.stdout.readline()
        assert line.endswith("is ready\n"), line
        return self

    def __exit__(self, *unused):
        self.machine.terminate()
        self.machine.communicate()
        self.folder.cleanup()

    def start(self, *options, hands=True):
        return subprocess.Popen(self.command(*options, hands=hands),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def command(self, *options, hands=True):
        """hands: True = the emulator's socket, False = nobody, None = as the options say."""
        self.json = os.path.join(self.folder.name, "json")
        given = {True: ("--emulator", self.control), False: ("--unattended",), None: ()}
        return [COMPLIANCE, *given[hands], "--json", self.json, *options, "emu:" + self.socket]

    def report(self, status, out="", err=""):
        whole = None
        if os.path.exists(self.json):
            with open(self.json) as file:
                whole = json.load(file)
        return Report(status, out, err, whole)

    def end(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        return self.report(process.returncode, out, err)

    def run(self, *options, hands=True):
        return self.end(self.start(*options, hands=hands))


class Tap:
    """Prints the results of tests, and counts them."""

    def __init__(self):
        self.count = self.bad = 0

    def check(self, name, holds, why=""):
        self.count += 1
        self.bad += not holds
        print("%sok %d - %s" % ("" if holds else "not ", self.count, name), flush=True)
        if not holds:
            print("#   %s" % (why,), flush=True)

    def end(self):
        print("1..%d" % self.count)
        raise SystemExit(self.bad > 0)
