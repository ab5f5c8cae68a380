# SPDX-License-Identifier: LGPL-2.1-or-later
"""errors.py DEALBOXD EMULATOR DEALBOX SET: what an operator can meet, row by row (TAP).

Each row is brought about at the machine; the service shows its state and instruction; the
operator does what the instruction says, and nothing else; the board is dealt exactly.
"""
import os
import re
import signal
import sys

import dbus

from harness import RANKS, SUITS, World, tests_in, tests_of, wait

dealboxd, emulator, dealbox, set_file = sys.argv[1:5]
PATH = '/io/dealbox1/machine/FIRST'
CARDS = {suit + rank for suit in SUITS for rank in RANKS}
VOID = ['remove', 'empty', 'insert', 'START']   # take it out, empty it, all cards back, put it in again
sessions = 0

# what happens; the state; words of the instruction; what the operator does; options of the job
ROWS = {
    'E1 and E15 the cable is pulled': (
        'position 20: unplug', 'machine-absent', 'Look whether it is switched on',
        ['plug', 'WAIT in-doubt|used', 'remove', 'empty', 'insert', 'START'], {}),
    'E2 E2c unreadable, also when it is read again': (
        'position 9 times 2: unreadable', 'card-unreadable', 'Clean the card, or turn it end to end', ['START'], {}),
    'E2 unreadable once': ('position 9: unreadable', None, '', [], {}),
    'E2a face up': ('position 9: face-up', 'card-face-up', 'Turn the card face down', ['clean-card', 'START'], {}),
    'E2b a joker': ('position 9: extra joker1', 'card-not-in-plan', 'Take it out', ['take-card', 'START'], {}),
    'E3 two of the same': ('position 20: repeat', 'card-repeated', ' from the top. The board is void', VOID, {}),
    'E4 one read as another': ('position 20: misread', 'card-repeated', 'Turn the deck round', VOID, {}),
    'E5 a card is missing': ('position 20: missing', 'deck-short', 'came unseen with another', VOID, {}),
    'E6 the stop card': (
        'position 0: extra joker1', 'stop-card', 'Take it out of the reader', ['take-card', 'START'],
        {'stop_card': True}),
    'E5 E6 the stop card comes too early': (
        'position 30: extra joker1', 'deck-wrong', 'Count this deck', VOID, {'stop_card': True}),
    'E7 wrong pocket': ('position 7: wrong-pocket', 'wrong-pocket', 'clean the gates', VOID, {}),
    'E8 no card comes': ('position 7: feed-timeout', 'feed-timeout', 'clean the feed roller', ['START'], {}),
    'E6 E8 two cards at once': ('position 7: double-feed', 'double-feed', 'Separate the cards', VOID, {}),
    'E9 a jam': (
        'position 7: jam gate', 'jam', 'This was at card 8 of 52. It is stuck at the gate.',
        ['cover open', 'empty', 'cover close', 'remove', 'empty', 'insert', 'START'], {}),
    'E10 the board is pulled': (
        'position 7: pull', 'board-pulled', 'The board was taken out', ['empty', 'insert', 'START'], {}),
    'E12 E15 the power is gone': (
        'position 20: power-cycle 200', 'in-doubt', 'Nobody knows what lies in this board', VOID, {}),
    'the cover is opened': (
        'position 7: cover open', 'cover-open|cover-opened', 'Close', ['cover close'] + VOID, {}),
    'the firmware restarts': ('position 7: reset', 'in-doubt', 'Nobody knows', VOID, {}),
    'a stop behind the last card': ('on event DEAL_DONE: hardware 5', 'hardware', 'is void', VOID, {}),
    'a fault of the machine': ('position 7: hardware 5', 'hardware', 'The machine gives code 5.', VOID, {}),
}


def state(w):
    return w.machines()[PATH]['State']


def see(w, states):
    return wait('%s, not %s' % (states, state(w)), lambda: state(w) in states.split('|'))


