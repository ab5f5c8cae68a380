#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""show, check and convert: what a person, and a program, sees of deal files."""

import gzip
import json
import os
import re

from tool import SET, assert_secret, main, test

HANDS = "Q8.4.AQT3.AQT963 AKJ43.97652.4.K8 T9652.T3.K72.J52 7.AKQJ8.J9865.74"
OTHER = "754.JT2.K732.AJ6 QJ9832..A9.KQT95 6.AQ86.QJT864.82 AKT.K97543.5.743"
TWICE = HANDS.replace("7.AKQJ8", "A.AKQJ8")
WRITERS = ("pbn", "dup", "dlm", "lin", "bri", "dge", "csv", "ber", "bhg", "rzd", "cds")


def game(board, hands, **tags):
    lines = ['[Board "%s"]' % board] if board is not None else []
    lines += ['[%s "%s"]' % tag for tag in tags.items()]
    return "\n".join(lines + ['[Deal "N:%s"]' % hands, "", ""])


class Answer:
    """The lines of show or check, by what they are about."""

    def __init__(self, result):
        lines = result.json()
        self.boards = [line for line in lines if line["kind"] == "board"]
        self.problems = [line for line in lines if line["kind"] == "problem"]
        self.summary, = [line for line in lines if line["kind"] == "summary"]
        assert lines == [*self.boards, *self.problems, self.summary], lines


def show(box, *args, status=0, **options):
    return Answer(box.dealbox("show", "--json", *args, **options).expect(status))


def cards(answer):
    return [deal["deal"] for deal in answer.boards]


@test
def show_gives_the_deals_and_the_problems_as_json(box):
    box.write("a.pbn", game(7, HANDS, Dealer="N", Vulnerable="None") + game(8, TWICE) +
              game(None, OTHER) + game("2-1", OTHER.replace("754", "75").replace("AKT", "AKT4")))
    answer = show(box, "a.pbn")
    assert answer.boards[0] == {"kind": "board", "board": 7, "dealer": "N", "vulnerable": "None", "deal": "N:" + HANDS}
    assert answer.boards[1] == {"kind": "board", "deal": "N:" + OTHER}
    assert len(answer.boards) == 2
    problems = {(p.get("board", p.get("board_label")), p["problem"], p["line"]) for p in answer.problems}
    assert (8, "card-repeated", 7) in problems, problems
    assert (8, "card-missing", 7) in problems, problems
    assert (None, "board-missing", 9) in problems, problems
    assert ("2-1", "hand-size", 12) in problems, problems
    assert (7, "dealer-contradicts", 2) in problems, problems
    assert all(p["file"] == "a.pbn" and p["text"] for p in answer.problems)
    assert_secret(" ".join(p["text"] for p in answer.problems))
    revealed = show(box, "--reveal", "a.pbn")
    assert [p["text"] for p in revealed.problems if p["problem"] == "card-repeated"] == \
        ["SA is there twice, held by East and West"]


@test
def show_draws_the_hands(box):
    box.write("a.pbn", game(1, OTHER))
    result = box.dealbox("show", "a.pbn").expect(0, "Board 1 +dealer North +vulnerable None",
                                                 r"S AKT +S QJ9832", "H -\n")
    assert result.err == "", result


@test
def check_answers_with_its_status_and_tells_no_card(box):
    box.write("good.pbn", game(1, HANDS) + game(2, OTHER))
    box.dealbox("check", "good.pbn").expect(0, "complete deals: 2, problems: 0, notes: 0")
    box.write("bad.pbn", game(1, HANDS) + game(2, TWICE))
    result = box.dealbox("check", "bad.pbn").expect(
        1, "bad.pbn:5: board 2: a card is there twice, held by East and West", "problems: 2")
    assert_secret(result.out + result.err)
    box.dealbox("check", "--reveal", "bad.pbn").expect(1, "SA is there twice", "S7 is missing")
    result = box.dealbox("check", "--json", "bad.pbn").expect(1)
    answer = Answer(result)
    assert answer.summary["deals"] == 1 and not answer.boards
    assert [p["problem"] for p in answer.problems] == ["card-repeated", "card-missing"]
    assert_secret(result.out)
    # the members that the sentence shows, so that a program can translate it; no card, even to who may see it
    shown = ("file", "kind", "line", "byte", "board", "severity", "problem", "text", "hand", "hands", "count", "expected", "quote")
    assert [p.get("hands") for p in answer.problems] == ["EW", None]
    assert all(set(p) <= set(shown) for p in answer.problems)
    revealed = Answer(box.dealbox("check", "--json", "--reveal", "bad.pbn").expect(1))
    for one in revealed.problems:
        one.pop("text")
    assert_secret(json.dumps(revealed.problems))
    box.write("short.pbn", game(1, OTHER.replace("754", "75")))
    short = [p for p in Answer(box.dealbox("check", "--json", "short.pbn").expect(1)).problems
             if p["problem"] == "hand-size"][0]
    assert (short["count"], short["expected"], short["hand"] in "NESW") == (12, 13, True), short


