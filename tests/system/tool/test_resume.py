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
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "7", "--copies", "2", SET)
    machine.tell("wait position 5")
    result = running.stop()
    result.expect(1, r"stopped in the middle of board 7, copy 1, after card \d+ of 52: the machine is paused",
                  "empty that board; `dealbox deal --resume` goes on")
    journal = box.journal()
    assert [item["state"] for item in journal["items"]] == ["started", "todo"], journal
    assert journal["copies"] == 2 and journal["files"] == [SET], journal


@test
def ctrl_c_while_it_waits_for_a_board(box):
    machine = box.machine("--manual")
    running = box.begin("deal", "-m", machine.uri, "--boards", "7", SET)
    running.line()
    running.stop().expect(1, "stopped before board 7, copy 1")
    running = box.begin("deal", "-m", machine.uri, "--resume")
    running.line()
    machine.tell("insert")
    running.finish().expect(0, "1 of 1 boards are exact duplicates; 0 void")


@test
def ctrl_c_and_resume(box):
    machine = box.machine(speed="4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-3", SET)
    machine.tell("wait deals 2")
    machine.tell("wait position 10")
    first = running.stop().expect(1, "stopped in the middle of board 2")
    running, text = resume(box, machine)
    assert "board 2: void: the last run ended in the middle of it" in text
    second = running.finish().expect(0, "3 of 3 boards are exact duplicates; 1 void")
    assert said_exact(first.out + text + second.out) == [(1, 1), (2, 1), (3, 1)]
    assert lies_exact(machine, [1, 2, 3]) == [1, 1, 1]


@test
def terminated_like_ctrl_c(box):
    machine = box.machine(speed="4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    machine.tell("wait position 3")
    running.stop(signal.SIGTERM).expect(1, "stopped in the middle of board 1")


@test
def killed_at_any_moment(box):
    """Ten times, at seeded moments of a job; in the end every board is exact, and said to be once."""
    chance = random.Random(2007)
    machine = box.machine("--kind", "routed", speed="20")
    text = ""
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-5", "--copies", "2", SET)
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
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    machine.tell("wait frozen")
    running.stop(signal.SIGKILL)
    item = box.journal()["items"][0]
    assert item["state"] == "started" and item["insertion"] == int(machine.status("insertion")), item
    machine.tell("thaw")
    running = box.begin("deal", "-m", machine.uri, "--resume")
    assert "board 1: void: the last run ended in the middle of it" in running.line()


def stopped_with_a_board(box, machine, boards="1,2", **changed):
    """
    Board 1 is exact, and the job stopped before board 2. Then the journal has it that items were
    dealt into the insertion that is there now, of which the machine knows nothing.
    """
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", boards, SET)
    assert "board 1: exact" in running.line()
    running.line()
    running.stop()
    path, = glob.glob(os.path.join(box.folder, "state/dealbox/*.json"))
    machine.tell("remove")
    machine.tell("insert")
    with open(path) as file:
        journal = json.load(file)
    journal["items"][changed.pop("item")].update(insertion=int(machine.status("insertion")), **changed)
    box.write(path, json.dumps(journal))


def not_into_this_one(box, machine, *said, args=("--resume",), last=2):
    """The board that is there is not dealt into, whatever the operator presses, and the next one is."""
    running = box.begin("deal", "-m", machine.uri, *args, stdin=subprocess.PIPE)
    for pattern in said:
        line = running.line()
        assert re.search(pattern, line), line
    machine.tell("key start")
    machine.tell("remove")
    assert "in again" in (line := running.line()) or "put in an empty board" in line, line
    machine.tell("insert")
    running.answer("is empty").expect(0, "board %d: exact duplicate" % last)
    *_, before, _ = machine.account()
    assert before["deals"] == 0, before


@test
def an_insertion_that_was_begun_is_not_dealt_into_again(box):
    """The machine says that nothing was dealt into it; the journal says that it may have been."""
    machine = box.machine("--manual", "--packs", "4")
    stopped_with_a_board(box, machine, item=1, state="started")
    not_into_this_one(box, machine, "board 2: void: the last run ended in the middle of it",
                      "take the board out, empty it, put all the cards into the hopper, and put the board in again$")


@test
def an_insertion_that_is_exact_is_not_dealt_into_again(box):
    machine = box.machine("--manual", "--packs", "4")
    stopped_with_a_board(box, machine, item=0, state="exact")
    not_into_this_one(box, machine, "take the dealt board out, and put in an empty board 2")


@test
def an_insertion_that_was_void_is_not_dealt_into_again(box):
    machine = box.machine("--manual", "--packs", "4")
    stopped_with_a_board(box, machine, item=1, state="todo", voids=1)
    not_into_this_one(box, machine, "take the dealt board out, and put in an empty board 2")


@test
def a_new_job_does_not_deal_into_the_board_of_the_old_one(box):
    machine = box.machine("--manual", "--packs", "4")
    stopped_with_a_board(box, machine, item=0, state="exact")
    not_into_this_one(box, machine, "take the dealt board out, and put in an empty board 9",
                      args=("--yes", "--boards", "9", SET), last=9)


@test
def the_same_files_unchanged(box):
    machine = box.machine("--manual")
    with open(SET) as file:
        whole = file.read()
    box.write("set.pbn", whole)
    running = box.begin("deal", "-m", machine.uri, "set.pbn")
    running.line()
    running.stop()
    box.dealbox("deal", "-m", machine.uri, "--resume", SET, "nothing.pbn").expect(2, "nothing.pbn")
    first, second = re.findall(r'\[Deal ".*?"\]', whole)[:2]
    box.write("set.pbn", whole.replace(first, "?").replace(second, first).replace("?", second))
    box.dealbox("deal", "-m", machine.uri, "--resume").expect(
        2, "the job to resume has other deals than these files", "give the files of that job")
    running = box.begin("deal", "-m", machine.uri, "--resume", SET)
    assert "put in an empty board 1" in running.line()
    running.stop().expect(1)


@test
def a_new_job_gives_up_the_old_one_but_not_its_board(box):
    machine = box.machine("--manual", speed="4")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    machine.tell("wait position 3")
    running.stop()
    running = box.begin("deal", "-m", machine.uri, "--yes", "--boards", "9", SET)
    assert "take the board out, empty it" in running.line()
    machine.tell("remove")
    assert "put the emptied board 9 in again" in running.line()
    machine.tell("hopper fill")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "the job that stood at board 1, copy 1 is given up",
                            "board 9: exact duplicate")


main()
