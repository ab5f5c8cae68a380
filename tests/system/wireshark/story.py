# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Stories: what computer and machine say to each other, step by step, to be changed and to be written
as a capture in either dialect. The worked deals of docs/protocol.md are stories.
"""

import copy
import itertools
import os
import re
import struct

import usbmon

PAGE = os.path.join(os.environ["DEALBOX_SOURCE"], "docs/protocol.md")
DEVICE = bytes.fromhex("120100020000004009120100000101020301")
TICK = 0.001            # seconds between two steps


class Step:
    """
    kind: class (the machine descriptor), control, bulk, out (a gate command), in (events); further
    (to an endpoint 04); serial: sent, received (bytes as they are)
    """

    def __init__(self, kind, data=b"", setup=None, status=0, takes=0.0002, wait=TICK):
        self.kind, self.data, self.setup = kind, bytearray(data), setup and bytearray(setup)
        self.status, self.takes, self.wait = status, takes, wait
        self.tag = self.answer_tag = None       # serial: not the usual one

    def put(self, offset, text):
        data = bytes.fromhex(text)
        self.data[offset:offset + len(data)] = data
        return self

    def number(self, offset, value):
        """A number of four bytes."""
        self.data[offset:offset + 4] = struct.pack("<I", value & 0xffffffff)
        return self


def event(kind, number, insertion=0, position=255, card=255, pocket=255, quality=255, code=0, arg0=0, arg1=0,
          flags=0, clock=None):
    return Step("in", struct.pack("<BBHIIIBBBBIII", kind, flags, 0, number, 1000 * number if clock is None
                                  else clock, insertion, position, card, pocket, quality, code, arg0, arg1))


def query(code, answer=b"", value=0, length=None, **more):
    return Step("control", answer, struct.pack("<BBHHH", 0xc1, code, value, 0, len(answer) if length is None
                                               else length), **more)


def command(code, sequence, a=0, b=0, c=0, nonce=b"", **more):
    data = struct.pack("<IIII", sequence, a, b, c) + nonce
    return Step("control", data, struct.pack("<BBHHH", 0x41, code, 0, 0, len(data)), **more)


def gate(pocket, position, number, insertion, reason=0, first=0, **more):
    return Step("out", struct.pack("<BBBBIII", 1, pocket, reason, position, number, insertion, first), **more)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def plan_block(number, mode, entries, **more):
    feed = 0 if mode == 3 else sum(mode == 2 or entry != 255 for entry in entries)
    counts = bytes(0 if mode == 3 else entries.count(pocket) for pocket in range(8))
    head = struct.pack("<IHBBIBBH", 0x50584244, 0x0100, mode, 0, number, len(entries), feed, 0)
    block = head + counts + bytes(8) + bytes(entries)
    return Step("bulk", block + struct.pack("<I", crc32c(block)), **more)


def seal(step):
    """The right checksum at the end of a plan block."""
    step.data[-4:] = struct.pack("<I", crc32c(step.data[:-4]))
    return step


class Story:
    def __init__(self, steps=()):
        self.steps = list(steps)
        self.configuration = {}         # of usbmon.configuration()
        self.device_class = 0
        self.describes = True           # serial: the host asks for the descriptor

    def copy(self):
        return copy.deepcopy(self)

    def event(self, kind, nth=0):
        """The nth event of that type; every event of a story is a transfer of its own."""
        return [step for step in self.steps if step.kind == "in" and step.data[:1] == bytes([kind])][nth]

    def request(self, code, nth=0):
        return [step for step in self.steps if step.kind == "control" and step.setup[1] == code][nth]

    def of(self, kind, nth=0):
        return [step for step in self.steps if step.kind == kind][nth]

    def after(self, step, *new):
        at = self.steps.index(step) + 1
        self.steps[at:at] = new
        return self

    def before(self, step, *new):
        at = self.steps.index(step)
        self.steps[at:at] = new
        return self

    def drop(self, step):
        self.steps.remove(step)
        return self

    def end(self, step):
        """Nothing comes after this step."""
        del self.steps[self.steps.index(step) + 1:]
        return self

    def renumber(self, by, begin):
        """The events from this step on have other numbers."""
        for step in self.steps[self.steps.index(begin):]:
            if step.kind == "in":
                step.number(4, struct.unpack_from("<I", step.data, 4)[0] + by)

    @property
    def descriptor(self):
        return self.of("class").data

    def capability(self, bit, on=True):
        at, mask = 12 + bit // 8, 1 << bit % 8
        self.descriptor[at] = self.descriptor[at] | mask if on else self.descriptor[at] & ~mask
        return self

    def write(self, capture, when, device=(1, 5), serial=False):
        """Write it to a capture. Returns the time of its end."""
        writer = (Serial if serial else Native)(capture, device)
        for step in self.steps:
            when += step.wait
            writer.now = when
            getattr(writer, step.kind)(step, self)
            when += step.takes
        return when


class Native:
    def __init__(self, capture, device):
        self.capture, self.device, self.now = capture, device, 0
        self.urbs = itertools.count(0x1000)

    def transfer(self, kind, endpoint, step):
        urb = next(self.urbs)
        self.capture.submit(kind, endpoint, urb, self.now, bytes(step.data), device=self.device)
        self.capture.complete(kind, endpoint, urb, self.now + step.takes, status=step.status,
                              length=len(step.data), device=self.device)

    def machine(self, story, descriptor, serial=False):
        routed = bool(descriptor[12:13] and descriptor[12] & 2)
        return usbmon.configuration(b"" if serial else bytes(descriptor),
                                    **{"routed": routed, "serial": serial, **story.configuration})

    def enumerate(self, config, story):
        self.capture.enumerated(DEVICE[:4] + bytes([story.device_class]) + DEVICE[5:], config, self.now,
                                device=self.device)

    def control(self, step, _):
        self.capture.control(bytes(step.setup), self.now, bytes(step.data), step.status, step.takes,
                             urb=next(self.urbs), device=self.device)

    def bulk(self, step, _):
        self.transfer(usbmon.BULK, usbmon.BULK_OUT, step)

    def out(self, step, _):
        self.transfer(usbmon.INTERRUPT, usbmon.GATES, step)


    def further(self, step, _):
        self.transfer(usbmon.BULK, 0x04, step)


# the words of the page are those of its worked deals
setattr(Native, "class", lambda self, step, story: self.enumerate(self.machine(story, step.data), story))
setattr(Native, "in", lambda self, step, story: self.capture.complete(
    usbmon.INTERRUPT, usbmon.EVENTS, 0x85, self.now, bytes(step.data), status=step.status, device=self.device))


def frame(kind, payload, tag=0):
    body = bytes([kind, tag, len(payload)]) + payload
    return b"\xdb" + body + struct.pack("<I", crc32c(body))


class Serial(Native):
    tag = 0

    def send(self, data, takes=0.0001):
        urb = next(self.urbs)
        self.capture.submit(usbmon.BULK, usbmon.BULK_OUT, urb, self.now, data, device=self.device)
        self.capture.complete(usbmon.BULK, usbmon.BULK_OUT, urb, self.now + takes, length=len(data),
                              device=self.device)

    def receive(self, data, when):
        self.capture.complete(usbmon.BULK, usbmon.EVENTS, 0x85, when, data, device=self.device)

    def control(self, step, _):
        if step.setup[0] & 0x60 == 0:
            self.capture.control(bytes(step.setup), self.now, device=self.device)
            return
        inward = step.setup[0] & 0x80
        self.tag = (self.tag + 1) % 256 if step.tag is None else step.tag
        head = bytes([step.setup[1]]) + bytes(step.setup[2:4])
        self.send(frame(1, head + (b"" if inward else bytes(step.data)), self.tag))
        answer = b"\1" if step.status else b"\0" + (bytes(step.data) if inward else b"")
        self.receive(frame(0x81, answer, self.tag if step.answer_tag is None else step.answer_tag),
                     self.now + step.takes)

    def bulk(self, step, _):
        self.send(frame(2, bytes(step.data)))

    def out(self, step, _):
        self.send(frame(3, bytes(step.data)))

    def sent(self, step, _):
        self.send(bytes(step.data))

    def received(self, step, _):
        self.receive(bytes(step.data), self.now)


def serial_class(self, step, story):
    self.enumerate(self.machine(story, step.data, serial=True), story)
    self.now += 0.0001
    if story.describes:
        self.control(query(0, bytes(step.data)), story)


setattr(Serial, "class", serial_class)
setattr(Serial, "in", lambda self, step, story: self.receive(frame(0x82, bytes(step.data)), self.now))


def worked(name):
    """A worked deal of the page: stored, routed, attest."""
    with open(PAGE, encoding="utf-8") as page:
        text = re.search(r"^```%s\n(.*?)^```" % name, page.read(), re.M | re.S)[1]
    # the bytes of a line go on in the lines that have nothing else
    text = re.sub(r"\n +(?=[0-9a-f]{2} )(?!hash)", " ", text)
    steps = []
    for line in text.splitlines():
        match = re.match(r"([<>]) (class|setup|data|done|stall|bulk|int in|int out)((?: +[0-9a-f]{2})*)$", line)
        if not match:
            assert line.startswith((";", "  hash")), line
            continue
        data = bytes.fromhex(match[3])
        if match[2] == "setup":
            steps.append(Step("control", setup=data))
        elif match[2] == "data":
            steps[-1].data = bytearray(data)
        elif match[2] == "stall":
            steps[-1].status = -usbmon.EPIPE
        elif match[2] != "done":
            steps.append(Step(match[2].split()[-1], data))
    return Story(steps)


def attested():
    """The worked deal with its attestation."""
    story = worked("stored").capability(13)
    story.descriptor[4:6] = b"\1\1"
    done = story.event(0x15)
    story.end(done)
    story.steps += worked("attest").steps
    return story
