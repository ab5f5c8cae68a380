# SPDX-License-Identifier: LGPL-2.1-or-later
"""stick.py IMAGE SET: the USB stick, from its first start to its loss (TAP)

Nothing is added to the image but a line in the menu of GRUB, which lets us read the messages of the start.
"""
import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[1:1] = [TOP + '/tests/system/screen', TOP + '/tests/system/daemon']
from browser import open_browser    # noqa: E402
from evening import ACTS            # noqa: E402
from harness import Tap, read_pbn, tests_of    # noqa: E402
from pc import PATIENCE, PC         # noqa: E402
from selenium.common.exceptions import WebDriverException   # noqa: E402
from selenium.webdriver.common.by import By     # noqa: E402
from session import free_port       # noqa: E402

image, set_file = sys.argv[1:]
EMULATOR = TOP + '/build/user/tools/emulator/dealbox-emulator'
PASSPHRASE = 'nine of boards'
BOARDS = 2
SESSION = r'New session \d+ of user director'
START = 1024 * 1024     # of the first partition
# no_timer_check: on a busy computer the emulated timer is late, and the kernel takes it for broken
MENU = '''linux /live/vmlinuz boot=live console=tty0 console=ttyS0 loglevel=7 systemd.journald.forward_to_console=1 no_timer_check
'''


def patiently(what, condition):
    """Until the condition holds; the page may be drawn anew between two looks."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(WebDriverException, IndexError):
            if value := condition():
                return value
        time.sleep(0.2)
    raise TimeoutError('waited for ' + what)


def answers(port):
    """Whether something behind this port speaks TLS."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(('127.0.0.1', port), PATIENCE) as plain, context.wrap_socket(plain) as line:
            return hashlib.sha256(line.getpeercert(True)).hexdigest()
    except OSError:
        return None


