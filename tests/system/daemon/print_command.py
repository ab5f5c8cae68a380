# SPDX-License-Identifier: LGPL-2.1-or-later
"""print_command.py DEALBOXD EMULATOR DEALBOX SET: `dealbox print` of jobs of the service (TAP)."""
import json
import os
import pwd
import re
import subprocess
import sys

from harness import World, ends, tests_in, tests_of

# pango begins a thread whose end nobody can await. LeakSanitizer, which stops all threads when the
# program ends, sometimes meets it half gone, and breaks down. test_print looks for leaks.
os.environ['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'

dealboxd, emulator, dealbox, set_file = sys.argv[1:5]


def printed(path):
    result = subprocess.run(['pdftotext', '-layout', path, '-'], capture_output=True, text=True, check=True)
    assert not result.stderr, result
    return result.stdout


def job_of(w):
    path, = w.objects('Job')
    return path.rsplit('/', 1)[1]


def reveals(w):
    return [record for record in w.records() if record['record'] == 'act' and record['act'] == 'reveal']


def cards_in(text):
    """Ranks beside a suit."""
    return re.search('[♠♥♦♣] ?[AKQJ0-9—]', text)


def test_a_receipt_names_no_card_and_needs_no_right_to_see_cards(w):
    ends(w.begin('deal', '--boards', '1-2', '--copies', '2', '--session', 'monday', set_file), 0)
    file, before = w.dir + '/receipt.pdf', reveals(w)
    w.deny('io.dealbox1.reveal')
    result = w.command('print', '--receipt', job_of(w), '-o', file)
    assert result.returncode == 0, result
    text = printed(file)
    assert len(re.findall('FIRST .* exact', text)) == 4, text
    assert 'Session monday' in text and pwd.getpwuid(os.geteuid()).pw_name in text, text
    head = re.search(r'2 × 2 exact, ledger head (\d+:[0-9a-f]{64})', text)
    assert head and head[1] in w.dealbox_ledger('verify').stdout, text
    assert not cards_in(text), text
    result = w.command('print', '--receipt', job_of(w), '-o', w.dir + '/receipt.html')
    assert result.returncode == 0, result
    with open(w.dir + '/receipt.html') as page:
        assert page.read().count('<td>exact</td>') == 4
    assert reveals(w) == before
    w.deny('')


def test_hand_records_want_the_right_to_see_cards(w):
    file = w.dir + '/records.pdf'
    w.deny('io.dealbox1.reveal')
    result = w.command('print', '--job', job_of(w), '-o', file)
    w.deny('')
    assert result.returncode == 2 and 'may not do that' in result.stderr, result
    assert not os.path.exists(file) and not reveals(w)


def test_who_prints_hand_records_is_recorded(w):
    file = w.dir + '/records.pdf'
    result = w.command('print', '--job', job_of(w), '-o', file)
    assert result.returncode == 0, result
    act, = reveals(w)
    assert act['uid'] == os.geteuid() and act['value'] == int(w.objects('Job')['/io/dealbox1/job/' + job_of(w)]['Set']), act
    text = printed(file)
    assert cards_in(text) and 'Session monday' in text and '2 × 2 exact' in text, text
    # 24 boards are in the set, two of them in the job
    assert len(re.findall('Board', text)) == 2, text
    # the head on the paper covers that record
    head = re.search(r'ledger head (\d+:[0-9a-f]{64})', text)[1]
    assert head in w.dealbox_ledger('verify').stdout
    assert os.stat(file).st_mode & 0o777 == 0o600


def test_a_set_that_is_played_is_no_secret(w):
    file, number = w.dir + '/played.pdf', w.objects('Job')['/io/dealbox1/job/' + job_of(w)]['Set']
    before, number = len(reveals(w)), str(number)

    def listed():
        entry, = [json.loads(line) for line in w.command('set', 'list', '--json').stdout.splitlines()]
        return entry
    assert (str(listed()['set']), listed()['boards'], listed()['played']) == (number, 24, False), listed()
    w.deny('io.dealbox1.reveal')
    result = w.command('set', 'played', number)
    assert result.returncode == 2 and 'may not do that' in result.stderr, result
    w.deny('')
    result = w.command('set', 'played', number)
    assert result.returncode == 0 and result.stdout == 'set %s is marked as played\n' % number, result
    assert listed()['played'] and listed()['open_jobs'] == 0
    assert re.match(number + r': 20\d\d-.*, session monday, 24 boards, played\n$', w.command('set', 'list').stdout)
    w.deny('io.dealbox1.reveal')
    result = w.command('print', '--job', job_of(w), '-o', file)
    assert result.returncode == 0 and cards_in(printed(file)), result
    # who printed it is recorded all the same
    assert len(reveals(w)) == before + 1
    # as the operator's screen calls it
    result = subprocess.run([w.dealbox, 'print', '--job', job_of(w), '-o', '-'], capture_output=True)
    assert not result.returncode and not result.stderr and result.stdout.startswith(b'%PDF'), result.stderr
    w.deny('')
    assert w.command('set', 'unplayed', number).returncode == 0 and not listed()['played']
    result = w.command('set', 'played', '99')
    assert result.returncode == 2 and 'no set 99' in result.stderr, result
    w.deny('io.dealbox1.reveal')
    result = w.command('print', '--job', job_of(w), '-o', '-')
    assert result.returncode == 2 and not result.stdout, result
    w.deny('')


def test_statistics_are_of_played_sets_only(w):
    job, file, before = job_of(w), w.dir + '/statistics.pdf', reveals(w)
    number = str(w.objects('Job')['/io/dealbox1/job/' + job]['Set'])
    # also for one who may see cards, and nothing is asked, revealed or recorded
    result = w.command('print', '--job', job, '--statistics', '-o', file)
    assert result.returncode == 2 and 'not marked as played' in result.stderr, result
    assert 'dealbox set played %s' % number in result.stderr, result
    assert not os.path.exists(file) and reveals(w) == before
    assert w.command('set', 'played', number).returncode == 0
    w.deny('io.dealbox1.reveal')
    result = w.command('print', '--job', job, '--statistics', '-o', file)
    w.deny('')
    assert result.returncode == 0 and '4-4-3-2' in printed(file), result
    assert len(reveals(w)) == len(before) + 1
    assert w.command('set', 'unplayed', number).returncode == 0


def test_what_does_not_count_any_more_is_not_exact_on_paper(w):
    job, file = job_of(w), w.dir + '/redealt.pdf'
    w.tell('FIRST', 'operator off')
    w.take_out('FIRST')
    assert w.command('redeal', '-y', job, '2', '1').returncode == 0
    result = w.command('print', '--receipt', job, '-o', file)
    assert result.returncode == 0, result
    text = printed(file)
    assert len(re.findall('FIRST .* exact', text)) == 3 and len(re.findall('FIRST .* revoked', text)) == 1, text
    assert '3 / 4 exact' in text and '2 × 2' not in text, text
    w.cancel_jobs()


def test_jobs_that_there_are_not(w):
    file = w.dir + '/none.pdf'
    for option in '--job', '--receipt':
        result = w.command('print', option, '999', '-o', file)
        assert result.returncode == 2 and 'no job 999' in result.stderr, result
        result = w.command('print', option, '1', set_file, '-o', file)
        assert result.returncode == 2 and 'give no file' in result.stderr, result
    assert not os.path.exists(file)


def test_without_the_service(w):
    assert w.stop() == 0
    result = w.command('print', '--receipt', '1', '-o', w.dir + '/none.pdf')
    assert result.returncode == 3, result


world = World(dealboxd, emulator, dealbox, set_file)
os.environ['XDG_STATE_HOME'] = world.dir
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    for test in tests_of(globals()):
        tap.run(test, world)
