#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs of docs/examples that use the library do what their first lines say."""

import os
import subprocess

from tool import SET, Running, deals, main, test


def run(name, *args, given=""):
    """Exit status and output of an example."""
    done = subprocess.run([os.path.join(os.environ["DEALBOX_EXAMPLES"], "example-" + name), *args],
                          input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=100, check=False)
    return done.returncode, done.stdout


@test
def a_board_is_dealt_and_proved(box):
    machine = box.machine("--manual")
    machine.tell("insert")
    status, out = run("deal-board", SET, machine.uri)
    assert status == 0 and out.startswith("exact duplicate"), out
    lay, = machine.account()
    assert [sorted(pocket) for pocket in lay["pockets"][:4]] == deals(SET)[1], lay


@test
def a_board_that_is_not_exact_is_not_called_so(box):
    machine = box.machine("--manual", scenario="position 5: wrong-pocket")
    machine.tell("insert")
    status, out = run("deal-board", SET, machine.uri)
    assert status == 1 and out.startswith("not an exact duplicate"), out


@test
def a_file_is_dealt_with_a_ledger_of_its_own(box):
    machine = box.machine("--manual")
    running = Running(box.start([os.path.join(os.environ["DEALBOX_EXAMPLES"], "example-deal"), SET, "monday", "ledger", machine.uri],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert "Put in the empty board 1, copy 1." in running.line()
    machine.tell("insert")
    for board in range(1, 25):
        while not (line := running.line()).startswith("board"):
            pass
        assert line.startswith("board %d: exact duplicate" % board), line
        if board < 24:
            machine.tell("remove")
            while "Put in the empty board %d," % (board + 1) not in running.line():
                pass
            machine.tell("hopper fill")
            machine.tell("insert")
    running.finish().expect(0)
    assert len(machine.account()) == 24
    # Law 6D2
    status, out = run("deal", SET, "tuesday", "ledger", machine.uri)
    assert status == 2 and "dealt" in out, out


@test
def deals_are_generated_and_audited(box):
    path = os.path.join(box.folder, "random.pbn")
    assert run("generate", path) == (0, "")
    assert len(deals(path)) == 24
    status, out = run("audit", SET)
    assert status == 0 and "hand shapes, North: p = " in out, out


@test
def numbers_and_seals(box):
    number, hand = run("number", "owner", "entropy")[1].split()
    box.dealbox("number", "--numbering", "andrews", "--reveal", number).expect(0, hand)
    assert run("seal", "passphrase") == (0, "monday.pbn: tomorrow's deals\n")
    status, out = run("seal", "")
    assert status == 1 and "passphrase" in out, out


@test
def records_are_judged(box):
    assert run("judge", given="no such word\n")[0] == 1
    status, out = run("judge", given="rules rubber\nturn S\nE shuffle times=5\n")
    assert status == 0 and out.startswith("3: "), out


@test
def files_that_are_not_there_are_told(box):
    status, out = run("history", os.path.join(box.folder, "ledger"))
    assert status == 1 and out.strip(), out
    assert run("certificates", SET, SET)[0] == 1


main()
