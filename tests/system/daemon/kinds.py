# SPDX-License-Identifier: LGPL-2.1-or-later
"""kinds.py DEALBOXD EMULATOR DEALBOX SET: every kind of job, and what can be asked of one (TAP)."""
import contextlib
import os
import random
import re
import signal
import sys

import dbus

from harness import RANKS, SUITS, World, ends, read_pbn, swap_deals, tests_in, tests_of, until, wait

dealboxd, emulator, dealbox, set_file = sys.argv[1:5]
MACHINES = '/io/dealbox1/machine/'
CARDS = [suit + rank for suit in SUITS for rank in RANKS]


def only(w, *serials):
    """From now on these machines are there, and no others."""
    for machine in w.machines().values():
        if machine['Present'] != (machine['Id'] in serials):
            w.tell(machine['Id'], 'plug' if machine['Id'] in serials else 'unplug')
    wait('the cables', lambda: {str(m['Id']) for m in w.machines().values() if m['Present']} == set(serials))


def state(w, serial):
    return w.machines()[MACHINES + serial]['State']


def start(w, serial):
    w.press(MACHINES + serial)


def dealt(w, job):
    """Return the recorded copies: (board, copy), in order."""
    insertions = {r['number']: r for r in w.records() if r['record'] == 'insertion'}
    return [(insertions[r['of']]['board'], insertions[r['of']]['copy']) for r in w.records()
            if r['record'] == 'verdict' and r['outcome'] in ('exact', 'captured') and
            insertions[r['of']]['job'] == int(job.rsplit('/', 1)[1])]


def deal(w, session, boards, copies=1, **options):
    number, _ = w.add_set(session)
    path = w.add_job(number, boards, copies, automatic_start=True, replay=True, **options)
    w.deal(path)
    return dealt(w, path)


def test_copies_in_a_row_sets_in_a_row_descending(w):
    only(w, 'CARDS')
    assert deal(w, 'a', [1, 2], 2) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert deal(w, 'b', [1, 2], 2, sets_in_a_row=True) == [(1, 1), (2, 1), (1, 2), (2, 2)]
    assert deal(w, 'c', [1, 2], 2, descending=True) == [(2, 1), (2, 2), (1, 1), (1, 2)]
    w.check()


def test_reversed_pockets(w):
    """The cards planned for the first pocket are in the last."""
    before = set(w.account())
    assert deal(w, 'reversed', [7], reversed_pockets=True) == [(7, 1)]
    w.tell('CARDS', 'remove')
    lay = wait('the board', lambda: [board for key, board in w.account().items()
                                     if key not in before and board['deals']])[-1]
    assert [set(pocket) for pocket in lay['pockets'][3::-1]] == w.deals[7], lay


def test_priority_puts_a_job_before_another(w):
    only(w)
    number, _ = w.add_set('priority')
    late = w.add_job(number, [3], automatic_start=True, replay=True)
    early = w.add_job(number, [4], automatic_start=True, replay=True, priority=5)
    first = w.add_job(number, [5], automatic_start=True, replay=True)
    w.object(first, 'Job').SetPriority(dbus.Int32(9))
    only(w, 'CARDS')
    w.deal(late)
    order = [r['board'] for r in w.records() if r['record'] == 'insertion'][-3:]
    assert order == [5, 4, 3], order
    assert w.job(first)['State'] == w.job(early)['State'] == 'done'


def test_without_limit_until_it_is_cancelled(w):
    number, _ = w.add_set('unlimited')
    path = w.add_job(number, [1, 2], 0, automatic_start=True, replay=True)
    wait('five boards', lambda: w.answer() or w.job(path)['Recorded'] >= 5)
    assert w.job(path)['State'] == 'open'
    w.object(path, 'Job').Cancel()
    assert w.job(path)['State'] == 'cancelled'
    assert dealt(w, path)[:5] == [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3)]


def test_skip_and_redeal(w):
    only(w)
    number, _ = w.add_set('skip')
    path = w.add_job(number, [1, 2, 3], automatic_start=True, replay=True)
    job = w.object(path, 'Job')
    job.Skip(dbus.UInt32(2), dbus.UInt32(1))
    only(w, 'CARDS')
    w.deal(path)
    assert dealt(w, path) == [(1, 1), (3, 1)], dealt(w, path)
    job.Redeal(dbus.UInt32(3), dbus.UInt32(1))
    wait('the redeal', lambda: w.answer() or dealt(w, path) == [(1, 1), (3, 1), (3, 1)])
    w.deal(path)


