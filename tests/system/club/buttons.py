# SPDX-License-Identifier: LGPL-2.1-or-later
"""buttons.py SET: the panel of an installed dealbox, set up as docs/install.md says (TAP).

Buttons, switches and lamps are lines of a simulated GPIO chip, which needs a kernel with gpio-sim.
The effect of each is checked in the states that the service reports, in the machine, and in the
lamps.
"""
import json
import sys

from computer import Computer, run_tests
from harness import tests_of, wait

set_file = sys.argv[1]
CHIP = '/sys/kernel/config/gpio-sim/panel'
LAMPS = ['RED', 'AMBER', 'GREEN']
LINES = ['START', 'STOP', 'EMERGENCY', 'COVER', 'BOARD'] + LAMPS
RULE = '/etc/udev/rules.d/72-dealbox-panel.rules'
CONF = '/etc/dealbox/dealboxd.conf'
PANEL, PANEL_LOST, STOP = ('3c1f0d8b5ab84f0f9b9e0f3e5b0f6a0' + n for n in 'def')


def journal(c, message):
    text = c.run('journalctl MESSAGE_ID=%s -u dealboxd -o json --no-pager' % message)
    return [json.loads(line)['MESSAGE'] for line in text.splitlines()]


def told(c, message, text):
    wait('the journal: ' + text, lambda: any(text in said for said in journal(c, message)))


def chip(c):
    """Return the chip's device and name, which changes if lines of the old chip are held."""
    return c.run('cat %s/dev_name %s/bank0/chip_name' % (CHIP, CHIP)).split()


def lines(c, file, *names):
    """Return the file of each of these lines."""
    device, name = chip(c)
    return ['/sys/devices/platform/%s/%s/sim_gpio%d/%s' % (device, name, LINES.index(n), file) for n in names]


def pull(c, name, level):
    c.run('echo pull-%s >%s' % (level, lines(c, 'pull', name)[0]))


def lamps(c):
    values = c.run('cat ' + ' '.join(lines(c, 'value', *LAMPS))).split()
    return {name for name, value in zip(LAMPS, values) if value == '1'}


def light(c, *names):
    wait('the lamps %s' % (names,), lambda: lamps(c) == set(names))


def state(c, name):
    """Return what the machine waits for, as the service reports it."""
    wait('the state ' + name, lambda: c.status()['ONE']['state'] == name)


def machine(c, name):
    """Return the state of the machine itself, independent of the service."""
    wait('the machine: ' + name, lambda: 'state %s' % name in c.machines['ONE'].tell('status'))


def press(c, name, seen, *args):
    """Hold the button until the condition is true."""
    pull(c, name, 'up')
    seen(c, *args)
    pull(c, name, 'down')


def test_the_service_waits_for_a_panel_that_it_may_not_open(c):
    """The chip exists, and belongs to root."""
    c.run('sh -e /activate')
    # slow, because each check may take long
    c.add_emulator('ONE', '--manual', '--speed', '0.05', '--seed', '1')
    c.run('modprobe gpio-sim && systemctl start sys-kernel-config.mount')
    c.run('mkdir -p %s/bank0 && cd %s/bank0 && echo 8 >num_lines && echo "club panel" >label' % (CHIP, CHIP))
    for n, name in enumerate(LINES):
        c.run('mkdir %s/bank0/line%d && echo %s >%s/bank0/line%d/name' % (CHIP, n, name, CHIP, n))
    c.run('echo 1 >%s/live && udevadm settle' % CHIP)
    c.node = '/dev/' + chip(c)[1]
    pull(c, 'BOARD', 'up')
    # simulated buttons do not bounce
    c.put('/tmp/panel', ('[machines]\nnew = accept\n[panel]\nchip = club panel\n' + ''.join(
        '%s = %s%s\n' % (name.lower(), name, '' if name in LAMPS else ' debounce=0') for name in LINES)).encode())
    c.run('cat /tmp/panel >>' + CONF)
    # nobody sees this insertion, so the operator is asked what lies in the board
    c.machines['ONE'].tell('insert')
    c.run('modprobe vhci-hcd && udevadm settle')
    c.plug('ONE')
    wait('the service', lambda: c.ask('systemctl is-active dealboxd')[0] == 0)
    wait('the machine', lambda: c.status().get('ONE', {}).get('present'))
    state(c, 'panel-lost')
    assert c.run('stat -c "%%U %%a" %s' % c.node).strip() == 'root 600'
    told(c, PANEL_LOST, 'docs/install.md has the udev rule')


