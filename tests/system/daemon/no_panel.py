# SPDX-License-Identifier: LGPL-2.1-or-later
"""no_panel.py DEALBOXD EMULATOR DEALBOX SET: a service that was built without panels (TAP)."""
import signal
import sys

import dbus

from harness import World, tests_in, wait

dealboxd, emulator, dealbox, set_file = sys.argv[1:5]
PATH = '/io/dealbox1/machine/FIRST'


def panel(w):
    root = w.bus.get_object('io.dealbox1', '/io/dealbox1', introspect=False)
    return str(dbus.Interface(root, 'org.freedesktop.DBus.Properties').Get('io.dealbox1.Manager', 'Panel'))


def state(w):
    return w.machines()[PATH]['State']


def reload(w, panel_lines):
    w.write_config(panel_lines)
    w.daemon.send_signal(signal.SIGHUP)


def no_machine_of_a_panel_deals_until_the_panel_is_out_of_the_settings(w):
    reload(w, '[panel]\nchip = /dev/gpiochip0\nmachine = FIRST\nemergency = STOP\n')
    wait('the settings', lambda: 'built without panels' in panel(w))
    number, _ = w.add_set()
    path = w.add_job(number, [1, 2], automatic_start=True)
    # the other machine deals the whole job
    w.deal(path)
    assert {r['machine'] for r in w.records() if r['record'] == 'insertion'} == {'OTHER'}
    assert state(w) == 'panel-lost', state(w)
    reload(w, '')
    wait('no panel', lambda: not panel(w))
    wait('the machine', lambda: state(w) != 'panel-lost')


world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    world.add_emulator('FIRST', '--speed', '0')
    world.start_with('OTHER', '--speed', '0')
    wait('both machines', lambda: len(world.machines()) == 2)
    tap.run(no_machine_of_a_panel_deals_until_the_panel_is_out_of_the_settings, world)
