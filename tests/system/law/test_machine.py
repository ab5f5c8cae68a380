#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs dealt by position and judged, for each ruleset, and an original captured and copied (Law 6F)."""

import fcntl
import json
import os
import random
import re
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.environ["DEALBOX_SOURCE"], "tests/system/tool"))
from tool import assert_exact, assert_secret, main, test  # noqa: E402

SUITS, RANKS = "SHDC", "AKQJT98765432"
CAN = "by-card,by-position,capture,exit-sensors,face-sensor,double-feed-sensor,keys"


def machine(box, rules, *options, scenario=None):
    pack = "preferans" if rules == "preferans" else "bridge"
    return box.machine("--pack", pack, "--capabilities", CAN, *options, scenario=scenario)


def deal_by_law(box, where, rules, *options):
    """To the end, with an operator who confirms that a board is empty."""
    return box.begin("deal", "--law", rules, "-m", where.uri, *options, stdin=subprocess.PIPE).answer("is empty")


def deal(box, rules, *options, scenario=None, emulator=()):
    """One deal; what the machine did, and what the laws say."""
    where = machine(box, rules, *emulator, scenario=scenario)
    result = deal_by_law(box, where, rules, *options)
    assert_secret(result.out + result.err)
    return where, result


def sizes(where):
    done = [board for board in where.account() if board["end"] == "done"]
    return [len(pocket) for pocket in done[-1]["pockets"][:4]]


def stands(box, rules, reference, counts):
    where, result = deal(box, rules, "--law-record", "made.law")
    result.expect(0, r"stands, %s %s" % (rules, re.escape(reference)), r"^stands: dealt as|\nstands: dealt as")
    assert sizes(where) == counts, sizes(where)
    # the record that it wrote says the same when it is judged again, and names no card
    with open(os.path.join(box.folder, "made.law")) as file:
        assert_secret(file.read())
    box.dealbox("law", "judge", "made.law").expect(0, r"stands, %s %s" % (rules, re.escape(reference)))


@test
def duplicate_2007_stands(box):
    stands(box, "duplicate-2007", "6E3", [13] * 4)


@test
def duplicate_2017_stands(box):
    stands(box, "duplicate-2017", "6E3", [13] * 4)


@test
def rubber_stands(box):
    stands(box, "rubber", "8", [13] * 4)


@test
def preferans_stands(box):
    stands(box, "preferans", "3.2.13", [10, 10, 10, 2])


def irregular(box, rules, scenario, pattern, *options, emulator=()):
    where, result = deal(box, rules, *options, scenario=scenario, emulator=emulator)
    result.expect(1, pattern, r"\nredeal: |\"verdict\":\"redeal\"")
    return result


@test
def a_card_face_up(box):
    irregular(box, "duplicate-2007", "position 7: face-up", r"redeal, duplicate-2007 6D1")


@test
def a_card_face_up_in_the_edition_of_2017(box):
    irregular(box, "duplicate-2017", "position 7: face-up", r"redeal, duplicate-2017 6D1")


@test
def a_card_face_up_in_rubber(box):
    irregular(box, "rubber", "position 50: face-up", r"redeal, rubber 10\(a\)\(i\).*\n.*East deals",
              "--turn", "E")


@test
def a_card_face_up_in_preferans(box):
    irregular(box, "preferans", "position 31: face-up", r"redeal, preferans 3\.2\.15\(1\)")


@test
def a_card_in_the_wrong_hand(box):
    irregular(box, "rubber", "position 7: wrong-pocket 1",
              r"may-rectify, rubber 8[^$]*redeal, rubber 10\(a\)\(ii\)")


@test
def two_adjacent_cards_to_one_hand(box):
    """The second card falls where the first did: 2017 forbids it."""
    result = irregular(box, "duplicate-2017", "position 1: wrong-pocket 1",
                       r'"ruling":"redeal".*"reference":"6D1"', r"-j", "--law-record", "made.law")
    rulings = [r for r in result.json() if r.get("ruling") == "redeal"]
    assert "adjacent" in rulings[0]["text"], rulings
    # the same cards in the same hands: 2007 has nothing against it
    with open(os.path.join(box.folder, "made.law")) as file:
        record = file.read().replace("2017", "2007")
    box.write("old.law", record)
    box.dealbox("law", "judge", "old.law").expect(0, r"stands, duplicate-2007 6D1")


