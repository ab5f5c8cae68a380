# SPDX-License-Identifier: LGPL-2.1-or-later
"""deal_command.py DEALBOXD EMULATOR DEALBOX SET: `dealbox deal` with the service (TAP)."""
import json
import os
import re
import signal
import subprocess
import sys

import dbus
import dbus.lowlevel

from raw import PATIENCE
from harness import World, ends, swap_deals, tests_in, tests_of, until, wait

dealboxd, emulator, dealbox, set_file = sys.argv[1:5]
FIRST = '/io/dealbox1/machine/FIRST'


def newest(w):
    """The job that was begun last."""
    return max(w.objects('Job'), key=lambda path: int(path.rsplit('/')[-1]))


def test_deals_and_tells_each_board(w):
    deal = w.begin('deal', '--boards', '1-2', '--copies', '2', '--session', 'monday', set_file)
    out = ends(deal, 0, '4 of 4 boards are exact duplicates; 0 void')
    said = re.findall(r'^(board .*): exact duplicate', out, re.M)
    assert said == ['board 1, copy 1', 'board 1, copy 2', 'board 2, copy 1', 'board 2, copy 2'], out
    job, = w.objects('Job').values()
    assert job['Session'] == 'monday' and job['State'] == 'done', job
    assert w.check() >= 3


def test_says_when_a_job_is_finished(w):
    """The signals of a job: each verdict, then the end."""
    wait('the signal', lambda: 'member=Finished' in w.traffic())
    traffic = w.traffic()
    assert traffic.count('member=Verdict') == 4, traffic
    assert traffic.rfind('member=Verdict') < traffic.find('member=Finished')


def test_json_is_that_of_a_machine_of_its_own(w):
    """The same objects with the same names; the service adds which machine it was, and tells no differences."""
    w.add_emulator('ALONE', '--speed', '0')
    uri = 'emu:%s/ALONE' % w.dir
    alone = w.command_with_enter('deal', '-m', uri, '--boards', '3', '--json', set_file)
    assert alone.returncode == 0, alone
    mine = ends(w.begin('deal', '--boards', '3', '--json', set_file), 0)
    w.emulators.pop()       # the service has nothing to do with it
    shapes = []
    for text in (alone.stdout, mine):
        lines = [json.loads(line) for line in text.splitlines()]
        shapes.append({line['kind']: set(line) for line in lines if line['kind'] != 'operator'})
    assert shapes[0]['board'] - {'differences'} | {'machine'} == shapes[1]['board'], shapes
    assert shapes[0]['summary'] == shapes[1]['summary'], shapes
    board, = [json.loads(line) for line in mine.splitlines() if '"kind":"board"' in line]
    assert board['verdict'] == 'exact' and board['machine'] == 'FIRST', board


def test_the_pace_is_in_seconds(w):
    w.tell('FIRST', 'speed 1000')
    ends(w.begin('deal', '--boards', '1', '--session', 'monday', set_file), 0)
    w.tell('FIRST', 'speed 0')
    pace = w.machines()[FIRST]['Pace']
    machine, = [json.loads(line) for line in w.command('status', '--json').stdout.splitlines()]
    assert pace > 0 and machine['pace_s'] == pace / 1000, (pace, machine)


def test_a_set_comes_by_standard_input(w):
    """As from the operator's screen: what is wrong is said, and the number of the set is what remains."""
    def add(text, *words):
        return subprocess.run([dealbox, 'set', 'add', '-', *words], input=text, check=False, capture_output=True,
                              text=True, timeout=PATIENCE)
    with open(set_file) as file:
        text = file.read()
    first = add(text, '--session', 'by pipe', '--json')
    assert first.returncode == 0, first
    number = json.loads(first.stdout)['set']
    assert list(w.manager().GetBoards(dbus.UInt64(number))) == list(range(1, 25))
    again = add(text, '--session', 'by pipe')
    assert again.stdout == '%d\n' % number, again
    broken = add(text.replace('[Deal "N:', '[Deal "N:A', 1))
    assert broken.returncode == 2 and 'nothing was added' in broken.stderr, broken
    assert 'standard input' in broken.stderr and not broken.stdout, broken


