# SPDX-License-Identifier: LGPL-2.1-or-later
"""person.py DEALBOXD EMULATOR DEALBOX SET: who is recorded for a caller that is root (TAP)

Needs root on the bus: the test runs in a user namespace, where it is that.
"""
import os
import subprocess
import sys

from harness import World, tests_in, tests_of, wait

CALL = '''
import dbus, os, sys
bus = dbus.bus.BusConnection(os.environ['DBUS_SYSTEM_BUS_ADDRESS'])
bus.call_async('io.dealbox1', sys.argv[1], sys.argv[2], sys.argv[3], '', (), None, None)
bus.flush()
print(os.getpid(), flush=True)
sys.stdin.read()
'''


class Caller:
    """A process of its own: it calls a method, and stays on the bus until it is told to go."""
    def __init__(self, path, interface, method):
        self.process = subprocess.Popen([sys.executable, '-c', CALL, path, 'io.dealbox1.' + interface, method],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())

    def go(self):
        self.process.stdin.close()
        self.process.wait()


def sessions(w, text):
    with open(w.dir + '/sessions.new', 'w') as file:
        file.write(text)
    os.rename(w.dir + '/sessions.new', w.dir + '/sessions')


def start_logind(w):
    sessions(w, '')
    w.spawn([sys.executable, os.path.dirname(os.path.abspath(__file__)) + '/logind.py', w.dir + '/sessions'])
    wait('logind', lambda: w.bus.name_has_owner('org.freedesktop.login1'))


def acts(w, kind):
    return [record['uid'] for record in w.records() if record['record'] == 'act' and record['act'] == kind]


def recorded(w, kind, caller, before):
    found = wait('the record', lambda: len(acts(w, kind)) > len(before) and acts(w, kind))
    caller.go()
    assert found[:-1] == before, (found, before)
    return found[-1]


def machine(w):
    path, = w.machines()
    return path


def asked(w, pid):
    return 'member=GetUserByPID\n   uint32 %d\n' % pid in w.traffic()


def test_without_logind_it_is_root(w):
    before = acts(w, 'reveal')
    assert recorded(w, 'reveal', Caller(machine(w), 'Machine', 'Reveal'), before) == 0


def test_who_has_logged_in_is_recorded_as_seeing_cards(w):
    start_logind(w)
    before = acts(w, 'reveal')
    sessions(w, 'hang')
    caller = Caller(machine(w), 'Machine', 'Reveal')
    sessions(w, '%d 4321 1 4322' % caller.pid)
    assert recorded(w, 'reveal', caller, before) == 4321


def test_who_has_logged_in_is_recorded_for_the_stop(w):
    before = acts(w, 'stop')
    sessions(w, 'hang')
    caller = Caller('/io/dealbox1', 'Manager', 'Stop')
    # .. which does not wait for logind
    wait('the stop', lambda: w.machines()[machine(w)]['State'] == 'stopped')
    assert acts(w, 'stop') == before
    sessions(w, '%d 4321' % caller.pid)
    assert recorded(w, 'stop', caller, before) == 4321


def test_a_process_in_no_session_is_root(w):
    before = acts(w, 'reveal')
    sessions(w, '1 4322')
    assert recorded(w, 'reveal', Caller(machine(w), 'Machine', 'Reveal'), before) == 0


def test_a_process_that_has_ended_may_have_left_its_number_to_another(w):
    before = acts(w, 'stop')
    w.object(machine(w), 'Machine').Start()
    wait('the end of the stop', lambda: w.machines()[machine(w)]['State'] != 'stopped')
    sessions(w, 'hang')
    caller = Caller('/io/dealbox1', 'Manager', 'Stop')
    wait('logind to be asked', lambda: asked(w, caller.pid))
    caller.go()
    sessions(w, '%d 4323' % caller.pid)
    assert recorded(w, 'stop', caller, before) == 0


def main():
    world = World(*sys.argv[1:])
    with tests_in(world) as tap:
        world.start_with('EMU1', '--manual')
        for test in tests_of(globals()):
            tap.run(test, world)


main()