@test
def what_cannot_be_read_is_status_2(box):
    box.write("good.pbn", game(1, HANDS))
    box.write("empty.pbn", "")
    box.write("letter.txt", "Dear Sir,\n")
    box.dealbox("check", "none.pbn").expect(2, "none.pbn: cannot be read: No such file")
    box.dealbox("check", "good.pbn", "empty.pbn").expect(2, "empty.pbn: the file is empty")
    box.dealbox("check", "letter.txt").expect(2, "not a deal file in any format", "PBN")
    box.deal("letter.txt").expect(2, "export the deals as PBN .* `dealbox convert --from`")
    with open("huge.pbn", "wb") as file:
        file.truncate(1 << 30)
    box.dealbox("check", "huge.pbn").expect(2, "huge.pbn: larger than 512 MiB")
    box.dealbox("check").expect(2, "name of a file")
    box.dealbox("check", "--from", "doc", "good.pbn").expect(2, "no format 'doc'")
    answer = show(box, "none.pbn", status=2)
    assert answer.problems[0]["problem"] == "file-unreadable"


@test
def several_files_are_one_set(box):
    box.write("a.pbn", game(1, HANDS))
    box.write("b.pbn", game(2, OTHER))
    box.dealbox("convert", "b.pbn", "b.dlm").expect(0)
    answer = show(box, "a.pbn", "b.dlm")
    assert [deal["board"] for deal in answer.boards] == [1, 2]
    assert answer.problems == []
    box.write("c.pbn", game(2, HANDS))
    answer = show(box, "a.pbn", "b.dlm", "c.pbn")
    assert [p["problem"] for p in answer.problems] == ["board-repeated", "deal-repeated"]
    assert answer.problems[1]["text"] == "the same deal as board 1"
    turned = " ".join(HANDS.split()[1:] + HANDS.split()[:1])
    box.write("d.pbn", game(3, turned))
    answer = show(box, "a.pbn", "b.dlm", "d.pbn")
    assert [p["problem"] for p in answer.problems] == ["deal-rotated"]


@test
def convert_into_every_format_and_back(box):
    whole = show(box, SET)
    for name in WRITERS:
        box.dealbox("convert", SET, "set." + name).expect(0)
        # by its content: the name says nothing
        os.rename("set." + name, "set")
        assert cards(show(box, "set")) == cards(whole), name
        for other in WRITERS:
            # the formats that have no numbers
            first = ("--first", "1") if name in ("bri", "dge", "ber", "bhg", "rzd") else ()
            box.dealbox("convert", "--force", *first, "set", "again", "--to", other).expect(0)
            assert cards(show(box, "again", "--from", other)) == cards(whole), (name, other)


@test
def convert_from_standard_input_to_standard_output(box):
    with open(SET, "rb") as file:
        result = box.dealbox("convert", "-", "-", "--to", "ber", stdin=file).expect(0)
    assert result.err.count("\n") == 1 and "no place for it: names" in result.err, result
    assert re.fullmatch("([1-4]{52})+", result.out)
    box.write("a.ber", result.out)
    assert cards(show(box, "a.ber")) == cards(show(box, SET))
    box.dealbox("convert", SET, "-").expect(2, "give --to")


@test
def convert_chosen_boards(box):
    box.dealbox("convert", SET, "a.dup", "--boards", "5-8").expect(0)
    answer = show(box, "a.dup")
    assert [deal["board"] for deal in answer.boards] == [5, 6, 7, 8]
    assert cards(answer) == cards(show(box, SET))[4:8]
    box.dealbox("convert", SET, "b.dup", "--boards", "1,999").expect(2, "board 999 is not among", "nothing was written")
    box.dealbox("convert", SET, "b.bri", "--boards", "5-8").expect(2, "cannot express", "nothing was written")
    assert not os.path.exists("b.dup") and not os.path.exists("b.bri")


