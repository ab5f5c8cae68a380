#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealbox law: what a person and a program get from it."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["DEALBOX_SOURCE"], "tests/system/tool"))
from tool import main, test  # noqa: E402

GOOD = "rules rubber\npack red\nturn S pack=red\nW shuffle times=5\nS pickup\nE cut 20/32\nS deal rest\n"
FACEUP = GOOD.replace("S deal rest", "S deal W\nS deal N faceup")


@test
def a_deal_that_stands(box):
    box.write("table.law", GOOD)
    result = box.dealbox("law", "judge", "table.law").expect(
        0, r"^table\.law:7: stands, rubber 8 \[7\]\n    The cards were dealt correctly\. The deal stands\.\n"
           r"table\.law: deal 1: stands\. The deal stands\.\n$")
    assert result.err == ""


@test
def a_deal_that_does_not(box):
    box.write("table.law", FACEUP)
    box.dealbox("law", "judge", "table.law").expect(
        1, r"table\.law:8: redeal, rubber 10\(a\)\(i\) \[8\]\n", r"South deals, with pack red, shuffled and cut anew",
        r"table\.law: deal 1: redeal\. The cards must be dealt again\.\n$")


def verdicts(box, record):
    """Return each board's final verdict: (deal, board or None, verdict), and the exit status."""
    box.write("night.law", record)
    result = box.dealbox("law", "judge", "--json", "night.law")
    assert result.status in (0, 1), result.err
    return [(r["record_deal"], r.get("board"), r["verdict"]) for r in result.json() if r["kind"] == "verdict"], result.status


@test
def one_verdict_a_board(box):
    evening = ("rules duplicate-2017\n"
               "board 7\nN shuffle\nN deal rest\nboard 8\nE deal rest\n"
               "board 9\nS shuffle\nS deal W faceup\nboard 10\nN shuffle\nN deal rest\nE demand redeal\nboard 11\n")
    assert verdicts(box, evening) == (
        [(1, 7, "stands"), (2, 8, "cancelled"), (3, 9, "redeal"), (4, 10, "open")], 1)


@test
def the_last_word_on_a_board(box):
    """Rulings that contradict each other: the verdict is what holds at the end."""
    board = "rules duplicate-2017\nboard 3\n"
    for record, verdict in (
            # it stands, and then a hand lies face up in its pocket
            (board + "N shuffle\nN deal rest\nN pocket E faceup\n", "redeal"),
            # a card is turned in the shuffle, and the new shuffle puts it right
            (board + "N shuffle faceup\nN shuffle\nN deal rest\n", "stands"),
            # dealt again as it was ruled; and not yet
            (board + "N shuffle\nN deal W faceup\nN redeal\nN shuffle\nN deal rest\n", "stands"),
            (board + "N shuffle\nN deal W faceup\nN redeal\nN shuffle\n", "redeal"),
            # the director decides, and orders a redeal
            (board + "N shuffle\nN deal rest\nE demand redeal\ndirector demand redeal\n", "redeal"),
            # a copy is made again, in both orders
            ("rules duplicate-2017\ndirector instruct copies 2\nboard 3\nmachine copy different 1\n"
             "machine copy exact 1\n", "stands"),
            ("rules duplicate-2017\ndirector instruct copies 2\nboard 3\nmachine copy exact 1\n"
             "machine copy different 1\nmachine copy exact 2\n", "new-board"),
            # nobody whom the director appointed dealt: that it stands is for him to say
            (board + "other shuffle\nother deal rest\n", "open"),
            ("rules duplicate-2007\nboard 3\nN deal W cards=2\nN call pass\nW notes misdeal\n", "cancelled")):
        expected = ([(1, 3, verdict)], verdict != "stands")
        assert verdicts(box, record) == expected, (record, verdicts(box, record))
    for record, verdict in (
            # the error is put right, after attention was drawn to it
            (GOOD.replace("S deal rest", "S deal E\nN notes misdeal\nS rectify\nS deal rest"), "stands"),
            (GOOD.replace("S deal rest", "S deal E\nN notes misdeal\nS deal rest"), "redeal"),
            # a player may demand it, and one does
            (GOOD.replace("E cut 20/32\n", "").replace("rest", "W\nN notes uncut"), "open"),
            (GOOD.replace("E cut 20/32\n", "").replace("rest", "W\nN notes uncut\nE demand redeal for=uncut"), "redeal"),
            # nobody did, and the cards were played to the end
            (GOOD.replace("E cut 20/32\n", "").replace("rest", "W\nN notes uncut\nS deal rest\nS call 1C\nover"), "stands"),
            # a breach without a consequence
            (GOOD.replace("S deal rest", "S deal W seen=N\nS deal rest"), "stands")):
        expected = ([(1, None, verdict)], verdict != "stands")
        assert verdicts(box, record) == expected, (record, verdicts(box, record))


