# SPDX-License-Identifier: LGPL-2.1-or-later
"""crash.py SET BLOWS [SEED]: what a power cut, and all that is less, can break (TAP).

Two machines deal a long job, on an installed system. At seeded random instants something of the
table below happens. The machines know what lies in each board; whenever the computer has lost its
power, and at the end, the ledger is held against it, and against what the service had told to be
recorded.
"""
import random
import sys
import time

from computer import Computer, run_tests
from harness import agree, wait

set_file, blows = sys.argv[1], int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
draw = random.Random(seed)
SERIALS = ['ONE', 'TWO']
told = set()        # (machine, insertion) of what was told to be recorded


def kill(c):
    """kill -9 of the service. systemd starts it again; the next blow does not wait for that."""
    wait('the service', lambda: c.ask('kill -KILL $(pidof dealboxd)')[0] == 0)
    c.states.clear()


def unplug(c):
    """The cable is pulled, and put back; sometimes of both, and in the other order."""
    serials = draw.sample(SERIALS, draw.choice([1, 1, 2]))
    for serial in serials:
        c.unplug(serial)
    work(c, draw.random() * 0.3)
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
    wait('the module to go', lambda: c.ask('rmmod dealbox')[0] == 0)
    work(c, draw.random() * 0.3)
    for serial in SERIALS:
        c.unplug(serial)
    c.run('modprobe dealbox')
    for serial in SERIALS:
        c.plug(serial)


def power_cut(c):
    """The computer loses its power; the machines have their own."""
    c.power_cut()
    c.power_on()
    exact, insertions = check(c, dead=True)
    print('# power cut: %d boards recorded, %d insertions' % (exact, insertions), flush=True)
    start(c)


# What happens, and how often
TABLE = [(kill, 40), (unplug, 25), (machine_off, 15), (unload, 10), (power_cut, 10)]


def sequence():
    """The blows, in the order in which they come: each kind as often as the table says, and once."""
    kinds = [kind for kind, weight in TABLE for _ in range(max(1, round(blows * weight / 100)))]
    draw.shuffle(kinds)
    return kinds


def start(c):
    """The machines are plugged in, and with them the service starts."""
    c.run('modprobe vhci-hcd')
    for serial in SERIALS:
        c.plug(serial)


def work(c, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for m in c.work(max(0, min(0.2, end - time.monotonic()))):
            if m['state'] == 'take-out':
                told.add((m['id'], m['insertion']))


def check(c, dead=False):
    """Ledger and boards agree, and whatever was told to be recorded is."""
    # the ledger goes on while it is copied: it knows all that came out before
    account = c.account()
    records = c.records(dead)
    of = {r['number']: r for r in records if r['record'] == 'insertion'}
    exact = {(of[r['of']]['machine'], of[r['of']]['insertion'])
             for r in records if r['record'] == 'verdict' and r['outcome'] == 'exact'}
    assert told <= exact, 'told to be recorded, and is not: %s' % (told - exact)
    told.update(exact)      # for good
    return agree(records, account, c.deals), len(of)


def test_job_begins(c):
    """Once it is there, nobody follows it."""
    for serial, more in [('ONE', []), ('TWO', ['--kind', 'routed'])]:
        c.add_emulator(serial, '--speed', '10', '--seed', str(seed), *more)
    # killed as often as we like
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
    before = len(told)
    wait('a board after all of it', lambda: work(c, 1) or len(told) > before)
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
