# SPDX-License-Identifier: LGPL-2.1-or-later
"""hotplug.py DEALBOXD EMULATOR DEALBOX SET COUNT_SCANS LIBDEALBOX: machines that come and go (TAP).

The devices and udev's events are simulated (umockdev), with a /run/udev of our own.
"""
import ctypes
import errno
import glob
import os
import re
import select
import shlex
import shutil
import sys

from harness import World, tests_in, tests_of, wait

dealboxd, emulator, dealbox, set_file, count_scans, library = map(os.path.abspath, sys.argv[1:7])
HUB = '/devices/pci0000:00/0000:00:14.0/usb1'

DEVICE = """P: {hub}/{port}
N: bus/usb/001/{number:03}
E: DEVTYPE=usb_device
E: SUBSYSTEM=usb
E: DEVNAME=/dev/bus/usb/001/{number:03}
E: MAJOR=189
E: MINOR={minor}
A: dev=189:{minor}
A: busnum=1
A: devnum={number}

P: {hub}/{port}/{port}:1.0
E: DEVTYPE=usb_interface
E: SUBSYSTEM=usb
E: INTERFACE={interface}
A: bInterfaceClass={sysfs[0]}
A: bInterfaceSubClass={sysfs[1]}
A: bInterfaceProtocol={sysfs[2]}
A: bInterfaceNumber=00
{driver}
"""
DRIVER = 'L: driver=../../../../../../bus/usb/drivers/dealbox\n'
NODE = """P: {hub}/{port}/{port}:1.0/dealbox/dealbox{minor}
N: dealbox{minor}
E: SUBSYSTEM=dealbox
E: DEVNAME=/dev/dealbox{minor}
E: MAJOR=240
E: MINOR={minor}
A: dev=240:{minor}

"""
MACHINE, KEYBOARD = '255/68/1', '3/1/1'


class Udev:
    """The devices of the kernel, and their properties in udev."""
    def __init__(self):
        self.lib = ctypes.CDLL('libumockdev.so.0')
        self.lib.umockdev_testbed_new.restype = ctypes.c_void_p
        self.bed = ctypes.c_void_p(self.lib.umockdev_testbed_new())
        self.lib.umockdev_testbed_get_root_dir.restype = ctypes.c_char_p
        self.root = self.lib.umockdev_testbed_get_root_dir(self.bed).decode()
        os.makedirs('/run/udev/data')
        with open('/run/udev/control', 'w', encoding='ascii'):
            pass
        self.text('P: /devices/pci0000:00/0000:00:14.0\nE: SUBSYSTEM=pci\n\n')
        self.text('P: %s\nE: DEVTYPE=usb_device\nE: SUBSYSTEM=usb\nA: busnum=1\nA: devnum=1\n\n' % HUB)

    def text(self, text):
        assert self.lib.umockdev_testbed_add_from_string(self.bed, text.encode(), None)

    def add(self, port, interface, node=False):
        """Add a device that the kernel has found, and udev has not processed yet."""
        minor = int(port[-1])
        more = {'hub': HUB, 'port': port, 'number': minor + 1, 'minor': minor, 'interface': interface,
                'driver': DRIVER if node else '',
                'sysfs': ['%02x' % int(n) for n in interface.split('/')]}
        self.text(DEVICE.format(**more))
        if node:
            self.text(NODE.format(**more))
            os.chmod(self.node(port), 0)

    def node(self, port):
        return '%s/dev/dealbox%s' % (self.root, port[-1])

    def done(self, port):
        """Write udev's record of the device, which means that the rules have been applied."""
        for name in ('c189:%s' % port[-1], 'c240:%s' % port[-1]):
            with open('/run/udev/data/' + name, 'w', encoding='ascii') as file:
                file.write('I:1\n')

    def tell(self, port, action='add', node=False):
        path = '/sys%s/%s/%s:1.0' % (HUB, port, port)
        if node:
            path += '/dealbox/dealbox' + port[-1]
        self.lib.umockdev_testbed_uevent(self.bed, path.encode(), action.encode())

    def remove(self, ports, other):
        """Remove devices, then add another: as in udev, the next event comes when they are gone."""
        for port in ports:
            self.lib.umockdev_testbed_remove_device(self.bed, ('/sys%s/%s' % (HUB, port)).encode())
        self.add(other, MACHINE)


class Monitor:
    """The library's monitor, as any program uses it."""
    KINDS = ['added', 'removed', 'changed']

    def __init__(self):
        self.lib = ctypes.CDLL(library)
        self.monitor = ctypes.c_void_p()
        assert not self.lib.dealbox_monitor_new(ctypes.byref(self.monitor), None)
        self.poll = select.poll()
        self.poll.register(self.lib.dealbox_monitor_fd(self.monitor), select.POLLIN)

    def heard(self):
        """Wait for events, and return the set of all that have come."""
        found = set()
        port = ctypes.create_string_buffer(32)
        while not found:
            assert self.poll.poll(60000), 'nothing to hear'
            while (kind := self.lib.dealbox_monitor_next(self.monitor, port)) >= 0:
                found.add((self.KINDS[kind], port.value.decode()))
            assert kind == -errno.EAGAIN, kind
        return found

    def silent(self):
        return self.lib.dealbox_monitor_next(self.monitor, ctypes.create_string_buffer(32)) == -errno.EAGAIN

    def close(self):
        self.lib.dealbox_monitor_free(self.monitor)
        self.lib.dealbox_monitor_free(None)


def scans(w):
    path = w.dir + '/scans'
    return os.path.getsize(path) if os.path.exists(path) else 0


def told(w):
    """Everything sent to the service before has been handled: machines precede clients."""
    return w.machines()


