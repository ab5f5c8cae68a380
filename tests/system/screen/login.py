# SPDX-License-Identifier: LGPL-2.1-or-later
"""login.py DEBIAN SET: the screen of an installed system, after a login (TAP)

In the virtual machine are PAM, logind, sudo, polkit, Cockpit and dealboxd, as Debian and `make
install` have them; outside of it is a browser, which logs in with a password. DEBIAN is cockpit-12
or cockpit-13, of tests/infra/setup.
"""
import contextlib
import os
import queue
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../club'))
from browser import frames_of, open_browser     # noqa: E402
from computer import HERE, Computer, run_tests  # noqa: E402
from harness import tests_of, wait              # noqa: E402
from selenium.common.exceptions import WebDriverException   # noqa: E402
from selenium.webdriver.common.by import By     # noqa: E402
from session import free_port                   # noqa: E402

debian, set_file = sys.argv[1:]
port = free_port()
# as the service says them, and as the page does
NAMES = re.compile(r'\b[SHDC](10|[AKQJT2-9])\b')
SHOWN = re.compile(r'[♠♥♦♣](10|[AKQJ2-9])')
# the browser was refused a file of the page; Cockpit's login asks by itself whether somebody has logged in
REFUSED = '''return performance.getEntriesByType("resource").some(
    one => one.responseStatus === 401 && one.initiatorType !== "xmlhttprequest")'''
UNIT = '/run/systemd/system/dealbox-kiosk.service.d'


def find(browser, css):
    return browser.find_elements(By.CSS_SELECTOR, css)


def until(what, browser, condition):
    """wait(); the page may be drawn anew between two looks."""
    def look():
        try:
            return condition()
        except (WebDriverException, IndexError):
            return None
    try:
        return wait(what, look)
    except TimeoutError:
        raise TimeoutError('waited for %s; the page: %s' % (what, browser.execute_script(
            'return document.body.innerText'))) from None


def acts(c, kind):
    return [record['uid'] for record in c.records() if record['record'] == 'act' and record['act'] == kind]


@contextlib.contextmanager
def logged_in(user, password):
    """A browser in which this user has opened the page by Cockpit's login."""
    browser = open_browser(1024, 600, insecure=True)

    def page():
        """
        Cockpit ends a session to which nobody has talked for 15 s. A busy computer may need longer between
        the login and the page, of which nothing is left then: it is loaded again, for another login.
        """
        if browser.execute_script(REFUSED):
            browser.refresh()
        field = find(browser, '#login-user-input')
        if field and field[0].is_displayed() and not field[0].get_attribute('value'):
            field[0].send_keys(user)
            find(browser, '#login-password-input')[0].send_keys(password)
            find(browser, '#login-button')[0].click()
        return find(browser, 'iframe[name*="/dealbox"]')
    try:
        browser.set_page_load_timeout(600)
        browser.get('https://127.0.0.1:%d/dealbox' % port)
        browser.switch_to.frame(until('the page', browser, page)[0])
        until('the machine', browser, lambda: find(browser, '[data-key=V]'))
        yield browser
    finally:
        browser.quit()


def press(browser, key):
    until('the key', browser, lambda: find(browser, '[data-key=%s]' % key))
    # a person reads first; the page ignores sooner answers
    time.sleep(0.5)
    until('the key', browser, lambda: find(browser, '[data-key=%s]' % key)[0].click() is None)


def ask_to_reveal(browser):
    press(browser, 'V')
    until('the question', browser, lambda: find(browser, 'dialog .main')[0].click() is None)


def give_password(browser, password):
    def answered():
        fields = [one for one in find(browser, 'dialog.password[open] input') if one.is_displayed()]
        if fields:
            fields[0].send_keys(password + '\n')
        return fields
    field = until('the question for the password', browser, answered)[0]
    until('it to be taken', browser, lambda: not any(one == field for one in find(browser, 'dialog.password input')))


def sentence(browser, *words):
    def said():
        text = ' '.join(one.text for one in find(browser, '#message'))
        return all(word in text for word in words) and text
    return until('a sentence with ' + ', '.join(words), browser, said)


def test_starts_without_a_failure(c):
    assert c.run('systemctl is-system-running --wait || true').strip() == 'running', \
        c.run('systemctl --failed --no-pager')
    c.run('sh -e /activate')
    # Rules that were there at its start, before the group was: udevd 257 does not read them anew when told to.
    c.run('systemctl restart systemd-udevd')
    c.run('useradd -m -s /bin/bash -G dealbox,sudo alice && useradd -m -s /bin/bash bob')
    c.run("printf 'alice:card games\\nbob:no cards\\n' | chpasswd")
    c.run('systemctl start cockpit.socket')


