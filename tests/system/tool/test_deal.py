#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dealing a set: on both kinds of machine, and with every fault."""

import json
import os
import pty
import re
import subprocess
import time

from tool import Box, SET, assert_exact, assert_secret, main, test


def dealt(machine):
    return [board for board in machine.account() if board["end"] == "done"]


def whole_set(box: Box, kind):
    machine = box.machine("--kind", kind)
    box.dealbox("deal", "-m", machine.uri, "--boards", "1-3,5", "--copies", "2", SET).expect(
        0, r"board 1, copy 1: exact duplicate", r"board 5, copy 2: exact duplicate",
        r"8 of 8 boards are exact duplicates; 0 void")
    boards = [1, 1, 2, 2, 3, 3, 5, 5]
    account = dealt(machine)
    assert len(account) == len(boards), account
    for lay, board in zip(account, boards):
        assert_exact(lay, board)
    assert len({lay["insertion"] for lay in account}) == len(boards)


@test
def a_set_on_a_machine_that_holds_the_plan(box):
    whole_set(box, "stored")


@test
def a_set_on_a_machine_that_asks_for_each_card(box):
    whole_set(box, "routed")


@test
def a_job_that_is_done_leaves_no_plan_in_the_machine(box):
    machine = box.machine()
    box.dealbox("deal", "-m", machine.uri, "--boards", "1", SET).expect(0)
    assert machine.status("plan") == "0"


@test
def a_job_that_is_done_leaves_no_journal(box):
    machine = box.machine()
    box.dealbox("deal", "-m", machine.uri, "--boards", "1", SET).expect(0)
    names = os.listdir(os.path.join(box.folder, "state/dealbox"))
    assert not [name for name in names if not name.endswith(".lock")], names
    box.dealbox("deal", "-m", machine.uri, "--resume").expect(2, "no job to resume",
                                                             "deal without --resume")


def voided(box, scenario, reason, kind="stored"):
    machine = box.machine("--kind", kind, scenario=scenario)
    result = box.deal("-m", machine.uri, "--boards", "1-2", SET).expect(
        0, r"board 1: void: " + reason,
        r"board 1: take the board out, empty it, put all the cards into the hopper, and put the "
        r"board in again", r"board 1: exact duplicate", r"board 2: exact duplicate",
        r"2 of 2 boards are exact duplicates; 1 void and dealt again")
    assert result.out.index("void:") < result.out.index("take the board out") < \
        result.out.index("board 1: exact")
    good = dealt(machine)
    assert_exact(good[-2], 1)
    assert_exact(good[-1], 2)
    assert good[-2]["insertion"] > 1
    return machine


@test
def a_misread_card_voids_the_board_and_it_is_dealt_again(box):
    voided(box, "deal 1 position 20: misread", "repeated card at card [0-9]+")


@test
def a_misread_card_on_a_machine_that_asks(box):
    voided(box, "deal 1 position 20: misread", "repeated card at card [0-9]+", "routed")


@test
def a_card_in_the_wrong_pocket(box):
    voided(box, "deal 1 position 7: wrong-pocket", "wrong pocket at card 8")


@test
def two_cards_at_once(box):
    voided(box, "deal 1 position 7: double-feed", "double feed at card 8")


@test
def a_jam(box):
    voided(box, "deal 1 position 7: jam gate", "jam at card 8, at the gate")


@test
def a_fault_of_the_hardware(box):
    voided(box, "deal 1 position 7: hardware 17", "hardware fault.*, code 17")


@test
def the_board_pulled_out(box):
    voided(box, "deal 1 position 7: pull", "board pulled at card 8")


@test
def the_cover_opened(box):
    voided(box, "deal 1 position 7: cover open", "cover opened at card 8")


@test
def the_firmware_restarts(box):
    voided(box, "deal 1 position 7: reset", "state lost")


@test
def events_that_are_lost(box):
    voided(box, "deal 1 position 7 on event CARD_ROUTED: drop", "events of the machine were lost")


