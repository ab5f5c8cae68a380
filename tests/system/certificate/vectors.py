#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
The test vectors of docs/certificate.md: good cases, and bad ones with one defect each.

usage: vectors.py write FILE                write docs/vectors/certificate.json
       vectors.py check FILE DEALBOX        TAP: the file is what this script makes, and
                                            `dealbox certificate verify` agrees with each vector
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from writer import (Chain, Key, attest, blake2b, deal_of, deal_read, exchanged, machine_line, manifest_body, pbn_file, pbn_of,
                    plan_block, sha256, sign_text)

ORGANISER, PC, OTHER_PC, MACHINE, OTHER, EMULATOR = (
    Key(word) for word in ("organiser", "pc", "other pc", "machine", "other", "emulator"))
NAME = "DB-0042"
vectors = []


def boards_of(session, *numbers):
    """The deals of a session, as a vector has them."""
    return {session: {str(n): pbn_of(deal(session, n)) for n in numbers}}


def deal(session, board):
    return deal_of("%s %d" % (session, board))


class Case:
    """A tournament: by default one session of two boards, one copy, on a machine that is not enrolled."""

    def __init__(self, machines=(), pcs=(PC,), signed_by=ORGANISER, **promise):
        self.manifest = sign_text(manifest_body(pcs=pcs, machines=machines, **promise), signed_by)
        self.chain = Chain(self.manifest, PC)
        self.chains = [self.chain]
        self.deals = boards_of("rr", 1, 2)
        self.extra = {}
        self.next = 100

    def put(self, board, session="rr", chain=None, **fields):
        self.next += 1
        (chain or self.chain).add(session, board, fields.pop("deal", deal(session, board)),
                                  fields.pop("insertion", self.next), **fields)
        return self

    def also(self, word, other=None):
        """Another PC."""
        self.chains.append(Chain(self.manifest, other or OTHER_PC, word))
        return self.chains[-1]

    def with_deals(self, *parts):
        self.deals = {}
        for part in parts:
            self.deals.update(part)
        return self

    def open(self):
        for chain in self.chains:
            chain.open()
        return self

    def vector(self, name, about, findings=(), status=None, proven=0, signer=ORGANISER, **extra):
        one = {"name": name, "about": about, "manifest": self.manifest,
               "certificates": extra.pop("certificates", [chain.text for chain in self.chains]), "deals": self.deals}
        if signer:
            one["signer"] = signer.hex
        one.update(extra)
        one["status"] = (1 if findings else 0) if status is None else status
        one["findings"] = sorted(set(findings))
        one["proven"] = proven
        vectors.append(one)


def enrolled(**fields):
    return Case(machines=[machine_line(NAME, MACHINE)], **fields)


def refused(name, about, word, case=None, **extra):
    (case or plain()).vector(name, about, [word], status=2, **extra)


def plain():
    return Case().put(1).put(2).open()


# -- good ones -------------------------------------------------------------------------------------

def good():
    plain().vector("good", "two boards, on the PC's word only", proven=2)
    enrolled().put(1, key=MACHINE).put(2, key=MACHINE).open().vector(
        "good-machine", "two boards, on the word of a machine that read each card", proven=2)
    enrolled().put(1, key=MACHINE, cards="counted").put(2, key=MACHINE, cards="counted").open().vector(
        "good-counted", "two boards, on the word of a machine that counted the cards of a sorted deck", proven=2)
    enrolled().put(1, key=MACHINE, mode_by_card=False).put(2, key=MACHINE).open().vector(
        "good-counted-and-read", "the machine counted by its plan, and read the cards too", proven=2)
    enrolled().put(1, key=MACHINE, pockets="WSEN").put(2, key=MACHINE, pockets="ENWS").open().vector(
        "good-pockets", "pockets in other orders", proven=2)
    case = enrolled(copies=2)
    for board in (1, 2):
        for copy in (1, 2):
            case.put(board, copy=copy, key=MACHINE)
    case.open().vector("good-copies", "two copies of each board", proven=4)
    case = Case(pcs=(PC, OTHER_PC), machines=[machine_line(NAME, MACHINE), machine_line("DB-0043", OTHER)])
    case.put(1, key=MACHINE).put(2, chain=case.also("second"), machine="DB-0043", key=OTHER)
    case.open().vector("good-two-pcs", "two PCs, each with a machine", proven=2)
    case = Case(pcs=(PC, OTHER_PC)).put(1).put(2)
    case.also("second")
    case.open().vector("good-idle-pc", "the second PC has dealt nothing", proven=2)
    enrolled().put(1, verdict="void", basis="none", key=None).put(1, key=MACHINE).put(2, key=MACHINE).open().vector(
        "good-void", "a void insertion, which the machine did not sign; the board was dealt again", proven=2)
    case = enrolled().put(1, key=MACHINE)
    case.put(1, key=MACHINE, verdict="void", insertion=case.next)
    case.next -= 1
    case.put(1, key=MACHINE).put(2, key=MACHINE).open().vector(
        "good-taken-back", "an exact board is taken back, and dealt again", proven=2)
    Case(machines=[machine_line(NAME)]).put(1).put(2).open().vector(
        "good-machine-without-key", "the machine is listed, and has no key", proven=2)
    Case().put(1, key=OTHER).put(2, key=OTHER).open().vector(
        "good-self-declared", "no machine is listed: a self-declared key adds nothing to the PC's word", proven=2)
    Case().put(1, key=OTHER, host_routed=True).put(2, key=OTHER, host_routed=True).open().vector(
        "good-self-declared-host-routed", "the same with a host-routed machine, whose plan has no digest", proven=2)
    Case(machines=[machine_line(NAME)]).put(1, key=OTHER).put(2, key=OTHER).open().vector(
        "good-key-of-machine-without", "the machine is listed without a key, and signs", proven=2)
    case = Case(phases=("2:1-2,3-4:rr#:Round robin #", "1:5:f:Final"))
    case.with_deals(boards_of("rr1", 1, 2), boards_of("rr2", 3, 4), boards_of("f", 1, 2, 3, 4, 5))
    for session, boards in (("rr1", (1, 2)), ("rr2", (3, 4)), ("f", (1, 2, 3, 4, 5))):
        for board in boards:
            case.put(board, session=session)
        case.next += 7
    case.open().vector("good-sessions", "three sessions; other boards were dealt between them", proven=9)
    case = Case(phases=("12:1:rr##:Round robin #", "0:1:rr#a:Round #"))
    case.with_deals(*(boards_of("rr%02d" % n, 1) for n in range(1, 13)))
    for n in range(1, 13):
        case.put(1, session="rr%02d" % n)
    case.open().vector("good-two-digits", "names of sessions with at least two digits", proven=12)
    case = Case(phases=("3:1x2:g#:Group #",)).with_deals(*(boards_of("g%d" % n, 1, 2) for n in (1, 2, 3)))
    for n in (1, 2, 3):
        case.put(1, session="g%d" % n).put(2, session="g%d" % n)
    case.open().vector("good-ranges-in-turn", "boards 1x2: the list begins anew with each session", proven=6)
    case = Case(phases=("0:1-2:ex#:Extra #",)).with_deals(boards_of("ex3", 1, 2))
    case.put(1, session="ex3").put(2, session="ex3").open().vector(
        "good-open-number", "a phase without end promises the sessions that were dealt", proven=2)
    case = Case(phases=("1:?:rr:Round robin",)).put(1).put(2).open()
    case.vector("good-open-boards", "the boards were left open: those of the deals", proven=2)
    case = Case(phases=("1:?:rr:Round robin",)).with_deals(boards_of("rr", 1, 2, 4))
    case.put(1).put(2).put(4).open().vector(
        "good-open-boards-apart", "the boards were left open, and the deals lack one between them", proven=3)
    plain().vector("good-deals-beyond", "deals beyond the promise say nothing", proven=2)
    vectors[-1]["deals"] = boards_of("rr", 1, 2, 3, 4)
    Case(name="Bridgeklubbens høstturnering – 2. kveld", phases=("1:1-2:rr:Første runde",)).put(
        1, machine="Maschine Nº 7").put(2, machine="Maschine Nº 7").open().vector(
            "good-utf8", "names that are not ASCII", proven=2)
    Case(phases=("1:1-2:rr:Salle à",)).put(1).put(2).open().vector(
        "good-description-of-bytes", "the last byte of a description is a0, which is no white space", proven=2)
    Case(name="", info="").put(1).put(2).open().vector("good-empty-names", "TN and DI may be empty", proven=2)
    Case(pcs=()).put(1).put(2).open().vector(
        "good-pc-named", "the manifest names no PC, the verifier does", proven=2, pc=[PC.hex])
    Case(pcs=(OTHER_PC,)).put(1).put(2).open().vector(
        "good-pc-instead", "--pc counts instead of the manifest", proven=2, pc=[PC.hex])
    Case(copies=2).put(1).put(2).open().vector(
        "good-copies-instead", "--copies counts instead of the manifest", proven=2, copies=1)
    for version in (1, 2):
        Case(version=1).put(1, version=version).put(2, version=version).open().vector(
            "good-version-1-%d" % version, "a manifest of version 1, with certificates of version %d" % version,
            proven=2, pc=[PC.hex], copies=1)
    case = Case(version=1).put(1, version=1).put(2, version=2).open()
    case.vector("good-version-1-mixed", "a manifest of version 1 may have certificates of both versions", proven=2,
                pc=[PC.hex], copies=1)
    Case().put(1, basis="gates").put(2, basis="none").open().vector(
        "good-basis", "boards that were not seen to fall", proven=2)
    Case().put(1, insertion=4294967294, number=0).put(2, insertion=4294967295, number=4294967295).open().vector(
        "good-large-numbers", "insertions and plans have numbers of 32 bits", proven=2)


