# SPDX-License-Identifier: LGPL-2.1-or-later
"""
One thing in a story that the page forbids, or that is at the edge of what it allows. CASES are
(what is wrong, requirements that the dissector names, story, change[, serial]).
"""

import struct

import usbmon
from story import (Step, attested, command, crc32c, event, frame, plan_block, query, seal, worked)

STALL = -usbmon.EPIPE


def stored():
    """The worked deal without what comes behind its second START, which the page refuses."""
    told = worked("stored")
    refused = told.request(0x12, 1)
    result = told.request(3, 1)
    return told.drop(refused).drop(result)


def routed():
    return worked("routed")


def idle():
    """A board is in, no command was sent yet."""
    told = stored()
    return told.end(told.event(4))


def failed():
    """A deal that ended in a fault, with the board still in."""
    told = stored()
    jam = event(0x2a, 0x0c, 1001, 2, code=3, clock=5250000)
    return told.end(told.event(0x14, 1)).after(told.event(0x14, 1), jam)


def with_plan(block, result=0, detail=0, capability=None, length=None):
    """Only a plan is loaded."""
    told = idle()
    if capability is not None:
        told.capability(capability)
    told.steps += [command(0x11, 1, 7, len(block.data) if length is None else length), block,
                   event(0x10, 4, 1001, code=7, arg0=result, arg1=detail, clock=5100000)]
    return told


def broken_block(offset, text, sealed=True):
    block = plan_block(7, 1, [0, 1, 2, 3]).put(offset, text)
    return seal(block) if sealed else block


def adds(*steps):
    """Steps at the end."""
    def change(told):
        told.steps += steps
    return change


def puts(find, offset, text):
    """Bytes of the step that find(story) returns."""
    def change(told):
        find(told).put(offset, text)
    return change


def sets(find, **values):
    def change(told):
        for name, value in values.items():
            setattr(find(told), name, value)
    return change


def setup(find, offset, text):
    def change(told):
        data = bytes.fromhex(text)
        find(told).setup[offset:offset + len(data)] = data
    return change


def e(kind, nth=0):
    return lambda told: told.event(kind, nth)


def r(code, nth=0):
    return lambda told: told.request(code, nth)


def of(kind, nth=0):
    return lambda told: told.of(kind, nth)


def config(**values):
    return lambda told: told.configuration.update(values)


def capability(bit, on=True):
    return lambda told: told.capability(bit, on)


def both(*changes):
    def change(told):
        for each in changes:
            each(told)
    return change


def dropped_event(told):
    told.drop(told.event(0x14))


def twice(told):
    told.after(told.event(0x13), Step("in", told.event(0x13).data))


def wrap(told):
    """The numbers wrap in the middle; STATE_LOST begins anew, so the capture begins later."""
    first = told.event(2)
    told.drop(told.event(1))
    told.renumber(-7, first)


def landed_elsewhere(told):
    told.event(0x14, 1).put(18, "01")


def clock_wraps(told):
    for step in told.steps:
        if step.kind == "in":
            step.number(8, struct.unpack_from("<I", step.data, 8)[0] - 5100000)


def late(find, wait):
    return sets(find, wait=wait)


def second_read(told):
    """The third card reads like the first, which has gone on."""
    for kind in 0x12, 0x13, 0x14:
        told.event(kind, 2).put(17, "02")
        if kind != 0x12:
            told.event(kind, 2).put(18, "02")
    told.event(0x15).put(26, "0200")


COVER = bytes(event(6, 4, 1001, clock=5100000).data)
EVENT_FRAME = frame(0x82, COVER)
NEXT_FRAME = frame(0x82, bytes(event(7, 5, 1001, clock=5200000).data))
LOCATE_FRAME = frame(1, b"\x1a\0\0" + bytes(command(0x1a, 1, 5).data), 99)