@test
def verdicts_of_a_rubber(box):
    turn = "W shuffle\nS pickup\nE cut 20/32\nS deal rest\n"
    record = "rules rubber\nturn S\n" + turn + "turn\nN shuffle\nW pickup\nS cut 20/32\nW deal rest\nW count 14\n" \
        "N count 12\nrubber\nturn S\n" + turn
    assert verdicts(box, record) == ([(1, None, "stands"), (2, None, "redeal"), (3, None, "stands")], 1)


@test
def no_verdict_on_a_board_whose_record_is_wrong(box):
    box.write("night.law", "rules duplicate-2017\nboard 1\nN shuffle\nN deal rest\nboard 2\nN shuffle\nN deal E\nN shufle\n")
    result = box.dealbox("law", "judge", "night.law").expect(2, r"night\.law: board 1: stands\. ", r"night\.law:8: ")
    assert "board 2" not in result.out, result.out


@test
def each_language_in_any_locale(box):
    box.write("table.law", FACEUP)
    for language, words in (("nb", "med fremsiden opp"), ("el", "Ένα φύλλο άνοιξε"), ("fr", "face visible"),
                            ("ru", "открылась карта"), ("en", "face up")):
        for locale in ("C", "C.UTF-8"):
            box.env["LC_ALL"] = locale
            box.dealbox("law", "judge", "table.law", "--lang", language, encoding="utf-8").expect(1, words)


@test
def everything_in_the_language(box):
    """Kinds, verdicts, rulesets and errors too; what programs read is the same in each."""
    box.write("table.law", FACEUP)
    box.write("wrong.law", "rules rubber\nW shufle\n")
    box.write("empty.law", "")
    for language, kind, verdict, rules, wrong, empty in (
            ("nb", "omgiv, rubber", "giv 1: omgiv", "kortstokk: 52", "er ikke et ord", "er tom"),
            ("el", "νέο μοίρασμα, rubber", "διανομή 1: νέο μοίρασμα", "τράπουλα: 52", "δεν είναι λέξη", "είναι κενό"),
            ("fr", "redonne, rubber", "donne 1: redonne", "jeu de cartes: 52", "d'un procès-verbal", "est vide"),
            ("ru", "пересдать, rubber", "сдача 1: пересдать", "колода: 52", "нет такого слова", "пуст"),
            ("en", "redeal, rubber", "deal 1: redeal", "pack: 52", "no word of a record", "is empty")):
        box.dealbox("law", "judge", "table.law", "-l", language, encoding="utf-8").expect(1, kind, verdict)
        box.dealbox("law", "rules", "rubber", "-l", language, encoding="utf-8").expect(0, rules)
        box.dealbox("law", "judge", "wrong.law", "-l", language, encoding="utf-8").expect(2, r"wrong\.law:2: ", wrong)
        box.dealbox("law", "judge", "empty.law", "-l", language, encoding="utf-8").expect(2, empty)
        ruling, final = box.dealbox("law", "judge", "-j", "table.law", "-l", language, encoding="utf-8").expect(1).json()
        assert (ruling["ruling"], final["verdict"], final["language"]) == ("redeal", "redeal", language)
    for language in ("nb", "el", "fr", "ru"):
        english = box.dealbox("law", "rules", "duplicate-2017", encoding="utf-8").out.splitlines()
        other = box.dealbox("law", "rules", "duplicate-2017", "-l", language, encoding="utf-8").out.splitlines()
        assert len(english) == len(other) and not set(english) & set(other), set(english) & set(other)