@test
def a_board_whose_deal_is_lost_is_a_problem(box):
    with open(SET) as file:
        text = file.read()
    for lost in (text.replace("[Deal ", "Deal ", 1), text.replace("[Deal ", "[XDeal ", 1)):
        box.write("a.pbn", lost)
        box.dealbox("check", "a.pbn").expect(1, "complete deals: 23", "board 1: there is no deal")
        box.dealbox("convert", "a.pbn", "a.dlm").expect(2, "board 1: there is no deal", "nothing was written")
    box.dealbox("convert", SET, "a.lin").expect(0)
    with open("a.lin") as file:
        text = file.read()
    box.write("b.lin", text[:text.index("md|", len(text) // 2)])
    box.dealbox("check", "b.lin").expect(1, "there is no deal for this board")
    box.write("b.lin", text[:len(text) // 2])
    box.dealbox("convert", "b.lin", "b.pbn").expect(2, "ends within a deal", "nothing was written")
    assert not os.path.exists("a.dlm") and not os.path.exists("b.pbn")


@test
def boards_without_numbers(box):
    """Nobody guesses them: the vulnerability depends on them."""
    box.dealbox("convert", SET, "a.bri", "-b", "1-16").expect(0)
    for name in ("lin", "csv", "dlm", "dup", "cds"):
        box.dealbox("convert", "a.bri", "a." + name).expect(
            2, "boards that have no numbers", "nothing was written", "--first")
    box.dealbox("convert", "a.bri", "a.pbn").expect(0)
    assert {deal.get("board") for deal in show(box, "a.pbn").boards} == {None}
    for name in ("pbn", "lin", "csv", "dlm", "dup", "cds"):
        box.dealbox("convert", "--force", "--first", "17", "a.bri", "b." + name).expect(0)
        answer = show(box, "b." + name)
        assert [deal["board"] for deal in answer.boards] == list(range(17, 33)), name
        assert answer.boards[0]["vulnerable"] == "None" and answer.boards[12]["vulnerable"] == "All"
        box.dealbox("check", "--first", "1", "b." + name).expect(2, "--first: the boards have numbers")
    answer = show(box, "--first", "17", "a.pbn")
    assert [deal["board"] for deal in answer.boards] == list(range(17, 33))
    # Big Deal says that its boards begin at 1, whatever they are
    with open("b.dup", "rb") as file:
        data = file.read()
    box.write("c.dup", b"".join(data[n:n + 146] + b"YN1  0 16 " for n in range(0, len(data), 156)))
    box.dealbox("check", "c.dup").expect(1, "have no numbers: some programs always say 1")
    box.dealbox("convert", "c.dup", "c.lin").expect(2, "--first")
    box.dealbox("convert", "--first", "17", "c.dup", "c.lin").expect(0)
    assert [deal["board"] for deal in show(box, "c.lin").boards] == list(range(17, 33))
    box.dealbox("convert", "--first", "0", "c.dup", "d.lin").expect(2, "--first")


@test
def boards_without_numbers_are_dealt_by_those_that_are_given(box):
    machine = box.machine()
    box.dealbox("convert", SET, "a.bri", "-b", "1-2").expect(0)
    box.dealbox("deal", "-m", machine.uri, "a.bri").expect(2, "no board number", "dealbox convert --first N")
    assert machine.status("deals") == "0"
    box.deal("-m", machine.uri, "--first", "17", "a.bri").expect(0, "board 18")
    assert machine.status("deals") == "2"


@test
def convert_is_all_or_nothing(box):
    box.write("bad.pbn", game(1, HANDS) + game(2, TWICE) + game(3, OTHER))
    box.write("out.dup", "what was there before")
    result = box.dealbox("convert", "--force", "bad.pbn", "out.dup").expect(
        2, "board 2: a card is there twice", "nothing was written", "--boards")
    assert_secret(result.out + result.err)
    with open("out.dup") as file:
        assert file.read() == "what was there before"
    box.dealbox("convert", "bad.pbn", "out.dup", "--force", "--boards", "1,3").expect(2, "gaps in the numbers")
    box.dealbox("convert", "bad.pbn", "out.lin", "--boards", "1,3").expect(0)
    assert [deal["board"] for deal in show(box, "out.lin").boards] == [1, 3]
    assert sorted(os.listdir(".")) == ["bad.pbn", "out.dup", "out.lin"]


RICH = """%Club evening
[Event "Club evening"]
[Site "Here"]
[Board "1"]
[West "Ann"]
[Deal "N:{}"]
[Contract "3NT"]
[Result "9"]
[Auction "N"]
1NT Pass 3NT AP
{{ well bid }}
[OptimumScore "NS 400"]

[Board "2"]
[Event "#"]
[Deal "N:{}"]
""".format(HANDS, OTHER)


@test
def convert_from_pbn_to_pbn_keeps_everything(box):
    box.write("a.pbn", RICH)
    whole = show(box, "a.pbn")
    result = box.dealbox("convert", "a.pbn", "a.pbn").expect(2, "a.pbn: there is such a file already", "--force")
    assert_secret(result.out + result.err)
    with open("a.pbn") as file:
        assert file.read() == RICH
    box.dealbox("convert", "--force", "a.pbn", "a.pbn").expect(0)
    with open("a.pbn") as file:
        lines = file.read().splitlines()
    for line in RICH.splitlines():
        if "#" not in line and "Deal" not in line:
            assert line in lines, line
    assert lines.count('[Event "Club evening"]') == 2
    assert cards(show(box, "a.pbn")) == cards(whole)
    box.dealbox("convert", "a.pbn", "b.pbn", "-b", "2").expect(0)
    with open("b.pbn") as file:
        text = file.read()
    assert "Ann" not in text and '[Event "Club evening"]' in text, text
    # files of other formats may be among them
    box.dealbox("convert", "b.pbn", "b.dlm").expect(0, "no place for it: names, results or comments")
    box.dealbox("convert", "a.pbn", "b.dlm", "c.pbn", "-b", "1-2").expect(0)
    with open("c.pbn") as file:
        assert "well bid" in file.read()


@test
def what_convert_does_not_keep_is_said(box):
    box.write("a.pbn", RICH)
    box.write("plain.pbn", game(1, HANDS) + game(2, OTHER))
    for name in WRITERS[1:]:
        box.dealbox("convert", "a.pbn", "a." + name).expect(0, "no place for it: names, results or comments")
        result = box.dealbox("convert", "plain.pbn", "plain." + name).expect(0)
        assert "no place" not in result.err, result
    with open("a.lin") as file:
        text = file.read()
    box.write("b.lin", "pn|Ann,Bob,,|\n" + text)
    box.dealbox("convert", "b.lin", "b.pbn").expect(0, "b.lin: names, results, auctions")
    result = box.dealbox("convert", "a.lin", "c.pbn").expect(0)
    assert "names" not in result.err, result


@test
def convert_does_not_lose_that_deals_are_restricted(box):
    box.write("a.pbn", "% dealbox: restricted unplayed\n" + game(1, HANDS) + game(2, OTHER))
    box.dealbox("convert", "a.pbn", "a.dlm").expect(2, "that deals are restricted", "nothing was written")
    box.dealbox("convert", "a.pbn", "b.pbn", "-b", "2").expect(0)
    with open("b.pbn") as file:
        assert "% dealbox: restricted unplayed" in file.read()
    box.write("a.pbn", "% dealbox: unplayed\n" + game(1, HANDS) + game(2, OTHER))
    box.dealbox("convert", "a.pbn", "a.dlm").expect(0, "no place for it: the mark of unplayed deals")


@test
def a_board_that_is_there_for_each_table_is_dealt_once(box):
    machine = box.machine()
    box.write("results.pbn", game(1, HANDS) + game(2, OTHER) + game(1, HANDS) + game(2, OTHER))
    box.deal("-m", machine.uri, "results.pbn").expect(0)
    assert machine.status("deals") == "2"


@test
def many_findings_hide_no_other(box):
    box.write("again.pbn", game(1, HANDS) * 5000 + game(2, OTHER))
    result = box.dealbox("check", "again.pbn").expect(0, "boards: 1-2\n", "notes: 4999",
                                                      r"and 4979 more of this kind \(board-again\)")
    assert len(result.err.splitlines()) == 21, result
    # nothing of it loses a deal
    box.dealbox("convert", "again.pbn", "again.dup").expect(0)
    box.write("bad.pbn", game(1, HANDS) * 5000 + game(2, TWICE))
    result = box.dealbox("check", "bad.pbn").expect(1, "problems: 2, notes: 4999")
    assert "board 2: a card is there twice" in result.err.splitlines()[0], result
    answer = Answer(box.dealbox("check", "--json", "bad.pbn").expect(1))
    assert answer.summary["problem_counts"] == {"board-again": 4999, "card-missing": 1, "card-repeated": 1}
    box.dealbox("convert", "bad.pbn", "bad.dup").expect(2, "board 2: a card is there twice")
    # what an operator is told: here the number of the board contradicts 30 times
    box.write("bad.pbn", "".join(game(n, HANDS, Dealer="NESW"[n % 4]) for n in range(1, 31)) + game(31, TWICE))
    box.dealbox("deal", "-m", "emu:none", "bad.pbn").expect(2, "board 31: a card is there twice",
                                                            r"and 10 more of this kind \(dealer-contradicts\)")


@test
def a_word_for_each_way_to_write_cards(box):
    box.write("a.pbn", game(1, HANDS.replace("T", "10")) + game(2, OTHER.replace("..", ".-.")))
    result = box.dealbox("check", "a.pbn").expect(0, "notes: 2", "tens are written as 10", "without cards is written as -")
    assert len(result.err.splitlines()) == 2, result


@test
def text_in_utf_16_is_named(box):
    for code in ("utf-16", "utf-16-le", "utf-16-be"):
        for name in ("a.pbn", "a"):
            box.write(name, game(1, HANDS).encode(code))
            result = box.dealbox("check", name).expect(2, "the text is UTF-16", "save it as")
            assert len(result.err.splitlines()) == 1, result


@test
def compressed_files_are_read(box):
    with open(SET, "rb") as file:
        data = file.read()
    packed = gzip.compress(data[:5000]) + gzip.compress(data[5000:]) + b"\0" * 512
    box.write("a.pbn.gz", packed)
    assert cards(show(box, "a.pbn.gz")) == cards(show(box, SET))
    with open("a.pbn.gz", "rb") as file:
        box.dealbox("check", "-", stdin=file).expect(0, "complete deals: 24")
    # the name tells the format, too: two records are not enough to know this one
    box.dealbox("convert", SET, "a.cds", "-b", "1-2").expect(0)
    with open("a.cds", "rb") as file:
        box.write("a.cds.gz", gzip.compress(file.read()))
    assert len(cards(show(box, "a.cds.gz"))) == 2
    box.deal("-m", box.machine().uri, "-b", "1", "a.pbn.gz").expect(0, "board 1")
    for damaged in (packed[:700], packed[:700] + b"\1" + packed[701:], packed + b"x"):
        box.write("b.pbn.gz", damaged)
        result = box.dealbox("check", "b.pbn.gz").expect(2, "compressed file is damaged", "complete deals: 0")
        assert_secret(result.out + result.err)
    # small, but not what it unpacks to
    block = gzip.compress(bytes(1 << 20), 1)
    box.write("b.pbn.gz", block * 513)
    box.dealbox("check", "b.pbn.gz").expect(2, "larger than 512 MiB")


@test
def what_cannot_be_read_is_not_to_be_mended(box):
    box.write("good.pbn", game(1, HANDS))
    box.write("empty.pbn", "")
    for name in (".", "empty.pbn", "none.pbn"):
        for boards in ((), ("-b", "1")):
            result = box.dealbox("convert", "good.pbn", name, "out.dup", *boards).expect(
                2, "nothing was written", "give the names of files with deals")
            assert "--boards" not in result.err, result
    assert not os.path.exists("out.dup")


@test
def text_that_is_not_utf_8_does_not_break_the_json(box):
    box.write("a.pbn", b'[Board "\xf8-\x22]\n'.replace(b"\x22]", b'"]') + game(None, HANDS).encode())
    assert show(box, "a.pbn").boards[0]["board_label"] == "\xf8-"
    # longer than necessary, a surrogate, beyond U+10FFFF; and the nearest that are right
    for text in b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80":
        box.write("a.pbn", b'[Board "' + text + b'-"]\n' + game(None, HANDS).encode())
        assert show(box, "a.pbn").boards[0]["board_label"] == text.decode("latin-1") + "-", text
    for text in "\u0800", "\ud7ff", "\ue000", "\U00010000", "\U0010ffff":
        box.write("a.pbn", '[Board "%s-"]\n' % text + game(None, HANDS))
        assert show(box, "a.pbn").boards[0]["board_label"] == text + "-", text


main()