def test_a_udev_rule_gives_the_chip_to_the_service(c):
    path = c.run('udevadm info -q path ' + c.node).strip().rstrip('0123456789')
    c.put(RULE, ('SUBSYSTEM=="gpio", DEVPATH=="%s*", OWNER="dealboxd"\n' % path).encode())
    c.run('udevadm control --reload && udevadm trigger --action=add --subsystem-match=gpio && udevadm settle')
    assert c.run('stat -c "%%U %%a" %s' % c.node).strip() == 'dealboxd 600'
    c.run('systemctl reload dealboxd')
    told(c, PANEL, 'the panel is ready, on club panel')
    looks = {f['look']: f['found'] for f in map(json.loads, c.ask('dealbox doctor --json')[1].splitlines())}
    assert looks['panel'] == 'good', looks
    state(c, 'no-work')
    light(c)


def test_start_starts_a_job_that_waits(c):
    with open(set_file, 'rb') as file:
        c.put('/tmp/evening.pbn', file.read())
    c.run('(dealbox deal --boards 1 --session monday /tmp/evening.pbn; echo $? >/tmp/ended) >/tmp/dealt 2>&1 &')
    state(c, 'confirm-empty')
    light(c, 'AMBER')
    press(c, 'START', machine, 'DEALING')
    light(c, 'GREEN')


def test_stop_pauses(c):
    press(c, 'STOP', machine, 'PAUSED')
    state(c, 'paused')
    light(c, 'AMBER')
    press(c, 'START', machine, 'DEALING')


def test_an_open_cover_pauses(c):
    pull(c, 'COVER', 'up')
    machine(c, 'PAUSED')
    state(c, 'cover-open')
    light(c, 'RED')
    pull(c, 'COVER', 'down')
    state(c, 'paused')
    press(c, 'START', machine, 'DEALING')


def test_the_emergency_stop_is_to_be_released(c):
    pull(c, 'EMERGENCY', 'up')
    machine(c, 'IDLE')
    state(c, 'aborted')
    light(c, 'RED')
    told(c, STOP, 'emergency stop')
    # follow the instruction: empty the board, and put all cards back
    for command in ('remove', 'empty', 'insert'):
        c.machines['ONE'].tell(command)
    state(c, 'stopped')
    pull(c, 'EMERGENCY', 'down')
    press(c, 'START', state, 'confirm-empty')
    press(c, 'START', machine, 'DEALING')


def test_without_the_chip_nothing_is_dealt(c):
    before = len(journal(c, PANEL))
    c.run('echo 0 >%s/live' % CHIP)
    machine(c, 'PAUSED')
    state(c, 'panel-lost')
    told(c, PANEL_LOST, 'the GPIO chip is gone')
    # the chip comes up with its board switch open, and the rule gives it to the service
    c.run('echo 1 >%s/live' % CHIP)
    state(c, 'not-seated')
    wait('the panel', lambda: len(journal(c, PANEL)) > before)
    pull(c, 'BOARD', 'up')
    state(c, 'paused')
    light(c, 'AMBER')
    press(c, 'START', machine, 'DEALING')


def test_the_board_is_dealt(c):
    c.machines['ONE'].tell('speed 5')
    state(c, 'take-out')
    c.machines['ONE'].tell('remove')
    wait('the job', lambda: c.ask('test -s /tmp/ended')[0] == 0)
    assert c.run('cat /tmp/ended').strip() == '0', c.run('cat /tmp/dealt')


def test_the_journal_explains_the_panel(c):
    text = c.run('journalctl -u dealboxd -x --no-pager')
    for subject in ('The panel is in use', 'The panel is gone or cannot be used', 'Emergency stop'):
        assert 'Subject: ' + subject in text, subject


run_tests(Computer(set_file, '7.2', 'gpio-sim'), tests_of(globals()))