@test
def two_cards_at_once(box):
    irregular(box, "rubber", "position 20: double-feed", r"redeal, rubber 10\(a\)\(ii\)")


@test
def two_cards_at_once_in_preferans(box):
    result = irregular(box, "preferans", "position 9: double-feed", r"redeal, preferans 3\.2\.13", "--lang", "en")
    assert "3.2.17" not in result.out, "a machine's fault is not the dealer's: " + result.out


@test
def two_cards_at_once_are_a_packet_of_preferans(box):
    """The law has nothing against it, but the machine is in doubt: void."""
    where, result = deal(box, "preferans", scenario="position 8: double-feed")
    result.expect(1, r"(^|\n)void: ")


@test
def the_talon_in_the_wrong_place(box):
    irregular(box, "preferans", "position 6: wrong-pocket 0", r"redeal, preferans 3\.2\.13")


@test
def a_pack_that_lacks_a_card(box):
    deck = [suit + rank for suit in SUITS for rank in "AKQJT987"]
    random.Random(7).shuffle(deck)
    irregular(box, "preferans", None, r"redeal, preferans 3\.2\.15\(2\)",
              emulator=("--deck", box.write("deck", " ".join(deck[1:]) + "\n")))


@test
def a_pack_with_a_card_of_another(box):
    deck = [suit + rank for suit in SUITS for rank in RANKS]
    random.Random(7).shuffle(deck)
    deck[9] = "joker1"
    irregular(box, "rubber", None, r"redeal, rubber 10\(c\)\(i\)",
              emulator=("--deck", box.write("deck", " ".join(deck) + "\n")))


@test
def a_stop_that_the_operator_helps_over(box):
    where = machine(box, "rubber", "--manual", scenario="position 10: feed-timeout")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in an empty board")
    where.tell("insert")
    running.see("No card came. .* press start. This was at card 11 of 52.")
    where.tell("key start")
    running.finish().expect(0, r"\nstands: ")
    assert sizes(where) == [13] * 4


@test
def a_stop_behind_the_last_card(box):
    _, result = deal(box, "rubber", scenario="on event DEAL_DONE: hardware 5")
    result.expect(1, r"\nvoid: hardware fault, code 5")


@test
def a_board_that_is_told_of_anew_clears_no_fault(box):
    """Behind STATE_LOST the machine tells of the board that is there: nobody did anything."""
    where = box.machine("--manual", scenario="on event COVER_OPEN: set 0 01\non event COVER_CLOSED: set 0 04")
    where.tell("hopper empty")
    where.tell("insert")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in the shuffled pack")
    where.tell("break 5")
    running.see("reports a fault of its own")
    where.tell("cover open")
    where.tell("cover close")
    where.tell("wait fetched")
    # the machine is asked once a second
    asked = int(where.status("transfers"))
    while where.status("state") == "FAULT" and int(where.status("transfers")) < asked + 2:
        time.sleep(0.01)
    assert where.status("state") == "FAULT"
    where.tell("key start")
    running.see("Put in the shuffled pack")
    where.tell("remove")
    where.tell("hopper fill")
    where.tell("insert")
    running.empty(where)
    running.finish().expect(0, r"stands: ")


@test
def a_fault_stays_until_somebody_has_moved_the_board(box):
    where = machine(box, "rubber", "--manual")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in an empty board")
    where.tell("break 5")
    running.see("reports a fault of its own")
    assert where.status("state") == "FAULT"
    where.tell("insert")
    running.finish().expect(0, "stands")


@test
def the_next_deal_after_one_in_doubt(box):
    """The board in doubt is emptied, and dealt again."""
    where, result = deal(box, "preferans", scenario="deal 1 position 20: jam gate")
    result.expect(1, r"(^|\n)void: ")
    deal_by_law(box, where, "preferans").expect(0, "is empty", r"\nstands: ")
    assert sizes(where) == [10, 10, 10, 2]


