#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Heads, proofs and witnesses: a past that is cut off or written again shows."""

import os
import re
import shutil
import subprocess
import sys

from tool import deals, main, test

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../certificate"))
import writer   # pylint: disable=wrong-import-position


def content(path):
    with open(path, "rb") as file:
        return file.read()


def certified(box):
    """A tournament with a manifest, and a folder of certificates; returns the key of the PC."""
    box.dealbox("square", "new", "club", "--title", "Club evening", "--info", "Lottery of 1 May",
                "--phase", "1:1-4:rr#:Round #").expect(0)
    box.dealbox("certificate", "new-key", "organiser").expect(0)
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "--copies", "1").expect(0)
    box.dealbox("square", "value", "club", "7").expect(0)
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "1").expect(0)
    return box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0).out.split()[-1]


def deal(box, machine, boards, folder="pc"):
    box.deal("-m", machine.uri, "-b", boards, "--yes", "--certify", folder, "rr1.pbn").expect(0, "exact duplicates")


def head(box, name, folder="pc"):
    """Publish a head; return it as it is read aloud."""
    result = box.dealbox("log", "head", folder, "-o", name).expect(0, "to be read aloud")
    return re.search("read aloud: (.*)", result.err)[1]


@test
def a_head_is_short(box):
    certified(box)
    box.dealbox("log", "head", "pc").expect(2, "no certificate yet")
    deal(box, box.machine(), "1-2")
    spoken = head(box, "head")
    assert re.fullmatch("2( [0-9a-f]{4}){10}", spoken), spoken
    assert len(content("head")) < 271, content("head")    # a QR code of version 10
    assert box.dealbox("log", "head", "pc").expect(0).out.encode() == content("head")
    seen, = box.dealbox("log", "head", "pc", "--json").expect(0).json()
    assert (seen["certificates"], seen["spoken"], seen["note"].encode()) == (2, spoken, content("head"))
    box.dealbox("log", "check", "--spoken", spoken.upper().replace(" ", "-"), "pc/certificates").expect(
        0, "the first 2 of 2 certificates are those of this head")
    box.dealbox("log", "check", "--spoken", spoken[:-1] + "gx"[spoken[-1] == "g"], "head", "pc/certificates").expect(
        2, "--spoken needs")


@test
def a_head_is_read_by_a_phone(box):
    certified(box)
    deal(box, box.machine(), "1")
    head(box, "head")
    shown = box.dealbox("log", "head", "pc", "--qr-code").expect(0).out
    rows = [re.sub("\033\\[[0-9;]*m", "", line) for line in shown.splitlines()]
    size = len(rows[0])
    assert {len(row) for row in rows} == {size}
    pixels = bytearray()
    for row in rows:
        for dark in ({" ": 0, "▄": 0, "▀": 255, "█": 255}, {" ": 0, "▄": 255, "▀": 0, "█": 255}):
            line = b"".join(bytes([dark[half]]) * 4 for half in row)
            pixels += line * 4
    box.write("shown.pgm", b"P5 %d %d 255\n" % (4 * size, 8 * len(rows)) + pixels)
    read = subprocess.run(["zbarimg", "-q", "--raw", "-Sbinary", "shown.pgm"], capture_output=True, check=True).stdout
    assert read == content("head"), (read, content("head"))


@test
def one_board_is_proved_without_the_others(box):
    key = certified(box)
    deal(box, box.machine(), "1-4")
    head(box, "head")
    box.dealbox("log", "prove", "pc/certificates", "head", "rr1", "3", "-o", "proof").expect(0)
    box.dealbox("log", "check", "--pc", key, "proof").expect(
        0, "the certificate 3 of 4 is: session rr1 board 3 copy 1, exact")
    # anybody's key could have signed it
    box.dealbox("log", "check", "proof").expect(
        1, "--pc: WRONG: nobody has named the PC's key.*%s.*--pc KEY" % key, "the certificate 3 of 4 is")
    text = content("proof")
    assert text.startswith(b"c2sp.org/tlog-proof@v1\nextra ")
    for line in content("pc/certificates").split(b"\n"):
        if line.startswith((b"plan ", b"trace ")):
            assert line[6:] not in text
    # each line of it matters
    for n, line in enumerate(text.splitlines(keepends=True)):
        if line == b"\n":
            continue
        swapped = line[:-6] + (b"A" if line[-6:-5] != b"A" else b"B") + line[-5:]
        box.write("forged", text.replace(line, swapped, 1))
        assert box.dealbox("log", "check", "--pc", key, "forged").status in (1, 2), (n, line)
    box.dealbox("log", "check", "--pc", "0" * 64, "proof").expect(1, "not signed by the key of that PC")
    box.dealbox("log", "prove", "pc/certificates", "head", "rr1", "5").expect(1, "no certificate of rr1 board 5")
    box.dealbox("log", "prove", "pc/certificates", "head", "rr1", "3", "2").expect(1, "no certificate of rr1 board 3")
    box.dealbox("log", "prove", "pc/certificates", "head", "rr1").expect(2, "number of the board")
    box.dealbox("log", "prove", "pc/certificates", "head").expect(2, "either")


