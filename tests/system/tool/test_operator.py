#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages and questions to the operator of a machine after faults."""

import os
import pty
import re
import signal
import subprocess
import termios
import time

from tool import DEALBOX, SET, assert_exact, deals, main, test


# ---- a deal that is stopped -----------------------------------------------------------

@test
def stopped_while_a_card_is_held(box):
    """The machine moves nothing, but it has not paused: that is not said."""
    machine = box.machine("--manual", scenario="deal 1 position 7: feed-timeout")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("This was at card 8 of 52.")
    result = running.stop().expect(130, "stopped in the middle of board 1, copy 1, after card 7 of 52: "
                                      "the machine is waiting at a card")
    assert "is paused" not in result.err, result


@test
def a_machine_that_refuses_to_pause(box):
    """Three times, and then it is given up."""
    machine = box.machine("--manual", scenario="position 20: freeze\non request PAUSE always: refuse 5")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    machine.tell("wait frozen")
    result = running.stop().expect(130, "press its stop key")
    assert "is paused" not in result.err, result
    assert box.outcomes() in ([], ["unknown"])


@test
def a_pause_that_is_lost_is_sent_again(box):
    machine = box.machine("--manual", scenario="position 20: freeze\n"
                          "on request PAUSE: stall\non request PAUSE nth 2: thaw")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    machine.tell("wait frozen")
    running.stop().expect(130, "the machine is paused")


def frozen(box):
    """A machine that locks its board, and stands still at the sixth card until it is told to end."""
    return box.machine("--manual", "--capabilities", "by-card,by-position,capture,keys,board-lock",
                       scenario="position 5: freeze\non request ABORT: thaw")


@test
def a_pack_that_is_dealt_by_the_laws_is_ended(box):
    """No other run goes on with it, so it is ended, and the board can be taken out."""
    machine = frozen(box)
    machine.tell("insert")
    running = box.begin("deal", "--law", "rubber", "-m", machine.uri)
    running.empty(machine)
    machine.tell("wait frozen")
    running.stop(signal.SIGTERM).expect(130, "stopped in mid-deal: the deal has ended", "empty the board")
    machine.tell("wait state IDLE")
    machine.tell("remove")


@test
def a_capture_is_ended(box):
    """So is an original that is read; and nothing of it is written."""
    machine = frozen(box)
    machine.tell("insert")
    running = box.begin("capture", "-m", machine.uri, "new.pbn")
    running.see("pocket N: Reading board 1")
    machine.tell("key start")
    machine.tell("wait frozen")
    running.stop(signal.SIGTERM).expect(130, "stopped: nothing was written", "capture the board again")
    machine.tell("wait state IDLE")
    machine.tell("remove")
    assert [act["act"] for act in box.records("act")].count("cancel") == 1
    assert len(box.outcomes()) == 1 and box.outcomes()[0] in ("void", "unknown"), box.outcomes()
    assert not os.path.exists("new.pbn")


@test
def a_capture_that_waits_for_a_board_ends(box):
    machine = box.machine("--manual")
    running = box.begin("capture", "-m", machine.uri, "new.pbn")
    running.see("leave the board in the machine")
    result = running.stop().expect(130, "stopped: nothing was written")
    assert "paused" not in result.err, result
    assert [act["act"] for act in box.records("act")].count("cancel") == 1


LOCK = ("--manual", "--capabilities", "by-card,exit-sensors,keys,board-lock")


@test
def stopped_before_a_deal_the_board_is_let_go(box):
    machine = box.machine(*LOCK)
    machine.tell("hopper empty")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("The hopper is empty")
    running.stop().expect(130, "stopped before board 1")
    machine.tell("remove")


@test
def stopped_in_a_deal_it_is_said_when_the_board_is_let_go(box):
    machine = box.machine(*LOCK, scenario="position 20: freeze\non request PAUSE: thaw")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    machine.tell("wait frozen")
    running.stop().expect(130, "the machine is paused",
                          "`dealbox deal --resume` lets go of that board, to be emptied, and goes on")
    running = box.begin("deal", "-m", machine.uri, "--resume")
    running.see("board 1: void")
    machine.tell("wait unlocked")
    machine.tell("remove")
    machine.tell("hopper fill")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate")


