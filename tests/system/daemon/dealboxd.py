# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealboxd.py DEALBOXD EMULATOR DEALBOX SET INTERFACES: the service as its users see it (TAP)."""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import types
import xml.etree.ElementTree

import dbus

from harness import RANKS, SUITS, World, memory, somebody_else, tests_in, tests_of, wait
from raw import Raw

dealboxd, emulator, dealbox, set_file, interfaces = sys.argv[1:6]
BOARDS = [1, 2, 3, 4]
DENIED = 'org.freedesktop.DBus.Error.AccessDenied'


def error_name(call, *args):
    try:
        call(*args)
    except dbus.DBusException as error:
        return error.get_dbus_name()
    return None


def test_deals_a_job_on_a_machine_that_stores_plans(w):
    number, boards = w.add_set()
    assert boards == len(w.deals)
    path = w.add_job(number, BOARDS, 2, automatic_start=True)
    w.deal(path)
    assert w.job(path)['Recorded'] == 8
    w.check()


def test_interfaces_are_those_that_are_installed(w):
    """Names and types of all members, against the XML files."""
    def members(text):
        found = set()
        for interface in xml.etree.ElementTree.fromstring(text).iter('interface'):
            if not interface.get('name').startswith('io.dealbox1.'):
                continue
            for member in interface:
                if member.tag == 'annotation':
                    continue
                found.add((interface.get('name'), member.tag, member.get('name'), member.get('type'),
                           member.get('access'),
                           tuple((a.get('name'), a.get('type'), a.get('direction'))
                                 for a in member.iter('arg'))))
        return found
    live = set()
    for path in ['/io/dealbox1', next(iter(w.machines())), next(iter(w.objects('Job')))]:
        live |= members(w.bus.get_object('io.dealbox1', path, introspect=False).Introspect(
            dbus_interface='org.freedesktop.DBus.Introspectable'))
    installed = set()
    for name in os.listdir(interfaces):
        # that of the event is there with an event only: tests/system/event
        if name.endswith('.xml') and 'Event' not in name:
            with open(interfaces + '/' + name) as file:
                installed |= members(file.read())
    assert live == installed, live ^ installed


def test_repeated_deal_needs_replay(w):
    number, _ = w.add_set('tomorrow')
    assert error_name(w.add_job, number, BOARDS) == 'io.dealbox1.Error.Repeat'
    w.add_job(number, [1], replay=True)
    w.object(max(w.objects('Job')), 'Job').Cancel()


def test_same_session_is_no_repeat(w):
    number, _ = w.add_set()
    path = w.add_job(number, [1])
    w.object(path, 'Job').Cancel()
    assert w.job(path)['State'] == 'cancelled'


def test_bad_sets_are_refused(w):
    bad = {'empty': '', 'noise': 'no deals here', 'twice': '', 'sorted': ''}
    with open(w.set_file, encoding='latin-1') as file:
        text = file.read()
    deal = re.search(r'\[Deal "([^"]*)"\]', text)[1]
    bad['twice'] = ('[Board "1"]\n[Deal "%s"]\n\n[Board "2"]\n[Deal "%s"]\n' % (deal, deal))
    bad['sorted'] = '[Board "1"]\n[Deal "N:%s"]\n' % deal[2:].replace('A', 'K', 1)
    for name, content in bad.items():
        path = '%s/%s.pbn' % (w.dir, name)
        with open(path, 'w') as file:
            file.write(content)
        error = error_name(w.add_set, 'x', path)
        assert error in ('io.dealbox1.Error.BadSet', 'io.dealbox1.Error.Repeat'), (name, error)
    with open(w.dir + '/huge', 'w') as file:
        file.truncate(100 << 20)
    assert error_name(w.add_set, 'x', w.dir + '/huge') == 'org.freedesktop.DBus.Error.LimitsExceeded'
    # a pipe would keep the service waiting
    read, write = os.pipe()
    assert error_name(w.manager().AddSet, dbus.types.UnixFd(read), 'x', '') == \
        'io.dealbox1.Error.BadSet'
    os.close(read)
    os.close(write)
    assert error_name(w.add_set, '') == 'org.freedesktop.DBus.Error.InvalidArgs'
    assert error_name(w.add_set, 'x', None, 'tarot') == 'org.freedesktop.DBus.Error.InvalidArgs'


def test_bad_calls_are_refused(w):
    number, _ = w.add_set()
    invalid = 'org.freedesktop.DBus.Error.InvalidArgs'
    assert error_name(w.add_job, number, []) == invalid
    assert error_name(w.add_job, number, [1, 1]) == invalid
    assert error_name(w.add_job, number, [999]) == 'io.dealbox1.Error.NotFound'
    assert error_name(w.add_job, 999999, [1]) == 'io.dealbox1.Error.NotFound'
    assert error_name(lambda: w.add_job(number, [1], hurry=True)) == invalid
    assert error_name(lambda: w.add_job(number, [1], replay='yes')) == invalid
    assert error_name(w.add_job, number, [1], 100000) == invalid
    assert error_name(w.manager().AddJob, 'not', 'these', 'types') == invalid
    path = next(iter(w.objects('Job')))
    assert error_name(w.object(path, 'Job').Skip, dbus.UInt32(77), dbus.UInt32(1)) == \
        'io.dealbox1.Error.NotFound'
    assert w.manager().AddSet is not None and w.machines()