@test
def a_board_that_may_have_cards_is_asked_about(box):
    """After a void one, and when nobody has seen it come; the answer is for that board only."""
    where = machine(box, "rubber", "--manual", scenario="deal 1 position 20: jam gate")
    where.tell("insert")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("is empty")
    assert where.status("deals") == "0"
    where.tell("key start")
    running.finish().expect(1, r"void: ")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Take it out|take it out")
    where.tell("remove")
    where.tell("hopper fill")
    where.tell("insert")
    running.see("is empty")
    where.tell("remove")
    running.see("Put in an empty board")
    # no answer, because nothing is asked
    where.tell("key start")
    where.tell("insert")
    running.see("is empty")
    assert where.status("deals") == "1"
    where.tell("key start")
    running.finish().expect(0, r"stands: ")
    assert sizes(where) == [13] * 4


@test
def an_answer_before_the_question_is_none(box):
    where = machine(box, "rubber", "--manual")
    where.tell("hopper empty")
    where.tell("insert")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri, stdin=subprocess.PIPE)
    running.see("Put in the shuffled pack")
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    where.tell("key start")
    while fcntl.ioctl(running.process.stdin.fileno(), termios.FIONREAD, b"\0" * 4) != b"\0" * 4:
        time.sleep(0.01)
    where.tell("hopper fill")
    running.see("is empty")
    assert where.status("deals") == "0"
    where.tell("key start")
    running.finish().expect(0, r"stands: ")


@test
def a_board_that_was_seen_to_come_is_not_asked_about(box):
    where = machine(box, "rubber", "--manual")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in an empty board")
    where.tell("insert")
    result = running.finish().expect(0, r"stands: ")
    assert "is empty" not in result.out, result


@test
def the_record_is_in_the_ledger(box):
    """The deal, its trace, and who dealt; no card stands there unsealed. It is dealt once."""
    where = machine(box, "rubber", "--manual")
    running = box.begin("deal", "--law", "rubber", "--turn", "E", "--ledger", "table", "-m", where.uri)
    running.see("recorded in table")
    running.see("Put in an empty board")
    where.tell("insert")
    running.finish().expect(0, r"stands: ")
    exported = box.dealbox("ledger", "export", "-l", "table").expect(0)
    assert_secret(exported.out)
    records = exported.json()
    assert [r["outcome"] for r in records if r["record"] == "verdict"] == ["exact"], exported
    assert [r["events"] > 52 for r in records if r["record"] == "trace"] == [True], exported
    assert not [r for r in records if r["record"] in ("set", "board")], exported
    box.dealbox("ledger", "list", "-l", "table").expect(0, "done +1 of 1 recorded, 0 void.*, rubber, E deals")
    # the same board, and another run
    running = box.begin("deal", "--law", "rubber", "--ledger", "table", "-m", where.uri)
    running.see("is dealt and recorded. Take it out.")
    running.stop().expect(130, "stopped: nothing was dealt into this board")
    assert where.status("deals") == "1"
    box.dealbox("ledger", "list", "-l", "table").expect(0, "cancelled +0 of 1 recorded")


@test
def a_deal_that_does_not_stand_does_not_count(box):
    """It was dealt as planned, but a card lay face up: the board is asked about when it is back."""
    where = machine(box, "rubber", "--manual", scenario="deal 1 position 7: face-up")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in an empty board")
    where.tell("insert")
    running.finish().expect(1, r"\nredeal: ")
    assert [act["act"] for act in box.records("act")].count("cancel") == 1
    assert box.records("job")[-1]["copies"] == 1
    where.tell("remove")
    where.tell("hopper fill")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in an empty board")
    where.tell("insert")
    running.empty(where)
    running.finish().expect(0, r"stands: ")


