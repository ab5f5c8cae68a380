# SPDX-License-Identifier: LGPL-2.1-or-later
"""hostile.py DEALBOXD EMULATOR DEALBOX SET INTERFACES: clients that are bad, machines that hang (TAP).

Each is refused with the error that the documentation names, and the service goes on dealing.
"""
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree

import dbus

from harness import World, memory, somebody_else, tests_in, tests_of, wait
from raw import Raw

dealboxd, emulator, dealbox, set_file, interfaces = sys.argv[1:6]
ROOT, MANAGER = '/io/dealbox1', 'io.dealbox1.Manager'
INVALID = 'org.freedesktop.DBus.Error.InvalidArgs'
LIMITS = 'org.freedesktop.DBus.Error.LimitsExceeded'
DENIED = 'org.freedesktop.DBus.Error.AccessDenied'
BAD_SET = 'io.dealbox1.Error.BadSet'
sessions = 0


def job_goes_on(w, boards=(1, 2)):
    """A job is dealt to its end after any attack, and its records are exact."""
    global sessions
    sessions += 1
    number, _ = w.add_set('after %d' % sessions)
    path = w.add_job(number, list(boards), automatic_start=True, replay=True)
    w.deal(path)
    assert w.job(path)['Recorded'] == len(boards)
    w.check()


def add_set(fd, client=None, session='x', **more):
    client = client or Raw()
    try:
        return client.call(ROOT, MANAGER, 'AddSet', 'hss', [0, session, ''], fds=[fd], **more)
    finally:
        client.close()


def test_descriptors_that_are_no_set(w):
    """A folder, a socket, a pipe and a FIFO that never deliver, 100 MB, a file that is none."""
    with tempfile.TemporaryFile() as sparse, socket.socket() as sock, open('/proc/self/status') as proc:
        sparse.truncate(100 << 20)
        os.mkfifo(w.dir + '/fifo')
        folder = os.open(w.dir, os.O_RDONLY)
        fifo = os.open(w.dir + '/fifo', os.O_RDONLY | os.O_NONBLOCK)
        read, write = os.pipe()
        for fd, error in [(folder, BAD_SET), (sock.fileno(), BAD_SET), (read, BAD_SET), (write, BAD_SET),
                          (fifo, BAD_SET), (proc.fileno(), BAD_SET), (sparse.fileno(), LIMITS),
                          (os.open('/dev/zero', os.O_RDONLY), BAD_SET),
                          (os.open('/', os.O_PATH), BAD_SET), (os.memfd_create('empty'), BAD_SET)]:
            assert add_set(fd) == error, (os.readlink('/proc/self/fd/%d' % fd), add_set(fd))
    job_goes_on(w)