@test
def a_deal_that_ends_well_and_is_not_exact(box):
    """The machine stops for nothing, but a sensor saw cards in other pockets than planned."""
    machine = voided(box, "\n".join("deal 1 position %d on event CARD_LANDED: set 18 %02x" %
                                    (position, position % 4) for position in range(8)),
                     "not an exact duplicate: [0-9]+ differences?")
    assert machine.status("stops") == "0"


@test
def a_stop_behind_the_last_card(box):
    """The board is not exact, and the fault is not cleared before somebody has done something."""
    machine = box.machine("--manual", scenario="on event DEAL_DONE: hardware 5")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    assert "board 1: void: hardware" in running.line()
    assert "take the board out, empty it" in running.line()
    machine.tell("wait fetched")
    assert machine.status("state") == "FAULT"
    machine.tell("remove")
    assert "put the emptied board 1 in again" in running.line()
    assert machine.status("state") == "IDLE"
    machine.tell("empty")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 1 void")
    assert [lay["end"] for lay in machine.account()] == ["done", "done"]


@test
def a_board_that_is_out_before_it_is_told(box):
    """An answer of the machine that overtakes its events causes no doubt."""
    machine = box.machine(scenario="on event BOARD_REMOVED nth 1: delay 400")
    box.dealbox("deal", "-m", machine.uri, "--boards", "1-2", SET).expect(
        0, "board 1: exact duplicate", "2 of 2 boards are exact duplicates; 0 void")


@test
def a_stop_when_the_board_was_called_exact(box):
    machine = box.machine("--manual", "--packs", "4")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1,2", SET)
    assert "board 1: exact" in running.line()
    assert "take the dealt board out, and put in an empty board 2" in running.line()
    machine.tell("break 5")
    assert "board 1: void: hardware fault behind its end, so it is not exact" in running.line()
    assert "take the board out, empty it" in running.line()
    assert machine.status("state") == "FAULT"
    machine.tell("remove")
    assert "put the emptied board 1 in again" in running.line()
    machine.tell("empty")
    machine.tell("insert")
    running.empty(machine)
    assert "board 1: exact" in running.line()
    assert "take the dealt board out, and put in an empty board 2" in running.line()
    machine.tell("remove")
    assert "put in an empty board 2" in running.line()
    machine.tell("insert")
    running.finish().expect(0, "board 2: exact", "2 of 2 boards are exact duplicates; 1 void")


@test
def a_fault_while_it_waits_for_a_board(box):
    """It is cleared when somebody has done something, and not before."""
    machine = box.machine("--manual", "--packs", "4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1,2", SET)
    assert "put in an empty board 1" in running.line()
    machine.tell("break 5")
    assert "stands still after a fault: see to it, then press the start key" in running.line()
    assert machine.status("state") == "FAULT"
    machine.tell("insert")
    assert "board 1: exact" in running.line()
    assert "put in an empty board 2" in running.line()
    machine.tell("remove")
    assert "put in an empty board 2" in running.line()
    machine.tell("break 5")
    assert "stands still after a fault" in running.line()
    machine.tell("key start")
    assert "put in an empty board 2" in running.line()
    running.stop().expect(1)


@test
def a_void_board_that_is_pushed_back_at_once(box):
    """It is a new insertion, and its cards lie in it still: only the operator can say that it is empty."""
    machine = box.machine("--manual", "--packs", "4", scenario="deal 1 position 7: pull")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    assert "board 1: void: board pulled at card 8" in running.line()
    assert "take the board out, empty it" in running.line()
    machine.tell("insert")
    assert re.search("look into the board: press the start key or Enter if it is empty", asked := running.asked()), asked
    assert machine.status("deals") == "1"
    machine.tell("remove")
    assert "put the emptied board 1 in again" in running.line()
    machine.tell("empty")
    machine.tell("insert")
    assert running.asked() == asked
    machine.tell("key start")
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 1 void")
    assert_exact(dealt(machine)[0], 1)


