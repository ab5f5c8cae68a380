#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""show --double-dummy: tables and par, and what the user is told if the solver fails."""

import itertools
import os
import re
import select
import shutil
import signal
import subprocess

import par
import tables
from tool import DEALBOX, TIMEOUT, Result, Skip, main, test

HELPER = os.path.join(os.path.dirname(DEALBOX), "dealbox-double-dummy")
INSTRUMENTED = os.environ["DEALBOX_INSTRUMENTED"] not in ("none", "")
GCOV = os.environ["DEALBOX_INSTRUMENTED"] == "coverage"

DENOMINATIONS = ["NT", "S", "H", "D", "C"]

GAME = """[Board "%s"]
[Dealer "%s"]
[Vulnerable "%s"]
[Deal "%s"]

"""
# North has all spades, East all hearts; who leads at no trumps takes 13, 7, 7 or 13 tricks
SUITS = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98.765432 ..765432.AKQJT98"
TRICKS = {"N": (0, 13, 0, 7, 6), "E": (6, 0, 13, 6, 7), "S": (6, 13, 0, 7, 6), "W": (0, 0, 13, 6, 7)}
# both sides have a fit
FITS = "N:QJ632.A7.KT85.74 AT5.KQJ93.J4.K82 K984.62.A973.QJ5 7.T854.Q62.AT963"


def solved(box, *args):
    """The deals of show --double-dummy --json"""
    return [line for line in box.dealbox("show", "--double-dummy", "--json", *args).expect(0).json() if line["kind"] == "board"]


def contracts(deal):
    """All contracts that the answer means, one by one"""
    found = set()
    for entry in deal["double_dummy"]["par"]["contracts"]:
        assert entry["doubled"] == (entry["result"] < 0), entry
        assert set(entry["declarers"]) <= set("NS") or set(entry["declarers"]) <= set("EW"), entry
        for level in range(entry["level"], entry["level"] + max(entry["result"], 0) + 1):
            for seat in entry["declarers"]:
                what = (level, entry["denomination"], seat)
                assert what not in found, entry
                found.add(what)
    return found


def check_par(deal):
    """Par is what its definition makes of the table."""
    table = deal["double_dummy"]["tricks"]
    who, dealer = deal["vulnerable"], deal["dealer"]
    answer = deal["double_dummy"]["par"]
    assert answer["score"] == par.par_score(table, dealer, who), deal
    assert contracts(deal) == par.par_contracts(table, dealer, who), deal


@test
def a_table_and_par_stand_below_each_board(box):
    box.write("a.pbn", GAME % (1, "N", "None", SUITS))
    result = box.dealbox("show", "--double-dummy", "a.pbn").expect(0)
    assert re.search(r"""Tricks  NT  S  H  D  C
North +0 13  0  7  6
South +6 13  0  7  6
East +6  0 13  6  7
West +0  0 13  6  7
Par NS \+1510: 7S NS
""", result.out), result


@test
def the_answer_for_programs_names_declarers_and_denominations(box):
    box.write("a.pbn", GAME % (1, "N", "None", SUITS))
    deal, = solved(box, "a.pbn")
    assert deal["double_dummy"]["tricks"] == {
        seat: dict(zip(DENOMINATIONS, TRICKS[seat])) for seat in "NESW"}, deal
    assert deal["double_dummy"]["par"] == {"score": 1510, "contracts": [
        {"level": 7, "denomination": "S", "declarers": "NS", "doubled": False, "result": 0,
         "text": "7S NS"}]}, deal
    assert "double_dummy" not in box.dealbox("show", "--json", "a.pbn").expect(0).out


@test
def par_is_not_known_without_dealer_and_vulnerability(box):
    box.write("a.pbn", '[Board ""]\n[Deal "%s"]\n\n' % SUITS)
    deal, = solved(box, "a.pbn")
    assert "par" not in deal["double_dummy"] and deal["double_dummy"]["tricks"]["N"]["S"] == 13
    box.dealbox("show", "--double-dummy", "a.pbn").expect(0, "Par is not known without dealer")
    # the same whoever deals
    known = '[Board ""]\n[Vulnerable "NS"]\n[Deal "%s"]\n\n'
    box.write("b.pbn", known % SUITS)
    deal, = solved(box, "b.pbn")
    assert "dealer" not in deal and deal["double_dummy"]["par"]["score"] == 1700, deal


