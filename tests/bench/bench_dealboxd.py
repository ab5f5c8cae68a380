# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench_dealboxd.py DEALBOXD EMULATOR DEALBOX SET: memory and processor of the service.

1, 8 and 64 emulated machines deal at 10 cards a second each, at the same time. Wanted: with
64 machines no event lost, under 16 MB resident, under 10 % of one core.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__) + '/../daemon')
from harness import World, wait  # noqa: E402

SECONDS = 4     # of the 5 that a deal takes


def seconds_of(pid):
    with open('/proc/%d/stat' % pid) as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def resident(pid):
    with open('/proc/%d/status' % pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM'))


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
        job = world.add_job(number, list(world.deals), machines)

        def dealing():
            world.answer()
            return all(m['Dealing'] for m in world.machines().values())
        wait('all to deal', dealing)
        start, before = time.monotonic(), seconds_of(world.daemon.pid)
        time.sleep(SECONDS)
        share = 100 * (seconds_of(world.daemon.pid) - before) / (time.monotonic() - start)
        wait('the boards', lambda: world.job(job)['Recorded'] + world.job(job)['Void'] >= machines)
        print('%8d %12.1f %14.1f %10d %6d' % (machines, share, resident(world.daemon.pid) / 1024,
                                            world.job(job)['Recorded'], world.job(job)['Void']), flush=True)
    finally:
        world.close()


print('machines  % of a core  resident MiB   recorded   void')
for count in (1, 8, 64):
    measure(count)