def test_a_sorted_deck_is_begun_position(w):
    """On a machine that cannot read; each board waits for somebody to say that the deck is sorted."""
    only(w, 'COUNTS')
    number, _ = w.add_set('sorted')
    path = w.add_job(number, [1], automatic_start=True, replay=True)
    wait('the answer', lambda: state(w, 'COUNTS') == 'machine-unsuited')
    w.object(path, 'Job').Cancel()
    path = w.add_job(number, [1], automatic_start=True, replay=True, by_position=True)
    wait('the question', lambda: state(w, 'COUNTS') == 'insert-board')
    w.tell('COUNTS', 'insert')
    wait('the question', lambda: state(w, 'COUNTS') in ('press-start', 'confirm-empty'))
    start(w, 'COUNTS')
    wait('the deal', lambda: w.job(path)['State'] == 'done')
    w.tell('COUNTS', 'remove')
    assert w.records() and [r for r in w.records() if r['record'] == 'verdict'][-1]['outcome'] == 'exact'
    lay = [board for (serial, _), board in w.account().items() if serial == 'COUNTS'][-1]
    assert [set(pocket) for pocket in lay['pockets'][:4]] == w.deals[1], lay


def feed(w, cards, serial='CARDS'):
    """Cards, put in together, the first on top: the machine does not feed while the cover is open."""
    w.tell(serial, 'cover open')
    for n in reversed(range(0, len(cards), 5)):
        w.tell(serial, 'hopper top ' + ' '.join(cards[n:n + 5]))
    w.tell(serial, 'cover close')


def test_what_was_counted_is_judged_again(w):
    """By its traces and by a certificate: if the deck was sorted, and only where the trace says that it should be."""
    only(w, 'COUNTS')
    club, pc, rr1 = w.tournament()
    w.tell('COUNTS', 'remove')
    feed(w, CARDS, 'COUNTS')
    begun = w.begin('deal', '-m', 'COUNTS', '--how', 'by-position,reversed-pockets', '--boards', '1', '--certify', pc,
                       '--session', 'counted', rr1)
    w.tell('COUNTS', 'insert')
    until(begun, '[Pp]ress start to deal board 1')
    begun.stdin.write('\n')
    begun.stdin.flush()
    ends(begun, 0, 'board 1: exact duplicate .*if the deck was in order')
    job = max(w.objects('Job'), key=lambda path: int(path.rsplit('/')[-1])).rsplit('/', 1)[1]
    file = w.dir + '/counted.trace'
    assert w.command('ledger', 'traces', job, file).returncode == 0
    result = w.command('verify', rr1, file)
    assert result.returncode == 0 and 'cards not read, if the deck was in order' in result.stdout, result
    other = w.dir + '/other1.pbn'
    swap_deals(rr1, other, (1, 2))
    result = w.command('verify', other, file)
    assert result.returncode == 1 and 'not an exact duplicate' in result.stdout, result
    assert w.command('certificate', 'open', pc).returncode == 0
    with open(pc + '/certificates') as text:
        key = re.search(r'^signer (.*)$', text.read(), re.M)[1]
    prove = ['certificate', 'verify', '--pc', key, club + '.manifest', pc + '/certificates', rr1, '--traces']
    result = w.command(*prove, file)
    assert '[rehearsal] rr1 board 1 copy 1' in result.stdout and '[trace' not in result.stdout, result
    # it does not say how the deck should have lain
    with open(file) as text, open(w.dir + '/mute.trace', 'w') as out:
        out.write(text.read().replace('"how":"by-position",', ''))
    result = w.command('verify', rr1, w.dir + '/mute.trace')
    assert result.returncode == 2 and 'does not say that the deck was sorted' in result.stderr and \
        'dealbox ledger traces' in result.stderr and not result.stdout, result
    result = w.command(*prove, w.dir + '/mute.trace')
    assert result.returncode == 1 and 'does not say that their deck was sorted' in result.stdout, result