@test
def a_board_that_is_left_locked_in_is_let_go(box):
    """The machine went away in mid-deal, and nobody waits for it: how its board comes out is said."""
    for name, command, again, asks in (
            ("set", ("deal", "--boards", "1", SET), ("deal", "--resume"), "Take it out"),
            ("capture", ("capture", "new.pbn"), ("capture", "new.pbn"), "Reading board 1")):
        machine = box.machine("--manual", "--capabilities", "by-card,capture,keys,board-lock", name=name,
                              scenario="position 5: unplug")
        machine.tell("insert")
        running = box.begin(*command, "-m", machine.uri)
        running.see("is empty|Reading board 1")
        machine.tell("key start")
        running.see("The machine is not there")
        running.stop().expect(130, "may keep its board locked in\n +begin again: that lets go of the board")
        assert machine.status("locked") == "1"
        machine.tell("plug")
        running = box.begin(*again, "-m", machine.uri)
        running.see(asks)
        running.stop().expect(130)
        machine.tell("remove")


@test
def a_machine_that_stands_still(box):
    """The protocol gives it five seconds for a card; it answers, and no card moves."""
    both = []
    for name, command in ("set", ("--boards", "1", SET)), ("law", ("--law", "rubber", "--ledger", "table")):
        machine = box.machine("--manual", name=name, scenario="position 20: freeze")
        running = box.begin("deal", "-m", machine.uri, *command)
        running.see("Put in (the|an) empty board")
        machine.tell("insert")
        both.append((machine, running))
    for machine, running in both:
        running.see("moved no card for five seconds. Leave the board in")
        machine.tell("thaw")
    both[0][1].finish().expect(0, "board 1: exact duplicate")
    both[1][1].finish().expect(0, "stands")


@test
def a_board_whose_number_cannot_be_read(box):
    """It may be another than the one that is expected."""
    machine = box.machine("--manual", "--capabilities", "by-card,exit-sensors,keys,board-reader")
    running = box.begin("deal", "-m", machine.uri, "--boards", "5", SET)
    running.put_in(machine)
    running.see("The number of the board cannot be read. Look at it: if it is board 5, press start")
    assert machine.status("deals") == "0"
    machine.tell("remove")
    running.put_in(machine)
    running.see("The number of the board cannot be read")
    machine.tell("key start")
    running.finish().expect(0, "board 5: exact duplicate")


READER = ("--manual", "--capabilities", "by-card,exit-sensors,keys,board-reader")


def at_keys(box, machine, *args):
    """A run whose keys are a pipe, which is written as if it were typed."""
    running = box.begin("deal", "-m", machine.uri, *args, SET, stdin=subprocess.PIPE)

    def type_in(keys):
        running.process.stdin.write(keys)
        running.process.stdin.flush()
    running.type_in = type_in
    return running


@test
def one_key_deals_the_board_that_is_in(box):
    machine = box.machine(*READER)
    running = at_keys(box, machine, "--boards", "1-2")
    running.put_in(machine, "2")
    line = running.see("Board 1 comes next")
    assert line.rstrip().endswith("The label says board 2. [D: Deal board 2 now] [S: Skip board 1]"), line
    # no answers to this
    running.type_in("n")
    running.type_in("x")
    assert machine.status("deals") == "0"
    running.type_in("d")
    assert "board 2: exact duplicate" in running.line()
    machine.tell("remove")
    running.put_in(machine, "1")
    assert "board 1: exact duplicate" in running.line()
    running.finish().expect(0, "2 of 2 boards are exact duplicates; 0 void")
    assert_exact(machine.account()[0], 2)
    assert_exact(machine.account()[1], 1)


@test
def one_key_skips_the_board_that_is_wanted(box):
    machine = box.machine(*READER)
    running = at_keys(box, machine, "--boards", "1-2", "--lang", "fr")
    running.see("Mettez|Insérez|Introduisez|étui vide 1|l'étui 1")
    machine.tell("insert 2")
    running.see(r"\[D: Donner l'étui 2 maintenant\] \[S: Sauter l'étui 1\]")
    running.type_in("S\n")
    running.finish().expect(0, "étui 2 : .* exacte \\(d'après les capteurs",
                            "1 étui sur 2 est une copi.? exacte ; 1 est omis ; 0 nul et redonné ; ")
    assert_exact(machine.account()[0], 2)