# -- what is missing, or too much --------------------------------------------------------------------

def incomplete():
    Case().open().vector("empty-chain", "a file with an opening alone", ["session-missing"])
    Case().vector("empty-file", "a file that is empty", ["pc-missing", "session-missing"])
    Case().put(1).open().vector("board-missing", "one board of two", ["missing"], proven=1)
    Case(copies=2).put(1).put(1, copy=2).put(2).open().vector("copy-missing", "one copy of two", ["missing"], proven=3)
    Case().put(1).put(2, verdict="void").open().vector("only-void", "a board that is void", ["missing"], proven=1)
    case = Case().put(1).put(2)
    case.put(2, verdict="void", insertion=case.next).open().vector(
        "taken-back", "a board that was taken back, and not dealt again", ["missing"], proven=1)
    two = ("2:1-2,3-4:rr#:Round robin #",)
    both = boards_of("rr1", 1, 2), boards_of("rr2", 3, 4)
    Case(phases=two).with_deals(*both).put(1, "rr1").put(2, "rr1").open().vector(
        "session-missing", "one session of two", ["session-missing"], proven=2)
    Case(phases=two).with_deals(both[0]).put(1, "rr1").put(2, "rr1").put(3, "rr2").put(4, "rr2").open().vector(
        "deals-missing", "one session has no deals", ["deals-missing"], proven=2)
    plain().vector("deal-missing", "the deals lack a board", ["deals-missing"], proven=1)
    vectors[-1]["deals"] = boards_of("rr", 1)
    Case(phases=two).with_deals(both[0]).put(1, "rr1").put(2, "rr1").put(3, "rr1reserve").put(4, "rr1reserve").open(
    ).vector("session-missing-without-deals", "one session has neither deals nor certificates, its stand-in is unknown",
             ["deals-missing", "reserve", "session-missing"], proven=2)
    reserve = boards_of("rrreserve", 1, 2)
    Case().with_deals(boards_of("rr", 1, 2), reserve).put(1, "rrreserve").put(2, "rrreserve").open().vector(
        "reserve-instead", "the reserve set was dealt in place of the original", ["reserve", "session-missing"])
    Case().put(1).put(2).put(1, "rrreserve").open().vector(
        "reserve-too", "a board of the reserve set was dealt, too", ["reserve"], proven=2)
    Case().put(1).put(2).put(1, "friday").open().vector(
        "session-unknown", "a session that nobody promised", ["session-unknown"], proven=2)
    Case().put(1).put(2).put(3).open().vector("board-unknown", "a board that the session does not have",
                                              ["board-unknown"], proven=2)
    Case().put(1).put(2).put(3).open().vector("board-beyond", "the same, and there are deals for it",
                                              ["board-unknown"], proven=2)
    vectors[-1]["deals"] = boards_of("rr", 1, 2, 3)
    case = Case().put(1).put(2)
    case.chain.by_hand("rr", 3, deal("rr", 3))
    case.open().vector("board-unknown-hand", "a board that the session does not have was dealt by hand",
                       ["board-unknown", "hand"], proven=2)
    Case().put(1).put(2).put(2, copy=2).open().vector("copy-further", "a further copy of a board", ["further"],
                                                      proven=2)
    Case().put(1).put(2).put(2).open().vector("copy-twice", "one copy was dealt twice", ["further"], proven=1)
    case = Case(pcs=(PC, OTHER_PC)).put(1).put(2)
    case.put(2, chain=case.also("second"), machine="DB-0043").open().vector(
        "copy-twice-two-pcs", "one copy was dealt at two PCs", ["further"], proven=1)
    plain().vector("copies-more", "the verifier was told of two copies", ["missing"], proven=2, copies=2)
    Case(version=1).put(1).put(2).open().vector(
        "copies-unnamed", "a manifest of version 1, and nobody says how many copies", ["copies-unnamed"], proven=2,
        pc=[PC.hex])
    Case(version=1).put(1).put(2).open().vector(
        "version-1-unnamed", "a manifest of version 1, and nobody says anything", ["copies-unnamed", "pc-unnamed"])


def keys():
    plain().vector("signer", "another organiser", ["signer"], signer=OTHER)
    plain().vector("signer-unnamed", "nobody names the organiser's key", ["signer-unnamed"], proven=2, signer=None)
    Case(pcs=(OTHER_PC,)).put(1).put(2).open().vector(
        "pc", "signed by another PC", ["pc", "pc-missing"])
    plain().vector("pc-instead", "the verifier names another PC", ["pc", "pc-missing"], pc=[OTHER_PC.hex])
    Case(pcs=()).put(1).put(2).open().vector("pc-unnamed", "nobody names the PC", ["pc-unnamed"])
    Case(pcs=(PC, OTHER_PC)).put(1).put(2).open().vector(
        "pc-missing", "the certificates of one PC are not there", ["pc-missing"], proven=2)
    case = plain()
    case.also("second", OTHER_PC).open()
    case.vector("pc-too-many", "a file of a PC that nobody named", ["pc"], proven=2)
    case = Case().put(1)
    case.put(2, chain=case.also("second", PC)).open().vector(
        "fork", "two files are signed by one key", ["fork"], proven=2)
    case = plain()
    case.chains.append(case.chain)
    case.vector("fork-same", "the same file twice", ["fork", "further"], proven=0)
    Case().put(1).put(2).vector("not-open", "the certificates are not open", ["not-open"])
    case = Case(pcs=(PC, OTHER_PC)).put(1)
    case.put(2, chain=case.also("second"))
    case.chain.open()
    case.vector("not-open-one", "the certificates of one PC are not open", ["not-open"], proven=1)