def test_a_deck_that_is_not_sorted_is_seen_where_the_cards_are_read(w):
    """The machine counts, and reads all the same: what it has read goes before what should have been."""
    only(w, 'CARDS')
    w.tell('CARDS', 'operator on')
    number, _ = w.add_set('unsorted')
    path = w.add_job(number, [2], automatic_start=True, replay=True, by_position=True)
    verdicts = len([r for r in w.records() if r['record'] == 'verdict'])
    wait('the verdict', lambda: w.answer() or len([r for r in w.records() if r['record'] == 'verdict']) > verdicts)
    assert [r for r in w.records() if r['record'] == 'verdict'][-1]['outcome'] == 'differs'
    # what it is based on, and that no card was read, is told of an exact board only
    wait('the signal', lambda: set(w.last_verdict()) == {'kind', 'text', 'count'})
    assert 'board 2, copy 1: not an exact duplicate' in w.log() and w.job(path)['Recorded'] == 0
    assert not re.search('[0-9AKQJTakqjt][♠♥♦♣]', w.log())
    w.object(path, 'Job').Cancel()
    w.tell('CARDS', 'remove')
    w.tell('CARDS', 'empty')
    w.tell('CARDS', 'hopper fill')


def refuses(job, text):
    """No set is made of what was captured, for the reason that is said; and that has no card."""
    try:
        job.MakeSet('copies')
        raise AssertionError('a set was made')
    except dbus.DBusException as error:
        assert error.get_dbus_name() == 'io.dealbox1.Error.BadSet', error
        assert error.get_dbus_message() == text, error


def capture(w, path, hands):
    for n, hand in enumerate(hands):
        wait('the question', lambda: state(w, 'CARDS') == 'capture')
        feed(w, hand)
        wait('pocket %d' % n, lambda: w.job(path)['Recorded'] == n + 1 or
             start(w, 'CARDS'))


def again(w, path, hand):
    """The one pocket that is missing."""
    wait('the question', lambda: state(w, 'CARDS') == 'capture')
    feed(w, hand)
    wait('the pocket', lambda: w.job(path)['State'] == 'done' or start(w, 'CARDS'))


def original(w, number):
    """Start a capture of that board, which is in the machine; return the path of its job."""
    only(w, 'CARDS')
    w.tell('CARDS', 'operator off')
    w.tell('CARDS', 'remove')
    w.tell('CARDS', 'hopper empty')
    path = str(w.manager().AddCapture(dbus.Array([number], signature='u'), dbus.Dictionary({}, signature='sv')))
    wait('the question', lambda: state(w, 'CARDS') == 'capture')
    w.tell('CARDS', 'insert')
    return path


def test_an_original_is_captured_and_copied(w):
    path = original(w, 9)
    job = w.object(path, 'Job')
    cards = list(CARDS)
    random.Random(6).shuffle(cards)
    hands = [cards[13 * n:13 * n + 13] for n in range(4)]
    refuses(job, 'board 9: pocket N has not been read yet')
    capture(w, path, hands[:2])
    # what was read is on disk
    refuses(job, 'board 9: pocket S has not been read yet')
    assert w.stop() == 0
    w.start()
    wait('the machine', lambda: w.machines()[MACHINES + 'CARDS']['Present'])
    for n, hand in enumerate(hands[2:], 3):
        wait('the question', lambda: state(w, 'CARDS') == 'capture')
        feed(w, hand)
        wait('pocket %d' % n, lambda: w.job(path)['Recorded'] == n or start(w, 'CARDS'))
    assert w.job(path)['State'] == 'done'
    wait('the end', lambda: state(w, 'CARDS') in ('take-original', 'no-work'))
    job = w.object(path, 'Job')
    number, boards = job.MakeSet('copies')
    assert boards == 1
    # what was read there was not dealt there
    assert w.command('ledger', 'traces', path.rsplit('/', 1)[1], w.dir + '/capture.trace').returncode == 0
    result = w.command('verify', set_file, w.dir + '/capture.trace')
    assert result.returncode == 2 and 'board 9 was read there, and not dealt' in result.stderr, result
    # and its copies are the original, by the machine's own account
    w.deals[9] = [{CARDS.index(card) for card in hand} for hand in hands]
    w.tell('CARDS', 'remove')
    w.tell('CARDS', 'hopper fill')
    w.tell('CARDS', 'operator on')
    copies = w.add_job(number, [9], 2, automatic_start=True)
    w.deal(copies)
    w.tell('CARDS', 'remove')
    done = [board for (serial, _), board in w.account().items()
            if serial == 'CARDS' and board['deals']][-2:]
    for lay in done:
        assert [set(pocket) for pocket in lay['pockets'][:4]] == w.deals[9], lay


