# SPDX-License-Identifier: LGPL-2.1-or-later
"""evening.py DEALBOXD EMULATOR DEALBOX SET WORDS.js BOARDS: an evening is dealt through the page (TAP)

Two emulated machines, two screens, and a person who does what the large machine on the screen says, and nothing
else. A card is misread, one is stuck, a wrong board is put in, a cable is pulled, the service is started again,
a page is loaded again. Every board must be exact. Everything on both websockets is recorded and searched for
cards.
"""
import os
import re
import sys
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import complaints, frames_of, open_browser
from session import ScreenWorld, wait

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../daemon'))
from harness import tests_in    # noqa: E402

COPIES = 2
LONGEST = 600       # seconds without anything to do, after which the person goes home
LOOK = '''
    const hero = document.querySelector(".hero");
    const text = name => hero.querySelector(name) ? hero.querySelector(name).textContent : "";
    return hero && { name: text(".machine"), title: text("h1"), number: text(".number"), below: text(".copy"),
        keys: [...hero.querySelectorAll("[data-key]")].map(one => one.dataset.key) };'''
VOID = ['remove', 'empty', 'hopper fill', 'insert N']

# what the person does when the screen says so: commands to the machine; a key is pressed for "KEY"
ACTS = {
    'Put it in, empty': ['hopper fill', 'insert N'],
    'Exact. Take it out': ['remove'],
    'Take the old board out': ['remove'],
    'Ready: press start': ['KEY Enter'],
    'Is it empty? Look into all pockets': ['KEY Enter'],
    'A card cannot be read': ['KEY Enter'],
    'No card came': ['KEY Enter'],
    # on a busy computer: it answered too late
    'The machine refuses to deal': ['KEY Enter'],
    'The computer was too slow': ['KEY Enter'],
    'Paused': ['KEY Enter'],
    'Put cards into the hopper': ['hopper fill'],
    'No connection to the machine': ['plug'],
    'Deal it again: a card is stuck': ['cover open', 'empty', 'cover close', *VOID],
    'Wrong board is in. Put in this one': ['KEY D'],
    'Dealt already. Take it out': ['remove'],
    'Close the cover': ['cover close'],
}

# questions that have one answer for a board that is in: state, by title
ONCE = {
    'Ready: press start': 'press-start',
    'Is it empty? Look into all pockets': 'confirm-empty',
    'Wrong board is in. Put in this one': 'number-other',
}


class Person:
    def __init__(self, world, browsers):
        self.world, self.browsers = world, browsers
        self.seen = None        # what was answered last
        self.acted = 0.0
        self.said = []
        self.answered = {}      # machine, insertion, state -> number of the question
        self.mischief = {}      # board -> what goes wrong as it is put in

    def look(self, browser):
        return browser.execute_script(LOOK)

    def press(self, browser, key):
        browser.find_element(By.TAG_NAME, 'main').send_keys(Keys.ENTER if key == 'Enter' else key.lower())

    def tell(self, name, command):
        self.world.tell(name, command)

    def answer(self, browser, shown, key):
        """Nothing is asked twice: whoever has answered for a board is not asked the same of it again."""
        machine = self.world.machines()['/io/dealbox1/machine/' + shown['name']]
        if machine['State'] == ONCE.get(shown['title']):
            question = self.answered.setdefault((shown['name'], machine['Insertion'], machine['State']), machine['Question'])
            assert question == machine['Question'], 'asked twice: %s' % shown
        self.press(browser, key)

    def act(self, browser, shown):
        title = shown['title']
        acts = ACTS.get(title) or (VOID if title.startswith('Deal it again: ') else [])
        for act in acts:
            if act.startswith('KEY '):
                assert act[4:] in shown['keys'], (act, shown)
                time.sleep(0.5)         # a person reads first; the page ignores sooner answers
                self.answer(browser, shown, act[4:])
            elif act == 'insert N':
                if not shown['number']:
                    continue            # which board comes next is said when this one is out
                wrong = self.mischief.pop(int(shown['number']), None)
                if wrong and wrong.startswith('insert'):
                    self.tell(shown['name'], wrong)
                    continue
                if wrong:
                    self.tell(shown['name'], wrong)
                self.tell(shown['name'], 'insert ' + shown['number'])
            else:
                self.tell(shown['name'], act)
        return bool(acts)

    def work(self, over):
        """Until over(): do what the screens say, now at the one, now at the other."""
        end = time.monotonic() + LONGEST
        turn = 0
        while not over():
            assert time.monotonic() < end, 'not done, the screen says %s' % self.look(self.browsers[0])
            turn += 1
            browser = self.browsers[turn % len(self.browsers)]
            shown = self.look(browser)
            if not shown or (shown == self.seen and time.monotonic() - self.acted < 3):
                time.sleep(0.02)
                continue
            if self.act(browser, shown):
                self.seen, self.acted = shown, time.monotonic()
                end = self.acted + LONGEST
                self.said.append(shown['title'])
            else:
                time.sleep(0.02)