@test
def a_key_that_clears_a_fault_says_nothing_of_the_board(box):
    """One press answers one question, that has been asked."""
    machine = box.machine("--manual", "--packs", "4", scenario="deal 1 position 7: pull")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    assert "board 1: void: board pulled at card 8" in running.line()
    assert "take the board out, empty it" in running.line()
    machine.tell("insert")
    assert "press the start key or Enter if it is empty" in (asked := running.asked()), asked
    machine.tell("break 5")
    assert "stands still after a fault: see to it, then press the start key or Enter" in running.line()
    machine.tell("repair")
    machine.tell("key start")
    line = running.line()
    while "if it is empty" not in line:
        assert "exact" not in line, line
        line = running.line()
    assert machine.status("deals") == "1"
    machine.tell("remove")
    assert "put the emptied board 1 in again" in running.line()
    machine.tell("empty")
    machine.tell("insert")
    assert running.asked() == asked
    machine.tell("key start")
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 1 void")


@test
def what_was_done_before_a_fault_does_not_clear_it(box):
    """The machine's answer overtakes its events: that a board came is told late, and the fault not at all."""
    machine = box.machine("--manual", scenario="on event BOARD_INSERTED: delay 300\non event HARDWARE: drop")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET, stdin=subprocess.PIPE)
    assert "put in an empty board 1" in running.line()
    machine.tell("insert")
    machine.tell("break 5")
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    assert "stands still after a fault: see to it, then press the start key" in running.line()
    machine.tell("wait fetched")
    assert machine.status("state") == "FAULT"
    machine.tell("key start")
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 0 void")


@test
def a_board_that_is_told_of_anew_does_not_clear_a_fault(box):
    """Behind STATE_LOST the machine tells of the board that is there: nobody did anything."""
    machine = box.machine("--manual", scenario="on event COVER_OPEN: set 0 01\n"
                          "on event COVER_CLOSED: set 0 04")
    machine.tell("hopper empty")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    assert "put a pack of cards into the hopper" in running.line()
    machine.tell("break 5")
    assert "stands still after a fault: see to it, then press the start key" in running.line()
    machine.tell("cover open")
    machine.tell("cover close")
    machine.tell("wait fetched")
    # the machine is asked once a second
    asked = int(machine.status("transfers"))
    while machine.status("state") == "FAULT" and int(machine.status("transfers")) < asked + 2:
        time.sleep(0.01)
    assert machine.status("state") == "FAULT"
    machine.tell("key start")
    while "put a pack of cards" not in running.line():
        pass
    machine.tell("hopper fill")
    running.finish().expect(0, "board 1: exact duplicate")


@test
def two_cards_that_come_as_one(box):
    """No sensor saw it. What is missing in the end is not filled up, with or without jokers in the pack."""
    for pack, jokers in ("bridge", 0), ("jokers", 2):
        machine = box.machine("--capabilities", "by-card,exit-sensors,keys", "--packs", "1", "--pack", pack,
                              name=pack, scenario="deal 1 position 7: double-feed")
        result = box.deal("-m", machine.uri, "--boards", "1", SET).expect(
            0, "board 1: void: deck short at card 52: .* may lie in the board", "board 1: exact duplicate",
            "1 of 1 boards are exact duplicates; 1 void")
        assert result.out.count("does not belong to the deal: a joker") >= jokers, result
        good = dealt(machine)
        assert len(good) == 1, good
        assert_exact(good[0], 1)


@test
def a_card_that_fell_beside_the_machine(box):
    """.. looks the same to the computer."""
    machine = box.machine("--kind", "routed", "--packs", "1", scenario="deal 1 position 7: missing")
    box.deal("-m", machine.uri, "--boards", "1", SET).expect(
        0, "board 1: void: deck short at card 52", "board 1: exact duplicate")
    assert_exact(dealt(machine)[0], 1)


@test
def cards_that_are_read_badly(box):
    """A reading of low quality does not make a board exact."""
    voided(box, "deal 1 position 7: quality 1", "not an exact duplicate: 2 differences")


def held(box, scenario, text, kind="stored"):
    machine = box.machine("--kind", kind, scenario=scenario)
    box.dealbox("deal", "-m", machine.uri, "--boards", "1", SET).expect(
        0, text + r".* This was at card 8 of 52\. Start is the machine's start key, or Enter", "board 1: exact duplicate",
        "1 of 1 boards are exact duplicates; 0 void")
    assert_exact(dealt(machine)[0], 1)
    return machine


