#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Watch a deal at the module's node, let the machine attest it when the dealing program has gone,
and check the attestation against what was seen and the deal file.

usage: witness.py NODE stored|routed MEMORY SET.pbn BOARD

MEMORY is the machine's: the witness takes the public key from there, as from a person whom it
trusts.
"""
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

import machine as page
import scenario

EVENT = struct.Struct('<QQIIIIIBBBBI8s12x')     # struct dealbox_event
CLAIM, ATTEST, GET_ATTESTATION, GET_IDENTITY = 0xb902, 0xc040b909, 0x80b0b90a, 0x8040b90b


def as_sent(record):
    """The 32 bytes of the protocol that became this record of the module."""
    _, _, kind, flags, number, clock, insertion, *rest = record
    return struct.pack('<BBHIIIBBBBI8s', kind, flags & 3, 0, number, clock, insertion, *rest)


def events(node, until):
    """Read events until one has that type, and return them."""
    found = []
    while not found or found[-1][2] != until:
        select.select([node], [], [])
        data = os.read(node, 64 * EVENT.size)
        found += EVENT.iter_unpack(data)
    return found


def plan_block(number, hands):
    entries = [pocket for card in range(52) for pocket in range(4) if card in hands[pocket]]
    block = struct.pack('<IHBBIBBH4B12x52s', 0x50584244, 0x100, 1, 0, number, 52, 52, 0,
                        13, 13, 13, 13, bytes(entries))
    return block + struct.pack('<I', page.crc32c(block))


def main(path, kind, memory, deal_file, board):
    node = os.open(path, os.O_RDWR)
    print('watching', flush=True)
    seen = events(node, page.DEAL_DONE)
    first = max(i for i, event in enumerate(seen) if event[2] == page.DEAL_STARTED)
    deal = seen[first:]
    insertion, plan = deal[0][6], deal[0][11]
    while True:
        try:
            fcntl.ioctl(node, CLAIM)
            break
        except OSError:         # the dealing program still has it
            time.sleep(0.1)
    nonce = os.urandom(32)
    request = bytearray(struct.pack('<IIII32s16x', insertion, 0, 0, 0, nonce))
    fcntl.ioctl(node, ATTEST, request)
    *_, counter, arguments = events(node, page.ATTESTED)[-1]
    error, of = struct.unpack('<II', arguments)
    print('ATTESTED: counter', counter, 'error', error, 'insertion', of)
    answer = bytearray(176)
    fcntl.ioctl(node, GET_ATTESTATION, answer)
    statement, signature = bytes(answer[:96]), bytes(answer[96:160])
    identity = bytearray(64)
    fcntl.ioctl(node, GET_IDENTITY, identity)

    key = page.Key(page.Memory(memory).seed)
    block = plan_block(plan, scenario.deals(deal_file)[int(board)]) if kind == 'stored' else b''
    sent = [as_sent(event) for event in deal]
    due = page.make_statement(key, counter, page.Attestable(
        insertion, page.blake2b(block) if block else b'', page.blake2b(b''.join(sent)),
        len(sent), 0), nonce)
    signed = b'dealing machine attestation\n' + statement
    bad = {'error': error or of != insertion,
           'identity': bytes(identity[:48]) != page.identity(key, counter),
           'statement': statement != due,
           'signature': key.sodium.crypto_sign_verify_detached(
               signature, signed, ctypes.c_ulonglong(len(signed)), key.public)}
    print('wrong:', *(what for what, is_bad in bad.items() if is_bad))
    return 1 if any(bad.values()) else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
