# SPDX-License-Identifier: LGPL-2.1-or-later
"""
questions.py DEALBOXD EMULATOR DEALBOX SET: what a machine asks, as numbers and words for programs
that make their own sentences; and that no answer counts for another question (TAP).
"""
import os
import pty
import re
import signal
import subprocess
import sys

import dbus

from harness import World, ends, tests_in, tests_of, until, wait

PATH = '/io/dealbox1/machine/READS'
CHANGED, NOT_ASKED, NOT_FOUND = ('io.dealbox1.Error.' + name for name in ('Changed', 'NotAsked', 'NotFound'))


def machine(w):
    return w.machines()[PATH]


def error_name(call, *args):
    try:
        call(*[dbus.UInt32(arg) for arg in args])
    except dbus.DBusException as error:
        return error.get_dbus_name()
    return None


def call(w, method, *args):
    return error_name(getattr(w.object(PATH, 'Machine'), method), *args)


def asks(w, state):
    """The machine, when it asks that."""
    return wait(state, lambda: next((m for m in [machine(w)] if m['State'] == state), None))


def facts(m):
    return {str(key): value for key, value in m['Facts'].items()}


def begin(w, boards, copies=1, **options):
    w.tell('READS', 'remove force')
    w.tell('READS', 'empty')        # of cards on the table
    w.tell('READS', 'hopper fill')
    wait('the board to be out', lambda: not machine(w)['Insertion'])
    return w.add_job(w.add_set('questions')[0], boards, copies, replay=True, **options)


def insert(w, board=''):
    """An empty board, with this number on it."""
    w.tell('READS', 'insert %s' % board)


def answer(w, state):
    """Answers that question; returns its number."""
    question = asks(w, state)['Question']
    assert call(w, 'Answer', question) is None
    return question


def outcome(w, path):
    return [(int(board), int(copy), str(how)) for board, copy, _, _, how in w.object(path, 'Job').GetInsertions()]


def test_tells_what_a_machine_can_do(w):
    m = machine(w)
    assert {'by-card', 'board-reader', 'stored-plan'} <= set(m['Capabilities']), m['Capabilities']
    assert 'by-position' not in m['Capabilities']
    assert m['JobPath'] == '/' and not m['NextBoard'] and m['State'] == 'no-work'
    assert 'start' not in m['Keys'] and 'locate' in m['Keys'] and not facts(m)
    assert call(w, 'Answer', m['Question']) == NOT_ASKED


def test_an_answer_counts_once_and_for_its_question(w):
    path = begin(w, [1, 2], 2)
    m = asks(w, 'insert-board')
    assert facts(m) == {'board': 1, 'copy': 1, 'copies': 2}, facts(m)
    assert (m['NextBoard'], m['NextCopy']) == (1, 2) and m['JobPath'] == path
    assert 'skip' in m['Keys'] and 'start' not in m['Keys']
    insert(w, 1)
    before, m = m, asks(w, 'press-start')
    assert 'start' in m['Keys'] and before['Question'] != m['Question'] and facts(m)['label'] == 1
    assert call(w, 'Answer', before['Question']) == CHANGED
    assert asks(w, 'press-start')['Question'] == m['Question']
    # the board that somebody has seen is another one now, though it looks the same
    w.take_out('READS')
    insert(w, 1)
    assert asks(w, 'press-start')['Insertion'] == m['Insertion'] + 1
    assert call(w, 'Answer', m['Question']) == CHANGED
    question = answer(w, 'press-start')
    m = asks(w, 'take-out')
    assert call(w, 'Answer', question) == CHANGED
    assert outcome(w, path) == [(1, 1, 'exact')]
    assert 'redeal' in m['Keys'] and 'skip' not in m['Keys'], list(m['Keys'])
    assert (m['NextBoard'], m['NextCopy']) == (1, 2) and m['CardsTotal'] == 52
    # after an emergency stop, an earlier answer does not let the machine go
    question = machine(w)['Question']
    w.object(PATH, 'Machine').Stop()
    assert call(w, 'Answer', question) == CHANGED
    w.object(PATH, 'Machine').Start()
    w.object(path, 'Job').Cancel()


