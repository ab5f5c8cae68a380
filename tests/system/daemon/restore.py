# SPDX-License-Identifier: LGPL-2.1-or-later
"""restore.py DEALBOXD EMULATOR DEALBOX SET: ledgers that are older than they were, and other PCs (TAP)."""
import os
import shutil
import signal
import sys

import dbus

from harness import World, tests_in, tests_of, wait

dealboxd, emulator, dealbox, set_file = sys.argv[1:5]
BOARDS = [1, 2, 3, 4]


def recorded(w):
    return [r['of'] for r in w.records() if r['record'] == 'verdict' and r['outcome'] == 'exact']


def deal_some(w, path, count):
    """So many boards more are recorded. It is a job that does not end meanwhile."""
    count += w.job(path)['Recorded']
    wait('boards', lambda: w.answer() or w.job(path)['Recorded'] >= count)


def refused(w, words):
    try:
        w.start()
    except RuntimeError:
        assert words in w.log().splitlines()[-1], w.log()[-500:]
        return
    raise AssertionError('it goes on')


def acts(w, kind):
    return [r for r in w.records() if r['record'] == 'act' and r['act'] == kind]


def states(w):
    return {m['State'] for m in w.machines().values()}


def test_an_older_ledger_is_refused_until_the_director_accepts_it(w):
    number, _ = w.add_set('monday')
    path = w.add_job(number, BOARDS, 0, automatic_start=True)
    deal_some(w, path, 1)
    assert w.dealbox_ledger('backup', w.dir + '/old').returncode == 0
    old = len(recorded(w))
    deal_some(w, path, 2)
    # while it runs nobody else can go on with it
    result = w.dealbox_ledger('accept-restore')
    assert result.returncode == 2 and 'another program writes' in result.stderr, result
    w.stop(signal.SIGKILL)
    new = w.ledger + '.newest'
    for name in os.listdir(w.dir):
        if name in ('ledger', 'ledger-wal'):
            shutil.move(w.dir + '/' + name, new + name[6:])
    if os.path.exists(w.ledger + '-shm'):
        os.unlink(w.ledger + '-shm')
    shutil.copy(w.dir + '/old', w.ledger)
    refused(w, 'accept-restore')
    result = w.dealbox_ledger('verify')
    assert result.returncode == 1 and 'its end was cut off' in result.stderr, result
    result = w.dealbox_ledger('accept-restore')
    assert result.returncode == 0 and 'boards of open jobs are in doubt' in result.stdout, result
    assert [r['uid'] for r in acts(w, 'restore')] == [login()]
    result = w.dealbox_ledger('accept-restore')
    assert result.returncode == 1 and 'nothing to accept' in result.stderr, result
    w.start()
    wait('the machine', lambda: states(w))
    # nothing is dealt by itself
    assert w.job(path)['State'] == 'paused' and 1 <= w.job(path)['Recorded'] <= old, w.job(path)
    w.object(path, 'Job').Resume()
    wait('the question', lambda: states(w) & {'confirm-empty', 'used'})
    deal_some(w, path, 2)
    assert w.dealbox_ledger('verify').returncode == 0
    w.object(path, 'Job').Cancel()
    # the verdict on the board that was being dealt, after which the WAL is written into the file
    wait('the machine to rest', lambda: states(w) == {'no-work'})


def login():
    with open('/proc/self/loginuid') as file:
        uid = int(file.read())
    return os.getuid() if uid == 0xffffffff else uid


def test_a_ledger_whose_wal_is_gone(w):
    """kill -9, and the file beside the ledger is removed: what it held is not dealt again."""
    number, _ = w.add_set('tuesday')
    w.stop(signal.SIGKILL)
    os.unlink(w.ledger + '-wal')
    os.unlink(w.ledger + '-shm')
    refused(w, 'its end is gone')
    assert w.dealbox_ledger('accept-restore').returncode == 0
    w.start()
    assert number not in [r['number'] for r in w.records() if r['record'] == 'set']


def test_the_file_alone_has_every_board(w):
    """.. that is recorded: `cp` of it while the service runs is a good copy."""
    number, _ = w.add_set('wednesday')
    path = w.add_job(number, BOARDS, automatic_start=True, replay=True)
    w.deal(path)
    shutil.copy(w.ledger, w.dir + '/copy')
    shutil.copy(w.ledger + '.key', w.dir + '/copy.key')
    result = w.command('ledger', 'verify', '-l', w.dir + '/copy')
    assert result.returncode == 0, result
    rows = w.command('ledger', 'show', path.rsplit('/', 1)[1], '-l', w.dir + '/copy').stdout
    assert rows.count(': exact') == len(BOARDS), rows


