#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The machine of machine.py at vhci_hcd, with an operator who works through a list of boards.

usage: scenario.py run OPTION=VALUE...
         kind=stored|routed boards=1,2,3 (none: nobody is there) account=FILE log=FILE memory=FILE seed=N
         lock=yes by_request=yes early=yes attest=yes deadline=US capture=SET.pbn
         fault=DEAL:POSITION:NAME (again for more)
         hands=SOCKET: no operator; the steps of a fixture come from there
       scenario.py compare SET.pbn ACCOUNT BOARDS
       scenario.py attest docs/protocol.md

run writes a line for each board that is taken out: its number, insertion, how it ended, and the
cards in its pockets, as they really lie there. compare reads the deals from the file by itself.
attest compares the machine's attestation with the worked one of the page.
Faults are misread, unreadable, joker, timeout, jam, double, hardware, gate, pull, cover, late,
lost, deaf, power and restart. With capture, the operator feeds the hands of the first board.
"""
import os
import random
import socket
import sys
import time

import machine as page

LOOK = 0.05     # the operator looks at the machine so often, s


class Operator:
    def __init__(self, loop, world, boards, hands, account, rng):
        self.loop, self.world, self.account, self.rng = loop, world, account, rng
        self.boards, self.board = boards, None
        self.hands = hands      # None, or what is to be captured, hand by hand
        self.helped = False     # with the stop that the machine is in
        self.machine, self.seen, self.since = None, None, 0
        self.look()

    def deck(self):
        cards = list(range(52))
        self.rng.shuffle(cards)
        return cards

    def take_out(self, end):
        world = self.world
        insertion = self.machine.insertion.number
        board = self.machine.take_board()
        print(board.number, insertion, end,
              '/'.join(','.join(map(str, pocket)) for pocket in board.pockets[:page.POCKETS]),
              file=self.account, flush=True)
        self.machine.take_reader()
        world.floor.clear()
        self.machine.fill([])

    def put_in(self):
        self.machine.take_reader()
        self.machine.fill(self.deck() if self.hands is None else self.hands.pop(0))
        self.machine.put_board(page.Board(self.board))

    def look(self):
        self.loop.after(LOOK, self.look)
        machine = self.machine
        if not machine or not machine.on or not machine.configured:
            return
        now = (machine.state, machine.fault, machine.insertion, bool(machine.deal), machine.locked)
        if now != self.seen:
            self.seen, self.since = now, time.monotonic()
            return
        waited = time.monotonic() - self.since
        here, state = machine.insertion, machine.state
        if not here:
            if self.board is None and self.boards:
                self.board = self.boards.pop(0)
            if self.board is not None:
                self.put_in()
        elif self.world.cover:
            if waited > 0.3:
                machine.cover(False)
        elif self.hands and not self.world.hopper and state == page.DONE and waited > 0.5:
            machine.fill(self.hands.pop(0))
        elif self.hands is not None and self.world.hopper and state == page.DONE:
            if waited > 1:
                machine.key(1)
                self.since = time.monotonic()
        elif state == page.DONE and waited > 0.5 and not machine.locked:
            self.take_out('done')
            self.board = None
        elif waited > 0.3 and (state == page.FAULT and machine.deal or
                               state == page.IDLE and (here.spent or here.doubt)):
            self.take_out('void')
        elif machine.fault == page.NOT_IN_PLAN and self.world.reader and self.helped:
            machine.take_reader()
        elif waited > 1 and state in (page.IDLE, page.FAULT, page.HELD, page.PAUSED):
            # a card that does not belong to the pack is found the second time
            self.helped = state == page.HELD and not self.helped
            machine.key(1)
            self.since = time.monotonic()


class Hands:
    """A person who does what dealbox-compliance says on a socket: see FIXTURES in its manual."""

    def __init__(self, loop, world, rng, path):
        self.loop, self.world, self.rng = loop, world, rng
        self.machine, self.outside, self.client, self.line = None, [], None, b''
        self.steps = {
            'begin': lambda: None, 'insert': self.insert, 'remove': self.remove,
            'remove force': self.pull, 'cover open': lambda: self.machine.cover(True),
            'cover close': lambda: self.machine.cover(False), 'empty': self.empty,
            'take-card': lambda: self.outside.extend(self.machine.take_reader()),
            'hopper empty': self.take_all, 'hopper three': lambda: self.put(3),
            'hopper fill': lambda: self.put(len(self.outside)),
            'key start': lambda: self.machine.key(1), 'key stop': lambda: self.machine.key(2),
            'key release': lambda: self.machine.key(3), 'power-cycle': self.power_cycle}
        world.hopper = list(range(52))
        rng.shuffle(world.hopper)
        self.server = socket.socket(socket.AF_UNIX)
        if os.path.exists(path):
            os.unlink(path)
        self.server.bind(path)
        self.server.listen()
        loop.files[self.server] = self.connect

    def connect(self):
        if self.client:
            self.client.close()
            self.loop.files.pop(self.client, None)
        self.client, _ = self.server.accept()
        self.line = b''
        self.loop.files[self.client] = self.read

    def read(self):
        data = self.client.recv(4096)
        if not data:
            self.loop.files.pop(self.client)
            self.client.close()
            self.client = None
            return
        self.line += data
        while b'\n' in self.line:
            words, self.line = self.line.split(b'\n', 1)
            step = self.steps.get(words.decode())
            error = step() if step else 'nobody can do that'
            if error != 'later':
                self.answer(f'error: {error}' if error else 'ok')

    def answer(self, text):
        if self.client:
            self.client.sendall(text.encode() + b'\n')

    def insert(self):
        if self.world.board:
            return 'there is a board'
        self.machine.put_board(page.Board(1))
        return None

    def remove(self):
        return 'the board is locked' if self.machine.locked else self.pull()

    def pull(self):
        if not self.world.board:
            return 'there is no board'
        board = self.machine.take_board()
        self.outside += [card for pocket in board.pockets for card in pocket] + self.world.floor
        self.world.floor = []
        return None

    def empty(self):
        cards = self.machine.take_reader()
        if cards:
            self.machine.fill(self.world.hopper + cards)

    def take_all(self):
        cards = list(self.world.hopper)
        self.machine.fill([])
        self.outside += cards

    def put(self, count):
        self.rng.shuffle(self.outside)
        cards, self.outside = self.outside[:count], self.outside[count:]
        self.machine.fill(self.world.hopper + cards)

    def power_cycle(self):
        self.machine.usb.power_loss(lambda: self.answer('ok'))
        return 'later'


def run(options):
    loop, world = page.Loop(), page.World()
    rng = random.Random(int(options['seed'][0]))
    account = open(options['account'][0], 'a', encoding='ascii')
    log = open(options['log'][0], 'a', encoding='ascii')
    boards = [int(n) for n in options['boards'][0].split(',') if n]
    faults = [fault.split(':') for fault in options.get('fault', [])]
    faults = [(int(deal), int(position), name) for deal, position, name in faults]
    hands = deals(options['capture'][0])[boards[0]] if 'capture' in options else None
    if 'hands' in options:
        operator = Hands(loop, world, rng, options['hands'][0])
    else:
        operator = Operator(loop, world, boards, hands, account, rng)

    def switch_on(deals):
        machine = page.Machine(loop, world, page.Memory(options['memory'][0]),
                               options['kind'][0] == 'routed', 'by_request' in options,
                               'lock' in options,
                               int(options['deadline'][0]) if 'deadline' in options else 2000000,
                               'early' in options, 'attest' in options, faults)
        machine.deals = deals
        usb = page.Usb(loop, machine, 'PAGE1', log)
        connection = page.UsbIp(loop, usb)

        def power_loss(then=lambda: None):
            machine.power_off()
            connection.close()
            faults[:] = machine.faults
            again(machine.deals, then)

        usb.power_loss = power_loss
        operator.machine = machine

    def again(deals, then):
        def attempt():
            try:
                switch_on(deals)
                then()
            except OSError:     # the port is not free yet
                again(deals, then)
        loop.after(0.5, attempt)

    switch_on(0)
    loop.run()


def deals(path):
    """Board number -> the cards of North, East, South and West."""
    found, board = {}, None
    with open(path, encoding='latin-1') as file:
        for line in file:
            if line.startswith('[Board "'):
                board = int(line.split('"')[1])
            if line.startswith('[Deal "'):
                first, hands = line.split('"')[1].split(':')
                owner = 'NESW'.index(first)
                found[board] = [None] * 4
                for i, hand in enumerate(hands.split()):
                    found[board][(owner + i) % 4] = sorted(
                        suit * 13 + 'AKQJT98765432'.index(rank)
                        for suit, ranks in enumerate(hand.split('.')) for rank in ranks)
    return found


def compare(path, account, boards):
    due, good, bad = deals(path), [], 0
    with open(account, encoding='ascii') as file:
        for line in file:
            number, insertion, end, pockets = line.rstrip('\n').split(' ')
            if end != 'done':
                continue
            lie = [sorted(map(int, filter(None, p.split(',')))) for p in pockets.split('/')]
            if lie != due[int(number)]:
                print(f'board {number}, insertion {insertion}: another deal lies in it')
                bad += 1
            good.append(int(number))
    if good != [int(n) for n in boards.split(',')]:
        print('dealt boards:', *good)
        bad += 1
    return 1 if bad else 0


def worked(page, name):
    """(what, bytes) of each line of a worked deal of the page."""
    lines = []
    for line in page.split(f'```{name}\n')[1].split('```')[0].splitlines():
        if line.startswith(';'):
            continue
        what, data = line[:10].strip(), bytes.fromhex(line[10:])
        if what:
            lines.append([what, b''])
        lines[-1][1] += data
    return lines


def attest(path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    block = dict(worked(text, 'stored'))['> bulk']
    events = [data for what, data in worked(text, 'stored')
              if what == '< int in' and 0x05 <= data[4] <= 0x14]
    due = [data for what, data in worked(text, 'attest') if what in ('< data', '> data', 'hash')]
    identity, plan_hash, event_hash, command, statement, signature = due
    key = page.Key(bytes(range(32)))
    ours = page.blake2b(b''.join(map(page.hashed, events)))
    deal = page.Attestable(1001, page.blake2b(block), ours, len(events), 0)
    made = page.make_statement(key, 42, deal, command[16:])
    pairs = {'identity': (page.identity(key, 41), identity),
             'plan hash': (deal.plan_hash, plan_hash),
             'event hash': (deal.event_hash, event_hash), 'statement': (made, statement),
             'signature': (page.sign(key, made), signature)}
    wrong = [name for name, (ours, theirs) in pairs.items() if ours != theirs]
    if wrong:
        print('differs:', *wrong)
    return 1 if wrong else 0


def main(what, *words):
    if what == 'compare':
        return compare(*words)
    if what == 'attest':
        return attest(*words)
    options = {}
    for word in words:
        name, value = word.split('=')
        options.setdefault(name, []).append(value)
    return run(options)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