def test_deals_the_board_that_is_in(w):
    path = begin(w, [3, 4, 5])
    asks(w, 'insert-board')
    insert(w, 9)
    m = asks(w, 'number-other')
    assert 'deal-this' not in m['Keys'] and facts(m)['there'] == 9
    assert call(w, 'DealThis', m['Question']) == NOT_ASKED
    w.take_out('READS')
    insert(w, 5)
    m = asks(w, 'number-other')
    assert facts(m) == {'board': 3, 'copy': 1, 'copies': 1, 'there': 5, 'label': 5}, facts(m)
    assert {'deal-this', 'skip'} <= set(m['Keys']) and 'name-board' not in m['Keys']
    assert call(w, 'NameBoard', m['Question'], 5) == NOT_ASKED
    assert call(w, 'DealThis', m['Question'] - 1) == CHANGED
    assert call(w, 'DealThis', m['Question']) is None
    asks(w, 'take-out')
    assert outcome(w, path) == [(5, 1, 'exact')]
    w.take_out('READS')
    assert w.check() >= 1
    # the others follow as if nothing had been
    assert facts(asks(w, 'insert-board'))['board'] == 3
    w.object(path, 'Job').Cancel()


def test_a_board_in_doubt_is_confirmed_first(w):
    """That it is the right one does not say that it is empty."""
    path = begin(w, [6, 7], automatic_start=True)
    w.stop()
    w.tell('READS', 'insert 7')
    w.start()
    wait('the machine', lambda: PATH in w.machines())
    m = asks(w, 'number-other')
    assert call(w, 'DealThis', m['Question']) is None
    m = asks(w, 'confirm-empty')
    assert facts(m)['board'] == 7 and not outcome(w, path)
    answer(w, 'confirm-empty')
    asks(w, 'take-out')
    assert outcome(w, path) == [(7, 1, 'exact')]
    w.object(path, 'Job').Cancel()


def test_an_unread_number_is_typed(w):
    path = begin(w, [8, 10, 11], by_reader=True)
    asks(w, 'insert-any')
    insert(w)
    m = asks(w, 'number-unread')
    assert 'name-board' in m['Keys'] and 'label' not in facts(m)
    assert call(w, 'DealThis', m['Question']) == NOT_ASKED
    assert call(w, 'NameBoard', m['Question'], 9) == NOT_FOUND
    assert call(w, 'NameBoard', m['Question'], 0) == NOT_FOUND
    assert call(w, 'NameBoard', m['Question'], 11) is None
    assert facts(asks(w, 'press-start'))['board'] == 11
    # it holds for this board only
    w.take_out('READS')
    insert(w)
    m = asks(w, 'number-unread')
    assert facts(m)['board'] == 8
    assert call(w, 'NameBoard', m['Question'], 10) is None
    answer(w, 'press-start')
    asks(w, 'take-out')
    assert outcome(w, path) == [(10, 1, 'exact')]
    w.take_out('READS')
    # another job that has no copy of it left
    insert(w)
    m = asks(w, 'number-unread')
    assert call(w, 'NameBoard', m['Question'], 10) == NOT_FOUND
    w.object(path, 'Job').Cancel()


