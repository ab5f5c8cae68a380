# SPDX-License-Identifier: LGPL-2.1-or-later
"""views.py DEALBOXD EMULATOR DEALBOX SET WORDS.js: new jobs and machines, through the page (TAP)

One machine and one screen. Settings are changed, a test deal is made, files come in every way: dropped, sealed,
damaged; a set is dealt again, and a job gets more copies.
"""
import os
import pwd
import re
import subprocess
import sys

import dbus
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import complaints, open_browser
from session import ScreenWorld, wait

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../daemon'))
from harness import tests_in    # noqa: E402

EMU = '/io/dealbox1/machine/EMU1'
VIEWS = ('now', 'jobs', 'machines', 'ledger')
NAMES = re.compile(r'\b[SHDC](10|[AKQJT2-9])\b|\b(spade|heart|diamond|club)s? (ace|king|queen|jack|ten|two)\b')


class Screen:
    def __init__(self, world, browser):
        self.world, self.browser = world, browser

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return wait(selector, lambda: self.all(selector))[0]

    def text(self, selector='main'):
        """What the page has there now, also while it is drawn anew."""
        return self.browser.execute_script(
            'return [...document.querySelectorAll(arguments[0])].map(one => one.innerText).join("\\n")', selector)

    def says(self, pattern, selector='main'):
        return wait('%r in %s: %s' % (pattern, selector, self.text(selector)),
                    lambda: re.search(pattern, self.text(selector)))

    def open(self, view):
        wait('the page', lambda: self.all('#views button'))
        self.all('#views button')[VIEWS.index(view)].click()

    def press(self, label, within='main'):
        """A button, by the words on it, that is seen: a dialog that was closed may still be there."""
        def click():
            return self.browser.execute_script(
                'const one = [...document.querySelectorAll(arguments[0] + " button")].find(one => '
                'one.innerText.trim() === arguments[1] && !one.disabled && one.getClientRects().length); '
                'if (one) one.click(); return Boolean(one);', within, label)
        wait('the button "%s"' % label, click)

    def choose(self, path):
        self.one('.drop input[type=file]').send_keys(os.path.abspath(path))


def settings(screen):
    """The machine says what it has; a value that it does not take is not sent."""
    machine = screen.world.object(EMU, 'Machine')
    speed = lambda: machine.GetParameter(dbus.UInt32(1))[0]     # noqa: E731
    assert speed() == 600
    screen.open('machines')
    screen.press('Settings and counters')
    screen.says(r'Speed \(cards a minute, 60–1200\)')
    screen.says('hours of running')
    assert len(screen.all('.parameter')) == 4
    for value, told, now in (('300', r'Speed: 300 cards a minute', 300), ('5', r'Speed: from 60 to 1200\.', 300)):
        screen.browser.execute_script('document.querySelector(".parameter input").value = arguments[0]', value)
        screen.press('Set', '.parameter')
        screen.says(told, '#message')
        assert speed() == now
        wait('the new value', lambda: screen.all('.parameter input[value="%d"]' % now))
    screen.world.deny('io.dealbox1.service')
    screen.browser.execute_script('document.querySelector(".parameter input").value = 100')
    screen.press('Set', '.parameter')
    screen.says('group dealbox', '#message')
    screen.world.deny('')
    assert speed() == 300
    machine.SetParameter(dbus.UInt32(1), dbus.UInt32(600))


def test_deals(screen):
    """The result is on the page, in words; so is a fault."""
    world = screen.world
    screen.open('machines')
    screen.press('Test deal')
    screen.says('put an empty board in', '#message')
    for mishap, told in ((None, r'✓ 52 of 52 cards came\.\s+Each was read\.\s+Each fell into its pocket\.'),
                         ('inject position 9: unreadable', r'✗ 52 of 52 cards came\.\s+1 card was not read'),
                         ('inject position 7: jam gate', r'✗ The test deal was stopped: a card is stuck')):
        world.tell('EMU1', 'hopper fill')
        if mishap:
            world.tell('EMU1', mishap)
        world.tell('EMU1', 'insert')
        wait('the board', lambda: 'test-deal' in world.machines()[EMU]['Keys'])
        # until the page, too, has heard that a test deal can be made now
        wait('the question', lambda: screen.press('Test deal') or screen.all('dialog'))
        screen.press('Test deal', 'dialog')
        screen.says(told, '.test')
        for command in ('cover open', 'empty', 'cover close', 'remove', 'empty'):
            world.tell('EMU1', command)
        wait('the board to be out', lambda: not world.machines()[EMU]['Insertion'])
    assert not NAMES.search(screen.text())