def test_polkit_decides_and_the_stop_asks_nobody(w):
    denied = 'org.freedesktop.DBus.Error.AccessDenied'
    path = next(iter(w.machines()))
    machine = w.object(path, 'Machine')
    w.deny('io.dealbox1.deal io.dealbox1.manage io.dealbox1.reveal')
    job = w.object(next(iter(w.objects('Job'))), 'Job')
    try:
        assert error_name(w.add_set) == denied
        assert error_name(w.add_job, 1, [1]) == denied
        assert error_name(machine.Start) == denied
        assert error_name(machine.Reveal) == denied
        assert error_name(job.Cancel) == denied
        machine.Stop()
        assert w.machines() and wait('the stop', lambda: {m['State'] for m in w.machines().values()})
    finally:
        w.deny('')
    w.press(path)
    w.manager().Stop()
    w.press(path)
    assert [r for r in w.records() if r['record'] == 'act' and r['act'] == 'stop']


def test_played_sets_are_no_secret(w):
    """
    Only an administrator marks a set as played; from then on whoever deals may see its deals, unless others are still
    to play the same ones.
    """
    def listed(number):
        return next(s for s in w.manager().GetSets() if s[0] == number)
    file, later = w.dir + '/played.pbn', w.dir + '/later.pbn'
    assert w.command('generate', '-b', '1-4', file).returncode == 0
    assert w.command('generate', '-b', '5', later).returncode == 0
    number, boards = w.add_set('played', file)
    path = w.add_job(number, [1])
    assert listed(number)[2:] == ('played', boards, False, 1) and w.manager().GetSets()[0][0] == number
    get_set = w.manager().GetSet

    def refused(number):
        try:
            os.close(get_set(dbus.UInt64(number)).take())
        except dbus.DBusException as error:
            assert error.get_dbus_name() == DENIED, error
            return error.get_dbus_message()
        return ''

    def mark(number, played):
        w.deny('')
        w.manager().SetPlayed(dbus.UInt64(number), played)
        w.deny('io.dealbox1.reveal')
    w.deny('io.dealbox1.reveal')
    try:
        assert error_name(w.manager().SetPlayed, dbus.UInt64(number), True) == DENIED
        assert error_name(get_set, dbus.UInt64(number)) == DENIED
        w.deny('')
        assert error_name(w.manager().SetPlayed, dbus.UInt64(9999), True) == 'io.dealbox1.Error.NotFound'
        assert error_name(w.manager().SetPlayed, dbus.UInt64(1 << 40), True) == 'io.dealbox1.Error.NotFound'
        w.manager().SetPlayed(dbus.UInt64(number), True)
        w.deny('io.dealbox1.reveal')
        # somebody may still have to play what is still being dealt
        assert listed(number)[4:] == (True, 1) and error_name(get_set, dbus.UInt64(number)) == DENIED
        w.object(path, 'Job').Cancel()
        assert listed(number)[4:] == (True, 0)
        os.close(get_set(dbus.UInt64(number)).take())
        assert [r for r in w.records() if r['record'] == 'act'][-1]['act'] == 'reveal'
        # another group plays one of the deals on another day, as another board
        with open(file, encoding='utf-8') as deals, open(later, 'w', encoding='utf-8') as out:
            out.write(deals.read().split('\n\n')[0].replace('[Board "1"]', '[Board "17"]') + '\n')
        other, _ = w.add_set('later', later)
        path = w.add_job(other, [17])
        still = 'another set with the same boards is still being played: set %d; ' % other
        assert refused(number).startswith(still), refused(number)
        assert refused(other).startswith('this user may not do that')
        mark(other, True)
        assert refused(number).startswith(still) and 'close its jobs' in refused(number)
        w.object(path, 'Job').Cancel()
        os.close(get_set(dbus.UInt64(number)).take())
        os.close(get_set(dbus.UInt64(other)).take())
        mark(number, False)
        assert refused(number).startswith('this user may not do that') and 'set %d;' % number in refused(other)
        # who may see cards may see these
        w.deny('')
        os.close(get_set(dbus.UInt64(other)).take())
        w.deny('io.dealbox1.reveal')
        assert error_name(get_set, dbus.UInt64(number)) == DENIED
        w.deny('io.dealbox1.deal')
        assert error_name(w.manager().GetSets) == DENIED
    finally:
        w.deny('')


