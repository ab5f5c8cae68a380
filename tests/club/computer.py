# SPDX-License-Identifier: LGPL-2.1-or-later
"""A computer with Debian, systemd and dealbox on it, and machines that stand beside it.

The computer is a virtual machine; the machines are emulators here, plugged into it over a
network. So its power can be cut, and what lies in the boards goes on to be known.
"""
import base64
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, TOP + '/tests/daemon')

import harness  # noqa: E402
from harness import wait  # noqa: E402

BUILD = TOP + '/build/user'
EMULATOR = BUILD + '/tools/emulator/dealbox-emulator'
DEALBOX = BUILD + '/tools/dealbox/dealbox'
LEDGER = '/var/lib/dealbox/ledger'


class Failed(Exception):
    """A command in the computer ended otherwise than it should."""


class Emulator:
    """A machine; its account outlives the computer."""
    def __init__(self, folder, serial, *options):
        self.serial, self.path = serial, '%s/%s' % (folder, serial)
        self.process = subprocess.Popen(
            [EMULATOR, '--serve', '0', '--serial', serial, '--account', self.path + '.account',
             '--control', self.path + '.control', '--state', self.path + '.state', *options],
            stdout=subprocess.PIPE, stderr=open(self.path + '.log', 'w'), text=True)
        # "usbip --tcp-port PORT attach ..."
        self.port = self.process.stdout.readline().split()[3]
        assert 'is ready' in self.process.stdout.readline()

    def tell(self, command):
        return subprocess.run([EMULATOR, '--tell', self.path + '.control', command],
                              check=False, capture_output=True, text=True).stdout

    def boards(self):
        """What lay in the boards that were taken out: insertion -> record."""
        if not os.path.exists(self.path + '.account'):
            return {}
        with open(self.path + '.account') as file:
            return {board['insertion']: board for board in map(json.loads, file)}

    def close(self):
        self.process.terminate()
        self.process.wait()