@test
def an_unreadable_card_is_read_again(box):
    held(box, "deal 1 position 7: unreadable", "The card at the reader cannot be read. Clean it or turn it round")


@test
def an_unreadable_card_on_a_machine_that_asks(box):
    held(box, "deal 1 position 7: unreadable", "The card at the reader cannot be read", "routed")


@test
def a_joker_is_taken_out(box):
    held(box, "deal 1 position 7: extra joker1", "The card at the reader does not belong to the deal: a joker")


@test
def a_card_that_does_not_come(box):
    held(box, "deal 1 position 7: feed-timeout", "No card came. Loosen the deck")


@test
def enter_reads_the_card_again(box):
    machine = box.machine("--manual", scenario="deal 1 position 7: unreadable")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET, stdin=subprocess.PIPE)
    assert "The card at the reader cannot be read" in running.line()
    machine.tell("wait state HELD")
    running.finish("\n").expect(0, "board 1: exact duplicate")


@test
def the_stop_key_pauses_and_the_start_key_goes_on(box):
    machine = box.machine("--manual", scenario="deal 1 position 7: key stop")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    assert re.search(r"paused at card \d+: press the start key or Enter", running.line())
    machine.tell("wait state PAUSED")
    machine.tell("key start")
    running.finish().expect(0, "board 1: exact duplicate")


@test
def the_operator_is_told_what_is_missing(box):
    machine = box.machine("--manual")
    machine.tell("hopper empty")
    machine.tell("cover open")
    running = box.begin("deal", "-m", machine.uri, "--boards", "4", SET)
    assert "put in an empty board 4" in running.line()
    machine.tell("insert")
    assert "close the cover" in running.line()
    machine.tell("cover close")
    assert "put a pack of cards into the hopper" in running.line()
    machine.tell("hopper fill")
    running.finish().expect(0, "board 4: exact duplicate")


@test
def a_board_that_was_there_at_switch_on_is_in_doubt(box):
    machine = box.machine("--manual")
    machine.tell("insert")
    machine.tell("power-cycle")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    assert "was there when the machine was switched on" in running.line()
    machine.tell("remove")
    assert "put in an empty board 1" in running.line()
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate")


@test
def a_locked_board_is_let_go(box):
    """When it is exact, and when it is void."""
    machine = box.machine("--capabilities", "by-card,exit-sensors,keys,board-lock",
                          scenario="deal 1 position 20: misread")
    box.deal("-m", machine.uri, "--boards", "1-2", SET).expect(
        0, "board 1: void", "board 1: exact", "2 of 2 boards are exact duplicates; 1 void")
    assert len(machine.account()) >= 3


@test
def without_exit_sensors_the_gates_are_the_proof(box):
    machine = box.machine("--kind", "routed", "--capabilities", "by-card,keys")
    box.dealbox("deal", "-m", machine.uri, "--boards", "1", SET).expect(
        0, r"board 1: exact duplicate \(by (the )?gates")


@test
def a_board_with_another_number_is_not_dealt(box):
    machine = box.machine("--manual", "--boards", "1-9")
    machine.tell("insert 7")
    running = box.begin("deal", "-m", machine.uri, "--boards", "3", SET)
    assert "this is board 7: take it out, and put in an empty board 3" in running.line()
    assert machine.status("deals") == "0"
    machine.tell("remove")
    machine.tell("insert 3")
    running.finish().expect(0, "board 3: exact duplicate")


@test
def unplugged_in_the_middle(box):
    machine = box.machine(scenario="deal 2 position 7: unplug")
    box.dealbox("deal", "-m", machine.uri, "--boards", "1-2", SET).expect(
        3, "board 1: exact", "the machine is gone: unplugged or switched off",
        "plug it in and switch it on", "stopped in the middle of board 2", "--resume` goes on")
    machine.tell("plug")
    # somebody has put another board in meanwhile: nobody knows whether it is empty
    running = box.begin("deal", "-m", machine.uri, "--resume")
    assert "board 2: void: the last run ended in the middle of it" in running.line()
    running.empty(machine)
    running.finish().expect(0, "board 2: exact duplicate")
    assert [lay["end"] for lay in machine.account()].count("done") == 2