def sealed(screen):
    """With its passphrase, and with the director's key; not without."""
    world = screen.world
    tool = [world.dealbox]
    file = world.dir + '/tonight.pbn'
    for name in ('phrase', 'key'):
        with open(world.set_file) as source, open('%s/%s.pbn' % (world.dir, name), 'w') as copy:
            copy.write(source.read())
    subprocess.run([*tool, 'seal', world.dir + '/phrase.pbn'], input='correct horse\n', text=True, check=True, capture_output=True)
    subprocess.run([*tool, 'seal', '--new-key', world.dir + '/director'], check=True, capture_output=True)
    subprocess.run([*tool, 'seal', '--for', world.dir + '/director.pub', world.dir + '/key.pbn'], check=True, capture_output=True)
    screen.open('jobs')
    screen.choose(world.dir + '/phrase.pbn.sealed')
    screen.one('dialog input[type=password]').send_keys('wrong horse')
    screen.press('Open', 'dialog')
    screen.says('The passphrase or the key does not open phrase.pbn.sealed', '.bad')
    assert not world.manager().GetSets()
    screen.choose(world.dir + '/phrase.pbn.sealed')
    screen.one('dialog input[type=password]').send_keys('correct horse')
    screen.press('Open', 'dialog')
    screen.says('24 boards without a problem', '.good')
    number, = [one[0] for one in world.manager().GetSets()]
    screen.choose(world.dir + '/key.pbn.sealed')
    screen.one('dialog input[type=file]').send_keys(world.dir + '/director')
    screen.says('key.pbn.sealed: 24 boards without a problem', '.good')
    assert [one[0] for one in world.manager().GetSets()] == [number], 'the same deals are the same set'
    assert 'correct horse' not in screen.browser.page_source and not os.path.exists(file)


def damaged(screen):
    """What is wrong, and in which board; no card."""
    path = screen.world.dir + '/damaged.pbn'
    with open(screen.world.set_file) as file, open(path, 'w') as out:
        lines = file.read()
        first = re.search(r'\[Deal "N:([^"]*)"\]', lines)
        hands = first[1].split()
        hands[1] = hands[0]
        out.write(lines.replace(first[1], ' '.join(hands), 1))
    screen.open('jobs')
    screen.choose(path)
    screen.says(r'damaged\.pbn cannot be dealt\. Nothing was added\.\s+Board 1, line \d+: a card is missing \(× 13\)\s+'
                r'Board 1, line \d+: a card is there twice, held by North and East', '.bad')
    assert not NAMES.search(screen.text('.bad')), screen.text('.bad')
    assert not screen.all('#deal')
    # the same in Russian, and a file that holds no deals
    screen.browser.execute_script('localStorage.setItem("dealbox-language", "ru")')
    screen.browser.refresh()
    screen.open('jobs')
    screen.choose(path)
    screen.says(r'Доска 1, строка \d+: карта есть дважды, рука: Север и Восток', '.bad')
    assert not NAMES.search(screen.text('.bad')), screen.text('.bad')
    with open(path, 'w') as out:
        out.write('Dear members, the evening begins at 18:45.\n')
    screen.choose(path)
    screen.says('это не файл сдач известного формата', '.bad')
    assert not re.search('not a deal file', screen.text('.bad'))
    assert screen.text('.bad code') == 'dealbox convert --from'
    screen.browser.execute_script('localStorage.setItem("dealbox-language", "en")')
    screen.browser.refresh()


def dropped(screen):
    """A file that is dragged here."""
    screen.open('jobs')
    with open(screen.world.set_file) as file:
        screen.browser.execute_script('''
            const data = new DataTransfer(), drop = document.querySelector(".drop");
            data.items.add(new File([arguments[0]], "dropped.pbn"));
            for (const type of ["dragover", "drop"]) {
                const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
                if (drop.dispatchEvent(event))
                    throw new Error("the browser would open the file");
            }''', file.read())
    screen.says('dropped.pbn: 24 boards without a problem', '.good')
    assert screen.all('#deal') and not screen.all('.drop.over')


def again(screen):
    """A set that is there already becomes another job, which gets more copies."""
    world = screen.world
    screen.open('jobs')
    number, _, session, boards, _, _ = [one for one in world.manager().GetSets()][0]
    option = screen.one('#sets option[value="%d"]' % number)
    assert session in option.text and '24 boards' in option.text, option.text
    option.click()
    screen.one('#deal').click()
    path, = wait('the job', lambda: list(world.objects('Job')))
    assert (world.job(path)['Set'], world.job(path)['Copies']) == (number, 2)
    screen.open('jobs')
    screen.press('More copies')
    field = screen.one('dialog input')
    field.send_keys('3')
    screen.press('Yes', 'dialog')
    wait('more copies', lambda: world.job(path)['Copies'] == 3)
    screen.says('of %d boards' % (3 * boards), '.panel .row')
    # fewer are refused, and the page says so
    screen.press('More copies')
    screen.one('dialog input').send_keys('1')
    screen.press('Yes', 'dialog')
    screen.says('.', '#message')
    assert world.job(path)['Copies'] == 3


