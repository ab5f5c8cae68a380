# SPDX-License-Identifier: LGPL-2.1-or-later
"""kiosk.py POLICY: what the browser of a kiosk opens, and what not (TAP)

Run as root of name spaces of its own (users, mounts, network): the policy lies where the unit binds it, and the
kiosk's port is free.
"""
import functools
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

from browser import Quiet, open_browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../daemon'))
from harness import Tap     # noqa: E402

SESSION = 'http://127.0.0.1:9090/cockpit/@localhost/'
SCREEN = SESSION + 'dealbox/index.html'
HANDS = 'all four hands'
BLOCKED = 'This page is blocked'


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as file:
        file.write(text)


def install(policy):
    """As the unit does. What would keep out Selenium, too, is checked here instead."""
    assert policy.pop('DeveloperToolsAvailability') == 2
    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', '/etc/chromium'], check=True)
    write('/etc/chromium/policies/managed/dealbox.json', json.dumps(policy))


def text_of(browser):
    return browser.execute_script('return document.body.innerText')


def opened(browser, address):
    browser.get(address)
    return text_of(browser)


def opens_the_screen(browser):
    assert 'the screen itself' in opened(browser, SCREEN)


def opens_no_deal_file(browser, folder):
    for address in ('file://%s/tonight.pbn' % folder, 'file://%s/' % folder):
        assert BLOCKED in opened(browser, address), address


def opens_no_other_page(browser):
    for address in (SESSION + 'system/terminal.html', 'http://127.0.0.1:9090/', 'view-source:' + SCREEN,
                    'chrome://settings', 'chrome://policy', 'data:text/html,' + HANDS):
        assert BLOCKED in opened(browser, address), address


def shows_no_other_page_in_a_frame(browser):
    browser.get(SCREEN)
    # only what is of the screen's own origin can be read
    assert not browser.execute_script('return document.querySelector("iframe").contentDocument')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        write(folder + '/media/tonight.pbn', HANDS)
        write(folder + '/www/cockpit/@localhost/dealbox/index.html',
              '<p>the screen itself<iframe src="../system/terminal.html"></iframe>')
        write(folder + '/www/cockpit/@localhost/system/terminal.html', HANDS)
        with open(sys.argv[1]) as file:
            install(json.load(file))
        subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
        server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 9090), functools.partial(Quiet, directory=folder + '/www'))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = open_browser(800, 600)
        try:
            tap.run(opens_the_screen, browser, name='a kiosk opens the screen')
            tap.run(opens_no_deal_file, browser, folder + '/media', name='... no deal file')
            tap.run(opens_no_other_page, browser, name='... no other page')
            tap.run(shows_no_other_page_in_a_frame, browser, name='... and none within the screen')
        finally:
            browser.quit()
    sys.exit(tap.end())


main()