# -- what lies in the boards -------------------------------------------------------------------------

def cards():
    Case().put(1).put(2, deal=exchanged(deal("rr", 2))).open().vector(
        "deal", "two cards were exchanged", ["deal"], proven=1)
    Case().put(1, deal=deal("rr", 2)).put(2, deal=deal("rr", 1)).open().vector(
        "deal-boards-exchanged", "the deals of two boards were exchanged", ["deal"])
    Case().put(1).put(2, deal=deal("rr", 9)).open().vector(
        "deal-other", "a deal that is not in the set", ["deal"], proven=1)
    case = Case().put(1)
    case.chain.by_hand("rr", 2, deal("rr", 2))
    case.open().vector("hand", "a board was dealt by hand", ["hand"], proven=1)
    case = Case()
    other = sha256("another opening")
    case.put(1).put(2)
    case.chain.open(opening=other)
    case.vector("opening-other", "the opening is not the one that the salts were made with", ["deal"])
    for field, changed in (("machine", "DB-0043"), ("insertion", 777)):
        case = Case().put(1)
        text = re.sub(r"\nsigner .*", "\n", case.chain.body("rr", 2, deal("rr", 2), case.next + 1), flags=re.S)
        text = re.sub(r"\n%s .*\n" % field, "\n%s %s\n" % (field, changed), text)
        case.chain.add_body(text)
        findings = ["deal", "gap"] if field == "insertion" else ["deal"]
        case.open().vector("salt-%s" % field, "the line %s is not the one of the commitments" % field, findings,
                           proven=1)
    case = Case().put(1)
    text = case.chain.body("rr", 2, deal("rr", 2), 102).replace("pockets NESW", "pockets NEWS")
    case.chain.add_body(text)
    case.open().vector("deal-pockets", "two pockets were exchanged", ["deal"], proven=1)
    for which in ("plan", "trace"):
        case = Case().put(1)
        text = re.sub(r"\n%s (\w)" % which, lambda m: "\n%s %x" % (which, int(m[1], 16) ^ 1),
                      case.chain.body("rr", 2, deal("rr", 2), 102))
        case.chain.add_body(text)
        if which == "plan":
            case.open().vector("commitment-plan", "one bit of the commitment plan is another", ["deal"], proven=1)
        else:
            case.open().vector("commitment-trace", "one bit of the commitment trace is another: nobody can tell "
                               "without the trace", proven=2)


# -- the machine's word --------------------------------------------------------------------------------

def words():
    def second(name, about, findings, proven=1, case=None, **fields):
        fields.setdefault("key", MACHINE)
        (case or enrolled()).put(1, key=MACHINE).put(2, **fields).open().vector(name, about, findings, proven=proven)

    second("word-missing", "the machine did not sign", ["word-missing"], key=None)
    second("word-key", "another key has signed", ["word-key"], key=OTHER)
    second("word-differs-deal", "the machine was given another deal", ["word-differs"],
           told=exchanged(deal("rr", 2)))
    second("word-differs-mode", "the cards were counted, and the machine had a plan by card", ["word-differs"],
           cards="counted", mode_by_card=True)
    second("word-differs-insertion", "the statement is about another insertion", ["word-differs"], of=777)
    second("word-differs-magic", "the statement has another magic", ["word-differs"], magic=0x51584244)
    second("word-differs-key-id", "the statement has the id of another key", ["word-differs"], key_id=bytes(8))
    nonce = sha256("nonce")
    block = plan_block(deal("rr", 2), "NESW", 1102)
    for name, about, finding, how in (
            ("word-unclear-version", "the statement is of a later version", "word-unclear", {"version": 0x200}),
            ("word-unclear-reserved", "a reserved field of the statement is not zero", "word-unclear",
             {"reserved": 1})):
        second(name, about, [finding], attested=attest(MACHINE, nonce, 102, 102, block, b"events", **how), nonce=nonce)
    second("good-minor-version", "the statement is of a later minor version", [], proven=2,
           attested=attest(MACHINE, nonce, 102, 102, block, b"events", version=0x1ff), nonce=nonce)
    statement, signature = attest(MACHINE, nonce, 102, 102, block, b"events")
    for name, about, place, byte in (("byte", "the reserved byte of the statement is not zero", 7, 1),
                                     ("flag", "the statement has an unknown flag", 6, 4)):
        other = statement[:place] + bytes([statement[place] | byte]) + statement[place + 1:]
        second("word-unclear-" + name, about, ["word-unclear"], nonce=nonce,
               attested=(other, MACHINE.sign(b"dealing machine attestation\n" + other)))
    for place in (0, 31, 32, 63):
        wrong = signature[:place] + bytes([signature[place] ^ 1]) + signature[place + 1:]
        second("word-differs-signature-%d" % place, "byte %d of the machine's signature is another" % place,
               ["word-differs"], attested=(statement, wrong), nonce=nonce)
    second("word-differs-signer", "another key signed the same statement", ["word-differs"],
           attested=(statement, OTHER.sign(b"dealing machine attestation\n" + statement)), nonce=nonce)
    second("word-differs-purpose", "the signature is not for an attestation", ["word-differs"],
           attested=(statement, MACHINE.sign(statement)), nonce=nonce)
    for place in (24, 32, 64, 95):
        wrong = statement[:place] + bytes([statement[place] ^ 1]) + statement[place + 1:]
        second("word-differs-statement-%d" % place, "byte %d of the statement is another" % place,
               ["word-differs"], attested=(wrong, signature), nonce=nonce)
    second("word-differs-nonce", "the nonce is another", ["word-differs"], attested=(statement, signature),
           nonce=sha256("another nonce"))
    second("word-differs-number", "the plan had another number", ["word-differs"],
           attested=attest(MACHINE, nonce, 102, 102, plan_block(deal("rr", 2), "NESW", 7), b"events"), nonce=nonce)
    second("word-differs-pockets", "the plan had the pockets in another order", ["word-differs"],
           attested=attest(MACHINE, nonce, 102, 102, plan_block(deal("rr", 2), "WSEN", 1102), b"events"), nonce=nonce)
    second("word-unclear", "a host-routed machine, and no trace", ["word-unclear"], host_routed=True)
    unset = statement[:6] + b"\0" + statement[7:]
    second("word-differs-no-plan", "a plan digest without its bit", ["word-differs"],
           attested=(unset, MACHINE.sign(b"dealing machine attestation\n" + unset)), nonce=nonce)
    # without the deal, or with another one, nothing is compared
    for what, how in (("differs", {"key_id": bytes(8)}), ("unclear", {"version": 0x200})):
        signed = attest(MACHINE, nonce, 102, 102, block, b"events", **how)
        enrolled().put(1, key=MACHINE).put(2, key=MACHINE, attested=signed, nonce=nonce).vector(
            "not-open-" + what, "a statement that %s, in a file that is not open" % what, ["not-open"])
        second("deal-" + what, "another deal, and a statement that %s" % what, ["deal"], attested=signed, nonce=nonce,
               deal=exchanged(deal("rr", 2)))
    # the attestation of the first board, for the second
    case = enrolled().put(1, key=MACHINE)
    line = dict(re.findall(r"^(statement|attestation|nonce) (.*)$", case.chain.texts[0], re.M))
    body = case.chain.body("rr", 2, deal("rr", 2), 102, key=MACHINE)
    for word, value in line.items():
        body = re.sub(r"\n%s .*\n" % word, "\n%s %s\n" % (word, value), body)
    case.chain.add_body(body)
    case.open().vector("word-differs-replayed", "the attestation of another board", ["counter-twice", "word-differs"],
                       proven=1)
    # self-declared keys are checked as well
    Case().put(1).put(2, key=OTHER, told=exchanged(deal("rr", 2))).open().vector(
        "self-declared-differs", "a self-declared key signed another deal", ["word-differs"], proven=1)
    Case(machines=[machine_line("DB-0043", MACHINE)]).put(1, machine="DB-0043", key=MACHINE).put(2).open().vector(
        "machine", "a machine that is not listed", ["machine"], proven=1)
    Case(machines=[machine_line("DB-0043", MACHINE)]).put(1, machine="DB-0043", key=MACHINE).put(
        2, key=MACHINE).open().vector(
            "machine-name", "a listed key under another name", ["machine"], proven=1)
    case = Case(machines=[machine_line(NAME, MACHINE), machine_line("DB-0043", OTHER)])
    case.put(1, key=MACHINE).put(2, machine="DB-0043", key=MACHINE, counter=102).open().vector(
        "word-key-of-another", "the key of one machine under the name of another", ["word-key"], proven=1)
    Case(machines=[machine_line("DB-0043", MACHINE)]).put(1, machine="DB-0043", key=MACHINE).put(
        2, key=OTHER, told=exchanged(deal("rr", 2))).open().vector(
            "machine-differs", "a machine that is not listed signed another deal", ["machine", "word-differs"],
            proven=1)
    # rehearsals
    case = Case().put(1)
    case.put(2, by="emulator").open().vector("rehearsal", "the PC says that it was an emulator", ["rehearsal"],
                                             proven=1)
    Case().put(1, by="emulator", verdict="void").put(1).put(2).open().vector(
        "rehearsal-void", "a void insertion was an emulator's; the board was dealt again", ["rehearsal"], proven=2)
    second("rehearsal-flag", "the machine says that it is an emulator", ["rehearsal"], emulated=True)
    Case(machines=[machine_line(NAME, MACHINE), machine_line("emulator", EMULATOR, "emulator")]).put(
        1, key=MACHINE).put(2, key=EMULATOR).open().vector(
            "rehearsal-key", "the key of an emulator, under the name of a machine", ["rehearsal"], proven=1)
    Case(machines=[machine_line("DB-0043", MACHINE)]).put(1, machine="DB-0043", key=MACHINE).put(
        2, by="emulator").open().vector(
            "rehearsal-machine-unlisted", "an emulator under the name of a machine that is not listed",
            ["machine", "rehearsal"], proven=1)
    Case(machines=[machine_line(NAME, None, "emulator")]).put(1).put(2).open().vector(
        "rehearsal-machine", "a machine that is listed as an emulator", ["rehearsal"])
    Case().put(1).put(2, key=OTHER, emulated=True).open().vector(
        "rehearsal-self-declared", "a self-declared key says that it is an emulator's", ["rehearsal"], proven=1)
    for what, how in (("version", {"version": 0x200}), ("reserved", {"reserved": 1})):
        statement, signature = attest(OTHER, nonce, 102, 102, block, b"events", emulated=True, **how)
        Case().put(1).put(2, key=OTHER, attested=(statement, signature), nonce=nonce).open().vector(
            "rehearsal-later-" + what, "an emulator's statement that is of a later version", ["rehearsal"], proven=1)


