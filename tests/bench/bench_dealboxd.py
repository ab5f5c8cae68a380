# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench_dealboxd.py DEALBOXD EMULATOR DEALBOX SET [MACHINES...]: memory and CPU of the service.

1, 8 and 64 emulated machines, or MACHINES, deal at the same time, each at 10 cards a second. The
goals for 64 machines are no lost event (its board would be void), less than 16 MiB resident, and
less than 10 % of one core. That share is the CPU time per card times the cards per second, so it
is the same on a busy computer, which deals more slowly.

Then Stop is called 20 times while eight clients wait for 100 answers each. The goal for the longest
time until it is answered is less than 100 ms.

Last, the service says through which gate each card of a machine goes that waits 15 ms for it. Other
machines are read every 20 ms; this one is read at once, so none of its 520 cards waits for the
clock. A computer that is busy may be late all the same.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__) + '/../system/daemon')
from harness import World, wait  # noqa: E402
from raw import Raw  # noqa: E402

ROUNDS = 2      # boards of each machine that are measured
CARDS = 52
SPEED = 10      # cards a second


def seconds_of(pid):
    with open('/proc/%d/stat' % pid) as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def resident(pid):
    with open('/proc/%d/status' % pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM'))


def stop_ms():
    """Return the longest time of a Stop in ms. The first one aborts all deals."""
    longest = 0
    for _ in range(20):
        crowd, client = [Raw() for _ in range(8)], Raw()
        for other in crowd:
            for _ in range(100):
                other.send('/io/dealbox1', 'org.freedesktop.DBus.ObjectManager', 'GetManagedObjects')
        begun = time.monotonic()
        assert client.call('/io/dealbox1', 'io.dealbox1.Manager', 'Stop') is None
        longest = max(longest, time.monotonic() - begun)
        for other in crowd + [client]:
            other.close()
    return 1000 * longest


def measure(machines):
    world = World(*sys.argv[1:5])
    try:
        world.spawn([world.emulator, '--socket', world.dir + '/M', '--machines', str(machines),
                     '--serial', 'M', '--speed', '1'], stdout=open(world.dir + '/emulator.log', 'w'))

        def sockets():
            found = [world.dir + '/' + name for name in os.listdir(world.dir) if name[0] == 'M']
            return found if len(found) == machines else None
        world.emulators = wait('the emulators', sockets)
        world.start()
        wait('the machines', lambda: len(world.machines()) == machines)
        number, _ = world.add_set()
        job = world.add_job(number, list(world.deals), machines, automatic_start=True)

        def recorded(boards):
            return lambda: world.job(job)['Recorded'] >= boards
        wait('a board of each', lambda: world.answer() or recorded(machines)())
        begun, before = world.job(job)['Recorded'], seconds_of(world.daemon.pid)
        # once a second, because the answers take CPU time of the service
        while not recorded(begun + ROUNDS * machines)():
            time.sleep(1)
        cards = CARDS * (world.job(job)['Recorded'] - begun)
        share = 100 * (seconds_of(world.daemon.pid) - before) / cards * SPEED * machines
        figures = (machines, share, resident(world.daemon.pid) / 1024, world.job(job)['Recorded'],
                   world.job(job)['Void'])
        print('%8d %12.1f %14.1f %10d %6d %8.1f' % (*figures, stop_ms()), flush=True)
    finally:
        world.close()


def late_gates():
    """Return how many gate commands came late in 10 boards."""
    world = World(*sys.argv[1:5])
    try:
        world.start_with('ROUTED', '--speed', '0', '--kind', 'routed', '--gate-deadline', '15000')
        number, _ = world.add_set()
        world.deal(world.add_job(number, [1], 10, automatic_start=True))
        return int(world.object('/io/dealbox1/machine/ROUTED', 'Machine').GetCounters()['gates-late'])
    finally:
        world.close()


print('machines  % of a core  resident MiB   recorded   void  stop ms')
for count in sys.argv[5:] or (1, 8, 64):
    measure(int(count))
print('gate commands that came late: %d of %d' % (late_gates(), 10 * CARDS))
