# SPDX-License-Identifier: LGPL-2.1-or-later
"""A computer with Debian, systemd and dealbox, and machines beside it.

The computer is a virtual machine; the machines are emulators outside, plugged in over a network.
So the contents of the boards stay known when its power is cut.
"""
import base64
import glob
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, TOP + '/tests/system/daemon')

import harness  # noqa: E402
from harness import PATIENCE, Tap, wait  # noqa: E402

BUILD = TOP + '/build/user'
EMULATOR = BUILD + '/tools/emulator/dealbox-emulator'
DEALBOX = BUILD + '/tools/dealbox/dealbox'
LEDGER = '/var/lib/dealbox/ledger'
HERE = '10.0.2.2'       # this computer in the virtual machine's network
QUIET = 2               # seconds without a change, after which the states are queried


class Failed(Exception):
    """A command in the computer failed."""


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
        """Return the contents of the boards that were taken out: insertion -> record."""
        if not os.path.exists(self.path + '.account'):
            return {}
        with open(self.path + '.account') as file:
            return {board['insertion']: board for board in map(json.loads, file)}

    def close(self):
        self.process.terminate()
        self.process.wait()


class Machines(dict):
    """The machines that the service knows. A missing one raises an error with the output."""
    def __init__(self, text, machines):
        super().__init__(machines)
        self.text = text

    def __missing__(self, key):
        raise Failed('dealbox status does not know %s: %s' % (key, self.text or 'nothing was said'))


