#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Machines that do everything wrong, at random: each run of all tests ends, by itself, with a report. In
virtual time.

usage: hostile.py [COUNT [SEED]]     machines, 12 by default; the first has this seed, 1 by default
"""

import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

from bench import Tap

VIRTUAL = os.environ["COMPLIANCE_VIRTUAL"]
# A run takes a second or two, and ten times that under a sanitizer.
PATIENCE = 120

REQUESTS = ("0x00", "GET_INFO", "GET_STATUS", "GET_RESULT", "GET_COUNTERS", "GET_PARAM", "GET_IDENTITY",
            "GET_STATEMENT", "GET_SIGNATURE", "LOAD", "START", "PAUSE", "RESUME", "REREAD", "ABORT", "CLEAR_FAULT",
            "LOCATE", "TEST_DEAL", "SET_PARAM", "ATTEST")
EVENTS = ("STATE_LOST", "HOPPER_LOADED", "BOARD_INSERTED", "BOARD_REMOVED", "COVER_OPEN", "PLAN_LOADED",
          "DEAL_STARTED", "CARD_READ", "CARD_ROUTED", "CARD_LANDED", "DEAL_DONE", "PAUSED", "ABORTED",
          "FAULT_CLEARED", "NOT_IN_PLAN", "REPEATED_CARD", "ATTESTED")
MACHINES = ((), ("--kind", "routed"), ("--dialect", "serial"), ("--dialect", "serial", "--kind", "routed"),
            ("--capabilities", "attest,by-card,by-position,board-lock,board-reader,capture,exit-sensors,test-deal"))


def some_bytes(chance, most):
    return bytes(chance.randrange(256) for _ in range(chance.randint(1, most))).hex()


def spoil(chance, room):
    """Return an action on an answer, a transfer or a frame of room bytes."""
    return chance.choice((
        "set %d %s" % (chance.randrange(room), some_bytes(chance, 4)), "bytes " + some_bytes(chance, 2 * room),
        "short %d" % chance.randrange(room), "long %d" % (room + chance.randrange(64)), "stall", "no-answer",
        "status %s" % chance.choice(("EPROTO", "EPIPE", "EOVERFLOW", "ETIME")), "delay %d" % chance.randrange(3000)))


def how_often(chance):
    return chance.choice(("always", "nth %d" % chance.randint(1, 40), "every %d" % chance.randint(2, 30)))


def rule(chance):
    kind = chance.randrange(8)
    if kind == 0:
        return "on descriptor %s always: set %d %s" % (
            chance.choice(("device", "config")), chance.randrange(60), some_bytes(chance, 3))
    if kind <= 2:
        return "on request %s %s: %s" % (chance.choice(REQUESTS), how_often(chance), spoil(chance, 32))
    if kind == 3:
        return "on transfer %s: %s" % (how_often(chance), spoil(chance, 32))
    if kind == 4:
        return "on event %s %s: %s" % (chance.choice(EVENTS), how_often(chance), chance.choice(
            ("drop", "duplicate", "flood %d" % chance.randint(1, 200), "freeze", "reset", "unplug 500", "power-cycle",
             "pull", "cover open", "hardware 7 lasting")))
    if kind == 5:
        return "on plan %s: %s" % (how_often(chance), chance.choice(("stall", "no-answer", "refuse PLAN 999")))
    return "on event %s %s: set %d %s" % (
        chance.choice(EVENTS), how_often(chance), chance.randrange(27), some_bytes(chance, 5))


def case(seed):
    """Return (what the machine does, None if the run ended with a report, else what happened)."""
    chance = random.Random(seed)
    rules = [rule(chance) for _ in range(chance.randint(1, 5))]
    options = chance.choice(MACHINES)
    with tempfile.TemporaryDirectory() as folder:
        scenario, report = (os.path.join(folder, name) for name in ("scenario", "json"))
        with open(scenario, "w") as file:
            file.writelines(line + "\n" for line in rules)
        words = [VIRTUAL, "--manual", "--scenario", scenario, "--speed", "1000", "--seed", str(seed), *options, "--",
                 "--emulator", "virtual", "--json", report, "emu:"]
        try:
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                  timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return rules, "it has not ended within %d s" % PATIENCE
        if done.returncode == 3 and done.stderr.startswith("dealbox-compliance: "):
            return rules, None  # no machine, and why is told
        if done.returncode not in (0, 1):
            return rules, "status %d: %s" % (done.returncode, done.stderr[-600:])
        try:
            with open(report) as file:
                whole = json.load(file)
        except ValueError as error:
            return rules, "no report: %s" % error
        if not whole["complete"] or not whole["requirements"]:
            return rules, "the report is not complete"
        if "1..%d" % len(whole["tests"]) not in done.stdout:
            return rules, "%d tests have a result" % len(whole["tests"])
        return rules, None


tap = Tap()
count, first = (int(word) for word in (sys.argv[1:] + ["12", "1"][len(sys.argv) - 1:])[:2])
with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
    for seed, (rules, wrong) in zip(range(first, first + count), pool.map(case, range(first, first + count))):
        tap.check("a hostile machine, seed %d" % seed, wrong is None, "%s; rules: %s" % (wrong, " | ".join(rules)))
tap.end()