def secrets(world):
    """Each suit of each hand that nothing else would be: five cards or more, as every format writes them."""
    with open(world.set_file) as file:
        hands = re.findall(r'\[Deal "[NESW]:([^"]*)"\]', file.read())
    return {suit for deal in hands for hand in deal.split() for suit in hand.split('.') if len(suit) >= 5}


def said(browser):
    """All words of the view."""
    return browser.execute_script('return document.querySelector("main").innerText')


def add_job(world, browser, boards):
    """As a person does: the file, the boards, the copies, and Deal."""
    wait('the page', lambda: browser.find_elements(By.CSS_SELECTOR, '#views button'))
    browser.find_elements(By.CSS_SELECTOR, '#views button')[1].click()
    browser.find_element(By.CSS_SELECTOR, 'input[type=file]').send_keys(os.path.abspath(world.set_file))
    deal = wait('the file to be checked', lambda: browser.find_elements(By.ID, 'deal'))[0]
    assert '24 boards without a problem' in browser.find_element(By.CSS_SELECTOR, '.good').text
    assert 'Law 6D2' not in said(browser)
    # the first is that of the session
    form = [one for one in browser.find_elements(By.CSS_SELECTOR, '.form') if one.find_elements(By.TAG_NAME, 'input')][1]
    numbers, copies = form.find_elements(By.TAG_NAME, 'input')[:2]
    numbers.clear()
    numbers.send_keys('1-%d' % boards)
    copies.clear()
    copies.send_keys(str(COPIES))
    deal.click()
    wait('the job', lambda: world.objects('Job'))


def evening(world, browsers, boards):
    person = Person(world, browsers)
    add_job(world, browsers[0], boards)
    path, = world.objects('Job')
    person.mischief = {1: 'inject position 20: misread', 2: 'insert %d' % boards, 3: 'inject position 7: jam gate'}
    recorded = lambda: world.job(path)['Recorded']      # noqa: E731
    person.work(lambda: recorded() >= 2)
    browsers[0].refresh()
    person.work(lambda: recorded() >= 3)
    world.tell('EMU2', 'unplug')
    person.work(lambda: 'No connection to the machine' in person.said and recorded() >= 4)
    world.stop()
    wait('the page to see that', lambda: 'Waiting' in (person.look(browsers[-1]) or {'title': ''})['title'])
    world.start()
    # an answer that no deal has followed may have been lost with the service
    wait('the job', lambda: world.job(path))
    begun = {(str(one[2]), int(one[3])) for one in world.object(path, 'Job').GetInsertions()}
    person.answered = {of: question for of, question in person.answered.items() if of[:2] in begun}
    person.work(lambda: world.job(path) and world.job(path)['State'] == 'done')
    assert recorded() == boards * COPIES, world.job(path)
    for title in ('Deal it again: same card twice', 'Deal it again: a card is stuck', 'Wrong board is in. Put in this one',
                  'No connection to the machine'):
        assert title in person.said, (title, sorted(set(person.said)))
    assert any(state == 'confirm-empty' for _, _, state in person.answered), person.answered
    world.check()
    wait('the end on every screen', lambda: all((person.look(one) or {}).get('title') in ('Done', 'Exact. Take it out')
                                                for one in browsers))
    return person