def numbers():
    Case().put(1).put(2, insertion=103).open().vector("gap", "an insertion has no certificate", ["gap"], proven=2)
    Case().put(1).put(2, insertion=203).open().vector("gap-wide", "many insertions have no certificate", ["gap"],
                                                      proven=2)
    case = Case().put(2, insertion=103)
    case.put(1, insertion=101).open().vector("gap-order", "the same; the certificates are in another order", ["gap"],
                                             proven=2)
    two = ("2:1-2,3-4:rr#:Round robin #",)
    case = Case(phases=two).with_deals(boards_of("rr1", 1, 2), boards_of("rr2", 3, 4))
    case.put(1, "rr1", insertion=101).put(3, "rr2", insertion=103).put(2, "rr1", insertion=104)
    case.put(4, "rr2", insertion=105).open().vector(
        "gap-between-sessions", "an insertion within two sessions has no certificate; its neighbours are of both",
        ["gap"], proven=4)
    case = Case(phases=two, machines=[machine_line(NAME, MACHINE)])
    case.with_deals(boards_of("rr1", 1, 2), boards_of("rr2", 3, 4)).put(1, "rr1", key=MACHINE)
    for board, session in ((3, "rr2"), (2, "rr1"), (4, "rr2")):
        case.put(board, session, key=MACHINE, counter=case.next + 2)
    case.open().vector("counter-gap-between-sessions", "the same, of what the machine signed", ["counter-gap"],
                       proven=4)
    case = Case().put(1, insertion=200).put(2, insertion=200)
    case.open().vector("insertion-twice", "two boards have one insertion", ["insertion-twice"], proven=0)
    enrolled().put(1, key=MACHINE).put(2, key=MACHINE, counter=104).open().vector(
        "counter-gap", "the machine signed a deal that has no certificate", ["counter-gap"], proven=2)
    enrolled().put(1, key=MACHINE).put(2, key=MACHINE, counter=101).open().vector(
        "counter-twice", "the machine gave one counter twice", ["counter-twice"], proven=2)
    case = enrolled().put(1, key=MACHINE, verdict="void", insertion=101, counter=101, nonce=sha256("other nonce"))
    case.put(1, key=MACHINE, insertion=101, counter=101).put(2, key=MACHINE, insertion=102).open().vector(
        "counter-twice-one-insertion", "the machine signed two statements with one counter, both of one insertion",
        ["counter-twice"], proven=2)
    enrolled().put(1, key=MACHINE, insertion=101, counter=101, nonce=sha256("other nonce")).put(
        2, key=MACHINE, insertion=101, counter=101).open().vector(
            "counter-twice-two-boards", "the same of two boards that have one insertion",
            ["counter-twice", "insertion-twice"])
    case = Case().put(1, insertion=101, key=MACHINE)
    case.put(2, insertion=101, key=MACHINE, told=deal("rr", 1), number=1101).open().vector(
        "insertion-twice-one-statement", "two boards have one insertion, and the one statement of it",
        ["insertion-twice", "word-differs"])
    case = Case().put(1).put(2)
    case.put(1, "friday", insertion=201, key=MACHINE, counter=201).put(2, "friday", insertion=201).open().vector(
        "unknown-insertion-twice", "two boards of a session that was not promised have one insertion",
        ["session-unknown"], proven=2)
    Case().put(1).put(2).put(1, "friday", key=MACHINE, counter=7).put(2, "friday", key=MACHINE, counter=7).open().vector(
        "unknown-counter-twice", "two boards of a session that was not promised have one counter",
        ["session-unknown"], proven=2)
    Case().put(1, key=OTHER).put(2, key=OTHER, counter=104).open().vector(
        "counter-gap-self-declared", "a self-declared key signed a deal that has no certificate", ["counter-gap"],
        proven=2)

    # what fills the place of a counter must be the machine's own, also in a certificate that is void
    nonce, block = sha256("nonce"), plan_block(deal("rr", 1), "NESW", 1102)

    def between(name, about, findings, signed, nonce=nonce, key=MACHINE, insertion=102, made=enrolled):
        case = made().put(1, key=MACHINE, insertion=101, counter=101)
        case.put(1, verdict="void", basis="none", insertion=insertion, key=key, nonce=nonce, attested=signed)
        case.put(2, key=MACHINE, insertion=103, counter=103).open().vector(name, about, findings, proven=2)

    def signed_as(how, key=MACHINE, counter=102):
        return attest(key, nonce, counter, 102, block, b"events", **how)

    between("good-void-attested", "a void insertion, which the machine has signed", [], signed_as({}))
    statement, signature = signed_as({})
    between("counter-gap-signature", "a statement that the machine has not signed, in a void certificate",
            ["counter-gap"], (statement, signature[:8] + bytes([signature[8] ^ 1]) + signature[9:]))
    between("counter-gap-signer", "the same, signed by another key", ["counter-gap"],
            (statement, OTHER.sign(b"dealing machine attestation\n" + statement)))
    between("counter-gap-key", "another key, in a void certificate", ["counter-gap"], signed_as({}, OTHER), key=OTHER)
    for what, about, how in (("magic", "has another magic", {"magic": 0x51584244}),
                             ("key-id", "has the id of another key", {"key_id": bytes(8)}),
                             ("version", "is of a later version", {"version": 0x200}),
                             ("reserved", "has a reserved field that is not zero", {"reserved": 1})):
        between("counter-gap-" + what, "a statement in a void certificate %s" % about, ["counter-gap"], signed_as(how))
    for what, place, byte in (("byte", 7, 1), ("flag", 6, 4)):
        other = statement[:place] + bytes([statement[place] | byte]) + statement[place + 1:]
        between("counter-gap-" + what, "a statement in a void certificate has an unknown %s" % what, ["counter-gap"],
                (other, MACHINE.sign(b"dealing machine attestation\n" + other)))
    between("counter-gap-replayed", "a void certificate has the statement of the board before",
            ["counter-gap", "counter-twice"],
            attest(MACHINE, sha256("nonce %s 101" % NAME), 101, 101, plan_block(deal("rr", 1), "NESW", 1101),
                   b"events"), nonce=sha256("nonce %s 101" % NAME))
    between("counter-gap-self-declared-signature", "the same as counter-gap-signature, and no machine is enrolled",
            ["counter-gap"], (statement, signature[:8] + bytes([signature[8] ^ 1]) + signature[9:]), made=Case)