@test
def tags_go_before_the_board_number(box):
    box.write("a.pbn", GAME % (1, "N", "NS", SUITS) + '[Board "4"]\n[Deal "%s"]\n' % SUITS)
    # 7NT doubled costs less than the vulnerable grand slam
    assert [[deal["double_dummy"]["par"]["score"], deal["double_dummy"]["par"]["contracts"][0]["text"]]
            for deal in solved(box, "a.pbn")] == [[1700, "7NTx E-7"], [2000, "7NTx E-7"]]


@test
def an_incomplete_deal_has_no_table_and_that_is_said(box):
    box.write("a.pbn", GAME % (1, "N", "None", SUITS) + GAME % (2, "E", "NS", SUITS.replace("..765432.AKQJT98", "-")))
    result = box.dealbox("show", "--double-dummy", "a.pbn").expect(0, r"Board 1 ", "board 2")
    assert result.out.count("Tricks") == 1, result


@test
def par_is_that_of_its_definition(box):
    """One deal with each dealer and vulnerability"""
    cases = list(itertools.product("NESW", ("None", "NS", "EW", "All")))
    box.write("a.pbn", "".join(GAME % (n, *case, FITS) for n, case in enumerate(cases, 1)))
    deals = solved(box, "a.pbn")
    assert len(deals) == 16
    for deal in deals:
        check_par(deal)


# with the table of another program, which is wrong
RICH = (GAME % (1, "N", "None", SUITS)).rstrip() + """
[Auction "N"]
1NT Pass 3NT AP
[DoubleDummyTricks "********************"]
[OptimumResultTable "Declarer;Denomination\\2R;Result\\2R"]
N NT  1
{ kept }
[OptimumScore "NS 400"]
[Room "Open"]
"""
TAGS = """[DoubleDummyTricks "0d0766d07660d6700d67"]
[OptimumScore "NS 1510"]
[OptimumResultTable "Declarer;Denomination\\2R;Result\\2R"]
N NT  0
N  S 13
N  H  0
N  D  7
N  C  6
S NT  6
"""


@test
def convert_writes_the_tags(box):
    box.write("a.pbn", RICH)
    box.dealbox("convert", "--double-dummy", "a.pbn", "b.pbn").expect(0)
    with open("b.pbn", newline="") as file:
        text = file.read()
    assert TAGS.replace("\n", "\r\n") in text, text
    for line in ("1NT Pass 3NT AP", "{ kept }", '[Room "Open"]'):
        assert text.count(line + "\r\n") == 1, text
    assert not re.search("400|NT  1\r|[*]", text), text
    assert text.count("[OptimumResultTable") == 1 and len(re.findall("^[NESW] ..? [ 0-9]+\r$", text, re.M)) == 20
    shown = [box.dealbox("show", "--json", name).expect(0).json() for name in ("a.pbn", "b.pbn")]
    assert [line for line in shown[0] if line["kind"] == "board"] == [line for line in shown[1] if line["kind"] == "board"]


@test
def convert_adds_the_tags_to_deals_of_other_formats(box):
    box.write("a.pbn", RICH)
    box.dealbox("convert", "a.pbn", "b.lin").expect(0)
    box.dealbox("convert", "--double-dummy", "b.lin", "c.pbn").expect(0)
    with open("c.pbn") as file:
        assert TAGS in file.read()


@test
def convert_refuses_a_format_that_cannot_hold_them(box):
    box.write("a.pbn", RICH)
    box.dealbox("convert", "--double-dummy", "a.pbn", "b.lin").expect(2, "lin has no room for tricks; only pbn")
    assert not os.path.exists("b.lin")


@test
def tables_and_par_of_other_programs_agree(box):
    """Two deals of each file; tests/system/tool/double-dummy compares all."""
    if not os.path.isdir(tables.FOLDER):
        raise Skip("there is no " + tables.FOLDER)
    for name in tables.FILES:
        games = {re.search(r"\[Deal .*", game)[0]: game for game in tables.games(name)}
        games = list(games.values())[:2]
        box.write("a.pbn", "\n\n".join(games) + "\n")
        deals = solved(box, "a.pbn")
        assert len(deals) == 2, name
        for game, deal in zip(games, deals):
            assert tables.compare(name, game, deal) >= 17, name


@test
def par_is_that_of_libdds_and_of_the_definition(box):
    tables.check_par(1, 1500, 6)