def test_files_that_no_call_has_stay_outside(w):
    """The policy of the bus refuses them before the service, or polkit, hears of the call."""
    machine = next(iter(w.machines()))
    w.deny('hang')
    client = Raw()
    with open(memory(set_file)) as file:
        def call(path, interface, member, signature, values, count):
            return client.call(path, 'io.dealbox1.' + interface, member, signature, values, fds=[file.fileno()] * count)
        try:
            assert call('/io/dealbox1', 'Manager', 'AddSet', 'hss', [0, 'x', ''], 2) == DENIED
            assert call(machine, 'Machine', 'Pause', '', [], 1) == DENIED
        finally:
            w.deny('')
        assert call('/io/dealbox1', 'Manager', 'AddSet', 'hss', [0, 'x', ''], 1) is None
    client.close()


def test_it_is_recorded_who_did_it(w):
    """Sets, jobs and stops, also of who has hung up before it was done."""
    other = somebody_else()
    uid = other[0] if other else os.geteuid()

    def acts(act):
        return [(r['uid'], r['value'] or r['job']) for r in w.records() if r['record'] == 'act' and r['act'] == act]

    def set_of(session):
        return next((r['number'] for r in w.records() if r['record'] == 'set' and r['session'] == session), None)
    number, _ = w.add_set('who')
    path = w.add_job(number, [1], replay=True)
    assert acts('add')[-2:] == [(os.geteuid(), number), (os.geteuid(), w.job(path)['Id'])], acts('add')
    w.object(path, 'Job').Cancel()
    client = Raw(other)
    assert client.call('/io/dealbox1', 'org.freedesktop.DBus.Peer', 'Ping') is None
    w.deny('hang')
    try:
        with open(memory(set_file)) as file:
            client.send('/io/dealbox1', 'io.dealbox1.Manager', 'AddSet', 'hss', [0, 'hung up', ''], fds=[file.fileno()])
        client.send('/io/dealbox1', 'io.dealbox1.Manager', 'Stop')
        client.close()
    finally:
        w.deny('')
    wait('the set', lambda: set_of('hung up'))
    assert acts('add')[-1] == (uid, set_of('hung up')), acts('add')
    assert acts('stop')[-1] == (uid, None), acts('stop')
    press_start(w)
    # of a program that ends at once, nobody can know more than this
    w.daemon.send_signal(signal.SIGSTOP)
    client = Raw(other)
    client.send('/io/dealbox1', 'io.dealbox1.Manager', 'Stop')
    client.call('/', 'org.freedesktop.DBus.Peer', 'Ping', destination='org.freedesktop.DBus')
    client.close()
    wait('the bus to see it', lambda: not w.bus.name_has_owner(client.name))
    w.daemon.send_signal(signal.SIGCONT)
    wait('the stop', lambda: acts('stop')[-1] == (0xfffffffe, None))
    press_start(w)


def press_start(w):
    for path in w.machines():
        w.press(path)


def test_service_of_a_machine(w):
    """Counters and parameters are for everyone, to change them and to deal for a test is not."""
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    path = '/io/dealbox1/machine/FIRST'
    machine = w.object(path, 'Machine')
    denied = 'org.freedesktop.DBus.Error.AccessDenied'
    w.deny('io.dealbox1.deal io.dealbox1.manage io.dealbox1.reveal io.dealbox1.service')
    try:
        assert machine.GetCounters()['boards-dealt'] >= 8
        value, least, most = machine.GetParameter(dbus.UInt32(2))
        assert least <= value <= most
        parameters = {one[1]: one for one in machine.GetParameters()}
        assert sorted(parameters) == ['feed-timeout', 'read-retries', 'speed', 'volume'], parameters
        assert parameters['read-retries'] == (2, 'read-retries', value, least, most, 'readings'), parameters
        assert error_name(machine.SetParameter, dbus.UInt32(2), most) == denied
        assert error_name(machine.TestDeal, dbus.UInt32(8)) == denied
        w.deny('io.dealbox1.status')
        assert error_name(machine.GetCounters) == denied
        assert error_name(machine.GetParameter, dbus.UInt32(2)) == denied
        assert error_name(machine.GetParameters) == denied
    finally:
        w.deny('')
    machine.SetParameter(dbus.UInt32(2), most)
    assert machine.GetParameter(dbus.UInt32(2))[0] == most
    assert error_name(machine.SetParameter, dbus.UInt32(2), dbus.UInt32(most + 1)) == \
        'io.dealbox1.Error.Machine'
    w.tell('FIRST', 'unplug')
    wait('the cable', lambda: not w.machines()[path]['Present'])
    assert error_name(machine.GetCounters) == 'io.dealbox1.Error.Absent'
    w.tell('FIRST', 'plug')
    wait('the machine', lambda: w.machines()[path]['Present'])
    assert error_name(machine.TestDeal, dbus.UInt32(8)) == 'io.dealbox1.Error.Busy'
    w.tell('FIRST', 'insert')
    wait('the board', lambda: w.machines()[path]['Insertion'])
    assert not w.machines()[path]['Test']
    insertion = w.machines()[path]['Insertion']
    machine.TestDeal(dbus.UInt32(8))
    # .. and the board is not dealt into again
    wait('the test', lambda: w.machines()[path]['State'] == 'used')
    assert w.machines()[path]['Test'] == {'state': 'done', 'insertion': insertion, 'cards': 8, 'fed': 8, 'read': 8,
                                          'face-up': 0, 'repeated': 0, 'landed': 8}, w.machines()[path]['Test']
    assert error_name(machine.TestDeal, dbus.UInt32(8)) == 'io.dealbox1.Error.Busy'
    w.tell('FIRST', 'remove')
    wait('the board', lambda: any(key[0] == 'FIRST' and board['end'] == 'done' and
                                  sum(map(len, board['pockets'])) == 8
                                  for key, board in w.account().items()))
    w.tell('FIRST', 'operator on')


