#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dealing a set: on both kinds of machine, and with every fault."""

import contextlib
import json
import os
import pty
import re
import select
import socket
import subprocess
import threading
import time

from tool import Box, SET, assert_exact, assert_secret, main, test


def dealt(machine):
    return [board for board in machine.account() if board["end"] == "done"]


def whole_set(box: Box, kind):
    machine = box.machine("--kind", kind)
    box.deal("-m", machine.uri, "--boards", "1-3,5", "--copies", "2", SET).expect(
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
    box.deal("-m", machine.uri, "--boards", "1", SET).expect(0)
    assert machine.status("plan") == "0"


@test
def what_is_dealt_is_in_the_ledger(box):
    machine = box.machine()
    box.deal("-m", machine.uri, "--boards", "1", SET).expect(0, "recorded in %s/state/dealbox/ledger" % box.folder)
    assert box.outcomes() == ["exact"], box.records()
    assert not [name for name in os.listdir("state/dealbox") if not name.startswith("ledger")]
    box.dealbox("deal", "-m", machine.uri, "--resume").expect(2, "no job to resume",
                                                             "deal without --resume")


@test
def another_ledger_is_named(box):
    machine = box.machine()
    box.deal("-m", machine.uri, "--boards", "1", "--ledger", "mine", SET).expect(0, "recorded in mine")
    box.dealbox("ledger", "show", "-l", "mine", "2").expect(2)
    assert not os.path.exists("state")


@test
def a_deal_is_not_dealt_for_two_sessions(box):
    """Law 6D2, within one ledger."""
    machine = box.machine()
    box.deal("-m", machine.uri, "--boards", "1", "--session", "monday", SET).expect(0)
    box.dealbox("deal", "-m", machine.uri, "--boards", "1", "--session", "tuesday", SET).expect(
        2, "was dealt for the session 'monday'", "--session NAME; a replay: --how replay")
    box.deal("-m", machine.uri, "--boards", "1", "--session", "monday", SET).expect(0)
    box.deal("-m", machine.uri, "--boards", "1", "--session", "tuesday", "--how", "replay", SET).expect(0)
    box.dealbox("deal", "-m", machine.uri, "--how", "loudly", SET).expect(2, "--how knows no 'loudly'")


@test
def the_operator_reads_his_language(box):
    machine = box.machine("--manual")
    running = box.begin("deal", "-m", machine.uri, "--lang", "nb", "--boards", "1", SET)
    assert "recorded in" in running.line()
    assert "Sett inn" in (line := running.line()) or "Legg inn" in line or "mappe 1" in line, line
    running.stop().expect(130, r"0 av 1 mapper er nøyaktige kopier; 0 ugyldige og gitt på nytt; [0-9]+ s, 0 mapper i timen",
                          "stoppet før mappe 1, kopi 1", "`dealbox deal --resume` fortsetter")
    # a misread card, and the verdicts
    machine = box.machine(name="misread", scenario="deal 1 position 20: misread")
    result = box.begin("deal", "-m", machine.uri, "--lang", "nb", "--boards", "1-2", "--copies", "2", "--yes", SET,
                       stdin=subprocess.PIPE).answer("er tom").expect(
        0, r"mappe 1, kopi 1: ugyldig: samme kort to ganger ved kort [0-9]+",
        r"mappe 1, kopi 1: nøyaktig kopi \(etter sensorene ved utløpet\)", "mappe 2, kopi 2: nøyaktig kopi")
    assert "board" not in result.out and "exact" not in result.out, result
    for language, asked, words in (("el", "αδειάστε την πρώτα", "1 από 1 θήκες είναι ακριβές αντίγραφο· 0 άκυρες και μοιράστηκαν ξανά· [0-9]+ δευτ., "),
                                   ("fr", "videz-le d'abord", "1 étui sur 1 est une copi.? exacte ; 0 nul et redonné ; [0-9]+ s, "),
                                   ("ru", "сначала", "1 доска из 1 — точная копия; 0 недействительны и сданы заново; [0-9]+ с, ")):
        machine = box.machine(name=language)
        box.begin("deal", "-m", machine.uri, "--lang", language, "--boards", "3", "--how", "replay", "--session", language,
                  SET, stdin=subprocess.PIPE).answer(asked).expect(0, words)


def voided(box, scenario, reason, kind="stored"):
    machine = box.machine("--kind", kind, scenario=scenario)
    result = box.deal("-m", machine.uri, "--boards", "1-2", SET).expect(
        0, r"board 1: " + reason, r"board 1: exact duplicate", r"board 2: exact duplicate",
        r"2 of 2 boards are exact duplicates; 1 void and dealt again")
    void = re.search("board 1: " + reason, result.out).start()
    # before it is dealt again, somebody has said that the board is empty
    assert re.search("board 1: [^\\n]*is empty", result.out[void:result.out.index("board 1: exact")]), result
    good = dealt(machine)
    assert_exact(good[-2], 1)
    assert_exact(good[-1], 2)
    assert good[-2]["insertion"] > 1
    return machine


@test
def a_misread_card_voids_the_board_and_it_is_dealt_again(box):
    voided(box, "deal 1 position 20: misread", "void: repeated card at card [0-9]+")


@test
def a_misread_card_on_a_machine_that_asks(box):
    voided(box, "deal 1 position 20: misread", "void: repeated card at card [0-9]+", "routed")


@test
def a_card_in_the_wrong_pocket(box):
    voided(box, "deal 1 position 7: wrong-pocket", "void: wrong pocket at card 8")


@test
def two_cards_at_once(box):
    voided(box, "deal 1 position 7: double-feed", "void: double feed at card 8")


@test
def a_jam(box):
    voided(box, "deal 1 position 7: jam gate", "void: jam at card 8, at the gate")


@test
def a_fault_of_the_hardware(box):
    voided(box, "deal 1 position 7: hardware 17", "void: hardware fault.*, code 17")


@test
def the_board_pulled_out(box):
    voided(box, "deal 1 position 7: pull", "void: board pulled at card 8")


@test
def the_cover_opened(box):
    voided(box, "deal 1 position 7: cover open", "void: cover opened at card 8")


@test
def the_firmware_restarts(box):
    voided(box, "deal 1 position 7: reset", "void: state lost")


@test
def events_that_are_lost(box):
    voided(box, "deal 1 position 7 on event CARD_ROUTED: drop", "void: protocol error")


@test
def a_deal_that_ends_well_and_is_not_exact(box):
    """The machine stops for nothing, but a sensor saw cards in other pockets than planned."""
    machine = voided(box, "\n".join("deal 1 position %d on event CARD_LANDED: set 18 %02x" %
                                    (position, position % 4) for position in range(8)),
                     "not an exact duplicate: [0-9]+ differences?")
    assert machine.status("stops") == "0"


@test
def the_same_deals_once_more(box):
    """For the same session by default, the date: somebody may want copies, or play them twice (Law 6D2)."""
    machine = box.machine("--packs", "8")
    again = "All these boards were dealt for session .* already, the last at .*Law 6D2"
    box.deal("-m", machine.uri, "--boards", "1", "--yes", SET).expect(0, "1 of 1 boards")
    # board 2 was not dealt
    assert "Law" not in str(box.deal("-m", machine.uri, "--boards", "1-2", SET).expect(0, "2 of 2 boards"))
    jobs = len(box.records("job"))
    box.dealbox("deal", "-m", machine.uri, "--boards", "1-2", SET).expect(1, again, "nothing was done", "--yes")
    box.dealbox("deal", "-m", machine.uri, "--boards", "2", "--json", SET).expect(1, again, "nothing was done")
    assert len(box.records("job")) == jobs
    answered = box.begin("deal", "-m", machine.uri, "--boards", "2", SET, stdin=subprocess.PIPE)
    answered.process.stdin.write("y\n")
    answered.process.stdin.flush()
    answered.answer("is empty").expect(0, again, "1 of 1 boards are exact duplicates")
    for words in ("--yes",), ("--session", time.strftime("%Y-%m-%d")):
        result = box.deal("-m", machine.uri, "--boards", "2", *words, SET).expect(0, "1 of 1 boards")
        assert "Law" not in str(result), result


@test
def a_stop_behind_the_last_card(box):
    """The board is not exact, and the fault is not cleared before somebody has done something."""
    machine = box.machine("--manual", scenario="on event DEAL_DONE: hardware 5")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("board 1: void: hardware")
    running.see("The board is void: take it out, empty it")
    machine.tell("wait fetched")
    assert machine.status("state") == "FAULT"
    machine.tell("remove")
    machine.tell("wait state IDLE")
    machine.tell("empty")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 1 void")
    assert [lay["end"] for lay in machine.account()] == ["done", "done"]
    assert box.outcomes() == ["void", "exact"]


@test
def a_board_that_is_out_before_it_is_told(box):
    """An answer of the machine that overtakes its events causes no doubt."""
    machine = box.machine(scenario="on event BOARD_REMOVED nth 1: delay 400")
    box.deal("-m", machine.uri, "--boards", "1-2", SET).expect(
        0, "board 1: exact duplicate", "2 of 2 boards are exact duplicates; 0 void")


@test
def a_stop_when_the_board_was_called_exact(box):
    machine = box.machine("--manual", "--packs", "4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1,2", SET)
    running.put_in(machine)
    running.see("board 1: exact")
    running.see("Board 1, copy 1 is dealt and recorded. Take it out.")
    machine.tell("break 5")
    running.see("board 1: void: hardware fault behind its end, so it is not exact")
    running.see("The board is void: take it out, empty it")
    assert machine.status("state") == "FAULT"
    machine.tell("remove")
    machine.tell("wait state IDLE")
    machine.tell("empty")
    machine.tell("insert")
    running.empty(machine)
    running.see("board 1: exact")
    running.see("Take it out.")
    machine.tell("remove")
    running.put_in(machine)
    running.finish().expect(0, "board 2: exact", "2 of 2 boards are exact duplicates; 1 void")


@test
def a_fault_while_it_waits_for_a_board(box):
    """It is cleared when somebody has done something, and not before."""
    machine = box.machine("--manual", "--packs", "4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1,2", SET)
    running.see("Put in the empty board 1")
    machine.tell("break 5")
    running.see("The machine reports a fault of its own")
    assert machine.status("state") == "FAULT"
    machine.tell("insert")
    running.see("board 1: exact")
    machine.tell("remove")
    running.see("Put in the empty board 2")
    machine.tell("break 5")
    running.see("The machine reports a fault of its own")
    machine.tell("key start")
    running.see("Put in the empty board 2")
    running.stop().expect(130)


@test
def a_void_board_that_is_pushed_back_at_once(box):
    """It is a new insertion, and its cards lie in it still: only the operator can say that it is empty."""
    machine = box.machine("--manual", "--packs", "4", scenario="deal 1 position 7: pull")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("board 1: void: board pulled at card 8")
    running.see("The board is void")
    machine.tell("insert")
    running.see("If it is empty, and the deck is whole, press start")
    assert machine.status("deals") == "1"
    machine.tell("remove")
    running.see("The board is void")
    machine.tell("empty")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 1 void")
    assert_exact(dealt(machine)[0], 1)


@test
def a_key_that_clears_a_fault_says_nothing_of_the_board(box):
    """One press answers one question, that has been asked."""
    machine = box.machine("--manual", "--packs", "4", scenario="deal 1 position 7: pull")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("board 1: void: board pulled at card 8")
    running.see("The board is void")
    machine.tell("insert")
    running.see("If it is empty, and the deck is whole, press start")
    machine.tell("break 5")
    running.see("The machine reports a fault of its own")
    machine.tell("repair")
    machine.tell("key start")
    running.see("If it is empty, and the deck is whole, press start")
    assert machine.status("deals") == "1"
    machine.tell("remove")
    running.see("fault|The board is void")
    machine.tell("empty")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 1 void")


def writes(pid):
    """Does it wait until somebody reads what it writes?"""
    with open("/proc/%d/syscall" % pid) as file:
        return file.read().split()[1:2] == ["0x1"]


@test
def a_key_that_is_pressed_before_a_question_does_not_answer_it(box):
    """The program is busy: nobody reads what it says of the board that was pulled out."""
    machine = box.machine("--manual", speed="1")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET, stdin=subprocess.PIPE)
    running.put_in(machine)
    running.under_way(machine)
    full = os.open("/proc/self/fd/%d" % running.process.stdout.fileno(), os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(full, b"\n")
    os.close(full)
    machine.tell("remove force")
    machine.tell("insert")
    while not writes(running.process.pid):
        assert running.process.poll() is None
        time.sleep(0.01)
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    while "is empty" not in running.line():
        pass
    running.stop().expect(130)
    assert "emptied" not in [record["act"] for record in box.records("act")]
    assert len(box.records("insertion")) == 1


@test
def what_was_done_before_a_fault_does_not_clear_it(box):
    """The machine's answer overtakes its events: that a board came is told late, and the fault not at all."""
    machine = box.machine("--manual", scenario="on event BOARD_INSERTED: delay 300\non event HARDWARE: drop")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET, stdin=subprocess.PIPE)
    running.see("Put in the empty board 1")
    machine.tell("insert")
    machine.tell("break 5")
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    running.see("The machine reports a fault of its own|Nobody knows what lies")
    machine.tell("wait fetched")
    assert machine.status("state") == "FAULT"
    machine.tell("key start")
    running.see("Press start to deal board 1")
    assert machine.status("deals") == "0"
    running.stop().expect(130)


