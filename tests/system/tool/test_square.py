#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Deals that anyone can check: generated, numbered, committed to, certified, audited, sealed."""

import ctypes
import ctypes.util
import errno
import hashlib
import os
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../certificate"))

import writer   # pylint: disable=wrong-import-position
from tool import DEALBOX, SOURCE, assert_exact, deals, main, test

DATA = os.path.join(SOURCE, "tests/unit/data/squaredeal")
NEW = ("--title", "Club evening", "--info", "Lottery of 1 May", "--phase", "2:1-2,3-4:rr#:Round #",
       "--phase", "1:5:f:Final")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def dealt(machine):
    return [board for board in machine.account() if board["end"] == "done"]


def numbers(hand):
    return sorted(13 * suit + "AKQJT98765432".index(rank)
                  for suit, ranks in enumerate(hand.split(".")) for rank in ranks)


def example(box):
    for name in ("example.sqd", "example.sqk"):
        shutil.copyfile(os.path.join(DATA, name), name)
    os.chmod("example.sqk", 0o600)


@test
def a_generated_set_is_whole_and_unplayed(box):
    box.dealbox("generate", "-b", "1-16,21", "a.pbn").expect(0, "17 boards")
    assert sorted(deals("a.pbn")) == list(range(1, 17)) + [21]
    for hands in deals("a.pbn").values():
        assert sorted(sum(hands, [])) == list(range(52)) and {len(hand) for hand in hands} == {13}
    assert mode("a.pbn") == 0o600
    box.dealbox("generate", "b.pbn").expect(0, "36 boards")
    assert deals("a.pbn")[1] != deals("b.pbn")[1]
    before = content("a.pbn")
    box.dealbox("generate", "a.pbn").expect(2, "there is such a file already")
    assert content("a.pbn") == before
    box.dealbox("audit", "a.pbn").expect(2, "marked as not yet played", "breaks Law 6")
    box.dealbox("played", "a.pbn").expect(0)
    assert content("a.pbn") == before.replace(b" unplayed", b"")
    box.dealbox("audit", "a.pbn").expect(0, "17 deals in 1 sets: 0 findings")


@test
def the_deals_do_not_depend_on_the_processors(box):
    box.write("seed", "0123456789" * 4 + "\n")
    os.chmod("seed", 0o600)
    big_deal = ("--bigdeal", "club", "--seed", "seed")
    allowed = os.sched_getaffinity(0)
    box.dealbox("generate", *big_deal, "-n", "5000", "all.pbn").expect(0, "5000 boards")
    os.sched_setaffinity(0, {min(allowed)})
    box.dealbox("generate", *big_deal, "-b", "1-5000", "one.pbn").expect(0, "5000 boards")
    os.sched_setaffinity(0, allowed)
    assert content("all.pbn") == content("one.pbn")
    box.dealbox("generate", "-n", "3000", "random.csv").expect(0, "3000 boards")
    box.dealbox("check", "random.csv").expect(0, "complete deals: 3000, problems: 0")
    box.dealbox("generate", "-n", "3", "-b", "1", "a.pbn").expect(2, "not both")
    box.dealbox("generate", "-n", "1000001", "a.pbn").expect(2, "--number")


def is_writing(process, folder):
    fds = f"/proc/{process.pid}/fd"
    try:
        return any(os.readlink(os.path.join(fds, fd)).startswith(folder + "/") for fd in os.listdir(fds))
    except OSError:
        return False


@test
def a_set_that_is_given_up_leaves_no_file(box):
    running = box.begin("generate", "-n", "500000", "given-up.pbn")
    while running.process.poll() is None and not is_writing(running.process, os.getcwd()):
        pass
    result = running.stop()
    # or it was done before the signal came: then all of it is there
    if result.status:
        assert result.status == -signal.SIGINT, result
        assert not os.path.exists("given-up.pbn") and os.listdir(".") == []
    else:
        assert content("given-up.pbn").count(b"[Deal ") == 500000


@test
def cards_that_are_fixed_make_a_set_restricted(box):
    box.write("fixed", "N:AKQJ.AKQ.AKQ.AKQ - - -\n")
    box.dealbox("generate", "--fixed", "fixed", "-b", "1-4", "a.pbn").expect(0, "restricted")
    for hands in deals("a.pbn").values():
        assert hands[0] == [0, 1, 2, 3, 13, 14, 15, 26, 27, 28, 39, 40, 41]
    machine = box.machine()
    box.dealbox("deal", "-m", machine.uri, "a.pbn").expect(2, "not wholly random", "--practice")
    assert dealt(machine) == []
    box.deal("-m", machine.uri, "--practice", "-b", "1", "a.pbn").expect(0, "exact")
    # other formats could not say that
    box.dealbox("generate", "--fixed", "fixed", "a.dup").expect(2, "only PBN")
    assert not os.path.exists("a.dup")
    box.write("fixed", "N:AKQJ.AKQ.AKQ.AKQ A... - -\n")
    box.dealbox("generate", "--fixed", "fixed", "c.pbn").expect(2, "no deal has these cards")