def start_machine(w):
    """One whole deck, and no card more."""
    w.machine = w.add_emulator('FIRST', '--speed', '0', '--manual', '--packs', '1', '--capabilities',
                               'by-card,exit-sensors,face-sensor,double-feed-sensor,keys')


def fresh(w):
    """An empty machine, all cards in its hopper."""
    if w.surplus:
        w.machine.kill()
        w.machine.wait()
        wait('the machine to go', lambda: not w.machines()[PATH]['Present'])
        os.unlink(w.emulators.pop())
        start_machine(w)
    w.surplus = False
    w.tell('FIRST', 'plug')
    w.tell('FIRST', 'cover close')
    wait('the machine', lambda: w.machines()[PATH]['Present'])
    w.tell('FIRST', 'remove')
    w.tell('FIRST', 'empty')
    w.tell('FIRST', 'hopper fill')
    wait('an empty place', lambda: not w.machines()[PATH]['Insertion'])


def new_job(w, boards=(1,), **options):
    global sessions
    sessions += 1
    number, _ = w.add_set('row %d' % sessions)
    return w.add_job(number, list(boards), automatic_start=True, replay=True, **options)


def act(w, way):
    for step in way:
        if step.startswith('WAIT '):
            see(w, step[5:])
        elif step == 'START':
            wait('to be asked', lambda: w.machines()[PATH]['State'] not in ('none', 'insert-board'))
            w.press(PATH)
        else:
            w.tell('FIRST', step)


def to_the_end(w, path):
    """He answers what he is asked about the next board; nothing else."""
    def done():
        if state(w) in ('confirm-empty', 'press-start'):
            w.press(PATH)
        return w.job(path)['State'] == 'done'
    wait('the end, not %s' % state(w), done)
    assert w.job(path)['Recorded'] == 1, w.job(path)
    w.tell('FIRST', 'remove')
    w.check()


def one_row(w, rule, states, words, way, options):
    fresh(w)
    w.surplus = 'extra' in rule or 'repeat' in rule
    path = new_job(w, **options)
    w.tell('FIRST', 'inject ' + rule)
    see(w, 'insert-board|deck-short|card-repeated|double-feed|jam|wrong-pocket|board-pulled|in-doubt|cover-opened|'
        'hardware|deck-wrong|differs|aborted')
    w.tell('FIRST', 'insert')
    wait('the board', lambda: w.machines()[PATH]['Insertion'] or state(w) == 'machine-absent' or
         state(w) == 'board-pulled' or w.job(path)['State'] == 'done')
    if state(w) == 'confirm-empty':
        w.press(PATH)
    if states:
        see(w, states)
        assert words in w.machines()[PATH]['Instruction'], w.machines()[PATH]['Instruction']
    act(w, way)
    to_the_end(w, path)


def cards_are_named_to_whom_may_see_them(w, rule, states, public, way):
    """The diagnosis has no card; Reveal has, and the ledger knows who asked."""
    fresh(w)
    w.surplus = 'extra' in rule
    path = new_job(w)
    w.tell('FIRST', 'inject ' + rule)
    w.tell('FIRST', 'insert')
    wait('the board', lambda: w.machines()[PATH]['Insertion'])
    if state(w) == 'confirm-empty':
        w.press(PATH)
    see(w, states)
    machine = w.machines()[PATH]
    assert re.search(public, machine['Diagnosis']), machine['Diagnosis']
    assert not set(re.findall(r'\b\w+\b', machine['Diagnosis'])) & CARDS, machine['Diagnosis']
    shown = w.command('status').stdout
    assert '  the last stop: ' + machine['Diagnosis'] + '\n' in shown, shown
    w.deny('io.dealbox1.reveal')
    try:
        w.object(PATH, 'Machine').Reveal()
        raise AssertionError('revealed')
    except dbus.DBusException as error:
        assert error.get_dbus_name().endswith('AccessDenied'), error
    finally:
        w.deny('')
    text = w.object(PATH, 'Machine').Reveal()
    act(w, way)
    to_the_end(w, path)
    return text


