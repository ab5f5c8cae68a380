#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealbox law: what a person and a program get from it."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["DEALBOX_SOURCE"], "tests/tool"))
from tool import main, test  # noqa: E402

GOOD = "rules rubber\npack red\nturn S pack=red\nW shuffle times=5\nS pickup\nE cut 20/32\nS deal rest\n"
FACEUP = GOOD.replace("S deal rest", "S deal W\nS deal N faceup")


@test
def a_deal_that_stands(box):
    box.write("table.law", GOOD)
    result = box.dealbox("law", "judge", "table.law").expect(
        0, r"^table\.law:7: stands, rubber 8 \[7\]\n    The cards were dealt correctly\. The deal stands\.\n$")
    assert result.err == ""


@test
def a_deal_that_does_not(box):
    box.write("table.law", FACEUP)
    box.dealbox("law", "judge", "table.law").expect(
        1, r"table\.law:8: redeal, rubber 10\(a\)\(i\) \[8\]\n", r"South deals, with pack red, shuffled and cut anew")


@test
def each_language_in_any_locale(box):
    box.write("table.law", FACEUP)
    for language, words in (("nb", "med fremsiden opp"), ("el", "Ένα φύλλο άνοιξε"), ("fr", "face visible"),
                            ("ru", "открылась карта"), ("en", "face up")):
        for locale in ("C", "C.UTF-8"):
            box.env["LC_ALL"] = locale
            box.dealbox("law", "judge", "table.law", "--lang", language, encoding="utf-8").expect(1, words)


@test
def a_record_from_standard_input_as_json(box):
    command = box.begin("law", "judge", "-j", "-", stdin=subprocess.PIPE)
    ruling, = command.finish(FACEUP).expect(1).json()
    assert ruling == {
        "line": 8, "ruling": "redeal", "rules": "rubber", "reference": "10(a)(i)", "see": "6(e)", "who": "S",
        "pack": "red", "shuffle": True, "cut": True, "facts": [8], "language": "en",
        "text": "A card was turned face up in dealing. There must be a redeal: South deals, with pack red, "
                "shuffled and cut anew. See also: 6(e)."}, ruling


@test
def a_record_from_another_system(box):
    box.write("table.law", b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    box.dealbox("law", "judge", "table.law").expect(0, r"stands, rubber 8")


@test
def a_wrong_line(box):
    box.write("table.law", GOOD + "N notes missdeal\n")
    box.dealbox("law", "judge", "table.law").expect(
        2, r"table\.law:8: \"missdeal\" cannot stand after notes; there may stand: .*misdeal",
        r"law-record\.md has the words")


@test
def files_that_are_no_records(box):
    box.dealbox("law", "judge", "none.law").expect(2, r"cannot read none\.law: No such file")
    box.write("empty.law", "")
    box.dealbox("law", "judge", "empty.law").expect(2, r"empty\.law is empty")
    box.write("bytes.law", bytes(range(256)) * 4)
    box.dealbox("law", "judge", "bytes.law").expect(2, r"bytes\.law:1: ")


@test
def a_ruleset(box):
    box.dealbox("law", "rules", "duplicate-2017").expect(
        0, r"edition of 2017", r"adjacent +two adjacent cards to one hand: forbidden", r"\n6D2 .*different session")
    box.dealbox("law", "rules", "duplicate-2007").expect(0, r"to one hand: not forbidden", r"\n6D1 .*16C")
    box.dealbox("law", "rules", "rubber").expect(0, r"portions +at least 4 cards", r"\n12\(b\)\(ii\)")
    rules, = box.dealbox("law", "rules", "preferans", "--json").expect(0).json()
    assert (rules["cards"], rules["hands"], rules["hand_cards"], rules["packet"], rules["talon_cards"]) == \
        (32, 3, 10, 2, 2), rules
    box.dealbox("law", "rules", "whist").expect(2, "there is no ruleset 'whist'", "they are duplicate-2007")


@test
def a_paragraph(box):
    result = box.dealbox("law", "explain", "6D1").expect(0, r"duplicate-2007 6D1: .*16C", r"duplicate-2017 6D1: .*16D")
    assert len(result.out.splitlines()) == 2
    result = box.dealbox("law", "explain", "rubber:12(b)", "--json").expect(0)
    assert [p["reference"] for p in result.json()] == ["12(b)", "12(b)(i)", "12(b)(ii)"]
    result = box.dealbox("law", "explain", "rubber:1").expect(2, "there is no paragraph 'rubber:1'")
    box.dealbox("law", "explain", "3.2.17", "-l", "ru", encoding="utf-8").expect(0, "замечание")
    box.dealbox("law", "explain", "6D1", "--lang", "da").expect(2, "there is no language 'da'", "nb, el, fr, ru and en")


@test
def calls_that_make_no_sense(box):
    box.dealbox("law").expect(2, "judge, rules or explain")
    box.dealbox("law", "praise", "x").expect(2, "not 'praise'")
    box.dealbox("deal", "--turn", "S", "x.pbn").expect(2, "go with --law")
    box.dealbox("deal", "--law", "rubber", "x.pbn").expect(2, "no deal file")
    box.dealbox("deal", "--law", "whist").expect(2, "there is no ruleset 'whist'")
    box.dealbox("deal", "--law", "preferans", "--turn", "W").expect(2, "N, E or S")


main()