@test
def a_board_that_is_told_of_anew_does_not_clear_a_fault(box):
    """Behind STATE_LOST the machine tells of the board that is there: nobody did anything."""
    machine = box.machine("--manual", scenario="on event COVER_OPEN: set 0 01\n"
                          "on event COVER_CLOSED: set 0 04")
    machine.tell("hopper empty")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("The hopper is empty")
    machine.tell("break 5")
    running.see("The machine reports a fault of its own")
    machine.tell("cover open")
    machine.tell("cover close")
    machine.tell("wait fetched")
    # the machine is looked at every two seconds
    asked = int(machine.status("transfers"))
    while machine.status("state") == "FAULT" and int(machine.status("transfers")) < asked + 2:
        time.sleep(0.01)
    assert machine.status("state") == "FAULT"
    machine.tell("key start")
    running.see("The hopper is empty")
    running.stop().expect(130)


@test
def two_cards_that_come_as_one(box):
    """No sensor saw it. What is missing in the end is not filled up, with or without jokers in the pack."""
    for pack in "bridge", "jokers":
        machine = box.machine("--capabilities", "by-card,exit-sensors,keys", "--packs", "1", "--pack", pack,
                              name=pack, scenario="deal 1 position 7: double-feed")
        result = box.deal("-m", machine.uri, "--boards", "1", "--yes", SET).expect(
            0, "board 1: void: deck short at card 52", "board 1: exact duplicate",
            "1 of 1 boards are exact duplicates; 1 void")
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