@test
def preferans_has_three_hands_and_a_talon(box):
    box.dealbox("generate", "-p", "preferans", "-b", "1-9", "a.txt").expect(0, "9 boards")
    assert mode("a.txt") == 0o600
    for number, line in enumerate(open("a.txt"), 1):
        board, *hands = line.split()
        assert int(board) == number and [len(numbers(hand)) for hand in hands] == [10, 10, 10, 2]
        assert sorted(sum((numbers(hand) for hand in hands), [])) == [
            13 * suit + rank for suit in range(4) for rank in range(8)]
    before = content("a.txt")
    box.dealbox("generate", "-p", "preferans", "a.txt").expect(2, "there is such a file already")
    assert content("a.txt") == before


@test
def the_deals_of_big_deal_from_its_log(box):
    box.write("seed", "0123456789ABCDEF0123456789ABCDEF01234567\n")
    box.dealbox("generate", "--bigdeal", "bench", "--seed", "seed", "-b", "1-3", "a.pbn").expect(
        2, "others than its owner may read it", "chmod 600")
    os.chmod("seed", 0o600)
    box.dealbox("generate", "--bigdeal", "bench", "--seed", "seed", "-b", "1-3", "a.pbn").expect(0)
    box.dealbox("number", "--reveal", "a.pbn").expect(
        0, "^1 29029292115066478884550230894 ", "\n2 48037836354531447855498205538 ",
        "\n3 31812352928991708751046131778 ")


@test
def numbers_tell_cards_only_to_who_asks(box):
    box.dealbox("number", "0").expect(2, "--reveal")
    box.dealbox("number", "--reveal", "0").expect(0, r"0 N:AKQJT98765432\.\.\. ")
    box.dealbox("number", "--reveal", "-n", "andrews", "0").expect(2, "are 1 to 536447377654887")
    box.dealbox("number", "--reveal", "-n", "pavlicek", "17141372350497199495278312308").expect(
        0, r"N:Q8\.4\.AQT3\.AQT963 ")


@test
def numbers_need_not_be_arguments(box):
    """All users of a computer see the arguments of a program."""
    def piped(text, *args):
        return box.begin("number", *args, "-", stdin=subprocess.PIPE).finish(text)

    piped("0\n").expect(2, "--reveal")
    given = box.dealbox("number", "--reveal", "0", "29029292115066478884550230894").expect(0)
    assert piped("0\r\n29029292115066478884550230894\n", "--reveal").expect(0).out == given.out
    piped(" \n", "--reveal").expect(2, "there is no number on standard input")
    refused = piped("0\nx\n1\n", "--reveal").expect(2, "'x' is not the number of a deal")
    assert len(refused.out.splitlines()) == 1, refused


@test
def published_deals_are_those_of_the_keys(box):
    example(box)
    box.dealbox("square", "deal", "example").expect(0, "rr1.pbn", "qf3.pbn: Quarter final, set 3, boards 1-8")
    want = [line.split() for line in open(os.path.join(DATA, "example-deals.txt")) if line[0] != "#"]
    names = {"1": "rr", "2": "qf", "3": "f"}
    for phase, session, board, which, *hands in want:
        name = names[phase] + (session if phase != "3" else "")
        if which == "original":
            assert deals(name + ".pbn")[int(board)] == [numbers(hand) for hand in hands]
    files = ["rr1.pbn", "rr2.pbn", "qf1.pbn", "qf2.pbn", "qf3.pbn", "f.pbn"]
    box.dealbox("square", "verify", "example", *files).expect(
        0, "the keys match the published hash", "72 boards are as committed, 0 are not")
    # the reserve set is another one, and says so
    box.dealbox("square", "deal", "example", "-P", "3", "--reserve").expect(0, "freserve.pbn")
    box.dealbox("square", "verify", "example", "freserve.pbn").expect(0, "this is the reserve set",
                                                                      "16 boards are as committed")
    os.rename("freserve.pbn", "f.pbn")
    box.dealbox("square", "verify", "example", "f.pbn", "rr1.pbn").expect(
        1, "f.pbn board 17: the cards are not those", "16 boards are as committed, 16 are not")
    result = box.dealbox("square", "verify", "-j", "example", "f.pbn").expect(1)
    assert [line["board"] for line in result.json()] == list(range(17, 33))


@test
def one_board_that_was_changed_is_named(box):
    example(box)
    box.dealbox("square", "deal", "example", "-P", "1", "-s", "2").expect(0)
    text = open("rr2.pbn", newline="").read()
    lines = text.split("\r\n")
    at = [n for n, line in enumerate(lines) if line.startswith("[Deal ")]
    lines[at[6]], lines[at[10]] = lines[at[10]], lines[at[6]]
    box.write("rr2.pbn", "\r\n".join(lines))
    box.dealbox("square", "verify", "example", "rr2.pbn").expect(
        1, "rr2.pbn board 7: the cards", "rr2.pbn board 11: the cards", "14 boards are as committed, 2 are")


@test
def what_can_be_wrong_with_the_two_files(box):
    example(box)
    keys = content("example.sqk")
    os.chmod("example.sqk", 0o640)
    box.dealbox("square", "deal", "example").expect(2, "others than its owner may read it")
    os.chmod("example.sqk", 0o600)
    box.write("example.sqk", keys.replace(b"\r\n", b"\n"))
    box.dealbox("square", "deal", "example", "-P", "3").expect(0, "line ends or spaces were changed", "by mail")
    box.write("example.sqk", keys.replace(b"3Sfa", b"3Sfb"))
    box.dealbox("square", "verify", "example", "f.pbn").expect(2, "the keys have the hash", "promises 1804")
    box.write("example.sqk", keys)
    text = content("example.sqd")
    box.write("example.sqd", text.replace(b"DV 44123.5\n", b""))
    box.dealbox("square", "deal", "example", "-P", "1").expect(
        2, "the delayed value is missing \\(Closing value", "dealbox square value")
    assert not os.path.exists("rr1.pbn")
    box.dealbox("square", "value", "example", "44123.5").expect(0, "'441235'", "are removed")
    box.dealbox("square", "value", "example", "44124").expect(2, "already set, to '441235'")
    box.write("example.sqd", text.replace(b"qf#", b"../qf#"))
    box.dealbox("square", "deal", "example").expect(2, "example.sqd:6: '../qf#' cannot be a file prefix")
    os.unlink("example.sqk")
    box.write("example.sqd", text)
    box.dealbox("square", "deal", "example").expect(2, "example.sqk: No such file")