# -- where the deals come from --------------------------------------------------------------------------

# keys, and the deals that they make with the value 441235
KEYS = ("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567",
        "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA98765432")
MADE = {
    "rr": {1: "N:KJ.987.A6.AQJ965 QT964.K52.742.84 75.AQT64.QJ53.K7 A832.J3.KT98.T32",
           2: "E:J72.T9763.J862.A A.AQ2.QT93.QJ642 QT953.K5.K74.953 K864.J84.A5.KT87"},
    "x03": {3: "S:54.J4.Q5.AKQJT96 Q96.7632.T642.72 8732.T5.AJ973.84 AKJT.AKQ98.K8.53",
            4: "W:Q84.A3.AQT9.J872 AT2.64.K762.K543 KJ653.JT9.83.QT9 97.KQ8752.J54.A6"},
}
KEY_FILE = "1,1:%s\r\n2,0:%s\r\n" % KEYS
SQUARE_PHASES = ("1:1-2:rr:Round robin", "0:3-4:x##:Extra #")


def description(value="DV 441235\n", name="Club evening", phases=SQUARE_PHASES, kh=None):
    return "# Description file\nTN %s\nDI Lottery of 1 May\n%s%sKH %s\n" % (
        name, value, "".join("SN %s\n" % phase for phase in phases), kh or sha256(KEY_FILE).hex())


def made(session, board):
    return deal_read(MADE[session][board])


def made_file(session, **tags):
    return pbn_file({str(n): pbn_of(made(session, n)) for n in MADE[session]}, **tags)


def files():
    def case(name, about, findings=(), proven=2, deals=made, sessions=("rr",), phases=SQUARE_PHASES, **given):
        one = Case(phases=phases, kh=sha256(KEY_FILE).hex())
        for session in sessions:
            for board in MADE[session]:
                one.put(board, session, deal=deals(session, board))
        one.with_deals().open().vector(name, about, findings, status=2 if "deals" in findings else None,
                                       proven=0 if "deals" in findings else proven,
                                       files={file.replace("_", "."): text for file, text in given.items()})

    square = {"club_sqd": description(), "club_sqk": KEY_FILE}
    case("good-keys", "the deals are made of description and keys", **square)
    case("good-keys-open", "the same, also of a phase without end", proven=4, sessions=("rr", "x03"), **square)
    case("good-keys-and-file", "the file of a session is what the keys make", **square, rr_pbn=made_file("rr"))
    case("keys-part", "the file has one board of two, which the keys make", **square, rr_pbn=made_file("rr").split("\n\n", 1)[1],
         findings=["deals-missing"], proven=1)
    case("good-keys-changed-by-mail", "mail has changed the line ends of the keys", club_sqd=description(),
         club_sqk=KEY_FILE.replace("\r\n", " \n") + "\n")
    case("good-keys-open-boards", "the boards were left open: those of the file, which the keys make",
         phases=("1:?:rr:Round robin", SQUARE_PHASES[1]), club_sqk=KEY_FILE, rr_pbn=made_file("rr"),
         club_sqd=description(phases=("1:?:rr:Round robin", SQUARE_PHASES[1])))
    case("keys-open-boards", "the same, with other deals in file and boards", ["deals"], deals=deal,
         phases=("1:?:rr:Round robin", SQUARE_PHASES[1]), club_sqk=KEY_FILE,
         rr_pbn=pbn_file({str(n): pbn_of(deal("rr", n)) for n in (1, 2)}),
         club_sqd=description(phases=("1:?:rr:Round robin", SQUARE_PHASES[1])))
    case("keys-deals-other", "other deals than the keys make, in file and boards", ["deals"], deals=deal, **square,
         rr_pbn=pbn_file({str(n): pbn_of(deal("rr", n)) for n in (1, 2)}))
    case("keys-dealt-other", "the boards have other deals than the keys make", ["deal"], 0, deals=deal, **square)
    case("keys-value-other", "another delayed value", ["deal"], 0, club_sqd=description("DV 441236\n"), club_sqk=KEY_FILE)
    case("keys-value-missing", "the delayed value is missing", ["deals"], club_sqd=description(""), club_sqk=KEY_FILE)
    case("keys-value-twice", "two delayed values", ["deals"], club_sqd=description("DV 441235\nDV 441236\n"),
         club_sqk=KEY_FILE)
    case("keys-other", "a key is another", ["deals"], club_sqd=description(), club_sqk=KEY_FILE.replace("01234567", "01234568"))
    case("keys-description-other", "the description is another: its name", ["deals"], club_sqd=description(name="Club"),
         club_sqk=KEY_FILE)
    case("keys-description-hash", "the description is another: its hash of the keys", ["deals"],
         club_sqd=description(kh=sha256("x").hex()), club_sqk=KEY_FILE)
    case("keys-description-phases", "the description is another: its boards", ["deals"],
         club_sqd=description(phases=("1:1-3:rr:Round robin", SQUARE_PHASES[1])), club_sqk=KEY_FILE)
    case("keys-without-description", "keys without their description", ["deals"], club_sqk=KEY_FILE)
    case("description-without-keys", "a description without its keys", ["deals"], club_sqd=description())
    case("good-file", "the deals are in a file of PBN", rr_pbn=made_file("rr"))
    case("good-file-ten", "the same; tens are written 10", rr_pbn=made_file("rr").replace("T", "10").replace("10V", "TV"))
    case("good-file-unknown", "the same; dealer and vulnerability are not known", rr_pbn=made_file("rr", dealer="?",
                                                                                                   vulnerable="?"))
    case("file-dealer", "the dealer of a board is not that of its number", ["deals"], rr_pbn=made_file("rr", dealer="N"))
    case("file-dealer-none", "the dealer is no seat", ["deals"], rr_pbn=made_file("rr", dealer="X"))
    case("file-vulnerable", "the vulnerability of a board is not that of its number", ["deals"],
         rr_pbn=made_file("rr", vulnerable="NS"))
    case("file-vulnerable-none", "the vulnerability is none of the words", ["deals"],
         rr_pbn=made_file("rr", vulnerable="Some"))
    case("file-session-unknown", "deals of a session that the manifest does not have", ["deals"], rr_pbn=made_file("rr"),
         friday_pbn=made_file("rr"))
    case("file-session-twice", "two files of one session", ["deals"], rr_pbn=made_file("rr"), rr_again_pbn=made_file("rr"))
    case("file-board-too-large", "a board has a number above 9999", ["deals"],
         rr_pbn=made_file("rr") + pbn_file({"10000": pbn_of(deal("rr", 1))}))
    case("no-deals", "no deals at all", ["deals-missing"], 0)
    case("no-deals-open-boards", "no deals, and the boards were left open", ["deals-missing"], 0,
         phases=("1:?:rr:Round robin",))