def says_dealt(world, browser):
    """Whoever gives a set that was dealt, by its file or from the list, is told so before it is dealt again."""
    jobs = len(world.objects('Job'))
    told = r'Boards of this set were dealt for \S+ already\. Deal them for more copies only: .* Law 6D2'
    file = lambda: browser.find_element(By.CSS_SELECTOR, '.drop input').send_keys(os.path.abspath(world.set_file))  # noqa: E731
    listed = lambda: wait('the sets', lambda: browser.find_elements(By.CSS_SELECTOR, '#sets option:nth-child(2)'))[0].click()   # noqa: E731
    for give in file, listed:
        browser.find_elements(By.CSS_SELECTOR, '#views button')[1].click()
        assert 'Law 6D2' not in said(browser)
        give()
        wait('the word', lambda: re.search(told, said(browser)))
        assert browser.find_elements(By.ID, 'deal')
    browser.find_elements(By.CSS_SELECTOR, '#views button')[0].click()
    assert len(world.objects('Job')) == jobs


def no_complaint(browsers):
    found = [one for browser in browsers for one in complaints(browser)]
    assert not found, found


def no_card(world, browsers):
    """But in the channel of the new file, which is found there, so that the search is known to find."""
    kept = []
    hand = re.compile(r'\b[AKQJT2-9]*\.[AKQJT2-9]*\.[AKQJT2-9]*\.[AKQJT2-9]*\b')
    names = re.compile(r'\b[SHDC](10|[AKQJT2-9])\b|\b(spade|heart|diamond|club) (ace|king|queen|jack)\b')
    for browser in browsers:
        kept += frames_of(browser)
    hidden = secrets(world)
    channels = {text.split('\n')[0] for ours, text in kept if ours and any(suit in text for suit in hidden)}
    assert len(kept) > 100 and len(channels) == 1, (len(kept), channels)
    for ours, text in kept:
        if ours and text.split('\n')[0] in channels:
            continue
        found = hand.search(text) or names.search(text) or next((suit for suit in hidden if suit in text), None)
        assert not found, (found, text[:300])


def grid(browsers, boards):
    """Every copy is ticked; the rate and what is left have been worked out."""
    browser = browsers[0]
    browser.find_elements(By.CSS_SELECTOR, '#views button')[1].click()
    wait('the grid', lambda: len(browser.find_elements(By.CSS_SELECTOR, '.grid .recorded')) == boards * COPIES)
    assert 'boards per hour' in browser.find_element(By.CSS_SELECTOR, '.panel .row').text
    assert not browser.find_elements(By.CSS_SELECTOR, '.grid .void, .grid .open')
    browser.find_elements(By.CSS_SELECTOR, '#views button')[0].click()


def make_large(browser, name):
    """Another machine may be the large one, with the last board of the evening."""
    browser.execute_script('''[...document.querySelectorAll(".tile")].filter(one => one.textContent.includes(arguments[0]))
        .forEach(one => one.click());''', name)


def ask(browser, key):
    """Press a key until its question is there: the page ignores one that comes too soon after a change."""
    def asked():
        if not browser.find_elements(By.CSS_SELECTOR, 'dialog'):
            browser.find_element(By.TAG_NAME, 'main').send_keys(key)
        return browser.find_elements(By.CSS_SELECTOR, 'dialog')
    wait('the question of ' + key, asked)


def redeal(world, browsers):
    """A board that was dealt is dealt once more only after its key and a question, and empty."""
    browser = browsers[0]
    person = Person(world, browsers[:1])
    number, _ = world.add_set('again')
    world.take_out('EMU1')
    path = world.add_job(number, [1, 2], automatic_start=True, replay=True, machines=['EMU1'])
    state = lambda: world.machines()['/io/dealbox1/machine/EMU1']['State']      # noqa: E731
    dealt = lambda: [str(one[4]) for one in world.object(path, 'Job').GetInsertions() if one[0] == 1]   # noqa: E731

    def questioned(word):
        ask(browser, 'r')
        wait('the answer', lambda: browser.execute_script(
            'const one = [...document.querySelectorAll("dialog button")].find(one => one.innerText.trim() === arguments[0]);'
            'if (one) one.click(); return Boolean(one);', word))
        wait('no question', lambda: not browser.find_elements(By.CSS_SELECTOR, 'dialog'))
    wait('to be asked for a board', lambda: state() == 'insert-board')
    make_large(browser, 'EMU1')
    person.work(lambda: state() == 'take-out')
    wait('the key', lambda: 'R' in (person.look(browser) or {'keys': []})['keys'])
    questioned('No')
    assert state() == 'take-out' and dealt() == ['exact'], (state(), dealt())
    questioned('Yes')
    wait('the board to count no more', lambda: not world.job(path)['Recorded'])
    assert len(dealt()) == 1, dealt()
    person.work(lambda: world.job(path)['Recorded'])
    assert len(dealt()) == 2 and dealt()[1] == 'exact', dealt()
    world.object(path, 'Job').Cancel()
    world.take_out('EMU1')
    world.check()