def read_again(box, scenario, kind="stored"):
    """Without a word: the machine waits no longer than it takes."""
    machine = box.machine("--kind", kind, scenario=scenario)
    box.deal("-m", machine.uri, "--boards", "1", SET).expect(
        0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 0 void")
    assert_exact(dealt(machine)[0], 1)


@test
def an_unreadable_card_is_read_again(box):
    read_again(box, "deal 1 position 7: unreadable")


@test
def an_unreadable_card_on_a_machine_that_asks(box):
    read_again(box, "deal 1 position 7: unreadable", "routed")


@test
def a_card_that_is_read_badly_on_a_machine_that_asks(box):
    """A card that was hardly read gets no pocket."""
    read_again(box, "deal 1 position 7: quality 1", "routed")


@test
def the_last_card_that_is_read_badly(box):
    """The hopper is empty, and the card is still there."""
    read_again(box, "deal 1 position 51: quality 49", "routed")


@test
def a_joker_is_taken_out(box):
    read_again(box, "deal 1 position 7: extra joker1")


@test
def a_joker_is_told(box):
    machine = box.machine("--manual", scenario="deal 1 position 7: extra joker1")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see(r"The card at the reader does not belong to the deal: a joker.* This was at card 8 of 52\.")
    running.stop().expect(130)


@test
def a_card_that_does_not_come(box):
    """The start key goes on."""
    machine = box.machine("--manual", scenario="deal 1 position 7: feed-timeout")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see(r"No card came. Loosen the deck.* This was at card 8 of 52\.")
    machine.tell("key start")
    running.finish().expect(0, "board 1: exact duplicate", "1 of 1 boards are exact duplicates; 0 void")
    assert_exact(dealt(machine)[0], 1)


@test
def enter_reads_the_card_again(box):
    machine = box.machine("--manual", scenario="deal 1 position 7: feed-timeout")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET, stdin=subprocess.PIPE)
    running.put_in(machine)
    running.see("No card came")
    machine.tell("wait state HELD")
    running.finish("\n").expect(0, "board 1: exact duplicate")


