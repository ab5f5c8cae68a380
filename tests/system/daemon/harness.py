# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealboxd on a bus of its own, with emulated machines; and what lies in each board.

A world is a folder with a bus, a polkit of ours, emulators and the daemon. Nothing
of the computer it runs on is used or changed.
"""
import contextlib
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import dbus

from raw import PATIENCE

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tool'))
import json_page  # noqa: E402

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=%s/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/><allow own="*"/></policy>%s</busconfig>
"""
# as on an installed system, where nobody may send what no policy allows
POLICY = """<policy context="default"><deny send_destination="io.dealbox1" send_type="method_call"/>
<deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Peer"/></policy>
<include>%s/io.dealbox1.conf</include>"""
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../daemon/data')
TEST = 0xffffffff       # number of the plan of a test deal
SUITS = 'SHDC'
RANKS = 'AKQJT98765432'


def wait(what, condition):
    """Until condition() is true; fails loudly when it never is."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise TimeoutError('waited for ' + what)


def until(process, pattern, press=False):
    """
    Reads lines up to one that has the pattern; all of them. With press he answers by Enter
    when he is told to press start.
    """
    text = ''
    hung = threading.Timer(PATIENCE, process.kill)
    hung.start()
    try:
        for line in process.stdout:
            text += line
            if pattern and re.search(pattern, line):
                return text
            if press and 'press start' in line:
                with contextlib.suppress(BrokenPipeError):      # that is known, and it has ended
                    process.stdin.write('\n')
                    process.stdin.flush()
    finally:
        hung.cancel()
    assert not pattern, '%r did not come: %s%s' % (pattern, text, process.stderr.read())
    return text


def ends(process, status, *patterns):
    """Goes on to its end. What it wrote to standard output."""
    out = until(process, None, True)
    err = process.stderr.read()
    assert process.wait(PATIENCE) == status, (process.returncode, out, err)
    for pattern in patterns:
        assert re.search(pattern, out + err), (pattern, out, err)
    return out


def read_pbn(path):
    """The hands N, E, S, W of each board, as sets of card numbers."""
    deals = {}
    board = None
    for line in open(path, encoding='latin-1'):
        tag = re.match(r'\[(\w+) "(.*)"\]', line)
        if tag and tag[1] == 'Board':
            board = int(tag[2])
        if tag and tag[1] == 'Deal':
            first, text = tag[2].split(':')
            hands = [set() for _ in range(4)]
            for n, hand in enumerate(text.split()):
                for suit, ranks in enumerate(hand.split('.')):
                    hands[('NESW'.index(first) + n) % 4] |= {13 * suit + RANKS.index(r) for r in ranks}
            deals[board] = hands
    return deals


def memory(path):
    """A descriptor of memory with what the file has: the service takes that from any file system."""
    with open(path, 'rb') as file:
        data = file.read()
    fd = os.memfd_create('set')
    assert os.write(fd, data) == len(data)
    return fd


def swap_deals(path, other, boards):
    """Writes the file once more, where these two boards have each other's deal."""
    with open(path) as file, open(other, 'w') as out:
        pbn = file.read()
        first, second = [re.search(r'\[Board "%d"\].*?(\[Deal ".*?"\])' % board, pbn, re.S)[1] for board in boards]
        out.write(pbn.replace(first, '\0').replace(second, first).replace('\0', second))


def agree(records, account, deals):
    """
    The ledger, and what lay in the boards that were taken out: (machine, insertion) -> record.
    The number of boards that are recorded and exact; raises if anything is otherwise.
    """
    try:
        return compare(records, account, deals)
    except AssertionError:
        # whoever is to find out why needs both; the boards' cards are those of a test
        for name, rows in ('ledger', records), ('account', account.values()):
            for row in rows:
                print('# %s: %s' % (name, json.dumps(row)))
        raise


