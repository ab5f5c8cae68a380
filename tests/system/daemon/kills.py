# SPDX-License-Identifier: LGPL-2.1-or-later
"""kills.py DEALBOXD EMULATOR DEALBOX SET KILLS [SEED]: what a crash can break (TAP).

Two machines deal a long job. At KILLS seeded random instants the daemon is killed,
a cable is pulled, or a machine loses its power; each time the ledger is compared
with what physically lay in every board that was taken out.
"""
import random
import signal
import sys
import time

from harness import World, tests_in, wait

dealboxd, emulator, dealbox, set_file, kills = sys.argv[1:6]
seed = int(sys.argv[6]) if len(sys.argv) > 6 else 1
draw = random.Random(seed)


def recorded(world):
    return {r['of'] for r in world.records() if r['record'] == 'verdict' and r['outcome'] == 'exact'}


def work(world, seconds):
    """The operator does what he is told, until the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        world.answer()
        time.sleep(0.002)


def blow(world):
    """One of the things that happen, at an instant that nobody chose."""
    kind = draw.choice(['kill', 'kill', 'kill', 'unplug', 'power-cycle', 'both'])
    serial = draw.choice(['ONE', 'TWO'])
    if kind in ('unplug', 'power-cycle'):
        world.tell(serial, '%s %d' % (kind, draw.randrange(1, 50)))
    if kind == 'both':
        world.tell(serial, 'power-cycle 5')
    if kind in ('kill', 'both'):
        world.stop(signal.SIGKILL)
        return True
    return False


def test_crashes(world):
    number, _ = world.add_set()
    path = world.add_job(number, list(world.deals), 200, automatic_start=True)
    known = set()
    for _ in range(int(kills)):
        work(world, draw.random() * 0.6)
        if blow(world):
            # what was recorded is still recorded, and no more than lay in the boards
            now = recorded(world)
            assert known <= now, 'recorded boards were lost: %s' % (known - now)
            world.check()
            world.start()
            known = now
    wait('a board after all of it', lambda: work(world, 0.1) or recorded(world) - known)
    world.object(path, 'Job').Cancel()
    boards = world.check()
    assert world.dealbox_ledger('verify').returncode == 0
    print('# %s blows with seed %d: %d boards recorded, each exact; %d insertions' %
          (kills, seed, boards, len([r for r in world.records() if r['record'] == 'insertion'])))
    assert boards > int(kills) / 4, 'too few boards to say anything: %d' % boards


world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    world.add_emulator('ONE', '--speed', '100', '--seed', str(seed))
    world.add_emulator('TWO', '--speed', '100', '--seed', str(seed + 1),
                       '--kind', 'routed')
    world.start()
    wait('both machines', lambda: len(world.machines()) == 2)
    tap.run(test_crashes, world)