@test
def a_run_that_was_killed_leaves_doubt(box):
    where = machine(box, "rubber", "--manual", scenario="deal 1 position 20: freeze")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in an empty board")
    where.tell("insert")
    where.tell("wait frozen")
    running.process.kill()
    running.process.wait()
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("take it out|Take it out")
    where.tell("thaw")
    where.tell("remove")
    where.tell("hopper fill")
    where.tell("insert")
    running.empty(where)
    running.finish().expect(0, r"stands: ")
    assert box.outcomes() == ["unknown", "exact"], box.outcomes()
    assert [act["act"] for act in box.records("act")].count("cancel") == 1


@test
def a_board_that_is_left_in_has_no_number(box):
    """The next run asks for it to be taken out; it is no board of a set."""
    where = machine(box, "rubber", "--manual")
    where.tell("insert")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.empty(where)
    running.finish().expect(0, r"stands: ")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    assert running.see("Take it out") == "The board is dealt and recorded. Take it out.\n"
    running.stop().expect(130, "stopped: nothing was dealt")


@test
def a_board_that_is_left_locked_in_is_let_go(box):
    """The machine went away in mid-deal: the command ends, and says how the board comes out."""
    where = machine(box, "rubber", "--manual", "--capabilities", CAN + ",board-lock",
                    scenario="position 20: unplug 100")
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Put in an empty board")
    where.tell("insert")
    running.finish().expect(1, r"(^|\n)void: ", r"begin again: that lets go of the board")
    assert where.status("locked") == "1"
    running = box.begin("deal", "--law", "rubber", "-m", where.uri)
    running.see("Take it out|take it out")
    where.tell("wait unlocked")
    running.stop().expect(130, "stopped: nothing was dealt")


@test
def dealt_without_a_cut(box):
    """The record before the machine's part comes from a file; nobody notices, so nothing is ruled."""
    before = box.write("before.law", "rules preferans\nturn E\nN shuffle\nE pickup\n")
    where, result = deal(box, "preferans", "--turn", "E", "--before", before)
    result.expect(0)
    assert "redeal" not in result.out


@test
def dealt_out_of_turn(box):
    before = box.write("before.law", "rules rubber\nturn S\nN shuffle\nW pickup\nW shuffle\nS cut 26/26\n"
                                     "E notes turn\n")
    where, result = deal(box, "rubber", "--turn", "W", "--before", before)
    result.expect(1, r"players-choose, rubber 10\(a\)\(iii\)", r"\nopen: ")


@test
def a_wrong_line_before_is_said_and_nothing_is_dealt(box):
    before = box.write("before.law", "rules rubber\nturn S\nN shufle\n")
    where, result = deal(box, "rubber", "--before", before)
    result.expect(2, r"before\.law:3: \"shufle\" is no word")
    assert not [board for board in where.account() if board["end"] == "done"]


@test
def a_void_deal_is_not_said_to_stand(box):
    """Every card is known to have landed, but an event is lost: no ruling and no record says that it stands."""
    _, result = deal(box, "rubber", "--law-record", "made.law", scenario="position 51: drop")
    result.expect(1, r"(^|\n)void: ")
    assert "stands" not in result.out, result
    assert not os.path.exists(os.path.join(box.folder, "made.law"))


@test
def a_record_of_no_deal_is_not_left(box):
    """So that the same command works when the machine is there."""
    made = os.path.join(box.folder, "made.law")
    box.dealbox("deal", "--law", "rubber", "--law-record", made, "-m", "emu:" + os.path.join(box.folder, "none")) \
        .expect(3, "no emulated machine")
    assert not os.path.exists(made)
    box.write("before.law", "rules rubber\nturn S\nN shufle\n")
    where = machine(box, "rubber")
    box.dealbox("deal", "--law", "rubber", "--before", "before.law", "--law-record", made, "-m", where.uri) \
        .expect(2, "is no word")
    assert not os.path.exists(made)
    # a file of somebody else stays
    box.write("made.law", "kept\n")
    box.dealbox("deal", "--law", "rubber", "--law-record", made, "-m", where.uri) \
        .expect(2, "give the name of a new file")
    with open(made) as file:
        assert file.read() == "kept\n"