@test
def the_stop_key_pauses_and_the_start_key_goes_on(box):
    machine = box.machine("--manual", scenario="deal 1 position 7: key stop")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("Paused in board 1, copy 1. Press start")
    machine.tell("wait state PAUSED")
    machine.tell("key start")
    running.finish().expect(0, "board 1: exact duplicate")


@test
def the_operator_is_told_what_is_missing(box):
    machine = box.machine("--manual")
    machine.tell("hopper empty")
    machine.tell("cover open")
    running = box.begin("deal", "-m", machine.uri, "--boards", "4", SET)
    running.put_in(machine)
    running.see("The cover is open. Close it.")
    machine.tell("cover close")
    running.see("The hopper is empty")
    machine.tell("hopper fill")
    running.finish().expect(0, "board 4: exact duplicate")


@test
def a_board_that_was_there_at_switch_on_is_in_doubt(box):
    machine = box.machine("--manual")
    machine.tell("insert")
    machine.tell("power-cycle")
    machine.tell("wait plugged")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.see("Nobody knows what lies in this board")
    machine.tell("remove")
    running.see("Put in the empty board 1")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate")
    assert len([act for act in box.records("act") if act["act"] == "emptied"]) == 1, box.records()


@test
def a_board_that_was_there_before_is_asked_about(box):
    """The ledger has not seen it from its start: somebody says that it is empty, or it is taken out."""
    machine = box.machine("--manual")
    machine.tell("insert")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.see("Look into all pockets of this board; take it out to do so. If it is empty")
    machine.tell("wait fetched")
    assert machine.status("deals") == "0"
    machine.tell("key start")
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
    box.deal("-m", machine.uri, "--boards", "1", SET).expect(
        0, r"board 1: exact duplicate \(by (the )?gates")


