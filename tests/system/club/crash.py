# SPDX-License-Identifier: LGPL-2.1-or-later
"""crash.py SET BLOWS [SEED]: power cuts and smaller disturbances (TAP).

Two machines deal a long job on an installed system. Disturbances from the table below happen at
seeded random instants. The machines know what lies in each board. After each power cut, and at the
end, the ledger is compared with the boards, and with the records that the service had announced.
"""
import json
import random
import sys
import time

from computer import Computer, run_tests
from harness import agree, wait

set_file, blows = sys.argv[1], int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
draw = random.Random(seed)
SERIALS = ['ONE', 'TWO']
JUDGED = '/run/judged'      # the signals by which the service announces its records
told = set()        # (machine, insertion) of the records that the service has announced


def kill(c):
    """kill -9 of the service. systemd restarts it; the next blow does not wait for that."""
    wait('the service', lambda: c.ask('kill -KILL $(pidof dealboxd)')[0] == 0)
    c.states.clear()


def unplug(c):
    """A cable is pulled and plugged in again; sometimes both, and in the other order."""
    serials = draw.sample(SERIALS, draw.choice([1, 1, 2]))
    for serial in serials:
        c.unplug(serial)
    work(c, draw.random() * 0.3)
    for serial in serials:
        c.plug(serial)


def machine_off(c):
    """A machine is switched off and on again."""
    serial = draw.choice(SERIALS)
    c.machines[serial].tell('power-cycle %d' % draw.randrange(1, 300))
    c.attach(serial)


def unload(c):
    """The module is unloaded during a deal; then the machines are plugged in again."""
    c.run('for device in /sys/bus/usb/drivers/dealbox/*:*; do '
          '[ ! -e "$device" ] || echo "${device##*/}" >/sys/bus/usb/drivers/dealbox/unbind; done')
    wait('the module to go', lambda: c.ask('rmmod dealbox')[0] == 0)
    work(c, draw.random() * 0.3)
    for serial in SERIALS:
        c.unplug(serial)
    c.run('modprobe dealbox')
    for serial in SERIALS:
        c.plug(serial)


def power_cut(c):
    """The computer loses its power; the machines keep theirs."""
    c.power_cut()
    c.power_on()
    exact, insertions = check(c, dead=True)
    print('# power cut: %d boards recorded, %d insertions' % (exact, insertions), flush=True)
    start(c)


# The disturbances, each with its share in percent
TABLE = [(kill, 40), (unplug, 25), (machine_off, 15), (unload, 10), (power_cut, 10)]


def sequence():
    """Return the blows in random order: of each kind its share, but at least one."""
    kinds = [kind for kind, weight in TABLE for _ in range(max(1, round(blows * weight / 100)))]
    draw.shuffle(kinds)
    return kinds


def start(c):
    """The machines are plugged in, which starts the service."""
    c.run('busctl monitor --json=short --match="type=\'signal\',interface=\'io.dealbox1.Job\',member=\'Verdict\'" '
          '>%s 2>%s.begun &' % (JUDGED, JUDGED))
    wait('the monitor', lambda: c.ask('test -s %s.begun' % JUDGED)[0] == 0)
    c.run('modprobe vhci-hcd')
    for serial in SERIALS:
        c.plug(serial)


def work(c, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for m in c.work(max(0, min(0.2, end - time.monotonic()))):
            if m['state'] == 'take-out':
                told.add((m['machine'], m['insertion']))
    # That state comes only if the board is still in when it is recorded. The emulator's operator takes
    # it out 150 ms after its last card, and the service waits 300 ms for a stop behind that card.
    for line in c.ask('cat ' + JUDGED)[1].splitlines():
        _board, _copy, machine, insertion, exact, _facts = json.loads(line)['payload']['data']
        if exact:
            told.add((machine, insertion))


def each_deals(c, inside):
    """Return True when each machine has a record of a later board than the one inside."""
    work(c, 1)
    # an operator's action may have come too late for the state that it was for
    for machine in c.status().values():
        c.answer(machine)
    return all(any(machine == serial and insertion > inside[serial] for machine, insertion in told)
               for serial in SERIALS)


def check(c, dead=False):
    """Ledger and boards agree, and every announced record is in the ledger."""
    # first the boards: the ledger, which grows while it is copied, then has all of them
    account = c.account()
    records = c.records(dead)
    of = {r['number']: r for r in records if r['record'] == 'insertion'}
    exact = {(of[r['of']]['machine'], of[r['of']]['insertion'])
             for r in records if r['record'] == 'verdict' and r['outcome'] == 'exact'}
    assert told <= exact, 'told to be recorded, and is not: %s' % (told - exact)
    told.update(exact)      # from now on they must stay
    return agree(records, account, c.deals), len(of)


def test_job_begins(c):
    """The operator does not follow the job until all machines are there."""
    for serial, more in [('ONE', []), ('TWO', ['--kind', 'routed'])]:
        c.add_emulator(serial, '--speed', '10', '--seed', str(seed), *more)
    # no limit of restarts
    c.run('sh -e /activate && mkdir -p /etc/systemd/system/dealboxd.service.d && '
          'printf "[Unit]\\nStartLimitIntervalSec=0\\n" >/etc/systemd/system/dealboxd.service.d/crash.conf && '
          'printf "[machines]\\nnew = accept\\n" >>/etc/dealbox/dealboxd.conf && '
          'systemctl daemon-reload')
    with open(set_file, 'rb') as file:
        c.put('/root/evening.pbn', file.read())
    start(c)
    wait('both machines', lambda: c.ask('dealbox status')[1].count('no-work') == 2)
    c.run('dealbox deal --copies 99 /root/evening.pbn >/tmp/dealt 2>&1 & echo $! >/root/pid')
    wait('the job', lambda: 'open' in c.ask('dealbox jobs')[1])
    c.run('kill -KILL $(cat /root/pid)')


def test_crashes(c):
    count, seconds = {}, {}

    def lasts(name, function, *args):
        begun = time.monotonic()
        function(c, *args)
        seconds[name] = seconds.get(name, 0) + time.monotonic() - begun

    in_board = 0
    for blow in sequence():
        lasts('between', work, draw.random() * 3)
        in_board += 'none' in c.states.values()
        lasts(blow.__name__, blow)
        count[blow.__name__] = count.get(blow.__name__, 0) + 1
    # the boards that are in now, or come next: of theirs, a signal may still be under way
    inside = {serial: max(machine.boards(), default=0) + 1 for serial, machine in c.machines.items()}
    wait('a board of each machine after all of it', lambda: each_deals(c, inside))
    exact, insertions = check(c)
    done = sum(count.values())
    print('# %d blows with seed %d (%s), %d while a board was dealt: %d boards recorded, each exact; '
          '%d insertions' % (done, seed, ', '.join('%s %d' % pair for pair in sorted(count.items())),
                             in_board, exact, insertions))
    print('# seconds: ' + ', '.join('%s %.1f' % (name, seconds[name] / count.get(name, done))
                                    for name in sorted(seconds)))
    assert set(count) == {kind.__name__ for kind, _ in TABLE}, count
    assert exact > done / 4, 'too few boards to say anything: %d' % exact


run_tests(Computer(set_file), [test_job_begins, test_crashes])
