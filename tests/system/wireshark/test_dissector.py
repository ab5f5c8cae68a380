#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Wireshark dissector, with tshark, on captures that are made here: see README.md."""

import os
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["DEALBOX_SOURCE"], "tests/system/tool"))
import tool                         # noqa: E402 pylint: disable=wrong-import-position
from tool import SET, SOURCE, test  # noqa: E402 pylint: disable=wrong-import-position
import story                        # noqa: E402 pylint: disable=wrong-import-position
import usbmon                       # noqa: E402 pylint: disable=wrong-import-position
from violations import CASES        # noqa: E402 pylint: disable=wrong-import-position

DISSECTOR = os.path.join(SOURCE, "tools/wireshark/dealbox.lua")
ALL = "exit-sensors,board-lock,face-sensor,double-feed-sensor,test-deal,keys,by-card," \
      "by-position,capture,attest"
# Wireshark 4.4 runs no script of Lua for root, not even for that of a name space.
TSHARK = [*(["unshare", "--user", "--map-user=65534"] if os.geteuid() == 0 else []), "tshark"]


def tshark(*args):
    """What tshark prints with the dissector. No error of Lua may be in it."""
    # settings of the user who runs the test are left out
    env = dict(os.environ, HOME="/nonexistent", XDG_CONFIG_HOME="/nonexistent", LC_ALL="C.UTF-8")
    done = subprocess.run([*TSHARK, *args, "-X", "lua_script:" + DISSECTOR], env=env, timeout=tool.TIMEOUT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr
    for text in done.stdout, done.stderr:
        assert "Lua Error:" not in text and "dealbox.lua:" not in text, [
            line for line in text.splitlines() if "Lua Error:" in line or "dealbox.lua:" in line][:3]
    return done.stdout


def fields(path, *names, only=None, more=()):
    """The values of these fields: a list of strings for each packet, all values of a field joined by commas."""
    args = [arg for name in names for arg in ("-e", name)]
    out = tshark("-r", path, "-T", "fields", *args, *(("-Y", only) if only else ()), *more)
    return [line.split("\t") for line in out.splitlines()]


def violations(path, **more):
    """[number of the packet, requirements, texts] of each packet that has some."""
    return fields(path, "frame.number", "dealbox.requirement", "_ws.expert.message", only="dealbox.requirement",
                  **more)


MACHINES = {
    "stored": ("--capabilities", ALL), "routed": ("--kind", "routed", "--capabilities", ALL),
    "serial": ("--dialect", "serial", "--capabilities", ALL),
    "serial-routed": ("--dialect", "serial", "--kind", "routed", "--capabilities", ALL),
}
# everything that an operator can mend
STOPS = """position 3: unreadable
position 5: feed-timeout
position 7: extra joker1
deal 1 position 9: misread
deal 2 position 20: jam gate
deal 3 position 30: wrong-pocket
"""


def record_deals(box, path):
    """Two boards on each kind of machine, with faults, all in one capture."""
    capture = usbmon.Capture(path)
    for number, (name, options) in enumerate(MACHINES.items()):
        machine = box.machine(*options, name=name, scenario=STOPS)
        recorder = usbmon.Recorder(capture, os.path.join(box.folder, name + ".usb"), machine.path, (1, 5 + number))
        deal = box.begin("deal", "-m", "emu:" + recorder.path, "-b", "1,2", "--ledger", name + ".ledger", SET)
        for line in deal.process.stdout:
            deal.read += line
            if "press start" in line:
                machine.tell("key start")
        deal.finish().expect(0, "2 of 2 boards are exact")
        recorder.close()
    capture.close()


@test
def deals_of_the_emulator_break_no_requirement(box):
    record_deals(box, "deals.pcapng")
    found = violations("deals.pcapng")
    assert not found, found


def header_names(path, prefix, leave_out=""):
    """{number: name} of the macros of a header that begin with the prefix."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        found = re.findall(r"^#define\s+%s(\w+)\s+\(?(0x[0-9a-f]+|1U << \d+|\d+)" % prefix, file.read(), re.M)
    return {eval(number.replace("U", "")): name for name, number in found  # pylint: disable=eval-used
            if not (leave_out and re.fullmatch(leave_out, name))}


def glossary(kind):
    """The lines of `tshark -G kind` on the dissector; there are a million on others."""
    command = '"$@" 2>/dev/null | grep -a "dealbox\\."'
    args = [*TSHARK, "-G", kind, "-X", "lua_script:" + DISSECTOR]
    out = subprocess.run(["sh", "-c", command, "sh", *args], stdout=subprocess.PIPE, text=True, check=True,
                         timeout=tool.TIMEOUT).stdout
    return [line.split("\t") for line in out.splitlines()]


@test
def names_are_those_of_the_headers(_):
    uapi, wire = "driver/include/uapi/linux/dealbox.h", "driver/wire.h"
    shown = {}
    for kind, name, number, text in glossary("values"):
        assert kind == "V"
        shown.setdefault(name, {})[int(number, 0)] = text
    requests = header_names(uapi, "DEALBOX_OP_")
    requests.update(header_names(wire, "WIRE_(?=DESCRIBE|GET_|SET_PARAM|LOAD|ATTEST\\s)"))
    events = header_names(uapi, "DEALBOX_EV_", "IS_.*|PROTOCOL_ERROR")
    errors = header_names(uapi, "DEALBOX_ERR_")
    modes = header_names(uapi, "DEALBOX_PLAN_", "NONE|TEST")
    wanted = {
        "request": requests, "result.request": requests,
        "event": events,
        "result.error": errors, "event.error": errors,
        "status.state": header_names(uapi, "DEALBOX_STATE_"),
        "reader": header_names(uapi, "DEALBOX_READER_"),
        "param": header_names(uapi, "DEALBOX_PARAM_"),
        "plan.mode": modes,
        "event.lost": header_names(uapi, "DEALBOX_LOST_"),
        "event.key": header_names(uapi, "DEALBOX_KEY_", "ID_SIZE"),
        "event.paused": {number: name[3:] for number, name in header_names(uapi, "DEALBOX_PAUSED_").items()},
        "event.place": header_names(uapi, "DEALBOX_JAM_"),
        "frame.kind": header_names("driver/frame.h", "FRAME_(?=REQUEST\\s|PLAN|GATE|ANSWER\\s|EVENT)"),
        "frame.status": header_names("driver/frame.h", "FRAME_(?=DONE|STALL)"),
    }
    assert len(requests) == 21 and len(events) == 31 and len(errors) == 19, wanted
    for name, names in wanted.items():
        assert shown["dealbox." + name] == names, (name, shown["dealbox." + name], names)
    bits = {"capability": {}, "status.flag": {}, "event.flag": {}}
    for part in glossary("fields"):
        for group, found in bits.items():
            if part[0] == "F" and part[2].startswith("dealbox.%s." % group):
                found[int(part[6], 0)] = part[1]
    assert bits["capability"] == header_names(uapi, "DEALBOX_CAP_"), bits
    assert bits["status.flag"] == header_names(uapi, "DEALBOX_STATUS_"), bits
    assert bits["event.flag"] == header_names(uapi, "DEALBOX_EVF_", "GAP|MACHINE_GAP|USER"), bits


@test
def each_rule_names_a_requirement_of_the_pages(_):
    with open(DISSECTOR, encoding="utf-8") as file:
        named = re.findall(r'^rule\("(\w+)", "(R-[S\d.]+-\d+)"', file.read(), re.M)
    pages = ""
    for page in "docs/protocol.md", "docs/protocol-serial.md":
        with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
            pages += file.read()
    assert len(named) > 90
    for key, requirement in named:
        assert re.search(r"^- %s " % re.escape(requirement), pages, re.M), (key, requirement)


@test
def worked_deals_of_the_page_break_no_requirement(_):
    capture = usbmon.Capture("worked.pcapng")
    when = 1000.0
    for number, (name, serial) in enumerate([("stored", False), ("routed", False), ("stored", True),
                                             ("routed", True)]):
        when = story.worked(name).write(capture, when + 1, (2, 1 + number), serial)
    for serial in False, True:
        when = story.attested().write(capture, when + 1, (2, 9 + serial), serial)
    capture.close()
    found = violations("worked.pcapng")
    # a machine of the page refuses the second START of its board
    assert {text for _, text, _ in found} == {"R-2.3-1"} and len(found) == 2, found


def everything():
    """Every request, plan, event and gate command, in no order that makes sense."""
    told = story.attested()
    steps = [told.of("class")]
    info = struct.pack("<HHI", 0x010a, 0, 1 << 24 | 10 << 16 | 300).ljust(64, b"\0")
    sizes = {0: 24, 2: 32, 3: 16, 4: 64, 5: 16, 6: 48, 7: 96, 8: 64}
    steps.append(story.query(1, info))
    for code, size in sizes.items():
        steps.append(story.query(code, bytes(told.descriptor) if code == 0 else bytes(size), value=code == 5))
    for number, code in enumerate(range(0x10, 0x1c)):
        steps.append(story.command(code, 1 + number, nonce=bytes(32) if code == 0x1b else b"",
                                   status=-usbmon.EPIPE if number % 2 else 0))
    steps += [story.plan_block(7, 1, [0, 1, 255, 3]), story.plan_block(7, 2, [0, 1, 2]), story.plan_block(7, 3, [2]),
              story.gate(1, 5, 77, 1001), story.gate(255, 5, 77, 1001, 0x28, 3), story.gate(255, 5, 77, 1001, 0x21)]
    for number, kind in enumerate((*range(1, 9), *range(0x10, 0x1b), *range(0x20, 0x25), *range(0x28, 0x2f))):
        steps.append(story.event(kind, 1 + number, 1001))
    told = story.Story(steps)
    told.configuration = {"routed": True}   # an endpoint for gate commands
    return told


@test
def every_request_plan_event_and_gate_command_has_its_name(_):
    uapi = "driver/include/uapi/linux/dealbox.h"
    capture = usbmon.Capture("all.pcapng")
    everything().write(capture, 1000.0, (1, 1))
    everything().write(capture, 1010.0, (1, 2), serial=True)
    capture.close()
    for device in 1, 2:
        shown = tshark("-r", "all.pcapng", "-V", "-Y", "usb.device_address == %d" % device)
        for name in header_names(uapi, "DEALBOX_EV_", "IS_.*|PROTOCOL_ERROR").values():
            assert re.search(r"^    Event \d+: %s$" % name, shown, re.M), name
        requests = header_names(uapi, "DEALBOX_OP_")
        requests.update(header_names("driver/wire.h", "WIRE_(?=DESCRIBE|GET_|SET_PARAM|LOAD|ATTEST\\s)"))
        for name in requests.values():
            assert re.search(r"^    Request: %s " % name, shown, re.M), name
            # an answer names the packet of its request
            assert re.search(r"^    \[Request: %s .*\n    \[Request in: \d+\]\n    \[Time from" % name, shown,
                             re.M), name
        for mode in header_names(uapi, "DEALBOX_PLAN_", "NONE|TEST").values():
            assert re.search(r"^        Mode: %s" % mode, shown, re.M), mode
        for text in "wProtocol: 0x010a (1.10)", "Firmware version: 0x010a012c (1.10.300)":
            assert text in shown, text
        for text in "Plan block: plan 7", "Gate command, type: 0x01", "Hold: True", "Hold: False":
            assert text in shown, text
        assert "does not define" not in shown
    frames = tshark("-r", "all.pcapng", "-V", "-Y", "usb.device_address == 2")
    for name in "REQUEST", "PLAN", "GATE", "ANSWER", "EVENT":
        assert "    Frame: %s\n" % name in frames, name


def disguise(told):
    """The same story with other cards in other pockets."""
    told = told.copy()
    for step in told.steps:
        data = step.data
        if step.kind == "in":
            other_card = data[17] ^ 1 if data[17] < 54 else data[17]
            if data[0] in (0x12, 0x20, 0x21, 0x28):
                data[20] ^= 1                   # what the reader saw
            if data[0] == 0x2b:
                data[24] ^= 1
            data[17] = other_card
            data[18] = data[18] ^ 1 if data[18] < 8 else 255
        elif step.kind == "out":
            data[1] = data[1] ^ 1 if data[1] < 8 else data[1]
        elif step.kind == "bulk":
            entries = data[32:-4]
            for k, pocket in enumerate(entries):
                data[32 + (k ^ 1 if data[6] == 1 else k)] = pocket ^ 1 if pocket < 8 else pocket
            story.seal(step)
        elif step.kind == "control" and step.setup[1] == 3 and data[5] == 15:
            data[8] ^= 1
    return told


def secret_stories():
    """Stories in which cards go by in every way."""
    stopped = story.Story(story.worked("stored").steps[:-3])
    stopped.end(stopped.event(0x14))
    number = stopped.event(0x14).data[4]
    for kind, more in ((0x20, {"quality": 0, "code": 0x5102}), (0x21, {"card": 52, "quality": 98, "code": 0x5134}),
                       (0x22, {"card": 7}), (0x28, {"card": 2, "quality": 98, "code": 0x5102}),
                       (0x2b, {"card": 3, "pocket": 1, "arg0": 2})):
        number += 1
        stopped.steps.append(story.event(kind, number, 1001, 1, clock=5100000 + number, **more))
    # a checksum tells one card to somebody who knows the others
    stopped.steps.append(story.event(0x10, number + 1, 1001, code=7, arg0=15, arg1=0x12345678, clock=5200000))
    stopped.steps.append(story.query(3, bytes.fromhex("0200000011" "0f0000" "7856341200000000")))
    return [(told, serial) for told in (story.worked("stored"), story.worked("routed"), story.attested(), stopped)
            for serial in (False, True)]


def write_stories(path, stories, described=True):
    capture, when = usbmon.Capture(path), 1000.0
    for number, (told, serial) in enumerate(stories):
        if not described:
            told = told.copy()
            told.drop(told.of("class"))
        when = told.write(capture, when + 1, (3, 1 + number), serial)
    capture.close()


@test
def nothing_that_is_printed_depends_on_cards_or_their_pockets(_):
    plain = secret_stories()
    secret = [(disguise(told), serial) for told, serial in plain]
    listed = "dealbox.machines:" + ", ".join("3.%d" % (1 + number) for number in range(len(plain)))
    for described in True, False:
        write_stories("plain.pcapng", plain, described)
        write_stories("secret.pcapng", secret, described)
        for form in (("-P", "-V"), ("-T", "pdml")) if described else (("-P", "-V"),):
            printed = []
            for name in "plain.pcapng", "secret.pcapng":
                os.rename(name, "deal.pcapng")
                printed.append(tshark("-r", "deal.pcapng", *form, *(() if described else ("-o", listed))))
                os.rename("deal.pcapng", name)
            assert printed[0].count("\n") == printed[1].count("\n"), form
            for first, other in zip(printed[0].splitlines(), printed[1].splitlines()):
                # when the program ran
                assert first == other or "<pdml" in first, (form, first, other)
            assert "CARD_READ" in printed[0] and "Nonce: 80" not in printed[0]
    # the last capture is the one without descriptors
    shown = tshark("-r", "secret.pcapng", "-V", "-o", "dealbox.reveal:TRUE", "-o", listed)
    assert "Card: SK" in shown and "Nonce: 8081" in shown


@test
def each_violation_is_found_and_nothing_else(_):
    capture, when = usbmon.Capture("cases.pcapng"), 1000.0
    for number, (name, _, make, change, *serial) in enumerate(CASES):
        told = make()
        try:
            if change:
                change(told)
        except (IndexError, ValueError) as error:
            raise AssertionError(name) from error
        when = told.write(capture, when + 1, (10 + number, 1), bool(serial))
    capture.close()
    found = {}
    texts = ""
    for text, requirements, bus in fields("cases.pcapng", "_ws.expert.message", "dealbox.requirement", "usb.bus_id",
                                          only="dealbox.requirement"):
        found.setdefault(int(bus) - 10, set()).update(requirements.split(","))
        texts += text + "\n"
    wrong = ["%s: %s, not %s" % (name, sorted(found.get(number, ())), sorted(wanted.split()))
             for number, (name, wanted, *_) in enumerate(CASES) if set(wanted.split()) != found.get(number, set())]
    assert not wrong, "\n".join(wrong)
    with open(DISSECTOR, encoding="utf-8") as file:
        rules = re.findall(r'^rule\("(\w+)", "([^"]*)", \w+,\s+"(.*)"\)', file.read(), re.M)
    missing = [key for key, requirement, text in rules if "%s: %s" % (requirement, text) not in texts]
    assert len(rules) > 90 and not missing, missing


def list_of(*args):
    """What tshark lists of worked.pcapng, without numbers that differ between machines."""
    # the field of this column has in Wireshark 4.4 what stood there before the dissector wrote to it
    return tshark("-r", "worked.pcapng", "-o", 'gui.column.format:"Info","%i"', *args)


@test
def a_capture_that_begins_late_is_shown_by_preference_and_decode_as(_):
    late = story.worked("stored")
    late.drop(late.of("class"))
    capture = usbmon.Capture("worked.pcapng")
    for serial in False, True:
        late.write(capture, 1000.0 + 10 * serial, (4, 9 + serial), serial)
    capture.close()
    assert "CARD_LANDED" not in list_of()
    by_preference = list_of("-o", "dealbox.machines:1.2, 4.9,4.10")
    assert by_preference.count("CARD_LANDED") == 8 and by_preference.count("START\n") == 6, by_preference
    decode_as = [arg for device in (9, 10) for arg in ("-d", "usb.device==%d,dealbox" % (4 * 65536 + device))]
    assert list_of(*decode_as).count("CARD_LANDED") == 8
    # nothing is held against a machine because its beginning was not seen, but START of a spent board
    found = violations("worked.pcapng", more=("-o", "dealbox.machines:4.9, 4.10"))
    assert {requirements for _, requirements, _ in found} == {"R-2.3-1"} and len(found) == 2, found


@test
def both_headers_of_usbmon_and_both_passes_show_the_same(_):
    shown = []
    for header in 64, 48:
        capture = usbmon.Capture("worked.pcapng", header)
        story.worked("routed").write(capture, 1000.0)
        capture.close()
        shown.append(list_of())
    shown.append(list_of("-2"))
    assert shown[0] == shown[1] == shown[2], shown
    assert "gate: hold" in shown[0]
    # the second pass knows the packets of the answers
    times = fields("worked.pcapng", "dealbox.answer_in", "frame.number", only="dealbox.answer_in", more=("-2",))
    assert len(times) > 4 and all(int(answer) > int(packet) for answer, packet in times), times


@test
def bad_packets_cause_no_error(_):
    chance = random.Random(20)

    class Bad(usbmon.Capture):
        def changed(self, packet):
            packet = bytearray(packet)
            for _ in range(chance.choice((0, 0, 1, 1, 2, 40))):
                packet[chance.randrange(8 if chance.random() < .5 else 64, len(packet))
                       if len(packet) > 64 else chance.randrange(64)] = chance.randrange(256)
            return bytes(packet)

        def packet(self, *args, **more):
            if chance.random() < .2:
                more["cut"] = chance.randrange(0, 120)
            for _ in range(chance.choice((1, 1, 1, 1, 0, 2))):
                super().packet(*args, **more)

    capture = Bad("bad.pcapng")
    for _ in range(5):
        for number, (told, serial) in enumerate(secret_stories()):
            told.write(capture, 1000.0, (1, 1 + number), serial)
    # frames of any length, random bytes on every endpoint
    for _ in range(500):
        data = bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 3, 4, 16, 31, 32, 33, 64, 200))))
        data = chance.choice((data, story.frame(chance.choice((1, 2, 3, 0x81, 0x82)), data[:128], 7)))
        kind, endpoint = chance.choice(((1, 0x82), (1, 3), (3, 1), (3, 0x82), (2, 0), (2, 0x80)))
        setup = bytes((chance.choice((0x41, 0xc1)), chance.randrange(32), 0, 0, 0, 0, len(data), 0))
        capture.packet(chance.choice("SSCE"), kind, endpoint, 7, 1000.0, data, setup if kind == 2 else None,
                       device=(1, 1 + chance.randrange(8)))
    capture.close()
    assert "CARD_READ" in tshark("-r", "bad.pcapng", "-V", "-2", "-o", "dealbox.reveal:TRUE")
    tshark("-r", "bad.pcapng", "-V")


tool.main()