@test
def a_new_tournament(box):
    box.dealbox("square", "new", "club", *NEW).expect(0, "club.sqd: publish", "club.sqk: keep it secret")
    assert mode("club.sqk") == 0o600
    keys = content("club.sqk")
    assert re.fullmatch(rb"1,1:\w{60}\r\n1,2:\w{60}\r\n2,1:\w{60}\r\n", keys)
    assert ("KH " + hashlib.sha256(keys).hexdigest()).encode() in content("club.sqd")
    box.dealbox("square", "new", "club", *NEW).expect(2, "there is such a file already")
    assert content("club.sqk") == keys
    box.dealbox("square", "deal", "club").expect(2, "the delayed value is missing")
    box.dealbox("square", "value", "club", "7 11 23").expect(0)
    box.dealbox("square", "deal", "club", "-d", ".").expect(0, "rr1.pbn", "rr2.pbn", "f.pbn")
    box.dealbox("square", "verify", "club", "rr1.pbn", "rr2.pbn", "f.pbn").expect(0, "9 boards are as")
    box.dealbox("square", "new", "other").expect(2, "--title")
    box.dealbox("square", "new", "other", *NEW[:4], "--phase", "2:x:a#:b").expect(2, "no range of boards")
    assert sorted(name for name in os.listdir(".") if "other" in name) == []


@test
def a_phase_without_end(box):
    box.dealbox("square", "new", "swiss", *NEW[:4], "--phase", "0:?:sw##:Session #").expect(0)
    box.dealbox("square", "value", "swiss", "1").expect(0)
    box.dealbox("square", "deal", "swiss").expect(2, "--session")
    box.dealbox("square", "deal", "swiss", "-P", "1", "-s", "3").expect(2, "left open", "say which boards")
    box.dealbox("square", "deal", "swiss", "-P", "1", "-s", "3-4", "-b", "3x7").expect(
        0, "sw03.pbn: Session 3, boards 15-21", "sw04.pbn: Session 4, boards 1-7")
    box.dealbox("square", "verify", "swiss", "-b", "3x7", "sw03.pbn", "sw04.pbn").expect(0, "14 boards are as")


def limited(signals):
    """No file may grow: the write of the keys fails, or kills the process where it stands."""
    def prepare():
        signal.signal(signal.SIGXFSZ, signals)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return prepare


@test
def keys_are_written_whole_or_not_at_all(box):
    box.dealbox("square", "new", "club", *NEW, preexec_fn=limited(signal.SIG_IGN)).expect(
        2, "club.sqk: File too large", "nothing was written")
    result = box.dealbox("square", "new", "club", *NEW, preexec_fn=limited(signal.SIG_DFL))
    assert result.status == -signal.SIGXFSZ, result
    assert [name for name in os.listdir(".") if name.startswith("club")] == []
    box.dealbox("square", "new", "club", *NEW).expect(0)


