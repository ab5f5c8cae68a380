# SPDX-License-Identifier: LGPL-2.1-or-later
"""
bench_python.py [ENDPLAY REDEAL]: processor time of the Python module for arrays of deals, and for one
object of Python each; and that of other modules for the same, in one run. Nothing is judged.

ENDPLAY and REDEAL are the folders in which `import endplay` and `import redeal` find them; they are
not part of dealbox.
"""
import os
import resource
import sys
import time

import dealbox

ARRAY = 300_000 // (100 if 'BENCH_SHORT' in os.environ else 1)
OBJECTS = ARRAY // 30
FILE = 1000


def measured(name, count, act, runs=5):
    """The fastest of some runs, of count deals."""
    best = min(one(act) for _ in range(runs))
    print('%-48s %6d deals %8.1f ms %8.0f ns each' % (name, count, best * 1e3, best / count * 1e9), flush=True)


def one(act):
    before = time.process_time()
    act()
    return time.process_time() - before


def to_set(deals):
    boards = dealbox.Set()
    boards.extend(deals)
    return boards


def arrays():
    deals = dealbox.Random().deals(ARRAY)
    boards = to_set(deals)
    packed, seats, numbers, hands = deals.packed(), deals.seats(), deals.numbers(), bytes(deals.hands)
    for name, act in (
            ('random deals', lambda: dealbox.Random().deals(ARRAY)),
            ('checked', deals.complete),
            ('hands to deals, checked', lambda: dealbox.Deals.from_hands(hands)),
            ('13 bytes to deals, checked', lambda: dealbox.Deals.from_packed(packed)),
            ('deals to 13 bytes', deals.packed),
            ('52 bytes to deals, checked', lambda: dealbox.Deals.from_seats(seats)),
            ('deals to 52 bytes', deals.seats),
            ('numbers to deals', lambda: dealbox.Deals.from_numbers(numbers)),
            ('deals to numbers', deals.numbers),
            ('deals to a set, checked', lambda: to_set(deals)),
            ('a set to deals', boards.deals)):
        measured('array: ' + name, ARRAY, act)


def objects(name, deal, read, write, text):
    """deal(count), read(text) and write(what read gave), or None for what a module has not."""
    measured(name + ': random deals, an object each', OBJECTS, lambda: deal(OBJECTS))
    if read:
        boards = read(text)
        measured(name + ': PBN read', FILE, lambda: list(read(text)))
        measured(name + ': PBN written', FILE, lambda: write(boards))


arrays()
pbn = to_set(dealbox.Random().deals(FILE)).to_bytes('pbn').decode()
source = dealbox.Random()
objects('dealbox', lambda count: [source.deal() for _ in range(count)],
        lambda text: dealbox.Set.parse(text.encode(), format='pbn'), lambda boards: boards.to_bytes('pbn'), pbn)
sys.path += sys.argv[1:]
if len(sys.argv) > 1:
    from endplay.dealer import generate_deals
    from endplay.parsers import pbn as endplay_pbn
    import redeal
    objects('endplay', lambda count: list(generate_deals(produce=count)), endplay_pbn.loads, endplay_pbn.dumps, pbn)
    prepared = redeal.Deal.prepare()
    objects('redeal', lambda count: [prepared() for _ in range(count)], None, None, pbn)
print('%.0f MiB at most' % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