def test_jobs_tell_each_copy(w):
    path = begin(w, [13, 14], 1, descending=True, automatic_start=True)
    job = w.object(path, 'Job')

    def copies():
        return [(int(board), int(copy), int(tries), str(state)) for board, copy, tries, state in job.GetCopies()]
    assert sorted(w.job(path)['Options']) == ['automatic-start', 'descending', 'replay']
    assert list(job.GetBoards()) == [13, 14] and copies() == []
    insert(w, 14)
    asks(w, 'take-out')
    assert copies() == [(14, 1, 1, 'recorded')] and machine(w)['NextBoard'] == 13
    job.Skip(dbus.UInt32(13), dbus.UInt32(1))
    assert copies() == [(13, 1, 0, 'skipped'), (14, 1, 1, 'recorded')]
    # done, and yet another table has come
    assert w.job(path)['State'] == 'done' and w.job(path)['Skipped'] == w.job(path)['Recorded'] == 1
    for wrong in (1, 10000, 0xffffffff):
        assert error_name(job.SetCopies, wrong) == 'org.freedesktop.DBus.Error.InvalidArgs', wrong
    assert error_name(job.SetCopies, 2) is None
    assert w.job(path)['Copies'] == 2 and w.job(path)['State'] == 'open'
    assert (machine(w)['NextBoard'], machine(w)['NextCopy']) == (14, 2)
    w.take_out('READS')
    assert facts(asks(w, 'insert-board')) == {'board': 14, 'copy': 2, 'copies': 2}
    insert(w, 14)
    asks(w, 'take-out')
    assert outcome(w, path) == [(14, 1, 'exact'), (14, 2, 'exact')]
    # a restart forgets nothing of it
    w.stop()
    w.start()
    wait('the machine', lambda: PATH in w.machines() and machine(w)['Present'])
    assert w.job(path)['Copies'] == 2 and w.job(path)['Skipped'] == 1
    job = w.object(path, 'Job')
    assert error_name(job.SetCopies, 0) is None
    assert w.job(path)['Copies'] == 0 and 'copies' not in facts(machine(w))
    assert error_name(job.SetCopies, 9) == 'org.freedesktop.DBus.Error.InvalidArgs'
    job.Cancel()


def test_commands_press_the_keys(w):
    begun = begin(w, [15])
    asks(w, 'insert-board')
    result = w.command('start')
    assert result.returncode == 1 and '0 machines wait for start' in result.stderr, result
    result = w.command('start', '--yes', 'READS')
    assert result.returncode == 1 and 'Put in the empty board 15' in result.stderr, result
    result = w.command('start', 'NOBODY')
    assert result.returncode == 2 and 'no machine NOBODY' in result.stderr, result
    insert(w, 15)
    asks(w, 'press-start')
    # it asks first
    result = w.command('start')
    assert result.returncode == 1 and 'READS: Press start to deal board 15, copy 1. Is that done?' in result.stderr
    assert asks(w, 'press-start')
    assert w.command('start', '--yes').returncode == 0
    asks(w, 'take-out')
    assert outcome(w, begun) == [(15, 1, 'exact')]
    assert w.command('locate', '--seconds', '1').returncode == 0
    result = w.command('release')
    assert result.returncode == 1 and '0 machines hold a board' in result.stderr, result
    w.take_out('READS')
    insert(w)
    result = w.command('test', '--cards', '4')
    assert result.returncode == 1 and 'can make a test deal' in result.stderr, result    # this one cannot
    w.tell('READS', 'remove')


def complete(w, *words):
    """What bash completes the last word to, with an empty folder to look into."""
    folder = w.dir + '/empty'
    os.makedirs(folder, exist_ok=True)
    script = w.command('completion', 'bash').stdout + '\n'.join([
        '', 'dealbox() { "$DEALBOX" "$@"; }', 'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))', '_dealbox',
        'printf "%s\\n" "${COMPREPLY[@]}"'])
    found = subprocess.run(['bash', '-c', script, 'bash', 'dealbox', *words], check=True, capture_output=True,
                           text=True, env={**os.environ, 'DEALBOX': os.path.abspath(w.dealbox)}, cwd=folder).stdout.split()
    assert not os.listdir(folder)
    return found


def deal_at_terminal(w, *options, **environment):
    """All that dealbox deal shows of a board that is dealt and one that is wrong."""
    w.tell('READS', 'remove force')
    w.tell('READS', 'empty')
    w.tell('READS', 'hopper fill')
    wait('the board to be out', lambda: not machine(w)['Insertion'])
    keyboard, terminal = pty.openpty()
    deal = w.spawn([w.dealbox, 'deal', '--session', 'tty', '--boards', '17,18', '--how', 'wait-for-start,replay',
                    *options, w.set_file], stdin=terminal, stdout=terminal, stderr=terminal,
                   env={**os.environ, 'TERM': 'xterm', **environment})
    os.close(terminal)
    os.set_blocking(keyboard, False)
    seen = ['']

    def shows(text):
        try:
            seen[0] += os.read(keyboard, 65536).decode()
        except (BlockingIOError, OSError):
            pass
        return text in seen[0]
    wait('the question', lambda: shows('Put in the empty board 17'))
    assert 'Enter' not in seen[0], seen
    insert(w, 17)
    wait('the question', lambda: shows('Press start to deal board 17, copy 1. [Enter]'))
    w.tell('READS', 'speed 5')
    os.write(keyboard, b'\n')
    wait('the deal', lambda: machine(w)['Cards'] > 9)
    w.tell('READS', 'speed 0')
    asks(w, 'take-out')
    wait('the verdict', lambda: shows('exact duplicate'))
    w.take_out('READS')
    insert(w, 3)
    wait('the other board', lambda: shows('The label says board 3.'))
    deal.send_signal(signal.SIGINT)
    deal.wait()
    shows('')
    os.close(keyboard)
    w.cancel_jobs()
    w.take_out('READS')
    return seen[0]


