#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No card is told to whoever did not ask to reveal; and how little memory that takes."""

import json
import os
import re
import socket
import struct

from tool import SET, assert_secret, deals, main, test

INSTRUMENTED = os.environ["DEALBOX_INSTRUMENTED"] != "none"


def normal(text):
    """Remove harmless differences between runs: times, jobs and file names, and states that passed too fast."""
    text = re.sub(r"\d+ s, \d+ boards per hour|\"(duration_s|job)\":[0-9.e-]+|/tmp/dealbox-\w+", "*", text)
    return re.sub(r'\{"kind":"operator".*\n', "", text)


@test
def what_is_said_does_not_depend_on_the_deals(box):
    """Two sets of deals, the same machine and the same mishaps: the same words, to the letter."""
    with open(SET) as file:
        text = file.read()
    hands = re.findall(r'\[Deal ".*?"\]', text)
    other = text
    for number, deal in enumerate(hands):
        other = other.replace(deal, "[%d]" % number)
    for number in range(len(hands)):
        other = other.replace("[%d]" % number, hands[(number + 7) % len(hands)])
    assert other != text
    box.write("other.pbn", other)
    mishaps = "\n".join((
        "deal 1 position 51: unreadable", "deal 1 position 9: extra joker1",
        "deal 2 position 4: wrong-pocket", "deal 3 position 9: double-feed",
        "deal 4 position 20: repeat", "deal 5 position 30: jam reader"))
    said = []
    for number, path in enumerate((SET, "other.pbn")):
        for kind in ("stored", "routed"):
            machine = box.machine("--kind", kind, name="%s%d" % (kind, number), scenario=mishaps)
            result = box.deal("-m", machine.uri, "--boards", "1-4", "--json", "--yes",
                                 path).expect(0)
            assert '"void"' in result.out
            assert_secret(result.out + result.err)
            said.append(normal(result.out + result.err))
    assert said[0] == said[2] and said[1] == said[3], "\n".join(said)


