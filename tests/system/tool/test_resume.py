#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An interrupted job continues, and no insertion is dealt twice."""

import glob
import json
import os
import random
import re
import signal
import subprocess

from tool import SET, deals, main, test


def said_exact(text):
    """Boards that were called exact, in the order in which it was said."""
    return [(int(board), int(copy or 1)) for board, copy in
            re.findall(r"^board (\d+)(?:, copy (\d+))?: exact duplicate", text, re.M)]


def lies_exact(machine, boards):
    """Return how many insertions contain exactly the deal of each board; none was dealt twice."""
    account = machine.account()
    numbers = [lay["insertion"] for lay in account]
    assert len(set(numbers)) == len(numbers), numbers
    assert all(lay["deals"] <= 1 for lay in account), account
    hands = deals(SET)
    return [sum([sorted(pocket) for pocket in lay["pockets"][:4]] == hands[board]
                for lay in account) for board in boards]


def resume(box, machine):
    """
    Goes on with the job that was stopped in a deal. Whoever is asked whether the board is empty has
    emptied it. What runs, and what it has written so far.
    """
    running = box.begin("deal", "-m", machine.uri, "--resume")
    text = ""
    while "is empty" not in text:
        text += running.line()
    machine.tell("key start")
    return running, text


@test
def ctrl_c_pauses_the_machine_and_says_where_it_stands(box):
    machine = box.machine("--manual", speed="1")
    running = box.begin("deal", "-m", machine.uri, "--boards", "7", "--copies", "2", SET)
    running.put_in(machine)
    machine.tell("wait position 5")
    result = running.stop()
    result.expect(130, r"stopped in the middle of board 7, copy 1, after card \d+ of 52: the machine is paused",
                  "empty that board; `dealbox deal --resume` goes on")
    assert len(box.records("insertion")) == 1 and not box.outcomes(), box.records()


@test
def ctrl_c_while_it_waits_for_a_board(box):
    machine = box.machine("--manual")
    running = box.begin("deal", "-m", machine.uri, "--boards", "7", SET)
    running.see("Put in the empty board 7")
    running.stop().expect(130, "stopped before board 7, copy 1")
    running = box.begin("deal", "-m", machine.uri, "--resume")
    running.put_in(machine)
    running.finish().expect(0, "1 of 1 boards are exact duplicates; 0 void")


@test
def ctrl_c_and_resume(box):
    machine = box.machine(speed="4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-3", SET)
    running.under_way(machine)
    machine.tell("wait deals 2")
    machine.tell("wait position 10")
    first = running.stop().expect(130, "stopped in the middle of board 2")
    running, text = resume(box, machine)
    assert "board 2: void: the last run ended in the middle of it" in text
    second = running.finish().expect(0, "3 of 3 boards are exact duplicates; 1 void")
    assert said_exact(first.out + text + second.out) == [(1, 1), (2, 1), (3, 1)]
    assert lies_exact(machine, [1, 2, 3]) == [1, 1, 1]