def test_a_machine_asks_about_a_repeated_card(c):
    """So there are cards that could be revealed."""
    c.run('modprobe vhci-hcd && udevadm settle')
    c.add_emulator('ONE', '--manual', '--speed', '0')
    c.plug('ONE')
    wait('the machine', lambda: c.status().get('ONE', {}).get('present'))
    c.run('runuser -u alice -- dealbox accept ONE')
    with open(set_file, 'rb') as file:
        c.put('/tmp/evening.pbn', file.read())
    c.run('(runuser -u alice -- dealbox deal --boards 1 --json /tmp/evening.pbn >/tmp/dealt 2>&1 &) >/dev/null 2>&1')
    c.machines['ONE'].tell('hopper fill')
    c.machines['ONE'].tell('inject position 20: misread')
    wait('the job', lambda: c.status()['ONE']['state'] not in ('no-work', 'machine-new'))
    c.machines['ONE'].tell('insert 1')

    def asks():
        machine = c.status()['ONE']
        if machine['state'] in ('confirm-empty', 'press-start'):
            c.ask('busctl call io.dealbox1 %s io.dealbox1.Machine Start' % machine['path'])
        return machine['state'] == 'card-repeated'
    wait('the question', asks)


def test_who_has_logged_in_sees_cards_after_the_password_and_is_recorded(c):
    alice = int(c.run('id -u alice'))
    with logged_in('alice', 'card games') as browser:
        for _ in range(2):      # .. each time
            ask_to_reveal(browser)
            give_password(browser, 'card games')
            text = until('the cards', browser, lambda: [one.text for one in find(browser, '.reveal')])[0]
            assert SHOWN.search(text), text
            find(browser, '.reveal')[0].send_keys('x')
            until('them to be gone', browser, lambda: not find(browser, '.reveal'))
        assert acts(c, 'reveal') == [alice, alice], acts(c, 'reveal')
        shown = [(ours, data) for ours, data in frames_of(browser) if NAMES.search(data)]
        assert len(shown) == 2 and not any(ours for ours, _ in shown), shown
    # the session is real
    assert 'alice' in c.run('loginctl list-sessions --no-legend; last -w alice 2>/dev/null || true') or \
        'session opened for user alice' in c.run('journalctl --no-pager -o cat')


def test_a_password_that_is_cancelled_is_asked_for_again(c):
    before = acts(c, 'reveal')
    with logged_in('alice', 'card games') as browser:
        for _ in range(2):
            ask_to_reveal(browser)
            until('the question for the password', browser, lambda: find(browser, 'dialog.password[open] input')[0].is_displayed())
            until('Cancel', browser, lambda: find(browser, 'dialog.password[open] button[type=button]')[-1].click() is None)
            until('it to be gone', browser, lambda: not find(browser, 'dialog.password'))
            assert not find(browser, '.reveal') and not find(browser, '#message p'), 'nothing is said to who cancels'
        assert acts(c, 'reveal') == before
        ask_to_reveal(browser)
        give_password(browser, 'card games')
        assert SHOWN.search(until('the cards', browser, lambda: [one.text for one in find(browser, '.reveal')])[0])
    assert len(acts(c, 'reveal')) == len(before) + 1


def test_without_the_password_nobody_sees_anything(c):
    before = acts(c, 'reveal')
    with logged_in('alice', 'card games') as browser:
        ask_to_reveal(browser)
        for _ in range(3):
            give_password(browser, 'a guess')
        sentence(browser, 'administrator')
        assert not find(browser, '.reveal')
    assert acts(c, 'reveal') == before


def test_who_is_in_no_group_is_told_what_to_do(c):
    before = acts(c, 'reveal')
    with logged_in('bob', 'no cards') as browser:
        time.sleep(0.5)
        until('the pause', browser, lambda: [one for one in find(browser, 'button') if 'Pause' in one.text][0].click() is None)
        sentence(browser, 'Ask an administrator', 'group dealbox', 'log in again')
        ask_to_reveal(browser)
        for _ in range(3):
            if find(browser, 'dialog.password'):
                give_password(browser, 'no cards')
        sentence(browser, 'administrator')
        assert not find(browser, '.reveal')
    assert acts(c, 'reveal') == before


