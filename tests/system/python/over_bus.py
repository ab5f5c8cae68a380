# SPDX-License-Identifier: LGPL-2.1-or-later
"""over_bus.py DEALBOXD EMULATOR DEALBOX SET EXAMPLES: the service, and examples (TAP)."""
import asyncio
import importlib.util
import os
import re
import subprocess
import sys

from dbus_next.constants import MessageType
from dbus_next.message import Message
from dbus_next.signature import Variant

import dealbox
from dealbox.service import NAME, Changed, Finished, Gone, Judged, Service, ServiceError

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../daemon'))
# pylint: disable=wrong-import-position
from harness import PATIENCE, World, tests_in, tests_of, wait       # noqa: E402

dealboxd, emulator, command, set_file, examples = sys.argv[1:6]


async def deal(w, session, boards, until):
    """Deals with somebody at the machine; the signals up to one that until() likes."""
    heard = []
    async with Service(os.environ['DBUS_SYSTEM_BUS_ADDRESS']) as service:
        signals = service.signals()
        number, count = await service.add_set(boards, session)
        assert count == len(boards) and await service.boards(number) == [board.number for board in boards]
        job = await service.add_job(number, [board.number for board in boards], options=['automatic-start'])
        assert (await service.jobs())[job]['Session'] == session
        while True:
            told = await asyncio.wait_for(signals.__anext__(), PATIENCE)
            heard.append(told)
            if until(told):
                break
            for path, machine in (await service.machines()).items():
                if 'start' in machine['Keys'] and machine['State'] in w.PRESS:
                    try:
                        await service.answer(path, machine['Question'])
                    except ServiceError as error:
                        assert error.name in ('io.dealbox1.Error.Changed', 'io.dealbox1.Error.NotAsked'), error.name
        assert [j for j in (await service.jobs()).values() if j['Session'] == session][0]['Recorded'] == count
    return heard, job


def few(count):
    boards = dealbox.Set()
    boards.extend(dealbox.Random().deals(count))
    return boards


def test_a_set_is_dealt(w):
    boards = few(3)
    heard, job = asyncio.run(deal(w, 'module', boards, lambda told: isinstance(told, Finished)))
    judged = [told for told in heard if isinstance(told, Judged) and told.job == job]
    assert {told.board for told in judged if told.exact} == {1, 2, 3}, judged
    exact = [told for told in judged if told.exact]
    assert {told.facts['kind'] for told in exact} == {'exact'}, exact
    assert all(told.facts['basis'] == 'sensors' and told.text.startswith('exact duplicate (by exit sensors') for told in exact), exact
    assert any(isinstance(told, Changed) and 'Instruction' in told.properties for told in heard)
    traffic = w.traffic()
    assert all(board.deal.reveal()[2:18] not in traffic for board in boards)


def test_a_refusal_says_why(w):
    async def refused():
        async with Service() as service:
            for act in (lambda: service.call('Manager', 'GetBoards', 't', 99), lambda: service.add_set(few(1), ''),
                        lambda: service.add_job(99, [1]), lambda: service.call('/io/dealbox1/job/99', 'Pause')):
                try:
                    await act()
                except ServiceError as error:
                    assert '.' in error.name and error.text, (error.name, error.text)
                else:
                    raise AssertionError('not refused')
            path, _ = next(iter((await service.machines()).items()))
            assert isinstance(await service.call(path, 'GetCounters'), dict)
            await service.stop()
            await service.call(path, 'Start')       # releases the stop

    asyncio.run(refused())


def test_a_played_set_comes_back(w):
    boards = few(2)

    async def there_and_back():
        async with Service() as service:
            number, _ = await service.add_set(boards, 'played')
            await service.call('Manager', 'SetPlayed', 'tb', number, True)
            with os.fdopen(await service.call('Manager', 'GetSet', 't', number), 'rb') as file:
                file.seek(0)
                return dealbox.Set.parse(file.read())

    assert [board.deal for board in asyncio.run(there_and_back())] == [board.deal for board in boards]


def test_signals_end_with_the_connection(w):
    async def lost():
        async with Service() as service:
            signals, later = service.signals(), service.signals()
            waiting = asyncio.ensure_future(signals.__anext__())
            service._bus.disconnect()
            try:
                await asyncio.wait_for(waiting, PATIENCE)
            except StopAsyncIteration:
                assert [told async for told in later] == []
                return
            raise AssertionError('a signal')

    asyncio.run(lost())


