#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Performs every cheat in the tables of docs/certificate.md, and shows what verify says. The last test
compares rows and findings with the page.
"""

import itertools
import json
import os
import re
import shutil
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.environ["DEALBOX_SOURCE"], "tests/system/tool"))

import writer  # noqa: E402
from tool import deals, main, test  # noqa: E402
from writer import Chain, Key, attest, deal_of, exchanged, machine_line, manifest_body, pbn_file, pbn_of, sha256, \
    sign_text  # noqa: E402

PAGE = os.path.join(os.environ["DEALBOX_SOURCE"], "docs/certificate.md")
ORGANISER, PC, THIEF, MACHINE, OTHER, EMULATOR = (
    Key(word) for word in ("organiser", "pc", "thief", "machine", "other", "emulator"))
NAME = "DB-0042"
said = {}           # row -> what verify said: "PROVEN", "REFUSED", and findings


def cheat(row):
    """A test of that row of the page."""
    def make(function):
        def run(box):
            said[row] = set()
            function(Table(box, row))
        run.__name__ = row
        return test(run)
    return make


class Table:
    """A tournament of one session with two boards, and what spectators get of it."""

    def __init__(self, box, row, machines=(), pcs=(PC,), **promise):
        self.box, self.row = box, row
        self.make(machines, pcs, **promise)

    def make(self, machines=(), pcs=(PC,), **promise):
        self.manifest = sign_text(manifest_body(pcs=pcs, machines=machines, **promise), ORGANISER)
        self.chain = Chain(self.manifest, PC)
        self.chains = [self.chain]
        self.number = 100
        self.deals = {"rr": {n: self.deal("rr", n) for n in (1, 2)}}
        return self

    def enrolled(self):
        return self.make([machine_line(NAME, MACHINE)])

    @staticmethod
    def deal(session, board):
        return deal_of("%s %d" % (session, board))

    def put(self, board, session="rr", chain=None, **fields):
        self.number += 1
        (chain or self.chain).add(session, board, fields.pop("deal", self.deal(session, board)),
                                  fields.pop("insertion", self.number), **fields)
        return self

    def open(self):
        for chain in self.chains:
            chain.open()
        return self

    def verify(self, *options, findings=(), status=None, signer=ORGANISER):
        self.box.write("manifest", self.manifest)
        files = []
        for n, chain in enumerate(self.chains):
            files.append(self.box.write("certificates-%d" % n, chain.text))
        for session, boards in self.deals.items():
            files.append(self.box.write(session + ".pbn", pbn_file({n: pbn_of(deal) for n, deal in boards.items()})))
        return see(self.box, self.row, findings, status,
                   ["--signer", signer.hex, *options, "manifest", *files])


def see(box, row, findings, status, words):
    """Runs verify; findings must be what it says. Notes that for the page."""
    result = box.dealbox("certificate", "verify", "--json", *words)
    objects = [json.loads(line) for line in result.out.splitlines()]
    found = sorted({one["finding"] for one in objects if "finding" in one})
    summary = objects[0]["text"]
    assert found == sorted(findings), (found, result.out, result.err)
    assert result.status == (status if status is not None else 1 if findings else 0), result
    first = box.dealbox("certificate", "verify", *words).out.splitlines()[0]
    assert first == summary and re.match("(PROVEN|NOT ALL IS PROVEN|NOTHING IS PROVEN|REHEARSAL|REFUSED): ", first), first
    print("#   " + "; ".join([first] + [one["text"] for one in objects if "finding" in one])[:400])
    said[row] |= {"PROVEN"} if result.status == 0 else {"REFUSED", *found} if result.status == 2 else set(found)
    return result


# -- the organiser or director ---------------------------------------------------------------------

NEW = ("--title", "Club evening", "--info", "Lottery of 1 May", "--phase", "1:1-2:rr:Round robin")


def tournament(box, value="7"):
    """A tournament of dealbox, whose keys make the deals; with a manifest of our organiser and PC."""
    box.write("organiser.key", "dealbox signing key 1 %s\n" % sha256("organiser").hex())
    os.chmod("organiser.key", 0o600)
    box.dealbox("square", "new", "club", *NEW).expect(0)
    box.dealbox("certificate", "manifest", "club", "-k", "organiser.key", "-c", "1", "--pc", PC.hex).expect(0)
    box.dealbox("square", "value", "club", value).expect(0)
    box.dealbox("square", "deal", "club", "-P", "1").expect(0)


def lie_of(path):
    """The deals of a PBN file, as the writer has them."""
    return {number: [next(seat for seat in range(4) if card in hands[seat]) for card in range(52)]
            for number, hands in deals(path).items()}


def certify(manifest="club.manifest", path="rr.pbn"):
    """What an honest PC certifies of them."""
    with open(manifest, encoding="utf-8") as file:
        chain = Chain(file.read(), PC)
    for n, (board, deal) in enumerate(sorted(lie_of(path).items())):
        chain.add("rr", board, deal, 101 + n)
    chain.open()
    with open("certificates", "w", encoding="utf-8") as file:
        file.write(chain.text)


def verify_square(table, *deals, findings=(), status=None, manifest="club.manifest"):
    return see(table.box, table.row, findings, status,
               ["--signer", ORGANISER.hex, manifest, "certificates", *deals])


@cheat("chooses keys for deals they like")
def keys_they_like(table):
    tournament(table.box)
    first = lie_of("rr.pbn")
    certify()
    verify_square(table, "club.sqd")
    # the same keys and another value: other deals, which nobody could choose
    shutil.copy("club.sqd", "again.sqd")
    shutil.copy("club.sqk", "again.sqk")
    with open("again.sqd", encoding="utf-8") as file:
        text = file.read()
    table.box.write("again.sqd", text.replace("DV 7\n", "DV 8\n"))
    os.remove("rr.pbn")
    table.box.dealbox("square", "deal", "again", "-P", "1").expect(0)
    second = lie_of("rr.pbn")
    assert all(first[n] != second[n] for n in first)


@cheat("chooses among keys when the value is known")
def other_keys(table):
    tournament(table.box)
    certify()
    table.box.dealbox("square", "new", "second", *NEW).expect(0)
    shutil.copy("second.sqk", "club.sqk")
    verify_square(table, "club.sqd", findings=["deals"], status=2).expect(2, "the keys have the hash")
    said[table.row].discard("deals")


@cheat("claims afterwards that another value was meant")
def other_value(table):
    tournament(table.box)
    certify()
    with open("club.sqd", encoding="utf-8") as file:
        text = file.read()
    table.box.write("club.sqd", text.replace("DV 7\n", "DV 8\n"))
    verify_square(table, "club.sqd", findings=["deal"])


@cheat("mixes in a value of his choice from the start")
def chosen_value(table):
    tournament(table.box, value="4711")
    certify()
    assert "with the value 4711 (Lottery of 1 May)" in verify_square(table, "club.sqd").out


@cheat("claims afterwards that other boards or sessions were meant")
def other_boards(table):
    tournament(table.box)
    certify()
    with open("club.sqd", encoding="utf-8") as file:
        text = file.read()
    for old, new in ((":1-2:", ":1-1:"), ("SN 1:", "SN 2:"), ("Club evening", "Club night")):
        table.box.write("club.sqd", text.replace(old, new).replace("SN 2:1-2:rr:", "SN 2:1-2:rr#:"))
        verify_square(table, "club.sqd", findings=["deals"], status=2).expect(2, "differ: (phases|name)")
    said[table.row].discard("deals")


def another_set(table):
    """Another set than the keys make is published, dealt and certified."""
    tournament(table.box)
    made = lie_of("rr.pbn")
    table.box.write("rr.pbn", pbn_file({n: pbn_of(table.deal("rr", n)) for n in made}))
    certify()


@cheat("hands out another set than the keys make, and has it dealt")
def other_set(table):
    another_set(table)
    verify_square(table, "club.sqd", "rr.pbn", findings=["deals"], status=2).expect(2, "rr: board 1 is not what")
    said[table.row].discard("deals")


@cheat("the same, and publishes neither .sqd nor .sqk")
def other_set_alone(table):
    another_set(table)
    assert "whether the committed keys make them was not compared" in verify_square(table, "rr.pbn").out


@cheat("signs two manifests and shows the preferred one")
def two_manifests(table):
    table.put(1).put(2).open()
    table.manifest = sign_text(manifest_body(pcs=(PC,)).replace("12:00", "12:01"), ORGANISER)
    table.verify(findings=["chain"], status=2)


@cheat("promises fewer copies than were dealt")
def fewer_copies(table):
    table.put(1).put(1, copy=2).put(2).put(2, copy=2).open().verify(findings=["further"])


@cheat("uses the reserve set because they do not like the original")
def reserve(table):
    table.deals["rrreserve"] = {n: table.deal("rrreserve", n) for n in (1, 2)}
    table.put(1, "rrreserve").put(2, "rrreserve").open().verify(findings=["reserve", "session-missing"])


@cheat("looks at the deals early, once the value is known")
def looks(table):
    tournament(table.box)
    table.box.dealbox("show", "rr.pbn", "--reveal").expect(0)
    certify()
    verify_square(table, "club.sqd")


# -- somebody else -----------------------------------------------------------------------------------

@cheat("forges a .sqd with another delayed information, to accuse the organiser")
def forged(table):
    tournament(table.box)
    certify()
    with open("club.sqd", encoding="utf-8") as file:
        text = file.read()
    table.box.write("club.sqd", text.replace("1 May", "2 May"))
    verify_square(table, "club.sqd", findings=["deals"], status=2).expect(2, "differ: delayed information")
    said[table.row].discard("deals")


@cheat("signs a manifest of their own")
def own_manifest(table):
    table.manifest = sign_text(manifest_body(pcs=(THIEF,)), THIEF)
    table.chain = Chain(table.manifest, THIEF)
    table.chains = [table.chain]
    table.put(1).put(2).open().verify(findings=["signer"])


@cheat("runs another PC with certificates under another key")
def other_pc(table):
    table.chain.pc = THIEF
    table.put(1).put(2).open().verify(findings=["pc", "pc-missing"])


@cheat("has copied the key of the PC, and certifies elsewhere")
def copied_key(table):
    table.put(1).put(2)
    table.chains.append(Chain(table.manifest, PC, "the thief's"))
    table.put(2, chain=table.chains[1], machine="elsewhere")
    table.open().verify(findings=["fork", "further"])


def trial(chain, known, candidates, opening):
    """The candidates that the certificate fits, by an opening; and how many were tried in a second."""
    fields = dict(line.split(" ", 1) for line in chain.texts[0].splitlines()[1:])
    lines = "".join("%s %s\n" % (word, fields[word])
                    for word in ("manifest", "session", "board", "copy", "machine", "insertion"))
    salt = writer.blake2b(opening, b"dealbox salt 1\n", lines.encode())
    wanted, fit, tried, begun = bytes.fromhex(fields["plan"]), [], 0, time.perf_counter()
    rest = [card for card in range(52) if known[card] is None]
    every = sum(1 << card for card in rest)
    hands = [sum(1 << card for card in range(52) if known[card] == seat) for seat in range(4)]
    for east in candidates(rest):
        east = sum(1 << card for card in east)
        plan = struct.pack("<4Q", hands[0], hands[1] | east, hands[2], hands[3] | every & ~east)
        tried += 1
        if writer.blake2b(salt, b"dealbox plan 1\n", plan) == wanted:
            fit.append(east)
    return fit, tried / (time.perf_counter() - begun)


def knows_26(table):
    """North and South are seen. Of the other 26 cards the test tries those deals that leave 16 where they are."""
    deal = table.deal("rr", 1)
    known = [seat if seat in (0, 2) else None for seat in deal]
    east = [card for card in range(52) if deal[card] == 1]
    west = [card for card in range(52) if deal[card] == 3]

    def candidates(_rest):
        return (east[:8] + list(five) for five in itertools.combinations(east[8:] + west[:5], 5))
    return known, candidates, sum(1 << card for card in east)


@cheat("as a player, computes cards from published certificates")
def player(table):
    table.put(1).put(2)
    known, candidates, _ = knows_26(table)
    for guess in (bytes(32), PC.public, sha256(table.manifest), table.chain.previous):
        assert trial(table.chain, known, candidates, guess)[0] == []
    # two copies of one board do not show that they are alike
    other = Chain(table.manifest, PC)
    other.add("rr", 1, table.deal("rr", 1), 101)
    other.add("rr", 1, table.deal("rr", 1), 102, copy=2)
    one, two = (re.search("^plan (.*)$", text, re.M)[1] for text in other.texts)
    assert one != two
    table.open().verify()


@cheat("as a player, computes cards once the opening is published too early")
def too_early(table):
    table.put(1).put(2).open()
    known, candidates, east = knows_26(table)
    fit, _ = trial(table.chain, known, candidates, table.chain.opening)
    assert fit == [east], fit
    # the real trial, as far as it goes in a moment
    _, rate = trial(table.chain, known, lambda rest: itertools.islice(itertools.combinations(rest, 13), 50000),
                    table.chain.opening)
    print("#   measured: %d deals tried in a second on one core; all 10400600 in %d s" % (rate, 10400600 / rate))
    table.verify()


# -- the operator --------------------------------------------------------------------------------------

@cheat("publishes no certificates")
def none(table):
    table.verify(findings=["pc-missing", "session-missing"])


@cheat("keeps the opening to himself")
def keeps_opening(table):
    table.put(1).put(2).verify(findings=["not-open"])


@cheat("deals other deals than the set")
def other_deals(table):
    table.put(1).put(2, deal=exchanged(table.deal("rr", 2))).open().verify(findings=["deal"])


@cheat("puts cards into other pockets")
def other_pockets(table):
    table.put(1)
    table.chain.add_body(table.chain.body("rr", 2, table.deal("rr", 2), 102).replace("NESW", "SENW"))
    table.open().verify(findings=["deal"])


@cheat("deals a board without a certificate")
def uncertified(table):
    table.make(phases=("1:1-3:rr:Round robin",))
    table.deals["rr"][3] = table.deal("rr", 3)
    table.put(1).put(3, insertion=103).open().verify(findings=["gap", "missing"])


@cheat("leaves a session without certificates")
def session_left_out(table):
    table.make(phases=("2:1-2:rr#:Round robin #",))
    table.deals = {name: {n: table.deal(name, n) for n in (1, 2)} for name in ("rr1", "rr2")}
    table.put(1, "rr1").put(2, "rr1").open().verify(findings=["session-missing"])


@cheat("leaves a copy without a certificate")
def copy_left_out(table):
    table.make(copies=2).put(1).put(1, copy=2).put(2).open().verify(findings=["missing"])


@cheat("deals a further copy of a board, and certifies it")
def further(table):
    table.put(1).put(1, copy=2).put(2).open().verify(findings=["further"])


@cheat("deals a further copy of a board, and does not certify it")
def further_uncertified(table):
    table.put(1).put(2, insertion=103).open().verify(findings=["gap"])


@cheat("the same, on a machine that signs")
def further_signed(table):
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE, insertion=103, counter=103).open().verify(
        findings=["counter-gap", "gap"])


@cheat("deals a further copy of a board, and certifies it as void")
def further_void(table):
    table.put(1, verdict="void").put(1).put(2).open().verify()
    # an attestation says which deal it was, and not where the cards are now
    table.enrolled().put(1, key=MACHINE, verdict="void").put(1, key=MACHINE).put(2, key=MACHINE).open().verify()


@cheat("the same, and leaves out what the machine signed about it")
def further_void_unsigned(table):
    table.enrolled().put(1, key=MACHINE).put(1, verdict="void").put(2, key=MACHINE).open().verify(
        findings=["counter-gap"])


@cheat("the same, and makes up what the machine signed about it")
def further_void_made_up(table):
    statement, signature = attest(MACHINE, sha256("nonce"), 102, 102)
    for made_up in ((statement, OTHER.sign(b"dealing machine attestation\n" + statement)), (statement, bytes(64)),
                    attest(MACHINE, sha256("nonce"), 102, 102, version=0x200)):
        table.enrolled().put(1, key=MACHINE).put(1, verdict="void", key=MACHINE, attested=made_up).put(
            2, key=MACHINE).open().verify(findings=["counter-gap"])


@cheat("leaves out, adds or moves a certificate")
def moved(table):
    for change in (lambda texts: texts.pop(0), lambda texts: texts.insert(1, texts[0]),
                   lambda texts: texts.insert(0, texts.pop(1))):
        table.make().put(1).put(2).open()
        change(table.chain.texts)
        table.verify(findings=["chain"], status=2)


def published_head(table):
    """A head of what is certified so far, made by whoever has the folder of the PC."""
    os.makedirs("folder", exist_ok=True)
    for name, text in (("manifest", table.manifest), ("certificates", table.chain.text),
                       ("key", "dealbox signing key 1 %s\n" % sha256("pc").hex())):
        table.box.write("folder/" + name, text)
    with open("folder/opening", "wb") as file:
        file.write(table.chain.opening)
    for name in ("key", "opening"):
        os.chmod("folder/" + name, 0o600)
    table.box.dealbox("log", "head", "folder", "-o", "head").expect(0)


@cheat("cuts the chain off and writes another end, before the opening")
def cut_off(table):
    table.put(1).put(2, deal=exchanged(table.deal("rr", 2)))
    published_head(table)
    table.chain.texts.pop()
    table.number -= 1
    table.put(2).open().verify("--head", "head", findings=["head"])


@cheat("puts folder and ledger back, and deals again")
def put_back(table):
    table.put(1).put(2)
    published_head(table)
    table.chain = Chain(table.manifest, PC)
    table.chains = [table.chain]
    table.put(1).put(2).open().verify("--head", "head", findings=["head"])


@cheat("deals by hand, and says so")
def by_hand(table):
    table.put(1)
    table.chain.by_hand("rr", 2, table.deal("rr", 2))
    table.open().verify(findings=["hand"])


@cheat("uses an emulator in place of the machine")
def emulator(table):
    # this is what dealbox writes by itself
    box = table.box
    tournament(box)
    box.write("pc.key", "dealbox signing key 1 %s\n" % sha256("pc").hex())
    box.dealbox("certificate", "begin", "pc").expect(0)
    shutil.copy("pc.key", "pc/key")
    os.chmod("pc/key", 0o600)
    box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0)
    machine = box.machine()
    box.deal("-m", machine.uri, "--certify", "pc", "rr.pbn").expect(0)
    box.dealbox("certificate", "open", "pc").expect(0)
    shutil.copy("pc/certificates", "certificates")
    verify_square(table, "club.sqd", findings=["rehearsal"])


@cheat("uses an emulator, and calls it a machine")
def emulator_called_machine(table):
    table.put(1).put(2).open().verify()
    # nor does a self-declared key help
    result = table.make().put(1, key=OTHER).put(2, key=OTHER).open().verify()
    assert result.out.count("PC's word only, its machine's key is self-declared") == 2, result.out


@cheat("uses an emulator in place of an enrolled machine, and calls it that")
def emulator_enrolled(table):
    table.make([machine_line(NAME, MACHINE), machine_line("emulator", EMULATOR, "emulator")])
    table.put(1, key=EMULATOR).put(2, key=EMULATOR, emulated=True).open().verify(findings=["rehearsal"])


@cheat("certifies boards of an enrolled machine that were never dealt")
def made_up(table):
    table.enrolled().put(1, key=MACHINE).put(2).open().verify(findings=["word-missing"])


@cheat("certifies boards of another machine that were never dealt")
def made_up_unlisted(table):
    table.put(1).put(2).open().verify()


@cheat("uses a machine that nobody listed")
def unlisted(table):
    table.enrolled().put(1, key=MACHINE).put(2, machine="DB-0666").open().verify(findings=["machine"])


@cheat("certifies a board with the attestation of another")
def replayed(table):
    table.enrolled()
    nonce = sha256("nonce")
    block = writer.plan_block(table.deal("rr", 1), "NESW", 1101)
    word = attest(MACHINE, nonce, 1, 101, block, b"events")
    table.put(1, key=MACHINE, attested=word, nonce=nonce).put(2, key=MACHINE, attested=word, nonce=nonce)
    table.open().verify(findings=["counter-twice", "word-differs"])


@cheat("gives an enrolled machine another deal")
def other_deal_machine(table):
    other = exchanged(table.deal("rr", 2))
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE, deal=other).open().verify(findings=["deal"])
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE, told=other).open().verify(findings=["word-differs"])


def with_traces(table, change, traces=lambda text: text, findings=()):
    """Two boards, of which an emulator voided one first; as of a machine, and changed by who has the key."""
    box = table.box
    tournament(box)
    box.dealbox("certificate", "begin", "pc").expect(0)
    box.write("pc/key", "dealbox signing key 1 %s\n" % sha256("pc").hex())
    os.chmod("pc/key", 0o600)
    box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0)
    machine = box.machine(scenario="deal 1 position 9: double-feed")
    box.deal("-m", machine.uri, "--certify", "pc", "--record", "traces", "rr.pbn").expect(0, "1 void")
    with open("pc/certificates", encoding="utf-8") as file:
        texts = re.findall(r"dealbox certificate .*?\nsignature .*?\n", file.read(), re.S)
    with open("club.manifest", encoding="utf-8") as file:
        chain = Chain(file.read(), PC)
    with open("pc/opening", "rb") as file:
        chain.opening = file.read()
    assert len(texts) == 3
    for n, text in enumerate(texts):
        body = text[:text.index("\nsigner ") + 1].replace("by emulator", "by machine")
        body = re.sub("\nprevious .*\n", "\nprevious %s\n" % chain.previous.hex(), change(n, body))
        chain.add_body(body)
    chain.open()
    box.write("certificates", chain.text)
    with open("traces", encoding="utf-8") as file:
        text = file.read()
    box.write("traces", traces(text))
    see(box, table.row, findings, None,
        ["--signer", ORGANISER.hex, "--traces", "traces", "club.manifest", "certificates", "club.sqd"])


def last_trace_left_out(text):
    return text[:text.rindex('{"name":"trace"')]


@cheat("certifies as exact what the machine did not report so")
def called_exact(table):
    with_traces(table, lambda n, body: body.replace("verdict void", "verdict exact"),
                findings=["further", "trace-verdict"])


@cheat("certifies as void what the machine reported exact")
def called_void(table):
    with_traces(table, lambda n, body: body.replace("verdict exact", "verdict void") if n == 2 else body,
                findings=["missing", "trace-void"])
    said[table.row].discard("missing")      # the board is missing then, as it should


@cheat("publishes other traces than the machine's")
def other_traces(table):
    with_traces(table, lambda n, body: body,
                lambda text: re.sub(r'(?<="machine_time_us":)\d+', lambda time_us: str(int(time_us[0]) ^ 1), text),
                ["trace-other"])


@cheat("publishes no trace of some boards")
def no_trace(table):
    with_traces(table, lambda n, body: body, last_trace_left_out, ["trace-missing"])


@cheat("changes cards by hand after the board left the machine")
def changed_by_hand(table):
    lies = exchanged(table.deal("rr", 1))
    assert lies != table.deal("rr", 1)      # in the board; no file knows of it
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE).open().verify()


@cheat("exchanges two boards after their labels were read")
def labels(table):
    # what lies in board 1 is the deal of board 2: the machine saw it otherwise
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE).open().verify()


@cheat("exchanges cards with those of a second deck with equal backs")
def second_deck(table):
    # by position, not even the machine has seen a face; verify says what that means
    result = table.enrolled().put(1, key=MACHINE, cards="counted").put(2, key=MACHINE, cards="counted").open().verify()
    assert "if the decks lay as the plan says" in result.out, result.out


# -- the machine -----------------------------------------------------------------------------------------

@cheat("reports falsely")
def reports_falsely(table):
    # it signs the plan that it got, and deals what it likes
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE, events=b"another story").open().verify()


@cheat("keeps the cards of a board, or sends them to somebody")
def sends(table):
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE).open().verify()


@cheat("has had its key copied, and both are used")
def copied_machine_key(table):
    table.enrolled().put(1, key=MACHINE).put(2, key=MACHINE, counter=101).open().verify(findings=["counter-twice"])


# -- the page --------------------------------------------------------------------------------------------

@test
def the_page_says_what_verify_said(_box):
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    text = text[text.index("## Attacks and what reveals them"):]
    rows = {}
    for cheat_text, says in re.findall(r"^\| (.*?) \| (.*) \|$", text, re.M):
        if "`verify` says" in says:
            continue
        words = set(re.findall(r"`([A-Za-z-]+)`", says))
        rows[cheat_text] = words | ({"PROVEN"} if says.startswith("**nothing**") else set())
    assert set(rows) == set(said), set(rows) ^ set(said)
    wrong = {row: (rows[row], said[row]) for row in rows if rows[row] != said[row]}
    assert not wrong, wrong


main()