def test_the_same_deals_once_more(w):
    """For the same session by default, the date: somebody may want copies, or play them twice (Law 6D2)."""
    again = 'All these boards were dealt for session .* already, the last at .*Law 6D2'
    jobs = len(w.objects('Job'))
    refused = w.command('deal', '--boards', '3', set_file)
    assert refused.returncode == 1 and re.search(again + '.*nothing was done', refused.stderr, re.S), refused
    assert len(w.objects('Job')) == jobs
    deal = w.begin('deal', '--boards', '3', set_file)
    deal.stdin.write('y\n')
    deal.stdin.flush()
    ends(deal, 0, '1 of 1 boards are exact duplicates')
    today = [job['Session'] for job in w.objects('Job').values() if job['Session'].startswith('20')][0]
    for words in ('--yes',), ('--session', today):
        result = w.command('deal', '--boards', '3', *words, set_file)
        assert result.returncode == 0 and 'Law' not in result.stderr, result


def test_void_board_is_told_and_enter_is_the_start_key(w):
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    w.tell('FIRST', 'hopper fill')
    w.tell('FIRST', 'inject position 20: misread')
    deal = w.begin('deal', '--boards', '4', set_file)
    until(deal, '^board 4: Put in the empty board 4')
    w.tell('FIRST', 'insert')
    text = until(deal, 'Turn the deck round')
    assert re.search(r'^board 4: void: repeated card at card \d+$', text, re.M), text
    w.tell('FIRST', 'remove')
    w.tell('FIRST', 'empty')
    w.tell('FIRST', 'insert')
    until(deal, 'If it is empty, and the deck is whole, press start')
    deal.stdin.write('\n')
    deal.stdin.flush()
    ends(deal, 0, 'board 4: exact duplicate', '1 of 1 boards are exact duplicates; 1 void')


def test_ctrl_c_pauses_and_resume_goes_on(w):
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    deal = w.begin('deal', '--boards', '5-6', '--session', 'stopped', set_file)
    until(deal, 'board 5: Put in the empty board 5')
    deal.send_signal(signal.SIGINT)
    ends(deal, 130, r'job \d+ of the service is paused', '`dealbox deal --resume` continues it')
    job = max(w.objects('Job').values(), key=lambda job: job['Id'])
    assert job['State'] == 'paused' and job['Session'] == 'stopped', job
    # with other deals than those it was made of, it does not
    other = w.dir + '/other.pbn'
    with open(set_file) as file, open(other, 'w') as out:
        out.write(file.read().replace('[Board "6"]', '[Board "70"]'))
    result = w.command('deal', '--resume', other)
    assert result.returncode == 2 and 'not those of the job' in result.stderr, result
    deal = w.begin('deal', '--resume', set_file)
    until(deal, 'board 5: Put in the empty board 5')
    w.tell('FIRST', 'operator on')
    ends(deal, 0, 'board 5: exact duplicate', 'board 6: exact duplicate', '2 of 2 boards')
    result = w.command('deal', '--resume')
    assert result.returncode == 2 and 'no job of the service is paused' in result.stderr, result


def test_ctrl_c_in_a_deal_says_where_it_stands(w):
    w.tell('FIRST', 'operator off')
    w.tell('FIRST', 'remove')
    w.tell('FIRST', 'hopper fill')
    w.tell('FIRST', 'inject position 20: freeze')
    w.tell('FIRST', 'inject on request PAUSE: thaw')
    deal = w.begin('deal', '--boards', '5', '--session', 'midway', '--how', 'replay', set_file)
    until(deal, 'Put in the empty board 5')
    w.tell('FIRST', 'insert')
    w.tell('FIRST', 'wait frozen')
    deal.send_signal(signal.SIGINT)
    ends(deal, 130, 'FIRST: paused in board 5; a machine that locks its board keeps it until the job continues',
         r'job \d+ of the service is paused')
    ends(w.begin('deal', '--resume'), 0, 'board 5: exact duplicate')
    w.tell('FIRST', 'operator on')


def test_repeat_is_refused_and_a_replay_is_not(w):
    result = w.command('deal', '--boards', '1', '--session', 'tuesday', set_file)
    assert result.returncode == 2 and 'Law 6D2' in result.stderr and '--how replay' in result.stderr, result
    ends(w.begin('deal', '--boards', '1', '--session', 'tuesday', '--how', 'replay', set_file), 0)
    result = w.command('deal', '--boards', '1', '--how', 'replay,backwards', set_file)
    assert result.returncode == 2 and "no option 'backwards'" in result.stderr, result


