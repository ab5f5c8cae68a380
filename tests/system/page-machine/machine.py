#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A dealing machine, written from docs/protocol.md alone: protocol, mechanics, and USB over USB/IP.

Machine is the controller of the machine, with its sensors and motors. What is physical (the cards
in the hopper, at the reader and in the board) is in World, which the controller only reaches as
real electronics would: feed, read, let a card go. World therefore knows where each card lies,
whatever the controller believes.
"""
import collections
import errno
import hashlib
import heapq
import os
import select
import socket
import struct
import time

NONE = 255
TEST_PLAN = ALL = 0xffffffff

IDLE, DEALING, PAUSED, HELD, FAULT, DONE = range(6)

# §2.3
(OK, BAD_REQUEST, BAD_LENGTH, BAD_VALUE, UNSUPPORTED, STATE, ERR_FAULT, NO_PLAN, WRONG_PLAN,
 NO_BOARD, WRONG_INSERTION, SPENT, IN_DOUBT, ERR_COVER, ERR_HOPPER, CRC, PLAN, INCOMPLETE,
 HARDWARE) = range(19)

# §4
(STATE_LOST, HOPPER_LOADED, HOPPER_EMPTY, BOARD_INSERTED, BOARD_REMOVED, COVER_OPEN, COVER_CLOSED,
 KEY) = range(1, 9)
(PLAN_LOADED, DEAL_STARTED, CARD_READ, CARD_ROUTED, CARD_LANDED, DEAL_DONE, EV_PAUSED, RESUMED,
 ABORTED, FAULT_CLEARED, ATTESTED) = range(0x10, 0x1b)
UNREADABLE, NOT_IN_PLAN, GATE_LATE, FEED_TIMEOUT, DECK_SHORT = range(0x20, 0x25)
REPEATED, DOUBLE_FEED, JAM, WRONG_POCKET, PULLED, COVER_OPENED, EV_HARDWARE = range(0x28, 0x2f)
FIRST_FAULT = 0x28
QUEUE = 256

# §1.1
(STORED_PLAN, HOST_ROUTED, EXIT_SENSORS, BOARD_READER, BOARD_LOCK, FACE_SENSOR, DOUBLE_FEED_SENSOR,
 TEST_DEAL, KEYS, BY_CARD, BY_POSITION, CAPTURE, REFUSES_BY_RESULT, CAN_ATTEST) = (
     1 << bit for bit in range(14))

POCKETS, CAPACITY, HOPPER, PLAN_CARDS = 4, 20, 60, 54
(DESCRIBE, GET_INFO, GET_STATUS, GET_RESULT, GET_COUNTERS, GET_PARAM, GET_IDENTITY, GET_STATEMENT,
 GET_SIGNATURE) = range(9)
(SET_PARAM, LOAD, START, PAUSE, RESUME, REREAD, ABORT, CLEAR_FAULT, RELEASE_BOARD, TEST, LOCATE,
 ATTEST) = range(0x10, 0x1c)
MODE_CARD, MODE_POSITION, MODE_CAPTURE, MODE_TEST, MODE_ROUTED = range(1, 6)

C_DEALT, C_VOID, C_FED, C_READ, C_UNREADABLE, C_REPEATED, C_FOREIGN, C_DOUBLE, C_TIMEOUT, C_JAM, \
    C_POCKET, C_LATE, C_IGNORED, C_POWER, C_SECONDS = range(15)
COUNTED_STOPS = {UNREADABLE: C_UNREADABLE, REPEATED: C_REPEATED, NOT_IN_PLAN: C_FOREIGN,
                 DOUBLE_FEED: C_DOUBLE, FEED_TIMEOUT: C_TIMEOUT, JAM: C_JAM, WRONG_POCKET: C_POCKET}


def crc32c(data):
    crc = ALL
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ ALL


def blake2b(data, key=b''):
    return hashlib.blake2b(data, digest_size=32, key=key).digest()


class Key:
    """An Ed25519 key; Python's library has none, so libsodium signs."""

    def __init__(self, seed):
        import ctypes   # the virtual machine is slow, and few machines attest
        self.ctypes = ctypes
        self.sodium = ctypes.CDLL('libsodium.so.23')
        public, self.private = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
        self.sodium.crypto_sign_seed_keypair(public, self.private, seed)
        self.public = public.raw
        self.id = blake2b(self.public)[:8]

    def sign(self, data):
        ctypes = self.ctypes
        signature = ctypes.create_string_buffer(64)
        length = ctypes.c_ulonglong(len(data))
        self.sodium.crypto_sign_detached(signature, None, data, length, self.private)
        return signature.raw


EMULATED, WITH_PLAN = 1, 2

# of a deal that ended in DEAL_DONE: what a statement is made of
Attestable = collections.namedtuple('Attestable', 'insertion plan_hash event_hash events done_at')


def make_statement(key, counter, deal, nonce):
    flags, plan = EMULATED, bytes(32)
    if deal.plan_hash:
        flags |= WITH_PLAN
        plan = blake2b(b'\1' + deal.plan_hash, nonce)
    return struct.pack('<IHBB8sIIII32s32s', 0x41584244, 0x100, flags, 0, key.id, counter,
                       deal.insertion, deal.events, 0, plan,
                       blake2b(b'\2' + deal.event_hash, nonce))


def identity(key, counter):
    return struct.pack('<II8s32s', EMULATED, counter, key.id, key.public)


