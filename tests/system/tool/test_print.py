#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""print: hand records as PDF and HTML, as readers, search and screen readers see them."""

import ctypes
import html.parser
import json
import os
import re
import subprocess

from tool import DEALBOX, SET, assert_secret, deals, main, test

# pango begins a thread whose end nobody can await. LeakSanitizer, which stops all threads when the
# program ends, sometimes meets it half gone, and breaks down: nothing_leaks() asks again then.
LEAKS = os.environ.get("ASAN_OPTIONS", "")
os.environ["ASAN_OPTIONS"] = LEAKS + ":detect_leaks=0"

HANDS = "Q8.4.AQT3.AQT963 AKJ43.97652.4.K8 T9652.T3.K72.J52 7.AKQJ8.J9865.74"
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="9" height="9"/></svg>'
OTHER = "754.JT2.K732.AJ6 QJ9832..A9.KQT95 6.AQ86.QJT864.82 AKT.K97543.5.743"

# seats, and ace to jack
LANGUAGES = {
    "en": ("NESW", ["A", "K", "Q", "J"]),
    "nb": ("NØSV", ["E", "K", "D", "Kn"]),
    "el": ("ΒΑΝΔ", ["Α", "Ρ", "Ν", "Β"]),
    "fr": ("NESO", ["A", "R", "D", "V"]),
    "ru": ("СВЮЗ", ["Т", "К", "Д", "В"]),
}


def game(board, hands):
    number = '[Board "%s"]\n' % board if board is not None else ""
    return '%s[Deal "N:%s"]\n\n' % (number, hands)


