# SPDX-License-Identifier: LGPL-2.1-or-later
"""machine.py SET: the unit of dealbox-machine, set up as docs/build-a-machine.md says (TAP).

The board's computer and the host are one: dummy_hcd has a controller for each. The lines are those
of a simulated GPIO chip.
"""
import sys

from computer import Computer, run_tests
from harness import tests_of, wait

CHIP = '/sys/kernel/config/gpio-sim/machine'
GADGET = '/sys/kernel/config/usb_gadget/dealbox'
WIRING, SETTINGS = '/etc/dealbox/machine.conf', '/etc/dealbox/machine-usb.conf'
LINES = """[machine]
capacity = 13
hopper = 60
[outputs]
feed = machine 0 most=1500
release = machine 1 most=1200
heartbeat = machine 2
[gates]
a = machine 3 most=1100
[pockets]
0 = a
1 = none
[inputs]
reader = machine 4
card = machine 5 debounce=2
hopper = machine 6
board = machine 7 debounce=20
[times]
settle = 20
fall = 200
"""


def settings(c, *more):
    c.put(SETTINGS, '\n'.join(('VENDOR=1209', 'PRODUCT=0001', 'SERIAL=M1') + more + ('',)).encode())


def show(c, name):
    return c.run('systemctl show -P %s dealbox-machine' % name).strip()


def start(c, status=0):
    c.run('systemctl reset-failed dealbox-machine; systemctl start dealbox-machine', status)


def told(c, text):
    wait('the journal: ' + text, lambda: text in c.run('journalctl -u dealbox-machine -o cat --no-pager'))


def there(c):
    """The kernel module has the machine, and the command finds it."""
    wait('the machine', lambda: '"M1"' in c.ask('dealbox machines --json')[1])


def gone(c):
    c.run('test ! -e %s && ! grep -q dealbox-machine /proc/mounts' % GADGET)


def test_without_settings_it_does_nothing(c):
    c.run('sh -e /activate')
    c.run('modprobe -a gpio-sim dummy_hcd && systemctl start sys-kernel-config.mount')
    c.run('systemctl enable dealbox-machine && systemctl start dealbox-machine')
    assert (show(c, 'ActiveState'), show(c, 'ConditionResult')) == ('inactive', 'no')


def test_the_ids_for_tests_are_refused_once(c):
    c.put(WIRING, LINES.encode())
    settings(c)
    start(c, 1)
    told(c, '1209:0001 is for tests')
    assert (show(c, 'ActiveState'), show(c, 'NRestarts')) == ('failed', '0')
    gone(c)


def test_a_wrong_wiring_is_told_with_its_line(c):
    settings(c, 'OPTIONS=--test')
    c.put(WIRING, LINES.replace('debounce=20', 'debounce=200').encode())
    start(c, 1)
    told(c, WIRING + ':17: ')
    assert (show(c, 'ActiveState'), show(c, 'NRestarts')) == ('failed', '0')


def test_it_waits_for_its_chip(c):
    """A driver may come later than the unit: it is tried again for as long as that takes."""
    c.put(WIRING, LINES.encode())
    start(c, 1)
    told(c, 'there is no GPIO chip "machine"')
    wait('six starts', lambda: int(show(c, 'NRestarts')) > 5)
    c.run('mkdir -p %s/bank0 && cd %s/bank0 && echo 8 >num_lines && echo machine >label && echo 1 >../live' %
          (CHIP, CHIP))
    wait('the unit', lambda: show(c, 'ActiveState') == 'active')
    there(c)


def test_it_has_what_it_needs(c):
    pid = show(c, 'MainPID')
    words = c.run('cat /proc/%s/stat' % pid).split()
    assert (words[39], words[40]) == ('40', '1'), words
    locked = c.run('grep VmLck /proc/%s/status' % pid).split()
    assert int(locked[1]) > 1000, locked
    text = c.run('journalctl -u dealbox-machine -o cat --no-pager')
    assert 'SCHED_FIFO' not in text and 'locking memory' not in text, text


def test_it_comes_back_when_it_was_killed(c):
    before = show(c, 'NRestarts')
    c.run('kill -9 ' + show(c, 'MainPID'))
    wait('a restart', lambda: show(c, 'NRestarts') != before and show(c, 'ActiveState') == 'active')
    there(c)


def test_it_goes_and_keeps_its_numbers(c):
    c.run('systemctl stop dealbox-machine')
    assert show(c, 'Result') == 'success', show(c, 'Result')
    gone(c)
    wait('the end of the machine', lambda: '"M1"' not in c.ask('dealbox machines --json')[1])
    assert c.run('stat -c "%a %s" /var/lib/dealbox-machine/record').split() == ['600', '8192']


run_tests(Computer(sys.argv[1], '7.2', 'gpio-sim', 'dummy_hcd', 'libcomposite', 'usb_f_fs'), tests_of(globals()))