def test_deal_tells_a_person_how_far_it_is(w):
    """At a terminal: the whole job, and the bell when somebody has to come, but not before."""
    seen = deal_at_terminal(w)
    assert re.search(r'card \d+ of 52; 0 of 2 boards done', seen), seen
    dealt, wrong = seen.split('exact duplicate', 1)
    assert '\a' not in dealt and '\a' in wrong, seen
    # exact is green, and a call for help is yellow
    assert '\033[32mboard 17: exact duplicate' in seen and '\033[33mboard 17: Board' not in dealt, seen
    assert re.search(r'\033\[33m[^\n]*The label says board 3', wrong), seen
    seen = deal_at_terminal(w, NO_COLOR='1')
    assert '\a' in seen and not re.search(r'\033\[\d*m', seen), seen
    seen = deal_at_terminal(w, NO_COLOR='')
    assert '\033[32m' in seen, seen
    # a screen reader reads each line once
    seen = deal_at_terminal(w, '--plain')
    assert 'of 52' not in seen and '\a' not in seen and '\r' not in seen.replace('\r\n', ''), seen
    assert '\033' not in seen, seen


def told_alike(w):
    """The command's own sentence is that of the service; in another language it is another."""
    says = {}
    for words in ((), ('--lang', 'en'), ('--lang', 'nb')):
        result = w.command('status', *words)
        assert result.returncode == 0, result
        says[words[-1:]] = re.search(r'^READS: \S+\n  (.*)$', result.stdout, re.M)[1]
    assert says[()] == says['en',] == machine(w)['Instruction'] != says['nb',], says


def test_deal_and_capture_take_a_language(w):
    """With the service as without it."""
    w.tell('READS', 'remove force')
    wait('the board to be out', lambda: not machine(w)['Insertion'])
    deal = w.begin('deal', '--lang', 'nb', '--session', 'nb', '--boards', '19', '--how', 'wait-for-start,replay', w.set_file)
    until(deal, '^mappe 19: Sett')
    told_alike(w)
    insert(w, 19)
    line = until(deal, 'Trykk').splitlines()[-1]
    assert re.fullmatch(r'mappe 19: Trykk på start .*\. \[Enter\]', line), line
    told_alike(w)
    deal.stdin.write('\n')
    deal.stdin.flush()
    ends(deal, 0, r'mappe 19: nøyaktig kopi \(etter', '(?m)^1 av 1 mapper er nøyaktig kopi; 0 ugyldige og gitt på nytt; ')
    w.take_out('READS')
    deal = w.begin('deal', '--lang', 'fr', '--session', 'fr', '--boards', '19', '--how', 'wait-for-start,replay', w.set_file)
    until(deal, '^étui 19 : Insérez')
    deal.send_signal(signal.SIGINT)
    ends(deal, 130, 'la tâche [0-9]+ du service est suspendue', '`dealbox deal --resume` la continue',
         '(?m)^0 étui sur 1 est une copi.? exacte ; ')
    assert w.command('cancel', str(max(job['Id'] for job in w.objects('Job').values()))).returncode == 0
    for command in ('status', 'watch', 'deal'):
        result = w.command(command, '--lang', 'xx', *([w.set_file] if command == 'deal' else []))
        assert result.returncode == 2 and 'xx' in result.stderr, result


