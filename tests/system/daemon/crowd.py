# SPDX-License-Identifier: LGPL-2.1-or-later
"""crowd.py DEALBOXD EMULATOR DEALBOX SET SLOW_DISK: what many clients ask at once (TAP).

Whatever they ask, the service stays on the bus, nobody keeps the others out, and the emergency stop comes first. The
bus of this world has no policy: what an installed one keeps from the service comes through.
"""
import os
import shutil
import signal
import sys

import dbus

from harness import World, memory, somebody_else, tests_in, tests_of, wait
from raw import Raw

dealboxd, emulator, dealbox, set_file, slow_disk = sys.argv[1:6]
ROOT, MANAGER = '/io/dealbox1', 'io.dealbox1.Manager'
OBJECTS = (ROOT, 'org.freedesktop.DBus.ObjectManager', 'GetManagedObjects')
LIMITS = 'org.freedesktop.DBus.Error.LimitsExceeded'
ERROR, RETURN = 3, 2
# as many as dbus-daemon lets one message have
DESCRIPTORS = 16


def others(count):
    """Clients of a user who is not the one that deals, where there can be one."""
    return [Raw(somebody_else()) for _ in range(count)]


def settle(w):
    """Until what was asked before is done: where all are the same user, we are refused, too, as long as it waits."""
    def done():
        try:
            w.manager().GetBoards(dbus.UInt64(999999))
        except dbus.DBusException as error:
            return error.get_dbus_name() != LIMITS
    wait('the others', done)


def start_all(w):
    settle(w)
    for path in w.machines():
        w.press(path)


def job_goes_on(w):
    number, _ = w.add_set()
    path = w.add_job(number, [1, 2], automatic_start=True, replay=True)
    w.deal(path)
    assert w.job(path)['Recorded'] == 2
    w.check()


def send_quietly(client, *args, **more):
    try:
        client.send(*args, **more)
    except OSError:
        pass            # the bus has had enough of it


def stop_is_answered(w):
    """As often as somebody presses: where no policy keeps files out, dbus-daemon itself refuses any call while 64 of
    them wait for the service, which then never hears of it. What the service answers is no error."""
    client = Raw()

    def answered():
        error = client.call(ROOT, MANAGER, 'Stop')
        if error == LIMITS and client.sender == 'org.freedesktop.DBus':
            return False
        assert error is None, (error, client.sender, w.log()[-2000:])
        return True
    wait('the stop', answered)
    client.close()


def test_descriptors_do_not_take_it_off_the_bus(w):
    """30 connections, each with 16 sets of 16 files, while polkit thinks about it."""
    w.deny('hang')
    clients = others(30)
    files = [memory(set_file) for _ in range(DESCRIPTORS)]
    try:
        for _ in range(16):
            for client in clients:
                send_quietly(client, ROOT, MANAGER, 'AddSet', 'hss', [0, 'flood', ''], fds=files)
        stop_is_answered(w)
    finally:
        w.deny('')
        for client in clients:
            client.close()
        for fd in files:
            os.close(fd)
    start_all(w)
    job_goes_on(w)


def test_one_user_does_not_use_up_polkit(w):
    """polkit does not answer: a few calls of each user wait, more are refused; others are not affected."""
    if somebody_else() is None:
        print('# root is alone in this user namespace: nobody else can ask')
        return
    machine = next(iter(w.machines()))
    w.deny('hang')
    greedy, modest = others(12), Raw((1, 1))
    try:
        for client in greedy:
            for _ in range(16):
                client.send(machine, 'io.dealbox1.Machine', 'Pause')
        assert greedy[0].call(machine, 'io.dealbox1.Machine', 'Pause') == LIMITS
        serial = modest.send(machine, 'io.dealbox1.Machine', 'ReleaseBoard')
    finally:
        w.deny('')
    kind, error, answers = modest.read()
    while answers != serial:
        kind, error, answers = modest.read()
    assert kind == RETURN, error
    for client in greedy + [modest]:
        client.close()
    w.press(machine)
    job_goes_on(w)


def first_answer(w, client, attack):
    """Of a stop that comes when the attack is there already: how many others were answered before."""
    w.daemon.send_signal(signal.SIGSTOP)
    try:
        serials = attack(client)
        stop = client.send(ROOT, MANAGER, 'Stop')
        # whatever it sends is with the service now: the bus has answered what came after it
        client.call('/', 'org.freedesktop.DBus.Peer', 'Ping', destination='org.freedesktop.DBus')
    finally:
        w.daemon.send_signal(signal.SIGCONT)
    order = []
    while len(order) <= len(serials):
        kind, error, answers = client.read()
        if answers == stop:
            assert kind == RETURN, error
        if answers == stop or answers in serials:
            order.append(answers)
    start_all(w)
    return order.index(stop)


def test_the_stop_is_answered_before_all_that_waits(w):
    """However much was asked before it, and of what kind."""
    machine, job = next(iter(w.machines())), w.add_job(w.add_set()[0], [1], replay=True)
    with open(memory(set_file), 'rb') as file:
        def many(count, *call, **more):
            return lambda client: {client.send(*call, **more) for _ in range(count)}
        attacks = {
            'all objects': many(100, *OBJECTS),
            'sets': many(100, ROOT, MANAGER, 'AddSet', 'hss', [0, 'stop', ''], fds=[file.fileno()]),
            'captures': many(100, ROOT, MANAGER, 'AddCapture', 'aua{sv}', [list(range(1, 10)), None]),
            'insertions': many(100, job, 'io.dealbox1.Job', 'GetInsertions'),
            'starts': many(100, machine, 'io.dealbox1.Machine', 'Start'),
            'a large call': many(4, ROOT, MANAGER, 'AddCapture', 'aua{sv}', [[1] * 1000000, None]),
            'what there is not': many(100, ROOT, MANAGER, 'Nonsense'),
            'introspection': many(100, ROOT, 'org.freedesktop.DBus.Introspectable', 'Introspect'),
        }
        for name, attack in attacks.items():
            client = others(1)[0]
            before = first_answer(w, client, attack)
            client.close()
            print('# %s: %d answered before the stop' % (name, before))
            # what is refused at once need not wait
            assert before == 0 or name == 'a large call', name
    w.cancel_jobs()
    job_goes_on(w)