@test
def a_machine_that_jams_is_no_matter_of_law(box):
    where, result = deal(box, "rubber", scenario="position 30: jam gate")
    result.expect(1, r"(^|\n)void: ")


def feed(where, cards):
    """A pocket's cards; the machine feeds them when the operator presses start."""
    for n in range(0, len(cards), 5):
        where.tell("hopper top " + " ".join(cards[n:n + 5]))
    where.tell("key start")


def asked(capture, seat, board=1):
    """Return the output up to the question for that pocket."""
    question = "board %d, pocket %s: Reading board %d" % (board, seat, board)
    said = ""
    while question not in said:
        line = capture.line()
        assert line, (said, capture.finish())
        said += line
    return said


@test
def an_original_is_captured_and_copied(box):
    cards = [suit + rank for suit in SUITS for rank in RANKS]
    random.Random(6).shuffle(cards)
    hands = [cards[13 * n:13 * n + 13] for n in range(4)]
    where = box.machine("--capabilities", CAN, "--manual")
    where.tell("hopper empty")
    where.tell("insert 4")
    capture = box.begin("capture", "-m", where.uri, "--board", "4", "original.pbn")
    said = ""
    for seat, hand in zip("NESW", hands):
        said += asked(capture, seat, 4)
        feed(where, hand)
    result = capture.finish().expect(0, r"board 4 is in original\.pbn")
    assert_secret(said + result.out + result.err)
    assert "recorded in %s/state/dealbox/ledger" % box.folder in said, said
    assert box.outcomes() == ["captured"] * 4, box.outcomes()
    where.process.kill()
    where.process.wait()

    # what was read is the original, card by card
    shown = open(os.path.join(box.folder, "original.pbn")).read()
    want = ["".join(sorted(h[1] for h in hand if h[0] == suit), ) for hand in hands for suit in SUITS]
    got = re.search(r'\[Deal "(.):([^"]*)"\]', shown)
    order = "NESW"[("NESW".index(got[1])):] + "NESW"[:"NESW".index(got[1])]
    read = dict(zip(order, got[2].split()))
    assert ["".join(sorted(suit)) for seat in "NESW" for suit in read[seat].split(".")] == want, shown

    # and its copies are exact, by the machine's account too
    copier = box.machine(name="copier")
    box.deal("-m", copier.uri, "--copies", "3", "original.pbn").expect(
        0, r"3 of 3 boards are exact duplicates")
    for lay in copier.account():
        if lay["end"] == "done":
            assert_exact(lay, 4, os.path.join(box.folder, "original.pbn"))
    box.write("copies.law", "rules duplicate-2017\ndirector instruct copies 3\nboard 4\n"
              + "".join("machine copy exact %d\n" % n for n in (1, 2, 3)))
    result = box.dealbox("law", "judge", "--json", "copies.law").expect(0)
    assert [r["ruling"] + r["reference"] for r in result.json() if "ruling" in r] == ["stands6F"] * 3


def capture_begin(box, *options):
    where = box.machine("--capabilities", CAN, "--manual")
    where.tell("hopper empty")
    where.tell("insert 4")
    return where, box.begin("capture", "-m", where.uri, *options, "original.pbn")


@test
def a_capture_is_recorded_where_it_is_wanted(box):
    """Whoever is killed there leaves the job to the service."""
    where, capture = capture_begin(box, "--ledger", "club")
    asked(capture, "N")
    capture.process.kill()
    capture.finish()
    where.tell("remove")
    where.tell("insert 4")
    capture = box.begin("capture", "-m", where.uri, "--ledger", "club", "original.pbn")
    assert "recorded in club" in capture.line()
    asked(capture, "N")
    capture.stop().expect(130, "stopped: nothing was written")
    acts = [r for r in box.dealbox("ledger", "export", "-l", "club").expect(0).json() if r["record"] == "act"]
    assert [(act["act"], act["job"]) for act in acts if act["act"] == "cancel"] == [("cancel", 4)], acts
    assert not os.path.exists("state"), os.listdir(".")