def test_void_board_is_dealt_again(w):
    """A misread card is repeated, so the board is void, and is dealt again."""
    number, _ = w.add_set('misread')
    w.tell('FIRST', 'inject position 20: misread')
    path = w.add_job(number, [1], automatic_start=True, replay=True)
    w.deal(path)
    assert w.job(path)['Recorded'] == 1 and w.job(path)['Void'] == 1, w.job(path)
    assert [r for r in w.records() if r['record'] == 'act' and r['act'] == 'emptied']
    machine = w.machines()['/io/dealbox1/machine/FIRST']
    assert re.match(r"Two cards are to be looked at: the card at the reader, and (the top card|card \d+ from the top) "
                    r"of (North|East|South|West)'s hand\. ", machine['Diagnosis']), machine['Diagnosis']
    w.check()


def test_commands_speak_to_the_service(w):
    """dealbox jobs, pause, resume, status, watch."""
    number, _ = w.add_set('commands')
    path = w.add_job(number, list(w.deals), 1, replay=True)
    job = path.rsplit('/', 1)[1]
    result = w.command('jobs')
    assert result.returncode == 0 and re.search(
        r'job %s +open +0 of %d recorded, 0 void  commands' % (job, len(w.deals)), result.stdout), result
    result = w.command('jobs', '--json')
    assert json.loads(result.stdout.splitlines()[-1])['session'] == 'commands', result
    watch = w.spawn([w.dealbox, 'watch'], stdout=subprocess.PIPE, text=True)
    assert watch.stdout.readline().startswith('FIRST: press-start: Press start to deal board 1')
    result = w.command('pause', job)
    assert result.returncode == 0 and w.job(path)['State'] == 'paused', result
    assert watch.stdout.readline().startswith('FIRST: no-work: There is nothing to deal.')
    assert w.command('resume').returncode == 0 and w.job(path)['State'] == 'open'
    assert watch.stdout.readline().startswith('FIRST: press-start')
    watch.kill()
    result = w.command('status')
    assert result.returncode == 0 and 'FIRST: press-start\n  Press start to deal board 1' in result.stdout
    state = json.loads(w.command('status', '--json').stdout.splitlines()[0])
    assert state['machine'] == 'FIRST' and state['board'] == 1 and not state['dealing'], state
    result = w.command('pause', '999999')
    assert result.returncode == 2 and 'Unknown object' in result.stderr, result
    # what was dealt of one
    done = max((p for p, j in w.objects('Job').items() if j['State'] == 'done'), key=lambda p: w.job(p)['Recorded'])
    result = w.command('jobs', done.rsplit('/', 1)[1])
    assert result.returncode == 0 and re.search(r'^job \d+ +done', result.stdout), result
    exact = re.findall(r'^  board \d+, copy \d+: insertion \d+ of machine \w+: exact$', result.stdout, re.M)
    assert len(exact) == w.job(done)['Recorded'] > 0, result
    lines = [json.loads(line) for line in w.command('jobs', '--json', done.rsplit('/', 1)[1]).stdout.splitlines()]
    assert lines[0]['state'] == 'done' and [x.get('outcome') for x in lines[1:]].count('exact') == len(exact), lines
    result = w.command('jobs', '999999')
    assert result.returncode == 2 and 'no job 999999' in result.stderr, result
    # one board
    result = w.command('skip', job, '2')
    assert result.returncode == 1 and 'Is that meant? [y/N]' in result.stderr and 'nothing was done' in result.stderr, result
    result = w.command('redeal', job, '2')
    assert result.returncode == 1 and 'Is that meant? [y/N]' in result.stderr, result
    assert 'redeal' not in w.command('ledger', 'show', job, '-l', w.ledger).stdout
    result = w.command('skip', '--yes', job, '2')
    assert result.returncode == 0 and w.job(path)['State'] == 'open', (result, w.job(path))
    result = w.command('ledger', 'show', job, '-l', w.ledger)
    assert re.search(r'board +2.* skipped', result.stdout), result
    assert w.command('redeal', '-y', job, '2', '1').returncode == 0
    result = w.command('ledger', 'show', job, '-l', w.ledger)
    assert not re.search(r'board +2.* skipped', result.stdout), result
    for words, error in [(['skip', '-y', job, '77'], 'of board 77'), (['redeal', '-y', job, '1', '2'], 'no copy 2'),
                         (['skip', '-y', '999999', '1'], 'Unknown object'), (['skip', job], 'a job and a board'),
                         (['cancel'], 'the number of a job'), (['cancel', '999999'], 'Unknown object')]:
        result = w.command(*words)
        assert error in result.stderr and result.returncode == 2, (words, result)
    w.deny('io.dealbox1.deal')
    result = w.command('pause', job)
    w.deny('')
    assert result.returncode == 2 and 'group dealbox' in result.stderr, result
    assert w.command('cancel', job).returncode == 0 and w.job(path)['State'] == 'cancelled'