class Relay:
    """What connects here, talks with the port 9090 that the kiosk has in a network of its own."""
    def __init__(self, c, pid, connections):
        self.inside = queue.Queue()
        self.browsers = socket.create_server(('127.0.0.1', 0))
        self.back = socket.create_server(('127.0.0.1', 0))
        self.port = self.browsers.getsockname()[1]
        # a connection to Cockpit is made when there is something to say, as it does not wait long
        c.put('/run/relay', ('''exec 4<>/dev/tcp/%s/%d
read -r line <&4
exec nsenter -t %s -n bash -c 'exec 3<>/dev/tcp/127.0.0.1/9090; printf "%%s\\n" "$0" >&3; cat <&3 >&4 & cat <&4 >&3; kill $!' "$line"
''' % (HERE, self.back.getsockname()[1], pid)).encode())
        c.run('(for n in $(seq %d); do bash /run/relay & done) >/dev/null 2>&1 </dev/null' % connections)
        for _ in range(connections):
            self.inside.put(self.back.accept()[0])
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            browser = self.browsers.accept()[0]
            inside = self.inside.get()
            for source, sink in (browser, inside), (inside, browser):
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


def test_the_kiosk_deals_and_shows_no_card(c):
    """The unit as it is installed, but for compositor and browser: our browser takes their place."""
    assert c.run('systemctl is-enabled dealbox-kiosk', 1).strip() == 'disabled'
    c.run('systemd-analyze verify --man=no dealbox-kiosk.service 2>&1 | grep -v -e cage -e plymouth | grep kiosk; true')
    before = acts(c, 'reveal')
    c.run('mkdir -p %s' % UNIT)
    c.put(UNIT + '/test.conf', b'''[Service]
ExecStart=
ExecStart=/usr/local/libexec/dealbox-kiosk /bin/sh -c "sleep infinity"
''')
    c.run('systemctl daemon-reload && systemctl start dealbox-kiosk')
    pid = wait('the session', lambda: c.ask('pgrep -u dealbox-kiosk -fx "sleep infinity"')[1].strip())
    # nobody else can reach it
    assert c.ask('echo >/dev/tcp/127.0.0.1/9091')[0]
    session = c.run('loginctl list-sessions --no-legend')
    assert 'dealbox-kiosk' in session and 'seat0' in session, session
    # .. the browser would be kept to the screen by its policy, and by that of nobody else
    assert 'URLBlocklist' in c.run('cat /proc/%s/root/etc/chromium/policies/managed/dealbox.json' % pid)
    assert c.ask('ls /etc/chromium/policies/managed/dealbox.json')[0]
    # .. and nobody becomes root there
    assert 'NoNewPrivs:\t1' in c.run('grep NoNewPrivs /proc/%s/status' % pid)
    assert c.run('sed -n "s/^Cap...:\\t//p" /proc/%s/status | sed -n "1,3p;5p" | sort -u' % pid).strip() == '0' * 16
    relay = Relay(c, pid, 30)
    browser = open_browser(1024, 600)
    try:
        browser.set_page_load_timeout(600)
        browser.get('http://127.0.0.1:%d/cockpit/@localhost/dealbox/index.html' % relay.port)
        until('the machine', browser, lambda: find(browser, '[data-key=V]'))
        ask_to_reveal(browser)
        sentence(browser, 'administrator')
        assert not find(browser, '.reveal') and not find(browser, 'dialog.password')
        # as a program of that session would ask, without Cockpit's help
        path = c.status()['ONE']['path']
        got, text = c.ask('runuser -u dealbox-kiosk -- busctl call --allow-interactive-authorization=yes '
                          'io.dealbox1 %s io.dealbox1.Machine Reveal' % path)
        assert got and 'Access' in text, (got, text)
        assert not [data for _, data in frames_of(browser) if NAMES.search(data)]
        # it deals, though it is in no group
        assert 'dealbox' not in c.run('id -Gn dealbox-kiosk').replace('dealbox-kiosk', '')
        for act in 'remove', 'empty', 'hopper fill', 'insert 1':
            c.machines['ONE'].tell(act)
        press(browser, 'Enter')
        wait('the board to be dealt', lambda: c.status()['ONE']['state'] == 'take-out')
    finally:
        browser.quit()
    assert acts(c, 'reveal') == before
    # what ends is started again
    c.run('kill %s' % pid)
    wait('another session', lambda: c.ask('pgrep -u dealbox-kiosk -fx "sleep infinity"')[1].strip() not in ('', pid))
    c.run('systemctl stop dealbox-kiosk')


def test_no_card_in_the_journal(c):
    text = c.run('journalctl --no-pager -o cat')
    assert 'dealboxd' in c.run('journalctl --no-pager -u dealboxd -o short') and len(text) > 1000
    found = [line for line in text.splitlines() if NAMES.search(line) and 'card' in line.lower()]
    assert not found, found[:5]


run_tests(Computer(set_file, '6.1', 'virtio_console', debian=debian, port=port), tests_of(globals()))