@test
def a_pocket_with_a_card_missing_is_asked_for_again(box):
    """At once, and not after the fourth pocket: the card lies beside the board now."""
    cards = [suit + rank for suit in SUITS for rank in RANKS]
    random.Random(7).shuffle(cards)
    where, capture = capture_begin(box)
    asked(capture, "N")
    feed(where, cards[:12])
    said = asked(capture, "N")
    feed(where, cards[:13])
    for n, seat in enumerate("ESW", 1):
        asked(capture, seat)
        feed(where, cards[13 * n:13 * n + 13])
    result = capture.finish().expect(0, r"board 1 is in original\.pbn", r"pocket N has 12 cards, not 13")
    assert_secret(said + result.out + result.err)
    assert box.outcomes() == ["void"] + ["captured"] * 4, box.outcomes()
    box.dealbox("check", "original.pbn").expect(0, "complete deals: 1,")


@test
def a_card_that_two_pockets_have_writes_nothing(box):
    cards = [suit + rank for suit in SUITS for rank in RANKS]
    where, capture = capture_begin(box)
    for seat, hand in zip("NESW", (cards[:13], cards[13:26], cards[26:39], cards[:1] + cards[39:51])):
        asked(capture, seat)
        feed(where, hand)
    result = capture.finish().expect(1, r"1 cards? (is|are) missing, 1 (is|are) there twice", r"nothing was written")
    assert_secret(result.out + result.err)
    assert not os.path.exists(os.path.join(box.folder, "original.pbn"))


@test
def a_board_sorted_by_suits_is_no_original(box):
    """Its file would be refused as a placeholder; and memory has nothing to do with it."""
    cards = [suit + rank for suit in SUITS for rank in RANKS]
    where, capture = capture_begin(box)
    for n, seat in enumerate("NESW"):
        asked(capture, seat)
        feed(where, cards[13 * n:13 * n + 13])
    result = capture.finish().expect(1, r"nothing was written: the board is sorted, nobody dealt it",
                                     r"deal the board, and capture it")
    assert "memory" not in result.err, result
    assert_secret(result.out + result.err)
    assert not os.path.exists(os.path.join(box.folder, "original.pbn"))


@test
def a_copy_is_not_dealt_into_the_original(box):
    """It is in the machine when the next program begins, and full of cards."""
    cards = [suit + rank for suit in SUITS for rank in RANKS]
    random.Random(8).shuffle(cards)
    where, capture = capture_begin(box)
    for n, seat in enumerate("NESW"):
        asked(capture, seat)
        feed(where, cards[13 * n:13 * n + 13])
    capture.finish().expect(0, r"board 1 is in original\.pbn")
    where.tell("hopper fill")
    dealing = box.begin("deal", "-m", where.uri, "original.pbn")
    dealing.see("is empty")
    # and even who says that it is empty gets no copy into it
    where.tell("key start")
    dealing.see("(Take|take) (it|the board|that board) out")
    dealing.stop().expect(130)
    assert box.outcomes()[:4] == ["captured"] * 4 and "exact" not in box.outcomes(), box.outcomes()
    assert sum(map(len, where.account()[-1]["pockets"][:4])) == 52


@test
def a_capture_that_was_killed_is_begun_again(box):
    """What was read before counts no more: nobody knows what the operator did with it."""
    cards = [suit + rank for suit in SUITS for rank in RANKS]
    random.Random(9).shuffle(cards)
    where, capture = capture_begin(box)
    asked(capture, "N")
    feed(where, cards[13:26])
    asked(capture, "E")
    capture.process.kill()
    capture.finish()
    where.tell("remove")
    where.tell("insert 4")
    capture = box.begin("capture", "-m", where.uri, "original.pbn")
    for n, seat in enumerate("NESW"):
        asked(capture, seat)
        feed(where, cards[13 * n:13 * n + 13])
    capture.finish().expect(0, r"board 1 is in original\.pbn")
    box.dealbox("check", "original.pbn").expect(0, "complete deals: 1,")
    # the job that nobody can go on with does not stay open
    assert [(act["act"], act["job"]) for act in box.records("act") if act["act"] == "cancel"] == [("cancel", 1)]


if __name__ == "__main__":
    main()