def without_entropy():
    """getrandom(2) fails, as in a kernel or a container that does not have it."""
    number = {("x86_64", 8): 318, ("x86_64", 4): 355, ("i686", 4): 355, ("aarch64", 8): 278}[
        os.uname().machine, struct.calcsize("P")]
    load, if_equal, answer = 0x20, 0x15, 0x06       # BPF: word, jump, return
    allow, refuse = 0x7fff0000, 0x00050000 | errno.ENOSYS
    code = b"".join(struct.pack("HBBI", *line) for line in (
        (load, 0, 0, 0), (if_equal, 0, 1, number), (answer, 0, 0, refuse), (answer, 0, 0, allow)))
    program = ctypes.create_string_buffer(code)
    filters = struct.pack("HP", len(code) // 8, ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0          # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, filters, 0, 0) == 0    # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


@test
def nothing_is_dealt_without_entropy(box):
    for command in (("generate", "a.pbn"), ("square", "new", "club", *NEW),
                    ("seal", "--new-key", "director"), ("certificate", "new-key", "organiser")):
        box.dealbox(*command, preexec_fn=without_entropy).expect(
            2, "the kernel gives no random bits: Function not implemented", "until that is repaired")
    assert [name for name in os.listdir(".") if name != "state"] == []


@test
def interrupted_between_the_two_files(box):
    """The keys are there, the description is not: the next call takes them up."""
    box.dealbox("square", "new", "club", *NEW).expect(0)
    keys, text = content("club.sqk"), content("club.sqd")
    os.unlink("club.sqd")
    box.dealbox("square", "new", "club", *NEW).expect(0, "continued")
    assert content("club.sqk") == keys and content("club.sqd") == text
    # those of another tournament are not
    os.unlink("club.sqd")
    box.dealbox("square", "new", "club", *NEW, "--phase", "3:8:x#:More #").expect(
        2, "not for this tournament", "move it away")
    assert content("club.sqk") == keys and not os.path.exists("club.sqd")
    # a draft of the original program is published the same way
    os.unlink("club.sqk")
    box.write("club.sqd", re.sub(rb"KH .*\n", b"", text))
    box.dealbox("square", "publish", "club").expect(0)
    assert b"\nKH " in content("club.sqd")
    box.dealbox("square", "publish", "club").expect(2, "published and must not change|not for this tournament")


def certified(box):
    """A tournament with a manifest, and a session of two boards dealt under it."""
    box.dealbox("square", "new", "club", *NEW[:-2]).expect(0)
    key = box.dealbox("certificate", "new-key", "organiser").expect(0).out.split()[-1]
    assert mode("organiser") == 0o600
    # first the key of the PC, then the promise that names it
    pc = box.dealbox("certificate", "begin", "pc").expect(0, "give the public key of this PC").out.split()[-1]
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "--pc", pc).expect(2, "--copies")
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "--copies", "2", "--pc", pc).expect(
        0, "club.manifest", "enrols no machine")
    box.dealbox("square", "value", "club", "7").expect(0)
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "1").expect(0)
    machine = box.machine(scenario="deal 1 position 9: double-feed")
    box.dealbox("deal", "-m", machine.uri, "--certify", "pc", "rr1.pbn").expect(2, "no manifest in the folder yet")
    box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0, "deal with --certify pc")
    box.dealbox("certificate", "begin", "other", "club.manifest").expect(2, "names other PCs than this one")
    assert not os.path.exists("other")
    box.deal("-m", machine.uri, "-c", "2", "--certify", "pc", "--record", "traces", "rr1.pbn").expect(
        0, "4 of 4 boards are exact duplicates; 1 void")
    return key, machine


@test
def a_certificate_is_taken_back(box):
    """The machine stops when the board was certified as exact, and is dealt again."""
    box.dealbox("square", "new", "club", *NEW).expect(0)
    box.dealbox("certificate", "new-key", "organiser").expect(0)
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "--copies", "2").expect(0, "names no PC")
    box.dealbox("square", "value", "club", "7").expect(0)
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "1").expect(0)
    pc = box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0).out.split()[-1]
    machine = box.machine("--manual", "--packs", "3")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1", "--copies", "2", "--certify", "pc", "--record",
                        "traces", "rr1.pbn")
    running.put_in(machine)
    running.see("board 1, copy 1: exact")
    running.see("Take it out.")
    machine.tell("break 5")
    running.see("board 1, copy 1: void: hardware fault behind its end")
    machine.tell("remove")
    machine.tell("wait state IDLE")
    machine.tell("empty")
    machine.tell("insert")
    running.empty(machine)
    running.see("board 1, copy 1: exact")
    running.see("Take it out.")
    machine.tell("remove")
    running.put_in(machine)
    running.finish().expect(0, "board 1, copy 2: exact", "2 of 2 boards are exact duplicates; 1 void")
    assert re.findall(r"^(?:verdict|insertion) (.*)$", content("pc/certificates").decode(), re.M) == [
        "exact", "1", "void", "1", "exact", "2", "exact", "3"]
    as_of_a_machine("pc")
    box.dealbox("certificate", "open", "pc").expect(0)
    for traces in ((), ("--traces", "traces")):
        result = box.dealbox("certificate", "verify", "--pc", pc, *traces, "club.manifest", "pc/certificates", "rr1.pbn").expect(
            1, r"\[missing\] rr1 board 2 copy 1", r"insertion 1\): void: this board was not given out as dealt",
            r"copy 1 \(machine \S+, insertion 2\): the deal that was committed to",
            r"copy 2 \(machine \S+, insertion 3\): the deal that was committed to")
        assert not re.search(r"insertion 1\): the deal|NOT PROVEN|\[(trace|gap|deal\])", result.out), result.out


def signed_again(folder, change):
    """Certificates of a folder, changed and signed again by whoever has its key."""
    key = writer.Key.of_file(folder + "/key")
    texts = re.findall(r"dealbox (?:certificate|opening) .*?\nsignature .*?\n", content(folder + "/certificates").decode(),
                       re.S)
    hashed = writer.sha256(content(folder + "/manifest"))
    for n, text in enumerate(texts):
        body = change(n, text[:text.index("\nsigner ") + 1])
        body = re.sub(r"\nprevious .*\n", "\nprevious %s\n" % hashed.hex(), body)
        texts[n] = writer.sign_text(body, key)
        hashed = writer.sha256(texts[n])
    with open(folder + "/certificates", "w", encoding="utf-8") as file:
        file.write("".join(texts))


def as_of_a_machine(folder):
    """What the PC would have written if no emulator had dealt."""
    signed_again(folder, lambda n, body: body.replace("\nby emulator\n", "\nby machine\n"))