def sign(key, statement):
    return key.sign(b'dealing machine attestation\n' + statement)


def hashed(event):
    """The event as it goes into the event hash."""
    return bytes([event[0], event[1] & 3, 0, 0]) + event[4:]


class Loop:
    """Timers, and files that become readable."""

    def __init__(self):
        self.timers, self.count, self.files = [], 0, {}
        self.running = True

    def after(self, seconds, call, *args):
        self.count += 1
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.count, call, args))

    def run(self):
        while self.running:
            while self.timers and self.timers[0][0] <= time.monotonic():
                _, _, call, args = heapq.heappop(self.timers)
                call(*args)
            wait = self.timers[0][0] - time.monotonic() if self.timers and self.running else 0
            ready, _, _ = select.select(list(self.files), [], [], max(wait, 0))
            for file in ready:
                if file in self.files:
                    self.files[file]()


class Board:
    def __init__(self, number):
        self.number = number
        self.pockets = [[] for _ in range(8)]


class World:
    """What is physical. It outlives a power loss."""

    def __init__(self):
        self.hopper = []        # next card first
        self.reader = []        # more than one after a double feed
        self.board = None
        self.cover = False
        self.stuck = False
        self.floor = []         # fell while no board was there


class Memory:
    """What the machine keeps without power: insertion, attestation, seed of the key, counters."""

    def __init__(self, path=None):
        self.path, self.insertion, self.attested, self.counters = path, 1000, 0, [0] * 16
        self.seed = os.urandom(32)
        if path and os.path.exists(path):
            with open(path, encoding='ascii') as file:
                self.insertion, self.attested, seed, *self.counters = map(int, file.read().split())
            self.seed = seed.to_bytes(32, 'little')

    def save(self):
        if self.path:
            with open(self.path + '.new', 'w', encoding='ascii') as file:
                print(self.insertion, self.attested, int.from_bytes(self.seed, 'little'),
                      *self.counters, file=file)
            os.replace(self.path + '.new', self.path)


class Insertion:
    def __init__(self, number, doubt):
        self.number, self.doubt = number, doubt
        self.spent = self.captured = False
        self.cards = [0] * 8    # in each pocket, of all deals: what fits is limited by it


class Deal:
    def __init__(self, mode, plan, insertion, total, capture=False, entries=b''):
        self.mode, self.plan, self.insertion, self.total = mode, plan, insertion, total
        self.capture, self.entries = capture, entries
        self.passed = 0         # cards past the gate: the next card has this position
        self.done = [0] * 8
        self.seen = {}          # card -> position, of good readings of cards past the gate
        self.running = True


