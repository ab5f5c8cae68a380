# SPDX-License-Identifier: LGPL-2.1-or-later
"""
bench_python.py: time of the Python module for 300,000 boards in arrays, and of one object for each,
in one run. Nothing is judged.
"""
import resource
import time

import dealbox

BOARDS = 300_000


def measured(name, act, least=5):
    """Processor time of the fastest of some runs, in ms."""
    best = min(one(act) for _ in range(least))
    print('%-44s %8.1f ms  %6.0f ns a board' % (name, best * 1e3, best / BOARDS * 1e9), flush=True)
    return best


def one(act):
    before = time.process_time()
    act()
    return time.process_time() - before


def to_set(deals):
    boards = dealbox.Set()
    boards.extend(deals)
    return boards


deals = dealbox.Random().deals(BOARDS)
boards = to_set(deals)
packed, seats, numbers, hands = deals.packed(), deals.seats(), deals.numbers(), bytes(deals.hands)
measured('random deals', lambda: dealbox.Random().deals(BOARDS))
measured('checked', deals.complete)
measured('hands to deals, checked', lambda: dealbox.Deals.from_hands(hands))
measured('13 bytes to deals, checked', lambda: dealbox.Deals.from_packed(packed))
measured('deals to 13 bytes', deals.packed)
measured('52 bytes to deals, checked', lambda: dealbox.Deals.from_seats(seats))
measured('deals to 52 bytes', deals.seats)
measured('numbers to deals', lambda: dealbox.Deals.from_numbers(numbers))
measured('deals to numbers', deals.numbers)
measured('deals to a set', lambda: to_set(deals))
measured('a set to deals', boards.deals)
measured('an object for each board of the set', lambda: sum(1 for _ in boards), 1)
print('%.0f MiB at most' % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
