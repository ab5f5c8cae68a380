#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
dealbox-compliance finds nothing in the core of tools/machine, in virtual time.

usage: test_compliance.py [-a]      -a: all machines of variants.py, not a few
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "compliance"))
sys.dont_write_bytecode = True

from variants import VARIANTS       # noqa: E402

VIRTUAL = os.environ["MACHINE_VIRTUAL"]
PATIENCE = 300          # seconds after which a run has hung, however busy the computer is
# each kind of machine, each dialect, and what is told in another way
FEW = ("stored plan", "host-routed", "serial, stored plan", "serial, host-routed",
       "lock, board reader and attestations", "host-routed, no reader, refused by result")
# Jokers come by chance: with them, the suite does not always get the stop that it waits for.
LUCK = "jokers, by card alone"
# The queue holds 64 events: at a thousand times the speed, packets of one event are too slow.
SLOWER = {"smallest packets": "30", "slow answers": "30"}
# the core's longest
DEADLINE = ("--gate-deadline", "400000")


def is_of_cards(variant):
    """False if the scenario changes events on their way, which are the core's alone here."""
    return not any(rule.startswith("on event") for rule in variant[2])


def failures(name, options, rules):
    """Return what dealbox-compliance finds, [] if nothing."""
    speed = () if "--speed" in options else ("--speed", SLOWER.get(name, "1000"))
    deadline = DEADLINE if "routed" in options else ()
    with tempfile.NamedTemporaryFile("w") as scenario:
        scenario.writelines(rule + "\n" for rule in rules)
        scenario.flush()
        done = subprocess.run([VIRTUAL, "--manual", "--scenario", scenario.name, *speed, *deadline, *options, "--",
                               "--emulator", "virtual", "emu:"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    last = done.stdout.splitlines()[-1:]
    if done.returncode == 0 and last and ", 0 failed, 0 warnings," in last[0]:
        return []
    return [line for line in done.stdout.splitlines() if line.startswith(("not ok", "#   "))] + last + \
        ["status %d %s" % (done.returncode, done.stderr.strip())]


def main():
    wanted = [variant for variant in VARIANTS if variant[0] in FEW or
              ("-a" in sys.argv and is_of_cards(variant) and variant[0] != LUCK)]
    bad = False
    print("1..%d" % len(wanted))
    for number, variant in enumerate(wanted, 1):
        found = failures(*variant)
        bad |= bool(found)
        print("%sok %d - %s" % ("not " if found else "", number, variant[0]))
        for line in found:
            print("#   " + line)
        sys.stdout.flush()
    sys.exit(bad)


main()