def test_missing_cards_are_named_to_whom_may_see_them(w):
    text = cards_are_named_to_whom_may_see_them(
        w, 'position 20: missing', 'deck-short', r'^1 card of the deal has not come', VOID)
    assert len(set(re.findall(r'\b\w+\b', text)) & CARDS) == 1, text


def test_surplus_cards_are_named_to_whom_may_see_them(w):
    text = cards_are_named_to_whom_may_see_them(
        w, 'position 9: extra joker1', 'card-not-in-plan', r'^card 10 does not belong to the deal',
        ['take-card', 'START'])
    assert 'joker 1' in text, text


def test_where_it_stopped_is_told(w):
    """The place of a jam, the maker's code of a fault: of the rows above."""
    for text in ('void: jam at card 8, at the gate', r'void: hardware fault.*, code 5'):
        assert re.search(text, w.log()), w.log()


def test_machine_that_stands_still(w):
    """The protocol gives it five seconds for a card; it answers, and no card moves."""
    fresh(w)
    path = new_job(w)
    see(w, 'insert-board')
    w.tell('FIRST', 'inject position 20: freeze')
    w.tell('FIRST', 'insert')
    see(w, 'machine-silent')
    w.tell('FIRST', 'thaw')
    to_the_end(w, path)
    assert w.job(path)['Void'] == 0, w.log()


def test_hopper_that_is_empty(w):
    """E5, before anything is dealt."""
    fresh(w)
    path = new_job(w)
    w.tell('FIRST', 'hopper empty')
    w.tell('FIRST', 'insert')
    see(w, 'hopper-empty')
    w.tell('FIRST', 'hopper fill')
    to_the_end(w, path)


def test_board_that_was_dealt_stays_in(w):
    """E10, E12: the next board is not dealt into it."""
    fresh(w)
    path = new_job(w, [1, 2])
    w.tell('FIRST', 'insert')
    wait('board 1', lambda: w.answer() or w.job(path)['Recorded'] == 1)
    see(w, 'take-out')
    w.press(PATH)
    assert state(w) == 'take-out' and w.job(path)['Recorded'] == 1
    w.object(path, 'Job').Cancel()


def test_machine_that_forgets_what_it_dealt_into(w):
    """The ledger has the insertion, the machine says that it is unused, and somebody presses start."""
    fresh(w)
    path = new_job(w)
    w.tell('FIRST', 'inject position 5: freeze')
    w.tell('FIRST', 'insert')
    wait('the board', lambda: w.answer() or w.machines()[PATH]['Dealing'])
    w.tell('FIRST', 'wait frozen')
    w.stop(signal.SIGKILL)
    w.tell('FIRST', 'thaw')
    w.tell('FIRST', 'inject always on request GET_STATUS: set 2 05')
    begun = [r for r in w.records() if r['record'] == 'insertion']
    w.start()
    wait('the machine', lambda: w.machines().get(PATH, {}).get('Insertion'))
    see(w, 'confirm-empty')
    w.press(PATH)
    see(w, 'used')
    assert [r for r in w.records() if r['record'] == 'insertion'] == begun
    # the rule does not end: fresh() takes another emulator
    w.surplus = True
    w.object(path, 'Job').Cancel()
    w.tell('FIRST', 'remove')
    w.check()


def test_stop_when_the_board_is_recorded(w):
    """It does not count any more; nothing but what the operator does clears the fault."""
    fresh(w)
    path = new_job(w)
    w.tell('FIRST', 'insert')
    wait('board 1', lambda: w.answer() or w.job(path)['Recorded'] == 1)
    w.tell('FIRST', 'break 5')
    see(w, 'hardware')
    assert w.job(path)['Recorded'] == 0 and w.job(path)['State'] == 'open', w.job(path)
    assert ' FAULT ' in w.tell('FIRST', 'status'), w.tell('FIRST', 'status')
    act(w, VOID)
    to_the_end(w, path)


