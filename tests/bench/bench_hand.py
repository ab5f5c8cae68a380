# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench_hand.py DEALBOX EMULATOR SOURCE [BOARDS]: how soon a person who deals by hand sees the seat

A terminal types two keys a card as soon as the seat of the card before is there. The goal is a board of 52 cards in
less than 90 s, 1.7 s a card, of which the program's part is next to nothing.
"""
import os
import shutil
import sys
import tempfile
import time

os.environ.update(zip(('DEALBOX', 'DEALBOX_EMULATOR', 'DEALBOX_SOURCE'), map(os.path.abspath, sys.argv[1:4])))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../system/tool'))
from test_hand import Person, pack     # noqa: E402
from tool import SET, Box              # noqa: E402


def processor_ms(pid):
    with open('/proc/%d/schedstat' % pid) as file:
        return int(file.read().split()[0]) / 1e6


def main(boards):
    folder = tempfile.mkdtemp(prefix='dealbox-')
    os.chdir(folder)
    person = Person(Box(folder, []), '-b', '1-%d' % boards, SET)
    cards, whole, used = [], [], 0
    try:
        for board in range(1, boards + 1):
            person.put_in(board)
            before = processor_ms(person.pid)
            begun = time.monotonic()
            for number, card in enumerate(pack(), 1):
                pressed = time.monotonic()
                person.card(card, number)
                cards.append(1000 * (time.monotonic() - pressed))
            whole.append(time.monotonic() - begun)
            used += processor_ms(person.pid) - before
            person.see('The last card')
            person.lies()
            person.see(r'board %d: exact duplicate \(by hand\)' % board)
            person.take_out()
        assert person.end() == 0
    finally:
        os.chdir('/')
        shutil.rmtree(folder)
    cards.sort()
    print('%d boards by hand, two keys a card, goal 90 s a board' % boards)
    print('from the second key to the seat: median %.2f ms, p99 %.2f ms, longest %.2f ms' %
          (cards[len(cards) // 2], cards[len(cards) * 99 // 100], cards[-1]))
    print('52 cards without a person: %.3f s at the longest; processor time of the program %.1f ms a board' %
          (max(whole), used / boards))


main(int(sys.argv[4]) if len(sys.argv) > 4 else 12)