@test
def a_recorded_board_is_dealt_again(box):
    """R asks first; what comes in then may be the board with its cards, so that is asked, too."""
    machine = box.machine(*READER)
    running = at_keys(box, machine, "--boards", "1-2")
    running.put_in(machine, "1")
    assert "board 1: exact duplicate" in running.line()
    line = running.see("is dealt and recorded. Take it out")
    assert line.rstrip().endswith("[R: Deal board 1 again]"), line
    # another key than Enter is no consent, and the Enter behind it is for nobody
    running.type_in("rx\n")
    running.type_in("R\x1b\n")
    assert [act["act"] for act in box.records("act")].count("redeal") == 0
    running.type_in("R\n")
    while "redeal" not in [act["act"] for act in box.records("act")]:
        time.sleep(0.05)
    machine.tell("remove")
    running.put_in(machine, "1")
    running.see("If it is empty, .* press start to deal board 1")
    machine.tell("remove")
    machine.tell("empty")
    running.put_in(machine, "1")
    running.see("If it is empty")
    running.type_in("\n")
    assert "board 1: exact duplicate" in running.line()
    running.see("Take it out")
    # too late: the next one is asked for
    machine.tell("remove")
    running.see("Put in the empty board 2")
    running.type_in("r\n")
    machine.tell("insert 2")
    running.finish().expect(0, "2 of 2 boards are exact duplicates")
    assert_exact(machine.account()[-2], 1)
    assert [act["act"] for act in box.records("act")].count("redeal") == 1


@test
def a_board_that_the_job_does_not_have_is_not_dealt(box):
    machine = box.machine(*READER)
    running = at_keys(box, machine, "--boards", "5-6")
    running.put_in(machine)
    running.see(r"cannot be read.*\[Enter\] \[N: It has another number\]")
    running.type_in("n7\n")
    line = running.process.stderr.readline()
    assert "the job has no board 7" in line, line
    running.type_in("n16\x7f\x7f6\n")
    assert "board 6: exact duplicate" in running.line()
    running.stop().expect(130, "stopped before board 5")
    assert_exact(machine.account()[0], 6)


@test
def a_number_that_is_being_typed_is_for_its_board_only(box):
    """The board is exchanged meanwhile: neither the number nor its Enter is taken for the other one."""
    machine = box.machine(*READER)
    running = at_keys(box, machine, "--boards", "5-6")
    running.put_in(machine)
    running.see("cannot be read")
    running.type_in("n6")
    machine.tell("remove")
    running.put_in(machine)
    running.see("cannot be read")
    running.type_in("\n")
    running.type_in("n5\x1b")
    running.type_in("n\n")
    # none of these deals board 5
    running.type_in("N6\n")
    assert "board 6: exact duplicate" in running.line()
    running.stop().expect(130, "stopped before board 5")
    lays = [lay["insertion"] for lay in machine.account() if lay["end"] == "done"]
    assert lays == [2], lays
    assert_exact(machine.account()[1], 6)


@test
def a_terminal_hands_over_each_key(box):
    """A letter counts without Enter and is not echoed, and the terminal is as before at the end."""
    machine = box.machine(*READER)
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    process = box.start([DEALBOX, "deal", "-m", machine.uri, "--boards", "1-2", SET], stdin=slave, stdout=slave,
                        stderr=slave)
    seen = b""

    def see(pattern):
        nonlocal seen
        while not re.search(pattern, seen):
            seen += os.read(master, 4096)
    see(b"Put in the empty board 1")
    machine.tell("insert 2")
    see(b"D: Deal board 2 now")
    os.write(master, b"d")
    see(b"board 2: exact duplicate")
    machine.tell("remove")
    see(b"Put in the empty board 1")
    machine.tell("insert")
    see(b"N: It has another number")
    os.write(master, b"n")
    see(rb"Which number is on the board\? ")
    os.write(master, b"1\n")
    see(b"2 of 2 boards are exact")
    assert process.wait() == 0
    # but for input that waits, and for what the driver counts
    assert termios.tcgetattr(slave)[3] == before[3], (termios.tcgetattr(slave), before)
    last = seen[seen.rindex(b"is dealt and recorded"):]
    assert b"[Enter]" not in last, last
    os.close(slave)
    os.close(master)


# ---- transfers that fail --------------------------------------------------------------

