#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Dealing by hand, on a terminal: a person types cards, puts them where the screen says, and has an
account of his own of what lies where.
"""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from tool import DEALBOX, SET, TIMEOUT, assert_secret, deals, main, test

RANKS = "AKQJT98765432"
SEATS = ("North", "East", "South", "West")
OTHER = re.compile("\x1b\\[\\?1049h.*?(\x1b\\[\\?1049l|$)", re.S)
PAUSE = 0.2             # s between a card and Enter, which would be the end of a bar code otherwise


def name(card):
    return RANKS[card % 13] + "SHDC"[card // 13]


class Person:
    """dealbox deal on a terminal."""

    def __init__(self, box, *args, machine="hand:", command="deal", plain=True, size=(24, 80)):
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            os.execve(DEALBOX, [DEALBOX, command, "-m", machine, *(["--plain"] if plain else []), *args], box.env)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.text = ""          # all that was written
        self.seen = 0           # and looked at
        self.pockets = {seat: [] for seat in SEATS}

    def read(self):
        ready, _, _ = select.select([self.terminal], [], [], TIMEOUT)
        assert ready, "nothing more is written: %s" % self.text
        try:
            chunk = os.read(self.terminal, 4096)
        except OSError:         # its end
            chunk = b""
        self.text += self.decoder.decode(chunk)
        return chunk

    def see(self, pattern):
        while not (match := re.search(pattern, self.text[self.seen:])):
            assert self.read(), "it ended without %r: %s" % (pattern, self.text)
        self.seen += match.end()
        return match

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def put_in(self, board):
        self.see(r"Put in the empty board %d, copy 1\. \[Enter\]" % board)
        self.press("\n")
        self.see("Name the first card")
        self.pockets = {seat: [] for seat in SEATS}

    def card(self, card, number, keys=None):
        """Name a card, and put it into the pocket that is shown."""
        self.press(keys or name(card))
        seat = self.see("card %d of 52.*?(%s)" % (number, "|".join(SEATS)))[1]
        self.pockets[seat].append(card)

    def deal(self, cards, first=1):
        for number, card in enumerate(cards, first):
            self.card(card, number)

    def lies(self):
        time.sleep(PAUSE)
        self.press("\n")

    def take_out(self):
        """Behind the last board it has ended, and asks for no Enter."""
        if self.see(r"Take it out\.( \[Enter\])?\r?\n")[1]:
            self.press("\n")

    def end(self):
        while self.read():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.terminal)
        return status

    def outside(self):
        """What stays on the terminal."""
        return OTHER.sub("", self.text)

    def assert_exact(self, board):
        hands = [sorted(self.pockets[seat]) for seat in SEATS]
        assert hands == deals(SET)[board], (board, hands)


def pack(seed=7):
    return [card * seed % 52 for card in range(52)]


@test
def two_boards_by_hand(box):
    begun = time.monotonic()
    person = Person(box, "-b", "1-2", SET)
    for board in 1, 2:
        person.put_in(board)
        person.deal(pack(7 + 4 * board))
        person.see("The last card")
        person.lies()
        person.see(r"board %d: exact duplicate \(by hand\)" % board)
        person.assert_exact(board)
        person.take_out()
    person.see("2 of 2 boards are exact duplicates")
    print("# two boards by a person who does not think: %.1f s" % (time.monotonic() - begun))
    assert person.end() == 0
    # the seats and the cards stand on the other screen only, and that is gone
    assert "North" in person.text and not re.search("North|East|South|West$", person.outside()), person.outside()
    assert_secret(person.outside())
    # who deals by hand has seen the cards: that is on record before he could
    records = [(r["record"], r.get("act"), r.get("board"), r.get("uid")) for r in box.records()
               if r["record"] in ("insertion", "act")]
    reveals = [n for n, r in enumerate(records) if r[1] == "reveal"]
    assert [records[n][2:] for n in reveals] == [(1, os.getuid()), (2, os.getuid())], records
    for n in reveals:
        assert records[n + 1][0] == "insertion", records
    assert box.outcomes() == ["exact", "exact"]


def waits(pid):
    """How often a process has given up the processor, to wait for something."""
    with open("/proc/%d/status" % pid) as file:
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", file.read(), re.M)[1])


@test
def no_card_waits_for_more_than_a_key(box):
    """The program waits once for each card, for its keys: if a timer held the seat back, it would wait twice."""
    person = Person(box, "-b", "1", SET)
    person.put_in(1)
    cards = pack()
    person.card(cards[0], 1)
    before = waits(person.pid)
    person.deal(cards[1:], 2)
    count = waits(person.pid) - before
    print("# 51 cards, %d waits" % count)
    assert count < 51 * 1.5, count
    person.see("The last card")
    person.lies()
    person.see(r"board 1: exact duplicate \(by hand\)")
    person.assert_exact(1)
    person.take_out()
    assert person.end() == 0


@test
def a_card_that_comes_twice_voids_the_board(box):
    person = Person(box, "-b", "3", SET)
    person.put_in(3)
    cards = pack()
    person.deal(cards[:30])
    # typed wrong, and mended
    person.press(name(cards[4]))
    person.see("dealt already")
    person.card(cards[30], 31)
    # taken back, and another one named
    person.press(name(cards[31]))
    person.see("card 32 of 52")
    person.press("\x7f")
    person.see("card 31 of 52")
    person.deal(cards[31:40], 32)
    person.press(name(cards[4]))
    person.see("dealt already")
    person.press(name(cards[4]))
    person.see("board 3: void: repeated card at card 41")
    person.see(r"The board is void: take it out, empty it, put its cards back into the pack, and put the board in "
               r"again\. \[Enter\]")
    assert "hopper" not in person.text and "deck" not in person.text, person.text
    person.press("\n")
    person.see("The board is out")
    person.press("\n")
    person.see(r"If it is empty.* \[Enter\]")
    person.press("\n")
    person.see("Name the first card")
    person.pockets = {seat: [] for seat in SEATS}
    person.deal(cards)
    person.lies()
    person.see(r"board 3: exact duplicate \(by hand\)")
    person.assert_exact(3)
    person.take_out()
    assert person.end() == 0
    assert box.outcomes() == ["void", "exact"]
    assert_secret(person.outside())


@test
def a_pack_that_is_short_voids_the_board(box):
    person = Person(box, "-b", "3", SET)
    person.put_in(3)
    person.deal(pack()[:51])
    time.sleep(PAUSE)
    person.press("\n")
    person.see("Cards are missing")
    person.press("\n")
    person.see("board 3: void: .*at card 52")
    person.see(r"The pack is at its end.*put its cards back into the pack")
    os.kill(person.pid, signal.SIGINT)
    assert person.end() == 130
    assert box.outcomes() == ["void"]


@test
def what_was_cut_short_is_in_doubt(box):
    person = Person(box, "-b", "5", SET)
    person.put_in(5)
    person.deal(pack()[:20])
    os.kill(person.pid, signal.SIGKILL)
    assert person.end() == -signal.SIGKILL
    insertion = box.records("insertion")[0]["insertion"]
    person = Person(box, "--resume")
    person.see(r"void: the last run ended in the middle of it \(insertion %d\)" % insertion)
    person.see(r"Put in the empty board 5.*\[Enter\]")
    person.press("\n")
    person.see(r"If it is empty.* \[Enter\]")
    person.press("\n")
    person.see("Name the first card")
    person.deal(pack())
    person.lies()
    person.see("exact duplicate")
    person.assert_exact(5)
    person.take_out()
    assert person.end() == 0
    numbers = [record["insertion"] for record in box.records("insertion")]
    assert len(set(numbers)) == 2 and numbers[0] == insertion, numbers
    assert box.outcomes() == ["unknown", "exact"]


@test
def ctrl_c_and_the_terminal_is_as_before(box):
    person = Person(box, "-b", "5", SET)
    before = termios.tcgetattr(person.terminal)
    person.put_in(5)
    assert not termios.tcgetattr(person.terminal)[3] & termios.ECHO
    person.deal(pack()[:20])
    person.press("\x1b")
    person.see(r"Paused in board 5.*\[Enter\]")
    person.press("\n")
    person.see("card 20 of 52")
    person.deal(pack()[20:22], 21)
    held = os.open(os.ttyname(os.open("/proc/%d/fd/0" % person.pid, os.O_RDWR | os.O_NOCTTY)), os.O_RDWR | os.O_NOCTTY)
    person.press("\x03")
    person.see("stopped in the middle of board 5, copy 1")
    _, status = os.waitpid(person.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert termios.tcgetattr(held)[3] == before[3]
    os.close(held)
    os.close(person.terminal)
    assert_secret(person.outside())


@test
def large_letters_of_the_language(box):
    for language, first in (("en", "Name the first card"), ("nb", "det første kortet"),
                            ("el", "Δώστε το πρώτο φύλλο"), ("fr", "Nommez la première carte"),
                            ("ru", "Назовите первую карту")):
        person = Person(box, "-y", "-b", "1", "--lang", language, "--session", language, "--how", "replay", SET,
                        plain=False, size=(40, 120))
        for _ in range(2 if language != "en" else 1):
            person.see(r"\[Enter\]")
            person.press("\n")
        person.see(first)
        # the four seats: a card of each
        for number, card in enumerate(hand[0] for hand in deals(SET)[1]):
            person.press("+-*/098765432"[card % 13] + "1234"[card // 13])
            person.see(r" %d \w+ 52[^\n]*\n( *█[█ ]*\r?\n){35}" % (number + 1))
        # a question shows no seat
        person.press("+-*/098765432"[card % 13] + "1234"[card // 13])
        person.see(r"\n( *█[█ ]*\r?\n){10}")
        assert termios.tcgetattr(person.terminal)[3] & termios.ISIG
        os.kill(person.pid, signal.SIGTERM)
        person.end()
        assert "█" not in person.outside()


def tournament(box, boards):
    box.dealbox("square", "new", "club", "--title", "Club", "--info", "Lottery", "--phase",
                "1:%d:rr#:Round #" % boards).expect(0)
    box.dealbox("certificate", "new-key", "organiser").expect(0)
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "--copies", "1").expect(0)
    box.dealbox("square", "value", "club", "7").expect(0)
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "1").expect(0)
    box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0)


def who_dealt():
    with open("pc/certificates", encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line.startswith("by ")]


@test
def a_board_of_an_emulated_machine_is_no_board_by_hand(box):
    tournament(box, 2)
    machine = box.machine("--manual")
    run = box.begin("deal", "-m", machine.uri, "rr1.pbn")
    run.put_in(machine)
    run.see("exact")
    run.stop()
    person = Person(box, "--resume", "--certify", "pc", "rr1.pbn")
    person.see(r"Put in the empty board 2.*\[Enter\]")
    person.press("\x03")
    person.end()
    assert who_dealt() == ["by emulator"], who_dealt()


@test
def a_job_that_was_begun_by_hand_goes_on_at_a_machine(box):
    tournament(box, 2)
    person = Person(box, "rr1.pbn")
    person.put_in(1)
    person.deal(pack())
    person.lies()
    person.see("exact duplicate")
    person.press("\x03")
    person.end()
    machine = box.machine()
    box.deal("-m", machine.uri, "--resume", "--certify", "pc", "rr1.pbn").expect(0)
    assert who_dealt() == ["by hand", "by emulator"], who_dealt()


@test
def a_certificate_says_by_hand(box):
    tournament(box, 1)
    person = Person(box, "--certify", "pc", "rr1.pbn")
    person.put_in(1)
    # a void board first: by hand, it needs no certificate
    person.deal(pack()[:9])
    for _ in range(2):
        person.press(name(0))
        person.see("dealt already|void")
    person.see(r"again\..* \[Enter\]")
    person.press("\n")
    person.see("The board is out")
    person.press("\n")
    person.see(r"If it is empty.* \[Enter\]")
    person.press("\n")
    person.see("Name the first card")
    person.deal(pack())
    person.lies()
    person.see("exact duplicate")
    person.take_out()
    assert person.end() == 0, person.text
    with open("pc/certificates") as file:
        lines = file.read().splitlines()
    assert lines.count("verdict exact") == 1 and "verdict void" not in lines, lines
    for line in ("by hand", "basis none", "cards read", "machine -", "insertion 0", "number 0", "key -"):
        assert line in lines, (line, lines)
    box.dealbox("certificate", "open", "pc").expect(0)
    box.dealbox("certificate", "verify", "club.manifest", "pc/certificates", "club.sqd").expect(1, "by hand|hand")


@test
def by_position_every_key_is_a_card(box):
    person = Person(box, "-b", "1", "--how", "by-position", SET)
    person.see(r"Put in the empty board 1.* \[Enter\]")
    person.press("\n")
    person.see(r"Press start to deal.* \[Enter\]")
    person.press("\n")
    hands = deals(SET)[1]
    for number in 1, 2, 3:
        seat = person.see("card %d of 52.*?(%s)" % (number, "|".join(SEATS)))[1]
        assert number - 1 in hands[SEATS.index(seat)], (number, seat)
        time.sleep(0.3)         # a key that is held is one key
        person.press(" ")
    person.see("card 4 of 52")
    person.press("\x7f")
    person.see("card 3 of 52")
    os.kill(person.pid, signal.SIGTERM)
    assert person.end() == 130


@test
def bar_codes_of_a_scanner_that_types(box):
    codes = box.write("codes", "".join("%08d\n" % (card * 7919) for card in range(52)))
    person = Person(box, "-b", "2", SET, machine="hand:,codes=" + codes)
    person.put_in(2)
    for number, card in enumerate(pack(), 1):
        person.card(card, number, keys="%08d\n" % (card * 7919))
        if number == 10:
            person.press("4711\n")
            person.see("That is no card")
    person.see("The last card")
    # a scanned card is not shown
    assert not re.search("[♠♥♦♣]", person.text), person.text
    person.lies()
    person.see(r"board 2: exact duplicate \(by hand\)")
    person.assert_exact(2)
    person.take_out()
    assert person.end() == 0


@test
def what_cannot_be(box):
    def refused(status, pattern, *args, **options):
        box.dealbox(*args, **options).expect(status, pattern)

    # without a terminal nobody sees a seat
    refused(3, "needs the keyboard of a terminal", "deal", "-m", "hand:", SET, start_new_session=True)
    refused(3, "cannot open hand:/nowhere", "deal", "-m", "hand:/nowhere", SET)
    refused(3, "is no input device|without libevdev", "deal", "-m", "hand:/dev/null", SET)
    refused(3, "line 2: this code is there twice", "deal", "-m",
            "hand:,codes=" + box.write("twice", "1 SA\n1 SK\n"), SET)
    refused(3, "the pack is not whole", "deal", "-m", "hand:,codes=" + box.write("short", "1\n2\n"), SET)
    refused(3, "cannot read /nowhere", "deal", "-m", "hand:,codes=/nowhere", SET)
    refused(3, "no letters of the language 'xx'", "deal", "-m", "hand:,lang=xx", SET)
    refused(3, "is not the address of a machine", "deal", "-m", "hand:,colour=red", SET)
    person = Person(box, "-b", "1", "capture.pbn", machine="hand:", command="capture")
    person.see("cannot capture")
    assert person.end() == 3
    if not box.dealbox("machines").out:
        return
    assert "hand:" not in box.dealbox("machines").out


@test
def the_voice_is_there_or_the_message_says_so(box):
    silent = dict(box.env, PATH="/nowhere")
    box.env = silent
    person = Person(box, "-b", "1", "--speak", SET)
    person.see("nothing can be spoken")
    assert person.end() == 2
    # what is spoken goes through a pipe
    said = os.path.join(box.folder, "said")
    voice = box.write("spd-say", "#!/bin/sh\necho \"$@\" >%s.arguments\nexec /bin/cat >%s\n" % (said, said))
    os.chmod(voice, 0o700)
    box.env = dict(box.env, PATH=box.folder)
    person = Person(box, "-b", "1", "--speak", SET, "-y")
    person.put_in(1)
    person.deal(pack()[:3])
    os.kill(person.pid, signal.SIGTERM)
    person.end()
    with open(said) as file:
        spoken = [line.strip() for line in file]
    assert [word for word in spoken if word in SEATS] == re.findall(r"card \d of 52.*?(%s)" % "|".join(SEATS), person.text)
    with open(said + ".arguments") as file:
        assert not any(seat in file.read() for seat in SEATS)


if __name__ == "__main__":
    main()