@test
def differences_do_not_tell_the_deal(box):
    """A trace that is cut off, or a machine that errs with every card, is no list of the deal."""
    machine = box.machine()
    box.deal("-m", machine.uri, "--boards", "1", "--record", "trace", SET).expect(0)
    with open("trace", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    reads = [line["card"] for line in lines if line.get("name") == "card read"]
    assert sorted(reads) == list(range(52)), reads

    def write(name, change):
        box.write(name, "".join(json.dumps(change(dict(line))) + "\n" for line in lines))

    def other_pocket(line):
        return {**line, "pocket": (line["pocket"] + 1) % 4} if "pocket" in line else line

    def one_pocket(line):
        line = {**line, "position": line["card"]} if "card" in line else line
        return {**line, "pocket": 2} if "pocket" in line else line

    def same_card(line):
        return {**line, "card": 3} if "card" in line else line

    box.write("cut", "".join(json.dumps(line) + "\n" for line in lines[:4]))
    write("other", other_pocket)
    write("same", same_card)
    # the deck was sorted: the number of a card in the deck names it
    events = sorted((one_pocket(line) for line in lines if "card" in line), key=lambda line: line["card"])
    first = next(n for n, line in enumerate(lines) if "card" in line)
    rest = [line for line in lines if "card" not in line]
    numbers = [(line["seqno"], line["machine_seq"]) for line in lines if "seqno" in line]
    sorted_deck = rest[:first] + events + rest[first:]
    for line, (seqno, machine_seq) in zip((line for line in sorted_deck if "seqno" in line), numbers):
        line.update(seqno=seqno, machine_seq=machine_seq)
    box.write("sorted", "".join(json.dumps(line) + "\n" for line in sorted_deck))
    for name, wanted in (("cut", "    52 cards are missing"), ("other", "    52 cards lie in the wrong pocket"),
                         ("same", "    51 cards are missing"), ("sorted", "    39 cards lie in the wrong pocket")):
        plain = box.dealbox("verify", SET, name).expect(1)
        assert wanted in plain.out.splitlines(), (name, plain.out)
        verdict, = box.dealbox("verify", "--json", SET, name).expect(1).json()
        texts = [difference["text"] for difference in verdict["differences"]]
        assert ["    " + text for text in texts] == plain.out.splitlines()[1:], plain.out
        for text in texts:
            # numbers of cards in pockets are no secret
            assert "pocket" not in text or re.search(r"pocket \d has|in the wrong pocket$", text), text
        # a line for each card would tell the deal by its order, or by which cards have none
        assert [d["count"] for d in verdict["differences"] if d["text"] == wanted.strip()] == [int(wanted.split()[0])]
        for kind in ("card-missing", "wrong-pocket"):
            assert sum(difference["kind"] == kind for difference in verdict["differences"]) <= 1, verdict
            assert not any("position" in d or "card" in d for d in verdict["differences"] if d["kind"] == kind), verdict
        # only who asks sees them
        revealed, = box.dealbox("verify", "--reveal", "--json", SET, name).expect(1).json()
        assert sum("card" in difference for difference in revealed["differences"]) >= 39, revealed


@test
def nothing_in_arguments_and_names_of_the_process(box):
    machine = box.machine("--manual", speed="1")
    running = box.begin("deal", "-m", machine.uri, SET)
    running.put_in(machine)
    machine.tell("wait position 4")
    proc = "/proc/%d/" % running.process.pid
    seen = {}
    for name in ("cmdline", "comm", "environ", "stat"):
        with open(proc + name, "rb") as file:
            seen[name] = file.read().decode(errors="replace")
    assert seen["comm"] == "dealbox\n", seen
    assert seen["cmdline"].split("\0")[1:] == ["deal", "-m", machine.uri, SET, ""], seen
    for name in ("cmdline", "comm"):
        assert_secret(seen[name])
    running.stop()


@test
def the_ledger_tells_no_card(box):
    """It is for its owner alone, and what tells deals in it is sealed."""
    machine = box.machine("--manual", speed="4")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-2", SET)
    running.put_in(machine)
    machine.tell("wait position 20")
    running.stop()
    # deals as they lie in memory: hands of 64 bits each
    deals_of_set = [struct.pack("<4Q", *(sum(1 << card for card in hand) for hand in hands))
                    for hands in deals(SET).values()]
    for folder, _, names in os.walk(os.path.join(box.folder, "state")):
        assert os.stat(folder).st_mode & 0o077 == 0, folder
        for name in names:
            path = os.path.join(folder, name)
            assert os.stat(path).st_mode & 0o777 == 0o600, path
            with open(path, "rb") as file:
                content = file.read()
            assert not [deal for deal in deals_of_set if deal in content or deal[:8] in content], path
            if name != "ledger.key":
                assert not re.search(rb"[AKQJT2-9]{3,}\.[AKQJT2-9]*\.", content), path
    assert_secret("\n".join(map(json.dumps, box.records())))


# A machine that tells every card there is, and does nothing else: lib/machine/emu.h.
ATTACH, CONTROL, ATTACHED, CONTROL_DONE, INT_IN = 1, 2, 0x81, 0x82, 0x85


def frame(kind, ident, data=b"", status=0):
    return struct.pack("<IIiI", kind, ident, status, len(data)) + data


def event(kind, number, card, code):
    return struct.pack("<BBHIIIBBBBIII", kind, 0, 0, number, 0, 7, number % 52, card, number % 4, 99,
                       code, 0, 0)


def tell_all(path, kinds):
    """Serves one host, and hangs up."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen()
    yield
    host, _ = listener.accept()
    descriptor = struct.pack("<BBBBHBBHHIII", 24, 0x24, 1, 1, 0x0100, 4, 20, 200, 64, 0x201, 0, 0)
    while True:
        kind, ident, _, _ = struct.unpack("<IIiI", (packet := host.recv(8192))[:16])
        if kind == ATTACH:
            host.send(frame(ATTACHED, 1, b"S1".ljust(64, b"\0") + b"Teller".ljust(64, b"\0") +
                            descriptor.ljust(64, b"\0") + struct.pack("<HHH", 64, 0, 1)))
            continue
        request, length = packet[17], struct.unpack("<H", packet[22:24])[0]
        host.send(frame(CONTROL_DONE, ident, (b"\0\1" if request == 1 else b"").ljust(length, b"\0")))
        if request == 3:
            break
    number = 1
    for kind in kinds:
        for card in range(52):
            host.send(frame(INT_IN, 0, event(kind, number, card, 0xC0DE00 + card)))
            number += 1
    host.close()
    listener.close()


def watch(box, *args):
    """The output of monitor for every card in every kind of event with a card."""
    path = os.path.join(box.folder, "teller")
    kinds = (0x12, 0x13, 0x14, 0x20, 0x21, 0x22, 0x28, 0x2b, 0x30, 0x77)
    teller = tell_all(path, kinds)
    next(teller)
    running = box.begin("monitor", "-m", "emu:" + path, *args)
    next(teller, None)
    result = running.finish().expect(3, "the machine is gone")
    os.unlink(path)
    assert len(result.out.splitlines()) == 52 * len(kinds), result
    return result


@test
def monitor_hides_cards(box):
    result = watch(box)
    assert_secret(result.out)
    assert "position 17" in result.out and str(0xC0DE00 + 17) not in result.out
    # of a sorted deck, position and pocket together tell the deal
    assert "pocket 1" not in result.out, result
    for line in watch(box, "--json").json():
        assert not {"card", "code", "pocket"} & set(line), line
        # where a card in the wrong pocket belongs
        assert line["type"] != 0x2b or "arg" not in line, line


@test
def monitor_reveals_on_demand(box):
    result = watch(box, "--reveal")
    for card in ("SA", "H9", "CT", "C2"):
        assert re.search(r"pocket \d card %s\b" % card, result.out), result
    lines = watch(box, "--json", "--reveal").json()
    assert [line["card"] for line in lines[:52]] == list(range(52))
    assert lines[17]["code"] == 0xC0DE00 + 17 and lines[17]["pocket"] == 2


@test
def little_memory(box):
    """At its highest below 8 MB; that of an instrumented build cannot be compared."""
    machine = box.machine("--manual", "--kind", "routed")
    running = box.begin("deal", "-m", machine.uri, "--boards", "1-2", SET)
    running.put_in(machine)
    running.see("exact")
    with open("/proc/%d/status" % running.process.pid) as file:
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1])
    print("# VmHWM %d kB" % peak)
    assert INSTRUMENTED or peak < 8 * 1024, "%d kB" % peak
    running.stop()


main()