class Computer:
    """
    series: of the kernel. modules: further modules of that kernel. debian: of tests/infra/setup.
    packages: a folder, which is /root/packages there, instead of `make install`.
    port: of this computer, which is the computer's port 9090. The kernel log is judged at each
    power-off and power cut.
    """
    def __init__(self, set_file, series='6.12', *modules, debian='bookworm', packages=None, port=None):
        self.series = series
        self.forward = ['-p', '%d:9090' % port] if port else []
        self.deals = harness.read_pbn(set_file)
        self.dir = tempfile.mkdtemp(prefix='dealbox-computer-')
        self.machines = {}
        self.vm = self.agent = self.events = None
        self.said = b''
        self.states = {}        # machine: last reported state
        self.asked = 0
        # exit in the normal way, which ends everything that the test has started
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        contents = ['-p', packages] if packages else []
        subprocess.run([TOP + '/tests/system/club/root', *contents, self.dir, debian, series, *modules],
                       check=True)

    def add_emulator(self, serial, *options):
        self.machines[serial] = Emulator(self.dir, serial, *options)

    # -- power --

    def power_on(self):
        # TMPDIR: what a power cut leaves behind is removed with the folder
        self.vm = subprocess.Popen(
            [TOP + '/tests/infra/vm/run', '-k', self.series, '-t', '100000',
             '-l', self.dir + '/kernel.log',
             # loglevel: warnings, for the judge. The allocator's checks would take a third of the
             # boot; other tests of the module have better ones.
             '-a', 'net.ifnames=0 loglevel=5 systemd.show_status=false slub_debug=- mitigations=off',
             *self.forward, '-d', self.dir],
            env=dict(os.environ, TMPDIR=self.dir), start_new_session=True,
            stdout=open(self.dir + '/console', 'w'), stderr=subprocess.STDOUT)
        self.events = wait('the computer', lambda: self.connect('events'))
        self.agent = wait('the computer', lambda: self.connect('agent'))
        self.agent.settimeout(PATIENCE)
        self.run('true')

    def connect(self, name):
        if self.vm.poll() is not None:
            raise Failed('the computer does not start: ' + self.console())
        port = socket.socket(socket.AF_UNIX)
        try:
            port.connect('%s/%s' % (self.dir, name))
        except OSError:
            port.close()
            return None
        return port

    def console(self):
        with open(self.dir + '/console', errors='replace') as file:
            return file.read()

    def power_off(self):
        """Switch the computer off. Raise an error with the kernel's reports, if there are any."""
        self.say('systemctl poweroff')
        if self.vm.wait(PATIENCE):
            raise Failed(self.console())

    def power_cut(self):
        """
        Cut the power: only what has reached the disk survives.
        Raise an error with the kernel's reports, if there are any.
        """
        os.killpg(self.vm.pid, signal.SIGKILL)
        self.vm.wait()
        for name in ('agent', 'events'):
            getattr(self, name).close()
            os.unlink('%s/%s' % (self.dir, name))
        self.said = b''
        self.states = {}
        judge = subprocess.run([TOP + '/tests/infra/vm/judge', self.dir + '/kernel.log'],
                               check=False, stderr=subprocess.PIPE, text=True, errors='replace')
        if judge.returncode:
            raise Failed(judge.stderr)

    # -- commands in the computer --

    def ask(self, command):
        """Run one line of the shell. Return its exit status and its output."""
        self.say(command)
        return self.hear()

    def say(self, command):
        try:
            self.agent.sendall(command.encode() + b'\n')
        except ConnectionError:
            raise Failed(self.is_off()) from None

    def hear(self):
        answer = b''
        while b'\n' not in answer:
            answer += self.receive()
        head, answer = answer.split(b'\n', 1)
        status, length = map(int, head.split())
        while len(answer) < length:
            answer += self.receive()
        return status, answer.decode(errors='replace')

    def receive(self):
        try:
            data = self.agent.recv(1 << 16)
        except ConnectionError:
            data = b''
        if not data:
            raise Failed(self.is_off())
        return data

    def is_off(self):
        """Return the output of vm/run, and the end of the kernel log."""
        return 'the computer is off: %s\n%s' % (self.console()[-2000:], self.kernel_log()[-4000:])

    def run(self, command, status=0):
        return self.expect(command, status, *self.ask(command))

    def expect(self, command, status, got, text):
        if got != status:
            raise Failed('%s: status %d: %s' % (command, got, text))
        return text

    def put(self, path, data):
        self.run('base64 -d <<<%s >%s' % (base64.b64encode(data).decode(), shlex.quote(path)))

    def get(self, path):
        """Copy a file from the computer, over the network, because a ledger may be large."""
        with socket.create_server(('127.0.0.1', 0)) as server:
            command = 'cat %s >/dev/tcp/%s/%d' % (shlex.quote(path), HERE, server.getsockname()[1])
            self.say(command)
            server.settimeout(PATIENCE)
            with server.accept()[0] as connection, connection.makefile('rb') as file:
                data = file.read()
        self.expect(command, 0, *self.hear())
        return data

    def kernel_log(self):
        with open(self.dir + '/kernel.log', errors='replace') as file:
            return file.read()

    def plug(self, serial):
        """Plug the machine into the first free port."""
        self.machines[serial].tell('plug')
        self.attach(serial)

    def attach(self, serial):
        """usbip waits for a machine that is off or unplugged."""
        def attached():
            got, text = self.ask('usbip --tcp-port %s attach -r %s -b 1-1' % (self.machines[serial].port, HERE))
            # usbip reads all ports first, and gives up if a device is just coming or going
            if got and 'open vhci_driver' not in text:
                raise Failed(text)
            return not got
        wait('a port for ' + serial, attached)

    def unplug(self, serial):
        self.machines[serial].tell('unplug')

    # -- states of the machines, and the operator --

    def status(self):
        """Return each machine that the service knows, by its id."""
        text = self.ask('dealbox status --json 2>&1')[1]
        return Machines(text, {m['machine']: m for m in map(json.loads, re.findall(r'^{.*', text, re.M))})

    def changes(self, seconds):
        """Return the changes of state since the last call, or wait some seconds for the first."""
        self.events.settimeout(seconds)
        try:
            self.said += self.events.recv(1 << 16)
        except (TimeoutError, BlockingIOError):
            pass
        *lines, self.said = self.said.split(b'\n')
        told = []
        for line in lines:
            try:
                told.append(json.loads(line))
            except ValueError:
                pass    # half a line, left by a kill
        self.states.update((m['machine'], m['state']) for m in told)
        return told

    def answer(self, machine):
        """Follow the operator's instructions. New boards of the emulator are empty."""
        if machine['state'] in harness.World.PRESS:
            self.ask('busctl call io.dealbox1 %s io.dealbox1.Machine Start' % machine['path'])
        elif machine['state'] in harness.World.TAKE_OUT:
            self.machines[machine['machine']].tell('remove')

    def work(self, seconds=0.5):
        """Let the operator follow all instructions. Return the changes of state meanwhile."""
        told = self.changes(seconds)
        latest = {m['machine']: m for m in told}
        # an operator's action may have come too late for the state that it was for
        if not told and time.monotonic() > self.asked + QUIET:
            latest = self.status()
        if latest:
            self.asked = time.monotonic()
        for machine in latest.values():
            self.answer(machine)
        return told

    # -- the ledger, and the boards --

    def records(self, dead=False):
        """
        Return all records of the ledger, from a copy. The copy is taken while the service uses the
        ledger or, after a power cut, from the disk before anybody has opened it.
        """
        copy = self.dir + '/ledger'
        for name in glob.glob(copy + '*'):
            os.unlink(name)
        paths = [LEDGER, LEDGER + '-wal']
        if not dead:
            self.run('rm -f /var/tmp/ledger*; dealbox ledger backup /var/tmp/ledger')
            paths = ['/var/tmp/ledger']
        for path in self.ask('ls %s %s.key 2>/dev/null' % (' '.join(paths), LEDGER))[1].split():
            name = '%s/%s' % (self.dir, os.path.basename(path))
            with open(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), 'wb') as file:
                file.write(self.get(path))
        subprocess.run([DEALBOX, 'ledger', 'verify', '-l', copy], check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([DEALBOX, 'ledger', 'export', '-l', copy], check=True,
                              capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def account(self):
        """Return the contents of the boards of all machines: (machine, insertion) -> record."""
        return {(serial, insertion): board for serial, machine in self.machines.items()
                for insertion, board in machine.boards().items()}

    def log(self):
        try:
            return self.ask('cat /tmp/dealt; dealbox status; journalctl -u dealboxd --no-pager -n 60; '
                            'dmesg | tail -n 20')[1]
        except Failed as problem:
            return str(problem)

    def close(self):
        if self.vm and self.vm.poll() is None:
            os.killpg(self.vm.pid, signal.SIGKILL)
            self.vm.wait()
        for machine in self.machines.values():
            machine.close()
        shutil.rmtree(self.dir)


def run_tests(computer, tests):
    """Run the tests, each from where the previous one ended. The kernel is judged in any case."""
    tap = Tap()
    try:
        computer.power_on()
        for test in tests:
            if not tap.failed:
                tap.run(test, computer)
        if tap.failed:
            print('# ' + computer.log().replace('\n', '\n# '))
        tap.run(computer.power_off, name='the kernel has complained of nothing')
    finally:
        computer.close()
    sys.exit(tap.end())
