#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Evenings of 24 boards of two copies on the core of tools/machine, with faults of its mechanics, its
cable and its operator at random places. What the ledger calls exact lies in the boards, and each
board was dealt exactly twice.

usage: test_evening.py [SEED]
"""
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tool"))
sys.dont_write_bytecode = True

from tool import SET, assert_exact, main, test       # noqa: E402

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
BOARDS, COPIES = 24, 2

# those that a machine and its host notice, so that the board is dealt again
FAULTS = ("misread", "unreadable", "quality 30", "quality 49", "feed-timeout", "double-feed", "missing",
          "extra joker1", "repeat", "face-up", "jam feeder", "jam reader", "jam gate", "jam pocket", "wrong-pocket",
          "pull", "cover open", "hardware 300", "reset", "unplug 50", "power-cycle 50")


def scenario(seed):
    """A fault in about each second deal; each kind comes."""
    dice = random.Random(seed)
    faults = list(FAULTS)
    dice.shuffle(faults)
    return "\n".join("deal %d position %d: %s" % (2 * number + 1 + dice.randrange(2), dice.randrange(52), fault)
                     for number, fault in enumerate(faults))


def evening(box, seed, *options):
    machine = box.machine(*options, scenario=scenario(seed))
    run = box.deal("--copies", str(COPIES), "--machine", machine.uri, SET)
    run.expect(0, "%d of %d boards are exact" % (BOARDS * COPIES, BOARDS * COPIES))
    lays = {lay["insertion"]: lay for lay in machine.account()}
    records = {record["number"]: record for record in box.records()}
    # the last verdict on an insertion counts
    verdicts = {record["of"]: record["outcome"] for record in records.values() if record["record"] == "verdict"}
    dealt = {}
    for number, outcome in verdicts.items():
        record = records[number]
        if outcome == "exact":
            assert_exact(lays[record["insertion"]], record["board"])
            assert lays[record["insertion"]]["deals"] == 1, lays[record["insertion"]]
            dealt[record["board"]] = dealt.get(record["board"], 0) + 1
    assert dealt == {board: COPIES for board in range(1, BOARDS + 1)}, dealt
    assert list(verdicts.values()).count("void") >= len(FAULTS) // 3, verdicts


@test
def an_evening_on_a_machine_with_a_stored_plan(box):
    evening(box, SEED, "--capabilities", "by-card,by-position,exit-sensors,double-feed-sensor,board-lock,keys,"
            "face-sensor")


@test
def an_evening_on_a_machine_that_the_host_routes(box):
    evening(box, SEED + 1, "--kind", "routed", "--gate-deadline", "400000", "--dialect", "serial", "--capabilities",
            "by-card,exit-sensors,keys")


main()