@test
def a_record_from_standard_input_as_json(box):
    command = box.begin("law", "judge", "-j", "-", stdin=subprocess.PIPE)
    ruling, verdict = command.finish(FACEUP).expect(1).json()
    assert verdict == {"kind": "verdict", "record_deal": 1, "verdict": "redeal", "line": 8, "language": "en",
                       "text": "The cards must be dealt again."}, verdict
    assert ruling == {
        "kind": "ruling", "line": 8, "ruling": "redeal", "rules": "rubber", "reference": "10(a)(i)", "see": "6(e)", "who": "S",
        "pack": "red", "shuffle": True, "cut": True, "fact_lines": [8], "language": "en",
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
        0, r"edition of 2017", r"two adjacent cards to one hand: forbidden", r"\n6D2 .*different session")
    box.dealbox("law", "rules", "duplicate-2007").expect(0, r"to one hand: not forbidden", r"\n6D1 .*16C")
    box.dealbox("law", "rules", "rubber").expect(0, r"portion of the cut: at least 4", r"\n12\(b\)\(ii\)")
    rules, = box.dealbox("law", "rules", "preferans", "--json").expect(0).json()
    assert (rules["cards"], rules["hand_count"], rules["hand_cards"], rules["packet"], rules["talon_cards"]) == \
        (32, 3, 10, 2, 2), rules
    box.dealbox("law", "rules", "whist").expect(2, "there is no ruleset 'whist'", "there are: duplicate-2007")


@test
def a_paragraph(box):
    result = box.dealbox("law", "explain", "6D1").expect(0, r"duplicate-2007 6D1: .*16C", r"duplicate-2017 6D1: .*16D")
    assert len(result.out.splitlines()) == 2
    result = box.dealbox("law", "explain", "rubber:12(b)", "--json").expect(0)
    assert [p["reference"] for p in result.json()] == ["12(b)", "12(b)(i)", "12(b)(ii)"]
    box.dealbox("law", "explain", "rubber:2").expect(2, "there is no paragraph 'rubber:2'")
    box.dealbox("law", "explain", "3.2.17", "-l", "ru", encoding="utf-8").expect(0, "замечание")
    box.dealbox("law", "explain", "6D1", "--lang", "da").expect(2, "there is no language 'da'", "nb, el, fr, ru and en")


@test
def a_paragraph_with_each_qualification(box):
    for reference, *words in (
            ("duplicate-2007:6D1", r"for either side", r"until the play is over", r"but see Law 24", r"[Ee]very board"),
            ("duplicate-2017:6D1", r"before the auction first begins", r"but see Law 24"),
            ("6E4", r"also in advance"), ("6F", r"one or more", r"normally"),
            ("rubber:4", r"to their satisfaction", r"for the next deal"), ("rubber:7", r"damaged or marked", r"current deal"),
            ("rubber:8", r"at once or running", r"those rights"), ("rubber:9", r"no redress", r"unless Law 10"),
            ("rubber:10(c)(i)", r"in every respect", r"due search"), ("rubber:11(b)", r"Law 23 or 49"),
            ("rubber:12(b)(ii)", r"had been played to a previous trick", r"without penalty"),
            ("3.2.16", r"3\.9\.18", r"third player", r"lost profit"), ("3.2.17", r"for example five"),
            ("3.2.19", r"as though they had taken no trick"), ("3.2.23", r"not the dealer answers")):
        box.dealbox("law", "explain", reference).expect(0, *words)


@test
def what_rulings_cite(box):
    """A Law that is not in the text is explained as such."""
    for reference, rules in (("16C", "duplicate-2007"), ("16D", "duplicate-2017"), ("24", "duplicate-2007"),
                             ("24", "duplicate-2017"), ("rubber:67", "rubber"), ("3.9.18", "preferans")):
        box.dealbox("law", "explain", reference).expect(0, r"%s %s: Cited by .* not part of the text"
                                                        % (rules, reference.split(":")[-1].replace(".", r"\.")))
    box.dealbox("law", "explain", "duplicate-2017:16C").expect(2, "there is no paragraph")
    box.dealbox("law", "explain", "16D", "-l", "el", encoding="utf-8").expect(0, "6Δ1")


@test
def calls_that_make_no_sense(box):
    box.dealbox("law").expect(2, "judge, rules or explain")
    box.dealbox("law", "praise", "x").expect(2, "not 'praise'")
    box.dealbox("deal", "--turn", "S", "x.pbn").expect(2, "go with --law")
    box.dealbox("deal", "--law", "rubber", "x.pbn").expect(2, "no deal file")
    box.dealbox("deal", "--law", "whist").expect(2, "there is no ruleset 'whist'")
    box.dealbox("deal", "--law", "preferans", "--turn", "W").expect(2, "N, E or S")


main()
