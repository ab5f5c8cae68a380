# SPDX-License-Identifier: LGPL-2.1-or-later
"""emulated.py EMULATOR: machines with asyncio, on the emulator."""
import asyncio
import contextlib
import errno
import json
import os
import subprocess
import sys
import tempfile
import time

import dealbox
from endings import raises, run

PATIENCE = 900          # seconds: only a hang takes so long, however busy the computer is
CARD_READ = dealbox.lib.DEALBOX_EV_CARD_READ


@contextlib.contextmanager
def emulator(*options):
    """Gives (its uri, its folder)."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + '/socket'
        process = subprocess.Popen([sys.argv[1], '--socket', path, '--speed', '0', '--account', folder + '/account',
                                    '--control', folder + '/control', *options], stdout=subprocess.PIPE)
        try:
            # it listens when its first line comes
            process.stdout.readline()
            yield 'emu:' + path, folder
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def tell(folder, *command):
    subprocess.run([sys.argv[1], '--tell', folder + '/control', *command], check=True, timeout=PATIENCE,
                   stdout=subprocess.DEVNULL)


async def deal_one(machine, plan):
    """As docs/examples/deal-board.c: (the verdict, the last status)."""
    machine.claim()
    machine.set_plan(plan)
    status = machine.status()
    trace = dealbox.Trace(status.insertion)
    machine.start(plan, status.insertion)
    events = machine.events()
    done = False
    while True:
        try:
            event = await asyncio.wait_for(events.__anext__(),
                                           dealbox.lib.DEALBOX_SETTLED_MS / 1000 if done else PATIENCE)
        except asyncio.TimeoutError:
            assert done
            break
        trace.add(event)
        assert 'SA' not in repr(event)
        done |= event.type == dealbox.lib.DEALBOX_EV_DEAL_DONE
        if event.stops or event.type == dealbox.lib.DEALBOX_EV_ABORTED:
            break
    return dealbox.verify(plan, trace, capabilities=machine.info().capabilities), machine.status(), trace


def deals_exactly(*options):
    deal = dealbox.Random().deal()
    with emulator('--manual', *options) as (uri, folder):
        tell(folder, 'insert')
        with dealbox.Machine(uri) as machine:
            verdict, status, trace = asyncio.run(deal_one(machine, dealbox.Plan.by_card(deal)))
            assert verdict and verdict.exact and str(verdict).startswith('exact duplicate'), verdict
            assert verdict.basis is dealbox.Basis.SENSORS, verdict.basis
            assert {event.event_class for event in trace} >= {dealbox.EventClass.MACHINE, dealbox.EventClass.DEAL}
            assert dealbox.state_name(status.state) == 'done' and status.counts[:4] == (13,) * 4, (status.state, status.counts)
            assert sum(event.type == CARD_READ for event in trace) == 52 and not trace.gap
            # of another deal it is no duplicate
            other = dealbox.Plan.by_card(dealbox.Random().deal())
            assert not dealbox.verify(other, trace, capabilities=machine.info().capabilities)
            tell(folder, 'remove', 'force')
        with open(folder + '/account') as file:
            account = json.loads(file.readline())
        assert [sorted(pocket) for pocket in account['pockets'][:4]] == [sorted(hand) for hand in deal.hands]


def test_a_machine_that_holds_the_plan_deals():
    deals_exactly('--kind', 'stored')


def test_a_machine_that_is_routed_deals():
    deals_exactly('--kind', 'routed')


def test_a_board_that_differs_is_not_exact():
    with tempfile.NamedTemporaryFile('w') as scenario:
        scenario.write('deal 1 position 7: wrong-pocket\n')
        scenario.flush()
        with emulator('--kind', 'stored', '--scenario', scenario.name) as (uri, _), dealbox.Machine(uri) as machine:
            deal = dealbox.Random().deal()
            verdict, _, _ = asyncio.run(deal_one(machine, dealbox.Plan.by_card(deal)))
            assert not verdict and verdict.differences
            text = deal.reveal()
            for difference in verdict.differences:
                assert str(difference) and text not in str(difference)


def test_machines_are_found_and_described():
    with emulator('--serial', 'PYTHON-1', '--name', 'a model') as (uri, folder):
        found = [f for f in dealbox.find_machines([folder + '/socket', folder + '/nobody']) if f.uri == uri]
        assert len(found) == 1, found
        with dealbox.Machine(uri) as machine:
            info = machine.info()
            assert (info.serial, info.model, info.pockets) == ('PYTHON-1', 'a model', 4)
            assert info.capabilities & dealbox.lib.DEALBOX_CAP_BY_CARD and 'reserved' not in dir(info)
            raises(AttributeError, getattr, info, 'nothing')
            raises(AttributeError, setattr, info, 'pockets', 5)
            assert machine.counters().boards_dealt == 0
            assert dealbox.state_name(machine.status().state) == 'idle'
            assert machine.wait(0) is not None and machine.uri == uri


def test_refusals_say_why():
    with emulator() as (uri, _), dealbox.Machine(uri) as machine:
        plan = dealbox.Plan.by_card(dealbox.Random().deal())
        error = raises(dealbox.Error, machine.set_plan, plan)
        assert error.errno == errno.EPERM and error.text
        machine.claim()
        error = raises(dealbox.Error, machine.start, plan, 1)
        assert error.errno == errno.EREMOTEIO and error.result and error.text, vars(error)
        machine.release()
        raises(OverflowError, machine.start, plan, -1)
    assert raises(dealbox.Error, dealbox.Machine, uri).errno in (errno.ENOENT, errno.ENODEV, errno.ECONNREFUSED)


def test_a_machine_that_goes_ends_the_events():
    async def watch(machine, folder):
        events = machine.events()
        with contextlib.suppress(asyncio.TimeoutError):
            while True:
                await asyncio.wait_for(events.__anext__(), 0.1)
        task = asyncio.ensure_future(all_of(machine))
        await asyncio.sleep(0)
        tell(folder, 'unplug')
        try:
            await asyncio.wait_for(task, PATIENCE)
        except dealbox.Error as error:
            assert error.errno == errno.ENODEV, error
        else:
            raise AssertionError('no end')

    with emulator() as (uri, folder), dealbox.Machine(uri) as machine:
        asyncio.run(watch(machine, folder))


async def all_of(machine):
    async for _ in machine.events():
        pass


def test_closing_ends_the_events():
    async def close(machine):
        task = asyncio.ensure_future(all_of(machine))
        # until it waits
        while machine._waiting is None:
            await asyncio.sleep(0.01)
        raises(RuntimeError, (events := all_of(machine)).send, None)
        events.close()
        machine.close()
        try:
            await task
        except dealbox.Error as error:
            assert error.errno == errno.EBADF, error
        else:
            raise AssertionError('no end')
        # the number of the descriptor belongs to somebody else now, whom the loop does not watch
        reader, writer = os.pipe()
        os.write(writer, b'x')
        await asyncio.sleep(0.05)
        os.close(reader)
        os.close(writer)

    with emulator() as (uri, _):
        machine = dealbox.Machine(uri)
        asyncio.run(close(machine))
        for act in machine.read, machine.status, machine.fileno, machine.claim:
            assert raises(dealbox.Error, act).errno == errno.EBADF
        machine.close()
        assert 'closed' in repr(machine)


def test_who_is_cancelled_waits_no_more():
    async def cancel(machine):
        for _ in range(3):
            task = asyncio.ensure_future(all_of(machine))
            while machine._waiting is None:
                await asyncio.sleep(0.01)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            assert machine._waiting is None

    with emulator() as (uri, _), dealbox.Machine(uri) as machine:
        asyncio.run(cancel(machine))


def test_a_loop_that_is_left_loses_no_event():
    async def some(machine, count):
        found = []
        async for event in machine.events():
            found.append(event)
            if len(found) == count:
                return found

    with emulator('--manual', '--kind', 'stored') as (uri, folder), dealbox.Machine(uri) as machine:
        tell(folder, 'insert')
        plan, seen = dealbox.Plan.by_card(dealbox.Random().deal()), []
        machine.claim()
        machine.set_plan(plan)
        machine.start(plan, machine.status().insertion)
        end = time.monotonic() + PATIENCE
        while dealbox.state_name(machine.status().state) != 'done':
            assert time.monotonic() < end
            time.sleep(0.01)
        for count in 1, 3:
            seen += asyncio.run(some(machine, count))
        while found := machine.read():
            seen += found
        assert len(seen) > 100
        assert [event.seqno for event in seen] == list(range(seen[0].seqno, seen[0].seqno + len(seen)))
    # nor are cards kept of a machine that is closed
    assert not machine._unread and raises(dealbox.Error, machine.read).errno == errno.EBADF


def test_a_monitor_waits():
    monitor = dealbox.Monitor()
    assert monitor.next() is None and monitor.fileno() >= 0


run(globals())
