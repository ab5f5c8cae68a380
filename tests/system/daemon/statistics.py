# SPDX-License-Identifier: LGPL-2.1-or-later
"""statistics.py DEALBOXD EMULATOR DEALBOX SET MAKE_MONTHS: statistics of a machine, from a ledger (TAP)"""
import subprocess
import sys

import dbus

from harness import World, tests_in, wait

PATH = '/io/dealbox1/machine/EMU1'


def plain(months):
    return [(str(month), *map(int, numbers), [tuple(map(int, card)) for card in cards], [tuple(map(int, gate)) for gate in gates])
            for month, *numbers, cards, gates in months]


def test_a_month_that_is_over(w):
    """The worn card is named, and the gate that erred; October, of one board, is not shown."""
    months = plain(w.object(PATH, 'Machine').GetStatistics())
    assert months == [('2026-09', 10, 10, 10, 0, [(1, 10)],
                       [(0, 130, 0, 0), (1, 130, 0, 0), (2, 130, 2, 0), (3, 130, 0, 0)])], months


def test_not_for_everybody(w):
    w.deny('io.dealbox1.service')
    try:
        w.object(PATH, 'Machine').GetStatistics()
    except dbus.DBusException as error:
        assert error.get_dbus_name() == 'org.freedesktop.DBus.Error.AccessDenied', error
    else:
        raise AssertionError('anybody may see statistics')
    finally:
        w.deny('')


def test_from_a_terminal(w):
    result = w.command('ledger', 'statistics', 'EMU1')
    assert result.returncode == 0, result
    assert '2026-09  10 boards' in result.stdout and 'SK' in result.stdout, result.stdout
    result = w.command('ledger', 'statistics', 'EMU2')
    assert result.returncode == 2 and 'EMU2' in result.stderr, result


def test_another_board_changes_nothing(w):
    """It is of this month, which is not over."""
    before = plain(w.object(PATH, 'Machine').GetStatistics())
    number, _ = w.add_set()
    path = w.add_job(number, [1], automatic_start=True)
    w.tell('EMU1', 'inject position 20: unreadable')
    w.deal(path)
    assert w.job(path)['Recorded'] == 1
    assert plain(w.object(PATH, 'Machine').GetStatistics())[0] == before[0]


def main():
    *programs, make_months = sys.argv[1:]
    world = World(*programs)
    with tests_in(world) as tap:
        subprocess.run([make_months, world.ledger, 'EMU1'], check=True)
        world.start_with('EMU1', '--speed', '0')
        wait('the machine', lambda: world.machines()[PATH]['Present'])
        for test in (test_a_month_that_is_over, test_not_for_everybody, test_from_a_terminal,
                     test_another_board_changes_nothing):
            tap.run(test, world)


main()