def test_says_which_pocket_is_no_part_of_a_deal(w):
    """A card too few, the same card in two pockets; each pocket can be read again."""
    path = original(w, 19)
    job = w.object(path, 'Job')
    cards = list(CARDS)
    random.Random(19).shuffle(cards)
    hands = [cards[13 * n:13 * n + 13] for n in range(4)]
    capture(w, path, hands[:1])
    # a card too few is said at once, and the pocket is asked for again
    wait('the question', lambda: state(w, 'CARDS') == 'capture')
    feed(w, hands[1][1:])
    wait('the verdict', lambda: 'board 19, copy 2: pocket E has 12 cards, not 13' in w.log() or start(w, 'CARDS'))
    assert w.job(path)['Recorded'] == 1
    told = w.last_verdict()
    assert told.pop('text') and told == {'kind': 'string "pocket"', 'seat': 'string "E"', 'count': 'uint32 12',
                                         'expected': 'uint32 13'}, told
    refuses(job, 'board 19: pocket E has not been read yet')
    for n, hand in enumerate([hands[1], hands[2], hands[0][:1] + hands[3][1:]], 2):
        wait('the question', lambda: state(w, 'CARDS') == 'capture')
        feed(w, hand)
        wait('pocket %d' % n, lambda n=n: w.job(path)['Recorded'] == n or start(w, 'CARDS'))
    refuses(job, 'board 19: pockets N and W have the same card; redeal them')
    job.Redeal(dbus.UInt32(19), dbus.UInt32(4))
    again(w, path, hands[3])
    number, boards = job.MakeSet('copies')
    assert boards == 1 and w.manager().GetBoards(number) == [19]


def test_a_board_sorted_by_suits_is_no_original(w):
    path = original(w, 20)
    capture(w, path, [CARDS[13 * n:13 * n + 13] for n in range(4)])
    refuses(w.object(path, 'Job'), 'board 20: it is sorted, nobody dealt it')
    result = w.command('capture', '--resume', w.dir + '/sorted.pbn')
    assert result.returncode == 1 and 'board 20: it is sorted, nobody dealt it' in result.stderr, result
    assert 'memory' not in result.stderr and not os.path.exists(w.dir + '/sorted.pbn'), result


def captured_unseen(w, file):
    """Ends the last capture as one who may not see its cards: the number of its set."""
    before = reveals(w)
    w.deny('io.dealbox1.reveal')
    result = w.command('capture', '--resume', file)
    w.deny('')
    assert result.returncode == 2 and 'may not see its cards' in result.stderr, result
    assert not os.path.exists(file) and reveals(w) == before
    return re.search(r'`dealbox deal --set (\d+) ', result.stderr)[1]


def test_what_was_captured_outlives_the_service(w):
    """Killed when the last pocket is read, before anybody has asked for a set."""
    path = original(w, 21)
    cards = list(CARDS)
    random.Random(21).shuffle(cards)
    hands = [cards[13 * n:13 * n + 13] for n in range(4)]
    capture(w, path, hands)
    w.stop(signal.SIGKILL)
    w.start()
    assert w.job(path)['State'] == 'done' and w.job(path)['Set'] == 0, w.objects('Job')
    wait('the machine', lambda: w.machines()[MACHINES + 'CARDS']['Present'])
    w.deals[21] = [{CARDS.index(card) for card in hand} for hand in hands]
    file, before = w.dir + '/outlived.pbn', reveals(w)
    number = captured_unseen(w, file)
    # once more, with the set made and its file not written
    w.stop(signal.SIGKILL)
    w.start()
    wait('the machine', lambda: w.machines()[MACHINES + 'CARDS']['Present'])
    assert w.manager().GetBoards(dbus.UInt64(int(number))) == [21]
    result = w.command('capture', '--resume', file)
    assert result.returncode == 0 and reveals(w) == before + 1, result
    assert read_pbn(file)[21] == w.deals[21]
    w.tell('CARDS', 'remove')
    w.tell('CARDS', 'hopper fill')
    w.tell('CARDS', 'operator on')
    done = set(w.account())
    ends(w.begin('deal', '--set', number), 0, 'board 21: exact', '1 of 1 boards')
    w.tell('CARDS', 'remove')
    lay, = [board for key, board in w.account().items() if key not in done and board['deals']]
    assert [set(pocket) for pocket in lay['pockets'][:4]] == w.deals[21], lay