def test_deal_takes_the_answers_of_the_screen(w):
    """Each letter by the method that the page calls; one for another question changes nothing."""
    w.tell('READS', 'remove force')
    w.tell('READS', 'empty')
    w.tell('READS', 'hopper fill')
    wait('the board to be out', lambda: not machine(w)['Insertion'])
    deal = w.begin('deal', '--session', 'keys', '--boards', '1-4', '--how', 'replay', w.set_file)

    def type_in(keys):
        deal.stdin.write(keys)
        deal.stdin.flush()

    def take_out():
        w.take_out('READS')
        w.tell('READS', 'empty')
    until(deal, 'Put in the empty board 1')
    insert(w, 2)
    line = until(deal, 'Board 1 comes next').splitlines()[-1]
    assert line.endswith('[D: Deal board 2 now] [S: Skip board 1]'), line
    type_in('rn')
    type_in('d')
    until(deal, 'board 2: exact duplicate')
    line = until(deal, 'Take it out').splitlines()[-1]
    assert line.endswith('[R: Deal board 2 again]'), line
    path, = [path for path, job in w.objects('Job').items() if job['Session'] == 'keys']
    # what else is typed is no consent
    type_in('rx\n')
    type_in('r\n')
    wait('the record not to count', lambda: not w.objects('Job')[path]['Recorded'])
    until(deal, 'in the machine since')
    take_out()
    until(deal, 'Put in the empty board 1')
    insert(w, 3)
    until(deal, 'Skip board 1')
    type_in('s')
    until(deal, 'Board 2 comes next')
    assert w.objects('Job')[path]['Skipped'] == 1
    take_out()
    until(deal, 'Put in the empty board 2')
    insert(w)
    line = until(deal, 'cannot be read').splitlines()[-1]
    assert line.endswith('[Enter] [N: It has another number]'), line
    # its number is for this board only: it goes out while it is typed
    type_in('n3')
    take_out()
    insert(w)
    until(deal, 'cannot be read')
    type_in('\n')
    type_in('n9\n')
    assert any('no copy of this board' in line for line in deal.stderr)
    assert machine(w)['State'] == 'number-unread', machine(w)['State']
    type_in('n3\n')
    until(deal, 'If it is empty')
    type_in('\n')
    until(deal, 'board 3: exact duplicate')
    assert outcome(w, path) == [(2, 1, 'revoked'), (3, 1, 'exact')], outcome(w, path)
    deal.send_signal(signal.SIGINT)
    deal.wait()
    w.cancel_jobs()
    take_out()


def test_completion_knows_jobs_and_machines(w):
    path = begin(w, [16])
    number = path.rsplit('/', 1)[1]
    assert number in complete(w, 'cancel', ''), complete(w, 'cancel', '')
    for words in (['start', 'R'], ['deal', '--machine', '']):
        assert complete(w, *words) == ['READS'], (words, complete(w, *words))
    assert complete(w, 'deal', '--how', 'rev') == ['reversed-pockets']
    assert 'nb' in complete(w, 'deal', '--lang', '')
    # a machine may say anything of itself, and bash would do it
    w.add_emulator('$(touch${IFS}x)', '--speed', '0', '--manual')
    w.stop()
    w.start()
    wait('both machines', lambda: len(w.machines()) == 2)
    assert complete(w, 'start', '') == ['READS']
    w.object(path, 'Job').Cancel()


def test_places_of_stops(w):
    path = begin(w, [12], 0)
    w.tell('READS', 'inject position 20: misread')
    insert(w, 12)
    wait('the stop', lambda: w.answer() or machine(w)['State'] == 'card-repeated')
    m = machine(w)
    told = facts(m)
    assert told['seat'] in 'NESW' and 1 <= told['depth'] <= 13 and told['cards'] == 52, told
    assert told['suspect'] in ('earlier', 'reader', 'deck') and told['chance'] in range(30, 101, 10), told
    assert 21 <= told['card'] <= 52 and 'copies' not in told and 'place' not in told, told
    assert 'reveal' in m['Keys'] and 'redeal' not in m['Keys']
    told_alike(w)
    assert '  the last stop: ' + m['Diagnosis'] in w.command('status').stdout
    for language, word in ('nb', 'Trolig'), ('el', 'Πιθανόν'), ('fr', 'probablement'), ('ru', 'Вероятно'):
        shown = w.command('status', '--lang', language).stdout
        assert re.search(r'(?m)^  .*%s.*\(%d %%' % (word, told['chance']), shown), shown
        assert 'last stop' not in shown, shown
    w.object(path, 'Job').Cancel()
    path = begin(w, [12], 0)
    w.tell('READS', 'inject position 5: jam gate')
    insert(w, 12)
    wait('the deal', lambda: w.answer() or machine(w)['State'] == 'jam')
    told = facts(machine(w))
    assert told['place'] == 'gate' and told['card'] == 6 and 'code' not in told and 'seat' not in told, told
    told_alike(w)
    wait('the verdict', lambda: w.last_verdict() == {
        'kind': 'string "void"', 'text': 'string "void: jam at card 6, at the gate"', 'reason': 'string "jam"',
        'place': 'string "gate"', 'card': 'uint32 6'})
    w.object(path, 'Job').Cancel()