@test
def a_rehearsal_is_on_record(box):
    """Dealt with an emulator that signs nothing, and certified later: tests/system/daemon does so without it."""
    box.dealbox("square", "new", "club", "--title", "Club evening", "--info", "Lottery of 1 May",
                "--phase", "1:1-2:rr#:Round #").expect(0)
    key = box.dealbox("certificate", "new-key", "organiser").expect(0).out.split()[-1]
    pc = box.dealbox("certificate", "begin", "pc").expect(0).out.split()[-1]
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "--copies", "1", "--pc", pc).expect(0)
    box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0)
    box.dealbox("square", "value", "club", "7").expect(0)
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "1").expect(0)
    machine = box.machine("--capabilities", "by-card,exit-sensors,board-lock")
    box.deal("-m", machine.uri, "rr1.pbn").expect(0, "2 of 2")
    insertions = [record["number"] for record in box.records("insertion")]
    assert [record["of"] for record in box.records("emulation")] == insertions and len(insertions) == 2
    box.deal("-m", machine.uri, "--resume", "--certify", "pc", "rr1.pbn").expect(0)
    text = content("pc/certificates").decode()
    assert text.count("\nby emulator\n") == 2 and text.count("\nstatement -\n") == 2, text
    box.dealbox("certificate", "open", "pc").expect(0)
    box.dealbox("certificate", "verify", "--signer", key, "club.manifest", "pc/certificates", "club.sqd").expect(
        1, "^REHEARSAL: a program played the machine", r"\[rehearsal\] rr1 board 1 copy 1")


@test
def certificates_prove_what_lies_in_the_boards(box):
    key, machine = certified(box)
    file = "pc/certificates"
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "2").expect(0)
    box.deal("-m", machine.uri, "-c", "2", "--certify", "pc", "--record", "traces2", "rr2.pbn").expect(0, "4 of 4")
    verify = ("certificate", "verify", "--signer", key, "club.manifest", file)
    box.dealbox(*verify, "rr1.pbn", "rr2.pbn").expect(1, "REHEARSAL|NOTHING IS PROVEN", r"\[not-open\]")
    # before it is opened nothing in it depends on the cards but the digests
    text = content(file).decode()
    assert text.count("dealbox certificate 2\n") >= 8
    shutil.copytree("pc", "rehearsal")
    box.dealbox("certificate", "open", "rehearsal").expect(0)
    result = box.dealbox("certificate", "verify", "--signer", key, "club.manifest", "rehearsal/certificates", "club.sqd")
    result.expect(1, "^REHEARSAL: a program played the machine", r"\[rehearsal\] rr1 board 1 copy 1")
    as_of_a_machine("pc")
    box.dealbox("certificate", "open", "pc").expect(0)
    box.dealbox("certificate", "open", "pc").expect(2, "published already")
    for proof in (("rr1.pbn", "rr2.pbn"), ("club.sqd",)):
        box.dealbox(*verify, *proof).expect(
            0, "^PROVEN: all 8 boards that were promised, all copies counted, .* by the PC's word only",
            r"rr1 board 1 copy 1 \(machine .*insertion \d+\): the deal that was committed to \(PC's word only; ")
    assert_exact(dealt(machine)[-1], 4, "rr2.pbn")
    # nobody has named the organiser; only one session has deals; a session has no certificates
    box.dealbox("certificate", "verify", "club.manifest", file, "club.sqd").expect(1, r"\[signer-unnamed\]")
    box.dealbox(*verify, "rr1.pbn").expect(1, r"^NOT ALL IS PROVEN: 4 of 8", r"\[deals-missing\] rr2")
    # the deals that are published afterwards are others
    shutil.copyfile("rr1.pbn", "real.pbn")
    box.dealbox("generate", "-b", "1-2", "forged.pbn").expect(0)
    os.replace("forged.pbn", "rr1.pbn")
    box.dealbox(*verify, "rr1.pbn", "rr2.pbn").expect(
        1, r"\[deal\] rr1 board 1 copy 1: another deal was put into the pockets")
    # a manifest of somebody else, a changed description, a certificate left out
    box.dealbox("certificate", "verify", "--signer", "0" * 64, "club.manifest", file, "rr2.pbn").expect(
        1, r"\[signer\].* signed by another key")
    sqd = content("club.sqd")
    box.write("club.sqd", sqd.replace(b"1 May", b"2 May"))
    box.dealbox(*verify, "club.sqd").expect(2, "differ: delayed information", "^REFUSED: ")
    parts = text.split("dealbox certificate 2\n")
    box.write("cut", "dealbox certificate 2\n".join(parts[:2] + parts[3:]))
    box.dealbox("certificate", "verify", "club.manifest", "cut", "rr2.pbn").expect(2, "the chain is broken")


def opened_words(folder, session_deals):
    """What the machine signed, of each certificate of a folder that counts: opened, and compared with the deals."""
    with open(folder + "/opening", "rb") as file:
        opening = file.read()
    for text in re.findall(r"dealbox certificate .*?\nsignature .*?\n", content(folder + "/certificates").decode(), re.S):
        fields = dict(line.split(" ", 1) for line in text.splitlines()[1:])
        if fields["verdict"] != "exact" or fields["key"] == "-":
            continue
        lines = "".join("%s %s\n" % (word, fields[word])
                        for word in ("manifest", "session", "board", "copy", "machine", "insertion"))
        salt = writer.blake2b(opening, b"dealbox salt 1\n", lines.encode())
        statement = bytes.fromhex(fields["statement"])
        pad = writer.blake2b(salt, b"dealbox nonce 1\n", statement)
        nonce = bytes(a ^ b for a, b in zip(bytes.fromhex(fields["nonce"]), pad))
        deal = session_deals[int(fields["board"])]
        block = writer.plan_block(deal, fields["pockets"], int(fields["number"]), fields["cards"] == "read")
        digest = writer.blake2b(nonce, b"\1" + hashlib.blake2b(block, digest_size=32).digest())
        yield fields, statement, digest