def cosigned(box, folder, *args, out="confirmed"):
    return box.dealbox("log", "witness", folder, *args, "-o", out)


@test
def a_chain_that_is_cut_shows(box):
    key = certified(box)
    machine = box.machine()
    deal(box, machine, "1-2")
    early = content("pc/certificates")
    head(box, "head2")
    deal(box, machine, "3-4")
    spoken = head(box, "head4")
    box.dealbox("log", "check", "--pc", key, "pc/certificates", "head2", "head4").expect(
        0, "head2: the first 2 of 4", "head4: the first 4 of 4")
    box.write("cut", early)
    box.dealbox("log", "check", "--pc", key, "cut", "head2", "head4").expect(
        1, "head2: the first 2 of 2", "head4: WRONG: this head has 4 certificates, and only 2 were given: the end is missing")
    box.dealbox("log", "check", "--pc", key, "--spoken", spoken, "cut").expect(1, "the end is missing")
    # the opening is a leaf too
    box.dealbox("certificate", "open", "pc").expect(0)
    verify = ("certificate", "verify", "--head", "head2", "--head", "head4", "club.manifest")
    found = r"^\[head\]"
    assert not re.search(found, box.dealbox(*verify, "pc/certificates", "rr1.pbn").out, re.M)
    box.dealbox(*verify, "cut", "rr1.pbn").expect(1, r"\[head\] head4: this head has more certificates than were given")
    box.write("rewritten", content("head4").replace(b"\n4\n", b"\n3\n"))
    box.dealbox(*verify, "--head", "rewritten", "pc/certificates", "rr1.pbn").expect(
        1, r"\[head\] rewritten: this head is not signed by the key of its PC")
    box.dealbox(*verify, "--head", "rr1.pbn", "pc/certificates", "rr1.pbn").expect(2, "REFUSED: rr1.pbn")
    box.dealbox("certificate", "begin", "new", "club.manifest").expect(0)
    deal(box, machine, "1", "new")
    head(box, "elsewhere", "new")
    box.dealbox(*verify, "--head", "elsewhere", "pc/certificates", "rr1.pbn").expect(
        1, r"\[head\] elsewhere: the certificates that this head is about, dealbox/.*, were not given")
    box.dealbox("log", "check", "pc/certificates", "head4").expect(1, "nobody has named", "the first 4 of 5")


@test
def a_head_of_nothing_is_none(box):
    key = certified(box)
    deal(box, box.machine(), "1")
    with open("club.manifest", encoding="utf-8") as file:
        chain = writer.Chain(file.read(), None)
    root = writer.sha256(b"\0" + content("pc/certificates"))
    for name, size, tree in (("none", 0, bytes(32)), ("empty", 0, writer.sha256("")), ("one", 1, root)):
        box.write(name, writer.head(chain, writer.Key.of_file("pc/key"), size, tree))
    box.write("since", "old 0\n\n" + writer.head(chain, writer.Key.of_file("pc/key"), 1, root))
    box.dealbox("log", "check", "--pc", key, "one", "pc/certificates").expect(0, "the first 1 of 1")
    for name in ("none", "empty"):
        box.dealbox("log", "check", "--pc", key, name).expect(2, "this is no head")
        box.dealbox("log", "check", "--pc", key, name, "one").expect(2, "this is no head")
        box.dealbox("log", "check", "--pc", key, name, "since").expect(2, "this is no head")
        box.dealbox("log", "prove", "--since", name, "pc/certificates", "one").expect(2, "this is no head")
        box.dealbox("certificate", "verify", "--head", name, "club.manifest", "pc/certificates", "rr1.pbn").expect(
            2, "REFUSED")
    # nor is there anything to be continued
    box.dealbox("log", "check", "--pc", key, "since", "one").expect(2, "from the head with 0 certificates on")