NAMES = re.compile(r'[♠♥♦♣](10|[AKQJ2-9])\b')


def reveal(world, browsers):
    """Cards are on the screen only while somebody looks; the other screen never has them. It is recorded."""
    browser, other = browsers
    number, _ = world.add_set('reveal')
    world.add_job(number, [1], automatic_start=True, replay=True, machines=['EMU1'])
    state = lambda: world.machines()['/io/dealbox1/machine/EMU1']['State']      # noqa: E731
    world.take_out('EMU1')
    wait('to be asked for a board', lambda: state() == 'insert-board')
    for command in ('hopper fill', 'inject position 20: misread', 'insert 1'):
        world.tell('EMU1', command)
    wait('the question', lambda: state() in ('confirm-empty', 'card-repeated'))
    if state() == 'confirm-empty':
        world.object('/io/dealbox1/machine/EMU1', 'Machine').Start()
    make_large(browser, 'EMU1')
    wait('the key', lambda: browser.find_elements(By.CSS_SELECTOR, '[data-key=V]'))
    for way in ('a key', 'time'):
        ask(browser, 'v')
        wait('the question', lambda: browser.find_elements(By.CSS_SELECTOR, 'dialog .main'))[0].click()
        text = wait('the cards', lambda: [one.text for one in browser.find_elements(By.CSS_SELECTOR, '.reveal')])[0]
        assert NAMES.search(text), text
        assert not NAMES.search(other.execute_script('return document.body.textContent'))
        if way == 'a key':
            browser.find_element(By.CSS_SELECTOR, '.reveal').send_keys('x')
        wait('the cards to be gone', lambda: not browser.find_elements(By.CSS_SELECTOR, '.reveal'))
        assert not NAMES.search(browser.execute_script('return document.body.textContent'))
    assert len([r for r in world.records() if r['record'] == 'act' and r['act'] == 'reveal']) == 2


def main():
    *programs, boards = sys.argv[1:]
    world = ScreenWorld(*programs)
    browsers = []
    with tests_in(world) as tap:
        try:
            for serial in ('EMU1', 'EMU2'):
                world.add_emulator(serial, '--speed', '0', '--manual', '--packs', '2', '--capabilities',
                                   'by-card,exit-sensors,board-reader,face-sensor,double-feed-sensor,keys')
            world.start()
            wait('the machines', lambda: len(world.machines()) == 2)
            for size in ((1024, 600), (390, 844)):
                browsers.append(open_browser(*size))
                browsers[-1].get(world.url)
            for name, function, *args in (
                    ('%s boards, %d copies, two machines, two screens' % (boards, COPIES),
                     evening, world, browsers, int(boards)),
                    ('every copy has its tick', grid, browsers, int(boards)),
                    ('nothing on the console', no_complaint, browsers),
                    ('no card on the websocket but in the new file', no_card, world, browsers),
                    # the file once more, so behind the search
                    ('a set that was dealt is called so', says_dealt, world, browsers[0]),
                    ('a board is dealt again by its key', redeal, world, browsers),
                    ('revealed cards are gone at a key, or by time', reveal, world, browsers)):
                tap.run(function, *args, name=name)
                if tap.failed:
                    break       # the next ones would wait for what does not come
        finally:
            for browser in browsers:
                browser.quit()


if __name__ == '__main__':
    main()