def test_another_computer_goes_on_and_the_old_one_asks(w):
    number, _ = w.add_set('thursday')
    path = w.add_job(number, BOARDS, 0, automatic_start=True, replay=True)
    deal_some(w, path, 1)
    assert w.command('seal', '--new-key', w.dir + '/director').returncode == 0
    backup, key = w.dir + '/stick', ['--key', w.dir + '/director']
    result = w.command('backup', backup, '--for', w.dir + '/director.pub', '-l', w.ledger)
    assert result.returncode == 0, result
    assert os.stat(backup).st_mode & 0o77 == 0
    with open(w.ledger + '.key', 'rb') as file, open(backup + '/ledger.key.sealed', 'rb') as sealed:
        assert file.read() not in sealed.read()
    result = w.command('backup', backup, '--for', w.dir + '/director.pub', '-l', w.ledger)
    assert result.returncode == 2 and 'File exists' in result.stderr, result
    w.object(path, 'Job').Pause()
    w.stop()
    # not over a ledger that is there
    result = w.command('restore', backup, *key, '-l', w.ledger)
    assert result.returncode == 2 and 'a ledger exists already' in result.stderr, result
    old, w.ledger = w.ledger, w.dir + '/other/ledger'
    os.mkdir(w.dir + '/other')
    result = w.command('restore', backup, '-l', w.ledger)
    assert result.returncode == 2 and not os.listdir(w.dir + '/other'), result
    result = w.command('restore', backup, *key, '-l', w.ledger)
    assert result.returncode == 0 and 'in doubt' in result.stdout, result
    w.start()
    assert w.job(path)['State'] == 'paused'
    w.object(path, 'Job').Resume()
    deal_some(w, path, 3)
    w.object(path, 'Job').Pause()
    assert w.dealbox_ledger('verify').returncode == 0
    for machine in list(w.machines().values()):
        w.tell(machine['Id'], 'remove')
    w.stop()
    # the old one comes back: its job is as it was, and the machine has gone on without it
    w.ledger = old
    w.start()
    assert w.job(path)['State'] == 'paused'
    w.object(path, 'Job').Resume()
    wait('the question', lambda: states(w) & {'confirm-empty', 'used'})
    deal_some(w, path, 1)


def test_a_number_that_has_gone_on(w):
    """Boards came and went while another computer, or none, watched: the next one is asked for, once."""
    w.add_emulator('MANUAL', '--speed', '0', '--manual', '--packs', '6')
    w.write_config()
    w.daemon.send_signal(signal.SIGHUP)
    number, _ = w.add_set('friday')
    path = w.add_job(number, BOARDS, automatic_start=True, replay=True,
                     machines=dbus.Array(['MANUAL'], signature='s'))

    def seen(wanted):
        wait(wanted, lambda: w.machines().get('/io/dealbox1/machine/MANUAL', {}).get('State') == wanted)
    for board in BOARDS:
        if board == 3:
            w.stop()
            w.tell('MANUAL', 'insert')
            w.tell('MANUAL', 'remove')
            w.start()
        seen('insert-board')
        w.tell('MANUAL', 'insert')
        if board == 1:      # a restored ledger was accepted here: it asks of each machine
            seen('confirm-empty')
            w.press('/io/dealbox1/machine/MANUAL')
        if board == 3:
            seen('confirm-empty')
            assert 'insertion 4 has come, and the last one that the ledger knows is 2' in w.log(), w.log()[-900:]
            w.press('/io/dealbox1/machine/MANUAL')
        wait('the board', lambda board=board: w.job(path)['Recorded'] == board)
        w.tell('MANUAL', 'remove')


def test_a_backup_that_is_damaged_restores_nothing(w):
    with open(w.dir + '/stick/ledger', 'r+b') as file:
        file.seek(8192)
        file.write(b'x' * 64)
    os.mkdir(w.dir + '/third')
    result = w.command('restore', w.dir + '/stick', '--key', w.dir + '/director', '-l', w.dir + '/third/ledger')
    assert result.returncode == 2 and 'damaged' in result.stderr, result
    assert not os.listdir(w.dir + '/third')


def test_the_wal_of_a_crash_is_not_lost_for_a_backup(w):
    """SQLite would put its pages into the ledger that is restored, and the last records would be gone."""
    os.mkdir(w.dir + '/crashed')
    wal = w.dir + '/crashed/ledger-wal'
    with open(wal, 'wb') as file:
        file.write(b'the last records')
    result = w.command('restore', w.dir + '/stick', '--key', w.dir + '/director', '-l', w.dir + '/crashed/ledger')
    assert result.returncode == 2 and 'ledger-wal' in result.stderr, result
    assert os.listdir(w.dir + '/crashed') == ['ledger-wal']
    with open(wal, 'rb') as file:
        assert file.read() == b'the last records'


world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    for test in tests_of(globals()):
        tap.run(test, world)
        world.cancel_jobs()