# -- texts that are refused --------------------------------------------------------------------------

def lines_changed(body):
    """Bodies with one line that is not in its form: (what, body)."""
    lines = body.splitlines(keepends=True)
    for n, line in enumerate(lines):
        word, _, value = line.rstrip("\n").partition(" ")
        if word == "dealbox":
            word = "first"

        def made(text, n=n):
            return "".join(lines[:n] + ([text] if text else []) + lines[n + 1:])

        if word not in ("pc", "machine") or "real" not in line:
            if word != "pc":
                yield word + "-left-out", "the line %s is left out" % word, made("")
        yield word + "-twice", "the line %s is there twice" % word, made(line + line)
        if n + 1 < len(lines) and word != "first":
            swapped = lines[:n] + [lines[n + 1], line] + lines[n + 2:]
            if lines[n + 1] != line:
                yield word + "-moved", "the line %s is behind the next" % word, "".join(swapped)
        if word not in ("session", "machine", "TN", "DI", "SN"):
            yield word + "-space", "a space at the end of the line %s" % word, made(line[:-1] + " \n")
        yield word + "-two-spaces", "two spaces behind the word %s" % word, made(line.replace(" ", "  ", 1)) \
            if word not in ("session", "machine") else made(line.replace(" ", "\t", 1))
        if re.fullmatch("[0-9a-f]{64,}", value):
            yield word + "-upper-case", "%s is in upper case" % word, made(line.replace(value, value.upper()))
            yield word + "-short", "%s has a byte less" % word, made(line.replace(value, value[2:]))
            yield word + "-odd", "%s has half a byte more" % word, made(line.replace(value, value + "0"))
        elif value.isdigit():
            yield word + "-leading-zero", "%s has a leading zero" % word, made(line.replace(value, "0" + value))
            yield word + "-sign", "%s has a sign" % word, made(line.replace(value, "+" + value))
            yield word + "-too-large", "%s does not fit 32 bits" % word, made(line.replace(value, "4294967296"))


