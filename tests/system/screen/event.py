# SPDX-License-Identifier: LGPL-2.1-or-later
"""event.py DEALBOXD EMULATOR DEALBOX SET WORDS.js: one event at two PCs, on the page of one of them (TAP)

The page shows the machines of both; copies move to the other PC; and a void board is dealt again when somebody says so.
"""
import os
import re
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder) for folder in ('../event', '../daemon')]

import test_event_service as service    # noqa: E402
from browser import complaints, open_browser    # noqa: E402
from server import Server       # noqa: E402
from session import ScreenWorld, wait   # noqa: E402
from test_event_service import BOARDS, Pc, add, counted, finish, judge, rows, run   # noqa: E402
from views import Screen        # noqa: E402

WORDS = os.path.abspath(sys.argv[5])
SECOND = 'second.pbn'       # other deals


class Behind(ScreenWorld):
    def __init__(self, *args):
        super().__init__(*args, WORDS)


class PcWithPage(Pc, Behind):
    """The PC whose page is looked at."""


def second_set(pc):
    result = pc.command('generate', '--number', str(BOARDS), SECOND)
    assert result.returncode == 0, result


def both_are_seen(screen, name, one, two):
    screen.open('machines')
    screen.says('Cup · A')
    screen.says('The server of the event answers')
    add(name, 1)
    for pc in (one, two):
        wait('copies', lambda pc=pc: pc.answer() or pc.view()['Open'])
    finish(name, [one, two], 6, more=True)
    for row in (r'A\s+A\s+.*\d', r'B\s+B\s+.*\d'):
        screen.says(row, 'main table')
    screen.says(r'Left in the event: \d+ · about \d+ min')
    # as if some minutes had passed
    two.stop()
    rows(name, "UPDATE dealbox.machine SET told = told - interval '5 min' WHERE name = 'B'")
    screen.says(r'B\s+B\s+not heard of for \d+ min', 'main table')
    two.start()
    wait('its machine again', lambda: not re.search('not heard of', screen.text('main table')))


def copies_move(screen, name, one, two):
    screen.press('Let other PCs deal')
    screen.press('Let other PCs deal', 'dialog')
    wait('nothing held', lambda: one.has(Open=0, Resting=True))
    screen.says('Boards that can be dealt without the server: 0')
    before = len(one.exact())
    finish(name, [one, two], BOARDS)
    # at most the board that was in the machine
    assert len(one.exact()) <= before + 1
    screen.press('Take copies again')
    wait('taking again', lambda: one.has(Resting=False))
    judge(name, [one, two], BOARDS)


def copies_move_by_the_page_of_another_pc(screen, name, one, two):
    """From the page of a job of the event, as from the view of the machines."""
    add(name, 1, 'more', SECOND)
    wait('copies', lambda: one.view()['Open'] and two.view()['Open'])
    screen.open('jobs')
    row = 'tr[data-pc=B]'
    screen.says(r'B\s+\d+', row)
    screen.press('Let other PCs deal', row)
    screen.press('No', 'dialog')
    screen.press('Let other PCs deal', row)
    assert two.has(Resting=False)
    screen.press('Let other PCs deal', 'dialog')
    wait('the other rests', lambda: two.has(Open=0, Resting=True, RestBy='A'))
    screen.says(r'B\s+0\s+takes no copies: A has said so', row)
    wait('what it gave back', lambda: one.answer() or one.view()['Open'] > 1)
    # on its own page, and lifted there
    two.rest(False)
    screen.says('takes copies: B has said so', row)
    screen.open('machines')
    screen.press('Let other PCs deal', 'main ' + row)
    screen.press('Let other PCs deal', 'dialog')
    screen.says('takes no copies: A has said so', row)
    screen.press('Take copies again', 'main ' + row)
    screen.says('takes copies: A has said so', row)
    finish(name, [one, two], 2 * BOARDS)
    assert rows(name, "SELECT count(*) FROM dealbox.record WHERE standing = 'surplus'") == ['0']


def a_void_board_is_offered(screen, name, one, two):
    board, copy = one.exact()[0]
    two.rest(True)
    wait('the other rests', lambda: two.has(Resting=True))
    run(name, 'director', 'void', '1', str(board), str(copy), '--yes')
    screen.says('Must be dealt again: job 1, board %d, copy %d' % (board, copy))
    screen.says('the director has said that this board is void')
    screen.press('Deal it again here')
    screen.press('No', 'dialog')
    assert counted(name) == BOARDS - 1 and (board, copy) in one.exact()
    screen.press('Deal it again here')
    screen.press('Deal it again here', 'dialog')
    finish(name, [one], BOARDS)
    wait('no offer', lambda: not re.search('Must be dealt again', screen.text()))
    two.rest(False)


def no_complaint(browser):
    found = complaints(browser)
    assert not found, found


def main():
    service.SERVER = Server()
    service.Pc = lambda name, user, machine: (PcWithPage if user == 'a' else Pc)(name, user, machine)
    tap = service.Tap()
    os.chdir(service.SERVER.folder)
    try:
        with service.world() as (name, (one, two)):
            second_set(one)
            one.start()
            two.start()
            browser = open_browser(1024, 600)
            try:
                browser.get(one.url)
                screen = Screen(one, browser)
                for test in (both_are_seen, copies_move, a_void_board_is_offered,
                             copies_move_by_the_page_of_another_pc):
                    tap.run(test, screen, name, one, two, name=test.__name__.replace('_', ' '))
                tap.run(no_complaint, browser, name='nothing on the console')
            finally:
                browser.quit()
    finally:
        service.SERVER.remove()
    sys.exit(tap.end())


main()
