#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rehearsing a set on an emulated machine: nothing of it counts, and nothing of it is left."""

import glob
import os
import signal
import subprocess

from tool import EMULATOR, SET, assert_secret, main, test


def stage(box, *options):
    """The emulator that it starts is found by PATH; this one is fast, and leaves its account."""
    os.mkdir("bin")
    os.mkdir("run")
    script = box.write("bin/dealbox-emulator", '#!/bin/sh\necho "$$ $*" >>%s/started\nexec %s --speed 0 --account %s/account %s "$@"\n' % (
        box.folder, EMULATOR, box.folder, " ".join(options)))
    os.chmod(script, 0o755)
    box.env.update(PATH=box.folder + "/bin:" + box.env["PATH"], XDG_RUNTIME_DIR=box.folder + "/run")


def nothing_is_left(box):
    assert os.listdir("run") == [], os.listdir("run")
    assert not os.path.exists("state")
    with open("started") as file:
        for line in file:
            assert not os.path.exists("/proc/" + line.split()[0]), "the emulator still runs"


@test
def a_rehearsal_deals_and_leaves_nothing(box):
    stage(box)
    result = box.deal("--rehearse", "--boards", "1-2", SET)
    result.expect(0, "rehearsal", "board 1: exact duplicate", "2 of 2 boards are exact duplicates", "no card was dealt")
    assert_secret(result.out + result.err)
    assert "recorded in" not in result.out
    nothing_is_left(box)
    # it is done as often as somebody likes
    box.deal("--rehearse", "--boards", "1", SET).expect(0)
    nothing_is_left(box)


@test
def the_set_can_be_dealt_afterwards(box):
    """A real board is not refused because it was rehearsed, and the rehearsal is in nobody's ledger."""
    stage(box)
    box.deal("--rehearse", "--boards", "1", "--session", "monday", SET).expect(0)
    machine = box.machine()
    box.deal("-m", machine.uri, "--boards", "1", "--session", "tuesday", SET).expect(0)
    assert box.outcomes() == ["exact"]
    assert len(box.records("emulation")) == 1


@test
def a_rehearsal_goes_past_an_open_job(box):
    """The job of an own machine is neither given up nor continued."""
    stage(box)
    machine = box.machine("--manual")
    run = box.begin("deal", "-m", machine.uri, "--boards", "1", SET, stdin=subprocess.PIPE)
    run.see("Put in (the|any) empty board")
    run.stop().expect(130, "--resume")
    before = box.records()
    box.deal("--rehearse", "--boards", "2", SET).expect(0)
    assert box.records() == before


@test
def a_stopped_rehearsal_leaves_nothing(box):
    stage(box, "--manual")
    for number in signal.SIGINT, signal.SIGTERM:
        run = box.begin("deal", "--rehearse", "--boards", "1", SET, stdin=subprocess.PIPE)
        run.see("Put in (the|any) empty board")
        result = run.stop(number)
        result.expect(130, "stopped before board 1")
        assert "--resume" not in result.out + result.err, result
        nothing_is_left(box)


@test
def a_signal_before_the_first_board_leaves_nothing(box):
    stage(box, "--manual")
    with open("bin/dealbox-emulator") as file:
        script = file.read()
    # as soon as the socket is there, which is before dealbox goes on
    box.write("bin/dealbox-emulator", script.replace(
        "exec ", "(until [ -S $2 ]; do sleep 0.01; done; kill -INT $PPID) >/dev/null & exec "))
    box.dealbox("deal", "--rehearse", "--boards", "1", SET).expect(130, "stopped before board 1")
    nothing_is_left(box)


@test
def its_record_says_that_a_program_played_the_machine(box):
    """Whoever copies it meanwhile has nothing that could be taken for a board."""
    stage(box, "--manual", "--control", box.folder + "/control")
    run = box.begin("deal", "--rehearse", "--boards", "1", "--copies", "2", SET, stdin=subprocess.PIPE)
    run.see("Put in (the|any) empty board")
    subprocess.run([EMULATOR, "--tell", box.folder + "/control", "insert"], check=True, capture_output=True)
    run.see("exact duplicate")
    ledger, = glob.glob("run/dealbox-*/ledger")
    assert os.stat(os.path.dirname(ledger)).st_mode & 0o777 == 0o700
    records = box.dealbox("ledger", "export", "-l", ledger).expect(0).json()
    verdict, = [record for record in records if record["record"] == "verdict"]
    assert [record["of"] for record in records if record["record"] == "emulation"] == [verdict["of"]]
    run.stop().expect(130)
    nothing_is_left(box)


@test
def json_says_that_it_is_a_rehearsal(box):
    stage(box)
    run = box.begin("deal", "--rehearse", "--boards", "1", "--json", SET, stdin=subprocess.PIPE)
    result = run.answer("confirm-empty").expect(0)
    events = result.json()
    assert events[0] == {"kind": "rehearsal"}, events[0]
    assert not [event for event in events if event["kind"] == "ledger"]


@test
def what_would_make_it_count_is_refused(box):
    stage(box)
    for words in (["-m", "emu:x"], ["--ledger", "mine"], ["--record", "trace"], ["--certify", "folder"], ["--resume"],
                  ["--set", "1"], ["--priority", "1"], ["--law", "rubber"]):
        files = [] if words[0] in ("--set", "--law") else [SET]
        box.dealbox("deal", "--rehearse", *words, *files).expect(2, "--rehearse")
    assert not os.path.exists("started")


@test
def without_an_emulator_it_says_what_to_install(box):
    box.env["PATH"] = box.folder
    os.mkdir("run")
    box.env["XDG_RUNTIME_DIR"] = box.folder + "/run"
    box.dealbox("deal", "--rehearse", SET).expect(3, "dealbox-emulator")
    assert os.listdir("run") == []


if __name__ == "__main__":
    main()