class Machine:
    """The controller. usb.wake() is called when an event was queued."""

    def __init__(self, loop, world, memory, routed, refuses_by_result=False, lock=False,
                 deadline=2000000, early=False, attest=False, faults=(), pace=0.004):
        self.loop, self.world, self.memory = loop, world, memory
        self.routed, self.deadline, self.pace = routed, deadline if routed else 0, pace
        self.early = early
        self.capabilities = (
            EXIT_SENSORS | BOARD_READER | DOUBLE_FEED_SENSOR | TEST_DEAL | KEYS | BY_CARD |
            BY_POSITION | CAPTURE | (HOST_ROUTED if routed else STORED_PLAN) |
            (BOARD_LOCK if lock else 0) | (CAN_ATTEST if attest else 0) |
            (REFUSES_BY_RESULT if refuses_by_result else 0))
        self.signer = Key(memory.seed) if attest else None
        self.hash, self.hashed = None, 0        # from DEAL_STARTED to DEAL_DONE
        self.attestable = self.attesting = None # attesting: (insertion, nonce)
        self.statement = self.signature = None
        self.faults = list(faults)      # (number of the deal, position, name)
        self.deals = 0
        self.began = self.counted = time.monotonic()
        self.params = {1: [6000, 60, 60000], 2: [0, 0, 9]}      # SPEED, READ_RETRIES
        self.on = True
        self.configured = self.was_configured = False
        self.queue = collections.deque()
        self.number = 1
        self.plan = None                # (number, mode, cards to feed, entries, hash)
        self.load = None                # (number, length, bytes so far)
        self.loads = 0
        self.last = (0, 0, 0, 0)        # sequence number, bRequest, error, detail
        self.state, self.fault = IDLE, 0
        self.deal = None
        self.stop_wanted = None         # 'abort', or the reason of PAUSED
        self.step = 0                   # timers of an earlier step do nothing
        self.busy = None                # start, feed, read or gate
        self.waiting = None             # the CARD_READ that waits for its gate command
        self.late = None                # what a gate command that is too late would answer
        self.flying = 0
        self.locked = False
        self.insertion = None
        self.usb = None
        self.watch = lambda: None       # the operator looks at the machine
        self.count(C_POWER)
        if world.board:
            self.new_insertion(True)

    # -- small things

    def clock(self):
        return int((time.monotonic() - self.began) * 1e6) & ALL

    def count(self, which):
        self.memory.counters[which] = self.memory.counters[which] + 1 & ALL
        self.memory.save()

    def new_insertion(self, doubt):
        self.memory.insertion += 1
        self.memory.save()
        self.insertion = Insertion(self.memory.insertion, doubt)
        self.locked = bool(self.capabilities & BOARD_LOCK)

    def event(self, kind, code=0, arg0=0, arg1=0, position=NONE, card=NONE, pocket=NONE,
              quality=NONE, flags=0, insertion=None, tail=None):
        """Queue an event, and return its number."""
        if not self.configured:
            return 0
        if insertion is None:
            insertion = self.insertion.number if self.insertion else 0
        number = self.number
        self.number = number + 1 & ALL
        if len(self.queue) == QUEUE:
            self.queue.popleft()
        event = struct.pack(
            '<BBHIIIBBBBI8s', kind, flags, 0, number, self.clock(), insertion, position, card,
            pocket, quality, code, tail or struct.pack('<II', arg0, arg1))
        if self.hash:
            self.hash.update(hashed(event))
            self.hashed += 1
        self.queue.append((number, event))
        self.usb.wake()
        return number

    def soon(self, seconds, call, *args):
        """As Loop.after, but only if nothing has changed the course of the deal by then."""
        step = self.step
        self.loop.after(seconds, lambda: self.on and step == self.step and call(*args))

    def next(self, call):
        """What a command causes: behind the end of its transfer or, to be nasty, before it."""
        if self.early:
            call()
        else:
            self.soon(0, call)

    def fault_due(self, *names):
        """The name of a fault that the scenario gives for the next card, once."""
        for fault in self.faults:
            if fault[0] == self.deals and fault[1] == self.deal.passed and fault[2] in names:
                self.faults.remove(fault)
                return fault[2]
        return None

    # -- bus

    def configure(self, value):
        self.halt_deal()
        self.state, self.fault, self.deal = IDLE, 0, None
        self.configured = bool(value)
        if value:
            self.forget(2 if self.was_configured else 1)
            self.was_configured = True
        self.watch()

    def forget(self, reason):
        self.plan = self.load = None
        self.last = (0, 0, 0, 0)
        self.attestable = self.attesting = self.statement = self.signature = None
        self.queue.clear()
        self.number = 1
        self.event(STATE_LOST, reason)
        if self.insertion:
            self.tell_board()
        if self.world.cover:
            self.event(COVER_OPEN)
        if self.world.hopper:
            self.event(HOPPER_LOADED)

    def halt_deal(self):
        if self.deal and self.deal.running:
            self.end_deal(False)
        self.step += 1
        self.busy = self.stop_wanted = self.waiting = self.late = None

    def restart(self):
        """The firmware restarts while the machine stays configured."""
        self.halt_deal()
        self.state, self.fault, self.deal = IDLE, 0, None
        self.forget(3)

    def power_off(self):
        self.halt_deal()
        self.on = False

    # -- queries

    def describe(self):
        return struct.pack('<BBBBHBBHHIII', 24, 0x24, 1, 1, 0x0101, POCKETS, CAPACITY, HOPPER,
                           PLAN_CARDS, self.capabilities, self.deadline, 0)

    def query(self, request, value):
        if request == GET_PARAM:
            if value not in self.params:
                return None
            return struct.pack('<IIII', value, *self.params[value])
        if value:
            return None
        if request == DESCRIBE:
            return self.describe()
        if request == GET_INFO:
            return struct.pack('<HHIII32s16s', 0x0101, 0, 0x01000000, 1, 0, b'Page', b'')
        if request == GET_STATUS:
            return self.status()
        if request == GET_RESULT:
            sequence, command, error, detail = self.last
            return struct.pack('<IBBHII', sequence, command, error, 0, detail, 0)
        if request == GET_COUNTERS:
            now = time.monotonic()
            self.memory.counters[C_SECONDS] += int(now - self.counted)
            self.counted += int(now - self.counted)
            self.memory.save()      # kept without power (R-2.1-7): all that was told
            return struct.pack('<16I', *self.memory.counters)
        if request == GET_IDENTITY and self.signer:
            return identity(self.signer, self.memory.attested)
        if request == GET_STATEMENT:
            return self.statement
        if request == GET_SIGNATURE:
            return self.signature
        return None

    def status(self):
        deal, world, here = self.deal, self.world, self.insertion
        if deal and deal.running and deal.mode == MODE_TEST:
            plan = TEST_PLAN
        elif self.routed:
            plan = deal.plan if deal else 0
        else:
            plan = self.plan[0] if self.plan else 0
        flags = ((1 if here else 0) | (2 if world.cover else 0) | (4 if world.hopper else 0) |
                 (8 if here and here.spent else 0) | (16 if here and here.doubt else 0) |
                 (32 if world.reader else 0))
        done = deal.done if deal else [0] * 8
        return struct.pack(
            '<BBBBIIHBBII8s', self.state, self.fault, flags, deal.total if deal else 0, plan,
            here.number if here else 0, world.board.number if world.board else 0, sum(done), 0,
            self.number, self.clock(), bytes(done))

    # -- commands

    def command(self, request, value, data):
        """Return whether the command is accepted."""
        sequence = struct.unpack('<I', data[:4])[0] if len(data) >= 4 else 0
        if sequence and sequence == self.last[0]:
            return self.last[2] == OK
        error, detail = self.check(request, value, data, sequence)
        self.last = (sequence, request, error, detail)
        if error == OK:
            self.act(request, *struct.unpack('<III', data[4:16]), data[16:])
        return error == OK

    def bad_value(self, request, a, b, c):
        """The number of the first field that is out of range, or 0."""
        if request == SET_PARAM:
            if a not in self.params:
                return 1
            return 2 if not self.params[a][1] <= b <= self.params[a][2] else 3 if c else 0
        if request == LOAD:
            if b and a in (0, ALL):
                return 1
            return 2 if b and not 37 <= b <= 36 + PLAN_CARDS else 3 if c else 0
        if request == START:
            if a in (0, ALL):
                return 1
            if not b:
                return 2
            if not self.routed:
                return 3 if c else 0
            cards, capture = c & 0xff, c & 0x100
            return 3 if c >> 9 or cards > PLAN_CARDS or (not cards and not capture) else 0
        if request == TEST:
            return 1 if a else 2 if not b else 3 if not 1 <= c <= PLAN_CARDS else 0
        if request == LOCATE and a <= 60:
            a = 0
        if request == ATTEST:
            return 1 if a else 2 if not b else 3 if c else 0
        return 1 if a else 2 if b else 3 if c else 0

    ALLOWED = {
        LOAD: (IDLE, DONE), SET_PARAM: (IDLE, FAULT, DONE), START: (IDLE, FAULT, DONE),
        TEST: (IDLE, FAULT, DONE), PAUSE: (DEALING,), RESUME: (PAUSED,), REREAD: (HELD,),
        ABORT: (DEALING, PAUSED, HELD), CLEAR_FAULT: (FAULT,), RELEASE_BOARD: (IDLE, FAULT, DONE),
        LOCATE: range(6), ATTEST: (IDLE, DONE)}

    def check(self, request, value, data, sequence):
        if request not in self.ALLOWED:
            return BAD_REQUEST, 0
        if len(data) != (48 if request == ATTEST else 16) or not sequence:
            return BAD_LENGTH, len(data)
        a, b, c = struct.unpack('<III', data[4:16])
        bad = self.bad_value(request, a, b, c) or (4 if value else 0)
        if not bad and request == ATTEST and not any(data[16:]):
            bad = 5
        if bad:
            return BAD_VALUE, bad
        if (request == LOAD and self.routed) or (request == ATTEST and not self.signer) or \
           (request == RELEASE_BOARD and not self.capabilities & BOARD_LOCK):
            return UNSUPPORTED, 0
        if self.state not in self.ALLOWED[request]:
            return STATE, self.state
        if self.stop_wanted is not None and request != LOCATE and \
           not (request == ABORT and self.stop_wanted != 'abort'):
            return STATE, self.state
        if self.attesting and request in (START, TEST, ATTEST):
            return STATE, self.state
        if request == ATTEST:
            here = self.attestable.insertion if self.attestable else 0
            if here != b:
                return WRONG_INSERTION, here
            return (HARDWARE, 0) if self.memory.attested == ALL else (OK, 0)
        blocked = self.world.reader and self.fault in (JAM, DOUBLE_FEED, REPEATED)
        if request == CLEAR_FAULT and (self.world.stuck or blocked):
            return ERR_FAULT, self.fault
        if request in (START, TEST):
            if self.state == FAULT:
                return ERR_FAULT, self.fault
            if request == START and not self.routed:
                if not self.plan:
                    return NO_PLAN, 0
                if self.plan[0] != a:
                    return WRONG_PLAN, self.plan[0]
        if request in (START, TEST, RELEASE_BOARD):
            if not self.insertion:
                return NO_BOARD, 0
        if request in (START, TEST):
            here = self.insertion
            if here.number != b:
                return WRONG_INSERTION, here.number
            capture = request == START and \
                (c & 0x100 if self.routed else self.plan[1] == MODE_CAPTURE)
            if here.spent or (here.captured and not capture):
                return SPENT, here.number
            if here.doubt:
                return IN_DOUBT, here.number
        if self.world.cover and request in (START, TEST, RESUME, REREAD, CLEAR_FAULT):
            return ERR_COVER, 0
        if request in (START, TEST) and not self.world.hopper:
            return ERR_HOPPER, 0
        return OK, 0

    def act(self, request, a, b, c, nonce):
        if request == SET_PARAM:
            self.params[a][0] = b
        elif request == LOAD:
            self.plan = self.load = None
            self.loads += 1
            if b:
                self.load = (a, b, bytearray())
                self.loop.after(2, self.load_late, self.loads)
        elif request in (START, TEST):
            self.start(request, a, c)
        elif request == PAUSE:
            self.want(1)
        elif request == ABORT:
            self.want('abort')
        elif request == RESUME:
            self.state = DEALING
            self.next(self.resumed)
        elif request == REREAD:
            self.state, self.fault, self.late = DEALING, 0, None
            self.next(self.go)
        elif request == CLEAR_FAULT:
            self.next(self.cleared)
        elif request == RELEASE_BOARD:
            self.locked = False
        elif request == ATTEST:
            self.attesting, self.statement, self.signature = (b, nonce), None, None
            # a stop that is found behind DEAL_DONE comes within 300 ms
            wait = max(self.attestable.done_at + 0.3 - time.monotonic(), 0)
            self.loop.after(wait, self.attest, self.attesting)
        self.loop.after(0, self.watch)

    def attest(self, which):
        if not self.on or self.attesting is not which:
            return
        insertion, nonce = which
        self.attesting = None
        self.memory.attested += 1
        self.memory.save()
        self.statement = make_statement(self.signer, self.memory.attested, self.attestable, nonce)
        self.signature = sign(self.signer, self.statement)
        self.event(ATTESTED, self.memory.attested, 0, insertion)

    def start(self, request, plan, c):
        here = self.insertion
        if request == TEST:
            deal = Deal(MODE_TEST, TEST_PLAN, here.number, c)
        elif self.routed:
            deal = Deal(MODE_ROUTED, plan, here.number, c & 0xff, bool(c & 0x100))
        else:
            number, mode, cards, entries, _ = self.plan
            deal = Deal(mode, number, here.number, cards, mode == MODE_CAPTURE, entries)
        if deal.capture:
            here.captured = True
        else:
            here.spent = True
        self.deal, self.state, self.fault = deal, DEALING, 0
        self.deals += 1
        self.step += 1
        self.busy = 'start'
        self.attestable = None
        self.locked = bool(self.capabilities & BOARD_LOCK)
        self.next(self.started)

    def started(self):
        self.hash, self.hashed = hashlib.blake2b(digest_size=32), 0
        self.event(DEAL_STARTED, self.deal.plan, self.deal.total)
        self.busy = None
        self.go()

    def resumed(self):
        self.event(RESUMED, position=self.deal.passed)
        self.go()

    def cleared(self):
        if self.state == FAULT:
            fault, self.fault, self.state = self.fault, 0, IDLE
            self.event(FAULT_CLEARED, fault)
            self.watch()

    def want(self, what):
        """PAUSE, the stop key or ABORT."""
        self.stop_wanted = what
        if what == 'abort' and self.busy == 'gate':
            # its gate command is one behind ABORT
            self.step += 1
            self.busy = self.waiting = None
        self.next(self.settle)

    def settle(self):
        """End a deal that is to be paused or aborted, when nothing moves any more."""
        if self.stop_wanted is None or self.flying or self.busy:
            return
        what, self.stop_wanted = self.stop_wanted, None
        deal = self.deal
        if what == 'abort':
            fed = deal.passed + (1 if self.world.reader else 0)
            self.end_deal(False)
            self.step += 1
            self.state, self.fault, self.late = IDLE, 0, None
            self.event(ABORTED, deal.plan, position=fed)
        else:
            self.state = PAUSED
            self.event(EV_PAUSED, what, position=deal.passed)
        self.watch()

    # -- plans

    def load_late(self, which):
        if self.on and self.load and which == self.loads:
            received = len(self.load[2])
            number, self.load = self.load[0], None
            self.event(PLAN_LOADED, number, INCOMPLETE, received)

    def bulk(self, data):
        """Return False to stall the endpoint."""
        if not self.load:
            return not data
        number, length, block = self.load
        block += data
        if len(block) < length:
            return True
        self.load = None
        if len(block) > length:
            self.event(PLAN_LOADED, number, PLAN, 12)
            return False
        error, detail = self.take_plan(number, bytes(block))
        self.event(PLAN_LOADED, number, error, detail)
        return True

    def take_plan(self, announced, block):
        magic, version, mode, zero, number, n, cards, zero2 = struct.unpack('<IHBBIBBH', block[:16])
        counts, zero3, entries = block[16:24], block[24:32], block[32:-4]
        if len(block) != 36 + n:
            return PLAN, 12
        crc = crc32c(block[:-4])
        if crc != struct.unpack('<I', block[-4:])[0]:
            return CRC, crc
        due = [0] * 8
        for entry in entries:
            if entry < 8:
                due[entry] += 1
        capture = mode == MODE_CAPTURE
        if capture:
            feed, due = 0, [0] * 8
        else:
            feed = n if mode == MODE_POSITION else n - entries.count(NONE)
        most = {MODE_CARD: 54, MODE_POSITION: PLAN_CARDS, MODE_CAPTURE: 1}.get(mode, PLAN_CARDS)
        faults = [
            (magic != 0x50584244, 0), (version >> 8 != 1, 4), (mode not in (1, 2, 3), 6), (zero, 7),
            (number != announced, 8), (not 1 <= n <= min(most, PLAN_CARDS), 12),
            (cards != feed or (not cards and not capture), 13), (zero2, 14)]
        faults += [(counts[p] != due[p] or counts[p] > CAPACITY, 16 + p) for p in range(8)]
        faults += [(any(zero3), 24)]
        faults += [(e >= POCKETS and not (mode == MODE_CARD and e == NONE), 32 + k)
                   for k, e in enumerate(entries)]
        for bad, offset in faults:
            if bad:
                return PLAN, offset
        self.plan = (number, mode, cards, entries, blake2b(block))
        return OK, 0

    # -- dealing

    def end_deal(self, good):
        self.deal.running = False
        self.hash = None
        self.count(C_DEALT if good else C_VOID)

    def stop(self, kind, **fields):
        """A stop of §4.3."""
        self.event(kind, **fields)
        if kind in COUNTED_STOPS:
            self.count(COUNTED_STOPS[kind])
        self.step += 1
        self.busy = self.stop_wanted = self.waiting = None
        if self.attesting:
            self.event(ATTESTED, 0, STATE, self.attesting[0])
        self.attestable = self.attesting = None
        self.fault = kind
        if kind >= FIRST_FAULT:
            self.state = FAULT
            if self.deal and self.deal.running:
                self.end_deal(False)
        else:
            self.state = HELD
        self.watch()

    def go(self):
        """The next thing in the course of a deal."""
        deal, world = self.deal, self.world
        if self.stop_wanted is not None:
            self.settle()
            return
        if self.state != DEALING or self.busy:
            return
        if self.world.stuck:
            self.stop(JAM, code=2, position=deal.passed)
        elif deal.total and deal.passed == deal.total:
            self.finish()
        elif world.reader:
            self.busy = 'read'
            self.soon(self.pace, self.read)
        elif world.hopper:
            self.busy = 'feed'
            self.soon(self.pace, self.feed)
        elif deal.total:
            self.stop(DECK_SHORT, position=deal.passed)
        else:
            self.finish()

    def finish(self):
        if self.flying:
            return
        deal = self.deal
        self.state = DONE
        self.event(DEAL_DONE, deal.plan, position=deal.passed, tail=bytes(deal.done))
        if deal.mode != MODE_TEST:
            self.attestable = Attestable(deal.insertion, b'' if self.routed else self.plan[4],
                                         self.hash.digest(), self.hashed, time.monotonic())
        self.end_deal(True)
        for late, position in (('late', deal.passed - 1), ('lost', NONE)):
            if (self.deals, 0, late) in self.faults:
                self.soon(0.1, self.late_jam, position)
        self.watch()

    def late_jam(self, position):
        if self.state == DONE:
            self.stop(JAM, code=4, position=position)

    def feed(self):
        deal, world = self.deal, self.world
        self.busy = None
        fault = self.fault_due('timeout', 'jam', 'double', 'hardware')
        if fault == 'timeout':
            self.stop(FEED_TIMEOUT, position=deal.passed)
            return
        if fault == 'hardware':
            self.stop(EV_HARDWARE, code=0x77, position=deal.passed)
            return
        if self.fault_due('joker'):
            world.hopper.insert(0, 52)
        world.reader.append(world.hopper.pop(0))
        self.count(C_FED)
        if fault == 'double' and world.hopper:
            world.reader.append(world.hopper.pop(0))
        if not world.hopper:
            self.event(HOPPER_EMPTY)
        if fault == 'jam':
            world.stuck = True
            self.stop(JAM, code=1, position=deal.passed)
        elif fault == 'double':
            self.stop(DOUBLE_FEED, position=deal.passed)
        else:
            self.go()

    def read(self):
        deal, world = self.deal, self.world
        self.busy = None
        if self.stop_wanted is not None:
            self.settle()       # the card is read after RESUME, or is the first of the next deal
            return
        card, quality, position = world.reader[0], 98, deal.passed
        code = 0x5100 | card
        if self.fault_due('misread') and deal.seen:
            card = next(iter(deal.seen))
            code = 0x5100 | card
        if self.fault_due('unreadable'):
            card, quality, code = NONE, 20, 0x5f00
        if card != NONE:
            self.count(C_READ)
        if self.fault_due('power'):
            self.usb.power_loss()
            return
        if self.fault_due('restart'):
            self.restart()
            return
        reading = {'position': position, 'card': card, 'quality': quality, 'code': code}
        by_position = deal.mode in (MODE_POSITION, MODE_TEST)
        if card == NONE and not by_position:
            self.stop(UNREADABLE, **reading)
            return
        if card == NONE:
            self.count(C_UNREADABLE)
        if deal.mode == MODE_ROUTED:
            self.busy = 'gate'
            # before the event, which the host may fetch at once
            self.waiting = (self.number, reading)
            self.event(CARD_READ, **reading)
            return
        if card in deal.seen and deal.mode != MODE_TEST:
            self.stop(REPEATED, arg0=deal.seen[card], **reading)
            return
        if deal.mode == MODE_CARD:
            pocket = deal.entries[card] if card < len(deal.entries) else NONE
            if pocket == NONE:
                self.stop(NOT_IN_PLAN, **reading)
                return
        elif deal.mode == MODE_CAPTURE:
            pocket = deal.entries[0]
        elif deal.mode == MODE_POSITION:
            pocket = deal.entries[position]
        else:
            pocket = position % POCKETS
        self.event(CARD_READ, **reading)
        self.let_go(reading, pocket)

    def sent(self, number):
        """The host's controller has this event: now its gate command is awaited."""
        if self.waiting and self.waiting[0] == number:
            self.soon(self.deadline / 1e6, self.gate_late, number)

    def gate_late(self, number):
        if self.waiting and self.waiting[0] == number:
            reading = self.waiting[1]
            self.late = (number, reading['position'])
            self.stop(GATE_LATE, position=reading['position'], card=reading['card'])

    def gate(self, data):
        """A gate command. One that is to be ignored is counted."""
        fields = struct.unpack('<BBBBIII', data) if len(data) == 16 else None
        if not fields or fields[0] != 1 or not self.insertion:
            self.count(C_IGNORED)
            return
        if self.waiting and self.fault_due('deaf'):
            return
        _, pocket, reason, position, number, insertion, first = fields
        good = insertion == self.insertion.number and (
            pocket < POCKETS and reason == 0 or
            pocket == NONE and reason in (REPEATED, NOT_IN_PLAN))
        due, reading = self.waiting or (None, None)
        if good and reading and (number, position) == (due, reading['position']):
            self.step += 1
            self.busy = self.waiting = None
            if pocket == NONE:
                self.stop(reason, arg0=first, **reading)
            else:
                self.let_go(reading, pocket)
        else:
            self.count(C_LATE if good and self.late == (number, position) else C_IGNORED)

    def let_go(self, reading, pocket):
        deal, world, position = self.deal, self.world, reading['position']
        if self.insertion.cards[pocket] >= CAPACITY:
            self.stop(EV_HARDWARE, code=0x50, position=position)
            return
        if reading['card'] != NONE:
            deal.seen[reading['card']] = position
        self.event(CARD_ROUTED, position=position, card=reading['card'], pocket=pocket)
        falls = (pocket + 1) % POCKETS if self.fault_due('gate') else pocket
        pulled = self.fault_due('pull', 'cover')
        self.insertion.cards[pocket] += 1
        deal.passed += 1
        self.flying += 1
        self.loop.after(self.pace, self.land, world.board, world.reader.pop(0), deal, reading,
                        pocket, falls)
        if pulled == 'pull':
            self.take_board()
        elif pulled == 'cover':
            self.cover(True)
        self.go()

    def land(self, board, physical, deal, reading, pocket, falls):
        """A card falls, whether or not there is power."""
        here = board and board is self.world.board
        (board.pockets[falls] if here else self.world.floor).append(physical)
        self.flying -= 1
        if not self.on or deal is not self.deal or not here or self.state == FAULT and \
           self.fault in (PULLED, COVER_OPENED):
            return
        deal.done[falls] += 1
        where = {'position': reading['position'], 'card': reading['card'], 'pocket': falls}
        if falls != pocket:
            self.stop(WRONG_POCKET, arg0=pocket, **where)
            return
        self.event(CARD_LANDED, **where)
        self.go()

    # -- the hands of the operator

    def tell_board(self):
        self.event(BOARD_INSERTED, arg0=self.world.board.number,
                   flags=2 if self.insertion.doubt else 0)

    def put_board(self, board):
        self.world.board = board
        self.new_insertion(False)
        self.tell_board()
        self.watch()

    def take_board(self):
        """Take the board out, by force if it is locked."""
        ended, deal = self.insertion.number, self.deal
        if deal and deal.running:
            self.stop(PULLED, position=deal.passed)
        board, self.world.board, self.insertion = self.world.board, None, None
        self.locked = False
        if self.state == DONE:
            self.state = IDLE
        self.deal = None
        self.event(BOARD_REMOVED, insertion=ended)
        self.watch()
        return board

    def fill(self, cards):
        empty = not self.world.hopper
        self.world.hopper = cards
        if cards and empty:
            self.event(HOPPER_LOADED)
        elif not cards and not empty:
            self.event(HOPPER_EMPTY)

    def take_reader(self):
        """Take out what lies at the reader, and what is stuck."""
        cards, self.world.reader, self.world.stuck = self.world.reader, [], False
        return cards

    def cover(self, is_open):
        self.world.cover = is_open
        self.event(COVER_OPEN if is_open else COVER_CLOSED)
        if is_open and self.deal and self.deal.running:
            self.stop(COVER_OPENED, position=self.deal.passed)
        self.watch()

    def key(self, which):
        """1 start, 2 stop, 3 release."""
        self.event(KEY, which, 1)
        if which == 2 and self.state == DEALING and self.stop_wanted is None:
            self.want(2)
        self.event(KEY, which, 0)


