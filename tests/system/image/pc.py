# SPDX-License-Identifier: LGPL-2.1-or-later
"""A PC without a disk, in QEMU, which starts from a stick with Secure Boot on."""
import json
import os
import re
import shutil
import socket
import subprocess
import time

FIRMWARE = '/usr/share/OVMF/OVMF_%s_4M.ms.fd'
KEYS = {' ': 'spc', '\n': 'ret', '-': 'minus', '|': 'shift-backslash', ';': 'semicolon'}
PATIENCE = 1800     # seconds: the processor is emulated


class PC:
    """stick: the file of the stick. machine: the socket of dealbox-emulator --usbredir."""
    def __init__(self, folder, stick, port, machine):
        self.folder, self.stick, self.port, self.machine = folder, stick, port, machine
        self.vars = folder + '/firmware'
        shutil.copy(FIRMWARE % 'VARS', self.vars)
        self.process = None
        self.begun = 0.0

    def power_on(self):
        self.begun = time.monotonic()
        for name in ('qmp', 'serial'):
            if os.path.exists('%s/%s' % (self.folder, name)):
                os.unlink('%s/%s' % (self.folder, name))
        # virtio: the kiosk's compositor needs a graphics driver with PRIME, and that of QEMU's std has none
        self.process = subprocess.Popen(
            ['qemu-system-x86_64', '-machine', 'q35,smm=on', '-accel', 'tcg', '-cpu', 'max',
             '-smp', '1', '-m', '2048',
             '-nodefaults', '-vga', 'virtio', '-display', 'none',
             '-global', 'driver=cfi.pflash01,property=secure,value=on',
             '-drive', 'if=pflash,format=raw,unit=0,readonly=on,file=' + FIRMWARE % 'CODE',
             '-drive', 'if=pflash,format=raw,unit=1,file=' + self.vars,
             '-device', 'qemu-xhci,id=usb',
             '-drive', 'if=none,id=stick,format=raw,cache=writeback,file=' + self.stick,
             '-device', 'usb-storage,bus=usb.0,drive=stick,removable=on,bootindex=1',
             '-chardev', 'socket,id=machine,path=' + self.machine, '-device', 'usb-redir,bus=usb.0,chardev=machine',
             '-device', 'usb-kbd,bus=usb.0',
             '-netdev', 'user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:%d-:9090' % self.port, '-device', 'e1000e,netdev=net',
             '-serial', 'file:%s/serial' % self.folder,
             '-qmp', 'unix:%s/qmp,server=on,wait=off' % self.folder],
            stdin=subprocess.DEVNULL, stdout=open(self.folder + '/qemu.log', 'w'), stderr=subprocess.STDOUT)
        while not all(os.path.exists('%s/%s' % (self.folder, name)) for name in ('qmp', 'serial')):
            assert self.process.poll() is None, 'QEMU: ' + open(self.folder + '/qemu.log').read()
            time.sleep(0.1)

    def command(self, execute, **arguments):
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(self.folder + '/qmp')
            with monitor.makefile('rw') as file:
                file.readline()
                for command in ({'execute': 'qmp_capabilities'}, {'execute': execute, 'arguments': arguments}):
                    file.write(json.dumps(command))
                    file.flush()
                    answer = {}
                    while not {'return', 'error'} & answer.keys():
                        answer = json.loads(file.readline())
        assert 'return' in answer, answer
        return answer['return']

    def serial(self):
        with open(self.folder + '/serial', errors='replace') as file:
            return file.read()

    def wait_for(self, pattern, times=1):
        """Until the serial line has shown it so often."""
        end = time.monotonic() + PATIENCE
        while len(re.findall(pattern, self.serial())) < times:
            assert self.process.poll() is None, 'the PC is off: ' + open(self.folder + '/qemu.log').read()
            if time.monotonic() > end:
                self.picture('timeout')
                raise TimeoutError('waited for %s; the serial line: %s' % (pattern, self.serial()[-3000:]))
            time.sleep(0.2)
        return time.monotonic() - self.begun

    def type(self, text):
        for letter in text:
            key = KEYS.get(letter, letter)
            self.command('human-monitor-command', **{'command-line': 'sendkey %s 50' % key})
            # the monitor lets go of the key by itself; an emulated PC must have seen it before the next
            time.sleep(0.3)

    def press(self, keys):
        self.command('human-monitor-command', **{'command-line': 'sendkey %s 200' % keys})

    def picture(self, name):
        """What the display shows, for people, in build/logs."""
        self.command('screendump', filename=os.path.abspath('build/logs/image-%s.png' % name), format='png')

    def has_page(self):
        """A page has many colours, since its letters have soft edges; a console is black, with few."""
        path = self.folder + '/display.ppm'
        self.command('screendump', filename=path)
        with open(path, 'rb') as file:
            for _ in range(3):
                file.readline()
            data = file.read()
        points = [data[n:n + 3] for n in range(0, len(data), 3 * 97)]
        return points.count(b'\0\0\0') < len(points) / 2 and len(set(points)) >= 12

    def power_cut(self):
        self.process.kill()
        self.process.wait()

    def power_off(self):
        """The button of the PC."""
        self.command('system_powerdown')
        self.process.wait(PATIENCE)