@test
def the_machine_signs_what_is_certified(box):
    """Its word, opened by another program; in both dialects, stored or routed, and without a key."""
    attest = ("--capabilities", "attest,exit-sensors,by-card,by-position,keys")
    box.dealbox("square", "new", "club", *NEW[:-2]).expect(0)
    box.dealbox("certificate", "new-key", "organiser").expect(0)
    machines = [box.machine(*options, name="m%d" % n) for n, options in enumerate([
        attest, (*attest, "--dialect", "serial"), (*attest, "--kind", "routed"), ()])]
    enrolled = [box.dealbox("certificate", "machine", "-m", machine.uri).expect(0).out.strip() for machine in machines]
    assert [re.sub("^[0-9a-f]{64} ", "KEY ", line) for line in enrolled] == [
        "KEY emulator m0", "KEY emulator m1", "KEY emulator m2", "- emulator m3"], enrolled
    options = [option for line in enrolled for option in ("--enrol", line)]
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "-c", "4", *options).expect(0)
    box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0)
    box.dealbox("square", "value", "club", "7").expect(0)
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "1").expect(0)
    lie = {number: [next(seat for seat in range(4) if card in hands[seat]) for card in range(52)]
           for number, hands in deals("rr1.pbn").items()}
    for n, machine in enumerate(machines):
        box.deal("-m", machine.uri, "-c", "1", "--how", "replay", "--session", "s%d" % n, "--certify", "pc",
                 "--record", "traces%d" % n, "rr1.pbn").expect(0, "2 of 2 boards are exact")
    text = content("pc/certificates").decode()
    assert len(re.findall("^key [0-9a-f]{64}$", text, re.M)) == 6 and text.count("\nkey -\n") == 2, text
    counters = []
    for fields, statement, digest in opened_words("pc", lie):
        assert fields["key"] in " ".join(enrolled)
        counters.append(struct.unpack("<II", statement[16:24]))
        assert statement[32:64] == (bytes(32) if fields["machine"] == "m2" else digest), fields
    assert counters == [(1, 1), (2, 2)] * 3, counters
    # whatever it signs, an emulator's word is a rehearsal
    box.dealbox("certificate", "open", "pc").expect(0)
    box.dealbox("certificate", "verify", "club.manifest", "pc/certificates", "rr1.pbn").expect(
        1, "^REHEARSAL: ", r"\[rehearsal\] rr1 board 1 copy 1")


def as_of_a_machine_that_signs(folder, key):
    """What an enrolled machine with that key would have signed, if no emulator had dealt."""
    opening = content(folder + "/opening")

    def change(_n, body):
        body = body.replace("\nby emulator\n", "\nby machine\n")
        fields = dict(line.split(" ", 1) for line in body.splitlines()[1:])
        if fields["key"] == "-":
            return body
        lines = "".join("%s %s\n" % (word, fields[word])
                        for word in ("manifest", "session", "board", "copy", "machine", "insertion"))
        salt = writer.blake2b(opening, b"dealbox salt 1\n", lines.encode())
        old = bytes.fromhex(fields["statement"])
        new = old[:6] + bytes([old[6] & ~1, 0]) + hashlib.blake2b(key.public, digest_size=32).digest()[:8] + old[16:]
        # what it was sealed with depends on the statement
        pads = [writer.blake2b(salt, b"dealbox nonce 1\n", statement) for statement in (old, new)]
        nonce = bytes(a ^ b ^ c for a, b, c in zip(bytes.fromhex(fields["nonce"]), *pads))
        for word, value in (("key", key.public), ("statement", new), ("nonce", nonce),
                            ("attestation", key.sign(b"dealing machine attestation\n" + new))):
            body = re.sub("\n%s .*\n" % word, "\n%s %s\n" % (word, value.hex()), body)
        return body
    signed_again(folder, change)


@test
def the_machines_word_is_compared_with_traces(box):
    """Stored and routed, by card and by position: with the traces, every event counts."""
    key = writer.Key("machine")
    for n, (options, how, without) in enumerate([
            ((), "", "PROVEN: .* by the machine's own word"),
            (("--kind", "routed"), "", r"\[word-unclear\].* cannot compare: .*give the traces"),
            (("--reader", "none", "--deck", "sorted"), "by-position", "PROVEN: .*cards were counted")]):
        folder, club = "pc%d" % n, "club%d" % n
        box.write("sorted", " ".join(suit + rank for suit in "SHDC" for rank in writer.RANKS) + "\n")
        box.dealbox("square", "new", club, "--title", "T", "--info", "I", "--phase", "1:1:s%d:S" % n).expect(0)
        organiser = box.dealbox("certificate", "new-key", "organiser%d" % n).expect(0).out.split()[-1]
        pc = box.dealbox("certificate", "begin", folder).expect(0).out.split()[-1]
        box.dealbox("certificate", "manifest", club, "-k", "organiser%d" % n, "-c", "1", "--pc", pc,
                    "--enrol", "%s real signs%d" % (key.hex, n)).expect(0)
        box.dealbox("certificate", "begin", folder, club + ".manifest").expect(0)
        box.dealbox("square", "value", club, "7").expect(0)
        box.dealbox("square", "deal", club, "-P", "1").expect(0)
        capabilities = "attest,exit-sensors,by-position,keys" + ("" if how else ",by-card")
        machine = box.machine("--capabilities", capabilities, *options, name="signs%d" % n)
        box.deal("-m", machine.uri, *(("--how", how) if how else ()), "--certify", folder, "--record",
                 "traces%d" % n, "s%d.pbn" % n).expect(0, "1 of 1 boards")
        as_of_a_machine_that_signs(folder, key)
        box.dealbox("certificate", "open", folder).expect(0)
        verify = ("certificate", "verify", "--signer", organiser, club + ".manifest", folder + "/certificates",
                  club + ".sqd")
        box.dealbox(*verify).expect(1 if "unclear" in without else 0, without)
        box.dealbox(*verify, "--traces", "traces%d" % n).expect(0, "^PROVEN: .* by the machine's own word")
        # the PC says that the machine reported another event, and has committed to that
        traces = content("traces%d" % n)
        changed = re.sub(rb'("machine_time_us":)(\d+)', lambda m: m[1] + b"%d" % (int(m[2]) ^ 1), traces)
        assert changed != traces
        box.write("changed%d" % n, changed)
        box.dealbox(*verify, "--traces", "changed%d" % n).expect(1, r"\[trace-other\]")