@test
def a_board_with_another_number_is_not_dealt(box):
    machine = box.machine("--manual", "--boards", "1-9")
    running = box.begin("deal", "-m", machine.uri, "--boards", "3", SET)
    running.put_in(machine, 7)
    running.see("Board 3 comes next, but another board is in the machine. .* The label says board 7")
    assert machine.status("deals") == "0"
    machine.tell("remove")
    machine.tell("insert 3")
    running.finish().expect(0, "board 3: exact duplicate")


@test
def unplugged_in_the_middle(box):
    """It waits for the machine to come back; what was in it then is void."""
    machine = box.machine("--manual", "--packs", "4", scenario="deal 2 position 7: unplug")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-2", SET)
    running.put_in(machine)
    running.see("board 1: exact")
    machine.tell("remove")
    running.put_in(machine)
    running.see("board 2: void: state lost")
    running.see("The machine is not there. Look whether it is switched on")
    machine.tell("plug")
    running.see("Nobody knows what lies|is empty|has been in the machine")
    machine.tell("remove")
    machine.tell("hopper fill")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 2: exact duplicate")
    assert [lay["end"] for lay in machine.account()].count("done") == 2
    assert box.outcomes() == ["exact", "unknown", "exact"]


@test
def left_while_the_machine_is_unplugged(box):
    machine = box.machine("--manual", "--packs", "4", scenario="deal 1 position 7: unplug")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", SET)
    running.put_in(machine)
    running.see("board 1: void: state lost")
    running.see("The machine is not there")
    running.stop().expect(130, "stopped before board 1", "--resume` goes on")
    machine.tell("plug")
    running = box.begin("deal", "-m", machine.uri, "--resume")
    running.see("Nobody knows what lies|is empty|has been in the machine")
    machine.tell("remove")
    machine.tell("hopper fill")
    machine.tell("insert")
    running.empty(machine)
    running.finish().expect(0, "board 1: exact duplicate")


