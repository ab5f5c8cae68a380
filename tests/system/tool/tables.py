# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of double dummy for the tests: at random, and those of other programs."""

import os
import random
import re
import subprocess

import par

SUITS = ["S", "H", "D", "C", "NT"]
WHO = ("None", "NS", "EW", "All")
PAR_OF_TABLES = os.environ.get("DEALBOX_PAR_OF_TABLES", "build/user/tests/system/tool/par_of_tables")
FOLDER = os.path.join(os.environ.get("DEALBOX_SHARED", "../shared"), "data/deals/pbn")

# Files with tables of other programs: some write the same number for all results below a limit.
FILES = {
    "deal-convert__test.pbn": (0, 0),
    "endplay__example2.pbn": (0, 0),
    "endplay__sample.pbn": (0, 0),
    "pbn__Hand_Trophy_Pairs.pbn": (7, 1),
    "pbn__Hazlemere_Trophy.pbn": (7, 6),
    "pbn__Wed_Individual.pbn": (5, 4),
}


def random_table(source):
    """tricks[seat][denomination]: partners take nearly the same, and both sides together nearly 13."""
    def near(tricks, *steps):
        return min(13, max(0, tricks + source.choice(steps)))

    tricks = {seat: {} for seat in par.SEATS}
    for denomination in SUITS:
        north = min(13, max(0, round(source.gauss(6.5, 3))))
        south = near(north, 0, 0, 0, 0, 1, -1)
        east = near(13 - max(north, south), 0, 0, 0, -1, 1)
        west = near(east, 0, 0, 0, 0, 1, -1)
        for seat, taken in zip("NESW", (north, east, south, west)):
            tricks[seat][denomination] = taken
    return tricks


def contracts(texts):
    """Each contract that "4S N+1", or of libdds "4S-N+1", stands for"""
    found = set()
    for text in texts:
        level, name, declarers, over = re.fullmatch(r"(\d)([SHDC]|NT?)[x*]?[ -]([NS]+|[EW]+)([+-]\d+)?", text).groups()
        for raised in range(max(int(over or 0), 0) + 1):
            for seat in declarers:
                found.add((int(level) + raised, "NT" if name == "N" else name, seat))
    return found


def check_par(seed, count, python):
    """
    Par of count tables, with every dealer and vulnerability: the same as libdds has it, and of the first tables as
    its definition has it.
    """
    source = random.Random(seed)
    tables = [random_table(source) for _ in range(count)]
    # nobody makes anything; all make everything, so that the dealer matters
    tables[:0] = [{seat: dict.fromkeys(SUITS, taken) for seat in par.SEATS} for taken in (6, 7, 13)]
    lines = ["".join("%x" % tricks[seat][name] for name in SUITS for seat in par.SEATS) for tricks in tables]
    out = subprocess.run([PAR_OF_TABLES], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True).stdout
    answers = iter(out.splitlines())
    passed_out = 0
    for n, tricks in enumerate(tables):
        for dealer in par.SEATS:
            for who in WHO:
                line = next(answers)
                ours, theirs = (side.split(",") for side in line.split("|"))
                case = (seed, n, dealer, who, line, tricks)
                score, found = int(ours[0]), contracts(ours[1:])
                # libdds sets no score when a deal is passed out
                if theirs[1:] == ["pass"]:
                    assert score == 0 and not found, case
                    passed_out += 1
                else:
                    assert (score, found) == (int(theirs[0]), contracts(theirs[1:])), case
                if n < python:
                    assert score == par.par_score(tricks, dealer, who), case
                    assert found == par.par_contracts(tricks, dealer, who), case
    assert 16 <= passed_out < 16 * count, passed_out


def games(name):
    with open(os.path.join(FOLDER, name), encoding="latin-1") as file:
        text = file.read()
    return [game for game in re.split(r"\n(?=\[Event )", text) if "[Deal " in game]


def compare(name, game, deal):
    """A game of a file with the answer of show --double-dummy --json. Returns the number of results compared."""
    limit, below = FILES[name]
    tricks = deal["double_dummy"]["tricks"]
    found = 0

    def same(seat, denomination, written):
        expected = tricks[seat][denomination]
        assert written == (expected if expected >= limit else below), (name, deal, seat, denomination, written)

    section = re.search(r"\[OptimumResultTable [^\n]*\n((?:[NESW] .*\n?)*)", game)
    for row in section[1].splitlines() if section else []:
        seat, denomination, written = row.split()
        same(seat, denomination, int(written))
        found += 1
    tag = re.search(r'\[DoubleDummyTricks "([0-9a-d]{20})"', game)
    for n, digit in enumerate(tag[1] if tag else ""):
        same("NSEW"[n // 5], ["NT", "S", "H", "D", "C"][n % 5], int(digit, 16))
        found += 1
    tag = re.search(r'\[OptimumScore "(NS|EW) ([+-]?\d+)"', game)
    if tag:
        score = int(tag[2]) * (1 if tag[1] == "NS" else -1)
        assert score == deal["double_dummy"]["par"]["score"], (name, deal, tag[0])
        found += 1
    return found
