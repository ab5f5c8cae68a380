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


CAPABILITIES = ("--capabilities", "attest,exit-sensors,by-card,by-position,capture,keys")


def attests(box, *options, scenario=None, name="machine"):
    """A machine with a key, a board in it, and the key."""
    machine = box.machine("--manual", *CAPABILITIES, *options, scenario=scenario, name=name)
    machine.tell("insert")
    status, key = run("attest", machine.uri)
    assert status == 0 and len(key) == 65, key
    return machine, key.strip()


@test
def a_machine_signs_what_it_said(box):
    for n, options in enumerate([(), ("--kind", "routed"), ("--dialect", "serial"),
                                 ("--dialect", "serial", "--kind", "routed"),
                                 ("--descriptor", "request"),
                                 ("--descriptor", "request", "--capabilities",
                                  CAPABILITIES[1] + ",refuses-by-result")]):
        machine, key = attests(box, *options, name="signs%d" % n)
        status, out = run("attest", machine.uri, SET, key)
        assert (status, out) == (0, "proven\nattestation 1 of this key, by an emulator: a rehearsal\n"), out
        # another machine's key
        machine.tell("remove")
        machine.tell("hopper fill")
        machine.tell("insert")
        status, out = run("attest", machine.uri, SET, "42" * 32)
        assert status == 1 and out.startswith("differs: "), out
        assert "attestation 2 " in out, out


@test
def what_was_changed_or_lost_on_its_way_is_not_proven(box):
    for n, (rule, word) in enumerate([("on event CARD_ROUTED position 9: set 18 02", "differs: "),
                                      ("on event CARD_ROUTED position 9: drop", "cannot compare: "),
                                      ("on event CARD_ROUTED position 9: unknown", "cannot compare: ")]):
        machine, key = attests(box, scenario=rule, name="lost%d" % n)
        status, out = run("attest", machine.uri, SET, key)
        assert status == 1 and out.startswith(word), out


@test
def a_machine_without_a_key_says_so(box):
    machine = box.machine("--manual")
    status, out = run("attest", machine.uri)
    assert status == 3 and "the machine cannot do that" in out, out


@test
def the_key_outlives_the_emulator_and_is_private(box):
    state = os.path.join(box.folder, "memory")
    keys = []
    for n in range(2):
        machine, key = attests(box, "--state", state, name="life%d" % n)
        keys.append(key)
        assert run("attest", machine.uri, SET, key)[1].startswith("proven\nattestation %d " % (n + 1))
        machine.process.terminate()
        machine.process.wait(100)
    assert keys[0] == keys[1]
    with open(state + ".key", "rb") as file:
        assert len(file.read()) == 32
    assert os.stat(state + ".key").st_mode & 0o777 == 0o600
    # the counter belongs to the key: without it, the key is not used again
    os.unlink(state)
    machine, key = attests(box, "--state", state, name="life2")
    assert key not in keys
    assert run("attest", machine.uri, SET, key)[1].startswith("proven\nattestation 1 ")


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
    assert run("log", SET, SET)[0] == 1


main()