@test
def a_deal_that_is_there_often_is_solved_once(box):
    """Also as the last of the set"""
    boards = [FITS, SUITS, FITS, FITS, SUITS]
    box.write("a.pbn", "".join(GAME % (n, "N", "None", deal) for n, deal in enumerate(boards, 1)))
    deals = solved(box, "a.pbn")
    found = [deal["double_dummy"]["tricks"] for deal in deals]
    assert found[1]["N"]["S"] == 13 and found[0]["N"]["S"] < 13, found
    assert found == [found[boards.index(deal)] for deal in boards], found


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def broken(box, script):
    """dealbox with another helper"""
    shutil.copy(DEALBOX, "dealbox")
    box.write("dealbox-double-dummy", "#!/bin/sh\n" + script)
    os.chmod("dealbox-double-dummy", 0o755)
    box.write("a.pbn", GAME % (1, "N", "None", SUITS))
    return run("./dealbox", "show", "--double-dummy", "a.pbn")


@test
def what_befalls_the_solver_is_said(box):
    for script, words in (
            ("kill -SEGV $$", "was ended by signal 11; 0 of 1 deals were solved"),
            ("exit 2", "ended with status 2"),
            ("exit 0", "ended too early"),
            ("echo 01234567890abcdef0123; exec sleep 1000", "gave a wrong answer"),
            ("cat; exec sleep 1000", "gave a wrong answer")):
        result = broken(box, script).expect(2, "dealbox-double-dummy " + words, "run it again")
        assert not result.out and "AKQ" not in result.err and len(result.err.splitlines()) == 2, result


@test
def a_missing_solver_is_said(box):
    broken(box, "")
    os.remove("dealbox-double-dummy")
    result = run("./dealbox", "show", "--double-dummy", "a.pbn")
    if result.status == 0:
        raise Skip("dealbox is installed here")
    result.expect(2, "dealbox-double-dummy: No such file", "install dealbox as a whole")


def line(deal):
    """The helper's input: the seat of each card"""
    hands = [hand.split(".") for hand in deal.split(":")[1].split()]
    return "".join(str(next(n for n, hand in enumerate(hands) if rank in hand[suit]))
                   for suit in range(4) for rank in "AKQJT98765432") + "\n"


@test
def the_solver_is_confined_and_its_memory_is_bounded(box):
    with subprocess.Popen([HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as helper:
        # a batch is answered while the input is still open
        helper.stdin.write((line(FITS) * 8).encode())
        helper.stdin.flush()
        answers = [helper.stdout.readline() for _ in range(8)]
        with open("/proc/%d/status" % helper.pid) as file:
            state = dict(re.findall(r"^(\w+):\s+(.*)$", file.read(), re.M))
        with open("/proc/%d/limits" % helper.pid) as file:
            limits = dict(re.findall(r"^Max (\w.*?) {2,}(\S+)", file.read(), re.M))
        helper.stdin.close()
        assert helper.wait() == 0
    assert len(set(answers)) == 1 and re.fullmatch(rb"[0-9a-d]{20}\n", answers[0]), answers
    assert state["NoNewPrivs"] == "1" and limits["core file size"] == "0", (state, limits)
    if not INSTRUMENTED:
        assert state["Seccomp"] == "2" and int(limits["address space"]) == 256 << 20, (state, limits)
        assert int(state["VmHWM"].split()[0]) < 90 << 10, state


@test
def the_solver_refuses_what_is_not_a_deal(box):
    for bad in (line(FITS)[:-2], line(FITS).replace("3", "4"), line(FITS).replace("2", "1"), "\n" * 53, " " * 53):
        result = subprocess.run([HELPER], input=bad.encode(), capture_output=True)
        assert (result.returncode, result.stdout) == (1, b""), (bad, result)
        # gcov complains on stderr, because the helper cannot open files any more
        assert GCOV or result.stderr == b"", (bad, result)


@test
def the_solver_ends_with_its_caller_and_has_no_card_in_its_arguments(box):
    box.dealbox("generate", "--number", "200", "a.pbn").expect(0)
    caller = subprocess.Popen([DEALBOX, "show", "--double-dummy", "a.pbn"], stdout=subprocess.PIPE)
    try:
        children = "/proc/%d/task/%d/children" % (caller.pid, caller.pid)
        arguments, state = b"", ""
        # once it has no new privileges, it has asked to end with its caller
        while arguments != b"dealbox-double-dummy\0" or not re.search(r"^NoNewPrivs:\s1", state, re.M):
            assert caller.poll() is None
            with open(children) as file:
                helper = file.read().split()
            if helper:
                with open("/proc/%s/cmdline" % helper[0], "rb") as file:
                    arguments = file.read()
                with open("/proc/%s/status" % helper[0]) as file:
                    state = file.read()
        gone = os.pidfd_open(int(helper[0]))
        caller.send_signal(signal.SIGKILL)
        caller.wait()
        assert select.select([gone], [], [], 60)[0], "the solver goes on"
        os.close(gone)
    finally:
        caller.kill()
        caller.wait()
        caller.stdout.close()


main()