def test_finishes_after_it_was_unplugged(w):
    number, _ = w.add_set('cable')
    path = w.add_job(number, BOARDS, 2, automatic_start=True, replay=True)
    wait('some boards', lambda: w.answer() or w.job(path)['Recorded'] >= 2)
    w.tell('FIRST', 'unplug 300')
    w.deal(path)
    w.check()


def test_pause_holds_and_resume_goes_on(w):
    machine = '/io/dealbox1/machine/FIRST'
    number, _ = w.add_set('pause')
    # no card moves before the job is paused
    w.tell('FIRST', 'freeze')
    path = w.add_job(number, list(w.deals), 1, automatic_start=True, replay=True)
    job = w.object(path, 'Job')
    wait('the deal', lambda: w.answer() or w.machines()[machine]['Dealing'])
    job.Pause()
    assert w.job(path)['State'] == 'paused'
    w.tell('FIRST', 'thaw')
    wait('the machine', lambda: w.machines()[machine]['State'] == 'paused')
    assert w.machines()[machine]['Dealing'] and w.job(path)['Recorded'] == 0
    job.Resume()
    w.deal(path)
    job.Pause()
    job.Redeal(dbus.UInt32(2), dbus.UInt32(1))
    assert w.job(path)['State'] == 'paused'
    job.Skip(dbus.UInt32(2), dbus.UInt32(1))
    assert w.job(path)['State'] == 'done'


def test_survives_a_restart_in_the_middle(w):
    number, _ = w.add_set('restart')
    # more than can be dealt before the service ends
    path = w.add_job(number, list(w.deals), 99, automatic_start=True, replay=True)
    wait('some boards', lambda: w.answer() or w.job(path)['Recorded'] >= 2)
    assert w.stop() == 0
    w.check()
    w.start()
    before = w.job(path)['Recorded']
    assert before >= 2, before
    wait('a board more', lambda: w.answer() or w.job(path)['Recorded'] > before)
    w.object(path, 'Job').Cancel()
    wait('the end', lambda: w.answer() or not any(m['Dealing'] for m in w.machines().values()))
    w.check()


def test_config_with_a_mistake_changes_nothing(w):
    w.write_config('colour = green\n')
    w.daemon.send_signal(1)
    wait('the message', lambda: 'unknown setting or invalid value' in w.log())
    assert w.machines()
    w.write_config()


