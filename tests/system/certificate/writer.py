# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Writes manifests and certificates from docs/certificate.md alone, honest ones and others: whatever
somebody can sign who has the key of the organiser, of the PC or of the machine.
"""

import base64
import ctypes
import ctypes.util
import hashlib
import struct

SEATS = "NESW"
SUITS = "SHDC"
RANKS = "AKQJT98765432"
VULNERABLE = "None NS EW All NS EW All None EW All None NS All None NS EW".split()

_sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
assert _sodium.sodium_init() >= 0


def blake2b(key, *parts):
    return hashlib.blake2b(b"".join(parts), key=key, digest_size=32).digest()


def sha256(text):
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).digest()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Key:
    """A key of Ed25519, made of a word: the same word gives the same key."""

    def __init__(self, word, seed=None):
        public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
        assert _sodium.crypto_sign_seed_keypair(public, secret, seed or sha256(word)) == 0
        self.public, self._secret = public.raw, secret.raw

    @classmethod
    def of_file(cls, path):
        """The key in a file of `dealbox certificate new-key` or `begin`."""
        with open(path, encoding="ascii") as file:
            return cls("", bytes.fromhex(file.read().split()[-1]))

    @property
    def hex(self):
        return self.public.hex()

    def sign(self, data):
        signature = ctypes.create_string_buffer(64)
        assert _sodium.crypto_sign_detached(signature, None, data, ctypes.c_ulonglong(len(data)), self._secret) == 0
        return signature.raw


def sign_text(body, key):
    """A signed text of a body."""
    covered = body + "signer %s\n" % key.hex
    return covered + "signature %s\n" % key.sign(covered.encode()).hex()


# -- deals -----------------------------------------------------------------------------------------

def deal_of(word):
    """A deal, as 52 seats by card: the same word gives the same deal."""
    order = sorted(range(52), key=lambda card: sha256("%s %d" % (word, card)))
    holders = [0] * 52
    for place, card in enumerate(order):
        holders[card] = place // 13
    return holders


def exchanged(deal):
    """The same deal, but for two cards."""
    other = list(deal)
    one, two = deal.index(0), deal.index(1)
    other[one], other[two] = deal[two], deal[one]
    return other


def pbn_of(deal):
    hands = [".".join("".join(RANKS[n] for n in range(13) if deal[13 * suit + n] == seat) for suit in range(4))
             for seat in range(4)]
    return "N:" + " ".join(hands)


def deal_read(pbn):
    """The deal of PBN."""
    deal = [0] * 52
    for turn, hand in enumerate(pbn[2:].split()):
        for suit, ranks in enumerate(hand.split(".")):
            for rank in ranks:
                deal[13 * suit + RANKS.index(rank)] = (SEATS.index(pbn[0]) + turn) % 4
    return deal


def pbn_file(boards, dealer=None, vulnerable=None):
    """A file of PBN, of boards as vectors have them: number -> "N:...". Law 2 gives what is None."""
    text = ""
    for number, deal in sorted(boards.items(), key=lambda board: int(board[0])):
        n = int(number)
        text += ('[Event ""]\n[Site ""]\n[Date ""]\n[Board "%d"]\n[West ""]\n[North ""]\n[East ""]\n[South ""]\n'
                 '[Dealer "%s"]\n[Vulnerable "%s"]\n[Deal "%s"]\n[Scoring ""]\n[Declarer ""]\n[Contract ""]\n'
                 '[Result ""]\n\n' % (n, dealer or SEATS[(n - 1) % 4], vulnerable or VULNERABLE[(n - 1) % 16], deal))
    return text


def head(chain, key, size, root):
    """A head of docs/certificate.md."""
    origin = "dealbox/%s/%s" % (chain.manifest.hex()[:16], key.hex[:16])
    body = "%s\n%d\n%s\n" % (origin, size, base64.b64encode(root).decode())
    key_id = sha256(origin.encode() + b"\n\x01" + key.public)[:4]
    return body + "\n\u2014 %s %s\n" % (origin, base64.b64encode(key_id + key.sign(body.encode())).decode())


# -- manifests -------------------------------------------------------------------------------------

KH = "180420a5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943"


def machine_line(name, key=None, kind="real"):
    return "machine %s %s %s\n" % (key.hex if key else "-", kind, name)


def manifest_body(phases=("1:1-2:rr:Round robin",), copies=1, pcs=(), machines=(), version=2,
                  name="Club evening", kh=KH, info="Lottery of 1 May"):
    body = "dealbox manifest %d\ntime 2026-11-20T12:00:00.000000Z\nTN %s\nDI %s\n" % (version, name, info)
    body += "".join("SN %s\n" % phase for phase in phases) + "KH %s\n" % kh
    if version == 2:
        body += "copies %d\n" % copies + "".join("pc %s\n" % pc for pc in sorted(key.hex for key in pcs))
        body += "".join(machines)
    return body


# -- certificates ----------------------------------------------------------------------------------

def plan_block(deal, pockets, number, by_card=True):
    """The plan block of docs/protocol.md, section 3."""
    entries = bytes(pockets.index(SEATS[seat]) for seat in deal)
    counts = bytes(entries.count(pocket) for pocket in range(8))
    block = struct.pack("<IHBBIBBH", 0x50584244, 0x100, 1 if by_card else 2, 0, number, 52, 52, 0)
    block += counts + bytes(8) + entries
    return block + struct.pack("<I", crc32c(block))


def attest(key, nonce, counter, insertion, plan=None, events=b"", emulated=False, magic=0x41584244, version=0x100,
           reserved=0, key_id=None, count=157):
    """The statement of a machine, and its signature: section 5.3 there. plan is None: host-routed."""
    def digest(kind, data):
        return blake2b(nonce, bytes([kind]) + hashlib.blake2b(data, digest_size=32).digest())

    key_id = key_id or hashlib.blake2b(key.public, digest_size=32).digest()[:8]
    flags = (1 if emulated else 0) | (2 if plan else 0)
    statement = struct.pack("<IHBB8sIIII", magic, version, flags, 0, key_id, counter, insertion, count, reserved)
    statement += (digest(1, plan) if plan else bytes(32)) + digest(2, events)
    return statement, key.sign(b"dealing machine attestation\n" + statement)


class Chain:
    """The certificates of one PC."""

    def __init__(self, manifest, pc, word="opening"):
        self.manifest, self.pc = sha256(manifest), pc
        self.opening = sha256(word)
        self.texts = []
        self.bodies = []

    @property
    def previous(self):
        return sha256(self.texts[-1]) if self.texts else self.manifest

    def salt(self, fields):
        lines = "".join("%s %s\n" % (word, fields[word])
                        for word in ("manifest", "session", "board", "copy", "machine", "insertion"))
        return blake2b(self.opening, b"dealbox salt 1\n", lines.encode())

    def body(self, session, board, deal, insertion, copy=1, machine="DB-0042", pockets="NESW", verdict="exact",
             by="machine", basis="sensors", cards="read", number=None, key=None, counter=None, events=b"events",
             host_routed=False, attested=None, nonce=None, told=None, version=2, trace=None, mode_by_card=None,
             previous=None, **attestation):
        """
        The body of a certificate. key signs as the machine, unless it is None. told is the deal that the
        machine was given, if that is another.
        """
        fields = {"manifest": self.manifest.hex(), "session": session, "board": board, "copy": copy,
                  "machine": machine, "insertion": insertion}
        salt = self.salt(fields)
        number = insertion + 1000 if number is None else number
        cards_of = [0] * 4
        for card, seat in enumerate(deal):
            cards_of[pockets.index(SEATS[seat])] |= 1 << card
        plan = blake2b(salt, b"dealbox plan 1\n", struct.pack("<4Q", *cards_of))
        trace = blake2b(salt, b"dealbox trace 1\n", events) if trace is None else trace
        word = ["-"] * 4
        if key:
            nonce = nonce or sha256("nonce %s %d" % (machine, insertion))
            by_card = cards == "read" if mode_by_card is None else mode_by_card
            block = None if host_routed else plan_block(told or deal, pockets, number, by_card)
            statement, signature = attested or attest(key, nonce, insertion if counter is None else counter,
                                                      attestation.pop("of", insertion), block, events, **attestation)
            pad = blake2b(salt, b"dealbox nonce 1\n", statement)
            word = [key.hex, statement.hex(), signature.hex(), bytes(a ^ b for a, b in zip(nonce, pad)).hex()]
        text = "dealbox certificate %d\n" % version
        text += "manifest %(manifest)s\nsession %(session)s\nboard %(board)d\ncopy %(copy)d\n" % fields
        text += "pockets %s\nplan %s\ntrace %s\nverdict %s\n" % (pockets, plan.hex(), trace.hex(), verdict)
        text += "by %s\n" % by if version == 2 else ""
        text += "basis %s\ncards %s\nmachine %s\ninsertion %d\n" % (basis, cards, machine, insertion)
        if version == 2:
            text += "number %d\nkey %s\nstatement %s\nattestation %s\nnonce %s\n" % (number, *word)
        time = 1763663400123456 + 60000000 * len(self.texts)
        text += "time 2026-11-20T18:%02d:%02d.%06dZ\n" % (time // 60000000 % 60, time // 1000000 % 60, time % 1000000)
        return text + "previous %s\n" % (previous or self.previous).hex()

    def add(self, *arguments, **fields):
        self.add_body(self.body(*arguments, **fields))

    def add_body(self, body, key=None):
        self.texts.append(sign_text(body, key or self.pc))

    def by_hand(self, session, board, deal, copy=1):
        self.add(session, board, deal, 0, copy=copy, machine="-", by="hand", basis="none", cards="counted", number=0,
                 events=b"")

    def opening_body(self, count=None, previous=None, opening=None, manifest=None):
        return "dealbox opening 1\nmanifest %s\ncertificates %d\nprevious %s\nopening %s\n" % (
            (manifest or self.manifest).hex(), len(self.texts) if count is None else count,
            (previous or self.previous).hex(), (opening or self.opening).hex())

    def open(self, key=None, **fields):
        self.texts.append(sign_text(self.opening_body(**fields), key or self.pc))
        return self

    @property
    def text(self):
        return "".join(self.texts)
