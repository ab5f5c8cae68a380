# SPDX-License-Identifier: LGPL-2.1-or-later
"""statistics.py DEALBOXD EMULATOR DEALBOX SET MAKE_MONTHS LONG_REPLY: statistics of a machine, from a ledger (TAP)"""
import os
import select
import shutil
import subprocess
import sys

import dbus

from harness import World, tests_in, wait
from raw import Raw

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


def answered(client, serial):
    """Reads what has come; true if the answer is among it."""
    while select.select([client.socket], [], [], 0)[0]:
        if client.read()[2] == serial:
            return True
    return False


def test_stop_is_handled_before_a_long_reply_ends(w):
    """Also before a list of insertions: the reply cannot end until the file is gone, and Stop is answered before."""
    slow = w.dir + '/long-reply'
    job = next(iter(w.objects('Job')))
    for path, interface, method in ((PATH, 'Machine', 'GetStatistics'), (job, 'Job', 'GetInsertions'),
                                    (job, 'Job', 'GetReceipt'), (job, 'Job', 'GetCopies')):
        with open(slow, 'w') as file:
            file.write(method)
        asks, stops = Raw(), Raw()
        serial = asks.send(path, 'io.dealbox1.' + interface, method)
        wait(method, lambda: os.path.exists(slow + '.looks') or answered(asks, serial))
        assert os.path.exists(slow + '.looks'), method + ' ended without a look at the bus'
        assert stops.call('/io/dealbox1', 'io.dealbox1.Manager', 'Stop') is None
        assert not answered(asks, serial), method
        os.remove(slow)
        os.remove(slow + '.looks')
        while asks.read() != (2, None, serial):
            pass
        for client in asks, stops:
            client.close()
    wait('the stop to be seen', lambda: w.machines()[PATH]['State'] == 'stopped')
    stopped = [r for r in w.records() if r['record'] == 'act' and r['act'] == 'stop']
    assert stopped, w.records()


def main():
    *programs, make_months, long_reply = sys.argv[1:]
    world = World(*programs)
    with tests_in(world) as tap:
        subprocess.run([make_months, world.ledger, 'EMU1'], check=True)
        world.add_emulator('EMU1', '--speed', '0')
        # LD_PRELOAD takes no path with a space
        world.start(LD_PRELOAD=shutil.copy(long_reply, world.dir), LONG_REPLY=world.dir + '/long-reply',
                    ASAN_OPTIONS='verify_asan_link_order=0')
        wait('the machine', world.machines)
        wait('the machine', lambda: world.machines()[PATH]['Present'])
        for test in (test_a_month_that_is_over, test_not_for_everybody, test_from_a_terminal,
                     test_another_board_changes_nothing, test_stop_is_handled_before_a_long_reply_ends):
            tap.run(test, world)


main()
