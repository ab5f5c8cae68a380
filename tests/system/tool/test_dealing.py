#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that deals without the service, by the library's dealing: see drive.c."""

import json
import os
import re
import signal
import subprocess

from tool import DEALBOX, SET, Running, assert_exact, main, test

DRIVE = os.environ["DEALBOX_DRIVE"]


class Drive(Running):
    def __init__(self, box, machine, job=None, path=SET):
        super().__init__(box.start([DRIVE, path, os.path.join(box.folder, "ledger"), machine.uri,
                                    *([str(job)] if job else [])],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def see(self, pattern):
        """The next line that fits; states that come on the way are left out."""
        while not re.search(pattern, line := self.line()):
            # nothing else is decided on the way
            assert not re.match("board|done|refused", line), "%r, not %r" % (line, pattern)
        return line

    def end(self):
        self.tell("end")
        return self.finish().expect(0)


def records(box):
    result = subprocess.run([DEALBOX, "ledger", "export", "-l", os.path.join(box.folder, "ledger")], text=True,
                            env=box.env, capture_output=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def outcomes(box):
    return [record["outcome"] for record in records(box) if record["record"] == "verdict"]


def board_in(box, **settings):
    """A machine and a program that deals on it; the operator has put the first board in."""
    machine = box.machine("--manual", **settings)
    drive = Drive(box, machine)
    drive.see("insert-board")
    machine.tell("insert")
    return machine, drive


@test
def a_job_is_dealt_and_each_board_once(box):
    machine = box.machine("--manual")
    drive = Drive(box, machine)
    for board in 1, 2:
        drive.see("insert-board: Put in the empty board %d, copy 1." % board)
        machine.tell("insert")
        drive.see("board %d, copy 1, insertion %d, exact: exact duplicate" % (board, board))
        if board == 1:
            drive.see("take-out: Board 1, copy 1 is dealt and recorded.")
            machine.tell("remove")
    drive.see("^done")
    drive.end()
    lays = machine.account()
    assert [lay["insertion"] for lay in lays] == [1, 2], lays
    for board, lay in enumerate(lays, 1):
        assert_exact(lay, board)
    assert outcomes(box) == ["exact", "exact"], records(box)


@test
def a_board_that_was_there_before_is_in_doubt(box):
    machine = box.machine("--manual")
    machine.tell("insert")
    drive = Drive(box, machine)
    drive.see("confirm-empty: Look into all pockets of this board; .* If it is empty")
    assert machine.status("deals") == "0"
    # whoever says that it is empty is in the record
    drive.tell("accept")
    drive.see("board 1, copy 1, insertion 1, exact")
    drive.end()
    acts = [record for record in records(box) if record["record"] == "act" and record["act"] == "emptied"]
    assert [act["uid"] for act in acts] == [os.getuid()], acts


@test
def an_answer_is_not_taken_for_another_question(box):
    """Somebody exchanges the board while the operator answers about the one that was there."""
    for answer in "start", "accept":
        machine = box.machine("--manual", name=answer)
        machine.tell("insert")
        drive = Drive(box, machine)
        drive.see("confirm-empty")
        drive.tell("hold")
        drive.see("^held")
        machine.tell("remove")
        drive.see("^waiting")
        machine.tell("insert")
        drive.tell(answer)
        drive.tell("skip 1 1")
        drive.tell("go")
        drive.see("confirm-empty: .* board 2")
        assert machine.status("deals") == "0"
        # now he has seen it
        drive.tell(answer)
        drive.see("board 2, copy 1, insertion 2, exact")
        drive.end()
        os.remove("ledger")
        os.remove("ledger.key")
        os.remove("ledger.heads")


@test
def accept_answers_no_other_question(box):
    machine, drive = board_in(box, scenario="position 7: feed-timeout")
    drive.see("feed-timeout: .* This was at card 8 of 52.")
    drive.tell("accept")
    for _ in range(2):
        # the second is answered when all has been done that the first found
        drive.tell("skip 1 1")
        drive.see("^said")
    assert machine.status("state") == "HELD", machine.tell("status")
    drive.tell("start")
    drive.see("board 1, copy 1, insertion 1, exact")
    drive.end()


@test
def another_board_is_dealt_and_a_number_is_named(box):
    """Each in answer to what was shown, and only where the job has that board."""
    machine = box.machine("--manual", "--capabilities", "by-card,exit-sensors,keys,board-reader")
    drive = Drive(box, machine)
    drive.see("insert-board: .* board 1")
    machine.tell("insert 2")
    drive.see("number-other: .*The label says board 2")
    # that is no answer here
    drive.tell("name-board 1")
    drive.tell("hold")
    drive.see("^held")
    machine.tell("remove")
    drive.see("^waiting")
    machine.tell("insert 2")
    machine.tell("wait fetched")
    # about a board that is out
    drive.tell("deal-this")
    drive.tell("go")
    drive.see("number-other")
    machine.tell("remove force")
    drive.see("insert-board: .* board 1")
    assert machine.status("deals") == "0"
    machine.tell("insert 2")
    drive.see("number-other")
    drive.tell("deal-this")
    drive.see("board 2, copy 1, insertion 3, exact")
    machine.tell("remove")
    drive.see("insert-board: .* board 1")
    machine.tell("insert")
    drive.see("number-unread")
    drive.tell("deal-this")
    drive.tell("name-board 9")
    drive.see("^refused")
    drive.tell("name-board 2")
    drive.see("^said: the job has no copy of this board left to be dealt")
    assert machine.status("deals") == "1"
    drive.tell("name-board 1")
    drive.see("board 1, copy 1, insertion 4, exact")
    drive.see("^done")
    drive.end()
    for board, lay in zip((2, 1), [lay for lay in machine.account() if lay["end"] == "done"]):
        assert_exact(lay, board)


@test
def a_named_board_is_not_said_to_be_empty(box):
    """Behind a void board, whoever names the next one is asked about that as well."""
    machine = box.machine("--manual", "--capabilities", "by-card,exit-sensors,keys,board-reader",
                          scenario="deal 1 position 7: wrong-pocket")
    drive = Drive(box, machine)
    drive.see("insert-board: .* board 1")
    machine.tell("insert 1")
    drive.see("board 1, copy 1, insertion 1, void")
    machine.tell("remove")
    machine.tell("wait state IDLE")
    machine.tell("empty")
    for insert, asks, answer in ("insert 2", "number-other", "deal-this"), ("insert", "number-unread", "name-board 1"):
        machine.tell(insert)
        drive.see(asks)
        drive.tell(answer)
        drive.see("confirm-empty")
        assert machine.status("deals") == "1"
        machine.tell("remove")
        drive.see("wrong-pocket")
    drive.end()


@test
def a_deal_is_paused_and_goes_on(box):
    machine, drive = board_in(box, scenario="position 20: freeze\non request PAUSE: thaw")
    machine.tell("wait frozen")
    drive.tell("pause")
    drive.see("paused: Paused in board 1, copy 1")
    drive.tell("start")
    drive.see("board 1, copy 1, insertion 1, exact")
    drive.end()


@test
def a_stop_voids_the_board(box):
    machine, drive = board_in(box, scenario="deal 1 position 20: freeze\non request ABORT: thaw")
    machine.tell("wait frozen")
    drive.tell("stop")
    drive.see("board 1, copy 1, insertion 1, void: void: aborted")
    drive.see("used|aborted|stopped")
    machine.tell("remove")
    drive.see("stopped: This machine was stopped by the emergency stop")
    drive.tell("start")
    drive.see("aborted: The deal was stopped. The board is void")
    machine.tell("hopper fill")
    machine.tell("insert")
    drive.see("confirm-empty")
    drive.tell("accept")
    drive.see("board 1, copy 1, insertion 2, exact")
    drive.end()
    assert outcomes(box) == ["void", "exact"], records(box)


@test
def a_jam_says_where(box):
    machine, drive = board_in(box, scenario="position 7: jam gate")
    drive.see("board 1, copy 1, insertion 1, void: void: jam at card 8, at the gate")
    drive.see("jam: .* This was at card 8 of 52. It is stuck at the gate. The board is void")
    drive.end()


@test
def copies_are_skipped_and_dealt_again_and_a_job_is_cancelled(box):
    machine = box.machine("--manual")
    drive = Drive(box, machine)
    drive.see("insert-board: .* board 1")
    drive.tell("skip 3 1")
    drive.see("^refused")
    drive.tell("skip 1 2")
    drive.see("^refused")
    drive.tell("skip 1 1")
    drive.see("insert-board: .* board 2")
    machine.tell("insert")
    drive.see("board 2, copy 1, insertion 1, exact")
    drive.see("^done")
    machine.tell("remove")
    drive.see("no-work")
    drive.tell("redeal 2 1")
    drive.see("insert-board: .* board 2")
    drive.tell("cancel")
    drive.see("^done")
    drive.end()


def ended_in_a_deal(box, end):
    machine = box.machine("--manual", "--capabilities", "by-card,exit-sensors,keys,board-lock",
                          scenario="deal 1 position 20: freeze")
    drive = Drive(box, machine)
    job = drive.see("^job ").split()[1]
    drive.see("insert-board")
    machine.tell("insert")
    machine.tell("wait frozen")
    end(drive)
    machine.tell("thaw")
    drive = Drive(box, machine, job=job)
    drive.see("used|in-doubt|aborted|confirm-empty")
    drive.tell("start")
    drive.tell("accept")
    machine.tell("wait unlocked")
    machine.tell("remove")
    machine.tell("hopper fill")
    machine.tell("insert")
    drive.see("confirm-empty: .* board 1")
    drive.tell("accept")
    drive.see("board 1, copy 1, insertion 2, exact")
    drive.end()
    assert outcomes(box) == ["unknown", "exact"], records(box)
    assert [lay["end"] for lay in machine.account()].count("done") == 1, machine.account()


@test
def killed_in_a_deal_nothing_is_dealt_twice(box):
    def kill(drive):
        drive.process.send_signal(signal.SIGKILL)
        drive.finish()
    ended_in_a_deal(box, kill)


@test
def ended_in_a_deal_the_next_one_is_told(box):
    ended_in_a_deal(box, Drive.end)


@test
def unplugged_in_a_deal(box):
    machine, drive = board_in(box, scenario="deal 1 position 20: unplug")
    drive.see("board 1, copy 1, insertion 1, void")
    drive.see("machine-absent: The machine is not there.")
    machine.tell("plug")
    drive.see("in-doubt|used")
    machine.tell("remove")
    machine.tell("hopper fill")
    machine.tell("insert")
    drive.see("confirm-empty")
    drive.tell("accept")
    drive.see("board 1, copy 1, insertion 2, exact")
    drive.end()


@test
def what_cannot_be_dealt_is_said(box):
    machine = box.machine("--manual")
    Drive(box, machine, job=7).finish().expect(1, "there is no job 7 in the ledger")
    other = box.machine("--manual", name="other")
    other.process.kill()
    other.process.wait()
    Drive(box, other).finish().expect(1, "; ")
    # the ledger is as good as before
    drive = Drive(box, machine)
    drive.see("insert-board")
    drive.end()


@test
def the_deal_does_not_stay_in_the_machine(box):
    machine, drive = board_in(box)
    drive.see("board 1, copy 1, insertion 1, exact")
    drive.end()
    assert machine.status("plan") == "0", machine.tell("status")


main()
