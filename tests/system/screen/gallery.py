# SPDX-License-Identifier: LGPL-2.1-or-later
"""gallery.py WORDS.js AXE.js [--sample | FOLDER]: every state on the screen, in every language (TAP)

The page is shown by a real browser, without Cockpit and without the service: states.mjs gives what the service
would say. Nothing may be cut off or overlap, measured in pixels, on a small tablet, there beside Cockpit's menu, at a
PC and on a phone; ink
and ground differ enough to be read, and axe-core finds nothing else that keeps people out. With FOLDER a picture of each is left there;
--sample is for the small tablet, and one language beside the menu.
"""
import os
import shutil
import sys
import tempfile

from browser import complaints, copy_package, open_browser, resize, serve

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, '../daemon'))
from harness import Tap     # noqa: E402

LANGUAGES = 'en', 'nb', 'el', 'fr', 'ru'
# a tablet with the page alone, and beside Cockpit's menu
SIZES = {'tablet': (1024, 600), 'menu': (800, 531), 'pc': (1920, 1080), 'phone': (360, 740)}
MEASURE = open(os.path.join(here, 'measure.js')).read()

words, axe = sys.argv[1:3]
sample = sys.argv[3:] == ['--sample']
pictures = sys.argv[3] if len(sys.argv) > 3 and not sample else None


def prepare(browser, url):
    browser.get(url + 'index.html')
    browser.execute_async_script('''
        const done = arguments[0];
        Promise.all([import("./states.mjs"), import("./sentence.js")]).then(([states, sentence]) => {
            window.states = states;
            window.state_names = sentence.state_names();
            window.show_state = name => {
                const jobs = [states.job(name === "no-work" ? { State: "done", Recorded: 48 } : {})];
                /* the other machine would be the large one if this one needs nobody; some states are those of all */
                const other = states.machine(["no-work", "paused", "stopped", "panel-lost"].includes(name) ? name : "none",
                                             { Id: "EMU2", Serial: "EMU2", Board: 18, Facts: { board: 18, copy: 1, copies: 2 } });
                window.fake(states.objects([states.machine(name), other], jobs));
                return new Promise(resolve => setTimeout(resolve, 0));
            };
            done();
        });''')
    return browser.execute_script('return window.state_names')


def touch(browser, has):
    """A tablet and a phone have no keys, so none are shown there."""
    browser.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {'enabled': has, 'maxTouchPoints': 5})


def settings(browser, url, language, light='day', hand='right'):
    browser.execute_script('''localStorage.setItem("dealbox-language", arguments[0]);
        localStorage.setItem("dealbox-light", arguments[1]); localStorage.setItem("dealbox-hand", arguments[2]);''',
                           language, light, hand)
    return prepare(browser, url)


def walk(browser, url, size, language, light='day', hand='right'):
    resize(browser, *SIZES[size])
    touch(browser, size != 'pc')
    names = settings(browser, url, language, light, hand)
    assert len(names) > 40, names
    found = []
    for name in names:
        wrong = browser.execute_async_script('''
            const [name, done] = arguments;
            window.show_state(name).then(() => done((%s)(name)));''' % MEASURE, name)
        found += ['%s: %s' % (name, one) for one in wrong]
        large = browser.execute_script('return document.querySelector("#view").innerText')
        assert 'EMU1' in large.split('EMU2')[0], (name, large)
        if pictures:
            browser.save_screenshot('%s/%s-%s-%s-%s%s.png' % (pictures, name, language, size, light,
                                                           '' if hand == 'right' else '-left'))
    found += complaints(browser)
    assert not found, '\n'.join(found)


AXE = '''
    const done = arguments[0];
    axe.run(document, { resultTypes: ["violations"] }).then(result => done(result.violations.map(one =>
        one.id + ": " + one.nodes.map(node => node.target.join(" ") + " " + node.failureSummary).join("; "))));'''


