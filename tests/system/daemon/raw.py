# SPDX-License-Identifier: LGPL-2.1-or-later
"""A hand-written D-Bus client, for messages that no library lets one send."""
import contextlib
import os
import socket
import struct

PATIENCE = 900          # seconds: only a hang takes so long, however busy the computer is

BASIC = {'u': ('<I', 4), 't': ('<Q', 8), 'i': ('<i', 4), 'b': ('<I', 4), 'h': ('<I', 4), 'y': ('<B', 1)}


def pad(data, to):
    return data + b'\0' * (-len(data) % to)


def string(text):
    data = text.encode()
    return struct.pack('<I', len(data)) + data + b'\0'


def body_of(signature, values):
    """Basic types, strings, and arrays of numbers of four bytes."""
    data, at = b'', 0
    for value in values:
        kind = signature[at]
        at += 1
        if kind in 'so':
            data = pad(data, 4) + string(value)
        elif kind == 'a' and signature[at] == 'u':
            at += 1
            data = pad(data, 4) + struct.pack('<I', 4 * len(value)) + struct.pack('<%dI' % len(value), *value)
        elif kind == 'a':       # a{sv}, always empty
            at += 4
            data = pad(pad(data, 4) + struct.pack('<I', 0), 8)
        else:
            data = pad(data, BASIC[kind][1]) + struct.pack(BASIC[kind][0], value)
    return data


def field(code, signature, value):
    data = bytes([code, len(signature)]) + signature.encode() + b'\0'
    if signature == 'g':
        return data + bytes([len(value)]) + value.encode() + b'\0'
    return pad(data, 4) + (string(value) if signature in 'so' else struct.pack('<I', value))


@contextlib.contextmanager
def acting_as(user):
    """(uid, gid) for a while, where this is root; None: as it is."""
    if user is None:
        yield
        return
    before = os.geteuid(), os.getegid(), os.getgroups()
    os.setgroups([])
    os.setegid(user[1])
    os.seteuid(user[0])
    try:
        yield
    finally:
        os.seteuid(before[0])
        os.setegid(before[1])
        os.setgroups(before[2])


class Raw:
    def __init__(self, user=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        with acting_as(user):
            self.socket.connect(os.environ['DBUS_SYSTEM_BUS_ADDRESS'].split('path=')[1])
            uid = str(os.geteuid()).encode().hex().encode()
        self.socket.sendall(b'\0AUTH EXTERNAL ' + uid + b'\r\nNEGOTIATE_UNIX_FD\r\n')
        answer = b''
        while answer.count(b'\r\n') < 2:
            answer += self.socket.recv(4096)
        assert b'AGREE_UNIX_FD' in answer, answer
        self.socket.sendall(b'BEGIN\r\n')
        self.serial = 0
        self.body = b''
        self.sender = None
        self.send('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'Hello',
                  destination='org.freedesktop.DBus')
        self.read()
        self.name = self.body[4:-1].decode()

    def send(self, path, interface, member, signature='', values=(), fds=(), fd_count=None,
             destination='io.dealbox1', body=None):
        self.serial += 1
        if body is None:
            body = body_of(signature, values)
        fields = b''
        for code, kind, value in [(1, 'o', path), (2, 's', interface), (3, 's', member),
                                  (6, 's', destination), (8, 'g', signature),
                                  (9, 'u', len(fds) if fd_count is None else fd_count)]:
            if value or kind == 'o':
                fields = pad(fields, 8) + field(code, kind, value)
        head = struct.pack('<4BIII', ord('l'), 1, 0, 1, len(body), self.serial, len(fields))
        data = pad(head + fields, 8) + body
        sent = socket.send_fds(self.socket, [data[:65536]], list(fds)) if fds else 0
        self.socket.sendall(data[sent:])
        return self.serial

    def get(self, count):
        data = b''
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError('the bus has hung up')
            data += more
        return data

    def read(self):
        """The next message: (type, name of the error or None, serial that it answers), body and sender."""
        head = self.get(16)
        size, _, length = struct.unpack('<III', head[4:])
        fields = self.get(length + -length % 8)
        self.body = self.get(size)
        error = answers = None
        at = 0
        while at < length:
            at += -at % 8
            code, kind = fields[at], chr(fields[at + 2])
            at += 4
            if kind == 'g':
                at += fields[at] + 2
                continue
            at += -at % 4
            value = struct.unpack_from('<I', fields, at)[0]
            at += 4
            if code == 5:
                answers = value
            if kind in 'so':
                if code == 4:
                    error = fields[at:at + value].decode()
                if code == 7:
                    self.sender = fields[at:at + value].decode()
                at += value + 1
        return head[1], error, answers

    def call(self, *args, **more):
        """The name of the error that is answered, None if it is none."""
        serial = self.send(*args, **more)
        while True:
            kind, error, answers = self.read()
            if kind in (2, 3) and answers == serial:
                return error

    def close(self):
        self.socket.close()