def test_a_job_is_kept_to_machines(w):
    jobs = set(w.objects('Job'))
    result = w.command('deal', '-m', 'NOBODY', '--boards', '10', set_file)
    assert result.returncode == 3 and 'has no machine NOBODY now' in result.stderr and \
        'dealbox status' in result.stderr and set(w.objects('Job')) == jobs, result
    for names in [['FIRST', 'emu:x'], ['emu:x', 'FIRST'], ['emu:x', 'emu:y']]:
        result = w.command('deal', '-m', names[0], '-m', names[1], set_file)
        assert result.returncode == 2 and 'one address, or ids' in result.stderr, result
    deal = w.begin('deal', '-m', 'FIRST', '-m', 'NOBODY', '--priority', '7', '--boards', '10', set_file)
    ends(deal, 0, 'has no machine NOBODY now', 'board 10: exact duplicate')
    out = w.command('jobs').stdout
    assert re.search(r', priority 7, on FIRST, NOBODY \(not connected\)$', out, re.M), out
    assert ['FIRST', 'NOBODY'] in [json.loads(line)['machines']
                                   for line in w.command('jobs', '--json').stdout.splitlines()]
    out = w.dealbox_ledger('list').stdout
    assert re.search(', on FIRST, NOBODY$', out, re.M), out
    assert json.loads(w.dealbox_ledger('list', '--json').stdout.splitlines()[-1])['machines'] == ['FIRST', 'NOBODY']


def test_a_job_is_put_before_another(w):
    w.tell('FIRST', 'unplug')
    wait('the cable', lambda: not w.machines()[FIRST]['Present'])
    number, _ = w.add_set('before')
    last, first = [w.add_job(number, [board], automatic_start=True, replay=True) for board in (11, 12)]
    job = first.rsplit('/', 1)[1]
    assert w.command('priority', job, '9').returncode == 0 and w.job(first)['Priority'] == 9
    assert re.search(r'^job %s .*, priority 9$' % job, w.command('jobs').stdout, re.M)
    w.deny('io.dealbox1.manage')
    result = w.command('priority', job, '1')
    w.deny('')
    assert result.returncode == 2 and 'group dealbox' in result.stderr and w.job(first)['Priority'] == 9, result
    for words, error in [([job], 'and a priority'), ([job, '100'], '100'), (['999999', '1'], 'Unknown object')]:
        result = w.command('priority', *words)
        assert result.returncode == 2 and error in result.stderr, (words, result)
    w.tell('FIRST', 'plug')
    w.deal(last)
    assert [r['board'] for r in w.records() if r['record'] == 'insertion'][-2:] == [12, 11]


def test_a_job_is_kept_to_machines_later(w):
    path = w.add_job(w.add_set('later')[0], [14], replay=True, machines=dbus.Array(['NOBODY'], signature='s'))
    w.object(path, 'Job').Pause()
    job = path.rsplit('/', 1)[1]
    # none of them is there: the job would wait for a name that is written wrongly
    result = w.command('jobs', job, '-m', 'FIRZT')
    assert result.returncode == 3 and 'has no machine FIRZT now' in result.stderr and w.job(path)['Machines'] == ['NOBODY'], result
    result = w.command('jobs', job, '--machine', 'FIRST', '--machine', 'NOBODY')
    assert result.returncode == 0 and re.search(r'^job %s .*, on FIRST, NOBODY \(not connected\)$' % job, result.stdout, re.M), result
    assert w.job(path)['Machines'] == ['FIRST', 'NOBODY'], w.job(path)
    w.deny('io.dealbox1.deal io.dealbox1.manage')
    result = w.command('jobs', job, '--any-machine')
    w.deny('')
    assert result.returncode == 2 and 'group dealbox' in result.stderr and len(w.job(path)['Machines']) == 2, result
    for words, error in [(['-m', 'FIRST'], 'number of a job'), ([job, '-m', 'FIRST', '--any-machine'], 'contradict'),
                         ([job, '-m', 'emu:/x'], 'ids that'), (['999999', '--any-machine'], 'Unknown object')]:
        result = w.command('jobs', *words)
        assert result.returncode == 2 and error in result.stderr, (words, result)
    out = w.command('jobs', job, '--any-machine', '--json').stdout
    assert json.loads(out.splitlines()[0])['machines'] == [] and w.job(path)['Machines'] == [], out