def accessible(browser, url, light):
    """Each colour once, and the other views."""
    resize(browser, *SIZES['tablet'])
    settings(browser, url, 'en', light)
    with open(axe) as file:
        browser.execute_script(file.read())
    found = []
    for name in ('insert-board', 'take-out', 'none', 'card-unreadable', 'card-repeated', 'confirm-empty', 'paused',
                 'number-other', 'no-work'):
        browser.execute_async_script('window.show_state(arguments[0]).then(arguments[1])', name)
        found += ['%s: %s' % (name, one) for one in browser.execute_async_script(AXE)]
    for view in VIEWS:
        open_view(browser, view)
        found += ['%s: %s' % (view, one) for one in browser.execute_async_script(AXE)]
        if pictures:
            browser.save_screenshot('%s/view-%s-%s.png' % (pictures, view, light))
    open_view(browser, 'now')
    found += complaints(browser)
    assert not found, '\n'.join(found)


VIEWS = {'now': 0, 'jobs': 1, 'machines': 2, 'ledger': 3}


def open_view(browser, view):
    browser.execute_script('document.querySelectorAll("#views button")[arguments[0]].click()', VIEWS[view])
    browser.execute_async_script('setTimeout(arguments[0], 100)')


WIDE = '''
    return [...document.querySelectorAll("main *")].filter(one => !one.closest(".scroll") && !one.closest("svg") &&
        (one.getBoundingClientRect().right > innerWidth + 1 ||
         (one.matches("button, p, label, h2") && one.scrollWidth > one.clientWidth + 1 && one.clientWidth)))
        .map(one => arguments[0] + ": " + one.outerHTML.slice(0, 90));'''


def views_fit(browser, url, size, language):
    """Nothing of the other views is wider than the screen."""
    resize(browser, *SIZES[size])
    settings(browser, url, language)
    browser.execute_async_script('window.show_state("none").then(arguments[0])')
    wide = []
    for view in VIEWS:
        open_view(browser, view)
        wide += browser.execute_script(WIDE, view)
        if pictures:
            browser.save_screenshot('%s/view-%s-%s-%s.png' % (pictures, view, language, size))
    for view, number in (('settings', 2), ('statistics', 3)):
        open_view(browser, 'machines')
        browser.execute_script('document.querySelectorAll("main .row")[0].children[arguments[0]].click()', number)
        browser.execute_async_script('setTimeout(arguments[0], 100)')
        wide += browser.execute_script(WIDE, view)
        if pictures:
            browser.save_screenshot('%s/view-%s-%s-%s.png' % (pictures, view, language, size))
    open_view(browser, 'now')
    assert not wide, '\n'.join(wide)


def who_added_it(browser, url):
    """The ledger's user by name, or by number where that computer has no such user."""
    resize(browser, *SIZES['tablet'])
    settings(browser, url, 'en')
    browser.execute_async_script('window.show_state("none").then(arguments[0])')
    for user, name in (1000, 'kari'), (4711, '4711'):
        browser.execute_script('window.fake_answers.GetReceipt[1] = arguments[0]', user)
        open_view(browser, 'ledger')
        text = browser.execute_script('return document.querySelector("main").innerText')
        assert 'Added by %s. For' % name in text, text
        open_view(browser, 'now')


def main():
    tap = Tap()
    folder = tempfile.mkdtemp(prefix='gallery-')
    browser = None
    try:
        copy_package(words, folder + '/dealbox')
        os.mkdir(folder + '/base1')
        shutil.copy(here + '/cockpit.js', folder + '/base1')
        shutil.copy(here + '/states.mjs', folder + '/dealbox')
        if pictures:
            os.makedirs(pictures, exist_ok=True)
        url = serve(folder)
        browser = open_browser(*SIZES['tablet'])
        browser.get(url + 'index.html')
        for language in LANGUAGES:
            for size in SIZES if not sample else ('tablet', 'menu') if language == 'ru' else ('tablet',):
                tap.run(walk, browser, url, size, language, name='every state, %s, %s' % (size, language))
            for size in ('tablet', 'phone') if not sample else ('phone',) if language == 'ru' else ():
                tap.run(views_fit, browser, url, size, language, name='other views, %s, %s' % (size, language))
        tap.run(who_added_it, browser, url, name='who added a job')
        for light in ('day', 'dark'):
            tap.run(accessible, browser, url, light, name='axe-core finds nothing, %s' % light)
        tap.run(walk, browser, url, 'tablet', 'ru', 'dark', 'left', name='every state, dark, left-handed')
    finally:
        if browser:
            browser.quit()
        shutil.rmtree(folder)
    sys.exit(tap.end())


main()