class Stick:
    def __init__(self, folder):
        self.folder, self.path = folder, folder + '/stick'
        subprocess.run(['cp', '--sparse=always', image, self.path], check=True)
        with open(self.path, 'r+b') as file:
            self.image = file.seek(0, os.SEEK_END)
            file.truncate(self.image + 512 * 1024 * 1024)
        self.grub('0', MENU)
        self.made = self.digest(START, self.image - START)
        self.machine = subprocess.Popen(
            [EMULATOR, '--usbredir', folder + '/machine', '--serial', 'CLUB', '--speed', '0',
             '--state', folder + '/state', '--account', folder + '/account', '--control', folder + '/control', '--manual'],
            stdout=subprocess.PIPE, text=True)
        assert 'is ready' in self.machine.stdout.readline()
        self.pc = PC(folder, self.path, free_port(), folder + '/machine')
        self.browser = self.certificate = None

    def grub(self, timeout, line):
        name = self.folder + '/grub.cfg'
        with open(TOP + '/debian/image/grub.cfg') as file:
            text = file.read()
        text = re.sub(r'timeout=\d+', 'timeout=' + timeout, text)
        with open(name, 'w') as file:
            file.write(re.sub(r'linux .*\n', line, text))
        subprocess.run(['mcopy', '-o', '-i', '%s@@%d' % (self.path, START), name, '::/EFI/debian/grub.cfg'], check=True)

    def digest(self, start, end):
        digest = hashlib.sha256()
        with open(self.path, 'rb') as file:
            file.seek(start)
            for _ in range((end - start) // START):
                digest.update(file.read(START))
        return digest.hexdigest()

    def whole(self):
        return self.digest(0, os.path.getsize(self.path))

    def tell(self, command):
        return subprocess.run([EMULATOR, '--tell', self.folder + '/control', command],
                              check=True, capture_output=True, text=True).stdout

    def dealt(self):
        with open(self.folder + '/account') as file:
            return [json.loads(line) for line in file]

    def log_in(self, password):
        """The page, by Cockpit's login, over the network."""
        self.browser = open_browser(1024, 700, insecure=True)
        self.browser.set_page_load_timeout(PATIENCE)
        def opened():
            self.browser.get('https://127.0.0.1:%d/dealbox' % self.pc.port)
            return self.all('#login-user-input')
        patiently('Cockpit', opened)
        patiently('the login', lambda: self.all('#login-user-input')[0].is_displayed())
        self.all('#login-user-input')[0].send_keys('director')
        self.all('#login-password-input')[0].send_keys(password)
        self.all('#login-button')[0].click()

    def open_page(self):
        frame = patiently('the page', lambda: self.all('iframe[name*="/dealbox"]'))[0]
        self.browser.switch_to.frame(frame)
        patiently('the page', lambda: self.all('#views button'))

    def kiosk(self):
        """Until the page is on the display, without a key."""
        patiently('the kiosk', self.pc.has_page)

    def show_console(self):
        """A console is on the display; until the kiosk is, it would take the display back."""
        self.kiosk()
        self.pc.press('ctrl-alt-f2')
        self.pc.wait_for(r'Started .*getty@tty2')
        patiently('the console', lambda: not self.pc.has_page())

    def console(self):
        """Log in as director, at a console of the PC."""
        self.show_console()
        sessions = len(re.findall(SESSION, self.pc.serial()))
        def logged_in():
            # nothing tells when the console asks
            for text in ('director', PASSPHRASE):
                self.pc.type(text + '\n')
                time.sleep(10)
            return len(re.findall(SESSION, self.pc.serial())) > sessions
        patiently('the console', logged_in)

    def log_in_status(self, password):
        """What Cockpit answers, without a browser."""
        secret = base64.b64encode(('director:' + password).encode()).decode()
        line = http.client.HTTPSConnection('127.0.0.1', self.pc.port, timeout=PATIENCE,
                                           context=ssl._create_unverified_context())
        line.request('GET', '/cockpit/login', headers={'Authorization': 'Basic ' + secret})
        return line.getresponse().status

    def leave(self):
        if self.browser:
            self.browser.quit()
            self.browser = None

    def all(self, css):
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def shell(self, command):
        """In the session of the user who has logged in."""
        self.browser.set_script_timeout(PATIENCE)
        return self.browser.execute_async_script(
            'const done = arguments[1]; cockpit.spawn(["sh", "-c", arguments[0]], { err: "out" })'
            '.then(done, (error, text) => done(String(error) + text));', command)

    def press(self, key):
        # a person reads first; the page ignores sooner answers
        time.sleep(0.5)
        patiently('the key ' + key, lambda: self.all('[data-key=%s]' % key)[0].click() is None)

    def close(self):
        self.leave()
        if self.pc.process and self.pc.process.poll() is None:
            self.pc.power_cut()
        self.machine.terminate()
        self.machine.wait()


def test_the_first_start_asks_for_a_passphrase_with_secure_boot_on(s):
    s.pc.power_on()
    print('# the question after %.0f s' % s.pc.wait_for('asks for a new passphrase'))
    assert re.search('[Ss]ecure boot enabled', s.pc.serial()), 'the kernel does not say that Secure Boot is on'
    s.pc.picture('1-first-start')
    s.pc.type('short\n')
    s.pc.wait_for('asks for a new passphrase', 2)
    for text in (PASSPHRASE, 'another one'):
        s.pc.type(text + '\n')
        time.sleep(2)
    s.pc.wait_for('asks for a new passphrase', 3)
    for _ in range(2):
        s.pc.type(PASSPHRASE + '\n')
        time.sleep(2)
    s.pc.wait_for('keeps the ledger')


def test_the_kiosk_is_on_the_display(s):
    s.kiosk()
    s.pc.picture('2-kiosk')
    print('# the kiosk after %.0f s' % (time.monotonic() - s.pc.begun))


def test_no_other_computer_reaches_the_page(s):
    s.pc.wait_for('Started .*dealboxd.service')
    assert not answers(s.pc.port)


def test_the_director_lets_them_in(s):
    s.console()
    s.pc.type('sudo dealbox-stick network on\n')
    def listens():
        s.pc.type(PASSPHRASE + '\n')
        time.sleep(10)
        return answers(s.pc.port)
    s.certificate = patiently('Cockpit', listens)
    s.pc.picture('3-network')
    s.pc.press('ctrl-alt-f7')
    s.kiosk()


def test_the_director_logs_in_from_another_computer(s):
    s.log_in(PASSPHRASE)
    s.open_page()
    told = s.shell('findmnt -no SOURCE /var/lib/dealbox; cat /sys/kernel/security/lockdown; cat /proc/swaps; id -Gn')
    assert '/dev/mapper/dealbox' in told and '[none]' not in told and '/dev/' not in told.split('Filename')[1], told


def test_boards_are_dealt_through_the_page_by_usb(s):
    patiently('the machine', lambda: 'CLUB' in s.all('.hero .machine')[0].text)
    assert 'usb:' in s.shell('dealbox machines 2>&1')
    s.press('A')
    s.all('#views button')[1].click()
    s.all('input[type=file]')[0].send_keys(os.path.abspath(set_file))
    deal = patiently('the file to be checked', lambda: s.all('#deal'))[0]
    form = [one for one in s.all('.form') if one.find_elements(By.TAG_NAME, 'input')][1]
    numbers, copies = form.find_elements(By.TAG_NAME, 'input')[:2]
    for field, text in ((numbers, '1-%d' % BOARDS), (copies, '1')):
        field.clear()
        field.send_keys(text)
    deal.click()
    s.all('#views button')[0].click()
    work(s, BOARDS)
    deals = read_pbn(set_file)
    boards = s.dealt()
    assert len(boards) == BOARDS, boards
    for number, board in enumerate(boards, 1):
        pockets = [set(pocket) for pocket in board['pockets'][:4]]
        assert pockets == deals[number], (number, board)


def work(s, count):
    """What the person at the machine does, as the page says."""
    seen, out = None, 0
    end = time.monotonic() + PATIENCE
    while out < count:
        assert time.monotonic() < end, 'the page says %s' % seen
        title, number = patiently('a machine', lambda: (
            s.all('.hero h1')[0].text, ''.join(one.text for one in s.all('.hero .number'))))
        if title != seen:
            print('# %s %s' % (title, number), flush=True)
        seen = title
        for act in ACTS.get(title, []):
            if act.startswith('KEY '):
                s.press(act[4:])
            elif number or 'N' not in act:
                s.tell(act.replace('N', number))
        out += title.startswith('Exact.')
        patiently('the next', lambda: s.all('.hero h1')[0].text != title or title.startswith(('Ready', 'Dealing')))


def test_after_a_power_cut_the_ledger_is_there_behind_the_passphrase(s):
    s.leave()
    s.pc.power_cut()
    s.pc.power_on()
    s.pc.wait_for('asks for the passphrase')
    s.pc.picture('4-later-start')
    s.pc.type('nine of clubs\n')
    s.pc.wait_for('asks for the passphrase', 2)
    s.pc.type(PASSPHRASE + '\n')
    print('# open after %.0f s' % s.pc.wait_for('keeps the ledger'))
    patiently('the network', lambda: answers(s.pc.port))
    assert answers(s.pc.port) == s.certificate
    s.log_in(PASSPHRASE)
    s.open_page()
    jobs = s.shell('dealbox jobs')
    assert re.search('done +%d of %d recorded, 0 void' % (BOARDS, BOARDS), jobs), jobs
    s.leave()


def test_five_wrong_passwords_close_the_network_and_not_the_console(s):
    for n in range(5):
        assert s.log_in_status('nine of %d' % n) == 401
    assert s.log_in_status(PASSPHRASE) == 401
    s.console()
    s.pc.power_off()


def test_practice_keeps_nothing_and_reaches_no_machine(s):
    before = s.whole()
    s.pc.power_on()
    s.pc.wait_for('asks for the passphrase')
    s.pc.type('\n')
    s.pc.wait_for('is for practice')
    s.pc.wait_for('Started .*dealboxd.service')
    # the director is logged in there
    s.show_console()
    def seen():
        s.pc.type('dealbox status --json | logger -t seen; sudo -n true || logger -t seen nobody is root\n')
        time.sleep(10)
        return ''.join(re.findall(r'seen\[\d+\]: (.*)', s.pc.serial()))
    patiently('the machine for practice', lambda: 'PRACTICE' in seen())
    patiently('an answer', lambda: 'nobody is root' in seen())
    assert 'CLUB' not in seen() and not answers(s.pc.port)
    s.pc.power_off()
    assert s.whole() == before


def test_whoever_finds_the_stick_reads_nothing(s):
    """The first partition is as it was before the first start; in the second is no text."""
    assert s.digest(START, s.image - START) == s.made
    with open(s.path, 'rb') as file:
        file.seek(s.image - START)
        second = file.read()
    assert b'LUKS' in second
    for text in (b'SQLite format', b'Dealer', b'[Deal', b'dealboxd', b'CLUB'):
        assert text not in second, text


# exit in the normal way, which ends everything that the test has started
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
folder = tempfile.mkdtemp(prefix='dealbox-stick-', dir=os.path.dirname(os.path.abspath(image)))
stick = Stick(folder)
tap = Tap()
try:
    for test in tests_of(globals()):
        if not tap.failed:
            tap.run(test, stick)
    if tap.failed and stick.pc.process:
        stick.pc.picture('failed')
        print('# ' + stick.pc.serial()[-4000:].replace('\n', '\n# '))
finally:
    with contextlib.suppress(OSError):
        shutil.copy(folder + '/serial', 'build/logs/image-serial.log')
    stick.close()
    shutil.rmtree(folder)
sys.exit(tap.end())