def test_config_with_a_mistake_starts_nothing(w):
    w.write_config('colour = green\n')
    ended = subprocess.run([dealboxd, '--config', w.dir + '/dealboxd.conf'],
                           stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    w.write_config()
    assert ended.returncode == 1, ended.returncode
    assert 'unknown setting or invalid value' in ended.stderr, ended.stderr


def test_board_reader_chooses(w):
    w.tell('FIRST', 'unplug')
    wait('the cable', lambda: not w.machines()['/io/dealbox1/machine/FIRST']['Present'])
    number, _ = w.add_set('reader')
    path = w.add_job(number, BOARDS, 1, automatic_start=True, replay=True, by_reader=True)
    w.add_emulator('READER', '--speed', '0', '--manual', '--packs', '6', '--capabilities',
                   'by-card,exit-sensors,board-reader')
    w.write_config()
    w.daemon.send_signal(1)

    def state():
        return w.machines().get('/io/dealbox1/machine/READER', {}).get('State')
    wait('the reader', lambda: state() == 'insert-any')
    seen = False
    for board in [3, 9, 1, 3, 4, 2]:
        w.tell('READER', 'insert %d' % board)
        if board == 9:
            wait('the refusal', lambda: state() == 'number-range')
        elif board == 3 and seen:
            wait('the refusal', lambda: state() == 'number-done')
        else:
            wait('board %d' % board, lambda: state() == 'take-out')
        seen = seen or board == 3
        w.tell('READER', 'remove')
        # until then, what it says is of this board
        wait('its turn', lambda: state() in ('insert-any', 'no-work'))
    wait('the end', lambda: w.job(path)['State'] == 'done')
    w.check()
    w.tell('READER', 'unplug')
    w.tell('FIRST', 'plug')


def test_two_machines_share_a_job(w):
    w.add_emulator('ROUTED', '--speed', '0', '--kind', 'routed')
    w.write_config()
    w.daemon.send_signal(1)
    wait('the machine', lambda: '/io/dealbox1/machine/ROUTED' in w.machines())
    number, _ = w.add_set('two')
    path = w.add_job(number, list(w.deals), 2, automatic_start=True, replay=True)
    w.deal(path)
    assert w.job(path)['Recorded'] == 2 * len(w.deals)
    machines = {r['machine'] for r in w.records() if r['record'] == 'insertion'}
    assert {'FIRST', 'ROUTED'} <= machines, machines
    w.check()


def test_a_job_is_kept_to_its_machines(w):
    """It waits for a machine that is not there, over a restart; another machine does what comes after it."""
    routed = '/io/dealbox1/machine/ROUTED'
    w.tell('FIRST', 'unplug')
    wait('the cable', lambda: not w.machines()['/io/dealbox1/machine/FIRST']['Present'])
    number, _ = w.add_set('kept')
    kept = w.add_job(number, BOARDS, automatic_start=True, replay=True, priority=5,
                     machines=dbus.Array(['FIRST', 'NOBODY'], signature='s'))
    assert 'is for the machine NOBODY, which is not connected now' in w.log()
    after = w.add_job(number, BOARDS[:2], automatic_start=True, replay=True)
    w.deal(after)
    wait('the end', lambda: w.answer() or w.machines()[routed]['State'] in ('no-work', 'take-out'))
    assert w.stop() == 0
    w.start()
    wait('the machine', lambda: w.machines().get(routed, {}).get('Present'))
    wait('the machine', lambda: w.answer() or w.machines()[routed]['State'] == 'no-work')
    assert w.job(kept)['Machines'] == ['FIRST', 'NOBODY'] and w.job(kept)['Recorded'] == 0, w.job(kept)
    w.tell('FIRST', 'plug')
    w.deal(kept)
    used = {(r['job'], r['machine']) for r in w.records() if r['record'] == 'insertion'}
    number = int(kept.rsplit('/', 1)[1])
    assert (number, 'FIRST') in used and (number, 'ROUTED') not in used, used
    assert (int(after.rsplit('/', 1)[1]), 'FIRST') not in used, used
    w.check()


def test_a_job_is_kept_to_other_machines_later(w):
    """Also while a board is in; and after a restart. Who may not end the job may not."""
    first, routed = '/io/dealbox1/machine/FIRST', '/io/dealbox1/machine/ROUTED'
    for name in ('FIRST', 'ROUTED'):
        w.tell(name, 'operator off')
        w.tell(name, 'remove force')
    path = w.add_job(w.add_set('kept')[0], [1, 2], replay=True, machines=dbus.Array(['FIRST'], signature='s'))
    wait('the question', lambda: w.machines()[first]['State'] in ('insert-board', 'confirm-empty'))
    w.tell('FIRST', 'insert')
    wait('the question', lambda: 'start' in w.machines()[first]['Keys'])
    assert w.machines()[routed]['JobPath'] == '/'
    job = w.object(path, 'Job')
    invalid = 'org.freedesktop.DBus.Error.InvalidArgs'
    keep = lambda *names: error_name(job.SetMachines, dbus.Array(names, signature='s'))
    for names, error in [(('',), invalid), (('A', 'A'), invalid), (('x' * 128,), invalid),
                         (['M%d' % n for n in range(257)], 'org.freedesktop.DBus.Error.LimitsExceeded')]:
        assert keep(*names) == error and w.job(path)['Machines'] == ['FIRST'], names
    w.deny('io.dealbox1.deal io.dealbox1.manage')
    assert keep('ROUTED') == 'org.freedesktop.DBus.Error.AccessDenied'
    w.deny('')
    assert keep('ROUTED') is None and w.job(path)['Machines'] == ['ROUTED']
    wait('the other machine', lambda: w.machines()[routed]['JobPath'] == path)
    wait('no work', lambda: w.machines()[first]['JobPath'] == '/')
    assert 'start' not in w.machines()[first]['Keys'], w.machines()[first]
    assert w.stop() == 0
    w.start()
    wait('the machines', lambda: all(w.machines().get(one, {}).get('Present') for one in (first, routed)))
    assert w.job(path)['Machines'] == ['ROUTED']
    for name in ('FIRST', 'ROUTED'):
        w.tell(name, 'operator on')
    w.deal(path)
    number = int(path.rsplit('/', 1)[1])
    assert {r['machine'] for r in w.records() if r['record'] == 'insertion' and r['job'] == number} == {'ROUTED'}
    job = w.object(path, 'Job')
    assert error_name(job.SetMachines, dbus.Array([], signature='s')) is None and w.job(path)['Machines'] == []
    acts = [(r['machine'], r['value']) for r in w.records() if r['record'] == 'act' and r['act'] == 'keep']
    assert acts == [('ROUTED', 0), (None, 0)], acts
    w.check()


def test_machines_that_a_job_cannot_name(w):
    number, _ = w.add_set('kept')
    invalid = 'org.freedesktop.DBus.Error.InvalidArgs'
    for names, error in [([''], invalid), (['a\nb'], invalid), (['x' * 128], invalid), (['A', 'A'], invalid),
                         (['M%d' % n for n in range(257)], 'org.freedesktop.DBus.Error.LimitsExceeded')]:
        found = error_name(lambda: w.add_job(number, [1], replay=True, machines=dbus.Array(names, signature='s')))
        assert found == error, (names, found)
    assert error_name(lambda: w.add_job(number, [1], replay=True, machines='FIRST')) == invalid
    options = dbus.Dictionary({'replay': True}, signature='sv')
    assert error_name(w.manager().AddCapture, dbus.Array([1], signature='u'), options) == invalid


def test_ledger_is_sound_and_names_every_board(w):
    result = w.dealbox_ledger('verify')
    assert result.returncode == 0, result.stderr
    assert w.check() > 20


def test_the_bus_refuses_nothing_of_the_service(w):
    """Each refusal would be a line in the journal of the computer."""
    with open(w.dir + '/bus.log') as file:
        refused = [line for line in file if 'Rejected' in line and '/dealboxd' in line.split('destination=')[0]]
    assert not refused, refused[:3]


def test_no_card_in_log_or_on_the_bus(w):
    """Neither the names of cards nor hands as PBN has them, in the log and in all D-Bus traffic."""
    cards = {s + r for s in SUITS for r in RANKS}
    hand = re.compile(r'\b[AKQJT2-9]*\.[AKQJT2-9]*\.[AKQJT2-9]*\.[AKQJT2-9]*\b')
    for name, text in [('log', w.log()), ('traffic', w.traffic())]:
        assert len(text) > 1000, name
        found = set(re.findall(r'\b\w+\b', text)) & cards
        assert not found, (name, found)
        assert not hand.search(text), (name, hand.search(text))
    # who may see them sees them, and it is in the ledger
    number, _ = w.add_set('reveal')
    w.tell('FIRST', 'inject position 20: misread')
    w.tell('ROUTED', 'unplug')
    w.deal(w.add_job(number, [1], automatic_start=True, replay=True))
    text = w.object('/io/dealbox1/machine/FIRST', 'Machine').Reveal()
    assert set(re.findall(r'\b\w+\b', text)) & cards, text
    assert [r for r in w.records() if r['record'] == 'act' and r['act'] == 'reveal']


LOOKS = ['module', 'secure-boot', 'permission', 'udev', 'service', 'polkit', 'screen', 'panel', 'machine']


def test_doctor_looks_in_order(w):
    result = w.command('doctor', '--json')
    found = [json.loads(line) for line in result.stdout.splitlines()]
    looks = {f['look']: f['found'] for f in found}
    assert list(looks) == LOOKS, looks
    assert looks['service'] == looks['panel'] == looks['machine'] == 'good', found
    assert all(f['next'] for f in found if f['found'] != 'good'), found
    assert 'dealboxd has ' in w.command('doctor').stdout


def test_report_tells_all_but_cards(w):
    path = w.dir + '/report.txt'
    result = w.command('report', '--ledger', w.ledger, path)
    assert result.returncode == 0 and path in result.stdout, result
    assert os.stat(path).st_mode & 0o777 == 0o600
    with open(path) as file:
        text = file.read()
    for part in [r'==== versions\ndealbox \d', r'==== kernel\nLinux', r'==== doctor\nmodule ',
                 r'==== machines of the service\n\{.*"machine":"FIRST"', r'==== jobs of the service\n\{.*"kept"',
                 r'==== ledger\nthe ledger is sound: \d+ records', r'FIRST\n  boards-dealt \d+\n',
                 r'  parameter 1: \d+ \(\d+ to \d+\)', r'==== journal of the service\n.', r'==== settings\n.']:
        assert re.search(part, text, re.S if 'jobs' in part else 0), (part, text)
    cards = {s + r for s in SUITS for r in RANKS}
    assert not set(re.findall(r'\b\w+\b', text)) & cards, text
    assert not re.search(r'\b[AKQJT2-9]*\.[AKQJT2-9]*\.[AKQJT2-9]*\.[AKQJT2-9]*\b', text), text
    result = w.command('report', path)
    assert result.returncode == 2 and 'there is such a file already' in result.stderr, result
    assert '==== doctor' in w.command('report', '-').stdout


def test_who_added_a_job_may_cancel_it(w):
    """
    Also when the service has been restarted; another user needs the right to manage. Who may not
    cancel a job may not skip its boards either, one after the other.
    """
    other = somebody_else()
    if other is None:
        print('# root is alone in this user namespace: nobody else can ask')
        return
    w.deny('io.dealbox1.manage')
    try:
        mine = w.add_job(w.add_set('cancel')[0], BOARDS, replay=True)
        client = Raw(other)
        assert client.call('/io/dealbox1', 'io.dealbox1.Manager', 'AddCapture', 'aua{sv}', [[1, 2], None]) is None
        his = client.body[4:-1].decode()
        assert client.call(his, 'io.dealbox1.Job', 'SetPriority', 'i', [1]) == DENIED
        w.stop()
        w.start()
        assert client.call(mine, 'io.dealbox1.Job', 'Cancel') == DENIED
        for board in BOARDS:
            assert client.call(mine, 'io.dealbox1.Job', 'Skip', 'uu', [board, 1]) == DENIED
        assert client.call(his, 'io.dealbox1.Job', 'Redeal', 'uu', [1, 1]) == DENIED
        assert client.call(his, 'io.dealbox1.Job', 'Skip', 'uu', [1, 1]) is None
        assert w.job(mine)['State'] == w.job(his)['State'] == 'open'
        assert client.call(his, 'io.dealbox1.Job', 'Cancel') is None
        client.close()
        assert w.job(his)['State'] == 'cancelled'
        w.object(mine, 'Job').Cancel()
    finally:
        w.deny('')
    wait('the machine', lambda: any(m['Present'] for m in w.machines().values()))


def dumps_core(process):
    """Aborts it. Whether it left a core dump, of any size."""
    resource.prlimit(process.pid, resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    process.send_signal(signal.SIGABRT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -os.WTERMSIG(status)
    return os.WCOREDUMP(status)


def test_nothing_holds_a_card_afterwards(w):
    """The keys stay out of swap; neither the service nor a command leaves a core dump."""
    with open('/proc/%d/status' % w.daemon.pid) as file:
        size = {name: int(kib) for name, kib in re.findall(r'^(Vm\w+):\s*(\d+) kB', file.read(), re.M)}
    # the address sanitizer, which takes terabytes of addresses, locks nothing
    assert size['VmSize'] > 1 << 30 or size['VmLck'] > 0, size
    watch = w.begin('watch')
    assert watch.stdout.readline()
    assert not dumps_core(watch)
    assert not dumps_core(w.daemon)
    print('# a program without cards %s' % ('does' if dumps_core(w.spawn(['sleep', '900'], cwd=w.dir)) else
                                            'does not either: this computer makes no core dumps'))
    wait('the name to go', lambda: not w.bus.name_has_owner('io.dealbox1'))
    w.start()
    wait('the machine', lambda: any(m['Present'] for m in w.machines().values()))


def test_commands_say_that_the_service_is_gone(w):
    assert w.stop() == 0
    for command in ['jobs', 'pause', 'resume', 'status', 'watch', 'cancel 1', 'skip -y 1 1', 'redeal -y 1 1', 'priority 1 1']:
        result = w.command(*command.split())
        assert result.returncode == 3 and \
            'the service dealboxd is not running' in result.stderr and 'dealbox machines' in result.stderr, result
    systemd = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'systemd.py')
    for state, words in [('inactive', 'sudo systemctl enable --now dealboxd'),
                         ('failed', 'sudo journalctl -u dealboxd')]:
        fake = w.spawn([sys.executable, systemd, state])
        wait('systemd', lambda: w.bus.name_has_owner('org.freedesktop.systemd1'))
        result = w.command('doctor')
        service = re.search(r'^service .*\n.*', result.stdout, re.M)[0]
        assert words in service, result
        fake.kill()
        fake.wait()
        wait('systemd to go', lambda: not w.bus.name_has_owner('org.freedesktop.systemd1'))
    assert 'dealboxd has failed' in service and result.returncode == 1, result


def test_commits_to_a_board_that_was_dealt_by_hand(_):
    """A user's ledger becomes the service's."""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.environ.update(DEALBOX=dealbox, DEALBOX_EMULATOR=emulator, DEALBOX_SOURCE=os.path.join(tests, '../..'))
    sys.path.append(os.path.join(tests, 'tool'))
    from test_hand import Person, pack
    own = World(dealboxd, emulator, dealbox, set_file)
    try:
        person = Person(types.SimpleNamespace(env=dict(os.environ, XDG_STATE_HOME=own.dir)), '-b', '1', '--ledger',
                        own.ledger, set_file)
        person.put_in(1)
        person.deal(pack())
        person.lies()
        person.see('exact duplicate')
        person.take_out()
        assert person.end() == 0, person.text
        own.start()
        (path,) = own.objects('Job')
        (dealt,) = own.object(path, 'Job').GetInsertions()
        assert own.object(path, 'Job').Commit(dealt[2], dealt[3], dbus.ByteArray(b'x' * 32))[:4] == (True, 'hand', True, 'NESW')
    finally:
        own.close()


world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    for test in tests_of(globals()):
        tap.run(test, world)