def forms():
    def bad(kind, rows, make):
        for what, about, body in rows:
            refused("form-%s-%s" % (kind, what), "%s: %s" % (kind, about), "form", make(body))

    def manifest_with(body):
        case = Case()
        case.manifest = sign_text(body, ORGANISER)
        chain = Chain(case.manifest, PC)
        case.chains = [chain]
        chain.add("rr", 1, deal("rr", 1), 101)
        chain.open()
        return small(case)

    def small(case):
        case.deals = boards_of("rr", 1)
        return case

    def certificate_with(body):
        case = small(Case(phases=("1:1:rr:Round robin",), machines=[machine_line(NAME, MACHINE)]))
        case.chain.add_body(body)
        return case.open()

    def opening_with(body):
        case = small(Case(phases=("1:1:rr:Round robin",))).put(1)
        case.chain.add_body(body)
        return case

    one = Case(phases=("1:1:rr:Round robin",), machines=[machine_line(NAME, MACHINE)])
    promise = manifest_body(phases=("1:1:rr:Round robin",), pcs=(PC,), machines=[machine_line(NAME, MACHINE)])
    body = one.chain.body("rr", 1, deal("rr", 1), 101, key=MACHINE)
    opening = small(Case(phases=("1:1:rr:Round robin",))).put(1).chain.opening_body()
    bad("manifest", lines_changed(promise), manifest_with)
    bad("certificate", lines_changed(body), certificate_with)
    bad("opening", ((what, about, text) for what, about, text in lines_changed(opening)
                    if what not in ("first-left-out",)), opening_with)

    def swap(text, old, new, kind, what, make):
        assert old in text, old
        refused("form-%s-%s" % (kind, what), "%s: %s" % (kind, what.replace("-", " ")), "form",
                make(text.replace(old, new, 1)))

    for old, new, what in (
            ("manifest 2", "manifest 3", "version-3"), ("copies 1", "copies 0", "no-copies"),
            ("copies 1", "copies 65536", "too-many-copies"), (" real ", " true ", "neither-real-nor-emulator"),
            (".000000Z", ".000001Z", "part-of-a-second"), ("2026-11-20", "2026-11-31", "no-such-day"),
            ("T12:", "T24:", "no-such-hour"), ("SN 1:1:rr:", "SN 2:1:rr:", "one-name-for-two-sessions"),
            ("SN 1:1:rr:", "SN 1:2-1:rr:", "no-range"), ("SN 1:1:rr:", "SN 1:65536x65536:rr:", "boards-too-many"),
            ("TN Club", "TN \tClub", "name-after-tab"), ("TN Club", "TN Cl\x7fub", "name-with-control-character"),
            ("DI Lot", "DI Lo\x1bt", "information-with-control-character"),
            (":Round", ":Ro\tund", "description-with-control-character"),
            ("KH 18", "KH 18\0", "zero-byte"), ("SN 1:1:rr:", "SN 1:1:r.r:", "no-file-name"),
            ("SN 1:1:rr:", "SN 01:1:rr:", "sessions-leading-zero"), ("SN 1:1:rr:", "SN 1:0:rr:", "board-0"),
            ("\nTN ", "\n# x\nTN ", "comment"), ("\nKH ", "\nDV 7\nKH ", "delayed-value"), ("\n", "\r\n", "cr")):
        swap(promise, old, new, "manifest", what, manifest_with)
    swap(promise, "real DB-0042\n", "real DB-0042\nmachine - real DB-0041\n", "manifest", "machines-not-in-order",
         manifest_with)
    swap(promise, "real DB-0042\n", "real DB-0042\nmachine - real DB-0042\n", "manifest", "machine-with-two-keys",
         manifest_with)
    pcs = sorted((PC.hex, OTHER.hex))
    swap(promise, "pc %s\n" % PC.hex, "pc %s\npc %s\n" % (pcs[1], pcs[0]), "manifest", "pcs-not-in-order",
         manifest_with)
    swap(promise, "real DB-0042", "real " + "x" * 128, "manifest", "machine-name-too-long", manifest_with)
    swap(promise, "\nKH ", "\nSN 1:1:rr:Again\nKH ", "manifest", "two-phases-of-one-name", manifest_with)
    swap(promise, "\nKH ", "\nSN 11:1:x#:Eleven\nSN 1:1-2:x1#:One\nKH ", "manifest", "two-sessions-of-one-name",
         manifest_with)
    for what, phases in (
            ("open-phases-of-one-name", ("0:1:x#:Round #", "0:1:x##:Round #")),
            ("open-phase-and-session-of-one-name", ("0:1:x#:Round #", "1:1-2:x1:One")),
            ("reserve-set-and-session-of-one-name", ("1:1:x:One", "1:1:xreserve:Other")),
            ("reserve-sets-and-open-phase-of-one-name", ("0:1:x#:Round #", "0:1:x#reserve:Round #"))):
        swap(promise, "\nKH ", "".join("\nSN " + phase for phase in phases) + "\nKH ", "manifest", what, manifest_with)
    swap(promise, "real DB-0042", "real -", "manifest", "machine-without-name", manifest_with)
    swap(promise, "machine ", "machine - emulator -\nmachine ", "manifest", "emulator-without-name", manifest_with)
    swap(promise, "time 2026", "time 1969", "manifest", "before-1970", manifest_with)
    for old, new, what in (
            ("certificate 2", "certificate 3", "version-3"), ("certificate 2", "certificate 1", "version-1-with-lines"),
            ("board 1\n", "board 0\n", "board-0"), ("copy 1\n", "copy 0\n", "copy-0"), ("NESW", "NESS", "seat-twice"),
            ("NESW", "NES", "three-pockets"), ("NESW", "nesw", "pockets-lower-case"),
            ("verdict exact", "verdict good", "verdict"), ("by machine", "by robot", "by"),
            ("basis sensors", "basis eyes", "basis"), ("cards read", "cards seen", "cards"),
            ("by machine", "by hand", "by-hand-with-machine"), ("machine DB-0042", "machine -", "machine-without-name"),
            ("T18:", "T25:", "no-such-hour"), (".123456Z", ".123456", "no-zone"),
            (".123456Z", ".12345Z", "five-digits"), ("session rr", "session r\x7fr", "control-character"),
            ("session rr", "session " + "r" * 128, "session-name-too-long"), ("\n", "\r\n", "cr")):
        swap(body, old, new, "certificate", what, certificate_with)
    for word in ("key", "statement", "attestation", "nonce"):
        refused("form-certificate-without-" + word, "certificate: all of the machine's word but %s" % word, "form",
                certificate_with(re.sub(r"\n%s .*\n" % word, "\n%s -\n" % word, body)))
    none = one.chain.body("rr", 1, deal("rr", 1), 101)
    for word, size in (("key", 32), ("statement", 96), ("attestation", 64), ("nonce", 32)):
        refused("form-certificate-only-" + word, "certificate: of the machine's word nothing but %s" % word, "form",
                certificate_with(none.replace("\n%s -\n" % word, "\n%s %s\n" % (word, "00" * size))))
    for what, fields in (("insertion", {"number": 0}), ("number", {"number": 9})):
        case = small(Case(phases=("1:1:rr:Round robin",)))
        case.chain.add("rr", 1, deal("rr", 1), 5 if what == "insertion" else 0, machine="-", by="hand", **fields)
        refused("form-certificate-hand-" + what, "certificate: by hand, with a number of %s" % what, "form",
                case.open())
    case = small(Case(phases=("1:1:rr:Round robin",)))
    case.chain.add("rr", 1, deal("rr", 1), 0, machine="-", by="hand", number=0, key=MACHINE)
    refused("form-certificate-hand-word", "certificate: by hand, and a machine has signed", "form", case.open())
    case = small(Case(phases=("1:1:rr:Round robin",)))
    case.put(1, version=1)
    refused("form-certificate-version-1", "certificate: of version 1, and the manifest is of version 2", "form",
            case.open())


def signatures():
    def flipped(text, place):
        start = text.rindex("signature ") + len("signature ") + place
        return text[:start] + "%x" % (int(text[start], 16) ^ 1) + text[start + 1:]

    for place in (0, 40, 64, 100):
        case = plain()
        case.manifest = flipped(case.manifest, place)
        refused("signature-manifest-%d" % place, "digit %d of the manifest's signature is another" % place,
                "signature", case)
        case = plain()
        case.chain.texts[1] = flipped(case.chain.texts[1], place)
        refused("signature-certificate-%d" % place, "digit %d of a certificate's signature is another" % place,
                "signature", case)
        case = plain()
        case.chain.texts[2] = flipped(case.chain.texts[2], place)
        refused("signature-opening-%d" % place, "digit %d of the opening's signature is another" % place,
                "signature", case)
    for old, new, what in (("board 2", "board 3", "board"), ("exact", "void", "verdict"), ("copy 1", "copy 2", "copy"),
                           ("by machine", "by hand", "by"), ("read", "counted", "cards"), ("102", "103", "insertion"),
                           ("sensors", "gates", "basis"), ("18:", "19:", "time")):
        case = plain()
        assert old in case.chain.texts[1]
        case.chain.texts[1] = case.chain.texts[1].replace(old, new, 1)
        refused("changed-" + what, "the %s of a certificate was changed afterwards" % what, "signature", case)
    for old, new, what in (("Club", "Clug", "name"), ("1 May", "2 May", "delayed-information"), ("1-2", "1-3", "boards"),
                           ("copies 1", "copies 2", "copies"), ("KH 1", "KH 2", "hash")):
        case = plain()
        case.manifest = case.manifest.replace(old, new, 1)
        refused("changed-manifest-" + what, "the manifest was changed afterwards: %s" % what, "signature", case)
    case = plain()
    case.chain.texts[2] = case.chain.texts[2].replace("opening " + case.chain.opening.hex(),
                                                      "opening " + sha256("x").hex())
    refused("changed-opening", "the opening was changed afterwards", "signature", case)
    case = plain()
    case.manifest = case.manifest.replace(ORGANISER.hex, OTHER.hex)
    refused("signature-manifest-key", "the manifest names another signer than the one who signed", "signature", case)
    case = plain()
    case.chain.texts[0] = case.chain.texts[0].replace(PC.hex, OTHER.hex)
    refused("signature-certificate-key", "a certificate names another signer than the one who signed", "signature",
            case)
    # a key of small order, with which a signature of zeros is right for any text
    weak = "%064x" % (1 << 248)
    case = plain()
    body = case.manifest[:case.manifest.index("signer ")]
    case.manifest = body + "signer %s\nsignature %s%064x\n" % (weak, weak, 0)
    refused("signature-small-order", "a key of small order signs everything", "signature", case, signer=None)
    for cut, what in ((1, "line-end"), (2, "digit"), (200, "lines")):
        case = plain()
        case.manifest = case.manifest[:-cut]
        refused("cut-manifest-" + what, "the manifest is cut: the last %s" % what, "form", case)
        case = plain()
        text = case.chain.text[:-cut]
        refused("cut-certificates-" + what, "the file of certificates is cut: the last %s" % what, "form", case,
                certificates=[text])
    case = plain()
    case.manifest += "\n"
    refused("manifest-more", "an empty line behind the manifest", "form", case)
    case = plain()
    refused("certificates-more", "an empty line behind the certificates", "form", case,
            certificates=[case.chain.text + "\n"])
    case = plain()
    refused("certificates-empty-line", "an empty line between two certificates", "signature", case,
            certificates=["\n".join(case.chain.texts)])
    case = plain()
    case.manifest = ""
    refused("manifest-empty", "the manifest is empty", "form", case)
    case = plain()
    case.manifest = "\ufeff" + case.manifest
    refused("manifest-bom", "a byte order mark before the manifest", "signature", case)


