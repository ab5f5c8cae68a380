# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Captures of usbmon, in files that Wireshark reads. Capture writes packets; called as a program, this
file makes a capture of what was read from /dev/usbmon0. A Recorder stands between
programs and dealbox-emulator's socket and writes each transfer that passes, besides those by which
a computer gets to know the machine.
"""

import os
import select
import socket
import struct
import sys
import threading
import time

LINKTYPES = {48: 189, 64: 220}      # LINKTYPE_USB_LINUX, LINKTYPE_USB_LINUX_MMAPPED
CONTROL, BULK, INTERRUPT = 2, 3, 1
EINPROGRESS, EPIPE = 115, 32

# the emulator's endpoints
BULK_OUT, EVENTS, GATES = 0x01, 0x82, 0x03
GET_DEVICE = bytes.fromhex("8006000100001200")
GET_CONFIGURATION = bytes.fromhex("800600020000ff00")
SET_CONFIGURATION = bytes.fromhex("0009010000000000")


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


class Capture:
    """A pcapng file. Times are in seconds. header: size of the header of usbmon, 64 or 48"""

    def __init__(self, path, header=64):
        self.header = header
        self.file = open(path, "wb")
        self.file.write(block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
        self.file.write(block(1, struct.pack("<HHI", LINKTYPES[header], 0, 0)))

    def close(self):
        self.file.close()

    def changed(self, packet):
        """For tests of bad packets."""
        return packet

    def packet(self, stage, kind, endpoint, urb, when, data=b"", setup=None, status=0, length=None,
               device=(1, 5), cut=None):
        """One packet, as Documentation/usb/usbmon.rst says. cut: bytes that the file has of it."""
        inward = endpoint & 0x80
        has_data = bool(data) or (stage == "S") != bool(inward)
        mark = 0 if has_data else ord("<" if inward else ">")
        microseconds = round(when * 1000000)
        head = struct.pack("<QcBBBHBBqiiII8siiII", urb, stage.encode(), kind, endpoint, device[1], device[0],
                           ord("-") if setup is None else 0, mark, microseconds // 1000000,
                           microseconds % 1000000, status, len(data) if length is None else length,
                           len(data), setup or bytes(8), 0, 0, 0, 0)
        whole = self.changed(head + data)
        if self.header == 48:
            whole = whole[:48] + whole[64:]
        part = whole if cut is None else whole[:cut]
        self.file.write(block(6, struct.pack("<IIIII", 0, microseconds >> 32, microseconds & 0xffffffff,
                                             len(part), len(whole)) + part))

    def raw(self, packet):
        """A packet with the header of 48 bytes that read(2) of /dev/usbmon0 gives."""
        when = struct.unpack_from("<qi", packet, 16)
        microseconds = when[0] * 1000000 + when[1]
        self.file.write(block(6, struct.pack("<IIIII", 0, microseconds >> 32, microseconds & 0xffffffff,
                                             len(packet), len(packet)) + packet))

    def submit(self, kind, endpoint, urb, when, data=b"", setup=None, **more):
        self.packet("S", kind, endpoint, urb, when, data, setup, status=-EINPROGRESS, **more)

    def complete(self, kind, endpoint, urb, when, data=b"", **more):
        self.packet("C", kind, endpoint, urb, when, data, **more)

    def control(self, setup, when, data=b"", status=0, takes=0.0005, urb=0xc0, **more):
        """A whole control transfer; data of either direction."""
        inward = setup[0] & 0x80
        self.submit(CONTROL, inward, urb, when, b"" if inward else data, setup,
                    length=setup[6] | setup[7] << 8, **more)
        self.complete(CONTROL, inward, urb, when + takes, data if inward and not status else b"",
                      status=status, **more)

    def enumerated(self, device_descriptor, configuration, when, **more):
        """The computer asks for the descriptors, and configures the machine."""
        more["takes"] = 0.000001
        self.control(GET_DEVICE, when, device_descriptor, **more)
        self.control(GET_CONFIGURATION[:6] + struct.pack("<H", len(configuration)), when + 0.000002,
                     configuration, **more)
        self.control(SET_CONFIGURATION, when + 0.000004, **more)


def configuration(descriptor=b"", routed=False, serial=False, in_size=64, bulk_size=512, alternate=0,
                  further=()):
    """
    A configuration descriptor with one interface. descriptor: the machine descriptor; further: more
    endpoints, as (address, type, wMaxPacketSize)
    """
    if serial:
        endpoints = [(BULK_OUT, 2, bulk_size), (EVENTS, 2, bulk_size)]
    else:
        endpoints = [(BULK_OUT, 2, bulk_size), (EVENTS, 3, in_size)]
    endpoints += [(GATES, 3, 64)] if routed and not serial else []
    endpoints += further
    body = struct.pack("<BBBBBBBBB", 9, 4, 0, alternate, len(endpoints), 0xff, 0x44,
                       2 if serial else 1, 0) + descriptor
    for address, kind, size in endpoints:
        body += struct.pack("<BBBBHB", 7, 5, address, kind, size, 1 if kind == 3 else 0)
    return struct.pack("<BBHBBBBB", 9, 2, 9 + len(body), 1, 1, 0, 0xe0, 50) + body


# -- the emulator's socket ------------------------------------------------------------------------
# lib/machine/emu.h

ATTACH, REQUEST, PLAN, GATE = 1, 2, 3, 4
ATTACHED, DONE, PLAN_DONE, GATE_DONE, EVENT = 0x81, 0x82, 0x83, 0x84, 0x85
OWN = 0xffff0000        # ids of the recorder's own requests


class Recorder:
    """Programs that use one machine, one after the other, and a recorder between them."""

    def __init__(self, capture, path, machine, device=(1, 5)):
        self.capture, self.path, self.machine, self.device = capture, path, machine, device
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(1)
        self.inward = {}        # direction of control transfers that are not complete, by id
        self.end, self.ended = socket.socketpair()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def close(self):
        """The programs are done."""
        self.end.close()
        self.thread.join()
        self.ended.close()
        self.listener.close()
        os.unlink(self.path)

    def run(self):
        while self.listener in select.select([self.listener, self.ended], [], [])[0]:
            program, _ = self.listener.accept()
            machine = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            machine.connect(self.machine)
            with program, machine:
                self.serve(program, machine)

    def out(self, kind, ident, data):
        now, more = time.time(), {"device": self.device}
        if kind == REQUEST:
            setup, rest = data[:8], data[8:]
            self.inward[ident] = setup[0] & 0x80
            self.capture.submit(CONTROL, setup[0] & 0x80, ident, now, rest, setup,
                                length=setup[6] | setup[7] << 8, **more)
        elif kind == PLAN:
            self.capture.submit(BULK, BULK_OUT, ident, now, data, **more)
        elif kind == GATE:
            self.capture.submit(INTERRUPT, GATES, ident, now, data, **more)

    def back(self, kind, ident, status, data):
        now, more = time.time(), {"device": self.device, "status": status}
        if kind == DONE:
            self.capture.complete(CONTROL, self.inward.pop(ident), ident, now, data, **more)
        elif kind == PLAN_DONE:
            self.capture.complete(BULK, BULK_OUT, ident, now, **more)
        elif kind == GATE_DONE:
            self.capture.complete(INTERRUPT, GATES, ident, now, **more)
        elif kind == EVENT:
            self.capture.complete(self.events, EVENTS, EVENT, now, data, **more)
            self.capture.submit(self.events, EVENTS, EVENT, now, length=512, device=self.device)

    def ask(self, machine, number, setup, held):
        """A request of the recorder's own. Packets that come meanwhile are appended to held."""
        machine.send(struct.pack("=IIiI", REQUEST, OWN + number, 0, len(setup)) + setup)
        while True:
            packet = machine.recv(8192)
            kind, ident, status, _ = struct.unpack("=IIiI", packet[:16])
            if kind == DONE and ident == OWN + number:
                assert status == 0, status
                return packet[16:]
            held.append(packet)

    def attached(self, machine, packet):
        """Get to know the machine before the program does. Returns the packets for the program."""
        held = [packet]
        # struct emu_attached ends with the interface's protocol
        self.events = BULK if packet[-2] == 2 else INTERRUPT
        device = self.ask(machine, 1, GET_DEVICE, held)
        config = self.ask(machine, 2, GET_CONFIGURATION, held)
        self.capture.enumerated(device, config, time.time(), device=self.device)
        self.capture.submit(self.events, EVENTS, EVENT, time.time(), length=512, device=self.device)
        return held

    def serve(self, program, machine):
        """Pass on what both say, until one of them hangs up."""
        while True:
            for end in select.select([program, machine], [], [])[0]:
                try:
                    packet = end.recv(8192)
                    if not packet:
                        return
                    kind, ident, status, _ = struct.unpack("=IIiI", packet[:16])
                    if end is program:
                        self.out(kind, ident, packet[16:])
                        machine.send(packet)
                        continue
                    packets = [packet]
                    if kind == ATTACHED and status == 0:
                        packets = self.attached(machine, packet)
                    for each in packets:
                        kind, ident, status, _ = struct.unpack("=IIiI", each[:16])
                        self.back(kind, ident, status, each[16:])
                        program.send(each)
                except (BrokenPipeError, ConnectionResetError):
                    return


def main(source, path):
    """Documentation/usb/usbmon.rst: each read gives a header and len_cap bytes of data."""
    with open(source, "rb") as file:
        stream = file.read()
    capture, at = Capture(path, 48), 0
    while at + 48 <= len(stream):
        length = 48 + struct.unpack_from("<I", stream, at + 36)[0]
        if at + length <= len(stream):
            capture.raw(stream[at:at + length])
        at += length
    capture.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