def capture_by_command(w, process, hands, first=0):
    """Puts in a pocket's cards and presses Enter, as often as it takes for the machine to know that they are there."""
    job = max(w.objects('Job'), key=lambda path: int(path.rsplit('/')[-1]))
    for n, hand in enumerate(hands, first):
        wait('the question', lambda: state(w, 'CARDS') == 'capture')
        feed(w, hand)

        def read(n=n):
            if w.job(job)['Recorded'] == n + 1:
                return True
            with contextlib.suppress(BrokenPipeError):      # it has its last pocket, and is gone
                process.stdin.write('\n')
                process.stdin.flush()
            return False
        wait('pocket %d' % n, read)


def reveals(w):
    return len([r for r in w.records() if r['record'] == 'act' and r['act'] == 'reveal'])


def test_capture_goes_by_the_service(w):
    """Held by Ctrl-C, gone on with; the file has the original, and its cards went over the bus to nobody."""
    only(w, 'CARDS')
    w.tell('CARDS', 'operator off')
    w.tell('CARDS', 'remove')
    w.tell('CARDS', 'hopper empty')
    file, jobs = w.dir + '/original.pbn', set(w.objects('Job'))
    result = w.command('capture', set_file)
    assert result.returncode == 2 and 'there is such a file already' in result.stderr, result
    result = w.command('capture', '-m', 'NOBODY', file)
    assert result.returncode == 3 and 'has no machine NOBODY now' in result.stderr, result
    assert set(w.objects('Job')) == jobs
    cards = list(CARDS)
    random.Random(8).shuffle(cards)
    hands = [cards[13 * n:13 * n + 13] for n in range(4)]
    begun = w.begin('capture', '--board', '11', file)
    until(begun, r'board 11, pocket N: Reading board 11: .* put the cards of pocket North')
    w.tell('CARDS', 'insert')
    capture_by_command(w, begun, hands[:2])
    until(begun, 'board 11, pocket E: read: 13 cards')
    begun.send_signal(signal.SIGINT)
    ends(begun, 130, r'job \d+ of the service is paused', '`dealbox capture --resume FILE` continues it')
    # a capture is no deal to be gone on with
    result = w.command('deal', '--resume')
    assert result.returncode == 2 and 'no job of the service is paused' in result.stderr, result
    begun = w.begin('capture', '--resume', file)
    until(begun, 'board 11, pocket S: Reading board 11')
    capture_by_command(w, begun, hands[2:], 2)
    before = reveals(w)
    ends(begun, 0, r'board 11 is in .*original\.pbn; `dealbox deal --copies N .*original.pbn` makes exact copies')
    assert reveals(w) in (before, before + 1) and reveals(w), 'it is not recorded that cards were shown'
    w.deals[11] = [{CARDS.index(card) for card in hand} for hand in hands]
    assert read_pbn(file)[11] == w.deals[11]
    with open(file) as text:
        deal = re.search(r'\[Deal "(.*)"\]', text.read())[1]
    assert deal[2:].split()[0] not in w.traffic()


def test_who_may_not_see_cards_deals_copies_all_the_same(w):
    number = captured_unseen(w, w.dir + '/secret.pbn')
    for words, text in [(['--set', '999999'], 'there is no set 999999'), (['--set', number, set_file], 'no file'),
                        (['--set', number, '--boards', '12'], 'board 12'), (['--set', number, '--resume'], '--resume')]:
        result = w.command('deal', *words)
        assert result.returncode == 2 and text in result.stderr, (words, result)
    w.tell('CARDS', 'remove')
    w.tell('CARDS', 'hopper fill')
    w.tell('CARDS', 'operator on')
    done = set(w.account())
    ends(w.begin('deal', '--set', number, '--copies', '2'), 0, 'board 11, copy 2: exact', '2 of 2 boards')
    w.tell('CARDS', 'remove')
    lay = [board for key, board in w.account().items() if key not in done and board['deals']]
    assert len(lay) == 2
    for board in lay:
        assert [set(pocket) for pocket in board['pockets'][:4]] == w.deals[11], board