def test_only_the_service_is_believed(w):
    """Signals to one connection need no match, and anyone may send them."""
    async def forged():
        async with Service() as service:
            signals = service.signals()
            other = Service()
            async with other:
                machine, _ = next(iter((await service.machines()).items()))
                for path, interface, member, signature, body in (
                        ('/io/dealbox1/job/1', NAME + '.Job', 'Verdict', 'uusuba{sv}',
                         [1, 1, 'x', 1, True, {'text': Variant('s', 'exact duplicate')}]),
                        ('/io/dealbox1/job/1', NAME + '.Job', 'Finished', '', []),
                        (machine, 'org.freedesktop.DBus.Properties', 'PropertiesChanged', 'sa{sv}as',
                         [NAME + '.Machine', {'Instruction': Variant('s', 'Take it out.')}, []]),
                        ('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'NameOwnerChanged', 'sss', [NAME, ':1.1', ''])):
                    await other._bus.send(Message(service._bus.unique_name, path, interface, member, MessageType.SIGNAL,
                                                  signature=signature, body=body))
                await other._bus_call('GetId', '')
            # what the service tells comes behind them
            await service.call(machine, 'Locate', 'u', 1)
            await service.stop()
            told = await asyncio.wait_for(signals.__anext__(), PATIENCE)
            assert isinstance(told, Changed) and 'Take it out.' not in told.properties.values(), told
            await service.call(machine, 'Start')       # releases the stop

    asyncio.run(forged())


def test_a_service_that_goes_is_noticed(w):
    async def watch():
        async with Service() as service:
            signals = service.signals()
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, w.stop)
            while not isinstance(await asyncio.wait_for(signals.__anext__(), PATIENCE), Gone):
                pass

    asyncio.run(watch())
    w.start()
    wait('the machine', w.machines)


def test_kiosk(w):
    path = w.dir + '/kiosk.pbn'
    few(3).write(path)
    process = w.spawn([sys.executable, examples + '/kiosk.py', path, 'kiosk'], stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = ''
    for line in process.stdout:
        out += line
        if '[Enter]' in line:
            try:
                process.stdin.write('\n')
                process.stdin.flush()
            except BrokenPipeError:
                pass
    assert process.wait(PATIENCE) == 0, out
    assert len(re.findall(r'^board [123], copy 1: exact duplicate', out, re.M)) == 3, out
    bad = w.dir + '/bad.pbn'
    with open(bad, 'w') as file:
        file.write('no deals')
    for arguments in ([bad, 'x'], []):
        result = subprocess.run([sys.executable, examples + '/kiosk.py', *arguments], check=False,
                                capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        assert result.returncode == 1 and result.stderr and 'Traceback' not in result.stderr, result


def test_kiosk_answers_no_question_that_nobody_has_seen(w):
    """Whoever presses Enter twice has answered once."""
    spec = importlib.util.spec_from_file_location('kiosk', examples + '/kiosk.py')
    kiosk = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kiosk)

    async def pressed():
        answers, answered = [], asyncio.Event()

        class Asked:
            async def answer(self, machine, question):
                answers.append(question)
                await answered.wait()

        async def until(condition):
            while not condition():
                await asyncio.sleep(0.001)

        screen = {'m': {'Keys': ['start'], 'Question': 1}}
        keys = asyncio.ensure_future(kiosk.keys(Asked(), screen))
        os.write(writer, b'\n\n')
        await until(lambda: answers)
        screen['m']['Question'] = 2
        answered.set()
        for _ in range(20):
            await asyncio.sleep(0)
        screen['m']['Question'] = 3
        os.write(writer, b'\n')
        await asyncio.wait_for(until(lambda: answers[-1] == 3), PATIENCE)
        os.close(writer)
        await keys
        assert answers == [1, 3], answers

    reader, writer = os.pipe()
    stdin = sys.stdin
    with open(reader) as sys.stdin:
        try:
            asyncio.run(pressed())
        finally:
            sys.stdin = stdin


def test_season(w):
    first, second = w.dir + '/monday.pbn', w.dir + '/tuesday.pbn'
    boards = few(30)
    boards.write(first)
    few(30).write(second)

    def season(*files):
        return subprocess.run([sys.executable, examples + '/season.py', *files], check=False, capture_output=True,
                              text=True, timeout=PATIENCE)
    result = season(first, second)
    # a corrected p below 0.01 comes in one of 100 perfect seasons
    assert '60 deals in 2 files' in result.stdout and 'Traceback' not in result.stderr, result
    assert not any(board.deal.reveal()[2:18] in result.stdout for board in boards)
    boards.write(second)
    result = season(first, second)
    assert result.returncode == 1 and 'tuesday.pbn, board 1: seed, 30 deals; see ' in result.stdout, result
    assert season().returncode == 1 and 'usage' in season().stderr
    assert re.search('^/no/file: .', season('/no/file').stderr), season('/no/file')


world = World(dealboxd, emulator, command, set_file)
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    wait('the machine', world.machines)
    for test in tests_of(globals()):
        tap.run(test, world)