def chains():
    def chain(name, about, change, **extra):
        case = Case(phases=("1:1-3:rr:Round robin",)).with_deals(boards_of("rr", 1, 2, 3)).put(1).put(2).put(3).open()
        change(case.chain.texts)
        refused("chain-" + name, about, "chain", case, **extra)

    chain("first-left-out", "the first certificate is left out", lambda texts: texts.pop(0))
    chain("one-left-out", "a certificate in the middle is left out", lambda texts: texts.pop(1))
    chain("last-left-out", "the last certificate is left out", lambda texts: texts.pop(2))
    chain("twice", "a certificate is there twice", lambda texts: texts.insert(1, texts[1]))
    chain("exchanged", "two certificates are exchanged", lambda texts: texts.insert(0, texts.pop(1)))
    chain("behind-opening", "a certificate is behind the opening", lambda texts: texts.append(texts.pop(2)))
    chain("two-openings", "there are two openings", lambda texts: texts.append(texts[3]))
    chain("opening-first", "the opening is before the certificates", lambda texts: texts.insert(0, texts.pop(3)))
    case = Case().put(1)
    case.chain.open()
    refused("chain-behind-opening-follows", "a certificate is behind the opening, and follows it", "chain", case.put(2))
    case = Case().put(1).put(2)
    case.chain.open(count=3)
    refused("chain-count-more", "the opening counts one certificate more", "chain", case)
    case = Case().put(1).put(2)
    case.chain.open(count=1)
    refused("chain-count-fewer", "the opening counts one certificate fewer", "chain", case)
    case = Case().put(1).put(2)
    case.chain.open(previous=sha256("x"))
    refused("chain-opening-previous", "the opening follows something else", "chain", case)
    case = Case().put(1).put(2)
    case.chain.open(manifest=sha256("x"))
    refused("chain-opening-manifest", "the opening is for another manifest", "chain", case)
    case = Case().put(1).put(2)
    case.chain.open(key=OTHER_PC)
    refused("chain-opening-signer", "the opening is signed by another key", "chain", case)
    case = Case().put(1)
    case.chain.add_body(case.chain.body("rr", 2, deal("rr", 2), 102), key=OTHER_PC)
    refused("chain-signer", "a certificate is signed by another key than the first", "chain", case.open())
    case = Case().put(1)
    case.chain.add("rr", 2, deal("rr", 2), 102, previous=sha256("x"))
    refused("chain-previous", "a certificate follows something else", "chain", case.open())
    case = Case()
    case.chain.add("rr", 1, deal("rr", 1), 101, previous=bytes(32))
    refused("chain-first-previous", "the first certificate does not follow the manifest", "chain",
            case.put(2).open())
    case, other = plain(), Case(name="Another evening").put(1).put(2).open()
    refused("chain-manifest", "the certificates are for another manifest", "chain", case,
            certificates=[other.chain.text])
    case = plain()
    case.manifest = sign_text(manifest_body(pcs=(PC,)).replace("12:00:00", "12:00:01"), ORGANISER)
    refused("chain-manifest-again", "the manifest was signed again, a second later", "chain", case)


def everything():
    for part in (good, incomplete, keys, cards, words, numbers, files, forms, signatures, chains):
        part()
    seen = set()
    for vector in vectors:
        assert vector["name"] not in seen, vector["name"]
        seen.add(vector["name"])
    return json.dumps({"version": 1, "vectors": vectors}, indent=0, ensure_ascii=False, sort_keys=False) + "\n"


# -- the check -----------------------------------------------------------------------------------------

def verify(dealbox, vector, folder):
    """What verify says: (status, findings, proven)."""
    def put(name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    options = []
    if "signer" in vector:
        options += ["--signer", vector["signer"]]
    for key in vector.get("pc", ()):
        options += ["--pc", key]
    if "copies" in vector:
        options += ["--copies", str(vector["copies"])]
    operands = [put("manifest", vector["manifest"])]
    operands += [put("certificates-%d" % n, text) for n, text in enumerate(vector["certificates"])]
    operands += [put(session + ".pbn", pbn_file(boards)) for session, boards in vector["deals"].items()]
    operands += [put(name, text) for name, text in vector.get("files", {}).items()]
    done = subprocess.run([dealbox, "certificate", "verify", "--json", *options, *operands], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    objects = [json.loads(line) for line in done.stdout.split("\n") if line]
    findings = sorted({one["finding"] for one in objects if "finding" in one})
    return done.returncode, findings, objects[0].get("copies_proven", 0) if objects else None


def check(path, dealbox):
    faults = []
    text = everything()
    with open(path, encoding="utf-8") as file:
        same = file.read() == text
    bad = sum(1 for vector in vectors if vector["status"])
    for vector in vectors:
        with tempfile.TemporaryDirectory() as folder:
            found = verify(dealbox, vector, folder)
        wanted = vector["status"], vector["findings"], vector["proven"]
        if found != wanted:
            faults.append("%s: %r instead of %r" % (vector["name"], found, wanted))
    print("1..3")
    print("%s 1 - the published vectors are those of this script" % ("ok" if same else "not ok"))
    print("%s 2 - there are good ones, and at least 200 bad ones (%d of %d)" %
          ("ok" if bad >= 200 and bad < len(vectors) else "not ok", bad, len(vectors)))
    print("%s 3 - verify agrees with each" % ("not ok" if faults else "ok"))
    for fault in faults:
        print("#   " + fault)
    return 1 if faults or not same else 0


if __name__ == "__main__":
    if sys.argv[1] == "write":
        with open(sys.argv[2], "w", encoding="utf-8", newline="") as out:
            out.write(everything())
    else:
        sys.exit(check(sys.argv[2], sys.argv[3]))