# -- USB ------------------------------------------------------------------------------

EPIPE, EOVERFLOW, ECONNRESET = -errno.EPIPE, -errno.EOVERFLOW, -errno.ECONNRESET
BULK_OUT, INT_IN, INT_OUT, PACKET = 1, 2, 3, 64


def string(text):
    data = text.encode('utf-16-le')
    return bytes([len(data) + 2, 3]) + data


class Usb:
    """The device: standard requests, and the machine's three endpoints."""

    def __init__(self, loop, machine, serial, log=None):
        self.loop, self.machine, self.log = loop, machine, log
        machine.usb = self
        self.value = 0
        self.halted = set()
        self.pending = collections.deque()      # (URB, length) on the interrupt IN endpoint
        self.send = None                        # (URB, status, data, length)
        self.power_loss = lambda: None
        routed = machine.routed
        self.strings = [b'\x04\x03\x09\x04', string('dealbox tests'), string('machine of the page'),
                        string(serial)]
        self.device = struct.pack('<BBHBBBBHHHBBBB', 18, 1, 0x200, 0, 0, 0, 64, 0x1209, 1, 0x100,
                                  1, 2, 3, 1)
        by_request = machine.capabilities & REFUSES_BY_RESULT
        body = struct.pack('<BBBBBBBBB', 9, 4, 0, 0, 3 if routed else 2, 0xff, 0x44, 1, 0)
        body += b'' if by_request else machine.describe()
        body += struct.pack('<BBBBHB', 7, 5, BULK_OUT, 2, 512, 0)
        body += struct.pack('<BBBBHB', 7, 5, 0x80 | INT_IN, 3, PACKET, 3)
        if routed:
            body += struct.pack('<BBBBHB', 7, 5, INT_OUT, 3, 16, 3)
        self.configuration = struct.pack('<BBHBBBBB', 9, 2, 9 + len(body), 1, 1, 0, 0x80, 50) + body

    def note(self, *words):
        if self.log:
            when = time.monotonic() - self.machine.began
            print(f'{when:9.3f}', *words, file=self.log, flush=True)

    def submit(self, urb, endpoint, to_host, length, setup, data):
        if endpoint == 0:
            self.control(urb, setup, data)
        elif not self.value:
            self.send(urb, EPIPE, b'', 0)
        elif endpoint == INT_IN and to_host:
            if INT_IN in self.halted:
                self.send(urb, EPIPE, b'', 0)
            else:
                self.pending.append((urb, length))
                self.wake()
        elif endpoint == BULK_OUT and not to_host:
            if BULK_OUT not in self.halted and not self.machine.bulk(data):
                self.halted.add(BULK_OUT)
            self.note('bulk', len(data), 'stall' if BULK_OUT in self.halted else '')
            stalled = BULK_OUT in self.halted
            self.send(urb, EPIPE if stalled else 0, b'', 0 if stalled else len(data))
        elif endpoint == INT_OUT and not to_host and self.machine.routed:
            if INT_OUT in self.halted:
                self.send(urb, EPIPE, b'', 0)
                return
            self.send(urb, 0, b'', len(data))
            self.machine.gate(data)
        else:
            self.send(urb, EPIPE, b'', 0)

    def unlink(self, urb):
        """Return whether the URB was still here."""
        for entry in self.pending:
            if entry[0] == urb:
                self.pending.remove(entry)
                return True
        return False

    def wake(self):
        queue = self.machine.queue
        while self.pending and queue and INT_IN not in self.halted:
            urb, length = self.pending.popleft()
            events = []
            while queue and len(events) < PACKET // 32:
                events.append(queue.popleft())
            data = b''.join(event for _, event in events)
            if len(data) > length:
                self.send(urb, EOVERFLOW, b'', 0)
                continue
            self.send(urb, 0, data, len(data))
            for number, event in events:
                self.note(f'event {event[0]:02x}', 'number', number, 'position', event[16])
                self.machine.sent(number)

    def control(self, urb, setup, data):
        kind, request, value, index, length = struct.unpack('<BBHHH', setup)
        answer = None
        if kind & 0x60 == 0:
            answer = self.standard(kind, request, value, index)
        elif kind in (0xc1, 0x41) and index == 0 and self.value:
            if kind == 0xc1:
                answer = self.machine.query(request, value)
            else:
                accepted = self.machine.command(request, value, data)
                if accepted or self.machine.capabilities & REFUSES_BY_RESULT:
                    answer = b''
                self.note('command', f'{request:02x}', 'error', self.machine.last[2])
        if kind == 0xc1:
            self.note('query', f'{request:02x}', '' if answer is not None else 'stall')
        if answer is None:
            self.send(urb, EPIPE, b'', 0)
        elif kind & 0x80:
            self.send(urb, 0, answer[:length], len(answer[:length]))
        else:
            self.send(urb, 0, b'', len(data))

    def standard(self, kind, request, value, index):
        """The answer, or None to stall."""
        if kind == 0x80 and request == 6:
            which, number = value >> 8, value & 0xff
            if which == 1:
                return self.device
            if which == 2 and number == 0:
                return self.configuration
            if which == 3 and number < len(self.strings):
                return self.strings[number]
            if which == 6:      # at the other speed it would be the same
                return struct.pack('<BBHBBBBBB', 10, 6, 0x200, 0, 0, 0, 64, 1, 0)
        elif kind == 0x00 and request == 9 and value in (0, 1):
            self.note('SET_CONFIGURATION', value)
            self.value = value
            self.halted.clear()
            self.machine.configure(value)
            return b''
        elif kind == 0x80 and request == 8:
            return bytes([self.value])
        elif kind == 0x81 and request == 10:
            return b'\0'
        elif kind == 0x01 and request == 11 and value == 0 and index == 0:
            self.halted.clear()
            return b''
        elif kind in (0x80, 0x81) and request == 0:
            return b'\0\0'
        elif kind == 0x82 and request == 0:
            return bytes([1 if index & 0xf in self.halted else 0, 0])
        elif kind == 0x02 and request in (1, 3) and value == 0:
            if request == 1:
                self.halted.discard(index & 0xf)
                self.loop.after(0, self.wake)
            else:
                self.halted.add(index & 0xf)
            return b''
        return None