CASES = [
    # -- what is allowed
    ("a deal", "", stored, lambda told: None),
    ("a deal, serial", "", stored, lambda told: None, True),
    ("host-routed", "", routed, lambda told: None),
    ("the clock wraps", "", stored, clock_wraps),
    ("the numbers wrap, behind an event that is not the first", "R-1.2-2", stored, wrap),
    ("a later minor version has reserved fields", "", stored, both(
        puts(of("class"), 4, "0201"), puts(of("class"), 20, "01"), puts(e(3 + 1), 2, "0101"))),
    ("the answer after 499 ms", "", stored, sets(r(1), takes=0.499)),
    ("a query of fewer bytes", "", stored, both(sets(r(1), data=bytearray(8)), setup(r(1), 6, "0800"))),
    ("the repetition of a command", "", stored, lambda told: told.after(
        told.request(0x13), Step("control", told.request(0x13).data, told.request(0x13).setup))),
    ("quality 50", "", stored, puts(e(0x12), 19, "32")),
    ("position 64 is the number of cards", "", stored, lambda told: told.end(told.event(0x11)) and told.steps.append(
        event(0x2c, 6, 1001, 64, clock=5300000))),
    ("a gate command at the deadline", "", routed, sets(of("out"), wait=0.0195)),
    ("no parameter", "", idle, adds(query(5, value=1, length=16, status=STALL))),
    ("GET_IDENTITY, refused", "", idle, adds(query(6, length=48, status=STALL))),
    ("a fault is cleared", "", failed, adds(command(0x17, 3), event(0x19, 0x0d, 1001, code=0x2a, clock=5260000))),
    # -- descriptors
    ("another alternate setting", "R-1-1", stored, config(alternate=1)),
    ("an endpoint is missing", "R-1-5", idle, lambda told: told.capability(0, False).capability(1) and told.descriptor.
     __setitem__(slice(16, 18), b"\x20\x4e") or told.configuration.update(routed=False)),
    ("small event endpoint", "R-1-5 R-4-1", idle, config(in_size=16)),
    ("two transactions", "R-1-6", idle, config(in_size=64 + 2048)),
    ("nine pockets", "R-1.1-1", stored, puts(of("class"), 6, "09")),
    ("BY_CARD without reader", "R-1.1-1", idle, puts(of("class"), 3, "00")),
    ("host-routed, deadline 0", "R-1.1-3", idle, both(
        capability(0, False), capability(1), config(routed=True))),
    ("stored, with a deadline", "R-1.1-4", idle, puts(of("class"), 16, "01")),
    ("both kinds", "R-1.1-7", idle, both(capability(1), config(routed=True), puts(of("class"), 16, "01"))),
    ("neither mode", "R-1.1-8", idle, both(capability(9, False), capability(10, False))),
    ("reserved field of the descriptor", "R-0-2", stored, puts(of("class"), 23, "01")),
    # -- configuration
    ("another event first", "R-1.2-2", stored, lambda told: told.drop(told.event(1))),
    ("another reason", "R-1.2-2", stored, puts(e(1), 20, "03")),
    ("the order behind STATE_LOST", "R-5.2-8", idle, lambda told: told.end(told.event(1)) and adds(
        event(6, 2, clock=1000001), event(4, 3, 5, flags=2, clock=1000002))(told)),
    # -- requests
    ("another type", "R-2-1", stored, setup(r(1), 0, "c0")),
    ("another interface", "R-2-1 R-2-2", stored, setup(r(1), 4, "01")),
    ("the answer after 501 ms", "R-2-3", stored, sets(r(1), takes=0.501)),
    ("a command's end after 600 ms", "R-2-3", stored, sets(r(0x13), takes=0.6)),
    ("an answer that is short", "R-2.1-1", stored, sets(r(1), data=bytearray(63))),
    ("an unknown query", "R-2.1-2", idle, adds(query(9, bytes(8)))),
    ("wValue of a query", "R-2.1-2", idle, adds(query(1, bytes(64), value=1))),
    ("GET_STATUS is stalled", "R-2.1-3", stored, sets(r(2), status=STALL)),
    ("reserved field of GET_INFO", "R-0-2", stored, puts(r(1), 48, "01")),
    ("reserved field of GET_STATUS", "R-0-2", stored, puts(r(2), 15, "01")),
    ("GET_STATUS: another plan", "R-2.1-5", stored, puts(r(2), 4, "08")),
    ("GET_STATUS: another insertion", "R-2.1-9", stored, puts(r(2), 8, "ea")),
    ("GET_STATUS: another state", "R-2.1-9", stored, puts(r(2), 0, "00")),
    ("GET_STATUS: a fault in DONE", "R-2.1-9", stored, puts(r(2), 1, "2a")),
    # -- commands
    ("a command of 15 bytes is accepted", "R-2.2-1 R-2.3-1", stored, both(
        lambda told: told.request(0x13).data.pop() and None, setup(r(0x13), 6, "0f00"))),
    ("wValue of a command is accepted", "R-2.2-1 R-2.3-1 R-2.3-5", stored, setup(r(0x13), 2, "01")),
    ("GET_RESULT denies", "R-2.2-2", stored, lambda told: told.after(
        told.request(0x13), query(3, bytes.fromhex("03000000130500000100000000000000")))),
    ("the repetition is refused", "R-2.2-4", stored, lambda told: told.after(
        told.request(0x13), Step("control", told.request(0x13).data, told.request(0x13).setup, STALL))),
    ("GET_RESULT names another command", "R-2.2-5", stored, lambda told: told.after(
        told.request(0x13), query(3, bytes.fromhex("02000000120000000000000000000000")))),
    ("the sequence number that was found", "R-2.2-7", stored, puts(r(3), 0, "01")),
    ("no GET_RESULT", "R-2.2-7", stored, lambda told: told.drop(told.request(3))),
    ("a sequence number again", "R-2.2-8 R-4.2-1", stored, puts(r(0x14), 0, "03")),
    ("REFUSES_BY_RESULT stalls", "R-2.2-9", idle, both(
        capability(12), adds(command(0x1a, 1, 5, status=STALL)))),
    ("BAD_VALUE 6", "R-2.3-2", idle, adds(query(3, bytes.fromhex("01000000100300000600000000000000")))),
    ("an unknown error", "R-2.3-3", idle, adds(query(3, bytes.fromhex("01000000101300000000000000000000")))),
    ("61 s of LOCATE", "R-2.3-1 R-2.3-5", idle, adds(command(0x1a, 1, 61))),
    ("START of plan 0", "R-2.3-1 R-2.3-5 R-4.2-1", stored, puts(r(0x12), 4, "00")),
    ("RELEASE_BOARD without lock", "R-2.3-1 R-2.3-6", idle, adds(command(0x18, 1))),
    ("another check comes first", "R-2.3-1", failed, adds(
        command(0x12, 3, 7, 1001, status=STALL), query(3, bytes.fromhex("03000000120b0000e903000000000000")))),
    ("an unknown command", "R-2.3-1", idle, adds(command(0x1c, 1))),
    ("another plan is started", "R-2.3-1 R-4.2-1", stored, puts(r(0x12), 4, "08")),
    # -- plans
    ("a plan block without LOAD", "R-3-1 R-3-3", idle, adds(plan_block(7, 1, [0, 1, 2, 3]))),
    ("a plan block that is shorter", "R-3-1 R-3-12 R-3-5", lambda: with_plan(
        plan_block(7, 1, [0, 1, 2]), length=40), None),
    ("a wrong checksum is accepted", "R-3-12 R-3-5", lambda: with_plan(broken_block(36, "00", False)), None),
    ("a wrong checksum", "R-3-12", lambda: with_plan(
        broken_block(36, "00", False), 15, crc32c(plan_block(7, 1, [0, 1, 2, 3]).data[:-4])), None),
    ("pocket 4 of 4 is accepted", "R-3-12 R-3-5", lambda: with_plan(plan_block(7, 1, [0, 1, 2, 4])), None),
    ("pocket 4 of 4", "R-3-12", lambda: with_plan(plan_block(7, 1, [0, 1, 2, 4]), 16, 35), None),
    ("another offset", "R-3-12 R-3-14", lambda: with_plan(plan_block(7, 1, [0, 1, 2, 4]), 16, 32), None),
    ("a field, and the checksum is blamed", "R-3-12 R-3-13", lambda: with_plan(broken_block(7, "01"), 15, 7), None),
    ("a plan in order is refused", "R-3-5", lambda: with_plan(plan_block(7, 1, [0, 1, 2, 3]), 16, 12), None),
    ("a plan with a reserved field", "R-3-12", lambda: with_plan(broken_block(24, "01"), 16, 24), None),
    ("a plan by position", "", lambda: with_plan(plan_block(7, 2, [0, 1, 2, 3]), capability=10), None),
    ("a capture", "", lambda: with_plan(plan_block(7, 3, [2]), capability=11), None),
    ("PLAN_LOADED after LOAD 0", "R-3-9", idle, adds(command(0x11, 1), event(0x10, 4, 1001, clock=5100000))),
    ("TEST_DEAL in a load", "R-3-15 R-2.3-1 R-2.3-6", idle, adds(
        command(0x11, 1, 7, 40), command(0x19, 2, 0, 1001, 1))),
    ("PLAN_LOADED after 600 ms", "R-3-5", stored, late(e(0x10), 0.6)),
    ("INCOMPLETE, though it was complete", "R-3-6", lambda: with_plan(
        plan_block(7, 1, [0, 1, 2, 3]), 17, 40), None),
    # -- events
    ("33 bytes", "R-4-1", idle, lambda told: told.event(4).data.append(0)),
    ("96 bytes of 64", "R-4-1", idle, lambda told: told.end(told.event(1)) and told.event(1).data.extend(
        bytes(event(6, 2, clock=1000000).data) + bytes(event(7, 3, clock=1000000).data))),
    ("an empty transfer", "R-4-3", idle, adds(Step("in"))),
    ("the clock goes back by 1", "R-4-4", stored, lambda told: told.event(0x13).number(8, 0x004ccc27)),
    ("another insertion", "R-4-4", stored, puts(e(0x13), 12, "ea")),
    ("a pocket in PAUSED", "R-4-4", stored, puts(e(0x16), 18, "01")),
    ("a number is skipped", "R-4-5", stored, lambda told: told.renumber(1, told.event(0x16))),
    ("an event is lost", "R-4-5", stored, dropped_event),
    ("an event comes twice", "R-4-5", stored, twice),
    ("an arg", "R-4-6", stored, puts(e(0x12), 24, "01")),
    ("an unknown event", "R-4-7", stored, puts(e(0x17), 0, "f0")),
    ("card 54", "R-4-9", idle, adds(event(0x21, 4, 1001, 3, 54, quality=90, clock=5100000))),
    ("pocket 4 of 4", "R-4-9", failed, adds(event(0x2b, 0x0d, 1001, 3, 7, 4, clock=5260000))),
    ("quality 101", "R-4-9", stored, puts(e(0x12), 19, "65")),
    ("a card at position 64", "R-4-10", failed, adds(event(0x29, 0x0d, 1001, 64, clock=5260000))),
    ("a card with quality 49", "R-4-13", stored, puts(e(0x12), 19, "31")),
    ("reserved bytes of an event", "R-0-2", stored, puts(e(0x12), 2, "01")),
    ("reserved flags of an event", "R-0-2", stored, puts(e(0x12), 1, "04")),
    ("a second board", "R-4.1-1", idle, adds(event(4, 4, 1002, clock=5100000))),
    ("a board goes that was not there", "R-4.1-1", stored, adds(event(5, 0x16, 0, clock=9000000))),
    ("an insertion again", "R-5.2-1", stored, adds(event(4, 0x16, 1001, arg0=3, clock=9000000))),
    ("insertion 0", "R-5.2-1", idle, lambda told: told.event(4).number(12, 0)),
    ("KEY without KEYS", "R-1.1-1", lambda: idle().capability(8, False), adds(
        event(8, 4, 1001, code=1, arg0=1, clock=5100000))),
    ("a deal that nobody started", "R-4.2-1", stored, lambda told: told.drop(told.request(0x12))),
    ("ABORTED without ABORT", "R-4.2-1", stored, lambda told: told.end(told.event(0x14)) and adds(
        event(0x18, 10, 1001, 2, code=7, clock=5200000))(told)),
    ("another plan number", "R-4.2-1", stored, puts(e(0x11), 20, "08")),
    ("fewer cards dealt", "R-4.2-1", stored, puts(e(0x15), 16, "03")),
    ("other counts", "R-4.2-1", stored, puts(e(0x15), 24, "0002")),
    ("landed before routed", "R-4.2-2 R-4.2-3", stored, lambda told: told.drop(told.event(0x13, 3)) and told.renumber(
        -1, told.event(0x14, 3)) or told.event(0x15).put(16, "03").put(24, "01000101") and None),
    ("another card is routed", "R-4.2-2 R-3-12", stored, puts(e(0x13), 17, "05")),
    ("DONE before the last card fell", "R-4.2-3", stored, lambda told: told.drop(told.event(0x14, 3)) and told.renumber(
        -1, told.event(0x15))),
    ("a card by a machine without reader", "R-4.2-4", stored, both(
        puts(of("class"), 3, "00"), capability(9, False), capability(10), lambda told: seal(told.of("bulk").put(
            6, "02").put(32, "02000301")))),
    ("landed in another pocket, the counts are right", "R-4.3-1", stored, landed_elsewhere),
    ("routed to another pocket than planned", "R-3-12 R-4.3-1 R-4.2-1", stored, puts(e(0x13), 18, "03")),
    ("a card that the plan does not have", "R-4.3-1 R-3-12 R-4.2-2", stored, lambda told: [
        told.event(kind).put(17, "09") for kind in (0x12, 0x13)] and None),
    ("a repeated card goes on", "R-4.3-2", stored, second_read),
    ("CARD_READ, and a stop", "R-4.3-4", stored, lambda told: told.end(told.event(0x12)) and adds(
        event(0x21, 7, 1001, 0, 2, quality=90, code=1, clock=5250000))(told)),
    ("a stop 301 ms behind DONE", "R-4.3-8", stored, lambda told: told.end(told.event(0x15)) and adds(
        event(0x29, 0x15, 1001, 3, clock=6000000))(told) or late(e(0x29), 0.301)(told)),
    ("GATE_LATE of a stored-plan machine", "R-4.3-1", stored, lambda told: told.end(told.event(0x12)) and adds(
        event(0x22, 7, 1001, 0, 2, clock=5250000))(told)),
    # -- states and insertions
    ("LOAD in FAULT is accepted", "R-2.3-1 R-5-1", failed, adds(command(0x11, 3, 7, 40))),
    ("START in FAULT is accepted", "R-2.3-1 R-5-1", failed, adds(command(0x12, 3, 7, 1001))),
    ("PAUSE in IDLE is accepted", "R-2.3-1 R-5-1", idle, adds(command(0x13, 1))),
    ("STATE, where it is allowed", "R-5-1", idle, adds(
        command(0x11, 1, 7, 40, status=STALL), query(3, bytes.fromhex("01000000110500000000000000000000")))),
    ("a spent board again", "R-2.3-1 R-5.2-3", stored, lambda told: told.end(told.request(2)) and adds(
        command(0x12, 5, 7, 1001))(told)),
    ("a board in doubt", "R-2.3-1 R-5.2-7 R-5.2-8", stored, puts(e(4), 1, "02")),
    ("PAUSED after 2.1 s", "R-5.1-1", stored, late(e(0x16), 2.1)),
    ("DEAL_STARTED after 1.1 s", "R-5.1-1", stored, late(e(0x11), 1.1)),
    # -- test deals
    ("a test deal with a plan number", "R-7-2", idle, both(capability(7), adds(
        command(0x19, 1, 0, 1001, 2), event(0x11, 4, 1001, code=7, arg0=2, clock=5100000)))),
    ("a test deal in another order", "R-7-1", idle, both(capability(7), adds(
        command(0x19, 1, 0, 1001, 2), event(0x11, 4, 1001, code=0xffffffff, arg0=2, clock=5100000),
        event(0x12, 5, 1001, 0, 7, quality=90, code=1, clock=5100001),
        event(0x13, 6, 1001, 0, 7, 1, clock=5100002)))),
    # -- attestations
    ("an attestation", "", attested, lambda told: None),
    ("the counter is two more", "R-5.3-10 R-5.3-14", attested, puts(e(0x1a), 20, "2b")),
    ("ATTESTED with error and counter", "R-5.3-8 R-5.3-12 R-5.3-14", attested, puts(e(0x1a), 24, "05")),
    ("an answer without ATTEST", "R-5.3-13", idle, adds(query(6, bytes(48)))),
    ("another magic", "R-5.3-14", attested, puts(r(7), 0, "45")),
    ("no plan digest", "R-5.3-15", attested, puts(r(7), 6, "01")),
    ("the same nonce", "R-5.3-17", attested, lambda told: adds(
        command(0x1b, 6, 0, 1001, nonce=bytes(told.request(0x1b).data[16:])))(told)),
    ("ATTEST of another deal", "R-4.2-1 R-5.3-6", attested, puts(r(0x1b), 8, "e8")),
    # -- gates
    ("a gate command of another type", "R-6-1", routed, puts(of("out"), 0, "02")),
    ("hold without reason", "R-6-1 R-6-5", routed, puts(of("out", 1), 2, "00")),
    ("17 bytes", "R-6-2 R-6-6", routed, lambda told: told.of("out").data.append(0)),
    ("another event number", "R-6-3 R-6-6", routed, puts(of("out"), 4, "06")),
    ("the machine takes another pocket", "R-6-4", routed, both(
        puts(e(0x13), 18, "00"), puts(e(0x14), 18, "00"), puts(e(0x15), 24, "02010001"))),
    ("another stop than the reason", "R-6-5", routed, puts(of("out", 1), 2, "28")),
    ("a gate command after the deadline", "R-6-6", routed, late(of("out"), 0.0201)),
    ("the machine guesses", "R-6-6", routed, lambda told: told.drop(told.of("out"))),
    ("CARD_READ without card", "R-6-9 R-4.2-2", routed, puts(e(0x12), 17, "ff")),
    ("a repeated card is let through", "R-4.3-3", routed, lambda told: told.end(told.of("out", 6)) and told.of(
        "out", 6).put(1, "0000").put(12, "00") and None),
    # -- rare things on USB
    ("another alternate setting is selected", "R-1-3", stored, adds(
        Step("control", setup=bytes.fromhex("010b010000000000")))),
    ("a further endpoint", "R-1-7", idle, both(config(further=[(0x04, 2, 512)]), adds(Step("further", b"hello")))),
    ("a further endpoint that nobody uses", "", idle, config(further=[(0x04, 2, 512)])),
    ("device class ff", "R-1-8", idle, lambda told: setattr(told, "device_class", 0xff)),
    ("device class ef", "", idle, lambda told: setattr(told, "device_class", 0xef)),
    ("the host waits for 500 ms", "R-2-4", idle, sets(r(1), takes=0.5, status=-104)),
    ("the descriptor is nowhere", "R-2.1-8", idle, lambda told: told.end(told.of("class")) and sets(
        of("class"), data=bytearray())(told) or adds(query(0, length=24, status=STALL))(told)),
    ("the descriptor by request", "", idle, lambda told: told.after(told.of("class"), query(
        0, bytes(told.of("class").data))) and sets(of("class"), data=bytearray())(told)),
    # -- the serial dialect
    ("nobody asks DESCRIBE", "R-1.1-12 R-1.1-13", idle, lambda told: setattr(told, "describes", False) or adds(
        command(0x1a, 1, 5))(told), True),
    ("endpoints of 1024 bytes", "R-S1-1", idle, config(bulk_size=1024), True),
    ("a frame in pieces from the machine", "", idle, adds(
        Step("received", EVENT_FRAME[:3]), Step("received", EVENT_FRAME[3:30]),
        Step("received", EVENT_FRAME[30:])), True),
    ("two frames in one transfer of the machine", "", idle, adds(Step("received", EVENT_FRAME + NEXT_FRAME)), True),
    ("a frame in pieces from the host", "R-S2-2", idle, adds(
        Step("sent", LOCATE_FRAME[:9]), Step("sent", LOCATE_FRAME[9:])), True),
    ("a wrong checksum", "R-S2-1", idle, adds(Step("received", EVENT_FRAME[:-1] + b"x" + EVENT_FRAME)), True),
    ("an unknown kind", "R-S2-5", idle, adds(Step("received", frame(0x85, b"new"))), True),
    ("a tag of an event", "R-S2-1", idle, adds(Step("received", frame(0x82, COVER, 1))), True),
    ("an event of 31 bytes", "R-4-1", idle, adds(Step("received", frame(0x82, COVER[:-1]))), True),
    ("a tag again", "R-S2-1", stored, lambda told: setattr(told.request(1), "tag", 1), True),
    ("an answer with another tag", "R-S3-2 R-S3-1", idle, lambda told: setattr(
        told.request(1), "answer_tag", 99), True),
    ("REFUSES_BY_RESULT", "R-S3-10", idle, capability(12), True),
]