def compare(records, account, deals):
    """See agree()."""
    insertions = {r['number']: r for r in records if r['record'] == 'insertion'}
    exact = 0
    begun = [(r['machine'], r['insertion']) for r in insertions.values()]
    assert len(begun) == len(set(begun)), 'an insertion is in the ledger twice'
    copies = set()
    for r in records:
        if r['record'] == 'act' and r['act'] == 'redeal':
            copies.discard((r['job'], r['board'], r['copy']))
        if r['record'] != 'verdict' or r['outcome'] != 'exact':
            continue
        i = insertions[r['of']]
        copy = (i['job'], i['board'], i['copy'])
        assert copy not in copies, 'copy %s was recorded twice' % (copy,)
        copies.add(copy)
        board = account.get((i['machine'], i['insertion']))
        if not board:
            continue        # still in the machine
        hands = [set(pocket) for pocket in board['pockets'][:4]]
        assert hands == deals[i['board']], 'board %d is recorded, and is not exact' % i['board']
        assert board['deals'] == 1, 'insertion dealt %d times' % board['deals']
        exact += 1
    for (machine, insertion), board in account.items():
        assert board['deals'] <= 1, 'insertion %d of %s was dealt twice' % (insertion, machine)
        # a test deal is no board of a set
        assert not board['deals'] or (machine, insertion) in begun or board['plan'] == TEST, \
            'insertion %d of %s was dealt, and the ledger does not know' % (insertion, machine)
    return exact


def somebody_else():
    """(uid, gid) of a user who is not root; None where nobody else can be acted as."""
    if os.geteuid():
        return None
    with open('/proc/self/uid_map') as users:
        ranges = [[int(word) for word in line.split()] for line in users]
    return (65534, 65534) if any(first <= 65534 < first + count for first, _, count in ranges) else None


class Bus(dbus.bus.BusConnection):
    """Waits for an answer for longer than is usual: a computer that runs tests is busy."""
    def call_blocking(self, *args, timeout=-1.0, **more):
        return super().call_blocking(*args, timeout=PATIENCE if timeout < 0 else timeout, **more)