@test
def a_plan_that_does_not_arrive(box):
    """Lost, damaged, or refused without a reason: the operator is told, and start gives it again."""
    for name, scenario in (("lost", "on plan: stall"), ("damaged", "on plan: refuse 15"),
                           ("refused", "on request LOAD times 3: stall")):
        machine = box.machine("--manual", name=name, scenario=scenario)
        running = box.begin("deal", "-m", machine.uri, "--boards", "1", "--yes", SET)
        running.put_in(machine)
        running.see("The machine refuses the plan or the start. Press start to try again|does not answer")
        while machine.status("deals") == "0":
            machine.tell("key start")
            time.sleep(0.05)
        running.finish().expect(0, "1 of 1 boards are exact duplicates; 0 void")
        assert_exact(machine.account()[0], 1)


# ---- firmware that is wrong ------------------------------------------------------------

def voided(box, scenario, reason):
    """Void for that reason, without a word to the operator that it cannot help; then dealt again."""
    machine = box.machine("--kind", "routed", scenario=scenario)
    result = box.deal("-m", machine.uri, "--boards", "1", SET).expect(
        0, "board 1: (void|not an exact).*" + reason, "1 of 1 boards are exact duplicates; 1 void")
    assert "too late" not in result.out, result
    good = [lay for lay in machine.account() if lay["end"] == "done"]
    assert len(good) == 1 and good[0]["insertion"] > 1, good
    assert_exact(good[0], 1)


@test
def the_machine_does_not_say_that_it_deals(box):
    voided(box, "on event DEAL_STARTED: set 0 f0", "")


@test
def an_insertion_that_changes_its_number(box):
    voided(box, "on event insertion 1 position 5 always: set 12 63", "")


@test
def a_deal_that_begins_under_another_number(box):
    voided(box, "on event DEAL_STARTED: set 12 63", "")


@test
def a_number_that_comes_twice(box):
    """A dealt board is not dealt again, and the reason for refusing the new one is given."""
    machine = box.machine("--manual", scenario="on request GET_STATUS always: set 8 01000000\n"
                          "on event BOARD_INSERTED nth 2 always: set 12 01")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-2", SET)
    running.put_in(machine)
    running.see("board 1: exact")
    machine.tell("remove")
    running.put_in(machine)
    running.see("takes this board for one that it has dealt|has been in the machine")
    running.stop().expect(130, "stopped before board 2")


# ---- what is asked first ----------------------------------------------------------------

def interrupted(box):
    """A job with one board dealt, and the next one begun."""
    machine = box.machine("--manual", scenario="deal 2 position 20: freeze\non request PAUSE: thaw")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-3", SET)
    running.put_in(machine)
    assert "board 1: exact" in running.line()
    machine.tell("remove")
    machine.tell("hopper fill")
    running.put_in(machine)
    machine.tell("wait frozen")
    running.stop().expect(130, "stopped in the middle of board 2")
    return machine


@test
def a_stopped_job_is_not_given_up_unasked(box):
    machine = interrupted(box)
    before = box.records()
    for answer in (None, "\n", "n\n", "no\nyes\n"):
        running = box.begin("deal", "-m", machine.uri, "--boards", "9", SET, stdin=subprocess.PIPE)
        running.finish(answer).expect(
            1, r"The last job stands at board 2, copy 1; `dealbox deal --resume` goes on with "
               r"it. Give it up\? \[y/N\]", "nothing was done", "--yes")
        assert box.records() == before
    running = box.begin("deal", "-m", machine.uri, "--boards", "9", SET, stdin=subprocess.PIPE)
    running.process.stdin.write("y\n")
    running.process.stdin.flush()
    running.see("Nobody knows|has been in the machine|was stopped|void")
    assert [act["act"] for act in box.records("act")].count("cancel") == 1
    running.stop().expect(130, "the job that stood at board 2, copy 1 is given up")


@test
def a_job_that_never_began_is_not_asked_about(box):
    machine = box.machine("--manual")
    for _ in range(2):
        running = box.begin("deal", "-m", machine.uri, SET)
        running.see("Put in the empty board 1")
        running.stop().expect(130)


@test
def boards_that_are_asked_for_one_by_one(box):
    machine = box.machine()
    box.deal("-m", machine.uri, "-b", "7", "-b", "9", SET).expect(
        0, "board 7: exact", "board 9: exact", "2 of 2 boards")
    box.dealbox("generate", "-b", "7", "-b", "9", "new.pbn").expect(0)
    assert sorted(deals("new.pbn")) == [7, 9]


main()