def kept(screen):
    """A job is kept to one of two machines by a tick, and let go of again; the last tick stays."""
    world = screen.world
    world.add_emulator('EMU2', '--speed', '0', '--manual', '--capabilities', 'by-card,exit-sensors,board-lock')
    world.stop()
    world.start()
    wait('the machines', lambda: len(world.machines()) == 2)
    path, = [path for path, job in world.objects('Job').items() if job['State'] == 'open']
    screen.browser.refresh()
    screen.open('jobs')

    # also while the page is drawn anew
    def ticks():
        return {name: (on, enabled) for name, on, enabled in screen.browser.execute_script(
            'return [...document.querySelectorAll("input[data-machine]")]'
            '.map(one => [one.dataset.machine, one.checked, !one.disabled])')}

    def tick(name):
        screen.browser.execute_script('document.querySelector(`input[data-machine="${arguments[0]}"]`).click()', name)
    wait('both ticks', lambda: ticks() == {'EMU1': (True, True), 'EMU2': (True, True)})
    tick('EMU1')
    wait('the machine', lambda: world.job(path)['Machines'] == ['EMU2'])
    wait('one tick', lambda: ticks() == {'EMU1': (False, True), 'EMU2': (True, False)})
    tick('EMU1')
    wait('any machine', lambda: world.job(path)['Machines'] == [])
    wait('both ticks', lambda: ticks() == {'EMU1': (True, True), 'EMU2': (True, True)})


def receipts(screen):
    """Who added a job, by name, and what was dealt."""
    screen.open('ledger')
    screen.says(re.escape('Added by %s. ' % pwd.getpwuid(os.getuid()).pw_name))


def quiet(screen):
    """The key that switches sounds off and on, in every view, but not while somebody writes."""
    def pressed():
        return screen.one('#settings button').get_attribute('aria-pressed'), \
            screen.browser.execute_script('return localStorage.getItem("dealbox-sound")')

    def key(selector='body'):
        screen.one(selector).send_keys('m')
    for view in ('now', 'ledger'):
        screen.open(view)
        screen.browser.execute_script('document.activeElement.blur()')
        key()
        wait('silence', lambda: pressed() == ('false', 'off'))
        key()
        wait('sounds', lambda: pressed() == ('true', 'on'))
    screen.open('jobs')
    key('.panel input:not([type=file])')
    assert pressed() == ('true', 'on')


def event(screen):
    """With an event, its panel is there: here of a PC that has joined none."""
    world = screen.world
    screen.open('machines')
    assert not re.search('event', screen.text())
    world.settings = '[event]\ndatabase = host=%s dbname=cup\nfolder = %s/nobody\n' % (world.dir, world.dir)
    world.stop()
    world.start()
    screen.says('The server of the event refuses this PC')
    screen.says('this PC has not joined an event')
    screen.says(r'Boards that can be dealt without the server: 0 · none may be begun now')
    screen.press('Let other PCs deal')
    screen.press('Let other PCs deal', 'dialog')
    screen.says('the lease cannot be written', '#message')
    world.settings = ''
    world.stop()
    world.start()
    wait('no event', lambda: not re.search('of the event', screen.text()))


def job_goes_on(screen):
    """A job is paused, resumed and cancelled from its panel."""
    world = screen.world

    def states():
        return [str(world.job(path)['State']) for path in world.objects('Job')]

    screen.open('jobs')
    before = states()
    assert 'open' in before and 'paused' not in before and 'cancelled' not in before, before
    screen.press('Pause')
    wait('a pause', lambda: states().count('paused') == 1)
    screen.press('Resume')
    wait('no pause', lambda: states() == before)
    screen.press('Cancel the job')
    screen.press('No', 'dialog')
    assert states() == before
    screen.press('Cancel the job')
    screen.press('Cancel the job', 'dialog')
    wait('the end', lambda: 'cancelled' in states() or len(states()) < len(before))


def found(screen):
    """The lamp of a machine blinks, so that it is found among others."""
    screen.open('machines')
    assert screen.world.tell('EMU1', 'lamp off').strip() == 'ok'
    screen.press('Find it: blink')
    wait('the lamp', lambda: screen.world.tell('EMU1', 'lamp on').strip() == 'ok')


