#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The endurance test: when it ends, and what it measures of good and of bad machines."""

import os
import tempfile

from bench import Bench, Tap

PROFILE = """[profile]
name = short
confidence = 95 %
[rates]
misread = 2 %
unread = 2 %
wrong-pocket = 2 %
feed-fault = 2 %
[endurance]
good = 2 %
bad = 25 %
risk = 5 %
"""
# boards without an error after which the test of this profile accepts
LEAST = 12

tap = Tap()
folder = tempfile.TemporaryDirectory()
profile, scenario = (os.path.join(folder.name, name) for name in ("profile.ini", "scenario"))
with open(profile, "w") as file:
    file.write(PROFILE)


def run(*options, faults=""):
    with open(scenario, "w") as file:
        file.write(faults + "\n")
    with Bench("--scenario", scenario, *options) as bench:
        return bench.run("--only", "endurance", "--profile", profile)


def judgements(report):
    return {limit["limit"]: limit["result"] for limit in report.whole["acceptance"]["limits"]}


def gates(report, key):
    return sum(gate[key] for gate in report.whole["measurements"]["gates"])


for name, options in (("stored plan", ()), ("host-routed", ("--kind", "routed")),
                      ("serial", ("--dialect", "serial")),
                      ("by card alone", ("--capabilities", "by-card,exit-sensors")),
                      ("no exit sensors", ("--capabilities", "by-card,by-position"))):
    report = run(*options)
    found = report.whole["measurements"]
    tap.check("%s: everything is shown" % name, report.status == 0 and set(judgements(report).values()) == {"shown"},
              (report.status, judgements(report), report.why()))
    tap.check("%s: it ends as soon as that is so" % name, found["endurance"] == {"boards": LEAST, "wrong": 0},
              found["endurance"])
    tap.check("%s: each card is counted once" % name, gates(report, "cards") == 52 * LEAST and
              sum(row["count"] for row in found["readings"]) == 52 * LEAST and len(found["readings"]) == 52,
              (gates(report, "cards"), len(found["readings"])))
    latencies = [us for gate in found["gates"] for us in gate["latency_us"]]
    tap.check("%s: gate commands are timed where there are any" % name,
              len(latencies) == (52 * LEAST if name == "host-routed" else 0), len(latencies))

# A misread card comes twice, which stops the deal.
report = run(faults="position 20 always: misread")
wrong = [row for row in report.whole["measurements"]["readings"] if row["expected"] != row["read"]]
boards = report.whole["measurements"]["endurance"]
tap.check("misreadings end it early", report.status == 1 and judgements(report)["endurance"] == "refuted" and
          boards["boards"] == boards["wrong"] < LEAST, (report.status, boards, report.why()))
tap.check("each is counted, and the card is unknown", sum(row["count"] for row in wrong) == boards["boards"] and
          {row["expected"] for row in wrong} == {255}, wrong)

# By position, a card that was not read does not stop the deal.
report = run(faults="position 20 always: unreadable")
unread = [row for row in report.whole["measurements"]["readings"] if row["read"] == 255]
tap.check("of cards that are not read it is known which", sum(row["count"] for row in unread) == LEAST and
          all(row["expected"] < 52 for row in unread), (unread, report.why()))
tap.check("and the boards are exact", judgements(report)["endurance"] == "shown", judgements(report))

report = run(faults="position 20 always: wrong-pocket")
boards = report.whole["measurements"]["endurance"]
tap.check("wrong pockets end it early", report.status == 1 and judgements(report)["endurance"] == "refuted" and
          boards["boards"] < LEAST and gates(report, "wrong") == boards["wrong"], (report.status, boards))

report = run(faults="position 30 always: feed-timeout")
boards = report.whole["measurements"]["endurance"]
tap.check("so do feeds that fail", report.status == 1 and judgements(report)["endurance"] == "refuted" and
          gates(report, "feed_faults") == boards["wrong"], (report.status, boards))

with Bench() as bench:
    report = bench.run("--only", "endurance")
    tap.check("without a profile, no board is dealt", report.status == 0 and
              report.tests[0]["result"] == "not run" and "--profile" in report.tests[0]["why"], report.out)
tap.end()