@test
def terminated_like_ctrl_c(box):
    machine = box.machine(speed="4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.under_way(machine)
    machine.tell("wait position 3")
    running.stop(signal.SIGTERM).expect(130, "stopped in the middle of board 1")


@test
def killed_at_any_moment(box):
    """Ten times, at seeded moments of a job; in the end every board is exact, and said to be once."""
    chance = random.Random(2007)
    machine = box.machine("--kind", "routed", speed="20")
    text = ""
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-5", "--copies", "2", SET)
    running.under_way(machine)
    for _ in range(10):
        machine.tell("wait deals %d" % (int(machine.status("deals")) + 1))
        machine.tell("wait position %d" % chance.randint(0, 51))
        text += running.stop(signal.SIGKILL).out
        running, begun = resume(box, machine)
        text += begun
    text += running.finish().expect(0, "10 of 10 boards are exact duplicates").out
    said = said_exact(text)
    # only what was on its way to the screen when it was killed may be missing
    assert len(set(said)) == len(said), said
    assert all(count >= 2 for count in lies_exact(machine, range(1, 6)))


@test
def started_is_on_disk_before_the_machine_is_told(box):
    machine = box.machine("--manual", scenario="on request START: freeze")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    machine.tell("wait frozen")
    running.stop(signal.SIGKILL)
    begun, = box.records("insertion")
    assert begun["insertion"] == int(machine.status("insertion")) and not box.outcomes(), begun
    machine.tell("thaw")
    running = box.begin("deal", "-m", machine.uri, "--resume")
    assert "recorded in" in running.line()
    assert "board 1: void: the last run ended in the middle of it" in running.line()


# ---- jobs that were interrupted under an earlier version, which kept a journal --------------

DIGEST = "899ca50536175e1ab6c30c6eb336178b139eec2f7aead88b8618bbc3d8d20714"


def journal(box, *items, name="EMU1", digest=DIGEST, **changed):
    """As the version before wrote it: each item is (board, copy, insertion, voids, state)."""
    os.makedirs("state/dealbox", mode=0o700, exist_ok=True)
    return box.write("state/dealbox/job-%s.json" % name, json.dumps({
        "version": 1, "set": digest, "copies": 1, "doubt": False, "files": [SET], "items": [
            dict(zip(("board", "copy", "insertion", "voids", "state"), item)) for item in items],
        **changed}, separators=(",", ":")))


def not_into_this_one(box, machine, *args, last=2):
    """The board that is there is not dealt into, whatever the operator presses, and the next one is."""
    running = box.begin("deal", "-m", machine.uri, *args, stdin=subprocess.PIPE)
    running.see("is empty|has been in the machine|gives this board the number")
    machine.tell("key start")
    running.see("gives this board the number|has been in the machine")
    machine.tell("key start")
    machine.tell("remove")
    machine.tell("insert")
    result = running.answer("is empty").expect(0, "board %d: exact duplicate" % last)
    *_, before, _ = machine.account()
    assert before["deals"] == 0, before
    assert not glob.glob("state/dealbox/*.json")
    return result


@test
def an_insertion_that_was_begun_is_not_dealt_into_again(box):
    """The machine says that nothing was dealt into it; the journal says that it may have been."""
    machine = box.machine("--manual", "--packs", "4")
    machine.tell("insert")
    journal(box, (1, 1, 0, 0, "exact"), (2, 1, 1, 0, "started"))
    not_into_this_one(box, machine, "--resume").expect(0, "is job 2|is job \\d+ of the ledger",
                                                       "1 of 2 boards are exact duplicates; 1 is left out")
    assert box.outcomes() == ["unknown", "exact"], box.records()


@test
def an_insertion_that_is_exact_is_not_dealt_into_again(box):
    """Nor is its copy."""
    machine = box.machine("--manual", "--packs", "4")
    machine.tell("insert")
    journal(box, (1, 1, 1, 0, "exact"), (2, 1, 0, 0, "todo"))
    result = not_into_this_one(box, machine, "--resume")
    assert "board 1: exact" not in result.out, result


@test
def an_insertion_that_was_void_is_not_dealt_into_again(box):
    machine = box.machine("--manual", "--packs", "4")
    machine.tell("insert")
    journal(box, (2, 1, 1, 1, "todo"), doubt=True)
    not_into_this_one(box, machine, "--resume")


@test
def a_new_job_does_not_deal_into_the_board_of_the_old_one(box):
    machine = box.machine("--manual", "--packs", "4")
    machine.tell("insert")
    journal(box, (1, 1, 1, 0, "exact"), (2, 1, 0, 0, "todo"))
    not_into_this_one(box, machine, "--yes", "--boards", "9", SET, last=9).expect(
        0, "the job that stood at board 2, copy 1 is given up")


@test
def a_journal_of_other_files_stays(box):
    machine = box.machine("--manual")
    path = journal(box, (1, 1, 1, 0, "started"), digest="0" * 64)
    for args in ("--resume",), ("--yes", SET):
        box.dealbox("deal", "-m", machine.uri, *args).expect(2, "has other deals than its files", "put its files back")
    os.unlink(path)
    box.write("state/dealbox/job-EMU1.json", open(journal(box, (1, 1, 1, 0, "started"))).read()[:90])
    box.dealbox("deal", "-m", machine.uri, "--resume").expect(2, "is damaged: nobody knows how far the job", "move that file")
    assert os.path.exists(path) and not box.outcomes()


@test
def a_journal_is_taken_over_once(box):
    """However often that is interrupted: what is in the ledger already stays as it is."""
    machine = box.machine("--manual", "--packs", "4")
    items = (1, 1, 3, 0, "exact"), (2, 1, 7, 0, "started"), (3, 1, 0, 0, "todo")
    for _ in range(3):
        journal(box, *items)
        running = box.begin("deal", "-m", machine.uri, "--resume")
        running.see("Put in the empty board 2")
        running.stop().expect(130, "stopped before board 2, copy 1")
    assert box.outcomes() == ["unknown", "unknown"], box.records()
    assert len(box.records("job")) == 1, box.records("job")


# ---- one job after the other ----------------------------------------------------------------

def stopped_with_a_board(box, machine):
    """Board 1 is exact, and the job stopped before board 2, with board 1 still in the machine."""
    running = box.begin("deal", "-m", machine.uri, "--yes", "--boards", "1,2", SET)
    running.put_in(machine)
    running.see("board 1: exact")
    running.see("Take it out")
    running.stop()


@test
def the_board_of_the_last_run_is_not_dealt_into_again(box):
    for name, args in ("one", ("--resume",)), ("two", ("--yes", "--boards", "9", SET)):
        machine = box.machine("--manual", "--packs", "4", name=name)
        stopped_with_a_board(box, machine)
        running = box.begin("deal", "-m", machine.uri, *args)
        running.see("Take it out|take it out")
        machine.tell("key start")
        machine.tell("wait fetched")
        assert machine.status("deals") == "1"
        running.stop()


@test
def the_same_files_unchanged(box):
    machine = box.machine("--manual")
    with open(SET) as file:
        whole = file.read()
    box.write("set.pbn", whole)
    running = box.begin("deal", "-m", machine.uri, "set.pbn")
    running.see("Put in the empty board 1")
    running.stop()
    box.dealbox("deal", "-m", machine.uri, "--resume", SET, "nothing.pbn").expect(2, "nothing.pbn")
    first, second = re.findall(r'\[Deal ".*?"\]', whole)[:2]
    box.write("set.pbn", whole.replace(first, "?").replace(second, first).replace("?", second))
    box.dealbox("deal", "-m", machine.uri, "--resume", "set.pbn").expect(
        2, "the job to resume has other deals than these files", "give the files of that job")
    running = box.begin("deal", "-m", machine.uri, "--resume", SET)
    running.see("Put in the empty board 1")
    running.stop().expect(130)


@test
def a_new_job_gives_up_the_old_one_but_not_its_board(box):
    machine = box.machine("--manual", speed="4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    machine.tell("wait position 3")
    running.stop()
    running = box.begin("deal", "-m", machine.uri, "--yes", "--boards", "9", SET)
    running.see("has been in the machine|Nobody knows|was stopped")
    machine.tell("remove")
    machine.tell("hopper fill")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "the job that stood at board 1, copy 1 is given up",
                            "board 9: exact duplicate")


main()