class Cable:
    """
    The address of a machine which is there, and goes when it was opened so many times: the next connection ends
    it. plug() brings it back.
    """

    def __init__(self, box, machine, opened):
        self.path = os.path.join(box.folder, "cable")
        self.uri = "emu:" + self.path
        self.machine = machine
        self.ended = threading.Event()
        self.begin(machine, opened)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.unplug()

    def begin(self, machine, opened):
        self.ended.clear()
        self.stop, other = socket.socketpair()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(self.path)
        listener.listen()
        self.thread = threading.Thread(target=self.carry, args=(machine, opened, listener, other))
        self.thread.start()

    def plug(self, machine=None):
        self.thread.join()
        self.begin(machine or self.machine, None)

    def unplug(self):
        self.stop.close()
        self.thread.join()

    def carry(self, machine, opened, listener, stop):
        """Connections one after the other, until the cable is unplugged."""
        with listener, stop:
            while stop not in select.select([listener, stop], [], [])[0]:
                host, _ = listener.accept()
                if opened == 0:
                    os.unlink(self.path)
                    host.close()
                    return
                if opened:
                    opened -= 1
                with host, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as device:
                    device.connect(machine.path)
                    self.connect({host: device, device: host}, stop)
                self.ended.set()
            os.unlink(self.path)

    @staticmethod
    def connect(ends, stop):
        while True:
            ready = select.select([*ends, stop], [], [])[0]
            if stop in ready:
                return
            for end in ready:
                try:
                    packet = end.recv(1 << 16)
                    if not packet:
                        return
                    ends[end].send(packet)
                except OSError:
                    return


@test
def gone_while_it_is_opened(box):
    """It waits for the machine, as it does later: when it is opened first, and when dealing begins."""
    for opened in range(2):
        machine = box.machine("--manual", "--packs", "4", name="machine%d" % opened)
        with Cable(box, machine, opened) as cable:
            # another board each time: nothing is asked of one that was dealt today
            running = box.begin("deal", "-m", cable.uri, "--boards", "%d" % (opened + 1), SET)
            running.see("The machine is not there. Look whether it is switched on")
            cable.plug()
            running.put_in(machine)
            running.finish().expect(0, "board %d: exact duplicate" % (opened + 1))


@test
def left_while_it_is_waited_for(box):
    for opened in range(2):
        machine = box.machine("--manual", name="machine%d" % opened)
        with Cable(box, machine, opened) as cable:
            running = box.begin("deal", "-m", cable.uri, "--boards", "1", SET)
            running.see("The machine is not there")
            running.stop().expect(130, "stopped")
        assert machine.status("deals") == "0"


@test
def another_machine_in_its_place(box):
    """Which was opened first, deals."""
    machine = box.machine("--manual", name="machine0")
    other = box.machine("--manual", name="machine1")
    with Cable(box, machine, 1) as cable:
        running = box.begin("deal", "-m", cable.uri, "--boards", "1", SET)
        running.see("The machine is not there")
        cable.plug(other)
        cable.ended.wait()
        cable.unplug()
        cable.plug()
        running.put_in(machine)
        running.finish().expect(0, "board 1: exact duplicate")
    assert other.status("deals") == "0"


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
    boards = [line for line in lines if line["kind"] == "board"]
    assert [(line["board"], line["verdict"]) for line in boards] == \
        [(1, "void"), (1, "exact"), (2, "exact")], boards
    assert any(line["kind"] == "operator" for line in lines)
    assert lines[-1]["kind"] == "summary" and lines[-1]["exact"] == 2 and lines[-1]["done"]
    assert result.err == ""