def poppler(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0 and not result.stderr, (result.returncode, result.stderr)
    return result.stdout


def spoken(path):
    """The structure elements of a PDF file in reading order, as (element, text)."""
    elements, last = [], None
    for line in poppler("pdfinfo", "-struct-text", path).splitlines():
        if line.lstrip().startswith('"'):
            last[1] += line.strip()[1:-1]
        else:
            last = [line.split()[0], ""]
            elements.append(last)
    return [(element, " ".join(text.split())) for element, text in elements]


def holding(cards, suit, ranks, ten="10"):
    names = ranks + [ten] + list("98765432")
    return " ".join(names[card % 13] for card in cards if card // 13 == suit) or "—"


def hand(letter, cards, ranks, ten="10"):
    points = sum(max(0, 4 - card % 13) for card in cards)
    suits = ["%s %s" % (sign, holding(cards, suit, ranks, ten)) for suit, sign in enumerate("♠♥♦♣")]
    return " ".join([letter, str(points)] + suits)


@test
def a_screen_reader_hears_each_board_in_order(box):
    for language, (seats, ranks) in LANGUAGES.items():
        box.dealbox("print", SET, "-o", language + ".pdf", "-L", language).expect(0)
        elements = spoken(language + ".pdf")
        assert elements[0] == ("Document", "")
        assert elements[1][0] == "H1" and elements[1][1], elements[1]
        boards = deals(SET)
        heard = [element for element in elements[2:] if element[0] in ("H2", "P")]
        for number, cards in boards.items():
            element, text = heard.pop(0)
            assert element == "H2" and re.search(r" %d .*\b%s\b" % (number, seats[(number - 1) % 4]), text), text
            for seat in range(4):
                want = ("P", hand(seats[seat], cards[seat], ranks))
                got = heard.pop(0)
                # the footer of the page comes between two boards
                assert got == want, "%s\n%s" % (got, want)
            if heard and heard[0][0] == "P":
                heard.pop(0)
        assert not heard, heard


@test
def the_file_says_its_language_and_title(box):
    box.dealbox("print", SET, "-o", "a.pdf", "-L", "el", "--title", "Club ♠ 2026").expect(0)
    info = poppler("pdfinfo", "a.pdf")
    assert re.search(r"Title: +Club ♠ 2026\n", info) and re.search(r"Tagged: +yes", info), info
    plain = subprocess.run(["qpdf", "--qdf", "--object-streams=disable", "a.pdf", "-"],
                           stdout=subprocess.PIPE, check=True).stdout
    assert b"/Lang (el)" in plain and b"/DisplayDocTitle true" in plain
    subprocess.run(["qpdf", "--check", "a.pdf"], stdout=subprocess.DEVNULL, check=True)


@test
def fonts_are_embedded_and_text_can_be_searched(box):
    for language in ("en", "ru"):
        box.dealbox("print", SET, "-o", language + ".pdf", "-L", language, "--font", "no such font").expect(0)
        fonts = poppler("pdffonts", language + ".pdf").splitlines()[2:]
        assert fonts
        for font in fonts:
            # embedded, a subset, with Unicode
            assert re.search(r" yes +yes +yes +\d+ +0$", font) and re.match(r"[A-Z]{6}\+", font), font
    text = poppler("pdftotext", "ru.pdf", "-")
    assert "Сдаёт" in text and "♠" in text, text


@test
def layouts_and_papers(box):
    pages = {"pocket": 2, "wall": 4, "study": 24, "large": 12, "curtain": 22, "curtain16": 12}
    for layout, count in pages.items():
        box.dealbox("print", SET, "-o", "a.pdf", "--force", "-l", layout, "-p", "a4").expect(0)
        info = poppler("pdfinfo", "a.pdf")
        assert re.search(r"Pages: +%d\n" % count, info) and "595.276 x 841.89" in info, info
    box.dealbox("print", SET, "-o", "a.pdf", "--force", "-p", "letter").expect(0)
    assert "612 x 792" in poppler("pdfinfo", "a.pdf")


@test
def double_dummy_tables_are_those_of_show(box):
    box.write("a.pbn", game(1, HANDS) + '[Board "2"]\n[Deal "N:%s - - -"]\n\n' % HANDS.split()[0])
    box.dealbox("print", "a.pbn", "-o", "a.pdf", "--double-dummy").expect(0)
    shown = box.dealbox("show", "--json", "--double-dummy", "a.pbn").json()[0]["double_dummy"]
    elements = spoken("a.pdf")
    table = elements[[element for element, _ in elements].index("Table"):]
    rows, par = [], None
    for element, text in table:
        if element == "TR":
            rows.append([])
        elif element in ("TH", "TD"):
            rows[-1].append(text)
        elif element == "P" and not par:
            par = text
    assert rows[0] == ["", "NT", "♠", "♥", "♦", "♣"], rows
    heard = {}
    for row in rows[1:]:
        for seat in row[0]:
            heard[seat] = dict(zip(("NT", "S", "H", "D", "C"), map(int, row[1:])))
    assert heard == shown["tricks"], (heard, shown)
    assert par.startswith("Par %s" % str(shown["par"]["score"]).replace("-", "−")), (par, shown)
    for contract in shown["par"]["contracts"]:
        assert "%d%s" % (contract["level"], dict(S="♠", H="♥", D="♦", C="♣", NT="NT")[contract["denomination"]]) in par
    said = [text for _, text in elements]
    assert any("not what should be bid" in text for text in said), said
    # the page for screen readers says what makes, too
    box.dealbox("print", "a.pbn", "-o", "a.html", "--double-dummy").expect(0)
    makes = []
    for name, seat in (("North", "N"), ("East", "E"), ("South", "S"), ("West", "W")):
        tricks = shown["tricks"][seat]
        levels = ["%d%s" % (tricks[of] - 6, sign) for of, sign in
                  (("NT", "NT"), ("S", "♠"), ("H", "♥"), ("D", "♦"), ("C", "♣")) if tricks[of] > 6]
        makes.append(" ".join([name] + (levels or ["—"])))
    with open("a.html") as file:
        assert "<p>Makes: %s</p>" % "; ".join(makes) in file.read(), makes
    # without tables there is no footnote, and an incomplete deal has no table
    assert [element for element, _ in elements].count("Table") == 1
    box.dealbox("print", "a.pbn", "-o", "b.pdf").expect(0)
    assert not any("should be bid" in text for _, text in spoken("b.pdf"))


@test
def ten_as_letter(box):
    box.write("a.pbn", game(1, HANDS))
    box.dealbox("print", "a.pbn", "-o", "a.pdf", "--ten", "T").expect(0)
    assert "♦ A Q T 3" in " ".join(text for _, text in spoken("a.pdf"))
    box.dealbox("print", "a.pbn", "-o", "b.pdf").expect(0)
    assert "♦ A Q 10 3" in " ".join(text for _, text in spoken("b.pdf"))


@test
def the_same_deals_make_the_same_bytes(box):
    box.write("a.pbn", game(1, HANDS) + game(2, OTHER))
    for name in ("1.pdf", "2.pdf"):
        box.dealbox("print", "a.pbn", "-o", name).expect(0)
    with open("1.pdf", "rb") as one, open("2.pdf", "rb") as other:
        assert one.read() == other.read()
    box.env["SOURCE_DATE_EPOCH"] = "86400"
    box.dealbox("print", "a.pbn", "-o", "3.pdf").expect(0)
    box.env["TZ"] = "UTC"
    result = subprocess.run(["pdfinfo", "3.pdf"], env=box.env, stdout=subprocess.PIPE, text=True)
    assert "Fri Jan  2 00:00:00 1970" in result.stdout, result.stdout
    # of deals from a pipe no date is known, and none is made up
    del box.env["SOURCE_DATE_EPOCH"]
    with open("a.pbn") as deal:
        box.dealbox("print", "-", "-o", "4.pdf", stdin=deal).expect(0)
    assert "CreationDate" not in poppler("pdfinfo", "4.pdf")


class Watch:
    """Sees which names appear in folders: inotify(7)."""

    def __init__(self, *folders):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK)
        for folder in folders:
            # IN_CREATE, IN_MOVED_TO
            assert libc.inotify_add_watch(self.fd, folder.encode(), 0x100 | 0x80) > 0

    def names(self):
        data, found = b"", []
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            pass
        while data:
            size = int.from_bytes(data[12:16], "little")
            found.append(data[16:16 + size].rstrip(b"\0").decode())
            data = data[16 + size:]
        return found


@test
def only_the_finished_file_is_written(box):
    for folder in ("out", "tmp", "home"):
        os.mkdir(folder)
    box.env.update(TMPDIR=os.path.abspath("tmp"), HOME=os.path.abspath("home"))
    watch = Watch("out", "tmp")
    box.dealbox("print", SET, "-o", "out/a.pdf").expect(0)
    assert watch.names() == ["a.pdf"]
    assert os.stat("out/a.pdf").st_mode & 0o777 == 0o600
    box.dealbox("print", SET, "-o", "out/a.pdf").expect(2, "such a file already")
    box.dealbox("print", SET, "-o", "out/a.pdf", "--force", "-l", "wall").expect(0)
    assert os.listdir("out") == ["a.pdf"]
    box.dealbox("print", SET, "-o", "nowhere/a.pdf").expect(2, "nowhere/a.pdf")


class Outline(html.parser.HTMLParser):
    """Checks that elements are closed, and collects tables, headings and the language."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.headings, self.language = [], [], [], None
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        if tag == "html":
            self.language = dict(attributes)["lang"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("h1", "h2"):
            self.headings.append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, text):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += text
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings[-1] += text


@test
def the_html_twin_says_the_same(box):
    box.dealbox("print", SET, "-o", "a.html", "-L", "fr", "--title", "<Club> & \"amis\"").expect(0)
    with open("a.html") as file:
        outline = Outline(file.read())
    assert outline.language == "fr"
    assert outline.headings[0] == "<Club> & \"amis\"", outline.headings
    assert len(outline.headings) == 25 and outline.headings[1] == "Donne 1, Donneur Nord, Personne vul."
    rows = [row for row in outline.rows if row[0] in ("Nord", "Est", "Sud", "Ouest")]
    for cards, row in zip([cards for hands in deals(SET).values() for cards in hands], rows):
        assert row[1:5] == [holding(cards, suit, LANGUAGES["fr"][1]) for suit in range(4)], row


@test
def a_board_without_a_number_and_a_label(box):
    box.write("a.pbn", game(None, HANDS) + game("2-1", OTHER))
    box.dealbox("print", "a.pbn", "-o", "a.pdf").expect(0)
    headings = [text for element, text in spoken("a.pdf") if element == "H2"]
    assert headings == ["Board ?", "Board 2-1"], headings
    box.dealbox("print", "a.pbn", "-o", "b.pdf", "--first", "9").expect(0)
    assert "Board 9 Dealer N EW vul." in [text for _, text in spoken("b.pdf")], spoken("b.pdf")


@test
def an_incomplete_deal_is_printed_as_far_as_it_is_known(box):
    box.write("a.pbn", game(1, HANDS) + '[Board "2"]\n[Deal "N:%s - - -"]\n\n' % HANDS.split()[0] + game(3, OTHER))
    box.dealbox("print", "a.pbn", "-o", "a.pdf").expect(0, "incomplete deals is printed: 1")
    said = [text for _, text in spoken("a.pdf")]
    at = said.index("Board 2 Dealer E NS vul.")
    assert said[at + 1] == "N 14 ♠ Q 8 ♥ 4 ♦ A Q 10 3 ♣ A Q 10 9 6 3", said
    assert said[at + 2] == "E ♠ ? ♥ ? ♦ ? ♣ ?", said
    assert said[at + 5] == "Incomplete 39 cards not known", said
    assert said[at + 7].startswith("Board 3 "), said
    box.dealbox("print", "a.pbn", "-o", "a.html").expect(0)
    with open("a.html") as file:
        assert "Incomplete: 39 cards not known" in file.read()


@test
def statistics_are_of_played_sets_only(box):
    box.dealbox("generate", "-n", "36", "a.pbn").expect(0)
    box.dealbox("print", "a.pbn", "--statistics", "-o", "a.pdf").expect(2, "not yet played", "dealbox played")
    assert not os.path.exists("a.pdf")
    box.dealbox("played", "a.pbn").expect(0)
    box.dealbox("print", "a.pbn", "--statistics", "-o", "a.pdf").expect(0)
    cells = [text for element, text in spoken("a.pdf") if element in ("TH", "TD")]
    row = cells[cells.index("4-4-3-2"):][:7]
    assert sum(map(int, row[1:5])) == int(row[5]) and row[6] == "31.0", row
    # the deals of a set are their owner's to print
    box.dealbox("print", "a.pbn", "-o", "b.pdf").expect(0)


@test
def a_sealed_set_is_printed_with_its_key(box):
    box.write("a.pbn", game(1, HANDS))
    box.dealbox("seal", "--new-key", "director").expect(0)
    box.dealbox("seal", "a.pbn", "--for", "director.pub").expect(0)
    sealed = [name for name in os.listdir(".") if name.startswith("a.pbn.")][0]
    os.unlink("a.pbn")
    box.dealbox("print", sealed, "-o", "a.pdf").expect(2, "--key")
    assert not os.path.exists("a.pdf")
    box.dealbox("print", sealed, "-o", "a.pdf", "--key", "director").expect(0)
    assert any("♦ A Q 10 3" in text for _, text in spoken("a.pdf"))


@test
def preferans_has_three_hands_and_a_talon(box):
    box.write("a.txt", "1 AQJ.AK.QJT8.8 KT8.JT97.9.K7 7.Q8.AK7.QJT9 9...A\n")
    box.dealbox("print", "a.txt", "--pack", "preferans", "-L", "ru", "-o", "a.pdf").expect(0)
    said = [text for element, text in spoken("a.pdf") if element in ("H2", "P")]
    assert said[:5] == ["Сдача 1", "I ♠ Т Д В ♥ Т К ♦ Д В 10 8 ♣ 8", "II ♠ К 10 8 ♥ В 10 9 7 ♦ 9 ♣ К 7",
                        "III ♠ 7 ♥ Д 8 ♦ Т К 7 ♣ Д В 10 9", "П ♠ 9 ♥ — ♦ — ♣ Т"], said
    box.write("b.txt", "1 AQJ.AK.QJT8.8 KT8.JT97.9.K7 7.Q8.AK7.QJT9 9...A\n2 AQJ.AK.QJT8.8 - - -\n")
    result = box.dealbox("print", "b.txt", "--pack", "preferans", "-o", "b.pdf").expect(2, "b.txt:2: this is not")
    assert_secret(result.err)
    assert not os.path.exists("b.pdf")


@test
def logo_title_session_and_footer(box):
    box.write("logo.svg", LOGO)
    box.dealbox("print", SET, "-o", "a.pdf", "--logo", "logo.svg", "--session", "Monday", "--set", "17",
                "--footer", "36 × 10 exact").expect(0)
    said = [text for _, text in spoken("a.pdf")]
    assert "Session Monday Set 17" in said and "36 × 10 exact Page 2 of 2" in said, said
    box.write("logo.png", "no picture")
    box.dealbox("print", SET, "-o", "b.pdf", "--logo", "logo.png").expect(2, "logo", "PNG or SVG")
    assert not os.path.exists("b.pdf")


@test
def texts_that_are_not_text_do_no_harm(box):
    box.dealbox("print", SET, "-o", "a.pdf", "--title", b"caf\xe9\x1b[31m", "--session", b"\xff\n", "--set", "日本",
                "--footer", b"\x80", "--font", b"\xff").expect(0)
    assert "Title:           café?[31m\n" in poppler("pdfinfo", "a.pdf"), poppler("pdfinfo", "a.pdf")
    assert "日本" in poppler("pdftotext", "a.pdf", "-").replace(" ", "")
    for start in "", "x":
        done = box.dealbox("print", SET, "-o", "a.pdf", "--force", "-L", "ru", "--session", start + 255 * "я").expect(0)
        assert not done.err, done.err
    box.dealbox("print", SET, "-o", "a.html", "--title", b"caf\xe9").expect(0)
    with open("a.html", encoding="utf-8") as file:
        assert "<h1>café</h1>" in file.read()


@test
def a_receipt_of_the_own_ledger(box):
    machine = box.machine()
    box.deal(SET, "-m", machine.uri, "--boards", "1-2").expect(0)
    ledger = os.path.join(box.folder, "state/dealbox/ledger")
    job = str(json.loads(box.dealbox("ledger", "list", "--json", "-l", ledger).out.splitlines()[0])["job"])
    box.dealbox("print", "--receipt", job, "--ledger", ledger, "-o", "a.pdf").expect(0)
    text = poppler("pdftotext", "-layout", "a.pdf", "-")
    assert len(re.findall(" exact\n", text)) == 2 and "2 × 1 exact, ledger head " in text, text
    assert not re.search("[♠♥♦♣]", text), text
    box.dealbox("print", "--receipt", "999999", "--ledger", ledger, "-o", "b.pdf").expect(2, "no job 999999")
    box.dealbox("print", "--receipt", job, "--ledger", "none", "-o", "b.pdf").expect(2, "none")
    box.dealbox("print", SET, "--ledger", ledger, "-o", "b.pdf").expect(2, "--ledger goes with --job or --receipt")
    assert not os.path.exists("b.pdf")


@test
def hand_records_of_the_own_ledger(box):
    machine = box.machine()
    box.deal(SET, "-m", machine.uri, "--boards", "1-2", "--session", "monday").expect(0)
    ledger = os.path.join(box.folder, "state/dealbox/ledger")
    job = str(json.loads(box.dealbox("ledger", "list", "--json", "-l", ledger).out.splitlines()[0])["job"])
    before = len(box.records())
    box.dealbox("print", "--job", job, "--ledger", ledger, "-o", "a.pdf", "-L", "en").expect(0)
    cards = deals(SET)
    hands = [text for element, text in spoken("a.pdf") if element == "P" and re.match("[NESW] ", text)]
    assert hands == [hand("NESW"[seat], cards[board][seat], LANGUAGES["en"][1])
                     for board in (1, 2) for seat in range(4)], hands
    # who saw them is recorded, and the paper's head and QR code are of the ledger with that record
    record, = box.records()[before:]
    assert record["record"] == "act" and record["act"] == "reveal" and record["uid"] == os.getuid(), record
    head = re.search(r"2 × 1 exact, ledger head (\d+:[0-9a-f]{64})", poppler("pdftotext", "-layout", "a.pdf", "-"))[1]
    assert head in box.dealbox("ledger", "verify", "-l", ledger).out, head
    subprocess.run(["pdftoppm", "-r", "300", "-png", "-singlefile", "a.pdf", "page"], check=True)
    code = subprocess.run(["zbarimg", "-q", "--nodbus", "--raw", "-Sdisable", "-Sqrcode.enable", "page.png"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    assert code == "dealbox ledger %s\n" % head, code
    # as a program calls it
    done = subprocess.run([DEALBOX, "print", "--job", job, "--ledger", ledger, "-o", "-"], capture_output=True)
    assert not done.returncode and not done.stderr and done.stdout.startswith(b"%PDF"), done.stderr
    assert done.stdout.rstrip().endswith(b"%%EOF")
    with open("/dev/full", "w") as full:
        done = subprocess.run([DEALBOX, "print", SET, "-o", "-"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode and done.stderr, done
    box.dealbox("print", "--job", "999999", "--ledger", ledger, "-o", "b.pdf").expect(2, "no job 999999")
    box.dealbox("print", "--job", job, "--ledger", "none", "-o", "b.pdf").expect(2, "none")
    assert not os.path.exists("b.pdf")


@test
def a_printer_gets_the_pages_by_a_pipe(box):
    os.mkdir("bin")
    box.write("bin/lp", '#!/bin/sh\necho "$*" >lp.arguments\ncat >lp.input\necho request id is club-1\n'
              'test "$2" = club\n')
    os.chmod("bin/lp", 0o755)
    box.env["PATH"] = os.path.abspath("bin") + ":" + box.env["PATH"]
    result = box.dealbox("print", SET, "--printer", "club", "--title", "Monday").expect(0, "request id is club-1")
    assert result.out == "", result
    with open("lp.arguments") as file:
        assert file.read() == "-d club -t Monday -o sides=two-sided-long-edge -\n"
    assert "Monday" in poppler("pdftotext", "lp.input", "-")
    box.dealbox("print", SET, "--printer", "other", "-o", "a.pdf").expect(2, "printer other did not take")
    assert not os.path.exists("a.pdf")
    box.dealbox("print", SET, "--printer", "club", "-o", "a.pdf", "-l", "wall").expect(0)
    assert os.path.exists("a.pdf")
    box.dealbox("print", SET, "--printer", "club", "-o", "a.html").expect(2, "printers take PDF")
    box.env["PATH"] = os.path.abspath("nothing")
    box.dealbox("print", SET, "--printer", "club").expect(2, "lp cannot be started", "cups-client")


@test
def wrong_calls_say_what_is_wrong(box):
    box.dealbox("print", "-o", "a.pdf").expect(2, "name of a file")
    box.dealbox("print", SET).expect(2, "-o FILE.pdf", "--printer")
    box.dealbox("print", SET, "-o", "a.pdf", "-l", "poster").expect(2, "pocket, wall, study")
    box.dealbox("print", SET, "-o", "a.pdf", "-p", "a5").expect(2, "a4 or letter")
    box.dealbox("print", SET, "-o", "a.pdf", "-L", "de").expect(2, "nb, el, fr, ru or en")
    box.dealbox("print", SET, "-o", "a.pdf", "--ten", "X").expect(2, "10 or T")
    box.dealbox("print", SET, "-o", "a.pdf", "-b", "90").expect(2, "no board to print")
    box.dealbox("print", "missing.pbn", "-o", "a.pdf").expect(2, "missing.pbn")
    assert not os.path.exists("a.pdf")


@test
def nothing_leaks(box):
    box.write("logo.svg", LOGO)
    box.dealbox("generate", "-n", "4", "own.pbn").expect(0)
    box.dealbox("played", "own.pbn").expect(0)
    box.env = dict(box.env, ASAN_OPTIONS=LEAKS)
    for words in (SET, "-l", "pocket", "-o", "a.pdf"), (SET, "-l", "study", "-L", "ru", "-o", "a.pdf"), \
                 (SET, "-l", "curtain", "-o", "a.pdf"), ("own.pbn", "--statistics", "-o", "a.pdf"), (SET, "-o", "a.html"):
        for _ in range(9):
            done = box.dealbox("print", "--force", "--logo", "logo.svg", *words)
            if "LeakSanitizer has encountered a fatal error" not in done.err:
                break
        done.expect(0)


@test
def messages_name_no_card(box):
    box.write("a.pbn", game(1, HANDS) + game(2, HANDS.replace("7.AKQJ8", "A.AKQJ8")))
    result = box.dealbox("print", "a.pbn", "-o", "a.pdf").expect(0, "board 2")
    assert_secret(result.out + result.err)


main()