def test_the_end_of_a_deal_is_on_its_way(w):
    """Stop is pressed when the last card has fallen, and its event has not come yet: nothing is in doubt."""
    fresh(w)
    path = new_job(w)
    w.tell('FIRST', 'inject on event DEAL_DONE: delay 500')
    see(w, 'insert-board')
    w.tell('FIRST', 'insert')
    w.tell('FIRST', 'wait state DONE')
    w.object(PATH, 'Machine').Pause()
    to_the_end(w, path)
    assert w.job(path)['Void'] == 0, w.log()
    w.press(PATH)


def test_files_that_cannot_be_used(w):
    """E13 a placeholder, E14 a file of another session, E17 a file that is none."""
    def refusal(text, call=None):
        bad = w.dir + '/bad.pbn'
        with open(bad, 'w') as file:
            file.write(text)
        try:
            w.add_set('files', bad)
        except dbus.DBusException as error:
            return error.get_dbus_name(), error.get_dbus_message()
        return None, None
    name, text = refusal('[Board "1"]\n[Deal "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"]\n')
    assert name == 'io.dealbox1.Error.BadSet' and 'board 1' in text and 'sorted' in text, (name, text)
    name, text = refusal('this is no deal')
    assert name == 'io.dealbox1.Error.BadSet', (name, text)
    number, _ = w.add_set('another session')
    try:
        w.add_job(number, [1])
        raise AssertionError('dealt again')
    except dbus.DBusException as error:
        text = error.get_dbus_message()
        assert error.get_dbus_name() == 'io.dealbox1.Error.Repeat' and 'Law 6D2' in text, error
        # which one is not said: who tries out many deals would know what lies in a board
        assert 'for the session' in text and not re.search('board|[0-9]', re.sub("'.*'|6D2", '', text)), error


def test_every_row_of_the_list_is_brought_about(w):
    """All but E16: a machine must become slower for it, as it does in tests/unit/test_engine.c."""
    shown = ' '.join(list(ROWS) + [test.__doc__ or '' for test in tests_of(globals())])
    lacking = {'E%d' % n for n in range(1, 18)} | {'E2a', 'E2b', 'E2c'}
    lacking -= set(re.findall(r'\bE\d+[a-c]?\b', shown))
    assert not lacking, lacking


def test_a_machine_that_is_new(w):
    """machine-new: it gets no plan, whatever its own keys say, until somebody has accepted it."""
    w.new = 'ask'
    w.add_emulator('NEW', '--speed', '0', '--manual', '--packs', '6')
    w.tell('FIRST', 'unplug')
    w.write_config()
    w.daemon.send_signal(1)
    new = '/io/dealbox1/machine/NEW'
    path = new_job(w, [1])

    def seen(wanted):
        wait(wanted, lambda: w.machines().get(new, {}).get('State') == wanted)
    seen('machine-new')
    assert 'dealbox accept' in w.machines()[new]['Instruction']
    w.tell('NEW', 'insert')
    w.tell('NEW', 'key start')
    w.press(new)
    seen('machine-new')
    status = w.tell('NEW', 'status')
    assert w.machines()[new]['Job'] == 0 and not [r for r in w.records() if r.get('machine') == 'NEW'], status
    # not everybody may say so
    w.deny('io.dealbox1.manage')
    result = w.command('accept', 'NEW')
    assert result.returncode == 2 and 'may not' in result.stderr, result
    w.deny('')
    result = w.command('accept', 'OTHER')
    assert result.returncode == 2 and 'knows no machine OTHER' in result.stderr, result
    result = w.command('accept')
    assert result.returncode == 0 and result.stdout.startswith('NEW: dealbox emulator'), result
    acts = [r for r in w.records() if r['record'] == 'act' and r['act'] == 'accept']
    assert [(r['machine'], r['uid']) for r in acts] == [('NEW', os.getuid())], acts
    wait('the board', lambda: w.answer() or w.job(path)['State'] == 'done')
    result = w.command('accept')
    assert result.returncode == 1 and '0 machines are new' in result.stderr, result
    # it is remembered
    w.stop()
    w.start()
    wait('the machine', lambda: new in w.machines() and w.machines()[new]['Present'])
    wait('its state', lambda: w.machines()[new]['State'])
    assert w.machines()[new]['State'] != 'machine-new', w.machines()
    w.tell('NEW', 'remove')
    w.tell('NEW', 'unplug')
    w.emulators.remove(w.dir + '/NEW')
    w.tell('FIRST', 'plug')
    w.new = 'accept'
    w.write_config()
    w.daemon.send_signal(1)
    wait('the other', lambda: w.machines().get(PATH, {}).get('Present'))