def test_the_last_jobs_that_are_over_are_there_after_a_start(w):
    """However many there were; a board can be dealt again. What is open is not among those that are left out."""
    only(w)
    number, _ = w.add_set('over')
    path = w.add_job(number, [5], automatic_start=True, replay=True)
    for _ in range(66):
        w.object(w.add_job(number, [6], replay=True), 'Job').Cancel()
    only(w, 'CARDS')
    w.deal(path)
    only(w)
    still = w.add_job(number, [7], automatic_start=True, replay=True)
    for _ in range(63):
        w.object(w.add_job(number, [6], replay=True), 'Job').Cancel()
    before = sorted(w.objects('Job'), key=lambda path: int(path.rsplit('/')[-1]))
    assert w.stop() == 0
    w.start()
    over = [job for job, of in w.objects('Job').items() if of['State'] in ('done', 'cancelled')]
    assert sorted(over, key=lambda path: int(path.rsplit('/')[-1])) == \
        [job for job in before if job != still][-64:], over
    assert w.job(still)['State'] == 'open' and path not in over
    # a machine that was not there at the start is not known yet
    w.tell('CARDS', 'plug')
    w.deal(still)


def test_a_board_is_dealt_again_after_a_start(w):
    only(w, 'CARDS')
    number, _ = w.add_set('again')
    path = w.add_job(number, [6], automatic_start=True, replay=True)
    w.deal(path)
    assert w.stop() == 0
    w.start()
    assert w.job(path)['State'] == 'done' and w.job(path)['Recorded'] == 1, w.job(path)
    w.object(path, 'Job').Redeal(dbus.UInt32(6), dbus.UInt32(1))
    w.deal(path)
    assert dealt(w, path) == [(6, 1), (6, 1)]


def test_a_shuffled_pack_is_not_dealt_by_the_service(w):
    """It does not judge; a program that was killed leaves such a job in the ledger."""
    assert w.stop() == 0
    w.add_emulator('TABLE', '--manual', '--capabilities', 'by-position,exit-sensors,keys')
    running = w.begin('deal', '--law', 'rubber', '-m', 'emu:%s/TABLE' % w.dir, '--ledger', w.ledger)
    # where the record is, and what the operator does
    assert running.stdout.readline() and running.stdout.readline()
    running.kill()
    running.wait()
    w.start()
    listed = w.dealbox_ledger('list').stdout.splitlines()[-1]
    assert ', rubber, N deals' in listed and ' open ' in listed, listed
    assert not w.job('/io/dealbox1/job/' + listed.split()[1])


def test_the_machine_signs_what_it_deals(w):
    """Its word is in the record and in the certificates; the nonce is for those who know the deal."""
    only(w, 'CARDS')
    w.tell('CARDS', 'operator on')
    _, pc, rr1 = w.tournament('signed')
    ends(w.begin('deal', '-m', 'CARDS', '--certify', pc, '--session', 'signed', '--how', 'replay', rr1), 0,
         '2 of 2 boards')
    w.tell('CARDS', 'operator off')
    with open(pc + '/certificates') as file:
        text = file.read()
    signed = re.findall(r'^by emulator\n(?:.*\n)*?insertion (.*)[\n]number (.*)\nkey (\w{64})\nstatement (\w{192})\n'
                        r'attestation (\w{128})\nnonce \w{64}$', text, re.M)
    assert len(signed) == text.count('dealbox certificate 2\n') == 2, text
    records = [r for r in w.records() if r['record'] == 'attestation'][-2:]
    assert [(r['key'], r['statement'], r['signature']) for r in records] == [one[2:] for one in signed], records
    job = max(w.objects('Job'), key=lambda path: int(path.rsplit('/')[-1]))
    salt, plan = [dbus.Array(bytes([n] * 32), signature='y') for n in (1, 2)]
    # deals cannot be tried one after the other
    for name in 20 * ['AccessDenied'] + ['LimitsExceeded']:
        try:
            w.object(job, 'Job').GetAttestation('CARDS', dbus.UInt32(int(signed[0][0])), salt, plan)
            raise AssertionError('the nonce was given to somebody who does not know the deal')
        except dbus.DBusException as error:
            assert error.get_dbus_name().endswith(name), error


def test_ledger_is_sound(w):
    result = w.dealbox_ledger('verify')
    assert result.returncode == 0, result


world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    with open(world.dir + '/sorted', 'w') as deck:
        deck.write(' '.join(CARDS) + '\n')
    world.add_emulator('CARDS', '--speed', '0', '--packs', '2', '--capabilities',
                       'attest,by-card,by-position,capture,exit-sensors,face-sensor,keys')
    world.add_emulator('COUNTS', '--speed', '0', '--reader', 'none', '--deck', world.dir + '/sorted',
                       '--manual', '--capabilities', 'by-position,exit-sensors,keys')
    world.start()
    wait('the machines', lambda: len(world.machines()) == 2)
    for test in tests_of(globals()):
        tap.run(test, world)
        world.cancel_jobs()