class World:
    def __init__(self, dealboxd, emulator, dealbox, set_file, policy=True):
        """Without policy the bus lets through what it would keep from the service."""
        self.dealboxd, self.emulator, self.dealbox = dealboxd, emulator, dealbox
        self.set_file = set_file
        self.deals = read_pbn(set_file)
        self.dir = tempfile.mkdtemp(prefix='dealboxd-')
        self.ledger = self.dir + '/ledger'
        self.new = 'accept'     # what machines get that are new
        self.processes = []
        self.daemon = None
        self.emulators = []
        self.emulated = []      # their processes
        with open(self.dir + '/bus.conf', 'w') as file:
            file.write(BUS % (self.dir, POLICY % DATA if policy else ''))
        os.environ['DBUS_SYSTEM_BUS_ADDRESS'] = 'unix:path=%s/bus' % self.dir
        os.chmod(self.dir, 0o755)       # the bus is for all users
        self.dbus = self.spawn(['dbus-daemon', '--config-file=' + self.dir + '/bus.conf', '--nofork'],
                               stderr=open(self.dir + '/bus.log', 'a'))
        wait('the bus', lambda: os.path.exists(self.dir + '/bus'))
        self.bus = wait('the bus', self.connect)
        # all that goes over the bus, to be searched for cards
        self.spawn(['dbus-monitor', '--address', os.environ['DBUS_SYSTEM_BUS_ADDRESS']],
                   stdout=open(self.dir + '/traffic', 'w'))
        self.deny('')
        self.start_polkit()

    def start_polkit(self):
        self.polkit = self.spawn([sys.executable, os.path.dirname(os.path.abspath(__file__)) + '/polkit.py',
                                  self.dir + '/denied'])
        wait('polkit', lambda: self.bus.name_has_owner('org.freedesktop.PolicyKit1'))

    def connect(self):
        try:
            return Bus(os.environ['DBUS_SYSTEM_BUS_ADDRESS'])
        except dbus.DBusException:
            return None

    def spawn(self, command, **more):
        process = subprocess.Popen(command, **more)
        self.processes.append(process)
        return process

    def deny(self, actions):
        """From now on polkit denies these actions (space between); 'hang': it does not answer."""
        with open(self.dir + '/denied', 'w') as file:
            file.write(actions)

    def add_emulator(self, serial, *options):
        path = '%s/%s' % (self.dir, serial)
        process = self.spawn([self.emulator, '--socket', path, '--serial', serial,
                              '--account', path + '.account', '--control', path + '.control',
                              '--state', path + '.state', *options],
                             stdout=open(path + '.log', 'a'), stderr=subprocess.STDOUT)
        wait('an emulator', lambda: os.path.exists(path))
        self.emulators.append(path)
        self.emulated.append(process)
        return process

    def write_config(self, more=''):
        with open(self.dir + '/dealboxd.conf', 'w') as file:
            file.write('[ledger]\nfile = %s\n[machines]\n' % self.ledger)
            file.writelines('emulator = %s\n' % path for path in self.emulators)
            file.write('new = %s\n' % self.new)
            file.write(more)

    @staticmethod
    def limit_files():
        """As the unit does, or as systemd does by itself."""
        with open(DATA + '/dealboxd.service.in') as unit:
            limit = re.search(r'^LimitNOFILE=(\d+)$', unit.read(), re.M)
        files = min(int(limit[1]) if limit else 1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    def start(self, **environment):
        self.write_config()
        self.daemon = self.spawn([self.dealboxd, '--config', self.dir + '/dealboxd.conf'],
                                 stderr=open(self.dir + '/dealboxd.log', 'a'),
                                 preexec_fn=self.limit_files,
                                 # without env= it has what C programs here have set, too
                                 **({'env': {**os.environ, **environment}} if environment else {}))
        wait('dealboxd', lambda: self.daemon.poll() is not None or
             self.bus.name_has_owner('io.dealbox1'))
        if self.daemon.poll() is not None:
            raise RuntimeError('dealboxd ended: ' + self.log())

    def start_with(self, serial, *options):
        """The service, and one machine that it has found."""
        self.add_emulator(serial, *options)
        self.start()
        wait('the machine', lambda: self.machines())

    def cancel_jobs(self):
        """Leftovers of a failed test do not make the next one fail."""
        for path, job in self.objects('Job').items() if self.daemon.poll() is None else ():
            if job['State'] in ('open', 'paused'):
                self.object(path, 'Job').Cancel()

    def begin_anew(self):
        """Another ledger, and no machine. What a failed test leaves must not let the next ones wait."""
        for process in [self.daemon, *self.emulated]:
            process.kill()
            process.wait()
        wait('the name to go', lambda: not self.bus.name_has_owner('io.dealbox1'))
        for path in [self.ledger, *self.emulators]:
            for file in glob.glob(glob.escape(path) + '*'):
                os.unlink(file)
        self.emulators.clear()
        self.emulated.clear()
        self.deny('')

    def stop(self, how=signal.SIGTERM):
        self.daemon.send_signal(how)
        status = self.daemon.wait(PATIENCE)
        wait('the name to go', lambda: not self.bus.name_has_owner('io.dealbox1'))
        return status

    def log(self):
        with open(self.dir + '/dealboxd.log') as file:
            return file.read()

    def traffic(self):
        with open(self.dir + '/traffic', errors='replace') as file:
            return file.read()

    def last_verdict(self):
        """The facts of the last signal Verdict, key -> what the monitor prints."""
        entry = r'dict entry\(\s+string "(.*)"\s+variant\s+(.*)\s+\)'
        return dict(re.findall(entry, self.traffic().rpartition('member=Verdict')[2].split('\n   ]', 1)[0]))

    def object(self, path, interface):
        return dbus.Interface(self.bus.get_object('io.dealbox1', path, introspect=False),
                              'io.dealbox1.' + interface)

    def manager(self):
        return self.object('/io/dealbox1', 'Manager')

    def objects(self, interface):
        root = dbus.Interface(self.bus.get_object('io.dealbox1', '/io/dealbox1', introspect=False),
                              'org.freedesktop.DBus.ObjectManager')
        return {str(path): {str(k): v for k, v in ifaces['io.dealbox1.' + interface].items()}
                for path, ifaces in root.GetManagedObjects().items()
                if 'io.dealbox1.' + interface in ifaces}

    def machines(self):
        return self.objects('Machine')

    def job(self, path):
        return self.objects('Job').get(path)

    def add_set(self, session='tonight', path=None, pack=''):
        with open(memory(path or self.set_file)) as file:
            return self.manager().AddSet(dbus.types.UnixFd(file), session, pack)

    def add_job(self, number, boards, copies=1, **options):
        options = {name.replace('_', '-'): value for name, value in options.items()}
        return str(self.manager().AddJob(dbus.UInt64(number), dbus.Array(boards, signature='u'),
                                         dbus.UInt32(copies), dbus.Dictionary(options, signature='sv')))

    PRESS = ('confirm-empty', 'press-start', 'card-unreadable', 'card-not-in-plan', 'feed-timeout',
             'card-face-up', 'gate-late', 'machine-refuses', 'ledger')
    TAKE_OUT = ('used', 'in-doubt', 'number-other', 'number-range', 'number-unread', 'number-done')

    def press(self, path):
        """Start, unless the machine asks something else by now."""
        try:
            self.object(path, 'Machine').Start()
        except dbus.DBusException as error:
            if error.get_dbus_name() != 'io.dealbox1.Error.Changed':
                raise

    def answer(self):
        """Follow the operator's instructions. New boards of the emulator are empty."""
        for path, machine in self.machines().items():
            if machine['State'] in self.PRESS:
                self.press(path)
            elif machine['State'] in self.TAKE_OUT:
                self.tell(machine['Id'], 'remove')

    def deal(self, path):
        """Until the job is done."""
        def done():
            self.answer()
            return self.job(path)['State'] == 'done'
        wait('the job: %s' % {m['State'] for m in self.machines().values()}, done)

    def tell(self, serial, command):
        return subprocess.run([self.emulator, '--tell', '%s/%s.control' % (self.dir, serial), command],
                              check=False, capture_output=True, text=True).stdout

    def take_out(self, serial):
        """The board; until the service has heard of it."""
        self.tell(serial, 'remove')
        wait('the board to be out', lambda: not self.machines()['/io/dealbox1/machine/' + serial]['Insertion'])

    def command(self, *command):
        result = subprocess.run([self.dealbox, *command], check=False, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=PATIENCE)
        json_page.check(command, result.stdout)
        return result

    def command_with_enter(self, *command):
        """The same, with an operator who presses Enter now and then; the ledger is in the folder."""
        return subprocess.run(['sh', '-c', 'while sleep 0.2; do echo; done | "$@"', 'sh', self.dealbox, *command],
                              check=False, capture_output=True, text=True, timeout=PATIENCE,
                              env=dict(os.environ, XDG_STATE_HOME=self.dir + '/own'))

    def begin(self, *command):
        """A running dealbox: its output can be read line by line, and keys can be pressed."""
        return self.spawn([self.dealbox, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, bufsize=1)

    def tournament(self, name='tournament'):
        """A tournament whose first session can be certified: its name, the folder of this PC, the deal file."""
        folder = '%s/%s/' % (self.dir, name)
        club, pc, rr1 = folder + 'club', folder + 'pc', folder + 'rr1.pbn'
        os.mkdir(folder)
        for words in [['square', 'new', club, '--title', 'T', '--info', 'I', '--phase', '2:1-2,3-4:rr#:Round #'],
                      ['certificate', 'new-key', folder + 'key'], ['certificate', 'manifest', club, '-k', folder + 'key', '--copies', '2'],
                      ['square', 'value', club, '7'], ['square', 'deal', club, '-P', '1', '-s', '1', '-d', folder],
                      ['certificate', 'begin', pc, club + '.manifest']]:
            result = self.command(*words)
            assert result.returncode == 0, (words, result)
        return club, pc, rr1

    def dealbox_ledger(self, *command):
        return self.command('ledger', *command, '-l', self.ledger)

    def records(self):
        return [json.loads(line) for line in self.dealbox_ledger('export').stdout.splitlines()]

    def account(self):
        """Return the contents of the boards that were taken out: (machine, insertion) -> record."""
        boards = {}
        for path in self.emulators:
            if not os.path.exists(path + '.account'):
                continue
            for line in open(path + '.account'):
                board = json.loads(line)
                boards[os.path.basename(path), board['insertion']] = board
        return boards

    def check(self):
        """Ledger and account agree; returns the number of recorded boards, or raises."""
        return agree(self.records(), self.account(), self.deals)

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        shutil.rmtree(self.dir)


def tests_of(names):
    """The tests among the names of a module, as they stand in it."""
    return [value for name, value in names.items() if name.startswith('test_')]


class Tap:
    """Runs functions as tests, and writes TAP."""
    def __init__(self):
        self.count = self.failed = 0

    def run(self, function, *args, name=None):
        self.count += 1
        name = name or ' '.join([function.__name__.replace('test_', '').replace('_', ' ')])
        try:
            function(*args)
            print('ok %d - %s' % (self.count, name), flush=True)
        except Exception as problem:
            self.failed += 1
            print('not ok %d - %s' % (self.count, name))
            for line in ('%s: %s' % (type(problem).__name__, problem)).splitlines():
                print('# ' + line, flush=True)

    def end(self):
        print('1..%d' % self.count)
        return 1 if self.failed else 0


@contextlib.contextmanager
def tests_in(world):
    """
    Gives what runs tests in that world. Afterwards, if one has failed, the log is shown; the world
    is closed, and the program ends.
    """
    tap = Tap()
    try:
        yield tap
        if tap.failed:
            print('# ' + world.log()[-20000:].replace('\n', '\n# '))
    finally:
        world.close()
    sys.exit(tap.end())