def test_operators_are_told_in_their_language(w):
    fresh(w)
    new_job(w, [3])
    see(w, 'insert-board')

    def told(settings, words):
        w.write_config(settings)
        w.daemon.send_signal(1)
        wait(words, lambda: words in w.machines()[PATH]['Instruction'])
    told('[operators]\nlanguage = nb\n', 'Sett inn den tomme mappen 3, kopi 1.')
    told('[operators]\nlanguage = ru\n', 'Вставьте пустую доску 3, копия 1.')
    told('', 'Put in the empty board 3, copy 1.')
    assert 'Sett inn' not in w.log(), w.log()


def test_board_numbers(w):
    """E11: not readable, and another than the one that was expected."""
    w.tell('FIRST', 'remove')
    w.tell('FIRST', 'unplug')
    w.add_emulator('READER', '--speed', '0', '--manual', '--packs', '6', '--capabilities',
                   'by-card,exit-sensors,board-reader')
    w.write_config()
    w.daemon.send_signal(1)
    reader = '/io/dealbox1/machine/READER'

    def seen(wanted):
        wait(wanted, lambda: w.machines().get(reader, {}).get('State') == wanted)
    path = new_job(w, [1, 2], by_reader=True)
    seen('insert-any')
    w.tell('READER', 'insert')
    seen('number-unread')
    w.tell('READER', 'remove')
    seen('insert-any')
    # .. or somebody says which it is
    w.tell('READER', 'insert')
    seen('number-unread')
    assert 'if it is board 1, press start' in w.machines()[reader]['Instruction'], w.machines()[reader]
    w.press(reader)
    wait('board 1', lambda: w.answer() or w.job(path)['Recorded'] == 1)
    w.object(path, 'Job').Cancel()
    w.tell('READER', 'remove')
    path = new_job(w, [2])
    seen('insert-board')
    w.tell('READER', 'insert')
    seen('number-unread')
    w.tell('READER', 'remove')
    w.object(path, 'Job').Cancel()
    path = new_job(w, [1, 2])
    seen('insert-board')
    w.tell('READER', 'insert 2')
    seen('number-other')
    # .. or it is skipped, as the instruction says
    assert 'or skip board 1. The label says board 2.' in w.machines()[reader]['Instruction'], w.machines()[reader]
    w.object(path, 'Job').Skip(dbus.UInt32(1), dbus.UInt32(1))
    wait('board 2', lambda: w.job(path)['Recorded'] == 1)
    w.tell('READER', 'remove')
    w.check()


def begin(w):
    w.surplus = False
    w.new = 'accept'
    start_machine(w)
    w.start()
    wait('the machine', w.machines)


world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    begin(world)
    tests = [(one_row, 'row: ' + name, row) for name, row in ROWS.items()]
    tests += [(test, None, ()) for test in tests_of(globals())]
    for test, name, args in tests:
        failed = tap.failed
        tap.run(test, world, *args, name=name)
        world.cancel_jobs()
        if tap.failed > failed:
            world.begin_anew()
            begin(world)