@test
def a_terminal_shows_progress_and_a_pipe_does_not(box):
    machine = box.machine(speed="10")
    result = box.deal("-m", machine.uri, "--boards", "1", SET).expect(0)
    assert "\r" not in result.err + result.out
    master, slave = pty.openpty()
    process = box.start([os.environ["DEALBOX"], "deal", "-m", machine.uri, "--boards", "1-2", SET],
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    while int(machine.status("deals")) == 1:
        machine.tell("key start")
        time.sleep(0.05)
    seen = b""
    try:
        while chunk := os.read(master, 4096):
            seen += chunk
    except OSError:
        pass                    # the other end is closed
    assert process.wait() == 0
    # of the first board nobody knows yet how long one takes
    for pattern in (rb"board 1: card \d+ of 52; 0 of 2 boards done\r",
                    rb"board 2: card \d+ of 52; 1 of 2 boards done, [1-9][0-9]* boards per hour, about \d+ min left",
                    rb"\r\033\[K"):
        assert re.search(pattern, seen), seen[:400]


def at_terminal(box, *options, **environment):
    """Return what a terminal shows of a void board, without the service."""
    machine = box.machine("--manual", name="".join(options + tuple(environment)).strip("-") or "colours",
                          scenario="deal 1 position 7: wrong-pocket")
    master, slave = pty.openpty()
    box.env = {**box.env, "TERM": "xterm", **environment}
    process = box.start([os.environ["DEALBOX"], "deal", *options, "-m", machine.uri, "--boards", "1",
                         "--ledger", machine.path + ".ledger", SET], stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""

    def see(pattern):
        nonlocal seen
        while not re.search(pattern, seen):
            seen += os.read(master, 4096)
    see(b"Put in the empty board")
    machine.tell("insert")
    see(b"put the board in again")
    machine.tell("remove")
    machine.tell("empty")
    machine.tell("insert")
    see(rb"If it is empty.*\[Enter\]")
    os.write(master, b"\n")
    see(b"1 of 1 boards are exact")
    assert process.wait() == 0
    os.close(master)
    return seen


@test
def a_terminal_shows_colours_and_rings_where_somebody_has_to_come(box):
    seen = at_terminal(box)
    for pattern in (rb"\033\[31mboard 1: void: wrong pocket", rb"\033\[33mboard 1: A card fell",
                    rb"\033\[32mboard 1: exact duplicate[^\n]*\033\[m\r\n", b"\a"):
        assert re.search(pattern, seen), (pattern, seen)
    first = seen[:seen.index(b"\033[31m")]
    assert b"\a" not in first and b"\033[3" not in first and b"Enter" not in first, first
    assert not re.search(rb"\033\[\d*m", at_terminal(box, NO_COLOR="1"))
    seen = at_terminal(box, "--plain")
    assert b"\033" not in seen and b"\a" not in seen, seen


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
    started = next(n for n, line in enumerate(lines) if json.loads(line)["name"] == "deal started")
    for n in (started, started + 4, heads[1] // 2, done):
        box.write("short", "\n".join(lines[:n] + lines[n + 1:heads[1]]) + "\n")
        verdict = box.dealbox("verify", "--json", SET, "short").expect(1).json()[0]
        assert verdict["verdict"] == "void" and verdict["differences"], verdict
    # the same in each language, and as secret
    english = box.dealbox("verify", "--lang", "en", SET, "trace").expect(1)
    assert english.out == result.out, english
    for language, words in (("nb", "mappe 2, kopi 1, innsetting 2: ikke nøyaktig kopi: [0-9]+ forskjeller\n    maskinen stoppet: "),
                            ("el", "θήκη 1, αντίτυπο 1, εισαγωγή 1: ακριβές αντίγραφο"),
                            ("fr", "étui 2, copi.? 1, insertion 2 : copi.? inexacte : [0-9]+ différences\n    "),
                            ("ru", "доска 2, копия 1, вставка 2: неточная копия: ")):
        said = box.dealbox("verify", "--lang", language, SET, "trace").expect(1, words).out
        assert_secret(said)
        assert not set(said.splitlines()) & set(result.out.splitlines()), said
        told = box.dealbox("verify", "--lang", language, "--json", SET, "trace").expect(1).json()
        assert [one["text"] for one in told[1]["differences"]] == \
            re.findall("^    (.*)$", said, re.M), (told, said)
    box.dealbox("verify", "--lang", "xx", SET, "trace").expect(2, "there is no language 'xx'")
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