def test_overlays_of_users(w):
    """
    Any user can mount one, in a namespace of his own, over a file system that a program of his serves:
    its answer may never come, and Stop would wait with it.
    """
    script = ('cd "$0" && mkdir low up work all && cp "$1" low/set && '
              'mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work all && echo "$PWD/all/set" && read word')
    with tempfile.TemporaryDirectory() as folder:
        user = subprocess.Popen(['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script, folder,
                                 os.path.abspath(set_file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        path = user.stdout.readline().strip()
        # else nobody can mount anything here
        if path:
            fd = os.open('/proc/%d/root%s' % (user.pid, path), os.O_RDONLY)
            assert add_set(fd) == BAD_SET
        user.communicate('done\n')


def test_descriptors_that_are_not_there(w):
    """A message that refers to a descriptor that it does not carry."""
    client = Raw()
    assert client.call(ROOT, MANAGER, 'AddSet', 'hss', [7, 'x', ''],
                       fds=[memory(set_file)]) == INVALID
    client.close()
    client = Raw()
    assert client.call(ROOT, MANAGER, 'AddSet', 'hss', [0, 'x', '']) == INVALID
    client.send(ROOT, MANAGER, 'AddSet', 'hss', [0, 'x', ''], fd_count=3)
    client.close()
    job_goes_on(w)


def test_memory_that_changes_while_it_is_read(w):
    with open(set_file, 'rb') as file:
        good = file.read()
    fd = os.memfd_create('set')
    os.write(fd, good)
    done = threading.Event()

    def change():
        chance = random.Random(1)
        while not done.is_set():
            os.pwrite(fd, bytes([chance.randrange(32, 127)]), chance.randrange(len(good)))
            os.ftruncate(fd, chance.choice([0, 100, len(good)]))
            os.pwrite(fd, good, 0)
    thread = threading.Thread(target=change)
    thread.start()
    try:
        found = {add_set(fd, session='changing %d' % n) for n in range(100)}
    finally:
        done.set()
        thread.join()
    assert found <= {None, BAD_SET, 'io.dealbox1.Error.Repeat', INVALID}, found
    job_goes_on(w)


def test_names_that_terminals_obey(w):
    for session in ['', 'a\33[2J', 'two\nlines', 'c1 \x9b2J', 'x' * 128]:
        assert add_set(memory(set_file), session=session) == INVALID, repr(session)


def test_labels_that_are_no_utf8(w):
    """The answer to a faulty set names the problem, in any character set of its file."""
    sorted_deal = '[Deal "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"]\n'
    for label in [b'Gr\xfcn', b'\xe2\x99', b'a\xc3\xbc' * 20, 'äöü'.encode() * 4, b'a\x9b2J', b'\xff' * 60]:
        fd = os.memfd_create('set')
        os.write(fd, b'[Board "%s"]\n' % label + sorted_deal.encode())
        assert add_set(fd) == BAD_SET, label


def test_a_restricted_set_is_not_for_play(w):
    """As the tool does, the service refuses deals that are not wholly random."""
    with open(set_file, 'rb') as file:
        good = file.read()
    fd = os.memfd_create('set')
    os.write(fd, b'% dealbox: restricted\n' + good)
    assert add_set(fd) == BAD_SET


def test_every_method_refuses_other_types(w):
    """Each installed method, with arguments of other types; seeded."""
    chance = random.Random(4)
    client = Raw()
    paths = {'Manager': ROOT, 'Machine': next(iter(w.machines())), 'Job': next(iter(w.objects('Job')))}
    tried = 0
    for name in os.listdir(interfaces):
        # that of the event is there with an event only: tests/system/event
        if not name.endswith('.xml') or 'Event' in name:
            continue
        tree = xml.etree.ElementTree.parse(os.path.join(interfaces, name)).find('interface')
        for method in tree.iter('method'):
            own = ''.join(arg.get('type') for arg in method.iter('arg') if arg.get('direction') == 'in')
            for _ in range(10):
                signature = ''.join(chance.choice('ustib') for _ in range(chance.randint(0, 4)))
                if signature == own:
                    continue
                values = ['x' if kind == 's' else chance.randint(0, 1) for kind in signature]
                path = paths[tree.get('name').rsplit('.', 1)[1]]
                error = client.call(path, tree.get('name'), method.get('name'), signature, values)
                assert error == INVALID, (method.get('name'), own, signature, error)
                tried += 1
    assert tried > 100, tried
    client.close()


def test_objects_and_members_that_are_not_there(w):
    client = Raw()
    unknown = 'org.freedesktop.DBus.Error.Unknown'
    for path, interface, member, error in [
            (ROOT, MANAGER, 'Explode', unknown + 'Method'),
            (ROOT, 'io.dealbox1.Manager2', 'Stop', unknown + 'Method'),
            (ROOT + '/machine/none', 'io.dealbox1.Machine', 'Start', unknown + 'Object'),
            (ROOT + '/job/0', 'io.dealbox1.Job', 'Pause', unknown + 'Object'),
            (ROOT + '/job/99999999999999999999999', 'io.dealbox1.Job', 'Pause', unknown + 'Object'),
            (ROOT + '/job/1x', 'io.dealbox1.Job', 'Pause', unknown + 'Object')]:
        found = client.call(path, interface, member)
        assert found == error, (path, member, found)
    client.close()


def test_too_much_in_one_call(w):
    client = Raw()
    assert client.call(ROOT, MANAGER, 'AddJob', 'tauua{sv}', [1, [1] * 2000000, 1, None]) == LIMITS
    assert client.call(ROOT, MANAGER, 'AddCapture', 'aua{sv}', [[1] * 20000, None]) == INVALID
    client.close()


def test_floods_while_a_job_runs(w):
    """10,000 calls from eight connections that never read an answer."""
    number, _ = w.add_set('flood')
    path = w.add_job(number, list(w.deals)[:8], automatic_start=True, replay=True)
    machine = next(iter(w.machines()))
    calls = [(ROOT, 'org.freedesktop.DBus.ObjectManager', 'GetManagedObjects', '', ()),
             (machine, 'org.freedesktop.DBus.Properties', 'GetAll', 's', ('io.dealbox1.Machine',)),
             (path, 'org.freedesktop.DBus.Properties', 'Get', 'ss', ('io.dealbox1.Job', 'State')),
             (ROOT, 'org.freedesktop.DBus.Introspectable', 'Introspect', '', ()),
             (ROOT, MANAGER, 'AddJob', 'tauua{sv}', (999999, [1], 1, None)),
             (machine, 'io.dealbox1.Machine', 'Locate', 'u', (0,)),
             (ROOT + '/nothing', 'a.b', 'C', '', ())]
    clients = [Raw(somebody_else()) for _ in range(8)]

    def flood(client):
        client.socket.settimeout(20)
        try:
            for n in range(1250):
                client.send(*calls[n % len(calls)])
        except OSError:
            pass        # the bus has had enough of it
    threads = [threading.Thread(target=flood, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    # who is the same user as they are is refused, too, now and then
    while True:
        try:
            w.deal(path)
            break
        except dbus.DBusException as error:
            assert error.get_dbus_name() == LIMITS and somebody_else() is None, error
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    assert w.job(path)['Recorded'] == 8
    w.check()


def test_matches_and_signals_that_nobody_reads(w):
    clients = [Raw() for _ in range(8)]
    for client in clients:
        for n in range(500):
            client.send('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'AddMatch', 's',
                        ["type='signal',path='/io/dealbox1/job/%d'" % n],
                        destination='org.freedesktop.DBus')
        client.send('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'AddMatch', 's',
                    ["type='signal'"], destination='org.freedesktop.DBus')
    job_goes_on(w, range(1, 9))
    for client in clients:
        client.close()


def test_clients_that_vanish_in_a_call(w):
    """Their calls are done or not, whole; nobody waits for them."""
    machine = next(iter(w.machines()))
    for n in range(200):
        client = Raw()
        client.send(ROOT, MANAGER, 'AddSet', 'hss', [0, 'vanished %d' % (n % 3), ''],
                    fds=[memory(set_file)])
        client.send(machine, 'io.dealbox1.Machine', 'Pause')
        client.close()
    w.press(machine)
    job_goes_on(w)
    assert w.dealbox_ledger('verify').returncode == 0


def test_the_stop_works_though_it_is_called_without_end(w):
    def stops():
        return len([r for r in w.records() if r['record'] == 'act' and r['act'] == 'stop'])
    before = stops()
    client = Raw()
    for _ in range(500):
        assert client.call(ROOT, MANAGER, 'Stop') is None
    client.close()
    assert {m['State'] for m in w.machines().values()} <= {'stopped', 'no-work', 'used', 'take-out'}
    # .. and is written down once
    wait('the record', lambda: stops() > before)
    assert stops() == before + 1
    for path in w.machines():
        w.press(path)
    job_goes_on(w)


def test_a_start_from_before_a_stop_is_forgotten(w):
    """Stop overtakes it in the queue; who pressed it cannot know of the stop."""
    client = Raw()
    w.deny('hang')
    try:
        calls = {path: client.send(path, 'io.dealbox1.Machine', 'Start') for path in w.machines()}
        assert client.call(ROOT, MANAGER, 'Stop') is None
        stopped = {path for path, machine in w.machines().items() if machine['State'] == 'stopped'}
        assert stopped
    finally:
        w.deny('')
    errors = dict(reversed(client.read()[1:]) for _ in calls)
    client.close()
    told = {path: errors[serial] for path, serial in calls.items()}
    assert {told[path] for path in stopped} == {'io.dealbox1.Error.Changed'}, told
    assert stopped <= {path for path, machine in w.machines().items() if machine['State'] == 'stopped'}
    for path in w.machines():
        w.press(path)
    job_goes_on(w)


def test_deals_are_not_tried_out(w):
    """A user who knows some cards of a board cannot probe all matching deals; others may continue."""
    other = somebody_else()
    if other is None:
        print('# root is alone in this user namespace: nobody else can ask')
        return
    many = w.dir + '/many.pbn'
    assert w.command('generate', '-b', '1-1000', many).returncode == 0
    client, found = Raw(other), []
    with open(many) as file:
        for member, signature, values in [('FindSets', 'hs', [0, '']), ('AddSet', 'hss', [0, 'mine', ''])] * 3:
            found.append(client.call(ROOT, MANAGER, member, signature, values, fds=[file.fileno()]))
    client.close()
    assert found == [None] * 2 + [LIMITS] * 4, found
    job_goes_on(w)


def test_without_polkit_the_group_deals(w):
    """Members of the service's group may deal and manage, others ask and stop; nobody but root more."""
    other = somebody_else()
    if other is None:
        print('# root is alone in this user namespace: nobody else can ask')
        return
    w.polkit.kill()
    w.polkit.wait()
    wait('polkit to go', lambda: not w.bus.name_has_owner('org.freedesktop.PolicyKit1'))
    machine, job = next(iter(w.machines())), next(iter(w.objects('Job')))
    # a new job would change what the machine asks
    calls = [(machine, 'Machine', 'Start'), (ROOT, 'Manager', 'AddCapture', 'aua{sv}', [[1], None]), (job, 'Job', 'Cancel'),
             (machine, 'Machine', 'Reveal'), (machine, 'Machine', 'SetParameter', 'uu', [1, 1]),
             (machine, 'Machine', 'GetCounters'), (ROOT, 'Manager', 'Stop')]
    for gid, found in [(other[1], [DENIED] * 5 + [None] * 2), (os.getegid(), [None] * 3 + [DENIED] * 2 + [None] * 2)]:
        client = Raw((other[0], gid))
        errors = [client.call(path, 'io.dealbox1.' + interface, *more) for path, interface, *more in calls]
        client.close()
        assert errors == found, (gid, errors)
    w.start_polkit()
    w.cancel_jobs()
    for path in w.machines():
        w.press(path)
    job_goes_on(w)


def test_machines_that_hang(w):
    """They are given up one after the other; meanwhile clients are answered, and those that answer deal."""
    hung = {}
    for n in range(2):
        hung['HUNG%d' % n] = w.add_emulator('HUNG%d' % n, '--speed', '0')
    w.write_config()
    w.daemon.send_signal(signal.SIGHUP)
    wait('the machines', lambda: len(w.machines()) == 1 + len(hung))
    for process in hung.values():
        process.send_signal(signal.SIGSTOP)
    try:
        number, _ = w.add_set('while others hang')
        path = w.add_job(number, [1], automatic_start=True, replay=True)
        given_up = w.log().count('the machine is out of order')
        assert given_up < len(hung), 'all were waited for before anybody was answered'
        w.deal(path)
        assert w.job(path)['Recorded'] == 1
        wait('one to be given up', lambda: w.log().count('the machine is out of order') > 0)
    finally:
        for process in hung.values():
            process.send_signal(signal.SIGCONT)
    wait('them to come back', lambda: all(m['Present'] for m in w.machines().values()))
    job_goes_on(w)


def test_machines_that_never_rest_leave_clients_their_turn(w):
    """Events are there whenever the service looks; calls that wait are answered one after the other all the same."""
    busy = [w.add_emulator('BUSY%d' % n, '--speed', '0') for n in range(3)]
    w.write_config()
    w.daemon.send_signal(signal.SIGHUP)
    wait('the machines', lambda: sum(m['Present'] and m['Id'].startswith('BUSY') for m in w.machines().values()) == 3)
    number, _ = w.add_set('busy')
    path = w.add_job(number, list(w.deals), 0, automatic_start=True, replay=True)
    wait('boards', lambda: w.answer() or w.job(path)['Recorded'])
    client = Raw()
    for _ in range(20):
        client.send(path, 'org.freedesktop.DBus.Properties', 'Get', 'ss', ['io.dealbox1.Job', 'Recorded'])
    recorded = []
    while len(recorded) < 20:
        if client.read()[0] == 2:
            recorded.append(struct.unpack_from('<I', client.body, 4)[0])
    client.close()
    # each machine has had its turn in between, or two
    most = 2 * len(w.machines())
    assert all(after - before <= most for before, after in zip(recorded, recorded[1:])), recorded
    w.object(path, 'Job').Pause()
    w.object(path, 'Job').Cancel()
    for process in busy:
        process.kill()


def test_one_machine_in_two_places(w):
    """It is taken for a second one of the same number only when both answer."""
    def ids():
        return sorted(m['Id'] for m in w.machines().values() if m['Id'].startswith('MOVED') and m['Present'])

    def plug(name):
        process = w.add_emulator(name, '--serial', 'MOVED', '--speed', '0')
        w.write_config()
        w.daemon.send_signal(signal.SIGHUP)
        return process
    here = plug('HERE')
    wait('the machine', lambda: ids() == ['MOVED'])
    here.send_signal(signal.SIGSTOP)
    plug('THERE')
    wait('the doubt', lambda: 'two machines have the serial number MOVED' in w.log())
    assert ids() == ['MOVED'] and 'HERE does not answer; unplug it' in w.log()
    here.kill()
    wait('the machine', lambda: w.log().count('as emu:%s/THERE' % w.dir) == 1)
    assert ids() == ['MOVED']
    plug('TWIN')
    wait('the twin', lambda: ids() == ['MOVED', 'MOVED@emu:%s/TWIN' % w.dir])


def test_a_machine_that_is_not_named_any_more(w):
    """It did not answer, and is tried again only while the settings name it."""
    names = ['GONE', 'NAMED']
    processes = [w.add_emulator(name, '--speed', '0') for name in names]
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    try:
        w.write_config()
        w.daemon.send_signal(signal.SIGHUP)
        for name in names:
            wait(name + ' to be refused', lambda name=name: '/%s: the machine does not answer' % name in w.log())
        w.emulators.remove(w.dir + '/GONE')
        w.write_config()
        w.daemon.send_signal(signal.SIGHUP)
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)
    # GONE was refused first, and would be tried before it
    wait('the machine', lambda: '/io/dealbox1/machine/NAMED' in w.machines())
    assert '/io/dealbox1/machine/GONE' not in w.machines()


# a pause that somebody asked for may come when he is gone
World.PRESS += ('paused', 'stopped')
world = World(dealboxd, emulator, dealbox, set_file, policy=False)
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    number, _ = world.add_set('nothing')
    world.object(world.add_job(number, [1]), 'Job').Cancel()
    for test in tests_of(globals()):
        tap.run(test, world)
        if world.daemon.poll() is not None:
            print('# dealboxd has ended: %d' % world.daemon.returncode)
            tap.failed += 1
            break