def released(screen):
    """
    A board that is locked in is released by its button or key, can be taken out, and is dealt when it is in again.
    Its set is one that was dealt, though the job is cancelled behind that board.
    """
    world = screen.world
    name, path = 'EMU2', '/io/dealbox1/machine/EMU2'

    def shows(state, *keys):
        wait(state, lambda: world.machines()[path]['State'] == state and set(keys) <= set(world.machines()[path]['Keys']))

    def buttons():
        """The names of the machines that have the button; does it do anything there?"""
        return dict(screen.browser.execute_script(
            'return [...document.querySelectorAll(".panel")].flatMap(panel => [...panel.querySelectorAll("button")]'
            '.filter(one => one.innerText.trim() === arguments[0]).map(one => [panel.querySelector("h2").innerText, !one.disabled]))',
            'Release the board'))

    def unlocked():
        return ' locked 0 ' in world.tell(name, 'status')

    def key(code, what, done):
        """Pressed until it is done: a key that comes too soon after the screen has changed does nothing."""
        screen.open('now')
        screen.says(what, '.hero [data-key="%s"]' % code[0])
        wait(what, lambda: screen.one('main').send_keys(code[1]) or done())

    def by_button():
        screen.open('machines')
        wait('the button', lambda: buttons() == {name: True})
        screen.press('Release the board')
        screen.says('EMU2: the board is released as soon as nothing is being dealt', '#message')
        wait('no button', lambda: buttons() == {name: False})
        wait('the lock to open', unlocked)

    def by_key():
        key('Ll', 'Release the board', unlocked)
        wait('no key', lambda: not screen.all('.hero [data-key=L]'))

    world.cancel_jobs()
    job = world.add_job(world.add_set('released')[0], [1, 2], replay=True, machines=[name])
    shows('insert-board')
    for way in by_button, by_key:
        world.tell(name, 'insert')
        shows('press-start', 'start', 'release')
        assert 'the board is locked' in world.tell(name, 'remove')
        way()
        world.take_out(name)
        shows('insert-board')
    world.tell(name, 'insert')
    shows('press-start', 'start', 'release')
    key(('Enter', Keys.ENTER), 'Start', lambda: world.job(job)['Recorded'] == 1)
    world.take_out(name)
    world.object(job, 'Job').Cancel()
    screen.open('jobs')
    screen.one('#sets option:nth-child(2)').click()
    screen.says('Boards of this set were dealt for .+ already', '.bad')


def stopped(screen):
    """A job whose deals were dealt for another session meanwhile: the machine says so, and leads to a new job."""
    world = screen.world
    name, path = 'EMU2', '/io/dealbox1/machine/EMU2'
    jobs = [world.add_job(world.add_set(session)[0], [23], automatic_start=True, machines=[name])
            for session in ('monday', 'tuesday')]
    for job, state in zip(jobs, ('done', 'repeat')):
        wait('the question', lambda: world.machines()[path]['State'] == 'insert-board')
        world.tell(name, 'hopper fill')
        world.tell(name, 'insert')
        wait(state, lambda: world.job(job)['State'] == state)
        world.take_out(name)
    screen.open('now')
    screen.says(r'Old file\? Make a new job\s+A board of this job was dealt for another session', '.hero')
    assert 'Pause' not in screen.text('.job')
    wait('the view', lambda: screen.one('main').send_keys('j') or screen.all('.drop'))
    # until that job is there, and done
    job = world.add_job(world.add_set('monday')[0], [24], automatic_start=True, machines=[name])
    screen.open('now')
    screen.says('Put it in, empty', '.hero')
    world.tell(name, 'hopper fill')
    world.tell(name, 'insert')
    wait('the board', lambda: world.job(job)['State'] == 'done')
    world.take_out(name)
    screen.says(r'Done\s+1 board is dealt', '.hero')
    world.object(jobs[1], 'Job').Cancel()


def no_complaint(browser):
    found = complaints(browser)
    assert not found, found


def main():
    world = ScreenWorld(*sys.argv[1:])
    with tests_in(world) as tap:
        world.add_emulator('EMU1', '--speed', '0', '--manual')
        world.start()
        wait('the machine', lambda: len(world.machines()) == 1)
        browser = open_browser(1024, 600)
        try:
            browser.get(world.url)
            screen = Screen(world, browser)
            tap.run(settings, screen, name='settings of a machine')
            tap.run(test_deals, screen, name='test deals, with their results')
            tap.run(sealed, screen, name='a sealed file')
            tap.run(damaged, screen, name='a damaged file')
            tap.run(dropped, screen, name='a file that is dropped')
            tap.run(again, screen, name='a set is dealt again, with more copies')
            tap.run(kept, screen, name='a job is kept to one of two machines')
            tap.run(receipts, screen, name='who added a job, in the ledger')
            tap.run(quiet, screen, name='sounds are switched off by a key')
            tap.run(event, screen, name='the panel of an event')
            tap.run(job_goes_on, screen, name='a job is paused, resumed and cancelled')
            tap.run(found, screen, name='a machine is found by its lamp')
            tap.run(released, screen, name='a board that is locked in is released')
            tap.run(stopped, screen, name='a job that was dealt for another session')
            tap.run(no_complaint, browser, name='nothing on the console')
        finally:
            browser.quit()


if __name__ == '__main__':
    main()