class Computer:
    """The kernel is of that series; more of its own modules are named."""
    def __init__(self, set_file, series='6.12', *modules):
        self.series = series
        self.deals = harness.read_pbn(set_file)
        self.dir = tempfile.mkdtemp(prefix='dealbox-computer-')
        self.machines = {}
        self.vm = self.agent = self.events = None
        self.said = b''
        subprocess.run([TOP + '/tests/club/root', self.dir, series, *modules], check=True)

    def add_emulator(self, serial, *options):
        self.machines[serial] = Emulator(self.dir, serial, *options)

    # -- power --

    def power_on(self):
        # whatever is left of it when its power is cut goes with the folder
        self.vm = subprocess.Popen(
            [TOP + '/tests/vm/run', '-k', self.series, '-t', '100000', '-l', self.dir + '/kernel.log',
             '-a', 'net.ifnames=0 loglevel=4', '-d', self.dir],
            env=dict(os.environ, TMPDIR=self.dir), start_new_session=True,
            stdout=open(self.dir + '/console', 'w'), stderr=subprocess.STDOUT)
        self.events = wait('the computer', lambda: self.connect('events'))
        self.agent = wait('the computer', lambda: self.connect('agent'))
        self.agent.settimeout(300)
        self.run('true')

    def connect(self, name):
        if self.vm.poll() is not None:
            raise Failed('the computer does not start: ' + open(self.dir + '/console').read())
        port = socket.socket(socket.AF_UNIX)
        try:
            port.connect('%s/%s' % (self.dir, name))
        except OSError:
            port.close()
            return None
        return port

    def power_off(self):
        self.agent.send(b'systemctl poweroff\n')
        self.vm.wait(120)

    def power_cut(self):
        """Nothing that the computer has not written to its disk is there afterwards."""
        os.killpg(self.vm.pid, signal.SIGKILL)
        self.vm.wait()
        for name in ('agent', 'events'):
            getattr(self, name).close()
            os.unlink('%s/%s' % (self.dir, name))
        self.said = b''

    # -- what is done in it --

    def ask(self, command):
        """The exit status and what the command printed; the command is one line of the shell."""
        self.agent.sendall(command.encode() + b'\n')
        answer = b''
        while b'\n' not in answer:
            answer += self.receive()
        head, answer = answer.split(b'\n', 1)
        status, length = map(int, head.split())
        while len(answer) < length:
            answer += self.receive()
        return status, answer.decode(errors='replace')

    def receive(self):
        data = self.agent.recv(1 << 16)
        if not data:
            raise Failed('the computer is off: ' + self.kernel_log()[-2000:])
        return data

    def run(self, command, status=0):
        got, text = self.ask(command)
        if got != status:
            raise Failed('%s: status %d: %s' % (command, got, text))
        return text

    def put(self, path, data):
        self.run('base64 -d <<<%s >%s' % (base64.b64encode(data).decode(), shlex.quote(path)))

    def get(self, path):
        return base64.b64decode(self.run('base64 -w0 ' + shlex.quote(path)))

    def kernel_log(self):
        with open(self.dir + '/kernel.log', errors='replace') as file:
            return file.read()

    def plug(self, serial):
        """Into the first port that is free."""
        self.machines[serial].tell('plug')
        self.attach(serial)

    def attach(self, serial):
        """Who asks for a machine that is off, or unplugged, waits for it."""
        def attached():
            got, text = self.ask('usbip --tcp-port %s attach -r 10.0.2.2 -b 1-1' % self.machines[serial].port)
            # it looks at all ports first, and gives up when a device is just coming or going
            if got and 'open vhci_driver' not in text:
                raise Failed(text)
            return not got
        wait('a port for ' + serial, attached, 120)

    def unplug(self, serial):
        self.machines[serial].tell('unplug')

    # -- what its machines say, and what the operator does --

    def status(self):
        """Each machine that the service knows, by its id."""
        _, text = self.ask('dealbox status --json 2>/dev/null')
        return {m['id']: m for m in map(json.loads, text.splitlines())}

    def changes(self, seconds):
        """What the machines have told since: waits so long for the first of it, at most."""
        self.events.settimeout(seconds)
        try:
            self.said += self.events.recv(1 << 16)
        except TimeoutError:
            pass
        *lines, self.said = self.said.split(b'\n')
        told = []
        for line in lines:
            try:
                told.append(json.loads(line))
            except ValueError:
                pass    # a kill has left half a line
        return told

    def answer(self, machine):
        """Does what the operator is told to. The emulator's boards are empty when they come."""
        if machine['state'] in harness.World.PRESS:
            self.ask('busctl call io.dealbox1 %s io.dealbox1.Machine Start' % machine['path'])
        elif machine['state'] in harness.World.TAKE_OUT:
            self.machines[machine['id']].tell('remove')

    def work(self, seconds=0.5):
        """The operator sees to it that the work goes on; what the machines have told meanwhile."""
        told = self.changes(seconds)
        for machine in {m['id']: m for m in told or self.status().values()}.values():
            self.answer(machine)
        return told

    # -- the truth --

    def ledger(self):
        """A copy of the ledger that is in use, here."""
        copy = self.dir + '/ledger'
        self.run('rm -f /var/tmp/copy*; dealbox ledger backup /var/tmp/copy')
        for name in ('', '.key'):
            with open(copy + name, 'wb') as file:
                file.write(self.get((LEDGER if name else '/var/tmp/copy') + name))
            os.chmod(copy + name, 0o600)
        return copy

    def records(self):
        copy = self.ledger()
        subprocess.run([DEALBOX, 'ledger', 'verify', '-l', copy], check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([DEALBOX, 'ledger', 'export', '-l', copy], check=True,
                              capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def account(self):
        """What lay in the boards that were taken out of all machines: (machine, insertion) -> record."""
        return {(serial, insertion): board for serial, machine in self.machines.items()
                for insertion, board in machine.boards().items()}

    def close(self):
        if self.vm and self.vm.poll() is None:
            os.killpg(self.vm.pid, signal.SIGKILL)
            self.vm.wait()
        for machine in self.machines.values():
            machine.close()
        shutil.rmtree(self.dir)