def test_one_call_is_for_several_machines(w):
    """Each is asked, whatever the others answer; the exit status is that of the worst."""
    both = ['LEFT', 'RIGHT']
    for name in both:
        w.add_emulator(name, '--speed', '0', '--manual', '--capabilities', 'by-card,exit-sensors,board-lock,test-deal')
    w.stop()
    w.start()
    at = '/io/dealbox1/machine/'
    wait('the machines', lambda: all(w.machines().get(at + name, {}).get('Present') for name in both))

    def count(name, word):
        words = w.tell(name, 'status').split()
        return int(words[words.index(word) + 1])
    for name in both:
        w.tell(name, 'insert')
    wait('the locks', lambda: all('test-deal' in w.machines()[at + name]['Keys'] for name in both))
    before = [count(name, 'transfers') for name in both]
    result = w.command('locate', '--seconds', '1', 'LEFT', 'NOBODY', 'RIGHT')
    assert result.returncode == 2 and 'no machine NOBODY' in result.stderr, result
    assert all(count(name, 'transfers') > was for name, was in zip(both, before))
    result = w.command('locate')
    assert result.returncode == 1 and 'name those that are meant' in result.stderr, result
    result = w.command('test', '--cards', '4', *both)
    assert result.returncode == 0 and re.findall(r'^(\w+) deals 4 cards', result.stdout, re.M) == both, result
    wait('the test deals', lambda: all(count(name, 'deals') == 1 for name in both))
    wait('their end', lambda: all(w.machines()[at + name]['State'] == 'used' for name in both))
    for name in both:
        w.tell(name, 'remove force')
        w.tell(name, 'empty')
    path = w.add_job(w.add_set('questions')[0], [20, 21], replay=True, machines=both)
    wait('the question', lambda: all(w.machines()[at + name]['State'] in ('insert-board', 'confirm-empty')
                                     for name in both))
    for name in both:
        w.tell(name, 'insert')
    wait('the keys', lambda: all('start' in w.machines()[at + name]['Keys'] for name in both))
    before = [count(name, 'transfers') for name in both]
    result = w.command('release', *both)
    assert result.returncode == 0, result
    wait('the locks', lambda: not any('release' in w.machines()[at + name]['Keys'] for name in both))
    assert all(count(name, 'transfers') > was for name, was in zip(both, before))
    result = w.command('start', '--yes', 'LEFT', 'READS', 'RIGHT')
    assert result.returncode == 1 and 'READS does not wait for start' in result.stderr, result
    wait('both boards', lambda: w.answer() or w.job(path)['State'] == 'done')
    assert sorted(row[0] for row in outcome(w, path)) == [20, 21], outcome(w, path)


def test_a_machine_that_is_gone_is_status_3(w):
    w.tell('READS', 'unplug')
    wait('the cable', lambda: not machine(w)['Present'])
    for words in ['locate'], ['test', '--cards', '4']:
        result = w.command(*words, 'READS')
        assert result.returncode == 3 and 'not connected' in result.stderr, (words, result)
    w.tell('READS', 'plug')
    wait('the cable', lambda: machine(w)['Present'])


world = World(*sys.argv[1:5])
with tests_in(world) as tap:
    world.start_with('READS', '--speed', '0', '--manual', '--capabilities', 'by-card,exit-sensors,board-reader')
    for test in tests_of(globals()):
        tap.run(test, world)