@test
def traces_bear_out_the_verdicts(box):
    key, _ = certified(box)
    as_of_a_machine("pc")
    certificates = content("pc/certificates").decode()
    count = certificates.count("dealbox certificate 2\n")
    assert count == 5, count
    shutil.copytree("pc", "opened")
    box.dealbox("certificate", "open", "opened").expect(0)
    verify = ("certificate", "verify", "--signer", key, "-t", "traces", "club.manifest")
    opened = (*verify, "opened/certificates", "rr1.pbn")
    result = box.dealbox(*opened).expect(1, "4 of 8", r"\[session-missing\] rr2")
    assert "[trace" not in result.out, result.out
    # one trace is not there
    traces = content("traces")
    box.write("traces", traces[:traces.rindex(b'{"name":"trace"')])
    box.dealbox(*opened).expect(1, "3 of 8", r"\[trace-missing\] rr1 board 2 copy 2")
    # every time is another, by a microsecond
    box.write("traces", re.sub(rb'(?<="machine_time_us":)\d+', lambda time: b"%d" % (int(time[0]) ^ 1), traces))
    box.dealbox(*opened).expect(1, r"\[trace-other\] rr1 board 1 .*: the machine reported something else than this trace")
    box.write("traces", b"hello\n")
    box.dealbox(*opened).expect(2, "traces:1: this is not a line of a trace")
    # the operator calls a good board void, with the right key
    box.write("traces", traces)
    shutil.copytree("pc", "void")
    signed_again("void", lambda n, body: body.replace("verdict exact", "verdict void") if n == count - 1 else body)
    box.dealbox("certificate", "open", "void").expect(0)
    box.dealbox(*verify, "void/certificates", "rr1.pbn").expect(
        1, r"\[trace-void\].* called void, though its trace is exact, and not dealt again")
    # and a bad board exact
    shutil.copytree("pc", "exact")
    signed_again("exact", lambda n, body: body.replace("verdict void", "verdict exact"))
    box.dealbox("certificate", "open", "exact").expect(0)
    box.dealbox(*verify, "exact/certificates", "rr1.pbn").expect(
        1, r"\[trace-verdict\].* does not bear out the verdict", r"\[further\]")


@test
def a_board_without_certificate_is_missed(box):
    certified(box)
    as_of_a_machine("pc")
    machine = box.machine(name="second")
    # board 3 belongs to session 2
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "2").expect(0)
    box.deal("-m", machine.uri, "-c", "2", "--boards", "3", "--certify", "pc", "rr2.pbn").expect(0)
    as_of_a_machine("pc")
    box.dealbox("certificate", "open", "pc").expect(0)
    box.dealbox("certificate", "verify", "club.manifest", "pc/certificates", "rr1.pbn", "rr2.pbn").expect(
        1, r"\[missing\] rr2 board 4 copy 1: there is no certificate", "6 of 8 boards")


@test
def a_board_dealt_by_hand_is_said_to_be(box):
    key, _ = certified(box)
    as_of_a_machine("pc")
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "2").expect(0)
    for board, copies in ((3, 2), (4, 1)):
        for copy in range(1, copies + 1):
            box.dealbox("certificate", "hand", "pc", "rr2.pbn", str(board), str(copy)).expect(0, "only you say so")
    box.dealbox("certificate", "hand", "pc", "rr2.pbn", "5").expect(2, "there is no board 5")
    box.dealbox("certificate", "hand", "pc", "rr2.pbn", "x").expect(2, "BOARD")
    box.dealbox("certificate", "open", "pc").expect(0)
    result = box.dealbox("certificate", "verify", "--signer", key, "club.manifest", "pc/certificates", "club.sqd")
    result.expect(1, "^NOT ALL IS PROVEN: 4 of 8", r"\[hand\] rr2 board 3 copy 2: dealt by hand",
                  r"\[missing\] rr2 board 4 copy 2", r"rr2 board 4 copy 1 .*NOT PROVEN \(by hand\)")
    assert not re.search(r"\[(gap|insertion-twice|deal)\]", result.out), result.out