def test_without_limit_until_it_is_stopped(w):
    deal = w.begin('deal', '--copies', 'unlimited', '--boards', '12', '--how', 'replay', set_file)
    until(deal, 'board 12, copy 3: exact duplicate')
    w.tell('FIRST', 'operator off')
    deal.send_signal(signal.SIGINT)
    ends(deal, 130, r'(?m)^\d+ boards are exact duplicates', 'continues it')


def test_a_board_can_wait_for_start(w):
    deal = w.begin('deal', '--boards', '13', '--how', 'wait-for-start', set_file)
    until(deal, 'board 13: Press start to deal board 13')
    deal.stdin.write('\n')
    deal.stdin.flush()
    ends(deal, 0, 'board 13: exact duplicate')


def test_cancelled_job_is_the_answer_no(w):
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    deal = w.begin('deal', '--boards', '7', set_file)
    until(deal, 'board 7: Put in')
    w.object(newest(w), 'Job').Cancel()
    ends(deal, 1, r'job \d+ was cancelled')
    w.tell('FIRST', 'operator on')


def test_a_skipped_board_does_not_make_it_the_answer_no(w):
    """As without the service: all the others are exact."""
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    deal = w.begin('deal', '--json', '--boards', '18-19', set_file)
    until(deal, '"state":"insert-board"')
    assert w.command('skip', '--yes', newest(w).rsplit('/', 1)[1], '18').returncode == 0
    w.tell('FIRST', 'operator on')
    summary = json.loads(ends(deal, 0).splitlines()[-1])
    assert summary['kind'] == 'summary' and summary['boards'] == 2 and summary['exact'] == 1 and \
        summary['done'] is True, summary


def test_input_is_refused_before_anything_is_dealt(w):
    jobs = set(w.objects('Job'))
    bad = w.dir + '/bad.pbn'
    with open(bad, 'w') as file:
        file.write('no deals')
    for options, status, text in [
            ([bad], 2, 'nothing was dealt'),
            (['--boards', '99', set_file], 2, 'board 99 is not in the set'),
            (['--record', w.dir + '/trace', set_file], 2, '--record works only without the service'),
            (['--reveal', set_file], 2, '--machine ADDRESS deals without it')]:
        result = w.command('deal', *options)
        assert result.returncode == status and text in result.stderr, result
    w.deny('io.dealbox1.deal')
    result = w.command('deal', '--boards', '8', set_file)
    w.deny('')
    assert result.returncode == 2 and 'group dealbox' in result.stderr, result
    assert set(w.objects('Job')) == jobs


def test_no_machine_is_status_3(w):
    w.tell('FIRST', 'unplug')
    wait('the cable', lambda: not w.machines()[FIRST]['Present'])
    result = w.command('deal', '--boards', '8', set_file)
    assert result.returncode == 3 and 'the service has no machine' in result.stderr, result
    w.tell('FIRST', 'plug')
    wait('the cable', lambda: w.machines()[FIRST]['Present'])


def test_service_that_ends_is_status_3_and_it_goes_on_later(w):
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    deal = w.begin('deal', '--boards', '9', set_file)
    until(deal, 'board 9: Put in', True)
    assert w.stop() == 0
    ends(deal, 3, 'the service dealboxd has ended', 'the job continues when the service runs again')
    w.tell('FIRST', 'operator on')
    w.start()
    path = newest(w)
    w.deal(path)
    assert w.job(path)['Recorded'] == 1
    w.check()