@test
def a_past_that_was_written_again_shows(box):
    """The folder and the ledger are put back as they were, and other boards are dealt."""
    key = certified(box)
    machine = box.machine()
    deal(box, machine, "1")
    lisa = box.dealbox("log", "new-witness", "lisa", "club.example/lisa").expect(0).out.split()[-1]
    head(box, "head1")
    cosigned(box, "lisa", "head1").expect(2, "--pc KEY")
    cosigned(box, "lisa", "--pc", "0" * 64, "head1").expect(2, "the log of another PC")
    cosigned(box, "lisa", "--pc", key, "head1", out="head1.lisa").expect(0)
    box.dealbox("log", "check", "--witness", lisa, "--pc", key, "head1.lisa").expect(
        0, "confirmed by the witness club.example/lisa, 20..-..-.. ..:..:.. UTC")
    box.dealbox("log", "check", "--witness", lisa, "--pc", key, "head1").expect(1, "lisa has not confirmed this head")
    shutil.copytree("pc", "pc.old")
    shutil.copytree("state", "state.old")
    deal(box, machine, "2-3")
    spoken = head(box, "head3")
    box.dealbox("log", "prove", "--since", "head1.lisa", "pc/certificates", "head3", "-o", "proof").expect(0)
    cosigned(box, "lisa", "head3").expect(1, "NOT CONFIRMED: there is no proof", "--since")
    cosigned(box, "lisa", "proof", out="head3.lisa").expect(0)
    box.dealbox("log", "check", "--witness", lisa, "--pc", key, "head1", "proof").expect(1, "has not confirmed")
    box.dealbox("log", "check", "--pc", key, "head1", "proof").expect(
        0, "the head with 3 certificates continues head1, which has 1")
    box.dealbox("log", "check", "--pc", key, "proof").expect(2, "from the head with 1 certificates on")

    shutil.rmtree("pc")
    shutil.rmtree("state")
    os.rename("pc.old", "pc")
    os.rename("state.old", "state")
    shutil.copytree("pc", "back")
    deal(box, machine, "4")
    deal(box, machine, "2-3")
    head(box, "forged")
    # by the certificates, by a witness, by the heads alone, by what was read aloud
    box.dealbox("log", "check", "--pc", key, "pc/certificates", "head1", "head3.lisa").expect(
        1, "head1: the first 1 of 4", "head3.lisa: WRONG: .*the past was rewritten")
    box.dealbox("log", "check", "--spoken", spoken, "pc/certificates").expect(1, "the past was rewritten")
    box.dealbox("certificate", "verify", "--head", "head3", "club.manifest", "pc/certificates", "rr1.pbn").expect(
        1, r"\[head\] head3: the certificates do not continue this head: the past was written again")
    box.dealbox("log", "prove", "--since", "head1", "pc/certificates", "forged", "-o", "forged.proof").expect(0)
    box.dealbox("log", "prove", "--since", "head3", "pc/certificates", "forged").expect(1, "do not continue this head")
    before = sorted((name, content("lisa/" + name)) for name in os.listdir("lisa"))
    cosigned(box, "lisa", "forged.proof").expect(1, "NOT CONFIRMED: the proof is from 1 certificates on, and .* seen 3")
    cosigned(box, "lisa", "head1").expect(1, "NOT CONFIRMED: this head has 1 certificates, and this witness has seen 3")
    shutil.rmtree("back/../pc")
    os.rename("back", "pc")
    deal(box, machine, "4,2")
    head(box, "fork")
    assert len(content("fork").split(b"\n")) and content("fork").split(b"\n")[1] == b"3"
    cosigned(box, "lisa", "fork").expect(1, "NOT CONFIRMED: this witness has seen another head with 3 certificates")
    box.dealbox("log", "check", "--pc", key, "head3", "fork").expect(1, "that PC has shown two pasts")
    assert before == sorted((name, content("lisa/" + name)) for name in os.listdir("lisa"))
    # a proof that skips what was seen: from the true size, with the hashes of another log
    box.write("wrong", content("forged.proof").replace(b"old 1\n", b"old 3\n"))
    cosigned(box, "lisa", "wrong").expect(1, "NOT CONFIRMED: this head does not continue the one with 3")
    assert not os.path.exists("confirmed")


@test
def any_number_of_witnesses(box):
    key = certified(box)
    machine = box.machine()
    deal(box, machine, "1")
    head(box, "head")
    keys = []
    for name in ("lisa", "federation", "phone"):
        keys += ["--witness", box.dealbox("log", "new-witness", name, name).expect(0).out.split()[-1]]
        cosigned(box, name, "--pc", key, "head", out="head").expect(0)
    result = box.dealbox("log", "check", "--pc", key, *keys, "head").expect(0)
    assert result.out.count("confirmed by") == 3, result
    # one more time by the same: still one line of each
    cosigned(box, "lisa", "head", out="head").expect(0)
    assert content("head").count("\u2014 lisa ".encode()) == 1
    box.dealbox("log", "check", "--pc", key, *keys, "head").expect(0)
    box.dealbox("log", "new-witness", "two", "two words").expect(2, "no spaces")
    box.dealbox("log", "new-witness", "lisa", "lisa").expect(2, "File exists")
    box.dealbox("log", "check", "--witness", "lisa", "head").expect(2, "no public key of a witness")
    box.write("lisa/key", "x")
    cosigned(box, "lisa", "head").expect(2, "no signing key")


@test
def a_damaged_memory_confirms_nothing(box):
    key = certified(box)
    machine = box.machine()
    deal(box, machine, "1")
    head(box, "head")
    box.dealbox("log", "new-witness", "lisa", "lisa").expect(0)
    cosigned(box, "lisa", "--pc", key, "head").expect(0)
    memory, = (name for name in os.listdir("lisa") if "-" in name)
    for damaged in (b"", content("lisa/" + memory)[:-20], content("lisa/" + memory).replace(b"pc ", b"PC ")):
        box.write("lisa/" + memory, damaged)
        cosigned(box, "lisa", "--pc", key, "head").expect(2, "it is damaged")
    assert deals("rr1.pbn")


main()