def test_what_jobs_hold_fits_into_an_answer(w):
    """As many machines and boards as it takes: all objects together stay a small message."""
    def add(boards, machines):
        names = ['%03d' % n + 'm' * 124 for n in range(machines)]
        try:
            w.manager().AddCapture(dbus.Array(boards, signature='u'),
                                   dbus.Dictionary({'machines': dbus.Array(names, signature='s')}, signature='sv'))
        except dbus.DBusException as error:
            assert error.get_dbus_name() == LIMITS, error
            return False
        return True
    machines = next(n for n in (256, 64, 16, 4) if add([1], n))
    added = 1
    while added < 200 and add([1], machines):
        added += 1
    client = Raw()
    assert client.call(*OBJECTS) is None
    size = len(client.body)
    client.close()
    print('# %d jobs with %d machines each; %d bytes' % (added, machines, size))
    assert size < 4 << 20, size
    w.cancel_jobs()
    # .. also when it starts again, and those that are cancelled make room
    w.stop()
    w.start()
    wait('the machine', lambda: any(m['Present'] for m in w.machines().values()))
    job_goes_on(w)


def test_the_stop_does_not_wait_for_the_disk(w):
    """A board that is dealt lies still though nothing can be written; what was about to begin does not."""
    slow, waits = w.dir + '/slow', w.dir + '/slow.waits'
    w.add_emulator('DEALS', '--speed', '1', '--manual')
    w.stop()
    # LD_PRELOAD takes no path with a space
    preloaded = shutil.copy(slow_disk, w.dir)
    w.start(LD_PRELOAD=preloaded, SLOW_DISK=slow, ASAN_OPTIONS='verify_asan_link_order=0')
    wait('the machines', lambda: sum(m['Present'] for m in w.machines().values()) == 2)
    paths = {m['Id']: path for path, m in w.machines().items()}
    number, _ = w.add_set('disk')
    w.tell('DEALS', 'insert')
    for machine in paths:
        w.manager().AddJob(dbus.UInt64(number), dbus.Array([1], signature='u'), dbus.UInt32(1), dbus.Dictionary(
            {'replay': True, 'machines': dbus.Array([machine], signature='s')}, signature='sv'))
    for machine in paths:
        wait(machine, lambda machine=machine: w.machines()[paths[machine]]['State'] in ('press-start', 'confirm-empty'))
    w.press(paths['DEALS'])
    wait('a card', lambda: w.machines()[paths['DEALS']]['Cards'])
    open(slow, 'w').close()
    client = Raw()
    client.send(paths['FIRST'], 'io.dealbox1.Machine', 'Start')
    wait('a write', lambda: os.path.exists(waits))
    assert client.call(ROOT, MANAGER, 'Stop') is None
    # the machine knows, though nothing has been written of it
    wait('it to lie still', lambda: 'DEALING' not in w.tell('DEALS', 'status'))
    os.remove(slow)
    wait('the stop to be seen', lambda: {m['State'] for m in w.machines().values()} == {'aborted'})
    client.close()
    verdicts = [r['outcome'] for r in w.records() if r['record'] == 'verdict'][-2:]
    assert verdicts == ['void'] * 2, verdicts
    w.check()
    w.cancel_jobs()
    w.stop()
    w.emulators.remove(w.dir + '/DEALS')
    w.start()
    wait('the machine', lambda: any(m['Present'] for m in w.machines().values()))
    job_goes_on(w)


def test_without_the_bus_it_pauses_and_ends(w):
    """systemd starts it again; what was being dealt lies still meanwhile."""
    w.add_emulator('SLOW', '--speed', '10')
    w.write_config()
    w.daemon.send_signal(signal.SIGHUP)
    slow = wait('the machine', lambda: next((p for p, m in w.machines().items() if m['Id'] == 'SLOW'), None))
    number, _ = w.add_set('without')
    w.manager().AddJob(dbus.UInt64(number), dbus.Array([1], signature='u'), dbus.UInt32(1),
                       dbus.Dictionary({'automatic-start': True, 'replay': True,
                                        'machines': dbus.Array(['SLOW'], signature='s')}, signature='sv'))
    wait('a card', lambda: w.answer() or w.machines()[slow]['Cards'])
    w.dbus.kill()
    wait('it to end', lambda: w.daemon.poll() is not None)
    assert w.daemon.returncode == 1, w.daemon.returncode
    assert 'the bus' in w.log().splitlines()[-1], w.log()[-500:]
    assert 'DEALING' not in w.tell('SLOW', 'status'), w.tell('SLOW', 'status')


World.PRESS += ('paused', 'stopped')
world = World(dealboxd, emulator, dealbox, set_file, policy=False)
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    for test in tests_of(globals()):
        tap.run(test, world)
        if world.daemon.poll() is not None and test is not test_without_the_bus_it_pauses_and_ends:
            print('# dealboxd has ended: %d' % world.daemon.returncode)
            tap.failed += 1
            break
