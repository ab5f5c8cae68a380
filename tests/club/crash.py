# SPDX-License-Identifier: LGPL-2.1-or-later
"""crash.py SET BLOWS [SEED]: what a power cut, and all that is less, can break (TAP).

Two machines deal a long job, on an installed system. At seeded random instants something of the
table below happens. The machines know what lies in each board; whenever the computer has lost its
power, and now and then otherwise, the ledger is held against it, and against what the
service had told to be recorded.
"""
import random
import sys
import time

from computer import Computer
from harness import Tap, agree, wait

set_file, blows = sys.argv[1], int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
draw = random.Random(seed)
CHECK_EVERY = 20
SERIALS = ['ONE', 'TWO']


def kill(c):
    """kill -9 of the service; systemd starts it again, as often as we like."""
    c.run('systemctl reset-failed dealboxd; systemctl kill -s KILL dealboxd')
    wait('the service', lambda: c.ask('systemctl is-active dealboxd')[0] == 0, 120)


def unplug(c):
    """The cable is pulled, and put back; sometimes of both, and in the other order."""
    serials = draw.sample(SERIALS, draw.choice([1, 1, 2]))
    for serial in serials:
        c.unplug(serial)
    c.work(draw.random() * 0.3)
    for serial in serials:
        c.plug(serial)


def machine_off(c):
    """The machine is switched off, and on again."""
    serial = draw.choice(SERIALS)
    c.machines[serial].tell('power-cycle %d' % draw.randrange(1, 300))
    c.attach(serial)


def unload(c):
    """The module goes while it deals; whoever has a cable plugs the machines in again."""
    c.run('for device in /sys/bus/usb/drivers/dealbox/*:*; do '
          '[ ! -e "$device" ] || echo "${device##*/}" >/sys/bus/usb/drivers/dealbox/unbind; done')
    wait('the module to go', lambda: c.ask('rmmod dealbox')[0] == 0, 60)
    c.work(draw.random() * 0.3)
    for serial in SERIALS:
        c.unplug(serial)
    c.run('modprobe dealbox')
    for serial in SERIALS:
        c.plug(serial)


def power_cut(c):
    """The computer loses its power; the machines have their own."""
    c.power_cut()
    c.power_on()
    start(c)


# What happens, and how often
TABLE = [(kill, 40), (unplug, 25), (machine_off, 15), (unload, 10), (power_cut, 10)]


def sequence():
    """The blows, in the order in which they come: each kind as often as the table says."""
    kinds = [kind for kind, weight in TABLE for _ in range(max(1, round(blows * weight / 100)))]
    draw.shuffle(kinds)
    return kinds


def start(c):
    c.run('modprobe -a vhci-hcd dealbox && udevadm settle && systemctl start dealboxd')
    for serial in SERIALS:
        c.plug(serial)


def work(c, seconds, told):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for m in c.work(0.2):
            if m['state'] == 'take-out':
                told.add((m['id'], m['insertion']))


def check(c, told):
    """Ledger and boards agree, and whatever was told to be recorded is."""
    # the ledger goes on while it is copied: it knows all that came out before
    account = c.account()
    records = c.records()
    of = {r['number']: r for r in records if r['record'] == 'insertion'}
    exact = {(of[r['of']]['machine'], of[r['of']]['insertion'])
             for r in records if r['record'] == 'verdict' and r['outcome'] == 'exact'}
    assert told <= exact, 'told to be recorded, and is not: %s' % (told - exact)
    told |= exact       # for good
    return agree(records, account, c.deals), len(of)


def test_job_begins(c):
    """Once it is there, nobody follows it."""
    wait('both machines', lambda: c.ask('dealbox status')[1].count('no-work') == 2, 120)
    c.run('dealbox deal --copies 99 /root/evening.pbn >/root/dealt 2>&1 & echo $! >/root/pid')
    wait('the job', lambda: 'open' in c.ask('dealbox jobs')[1], 60)
    c.run('kill -KILL $(cat /root/pid)')


def test_crashes(c):
    told, count = set(), {}
    for n, blow in enumerate(sequence()):
        work(c, draw.random() * 3, told)
        blow(c)
        count[blow.__name__] = count.get(blow.__name__, 0) + 1
        if blow is power_cut or n % CHECK_EVERY == CHECK_EVERY - 1:
            exact, insertions = check(c, told)
            print('# %s: %d boards recorded, %d insertions' %
                  (', '.join('%s %d' % pair for pair in sorted(count.items())), exact, insertions),
                  flush=True)
    check(c, told)
    before = len(told)
    wait('a board after all of it', lambda: work(c, 1, told) or len(told) > before, 120)
    exact, insertions = check(c, told)
    print('# %d blows with seed %d (%s): %d boards recorded, each exact; %d insertions' %
          (sum(count.values()), seed, ', '.join('%s %d' % pair for pair in sorted(count.items())),
           exact, insertions))
    assert exact > sum(count.values()) / 4, 'too few boards to say anything: %d' % exact


tap = Tap()
computer = Computer(set_file)
try:
    for serial, more in [('ONE', []), ('TWO', ['--kind', 'routed'])]:
        computer.add_emulator(serial, '--speed', '20', '--seed', str(seed), *more)
    computer.power_on()
    computer.run('sh -e /activate')
    with open(set_file, 'rb') as file:
        computer.put('/root/evening.pbn', file.read())
    start(computer)
    tap.run(test_job_begins, computer)
    if not tap.failed:
        tap.run(test_crashes, computer)
    if tap.failed:
        print('# ' + computer.ask('cat /root/dealt; dealbox status; journalctl -u dealboxd --no-pager -n 60; '
                                  'dmesg | tail -n 20')[1].replace('\n', '\n# '))
finally:
    computer.close()
sys.exit(tap.end())