def alarms(w):
    """Return the armed timers of the service."""
    found = []
    for path in glob.glob('/proc/%d/fdinfo/*' % w.daemon.pid):
        try:
            with open(path, encoding='ascii') as file:
                value = re.search(r'it_value: \((\d+), (\d+)\)', file.read())
        except FileNotFoundError:
            continue        # closed meanwhile
        if value and value.groups() != ('0', '0'):
            found.append(value[0])
    return found


def asleep(w):
    """Everything sent is handled, and no timer runs: only an event wakes the service."""
    wait('sleep', lambda: not alarms(w) and told(w) is not None and not alarms(w))


def said(w, words):
    return w.log().count(words)


def test_the_library_tells_who_comes_and_goes(w):
    """Each event has the port; other devices cause none."""
    monitor = Monitor()
    found = []
    for port, interface in ('1-5', KEYBOARD), ('1-6', MACHINE):
        w.udev.add(port, interface, node=interface == MACHINE)
        w.udev.tell(port)
    found.append(monitor.heard())
    for action, port, node in ('add', '1-6', True), ('bind', '1-6', False), ('remove', '1-6', True):
        w.udev.tell('1-5', action)
        w.udev.tell(port, action, node)
        found.append(monitor.heard())
    w.udev.tell('1-5', 'remove')
    silent = monitor.silent()
    monitor.close()
    w.udev.remove(['1-5', '1-6'], '1-0')
    assert found == [{('added', '1-6')}, {('added', '1-6')}, {('changed', '1-6')},
                     {('removed', '1-6')}], found
    assert silent


def test_a_service_without_machines_sleeps(w):
    wait('the first look', lambda: scans(w))
    asleep(w)


def test_other_devices_are_not_looked_at(w):
    before = scans(w)
    w.udev.add('1-9', KEYBOARD)
    w.udev.done('1-9')
    w.udev.tell('1-9')
    told(w)
    assert scans(w) == before, (before, scans(w))
    asleep(w)


def test_a_machine_is_not_tried_before_udev_is_done(w):
    """Another machine comes and is tried; this one has no group yet, which is not reported."""
    w.udev.add('1-1', MACHINE, node=True)
    w.udev.add('1-2', MACHINE, node=True)
    os.chmod(w.udev.node('1-2'), 0o660)
    w.udev.done('1-2')
    before = scans(w)
    w.udev.tell('1-2', node=True)
    wait('the other', lambda: said(w, '/dev/dealbox2 is not a dealing machine'))
    assert scans(w) > before
    assert not said(w, 'dealbox1'), w.log()


def test_then_a_refusal_is_told_once(w):
    w.udev.done('1-1')
    w.udev.tell('1-1', node=True)
    wait('the refusal', lambda: said(w, 'no permission for /dev/dealbox1'))
    assert 'install the udev rule' in w.log()
    before = scans(w)
    w.udev.tell('1-1', 'change', node=True)
    wait('another look', lambda: scans(w) > before)
    told(w)
    assert said(w, 'no permission') == 1, w.log()
    # it is also tried again after a while
    wait('the next try', lambda: alarms(w))


def test_a_rule_that_comes_later_counts_at_once(w):
    os.chmod(w.udev.node('1-1'), 0o660)
    w.udev.tell('1-1', 'change', node=True)
    wait('the machine', lambda: said(w, '/dev/dealbox1 is not a dealing machine'))


def test_machines_that_went_are_forgotten(w):
    w.udev.remove(['1-1', '1-2'], '1-7')
    asleep(w)


def test_the_same_by_libusb(w):
    """Without a module: the node is that of the USB device."""
    w.udev.add('1-3', MACHINE)
    w.udev.add('1-4', MACHINE)
    w.udev.done('1-4')
    w.udev.tell('1-4')
    wait('the other', lambda: said(w, 'usb:1-4: '))
    assert not said(w, 'usb:1-3'), w.log()
    w.udev.done('1-3')
    w.udev.tell('1-3')
    wait('this one', lambda: said(w, 'usb:1-3: '))
    w.udev.remove(['1-3', '1-4'], '1-8')
    asleep(w)


def test_a_machine_that_has_nothing_to_do_is_left_in_peace(w):
    """The service polls it now and then while there is work, and sleeps before and after."""
    w.add_emulator('FIRST', '--speed', '0', '--manual')
    w.write_config()
    w.daemon.send_signal(1)
    wait('the machine', lambda: w.machines().get('/io/dealbox1/machine/FIRST', {}).get('Present'))
    asleep(w)
    before = scans(w)
    number, _ = w.add_set()
    job = w.add_job(number, [1], automatic_start=True)
    wait('the next look', lambda: alarms(w))
    w.tell('FIRST', 'insert')
    w.deal(job)
    asleep(w)
    assert scans(w) == before, (before, scans(w))


world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    world.udev = Udev()
    # without root's capabilities on files, so that the service can be refused
    world.dealboxd = world.dir + '/dealboxd'
    # LD_PRELOAD cannot handle a path with a space
    shutil.copy(count_scans, world.dir)
    with open(world.dealboxd, 'w', encoding='ascii') as script:
        script.write('#!/bin/sh\nSCANS=%s/scans LD_PRELOAD=libumockdev-preload.so.0:%s exec '
                     'setpriv --bounding-set=-dac_override,-dac_read_search %s "$@"\n' %
                     (world.dir, world.dir + '/' + os.path.basename(count_scans),
                      shlex.quote(dealboxd)))
    os.chmod(world.dealboxd, 0o755)
    world.start()
    for test in tests_of(globals()):
        tap.run(test, world)