def test_only_the_service_is_believed(w):
    """Signals to one connection need no match, and anyone may send them."""
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    deal = w.begin('deal', '--boards', '16', set_file)
    until(deal, 'board 16: Put in', True)
    bus = dbus.Interface(w.bus.get_object('org.freedesktop.DBus', '/org/freedesktop/DBus'), 'org.freedesktop.DBus')
    to, = (name for name in bus.ListNames() if name.startswith(':') and
           bus.GetConnectionUnixProcessID(name) == deal.pid)
    for path, interface, member, signature, body in (
            (newest(w), 'io.dealbox1.Job', 'Verdict', 'uusuba{sv}', (16, 1, 'FORGED', 1, True, {'text': 'forged'})),
            (FIRST, 'org.freedesktop.DBus.Properties', 'PropertiesChanged', 'sa{sv}as',
             ('io.dealbox1.Machine', {'Id': 'FORGED', 'State': 'take-out'}, [])),
            (newest(w), 'org.freedesktop.DBus.Properties', 'PropertiesChanged', 'sa{sv}as',
             ('io.dealbox1.Job', {'State': 'cancelled'}, [])),
            ('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'NameOwnerChanged', 'sss', ('io.dealbox1', ':1.1', ''))):
        message = dbus.lowlevel.SignalMessage(path, interface, member)
        message.set_destination(to)
        message.append(signature=signature, *body)
        w.bus.send_message(message)
    w.bus.flush()
    w.tell('FIRST', 'operator on')
    out = ends(deal, 0)
    assert 'board 16: exact' in out and 'orged' not in out, out
    w.check()


def test_certificates_are_made_of_the_record(w):
    """Also of boards that were dealt while nobody looked; and they are proven without a trace leaving the service."""
    club, pc, rr1 = w.tournament()
    result = w.command('deal', '--certify', pc, set_file)
    assert result.returncode == 2 and not w.command('jobs').stdout.count(' open '), result
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    deal = w.begin('deal', '--certify', pc, '--copies', '2', '--how', 'reversed-pockets', '--boards', '1', rr1)
    until(deal, 'Put in the empty board 1')
    w.tell('FIRST', 'insert')
    until(deal, 'board 1, copy 1: exact', True)
    deal.send_signal(signal.SIGINT)
    ends(deal, 130, 'is paused')
    # dealt while nobody looked
    path = newest(w)
    job = path.rsplit('/', 1)[1]
    assert w.command('resume', job).returncode == 0
    w.tell('FIRST', 'operator on')
    wait('both copies', lambda: w.answer() or w.job(path)['Recorded'] == 2)
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    assert w.command('redeal', '--yes', job, '1', '2').returncode == w.command('pause', job).returncode == 0
    w.tell('FIRST', 'operator on')
    ends(w.begin('deal', '--resume', '--certify', pc, rr1), 0, '2 of 2 boards')
    with open(pc + '/certificates') as file:
        text = file.read()
    # the one that was redealt is void
    assert re.findall(r'^(?:copy|verdict) (.*)$', text, re.M) == ['1', 'exact', '2', 'void', '2', 'exact'], text
    assert text.count('\npockets WSEN\n') == 3, text
    assert text.count('\nmachine FIRST\n') == text.count('\nbasis sensors\ncards read\n') == 3, text
    # done while nobody looked, and the service and the machine were switched off since
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    deal = w.begin('deal', '--certify', pc, '--boards', '2', '--copies', '2', rr1)
    until(deal, 'Put in the empty board 2')
    w.tell('FIRST', 'insert')
    until(deal, 'board 2, copy 1: exact', True)
    deal.send_signal(signal.SIGINT)
    ends(deal, 130, 'is paused')
    path = newest(w)
    with open(pc + '/certificates') as file:
        before = file.read().count('\nverdict exact\n')
    w.tell('FIRST', 'operator on')
    assert before == 3 and w.command('resume', path.rsplit('/', 1)[1]).returncode == 0
    w.deal(path)
    assert w.stop() == 0
    w.tell('FIRST', 'unplug')
    w.start()
    sets = len([r for r in w.records() if r['record'] == 'set'])
    result = w.command('deal', '--resume', '--certify', pc, set_file)
    assert result.returncode == 2, result
    result = w.command('deal', '--resume', '--certify', pc, rr1)
    assert result.returncode == 0 and 'is done: 1 boards are certified now, 1 were already' in result.stdout, result
    again = w.command('deal', '--resume', '--certify', pc, '--json', rr1)
    assert json.loads(again.stdout.splitlines()[-1])['certified_now'] == 0 and again.returncode == 0, again
    other = w.dir + '/tournament/rr2.pbn'
    assert w.command('square', 'deal', club, '-P', '1', '-s', '2', '-d', os.path.dirname(rr1)).returncode == 0
    result = w.command('deal', '--resume', '--certify', pc, other)
    assert result.returncode == 2 and 'has no such job with these deals' in result.stderr, result
    assert len([r for r in w.records() if r['record'] == 'set']) == sets
    w.tell('FIRST', 'plug')
    wait('the cable', lambda: FIRST in w.machines() and w.machines()[FIRST]['Present'])
    assert w.command('certificate', 'open', pc).returncode == 0
    result = w.command('certificate', 'verify', club + '.manifest', pc + '/certificates', rr1)
    # that is one session of two, nobody has named a key, and two boards were put in and taken out again
    assert result.returncode == 1 and re.findall(r'^\[(.*?)\]', result.stdout, re.M) == [
        'signer-unnamed', 'pc-unnamed', 'deals-missing', 'session-missing', 'gap', 'gap',
        'rehearsal', 'rehearsal', 'rehearsal', 'rehearsal', 'rehearsal'], result
    # the service knows that an emulator has dealt, also of the board that was certified without it
    with open(pc + '/certificates') as file:
        text = file.read()
    assert result.stdout.startswith('REHEARSAL: a program played the machine') and \
        text.count('\nby emulator\n') == text.count('dealbox certificate 2\n') > before, result
    # what was dealt and cannot be certified stops the job, and it is said
    deal = w.begin('deal', '--certify', pc, '--boards', '1', '--how', 'replay', '--session', 'x', rr1)
    ends(deal, 2, 'the opening is published', 'could not be certified')
    assert w.job(newest(w))['State'] in ('paused', 'done')


def test_what_machines_reported_is_judged_again(w):
    """Long after the evening: the service has been started again, and an arbiter asks about a board."""
    w.tell('FIRST', 'operator on')
    ends(w.begin('deal', '--boards', '14-15', '--how', 'reversed-pockets', '--session', 'proof', set_file), 0)
    job = newest(w).rsplit('/', 1)[1]
    assert w.stop() == 0
    w.start()
    file, before = w.dir + '/proof.trace', w.records()
    w.deny('io.dealbox1.reveal')
    result = w.command('ledger', 'traces', job, file)
    w.deny('')
    assert result.returncode == 2 and 'may not do that' in result.stderr and not os.path.exists(file), result
    for words, text in [(['999999', file], 'no job 999999'), ([job, '--board', '1', file], 'no board 1'),
                        ([job], 'the name of a new file')]:
        result = w.command('ledger', 'traces', *words)
        assert result.returncode == 2 and text in result.stderr and not os.path.exists(file), (words, result)
    assert w.records() == before
    result = w.command('ledger', 'traces', job, '--board', '14', file)
    assert result.returncode == 0 and 'of 1 insertions' in result.stdout, result
    act = w.records()[-1]
    assert act['act'] == 'reveal' and act['job'] == int(job) and act['board'] == 14, act
    assert os.stat(file).st_mode & 0o777 == 0o600
    result = w.command('verify', set_file, file)
    assert result.returncode == 0 and 'board 14' in result.stdout and 'board 15' not in result.stdout, result
    result = w.command('ledger', 'traces', job, file)
    assert result.returncode == 2 and 'cannot record to' in result.stderr, result
    # it is no proof of another deal
    other = w.dir + '/other14.pbn'
    swap_deals(set_file, other, (14, 15))
    result = w.command('verify', other, file)
    assert result.returncode == 1 and 'board 14' in result.stdout, result


def test_without_the_service_it_deals_by_itself(w):
    assert w.stop() == 0
    for options in [['--priority', '1', set_file], ['--set', '1']]:
        result = w.command('deal', *options)
        assert result.returncode == 3 and result.stderr.startswith('dealbox: ' + options[0]) and \
            'for the service dealboxd' in result.stderr, result
    result = w.command('deal', '-m', 'FIRST', set_file)
    assert result.returncode == 3 and "'FIRST' is not the address" in result.stderr and \
        'systemctl enable --now dealboxd' in result.stderr, result
    result = w.command('capture', '--resume', w.dir + '/new.pbn')
    assert result.returncode == 3 and '--resume needs the service' in result.stderr, result
    result = w.command('capture', '-m', 'FIRST', w.dir + '/new.pbn')
    assert result.returncode == 3 and "'FIRST' is not the address" in result.stderr, result
    alone = w.command_with_enter('deal', '-m', 'emu:%s/FIRST' % w.dir, '--boards', '1', set_file)
    assert alone.returncode == 0 and 'board 1: exact duplicate' in alone.stdout, alone


world = World(dealboxd, emulator, dealbox, set_file)
os.environ['XDG_STATE_HOME'] = world.dir
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    for test in tests_of(globals()):
        tap.run(test, world)
        world.tell('FIRST', 'operator on')
        world.cancel_jobs()