@test
def nothing_is_dealt_that_cannot_be_certified(box):
    certified(box)
    box.dealbox("certificate", "open", "pc").expect(0)
    machine = box.machine(name="second")
    box.deal("-m", machine.uri, "--certify", "pc", "--yes", "rr1.pbn").expect(
        2, "the opening is published", "could not be certified")
    box.dealbox("deal", "-m", machine.uri, "--certify", "pc", os.path.join(SOURCE, "docs/examples/club-evening.pbn")
                ).expect(2, "no session of the tournament has this name")


@test
def an_audit_finds_what_came_before(box):
    example(box)
    box.dealbox("square", "deal", "example", "-P", "1").expect(0)
    box.dealbox("played", "rr1.pbn", "rr2.pbn").expect(0)
    shutil.copyfile("rr1.pbn", "again.pbn")
    box.dealbox("audit", "rr1.pbn", "rr2.pbn", "again.pbn").expect(
        1, "FOUND again.pbn board 1 and the next 15: the deals are those from rr1.pbn board 1 on")
    result = box.dealbox("audit", "-j", "rr1.pbn", "again.pbn").expect(1)
    assert result.json()[0]["finding"] == "repeated-sequence"
    tests = [line for line in result.json() if "test" in line]
    assert {line["test"] for line in tests} >= {"card-seat", "shapes-north"}
    # 32 deals are too few for some
    assert {line["enough"] for line in tests} == {False, True} and \
        all(line["enough"] == ("p" in line) == ("statistic" in line) for line in tests), tests


@test
def a_sealed_set_is_dealt_and_never_open(box):
    box.dealbox("generate", "-b", "1-2", "monday.pbn").expect(0)
    shutil.copyfile("monday.pbn", "kept.pbn")
    box.dealbox("seal", "--new-key", "director").expect(0)
    assert mode("director") == 0o600
    box.dealbox("seal", "--for", "director.pub", "--delete", "monday.pbn").expect(0, "monday.pbn.sealed")
    assert not os.path.exists("monday.pbn") and mode("monday.pbn.sealed") == 0o600
    assert b"Deal" not in content("monday.pbn.sealed")
    machine = box.machine()
    box.dealbox("deal", "-m", machine.uri, "monday.pbn.sealed").expect(2, "sealed for a director's key")
    box.dealbox("deal", "-m", machine.uri, "-k", "director", "--record", "trace", "monday.pbn.sealed").expect(
        2, "a record tells its deals")
    os.rename("kept.pbn", os.path.join(os.path.dirname(box.folder), os.path.basename(box.folder) + ".kept"))
    kept = os.path.join(os.path.dirname(box.folder), os.path.basename(box.folder) + ".kept")
    try:
        box.deal("-m", machine.uri, "-k", "director", "monday.pbn.sealed").expect(
            0, "2 of 2 boards are exact duplicates")
        assert_exact(dealt(machine)[-1], 2, kept)
        # no file of the deal has a hand in it, as text; the machine's own account aside
        hand = re.search(rb'Deal "\w:(\S+)', content(kept))[1]
        for folder, _, names in os.walk(box.folder):
            for name in names:
                path = os.path.join(folder, name)
                if stat.S_ISREG(os.stat(path).st_mode) and "machine" not in name:
                    assert hand not in content(path), path
        box.dealbox("unseal", "-k", "director", "-o", "open.pbn", "monday.pbn.sealed").expect(0, "readable here")
        assert content("open.pbn") == content(kept)
    finally:
        os.unlink(kept)


@test
def a_name_in_a_sealed_file_does_nothing_to_a_terminal(box):
    box.dealbox("generate", "-b", "1-2", "a\33[2J.pbn").expect(0)
    box.dealbox("seal", "--new-key", "director").expect(0)
    for result in (box.dealbox("seal", "--for", "director.pub", "a\33[2J.pbn"),
                   box.dealbox("unseal", "-k", "director", "-o", "b.pbn", "a\33[2J.pbn.sealed")):
        result.expect(0, r"a\?\[2J\.pbn")
        assert "\33" not in result.out + result.err, result


@test
def a_passphrase_opens_what_it_sealed(box):
    box.dealbox("generate", "-b", "1-2", "a.pbn").expect(0)

    def with_line(line, *args):
        running = box.begin(*args, stdin=subprocess.PIPE)
        return running.finish(line)

    with_line("", "seal", "a.pbn").expect(2, "no passphrase")
    with_line("correct horse\n", "seal", "a.pbn").expect(0, "still exists")
    with_line("correct hors\n", "unseal", "-o", "b.pbn", "a.pbn.sealed").expect(2, "passphrase is wrong")
    assert not os.path.exists("b.pbn")
    # a program is told so by a word, not by a sentence
    with open("a.pbn.sealed", "rb") as sealed:
        result = subprocess.run([DEALBOX, "set", "add", "-", "--json", "--secret-first"], capture_output=True,
                                env=box.env, input=b"correct hors\n" + sealed.read())
    assert (result.returncode, result.stdout) == (2, b'{"kind":"refusal","reason":"secret"}\n'), result
    with_line("correct horse\n", "unseal", "-o", "b.pbn", "a.pbn.sealed").expect(0)
    assert content("a.pbn") == content("b.pbn") and mode("b.pbn") == 0o600
    sealed = bytearray(content("a.pbn.sealed"))
    sealed[-20] ^= 1
    box.write("bad.sealed", bytes(sealed))
    with_line("correct horse\n", "unseal", "-o", "c.pbn", "bad.sealed").expect(2, "changed or cut off")
    assert not os.path.exists("c.pbn")


if __name__ == "__main__":
    main()