class UsbIp:
    """USB/IP's messages on a socket whose other end vhci_hcd has."""

    def __init__(self, loop, usb, port=0):
        self.loop, self.usb = loop, usb
        ours, theirs = socket.socketpair()
        self.socket, self.buffer = ours, bytearray()
        # port, file, device, speed (high)
        with open('/sys/devices/platform/vhci_hcd.0/attach', 'w', encoding='ascii') as file:
            file.write(f'{port} {theirs.fileno()} {1 << 16 | 2} 3')
        theirs.close()
        usb.send = self.answer
        loop.files[ours] = self.readable

    def close(self):
        if self.loop.files.pop(self.socket, None):
            self.socket.close()
            self.usb.send = lambda *_: None
            self.usb.pending.clear()

    def answer(self, urb, status, data, length):
        self.write(struct.pack('>IIIIIiIIII8x', 3, urb, 0, 0, 0, status, length, 0, ALL, 0) + data)

    def write(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            self.close()

    def readable(self):
        try:
            data = self.socket.recv(65536)
        except OSError:
            data = b''
        if not data:
            self.close()
            return
        self.buffer += data
        while len(self.buffer) >= 48:
            command, urb, _, direction, endpoint, word, length = \
                struct.unpack('>7I', self.buffer[:28])
            if command == 2:
                del self.buffer[:48]
                status = ECONNRESET if self.usb.unlink(word) else 0
                self.write(struct.pack('>IIIIIi24x', 4, urb, 0, 0, 0, status))
                continue
            size = 0 if direction else length
            if len(self.buffer) < 48 + size:
                break
            setup, payload = bytes(self.buffer[40:48]), bytes(self.buffer[48:48 + size])
            del self.buffer[:48 + size]
            self.usb.submit(urb, endpoint, direction == 1, length, setup, payload)