@test
def a_machine_without_a_reader_is_refused(box):
    machine = box.machine("--reader", "none", "--capabilities", "by-position,exit-sensors")
    box.dealbox("deal", "-m", machine.uri, "--boards", "1", SET).expect(
        3, "cannot read cards", "use a machine with a card reader")


@test
def json_is_json(box):
    machine = box.machine(scenario="deal 1 position 20: misread")
    result = box.deal("--json", "-m", machine.uri, "--boards", "1-2", SET).expect(0)
    lines = result.json()
    boards = [line for line in lines if line["event"] == "board"]
    assert [(line["board"], line["verdict"]) for line in boards] == \
        [(1, "void"), (1, "exact"), (2, "exact")], boards
    assert any(line["event"] == "operator" for line in lines)
    assert lines[-1]["event"] == "summary" and lines[-1]["exact"] == 2 and lines[-1]["done"]
    assert result.err == ""


@test
def a_terminal_shows_progress_and_a_pipe_does_not(box):
    machine = box.machine()
    result = box.dealbox("deal", "-m", machine.uri, "--boards", "1", SET).expect(0)
    assert "\r" not in result.err + result.out
    master, slave = pty.openpty()
    process = box.start([os.environ["DEALBOX"], "deal", "-m", machine.uri, "--boards", "1-2", SET],
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen = b""
    try:
        while chunk := os.read(master, 4096):
            seen += chunk
    except OSError:
        pass                    # the other end is closed
    assert process.wait() == 0
    # of the first board nobody knows yet how long one takes
    for pattern in (rb"board 1: card 34/52\r", rb"board 2: card 34/52, [1-9][0-9]* boards per hour",
                    rb"\r\033\[K"):
        assert re.search(pattern, seen), seen[:400]


@test
def traces_are_recorded_and_judged(box):
    machine = box.machine(scenario="deal 2 position 20: misread")
    box.deal("-m", machine.uri, "--boards", "1-2", "--record", "trace", SET).expect(0)
    assert os.stat("trace").st_mode & 0o777 == 0o600
    result = box.dealbox("verify", SET, "trace").expect(
        1, "board 1, copy 1, insertion 1: exact duplicate", "board 2, copy 1, insertion 2: not an exact",
        "board 2, copy 1, insertion 3: exact")
    assert_secret(result.out)
    lines = open("trace").read().splitlines()
    heads = [n for n, line in enumerate(lines) if json.loads(line)["name"] == "trace"]
    good = box.write("good", "\n".join(lines[:heads[1]]) + "\n")
    box.dealbox("verify", SET, good).expect(0, "board 1, copy 1, insertion 1: exact duplicate")
    # one line less up to the end of the deal, whichever it is, and it is exact no longer
    done = next(n for n, line in enumerate(lines) if "counts" in json.loads(line))
    for n in (1, 5, heads[1] // 2, done):
        box.write("short", "\n".join(lines[:n] + lines[n + 1:heads[1]]) + "\n")
        verdict = box.dealbox("verify", "--json", SET, "short").expect(1).json()[0]
        assert verdict["verdict"] == "void" and verdict["differences"], verdict
    # a job that goes on records behind what is there
    box.dealbox("deal", "-m", machine.uri, "--boards", "1", "--record", "trace", SET).expect(
        2, "cannot record to trace: File exists", "choose another name")


@test
def verify_wants_traces(box):
    box.write("text", "hello\n")
    box.write("empty", "")
    box.write("event", '{"name":"key","type":8}\n')
    box.dealbox("verify", SET, "text").expect(2, "text:1: this is not a line of a trace")
    box.dealbox("verify", SET, "event").expect(2, "event:1: this is not a line of a trace")
    box.dealbox("verify", SET, "empty").expect(2, "empty is empty")
    box.dealbox("verify", SET, "none").expect(2, "cannot read none: No such file")
    box.dealbox("verify", SET).expect(2, "it needs a deal file and at least one trace")


main()
